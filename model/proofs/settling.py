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
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Symbol,
    Term,
    Truth,
    Var,
    conjunction,
    disjunction,
    exists,
    forall,
    negation,
    symbols_of,
)
from antiphon.model.proofs.fragment import normal

Shape = tuple[object, ...]
"""Formula without the names of its variables: equal shapes, equal meanings."""

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


def shape(formula: Formula, bound: Mapping[Var, int] | None = None) -> Shape:
    """Return the shape of a formula; `bound` has the places of the variables that are bound around it."""
    places = dict(bound or {})

    def of_term(term: Term) -> object:
        if isinstance(term, Var):
            return places.get(term, term)
        return term.symbol, tuple(map(of_term, term.arguments))

    match formula:
        case Truth(value=value):
            return (value,)
        case Atom(symbol=symbol, arguments=arguments):
            return "atom", symbol, tuple(map(of_term, arguments))
        case Equal(left=left, right=right):
            return "equal", of_term(left), of_term(right)
        case Not(of=inner):
            return "not", shape(inner, places)
        case And(of=parts):
            return "and", *(shape(part, places) for part in parts)
        case Or(of=parts):
            return "or", *(shape(part, places) for part in parts)
        case Quantified(every=every, variables=variables, body=body):
            inside = places | {item: len(places) + place for place, item in enumerate(variables)}
            return every, tuple(item.sort for item in variables), shape(body, inside)
    raise TypeError(f"unknown formula {formula!r}")


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
