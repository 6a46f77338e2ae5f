"""The states in which the system may be after each line of a log: all that some behaviour leads to.

1. Nodes are those of the search (`search`): a place in the logs, a state, the rest of the budgets. They are
   found level by level, a level being all nodes at which as many lines are explained.
2. A place is how far each log is explained. Of several logs those places are shown that lie on one way: the
   explanation that a search finds first, else the way to a node that explains most.
3. The states of a place are complete unless a bound ended the walk before its level was done.
4. A state goes on if an explanation of all logs leads through it.

Source: the set of states of Cirstea, Kuppe, Loillier and Merz 2024, "Validating traces of distributed
programs against TLA+ specifications".
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.conformance.compare.validation.explaining import begin
from antiphon.conformance.compare.validation.failure import Stuck, stuck_at
from antiphon.conformance.compare.validation.observations import Log, Observation, Steps
from antiphon.conformance.compare.validation.search import Edge, Node, Search
from antiphon.model.bounds import Bounds, Stop
from antiphon.spec.lang import Program, State


@dataclass(frozen=True)
class Way:
    """A behaviour that explains the lines up to a place: where it begins, and its steps."""

    start: State
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Place:
    """A place in the logs (how far each log is explained), and the states in which the system may be at that
    place.

    Attributes:
        line: the line that is explained last; None: no line yet.
        nodes: a node for each state; those that go on come first.
        complete: these are all such states.
    """

    line: Observation | None
    nodes: tuple[Node, ...]
    complete: bool


class Possible:
    """The states in which the system may be, at each place of logs.

    Args:
        program: the specification with its constants.
        logs: what was observed.
        hidden: how often each of these actions may be taken that no line tells of.
        start: values of variables in which the logs begin; the others are those of the initial state.
        bounds: the bounds of the walk; the bound on states limits the nodes.

    Raises:
        ObservationError: a value means nothing.
        SpecError: the specification is wrong.
    """

    def __init__(
        self,
        program: Program,
        logs: Sequence[Log],
        *,
        hidden: Mapping[str, int] | None = None,
        start: Mapping[str, Any] | None = None,
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    ) -> None:
        starts = list(program.reference.initial()) if not start else [begin(program, start)]
        self._search = Search(Steps(program), logs, hidden or {}, bounds)
        self.files = tuple(log.file for log in logs)
        """Files of the logs."""
        self._total = sum(len(log.observations) for log in logs)
        self._from: dict[Node, tuple[Node, Edge] | None] = {}
        self._before: defaultdict[Node, list[Node]] = defaultdict(list)
        self._levels: list[list[Node]] = []
        self.stopped: Stop | None = None
        """The bound that ended the walk."""
        roots = [Node((0,) * len(logs), state, self._search.budgets) for state in starts]
        self._walk(roots)
        self._onward = self._with_an_end()
        way = self._shown_way(starts)
        self.places = tuple(map(self._place, range(len(way)), way, [None, *way]))
        """Every place on the way, the first before any line."""

    @property
    def explained(self) -> bool:
        """Return True if the last place is the end of all logs."""
        last = self.places[-1].nodes
        return bool(last) and last[0].lines == self._total

    def goes_on(self, node: Node) -> bool | None:
        """Return whether an explanation of all logs leads through a node; None where a bound hides that."""
        return True if node in self._onward else None if self.stopped is not None else False

    def way_to(self, node: Node) -> Way:
        """Return a behaviour that leads to a node, with as few steps as any."""
        edges: list[Edge] = []
        while (origin := self._from[node]) is not None:
            node, edge = origin
            edges.append(edge)
        return Way(node.state, tuple(reversed(edges)))

    def kept_back(self, node: Node) -> Stuck:
        """Return the next lines that are not possible in a node, with their obstacles."""
        possible = [
            self._search.next_line(node, edge.log)
            for edge in self._search.edges(node)
            if edge.log is not None
        ]
        stuck = stuck_at(self._search, node)
        return Stuck(
            stuck.state, tuple(item for item in stuck.lines if all(item[0] is not one for one in possible))
        )

    def next_lines(self, node: Node) -> list[Observation]:
        """Return the next line of each log that has one."""
        lines = (self._search.next_line(node, number) for number in range(len(self._search.logs)))
        return [line for line in lines if line is not None]

    def line_of(self, edge: Edge) -> Observation:
        """Return the line of a log that a step explains; the step must not be hidden."""
        assert edge.log is not None
        return self._search.logs[edge.log][edge.node.positions[edge.log] - 1]

    # How they are found -------------------------------------------------------------------------------------

    def _walk(self, roots: Iterable[Node]) -> None:
        """Find all nodes, level by level."""
        begun, self._from = time.monotonic(), dict.fromkeys(roots)
        level = list(self._from)
        while level and self.stopped is None:
            further: list[Node] = []
            for node in level:  # hidden steps add to the level itself
                for edge in self._search.edges(node) if node.lines < self._total else ():
                    self._before[edge.node].append(node)
                    if edge.node not in self._from:
                        self._from[edge.node] = (node, edge)
                        (level if edge.node.lines == node.lines else further).append(edge.node)
                self.stopped = self._search.bounds.reached(len(self._from), time.monotonic() - begun)
                if self.stopped is not None:
                    break
            self._levels.append(level)
            level = further

    def _with_an_end(self) -> set[Node]:
        """Return the nodes from which some path leads to the end of all logs."""
        onward = {node for node in self._levels[-1] if node.lines == self._total}
        left = list(onward)
        while left:
            for node in self._before[left.pop()]:
                if node not in onward:
                    onward.add(node)
                    left.append(node)
        return onward

    def _shown_way(self, starts: Sequence[State]) -> list[Node]:
        """Return a node for each place on the way that is shown."""
        ends = [node for node in self._levels[-1] if node.lines == self._total]
        if not ends and self.stopped is not None:
            found = self._search.explain(starts)
            if found.edges is not None and found.start is not None:
                root = Node((0,) * len(self._search.logs), found.start, self._search.budgets)
                self._adopt(root, found.edges)
                ends = [found.edges[-1].node] if found.edges else [root]
        end = ends[0] if ends else max(self._from, key=lambda node: node.lines)
        path = [end]
        while (origin := self._from[path[-1]]) is not None:
            path.append(origin[0])
        return list({node.positions: node for node in reversed(path)}.values())

    def _adopt(self, root: Node, edges: Iterable[Edge]) -> None:
        """Add the nodes and edges of a path that the search has found, although the walk ended at a bound
        before them.
        """
        node = root
        for edge in edges:
            self._from.setdefault(edge.node, (node, edge))
            self._onward.add(node)
            node = edge.node
        self._onward.add(node)

    def _place(self, number: int, node: Node, before: Node | None) -> Place:
        is_level = number < len(self._levels)
        level = self._levels[number] if is_level else []
        states: dict[State, Node] = {}
        for other in [node, *level]:
            if other.positions == node.positions:
                known = states.get(other.state)
                if known is None or (known not in self._onward and other in self._onward):
                    states[other.state] = other
        line = None
        if before is not None:
            pairs = enumerate(zip(node.positions, before.positions, strict=True))
            log = next(log for log, (now, then) in pairs if now > then)
            line = self.line_of(Edge(None, log, node))
        complete = is_level and (self.stopped is None or number < len(self._levels) - 1)
        nodes = sorted(states.values(), key=lambda one: one not in self._onward)
        return Place(line, tuple(nodes), complete)
