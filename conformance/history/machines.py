"""The machines of `spec.services` judge logs: the events of a run go one by one into the machine that judges
models.

1. The events go in in one causal order. What the logs leave open is put in favour of who wrote them
   (`causal_order`, `assuming`): so a verdict does not depend on how concurrent events were merged.
2. An event costs what the machine's handler costs, which does not grow with the log (`monitor`); what is
   promised of the end is asked once, at the end.
3. A process that wrote nothing, or that is only spoken of, owes nothing: it counts as crashed. Of the
   broadcasts of a message that of its source counts.
4. Numbers of views and of deliveries are replaced by their ranks, and each consensus has a machine of its
   own.

This module knows no definition. Where a property has a faster judge in this package, tests compare the two.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from antiphon.conformance import trace
from antiphon.conformance.history.finding import Finding, History, Offence, Place, finding
from antiphon.conformance.trace import causal_order
from antiphon.conformance.trace.causal import CRASH, PROPOSAL, Step
from antiphon.model.engines.monitor import Monitor
from antiphon.spec import services
from antiphon.spec.lang import Set, Spec, program
from antiphon.spec.services import Message, Process
from antiphon.spec.services.causal import CausalOrder, ReliableOrderInViews
from antiphon.spec.services.consensus import Consensus, Decide, Propose, Value
from antiphon.spec.services.detectors import Alarm, FailureDetector, PassiveDetector, Suspect, Trust
from antiphon.spec.services.extended import ExtendedTotalOrder
from antiphon.spec.services.order import Numbered, Numbering
from antiphon.spec.services.order_in_views import ReliableOrder
from antiphon.spec.services.survey import AgreementOnSuccessors, Indicate, SafeIndications, StableViews

_SERVICES: Final[tuple[type[Spec], ...]] = (
    services.TotalOrderBroadcast,
    Numbering,
    CausalOrder,
    ReliableOrderInViews,
    services.UniformViewSynchrony,
    services.SafeExtendedSynchrony,
    ReliableOrder,
    ExtendedTotalOrder,
    AgreementOnSuccessors,
    SafeIndications,
    StableViews,
    Consensus,
    FailureDetector,
    PassiveDetector,
)
"""The services that judge logs; of a property that several have the first is asked."""

_ASSUMING: Final[Mapping[type[Spec], str]] = {
    Consensus: PROPOSAL,
    FailureDetector: CRASH,
    PassiveDetector: CRASH,
}


def assumed(service: type[Spec]) -> frozenset[str]:
    """What is put in favour of who wrote the logs."""
    return frozenset({_ASSUMING[service]} if service in _ASSUMING else set())


def _properties(service: type[Spec]) -> tuple[str, ...]:
    """Those of the events, then those that are asked at the end."""
    bound = program(service)
    marked = [
        method.mark.name for method in bound.declaration.marked("obligation", "invariant") if method.mark
    ]
    return (*bound.module.properties, *marked)


def _named(service: type[Spec], name: str) -> str:
    return f"Consensus.{name}" if service is Consensus else name


@cache
def judges() -> Mapping[str, type[Spec]]:
    """Which service judges a property."""
    return {
        _named(service, name): service for service in reversed(_SERVICES) for name in _properties(service)
    }


REASONS: Final[Mapping[str, str]] = {
    "ReliableFifo": "delivered without what its source broadcast before it in the same view",
    "ReliableCausal": "delivered without what happened before it in the same view",
    "AgreementOnSuccessors": "installed from another view than by one who was a member of both",
    "IndicatedIsDelivered": "said to be safe, and not delivered there in this view",
    "WeakTotalOrder": "installed by two who have kept different orders in the view before",
    "ReliableTotalOrder": "delivered at a place where another process delivers another message",
    "ExtendedTotalOrder": "delivered without a message that stands before it, for which there is no excuse",
    "StrongAccuracy": "suspected before it crashes",
    "AlarmAccuracy": "alarmed before anybody crashes",
    "Consensus.ProposeOnce": "proposed a second time",
    "Consensus.Validity": "decided, but nobody proposed it before",
    "Consensus.Integrity": "decided a second time",
    "Consensus.UniformAgreement": "decided otherwise by another process",
}
"""Why an event breaks a property."""


def judge_by_machines(history: History, names: Sequence[str]) -> tuple[Finding, ...]:
    """Check these properties, of `judges()`, in this order."""
    found: dict[str, Finding] = {}
    for service in dict.fromkeys(judges()[name] for name in names):
        found |= _judge(history, service)
    return tuple(found[name] for name in names)


def _judge(history: History, service: type[Spec]) -> dict[str, Finding]:
    """What one service says of a run."""
    steps = causal_order(history, assumed(service)).steps
    if service is not Consensus:
        return Judgement(history, service, steps).findings()
    numbers = sorted({step.event.consensus for step in steps if isinstance(step.event, _OF_CONSENSUS)})
    several = [
        Judgement(history, service, [step for step in steps if _is_of(step.event, number)]).findings()
        for number in numbers
    ]
    return {
        name: next((one[name] for one in several if one[name].offending), Finding(name))
        for name in (_named(service, name) for name in _properties(service))
    }


_OF_CONSENSUS: Final = (trace.Propose, trace.Decide)


def _is_of(event: trace.Event, number: int) -> bool:
    """Whether an event belongs to a consensus, or to all."""
    return not isinstance(event, _OF_CONSENSUS) or event.consensus == number


class Judgement:
    """One machine, and what it has said so far."""

    def __init__(self, history: History, service: type[Spec], steps: Sequence[Step]) -> None:
        self.service = service
        self.names = _Names(history)
        self.offences: dict[str, list[Offence]] = {}
        self.places: dict[object, Place] = {}
        known = {constant.name for constant in program(service).declaration.constants}
        sizes: dict[str, Any] = {name: size for name, size in self.names.sizes.items() if name in known}
        self.session = Monitor(service, **sizes)
        for p in range(self.names.sizes["processes"]):
            if p >= len(history) or not history[p]:
                self.session.feed(services.Crash(Process(p)))
        for step in steps:
            for event in self.names.told(step):
                self._feed(step, event)

    def _feed(self, step: Step, event: object) -> None:
        here = _place(step)
        self.places.setdefault(_key(event), here)
        for refusal in self.session.feed(event):
            clash = None if refusal.clash is None else self.places.get(_key(refusal.clash))
            name = _named(self.service, refusal.property)
            self.offences.setdefault(name, []).append((REASONS.get(name, f"breaks {name}"), here, clash))

    def findings(self) -> dict[str, Finding]:
        """Of each property of the service."""
        found: dict[str, Finding] = {}
        for name in _properties(self.service):
            told = _named(self.service, name)
            method = getattr(self.service, name, None)
            if method is None or told in self.offences:
                found[told] = finding(told, self.offences.get(told, []))
            else:
                holds = self.session.holds(name)
                found[told] = Finding(told) if holds else Finding(told, 1, f"not true: {_first_line(method)}")
        return found


def _first_line(method: object) -> str:
    """What an obligation says."""
    return (inspect.getdoc(method) or "").split(".")[0].replace("\n", " ")


def _key(event: object) -> object:
    """What tells two events of a machine apart, but for what one of them may say wrongly."""
    match event:
        case services.Install(p, view, _):
            return services.Install, p, view
        case services.Transition(p, _):
            return services.Transition, p
        case _:
            return event


def _place(step: Step) -> Place:
    """Where a step stands, and what it is about."""
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
            about = _kind(step.event)
    return Place(step.process, step.event.i, about)


def _kind(event: trace.Event) -> str:
    """The kind of an event, as logs have it."""
    return str(event.__struct_config__.tag)


class _Names:
    """What a run speaks of, numbered as machines number it."""

    def __init__(self, history: History) -> None:
        events = [event for log in history for event in log]
        of_messages = (trace.Broadcast, trace.Deliver, trace.Safe)
        self.messages = _ranks(event.m for event in events if isinstance(event, of_messages))
        self.numbers = _ranks(event.number for event in events if isinstance(event, trace.Deliver))
        self.views = _ranks([1, *(event.view for event in events if isinstance(event, trace.Install))])
        self.values = _ranks(event.value for event in events if isinstance(event, _OF_CONSENSUS))
        processes = max([len(history), *(p + 1 for event in events for p in _spoken_of(event))])
        begins = not any(isinstance(event, trace.Install) and event.view == 1 for event in events)
        self.sizes = {
            "processes": max(processes, 1),
            "messages": max(len(self.messages), len(self.numbers), 1),
            "views": len(self.views),
            "joiners": 0 if begins else max(processes, 1),
            "values": max(len(self.values), 1),
        }

    def told(self, step: Step) -> Iterator[object]:
        """An event as machines know it: as one, as two, or not at all."""
        p, event = Process(step.process), step.event
        match event:
            case trace.Broadcast(m=m) if m.split(":")[0] == str(step.process):
                yield services.Broadcast(p, Message(self.messages[m]))
            case trace.Deliver(m=m, number=number):
                yield Numbered(p, Message(self.messages[m]), self.numbers[number] + 1)
                yield services.Deliver(p, Message(self.messages[m]))
            case trace.Install(view=view, members=members):
                yield services.Install(p, self.views[view] + 1, Set(map(Process, members)))
            case trace.Transitional(members=members):
                yield services.Transition(p, Set(map(Process, members)))
            case trace.Safe(m=m):
                yield Indicate(p, Message(self.messages[m]))
            case trace.Propose(value=value):
                yield Propose(p, Value(self.values[value]))
            case trace.Decide(value=value):
                yield Decide(p, Value(self.values[value]))
            case trace.Suspect(suspected=process):
                yield Suspect(p, Process(process))
            case trace.Trust(trusted=process):
                yield Trust(p, Process(process))
            case trace.Alarm():
                yield Alarm(p)
            case trace.Crash():
                yield services.Crash(p)
            case _:
                pass


T = TypeVar("T", int, str)


def _ranks(items: Iterable[T]) -> dict[T, int]:
    return {item: rank for rank, item in enumerate(sorted(set(items)))}


def _spoken_of(event: trace.Event) -> tuple[int, ...]:
    """The processes that an event names."""
    match event:
        case trace.Install(members=members) | trace.Transitional(members=members):
            return members
        case trace.Suspect(suspected=process) | trace.Trust(trusted=process):
            return (process,)
        case _:
            return ()
