"""Run of SPIN on an exported model: compiled in a directory of its own, run once, its report read.

The verifier runs exactly: no hashing of states to bits, no reduction, and on after an error (`-c0`), so that
one run counts all states and judges all properties. SPIN comes from the package `spin` (6.5 or later) and
needs a C compiler.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from antiphon.model.export import PromelaModel

COMPILER = ("-w", "-DSAFETY", "-DNOREDUCE")
TRANSLATION_SECONDS = 300


class ToolMissing(Exception):
    """Error: a needed program is not installed; the message says which, and which package has it."""


class SpinFailure(Exception):
    """Error: SPIN, the compiler or the verifier failed; the message has its output."""

    def shown(self) -> str:
        """Return the failure and the tool's first line about an error, for a table."""
        head, *said = [line.strip() for line in str(self).splitlines() if line.strip()]
        own = [line for line in said if "error" in line.casefold()] or said
        return f"{head} {'; '.join(own[:2])}".strip()


@dataclass(frozen=True)
class SpinRun:
    """Report of the verifier on a model.

    Attributes:
        states: the number of stored states of the specification: the verifier's count without the state in
            which an initial one is chosen.
        transitions: the transitions between them: the verifier's count without the steps to initial states
            and
            those that are no steps.
        broken: the properties whose assertions failed.
        complete: True if the search ended by itself, within its depth and memory.
        seconds: processor time of the verifier, as it measures it.
        vector_bytes: the size of a state with SPIN's own bookkeeping.
    """

    states: int
    transitions: int
    broken: frozenset[str]
    complete: bool
    seconds: float
    vector_bytes: int


def find_tools() -> tuple[str, str]:
    """Return the paths of SPIN and of a C compiler.

    Raises:
        ToolMissing: one of them is not on the path.
    """
    spin = shutil.which("spin")
    compiler = shutil.which("gcc") or shutil.which("cc")
    missing = [name for name, path in (("spin", spin), ("gcc", compiler)) if path is None]
    if spin is None or compiler is None:
        raise ToolMissing(
            f"{' and '.join(missing)} not found; install SPIN 6.5 and a C compiler (on Debian: apt install "
            "spin gcc)"
        )
    return spin, compiler


def run_spin(
    model: PromelaModel,
    initial: int,
    *,
    depth: int = 1_000_000,
    memory_mb: int = 4_000,
    seconds: float = 600,
    fast: bool = False,
) -> SpinRun:
    """Run SPIN on a model whose specification has `initial` initial states.

    `depth` is the longest path that the verifier follows, in steps; a depth of the number of states always
    suffices. `fast` compiles with optimisation, which takes longer than it saves on small models.

    Raises:
        ToolMissing: SPIN or the compiler is not installed.
        SpinFailure: the model is not accepted, or the verifier gives no report.
    """
    spin, compiler = find_tools()
    with tempfile.TemporaryDirectory(prefix="antiphon-spin-") as name:
        directory = Path(name)
        (directory / "model.pml").write_text(model.text, encoding="ascii")
        _call([spin, "-a", "model.pml"], directory, TRANSLATION_SECONDS)
        _call(
            [compiler, "-O2" if fast else "-O0", *COMPILER, f"-DMEMLIM={memory_mb}", "-o", "pan", "pan.c"],
            directory,
            TRANSLATION_SECONDS,
        )
        said = _call(
            [str(directory / "pan"), "-c0", "-E", f"-m{max(depth, 100)}", "-w20"],
            directory,
            seconds,
            failing=True,
        )
    return read_report(said, model, initial)


def read_report(said: str, model: PromelaModel, initial: int) -> SpinRun:
    """Read the verifier's report in terms of the model's specification.

    Raises:
        SpinFailure: the text is no report.
    """
    broken = {
        model.properties.get(int(number), f"assertion {number}")
        for number in re.findall(r"\((\d+)==0\)", said)
        if int(number)
    }
    stored, transitions = (
        _number(r"([\d.e+]+) states, stored", said),
        _number(r"([\d.e+]+) transitions", said),
    )
    seconds = re.search(r"pan: elapsed time ([\d.e+-]+) seconds", said)
    first = initial + 1 if model.extra else 1
    return SpinRun(
        states=stored - model.extra,
        transitions=transitions - first - model.idle * (stored - model.extra),
        broken=frozenset(broken),
        complete=not re.search(
            r"max search depth too small|out of memory|Search not completed|hash.?table full", said
        ),
        seconds=float(seconds.group(1)) if seconds else 0.0,
        vector_bytes=_number(r"State-vector (\d+) byte", said),
    )


def _number(pattern: str, said: str) -> int:
    found = re.search(pattern, said)
    if found is None:
        raise SpinFailure(f"SPIN's report has no {pattern!r}:\n{said[-2000:]}")
    return int(float(found.group(1)))


def _call(command: list[str], directory: Path, seconds: float, *, failing: bool = False) -> str:
    """Run a command and return its output. A non-zero exit code is a failure, unless `failing` is True: the
    command may then report an error by it.
    """
    try:
        ran = subprocess.run(  # noqa: S603 - a fixed command
            command, cwd=directory, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SpinFailure(f"{Path(command[0]).name} did not end within {seconds:g} seconds") from error
    if ran.returncode and not failing:
        raise SpinFailure(
            f"{Path(command[0]).name} failed with {ran.returncode}:\n{(ran.stdout + ran.stderr)[-2000:]}"
        )
    return ran.stdout + ran.stderr
