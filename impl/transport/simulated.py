"""Simulated network: a whole group in one thread and in virtual time, over a network that loses, duplicates
and reorders.

Rules of this file:
1. Everything random comes from one generator seeded with `seed`, which is kept and printed by `repr`. The
   same seed and the same calls give the same events, bit by bit, whatever the machine or the hash seed.
2. Time is virtual: it jumps to the next thing that happens. Milliseconds, from 0.
3. Members meet the network as a socket would let them: bytes in, bytes out, one timer each.

Losses, duplications and delays are drawn for each datagram independently, unless the caller says what becomes
of each (`carriage`). Scripted, not drawn, are links that are cut, members that start late or are stopped for
a while, and the clocks, of which every member has its own. This module must not know a protocol's messages:
it sees bytes, and counts by what the endpoints say they sent.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.endpoint import Datagram, Endpoint
from antiphon.impl.transport.incarnations import CHANCE_BYTES, Incarnations, incarnation
from antiphon.impl.transport.sealing import Keyring, Sealed
from antiphon.impl.transport.wire import EVERYBODY, Rejected

__all__ = ["Carriage", "Clock", "Faults", "SimulatedNetwork"]

M = TypeVar("M")

_ROUNDING_MS = 1e-3
"""Milliseconds that count as a rounding error: a deadline loses less on its way through two clocks."""


class Faults(NamedTuple):
    """Faults of the network for each datagram: probabilities in 0..1, delays in milliseconds."""

    loss: float = 0.0
    duplication: float = 0.0
    delay_ms: tuple[float, float] = (1.0, 1.0)
    """Shortest and longest delay, uniform between; with a span datagrams overtake one another."""


Carriage = Callable[[int, int, float], Sequence[float]]
"""Function that decides a datagram's fate: from sender, receiver and time it gives the delay in milliseconds
of each copy; none if it is lost.
"""


class Clock(NamedTuple):
    """Clock of a member: its offset at virtual time 0, and its rate, in milliseconds for each virtual one."""

    offset_ms: float = 0.0
    rate: float = 1.0


class _Due(NamedTuple):
    """Future event: a datagram arrives at a member; or, without a datagram, the member starts, its timer
    expires, or the script acts.

    `order` breaks ties.
    """

    at: float
    order: int
    process: int
    datagram: tuple[int, int, bytes] | None
    action: Callable[[], None] | None = None


class SimulatedNetwork(Generic[M]):
    """Members 0..n-1 and the network between them. `deliveries[p]` are the deliveries of p so far,
    in order.
    """

    def __init__(
        self,
        implementation: Implementation[M],
        members: int,
        *,
        seed: int,
        faults: Faults | None = None,
        carriage: Carriage | None = None,
        clocks: Sequence[Clock] = (),
        starts_ms: Sequence[float] = (),
        tracer: Tracer = NULL_TRACER,
        layers: Layers | None = None,
        multicast: bool = False,
        keys: Keyring | None = None,
    ) -> None:
        """Make members that start at `starts_ms` with `clocks`; further ones start at 0 with the network's
        clock.

        `carriage` decides the fate of each datagram; without it `faults` are drawn. With `keys` datagrams are
        sealed and name incarnations, as a shell's do. Without `layers` a member is the bare core, one message
        a datagram, and a core that needs reliable queues has none.

        Raises:
            InvalidMembership: the protocol does not run with so many members.
            ValueError: a probability outside 0..1, delays that are negative or the wrong way round, or a
                clock that does not go forward.
        """
        self.seed = seed
        self.faults = faults or Faults()
        shortest, longest = self.faults.delay_ms
        if not (
            0 <= self.faults.loss <= 1 and 0 <= self.faults.duplication <= 1 and 0 <= shortest <= longest
        ):
            raise ValueError(f"{self.faults}: probabilities lie in 0..1, delays are 0 <= shortest <= longest")
        if any(clock.rate <= 0 for clock in clocks):
            raise ValueError(f"{clocks}: a clock goes forward, at a rate above 0")
        self.now = 0.0
        self.steps = 0
        self.sent = self.lost = self.duplicated = self.reordered = 0
        self.endpoints = [
            Endpoint(implementation, "simulated", me, members, tracer, layers=layers, multicast=multicast)
            for me in range(members)
        ]
        self.deliveries: list[list[Delivery]] = [[] for _ in range(members)]
        everybody = range(members)
        self._others = [tuple(other for other in everybody if other != process) for process in everybody]
        self._shells = [] if keys is None else [_shell(me, members, keys) for me in range(members)]
        self._random = random.Random(seed)
        self._waiting: list[deque[tuple[bytes, int]]] = [deque() for _ in range(members)]
        self._agenda: list[_Due] = []
        self._order = 0
        self._alarms: list[float | None] = [None] * members
        self._latest: dict[tuple[int, int], int] = {}
        self._carriage = carriage or self._drawn
        self._cut: set[tuple[int, int]] = set()
        self._stopped: dict[int, list[tuple[int, int, bytes]]] = {}
        self._started = [False] * members
        self._clocks = [*clocks[:members], *[Clock()] * (members - len(clocks))]
        self._clock_read = [clock.offset_ms for clock in self._clocks]
        for process, at in enumerate([*starts_ms[:members], *[0.0] * (members - len(starts_ms))]):
            if at > 0:
                self._schedule(at, process, None)
            else:
                self._start(process)

    def __repr__(self) -> str:
        return (
            f"SimulatedNetwork(members={len(self.endpoints)}, seed={self.seed}, {self.faults}, "
            f"now={self.now:.3f})"
        )

    @property
    def datagrams(self) -> Counter[str]:
        """Number of datagrams that all members have sent so far, by kind of message."""
        return sum((endpoint.datagrams for endpoint in self.endpoints), Counter())

    @property
    def transmissions(self) -> Counter[str]:
        """Number of messages that all members have sent so far, by kind; a message to all counts once."""
        return sum((endpoint.transmissions for endpoint in self.endpoints), Counter())

    def broadcast(self, process: int, payload: bytes, holders: int = 1) -> None:
        """Let a member broadcast a message as soon as it has started and taken its earlier broadcasts.

        The message is delivered when `holders` members have it. If the core cannot wait for so many, the
        network must have layers.
        """
        self._waiting[process].append((payload, holders))
        if self._started[process] and process not in self._stopped:
            self._after_step(process)

    def script(self, at: float, action: Callable[[], None]) -> None:
        """Call `action` at this time, which has not passed, before other events of that time."""
        self._schedule(at, -1, None, action)

    def cut(self, links: Iterable[tuple[int, int]]) -> None:
        """Cut links: everything from the first to the second of each pair is lost until `heal`."""
        self._cut.update(links)

    def heal(self) -> None:
        """Restore all links that were cut."""
        self._cut.clear()

    def pause(self, process: int) -> None:
        """Stop a member that has started, like SIGSTOP: its datagrams wait, and its clock goes on."""
        if self._started[process]:
            self._stopped.setdefault(process, [])

    def resume(self, process: int) -> None:
        """Resume a stopped member: it takes the datagrams that have arrived, and then runs the timers that
        are due.
        """
        arrived = self._stopped.pop(process, None)
        if arrived is not None:
            for datagram in arrived:
                self._receive(process, datagram)
            self._ring(process)

    def clock(self, process: int) -> float:
        """Return the time that the clock of a member shows; it never goes backwards."""
        offset_ms, rate = self._clocks[process]
        self._clock_read[process] = max(self._clock_read[process], offset_ms + rate * self.now)
        return self._clock_read[process]

    def jump(self, process: int, ms: float) -> None:
        """Put a member's clock forward by so many milliseconds; timers that are due then expire at once."""
        offset_ms, rate = self._clocks[process]
        self._clocks[process] = Clock(offset_ms + ms, rate)
        if self._started[process] and process not in self._stopped:
            self._ring(process)

    @property
    def idle(self) -> bool:
        """Return True if every broadcast has its number at its source and nothing waits to be broadcast."""
        return not any(self._waiting) and all(endpoint.idle for endpoint in self.endpoints)

    def run(
        self, *, until: Callable[[], bool], limit_ms: float = 600_000.0, limit_steps: int = 10_000_000
    ) -> bool:
        """Simulate until `until()`; return False if a limit of virtual time or of steps came first."""
        last_step = self.steps + limit_steps
        while not until():
            if self.steps >= last_step or not self._agenda or self._agenda[0].at > limit_ms:
                return False
            self.step()
        return True

    def run_until_delivered(self, messages: int, *, limit_ms: float = 600_000.0) -> bool:
        """Simulate until all members have delivered so many messages and every source knows the numbers of
        its own; return False at the limit.
        """
        return self.run(
            until=lambda: self.idle and all(len(delivered) >= messages for delivered in self.deliveries),
            limit_ms=limit_ms,
        )

    def run_for(self, ms: float, *, watch: Callable[[], None] = lambda: None) -> None:
        """Simulate so much virtual time; `watch` is called after every step."""
        end = self.now + ms
        while self._agenda and self._agenda[0].at <= end:
            self.step()
            watch()
        self.now = end

    def step(self) -> None:
        """Simulate the next event. Raises `IndexError` when there will never be one."""
        due = heapq.heappop(self._agenda)
        self.now = due.at
        self.steps += 1
        if due.action is not None:
            due.action()
        elif not self._started[due.process]:
            if due.datagram is None:
                self._start(due.process)
            else:
                self.lost += 1
        elif due.process in self._stopped:
            if due.datagram is not None:
                self._stopped[due.process].append(due.datagram)
            elif self._alarms[due.process] == due.at:
                self._alarms[due.process] = None
        elif due.datagram is not None:
            self._receive(due.process, due.datagram)
        elif self._alarms[due.process] == due.at:
            self._alarms[due.process] = None
            self._ring(due.process)

    def _receive(self, process: int, datagram: tuple[int, int, bytes]) -> None:
        self._note_order(process, datagram)
        sender, _, frame = datagram
        endpoint, now = self.endpoints[process], self.clock(process)
        data = self._shells[process].received(sender, frame, now) if self._shells else frame
        if isinstance(data, Rejected):
            endpoint.drop(data, frame)
        elif data is not None:
            endpoint.datagram_received(sender, data, now)
        self._after_step(process)

    def _start(self, process: int) -> None:
        self._started[process] = True
        if self._shells:
            self._shells[process].start(self.clock(process))
        self.endpoints[process].start(self.clock(process))
        self._after_step(process)

    def _ring(self, process: int) -> None:
        """Let the timer of a member expire. A deadline that the member's clock misses by a rounding error
        counts as reached.
        """
        endpoint, now = self.endpoints[process], self.clock(process)
        deadline = endpoint.next_deadline()
        if deadline is not None and now < deadline < now + _ROUNDING_MS:
            self._clock_read[process] = now = deadline
        endpoint.tick(now)
        self._after_step(process)

    def _after_step(self, process: int) -> None:
        endpoint = self.endpoints[process]
        waiting = self._waiting[process]
        while waiting and not endpoint.busy:
            payload, holders = waiting.popleft()
            endpoint.broadcast(payload, self.clock(process), holders)
        self.deliveries[process] += endpoint.deliveries()
        for to, data in self._frames(process) if self._shells else endpoint.datagrams_to_send():
            for receiver in self._others[process] if to == EVERYBODY else (to,):
                self._carry(process, receiver, data)
        deadline = endpoint.next_deadline()
        if deadline is None:
            return
        offset_ms, rate = self._clocks[process]
        at = max(self.now, (deadline - offset_ms) / rate)
        alarm = self._alarms[process]
        if alarm is None or at < alarm:
            self._alarms[process] = at
            self._schedule(at, process, None)

    def _frames(self, process: int) -> list[Datagram]:
        shell, now = self._shells[process], self.clock(process)
        for to, data in self.endpoints[process].datagrams_to_send():
            shell.send(to, data, now)
        return shell.frames_to_send()

    def _carry(self, sender: int, to: int, data: bytes) -> None:
        self.sent += 1
        delays = self._carriage(sender, to, self.now)
        if not delays or (sender, to) in self._cut:
            self.lost += 1
            return
        self.duplicated += len(delays) - 1
        datagram = (sender, self.sent, data)
        for delay in delays:
            self._schedule(self.now + delay, to, datagram)

    def _drawn(self, sender: int, to: int, now: float) -> Sequence[float]:  # noqa: ARG002 - all are alike
        """Draw the fate of a datagram. Four random numbers are drawn for each datagram, so that the fate of
        one does not shift those of later ones.
        """
        shortest, longest = self.faults.delay_ms
        lost, repeated, first, second = [self._random.random() for _ in range(4)]
        if lost < self.faults.loss:
            return ()
        delays = [shortest + place * (longest - shortest) for place in (first, second)]
        return delays if repeated < self.faults.duplication else delays[:1]

    def _note_order(self, receiver: int, datagram: tuple[int, int, bytes]) -> None:
        pair = (datagram[0], receiver)
        if datagram[1] < self._latest.get(pair, 0):
            self.reordered += 1
        else:
            self._latest[pair] = datagram[1]

    def _schedule(
        self,
        at: float,
        process: int,
        datagram: tuple[int, int, bytes] | None,
        action: Callable[[], None] | None = None,
    ) -> None:
        self._order += 1
        heapq.heappush(self._agenda, _Due(at, self._order, process, datagram, action))


def _shell(me: int, members: int, keys: Keyring) -> Incarnations:
    """Return the layer that seals a member's datagrams; its incarnation is made from the member's number and
    not at random.
    """
    own = incarnation(1, me.to_bytes(CHANCE_BYTES))
    return Incarnations(me, members, own, Sealed("simulated", me, own, keys))
