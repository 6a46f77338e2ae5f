"""`antiphon explain`: the reason why an action was not possible at a step of a saved trace, guard
by guard.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import typer
from rich.text import Text

import antiphon
from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.report.why_false import why_false
from antiphon.conformance.report.why_not import WhyNot, why_not
from antiphon.model.notation import compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import State

SHOWN = 6
"""Number of steps failing at one guard that are named; the others are counted."""


class Place(NamedTuple):
    """State that the question is about: the one before or after a step of a saved trace."""

    file: str
    step: int
    when: Literal["before", "after"]


def explain(
    file: options.TraceFile,
    specification: options.TraceSpecification = None,
    *,
    step: Annotated[
        int,
        typer.Option(
            "--step", min=1, help="The number of a step; one more than the last asks about the end."
        ),
    ],
    action: Annotated[
        str | None,
        typer.Option(
            "--why-not", metavar="ACTION", help="The action that did not happen.", show_default=False
        ),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            "--why-false",
            metavar="PREDICATE",
            help="The invariant, witness or obligation that is false.",
            show_default=False,
        ),
    ] = None,
    arguments: Annotated[
        list[str] | None,
        typer.Option(
            "--arguments",
            metavar="VALUE",
            help="Its first arguments, as traces show them: p1; may be repeated.",
        ),
    ] = None,
    after: Annotated[
        bool, typer.Option("--after", help="Ask about the state after the step, not before it.")
    ] = False,
    json: options.Json = False,
) -> int:
    """Say which guard disables an action in the state before a step, or which part of a predicate is false
    there.
    """
    if (action is None) is (predicate is None):
        raise output.UsageProblem("say one of --why-not ACTION and --why-false PREDICATE")
    trace = antiphon.load(file, specification)
    most = len(trace) if after else len(trace) + 1
    if step > most:
        raise output.UsageProblem(f"--step {step}: the trace has {len(trace)} steps; say 1 to {most}")
    state = trace.states[step if after else step - 1]
    where = f"{'after' if after else 'before'} step {step}" + (
        f", {compact_step(trace.steps[step - 1])}" if step <= len(trace) else " (the end)"
    )
    if predicate is not None:
        return _predicate(
            trace, state, predicate, where, Place(str(file), step, "after" if after else "before"), json=json
        )
    assert action is not None
    answer = why_not(trace.program, state, action, arguments or ())
    if json:
        return output.finish(
            documents.Explain(
                outcome=Outcome.HOLDS, file=str(file), step=step, when="after" if after else "before",
                action=action,
                enabled=list(map(compact_step, answer.enabled)),
                disabled=[
                    documents.ReasonDocument(
                        guard=reason.guard,
                        at=short_places(str(reason.at)),
                        steps=list(map(compact_step, reason.steps)),
                    )
                    for reason in answer.disabled
                ],
            )
        )  # fmt: skip
    output.out().print(f"{action}, {where}:", style="bold")
    _print(answer)
    return 0


def _predicate(trace: Trace, state: State, predicate: str, where: str, place: Place, *, json: bool) -> int:
    """Print the parts of a predicate that make it false in a state, or that it is true."""
    holds = trace.program.reference.holds(state, predicate)
    failures = why_false(trace.program, state, predicate)
    if json:
        shown = [
            documents.FailureDocument(
                text=item.text, value=item.value, at=short_places(str(item.at)), names=dict(item.names),
                sides=dict(item.sides)
            )
            for item in failures
        ]  # fmt: skip
        return output.finish(
            documents.Explain(
                outcome=Outcome.HOLDS, file=place.file, step=place.step, when=place.when, action="",
                enabled=[], disabled=[],
                predicate=predicate, failures=shown,
            )
        )  # fmt: skip
    output.out().print(f"{predicate}, {where}: {'true' if holds else 'false'}", style="bold")
    for item in failures:
        output.out().print(f"  {short_places(str(item))}", soft_wrap=True)
    return 0


def _print(answer: WhyNot) -> None:
    console = output.out()
    for one in answer.enabled:
        console.print(Text.assemble(("  enabled   ", "green"), compact_step(one)))
    for reason in answer.disabled:
        console.print(
            Text.assemble(
                ("  disabled  ", "red"),
                f"requires {reason.guard}",
                (f"  ({short_places(str(reason.at))})", "bright_black"),
            )
        )
        names = [compact_step(one) for one in reason.steps[:SHOWN]]
        more = f", and {len(reason.steps) - SHOWN} more" if len(reason.steps) > SHOWN else ""
        console.print(f"            {', '.join(names) + more if names else 'there is no such element'}")
