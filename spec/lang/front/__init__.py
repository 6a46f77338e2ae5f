"""Python text becomes a specification: each method is parsed, typed, checked and turned into the intermediate
form.

`read` is the whole interface. What is not in the language, ill-typed, aliased, recursive or dependent on an
order that does not exist is a `SpecError` with file, line, column, the reason and the supported way to write
it; no other exception leaves this package. It never runs the text of a specification.
"""

from __future__ import annotations

from functools import cache, lru_cache

from antiphon.spec.lang import ir
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.front import table
from antiphon.spec.lang.front.reader import Reader
from antiphon.spec.lang.source import is_settled, place_of
from antiphon.spec.lang.variants import has_stand_in

__all__ = ["read"]

table.install()


def read(cls: type) -> ir.Module:
    """Return the intermediate form of a specification class, the same for all constants. It is cached for
    good if the class is settled (`is_settled`), else for a while.

    Raises:
        SpecError: the text is not a specification; the error says where and what to write instead.
    """
    if is_settled(cls):
        return _read_once(cls)
    return _read_lately(cls) if has_stand_in(cls) else _read(cls)


def _read(cls: type) -> ir.Module:
    try:
        return Reader(cls).module()
    except SpecError as error:
        if error.at is None:
            raise SpecError(error.reason, place_of(cls), error.instead) from error
        raise
    except RecursionError as error:
        raise SpecError(
            "an expression or a nesting is too deep to read",
            place_of(cls),
            "a local for a part of it, or a helper",
        ) from error


_read_once = cache(_read)
_read_lately = lru_cache(maxsize=16)(_read)
