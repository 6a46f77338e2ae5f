"""`antiphon.explore`: the explorer of a program or a run, in a notebook or as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from antiphon.conformance.report.explorer import Walk, frame, saved_page
from antiphon.conformance.report.explorer.walk import options_of
from antiphon.model import trace as model_trace
from antiphon.model.files import write_whole
from antiphon.programs import Subject, called, program_of


@dataclass(frozen=True, repr=False)
class Explorer:
    """Explorer as one file. A notebook shows it in a frame that the reader can use.

    Attributes:
        html: the text of the file; it needs no network and no server.
        states: a sentence that says which states are in it.
    """

    html: str
    states: str

    def save(self, file: str | Path) -> None:
        """Write the HTML to a file.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(Path(file), self.html.encode())

    def __repr__(self) -> str:
        return f"<Explorer, {len(self.html):,} bytes: {self.states}>"

    def _repr_html_(self) -> str:
        return frame(self.html)


def explore(subject: Subject | model_trace.Trace) -> Explorer:
    """Return the explorer of a program, or of a run: all reachable states if they are few, else a part.

    Args:
        subject: what `check` takes, or a `Trace`.

    Raises:
        ArgumentError: it is neither.
    """
    run = subject if isinstance(subject, model_trace.Trace) else None
    program = run.program if run is not None else program_of(subject)  # type: ignore[arg-type]
    page, states = saved_page(
        Walk(program, called(program.spec), options_of(program)), {} if run is None else {"the run": run}
    )
    return Explorer(page, states)
