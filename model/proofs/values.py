"""Values of the language over formulas: the form of variables, parameters and expressions when sizes are
symbolic.

1. A boolean is a formula. A set is a function from an element to a formula, a map a function from a key to a
   value: a step changes them by making another function, so that no frame has to be said.
2. Everything else is a `Scalar`: the leaves that it can be, each with the condition under which it is that
   one. A leaf is None, an integer, a member of an enumeration, a term of a sort, or a record of values.
   Values of small types are distinguished by conditions, and only the members of a sort are terms.
3. A symbol of the state is named by its variable and by the values that are distinguished: `network[Vote]`,
   `phase=TRYING`.

This file knows nothing of expressions, statements or solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    App,
    Formula,
    Shape,
    Sort,
    Symbol,
    Term,
    Var,
    atom,
    conjunction,
    disjunction,
    equal,
    equivalence,
    exists,
    forall,
    implication,
    negation,
    shape,
    variable,
)
from antiphon.spec.lang import SpecError, types
from antiphon.spec.lang.errors import Location

ITEM = " item"
"""Part of the name of a symbol that stands for the item at a position."""


@dataclass(frozen=True)
class RecordLeaf:
    """Record as a leaf: its name, and the values of its fields by name."""

    name: str
    fields: tuple[tuple[str, Value], ...]

    def field(self, name: str) -> Value | None:
        """Return the value of a field, or None where there is no such field."""
        return dict(self.fields).get(name)


@dataclass(frozen=True)
class Member:
    """Name of a member of an enumeration, of a reading, or of an index of known size."""

    name: str


Beginning = tuple[tuple[Shape, Term | None], ...]
"""First position of a sequence in a form that can be compared."""


@dataclass(frozen=True)
class Place:
    """Position in a sequence that begins at `first`, counted as the sequence counts it: of two places in one
    sequence it is known which comes first, and which item stands there.
    """

    position: Term
    first: Beginning


Leaf = None | int | Member | Var | App | RecordLeaf | Place


@dataclass(frozen=True, eq=False)
class Boolean:
    """Truth value as a formula."""

    formula: Formula


@dataclass(frozen=True, eq=False)
class Scalar:
    """Value that is no map, set or truth value, by cases: one of some leaves, each under its condition. The
    conditions exclude one another, and one is true.
    """

    cases: tuple[tuple[Formula, Leaf], ...]

    @classmethod
    def of(cls, leaf: Leaf) -> Scalar:
        """Return the value that is always this leaf."""
        return cls(((TRUE, leaf),))


@dataclass(frozen=True, eq=False)
class SetValue:
    """Set as a function from an element of type `of` to a formula. `quorum` names the class of large sets to
    which the set is known to belong.
    """

    of: types.Type
    member: Callable[[Value], Formula]
    quorum: object = None


@dataclass(frozen=True, eq=False)
class MapValue:
    """Total map as a function."""

    type: types.MapOf
    get: Callable[[Value], Value]


@dataclass(frozen=True, eq=False)
class SequenceValue:
    """Sequence as a log: the positions from `first`, before `end`, and the item at each position, of type
    `of`. `items` are the items themselves where they are known one by one. `most` is a bound which the
    length is known to keep.
    """

    of: types.Type
    first: Scalar
    end: Scalar
    item: Callable[[Term], Value]
    items: tuple[Value, ...] | None = None
    most: int | str | None = None


Value = Boolean | Scalar | SetValue | MapValue | SequenceValue
Spread = tuple[Formula, tuple[str, ...], tuple[Term, ...]]
"""Possible value in parts: the condition that a value is this one, the names of its parts, and its terms."""

Boundary = Callable[[int | str], "int | Term"]
"""Function that gives a size expression over the constants its number or its term."""


class Outside(SpecError):
    """Error: the specification leaves the fragment in which proofs for every n are made. The message gives
    the place and what to write instead.
    """


@dataclass(frozen=True)
class Sorts:
    """Sorts of a proof, and the types whose sizes are numbers.

    Attributes:
        every: names of the constants that stand for every number.
        size: gives a size expression its number, or its term where it names one of `every`.
        shortened: the types of sequences that lose their first items.
    """

    every: frozenset[str]
    size: Boundary
    shortened: frozenset[types.Type] = frozenset()

    INTEGERS = Sort("int")

    def is_open(self, type: types.Type) -> bool:
        """Return True if the size of the type itself names a constant that stands for every number."""
        return self.is_every(getattr(type, "size", 0)) or any(
            self.is_every(getattr(type, bound, 0)) for bound in ("low", "high")
        )

    def is_every(self, size: int | str) -> bool:
        """Return True if a size expression names a constant that stands for every number."""
        return isinstance(size, str) and bool(set(types.Int(0, size).sizes) & self.every)

    def sort(self, index: types.IndexType) -> Sort:
        """Return the sort of an index."""
        return Sort(index.name)

    # Values of a type ---------------------------------------------------------------------------------------

    def alternatives(
        self, type: types.Type, name: str, at: Location | None = None
    ) -> Iterator[tuple[tuple[Var, ...], Formula, Value]]:
        """Yield all values of a type in groups. A group has variables, a condition on them, and the value
        that they make.

        Raises:
            Outside: the type has values that are sets, maps or sequences.
        """
        match type:
            case types.Bool():
                yield (), TRUE, Boolean(FALSE)
                yield (), TRUE, Boolean(TRUE)
            case types.Enumeration(members=members):
                yield from (((), TRUE, Scalar.of(Member(member))) for member in members)
            case types.IndexType() if self.is_open(type):
                bound = variable(name, self.sort(type))
                yield (bound,), TRUE, Scalar.of(bound)
            case types.IndexType(size=size):
                number = self.size(size)
                assert isinstance(number, int)
                yield from (((), TRUE, Scalar.of(Member(f"{type.name}({k})"))) for k in range(number))
            case types.Int() if self.is_open(type):
                bound = variable(name, self.INTEGERS)
                yield (bound,), self.in_range(bound, type), Scalar.of(bound)
            case types.Int(low=low, high=high):
                first, last = self.size(low), self.size(high)
                assert isinstance(first, int)
                assert isinstance(last, int)
                yield from (((), TRUE, Scalar.of(number)) for number in range(first, last + 1))
            case types.Optional(of=of):
                yield (), TRUE, Scalar.of(None)
                yield from self.alternatives(of, name, at)
            case types.Union(records=records):
                for record in records:
                    yield from self.alternatives(record, name, at)
            case types.Record():
                yield from self._records(type, type.fields, name, at)
            case _:
                raise Outside(
                    f"{name} ranges over {words(type)}: first-order logic has no quantifier over those", at,
                    instead="a quantifier over elements; a majority is a set with `2 * len(q) > n`",
                )  # fmt: skip

    def _records(
        self, type: types.Record, fields: Sequence[tuple[str, types.Type]], name: str, at: Location | None
    ) -> Iterator[tuple[tuple[Var, ...], Formula, Value]]:
        rows: list[tuple[tuple[Var, ...], Formula, tuple[tuple[str, Value], ...]]] = [((), TRUE, ())]
        for field, of in fields:
            rows = [
                ((*bound, *more), conjunction(guard, further), (*made, (field, value)))
                for bound, guard, made in rows
                for more, further, value in self.alternatives(of, f"{name}.{field}", at)
            ]
        for bound, guard, made in rows:
            yield bound, guard, Scalar.of(RecordLeaf(type.name, made))

    def every_value(
        self, type: types.Type, name: str, body: Callable[[Value], Formula], at: Location | None = None
    ) -> Formula:
        """Return the condition that the body is true of all values of a type."""
        return conjunction(
            *(
                forall(bound, implication(guard, body(value)), at)
                for bound, guard, value in self.alternatives(type, name, at)
            )
        )

    def some_value(
        self, type: types.Type, name: str, body: Callable[[Value], Formula], at: Location | None = None
    ) -> Formula:
        """Return the condition that the body is true of some value of a type."""
        return disjunction(
            *(
                exists(bound, conjunction(guard, body(value)), at)
                for bound, guard, value in self.alternatives(type, name, at)
            )
        )

    def in_range(self, term: Term, type: types.Int) -> Formula:
        """Return the condition that an integer is in the bounds of its type."""
        return conjunction(
            at_most(self.number(type.low), term), at_most(term, self.number(type.high))
        )

    def number(self, size: int | str) -> Term:
        """Return the term of a size expression."""
        found = self.size(size)
        return literal(found) if isinstance(found, int) else found

    # Symbols ------------------------------------------------------------------------------------------------

    def symbolic(
        self, type: types.Type, name: str, arguments: tuple[Term, ...] = (), at: Location | None = None
    ) -> Value:
        """Return an arbitrary value of a type: its leaves are symbols applied to `arguments`.

        Raises:
            Outside: a set of sets or maps.
        """
        sorts = tuple(item.sort for item in arguments)
        match type:
            case types.Bool():
                return Boolean(atom(Symbol(name, sorts), arguments))
            case types.IndexType() if self.is_open(type):
                return Scalar.of(App(Symbol(name, sorts, self.sort(type)), arguments))
            case types.Int() if self.is_open(type):
                return Scalar.of(App(Symbol(name, sorts, self.INTEGERS), arguments))
            case types.Enumeration() | types.IndexType() | types.Int():
                leaves = [value for _, _, value in self.alternatives(type, name, at)]
                return self._told_apart(leaves, name, arguments)
            case types.Optional(of=of):
                there = atom(Symbol(f"{name} is there", sorts), arguments)
                inner = self.symbolic(of, name, arguments, at)
                return chosen(there, inner, Scalar.of(None), at)
            case types.Record(fields=fields):
                made = tuple(
                    (field, self.symbolic(part, f"{name}.{field}", arguments, at)) for field, part in fields
                )
                return Scalar.of(RecordLeaf(type.name, made))
            case types.Union(records=records):
                leaves = [
                    self.symbolic(record, f"{name}:{record.name}", arguments, at) for record in records
                ]
                return self._told_apart(leaves, name, arguments)
            case types.SetOf(of=of):
                return SetValue(of, lambda item: self._in_symbol(self.fitted(item, of), name, arguments, at))
            case types.SequenceOf(of=of) if self.is_without_repetition(type):
                return SetValue(of, lambda item: self._in_symbol(self.fitted(item, of), name, arguments, at))
            case types.SequenceOf():
                return self._log(type, name, arguments, at)
            case types.MapOf(key=key_type, value=value):
                return MapValue(
                    type,
                    lambda key: self._at_symbol(self.fitted(key, key_type), value, name, arguments, at),
                )
        raise Outside(f"{name} is {words(type)}, which has no reading in first-order logic", at)

    def _log(
        self, type: types.SequenceOf, name: str, arguments: tuple[Term, ...], at: Location | None
    ) -> SequenceValue:
        sorts = tuple(item.sort for item in arguments)
        first, end = (
            App(Symbol(f"{name} {word}", sorts, self.INTEGERS), arguments) for word in ("first", "end")
        )
        return SequenceValue(
            type.of,
            Scalar.of(first if type in self.shortened else 0),
            Scalar.of(end),
            lambda position: self.symbolic(type.of, f"{name}{ITEM}", (*arguments, position), at),
            most=type.most,
        )

    def is_without_repetition(self, type: types.SequenceOf) -> bool:
        """Return True if a sequence has room for each member of an open index once. It stands for the set of
        its members: every step that makes it longer must show that no member is in it twice.
        """
        of = type.of
        return isinstance(of, types.IndexType) and self.is_open(of) and type.most == of.size

    def _told_apart(self, leaves: Sequence[Value], name: str, arguments: tuple[Term, ...]) -> Value:
        """Return a value that is one of some values: a relation for each of them but the last says whether it
        is the one, unless an earlier one is.
        """
        sorts = tuple(item.sort for item in arguments)
        cases: list[tuple[Formula, Leaf]] = []
        left: Formula = TRUE
        for number, value in enumerate(leaves):
            assert isinstance(value, Scalar)
            ((_, leaf),) = value.cases
            called = leaf.name if isinstance(leaf, Member | RecordLeaf) else str(leaf)
            last = number == len(leaves) - 1
            is_this = TRUE if last else atom(Symbol(f"{name}={called}", sorts), arguments)
            cases.append((conjunction(left, is_this), leaf))
            left = conjunction(left, negation(is_this))
        return Scalar(tuple(cases))

    def _in_symbol(self, item: Value, name: str, arguments: tuple[Term, ...], at: Location | None) -> Formula:
        found = []
        for condition, told, terms in spread(item, at):
            full = (*arguments, *terms)
            symbol = Symbol(f"{name}[{', '.join(told)}]" if told else name, tuple(t.sort for t in full))
            found.append(conjunction(condition, atom(symbol, full)))
        return disjunction(*found)

    def _at_symbol(
        self, key: Value, value: types.Type, name: str, arguments: tuple[Term, ...], at: Location | None
    ) -> Value:
        cases: list[tuple[Formula, Value]] = []
        for condition, told, terms in spread(key, at):
            named = f"{name}[{', '.join(told)}]" if told else name
            cases.append((condition, self.symbolic(value, named, (*arguments, *terms), at)))
        return chosen_of(cases, at)

    def fitted(self, value: Value, type: types.Type) -> Value:
        """Return a value in the form of values of `type`: its integers are terms if the bounds of the type
        are open, and numbers if they are known.
        """
        if not isinstance(value, Scalar):
            return value
        cases: list[tuple[Formula, Leaf]] = []
        for condition, leaf in value.cases:
            cases += [
                (both, form)
                for further, form in self._forms(leaf, type)
                if (both := conjunction(condition, further)) is not FALSE
            ]
        return Scalar(tuple(cases))

    def _forms(self, leaf: Leaf, type: types.Type) -> Iterator[tuple[Formula, Leaf]]:
        if leaf is None:
            yield TRUE, leaf
        elif isinstance(type, types.Optional):
            yield from self._forms(leaf, type.of)
        elif isinstance(leaf, RecordLeaf):
            records = type.records if isinstance(type, types.Union) else (type,)
            (record,) = [r for r in records if isinstance(r, types.Record) and r.name == leaf.name]
            parts = zip(leaf.fields, record.fields, strict=True)
            made = tuple((name, self.fitted(value, of)) for (name, value), (_, of) in parts)
            yield TRUE, RecordLeaf(leaf.name, made)
        elif isinstance(leaf, Place):
            in_one_sequence(leaf, None, None)
        elif not isinstance(type, types.Int) or self.is_open(type):
            yield TRUE, literal(leaf) if isinstance(leaf, int) else leaf
        elif isinstance(leaf, int):
            yield TRUE, leaf
        else:
            term = as_term(leaf)
            assert term is not None
            for _, _, value in self.alternatives(type, ""):
                assert isinstance(value, Scalar)
                ((_, number),) = value.cases
                assert isinstance(number, int)
                yield equal(term, literal(number)), number

    def belongs(self, value: Value, type: types.Type, at: Location | None = None) -> Formula:
        """Return the condition that a value is one of `type`: integers are within bounds, None is only where
        it may be. Sets and maps are not checked.
        """
        if not isinstance(value, Scalar):
            return TRUE
        return conjunction(
            *(implication(condition, self._leaf_belongs(leaf, type, at)) for condition, leaf in value.cases)
        )

    def _leaf_belongs(self, leaf: Leaf, type: types.Type, at: Location | None) -> Formula:
        if isinstance(type, types.Optional):
            return TRUE if leaf is None else self._leaf_belongs(leaf, type.of, at)
        if leaf is None:
            return FALSE
        if isinstance(leaf, RecordLeaf):
            records = type.records if isinstance(type, types.Union) else (type,)
            found = [r for r in records if isinstance(r, types.Record) and r.name == leaf.name]
            if not found:
                return FALSE
            parts = zip(leaf.fields, found[0].fields, strict=True)
            return conjunction(*(self.belongs(value, of, at) for (_, value), (_, of) in parts))
        if not isinstance(type, types.Int):
            return TRUE
        low, high = self.size(type.low), self.size(type.high)
        if isinstance(leaf, int) and isinstance(low, int) and isinstance(high, int):
            return TRUE if low <= leaf <= high else FALSE
        term = as_term(leaf)
        assert term is not None
        return self.in_range(term, type)

    # Equality -----------------------------------------------------------------------------------------------

    def same(self, left: Value, right: Value, at: Location | None = None) -> Formula:
        """Return the condition that two values are equal."""
        match left, right:
            case Boolean(formula=one), Boolean(formula=other):
                return equivalence(one, other)
            case Scalar(), Scalar():
                return disjunction(
                    *(
                        conjunction(here, there, self._same_leaf(one, other, at))
                        for here, one in left.cases
                        for there, other in right.cases
                    )
                )
            case SetValue(), SetValue():
                return self.every_value(
                    left.of, "e", lambda e: equivalence(left.member(e), right.member(e)), at
                )
            case MapValue(), MapValue():
                return self.every_value(
                    left.type.key, "k", lambda k: self.same(left.get(k), right.get(k), at), at
                )
        return FALSE

    def _same_leaf(self, one: Leaf, other: Leaf, at: Location | None) -> Formula:
        if isinstance(one, RecordLeaf) and isinstance(other, RecordLeaf):
            if one.name != other.name:
                return FALSE
            pairs = zip(one.fields, other.fields, strict=True)
            return conjunction(*(self.same(a, b, at) for (_, a), (_, b) in pairs))
        if isinstance(one, Place) or isinstance(other, Place):
            places = in_one_sequence(one, other, at)
            return equal(*places)
        if isinstance(one, Var | App) or isinstance(other, Var | App):
            first, second = as_term(one), as_term(other)
            if first is None or second is None or first.sort != second.sort:
                return FALSE
            numbers = known(first), known(second)
            return FALSE if None not in numbers and numbers[0] != numbers[1] else equal(first, second)
        return TRUE if type(one) is type(other) and one == other else FALSE


def beginning(log: SequenceValue) -> Beginning:
    """Return the first position of a log in a form that can be compared."""
    return tuple((shape(condition), as_term(leaf)) for condition, leaf in log.first.cases)


def in_one_sequence(one: Leaf, other: Leaf, at: Location | None) -> tuple[Term, Term]:
    """Return the positions of two places in one sequence.

    Raises:
        Outside: they are not both places, or not in one sequence.
    """
    if not isinstance(one, Place) or not isinstance(other, Place) or one.first != other.first:
        raise Outside(
            "a position in a sequence that also loses its first item is compared with another number", at,
            instead="a position in the same sequence",
        )  # fmt: skip
    return one.position, other.position


def literal(number: int) -> App:
    """Return the constant of logic that stands for a known integer. The axioms say only how such constants
    are ordered.
    """
    return App(Symbol(str(number), (), Sorts.INTEGERS))


def known(term: Term) -> int | None:
    """Return the integer that a term stands for, if `literal` made the term; else None."""
    if isinstance(term, App) and not term.arguments and term.sort == Sorts.INTEGERS:
        with suppress(ValueError):
            return int(term.symbol.name)
    return None


def as_term(leaf: Leaf) -> Term | None:
    """Return a leaf as a term of logic, if it is a term or an integer; else None."""
    if isinstance(leaf, Var | App):
        return leaf
    return literal(leaf) if isinstance(leaf, int) else None


def below(sort: Sort) -> Symbol:
    """Return the strict order of a sort."""
    return Symbol(f"{sort.name}<", (sort, sort))


def less(left: Term, right: Term) -> Formula:
    """Return the condition that one term is before another in the order of their sort."""
    if left == right:
        return FALSE
    one, other = known(left), known(right)
    if one is not None and other is not None:
        return TRUE if one < other else FALSE
    return atom(below(left.sort), (left, right))


def at_most(left: Term, right: Term) -> Formula:
    """Return the condition that one term is not after another in the order of their sort."""
    return negation(less(right, left))


def chosen(condition: Formula, then: Value, otherwise: Value, at: Location | None = None) -> Value:
    """Return `then` where the condition is true, else `otherwise`."""
    return chosen_of([(condition, then), (negation(condition), otherwise)], at)


def chosen_of(cases: Iterable[tuple[Formula, Value]], at: Location | None = None) -> Value:
    """Return the value that is given by cases: the one whose condition is true. The conditions exclude one
    another, and one is true.
    """
    listed = [(condition, value) for condition, value in cases if condition is not FALSE]
    if len(listed) == 1:
        return listed[0][1]
    values = [value for _, value in listed]
    if any(isinstance(value, SetValue) for value in values):
        listed = [(condition, _as_set(value)) for condition, value in listed]
        values = [value for _, value in listed]
    if all(isinstance(value, Boolean) for value in values):
        return Boolean(
            disjunction(*(conjunction(c, v.formula) for c, v in listed if isinstance(v, Boolean)))
        )
    if all(isinstance(value, Scalar) for value in values):
        return Scalar(
            tuple(
                (both, leaf)
                for condition, value in listed
                if isinstance(value, Scalar)
                for inner, leaf in value.cases
                if (both := conjunction(condition, inner)) is not FALSE
            )
        )
    first = next(value for value in values if not isinstance(value, Scalar | Boolean))
    if isinstance(first, SetValue):
        sets = [(c, v) for c, v in listed if isinstance(v, SetValue)]
        return SetValue(
            first.of, lambda item: disjunction(*(conjunction(c, v.member(item)) for c, v in sets))
        )
    if isinstance(first, SequenceValue) and all(isinstance(value, SequenceValue) for value in values):
        return _chosen_log([(c, v) for c, v in listed if isinstance(v, SequenceValue)], at)
    maps = [(c, v) for c, v in listed if isinstance(v, MapValue)]
    if len(maps) == len(listed):
        kind = maps[0][1].type
        return MapValue(kind, lambda key: chosen_of([(c, v.get(key)) for c, v in maps], at))
    raise Outside("a value that may be None, or else a set or a map, is outside the fragment", at)


def _as_set(value: Value) -> Value:
    """Return an empty sequence as an empty set, and any other value as it is."""
    if isinstance(value, SequenceValue) and value.items == ():
        return SetValue(value.of, lambda _: FALSE)
    return value


def _chosen_log(cases: Sequence[tuple[Formula, SequenceValue]], at: Location | None) -> SequenceValue:
    first = chosen_of([(condition, log.first) for condition, log in cases], at)
    end = chosen_of([(condition, log.end) for condition, log in cases], at)
    assert isinstance(first, Scalar)
    assert isinstance(end, Scalar)
    if all(log.first.cases == cases[0][1].first.cases for _, log in cases):
        first = cases[0][1].first
    mosts = {log.most for _, log in cases}
    return SequenceValue(
        cases[0][1].of,
        first,
        end,
        lambda position: chosen_of([(condition, log.item(position)) for condition, log in cases], at),
        most=mosts.pop() if len(mosts) == 1 else None,
    )


def spread(value: Value, at: Location | None = None) -> Iterator[Spread]:
    """Yield the possible values of a value: a condition, the names of the parts, and the terms.

    Raises:
        Outside: the value has a set or a map inside.
    """
    match value:
        case Boolean(formula=formula):
            yield from (
                (condition, (name,), ())
                for condition, name in ((formula, "True"), (negation(formula), "False"))
                if condition is not FALSE
            )
        case Scalar(cases=cases):
            for condition, leaf in cases:
                for further, told, terms in _spread_leaf(leaf, at):
                    both = conjunction(condition, further)
                    if both is not FALSE:
                        yield both, told, terms
        case _:
            raise Outside(
                "a set or a map is an element of a set, a key or a field of one: that needs sets of sets", at,
                instead="an index that names them, and a relation that says what each has",
            )  # fmt: skip


def _spread_leaf(leaf: Leaf, at: Location | None) -> Iterator[Spread]:
    if isinstance(leaf, Var | App):
        yield TRUE, (), (leaf,)
    elif isinstance(leaf, RecordLeaf):
        rows: list[Spread] = [(TRUE, (leaf.name,), ())]
        for _, value in leaf.fields:
            rows = [
                (conjunction(condition, further), (*told, *more), (*terms, *others))
                for condition, told, terms in rows
                for further, more, others in spread(value, at)
            ]
        yield from (row for row in rows if row[0] is not FALSE)
    elif isinstance(leaf, Place):
        raise Outside("a position in a sequence that also loses its first item is a key or an element", at)
    else:
        yield TRUE, (leaf.name if isinstance(leaf, Member) else str(leaf),), ()


def words(type: types.Type) -> str:
    """Return a type in words."""
    match type:
        case types.SetOf(of=of):
            return f"a set of {_named(of)}"
        case types.MapOf(key=key, value=value):
            return f"a map from {_named(key)} to {_named(value)}"
        case types.SequenceOf(of=of):
            return f"a sequence of {_named(of)}"
    return _named(type)


def _named(type: types.Type) -> str:
    return str(getattr(type, "name", "")) or type.__class__.__name__.lower()
