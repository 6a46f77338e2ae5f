"""The ways to begin are found parameter by parameter: a guard that is false whatever the later parameters are
leaves all of them out.

1. The method is run with a stand-in for each parameter that has no value yet. Where it is disabled before it
   looks at one, no value of them makes it possible; where it looks at one, the next parameter gets its
   values. So guards about the first parameters, written first, keep many starts from being tried.
2. A stand-in shows that it is looked at by raising `Undecided`. Identity cannot be watched: parameters that
   an `is` may be about have their values before anything is left out.
3. Every way to begin that is found is run as a whole, with values only: what is left out is all that depends
   on stand-ins.

This file knows nothing of states.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from antiphon.spec.lang.errors import Disabled, SpecError
from antiphon.spec.lang.source import function_of


class TooManyBeginnings(SpecError):
    """There are more ways to begin than anybody could wait for."""


class Undecided(BaseException):
    """A stand-in was looked at; no error, so that nothing takes it for one."""


class StandIn:
    """A parameter that has no value yet."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Whatever is asked of it, also its class."""
        raise Undecided

    def _looked_at(self, *_: object) -> Any:
        raise Undecided

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _looked_at
    __hash__ = __bool__ = __int__ = __index__ = __len__ = __iter__ = __contains__ = __getitem__ = _looked_at
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __abs__ = _looked_at
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _looked_at
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __call__ = _looked_at
    __str__ = __repr__ = __format__ = _looked_at


def possible(
    names: Sequence[str],
    ranges: Sequence[Iterable[Any]],
    function: Callable[..., Any],
    attempt: Callable[[tuple[Any, ...]], object],
) -> Iterator[tuple[Any, ...]]:
    """The values of the parameters that the guards do not leave out before all have one, in domain order.

    `attempt` runs the method `function` with values or stand-ins, and raises `Disabled` where a guard is
    false.
    """
    stand_ins = tuple(StandIn() for _ in names)
    sure = _first_sure(names, function)

    def further(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if len(given) == len(names):
            yield given
        elif len(given) < sure or not _is_out(attempt, (*given, *stand_ins[len(given) :])):
            for value in ranges[len(given)]:
                yield from further((*given, value))

    return further(())


def _is_out(attempt: Callable[[tuple[Any, ...]], object], given: tuple[Any, ...]) -> bool:
    """Return True if a guard is false without a look at a stand-in."""
    try:
        attempt(given)
    except Disabled:
        return True
    except TooManyBeginnings:
        raise
    except (Undecided, SpecError):
        return False
    return False


def _first_sure(names: Sequence[str], function: Callable[..., Any]) -> int:
    """Return how many parameters, from the first on, must have values because an `is` may be about them: all
    where it is about a local, which may be any of them.
    """
    _, node = function_of(function)
    named = {
        part.id
        for compared in ast.walk(node)
        if isinstance(compared, ast.Compare)
        and any(isinstance(way, ast.Is | ast.IsNot) for way in compared.ops)
        for part in ast.walk(compared)
        if isinstance(part, ast.Name)
    }
    locals_of = {*function.__code__.co_varnames, *function.__code__.co_cellvars} - {*names, "self"}
    if named & locals_of:
        return len(names)
    return max((place + 1 for place, name in enumerate(names) if name in named), default=0)
