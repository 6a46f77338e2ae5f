"""Reformation on every schedule that a seed draws, the mistakes that this finds, and its rules one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from antiphon.impl.errors import GroupFailed, InvalidSetting
from antiphon.impl.membership.member import Excluded, Left, Member
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.reformation import (
    Abort,
    Agreed,
    Ask,
    Ends,
    Invitation,
    Message,
    NewList,
    Over,
    Recovery,
    Refusal,
    Stage,
    Token,
    Vote,
    flaw,
)
from antiphon.impl.membership.succession import Next, Out
from antiphon.impl.membership.view_change import Kind
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.rbp import Settings
from antiphon.impl.protocols.token_lists import Entry, rbp_reforming
from antiphon.impl.transport.simulated import SimulatedNetwork

from .reformation_faults import FAULTS, ForgetsTheEnd
from .reforming import TIMES, Broken, Run

NOBODY: frozenset[int] = frozenset()


def drawn(seed: int, **kinds: type[Any]) -> Run:
    """A run of three or five members, whose view ends in every second pair of seeds only when all is calm."""
    run = Run(3 + 2 * (seed % 2), seed, ends=seed % 4 < 2, **kinds)
    run.go(400 if seed % 4 < 2 else 600)
    return run


def many(first: int, last: int, **kinds: type[Any]) -> None:
    """Runs with these seeds."""
    for seed in range(first, last):
        drawn(seed, **kinds)


def test_all_deliver_the_same_and_end_the_view_alike(often: Callable[[int, int], int]) -> None:
    lists = ends = delivered = 0
    runs = often(60, 200)
    for seed in range(runs):
        run = drawn(seed)
        lists += max(process.machine.lists for process in run.all)
        ends += any(isinstance(process.follows, Next) for process in run.all)
        delivered += max(len(process.delivered) for process in run.all)
    assert lists > runs
    assert ends > runs // 4
    assert delivered > 2.5 * runs


@pytest.mark.deep
def test_many_more_of_them() -> None:
    many(200, 8_000)


FIRST = {
    "AnyNumberIsAMajority": 300, "ForgetsItsVotes": 1_630, "MostNumbersWin": 585, "TellsTheEndAlone": 655,
    "NoTimerForTheToken": 40, "IdleListsLiveOn": 4_005, "NobodyIsLost": 45,
}  # fmt: skip
"""Seeds shortly before the first that shows a mistake, where that is not among the first few."""


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", FAULTS)
def test_each_mistake_is_found(name: str) -> None:
    first = FIRST.get(name, 0)
    with pytest.raises((Broken, GroupFailed, IndexError)):
        many(first, first + 400, **FAULTS[name])


# The rules, one by one --------------------------------------------------------------------------------------


class Script:
    """A run in which the test says what happens: all links are emptied, and nothing is lost."""

    def __init__(self, count: int = 3, **kinds: type[Any]) -> None:
        self.run = Run(count, 1, **kinds)
        self.sent: list[tuple[int, int, Message]] = []
        self.held: set[int] = set()
        """Members from which nothing of Reformation arrives."""

    def __getitem__(self, member: int) -> Any:
        return self.run.all[member]

    def suspect(self, by: int, suspected: set[int], given_up: set[int] = set()) -> None:  # noqa: B006 - never changed
        """Let a member suspect others."""
        self[by].suspected, self[by].given_up = frozenset(suspected), frozenset(given_up)
        self[by].settle()

    def carry(self, *kinds: type[Any]) -> None:
        """Carry messages of these kinds, or all, until none is left."""
        moved = True
        while moved:
            moved = False
            for (sender, to), queue in self.run.links.items():
                if sender in self.held or not queue or (kinds and not isinstance(queue[0], kinds)):
                    continue
                message = queue.popleft()
                self.sent.append((sender, to, message))
                self[to].machine.receive(sender, message, self.run.now)
                self[to].settle()
                moved = True

    def ring(self) -> None:
        """Carry the packets of the rings until these have nothing more to number."""
        for _ in range(200):
            packets, self.run.packets = self.run.packets, []
            for sender, to, packet in packets:
                if not self[to].machine.stopped:
                    self[to].lists.receive(sender, packet, self.run.now)
                    self[to].settle()
            if not packets:
                self.pass_time(5.0)

    def pass_time(self, ms: float) -> None:
        """Let time go by, without a message."""
        self.run.now += ms
        for process in self.run.all:
            process.tick()

    def of(self, kind: type[Any]) -> list[tuple[int, int, Any]]:
        """The messages of this kind that were carried."""
        return [item for item in self.sent if isinstance(item[2], kind)]


def test_a_good_run_is_that_of_figure_22() -> None:
    script = Script()
    script[0].machine.call(Kind.INTERMEDIATE)
    script.suspect(0, {2})
    script.carry(Invitation)
    script.suspect(0, set())
    script.carry()
    told = [(sender, to, type(message)) for sender, to, message in script.sent]
    assert told[:2] == [(0, 1, Invitation), (0, 2, Invitation)]
    assert sorted(map(str, told[2:4])) == sorted(map(str, [(1, 0, Vote), (2, 0, Vote)]))
    ring = script.of(NewList)[0][2].ring
    assert sorted(ring) == [0, 1, 2]
    assert len(script.of(Recovery)) == 2, "all but the new token site recover, the originator too"
    assert len(script.of(Agreed)) == 2
    assert [to for _, to, _ in script.of(Token)] == ([] if ring[0] == 0 else [ring[0]])
    assert all(process.machine.stage is Stage.NORMAL for process in script.run.all)
    assert {process.lists.version for process in script.run.all} == {2}
    script.ring()
    script[1].say()
    script.ring()
    assert [len(process.delivered) for process in script.run.all] == [1, 1, 1]


def test_two_originators_refuse_each_other_and_begin_again_at_different_times() -> None:
    script = Script()
    for by, other in ((0, 2), (1, 2)):
        script.suspect(by, {other})
    script.pass_time(TIMES.heartbeat_ms)
    assert [script[one].machine.stage for one in (0, 1)] == [Stage.INVITING, Stage.INVITING]
    script.carry(Invitation, Refusal)
    assert [script[one].machine.stage for one in (0, 1)] == [Stage.WAITING, Stage.WAITING]
    assert script[0].machine.next_deadline() != script[1].machine.next_deadline()
    for _ in range(40):
        script.pass_time(2.0)
        script.carry()
    assert script[0].lists.version == script[1].lists.version > 1
    assert set(script[0].lists.ring) == {0, 1}
    assert max(script[one].machine._tries for one in (0, 1)) > 0
    for _ in range(20):
        script.ring()
        script.pass_time(2.0)
    assert [script[one].machine._tries for one in (0, 1)] == [0, 0], "the next one waits no longer than this"


def test_half_of_the_members_make_no_list() -> None:
    script = Script(4)
    for by in (0, 1):
        script.suspect(by, {2, 3})
    script.run.links[0, 2].clear()
    for _ in range(200):
        script.pass_time(10.0)
        for pair in ((0, 1), (1, 0)):
            while script.run.links[pair]:
                script[pair[1]].machine.receive(pair[0], script.run.links[pair].popleft(), script.run.now)
                script[pair[1]].settle()
    assert [process.lists.version for process in script.run.all] == [1, 1, 1, 1]


def test_a_vote_is_remembered() -> None:
    script = Script()
    machine = script[2].machine
    machine.receive(0, Invitation(6), 0.0)
    machine.receive(0, Abort(6), 0.0)
    assert machine.stage is Stage.WAITING
    machine.outputs()
    machine.receive(1, Invitation(5), 0.0)
    assert machine.outputs() == [(1, Refusal(5, 6))]
    machine.receive(1, Invitation(8), 0.0)
    assert machine.stage is Stage.INVITED


def test_a_slave_that_has_left_ends_the_reformation() -> None:
    script = Script()
    script.suspect(0, {2})
    script.pass_time(TIMES.heartbeat_ms)
    script.carry(Invitation, Vote)
    assert script[0].machine.stage is Stage.ANNOUNCING
    script.suspect(1, {0})
    assert script[1].machine.stage is Stage.WAITING
    script.carry(NewList, Refusal, Abort)
    assert script[0].machine.stage is Stage.WAITING


def test_the_end_of_the_view_is_the_same_for_who_was_not_on_its_last_list() -> None:
    the_end_is_kept(Script(5))


def test_the_end_of_the_view_would_be_lost_if_a_vote_did_not_tell_it() -> None:
    with pytest.raises(AssertionError):
        the_end_is_kept(Script(5, machine=ForgetsTheEnd))


def the_end_is_kept(script: Script) -> None:
    """Member 4 leaves; all agree, the new token site alone knows it, and is not heard any more."""
    script[4].machine.leave()
    script[4].settle()
    for _ in range(60):
        script.carry(Invitation, Vote, NewList, Recovery, Agreed, Token, Ask)
        if any(process.follows for process in script.run.all):
            break
        script.pass_time(5.0)
    (site,) = (process for process in script.run.all if process.follows)
    script.held = {site.me}
    for process in script.run.all:
        if process is not site:
            script.suspect(process.me, {site.me})
    for _ in range(60):
        script.pass_time(10.0)
        script.carry()
    script.ring()
    script.run.check()
    script.held = set()
    script.carry()
    script.run.check()
    ends = [process.machine.ends for process in script.run.all]
    assert ends == [Ends((0, 1, 2, 3), (), (4,))] * 5
    assert script[4].follows == Out(Left())


def test_who_leaves_and_who_is_given_up_end_the_view() -> None:
    script = Script()
    script[1].machine.leave()
    for by in (0, 1):
        script.suspect(by, {2}, {2})
    for _ in range(30):
        script.pass_time(5.0)
        script.carry()
    follows = script[0].follows
    assert isinstance(follows, Next)
    assert [member.name for member in follows.roster.members] == ["m0"]
    assert script[1].follows == Out(Left())
    assert script[2].follows == Out(Excluded("the others took this member for crashed"))


def test_who_is_only_suspected_stays_in_the_view() -> None:
    script = Script()
    for by in (0, 1):
        script.suspect(by, {2})
    script[0].machine.leave()
    for _ in range(30):
        script.pass_time(5.0)
        for pair in list(script.run.links):
            if 2 in pair:
                script.run.links[pair].clear()
        script.carry()
    assert script[0].follows is None
    assert set(script[0].lists.ring) == {0, 1}


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (NewList(2, (), (), None), "a list of 0"),
        (NewList(2, (1,), (), None), "a list of 1"),
        (NewList(2, (1, 3), (), None), r"\(1, 3\) are not different members of a view of 3"),
        (NewList(2, (1, 2), (1,), None), "are not different members"),
        (NewList(2, (1, 2), (), Ends((0, 0), (), ())), "are not different members"),
        (NewList(2, (1, 2), (), Ends((0,), (Member(bytes(16), "m", "host", 1),), ())), "host is no number"),
        (Vote(2, 1, 0, 0, 1, None, (), False, (), (4,)), "are not different members"),
        (Vote(2, 1, 0, 0, 1, None, (Member(bytes(16), "m", "host", 1),), False, (), ()), "no number"),
        (Recovery(2, 1, (Entry(2, Identifier(0, 1), b""),)), "numbers that do not grow"),
        (Recovery(2, 9, (Entry(2, Identifier(3, 1), b""),)), "a source that is no member"),
        (Over(Ends((5,), (), ()), 1, 0, ()), "are not different members"),
    ],
)  # fmt: skip
def test_what_no_correct_member_says_is_refused(message: Message, told: str) -> None:
    assert re.search(told, flaw(message, 3) or "")


def test_what_correct_members_say_has_no_flaw() -> None:
    for seed in range(20):
        run = Run(3, seed)
        for _ in range(200):
            run.step()
            assert not [message for queue in run.links.values() for message in queue if flaw(message, 3)]


def test_without_chance_nobody_waits_for_a_random_time() -> None:
    with pytest.raises(InvalidSetting, match="chance=None: members of rbp-reforming wait for random times"):
        Membership(rbp_reforming(), "g", Member(bytes(16), "m0", "127.0.0.1", 7000))


def test_the_new_token_site_is_of_the_latest_list_whatever_others_have_numbered() -> None:
    """Section 3.2.3, repaired: a number of a list that was given up is none of the next one."""
    machine = Script(5)[0].machine

    def vote(committed: int, reaches: int, keeps_from: int = 1) -> Vote:
        return Vote(3, committed, reaches, reaches, keeps_from, None, (), False, (), ())

    assert machine._best({0: vote(1, 20), 1: vote(2, 18), 2: vote(2, 15)}) == 1
    assert machine._best({0: vote(2, 18, 9), 1: vote(2, 18, 4), 2: vote(1, 30)}) == 1
    assert machine._best({2: vote(2, 18), 4: vote(2, 18)}) == 2


def test_the_messages_of_the_last_two_turns_are_kept_however_little_room_there_is() -> None:
    """A member that was on the last list may be that far behind."""
    network = SimulatedNetwork(rbp_reforming(Settings(resilience=0, stability=True, kept_bytes=1)), 3, seed=1)
    for k in range(60):
        network.broadcast(k % 3, b"m")
    seen = 0

    def look() -> None:
        nonlocal seen
        for endpoint in network.endpoints:
            core = endpoint.core
            assert core.keeps_from <= max(1, core.settled - 6 + 1)
            seen += core.keeps_from > 1

    network.run_for(300.0, watch=look)
    assert seen > 100
