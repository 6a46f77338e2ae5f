"""Runs tests in forked processes: one process a test to measure it, one process a mutant to hunt it.

The parent has imported pytest and what the tests need besides the house, never the house itself, so that a
child begins with everything loaded but the code in question. What a child finds, it tells through a pipe, a
JSON document a line; the parent watches the clock, the processor time and the memory of the child and of
what it starts, and ends them all as one group.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import hypothesis
import psutil
import pytest
import touched

__all__ = ["Hunt", "Killer", "Limits", "hunt", "load_dependencies", "measure"]

DEPENDENCIES = (
    "asyncio", "hypothesis.stateful", "llvmlite.binding", "msgspec", "networkx", "numpy", "rich.console",
    "rich.markdown", "rich.progress", "rich.table", "typer.testing", "xdist", "z3",
)  # fmt: skip

OPTIONS = (
    "-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider",
    "-p", "no:antiphon", "--hypothesis-profile=mutants", "-W", "ignore::pytest.PytestAssertRewriteWarning",
)  # fmt: skip
"""Fail at once, say nothing, leave nothing behind, and shrink nothing."""


@dataclass(frozen=True, slots=True)
class Killer:
    """One test, by its name: what it costs on the code as it stands, and the lines that it touches."""

    test: str
    seconds: float
    processor_seconds: float
    lines: frozenset[tuple[str, int]]

    @property
    def file(self) -> str:
        """The file that the test stands in."""
        return self.test.partition("::")[0]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one test before its mutant counts as killed: it loops, waits for ever, or hoards."""

    processor_seconds: float = 4.0
    """On top of five times what it takes on the code as it stands."""
    budget: float = 0.0
    """Seconds of tests, as measured, for a mutant; 0: every test that touches it."""
    seconds: float = 25.0
    """On top of ten times what it takes; generous, since other programs use the machine too."""
    megabytes: int = 3000


@dataclass(frozen=True, slots=True)
class Hunt:
    """End of a hunt: `killed`, `timeout`, `memory`, `survived`, or `invalid` (the mutant does not import)."""

    status: str
    killer: str = ""
    reason: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0


def load_dependencies() -> None:
    """Import what every child needs, and nothing of the house."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # no thread may live in a process that forks
    for name in DEPENDENCIES:
        importlib.import_module(name)
    hypothesis.settings.register_profile(
        "mutants",
        derandomize=True,
        deadline=None,
        max_examples=20,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
    )
    assert not any(name.partition(".")[0] == "antiphon" for name in sys.modules)


def measure(
    tree: Path, files: Sequence[str], tests: Sequence[str], only: Sequence[str] = ()
) -> Iterator[Killer]:
    """Every test of the test files (or directories), each run alone in a process of its own, with its lines;
    with `only`, those of its lines that are among these, each as `path:line`, which takes less time.

    A test that fails on the code as it stands (it may depend on the clock) hunts nothing, and is named.
    """
    for message in _lines_of(tree, lambda tell: _measure_all(tree, files, tests, only, tell)):
        if "error" in message:
            raise RuntimeError(f"the tests were not measured: {message['error']}")
        if "failed" in message:
            print(f"left out, since it fails on the code as it stands: {message['failed']}")
            continue
        yield Killer(
            message["test"],
            message["seconds"],
            message["processor_seconds"],
            frozenset((name, line) for name, line in message["lines"]),
        )


def hunt(
    tree: Path, killers: Sequence[Sequence[Killer]], limits: Limits, repeated: Callable[[str], bool]
) -> Hunt:
    """Run the tests, a group (of one file) after the other, until one fails on the mutant in `tree`.

    A failure of a test that is `repeated` counts only if it fails again: it depends on the clock.
    """
    started = time.monotonic()
    known = {killer.test: killer for group in killers for killer in group}

    def work(tell: Callable[..., None]) -> None:
        for group in killers:
            names = [killer.test for killer in group]
            plugin = _Hunter(names, tell)
            _pytest(tree, names, plugin)
            if plugin.failed and repeated(plugin.failed):
                plugin = _Hunter([plugin.failed], tell)
                _pytest(tree, plugin.names, plugin)
            if plugin.failed:
                tell(status="killed", killer=plugin.failed, reason=plugin.reason)
                return
            if plugin.left:
                tell(status="invalid", killer=names[0], reason=plugin.broken or "the tests are not collected")
                return
        tell(status="survived")

    child = _Child(tree, work)
    test, since, spent = "", time.monotonic(), 0.0
    try:
        while True:
            for message in child.read(0.3):
                if "error" in message:
                    raise RuntimeError(f"the hunt itself failed: {message['error']}")
                if "status" in message:
                    spent = round(child.usage()[0], 2)
                    took = round(time.monotonic() - started, 2)
                    return Hunt(**message, seconds=took, processor_seconds=spent)
                test, since, spent = message["test"], time.monotonic(), child.usage()[0]
            processor_seconds, megabytes = child.usage()
            usual = known.get(test, Killer(test, 1.0, 1.0, frozenset()))
            if megabytes > limits.megabytes:
                ended = "memory"
            elif (
                processor_seconds - spent > limits.processor_seconds + 5 * usual.processor_seconds
                or time.monotonic() - since > limits.seconds + 10 * usual.seconds
            ):
                ended = "timeout"
            elif child.over:
                ended = "killed"  # the mutant took the whole interpreter down
            else:
                continue
            took = round(time.monotonic() - started, 2)
            return Hunt(ended, test, "", took, round(processor_seconds, 2))
    finally:
        child.end()


class _Hunter:
    """Runs the named tests in the given order; remembers the first that fails."""

    def __init__(self, names: Sequence[str], tell: Callable[..., None]) -> None:
        self.names = names
        self.left = set(names)
        self.failed = ""
        self.reason = ""
        self.broken = ""
        self._tell = tell

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        by_name = {item.nodeid: item for item in items}
        items[:] = [by_name[name] for name in self.names if name in by_name]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.left.discard(nodeid)
        self._tell(test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed, self.reason = report.nodeid, _last_line(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = _last_line(report)


class _Measurer:
    """Runs each collected test in a process forked from this one."""

    def __init__(self, tree: Path, tell: Callable[..., None]) -> None:
        self.done = False
        self._touched = tree / "touched"
        self._tell = tell

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell(failed=report.nodeid)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for item in session.items:
            self._touched.write_bytes(b"")
            started, before = time.monotonic(), _processor_seconds_of_children()
            pid = os.fork()
            if pid == 0:
                touched.trace()
                failures = _Failures()
                item.config.pluginmanager.register(failures)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                os._exit(failures.failed)
            if os.waitpid(pid, 0)[1]:
                self._tell(failed=item.nodeid)
                continue
            # a test that limits its processes' files leaves a line cut off
            lines = sorted(set(re.findall(r"^(.+\.py):(\d+)$", self._touched.read_text(), re.MULTILINE)))
            self._tell(
                test=item.nodeid,
                seconds=round(time.monotonic() - started, 3),
                processor_seconds=round(_processor_seconds_of_children() - before, 3),
                lines=[(name, int(number)) for name, number in lines],
            )
        self.done = True
        return True


class _Failures:
    def __init__(self) -> None:
        self.failed = False

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed


def _measure_all(
    tree: Path, files: Sequence[str], tests: Sequence[str], only: Sequence[str], tell: Callable[..., None]
) -> None:
    os.environ |= {
        touched.ROOT: str(tree),
        touched.FILES: ":".join(files),
        touched.TOUCHED: str(tree / "touched"),
        touched.LINES: " ".join(only),
    }
    measurer = _Measurer(tree, tell)
    _pytest(tree, tests, measurer)
    if not measurer.done:
        raise RuntimeError("pytest ended before its last test")


def _pytest(tree: Path, names: Sequence[str], plugin: object) -> None:
    """Collect the files of the named tests, whole: that costs less than hundreds of names."""
    files = sorted({name.partition("::")[0] for name in names})
    with suppress(Exception):  # what a failed test leaves open may raise when pytest ends
        pytest.main([*OPTIONS, f"--basetemp={tree / 'tmp'}", *files], plugins=[plugin])


def _last_line(report: pytest.TestReport | pytest.CollectReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return next(iter(text.strip().splitlines()), "")[:200]


def _processor_seconds_of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _lines_of(tree: Path, work: Callable[[Callable[..., None]], None]) -> Iterator[Mapping[str, Any]]:
    child = _Child(tree, work)
    try:
        while not child.over:
            yield from child.read(1.0)
        yield from child.read(0.0)
    finally:
        child.end()


class _Child:
    """A forked process that works in a tree of its own and tells what it finds."""

    def __init__(self, tree: Path, work: Callable[[Callable[..., None]], None]) -> None:
        here, there = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(here)
            _work(tree, there, work)
        os.close(there)
        os.set_blocking(here, False)
        self._here = here
        self._text = b""
        self.over = False

    def read(self, seconds: float) -> Iterator[Mapping[str, Any]]:
        """Yield the child's messages within so many seconds, without waiting longer than for its first
        word.
        """
        if select.select([self._here], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                while block := os.read(self._here, 1 << 16):
                    self._text += block
                else:
                    self.over = True
        *lines, self._text = self._text.split(b"\n")
        yield from map(json.loads, lines)

    def usage(self) -> tuple[float, float]:
        """Seconds of processor and megabytes of memory that the child and what it started take now."""
        seconds = memory = 0.0
        with suppress(psutil.Error):
            child = psutil.Process(self._pid)
            for process in (child, *child.children(recursive=True)):
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    seconds += times.user + times.system
                    memory += process.memory_info().rss
            times = child.cpu_times()
            seconds += times.children_user + times.children_system
        return seconds, memory / 1e6

    def end(self) -> None:
        """End the child and all that it has started and that still runs."""
        with suppress(psutil.Error):
            for process in psutil.Process(self._pid).children(recursive=True):
                with suppress(psutil.Error):
                    process.kill()
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._here)


def _work(tree: Path, there: int, work: Callable[[Callable[..., None]], None]) -> None:
    """The life of a child: its own session, directory and way to the house; it never returns."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    pipe: IO[bytes] = os.fdopen(there, "wb", buffering=0)

    def tell(**message: object) -> None:
        pipe.write(json.dumps(message).encode() + b"\n")

    try:
        silence = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(silence, standard)
        os.chdir(tree)
        sys.path.insert(0, str(tree / "site"))
        os.environ["PYTHONPATH"] = str(tree / "site")
        work(tell)
    finally:  # whatever happens, the child ends here
        if error := sys.exc_info()[1]:
            tell(error=repr(error))
        os._exit(0)
