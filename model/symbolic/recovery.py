"""Search for irrecoverable states: a state from which an obligation cannot be fulfilled any more fits no
known recovery.

1. Z3 returns a shortest run to a state in which the obligation is false and that fits no recovery known so
   far.
2. A second search, without faults, looks for a way from that state to one where the obligation is true. If
   there is none, because all its runs end or come back to earlier states, or because the states ahead are few
   and were enumerated, the state is irrecoverable and the obligation violated.
3. If there is one, its list of steps is a *recovery*: all states in which these steps can be taken one after
   the other, and end where the obligation is true, are recoverable. That is a formula about the state, and so
   is recovery by a beginning of the list. Back to 1.

Quiescent states, where nothing but faults can happen, are irrecoverable too. The search for a way is bounded
by `DEPTHS`; if a state needs longer the verdict is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.model.bounds import Stop, StopReason
from antiphon.model.ground import flatten
from antiphon.model.symbolic.circuit import TRUE
from antiphon.model.symbolic.counterexample import confirm, run_of
from antiphon.model.symbolic.dominated import Closure, Roles, closure
from antiphon.model.symbolic.initial_states import InitialStates
from antiphon.model.symbolic.search import Search
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.steps import Instance, Template
from antiphon.model.symbolic.targets import Target
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.spec.lang import SpecError, State

DEPTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Lengths, tried in turn, of a way to where the obligation is true: any way will do, not only a shortest."""

LISTED_FROM = 16
"""Length of a way from which on the states ahead are enumerated instead, if they are at most `MOST_LISTED`.

Often that decides sooner than longer runs.
"""

MOST_LISTED = 5_000


class RecoverySearch(Search):
    """Search for a state from which one obligation cannot be fulfilled any more.

    Attributes:
        recoveries: literals of the template, each true in states from which a certain list of steps leads to
            where the obligation is true.
    """

    def __init__(self, template: Template, group: list[Target], depth: int) -> None:
        super().__init__(template, group, depth)
        self.target = group[0]
        self.good = template.predicate(self.target.property).holds
        self.bad = template.predicate(self.target.property).fails
        self.recoveries: list[int] = []

    def count_as_met(self, limited: int) -> None:
        """Count the obligation as fulfilled also where the literal `limited` is true: where only a budget
        blocks a step.
        """
        self.good = self.template.circuit.disjunction((self.good, limited))
        self.bad = self.template.circuit.conjunction((self.bad, -limited))

    def _sought(self, reachable: Closure) -> Iterator[int]:
        """Yield the literals that steps and the obligation read, in both polarities, since recovery can
        depend on either.
        """
        for literal in (self.good, *(instance.runs for instance in reachable.instances)):
            yield literal
            yield -literal

    def _judge(self, unrolling: Unrolling, start: InitialStates, now: int) -> bool:
        solver = unrolling.solver
        question = unrolling.circuit.variable()
        solver.clause((-question, unrolling.at(now, self.bad)))
        for recovery in self.recoveries:
            solver.clause((-question, -unrolling.at(now, recovery)))
        while (answer := solver.check((question,), seconds=self.clock.left())) is Answer.SATISFIABLE:
            trace = run_of(unrolling, start, now, self.target.property)
            way = self._way(trace.states[-1])
            if way is None:
                return False
            if not way:
                try:
                    self.found[self.target] = confirm(self.target, trace)
                except SpecError as error:  # the way on is an error, which says nothing of the obligation
                    said = f"the specification has an error: {error}"
                    self.stopped = Stop(StopReason.UNDECIDED, said)
                return self.stopped is None
            for recovery in self._recoveries(way):
                self.recoveries.append(recovery)
                solver.clause((-question, -unrolling.at(now, recovery)))
        if answer is Answer.UNKNOWN:
            self.stopped = self.clock.why(solver.reason, f" at depth {now}")
            return False
        return True

    def _way(self, state: State) -> Sequence[Instance] | None:
        """Return a fault-free way from `state` to where the obligation is true.

        Empty when there is none, None when that is not decided.
        """
        first = self.template.cells.constant(flatten(self.template.program, state))
        solver = Solver(self.template.circuit)
        reachable = closure(self.template, first, DEPTHS[-1], faults=False)
        roles = Roles(self.template, reachable, [self.good])
        unrolling = Unrolling(self.template, solver, first, roles=roles, faults=False)
        for depth in DEPTHS:
            while len(unrolling.times) <= depth:
                unrolling.grow(idle=True)
            answer = solver.check((unrolling.at(depth, self.good),), seconds=self.clock.left())
            if answer is Answer.SATISFIABLE:
                return self._shortened(unrolling.taken(depth), first)
            if depth == LISTED_FROM and self._listed(reachable.instances, roles, first) is False:
                return ()
            if answer is Answer.UNSATISFIABLE:
                answer = self._run_without_returns(unrolling, depth)
            if answer is Answer.UNSATISFIABLE:
                return ()
            if answer is Answer.UNKNOWN:
                self.stopped = self.clock.why(solver.reason, " on the way back from a state")
                return None
        said = f"no way back of at most {DEPTHS[-1]} steps from a state, nor a proof that there is none"
        self.stopped = Stop(StopReason.UNDECIDED, said)
        return None

    def _shortened(self, way: list[Instance], first: Sequence[int]) -> list[Instance]:
        """Return the way without the steps that it does not need, so that it is a recovery for more
        states.
        """
        for place in reversed(range(len(way))):
            shorter = way[:place] + way[place + 1 :]
            if shorter and self._leads_back(shorter, first):
                way = shorter
        return way

    def _leads_back(self, way: Sequence[Instance], first: Sequence[int]) -> bool:
        """Return True if these steps can be taken from a known state, and end where the obligation is
        true.
        """
        circuit, literals = self.template.circuit, list(first)
        for instance in way:
            memo = self._memo(literals)
            if circuit.substitute(instance.runs, {}, memo) != TRUE:
                return False
            for change in instance.changes:
                given = circuit.substitute(change.literal, {}, memo)
                old = literals[change.cell]
                literals[change.cell] = circuit.disjunction((old, given)) if change.adds else given
        return circuit.substitute(self.good, {}, self._memo(literals)) == TRUE

    def _listed(self, instances: Sequence[Instance], roles: Roles, first: Sequence[int]) -> bool | None:
        """Return True if some run of the instances from the state `first` fulfils the obligation; the states
        are enumerated breadth-first.

        None when there are too many states.
        """
        circuit = self.template.circuit
        cell = {variable: cell for cell, variable in enumerate(self.template.variables)}
        steps = [roles.trim(instance) for instance in instances]
        begin = bytes(literal == TRUE for literal in first)
        seen, pending = {begin}, [begin]
        for row in pending:
            memo: dict[int, bool] = {}

            def leaf(variable: int, row: bytes = row) -> bool:
                return bool(row[cell[variable]])

            if circuit.evaluate(self.good, leaf, memo):
                return True
            if len(seen) > MOST_LISTED or self.clock.over():
                return None
            for step in steps:
                if circuit.evaluate(step.moves, leaf, memo):
                    after = bytearray(row)
                    for change in step.changes:
                        given = circuit.evaluate(change.literal, leaf, memo)
                        after[change.cell] = given or (change.adds and row[change.cell])
                    if (new := bytes(after)) not in seen:
                        seen.add(new)
                        pending.append(new)
        return False

    def _memo(self, literals: Sequence[int]) -> dict[int, int]:
        return {1: TRUE, **dict(zip(self.template.variables, literals, strict=True))}

    def _run_without_returns(self, unrolling: Unrolling, depth: int) -> Answer:
        """Ask for a run of `depth` steps in which no state is without gain over an earlier state."""
        while True:
            answer = unrolling.solver.check((-unrolling.times[depth - 1].idle,), seconds=self.clock.left())
            if answer is not Answer.SATISFIABLE or not unrolling.forbid_returns():
                return answer

    def _recoveries(self, way: Sequence[Instance]) -> Iterator[int]:
        """Yield, for each end of the way from its last step alone to the whole way, the condition under which
        these steps can be taken and fulfil the obligation (the weakest precondition).
        """
        circuit, variables = self.template.circuit, self.template.variables
        after = self.good
        for instance in reversed(way):
            memo = {1: TRUE}
            for change in instance.changes:
                own = variables[change.cell]
                memo[own] = circuit.disjunction((own, change.literal)) if change.adds else change.literal
            after = circuit.conjunction((instance.runs, circuit.substitute(after, {}, memo)))
            yield after
