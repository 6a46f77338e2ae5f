"""The machine code behind the interface of engines: a store and a kernel answer what a search asks; see
`StateSpace`.

What is rare and wants meaning (the steps of a trace, the text of an error) comes from the reference.
"""

from __future__ import annotations

import ctypes
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
from antiphon.model.engines.native import fields
from antiphon.model.engines.native.checkpoint import Checkpoint, Content
from antiphon.model.engines.native.kernel import filling, kernel_of
from antiphon.model.engines.native.memory import Area
from antiphon.model.engines.native.reduction import WHOLE, Reduction
from antiphon.model.engines.native.store import Store
from antiphon.model.ground import flatten, layout, unflatten
from antiphon.model.ground.budgets import held_back_within
from antiphon.model.ground.words import WORD, WordPacking
from antiphon.spec.lang import Program, State, Step

DIRECT_BITS = 63
STATES_AT_ONCE = 1 << 16
"""How many states are copied at a time."""

Words = npt.NDArray[np.uint64]


def default_threads() -> int:
    """How many threads to use: the processors this process may use, at most 8."""
    return max(
        1, min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    )


class NativeSpace:
    """The states of a program in machine words."""

    block = 1 << 15

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
    ) -> None:
        """A space that begins with the states `initial`.

        Args: program: the specification with its constants. initial: its initial states. threads: how many
            threads to use; None for as many as there are processors. graph: whether `futures` and
            `successors` will be asked; without, states of one word take less memory. fingerprints: keep 64
            bits of each state that has been expanded instead of the state. reduction: what is left out.
            directory: where the arrays live as files, so that they may be larger than memory and the search
            can go on after an end.

        Raises:
            Refused: the directory holds the search of another program.
            SpecError: there is no symmetry to use.
        """
        self.program = program
        direct = not graph and WordPacking(layout(program).slots, reduction.kept(program)).bits <= DIRECT_BITS
        self.mode = fields.FINGERPRINT if fingerprints else fields.DIRECT if direct else fields.WHOLE
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
        self._linked: Graph | None = None
        self._released = 0
        self._codes: dict[str, int] = {}
        self._initial = [tuple(self.store.canonical(self.pack(state))) for state in initial]
        self._checkpoint = None if directory is None else Checkpoint(directory, self.store)
        self._left: Content | None = None
        if directory is not None and self._checkpoint is not None and Checkpoint.exists(directory):
            self._left = self._checkpoint.read()
            self.store.resume(self._left.known, self._left.counts, self._left.transitions)
        else:
            self.store.begin(self._initial)

    def resume(self) -> Position | None:
        """The position of the search that used this directory before, when there was one."""
        left = self._left
        if left is None:
            return None
        decided = {
            name: Decision(state, None if code < 0 else self.step(code))
            for name, (state, code) in left.decided.items()
        }
        self._codes = {name: code for name, (_, code) in left.decided.items() if code >= 0}
        return Position(left.expanded, left.transitions, left.level_end, left.levels, decided, left.seconds)

    def checkpoint(self, position: Position, *, last: bool = False) -> None:
        """Write down how far the search is, when it is time; forget whole states that only their fingerprints
        are needed of.
        """
        if self._checkpoint is not None:
            self._checkpoint.write(position, self._codes, always=last)
        if self.mode == fields.FINGERPRINT and position.expanded > self._released:
            self.store.states.release(self._released * self.store.row, position.expanded * self.store.row)
            self._released = position.expanded

    def release(self) -> None:
        """Let the system take back the memory of what is on disk."""
        self.store.release()

    def __len__(self) -> int:
        return self.store.known

    def pack(self, state: State) -> tuple[int, ...]:
        """The words of a state."""
        return self.kernel.packing.pack(flatten(self.program, state))

    def step(self, code: int) -> Step:
        """The step of this code."""
        codes = self.kernel.codes
        method = list(self.program.declaration.marked("action", "environment"))[codes.action(code)]
        ranks = codes.ranks(code)
        arguments = tuple(
            self.program.domain(parameter.type).value(rank)
            for parameter, rank in zip(method.parameters, ranks, strict=True)
        )
        return Step(method.name, arguments)

    def expand(self, first: int, last: int) -> Block:
        """The successors of a block of states, appended where they are new."""
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
        """(state, predicate, value) of the first state of the block in which an invariant is false or a
        witness true.
        """
        found = []
        for name in predicates:
            wanted = name in self._witnesses
            state, wrong = self.store.first_where(f"scan.{self._number(name)}", first, last, int(wanted))
            if wrong:
                raise PredicateError(state, name)
            if state < last:
                found.append((state, name, wanted))
        return sorted(found)

    def _number(self, predicate: str) -> int:
        return self.kernel.predicates.index(predicate)

    def truth(self, predicate: str) -> bytearray:
        """For every known state whether the predicate is true in it."""
        values = bytearray(len(self))
        if values:
            address = ctypes.addressof(ctypes.c_char.from_buffer(values))
            reached = self.kernel.functions[f"fill.{self._number(predicate)}"](
                self.store.states.address, 0, len(values), address
            )
            if reached < len(values):
                raise PredicateError(reached, predicate)
        return values

    def union(self) -> tuple[int | bool, ...]:
        """The leaves of all known states joined bit by bit."""
        words = np.zeros(self.kernel.packing.words, dtype=np.uint64)
        for first in range(0, len(self), STATES_AT_ONCE):
            words |= np.bitwise_or.reduce(
                self.store.rows(first, min(first + STATES_AT_ONCE, len(self))), axis=0
            )
        return self.kernel.packing.unpack([int(word) for word in words])

    def budget_limited(self) -> bytearray | None:
        """For every known state 1 where only a spent budget keeps a step back; the condition is compiled for
        this.
        """
        condition = held_back_within(self.program, self.union())
        if condition is None:
            return None
        values = bytearray(len(self))
        if values:
            with filling(self.kernel.packing, condition) as fill:
                fill(
                    self.store.states.address,
                    0,
                    len(values),
                    ctypes.addressof(ctypes.c_char.from_buffer(values)),
                )
        return values

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """Whether nothing but faults can happen, and the numbers of the known states that other steps lead
        to.
        """
        return self._graph(max(state + 1, len(self))).successors(state)

    def futures(self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool) -> dict[str, Future]:
        """What `recovery.futures` says, in machine words: all properties at once, 64 at a time."""
        names = list(truths)
        made: dict[str, Future] = {}
        for begin in range(0, len(names), WORD):
            made |= self._some_futures(
                expanded, {name: truths[name] for name in names[begin : begin + WORD]}, complete=complete
            )
        return made

    def _some_futures(
        self, expanded: int, truths: Mapping[str, bytearray], *, complete: bool
    ) -> dict[str, Future]:
        graph = self._graph(expanded)
        bits = np.zeros(len(self), dtype=np.uint64)
        for position, good in enumerate(truths.values()):
            bits |= np.frombuffer(good, dtype=np.uint8).astype(np.uint64) << np.uint64(position)
        reach = graph.recovered(bits) if complete else bits
        quiet = graph.quiet().astype(bool)
        made = {}
        for position, name in enumerate(truths):
            false_here = bits[:expanded] >> np.uint64(position) & np.uint64(1) == 0
            lost = reach >> np.uint64(position) & np.uint64(1) == 0
            made[name] = Future(_first(false_here & quiet), _first(lost) if complete else None)
        return made

    def _graph(self, last: int) -> Graph:
        if self._linked is None or self._linked.last < last:
            self._linked = Graph(self, last)
        return self._linked

    def parent(self, state: int) -> int:
        """The state that this one was found from."""
        return self.store.parent(state)

    def value(self, state: int) -> State:
        """The state as a tuple of values."""
        if state < self._released:
            return self._replayed(state)
        return unflatten(self.program, self.kernel.packing.unpack(self.store.words(state)))

    def _replayed(self, state: int) -> State:
        """A state of which only the fingerprint is left: found again from its parent, by the reference."""
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
        """Whether this is the state, or one of its orbit."""
        words = self.store.canonical(self.pack(value))
        if state >= self._released:
            return words == self.store.words(state)
        return self.store.hash_of(words) == int.from_bytes(self.store.prints.read(8 * state, 8), "little")

    def left_out(self) -> tuple[str, ...]:
        """The variables that are not kept, wholly or in part, in the order of the layout."""
        kept = self.kernel.reduction.kept(self.program)
        return tuple(
            dict.fromkeys(
                slot.variable
                for position, slot in enumerate(layout(self.program).slots)
                if position not in kept
            )
        )

    def represented(self) -> int:
        """How many states the known ones stand for."""
        return self.store.orbits()

    def mute(self, property: str) -> None:
        """Report no more findings about this property."""
        self._muted.add(property)

    def coverage(self) -> dict[str, int]:
        """For each action with how many argument tuples it was enabled somewhere."""
        codes, counts = self.kernel.codes, self.store.counts()
        return {
            name: sum(1 for code in range(codes.bases[number], codes.bases[number + 1]) if counts[code])
            for number, name in enumerate(codes.names)
        }


class Graph:
    """The edges of the states 0..last - 1 of a space, without faults."""

    def __init__(self, space: NativeSpace, last: int) -> None:
        store = space.store
        self._store, self._functions, self.last = store, store.kernel.functions, last
        room = store.transitions() + last + store.kernel.codes.count + 1
        self._offsets, self._quiet, self._edges = Area(8 * (last + 1)), Area(last), Area(4 * room)
        for field, value in {
            "EDGES": self._edges.address,
            "OFFSETS": self._offsets.address,
            "QUIET": self._quiet.address,
            "ROOM": room,
        }.items():
            store.set(field, value)
        store.remember(lately=False)
        state = 0
        while state < last:
            state = self._functions["link"](store.address(), state, min(last, state + space.block))
        store.remember(lately=True)

    def successors(self, state: int) -> tuple[bool, list[int]]:
        """See `StateSpace.successors`."""
        first, last = (int.from_bytes(self._offsets.read(8 * (state + more), 8), "little") for more in (0, 1))
        content = self._edges.read(4 * first, 4 * (last - first))
        return self._quiet.read(state, 1) == b"\x01", [
            int.from_bytes(content[place : place + 4], "little") for place in range(0, len(content), 4)
        ]

    def quiet(self) -> Words:
        """For each state whether nothing but faults can happen."""
        return np.frombuffer(self._quiet.read(0, self.last), dtype=np.uint8).astype(np.uint64)

    def recovered(self, truths: Words) -> Words:
        """The bits of `truths` (a word a state) that some fault-free path from each state leads to."""
        reach = np.ascontiguousarray(truths, dtype=np.uint64).copy()
        self._store.set("REACH", reach.ctypes.data)
        while self._functions["sweep"](self._store.address(), self.last):
            pass
        return reach


def _first(where: npt.NDArray[np.bool_]) -> int | None:
    found = int(where.argmax()) if len(where) else 0
    return found if len(where) and where[found] else None
