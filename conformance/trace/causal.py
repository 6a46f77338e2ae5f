"""The logs of a run have one causal order: every process in its own order, every send before its receives.

Events are sorted by Lamport time, then by process, which depends on nothing but the logs: not on
a clock, not on the order in which files are read. This module knows neither protocols nor
properties. What contradicts causality (a receive without a send, a cycle, a datagram sent twice)
is located at the line that shows it; the offending receive is then ordered as if it waited for
nothing, so that no event is lost.

Source: Lamport 1978, "Time, clocks, and the ordering of events in a distributed system".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from antiphon.conformance.trace.reader import Log, Problem
from antiphon.conformance.trace.schema import Event, Receive, Send


@dataclass(frozen=True)
class Step:
    """One event in the causal order: `process` is the log's position in the run, `time` Lamport's."""

    process: int
    line: int
    time: int
    event: Event


@dataclass(frozen=True)
class Merge:
    """All events of a run in one topological order of causality, and what contradicts it."""

    steps: tuple[Step, ...]
    problems: tuple[Problem, ...]


def causal_order(logs: Sequence[Log]) -> Merge:
    """Merge the logs of a run, `logs[p]` being that of process p, into one causal order.

    Takes time linear in the number of events, and a sort.
    """
    return _Merging(logs).merge()


class _Merging:
    """A walk along all logs at once; a log waits at a receive whose send has no time yet."""

    def __init__(self, logs: Sequence[Log]) -> None:
        self.logs = logs
        self.problems: list[Problem] = []
        self.sends = self._index_sends()
        self.times: list[list[int]] = [[] for _ in logs]
        self.ignored: set[tuple[int, int]] = set()

    def merge(self) -> Merge:
        ready = list(range(len(self.logs)))
        waiting: dict[tuple[int, int], list[int]] = {}
        while True:
            while ready:
                self._advance(ready.pop(), ready, waiting)
            if not waiting:
                break
            process, blocked_on = self._break_cycle(waiting)
            waiting[blocked_on].remove(process)
            if not waiting[blocked_on]:
                del waiting[blocked_on]
            ready.append(process)
        steps = [
            Step(process, line, time, event)
            for process, log in enumerate(self.logs)
            for line, time, event in zip(log.lines, self.times[process], log.events, strict=True)
        ]
        steps.sort(key=lambda step: (step.time, step.process))
        return Merge(tuple(steps), tuple(sorted(self.problems, key=lambda p: (str(p.path), p.line))))

    def _index_sends(self) -> dict[str, tuple[int, int]]:
        """Where each datagram is sent: (process, position); the first place counts."""
        sends: dict[str, tuple[int, int]] = {}
        for process, log in enumerate(self.logs):
            for position, event in enumerate(log.events):
                if not isinstance(event, Send):
                    continue
                if event.d.split(":", 1)[0] != str(process):
                    self._fault(process, position, f"datagram {event.d} is not process {process}'s to send")
                if event.d in sends:
                    other, before = sends[event.d]
                    self._fault(
                        process,
                        position,
                        f"datagram {event.d} was sent before, at {self._place(other, before)}",
                    )
                else:
                    sends[event.d] = (process, position)
        return sends

    def _advance(self, process: int, ready: list[int], waiting: dict[tuple[int, int], list[int]]) -> None:
        """Give times to a log's events until it ends or meets a receive whose send has none yet."""
        times, events = self.times[process], self.logs[process].events
        while len(times) < len(events):
            position = len(times)
            event = events[position]
            time = times[-1] + 1 if times else 0
            if isinstance(event, Receive) and (process, position) not in self.ignored:
                send = self.sends.get(event.d)
                if send is None:
                    self._fault(
                        process, position, f"datagram {event.d} is received but no log shows its send"
                    )
                elif send[1] >= len(self.times[send[0]]):
                    waiting.setdefault(send, []).append(process)
                    return
                else:
                    time = max(time, self.times[send[0]][send[1]] + 1)
            times.append(time)
            if isinstance(event, Send):
                ready.extend(waiting.pop((process, position), ()))

    def _break_cycle(self, waiting: dict[tuple[int, int], list[int]]) -> tuple[int, tuple[int, int]]:
        """Report one cycle among logs that all wait, and free its member with the smallest number."""
        blocked_on = {process: send for send, processes in waiting.items() for process in processes}
        seen: list[int] = []
        process = min(blocked_on)
        while process not in seen:
            seen.append(process)
            process = blocked_on[process][0]
        cycle = seen[seen.index(process) :]
        first = cycle.index(min(cycle))
        cycle = cycle[first:] + cycle[:first]
        told = "; ".join(
            f"{self._place(member, len(self.times[member]))} receives what "
            f"{self._place(*blocked_on[member])} sends later"
            for member in cycle
        )
        freed = cycle[0]
        position = len(self.times[freed])
        self._fault(freed, position, f"the logs contradict causality: {told}")
        self.ignored.add((freed, position))
        return freed, blocked_on[freed]

    def _fault(self, process: int, position: int, reason: str) -> None:
        log = self.logs[process]
        self.problems.append(Problem(log.path, log.lines[position], reason))

    def _place(self, process: int, position: int) -> str:
        log = self.logs[process]
        return f"{log.path.name}:{log.lines[position]}"
