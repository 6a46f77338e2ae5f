"""Settings of a run of another system's group, and its faults: a seed draws them, one round after the other.

A round has a fault of each kind once, in any order. A fault has its hosts, its beginning and its duration.

This module runs nothing, and knows no system.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from antiphon.conformance.run.swarm.settings import FaultKind

__all__ = ["KINDS", "LOSS", "Fault", "SystemSettings", "faults_of"]

KINDS: Final = (
    FaultKind.CRASH,
    FaultKind.RESTART,
    FaultKind.LEAVE,
    FaultKind.PAUSE,
    FaultKind.PARTITION,
    FaultKind.ONE_WAY_CUT,
    FaultKind.LOSS,
)
"""Kinds of faults of the hosts of another system."""

LOSS: Final = 0.05
"""Probability that a host loses a packet, where loss is among the faults."""


@dataclass(frozen=True)
class Fault:
    """A fault of some hosts: its kind, the hosts, its beginning and its duration in seconds.

    Of a partition the hosts are the smaller part. Of a cut link they are the one that is not heard, and the
    one that does not hear it.
    """

    kind: FaultKind
    hosts: tuple[int, ...]
    at_s: float
    lasts_s: float

    def __str__(self) -> str:
        who = ", ".join(map(str, self.hosts))
        return f"{self.at_s:.1f} s: {self.kind} of {who}, for {self.lasts_s:.1f} s"


@dataclass(frozen=True)
class SystemSettings:
    """Settings of a run.

    Attributes:
        system: the name of the system.
        processes: the number of hosts, each with a member.
        minutes: the time in which faults happen; 0 for one fault of each kind.
        seed: the seed of the faults.
        only: the kinds of faults; all of `KINDS` if there is none.
        promise: the words of the promise by which the logs are judged.
    """

    system: str
    processes: int = 3
    minutes: float = 0.0
    seed: int = 7
    only: tuple[FaultKind, ...] = ()
    promise: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse numbers that make no run. Raises ValueError."""
        if not 2 <= self.processes <= 9:
            raise ValueError(f"processes is {self.processes}, which is not from 2 to 9")
        if not 0 <= self.minutes <= 24 * 60:
            raise ValueError(f"minutes is {self.minutes:g}, which is not from 0 to {24 * 60}")
        foreign = [kind for kind in self.only if kind not in KINDS]
        if foreign:
            told = ", ".join(KINDS)
            raise ValueError(f"only is {foreign[0]}: hosts of another system have {told}")

    @property
    def kinds(self) -> tuple[FaultKind, ...]:
        """Return the kinds of faults of the run."""
        return self.only or KINDS


def faults_of(settings: SystemSettings, excludes_s: float) -> tuple[Fault, ...]:
    """Return the faults of a run, in the order of their beginnings; the seed draws them.

    Args:
        settings: the settings.
        excludes_s: seconds of silence after which the members exclude a member. Faults last from a tenth of
            this, which nobody may notice, up to three times this.
    """
    generator = random.Random(f"{settings.seed}:{settings.system}")
    kinds = [kind for kind in KINDS if kind in settings.kinds and kind is not FaultKind.LOSS]
    found: list[Fault] = []
    now = 1.0
    while kinds and (not found or now < settings.minutes * 60.0):
        generator.shuffle(kinds)
        for kind in kinds:
            hosts = generator.sample(range(settings.processes), settings.processes)
            count = 1
            if kind is FaultKind.PARTITION:
                count = generator.randint(1, settings.processes // 2)
            elif kind is FaultKind.ONE_WAY_CUT:
                count = 2
            lasts = 0.0 if kind is FaultKind.RESTART else generator.uniform(0.1, 3.0) * excludes_s
            found.append(Fault(kind, tuple(hosts[:count]), now, lasts))
            overlaps = generator.random() < 0.3
            pause = generator.uniform(0.2, 2.0) * excludes_s
            now += generator.uniform(0.2, 1.0) if overlaps else lasts + pause
    return tuple(found)
