"""Messages that a member of a list keeps of another one's order, and their use with the reports at the end.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import KEPT_BYTES, MERGED_BYTES_MAX, Body, Numbered, Report
from antiphon.impl.protocols.history import History, Ordered

A1, A2, A3, B1, B2 = (Identifier(*pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 1), (1, 2)))


def history(*names: Identifier, stable: int = 0, kept_bytes: int = 0) -> History:
    """A history of these messages, of which so many are stable."""
    made = History(2, kept_bytes)
    for name in names:
        made.add(name, repr(name).encode())
    made.settle(stable)
    return made


def agreed(settled: int, *names: tuple[int, Identifier]) -> Report:
    """Report of the agreed numbers, and of the number settled in all."""
    numbered = tuple(Numbered(number, name) for number, name in sorted(names))
    bodies = tuple(Body(name, b"agreed") for name in sorted(name for _, name in names))
    return Report(settled, (0, 0), numbered, bodies)


def named(adopted: list[Ordered] | None) -> list[tuple[int, Identifier]] | None:
    """Numbers and names of the adopted messages."""
    return None if adopted is None else [(one.number, one.identifier) for one in adopted]


def test_what_is_stable_is_delivered_once_and_forgotten() -> None:
    some = history(A1, B1, A2)
    assert named(some.settle(2)) == [(1, A1), (2, B1)]
    assert some.settle(2) == some.settle(1) == []
    assert some.counts == [1, 1]
    assert some.kept(1) is None
    assert some.snapshot().fresh == (Ordered(3, A2, repr(A2).encode()),)


def test_what_listeners_may_need_is_kept_as_far_as_there_is_room() -> None:
    room = 2 * (len(repr(A1)) + KEPT_BYTES)
    some = history(A1, B1, A2, stable=3, kept_bytes=room)
    assert [number for number in range(1, 4) if some.kept(number)] == [2, 3]


def test_a_report_tells_what_is_not_stable_and_what_has_no_number() -> None:
    told = history(A1, B1, A2, stable=1).report([(B2, b"own")])
    assert told.settled == 1
    assert told.counts == (1, 0)
    assert [(item.number, item.identifier) for item in told.numbered] == [(2, B1), (3, A2)]
    assert [item.identifier for item in told.bodies] == [A2, B1, B2]


def test_a_union_has_what_is_kept_as_far_as_somebody_lacks_it() -> None:
    ahead = history(A1, B1, A2, stable=3, kept_bytes=10_000)
    behind = history(A1, stable=1)
    reports = [ahead.report([]), behind.report([])]
    assert [item.number for item in ahead.merge(reports, missing=False).numbered] == [2, 3]
    assert [item.number for item in ahead.merge(reports, missing=True).numbered] == [1, 2, 3]
    assert [item.number for item in ahead.merge(reports[:1], missing=False).numbered] == []


def test_a_union_has_the_last_of_what_is_kept_if_it_has_no_room_for_all() -> None:
    some = History(2, 4 * MERGED_BYTES_MAX)
    for count in range(1, 4):
        some.add(Identifier(0, count), bytes(MERGED_BYTES_MAX // 2 - KEPT_BYTES))
    some.settle(3)
    assert [item.number for item in some.merge([some.report([])], missing=True).numbered] == [2, 3]


def test_adopting_takes_the_own_message_and_the_agreed_one() -> None:
    some = history(A1, B1, stable=1)
    assert named(some.adopt(agreed(3, (3, A2)))) == [(2, B1), (3, A2)]
    assert some.stable == 3


def test_what_was_agreed_counts_where_it_differs_from_what_was_ordered() -> None:
    """The number 2 that this member has was not delivered by anybody, and the others have given it anew."""
    some = history(A1, B1, A2, stable=1)
    assert named(some.adopt(agreed(3, (2, A2), (3, B1)))) == [(2, A2), (3, B1)]


def test_who_lacks_something_or_has_delivered_more_cannot_go_on() -> None:
    assert history(A1, stable=1).adopt(agreed(3, (3, A2))) is None, "2 is nowhere"
    assert history(A1, B1, stable=2).adopt(agreed(1)) is None, "the others do not know 2"
    assert history(A1, B1, stable=2).adopt(agreed(2)) == []


def test_a_history_becomes_what_it_was() -> None:
    some = history(A1, B1, A2, stable=2, kept_bytes=200)
    other = History(2, 200)
    other.restore(some.snapshot())
    for each in (some, other):
        each.add(A3, bytes(70))
        each.settle(4)
    assert some.snapshot() == other.snapshot()
    assert some.kept(4) is not None
    assert some.kept(1) is None
