"""Failure detectors surround a protocol: `suspected[p][q]` says whether p suspects q now.

1. A crash is suspected in the end: `detect` is a step that must happen. That alone is a perfect detector, P.
   With `detected_at_once` all processes suspect it in the step of the crash. A protocol that waits for "a
   message from q, or q suspected" and acts whenever it likes loses nothing by that: a late suspicion is the
   same as one on which the protocol acts late.
2. False suspicions are faults of the environment, up to `false_suspicions` of them. A class promises when
   they end: eventually P ends each (`trust`), S spares one correct process for ever, eventually S ends those
   of one correct process when nobody else is trusted by all. No other suspicion ends: a protocol that only
   waits for suspicions cannot notice one that ends before the protocol acts on it.
3. A detector is *active* when it monitors one named process, the next or the previous of the ring, and
   *passive* when it suspects nobody, and only notices that nothing happens (`Silence`).

Sources: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 2.4; Barchet-Estefanel 2002, section 4.1. `spec/services/detectors.py` judges
them.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.lang import (
    Between,
    Const,
    Map,
    action,
    emit,
    environment,
    everywhere,
    require,
    restriction,
)
from antiphon.spec.services.detectors import Alarm, Suspect, Trust
from antiphon.spec.services.events import Group, Process


class Suspicions(Crashes):
    """Perfect detector P: every crash is suspected in the end, and no suspicion is false."""

    suspected: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if p's detector watches q: every process watches every other one."""
        return p != q

    def may_begin(self, p: Process, q: Process) -> bool:
        """Return True if p's detector may begin to suspect q: it watches q, and does not suspect q yet."""
        return self.monitors(p, q) and not self.suspected[p][q]

    def begin(self, p: Process, q: Process) -> None:
        """Let p begin to suspect q."""
        self.suspected[p][q] = True
        emit(Suspect(p, q))

    def is_trusted_by_all(self, q: Process) -> bool:
        """Return True if q is up and no process that is up suspects q."""
        return not self.down[q] and not any(
            self.suspected[p][q] and not self.down[p] for p in self.each(Process)
        )

    @action(fairness="weak")
    def detect(self, p: Process, q: Process) -> None:
        """Let p suspect q, which has crashed."""
        require(self.down[q] and self.may_begin(p, q))
        self.begin(p, q)


@restriction("a crash is suspected at once by all that watch")
class DetectedAtOnce(Suspicions):
    """Perfect detector that suspects in the very step of a crash: no state has a crashed process that is not
    yet suspected.
    """

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, and let every process that watches p suspect it in the same step."""
        super().crash(p)
        for q in self.each(Process):
            if not self.down[q] and self.may_begin(q, p):
                self.begin(q, p)


class FalseSuspicions(Suspicions):
    """Up to `false_suspicions` suspicions of processes that are up, which need not end: no accuracy.

    What is true of a protocol under the assumption that somebody is trusted by all in the end
    (`implies(eventually_always("is_trusted_by_all"), ...)`, for each process) is true with eventually S.
    """

    false_suspicions: Const[int] = 1
    false_so_far: Annotated[int, Between(0, "false_suspicions")] = 0

    @environment
    def suspect(self, p: Process, q: Process) -> None:
        """Let p suspect q wrongly."""
        require(not self.down[p] and not self.down[q] and self.may_begin(p, q))
        require(self.false_so_far < self.false_suspicions)
        self.false_so_far += 1
        self.begin(p, q)


class EventuallyPerfect(FalseSuspicions):
    """Detector of class eventually P: every false suspicion ends."""

    @action(fairness="weak")
    def trust(self, p: Process, q: Process) -> None:
        """End p's suspicion of q, which is up."""
        require(self.suspected[p][q] and not self.down[q])
        self.suspected[p][q] = False
        emit(Trust(p, q))


class EventuallyStrong(FalseSuspicions):
    """Detector of class eventually S: in the end some process that is up is suspected by nobody; other
    processes may be suspected for ever.
    """

    @action(fairness="weak")
    def trust(self, p: Process, q: Process) -> None:
        """End p's suspicion of q, provided that every process that is up is suspected by some process."""
        require(self.suspected[p][q] and not self.down[q])
        require(not any(self.is_trusted_by_all(r) for r in self.each(Process)))
        self.suspected[p][q] = False
        emit(Trust(p, q))


class Strong(FalseSuspicions):
    """Detector of class S: some correct process is never suspected; false suspicions need not end."""

    def was_never_suspected(self, q: Process) -> bool:
        """Return True if q is up and no process has ever suspected it: suspicions never end, so none suspects
        it now.
        """
        return not self.down[q] and not any(self.suspected[p][q] for p in self.each(Process))

    @environment
    def suspect(self, p: Process, q: Process) -> None:
        """Suspect q wrongly, provided that some other correct process is suspected by nobody."""
        require(any(r != q and self.was_never_suspected(r) for r in self.each(Process)))
        super().suspect(p, q)

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, provided that some other process is correct and never suspected."""
        require(any(r != p and self.was_never_suspected(r) for r in self.each(Process)))
        super().crash(p)


class MonitorsNext(Suspicions):
    """Active detector: each process watches the next one of the ring alone."""

    def next_of(self, p: Process) -> Process:
        """Return the process after p in the ring of process indices; a protocol with another ring overrides
        this.
        """
        return Process((p.index + 1) % self.processes)

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if q comes directly after p on the ring."""
        return p != q and q == self.next_of(p)


class MonitorsPrevious(Suspicions):
    """Active detector: each process watches the previous one of the ring alone."""

    def previous_of(self, p: Process) -> Process:
        """Return the process before p in the ring of process indices; a protocol with another ring overrides
        this.
        """
        return Process((p.index + self.processes - 1) % self.processes)

    def monitors(self, p: Process, q: Process) -> bool:
        """Return True if q comes directly before p on the ring."""
        return p != q and q == self.previous_of(p)


class Silence(Group):
    """Passive detector: a process is alarmed because the protocol does nothing, and suspects nobody in
    particular.

    "A failure detector with conservative timeouts (ideally, a detector that only uses application messages in
    the detection), which starts the Reformation Phase no matter the suspected process" (Barchet-Estefanel
    2002, section 4.1).
    """

    false_alarms: Const[int] = 0
    alarmed: Map[Process, bool] = everywhere(False)
    false_alarms_so_far: Annotated[int, Between(0, "false_alarms")] = 0

    def is_silent(self) -> bool:
        """Return True if the protocol does nothing any more; each protocol overrides this method with its own
        condition.
        """
        return False

    def attends(self, p: Process) -> bool:
        """Return True if p would notice that the protocol is silent; in this class every process would."""
        return True

    @action(fairness="weak")
    def notice_silence(self, p: Process) -> None:
        """Raise the alarm at p, since the protocol is silent."""
        require(self.is_silent() and self.attends(p) and not self.alarmed[p])
        self.alarmed[p] = True
        emit(Alarm(p))

    @environment
    def imagine_silence(self, p: Process) -> None:
        """Raise a false alarm at p, whose timeout was too short: the protocol is not silent."""
        require(not self.alarmed[p] and self.false_alarms_so_far < self.false_alarms)
        self.false_alarms_so_far += 1
        self.alarmed[p] = True
        emit(Alarm(p))
