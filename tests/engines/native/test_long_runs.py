"""A search that is killed goes on where it was, one with too little memory uses the disk, and one with fingerprints says what that costs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.engines import Refused, StorageOptions
from antiphon.model.engines.native.driver import checkpoint
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import SpecError, program
from antiphon.spec.protocols.rbp.properties import RbpChecked

SEARCH = """
import sys, time
from pathlib import Path
from antiphon.model.bounds import Bounds
from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.engines.native.driver import checkpoint
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program
from antiphon.model.engines.native.driver.space import NativeSpace
checkpoint.SECONDS = 0.0
begun = Path(sys.argv[1], checkpoint.NAME).exists()
def pause(_):
    waits = not begun and Path(sys.argv[1], checkpoint.NAME).exists()
    time.sleep(600 if waits else 0.002)  # the first one is killed for certain
NativeSpace.block = 256
report = check(program(TwoPhase, managers=6), storage=StorageOptions(directory=Path(sys.argv[1]), threads=2), progress=pause)
print(report.exploration.states, report.exploration.transitions, report.exploration.depth, report.exploration.complete)
"""


@pytest.mark.deep
def test_a_search_that_is_killed_again_and_again_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SEARCH, str(tmp_path)]
    ends = []
    for attempt in range(40):
        running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        until = time.monotonic() + 600
        before = _modified(tmp_path)
        while running.poll() is None and _modified(tmp_path) in (before, None) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.03 * (attempt % 7))
        if running.poll() is None and attempt < 5:
            os.kill(running.pid, signal.SIGKILL)
        told, _ = running.communicate(timeout=600)
        ends.append(running.returncode)
        if running.returncode == 0:
            break
    assert -signal.SIGKILL in ends
    whole = check(program(TwoPhase, managers=6), engine="native", storage=StorageOptions(threads=1)).exploration
    assert told.split() == [str(whole.states), str(whole.transitions), str(whole.depth), "True"]


def _modified(directory: Path) -> float | None:
    path = directory / checkpoint.NAME
    return path.stat().st_mtime if path.exists() else None


def test_a_finished_search_is_read_again_with_its_counterexamples(tmp_path: Path) -> None:
    bound = program(RbpChecked, processes=2, messages=1)
    first, second = (check(bound, storage=StorageOptions(directory=tmp_path)) for _ in "12")
    assert summary(first) == summary(second)
    assert any(verdict.outcome is Outcome.VIOLATED and verdict.trace for verdict in second.verdicts)


def summary(report: Report) -> list[tuple[Any, ...]]:
    return [(item.property, item.outcome, None if item.trace is None else tuple(item.trace.states)) for item in report.verdicts]


def test_a_bound_is_raised_by_going_on(tmp_path: Path) -> None:
    bound = program(TwoPhase, managers=5)
    assert check(bound, storage=StorageOptions(directory=tmp_path), bounds=Bounds(states=1000)).exploration.complete is False
    seen = check(bound, storage=StorageOptions(directory=tmp_path)).exploration
    assert (seen.states, seen.transitions, seen.complete) == (8832, 58145, True)


def test_a_directory_of_another_search_is_refused(tmp_path: Path) -> None:
    check(program(TwoPhase, managers=2), storage=StorageOptions(directory=tmp_path))
    with pytest.raises(Refused, match="another specification, other constants"):
        check(program(TwoPhase, managers=3), storage=StorageOptions(directory=tmp_path))
    (tmp_path / checkpoint.NAME).write_bytes(b"\xff{")
    with pytest.raises(Refused, match=r"checkpoint\.json: is no checkpoint"):
        check(program(TwoPhase, managers=2), storage=StorageOptions(directory=tmp_path))


@pytest.mark.parametrize(("name", "fingerprints"), [("states", False), ("parents", False), ("parents", True), ("prints", True)])
def test_an_array_that_is_not_what_the_search_left_is_refused(name: str, fingerprints: bool, tmp_path: Path) -> None:
    bound = program(TwoPhase, managers=4)
    check(bound, properties=["consistent"], storage=StorageOptions(directory=tmp_path, fingerprints=fingerprints))
    assert check(bound, properties=["consistent"], storage=StorageOptions(directory=tmp_path, fingerprints=fingerprints)).exploration.states == 1_568
    with (tmp_path / name).open("r+b") as file:
        file.seek(70)
        before = file.read(1)
        file.seek(70)
        file.write(bytes([before[0] ^ 4]))
    with pytest.raises(Refused, match=f"{name}: is not what the search left here; remove the directory"):
        check(bound, properties=["consistent"], storage=StorageOptions(directory=tmp_path, fingerprints=fingerprints))


SPILL = """
import sys
from pathlib import Path
from antiphon.model.bounds import Bounds
from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.bounds import resident_mb
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.lang import program
check(program(TwoPhase, managers=3), engine="native")
allowed = int(resident_mb()) + 12
directory = Path(sys.argv[1]) if sys.argv[1:] else None
bounds = Bounds(memory_mb=allowed)
report = check(program(TwoPhase, managers=8), engine="native", properties=(), bounds=bounds, storage=StorageOptions(threads=1, directory=directory))
print(report.exploration.states, *report.notes)
"""


@pytest.mark.deep
def test_what_does_not_fit_into_memory_is_on_disk(tmp_path: Path) -> None:
    def ran(*arguments: str) -> str:
        return subprocess.run([sys.executable, "-c", SPILL, *arguments], capture_output=True, text=True, check=True).stdout

    assert "not complete: the bound of" in ran()
    assert ran(str(tmp_path)) == "1745408\n"


def test_fingerprints_find_the_same_and_say_what_they_may_miss() -> None:
    bound = program(RbpChecked, processes=2, messages=1)
    names = [verdict.property for verdict in check(bound).verdicts if verdict.kind in ("service", "invariant", "witness")]
    whole = check(bound, properties=names, engine="native")
    short = check(bound, properties=names, storage=StorageOptions(fingerprints=True))
    assert summary(short) == summary(whole)
    assert short.exploration.states == whole.exploration.states
    assert "told apart by 64 bits" in short.notes[0]
    with pytest.raises(SpecError, match="needs whole states"):
        check(bound, storage=StorageOptions(fingerprints=True))
    with pytest.raises(SpecError, match="knows neither fingerprints, reductions nor a directory"):
        check(bound, properties=names, storage=StorageOptions(fingerprints=True), engine="generated")
