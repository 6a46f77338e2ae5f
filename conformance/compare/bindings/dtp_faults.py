"""Planted faults in the implementation of DTP, each a core with one plausible mistake.

`antiphon lockstep dtp --fault NAME` shows the shortest trace to where it differs from the specification. Half
of the faults follow the printed paper: a core written from it alone would have them.
"""

from __future__ import annotations

from antiphon.impl.protocols.dtp import Core, Timer
from antiphon.impl.protocols.dtp.messages import Ack, AskMessage, AskNumber, Message, Msg, Null, Pass


class TakesOldTokens(Core):
    """Planted fault in DTP (Receiving ACK), as printed: every copy of a pass that names this process gives
    the token. Correct code takes only a new pass.
    """

    def _take(self, message: Pass) -> None:
        """Take the token for every copy of a pass that names this process."""
        latest = self._latest
        super()._take(message)
        if message.next_holder == self.me and latest is not None and message.number >= latest.number:
            self._latest = message


class ForgetsEarlyAcks(Core):
    """Planted fault in DTP (Receiving ACK), as printed: an ACK that comes early is dropped. Correct code
    keeps it.
    """

    def _keep(self, ack: Ack) -> None:
        """Keep an ACK only if its gsn is the next one."""
        if ack.number <= self._status[self.me] + 1:
            super()._keep(ack)


class ForgetsEarlyMessages(Core):
    """Planted fault in DTP (Receiving MSG): a MSG that comes early is dropped. Correct code keeps it."""

    def _put(self, message: Msg) -> None:
        """Keep a MSG only if it is the next one of its source."""
        if message.identifier.id == self._expected[message.identifier.source]:
            super()._put(message)


class AcknowledgesAgain(Core):
    """Planted fault in DTP (Receiving MSG), as printed: the holder acknowledges a MSG again although it has
    its ACK. Correct code does not.
    """

    def _receive_msg(self, sender: int, message: Msg) -> None:
        """Receive a MSG; as the holder, forget the number that its update has."""
        super()._receive_msg(sender, message)
        if self.holding:
            self._acks.pop(self._number_of.pop(message.identifier, 0), None)


class AdvancesWithoutBody(Core):
    """Planted fault in DTP (Receiving ACK), as printed: R becomes g although the update has not come. Correct
    code waits for the update.
    """

    def _finish(self) -> None:
        """Count the next ACK as obtained, although its update has not arrived."""
        super()._finish()
        if self._status[self.me] + 1 in self._acks:
            self._status[self.me] += 1


class BelievesTheLast(Core):
    """Planted fault in DTP (Receiving MSG), as printed: R_i[j] becomes h although it was more. Correct code
    never lowers it.
    """

    def _hear(self, process: int, status: int) -> None:
        """Set the status of a process to the received one, even if that is lower."""
        self._status[process] = status


class KeepsStable(Core):
    """Planted fault in DTP (Removing stable messages), as printed: nothing is removed without news of
    another's status. Correct code removes stable messages whenever R changes.
    """

    _news = False

    def _hear(self, process: int, status: int) -> None:
        """Note whether the received status of a process is new."""
        self._news = self._news or status > self._status[process]
        super()._hear(process, status)

    def _finish(self) -> None:
        """Finish a procedure, and put the removed messages back if no new status was received."""
        acks, buffer, numbers = dict(self._acks), dict(self._buffer), dict(self._number_of)
        super()._finish()
        if not self._news:
            self._acks, self._buffer, self._number_of = acks, buffer, numbers
        self._news = False


class IgnoresTold(Core):
    """Planted fault in DTP (section 4.2), as printed: an ACK does not carry what its sender knows of the
    others. Correct code carries R.
    """

    def _take(self, message: Pass) -> None:
        """Use from an ACK the status of its sender alone, not what it says about other processes."""
        known = list(self._status)
        super()._take(message)
        self._status = known
        self._hear(message.sequencer, message.number)


class AnswersNobody(Core):
    """Planted fault in DTP (Receiving REQ), as printed: a process that passed the token with a NULL answers
    no request. Correct code answers the process that it named.
    """

    def _receive_request(self, sender: int, message: AskMessage | AskNumber) -> None:
        """Answer a request only if this process passed the token with an ACK."""
        if not isinstance(self.passed, Null):
            super()._receive_request(sender, message)


class AnswersEverybody(Core):
    """Planted fault in DTP (Receiving REQ), forgotten guard: every process that has the item answers a
    request. Correct code lets only the holder answer, and the process that passed the token to the requester.
    """

    def _receive_request(self, sender: int, message: AskMessage | AskNumber) -> None:
        """Answer a request for anything that is in BUF."""
        found: Message | None
        if isinstance(message, AskMessage):
            found = self._buffer.get(message.identifier)
        else:
            found = self._acks.get(message.number)
        if found is not None:
            self._to(sender, found)
        self._hear(sender, message.status)
        self._finish()


class ActsUnrecovered(Core):
    """Planted fault in DTP (Update arrival), forgotten guard: the holder acknowledges before it has recovered
    lost messages. Correct code recovers first.
    """

    @property
    def _is_recovered(self) -> bool:
        """Return True, as if the holder had recovered all lost messages."""
        return self.holding or Core._is_recovered.fget(self)  # type: ignore[attr-defined]


class PassesOn(Core):
    """Planted fault in DTP (Update arrival), wrong choice: the token goes to the next process in the ring.
    Correct code names the least active process.
    """

    def _least_active(self) -> int:
        """Return the next process of the ring, whichever is least active."""
        return (self.me + 1) % self.members


class TakesTheNewest(Core):
    """Planted fault in DTP (Receiving ACK), wrong choice: the holder acknowledges the newest MSG in BUF.
    Correct code takes the oldest.
    """

    def acknowledge(self, now: float) -> bool:
        """Acknowledge from a reversed buffer."""
        self._buffer = dict(reversed(self._buffer.items()))
        done = super().acknowledge(now)
        self._buffer = dict(reversed(self._buffer.items()))
        return done


class ForgetsResentMessage(Core):
    """Planted fault in DTP (Timeout), lost retransmission: the timer of a MSG sends nothing. Correct code
    multicasts the MSG again.
    """

    def _resend_message(self) -> bool:
        """Let the timer of a MSG expire without sending the MSG."""
        return self.busy


class ForgetsSilence(Core):
    """Planted fault in DTP (Timeout), forgotten timer: an idle holder never passes the token. Correct code
    passes it by a NULL.
    """

    def _watch(self) -> None:
        """Start no timer for an idle holder."""
        super()._watch()
        self._deadlines.stop(Timer.PASS_NULL)


class AsksOnce(Core):
    """Planted fault in DTP (Receiving ACK), off by one: of several lost items the last is not requested.
    Correct code requests all.
    """

    def _ask(self) -> None:
        """Request all lost items except the last."""
        before = len(self._outputs)
        super()._ask()
        if len(self._outputs) - before > len(self._others):
            del self._outputs[-len(self._others) :]


class CountsItselfOut(Core):
    """Planted fault in DTP (Adjusting degree of fault tolerance), off by one: F others are counted without
    this process. Correct code counts F + 1 processes, itself included.
    """

    def _is_resilient(self, number: int) -> bool:
        """Return True only if F + 1 other processes have the update: one process too many."""
        return sum(1 for status in self._status if status >= number) > self.resilience + 1


FAULTS: dict[str, type[Core]] = {
    "takes-old-tokens": TakesOldTokens,
    "forgets-early-acks": ForgetsEarlyAcks,
    "forgets-early-messages": ForgetsEarlyMessages,
    "acknowledges-again": AcknowledgesAgain,
    "advances-without-body": AdvancesWithoutBody,
    "believes-the-last": BelievesTheLast,
    "keeps-stable": KeepsStable,
    "ignores-told": IgnoresTold,
    "answers-nobody": AnswersNobody,
    "answers-everybody": AnswersEverybody,
    "acts-unrecovered": ActsUnrecovered,
    "passes-on": PassesOn,
    "takes-the-newest": TakesTheNewest,
    "forgets-resent-message": ForgetsResentMessage,
    "forgets-silence": ForgetsSilence,
    "asks-once": AsksOnce,
    "counts-itself-out": CountsItselfOut,
}
