"""Event loop of a member that brings its own: uvloop's where it is installed, else asyncio's.

`pip install antiphon[fast]` installs uvloop. An application that runs asyncio itself chooses its loop itself.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["new_event_loop", "run"]

T = TypeVar("T")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a loop of uvloop if it is installed, else of asyncio."""
    if importlib.util.find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop  # here: it is an extra

    return uvloop.new_event_loop()


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end like `asyncio.run`, on a loop of uvloop if it is installed."""
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
