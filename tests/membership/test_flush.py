"""Merged reports after a change of the list: numbers without holes, and nothing twice."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import (
    HANDED_BYTES_MAX,
    MERGED_BYTES_MAX,
    Body,
    Numbered,
    Report,
    covered_from,
    merged,
    merged_with_kept,
)
from antiphon.impl.protocols.rbp import Core, Settings
from antiphon.impl.protocols.rbp.messages import Ack, Gone, RequestNumbers
from antiphon.impl.protocols.rbp.messages import Numbered as Told
from antiphon.impl.protocols.rbp.process import FRESH_MS
from antiphon.impl.protocols.rbp_resilient import rbp_resilient
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork

A1, A2, B1 = Identifier(0, 1), Identifier(0, 2), Identifier(1, 1)


def report(
    settled: int,
    numbered: dict[int, Identifier | None],
    bodies: list[Identifier],
    counts: tuple[int, ...] = (0, 0),
) -> Report:
    """A report whose payloads name their messages."""
    return Report(
        settled,
        counts,
        tuple(Numbered(number, name) for number, name in sorted(numbered.items())),
        tuple(Body(name, repr(name).encode()) for name in sorted(bodies)),
    )


def order(agreed: Report) -> list[tuple[int, Identifier | None]]:
    """The numbers of a union."""
    return [(item.number, item.identifier) for item in agreed.numbered]


def test_a_number_whose_message_nobody_has_is_left_out_with_all_behind_it() -> None:
    agreed = merged([report(0, {1: None, 2: A1, 3: B1}, [B1]), report(0, {1: None}, [])])
    assert order(agreed) == [(1, None), (2, B1)], "B1 comes after what is left, with a number of its own"
    assert agreed.settled == 2


def test_what_has_no_number_comes_behind_the_rest_in_the_order_of_identifiers() -> None:
    agreed = merged([report(0, {1: None}, [B1, A2]), report(0, {1: None}, [A1])])
    assert order(agreed) == [(1, None), (2, A1), (3, A2), (4, B1)]


def test_what_all_have_is_not_missing_and_not_taken_again() -> None:
    behind = report(0, {}, [A1])
    ahead = report(5, {6: B1}, [B1], counts=(1, 0))
    agreed = merged([behind, ahead])
    assert order(agreed) == [(6, B1)], "A1 was delivered with one of the numbers up to 5"
    assert covered_from(agreed) == 6, "who has less than 5 misses something"


def test_two_reports_complete_each_other() -> None:
    agreed = merged([report(1, {2: A1}, []), report(0, {1: None, 3: B1}, [A1, B1])])
    assert order(agreed) == [(1, None), (2, A1), (3, B1)]
    assert covered_from(agreed) == 1


bodies = st.sets(st.sampled_from([A1, A2, B1]))
numbers = st.lists(st.sampled_from([None, A1, A2, B1]), unique=True, max_size=4)


@given(numbers, bodies, bodies, st.integers(0, 4))
def test_a_union_has_no_holes_each_message_once_and_all_that_was_reported(
    names: list[Identifier | None], mine: set[Identifier], others: set[Identifier], cut: int
) -> None:
    whole = dict(enumerate(names, 1))
    first = {number: name for number, name in whole.items() if number <= cut}
    agreed = merged([report(0, whole, sorted(mine)), report(0, first, sorted(others))])
    numbered = [number for number, _ in order(agreed)]
    assert numbered == list(range(1, agreed.settled + 1))
    found = [name for _, name in order(agreed) if name is not None]
    assert sorted(found) == sorted(mine | others)
    assert {item.identifier for item in agreed.bodies} == mine | others
    kept = 0
    for kept, name in enumerate(names, 1):
        if name is not None and name not in mine | others:
            kept -= 1
            break
    assert [name for _, name in order(agreed)][:kept] == names[:kept], "what has a number keeps it"


def test_an_external_member_is_lost_only_when_all_have_nothing_of_what_it_needs_now() -> None:
    """Members of the ring say "no more" about what it needed when they were asked."""
    core = Core(3, 4, Settings(resilience=0, stability=True), ring=3)
    core.start(0.0)
    core.receive(0, Gone(5), 0.0)
    for number in range(1, 10):
        core.receive((number - 1) % 3, Ack(None, number, number % 3), 1.0)
    core.receive(1, Gone(20), 2.0)
    core.receive(2, Gone(20), 2.0)
    assert not core.lost, "member 0 has said so about number 5, which is here"
    core.receive(0, Gone(20), 3.0)
    assert core.lost
    other = Core(3, 4, Settings(resilience=0, stability=True), ring=3)
    other.restore(core.snapshot(), 4.0)
    assert other.lost
    assert other.snapshot() == core.snapshot()


def outside(last: int) -> Core:
    """An external process that knows the numbers of so many NULL messages."""
    core = Core(2, 3, Settings(resilience=0, stability=True), ring=2)
    core.start(0.0)
    for number in range(1, last + 1):
        core.receive((number - 1) % 2, Ack(None, number, number % 2), 1.0)
    core.outputs()
    return core


def test_an_external_member_comes_back_when_it_has_what_the_ring_had_when_it_asked() -> None:
    """A backlog in its socket looks like the present: the first of it is all that was heard of."""
    core = outside(1)
    assert not core.caught_up, "it has all that it has heard of, and has heard of little"
    core.tick(30.0)
    assert [send.message for send in core.outputs()] == [RequestNumbers(1, 1)]
    core.receive(1, Told(None, 400), 31.0)
    core.receive(1, Told(None, 1), 31.0)
    assert not core.caught_up, "the answer shows that more is missing than it can ask for at once"
    for number in range(2, 401):
        core.receive((number - 1) % 2, Ack(None, number, number % 2), 40.0)
    assert core.caught_up
    core.settle(31.0 + FRESH_MS)
    assert not core.caught_up, "it was stopped again, perhaps"


def test_an_external_member_comes_back_also_to_a_ring_that_gives_the_asked_number_alone() -> None:
    """Members of the release before answer so."""
    core = outside(5)
    core.tick(30.0)
    asked = core.outputs()[-1].message
    assert asked == RequestNumbers(5, 5)
    core.receive(0, Told(None, 4), 31.0)
    assert not core.caught_up, "this answers another question"
    core.receive(2, Told(None, 5), 31.0)
    assert not core.caught_up, "no member of the ring has said so"
    core.receive(0, Told(None, 5), 31.0)
    assert core.caught_up
    other = outside(0)
    other.restore(core.snapshot(), 500.0)
    assert other.caught_up
    assert other.snapshot() == core.snapshot()


def test_a_member_of_the_ring_tells_who_is_outside_how_far_it_is_and_nobody_else() -> None:
    core = Core(0, 3, Settings(resilience=0, stability=True), ring=2)
    core.start(0.0)
    core.receive(1, Ack(None, 2, 0), 1.0)
    core.settle(1.0)
    core.tick(50.0)
    core.outputs()
    assert core.last_number == 3
    core.receive(2, RequestNumbers(2, 2), 51.0)
    assert [send.message for send in core.outputs()] == [Told(None, 3), Told(None, 2)]
    core.receive(2, RequestNumbers(3, 3), 51.0)
    assert [send.message for send in core.outputs()] == [Told(None, 3)], "there is no more"
    core.receive(1, RequestNumbers(2, 2), 52.0)
    assert [send.message for send in core.outputs()] == [Told(None, 2)], "a member of the ring knows"


def test_a_change_hands_over_all_that_who_has_reported_lacks_and_a_part_for_the_silent() -> None:
    """A member that has reported lives, and would be lost for nothing."""
    size = MERGED_BYTES_MAX // 4
    assert HANDED_BYTES_MAX // size == 16
    kept = [(number, Identifier(0, number), bytes(size)) for number in range(22, 0, -1)]
    reports = [Report(22, (22, 0, 0), (), ()), Report(12, (12, 0, 0), (), ()), Report(2, (2, 0, 0), (), ())]
    handed = [
        len(merged_with_kept(some, kept, missing=missing).bodies)
        for some in (reports, reports[:2], reports[:1])
        for missing in (False, True)
    ]
    assert handed == [15, 15, 10, 10, 0, 3], "with 64 bytes beside each there is no room for the last one"


def test_a_report_counts_the_messages_whose_numbers_all_have() -> None:
    """A number behind these may be cut off, and its message gets another one: it is not counted before."""
    network = SimulatedNetwork(rbp_resilient(), 3, seed=2, faults=Faults(loss=0.2, delay_ms=(1.0, 9.0)))
    for k in range(60):
        network.script(1.0 + 3.0 * k, lambda k=k: network.broadcast(k % 3, b"m"))
    seen = 0

    def look() -> None:
        nonlocal seen
        for endpoint, delivered in zip(network.endpoints, network.deliveries, strict=True):
            told = endpoint.core.report()
            sources = Counter(one.source for one in delivered if one.number <= told.settled)
            assert told.counts == tuple(sources[source] for source in range(3))
            seen += any(item.identifier is not None for item in told.numbered)

    network.run_for(400.0, watch=look)
    assert seen > 100
