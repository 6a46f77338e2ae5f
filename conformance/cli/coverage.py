"""`antiphon coverage`: which transitions of a bounded model the runs of a lake have exercised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antiphon.conformance.cli import documents, options, output
from antiphon.conformance.cli.options import Constants, Limits
from antiphon.conformance.cli.progress import working
from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.extras import needs_spark
from antiphon.conformance.report.documents import trace_document
from antiphon.conformance.report.words import counted, settings
from antiphon.model.notation import compact_step
from antiphon.model.verdict import Outcome

if TYPE_CHECKING:  # Spark is an extra
    from antiphon.conformance.spark.coverage import Coverage, Exercised

_LEFT_TOLD = 8


def coverage(
    protocol: options.Bound,
    *,
    lake: Annotated[Path, options.LAKE],
    constants: Constants,
    limits: Limits,
    action: Annotated[
        str | None,
        typer.Option("--action", help="Show the way to what was never taken of this.", show_default=False),
    ] = None,
    master: Annotated[str, options.MASTER] = "local[*]",
    save: options.Save = None,
    json: options.Json = False,
) -> int:
    """Count the transitions of a bounded model that swarms in a lake have exercised, on Spark."""
    needs_spark("coverage")
    from antiphon.conformance.spark import coverage as room  # here: Spark is an extra
    from antiphon.conformance.spark.pipeline import InputError

    bound = bound_protocol(protocol)
    small = bound.bind(**bound.small).program.spec
    chosen = constants.values(small) if constants.as_settings else bound.small
    try:
        with working(f"reading {lake} on {master}", output.err()) as tell:
            found = room.coverage(
                protocol, lake, constants=chosen, bounds=limits.explicit, master=master, tell=tell
            )
    except InputError as error:
        raise output.UsageProblem(str(error)) from error
    near = _nearest(found, action)
    saved = output.saved(save, None if near is None else near.never, "transition that no run exercised")
    if json:
        return output.finish(_document(protocol, found, saved))
    _print(protocol, found)
    if near is not None and near.never is not None:
        output.out().print()
        output.print_trace(near.never)
        if saved:
            test = f"antiphon replay {saved} --on implementation --pytest test_never.py"
            output.out().print(f"trace saved: {saved}; its test: {test}", soft_wrap=True)
    return 0


def _nearest(found: Coverage, action: str | None) -> Exercised | None:
    """Return the action whose shortest way to a step that no run took is printed: the requested action, or
    the one with the shortest such way.
    """
    names = [each.action for each in found.actions]
    if action is not None and action not in names:
        raise output.UsageProblem(f"the model takes no step {action!r}; it takes {', '.join(names)}")
    asked = [each for each in found.actions if each.never is not None and action in (None, each.action)]
    return min(asked, key=lambda each: len(each.never or ()), default=None)


def _document(protocol: str, found: Coverage, saved: str | None) -> documents.Coverage:
    return documents.Coverage(
        outcome=Outcome.HOLDS,
        protocol=protocol,
        constants=found.model.program.constants,
        states=found.model.states,
        transitions=found.total("transitions"),
        prompt=found.total("prompt"),
        complete=found.model.complete,
        exercised=found.total("exercised"),
        times=found.total("times"),
        runs=found.runs,
        batches=found.batches,
        left=dict(found.left),
        outside=found.outside,
        beyond=found.beyond,
        ingested=found.ingested,
        others=found.others,
        actions=[
            documents.ExercisedAction(
                action=each.action, transitions=each.transitions, prompt=each.prompt,
                exercised=each.exercised, times=each.times,
                never=None if each.never is None else trace_document(each.never),
            )
            for each in found.actions
        ],
        tables=found.tables,
        saved=saved,
    )  # fmt: skip


def _print(protocol: str, found: Coverage) -> None:
    console = output.out()
    numbers = {name: value for name, value in found.model.program.constants.items() if type(value) is int}
    console.print(f"{protocol}: {', '.join(settings(numbers))}", style="bold")
    right = {"justify": "right", "no_wrap": True}
    counts = [(name, right) for name in ("transitions", "prompt", "exercised", "", "times")]
    table = output.table("action", *counts, "never, nearest")
    for each in found.actions:
        table.add_row(
            each.action, f"{each.transitions:,}", f"{each.prompt:,}", f"{each.exercised:,}",
            _share(each.exercised, each.prompt), f"{each.times:,}",
            "-" if each.never is None else f"{compact_step(each.never.steps[-1])}, step {len(each.never)}",
        )  # fmt: skip
    console.print(table)
    done, all_, prompt = (found.total(what) for what in ("exercised", "transitions", "prompt"))
    part = "" if found.model.complete else ", the part that was walked"
    console.print(
        f"{done:,} of {all_:,} transitions exercised ({_share(done, all_)}) of {found.model.states:,} "
        f"states{part}", style="bold",
    )  # fmt: skip
    console.print(
        f"of the {prompt:,} that members take who do at once what they can, as cores do: "
        f"{_share(done, prompt)}"
    )
    ended = found.left.get("", 0)
    console.print(
        f"{counted(found.runs, 'run')} of {counted(found.batches, 'swarm')}, {ended:,} within the model to "
        f"the end: {found.total('times'):,} steps of it; {found.outside:,} steps outside count for nothing"
    )
    if found.beyond:
        console.print(f"{counted(found.beyond, 'transition')} more were taken beyond what was walked")
    left = sorted(((n, why) for why, n in found.left.items() if why), key=lambda item: (-item[0], item[1]))
    for n, why in left[:_LEFT_TOLD]:
        console.print(f"  {n:>9,}  runs left the model at {why}", highlight=False)
    if len(left) > _LEFT_TOLD:
        console.print(f"  {sum(n for n, _ in left[_LEFT_TOLD:]):>9,}  at others")
    if found.ingested:
        console.print(
            f"not read: {counted(found.ingested, 'run')} of no swarm, whose logs do not tell what was in "
            "their datagrams"
        )
    if found.others:
        console.print(f"not read: {counted(found.others, 'run')} of other swarms")
    console.print(f"tables: {found.tables}", soft_wrap=True)


def _share(part: int, whole: int) -> str:
    """Return a part of a whole in percent, rounded down, so that only the whole is 100."""
    return f"{int(1000 * part / whole) / 10:.1f}%" if whole else "-"
