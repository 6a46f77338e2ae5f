"""Store of one kernel: it owns the arrays and the table, and runs the phases of an exploration on all threads
at once (two threads share a block, see `pipeline`).

States are numbered in the order of discovery, which does not depend on the number of threads (`runtime` says
why). The table grows when it is seven tenths full: all threads move what is in it to a larger one, in order.
A table for trees may be fuller, and is made anew from the states.

This file knows nothing of programs, properties or verdicts.
"""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.interface import NO_PARENT
from antiphon.model.engines.native.compiler.kernel import (
    Kernel,
    Native,
    parents_every,
    recently,
    row_words,
    seen_words,
    slot_bytes,
)
from antiphon.model.engines.native.compiler.symmetry import exchanges, orders, rounds
from antiphon.model.engines.native.driver.memory import Area
from antiphon.model.engines.native.driver.nodes import NODE_BYTES, Nodes
from antiphon.model.engines.native.driver.pipeline import BUFFERS, Pipeline
from antiphon.model.engines.native.driver.sleep import SleepSets
from antiphon.model.engines.native.kernels import fields
from antiphon.model.engines.native.kernels.runtime import SIFTED_TOGETHER
from antiphon.spec.lang.watch import working

MOST_STATES = (1 << 31) - 2
BUFFERED = 1 << 15
"""Number of successors in the buffer of one thread, unless one state may have more: as many as fit the
processor's second-level cache.
"""
BUFFERED_BY_TWO = 1 << 16
"""Number of successors in each buffer of two threads, which pass buffers to one another."""
BUFFERED_TOGETHER = 1 << 19
"""Number of successors in each buffer of more threads, which then wait for one another less often."""
CACHE_LINES = 128
LINE = 64
"""Number of bytes of the table that are read together; a region has whole lines of them."""
FEW = 512
"""Number of states below which a block is left to one thread."""
FIRST_REGION = 1 << 14
"""Number of slots of a new region: enough that no region fills up by chance before the table does."""
FULL, FULL_OF_NUMBERS = 0.7, 0.85
"""Largest filled share of a table with slots of eight bytes, and of one for trees."""
CROWDED = 0.9
"""Largest filled share of a table, counted as if all successors of a round were new (most are not)."""
NUMBERS = 0.75
"""Share of a line of a table for trees that holds the numbers; the rest are bytes of hashes."""
LARGE = 1 << 24
"""Number of slots from which a table for trees grows by a quarter only, to save memory."""
ENTERED = 1 << 20
"""Number of states that are entered at a time, so that Ctrl-C is noticed."""
SHOWN = 256
"""Number of states kept as trees that are decoded at a time."""
COPIED = 1 << 16
"""Number of states that are copied at a time."""
MOVED = 1 << 22
"""Number of slots of a region that are moved to a larger table before their memory is released."""
TRIED = 1 << 12
"""Number of states that are tried for a parent at a time, so that Ctrl-C is noticed."""
RESERVE = 64 << 20
"""Number of bytes of a disk that are left free: if a page of a mapped file cannot be had, the
process ends.
"""


class Full(MemoryError):
    """Error: there are more states than can be numbered."""


class Store:
    """States that a search has found so far, with the arrays and the threads to find more.

    Args:
        kernel: the machine code of the program.
        threads: how many threads to use.
        directory: where the arrays live as files; None for memory.
    """

    def __init__(self, kernel: Kernel, threads: int = 1, directory: Path | None = None) -> None:
        self.kernel, self.threads, self.directory = kernel, threads, directory
        words = row_words(kernel.packing.words, kernel.mode)
        self.row, self.width, self.slot = 8 * words, 8 * kernel.packing.words, slot_bytes(kernel.mode)
        self.known = 0
        most = kernel.codes.count + 1
        self.regions = threads if threads > 2 else 1
        self.buffers = BUFFERS if threads == 2 else threads
        self.capacity = max(_buffered(threads), 2 * most)
        self.states = Area(self.row * MOST_STATES, self._file("states"))
        self.every = parents_every(kernel.mode)
        self.initial = 0
        self.parents = Area(4 * MOST_STATES // self.every, self._file("parents"))
        self.prints = Area(8 * MOST_STATES if kernel.mode == fields.FINGERPRINT else 0, self._file("prints"))
        self.sleep = SleepSets(kernel, self.buffers, self.capacity, 2 * MOST_STATES, self.set)
        self.region = 0
        self.table = Area(0)
        buffered = self.capacity * self.buffers
        self._recent = 8 * seen_words(words) * recently(words)
        self._scratch = {
            "buffer": Area(self.row * buffered), "hashes": Area(8 * buffered), "from": Area(4 * buffered),
            "slots": Area(8 * buffered), "lists": Area(4 * buffered * self.regions),
            "lengths": Area(_apart(8 * self.regions) * self.buffers),
            "recent": Area(self._recent * self.buffers),
            "two states": Area(_apart(2 * self.width) * self.buffers),
            "shown": Area(SHOWN * self.width * threads if kernel.mode == fields.TREE else 0),
        }  # fmt: skip
        made = exchanges(kernel.program) if kernel.reduction.symmetric else ()
        steps = rounds(kernel.program) if made and not kernel.columns else ()
        self._orders = orders(kernel.program) if made else 1
        self._round = (ctypes.c_uint8 * len(steps))(*steps)
        self._firsts = (ctypes.c_uint8 * len(made))(*(item.first == 0 for item in made))
        self._found_words = 2 + 2 * len(kernel.properties)
        self._counted_bytes = _apart(8 * most)
        self._counts = Area(self._counted_bytes * self.buffers)
        self._found = Area(8 * self._found_words * self.buffers)
        self._contexts = [self._context(buffer) for buffer in range(self.buffers)]
        self._remember(lately=True)
        self.forget()
        self._pool = ThreadPoolExecutor(threads - 1, thread_name_prefix="antiphon") if threads > 1 else None
        self._list = (ctypes.c_uint64 * self.buffers)(*map(ctypes.addressof, self._contexts))
        self.set("CONTEXTS", ctypes.addressof(self._list))
        self.nodes = self._no_nodes(most) if kernel.mode == fields.TREE else None
        self._pipeline = Pipeline(self) if threads == 2 else None
        self._empty_table(FIRST_REGION * threads)

    def _file(self, name: str) -> Path | None:
        return None if self.directory is None else self.directory / name

    def _context(self, buffer: int) -> ctypes.Array[ctypes.c_uint64]:
        context = (ctypes.c_uint64 * (_apart(8 * fields.FIELDS + CACHE_LINES) // 8))()
        scratch, first = self._scratch, buffer * self.capacity
        values = {
            "STATES": self.states.address, "PARENTS": self.parents.address, "PRINTS": self.prints.address,
            "THREADS": self.regions,
            "CAPACITY": self.capacity, "MOST": self.kernel.codes.count + 1,
            "BUFFERS": scratch["buffer"].address,
            "BUFFER": scratch["buffer"].address + first * self.row,
            "HASHES": scratch["hashes"].address + 8 * first,
            "FROM": scratch["from"].address + 4 * first,
            "SLOTS": scratch["slots"].address + 8 * first,
            "LISTS": scratch["lists"].address + 4 * first * self.regions,
            "LENGTHS": scratch["lengths"].address + _apart(8 * self.regions) * buffer,
            "COUNTS": self._counts.address + self._counted_bytes * buffer,
            "FOUND": self._found.address + 8 * buffer * self._found_words, "NUMBER": buffer,
            "ROUND": ctypes.addressof(self._round), "ORDERS": self._orders,
            "EXCHANGES": len(self._firsts), "FIRSTS": ctypes.addressof(self._firsts),
            "SCRATCH": scratch["two states"].address + _apart(2 * self.width) * buffer,
        }  # fmt: skip
        for name, value in (values | self.sleep.fields(buffer)).items():
            context[getattr(fields, name)] = value
        return context

    def _no_nodes(self, most: int) -> Nodes:
        """Return the tree nodes of an empty store."""
        words, file = self.kernel.packing.words, self._file("nodes")
        nodes = Nodes(words, self.threads, self.buffers, SIFTED_TOGETHER + most, self.set, file)
        for buffer, context in enumerate(self._contexts):
            for name, value in nodes.fields(buffer).items():
                context[getattr(fields, name)] = value
        nodes.begin(self._enter_nodes)
        return nodes

    def _enter_nodes(self, first: int, last: int) -> int:
        return self.kernel.functions["enter_nodes"](self.address(), first, last)

    def set(self, field: str, value: int) -> None:
        """Set a field to the same value in the contexts of all buffers."""
        for context in self._contexts:
            context[getattr(fields, field)] = value

    def _remember(self, *, lately: bool) -> None:
        """With `lately` make all buffers skip successors that were seen recently, as a search does; else find
        all.
        """
        for buffer, context in enumerate(self._contexts):
            context[fields.RECENT] = 0
            if lately:
                self.remember(buffer, buffer)

    def remember(self, buffer: int, thread: int) -> None:
        """Attach a thread's memory of recently seen states to a buffer."""
        self._contexts[buffer][fields.RECENT] = self._scratch["recent"].address + self._recent * thread

    @contextmanager
    def recomputing(self) -> Iterator[None]:
        """Context in which the successors of known states are made once more, by the first thread, without
        counting or finding anything.
        """
        counted = self.counted(0)
        if self.nodes is not None:
            self.nodes.room(self._enter_nodes)
        self._remember(lately=False)
        try:
            yield
        finally:
            self._remember(lately=True)
            self._recount(0, counted)
            self.findings()

    def address(self, buffer: int = 0) -> int:
        """Return the address of the context of a buffer; without a pipeline a buffer's number is its
        thread's.
        """
        return ctypes.addressof(self._contexts[buffer])

    def used(self, buffer: int) -> int:
        """Return the number of successors in a buffer."""
        return self._contexts[buffer][fields.USED]

    def together(self, work: Callable[[int], int]) -> list[int]:
        """Run `work` in all threads at once, with the number of each thread, and return the results."""
        if self._pool is None:
            return [work(0)]
        others = [self._pool.submit(work, thread) for thread in range(1, self.threads)]
        try:
            mine = work(0)
        finally:
            rest = [other.result() for other in others]
        return [mine, *rest]

    # Growing ------------------------------------------------------------------------------------------------

    def room(self, more: int) -> None:
        """Make room for `more` further states."""
        if self.known + more > MOST_STATES:
            raise Full(f"more than {MOST_STATES:,} states")
        self._need(more * (self.row + 32))
        self._grow(int(max(self.known / self._full, (self.known + more) / (CROWDED * self._usable))) + 1)

    def _grow(self, wanted: int) -> None:
        """Make sure that the table has at least this many slots."""
        old, region = self.table, self.region
        before = slots = self.slots
        while slots < wanted:
            slots = 2 * slots if self.slot == 8 or slots < LARGE else slots * 5 // 4
        if slots == before:
            return
        self._empty_table(slots)
        if self.kernel.mode == fields.TREE:
            _discard_area(old)
            self._rebuild()
        else:
            self._by_region(lambda number: self._move(old, region, number))
            _discard_area(old)

    @property
    def _usable(self) -> float:
        """Return the share of the table's slots that can hold a state."""
        return 1.0 if self.slot == 8 else NUMBERS

    @property
    def _full(self) -> float:
        """Return the share of the table's slots that may be taken before the table grows."""
        return FULL if self.slot == 8 else FULL_OF_NUMBERS * NUMBERS

    def _by_region(self, work: Callable[[int], int]) -> None:
        """Run `work` for each region of the table; several regions are done by one thread each."""
        if self.regions == 1:
            work(0)
        else:
            self.together(work)

    def _move(self, old: Area, size: int, region: int) -> int:
        """Move the slots of a region of the old table into the new one; the old slots' memory is released on
        the way.
        """
        begin = 8 * size * region
        for first in range(0, size, MOVED):
            last = min(first + MOVED, size)
            self.kernel.functions["move"](self.address(region), region, old.address + begin, first, last)
            old.release(begin + 8 * first, begin + 8 * last)
        return size

    @property
    def slots(self) -> int:
        """Number of slots of the table, in all regions."""
        return self.region * self.regions

    def _empty_table(self, slots: int) -> None:
        together = LINE // self.slot
        self.region = -(-slots // self.regions // together) * together
        size = self.slot * self.slots
        file = self._file(f"table-{self.slots}")
        if file is not None:
            file.unlink(missing_ok=True)
            self._need(size)
        self.table = Area(size, file, random=True)
        self.set("TABLE", self.table.address)
        self.set("REGION", self.region)

    def _rebuild(self) -> None:
        """Enter the known states into the table, which is empty."""
        self._by_region(self._entered)

    def _entered(self, region: int) -> int:
        for first in range(0, self.known, ENTERED):
            last = min(first + ENTERED, self.known)
            self.kernel.functions["rebuild"](self.address(region), region, first, last)
        return self.known

    def _need(self, size: int) -> None:
        """Raise Full if the directory's disk has no room for `size` more bytes."""
        if self.directory is not None and (free := shutil.disk_usage(self.directory).free) < RESERVE + size:
            raise Full(f"{self.directory} is full: {free >> 20:,} MiB are free")

    # Exploring ----------------------------------------------------------------------------------------------

    def begin(self, rows: Sequence[Sequence[int]]) -> None:
        """Set the first states (words), without repetition."""
        for row in dict.fromkeys(map(tuple, rows)):
            self.room(1)
            kept = row if self.nodes is None else [self.root_of(row)]
            self.states.write(self.known * self.row, b"".join(word.to_bytes(8, "little") for word in kept))
            if self.kernel.mode == fields.FINGERPRINT:
                self.prints.write(8 * self.known, self.hash_of(row).to_bytes(8, "little"))
            self.known += 1
        self.initial = self.known
        self._rebuild()

    def resume(
        self, initial: int, known: int, counts: Sequence[int], transitions: int, nodes: int = 0
    ) -> None:
        """Continue an earlier search from its files: with the first `known` states, of which `initial` are
        initial, with `nodes` nodes of trees, and with its counts of steps and transitions.
        """
        self.initial, self.known = initial, known
        if self.nodes is not None:
            self.nodes.begin(self._enter_nodes, nodes)
        _discard_area(self.table)
        self._empty_table(max(FIRST_REGION * self.threads, 1 << int(known / self._full).bit_length()))
        self._rebuild()
        self._counts.write(0, b"".join(count.to_bytes(8, "little") for count in counts))
        self._contexts[0][fields.TRANSITIONS] = transitions

    def hash_of(self, row: Sequence[int]) -> int:
        """Return the hash of a row."""
        words = (ctypes.c_uint64 * len(row))(*row)
        return self.kernel.functions["hash_row"](ctypes.addressof(words))

    def root_of(self, words: Sequence[int]) -> int:
        """Return the root of the tree of a state."""
        state = (ctypes.c_uint64 * len(words))(*words)
        return self.kernel.functions["root_of"](self.address(), ctypes.addressof(state))

    def canonical(self, row: Sequence[int]) -> list[int]:
        """Return the row of the state that represents the orbit of this row; without symmetry the row
        itself.
        """
        words = (ctypes.c_uint64 * len(row))(*row)
        if self.kernel.reduction.symmetric:
            self.kernel.functions["canonical"](self.address(), ctypes.addressof(words))
        return list(words)

    def orbits(self) -> int:
        """Return the number of states that the known ones represent."""
        if not self.kernel.reduction.symmetric:
            return self.known
        cuts = _cuts(0, self.known, self.threads)
        return sum(
            self.together(
                lambda thread: self.kernel.functions["orbits"](
                    self.address(thread), cuts[thread], cuts[thread + 1]
                )
            )
        )

    def expand(self, first: int, last: int) -> None:
        """Find the successors of the states first..last - 1, and append the new ones."""
        self.sleep.expand(first, self.counts)
        while first < last:
            first = self._expand(first, last)

    def _expand(self, first: int, last: int) -> int:
        """Expand as many states from `first` on as the buffers can hold successors of; return the number of
        the next state.
        """
        if self.nodes is not None:
            self._need(NODE_BYTES * self.nodes.slots)
            self.nodes.room(self._enter_nodes)
        if self._pipeline is not None and last - first >= FEW:
            return self._pipeline.run(first, last)
        if self.regions > 1:
            return self._in_phases(first, last)
        done = self.find(0, 0, first, last)
        self.move(first, self.known + self.used(0))
        self.enter(0)
        return done

    def _in_phases(self, first: int, last: int) -> int:
        """Expand states in three phases, with a region of the table for each of several threads; return the
        number of the next state.
        """
        functions, threads = self.kernel.functions, self.threads if last - first >= FEW else 1
        before = [self.counted(thread) for thread in range(threads)]
        cuts = _cuts(first, last, threads)
        reached = self._each(threads, lambda part: self.find(part, part, cuts[part], cuts[part + 1]))
        early = (thread for thread in range(threads) if reached[thread] < cuts[thread + 1])
        stopped = next(early, threads - 1)
        if stopped < threads - 1:  # what the others found comes behind what is still to be found
            for other in range(stopped + 1, threads):
                self.discard(other, before[other])
            self.forget()
        used = sum(self.used(thread) for thread in range(threads))
        self.room(used)
        self.move(first, self.known + used)
        self._each(self.threads if threads > 1 else 1, lambda thread: self._insert(thread, threads))
        begins = [self.known]
        for thread in range(threads):
            begins.append(begins[-1] + self._fresh(thread))
        self._each(threads, lambda thread: functions["settle"](self.address(thread), begins[thread]))
        self.known = begins[-1]
        return reached[stopped]

    def find(self, thread: int, buffer: int, first: int, last: int) -> int:
        """Write the successors of the states first..last - 1 to a buffer, in a thread; return the number of
        the first state whose successors may have no room.
        """
        self.remember(buffer, thread)
        return self.kernel.functions["expand"](self.address(buffer), first, last)

    def enter(self, buffer: int) -> None:
        """Enter the new states of a buffer into the table of one region, and empty the buffer."""
        self.room(self.used(buffer))
        self.known = self.kernel.functions["absorb"](self.address(buffer), self.known)

    def lacks(self, first: int, last: int) -> bool:
        """Return True if sleep sets must be moved before the states first..last - 1 can be expanded
        together.
        """
        return self.sleep.lacks(first, last)

    def move(self, first: int, last: int) -> None:
        """Make room for the sleep sets of the states first..last - 1, which may move the present sets in
        memory; no thread may read them at the same time.
        """
        self.sleep.room(first, last)

    def counted(self, buffer: int) -> tuple[bytes, int]:
        """Return the counts of steps and of transitions of a buffer, as they are now."""
        return self._counts.read(buffer * self._counted_bytes, self._counted_bytes), self._contexts[buffer][
            fields.TRANSITIONS
        ]

    def discard(self, buffer: int, counted: tuple[bytes, int]) -> None:
        """Drop the content of a buffer, and the counts made meanwhile; its successors will be found again."""
        self.kernel.functions["empty"](self.address(buffer))
        self._recount(buffer, counted)

    def forget(self) -> None:
        """Forget the recently seen states. An empty place holds a hash that cannot occur there, because of
        its last bits: 1 in the first place, 0 in the others.
        """
        recent = self._scratch["recent"]
        ctypes.memset(recent.address, 0, recent.size)
        for thread in range(self.threads):
            recent.write(thread * self._recent, (1).to_bytes(8, "little"))

    def _recount(self, buffer: int, counted: tuple[bytes, int]) -> None:
        """Set the counts of a buffer to these values."""
        self._counts.write(buffer * self._counted_bytes, counted[0])
        self._contexts[buffer][fields.TRANSITIONS] = counted[1]

    def _insert(self, thread: int, threads: int) -> int:
        regions = [thread] if threads > 1 else range(self.threads)
        return sum(self.kernel.functions["insert"](self.address(thread), region) for region in regions)

    def _fresh(self, thread: int) -> int:
        """Return the number of new successors in a thread's buffer, after they were inserted."""
        return sum((ctypes.c_uint64 * self.threads).from_address(self._contexts[thread][fields.LENGTHS]))

    def _each(self, threads: int, work: Callable[[int], int]) -> list[int]:
        return self.together(work) if threads > 1 else [work(0)]

    def first_where(self, scans: Mapping[str, int], first: int, last: int) -> dict[str, tuple[int, bool]]:
        """Return for each function the first of the states first..last - 1 for which it has a value, or
        cannot be evaluated; functions without such a state are missing.
        """
        if not scans:
            return {}
        threads = self.threads if last - first >= FEW else 1
        cuts = _cuts(first, last, threads)
        found: list[dict[str, tuple[int, bool]]] = [{} for _ in range(threads)]

        def look(thread: int) -> int:
            for address, begin, end in self._shown(thread, cuts[thread], cuts[thread + 1]):
                for scan in scans.keys() - found[thread].keys():
                    answer = self.kernel.functions[scan](address, 0, end - begin, scans[scan])
                    if answer // 2 < end - begin:
                        found[thread][scan] = begin + answer // 2, bool(answer % 2)
            return thread

        self._each(threads, look)
        return {scan: place for each in reversed(found) for scan, place in each.items()}

    def fill(self, function: Native, values: bytearray) -> int:
        """Write the value of a function for each known state to `values`. Return the number of the first
        state where the function cannot be evaluated, or the number of states if there is none.
        """
        target = ctypes.addressof(ctypes.c_char.from_buffer(values)) if values else 0
        for address, begin, end in self._shown(0, 0, len(values)):
            working("judging states", large=True)
            reached = function(address, 0, end - begin, target + begin)
            if reached < end - begin:
                return begin + reached
        return len(values)

    def _shown(self, thread: int, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield the states first..last - 1 in parts, each with the address of their words; for trees it is a
        copy, which is valid until the next part.
        """
        if self.nodes is None:
            yield self.states.address + first * self.row, first, last
            return
        address = self._scratch["shown"].address + SHOWN * self.width * thread
        for begin in range(first, last, SHOWN):
            end = min(begin + SHOWN, last)
            self.kernel.functions["read"](self.address(thread), begin, end, address)
            yield address, begin, end

    # Looking at what there is -------------------------------------------------------------------------------

    def words(self, number: int) -> list[int]:
        """Return the words of a state."""
        return [int(word) for word in next(self.rows(number, number + 1))[0]]

    def rows(self, first: int, last: int) -> Iterator[npt.NDArray[np.uint64]]:
        """Yield the words of the states first..last - 1, a row for each state, in parts."""
        for address, begin, end in self._shown(0, first, last):
            for part, stop in _parts(begin, end):
                content = ctypes.string_at(address + (part - begin) * self.width, (stop - part) * self.width)
                yield np.frombuffer(content, dtype=np.uint64).reshape(stop - part, -1)

    def parent(self, number: int) -> int:
        """Return the number of the state from which this one was found; NO_PARENT for an initial one."""
        if number < self.initial:
            return NO_PARENT
        sample = number - number % self.every
        first = 0 if sample < self.initial else self._half(self.parents, sample // self.every)
        return first if number == sample else self._origin(number, first)

    def _origin(self, number: int, first: int) -> int:
        """Return the first state, from number `first` on, that leads to state `number`."""
        with self.recomputing():
            while first < number:
                last = min(first + TRIED, number)
                found = self.kernel.functions["origin"](self.address(), number, first, last)
                if found < last:
                    return found
                first = last
        raise AssertionError(f"no state before it leads to state {number}")

    @staticmethod
    def _half(area: Area, index: int) -> int:
        return int.from_bytes(area.read(4 * index, 4), "little")

    def counts(self) -> list[int]:
        """Return the number of times that each step was taken, by code, without the states in
        which it slept.
        """
        length = self._counted_bytes // 8
        every = (ctypes.c_uint64 * (length * self.buffers)).from_address(self._counts.address)
        return [
            sum(every[buffer * length + code] for buffer in range(self.buffers))
            for code in range(self.kernel.codes.count)
        ]

    def transitions(self) -> int:
        """Return the number of transitions that were seen."""
        return sum(context[fields.TRANSITIONS] for context in self._contexts)

    def findings(self) -> list[tuple[int, int, int]]:
        """Return (kind, state, code) for the first finding of each kind since the last call: kind 0 is an
        error, p + 1 property number p.
        """
        made = []
        every = (ctypes.c_uint64 * (self._found_words * self.buffers)).from_address(self._found.address)
        for kind in range(self._found_words // 2):
            pairs = [
                (every[place], every[place + 1])
                for place in range(2 * kind, self._found_words * self.buffers, self._found_words)
                if every[place]
            ]  # fmt: skip
            if pairs:
                state, code = min(pairs)
                made.append((kind, state - 1, code))
        if made:
            ctypes.memset(self._found.address, 0, 8 * self._found_words * self.buffers)
        return made

    def release(self) -> None:
        """Release the memory of arrays that are also on disk."""
        for area in self.files():
            area.release(0, area.size)

    def files(self) -> tuple[Area, ...]:
        """Return the arrays that are files in the directory; none if the store is in memory."""
        return (
            ()
            if self.directory is None
            else (self.states, self.parents, self.prints, self.table)
            + (() if self.nodes is None else (self.nodes.words,))
        )

    def arrays(self) -> dict[str, tuple[Area, int]]:
        """Return the arrays of known states, by the names of their files, each with the number of its bytes
        in use.
        """
        kept = {
            "states": (self.states, self.row * self.known),
            "parents": (self.parents, 4 * -(-self.known // self.every)),
        }
        if self.kernel.mode == fields.FINGERPRINT:
            kept["prints"] = self.prints, 8 * self.known
        if self.nodes is not None:
            kept["nodes"] = self.nodes.words, NODE_BYTES * self.nodes.count
        return kept

    def close(self) -> None:
        """End the threads and release the memory."""
        if self._pool is not None:
            self._pool.shutdown()
        for area in (
            self.states,
            self.parents,
            self.prints,
            self.table,
            self._counts,
            self._found,
            *self._scratch.values(),
        ):
            area.close()
        self.sleep.close()
        if self.nodes is not None:
            self.nodes.close()


def _buffered(threads: int) -> int:
    """Return the number of successors for which a buffer has room, when so many threads work."""
    return BUFFERED if threads == 1 else BUFFERED_BY_TWO if threads == 2 else BUFFERED_TOGETHER


def _apart(size: int) -> int:
    """Round a size up to a multiple of two cache lines, which are fetched together: so memory that one thread
    writes often shares no such pair with memory that another thread writes.
    """
    return -(-size // CACHE_LINES) * CACHE_LINES


def _cuts(first: int, last: int, parts: int) -> list[int]:
    """Return the numbers at which first..last - 1 is cut into equal parts."""
    return [first + (last - first) * part // parts for part in range(parts + 1)]


def _parts(first: int, last: int) -> list[tuple[int, int]]:
    """Return the numbers first..last - 1 in parts that are copied at once."""
    return [(begin, min(begin + COPIED, last)) for begin in range(first, last, COPIED)]


def _discard_area(area: Area) -> None:
    """Release an area, and delete its file if it has one."""
    area.close()
    if area.file is not None:
        area.file.unlink(missing_ok=True)
