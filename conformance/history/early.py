"""What breaks an order for ever is noticed while a run goes on, in memory that does not grow with it.

1. The events of each log are fed in the log's order, those of several logs in any order.
2. A message is held from its first event until every process that has not crashed has delivered it, and its
   source has broadcast it. Of what is over, only the ranges of each source's counts are held; ranges are few,
   since sources count.
3. `alarm` is set by an event after which no continuation of the run keeps what is promised of safety: a
   message is broadcast or delivered a second time, broadcast by another, delivered under a second position,
   number or content, in a position that is taken, or before its source could have broadcast it; numbers that
   do not grow; what comes out between application and protocol other than it went in; a datagram that names
   another sender, or is sent a second time; a report of what no correct process says. Positions and numbers
   are of `total` orders; of `fifo` ones, it is a message that comes after a later one of its source, by their
   counts.
4. An alarm is no verdict: the judge of logs has the word, and whole logs. No alarm is raised for what is
   promised of the end, for a delivery or reception without its cause, a datagram that another receives than
   it was sent to, and a cycle of causes.

The state is plain data, which can be kept and read back. This module judges nothing, and reads no file.
"""

from __future__ import annotations

from bisect import bisect_right

import msgspec

from antiphon.conformance.trace import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Event,
    Send,
    Violation,
)

HELD_MAX = 100_000
"""So many messages are held at most: where processes are further apart, no alarm is raised any more."""

PASSING_MAX = 1_000
"""So many messages are held on their way between an application and its protocol, which takes so many and no
more: where there are more, the log does not show the protocol's side.
"""


class _Message(msgspec.Struct):
    """A message under way: what its source broadcast, after how many deliveries of its own; and where, as
    what number and with which content it is delivered, and by whom.
    """

    sent: str | None = None
    after: int = 0
    position: int = 0
    number: int = 0
    digest: str = ""
    by: set[int] = msgspec.field(default_factory=set)


_Content = tuple[str, str, int]


class _Passage(msgspec.Struct):
    """What an application and its protocol hand to each other, one way: what is `under_way`. `unasked`:
    something came out before anything went in; `one_sided`: so much went in that nothing will come out.
    """

    under_way: list[_Content] = msgspec.field(default_factory=list)
    unasked: bool = False
    one_sided: bool = False

    def enters(self, content: _Content) -> None:
        """It is under way."""
        if len(self.under_way) == PASSING_MAX:
            self.one_sided, self.under_way = True, []
        if not self.one_sided:
            self.under_way.append(content)

    def leaves(self, content: _Content) -> bool:
        """Whether this went in, before all that is under way."""
        if self.under_way:
            return self.under_way.pop(0) == content
        self.unasked = not self.one_sided
        return self.one_sided


class _Log(msgspec.Struct):
    """`two_sided`: the log shows what the protocol takes and gives. `datagram` is the count of the one that
    was sent last, to the processes `sent_to`.
    """

    delivered: int = 0
    number: int = 0
    crashed: bool = False
    two_sided: bool = False
    taken: _Passage = msgspec.field(default_factory=_Passage)
    given: _Passage = msgspec.field(default_factory=_Passage)
    datagram: int = -1
    sent_to: set[int] = msgspec.field(default_factory=set)
    latest: dict[int, int] = msgspec.field(default_factory=dict)


class Early(msgspec.Struct):
    """What is held of a run of so many processes, which promises a `total` order or a `fifo` one, both or
    neither. `gave_up`: more was under way than may be held.
    """

    processes: int
    total: bool = True
    fifo: bool = False
    logs: dict[int, _Log] = msgspec.field(default_factory=dict)
    held: dict[str, _Message] = msgspec.field(default_factory=dict)
    positions: dict[int, str] = msgspec.field(default_factory=dict)
    over: dict[int, list[tuple[int, int]]] = msgspec.field(default_factory=dict)
    alarm: bool = False
    gave_up: bool = False

    def feed(self, process: int, event: Event) -> None:
        """Take the next event of a process."""
        if self.gave_up:
            return
        log = self.logs.setdefault(process, _Log())
        match event:
            case Broadcast(m=m, digest=digest):
                log.taken.enters((m, digest, 0))
                self._broadcast(process, log, m, digest)
            case Deliver(m=m):
                is_given = log.given.leaves((m, event.digest, event.number))
                self.alarm |= log.two_sided and not is_given
                self._deliver(process, log, m, event)
            case CoreBroadcast(m=m, digest=digest):
                self._two_sided(log)
                self.alarm |= not log.taken.leaves((m, digest, 0))
            case CoreDeliver(m=m, number=number, digest=digest):
                self._two_sided(log)
                log.given.enters((m, digest, number))
            case Send(d=d, to=to):
                self._send(process, log, d, to)
            case Crash():
                log.crashed = True
                for m in list(self.held):
                    self._drop(m)
            case Violation():
                self.alarm = True
            case End():
                stays = bool(log.taken.under_way or log.given.under_way)
                self.alarm |= log.two_sided and stays
            case _:
                return
        if len(self.held) > HELD_MAX:
            self.gave_up = True
            self.held, self.positions, self.over = {}, {}, {}

    def _two_sided(self, log: _Log) -> None:
        """What an application got before cannot have come from the protocol."""
        log.two_sided = True
        self.alarm |= log.given.unasked

    def _send(self, process: int, log: _Log, d: str, to: int) -> None:
        """Datagrams have the name of their sender, and growing counts."""
        sender, count = _numbers(d)
        if count > log.datagram:
            log.datagram, log.sent_to = count, set()
        self.alarm |= sender != process or count < log.datagram or to in log.sent_to
        log.sent_to.add(to)

    def _broadcast(self, process: int, log: _Log, m: str, digest: str) -> None:
        source, count = _numbers(m)
        message = self.held.setdefault(m, _Message())
        if source != process or message.sent is not None or self._is_over(source, count):
            self.alarm = True
        message.sent, message.after = digest, log.delivered
        self._compare(message)
        self._drop(m)

    def _deliver(self, process: int, log: _Log, m: str, event: Deliver) -> None:
        log.delivered += 1
        grows, log.number = event.number > log.number, event.number
        message = self.held.setdefault(m, _Message())
        if not message.by:
            message.position, message.number, message.digest = log.delivered, event.number, event.digest
        source, count = _numbers(m)
        again = process in message.by or self._is_over(source, count)
        self.alarm |= again or event.digest != message.digest
        if self.total:
            taken = self.positions.setdefault(log.delivered, m)
            same = (log.delivered, event.number) == (message.position, message.number)
            self.alarm |= not (grows and taken == m and same)
        if self.fifo:
            self.alarm |= count < log.latest.get(source, 0)
            log.latest[source] = count
        message.by.add(process)
        self._compare(message)
        self._drop(m)

    def _compare(self, message: _Message) -> None:
        """A delivery comes after the broadcast, and has its content."""
        if message.sent is not None and message.by:
            early = self.total and message.after >= message.position
            self.alarm |= message.digest != message.sent or early

    def _drop(self, m: str) -> None:
        """Hold a message no longer that all who live have."""
        message = self.held[m]
        alive = (p for p in range(self.processes) if p not in self.logs or not self.logs[p].crashed)
        if message.sent is not None and message.by and message.by.issuperset(alive):
            del self.held[m]
            if self.positions.get(message.position) == m:
                del self.positions[message.position]
            self._note_over(*_numbers(m))

    def _is_over(self, source: int, count: int) -> bool:
        ranges = self.over.get(source, [])  # a count that is too large to be noted is in none
        k = bisect_right(ranges, (count, _FAR)) - 1
        return k >= 0 and count <= ranges[k][1]

    def _note_over(self, source: int, count: int) -> None:
        if max(source, count) >= _LARGE:
            return
        ranges = self.over.setdefault(source, [])
        k = bisect_right(ranges, (count, _FAR))
        first, last = count, count
        if k < len(ranges) and ranges[k][0] == count + 1:
            last = ranges.pop(k)[1]
        if k and ranges[k - 1][1] == count - 1:
            k -= 1
            first = ranges.pop(k)[0]
        ranges.insert(k, (first, last))


_LARGE = 1 << 62
_FAR = 1 << 80


def _numbers(m: str) -> tuple[int, int]:
    source, _, count = m.partition(":")
    return int(source), int(count)
