"""The service that the protocol claims to give judges the logs, as the same text judges every model run.

1. What is wrong with a log, or a run in which nothing was delivered, makes every property unknown:
   with an event missing, the rest may look better or worse than it was.
2. A message is its identifier and its payload together. One that arrives with other bytes than it
   was broadcast with is thus a message that nobody broadcast, and breaks integrity.
3. The service judges as the run goes, when it cannot know who will crash. At the end it is known:
   what only processes that crash have offended breaks the uniform forms alone.

This module must not know which protocol ran, nor judge itself: of a property it knows only
which line of a log shows that it is broken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from antiphon.conformance.trace import Broadcast, Crash, Deliver, Run, Step
from antiphon.model.verdict import Outcome
from antiphon.spec import services

SAFETY: Final = (
    "BroadcastOnce",
    "UniformIntegrity",
    "Integrity",
    "UniformTotalOrder",
    "TotalOrder",
    "UniformPrefixOrder",
    "PrefixOrder",
)
"""What the service refuses at an event."""

AGREEMENTS: Final = ("UniformAgreement", "Agreement")
OBLIGATIONS: Final = ("Validity", *AGREEMENTS)
"""What the service asks for when the run is over."""

PROPERTIES: Final = (*OBLIGATIONS, *SAFETY)
"""All properties, in the order in which they are judged."""


@dataclass(frozen=True)
class Judgement:
    """The outcome of one property, and in one sentence why it does not hold; empty if it does."""

    property: str
    outcome: Outcome
    reason: str = ""


def judge(run: Run) -> tuple[Judgement, ...]:
    """Judge the logs of a run; the judgements come in the order of `PROPERTIES`."""
    events = [step for step in run.merge.steps if isinstance(step.event, Broadcast | Deliver | Crash)]
    unfit = str(run.problems[0]) if run.problems else ""
    if unfit:
        return tuple(Judgement(name, Outcome.UNKNOWN, unfit) for name in PROPERTIES)
    return _ServiceRun(run, events).judgements()


class _ServiceRun:
    """The service and the events of one run that it is fed."""

    def __init__(self, run: Run, steps: list[Step]) -> None:
        self.run = run
        self.steps = steps
        self.crashed = {step.process for step in steps if isinstance(step.event, Crash)}
        self.messages: dict[tuple[str, str], int] = {}
        for step in steps:
            if isinstance(step.event, Broadcast | Deliver):
                self.messages.setdefault((step.event.m, step.event.digest), len(self.messages))
        self.service = services.Judge(
            services.TotalOrderBroadcast, processes=len(run.logs), messages=len(self.messages)
        )
        self.first: dict[object, Step] = {}

    def judgements(self) -> tuple[Judgement, ...]:
        """Feed every event, then ask for the obligations."""
        offences: dict[str, list[str]] = {}
        for step in self.steps:
            for name, reason in self._offences(step):
                offences.setdefault(name, []).append(reason)
        discharged = self.service.discharged()
        offences.update({name: [self._missing(name)] for name in OBLIGATIONS if not discharged[name]})
        names = (*PROPERTIES, *sorted(set(offences) - set(PROPERTIES)))
        return tuple(_judgement(name, offences.get(name, [])) for name in names)

    def _offences(self, step: Step) -> Iterator[tuple[str, str]]:
        """What one event breaks, with its place and the place of the event it clashes with."""
        event = self._event(step)
        for refusal in self.service.feed(event):
            clash = self.first.get(refusal.clash)
            involved = {step.process} | ({clash.process} if clash else set())
            if not refusal.property.startswith(("Uniform", "BroadcastOnce")) and involved & self.crashed:
                continue
            against = f", clashes with {self._told(clash)}" if clash else ""
            yield refusal.property, f"{self._told(step)}{against} (guard: {refusal.guard})"
        self.first.setdefault(event, step)

    def _event(self, step: Step) -> services.Broadcast | services.Deliver | services.Crash:
        """The service's record of a logged event."""
        process = services.Process(step.process)
        match step.event:
            case Broadcast(_, m, digest):
                return services.Broadcast(process, services.Message(self.messages[m, digest]))
            case Deliver(_, m, _, digest):
                return services.Deliver(process, services.Message(self.messages[m, digest]))
            case _:
                return services.Crash(process)

    def _missing(self, obligation: str) -> str:
        """The first message, in causal order, that is not delivered where the obligation asks for it."""
        correct = set(range(len(self.run.logs))) - self.crashed
        seen: dict[tuple[str, str], set[int]] = {message: set() for message in self.messages}
        for step in self.steps:
            if isinstance(step.event, Deliver):
                seen[step.event.m, step.event.digest].add(step.process)
        for step in self.steps:
            if obligation != "UniformAgreement" and step.process in self.crashed:
                continue
            match step.event:
                case Broadcast(_, m, digest) if obligation == "Validity" and not seen[m, digest] & correct:
                    return f"{self._told(step)}, and no correct process delivers it"
                case Deliver(_, m, _, digest) if obligation in AGREEMENTS and correct - seen[m, digest]:
                    return f"{self._told(step)}, and process {min(correct - seen[m, digest])} never does"
        return "the service is not satisfied at the end of the run"

    def _told(self, step: Step) -> str:
        """Say where an event stands and what it is."""
        place = f"{self.run.logs[step.process].path.name}:{step.line}"
        message = f" {step.event.m}" if isinstance(step.event, Broadcast | Deliver) else ""
        verb = {Broadcast: "broadcasts", Deliver: "delivers", Crash: "crashes"}[type(step.event)]
        return f"{place}: process {step.process} {verb}{message}"


def _judgement(name: str, offences: list[str]) -> Judgement:
    if not offences:
        return Judgement(name, Outcome.HOLDS)
    more = f" (and {len(offences) - 1} more)" if len(offences) > 1 else ""
    return Judgement(name, Outcome.VIOLATED, offences[0] + more)
