"""Any Python object as an immutable value with a hash, and back: `freeze`, `thaw`.

Equal frozen values thaw into objects that behave alike. An object that is referred to twice is one object
again, and the order of a list or a dict is kept. A set has no order.

The protocol of `copy` and `pickle` (`__reduce_ex__`) says how an object is taken apart, so that dataclasses,
slots, deques, counters and generators of random numbers need no method of their own. Functions, classes and
modules stay what they are. What pickle refuses (a socket, a thread, an open file) is refused here.
"""

from __future__ import annotations

from collections.abc import Hashable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

__all__ = ["Unfreezable", "freeze", "thaw"]

_ITSELF = (int, str, bytes, complex, type(None), type(Ellipsis), range, Enum)
_NAMED = (type, FunctionType, BuiltinFunctionType, ModuleType)


class Unfreezable(TypeError):
    """Error: an object cannot be frozen; the message says which and why."""


def freeze(value: object) -> Hashable:
    """Return an immutable, hashable form of an object and of all objects that it refers to.

    Raises:
        Unfreezable: the object holds something that pickle refuses too.
    """
    return _Freezer().frozen(value)


def thaw(frozen: Hashable) -> Any:
    """Return a new object whose frozen form equals the argument."""
    return _Thawer().thawed(frozen)


class _Freezer:
    """State of `freeze`: the visited objects by identity, each with its number in the order of the visits."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.alive: list[object] = []  # an identity is given again when its object is gone

    def frozen(self, value: Any) -> Hashable:
        kind = type(value)
        if kind is float:
            return ("float", value.hex())  # nan is not equal to itself, and -0.0 to 0.0
        if isinstance(value, (*_ITSELF, *_NAMED)):
            return ("=", kind, value)  # with its type, since 1 == True == 1.0
        if kind in (set, frozenset):
            items = frozenset(map(freeze, value))
            if len(items) < len(value):
                raise Unfreezable("a set holds two objects that cannot be told apart by what they hold")
            return (kind.__name__, items)
        if (number := self.numbers.get(id(value))) is not None:
            return ("again", number)
        if kind is tuple:
            return ("tuple", tuple(map(self.frozen, value)))
        self.numbers[id(value)] = len(self.numbers)
        self.alive.append(value)
        if kind is list:
            return ("list", tuple(map(self.frozen, value)))
        if kind is bytearray:
            return ("bytearray", bytes(value))
        if kind is dict:
            return ("dict", self._pairs(value.items()))
        return self._reduced(value)

    def _pairs(self, items: Any) -> tuple[tuple[Hashable, Hashable], ...]:
        return tuple((self.frozen(key), self.frozen(item)) for key, item in items)

    def _reduced(self, value: Any) -> Hashable:
        try:
            told = value.__reduce_ex__(4)
        except Exception as error:
            raise Unfreezable(f"{type(value).__qualname__}: {error}") from error
        if isinstance(told, str):
            return ("=", type(value), value)  # the name of a global: a singleton
        make, arguments, state, listed, keyed, *more = (*told, None, None, None)[:6]
        if more and more[0] is not None:
            raise Unfreezable(f"{type(value).__qualname__}: it wants to be restored by a function of its own")
        return (
            "object",
            make,
            tuple(map(self.frozen, arguments)),
            None if state is None else self.frozen(state),
            tuple(map(self.frozen, listed or ())),
            self._pairs(keyed or ()),
        )


class _Thawer:
    """State of `thaw`: the objects that were made, in the order of the visits."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def thawed(self, frozen: Any) -> Any:
        match frozen:
            case ("=", _, value):
                return value
            case ("float", text):
                return float.fromhex(text)
            case ("again", number):
                return self.made[number]
            case ("set", items):
                return set(map(thaw, items))
            case ("frozenset", items):
                return frozenset(map(thaw, items))
            case ("tuple", items):
                return tuple(map(self.thawed, items))
            case ("list", items):
                made: Any = self._met([])
                made.extend(map(self.thawed, items))
                return made
            case ("bytearray", data):
                return self._met(bytearray(data))
            case ("dict", pairs):
                made = self._met({})
                made.update((self.thawed(key), self.thawed(item)) for key, item in pairs)
                return made
        return self._remade(*frozen[1:])

    def _met(self, value: Any) -> Any:
        self.made.append(value)
        return value

    def _remade(self, make: Any, arguments: Any, state: Any, listed: Any, keyed: Any) -> Any:
        place = len(self.made)
        self.made.append(None)  # numbered before what it is made of
        made = self.made[place] = make(*map(self.thawed, arguments))
        if state is not None:
            _set_state(made, self.thawed(state))
        for item in listed:
            made.append(self.thawed(item))
        for key, item in keyed:
            made[self.thawed(key)] = self.thawed(item)
        return made


def _set_state(made: Any, state: Any) -> None:
    """Set the state of a new object, as `copy.copy` does."""
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    inner, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    for name, item in {**(inner or {}), **(slots or {})}.items():
        object.__setattr__(made, name, item)


