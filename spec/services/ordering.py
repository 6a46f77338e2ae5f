"""Abstract ordering machine, which every protocol of total order refines: it numbers messages, gives the
numbers to processes, and delivers by number.

The machine has no token, sequencer, packets or losses. A message is submitted, a number is assigned to it for
ever, processes learn which message has which number, and each delivers number after number. Numbers stand in
*series*: where a protocol starts counting anew (a view, another coordinator), a further series begins, and a
process that enters it leaves the earlier ones behind. A message has one number, whatever the series. A number
may be spent on no message at all (RBP's NULL acknowledgement): it is passed over.

Uniform or not: as a rule the deliveries of a process that has crashed count like those of any other. Where a
service promises something only to those that do not crash, `forgets` lets a crash take with it what nobody
else has learned.

That the machine gives total order is checked like any protocol (`OrderingChecked`). That a protocol is such a
machine is a refinement (`antiphon.spec.refinement`). Liveness is no part of it: a machine may stand still.

Source: the machine says the same as Barchet-Estefanel 2002, section 3.1.2, first paragraph, without the
sequencer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from antiphon.spec.lang import (
    Between,
    Const,
    Index,
    Map,
    Set,
    Step,
    action,
    emit,
    environment,
    everywhere,
    invariant,
    record,
    require,
    witness,
)
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Group, Message, Process
from antiphon.spec.services.order import TotalOrderBroadcast

Series = Annotated[int, Between(1, "series")]
"""Number of a series, from 1; a later series comes after earlier ones."""


Count = Annotated[int, Between(0, "numbers")]
"""Number of numbers of a series that were delivered or passed over."""


@record
class Assigned:
    """Assignment of a number of a series to a message; None: the number was spent on nothing."""

    series: Series
    number: Annotated[int, Between(1, "numbers")]
    message: Message | None


@record
class Position:
    """Progress of a process: the series it is in, and the last number of it that it delivered or passed over
    (0: none).
    """

    series: Series
    number: Count


class Ordering(Group):
    """Constants of the ordering machine: the number of series, of numbers in each, and whether a crash is
    forgotten.
    """

    series: Const[int] = 1
    numbers: Const[int] = 2
    forgets: Const[bool] = False


class OrderingView(Ordering):
    """Common part of all mappings of protocols to the ordering machine: the defaults that most of them
    keep.
    """

    def gone(self, p: Process) -> bool:
        """Return True if p has crashed and its deliveries no longer count; that happens only if the machine
        forgets crashes.
        """
        return False


class OrderingOfDeliveries(OrderingView):
    """Mapping of a protocol without earlier views to the ordering machine; `given` records every delivery
    with its number.

    No step of the protocol reads `given`. Deliveries made only by processes that are gone are forgotten.
    """

    given: Map[Process, Set[Assigned]] = everywhere(Set())

    def passed_over(self, p: Process) -> Set[Assigned]:
        """Return the numbers that were spent on nothing, as far as p went beyond them; none unless a protocol
        overrides this.
        """
        return Set()

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the messages that p has delivered, with their numbers, and the numbers that p has passed
        over.
        """
        return self.passed_over(p) | {item for item in self.given[p] if not self.gone(p)}

    def history(self) -> Set[Assigned]:
        """Return the assignments of numbers that some process which is not gone has delivered or passed
        over.
        """
        return Set() | {item for p in self.each(Process) for item in self.learned(p)}

    def at(self, p: Process) -> Position:
        """Return the position of the last message that p delivered."""
        v = max((item.series for item in self.given[p] if not self.gone(p)), default=1)
        return Position(
            v,
            max((item.number for item in self.given[p] if item.series == v and not self.gone(p)), default=0),
        )


class OrderingMachine(Ordering):
    """Ordering machine: submit, assign, learn, enter, deliver; crash and forget, where that is allowed."""

    submitted: Set[Message] = Set()
    history: Set[Assigned] = Set()
    learned: Map[Process, Set[Assigned]] = everywhere(Set())
    at: Map[Process, Position] = everywhere(Position(1, 0))
    gone: Map[Process, bool] = everywhere(False)

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Hand m to the service at p."""
        require(not self.gone[p])
        require(m not in self.submitted)
        self.submitted |= {m}
        emit(Broadcast(p, m))

    @action
    def assign(self, item: Assigned) -> None:
        """Assign an unused number for ever to a message without one."""
        require(
            not any(other.series == item.series and other.number == item.number for other in self.history)
        )
        require(item.message is None or item.message in self.submitted)
        require(item.message is None or not any(other.message == item.message for other in self.history))
        self.history |= {item}

    @action
    def learn(self, p: Process, item: Assigned) -> None:
        """Learn, at p, which message has a number."""
        require(not self.gone[p])
        require(item in self.history)
        require(item not in self.learned[p])
        self.learned[p] |= {item}

    @action
    def enter(self, p: Process, position: Position) -> None:
        """Move p to the position before the first number of a later series. P will never deliver the
        remaining messages of earlier series.
        """
        require(not self.gone[p])
        require(position.series > self.at[p].series and position.number == 0)
        self.at[p] = position

    @action
    def deliver(self, p: Process, item: Assigned) -> None:
        """Deliver, at p, the message of the next number, or pass over a number that was spent on nothing."""
        require(not self.gone[p])
        require(item in self.learned[p])
        require(item.series == self.at[p].series and item.number == self.at[p].number + 1)
        self.at[p] = Position(item.series, item.number)
        m = item.message
        if m is not None:
            emit(Deliver(p, m))

    @environment
    def crash(self, p: Process) -> None:
        """Crash p; its knowledge and its deliveries no longer count."""
        require(self.forgets)
        require(not self.gone[p])
        self.gone[p] = True
        self.learned[p] = Set()
        self.at[p] = Position(1, 0)
        emit(Crash(p))

    @environment
    def forget(self, item: Assigned) -> None:
        """Remove from the history an assignment that no process has learned and remembers, so that its number
        and its message are free again.
        """
        require(self.forgets)
        require(item in self.history)
        require(not any(item in self.learned[p] for p in self.each(Process)))
        self.history -= {item}

    @invariant
    def NumberToMessage(self) -> bool:
        """Invariant: the history is a partial function from numbers to messages, and no message has two
        numbers.
        """
        return all(
            a == b
            or (
                (a.series != b.series or a.number != b.number)
                and (a.message is None or a.message != b.message)
            )
            for a in self.history
            for b in self.history
        )

    @invariant
    def DeliveredIsLearned(self) -> bool:
        """Invariant: a process has learned the message of every number that it has delivered."""
        return all(
            any(
                item.series == self.at[p].series and item.number == self.at[p].number
                for item in self.learned[p]
            )
            or self.at[p].number == 0
            for p in self.each(Process)
        )

    @witness
    def Delivered(self) -> bool:
        """Witness: every process has delivered something."""
        return all(
            any(
                item.message is not None
                and item.series == self.at[p].series
                and item.number <= self.at[p].number
                for item in self.learned[p]
            )
            for p in self.each(Process)
            if not self.gone[p]
        )


class OrderingChecked(OrderingMachine, TotalOrderBroadcast):
    """The ordering machine, judged by total order broadcast."""

    @witness
    def AllDelivered(self) -> bool:
        """Witness: every process has delivered every message."""
        return all(self.delivered[p][m] for p in self.each(Process) for m in self.each(Message))


Value = Mapping[str, Any]
"""A state of the machine by the names of its variables; maps are tuples in the order of their keys."""


def steps_between(before: Value, after: Value, events: tuple[Any, ...]) -> tuple[Step, ...]:
    """Return the steps of the ordering machine that would explain a change of its state. Their order is one
    in which they are possible, if any order is.

    They are candidates: the machine decides whether each is enabled, and whether together they lead from
    `before` to `after`. `events` are what the protocol emitted; they show who submitted a message.
    """
    processes = range(len(after["learned"]))
    steps = [Step("crash", (Process(p),)) for p in processes if after["gone"][p] and not before["gone"][p]]
    steps += [
        Step("submit", (_origin(m, events), m)) for m in _ordered(after["submitted"] - before["submitted"])
    ]
    steps += [Step("forget", (item,)) for item in _ordered(before["history"] - after["history"])]
    steps += [Step("assign", (item,)) for item in _ordered(after["history"] - before["history"])]
    for p in processes:
        steps += [
            Step("learn", (Process(p), item)) for item in _ordered(after["learned"][p] - before["learned"][p])
        ]
    for p in (p for p in processes if not after["gone"][p]):
        fresh = after["learned"][p] - before["learned"][p]
        steps += _steps_of_process(Process(p), before["at"][p], after["at"][p], after["learned"][p], fresh)
    return tuple(steps)


def _steps_of_process(
    p: Process, old: Position, new: Position, learned: frozenset[Assigned], fresh: frozenset[Assigned]
) -> list[Step]:
    """Return the steps of p from one position to another: it enters the series of which it has just learned
    something, and delivers up to the numbers that it learned.
    """
    steps: list[Step] = []
    at = old
    for series in sorted(
        {item.series for item in fresh if old.series <= item.series < new.series} | {new.series}
    ):
        if series != at.series:
            at = Position(series, 0)
            steps.append(Step("enter", (p, at)))
        last = (
            new.number
            if series == new.series
            else max(item.number for item in fresh if item.series == series)
        )
        steps += [
            Step("deliver", (p, _item(learned, series, number))) for number in range(at.number + 1, last + 1)
        ]
    return steps


def _item(learned: frozenset[Assigned], series: int, number: int) -> Assigned:
    """Return the item with this number, as the process has learned it; for an unknown number an item without
    a message.
    """
    return next(
        (item for item in _ordered(learned) if (item.series, item.number) == (series, number)),
        Assigned(series, number, None),
    )


def _origin(m: Message, events: tuple[Any, ...]) -> Process:
    return next(
        (event.process for event in events if isinstance(event, Broadcast) and event.message == m), Process(0)
    )


def _ordered(items: frozenset[Any]) -> list[Any]:
    return sorted(items, key=lambda item: (item.index,) if isinstance(item, Index) else _rank(item))


def _rank(item: Assigned) -> tuple[int, int, int]:
    return item.series, item.number, -1 if item.message is None else item.message.index
