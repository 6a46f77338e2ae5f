"""Readings of three lines of figure 12, beside the text of `figure12`."""

from __future__ import annotations

from antiphon.spec.lang import ambiguity
from antiphon.spec.protocols.moving_sequencer.figure12 import Data, MovingSequencer, Sequenced
from antiphon.spec.services import Message, Process

already_sequenced = ambiguity(
    "already_sequenced",
    "own seqQ",
    about="line 17 excludes `token.sequenced`, which is no field of the token: the holder's seqQ is meant, "
    "or nothing",
)


@already_sequenced.reading("nothing")
class AlreadySequencedNothing(MovingSequencer):
    """Reading of the moving sequencer, line 17: `token.sequenced` excludes nothing, so a message that has a
    number may get another.
    """

    def may_sequence(self, p: Process, m: Message) -> bool:
        """Return True for any message that p has received."""
        return m in self.received[p]


recording = ambiguity(
    "recording",
    "always",
    about="whether line 31 stands outside the `if` of line 29, as the text says, or inside, as it is aligned",
)


@recording.reading("when missing")
class RecordingWhenMissing(MovingSequencer):
    """Reading of the moving sequencer: line 31 belongs to the `if` of line 29, so a number is recorded only
    if its message is missing.
    """

    def record_number(self, p: Process, item: Sequenced) -> None:
        """Record the number only if its message is missing."""
        if item.message not in self.received[p]:
            super().record_number(p, item)


sending = ambiguity(
    "sending",
    "SEND",
    about="line 3 prints SEND, which is reliable, and section 3.1.3 speaks of `the SEND primitive for the "
    "sender`; section 3.1.2 says of line 3 that p `will send the message m to all processes`, and `send` is "
    "not",
)


@sending.reading("send")
class SendingUnreliable(MovingSequencer):
    """Reading of the moving sequencer, line 3: `send (m) to all` is unreliable, so copies may be lost."""

    def send_to_all(self, p: Process, m: Message) -> None:
        """Send copies over the network, which may lose them."""
        self.network |= {Data(q, m) for q in self.each(Process) if q != p}


READINGS = (already_sequenced, recording, sending)
