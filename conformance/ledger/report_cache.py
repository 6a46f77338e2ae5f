"""Cache of reports on disk: a report is read back for the same code, program and question.

1. An answer depends on the question (the program, the properties, the bounds, the engine), on the code that
   answers (`model`, `spec/lang`, Python), and on the files of the specification, whose lines its reasons
   name. An entry of other code or other files is replaced.
2. A run is stored as the numbers of its steps among those that may be enabled. CPython takes these steps
  again when the entry is read; a verdict that its run does not confirm is rejected, and the program is
  explored.
3. A result that a bound, an interruption or an error of the specification left open is not stored, nor one
  that was found while the code was edited.
4. A report that was read from the cache says so in its notes.

This file knows no protocol, and nothing of how a program is explored.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec
import psutil

import antiphon.model
import antiphon.spec.lang
from antiphon.model.bounds import UNBOUNDED, Bounds, StopReason
from antiphon.model.cache import Cache
from antiphon.model.explore import check
from antiphon.model.refinement import check_refinement
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.model.verdict import Exploration, Outcome, Report, Verdict
from antiphon.spec.lang import Disabled, Program, State, Step
from antiphon.spec.refinement import Refinement

STARTED = psutil.Process().create_time()
FORM = "2"
"""Version of the form of the entries."""
PACKAGES = ("hypothesis", "llvmlite", "msgspec", "networkx", "numpy")


class _Run(msgspec.Struct, frozen=True, array_like=True):
    """Trace stored as numbers: that of its initial state, and for each step its index among the steps that
    may be enabled.
    """

    start: int
    steps: tuple[int, ...]
    shows: str
    why: str
    loop: int | None


class _Entry(msgspec.Struct, frozen=True):
    """Report stored without its program. The traces of its verdicts are in `runs`."""

    basis: str
    verdicts: tuple[Verdict, ...]
    runs: tuple[_Run | None, ...]
    exploration: Exploration
    notes: tuple[str, ...]


@dataclass
class Reports:
    """Reports on programs, read from the cache if possible; `read` and `explored` count the reports from each
    source.

    With `fresh` everything is explored, and replaces cached reports.
    """

    cache: Cache
    fresh: bool = False
    read: int = 0
    explored: int = 0

    @staticmethod
    def private(*, fresh: bool = False) -> Reports:
        """Return the cache with the reports of this user's earlier runs."""
        return Reports(Cache.private("reports"), fresh)

    @staticmethod
    def none() -> Reports:
        """Return a cache that stores nothing."""
        return Reports(Cache(None))

    def check(
        self,
        program: Program,
        properties: Iterable[str] | None = None,
        *,
        engine: str = "auto",
        bounds: Bounds = UNBOUNDED,
    ) -> Report:
        """Return the report of `antiphon.model.explore.check` about these properties of the program, or about
        all.
        """
        asked = None if properties is None else tuple(properties)
        question = ("check", engine, repr(asked), repr(bounds))
        return self._answer(
            program, question, (), lambda: check(program, properties=asked, engine=engine, bounds=bounds)
        )

    def check_refinement(
        self, program: Program, refinement: Refinement, *, engine: str = "generated"
    ) -> Report:
        """Return the report of `antiphon.model.refinement.check_refinement` about the program, without
        bounds.
        """
        concrete, abstract = refinement.bind(program)
        explain = () if refinement.explain is None else (refinement.explain,)
        told = (item.__qualname__ for item in (*explain, *(refinement.events or ())))
        question = ("refine", engine, abstract.digest, *told)
        made_of = (abstract.spec, *explain)
        return self._answer(
            concrete, question, made_of, lambda: check_refinement(program, refinement, engine=engine)
        )

    def _answer(
        self,
        program: Program,
        question: tuple[str, ...],
        made_of: tuple[object, ...],
        explore: Callable[[], Report],
    ) -> Report:
        basis = _basis(program.spec, *made_of)
        key = _digest(FORM, antiphon.model.__path__[0], program.name, program.digest, *question)
        if basis and not self.fresh:
            known = _read(self.cache.get(key), basis, program)
            if known is not None:
                self.read += 1
                return known
        self.explored += 1
        report = explore()
        if report.exploration.stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt  # no further question is asked
        if (
            basis
            and not _is_edited()
            and (
                report.exploration.complete
                or all(verdict.outcome is not Outcome.UNKNOWN for verdict in report.verdicts)
            )
        ):
            entry = _entry(report, basis)
            if entry is not None:
                self.cache.put(key, msgspec.json.encode(entry))
        return report


# What an answer depends on ---------------------------------------------------------------------------


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _basis(*made_of: object) -> str:
    """Return a digest of all code that the answer depends on; "" if a specification is in no file."""
    parts = [base for item in made_of for base in (item.__mro__[:-1] if isinstance(item, type) else (item,))]
    try:
        files = sorted({Path(inspect.getfile(part)) for part in parts})  # type: ignore[arg-type]
        return _digest(answering_code(), *(f"{file}\0{file.read_text(encoding='utf-8')}" for file in files))
    except (OSError, TypeError):
        return ""


@cache
def answering_code() -> str:
    """Return a digest of the code that determines an answer: the code that reads specifications, that
    explores them, and what both import.
    """
    texts = (file.read_text(encoding="utf-8") for file in _code_files())
    return _digest(sys.version, version("antiphon"), *(version(name) for name in PACKAGES), *texts)


def _code_files() -> Iterator[Path]:
    for room in (antiphon.model, antiphon.spec.lang):
        yield from sorted(Path(room.__path__[0]).rglob("*.py"))


@cache
def _watched() -> tuple[Path, ...]:
    return tuple(_code_files())


def _is_edited() -> bool:
    """Return True if a source file has changed since this process started, so that the process may run older
    code than the file has.
    """
    return any(file.stat().st_mtime >= STARTED for file in _watched())


# Entries ---------------------------------------------------------------------------------------------


def _entry(report: Report, basis: str) -> _Entry | None:
    """Return the cache entry of a report; None if its run has a step that is none of the candidates of
    CPython.
    """
    try:
        runs = tuple(
            None if verdict.trace is None else _numbered(verdict.trace) for verdict in report.verdicts
        )
    except ValueError:
        return None
    return _Entry(
        basis,
        tuple(replace(verdict, trace=None) for verdict in report.verdicts),
        runs,
        report.exploration,
        report.notes,
    )


def _numbered(trace: Trace) -> _Run:
    machine = trace.program.reference
    pairs = zip(trace.states, trace.steps, strict=False)
    steps = tuple(list(machine.candidates(state)).index(step) for state, step in pairs)
    return _Run(list(machine.initial()).index(trace.start), steps, trace.shows, trace.why, trace.loop)


def _read(content: bytes | None, basis: str, program: Program) -> Report | None:
    """Decode a cached report. Return None if there is no entry, other code made it, or its runs do not
    confirm its verdicts.
    """
    if content is None:
        return None
    try:
        entry = msgspec.json.decode(content, type=_Entry)
        if entry.basis != basis:
            return None
        verdicts = tuple(
            replace(verdict, trace=_run(run, program))
            for verdict, run in zip(entry.verdicts, entry.runs, strict=True)
        )
    except (msgspec.DecodeError, Disabled, ReplayError, IndexError, ValueError):
        return None
    if not all(map(_is_shown, verdicts)):
        return None
    seen = entry.exploration
    told = f"not explored now: this code found it before, in {seen.states:,} states and {seen.seconds:.1f} s"
    return Report(program, verdicts, seen, (*entry.notes, told))


def _run(run: _Run | None, program: Program) -> Trace | None:
    if run is None:
        return None
    machine = program.reference
    start = list(machine.initial())[run.start]
    return replay(
        program, start, list(_steps(program, start, run.steps)), shows=run.shows, why=run.why, loop=run.loop
    )


def _steps(program: Program, state: State, numbers: Iterable[int]) -> Iterator[Step]:
    machine = program.reference
    for number in numbers:
        step = list(machine.candidates(state))[number]
        yield step
        state = machine.apply(state, step).state


def _is_shown(verdict: Verdict) -> bool:
    """Return True if the trace of a verdict confirms it, or if it has none."""
    from antiphon.conformance.compare.replay import (
        on_specification,  # here, because it loads the implementations
    )

    return verdict.trace is None or (
        verdict.trace.shows == verdict.property and on_specification(verdict.trace).outcome is verdict.outcome
    )
