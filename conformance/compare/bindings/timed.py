"""Calls of the user's code that are interrupted when they take too long.

1. An alarm of the system interrupts a call, in the main thread, where Python delivers signals. Whoever had
   set an alarm has it again afterwards.
2. Code that catches the exception of the alarm, and goes on, is interrupted several times more. Then the
   process ends with the finding, since nothing can be raised in such code.
3. Each call is noted (`spec/lang/calls.py`), so that a process that watches this one knows of it.

This file knows no binding.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from antiphon.model.notation import compact_step
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Step
from antiphon.spec.lang.calls import begins, give_up, is_over
from antiphon.spec.lang.foreign import end_process, is_library

_ALARMS = hasattr(signal, "setitimer")

_AGAIN_SECONDS = 0.5
"""Seconds until the alarm rings again: the interpreter loses an exception that is raised in `__del__`, and
the user's code may catch it.
"""

_ALARMS_MAX = 10
"""Number of alarms of one call that may be lost before the process is ended."""

uncover: Callable[[], None] = lambda: None  # noqa: E731 - set by a test runner that captures standard error
"""Function that is called before the last words of a process, so that its standard error is seen."""


class Late(Exception):
    """Error: a call does not return in time; the message says which, and where it was interrupted."""


class _Alarm(BaseException):
    """Signal that a call takes too long. It is a BaseException, so that no handler of the called code catches
    it.
    """


class Timed:
    """Calls of the code of one owner, each of which may take some seconds."""

    def __init__(self, whose: str, seconds: float) -> None:
        self._whose, self._seconds = whose, seconds
        self._call: object = ""
        self._steps: Sequence[Step] = ()
        self._rings = 0
        self._watched = False

    def begin(self, call: object, lines: str = "", steps: Sequence[Step] = ()) -> None:
        """Begin a call; `steps` led there, and `lines` is their text where calls are noted.

        Raises:
            Ended: the call has ended an earlier process.
        """
        self._call, self._steps, self._rings = call, steps, 0
        begins(str(call), lines, self._seconds + _ALARMS_MAX * _AGAIN_SECONDS)
        if self._watched:
            signal.setitimer(signal.ITIMER_REAL, self._seconds, min(self._seconds, _AGAIN_SECONDS))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Context that interrupts the calls which begin inside it. It does so in the main thread, on systems
        with alarm signals.

        Raises:
            Late: a call took too long.
        """
        if not _ALARMS or threading.current_thread() is not threading.main_thread():
            try:
                yield
            finally:
                is_over()
            return
        former, began = signal.signal(signal.SIGALRM, self._ring), time.monotonic()
        left, again = signal.getitimer(signal.ITIMER_REAL)
        self._watched = True
        try:
            yield
        except _Alarm as alarm:
            raise Late(f"{self._call} runs for {self._seconds:g} s{alarm}") from alarm
        finally:
            self._watched = False
            is_over()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, former)
            if left:  # somebody else had set it
                signal.setitimer(signal.ITIMER_REAL, max(left - (time.monotonic() - began), 1e-3), again)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        """Interrupt the user's code. End the process if the code has swallowed that several times."""
        if _loses_exceptions(frame):
            return  # the alarm rings again
        while frame is not None and is_library(frame.f_code.co_filename):
            frame = frame.f_back
        place = "" if frame is None else f" ({frame.f_code.co_filename}:{frame.f_lineno})"
        self._rings += 1
        if self._rings > _ALARMS_MAX:
            self._end(place)
        raise _Alarm(place)

    def _end(self, place: str) -> None:
        """Print the finding about code that does not return and catches whatever would end it, and end the
        process: nothing else does.
        """
        told = f"{self._call} does not return{place}, and catches what would end it: except BaseException?"
        give_up(told)
        uncover()
        steps = "".join(f"\n  {number}  {compact_step(step)}" for number, step in enumerate(self._steps, 1))
        os.write(2, f"\n✗ violated  {self._whose}: {told}\nthe steps:{steps or ' none'}\n".encode())
        end_process(Outcome.VIOLATED.exit_code)


def _loses_exceptions(frame: FrameType | None) -> bool:
    """Return True if the frame runs a function of `gc.callbacks` or `sys.unraisablehook`: the interpreter
    prints and loses an exception that is raised there.
    """
    hook = sys.unraisablehook
    calls = [*gc.callbacks, getattr(hook, "func", hook)]
    codes = {call.__code__ for call in calls if hasattr(call, "__code__")}
    while frame is not None and frame.f_code not in codes:
        frame = frame.f_back
    return frame is not None
