"""Fragment of questions that Z3 decides: those whose sorts do not depend on one another in a cycle.

A function from A to B, and a B that is said to exist for every A, lead from sort A to sort B. Without a cycle
only finitely many terms can be made of the constants, so that every question has an answer (effectively
propositional logic with stratified functions; Y. Ge, L. de Moura, "Complete instantiation for quantified
formulas in satisfiability modulo theories", CAV 2009; O. Padon, G. Losa, M. Sagiv, S. Shoham, "Paxos made
EPR", OOPSLA 2017).

Where an assumed invariant, or what is known of a choice, would close a cycle, it is assumed only of the terms
that the step and the goal have (Y. Feldman, O. Padon, N. Immerman, M. Sagiv, S. Shoham, "Bounded quantifier
instantiation for checking inductive invariants", TACAS 2017): less is assumed, so that a proof stays a proof.
A cycle among the axioms, the step and the goal is refused. Functions to items of logs are no part of a cycle:
see `antiphon.model.proofs.relations`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from antiphon.model.proofs.formula import (
    And,
    App,
    Formula,
    Not,
    Or,
    Quantified,
    Sort,
    Symbol,
    Term,
    Var,
    conjunction,
    disjunction,
    exists,
    forall,
    negation,
    substitute,
    subterms,
    terms_of,
    text,
    variable,
    variables_of,
    walk,
)
from antiphon.model.proofs.relations import facts, is_item, related
from antiphon.model.proofs.values import Outside
from antiphon.spec.lang.errors import Location

MOST_INSTANCES = 400
"""Largest number of instances of one invariant that are assumed."""

MOST_CLAUSES = 64
"""Largest number of formulas into which a disjunction is split."""

MOST_MADE = 16
"""Largest number of terms that are made by applying a function, for instances of an invariant."""


@dataclass(frozen=True)
class Edge:
    """Edge from a sort to another: from elements of the first, elements of the second are made, by a function
    or because a formula says that one exists for each.
    """

    source: Sort
    target: Sort
    why: str
    at: Location | None


@dataclass(frozen=True)
class Question:
    """Question to Z3 whether named formulas can be true together.

    Attributes:
        asserted: names and formulas; a name may come more than once.
        texts: the text of each formula, as a rule before Skolemization; a cached proof is found by it.
        limited: the names of what is assumed of the terms of the step only, each with the cycle that it would
            close.
    """

    asserted: tuple[tuple[str, Formula], ...]
    texts: tuple[str, ...]
    limited: tuple[tuple[str, str], ...] = ()


GOAL = "the goal"
ITEMS = "one item at a position"
"""Name of what is known of relations in the place of functions to items."""


def question(
    axioms: Sequence[tuple[str, Formula]],
    step: Sequence[tuple[str, Formula]],
    assumed: Sequence[tuple[str, Formula]],
    goal: Formula,
) -> Question:
    """Return the question whether the goal can be false while the axioms, the step and the assumptions are
    true; it lies in the decidable fragment.

    Raises:
        Outside: the axioms, the step and the goal close a cycle.
    """
    names = itertools.count()
    plain_base = [(name, normal(formula)) for name, formula in (*axioms, *step, (GOAL, negation(goal)))]
    edges = [edge for _, formula in plain_base for edge in edges_of(formula)]
    base = [(name, _witnessed(formula, names)) for name, formula in plain_base]
    texts = [text(formula) for _, formula in plain_base]
    found = cycle(edges)
    if found:
        raise Outside(
            f"the proof would leave the decidable fragment: {cycle_text(found)}",
            next((edge.at for edge in found if edge.at is not None), None),
            instead="a variable that remembers what exists, or an invariant without `any` inside `all`",
        )
    limited: list[tuple[str, str]] = []
    later: list[tuple[str, Formula]] = []
    for name, formula in assumed:
        plain = normal(formula)
        more = edges_of(plain)
        closed = cycle([*edges, *more])
        if closed:
            limited.append((name, cycle_text(closed)))
            later.append((name, plain))
        else:
            edges += more
            base.append((name, _witnessed(plain, names)))
            texts.append(text(plain))
    for name, plain in later:
        terms = _ground_terms(formula for _, formula in base)
        base.append((name, _witnessed(instances(plain, terms), names)))
        texts.append(text(base[-1][1]))
    base = [(name, outward(related(formula))) for name, formula in base]
    for formula in facts(formula for _, formula in base):
        base.append((ITEMS, formula))
        texts.append(text(formula))
    return Question(tuple(base), tuple(texts), tuple(limited))


# Normal form ------------------------------------------------------------------------------------------------


def normal(formula: Formula) -> Formula:
    """Return the formula with negations before atoms only, and quantifiers around the smallest formulas."""
    return _normal(formula, positive=True)


def _normal(formula: Formula, *, positive: bool) -> Formula:
    match formula:
        case Not(of=inner):
            return _normal(inner, positive=not positive)
        case And(of=parts) | Or(of=parts):
            every = isinstance(formula, And) is positive
            made = [_normal(part, positive=positive) for part in parts]
            return conjunction(*made) if every else disjunction(*made)
        case Quantified(every=every, variables=variables, body=body, at=at):
            inner = _normal(body, positive=positive)
            return (forall if every is positive else exists)(variables, inner, at)
    return formula if positive else negation(formula)


def _witnessed(formula: Formula, names: Iterator[int]) -> Formula:
    """Return the formula, in normal form, with a function of the surrounding variables in the place of each
    element that is said to exist (Skolemization).

    An element that depends on no variable becomes a constant. Then all quantifiers are `all`, and stand
    outside.
    """

    def made(item: Formula, terms: dict[Var, Term], every: frozenset[Var]) -> Formula:
        match item:
            case And(of=parts):
                return conjunction(*(made(part, terms, every) for part in parts))
            case Or(of=parts):
                return disjunction(*(made(part, terms, every) for part in parts))
            case Quantified(every=True, variables=variables, body=body, at=at):
                return forall(variables, made(body, terms, every | set(variables)), at)
            case Quantified(every=False, variables=variables, body=body):
                needs = {v for name in item.free for v in variables_of(terms.get(name, name))} & every
                given = tuple(sorted(needs, key=lambda v: v.number))
                sorts = tuple(v.sort for v in given)
                fresh: dict[Var, Term] = {
                    v: App(Symbol(f"{v.name}!{next(names)}", sorts, v.sort), given) for v in variables
                }
                return made(body, terms | fresh, every)
        return substitute(item, terms)

    return outward(made(formula, {}, frozenset()))


def outward(formula: Formula) -> Formula:
    """Return an equivalent formula in which every `all` stands outside every `or`; the given formula is in
    normal form, without `exists`.

    `A or (all x. B and all y. C)` becomes two formulas, so that no quantifier has variables that do not meet.
    """
    match formula:
        case And(of=parts):
            return conjunction(*map(outward, parts))
        case Quantified(variables=variables, body=body, at=at):
            return forall(variables, outward(body), at)
        case Or(of=parts):
            moved = [outward(part) for part in parts]
            rows = [part.of if isinstance(part, And) and _quantifies(part) else (part,) for part in moved]
            if 1 < math.prod(map(len, rows)) <= MOST_CLAUSES:
                return conjunction(*(outward(disjunction(*row)) for row in itertools.product(*rows)))
            bound: list[Var] = []
            plain = [_stripped(part, bound) for part in moved]
            if bound:
                return Quantified(True, tuple(bound), disjunction(*plain), free=formula.free)
    return formula


def _quantifies(formula: Formula) -> bool:
    return any(isinstance(item, Quantified) for item in walk((formula,)))


def _stripped(formula: Formula, bound: list[Var]) -> Formula:
    """Return the formula without its quantifiers, whose variables are appended to `bound`."""
    match formula:
        case Quantified(variables=variables, body=body):
            fresh = {item: variable(item.name, item.sort) for item in variables}
            bound.extend(fresh.values())
            return _stripped(substitute(body, dict(fresh)), bound)
        case And(of=parts):
            return conjunction(*(_stripped(part, bound) for part in parts))
        case Or(of=parts):
            return disjunction(*(_stripped(part, bound) for part in parts))
    return formula


# The graph --------------------------------------------------------------------------------------------------


def edges_of(formula: Formula) -> list[Edge]:
    """Return the edges of a formula in normal form."""
    found: dict[Edge, None] = {}

    def visit(item: Formula, depends: Mapping[Var, frozenset[Var]], at: Location | None) -> None:
        for term in terms_of(item):
            for inner in subterms(term):
                if isinstance(inner, App) and variables_of(inner) and not is_item(inner.symbol):
                    target = inner.symbol.result
                    assert target is not None
                    for argument in inner.arguments:
                        if variables_of(argument):
                            found[Edge(argument.sort, target, inner.symbol.name, at)] = None
        match item:
            case Not(of=part):
                visit(part, depends, at)
            case And(of=parts) | Or(of=parts):
                for part in parts:
                    visit(part, depends, at)
            case Quantified(every=True, variables=variables, body=body):
                visit(body, {**depends, **{v: frozenset((v,)) for v in variables}}, item.at or at)
            case Quantified(every=False, variables=variables, body=body):
                needs: frozenset[Var] = frozenset().union(
                    *(depends.get(v, frozenset()) for v in item.free)
                )
                for source in sorted(needs, key=lambda v: v.number):
                    for made in variables:
                        why = f"some {made.name} for every {source.name}"
                        found[Edge(source.sort, made.sort, why, item.at or at)] = None
                visit(body, {**depends, **dict.fromkeys(variables, needs)}, item.at or at)

    visit(formula, {}, None)
    return list(found)


def cycle(edges: Sequence[Edge]) -> list[Edge]:
    """Return a shortest cycle, or an empty one."""
    best: list[Edge] = []
    by_source: dict[Sort, list[Edge]] = {}
    for edge in edges:
        by_source.setdefault(edge.source, []).append(edge)
    for start in by_source:
        reached: dict[Sort, list[Edge]] = {start: []}
        waiting = [start]
        for here in waiting:
            for edge in by_source.get(here, ()):
                way = [*reached[here], edge]
                if edge.target == start:
                    if not best or len(way) < len(best):
                        best = way
                elif edge.target not in reached:
                    reached[edge.target] = way
                    waiting.append(edge.target)
    return best


def cycle_text(edges: Sequence[Edge]) -> str:
    """Return a cycle in words: `Acceptor -> Quorum -> Acceptor, by some q for every a
    (voting.py:31), ...`.
    """
    way = " -> ".join([edges[0].source.name, *(edge.target.name for edge in edges)])
    why = [f"{edge.why}" + (f" ({_place(edge.at)})" if edge.at else "") for edge in edges]
    return f"{way}, by {' and '.join(why)}"


def _place(at: Location) -> str:
    return f"{at.file.rpartition('/')[2]}:{at.line}"


# Instances --------------------------------------------------------------------------------------------------


def _ground_terms(formulas: Iterable[Formula]) -> dict[Sort, list[Term]]:
    """Return the terms without variables in formulas, and the terms that one application of their functions
    makes of these, by sort.
    """
    found: dict[Sort, dict[Term, None]] = {}
    functions: dict[Symbol, None] = {}
    for item in walk(formulas):
        for term in terms_of(item):
            for inner in subterms(term):
                if isinstance(inner, App) and inner.arguments:
                    functions[inner.symbol] = None
                if isinstance(inner, App) and not variables_of(inner):
                    found.setdefault(inner.sort, {})[inner] = None
    known = {sort: list(terms) for sort, terms in found.items()}
    for function in functions:
        assert function.result is not None
        rows = itertools.product(*(known.get(sort, ()) for sort in function.arguments))
        for row in itertools.islice(rows, MOST_MADE):
            found.setdefault(function.result, {})[App(function, row)] = None
    return {sort: list(terms) for sort, terms in found.items()}


def instances(formula: Formula, terms: Mapping[Sort, Sequence[Term]]) -> Formula:
    """Return a formula in normal form in which parts that would say that an element exists for every value
    say so only for the given terms.
    """
    match formula:
        case And(of=parts):
            return conjunction(*(instances(part, terms) for part in parts))
        case Or(of=parts):
            return disjunction(*(instances(part, terms) for part in parts))
        case Quantified(every=True, variables=variables, body=body) if edges_of(formula):
            rows = itertools.product(*(terms.get(item.sort, ()) for item in variables))
            made = [
                substitute(body, dict(zip(variables, row, strict=True)))
                for row in itertools.islice(rows, MOST_INSTANCES)
            ]
            return conjunction(*(normal(item) for item in made))
    return formula


__all__ = [
    "GOAL", "Edge", "Question", "cycle", "cycle_text", "edges_of", "instances", "normal", "question",
]  # fmt: skip
