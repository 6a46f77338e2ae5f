"""Reports of long work, piece by piece, so that the caller can check the time.

`working` costs next to nothing when there is no watcher. A watcher ends the work by raising an exception.
Each thread has its own watchers.

This file knows no clock and no bound.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Watcher = Callable[[str], None]
"""Function that is called from time to time with the name of the work being done."""

SMALL = 64
"""Number of small pieces of work for each call of the watcher."""



class _Here(threading.local):
    """Watchers of this thread, and how many pieces of small work are left until a watcher is called."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []
        self.left = SMALL


_here = _Here()
_watched: list[None] = []
"""List with one None for each watcher of any thread. Empty: no thread need look for its watcher."""


def working(what: str, *, large: bool = False) -> None:
    """Report that one more piece of the work named `what` begins; mark it `large` if it takes longer than
    reading the clock.
    """
    if _watched:
        here = _here
        here.left -= 1
        if (large or here.left <= 0) and here.watchers:
            here.left = SMALL
            here.watchers[-1](what)


def unwatched() -> AbstractContextManager[None]:
    """Context in which no watcher is called, so that none can end the work."""
    return watched_by(lambda _: None)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Context in which this watcher alone is called for all work inside."""
    _here.watchers.append(watcher)
    _watched.append(None)
    try:
        yield
    finally:
        _watched.pop()
        _here.watchers.pop()
