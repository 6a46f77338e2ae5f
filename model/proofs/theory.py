"""Axioms of a proof: facts about the sorts, as formulas that are true for every n.

1. `ordered=True`, and integers whose bounds have no number, are a total order. Of integers nothing else is
   known but which constant is which, so `a + 1` is a constant of its own: the least that is greater than a.
2. The next member of a ring, the first and the last are constants in the same way.
3. The sets that pass a test on their size, `2 * len(q) > n`, form a sort of quorums, and a set passes the
   test if it holds all members of some quorum. The intersection of quorums is derived, not written by hand:
       linear arithmetic (`Arithmetic`) decides whether the sum of the sizes of k sets is more than (k - 1) n,
       so that they have a member in common, and `confirmed` also tries all subsets of 1 to 6 members.

This file knows nothing of expressions or steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from antiphon.model.proofs.formula import (
    TRUE,
    App,
    Formula,
    Sort,
    Symbol,
    Term,
    Var,
    applications_of,
    atom,
    conjunction,
    disjunction,
    equal,
    equivalence,
    exists,
    forall,
    implication,
    negation,
    symbols_of,
    variable,
    variables_of,
)
from antiphon.model.proofs.values import (
    Boolean,
    Outside,
    Scalar,
    SetValue,
    Sorts,
    Value,
    at_most,
    below,
    known,
    less,
    literal,
)
from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location

Linear = tuple[tuple[str, int], ...]
"""Linear sum: constants by name with their coefficients, sorted; the constant term has the empty name."""

MOST_COUNTED = 4
"""Largest number of elements up to which a set is counted element by element."""


@dataclass(frozen=True)
class QuorumClass:
    """Class of quorums: the sets of members of `index` whose size satisfies `factor * size >= bound`."""

    index: types.IndexType
    factor: int
    bound: Linear

    @property
    def sort(self) -> Sort:
        """Return the sort of the sets in this class."""
        return Sort(f"Set[{self.index.name}] with {self.words}")

    @property
    def words(self) -> str:
        """Return the test of the class in words."""
        strict = dict(self.bound)
        number = strict.get("", 0)
        relation, number = (">", 0) if number == 1 else (">=", number)
        left = "len" if self.factor == 1 else f"{self.factor} * len"
        return f"{left} {relation} {linear_text((*((n, c) for n, c in self.bound if n), ('', number)))}"

    @property
    def names_others(self) -> bool:
        """Return True if the bound names a constant that is not the size of the index."""
        return any(name and name != self.index.size for name, _ in self.bound)

    @property
    def exists(self) -> Formula:
        """Return the condition that such a set exists: `TRUE` when one exists for all constants from 1
        upwards, else a proposition.

        Such a set exists exactly if the whole index passes the test, so it may be missing where `bound` can
        be more than `factor` times the size of the index.
        """
        bound = dict(self.bound)
        assert isinstance(self.index.size, str)
        own = bound.pop(self.index.size, 0)
        least = own + sum(bound.values())
        if own <= self.factor and least <= self.factor and all(n <= 0 for name, n in bound.items() if name):
            return TRUE
        return atom(Symbol(f"there is a {self.sort.name}"))

    @property
    def has(self) -> Symbol:
        """Return the relation of membership between a member and a quorum."""
        return Symbol(f"in {self.sort.name}", (Sort(self.index.name), self.sort))


def linear_text(linear: Iterable[tuple[str, int]]) -> str:
    """Return a sum as it is written."""
    parts: list[str] = []
    for name, factor in sorted(linear, key=lambda part: part[1] < 0):
        if factor:
            shown = str(abs(factor)) if not name else name if abs(factor) == 1 else f"{abs(factor)} * {name}"
            parts.append(("- " if factor < 0 else "+ ") + shown)
    return " ".join(parts).removeprefix("+ ") or "0"


Arithmetic = Callable[[tuple[QuorumClass, ...]], bool]
"""Function that decides whether sets of these classes always meet: see
`antiphon.model.proofs.smt.overlap`.
"""


@dataclass(frozen=True)
class Axiom:
    """Axiom: a formula that is true for every n, and its words.

    Attributes:
        name: the words.
        formula: the formula.
        groups: the classes of sets that meet, if the axiom is about quorums.
        is_worth_saying: whether it is more than the order of numbers.
    """

    name: str
    formula: Formula
    groups: tuple[QuorumClass, ...] = ()
    is_worth_saying: bool = True


@dataclass
class Theory:
    """Facts about the sorts of a proof: what was met in the formulas so far, and the axioms that follow.

    Attributes:
        ordered: the sorts that are totally ordered.
        classes: the tests on sizes that were met.
        offsets: the constants that stand for `term + number`.
        numbered: the functions that give members their numbers, each with its index.
        nexts: the constants that stand for the next member of a ring.
    """

    sorts: Sorts
    ordered: dict[Sort, None] = field(default_factory=dict)
    classes: dict[QuorumClass, None] = field(default_factory=dict)
    offsets: dict[App, tuple[Term, int]] = field(default_factory=dict)
    numbered: dict[Symbol, types.IndexType] = field(default_factory=dict)
    nexts: dict[App, Term] = field(default_factory=dict)

    # Orders -------------------------------------------------------------------------------------------------

    def first(self, sort: Sort) -> App:
        """Return the least member of a sort."""
        return App(Symbol(f"first {sort.name}", (), sort))

    def last(self, sort: Sort) -> App:
        """Return the greatest member of a sort."""
        return App(Symbol(f"last {sort.name}", (), sort))

    def next(self, term: Term, at: Location | None) -> App:
        """Return the member after `term` on the ring of a sort, after the last the first.

        Raises:
            Outside: the term has a variable of a quantifier.
        """
        self._refuse_variables(term, "the next member", at)
        found = App(Symbol(f"next({term_text(term)})", (), term.sort))
        self.nexts[found] = term
        return found

    def number(self, index: types.IndexType, term: Term) -> App:
        """Return the number of a member of an open index."""
        symbol = Symbol(f"number of {index.name}", (self.sorts.sort(index),), Sorts.INTEGERS)
        self.numbered[symbol] = index
        return App(symbol, (term,))

    def is_last(self, term: Term) -> Formula:
        """Return the condition that no member of the sort comes after the term."""
        other = variable("x", term.sort)
        return forall((other,), at_most(other, term))

    def offset(self, term: Term, by: int, at: Location | None) -> Term:
        """Return the term for the integer `term + by`.

        Raises:
            Outside: the term has a variable of a quantifier.
        """
        if by == 0:
            return term
        number = known(term)
        if number is not None:
            return App(Symbol(str(number + by), (), Sorts.INTEGERS))
        base, before = self.offsets.get(term, (term, 0)) if isinstance(term, App) else (term, 0)
        if before + by == 0:
            return base
        self._refuse_variables(base, f"{term_text(base)} {before + by:+d}", at)
        total = before + by
        sign = "+" if total > 0 else "-"
        found = App(Symbol(f"{term_text(base)} {sign} {abs(total)}", (), Sorts.INTEGERS))
        self.offsets[found] = (base, total)
        return found

    def _refuse_variables(self, term: Term, what: str, at: Location | None) -> None:
        if variables_of(term):
            raise Outside(
                f"{what} of {term_text(term)}, which a quantifier binds, would be a function from a sort to "
                "itself: a cycle", at,
                instead="a parameter of the action, or `all(... for other if p < other)`",
            )  # fmt: skip

    # Sizes --------------------------------------------------------------------------------------------------

    def is_large(self, some: SetValue, factor: int, bound: Linear, at: Location | None) -> Formula:
        """Return the condition `factor * len(some) >= bound`, where the factor is positive.

        Raises:
            Outside: the bound names a constant that stands for every number, and the elements are no index.
        """
        if all(not name for name, _ in bound):
            needed = -(-dict(bound).get("", 0) // factor)
            return self._has_elements(some, needed, at)
        if not isinstance(some.of, types.IndexType) or not self.sorts.is_open(some.of):
            raise Outside(
                f"the number of elements, each a {getattr(some.of, 'name', 'value')}, is compared with "
                f"{linear_text(bound)}", at,
                instead="a set of members of an index whose size is one of --every",
            )  # fmt: skip
        group = QuorumClass(some.of, factor, bound)
        self.classes[group] = None
        if isinstance(some.quorum, Guess):
            return some.quorum.asked(group)
        if some.quorum == group:
            return TRUE
        quorum, member = variable("q", group.sort), variable("m", Sort(some.of.name))
        inside = implication(atom(group.has, (member, quorum)), some.member(Scalar.of(member)))
        return conjunction(group.exists, exists((quorum,), forall((member,), inside, at), at))

    def is_small(self, some: SetValue, factor: int, bound: Linear, at: Location | None) -> Formula:
        """Return the condition `factor * len(some) < bound`, where the factor is positive: the set is not
        large, and the members that it does not have are a large set.

        Either half is true exactly if the other is; a proof may need the second.

        Raises:
            Outside: the bound names a constant that stands for every number, and the elements are no index.
        """
        is_few = negation(self.is_large(some, factor, bound, at))
        others = {name for name, _ in bound} - {""}
        if not others or isinstance(some.quorum, Guess) or not isinstance(some.of, types.IndexType):
            return is_few
        if others == {some.of.size}:
            return is_few
        size = str(some.of.size)
        rest = {name: -number for name, number in bound}
        rest[size] = rest.get(size, 0) + factor
        rest[""] = rest.get("", 0) + 1
        linear: Linear = tuple(sorted((name, number) for name, number in rest.items() if number))
        without = SetValue(some.of, lambda value: negation(some.member(value)))
        return conjunction(is_few, self.is_large(without, factor, linear, at))

    def _has_elements(self, some: SetValue, needed: int, at: Location | None) -> Formula:
        """Return the condition that the set has at least `needed` elements."""
        if needed > MOST_COUNTED:
            raise Outside(f"elements are counted up to {needed}: counting is outside the fragment", at)

        def more(found: tuple[Value, ...]) -> Formula:
            if len(found) == needed:
                return TRUE

            def another(value: Value) -> Formula:
                differs = [negation(self.sorts.same(value, other, at)) for other in found]
                return conjunction(some.member(value), *differs, more((*found, value)))

            return self.sorts.some_value(some.of, "e", another, at)

        return more(())

    # Axioms -------------------------------------------------------------------------------------------------

    def axioms(self, formulas: Iterable[Formula], overlaps: Arithmetic) -> list[Axiom]:
        """Return the axioms about the sorts and constants in `formulas`, and in the axioms themselves.

        Each round makes the axioms with variables of their own, so that only a term without variables is new.
        """
        listed = list(formulas)
        found: list[Axiom] = []
        for _ in range(8):
            terms, sorts = applications_of(listed), _sorts(listed)
            found = [
                *self._orders(listed, terms), *self._named(terms), *self._numbers(terms),
                *self._members(listed), *self._quorums(listed, sorts, overlaps),
            ]  # fmt: skip
            more = [axiom.formula for axiom in found]
            fresh = applications_of(more).keys() - terms
            if all(map(variables_of, fresh)) and not symbols_of(more).keys() - symbols_of(listed):
                break
            listed += more
        return found

    def _orders(self, formulas: list[Formula], terms: dict[App, None]) -> Iterator[Axiom]:
        used = symbols_of(formulas)
        special = {term.sort for term in terms if self._is_special(term)}
        for sort in dict.fromkeys([*(s.arguments[0] for s in used if s.name.endswith("<")), *special]):
            if below(sort) not in used and sort not in special:
                continue
            x, y, z = (variable(name, sort) for name in "xyz")
            order = conjunction(
                forall((x,), negation(atom(below(sort), (x, x)))),
                forall(
                    (x, y, z),
                    implication(conjunction(less(x, y), less(y, z)), less(x, z)),
                ),
                forall((x, y), disjunction(equal(x, y), less(x, y), less(y, x))),
            )
            said = sort != Sorts.INTEGERS
            yield Axiom(f"{sort.name} is totally ordered", order, is_worth_saying=said)

    def _is_special(self, term: App) -> bool:
        return (
            term in self.nexts
            or term in self.offsets
            or term in (self.first(term.sort), self.last(term.sort))
            or known(term) is not None
        )

    def _named(self, terms: dict[App, None]) -> Iterator[Axiom]:
        for term in terms:
            other = variable("x", term.sort)
            if term == self.first(term.sort):
                yield Axiom(f"{term.symbol.name} is the least", forall((other,), at_most(term, other)))
            if term == self.last(term.sort):
                yield Axiom(f"{term.symbol.name} is the greatest", forall((other,), at_most(other, term)))
            if term in self.nexts:
                before = self.nexts[term]
                between = conjunction(less(before, other), less(other, term))
                steps = conjunction(less(before, term), forall((other,), negation(between)))
                first = variable("y", term.sort)
                wraps = conjunction(self.is_last(before), forall((first,), at_most(term, first)))
                yield Axiom(
                    f"{term.symbol.name} is next, round the ring", disjunction(steps, wraps)
                )

    def _numbers(self, terms: dict[App, None]) -> Iterator[Axiom]:
        """Yield the axioms on literals and offsets from one base: they are in order, and neighbours have no
        number between them.
        """
        rows: dict[Term | None, dict[int, App]] = {}
        for term in terms:
            number = known(term)
            if number is not None:
                rows.setdefault(None, {})[number] = term
            elif term in self.offsets:
                base, by = self.offsets[term]
                row = rows.setdefault(base, {})
                row[by] = term
                assert isinstance(base, App)
                row[0] = base
        for row in rows.values():
            for (low, one), (high, other) in itertools.pairwise(sorted(row.items())):
                x = variable("x", Sorts.INTEGERS)
                facts = [atom(below(Sorts.INTEGERS), (one, other))]
                if high == low + 1:
                    facts.append(forall((x,), disjunction(at_most(x, one), at_most(other, x))))
                yield Axiom(
                    f"{term_text(one)} < {term_text(other)}", conjunction(*facts), is_worth_saying=False
                )
        for term in terms:
            if term.symbol.name in self.sorts.every and not term.arguments and term.sort == Sorts.INTEGERS:
                one = App(Symbol("1", (), Sorts.INTEGERS))
                yield Axiom(f"{term.symbol.name} >= 1", at_most(one, term), is_worth_saying=False)

    def _members(self, formulas: list[Formula]) -> Iterator[Axiom]:
        """Yield the axioms on the numbers of members: no two have the same one, each is below the size, and
        they follow the order.
        """
        used = symbols_of(formulas)
        for symbol, index in self.numbered.items():
            if symbol not in used:
                continue
            sort = self.sorts.sort(index)
            x, y = variable("x", sort), variable("y", sort)
            first, second = App(symbol, (x,)), App(symbol, (y,))
            bounds = conjunction(
                at_most(literal(0), first), less(first, self.sorts.number(index.size))
            )
            facts = [
                forall((x, y), disjunction(negation(equal(first, second)), equal(x, y))),
                forall((x,), bounds),
            ]
            if below(sort) in used:
                facts.append(forall((x, y), equivalence(less(x, y), less(first, second))))
            name = f"members of {index.name} have numbers of their own"
            yield Axiom(name, conjunction(*facts), is_worth_saying=False)

    def _quorums(
        self, formulas: list[Formula], sorts: set[Sort], overlaps: Arithmetic
    ) -> Iterator[Axiom]:
        """Yield the axioms that sets must have a member in common because of their sizes: three sets, two, or
        one that is not empty; and four sets, where their sizes are compared with other constants than the
        size of the index, as with the largest number of faulty members.
        """
        used = symbols_of(formulas)
        classes = [
            group
            for group in self.classes
            if group.sort in sorts or not used.keys().isdisjoint(group.exists.symbols)
        ]
        known_: list[tuple[QuorumClass, ...]] = []
        of_others = [group for group in classes if group.names_others]
        for four in itertools.combinations_with_replacement(of_others, 4):
            if len({group.index.name for group in four}) == 1 and overlaps(four):
                yield Axiom(_meeting(four), meets(four), four)
        for count in (3, 2, 1):
            for groups in itertools.combinations_with_replacement(classes, count):
                if len({group.index.name for group in groups}) > 1:
                    continue
                if any(_is_part(groups, other) for other in known_):
                    continue
                if overlaps(groups):
                    known_.append(groups)
                    yield Axiom(_meeting(groups), meets(groups), groups)


def meets(groups: tuple[QuorumClass, ...]) -> Formula:
    """Return the axiom that any quorums of these classes, one of each, have a member in common."""
    quorums = [variable("q", group.sort) for group in groups]
    member = variable("m", Sort(groups[0].index.name))
    both = [atom(group.has, (member, quorum)) for group, quorum in zip(groups, quorums, strict=True)]
    met = forall(quorums, exists((member,), conjunction(*both)))
    return implication(conjunction(*(group.exists for group in groups)), met)


def _meeting(groups: tuple[QuorumClass, ...]) -> str:
    counted = {group: groups.count(group) for group in groups}
    number = {1: "a set", 2: "any two sets", 3: "any three sets", 4: "any four sets"}
    shown = " and ".join(f"{number[count]} with {group.words}" for group, count in counted.items())
    return f"{shown}, of {groups[0].index.name}, " + (
        "has a member" if len(groups) == 1 else "have a member in common"
    )


def _is_part(few: tuple[QuorumClass, ...], many: tuple[QuorumClass, ...]) -> bool:
    return all(few.count(group) <= many.count(group) for group in few)


def confirmed(groups: tuple[QuorumClass, ...], constants: dict[str, int], most: int = 6) -> bool:
    """Return True if sets of these classes have a member in common, for each size of their index from 1 to
    `most`, by trying all subsets, and all values up to `most` + 1 of the free constants.
    """
    name = groups[0].index.size
    assert isinstance(name, str)
    others = sorted({constant for group in groups for constant, _ in group.bound} - {name, "", *constants})
    for size, *values in itertools.product(range(1, most + 1), *[range(1, most + 2)] * len(others)):
        sizes = constants | dict(zip(others, values, strict=True)) | {name: size}
        common = {(1 << size) - 1}
        for group in groups:
            least = sum(factor * (sizes[constant] if constant else 1) for constant, factor in group.bound)
            large = [mask for mask in range(1 << size) if group.factor * mask.bit_count() >= least]
            common = {one & other for one in common for other in large}
        if 0 in common:
            return False
    return True


def term_text(term: Term) -> str:
    """Return a term as it is written."""
    if isinstance(term, Var):
        return term.name
    if not term.arguments:
        return term.symbol.name
    return f"{term.symbol.name}({', '.join(map(term_text, term.arguments))})"


def _sorts(formulas: Iterable[Formula]) -> set[Sort]:
    found: set[Sort] = set()
    for symbol in symbols_of(formulas):
        found.update(symbol.arguments)
    return found


class Guess:
    """Guess for the set over which a quantifier ranges, before it is known which test on sizes it passes."""

    def __init__(self) -> None:
        self.groups: dict[QuorumClass, None] = {}

    def asked(self, group: QuorumClass) -> Formula:
        """Record that a test on its size is made of the set, and answer as if it failed."""
        from antiphon.model.proofs.formula import FALSE

        self.groups[group] = None
        return FALSE


__all__ = [
    "Arithmetic", "Axiom", "Boolean", "Guess", "Linear", "QuorumClass", "Theory", "confirmed", "linear_text",
    "meets", "term_text",
]  # fmt: skip
