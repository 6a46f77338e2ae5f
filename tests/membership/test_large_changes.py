"""Changes of the list that hand over much: what is held back, and that it comes when it is needed."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.impl.membership.consensus import Ack, Decide, Estimate, Proposal
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.epoch import Epoch
from antiphon.impl.membership.list_change import Flush
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.succession import Roster
from antiphon.impl.membership.view_change import Decision, Kind, ReportMessage
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.transport.simulated_members import SimulatedMembers

from .keeping import all_agree_at_the_end, keeps_its_promises

PATIENCE_MS = 100.0
NOTHING = Report(0, (0, 0, 0), (), ())
DECIDED = Decision(Kind.INTERMEDIATE, (0, 1), (), (), NOTHING)


class Empty:
    """Core of a list on which nothing was sent."""

    lost = caught_up = False

    def report(self) -> Report:
        """Return the knowledge of this core."""
        return NOTHING

    def merge(self, reports: Any, missing: bool) -> Report:
        """Return the union of equal reports."""
        return NOTHING


def adopted() -> Flush:
    """Member 0 of three, which has adopted the proposal of member 1; member 2 is suspected."""
    members = tuple(Member(b"%016d" % place, f"m{place}", "10.0.0.1", 1 + place) for place in range(3))
    flush = Flush(
        Roster(1, members, 3), 0, Empty(), lambda _: True, external=True, patience_ms=PATIENCE_MS
    )  # fmt: skip
    flush.suspect(frozenset({2}), frozenset())
    flush.call(Kind.INTERMEDIATE)
    flush.receive(1, ReportMessage(NOTHING, (), False, ()), 0.0)
    assert flush.go_on(0.0) is None
    assert [type(one.message) for one in flush.outputs() if one.to == 1][-1] is Estimate
    flush.receive(1, Proposal(1, DECIDED), 5.0)
    assert flush.go_on(5.0) is None
    sent = flush.outputs()
    assert sent[0] == Send(1, Ack(1))
    assert not any(isinstance(one.message, Estimate) for one in sent), "that for the next round is held back"
    assert flush.next_deadline() == 5.0 + PATIENCE_MS
    return flush


def rounds(flush: Flush) -> list[tuple[int, int]]:
    """Receivers and rounds of the estimates that it sends now."""
    return [(one.to, one.message.round) for one in flush.outputs() if isinstance(one.message, Estimate)]


def test_who_has_adopted_a_proposal_waits_for_the_decision_before_it_sends_an_estimate_again() -> None:
    flush = adopted()
    flush.receive(1, Decide(DECIDED), 9.0)
    assert flush.go_on(9.0) is not None
    assert {type(one.message) for one in flush.outputs()} == {Decide}
    assert flush.next_deadline() is None


def test_an_estimate_that_is_held_back_goes_out_when_the_coordinator_is_suspected() -> None:
    flush = adopted()
    flush.go_on(50.0)
    assert rounds(flush) == []
    flush.suspect(frozenset({1}), frozenset())
    flush.go_on(51.0)
    assert rounds(flush) == [(2, 2)]
    assert flush.next_deadline() is None


def test_an_estimate_is_held_back_no_longer_than_that() -> None:
    flush = adopted()
    flush.go_on(4.9 + PATIENCE_MS)
    assert rounds(flush) == []
    flush.go_on(5.0 + PATIENCE_MS)
    assert rounds(flush) == [(2, 2)]
    assert rounds(flush) == []


def busy(processes: int) -> SimulatedMembers:
    """A group with messages of a megabyte and more that nobody has yet, of which the last member crashes."""
    simulation = SimulatedMembers(processes, 1)
    simulation.found(range(processes))
    simulation.run(3_000.0)
    for k in range(20):
        for process in range(processes):
            payload = b"%d:%d" % (process, k) + bytes(20_000)
            simulation.at(3_000.0 + k, lambda p=process, payload=payload: simulation.say(p, payload))
    simulation.at(3_005.0, lambda: simulation.crash(processes - 1))
    return simulation


def test_a_change_sends_a_large_decision_to_each_member_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the reports go from each member to each other one."""
    sent: list[tuple[type, int]] = []
    send = Epoch._send

    def counted(epoch: Epoch, to: int, data: bytes) -> None:
        sent.append((type(epoch._decode(data)), len(data)))
        send(epoch, to, data)

    monkeypatch.setattr(Epoch, "_send", counted)
    simulation = busy(5)
    simulation.run(3_005.0 + 2 * LOCAL.suspect_ms - 50.0)
    large = [kind for kind, size in sent if size > 100_000]
    assert large.count(Decide) == 4
    assert large.count(Proposal) == 4
    assert 2 <= large.count(Estimate) <= 3
    assert large.count(ReportMessage) == 16
    assert all(simulation.life(process).machine.changes == 1 for process in range(4))
    simulation.run(3_005.0 + 3 * LOCAL.suspect_ms)
    large = [kind for kind, size in sent if size > 100_000]
    assert large.count(Decide) == 4 + 3, "the member that has crashed may be there"
    simulation.run(8_000.0)
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2, 3})


def test_who_has_gone_on_already_is_not_sent_the_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notice that a member needs nothing more of the list may come before the decision does."""
    sent: list[int] = []
    send, go_on = Epoch._send, Epoch.go_on
    early: set[tuple[int, int]] = set()

    def counted(epoch: Epoch, to: int, data: bytes) -> None:
        if isinstance(epoch._decode(data), Decide) and epoch.me != 1:
            sent.append(to)
        send(epoch, to, data)

    def after_notices(epoch: Epoch, now: float) -> Any:
        if epoch._told:
            for place in range(4):
                epoch.release(place)
                early.add((epoch.me, place))
        return go_on(epoch, now)

    monkeypatch.setattr(Epoch, "_send", counted)
    monkeypatch.setattr(Epoch, "go_on", after_notices)
    simulation = busy(5)
    simulation.run(8_000.0)
    assert early, "somebody was sent the decision"
    assert set(sent) == {4}, "the member that has crashed may lack it"
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, {0, 1, 2, 3})


def test_who_has_the_decision_alone_sends_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator crashes when the decision has reached one member of five, another one is down: the two
    others are no majority without the one that has gone on.
    """
    simulation = busy(5)
    decided: list[int] = []
    send = Epoch._send

    def first_only(epoch: Epoch, to: int, data: bytes) -> None:
        decides = isinstance(epoch._decode(data), Decide) and epoch.roster.number == 1 and epoch.me == 1
        if not decides:
            send(epoch, to, data)
        elif not decided:
            decided.append(epoch.me)
            send(epoch, 0, data)
            coordinator = epoch.roster.members[1].name
            simulation.at(simulation.now + 20.0, lambda: simulation.crash(int(coordinator[1:])))

    monkeypatch.setattr(Epoch, "_send", first_only)
    simulation.run(8_000.0)
    assert decided == [1]
    rest = {process for process in range(5) if simulation.life(process).alive}
    assert len(rest) == 3
    keeps_its_promises(simulation)
    all_agree_at_the_end(simulation, rest)


def test_a_decision_that_is_sent_on_late_wakes_the_member_for_it() -> None:
    """A member that has left has no heartbeats, with which it would wake anyway."""
    epoch = busy(3).life(0).machine.epoch
    assert epoch is not None
    epoch.over, epoch._relays, epoch._relay_at = True, {1: b"decision"}, 123.0
    assert epoch.next_deadline() == 123.0
