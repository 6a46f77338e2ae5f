"""End of the command's process, in which code that is not ours may have left threads and exit handlers."""

from __future__ import annotations

import atexit
import sys
import threading
import time
from contextlib import suppress

from antiphon.spec.lang.calls import done
from antiphon.spec.lang.foreign import end_process, settle, writable

THREADS_S = 1.0
"""Seconds for which threads are waited for that are running when the work is done."""


def _end_pools() -> None:
    """Tell the idle threads of pools to end, as Python does when a process ends; it then waits for them."""
    pools = getattr(sys.modules.get("concurrent.futures.thread"), "__dict__", {})
    if "_threads_queues" in pools:
        pools["_shutdown"] = True
        for work in list(pools["_threads_queues"].values()):
            work.put(None)


def end(code: int) -> None:
    """Fix the exit code, and wait for the threads that are still running; those that go on are named, and the
    process ends without them.
    """
    settle(code)  # neither a thread nor an exit handler that the code under check left has a say
    _end_pools()
    until = time.monotonic() + THREADS_S
    others = [item for item in threading.enumerate() if item is not threading.main_thread()]
    waited = [item for item in others if not item.daemon]
    for item in waited:
        item.join(max(0.0, until - time.monotonic()))
    left = [item for item in waited if item.is_alive()]
    done(code)
    if not left:
        return
    with suppress(OSError, ValueError):
        names = ", ".join(writable(item.name) for item in left)
        sys.stderr.write(f"antiphon: the code under check has left threads running, which end now: {names}\n")
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    end_process(code)
