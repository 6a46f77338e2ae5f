"""A map is a total function as a value: it has a value for every key, equals maps that agree with it, and
never changes.

`m | {key: value}` is another map. Only the map of a state variable is assigned to, `self.clock[p] = 1`: that
puts another map in its place, and what was read before stays what it was. This file knows nothing of types
and machines.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Protocol, Self, TypeVar, cast

from antiphon.spec.lang.errors import SpecError

K = TypeVar("K")
V = TypeVar("V")


class Home(Protocol):
    """Place in the state to which a map belongs, so that the map can be assigned to."""

    def entry(self, key: object) -> Home | None:
        """Return the place of the map at `key`, if the values are maps themselves; else None."""

    def assign(self, items: tuple[Any, ...], position: int, key: object, value: object) -> None:
        """Check `value`, and put the map of `items`, with `value` at this position, at this place of the
        state.
        """


class Keys:
    """Keys of a map in order, with their positions; `inner` are the keys of its values in a map of maps."""

    __slots__ = ("inner", "positions")

    def __init__(self, keys: Iterable[Any], inner: Keys | None = None) -> None:
        self.positions = {key: position for position, key in enumerate(keys)}
        self.inner = inner

    def same(self, other: Keys) -> bool:
        """Return True if `other` has the same keys in the same order."""
        return self is other or list(self.positions) == list(other.positions)


class Map(Generic[K, V]):
    """A total map from every value of `K`: `Map({p: 0 for p in self.each(Process)})`, or `everywhere(0)` in a
    place of declared type.

    Read it with `m[key]`; `m | {key: value}` is the map that differs from it there. The keys of a dict are
    put in domain order where they are members of an index set or an enumeration, booleans or integers.
    """

    __slots__ = ("_home", "entries", "order")
    order: Keys
    entries: tuple[Any, ...]
    """The values in the order of the keys."""
    _home: Home | None

    def __init__(self, given: Mapping[K, V]) -> None:
        placed = [_place(key) for key in given]
        keys = list(given) if None in placed else sorted(given, key=cast("Any", _place))
        self.order, self._home = Keys(keys), None
        self.entries = tuple(_settled(given[key]) for key in keys)

    @classmethod
    def made(cls, keys: Keys, items: tuple[Any, ...], home: Home | None = None) -> Self:
        """Make a map with these values, in the order of `keys`; a map with a home can be assigned to."""
        self = object.__new__(cls)
        self.order, self.entries, self._home = keys, items, home
        return self

    def _position(self, key: object) -> int:
        try:
            return self.order.positions[key]
        except (KeyError, TypeError):
            where = self._home or "the map"
            known = list(self.order.positions)
            few = ", ".join(map(repr, known[:4])) + (f", ... {len(known)} in all" if len(known) > 4 else "")
            raise SpecError(f"{where}[{key!r}]: no such key; the keys are {few}") from None

    def __getitem__(self, key: K) -> V:
        item = self.entries[self._position(key)]
        if self._home is not None and isinstance(item, Map):
            item = Map.made(item.order, item.entries, self._home.entry(key))
        return cast(V, item)

    def __setitem__(self, key: K, value: V) -> None:
        position = self._position(key)
        if self._home is None:
            raise SpecError("a map is a value and never changes", instead="m | {key: value}")
        self._home.assign(self.entries, position, key, value)

    def __or__(self, changes: Mapping[K, V]) -> Map[K, V]:
        items = list(self.entries)
        for key, value in changes.items():
            items[self._position(key)] = _settled(value)
        return Map.made(self.order, tuple(items))

    def __iter__(self) -> Iterator[K]:
        raise SpecError(f"{self._home or 'this'} is a map: range over its keys with self.each(...)")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Map):
            return NotImplemented
        return self.entries == other.entries and self.order.same(other.order)

    def __hash__(self) -> int:
        return hash(self.entries)

    def __repr__(self) -> str:
        return f"Map({{{', '.join(f'{key!r}: {value!r}' for key, value in self.items())}}})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Map.made, (self.order, self.entries)

    def items(self) -> Iterator[tuple[K, V]]:
        """Return each key with its value; for tools, since a specification ranges over the keys."""
        return zip(self.order.positions, self.entries, strict=True)

    def away(self) -> Map[K, V]:
        """Return a copy of the map without its home in the state, so that it cannot be assigned to."""
        return self if self._home is None else Map.made(self.order, self.entries)

    def freeze(self) -> tuple[Any, ...]:
        """Return this map as a state holds it: the tuple of its values in the order of the keys. For a map of
        maps this is a tuple of tuples.
        """
        return self.entries if self.order.inner is None else tuple(item.freeze() for item in self.entries)


def entries(value: Any) -> tuple[Any, ...]:
    """Return the values of a map in the order of its keys; `value` may also be the tuple in which a state
    holds them.
    """
    return value.entries if isinstance(value, Map) else value


def _settled(value: Any) -> Any:
    if isinstance(value, Map):
        return value.away()
    return frozenset(value) if isinstance(value, set) else value


def _place(key: object) -> int | None:
    """Return the position of a key among the values of its type if the key itself shows it, else None."""
    if isinstance(key, enum.Enum):
        return list(type(key)).index(key)
    if isinstance(key, int) or dataclasses.is_dataclass(key):
        return key if isinstance(key, int) else None
    number = getattr(key, "index", None)
    return number if isinstance(number, int) else None
