"""The stack of Horus on one list, over a network that loses: who delivers when, and what is agreed at the
end; and planted faults that these runs, or groups of such members, find.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.horus import ListedCore, Settings
from antiphon.impl.protocols.horus.layers.layer import Cast, Receive, pushed
from antiphon.impl.protocols.horus.layers.nak import Nak
from antiphon.impl.protocols.horus.layers.on_request import Turn
from antiphon.impl.protocols.horus.layers.stability import Has, Lasting
from antiphon.impl.protocols.horus.layers.total import WAITING_MAX, Ordered
from antiphon.impl.protocols.horus.listed import Ask, Given, ListedViolation, flaw
from antiphon.impl.protocols.horus.messages import Frame, HorusViolation
from antiphon.impl.protocols.listeners import EXTERNAL_AHEAD, Gone, Stable

from .agreement import ends_in_one_history
from .horus_faults import FAULTS


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


def test_the_token_goes_to_who_asks_and_stays_there() -> None:
    members = Members(3)
    members.say(2)
    members.run()
    assert [core._total._token for core in members.cores] == [0, 0, 2]
    members.say(2)
    members.wait(200.0)
    assert [members.numbers(me) for me in range(3)] == [[1, 2]] * 3
    members.say(0)
    members.say(1)
    members.wait(200.0)
    assert members.delivered[0] == members.delivered[1] == members.delivered[2]
    assert [(one.source, one.id) for one in members.delivered[0]] == [(2, 1), (2, 2), (0, 1), (1, 1)]


def test_at_rest_nobody_keeps_or_says_anything() -> None:
    members = Members(3)
    for _ in range(10):
        for me in range(3):
            members.say(me)
            members.run()
    members.wait(200.0)
    for core in members.cores:
        state = core.snapshot()
        assert state.history.stable == state.history.last == 30
        assert state.history.fresh == state.history.kept == ()
        assert core.next_deadline() is None
        assert not core.waits()
        assert core._total.early == core._total.unnumbered == []


def test_large_messages_travel_in_fragments_and_a_member_that_lacks_them_fills_the_window() -> None:
    members = Members(3, settings=Settings(fragment_bytes=10, buffer=8))
    for step in range(100):
        if members.cores[0].busy:
            break
        members.say(0, bytes([step]) * 35)
        members.run(frozenset({2}))
    assert step <= 8
    with pytest.raises(Busy):
        members.cores[0].broadcast(b"m", 0.0)
    members.wait(1_000.0)
    assert members.numbers(2) == list(range(1, step + 1))
    assert {len(one.payload) for one in members.delivered[2]} == {35}


def test_own_messages_that_wait_for_the_token_are_bounded() -> None:
    members = Members(3)
    for _ in range(WAITING_MAX):
        members.say(1)
    assert members.cores[1].busy
    members.wait(400.0)
    assert not members.cores[1].busy
    assert members.numbers(0) == list(range(1, WAITING_MAX + 1))


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
    members.wait(100.0, frozenset({3}))
    assert members.numbers(3) == [1]
    members.wait(400.0)
    assert members.delivered[3] == members.delivered[0]
    assert members.cores[3].caught_up
    assert members.cores[3].waits() == ()
    with pytest.raises(Busy):
        members.cores[3].broadcast(b"m", 0.0)
    assert not any(core.violations for core in members.cores)


def test_little_is_sent_to_an_external_member_that_takes_nothing_and_it_gets_all_in_the_end() -> None:
    members = Members(3, core=2)
    members.run()
    sent = 0
    for _ in range(2 * EXTERNAL_AHEAD):
        while members.cores[1].busy:
            members.wait(5.0, frozenset({2}))
        members.say(1)
        while members.flying:
            sent += members.flying[0][1] == 2 and isinstance(members.flying[0][2], Given)
            members.flying.pop(0) if members.flying[0][1] == 2 else members.carry()
    assert EXTERNAL_AHEAD // 2 < sent <= EXTERNAL_AHEAD
    members.wait(2_000.0)
    assert len(members.delivered[2]) == 2 * EXTERNAL_AHEAD
    assert members.delivered[2] == members.delivered[0]


def test_an_external_member_that_needs_what_is_gone_is_lost() -> None:
    members = Members(3, core=2, kept_bytes=300)
    for _ in range(10):
        members.say(0, bytes(50))
        members.run(frozenset({2}))
    members.wait(100.0, frozenset({2}))
    assert not members.cores[2].lost
    members.wait(400.0)
    assert members.cores[2].lost
    assert members.numbers(2) == []


def test_what_only_members_behind_a_gap_have_is_delivered_at_the_end() -> None:
    """Members 0 and 1 fail; what member 0 cast is lost with them, and what member 1 cast behind it is not."""
    members = Members(5)
    members.say(0, b"lost")
    members.say(1, b"kept")
    members.run(frozenset({2, 3, 4}))
    for me in (2, 3, 4):
        members.cores[me]._mbrship.up(
            Receive(1, pushed(Lasting((1, 1, 0, 0, 0), pushed(Ordered(2, b"kept")))))
        )
    reports = [members.cores[me].report() for me in (2, 3, 4)]
    agreed = members.cores[2].merge(reports, missing=True)
    assert [(one.number, one.identifier) for one in agreed.numbered] == [(1, Identifier(1, 1))]
    assert [one.payload for one in members.cores[4].adopt(agreed) or ()] == [b"kept"]


def chance_run(seed: int) -> None:
    """A run by chance over a network that loses, an end at any time, any majority reports."""
    chance = random.Random(seed)
    core = chance.randrange(2, 6)
    count = chance.randrange(core, min(2 * core, 7))
    members = Members(count, core, settings=Settings(fragment_bytes=chance.choice([4, 32_768])))
    sent = [0] * count
    for step in range(chance.randrange(160)):
        what = chance.random()
        if what < 0.2:
            me = chance.randrange(core)
            if not members.cores[me].busy:
                sent[me] += 1
                members.say(me, f"{step} of {me}".encode())
        elif what < 0.35:
            members.now += 12.0
            me = chance.randrange(count)
            members.cores[me].tick(members.now)
            members.collect(me)
        elif members.flying and what < 0.42:
            members.flying.pop(chance.randrange(len(members.flying)))
        elif members.flying:
            members.carry(chance.randrange(min(8, len(members.flying))))
    ends_in_one_history(chance, members.cores, members.delivered, core, sent)


@given(st.integers(0, 10**9))
def test_what_anybody_delivers_every_majority_delivers_at_the_same_number(seed: int) -> None:
    chance_run(seed)


@pytest.mark.deep
@given(st.integers(0, 10**9))
def test_over_a_network_that_loses_all_deliver_all_in_one_order(seed: int) -> None:
    live_run(seed)


def live_run(seed: int) -> None:
    """A run by chance, and then time without loss: everything is delivered, and nothing more is said."""
    chance = random.Random(seed)
    core = chance.randrange(2, 5)
    count = chance.randrange(core, min(2 * core, 6))
    members = Members(count, core, settings=Settings(fragment_bytes=chance.choice([4, 32_768])))
    sent = 0
    for step in range(120):
        what = chance.random()
        me = chance.randrange(core)
        if what < 0.25 and not members.cores[me].busy:
            sent += 1
            members.say(me, f"{step} of {me}".encode())
        elif what < 0.4:
            members.now += 8.0
            for place, one in enumerate(members.cores):
                one.tick(members.now)
                members.collect(place)
        elif members.flying and what < 0.5:
            members.flying.pop(chance.randrange(len(members.flying)))
        elif members.flying:
            members.carry(chance.randrange(min(8, len(members.flying))))
    members.wait(1_500.0)
    assert all(one == members.delivered[0] for one in members.delivered), f"seed {seed}"
    assert len(members.delivered[0]) == sent, f"seed {seed}"
    assert all(one.caught_up for one in members.cores[core:]), f"seed {seed}"
    assert not any(one.violations for one in members.cores), f"seed {seed}"
    assert all(one.next_deadline() is None for one in members.cores[:core]), f"seed {seed}"


def frame(body: bytes) -> Frame:
    """A frame as the layers below MBRSHIP make it, the first of member 1."""
    made: list[bytes] = []
    core = ListedCore(1, 3, core=2)
    core._layers[2].below = lambda call: made.append(call.body)
    core._layers[2].down(Cast(body))
    nak = Nak(1, 2, 8)
    nak.below = lambda call: made.append(call.body)
    nak.down(Cast(made[-1]))
    core._layers[0].below = lambda call: made.append(call.body)
    core._layers[0].down(Cast(made[-1]))
    return Frame(made[-1])


def has(*received: int) -> Frame:
    """A frame of member 1 with the word that it has so many casts of each."""
    return frame(pushed(Has(received)))


@pytest.mark.parametrize(
    ("me", "sender", "message", "wrong"),
    [
        (0, 2, Ask(1, again=False), ListedViolation.NOT_SENT),
        (0, 2, Ask(1, again=True), ListedViolation.NOT_SENT),
        (1, 2, Ask(0, again=True), ListedViolation.MISDIRECTED),
        (0, 1, Ask(0, again=True), ListedViolation.MISDIRECTED),
        (0, 1, Stable(0), ListedViolation.MISDIRECTED),
        (2, 1, Stable(0), ListedViolation.MISDIRECTED),
        (1, 0, Gone(1), ListedViolation.MISDIRECTED),
        (2, 1, Given(1, Identifier(0, 1), b""), ListedViolation.MISDIRECTED),
        (2, 0, Frame(b""), ListedViolation.MISDIRECTED),
        (0, 2, Frame(b""), ListedViolation.NOT_CORE),
        (0, 1, has(1, 0), HorusViolation.NEVER_CAST),
        (0, 1, has(0), HorusViolation.MALFORMED),
        (0, 1, frame(b""), HorusViolation.MALFORMED),
    ],
)
def test_what_no_correct_member_says_is_counted_and_changes_no_order(
    me: int, sender: int, message: Any, wrong: Any
) -> None:
    members = Members(3, core=2)
    before = members.cores[me].snapshot()
    members.cores[me].receive(sender, message, 0.0)
    assert members.cores[me].violations == {wrong: 1}
    assert members.cores[me].broken is None
    after = members.cores[me].snapshot()
    assert after.history == before.history
    assert after.listeners == before.listeners
    assert after.core.layers[3:] == before.core.layers[3:]
    assert not members.cores[me].lost


def test_a_second_token_is_a_violation_that_breaks_the_order() -> None:
    members = Members(2)
    members.cores[0]._total.up(Receive(1, pushed(Turn(0, 1, (0, 0)))))
    assert members.cores[0].broken is HorusViolation.SECOND_TOKEN
    members.cores[1]._total.up(Receive(0, pushed(Turn(1, 1, (0,)))))
    assert members.cores[1].violations == {HorusViolation.MALFORMED: 1}


def test_what_is_on_a_list_has_a_source_there() -> None:
    assert flaw(Given(1, Identifier(2, 1), b""), 2) is not None
    assert flaw(Stable(0), 2) is None
    with pytest.raises(ValueError, match="it has two at least"):
        ListedCore(0, 3, core=1)
    with pytest.raises(ValueError, match="on a list it is TOTAL:MBRSHIP:FRAG:NAK:COM"):
        ListedCore(0, 3, Settings(stack="TOTAL:MBRSHIP:NAK:COM"), core=2)


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


@pytest.mark.sampled(14)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[2].__name__)
def test_a_planted_fault_is_found(fault: tuple[type, str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs by chance accuse it, or an exception does."""
    monkeypatch.setattr(*fault)

    def all_runs() -> None:
        test_what_only_members_behind_a_gap_have_is_delivered_at_the_end()
        for seed in range(150):
            live_run(seed)
            chance_run(seed)

    with pytest.raises((AssertionError, LookupError)):
        all_runs()
