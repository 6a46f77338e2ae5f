"""TOTAL on one list of a group whose members change: a message is delivered when all of the core have it.

The first members of the list are the core, and the first of them is the sequencer. It knows by their
acknowledgements (TOTAL_CUM_SEQ_ACK) what all of the core have, and reports that to them. So all of the core
have every delivered message; they are more than half of the list, so that in every majority some member
reports it.

1. A report of the sequencer may be lost. A member with messages that may not be stable acknowledges again
  after a while, and an acknowledgement that brings nothing new is answered.
2. An own message is on its way until it is delivered here, one at a time, so that those of one source keep
   their order. The sequencer keeps at most SENT_MAX that are not stable, and nobody has more.
3. An external member acknowledges, and asks for the next number now and then (TOTAL_RESEND), since it does
   not know whether there is one. The sequencer sends it what is stable (`impl.protocols.listeners`).
4. When the list ends each reports what is not stable, and its own messages.

This module must not know how a list ends. The rules of `process` hold here too.

Source: Cornell, "JavaGroups TOTAL"; Barchet-Estefanel 2002, sections 3.2 (stability) and 4.4.3 (external
members).
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, cast

from msgspec.structs import replace

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.core import Identifier, Send, source_flaw
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.protocols.flush import KEPT_BYTES_MAX, Report
from antiphon.impl.protocols.history import HistorySnapshot, Ordered
from antiphon.impl.protocols.listeners import Gone, ListenersSnapshot, Stable
from antiphon.impl.protocols.on_list import OnList
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Message, Request, Resend
from antiphon.impl.protocols.total.process import DEFAULTS, SEQUENCER, Core, Settings, Snapshot, Timer
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["ListedCore", "ListedMessage", "ListedSnapshot", "ListedTimer", "ListedViolation", "flaw"]

ListedMessage = Request | Bcast | Resend | CumAck | Stable | Gone
"""The messages of TOTAL on one list."""


def flaw(message: ListedMessage, members: int) -> str | None:
    """Return the field that is out of range for a list of so many members, or None."""
    return source_flaw(message, members) if isinstance(message, Request | Bcast) else None


class ListedViolation(Violation):
    """Violation on a list: a message that no correct member sends; ignoring it does no harm."""

    NOT_SENT = "acknowledgement_of_what_was_not_sent"
    MISDIRECTED = "word_for_another_member"
    NOT_CORE = "request_of_an_external_member"


class ListedTimer(StrEnum):
    """Timers that TOTAL has on a list, beside its own."""

    ACKNOWLEDGE_AGAIN = "acknowledge_again"
    """Timer for a repeated acknowledgement: a message here may be stable without this member's knowledge, or
    an external member may lack one.
    """


class ListedSnapshot(NamedTuple):
    """The whole state of a core on a list, immutable."""

    core: Snapshot
    history: HistorySnapshot
    told: int
    listeners: ListenersSnapshot
    heard: int | None
    lost: bool
    timers: tuple[tuple[ListedTimer, float, int], ...]


class ListedCore(OnList[Message], Core):
    """Core of TOTAL at process `me` of a list, which ends in a flush (`antiphon.impl.protocols.flush`)."""

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

        At most `kept_bytes` of stable messages are kept for the members that listen. `pending_max` is 1.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: an interval or the back-off is not positive, or `core` is less than 2 or more than
                `members`, the number of members.
        """
        super().__init__(me, members, replace(settings, pending_max=1), tracer=tracer)
        self._begin_list(core, kept_bytes)
        self._others = tuple(process for process in range(core) if process != me)
        self._told = 0
        """The highest number that the sequencer has reported stable."""
        self._again = Deadlines({ListedTimer.ACKNOWLEDGE_AGAIN: settings.resend_ms}, settings.backoff_max)

    def start(self, now: float) -> None:
        """Take part; an external member asks for the first number."""
        super().start(now)
        if self.external:
            self._to(SEQUENCER, Resend(1))
        self._watch()

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused; it always is at an external member, which only
        listens.
        """
        return self.external or super().busy

    # Members ------------------------------------------------------------------------------------------------

    def _pass_up(self, message: Bcast) -> None:
        """Store a message with the next id until all of the core have it."""
        self._next_expected = message.number + 1
        self._deadlines.stop(Timer.ASK)
        self._history.add(message.identifier, message.payload)
        self._deliver_to(self._history.last if self.external else self._heard or 0)

    def _deliver_to(self, number: int) -> None:
        """Deliver the messages up to this number that this process has, since all of the core have them."""
        settled = self._history.settle(min(number, self._history.last))
        for at, identifier, payload in settled:
            if identifier.source == self.me:
                self._deadlines.stop(Timer.REQUEST_AGAIN)
                del self._pending[identifier.id]
            self._hand_over(at, identifier, payload)
        if settled:
            self._again.stop(ListedTimer.ACKNOWLEDGE_AGAIN)

    # Receiving ----------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: ListedMessage, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        wrong: Violation | None = None
        match message:
            case Stable() | Gone() if sender != SEQUENCER:
                wrong = ListedViolation.MISDIRECTED
            case Stable(number=number):
                self._heard = max(number, self._heard or 0)
                if not self.external:
                    self._deliver_to(self._heard)
            case Gone(number=number) if self.external:
                if number >= self._next_expected:  # else it answers an old question
                    self.lost = True
            case Gone():
                wrong = ListedViolation.MISDIRECTED
            case Request() if sender not in self._others:
                wrong = ListedViolation.NOT_CORE
            case CumAck(number=number) if self.me == SEQUENCER and sender in self._others:
                known = self._acknowledged[sender]
                super().receive(sender, message, now)
                stable = min(self._acknowledged[process] for process in self._others)
                self._deliver_to(stable)
                if number <= known:
                    self._say(sender, Stable(self._history.stable))
            case CumAck(number=number) if self.me == SEQUENCER:
                wrong = None if self._listeners.has(sender, number) else ListedViolation.NOT_SENT
            case Resend(number=number) if self.me == SEQUENCER and sender not in self._others:
                wrong = None if self._listeners.asks(sender, number) else ListedViolation.NOT_SENT
            case _:
                super().receive(sender, message, now)
        if wrong is not None:
            self._violated(wrong, sender, message)
        self._watch()

    def outputs(self) -> list[Send[Message]]:
        """Return, once, the messages to send, in order, with the acknowledgements or notices that are due."""
        stable = self._history.stable
        if self.me == SEQUENCER:
            if stable > self._told:
                self._told = stable
                message = Stable(stable)
                for process in self._others:
                    self._say(process, message)
            for process, what in self._listeners.outputs(self._history):
                if isinstance(what, Ordered):
                    self._say(process, Bcast(what.number, what.identifier, what.payload))
                else:
                    self._say(process, what)
        return super().outputs()

    def _say(self, process: int, message: ListedMessage) -> None:
        self._to(process, cast(Message, message))

    # Time ---------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        super().tick(now)
        if self._again.due(now):
            if self.external:
                self._to(SEQUENCER, Resend(self._next_expected))
            else:
                self._acknowledge()
            self._again.put_off(ListedTimer.ACKNOWLEDGE_AGAIN, now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        deadlines = (super().next_deadline(), self._again.next())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def _watch(self) -> None:
        """Start and stop the timers, so that exactly those run whose event is awaited."""
        super()._watch()
        if self.external or (self.me != SEQUENCER and self._history.last > self._history.stable):
            self._again.start(ListedTimer.ACKNOWLEDGE_AGAIN, self._now)
        else:
            self._again.stop(ListedTimer.ACKNOWLEDGE_AGAIN)

    # The end of the list ------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report of figure 32, step 1: the knowledge of this process."""
        own = ((Identifier(self.me, name), payload) for name, payload in self._pending.items())
        return self._history.report(own)

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        role = "listens, " if self.external else ""
        return f"{super().__repr__()[:-1]}; {role}at all to {self._history.stable}>"

    @property
    def progress(self) -> int:
        """Measure of progress: messages sent, numbered, delivered and acknowledged."""
        return super().progress + self._history.stable

    def snapshot(self) -> ListedSnapshot:  # type: ignore[override]
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return ListedSnapshot(
            super().snapshot(),
            self._history.snapshot(),
            self._told,
            self._listeners.snapshot(),
            self._heard,
            self.lost,
            self._again.relative(self._now),
        )

    def restore(self, snapshot: ListedSnapshot, now: float) -> None:  # type: ignore[override]
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        super().restore(snapshot.core, now)
        self._history.restore(snapshot.history)
        self._told, self._heard, self.lost = snapshot.told, snapshot.heard, snapshot.lost
        self._listeners.restore(snapshot.listeners)
        self._again.resume(snapshot.timers, now)
