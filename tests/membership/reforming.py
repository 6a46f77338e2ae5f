"""A view whose members reform its token lists, on a schedule that a seed draws, in virtual time.

Each member is a `Reformation` with the rings of its lists. Links between them lose nothing and keep the order
of each pair; packets of the rings are lost, repeated and reordered. Members are suspected, rightly or not,
crash, leave, and let others in. In the end all is calm: who is down is given up, nobody else is suspected,
and nothing is lost.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from typing import Any

from msgspec import structs

from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.reformation import Reformation, Stage
from antiphon.impl.membership.succession import Next, Out, Roster
from antiphon.impl.membership.view_change import Kind
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.rbp import FIGURE_25
from antiphon.impl.protocols.token_lists import TokenLists

__all__ = ["Broken", "Process", "Run"]

TIMES = Timeouts(heartbeat_ms=10, suspect_ms=40, exclude_ms=160)

_CALM_STEPS = 6_000


class Broken(AssertionError):
    """A promise is broken."""


class Process:
    """One member: its rings, its Reformation, and what was delivered."""

    def __init__(self, run: Run, me: int, machine: type[Reformation], rings: type[TokenLists]) -> None:
        self.run, self.me = run, me
        self.lists = rings(me, run.count, run.settings)
        self.machine = machine(
            run.roster, me, self.lists, self.finish, timeouts=TIMES, chance=run.random.random
        )
        self.delivered: list[Delivery] = []
        self.sent = 0
        self.follows: Next | Out | None = None
        self.suspected: frozenset[int] = frozenset()
        self.given_up: frozenset[int] = frozenset()

    def finish(self, agreed: Report) -> bool:
        """Deliver everything, at the end of the view."""
        self.delivered += self.lists.adopt(agreed)
        return True

    def say(self) -> None:
        """Broadcast a message, if that may be."""
        if not self.machine.stopped and not self.lists.busy:
            self.sent += 1
            self.lists.broadcast(b"%d:%d" % (self.me, self.sent), self.run.now)
            self.settle()

    def settle(self) -> None:
        """Do what needs no message, and send what is to be sent."""
        run = self.run
        if self.follows is not None:
            return
        if not self.machine.stopped:
            self.delivered += self.lists.settle(run.now)
            self.call()
            self.machine.suspect(self.suspected, self.given_up)
        self.follows = self.machine.go_on(run.now)
        if self.machine.moved() and not self.machine.stopped:
            self.delivered += self.lists.settle(run.now)
        for to, message in self.machine.outputs():
            run.links[self.me, to].append(message)
        if not self.machine.stopped:
            run.packets += [(self.me, to, packet) for to, packet in self.lists.outputs()]

    def call(self) -> None:
        """Ask for another list, as a membership does."""
        if 2 * len(self.suspected) >= self.run.count:
            return
        if self.given_up >= self.suspected and self.given_up:
            self.machine.call(Kind.REGULAR)
        elif self.suspected or self.machine.returns:
            self.machine.call(Kind.INTERMEDIATE)

    def tick(self) -> None:
        """Let waiting times run out."""
        if not self.machine.stopped:
            self.lists.tick(self.run.now)
            self.settle()


class Run:
    """Members 0..n-1 of one view."""

    def __init__(
        self,
        count: int,
        seed: int,
        *,
        ends: bool = True,
        machine: type[Reformation] = Reformation,
        rings: type[TokenLists] = TokenLists,
    ) -> None:
        """Draw from this seed; without `ends` the view does not end before all is calm."""
        self.ends = ends
        self.random = random.Random(seed)
        self.count, self.now = count, 0.0
        self.settings = structs.replace(FIGURE_25, kept_bytes=self.random.choice((FIGURE_25.kept_bytes, 200)))
        self.roster = Roster(1, tuple(_member(place) for place in range(count)), count)
        self.links: dict[tuple[int, int], deque[Any]] = {
            (p, q): deque() for p in range(count) for q in range(count) if p != q
        }
        self.packets: list[tuple[int, int, Any]] = []
        self.down: set[int] = set()
        self.crashes = self.random.randrange((count + 1) // 2)
        self.happened: Counter[str] = Counter()
        self.all = [Process(self, me, machine, rings) for me in range(count)]
        for process in self.all:
            process.lists.start(0.0)
            process.settle()

    @property
    def up(self) -> list[Process]:
        """The members that did not crash."""
        return [process for process in self.all if process.me not in self.down]

    def go(self, steps: int = 400) -> None:
        """Take steps, and then come to rest. Raises `Broken`."""
        for _ in range(steps):
            self.step()
        self.check()
        self.rest()
        self.check()

    def step(self) -> None:
        """Let one random event happen."""
        chance, some = self.random, self.random.choice(self.up)
        match chance.choices(range(8), (40, 40, 8, 12, 3, 0.3, 0.15, 0.15))[0]:
            case 0:
                self.packet(loses=True)
            case 1:
                self.link()
            case 2:
                some.say()
            case 3:
                self.now += chance.choice((1.0, 5.0, 20.0))
                some.tick()
            case 4:
                wrong = {one for one in range(self.count) if one != some.me and chance.random() < 0.25}
                some.suspected = frozenset(wrong)
                some.given_up = frozenset(one for one in wrong if self.ends and chance.random() < 0.2)
                some.settle()
            case 5 if self.crashes:
                self.crashes -= 1
                self.happened["crash"] += 1
                self.down.add(some.me)
            case 6 if self.ends:
                some.machine.leave()
                some.settle()
            case 7 if self.ends:
                some.machine.admit(_member(self.count + some.me))
                some.settle()

    def packet(self, *, loses: bool) -> None:
        """Let a packet of a ring come, or get lost."""
        if not self.packets:
            return
        at = self.random.randrange(len(self.packets))
        sender, to, packet = self.packets[at]
        if self.random.random() > 0.05 or not loses:
            self.packets[at] = self.packets[-1]
            self.packets.pop()
        if to not in self.down and not (loses and self.random.random() < 0.05):
            process = self.all[to]
            if not process.machine.stopped:
                process.lists.receive(sender, packet, self.now)
                process.settle()

    def link(self) -> None:
        """Let a message of Reformation come."""
        waiting = [pair for pair, queue in self.links.items() if queue and pair[1] not in self.down]
        if waiting:
            sender, to = self.random.choice(waiting)
            message = self.links[sender, to].popleft()
            self.all[to].machine.receive(sender, message, self.now)
            self.all[to].settle()

    def rest(self) -> None:
        """Let everything come, suspect who is down, and let time go by until nothing is left to do."""
        for step in range(_CALM_STEPS):
            out = {one.me for one in self.up if isinstance(one.follows, Out)}
            gone = self.down | {
                p for p in out if not any(self.links[pair] for pair in self.links if pair[0] == p)
            }
            for process in self.up:
                suspected = frozenset(gone) - {process.me}
                if process.suspected != suspected or process.given_up != suspected:
                    process.suspected = process.given_up = suspected
                    process.settle()
            if any(queue for (_, to), queue in self.links.items() if to not in self.down):
                self.link()
            elif self.packets and step % 4:
                self.packet(loses=False)
            else:
                self.now += 5.0
                for process in self.up:
                    process.tick()
            if step % 16 == 0 and self.is_settled(gone):
                return
        told = "; ".join(f"{one.machine!r} {one.lists!r} {one.follows is not None}" for one in self.up)
        raise Broken(f"no rest: {told}")

    def is_settled(self, gone: set[int]) -> bool:
        """Return True if all have ended the view, or work in one list with all; or too few are left."""
        rest = [one for one in self.up if one.follows is None]
        ends = gone or any(one.follows for one in self.up) or any(one.machine.leaving for one in self.up)
        if ends or not rest:
            goes_on = any(isinstance(one.follows, Next) for one in self.up)
            return not rest or (2 * len(rest) <= self.count and not goes_on)
        works = all(one.machine.stage is Stage.NORMAL and one.lists.begun for one in rest)
        same = len({(one.lists.version, len(one.delivered)) for one in rest}) == 1
        return works and same and all(self.has(one) == one.sent for one in rest)

    def has(self, process: Process) -> int:
        """The number of own messages that were delivered to a process."""
        return sum(one.source == process.me for one in process.delivered)

    # What is promised ---------------------------------------------------------------------------------------

    def check(self) -> None:
        """Fail if there are two orders, two ends of the view, or a message that is not the next of its
        source.
        """
        longest = max((one.delivered for one in self.all), key=len)
        for one in self.all:
            if one.delivered != longest[: len(one.delivered)]:
                raise Broken(f"member {one.me} delivers otherwise than another one")
            if one.lists.violations or any(self.all[m].lists.broken for m in range(self.count)):
                raise Broken(f"member {one.me} is told {dict(one.lists.violations)}")
        for source in range(self.count):
            ids = [one.id for one in longest if one.source == source]
            if ids != list(range(1, len(ids) + 1)) or len(ids) > self.all[source].sent:
                raise Broken(f"of member {source} {ids} are delivered")
        if any(one.payload != b"%d:%d" % (one.source, one.id) for one in longest):
            raise Broken("a message has the name of another one")
        ends = [one for one in self.all if isinstance(one.follows, Next)]
        if len({(str(one.follows), len(one.delivered)) for one in ends}) > 1:
            raise Broken("the view ends in two ways")
        if ends and len(longest) > len(ends[0].delivered):
            raise Broken("a member delivers more than the view has")
        core = {process for one in ends for process in one.machine.ends.core}  # type: ignore[union-attr]
        for one in self.all:
            if isinstance(one.follows, Out) and one.me in core and not one.machine.lost:
                raise Broken(f"member {one.me} is in the next view, and ends")


def _member(place: int) -> Member:
    return Member(place.to_bytes(16), f"m{place}", "10.0.0.1", 7000 + place)
