"""Items of logs as relations: a function from positions to items, of which no new element can be made.

As a function, an item leads from positions to what the item holds, and closes a cycle wherever something else
leads back. As a relation that has at most one item at a position it leads nowhere. That there is an item is
said only of positions without variables: less is said, so that a proof stays a proof.

This file knows nothing of specifications or solvers.
"""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.model.proofs.formula import (
    And,
    App,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Symbol,
    Term,
    Var,
    applications_of,
    atom,
    conjunction,
    disjunction,
    equal,
    forall,
    implication,
    negation,
    subterms,
    symbols_of,
    terms_of,
    variable,
    variables_of,
)
from antiphon.model.proofs.values import ITEM

RELATION = f"{ITEM} in the place"
"""Part of the name of the relation of a position and an item."""


def is_item(symbol: Symbol) -> bool:
    """Return True if a symbol is a function from positions to items."""
    return ITEM in symbol.name and symbol.result is not None


def related(formula: Formula) -> Formula:
    """Return a formula, in which every quantifier is `all`, with relations in the place of functions to
    items, wherever the position has a variable.
    """
    match formula:
        case And(of=parts):
            return conjunction(*map(related, parts))
        case Or(of=parts):
            return disjunction(*map(related, parts))
        case Quantified(variables=variables, body=body, at=at):
            return forall(variables, related(body), at)
        case Not(of=Equal() as inner):
            return negation(_equation(inner)) if _equation(inner) is not inner else _literal(formula)
        case Equal():
            return _equation(formula) if _equation(formula) is not formula else _literal(formula)
    return _literal(formula)


def facts(formulas: Iterable[Formula]) -> list[Formula]:
    """Return what is known of the relations: at most one item stands at a position, and at each position
    without variables that the formulas name the item that they name.
    """
    listed = list(formulas)
    found: list[Formula] = []
    for symbol in symbols_of(listed):
        if RELATION not in symbol.name:
            continue
        places = [variable("x", sort) for sort in symbol.arguments[:-1]]
        one, other = (variable(name, symbol.arguments[-1]) for name in "yz")
        both = conjunction(atom(symbol, (*places, one)), atom(symbol, (*places, other)))
        found.append(forall((*places, one, other), implication(both, equal(one, other))))
    for term in applications_of(listed):
        if is_item(term.symbol) and not variables_of(term):
            found.append(atom(_relation(term.symbol), (*term.arguments, term)))
    return found


def _relation(symbol: Symbol) -> Symbol:
    assert symbol.result is not None
    return Symbol(symbol.name.replace(ITEM, RELATION), (*symbol.arguments, symbol.result))


def _equation(formula: Equal) -> Formula:
    """Return `item at a position = t` as the relation of the position and t, if t is made of no item."""
    for one, other in ((formula.left, formula.right), (formula.right, formula.left)):
        if not isinstance(one, App) or not is_item(one.symbol) or not variables_of(one):
            continue
        if not any(_items(term) for term in (*one.arguments, other)):
            return atom(_relation(one.symbol), (*one.arguments, other))
    return formula


def _items(term: Term) -> list[App]:
    """Return the applications of functions to items that have a variable, the inner ones first."""
    found = [item for item in subterms(term) if isinstance(item, App) and is_item(item.symbol)]
    return [item for item in reversed(found) if variables_of(item)]


def _literal(formula: Formula) -> Formula:
    inner = formula.of if isinstance(formula, Not) else formula
    for term in terms_of(inner):
        for item in _items(term):
            if any(_items(part) for part in item.arguments):
                continue
            value = variable("x", item.sort)
            there = atom(_relation(item.symbol), (*item.arguments, value))
            rest = _replaced(inner, item, value)
            made = negation(rest) if isinstance(formula, Not) else rest
            return forall((value,), disjunction(negation(there), related(made)))
    return formula


def _replaced(formula: Formula, old: App, new: Var) -> Formula:
    def of(term: Term) -> Term:
        if term == old:
            return new
        if isinstance(term, Var):
            return term
        return App(term.symbol, tuple(map(of, term.arguments)))

    match formula:
        case Atom(symbol=symbol, arguments=arguments):
            return atom(symbol, tuple(map(of, arguments)))
        case Equal(left=left, right=right):
            return equal(of(left), of(right))
    raise TypeError(f"no literal: {formula!r}")
