"""The scenarios of the report's section 5.2.3, run as they are told."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.ledger.scripted import follow
from antiphon.spec.lang import program
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.irbp.scenarios import MULTIPLE_CRASHES, PARTITION, SIMPLE_CRASH


def run(script: tuple[str, ...], **constants: Any) -> dict[str, Any]:
    """The variables after the run, by their names."""
    bound = program(IrbpChecked, repairs="all", detected_at_once=True, views=2, **constants)
    return dict(zip(bound.variables, follow(bound, script), strict=True))


def places(state: dict[str, Any]) -> list[list[int]]:
    """What each process has delivered, in its order."""
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
