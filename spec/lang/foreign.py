"""Boundary for code that is not ours: whatever ends the code becomes one exception, which says what happened
and where.

1. `sys.exit`, `os._exit`, a KeyboardInterrupt that the code raises itself, GeneratorExit and a recursion that
   is too deep end the call, and no more than that.
2. An interrupt by the user passes. It comes between two instructions of the code, so the instruction at which
   it comes is no `raise`.
3. The boundary holds in the process that entered it, in all its threads. A child that the code forks ends as
   it likes, and never comes back out of the boundary.
4. An exception that ends a thread of the code, while a call in the main thread goes on, is one of the call.

This file knows neither specifications nor implementations.
"""

from __future__ import annotations

import dis
import os
import re
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NoReturn

from antiphon.spec.lang.errors import Location

RETURNED = 70
"""The exit code of a child of foreign code that comes back out of the boundary: nobody waits for it there."""


class Raised(Exception):
    """Error: code that is not ours raised an exception, or tried to end the process.

    `what` says in words what happened, `at` is the innermost place outside of Python's own library, `error`
    is the exception.
    """

    def __init__(self, error: BaseException, within: str = "") -> None:
        self.error, self.what, self.at = error, writable(within + _words(error)), _place(error)
        super().__init__(f"{self.what} ({self.at.file}:{self.at.line})" if self.at else self.what)


class Exited(BaseException):
    """Signal that foreign code called a function that ends the process at once; the message is the call."""


class foreign:  # noqa: N801 - reads as a statement: `with foreign(Refused):`
    """Context manager in which code that is not ours runs. Exceptions of the classes `passes` are part of its
    interface, and pass.

    Raises:
        Raised: in the place of whatever else the code raises.
    """

    __slots__ = ("_died", "_hook", "_passes", "_process")

    def __init__(self, *passes: type[BaseException]) -> None:
        self._passes: tuple[type[BaseException], ...] = (Raised, *passes)
        self._died: Raised | None = None
        self._hook: Callable[[threading.ExceptHookArgs], object] | None = None

    def __enter__(self) -> None:
        self._process = os.getpid()
        _inside.append(self._process)
        if threading.get_ident() == _MAIN:
            self._hook, threading.excepthook = threading.excepthook, self._in_thread

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _inside.pop()
        if self._hook is not None:
            threading.excepthook = self._hook
        if os.getpid() != self._process:
            _really["_exit"](RETURNED)
        if error is None and self._died is not None:
            raise self._died from self._died.error
        if error is None or isinstance(error, self._passes) or is_interrupt(error):
            return
        raise Raised(error) from error

    def _in_thread(self, told: threading.ExceptHookArgs) -> None:
        """Note the exception that ends a thread; `sys.exit` ends a thread, and no more."""
        if told.exc_value is not None and not isinstance(told.exc_value, SystemExit):
            self._died = self._died or Raised(told.exc_value, "in a thread, ")


@contextmanager
def alive() -> Iterator[None]:
    """Context in which `os._exit`, `os.abort` and `os.execv` raise `Exited`, in every thread: only
    `end_process` or a signal ends the process at once.
    """
    process = os.getpid()
    _inside.append(process)
    try:
        yield
    finally:
        _inside.remove(process)


def writable(text: str) -> str:
    """Escape what a text of foreign code may not bring to others: lone surrogates, which cannot be encoded as
    UTF-8 (the name of a file that is not in UTF-8 has some), and control characters other than the end of a
    line and a tab, which command a terminal and which XML does not have.
    """
    shown = text if text.isprintable() else _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
    return shown.encode("utf-8", "backslashreplace").decode()


_CONTROLS = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]")


def end_process(code: int) -> NoReturn:
    """End the process at once, as `os._exit` does, even inside the boundary; only code of ours calls it."""
    _really["_exit"](code)
    raise AssertionError("the process has ended")


def settle(code: int) -> None:
    """Fix the exit code of the process: later requests of threads and exit handlers do not change it."""
    _settled[os.getpid()] = code


def is_interrupt(error: BaseException) -> bool:
    """Return True if the user pressed Ctrl-C, and False if some code raised KeyboardInterrupt itself."""
    if not isinstance(error, KeyboardInterrupt):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return True
    frame = trace.tb_frame
    if str(frame.f_globals.get("__name__", "")).startswith(("antiphon.", "asyncio.")):
        return True  # these pass on what the user did
    return frame.f_code.co_code[trace.tb_lasti] != _RAISE


_RAISE = dis.opmap["RAISE_VARARGS"]

_MAIN = threading.main_thread().ident

_inside: list[int] = []
"""The process of each boundary that is open, in all threads."""

_settled: dict[int, int] = {}
"""The exit code of a process, once it has one."""

_really: dict[str, Callable[..., Any]] = {}
"""The functions of `os` that end a process or put another program into it."""


def _guard(name: str) -> None:
    """Replace a function that ends the process by one that raises Exited inside the boundary."""
    _really[name] = really = getattr(os, name)

    def ends(*given: Any) -> Any:
        process = os.getpid()
        if process in _inside:
            raise Exited(f"os.{name}({', '.join(map(repr, given))})")
        if process in _settled:
            _really["_exit"](_settled[process])
        return really(*given)

    ends.__name__, ends.__doc__ = name, really.__doc__
    setattr(os, name, ends)


for _name in ("_exit", "execv", "execve", "abort"):
    if hasattr(os, _name):
        _guard(_name)


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the process: sys.exit({'' if error.code is None else repr(error.code)})"
    if isinstance(error, Exited):
        return f"it ends the process: {error}"
    name = type(error).__name__
    try:
        told = str(error)
    except BaseException:  # noqa: BLE001 - the text of an exception is foreign code too
        return f"{name}, whose text cannot be had"
    return f"{name}: {told}" if told else name


def _place(error: BaseException) -> Location | None:
    """Return the innermost place of an error's traceback outside of Python's own library and of this file."""
    found, trace = None, error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file != __file__ and not is_library(file):
            found = Location(file, trace.tb_lineno or 0)
        trace = trace.tb_next
    return found


def is_library(file: str) -> bool:
    """Return True for a file of Python's own library."""
    return file.startswith(_OWN)


_OWN = (f"{sysconfig.get_path('stdlib')}{os.sep}", "<frozen ")
