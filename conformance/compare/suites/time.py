"""Checks of a protocol core's stated times, on simulated clocks.

1. In a quiet group the first message of every member is delivered everywhere within the stated milliseconds,
  at the start and after ten idle minutes, and costs no more datagrams then.
2. A deadline is never further away than the longest stated waiting time, and after a tick none is over.
3. After any partition, one way or both, or a late start, messages that were broadcast meanwhile are delivered
  everywhere within a stated time.
4. Clocks that differ, run at other rates or jump forward change only the time at which timers expire, and a
  jump lets each timer expire once at most.

Whatever happened, all members deliver the same messages, once and in one order. A core that needs queues has
them from its layers. This module must not know any protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Implementation, Network
from antiphon.impl.transport.simulated import Clock, Faults, SimulatedNetwork

SECOND_MS = 1_000.0
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS

DELAY_MS = 1.0
"""Milliseconds of delay of each datagram."""


class Times(NamedTuple):
    """Stated times of a protocol, in milliseconds."""

    delivered_ms: float
    """Longest time from the broadcast of a message of a quiet group to its last delivery."""
    waiting_ms: float
    """Longest time between two expiries of a timer."""
    recovered_ms: float
    """Longest time from the end of a partition to the last delivery of a message that was
    broadcast before.
    """
    circulating: int = 0
    """Number of datagrams by which equal runs may differ, since a token circulates in a quiet group."""


def check_times(
    implementation: Implementation[Any], times: Times, *, members: tuple[int, ...] = (2, 3, 4)
) -> None:
    """Check the stated times of an implementation.

    Raises:
        AssertionError: a rule is broken; the message says which, in which run, and when.
    """
    for count in members:
        costs = _quiet(implementation, times, count, 0.0)
        later = _quiet(implementation, times, count, 10 * MINUTE_MS)
        if any(then > at_first + times.circulating for then, at_first in zip(later, costs, strict=True)):
            told = f"a message of each took {costs} datagrams at the start and {later} later"
            raise AssertionError(f"{count} members: {told}")
        _pauses(implementation, times, count)
        for links in _partitions(count):
            _cut_off(implementation, times, count, links)
        for late in range(count):
            starts = [30 * SECOND_MS if member == late else 0.0 for member in range(count)]
            _apart(implementation, times, count, f"member {late} starts late", starts_ms=starts)
        offsets = [Clock(offset_ms=1e9 * member) for member in range(count)]
        _apart(implementation, times, count, "clocks of other days", clocks=offsets)
        rates = [Clock(1e6 * member, (0.5, 1.0, 1.75)[member % 3]) for member in range(count)]
        _apart(implementation, times, count, "clocks at other rates", clocks=rates)
        for member in range(count):
            _jumps(implementation, times, count, member)


class _Run:
    """Run of a group on simulated clocks; it checks the members' deadlines at every step."""

    def __init__(
        self,
        implementation: Implementation[Any],
        times: Times,
        members: int,
        what: str,
        *,
        clocks: Sequence[Clock] = (),
        starts_ms: Sequence[float] = (),
    ) -> None:
        self.times, self.what, self.members = times, f"{members} members, {what}", range(members)
        faults = Faults(delay_ms=(DELAY_MS, DELAY_MS))
        self.network = SimulatedNetwork(
            implementation,
            members,
            seed=0,
            faults=faults,
            clocks=clocks,
            starts_ms=starts_ms,
            layers=Layers() if implementation.network is Network.FIFO else None,
        )
        self.slowest = min([1.0, *(clock.rate for clock in clocks)])
        self.sent: set[tuple[int, bytes]] = set()

    def broadcast(self, member: int) -> None:
        payload = b"%d of %d" % (len(self.sent), member)
        self.sent.add((member, payload))
        self.network.broadcast(member, payload)

    def pass_time(self, ms: float) -> None:
        self.network.run_for(ms, watch=self._watch)

    def delivers_within(self, ms: float) -> None:
        """Require that all broadcast messages are delivered everywhere, in one order, after this time."""
        self.pass_time(ms / self.slowest)
        for member in self.members:
            got = [(delivery.source, delivery.payload) for delivery in self.network.deliveries[member]]
            missing = self.sent - set(got)
            if missing:
                raise self.broken(f"{ms} ms later member {member} has not delivered {sorted(missing)}")
            if len(got) > len(set(got)) or self.network.deliveries[member] != self.network.deliveries[0]:
                raise self.broken(f"members 0 and {member} deliver otherwise or twice")

    def broken(self, told: str) -> AssertionError:
        return AssertionError(f"{self.what}, at {self.network.now:.1f} ms: {told}")

    def _watch(self) -> None:
        for member, endpoint in enumerate(self.network.endpoints):
            deadline = endpoint.next_deadline()
            if deadline is None:
                continue
            left = deadline - self.network.clock(member)
            if left > self.times.waiting_ms:
                raise self.broken(f"member {member} waits for {left:.1f} ms")
            if left < -DELAY_MS:
                raise self.broken(f"the deadline of member {member} was {-left:.1f} ms ago")


def _quiet(implementation: Implementation[Any], times: Times, members: int, idle_ms: float) -> list[int]:
    """Check deliveries in a quiet group; return how many datagrams a message of each member costs."""
    costs = []
    for member in range(members):
        run = _Run(implementation, times, members, f"quiet for {idle_ms} ms, then a message of {member}")
        run.pass_time(idle_ms + 2 * DELAY_MS)
        before = run.network.sent
        run.broadcast(member)
        run.delivers_within(times.delivered_ms)
        run.pass_time((members - 1) * times.delivered_ms)
        costs.append(run.network.sent - before)
    run = _Run(implementation, times, members, f"quiet for {idle_ms} ms, then a message of each")
    run.pass_time(idle_ms + 2 * DELAY_MS)
    before = run.network.sent
    for member in run.members:
        run.broadcast(member)
    run.delivers_within(members * times.delivered_ms)
    if run.network.sent - before > sum(costs) + times.circulating:
        told = f"{members} messages took {run.network.sent - before} datagrams, alone {costs}"
        raise run.broken(told)
    return costs


def _pauses(implementation: Implementation[Any], times: Times, members: int) -> None:
    """Check that a message after a pause is delivered. The pauses grow by half of the longest waiting time,
    up to twenty such steps.
    """
    run = _Run(implementation, times, members, "a message after every pause")
    for number in range(40):
        run.pass_time((number + 1) * times.waiting_ms / 2)
        run.broadcast(number % members)
        run.delivers_within(times.delivered_ms)


def _partitions(members: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the links that each partition cuts: one link in one direction; all from a member; all to it;
    both; all links.
    """
    everything = list(permutations(range(members), 2))
    yield everything
    for link in everything:
        yield [link]
    for member in range(members):
        outward = [link for link in everything if link[0] == member]
        inward = [link for link in everything if link[1] == member]
        yield from (outward, inward, outward + inward)


def _cut_off(
    implementation: Implementation[Any], times: Times, members: int, links: list[tuple[int, int]]
) -> None:
    """Cut links for thirty of the longest waiting times, and check that messages broadcast meanwhile are
    delivered afterwards. The messages are from all members, or from one that is not heard, at once or later.
    """
    unheard = sorted({link[0] for link in links})
    for first_ms, senders in [(0.0, list(range(members))), *[(10.0, [member]) for member in unheard]]:
        run = _Run(implementation, times, members, f"without {links} from {first_ms} ms on")
        run.pass_time(first_ms)
        run.network.cut(links)
        for member in senders:
            run.broadcast(member)
        run.pass_time(30 * times.waiting_ms)
        for member in senders:
            run.broadcast(member)
        run.network.heal()
        run.delivers_within(times.recovered_ms)


def _apart(
    implementation: Implementation[Any], times: Times, members: int, what: str, **settings: Any
) -> None:
    """Check that messages are delivered which members broadcast at the start, and a minute later while all
    links are cut.
    """
    run = _Run(implementation, times, members, what, **settings)
    for member in run.members:
        run.broadcast(member)
    run.pass_time(max(settings.get("starts_ms", [0.0])))
    run.delivers_within(times.recovered_ms)
    run.network.cut(permutations(run.members, 2))
    for member in run.members:
        run.broadcast(member)
    run.pass_time(MINUTE_MS)
    run.network.heal()
    run.delivers_within(times.recovered_ms)


def _jumps(implementation: Implementation[Any], times: Times, members: int, member: int) -> None:
    """Let the clock of a member jump forward by an hour, in a quiet group and while timers run; check that
    few datagrams follow, and that all messages are delivered.
    """
    run = _Run(implementation, times, members, f"the clock of {member} jumps")
    for _ in range(2):
        run.pass_time(10 * DELAY_MS)
        before = run.network.sent
        run.network.jump(member, HOUR_MS)
        run.pass_time(2 * DELAY_MS)
        if run.network.sent - before > 8 * members:
            raise run.broken(f"{run.network.sent - before} datagrams follow")
        run.broadcast(member)
        run.network.cut(permutations(run.members, 2))
    run.network.heal()
    run.delivers_within(times.recovered_ms)
