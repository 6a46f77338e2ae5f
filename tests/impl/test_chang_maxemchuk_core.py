"""The core of CM: what it says, refuses, keeps and waits for; the rest is lockstep's."""

from __future__ import annotations

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.chang_maxemchuk import Core, Message, chang_maxemchuk
from antiphon.impl.protocols.chang_maxemchuk.messages import Ack, Msg
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Identifier, Send
from antiphon.impl.protocols.updates import UpdatesViolation
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


class TestChangMaxemchuk(CoreSuite):
    """The last updates stay in the buffer; each is a batch, larger or smaller than those of a run before."""

    core = "antiphon.impl.protocols.chang_maxemchuk:chang_maxemchuk"
    times = Times(delivered_ms=2.0, waiting_ms=900.0, recovered_ms=1_000.0)
    kept = frozenset({"endpoint.core._buffer[]"})

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()


def test_an_update_costs_one_msg_and_one_ack_and_the_group_falls_silent() -> None:
    """About one message more for each message (section 5, figure 5)."""
    network = SimulatedNetwork(chang_maxemchuk(), 3, seed=1)
    network.broadcast(2, b"one")
    assert network.run_until_delivered(1)
    assert (network.transmissions, network.now) == ({"msg": 1, "ack": 1}, 2.0)
    assert all(endpoint.next_deadline() is None for endpoint in network.endpoints)


def test_the_token_goes_round_and_each_holder_takes_its_own_update_first() -> None:
    network = SimulatedNetwork(chang_maxemchuk(), 3, seed=1, layers=Layers(ahead=1))
    for number in range(9):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(9)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    for source in range(3):
        names = [delivery.id for delivery in network.deliveries[0] if delivery.source == source]
        assert names == [1, 2, 3]


def test_what_n_minus_one_acknowledgements_followed_is_kept_no_more() -> None:
    """Section 3: `U becomes stable after … n-1 subsequent messages are acknowledged`."""
    network = SimulatedNetwork(chang_maxemchuk(), 3, seed=1)
    for number in range(200):
        network.broadcast(number % 3, b"%d" % number)
        assert network.run_until_delivered(number + 1)
        for endpoint in network.endpoints:
            kept = endpoint.core.snapshot()
            assert len(kept.buffer) == len(kept.names) == min(number + 1, 2)


def test_an_ack_that_overtakes_another_waits_for_it() -> None:
    member = Core(2, 3)
    member.receive(0, Msg(Identifier(0, 1), b"a"), NOW)
    member.receive(1, Msg(Identifier(1, 1), b"b"), NOW)
    member.receive(1, Ack(2, Identifier(1, 1)), NOW)
    assert member.settle(NOW) == []
    assert str(member.waits()[0]) == "number 1 of process 0"
    member.receive(0, Ack(1, Identifier(0, 1)), NOW)
    assert member.settle(NOW) == [Delivery(0, 1, 1, b"a"), Delivery(1, 1, 2, b"b")]
    assert member.holding


def test_a_holder_that_misses_an_update_gives_no_number() -> None:
    member = Core(1, 3)
    member.broadcast(b"own", NOW)
    member.receive(0, Ack(1, Identifier(2, 1)), NOW)
    member.outputs()
    assert (member.holding, member.settle(NOW), member.outputs()) == (True, [], [])
    assert list(map(str, member.waits())) == ["message 2:1 of process 2"]
    told = "<chang-maxemchuk: last number 1, delivered to 0, holds the token"
    assert repr(member) == f"{told}; process 1 of 3, progress 3, busy; waits for message 2:1 of process 2>"
    member.receive(2, Msg(Identifier(2, 1), b"late"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"late", b"own"]
    assert member.outputs() == [Send(0, Ack(2, Identifier(1, 1))), Send(2, Ack(2, Identifier(1, 1)))]


def test_a_member_has_one_outstanding_update() -> None:
    """Section 4.2, Flow control: `Each LTM is allowed to have only one outstanding message at a time`."""
    member = Core(1, 2)
    member.broadcast(b"a", NOW)
    with pytest.raises(Busy, match=r"\(1, 1\) has no number yet"):
        member.broadcast(b"b", NOW)
    assert str(member.waits()[0]) == "a number for message 1:1 of process 0"
    member.receive(0, Ack(1, Identifier(1, 1)), NOW)
    assert not member.busy


WRONG: list[tuple[int, Message, UpdatesViolation]] = [
    (2, Msg(Identifier(0, 1), b""), UpdatesViolation.FOREIGN_UPDATE),
    (2, Msg(Identifier(2, 5), b""), UpdatesViolation.UPDATE_LEFT_OUT),
    (2, Msg(Identifier(2, 1), b""), UpdatesViolation.UPDATE_LEFT_OUT),
    (2, Msg(Identifier(2, 4), b""), UpdatesViolation.TOO_FAR_AHEAD),
    (2, Ack(1, Identifier(2, 1)), UpdatesViolation.OUT_OF_TURN),
    (0, Ack(4, Identifier(2, 3)), UpdatesViolation.TOO_FAR_AHEAD),
    (0, Ack(1, Identifier(1, 2)), UpdatesViolation.NEVER_BROADCAST),
    (0, Ack(1, Identifier(2, 2)), UpdatesViolation.TWO_NUMBERS),
]


@pytest.mark.parametrize(("sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    sender: int, message: Message, kind: UpdatesViolation
) -> None:
    member = Core(1, 3)
    member.broadcast(b"own", NOW)
    for number in range(1, 4):
        member.receive(2, Msg(Identifier(2, number), b""), NOW)
    before = member.snapshot()
    member.receive(sender, message, NOW)
    assert member.violations == {kind: 1}
    assert member.broken is (kind if kind.breaks_order else None)
    assert member.snapshot()._replace(violations=()) == before


def test_a_number_is_given_once_and_to_one_update_and_numbers_leave_none_out() -> None:
    member = Core(0, 4)
    member.broadcast(b"a", NOW)
    member.settle(NOW)
    for source in (1, 3):
        member.receive(source, Msg(Identifier(source, 1), b""), NOW)
    member.receive(2, Ack(3, Identifier(3, 1)), NOW)
    before = member.snapshot()
    member.receive(2, Ack(3, Identifier(1, 1)), NOW)
    member.receive(1, Ack(2, Identifier(3, 1)), NOW)
    kinds = {UpdatesViolation.TWO_IDENTIFIERS: 1, UpdatesViolation.TWO_NUMBERS: 1}
    assert member.violations == kinds
    assert member.snapshot()._replace(violations=()) == before
    other = Core(0, 4)
    other.receive(2, Ack(3, Identifier(3, 2)), NOW)
    other.restore(before._replace(early=((3, 2, Ack(3, Identifier(3, 2))),)), NOW)
    other.receive(1, Ack(2, Identifier(1, 1)), NOW)
    assert other.violations == {UpdatesViolation.TWO_NUMBERS: 1}
    assert other.snapshot().early == ()


def test_the_last_number_ends_the_group() -> None:
    member = Core(0, 2)
    member.restore(member.snapshot()._replace(acknowledged=NATURAL_MAX), NOW)
    assert not member.acknowledge(NOW)
    with pytest.raises(GroupFailed, match=str(NATURAL_MAX)):
        member.broadcast(b"", NOW)


def test_impossible_groups_are_refused() -> None:
    with pytest.raises(InvalidMembership, match="process 2 of 2"):
        Core(2, 2)


@pytest.mark.parametrize("seed", range(3))
def test_over_queues_that_the_layers_make_nothing_is_lost(seed: int) -> None:
    """A member starts three seconds late, and member 0, which holds the token first, is cut off for two."""
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(
        chang_maxemchuk(), 3, seed=seed, faults=faults, starts_ms=starts_ms, layers=Layers()
    )
    for number in range(60):
        network.broadcast(number % 2, b"%d" % number)
    network.run_for(4_000.0)
    network.cut([(0, 1), (1, 0), (0, 2), (2, 0)])
    network.broadcast(2, b"late")
    network.run_for(2_000.0)
    network.heal()
    assert network.run_until_delivered(61)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert not any(endpoint.core.violations for endpoint in network.endpoints)
