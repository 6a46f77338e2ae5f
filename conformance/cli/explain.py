"""`antiphon explain`: why an action was not possible at a step of a saved trace, guard by guard."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output, registry
from antiphon.conformance.report.why_not import WhyNot, why_not
from antiphon.model.export import load
from antiphon.model.notation import compact_step, short_places

SHOWN = 6
"""So many steps that fail at one guard are named; the others are counted."""


def explain(
    file: options.TraceFile,
    step: Annotated[int, typer.Option("--step", min=1, help="The number of a step; one more than the last asks about the end.")],
    action: Annotated[str, typer.Option("--why-not", metavar="ACTION", help="The action that did not happen.")],
    arguments: Annotated[
        list[str] | None, typer.Option("--arguments", metavar="VALUE", help="Its first arguments, as traces show them: p1; may be repeated.")
    ] = None,
    after: Annotated[bool, typer.Option("--after", help="Ask about the state after the step, not before it.")] = False,
    json: options.Json = False,
) -> int:
    """Say which guard disables an action in the state before a step."""
    registry.see_current_directory()
    trace = load(file)
    most = len(trace) if after else len(trace) + 1
    if step > most:
        raise output.UsageProblem(f"--step {step}: the trace has {len(trace)} steps; say 1 to {most}")
    state = trace.states[step if after else step - 1]
    answer = why_not(trace.program, state, action, arguments or ())
    if json:
        return output.finish(
            documents.Explain(
                outcome="holds", exit_code=0, file=str(file), step=step, when="after" if after else "before", action=action,
                enabled=list(map(compact_step, answer.enabled)),
                disabled=[
                    documents.ReasonDocument(guard=reason.guard, at=short_places(str(reason.at)), steps=list(map(compact_step, reason.steps)))
                    for reason in answer.disabled
                ],
            )
        )  # fmt: skip
    where = f"{'after' if after else 'before'} step {step}" + (f", {compact_step(trace.steps[step - 1])}" if step <= len(trace) else " (the end)")
    output.out().print(f"{action}, {where}:", style="bold")
    _print(answer)
    return 0


def _print(answer: WhyNot) -> None:
    console = output.out()
    for one in answer.enabled:
        console.print(Text.assemble(("  enabled   ", "green"), compact_step(one)))
    for reason in answer.disabled:
        console.print(Text.assemble(("  disabled  ", "red"), f"requires {reason.guard}", (f"  ({short_places(str(reason.at))})", "bright_black")))
        names = [compact_step(one) for one in reason.steps[:SHOWN]]
        more = f", and {len(reason.steps) - SHOWN} more" if len(reason.steps) > SHOWN else ""
        console.print(f"            {', '.join(names) + more if names else 'there is no such element'}")
