"""Child processes that do a part of the work; Ctrl-C is handled by the parent alone.

A terminal sends the signal to all. A child that received it would print a traceback, or could do nothing
while it is importing. Children begin with the signal blocked, which they inherit; the parent receives it when
they have begun, and ends them.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.process import BaseProcess
from typing import Literal, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def done_by_children(
    jobs: int, method: Literal["fork", "spawn"], work: Callable[[T], R], items: Sequence[T]
) -> Iterator[R]:
    """Return the results of `work` for all items, in their order, computed by `jobs` processes.

    When the caller leaves early, or is interrupted, the processes are ended.

    Raises:
        BrokenProcessPool: a process was killed.
    """
    children: set[BaseProcess] = set()
    with ProcessPoolExecutor(jobs, multiprocessing.get_context(method)) as pool:
        try:
            with _beginning:
                before = set(multiprocessing.active_children())
                heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                try:
                    futures = [pool.submit(work, item) for item in items]
                finally:
                    children.update(set(multiprocessing.active_children()) - before)
                    signal.pthread_sigmask(signal.SIG_SETMASK, heard)
            futures.reverse()
            while futures:  # a result that was given is not kept
                yield futures.pop().result()
        except BaseException:  # the pool then breaks, which ends what waits in it
            for child in children:
                child.terminate()
            raise


_beginning = threading.Lock()
"""Lock that a call holds while it starts its processes, to tell them from those of other calls."""
