"""Explorer as one file: the page, and the states that it can show, without network and without a server.

1. Where all reachable states are few enough, the file has them all.
2. Else it has the states of its runs and logs alone; where there are none, the first states in breadth-first
   order.
3. A file is never larger than its bound. Of runs that are too large the last states are in it.
4. The file and the sentence that is returned say which states these are.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import Any

from antiphon.conformance.report.diagram import diagram
from antiphon.conformance.report.explorer.observed import ObservedLogs
from antiphon.conformance.report.explorer.page import page_file
from antiphon.conformance.report.explorer.pictures import part_of, picture, windows
from antiphon.conformance.report.explorer.walk import Walk, digest_of_run, options_of
from antiphon.model.notation import compact, compact_step
from antiphon.model.trace import Trace
from antiphon.spec.lang import Program, State

STATES_MAX = 3_000
"""Largest number of states in a file."""

BYTES_MAX = 5_000_000
"""Largest size of a file, and of a report that embeds files."""

TOLD_EACH = 20
"""Number of states, or of diagrams, after which the progress is told."""

EMBEDDED_STATES_MAX = 300
"""Largest number of states in a file that a report or a notebook embeds."""

EMBEDDED_BYTES_MAX = 1_000_000
"""Largest size of a file that a report or a notebook embeds."""

_MODULES = ("address.js", "elements.js", "watches.js", "explorer.js", "embedded.js")


def saved_page(
    walk: Walk,
    traces: Mapping[str, Trace] | None = None,
    logs: ObservedLogs | None = None,
    *,
    states_max: int | None = None,
    bytes_max: int | None = None,
    tell: Callable[[str], None] | None = None,
) -> tuple[str, str]:
    """Write the explorer of a program as one file of HTML.

    Args:
        walk: a walk of the program.
        traces: runs that the file begins with, by name.
        logs: logs that are walked through the program.
        states_max: the largest number of states; `STATES_MAX` if nothing is said.
        bytes_max: the largest size of the file; `BYTES_MAX` if nothing is said.
        tell: called now and then with words about the progress.

    Returns:
        The text, and a sentence that says which states are in it.
    """
    states_max, bytes_max = states_max or STATES_MAX, bytes_max or BYTES_MAX
    content = _Content(walk, dict(traces or {}), logs, bytes_max, tell or (lambda _: None))
    needed = content.needed()
    reachable, whole = content.reachable(states_max)
    if whole:
        states = content.that_fit([*needed, *reachable], bytes_max)
        if len(states) == len(dict.fromkeys([*needed, *reachable])):
            return content.page(states, f"all {len(states):,} reachable states are in it", bytes_max)
    if not needed:
        states = content.that_fit(reachable, bytes_max)
        told = f"the first {len(states):,} states are in it, in breadth-first order; there are more"
        return content.page(states, told, bytes_max)
    states = content.that_fit(needed[:states_max], bytes_max)
    what = " and of the ".join([*(["runs"] if traces else []), *(["logs"] if logs else [])])
    told = f"the states of the {what} alone are in it: there are too many others"
    if len(states) < len(needed):
        of = f"of {len(needed):,} states of the {what}"
        told = f"the last {len(states):,} {of} are in it: there are too many"
    return content.page(states, told, bytes_max)


def frame(page: str) -> str:
    """Return HTML that embeds a file of the explorer in a frame of a page or a notebook.

    Scripts run in it, and it has no part in its surroundings: no cookies, no storage, no access to the page.
    """
    escaped = page.replace("&", "&amp;").replace("<", "&lt;").replace("'", "&#39;")
    style = "border:1px solid #cbd5e0;width:100%;height:760px"
    return (
        f'<iframe title="Antiphon explorer" sandbox="allow-scripts" loading="lazy" style="{style}" '
        f"srcdoc='{escaped}'></iframe>"
    )


def embedded(
    program: Program,
    name: str,
    runs: Mapping[str, Trace],
    logs: ObservedLogs | None = None,
    bytes_max: int = EMBEDDED_BYTES_MAX,
) -> str:
    """Return HTML with the explorer's file in a frame that is folded at first, and the sentence that says
    which states are in the file.

    Args:
        program: the specification with its constants.
        name: what it is called.
        runs: runs of the program, by name.
        logs: logs that are walked through the program.
        bytes_max: the largest size of it all.
    """
    walk = Walk(program, name, options_of(program))
    for share in (8, 7, 6, 5, 4):  # what HTML has to escape makes it larger
        limit = bytes_max * share // 10
        page, told = saved_page(walk, runs, logs, states_max=EMBEDDED_STATES_MAX, bytes_max=limit)
        framed = frame(page)
        if len(framed.encode()) + 400 <= bytes_max:
            break
    else:
        return "<p>This is too large to be walked here.</p>"
    summary = "<summary>Walk this step by step</summary>"
    return f"<details>{summary}<p>Of {escape(name)}: {escape(told)}.</p>{framed}</details>"


class Packing:
    """Encoder of JSON data in few characters: each distinct string is stored once, and each distinct set of
    keys once.

    In the encoded data a string is its number, a number is a text, a list begins with -1, and an object
    begins with the number of its set of keys.
    """

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.shapes: dict[tuple[str, ...], int] = {}

    def packed(self, value: Any) -> Any:
        """Return data in the encoded form."""
        match value:
            case str():
                return self.strings.setdefault(value, len(self.strings))
            case bool() | None:
                return value
            case int():
                return str(value)
            case dict():
                shape = self.shapes.setdefault(tuple(value), len(self.shapes))
                return [shape, *map(self.packed, value.values())]
            case _:
                return [-1, *map(self.packed, value)]


class _Content:
    """Content of an explorer's file: the states, and what the page shows of each."""

    def __init__(
        self,
        walk: Walk,
        runs: Mapping[str, Trace],
        logs: ObservedLogs | None,
        bytes_max: int,
        tell: Callable[[str], None],
    ) -> None:
        self.walk, self.runs, self.logs, self.tell = walk, runs, logs, tell
        self._digests = {name: digest_of_run(trace) for name, trace in self.runs.items()}
        self.labels_max = max(bytes_max // 250, 1)
        self.pictures = self._pictures(bytes_max // 4)
        self._seen = Packing()
        self.initial = list(dict.fromkeys(walk.program.reference.initial()))
        self._values: dict[tuple[str, State], bool | str | None] = {}
        self._views: dict[State, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        self._entered: dict[tuple[int, int], list[dict[str, Any]]] = {}
        if logs is not None:
            self._entered = {
                (number, state): logs.enter(walk, number, state)
                for number in range(logs.count)
                for state in range(len(logs.place(number)["states"]))
            }

    def needed(self) -> list[State]:
        """Return the states of the runs and logs, beginning with the last state of each."""
        found: dict[State, None] = {}
        for trace in self.runs.values():
            found |= dict.fromkeys(reversed(trace.states))
        for way in sorted(self._entered, key=lambda key: (key[1] > 0, -key[0])):
            found |= dict.fromkeys([self.walk.state_of(self._entered[way][-1]["node"])])
        return list(found)

    def reachable(self, most: int) -> tuple[list[State], bool]:
        """Return up to `most` reachable states in breadth-first order, and True if these are all."""
        known, order = set(self.initial), list(self.initial)
        for number, state in enumerate(order):
            if number % TOLD_EACH == 0:
                self.tell(f"{len(order):,} states found, at most {most:,} are wanted")
            if len(order) > most:
                return order[:most], False
            for transition in self.walk.successors(state):
                if transition.state not in known:
                    known.add(transition.state)
                    order.append(transition.state)
        return order, True

    def that_fit(self, order: Iterable[State], most: int) -> list[State]:
        """Return the first states of an order, as many as fit into a file of this size; the initial state is
        always one of them.
        """
        states: list[State] = []
        left = most - len(_filled(self.walk, self.data([], "")))
        wanted = dict.fromkeys([*self.initial[:1], *order])
        for number, state in enumerate(wanted):
            if number % TOLD_EACH == 0:
                used = f"{(most - left) / 1e6:.1f} of at most {most / 1e6:.1f} MB"
                self.tell(f"{number:,} of {len(wanted):,} states described, {used}")
            left -= self._size(state)
            if left < 0 and states:
                break
            states.append(state)
        return states

    def _size(self, state: State) -> int:
        """Return the number of bytes that a state adds to a file, beside the strings that the file already
        has.
        """
        known = len(self._seen.strings)
        told = [*self._of(state), [self._value(one, state) for one in self.walk.watched]]
        text = json.dumps([self._seen.packed(one) for one in told], separators=(",", ":"))
        new = itertools.islice(self._seen.strings, known, None)
        return len(text) + 24 + sum(len(json.dumps(one, ensure_ascii=False).encode()) + 6 for one in new)

    def page(self, states: list[State], told: str, most: int) -> tuple[str, str]:
        """Return the text of a file with these states, and the sentence that says which they are. Leave
        states out while the file is larger than `most` bytes.
        """
        while len((text := _filled(self.walk, self.data(states, told))).encode()) > most and len(states) > 1:
            kept = len(states) * 9 // 10
            told = told.replace(f"{len(states):,}", f"{kept:,}", 1)
            states = states[:kept]
        return text, told

    def data(self, states: list[State], told: str) -> dict[str, Any]:
        """Return the content of the file."""
        numbers = {state: number for number, state in enumerate(states)}
        views, disabled = [], []
        for state in states:
            view, reasons = self._of(state)
            enabled = [
                {**step, "to": numbers.get(transition.state, -1)}
                for step, transition in zip(view["enabled"], self.walk.successors(state), strict=True)
            ]
            views.append({**view, "enabled": enabled})
            disabled.append(reasons)
        about = self.walk.about()
        about["starts"] = [numbers.get(state, -1) for state in self.initial]
        about["features"] = ["picture"] if self.runs else []
        about["traces"] = {
            name: {
                "steps": len(trace) - self._left_out(trace),
                "loop": self._loop(trace),
                "digest": self._digests[name],
                "before": self._left_out(trace),
            }
            for name, trace in self.runs.items()
        }
        about["contents"] = told
        packing = Packing()
        data = {
            "about": about,
            "views": list(map(packing.packed, views)),
            "disabled": list(map(packing.packed, disabled)),
            "traces": {name: list(self._labels(trace, numbers)) for name, trace in self.runs.items()},
            "pictures": self.pictures,
            "values": {
                expression: packing.packed([self._value(expression, state) for state in states])
                for expression in self.walk.watched
            },
        }
        if self.logs is not None:
            log = self._log(self.logs, numbers)
            data["log"] = log["log"]
            data["places"] = list(map(packing.packed, log["places"]))
            data["tree"] = {node: packing.packed(label) for node, label in log["tree"].items()}
        return {**data, "packed": {"strings": list(packing.strings), "shapes": list(packing.shapes)}}

    def _of(self, state: State) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return what the page shows of a state, and its disabled steps."""
        if state not in self._views:
            view = self.walk.view_of(state, self.walk.successors(state))
            for step, transition in zip(view["enabled"], self.walk.successors(state), strict=True):
                step["emits"] = [compact(event) for event in transition.events]
            self._views[state] = (view, self.walk.disabled_in(state))
        return self._views[state]

    def _value(self, expression: str, state: State) -> bool | str | None:
        """Return the value of a watched expression in a state."""
        key = (expression, state)
        if key not in self._values:
            self._values[key] = self.walk.value(expression, state)
        return self._values[key]

    def _pictures(self, most: int) -> dict[str, list[dict[str, Any] | None]]:
        """Return the diagrams of the runs by their windows. If `most` bytes do not suffice for all, keep
        those of the last windows.
        """
        found: dict[str, list[dict[str, Any] | None]] = {}
        for name, trace in self.runs.items():
            left_out = self._left_out(trace)
            places = list(windows(len(trace) - left_out))
            found[name] = [None] * len(places)
            for number in reversed(range(len(places))):
                first, last = places[number]
                if number % TOLD_EACH == 0:
                    self.tell(f"drawing the steps {first:,} to {last:,} of {name}")
                part = part_of(trace, first + left_out, last + left_out)
                drawn = picture(
                    part,
                    diagram(part.trace, self.walk.name),
                    first + left_out,
                    last + left_out,
                    left_out,
                )
                drawn["svg"] = _deflated(drawn["svg"])
                most -= len(json.dumps(drawn))
                if most < 0:
                    break
                found[name][number] = drawn
        return found

    def _left_out(self, trace: Trace) -> int:
        """Return the number of steps at the beginning of a run that are not in the file, not even by name."""
        return max(0, len(trace) - self.labels_max)

    def _loop(self, trace: Trace) -> int | None:
        left_out = self._left_out(trace)
        return trace.loop - left_out if trace.loop is not None and trace.loop >= left_out else None

    def _labels(self, trace: Trace, numbers: Mapping[State, int]) -> Iterator[dict[str, Any]]:
        left_out = self._left_out(trace)
        begin = "the start" if not left_out else f"after {left_out:,} steps, which are not in this file"
        start = numbers.get(trace.states[left_out], -1)
        yield {"node": start, "step": begin, "emits": [], "broken": [], "branches": 0}
        for one in trace.transitions[left_out:]:
            yield {
                "node": numbers.get(one.state, -1),
                "step": compact_step(one.step),
                "emits": [compact(event) for event in one.events],
                "broken": [refusal.property for refusal in one.refused],
                "branches": 0,
            }

    def _log(self, logs: ObservedLogs, numbers: Mapping[State, int]) -> dict[str, Any]:
        """Return the lines of the logs, the states that are possible after each, and the tree of the ways to
        these states.
        """
        tree: dict[int, dict[str, Any]] = {}
        places = []
        for number in range(logs.count):
            place = logs.place(number)
            for state, one in enumerate(place["states"]):
                way = self._entered[number, state]
                parent = -1
                for label in way:
                    if label["node"] not in tree:
                        node = numbers.get(self.walk.state_of(label["node"]), -1)
                        tree[label["node"]] = {**label, "node": node, "parent": parent}
                    parent = label["node"]
                one["end"] = parent
            places.append(place)
        about = logs.about()
        return {"log": about, "places": places, "tree": tree}


def _deflated(text: str) -> str:
    """Return a text compressed with deflate and encoded in base64url, as `address.js` reads it."""
    deflate = zlib.compressobj(9, wbits=-15)
    packed = deflate.compress(text.encode()) + deflate.flush()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _filled(walk: Walk, data: Mapping[str, Any]) -> str:
    """Return the HTML of the page with its style, its scripts and its data."""
    content = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    script = "\n".join(map(page_file, _MODULES))
    script = re.sub(r"^import .*$", "", script, flags=re.MULTILINE)
    script = re.sub(r"^export ", "", script, flags=re.MULTILINE)
    html = page_file("explorer.html")
    title = f"<title>{escape(walk.name)} · Antiphon explorer</title>"
    html = html.replace("<title>Antiphon explorer</title>", title)
    html = html.replace(
        '<link rel="stylesheet" href="explorer.css">', f"<style>{page_file('explorer.css')}</style>"
    )
    begin = 'start(embedded(JSON.parse(document.getElementById("data").textContent)));'
    code = f"{script}\n{begin}"
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    policy = f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"
    html = html.replace(
        '<meta charset="utf-8">',
        f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
    )
    loaded = (
        f'<script type="application/json" id="data">{content}</script>\n<script type="module">{code}</script>'
    )
    html = re.sub(r'<(link rel="modulepreload"|script type="module" src=).*\n', "", html)
    return html.replace("</body>", f"{loaded}\n</body>")
