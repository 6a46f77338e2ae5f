"""Packing of a state into one integer: its leaves stand side by side, each in exactly the bits that its sort
needs.

A boolean takes one bit, a number from `low` to `high` the bits of `high - low` (it is stored as its distance
from `low`), a bit set its width. Narrow slots stand lowest, so that the keys which the search cuts out of a
state stay short integers; wide sets, such as a network, stand on top.

This file knows nothing of steps, Python source or searching.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from antiphon.model.ground.form import Bits, Boolean, Number, SlotInfo


@dataclass(frozen=True)
class Place:
    """Bits of one slot in a packed state, from `offset` to `offset + width - 1`; `low` is added when a number
    is read, and is 0 for other sorts.
    """

    offset: int
    width: int
    low: int

    @cached_property
    def mask(self) -> int:
        """Return the bits of the slot, in place."""
        return ((1 << self.width) - 1) << self.offset


class Packing:
    """Places of all slots of a layout; `full` is the mask of all bits of a state."""

    def __init__(self, slots: Sequence[SlotInfo]) -> None:
        self.slots = tuple(slots)
        widths = [_width(slot) for slot in slots]
        offsets, offset = [0] * len(widths), 0
        for position in sorted(range(len(widths)), key=lambda position: widths[position]):
            offsets[position] = offset
            offset += widths[position]
        lows = [slot.sort.low if isinstance(slot.sort, Number) else 0 for slot in slots]
        self.places = tuple(Place(*place) for place in zip(offsets, widths, lows, strict=True))
        self.bits = offset
        self.full = (1 << offset) - 1
        self._owned: dict[str, int] = {}
        for slot, place in zip(self.slots, self.places, strict=True):
            if "[" in slot.name:
                key = slot.name.partition("[")[2].partition("]")[0]
                self._owned[key] = self._owned.get(key, 0) | place.mask

    def pack(self, leaves: Iterable[int]) -> int:
        """Return the state with these leaves, given in the order of the layout."""
        packed = 0
        for place, leaf in zip(self.places, leaves, strict=True):
            packed |= (int(leaf) - place.low) << place.offset
        return packed

    def unpack(self, packed: int, part: slice = slice(None)) -> tuple[int | bool, ...]:
        """Return the leaves of a state in the order of the layout, or a part of them, booleans as bool."""
        return tuple(
            bool(raw) if isinstance(slot.sort, Boolean) else raw + place.low
            for slot, place in zip(self.slots[part], self.places[part], strict=True)
            for raw in (packed >> place.offset & (1 << place.width) - 1,)
        )

    def owners(self, mask: int) -> frozenset[str]:
        """Return the first keys (`Process(0)` of `holder[Process(0)]`) of the slots that share a bit with
        `mask`; slots without key have none.
        """
        return frozenset(key for key, owned in self._owned.items() if owned & mask)


def _width(slot: SlotInfo) -> int:
    match slot.sort:
        case Boolean():
            return 1
        case Number(low=low, high=high):
            return (high - low).bit_length()
        case Bits(width=width):
            return width
