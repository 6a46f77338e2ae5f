"""Ten mistakes, written down before detection was tried, are each caught with a shortest trace;
docs/lockstep.md holds the table.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.lockstep import LOCKSTEP, Comparison, LockstepReport, lockstep
from antiphon.model.verdict import Outcome

PAGE = Path(__file__).resolve().parents[3] / "docs" / "lockstep.md"

TWO: dict[str, Any] = {"processes": 2, "messages": 1}
THREE: dict[str, Any] = {"processes": 3, "messages": 1, "urgent": True}

CAUGHT: dict[str, tuple[dict[str, Any], int, str]] = {
    "accepts-early": (TWO, 5, "steps that only one side would take"),
    "accepts-old-tokens": (TWO, 6, "variable arriving"),
    "answers-one-less": (THREE, 9, "variable network"),
    "delivers-without-body": (TWO, 6, "steps that only one side would take"),
    "drops-late-bodies": (TWO, 6, "variable received"),
    "forgets-resent-data": (TWO, 3, "variable network"),
    "keeps-token": (TWO, 4, "variable holding"),
    "numbers-from-highest": (TWO, 4, "variable network"),
    "renames-resent-data": (TWO, 2, "variable network"),
    "stops-at-any-number": (TWO, 10, "variable passed"),
}
"""Step of the shortest run at which each fault shows, and the difference that it makes."""


def walked(fault: str, **changes: Any) -> LockstepReport:
    return lockstep(binding_of("rbp", fault=fault, **{**CAUGHT[fault][0], **changes}))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    constants, length, what = CAUGHT[fault]
    report = walked(fault)
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == (length, what)
    assert report.difference.trace.shows == LOCKSTEP
    steps, start = report.difference.trace.steps, report.difference.trace.start
    faulty, sound = (Comparison(binding_of("rbp", fault=name, **constants)) for name in (fault, None))
    again = faulty.run(start, steps)
    assert again is not None
    assert again.what == what
    assert faulty.run(start, steps[:-1]) is None
    assert sound.run(start, steps) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("fault", ["accepts-early", "forgets-resent-data", "keeps-token"])
def test_no_shorter_trace_exists_for_the_reference_either(fault: str) -> None:
    binding = binding_of("rbp", fault=fault, **TWO)
    report = lockstep(binding, binding.program.reference)
    assert report.difference is not None
    assert len(report.difference.trace) == CAUGHT[fault][1]


def test_an_answer_that_is_one_less_needs_three_processes() -> None:
    """Two processes never ask for numbers: each number goes to the one process that must have it before the
    next is given.
    """
    assert walked("answers-one-less", **TWO).outcome is Outcome.HOLDS


def test_a_difference_says_what_each_side_has() -> None:
    report = walked("numbers-from-highest")
    text = str(report.difference)
    assert "after 4 steps, at sequence(p1): variable network" in text
    assert "specification:  alone has {Ack(p0, (p1, 1), 2, p0)}" in text
    assert "implementation: alone has {Ack(p0, (p1, 1), 3, p0)}" in text


def test_the_page_tells_what_is_found() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Ten mistakes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert {name: (int(length), what) for name, length, what in rows} == {
        name: entry[1:] for name, entry in CAUGHT.items()
    }
