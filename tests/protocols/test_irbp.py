"""iRBP: figure 25 is its normal phase, what that needs of figure 25, and the chapter on what is repaired."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.ledger import Reports
from antiphon.model.engines import transitions_of
from antiphon.model.engines.interface import Transitions
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.explore.search import Search
from antiphon.model.refinement import PROPERTY
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.claims import Check, claim_of
from antiphon.spec.claims.irbp import LIVENESS, SAFETY
from antiphon.spec.lang import Spec, program
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.irbp.refinement import Figure25Normal
from antiphon.spec.protocols.irbp.two_views_checked import TwoViewsChecked
from antiphon.spec.protocols.irbp.whole_view import WholeViewChecked
from antiphon.spec.refinement import refinement_stated_by

reports = Reports.private()
"""Cache of reports: explorations by this same code are reused."""

PAIR: dict[str, Any] = {
    "processes": 2, "messages": 2, "losses": 1, "crashes": 1, "passes": 2, "highest": 5, "numbers": 5,
    "unlimited": True, "urgent": True, "assigned": True, "patient": True,
}  # fmt: skip
RING: dict[str, Any] = PAIR | {
    "processes": 3, "messages": 1, "losses": 0, "crashes": 0, "passes": 3,
}  # fmt: skip


PAGE = (Path(__file__).parents[2] / "docs" / "irbp-repaired.md").read_text(encoding="utf-8")


def repairs_of(spec: type[Spec]) -> dict[str, str]:
    """The claim that each repair answers."""
    return {item.name: item.repair.answers for item in program(spec).declaration.constants if item.repair}


ANSWERS = repairs_of(IrbpChecked)
ANSWERS_OF_BOTH = {name: claim for name, claim in repairs_of(TwoViewsChecked).items() if name not in ANSWERS}
ANSWERS_OF_ALL = {
    name: claim
    for name, claim in repairs_of(WholeViewChecked).items()
    if name not in ANSWERS | ANSWERS_OF_BOTH
}


def set_by(block: str, variable: str) -> dict[str, int | bool | str]:
    """The constants that a variable of the shell sets on the command line."""
    words = " ".join(re.findall(rf'{variable}="(?:\${variable} )?(.*)"', block))
    pairs = re.findall(r"--set (\w+)=(\w+)|--(processes|messages) (\d+)", words)
    found = {first or third: second or fourth for first, second, third, fourth in pairs}
    truth = {"true": True, "false": False}
    return {
        name: truth[value] if value in truth else int(value) if value.isdigit() else value
        for name, value in found.items()
    }


def refine(*without: str, **constants: Any) -> Report:
    """Figure 25 with all repairs but these, seen as the normal phase."""
    refinement = refinement_stated_by(Figure25Normal)
    assert refinement is not None
    bound = program(Figure25Normal, repairs="all", without=without, **constants)
    return reports.check_refinement(bound, refinement)


@pytest.mark.deep
def test_figure_25_with_its_repairs_is_the_normal_phase() -> None:
    report = refine(**PAIR)
    assert report[PROPERTY].outcome is Outcome.HOLDS
    assert report.exploration.complete
    steps = ("broadcast", "receive", "hear", "pass_null", "sequence", "settle", "deliver", "crash")
    assert all(f"{action} " in report.notes[0] for action in steps)


@pytest.mark.deep
@pytest.mark.parametrize(
    ("without", "constants", "length", "guard"),
    [
        pytest.param("await_all_bodies", RING, 27, "self.holds_token(p)", marks=pytest.mark.deep),
        ("leave_after_reformation", PAIR | {"suspicions": 1}, 12, "self.holds_token(p)"),
    ],
)
def test_without_a_repair_figure_25_is_no_such_phase(
    without: str, constants: dict[str, Any], length: int, guard: str
) -> None:
    verdict = refine(without, **constants)[PROPERTY]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert (len(verdict.trace), guard in verdict.reason) == (length, True)


@cache
def graph() -> tuple[Transitions, dict[int, dict[int, int]]]:
    """All states of two processes with one message and both faults, and what each step leads to there."""
    bound = program(
        IrbpChecked, repairs="all", processes=2, messages=1, highest=4, views=2, crashes=1,
        false_suspicions=1, detected_at_once=True, assigned=True,
    )  # fmt: skip
    transitions = transitions_of(bound)
    space = TransitionSpace(transitions)
    Search(space, exhaustive=True, extra={}).run()
    return transitions, {state: dict(transitions.successors(state)) for state in space.packed}


@pytest.mark.deep
def test_every_run_ends_so_that_what_is_owed_at_no_end_is_owed_on_no_fair_run() -> None:
    _, after = graph()
    ends = [state for state, enabled in after.items() if not enabled]
    before: dict[int, list[int]] = defaultdict(list)
    open_steps = {state: len(enabled) for state, enabled in after.items()}
    for state, enabled in after.items():
        for reached in enabled.values():
            before[reached].append(state)
    ended = 0
    while ends:
        ended += 1
        for state in before[ends.pop()]:
            open_steps[state] -= 1
            if not open_steps[state]:
                ends.append(state)
    assert ended == len(after)


@pytest.mark.deep
def test_a_delivery_commutes_with_every_other_step_but_a_crash_of_its_process() -> None:
    """The reduction `delivering` therefore hides no violation of safety: it settles only the order of two
    such steps.
    """
    transitions, after = graph()
    met: Counter[str] = Counter()
    for state, enabled in after.items():
        for number in enabled:
            delivery = transitions.step(number)
            if delivery.action != "deliver":
                continue
            for other, reached in enabled.items():
                step = transitions.step(other)
                if other != number and (step.action, step.arguments[:1]) != ("crash", delivery.arguments[:1]):
                    assert after[reached][number] == after[enabled[number]][other], (state, step, delivery)
                    met[step.action] += 1
    assert set(met) >= {"hear", "settle", "adopt", "report", "propose", "decide", "crash"}


def outcomes(*without: str, urgent: bool) -> tuple[int, dict[str, Outcome]]:
    """Number of states, and outcomes of two processes with one message and a false suspicion."""
    bound = program(
        IrbpChecked, repairs="all", without=without, processes=2, messages=1, highest=4, views=2, crashes=0,
        false_suspicions=1, detected_at_once=True, assigned=True, urgent=urgent,
    )  # fmt: skip
    report = reports.check(bound, properties=(*SAFETY, *LIVENESS))
    return report.exploration.states, {verdict.property: verdict.outcome for verdict in report.verdicts}


@pytest.mark.deep
def test_urgent_runs_give_the_verdicts_of_all_runs() -> None:
    every, some = outcomes(urgent=False), outcomes(urgent=True)
    assert (every[0], some[0]) == (20_627, 461)
    assert set(every[1].values()) == {Outcome.HOLDS}
    assert every[1] == some[1]


@pytest.mark.deep
def test_urgent_runs_hide_what_depends_on_when_a_process_delivers() -> None:
    """`urgent` is a restriction: who delivers at once delivers before it installs the next list."""
    every, some = (outcomes("deliver_first", urgent=urgent)[1] for urgent in (False, True))
    assert {name for name, outcome in every.items() if outcome is not some[name]} == {
        "OldBuffersEmpty", "SameViewDelivery", "SendingViewDelivery", "ViewSynchrony",
    }  # fmt: skip
    assert set(some.values()) == {Outcome.HOLDS}


def test_the_chapter_for_implementers_names_every_repair_and_claims_that_exist() -> None:
    changes = {
        row.split("|")[2].strip(" `"): row.split("|")[4].strip()
        for row in PAGE.splitlines()
        if "| IRB-" in row
    }
    assert changes == ANSWERS | ANSWERS_OF_BOTH | ANSWERS_OF_ALL
    for name in ANSWERS:
        assert f"\n| `{name}` |" in PAGE, f"{name} left out"
    for claim in re.findall(r"IRB-\d\d", PAGE):
        assert claim_of(claim).id == claim


@pytest.mark.parametrize(
    ("block", "answers"),
    [("two=", ANSWERS), ("views=", ANSWERS_OF_BOTH), ("stands=", ANSWERS_OF_ALL)],
)
def test_each_row_of_the_chapter_has_the_command_of_a_check_of_its_claim(
    block: str, answers: dict[str, str]
) -> None:
    """The command's result is that of the ledger's record, and `antiphon claims` finds it again."""
    text = next(part for part in PAGE.split("```") if f"\n{block}" in part)
    said: set[str] = set()
    for line in text.splitlines():
        if line.startswith("antiphon check irbp"):
            command, _, length = line.partition("#")
            without, property = command.split()[5], command.split()[7]
            said.add(without)
            assert any(
                isinstance(check, Check)
                and (check.without, check.property, check.length)
                == ((without,), property, int(length.split()[0]))
                and dict(check.constants) == set_by(text, command.split()[3].strip("$"))
                for check in claim_of(answers[without]).checks
            ), line
    assert said == answers.keys()
