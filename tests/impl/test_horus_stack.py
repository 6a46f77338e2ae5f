"""Stacks of Horus' layers: which are refused and why, what each layer does with a message, and that a stack
is a core like any other.
"""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import NATURAL_MAX, Delivery, Implementation, standing
from antiphon.impl.protocols.horus import Core, Frame, HorusViolation, IllFormedStack, Snapshot, horus
from antiphon.impl.protocols.horus.layers.com import Addressed
from antiphon.impl.protocols.horus.layers.frag import Fragment
from antiphon.impl.protocols.horus.layers.layer import pushed
from antiphon.impl.protocols.horus.layers.mbrship import InView
from antiphon.impl.protocols.horus.layers.nak import Data, Negative, PlaceHolder, Status
from antiphon.impl.protocols.horus.layers.total import Ordered, Token
from antiphon.impl.protocols.horus.process import Settings
from antiphon.impl.registry import implementation
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


REFUSED = {
    "TOTAL:FRAG:NAK:COM": "TOTAL requires P8 .*, P9 .*, P15 .*, which FRAG:NAK:COM does not .*MBRSHIP",
    "FRAG:COM": "FRAG requires P3 .*, P4 .*, which COM does not give; NAK would",
    "NAK": "NAK requires P10 .*, P11 .*, which the network does not give; COM would",
    "MBRSHIP:FRAG:NAK:COM": "does not give P6 .*; put TOTAL on top",
    "TOTAL:FLUSH:COM": "no layer 'FLUSH'; known, lower ones first: COM, NAK, FRAG, MBRSHIP, TOTAL",
    "": "no layer ''",
}


class TestHorus(CoreSuite):
    """The token rests for a fifth of a second with everybody; a NAK and a status wait for 80 ms at most.

    NAK's buffer has the last casts, which are larger or smaller.
    """

    core = "antiphon.impl.protocols.horus:horus"
    kept = frozenset({"endpoint.core._layers[]._buffer[]"})
    times = Times(delivered_ms=450.0, waiting_ms=200.0, recovered_ms=2_000.0, circulating=2)
    members = 2

    def timed(self) -> Implementation[Any]:
        return horus(rest_ms=200.0)

    @pytest.mark.deep
    def test_it_keeps_to_its_times(self) -> None:
        super().test_it_keeps_to_its_times()

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()


@pytest.mark.parametrize("stack", REFUSED)
def test_a_stack_that_is_not_well_formed_is_refused_with_the_reason(stack: str) -> None:
    with pytest.raises(IllFormedStack, match=REFUSED[stack]):
        horus(stack)


@pytest.mark.parametrize(
    "stack",
    ["TOTAL:MBRSHIP:FRAG:NAK:COM", "FRAG:TOTAL:MBRSHIP:FRAG:NAK:COM", "total:total:mbrship:frag:nak:com:com"],
)
@pytest.mark.parametrize("members", [2, 3])
def test_whatever_the_network_does_all_deliver_the_same(stack: str, members: int) -> None:
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    made = implementation(stack, fragment_bytes=40)
    network = SimulatedNetwork(made, members, seed=1, faults=faults)
    for number in range(20):
        network.broadcast(number % members, b"%d" % number * 50)
    assert network.run_until_delivered(20)
    assert all(delivered == network.deliveries[0] for delivered in network.deliveries)
    assert sorted(one.payload for one in network.deliveries[0]) == sorted(b"%d" % k * 50 for k in range(20))
    assert not any(endpoint.core.violations for endpoint in network.endpoints)


def test_within_the_layers_of_a_group_and_after_a_partition_nothing_is_lost() -> None:
    faults = Faults(loss=0.1, duplication=0.1, delay_ms=(1.0, 10.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(horus(), 3, seed=5, faults=faults, starts_ms=starts_ms, layers=Layers())
    for number in range(12):
        network.broadcast(number % 2, b"%d" % number)
    network.run_for(4_000.0)
    network.cut([(0, 1), (1, 0), (0, 2), (2, 0)])
    network.broadcast(2, b"late")
    network.run_for(2_000.0)
    network.heal()
    assert network.run_until_delivered(13)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]


def frame(source: int, header: Any) -> Frame:
    return Frame(pushed(Addressed(source, pushed(header))))


def fifo(me: int = 0, members: int = 2, **settings: Any) -> Core:
    core = Core(me, members, Settings(stack="FRAG:NAK:COM", **settings))
    core.start(NOW)
    return core


def test_frag_cuts_a_message_and_marks_the_last_fragment() -> None:
    core = fifo(fragment_bytes=2)
    core.broadcast(b"abcde", NOW)
    parts = [Fragment(False, b"ab"), Fragment(False, b"cd"), Fragment(True, b"e")]
    wanted = [frame(0, Data(place, pushed(part))) for place, part in enumerate(parts, 1)]
    assert [send.message for send in core.outputs()] == wanted
    receiver = fifo(1, fragment_bytes=2)
    for sent in reversed(wanted):
        assert receiver.settle(NOW) == []
        receiver.receive(0, sent, NOW)
    assert receiver.settle(NOW) == [Delivery(0, 1, 1, b"abcde")]


def test_nak_asks_for_what_is_missing_and_sends_it_again() -> None:
    sender, receiver = fifo(0), fifo(1)
    sender.broadcast(b"a", NOW)
    sender.broadcast(b"b", NOW)
    first, second = (send.message for send in sender.outputs())
    receiver.receive(0, second, NOW)
    assert str(receiver.waits()[0]) == "NAK's message 1 of process 0"
    receiver.tick(10.0)
    asked, told = (send.message for send in receiver.outputs())
    assert (asked, told) == (frame(1, Negative(1)), frame(1, Status(0, 0)))
    sender.receive(1, asked, 11.0)
    assert [send.message for send in sender.outputs()] == [first]


def test_a_window_bounds_what_a_member_keeps_and_a_status_opens_it() -> None:
    core = fifo(buffer=2)
    core.broadcast(b"a", NOW)
    core.broadcast(b"b", NOW)
    with pytest.raises(Busy, match="NAK full"):
        core.broadcast(b"c", NOW)
    assert standing(core) == (
        "process 0 of 2, progress 8, busy; waits for NAK's acknowledgement of message 2 of process 1"
    )
    core.receive(1, frame(1, Status(1, 0)), NOW)
    assert not core.busy


def test_total_numbers_what_the_holder_casts_and_nothing_else() -> None:
    holder, other = Core(0, 2), Core(1, 2)
    for core in (holder, other):
        core.start(NOW)
        core.broadcast(b"of %d" % core.me, NOW)
    assert holder.settle(NOW) == [Delivery(0, 1, 1, b"of 0")]
    assert (other.settle(NOW), other.outputs()) == ([], [])
    assert str(other.waits()[0]) == "TOTAL's the token of process 0"
    holder.tick(5.0)
    for _, message in holder.outputs():
        other.receive(0, message, 5.0)
    assert [delivery.payload for delivery in other.settle(5.0)] == [b"of 0", b"of 1"]


def body(header: Any) -> Frame:
    """First frame that the holder, process 0, casts."""
    return frame(0, Data(1, pushed(Fragment(True, pushed(InView(1, pushed(header)))))))


WRONG: list[tuple[int, Frame, HorusViolation]] = [
    (0, Frame(b"\xff"), HorusViolation.MALFORMED),
    (0, frame(2, Status(0, 0)), HorusViolation.FALSE_SOURCE),
    (0, Frame(pushed(Addressed(0, b"\xc1"))), HorusViolation.MALFORMED),
    (0, frame(0, Data(65, b"")), HorusViolation.NUMBER_AHEAD),
    (0, frame(0, PlaceHolder(1)), HorusViolation.GAVE_UP),
    (0, frame(0, Negative(1)), HorusViolation.NEVER_CAST),
    (0, frame(0, Status(1, 0)), HorusViolation.NEVER_CAST),
    (0, frame(0, Status(0, 65)), HorusViolation.NUMBER_AHEAD),
]


@pytest.mark.parametrize(("sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    sender: int, message: Frame, kind: HorusViolation
) -> None:
    core = Core(1, 3)
    before = core.snapshot()
    core.receive(sender, message, NOW)
    assert (core.violations, core.broken) == ({kind: 1}, None)
    assert core.snapshot()._replace(violations=()) == before


HIGHER = {
    body(Token(1, 0)): HorusViolation.MALFORMED,
    body(Ordered(2**17, b"")): HorusViolation.NUMBER_AHEAD,
    frame(0, Data(1, b"")): HorusViolation.MALFORMED,
    frame(0, Data(1, pushed(Fragment(True, b"")))): HorusViolation.MALFORMED,
    frame(0, Data(1, pushed(Fragment(True, pushed(InView(2, b"")))))): HorusViolation.MALFORMED,
}


@pytest.mark.parametrize("message", HIGHER, ids=range(len(HIGHER)))
def test_what_a_higher_layer_cannot_read_it_counts(message: Frame) -> None:
    core = Core(1, 3)
    core.receive(0, message, NOW)
    assert core.violations == {HIGHER[message]: 1}


def test_a_second_token_and_a_number_that_was_not_given_break_the_order() -> None:
    core = Core(0, 2)
    other = Core(1, 2)
    total: Any = other.snapshot().layers[4]
    snapshot = other.snapshot()
    other.restore(snapshot._replace(layers=(*snapshot.layers[:4], total._replace(token=1))), NOW)
    other.broadcast(b"two holders", NOW)
    for _, message in other.outputs():
        core.receive(1, message, NOW)
    assert core.broken is HorusViolation.TWO_MESSAGES
    other.expire("4 pass_token 1", NOW)
    for _, message in other.outputs():
        core.receive(1, message, NOW)
    assert core.violations[HorusViolation.SECOND_TOKEN] == 1


def test_what_a_stack_keeps_does_not_grow_with_what_it_delivered() -> None:
    """At rest after a thousand messages it keeps what it kept after thirty, but for the numbers."""
    network = SimulatedNetwork(horus(), 3, seed=1, faults=Faults(loss=0.05, delay_ms=(1.0, 5.0)))
    sizes = []
    for messages in (30, 1_000):
        before = len(network.deliveries[0])
        for number in range(messages):
            network.broadcast(number % 3, b"x" * 100)
        assert network.run_until_delivered(before + messages)
        network.run_for(1_000.0)
        sizes.append([_kept(endpoint.core.snapshot()) for endpoint in network.endpoints])
    assert all(kept <= 12 for size in sizes for kept in size)


def _kept(snapshot: Snapshot) -> int:
    """Number of messages in the layers; a token that goes round is one or two."""
    nak, total = (dict(zip(layer._fields, layer, strict=True)) for layer in snapshot.layers[1::3])  # type: ignore[attr-defined]
    early = sum(len(waiting) for waiting in nak["early"])
    return len(nak["buffer"]) + len(nak["waiting"]) + early + len(total["waiting"]) + len(total["numbered"])


def test_the_last_number_ends_the_group_and_impossible_settings_are_refused() -> None:
    core = fifo()
    core.restore(core.snapshot()._replace(last_id=NATURAL_MAX), NOW)
    with pytest.raises(GroupFailed, match=str(NATURAL_MAX)):
        core.broadcast(b"", NOW)
    with pytest.raises(InvalidMembership, match="process 2 of 2"):
        fifo(2)
    with pytest.raises(ValueError, match="fragment_bytes is 0"):
        fifo(fragment_bytes=0)
    with pytest.raises(ValueError, match="buffer is 0"):
        fifo(buffer=0)
    with pytest.raises(ValueError, match="greater than 0 ms"):
        fifo(ask_ms=0.0)
