"""Reliable broadcast: Validity, Agreement and Integrity, each in its uniform and its non-uniform form.

Source: Barchet-Estefanel 2002, section 2.1 (after Defago, Schiper, Urban 2000). Integrity is judged at every
delivery. Validity and Agreement say "eventually": they are obligations, judged where nothing more can happen
or where what is missing can never arrive. "Correct" is judged by the run so far: a process that has not
crashed is correct in the extension of the run in which nobody else crashes.

A handler costs a constant number of operations, so that the same text judges model runs and logs of any
length.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, everywhere, expect, obligation, on
from antiphon.spec.services.events import Broadcast, Crash, Deliver, Group, Message, Process


class Failures(Group):
    """Who has crashed."""

    crashed: Map[Process, bool] = everywhere(False)

    @on(Crash)
    def stop(self, event: Crash) -> None:
        """A crash is for ever."""
        self.crashed[event.process] = True

    def correct(self, p: Process) -> bool:
        """Whether p has not crashed."""
        return not self.crashed[p]


class Deliveries(Failures):
    """Who has broadcast and delivered what, and that deliveries are honest: `UniformIntegrity`, `Integrity`.

    `BroadcastOnce` is the application's promise that no message is broadcast twice, without which everything
    else means nothing.
    """

    origin: Map[Message, Process | None] = everywhere(None)
    delivered: Map[Process, Map[Message, bool]] = everywhere(everywhere(False))

    @on(Broadcast)
    def note_broadcast(self, event: Broadcast) -> None:
        """A message has one sender, who broadcasts it once."""
        first = self.origin[event.message]
        if first is not None:
            expect(False, "BroadcastOnce", Broadcast(first, event.message))
        else:
            self.origin[event.message] = event.process

    @on(Deliver)
    def judge_integrity(self, event: Deliver) -> None:
        """Every process delivers m at most once, and only if m was previously broadcast by sender(m).

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
            not any(self.delivered[p][m] for p in self.each(Process))
            or all(self.delivered[q][m] or not self.correct(q) for q in self.each(Process))
            for m in self.each(Message)
        )

    @obligation
    def Agreement(self) -> bool:
        """If a correct process delivers m, all correct processes eventually deliver m."""
        return all(
            not any(self.delivered[p][m] and self.correct(p) for p in self.each(Process))
            or all(self.delivered[q][m] or not self.correct(q) for q in self.each(Process))
            for m in self.each(Message)
        )
