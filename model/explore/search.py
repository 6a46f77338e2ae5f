"""Search: a walk that looks for states and steps that decide properties: a state in which a predicate is
false or true, or a step that breaks a property.

It goes on after a violation until every requested property is decided or all states are seen. A decided
property stays decided when a bound ends the search; the others are unknown, with the bound as the reason.

This file knows nothing of traces or verdicts; obligations are judged afterwards, on the explored states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from antiphon.model.bounds import ALL_DECIDED, FIRST_VIOLATION, UNBOUNDED, Bounds, Progress, Stop
from antiphon.model.engines.interface import Decision, Finding, Position, PredicateError, Refused, StateSpace
from antiphon.model.explore.explorer import Explorer, Visitor
from antiphon.spec.lang import State


class Search(Visitor):
    """Search of a space until properties are decided: the predicates `watched`, and the `services`, which are
    names of properties that steps may break.

    Attributes:
        decided: the decision of each decided property.
        error: the first error of the specification, in a step or a predicate.
        walk: the walk, with its counts and why it stopped.

    `extra` are further predicates over states, treated as witnesses. `decides` is called with the name of
    each decided property, and the number of steps.
    """

    def __init__(
        self,
        space: StateSpace,
        *,
        watched: Iterable[str] = (),
        services: Iterable[str] = (),
        exhaustive: bool = True,
        stop_at: Iterable[str] = (),
        bounds: Bounds = UNBOUNDED,
        progress: Callable[[Progress], None] | None = None,
        extra: Mapping[str, Callable[[State], bool]] | None = None,
        decides: Callable[[str, int], None] | None = None,
    ) -> None:
        self.space, self.exhaustive = space, exhaustive
        self._decides = decides
        self.open = list(watched)
        self.services = list(services)
        self.stop_at = set(stop_at)
        self.extra = dict(extra or {})
        self.decided: dict[str, Decision] = {}
        self.walk = Explorer(space, self, bounds, progress)

    @property
    def error(self) -> Finding | None:
        """Return the first error of the specification, or None."""
        return self.walk.error

    def run(self) -> None:
        """Search until everything is decided or seen, a bound is hit, or the user interrupts."""
        self.walk.run()

    def begin(self, position: Position) -> None:
        """Take over the decisions of an earlier search.

        Raises:
            Refused: the earlier search did not look for a property that is asked now, and its states are not
                looked at again.
        """
        self.decided = position.decided
        self.open = [name for name in self.open if name not in self.decided]
        asked = {*self.open, *self.services}
        seen = asked if position.asked is None else {*position.asked, *self.decided}
        if missing := sorted(asked - seen):
            known, others = ", ".join(position.asked or ()) or "no property", ", ".join(missing)
            looked = f"the search in this directory looked for {known} and not for {others}"
            raise Refused(f"{looked}; remove the directory to begin anew")
        position.asked = sorted(asked)

    def finding(self, finding: Finding) -> None:
        """Take a finding of the space: the first step that breaks a property decides the property."""
        for name in finding.properties:
            if name in self.services and name not in self.decided:
                self._decide(name, Decision(finding.state, finding.step), len(self.walk.position.levels))
            self.space.mute(name)

    def states(self, first: int, last: int) -> None:
        """Note the first state in which a predicate has the wanted value, which decides it."""
        depth = len(self.walk.position.levels) if first else 0
        try:
            for state, name, _ in self.space.screen(tuple(self.open), first, last):
                if name not in self.decided:
                    self._decide(name, Decision(state), depth)
        except PredicateError as error:
            self.walk.error = self.walk.error or Finding(error.state, None, error=error.predicate)
        self.open = [name for name in self.open if name not in self.decided]
        for name, test in self.extra.items():
            if name not in self.decided:
                found = next((state for state in range(first, last) if test(self.space.value(state))), None)
                if found is not None:
                    self.decided[name] = Decision(found)

    def _decide(self, name: str, decision: Decision, depth: int) -> None:
        self.decided[name] = decision
        if self._decides is not None:
            self._decides(name, depth)

    def enough(self) -> Stop | None:
        """Return the reason to end the search: a first violation, if one is enough, or that every property is
        decided, unless all states are wanted. None to go on.
        """
        if self.stop_at & self.decided.keys():
            return FIRST_VIOLATION
        asked = [*self.open, *self.services, *self.extra]
        if not self.exhaustive and all(name in self.decided for name in asked):
            return ALL_DECIDED
        return None
