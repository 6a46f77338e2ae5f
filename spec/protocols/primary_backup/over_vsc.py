"""Primary-backup replication over view-synchronous communication: updates are VSCast, and the primary is the
first member of the view.

Source: Barchet-Estefanel 2002, section 4.3.2: the use of VSC "ensures the Atomicity requirements even if
there are failures, and allows the processes to select the primary server in a deterministic way (as the view
is agreed by all processes)". Below is figure 29, as printed or with its repairs.

What is decided, because the text is silent: the first member is the one with the lowest index. A backup
acknowledges an update when it VS-delivers it; no packet stands for this, since the primary may reply at any
later time. The primary waits for the members of the view that it is in.
"""

from __future__ import annotations

from antiphon.spec.lang import Set, action, invariant, obligation, present, require, witness
from antiphon.spec.protocols.vsc.bounds import VscBounded
from antiphon.spec.services.events import Message, Process


class PrimaryBackupOverVsc(VscBounded):
    """Primary-backup replication whose primary, the first member of the view, multicasts updates one after
    the other.
    """

    replied: Set[Message] = Set()

    def primary(self, p: Process) -> Process:
        """Return the first member of p's view."""
        return present(next((q for q in self.each(Process) if q in self.group[p]), None))

    def is_busy(self, p: Process) -> bool:
        """Return True if p waits for acknowledgements of an update."""
        return any(self.sent_by[m] == p and m not in self.replied for m in self.each(Message))

    def may_send(self, p: Process) -> bool:
        """Return True if p may send a message: p is the primary, and waits for no acknowledgements."""
        return super().may_send(p) and self.primary(p) == p and not self.is_busy(p)

    @action(fairness="weak")
    def reply(self, p: Process, m: Message) -> None:
        """Reply to the client, when all members of p's view have acknowledged the update."""
        require(self.sent_by[m] == p and m not in self.replied)
        require(all(m in self.handed[q] for q in self.group[p]))
        self.replied |= {m}

    @invariant
    def OnePrimary(self) -> bool:
        """Invariant: processes in one view have the same primary."""
        return all(
            self.in_view[p] != self.in_view[q] or self.primary(p) == self.primary(q)
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @obligation
    def Answered(self) -> bool:
        """Obligation: every update of a primary that is up is replied to."""
        return all(self.is_gone(p) or not self.is_busy(p) for p in self.each(Process))

    @obligation
    def RepliedAtAll(self) -> bool:
        """Obligation: in the end every correct server has performed each request that a client has a reply
        to.
        """
        return all(m in self.handed[p] or self.is_gone(p) for m in self.replied for p in self.each(Process))

    @witness
    def SecondPrimary(self) -> bool:
        """Witness: a second primary replies after the first has replied."""
        return any(
            m in self.replied and k in self.replied and self.sent_by[m] != self.sent_by[k]
            for m in self.each(Message)
            for k in self.each(Message)
        )
