"""Search for the initial states, parameter by parameter: a guard that is already false excludes all values of
the later parameters.

1. The `@initial` method is run with a stand-in for each parameter that has no value yet. If a guard disables
   it before a stand-in is used, no values of the later parameters help. If a stand-in is used, the next
   parameter gets its values. So guards about the first parameters, written first, save most of the work.
2. A stand-in raises `Undecided` when it is used. Identity cannot be observed: parameters that an `is` may
   compare have their values from the beginning.
3. Each combination that is found is run once more with values only, so nothing depends on stand-ins in the
   end.

This file knows nothing of states.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from antiphon.spec.lang.errors import Disabled, SpecError
from antiphon.spec.lang.source import function_of


class TooManyBeginnings(SpecError):
    """Error: the parameters of the initial states have too many combinations to try."""


class Undecided(BaseException):
    """Signal that a stand-in was used. It is a BaseException, so that no handler of the specification's code
    catches it as an error.
    """


class StandIn:
    """Stand-in for a parameter that has no value yet."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        """Raise `Undecided` for every attribute, `__class__` included."""
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
    """Return the combinations of parameter values that the guards do not exclude early, in domain order.

    `attempt` runs the method `function` with values or stand-ins, and raises `Disabled` where a guard is
    false.
    """
    stand_ins = tuple(StandIn() for _ in names)
    sure = _first_sure(names, function)

    def further(given: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        if len(given) == len(names):
            yield given
        elif len(given) < sure or not _is_excluded(attempt, (*given, *stand_ins[len(given) :])):
            for value in ranges[len(given)]:
                yield from further((*given, value))

    return further(())


def _is_excluded(attempt: Callable[[tuple[Any, ...]], object], given: tuple[Any, ...]) -> bool:
    """Return True if a guard is false for `given`, and no stand-in was used before that guard."""
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
    """Return how many of the first parameters must get real values before the method is tried with stand-ins.

    A stand-in cannot notice that `is` compares it. So all parameters up to the last one that an `is` compares
    count. If an `is` compares a local variable, which may hold any parameter, all parameters count.
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
