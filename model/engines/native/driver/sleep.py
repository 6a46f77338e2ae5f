"""Sleep sets: steps that lead where a step from an earlier state leads; such steps are counted, and not
taken.

A state that was first found by step a from state s has these steps in its sleep set: those taken from s
before a, or sleeping in s, that are independent of a (Godefroid 1996, "Partial-order methods for the
verification of concurrent systems"). Such a step b leads from s to a state with a smaller number, and a leads
on from there to where b after a leads. Since states are expanded in the order of their numbers, the result is
the same, in less time.

A set is a word or two. Where steps are too many for a bit each, the most frequent ones have one, chosen anew
now and then; others never sleep.

This file knows nothing of states or of their table.
"""

from __future__ import annotations

import ctypes
import zlib
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.native.compiler.independence import independent
from antiphon.model.engines.native.compiler.kernel import Kernel
from antiphon.model.engines.native.driver.memory import Area
from antiphon.model.ground.words import WORD

COMPARED, COMPARED_AGAIN = 1 << 12, 8
"""Number of expanded states at which steps get bits in sleep sets; and its factor until they get new ones."""
RING = 1 << 12
"""Number of sleep sets for which there is room at first; a power of two, as it stays."""


Counts = npt.NDArray[np.int64]


class SleepSets:
    """Sleep sets of states that wait to be expanded.

    Args:
        kernel: the machine code; without sleep sets this takes no memory.
        buffers: how many buffers of successors there are.
        capacity: how many successors each holds.
        most: how many states there may be.
        tell: writes a field of the contexts of all threads.
    """

    def __init__(
        self, kernel: Kernel, buffers: int, capacity: int, most: int, tell: Callable[[str, int], None]
    ) -> None:
        self._kernel, self._capacity = kernel, capacity
        self._ordinals, self._bytes = WORD * kernel.sleep, 8 * kernel.sleep
        self._one_to_one = kernel.codes.count <= self._ordinals
        self._compare_at = 0 if self._one_to_one else COMPARED
        self._tell, self._ring = tell, RING
        self._of_states = Area(self._bytes * most)
        self._of_successors = Area(self._bytes * capacity * buffers)
        self._each = max(128, 2 * self._bytes)
        self._explored = Area(self._each * buffers)
        self._free = Area(self._ordinals * self._bytes)
        self._places, self._codes = Area(kernel.codes.count), Area(4 * self._ordinals)
        self._flags = kernel.codes.count + 1 + 128
        self._asleep = Area(self._flags * buffers)

    def fields(self, buffer: int) -> dict[str, int]:
        """Return the fields of a buffer's context that hold the addresses of sleep sets."""
        return {
            "SLEEPING": self._of_states.address, "RING": self._ring - 1, "FREE": self._free.address,
            "ORDINALS": self._places.address, "CODES": self._codes.address,
            "ASLEEP": self._asleep.address + self._flags * buffer,
            "SLEEPY": self._of_successors.address + self._bytes * self._capacity * buffer,
            "EXPLORED": self._explored.address + self._each * buffer,
        }  # fmt: skip

    def expand(self, first: int, taken: Callable[[], Sequence[int]]) -> None:
        """Note that state `first` is expanded next; `taken` returns how often each step was taken."""
        if self._bytes and first >= self._compare_at:
            self._compare(np.array(taken()))
            self._compare_at = 1 << 62 if self._one_to_one else COMPARED_AGAIN * max(1, first)

    def lacks(self, first: int, last: int) -> bool:
        """Return True if there is no room for the sleep sets of the states first..last - 1."""
        return bool(self._bytes) and last - first > self._ring

    def room(self, first: int, last: int) -> None:
        """Make room for the sleep sets of the states first..last - 1, which wait together: the last bits of a
        state's number are the place of its set.
        """
        if not self.lacks(first, last):
            return
        while last - first > self._ring:
            before, self._ring = self._ring, 2 * self._ring
            begin, address = first % before, self._of_states.address
            if first % self._ring == begin:  # those that came round go on behind the others
                ctypes.memmove(address + self._bytes * before, address, self._bytes * begin)
            else:
                source, moved = address + self._bytes * begin, before - begin
                ctypes.memmove(source + self._bytes * before, source, self._bytes * moved)
        self._tell("RING", self._ring - 1)

    def _compare(self, taken: Counts) -> None:
        """Give the most frequent steps their bits anew, and forget all sets, which used the old bits."""
        if not len(taken):  # nothing ever happens
            return
        chosen = np.arange(len(taken))
        if not self._one_to_one:
            last = min(self._ordinals - 1, np.count_nonzero(taken))
            chosen = np.argsort(-taken, kind="stable")[:last]
        places = np.full(len(taken), self._ordinals - 1, dtype=np.uint8)
        places[chosen] = np.arange(len(chosen))
        footprints = np.frombuffer(zlib.decompress(self._kernel.footprints), dtype=np.uint64)
        free = np.zeros((self._ordinals, self._ordinals), dtype=np.bool_)
        free[: len(chosen), : len(chosen)] = independent(footprints.reshape(len(taken), 2, -1)[chosen])
        self._places.write(0, places.tobytes())
        self._codes.write(0, chosen.astype(np.uint32).tobytes())
        self._free.write(0, np.packbits(free, axis=1, bitorder="little").tobytes())
        self._of_states.release(0, self._of_states.size)

    def close(self) -> None:
        """Release the memory."""
        for area in (self._of_states, self._of_successors, self._explored, self._free):
            area.close()
        for area in (self._places, self._codes, self._asleep):
            area.close()
