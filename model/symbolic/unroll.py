"""Unrolling of runs of k steps to clauses: literals for each time, a chosen instance between two times, frame
axioms both ways.

1. Exactly one instance is chosen between two times; it is enabled and is no error.
2. A literal that no possible instance changes is the same literal at the next time; one that cannot become
   true stays the constant. Parts that are unreachable in k steps therefore never reach Z3.
3. Each change has a reason: a difference between two times is explained by a chosen instance that can make
   it.

A `simple` run meets no state twice: each step changes the state, and `forbid_returns` excludes longer cycles.

With `roles`, which say what helps or hinders to reach the target (`dominated.py`), only runs are left that
can be shortest for it:
4. No step is dominated: none only takes away what helps, or only adds what hinders.
5. Of two neighbouring independent steps the one with the smaller number comes first. Every run can be brought
   into that form by exchanging neighbours, and ends in the same state.

Everything is judged in states, also the effects of the next step (a broken property, an error). This file
knows nothing of properties.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from antiphon.model.ground.form import Number
from antiphon.model.symbolic.circuit import FALSE, TRUE
from antiphon.model.symbolic.domains import exactly_one
from antiphon.model.symbolic.dominated import BOTH, HELPS, HINDERS, Roles
from antiphon.model.symbolic.solver import Solver
from antiphon.model.symbolic.steps import Instance, Template


@dataclass
class Time:
    """State after a number of steps (`literals`, one for each cell), and the choice of the step that leaves
    it.
    """

    literals: Sequence[int]
    memo: dict[int, int] = field(default_factory=dict)
    chosen: dict[int, int] = field(default_factory=dict)
    """Selector of each instance that may be taken, by its number."""
    possible: list[Instance] | None = None
    idle: int = FALSE
    """Literal that is true when the run has ended before this time."""


class Unrolling:
    """Runs from given first states, grown one step at a time."""

    def __init__(
        self,
        template: Template,
        solver: Solver,
        first: Sequence[int],
        *,
        roles: Roles | None = None,
        faults: bool = True,
        simple: bool = False,
    ) -> None:
        self.template, self.solver, self.circuit = template, solver, template.circuit
        self.roles, self.faults, self.simple = roles, faults, simple
        self._trimmed: dict[int, Instance] = {}
        self.times = [Time(first)]

    def at(self, time: int, literal: int) -> int:
        """Return a literal of the template, moved to the state at `time`."""
        moment = self.times[time]
        if not moment.memo:
            moment.memo = {1: TRUE, **dict(zip(self.template.variables, moment.literals, strict=True))}
        return self.circuit.substitute(literal, {}, moment.memo)

    def possible(self, time: int) -> list[Instance]:
        """Return the instances that may be enabled, or may be an error, at `time`."""
        moment = self.times[time]
        if moment.possible is None:
            made = self.template.possible(moment.literals)
            moment.possible = [
                item
                for item in made
                if self.at(time, item.enabled) != FALSE or self.at(time, item.wrong) != FALSE
            ]
        return moment.possible

    def grow(self, *, idle: bool = False) -> None:
        """Make the runs one step longer: add the choice of the step, its condition, and the next state.

        With `idle` a run may also have ended before.
        """
        now = self.times[-1]
        time = len(self.times) - 1
        taken: list[Instance] = []
        for original in self.possible(time):
            if original.fault and not self.faults:
                continue
            self.template.clock.check()
            instance = self._trim(original)
            needs = self.at(time, instance.moves if self.simple or self.roles is not None else instance.runs)
            if needs == FALSE:
                continue
            selector = self.circuit.variable()
            now.chosen[instance.number] = selector
            self.solver.clause((-selector, needs))
            taken.append(instance)
        now.idle = self.circuit.variable() if idle else FALSE
        choices = list(now.chosen.values())
        prefixes = exactly_one(self.solver, [*choices, now.idle] if idle else choices)
        if self.roles is not None:
            self._order(time, taken)
            if idle and time > 0:
                self.solver.clause((-self.times[time - 1].idle, now.idle))
        self._prefixes = dict(zip(now.chosen, prefixes, strict=False))
        self.times.append(Time(self._next(time, taken)))

    def taken(self, time: int) -> list[Instance]:
        """Return the instances that the run of the solver's model takes before the state at `time`."""
        instances = self.template.instances
        chosen = [
            number
            for moment in self.times[:time]
            for number, selector in moment.chosen.items()
            if self.solver.value(selector)
        ]
        return [instances[number] for number in chosen]

    def forbid_returns(self) -> bool:
        """Forbid, in the solver's model, a state that is no better than an earlier one of its run.

        A shortest run has no such state. The pair of times is forbidden for good; return False if the model
        has no such pair.
        """
        if self.roles is None and not self.simple:
            return False
        roles = [BOTH] * len(self.template.cells) if self.roles is None else self.roles.of
        watched = [(cell, role) for cell, role in enumerate(roles) if role]
        rows: list[list[bool]] = []
        for time, moment in enumerate(self.times):
            if time > 0 and self.solver.value(self.times[time - 1].idle):
                break
            row = [self.solver.value(moment.literals[cell]) for cell, _ in watched]
            for earlier, before in enumerate(rows):
                if not any(_gains(role, a, b) for (_, role), a, b in zip(watched, before, row, strict=True)):
                    self._forbid(earlier, time, watched)
                    return True
            rows.append(row)
        return False

    def _forbid(self, earlier: int, time: int, watched: Sequence[tuple[int, int]]) -> None:
        before, after = self.times[earlier].literals, self.times[time].literals
        gains: list[int] = [self.times[time - 1].idle]
        for cell, role in watched:
            if role & HELPS:
                gains.append(self.circuit.conjunction((after[cell], -before[cell])))
            if role & HINDERS:
                gains.append(self.circuit.conjunction((-after[cell], before[cell])))
        self.solver.clause(gains)

    def _trim(self, instance: Instance) -> Instance:
        if self.roles is None:
            return instance
        if instance.number not in self._trimmed:
            self._trimmed[instance.number] = self.roles.trim(instance)
        return self._trimmed[instance.number]

    def _order(self, time: int, taken: list[Instance]) -> None:
        """Require that, after a chosen step, an independent instance with a smaller number is not chosen."""
        if time == 0:
            return
        before = self.times[time - 1].chosen
        numbers = sorted(before)
        for instance in taken:
            smaller = [number for number in numbers if number <= instance.number]
            allowed = [self._prefixes[smaller[-1]]] if smaller else []
            later = [
                self._trim(self.template.instances[number]) for number in numbers if number > instance.number
            ]
            allowed += [before[other.number] for other in later if instance.depends_on(other)]
            self.solver.clause((-self.times[time].chosen[instance.number], *allowed))

    def _next(self, time: int, taken: list[Instance]) -> list[int]:
        """Return the literals of the next state, defined by the chosen instance."""
        now = self.times[time]
        writers: dict[int, list[tuple[int, int, bool]]] = defaultdict(list)
        touching: dict[int, set[int]] = defaultdict(set)
        for instance in taken:
            self.template.clock.check()
            selector = now.chosen[instance.number]
            for change in instance.changes:
                writers[change.cell].append((selector, self.at(time, change.literal), change.adds))
                touching[self.template.cells.cells[change.cell].slot].add(selector)
        after = list(now.literals)
        for slot, selectors in touching.items():
            cells = self.template.cells.of[slot]
            if isinstance(self.template.layout.slots[slot].sort, Number):
                self._number(cells, selectors, writers, now, after)
            else:
                for cell in cells:
                    if cell in writers:
                        after[cell] = self._bit(now.literals[cell], writers[cell])
        return after

    def _number(
        self,
        cells: range,
        selectors: set[int],
        writers: dict[int, list[tuple[int, int, bool]]],
        now: Time,
        after: list[int],
    ) -> None:
        """Define the literals of a number's next value, exactly one of which is true: the value that the
        chosen instance gives, or the old one.
        """
        reasons: dict[int, list[tuple[int, int]]] = {}
        for cell in cells:
            stated = {selector: literal for selector, literal, _ in writers[cell]}
            reasons[cell] = [
                (selector, literal)
                for selector in selectors
                if (literal := stated.get(selector, now.literals[cell])) != FALSE
            ]
        possible = [cell for cell in cells if reasons[cell] or now.literals[cell] != FALSE]
        literals = [self.circuit.variable() if len(possible) > 1 else TRUE for _ in possible]
        touched = self.circuit.disjunction(selectors)
        for cell in cells:
            after[cell] = FALSE
        for cell, literal in zip(possible, literals, strict=True):
            after[cell] = literal
            if literal == TRUE:
                continue
            for selector, given in reasons[cell]:
                self.solver.clause((-selector, -given, literal))
            self.solver.clause((touched, -now.literals[cell], literal))
            self.solver.clause((-literal, now.literals[cell], *(selector for selector, _ in reasons[cell])))
        if len(possible) > 1:
            exactly_one(self.solver, literals)

    def _bit(self, now: int, writers: list[tuple[int, int, bool]]) -> int:
        """Return the literal for the next value of a boolean or of a member of a set."""
        if all(adds or given == TRUE for _, given, adds in writers) and now == TRUE:
            return TRUE
        if all(given == FALSE for _, given, _ in writers) and now == FALSE:
            return FALSE
        after = self.circuit.variable()
        for selector, given, adds in writers:
            self.solver.clause((-selector, -given, after))
            self.solver.clause((-selector, given, -after, now) if adds else (-selector, given, -after))
        self.solver.clause((-after, now, *(selector for selector, given, _ in writers if given != FALSE)))
        self.solver.clause(
            (after, -now, *(selector for selector, given, adds in writers if not adds and given != TRUE))
        )
        return after


def _gains(role: int, before: bool, after: bool) -> bool:
    return bool(role & HELPS and after and not before) or bool(role & HINDERS and before and not after)
