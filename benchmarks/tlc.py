"""Does TLC say of the exported modules what we say? All named specifications at the small constants of
`check-exports`, as printed and with all repairs.

Run: `python benchmarks/tlc.py --classes PATH [NAME]... [--seconds 600] [--json FILE]`, PATH being what
Java finds TLC by: `tla2tools.jar`, or the folder of classes that `javac` made of its sources, with the
libraries beside them. Needs Java.

Every model is run by one worker, without deadlock, with all properties that are exported, of which TLC
must find one violated exactly where ours finds one; where it does, once more without properties. TLC must
find as many distinct states as our native engine. Where ours finds an error of the specification itself,
TLC must stop, too. Exits with 1 at any difference.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from antiphon.conformance.exports import small_models
from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check
from antiphon.model.export import tla
from antiphon.model.export.stated import stated
from antiphon.model.verdict import Outcome
from antiphon.programs import specification
from antiphon.spec.catalogue import names
from antiphon.spec.lang import Program, SpecError

BROKEN = re.compile(
    r"Invariant \S+ is violated|Temporal properties were violated|Action property|evaluated to FALSE"
)
COUNTED = re.compile(
    r"([\d,]+) states generated.*?, ([\d,]+) distinct states found.*?, 0 states left on queue"
)


@dataclass(frozen=True)
class Answer:
    """Answers of both about a model: distinct states and whether a property is violated; `difference` is
    empty where they agree. `seconds` are TLC's, of both runs, Java's start included; `size` is the
    module's bytes.
    """

    name: str
    constants: str
    states: int
    violated: bool
    size: int
    seconds: float
    difference: str


def run(classes: str, bound: Program, properties: list[str], seconds: float) -> tuple[str, int]:
    """Run TLC; return its output, and the size of the module."""
    module = tla(bound, properties=properties)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / f"{module.name}.tla").write_text(module.text, encoding="utf-8")
        (directory / f"{module.name}.cfg").write_text(module.configuration, encoding="utf-8")
        command = [
            "java",
            "-Xss512m",
            "-XX:+UseSerialGC",
            "-cp",
            classes,
            "tlc2.TLC",
            "-deadlock",
            "-workers",
            "1",
            "-nowarning",
            module.name,
        ]
        ran = subprocess.run(  # noqa: S603 - the Java of this machine
            command, cwd=directory, capture_output=True, text=True, timeout=seconds, check=False
        )
    return ran.stdout + ran.stderr, len(module.text)


def compared(name: str, bound: Program, words: str, classes: str, seconds: float) -> Answer:
    """Check one model with both checkers."""
    asked = sorted(stated(bound, None, liveness=True))
    report = check(bound, properties=[], engine="native", storage=StorageOptions(threads=1))
    states = report.exploration.states
    violated = bool(asked) and any(
        verdict.outcome is Outcome.VIOLATED
        for verdict in check(bound, properties=asked, engine="native").verdicts
    )
    wrong = any(verdict.kind == "specification" for verdict in report.verdicts)
    began = time.monotonic()
    try:
        judged, size = run(classes, bound, asked, seconds)
        broken = BROKEN.search(judged) is not None
        plain, _ = run(classes, bound, [], seconds) if broken else (judged, size)
    except SpecError as error:
        return Answer(name, words, states, violated, 0, 0.0, f"not exported: {error.reason}")
    except subprocess.TimeoutExpired:
        return Answer(name, words, states, violated, 0, seconds, f"TLC did not end in {seconds:g} s")
    counted = COUNTED.search(plain)
    theirs = int(counted.group(2).replace(",", "")) if counted else None
    differences = []
    if broken != violated:
        differences.append("violated in TLC only" if broken else "violated here only")
    if wrong and theirs is not None:
        differences.append("TLC finds no error of the specification")
    elif not wrong and theirs is None:
        differences.append(f"TLC: {_error(plain)}")
    elif not wrong and theirs != states:
        differences.append(f"TLC has {theirs:,} states")
    return Answer(name, words, states, violated, size, time.monotonic() - began, "; ".join(differences))


def _error(said: str) -> str:
    lines = [line for line in said.splitlines() if "rror" in line or "xception" in line]
    return " ".join(lines[:2])[:300] or said[-300:]


def main() -> None:
    """Ask of every model, and tell each as it comes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("specifications", nargs="*", metavar="NAME", help="all without")
    parser.add_argument("--classes", required=True, help="where Java finds TLC")
    parser.add_argument("--seconds", type=float, default=600.0, help="for each run of TLC")
    parser.add_argument("--json", type=Path, help="write all answers here")
    chosen = parser.parse_args()
    answers = []
    for model in small_models((name, specification(name)) for name in chosen.specifications or names()):
        answer = compared(model.name, model.program, model.constants, chosen.classes, chosen.seconds)
        answers.append(answer)
        found = "violated" if answer.violated else "no error"
        print(
            f"{answer.name} {answer.constants}: {answer.states:,} states, {found}, module of {answer.size:,} "
            f"bytes, {answer.seconds:.0f} s: {answer.difference or 'the same'}",
            flush=True,
        )
        if chosen.json:
            chosen.json.write_text(
                json.dumps([asdict(one) for one in answers], indent=1) + "\n", encoding="utf-8"
            )
    agreed = sum(not answer.difference for answer in answers)
    most = max(answer.states for answer in answers)
    print(f"{agreed} of {len(answers)} models: the same; up to {most:,} states")
    sys.exit(agreed < len(answers))


if __name__ == "__main__":
    main()
