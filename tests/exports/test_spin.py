"""SPIN's report is read as it is meant, a comparison finds every difference, and a missing tool is named.
SPIN itself is not needed here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from antiphon.conformance.exports import (
    Model,
    ToolMissing,
    compare,
    find_tools,
    run_spin,
    seen_members,
    small_models,
)
from antiphon.conformance.exports.spin import SpinFailure, read_report
from antiphon.model.export import members_of, promela
from antiphon.model.ground import flatten
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

REPORT = """
pan:1: assertion violated ({number}==0) (at depth 8)
pan: wrote model.pml.trail

(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
\tnever claim         \t- (none specified)
\tassertion violations\t+
\tcycle checks       \t- (disabled by -DSAFETY)
\tinvalid end states\t- (disabled by -E flag)

State-vector 12 byte, depth reached 15, errors: 2
{states:>9} states, stored
       83 states, matched
{transitions:>9} transitions (= stored+matched)
        0 atomic steps
hash conflicts:         0 (resolved)
{further}
pan: elapsed time 0.01 seconds
"""


def report(states: int, transitions: int, number: int = 0, further: str = "") -> str:
    """Report of the verifier; number 0 leaves the violation out."""
    text = REPORT.format(states=states, transitions=transitions, number=number, further=further)
    return (
        text
        if number
        else "\n".join(line for line in text.splitlines() if "pan:1" not in line and "wrote" not in line)
    )


def test_the_report_is_read_without_what_spin_counts_for_itself() -> None:
    one = read_report(report(16, 97), promela(program(DieHard)), 1)
    assert (one.states, one.transitions, one.broken, one.complete, one.vector_bytes) == (
        16,
        96,
        frozenset(),
        True,
        12,
    )
    many = read_report(report(138, 228), promela(program(ChangRoberts)), 8)
    assert (many.states, many.transitions) == (137, 219)


def test_a_violated_assertion_is_the_property_of_its_number() -> None:
    model = promela(program(DieHard))
    number = next(number for number, name in model.properties.items() if name == "NotSolved")
    assert read_report(report(16, 99, number), model, 1).broken == {"NotSolved"}


@pytest.mark.parametrize(
    "further", ["error: max search depth too small", "pan: out of memory", "Warning: Search not completed"]
)
def test_a_search_that_was_cut_short_is_not_complete(further: str) -> None:
    assert not read_report(report(16, 97, further=further), promela(program(DieHard)), 1).complete


def test_what_is_no_report_is_a_failure() -> None:
    with pytest.raises(SpinFailure, match="SPIN's report has no"):
        read_report("Segmentation fault", promela(program(DieHard)), 1)


COMPILER = """#!{python} -S
import pathlib
pan = pathlib.Path("pan")
pan.write_text("#!{python} -S\\nprint(open({report!r}).read())")
pan.chmod(0o755)
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that is the whole path, with a `spin` and a `gcc`; this `gcc` makes a verifier that prints
    `report.txt`.
    """
    (tmp_path / "spin").write_text("#!/bin/sh\ntest -f model.pml && : > pan.c\n")
    (tmp_path / "gcc").write_text(COMPILER.format(python=sys.executable, report=str(tmp_path / "report.txt")))
    for name in ("spin", "gcc"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("said", "outcome", "difference"),
    [
        (report(288, 1_146), Outcome.HOLDS, ""),
        (report(287, 1_146), Outcome.VIOLATED, "288 states, SPIN 287"),
        (report(288, 1_140), Outcome.VIOLATED, "1,145 transitions, SPIN 1,139"),
        (report(288, 1_147, 1), Outcome.VIOLATED, "consistent is broken in SPIN only"),
        (
            report(288, 1_146, further="error: max search depth too small"),
            Outcome.UNKNOWN,
            "SPIN did not finish",
        ),
    ],
)
def test_every_difference_is_found(tools: Path, said: str, outcome: Outcome, difference: str) -> None:
    (tools / "report.txt").write_text(said)
    found = compare(Model("two-phase", program(TwoPhase)))
    assert (found.outcome, found.difference) == (outcome, difference)


def test_a_broken_property_that_spin_does_not_see_is_a_difference(tools: Path) -> None:
    (tools / "report.txt").write_text(report(16, 97))
    assert compare(Model("die-hard", program(DieHard))).difference == "NotSolved is broken here only"


def test_a_model_that_is_too_large_is_not_compared(tools: Path) -> None:
    found = compare(Model("two-phase", program(TwoPhase)), most_states=100)
    assert (found.outcome, found.spin, found.difference) == (Outcome.UNKNOWN, None, "more than 100 states")


def test_a_tool_that_fails_is_a_failure_with_what_it_said(tools: Path) -> None:
    (tools / "spin").write_text("#!/bin/sh\necho 'spin: model.pml:7, Error: syntax error'\nexit 1\n")
    with pytest.raises(SpinFailure, match=r"spin failed with 1:\nspin: model.pml:7, Error: syntax error"):
        run_spin(promela(program(DieHard)), 1)


@pytest.mark.parametrize(
    ("present", "missing"), [((), "spin and gcc"), (("gcc",), "spin"), (("spin",), "gcc")]
)
def test_a_missing_tool_is_named_with_what_to_install(
    tools: Path, present: tuple[str, ...], missing: str
) -> None:
    for name in {"spin", "gcc"} - set(present):
        (tools / name).unlink()
    with pytest.raises(
        ToolMissing,
        match=f"^{missing} not found; install SPIN 6.5 and a C compiler \\(on Debian: apt install spin "
        "gcc\\)$",
    ):
        find_tools()


def test_specifications_with_repairs_are_compared_without_and_with_them() -> None:
    models = list(small_models([("figure-2", Figure2Checked), ("die-hard", DieHard)]))
    assert [(model.name, model.constants) for model in models] == [
        ("figure-2", "processes=2, messages=1, losses=1; no repairs: the literal text"),
        ("figure-2", "processes=2, messages=1, losses=1; all 3 repairs"),
        ("figure-2", "processes=3, messages=1, losses=1; no repairs: the literal text"),
        ("figure-2", "processes=3, messages=1, losses=1; all 3 repairs"),
        ("die-hard", "big_jug=5, small_jug=3, goal=4"),
    ]


def test_the_elements_that_are_seen_are_those_of_all_reachable_states() -> None:
    bound = program(Figure2Checked, repairs="all", processes=3, messages=1)
    states = list(bound.reference.initial())
    known = set(states)
    for state in states:
        fresh = {transition.state for transition in bound.reference.successors(state)} - known
        known |= fresh
        states.extend(fresh)
    assert seen_members(bound, 1_000) == (
        members_of(bound, [flatten(bound, state) for state in states]),
        len(states),
    )
    assert seen_members(bound, len(states) - 1) is None


def test_a_failure_is_shown_in_the_words_of_spin() -> None:
    said = "spin: model.pml:5, Error: syntax error saw 'keyword: timeout'"
    failed = SpinFailure(f"spin failed with 1:\n\n{said}\nchild exited\n")
    assert failed.shown() == f"spin failed with 1: {said}"
