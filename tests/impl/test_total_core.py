"""The core of TOTAL: windows, what it refuses, what it keeps; the rest is lockstep's."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Send
from antiphon.impl.protocols.total import Core, Settings, Timer, TotalViolation, total
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Request, Resend
from antiphon.impl.protocols.total.process import PENDING_MAX, SENT_MAX
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


class TestTotal(CoreSuite):
    """TOTAL's request, BCAST and suffix back off to eight times 50 ms."""

    core = "antiphon.impl.protocols.total:total"
    times = Times(delivered_ms=2.0, waiting_ms=400.0, recovered_ms=1_000.0)


@pytest.mark.parametrize("seed", range(3))
def test_all_deliver_everything_in_one_order_whatever_is_lost_doubled_or_late(seed: int) -> None:
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    network = SimulatedNetwork(total(), 3, seed=seed, faults=faults)
    for number in range(60):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(60)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert [delivery.number for delivery in network.deliveries[0]] == list(range(1, 61))
    for source in range(3):
        names = [delivery.id for delivery in network.deliveries[0] if delivery.source == source]
        assert names == list(range(1, 21)), "one at a time keeps their order"
    assert not any(endpoint.core.violations for endpoint in network.endpoints)


def test_what_all_have_acknowledged_is_kept_no_more_and_the_group_falls_silent() -> None:
    network = SimulatedNetwork(total(), 3, seed=1)
    network.broadcast(2, b"one")
    assert network.run_until_delivered(1)
    network.run_for(1_000.0)
    assert all(endpoint.next_deadline() is None for endpoint in network.endpoints)
    assert network.endpoints[0].core.snapshot().sent == ()
    assert network.datagrams == {"request": 1, "bcast": 2, "cum_ack": 2}


def test_from_its_first_waiting_message_on_a_member_names_so_many() -> None:
    member = Core(1, 2, Settings(pending_max=3))
    for number in range(3):
        member.broadcast(b"%d" % number, NOW)
    with pytest.raises(Busy, match="3 own messages wait"):
        member.broadcast(b"", NOW)
    member.receive(0, Bcast(1, Identifier(1, 2), b"1"), NOW)
    assert member.busy, "the first one still waits"
    member.receive(0, Bcast(2, Identifier(1, 1), b"0"), NOW)
    assert not member.busy


def test_the_sequencer_keeps_so_many_and_takes_no_request_beyond() -> None:
    sequencer = Core(0, 2)
    for number in range(SENT_MAX):
        sequencer.receive(1, Request(Identifier(1, number + 1), b""), NOW)
    sequencer.outputs()
    assert sequencer.busy
    sequencer.receive(1, Request(Identifier(1, SENT_MAX + 1), b""), NOW)
    assert (sequencer.outputs(), len(sequencer.snapshot().sent)) == ([], SENT_MAX)
    sequencer.receive(1, CumAck(1), NOW)
    sequencer.receive(1, Request(Identifier(1, SENT_MAX + 1), b""), NOW)
    again = Bcast(SENT_MAX + 1, Identifier(1, SENT_MAX + 1), b"")
    assert sequencer.outputs() == [Send(1, again)]


def test_one_message_that_is_lost_again_and_again_is_not_put_off_by_others() -> None:
    """Its timer is not set anew when a later message of the same member is passed up."""
    member = Core(1, 2, Settings(request_ms=50.0, pending_max=2))
    member.broadcast(b"first", NOW)
    member.broadcast(b"second", NOW)
    member.outputs()
    member.receive(0, Bcast(1, Identifier(1, 2), b"second"), 40.0)
    member.outputs()
    member.tick(50.0)
    assert member.outputs() == [Send(0, Request(Identifier(1, 1), b"first"))]


WRONG = [
    (1, 2, Bcast(1, Identifier(0, 1), b""), TotalViolation.NOT_SEQUENCER),
    (1, 0, Bcast(2, Identifier(0, 2), b""), TotalViolation.TWO_MESSAGES),
    (1, 0, Bcast(2, Identifier(0, 1), b"other"), TotalViolation.TWO_PAYLOADS),
    (1, 0, Bcast(1, Identifier(1, 1), b"other"), TotalViolation.TWO_PAYLOADS),
    (1, 0, Bcast(1, Identifier(1, 2), b""), TotalViolation.NEVER_BROADCAST),
    (1, 0, Bcast(SENT_MAX + 1, Identifier(0, 1), b""), TotalViolation.NUMBER_AHEAD),
    (1, 2, Request(Identifier(2, 1), b""), TotalViolation.MISDIRECTED),
    (1, 2, CumAck(0), TotalViolation.MISDIRECTED),
    (0, 2, Request(Identifier(1, 1), b""), TotalViolation.FOREIGN_REQUEST),
    (0, 2, Request(Identifier(2, PENDING_MAX + 1), b""), TotalViolation.IDENTIFIER_AHEAD),
    (0, 2, Resend(1), TotalViolation.NEVER_ASSIGNED),
    (0, 2, CumAck(1), TotalViolation.NEVER_ASSIGNED),
]


@pytest.mark.parametrize(("me", "sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    me: int, sender: int, message: Any, kind: TotalViolation
) -> None:
    member = Core(me, 3)
    if me == 1:
        member.broadcast(b"own", NOW)
        member.receive(0, Bcast(2, Identifier(0, 1), b"queued"), NOW)
    before = member.snapshot()
    member.receive(sender, message, NOW)
    assert member.violations == {kind: 1}
    assert member.broken is (kind if kind.breaks_order else None)
    assert member.snapshot()._replace(violations=()) == before


def test_a_member_says_what_it_waits_for() -> None:
    member = Core(1, 2)
    member.broadcast(b"own", NOW)
    member.receive(0, Bcast(2, Identifier(0, 2), b""), NOW)
    waits = ["number 1 of process 0", "a number for message 1:1 of process 0"]
    assert list(map(str, member.waits())) == waits
    assert member.expire(Timer.ASK, NOW)
    sequencer = Core(0, 3)
    sequencer.broadcast(b"own", NOW)
    sequencer.receive(1, CumAck(1), NOW)
    assert list(map(str, sequencer.waits())) == ["acknowledgement of number 1 of process 2"]


def test_the_last_number_ends_the_group() -> None:
    member = Core(1, 2)
    member.restore(member.snapshot()._replace(last_id=NATURAL_MAX), NOW)
    with pytest.raises(GroupFailed, match=str(NATURAL_MAX)):
        member.broadcast(b"", NOW)


def test_impossible_groups_and_windows_are_refused() -> None:
    with pytest.raises(InvalidMembership, match="process 2 of 2"):
        Core(2, 2)
    with pytest.raises(ValueError, match=f"pending_max is {PENDING_MAX + 1}"):
        Core(0, 2, Settings(pending_max=PENDING_MAX + 1))
    with pytest.raises(ValueError, match="intervals"):
        Core(0, 2, Settings(request_ms=0.0))


def test_a_member_that_starts_late_and_one_that_is_cut_off_get_everything() -> None:
    """Three seconds late, and two seconds without a datagram from or to the member that orders."""
    faults = Faults(loss=0.1, duplication=0.1, delay_ms=(1.0, 10.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(total(), 3, seed=5, faults=faults, starts_ms=starts_ms, layers=Layers())
    for number in range(12):
        network.broadcast(number % 2, b"%d" % number)
    network.run_for(4_000.0)
    network.cut([(0, 1), (1, 0), (0, 2), (2, 0)])
    network.broadcast(2, b"late")
    network.run_for(2_000.0)
    network.heal()
    assert network.run_until_delivered(13)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]


@pytest.mark.parametrize("every_ms", [2.0, 9.0])
def test_under_a_steady_load_nothing_is_sent_twice(every_ms: float) -> None:
    """Acknowledgements put off the sequencer's timer of retransmission, though some message is always on its
    way.
    """
    network = SimulatedNetwork(total(), 3, seed=1, faults=Faults(delay_ms=(20.0, 20.0)))
    for k in range(300):
        network.broadcast(k % 3, b"%d" % k)
        network.run_for(every_ms)
    assert network.run_until_delivered(300)
    assert network.transmissions["bcast"] <= 300
    assert network.transmissions["resend"] == 0
