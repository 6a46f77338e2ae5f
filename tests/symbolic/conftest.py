"""Small specifications with known answers, and the same questions asked of the reference, one state at a
time.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Annotated

import pytest

from antiphon.model.ground import flatten, unflatten
from antiphon.model.symbolic.circuit import TRUE, Circuit
from antiphon.model.symbolic.domains import assume_state
from antiphon.model.symbolic.solver import Answer, Solver
from antiphon.model.symbolic.steps import Instance, Template
from antiphon.model.symbolic.unroll import Unrolling
from antiphon.spec.examples.two_phase import RM, Abort, Commit, Phase, Prepared, Status, TwoPhase
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Disabled,
    In,
    Index,
    Map,
    Program,
    Seq,
    Set,
    Spec,
    SpecError,
    State,
    action,
    emit,
    environment,
    everywhere,
    expect,
    initial,
    invariant,
    obligation,
    on,
    program,
    record,
    require,
    witness,
)
from antiphon.spec.lang.assignment import frozen

# Two-phase commit (Gray and Lamport 2006), with a planted fault ---------------------------------------------


class TwoPhaseExplained(TwoPhase):
    """With what makes its invariant inductive; `hasty`, the manager of the transaction commits without asking
    everybody.
    """

    hasty: Const[bool] = False

    @action
    def commit(self) -> None:
        require(self.phase is Phase.INIT)
        require(len(self.prepared) >= self.managers - (1 if self.hasty else 0))
        self.phase = Phase.COMMITTED
        self.messages |= {Commit()}

    @invariant
    def explained(self) -> bool:
        """Lemma that makes `consistent` inductive: every message and every status has its cause."""
        return (
            (Commit() in self.messages) == (self.phase is Phase.COMMITTED)
            and (Abort() in self.messages) == (self.phase is Phase.ABORTED)
            and all(
                (r not in self.prepared or Prepared(r) in self.messages)
                and (Prepared(r) not in self.messages or self.status[r] is not Status.WORKING)
                and (
                    Prepared(r) not in self.messages
                    or self.status[r] is not Status.ABORTED
                    or Abort() in self.messages
                )
                and (self.status[r] is not Status.COMMITTED or Commit() in self.messages)
                and (Commit() not in self.messages or r in self.prepared)
                for r in self.each(RM)
            )
        )

    @obligation
    def decided(self) -> bool:
        """All commit or all abort, in the end."""
        return all(
            self.status[r] is Status.COMMITTED or self.status[r] is Status.ABORTED for r in self.each(RM)
        )

    @witness
    def split(self) -> bool:
        """Commit and abort together: never reached."""
        return Commit() in self.messages and Abort() in self.messages


# A sequencer over a channel that only grows, judged by a service --------------------------------------------


class Process(Index, size="processes", ordered=True):
    """A member."""


class Message(Index, size="messages", ordered=True):
    """A message."""


@record
class Data:
    to: Process
    message: Message


@record
class Ordered:
    to: Process
    message: Message
    number: Annotated[int, Between(1, "messages")]


@record
class Delivered:
    process: Process
    message: Message


class Sequencer(Spec):
    """Process 0 numbers what it receives and tells the others; deliveries in order of number are judged by
    `SameOrder`.
    """

    processes: Const[int] = 3
    messages: Const[int] = 2
    patient: Const[bool] = False

    network: Set[Data | Ordered] = Set()
    queue: Annotated[Seq[Message], AtMost("messages")] = ()
    numbers: Map[Process, Map[Message, Annotated[int, Between(0, "messages")]]] = everywhere(everywhere(0))
    delivered: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())
    sent: Annotated[int, Between(0, "messages")] = 0
    lost: Annotated[int, Between(0, 1)] = 0

    @initial
    def start(self, early: bool) -> None:
        if early:
            self.network = {Data(Process(0), Message(0))}
            self.sent = 1

    @action
    def broadcast(self, m: Message) -> None:
        require(m.index == self.sent)
        self.sent += 1
        self.network |= {Data(Process(0), m)}

    @action
    def receive_data(self, packet: Annotated[Data, In("network")]) -> None:
        self.network -= {packet}
        if packet.message not in self.queue:
            self.queue += (packet.message,)

    @action
    def sequence(self) -> None:
        require(len(self.queue) > 0)
        m = self.queue[0]
        number = 1 + max((self.numbers[Process(0)][x] for x in self.each(Message)), default=0)
        require(number <= self.messages)
        self.queue = self.queue[1:]
        self.numbers[Process(0)][m] = number
        self.network |= {Ordered(q, m, number) for q in self.each(Process) if q.index > 0}

    @action
    def receive_ordered(self, packet: Annotated[Ordered, In("network")]) -> None:
        self.network -= {packet}
        self.numbers[packet.to][packet.message] = packet.number

    @environment
    def lose(self, packet: Annotated[Data, In("network")]) -> None:
        require(self.lost < 1)
        self.network -= {packet}
        self.lost += 1

    @action
    def deliver(self, p: Process, m: Message) -> None:
        require(self.numbers[p][m] > 0 and m not in self.delivered[p])
        require(not self.patient or self.numbers[p][m] == len(self.delivered[p]) + 1)
        emit(Delivered(p, m))

    @on(Delivered)
    def judge(self, event: Delivered) -> None:
        place = len(self.delivered[event.process])
        for q in self.each(Process):
            if len(self.delivered[q]) > place:
                expect(
                    self.delivered[q][place] == event.message,
                    "SameOrder",
                    Delivered(q, self.delivered[q][place]),
                )
        self.delivered[event.process] += (event.message,)

    @invariant
    def nobody_is_done(self) -> bool:
        """False when process 1 has everything."""
        return len(self.delivered[Process(1)]) < self.messages

    @witness
    def all_done(self) -> bool:
        return all(len(self.delivered[p]) == self.messages for p in self.each(Process))

    @obligation
    def nothing_is_lost(self) -> bool:
        return all(len(self.delivered[p]) == self.sent for p in self.each(Process))


class Overflow(Spec):
    """A counter that forgets its bound: a bug of the text after `limit` steps."""

    limit: Const[int] = 3
    count: Annotated[int, Between(0, "limit")] = 0
    odd: bool = False

    @action
    def up(self) -> None:
        self.count += 1
        self.odd = not self.odd

    @action
    def down(self, by: Annotated[int, Between(1, 2)]) -> None:
        require(self.count >= by * 2)
        self.count = self.count // by - by % 2

    @invariant
    def small(self) -> bool:
        return self.count < 3 or self.odd


class Gap(Spec):
    """Goes from 0 to 1 and back. What is never reached: 3 leads to 4, which is bad, and `swinging` between 3
    and 5 can go on for ever.
    """

    swinging: Const[bool] = False
    place: Annotated[int, Between(0, 5)] = 0

    @action
    def turn(self) -> None:
        require(self.place < 2)
        self.place = 1 - self.place

    @action
    def fall(self) -> None:
        require(self.place == 3)
        self.place = 4

    @action
    def swing(self) -> None:
        require(self.swinging and (self.place == 3 or self.place == 5))
        self.place = 8 - self.place

    @action
    def wait(self) -> None:
        require(self.place == 3)
        self.place = 3

    @invariant
    def never_four(self) -> bool:
        return self.place != 4

    @invariant
    def never_five(self) -> bool:
        return self.place != 5 or self.swinging

    @invariant
    def resting(self) -> bool:
        """False after one step."""
        return self.place == 0


class Brittle(Spec):
    """Would count too far if it were told to count, which it never is."""

    told: bool = False
    count: Annotated[int, Between(0, 3)] = 0

    @action
    def up(self) -> None:
        require(self.told)
        self.count += 1

    @action
    def keep_silent(self) -> None:
        self.told = False

    @invariant
    def in_bounds(self) -> bool:
        return self.count <= 3


class Wide(Spec):
    """A number with more values than are listed."""

    clock: Annotated[int, Between(0, 1 << 20)] = 0

    @action
    def tick(self) -> None:
        require(self.clock < 5)
        self.clock += 1

    @invariant
    def early(self) -> bool:
        return self.clock < 7


class WrongAtOnce(Spec):
    """An error of the specification in the initial state."""

    count: Annotated[int, Between(0, 3)] = 0

    @initial
    def start(self) -> None:
        self.count = self.count + 4

    @invariant
    def fine(self) -> bool:
        return True


class Nowhere(Spec):
    """A specification with no initial state."""

    flag: bool = False

    @initial
    def start(self, early: bool) -> None:
        require(early and self.flag)

    @action
    def toggle(self) -> None:
        self.flag = not self.flag

    @invariant
    def fine(self) -> bool:
        return True


@pytest.fixture(scope="session")
def nowhere() -> Program:
    return program(Nowhere)


@pytest.fixture(scope="session")
def wrong_at_once() -> Program:
    return program(WrongAtOnce)


@pytest.fixture(scope="session")
def wide() -> Program:
    return program(Wide)


@pytest.fixture(scope="session")
def gap() -> Program:
    return program(Gap)


@pytest.fixture(scope="session")
def swinging_gap() -> Program:
    return program(Gap, swinging=True)


@pytest.fixture(scope="session")
def brittle() -> Program:
    return program(Brittle)


@pytest.fixture(scope="session")
def two_phase() -> Program:
    return program(TwoPhaseExplained)


@pytest.fixture(scope="session")
def two_managers() -> Program:
    return program(TwoPhaseExplained, managers=2)


@pytest.fixture(scope="session")
def hasty_two_phase() -> Program:
    return program(TwoPhaseExplained, hasty=True)


@pytest.fixture(scope="session")
def sequencer() -> Program:
    return program(Sequencer)


@pytest.fixture(scope="session")
def patient_sequencer() -> Program:
    return program(Sequencer, patient=True)


@pytest.fixture(scope="session")
def overflow() -> Program:
    return program(Overflow)


# The questions asked of the reference -----------------------------------------------------------------------


def _recovers(made: Program, state: State, obligation: str) -> bool:
    """Return True if a path without faults leads from the state to one where the obligation is true."""
    faults = {item.name for item in made.module.actions if item.fault}
    seen, pending = {state}, [state]
    while pending:
        here = pending.pop()
        if made.reference.holds(here, obligation):
            return True
        after = {
            transition.state
            for transition in made.reference.successors(here)
            if transition.step.action not in faults
        } - seen
        seen |= after
        pending.extend(after)
    return False


def _shortest(made: Program, limit: int = 20, *, obligations: bool = True) -> dict[str, int]:
    """The length of a shortest run that shows each property violated or reached, breadth first over the
    reference machine.
    """
    machine, found = made.reference, {}
    faults = {item.name for item in made.module.actions if item.fault}
    level = list(dict.fromkeys(machine.initial()))
    seen = set(level)
    for length in range(limit + 1):
        following: dict[State, None] = {}
        for state in level:
            try:
                for predicate in made.module.predicates:
                    if (
                        machine.holds(state, predicate.name) == (predicate.kind.value == "witness")
                        and predicate.kind.value != "obligation"
                    ):
                        found.setdefault(predicate.name, length)
                transitions = list(machine.successors(state))
            except SpecError:
                found.setdefault("specification", length)
                continue
            if all(transition.step.action in faults for transition in transitions):
                found.setdefault("deadlock", length)
            for predicate in made.module.predicates:
                if (
                    obligations
                    and predicate.kind.value == "obligation"
                    and not _recovers(made, state, predicate.name)
                ):
                    found.setdefault(predicate.name, length)
            for transition in transitions:
                for refusal in transition.refused:
                    found.setdefault(refusal.property, length + 1)
                if transition.state not in seen:
                    seen.add(transition.state)
                    following[transition.state] = None
        level = list(following)
    return {name: length for name, length in found.items() if length <= limit}


@pytest.fixture(scope="session")
def shortest() -> Callable[..., dict[str, int]]:
    return _shortest


def _random_states(made: Program, count: int, seed: int) -> Iterator[State]:
    """States that walks reach, and states of the domains that may be unreachable, in turn."""
    source = random.Random(seed)
    for number in range(count):
        state = _walk(made, source) if number % 2 else None
        yield state or tuple(
            frozen(domain.value(source.randrange(domain.cardinality)), domain)
            for domain in made.domains.values()
        )


def _walk(made: Program, source: random.Random) -> State | None:
    """A state that a walk reaches before it meets a bug of the specification, if there is an initial one."""
    state: State | None = None
    try:
        state = source.choice(list(made.reference.initial()))
        for _ in range(source.randint(0, 12)):
            following = list(made.reference.successors(state))
            if not following:
                break
            state = source.choice(following).state
    except SpecError:
        pass
    return state


class Comparison:
    """Z3's one step from any state of a program, held against the reference; `differences` says where they
    differ.
    """

    def __init__(self, made: Program) -> None:
        self.program, circuit = made, Circuit()
        self.template, self.solver = Template(made, circuit), Solver(circuit)
        assume_state(made, self.template.cells, self.template.variables, self.solver)
        self.unrolling = Unrolling(self.template, self.solver, self.template.variables)
        self.unrolling.grow()

    def differences(self, count: int, seed: int = 1) -> list[str]:
        """Differences between Z3 and the reference in `count` states."""
        return [said for state in _random_states(self.program, count, seed) for said in self._state(state)]

    def _fixed(self, state: State, time: int) -> list[int]:
        wanted = self.template.cells.constant(flatten(self.program, state))
        literals = self.unrolling.times[time].literals
        return [
            literal if value == TRUE else -literal for literal, value in zip(literals, wanted, strict=True)
        ]

    def _state(self, state: State) -> Iterator[str]:
        if unflatten(self.program, flatten(self.program, state)) != state:
            yield f"{state} changes by flattening"
        fixed = self._fixed(state, 0)
        if self.solver.check(fixed) is not Answer.SATISFIABLE and self._moves(state):
            yield f"Z3 knows no step from {state}"
        seen = set()
        for instance in self.unrolling.possible(0):
            yield from self._instance(state, fixed, instance)
            seen.add(instance.step)
        try:
            missing = [step for step in self.program.reference.enabled(state) if step not in seen]
        except SpecError:
            missing = []
        yield from (f"{step} in {state} has no instance" for step in missing)
        for predicate in self.program.module.predicates:
            yield from self._predicate(state, fixed, predicate.name)

    def _moves(self, state: State) -> bool:
        try:
            return any(True for _ in self.program.reference.enabled(state))
        except SpecError:
            return False

    def _predicate(self, state: State, fixed: list[int], name: str) -> Iterator[str]:
        literal = self.template.predicate(name)
        wrong = self.template.circuit.disjunction([bad for bad, _ in literal.reasons])
        try:
            expected = literal.holds if self.program.reference.holds(state, name) else literal.fails
        except SpecError:
            expected = wrong
        if not self._certain(fixed, expected):
            yield f"{name} in {state}"

    def _certain(self, fixed: list[int], literal: int) -> bool:
        circuit = self.template.circuit
        known = dict(
            zip(self.template.variables, [TRUE if item > 0 else -TRUE for item in fixed], strict=True)
        )
        return circuit.substitute(literal, known, {1: TRUE}) == TRUE

    def _instance(self, state: State, fixed: list[int], instance: Instance) -> Iterator[str]:
        selector = self.unrolling.times[0].chosen.get(instance.number)
        try:
            transition = self.program.reference.apply(state, instance.step)
        except Disabled:
            if not self._certain(fixed, -instance.enabled) or not self._certain(fixed, -instance.wrong):
                yield f"{instance.step} is disabled in {state}"
            return
        except SpecError:
            if not self._certain(fixed, instance.wrong):
                yield f"{instance.step} is a bug in {state}"
            return
        if not self._certain(fixed, instance.enabled) or not self._certain(fixed, -instance.wrong):
            yield f"{instance.step} is enabled in {state}"
            return
        after = self._fixed(transition.state, 1)
        same = self.template.circuit.conjunction(after)
        if selector is None or self.solver.check((*fixed, selector, same)) is not Answer.SATISFIABLE:
            yield f"{instance.step} from {state} to {transition.state}"
        elif self.solver.check((*fixed, selector, -same)) is not Answer.UNSATISFIABLE:
            yield f"{instance.step} from {state} leads elsewhere too"
        broken = {refusal.property for refusal in transition.refused}
        for name in self.program.module.properties:
            literal = self.template.circuit.disjunction(
                [item for known, item in instance.breaks if known == name]
            )
            if not self._certain(fixed, literal if name in broken else -literal):
                yield f"{name} after {instance.step} in {state}"


@pytest.fixture(scope="session")
def comparison() -> type[Comparison]:
    return Comparison
