"""View-synchronous multicast on one list of a group whose members change, without an order between sources.

A message is delivered when it arrives; those of one source arrive in their order. The promise: all members
that go from one list to the next have delivered the same messages. So each member keeps the messages that it
does not know to be at all members, and reports them when the list ends.

Rules of this file:
1. No clock, socket, randomness or thread: this core needs no time at all, for the queues below lose nothing.
2. A source has its own message at once, and delivers it. Everybody else acknowledges to the source, once for
   all that came in one step; the source tells, once, how many of its messages all have.
3. A source has at most `unstable_bytes` on their way, and one message: that bounds what any member keeps of
   it. At rest nothing is kept.
4. All members of the list take part. A silent member delays nobody until `unstable_bytes` are on their way.
5. Whoever calls `receive` has checked the message's ranges (`flaw`). What no correct member says is counted
   in `violations` and changes nothing.

| figure 29                                   | here                                                   |
|---------------------------------------------|--------------------------------------------------------|
| VSCast(m)                                   | `broadcast`                                            |
| (i, m)                                      | `Data`; the list is the view                           |
| upon reception of (i, m): VS-Deliver m      | `receive`                                              |
| unstable_k                                  | `_unstable`, by source and number                      |
| message stability detector                  | `Ack` and `Stable`                                     |
| steps 1 and 3: send unstable_k, join them   | `report`, `merge`                                      |
| step 6: VS-Deliver what was not delivered   | `adopt`                                                |

Repairs: of step 1, nothing is received or sent any more once a member has reported (its owner stops it); of
VSCast, the own copy is taken at once.

Source: Barchet-Estefanel 2002, section 4.3.2, figure 29.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, Violation
from antiphon.impl.protocols.base import CoreBase
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    Delivery,
    Identifier,
    Implementation,
    MessageFormat,
    Natural,
    Network,
    Payload,
    Send,
    Wait,
    payload_copy,
    standing,
)
from antiphon.impl.protocols.flush import KEPT_BYTES, Body, Numbered, Report
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = [
    "MESSAGES",
    "Ack",
    "Core",
    "Data",
    "Message",
    "Settings",
    "Snapshot",
    "Stable",
    "VscViolation",
    "flaw",
    "vsc_listed",
]

Upto = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""Number that includes all before it; 0: none."""


class Data(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="data"):
    """Message of the sender, with its place among the sender's messages."""

    number: Natural
    payload: Payload


class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement: the sender has all messages of the receiver up to this one."""

    number: Natural


class Stable(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="stable"):
    """Notice: all members have all messages of the sender up to this one."""

    number: Natural


Message = Data | Ack | Stable
"""The messages of view-synchronous multicast."""


def flaw(message: Message, members: int) -> str | None:
    """Return None: no field of the messages can be out of range."""
    del message, members
    return None


MESSAGES: MessageFormat[Message] = MessageFormat("vsc", 1, Message, flaw)
"""The messages of view-synchronous multicast, version 1."""


class VscViolation(Violation):
    """A message that no correct member sends; it is ignored and counted under exactly one kind.

    The first kind shows that a member has lost a message of a source; ignoring a message of the other kinds
    does no harm.
    """

    NUMBER_LEFT_OUT = "message_that_is_not_the_next_of_its_source"
    NOT_SENT = "acknowledgement_of_what_was_not_sent"
    NOT_RECEIVED = "stability_of_what_has_not_come"

    @property
    def breaks_order(self) -> bool:
        """Return True if two processes have delivered different messages."""
        return self is self.NUMBER_LEFT_OUT


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of a core."""

    unstable_bytes: int = 2**20
    """Number of bytes of a member's own messages on their way from which on it may not send."""


DEFAULTS = Settings()
"""The default settings."""


class Snapshot(NamedTuple):
    """The whole state of a core, immutable and canonical: equal snapshots behave equally."""

    received: tuple[int, ...]
    stable: tuple[int, ...]
    unstable: tuple[tuple[Identifier, bytes], ...]
    acknowledged: tuple[tuple[int, int], ...]
    told: tuple[int, ...]
    outputs: tuple[Send[Message], ...]
    deliveries: tuple[Delivery, ...]
    violations: tuple[tuple[Violation, int], ...]


class Core(CoreBase[Message]):
    """Core of view-synchronous multicast at process `me` of a list, which ends in a flush
    (`antiphon.impl.protocols.flush`).
    """

    lost = False
    caught_up = False

    def __init__(
        self, me: int, members: int, settings: Settings = DEFAULTS, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with nothing sent.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: `unstable_bytes` is not positive.
        """
        super().__init__(me, members, tracer)
        self._unstable_bytes_max = settings.unstable_bytes
        if self._unstable_bytes_max < 1:
            told = f"unstable_bytes is {self._unstable_bytes_max}"
            raise ValueError(f"{told}; a member that may send nothing needs no group")
        self._received = [0] * members
        """Number of messages of each member that are here and delivered."""
        self._stable = [0] * members
        """Number of messages of each member that, as this member knows, all have."""
        self._unstable: list[dict[int, bytes]] = [{} for _ in range(members)]
        self._own_bytes = 0
        """Number of bytes of own messages on their way."""
        self._acknowledged = dict.fromkeys(self._others, 0)
        """Number of own messages that each other member has."""
        self._told = [0] * members
        """Number of messages of each member whose arrival this member has reported; of its own, those
        reported stable.
        """

    # VSCast(m) ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Return True if the largest number of own bytes is on its way, so that `broadcast` would be
        refused.
        """
        return self._own_bytes >= self._unstable_bytes_max

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Multicast a message (`send (i,m) to all`), and deliver it at this process at once.

        Raises:
            Busy: `busy` is True; nothing was done.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        del now
        payload = payload_copy(payload)
        number = self._received[self.me] + 1
        if number > NATURAL_MAX:
            raise GroupFailed(f"number {NATURAL_MAX} was given, the last there is: open another group")
        if self.busy:
            raise Busy(f"{self._own_bytes} bytes are on their way; broadcast again when `busy` is false")
        identifier = Identifier(self.me, number)
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        self._own_bytes += len(payload) + KEPT_BYTES
        self._to_others(Data(number, payload))
        self._take(self.me, payload)
        return identifier

    # Upon reception of (i,m) --------------------------------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle one message of another member."""
        del now
        wrong = self._impossible(sender, message)
        if wrong is not None:
            self._violated(wrong, sender, message)
            return
        match message:
            case Data(payload=payload):
                self._take(sender, payload)
            case Ack(number=number):
                self._acknowledged[sender] = max(number, self._acknowledged[sender])
                self._forget(self.me, min(self._acknowledged.values()))
            case Stable(number=number):
                self._forget(sender, number)

    def _impossible(self, sender: int, message: Message) -> VscViolation | None:
        """Return the violation if no correct member sends this message now, else None."""
        match message:
            case Data(number=number) if number != self._received[sender] + 1:
                return VscViolation.NUMBER_LEFT_OUT
            case Ack(number=number) if number > self._received[self.me]:
                return VscViolation.NOT_SENT
            case Stable(number=number) if number > self._received[sender]:
                return VscViolation.NOT_RECEIVED
        return None

    def _take(self, source: int, payload: bytes) -> None:
        """Deliver a message and store it as unstable (`VS-Deliver m`, `add m to the set unstable_k`)."""
        self._unstable[source][self._received[source] + 1] = payload
        self._deliver(source, payload)

    def _deliver(self, source: int, payload: bytes) -> None:
        self._received[source] = number = self._received[source] + 1
        self._deliveries.append(Delivery(source, number, sum(self._received), payload))
        if self._tracer.recording:
            identifier, place = Identifier(source, number), sum(self._received)
            self._tracer.record(tracing.Deliver(self.me, identifier, place, payload))

    # The message stability detector -------------------------------------------------------------------------

    def _forget(self, source: int, number: int) -> None:
        """Delete the stored messages of this source up to this number, since all members have them."""
        while self._stable[source] < number:
            self._stable[source] += 1
            payload = self._unstable[source].pop(self._stable[source])
            if source == self.me:
                self._own_bytes -= len(payload) + KEPT_BYTES

    def outputs(self) -> list[Send[Message]]:
        """Return, once, the messages to send, in order, with the acknowledgements and notices that
        are due.
        """
        for source in self._others:
            if self._received[source] > self._told[source]:
                self._told[source] = self._received[source]
                self._to(source, Ack(self._told[source]))
        if self._stable[self.me] > self._told[self.me]:
            self._told[self.me] = self._stable[self.me]
            self._to_others(Stable(self._told[self.me]))
        return super().outputs()

    # The end of the list ------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report of step 1 (`send unstable_k to all`): how many messages are delivered here, how
        many of each member are stable, and the unstable ones.
        """
        bodies = tuple(Body(name, payload) for name, payload in self._kept())
        return Report(sum(self._received), tuple(self._stable), (), bodies)

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:  # noqa: ARG002 - who is missing fails
        """Return the union of step 3: messages that may not be at all members, once each, with places behind
        the stable ones.
        """
        counts = tuple(map(max, *(report.counts for report in reports), self._stable))
        bodies = {item.identifier: item.payload for report in reports for item in report.bodies}
        rest = sorted(name for name in bodies if name.id > counts[name.source])
        first = sum(counts) + 1
        return Report(
            sum(counts) + len(rest),
            counts,
            tuple(Numbered(number, name) for number, name in enumerate(rest, first)),
            tuple(Body(name, bodies[name]) for name in rest),
        )

    def adopt(self, agreed: Report) -> list[Delivery] | None:
        """Return, in order, the agreed messages that this process has not delivered (step 6).

        Return None if this process has delivered a message that the others have not, or lacks one.
        """
        have = Counter(dict(enumerate(agreed.counts)))
        have.update(item.identifier.source for item in agreed.bodies)
        stable = zip(agreed.counts, self._received, strict=True)
        if any(least > here for least, here in stable):
            return None
        if any(here > have[source] for source, here in enumerate(self._received)):
            return None
        for (source, number), payload in ((item.identifier, item.payload) for item in agreed.bodies):
            if number > self._received[source]:
                self._deliver(source, payload)
        return self.deliveries()

    def _kept(self) -> list[tuple[Identifier, bytes]]:
        """Return the stored messages that some member may lack, by rising identifiers."""
        return [
            (Identifier(source, number), payload)
            for source, some in enumerate(self._unstable)
            for number, payload in some.items()
        ]

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        told = f"delivered {sum(self._received)}, keeps {sum(map(len, self._unstable))}"
        return f"<vsc: {told}; {standing(self)}>"

    @property
    def progress(self) -> int:
        """Measure of progress: deliveries, and messages that are known to be everywhere."""
        return sum(self._received) + sum(self._stable)

    def waits(self) -> tuple[Wait, ...]:
        """Return the members that have not acknowledged messages of this one, if this one may send nothing
        more until they do.
        """
        if not self.busy:
            return ()
        number = self._received[self.me]
        late = [process for process, has in self._acknowledged.items() if has < number]
        return tuple(Wait(f"acknowledgement of message {self.me}:{number}", process) for process in late)

    def snapshot(self) -> Snapshot:
        """Return the whole state."""
        return Snapshot(
            tuple(self._received),
            tuple(self._stable),
            tuple(self._kept()),
            tuple(self._acknowledged.items()),
            tuple(self._told),
            tuple(self._outputs),
            tuple(self._deliveries),
            tuple(sorted(self._violations.items())),
        )

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot; parameters and tracer stay."""
        del now
        self._received, self._stable = list(snapshot.received), list(snapshot.stable)
        self._unstable = [{} for _ in range(self.members)]
        for (source, number), payload in snapshot.unstable:
            self._unstable[source][number] = payload
        self._own_bytes = sum(len(payload) + KEPT_BYTES for payload in self._unstable[self.me].values())
        self._acknowledged, self._told = dict(snapshot.acknowledged), list(snapshot.told)
        self._outputs, self._deliveries = list(snapshot.outputs), list(snapshot.deliveries)
        self._violations = Counter(dict(snapshot.violations))


def vsc_listed(settings: Settings = DEFAULTS, kind: type[Core] = Core) -> Implementation[Message]:
    """Return view-synchronous multicast as an implementation for the lists of a group whose
    members change.
    """

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> Core:
        assert taking_part == members, "it has no external members"
        return kind(me, members, settings, tracer=tracer)

    return Implementation.of(MESSAGES, kind, settings, Network.FIFO)._replace(
        listed=listed, external=False, ordered=False
    )
