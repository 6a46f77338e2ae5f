"""Repairs of figure 12: each changes one line, and names the claim that demands it."""

from __future__ import annotations

from antiphon.spec.lang import action, initial, repair, require
from antiphon.spec.protocols.moving_sequencer.figure12 import MovingSequencer, Number, RequestNumbers, Stage
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(MovingSequencer):
    """Repair of the moving sequencer, line 7. Printed: "Upon reception of token from s-1 mod n", and nothing
    gives anybody the first token. Repaired: the token starts at p0.
    """

    @initial
    def start(self) -> None:
        """Put the token on its way to the first process."""
        self.token_to = Process(0)


@repair(
    "lines 8 and 11: nextdeliver is the next number, so a missed number shows as token.seqnum >= nextdeliver",
    answers="MSQ-02",
)
class WaitForMissingNumber(MovingSequencer):
    """Repair of the moving sequencer, lines 8 and 11. Printed: "if token.seqnum > netxdeliver", which
    overlooks the last missing number. Repaired: the comparison is `>=`.
    """

    def misses_number(self, p: Process) -> bool:
        """Return True if p misses a number up to the last one given."""
        return self.token_number >= self.next_deliver[p]


@repair("line 33': the last number asked for is answered too", answers="MSQ-03")
class AnswerLast(MovingSequencer):
    """Repair of the moving sequencer, line 33'. Printed: "s.t. first <= seqnum < last", which leaves the last
    number unanswered. Repaired: the last number is answered too.
    """

    def is_asked_for(self, number: Number, packet: RequestNumbers) -> bool:
        """Return True for numbers from first to last, both included."""
        return packet.first <= number and number <= packet.last


@repair("line 35: delivery waits for the message itself", answers="MSQ-05")
class AwaitBody(MovingSequencer):
    """Repair of the moving sequencer, line 35. Printed: "there is (m'; seqnum') in seqQ_p s.t. seqnum' =
    nextdeliver_p", whether or not rcvQ_p has the message. Repaired: delivery waits for the message itself.
    """

    def may_deliver(self, p: Process, m: Message) -> bool:
        """Return True if seqQ_p has m with the next number, and rcvQ_p has m."""
        return super().may_deliver(p, m) and m in self.received[p]


@repair(
    "line 17: a holder with nothing to sequence passes the token, so that whoever missed the last number "
    "finds out",
    answers="MSQ-09",
)
class PassIdleToken(MovingSequencer):
    """Repair of the moving sequencer, line 17. Printed: "pick the first m' in rcvQ_s", for which an idle
    holder waits. Repaired: a holder with nothing to sequence passes the token, so that others notice a missed
    number.
    """

    @action(fairness="weak")
    def pass_idle(self, p: Process) -> None:
        """Pass the token with nothing to sequence: line 20 without lines 17-19."""
        require(self.holder == p and self.stage is Stage.sequencing)
        require(not any(self.may_sequence(p, m) for m in self.received[p]))
        self.pass_token(p)


REPAIRS = (StartToken, WaitForMissingNumber, AnswerLast, AwaitBody, PassIdleToken)
