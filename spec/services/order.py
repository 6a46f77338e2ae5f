"""Deliveries are totally ordered pairwise, as the report defines it, or by position: two properties, both
reported.

`TotalOrder` (Barchet-Estefanel 2002, section 2.1): if p and q both deliver m and m', then p delivers m before
m' if and only if q does. Gaps are allowed. `PrefixOrder`: the first delivery at a position fixes it for
everybody, so that one sequence is always a prefix of the other. The uniform forms count every process, the
others the pairs in which neither has crashed: in a finished log the pairs in which neither ever crashes, so
the judge reads all crashes first.

`Numbering` looks at the numbers under which messages are delivered: they show one order of all. Three
processes that deliver a b, b c and c a agree pairwise, and have none.

The judgement of a log does not depend on how concurrent deliveries were merged: a pair of processes is judged
when the later of the two delivers, by positions in each process's own sequence. Cost of a delivery:
proportional to the number of processes, not to the log.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from antiphon.spec.lang import Between, Map, Set, everywhere, expect, invariant, on, record
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services.broadcast import (
    AGREEMENT,
    BROADCAST_ONCE,
    INTEGRITY,
    RELIABLE_BROADCAST,
    TOTAL_ORDER,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    VALIDITY,
    Failures,
    ReliableBroadcast,
)
from antiphon.spec.services.events import Deliver, Group, Message, Process
from antiphon.spec.services.promises import Promises, Property

Place = Annotated[int, Between(1, "messages")]
"""A position in a process's sequence of deliveries, from 1."""

Count = Annotated[int, Between(0, "messages")]


class TotalOrder(Failures):
    """Pairwise total order and prefix order as a state machine over deliveries.

    State: `deliveries[p][k]` is the message that p delivered at position k, `place[p][m]` the position at
    which p delivered m, `length[p]` how many it delivered, `latest[p][q]` the last position in q's sequence
    of a message that both have delivered (0: none).
    """

    deliveries: Map[Process, Map[Place, Message | None]] = everywhere(everywhere(None))
    place: Map[Process, Map[Message, Place | None]] = everywhere(everywhere(None))
    length: Map[Process, Count] = everywhere(0)
    latest: Map[Process, Map[Process, Count]] = everywhere(everywhere(0))

    @on(Deliver)
    def judge_order(self, event: Deliver) -> None:
        """Compare the new delivery with every other process's sequence. A second delivery of a message is
        Integrity's matter, not order's.
        """
        p = event.process
        m = event.message
        if m is not None and self.place[p][m] is None:
            k = self.length[p] + 1
            for q in self.each(Process):
                if q != p:
                    self.judge_position(p, q, m, k)
                    self.judge_pair(p, q, m, k)
            self.deliveries[p][k] = m
            self.place[p][m] = k
            self.length[p] = k

    def judge_position(self, p: Process, q: Process, m: Message, k: Place) -> None:
        """Check prefix order: q's delivery at position k, if any, is m."""
        other = self.deliveries[q][k]
        if other is not None and other != m:
            expect(False, "UniformPrefixOrder", Deliver(q, other))
            expect(self.crashed[p] or self.crashed[q], "PrefixOrder", Deliver(q, other))

    def judge_pair(self, p: Process, q: Process, m: Message, k: Place) -> None:
        """Check total order, when m becomes common to p and q: m is the last common message in p's sequence,
        so it must be the last in q's.
        """
        j = self.place[q][m]
        if j is not None:
            last = self.latest[p][q]
            if last > j:
                expect(False, "UniformTotalOrder", Deliver(q, self.deliveries[q][last]))
                expect(self.crashed[p] or self.crashed[q], "TotalOrder", Deliver(q, self.deliveries[q][last]))
            self.latest[p][q] = max(last, j)
            self.latest[q][p] = k


class TotalOrderBroadcast(ReliableBroadcast, TotalOrder):
    """Reliable broadcast with total order: the service that RBP claims to give."""


@record
class Pair:
    """Two messages of which one process delivered `first` before `second`; twice one message: it delivered
    the message.
    """

    first: Message
    second: Message


class OrderOfPairs(Group):
    """Pairwise total order by its definition, over all pairs of deliveries: it counts no positions, so that
    it can be proved for every n.

    Safety: `UniformOrderOfPairs`, which is `UniformTotalOrder` of `TotalOrder`. State: `before[p]` has the
    pairs of messages in the order in which p delivered them; a second delivery of a message changes nothing.
    """

    before: Map[Process, Set[Pair]] = everywhere(Set())

    @on(Deliver)
    def note_pairs(self, event: Deliver) -> None:
        """Note, at the first delivery of a message, that all delivered ones came before it."""
        p = event.process
        m = event.message
        if m is not None and not self.has_delivered(p, m):
            self.before[p] |= {
                Pair(x, m) for x in self.each(Message) if x == m or self.has_delivered(p, x)
            }

    def has_delivered(self, p: Process, m: Message) -> bool:
        """Return True if p has delivered m."""
        return Pair(m, m) in self.before[p]

    @invariant
    def UniformOrderOfPairs(self) -> bool:
        """Invariant: no two processes deliver two messages in different orders."""
        return not any(
            a != b and Pair(a, b) in self.before[p] and Pair(b, a) in self.before[q]
            for p in self.each(Process)
            for q in self.each(Process)
            for a in self.each(Message)
            for b in self.each(Message)
        )


@record
class Numbered:
    """Event: `process` delivers `message` under a number, its place among all messages, with gaps or not."""

    process: Process
    message: Message
    number: Place


class Numbering(Group):
    """Numbers that show a total order of all messages, as a state machine over numbered deliveries.

    Safety: `UniformNumbering`, the Strong Total Order of Chockler, Keidar and Vitenberg 2001, whose timestamp
    function is shown, and the logical order of Moser, Amir, Melliar-Smith and Agarwal 1994, specifications
    6.1 and 6.2; both in sense.

    State: `number_of[m]` and `message_of[n]` the number of a message and the message of a number, as they
    were told first; `numbered[p][m]` whether p has delivered m, `last_number[p]` the last number of a message
    that was new to p (0: none).
    """

    number_of: Map[Message, Place | None] = everywhere(None)
    message_of: Map[Place, Message | None] = everywhere(None)
    numbered: Map[Process, Map[Message, bool]] = everywhere(everywhere(False))
    last_number: Map[Process, Count] = everywhere(0)

    @on(Numbered)
    def judge_number(self, event: Numbered) -> None:
        """Check that a message has one number, a number one message, and that each process delivers by
        growing numbers.

        A clash is reported with p's delivery, though another process may have made the first.
        """
        p = event.process
        m = event.message
        n = event.number
        known = self.number_of[m]
        owner = self.message_of[n]
        if known is not None:
            expect(known == n, "UniformNumbering", Numbered(p, m, known))
        if owner is not None:
            expect(owner == m, "UniformNumbering", Numbered(p, owner, n))
        if not self.numbered[p][m]:
            last = self.last_number[p]
            if n <= last:
                expect(False, "UniformNumbering", Numbered(p, self.message_under(last, m), last))
            self.numbered[p][m] = True
            self.last_number[p] = n
        self.number_of[m] = n if known is None else known
        self.message_of[n] = m if owner is None else owner

    def message_under(self, n: Place, m: Message) -> Message:
        """Return the message of number n, or m if no message has that number."""
        owner = self.message_of[n]
        return owner if owner is not None else m


# What logs are judged by ------------------------------------------------------------------------------------

OTHER_NUMBER: Final = "delivered under another number than elsewhere"
NUMBER_TAKEN: Final = "delivered under the number of another message"
NOT_GREATER: Final = "delivered under a number that is not greater than the last one there"

OF_DELIVERIES: Final = ("no-duplication", "uniform-total-order", "prefix-order")
"""Keywords for logs without broadcasts, the weakest first."""


def why_numbering(refusal: Refusal) -> str:
    """Explain a violation of numbering: a message with two numbers, a number with two messages, or decreasing
    numbers.
    """
    event, clash = refusal.event, refusal.clash
    assert isinstance(event, Numbered)
    assert isinstance(clash, Numbered)
    if event.message == clash.message:
        return OTHER_NUMBER
    return NUMBER_TAKEN if event.number == clash.number else NOT_GREATER


UNIFORM_TOTAL_ORDER: Final = Property(
    "UniformTotalOrder",
    "two processes that deliver the same two messages deliver them in the same order",
    "deliveries shared",
    nothing="no two processes deliver the same two messages",
    promised=(TOTAL_ORDER, *OF_DELIVERIES[1:]),
    by="the protocol",
    reason="both deliver both messages, each delivers its own first",
    incarnations="each",
    for_some=True,
    implies=("UniformPrefixOrder", "UniformGlobalOrder", "UniformNumbering"),
)
UNIFORM_PREFIX_ORDER: Final = Property(
    "UniformPrefixOrder",
    "of two processes' sequences one is a prefix of the other: no gaps",
    "places compared",
    nothing="fewer than two processes deliver",
    promised=(TOTAL_ORDER, OF_DELIVERIES[2]),
    by="the protocol, in a fixed group",
    reason="deliver different messages at the same position",
    fixed_group=True,
    incarnations="kept",
)
UNIFORM_NUMBERING: Final = Property(
    "UniformNumbering",
    "a message has one number, a number one message, the same everywhere; each process delivers by growing "
    "numbers",
    "several deliveries",
    nothing="fewer than two deliveries",
    promised=(TOTAL_ORDER, "extended-total-order", *OF_DELIVERIES[1:]),
    by="the protocol",
    reason=why_numbering,
    incarnations="each",
    for_some=True,
)
TOTAL_ORDER_PROMISES: Final = Promises(
    (
        BROADCAST_ONCE,
        VALIDITY,
        UNIFORM_INTEGRITY,
        UNIFORM_AGREEMENT,
        AGREEMENT,
        UNIFORM_TOTAL_ORDER,
        UNIFORM_PREFIX_ORDER,
        INTEGRITY,
        replace(UNIFORM_TOTAL_ORDER, name="TotalOrder", promised=(), implies=()),
        replace(UNIFORM_PREFIX_ORDER, name="PrefixOrder", promised=()),
    ),
    (TOTAL_ORDER, RELIABLE_BROADCAST),
    TotalOrderBroadcast,
)
"""Promises of total order, and of broadcast without an order; the last three are plain forms, and reports use
the uniform ones.
"""
NUMBERING_PROMISES: Final = Promises((UNIFORM_NUMBERING,), service=Numbering)
