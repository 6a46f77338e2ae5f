"""A change is those steps of the abstract machine that the refinement proposes, if the machine can take them
and they lead there.

1. The abstract machine's own reference executes them: a guard that is false there is what the change breaks,
   by text and place.
2. The events that both machines know must be the same, in each process's order.
3. The steps must lead to the mapped state after the change: else the protocol changed something for which the
   machine has no step, such as taking a number back.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.lang import Disabled, Program, State, Step
from antiphon.spec.lang.types import MapOf
from antiphon.spec.refinement import Refinement

PROPERTY = "Refinement"
"""The name of the property in verdicts and traces."""


@dataclass(frozen=True)
class Explained:
    """How a change is explained: by steps (none: a stutter), or `why` it cannot be."""

    steps: tuple[Step, ...]
    why: str = ""


class Explainer:
    """Explains changes of the mapped state by steps of `abstract`, the bound abstract machine of
    `refinement`.
    """

    def __init__(self, refinement: Refinement, abstract: Program) -> None:
        self.refinement, self.abstract = refinement, abstract

    def shared(self, events: Iterable[Any]) -> tuple[Any, ...]:
        """Those of a protocol's events that the abstract machine emits too."""
        return tuple(event for event in events if isinstance(event, self.refinement.events))

    def begins(self, image: State) -> str:
        """Why the machine cannot be in this state when the protocol begins, or nothing. Steps before the
        protocol's first are allowed.
        """
        initial = self.abstract.reference.initial()
        if any(not self.explain(start, image, ()).why for start in initial):
            return ""
        return (
            f"an initial state of the protocol is none of {self.abstract.name}: "
            f"{self.explain(initial[0], image, ()).why}"
        )

    def explain(self, before: State, after: State, events: tuple[Any, ...]) -> Explained:
        """The steps of the abstract machine that are this change, or why there are none. `events` are shared
        ones.
        """
        names = self.abstract.variables
        steps = self.refinement.explain(
            dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True)), events
        )
        state = before
        emitted: list[Any] = []
        for step in steps:
            try:
                transition = self.abstract.reference.apply(state, step)
            except Disabled as guard:
                return Explained(
                    steps,
                    f"{compact_step(step)} is not enabled in {self.abstract.name}: {guard.guard} is false "
                    f"({guard.at})",
                )
            state = transition.state
            emitted += self.shared(transition.events)
        if _by_process(emitted) != _by_process(events):
            return Explained(
                steps, f"the protocol emits {_told(events)}, {self.abstract.name} {_told(emitted)}"
            )
        for name, reached, wanted in zip(names, state, after, strict=True):
            if reached != wanted:
                return Explained(
                    steps,
                    f"no step of {self.abstract.name} changes {name} from {compact(reached)} to "
                    f"{compact(wanted)}",
                )
        return Explained(steps)


def fails_at_the_end(trace: Trace, refinement: Refinement) -> str:
    """Why the last transition of a trace is no step of the abstract machine, or nothing if it is one."""
    concrete, abstract = refinement.bind(trace.program)
    if not trace.transitions:
        return Explainer(refinement, abstract).begins(_mapped(concrete, abstract, trace.start))
    before, after = (_mapped(concrete, abstract, state) for state in trace.states[-2:])
    explainer = Explainer(refinement, abstract)
    return explainer.explain(before, after, explainer.shared(trace.transitions[-1].events)).why


def _mapped(concrete: Program, abstract: Program, state: State) -> State:
    """The mapped state, computed by CPython alone."""
    values = []
    for name, domain in abstract.domains.items():
        if isinstance(domain.type, MapOf):
            values.append(tuple(concrete.reference.evaluate(state, name, key) for key in domain.parts[0]))
        else:
            values.append(concrete.reference.evaluate(state, name))
    return tuple(values)


def _by_process(events: Iterable[Any]) -> list[Any]:
    """The events, those of one process in order, processes one after the other."""
    return sorted(events, key=lambda event: event.process.index)


def _told(events: Iterable[Any]) -> str:
    return ", ".join(map(compact, events)) or "nothing"
