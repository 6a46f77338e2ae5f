"""Questions may be asked in several threads at once, of different programs and of the same, with every
engine: each has the answer that it has alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

import antiphon
from antiphon.model.bounds import Bounds
from antiphon.model.limits import begun, under_limits
from antiphon.spec.lang.watch import watched_by, working


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Python changes from thread to thread as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def said(report: Any) -> list[tuple[str, str, int]]:
    """The verdicts of a report, with the lengths of their traces."""
    return [
        (verdict.property, verdict.outcome.value, len(verdict.trace or ())) for verdict in report.verdicts
    ]


def check(name: Any, engine: str, **bounds: Any) -> list[tuple[str, str, int]]:
    return said(antiphon.check(name, engine=engine, **bounds))  # type: ignore[arg-type]


SHARED = antiphon.program("rbp", processes=2, messages=1, repairs="all")

QUESTIONS: dict[str, Callable[[], Any]] = {
    "rbp": partial(check, "rbp", "generated", max_states=300),
    "rbp again": partial(check, "rbp", "generated", max_states=300),
    "sequencer": partial(check, "sequencer", "generated", max_states=300),
    "total": partial(check, "total", "generated", max_states=300),
    "by CPython": partial(check, SHARED, "reference", max_states=40),
    "the same by CPython": partial(check, SHARED, "reference", max_states=40),
    "the same": partial(check, SHARED, "generated", max_states=300),
    "in machine code": partial(check, "two-phase", "native"),
    "by Z3": partial(check, "die-hard", "z3", max_depth=7),
    "liveness": partial(check, "dining-philosophers", "generated"),
    "walks": lambda: said(antiphon.simulate(SHARED, walks=10, steps=20, seed=3)),
    "refinement": lambda: said(antiphon.refine("rbp", max_states=200)),
    "find": lambda: antiphon.find(SHARED, "False", max_states=300).outcome,
    "lockstep": lambda: antiphon.lockstep("rbp", max_transitions=500).outcome,
    "no time": lambda: antiphon.check(SHARED, max_seconds=0).outcome,
}


@pytest.mark.deep
def test_every_question_has_the_answer_that_it_has_alone() -> None:
    alone = {name: question() for name, question in QUESTIONS.items()}
    names = [*QUESTIONS, *reversed(QUESTIONS)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda name: QUESTIONS[name](), names))
    assert [(name, answer) for name, answer in zip(names, found, strict=True) if answer != alone[name]] == []


def test_whoever_watches_hears_of_the_work_of_his_own_thread_alone() -> None:
    heard: list[str] = []
    with watched_by(heard.append), ThreadPoolExecutor(1) as pool:
        pool.submit(working, "elsewhere", large=True).result()
        working("here", large=True)
        with under_limits(Bounds(seconds=1e6)) as limits:
            assert pool.submit(begun).result() > limits.began
    assert heard == ["here"]
