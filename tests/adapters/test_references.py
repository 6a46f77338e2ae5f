"""The reference adapters: they are right, all do the same, and each planted fault is found."""

import shutil
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from tests.adapters.references import FAULTS, FOUND, HOME, JSON, SOURCES, SPEC

import antiphon
from antiphon.conformance.adapters.cases import check_adapter, outcome_of
from antiphon.conformance.run.foreign import KINDS, ForeignReport, Settings, run_foreign
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.model.verdict import Outcome
from antiphon.testing import adapter as bound

Adapter = Callable[..., list[str]]

QUICK = ("c",)
"""The language whose programs start soonest; the others are asked all questions by `make check-deep`."""

SLOW_IN_DEEP = [
    pytest.param(language, marks=() if language in QUICK else pytest.mark.deep) for language in FOUND
]
FASTEST = [
    pytest.param(language, marks=() if language in ("c", "python") else pytest.mark.deep)
    for language in FOUND
]
FAULTY = [
    pytest.param(language, fault, marks=() if language in QUICK else pytest.mark.deep)
    for language in FOUND
    for fault in FAULTS
    if language in FAULTS[fault].texts
]
LINES = {"python": 116, "c": 123, "java": 123, "go": 121}
DURABLE = Path(__file__).with_name("durable_spec.py")


def ran(command: list[str], *kinds: FaultKind, runs: int = 1) -> ForeignReport:
    settings = Settings(promise=("total-order",), only=kinds)
    return run_foreign(command, runs=runs, seed=3, settings=settings, shrink_seconds=0)


def walked(command: list[str], spec: str = str(SPEC), **constants: int) -> Outcome:
    """The outcome of lockstep; the program itself guards its broadcasts and timers."""
    binding = bound(spec, command, nodes="Node", guarded=["broadcast", "tick"], **constants)
    return antiphon.lockstep(binding, sample=5).outcome


@pytest.mark.parametrize("language", SOURCES)
def test_every_fault_can_be_planted_in_every_language(language: str) -> None:
    text = (HOME / SOURCES[language]).read_text(encoding="utf-8")
    planted = [text.count(its.texts[language][0]) for its in FAULTS.values() if language in its.texts]
    assert planted == [1] * (7 if language == "python" else 6)


@pytest.mark.parametrize("language", SOURCES)
def test_a_reference_adapter_has_about_a_hundred_lines(language: str) -> None:
    """Its JSON stands beside it where the language has none; docs/decisions/0049 has the numbers."""
    assert (HOME / SOURCES[language]).read_text(encoding="utf-8").count("\n") == LINES[language]


def test_python_and_c_are_on_every_machine_that_tests() -> None:
    assert {"python", "c"} <= set(FOUND)


@pytest.mark.parametrize("language", SLOW_IN_DEEP)
def test_a_reference_adapter_answers_rightly(language: str, adapter: Adapter) -> None:
    results = check_adapter(adapter(language))
    assert outcome_of(results) is Outcome.HOLDS
    assert sum(result.outcome is Outcome.HOLDS for result in results) == 16


@pytest.mark.parametrize("language", FASTEST)
def test_a_reference_adapter_does_what_its_specification_does(language: str, adapter: Adapter) -> None:
    """The page walks a larger model with the adapter in C."""
    assert walked(adapter(language), messages=1) is Outcome.HOLDS


@pytest.mark.sampled(4)
@pytest.mark.parametrize("language", FOUND)
def test_all_reference_adapters_do_the_same_under_the_same_faults(language: str, adapter: Adapter) -> None:
    """A run in virtual time is a function of its seed, in whatever language the program is."""
    apart = (FaultKind.PAUSE, FaultKind.CRASH, FaultKind.LEAVE)
    kinds = tuple(kind for kind in KINDS if kind not in apart)
    settings = Settings(promise=("total-order",), nodes=2, only=kinds)
    report, other = (run_foreign(adapter(each), seed=3, settings=settings) for each in (language, "c"))
    assert report.outcome is Outcome.HOLDS
    assert set(report.happened) == set(kinds)
    for run, same in zip(report.runs, other.runs, strict=True):
        assert run.deterministic
        assert [log.splitlines()[1:] for log in run.logs] == [log.splitlines()[1:] for log in same.logs]


def is_found_by(question: str, command: list[str], fault: str, asked: Collection[str] = ()) -> bool:
    """Return True if a question finds the fault; `asked` are the cases of `check`, by default all."""
    match question:
        case "lockstep":
            spec = f"{DURABLE}:Durable" if "restart" in fault else str(SPEC)
            return walked(command, spec) is Outcome.VIOLATED
        case "check":
            return outcome_of(check_adapter(command, only=asked)) is Outcome.VIOLATED
    kinds = [FaultKind.CRASH] if "restart" in fault else [FaultKind.LOSS, FaultKind.REORDERING]
    return ran(command, *kinds, runs=3).outcome is Outcome.VIOLATED


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("language", "fault"), FAULTY)
def test_a_planted_fault_is_found(language: str, fault: str, adapter: Adapter) -> None:
    found_by = FAULTS[fault].found_by
    for question in sorted(found_by):
        assert is_found_by(question, adapter(language, fault), fault, ["deliveries", "duplicates"]), question


@pytest.mark.deep
@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_question_cannot_find_stands_beside_the_fault(fault: str, adapter: Adapter) -> None:
    """Example: a network that keeps every message needs nothing sent again, so that lockstep misses that."""
    language = "c" if "c" in FAULTS[fault].texts else "python"
    questions = {"check", "lockstep", "run"} - FAULTS[fault].found_by
    assert not [question for question in questions if is_found_by(question, adapter(language, fault), fault)]


def test_the_sources_are_those_of_the_page() -> None:
    text = (HOME.parent / "adapters.md").read_text(encoding="utf-8")
    for source in (*SOURCES.values(), *JSON.values(), SPEC.name):
        assert f"(adapters/{source})" in text


def test_the_go_adapter_is_formatted_where_its_tool_is() -> None:
    if gofmt := shutil.which("gofmt"):
        found = subprocess.run([gofmt, "-l", HOME / "ordered.go"], capture_output=True, text=True, check=True)
        assert not found.stdout
    assert "\n    " not in (HOME / "ordered.go").read_text(encoding="utf-8"), "Go indents by tabs"
