"""Readings of the open sentences of TOTAL, besides the text of `design`.

Source: Cornell, "JavaGroups TOTAL".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import In, Map, action, ambiguity, environment, everywhere, require
from antiphon.spec.protocols.total.design import Total
from antiphon.spec.protocols.total.headers import Bcast, CumAck, First, Next, Number, Packet
from antiphon.spec.services import Message, Process

reset = ambiguity(
    "reset",
    "the queue too",
    about='what "resetting the state of the TOTAL layer" at TOTAL_NEW_VIEW resets: next expected id and '
    "queue, or the next expected id alone, since the queue is cleared at VIEW_CHANGE",
)


@reset.reading("the next id")
class ResetNextId(Total):
    """Reading of TOTAL: TOTAL_NEW_VIEW resets the next expected id, and leaves the queue alone."""

    def reset_state(self, p: Process, first: First) -> None:
        """Set the next expected id to the first of the view."""
        self.next_expected[p] = first


announcing = ambiguity(
    "announcing",
    "every sequencer",
    about='whether "the new sequencer" that broadcasts TOTAL_NEW_VIEW "whenever there is a view change" is '
    "the sequencer of the new view, or only one that was not the sequencer of the old; the other goes on "
    "with its next id",
)


@announcing.reading("who was none before")
class AnnouncingNewcomer(Total):
    """Reading of TOTAL: only a sequencer that was not sequencer before announces the first id."""

    def is_new_sequencer(self, p: Process) -> bool:
        """Return True if p becomes sequencer and was not before."""
        return super().is_new_sequencer(p) and not self.is_sequencer(p)


clearing = ambiguity(
    "clearing",
    "at the view change",
    about='whether "the members clear this queue when they observe a VIEW_CHANGE event"; `never` shows what '
    "for",
)


@clearing.reading("never")
class ClearingNever(Total):
    """Reading of TOTAL: the queue is not cleared at a view change."""

    def clear(self, p: Process) -> None:
        """Do nothing: the queue is kept."""


early = ambiguity(
    "early",
    "kept",
    about='how the layer below sees to it that "messages sent in one view may only be received in that '
    'view": what reaches a member before the view change does is kept until then, or thrown away',
)


@early.reading("dropped")
class EarlyDropped(Total):
    """Reading of TOTAL: a message that arrives before the view change may be thrown away."""

    @environment
    def drop_early(self, packet: Annotated[Packet, In("network")]) -> None:
        """Drop a message in the layer below, since its receiver may not receive it yet."""
        require(self.is_early(packet.to, packet.view))
        self.network -= {packet}


keeping = ambiguity(
    "keeping",
    "the view",
    about="how long the sequencer keeps what it has sent: until the view changes, only the last message, or "
    "until TOTAL_CUM_SEQ_ACK of all members has come, sent for each TOTAL_BCAST",
)


@keeping.reading("the last")
class KeepingTheLast(Total):
    """Reading of TOTAL: the sequencer keeps only its last message for retransmission."""

    def keep(self, p: Process, number: Number, m: Message) -> None:
        """Keep m for retransmission, in place of the message numbered before it."""
        self.sent[p] = everywhere(None)
        super().keep(p, number, m)


class CumulativeAcks(Total):
    """Reading of TOTAL: members send TOTAL_CUM_SEQ_ACK. `acknowledged[p][q]` is the id up to which q has told
    p that q has all messages.
    """

    acknowledged: Map[Process, Map[Process, Next]] = everywhere(everywhere(0))

    def acknowledges(self) -> bool:
        """Return True if members send TOTAL_CUM_SEQ_ACK."""
        return False

    @action(fairness="weak")
    def receive_bcast(self, packet: Annotated[Bcast, In("network")]) -> None:
        """Receive TOTAL_BCAST, and acknowledge to the sequencer everything up to the next expected id."""
        super().receive_bcast(packet)
        self.acknowledge(packet.to)

    def acknowledge(self, p: Process) -> None:
        """Acknowledge "all messages in the current view up to the specified sequence id"."""
        to = self.sequencer(p)
        if self.acknowledges() and to is not None and self.reaches(p, to):
            self.network |= {CumAck(to, self.installed[p], p, max(self.next_expected[p] - 1, 0))}

    @action(fairness="weak")
    def receive_cum_ack(self, packet: Annotated[CumAck, In("network")]) -> None:
        """Receive a member's TOTAL_CUM_SEQ_ACK at the sequencer."""
        p = packet.to
        require(self.hears(p, packet.view))
        self.network -= {packet}
        self.acknowledged[p][packet.sender] = max(self.acknowledged[p][packet.sender], packet.number)
        self.free(p)

    def free(self, p: Process) -> None:
        """Free messages that p need not keep; in this class none, since the text does not say which."""

    def clear(self, p: Process) -> None:
        """Clear the queue, and the acknowledgements, which count within a view only."""
        super().clear(p)
        self.acknowledged[p] = everywhere(0)


@keeping.reading("until acknowledged")
class KeepingUntilAcknowledged(CumulativeAcks):
    """Reading of TOTAL: a message that all members have acknowledged is no longer kept."""

    def acknowledges(self) -> bool:
        """Return True: each TOTAL_BCAST is acknowledged."""
        return True

    def free(self, p: Process) -> None:
        """Free messages that p has passed up and all other members have acknowledged."""
        for k in self.each(Number):
            others = self.group_of(p) - {p}
            if k < self.next_expected[p] and all(self.acknowledged[p][q] >= k for q in others):
                self.sent[p][k] = None


suffix = ambiguity(
    "suffix",
    "announced",
    about='the two remedies of Future Improvements, for `recover_suffix`: "each server knew the sequence '
    'id of the last broadcast message", or "the sequencer handled retransmission (perhaps using positive '
    'acknowledgements)"',
)


class Remedies(CumulativeAcks):
    """Choice between the two remedies that the repair `recover_suffix` describes."""

    def tells_last(self) -> bool:
        """Return True: with the first remedy the sequencer announces the id of its last message ("each server
        knew the sequence id of the last broadcast message").
        """
        return True


@suffix.reading("acknowledged")
class SuffixAcknowledged(Remedies):
    """Reading of TOTAL's second remedy ("the sequencer handled retransmission (perhaps using positive
    acknowledgements)"): the sequencer sends messages again that were not acknowledged.
    """

    def tells_last(self) -> bool:
        """Return False: with the second remedy the sequencer does not announce the id of its last message,
        but sends messages again that were not acknowledged.
        """
        return False


addresses = ambiguity(
    "addresses",
    "set",
    about="whether SET_LOCAL_ADDRESS came: without it nobody can tell that it is the first of the list",
)


@addresses.reading("never set")
class AddressesNeverSet(Total):
    """Reading of TOTAL: the event SET_LOCAL_ADDRESS does not come, so no member knows its own address."""

    def knows_address(self, p: Process) -> bool:
        """Return False: no member knows its own address."""
        return False


READINGS = (reset, announcing, clearing, early, keeping, suffix, addresses)
