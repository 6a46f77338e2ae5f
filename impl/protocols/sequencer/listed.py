"""SEQUENCER on one list of a group whose members change: a message is delivered when all of the core have it.

The first members of the list are the core, and the first of them coordinates. This core also does what the
document leaves to "a layer above", since a change of the list needs it: the coordinator multicasts, each of
the core acknowledges, and the coordinator reports how much all have. So all of the core have every delivered
message; they are more than half of the list, so that in every majority some member reports it.

1. A member of the core acknowledges once for all that came in one step, and the coordinator tells once how
   much is stable. Neither says anything while nothing is new.
2. An own message is on its way until it is delivered here. So the coordinator has at most `pending_max`
   messages of each member that are not stable, and nobody has more.
3. An external member acknowledges too, from the beginning on. The coordinator sends it the stable messages
  (`impl.protocols.listeners`). If it needs one that the coordinator does not keep any more, it is lost.
4. When the list ends each reports what is not stable, and its own messages that have no number.

This module must not know how a list ends. The rules of `process` hold here too.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005; Barchet-Estefanel 2002,
sections 3.2 (stability) and 4.4.3 (external members).
"""

from __future__ import annotations

from typing import NamedTuple, cast

from msgspec import Struct

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import (
    Identifier,
    Send,
    Wait,
    source_flaw,
)
from antiphon.impl.protocols.flush import KEPT_BYTES_MAX, Report
from antiphon.impl.protocols.history import HistorySnapshot, Ordered
from antiphon.impl.protocols.listeners import (
    Gone,
    ListenersSnapshot,
    Stable,
    Upto,
)
from antiphon.impl.protocols.on_list import OnList
from antiphon.impl.protocols.sequencer.messages import Data, Forward, Message
from antiphon.impl.protocols.sequencer.process import DEFAULTS, Core, Settings, Snapshot
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = [
    "Ack",
    "ListedCore",
    "ListedMessage",
    "ListedSnapshot",
    "ListedViolation",
    "flaw",
]

_VIEW = 1
"""Number of the view in all messages: a list is a single view of the protocol."""

class Ack(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ack"):
    """Acknowledgement: the sender has all messages up to this number."""

    number: Upto


ListedMessage = Forward | Data | Ack | Stable | Gone
"""The messages of SEQUENCER on one list."""


def flaw(message: ListedMessage, members: int) -> str | None:
    """Return the field that is out of range for a list of so many members, or None."""
    if not isinstance(message, Forward | Data):
        return None
    if message.view != _VIEW:
        return f"view {message.view}: a list is one view"
    return source_flaw(message, members)


class ListedViolation(Violation):
    """Violation on a list: a message that no correct member sends; ignoring it does no harm."""

    NOT_SENT = "acknowledgement_of_what_was_not_sent"
    NOT_ORDERED = "stability_of_what_was_not_ordered"
    MISDIRECTED = "word_for_another_member"
    NOT_CORE = "forward_of_an_external_member"


class ListedSnapshot(NamedTuple):
    """The whole state of a core on a list, immutable."""

    core: Snapshot
    history: HistorySnapshot
    acknowledged: tuple[tuple[int, int], ...]
    told: int
    listeners: ListenersSnapshot
    heard: int | None
    lost: bool


class ListedCore(OnList[Message], Core):
    """Core of SEQUENCER at process `me` of a list, which ends in a flush
    (`antiphon.impl.protocols.flush`).
    """

    def __init__(
        self,
        me: int,
        members: int,
        settings: Settings = DEFAULTS,
        *,
        core: int,
        kept_bytes: int = KEPT_BYTES_MAX,
        tracer: Tracer = NULL_TRACER,
    ) -> None:
        """Begin with no ordered message; the first `core` members order messages, the others listen.

        At most `kept_bytes` of stable messages are kept for the members that listen.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: `pending_max` is not positive, or `core` is less than 2 or more than `members`, the
                number of members.
        """
        super().__init__(me, members, settings, tracer=tracer)
        self._begin_list(core, kept_bytes)
        self.group = tuple(range(core))
        self._acknowledged = {process: 0 for process in self.group if process != me}
        """The highest number that each other member of the core has, as the coordinator knows."""
        self._told = -1 if self.external else 0
        """Number that the others were sent last: the coordinator sends the number of stable messages, the
        others the number of arrived ones.
        """

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused; it always is at an external member, which only
        listens.
        """
        return self.external or super().busy

    # Multicast(M,S) and Deliver(M,S) ------------------------------------------------------------------------

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Store an ordered message until all of the core have it. An external member gets only messages that
        all of the core have.
        """
        source, number = identifier
        if number <= self._received_table[source] or source not in self.group:
            return
        self._received_table[source] = number
        self._history.add(identifier, payload)
        if self.external:
            self._pass_up(self._history.last)

    def _pass_up(self, number: int) -> None:
        """Deliver the messages up to this number, since all of the core have them."""
        for at, identifier, payload in self._history.settle(number):
            if identifier.source == self.me:
                self._forward_table.pop(identifier.id, None)
            self._delivered = at
            self._hand_over(at, identifier, payload)

    # Who has what -------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: ListedMessage, now: float) -> None:
        """Handle one message of another member."""
        match message:
            case Ack(number=number):
                wrong = self._receive_ack(sender, number)
            case Stable(number=number):
                wrong = self._receive_stable(sender, number)
            case Gone():
                wrong = self._receive_gone(sender)
            case Forward() if sender not in self.group:
                wrong = ListedViolation.NOT_CORE
            case _:
                super().receive(sender, message, now)
                return
        if wrong is not None:
            self._violated(wrong, sender, message)

    def _receive_ack(self, sender: int, number: int) -> ListedViolation | None:
        """Receive an acknowledgement: the coordinator updates what is stable, and what an external member
        has. Return the violation in it, or None.
        """
        if self.me != self.coordinator:
            return ListedViolation.MISDIRECTED
        if sender in self._acknowledged:
            if number > self._history.last:
                return ListedViolation.NOT_SENT
            self._acknowledged[sender] = max(number, self._acknowledged[sender])
            self._pass_up(min(self._acknowledged.values()))
            return None
        return None if self._listeners.has(sender, number) else ListedViolation.NOT_SENT

    def _receive_stable(self, sender: int, number: int) -> ListedViolation | None:
        """Receive the notice of what is stable: deliver the messages that all of the core have; an external
        member stores the number. Return the violation in it, or None.
        """
        if sender != self.coordinator:
            return ListedViolation.MISDIRECTED
        if self.external:
            self._heard = number
        elif number > self._history.last:
            return ListedViolation.NOT_ORDERED
        else:
            self._pass_up(number)
        return None

    def _receive_gone(self, sender: int) -> ListedViolation | None:
        """Receive the notice that the coordinator has deleted messages that this external member needs: "no
        more in the buffers" (section 4.4.3). Return the violation in it, or None.
        """
        if sender != self.coordinator or not self.external:
            return ListedViolation.MISDIRECTED
        self.lost = True
        return None

    def outputs(self) -> list[Send[Message]]:
        """Return, once, the messages to send, in order, with the acknowledgements or notices that are due."""
        last = self._history.last
        if self.me == self.coordinator:
            self._tell()
        elif last > self._told:
            self._told = last
            self._say(self.coordinator, Ack(last))
        return super().outputs()

    def _tell(self) -> None:
        """Queue, at the coordinator, the notices of what is stable and the messages for external members."""
        stable = self._history.stable
        if stable > self._told:
            self._told = stable
            message = Stable(stable)
            for process in self._acknowledged:
                self._say(process, message)
        for process, what in self._listeners.outputs(self._history):
            if isinstance(what, Ordered):
                self._say(process, Data(_VIEW, what.identifier, what.payload))
            else:
                self._say(process, what)

    def _say(self, process: int, message: ListedMessage) -> None:
        self._to(process, cast(Message, message))

    # The end of the list ------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report of figure 32, step 1: the knowledge of this process."""
        ordered = self._received_table[self.me]
        own = ((Identifier(self.me, n), body) for n, body in self._forward_table.items() if n > ordered)
        return self._history.report(own)

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        history, role = self._history, "listens, " if self.external else ""
        told = f"ordered to {history.last}, at all to {history.stable}"
        return f"{super().__repr__()[:-1]}; {role}{told}>"

    @property
    def progress(self) -> int:
        """Measure of progress: messages sent, ordered and delivered."""
        return super().progress + self._history.last

    def waits(self) -> tuple[Wait, ...]:
        """Return what this process waits for: its own message that should come back next; at the coordinator,
        the missing acknowledgements.
        """
        last = self._history.last
        if self.me != self.coordinator:
            return super().waits()
        late = [process for process, number in self._acknowledged.items() if number < last]
        return tuple(Wait(f"acknowledgement of number {last}", process) for process in late)

    def snapshot(self) -> ListedSnapshot:  # type: ignore[override]
        """Return the whole state."""
        return ListedSnapshot(
            super().snapshot(),
            self._history.snapshot(),
            tuple(self._acknowledged.items()),
            self._told,
            self._listeners.snapshot(),
            self._heard,
            self.lost,
        )

    def restore(self, snapshot: ListedSnapshot, now: float) -> None:  # type: ignore[override]
        """Set the state to a snapshot; parameters and tracer stay."""
        super().restore(snapshot.core, now)
        self._history.restore(snapshot.history)
        self._acknowledged = dict(snapshot.acknowledged)
        self._told, self._heard, self.lost = snapshot.told, snapshot.heard, snapshot.lost
        self._listeners.restore(snapshot.listeners)
