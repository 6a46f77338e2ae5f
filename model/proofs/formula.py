"""Formulas of many-sorted first-order logic, built with the simplifications that keep them small.

1. A sort is a non-empty set of any size. A term is a variable or a symbol applied to terms.
2. `conjunction`, `disjunction`, `negation`, `equal`, `forall`, `exists` fold what is decided, so that `TRUE`
   and `FALSE` stand for nothing but themselves.
3. A quantifier carries the place of the text that it comes from: the report of a cycle names it.
4. Formulas are compared by identity; `text` writes one down, with variables numbered by their depth.

This file knows nothing of specifications or solvers.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from antiphon.spec.lang.errors import Location


@dataclass(frozen=True)
class Sort:
    """Sort: a set about which only the axioms are known."""

    name: str


@dataclass(frozen=True)
class Symbol:
    """Symbol of a relation (`result` is None) or of a function; a function without arguments is a
    constant.
    """

    name: str
    arguments: tuple[Sort, ...] = ()
    result: Sort | None = None


@dataclass(frozen=True)
class Var:
    """Variable of a quantifier; each quantifier makes its own, distinguished by `number`."""

    name: str
    sort: Sort
    number: int


@dataclass(frozen=True)
class App:
    """Application of a function to terms; without arguments a constant."""

    symbol: Symbol
    arguments: tuple[Term, ...] = ()

    @property
    def sort(self) -> Sort:
        """Return the sort of the value."""
        assert self.symbol.result is not None
        return self.symbol.result


Term = Var | App


@dataclass(frozen=True, eq=False)
class Formula:
    """Formula of logic: it is true or false once its symbols and its free variables have a meaning."""

    free: frozenset[Var] = field(default=frozenset(), kw_only=True, repr=False)

    @cached_property
    def applications(self) -> dict[App, None]:
        """Return the applications of functions in the formula, in order of occurrence."""
        terms = itertools.chain.from_iterable(map(terms_of, walk((self,))))
        return {inner: None for term in terms for inner in subterms(term) if isinstance(inner, App)}

    @cached_property
    def symbols(self) -> dict[Symbol, None]:
        """Return the symbols in the formula: those of relations, then those of functions."""
        relations = {item.symbol: None for item in walk((self,)) if isinstance(item, Atom)}
        return relations | {item.symbol: None for item in self.applications}


@dataclass(frozen=True, eq=False)
class Truth(Formula):
    """Truth value; there are only `TRUE` and `FALSE`."""

    value: bool


TRUE, FALSE = Truth(value=True), Truth(value=False)


@dataclass(frozen=True, eq=False)
class Atom(Formula):
    """Atom: a relation of terms."""

    symbol: Symbol
    arguments: tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Equal(Formula):
    """Equation: two terms of one sort are the same."""

    left: Term
    right: Term


@dataclass(frozen=True, eq=False)
class Not(Formula):
    """Negation of a formula."""

    of: Formula


@dataclass(frozen=True, eq=False)
class And(Formula):
    """Conjunction of at least two formulas."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Or(Formula):
    """Disjunction of at least two formulas."""

    of: tuple[Formula, ...]


@dataclass(frozen=True, eq=False)
class Quantified(Formula):
    """Quantified formula: for every value of the variables if `every`, else for some value. `at` is the place
    in the specification from which it comes, if any.
    """

    every: bool
    variables: tuple[Var, ...]
    body: Formula
    at: Location | None = None


_numbers = itertools.count()


def variable(name: str, sort: Sort) -> Var:
    """Return a variable that no other formula has."""
    return Var(name, sort, next(_numbers))


def constant(name: str, sort: Sort) -> App:
    """Return a constant of a sort."""
    return App(Symbol(name, (), sort))


def variables_of(term: Term) -> frozenset[Var]:
    """Return the variables that occur in a term."""
    if isinstance(term, Var):
        return frozenset((term,))
    return frozenset().union(*map(variables_of, term.arguments)) if term.arguments else frozenset()


def _free(terms: Iterable[Term]) -> frozenset[Var]:
    return frozenset().union(*map(variables_of, terms))


def atom(symbol: Symbol, arguments: Sequence[Term] = ()) -> Formula:
    """Return a relation of these terms."""
    return Atom(symbol, tuple(arguments), free=_free(arguments))


def equal(left: Term, right: Term) -> Formula:
    """Return the equation of two terms, folded where they look the same."""
    return TRUE if left == right else Equal(left, right, free=_free((left, right)))


def negation(formula: Formula) -> Formula:
    """Return the negation of a formula, simplified."""
    if isinstance(formula, Truth):
        return FALSE if formula.value else TRUE
    return formula.of if isinstance(formula, Not) else Not(formula, free=formula.free)


def conjunction(*formulas: Formula) -> Formula:
    """Return the conjunction of formulas, simplified."""
    return _joined(And, formulas, FALSE, TRUE)


def disjunction(*formulas: Formula) -> Formula:
    """Return the disjunction of formulas, simplified."""
    return _joined(Or, formulas, TRUE, FALSE)


def _joined(
    kind: type[And | Or], formulas: Iterable[Formula], strong: Truth, neutral: Truth
) -> Formula:
    found: dict[int, Formula] = {}
    for item in formulas:
        for part in item.of if isinstance(item, kind) else (item,):
            if part is strong:
                return strong
            if part is not neutral:
                found[id(part)] = part
    for part in found.values():
        if isinstance(part, Not) and id(part.of) in found:
            return strong
    parts = tuple(found.values())
    if len(parts) < 2:
        return parts[0] if parts else neutral
    return kind(parts, free=frozenset().union(*(part.free for part in parts)))


def implication(premise: Formula, conclusion: Formula) -> Formula:
    """Return the implication from premise to conclusion."""
    return disjunction(negation(premise), conclusion)


def equivalence(left: Formula, right: Formula) -> Formula:
    """Return the equivalence of two formulas."""
    if left is right:
        return TRUE
    return conjunction(implication(left, right), implication(right, left))


def choice(condition: Formula, then: Formula, otherwise: Formula) -> Formula:
    """Return `then` where the condition is true, else `otherwise`."""
    if then is otherwise:
        return then
    return disjunction(conjunction(condition, then), conjunction(negation(condition), otherwise))


def forall(variables: Sequence[Var], body: Formula, at: Location | None = None) -> Formula:
    """Return the formula for all values of the variables; variables that do not occur in the body are
    dropped.

    `not (x = t) or B` for all x is B with t in the place of x (t without x), which needs no quantifier.
    """
    return _quantified(True, variables, body, at)


def exists(variables: Sequence[Var], body: Formula, at: Location | None = None) -> Formula:
    """Return the formula that `body` is true for some values of the variables, simplified: for some x with `x
    = t and B` it is B with t in the place of x.
    """
    return _quantified(False, variables, body, at)


def _quantified(every: bool, variables: Sequence[Var], body: Formula, at: Location | None) -> Formula:
    left = [item for item in variables if item in body.free]
    for item in left:
        term = _pinned(every, item, body)
        if term is not None:
            rest = [other for other in left if other is not item]
            return _quantified(every, rest, substitute(body, {item: term}), at)
    if not left:
        return body
    if isinstance(body, And if every else Or):
        return _joined(
            And if every else Or,
            [_quantified(every, left, part, at) for part in body.of],
            FALSE if every else TRUE,
            TRUE if every else FALSE,
        )
    if isinstance(body, Or if every else And):
        outside = [part for part in body.of if not part.free & set(left)]
        if outside:
            inside = [part for part in body.of if part.free & set(left)]
            join = disjunction if every else conjunction
            return join(*outside, _quantified(every, left, join(*inside), at))
    if isinstance(body, Quantified) and body.every is every:
        return Quantified(
            every, (*left, *body.variables), body.body, at or body.at, free=body.free - set(left)
        )
    return Quantified(every, tuple(left), body, at, free=body.free - set(left))


def _pinned(every: bool, item: Var, body: Formula) -> Term | None:
    """Return the term t if the quantified variable `item` can be replaced by t, as in `not (x = t) or B` for
    all x; None if there is none.
    """
    parts = body.of if isinstance(body, Or if every else And) else (body,)
    for part in parts:
        inner = part.of if every and isinstance(part, Not) else None if every else part
        if isinstance(inner, Equal):
            for one, other in ((inner.left, inner.right), (inner.right, inner.left)):
                if one == item and item not in variables_of(other):
                    return other
    return None


def substitute(formula: Formula, terms: dict[Var, Term]) -> Formula:
    """Return the formula with terms in the place of free variables; the terms have no variable that is bound
    in it.
    """
    known: dict[int, Formula] = {}
    here = frozenset(terms)

    def in_term(term: Term) -> Term:
        if isinstance(term, Var):
            return terms.get(term, term)
        return App(term.symbol, tuple(map(in_term, term.arguments))) if term.arguments else term

    def walk(item: Formula) -> Formula:
        if not item.free & here:
            return item
        if id(item) not in known:
            known[id(item)] = made(item)
        return known[id(item)]

    def made(item: Formula) -> Formula:
        match item:
            case Atom(symbol=symbol, arguments=arguments):
                return atom(symbol, tuple(map(in_term, arguments)))
            case Equal(left=left, right=right):
                return equal(in_term(left), in_term(right))
            case Not(of=inner):
                return negation(walk(inner))
            case And(of=parts):
                return conjunction(*map(walk, parts))
            case Or(of=parts):
                return disjunction(*map(walk, parts))
            case Quantified(every=every, variables=variables, body=body, at=at):
                return _quantified(every, variables, walk(body), at)
        return item

    return walk(formula)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the formulas directly inside one."""
    match formula:
        case Not(of=inner):
            return (inner,)
        case And(of=parts) | Or(of=parts):
            return parts
        case Quantified(body=body):
            return (body,)
    return ()


def walk(formulas: Iterable[Formula]) -> Iterator[Formula]:
    """Yield these formulas and every formula inside them, each once."""
    seen: set[int] = set()
    waiting = list(formulas)
    while waiting:
        item = waiting.pop()
        if id(item) not in seen:
            seen.add(id(item))
            yield item
            waiting.extend(parts_of(item))


def terms_of(formula: Formula) -> tuple[Term, ...]:
    """Return the terms that stand directly in an atom or an equation."""
    match formula:
        case Atom(arguments=arguments):
            return arguments
        case Equal(left=left, right=right):
            return (left, right)
    return ()


def subterms(term: Term) -> Iterator[Term]:
    """Yield a term and all terms in it."""
    yield term
    if isinstance(term, App):
        for argument in term.arguments:
            yield from subterms(argument)


def symbols_of(formulas: Iterable[Formula]) -> dict[Symbol, None]:
    """Return the symbols in formulas, in order of occurrence."""
    return {symbol: None for item in formulas for symbol in item.symbols}


def applications_of(formulas: Iterable[Formula]) -> dict[App, None]:
    """Return the applications of functions in formulas, in order of occurrence."""
    return {term: None for item in formulas for term in item.applications}


def text(formula: Formula) -> str:
    """Return the formula in prefix notation: formulas that differ only in the numbers of variables have equal
    texts.
    """
    names: dict[Var, str] = {}

    def of_term(term: Term) -> str:
        if isinstance(term, Var):
            return names.get(term, term.name)
        if not term.arguments:
            return term.symbol.name
        return f"{term.symbol.name}({', '.join(map(of_term, term.arguments))})"

    def of(item: Formula) -> str:
        match item:
            case Truth(value=value):
                return str(value).lower()
            case Atom(symbol=symbol, arguments=arguments):
                return f"{symbol.name}({', '.join(map(of_term, arguments))})" if arguments else symbol.name
            case Equal(left=left, right=right):
                return f"{of_term(left)} = {of_term(right)}"
            case Not(of=inner):
                return f"!{of(inner)}" if isinstance(inner, Atom) else f"!({of(inner)})"
            case And(of=parts):
                return "(" + " & ".join(map(of, parts)) + ")"
            case Or(of=parts):
                return "(" + " | ".join(map(of, parts)) + ")"
            case Quantified(every=every, variables=variables, body=body):
                for bound in variables:
                    names[bound] = f"{bound.name}{len(names)}"
                heads = ", ".join(f"{names[bound]}: {bound.sort.name}" for bound in variables)
                return f"({'all' if every else 'some'} {heads}. {of(body)})"
        raise TypeError(f"unknown formula {item!r}")

    return of(formula)


Shape = tuple[object, ...]
"""Formula without the names of its variables: equal shapes, equal meanings."""


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


Interpretation = Callable[[Symbol, tuple[int, ...]], int]
"""Function from a symbol and elements, which are numbers from 0, to its value: 0 or 1 for a relation."""


def holds(formula: Formula, sizes: dict[Sort, int], meaning: Interpretation) -> bool:
    """Return True if a formula is true in a structure with so many elements of each sort."""

    def value(term: Term, bound: dict[Var, int]) -> int:
        if isinstance(term, Var):
            return bound[term]
        return meaning(term.symbol, tuple(value(argument, bound) for argument in term.arguments))

    def true(item: Formula, bound: dict[Var, int]) -> bool:
        match item:
            case Truth(value=known):
                return known
            case Atom(symbol=symbol, arguments=arguments):
                return bool(meaning(symbol, tuple(value(argument, bound) for argument in arguments)))
            case Equal(left=left, right=right):
                return value(left, bound) == value(right, bound)
            case Not(of=inner):
                return not true(inner, bound)
            case And(of=parts):
                return all(true(part, bound) for part in parts)
            case Or(of=parts):
                return any(true(part, bound) for part in parts)
            case Quantified(every=every, variables=variables, body=body):
                ranges = [range(sizes[item.sort]) for item in variables]
                found = (
                    true(body, bound | dict(zip(variables, values, strict=True)))
                    for values in itertools.product(*ranges)
                )
                return all(found) if every else any(found)
        raise TypeError(f"unknown formula {item!r}")

    return true(formula, {})
