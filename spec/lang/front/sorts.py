"""Static types of expressions: which value may stand where a type is declared, the common type of two
branches, and which value certainly fits.

The *exact* type of an integer expression is an interval when it is known (`Int`), else `INTEGER`; the type
that a node of the intermediate form carries is its *surface*: `INTEGER` for both. This file knows nothing of
Python's syntax.
"""

from __future__ import annotations

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.types import Type

NONE = ir.NoneType()


def surface(exact: Type) -> Type:
    """Return the type that a node carries: a plain integer loses its bounds."""
    return ir.INTEGER if isinstance(exact, types.Int) else exact


def is_integer(exact: Type) -> bool:
    """Return True if the values are integers."""
    return isinstance(exact, types.Int | ir.Integer)


def records_of(exact: Type) -> tuple[types.Record, ...]:
    """Return the records that a value of a record or union type may be."""
    if isinstance(exact, types.Record):
        return (exact,)
    return exact.records if isinstance(exact, types.Union) else ()


def accepts(wanted: Type, given: Type) -> bool:
    """Return True if a value of type `given` may stand where `wanted` is declared; bounds and lengths are
    checked when it is stored.
    """
    match wanted, given:
        case ((types.Int() | ir.Integer()), (types.Int() | ir.Integer())):
            return True
        case types.Optional(of=of), types.Optional(of=inner):
            return accepts(of, inner)
        case types.Optional(of=of), _:
            return given == NONE or accepts(of, given)
        case ((types.Record() | types.Union()), (types.Record() | types.Union())):
            return set(records_of(given)) <= set(records_of(wanted))
        case types.SequenceOf(of=of), types.SequenceOf(of=inner, most=most):
            return of == inner or most == 0
        case types.MapOf(key=key, value=of), types.MapOf(key=other, value=inner):
            return key == other and accepts(of, inner)
        case _:
            return wanted == given


def fits(wanted: Type, given: Type) -> bool:
    """Return True if every value of `given` is certainly in the domain of `wanted`, whatever the constants
    are.
    """
    match wanted, given:
        case ir.Integer(), _:
            return is_integer(given)
        case types.Int(low=low, high=high), types.Int(low=least, high=most):
            above = low == least or (isinstance(low, int) and isinstance(least, int) and least >= low)
            below = high == most or (isinstance(high, int) and isinstance(most, int) and most <= high)
            return above and (below or most == low)
        case types.Int(), _:
            return False
        case types.Optional(of=of), types.Optional(of=inner):
            return fits(of, inner)
        case types.Optional(of=of), _:
            return given == NONE or fits(of, given)
        case types.SequenceOf(of=of, most=most), types.SequenceOf(of=inner, most=length):
            return fits(of, inner) and (
                length == most
                or length == 0
                or (isinstance(length, int) and isinstance(most, int) and length <= most)
            )
        case types.MapOf(key=key, value=of), types.MapOf(key=other, value=inner):
            return key == other and fits(of, inner)
        case _:
            return accepts(wanted, given)


def join(first: Type, second: Type) -> Type | None:
    """Return the narrowest type that holds the values of both types, or None if they are of different
    sorts.
    """
    if first == second:
        return first
    if isinstance(first, types.Int) and isinstance(second, types.Int):
        return _hull(first, second)
    if is_integer(first) and is_integer(second):
        return ir.INTEGER
    if first == NONE or second == NONE:
        other = second if first == NONE else first
        return other if isinstance(other, types.Optional) else types.Optional(other)
    if isinstance(first, types.Optional) or isinstance(second, types.Optional):
        inner = join(
            first.of if isinstance(first, types.Optional) else first,
            second.of if isinstance(second, types.Optional) else second,
        )
        return None if inner is None else types.Optional(inner)
    if records_of(first) and records_of(second):
        return types.Union(tuple(dict.fromkeys(records_of(first) + records_of(second))))
    if isinstance(first, types.SequenceOf) and isinstance(second, types.SequenceOf):
        return _longer(first, second)
    if isinstance(first, types.MapOf) and isinstance(second, types.MapOf) and first.key == second.key:
        value = join(first.value, second.value)
        return None if value is None else types.MapOf(first.key, value)
    return None


def _hull(first: types.Int, second: types.Int) -> Type:
    low, high = first.low, first.high
    if first.low != second.low:
        if not isinstance(first.low, int) or not isinstance(second.low, int):
            return ir.INTEGER
        low = min(first.low, second.low)
    if first.high != second.high:
        if isinstance(first.high, int) and isinstance(second.high, int):
            high = max(first.high, second.high)
        elif isinstance(second.high, int) and isinstance(first.low, int) and second.high <= first.low:
            high = first.high
        elif isinstance(first.high, int) and isinstance(second.low, int) and first.high <= second.low:
            high = second.high
        else:
            return ir.INTEGER
    return types.Int(low, high)


def _longer(first: types.SequenceOf, second: types.SequenceOf) -> Type | None:
    if first.of != second.of:
        return second if first.most == 0 else first if second.most == 0 else None
    if isinstance(first.most, int) and isinstance(second.most, int):
        return types.SequenceOf(first.of, max(first.most, second.most))
    return types.SequenceOf(first.of, plus(first.most, second.most))


def plus(size: int | str, more: int | str) -> int | str:
    """Return the sum of two sizes."""
    if isinstance(size, int) and isinstance(more, int):
        return size + more
    if size == 0 or more == 0:
        return more if size == 0 else size
    if isinstance(more, int):
        return f"({size}) {'+' if more > 0 else '-'} {abs(more)}"
    return f"({size}) + ({more})"


def cardinality(exact: Type) -> int | str | None:
    """Return the number of values of a boolean, integer, enumeration or index type, as a size; None for a
    type with parts.
    """
    match exact:
        case types.Bool():
            return 2
        case types.Enumeration(members=members):
            return len(members)
        case types.IndexType(size=size):
            return size
        case types.Int(low=int(low), high=high):
            return plus(high, 1 - low)
        case types.Int(low=low, high=high):
            return f"({high}) - ({low}) + 1"
    return None


def is_finite(exact: Type) -> bool:
    """Return True if the type has a domain: no unbounded integer in it."""
    match exact:
        case ir.Integer() | ir.NoneType():
            return False
        case types.Optional(of=of) | types.SetOf(of=of) | types.SequenceOf(of=of):
            return is_finite(of)
        case types.MapOf(value=value):
            return is_finite(value)
    return True


def is_ordered(exact: Type) -> bool:
    """Return True if domain order has a meaning that the author may rely on: everything but indices that are
    not `ordered`, and sets.
    """
    match exact:
        case types.IndexType(ordered=ordered):
            return ordered
        case types.Optional(of=of) | types.SequenceOf(of=of):
            return is_ordered(of)
        case types.Record(fields=fields):
            return all(is_ordered(part) for _, part in fields)
        case types.Union(records=records):
            return all(is_ordered(part) for part in records)
        case types.SetOf() | types.MapOf():
            return False
    return True


def words(exact: Type) -> str:
    """Return the type as an author would write it."""
    match exact:
        case types.Bool():
            return "bool"
        case types.Int(low=low, high=high):
            return f"an integer from {low} to {high}" if low != high else f"the integer {low}"
        case ir.Integer():
            return "int"
        case ir.NoneType():
            return "None"
        case types.Optional(of=of):
            return f"{words(of)} | None"
        case types.Union(records=records):
            return " | ".join(item.name for item in records)
        case types.SetOf(of=of):
            return f"Set[{words(of)}]"
        case types.MapOf(key=key, value=value):
            return f"Map[{words(key)}, {words(value)}]"
        case types.SequenceOf(of=of):
            return f"Seq[{words(of)}]"
    return str(getattr(exact, "name", exact))
