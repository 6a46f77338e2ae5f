"""A courier protocol with a fault: resends are delivered twice. Its pictures fit on a page."""

from collections.abc import Callable
from typing import Annotated

import pytest

from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    Step,
    action,
    emit,
    environment,
    everywhere,
    expect,
    initial,
    on,
    program,
    record,
    require,
    witness,
)


class Process(Index, size="processes", ordered=True):
    """A member."""


@record
class Letter:
    """A letter to all others."""

    to: Process
    number: Annotated[int, Between(1, 2)]


@record
class Receipt:
    """A receipt for the first member."""

    to: Process
    sender: Process


@record
class Deliver:
    """A letter is handed over."""

    process: Process
    number: Annotated[int, Between(1, 2)]


class Courier(Spec):
    """The first process writes letters; nobody notices a letter that comes twice."""

    processes: Const[int] = 3
    written: Annotated[int, Between(0, 2)] = 0
    network: Set[Letter | Receipt] = Set()
    seen: Map[Process, Set[Letter]] = everywhere(Set())

    @action
    def write(self) -> None:
        """A letter to all others."""
        require(self.written < 2)
        self.written += 1
        self.network |= {Letter(p, self.written) for p in self.each(Process) if p.index > 0}

    @action
    def send(self, p: Process) -> None:
        """The last letter again."""
        require(p.index == 0 and self.written > 0)
        self.network |= {Letter(q, self.written) for q in self.each(Process) if q.index > 0}

    @action
    def receive(self, packet: Annotated[Letter, In("network")]) -> None:
        """A letter arrives, a receipt goes back."""
        self.network -= {packet}
        self.network |= {Receipt(Process(0), packet.to)}
        emit(Deliver(packet.to, packet.number))
        self.seen[packet.to] |= {packet}

    @environment
    def lose(self, packet: Annotated[Letter, In("network")]) -> None:
        """A letter is lost."""
        self.network -= {packet}

    @on(Deliver)
    def judge(self, event: Deliver) -> None:
        """Expect that no letter is delivered twice."""
        expect(
            Letter(event.process, event.number) not in self.seen[event.process],
            "Once",
            Deliver(event.process, event.number),
        )

    @witness
    def Busy(self) -> bool:
        """Two packets are on their way."""
        return len(self.network) >= 2


@record
class Vote:
    """An answer to whoever asked."""

    to: Process
    sender: Process


@record
class Order:
    """Decision for one process."""

    to: Process


class Ballot(Spec):
    """One of the processes asks; a majority of answers is taken all at once."""

    processes: Const[int] = 3
    asking: Process = Process(0)
    votes: Set[Vote] = Set()
    orders: Set[Order] = Set()
    done: Map[Process, bool] = everywhere(False)

    @initial
    def choose(self, p: Process) -> None:
        """Choose the process that asks."""
        self.asking = p
        self.done[p] = True

    @action
    def vote(self, p: Process) -> None:
        """Answer the process that asks."""
        require(not self.done[p])
        self.done[p] = True
        self.votes |= {Vote(self.asking, p)}

    @action
    def decide(self, p: Process) -> None:
        """With more than half."""
        require(p == self.asking and 2 * len(self.votes) > self.processes)
        self.votes = Set()
        self.orders |= {Order(q) for q in self.each(Process)}

    @action
    def obey(self) -> None:
        """Take the order of the asking process; drop the others."""
        self.orders = Set()

    @action
    def obey_first(self) -> None:
        """The first takes its order."""
        self.orders -= {Order(Process(0))}

    @environment
    def forget(self) -> None:
        """All answers are lost."""
        self.votes = Set()


class Counter(Spec):
    """A specification without members or packets."""

    value: Annotated[int, Between(0, 3)] = 0

    @action
    def increase(self) -> None:
        """One more."""
        require(self.value < 3)
        self.value += 1


@pytest.fixture
def broken() -> Trace:
    """A loss, a resend, and a letter that is delivered twice."""
    first, second = Process(1), Process(2)
    steps = [
        Step("write"),
        Step("receive", (Letter(first, 1),)),
        Step("lose", (Letter(second, 1),)),
        Step("send", (Process(0),)),
        Step("receive", (Letter(second, 1),)),
        Step("receive", (Letter(first, 1),)),
    ]
    bound = program(Courier)
    trace = replay(bound, bound.reference.initial()[0], steps, shows="Once")
    refusal = trace.transitions[-1].refused[0]
    return Trace(
        bound,
        trace.start,
        trace.transitions,
        "Once",
        f"{refusal.event} breaks {refusal.property}: it clashes with {refusal.clash}",
    )


@pytest.fixture
def reached() -> Trace:
    """A witness, after one step."""
    bound = program(Courier)
    return replay(bound, bound.reference.initial()[0], [Step("write")], shows="Busy", why="Busy is true")


@pytest.fixture
def plain() -> Trace:
    """Trace whose steps belong to no process."""
    bound = program(Counter)
    return replay(bound, bound.reference.initial()[0], [Step("increase"), Step("increase")])


@pytest.fixture
def ballot() -> Callable[..., Trace]:
    """A run in which the second process asks, from its steps: actions, or actions with a process."""
    bound = program(Ballot)
    start = bound.reference.initial()[1]

    def run(*steps: str | tuple[str, int]) -> Trace:
        named = [(item,) if isinstance(item, str) else item for item in steps]
        return replay(bound, start, [Step(name, tuple(map(Process, who))) for name, *who in named])

    return run
