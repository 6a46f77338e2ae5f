"""Bounds of an exploration of figure 16: how many numbers and timer rounds there are, and which runs are left
out.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, budget, constraint, restriction
from antiphon.spec.protocols.rbp.figure16 import Rbp
from antiphon.spec.protocols.rbp.readings import READINGS
from antiphon.spec.protocols.rbp.repairs import REPAIRS
from antiphon.spec.services import Message, Process


class RbpFinite(Rbp):
    """Figure 16 with finitely many identifiers, numbers and, unless `unlimited`, timer rounds."""

    timeouts: Const[int] = 1
    unlimited: Const[bool] = False
    expired: Annotated[int, Between(0, "timeouts")] = 0

    @constraint("broadcast")
    def has_identifier_left(self, p: Process) -> bool:
        """Return True if p may use another message identifier within the bound."""
        return self.message_id[p] < self.messages + self.spare

    @constraint("resend")
    def has_spare_left(self, p: Process) -> bool:
        """Return True if a message may get another name: at most `spare` times in all."""
        is_renamed = self.id_of_next_round(p) > self.message_id[p]
        return (
            not is_renamed
            or sum(self.message_id[q] for q in self.each(Process)) - self.broadcasts < self.spare
        )

    @constraint("sequence")
    def has_number_left(self, p: Process) -> bool:
        """Return True if the number after ts_p is within the bound."""
        return self.last_number[p] < self.messages + 1 + self.spare

    @constraint("resend_token")
    def sends_known_number(self, p: Process) -> bool:
        """Bound: the number that another round of lines 47-49 would send is within the bound."""
        return self.passed[p] is None or self.number_of_next_round(p) <= self.messages + 1 + self.spare

    @constraint("resend", "repeat_request", "resend_token")
    def may_expire(self) -> bool:
        """Return True if the bound allows one more timeout of a loop that repeats."""
        return budget(self.unlimited or self.expired < self.timeouts)

    def resend(self, p: Process) -> None:
        super().resend(p)
        self.expire()

    def repeat_request(self, p: Process) -> None:
        super().repeat_request(p)
        self.expire()

    def resend_token(self, p: Process) -> None:
        super().resend_token(p)
        self.expire()

    def expire(self) -> None:
        """Count one timeout of a loop that repeats, unless timeouts are `unlimited`."""
        if not self.unlimited:
            self.expired += 1


@restriction(
    "a process that can accept, sequence or deliver does so before anything else happens, the first one first"
)
class Urgent(RbpFinite):
    """Restriction: steps that read and write one process's own state come first; no other process can see
    when they happen.
    """

    def delivers(self, p: Process) -> bool:
        """Return True if p can deliver a message."""
        return any(self.can_deliver(p, item) for item in self.numbered[p])

    def goes_on(self, p: Process) -> bool:
        """Return True if p can deliver, accept or sequence."""
        return self.delivers(p) or self.can_accept(p) or (self.can_sequence(p) and self.has_number_left(p))

    @constraint(
        "broadcast", "resend", "receive_data", "receive_ack", "receive_numbered", "receive_request",
        "receive_request_numbers", "repeat_request", "resend_token",
    )  # fmt: skip
    def nobody_goes_on(self) -> bool:
        """Bound: no process can deliver, accept the token or sequence."""
        return not any(self.goes_on(q) for q in self.each(Process))

    @constraint("accept", "sequence", "deliver")
    def is_first(self, p: Process) -> bool:
        """Bound: no process before p can deliver, accept the token or sequence."""
        return not any(self.goes_on(q) for q in self.each(Process) if q < p)

    @constraint("accept", "sequence")
    def has_delivered(self, p: Process) -> bool:
        """Bound: p takes another step only after it has delivered everything that it can."""
        return not self.delivers(p)

    @constraint("sequence")
    def has_accepted(self, p: Process) -> bool:
        """Bound: p gives numbers only after it has accepted the token."""
        return not self.can_accept(p)


@restriction("message k comes from p_(k mod n)")
class Assigned(RbpFinite):
    """Restriction: message k is broadcast by process k mod n only."""

    @constraint("broadcast")
    def is_its_turn(self, p: Process, m: Message) -> bool:
        """Return True if it is p's turn to broadcast message m."""
        return p.index == m.index % self.processes


@restriction("timers expire only after losses, once for each")
class Patient(RbpFinite):
    """Restriction: timers expire only after losses, once for each loss, so no timer expires too early."""

    @constraint("resend", "repeat_request", "resend_token")
    def something_was_lost(self) -> bool:
        """Bound: there were more losses than rounds of timers."""
        return self.expired < self.lost


class RbpBounded(RbpFinite, repairs=REPAIRS, readings=READINGS, restrictions=(Urgent, Assigned, Patient)):
    """Figure 16 within bounds, with its repairs and readings."""
