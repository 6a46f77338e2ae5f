"""What does a process of DTP know, and what can it tell from that? The variables of section 4.1, the readings and the repairs.

Source: J. Kim and C. Kim, "A total ordering protocol using a dynamic token-passing scheme", Distributed Systems Engineering 4, 1997, sections
4.1 and 4.2. What the variables are called, and what the bounds of an exploration mean, stands at the head of `dtp`, which has the steps.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment import Losses
from antiphon.spec.lang import Between, Const, Map, Reading, Repair, Set, budget, everywhere, initial, reading, repair
from antiphon.spec.protocols.dtp_packets import Acknowledged, Nulls, Number, Packet, Pass, Status, Turn
from antiphon.spec.services import Group, Message, Process


class DtpState(Losses[Packet], Group):
    """The variables of section 4.1, and what a process can tell from them."""

    spare: Const[int] = 0
    nulls: Const[int] = 0
    timeouts: Const[int] = 1
    unlimited: Const[bool] = False
    patient: Const[bool] = False
    senders: Const[int] = 0
    instant: Const[bool] = False
    resilience: Const[int] = 0

    tie: Reading = reading("any", "lowest", about="which m is selected when several have R_i[m] = min: any of them, or the lowest ID")
    transfer: Reading = reading(
        "named",
        "heard",
        about="what ends TRST beside a higher gsn: an ACK that names the waiting process (Receiving ACK message: `i = m`), or one from the "
        "process that it named (Timeout: `x = m`)",
    )
    resending: Reading = reading(
        "same", "buffered", about="where the ACK that is multicast again at every timeout is kept: apart, or in BUF, which holds no ACK of NULL"
    )
    notified: Reading = reading(
        "obtained",
        "delivered",
        about="what hgsn_i is when delivery is deferred: the gsn up to which everything was obtained (section 4.2), or the gsn of the message that "
        "was delivered most recently (section 3)",
    )
    counted: Reading = reading(
        "processes", "values", about="what |{R_i[k] | R_i[k] >= g}| counts: the processes k, or, as a set of values is printed, different values"
    )

    number_passes: Repair = repair("every pass of the token has a number; only a pass with a new number gives the token", answers="DTP-01")
    keep_early_ack: Repair = repair("an ACK with g > R_i[i] + 1 is kept like the next one, and is not assigned again", answers="DTP-03")
    acknowledge_new: Repair = repair("a MSG that comes to the holder is acknowledged only if it has no ACK in BUF", answers="DTP-04")
    advance_on_delivery: Repair = repair("R_i[i] becomes g when U with gsn g has been obtained, not when its ACK comes", answers="DTP-05")
    reset_own: Repair = repair("whoever acknowledges a buffered MSG of its own resets S.ACK_i as well", answers="DTP-09")
    monotone_status: Repair = repair("a MSG never lowers R_i[j]", answers="DTP-10")
    collect_always: Repair = repair("stable messages are removed whenever R_i changes, not only when h > R_i[j]", answers="DTP-11")
    pass_to_another: Repair = repair("nobody names itself", answers="DTP-12")
    end_by_number: Repair = repair("TRST ends with an ACK of a later pass, and with no other", answers="DTP-13", builds_on=("number_passes",))
    answer_named: Repair = repair("in TRST, a REQ of the process that was named last is answered, also if it was named with NULL", answers="DTP-14")
    carry_status: Repair = repair("an ACK carries R_t of its sender, so that those who know the ACK know what its sender knew", answers="DTP-23")

    holding: Map[Process, bool] = everywhere(False)
    passed: Map[Process, Pass | None] = everywhere(None)
    awaiting: Map[Process, bool] = everywhere(False)
    expected: Map[Process, Map[Process, Annotated[int, Between(1, "messages + 1")]]] = everywhere(everywhere(1))
    status: Map[Process, Map[Process, Status]] = everywhere(everywhere(0))
    buffer: Map[Process, Set[Message]] = everywhere(Set())
    acks: Map[Process, Map[Number, Acknowledged | None]] = everywhere(everywhere(None))
    sought: Map[Process, Status] = everywhere(0)
    handed: Map[Process, Set[Number]] = everywhere(Set())
    turn: Map[Process, Turn] = everywhere(0)
    source: Map[Message, Process | None] = everywhere(None)
    lsn: Map[Message, Annotated[int, Between(0, "messages")]] = everywhere(0)
    stamp: Map[Message, Status] = everywhere(0)
    told: Map[Number, Map[Process, Status]] = everywhere(everywhere(0))
    arrived: Message | None = None
    broadcasts: Annotated[int, Between(0, "messages")] = 0
    expired: Annotated[int, Between(0, "timeouts")] = 0

    @initial
    def start(self) -> None:
        """Section 4.1: S.Token_1 is HOLD; N is 1 and R is 0 everywhere."""
        self.holding[Process(0)] = True

    # What a process can tell -------------------------------------------------------------------------------------------------------------

    def has_ack(self, p: Process, k: Number, m: Message) -> bool:
        """ACK(_, U_id, k, _) is in BUF_p."""
        item = self.acks[p][k]
        return item is not None and item.message == m

    def is_acknowledged(self, p: Process, m: Message) -> bool:
        """BUF_p holds an ACK for m."""
        return any(self.has_ack(p, k, m) for k in self.each(Number))

    def misses_number(self, p: Process, k: Number) -> bool:
        """P knows that it lost the ACK with gsn k."""
        return self.status[p][p] < k and k <= self.sought[p] and self.acks[p][k] is None

    def misses_message(self, p: Process, k: Number) -> bool:
        """P has the ACK with gsn k and not the update."""
        item = self.acks[p][k]
        return item is not None and item.message not in self.buffer[p] and k not in self.handed[p]

    def is_recovered(self, p: Process) -> bool:
        """P knows of nothing that it lost."""
        return not any(self.misses_number(p, k) or self.misses_message(p, k) for k in self.each(Number))

    def is_new(self, p: Process, m: Message) -> bool:
        """BUF_p holds m, and no ACK for it; as printed, also the MSG whose arrival is being handled."""
        return (self.arrived == m and not self.acknowledge_new) or (m in self.buffer[p] and not self.is_acknowledged(p, m))

    def may_acknowledge(self, p: Process) -> bool:
        """P holds the token, has recovered what it lost, and has a new MSG."""
        return (
            self.holding[p]
            and (not self.instant or len(self.network) == 0)
            and self.status[p][p] < self.messages + self.spare
            and self.is_recovered(p)
            and any(self.is_new(p, m) for m in self.each(Message))
        )

    def is_idle(self) -> bool:
        """No procedure is unfinished: nobody can acknowledge."""
        return not any(self.may_acknowledge(p) for p in self.each(Process))

    def known(self, p: Process, k: Process, own: Status) -> Status:
        """R_p[k], where R_p[p] is `own`."""
        return own if k == p else self.status[p][k]

    def is_candidate(self, p: Process, m: Process, own: Status) -> bool:
        """R_p[m] = min({R_p[k] | 1 <= k <= n})."""
        return (m != p or not self.pass_to_another) and all(
            self.known(p, m, own) <= self.known(p, k, own) for k in self.each(Process) if k != p or not self.pass_to_another
        )

    def may_name(self, p: Process, m: Process, own: Status) -> bool:
        """M is the next token holder that p selects."""
        return self.is_candidate(p, m, own) and (self.tie == "any" or not any(self.is_candidate(p, k, own) for k in self.each(Process) if k < m))

    def turn_of(self, number: Status, nulls: Nulls) -> int:
        """The number of a pass: of the first after gsn `number`, plus the NULLs since."""
        return number * (self.nulls + 1) + nulls

    def is_resilient(self, p: Process, k: Number) -> bool:
        """Adjusting degree of fault tolerance: |{R_p[j] | R_p[j] >= k}| >= F + 1."""
        if self.counted == "values":
            return sum(1 for v in self.each(Number) if v >= k and any(self.status[p][j] == v for j in self.each(Process))) > self.resilience
        return sum(1 for j in self.each(Process) if self.status[p][j] >= k) > self.resilience

    def may_expire(self) -> bool:
        """Whether the bound of the exploration allows another timeout."""
        return (
            self.is_idle()
            and budget(self.unlimited or self.expired < self.timeouts)
            and (not self.patient or self.expired < self.lost)
            and (not self.instant or len(self.network) == 0)
        )
