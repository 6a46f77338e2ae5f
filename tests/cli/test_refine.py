"""`antiphon refine` checks a protocol against its abstract machine and exits by the verdict."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]
SMALL = ("--processes", "2", "--messages", "1", "--losses", "1")


def test_a_repaired_figure_refines_the_machine(antiphon: Run) -> None:
    answer = antiphon("refine", "rbp", "--repair", "all", *SMALL, "--json")
    (report,) = answer.document.reports
    (verdict,) = report.verdicts
    assert answer.code == 0
    assert (verdict.property, verdict.kind, verdict.outcome, report.states) == (
        "Refinement",
        "refinement",
        "holds",
        1286,
    )
    assert report.notes[0].startswith("OrderingMachine: ")


def test_a_violation_is_told_with_its_guard_saved_and_found_again_by_its_command(
    antiphon: Run, tmp_path: Path
) -> None:
    file = tmp_path / "broken.itf.json"
    answer = antiphon(
        "refine", "rbp", "--repair", "all", "--without", "await_body", *SMALL, "--save", file, "--json"
    )
    (report,) = answer.document.reports
    assert answer.code == 1
    assert (
        report.verdicts[0].reason == "the protocol emits Deliver(p0, none), OrderingMachine Deliver(p0, m0)"
    )
    assert antiphon("replay", file).code == 1
    again = antiphon(*shlex.split(report.reproduce)[1:], "--json").document
    assert len(again.reports[0].verdicts[0].trace.steps) == len(report.verdicts[0].trace.steps) == 7
    told = antiphon("refine", "rbp", "--repair", "all", "--without", "await_body", *SMALL).out
    assert "✗ Refinement" in told
    assert told.splitlines()[-1] == "✗ violated  rbp"


def test_wrong_usage_exits_with_64(antiphon: Run) -> None:
    unknown, loose = antiphon("refine", "rpb"), antiphon("refine", "--processes", "2")
    assert (unknown.code, loose.code) == (64, 64)
    assert "did you mean 'rbp'?" in unknown.err
    assert "name the protocol" in loose.err
