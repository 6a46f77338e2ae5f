"""Figure 12 within bounds: a limited number of sequence numbers, and restrictions by which local steps come
first.
"""

from __future__ import annotations

from antiphon.spec.lang import constraint, restriction
from antiphon.spec.protocols.moving_sequencer.figure12 import MovingSequencer, Stage
from antiphon.spec.protocols.moving_sequencer.readings import READINGS
from antiphon.spec.protocols.moving_sequencer.repairs import REPAIRS
from antiphon.spec.services import Message, Process


@restriction(
    "deliveries and the tests of lines 8, 11 and 12 happen as soon as they can, one process after the other: "
    "they read and write one process's own state and the token it holds, so postponing them only postpones "
    "what follows there"
)
class Urgent(MovingSequencer):
    """Restriction: no other step happens while a process can deliver, or pass a check as token holder."""

    def can_deliver(self, p: Process) -> bool:
        """Return True if p can deliver a message (line 35)."""
        return any(self.may_deliver(p, m) for m in self.each(Message))

    def can_check(self, p: Process) -> bool:
        """Return True if p holds the token, and p's check for missing numbers or messages lets p go on."""
        return self.holder == p and (
            self.stage is Stage.numbers
            or (self.stage is Stage.waiting_numbers and not self.misses_number(p))
            or (self.stage is Stage.bodies and not any(self.is_missing(p, m) for m in self.each(Message)))
        )

    @constraint(
        "broadcast", "receive_token", "request_numbers", "request_body", "sequence", "pass_idle",
        "receive_sent", "receive_data", "receive_notice", "receive_request", "receive_request_numbers",
    )  # fmt: skip
    def nobody_can_go_on(self) -> bool:
        """Bound: no process can deliver, and no token holder can go on after a check."""
        return not any(self.can_deliver(q) or self.can_check(q) for q in self.each(Process))

    @constraint("deliver", "check_numbers", "have_bodies")
    def is_first(self, p: Process) -> bool:
        """Return True if no process before p can deliver, or go on as token holder after a check."""
        return not any(self.can_deliver(q) or self.can_check(q) for q in self.each(Process) if q < p)

    @constraint("check_numbers", "have_bodies")
    def has_delivered(self, p: Process) -> bool:
        """Bound: p tests for missing messages only after it has delivered everything that it can."""
        return not self.can_deliver(p)


@restriction(
    "what is sent reliably is received before anything else happens, so that a number never comes before its "
    "message, and what goes wrong then is not seen"
)
class Prompt(MovingSequencer):
    """Restriction: no other step happens while reliable messages are on their way."""

    @constraint(
        "broadcast", "receive_token", "check_numbers", "request_numbers", "request_body", "have_bodies",
        "sequence", "pass_idle", "receive_data", "receive_notice", "receive_request",
        "receive_request_numbers", "deliver",
    )  # fmt: skip
    def all_received(self) -> bool:
        """Bound: all reliable messages have arrived."""
        return len(self.sent) == 0


class MovingSequencerBounded(
    MovingSequencer, repairs=REPAIRS, readings=READINGS, restrictions=(Urgent, Prompt)
):
    """Figure 12 with as many numbers as the bounds allow, and with the variants to choose from."""

    @constraint("sequence")
    def has_number(self) -> bool:
        """Return True if the bound allows another number; it allows one for each message, and `spare`
        more.
        """
        return self.token_number < self.messages + self.spare
