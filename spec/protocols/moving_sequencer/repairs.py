"""The repairs of figure 12: each changes one line, and says which claim it answers."""

from __future__ import annotations

from antiphon.spec.lang import action, initial, repair, require
from antiphon.spec.protocols.moving_sequencer.figure12 import MovingSequencer, Number, RequestNumbers, Stage
from antiphon.spec.services import Message, Process


@repair("line 7: no event gives the token to the first process; it starts at p0", answers="RBC-08")
class StartToken(MovingSequencer):
    """Line 7: "Upon reception of token from s-1 mod n", and lines 5-6 give it to nobody."""

    @initial
    def start(self) -> None:
        """The token is on its way to the first process."""
        self.token_to = Process(0)


@repair(
    "lines 8 and 11: nextdeliver is the next number, so a missed number shows as token.seqnum >= nextdeliver",
    answers="MSQ-02",
)
class WaitForMissingNumber(MovingSequencer):
    """Lines 8 and 11: "if token.seqnum > netxdeliver"."""

    def misses_number(self, p: Process) -> bool:
        """The last number that was given, too, is one that p waits for."""
        return self.token_number >= self.next_deliver[p]


@repair("line 33': the last number asked for is answered too", answers="MSQ-03")
class AnswerLast(MovingSequencer):
    """Line 33': "s.t. first <= seqnum < last"."""

    def is_asked_for(self, number: Number, packet: RequestNumbers) -> bool:
        """First and last included."""
        return packet.first <= number and number <= packet.last


@repair("line 35: delivery waits for the message itself", answers="MSQ-05")
class AwaitBody(MovingSequencer):
    """Line 35: "there is (m'; seqnum') in seqQ_p s.t. seqnum' = nextdeliver_p", and nothing of rcvQ_p."""

    def may_deliver(self, p: Process, m: Message) -> bool:
        """M is there."""
        return super().may_deliver(p, m) and m in self.received[p]


@repair(
    "line 17: a holder with nothing to sequence passes the token, so that whoever missed the last number "
    "finds out",
    answers="MSQ-09",
)
class PassIdleToken(MovingSequencer):
    """Line 17: "pick the first m' in rcvQ_s", for which the holder waits."""

    @action(fairness="weak")
    def pass_idle(self, p: Process) -> None:
        """Pass the token with nothing to sequence: line 20 without lines 17-19."""
        require(self.holder == p and self.stage is Stage.sequencing)
        require(not any(self.may_sequence(p, m) for m in self.received[p]))
        self.pass_token(p)


REPAIRS = (StartToken, WaitForMissingNumber, AnswerLast, AwaitBody, PassIdleToken)
