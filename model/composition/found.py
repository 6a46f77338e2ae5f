"""Result of a search for a stack: the smallest stacks, or that there is none, or none within the bound."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.model.verdict import Outcome
from antiphon.spec.composition import Layer

Stack = tuple[Layer, ...]
"""Layers, the top first."""


@dataclass(frozen=True)
class Found:
    """Result of a search: all stacks of the smallest size that have the wanted properties, in the order of
    the layers' table.

    `outcome`: `holds` when there is one, `violated` when no stack of any size has them, `unknown` when only
    sizes up to a bound were tried.
    """

    outcome: Outcome
    stacks: tuple[Stack, ...]
    reason: str

    @property
    def size(self) -> int | None:
        """Number of layers of the smallest stacks."""
        return len(self.stacks[0]) if self.stacks else None
