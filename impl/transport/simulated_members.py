"""Simulated group whose members change, in one thread and in virtual time, over a network that loses.

Rules of this file:
1. A process is a place with an address. Each time it is started it is another member, a `Life` of its own;
   one that the others have taken for crashed comes back at once, as a joined group does.
2. Everything random comes from one generator with a seed: the same calls give the same events, bit by bit.
3. Time is virtual, in milliseconds from 0, and jumps to the next thing that happens. A timer rings when it is
   due, and at no other time: one that rang too often would hide a deadline that is wrong.
4. Processes meet the network as a socket would let them: bytes in, bytes out, one timer each, and sometimes
   the news that nobody listens at a port.

Losses and delays are drawn for each datagram, unless the caller says what becomes of it (`carriage`). All
else is scripted: what crashes, stops, leaves, is cut off or slow, and what clocks do. This module must not
know what a datagram holds.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from antiphon.impl.errors import InvalidSetting
from antiphon.impl.layers import Layers
from antiphon.impl.membership.datagrams import kind_of
from antiphon.impl.membership.detector import LOCAL, Timeouts
from antiphon.impl.membership.epoch import Epoch
from antiphon.impl.membership.member import Excluded, Member, View
from antiphon.impl.membership.membership import Event, Membership
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.registry import LISTED, listed
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.simulated import Carriage, Clock

__all__ = ["ORDERED", "Life", "SimulatedMembers", "Watcher"]

_LAYERS = Layers()

_ROUNDING_MS = 1e-3
"""Milliseconds that count as a rounding error: a deadline loses less on its way through two clocks."""

_OWN_MS = 0.1
"""Delay in milliseconds of a datagram to an earlier run of the own process, whatever the network does."""

ORDERED = [name for name in LISTED if (made := listed(name)) is not None and made.ordered]
"""Protocols with which all members of a group deliver in one order."""

Link = tuple[int, int]


@dataclass
class Life:
    """One run of one process, with the broadcasts and the events of its application."""

    member: Member
    machine: Membership
    events: list[Event] = field(default_factory=list)
    alive: bool = True
    paused: bool = False
    leaves: bool = False
    """True if the application wants to leave, so that the process does not come back."""
    sent: list[bytes] = field(default_factory=list)
    """Broadcasts of the run, in order."""
    sent_after: list[int] = field(default_factory=list)
    """Number of events before each of these broadcasts."""
    queue: list[tuple[bytes, tuple[str, int], bytes]] = field(default_factory=list)
    """Datagrams that have come while the process is stopped."""
    alarm: float | None = None
    delivered_at: list[float] = field(default_factory=list)
    violations: int = 0
    """Number of violations on lists that have ended."""
    epoch: Epoch | None = None

    @property
    def deliveries(self) -> list[Delivery[Member]]:
        """Deliveries of the run, in order."""
        return [event for event in self.events if isinstance(event, Delivery)]

    @property
    def views(self) -> list[View]:
        """Views of the run, in order."""
        return [event for event in self.events if isinstance(event, View)]

    @property
    def over(self) -> bool:
        """Return True if the run is no longer that of a member."""
        return self.machine.over

    @property
    def violations_seen(self) -> int:
        """Return the number of violations of all kinds in messages to this run."""
        return self.violations + _wrong(self.machine.epoch)


class Watcher(Protocol):
    """Listener that sees the events of a simulated group, and their causes."""

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Take note of the next input: before a datagram with this number and of this kind is handled, or,
        with None, before time goes on.
        """

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:
        """Take note that a process sends a datagram, of which `copies` will arrive."""

    def takes(self, process: int, life: Life, events: Sequence[Event]) -> None:
        """Take note of the events, possibly none, that the application of a process gets."""


class SimulatedMembers:
    """Simulated processes 0..n-1, the network between them, and a script."""

    def __init__(
        self,
        processes: int,
        seed: int,
        *,
        loss: float = 0.0,
        delay_ms: tuple[float, float] = (0.1, 1.0),
        carriage: Carriage | None = None,
        timeouts: Timeouts = LOCAL,
        protocol: Implementation[Any] | str = "irbp",
        rejoin: bool = True,
        layers: Layers = _LAYERS,
        hints: bool = False,
        seeds: Sequence[int] | None = None,
        clocks: Sequence[Clock] = (),
        watcher: Watcher | None = None,
    ) -> None:
        """Make processes, of which none has started.

        With `hints` a sender to a process that has ended learns that nobody listens there. All ask the
        processes `seeds` to be members, or without them all others. `carriage` decides the fate of each
        datagram; without it one is lost with the probability `loss`, comes twice with a quarter of it, and
        takes `delay_ms`.

        Raises:
            InvalidSetting: the protocol has no lists.
            UnknownProtocol: no protocol has this name.
        """
        made = listed(protocol) if isinstance(protocol, str) else protocol
        if made is None:
            raise InvalidSetting(f"protocol={protocol!r} runs with members that do not change")
        self.random = random.Random(seed)
        self.seed = seed
        self.loss, self.delay_ms, self.timeouts, self.hints = loss, delay_ms, timeouts, hints
        self.protocol = made
        self.rejoin, self.layers = rejoin, layers
        self.watcher = watcher
        self.now = 0.0
        self.steps = 0
        """Number of simulated events."""
        self.sent = self.lost = self.duplicated = self.reordered = 0
        self.transmissions: Counter[str] = Counter()
        """Datagrams sent so far, by kind."""
        self.false_suspicions = 0
        """Number of suspicions of members that were running."""
        self.addresses = [("10.0.0.1", 7000 + process) for process in range(processes)]
        self.lives: list[list[Life]] = [[] for _ in range(processes)]
        self.cut: set[Link] = set()
        self.cuts: Counter[Link] = Counter()
        """Number of datagrams that were lost on each cut link."""
        self.slow: dict[Link, float] = {}
        """Additional milliseconds that a datagram takes on a link."""
        self.slowed: Counter[Link] = Counter()
        """Number of delayed datagrams, by link."""
        self._carriage = carriage
        self._seeds = seeds
        self._returns: set[int] = set()
        """Processes whose member was excluded just now, and which come back."""
        self._waiting: list[deque[bytes]] = [deque() for _ in range(processes)]
        """Messages that applications want to broadcast, and cannot yet."""
        self._clocks = [*clocks[:processes], *[Clock()] * (processes - len(clocks))]
        self._clock_read = [clock.offset_ms for clock in self._clocks]
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._born = 0
        self._latest: dict[Link, int] = {}

    def __repr__(self) -> str:
        up = sum(bool(lives) and lives[-1].alive for lives in self.lives)
        told = f"{up} of {len(self.lives)} processes are up, seed={self.seed}, now={self.now:.3f}"
        return f"<SimulatedMembers of {self.protocol.messages.protocol}: {told}>"

    # The script ---------------------------------------------------------------------------------------------

    def at(self, when: float, do: Callable[[], None]) -> None:
        """Schedule a call of `do` at this virtual time."""
        self._order += 1
        heapq.heappush(self._agenda, (when, self._order, do))

    def place(self) -> int:
        """Add a process, which has not started and is no seed; return its number."""
        self.addresses.append(("10.0.0.1", 7000 + len(self.addresses)))
        self.lives.append([])
        self._waiting.append(deque())
        self._clocks.append(Clock())
        self._clock_read.append(0.0)
        return len(self.addresses) - 1

    def begin(
        self,
        process: int,
        founds: int | None = None,
        *,
        bootstrap: bool = False,
        protocol: Implementation[Any] | None = None,
    ) -> Life:
        """Start a process as a new member; `protocol` may be another version of the group's protocol."""
        self._returns.discard(process)
        self._born += 1
        host, port = self.addresses[process]
        incarnation = self._born.to_bytes(8) + self.random.randbytes(8)
        member = Member(incarnation, f"p{process}", host, port)
        machine = Membership(
            protocol or self.protocol, "g", member, seeds=self._asked(), founds=founds, bootstrap=bootstrap,
            timeouts=self.timeouts, layers=self.layers, chance=self._chances,
        )  # fmt: skip
        life = Life(machine.me, machine)
        self.lives[process].append(life)
        self._tell(process, "starts")
        machine.start(self.clock(process))
        self.after(process, life)
        return life

    @property
    def _chances(self) -> Callable[[], float] | None:
        """Return the generator of random numbers for a process; None if the protocol needs none."""
        return self.random.random if self.protocol.reforms else None

    def _asked(self) -> list[tuple[str, int]]:
        """Return the addresses of the seeds."""
        return self.addresses if self._seeds is None else [self.addresses[seed] for seed in self._seeds]

    def found(self, processes: range) -> None:
        """Start these processes; the first one founds the group with all of them."""
        for process in processes:
            self.begin(process, len(processes) if process == processes[0] else None)

    def crash(self, process: int) -> None:
        """End a process without a message."""
        self.life(process).alive = False
        self._returns.discard(process)
        self._waiting[process].clear()

    def pause(self, process: int, ms: float) -> None:
        """Stop a process for a while; datagrams wait meanwhile in its socket."""
        life = self.life(process)
        if not life.alive or life.paused:
            return
        life.paused = True
        self.at(self.now + ms, lambda: self._resume(process, life))

    def part(self, *sides: set[int]) -> None:
        """Let only processes of one side reach one another."""
        everybody = range(len(self.addresses))
        self.cut = {
            (p, q) for p in everybody for q in everybody if not any(p in side and q in side for side in sides)
        }

    def heal(self) -> None:
        """Let all processes reach one another again."""
        self.cut = set()

    def say(self, process: int, payload: bytes) -> bool:
        """Let the application of a process broadcast; return False if it has to wait."""
        life = self.life(process)
        if not life.alive or life.paused or life.machine.busy:
            return False
        self._say(process, life, payload)
        self.after(process, life)
        return True

    def want(self, process: int, payload: bytes) -> None:
        """Let the application of a process broadcast as soon as it can, in this run or a later one."""
        self._waiting[process].append(payload)
        life = self.life(process)
        if life.alive and not life.paused and not life.machine.busy:
            self.after(process, life)

    def leave(self, process: int) -> None:
        """Let a process leave, if it is a member and running."""
        life = self.life(process)
        if life.alive and not life.paused and not life.over and life.machine.epoch is not None:
            self.depart(process)

    def depart(self, process: int) -> None:
        """Let a running process leave, whether it is a member yet or not."""
        life = self.life(process)
        life.leaves = True
        self._waiting[process].clear()
        life.machine.leave(self.clock(process))
        self.after(process, life)

    def farewell(self, process: int) -> None:
        """Let a process that has left end with a message to the others."""
        life = self.life(process)
        life.machine.farewell()
        self.after(process, life)
        life.alive = False

    def begin_again(self, process: int) -> None:
        """Start a process that has ended, or has left."""
        life = self.life(process)
        if not life.alive or life.over:
            life.alive = False
            self.begin(process)

    def jump(self, process: int, ms: float) -> None:
        """Put the clock of a process forward by so many milliseconds; a negative `ms` makes the clock stand
        still for so long.
        """
        offset_ms, rate = self._clocks[process]
        self._clocks[process] = Clock(offset_ms + ms, rate)
        lives = self.lives[process]
        if lives and lives[-1].alive and not lives[-1].paused:
            self._ring(process, lives[-1], lives[-1].alarm)

    def life(self, process: int) -> Life:
        """Return the last run of a process."""
        return self.lives[process][-1]

    @property
    def all_lives(self) -> list[Life]:
        """Return every run of every process."""
        return [life for lives in self.lives for life in lives]

    @property
    def deliveries(self) -> list[list[Delivery[Member]]]:
        """Return the deliveries of each process, over all its runs."""
        return [[one for life in lives for one in life.deliveries] for lives in self.lives]

    @property
    def waits(self) -> bool:
        """Return True if the application of a running process has a broadcast that has to wait."""
        return any(
            waiting and lives and lives[-1].alive
            for waiting, lives in zip(self._waiting, self.lives, strict=True)
        )

    def up(self, process: int) -> bool:
        """Return True if a process has started, and neither crashed nor left; it may be about to
        come back.
        """
        return process in self._returns or (bool(self.lives[process]) and self.life(process).alive)

    # Time ---------------------------------------------------------------------------------------------------

    def run(self, until: float, limit_steps: int = 10_000_000) -> bool:
        """Simulate for some time; return False if the limit of events was reached before."""
        last = self.steps + limit_steps
        while self._agenda and self._agenda[0][0] <= until:
            if self.steps >= last:
                return False
            when, _, do = heapq.heappop(self._agenda)
            self.now = max(self.now, when)
            self.steps += 1
            do()
        self.now = until
        return True

    def clock(self, process: int) -> float:
        """Return the time that the clock of a process shows; it never goes backwards."""
        offset_ms, rate = self._clocks[process]
        self._clock_read[process] = max(self._clock_read[process], offset_ms + rate * self.now)
        return self._clock_read[process]

    def _tell(self, process: int, kind: str, datagram: int | None = None) -> None:
        if self.watcher is not None:
            self.watcher.cause(process, kind, datagram)

    def _resume(self, process: int, life: Life) -> None:
        life.paused, life.alarm = False, None
        if not life.alive:
            return
        queue, life.queue = life.queue, []
        self._tell(process, "goes on")
        now = self.clock(process)
        if self.random.random() < 0.5:
            life.machine.tick(now)
        for source, address, data in queue:
            life.machine.datagram_received(source, address, data, now)
        life.machine.tick(now)
        self.after(process, life)

    def after(self, process: int, life: Life) -> None:
        """Send a run's pending datagrams, set its timer, and give its events to the application. Start an
        excluded process again.
        """
        machine = life.machine
        self._take(process, life)
        waiting = self._waiting[process]
        if waiting and life.alive and not machine.busy:
            while waiting and not machine.busy:
                self._say(process, life, waiting.popleft())
            self._take(process, life)
        for to, data in machine.datagrams_to_send():
            address = to.address if isinstance(to, Member) else to
            incarnation = to.incarnation if isinstance(to, Member) else None
            self._send(process, life, self.addresses.index(address), incarnation, data)
        while machine.suspicion_changes:
            member, suspicion = machine.suspicion_changes.popleft()
            self.false_suspicions += suspicion.kind == "suspected" and self._runs(member)
        if machine.epoch is not life.epoch:
            life.violations += _wrong(life.epoch)
            life.epoch = machine.epoch
        deadline = machine.next_deadline()
        if deadline is not None:
            self._arm(process, life, deadline)
        if self.rejoin and machine.over and life.alive and isinstance(life.events[-1], Excluded):
            life.alive = False
            if not life.leaves:
                self._returns.add(process)
                self.at(self.now + 1.0, lambda: self._again(process))

    def _take(self, process: int, life: Life) -> None:
        """Give the pending events of a run to its application."""
        events = life.machine.events()
        life.events += events
        life.delivered_at += [self.now for event in events if isinstance(event, Delivery)]
        if self.watcher is not None:
            self.watcher.takes(process, life, events)

    def _say(self, process: int, life: Life, payload: bytes) -> None:
        life.machine.broadcast(payload, self.clock(process))
        life.sent.append(payload)
        life.sent_after.append(len(life.events))

    def _runs(self, member: Member) -> bool:
        """Return True if this member is the last run of its process, and is neither stopped nor ended."""
        lives = self.lives[self.addresses.index(member.address)]
        return bool(lives) and lives[-1].member == member and lives[-1].alive and not lives[-1].paused

    def _arm(self, process: int, life: Life, deadline: float) -> None:
        """Set the timer of a run to the time at which the process's clock shows `deadline`."""
        offset_ms, rate = self._clocks[process]
        at = max(self.now, (deadline - offset_ms) / rate)
        if life.alarm is None or at < life.alarm:
            life.alarm = at
            self.at(at, lambda: self._ring(process, life, at))

    def _again(self, process: int) -> None:
        if process in self._returns:
            self.begin(process)

    def _ring(self, process: int, life: Life, alarm: float | None) -> None:
        if alarm != life.alarm or not life.alive or life.paused:
            return
        life.alarm = None
        now, deadline = self.clock(process), life.machine.next_deadline()
        if deadline is not None and now < deadline < now + _ROUNDING_MS:
            self._clock_read[process] = now = deadline
        self._tell(process, "timer")
        life.machine.tick(now)
        self.after(process, life)

    def _send(self, sender: int, life: Life, to: int, incarnation: bytes | None, data: bytes) -> None:
        self.sent += 1
        number, kind = self.sent, kind_of(data)
        self.transmissions[kind] += 1
        delays = self._delays(sender, to)
        if delays and (sender, to) in self.slow:
            self.slowed[sender, to] += 1
            delays = [delay + self.slow[sender, to] for delay in delays]
        self.lost += not delays
        self.duplicated += max(0, len(delays) - 1)
        if self.watcher is not None:
            self.watcher.sends(sender, to, number, kind, len(delays))
        for delay in delays:
            arrives = self.now + delay
            self.at(arrives, lambda: self._arrive(sender, life, to, incarnation, number, data))

    def _delays(self, sender: int, to: int) -> Sequence[float]:
        """Return the delays of those copies of the next datagram that arrive."""
        if sender == to:
            return (_OWN_MS,)
        if self._carriage is not None:
            return self._carriage(sender, to, self.now)
        copies = 0 if self.random.random() < self.loss else 1
        copies += self.random.random() < self.loss / 4
        return [self.random.uniform(*self.delay_ms) for _ in range(copies)]

    def _arrive(
        self, sender: int, life: Life, to: int, incarnation: bytes | None, number: int, data: bytes
    ) -> None:
        if (sender, to) in self.cut:
            self.cuts[sender, to] += 1
            self.lost += 1
            return
        if not self.lives[to]:
            return
        receiver = self.life(to)
        if not receiver.alive and not receiver.over:
            self.at(self.now + self.random.uniform(*self.delay_ms), lambda: self._hint(sender, life, to))
        if not receiver.alive or (incarnation is not None and receiver.member.incarnation != incarnation):
            return
        self._note_order((sender, to), number)
        arrived = (life.member.incarnation, self.addresses[sender], data)
        if receiver.paused:
            receiver.queue.append(arrived)
            return
        self._tell(to, kind_of(data), number)
        receiver.machine.datagram_received(*arrived, self.clock(to))
        self.after(to, receiver)

    def _note_order(self, link: Link, number: int) -> None:
        if number < self._latest.get(link, 0):
            self.reordered += 1
        self._latest[link] = max(number, self._latest.get(link, 0))

    def _hint(self, sender: int, life: Life, to: int) -> None:
        """Report to the sender of a datagram that nobody listens at its destination, as an operating system
        does.
        """
        epoch = life.machine.epoch
        if not self.hints or not life.alive or life.paused or epoch is None:
            return
        self._tell(sender, "nobody listens")
        for member in epoch.roster.members:
            if member.address == self.addresses[to]:
                life.machine.hint(member, self.clock(sender))
        self.after(sender, life)


def _wrong(epoch: Epoch | None) -> int:
    """Return the number of messages on a list that no correct member sends."""
    if epoch is None:
        return 0
    endpoint = epoch.endpoint
    return epoch.rejected + (endpoint.violations.total() if isinstance(endpoint, Endpoint) else 0)
