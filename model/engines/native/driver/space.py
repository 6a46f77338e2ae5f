"""Native engine: a store and a kernel implement `StateSpace`.

Results that are rare and need the specification's text (the steps of a trace, the text of an error) come from
the reference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from antiphon.model.engines.interface import (
    NO_PARENT,
    Block,
    Decision,
    Finding,
    Future,
    Position,
    PredicateError,
)
from antiphon.model.engines.native.compiler.kernel import filling, kernel_of
from antiphon.model.engines.native.compiler.reduction import WHOLE, Reduction
from antiphon.model.engines.native.driver.checkpoint import Checkpoint, Content
from antiphon.model.engines.native.driver.memory import Area
from antiphon.model.engines.native.driver.nodes import NODE_BYTES
from antiphon.model.engines.native.driver.store import Store
from antiphon.model.engines.native.kernels import fields
from antiphon.model.ground import flatten, layout, unflatten
from antiphon.model.ground.budgets import held_back_within
from antiphon.model.ground.shape import Raw
from antiphon.model.ground.words import WORD, Place, WordPacking
from antiphon.spec.lang import Program, State, Step
from antiphon.spec.lang.watch import working

DIRECT_BITS = 63
TREE_WORDS = 3
STATES_AT_ONCE = 1 << 16
"""Number of states that are copied at a time."""

Words = npt.NDArray[np.uint64]


def default_threads() -> int:
    """Return the number of threads to use by default: as many as the processors that this process may use, at
    most 8.
    """
    return max(
        1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    )


class NativeSpace:
    """Space of a program's states as machine words, explored by the native engine."""

    block = 1 << 17

    def __init__(
        self,
        program: Program,
        initial: Iterable[State],
        *,
        threads: int | None = None,
        graph: bool = True,
        fingerprints: bool = False,
        reduction: Reduction = WHOLE,
        directory: Path | None = None,
        trees: bool = True,
    ) -> None:
        """Make a space that begins with the states `initial`.

        Args:
            program: the specification with its constants.
            initial: its initial states.
            threads: how many threads to use; None for as many as there are processors.
            graph: whether `futures` and `successors` will be asked; without, states of one word take less
                memory.
            fingerprints: keep 64 bits of each state that has been expanded instead of the state.
            reduction: what is left out.
            directory: where the arrays live as files, so that they may be larger than memory and the search
                can go on after an end.
            trees: keep states of three words and more as trees, which share what is equal.

        Raises:
            Refused: the directory holds the search of another program.
            SpecError: there is no symmetry to use.
        """
        self.program = program
        packing = WordPacking(layout(program).slots, reduction.stored_slots(program))
        if fingerprints:
            self.mode = fields.FINGERPRINT
        elif packing.bits <= DIRECT_BITS and not graph:
            self.mode = fields.DIRECT
        elif packing.words >= TREE_WORDS and trees:
            self.mode = fields.TREE
        else:
            self.mode = fields.WHOLE
        self.engine = "explicit, native" + (", fingerprints of 64 bits" if fingerprints else "")
        self.engine += ", symmetry" if reduction.symmetric else ""
        self.engine += ", cone of influence" if reduction.asked is not None else ""
        self.kernel = kernel_of(program, self.mode, reduction)
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
        self.store = Store(self.kernel, threads or default_threads(), directory)
        self._muted: set[str] = set()
        self._witnesses = {
            method.mark.name for method in program.declaration.marked("witness") if method.mark
        }
        self._released = 0
        self._codes: dict[str, int] = {}
        self._initial = [tuple(self.store.canonical(self.pack(state))) for state in initial]
        self._checkpoint = None if directory is None else Checkpoint(directory, self.store)
        self._left: Content | None = None
        if directory is not None and self._checkpoint is not None and Checkpoint.exists(directory):
            left = self._left = self._checkpoint.read()
            nodes = left.arrays["nodes"][0] // NODE_BYTES if "nodes" in left.arrays else 0
            begun = len(set(self._initial))
            self.store.resume(begun, left.known, left.counts, left.transitions, nodes)
        else:
            self.store.begin(self._initial)

    def resume(self) -> Position | None:
        """Return the position of the search that used this directory before, if there was one."""
        left = self._left
        if left is None:
            return None
        decided = {
            name: Decision(state, None if code < 0 else self.step(code))
            for name, (state, code) in left.decided.items()
        }
        self._codes = {name: code for name, (_, code) in left.decided.items() if code >= 0}
        return Position(
            left.expanded, left.transitions, left.level_end, left.levels, decided, left.seconds, left.asked
        )  # fmt: skip

    def checkpoint(self, position: Position, *, last: bool = False) -> None:
        """Write the position of the search, if it is time; release whole states of which only fingerprints
        are needed.
        """
        if self._checkpoint is not None:
            self._checkpoint.write(position, self._codes, always=last)
        if self.mode == fields.FINGERPRINT and position.expanded > self._released:
            self.store.states.release(self._released * self.store.row, position.expanded * self.store.row)
            self._released = position.expanded

    def release(self) -> None:
        """Release the memory of arrays that are also on disk."""
        self.store.release()

    def __len__(self) -> int:
        return self.store.known

    def pack(self, state: State) -> tuple[int, ...]:
        """Return the machine words of a state."""
        return self.kernel.packing.pack(flatten(self.program, state))

    def step(self, code: int) -> Step:
        """Return the step with this code."""
        codes = self.kernel.codes
        method = list(self.program.declaration.marked("action", "environment"))[codes.action(code)]
        ranks = codes.ranks(code)
        arguments = tuple(
            self.program.domain(parameter.type).value(rank)
            for parameter, rank in zip(method.parameters, ranks, strict=True)
        )
        return Step(method.name, arguments)

    def expand(self, first: int, last: int) -> Block:
        """Expand a block of states, and append the new successors."""
        before = self.store.transitions()
        self.store.expand(first, last)
        findings = []
        for kind, state, code in self.store.findings():
            if kind == 0:
                findings.append(Finding(state, self.step(code), error="a check fails"))
            elif self.kernel.properties[kind - 1] not in self._muted:
                findings.append(Finding(state, self.step(code), (self.kernel.properties[kind - 1],)))
                self._codes.setdefault(self.kernel.properties[kind - 1], code)
        return Block(
            self.store.transitions() - before, tuple(sorted(findings, key=lambda finding: finding.state))
        )

    def screen(self, predicates: Sequence[str], first: int, last: int) -> Iterable[tuple[int, str, bool]]:
        """Yield (state, predicate, value) for the first state of the block in which an invariant is false or
        a witness true.
        """
        found = []
        scans = {name: f"scan.{self._number(name)}" for name in predicates}
        wanted = {scans[name]: int(name in self._witnesses) for name in predicates}
        places = self.store.first_where(wanted, first, last)
        for name in predicates:
            state, wrong = places.get(scans[name], (last, False))
            if wrong:
                raise PredicateError(state, name)
            if state < last:
                found.append((state, name, name in self._witnesses))
        return sorted(found)

    def _number(self, predicate: str) -> int:
        return self.kernel.predicates.index(predicate)

    def truth(self, predicate: str) -> bytearray:
        """Return a byte for every known state: 1 where the predicate is true in it."""
        values = bytearray(len(self))
        reached = self.store.fill(self.kernel.functions[f"fill.{self._number(predicate)}"], values)
        if reached < len(values):
            raise PredicateError(reached, predicate)
        return values

    def union(self) -> tuple[int | bool, ...]:
        """Return the leaves of all known states, joined bit by bit: sets as their union."""
        words = np.zeros(self.kernel.packing.words, dtype=np.uint64)
        for rows in self.store.rows(0, len(self)):
            words |= np.bitwise_or.reduce(rows, axis=0)
        return self.kernel.packing.unpack([int(word) for word in words])

    def together(self, slots: Sequence[int], *, quiet: bool = False) -> frozenset[tuple[Raw, ...]]:
        """Return the combinations of values that some slots have in the known states; with `quiet` only in
        states where nothing but faults can happen.
        """
        packing, found, begin = self.kernel.packing, set[tuple[int, ...]](), 0
        places = [packing.places[slot] for slot in slots]
        mask = np.array([self._mask(places, word) for word in range(packing.words)], dtype=np.uint64)
        chosen = Recovery(self.store).quiet() if quiet else np.ones(len(self), dtype=np.bool_)
        for rows in self.store.rows(0, len(self)):
            end = begin + len(rows)
            found.update(map(tuple, np.unique(rows[chosen[begin:end]] & mask, axis=0).tolist()))
            begin = end
        unpacked = map(packing.unpack, found)
        return frozenset(tuple(values[slot] for slot in slots) for values in unpacked)

    @staticmethod
    def _mask(places: Iterable[Place], word: int) -> int:
        return sum(place.mask(word) for place in places)

    def budget_limited(self, *, faults: bool = False) -> bytearray | None:
        """Return a byte for every known state: 1 where only a spent budget disables a step of the algorithm
        (with `faults` also of the environment); None if no step has a budget. The condition is compiled for
        this call.
        """
        condition = held_back_within(self.program, self.union(), faults=faults)
        if condition is None:
            return None
        values = bytearray(len(self))
        if values:
            with filling(self.kernel, condition) as function:
                self.store.fill(function, values)
        return values

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Return whether only faults can happen in a state, and the numbers of the known states to which its
        other steps lead.
        """
        return Recovery(self.store).successors(state)

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """Return for each property its future as `recovery.futures` does; machine code judges 64 properties
        at once.
        """
        names = list(truths)
        made: dict[str, Future] = {}
        for begin in range(0, len(names), WORD):
            recovery = Recovery(self.store)
            recovery.run([truths[name] for name in names[begin : begin + WORD]], expanded, complete=complete)
            for position, name in enumerate(names[begin : begin + WORD]):
                lost = recovery.first_lost(position) if complete else None
                made[name] = Future(recovery.first_quiet(truths[name]), lost)
        return made

    def parent(self, state: int) -> int:
        """Return the number of the state from which state `state` was found."""
        return self.store.parent(state)

    def value(self, state: int) -> State:
        """Return the state as a tuple of values."""
        if state < self._released:
            return self._replayed(state)
        return unflatten(self.program, self.kernel.packing.unpack(self.store.words(state)))

    def _replayed(self, state: int) -> State:
        """Return a state of which only the fingerprint is stored: it is computed again from its parent, by
        the reference.
        """
        numbers = [state]
        while (parent := self.parent(numbers[-1])) != NO_PARENT:
            numbers.append(parent)
        numbers.reverse()
        value = unflatten(self.program, self.kernel.packing.unpack(self._initial[numbers[0]]))
        for number in numbers[1:]:
            value = next(
                item.state
                for item in self.program.reference.successors(value)
                if self.stands_for(number, item.state)
            )
        return value

    def stands_for(self, state: int, value: State) -> bool:
        """Return True if `value` is the value of the state with this number, or of a state of its orbit."""
        words = self.store.canonical(self.pack(value))
        if state >= self._released:
            return words == self.store.words(state)
        return self.store.hash_of(words) == int.from_bytes(self.store.prints.read(8 * state, 8), "little")

    def left_out(self) -> tuple[str, ...]:
        """Return the variables that are left out, wholly or in part, in the order of the layout."""
        kept = self.kernel.reduction.stored_slots(self.program)
        return tuple(
            dict.fromkeys(
                slot.variable
                for position, slot in enumerate(layout(self.program).slots)
                if position not in kept
            )
        )

    def represented(self) -> int:
        """Return the number of states that the known ones represent."""
        return self.store.orbits()

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""
        self._muted.add(property)

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        state.
        """
        codes, counts = self.kernel.codes, self.store.counts()
        return {
            name: sum(1 for code in range(codes.bases[number], codes.bases[number + 1]) if counts[code])
            for number, name in enumerate(codes.names)
        }


class Recovery:
    """Computation of what the states of a store can reach without faults. Each state has a word, with a bit
    for each property.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._functions = store, store.kernel.functions
        room = store.transitions() + store.known + store.kernel.codes.count + 1
        self._open, self._quiet = Area(4 * store.known), Area(store.known)
        self._offsets, self._edges = Area(8 * (store.known + 1)), Area(4 * room)
        self._reach: Words = np.zeros(store.known, dtype=np.uint64)
        for field, value in {
            "OPEN": self._open.address,
            "QUIET": self._quiet.address,
            "OFFSETS": self._offsets.address,
            "EDGES": self._edges.address,
            "REACH": self._reach.ctypes.data,
        }.items():
            store.set(field, value)

    def run(self, truths: Sequence[bytearray], expanded: int, *, complete: bool) -> None:
        """Compute what the states can reach, given the states in which each property is true. The first
        `expanded` states have all their successors in the store. If not `complete`, compute only which states
        are quiet: nothing but faults can happen in them.
        """
        reach, wanted = self._reach, 0
        for position, good in enumerate(truths):
            for begin, end in _parts(len(reach)):
                bits = np.frombuffer(good, dtype=np.uint8, count=end - begin, offset=begin).astype(np.uint64)
                reach[begin:end] |= bits << np.uint64(position)
            wanted |= (1 in good) << position
        self._store.set("ASKED", (1 << len(truths)) - 1)
        self._store.set("WANTED", wanted if complete else 0)
        found = 0
        with self._store.recomputing():
            for begin, end in reversed(_parts(expanded)):
                working(f"judging obligations, {end:,} states left", large=True)
                found = self._functions["recover"](self._store.address(), end, begin, found)
            self._link(found)
        while found and self._functions["sweep"](self._store.address(), found):
            working("judging obligations", large=True)

    def _link(self, listed: int) -> None:
        for begin, end in _parts(listed):
            working("judging obligations", large=True)
            self._functions["link"](self._store.address(), begin, end)

    def quiet(self) -> npt.NDArray[np.bool_]:
        """Return a byte for every state: 1 where nothing but faults can happen; valid only after a `run` that
        was not complete.
        """
        self.run([bytearray(len(self._reach))], len(self._reach), complete=False)
        return self._is_quiet(0, len(self._reach))

    def first_quiet(self, truth: bytearray) -> int | None:
        """Return the first state in which the property is false and nothing but faults can happen; None if
        there is none.
        """
        return next(
            (
                begin + int(both.argmax())
                for begin, end in _parts(len(self._reach))
                if (both := self._is_quiet(begin, end) & ~_flags(truth, begin, end)).any()
            ),
            None,
        )

    def _is_quiet(self, begin: int, end: int) -> npt.NDArray[np.bool_]:
        return np.frombuffer(self._quiet.read(begin, end - begin), dtype=np.bool_)

    def first_lost(self, position: int) -> int | None:
        """Return the first state from which no path without faults leads to a state where the property is
        true; None if there is none.
        """
        bit = np.uint64(1 << position)
        return next(
            (
                begin + int(lost.argmax())
                for begin, end in _parts(len(self._reach))
                if (lost := self._reach[begin:end] & bit == 0).any()
            ),
            None,
        )

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Return whether only faults can happen in a state, and the states to which its other steps lead; see
        `StateSpace.successors`.
        """
        self._open.write(0, state.to_bytes(4, "little"))
        before = self._store.transitions()
        with self._store.recomputing():
            self._link(1)
            stuck = self._store.transitions() == before
        length = 4 * int.from_bytes(self._offsets.read(8, 8), "little")
        return stuck, np.frombuffer(self._edges.read(0, length), dtype=np.uint32).tolist()


def _parts(size: int) -> list[tuple[int, int]]:
    """Return 0..size - 1 cut into parts, so that no pass keeps much memory beside the states or delays
    Ctrl-C.
    """
    return [(begin, min(begin + STATES_AT_ONCE, size)) for begin in range(0, size, STATES_AT_ONCE)]


def _flags(truth: bytearray, begin: int, end: int) -> npt.NDArray[np.bool_]:
    return np.frombuffer(truth, dtype=np.bool_, count=end - begin, offset=begin)
