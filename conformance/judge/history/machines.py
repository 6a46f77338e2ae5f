"""Judge of logs by the machines of `spec.services`: each event of a run is fed to the machine that also
judges models.

1. The events are fed in one causal order. Where the logs leave the order open, the order in favour of their
  writer is used (`causal_order`, `assuming`).
2. For a finished log the correct processes are known: crashes are fed first. Only detectors, which must not
    suspect before a crash, get it where it happens. With the first rule, no verdict depends on the merge of
    concurrent events.
3. An event costs what the machine's handler costs, which does not grow with the log (`monitor`); a property
  of the end is evaluated once, at the end.
4. A process without a log, or only named in other logs, has no duties: it counts as crashed. Only the
    broadcast of a message by its source counts.
5. A message with destinations must be delivered by those alone. All processes are together in a first view
   from the start if one of them does anything before it installs a view, and nobody installs view 1; else
   they begin in no view.
6. Numbers of processes, views and deliveries are replaced by their ranks, and each consensus has a machine of
   its own.

This module knows no definition.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from antiphon.conformance.judge import trace
from antiphon.conformance.judge.history.content import destinations_of
from antiphon.conformance.judge.history.finding import ABSENT, Finding, History, Place
from antiphon.conformance.judge.history.properties import (
    assumed,
    judges,
    property_of,
    reason_at_end,
    reason_of,
    reported_name,
)
from antiphon.conformance.judge.trace import causal_order
from antiphon.conformance.judge.trace.causal import CRASH, Merge, Step
from antiphon.model.monitor import Monitor
from antiphon.spec import services
from antiphon.spec.lang import Set, Spec, program
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services import Message, Process
from antiphon.spec.services.consensus import Consensus, Decide, Propose, Value
from antiphon.spec.services.detectors import Alarm, Suspect, Trust
from antiphon.spec.services.order import Numbered
from antiphon.spec.services.survey import Indicate

Told = Sequence[tuple[Step, tuple[object, ...]]]
"""Events of a run in a causal order, each with the machine events that it becomes."""


def _of_states(service: type[Spec]) -> tuple[str, ...]:
    """Return the names of a service's properties that are evaluated once, at the end of the run."""
    marked = program(service).declaration.marked("obligation", "invariant")
    return tuple(method.mark.name for method in marked if method.mark)


def _properties(service: type[Spec]) -> tuple[str, ...]:
    """Return the names of a service's properties: those of single events, then those that are evaluated at
    the end of the run.
    """
    return (*program(service).module.properties, *_of_states(service))


def judge_by_machines(
    history: History, names: Sequence[str], merge: Merge | None = None, *, founded: bool | None = None
) -> tuple[Finding, ...]:
    """Judge these properties, of `judges()`, in this order.

    Args:
        history: the events of a run.
        names: the properties.
        merge: the causal order, if it is known.
        founded: True if all processes begin in a first view, None if not known (`is_founded`).
    """
    run = Names(history, founded)
    told: dict[frozenset[str], Told] = {}
    found: dict[str, Finding] = {}
    for service in dict.fromkeys(judges()[name] for name in names):
        assuming = assumed(service)
        if assuming not in told:
            order = causal_order(history, assuming) if assuming or merge is None else merge
            told[assuming] = run.told(order.steps)
        found |= _judge(run, service, told[assuming])
    return tuple(found[name] for name in names)


def _judge(run: Names, service: type[Spec], told: Told) -> dict[str, Finding]:
    """Return the findings of one service about a run."""
    if not issubclass(service, Consensus):
        return Judgement(run, service, told).findings()
    several: defaultdict[int, list[tuple[Step, tuple[object, ...]]]] = defaultdict(list)
    for step, events in told:
        if isinstance(step.event, trace.Propose | trace.Decide):
            several[step.event.consensus].append((step, events))
    found = {name: Finding(name) for name in (reported_name(service, name) for name in _properties(service))}
    for number in sorted(several):
        for name, finding in Judgement(run, service, several[number]).findings().items():
            offending = found[name].offending + finding.offending
            found[name] = replace(found[name] if found[name].offending else finding, offending=offending)
    return found


@dataclass
class _Broken:
    """Violations of a property: the number of events that broke it, the first of them, and the last."""

    refusal: Refusal
    step: Step
    last: Step
    events: int = 1


class Judgement:
    """Machine of a service, with its reports on a run."""

    def __init__(self, run: Names, service: type[Spec], told: Told) -> None:
        self.run, self.service, self.told = run, service, told
        self.broken: dict[str, _Broken] = {}
        known = {constant.name for constant in program(service).declaration.constants}
        self.monitor = Monitor(service, **{name: size for name, size in run.sizes.items() if name in known})
        for p in sorted(run.silent if CRASH in assumed(service) else run.gone):
            self.monitor.feed(services.Crash(Process(p)))
        for step, events in told:
            for event in events:
                for refusal in self.monitor.feed(event):
                    self._note(step, refusal)

    def _note(self, step: Step, refusal: Refusal) -> None:
        """Note the violations of an event that the machine refused: at most one for each property. A
        violation that may be only apparent is shown after all others.
        """
        broken = self.broken.setdefault(refusal.property, _Broken(refusal, step, step))
        if broken.refusal.clash is None and refusal.clash is not None:
            told = reported_name(self.service, refusal.property)
            if reason_of(told, broken.refusal) in ABSENT:
                broken.refusal, broken.step = refusal, step
        if broken.last is not step:
            broken.last = step
            broken.events += 1

    def findings(self) -> dict[str, Finding]:
        """Return the findings about all properties of the service."""
        ends = _of_states(self.service)
        return {
            reported_name(self.service, name): self._of_end(name) if name in ends else self._of_events(name)
            for name in _properties(self.service)
        }

    def _of_events(self, name: str) -> Finding:
        broken = self.broken.get(name)
        told = reported_name(self.service, name)
        if broken is None:
            return Finding(told)
        clash = None if broken.refusal.clash is None else self._place_of(broken.refusal.clash)
        return Finding(told, broken.events, reason_of(told, broken.refusal), _place(broken.step), clash)

    def _of_end(self, name: str) -> Finding:
        """Return the finding about a property of the end of the run, from its first violation, which names a
        message `m` or a view `v`, and perhaps a process `q` that has not delivered `m`.
        """
        told = reported_name(self.service, name)
        failing = [case for case in self.monitor.failing(name) if self._is_owed(told, case)]
        if not failing:
            return Finding(told)
        case = failing[0]
        lacking = None
        if {"m", "q"} <= case.keys():
            lacking = Place(self.run.processes[case["q"].index], None, self.run.messages[case["m"].index])
        return Finding(
            told, len(failing), reason_at_end(self.service, name), self._first(told, case), lacking
        )

    def _is_owed(self, told: str, case: Mapping[str, Any]) -> bool:
        """Return False if a violation is about a message for some processes, and the process that lacks it is
        none of these, or, where the violation names no process, all of these have crashed.
        """
        meant = None if "m" not in case else self.run.destinations.get(case["m"].index)
        if meant is None or not property_of(told).for_some:
            return True
        return case["q"].index in meant if "q" in case else not meant <= self.run.gone

    def _first(self, told: str, case: Mapping[str, Any]) -> Place | None:
        """Return the place of the first event about the message or view of a property's counterexample, if
        possible at a correct process.
        """
        kind = services.Deliver if property_of(told).of_delivery else services.Broadcast
        steps = [step for step, events in self.told if any(_is_about(case, kind, event) for event in events)]
        gone = {self.run.processes[p] for p in self.run.gone}
        step = min(steps, key=lambda step: step.process in gone, default=None)
        return None if step is None else _place(step)

    def _place_of(self, clash: object) -> Place | None:
        """Return the place of the first event that equals `clash`; if there is none, of the first that
        contradicts it, and so differs from it in one field.
        """
        alike = None
        for step, events in self.told:
            for event in events:
                if event == clash:
                    return _place(step)
                if alike is None and _key(event) == _key(clash):
                    alike = step
        return None if alike is None else _place(alike)


def _is_about(case: Mapping[str, Any], kind: type, event: object) -> bool:
    """Return True if an event is of this kind and concerns the message of a property's counterexample, or
    installs its view.
    """
    if "m" in case:
        return isinstance(event, kind) and getattr(event, "message", None) == case["m"]
    return isinstance(event, services.Install) and event.view == case.get("v")


def _key(event: object) -> object:
    """Return the key of an event of a machine: its fields without the one that two contradicting events
    disagree on.
    """
    match event:
        case services.Install(p, view, _):
            return services.Install, p, view
        case services.Transition(p, _):
            return services.Transition, p
        case Numbered(_, m, number):
            return Numbered, m, number
        case _:
            return event


def _place(step: Step) -> Place:
    """Return the place of a step in the logs, with its message, datagram or view."""
    match step.event:
        case trace.Broadcast(m=m) | trace.Deliver(m=m) | trace.Safe(m=m):
            about = m
        case trace.Install(view=view):
            about = f"view {view}"
        case trace.Propose(consensus=number, value=value) | trace.Decide(consensus=number, value=value):
            about = f"{value} in consensus {number}"
        case trace.Suspect(suspected=process) | trace.Trust(trusted=process):
            about = f"process {process}"
        case _:
            about = str(step.event.__struct_config__.tag)
    return Place(step.process, step.event.i, about)


class Names:
    """Names of a run, numbered as machines number them.

    `gone` are the processes that crash, wrote nothing, or are only named by others; `silent` are those of
    `gone` that do not crash. `destinations` maps each message that has destinations to them; `founded` is
    True if all processes begin in a first view.
    """

    def __init__(self, history: History, founded: bool | None = None) -> None:
        founded = is_founded(history) if founded is None else founded
        events = [event for log in history for event in log]
        of_messages = (trace.Broadcast, trace.Deliver, trace.Safe)
        self.messages = sorted({event.m for event in events if isinstance(event, of_messages)})
        spoken_of = {p for event in events for p in _spoken_of(event)} - set(range(len(history)))
        self.processes = [*range(len(history)), *sorted(spoken_of)]
        values = {event.value for event in events if isinstance(event, trace.Propose | trace.Decide)}
        views = {event.view for event in events if isinstance(event, trace.Install)}
        views |= {-1} if founded or not views else set()
        numbers = {event.number for event in events if isinstance(event, trace.Deliver)}
        self._message = {name: Message(k) for k, name in enumerate(self.messages)}
        self._process = {p: Process(k) for k, p in enumerate(self.processes)}
        self._value = {value: Value(k) for k, value in enumerate(sorted(values))}
        self._view = {view: k + 1 for k, view in enumerate(sorted(views))}
        self._number = {number: k + 1 for k, number in enumerate(sorted(numbers))}
        self.silent = {k for k, p in enumerate(self.processes) if p >= len(history) or not history[p]}
        crashed = {p for p, log in enumerate(history) if any(isinstance(event, trace.Crash) for event in log)}
        self.gone = self.silent | crashed
        self.destinations = {
            self._message[m].index: {self._process[p].index for p in meant if p in self._process}
            for m, meant in destinations_of(history).items()
        }
        processes = max(len(self.processes), 1)
        self.sizes = {
            "processes": processes,
            "messages": max(len(self.messages), len(numbers), 1),
            "views": len(views),
            "joiners": len(spoken_of) if founded and history else processes,
            "values": max(len(values), 1),
        }

    def told(self, steps: Iterable[Step]) -> Told:
        """Return the events of a run as inputs of a service's machine, with its numbers."""
        return [(step, tuple(self._told(step))) for step in steps]

    def _told(self, step: Step) -> Iterator[object]:
        """Yield the inputs of a service's machine for one logged event: none, one or two."""
        p, event = self._process[step.process], step.event
        match event:
            case trace.Broadcast(m=m) if m.split(":")[0] == str(step.process):
                yield services.Broadcast(p, self._message[m])
            case trace.Deliver(m=m, number=number):
                yield Numbered(p, self._message[m], self._number[number])
                yield services.Deliver(p, self._message[m])
            case trace.Install(view=view, members=members):
                yield services.Install(p, self._view[view], self._members(members))
            case trace.Transitional(members=members):
                yield services.Transition(p, self._members(members))
            case trace.Safe(m=m):
                yield Indicate(p, self._message[m])
            case trace.Propose(value=value):
                yield Propose(p, self._value[value])
            case trace.Decide(value=value):
                yield Decide(p, self._value[value])
            case trace.Suspect(suspected=process):
                yield Suspect(p, self._process[process])
            case trace.Trust(trusted=process):
                yield Trust(p, self._process[process])
            case trace.Alarm():
                yield Alarm(p)
            case trace.Crash():
                yield services.Crash(p)
            case _:
                pass

    def _members(self, members: Iterable[int]) -> Set[Process]:
        return Set(self._process[p] for p in members)


def is_founded(history: History) -> bool:
    """Return True if all processes begin in a first view without an event: nobody installs a view, or nobody
    installs view 1 and a process does something before it installs one.
    """
    installed = {event.view for log in history for event in log if isinstance(event, trace.Install)}
    return not installed or (1 not in installed and any(acts_without_view(log) for log in history))


def acts_without_view(log: Iterable[trace.Event]) -> bool:
    """Return True if a process does anything that needs a view before it installs one."""
    first = next((event for event in log if isinstance(event, IN_A_VIEW)), None)
    return first is not None and not isinstance(first, trace.Install)


IN_A_VIEW: Final = (trace.Broadcast, trace.Deliver, trace.Safe, trace.Transitional, trace.Install)
"""Kinds of events of a process that happen in a view, and the kind that begins one."""


def _spoken_of(event: trace.Event) -> tuple[int, ...]:
    """Return the processes that an event names."""
    match event:
        case trace.Install(members=members) | trace.Transitional(members=members):
            return members
        case trace.Suspect(suspected=process) | trace.Trust(trusted=process):
            return (process,)
        case _:
            return ()
