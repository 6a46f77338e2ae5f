"""`antiphon find`: is there a state in which this expression is true? The shortest way to one; exits 0 with it, 1 when there is none."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.text import Text

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.check import Engine, Job, Limits, explore
from antiphon.model.changes import described
from antiphon.model.notation import short_places
from antiphon.model.trace import Trace, replay
from antiphon.model.verdict import Exploration, Outcome, Report, Verdict
from antiphon.spec.lang import Program, ir
from antiphon.spec.lang.question import asked

DEFAULT = next(iter(Engine))
"""What explores when nothing is said: the first, as for `check`."""


def find(
    specification: Annotated[str, typer.Argument(metavar="SPEC", help="A name as for `check`, or module:Class.")],
    expression: Annotated[
        str, typer.Argument(metavar="EXPRESSION", help="A boolean of the language over `self`: any(self.holding[p] for p in self.each(Process)).")
    ],
    processes: options.Processes = None,
    messages: options.Messages = None,
    losses: options.Losses = None,
    timeouts: options.Timeouts = None,
    settings: options.Settings = None,
    repairs: options.Repairs = None,
    without: options.Without = None,
    readings: options.Readings = None,
    engine: Annotated[Engine, typer.Option("--engine", help="What explores.")] = DEFAULT,
    depth: Annotated[int | None, typer.Option("--depth", min=0, help="Greatest number of steps; z3 needs it.", show_default=False)] = None,
    max_states: Annotated[int | None, typer.Option("--max-states", min=1, help="Stop after so many states.", show_default=False)] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", min=0.0, help="Stop after this time.", show_default=False)] = None,
    save: options.Save = None,
    json: options.Json = False,
    no_diagram: options.Quiet = False,
) -> int:
    """Find the shortest way to a state in which an expression is true."""
    if engine is Engine.Z3 and depth is None:
        raise output.UsageProblem("--engine z3 looks up to a depth; say which, for example --depth 10")
    if engine is Engine.Z3 and max_states is not None:
        raise output.UsageProblem("--max-states bounds an explicit search; z3 is bounded by --depth and --max-seconds")
    named = {"processes": processes, "messages": messages, "losses": losses, "timeouts": timeouts}
    told = [f"{name}={value}" for name, value in named.items() if value is not None] + [*(settings or ()), *(readings or ())]
    job = Job(specification, tuple(told), tuple(repairs or ()), (), tuple(without or ()))
    bound = job.program
    question, witness = asked(bound, expression)
    limits = Limits(engine, depth, max_states, max_seconds)
    report = explore(Job(specification, properties=(witness,)), question, limits)
    wrong = [verdict for verdict in report.verdicts if verdict.kind == "specification"]
    verdict = wrong[0] if wrong else report[witness]
    trace = _on(bound, verdict, expression)
    outcome, reason = _answer(verdict, report.exploration, trace, expression, bounded=engine is Engine.Z3)
    state = _named(bound, question, witness, trace) if trace is not None else {}
    saved = output.keep(trace, save)
    again = shlex.join([*shlex.split(job.command(*limits.words()).replace("antiphon check", "antiphon find", 1)), expression])
    if json:
        return output.finish(_document(specification, bound, report, verdict, outcome, reason, expression, state, trace, saved, again))
    if trace is not None:
        _print(trace, state, picture=not no_diagram)
    explored = report.exploration
    if explored.states:
        seen = "every reachable state" if explored.complete else "a part"
        output.out().print(f"{explored.states:,} states, depth {explored.depth}: {seen}; {explored.seconds:.1f} s")
    output.out().print(f"again:  {again}", soft_wrap=True)
    if saved:
        output.out().print(f"trace saved: {saved}")
    output.last_line(outcome, reason)
    return outcome.exit_code


def _on(bound: Program, verdict: Verdict, expression: str) -> Trace | None:
    """The trace of the verdict as one of the specification itself, which other commands can load."""
    found = verdict.trace
    if found is None:
        return None
    why = short_places(verdict.reason) if verdict.kind == "specification" else f"{expression} is true"
    return replay(bound, found.start, found.steps, shows="specification" if verdict.kind == "specification" else "", why=why)


def _answer(verdict: Verdict, explored: Exploration, trace: Trace | None, expression: str, *, bounded: bool) -> tuple[Outcome, str]:
    """Found, or nowhere when all was seen, or unknown."""
    if verdict.kind == "specification":
        return Outcome.UNKNOWN, f"the specification has an error: {short_places(verdict.reason)}"
    if trace is not None:
        return Outcome.HOLDS, f"{expression}: after {len(trace)} step{'' if len(trace) == 1 else 's'}"
    if explored.complete and not bounded and explored.states:
        return Outcome.VIOLATED, f"no reachable state is such: all {explored.states:,} were seen"
    return Outcome.UNKNOWN, f"not found: {short_places(verdict.reason).removeprefix('not decided: ')}"


def _named(bound: Program, question: Program, witness: str, trace: Trace) -> dict[str, str]:
    """The variables that the expression names, with their values where the trace ends."""
    (predicate,) = [item for item in question.module.predicates if item.name == witness]
    found: set[str] = set()
    todo: list[object] = [predicate.body]
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif isinstance(part, ir.Node):
            if isinstance(part, ir.Read):
                found.add(part.variable)
            todo.extend(vars(part).values())
    return {where: value for where, value in described(bound, trace.states[-1]) if where.partition("[")[0] in found}


def _print(trace: Trace, state: dict[str, str], *, picture: bool) -> None:
    output.print_trace(trace)
    for where, value in state.items():
        output.out().print(Text(f"        {where} = {value}", style="bright_black"))
    output.out().print()
    if picture:
        output.print_diagram(trace)


def _document(
    name: str, bound: Program, report: Report, verdict: Verdict, outcome: Outcome, reason: str, expression: str, state: dict[str, str],
    trace: Trace | None, saved: str | None, again: str,
) -> documents.Find:  # fmt: skip
    explored = report.exploration
    return documents.Find(
        outcome=outcome.value,
        exit_code=outcome.exit_code,
        name=name,
        specification=f"{bound.spec.__module__}:{bound.spec.__qualname__}",
        digest=bound.digest,
        constants=bound.constants,
        engine=verdict.provenance.engine,
        expression=expression,
        reason=reason,
        states=explored.states,
        transitions=explored.transitions,
        depth=explored.depth,
        complete=explored.complete,
        seconds=round(explored.seconds, 3),
        reproduce=again,
        state=state,
        trace=None if trace is None else documents.trace_document(trace),
        saved=saved,
    )
