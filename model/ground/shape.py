"""Shapes: a value of a type is split into leaves: booleans, numbers and bit sets, in one fixed order, always
in canonical form.

| type | leaves |
|---|---|
| boolean | itself |
| integer | the value itself, not its rank |
| enumeration, index | its rank |
| optional | whether it is present, then the leaves of the value; None has those of the least value |
| record | the leaves of its fields |
| union | the number of the record, then the leaves of all records; absent records have their least value |
| set | the ranks of its elements, as bits |
| map | the leaves of each value, in key order |
| sequence | its length, then `most` items; each item beyond the length is the least value |

Since what is absent has one form, two values are equal exactly when their leaves are. This file knows nothing
of expressions or steps.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from antiphon.model.ground.form import Bits, Boolean, Expression, Number, Sort
from antiphon.model.ground.intern import constant
from antiphon.spec.lang import SpecError, ir, types
from antiphon.spec.lang.maps import Map, entries
from antiphon.spec.lang.types import Constants, Domain

WIDEST_SET = 1 << 16

Raw = int | bool
"""Concrete value of a leaf: bool, int, or for a set the int whose bit k says whether rank k is in it."""


class Shape:
    """The leaves of a type under given constants.

    Attributes:
        type: the type; `ir.Integer` and `ir.NoneType` too.
        domain: the domain of the type; it has no values for `ir.Integer` and `ir.NoneType`.
        parts: the shapes inside: of an optional value, a set's element, a sequence's item, the fields, the
            records, or key and value.
        offsets: for an optional, record or union value the position of the first leaf of each part.
        positions: of a record the number of each field.
        sorts: of each leaf; None for an unbounded integer.
        numbers: the leaves that are numbers, with their sorts.
        least: the raw leaves of the least value, which stands where a value is absent.
    """

    def __init__(self, type: types.Type, constants: Constants, parts: tuple[Shape, ...]) -> None:
        self.type, self.parts = type, parts
        self.domain: Domain = types.bind(type, constants)
        before = 0 if isinstance(type, types.Record) else 1
        self.offsets = tuple(itertools.accumulate((part.width for part in parts), initial=before))[:-1]
        fields = type.fields if isinstance(type, types.Record) else ()
        self.positions = {name: number for number, (name, _) in enumerate(fields)}
        self.sorts: tuple[Sort | None, ...] = tuple(self._sorts())
        self.numbers = tuple(
            (position, sort) for position, sort in enumerate(self.sorts) if isinstance(sort, Number)
        )
        self.width: int = len(self.sorts)
        self.least: tuple[Raw, ...] = tuple(self._least())
        self.zero: tuple[Expression, ...] = tuple(
            constant(sort or Number(0, 0), value) for sort, value in zip(self.sorts, self.least, strict=True)
        )
        self._constants: dict[int, tuple[Expression, ...]] = {}

    def _sorts(self) -> Iterator[Sort | None]:
        match self.type:
            case types.Bool():
                yield Boolean()
            case types.Int() | types.IndexType() | types.Enumeration():
                yield Number(self.domain.low, max(self.domain.low, self.domain.high))
            case ir.Integer():
                yield None
            case types.Optional():
                yield Boolean()
                yield from self.parts[0].sorts
            case types.Union(records=records):
                yield Number(0, len(records) - 1)
                yield from (sort for part in self.parts for sort in part.sorts)
            case types.SetOf():
                yield Bits(self._elements())
            case types.MapOf():
                yield from self.parts[1].sorts * self.parts[0].domain.cardinality
            case types.SequenceOf():
                yield Number(0, self.domain.most)
                yield from self.parts[0].sorts * self.domain.most
            case _:
                yield from (sort for part in self.parts for sort in part.sorts)

    def _elements(self) -> int:
        size = self.parts[0].domain.cardinality
        if size > WIDEST_SET:
            raise SpecError(
                f"a set over {size} possible elements is too wide to be compiled; at most {WIDEST_SET}",
                instead="a smaller element type: fewer or narrower fields, smaller constants",
            )
        return size

    def _least(self) -> Iterator[Raw]:
        match self.type:
            case types.Optional():
                yield False
                yield from self.parts[0].least
            case types.Record():
                yield from (raw for part in self.parts for raw in part.least)
            case types.Union():
                yield 0
                yield from (raw for part in self.parts for raw in part.least)
            case types.MapOf():
                yield from self.parts[1].least * self.parts[0].domain.cardinality
            case types.SequenceOf():
                yield 0
                yield from self.parts[0].least * self.domain.most
            case _:
                yield from (_lowest(sort) for sort in self.sorts)

    def names(self, prefix: str) -> Iterator[str]:
        """Yield the names of the leaves of a value that is called `prefix`."""
        match self.type:
            case types.Optional():
                yield f"{prefix}.present"
                yield from self.parts[0].names(prefix)
            case types.Record(fields=fields):
                for (name, _), part in zip(fields, self.parts, strict=True):
                    yield from part.names(f"{prefix}.{name}")
            case types.Union(records=records):
                yield f"{prefix}.record"
                for record, part in zip(records, self.parts, strict=True):
                    yield from part.names(f"{prefix}.{record.name}")
            case types.MapOf():
                for key in self.parts[0].domain:
                    yield from self.parts[1].names(f"{prefix}[{key!r}]")
            case types.SequenceOf():
                yield f"{prefix}.length"
                for position in range(self.domain.most):
                    yield from self.parts[0].names(f"{prefix}[{position}]")
            case ir.NoneType():
                pass
            case _:
                yield prefix

    def raw(self, value: Any) -> Iterator[Raw]:
        """Return the raw leaves of a value of the domain."""
        match self.type:
            case types.Bool() | types.Int():
                yield value
            case types.Optional() if value is None:
                yield from self.least
            case types.Optional():
                yield True
                yield from self.parts[0].raw(value)
            case types.Record(fields=fields):
                for (name, _), part in zip(fields, self.parts, strict=True):
                    yield from part.raw(getattr(value, name))
            case types.Union():
                chosen = next(number for number, part in enumerate(self.parts) if part.domain.contains(value))
                yield chosen
                for number, part in enumerate(self.parts):
                    yield from part.raw(value) if number == chosen else part.least
            case types.MapOf():
                yield from (raw for item in entries(value) for raw in self.parts[1].raw(item))
            case types.SequenceOf():
                yield len(value)
                yield from (raw for item in value for raw in self.parts[0].raw(item))
                yield from self.parts[0].least * (self.domain.most - len(value))
            case _:
                yield self.domain.rank(value)

    def value(self, leaves: tuple[Raw, ...]) -> Any:
        """Return the value of these raw leaves; the inverse of `raw`."""
        match self.type:
            case types.Bool():
                return bool(leaves[0])
            case types.Int():
                return leaves[0]
            case types.Optional():
                return self.parts[0].value(leaves[1:]) if leaves[0] else None
            case types.Record(python=python):
                return python(*(part.value(inner) for part, inner in self._inner(leaves)))
            case types.Union():
                return next(
                    part.value(inner)
                    for number, (part, inner) in enumerate(self._inner(leaves))
                    if number == leaves[0]
                )
            case types.MapOf():
                keys, value = self.parts
                found = tuple(self._items(value, leaves, 0, keys.domain.cardinality))
                return Map.made(self.domain.keys, found)
            case types.SequenceOf():
                return tuple(self._items(self.parts[0], leaves, 1, int(leaves[0])))
        return self.domain.value(leaves[0])

    def _inner(self, leaves: tuple[Raw, ...]) -> Iterator[tuple[Shape, tuple[Raw, ...]]]:
        for part, offset in zip(self.parts, self.offsets, strict=True):
            yield part, leaves[offset : offset + part.width]

    def _items(self, part: Shape, leaves: tuple[Raw, ...], begin: int, count: int) -> Iterator[Any]:
        for position in range(count):
            offset = begin + position * part.width
            yield part.value(leaves[offset : offset + part.width])

    def of_value(self, value: Any) -> tuple[Expression, ...]:
        """Return the leaves of a value of the domain, as constants."""
        return tuple(
            constant(sort or Number(0, 0), raw) for sort, raw in zip(self.sorts, self.raw(value), strict=True)
        )

    def of_rank(self, rank: int) -> tuple[Expression, ...]:
        """Return the leaves of the value at this position of the domain, as constants."""
        made = self._constants.get(rank)
        if made is None:
            made = self._constants[rank] = self.of_value(self.domain.value(rank))
        return made


def _lowest(sort: Sort | None) -> Raw:
    if isinstance(sort, Boolean):
        return False
    return sort.low if isinstance(sort, Number) else 0


class Shapes:
    """Shapes of all types of one program: one object for equal types."""

    def __init__(self, constants: Constants) -> None:
        self.constants = dict(constants)
        self._by_type: dict[types.Type, Shape] = {}
        self._by_object: dict[int, tuple[types.Type, Shape]] = {}

    def __getitem__(self, type: types.Type) -> Shape:
        found = self._by_object.get(id(type))
        if found is not None:
            return found[1]
        shape = self._by_type.get(type)
        if shape is None:
            parts = tuple(self[part] for part in types._parts(type))
            shape = self._by_type[type] = Shape(type, self.constants, parts)
        self._by_object[id(type)] = type, shape  # the type is kept, so that its number stays its own
        return shape
