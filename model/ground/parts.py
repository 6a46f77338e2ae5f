"""Parts of a packed state: the bits of a variable, of one key's value in a map, of one element of a set.

A tool that compares packed states with other data packs that data part by part, and compares integers. This
file knows nothing of steps.
"""

from __future__ import annotations

from typing import Any

from antiphon.model.ground.layout import plan
from antiphon.model.ground.packing import Packing
from antiphon.model.ground.shape import Shape
from antiphon.spec.lang import Program


class Parts:
    """Parts of the packed states of one program."""

    def __init__(self, program: Program, packing: Packing) -> None:
        self._variables = plan(program).variables
        self._packing = packing

    def mask(self, variable: str, *keys: int) -> int:
        """Return the bits of a variable; with the numbers of keys those of the value at these keys in a map,
        or a map of maps.
        """
        shape, first = self._part(variable, keys)
        return sum(place.mask for place in self._packing.places[first : first + shape.width])

    def bits(self, variable: str, value: Any, *keys: int) -> int | None:
        """Return the bits, in place, of `value` in a variable, or at these numbers of keys in a map; None if
        the value lies outside the domain.
        """
        shape, first = self._part(variable, keys)
        if not shape.domain.contains(value):
            return None
        packed = 0
        for place, raw in zip(
            self._packing.places[first : first + shape.width], shape.raw(value), strict=True
        ):
            packed |= (int(raw) - place.low) << place.offset
        return packed

    def element(self, variable: str, value: Any) -> int | None:
        """Return the bit, in place, of `value` as an element of a set variable; None if the value lies
        outside the domain.
        """
        shape, first = self._part(variable, ())
        domain = shape.parts[0].domain
        return (
            1 << self._packing.places[first].offset + domain.rank(value) if domain.contains(value) else None
        )

    def _part(self, variable: str, keys: tuple[int, ...]) -> tuple[Shape, int]:
        shape, first = self._variables[variable]
        for key in keys:
            shape = shape.parts[1]
            first += key * shape.width
        return shape, first
