"""Conditions of a step that are written into one another mean what they meant."""

import itertools
import random
from collections.abc import Callable

from antiphon.model.proofs.formula import (
    App,
    Formula,
    Sort,
    Symbol,
    Var,
    atom,
    conjunction,
    constant,
    disjunction,
    equal,
    exists,
    forall,
    holds,
    negation,
    text,
    variable,
)
from antiphon.model.proofs.settling import needed, settled, shape

NODE = Sort("Node")
ONE, OTHER = constant("one", NODE), constant("other", NODE)
RELATIONS = (Symbol("red", (NODE,)), Symbol("blue", (NODE,)))


def _formula(choice: random.Random, depth: int, bound: tuple[Var, ...] = ()) -> Formula:
    """A random formula over two relations and two constants."""
    kind = choice.randrange(7) if depth else choice.randrange(2)
    terms: tuple[Var | App, ...] = (ONE, OTHER, *bound)
    if kind == 0:
        return atom(choice.choice(RELATIONS), (choice.choice(terms),))
    if kind == 1:
        return equal(choice.choice(terms), choice.choice(terms))
    if kind == 2:
        return negation(_formula(choice, depth - 1, bound))
    if kind < 5:
        join = conjunction if kind == 3 else disjunction
        return join(*(_formula(choice, depth - 1, bound) for _ in range(2)))
    x = variable("x", NODE)
    return (forall if kind == 5 else exists)((x,), _formula(choice, depth - 1, (*bound, x)))


def test_settled_conditions_are_true_where_the_given_ones_are(often: Callable[[int, int], int]) -> None:
    """Random lists, in every structure of two nodes; shared parts are frequent."""
    shorter = 0
    lists = often(60, 300)
    for seed in range(lists):
        choice = random.Random(seed)
        parts = [_formula(choice, 2) for _ in range(3)]
        parts += [disjunction(parts[0], _formula(choice, 2)), disjunction(negation(parts[1]), parts[2])]
        after = settled(parts)
        shorter += len(text(conjunction(*after))) < len(text(conjunction(*parts)))
        for one, other, red, blue in itertools.product(range(2), range(2), range(4), range(4)):
            values = {"one": one, "other": other}
            masks = {"red": red, "blue": blue}

            def meaning(symbol: Symbol, at: tuple[int, ...]) -> int:
                return masks[symbol.name] >> at[0] & 1 if at else values[symbol.name]  # noqa: B023

            given, made = (holds(conjunction(*items), {NODE: 2}, meaning) for items in (parts, after))
            assert given == made, (seed, one, other, red, blue)
    assert shorter > lists // 3


def test_a_way_that_is_not_taken_leaves_the_guard() -> None:
    """`(formed and a) or (not formed and b)`, where something has formed, is `a`; names of variables do not
    matter.
    """
    red, blue = ((lambda term, symbol=symbol: atom(symbol, (term,))) for symbol in RELATIONS)
    formed = [exists((x,), red(x)) for x in (variable("e", NODE), variable("v", NODE), variable("w", NODE))]
    guard = disjunction(
        conjunction(formed[0], blue(ONE)), conjunction(negation(formed[1]), blue(OTHER))
    )
    assert [text(item) for item in settled([guard, formed[2]])] == ["blue(one)", "(some w0: Node. red(w0))"]
    assert shape(formed[0]) == shape(formed[1])


def test_what_is_known_of_a_choice_that_nothing_names_is_not_needed() -> None:
    """A choice that another one needs stays."""
    names = [Symbol(name, (), NODE) for name in ("a", "b", "c")]
    a, b, c = (atom(RELATIONS[0], (App(name),)) for name in names)
    facts = [disjunction(a, b), b, c]
    assert needed(facts, [a], frozenset(names)) == facts[:2]
    assert needed(facts, [], frozenset(names)) == []
