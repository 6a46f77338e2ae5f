"""A search for a stack finds the smallest ones, or that there is none, or none within the bound."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.model.verdict import Outcome
from antiphon.spec.composition import Layer

Stack = tuple[Layer, ...]
"""Layers, the top first."""


@dataclass(frozen=True)
class Found:
    """The stacks of the smallest size that yield what is wanted, in the order of the layers' table.

    `outcome`: `holds` when there is one, `violated` when no stack of any size yields it, `unknown` when only
    sizes up to a bound were tried.
    """

    outcome: Outcome
    stacks: tuple[Stack, ...]
    reason: str

    @property
    def size(self) -> int | None:
        """Number of layers of the smallest stacks."""
        return len(self.stacks[0]) if self.stacks else None
