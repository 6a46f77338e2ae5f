"""The core of Pinwheel: what it says, refuses, keeps and waits for; the rest is lockstep's."""

from __future__ import annotations

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Delivery, Identifier, Send
from antiphon.impl.protocols.pinwheel import Core, Message, Settings, pinwheel
from antiphon.impl.protocols.pinwheel.messages import Ack, Msg
from antiphon.impl.protocols.updates import UpdatesViolation
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


class TestPinwheel(CoreSuite):
    """The last updates stay in the buffer; each is a batch, larger or smaller than those of a run before."""

    core = "antiphon.impl.protocols.pinwheel:pinwheel"
    times = Times(delivered_ms=2.0, waiting_ms=900.0, recovered_ms=1_000.0)
    kept = frozenset({"endpoint.core._buffer[]"})

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()


def test_a_holder_numbers_all_that_it_has_and_the_last_number_passes_the_token() -> None:
    member = Core(0, 2)
    member.broadcast(b"a", NOW)
    member.receive(1, Msg(Identifier(1, 1), b"b", 0), NOW)
    member.receive(1, Msg(Identifier(1, 2), b"c", 0), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"a", b"b", b"c"]
    assert member.outputs() == [
        Send(1, Msg(Identifier(0, 1), b"a", 0)),
        Send(1, Ack(1, Identifier(0, 1), False)),
        Send(1, Ack(2, Identifier(1, 1), False)),
        Send(1, Ack(3, Identifier(1, 2), True)),
    ]
    assert not member.holding


def test_a_member_has_window_updates_outstanding() -> None:
    """Section 5: `allows LTMs to send up to m multicast messages without being acknowledged`."""
    member = Core(1, 2, Settings(window=3))
    for payload in (b"a", b"b", b"c"):
        member.broadcast(payload, NOW)
    with pytest.raises(Busy, match=r"\(1, 1\) has no number yet"):
        member.broadcast(b"d", NOW)
    member.receive(0, Ack(1, Identifier(1, 1), True), NOW)
    assert not member.busy
    with pytest.raises(ValueError, match="window is 0"):
        Core(0, 2, Settings(window=0))


def test_what_all_said_to_have_delivered_is_kept_no_more() -> None:
    """Section 3: `g <= min({R_i[k] | 1 <= k <= n})`; after one ACK, before n - 1 others."""
    member = Core(0, 3)
    member.broadcast(b"a", NOW)
    member.settle(NOW)
    assert [payload for _, payload in member.snapshot().buffer] == [b"a"]
    member.receive(1, Msg(Identifier(1, 1), b"b", 1), NOW)
    member.receive(2, Msg(Identifier(2, 1), b"c", 1), NOW)
    assert [payload for _, payload in member.snapshot().buffer] == [b"b", b"c"]


def test_what_is_kept_stays_bounded_and_the_group_falls_silent() -> None:
    network = SimulatedNetwork(pinwheel(window=4), 3, seed=1)
    for number in range(300):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(300)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert all(endpoint.next_deadline() is None for endpoint in network.endpoints)
    for endpoint in network.endpoints:
        assert len(endpoint.core.snapshot().buffer) <= 2 * 3 * 4


def test_an_ack_that_overtakes_another_waits_for_it() -> None:
    member = Core(2, 3)
    member.receive(0, Msg(Identifier(0, 1), b"a", 0), NOW)
    member.receive(1, Msg(Identifier(1, 1), b"b", 0), NOW)
    member.receive(1, Ack(2, Identifier(1, 1), True), NOW)
    assert member.settle(NOW) == []
    assert str(member.waits()[0]) == "number 1 of process 0"
    member.receive(0, Ack(1, Identifier(0, 1), True), NOW)
    assert member.settle(NOW) == [Delivery(0, 1, 1, b"a"), Delivery(1, 1, 2, b"b")]
    assert member.holding
    told = "<pinwheel: last number 2, delivered to 2, holds the token"
    assert repr(member) == f"{told}; process 2 of 3, progress 8; waits for nothing>"


WRONG: list[tuple[int, Message, UpdatesViolation]] = [
    (2, Msg(Identifier(0, 1), b"", 0), UpdatesViolation.FOREIGN_UPDATE),
    (2, Msg(Identifier(2, 1), b"", 0), UpdatesViolation.UPDATE_LEFT_OUT),
    (2, Ack(1, Identifier(2, 1), True), UpdatesViolation.OUT_OF_TURN),
    (0, Ack(19, Identifier(2, 1), True), UpdatesViolation.TOO_FAR_AHEAD),
    (0, Ack(1, Identifier(1, 2), True), UpdatesViolation.NEVER_BROADCAST),
    (0, Ack(1, Identifier(2, 2), True), UpdatesViolation.TWO_NUMBERS),
]


@pytest.mark.parametrize(("sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    sender: int, message: Message, kind: UpdatesViolation
) -> None:
    member = Core(1, 3)
    member.broadcast(b"own", NOW)
    member.receive(2, Msg(Identifier(2, 1), b"", 0), NOW)
    before = member.snapshot()
    member.receive(sender, message, NOW)
    assert member.violations == {kind: 1}
    assert member.broken is (kind if kind.breaks_order else None)
    assert member.snapshot()._replace(violations=()) == before


def test_a_source_without_numbers_is_kept_up_to_a_bound() -> None:
    member = Core(1, 3)
    for number in range(1, 22):
        member.receive(2, Msg(Identifier(2, number), b"", 0), NOW)
    assert member.violations == {UpdatesViolation.TOO_FAR_AHEAD: 1}
    assert len(member.snapshot().buffer) == 20


@pytest.mark.parametrize("seed", range(3))
def test_over_queues_that_the_layers_make_nothing_is_lost(seed: int) -> None:
    """A member starts three seconds late, and member 0, which holds the token first, is cut off for two."""
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(pinwheel(), 3, seed=seed, faults=faults, starts_ms=starts_ms, layers=Layers())
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
