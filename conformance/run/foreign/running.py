"""Runs of a foreign program: drawn, taken, judged, shortened and kept.

A run is violated where a node breaks the protocol, or the judge of logs finds that a property is broken. It
is unknown where it was given up or shows nothing. The runs together are unknown where a kind of fault that
was asked for has not happened in any of them, or no fault at all.

This module knows no protocol.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from antiphon.conformance.adapters.messages import node_name
from antiphon.conformance.adapters.node import Misbehaves, Node, Watch
from antiphon.conformance.judge.history import RunFindings, judge_history
from antiphon.conformance.judge.history.properties import is_eventual
from antiphon.conformance.judge.trace import NO_DELIVERIES, TRUNCATED, Deliver, Problem, log_name
from antiphon.conformance.run.foreign.drawing import draw
from antiphon.conformance.run.foreign.group import STEPS_MAX, Carry, Group
from antiphon.conformance.run.foreign.settings import Settings
from antiphon.conformance.run.swarm.chance import Script
from antiphon.conformance.run.swarm.run_directory import SCHEDULE
from antiphon.conformance.run.swarm.schedule import Broadcast, Fate, Schedule
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.conformance.run.swarm.shrinking import shrink
from antiphon.model.files import write_whole
from antiphon.model.verdict import Outcome

SHRINK_SECONDS = 20.0
"""Seconds in which a failing schedule is shortened."""

QUICK_SECONDS = 1.0
"""Value of `settle_s` in the runs that are tried for shortening, if the failing run fails alike with it."""


@dataclass(frozen=True)
class ForeignRun:
    """Result of one run.

    Attributes:
        seed: the seed that drew it.
        outcome: its outcome.
        reasons: why it did not hold, the most important first.
        judged: the findings of the judge of logs.
        misbehaves: what a node did against the protocol, if it did.
        happened: how often each kind of fault has had an effect.
        schedule: the faults and broadcasts, with the fates of datagrams.
        logs: the log of each node, as a file.
        datagrams: how many were sent.
        delivered: how many deliveries there were.
        declined: how many broadcasts nodes declined.
        deterministic: True for a run in virtual time, which its schedule determines.
    """

    seed: int
    outcome: Outcome
    reasons: tuple[str, ...]
    judged: RunFindings
    misbehaves: Misbehaves | None
    happened: Counter[FaultKind]
    schedule: Schedule
    logs: tuple[bytes, ...]
    datagrams: int
    delivered: int
    declined: int
    deterministic: bool

    @property
    def symptom(self) -> str:
        """Return the first reason of a violation in rough words; two runs fail alike if these are equal."""
        if self.outcome is not Outcome.VIOLATED:
            return ""
        if self.misbehaves is not None:
            return self.misbehaves.what
        return self.reasons[0].partition(":")[0]


@dataclass
class ForeignReport:
    """Result of several runs. `shortened` is the first failing run after shortening, if that was tried;
    `untaken` is how many runs were asked for, and not taken since the time was over.
    """

    command: tuple[str, ...]
    settings: Settings
    runs: list[ForeignRun] = field(default_factory=list)
    untaken: int = 0
    shortened: ForeignRun | None = None
    seconds: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """Return the worst outcome, and unknown where the faults did not happen."""
        unmet = [Outcome.UNKNOWN] if self.unmet or self.untaken or not self.runs else []
        return Outcome.worst([*(run.outcome for run in self.runs), *unmet])

    @property
    def happened(self) -> Counter[FaultKind]:
        """Return how often each kind of fault has had an effect, in all runs."""
        return sum((run.happened for run in self.runs), Counter[FaultKind]())

    @property
    def unmet(self) -> tuple[str, ...]:
        """Return a sentence on each fault that was asked for and did not happen."""
        happened = self.happened
        if not self.settings.only:
            return () if happened else ("no fault has happened: none is not a pass",)
        return tuple(
            f"{kind} was asked for, and has not happened: none is not a pass"
            for kind in self.settings.only
            if not happened[kind]
        )

    @property
    def failed(self) -> ForeignRun | None:
        """Return the first run of the worst outcome, unless all hold."""
        worst = Outcome.worst(run.outcome for run in self.runs) if self.runs else Outcome.HOLDS
        return None if worst is Outcome.HOLDS else next(run for run in self.runs if run.outcome is worst)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return the reasons of the outcome."""
        failed = self.shortened or self.failed
        asked = f"{self.untaken + len(self.runs)} runs"
        untaken = [f"{self.untaken} of {asked} not taken: the time is over"] if self.untaken else []
        return (*(failed.reasons if failed else ()), *self.unmet, *untaken)


def run_foreign(
    command: Sequence[str],
    *,
    runs: int | None = 1,
    max_seconds: float | None = None,
    seed: int = 0,
    settings: Settings = Settings(),  # noqa: B008 - frozen
    shrink_seconds: float = SHRINK_SECONDS,
    progress: Callable[[int], None] = lambda _: None,
    watch: Watch | None = None,
) -> ForeignReport:
    """Run a program under the faults that consecutive seeds draw, until a run is violated.

    Args:
        command: the words of the command that starts a node.
        runs: the number of runs; None for as many as `max_seconds` permits.
        max_seconds: time after which no other run is begun, but one; None: no limit.
        seed: the first seed.
        settings: the settings of the runs.
        shrink_seconds: how long the first violated run is shortened, if it is deterministic; 0: not at all.
        progress: called with the number of runs that have been taken.
        watch: the onlooker of all nodes, but not of those of the runs that are tried for shortening.

    Raises:
        CommandError: the command cannot be started.
    """
    report, began = ForeignReport(tuple(command), settings), time.monotonic()
    can = _abilities(command, settings)
    for number in itertools.count(seed) if runs is None else range(seed, seed + runs):
        run = run_seed(command, number, settings, can, watch)
        report.runs.append(run)
        progress(len(report.runs))
        if run.outcome is Outcome.VIOLATED:
            if run.deterministic and shrink_seconds > 0:
                report.shortened = shortened(command, run, settings, shrink_seconds)
            break
        if max_seconds is not None and time.monotonic() - began >= max_seconds:
            report.untaken = 0 if runs is None else seed + runs - number - 1
            break
    report.seconds = time.monotonic() - began
    return report


def run_seed(
    command: Sequence[str],
    seed: int,
    settings: Settings,
    can: Collection[str] | None = None,
    watch: Watch | None = None,
) -> ForeignRun:
    """Take the run that a seed draws, and judge it.

    Args:
        command: the words of the command that starts a node.
        seed: the seed.
        settings: the settings.
        can: the abilities of the program; None: it is asked.
        watch: the onlooker of the nodes.

    Raises:
        CommandError: the command cannot be started.
    """
    if can is None:
        can = _abilities(command, settings)
    _, schedule, weather = draw(seed, settings, can)
    with _home() as home:
        run = _taken(command, schedule, weather, settings, seed, home, watch=watch)
    met = msgspec.structs.replace(schedule, entries=(*schedule.entries, *weather.met))
    return replace(run, schedule=met)


def run_schedule(command: Sequence[str], schedule: Schedule, settings: Settings, seed: int = 0) -> ForeignRun:
    """Take the run of a schedule, and judge it.

    Raises:
        CommandError: the command cannot be started.
    """
    with _home() as home:
        return _taken(command, schedule, Script(schedule), settings, seed, home)


def shortened(command: Sequence[str], run: ForeignRun, settings: Settings, seconds: float) -> ForeignRun:
    """Return a failing run with a shorter schedule that fails alike; the run itself if there is none.

    Args:
        command: the words of the command that starts a node.
        run: the failing run.
        settings: its settings.
        seconds: how long shorter ones are tried.
    """
    until = time.monotonic() + seconds
    quick = msgspec.structs.replace(settings, settle_s=min(QUICK_SECONDS, settings.settle_s))
    fails_at_once = run_schedule(command, run.schedule, quick, run.seed).symptom == run.symptom
    trying = quick if fails_at_once else settings

    spare: dict[int, Node] = {}

    def fails(schedule: Schedule) -> bool:
        if time.monotonic() > until:
            return False
        tried = _taken(command, schedule, Script(schedule), trying, run.seed, home, spare)
        return tried.symptom == run.symptom

    with _home() as home:
        try:
            shorter = _earlier(shrink(run.schedule, fails), fails)
        finally:
            for node in spare.values():
                node.end()
    found = run_schedule(command, shorter, settings, run.seed)
    return found if found.symptom == run.symptom else run


def _earlier(schedule: Schedule, fails: Callable[[Schedule], bool]) -> Schedule:
    """Return a failing schedule with fewer broadcasts, whose faults meet earlier datagrams.

    A fault names its datagram by its number on the link, so that the broadcasts before it cannot be left out
    alone: without one of them, the datagram comes earlier.
    """
    again = True
    while again:
        again = False
        for broadcast, fate, by in itertools.product(
            [entry for entry in schedule.entries if isinstance(entry, Broadcast)],
            [entry for entry in schedule.entries if isinstance(entry, Fate)],
            (1, 2, 3),
        ):
            if fate.nth <= by:
                continue
            moved = msgspec.structs.replace(fate, nth=fate.nth - by)
            rest = [entry for entry in schedule.entries if entry is not broadcast and entry is not fate]
            candidate = msgspec.structs.replace(schedule, entries=(*rest, moved))
            if fails(candidate):
                schedule, again = candidate, True
                break
    return schedule


def kept(run: ForeignRun, directory: str | Path) -> Path:
    """Write the logs and the schedule of a run into a new directory, and return it.

    Raises:
        OSError: it cannot be written.
    """
    name = f"adapter-{run.seed}"
    parent = Path(directory)
    parent.mkdir(parents=True, exist_ok=True)
    home, count = parent / name, 1
    while home.exists():
        count += 1
        home = parent / f"{name}-{count}"
    home.mkdir()
    for node, lines in enumerate(run.logs):
        write_whole(home / log_name(node), lines)
    data = msgspec.json.format(msgspec.json.encode(run.schedule), indent=1)
    write_whole(home / SCHEDULE, data + b"\n")
    if run.misbehaves is not None:
        write_whole(home / "misbehaves.txt", run.misbehaves.shown().encode() + b"\n")
    return home


def _taken(
    command: Sequence[str],
    schedule: Schedule,
    carry: Carry,
    settings: Settings,
    seed: int,
    home: Path,
    spare: dict[int, Node] | None = None,
    watch: Watch | None = None,
) -> ForeignRun:
    """Take a run.

    Args:
        command: the words of the command that starts a node.
        schedule: the faults and broadcasts.
        carry: the fates of datagrams.
        settings: the settings.
        seed: the seed of the schedule.
        home: a directory for disks.
        spare: processes of an earlier run of the same schedule or of a longer one, which are used again.
        watch: the onlooker of the nodes.
    """
    names = tuple(node_name(number) for number in range(schedule.members))
    begun: set[int] = set()

    def launch(number: int) -> Node:
        node = spare.pop(number, None) if spare is not None else None
        if node is not None and node.names != names:
            node.end()
            node = None
        node = node or Node(command, names[number], names, home, reply_s=settings.reply_s, watch=watch)
        if number not in begun:
            node.clear_disk()
            begun.add(number)
        return node

    group = Group(launch, schedule, carry, settings)
    try:
        group.run()
    finally:
        group.close(spare)
    return _judged(group, command, schedule, settings, seed)


def _judged(
    group: Group, command: Sequence[str], schedule: Schedule, settings: Settings, seed: int
) -> ForeignRun:
    history = group.log.history()
    delivered = sum(isinstance(event, Deliver) for log in history for event in log)
    at = Path(log_name(0))
    problems = [Problem(at, 0, TRUNCATED)] if group.misbehaves or group.capped else []
    problems += [] if delivered else [Problem(at, 0, NO_DELIVERIES)]
    judged = RunFindings(judge_history(history, settings.promise), tuple(problems))
    reasons = [group.misbehaves.shown()] if group.misbehaves else []
    violated = [finding for finding in judged.findings if judged.outcome(finding) is Outcome.VIOLATED]
    reasons += [  # first what no later event can mend
        f"{finding.property}: {finding}"
        for finding in sorted(violated, key=lambda finding: is_eventual(finding.property))
    ]
    outcome = Outcome.VIOLATED if reasons else judged.worst
    if outcome is Outcome.UNKNOWN:
        reasons = [
            *([f"given up after {STEPS_MAX:,} steps"] if group.capped else []),
            *([] if delivered else ["nothing was delivered"]),
            *(
                f"{finding.property}: {judged.sentence(finding)}"
                for finding in judged.findings
                if judged.outcome(finding) is Outcome.UNKNOWN and delivered
            ),
        ]
    sent = sum(event.__struct_config__.tag == "broadcast" for log in history for event in log)
    return ForeignRun(
        seed=seed, outcome=outcome, reasons=tuple(reasons), judged=judged, misbehaves=group.misbehaves,
        happened=group.happened, schedule=schedule,
        logs=group.log.lines(f"adapter-{seed}", Path(command[0]).name, seed, sent),
        datagrams=group.datagrams, delivered=delivered, declined=group.declined, deterministic=group.virtual,
    )  # fmt: skip


def _abilities(command: Sequence[str], settings: Settings) -> Collection[str]:
    """Return the abilities of the program; none if its faults are named, so that no kind is drawn."""
    if settings.only:
        return ()
    names = [node_name(number) for number in range(settings.nodes)]
    with _home() as home:
        node = Node(command, names[0], names, home, reply_s=settings.reply_s)
        try:
            node.init()
        except Misbehaves:
            return ()  # the run shows it
        finally:
            node.end()
        return node.can


@contextmanager
def _home() -> Iterator[Path]:
    """Context that yields a temporary directory for the disks of a run."""
    with tempfile.TemporaryDirectory(prefix="antiphon-") as home:
        yield Path(home)
