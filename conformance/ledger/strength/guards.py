"""Mutants of the guards of literal files: each guard is left out, and negated, until some check fails.

1. A *guard* is a conjunct of a `require`, of the test of an `if`, or of a helper that is a boolean; those of
  actor guards (`@guard`) and of constraints too.
2. A file is *literal* if its classes are part of a specification with no variant switched on: no repair,
    reading or planted fault, and no environment, bound or property of the protocol.
3. A file belongs to the family in which most checks that hold use it.
4. Each changed guard is checked in one program after the other until a check breaks, in six at most: briefly
    in all of them, then further, and in programs of other families. Each of these steps ends for each program
    after `GUARD_SECONDS` of processor time. A change without a failing check is reported, with the number of
    programs in which it was explored completely.

This file knows no protocol.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from antiphon.conformance.ledger.strength.programs import checks_that_hold, is_text, text_mutants
from antiphon.model.mutation import Answer, Fate, Mutant
from antiphon.model.mutation.operators import Context, guard_dropped, guard_negated
from antiphon.spec.claims import all_claims
from antiphon.spec.lang import Program, SpecError
from antiphon.spec.lang.source import function_of

__all__ = ["GUARD_SECONDS", "cited", "file_of", "guard_of", "guards_of", "home_of", "is_same"]

GUARD_SECONDS = 60.0
"""Seconds of processor time for the guards of one program in each step."""

OPERATORS = ("guard dropped", "guard negated")
NOT_LITERAL = ("faults", "readings", "repairs")
"""Modules of variants, and of parts that only these use."""

CITED = re.compile(
    r"(?:Figures?|Lines?|Sections?|Step|Algorithm) [\d.]+(?:[-, ]+(?:and )?(?:\d+|phase [IV]+|line \d+))*",
    re.IGNORECASE,
)
"""Pattern of a citation of a document's place in a docstring."""


def guards_of(program: Program) -> Iterator[Mutant]:
    """Return every guard of the program's literal text, left out and negated."""
    literal = {part for part in program.spec.__mro__ if _is_literal(part)}
    for mutant in (*text_mutants(program), *_before_steps(program)):
        if mutant.change.operator in OPERATORS and mutant.owner in literal and _is_guard(mutant):
            yield mutant


def guard_of(mutant: Mutant) -> str:
    """Return a name of a changed guard that is the same in all programs: its class, its place and
    its change.
    """
    span = mutant.change.edits[0].span
    return f"{mutant.owner.__module__}.{mutant.owner.__qualname__} {span} {mutant.change}"


@cache
def home_of(module: str) -> str:
    """Return the family that checks the guards of a module; "" if no check uses it."""
    counts = _checks_by_module().get(module)
    return counts.most_common(1)[0][0] if counts else ""


def cited(mutant: Mutant) -> str:
    """Return the place in the document that the docstring of the mutant's method cites, else that of its
    class; "" if neither does.
    """
    for prose in (mutant.function.__doc__, mutant.owner.__doc__):
        if found := CITED.search(" ".join((prose or "").split())):
            return found[0].rstrip(", .-")
    return ""


def file_of(mutant: Mutant) -> str:
    """Return the file of a guard, relative to the root of the project, if it is in the project."""
    parts = mutant.owner.__module__.split(".")
    return "/".join(parts[1:] if parts[0] == "antiphon" else parts) + ".py"


def is_same(answers: Iterable[Answer]) -> bool:
    """Return True if states and steps are unchanged in every program in which they were compared, and there
    is at least one.
    """
    fates = [answer.fate for answer in answers]
    compared = [fate for fate in fates if fate in (Fate.EQUIVALENT, Fate.INNER, Fate.SURVIVED)]
    return bool(compared) and all(fate is Fate.EQUIVALENT for fate in compared)


def _is_literal(part: type) -> bool:
    module = part.__module__.rpartition(".")[2]
    return is_text(part) and "__antiphon_variant__" not in vars(part) and module not in NOT_LITERAL


@cache
def _checks_by_module() -> dict[str, Counter[str]]:
    """Count, for each module and family, the checks whose programs contain a literal class of the module."""
    found: dict[str, Counter[str]] = {}
    for claim, check in checks_that_hold(all_claims()):
        for module in {part.__module__ for part in check.spec.__mro__ if _is_literal(part)}:
            found.setdefault(module, Counter())[claim.protocol] += 1
    return found


def _before_steps(program: Program) -> Iterator[Mutant]:
    """Yield mutants of the conjuncts in actor guards and constraints, which are declared outside the
    steps.
    """
    nothing = Context(False, {}, {}, {})
    for declared in program.declaration.marked("guard", "constraint"):
        try:
            source, node = function_of(declared.function)
        except SpecError:
            continue
        for change in (*guard_dropped(node, nothing), *guard_negated(node, nothing)):
            yield Mutant(declared.name, declared.owner, change, source.file, declared.function)


def _is_guard(mutant: Mutant) -> bool:
    """Return True if the mutant changes a guard: the condition of a `require` or an `if`, or the result of a
    boolean helper. A constant condition is no guard.
    """
    is_constant = mutant.change.before in ("True", "False")
    return not is_constant and mutant.change.edits[0].span in _guard_places(mutant.function)


@cache
def _guard_places(function: object) -> frozenset[tuple[int, int, int, int]]:
    """Return the source positions of the guards in a method: line and column of their beginnings and ends."""
    _, method = function_of(function)
    conditions: list[ast.expr] = []
    for node in ast.walk(method):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[condition])):
                conditions.append(condition)
            case ast.If(test=condition):
                conditions.append(condition)
            case ast.Return(value=condition) if condition is not None:
                conditions.append(condition)
    return frozenset(
        (item.lineno, item.col_offset, item.end_lineno or 0, item.end_col_offset or 0) for item in conditions
    )
