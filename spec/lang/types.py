"""The types of the language: a closed set with finite domains, whose sizes stay symbolic until constants are
bound.

A `Type` is written once, with sizes as expressions over the constants of the spec (`Int("0", "messages")`).
`bind` turns it into a `Domain`: numbers in place of names, and with them an enumeration of every value in one
fixed order, the *domain order*. The position of a value in that order is its *rank*, a natural number below
`cardinality`. Every reading of a spec agrees on ranks:

1. booleans: False, True; integers: ascending; enumerations and indices: as declared;
2. optional values: None first, then the values;
3. records: lexicographic, the first field most significant; unions: the records one after the other, as
   declared;
4. sets: the number whose bit k says whether the element of rank k is in the set;
5. maps: mixed radix over the keys in domain order, the first key most significant;
6. sequences: by length, then lexicographic.

This file knows nothing of actions, expressions or states.
"""

from __future__ import annotations

import ast
import enum
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.maps import Keys, Map, entries

Value = Any
"""A value of a specification: bool, int, Enum member, Index, record, None, frozenset, Map, tuple (sequences).

A state holds a variable that is a map as the tuple of its values in key order (`Map.freeze`); `contains` and
`rank` take both.
"""

Test = Callable[[Value], bool]
"""Test that returns True for a value of the domain."""

Constants = Mapping[str, "int | bool | str"]
"""The constants of an instance by name: sizes and bounds, repairs (bool), readings (str)."""

_NAME = re.compile(r"[^\W\d]\w*")

_OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}  # fmt: skip


def evaluate_size(size: int | str, constants: Constants) -> int:
    """Return the number that a size expression denotes.

    `size` is an integer or an arithmetic expression (+ - * // %) over names of integer constants, such as
    `"messages + 1"`.

    Raises:
        SpecError: the expression names an unknown constant or is not arithmetic.
    """
    if isinstance(size, int):
        return size

    def walk(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name) if name in constants and isinstance(constants[name], int):
                return int(constants[name])
            case ast.Name(id=name):
                raise SpecError(
                    f"size {size!r} names {name!r}, which is no integer constant of the specification; "
                    f"{known_names(name, sorted(constants))}"
                )
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                one, two = walk(left), walk(right)
                if two == 0 and isinstance(op, ast.FloorDiv | ast.Mod):
                    raise SpecError(f"size {size!r} divides by zero")
                return int(_OPERATORS[type(op)](one, two))
        raise SpecError(f"size {size!r} is not arithmetic over constants; write for example 'messages + 1'")

    try:
        return walk(_parsed(size))
    except (SyntaxError, ValueError, TypeError) as error:
        raise SpecError(
            f"size {size!r} is not arithmetic over constants; write for example 'messages + 1'"
        ) from error


@lru_cache(maxsize=4096)
def _parsed(size: str) -> ast.expr:
    """Parse a size expression; the result is cached, since many types under many constants ask for it."""
    return ast.parse(size, mode="eval").body


@dataclass(frozen=True)
class Type:
    """A type with a finite domain, sizes symbolic. Subclasses are the closed set listed in this file."""

    @cached_property
    def sizes(self) -> tuple[str, ...]:
        """Return the names in the sizes of the type and of its parts, sorted."""
        own = (getattr(self, name, 0) for name in ("low", "high", "size", "most"))
        found = {name for size in own if isinstance(size, str) for name in _NAME.findall(size)}
        return tuple(sorted(found.union(*(part.sizes for part in _parts(self)))))


@dataclass(frozen=True)
class Bool(Type):
    """Type of the booleans: False and True."""


@dataclass(frozen=True)
class Int(Type):
    """The integers from `low` to `high`, both included; `low` and `high` are sizes."""

    low: int | str
    high: int | str


@dataclass(frozen=True)
class Enumeration(Type):
    """Enumeration: named values in the order of declaration. `python` is the Enum class, or None when the
    members are plain strings (the choices of an ambiguity).
    """

    name: str
    members: tuple[str, ...]
    python: type[enum.Enum] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class IndexType(Type):
    """The `size` members of an index set. Symmetric: members are interchangeable. Ordered: their order has
    meaning.
    """

    name: str
    size: int | str
    ordered: bool
    symmetric: bool
    python: Any = field(default=object, repr=False)


@dataclass(frozen=True)
class Optional(Type):
    """Optional type: None, or a value of `of`."""

    of: Type


@dataclass(frozen=True)
class Record(Type):
    """Record type: named fields, each with a type."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    python: Any = field(default=object, repr=False)


@dataclass(frozen=True)
class Union(Type):
    """Union of record types: a value is one of these records."""

    records: tuple[Record, ...]


@dataclass(frozen=True)
class SetOf(Type):
    """A finite set of values of `of`."""

    of: Type


@dataclass(frozen=True)
class MapOf(Type):
    """A total map from every value of `key` to a value of `value`."""

    key: Type
    value: Type


@dataclass(frozen=True)
class SequenceOf(Type):
    """A sequence of at most `most` values of `of`."""

    of: Type
    most: int | str


class Domain:
    """A type whose sizes are numbers: `cardinality` values in domain order, and the rank of each."""

    def __init__(self, type: Type, constants: Constants) -> None:
        self.type = type
        self.parts: tuple[Domain, ...] = tuple(bind(part, constants) for part in _parts(type))
        self.low, self.high, self.most = 0, 0, 0
        if isinstance(type, Int):
            self.low, self.high = evaluate_size(type.low, constants), evaluate_size(type.high, constants)
        elif isinstance(type, IndexType):
            self.high = evaluate_size(type.size, constants) - 1
        elif isinstance(type, Enumeration):
            self.high = len(type.members) - 1
        elif isinstance(type, SequenceOf):
            self.most = evaluate_size(type.most, constants)

    @cached_property
    def cardinality(self) -> int:
        """Number of values of the domain; 0 for an empty one."""
        match self.type:
            case Bool():
                return 2
            case Int() | IndexType() | Enumeration():
                return max(0, self.high - self.low + 1)
            case Optional():
                return 1 + self.parts[0].cardinality
            case Record():
                total = 1
                for part in self.parts:
                    total *= part.cardinality
                return total
            case Union():
                return sum(part.cardinality for part in self.parts)
            case SetOf():
                return int(2 ** self.parts[0].cardinality)
            case MapOf():
                return int(self.parts[1].cardinality ** self.parts[0].cardinality)
            case SequenceOf():
                return int(sum(self.parts[0].cardinality ** length for length in range(self.most + 1)))
        raise TypeError(f"unknown type {self.type!r}")

    @cached_property
    def negative(self) -> Domain | None:
        """Return the first part of the domain whose size is negative, or None."""
        if self.high < -1 if isinstance(self.type, IndexType) else self.most < 0:
            return self
        return next((part.negative for part in self.parts if part.negative is not None), None)

    @cached_property
    def has_map(self) -> bool:
        """Return True if a value of the type may be a map or contain one."""
        return isinstance(self.type, MapOf) or any(part.has_map for part in self.parts)

    @cached_property
    def has_index(self) -> bool:
        """Return True if a value of the type may be an index or contain one."""
        return isinstance(self.type, IndexType) or any(part.has_index for part in self.parts)

    @cached_property
    def keys(self) -> Keys:
        """Return the keys of a map, in domain order."""
        keys, values = self.parts
        return Keys(keys, values.keys if isinstance(values.type, MapOf) else None)

    def contains(self, value: Value) -> bool:
        """Return True if `value` belongs to the domain (exact types: 0 is not False)."""
        return self.test(value)

    @cached_property
    def test(self) -> Test:
        """Return the test that `contains` applies, for frequent use."""
        return _test_of(self)

    def rank(self, value: Value) -> int:
        """Return the position of `value` in domain order. The value must belong to the domain
        (`contains`).
        """
        match self.type:
            case Bool():
                return int(value)
            case Int():
                return int(value) - self.low
            case Enumeration(members=members):
                return members.index(value if isinstance(value, str) else value.name)
            case IndexType():
                return int(value.index)
            case Optional():
                return 0 if value is None else 1 + self.parts[0].rank(value)
            case Record(fields=fields):
                return _radix(self.parts, tuple(getattr(value, name) for name, _ in fields))
            case Union():
                offset = 0
                for part in self.parts:
                    if part.contains(value):
                        return offset + part.rank(value)
                    offset += part.cardinality
                raise ValueError(f"{value!r} is in none of the records of {self.type!r}")
            case SetOf():
                return sum(1 << self.parts[0].rank(element) for element in value)
            case MapOf():
                found = entries(value)
                return _radix((self.parts[1],) * len(found), found)
            case SequenceOf():
                shorter = sum(self.parts[0].cardinality ** length for length in range(len(value)))
                return int(shorter + _radix((self.parts[0],) * len(value), value))
        raise TypeError(f"unknown type {self.type!r}")

    def value(self, rank: int) -> Value:
        """Return the value at position `rank`, 0 <= rank < cardinality."""
        match self.type:
            case Bool():
                return bool(rank)
            case Int():
                return self.low + rank
            case Enumeration(members=members, python=python):
                return members[rank] if python is None else python[members[rank]]
            case IndexType(python=python):
                return python(rank)
            case Optional():
                return None if rank == 0 else self.parts[0].value(rank - 1)
            case Record(python=python):
                return python(*_unradix(self.parts, rank))
            case Union():
                for part in self.parts:
                    if rank < part.cardinality:
                        return part.value(rank)
                    rank -= part.cardinality
                raise ValueError(f"rank too large for {self.type!r}")
            case SetOf():
                return frozenset(self.parts[0].value(k) for k in range(rank.bit_length()) if rank >> k & 1)
            case MapOf():
                return Map.made(self.keys, _unradix((self.parts[1],) * self.parts[0].cardinality, rank))
            case SequenceOf():
                return self._sequence(rank)
        raise TypeError(f"unknown type {self.type!r}")

    def _sequence(self, rank: int) -> Value:
        length = 0
        while rank >= (here := self.parts[0].cardinality ** length):
            rank -= here
            length += 1
        return _unradix((self.parts[0],) * length, rank)

    def __iter__(self) -> Iterator[Value]:
        """Yield every value of the domain, in domain order."""
        if self.cardinality <= _KEPT_MAX:
            return iter(self._values)
        return (self.value(rank) for rank in range(self.cardinality))

    @cached_property
    def _values(self) -> tuple[Value, ...]:
        return tuple(self.value(rank) for rank in range(self.cardinality))


_KEPT_MAX = 1_024
"""Largest number of values of a domain that are kept when they are asked for."""


def _test_of(domain: Domain) -> Test:
    """Return the test of a domain as one function, with all that is known of the domain looked up beforehand;
    machines apply it to every value.
    """
    low, high, parts = domain.low, domain.high, domain.parts
    match domain.type:
        case Bool():
            return lambda value: isinstance(value, bool)
        case Int():
            return lambda value: type(value) is int and low <= value <= high
        case Enumeration(members=members, python=python):
            if python is None:
                return lambda value: value in members
            return lambda value: type(value) is python
        case IndexType(python=index):
            return lambda value: type(value) is index and 0 <= value.index <= high
        case Optional():
            of = _inside(parts[0])
            return lambda value: value is None or of(value)
        case Record(fields=fields, python=python):
            named = zip(fields, parts, strict=True)
            return _test_of_record(python, {name: _inside(part) for (name, _), part in named})
        case Union():
            tests = [part.test for part in parts]
            return lambda value: any(test(value) for test in tests)
        case SetOf():
            return _test_of_set(_inside(parts[0]))
        case MapOf():
            return _test_of_map(domain)
        case SequenceOf():
            of, most = _inside(parts[0]), domain.most
            return lambda value: type(value) is tuple and len(value) <= most and all(map(of, value))
    raise TypeError(f"unknown type {domain.type!r}")


def _test_of_record(python: Any, fields: dict[str, Test]) -> Test:
    def test(value: Value) -> bool:
        if type(value) is not python:
            return False
        for name, belongs in fields.items():  # noqa: SIM110 (a generator costs more than what it asks)
            if not belongs(getattr(value, name)):
                return False
        return True

    return test


_LARGE = 32
"""Number of elements from which a set remembers which ones were tested."""

_TESTED_MAX = 1 << 16


def _test_of_set(of: Test) -> Test:
    """Return the test of a set. A large set mostly has one element more than the one before: elements that
    were tested are known by their identity, since equal ones may have other types.
    """
    tested: dict[int, Value] = {}

    def test(value: Value) -> bool:
        if not isinstance(value, frozenset):
            return False
        if len(value) < _LARGE:
            return all(map(of, value))
        if len(tested) > _TESTED_MAX:
            tested.clear()
        for item in value:
            if id(item) not in tested:
                if not of(item):
                    return False
                tested[id(item)] = item
        return True

    return test


def _test_of_map(domain: Domain) -> Test:
    values = domain.parts[1].test

    def test(value: Value) -> bool:
        if type(value) is tuple:
            found: tuple[Value, ...] = value
        elif isinstance(value, Map) and domain.keys.same(value.order):
            found = value.entries
        else:
            found = ()
        return len(found) == domain.parts[0].cardinality and all(map(values, found))

    return test


def _inside(domain: Domain) -> Test:
    """Return the test whether a value belongs to the domain as a part of another value, where a map must not
    be a tuple.
    """
    test = domain.test
    if isinstance(domain.type, MapOf):
        return lambda value: type(value) is not tuple and test(value)
    return test


def _radix(parts: tuple[Domain, ...], values: tuple[Value, ...]) -> int:
    rank = 0
    for part, value in zip(parts, values, strict=True):
        rank = rank * part.cardinality + part.rank(value)
    return rank


def _unradix(parts: tuple[Domain, ...], rank: int) -> tuple[Value, ...]:
    values: list[Value] = []
    for part in reversed(parts):
        rank, digit = divmod(rank, part.cardinality)
        values.append(part.value(digit))
    return tuple(reversed(values))


def _parts(type: Type) -> tuple[Type, ...]:
    match type:
        case Optional(of=of) | SetOf(of=of) | SequenceOf(of=of):
            return (of,)
        case Record(fields=fields):
            return tuple(part for _, part in fields)
        case Union(records=records):
            return records
        case MapOf(key=key, value=value):
            return (key, value)
    return ()


@cache
def _bind(type: Type, sizes: tuple[tuple[str, int], ...]) -> Domain:
    return Domain(type, dict(sizes))


def bind(type: Type, constants: Constants) -> Domain:
    """Return the domain of `type` under these constants: one object for all constants that give the sizes in
    it the same numbers.

    Raises:
        SpecError: a size of the type is no arithmetic over integer constants.
    """
    sizes = [(name, constants.get(name)) for name in type.sizes]
    if any(not isinstance(value, int) for _, value in sizes):
        return Domain(type, constants)  # which says what there is
    return _bind(type, tuple(sizes))
