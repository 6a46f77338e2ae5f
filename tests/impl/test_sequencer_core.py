"""The core of SEQUENCER: what it refuses, and a view change as a membership with a flush would drive it."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier
from antiphon.impl.protocols.sequencer import Core, SequencerViolation, Settings, sequencer
from antiphon.impl.protocols.sequencer.messages import Data, Forward
from antiphon.impl.protocols.sequencer.process import EARLY_MAX
from antiphon.impl.protocols.views import ChangesViews
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


class TestSequencer(CoreSuite):
    """A message and its number; the queues double four times what they wait, more where clocks differ."""

    core = "antiphon.impl.protocols.sequencer:sequencer"
    times = Times(delivered_ms=2.0, waiting_ms=900.0, recovered_ms=1_000.0)


class Members:
    """Cores joined by queues, which are emptied in rounds; who is down neither sends nor receives."""

    def __init__(self, count: int) -> None:
        self.cores = [Core(me, count) for me in range(count)]
        self.delivered: list[list[Delivery]] = [[] for _ in range(count)]
        self.queues: dict[tuple[int, int], deque[Any]] = {}
        self.down: set[int] = set()

    def collect(self) -> None:
        for me, core in enumerate(self.cores):
            self.delivered[me] += core.settle(NOW)
            for to, message in core.outputs():
                if me not in self.down:
                    self.queues.setdefault((me, to), deque()).append(message)

    def carry(self, sender: int, to: int, count: int = 1) -> None:
        self.collect()
        for _ in range(count):
            self.cores[to].receive(sender, self.queues[sender, to].popleft(), NOW)
        self.collect()

    def run(self) -> None:
        self.collect()
        while pairs := [p for p, queue in self.queues.items() if queue and self.down.isdisjoint(p)]:
            for sender, to in sorted(pairs):
                self.carry(sender, to)

    def payloads(self, me: int) -> list[bytes]:
        return [delivery.payload for delivery in self.delivered[me]]


def test_all_deliver_in_the_order_of_the_coordinator() -> None:
    members = Members(3)
    for me in (2, 1, 0, 2):
        members.cores[me].broadcast(b"of %d" % me, NOW)
    members.run()
    assert members.delivered[0] == members.delivered[1] == members.delivered[2]
    assert [delivery.number for delivery in members.delivered[0]] == [1, 2, 3, 4]
    assert [(one.source, one.id) for one in members.delivered[1] if one.source == 2] == [(2, 1), (2, 2)]
    assert not any(core.waits() or core.busy for core in members.cores)


def test_what_the_old_coordinator_did_not_order_goes_to_the_new_one() -> None:
    """Section "Reliability on failover": "then C simply re-sends messages 5 and 6 to the new coord".

    With a flush nobody else has them: the old coordinator dies before they reached anybody who lives.
    """
    members = Members(3)
    for number in range(1, 7):
        members.cores[2].broadcast(b"%d" % number, NOW)
    members.carry(2, 0, 6)
    members.carry(0, 1, 4)
    members.carry(0, 2, 4)
    members.down = {0}
    for me in (1, 2):
        core: ChangesViews = members.cores[me]
        core.block(NOW)
    assert members.cores[1].busy
    with pytest.raises(Busy, match="the view changes"):
        members.cores[1].broadcast(b"no", NOW)
    members.cores[2].change_view(2, (1, 2), NOW)
    members.carry(2, 1, 2)
    assert members.payloads(1) == [b"1", b"2", b"3", b"4"], "FORWARD of a view that is not installed waits"
    members.cores[1].change_view(2, (1, 2), NOW)
    members.cores[1].broadcast(b"new", NOW)
    members.run()
    assert members.payloads(1) == [b"1", b"2", b"3", b"4", b"5", b"6", b"new"]
    assert members.delivered[1] == members.delivered[2]
    assert not members.cores[1].violations + members.cores[2].violations


def test_a_multicast_of_a_later_view_waits_for_it() -> None:
    member = Core(2, 3)
    member.receive(1, Data(2, Identifier(1, 1), b"new"), NOW)
    assert member.settle(NOW) == []
    member.block(NOW)
    member.change_view(2, (1, 2), NOW)
    assert member.settle(NOW) == [Delivery(1, 1, 1, b"new")]


def test_what_a_member_that_left_had_sent_is_discarded() -> None:
    member = Core(1, 3)
    member.receive(0, Data(1, Identifier(2, 1), b"before"), NOW)
    member.change_view(2, (0, 1), NOW)
    member.receive(0, Data(2, Identifier(2, 2), b"after"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"before"]
    assert member.snapshot().received_table == (0, 0, 0)


def test_a_forward_of_a_member_that_left_is_no_violation() -> None:
    """Its entry in the received-table is gone, so that its next number is not 1 more than that."""
    member = Core(0, 3)
    member.receive(1, Forward(1, Identifier(1, 1), b"before"), NOW)
    member.change_view(2, (0, 2), NOW)
    member.receive(1, Forward(1, Identifier(1, 2), b"after"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"before"]
    assert not member.violations


def test_what_was_delivered_before_is_discarded() -> None:
    member = Core(1, 3)
    for _ in range(2):
        member.receive(0, Data(1, Identifier(2, 1), b"twice"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"twice"]


def test_a_broadcast_costs_one_forward_and_one_multicast_and_the_group_falls_silent() -> None:
    """Section "Motivation": "now we have 1 unicast to the coordinator and 1 multicast"."""
    network = SimulatedNetwork(sequencer(), 3, seed=1)
    network.broadcast(2, b"of a member")
    assert network.run_until_delivered(1)
    assert (network.datagrams, network.now) == ({"forward": 1, "data": 2}, 2.0)
    assert network.transmissions == {"forward": 1, "data": 1}
    network.broadcast(0, b"of the coordinator")
    assert network.run_until_delivered(2)
    assert (network.datagrams, network.now) == ({"forward": 1, "data": 4}, 3.0)
    assert all(endpoint.next_deadline() is None for endpoint in network.endpoints)


@pytest.mark.parametrize("seed", range(3))
def test_over_queues_that_the_layers_make_nothing_is_lost(seed: int) -> None:
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    network = SimulatedNetwork(sequencer(), 3, seed=seed, faults=faults, layers=Layers())
    for number in range(60):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(60)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert not any(endpoint.core.violations for endpoint in network.endpoints)


WRONG = [
    (1, 2, Data(1, Identifier(0, 1), b""), SequencerViolation.NOT_COORDINATOR),
    (1, 0, Data(1, Identifier(0, 2), b""), SequencerViolation.NUMBER_LEFT_OUT),
    (1, 0, Data(1, Identifier(1, 2), b""), SequencerViolation.NEVER_BROADCAST),
    (1, 0, Data(1, Identifier(1, 1), b"other"), SequencerViolation.TWO_PAYLOADS),
    (1, 2, Forward(1, Identifier(2, 1), b""), SequencerViolation.MISDIRECTED),
    (0, 2, Forward(1, Identifier(1, 1), b""), SequencerViolation.FOREIGN_FORWARD),
    (0, 2, Forward(1, Identifier(2, 2), b""), SequencerViolation.NUMBER_LEFT_OUT),
]


@pytest.mark.parametrize(("me", "sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    me: int, sender: int, message: Any, kind: SequencerViolation
) -> None:
    member = Core(me, 3)
    if me == 1:
        member.broadcast(b"own", NOW)
    before = member.snapshot()
    member.receive(sender, message, NOW)
    assert member.violations == {kind: 1}
    assert member.broken is (kind if kind.breaks_order else None)
    assert member.snapshot()._replace(violations=()) == before


def test_so_many_messages_of_a_later_view_are_kept_and_no_more() -> None:
    member = Core(1, 3)
    for number in range(EARLY_MAX + 1):
        member.receive(2, Forward(9, Identifier(2, number + 1), b""), NOW)
    assert member.violations == {SequencerViolation.TOO_EARLY: 1}
    assert len(member.snapshot().early) == EARLY_MAX


def test_a_member_is_busy_while_so_many_own_messages_are_on_their_way() -> None:
    member = Core(1, 2, Settings(pending_max=2))
    member.broadcast(b"a", NOW)
    member.broadcast(b"b", NOW)
    assert member.busy
    with pytest.raises(Busy, match="2 have not come back"):
        member.broadcast(b"c", NOW)
    assert str(member.waits()[0]) == "message 1:1 back of process 0"
    member.receive(0, Data(1, Identifier(1, 1), b"a"), NOW)
    assert not member.busy


def test_the_last_number_ends_the_group() -> None:
    member = Core(0, 2)
    member.restore(member.snapshot()._replace(last_number=NATURAL_MAX), NOW)
    with pytest.raises(GroupFailed, match=str(NATURAL_MAX)):
        member.broadcast(b"", NOW)


def test_impossible_groups_and_views_are_refused() -> None:
    with pytest.raises(InvalidMembership, match="process 2 of 2"):
        Core(2, 2)
    with pytest.raises(ValueError, match="pending_max is 0"):
        Core(0, 2, Settings(pending_max=0))
    for view, group in ((1, (0, 1)), (2, (1,)), (2, (0, 0)), (2, (0, 5))):
        with pytest.raises(InvalidMembership, match=f"view {view}"):
            Core(0, 2).change_view(view, group, NOW)


def test_a_member_that_starts_late_and_one_that_is_cut_off_get_everything() -> None:
    """Three seconds late, and two seconds without a datagram from or to the member that orders."""
    faults = Faults(loss=0.1, duplication=0.1, delay_ms=(1.0, 10.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(sequencer(), 3, seed=5, faults=faults, starts_ms=starts_ms, layers=Layers())
    for number in range(12):
        network.broadcast(number % 2, b"%d" % number)
    network.run_for(4_000.0)
    network.cut([(0, 1), (1, 0), (0, 2), (2, 0)])
    network.broadcast(2, b"late")
    network.run_for(2_000.0)
    network.heal()
    assert network.run_until_delivered(13)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
