"""Reports, runs and findings for people: they print, show themselves in a notebook, and save.

Engines answer in the types of `antiphon.model`; these subclasses add the presentation. Nothing here judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from antiphon.conformance.report import diagram, svg, text_diagram, words
from antiphon.conformance.report.documents import place_of, report_document, trace_document
from antiphon.conformance.report.html import outcome_html, report_html, trace_html
from antiphon.model import trace as model_trace
from antiphon.model import verdict as model_verdict
from antiphon.model.changes import described
from antiphon.model.export import save
from antiphon.model.named import named_states
from antiphon.model.trace_text import trace_text
from antiphon.model.verdict import Exploration, Outcome, Verdict
from antiphon.programs import called
from antiphon.spec.lang import Program


class Trace(model_trace.Trace):
    """Run of a program, step by step: a counterexample, or the way to a wanted state.

    It prints as a space-time diagram, and shows itself in a notebook with what every step changed. Its states
    are named tuples: `run.states[-1].holding[Process(0)]`.
    """

    @classmethod
    def of(cls, trace: model_trace.Trace) -> Trace:
        """Return the same run as a `Trace` of this module."""
        named = named_states(trace.program)
        transitions = tuple(replace(item, state=named(item.state)) for item in trace.transitions)
        parts = {item.name: getattr(trace, item.name) for item in fields(trace)}
        return cls(**(parts | {"start": named(trace.start), "transitions": transitions}))

    def save(self, file: str | Path) -> None:
        """Write the run as an ITF file, which `antiphon.load`, the command line and other viewers read.

        Raises:
            OSError: the file cannot be written.
            TraceFileError: the specification is in no module from which it can be loaded again.
        """
        save(self, Path(file))

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON data, as `--json` prints it: its steps with their changes, and
        all states.
        """
        return _data(trace_document(self))

    def svg(self) -> str:
        """Return the space-time diagram, as the text of an SVG file."""
        return svg(diagram(self, called(self.program.spec)))

    @property
    def end(self) -> Mapping[str, str]:
        """Last state: each variable, and each value of a map, in the short notation."""
        return dict(described(self.program, self.states[-1]))

    def __repr__(self) -> str:
        return f"<Trace of {called(self.program.spec)}: {self.shows or 'a run'}, {words.length(self)}>"

    def __str__(self) -> str:
        return str(text_diagram(diagram(self, called(self.program.spec))))

    def _repr_html_(self) -> str:
        return trace_html(called(self.program.spec), self)


class Report(model_verdict.Report):
    """Report of a program: `report["Agreement"]` is one verdict, `report.outcome` the worst.

    It prints as a list of verdicts with its shortest counterexample, and shows the same in a notebook.
    """

    @classmethod
    def of(cls, report: model_verdict.Report) -> Report:
        """Return the same report as a `Report` of this module."""
        verdicts = tuple(
            replace(item, trace=None if item.trace is None else Trace.of(item.trace))
            for item in report.verdicts
        )
        return cls(
            report.program, verdicts, report.exploration, report.notes, report.obligations, report.every
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, as `--json` prints it: verdicts with their runs, and the
        exploration.
        """
        return _data(report_document(called(self.program.spec), self))

    @property
    def counterexample(self) -> Trace | None:
        """Shortest run that breaks a property, or leads to an error of the specification, or None."""
        traces = [item.trace for item in self.wrong if isinstance(item.trace, Trace)]
        return min(traces, key=len) if traces else None

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """Verdicts with a counterexample, and the one about an error of the specification."""
        bad = (
            item for item in self.verdicts if item.outcome is Outcome.VIOLATED or item.kind == "specification"
        )
        return tuple(item for item in bad if item.trace is not None)

    def __repr__(self) -> str:
        count = words.counted(len(self.verdicts), "verdict")
        worst = self.counterexample
        shown = "" if worst is None else f"; str() shows {worst.shows}: {words.length(worst)}"
        return f"<Report on {called(self.program.spec)}: {self.outcome.value}, {count}{shown}>"

    def __str__(self) -> str:
        lines = [f"{called(self.program.spec)}  {words.constants(self.program)}"]
        lines += [
            f"  {item.outcome.value:<9} {item.property}: {words.found(item)}".rstrip(": ")
            for item in self.verdicts
        ]
        more = (*words.lacking(self), words.explored(self.exploration), *self.notes, *self.shown())
        return "\n".join([*lines, *filter(None, more)])

    def _repr_html_(self) -> str:
        name, worst = called(self.program.spec), self.counterexample
        return report_html(name, self) + (trace_html(name, worst) if worst is not None else "")


@dataclass(frozen=True, repr=False)
class Found:
    """Result of `find`.

    Attributes:
        program: the specification that was searched, with its constants.
        expression: the expression that was looked for.
        outcome: holds when there is such a state, violated when no reachable state is one, unknown when a
            bound was hit.
        reason: the answer in one sentence.
        trace: a shortest way to such a state, or None.
        state: the parts of that state that the expression names, in the short notation.
        verdict: the engine's verdict.
        exploration: the explored part of the state space.
    """

    program: Program
    expression: str
    outcome: Outcome
    reason: str
    trace: Trace | None
    state: Mapping[str, str]
    verdict: Verdict
    exploration: Exploration

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON data, as `--json` prints it."""
        explored = self.exploration
        return {
            "name": called(self.program.spec),
            "specification": place_of(self.program),
            "digest": self.program.digest,
            "constants": dict(self.program.constants),
            "engine": self.verdict.provenance.engine,
            "expression": self.expression,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "states": explored.states,
            "transitions": explored.transitions,
            "depth": explored.depth,
            "complete": explored.complete,
            "seconds": round(explored.seconds, 3),
            "state": dict(self.state),
            "trace": None if self.trace is None else self.trace.to_dict(),
        }

    def __str__(self) -> str:
        shown = [] if self.trace is None else [trace_text(self.trace)]
        return "\n".join([f"{called(self.program.spec)}: {self.outcome.value}: {self.reason}", *shown])

    def __repr__(self) -> str:
        return f"<Found in {called(self.program.spec)}: {self.outcome.value}, {self.reason}>"

    def _repr_html_(self) -> str:
        drawn = trace_html(called(self.program.spec), self.trace) if self.trace is not None else ""
        return f"<p>{outcome_html(self.outcome)} {self.reason}</p>{drawn}"


def _data(document: msgspec.Struct) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(document)
    return data
