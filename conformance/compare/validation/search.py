"""Depth-first search for behaviours that explain logs, over positions in logs, a state, and budgets of hidden
steps.

1. From a node the next possible line of a log is explained by a step that matches it; the log that advanced
  last comes first. A line that receives a message comes after the line that sent it.
2. An observation of the state that matches is taken at once, without alternatives: it changes nothing, so
    that any line before it may as well come after it.
3. After all lines that go on, hidden steps are tried: those of the actions that may be missing in the logs,
    within their budgets. When all lines are explained no step is taken.
4. A node is explored once. Every edge explains a line or uses a budget, so that there is no cycle.
5. An exhaustive search counts the explanations, and those in which a property is true throughout.

This module reads no file and shows nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from antiphon.conformance.compare.validation.observations import Log, Observation, Steps
from antiphon.model.bounds import Bounds, Stop
from antiphon.spec.lang import State, Transition
from antiphon.spec.lang.walk import variables_read

NODES_MAX: Final = 1_000_000
"""Default largest number of explored nodes."""
_LOOK_EVERY: Final = 64


class Node(NamedTuple):
    """Node: the number of explained lines of each log, the state, and the rest of each budget."""

    positions: tuple[int, ...]
    state: State
    left: tuple[int, ...]

    @property
    def lines(self) -> int:
        """Return the number of explained observations."""
        return sum(self.positions)


class Edge(NamedTuple):
    """Edge: the transition (None: no step), and the log whose line it explains (None: hidden step)."""

    transition: Transition | None
    log: int | None
    node: Node


@dataclass
class _Frame:
    """Node under exploration: the edge that leads to it, the edges still to try, and the explanations that go
    through it.
    """

    node: Node
    edge: Edge | None
    further: Iterator[Edge]
    ways: int = 0
    good: list[int] = field(default_factory=list)


@dataclass
class Found:
    """Result of a search.

    Attributes:
        start: the state in which the explanation begins.
        edges: the explanation that was found first, or None.
        ways: the number of explanations, in an exhaustive search.
        good: for each property, the number of explanations in which it is true throughout.
        farthest: the nodes that explain most lines.
        nodes: the number of explored nodes.
        stopped: the bound that ended the search.
    """

    start: State | None = None
    edges: tuple[Edge, ...] | None = None
    ways: int = 0
    good: dict[str, int] = field(default_factory=dict)
    farthest: dict[Node, None] = field(default_factory=dict)
    nodes: int = 0
    stopped: Stop | None = None


class Search:
    """Search for explanations of logs by a program.

    Args:
        steps: finds the steps for a line.
        logs: the observations.
        hidden: the number of times that each action may be taken without a line.
        bounds: the bounds of the search; the bound on states limits the nodes.
    """

    def __init__(self, steps: Steps, logs: Sequence[Log], hidden: Mapping[str, int], bounds: Bounds) -> None:
        self.steps, self.hidden = steps, tuple(hidden)
        self.logs = [log.observations for log in logs]
        self.budgets = tuple(hidden.values())
        most = NODES_MAX if bounds.states is None else bounds.states
        self.bounds = Bounds(most, bounds.seconds, None, bounds.memory_mb)
        self.sent: dict[str, tuple[int, int]] = {}
        for number, observations in enumerate(self.logs):
            for position, seen in enumerate(observations):
                for name in seen.sends:
                    self.sent.setdefault(name, (number, position))
        module = steps.program.module
        bodies = {item.name: variables_read(item.body, module) for item in module.predicates}
        self._read = {name: [steps.places[item] for item in sorted(read)] for name, read in bodies.items()}
        self._holding: dict[tuple[object, ...], bool] = {}
        self._begun = time.monotonic()

    def explain(
        self, starts: Sequence[State], properties: Sequence[str] = (), *, every: bool = False
    ) -> Found:
        """Search from these states; with `every` find all explanations, and count those that keep each
        property.
        """
        found = Found(good=dict.fromkeys(properties, 0))
        known: dict[Node, tuple[int, tuple[int, ...]]] = {}
        for start in starts:
            root = Node((0,) * len(self.logs), start, self.budgets)
            ways, good = self._explore(root, found, known, properties, every=every)
            found.ways += ways
            for name, count in zip(properties, good, strict=True):
                found.good[name] += count
            if found.edges is not None and not every:
                found.ways = 1
                break
            if found.stopped is not None:
                break
        return found

    def _explore(
        self,
        root: Node,
        found: Found,
        known: dict[Node, tuple[int, tuple[int, ...]]],
        properties: Sequence[str],
        *,
        every: bool,
    ) -> tuple[int, Sequence[int]]:
        """Explore from a node. Return the number of explanations from there, and for each property the number
        of those that keep it.
        """
        nothing = [0] * len(properties)
        stack = [_Frame(root, None, self.edges(root), 0, list(nothing))]
        self._met(root, found)
        while stack:
            frame = stack[-1]
            if self._is_complete(frame.node):
                frame.ways, frame.good, frame.further = 1, [1] * len(properties), iter(())
                if found.edges is None:
                    found.start = root.state
                    found.edges = tuple(item.edge for item in stack if item.edge is not None)
                if not every:
                    return 1, nothing
            edge = next(frame.further, None)
            if edge is not None:
                behind = known.get(edge.node)
                if behind is not None:
                    self._add(frame, edge, *behind, properties)
                    continue
                known[edge.node] = (0, tuple(nothing))
                self._met(edge.node, found)
                found.stopped = self._reached(found)
                if found.stopped is not None:
                    return frame.ways, nothing
                stack.append(_Frame(edge.node, edge, self.edges(edge.node), 0, list(nothing)))
                continue
            stack.pop()
            behind = (frame.ways, self._kept(frame, properties))
            known[frame.node] = behind
            if not stack:
                return behind
            assert frame.edge is not None
            self._add(stack[-1], frame.edge, *behind, properties)
        return 0, nothing

    def edges(self, node: Node) -> Iterator[Edge]:
        """Return every edge from a node, lines before hidden steps; a matching observation of the state is
        the only edge.
        """
        possible = [
            (number, seen)
            for number in self._order(node)
            if (seen := self.next_line(node, number)) is not None and self.waits_for(node, seen) is None
        ]
        looks = [(number, seen) for number, seen in possible if not seen.actions]
        for number, seen in looks:
            if any(True for _ in self.steps.after(node.state, seen)):
                yield Edge(None, number, Node(_further(node.positions, number), node.state, node.left))
                return
        for number, seen in possible:
            for transition in self.steps.after(node.state, seen):
                state = node.state if transition is None else transition.state
                yield Edge(transition, number, Node(_further(node.positions, number), state, node.left))
        for place, action in enumerate(self.hidden):
            if node.left[place]:
                left = (*node.left[:place], node.left[place] - 1, *node.left[place + 1 :])
                for step in self.steps.machine.candidates(node.state, action):
                    transition = self.steps.taken(node.state, step)
                    if transition is not None:
                        yield Edge(transition, None, Node(node.positions, transition.state, left))

    def next_line(self, node: Node, number: int) -> Observation | None:
        """Return the next line of a log, or None at its end."""
        position = node.positions[number]
        return self.logs[number][position] if position < len(self.logs[number]) else None

    def waits_for(self, node: Node, seen: Observation) -> Observation | None:
        """Return the line that sends a message that a line receives, if that line is not explained yet."""
        for name in seen.receives:
            number, position = self.sent.get(name, (0, -1))
            if node.positions[number] <= position:
                return self.logs[number][position]
        return None

    def _order(self, node: Node) -> Sequence[int]:
        """Return the numbers of the logs in the order in which they are tried: first the log that is furthest
        behind, since other logs wait for its lines.
        """
        share = [position / max(len(log), 1) for position, log in zip(node.positions, self.logs, strict=True)]
        return sorted(range(len(self.logs)), key=share.__getitem__)

    def _is_complete(self, node: Node) -> bool:
        return all(position == len(log) for position, log in zip(node.positions, self.logs, strict=True))

    def _met(self, node: Node, found: Found) -> None:
        found.nodes += 1
        best = next(iter(found.farthest), None)
        if best is None or node.lines > best.lines:
            found.farthest = {node: None}
        elif node.lines == best.lines:
            found.farthest[node] = None

    def _reached(self, found: Found) -> Stop | None:
        if found.nodes % _LOOK_EVERY and found.nodes < (self.bounds.states or 0):
            return None
        return self.bounds.reached(found.nodes, time.monotonic() - self._begun)

    def _kept(self, frame: _Frame, properties: Sequence[str]) -> tuple[int, ...]:
        """Return, for each property, the number of explanations through a node that keep it, in the node's
        own state too.
        """
        return tuple(
            count if count and self.holds(frame.node.state, name) else 0
            for name, count in zip(properties, frame.good, strict=True)
        )

    def holds(self, state: State, name: str) -> bool:
        """Return True if an invariant is true; a property of steps counts as true in every state.

        An invariant is evaluated once for equal values of the variables that it reads.
        """
        read = self._read.get(name)
        if read is None:
            return True
        asked = (name, *(state[place] for place in read))
        if asked not in self._holding:
            self._holding[asked] = self.steps.machine.holds(state, name)
        return self._holding[asked]

    @staticmethod
    def _add(frame: _Frame, edge: Edge, ways: int, good: Sequence[int], properties: Sequence[str]) -> None:
        """Add the number of explanations behind an edge to that of the node where the edge begins."""
        refused = () if edge.transition is None else {item.property for item in edge.transition.refused}
        frame.ways += ways
        for place, name in enumerate(properties):
            if name not in refused:
                frame.good[place] += good[place]


def _further(positions: tuple[int, ...], number: int) -> tuple[int, ...]:
    """Return the numbers of explained lines after one more line of a log."""
    return (*positions[:number], positions[number] + 1, *positions[number + 1 :])
