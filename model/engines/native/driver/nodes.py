"""Nodes of all states that are stored as trees: their words, the table in which they are found, and the
arrays that each thread needs to read and make trees (`tree` defines a node).

Nodes are numbered from 0, and node 0 consists of zeros: every thread begins as if it had read the state of
zeros. The table grows between the rounds of a search, so that in a round each thread has room for the nodes
of one state's successors.

This file knows nothing of states or of their table.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from antiphon.model.engines.native.driver.memory import Area
from antiphon.model.engines.native.kernels import tree

MOST_NODES = (1 << 31) - 4
FIRST_SLOTS = 1 << 16
APART = 128
"""Number of bytes between data that two threads write."""
NODE_BYTES = 8 * tree.NODE_WORDS
ASK_BYTES = 8 * tree.ASK_WORDS
FULL = 0.75
"""Largest filled share of the table: most look-ups succeed, in one or two slots."""
AT_ONCE = 1 << 20
"""Number of nodes that are entered at a time, so that Ctrl-C is noticed."""


class Nodes:
    """Tree nodes of the states of one store.

    Args:
        words: how many words a state has.
        threads: how many threads make nodes.
        buffers: how many buffers they fill.
        successors: how many successors may wait for their roots.
        set_field: gives a field of the contexts of all threads its value.
        file: the file that holds the words of the nodes; None for memory.
    """

    def __init__(
        self,
        words: int,
        threads: int,
        buffers: int,
        successors: int,
        set_field: Callable[[str, int], None],
        file: Path | None,
    ) -> None:
        self._width, self._set = 8 * words, set_field
        self._margin = threads * successors * len(tree.parts(words))
        """Number of nodes that may be added between two checks of `NODE_LIMIT`."""
        self.words = Area(NODE_BYTES * MOST_NODES, file)
        self._count = Area(8)
        self._asks, self._path = 2 * ASK_BYTES * successors, 8 * (words + len(tree.parts(words)))
        self._each = -(-(self._asks + self._path + self._width) // APART) * APART
        self._of_buffers = Area(self._each * buffers)
        self.slots = 0
        self.table = Area(0)
        set_field("NODES", self.words.address)
        set_field("NODE_COUNT", self._count.address)

    @property
    def count(self) -> int:
        """Return the number of nodes."""
        return int.from_bytes(self._count.read(0, 8), "little")

    def fields(self, buffer: int) -> dict[str, int]:
        """Return the fields of a buffer's context that hold the addresses of its own tree arrays."""
        asks = self._of_buffers.address + self._each * buffer
        path = asks + self._asks
        return {"ASKS": asks, "PATH": path, "OUT": path + self._path}

    def begin(self, enter: Callable[[int, int], int], count: int = 1) -> None:
        """Set the number of known nodes to `count`; `enter` puts the nodes first..last - 1 into the table."""
        self._count.write(0, count.to_bytes(8, "little"))
        self._grow(enter)

    def room(self, enter: Callable[[int, int], int]) -> None:
        """Make room for the nodes that the next round may add, so that the round need not end at once.

        Raises:
            MemoryError: there are more than can be numbered.
        """
        if self._crowded(self.slots):
            self._grow(enter)

    def _crowded(self, slots: int) -> bool:
        return self.count + 2 * self._margin > FULL * slots

    def _grow(self, enter: Callable[[int, int], int]) -> None:
        count, slots = self.count, max(self.slots, FIRST_SLOTS)
        while self._crowded(slots):
            slots *= 2
        if count + 2 * self._margin > MOST_NODES:
            raise MemoryError(f"more than {MOST_NODES:,} parts of states")
        self.table.close()
        self.table, self.slots = Area(8 * slots, random=True), slots
        self._set("NODE_TABLE", self.table.address)
        self._set("NODE_SLOTS", slots)
        self._set("NODE_LIMIT", int(FULL * slots) - self._margin)
        for first in range(0, count, AT_ONCE):
            enter(first, min(first + AT_ONCE, count))

    def close(self) -> None:
        """Release the memory."""
        for area in (self.words, self._count, self._of_buffers, self.table):
            area.close()
