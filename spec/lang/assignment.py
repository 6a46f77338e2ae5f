"""Assignment to a place of the state: the value must belong to the domain of the place. A set is stored as a
frozenset, and a map gets the keys of its type.

A map that is read from a state variable is *live*: it knows its place, and assigning to it puts a changed map
there. A state itself holds a variable that is a map as the tuple of its values. This file knows nothing of
methods and steps.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from typing import Any, cast

from antiphon.spec.lang import types
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.maps import Map
from antiphon.spec.lang.values import Everywhere, describe


def store(value: object, domain: types.Domain, where: object) -> Any:
    """Check `value` for a place of this domain, and return it as the place stores it: a displayed set becomes
    a frozenset, a map gets the keys of its type. `where` names the place in messages.

    Raises:
        SpecError: the value leaves the domain.
    """
    kept = _with_maps(value, domain, where) if domain.has_map else settled(value)
    if not domain.contains(kept):
        if isinstance(domain.type, types.MapOf) and isinstance(kept, Map):
            for key, item in zip(kept.order.positions, kept.entries, strict=True):
                store(item, domain.parts[1], f"{where}[{key!r}]")
        raise SpecError(f"{where} = {value!r} leaves its domain, {describe(domain)}")
    return kept


def settled(value: Any) -> Any:
    """Return `value` as it is passed on to other code: a displayed set as a frozenset, a live map as a plain
    value.
    """
    if isinstance(value, Map):
        return value.away()
    return frozenset(value) if isinstance(value, set) else value


def settle_fields(made: object, domain: types.Domain) -> None:
    """Give the maps in a new record the keys of their types."""
    assert isinstance(domain.type, types.Record)
    for (name, _), part in zip(domain.type.fields, domain.parts, strict=True):
        if part.has_map:
            what = f"{domain.type.name}.{name}"
            object.__setattr__(made, name, _with_maps(getattr(made, name), part, what))


def _with_maps(value: Any, domain: types.Domain, where: object) -> Any:
    """Return `value`, with each map given the keys of its type; a value that does not fit stays as it is."""
    parts = domain.parts
    match domain.type:
        case types.MapOf():
            return _total(value, domain, where)
        case types.Optional() if value is not None:
            return _with_maps(value, parts[0], where)
        case types.SetOf() if isinstance(value, set | frozenset):
            return frozenset(_with_maps(item, parts[0], where) for item in value)
        case types.SequenceOf() if isinstance(value, tuple):
            return tuple(_with_maps(item, parts[0], where) for item in value)
        case types.Record(python=python, fields=fields) if type(value) is python:
            before = [getattr(value, name) for name, _ in fields]
            after = [_with_maps(item, part, where) for item, part in zip(before, parts, strict=True)]
            changed = any(new is not old for new, old in zip(after, before, strict=True))
            return python(*after) if changed else value
        case types.Union(records=records):
            for record_type, part in zip(records, parts, strict=True):
                if type(value) is record_type.python:
                    return _with_maps(value, part, where)
    return settled(value)


def _total(value: Any, domain: types.Domain, where: object) -> Any:
    keys, values = domain.keys, domain.parts[1]
    if isinstance(value, Map):
        if not keys.same(value.order):
            return value
        if value.order is keys and not values.has_map:
            return value.away()
        given = dict(zip(keys.positions, value.entries, strict=True))
    elif isinstance(value, Everywhere):
        given = dict.fromkeys(keys.positions, value.value)
    elif isinstance(value, dict) and set(value) == set(keys.positions):
        given = value
    else:
        instead = "everywhere(value), or {key: value for key in self.each(Key)}"
        raise SpecError(f"{where} is a map, and not {value!r}", instead=instead)
    return Map.made(keys, tuple(store(given[key], values, f"{where}[{key!r}]") for key in keys.positions))


def frozen(value: Any, domain: types.Domain) -> Any:
    """Return the value of a variable of this domain as a state holds it: a map becomes the tuple of its
    values.
    """
    return value.freeze() if isinstance(domain.type, types.MapOf) and isinstance(value, Map) else value


def live(value: Any, place: Variable) -> Map[Any, Any]:
    """Return a map that can be assigned to, made from `value`, the form in which a state holds the map."""
    return Map.made(place.domain.keys, _thawed(value, place.domain), place)


def _thawed(value: tuple[Any, ...], domain: types.Domain) -> tuple[Any, ...]:
    values = domain.parts[1]
    if not isinstance(values.type, types.MapOf):
        return tuple(value)
    return tuple(Map.made(values.keys, _thawed(item, values)) for item in value)


class Place(ABC):
    """Place in the state where a map belongs. A value assigned to the map is checked and stored through
    it.
    """

    __slots__ = ("domain",)
    domain: types.Domain

    @abstractmethod
    def present(self) -> Map[Any, Any]:
        """Return the map that the state holds at this place now."""

    @abstractmethod
    def hold(self, changed: Map[Any, Any]) -> None:
        """Make `changed` the map at this place."""

    def entry(self, key: object) -> Place | None:
        """Return the place of one value of the map, if its values are maps."""
        return _Entry(self, key) if isinstance(self.domain.parts[1].type, types.MapOf) else None

    def assign(self, entries: tuple[Any, ...], position: int, key: object, value: object) -> None:
        """Put the map of `entries` at this place, with `value` at position `position`, which is that of
        `key`.

        Raises:
            SpecError: the value leaves its domain.
        """
        kept = store(value, self.domain.parts[1], _Entry(self, key))
        self.hold(Map.made(self.domain.keys, (*entries[:position], kept, *entries[position + 1 :])))


class Variable(Place):
    """A state variable that is a map, in an instance of its specification."""

    __slots__ = ("instance", "name")

    def __init__(self, instance: object, name: str, domain: types.Domain) -> None:
        self.instance, self.name, self.domain = weakref.ref(instance), name, domain

    def present(self) -> Map[Any, Any]:
        """Return the map that is the variable's present value."""
        return cast("Map[Any, Any]", getattr(self.instance(), self.name))

    def hold(self, changed: Map[Any, Any]) -> None:
        """Make `changed` the value of the variable."""
        vars(self.instance())[self.name] = Map.made(changed.order, changed.entries, self)

    def __str__(self) -> str:
        return f"self.{self.name}"


class _Entry(Place):
    """Place of a map that is itself the value at a key of another map."""

    __slots__ = ("key", "outer")

    def __init__(self, outer: Place, key: object) -> None:
        self.outer, self.key, self.domain = outer, key, outer.domain.parts[1]

    def present(self) -> Map[Any, Any]:
        return cast("Map[Any, Any]", self.outer.present()[self.key])

    def hold(self, changed: Map[Any, Any]) -> None:
        self.outer.hold(self.outer.present() | {self.key: changed})

    def __str__(self) -> str:
        return f"{self.outer}[{self.key!r}]"
