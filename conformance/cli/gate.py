"""`antiphon gate`: every part of the project once, on real input, and one table of verdicts, for a CI.

Each row is a command of its own, run as a separate process with `--json`, several at a time; the table shows
the command, so that any row can be run alone. A row whose command fails is unknown, never a pass. With
`--deep` the rows are the families of the ledger, each with all its checks.
"""

from __future__ import annotations

import itertools
import json as json_module
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import typer
from rich.live import Live
from rich.table import Table
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.report.words import counted
from antiphon.model.verdict import Outcome
from antiphon.spec.catalogue import refined
from antiphon.spec.claims import claims_of, families

FIGURES = ("rbc", "msq", "rbp")
"""The families of the RBP report without view changes, which Z3 judges too."""

QUICK_FOR_Z3 = ("rbc", "msq")
"""Families whose counterexamples Z3 finds within seconds: figures 2, 5 and 12. The others are asked by `make
check-deep`.
"""

VIEWS = ("ref", "vsc", "pbk", "irb", "rmp", "def")
"""Families of the claims about view changes, definitions, and RMP and TRMP in the RBP report."""

COMPARISONS = "x"
"""Family of comparisons, which repeats checks of others, mostly of the RBP report: it shares explorations
with that.
"""

LONG_FOR_Z3 = ("RBP-04", "RBP-05", "RBP-06", "RBP-17", "RBP-37", "RBP-38", "RBP-44")
"""Claims of these families with a counterexample for which Z3 needs long: from some seconds up to
a minute.
"""

LONG_TO_REFINE = ("chandra-toueg", "horus-flush", "horus-flush-total", "irbp", "rbp-resilient")
"""Protocols whose refinements take longest: together four times as long as all others."""

AT_ONCE = 2
"""Number of groups of rows that run at a time: an exploration uses a thread for every processor itself."""

URGENT = ("--set", "urgent=true", "--set", "assigned=true", "--set", "patient=true")
"""Options that restrict the explorations of the gate: local steps come first, and senders are fixed."""

ON_SPARK = ("--master", "local[*]")
"""Option by which `verify` judges on Spark. Without it so few logs would be judged in one process, as the
cluster has done already.
"""

SAMPLE = "6"
"""Number of mutants of each text that are tried."""


@dataclass(frozen=True)
class Row:
    """Row of the table: the question, the command that answers it, and the text for its document."""

    question: str
    arguments: tuple[str, ...]
    tell: Callable[[dict[str, Any]], str]

    @property
    def command(self) -> str:
        """Command that runs this row alone."""
        return shlex.join(["antiphon", *self.arguments])


def _checked(document: dict[str, Any]) -> str:
    reports = document["reports"]
    properties = sum(len(report["verdicts"]) for report in reports)
    return (
        f"{counted(len(reports), 'specification')}, {counted(properties, 'verdict')}, all "
        f"{sum(report['states'] for report in reports):,} states"
    )


def _claimed(document: dict[str, Any]) -> str:
    claims = document["claims"]
    told = {
        kind: sum(claim["verdict"] == kind for claim in claims) for kind in ("holds", "violated", "unknown")
    }
    counts = f"{told['holds']} hold, {told['violated']} refuted, {told['unknown']} open"
    return (
        f"{len(claims)} claims: {counts}; {sum(len(claim['checks']) for claim in claims)} checks found just "
        "that"
    )


def _needed(document: dict[str, Any]) -> str:
    needs = document["needs"]
    covered = sum(need["covered"] for need in needs)
    return (
        f"{counted(len(needs), 'repair')}, each left out alone: {len(needs) - covered} missed, {covered} "
        "covered by others, as recorded"
    )


def _strong(document: dict[str, Any]) -> str:
    checks = [check for family in document["mutants"] for check in family["checks"]]
    strong = sum(check["verdict"] == "holds" for check in checks)
    tallies = [family["tally"] for family in document["mutants"]]
    seen, killed = (sum(tally[name] for tally in tallies) for name in ("seen", "killed"))
    noticed = f"{killed} of {seen} mutants that can be seen are noticed"
    return f"{strong} of {counted(len(checks), 'check')} can fail; {noticed}"


def _walked(document: dict[str, Any]) -> str:
    share = "all" if document["complete"] else "not all"
    return (
        f"{share} {document['transitions']:,} transitions of {document['states']:,} states taken on both "
        "sides"
    )


def _tried(document: dict[str, Any]) -> str:
    return f"{document['runs']:,} runs, {document['steps']:,} steps (seed {document['seed']})"


def _ran(document: dict[str, Any]) -> str:
    record = document["record"]
    counts = record["relay"]
    delivered = ", ".join(f"{count:,}" for count in record["delivered"])
    return (
        f"delivered {delivered}; {counts['dropped']:,} datagrams dropped, {counts['duplicated']:,} "
        f"duplicated, {counts['reordered']:,} reordered "
        f"of {counts['offered']:,}"
    )


def _verified(document: dict[str, Any]) -> str:
    report = document["report"]
    verdicts = sum(sum(counts.values()) for counts in report["counts"].values())
    return f"{report['runs']} runs, {report['events']:,} events, {verdicts} verdicts"


def rows(directory: Path) -> tuple[tuple[Row, ...], ...]:
    """Return the rows in groups: those of one group run one after the other, and groups in parallel. The
    longest begin first, so that all end at about the same time. Checks of minutes are left to `make
    check-deep`.
    """
    runs = directory / "runs"
    cluster = ("--processes", "3", "--messages", "2000", "--loss-rate", "0.1", "--log", str(runs))
    three = ("--processes", "3", "--messages", "1", "--losses", "1", "--timeouts", "1", *URGENT)
    small = ("--processes", "2", "--messages", "2", "--losses", "1", "--timeouts", "1")
    figures, views = _named(FIGURES), _named(VIEWS)
    others = _named(name for name in families() if name not in (*FIGURES, *VIEWS, COMPARISONS))
    judged = (
        Row(
            "do three processes on UDP with losses agree?", ("cluster", "rbp", *cluster, "--seed", "7"), _ran
        ),
        Row("and in a second run?", ("cluster", "rbp", *cluster, "--seed", "8"), _ran),
        Row("does Spark judge their logs the same?", ("verify", str(runs), *ON_SPARK), _verified),
    )
    alone = (
        Row(
            "are RBP's claims, and comparisons, as true as the ledger records?",
            ("claims", "--brief", "--fresh", *figures, *_named((COMPARISONS,))),
            _claimed,
        ),
        Row("and those of the other documents?", ("claims", "--brief", "--fresh", *others), _claimed),
        Row(
            "and what the RBP report claims about view changes?",
            ("claims", "--brief", "--fresh", *views),
            _claimed,
        ),
        Row(
            "does Z3 find the counterexamples of figures 2, 5 and 12 by itself?",
            ("claims", "--brief", "--engine", "z3", *_named(QUICK_FOR_Z3)),
            _claimed,
        ),
        Row(
            "do protocols refine their abstract machines?",
            ("refine", *(name for name in refined() if name not in LONG_TO_REFINE), "--repair", "all"),
            _checked,
        ),
        Row(
            "does the code do what the model does, step by step?", ("lockstep", "rbp", *three), _walked
        ),
        Row("and in every order of steps (2 processes)?", ("lockstep", "rbp", *small), _walked),
        Row("do the repaired figures hold, within bounds?", ("check",), _checked),
        Row(
            "does Hypothesis find a difference?",
            ("stateful", "rbp", "--processes", "3", "--messages", "2", "--runs", "30"),
            _tried,
        ),
        Row(
            "does two-phase commit hold, in a million states?",
            ("check", "two-phase", "--set", "managers=8", "--engine", "native"),
            _checked,
        ),
    )
    return judged, *((row,) for row in alone)


def _named(chosen: Iterable[str]) -> tuple[str, ...]:
    """Return the options of `antiphon claims` that select these families."""
    return tuple(word for name in chosen for word in ("--family", name))


def deep_rows() -> tuple[Row, ...]:
    """Return the rows that check the whole ledger, family by family: every check, every repair left out
    alone, mutants, and checks for which Z3 needs long. The longest begin first.

    The explorations of a family's claims are read from the cache by the rows that leave its repairs out.
    """
    figures = _named(FIGURES)
    larger = sorted(
        families(),
        key=lambda name: -sum(check.deep for claim in claims_of(name) for check in claim.checks),
    )
    four = ("--processes", "4", "--messages", "3", "--set", "urgent=true")
    resilient = ("--processes", "3", "--set", "passes=3", "--set", "urgent=true", "--set", "resilience=2")
    repaired = [name for name in larger if any(claim.repairs for claim in claims_of(name))]
    return (
        *(
            Row(
                f"{name}: is every claim as recorded?",
                ("claims", "--deep", "--fresh", "--family", name),
                _claimed,
            )
            for name in larger
        ),
        *(
            Row(
                f"{name}: is every repair needed?",
                ("claims", "--minimal", "--deep", "--family", name),
                _needed,
            )
            for name in repaired
        ),
        *(
            Row(
                f"{name}: is there a mutant for every check that breaks it?",
                ("claims", "--mutants", "--deep", "--sample", SAMPLE, "--jobs", "1", "--family", name),
                _strong,
            )
            for name in larger
        ),
        Row("does every protocol refine its abstract machine?", ("refine",), _checked),
        Row(
            "does Hypothesis find a difference among four processes?",
            ("stateful", "rbp", *four, "--runs", "300"),
            _tried,
        ),
        Row(
            "does the core of figure 16 do what its model does, among three processes?",
            ("lockstep", "rbp", "--processes", "3", "--losses", "1", "--timeouts", "1", *URGENT),
            _walked,
        ),
        Row(
            "does the core of SEQUENCER do what its model does, with three messages?",
            ("lockstep", "sequencer", "--messages", "3", "--set", "views=2", "--set", "handovers=true"),
            _walked,
        ),
        Row(
            "does the core of TOTAL do what its model does, with three messages?",
            ("lockstep", "total", "--processes", "2", "--messages", "3", "--losses", "1"),
            _walked,
        ),
        Row(
            "does the core of figure 25 do what its model does, in every order of steps?",
            ("lockstep", "rbp-resilient", "--losses", "1", "--timeouts", "1", "--set", "passes=3"),
            _walked,
        ),
        Row(
            "and where it delivers what two of three have?",
            ("lockstep", "rbp-resilient", *resilient),
            _walked,
        ),
        Row(
            "does Z3 find RBP's counterexamples by itself?", ("claims", "--engine", "z3", *figures), _claimed
        ),
        Row("and those that take it long?", ("claims", "--engine", "z3", "--deep", *LONG_FOR_Z3), _claimed),
    )


def gate(
    directory: Annotated[Path, options.LOG] = Path("build/gate"),
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Instead: every check of the ledger, deep ones too, its families side by side. Takes long.",
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Check everything once, on real input: specifications, claims, lockstep, real processes, Spark; one
    table of verdicts. The logs of an earlier gate are replaced.
    """
    output.writable_directory("--log", directory)
    if deep:
        groups: tuple[tuple[Row, ...], ...] = tuple((row,) for row in deep_rows())
        workers = min(os.cpu_count() or 1, len(groups))
    else:
        _clear(directory / "runs")
        groups, workers = rows(directory), AT_ONCE
    chosen, left = tuple(itertools.chain(*groups)), iter(groups)
    answers: dict[Row, documents.RowDocument] = {}
    board = _Board(chosen, answers, says_lines=deep)
    stop = threading.Event()
    with board, ThreadPoolExecutor(workers) as pool:
        try:
            working = {pool.submit(_work, left, answers, board, stop) for _ in range(workers)}
            while working:  # in short waits, since a signal need not end a long one
                done, working = wait(working, timeout=0.2)
                for future in done:
                    future.result()
        except BaseException:
            stop.set()
            raise
    told = [answers[row] for row in chosen]
    outcome = Outcome.worst(row.outcome for row in told)
    if json:
        return output.finish(documents.Gate(outcome=outcome, directory=str(directory), rows=told))
    output.out().print(_table(told))
    bad = [row for row in told if row.outcome != "holds"]
    for row in bad:
        output.out().print(f"{row.question}  {row.command}", soft_wrap=True)
    output.last_line(
        outcome, f"{len(told) - len(bad)} of {len(told)} rows hold" + ("" if deep else f"; logs: {directory}")
    )
    return outcome.exit_code


def _clear(runs: Path) -> None:
    """Remove the logs of an earlier gate: the runs are judged together."""
    import shutil

    try:
        shutil.rmtree(runs, ignore_errors=False)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise output.UsageProblem(f"--log: {runs} cannot be removed: {error.strerror}") from error


def _work(
    groups: Iterator[tuple[Row, ...]],
    answers: dict[Row, documents.RowDocument],
    board: _Board,
    stop: threading.Event,
) -> None:
    """Take groups from an iterator shared by several threads, and run the rows of each group one after the
    other, until no group is left.
    """
    for row in itertools.chain.from_iterable(groups):
        if stop.is_set():
            return
        board.start(row)
        answers[row] = _run(row, stop)
        board.finish(answers[row])


def _run(row: Row, stop: threading.Event) -> documents.RowDocument:
    """Run a row's command, and return its document. A command that fails, or prints no document, is unknown,
    with the reason.
    """
    began = time.perf_counter()
    command = [sys.executable, "-m", "antiphon.conformance.cli", *row.arguments, "--json"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as process:
        printed, complaint = "", ""
        while True:
            try:
                printed, complaint = process.communicate(timeout=0.5)
                break
            except subprocess.TimeoutExpired:
                if stop.is_set():
                    process.terminate()
    outcome, found = _answer(row, process.returncode, printed, complaint)
    seconds = round(time.perf_counter() - began, 1)
    return documents.RowDocument(
        question=row.question, outcome=outcome, found=found, seconds=seconds, command=row.command
    )


def _answer(row: Row, code: int, printed: str, complaint: str) -> tuple[Outcome, str]:
    outcomes = {outcome.exit_code: outcome for outcome in Outcome}
    try:
        document = json_module.loads(printed)
        if code in outcomes and document.get("outcome") == outcomes[code]:
            return outcomes[code], row.tell(document)
        return (
            Outcome.UNKNOWN,
            f"the command failed with exit code {code}: {document.get('message', 'no message')}",
        )
    except (ValueError, KeyError, TypeError) as error:
        last = (complaint.strip().splitlines() or [repr(error)])[-1]
        return Outcome.UNKNOWN, f"the command gave no answer (exit code {code}): {last}"


class _Board:
    """The table of the gate on a terminal, updated after each row. Elsewhere, with `says_lines`, print a line
    for each row that is done.
    """

    def __init__(
        self, all_rows: Sequence[Row], answers: dict[Row, documents.RowDocument], *, says_lines: bool
    ) -> None:
        self._rows, self._answers, self._says_lines = all_rows, answers, says_lines
        self._begun: dict[Row, float] = {}
        self._live = Live(
            console=output.err(), transient=True, refresh_per_second=2, get_renderable=self._render
        )
        self._shown = output.err().is_terminal

    def __enter__(self) -> Self:
        if self._shown:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._live.stop()

    def start(self, row: Row) -> None:
        """Show that the command of a row has begun."""
        self._begun[row] = time.perf_counter()
        self.update()

    def finish(self, answer: documents.RowDocument) -> None:
        """Show the outcome of a row."""
        if self._says_lines and not self._shown:
            output.err().print(
                f"{answer.outcome.value}  {answer.question}  {answer.found} ({answer.seconds:.0f} s)",
                soft_wrap=True,
            )
        self.update()

    def update(self) -> None:
        """Draw the table again with the outcomes so far."""
        if self._shown:
            self._live.refresh()

    def _render(self) -> Table:
        table = Table(box=None, pad_edge=False)
        for row in self._rows:
            answer = self._answers.get(row)
            if answer is not None:
                table.add_row(output.mark(answer.outcome), row.question, f"{answer.seconds:.0f} s")
            elif row in self._begun:
                table.add_row(
                    Text("… running", style="cyan"),
                    row.question,
                    f"{time.perf_counter() - self._begun[row]:.0f} s",
                )
            else:
                table.add_row(Text("  waiting", style="bright_black"), row.question, "")
        return table


def _table(told: list[documents.RowDocument]) -> Table:
    table = output.table(
        ("question", {"ratio": 3}),
        ("verdict", {"no_wrap": True}),
        ("evidence", {"ratio": 4}),
        ("s", {"justify": "right"}),
    )
    for row in told:
        table.add_row(Text(row.question), output.mark(row.outcome), Text(row.found), f"{row.seconds:.0f}")
    return table
