"""Shorter conditions of a step: what some of them settle is written into the others, and what is known of a
choice that nothing names is left out.

A step that chooses by `next`, `min` or `max` says of each choice that nothing comes before it. Its guard
speaks of all ways through the step, and so of the choices that only the other ways need: noise, which Z3
follows as far as it can.

This file knows nothing of specifications.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    Quantified,
    Shape,
    Symbol,
    Truth,
    conjunction,
    disjunction,
    exists,
    forall,
    negation,
    shape,
    symbols_of,
)
from antiphon.model.proofs.fragment import normal

MOST_ROUNDS = 4
"""Largest number of times that conditions are written into one another."""


def settled(conditions: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return formulas that are all true exactly if the given ones are: a formula without free variables that
    is one of the conditions, or the negation of one, stands in no other.
    """
    left = _split(conditions)
    for _ in range(MOST_ROUNDS):
        before = list(left)
        for number, item in enumerate(before):
            known: dict[Shape, Truth] = {}
            for other in (*left[:number], *left[number + 1 :]):
                known |= {shape(other): TRUE, shape(normal(negation(other))): FALSE}
            left[number] = _with(item, known)
        if all(new is old for new, old in zip(left, before, strict=True)):
            break
        left = _split(left)
    return tuple(left)


def needed(facts: Sequence[Formula], said: Iterable[Formula], choices: frozenset[Symbol]) -> list[Formula]:
    """Return the facts about `choices` which the formulas `said` name, themselves or through other facts."""
    named = {id(fact): choices & symbols_of([fact]).keys() for fact in facts}
    used = choices & symbols_of(said).keys()
    while True:
        found = [fact for fact in facts if named[id(fact)] & used]
        more = used.union(*(named[id(fact)] for fact in found))
        if more == used:
            return found
        used = more


def _split(conditions: Iterable[Formula]) -> list[Formula]:
    """Return the conjuncts of the conditions in normal form, each once."""
    plain = normal(conjunction(*conditions))
    parts = plain.of if isinstance(plain, And) else (plain,)
    return list({shape(part): part for part in parts if part is not TRUE}.values())


def _with(formula: Formula, known: Mapping[Shape, Truth]) -> Formula:
    """Return the formula with its truth values in the place of formulas that are known."""
    if isinstance(formula, Truth):
        return formula
    if not formula.free:
        found = known.get(shape(formula))
        if found is not None:
            return found
    match formula:
        case Not(of=inner):
            made = _with(inner, known)
            return formula if made is inner else negation(made)
        case And(of=parts) | Or(of=parts):
            new = [_with(part, known) for part in parts]
            if all(one is other for one, other in zip(new, parts, strict=True)):
                return formula
            return conjunction(*new) if isinstance(formula, And) else disjunction(*new)
        case Quantified(every=every, variables=variables, body=body, at=at):
            made = _with(body, known)
            return formula if made is body else (forall if every else exists)(variables, made, at)
    return formula
