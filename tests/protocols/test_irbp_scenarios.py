"""The scenarios of the report's section 5.2.3, run as they are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.ledger.scripted import follow
from antiphon.spec.lang import program
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.irbp.scenarios import MULTIPLE_CRASHES, PARTITION, SIMPLE_CRASH
from antiphon.spec.protocols.irbp.whole_view import WholeViewChecked


def run(script: tuple[str, ...], **constants: Any) -> dict[str, Any]:
    """The variables after the run, by their names."""
    bound = program(IrbpChecked, repairs="all", detected_at_once=True, views=2, **constants)
    return dict(zip(bound.variables, follow(bound, script), strict=True))


def places(state: dict[str, Any]) -> list[list[int]]:
    """Deliveries of each process, in its order."""
    return [[m.index for m in own if m is not None] for own in state["deliveries"]]


def test_after_a_simple_crash_the_others_deliver_what_one_of_them_had_and_go_on() -> None:
    state = run(SIMPLE_CRASH, processes=3, messages=2, highest=4, crashes=1, false_suspicions=0)
    assert places(state) == [[], [0, 1], [0, 1]]
    assert state["delivered_in"][2][:2] == (1, 2)
    assert state["version"] == (1, 2, 2)


def test_after_multiple_crashes_numbers_that_nobody_can_have_delivered_are_given_again() -> None:
    state = run(MULTIPLE_CRASHES, processes=5, messages=3, highest=4, crashes=2, false_suspicions=0)
    assert state["version"][2:] == (2, 2, 2)
    assert {(item.message.index, item.number) for item in state["numbered"][2]} == {(2, 1)}
    assert places(state) == [[]] * 5


def test_after_a_temporary_partition_the_process_that_was_cut_off_kills_itself() -> None:
    state = run(PARTITION, processes=3, messages=1, highest=3, crashes=0, false_suspicions=2)
    assert state["left"] == (False, False, True)
    assert [len(members) for members in state["listed"]] == [3, 2]


HURRIED = (
    "suspect(p0, p1)",
    "call(p0, p1)",
    "report(p0)",
    "report(p1)",
    "report(p2)",
    "propose(p0, {p0, p2})",
    "propose(p1, {p0, p1, p2})",
    "decide(p1)",
    "adopt(p0)",
    "install(p0)",
)
"""P0 has installed the next list while p2 still waits for the reports."""


def test_the_report_of_a_process_that_has_gone_on_is_still_read() -> None:
    after = (*HURRIED, "propose(p2, {p0, p1, p2})", "adopt(p2)", "install(p2)")
    state = run(after, processes=3, messages=1, highest=3, crashes=0, false_suspicions=1)
    assert state["version"] == (2, 1, 2)


def test_who_still_waits_for_reports_adopts_no_decision() -> None:
    with pytest.raises(LookupError, match=r"adopt\(p2\), is not enabled"):
        run((*HURRIED, "adopt(p2)"), processes=3, messages=1, highest=3, crashes=0, false_suspicions=1)


def test_nothing_is_decided_before_a_majority_has_proposed() -> None:
    with pytest.raises(LookupError, match=r"decide\(p0\), is not enabled"):
        run((*HURRIED[:6], "decide(p0)"), processes=3, messages=1, highest=3, crashes=0, false_suspicions=1)


def test_a_run_that_the_repairs_exclude_is_refused() -> None:
    with pytest.raises(LookupError, match=r"receive_late\(p2, m0\), is not enabled"):
        run((*SIMPLE_CRASH[:7], "receive_late(p2, m0)"), processes=3, messages=2, highest=4, crashes=1)


def among_all(
    script: tuple[str, ...], *without: str, highest: int = 3, room: int = 3, **constants: Any
) -> dict[str, Any]:
    """End of a run like those of `run`, with both kinds of views, where all members of the view decide."""
    bound = program(
        WholeViewChecked, repairs="all", without=without, detected_at_once=True, assigned=True, prompt=True,
        views=3, messages=1, highest=highest, misjudgements=0, room=room, **constants,
    )  # fmt: skip
    return dict(zip(bound.variables, follow(bound, script), strict=True))


THREE: dict[str, Any] = {"processes": 3, "crashes": 1, "false_suspicions": 1}
ONE_OUTSIDE = (
    "suspect(p0, p2)",
    "call(p0, p2)",
    *(f"report(p{process})" for process in range(3)),
    "propose(p0, {p0, p1})",
    "propose(p1, {p0, p1, p2})",
    "decide(p0)",
    "propose(p2, {p0, p1, p2})",
    *(f"{step}(p{process})" for process in range(3) for step in ("adopt", "install")),
    "crash(p1)",
    "call(p0, p1)",
    "report(p0)",
    "report(p2)",
)
"""P2, suspected wrongly, is external, and one of the core of two fails."""

FIVE: dict[str, Any] = {"processes": 5, "crashes": 2, "false_suspicions": 2}
TWO_OUTSIDE = (
    "suspect(p0, p3)",
    "suspect(p0, p4)",
    "call(p0, p3)",
    *(f"report(p{process})" for process in range(5)),
    "propose(p0, {p0, p1, p2})",
    *(f"propose(p{process}, {{p0, p1, p2, p3, p4}})" for process in (1, 2)),
    "decide(p0)",
    *(f"propose(p{process}, {{p0, p1, p2, p3, p4}})" for process in (3, 4)),
    *(f"{step}(p{process})" for process in range(5) for step in ("adopt", "install")),
    "crash(p0)",
    "crash(p1)",
    "call(p2, p0)",
    *(f"report(p{process})" for process in (2, 3, 4)),
)
"""P3 and p4, suspected wrongly, are external, and two of the core of three fail."""


def test_an_external_process_votes_and_its_proposal_can_be_the_decision() -> None:
    rest = ("propose(p0, {p0, p2})", "propose(p2, {p0, p2})", "decide(p2)")
    ends = (f"{step}(p{process})" for process in (0, 2) for step in ("adopt", "install"))
    state = among_all((*ONE_OUTSIDE, *rest, *ends), **THREE)
    assert (state["version"][0], state["version"][2]) == (3, 3)
    assert {p.index for p in state["listed"][2]} == {0, 2}


def test_where_the_core_alone_decides_its_last_member_waits_for_ever() -> None:
    stuck = (*ONE_OUTSIDE, "propose(p0, {p0})", "decide(p0)")
    with pytest.raises(LookupError, match=r"propose\(p0, \{p0\}\), is not enabled"):
        among_all(stuck, "count_externals", **THREE)


@pytest.mark.parametrize("proposer", [2, 3])
def test_of_five_two_that_fail_and_two_that_are_suspected_wrongly_leave_a_group(proposer: int) -> None:
    rest = (*(f"propose(p{process}, {{p2, p3, p4}})" for process in (2, 3, 4)), f"decide(p{proposer})")
    ends = (f"{step}(p{process})" for process in (2, 3, 4) for step in ("adopt", "install"))
    state = among_all((*TWO_OUTSIDE, *rest, *ends), **FIVE)
    assert state["version"][2:] == (3, 3, 3)
    assert {p.index for p in state["listed"][2]} == {2, 3, 4}


def test_a_minority_of_the_view_proposes_nothing() -> None:
    with pytest.raises(LookupError, match=r"propose\(p2, \{p2, p3\}\), is not enabled"):
        among_all((*TWO_OUTSIDE, "propose(p2, {p2, p3})"), **FIVE)


def test_without_a_majority_of_the_view_nothing_is_decided() -> None:
    two = tuple(f"propose(p{process}, {{p2, p3, p4}})" for process in (2, 3))
    with pytest.raises(LookupError, match=r"decide\(p3\), is not enabled"):
        among_all((*TWO_OUTSIDE, *two, "decide(p3)"), **FIVE)


def golden(name: str) -> tuple[str, ...]:
    """The steps of the run that is kept for a claim."""
    text = (Path(__file__).parent / "golden" / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line[2:].strip() for line in text.splitlines()[3:] if line[:2].strip().isdigit())


@pytest.mark.parametrize(("without", "numbers"), [((), set()), (("report_stable",), {4})])
def test_an_external_proposer_numbers_nothing_again(without: tuple[str, ...], numbers: set[int]) -> None:
    """P0 has m0 without its number, with which the core has delivered it and keeps it no more."""
    steps = golden("IRB-36")
    until = steps.index("propose_regular(p0, {p0, p1})") + 1
    state = among_all(steps[:until], *without, highest=5, room=0, spare=2, **THREE)
    proposed = state["regular_proposal"][0]
    assert {p.index for p in proposed.members} == {1}
    assert {item.number for item in proposed.messages if item.message is not None} == numbers


BEHIND = (
    "suspect(p0, p1)",
    "call(p0, p1)",
    *(f"report(p{process})" for process in range(3)),
    "propose(p0, {p0, p2})",
    *(f"propose(p{process}, {{p0, p1, p2}})" for process in (1, 2)),
    "decide(p0)",
    *(f"adopt(p{process})" for process in range(3)),
    "install(p0)",
    "broadcast(p0, m0)",
    "sequence(p0)",
    "crash(p0)",
    "install(p1)",
    "call(p1, p0)",
    "report(p1)",
    "install(p2)",
    "receive_late(p2, m0)",
    "hear_late(p2, Ack(2, p0, m0, 1))",
    "pass_null(p2)",
    "settle(p2, Sequenced(m0, 1))",
    "deliver(p2, Sequenced(m0, 1))",
    "report(p2)",
)
"""P2 alone has delivered m0, and p1, external, lacks it: no two of three lack nothing."""


def test_who_lacks_what_is_kept_gets_it_with_the_decision_and_is_needed_for_it() -> None:
    rest = ("propose(p1, {p1, p2})", "propose(p2, {p1, p2})", "decide(p1)", "adopt(p1)")
    delivers = ("deliver(p1, Sequenced(m0, 1))", "deliver(p1, Sequenced(none, 2))", "install(p1)")
    state = among_all((*BEHIND, *rest, *delivers), spare=2, **THREE)
    assert places(state) == [[], [0], [0]]
    assert {p.index for p in state["listed"][2]} == {1, 2}
    for process in (1, 2):
        with pytest.raises(LookupError, match=r"is not enabled"):
            among_all((*BEHIND, f"propose(p{process}, {{p1, p2}})"), "report_kept", spare=2, **THREE)
