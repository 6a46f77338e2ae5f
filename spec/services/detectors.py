"""Failure detectors: the suspicions of each process, and their promises.

Completeness says that crashes are suspected, accuracy that nothing else is. "In the end" is an obligation: it
is judged where nothing more can happen. The four classes: P has strong completeness and strong accuracy, S
strong completeness and weak accuracy; of the eventual classes, eventually P and eventually S, the accuracy is
true in the end only.

Sources: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 2.4, figure 1; Barchet-Estefanel 2002, section 4.1. The detectors themselves are
in `antiphon.spec.environment.detectors`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from antiphon.spec.lang import Map, everywhere, expect, invariant, obligation, on, record
from antiphon.spec.services.broadcast import Failures
from antiphon.spec.services.events import Process
from antiphon.spec.services.promises import Promises, Property


@record
class Suspect:
    """Event: `process` begins to suspect `suspected`."""

    process: Process
    suspected: Process


@record
class Trust:
    """Event: `process` suspects `trusted` no more."""

    process: Process
    trusted: Process


class FailureDetector(Failures):
    """A failure detector as a state machine over events.

    Safety: `StrongAccuracy`, `WeakAccuracy`. Obligations: `StrongCompleteness`, `WeakCompleteness`,
    `EventualStrongAccuracy`, `EventualWeakAccuracy`.

    State: `suspects[p][q]` whether p suspects q, `was_suspected[q]` whether any process ever suspected q.
    """

    suspects: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))
    was_suspected: Map[Process, bool] = everywhere(False)

    @on(Suspect)
    def judge_suspicion(self, event: Suspect) -> None:
        """Check that no process is suspected before it crashes."""
        q = event.suspected
        expect(self.crashed[q], "StrongAccuracy")
        self.suspects[event.process][q] = True
        self.was_suspected[q] = True

    @on(Trust)
    def note_trust(self, event: Trust) -> None:
        """Note the end of a suspicion."""
        self.suspects[event.process][event.trusted] = False

    @invariant
    def WeakAccuracy(self) -> bool:
        """Invariant: some correct process was never suspected, if any process is correct."""
        return all(self.crashed[q] for q in self.each(Process)) or any(
            not self.crashed[q] and not self.was_suspected[q] for q in self.each(Process)
        )

    def is_trusted(self, q: Process) -> bool:
        """Return True if q is correct, and no correct process suspects it."""
        return not self.crashed[q] and all(
            self.crashed[p] or not self.suspects[p][q] for p in self.each(Process)
        )

    @obligation
    def StrongCompleteness(self) -> bool:
        """Obligation: in the end every process that has crashed is suspected by every correct process."""
        return all(
            not self.crashed[q] or self.crashed[p] or self.suspects[p][q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @obligation
    def WeakCompleteness(self) -> bool:
        """Obligation: in the end every process that has crashed is suspected by some correct process."""
        return all(self.crashed[p] for p in self.each(Process)) or all(
            not self.crashed[q]
            or any(not self.crashed[p] and self.suspects[p][q] for p in self.each(Process))
            for q in self.each(Process)
        )

    @obligation
    def EventualStrongAccuracy(self) -> bool:
        """Obligation: in the end no correct process is suspected by any correct process."""
        return all(self.crashed[q] or self.is_trusted(q) for q in self.each(Process))

    @obligation
    def EventualWeakAccuracy(self) -> bool:
        """Obligation: in the end some correct process is suspected by no correct process."""
        return all(self.crashed[q] for q in self.each(Process)) or any(
            self.is_trusted(q) for q in self.each(Process)
        )


@record
class Alarm:
    """Event: `process` notices that nothing happens any more."""

    process: Process


class PassiveDetector(Failures):
    """Detector that raises an alarm and names no process, as a state machine over events.

    Source: Barchet-Estefanel 2002, section 4.1, "which starts the Reformation Phase no matter the suspected
    process". Safety: `AlarmAccuracy`. Obligation: `AlarmCompleteness`.
    """

    was_alarmed: Map[Process, bool] = everywhere(False)

    @on(Alarm)
    def judge_alarm(self, event: Alarm) -> None:
        """Check that some process has crashed before an alarm."""
        expect(any(self.crashed[q] for q in self.each(Process)), "AlarmAccuracy")
        self.was_alarmed[event.process] = True

    @obligation
    def AlarmCompleteness(self) -> bool:
        """Obligation: in the end, if some process has crashed, every correct process was alarmed."""
        return all(not self.crashed[q] for q in self.each(Process)) or all(
            self.crashed[p] or self.was_alarmed[p] for p in self.each(Process)
        )


# What logs are judged by ------------------------------------------------------------------------------------

DETECTORS: Final = (
    "perfect-detector", "eventually-perfect-detector", "strong-detector", "eventually-strong-detector",
    "active-detector",
)  # fmt: skip
_PERFECT, _EVENTUALLY_PERFECT, _STRONG, _EVENTUALLY_STRONG, _ACTIVE = DETECTORS
PASSIVE: Final = "passive-detector"

_of_crashes = partial(Property, nothing="nobody crashes")
_of_suspicions = partial(Property, nothing="nobody is suspected")

DETECTOR_PROMISES: Final = Promises(
    (
        _of_crashes(
            "StrongCompleteness",
            "in the end every correct process suspects whoever has crashed",
            "crashes to suspect",
            promised=DETECTORS[:4],
        ),
        _of_crashes(
            "WeakCompleteness",
            "in the end some correct process suspects whoever has crashed",
            "crashes to suspect",
            promised=(_ACTIVE,),
        ),
        _of_suspicions(
            "StrongAccuracy",
            "nobody is suspected before it crashes",
            "suspicions",
            promised=(_PERFECT,),
            reason="suspected before it crashes",
            unseen=True,
        ),
        _of_suspicions(
            "WeakAccuracy",
            "some correct process is never suspected",
            "suspicions",
            promised=(_STRONG,),
        ),
        _of_suspicions(
            "EventualStrongAccuracy",
            "in the end no correct process suspects a correct one",
            "suspicions",
            promised=(_EVENTUALLY_PERFECT,),
        ),
        _of_suspicions(
            "EventualWeakAccuracy",
            "in the end some correct process is suspected by no correct one",
            "suspicions",
            promised=(_EVENTUALLY_STRONG,),
        ),
    ),
    DETECTORS,
    FailureDetector,
    assuming="crash",
)
ALARM_PROMISES: Final = Promises(
    (
        _of_crashes(
            "AlarmCompleteness",
            "in the end, if somebody has crashed, every correct process was alarmed",
            "crashes to suspect",
            promised=(PASSIVE,),
        ),
        Property(
            "AlarmAccuracy",
            "nobody is alarmed before somebody has crashed",
            "alarms",
            nothing="nobody is alarmed",
            promised=(PASSIVE,),
            reason="alarmed before anybody crashes",
            unseen=True,
        ),
    ),
    (PASSIVE,),
    PassiveDetector,
    assuming="crash",
)
