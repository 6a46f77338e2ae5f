"""Explanation of a change by steps of the abstract machine, which the refinement proposes or a search finds;
the machine must be able to take them, and they must lead to the new state.

1. The abstract machine's own reference executes what is proposed: a guard that is false there is what the
   change breaks, by text and place.
2. The events that both machines know must be the same, in each process's order.
3. The steps must lead to the mapped state after the change: else the protocol changed something for which the
   machine has no step, such as taking a number back.
4. Where nothing is proposed, the steps are searched for (`search.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from antiphon.model.notation import compact, compact_step
from antiphon.model.refinement.mapping import mapped
from antiphon.model.refinement.search import MOST_STEPS, StepSearch, by_process
from antiphon.model.trace import Trace
from antiphon.spec.lang import Disabled, Program, State, Step
from antiphon.spec.refinement import Refinement, shared_events

PROPERTY = "Refinement"
"""Name of the property in verdicts and traces."""

MOST_NAMED = 6
"""Largest number of possible steps that are named where none of them leads to the new state."""


@dataclass(frozen=True)
class Explained:
    """Explanation of a change: the steps of the machine (none: a stutter), or in `why` the reason why there
    are none.
    """

    steps: tuple[Step, ...]
    why: str = ""


class Explainer:
    """Explainer of changes of the mapped state by steps of `abstract`, the bound abstract machine of
    `refinement`; `concrete` is the protocol that is mapped to it. `look` is called while steps are searched
    for.
    """

    def __init__(
        self,
        refinement: Refinement,
        concrete: Program,
        abstract: Program,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self.refinement, self.abstract = refinement, abstract
        events = refinement.events
        self.events = shared_events(concrete, abstract) if events is None else events
        self._look = look

    @cached_property
    def _search(self) -> StepSearch:
        return StepSearch(self.abstract, self.shared, self._look)

    def shared(self, events: Iterable[Any]) -> tuple[Any, ...]:
        """Return those events of a protocol that the abstract machine emits as well."""
        return tuple(event for event in events if isinstance(event, self.events))

    def begins(self, image: State) -> str:
        """Return the reason why the machine cannot be in the state `image` when the protocol begins, or an
        empty text. The machine may have taken steps before.
        """
        initial = self.abstract.reference.initial()
        if any(not self.explain(start, image, ()).why for start in initial):
            return ""
        return (
            f"an initial state of the protocol is none of {self.abstract.name}: "
            f"{self.explain(initial[0], image, ()).why}"
        )

    def explain(self, before: State, after: State, events: tuple[Any, ...]) -> Explained:
        """Return the steps of the abstract machine that explain this change, or the reason why there are
        none. `events` are those that both machines know.
        """
        if self.refinement.explain is None:
            return self._found(before, after, events)
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
        if by_process(emitted) != by_process(events):
            return Explained(
                steps, f"the protocol emits {_text_of(events)}, {self.abstract.name} {_text_of(emitted)}"
            )
        return Explained(steps, self._change(state, after, "no step"))

    def _found(self, before: State, after: State, events: tuple[Any, ...]) -> Explained:
        """Return the steps that a search finds, or the reason why there are none."""
        steps = self._search.way(before, after, events)
        if steps is not None:
            return Explained(steps)
        kept_back = self._search.kept_back(before, after)
        if kept_back:
            return Explained((), kept_back)
        possible = [compact_step(step) for step in self._search.possible(before)]
        named = ", ".join(possible[:MOST_NAMED]) + (", ..." if len(possible) > MOST_NAMED else "")
        told = f"; possible there: {named or 'nothing'}"
        change = self._change(before, after, f"no sequence of at most {MOST_STEPS} steps")
        if events:
            told = f", while the protocol emits {_text_of(events)}{told}"
        return Explained(
            (), (change or f"no steps of {self.abstract.name} lead to the same state again") + told
        )

    def _change(self, before: State, after: State, what: str) -> str:
        """Return a sentence on the first variable in which two states differ; empty if they are equal."""
        for name, old, new in zip(self.abstract.variables, before, after, strict=True):
            if old != new:
                return f"{what} of {self.abstract.name} changes {name} from {compact(old)} to {compact(new)}"
        return ""


def fails_at_the_end(trace: Trace, refinement: Refinement) -> str:
    """Return the reason why the last transition of a trace is no step of the abstract machine; empty if it is
    one.
    """
    concrete, abstract = refinement.bind(trace.program)
    explainer = Explainer(refinement, concrete, abstract)
    if not trace.transitions:
        return explainer.begins(mapped(concrete, abstract, trace.start))
    before, after = (mapped(concrete, abstract, state) for state in trace.states[-2:])
    return explainer.explain(before, after, explainer.shared(trace.transitions[-1].events)).why


def _text_of(events: Iterable[Any]) -> str:
    return ", ".join(map(compact, events)) or "nothing"
