"""Logs of a real run in a walk: at each line the states in which the system may be, and what keeps lines
back.

The states are those of `antiphon.conformance.compare.validation`. Each can be entered: the walk gets the
steps of a behaviour that explains the lines up to there, and goes on as everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antiphon.conformance.report.explorer.walk import Walk, WalkError, digest, digest_of_state
from antiphon.conformance.report.words import counted
from antiphon.model.changes import described
from antiphon.model.notation import compact_step, short_places

if TYPE_CHECKING:
    from antiphon.conformance.compare.validation import Observation, Obstacle, Place, Possible, Validation
    from antiphon.conformance.compare.validation.search import Node

STATES_MAX = 200
"""Largest number of states of a place that are shown; the others are counted."""

ASKED_MAX = 20
"""In so many states of a place the next lines are asked why not."""

STEPS_MAX = 4
"""Number of steps that an obstacle names."""


class ObservedLogs:
    """Logs, walked through a specification.

    Args:
        possible: the states in which the system may be.
        found: the verdict on the logs.
    """

    def __init__(self, possible: Possible, found: Validation) -> None:
        self._possible, self._found = possible, found
        self.program = found.program

    def _at(self, line: Observation) -> str:
        """Return the name of the log and the line; the whole path where two logs have the same name."""
        names = [Path(file).name for file in self._possible.files]
        name = Path(line.file).name
        return f"{name if names.count(name) == 1 else line.file}:{line.line}"

    def about(self) -> dict[str, Any]:
        """Return the lines, with their digests and how many states are possible after each, and the verdict.

        A line that nothing explains has no number of states.
        """
        lines = [
            {
                "at": "" if place.line is None else self._at(place.line),
                "text": "before the first line" if place.line is None else place.line.text,
                "digest": digest(["" if place.line is None else place.line.text]),
                "states": len(place.nodes),
                "complete": place.complete,
            }
            for place in self._possible.places
        ]
        missing = {
            line.place: line
            for node in self._possible.places[-1].nodes
            for line in self._possible.next_lines(node)
        }
        lines += [
            {
                "at": self._at(line),
                "text": line.text,
                "digest": digest([line.text]),
                "states": None,
                "complete": True,
            }
            for line in missing.values()
        ]
        return {"lines": lines, "told": self._found.reason, "explained": self._possible.explained}

    def place(self, number: int) -> dict[str, Any]:
        """Return the states in which the system may be after a line.

        `parts` are the parts of the state that differ between the possible states, each with its values and
        the number of states that have each value. For each state, `digest` is its digest, `goes` says whether
        the rest of the logs can be explained from it (None: a bound hides that), and `kept` has the next
        lines that are not possible, with their obstacles.

        Raises:
            WalkError: there is no such line.
        """
        place = self._place(number)
        nodes = place.nodes[:STATES_MAX]
        return {
            "told": self._told(place),
            "total": len(place.nodes),
            "parts": self._parts(nodes),
            "states": [
                {
                    "digest": digest_of_state(self.program, node.state),
                    "goes": self._possible.goes_on(node),
                    "kept": self._kept(node) if index < ASKED_MAX else [],
                }
                for index, node in enumerate(nodes)
            ],
        }

    def enter(self, walk: Walk, number: int, state: int) -> list[dict[str, Any]]:
        """Add a behaviour that leads to one possible state after a line to a walk. `number` is that of the
        line, `state` the index of the state. Return the labels of the added nodes, with their lines.

        Raises:
            WalkError: there is no such line or state.
        """
        place = self._place(number)
        if not 0 <= state < len(place.nodes):
            raise WalkError(
                f"there is no state number {state} after this line; {len(place.nodes)} are possible"
            )
        way = self._possible.way_to(place.nodes[state])
        steps = [edge for edge in way.edges if edge.transition is not None]
        nodes = walk.add_run(way.start, [edge.transition for edge in steps if edge.transition is not None])
        lines = [
            "",
            *("hidden" if edge.log is None else self._at(self._possible.line_of(edge)) for edge in steps),
        ]
        return [{**walk.label(node), "line": line} for node, line in zip(nodes, lines, strict=True)]

    @property
    def count(self) -> int:
        """Number of places in the logs: one more than the number of explained lines."""
        return len(self._possible.places)

    def _place(self, number: int) -> Place:
        if not 0 <= number < self.count:
            raise WalkError(f"there is no line number {number}; {self.count - 1} are explained")
        return self._possible.places[number]

    def _told(self, place: Place) -> str:
        count = len(place.nodes)
        may = f"The system may be in {'this state' if count == 1 else counted(count, 'state')}"
        when = "before the first line" if place.line is None else f"after {self._at(place.line)}"
        if place.complete:
            return f"{may} {when}."
        bound = "" if self._possible.stopped is None else f": {self._possible.stopped} ended the walk"
        return f"{may} {when}, and perhaps in others{bound}."

    def _parts(self, nodes: Sequence[Node]) -> list[dict[str, Any]]:
        values: dict[str, dict[str, int]] = {}
        for node in nodes:
            for where, value in described(self.program, node.state):
                seen = values.setdefault(where, {})
                seen[value] = seen.get(value, 0) + 1
        return [
            {"where": where, "values": list(seen.items())} for where, seen in values.items() if len(seen) > 1
        ]

    def _kept(self, node: Node) -> list[dict[str, Any]]:
        if self._possible.goes_on(node):
            return []
        return [
            {"at": self._at(line), "text": line.text, "obstacles": list(map(_obstacle, obstacles))}
            for line, obstacles in self._possible.kept_back(node).lines
        ]


def _obstacle(found: Obstacle) -> dict[str, Any]:
    named = list(map(compact_step, found.steps[:STEPS_MAX]))
    more = [f"and {len(found.steps) - STEPS_MAX} more"] if len(found.steps) > STEPS_MAX else []
    return {
        "action": found.action,
        "why": found.why,
        "at": "" if found.at is None else short_places(str(found.at)),
        "steps": [*named, *more],
    }
