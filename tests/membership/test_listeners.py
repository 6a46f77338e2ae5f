"""Messages that the orderer sends to external members when they ask again and their words are late."""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.history import History, Ordered
from antiphon.impl.protocols.listeners import EXTERNAL_AHEAD, EXTERNAL_BYTES, Listeners, Stable


def history(messages: int, size: int = 1) -> History:
    """History of this many stable messages, all kept."""
    made = History(2, 2**24)
    for count in range(1, messages + 1):
        made.add(Identifier(0, count), bytes(size))
    made.settle(messages)
    return made


def sent(listeners: Listeners, some: History) -> list[int]:
    """The numbers that are sent now."""
    return [what.number for _, what in listeners.outputs(some) if isinstance(what, Ordered)]


def test_what_is_asked_for_again_is_sent_again_but_not_what_has_come_meanwhile() -> None:
    listeners, some = Listeners(), history(10)
    assert listeners.has(1, 0)
    assert sent(listeners, some) == list(range(1, 11))
    assert listeners.asks(1, 5)
    assert listeners.has(1, 8), "5 to 8 were late"
    assert sent(listeners, some) == [9, 10]
    assert not listeners.has(1, 11)
    assert not listeners.asks(1, 12)


def test_who_asks_for_the_same_again_and_again_gets_as_much_each_time() -> None:
    listeners, some = Listeners(), history(10, EXTERNAL_BYTES // 4)
    assert listeners.has(1, 0)
    first = sent(listeners, some)
    assert len(first) == 4
    assert sent(listeners, some) == []
    for _ in range(5):
        assert listeners.asks(1, 1)
        assert sent(listeners, some) == first
    other = Listeners()
    other.restore(listeners.snapshot())
    assert other.has(1, 2)
    assert sent(other, some) == [5, 6]


def test_a_stable_number_is_told_once_however_often_the_member_reports() -> None:
    listeners, some = Listeners(), history(3 * EXTERNAL_AHEAD)
    told = []
    for has in range(0, 3 * EXTERNAL_AHEAD, 10):
        assert listeners.has(1, has)
        told += [what for _, what in listeners.outputs(some) if isinstance(what, Stable)]
    assert told == [Stable(3 * EXTERNAL_AHEAD)]
