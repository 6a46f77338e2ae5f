"""Sentences of DTP with several meanings: `section4` has the text as printed, each class of this module has
another meaning of one sentence.

Source: J. Kim and C. Kim, 1997, sections 3 and 4.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import AtMost, Between, Map, Seq, action, ambiguity, everywhere
from antiphon.spec.protocols.dtp.packets import Number, Pass, Status
from antiphon.spec.protocols.dtp.section4 import Dtp
from antiphon.spec.services import Message, Process

Place = Annotated[int, Between(0, "messages - 1")]
"""Position in the order in which MSGs arrived."""

tie = ambiguity(
    "tie",
    "any",
    about="which m is selected when several have R_i[m] = min: any of them, or the lowest ID",
)
transfer = ambiguity(
    "transfer",
    "named",
    about="what ends TRST beside a higher gsn: an ACK that names the waiting process (Receiving ACK message: "
    "`i = m`), or one from the process that it named (Timeout: `x = m`)",
)
resending = ambiguity(
    "resending",
    "same",
    about="where the ACK that is multicast again at every timeout is kept: apart, or in BUF, which holds no "
    "ACK of NULL",
)
notified = ambiguity(
    "notified",
    "obtained",
    about="what hgsn_i is when delivery is deferred: the gsn up to which everything was obtained (section "
    "4.2 updates R_i[i] to g at once), or that of the message that was delivered most recently (section 3)",
)
selected = ambiguity(
    "selected",
    "any",
    about="which of several MSGs in BUF the holder acknowledges (section 4.2: `an unacknowledged MSG`): any, "
    "or that which came first",
)
reset_own = ambiguity(
    "reset_own",
    "acknowledged",
    about="when S.ACK_i is reset: when the MSG is acknowledged, by whomever (section 4.1), or where the "
    "procedures of section 4.2 say so, which do not of a holder that acknowledges a MSG of its own from BUF",
)


early = ambiguity(
    "early",
    "dropped",
    about="what becomes of a MSG with l > N_i[j], of which section 4.2 says only that what is missing before "
    "it is requested: it is dropped, or waits in BUF for that (`BUF_i: this buffer contains the messages "
    "which are not stable locally yet`)",
)


@tie.reading("lowest")
class TieLowest(Dtp):
    """Reading of DTP: of several least active processes the one with the lowest ID is selected as next
    holder.
    """

    def may_name(self, p: Process, m: Process, own: Status) -> bool:
        """Return True for the candidate with the lowest ID."""
        return super().may_name(p, m, own) and not any(
            self.is_candidate(p, k, own) for k in self.each(Process) if k < m
        )


@transfer.reading("heard")
class TransferHeard(Dtp):
    """Reading of DTP: the wait after a pass (TRST) ends with a higher gsn or an ACK of the process that p
    named (Timeout: `R_i[i] + 1 <= g' or x = m`). The other reading is an ACK that names p (Receiving ACK: `i
    = m`).
    """

    def ends_transfer(self, p: Process, sender: Process, seen: Pass) -> bool:
        """Return True for an ACK with a higher gsn, or one of the process that p named."""
        sent = self.passed[p]
        return seen.number > self.status[p][p] or (sent is not None and sender == sent.next_holder)


@resending.reading("buffered")
class ResendingBuffered(Dtp):
    """Reading of DTP: at a timeout the holder multicasts the ACK that is in BUF again; if BUF holds it no
    more, it multicasts nothing.
    """

    def repeat_pass(self, p: Process, sent: Pass) -> None:
        """Multicast p's last ACK again, if BUF_p still holds this ACK."""
        m = sent.message
        if m is not None and sent.number > 0 and self.has_ack(p, sent.number, m):
            self.send_pass(p, sent)


class UpToGap(Dtp):
    """Common part of a reading and two repairs: R_i[i] goes up to the last gsn before a gap."""

    def advance(self, p: Process, g: Number) -> None:
        """Raise R_p[p] as far as p has the ACKs without a gap, whatever g is."""
        self.catch_up(p)

    def catch_up(self, p: Process) -> None:
        """Raise R_p[p] gsn by gsn, while p has the next ACK and `may_cover` is true."""
        for k in self.each(Number):
            if k == self.status[p][p] + 1 and self.acks[p][k] is not None and self.may_cover(p, k):
                self.status[p][p] = k

    def may_cover(self, p: Process, k: Number) -> bool:
        """Return True if R_p[p] may become k, a gsn whose ACK p has; in this class it always may."""
        return True


@notified.reading("delivered")
class NotifiedDelivered(UpToGap):
    """Reading of DTP: R_p[p] counts the messages that p has delivered, as section 3 says (`gsn of the message
    which LTM_i has delivered to P_i most recently`), not those that p has obtained.
    """

    def may_cover(self, p: Process, k: Number) -> bool:
        """Return True if R_p[p] may become k: the update with gsn k can be delivered, since F + 1 processes
        have obtained it.
        """
        return super().may_cover(p, k) and self.is_resilient(p, k)


class Remembering(Dtp):
    """DTP with a record of the order in which MSGs came into each BUF, for a reading and a property."""

    came: Map[Process, Annotated[Seq[Message], AtMost("messages")]] = everywhere(())

    @action
    def broadcast(self, p: Process, m: Message) -> None:
        """Broadcast as printed, and record that p's own MSG is the latest MSG in p's BUF."""
        super().broadcast(p, m)
        self.came[p] += (m,)

    def put_message(self, p: Process, m: Message) -> None:
        """Put the MSG into BUF as printed, and record that it is the latest MSG in BUF."""
        super().put_message(p, m)
        self.came[p] += (m,)

    def is_before(self, p: Process, x: Message, m: Message) -> bool:
        """Return True if x came into BUF_p before m."""
        return any(
            self.came[p][k] == x and not any(self.came[p][j] == m for j in self.each(Place) if j <= k)
            for k in self.each(Place)
            if k < len(self.came[p])
        )


@selected.reading("oldest")
class SelectedOldest(Remembering):
    """Reading of DTP: of several MSGs in BUF the holder acknowledges the one that came first."""

    def is_new(self, p: Process, m: Message) -> bool:
        """Return True if BUF_p has no ACK for m, and m came into BUF_p before every other message without an
        ACK.
        """
        return super().is_new(p, m) and not any(
            x in self.buffer[p] and not self.is_acknowledged(p, x) and self.is_before(p, x, m)
            for x in self.each(Message)
        )


@reset_own.reading("procedures")
class ResetOwnProcedures(Dtp):
    """Reading of DTP: S.ACK_i is reset only where the procedures of section 4.2 say so (`Since the MSG has
    been acknowledged`), which is when the MSG arrives, not when the holder takes it from BUF.
    """

    def reset(self, p: Process, m: Message) -> None:
        """Reset S.ACK of p only if the message arrived just now."""
        if self.arrived[p] == m:
            super().reset(p, m)


@early.reading("kept")
class EarlyKept(Dtp):
    """Reading of DTP: a MSG that arrives before earlier ones is put into BUF_i, and N_i[j] passes over it
    once the missing ones have arrived.
    """

    def take_early_message(self, p: Process, j: Process, m: Message) -> None:
        """Put the early MSG into BUF and note its status, as for the next MSG, but leave N_p[j] as it is."""
        if m not in self.buffer[p]:
            heard = self.stamp[m] > self.status[p][j]
            self.change_status(p, j, self.stamp[m])
            self.put_message(p, m)
            self.finish(p, heard)
        self.missed[p] -= self.buffer[p]

    def put_message(self, p: Process, m: Message) -> None:
        """Put the MSG into BUF, and let N_p[j] pass over earlier messages of its sender that had come too
        soon.
        """
        super().put_message(p, m)
        for x in self.each(Message):
            j = self.source[x]
            if j is not None and x in self.buffer[p] and self.lsn[x] == self.expected[p][j]:
                self.expected[p][j] += 1


READINGS = (tie, transfer, resending, notified, selected, reset_own, early)
