"""RBP with stability: who has what when a message is delivered, what is forgotten, and what stays known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.conformance.compare.suites import CoreSuite, Times, check_memory
from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, InvalidMembership
from antiphon.impl.protocols.core import NATURAL_MAX, Identifier, Implementation, Send
from antiphon.impl.protocols.rbp import FIGURE_25, Core, RbpViolation, Timer, rbp, ring
from antiphon.impl.protocols.rbp.messages import Ack, Data, Message, Numbered, Request, RequestNumbers
from antiphon.impl.protocols.rbp_resilient import rbp_resilient
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

NOW = 0.0
ROUGH = Faults(loss=0.2, duplication=0.2, delay_ms=(1.0, 30.0))
A, B = Identifier(0, 1), Identifier(1, 1)


class TestRbpResilient(CoreSuite):
    """The token comes back to the source of a message past who rests for a fifth of a second."""

    core = "antiphon.impl.protocols.rbp_resilient:rbp_resilient"
    times = Times(delivered_ms=450.0, waiting_ms=400.0, recovered_ms=3_000.0, circulating=3)
    members = 2

    def timed(self) -> Implementation[Any]:
        return rbp_resilient(silence_ms=200.0)

    @pytest.mark.deep
    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        super().test_it_follows_from_its_snapshot_and_its_calls_alone()

    @pytest.mark.deep
    def test_it_keeps_to_its_times(self) -> None:
        super().test_it_keeps_to_its_times()


@pytest.mark.parametrize("resilience", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_all_deliver_everything_in_one_order_whatever_is_lost_doubled_or_late(
    resilience: int, seed: int
) -> None:
    network = SimulatedNetwork(rbp_resilient(resilience=resilience), 3, seed=seed, faults=ROUGH)
    for number in range(30):
        network.broadcast(number % 3, b"%d" % number)
    assert network.run_until_delivered(30)
    assert network.deliveries[0] == network.deliveries[1] == network.deliveries[2]
    assert len(set(network.deliveries[0])) == 30
    assert not any(endpoint.violations for endpoint in network.endpoints)


class Holders:
    """A tracer that counts, at every delivery, how many members have the message with its number."""

    recording = True

    def __init__(self) -> None:
        self.network: SimulatedNetwork[Message] | None = None
        self.fewest = 99

    def record(self, event: object) -> None:
        """Look at all members as they stand."""
        if isinstance(event, tracing.Deliver) and self.network is not None:
            self.fewest = min(self.fewest, sum(map(event_at(event), self.network.endpoints)))


def event_at(event: tracing.Deliver) -> Callable[[Any], bool]:
    """True for a member that has the delivered message, or had it until all did."""

    def has(endpoint: Any) -> bool:
        state = endpoint.core.observe()
        name, number = tuple(event.identifier), event.number
        if number in state["numbers"]:
            return name in state["received"]
        return bool(number <= state["last_number"])

    return has


class Hasty(Core):
    """Delivers when one member fewer has the message."""

    @property
    def deliverable(self) -> bool:
        """Deliver one number early."""
        self.resilience -= 1
        early = super().deliverable
        self.resilience += 1
        return early


def fewest_holders(core: type[Core], resilience: int, members: int) -> int:
    """The fewest members that had a message when somebody delivered it, in a rough run."""
    holders = Holders()
    made = ring(replace(FIGURE_25, resilience=resilience), core)
    network = SimulatedNetwork(made, members, seed=3, faults=ROUGH, tracer=holders)
    holders.network = network
    for number in range(60):
        network.broadcast(number % members, b"%d" % number)
    assert network.run_until_delivered(60)
    return holders.fewest


@pytest.mark.parametrize(("resilience", "members", "fewest"), [(0, 3, 3), (1, 3, 1), (2, 3, 2), (3, 4, 3)])
def test_as_many_members_have_a_message_as_asked_when_anybody_delivers_it(
    resilience: int, members: int, fewest: int
) -> None:
    """Section 3.2.2: whoever knows number k knows that r members have what has numbers up to k - r + 1."""
    assert fewest_holders(Core, resilience, members) == fewest
    if resilience > 1:
        assert fewest_holders(Hasty, resilience, members) == fewest - 1, "it is seen when one is missing"


@pytest.mark.parametrize("resilience", [0, 1, 2, 3])
def test_what_needs_a_member_that_is_cut_off_is_not_delivered_before_it_is_back(resilience: int) -> None:
    """Process 0 numbers the message, process 1 passes the token on: two have it, and know that."""
    network = SimulatedNetwork(rbp_resilient(resilience=resilience), 3, seed=1)
    while not network.endpoints[0].core.snapshot().holding:
        network.run_for(1.0)
    network.cut((sender, to) for sender in range(3) for to in range(3) if 2 in (sender, to))
    network.broadcast(1, b"one")
    network.run_for(2_000.0)
    delivered = [len(deliveries) for deliveries in network.deliveries]
    assert delivered == ([1, 1, 0] if resilience in (1, 2) else [0, 0, 0])
    network.heal()
    assert network.run_until_delivered(1)


@pytest.mark.deep
def test_nothing_that_all_have_is_kept() -> None:
    """Memory does not grow: no container that can be reached from a member, and a few bytes a message."""
    check_memory(rbp_resilient(silence_ms=1_000.0), kept=frozenset(), bytes_max=5.0, messages=800)


@pytest.mark.parametrize("resilience", [0, 2])
def test_a_member_keeps_the_numbers_of_two_turns_at_most(resilience: int) -> None:
    """Section 4.4, and of each source what has no number yet."""
    members, most = 4, 0
    network = SimulatedNetwork(rbp_resilient(resilience=resilience), members, seed=2, faults=ROUGH)
    for number in range(60):
        network.broadcast(number % members, b"%d" % number)

    def look() -> None:
        nonlocal most
        states = [endpoint.core.snapshot() for endpoint in network.endpoints]
        most = max(most, *(len(state.numbers) for state in states))
        assert all(len(state.received) <= 3 * members for state in states)

    network.run_for(20_000.0, watch=look)
    assert all(len(deliveries) == 60 for deliveries in network.deliveries)
    assert members <= most <= 2 * members


def test_a_quiet_group_passes_the_token_now_and_then_and_hurries_while_something_waits() -> None:
    network = SimulatedNetwork(rbp_resilient(hurry_ms=2.0, silence_ms=40.0), 3, seed=1)
    network.run_for(1_000.0)
    assert 23 <= network.datagrams["ack"] // 2 <= 25
    network.broadcast(1, b"one")
    network.run_for(20.0)
    assert [len(deliveries) for deliveries in network.deliveries] == [1, 1, 1]


def test_a_source_that_missed_its_number_sees_that_from_the_next_ack() -> None:
    """Repeated messages go unanswered; the token goes on, and the source asks for the missed number."""
    core = started(0)
    core.outputs()
    name = core.broadcast(b"own", NOW)
    core.outputs()
    core.receive(2, Ack(None, 3, 0), NOW)
    assert core.outputs() == [Send(2, RequestNumbers(2, 3))]
    core.receive(2, Numbered(name, 2), NOW)
    assert not core.busy


def started(me: int, members: int = 3, **settings: Any) -> Core:
    """A core that has begun."""
    core = Core(me, members, replace(FIGURE_25, **settings))
    core.start(NOW)
    return core


def collected(resilience: int = 0) -> Core:
    """Process 2 of three, which has message 0:1 with number 2 behind it, and knows the numbers 1..6."""
    core = started(2, resilience=resilience)
    core.receive(0, Data(A, b"a"), NOW)
    core.receive(0, Ack(None, 1, 1), NOW)
    core.receive(1, Ack(A, 2, 2), NOW)
    core.settle(NOW)
    core.tick(1_000.0)
    core.receive(0, Ack(None, 4, 1), NOW)
    core.receive(1, Ack(None, 5, 2), NOW)
    (delivery,) = core.settle(NOW)
    assert (delivery.number, delivery.payload) == (2, b"a")
    core.tick(5_000.0)
    core.settle(NOW)
    core.outputs()
    return core


@pytest.mark.parametrize("late", [Data(A, b"a"), Data(A, b"b"), Numbered(A, 2), Numbered(None, 1)])
@pytest.mark.parametrize("resilience", [0, 3])
def test_what_was_collected_is_known_and_not_taken_in_again(late: Message, resilience: int) -> None:
    core = collected(resilience)
    before = core.snapshot()
    assert not before.received
    core.receive(0, late, NOW)
    assert (core.snapshot(), core.settle(NOW), core.outputs()) == (before, [], [])
    assert not core.violations


def test_a_body_is_delivered_once_also_when_it_comes_after_its_delivery() -> None:
    """The copy that was on its way when its message was collected is no new message."""
    core = collected()
    core.receive(1, Data(A, b"a"), NOW)
    core.receive(1, Data(B, b"b"), NOW)
    assert core.observe()["waiting"] == ((1, 1),)


@pytest.mark.parametrize(
    ("said", "sender", "kind"),
    [
        (Numbered(B, 2), 0, RbpViolation.TWO_IDENTIFIERS),
        (Numbered(B, 6), 0, RbpViolation.TWO_IDENTIFIERS),
        (Numbered(A, 7), 0, RbpViolation.TWO_NUMBERS),
        (Numbered(Identifier(2, 1), 7), 0, RbpViolation.NEVER_BROADCAST),
        (Ack(B, 7, 2), 0, RbpViolation.OUT_OF_TURN),
        (Numbered(B, 9), 0, RbpViolation.SECOND_TOKEN),
        (Numbered(B, 10), 0, RbpViolation.NUMBER_AHEAD),
        (Data(Identifier(1, 9), b""), 1, RbpViolation.IDENTIFIER_AHEAD),
    ],
    ids=lambda given: given.name if isinstance(given, RbpViolation) else "",
)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    said: Message, sender: int, kind: RbpViolation
) -> None:
    core = collected()
    before = core.snapshot()
    core.receive(sender, said, NOW)
    assert core.violations == {kind: 1}
    assert core.snapshot()._replace(violations=()) == before
    assert core.broken == (kind if kind.breaks_order else None)


def test_two_payloads_and_a_message_at_number_one_prove_two_orders() -> None:
    core = started(2)
    core.receive(0, Data(A, b"a"), NOW)
    core.receive(0, Data(A, b"b"), NOW)
    core.receive(1, Numbered(A, 1), NOW)
    assert core.violations == {RbpViolation.TWO_PAYLOADS: 1, RbpViolation.FIRST_NOT_NULL: 1}


def test_a_member_says_where_it_stands_and_what_it_waits_for() -> None:
    core = started(2)
    assert [str(wait) for wait in core.waits()] == ["a number after 0 of process 0"]
    core.receive(1, Numbered(B, 2), NOW)
    missing = ["number 1", "the body of message 1:1", "the token of number 2"]
    assert [str(wait) for wait in core.waits()] == [f"{what} of process 1" for what in missing]
    core = collected()
    assert repr(core) == (
        "<rbp-resilient: last number 6, delivered to 4, at all to 4, keeps 2 numbers; "
        "process 2 of 3, progress 7; waits for a number after 6 of process 0>"
    )
    assert "holds the token" in repr(holder())


def holder() -> Core:
    """Process 1 of two, which holds the token of number 1."""
    core = started(1, 2)
    core.receive(0, Ack(None, 1, 1), NOW)
    assert core.settle(NOW) == []
    return core


def test_a_holder_numbers_the_first_message_that_came_and_an_old_token_is_answered() -> None:
    core = holder()
    assert core.waits() == ()
    core.receive(0, Data(A, b"a"), NOW)
    assert core.settle(NOW) == []
    assert core.outputs() == [Send(0, Ack(A, 2, 0))]
    core.receive(0, Ack(None, 1, 1), NOW)
    assert core.outputs() == [Send(0, Numbered(A, 2))]
    assert not core.observe()["holding"]


def test_a_token_waits_for_every_number_and_every_body() -> None:
    core = started(2)
    core.receive(1, Ack(B, 2, 2), NOW)
    assert core.outputs() == [Send(1, RequestNumbers(1, 2)), Send(1, Request(B))]
    core.receive(1, Numbered(None, 1), NOW)
    assert not core.accept(NOW)
    core.receive(1, Data(B, b"b"), NOW)
    assert core.accept(NOW)


def test_who_is_asked_answers_from_what_is_kept() -> None:
    core = holder()
    core.receive(0, Data(A, b"a"), NOW)
    core.settle(NOW)
    core.outputs()
    core.receive(0, Request(A), NOW)
    core.receive(0, Request(B), NOW)
    core.receive(0, RequestNumbers(1, 2), NOW)
    assert core.outputs() == [Send(0, Data(A, b"a")), Send(0, Numbered(A, 2))], "number 1 is at both"


def test_a_source_waits_for_its_number_before_it_broadcasts_again() -> None:
    core = started(1)
    core.broadcast(b"one", NOW)
    with pytest.raises(Busy, match=r"\(1, 1\) has no number yet"):
        core.broadcast(b"two", NOW)


@pytest.mark.parametrize("timer", list(Timer))
def test_a_timer_that_waits_for_nothing_does_not_expire(timer: Timer) -> None:
    core = Core(1, 3, FIGURE_25)
    assert not core.expire(timer, NOW)
    assert core.outputs() == []


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(InvalidMembership, match="process 3 of 3"):
        Core(3, 3, FIGURE_25)
    with pytest.raises(ValueError, match="resilience 4: 1 to 3 members, or 0 for all"):
        Core(0, 3, replace(FIGURE_25, resilience=4))
    with pytest.raises(ValueError, match="resilience 2: without stability a message is delivered as soon"):
        rbp(resilience=2)
    with pytest.raises(ValueError, match="greater than 0 ms"):
        Core(0, 3, replace(FIGURE_25, hurry_ms=0.0))


def test_after_the_last_number_a_broadcast_fails_and_the_token_stays() -> None:
    core = holder()
    last = core.snapshot()._replace(numbers=((NATURAL_MAX, None),), last_number=NATURAL_MAX, timers=())
    core.restore(last, NOW)
    with pytest.raises(GroupFailed, match=f"number {NATURAL_MAX} was given"):
        core.broadcast(b"", NOW)
    core.tick(1_000_000.0)
    core.settle(1_000_000.0)
    assert (core.outputs(), core.next_deadline()) == ([], None)
