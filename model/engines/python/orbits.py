"""Transitions between orbits: the least of the states that differ only in the names of interchangeable
members represents them all.

A step may lead from a state to another one of its orbit, which differs from a step that changes nothing:
`turned` lists such steps. The exchanges of members are those of the native engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from antiphon.model.engines.interface import Executable, Transitions
from antiphon.model.engines.python.source import compile_functions, step_source
from antiphon.model.ground.footprint import split
from antiphon.spec.lang import State, Step, ir

REMEMBERED = 1 << 16
"""Number of states whose representative is cached."""


class OrbitTransitions:
    """Transitions of one program between representatives of orbits: of the states that differ only by an
    exchange of symmetric members one stands for all.

    Attributes:
        turned: for the state whose successors were taken last, the numbers of the steps that lead to another
            state of its orbit.
    """

    def __init__(self, transitions: Transitions) -> None:
        """Make the orbits of the states of `transitions`.

        Raises:
            SpecError: the program has no symmetric set, or too many orders of their members.
        """
        from antiphon.model.engines.native.compiler.symmetry import (
            exchange_step,
            exchanges,
            rounds,
        )  # here, because loading LLVM takes longer than most checks

        self.program, self.packing = transitions.program, transitions.packing
        self.name = f"{transitions.name}, symmetry"
        self.turned: frozenset[int] = frozenset()
        self._inner = transitions
        order = rounds(self.program)[:-1]
        texts = []
        for number, exchange in enumerate(exchanges(self.program)):
            step = exchange_step(self.program, exchange)
            updates = [split(slot, value) for slot, value in step.updates]
            texts.append(
                (f"exchange_{number}", step_source(f"exchange_{number}", step, updates, self.packing))
            )
        made = cast("list[Callable[[int], tuple[int, int]]]", list(compile_functions(texts).values()))
        exchanged = [made[number] for number in order]

        @lru_cache(maxsize=REMEMBERED)
        def representative(packed: int) -> int:
            least = here = packed
            for exchange in exchanged:
                keep, add = exchange(here)
                here = here & keep | add
                least = min(least, here)
            return least

        self._representative = representative

    def pack(self, state: State) -> int:
        """Return the representative of a state's orbit."""
        return self._representative(self._inner.pack(state))

    def unpack(self, packed: int) -> State:
        """Return a representative as a state."""
        return self._inner.unpack(packed)

    def successors(self, packed: int) -> list[tuple[int, int]]:
        """Return every enabled step of a representative, with the representative of the next state."""
        moves = self._inner.successors(packed)
        found = [(number, self._representative(after)) for number, after in moves]
        self.turned = frozenset(
            number
            for (number, after), (_, least) in zip(moves, found, strict=True)
            if least == packed != after
        )
        return found

    def executable(self, packed: int) -> Executable:
        """Return the steps of a representative that can be executed, where some step cannot."""
        moves, broken = self._inner.executable(packed)
        return [(number, self._representative(after)) for number, after in moves], broken

    def step(self, number: int) -> Step:
        """Return the step of this number."""
        return self._inner.step(number)

    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        """Return the events of the step in a representative."""
        return self._inner.events(packed, number)

    def broken(self, packed: int) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Return the steps that break properties in a representative."""
        return self._inner.broken(packed)

    def predicate(self, name: str) -> Callable[[int], bool]:
        """Return a predicate, which has one value in all states of an orbit."""
        return self._inner.predicate(name)

    def formula(self, call: ir.Call, values: Mapping[str, Any]) -> Callable[[int], bool]:
        """Return a call of a helper, which has one value in all states of an orbit if no argument is a
        member.
        """
        return self._inner.formula(call, values)

    def budget_limited(
        self, union: int, chosen: Callable[[Step], bool] | None = None, *, faults: bool = False
    ) -> Callable[[int], bool] | None:
        """Return a function that is true where only a spent budget disables a step; see
        `Transitions.budget_limited`.
        """
        return self._inner.budget_limited(union, chosen, faults=faults)

    def coverage(self) -> dict[str, int]:
        """Return for each action with how many different arguments it was enabled in at least one expanded
        representative.
        """
        return self._inner.coverage()
