"""`antiphon demo`: the purpose of the project, shown in three seconds."""

from __future__ import annotations

import antiphon
from antiphon.conformance.cli import output
from antiphon.conformance.report.words import length

ASKED = "antiphon check figure-5 --processes 2 --messages 1 --repair start_token --property UniformIntegrity"
SENTENCE = (
    "If we require that a process only passes the token away after having delivered all previous messages "
    "[…], this protocol provides Reliable Broadcast as well."
)


def demo() -> int:
    """Show a published protocol that delivers a message twice, as the shortest run to it."""
    console = output.out()
    console.print(
        "Figure 5 of a report on total order broadcast (2002) passes a token that lists messages, and asks "
        f"for what is missing.\n“{SENTENCE}” Does it?\n"
    )
    figure = antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])
    report = antiphon.check(figure, properties=["UniformIntegrity"])
    trace = report.counterexample
    assert trace is not None, "tests/claims asks the same"
    output.print_diagram(trace)
    console.print(
        f"No: {length(trace)} and no loss are enough; all runs were searched, the shortest first.\n\n"
        f"what was asked:     {ASKED}\n"
        "a project to start: antiphon init DIR",
        soft_wrap=True,
    )
    return 0
