"""Named states: a state by the names of its variables, and a map by its keys, in place of bare tuples.

Both are still tuples, and equal the bare ones, so that functions of a state take them. Only `map[key]` means
the value at that key, as in a specification. They print in the short notation; copies are bare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar, NamedTuple

from antiphon.model.notation import compact
from antiphon.spec.lang import Program, State, types
from antiphon.spec.lang.errors import MissingKey


class NamedMap(tuple[Any, ...]):
    """Value of a map: a tuple of the values in key order, which can be indexed by a key. Each type of maps
    has a subclass.
    """

    __slots__ = ()
    _domain: ClassVar[types.Domain]

    def __getitem__(self, key: Any) -> Any:
        """Return the value at a key.

        Raises:
            MissingKey: there is no such key; a KeyError that lists those that there are.
        """
        keys = self._domain.parts[0]
        if not keys.contains(key):
            raise MissingKey(f"{key!r} is no key of this map; its keys are {', '.join(map(repr, keys))}")
        return super().__getitem__(keys.rank(key))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Return each key with its value."""
        return zip(self._domain.parts[0], self, strict=True)

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{compact(key)}: {text(value)}" for key, value in self.items()) + "}"

    def __reduce__(self) -> Any:
        return _bare(self)


def named_states(program: Program) -> Callable[[State], State]:
    """Return a function that turns a state of the program into a named tuple: `state.holding[Process(0)]`,
    `state._asdict()`.
    """
    make: Any = NamedTuple
    bare = make("State", [(name, Any) for name in program.variables])
    kind = type("State", (bare,), {"__slots__": (), "__repr__": _state_text, "__reduce__": _bare})
    domains = program.domains.values()

    def name(state: State) -> State:
        named: State = kind(*(_named(value, domain) for value, domain in zip(state, domains, strict=True)))
        return named

    return name


def _state_text(state: Any) -> str:
    return f"State({', '.join(f'{name}={text(value)}' for name, value in state._asdict().items())})"


def text(value: Any) -> str:
    """Return the value of a variable in the short notation, a map with its keys: `{p0: True, p1: False}`."""
    return repr(value) if isinstance(value, NamedMap) else compact(value)


def _bare(state: State) -> Any:
    return tuple, (tuple(state),)


def _named(value: Any, domain: types.Domain) -> Any:
    if not isinstance(domain.type, types.MapOf):
        return value
    return _map_class(domain)(_named(item, domain.parts[1]) for item in value)


@cache
def _map_class(domain: types.Domain) -> type[NamedMap]:
    return type("NamedMap", (NamedMap,), {"__slots__": (), "_domain": domain})
