"""Explanation of a failed validation: how many lines are explained, the possible states there, the obstacles
of the next lines.

An obstacle of a log's next line in a state is a guard that is false for every step that the line could be, or
a value after a possible step that differs from the log's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from antiphon.conformance.compare.validation.observations import Observation, Steps, ValueDifference
from antiphon.conformance.compare.validation.search import Node, Search
from antiphon.model.notation import compact_step, short_places
from antiphon.spec.lang import Disabled, Location, State, Step

STATES_MAX = 20
"""Largest number of states in which the obstacles of lines are computed."""


@dataclass(frozen=True)
class Obstacle:
    """Obstacle of a line in a state.

    `steps` are the steps that fail in this way (none: no step matches the line), `at` is the line of the
    guard. `differing` is the number of variables that have other values after a possible step; None where no
    step is possible.
    """

    action: str
    why: str
    at: Location | None = None
    steps: tuple[Step, ...] = ()
    differing: int | None = None

    def __str__(self) -> str:
        """Return the obstacle as text: `vote requires self.voted_for[s] is None (raft.py:12):
        vote(s1, ...)`.
        """
        named = ", ".join(map(compact_step, self.steps[:3]))
        more = f" and {len(self.steps) - 3:,} more" if len(self.steps) > 3 else ""
        place = f" ({short_places(str(self.at))})" if self.at is not None else ""
        head = f"{self.action}: " if self.action else ""
        return f"{head}{self.why}{place}" + (f": {named}{more}" if named else "")


@dataclass(frozen=True)
class Stuck:
    """State in which no next line is possible, with each log's next line and its obstacles."""

    state: State
    lines: tuple[tuple[Observation, tuple[Obstacle, ...]], ...]


@dataclass(frozen=True)
class Failure:
    """End of the longest explained prefix of the logs.

    `explained` counts its lines, `total` all lines. `states` is the number of states in which the system may
    be there; `stuck` has the first few, or all if there are at most `STATES_MAX`.
    """

    explained: int
    total: int
    states: int
    stuck: tuple[Stuck, ...]

    @property
    def lines(self) -> tuple[Observation, ...]:
        """Return the first unexplained line of each log that has one."""
        return tuple({seen.place: seen for item in self.stuck for seen, _ in item.lines}.values())


def failure(search: Search, farthest: Iterable[Node]) -> Failure:
    """Return the failure of a search whose farthest nodes are these: the next lines there, with their
    obstacles.
    """
    nodes = list(farthest)
    by_state = {(node.positions, node.state): node for node in nodes}
    stuck = tuple(stuck_at(search, node) for node in list(by_state.values())[:STATES_MAX])
    explained = nodes[0].lines if nodes else 0
    return Failure(explained, sum(map(len, search.logs)), len(by_state), stuck)


def stuck_at(search: Search, node: Node) -> Stuck:
    """Return a state with the next line of each log, and the obstacles of these lines there."""
    lines: list[tuple[Observation, tuple[Obstacle, ...]]] = []
    for number in range(len(search.logs)):
        seen = search.next_line(node, number)
        if seen is None:
            continue
        before = search.waits_for(node, seen)
        if before is not None:
            told = f"what it receives is sent at {before.place}, which is not explained yet"
            lines.append((seen, (Obstacle("", told),)))
        else:
            lines.append((seen, tuple(obstacles(search.steps, node.state, seen))))
    return Stuck(node.state, tuple(lines))


def obstacles(steps: Steps, state: State, seen: Observation) -> Iterator[Obstacle]:
    """Yield the obstacles of an observation in a state: possible steps first, those that come nearest to the
    observed values before the others, then the guards that are false.
    """
    wrong = steps.differing(state, seen.before)
    if wrong is not None:
        yield _otherwise("", wrong, "before it ")
        return
    if not seen.actions:
        wrong = steps.differing(state, seen.after)
        if wrong is not None:
            yield _otherwise("", wrong, "")
    found = [item for action in seen.actions for item in _of_action(steps, state, seen, action)]
    most = len(steps.places) + 1
    yield from sorted(found, key=lambda item: most if item.differing is None else item.differing)


def _of_action(steps: Steps, state: State, seen: Observation, action: str) -> Iterator[Obstacle]:
    guards: dict[tuple[str, Location], list[Step]] = {}
    values: dict[tuple[ValueDifference, int], list[Step]] = {}
    for step in steps.candidates(state, seen, action):
        try:
            after = steps.machine.apply(state, step).state
        except Disabled as disabled:
            guards.setdefault((disabled.guard, disabled.at), []).append(step)
            continue
        wrong = steps.differing(after, seen.after)
        if wrong is not None:
            count = sum(not steps.agrees(after, {name: value}) for name, value in seen.after.items())
            values.setdefault((wrong, count), []).append(step)
    for (wrong, count), failing in values.items():
        yield replace(_otherwise(action, wrong, "after it ", failing), differing=count)
    for (guard, at), failing in guards.items():
        yield Obstacle(action, f"requires {guard}", at, tuple(failing))
    if not guards and not values:
        method = steps.methods[action]
        within = [f"self.{item.within} has no such {item.name}" for item in method.parameters if item.within]
        why = steps.no_values(seen, action) or within or ["no argument is as told"]
        yield Obstacle(action, "; ".join(why), method.at)


def _otherwise(action: str, wrong: ValueDifference, when: str, steps: Iterable[Step] = ()) -> Obstacle:
    return Obstacle(action, f"{when}{wrong}", None, tuple(steps))
