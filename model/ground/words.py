"""Machine words of a state: its leaves stand in 64-bit words; a set of more than 64 elements has its own.

In a state of more than two words the leaves of one key (a process, say) stand together: most steps change few
words then, and words repeat from state to state.

A boolean takes one bit, a number from `low` to `high` the bits of `high - low` (stored as its distance from
`low`), a bit set its width. A leaf of at most 64 bits lies within one word, so that reading it is a load, a
shift and a mask; the last word of a wide set is shared.

This file knows nothing of steps, of LLVM or of searching.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from antiphon.model.ground.form import Bits, Boolean, Number, SlotInfo

WORD = 64
WORD_MASK = (1 << WORD) - 1
TOGETHER_WORDS = 2


@dataclass(frozen=True)
class Place:
    """Bits of one leaf: from bit `offset` of word `word`, `width` bits; `low` is added when a number is read,
    else 0.

    A leaf wider than a word starts at bit 0 and goes on in the words that follow.
    """

    word: int
    offset: int
    width: int
    low: int

    @property
    def words(self) -> int:
        """Return the number of words of the leaf."""
        return max(1, -(-(self.offset + self.width) // WORD))

    def mask(self, word: int) -> int:
        """Return the bits of the leaf within the word number `word` of the state."""
        first = (word - self.word) * WORD
        low, high = max(self.offset, first), min(self.offset + self.width, first + WORD)
        return ((1 << high - low) - 1) << low - first if high > low else 0


class WordPacking:
    """Places of the slots of a layout, in `words` words; `bits` of them are used. Slots that are not `kept`
    take no bits, and are read as the least value.
    """

    def __init__(self, slots: Sequence[SlotInfo], kept: Collection[int] | None = None) -> None:
        self.slots = tuple(slots)
        widths = [
            _width(slot) if kept is None or position in kept else 0 for position, slot in enumerate(slots)
        ]
        starts, words = _starts(widths, [""] * len(widths))
        if words > TOGETHER_WORDS:
            starts, words = _starts(widths, [slot.key for slot in self.slots])
        lows = [slot.sort.low if isinstance(slot.sort, Number) else 0 for slot in slots]
        self.places = tuple(
            Place(*start, width, low) for start, width, low in zip(starts, widths, lows, strict=True)
        )
        self.words = max(1, words)
        self.bits = sum(widths)

    def pack(self, leaves: Iterable[int]) -> tuple[int, ...]:
        """Return the words of the state with these leaves, given in the order of the layout."""
        whole = 0
        for place, leaf in zip(self.places, leaves, strict=True):
            whole |= (int(leaf) - place.low if place.width else 0) << place.word * WORD + place.offset
        return tuple(whole >> WORD * word & WORD_MASK for word in range(self.words))

    def unpack(self, words: Sequence[int]) -> tuple[int | bool, ...]:
        """Return the leaves of a state in the order of the layout, booleans as bool."""
        whole = sum(word << WORD * position for position, word in enumerate(words))
        return tuple(
            bool(raw) if isinstance(slot.sort, Boolean) else raw + place.low
            for slot, place in zip(self.slots, self.places, strict=True)
            for raw in (whole >> place.word * WORD + place.offset & (1 << place.width) - 1,)
        )


def _starts(widths: Sequence[int], groups: Sequence[str]) -> tuple[list[tuple[int, int]], int]:
    """Return the place (word and bit) of each leaf of these widths, and the number of words: first come the
    leaves wider than a word, then group by group, each from the word in which the group before it ended.
    """
    starts = [(0, 0)] * len(widths)
    free: list[int] = []
    wide = [position for position, width in enumerate(widths) if width > WORD]
    for position in sorted(wide, key=lambda position: -widths[position]):
        starts[position] = len(free), 0
        whole, rest = divmod(widths[position], WORD)
        free += [0] * whole + ([WORD - rest] if rest else [])
    for group in dict.fromkeys(groups):
        first = max(0, len(free) - 1) if group else 0
        mine = [
            position for position, width in enumerate(widths) if groups[position] == group and width <= WORD
        ]
        for position in sorted(mine, key=lambda position: -widths[position]):
            width = widths[position]
            word = next((word for word in range(first, len(free)) if free[word] >= width), None)
            if word is None:
                word = len(free)
                free.append(WORD)
            starts[position] = word, WORD - free[word]
            free[word] -= width
    return starts, len(free)


def _width(slot: SlotInfo) -> int:
    match slot.sort:
        case Boolean():
            return 1
        case Number(low=low, high=high):
            return (high - low).bit_length()
        case Bits(width=width):
            return width
