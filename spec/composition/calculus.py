"""Rule of composition: a stack is well-formed when the properties that each layer requires hold below it;
above it hold its own properties and those that it passes on.

The rule is that of the Horus paper (van Renesse, Birman, Friedman, Hayden, Karr 1995): a stack is well-formed
if each layer's requirements are guaranteed by the stack underneath it, provided by the layer next below or
inherited from a lower one.

    well_formed(l:S)  =  well_formed(S) and Requires(l) is within Properties(S)
    Properties(l:S)   =  Provides(l) + (Inherits(l) within Properties(S))

This file knows nothing of which layers there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from antiphon.spec.composition.layers import Layer
from antiphon.spec.composition.properties import Property


@dataclass(frozen=True)
class Level:
    """Layer at its place in a stack, with the sets of properties below and above it."""

    layer: Layer
    below: frozenset[Property]
    above: frozenset[Property]

    @property
    def missing(self) -> frozenset[Property]:
        """Properties that the layer requires and does not find."""
        return self.layer.requires - self.below

    @property
    def masked(self) -> frozenset[Property]:
        """Properties that hold below and not above."""
        return self.below - self.above


@dataclass(frozen=True)
class Judgement:
    """Judgement of a stack, level by level from the bottom."""

    given: frozenset[Property]
    levels: tuple[Level, ...]

    @property
    def well_formed(self) -> bool:
        """Return True if every layer has the properties that it requires."""
        return not any(level.missing for level in self.levels)

    @property
    def properties(self) -> frozenset[Property]:
        """Properties above the top, if the stack is well-formed."""
        return self.levels[-1].above if self.levels else self.given


def properties_above(layer: Layer, below: frozenset[Property]) -> frozenset[Property]:
    """Return the properties above a layer, given those below it, which must include the required ones."""
    return layer.provides | (layer.inherits & below)


def judge(stack: Sequence[Layer], given: Iterable[Property]) -> Judgement:
    """Judge a stack, its top layer first, over a network that has the properties `given`."""
    below = frozenset(given)
    levels = []
    for layer in reversed(stack):
        level = Level(layer, below, properties_above(layer, below))
        levels.append(level)
        below = level.above
    return Judgement(frozenset(given), tuple(levels))


def ordered(properties: Iterable[Property]) -> tuple[Property, ...]:
    """Return properties sorted by their numbers."""
    return tuple(sorted(properties, key=lambda property: property.number))
