"""The classes of failure detectors, each judged by what its name promises.

Completeness is the same in all four: in the end everybody suspects a process that has crashed. `Next` and
`Previous` are the active detectors of a ring, which watch one process each: a crash is known to one process,
not to everybody. `Unreliable` promises completeness alone. The passive detector, which suspects nobody, is
`Passive`.

Sources: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 2.4, figure 1; Barchet-Estefanel 2002, section 4.1.
"""

from __future__ import annotations

from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.environment.detectors import (
    DetectedAtOnce,
    EventuallyPerfect,
    EventuallyStrong,
    FalseSuspicions,
    MonitorsNext,
    MonitorsPrevious,
    Silence,
    Strong,
    Suspicions,
)
from antiphon.spec.lang import mutation
from antiphon.spec.services.detectors import FailureDetector, PassiveDetector
from antiphon.spec.services.events import Process


@mutation("nobody watches anybody")
class Blind(Suspicions):
    """Planted fault: the detectors monitor nobody. Breaks `WeakCompleteness`, and with it
    `StrongCompleteness`.
    """

    def monitors(self, p: Process, q: Process) -> bool:
        """Return False: this detector watches nobody."""
        return False


class P(Suspicions, FailureDetector, restrictions=(DetectedAtOnce,), mutations=(Blind,)):
    """Perfect detector P, judged by the promises of its class."""


class EventuallyP(EventuallyPerfect, FailureDetector):
    """Eventually perfect detector, judged by the promises of its class."""


class S(Strong, FailureDetector):
    """Strong detector S, judged by the promises of its class."""


class EventuallyS(EventuallyStrong, FailureDetector):
    """Eventually strong detector, judged by the promises of its class."""


class Unreliable(FalseSuspicions, FailureDetector):
    """Complete detector without any accuracy: it may suspect anybody."""


class Next(MonitorsNext, FalseSuspicions, FailureDetector):
    """Active detector: every process watches the next process of the ring."""


class Previous(MonitorsPrevious, FalseSuspicions, FailureDetector):
    """Active detector: every process watches the previous process of the ring."""


@mutation("the first process never notices anything")
class Absent(Silence):
    """Planted fault: one process does not notice the alarm. Breaks `AlarmCompleteness`."""

    def attends(self, p: Process) -> bool:
        """Return True if p would notice the alarm: every process but the first."""
        return p.index > 0


class Passive(Silence, Crashes, PassiveDetector, mutations=(Absent,)):
    """Passive detector over a protocol that falls silent as soon as some process has crashed."""

    def is_silent(self) -> bool:
        """Return True if some process has crashed, for which all others wait."""
        return any(self.down[p] for p in self.each(Process))
