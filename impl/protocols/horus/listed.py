"""The stack of Horus on one list of a group whose members change: a message is delivered when all of the core
have it.

The first members of the list are the core, and have the stack TOTAL:MBRSHIP:FRAG:NAK:COM among themselves.
The layers are made anew for each list, so that NAK counts from 1, FRAG has no parts, and the first of the
core has TOTAL's token. MBRSHIP is `layers.stability`, TOTAL `layers.on_request`.

1. TOTAL hands up messages in the order of their numbers. They wait in the history until MBRSHIP says that
   all of the core have them. So all of the core have every delivered message; they are more than half of
   the list, so that in every majority some member reports it.
2. When the list ends each reports what is not stable: what waits in the history, what TOTAL has with a number
   behind a missing one, and the own messages that wait for the token. The change of the list gives those
   without a number theirs in the order of the ranks of their sources, as TOTAL's flush has it.
3. An external member has no layers. It asks the first of the core now and then, since it does not know
   whether there is something, and gets the stable messages (`impl.protocols.listeners`).

This module must not know how a list ends. The rules of `process` hold here too.

Source: van Renesse and others 1995, on MBRSHIP and TOTAL; Barchet-Estefanel 2002, sections 3.2 (stability)
and 4.4.3 (external members).
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import NamedTuple, cast

from msgspec import Struct

from antiphon.impl.errors import Busy, Violation
from antiphon.impl.protocols.core import (
    Delivery,
    Identifier,
    Natural,
    Payload,
    Send,
    source_flaw,
)
from antiphon.impl.protocols.deadlines import Deadlines
from antiphon.impl.protocols.flush import KEPT_BYTES_MAX, Numbered, Report
from antiphon.impl.protocols.history import HistorySnapshot, Ordered
from antiphon.impl.protocols.horus.calculus import STACK
from antiphon.impl.protocols.horus.layers.layer import Layer, Receive
from antiphon.impl.protocols.horus.layers.on_request import OnRequest
from antiphon.impl.protocols.horus.layers.stability import Stability
from antiphon.impl.protocols.horus.messages import Frame
from antiphon.impl.protocols.horus.process import DEFAULTS, Core, Settings, Snapshot, made
from antiphon.impl.protocols.listeners import (
    EXTERNAL_AHEAD,
    Gone,
    ListenersSnapshot,
    Stable,
    Upto,
)
from antiphon.impl.protocols.on_list import OnList
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["Ask", "Given", "ListedCore", "ListedMessage", "ListedSnapshot", "ListedViolation", "flaw"]

GIVER = 0
"""The member of the core that external members ask."""

ASK_MS = 25.0
"""Milliseconds between two questions of an external member, at first."""


class Ask(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="ask"):
    """Message of an external member: it has everything up to this number. With `again`, it asks for what
    follows.
    """

    number: Upto
    again: bool


class Given(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="given"):
    """Stable message with its number, for an external member."""

    number: Natural
    identifier: Identifier
    payload: Payload


ListedMessage = Frame | Ask | Given | Stable | Gone
"""The messages of the stack on one list."""


def flaw(message: ListedMessage, members: int) -> str | None:
    """Return the field that is out of range for a list of so many members, or None."""
    return source_flaw(message, members) if isinstance(message, Given) else None


class ListedViolation(Violation):
    """Violation on a list: a message that no correct member sends; ignoring it does no harm."""

    NOT_SENT = "word_of_having_what_was_not_sent"
    MISDIRECTED = "word_for_another_member"
    NOT_CORE = "message_of_the_stack_of_an_external_member"


class ListedTimer(StrEnum):
    """Timer that a list adds."""

    ASK_AGAIN = "ask_again"


class ListedSnapshot(NamedTuple):
    """The whole state of a core on a list, immutable."""

    core: Snapshot
    history: HistorySnapshot
    listeners: ListenersSnapshot
    early: tuple[Given, ...]
    told: int
    heard: int | None
    lost: bool
    timers: tuple[tuple[ListedTimer, float, int], ...]


class ListedCore(OnList[Frame], Core):
    """Process `me` of a list; it is also a `Flushes` (`antiphon.impl.protocols.flush`)."""

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
        """Begin with nothing cast; the first `core` members have the stack, the others listen.

        At most `kept_bytes` of stable messages are kept for the members that listen.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
            ValueError: a size or a waiting time is not positive, `core` is less than 2 or more than
                `members`, or the stack is another one than `STACK`.
        """
        if settings.stack != STACK:
            raise ValueError(f"stack is {settings.stack}; on a list it is {STACK}")
        self._core = core
        super().__init__(me, members, settings, tracer=tracer)
        self._begin_list(core, kept_bytes)
        self._others = tuple(process for process in range(core) if process != me)
        self._early: dict[int, Given] = {}
        """Messages that an external member has got behind a missing number."""
        self._told = 0
        """Number up to which an external member has reported to have all messages."""
        self._again = Deadlines({ListedTimer.ASK_AGAIN: ASK_MS}, settings.backoff_max)

    def _made(self, settings: Settings) -> list[Layer]:
        """Make the layers of a member of the core; an external one has none."""
        if self.me >= self._core or self._core < 2:
            self.stack = ()
            return []
        layers = {name: made(name, self.me, self._core, self.stack, settings) for name in self.stack}
        self._mbrship = layers["MBRSHIP"] = Stability(self.me, self._core, settings.buffer)
        self._total = layers["TOTAL"] = OnRequest(self.me, self._core)
        return [layers[name] for name in reversed(self.stack)]

    def _link(self) -> None:
        """Link the layers, if there are any."""
        if self._layers:
            super()._link()

    def start(self, now: float) -> None:
        """Take part; an external member asks for the first number."""
        super().start(now)
        if self.external:
            self._ask()
            self._again.start(ListedTimer.ASK_AGAIN, now)

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Cast a message. Raises as `Core.broadcast`; an external member is always busy."""
        if self.external:
            raise Busy("this member listens, and sends nothing")
        return super().broadcast(payload, now)

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused, as it always is at an external member."""
        return self.external or super().busy

    # Deliveries ---------------------------------------------------------------------------------------------

    def _deliver(self, call: Receive) -> None:
        """Keep an ordered message until all of the core have it."""
        source, payload = call
        self._ids[source] += 1
        self._history.add(Identifier(source, self._ids[source]), payload)

    def settle(self, now: float) -> list[Delivery]:
        """Return, once, the deliveries in order: what all of the core have."""
        if not self.external:
            self._pass_up()
        return super().settle(now)

    def _pass_up(self) -> None:
        history = self._history
        while (first := history.first) is not None:
            source, number = first.identifier
            if number > self._mbrship.stable(source):
                return
            self._settle_one()

    def _settle_one(self) -> None:
        for at, identifier, payload in self._history.settle(self._history.stable + 1):
            self._delivered = at
            self._hand_over(at, identifier, payload)

    # The network --------------------------------------------------------------------------------------------

    def receive(self, sender: int, message: ListedMessage, now: float) -> None:
        """Handle one message of another member."""
        self._now = now
        wrong: Violation | None = None
        match message:
            case Frame() if self.external:
                wrong = ListedViolation.MISDIRECTED
            case Frame() if sender >= self._core:
                wrong = ListedViolation.NOT_CORE
            case Frame():
                super().receive(sender, message, now)
            case Ask(number=number, again=again):
                wrong = self._asked(sender, number, again)
            case _ if not self.external or sender != GIVER:
                wrong = ListedViolation.MISDIRECTED
            case Stable(number=number):
                self._heard = max(number, self._heard or 0)
            case Gone(number=number):
                self.lost = self.lost or number > self._history.last  # else it answers an old question
            case Given():
                self._take(message)
        if wrong is not None:
            self._violated(wrong, sender, message)

    def _asked(self, sender: int, number: int, again: bool) -> ListedViolation | None:
        """Handle an `Ask` of an external member. Return the violation in it, or None."""
        if self.me != GIVER or sender < self._core:
            return ListedViolation.MISDIRECTED
        known = self._listeners.asks(sender, number + 1) if again else self._listeners.has(sender, number)
        return None if known else ListedViolation.NOT_SENT

    def _take(self, given: Given) -> None:
        """Deliver a message at this external member when it is next; keep a few that come early."""
        if self._history.last < given.number <= self._history.last + EXTERNAL_AHEAD:
            self._early[given.number] = given
        while (following := self._early.pop(self._history.last + 1, None)) is not None:
            self._history.add(following.identifier, following.payload)
            self._settle_one()

    def outputs(self) -> list[Send[Frame]]:
        """Return, once, the messages to send, in order, with the reports of what has come that are due."""
        if self.external:
            if self._history.last > self._told:
                self._told = self._history.last
                self._say(GIVER, Ask(self._told, again=False))
                self._again.hasten(ListedTimer.ASK_AGAIN, self._now)
            return super().outputs()
        self._mbrship.tell()
        self._watch()
        if self.me == GIVER:
            for process, what in self._listeners.outputs(self._history):
                self._say(process, Given(*what) if isinstance(what, Ordered) else what)
        return super().outputs()

    def _ask(self) -> None:
        self._say(GIVER, Ask(self._history.last, again=True))

    def _say(self, process: int, message: ListedMessage) -> None:
        self._to(process, cast(Frame, message))

    # Time ---------------------------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        super().tick(now)
        if self._again.due(now):
            self._ask()
            self._again.put_off(ListedTimer.ASK_AGAIN, now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        deadlines = (super().next_deadline(), self._again.next())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    # The end of the list ------------------------------------------------------------------------------------

    def report(self) -> Report:
        """Return the report of figure 32, step 1: the knowledge of this process."""
        if self.external:
            return self._history.report(())
        counts = Counter(dict(enumerate(self._ids)))
        early = []
        for number, source, payload in self._total.early:
            counts[source] += 1
            early.append(Ordered(number, Identifier(source, counts[source]), payload))
        first = self._last_id - len(self._total.unnumbered) + 1
        unnumbered = [(Identifier(self.me, n), body) for n, body in enumerate(self._total.unnumbered, first)]
        behind = [(message.identifier, message.payload) for message in early]
        report = self._history.report((*behind, *unnumbered))
        numbered = (*report.numbered, *(Numbered(one.number, one.identifier) for one in early))
        return Report(report.settled, report.counts, numbered, report.bodies)

    # Looking at a core from outside -------------------------------------------------------------------------

    def __repr__(self) -> str:
        history, role = self._history, "listens, " if self.external else ""
        told = f"ordered to {history.last}, at all to {history.stable}"
        return f"{super().__repr__()[:-1]}; {role}{told}>"

    @property
    def progress(self) -> int:
        """Measure of progress: that of the layers, and messages ordered and delivered."""
        return super().progress + self._history.last

    def snapshot(self) -> ListedSnapshot:  # type: ignore[override]
        """Return the whole state; deadlines are relative to the latest `now` that the core was given."""
        return ListedSnapshot(
            super().snapshot(),
            self._history.snapshot(),
            self._listeners.snapshot(),
            tuple(self._early[number] for number in sorted(self._early)),
            self._told,
            self._heard,
            self.lost,
            self._again.relative(self._now),
        )

    def restore(self, snapshot: ListedSnapshot, now: float) -> None:  # type: ignore[override]
        """Set the state to a snapshot, as if that had been taken at `now`; parameters and tracer stay."""
        super().restore(snapshot.core, now)
        self._history.restore(snapshot.history)
        self._listeners.restore(snapshot.listeners)
        self._early = {given.number: given for given in snapshot.early}
        self._told, self._heard, self.lost = snapshot.told, snapshot.heard, snapshot.lost
        self._again.resume(snapshot.timers, now)
