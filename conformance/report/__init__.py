"""Pictures of a run: the space-time diagram of any trace, in the terminal and as SVG."""

from antiphon.conformance.report.diagram import Arrow, Diagram, Event, Fate, diagram
from antiphon.conformance.report.svg import svg
from antiphon.conformance.report.terminal import text_diagram

__all__ = ["Arrow", "Diagram", "Event", "Fate", "diagram", "svg", "text_diagram"]
