"""Reliable broadcast: Validity, Agreement and Integrity, each in its uniform and its non-uniform form.

Source: Barchet-Estefanel 2002, section 2.1 (after Defago, Schiper, Urban 2000). Integrity is judged at every
delivery. Validity and Agreement say "eventually": they are obligations, judged where nothing more can happen
or where what is missing can never arrive. "Correct" is judged by the run so far: a process that has not
crashed is correct in the extension of the run in which nobody else crashes.

A handler costs a constant number of operations, so that the same text judges model runs and logs of any
length.

`Casting` is reliable broadcast as a part of a protocol, for what the protocol itself must say to everybody:
"R-Broadcast (view-change, i)".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Generic, TypeVar

from antiphon.spec.lang import (
    Map,
    Set,
    action,
    environment,
    everywhere,
    expect,
    obligation,
    on,
    require,
)
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Group, Message, Process
from antiphon.spec.services.promises import Property
from antiphon.spec.services.stopping import Stopping

M = TypeVar("M")


class Failures(Group):
    """Record of the processes that have crashed."""

    crashed: Map[Process, bool] = everywhere(False)

    @on(Crash)
    def stop(self, event: Crash) -> None:
        """Record that a process has crashed, for ever."""
        self.crashed[event.process] = True

    def correct(self, p: Process) -> bool:
        """Return True if p has not crashed."""
        return not self.crashed[p]


class Deliveries(Failures):
    """Broadcasts and deliveries, and the honesty of deliveries: `UniformIntegrity`, `Integrity`.

    `BroadcastOnce` is the application's promise that no message is broadcast twice, without which everything
    else means nothing.
    """

    origin: Map[Message, Process | None] = everywhere(None)
    delivered: Map[Process, Map[Message, bool]] = everywhere(everywhere(False))

    @on(Broadcast)
    def note_broadcast(self, event: Broadcast) -> None:
        """Check that a message has one sender, which broadcasts it once, and record the sender."""
        first = self.origin[event.message]
        if first is not None:
            expect(False, "BroadcastOnce", Broadcast(first, event.message))
        else:
            self.origin[event.message] = event.process

    @on(Deliver)
    def judge_integrity(self, event: Deliver) -> None:
        """Check: every process delivers m at most once, and only if m was previously broadcast by sender(m).

        The uniform and the non-uniform form differ only by deliveries of processes that crash later, and
        nobody delivers after its crash: at the moment of delivery they are one.
        """
        m = event.message
        if m is None:
            expect(False, "UniformIntegrity")
            expect(False, "Integrity")
        else:
            expect(not self.delivered[event.process][m], "UniformIntegrity", Deliver(event.process, m))
            expect(not self.delivered[event.process][m], "Integrity", Deliver(event.process, m))
            expect(self.origin[m] is not None, "UniformIntegrity")
            expect(self.origin[m] is not None, "Integrity")
            self.delivered[event.process][m] = True


class ReliableBroadcast(Deliveries):
    """Reliable broadcast in a group that stays as it is: obligations `Validity`, `UniformAgreement`,
    `Agreement` beside the integrity of `Deliveries`.
    """

    @obligation
    def Validity(self) -> bool:
        """If a correct process broadcasts m, some correct process eventually delivers m."""
        return all(
            not any(self.origin[m] == p and self.correct(p) for p in self.each(Process))
            or any(self.correct(q) and self.delivered[q][m] for q in self.each(Process))
            for m in self.each(Message)
        )

    @obligation
    def UniformAgreement(self) -> bool:
        """If any process delivers m, all correct processes eventually deliver m."""
        return all(
            self.delivered[q][m]
            or not self.correct(q)
            or not any(self.delivered[p][m] for p in self.each(Process))
            for m in self.each(Message)
            for q in self.each(Process)
        )

    @obligation
    def Agreement(self) -> bool:
        """If a correct process delivers m, all correct processes eventually deliver m."""
        return all(
            self.delivered[q][m]
            or not self.correct(q)
            or not any(self.delivered[p][m] and self.correct(p) for p in self.each(Process))
            for m in self.each(Message)
            for q in self.each(Process)
        )


class Casting(Stopping, Generic[M]):
    """Reliable broadcast as a part of a protocol, for the protocol's own messages; the copies that implement
    it are left out.

    State: `cast[p]` what p R-broadcast and has not R-delivered itself, `taken[p]` what p R-delivered. The
    algorithm is that of Barchet-Estefanel 2002, section 3.1.1: "p sends m to all processes. When some process
    q receives m for the first time, then q sends m to all processes and after this, R-Delivers m", over
    channels that are reliable between processes that do not crash. So m reaches everybody when somebody that
    stays up has it; while all that have it have crashed it may reach some, or nobody.

    A protocol says `self.r_broadcast(p, m)`, and what p does upon R-delivery of m stands in its override of
    `r_deliver`, after `super()`; `may_deliver` is its guard.
    """

    cast: Map[Process, Set[M]] = everywhere(Set())
    taken: Map[Process, Set[M]] = everywhere(Set())

    def has_cast(self, p: Process, m: M) -> bool:
        """Return True if p has R-broadcast m or has R-delivered it: then p has sent copies of m to all."""
        return m in self.cast[p] or m in self.taken[p]

    def may_deliver(self, p: Process, m: M) -> bool:
        """Return True if p may R-deliver m now, which has reached p; a hook that is always true unless the
        protocol overrides it.
        """
        return True

    def r_broadcast(self, p: Process, m: M) -> None:
        """R-broadcast m at p: send it to all, p included. Nothing happens if p has sent it before."""
        if not self.has_cast(p, m):
            self.cast[p] |= {m}

    def r_deliver(self, p: Process, m: M) -> None:
        """R-deliver m at p."""
        self.cast[p] -= {m}
        self.taken[p] |= {m}

    @action(fairness="weak", per="p")
    def receive_cast(self, p: Process, m: M) -> None:
        """Receive a copy of m from a process that stays up, which must happen."""
        require(m not in self.taken[p])
        require(any(self.has_cast(q, m) and not self.is_gone(q) for q in self.each(Process)))
        require(self.may_deliver(p, m))
        self.r_deliver(p, m)

    @environment
    def receive_last_cast(self, p: Process, m: M) -> None:
        """Receive a copy of m from a process that has crashed, when no process with m stays up; this may
        happen or not.
        """
        require(not self.is_gone(p) and m not in self.taken[p])
        require(any(self.has_cast(q, m) for q in self.each(Process)))
        require(all(self.is_gone(q) or not self.has_cast(q, m) for q in self.each(Process)))
        require(self.may_deliver(p, m))
        self.r_deliver(p, m)


# What logs are judged by ------------------------------------------------------------------------------------

BROADCAST_AGAIN: Final = "broadcast a second time"
NEVER_BROADCAST: Final = "delivered, but its source has not broadcast it"
TWICE: Final = "delivered a second time"
NOT_BY_ALL: Final = "delivered by one process, not by the other, which has not crashed"

TOTAL_ORDER: Final = "total-order"
"""Keyword of total order among the promises of groups whose members stay the same."""

RELIABLE_BROADCAST: Final = "reliable-broadcast"
"""Keyword of broadcast without any order, in groups whose members stay the same."""


def why_integrity(refusal: Refusal) -> str:
    """Explain a violation of integrity: a second delivery, which clashes with the first, or a delivery
    without a broadcast.
    """
    return NEVER_BROADCAST if refusal.clash is None else TWICE


BROADCAST_ONCE: Final = Property(
    "BroadcastOnce",
    "the process that an identifier names as its source broadcasts it, once, and nobody else does",
    "broadcasts",
    by="the implementation, which makes identifiers",
    reason=BROADCAST_AGAIN,
    always=True,
    incarnations="kept",
    for_some=True,
)
VALIDITY: Final = Property(
    "Validity",
    "what a correct process broadcasts, some correct process delivers",
    "broadcasts by their sources",
    nothing="no broadcast",
    promised=(TOTAL_ORDER, RELIABLE_BROADCAST),
    by="the protocol",
    reason="broadcast by a correct process, delivered by no correct process",
    fixed_group=True,
    incarnations="kept",
    for_some=True,
)
UNIFORM_INTEGRITY: Final = Property(
    "UniformIntegrity",
    "a process delivers a message at most once, and only if its source broadcast it, with that payload",
    "deliveries",
    by="the protocol",
    reason=why_integrity,
    always=True,
    incarnations="each",
    for_some=True,
)
UNIFORM_AGREEMENT: Final = Property(
    "UniformAgreement",
    "what any process delivers, every correct process delivers",
    "deliveries owed",
    nothing="no message that another process should deliver",
    promised=(TOTAL_ORDER,),
    by="a uniform protocol",
    reason=NOT_BY_ALL,
    fixed_group=True,
    incarnations="kept",
    for_some=True,
    of_delivery=True,
)
AGREEMENT: Final = replace(
    UNIFORM_AGREEMENT,
    name="Agreement",
    says="what a correct process delivers, every correct process delivers",
    promised=(TOTAL_ORDER, RELIABLE_BROADCAST),
    by="the protocol",
    implies=("UniformAgreement",),
)
INTEGRITY: Final = replace(UNIFORM_INTEGRITY, name="Integrity", always=False)
"""Integrity in its plain form; reports use the uniform form."""
