"""Faults (deeds) of processes whose group changes; a seed draws them, one round after the other.

A round has each fault of each requested kind once, in any order. A fault has its process, its duration, and
the time after which the next one may begin. The kinds and their words are those of swarms.

This module runs nothing, and knows no protocol.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.impl.membership.detector import Timeouts

__all__ = [
    "KINDS",
    "RATES",
    "TIMEOUTS",
    "Deed",
    "What",
    "joins_after_s",
    "round_s",
    "rounds",
    "spared",
    "whats",
    "word",
]

TIMEOUTS: Final = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=1_500)
"""Waiting times of `timeouts="local"` of a group, except that a silent member is excluded sooner."""


class What(StrEnum):
    """Kinds of faults of processes, each of one `FaultKind`."""

    CRASH = "killed, and started again later"
    RESTART = "killed, and started again at once"
    LEAVE = "told to leave, and started again later"
    PAUSE = "stopped for longer than suspect_ms"
    LONG_PAUSE = "stopped until the others have excluded it"
    PARTITION = "cut off from the others"
    ONE_WAY_CUT = "unheard by another one"
    DEAF = "cut off from what the others sent"
    SLOW = "heard too late"
    JOIN = "started later than the others"


_KINDS: Final = {
    What.CRASH: FaultKind.CRASH,
    What.RESTART: FaultKind.RESTART,
    What.LEAVE: FaultKind.LEAVE,
    What.PAUSE: FaultKind.PAUSE,
    What.LONG_PAUSE: FaultKind.PAUSE,
    What.PARTITION: FaultKind.PARTITION,
    What.ONE_WAY_CUT: FaultKind.ONE_WAY_CUT,
    What.DEAF: FaultKind.ONE_WAY_CUT,
    What.SLOW: FaultKind.FALSE_SUSPICION,
    What.JOIN: FaultKind.JOIN,
}

RATES: Final = {
    FaultKind.LOSS: "loss",
    FaultKind.DUPLICATION: "duplication",
    FaultKind.REORDERING: "reordering",
}
"""Kinds of faults with a rate, each with the name of the setting that is the rate."""

KINDS: Final = (*RATES, *dict.fromkeys(_KINDS.values()))
"""Kinds of faults that groups of real processes may have."""

_WAITS_MS: Final = {
    What.CRASH: (0.2, 2.0),
    What.RESTART: (0.0, 0.0),
    What.LEAVE: (0.1, 1.0),
    What.PAUSE: (0.2, 0.6),
    What.LONG_PAUSE: (1.1, 2.0),
    What.PARTITION: (0.3, 2.0),
    What.ONE_WAY_CUT: (0.3, 1.5),
    What.DEAF: (0.3, 2.0),
    What.SLOW: (0.3, 1.0),
    What.JOIN: (0.1, 1.0),
}
"""Shortest and longest duration of each kind of deed, as multiples of `exclude_ms`."""

_EARLY: Final = 0.3
"""Probability that a process is killed although it has not come back from the last time."""

_CLOSE: Final = 0.4
"""Probability that the deed after a deed does not wait until the first one has ended."""


def word(what: What) -> str:
    """Return the word for a fault: that of its kind, and one more for the second fault of a kind."""
    second = {What.LONG_PAUSE: ", excluded", What.DEAF: ", deaf"}
    return _KINDS[what].value + second.get(what, "")


class Deed(Struct, frozen=True):
    """Fault of some processes."""

    what: What
    to: tuple[int, ...]
    """Affected processes: of a partition the smaller part; of a cut the sender that is not heard."""
    other: int
    """Receiver of a cut link."""
    lasts_s: float
    gap_s: float
    """Seconds after its beginning at which the next fault may begin."""
    early: bool
    """True if it may also affect a process that has not come back yet."""

    @property
    def kind(self) -> FaultKind:
        """Return the kind of fault."""
        return _KINDS[self.what]

    def __str__(self) -> str:
        """Return the fault in a few words."""
        who = "process" if len(self.to) == 1 else "processes"
        return f"{who} {', '.join(map(str, self.to))} {self.what}"


def whats(kinds: Iterable[FaultKind]) -> tuple[What, ...]:
    """Return the detailed kinds of faults that belong to these kinds."""
    asked = {*kinds}
    return tuple(what for what, kind in _KINDS.items() if kind in asked)


def spared(processes: int) -> int:
    """Return the number of processes that may be away while a majority of all stays."""
    return (processes - 1) // 2


def rounds(seed: int, processes: int, kinds: Iterable[FaultKind]) -> Iterator[list[Deed]]:
    """Yield rounds of faults without end. No round has the late join, which happens once, at the
    beginning.
    """
    generator = random.Random(f"{seed}:deeds")
    some = [what for what in whats(kinds) if what is not What.JOIN]
    while True:
        generator.shuffle(some)
        yield [_drawn(what, processes, generator) for what in some]


def joins_after_s(seed: int) -> float:
    """Return the seconds after the founding of the group at which a late joiner starts."""
    least, most = _WAITS_MS[What.JOIN]
    return random.Random(f"{seed}:joins").uniform(least, most) * TIMEOUTS.exclude_ms / 1000.0


def round_s(kinds: Iterable[FaultKind]) -> float:
    """Estimate the duration of a round in seconds, with the time until the group is in one view again."""
    return sum(max(_WAITS_MS[what]) * TIMEOUTS.exclude_ms / 1000.0 + 1.0 for what in whats(kinds))


def _drawn(what: What, processes: int, generator: random.Random) -> Deed:
    least, most = _WAITS_MS[what]
    count = generator.randint(1, spared(processes)) if what is What.PARTITION else 1
    first, *others = generator.sample(range(processes), processes)
    lasts_s = generator.uniform(least, most) * TIMEOUTS.exclude_ms / 1000.0
    close = generator.random() < _CLOSE
    return Deed(
        what,
        to=tuple(sorted([first, *others[: count - 1]])),
        other=others[-1],
        lasts_s=lasts_s,
        gap_s=generator.uniform(0.0, 0.3) if close else lasts_s + generator.uniform(0.0, 1.0),
        early=what in (What.CRASH, What.RESTART) and generator.random() < _EARLY,
    )
