"""Largest bound up to which each repaired protocol is explored in ten minutes: a ladder of bounds for each,
climbed rung by rung.

Run: `python benchmarks/largest_bounds.py [PROTOCOL]... [--seconds 600] [--memory 12000] [--threads 2] [--together 1] [--within S] [--known]
[--json FILE]`; without names, all: hours. `--together` climbs so many ladders side by side, `--within` ends everything after so many seconds: what is not
completed by then ends its ladder. `--known` explores of each ladder only the largest bound that is known to be completed, `--known 1` the one after it, too.

Every rung is a process of its own with the native engine, all repairs on, nothing reduced, and everything asked that the repaired protocol
promises: its invariants, the properties of its service, its obligations. The first rung that is not completed, in the time or in the memory, ends
the ladder; of those before it, the one with most states is the protocol's largest bound. A rung is given up when more states wait than ever before
at half of the time or of the memory: what waits grows, is most about halfway, and shrinks. `seconds` are elapsed ones of the search and the
judging, `cpu` processor seconds of all threads, both with the kernel compiled before. `MiB` is the largest that
the process was, `bytes` are what it was larger then than before the search, divided by the states: small searches show the engine's own tables there.
Nothing is written unless --json says where, and there after each rung.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console
from rich.table import Table

from antiphon.model.bounds import Bounds, Progress, resident_mb
from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check, kinds_of
from antiphon.model.verdict import Outcome
from antiphon.programs import specification
from antiphon.spec.lang import program

Constants = Mapping[str, int | bool | str]

PROMISED = ("invariant", "service", "obligation")
"""The kinds of properties that must hold; witnesses are for reaching."""

ALONE = ("UniformPrefixOrder", "UniformTotalOrder", "UniformAgreement")
"""Properties about what a process that crashes may have delivered alone, where the document promises nothing
of the kind.
"""

BELOW = ("Answered", "BuffersFlushed")
"""Properties that NAK promises alone, and not to a process that crashes or a view that ends."""

ENDING = 5.0
"""Seconds that a search may take to end when everything ends."""

TURN = ("OneTurnBufferedByAll",)
"""Properties that four processes break also as repaired (RBP-24)."""


@dataclass(frozen=True)
class Ladder:
    """The bounds of one protocol, small ones first, all with the constants of `base` and all repairs but `without`; the properties of `but` are not
    promised. `known` is the place of the largest bound that is known to be completed."""

    name: str
    base: Constants
    rungs: tuple[Constants, ...]
    but: tuple[str, ...] = ()
    about: str = ""
    without: tuple[str, ...] = ()
    known: int = -1

    @property
    def title(self) -> str:
        """The name on the command line, and what is special."""
        return f"{self.name}, {self.about}" if self.about else self.name


def _grow(names: str, *rungs: tuple[int, ...]) -> tuple[Constants, ...]:
    """Rungs that differ in these constants only."""
    return tuple(dict(zip(names.split(), rung, strict=True)) for rung in rungs)


_RING: Constants = {"unlimited": True, "urgent": True, "assigned": True, "patient": True}
_HORUS: Constants = {"patient": True, "oracle": "one that waits", "stride": 1}

SAFE = (
    "PrimaryPartition", "VscValidity", "VscTermination", "Validity", "UniformAgreement", "Agreement",
    "TimeBoundedBuffering", "Termination",
)  # fmt: skip
"""Promises of a view change for the end, which failures and false suspicions together keep from coming
about.
"""

REFORMED = ("OneToken", "NoTwoComplete", "CommitTogether", "OneComesThrough", "NobodyWaitsForEver", *SAFE)
"""Properties that no repair of Reformation gives."""

LADDERS = (
    Ladder(
        "irbp",
        {"detected_at_once": True, "urgent": True, "assigned": True},
        _grow(
            "processes messages crashes false_suspicions views highest",
            (3, 1, 1, 0, 2, 5), (3, 2, 1, 0, 2, 7), (3, 1, 1, 1, 2, 5), (4, 1, 1, 0, 2, 5), (3, 2, 1, 1, 3, 5), (4, 1, 1, 1, 2, 5), (4, 2, 1, 1, 2, 6),
        ),
        SAFE,
        about="safety, local steps at once, message k of process k",
        known=5,
    ),
    Ladder(
        "vsc",
        {"detected_at_once": True},
        _grow(
            "processes messages crashes false_suspicions views",
            (3, 1, 1, 0, 2), (3, 1, 1, 1, 2), (3, 1, 1, 1, 3), (3, 2, 1, 1, 2), (4, 1, 1, 1, 2), (3, 2, 1, 1, 3), (4, 2, 1, 1, 2),
        ),
        SAFE,
        about="safety",
        known=3,
    ),
    Ladder(
        "reformation",
        {"terse": True, "eager": True, "committed": "sequenced", "leaving": "remembers"},
        _grow(
            "processes messages numbers attempts views crashes",
            (3, 1, 1, 1, 4, 0), (3, 1, 1, 2, 7, 0), (3, 2, 2, 2, 7, 0), (3, 2, 2, 2, 7, 1), (3, 2, 3, 2, 7, 0), (3, 2, 2, 3, 10, 0), (4, 2, 2, 2, 9, 0),
        ),
        REFORMED,
        about="safety, where sites send nothing in vain",
        known=3,
    ),
    Ladder(
        "chandra-toueg",
        {"urgent": True, "detected_at_once": True},
        _grow(
            "processes crashes false_suspicions rounds",
            (3, 1, 0, 2), (3, 1, 1, 2), (3, 1, 1, 3), (3, 1, 2, 3), (4, 1, 1, 2), (5, 2, 1, 2),
        ),
        SAFE,
        about="safety, local steps at once",
        known=4,
    ),
    Ladder(
        "irbp",
        {"detected_at_once": True, "processes": 3, "views": 2},
        _grow("messages crashes false_suspicions highest", (1, 1, 0, 4), (1, 0, 1, 4), (1, 1, 1, 4)),
        SAFE,
        about="safety",
    ),
    Ladder(
        "irbp",
        {"detected_at_once": True, "delivering": True, "assigned": True, "processes": 3, "messages": 2, "views": 2},
        _grow("crashes false_suspicions highest", (1, 0, 5), (0, 1, 5), (1, 1, 5)),
        SAFE,
        about="safety, deliveries at once, message k of process k",
    ),
    Ladder(
        "irbp-two-views",
        {"detected_at_once": True, "prompt": True, "assigned": True, "processes": 3, "messages": 1, "views": 3, "acknowledging": "group", "room": 5},
        _grow("crashes false_suspicions misjudgements highest spare", (1, 1, 0, 5, 2), (0, 1, 1, 3, 2)),
        (*SAFE, "ChangesEnd", "GroupIsUp", "NobodyKillsItself"),
        about="safety, local steps at once",
    ),
    Ladder(
        "vsc",
        {"detected_at_once": True, "assigned": True, "called_once": True, "processes": 3, "views": 3},
        _grow("messages crashes false_suspicions", (1, 1, 1), (2, 1, 1)),
        SAFE,
        about="safety, message k of process k, one call a view",
    ),
    Ladder(
        "primary-backup-vsc",
        {"detected_at_once": True, "views": 2},
        _grow("processes messages crashes false_suspicions", (3, 2, 1, 0), (3, 3, 1, 0), (3, 2, 1, 1), (3, 3, 1, 1)),
        (*SAFE, *ALONE, "PrefixOrder"),
        about="safety",
    ),
    Ladder(
        "rbp-reforming",
        {**_RING, "losses": 0, "leaving": "remembers", "processes": 3, "messages": 2},
        _grow(
            "passes numbers attempts views crashes suspicions",
            (0, 3, 1, 2, 0, 1), (2, 5, 2, 3, 1, 0),
        ),
        REFORMED,
        about="safety",
        without=("own_versions",),
    ),
    Ladder(
        "rmp",
        {"views": 1, "crashes": 0, "batch": 2, "counted": "acknowledgements"},
        _grow("processes messages highest level", (2, 2, 3, 2), (3, 1, 3, 2), (3, 2, 3, 2), (3, 2, 4, 2)),
        ("Validity",),
    ),
    Ladder(
        "trmp",
        {"views": 1, "crashes": 0, "primaries": 2},
        _grow("processes messages highest", (3, 1, 3), (3, 2, 3), (4, 1, 3), (4, 2, 3)),
        ("Validity", "PrimariesDeliver"),
    ),
    Ladder(
        "horus-flush-stack",
        {"patient": True, "handled_at_once": True, "stride": 1, "oracle": "one that waits", "processes": 3, "crashes": 1, "views": 2},
        _grow("messages losses casts buffer", (1, 0, 6, 4), (1, 1, 6, 4), (2, 0, 8, 6)),
        (*ALONE, *BELOW),
    ),
    Ladder("view-synchrony", {"processes": 3}, _grow("messages crashes views", (1, 1, 2), (2, 1, 2), (2, 1, 3), (3, 1, 3))),
    Ladder(
        "total",
        {"assigned": True, "patient": True, "first_ids": 2},
        _grow(
            "processes messages losses crashes views",
            (2, 2, 1, 1, 2), (3, 2, 1, 1, 2), (3, 2, 1, 2, 3), (3, 3, 1, 1, 2), (4, 3, 1, 1, 2), (4, 3, 2, 1, 2), (4, 3, 1, 2, 3), (4, 4, 1, 2, 3),
            (5, 4, 2, 2, 3), (5, 5, 2, 2, 3),
        ),
        ALONE,
        known=6,
    ),
    Ladder(
        "total",
        {"assigned": True, "reforms": True, "crashes": 0},
        _grow(
            "processes messages losses views",
            (2, 2, 0, 2), (2, 2, 1, 2), (2, 3, 1, 2), (3, 2, 0, 2), (3, 2, 1, 2), (3, 3, 0, 2), (3, 3, 1, 2), (3, 3, 1, 3),
        ),
        about="timers at any time",
        known=4,
    ),
    Ladder(
        "sequencer",
        {},
        _grow(
            "processes messages crashes views",
            (3, 1, 1, 2), (3, 2, 1, 2), (3, 2, 2, 3), (4, 2, 2, 3), (3, 3, 2, 3), (4, 3, 2, 3), (4, 3, 3, 4), (4, 4, 2, 3), (5, 3, 2, 3),
        ),
        known=5,
    ),
    Ladder(
        "figure-2",
        {},
        _grow("processes messages losses", (2, 2, 1), (3, 2, 1), (3, 2, 2), (4, 2, 2), (3, 3, 1), (4, 3, 1), (4, 3, 2), (5, 3, 2)),
        known=6,
    ),
    Ladder(
        "figure-5",
        {},
        _grow("processes messages losses", (2, 2, 1), (3, 1, 1), (3, 1, 2), (4, 1, 1), (3, 2, 0), (3, 2, 1), (3, 2, 2), (4, 1, 2), (4, 2, 0)),
        known=6,
    ),
    Ladder(
        "moving-sequencer",
        {},
        _grow("processes messages losses", (2, 1, 1), (2, 2, 0), (2, 2, 1), (3, 1, 0), (3, 1, 1), (3, 1, 2), (3, 2, 0), (4, 1, 0)),
        known=5,
    ),
    Ladder(
        "moving-sequencer",
        {"urgent": True},
        _grow("processes messages losses", (2, 1, 1), (2, 2, 1), (3, 1, 0), (3, 1, 1), (3, 1, 2), (2, 3, 1), (3, 2, 0), (4, 1, 1), (3, 2, 1)),
        about="local steps at once",
        known=5,
    ),
    Ladder(
        "rbp",
        {"unlimited": True},
        _grow("processes messages losses", (2, 1, 1), (2, 1, 2), (2, 2, 0), (2, 2, 1), (3, 1, 0), (3, 1, 1), (2, 3, 1), (3, 2, 0)),
        known=6,
    ),
    Ladder(
        "rbp",
        _RING,
        _grow("processes messages losses", (2, 2, 1), (3, 1, 1), (3, 1, 2), (4, 1, 1), (3, 2, 0), (3, 2, 1), (3, 3, 0), (3, 3, 1)),
        about="local steps at once, timers after losses, message k of process k",
        known=5,
    ),
    Ladder(
        "rbp-resilient",
        {**_RING, "crashes": 0},
        _grow(
            "processes messages losses passes",
            (2, 1, 1, 4), (3, 1, 1, 5), (3, 2, 1, 7), (4, 1, 1, 7), (3, 2, 2, 7), (4, 1, 2, 8), (4, 2, 1, 8), (5, 1, 1, 9), (5, 2, 1, 10),
        ),
        TURN,
        known=7,
    ),
    Ladder(
        "rbp-resilient",
        {**_RING, "brief": False},
        _grow(
            "processes messages losses passes crashes",
            (2, 1, 1, 4, 1), (3, 1, 0, 3, 1), (3, 1, 1, 3, 2), (3, 2, 1, 3, 2), (3, 2, 1, 5, 2), (4, 1, 1, 3, 2), (3, 3, 1, 5, 2), (4, 2, 1, 4, 3),
        ),
        (*TURN, "Validity", "EverybodyDelivers", "Returns", "UniformAgreement", "Agreement"),
        "safety and detection, with failures, before Reformation",
    ),
    Ladder(
        "dtp",
        {"tie": "lowest", "losses": 0, "timeouts": 0},
        _grow(
            "processes messages senders nulls",
            (2, 2, 2, 0), (3, 2, 2, 0), (3, 3, 1, 0), (3, 2, 2, 1), (3, 3, 3, 0), (3, 3, 1, 1), (4, 2, 2, 0), (4, 3, 1, 0),
        ),
        about="no losses",
        known=3,
    ),
    Ladder(
        "dtp",
        {"tie": "lowest", "losses": 1, "unlimited": True},
        _grow(
            "processes messages senders nulls",
            (2, 1, 1, 1), (2, 2, 2, 0), (2, 2, 2, 1), (3, 1, 1, 0), (3, 1, 1, 1), (3, 2, 1, 0), (3, 2, 2, 0), (3, 2, 2, 1),
        ),
        known=6,
    ),
    Ladder(
        "horus-total",
        {"stride": 1},
        _grow(
            "processes messages crashes views",
            (2, 2, 1, 2), (3, 2, 1, 2), (3, 2, 2, 3), (3, 3, 1, 2), (3, 3, 2, 3), (4, 2, 2, 3), (4, 3, 2, 3), (4, 4, 2, 3),
        ),
        ALONE,
        known=6,
    ),
    Ladder(
        "horus",
        _HORUS,
        (
            {"processes": 2, "messages": 1, "casts": 2, "buffer": 2, "crashes": 0},
            {"processes": 2, "messages": 2, "casts": 4, "buffer": 2, "crashes": 0},
            {"processes": 2, "messages": 2, "casts": 5, "buffer": 3, "crashes": 1},
            {"processes": 3, "messages": 1, "casts": 2, "buffer": 2, "crashes": 1},
            {"processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 0},
            {"processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 1},
            {"processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 1, "patient": False},
        ),
        (*ALONE, *BELOW),
        known=5,
    ),
    Ladder("chang-maxemchuk", {}, _grow("processes messages", (2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (5, 4), (5, 5), (6, 5)), known=3),
    Ladder("pinwheel", {}, _grow("processes messages", (2, 2), (3, 2), (3, 3), (4, 3), (4, 4), (5, 4), (5, 5)), known=2),
    Ladder(
        "irbp-iviews",
        {"detected_at_once": True, "urgent": True, "assigned": True, "views": 2},
        _grow("processes messages crashes false_suspicions highest", (3, 1, 1, 1, 5), (3, 2, 1, 1, 6), (4, 1, 1, 1, 5)),
        (*SAFE, "CoreAgreement", "NothingIsSent", "SendingViewDelivery", "SameViewDelivery", "ExternalsFollow"),
        about="what is promised of the core, local steps at once",
    ),
    Ladder(
        "dtp-crashing",
        {"tie": "lowest", "resilience": 1, "senders": 1, "unlimited": True, "timeouts": 0, "nulls": 0, "processes": 3},
        _grow("messages losses crashes", (1, 1, 1), (2, 0, 1), (2, 1, 1)),
        (*SAFE, "TokenHeld", "Acknowledged", "Recovers"),
        about="safety",
    ),
    Ladder("totem-ring", {}, _grow("processes messages", (3, 3), (3, 4), (4, 3), (4, 4)), known=2),
    Ladder("totem", {}, _grow("processes messages visits", (2, 2, 4), (3, 2, 5), (3, 3, 6), (3, 4, 8), (4, 3, 8), (4, 4, 9), (5, 4, 11)), known=3),
)  # fmt: skip


@dataclass(frozen=True)
class Rung:
    """One bound: what came out. `largest` is the most that the process ever had, in MiB. `broken` are the properties that were violated; `undecided`
    those that no bound but a budget of the specification leaves open; `died` says why there is no more, where the process ended."""

    protocol: str
    constants: Constants
    states: int = 0
    transitions: int = 0
    depth: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    bytes_a_state: float = 0.0
    largest: float = 0.0
    complete: bool = False
    broken: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    died: str = ""
    given_up: bool = False

    @property
    def found(self) -> str:
        """The outcome in words."""
        if self.died:
            return self.died
        if self.broken:
            return f"violated: {', '.join(self.broken)}"
        if self.given_up:
            return "given up, nothing broken"
        if not self.complete:
            return "not completed, nothing broken"
        return f"holds but for {', '.join(self.undecided)}, short of budget" if self.undecided else "holds"


def climb(ladder: Ladder, rung: Constants, seconds: float, memory: int, threads: int) -> Rung:
    """Explore one bound, in this process."""
    constants = {**ladder.base, **rung}
    bound = program(specification(ladder.name), repairs="all", without=ladder.without, **constants)
    asked = [name for name, kind in kinds_of(bound).items() if kind in PROMISED and name not in ladder.but]
    check(
        bound,
        properties=asked,
        engine="native",
        bounds=Bounds(states=1),
        storage=StorageOptions(threads=threads),
    )  # compiles
    before, spent = _largest(), time.process_time()
    hope = Hope(seconds, memory)
    report = check(
        bound, properties=asked, engine="native", bounds=Bounds(seconds=seconds, memory_mb=memory), storage=StorageOptions(threads=threads),
        progress=hope.look,
    )  # fmt: skip
    seen = report.exploration
    broken, undecided = (
        tuple(verdict.property for verdict in report.verdicts if verdict.outcome is outcome)
        for outcome in (Outcome.VIOLATED, Outcome.UNKNOWN)
    )
    a_state = (_largest() - before) / max(seen.states, 1)
    return Rung(
        ladder.title, constants, seen.states, seen.transitions, seen.depth, seen.seconds, time.process_time() - spent, a_state, _largest() / 2**20,
        seen.complete, broken, undecided, given_up=hope.gone,
    )  # fmt: skip


@dataclass
class Hope:
    """Hope that a search ends: it is gone when, after half of so many seconds or with half of so many MiB,
    more states wait than ever before. A search that has come to its bounds ends by itself.
    """

    seconds: float
    memory: float
    most: int = 0
    gone: bool = False

    def look(self, progress: Progress) -> None:
        """Interrupt a search without hope."""
        spent = max(progress.seconds / self.seconds, resident_mb() / self.memory)
        if 0.5 < spent < 1 and progress.queue > self.most:
            self.gone = True
            raise KeyboardInterrupt
        self.most = max(self.most, progress.queue)


def _largest() -> int:
    """The largest that this process has been, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


@dataclass(frozen=True)
class Limits:
    """Limits of a rung: seconds, memory in MiB, threads; `end` is when everything ends, by the monotonic
    clock. `beyond`: only the largest bound that is known to be completed is explored, and so many after
    it; None for all rungs.
    """

    seconds: float
    memory: int
    threads: int
    end: float
    beyond: int | None = None

    @property
    def left(self) -> float:
        """Seconds that are left for everything."""
        return self.end - time.monotonic()


def climbed(ladder: Ladder, limits: Limits, tell: Callable[[Rung, Constants], None]) -> list[Rung]:
    """The rungs of a ladder, up to the first that is not completed; each is told as it ends."""
    rungs: list[Rung] = []
    first = ladder.known % len(ladder.rungs)
    for constants in (
        ladder.rungs if limits.beyond is None else ladder.rungs[first : first + limits.beyond + 1]
    ):
        rung = _alone(ladder, constants, limits)
        rungs.append(rung)
        tell(rung, constants)
        if not rung.complete:
            break
    return rungs


def _alone(ladder: Ladder, constants: Constants, limits: Limits) -> Rung:
    """A rung in a process of its own, which is ended when it takes twice the time, and two minutes for reading and compiling the specification."""
    seconds = min(limits.seconds, limits.left)
    if seconds <= 0:
        return Rung(ladder.title, {**ladder.base, **constants}, died="no time was left")
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(
        target=_send, args=(there, ladder, constants, seconds, limits.memory, limits.threads), daemon=True
    )
    process.start()
    there.close()
    try:
        if not here.poll(min(2 * seconds + 120, limits.left + ENDING)):
            return Rung(ladder.title, {**ladder.base, **constants}, died="took too long")
        answer: Rung = here.recv()
        return answer
    except EOFError:
        return Rung(ladder.title, {**ladder.base, **constants}, died="the process ended without an answer")
    finally:
        process.kill()
        process.join()


def _send(
    there: Connection, ladder: Ladder, constants: Constants, seconds: float, memory: int, threads: int
) -> None:
    there.send(climb(ladder, constants, seconds, memory, threads))


def _sizes(constants: Constants) -> str:
    return ", ".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in constants.items()
    )


def main() -> None:
    """Climb, tell every rung on the way, and print the largest bound of each ladder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = list(dict.fromkeys(ladder.name for ladder in LADDERS))
    parser.add_argument(
        "protocols", nargs="*", metavar="PROTOCOL", help=f"all without; known: {', '.join(names)}"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="for each rung")
    parser.add_argument("--memory", type=int, default=12_000, help="for each rung, in MiB")
    parser.add_argument("--threads", type=int, default=2, help="for each rung")
    parser.add_argument("--together", type=int, default=1, help="so many ladders are climbed side by side")
    parser.add_argument("--within", type=float, default=float("inf"), help="seconds for everything")
    parser.add_argument(
        "--known", type=int, nargs="?", const=0, metavar="N", help="only the largest bound that is known to be completed, and N after it (0)"
    )  # fmt: skip
    parser.add_argument("--json", type=Path, help="write every rung here, too")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    unknown = [name for name in chosen.protocols if name not in names]
    if unknown:
        parser.error(f"no ladder for {', '.join(unknown)}; known: {', '.join(names)}")
    console = Console(width=190)
    table = Table(
        "protocol",
        "largest bound completed",
        "states",
        "depth",
        "seconds",
        "cpu",
        "bytes",
        "MiB",
        "found",
        title=f"{chosen.seconds:g} s a bound",
        title_justify="left",
    )
    everything: list[Rung] = []
    one_at_a_time = threading.Lock()

    def tell(rung: Rung, constants: Constants) -> None:
        with one_at_a_time:
            console.print(
                f"{rung.protocol}: {_sizes(constants)}: {rung.states:,} states, {rung.seconds:.1f} s ({rung.cpu:.1f}), {rung.bytes_a_state:.0f} bytes, "
                f"{rung.largest:,.0f} MiB, {rung.found}",
                soft_wrap=True,
            )
            everything.append(rung)
            if chosen.json:
                written = json.dumps([asdict(rung) for rung in everything], indent=1)
                chosen.json.write_text(written + "\n", encoding="utf-8")

    limits = Limits(
        chosen.seconds, chosen.memory, chosen.threads, time.monotonic() + chosen.within, chosen.known
    )
    ladders = [ladder for ladder in LADDERS if not chosen.protocols or ladder.name in chosen.protocols]
    with ThreadPoolExecutor(chosen.together) as pool:
        for ladder, rungs in zip(
            ladders, pool.map(lambda ladder: climbed(ladder, limits, tell), ladders), strict=True
        ):
            table.add_row(*_row(ladder, rungs))
    console.print(table)


def _end(number: int, _: object) -> None:
    """End all rungs, and with them all ladders: a rung whose process ends is not completed."""
    for process in multiprocessing.active_children():
        process.kill()
    sys.exit(128 + number)


def _row(ladder: Ladder, rungs: list[Rung]) -> tuple[str, ...]:
    """The largest bound of a ladder that was completed."""
    done = [rung for rung in rungs if rung.complete]
    if not done:
        return ladder.title, "none", "", "", "", "", "", "", rungs[0].found
    best = max(done, key=lambda rung: rung.states)
    return (
        ladder.title,
        _sizes(best.constants),
        f"{best.states:,}",
        str(best.depth),
        f"{best.seconds:.1f}",
        f"{best.cpu:.1f}",
        f"{best.bytes_a_state:.0f}",
        f"{best.largest:,.0f}",
        best.found,
    )


if __name__ == "__main__":
    main()
