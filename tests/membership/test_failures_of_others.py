"""Failures that users of other group libraries met, each as a run that ends well here.

Each run fails when the line that prevents it is planted out. The table is in docs/failures-of-others.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from antiphon.impl.membership.consensus import Ack, Consensus, Decide, Estimate, Proposal
from antiphon.impl.membership.detector import LOCAL, Detector
from antiphon.impl.membership.member import Blocked, Excluded, Left, Refused, View
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.succession import Next, Out, Roster, Succession
from antiphon.impl.membership.view_change import ViewChange
from antiphon.impl.transport.simulated_members import SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises

PAGE = Path(__file__).resolve().parents[2] / "docs" / "failures-of-others.md"

Patch = Callable[[pytest.MonkeyPatch], None]


def started(processes: int, members: int, **settings: Any) -> SimulatedMembers:
    """A group of so many members in its first view, with room for other processes."""
    simulation = SimulatedMembers(processes, 1, **settings)
    simulation.found(range(members))
    simulation.run(300.0)
    return simulation


def talking(simulation: SimulatedMembers, since: float, until: float) -> None:
    """Let all members broadcast every 10 ms."""
    for turn in range(int((until - since) / 10)):
        for process in range(len(simulation.addresses)):

            def say(process: int = process, turn: int = turn) -> None:
                if simulation.lives[process]:
                    simulation.say(process, f"{process}:{turn}".encode())

            simulation.at(since + 10 * turn, say)


def gap_ms(simulation: SimulatedMembers, process: int) -> float:
    """The longest time without a delivery."""
    return max(after - before for before, after in pairwise(simulation.life(process).delivered_at))


def first(simulation: SimulatedMembers, until: float, happened: Callable[[], bool]) -> float | None:
    """First time at which this has happened, to 10 ms; None if not until then."""
    while simulation.now < until:
        if happened():
            return simulation.now
        simulation.run(simulation.now + 10)
    return None


def members(view: View) -> list[str]:
    return sorted(member.name for member in view.members)


# The runs ---------------------------------------------------------------------------------------------------


def who_joins_and_dies_at_once_is_no_ghost() -> None:
    simulation = started(4, 3)
    simulation.begin(3)
    assert first(simulation, 2_000, lambda: len(simulation.life(0).views) > 1) is not None
    assert members(simulation.life(0).views[-1]) == ["p0", "p1", "p2", "p3"]
    simulation.crash(3)
    simulation.run(7_000)
    all_agree_at_the_end(simulation, {0, 1, 2})


def what_a_paused_member_has_sent_is_delivered_once() -> None:
    simulation = started(3, 3)
    talking(simulation, 300, 3_000)
    simulation.at(1_005, lambda: simulation.pause(1, 1_000))
    simulation.run(5_000)
    assert simulation.life(0).machine.changes >= 2, "the list has changed twice"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2})


def a_join_stops_nobody() -> None:
    simulation = started(4, 3, loss=0.1)
    talking(simulation, 300, 2_500)
    simulation.at(1_000, lambda: simulation.begin(3))
    simulation.run(4_000)
    for process in range(3):
        assert not any(isinstance(event, Blocked | Excluded) for event in simulation.life(process).events)
        assert gap_ms(simulation, process) < LOCAL.suspect_ms
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2, 3})


def who_was_away_is_told_so() -> None:
    simulation = started(3, 3)
    simulation.at(1_000, lambda: simulation.pause(1, 4_500))
    simulation.run(8_000)
    assert isinstance(simulation.lives[1][0].events[-1], Excluded), "it learns that the others went on"
    before, after = simulation.lives[1]
    assert before.member != after.member, "and comes back as another member"
    for process in (0, 2):
        left = simulation.life(process).views[1]
        assert left.failed == (before.member,), "it was away, and not the others"
    all_agree_at_the_end(simulation, {0, 1, 2})


def who_is_cut_off_knows_it_before_the_others_go_on() -> None:
    simulation = started(3, 3)
    talking(simulation, 300, 6_000)
    simulation.at(1_000, lambda: simulation.part({0, 1}, {2}))
    blocked = first(simulation, 6_000, lambda: isinstance(simulation.life(2).events[-1], Blocked))
    goes_on = first(simulation, 6_000, lambda: len(simulation.life(0).views) > 1)
    assert blocked is not None
    assert goes_on is not None
    assert blocked < goes_on
    assert blocked < 2_000, "within a second"
    keeps_its_promises(simulation)


def views_stand_at_one_place_among_the_messages() -> None:
    simulation = started(4, 3)
    talking(simulation, 300, 6_000)
    simulation.at(1_000, lambda: simulation.begin(3))
    simulation.at(1_500, lambda: simulation.crash(1))
    simulation.run(7_000)
    assert len(simulation.life(0).views) == 3
    keeps_its_promises(simulation)


def a_new_coordinator_goes_on_with_what_the_last_one_had_agreed() -> None:
    """Member 1 coordinates round 1: a majority adopts its proposal, it decides, and all it says is lost."""
    one, two, three = (Consensus[str](me, 3) for me in range(3))
    for member, value in ((one, "a"), (two, "b"), (three, "c")):
        member.propose(value)
        member.settle()
    two.receive(0, only(one, Estimate))
    two.settle()
    one.receive(1, only(two, Proposal))
    one.settle()
    two.receive(0, only(one, Ack))
    two.settle()
    assert two.decision == "a"
    assert only(two, Decide).value == "a"
    three.suspect(frozenset({1}))  # it never gets the proposal
    three.settle()
    three.receive(0, Estimate(2, "a", 1))
    three.settle()
    assert only(three, Proposal).value == "a"


def only(member: Consensus[str], kind: type) -> Any:
    """The one message of this kind that a member sends, whoever it is for."""
    found = {send.message for send in member.outputs() if isinstance(send.message, kind)}
    (message,) = found or {None}
    return message


def a_herd_that_starts_at_once_ends_in_one_view() -> None:
    simulation = started(8, 3)
    for process in range(3, 8):
        simulation.begin(process)
    simulation.run(4_000)
    all_agree_at_the_end(simulation, set(range(8)))
    talking(simulation, 4_000, 5_000)
    simulation.run(6_000)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, set(range(8)))


def a_change_waits_for_nobody_whom_it_does_not_concern() -> None:
    simulation = started(5, 5)
    talking(simulation, 300, 4_000)
    simulation.at(1_000, lambda: simulation.pause(3, 2_000))
    simulation.at(1_000, lambda: simulation.pause(4, 2_000))
    simulation.run(6_000)
    assert gap_ms(simulation, 0) < 2 * LOCAL.suspect_ms
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, set(range(5)))


# What prevents each of them, planted out --------------------------------------------------------------------


def watches_no_newcomer(patch: pytest.MonkeyPatch) -> None:
    watch = Detector.watch

    def watched(self: Detector, some: Iterable[bytes], now: float) -> None:
        known = set(self._heard_at)
        watch(self, [member for member in some if not known or member in known], now)

    patch.setattr(Detector, "watch", watched)


def forgets_at_the_switch(patch: pytest.MonkeyPatch) -> None:
    begin = Membership._begin

    def begun(self: Membership, roster: Roster, now: float) -> None:
        self._outstanding.clear()
        begin(self, roster, now)

    patch.setattr(Membership, "_begin", begun)


def welcomes_nobody(patch: pytest.MonkeyPatch) -> None:
    show = Membership._show

    def shown(self: Membership, view: View) -> None:
        sent = list(self._outgoing)
        show(self, view)
        self._outgoing, self._welcome = sent, None

    patch.setattr(Membership, "_show", shown)


def tells_the_application_nothing(patch: pytest.MonkeyPatch) -> None:
    end = Membership._end

    def ended(self: Membership, event: Excluded | Left | Refused) -> None:
        end(self, event)
        if isinstance(event, Excluded):
            self._events.remove(event)

    patch.setattr(Membership, "_end", ended)


def says_nothing_of_a_minority(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Membership, "_tell_blocked", lambda _: None)


def hands_views_on_beside_the_messages(patch: pytest.MonkeyPatch) -> None:
    show = Membership._show

    def shown(self: Membership, view: View) -> None:
        show(self, view)
        self._events.remove(view)
        self._events.appendleft(view)

    patch.setattr(Membership, "_show", shown)


def takes_any_estimate(patch: pytest.MonkeyPatch) -> None:
    gather = Consensus.gather

    def gathered(self: Consensus[Any]) -> bool:
        for key, estimate in self._estimates.items():
            own = key[1] == self.me
            self._estimates[key] = Estimate(estimate.round, estimate.value, 9 if own else 0)
        return gather(self)

    patch.setattr(Consensus, "gather", gathered)


def takes_the_first_of_a_batch(patch: pytest.MonkeyPatch) -> None:
    whole = Succession.adopt

    def part(self: Succession) -> Next | Out | None:
        follows = whole(self)
        if self.me % 2 == 0 or not isinstance(follows, Next):
            return follows
        decision = structs.replace(follows.decision, joins=follows.decision.joins[:1])
        return Next(decision, self.roster.next(decision))

    patch.setattr(Succession, "adopt", part)


def waits_for_all(patch: pytest.MonkeyPatch) -> None:
    look = ViewChange._look

    def looked(self: ViewChange) -> None:
        suspected, self._suspected = self._suspected, self._given_up
        look(self)
        self._suspected = suspected

    patch.setattr(ViewChange, "_look", looked)


RUNS: dict[str, tuple[Callable[[], None], Patch]] = {
    "Corosync 828": (who_joins_and_dies_at_once_is_no_ghost, watches_no_newcomer),
    "Corosync 663": (what_a_paused_member_has_sent_is_delivered_once, forgets_at_the_switch),
    "Corosync 660": (a_join_stops_nobody, welcomes_nobody),
    "Corosync 347": (who_was_away_is_told_so, tells_the_application_nothing),
    "Corosync 182": (who_is_cut_off_knows_it_before_the_others_go_on, says_nothing_of_a_minority),
    "JGroups 1048": (views_stand_at_one_place_among_the_messages, hands_views_on_beside_the_messages),
    "Derecho 126": (a_new_coordinator_goes_on_with_what_the_last_one_had_agreed, takes_any_estimate),
    "Derecho 213": (a_herd_that_starts_at_once_ends_in_one_view, takes_the_first_of_a_batch),
    "Derecho 53": (a_change_waits_for_nobody_whom_it_does_not_concern, waits_for_all),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RUNS)
def test_it_does_not_happen_here(name: str) -> None:
    RUNS[name][0]()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", RUNS)
def test_it_happens_without_the_line_that_prevents_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run, plant = RUNS[name]
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        run()


def test_the_page_names_each_of_them() -> None:
    rows = re.findall(r"^\| \[(\w+) #(\d+)\]", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [" ".join(row) for row in rows] == list(RUNS)
