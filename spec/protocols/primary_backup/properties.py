"""Properties of primary-backup replication: total order and reliable broadcast of the updates that servers
perform (its order and atomicity), and the guarantees to a client.
"""

from __future__ import annotations

from antiphon.spec.lang import constraint, mutation, obligation, repair, restriction, witness
from antiphon.spec.protocols.primary_backup.over_vsc import PrimaryBackupOverVsc
from antiphon.spec.protocols.primary_backup.section431 import PrimaryBackup
from antiphon.spec.services.broadcast import ReliableBroadcast
from antiphon.spec.services.events import Message, Process
from antiphon.spec.services.order import TotalOrder, TotalOrderBroadcast


@restriction("the primary does not fail")
class OnlyBackupsFail(PrimaryBackup):
    """Restriction: only backups fail."""

    @constraint("crash")
    def is_backup(self, p: Process) -> bool:
        """Bound: p is a backup, not the primary."""
        return p != self.primary


@repair("a view change: the primary waits for those that have not failed", answers="PBK-03")
class ExcludeFailed(PrimaryBackup):
    """Repair of primary-backup replication. Printed: the primary `waits for an acknowledgement from all
    backups`, also from failed ones. Repaired: a view change excludes failed backups, and the primary does not
    wait for them.
    """

    def has_acks(self, p: Process) -> bool:
        """Return True if every backup has acknowledged the request or has failed."""
        return all(q in self.acked or self.down[q] for q in self.each(Process) if q != p)


@mutation("the primary replies, and takes the next request, without waiting for acknowledgements")
class ReplyAtOnce(PrimaryBackup):
    """Planted fault in primary-backup replication: the primary replies without waiting for acknowledgements,
    so that two updates may be on their way. Correct code waits for all backups.
    """

    def has_acks(self, p: Process) -> bool:
        """Return True: no acknowledgement is waited for."""
        return True


class PrimaryBackupChecked(
    PrimaryBackup,
    TotalOrderBroadcast,
    repairs=(ExcludeFailed,),
    restrictions=(OnlyBackupsFail,),
    mutations=(ReplyAtOnce,),
):
    """Primary-backup replication by itself, checked against total order broadcast and its own obligations."""

    @obligation
    def Answered(self) -> bool:
        """Obligation: in the end every request that a live primary has performed is replied to."""
        return self.busy is None or self.down[self.primary]

    @obligation
    def RepliedAtAll(self) -> bool:
        """Obligation: all correct servers perform a request that a client has a reply to."""
        return all(m in self.performed[p] or self.down[p] for m in self.replied for p in self.each(Process))

    @witness
    def AllReplied(self) -> bool:
        """Witness: every request has its reply."""
        return all(m in self.replied for m in self.each(Message))

    @witness
    def TakenOver(self) -> bool:
        """Witness: a second primary has performed a request that the first did not perform."""
        return any(
            m in self.performed[self.primary]
            and not any(m in self.performed[q] for q in self.each(Process) if self.down[q])
            and self.down[Process(0)]
            for m in self.each(Message)
        )


class PrimaryBackupOverVscChecked(PrimaryBackupOverVsc, ReliableBroadcast, TotalOrder):
    """Primary-backup replication over figure 29, checked against reliable broadcast and total order."""
