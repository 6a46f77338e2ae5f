"""Liveness of RBP with Reformation on fair runs: a site that waits for a reformation goes on, a failure leads
to a list without the failed process, and broadcast messages are delivered there.

Source: Barchet-Estefanel 2002, section 3.2.3, "the own reformation phase must be tolerant to these failures",
and section 3.2.1, whose failures all end in a new list. Two things can go wrong for ever, and section 4.4
says so ("this events can force new rounds of the reformation phase"): timers that are too short, and
originators that refuse each other (REF-04). Each is left out by a restriction, so that the rest is seen.
"""

from __future__ import annotations

from antiphon.spec.lang import fair, leads_to, witness
from antiphon.spec.protocols.reformation.faults import WaitForTheFailed
from antiphon.spec.protocols.reformation.figures23_24 import Attempt
from antiphon.spec.protocols.reformation.over_figure25 import RbpReformingChecked
from antiphon.spec.protocols.reformation.timers import LongTimers, OneOriginator
from antiphon.spec.services import Message, Process


class RbpReformingLive(
    RbpReformingChecked, restrictions=(LongTimers, OneOriginator), mutations=(WaitForTheFailed,)
):
    """RBP with Reformation on fair runs. A process that has called Reformation invites in the end, if it is
    not invited before.
    """

    originators = fair("invite", per="p")

    def waits(self, p: Process) -> bool:
        """Return True if p has called Reformation, or has joined a list that is being made."""
        return not self.is_free(p) and not self.down[p]

    def is_back(self, p: Process) -> bool:
        """Return True if p works in a list, or has failed."""
        return self.is_free(p) or self.down[p]

    def is_missed(self, p: Process) -> bool:
        """Return True if p has failed, and a live process has called Reformation."""
        return self.down[p] and any(self.reforming[q] and not self.down[q] for q in self.each(Process))

    def is_replaced(self, p: Process) -> bool:
        """Return True if all live processes work in one list that was made without p, and whose token was
        generated.
        """
        return any(
            self.tokens[a]
            and p not in self.members(a)
            and all(self.down[q] or (self.current[q] == a and self.is_free(q)) for q in self.each(Process))
            for a in self.each(Attempt)
        )

    def is_broadcast(self, m: Message) -> bool:
        """Return True if m was broadcast."""
        return self.origin[m] is not None

    def is_delivered(self, m: Message) -> bool:
        """Return True if all live processes have delivered m, or none has and its sender has failed."""
        return all(self.down[q] or self.delivered[q][m] for q in self.each(Process)) or (
            any(self.origin[m] == p and self.down[p] for p in self.each(Process))
            and not any(self.delivered[q][m] and not self.down[q] for q in self.each(Process))
        )

    def is_settled(self, m: Message) -> bool:
        """Return True if m is delivered, or the numbers of the exploration are used up."""
        return self.is_delivered(m) or any(self.last_number[q] == self.limit() for q in self.each(Process))

    nobody_waits_for_ever = leads_to("waits", "is_back")
    the_failed_are_replaced = leads_to("is_missed", "is_replaced")
    messages_arrive = leads_to("is_broadcast", "is_settled")

    @witness
    def Replaced(self) -> bool:
        """Witness: a process has failed, and the live processes have delivered a message in a list without
        it.
        """
        return any(
            self.down[p] and self.is_replaced(p) and self.is_broadcast(m) and self.is_delivered(m)
            for p in self.each(Process)
            for m in self.each(Message)
        )
