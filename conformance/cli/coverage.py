"""`antiphon coverage`: what runs have exercised of a protocol, and what no run has.

From the files of `--coverage`: transitions, branches and state classes, by method. From a lake: which
transitions of a bounded model its swarms have exercised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from antiphon.conformance.cli import documents, exercised, options, output
from antiphon.conformance.cli.options import Constants, Limits
from antiphon.conformance.cli.progress import working
from antiphon.conformance.compare.bindings import Binding, bound_protocol
from antiphon.conformance.coverage.branches import Branch
from antiphon.conformance.coverage.document import CoverageFile, Exercise, joined
from antiphon.conformance.coverage.report import ModelCoverage, never_taken, of_models
from antiphon.conformance.extras import needs_spark
from antiphon.conformance.report.documents import trace_document
from antiphon.conformance.report.words import counted, settings
from antiphon.model.notation import compact_step
from antiphon.model.verdict import Outcome
from antiphon.programs import program
from antiphon.spec.lang import Program

if TYPE_CHECKING:  # Spark is an extra
    from antiphon.conformance.spark.coverage import Coverage, Exercised

_LEFT_TOLD = 8

MOST_STATES = 100_000
"""Largest number of states of a model whose transitions are counted, unless `--max-states` is given."""


def coverage(
    protocol: options.Bound,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Files of --coverage.", show_default=False),
    ] = None,
    *,
    lake: Annotated[Path | None, options.LAKE] = None,
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
    """Report what runs have exercised, and what no run has.

    Of the files of `--coverage`: transitions, branches of the code and state classes, by method. With --lake:
    the transitions of a bounded model that swarms in a lake have exercised, on Spark.
    """
    if bool(files) == (lake is not None):
        raise output.UsageProblem("name files of --coverage, or a lake with --lake")
    if files:
        return _of_files(protocol, files, limits, action, save, json=json)
    assert lake is not None
    return _of_lake(protocol, lake, constants, limits, action, master, save, json=json)


def _of_files(
    protocol: str, files: list[Path], limits: Limits, action: str | None, save: Path | None, *, json: bool
) -> int:
    """Report what the files of `--coverage` have."""
    bounds = limits.explicit
    if bounds.states is None:
        bounds = replace(bounds, states=MOST_STATES)
    document = joined([exercised.of_present_code(file, protocol) for file in files])
    bound = None if exercised.is_of_program(document) else bound_protocol(protocol)

    def bind(specification: str, constants: Mapping[str, int | bool | str]) -> Binding | Program:
        if bound is not None:
            return bound.bind(**constants)
        return program(specification).with_constants(**constants)

    with working(f"{protocol}: exploring the models", output.err()):
        models = of_models(document, bind, bounds)
    missing = never_taken(document)
    ways = [each for model in models for each in model.actions if each.never is not None]
    if action is not None:
        ways = [each for each in ways if each.action == action]
    near = min(ways, key=lambda each: len(each.never or ()), default=None)
    saved = output.saved(save, None if near is None else near.never, "transition that no run exercised")
    if json:
        return output.finish(_files_document(document, models, missing, saved))
    _print_files(document, models, missing)
    if near is not None and near.never is not None and (action is not None or save is not None):
        output.out().print()
        output.print_trace(near.never)
        if saved and bound is None:
            output.out().print(f"trace saved: {saved}; antiphon show {saved} draws it", soft_wrap=True)
        elif saved:
            _print_saved(saved)
    return 0


def _print_saved(saved: str) -> None:
    test = f"antiphon replay {saved} --on implementation --pytest test_never.py"
    output.out().print(f"trace saved: {saved}; its test: {test}", soft_wrap=True)


def _of_lake(
    protocol: str, lake: Path, constants: Constants, limits: Limits, action: str | None, master: str,
    save: Path | None, *, json: bool,
) -> int:  # fmt: skip
    """Report what the swarms of a lake have exercised."""
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
            _print_saved(saved)
    return 0


def _files_document(
    document: CoverageFile, models: list[ModelCoverage], missing: dict[str, list[Branch]], saved: str | None
) -> documents.CoverageOfRuns:
    return documents.CoverageOfRuns(
        outcome=Outcome.HOLDS,
        protocol=document.protocol,
        methods=[
            documents.MethodCoverage(
                method=each.method, constants=each.constants, specification=each.specification,
                runs=each.runs, branches=sum(map(len, each.branches.values())),
                classes=len(each.classes), handlers=each.handlers, transitions=_taken(each, models),
            )
            for each in document.exercised
        ],
        branches=_branches(document),
        never_taken=[
            documents.BranchDocument(file=file, line=line, function=function, case=case)
            for file, branches in missing.items()
            for line, function, case in branches
        ],
        never_exercised=[
            documents.NeverExercised(
                constants=model.constants, action=each.action, transitions=each.transitions,
                exercised=each.by_any, never=None if each.never is None else trace_document(each.never),
            )
            for model in models
            for each in model.actions
            if each.by_any < (each.transitions or 1)
        ],
        saved=saved,
    )  # fmt: skip


def _branches(document: CoverageFile) -> int:
    return sum(len(code.branches) for code in document.code.values())


def _taken(method: Exercise, models: list[ModelCoverage]) -> int | None:
    """Return how many different transitions a method took; None if they were not counted."""
    if not method.counts_transitions:
        return None
    model = _model_of(method, models)
    return sum(action.taken[model.methods.index(method)] for action in model.actions)


def _model_of(method: Exercise, models: list[ModelCoverage]) -> ModelCoverage:
    """Return the model whose transitions a method counts."""
    (model,) = [each for each in models if any(method is one for one in each.methods)]
    return model


def _print_files(
    document: CoverageFile, models: list[ModelCoverage], missing: dict[str, list[Branch]]
) -> None:
    console = output.out()
    all_, seen = _branches(document), document.seen()
    right = {"justify": "right", "no_wrap": True}
    of_code = ("handlers",) if seen.handlers else ("branches", "")
    names = ("runs", *of_code, "state classes", "transitions")
    table = output.table("method", *((name, right) for name in names))
    for each in document.exercised:
        branches = sum(map(len, each.branches.values()))
        of_code = (f"{len(each.handlers):,}",) if seen.handlers else (f"{branches:,}", _share(branches, all_))
        table.add_row(
            each.method, f"{each.runs:,}", *of_code, f"{len(each.classes):,}", _share_of_model(each, models)
        )
    console.print(table)
    hit = sum(map(sum, seen.branches.values()))
    taken = f"{hit:,} of {all_:,} branches taken ({_share(hit, all_)})"
    told = f"handlers: {len(seen.handlers):,}" if seen.handlers else taken
    console.print(
        f"{document.protocol}: {told}; state classes: {len(seen.classes):,}", style="bold", soft_wrap=True
    )
    for model in models:
        numbers = {name: value for name, value in model.constants.items() if type(value) is int}
        for action in model.actions:
            if action.transitions is None and not action.by_any:
                console.print(f"no run has taken {action.action} ({', '.join(settings(numbers))})")
            elif action.transitions is not None and action.by_any < action.transitions:
                near = "" if action.never is None else (
                    f"; nearest {compact_step(action.never.steps[-1])}, step {len(action.never)}"
                )
                console.print(
                    f"no run has taken {action.transitions - action.by_any:,} of the "
                    f"{action.transitions:,} transitions of {action.action} "
                    f"({', '.join(settings(numbers))}){near}", soft_wrap=True,
                )  # fmt: skip
    for each in document.exercised:
        if lacking := sorted(seen.handlers.difference(each.handlers)):
            told = f"{each.method} has not met the handlers {', '.join(lacking)}"
            console.print(told, soft_wrap=True, highlight=False)
        others = frozenset[str]().union(
            *(other.classes for other in document.exercised if other is not each)
        )
        never = others.difference(each.classes)
        if never:
            told = f"{each.method} has not seen {len(never):,} of them, such as"
            console.print(f"{told} {min(never)}", soft_wrap=True, highlight=False)
    if missing:
        console.print("no run has taken these branches:")
    for file, places in missing.items():
        for line, function, case in places:
            told = "never called" if case == "called" else case
            console.print(f"  {file}:{line}  {function}  {told}", soft_wrap=True, highlight=False)


def _share_of_model(method: Exercise, models: list[ModelCoverage]) -> str:
    """Return how many transitions of its model a method took, of how many, in words."""
    taken = _taken(method, models)
    if taken is None:
        return "-"
    known = [action.transitions for action in _model_of(method, models).actions]
    return f"{taken:,} of {'more' if None in known else f'{sum(filter(None, known)):,}'}"


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
