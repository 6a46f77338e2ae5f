"""Questions of `import antiphon` inside a test: a property that does not hold fails the test, with the run
that shows it.

An unknown answer does not pass either. A failure leaves files: the trace, its picture, and a page.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest

import antiphon
from antiphon.conformance.compare.bindings import timed
from antiphon.conformance.compare.bindings.plain import PlainBinding, is_plain
from antiphon.conformance.report.answers import Answer, Case, Suite, of_trace
from antiphon.conformance.report.github import add_summary, is_runner, notices
from antiphon.conformance.report.sarif import source_roots
from antiphon.model.bounds import StopReason
from antiphon.model.export import TraceFileError, save
from antiphon.model.files import write_whole
from antiphon.model.verdict import Outcome
from antiphon.programs import Subject
from antiphon.questions import WALKS
from antiphon.results import Trace
from antiphon.spec.lang import Location, Program, Spec
from antiphon.spec.lang.errors import Told
from antiphon.spec.places import is_place

if TYPE_CHECKING:
    from antiphon.conformance.compare.lockstep import LockstepReport
    from antiphon.conformance.compare.stateful import StatefulReport
    from antiphon.conformance.spark.pipeline import VerifyReport
    from antiphon.implementations import Bound
    from antiphon.results import Report

MAX_SECONDS = 30.0
"""Seconds of a question, where neither the test nor `--antiphon-max-seconds` sets them."""

NAME_BYTES = 200
"""Largest length of the beginning of a file name; file systems take 255 bytes with what follows it."""

UNKNOWN = "what is unknown does not pass"

RAISE = "raise the bound (max_seconds=, --antiphon-max-seconds), or ask less"
"""Advice where a bound has ended the question."""

_BOUNDS = (
    StopReason.STATES, StopReason.SECONDS, StopReason.DEPTH, StopReason.TRANSITIONS, StopReason.MEMORY,
    StopReason.NO_MEMORY,
)  # fmt: skip


class Judged(Protocol):
    """Report with an outcome."""

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of the question."""


R = TypeVar("R", bound=Judged)


class Questions:
    """Functions of `antiphon` for a test: `check`, `lockstep` and others as methods, and every other name of
    the package as an attribute.

    Each takes the arguments of the function of its name, and returns its report if it holds.

    Raises:
        pytest.fail.Exception: it does not hold.
    """

    def __init__(self, request: pytest.FixtureRequest, profile: Mapping[str, int | float]) -> None:
        """Make the questions of a test.

        Args:
            request: pytest's request of the fixture.
            profile: the budgets of the chosen profile: values of arguments of questions, by name.
        """
        self._request, self._config, self._profile = request, request.config, profile
        self._failures = 0
        self._failed: Answer | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(antiphon, name)

    def check(self, subject: Subject, *, max_seconds: float | None = MAX_SECONDS, **more: Any) -> Report:
        """Assert that all properties of a specification hold."""
        __tracebackhide__ = True
        return self._ask(antiphon.check, subject, max_seconds=max_seconds, **more)

    def refine(
        self, subject: Program | type[Spec] | str, *, max_seconds: float | None = MAX_SECONDS, **more: Any
    ) -> Report:
        """Assert that every transition of a specification is a step of the machine that it
        refines, or none.
        """
        __tracebackhide__ = True
        return self._ask(antiphon.refine, subject, max_seconds=max_seconds, **more)

    def simulate(
        self,
        subject: Subject,
        *,
        walks: int | None = WALKS,
        max_seconds: float | None = MAX_SECONDS,
        **more: Any,
    ) -> Report:
        """Assert that random walks of a specification break nothing; with `walks=None` as many walks as the
        time permits.
        """
        __tracebackhide__ = True
        return self._ask(antiphon.simulate, subject, walks=walks, max_seconds=max_seconds, **more)

    def lockstep(
        self, bound: Bound, *, max_seconds: float | None = MAX_SECONDS, **more: Any
    ) -> LockstepReport:
        """Assert that an implementation does the same as its specification, in every transition."""
        __tracebackhide__ = True
        return self._ask(antiphon.lockstep, bound, max_seconds=max_seconds, **more)

    def stateful(
        self, bound: Bound, *, max_seconds: float | None = MAX_SECONDS, **more: Any
    ) -> StatefulReport:
        """Assert that an implementation does the same as its specification in random runs.

        Without `runs`, `steps` and `seed` Hypothesis' settings determine their number, length and seed; with
        `runs=None` as many runs are taken as the time permits.
        """
        __tracebackhide__ = True
        from hypothesis import settings  # here: it takes long to load

        chosen = settings()
        asked = {"runs": chosen.max_examples, "steps": chosen.stateful_step_count}
        seed = self._config.getoption("--hypothesis-seed", None)
        if str(seed or "").isdigit():
            asked["seed"] = int(str(seed))
        return self._ask(antiphon.stateful, bound, max_seconds=max_seconds, **asked | more)

    def verify(
        self, path: str | Path, *, max_seconds: float | None = MAX_SECONDS, **more: Any
    ) -> VerifyReport:
        """Assert that the logs of runs keep the promises of the system."""
        __tracebackhide__ = True
        return self._ask(antiphon.verify, path, max_seconds=max_seconds, **more)

    def _budgets(self) -> dict[str, int | float]:
        """Return the arguments that count whatever a test says: those of the chosen profile, and those of
        options, which count more.
        """
        options = {
            name: self._config.getoption(f"--antiphon-{name.replace('_', '-')}", None)
            for name in ("max_seconds", "seed")
        }
        given = {name: value for name, value in options.items() if value is not None}
        return {**self._profile, **given}

    def _ask(self, question: Callable[..., R], subject: Any, **asked: Any) -> R:
        """Call a function of `antiphon` and return its report; fail the test unless the outcome is
        `holds`.
        """
        __tracebackhide__ = True
        known = inspect.signature(question).parameters
        asked |= {name: value for name, value in self._budgets().items() if name in known}
        timed.uncover = self._uncover
        wrong = ""
        try:
            report = question(subject, **asked)
        except Told as error:
            wrong = str(error)
        if wrong:  # here: a failure inside the handler would show our code
            pytest.fail(wrong)
        if report.outcome is not Outcome.HOLDS:
            self._failures += 1
            advice = f"{UNKNOWN}: {RAISE}" if _is_bounded(report) else UNKNOWN
            self._failed = self._answer(question.__name__, report) if is_runner() else None
            notes = [advice] if report.outcome is Outcome.UNKNOWN else []
            pytest.fail("\n".join([str(report), *notes, *self._left(report, subject)]))
        return report

    def _uncover(self) -> None:
        """Give the process its standard error back, which pytest captures."""
        manager = self._config.pluginmanager.getplugin("capturemanager")
        if manager is not None:
            manager.suspend_global_capture(in_=True)

    def told_github(self) -> list[str]:
        """Add the last failure to the summary of the job on GitHub's runner, and return the annotations."""
        if self._failed is None:
            return []
        lines = list(notices(self._failed, source_roots()))
        try:
            add_summary(self._failed)
        except OSError as error:
            lines.append(f"GITHUB_STEP_SUMMARY: not written: {error}")
        return ["\n".join(lines)]

    def _answer(self, question: str, report: Any) -> Answer:
        """Return the failure of a question in the form of all reports; its place is the test."""
        test = self._request.node
        file, line, _ = test.location
        at = Location(str(self._config.rootpath / file), (line or 0) + 1)
        trace = _trace(report)
        shown = None if trace is None or not trace.initial else of_trace(trace, test.name)
        case = Case(question, "test", report.outcome, str(report), at, shown)
        suite = Suite(test.nodeid, report.outcome, (case,), reproduce=f"pytest '{test.nodeid}'", at=at)
        return Answer("in pytest", (suite,))

    # What a failure leaves ----------------------------------------------------------------------------------

    def _left(self, report: Any, subject: Any) -> list[str]:
        """Write the files of a failed question (trace, picture, page), and return a line on each. A file that
        cannot be written hides nothing that was found: its line has the error.
        """
        try:
            directory = self._directory()
        except OSError as error:
            return [f"trace, picture and page: not written: {error}"]
        test = _file_name(self._request.node.nodeid.removesuffix(".py"))
        name = test if self._failures == 1 else f"{test}-{self._failures}"
        trace, place = _trace(report), _place(subject)
        page = f"<!doctype html><meta charset=utf-8><title>{name}</title>{report._repr_html_()}"
        files: dict[str, tuple[str, Callable[[Path], None]]] = {
            "page": ("html", lambda file: write_whole(file, page))
        }
        if trace is not None:
            files = {
                "trace": ("itf.json", lambda file: save(trace, file, binding=place)),
                "picture": ("svg", lambda file: write_whole(file, trace.svg())),
            } | files
        left = []
        for what, (ending, write) in files.items():
            file = directory / f"{name}.{ending}"
            with suppress(TraceFileError):  # a class in a function: nobody could find it again
                try:
                    write(file)
                    left.append(f"{what}: {file}")
                except OSError as error:
                    left.append(f"{what}: not written: {error}")
        return left

    def _directory(self) -> Path:
        """Return the directory of `--antiphon-save`, which all workers of pytest share, or else one of
        pytest's temporary directories.
        """
        named = self._config.getoption("--antiphon-save", None)
        if named is None:
            factory: pytest.TempPathFactory = self._request.getfixturevalue("tmp_path_factory")
            return factory.mktemp("antiphon")
        directory = Path(self._config.invocation_params.dir, named)
        directory.mkdir(parents=True, exist_ok=True)
        return directory


def _file_name(test: str) -> str:
    """Return the beginning of the names of a test's files, of at most `NAME_BYTES`. One that is cut, or whose
    parameters have other characters than names of files, ends with a number that no other test has.
    """
    parameters = test.partition("[")[2]
    name = re.sub(r"[^\w.-]+", "-", test).strip("-")
    if len(name.encode()) <= NAME_BYTES and re.fullmatch(r"[\w.-]*]?", parameters):
        return name
    number = hashlib.sha256(test.encode()).hexdigest()[:8]
    return f"{name.encode()[: NAME_BYTES - 9].decode(errors='ignore')}-{number}"


def _is_bounded(report: Any) -> bool:
    """Return True if a bound has ended the question of a report."""
    stopped = getattr(getattr(report, "exploration", report), "stopped", None)
    reason = getattr(stopped, "reason", stopped)
    return reason in _BOUNDS or (isinstance(reason, str) and reason != "")


def _trace(report: Any) -> Trace | None:
    """Return the run that a report shows, or None."""
    difference = getattr(report, "difference", None)
    if difference is not None:
        return Trace.of(difference.trace)
    found = getattr(report, "counterexample", None)
    return found if isinstance(found, Trace) else None


def _place(subject: Any) -> str:
    """Return the place of a binding, as "file.py:Name"; empty for one that has another place, or none."""
    if isinstance(subject, str):
        return subject if is_place(subject) else ""
    cls = subject.binding.cls if isinstance(getattr(subject, "binding", None), PlainBinding) else subject
    if not is_plain(cls) or "<locals>" in cls.__qualname__:
        return ""
    return f"{os.path.relpath(inspect.getfile(cls))}:{cls.__qualname__}"
