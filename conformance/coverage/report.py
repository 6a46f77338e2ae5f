"""Report of a coverage document: what each method has exercised, and what none has.

The transitions of a model are counted by exploring it within bounds; of a model that is larger, only the
actions that no run took are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from antiphon.conformance.compare.bindings import Binding
from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.coverage.branches import Branch
from antiphon.conformance.coverage.document import Constants, CoverageFile, Exercise, named_row
from antiphon.conformance.coverage.model import Model
from antiphon.model.bounds import Bounds
from antiphon.model.trace import Trace
from antiphon.spec.lang import Program

__all__ = ["ActionCoverage", "ModelCoverage", "never_taken", "of_models"]


@dataclass(frozen=True)
class ActionCoverage:
    """Transitions of one action: all of the model, those that each method took, those that any took; and a
    path to a nearest one that none took, a prompt one if there is one.

    `transitions` is None if the model was not explored to its end.
    """

    action: str
    transitions: int | None
    taken: tuple[int, ...]
    by_any: int
    never: Trace | None = None


@dataclass(frozen=True)
class ModelCoverage:
    """Coverage of the model with these constants by the methods that count its transitions; `specification`
    is that of the methods.
    """

    specification: str
    constants: Constants
    methods: tuple[Exercise, ...]
    actions: tuple[ActionCoverage, ...]


def never_taken(document: CoverageFile) -> dict[str, list[Branch]]:
    """Return the branches that no method has taken, by file, in the order of lines. Of a function that was
    never called only that is told.
    """
    taken = document.seen().branches
    found: dict[str, list[Branch]] = {}
    for file, code in document.code.items():
        hits = taken.get(file, bytes(len(code.branches)))
        missing = [branch for branch, hit in zip(code.branches, hits, strict=True) if not hit]
        uncalled = {branch.function for branch in missing if branch.case == "called"}
        found[file] = sorted(
            branch
            for branch in missing
            if (branch.case == "called" and not _is_within(branch.function, uncalled))
            or not ({branch.function} | _around(branch.function)) & uncalled
        )
    return {file: branches for file, branches in found.items() if branches}


def _around(function: str) -> set[str]:
    """Return the qualified names of the functions and classes around a function."""
    parts = function.split(".")
    return {".".join(parts[:length]) for length in range(1, len(parts))}


def _is_within(function: str, others: set[str]) -> bool:
    return bool(_around(function) & others)


def of_models(
    document: CoverageFile, bind: Callable[[str, Constants], Binding | Program], bounds: Bounds
) -> list[ModelCoverage]:
    """Return the coverage of each model whose transitions some method counts.

    Args:
        document: the document.
        bind: gives the binding with these constants; or, for methods that name a specification, its program.
        bounds: how far models are explored.

    Raises:
        SpecError: a constant is unknown, or the specification has an error on the explored part.
    """
    models: dict[tuple[str, tuple[tuple[str, Any], ...]], list[Exercise]] = {}
    for each in document.exercised:
        if each.counts_transitions:
            models.setdefault(each.model, []).append(each)
    return [
        _of_model(name, dict(told), methods, bind(name, dict(told)), bounds)
        for (name, told), methods in models.items()
    ]


def _of_model(
    specification: str,
    constants: Constants,
    methods: list[Exercise],
    binding: Binding | Program,
    bounds: Bounds,
) -> ModelCoverage:
    inner = getattr(binding, "binding", binding)
    model = Model(inner, bounds)
    names = [
        {name for names in each.transitions.values() for name in names} for each in methods
    ]
    every = any(each.complete for each in methods)
    counts: dict[str, list[Any]] = {}
    for row in model.rows() if isinstance(inner, CoreBinding) else model.rows(prompt=False):
        name = named_row(row)
        hits = [each.complete or name in taken for each, taken in zip(methods, names, strict=True)]
        count = counts.setdefault(row.action, [0, [0] * len(methods), 0, None])
        count[0] += 1
        count[1] = [n + hit for n, hit in zip(count[1], hits, strict=True)]
        count[2] += any(hits)
        if not any(hits):
            order = not row.prompt, row.depth, row.state, row.step
            count[3] = min(order, count[3] or order)
    actions = []
    for action in sorted({*counts, *(name for each in methods for name in each.actions)}):
        all_, taken, by_any, near = counts.get(action, (0, (0,) * len(methods), 0, None))
        if not model.complete:
            taken = tuple(len(each.transitions.get(action, ())) for each in methods)
            by_any = len({name for each in methods for name in each.transitions.get(action, ())})
        trace = None if near is None or every else model.trace(near[2], near[3])
        actions.append(
            ActionCoverage(action, all_ if model.complete else None, tuple(taken), by_any, trace)
        )
    return ModelCoverage(specification, constants, tuple(methods), tuple(actions))
