"""Child processes that do a part of the work; Ctrl-C is handled by the parent alone.

A terminal sends the signal to all. A child that received it would print a traceback, or could do nothing
while it is importing. Children begin with the signal blocked, which they inherit; the parent receives it when
they have begun, and ends them. A child whose parent was killed ends itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing.process import BaseProcess
from typing import Literal, TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 1_000
"""Largest number of items whose results are awaited at a time."""


def done_by_children(
    jobs: int, method: Literal["fork", "spawn"], work: Callable[[T], R], items: Iterable[T]
) -> Iterator[R]:
    """Return the results of `work` for all items, in their order, computed by `jobs` processes.

    Items are taken as they are needed, at most `AHEAD` before their results. When the caller leaves early, or
    is interrupted, the processes are ended.

    Raises:
        BrokenProcessPool: a process was killed.
    """
    children: set[BaseProcess] = set()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context(method), initializer=_end_with_parent) as pool:
        left, futures = iter(items), deque[Future[R]]()
        try:
            while True:
                more = list(islice(left, AHEAD - len(futures)))
                with _beginning:
                    before = set(multiprocessing.active_children())
                    heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                    try:
                        futures.extend(pool.submit(work, item) for item in more)
                    finally:
                        children.update(set(multiprocessing.active_children()) - before)
                        signal.pthread_sigmask(signal.SIG_SETMASK, heard)
                if not futures:
                    break
                yield futures.popleft().result()  # a result that was given is not kept
        except BaseException:  # the pool then breaks, which ends what waits in it
            for child in children:
                child.terminate()
            raise


def _end_with_parent() -> None:
    """Let this child end when its parent does."""
    parent = multiprocessing.parent_process()
    assert parent is not None, "this is a child"

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


_beginning = threading.Lock()
"""Lock that a call holds while it starts its processes, to tell them from those of other calls."""
