"""Bounds of an exploration of figure 25: how many names, numbers and timer rounds there are, and which runs
are left out.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Const, budget, constraint, restriction
from antiphon.spec.protocols.rbp_resilient.faults import RbpFaults
from antiphon.spec.protocols.rbp_resilient.figure25 import Ack, Body, Data, Sequenced
from antiphon.spec.protocols.rbp_resilient.readings import READINGS
from antiphon.spec.protocols.rbp_resilient.repairs import REPAIRS, Collecting
from antiphon.spec.protocols.rbp_resilient.resilience import WithResilience
from antiphon.spec.services import Message, Process


class RbpFinite(WithResilience, RbpFaults, Collecting):
    """Figure 25 with finitely many names, numbers and, unless `unlimited`, timer rounds.

    Without `passive` no process detects inactivity. With `brief` NULL is passed only while some live process
    has not removed a message that was broadcast.
    """

    processes = 2
    messages = 1
    timeouts: Const[int] = 0
    unlimited: Const[bool] = False
    passive: Const[bool] = True
    brief: Const[bool] = True
    expired: Annotated[int, Between(0, "timeouts")] = 0

    def limit(self) -> int:
        """Return the highest number of the exploration."""
        return self.messages + 1 + self.passes

    @constraint("resend")
    def has_name_left(self, p: Process) -> bool:
        """Return True if a message may get another name: at most `spare` times."""
        own = self.pending[p]
        return own is None or self.name_of_next_round(own) <= self.spare

    @constraint("resend")
    def message_gets_somewhere(self, p: Process) -> bool:
        """Bound: p repeats its message only if some other process receives the repetition."""
        own = self.pending[p]
        return own is None or (
            self.installed[p] and any(q != p and self.gets_message(q, own) for q in self.each(Process))
        )

    @constraint("resend_token")
    def token_gets_somewhere(self, p: Process) -> bool:
        """Bound: p repeats the token only if some other process receives the repetition."""
        sent = self.passed[p]
        return sent is None or any(q != p and self.gets_ack(q, p, sent) for q in self.each(Process))

    @constraint("resend_token")
    def sends_known_number(self, p: Process) -> bool:
        """Bound: the number that another round of the loop would send is within the bound."""
        sent = self.passed[p]
        return sent is None or self.number_of_next_round(p, sent) <= self.limit()

    @constraint("sequence", "pass_null")
    def has_number_left(self, p: Process) -> bool:
        """Return True if the number after ts_p is within the bound."""
        return budget(self.last_number[p] < self.limit())

    @constraint("resend", "resend_token")
    def may_expire(self) -> bool:
        """Return True if the bound allows one more timeout of a loop that repeats."""
        return budget(self.unlimited or self.expired < self.timeouts)

    @constraint("pass_null")
    def is_wanted(self) -> bool:
        """Return True if the token must be passed on: some live process has not removed a message that was
        broadcast. Without `brief` the token must always be passed on.
        """
        return not self.brief or any(
            m.index < self.broadcasts
            and not self.down[q]
            and not any(body.message == m for body in self.collected[q])
            for m in self.each(Message)
            for q in self.each(Process)
        )

    @constraint("detect_inactivity")
    def is_passive(self) -> bool:
        """Return True if processes detect inactivity (the constant `passive`)."""
        return self.passive

    def resend(self, p: Process) -> None:
        super().resend(p)
        self.expire()

    def resend_token(self, p: Process) -> None:
        super().resend_token(p)
        self.expire()

    def expire(self) -> None:
        """Count one timeout of a loop that repeats, unless timeouts are `unlimited`."""
        if not self.unlimited:
            self.expired += 1


@restriction("what a process can do alone it does before anything else happens, the first one first")
class Urgent(RbpFinite):
    """Restriction: a process accepts, sequences, makes stable and delivers all that it can before any other
    step, since these steps read and write its own state only.
    """

    def goes_on(self, p: Process) -> bool:
        """Return True if p can accept the token, sequence a message, make one stable, or deliver one."""
        return self.is_active(p) and (
            self.can_accept(p)
            or (self.can_sequence(p) and self.has_number_left(p))
            or any(self.can_settle(p, item) for item in self.numbered[p])
            or any(self.can_deliver(p, item) for item in self.stable[p] | self.numbered[p])
        )

    @constraint(
        "broadcast", "resend", "receive_data", "receive_ack", "receive_numbered", "obtain_number",
        "obtain_body", "install",
        "pass_null", "resend_token", "detect_sequencer", "detect_successor", "detect_inactivity",
        "suspect_sequencer",
        "suspect_successor", "crash", "stray",
    )  # fmt: skip
    def nobody_goes_on(self) -> bool:
        """Bound: no process can accept the token, sequence a message, make one stable, or deliver one."""
        return not any(self.goes_on(q) for q in self.each(Process))

    @constraint("accept", "sequence", "settle", "deliver")
    def is_first(self, p: Process) -> bool:
        """Bound: no process before p can accept the token, sequence a message, make one stable, or deliver
        one.
        """
        return not any(self.goes_on(q) for q in self.each(Process) if q < p)

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


@restriction("what is in flight arrives before it is asked for or sent again")
class Patient(RbpFinite):
    """Restriction: nothing is sent again to a process that has it, or will get it."""

    def gets_message(self, q: Process, body: Body) -> bool:
        missing = (
            body not in self.received[q]
            and not self.is_numbered(q, body)
            and Data(q, body) not in self.network
        )
        return super().gets_message(q, body) and missing

    def gets_ack(self, q: Process, p: Process, item: Sequenced) -> bool:
        waits = self.successor(p) == q and self.arriving[q] is None and not self.was_accepted(q, item.number)
        missing = (not self.knows(q, item.number) or waits) and Ack(
            q, p, item.body, item.number
        ) not in self.network
        is_first_round = self.passed[p] != item
        return super().gets_ack(q, p, item) and (is_first_round or missing)

    @constraint("obtain_number")
    def no_number_comes(self, p: Process, item: Sequenced) -> bool:
        """Bound: no ACK with this number is on its way to p."""
        return not any(Ack(p, q, item.body, item.number) in self.network for q in self.each(Process))

    @constraint("obtain_body")
    def no_body_comes(self, p: Process, body: Body) -> bool:
        """Bound: the message is not on its way to p."""
        return Data(p, body) not in self.network


class RbpResilientBounded(
    RbpFinite, repairs=REPAIRS, readings=READINGS, restrictions=(Urgent, Assigned, Patient)
):
    """Figure 25 within bounds, with its repairs and readings."""
