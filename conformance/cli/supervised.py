"""Work in a process of its own, where code that is not ours is called in the process that works.

Such code may never return though it is interrupted, kill its process, or make it crash. The process that the
user started then knows by which call (`spec/lang/calls.py`), ends the working process, and has the work done
again without this call, whose end is a finding now. So it has the shortest steps, and is in every report.

This file imports nothing of the house but the record of calls.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from antiphon.spec.lang.calls import GAVE_UP, Call, Record, noted_in

WITH_CODE = frozenset({"lockstep", "replay", "stateful", "trace", "simulate", "check", "find", "swarm"})
"""Commands that call code of the user in their own process."""

GRACE_S = 2.0
"""Seconds that a call may take beyond its own, until which it is interrupted by gentler means; also that a
process may take to end when its work is done.
"""

ENDS_MAX = 30
"""Largest number of times that the work is done again."""

VIOLATED, UNKNOWN = 1, 2

_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_OF_KERNEL = 128
"""Sender of a signal (`si_code`) that the terminal sent: to the working process too."""


def is_wanted(given: Sequence[str]) -> bool:
    """Return True if the command that these arguments name may call code of the user in its own process."""
    names_code = any(".py" in word or ":" in word for word in given[1:])
    return (
        bool(given)
        and given[0] in WITH_CODE
        and (names_code or given[0] == "replay")
        and not {"--help", "-h"} & set(given)
        and hasattr(signal, "sigtimedwait")
    )


def supervised(given: Sequence[str], began: float) -> int | None:
    """Fork a process that does the work, as often as needed, and return its exit code; return None in the
    forked process, which does the work.
    """
    record, doubtful = Record(), set[Call]()
    bound_s = _bound_s(given)
    while True:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {*_PASSED_ON, signal.SIGCHLD})
        child = os.fork()
        if child == 0:
            _dies_with_parent()
            noted_in(record)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            return None
        until = None if bound_s is None else began + record.lost_s + bound_s
        status, ended_by_us, call_s = _watched(child, record, until)
        _, seconds, call, words = record.read()
        code = os.waitstatus_to_exitcode(status)
        if call is not None and call.what == "the end":
            return int(words)
        if code >= 0 and code != GAVE_UP:
            return code
        if call is None:
            return _dies_alike(-code)
        if code == GAVE_UP:
            pass
        elif ended_by_us:
            over = ", and the time of --max-seconds is over" if seconds == math.inf else ""
            words = f"{call.what} does not return{over or ', and lets nothing interrupt it'}"
        else:
            words = f"{call.what} is ended by {signal.Signals(-code).name}"
            if -code == signal.SIGKILL and call not in doubtful:
                doubtful.add(call)  # it may have come from elsewhere: it counts if it comes again
                record.write(None)
                continue
        if call in record.known or len(record.known) >= ENDS_MAX:
            return _told(call, words)
        record.known[call] = words
        record.lost_s += call_s
        record.write(None)


def _watched(child: int, record: Record, until: float | None) -> tuple[int, bool, float]:
    """Wait for a process; end it if a call of foreign code takes longer than it may, and at a call that may
    take any time when the bound of the command is over. Return its status, whether it was ended, and the
    seconds of its last call.
    """
    number, since, ended = -1, time.monotonic(), False
    called = since
    while True:
        told = signal.sigtimedwait({*_PASSED_ON, signal.SIGCHLD}, 0.2)
        if told is not None and told.si_signo in _PASSED_ON and told.si_code != _OF_KERNEL:
            with suppress(ProcessLookupError):
                os.kill(child, told.si_signo)
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return status, ended, time.monotonic() - called
        now, (at, seconds, call, _) = time.monotonic(), record.read()
        if at != number:
            number, since = at, now
            called = now if seconds > 0 else called  # of a call that gives up, which began before
        late = call is not None and (
            now - since > seconds + GRACE_S
            or (until is not None and now > until + GRACE_S and now - since > GRACE_S)
        )
        if late and not ended:
            ended = True
            os.kill(child, signal.SIGKILL)


def _bound_s(given: Sequence[str]) -> float | None:
    """Return the value of `--max-seconds`, or None."""
    for word, following in zip(given, (*given[1:], ""), strict=True):
        name, sign, value = word.partition("=")
        if name == "--max-seconds":
            with suppress(ValueError):
                return float(value if sign else following)
    return None


def _told(call: Call, words: str) -> int:
    """Print a finding in one line and its steps; return the exit code."""
    lines = call.steps.split("\n") if call.steps else []
    steps = "".join(f"\n  {number}  {step}" for number, step in enumerate(lines, 1))
    sys.stderr.write(f"\n✗ violated  {words}\nthe steps:{steps or ' none'}\n")
    return VIOLATED


def _dies_alike(number: int) -> int:
    """End this process by a signal, as the working process was ended."""
    signal.signal(number, signal.SIG_DFL) if number not in (signal.SIGKILL, signal.SIGSTOP) else None
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 + number


def _dies_with_parent() -> None:
    """Ask the system to end this process when its parent ends, where the system can (Linux)."""
    with suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))
