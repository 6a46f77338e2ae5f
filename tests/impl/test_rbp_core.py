"""Each line of figure 16, repaired, as one step of the core (Barchet-Estefanel 2002, section 3.1.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from antiphon.conformance.compare.suites import CoreSuite, Times
from antiphon.impl.errors import Busy, InvalidMembership, PayloadTooLarge
from antiphon.impl.protocols.core import PAYLOAD_BYTES_MAX, Delivery, Identifier, Send, Wait
from antiphon.impl.protocols.rbp import Core, RbpViolation, Settings, Timer
from antiphon.impl.protocols.rbp.messages import Ack, Data, Message, Numbered, Request, RequestNumbers
from antiphon.impl.tracing import RecordingTracer, Step, Violation

A = Identifier(0, 1)
B = Identifier(1, 1)
C = Identifier(2, 1)


class TestRbp(CoreSuite):
    """Data and ACK, a millisecond each; eight times the longest interval; two such times and round trips."""

    core = "antiphon.impl.protocols.rbp:rbp"
    times = Times(delivered_ms=2.0, waiting_ms=400.0, recovered_ms=1_000.0)
    kept = frozenset(f"endpoint.core._queues.{name}" for name in ("received", "numbers", "number_of"))


def fresh(me: int, members: int = 3) -> Core:
    """A started process whose first messages are on their way."""
    core = Core(me, members)
    core.start(0.0)
    core.outputs()
    return core


def holder(me: int = 1, members: int = 3) -> Core:
    """A process that holds the token of number 1."""
    core = fresh(me, members)
    core.receive((me - 1) % members, Ack(None, 1, me), 0.0)
    assert core.accept(0.0)
    return core


def to_others(core: Core, *messages: Message) -> list[Send[Message]]:
    """Outputs of `core` when it sends these messages to all."""
    return [Send(q, message) for message in messages for q in range(core.members) if q != core.me]


def test_process_0_starts_the_token_with_a_null_message() -> None:
    """Lines 8-9; claim RBP-01."""
    core = Core(0, 3)
    assert core.outputs() == []
    core.start(7e6)
    assert core.outputs() == to_others(core, Ack(None, 1, 1))
    assert core.observe()["numbers"] == {1: None}
    assert core.observe()["passed"] == 1
    assert fresh(1).outputs() == []


@pytest.mark.parametrize("me", [0, 1])
def test_a_core_has_no_time_before_it_starts(me: int) -> None:
    """The first deadline is a whole interval after the start, whatever the clock's origin."""
    core = Core(me, 3, Settings(token_ms=50.0))
    assert core.next_deadline() is None
    core.start(7e6)
    assert core.next_deadline() == (7e6 + 50.0 if me == 0 else None)
    core.outputs()
    core.tick(7e6)
    assert core.outputs() == []


def test_a_member_knows_what_it_waits_for_and_from_whom() -> None:
    core = fresh(3, 4)
    assert core.waits() == ()
    core.broadcast(b"d", 0.0)
    assert core.waits() == (Wait("a number after 0 for message 3:1", 0),)
    core.receive(1, Ack(B, 2, 2), 0.0)
    assert core.waits() == (
        Wait("number 1", 1),
        Wait("the body of message 1:1", 1),
        Wait("a number after 2 for message 3:1", 2),
    )
    core.receive(1, Data(B, b"b"), 0.0)
    core.receive(1, Numbered(None, 1), 0.0)
    core.receive(2, Data(C, b"c"), 0.0)
    core.receive(2, Numbered(C, 3), 0.0)
    assert core.waits() == (Wait("the token of number 3", 2),)
    assert str(core.waits()[0]) == "the token of number 3 of process 2"
    core.receive(2, Ack(C, 3, 3), 0.0)
    core.settle(0.0)
    assert core.waits() == ()


@pytest.mark.parametrize(("me", "members"), [(0, 1), (3, 3), (-1, 3)])
def test_a_ring_has_two_members_at_least_and_the_process_is_one_of_them(me: int, members: int) -> None:
    with pytest.raises(InvalidMembership):
        Core(me, members)


@pytest.mark.parametrize("wrong", [{"resend_ms": 0}, {"token_ms": -1}, {"request_ms": 0}, {"backoff_max": 0}])
def test_intervals_are_positive(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        Core(0, 2, Settings(**wrong))


def test_a_broadcast_is_named_once_and_sent_to_all_oneself_at_once() -> None:
    """Lines 11-14; claim RBP-03."""
    core = fresh(1)
    assert core.broadcast(b"m", 0.0) == B
    assert core.outputs() == to_others(core, Data(B, b"m"))
    assert core.observe()["received"] == {(1, 1): b"m"}
    assert core.expire(Timer.RESEND, 50.0)
    assert core.outputs() == to_others(core, Data(B, b"m"))
    assert core.observe()["message_id"] == 1


def test_a_payload_that_is_refused_leaves_no_trace() -> None:
    core = fresh(1)
    before = core.snapshot()
    with pytest.raises(TypeError, match="not str"):
        core.broadcast("text", 0.0)  # type: ignore[arg-type]
    with pytest.raises(PayloadTooLarge, match="split it"):
        core.broadcast(memoryview(bytes(4 * PAYLOAD_BYTES_MAX)).cast("I"), 0.0)  # type: ignore[arg-type]
    assert core.snapshot() == before


def test_a_source_waits_for_its_number_before_it_broadcasts_again() -> None:
    """Line 15; claim RBP-14."""
    core = fresh(0)
    core.broadcast(b"m", 0.0)
    with pytest.raises(Busy):
        core.broadcast(b"m'", 0.0)
    core.receive(1, Ack(A, 2, 2), 0.0)
    assert not core.busy
    assert not core.expire(Timer.RESEND, 50.0)
    assert core.broadcast(b"m'", 0.0) == Identifier(0, 2)


def test_a_new_body_is_stored_in_order_of_reception() -> None:
    """Line 23 of the figure."""
    core = fresh(1)
    core.receive(2, Data(C, b"c"), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    core.receive(2, Data(C, b"c"), 0.0)
    assert list(core.observe()["received"]) == [C, A]
    assert core.outputs() == []


def test_a_late_body_is_stored_although_its_message_has_a_number() -> None:
    """Lines 19-23, whose literal form drops it."""
    core = fresh(1)
    core.receive(0, Ack(None, 1, 1), 0.0)
    core.receive(2, Numbered(A, 2), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    assert core.observe()["received"] == {A: b"a"}
    assert not core.expire(Timer.REPEAT_REQUEST, 0.0)


def test_the_token_holder_tells_the_number_of_an_old_message() -> None:
    """Lines 19-21 and figure 14; claim RBP-08."""
    core = fresh(2)
    core.receive(0, Ack(None, 1, 1), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    core.receive(1, Ack(A, 2, 2), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    assert core.outputs() == []  # not the holder yet
    assert core.accept(0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    assert core.outputs() == [Send(0, Numbered(A, 2))]
    core.receive(1, Data(A, b"a"), 0.0)
    assert core.outputs() == [Send(0, Numbered(A, 2))]  # the source waits for it, not who sent the copy
    core.receive(1, Data(A, b"another"), 0.0)
    assert core.outputs() == []  # there is no such message
    assert core.violations == {RbpViolation.TWO_PAYLOADS: 1}


def test_the_token_holder_does_not_tell_itself() -> None:
    core = fresh(0, 2)
    core.broadcast(b"a", 0.0)
    core.receive(1, Ack(A, 2, 0), 0.0)
    assert core.accept(0.0)
    core.outputs()
    core.receive(1, Data(A, b"a"), 0.0)
    assert core.outputs() == []


def test_an_ack_for_another_leaves_no_gap_unasked() -> None:
    """Lines 26-31 of the figure."""
    core = fresh(4, 5)
    core.receive(2, Ack(A, 3, 3), 0.0)
    assert core.outputs() == [Send(2, RequestNumbers(1, 3)), Send(2, Request(A))]
    assert core.observe()["arriving"] is None
    assert core.observe()["last_number"] == 0


def test_an_ack_without_gap_asks_only_for_its_body() -> None:
    """Lines 28-31 of the figure."""
    core = fresh(2)
    core.receive(0, Ack(None, 1, 1), 0.0)
    assert core.outputs() == []
    core.receive(1, Data(B, b"b"), 0.0)
    core.receive(1, Numbered(B, 2), 0.0)
    assert core.observe()["last_number"] == 2


def test_a_token_waits_for_every_number_and_every_body() -> None:
    """Lines 32-44; claim RBP-37."""
    core = fresh(3, 4)
    core.receive(2, Ack(B, 3, 3), 0.0)
    assert core.outputs() == [Send(2, RequestNumbers(1, 3)), Send(2, Request(B))]
    assert not core.accept(0.0)
    core.receive(0, Numbered(None, 1), 0.0)
    core.receive(0, Numbered(A, 2), 0.0)
    assert not core.accept(0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    assert not core.accept(0.0)
    core.receive(0, Data(B, b"b"), 0.0)
    assert core.accept(0.0)
    assert core.observe()["holding"]
    assert not core.accept(0.0)


def test_what_is_missing_is_asked_for_again_until_it_comes() -> None:
    """Lines 34-36 and 42-44."""
    core = fresh(5, 6)
    own = core.broadcast(b"f", 0.0)
    core.receive(3, Ack(A, 4, 4), 0.0)
    core.receive(0, Numbered(B, 2), 0.0)
    core.outputs()
    assert core.expire(Timer.REPEAT_REQUEST, 20.0)
    assert core.outputs() == [Send(3, RequestNumbers(1, 4)), Send(3, Request(B)), Send(3, Request(A))]
    core.receive(0, Numbered(None, 1), 0.0)
    core.receive(0, Numbered(own, 3), 0.0)
    core.outputs()
    assert core.expire(Timer.REPEAT_REQUEST, 40.0)
    assert core.outputs() == [Send(3, Request(B)), Send(3, Request(A))]


@pytest.mark.parametrize(
    ("sender", "message"),
    [
        (0, Data(A, b"a")),
        (0, Data(Identifier(0, 99), b"impossible")),
        (0, Ack(None, 1, 1)),
        (0, Numbered(None, 1)),
        (0, Request(C)),
        (0, RequestNumbers(1, 1)),
    ],
)
def test_a_snapshot_knows_the_time_of_the_last_message(sender: int, message: Message) -> None:
    """Deadlines are kept as what is left of them, whatever came last."""
    core, another = fresh(2), fresh(2)
    core.broadcast(b"c", 0.0)
    core.receive(sender, message, 10.0)
    another.restore(core.snapshot(), 1_010.0)
    deadline = core.next_deadline()
    assert deadline is not None
    assert another.next_deadline() == deadline + 1_000.0


def resend(core: Core, now: float) -> bool:
    return core.expire(Timer.RESEND, now)


@pytest.mark.parametrize("step", [Core.accept, Core.sequence, Core.settle, Core.tick, resend])
def test_a_snapshot_knows_the_time_of_the_last_step(step: Callable[[Core, float], object]) -> None:
    core, another = holder(), fresh(1)
    core.broadcast(b"b", 5.0)
    another.restore(core.snapshot(), 1_005.0)
    deadline = core.next_deadline()
    assert deadline is not None
    assert another.next_deadline() == deadline + 1_000.0
    step(core, 10.0)
    another.restore(core.snapshot(), 1_010.0)
    deadline = core.next_deadline()
    assert deadline is not None
    assert another.next_deadline() == deadline + 1_000.0


def test_a_number_and_a_body_are_progress_each() -> None:
    core = fresh(2)
    assert core.progress == 0
    core.receive(0, Ack(None, 1, 1), 0.0)
    assert core.progress == 1
    core.receive(0, Data(A, b"a"), 0.0)
    assert core.progress == 2
    core.receive(1, Numbered(A, 2), 0.0)
    core.receive(1, Numbered(A, 2), 0.0)
    assert core.progress == 3


def test_a_missing_number_alone_is_asked_for_again() -> None:
    """The body of the message with number 2 is here; who gave that number knows number 1."""
    core = fresh(3, 4)
    core.receive(0, Data(A, b"a"), 0.0)
    core.receive(1, Numbered(A, 2), 0.0)
    core.outputs()
    deadline = core.next_deadline()
    assert deadline is not None
    core.tick(deadline)
    assert core.outputs() == [Send(1, RequestNumbers(1, 2))]


def test_numbering_a_message_is_told_to_the_tracer_and_the_null_message_is_not() -> None:
    tracer = RecordingTracer()
    core = Core(0, 2, tracer=tracer)
    core.start(0.0)
    assert [event for event in tracer.events if isinstance(event, Step)] == []
    tracer = RecordingTracer()
    core = Core(1, 2, tracer=tracer)
    core.start(0.0)
    core.receive(0, Ack(None, 1, 1), 0.0)
    core.settle(0.0)
    name = core.broadcast(b"b", 0.0)
    core.settle(0.0)
    steps = [event for event in tracer.events if isinstance(event, Step)]
    assert steps == [Step(1, "accept", number=1), Step(1, "sequence", name, 2)]


def test_an_old_token_is_answered_and_not_taken_again() -> None:
    """Lines 38-39 and figure 15; claims RBP-06 and RBP-07."""
    core = holder()
    core.receive(0, Ack(None, 1, 1), 0.0)
    assert core.outputs() == []
    assert core.observe()["arriving"] is None
    core.receive(0, Data(A, b"a"), 0.0)
    assert core.sequence(0.0)
    core.receive(2, Data(C, b"c"), 0.0)
    core.receive(2, Ack(C, 3, 0), 0.0)
    core.outputs()
    core.receive(0, Ack(None, 1, 1), 0.0)
    assert core.outputs() == [Send(0, Numbered(A, 2)), Send(0, Numbered(C, 3))]
    assert core.observe()["arriving"] is None
    assert not core.accept(0.0)


def test_the_holder_numbers_the_first_message_without_a_number_and_passes_the_token() -> None:
    """Lines 45-48; claims RBP-15 and MSQ-01."""
    core = holder()
    assert not core.sequence(0.0)
    core.receive(2, Data(C, b"c"), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    core.outputs()
    assert core.sequence(0.0)
    assert core.outputs() == to_others(core, Ack(C, 2, 2))
    state = core.observe()
    assert (state["holding"], state["passed"], state["last_number"], state["numbers"][2]) == (False, 2, 2, C)
    assert not core.sequence(0.0)


def test_the_token_is_sent_again_until_a_higher_number_is_known() -> None:
    """Lines 47-49 of the figure."""
    core = fresh(0)
    assert core.expire(Timer.RESEND_TOKEN, 50.0)
    assert core.outputs() == to_others(core, Ack(None, 1, 1))
    core.receive(1, Data(B, b"b"), 0.0)
    core.receive(2, Numbered(B, 2), 0.0)
    assert core.observe()["passed"] is None
    assert not core.expire(Timer.RESEND_TOKEN, 100.0)
    assert core.outputs() == []


def test_whoever_gave_a_number_is_asked_for_those_before_it_and_none_after() -> None:
    """The giver is sure to have those numbers; others may not. Four processes are needed to know a later
    number already.
    """
    core = fresh(0, 4)
    core.receive(3, Ack(C, 4, 0), 0.0)
    assert core.outputs() == [Send(3, RequestNumbers(2, 4)), Send(3, Request(C))]
    core.receive(2, Ack(B, 3, 3), 0.0)
    assert core.outputs() == [Send(2, RequestNumbers(2, 3)), Send(2, Request(B))]


def test_a_body_is_sent_with_its_identifier_to_who_asks() -> None:
    """Lines 51-53; claim RBP-05."""
    core = fresh(1)
    core.receive(2, Request(A), 0.0)
    assert core.outputs() == []
    core.receive(0, Data(A, b"a"), 0.0)
    core.receive(2, Request(A), 0.0)
    assert core.outputs() == [Send(2, Data(A, b"a"))]


def test_numbers_are_told_with_both_ends_of_the_range() -> None:
    """Lines 55-57; claim MSQ-03. Numbers beyond a gap are known numbers too."""
    core = fresh(0, 6)
    core.receive(1, Data(B, b"b"), 0.0)
    core.receive(1, Numbered(B, 2), 0.0)
    core.receive(1, Numbered(C, 5), 0.0)
    core.receive(2, RequestNumbers(2, 5), 0.0)
    assert core.outputs() == [Send(2, Numbered(B, 2)), Send(2, Numbered(C, 5))]
    core.receive(2, RequestNumbers(1, 8), 0.0)
    assert core.outputs() == [Send(2, Numbered(None, 1)), Send(2, Numbered(B, 2)), Send(2, Numbered(C, 5))]
    core.receive(2, RequestNumbers(3, 4), 0.0)
    assert core.outputs() == []


def test_delivery_skips_the_null_message_and_waits_for_bodies() -> None:
    """Lines 60-63; claims RBP-11 and RBP-12."""
    core = fresh(2)
    core.receive(0, Ack(None, 1, 1), 0.0)
    core.receive(1, Ack(B, 2, 2), 0.0)
    steps = []
    for _ in range(2):
        steps.append((core.deliverable, core.deliver(), core.observe()["last_delivered"]))
    core.receive(1, Data(B, b"b"), 0.0)
    for _ in range(2):
        steps.append((core.deliverable, core.deliver(), core.observe()["last_delivered"]))
    assert steps == [(True, None, 1), (False, None, 1), (True, Delivery(1, 1, 2, b"b"), 2), (False, None, 2)]


def test_settling_accepts_sequences_and_delivers() -> None:
    core = fresh(1)
    core.broadcast(b"b", 0.0)
    core.receive(0, Ack(None, 1, 1), 0.0)
    assert core.settle(0.0) == [Delivery(1, 1, 2, b"b")]
    assert core.settle(0.0) == []
    assert not core.busy


def test_deadlines_back_off_and_never_decide_whether_a_timer_may_expire() -> None:
    core = Core(1, 3, Settings(resend_ms=10, backoff_max=4))
    assert core.next_deadline() is None
    core.broadcast(b"b", 100.0)
    core.outputs()
    deadlines = []
    for _ in range(5):
        deadline = core.next_deadline()
        assert deadline is not None
        core.tick(deadline - 0.5)
        assert core.outputs() == []
        core.tick(deadline)
        assert len(core.outputs()) == 2
        deadlines.append(deadline)
    assert deadlines == [110, 130, 170, 210, 250]
    assert core.expire(Timer.RESEND, 211.0)
    assert core.next_deadline() == 211.0 + 40


@pytest.mark.parametrize("timer", list(Timer))
def test_a_timer_that_waits_for_nothing_does_not_expire(timer: Timer) -> None:
    core = fresh(1)
    before = core.snapshot()
    assert not core.expire(timer, 5.0)
    assert core.snapshot() == before


IMPOSSIBLE = [
    (RbpViolation.TWO_IDENTIFIERS, 2, Numbered(C, 2)),
    (RbpViolation.TWO_NUMBERS, 2, Numbered(A, 3)),
    (RbpViolation.TWO_PAYLOADS, 2, Data(A, b"other")),
    (RbpViolation.MISPLACED_NULL, 2, Numbered(None, 3)),
    (RbpViolation.MISPLACED_NULL, 0, Ack(C, 1, 1)),
    (RbpViolation.NEVER_BROADCAST, 2, Numbered(Identifier(1, 9), 3)),
    (RbpViolation.NEVER_BROADCAST, 2, Data(Identifier(1, 9), b"")),
    (RbpViolation.SECOND_TOKEN, 2, Numbered(C, 5)),
    (RbpViolation.OUT_OF_TURN, 0, Ack(C, 4, 2)),
    (RbpViolation.OUT_OF_TURN, 0, Ack(C, 3, 1)),
    (RbpViolation.NUMBER_AHEAD, 2, Numbered(C, 6)),
    (RbpViolation.IDENTIFIER_AHEAD, 2, Numbered(Identifier(2, 2), 3)),
    (RbpViolation.IDENTIFIER_AHEAD, 2, Data(Identifier(2, 4), b"")),
]


@pytest.mark.parametrize(("kind", "sender", "message"), IMPOSSIBLE)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    kind: RbpViolation, sender: int, message: Message
) -> None:
    tracer = RecordingTracer()
    core = Core(1, 3, tracer=tracer)
    core.receive(0, Ack(None, 1, 1), 0.0)
    core.receive(0, Data(A, b"a"), 0.0)
    core.settle(0.0)
    core.outputs()
    before = core.observe()
    core.receive(sender, message, 0.0)
    assert core.observe() == before
    assert core.outputs() == []
    assert core.violations == {kind: 1}
    assert [(e.kind, e.sender) for e in tracer.events if isinstance(e, Violation)] == [(kind, sender)]


def test_nobody_else_numbers_while_the_token_is_here() -> None:
    """Claim MSQ-01: only the token holder assigns."""
    core = holder()
    core.receive(2, Numbered(C, 2), 0.0)
    assert core.violations == {RbpViolation.SECOND_TOKEN: 1}


def test_numbers_from_the_own_next_turn_on_do_not_exist() -> None:
    """Process 3 of 4 gives number 4 and no other process does; the numbers before may come in any order."""
    core = fresh(3, 4)
    core.receive(2, Numbered(C, 4), 0.0)
    core.receive(2, Numbered(C, 5), 0.0)
    core.receive(2, Numbered(C, 2**63 - 1), 0.0)
    assert core.violations == {RbpViolation.SECOND_TOKEN: 1, RbpViolation.NUMBER_AHEAD: 2}
    another = fresh(core.me, core.members)
    another.restore(core.snapshot(), 1.0)
    assert another.violations == core.violations
    core.receive(2, Numbered(C, 3), 0.0)
    core.receive(2, Numbered(A, 2), 0.0)
    assert core.observe()["numbers"] == {2: A, 3: C}


def test_a_second_number_proves_two_orders_however_far_ahead_it_is() -> None:
    core = fresh(3, 4)
    core.receive(1, Numbered(A, 2), 0.0)
    core.receive(1, Numbered(A, 2**63 - 1), 0.0)
    assert core.violations == {RbpViolation.TWO_NUMBERS: 1}
    assert core.broken is RbpViolation.TWO_NUMBERS


def test_a_source_names_a_message_when_its_last_one_has_a_number() -> None:
    """Numbers 2 and 3 may be given already, both to messages of process 0: its third one may be under way."""
    core = fresh(3, 4)
    core.receive(0, Ack(None, 1, 1), 0.0)
    for count in (3, 4, 2**63 - 1):
        core.receive(0, Data(Identifier(0, count), b"%d" % count), 0.0)
    assert core.observe()["received"] == {(0, 3): b"3"}
    assert core.violations == {RbpViolation.IDENTIFIER_AHEAD: 2}
    core.receive(1, Numbered(Identifier(0, 2), 2), 0.0)
    assert core.violations == {RbpViolation.IDENTIFIER_AHEAD: 3}
    core.receive(1, Numbered(A, 2), 0.0)
    core.receive(0, Data(Identifier(0, 4), b"4"), 0.0)
    core.receive(0, Data(A, b"1"), 0.0)
    assert len(core.observe()["received"]) == 2  # of numbers 2 and 3 one is left, so the fourth cannot be yet


def test_whatever_is_said_little_is_kept_beside_what_is_numbered() -> None:
    """Claim: fewer numbers ahead than members, and of each source so many bodies and one more."""
    members = 4
    core = fresh(3, members)
    for k in range(1, 2_000):
        for source in range(members):
            core.receive(0, Data(Identifier(source, k), bytes(8)), 0.0)
            core.receive(0, Numbered(Identifier(source, k), 1 + k), 0.0)
    state = core.observe()
    assert len(state["numbers"]) < members
    assert len(state["received"]) <= members * members
    assert len(core.snapshot().violations) <= len(RbpViolation)


def test_who_misses_many_numbers_asks_for_the_next_ones_as_soon_as_it_has_the_last() -> None:
    """No timer is needed to catch up, and no answer is longer than NUMBERS_ASKED_MAX messages."""
    members, me = 40, 39
    complete, behind = fresh(37, members), fresh(me, members)
    numbered = [Numbered(None, 1), *(Numbered(Identifier(k, 1), k) for k in range(2, 39))]
    for k in range(2, 39):
        if k != 37:
            complete.receive(k, Data(Identifier(k, 1), b""), 0.0)
    complete.broadcast(b"", 0.0)
    for message in numbered[:37]:
        complete.receive(0, message, 0.0)
    complete.receive(36, Ack(Identifier(37, 1), 37, 37), 0.0)
    complete.settle(0.0)
    complete.outputs()
    behind.receive(37, Ack(Identifier(38, 1), 38, 38), 0.0)
    answers = []
    while asked := [message for _, message in behind.outputs() if isinstance(message, RequestNumbers)]:
        assert len(asked) == 1
        complete.receive(me, asked[0], 0.0)
        told = [message for _, message in complete.outputs()]
        answers.append(len(told))
        for message in told:
            behind.receive(37, message, 0.0)
    assert answers == [8, 8, 8, 8, 6]
    assert behind.observe()["last_number"] == 38


def test_an_old_token_is_answered_with_a_few_numbers() -> None:
    """A member that repeats its token knows none of the later numbers; the first of them end its wait."""
    core = fresh(1, 2)
    core.receive(0, Ack(None, 1, 1), 0.0)
    for k in range(1, 16):
        core.receive(0, Data(Identifier(0, k), b""), 0.0)
        core.settle(0.0)
        own = core.broadcast(b"", 0.0)
        core.receive(0, Ack(own, 2 * k + 1, 1), 0.0)
    core.settle(0.0)
    core.outputs()
    core.receive(0, Ack(None, 1, 1), 0.0)
    answers = [message for _, message in core.outputs()]
    assert [message.number for message in answers if isinstance(message, Numbered)] == list(range(2, 10))
    assert len(answers) == 8


def test_a_timer_stops_when_its_wait_ends() -> None:
    core = fresh(3, 4)
    own = core.broadcast(b"d", 0.0)
    core.receive(2, Numbered(C, 3), 0.0)
    assert core.next_deadline() == 20.0
    core.receive(2, Numbered(own, 2), 1.0)
    core.receive(2, Numbered(None, 1), 1.0)
    assert core.next_deadline() == 20.0  # the body of C
    core.receive(2, Data(C, b"c"), 1.0)
    assert core.next_deadline() is None
    assert not core.expire(Timer.REPEAT_REQUEST, 2.0)


def test_a_timer_that_runs_is_not_set_back_by_the_next_gap() -> None:
    core = fresh(5, 6)
    core.receive(2, Numbered(C, 3), 0.0)
    core.receive(2, Numbered(A, 5), 10.0)
    assert core.next_deadline() == 20.0


def test_a_number_beyond_a_gap_is_told_when_it_is_either_end_of_the_range() -> None:
    core = fresh(0, 6)
    core.receive(1, Numbered(C, 5), 0.0)
    core.receive(2, RequestNumbers(5, 5), 0.0)
    assert core.outputs() == [Send(2, Numbered(C, 5))]
