"""Pipeline of two threads on one block: one thread finds the successors of the next part while the other
enters the found ones into the table, in order.

Only one thread enters at a time, so that entering needs no regions and numbers a state at once. A free thread
takes the next task, so that neither waits for long. Parts are entered in the order of their states: numbers,
parents and findings are those of a run with one thread.

This file knows nothing of rows or tables.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

__all__ = ["BUFFERS", "Buffers", "Pipeline"]

BUFFERS = 8
"""Number of buffers: two are written or read at a time, and the others wait to be entered."""
FILLED = 0.3
"""Share of a buffer that a part should fill: a buffer that overflows ends the block's round."""

SMALLEST = 512
SHARE = 3
"""A part has at least `SMALLEST` states; a larger one has at most 1 / `SHARE` of the rest of its block."""

Counted = tuple[bytes, int]


class Buffers(Protocol):
    """Interface of the buffers in which successors are found and from which they are entered."""

    known: int
    capacity: int
    """Number of successors that a buffer holds."""

    def find(self, thread: int, buffer: int, first: int, last: int) -> int:
        """Write the successors of the states first..last - 1 to a buffer. If the buffer gets full, return the
        number of the first state that is left.
        """
        ...

    def enter(self, buffer: int) -> None:
        """Enter the new states of a buffer, and empty it."""
        ...

    def used(self, buffer: int) -> int:
        """Return the number of successors in a buffer."""
        ...

    def counted(self, buffer: int) -> Counted:
        """Return the counts of steps and transitions that belong to a buffer, as they are now."""
        ...

    def discard(self, buffer: int, counted: Counted) -> None:
        """Drop the successors in a buffer, and set its counts back to `counted`."""
        ...

    def forget(self) -> None:
        """Forget the recently seen states."""
        ...

    def lacks(self, first: int, last: int) -> bool:
        """Return True if sleep sets must be moved before the states first..last - 1 can be expanded
        together.
        """
        ...

    def move(self, first: int, last: int) -> None:
        """Make room for the sleep sets of the states first..last - 1, which may move the present sets in
        memory; no thread may find successors at the same time.
        """
        ...

    def together(self, work: Callable[[int], int]) -> list[int]:
        """Run `work` in two threads at once, with the number of each thread, and return both results."""
        ...


@dataclass(frozen=True)
class _Part:
    """Part of a block: the successors of the states up to `reached`, in a buffer, and the counts of the
    buffer before them.
    """

    buffer: int
    reached: int
    counted: Counted


class Pipeline:
    """Work of two threads on one block of states of a store: one finds successors, the other enters them."""

    def __init__(self, store: Buffers) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._part = 1.0
        """Number of states in a part."""
        self._free = list(range(BUFFERS))
        self._found: dict[int, _Part] = {}
        self._first = self._last = self._next = self._entered = 0
        self._finding = 0
        self._entering = self._held = self._stopped = self._over = False

    def run(self, first: int, last: int) -> int:
        """Find and enter the successors of the states first..last - 1, or of fewer where a buffer was full or
        nodes had no room; return the number of the next state.
        """
        self._first = self._next = self._entered = first
        self._last, self._over, self._stopped = last, False, False
        self._store.together(self._work)
        if self._found:  # what comes behind a part that was not ended is found again
            for part in self._found.values():
                self._store.discard(part.buffer, part.counted)
                self._free.append(part.buffer)
            self._found.clear()
            self._store.forget()
        return self._entered

    def _work(self, thread: int) -> int:
        try:
            while (task := self._task(thread)) is not None:
                task()
        except BaseException:
            self._end()
            raise
        return thread

    def _end(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _task(self, thread: int) -> Callable[[], None] | None:
        """Return the next task of a free thread: to enter the next part, if it is found, or to find another;
        None when all is done.
        """
        with self._changed:
            while not self._over:
                if not self._entering and self._entered in self._found:
                    self._entering = True
                    return partial(self._enter, self._found.pop(self._entered))
                if self._may_find():
                    begin, self._next = self._next, self._next + self._size()
                    self._finding += 1
                    return partial(self._find, thread, self._free.pop(), begin, self._next)
                if not self._entering and not self._finding:
                    self._over = True
                    self._changed.notify_all()
                    return None
                self._changed.wait()
            return None

    def _size(self) -> int:
        """Return the number of states of the next part: fewer towards the end, when no finding runs beside
        the last entering.
        """
        left = self._last - self._next
        return min(left, max(SMALLEST, min(int(self._part), left // SHARE)))

    def _may_find(self) -> bool:
        is_left = self._next < self._last and not self._stopped
        return is_left and not self._held and bool(self._free)

    def _find(self, thread: int, buffer: int, begin: int, end: int) -> None:
        store = self._store
        counted = store.counted(buffer)
        reached = store.find(thread, buffer, begin, end)
        made = store.used(buffer) / max(1, reached - begin)
        with self._changed:
            self._finding -= 1
            self._found[begin] = _Part(buffer, reached, counted)
            self._stopped |= reached < end
            self._part = FILLED * store.capacity / max(made, 1.0)
            self._changed.notify_all()

    def _enter(self, part: _Part) -> None:
        last = self._store.known + self._store.used(part.buffer)
        if self._store.lacks(self._first, last):
            self._move(last)
        self._store.enter(part.buffer)
        with self._changed:
            self._entered = part.reached
            self._free.append(part.buffer)
            self._entering = False
            self._changed.notify_all()

    def _move(self, last: int) -> None:
        with self._changed:
            self._held = True
            while self._finding and not self._over:
                self._changed.wait()
            self._store.move(self._first, last)
            self._held = False
            self._changed.notify_all()
