"""SEQUENCER on one list: who delivers when, what external members get, and what is agreed at the end."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import Busy
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.listeners import EXTERNAL_AHEAD, EXTERNAL_BYTES, Gone, Stable
from antiphon.impl.protocols.sequencer import ListedCore, Settings
from antiphon.impl.protocols.sequencer.listed import Ack, ListedViolation, flaw
from antiphon.impl.protocols.sequencer.messages import Data, Forward

from .agreement import ends_in_one_history
from .queues import NOW, Queues


class Members(Queues):
    """Cores of SEQUENCER, of which the first ones order messages."""

    def __init__(self, count: int, core: int | None = None, **settings: Any) -> None:
        core = count if core is None else core
        super().__init__([ListedCore(me, count, core=core, **settings) for me in range(count)])


def test_a_message_is_delivered_when_all_of_the_core_have_it() -> None:
    members = Members(3)
    members.say(1)
    members.run(frozenset({2}))
    assert members.delivered == [[], [], []], "member 2 has not got it"
    members.carry(0, 2)
    assert members.delivered == [[], [], []], "nobody knows that it has it"
    members.carry(2, 0)
    assert members.numbers(0) == [1]
    assert members.numbers(1) == members.numbers(2) == []
    members.run()
    assert members.numbers(1) == members.numbers(2) == [1]
    assert not any(core.waits() for core in members.cores)


def test_the_coordinator_says_whom_it_waits_for() -> None:
    members = Members(3)
    members.say(0)
    members.run(frozenset({2}))
    ((what, of),) = members.cores[0].waits()
    assert what == "acknowledgement of number 1"
    assert of == 2


def test_what_comes_in_one_step_is_acknowledged_once_and_told_once() -> None:
    members = Members(2)
    for _ in range(3):
        members.say(1)
    members.carry(1, 0, 3)
    members.carry(0, 1, 3)
    assert list(members.queues[1, 0]) == [Ack(3)]
    members.carry(1, 0)
    assert list(members.queues[0, 1]) == [Stable(3)]
    members.run()
    assert members.numbers(1) == [1, 2, 3]


def test_at_rest_nobody_keeps_or_says_anything() -> None:
    members = Members(3)
    for count in range(30):
        members.say(count % 3)
    members.run()
    for core in members.cores:
        state = core.snapshot()
        assert state.history.stable == state.history.last == 30
        assert state.history.fresh == state.history.kept == ()
        assert state.core.forward_table == ()
    for me in range(3):
        members.collect(me)
    assert not any(members.queues.values())


def test_own_messages_are_on_their_way_until_all_have_them() -> None:
    members = Members(3, settings=Settings(pending_max=2))
    for _ in range(2):
        members.say(0)
    members.run(frozenset({2}))
    assert members.cores[0].busy, "the coordinator's own too"
    with pytest.raises(Busy):
        members.cores[0].broadcast(b"m", NOW)
    members.run()
    assert not members.cores[0].busy


# External members -------------------------------------------------------------------------------------------


def test_an_external_member_delivers_what_is_stable_and_sends_nothing() -> None:
    members = Members(4, core=3)
    assert not members.cores[3].caught_up, "nobody has told it anything"
    members.run()
    assert members.cores[3].caught_up
    for me in (1, 2, 0):
        members.say(me)
    members.run(frozenset({2}))
    assert members.numbers(3) == []
    members.run()
    assert members.delivered[3] == members.delivered[0]
    assert members.numbers(3) == [1, 2, 3]
    assert members.cores[3].caught_up
    assert members.cores[3].busy
    with pytest.raises(Busy):
        members.cores[3].broadcast(b"m", NOW)
    assert not any(core.violations for core in members.cores)


@pytest.mark.parametrize(("size", "most"), [(1, EXTERNAL_AHEAD), (2**14, EXTERNAL_BYTES // 2**14)])
def test_little_is_on_its_way_to_an_external_member_that_takes_nothing(size: int, most: int) -> None:
    members = Members(3, core=2)
    members.collect(2)
    members.carry(2, 0)
    for _ in range(EXTERNAL_AHEAD + 100):
        members.say(1, bytes(size))
        members.run(frozenset({2}))
    on_the_way = [message for message in members.queues[0, 2] if isinstance(message, Data)]
    assert most - 1 <= len(on_the_way) <= most
    assert len(members.queues[0, 2]) <= 2 * most + 1
    members.run()
    assert members.delivered[2] == members.delivered[0]
    assert members.cores[2].caught_up


def test_an_external_member_that_comes_late_gets_all_that_is_kept() -> None:
    members = Members(3, core=2)
    for _ in range(10):
        members.say(0)
        members.run(frozenset({2}))
    members.collect(2)
    members.carry(2, 0)
    members.carry(0, 2, 5)
    assert members.numbers(2) == [1, 2, 3, 4]
    assert not members.cores[2].caught_up, "it knows that there is more"
    members.run()
    assert members.numbers(2) == list(range(1, 11))
    assert members.cores[2].caught_up


def test_an_external_member_that_needs_what_is_gone_is_lost() -> None:
    members = Members(3, core=2, kept_bytes=300)
    for _ in range(10):
        members.say(0, bytes(50))
        members.run(frozenset({2}))
    assert not members.cores[2].lost
    members.run()
    assert members.cores[2].lost
    assert members.numbers(2) == []
    members.say(0)
    members.run()
    assert members.numbers(2) == [], "it gets nothing with a hole before it"


# The end of the list ----------------------------------------------------------------------------------------


def test_own_messages_without_a_number_get_one_at_the_end() -> None:
    members = Members(3)
    members.say(1, b"first")
    members.run()
    members.say(1, b"lost")
    members.say(2, b"too")
    members.say(0, b"numbered")
    reports = [members.cores[me].report() for me in range(3)]
    agreed = members.cores[1].merge(reports, missing=False)
    for me in range(3):
        adopted = members.cores[me].adopt(agreed)
        assert adopted is not None
        assert [(one.number, one.payload) for one in adopted] == [(2, b"numbered"), (3, b"lost"), (4, b"too")]


def test_a_member_that_has_not_reported_cannot_go_on_if_it_lacks_something() -> None:
    members = Members(4, core=3)
    for _ in range(4):
        members.say(0)
    members.run(frozenset({3}))
    agreed = members.cores[1].merge([members.cores[me].report() for me in (0, 1)], missing=False)
    assert members.cores[3].adopt(agreed) is None
    agreed = members.cores[1].merge([members.cores[me].report() for me in (0, 1)], missing=True)
    adopted = members.cores[3].adopt(agreed)
    assert adopted is not None
    assert [one.number for one in adopted] == [1, 2, 3, 4], "the others have kept it"


@given(st.integers(0, 10**9))
def test_what_anybody_delivers_every_majority_delivers_at_the_same_number(seed: int) -> None:
    """A run by chance, an end at any time, any majority reports: one history, with all that was delivered."""
    chance = random.Random(seed)
    core = chance.randrange(2, 6)
    count = chance.randrange(core, min(2 * core, 7))
    members = Members(count, core)
    for step in range(chance.randrange(60)):
        if chance.random() < 0.3:
            me = chance.randrange(core)
            if not members.cores[me].busy:
                members.say(me, f"{step}".encode())
        elif pairs := [pair for pair, queue in members.queues.items() if queue]:
            members.carry(*chance.choice(pairs), chance.choice([1, 1, 5]))
    sent = [one.snapshot().core.last_number for one in members.cores]
    ends_in_one_history(chance, members.cores, members.delivered, core, sent)


# What no correct member says --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("me", "sender", "message", "wrong"),
    [
        (0, 1, Ack(2), ListedViolation.NOT_SENT),
        (0, 3, Ack(1), ListedViolation.NOT_SENT),
        (1, 2, Ack(0), ListedViolation.MISDIRECTED),
        (1, 0, Stable(1), ListedViolation.NOT_ORDERED),
        (1, 2, Stable(0), ListedViolation.MISDIRECTED),
        (3, 1, Stable(0), ListedViolation.MISDIRECTED),
        (1, 0, Gone(1), ListedViolation.MISDIRECTED),
        (3, 2, Gone(1), ListedViolation.MISDIRECTED),
        (0, 3, Forward(1, Identifier(3, 1), b""), ListedViolation.NOT_CORE),
    ],
)
def test_what_no_correct_member_says_is_counted_and_changes_nothing(
    me: int, sender: int, message: Any, wrong: ListedViolation
) -> None:
    members = Members(4, core=3)
    if me == 0:
        members.say(0)
    before = members.cores[me].snapshot()
    members.cores[me].receive(sender, message, NOW)
    assert members.cores[me].violations == {wrong: 1}
    assert members.cores[me].broken is None
    after = members.cores[me].snapshot()
    assert after._replace(core=before.core) == before
    assert not members.cores[me].lost


def test_a_list_is_one_view_and_its_sources_are_on_it() -> None:
    assert flaw(Data(1, Identifier(1, 1), b""), 2) is None
    assert flaw(Forward(2, Identifier(1, 1), b""), 2) is not None
    assert flaw(Data(1, Identifier(2, 1), b""), 2) is not None
    assert flaw(Ack(0), 2) is None


@pytest.mark.parametrize("core", [0, 1, 4])
def test_a_core_has_two_members_at_least(core: int) -> None:
    with pytest.raises(ValueError, match="it has two at least"):
        ListedCore(0, 3, core=core)


def test_a_core_becomes_what_it_was() -> None:
    members = Members(4, core=3)
    members.collect(3)
    members.carry(3, 0)
    for me in (0, 1, 2, 1):
        members.say(me)
    members.run(frozenset({3}))
    members.say(1)
    for me, core in enumerate(members.cores):
        other = ListedCore(me, 4, core=3)
        other.restore(core.snapshot(), NOW)
        assert other.snapshot() == core.snapshot()
        assert repr(other) == repr(core)
    coordinator = ListedCore(0, 4, core=3)
    coordinator.restore(members.cores[0].snapshot(), NOW)
    coordinator.receive(3, Ack(4), NOW)
    assert coordinator.snapshot().listeners.listeners == ((3, (4, 4, 4, 4), (), False),)
