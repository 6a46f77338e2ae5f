"""A report that is read says what exploring would say, and nothing is read that other code, other files or
another question left.
"""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance.ledger import Reports, report_cache
from antiphon.model.bounds import Bounds
from antiphon.model.cache import Cache
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.catalogue import refinement_named
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import Program, Spec, program

Make = Callable[..., type[Spec]]

TEXT = """
from typing import Annotated

from antiphon.spec.lang import (
    Between, Spec, action, eventually, invariant, leads_to, obligation, require, witness,
)


class Steps(Spec):
    count: Annotated[int, Between(0, 5)] = 0

    @action
    def up(self) -> None:
        require(self.count < 4)
        self.count += 1

    @action
    def down(self) -> None:
        require(self.count > 1)
        self.count -= 1

    @invariant
    def Low(self) -> bool:
        return self.count < 3

    @witness
    def Three(self) -> bool:
        return self.count == 3

    @witness
    def Five(self) -> bool:
        return self.count == 5

    @obligation
    def Zero(self) -> bool:
        return self.count == 0

    def top(self) -> bool:
        return self.count == 4

    Tops = eventually("top")
"""


@pytest.fixture
def reports(tmp_path: Path) -> Reports:
    """An empty cache of reports."""
    (tmp_path / "reports").mkdir()
    return Reports(Cache(tmp_path / "reports"))


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The class `Steps` of a file that holds this text."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def made(text: str = TEXT) -> type[Spec]:
        (tmp_path / "kept_steps.py").write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, "kept_steps", raising=False)
        importlib.invalidate_caches()
        linecache.checkcache(str(tmp_path / "kept_steps.py"))
        found: type[Spec] = importlib.import_module("kept_steps").Steps
        return found

    return made


def entry(reports: Reports) -> Path:
    """The only entry in the cache."""
    assert reports.cache.directory is not None
    [file] = reports.cache.directory.iterdir()
    return file


def rewritten(reports: Reports, change: Callable[[Any], None]) -> None:
    """Change the only entry as if it had been kept like that."""
    key = entry(reports).name
    document = msgspec.json.decode(reports.cache.get(key) or b"")
    change(document)
    reports.cache.put(key, msgspec.json.encode(document))


def plain(report: Report) -> tuple[Any, ...]:
    """Fields of a report, without its time."""
    return report.program.digest, report.verdicts, replace(report.exploration, seconds=0.0)


def is_explored(reports: Reports, ask: Callable[[], Report]) -> bool:
    """Return True if the answer is made now, and not read."""
    before = reports.explored
    ask()
    return reports.explored > before


def test_what_is_read_is_what_exploring_says(reports: Reports, steps: Make) -> None:
    """Invariants, witnesses, obligations and liveness properties; runs and lassos too."""
    bound = program(steps())
    first, second = reports.check(bound), reports.check(bound)
    assert (reports.explored, reports.read) == (1, 1)
    assert plain(first) == plain(second) == plain(check(bound))
    outcomes = {
        verdict.property: (verdict.outcome, len(verdict.trace) if verdict.trace else None)
        for verdict in second.verdicts
    }
    assert outcomes["Low"] == (Outcome.VIOLATED, 3)
    assert outcomes["Three"] == (Outcome.HOLDS, 3)
    assert outcomes["Five"] == (Outcome.UNKNOWN, None)
    assert outcomes["Zero"] == (Outcome.VIOLATED, 1)
    assert outcomes["Tops"][0] is Outcome.VIOLATED
    assert any(verdict.trace is not None and verdict.trace.loop is not None for verdict in second.verdicts)
    assert second.notes == (
        *first.notes,
        f"not explored now: this code found it before, in 5 states and {first.exploration.seconds:.1f} s",
    )


def test_a_refinement_is_kept_too(reports: Reports) -> None:
    refinement = refinement_named("figure-2")
    literal = program(refinement.concrete, processes=2, messages=1, losses=1)
    first, second = (reports.check_refinement(literal, refinement) for _ in range(2))
    assert (reports.explored, reports.read) == (1, 1)
    assert plain(first) == plain(second)
    assert is_explored(
        reports, lambda: reports.check_refinement(literal, replace(refinement, events=refinement.events[:-1]))
    )


def test_another_question_or_program_is_explored(reports: Reports) -> None:
    asked: list[tuple[Program, tuple[str, ...], str]] = [
        (program(TwoPhase, managers=2), ("consistent",), "auto"),
        (program(TwoPhase, managers=3), ("consistent",), "auto"),
        (program(TwoPhase, managers=2), ("all_committed",), "auto"),
        (program(TwoPhase, managers=2), ("consistent",), "reference"),
    ]
    for bound, properties, engine in [*asked, *asked]:
        reports.check(bound, properties, engine=engine)
    assert (reports.explored, reports.read) == (len(asked), len(asked))


def test_a_specification_whose_file_changed_is_explored(reports: Reports, steps: Make) -> None:
    """A file with the same meaning still has other lines, which reasons name."""
    assert is_explored(reports, lambda: reports.check(program(steps())))
    assert not is_explored(reports, lambda: reports.check(program(steps())))
    assert is_explored(reports, lambda: reports.check(program(steps("# A line above.\n" + TEXT))))
    assert entry(reports).is_file(), "the new entry stands where the old one stood"


def test_what_other_code_found_is_explored(reports: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = program(TwoPhase, managers=2)
    reports.check(bound)
    monkeypatch.setattr(report_cache, "answering_code", lambda: "the digest of other code")
    assert is_explored(reports, lambda: reports.check(bound))


def test_what_was_found_while_code_was_edited_is_not_kept(
    reports: Reports, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = program(TwoPhase, managers=2)
    monkeypatch.setattr(report_cache, "STARTED", 0.0)
    assert is_explored(reports, lambda: reports.check(bound))
    assert is_explored(reports, lambda: reports.check(bound))


def test_the_code_is_all_of_model_and_language(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known = report_cache.answering_code.__wrapped__()
    for room in ("model", "lang"):
        (tmp_path / room / "inner").mkdir(parents=True)
    monkeypatch.setattr("antiphon.model.__path__", [str(tmp_path / "model")])
    monkeypatch.setattr("antiphon.spec.lang.__path__", [str(tmp_path / "lang")])
    seen = {known, report_cache.answering_code.__wrapped__()}
    for number, room in enumerate(("model", "lang"), 3):
        (tmp_path / room / "inner" / "engine.py").write_text("one = 1\n", encoding="utf-8")
        seen.add(report_cache.answering_code.__wrapped__())
        assert len(seen) == number


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[:-1],
        lambda content: content.replace(b'"holds"', b'"violated"'),
        lambda content: b"",
    ],
    ids=["cut", "changed", "empty"],
)
def test_a_damaged_entry_is_explored(reports: Reports, damage: Callable[[bytes], bytes]) -> None:
    bound = program(TwoPhase, managers=2)
    reports.check(bound)
    file = entry(reports)
    file.write_bytes(damage(file.read_bytes()))
    assert is_explored(reports, lambda: reports.check(bound))
    assert not is_explored(reports, lambda: reports.check(bound))


WRONG: dict[str, Callable[[Any], None]] = {
    "a step that is not there": lambda kept: kept["runs"][0][1].append(99),
    "a run that ends too early": lambda kept: kept["runs"][0][1].pop(),
    "a run of something else": lambda kept: kept["runs"][0].__setitem__(2, "Three"),
    "an initial state that is not there": lambda kept: kept["runs"][0].__setitem__(0, 7),
    "another outcome": lambda kept: kept["verdicts"][0].__setitem__("outcome", "holds"),
    "an outcome that does not exist": lambda kept: kept["verdicts"][0].__setitem__("outcome", "perhaps"),
    "a run too few": lambda kept: kept["runs"].pop(),
    "no counts": lambda kept: kept.pop("exploration"),
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_verdict_whose_run_does_not_show_it_is_explored(
    reports: Reports, steps: Make, change: Callable[[Any], None]
) -> None:
    """Although the entry is whole and bears the right name."""
    bound = program(steps())
    right = reports.check(bound)
    rewritten(reports, lambda kept: None)
    assert not is_explored(reports, lambda: reports.check(bound))
    rewritten(reports, change)
    assert is_explored(reports, lambda: reports.check(bound))
    assert plain(reports.check(bound)) == plain(right)


def test_what_is_open_is_not_kept(reports: Reports, steps: Make) -> None:
    """A step that leaves its domain ends the search, as a bound does: what was not reached until then is
    unknown.
    """
    wrong = program(steps(TEXT.replace("require(self.count < 4)", "require(self.count < 9)")))
    assert is_explored(reports, lambda: reports.check(wrong, ["Zero", "Tops"]))
    assert is_explored(reports, lambda: reports.check(program(steps()), ["Five"], bounds=Bounds(depth=2)))
    assert reports.cache.directory is not None
    assert list(reports.cache.directory.iterdir()) == []


def test_what_stands_in_no_file_is_not_kept(reports: Reports, steps: Make, tmp_path: Path) -> None:
    bound = program(steps())
    (tmp_path / "kept_steps.py").unlink()
    for _ in range(2):
        assert is_explored(reports, lambda: reports.check(bound))


def test_fresh_reports_replace_what_was_kept(reports: Reports) -> None:
    bound = program(TwoPhase, managers=2)
    reports.check(bound)
    rewritten(reports, lambda kept: kept["notes"].append("old"))
    fresh = Reports(reports.cache, fresh=True)
    assert is_explored(fresh, lambda: fresh.check(bound))
    assert "old" not in reports.check(bound).notes


def test_nothing_is_kept_unless_it_is_asked_for() -> None:
    reports = Reports.none()
    for _ in range(2):
        assert is_explored(reports, lambda: reports.check(program(TwoPhase, managers=2)))
