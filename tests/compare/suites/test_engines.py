"""Every engine passes the suite, and the suite catches engines that break its rules."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest

from antiphon.conformance.compare.suites import check_engine, check_transitions
from antiphon.model.bounds import Bounds
from antiphon.model.engines import Engine, Transitions, transitions_by
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore import check
from antiphon.model.symbolic import check_bounded
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.rbp.properties import RbpChecked

FEW = (program(TwoPhase, managers=2), program(DieHard))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", ["generated", "native", "auto"])
def test_every_explicit_engine_answers_as_the_reference_does(engine: str) -> None:
    check_engine(engine)


def test_z3_answers_as_the_reference_does() -> None:
    def asked(bound: Program, bounds: Bounds) -> Report:
        return check_bounded(bound, depth=bounds.depth or 0)

    check_engine(asked, programs=FEW, bounds=Bounds(depth=6), exhaustive=False)


@pytest.mark.deep
def test_generated_python_takes_the_steps_of_the_reference() -> None:
    check_transitions(lambda bound: transitions_by(bound, Engine.GENERATED))


def test_the_reference_differs_from_nothing() -> None:
    check_engine("reference", programs=FEW)
    check_transitions(lambda bound: transitions_by(bound, Engine.REFERENCE), programs=FEW)


def changed(change: Callable[[Report], Report]) -> Callable[[Program, Bounds], Report]:
    """The reference, with something wrong in its reports."""
    return lambda bound, bounds: change(check(bound, bounds=bounds, engine="reference"))


def _verdicts(report: Report, **values: Any) -> Report:
    return dataclasses.replace(
        report, verdicts=tuple(dataclasses.replace(item, **values) for item in report.verdicts)
    )


def _longer(report: Report) -> Report:
    """Each trace goes on until it can go no shorter way: the first step, whatever it is, is taken twice as
    far as needed.
    """
    made = []
    for verdict in report.verdicts:
        trace = verdict.trace
        if trace is not None:
            back = next(report.program.reference.successors(trace.states[-1]))
            trace = dataclasses.replace(trace, transitions=(*trace.transitions, back))
        made.append(dataclasses.replace(verdict, trace=trace))
    return dataclasses.replace(report, verdicts=tuple(made))


def _less(report: Report) -> Report:
    return dataclasses.replace(
        report, exploration=dataclasses.replace(report.exploration, states=report.exploration.states - 1)
    )


WRONG = {
    "everything holds": (
        lambda report: _verdicts(report, outcome=Outcome.HOLDS),
        "is holds, the reference says violated",
    ),
    "nothing is decided": (
        lambda report: _verdicts(report, outcome=Outcome.UNKNOWN),
        "is unknown, the reference says",
    ),
    "no traces": (lambda report: _verdicts(report, trace=None), "is shown in None steps"),
    "traces that are too long": (_longer, "steps, by the reference in"),
    "a state is missed": (_less, "states: "),
    "no verdicts": (lambda report: dataclasses.replace(report, verdicts=()), "no verdict about"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_engine_that_answers_otherwise_is_caught(name: str) -> None:
    change, words = WRONG[name]
    with pytest.raises(AssertionError, match=re.escape(words)):
        check_engine(changed(change), programs=FEW)


class Forgetful(PythonTransitions):
    def successors(self, packed: int) -> list[tuple[int, int]]:
        return super().successors(packed)[:-1]


class Stuck(PythonTransitions):
    def successors(self, packed: int) -> list[tuple[int, int]]:
        return [(number, packed) for number, _ in super().successors(packed)]


class Agreeable(PythonTransitions):
    def predicate(self, name: str) -> Callable[[int], bool]:
        return lambda packed: True


class Mute(PythonTransitions):
    def events(self, packed: int, number: int) -> tuple[Any, ...]:
        return ()


class Lenient(PythonTransitions):
    def broken(self, packed: int) -> list[tuple[int, tuple[str, ...]]]:
        return []


SERVICE = program(RbpChecked, processes=2, messages=1)
"""Events, and a property of steps that is broken."""


@pytest.mark.sampled(5)
@pytest.mark.parametrize("engine", [Forgetful, Stuck, Agreeable, Mute, Lenient])
def test_an_engine_that_steps_otherwise_is_caught(engine: type[Transitions]) -> None:
    with pytest.raises(AssertionError, match="by the reference"):
        check_transitions(engine, programs=(*FEW, SERVICE))
