"""The core of Totem's ring: who may multicast and when, where the token rests, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    Delivery,
    Identifier,
    Implementation,
    Network,
    Send,
    standing,
)
from antiphon.impl.protocols.totem import Core, Settings, TotemViolation, totem
from antiphon.impl.protocols.totem.messages import Token, Update, flaw
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0


class TestTotem(CoreSuite):
    """The token rests for a fifth of a second with each member that has nothing to multicast."""

    core = "antiphon.impl.protocols.totem:totem"
    times = Times(delivered_ms=620.0, waiting_ms=900.0, recovered_ms=1_500.0, circulating=2)

    def timed(self) -> Implementation[Any]:
        return totem(rest_ms=200.0)

    @pytest.mark.deep
    def test_it_keeps_to_its_times(self) -> None:
        super().test_it_keeps_to_its_times()

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()


def update(number: int, source: int, name: int, payload: bytes = b"") -> Update:
    return Update(number, Identifier(source, name), payload)


def test_a_member_defers_multicasting_until_it_has_the_token() -> None:
    """Section 5: "a LTM defers multicasting updates until it has hold of the token"."""
    member = Core(1, 3)
    member.broadcast(b"own", NOW)
    assert (member.settle(NOW), member.outputs()) == ([], [])
    assert str(member.waits()[0]) == "the token for message 1:1 of process 0"
    member.receive(0, Token(0, (0, 0, 0)), NOW)
    assert member.settle(NOW) == [Delivery(1, 1, 1, b"own")]
    own = update(1, 1, 1, b"own")
    assert member.outputs() == [Send(0, own), Send(2, own), Send(2, Token(1, (0, 1, 0)))]
    assert not member.waits()


def test_a_visit_lets_so_many_messages_go() -> None:
    """Section 5: "subject to the constraints imposed by the flow control mechanism"."""
    member = Core(0, 2, Settings(visit_max=2, unstable_max=3))
    for number in range(5):
        member.broadcast(b"%d" % number, NOW)
    assert [delivery.number for delivery in member.settle(NOW)] == [1, 2]
    member.outputs()
    member.receive(1, Token(2, (2, 0)), NOW)
    assert [delivery.number for delivery in member.settle(NOW)] == [3], "three are not known to be stable"
    member.receive(1, Token(3, (3, 2)), NOW)
    assert [delivery.number for delivery in member.settle(NOW)] == [4, 5]
    assert member.stable == 2


def test_updates_are_delivered_by_number_whatever_the_order_in_which_they_come() -> None:
    member = Core(2, 3)
    member.receive(1, update(2, 1, 1, b"b"), NOW)
    assert member.settle(NOW) == []
    assert [str(wait) for wait in member.waits()] == ["number 1 of process 0"]
    member.receive(0, update(1, 0, 1, b"a"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"a", b"b"]


def test_the_token_rests_where_nothing_is_left_to_do_and_nowhere_else() -> None:
    member = Core(1, 2, Settings(rest_ms=5.0))
    member.receive(0, Token(0, (0, 0)), NOW)
    assert (member.settle(NOW), member.holding, member.next_deadline()) == ([], True, 5.0)
    member.tick(4.0)
    assert member.outputs() == []
    member.tick(5.0)
    assert (member.outputs(), member.next_deadline()) == ([Send(0, Token(0, (0, 0)))], None)
    member.receive(0, update(1, 0, 1), 6.0)
    member.receive(0, Token(1, (1, 0)), 6.0)
    member.settle(6.0)
    assert member.outputs() == [Send(0, Token(1, (1, 1)))], "process 0 cannot know yet that it is stable"
    assert (member.stable, member.next_deadline()) == (1, None)
    member.receive(0, Token(1, (1, 1)), 7.0)
    member.settle(7.0)
    assert (member.outputs(), member.next_deadline()) == ([], 12.0)


def test_a_message_for_a_token_that_rests_goes_at_once() -> None:
    member = Core(0, 2)
    member.start(NOW)
    member.broadcast(b"a", 3.0)
    assert [delivery.payload for delivery in member.settle(3.0)] == [b"a"]
    assert [send.message for send in member.outputs()] == [update(1, 0, 1, b"a"), Token(1, (1, 0))]


@pytest.mark.parametrize("members", [2, 3, 5])
def test_stability_takes_two_rotations_of_the_token(members: int) -> None:
    """Footnote: "In Totem, the stability time is approximately two token rotation times"."""
    cores = [Core(me, members) for me in range(members)]
    cores[0].broadcast(b"a", NOW)
    passes = 0
    while any(core.stable < 1 for core in cores):
        holder = next(core for core in cores if core.holding)
        holder.settle(NOW)
        if holder.holding:
            holder.tick(NOW + 5.0)
        for to, message in holder.outputs():
            cores[to].receive(holder.me, message, NOW)
            cores[to].deliveries()
            passes += isinstance(message, Token)
    assert passes == 2 * members - 1


@pytest.mark.parametrize("seed", range(3))
def test_over_queues_that_the_layers_make_all_deliver_the_same(seed: int) -> None:
    faults = Faults(loss=0.2, duplication=0.1, delay_ms=(1.0, 20.0))
    network = SimulatedNetwork(totem(), 3, seed=seed, faults=faults, layers=Layers())
    for number in range(60):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(60)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert not any(endpoint.core.violations for endpoint in network.endpoints)


def test_a_member_that_starts_late_and_one_that_is_cut_off_get_everything() -> None:
    faults = Faults(loss=0.1, duplication=0.1, delay_ms=(1.0, 10.0))
    starts_ms = (0.0, 0.0, 3_000.0)
    network = SimulatedNetwork(totem(), 3, seed=5, faults=faults, starts_ms=starts_ms, layers=Layers())
    for number in range(12):
        network.broadcast(number % 2, b"%d" % number)
    network.run_for(4_000.0)
    network.cut([(0, 1), (1, 0), (0, 2), (2, 0)])
    network.broadcast(2, b"late")
    network.run_for(2_000.0)
    network.heal()
    assert network.run_until_delivered(13)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]


def test_nobody_is_crowded_out_by_members_that_always_have_something_to_send() -> None:
    network = SimulatedNetwork(totem(visit_max=2, unstable_max=4), 3, seed=1)
    for number in range(300):
        network.broadcast(number % 2, b"")
    network.broadcast(2, b"the third")
    network.run_until_delivered(301)
    places = [number for number, one in enumerate(network.deliveries[0]) if one.payload == b"the third"]
    assert places[0] < 20


def test_what_a_core_keeps_does_not_grow_with_what_it_delivered() -> None:
    """A core at rest after three thousand messages keeps what it kept after thirty, but for the numbers."""
    network = SimulatedNetwork(totem(), 3, seed=1)
    sizes = []
    for messages in (30, 3_000):
        before = len(network.deliveries[0])
        for number in range(messages):
            network.broadcast(number % 3, b"x" * 100)
        assert network.run_until_delivered(before + messages)
        network.run_for(100.0)
        cores = [endpoint.core.snapshot() for endpoint in network.endpoints]
        sizes.append(
            [(len(core.waiting), len(core.own), len(core.early), len(core.outputs)) for core in cores]
        )
    assert sizes[0] == sizes[1] == [(0, 0, 0, 0)] * 3


WRONG: list[tuple[int, Any, TotemViolation]] = [
    (2, Token(1, (0, 0, 0)), TotemViolation.NOT_THE_RING),
    (0, Token(1, (1, 1, 1)), TotemViolation.TOKEN_BACK),
    (0, Token(1, (1, 0, 1)), TotemViolation.TOKEN_BACK),
    (0, Token(8, (0, 0, 0)), TotemViolation.NUMBER_AHEAD),
    (0, update(4, 2, 1), TotemViolation.FOREIGN_UPDATE),
    (0, update(8, 0, 3), TotemViolation.NUMBER_AHEAD),
    (0, update(3, 0, 3), TotemViolation.TWO_UPDATES),
    (0, update(4, 0, 1), TotemViolation.TWO_NUMBERS),
    (2, update(4, 2, 1), TotemViolation.TWO_NUMBERS),
]


@pytest.mark.parametrize(("sender", "message", "kind"), WRONG)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    sender: int, message: Any, kind: TotemViolation
) -> None:
    """Process 1 has number 1 of process 0, and number 3 of process 2, but not number 2."""
    member = Core(1, 3, Settings(unstable_max=2))
    member.receive(0, update(1, 0, 1), NOW)
    member.receive(2, update(3, 2, 1), NOW)
    before = member.snapshot()
    member.receive(sender, message, NOW)
    assert member.violations == {kind: 1}
    assert member.broken is (kind if kind.breaks_order else None)
    assert member.snapshot()._replace(violations=()) == before


def test_a_holder_takes_no_other_token_and_no_number_that_it_did_not_give() -> None:
    member = Core(0, 2)
    member.receive(1, Token(0, (0, 0)), NOW)
    member.receive(1, update(1, 1, 1), NOW)
    assert member.violations == {TotemViolation.SECOND_TOKEN: 1, TotemViolation.NEVER_GIVEN: 1}
    assert str(member.broken) == str(TotemViolation.SECOND_TOKEN)


def test_a_message_that_comes_again_is_ignored() -> None:
    member = Core(1, 2)
    for _ in range(2):
        member.receive(0, update(1, 0, 1, b"twice"), NOW)
    assert [delivery.payload for delivery in member.settle(NOW)] == [b"twice"]
    assert not member.violations


def test_messages_out_of_range_are_told() -> None:
    assert flaw(Token(0, (0, 0, 0)), 2) == "3 members told how far they are; there are 2"
    assert flaw(Token(1, (2, 0)), 2) == "number 2 was delivered, and the last that was given is 1"
    assert flaw(update(1, 2, 1), 2) == "source 2 is not one of 2 members"
    assert flaw(Token(1, (1, 0)), 2) is None


def test_a_member_is_busy_while_so_many_messages_wait() -> None:
    member = Core(1, 2, Settings(pending_max=2))
    member.broadcast(b"a", NOW)
    member.broadcast(b"b", NOW)
    with pytest.raises(Busy, match="2 wait for the token"):
        member.broadcast(b"c", NOW)
    assert standing(member) == (
        "process 1 of 2, progress 2, busy; waits for the token for message 1:1 of process 0"
    )


def test_the_last_number_ends_the_group() -> None:
    member = Core(0, 2)
    member.restore(member.snapshot()._replace(last_id=NATURAL_MAX), NOW)
    with pytest.raises(GroupFailed, match=str(NATURAL_MAX)):
        member.broadcast(b"", NOW)


def test_impossible_groups_and_limits_are_refused() -> None:
    assert totem().network is Network.FIFO
    with pytest.raises(InvalidMembership, match="process 2 of 2"):
        Core(2, 2)
    for name in ("visit_max", "unstable_max", "pending_max"):
        limits: dict[str, Any] = {name: 0}
        with pytest.raises(ValueError, match=f"{name} is 0"):
            Core(0, 2, Settings(**limits))
    with pytest.raises(ValueError, match="greater than 0 ms"):
        Core(0, 2, Settings(rest_ms=0.0))
