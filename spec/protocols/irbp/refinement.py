"""Figure 25 with its repairs is the normal phase of iRBP, and that is an ordering machine, as iRBP is.

`Figure25Normal` maps figure 25 to the normal phase: the queues are the same, what was once sent is remembered
(`given`), and packets, rounds of loops and waiting are stutters. The history of the
ordering machine has all numbers that the normal phase has given, and for iRBP, whose lists take back numbers
that nobody has delivered, the numbers under which some process has delivered.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Set, on
from antiphon.spec.protocols.irbp.bounds import IrbpBounded, NormalFinite
from antiphon.spec.protocols.irbp.normal_phase import Ack, Data, Number, Sequenced
from antiphon.spec.protocols.rbp_resilient import figure25
from antiphon.spec.protocols.rbp_resilient.figure25 import Body
from antiphon.spec.protocols.rbp_resilient.refinement import RbpResilientOrdering
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.events import Broadcast, Deliver, Message, Process, View
from antiphon.spec.services.ordering import (
    Assigned,
    OrderingMachine,
    OrderingOfDeliveries,
    OrderingView,
    Position,
    steps_between,
)


class Figure25Queues(RbpResilientOrdering):
    """The queues of figure 25 in the words of the normal phase: a message has one name."""

    def bodies(self, some: Set[Body]) -> Set[Message]:
        """Return the messages of these bodies: in the normal phase a message has only one name."""
        return Set() | {body.message for body in some}

    def items(self, some: Set[figure25.Sequenced]) -> Set[Sequenced]:
        """Translate numbered messages of figure 25 to those of the normal phase: each body becomes the one
        name of its message, and the numbers stay.
        """
        return Set() | {Sequenced(self.named(item.body), item.number) for item in some}

    def in_received(self, p: Process) -> Set[Message]:
        """Return recvQ_p of figure 25: the messages that p has received and not yet made stable."""
        return self.bodies(self.received[p])

    def in_collected(self, p: Process) -> Set[Message]:
        """Return the messages that left recvQ_p."""
        return self.bodies(self.collected[p])

    def in_numbered(self, p: Process) -> Set[Sequenced]:
        """Return seqQ_p of figure 25: the numbers that p knows and has not yet made stable."""
        return self.items(self.numbered[p])

    def in_stable(self, p: Process) -> Set[Sequenced]:
        """Return stableQ_p of figure 25: the stable messages, with numbers, that p has yet to deliver."""
        return self.items(self.stable[p])

    def in_pending(self, p: Process) -> Message | None:
        """Return the message that p keeps sending until it is acknowledged; None if there is none."""
        return self.named(self.pending[p])


class Figure25Normal(Figure25Queues, refines=NormalFinite):
    """Figure 25 with helpers that compute, from its state, the state of the normal phase that it refines.
    `highest` and `numbers` must be `messages + 1 + passes`.
    """

    highest: Const[int] = 4
    views: Const[int] = 1
    joiners: Const[int] = 0
    announced: Const[bool] = True

    def listed(self, v: View) -> Set[Process]:
        """Return the only list, which contains all processes."""
        return Set() | {p for p in self.each(Process)}

    def version(self, p: Process) -> View:
        """Return 1, the version of the only list."""
        return 1

    def begins(self, p: Process) -> bool:
        """Return False: the token is on its way from the start (lines 10-11), so no process begins with
        it.
        """
        return False

    def data(self) -> Set[Data]:
        """Return the broadcasts: each was sent to all."""
        return Set() | {Data(m, 1) for m in self.each(Message) if m.index < self.broadcasts}

    def acks(self) -> Set[Ack]:
        """Return the acknowledgements that any process knows: each was sent by the process whose turn it
        was.
        """
        return Set() | {
            Ack(1, p, item.message, item.number)
            for item in self.history()
            for p in self.each(Process)
            if (item.number - 1) % self.processes == p.index
        }

    # Variables of the same names, whose types differ -------------------------------------------------------

    def received(self, p: Process) -> Set[Message]:  # type: ignore[override]
        """Return recvQ_p, the messages that p has received, as messages of the normal phase."""
        return self.in_received(p)

    def collected(self, p: Process) -> Set[Message]:  # type: ignore[override]
        """Return the messages that left recvQ_p."""
        return self.in_collected(p)

    def numbered(self, p: Process) -> Set[Sequenced]:  # type: ignore[override]
        """Return seqQ_p, the numbers that p knows, as items of the normal phase."""
        return self.in_numbered(p)

    def stable(self, p: Process) -> Set[Sequenced]:  # type: ignore[override]
        """Return stableQ_p, the stable messages that p has yet to deliver, as items of the normal phase."""
        return self.in_stable(p)

    def pending(self, p: Process) -> Message | None:  # type: ignore[override]
        """Return the message that p keeps sending until it is acknowledged; None if there is none."""
        return self.in_pending(p)


class NormalOrdering(NormalFinite, OrderingView):
    """The normal phase in one list, with helpers that compute, from its state, the state of the abstract
    ordering machine that it refines.
    """

    def item_of(self, ack: Ack) -> Assigned:
        """Return a number with its message as an item of the ordering machine."""
        return Assigned(1, ack.number, ack.message)

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def history(self) -> Set[Assigned]:
        """Return every number that was given, with its message, as the history of the ordering machine."""
        return Set() | {self.item_of(ack) for ack in self.acks}

    def learned(self, p: Process) -> Set[Assigned]:
        """Return the numbered messages that p knows now, and those that it has delivered."""
        return Set() | {self.item_of(ack) for ack in self.acks if self.knows(p, ack.number)}

    def at(self, p: Process) -> Position:
        """Return the position of p: lastdelivered_p, the number that it delivered last."""
        return Position(1, self.last_delivered[p])


NORMAL_PHASE = Refinement(
    NormalOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "highest"},
    bounds={"processes": 2, "messages": 2, "views": 1, "crashes": 1, "highest": 4},
)


class IrbpOrdering(IrbpBounded, OrderingOfDeliveries):
    """iRBP, through all its lists, with helpers that compute, from its state, the state of the abstract
    ordering machine that it refines.

    A list may take back a number that nobody has delivered, so that the history is what was delivered
    (`given`, which no step of the protocol reads). A number that a process passed over without a delivery was
    spent on nothing.
    """

    @on(Deliver)
    def remember(self, event: Deliver) -> None:
        """Remember a delivered message with its number, the present lastdelivered_p."""
        p = event.process
        m = event.message
        for k in self.each(Number):
            if m is not None and k == self.last_delivered[p]:
                self.given[p] |= {Assigned(1, k, m)}

    def submitted(self) -> Set[Message]:
        """Return the messages that were broadcast; they are broadcast in the order of their indices."""
        return Set() | {m for m in self.each(Message) if m.index < self.broadcasts}

    def passed_over(self, p: Process) -> Set[Assigned]:
        """Return the numbers that p passed over: p delivered nothing under them, and a message under a higher
        one.
        """
        return Set() | {
            Assigned(1, k, None)
            for k in self.each(Number)
            if any(item.number > k for item in self.given[p])
            and not any(item.number == k for item in self.given[p])
        }


IRBP = Refinement(
    IrbpOrdering,
    OrderingMachine,
    (Broadcast, Deliver),
    steps_between,
    sizes={"series": 1, "numbers": "highest"},
    bounds={
        "processes": 3,
        "messages": 2,
        "highest": 6,
        "crashes": 1,
        "false_suspicions": 0,
        "detected_at_once": True,
        "assigned": True,
        "urgent": True,
    },
)
