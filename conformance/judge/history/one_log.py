"""Judge of one log alone, event by event: handover, accusations, the sending of datagrams.

It is the streaming form of `members` and `datagrams`, for the checks that compare events of one process. Its
state has the messages under way between an application and its protocol, and the datagram that was sent last.
The state is plain data, which can be saved and loaded; this module knows nothing of other processes.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from antiphon.conformance.judge.history.datagrams import DATAGRAM_INTEGRITY
from antiphon.conformance.judge.history.finding import (
    ACCUSED,
    BROADCAST_BY_ANOTHER,
    GOT_NOTHING,
    GOT_OTHER,
    SENT_AGAIN,
    SENT_BY_ANOTHER,
    TOOK_NOTHING,
    TOOK_OTHER,
    Finding,
    Place,
)
from antiphon.conformance.judge.history.members import HANDOVER, NO_VIOLATION
from antiphon.conformance.judge.history.ranges import LARGE
from antiphon.conformance.judge.trace import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Deliver,
    End,
    Event,
    Recover,
    Send,
    Violation,
)
from antiphon.spec.services.broadcast import BROADCAST_ONCE

PASSING_MAX = 1_000
"""Largest number of broadcasts that are stored for a log that shows no protocol event yet; after more, its
handover is judged at the end of the run.
"""

_Passing = Broadcast | CoreBroadcast | CoreDeliver | Deliver


class _Held(msgspec.Struct):
    """A broadcast or delivery that has gone in: its content, and its index in the log."""

    m: str
    digest: str
    number: int
    i: int


class LogJudge(msgspec.Struct):
    """State of the judge for the log of `process`.

    `taken` are messages on their way from the application to the protocol, `given` those on their way back.
    `two_sided` is True once the log has shown an event of the protocol; `unasked` is the first delivery to
    the application before that. `unknown` is True if only the judge of whole logs can judge the handover. The
    last sent datagram has the count `datagram`, and `sent_to` maps its receivers to the indices of the sends.
    """

    process: int
    taken: list[_Held] = msgspec.field(default_factory=list)
    given: list[_Held] = msgspec.field(default_factory=list)
    two_sided: bool = False
    unasked: Place | None = None
    unknown: bool = False
    datagram: int = -1
    sent_to: dict[int, int] = msgspec.field(default_factory=dict)

    def feed(self, event: Event) -> Iterator[Finding]:
        """Take the next event of the log, and yield the violations that it shows. A datagram with a smaller
        count than the last one may have been sent before: see `falls`.
        """
        match event:
            case Broadcast(m=m):
                if m.split(":")[0] != str(self.process):
                    here = Place(self.process, event.i, m)
                    yield Finding(BROADCAST_ONCE.name, 1, BROADCAST_BY_ANOTHER, here)
                self._enter(self.taken, event)
                if not self.two_sided and len(self.taken) > PASSING_MAX:
                    self.unknown, self.taken = True, []
            case CoreDeliver():
                yield from self._show()
                self._enter(self.given, event)
            case CoreBroadcast():
                yield from self._show()
                yield from self._leave(self.taken, event, TOOK_OTHER)
            case Deliver() if self.two_sided:
                yield from self._leave(self.given, event, GOT_OTHER)
            case Deliver() if self.unasked is None:
                self.unasked = Place(self.process, event.i, event.m)
            case End() if self.two_sided and not self.unknown:
                for held, reason in ((self.taken, TOOK_NOTHING), (self.given, GOT_NOTHING)):
                    if held:
                        yield Finding(HANDOVER.name, 1, reason, Place(self.process, held[0].i, held[0].m))
            case Violation(sender=sender, what=what):
                told = Place(self.process, event.i, f"process {sender}: {what}")
                yield Finding(NO_VIOLATION.name, 1, ACCUSED, told)
            case Send():
                yield from self._send(event)
            case Recover():  # the judge of whole logs is asked
                self.unknown, self.taken, self.given, self.datagram = True, [], [], LARGE
            case _:
                pass

    def falls(self, event: Event) -> bool:
        """Return True if the event sends a datagram with a smaller count than the last sent one."""
        if not isinstance(event, Send):
            return False
        sender, _, count = event.d.partition(":")
        return sender == str(self.process) and int(count) < self.datagram

    def _show(self) -> Iterator[Finding]:
        """Yield the finding on the earliest delivery to the application, if it cannot have come from the
        protocol: the log shows the protocol's events, and none of them delivered it.
        """
        if not self.two_sided and self.unasked is not None and not self.unknown:
            yield Finding(HANDOVER.name, 1, GOT_OTHER, self.unasked)
        self.two_sided, self.unasked = True, None

    def _enter(self, held: list[_Held], event: _Passing) -> None:
        if not self.unknown:
            held.append(_Held(event.m, event.digest, _number(event), event.i))

    def _leave(self, held: list[_Held], event: _Passing, reason: str) -> Iterator[Finding]:
        """Yield the violations of a message that leaves a process: it must have gone in, and before every
        other message that is under way. `reason` is the violation's text.
        """
        if self.unknown:
            return
        first = held.pop(0) if held else None
        if first is None or (first.m, first.digest, first.number) != (event.m, event.digest, _number(event)):
            source = None if first is None else Place(self.process, first.i, first.m)
            yield Finding(HANDOVER.name, 1, reason, Place(self.process, event.i, event.m), source)

    def _send(self, event: Send) -> Iterator[Finding]:
        here = Place(self.process, event.i, event.d)
        sender, _, text = event.d.partition(":")
        if sender != str(self.process):
            yield Finding(DATAGRAM_INTEGRITY.name, 1, SENT_BY_ANOTHER, here)
        elif (count := int(text)) > self.datagram:
            self.datagram, self.sent_to = min(count, LARGE), {event.to: event.i}
        elif count == self.datagram and event.to in self.sent_to:
            before = Place(self.process, self.sent_to[event.to], event.d)
            yield Finding(DATAGRAM_INTEGRITY.name, 1, SENT_AGAIN, here, before)
        elif count == self.datagram:
            self.sent_to[event.to] = event.i


def _number(event: _Passing) -> int:
    return event.number if isinstance(event, CoreDeliver | Deliver) else 0
