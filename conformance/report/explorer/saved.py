"""The explorer as one file: the page, and the states that it can show, without network and without a server.

States are found breadth first, up to a number of states and a size of the file. Where these do not
suffice, the file
has the states of the runs alone, and says so. Runs are always whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.explorer.page import page_file
from antiphon.conformance.report.explorer.walk import Walk
from antiphon.conformance.report.svg import svg
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.lang import State

STATES_MAX = 3_000
"""Largest number of states in a file."""

BYTES_MAX = 5_000_000
"""Largest size of a file."""


def saved_page(walk: Walk, traces: Mapping[str, Trace] | None = None) -> tuple[str, str]:
    """Write the explorer of a program as one file of HTML.

    Args:
        walk: a walk of the program.
        traces: runs that the file begins with, by name.

    Returns:
        The text, and a sentence that says which states are in it.
    """
    runs = dict(traces or {})
    states = _Graph(walk)
    whole = states.explore()
    data = states.data(runs)
    text = _page(walk, data)
    if whole and len(text) <= BYTES_MAX:
        return text, f"all {len(states.numbers):,} reachable states are in it"
    if not runs:
        while len(text) > BYTES_MAX:
            states = states.cut(len(states.numbers) // 2)
            text = _page(walk, states.data(runs))
        return (
            text,
            f"the first {len(states.numbers):,} states are in it, in breadth-first order; there are more",
        )
    states = _Graph(walk)
    for trace in runs.values():
        states.add_run(trace)
    return _page(walk, states.data(runs)), "the states of the runs alone are in it: there are too many others"


class _Graph:
    """The states of a file: numbers, and for each expanded state its steps."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.numbers: dict[State, int] = {}
        self.expanded = 0
        for state in walk.program.reference.initial():
            self.numbers.setdefault(state, len(self.numbers))
        self.starts = len(self.numbers)

    def explore(self) -> bool:
        """Number states breadth first, up to the largest number; return True if these are all."""
        order = list(self.numbers)
        while self.expanded < len(order):
            if len(order) > STATES_MAX:
                return False
            for transition in self.walk.program.reference.successors(order[self.expanded]):
                if transition.state not in self.numbers:
                    self.numbers[transition.state] = len(order)
                    order.append(transition.state)
            self.expanded += 1
        return True

    def cut(self, size: int) -> _Graph:
        """Return a graph of the first states alone."""
        smaller = _Graph(self.walk)
        smaller.numbers = dict(list(self.numbers.items())[: max(size, smaller.starts)])
        return smaller

    def add_run(self, trace: Trace) -> None:
        """Number the states of a run."""
        for state in trace.states:
            self.numbers.setdefault(state, len(self.numbers))

    def data(self, runs: Mapping[str, Trace]) -> dict[str, Any]:
        """Return the content of the file."""
        for trace in runs.values():
            self.add_run(trace)
        walk, views, disabled = self.walk, [], []
        for state in self.numbers:
            view = walk.view_of(state)
            for step, transition in zip(view["enabled"], walk.successors(state), strict=True):
                step["to"] = self.numbers.get(transition.state, -1)
                step["emits"] = [compact(event) for event in transition.events]
            views.append(view)
            disabled.append(walk.disabled_in(state))
        about = walk.about()
        about["starts"] = list(range(self.starts))
        about["features"] = ["picture"] if runs else []
        about["traces"] = {name: {"steps": len(trace), "loop": trace.loop} for name, trace in runs.items()}
        first = next(iter(runs.values()), None)
        return {
            "about": about,
            "views": views,
            "disabled": disabled,
            "traces": {name: self._labels(trace) for name, trace in runs.items()},
            "picture": svg(diagram(first, walk.name)) if first is not None else "",
        }

    def _labels(self, trace: Trace) -> list[dict[str, Any]]:
        start = {
            "node": self.numbers[trace.start],
            "step": "the start",
            "emits": [],
            "broken": [],
            "branches": 0,
        }
        return [
            start,
            *(
                {
                    "node": self.numbers[one.state],
                    "step": compact_step(one.step),
                    "emits": [compact(event) for event in one.events],
                    "broken": [refusal.property for refusal in one.refused],
                    "branches": 0,
                }
                for one in trace.transitions
            ),
        ]


def _page(walk: Walk, data: Mapping[str, Any]) -> str:
    """The page with its style, its scripts and its data in it."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = re.sub(r"^export ", "", page_file("explorer.js"), flags=re.MULTILINE) + page_file("embedded.js")
    html = page_file("explorer.html")
    html = html.replace("<title>Antiphon explorer</title>", f"<title>{walk.name} · Antiphon explorer</title>")
    html = html.replace(
        '<link rel="stylesheet" href="explorer.css">', f"<style>{page_file('explorer.css')}</style>"
    )
    begin = 'start(embedded(JSON.parse(document.getElementById("data").textContent)));'
    loaded = (
        f'<script type="application/json" id="data">{content}</script>\n'
        f'<script type="module">{script}\n{begin}</script>'
    )
    html = html.replace('<script type="module" src="remote.js"></script>\n', "")
    return html.replace("</body>", f"{loaded}\n</body>")
