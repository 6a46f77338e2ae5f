"""The rules of a change of the list, one by one, on members whose messages the test carries by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from antiphon.impl.membership import consensus
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.view_change import (
    Call,
    Decision,
    Kind,
    Message,
    ReportMessage,
    ViewChange,
    flaw,
)
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import Body, Numbered, Report, merged

NOBODY: frozenset[int] = frozenset()
REGULAR, INTERMEDIATE = Kind.REGULAR, Kind.INTERMEDIATE


def report(settled: int = 0, members: int = 3, bodies: Sequence[int] = ()) -> Report:
    """All have what is numbered up to `settled`; these are the numbers of the messages that are kept."""
    named = {number: Identifier(0, number) for number in bodies}
    return Report(
        settled,
        (settled,) + (0,) * (members - 1),
        tuple(Numbered(number, name) for number, name in named.items()),
        tuple(Body(name, b"%d" % number) for number, name in named.items()),
    )


def union(reports: Sequence[Report], missing: bool) -> Report:
    """Join the reports as figure 32 has it."""
    return merged(reports)


class Members:
    """The members 0..n-1 of one list; who is `down` does nothing, and gets what was sent to it afterwards."""

    def __init__(self, count: int = 3) -> None:
        self.all = [ViewChange(me, count) for me in range(count)]
        self.down: set[int] = set()
        self.sent: list[tuple[int, int, Message]] = []
        self.waiting: list[tuple[int, int, Message]] = []

    def __getitem__(self, member: int) -> ViewChange:
        return self.all[member]

    def suspect(self, suspected: set[int], given_up: set[int] = set()) -> None:  # noqa: B006 - never changed
        """Let all that are up suspect these, and give up those."""
        for me, change in enumerate(self.all):
            if me not in self.down:
                change.suspect(frozenset(suspected - {me}), frozenset(given_up - {me}))

    def report(self, reports: dict[int, Report] | None = None) -> None:
        """Let each that is up and has to report do so."""
        for me, change in enumerate(self.all):
            if me not in self.down and change.reports:
                change.report((reports or {}).get(me, report(members=len(self.all))))

    def carry(self, *, propose: bool = True) -> None:
        """Carry all messages, and let propose whoever has to, until nothing is left."""
        moved = True
        while moved:
            for me, change in enumerate(self.all):
                if me not in self.down:
                    if propose and change.proposes:
                        change.propose(union)
                    self.waiting += [(me, to, message) for to, message in change.outputs()]
            arriving = [item for item in self.waiting if item[1] not in self.down]
            self.waiting = [item for item in self.waiting if item[1] in self.down]
            self.sent += arriving
            for sender, to, message in arriving:
                self.all[to].receive(sender, message)
            moved = bool(arriving)

    def run(self, reports: dict[int, Report] | None = None) -> Decision:
        """Let the change come to its end, and return what all that are up have decided."""
        for _ in range(3):
            self.carry()
            self.report(reports)
        self.carry()
        decisions = [change.decision for me, change in enumerate(self.all) if me not in self.down]
        assert decisions[0] is not None, "nothing is decided"
        assert decisions == [decisions[0]] * len(decisions)
        return decisions[0]


def joiner(name: str) -> Member:
    """A process that wants to be a member."""
    return Member(name.encode().ljust(16, b"."), name, "10.0.0.9", 7000)


# The call -----------------------------------------------------------------------------------------------


def test_a_call_is_sent_on_by_whoever_gets_it_and_once() -> None:
    change = ViewChange(1, 3)
    change.receive(0, Call(INTERMEDIATE))
    change.receive(2, Call(INTERMEDIATE))
    assert change.outputs() == [(0, Call(INTERMEDIATE)), (2, Call(INTERMEDIATE))]
    assert change.reports


def test_nobody_reports_before_a_call_and_nobody_twice() -> None:
    members = Members()
    assert not members[0].reports
    members[0].call(INTERMEDIATE)
    members[0].report(report())
    members[0].call(REGULAR)
    assert not members[0].reports, "who has answered one call has answered the other"


def test_both_kinds_of_call_end_in_one_decision() -> None:
    members = Members()
    members[0].call(INTERMEDIATE)
    members[2].call(REGULAR)
    assert members.run().kind is REGULAR
    told = [(sender, to) for sender, to, message in members.sent if isinstance(message, ReportMessage)]
    assert sorted(told) == sorted((p, q) for p in range(3) for q in range(3) if p != q)


# Step 2 -------------------------------------------------------------------------------------------------


def test_a_report_of_everybody_who_is_not_suspected_is_awaited() -> None:
    members = Members()
    members.down = {2}
    members[0].call(INTERMEDIATE)
    members.carry()
    members.report()
    members.carry()
    assert not members[0].complete
    assert not members[0].proposes
    members.suspect({2})
    assert members[0].complete
    assert members.run().core == (0, 1)


def test_suspicions_alone_do_not_end_the_wait_a_majority_has_to_report() -> None:
    members = Members(5)
    members.down = {2, 3, 4}
    members[0].call(INTERMEDIATE)
    members.suspect({2, 3, 4})
    members.carry()
    members.report()
    members.carry()
    assert len(members[0].heard) == 2
    assert not members[0].complete


def test_half_of_the_members_are_no_majority() -> None:
    members = Members(4)
    members.down = {2, 3}
    members[0].call(INTERMEDIATE)
    members.suspect({2, 3})
    members.carry()
    members.report()
    members.carry()
    assert not members[0].complete


def test_a_decision_counts_only_after_the_own_wait_has_ended() -> None:
    change = ViewChange(2, 3)
    change.call(INTERMEDIATE)
    change.report(report())
    decided = Decision(INTERMEDIATE, (0, 1), (), (), report())
    change.receive(0, consensus.Decide(decided))
    assert change.decision is None
    change.suspect(frozenset({0, 1}), NOBODY)
    assert change.decision is None, "it has no report of a majority"
    change.receive(0, ReportMessage(report(), (), leaving=False, given_up=()))
    assert change.decision == decided


# Steps 3 and 4 ------------------------------------------------------------------------------------------


def test_who_is_only_suspected_stays_on_the_list() -> None:
    members = Members()
    members.down = {2}
    members[0].call(REGULAR)
    members.suspect({2})
    assert members.run() == Decision(INTERMEDIATE, (0, 1), (), (), report())


def test_who_is_given_up_is_left_out() -> None:
    members = Members()
    members.down = {2}
    members[0].call(REGULAR)
    members.suspect({2}, {2})
    decided = members.run()
    assert (decided.kind, decided.core) == (REGULAR, (0, 1))


def test_it_is_enough_that_one_who_has_reported_has_given_up_who_is_missing() -> None:
    members = Members()
    members.down = {2}
    members.suspect({2})
    members[0].suspect(frozenset({2}), frozenset({2}))  # member 1 coordinates the first round
    members[0].call(REGULAR)
    assert members.run().kind is REGULAR


def test_a_view_is_never_regular_without_a_call_for_one() -> None:
    members = Members()
    members.down = {2}
    members[0].call(INTERMEDIATE)
    members.suspect({2}, {2})
    assert members.run().kind is INTERMEDIATE


def test_who_misses_a_message_that_nobody_hands_up_is_not_in_the_core() -> None:
    members = Members()
    members[0].call(INTERMEDIATE)
    behind = {0: report(5, bodies=[5]), 1: report(5, bodies=[5]), 2: report(3)}
    decided = members.run(behind)
    assert decided.core == (0, 1), "member 2 misses message 4"
    members = Members()
    members[0].call(INTERMEDIATE)
    decided = members.run({**behind, 2: report(4)})
    assert decided.core == (0, 1, 2), "member 2 misses only what is handed up"


def test_a_core_of_half_of_the_members_is_not_proposed() -> None:
    members = Members(4)
    members[0].call(INTERMEDIATE)
    late = {me: report(5 if me < 2 else 1, 4) for me in range(4)}
    with pytest.raises(AssertionError, match="nothing is decided"):
        members.run(late)
    assert not members[0].proposes, "the same reports are not tried again"
    members[3].call(REGULAR)
    assert members.run().core == (0, 1), "a call for a regular view is another chance"


def test_where_a_core_was_too_small_the_next_report_is_another_chance() -> None:
    members = Members(5)
    members.down = {4}
    members.suspect({4})
    members[0].call(INTERMEDIATE)
    full = {me: report(5, 5) for me in (0, 1, 4)} | {me: report(1, 5) for me in (2, 3)}
    with pytest.raises(AssertionError, match="nothing is decided"):
        members.run(full)
    members.down = set()
    assert members.run(full).core == (0, 1, 4)


def test_where_a_core_was_too_small_the_end_of_a_member_is_another_chance() -> None:
    members = Members(5)
    members.down = {4}
    members.suspect({4})
    members[0].call(REGULAR)
    with pytest.raises(AssertionError, match="nothing is decided"):
        members.run({me: report(5 if me < 2 else 1, 5) for me in range(5)})
    members.suspect({4}, {4})
    assert members.run().core == (0, 1)


def test_a_coordinator_of_the_consensus_that_is_suspected_is_passed_over() -> None:
    members = Members()
    members.down = {1}
    members.suspect({1}, {1})
    members[0].call(REGULAR)
    assert members.run().core == (0, 2)


@pytest.mark.parametrize(
    ("kind", "down", "missing"),
    [(INTERMEDIATE, {2}, True), (INTERMEDIATE, set(), False), (REGULAR, {2}, False)],
)
def test_a_core_learns_whether_members_that_have_not_reported_will_adopt(
    kind: Kind, down: set[int], missing: bool
) -> None:
    members, asked = Members(), []
    members.down = down
    members.suspect(down, down)
    members[1].call(kind)
    members.carry()
    members.report()

    def merge(reports: Sequence[Report], missing: bool) -> Report:
        asked.append(missing)
        return merged(reports)

    for sender, to, message in members.waiting + [(0, to, m) for to, m in members[0].outputs()]:
        if to == 1 and sender not in down:
            members[1].receive(sender, message)
    for to, message in members[2].outputs() if 2 not in down else ():
        if to == 1:
            members[1].receive(2, message)
    assert members[1].proposes
    members[1].propose(merge)
    assert asked == [missing]


def test_the_first_report_of_a_member_counts() -> None:
    change = ViewChange(0, 3)
    change.call(INTERMEDIATE)
    for settled in (1, 2):
        change.receive(1, ReportMessage(report(settled), (), leaving=False, given_up=()))
    assert change.heard[1].report.settled == 1


def test_who_can_propose_nothing_proposes_what_another_has_proposed() -> None:
    """Member 1 of three has crashed; member 2 lacks messages of member 0: both are needed."""
    members = Members()
    members.down = {1}
    members.suspect({1})
    members[0].call(INTERMEDIATE)
    behind = {0: report(5, bodies=[5]), 2: report(3)}
    members.carry(propose=False)
    members.report(behind)
    members.carry(propose=False)
    kept = Report(0, (0, 0, 0), tuple(Numbered(n, Identifier(0, n)) for n in (4, 5)),
                  tuple(Body(Identifier(0, n), b"%d" % n) for n in (4, 5)))  # fmt: skip
    for me in (2, 0):
        assert members[me].proposes
        members[me].propose(lambda reports, _, me=me: merged([*reports, kept] if me == 0 else reports))
    members.carry()
    decided = members[0].decision
    assert decided is not None
    assert decided.core == (0, 2)
    assert members[2].decision == decided


@pytest.mark.parametrize("first", [0, 2])
def test_an_offer_is_taken_whenever_it_comes(first: int) -> None:
    """Member 2 says that it lacks something before or after member 0 has proposed."""
    members = Members()
    members.down = {1}
    members.suspect({1})
    members[0].call(INTERMEDIATE)
    members.carry(propose=False)
    members.report({0: report(5), 2: report(3)})
    members.carry(propose=False)

    def all_of_it(_: Sequence[Report], missing: bool) -> Report:
        return Report(5, (5, 0, 0), report(3, bodies=[4, 5]).numbered, report(3, bodies=[4, 5]).bodies)

    for me in (first, 2 - first):
        members[me].propose(all_of_it if me == 0 else union)
        if me == 0:
            assert members[0].decision is None, "one of three is no majority"
        members.carry(propose=False)
    members.carry()
    assert members[0].decision == members[2].decision
    assert members[0].decision is not None


def test_a_regular_view_may_have_a_small_core() -> None:
    members = Members(4)
    members[0].call(REGULAR)
    decided = members.run({me: report(5 if me < 2 else 1, 4) for me in range(4)})
    assert (decided.kind, decided.core) == (REGULAR, (0, 1))


# Join and leave -----------------------------------------------------------------------------------------


def test_all_who_have_asked_any_member_join_in_one_order() -> None:
    members = Members()
    for name in "edcba":
        members[2].admit(joiner(name))
        members[2].admit(joiner(name))
    members[0].admit(joiner("f"))
    decided = members.run()
    told = {
        sender: message.joining for sender, _, message in members.sent if isinstance(message, ReportMessage)
    }
    assert told == {0: (joiner("f"),), 1: (), 2: tuple(joiner(name) for name in "edcba")}
    assert decided.joins == tuple(joiner(name) for name in "abcdef")
    assert (decided.kind, decided.core) == (REGULAR, (0, 1, 2))


def test_nobody_joins_an_i_view() -> None:
    members = Members()
    members.down = {2}
    members[0].admit(joiner("a"))
    members.suspect({2})
    decided = members.run()
    assert (decided.kind, decided.joins) == (INTERMEDIATE, ())


def test_who_leaves_is_named_and_not_in_the_core() -> None:
    members = Members()
    members[1].leave()
    decided = members.run()
    assert (decided.core, decided.leaves) == ((0, 2), (1,))


def test_after_the_own_report_nobody_is_admitted_and_nobody_leaves() -> None:
    members = Members()
    members[0].call(INTERMEDIATE)
    members[0].report(report())
    members[0].leave()
    members[0].admit(joiner("a"))
    assert members[0].kinds == {INTERMEDIATE}
    assert not members[0].leaving


def test_who_leaves_stays_a_member_in_an_i_view() -> None:
    members = Members()
    members.down = {2}
    members[1].leave()
    members.suspect({2})
    decided = members.run()
    assert (decided.kind, decided.core, decided.leaves) == (INTERMEDIATE, (0, 1), ())


# What no member says ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        ReportMessage(report(members=2), (), leaving=False, given_up=()),
        ReportMessage(report(), (), leaving=False, given_up=(3,)),
        ReportMessage(
            Report(0, (0, 0, 0), (), (Body(Identifier(3, 1), b""),)), (), leaving=False, given_up=()
        ),
        ReportMessage(
            Report(0, (0, 0, 0), (Numbered(2, None), Numbered(1, None)), ()), (), leaving=False, given_up=()
        ),
        consensus.Decide(Decision(REGULAR, (0, 3), (), (), report())),
        consensus.Proposal(1, Decision(REGULAR, (0, 0), (), (), report())),
        consensus.Estimate(1, Decision(REGULAR, (0, 1), (), (1,), report()), 0),
        consensus.Decide(Decision(REGULAR, (0, 1), (), (), report(members=4))),
    ],
)
def test_a_message_that_no_member_sends_has_a_flaw(message: Message) -> None:
    assert flaw(message, 3) is not None


def test_messages_of_a_real_change_have_no_flaw() -> None:
    members = Members()
    members[0].leave()
    members[1].admit(joiner("a"))
    members.run({me: report(2, bodies=[1, 2]) for me in range(3)})
    assert len(members.sent) > 10
    assert [flaw(message, 3) for _, _, message in members.sent] == [None] * len(members.sent)
