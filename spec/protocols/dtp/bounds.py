"""Bounds of DTP's exploration: the numbers of timeouts and gsns, the senders, and omitted steps.

Constants: `spare` is how many numbers may be assigned in excess of messages; `timeouts` is how often timers
expire (without limit if `unlimited`, which obligations need); with `nulls` 0 no silence is long enough for a
NULL; update k comes from process k mod `senders`, or from any process if `senders` is 0.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, action, budget, constraint, restriction
from antiphon.spec.protocols.dtp.readings import READINGS
from antiphon.spec.protocols.dtp.repairs import REPAIRS
from antiphon.spec.protocols.dtp.section4 import Dtp
from antiphon.spec.services import Message, Process


class DtpCounted(Dtp):
    """DTP with as many timeouts, silences and numbers as the constants say."""

    timeouts: Const[int] = 1
    unlimited: Const[bool] = False
    senders: Const[int] = 0

    expired: Annotated[int, Between(0, "timeouts")] = 0

    def may_acknowledge(self, p: Process) -> bool:
        """Return True if p may acknowledge and a number is left."""
        return self.status[p][p] < self.messages + self.spare and super().may_acknowledge(p)

    @constraint("broadcast")
    def is_sender(self, p: Process, m: Message) -> bool:
        """Bound: update k comes from process k mod `senders`."""
        return self.senders == 0 or p.index == m.index % self.senders

    @constraint("pass_null")
    def has_silences(self) -> bool:
        """Return True if the bounds allow a silence that is long enough for a NULL."""
        return self.nulls > 0

    @constraint("resend_message", "resend_pass", "repeat_request")
    def may_expire(self) -> bool:
        """Return True if the bound allows another timeout."""
        return budget(self.unlimited or self.expired < self.timeouts)

    @action(fairness="weak", per="p")
    def resend_message(self, p: Process, m: Message) -> None:
        """Resend p's MSG as the paper has it, and count the timeout."""
        super().resend_message(p, m)
        self.expire()

    @action(fairness="weak", per="p")
    def resend_pass(self, p: Process) -> None:
        """Resend p's ACK that passes the token, as the paper has it, and count the timeout."""
        super().resend_pass(p)
        self.expire()

    @action(fairness="weak", per="p")
    def repeat_request(self, p: Process) -> None:
        """Repeat p's REQ as the paper has it, and count the timeout."""
        super().repeat_request(p)
        self.expire()

    def expire(self) -> None:
        """Count a timeout, if timeouts are limited."""
        if not self.unlimited:
            self.expired += 1


@restriction("timers expire only after losses, once for each")
class Patient(DtpCounted):
    """Restriction: a message that was not lost arrives before its timer expires."""

    @constraint("resend_message", "resend_pass", "repeat_request")
    def has_lost(self) -> bool:
        """Return True if more packets were lost than timers have expired."""
        return self.expired < self.lost


@restriction("everything in flight arrives before anything else is sent")
class Instant(DtpCounted):
    """Restriction: every message arrives before any other message is sent."""

    @constraint("broadcast", "pass_null", "resend_message", "resend_pass", "repeat_request")
    def is_quiet(self) -> bool:
        """Bound: no message is in flight."""
        return len(self.network) == 0

    def may_acknowledge(self, p: Process) -> bool:
        """Return True if p may acknowledge and no message is in flight."""
        return len(self.network) == 0 and super().may_acknowledge(p)


class DtpBounded(DtpCounted, repairs=REPAIRS, readings=READINGS, restrictions=(Patient, Instant)):
    """DTP within bounds, with its readings and its repairs."""
