"""TOTAL on one list, over a network that loses: who delivers when, and what is agreed at the end."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.listeners import EXTERNAL_AHEAD, Gone, Stable
from antiphon.impl.protocols.total import ListedCore
from antiphon.impl.protocols.total.listed import ListedViolation, flaw
from antiphon.impl.protocols.total.messages import Bcast, CumAck, Request, Resend

from .agreement import ends_in_one_history


class Members:
    """The cores of one list, and the messages between them, which may be lost and overtaken."""

    def __init__(self, count: int, core: int | None = None, **settings: Any) -> None:
        core = count if core is None else core
        self.now = 0.0
        self.cores = [ListedCore(me, count, core=core, **settings) for me in range(count)]
        self.delivered: list[list[Delivery]] = [[] for _ in range(count)]
        self.flying: list[tuple[int, int, Any]] = []
        for me, one in enumerate(self.cores):
            one.start(self.now)
            self.collect(me)

    def collect(self, me: int) -> None:
        """Take what one has to say and to deliver."""
        self.delivered[me] += self.cores[me].settle(self.now)
        self.flying += [(me, to, message) for to, message in self.cores[me].outputs()]

    def say(self, me: int, payload: bytes = b"m") -> None:
        """Let one member broadcast."""
        self.cores[me].broadcast(payload, self.now)
        self.collect(me)

    def carry(self, at: int = 0) -> None:
        """Bring one of the messages that are on their way."""
        sender, to, message = self.flying.pop(at)
        self.cores[to].receive(sender, message, self.now)
        self.collect(to)

    def lose(self, kind: type) -> int:
        """Lose all messages of one kind that are on their way; how many there were."""
        before = len(self.flying)
        self.flying = [one for one in self.flying if not isinstance(one[2], kind)]
        return before - len(self.flying)

    def run(self, without: frozenset[int] = frozenset()) -> None:
        """Bring everything, but lose what is for one of these."""
        for _ in range(10_000):
            if not self.flying:
                return
            if self.flying[0][1] in without:
                self.flying.pop(0)
            else:
                self.carry()
        raise AssertionError("they speak without end")

    def wait(self, ms: float, without: frozenset[int] = frozenset()) -> None:
        """Let time go by, and bring everything."""
        end = self.now + ms
        while self.now < end:
            self.now += 5.0
            for me, core in enumerate(self.cores):
                due = core.next_deadline()
                if me not in without and due is not None and due <= self.now:
                    core.tick(self.now)
                    self.collect(me)
            self.run(without)

    def numbers(self, me: int) -> list[int]:
        """The numbers that one has delivered."""
        return [delivery.number for delivery in self.delivered[me]]


def test_a_message_is_delivered_when_all_of_the_core_have_it() -> None:
    members = Members(3)
    members.say(1)
    members.run(frozenset({2}))
    assert members.delivered == [[], [], []], "member 2 has not got it"
    members.wait(400.0)
    assert [members.numbers(me) for me in range(3)] == [[1], [1], [1]]


def test_what_is_lost_is_told_again_until_all_know_it() -> None:
    members = Members(3)
    members.say(1)
    while not any(isinstance(message, Stable) for *_, message in members.flying):
        members.carry()
    assert members.lose(Stable) == 2
    members.run()
    assert [members.numbers(me) for me in range(3)] == [[1], [], []]
    members.wait(400.0)
    assert [members.numbers(me) for me in range(3)] == [[1], [1], [1]]


def test_a_word_that_overtakes_its_message_is_remembered() -> None:
    members = Members(2)
    members.cores[1].receive(0, Stable(1), 0.0)
    members.cores[1].receive(0, Bcast(1, Identifier(0, 1), b"m"), 0.0)
    members.collect(1)
    assert members.numbers(1) == [1]


def test_at_rest_nobody_keeps_or_says_anything() -> None:
    members = Members(3)
    for _ in range(10):
        for me in range(3):
            members.say(me)
            members.run()
    members.run()
    for core in members.cores:
        state = core.snapshot()
        assert state.history.stable == state.history.last == 30
        assert state.history.fresh == state.history.kept == ()
        assert state.core.sent == state.core.pending == ()
        assert core.next_deadline() is None


def test_one_own_message_is_on_its_way_until_all_have_it() -> None:
    members = Members(3)
    members.say(0)
    members.run(frozenset({2}))
    assert members.cores[0].busy
    with pytest.raises(Busy):
        members.cores[0].broadcast(b"m", 0.0)
    members.wait(400.0)
    assert not members.cores[0].busy


def test_an_external_member_delivers_what_is_stable_and_asks_for_more() -> None:
    members = Members(4, core=3)
    assert not members.cores[3].caught_up
    members.run()
    assert members.cores[3].caught_up
    members.say(1)
    members.run(frozenset({2}))
    assert members.numbers(3) == []
    members.wait(400.0)
    assert members.numbers(3) == [1]
    members.say(0)
    members.run(frozenset({3}))
    assert members.numbers(3) == [1]
    members.wait(400.0)
    assert members.delivered[3] == members.delivered[0]
    assert members.cores[3].caught_up
    with pytest.raises(Busy):
        members.cores[3].broadcast(b"m", 0.0)
    assert not any(core.violations for core in members.cores)


def test_little_is_sent_to_an_external_member_that_takes_nothing_and_it_gets_all_in_the_end() -> None:
    members = Members(3, core=2)
    members.run()
    sent = 0
    for _ in range(2 * EXTERNAL_AHEAD):
        members.say(1)
        while members.flying:
            sent += members.flying[0][1] == 2 and isinstance(members.flying[0][2], Bcast)
            members.flying.pop(0) if members.flying[0][1] == 2 else members.carry()
    assert sent == EXTERNAL_AHEAD
    members.wait(2_000.0)
    assert members.delivered[2] == members.delivered[0]


def test_an_external_member_whose_words_were_lost_goes_on_after_an_old_question() -> None:
    members = Members(3, core=2, kept_bytes=300)
    members.run()
    for _ in range(10):
        members.say(0, bytes(50))
        for _ in range(100):
            if members.flying:
                heard = members.flying[0][:2] == (2, 0)
                members.flying.pop(0) if heard else members.carry()
    assert members.numbers(2) == list(range(1, 11))
    members.cores[0].receive(2, Resend(1), members.now)
    members.collect(0)
    assert members.flying == [(0, 2, Stable(10)), (0, 2, Gone(1))]
    members.run()
    assert not members.cores[2].lost, "number 1 is here"
    members.say(0)
    members.wait(400.0)
    assert members.numbers(2) == list(range(1, 12)), "it asks again, and goes on"
    assert not members.cores[0].violations


def test_an_external_member_that_needs_what_is_gone_is_lost() -> None:
    members = Members(3, core=2, kept_bytes=300)
    for _ in range(10):
        members.say(0, bytes(50))
        members.run(frozenset({2}))
    assert not members.cores[2].lost
    members.wait(400.0)
    assert members.cores[2].lost
    assert members.numbers(2) == []


def test_an_answer_to_an_old_question_loses_nobody() -> None:
    members = Members(3, core=2, kept_bytes=300)
    members.run()
    for _ in range(10):
        members.say(0, bytes(50))
        members.run()
    assert members.numbers(2) == list(range(1, 11))
    members.cores[0].receive(2, Resend(1), members.now)
    members.collect(0)
    assert members.flying == [], "it has said that it has more"
    members.cores[2].receive(0, Gone(10), members.now)
    assert not members.cores[2].lost, "of what it has"
    members.say(0)
    members.wait(400.0)
    assert members.numbers(2) == list(range(1, 12)), "it asks again, and goes on"


@given(st.integers(0, 10**9))
def test_what_anybody_delivers_every_majority_delivers_at_the_same_number(seed: int) -> None:
    """A run by chance over a network that loses, an end at any time, any majority reports."""
    chance = random.Random(seed)
    core = chance.randrange(2, 6)
    count = chance.randrange(core, min(2 * core, 7))
    members = Members(count, core)
    for step in range(chance.randrange(80)):
        what = chance.random()
        if what < 0.25:
            me = chance.randrange(core)
            if not members.cores[me].busy:
                members.say(me, f"{step}".encode())
        elif what < 0.35:
            members.now += 30.0
            me = chance.randrange(count)
            members.cores[me].tick(members.now)
            members.collect(me)
        elif members.flying and what < 0.45:
            members.flying.pop(chance.randrange(len(members.flying)))
        elif members.flying:
            members.carry(chance.randrange(len(members.flying)))
    sent = [one.snapshot().core.last_id for one in members.cores]
    ends_in_one_history(chance, members.cores, members.delivered, core, sent)


@pytest.mark.parametrize(
    ("me", "sender", "message", "wrong"),
    [
        (0, 3, CumAck(1), ListedViolation.NOT_SENT),
        (0, 3, Resend(2), ListedViolation.NOT_SENT),
        (1, 2, Stable(0), ListedViolation.MISDIRECTED),
        (3, 1, Stable(0), ListedViolation.MISDIRECTED),
        (1, 0, Gone(1), ListedViolation.MISDIRECTED),
        (3, 2, Gone(1), ListedViolation.MISDIRECTED),
        (0, 3, Request(Identifier(3, 1), b""), ListedViolation.NOT_CORE),
    ],
)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    me: int, sender: int, message: Any, wrong: ListedViolation
) -> None:
    members = Members(4, core=3)
    before = members.cores[me].snapshot()
    members.cores[me].receive(sender, message, 0.0)
    assert members.cores[me].violations == {wrong: 1}
    assert members.cores[me].broken is None
    after = members.cores[me].snapshot()
    assert after._replace(core=before.core) == before
    assert not members.cores[me].lost


def test_what_is_on_a_list_has_a_source_there() -> None:
    assert flaw(Bcast(1, Identifier(2, 1), b""), 2) is not None
    assert flaw(Stable(0), 2) is None
    with pytest.raises(ValueError, match="it has two at least"):
        ListedCore(0, 3, core=1)


def test_a_core_becomes_what_it_was() -> None:
    members = Members(4, core=3)
    for me in (0, 1, 2):
        members.say(me)
    for _ in range(6):
        members.carry()
    for me, core in enumerate(members.cores):
        other = ListedCore(me, 4, core=3)
        other.restore(core.snapshot(), members.now)
        assert other.snapshot() == core.snapshot()
        assert repr(other) == repr(core)
        assert other.next_deadline() == core.next_deadline()
