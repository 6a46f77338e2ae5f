"""Whoever works long says what it does, piece by piece, so that whoever asked for it can look at the time.

`working` costs next to nothing where nobody watches. A watcher ends the work by raising an exception.

This file knows no clock and no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Watcher = Callable[[str], None]
"""Told now and then what is being done."""

SMALL = 64
"""A watcher is told of one piece of small work in so many."""

_watchers: list[Watcher] = []
_left = [SMALL]


def working(what: str, *, large: bool = False) -> None:
    """One more piece of this work is begun; a `large` one takes longer than a look at the clock."""
    if _watchers:
        _left[0] -= 1
        if large or _left[0] <= 0:
            _left[0] = SMALL
            _watchers[-1](what)


def unwatched() -> AbstractContextManager[None]:
    """Nobody ends what works inside."""
    return watched_by(lambda _: None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Whatever works inside tells this watcher, and no other."""
    _watchers.append(watcher)
    try:
        yield
    finally:
        _watchers.pop()
