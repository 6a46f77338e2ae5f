"""Whole groups in virtual time whose members crash, stop, part, join and leave; what they must keep.

Everything random comes from one generator with a seed. A process is a place with an address; each time it is
started it is another member.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from antiphon.impl.layers import Layers
from antiphon.impl.membership.detector import LOCAL, Timeouts
from antiphon.impl.membership.member import Excluded, Left, Member, Refused, View
from antiphon.impl.membership.membership import Event, Membership
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.registry import LISTED, listed

_LAYERS = Layers()

ORDERED = [name for name in LISTED if (made := listed(name)) is not None and made.ordered]
"""The protocols with which all members of a group deliver in one order."""


@dataclass
class Life:
    """One run of one process: what its application sees."""

    member: Member
    machine: Membership
    events: list[Event] = field(default_factory=list)
    alive: bool = True
    paused: bool = False
    sent: list[bytes] = field(default_factory=list)
    queue: list[tuple[bytes, tuple[str, int], bytes]] = field(default_factory=list)
    alarm: float | None = None
    delivered_at: list[float] = field(default_factory=list)

    @property
    def deliveries(self) -> list[Delivery[Member]]:
        """What it has delivered, in order."""
        return [event for event in self.events if isinstance(event, Delivery)]

    @property
    def views(self) -> list[View]:
        """What views it has seen, in order."""
        return [event for event in self.events if isinstance(event, View)]

    @property
    def over(self) -> bool:
        """Whether it is a member no more."""
        return any(isinstance(event, Excluded | Left | Refused) for event in self.events)


class Simulation:
    """Processes 0..n-1, the network between them, and a script."""

    def __init__(
        self,
        processes: int,
        seed: int,
        *,
        loss: float = 0.0,
        delay_ms: tuple[float, float] = (0.1, 1.0),
        timeouts: Timeouts = LOCAL,
        protocol: Implementation[Any] | str = "irbp",
        rejoin: bool = True,
        layers: Layers = _LAYERS,
        hints: bool = False,
    ) -> None:
        self.hints = hints
        """Whether who sends to a process that has ended learns that nobody listens there."""
        self.random = random.Random(seed)
        self.seed = seed
        self.loss, self.delay_ms, self.timeouts = loss, delay_ms, timeouts
        made = listed(protocol) if isinstance(protocol, str) else protocol
        assert made is not None, "it has lists"
        self.protocol = made
        self.rejoin = rejoin
        self.layers = layers
        self.now = 0.0
        self.addresses = [("10.0.0.1", 7000 + process) for process in range(processes)]
        self.lives: list[list[Life]] = [[] for _ in range(processes)]
        self.cut: set[tuple[int, int]] = set()
        self.deaf: set[int] = set()
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._order = 0
        self._born = 0

    # The script ---------------------------------------------------------------------------------------------

    def at(self, when: float, do: Callable[[], None]) -> None:
        """Let something happen at this time."""
        self._order += 1
        heapq.heappush(self._agenda, (when, self._order, do))

    def begin(self, process: int, founds: int | None = None, *, bootstrap: bool = False) -> Life:
        """Start a process, as a new member."""
        self._born += 1
        host, port = self.addresses[process]
        incarnation = self._born.to_bytes(8) + self.random.randbytes(8)
        member = Member(incarnation, f"p{process}", host, port)
        machine = Membership(
            self.protocol, "g", member, seeds=self.addresses, founds=founds, bootstrap=bootstrap,
            timeouts=self.timeouts, layers=self.layers,
        )  # fmt: skip
        life = Life(member, machine)
        self.lives[process].append(life)
        machine.start(self.now)
        self.after(process, life)
        return life

    def found(self, processes: range) -> None:
        """Start these processes; the first one founds the group with all of them."""
        for process in processes:
            self.begin(process, len(processes) if process == processes[0] else None)

    def crash(self, process: int) -> None:
        """End a process without a word."""
        self.life(process).alive = False

    def pause(self, process: int, ms: float) -> None:
        """Stop a process for a while; what comes meanwhile waits in its socket."""
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
        """Let all reach all."""
        self.cut = set()

    def say(self, process: int, payload: bytes) -> bool:
        """Let the application of a process broadcast; whether it could."""
        life = self.life(process)
        if not life.alive or life.paused or life.machine.busy:
            return False
        life.machine.broadcast(payload, self.now)
        life.sent.append(payload)
        self.after(process, life)
        return True

    def leave(self, process: int) -> None:
        """Let a process leave, if it is a member and runs."""
        life = self.life(process)
        if life.alive and not life.paused and not life.over and life.machine.epoch is not None:
            life.machine.leave(self.now)
            self.after(process, life)

    def farewell(self, process: int) -> None:
        """Let a process that has left end with a word."""
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

    def life(self, process: int) -> Life:
        """The last run of a process."""
        return self.lives[process][-1]

    @property
    def all_lives(self) -> list[Life]:
        """Every run of every process."""
        return [life for lives in self.lives for life in lives]

    # Time ---------------------------------------------------------------------------------------------------

    def run(self, until: float) -> None:
        """Let time go by."""
        while self._agenda and self._agenda[0][0] <= until:
            when, _, do = heapq.heappop(self._agenda)
            self.now = max(self.now, when)
            do()
        self.now = until

    def _resume(self, process: int, life: Life) -> None:
        life.paused, life.alarm = False, None
        if not life.alive:
            return
        queue, life.queue = life.queue, []
        if self.random.random() < 0.5:
            life.machine.tick(self.now)
        for source, address, data in queue:
            life.machine.datagram_received(source, address, data, self.now)
        life.machine.tick(self.now)
        self.after(process, life)

    def after(self, process: int, life: Life) -> None:
        """Send what is to be sent, arm the timer, take the events; who is left out comes back."""
        machine = life.machine
        for to, data in machine.datagrams_to_send():
            address = to.address if isinstance(to, Member) else to
            incarnation = to.incarnation if isinstance(to, Member) else None
            self._send(process, life, self.addresses.index(address), incarnation, data)
        events = machine.events()
        life.events += events
        life.delivered_at += [self.now for event in events if isinstance(event, Delivery)]
        deadline = machine.next_deadline()
        if deadline is not None and (life.alarm is None or deadline < life.alarm):
            life.alarm = max(deadline, self.now)
            self.at(life.alarm, partial(self._ring, process, life, life.alarm))
        if self.rejoin and life.alive and isinstance(life.events[-1] if life.events else None, Excluded):
            life.alive = False
            self.at(self.now + 1.0, lambda: self._again(process, life))

    def _again(self, process: int, life: Life) -> None:
        if self.life(process) is life:
            self.begin(process)

    def _ring(self, process: int, life: Life, alarm: float | None) -> None:
        if alarm != life.alarm or not life.alive or life.paused:
            return
        life.alarm = None
        life.machine.tick(self.now)
        self.after(process, life)

    def _send(self, sender: int, life: Life, to: int, incarnation: bytes | None, data: bytes) -> None:
        copies = 0 if self.random.random() < self.loss else 1
        copies += self.random.random() < self.loss / 4
        for _ in range(copies):
            delay = self.random.uniform(*self.delay_ms)
            self.at(self.now + delay, lambda: self._arrive(sender, life, to, incarnation, data))

    def _arrive(self, sender: int, life: Life, to: int, incarnation: bytes | None, data: bytes) -> None:
        if (sender, to) in self.cut or not self.lives[to]:
            return
        receiver = self.life(to)
        if not receiver.alive and not receiver.over:
            self.at(self.now + self.random.uniform(*self.delay_ms), lambda: self._hint(sender, life, to))
        if not receiver.alive or (incarnation is not None and receiver.member.incarnation != incarnation):
            return
        arrived = (life.member.incarnation, self.addresses[sender], data)
        if receiver.paused:
            receiver.queue.append(arrived)
            return
        receiver.machine.datagram_received(*arrived, self.now)
        self.after(to, receiver)


    def _hint(self, sender: int, life: Life, to: int) -> None:
        """Let the operating system say that nobody listens there, to each that sends there."""
        epoch = life.machine.epoch
        if not self.hints or not life.alive or life.paused or epoch is None:
            return
        for member in epoch.roster.members:
            if member.address == self.addresses[to]:
                life.machine.hint(member, self.now)
        self.after(sender, life)


def keeps_its_promises(simulation: Simulation) -> None:
    """Fail unless all have seen one history: the same messages at the same places, the same views between."""
    at: dict[int, tuple[bytes, int, bytes]] = {}
    views: dict[int, tuple[Member, ...]] = {}
    cuts: dict[int, int] = {}
    for life in simulation.all_lives:
        number: int | None = None
        seen: set[tuple[bytes, int]] = set()
        last_view = 0
        for event in life.events:
            if isinstance(event, Delivery):
                name = (event.source.incarnation, event.id)
                told = (*name, event.payload)
                assert at.setdefault(event.number, told) == told, f"two messages at place {event.number}"
                assert number is None or event.number == number + 1, f"{event} after {number}"
                assert name not in seen, f"{name} twice at {life.member}"
                seen.add(name)
                number = event.number
            elif isinstance(event, View):
                assert event.number > last_view, f"view {event.number} after {last_view}"
                last_view = event.number
                assert views.setdefault(event.number, event.members) == event.members
                assert life.member in event.members
                if number is not None:
                    assert cuts.setdefault(event.number, number) == number, f"view {event.number} elsewhere"
    sent = {
        (life.member.incarnation, count): payload
        for life in simulation.all_lives
        for count, payload in enumerate(life.sent, 1)
    }
    for source, count, payload in at.values():
        assert sent.get((source, count)) == payload, f"{source.hex()}:{count} was not broadcast so"


def keeps_view_synchrony(simulation: Simulation) -> None:
    """Fail unless all that go from one view to the next have delivered the same between the two.

    Each message once, in the order of its source, in one view only, as it was broadcast; the places of those
    that stay agree where a view begins.
    """
    between: dict[int, dict[tuple[bytes, int], bytes]] = {}
    views: dict[int, tuple[Member, ...]] = {}
    cuts: dict[int, int] = {}
    sent = {
        (life.member.incarnation, count): payload
        for life in simulation.all_lives
        for count, payload in enumerate(life.sent, 1)
    }
    at: dict[tuple[bytes, int], int] = {}
    for life in simulation.all_lives:
        number, view = None, 0
        last: dict[bytes, int] = {}
        some: dict[tuple[bytes, int], bytes] = {}
        for event in life.events:
            if isinstance(event, Delivery):
                source = event.source.incarnation
                assert number is None or event.number == number + 1, f"{event} after {number}"
                assert event.id == last.get(source, event.id - 1) + 1, f"{event} out of its source's order"
                assert sent[source, event.id] == event.payload
                assert at.setdefault((source, event.id), view) == view, f"{event} in two views"
                number, last[source], some[source, event.id] = event.number, event.id, event.payload
            elif isinstance(event, View):
                assert event.number > view
                assert views.setdefault(event.number, event.members) == event.members
                if number is not None:
                    assert cuts.setdefault(event.number, number) == number
                if view:
                    assert event.number == view + 1
                    assert between.setdefault(view, some) == some, f"{life.member} at the end of view {view}"
                view, some = event.number, {}


def all_agree_at_the_end(simulation: Simulation, processes: set[int]) -> None:
    """Fail unless these processes are in one view together, and have delivered all that each has sent."""
    lives = [simulation.life(process) for process in sorted(processes)]
    last = {life.views[-1].number if life.views else None for life in lives}
    assert len(last) == 1, f"views {last}: {[repr(life.machine) for life in lives]}"
    members = {member.name for member in lives[0].views[-1].members}
    assert members == {f"p{process}" for process in processes}, members
    ends = {life.machine.delivered for life in lives}
    assert len(ends) == 1, ends
    for life in lives:
        mine = [event.payload for event in life.deliveries if event.source == life.member]
        assert mine == life.sent, f"{life.member}: sent {len(life.sent)}, delivered {len(mine)}"
