"""Lines of the mutated files that a process runs: each is written down when it runs for the first time.

A line is appended to the file at once, so that a process that is killed has told what it ran. From Python
3.12 on a line that was seen costs nothing more; before, a function is traced until all its lines were seen.
As `sitecustomize` it traces every Python process that a test starts; it imports nothing but the standard
library.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

ROOT = "MUTANTS_ROOT"
"""The environment's variable with the directory below which files are traced; unset: nothing is."""
FILES = "MUTANTS_FILES"
"""The traced files, relative to the root, with a colon between."""
TOUCHED = "MUTANTS_TOUCHED"
"""The file that the lines are appended to, each as `path:line`."""
LINES = "MUTANTS_LINES"
"""The only lines that are written down, each as `path:line`, with a space between; unset: all."""


def trace() -> None:
    """Trace this process from now on, if the environment asks for it."""
    root = os.environ.get(ROOT)
    if not root:
        return
    wanted = {f"{root}/{name}": name for name in os.environ[FILES].split(":")}
    out = os.open(os.environ[TOUCHED], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    names: dict[str, str | None] = {}
    only = frozenset(os.environ.get(LINES, "").split())
    write = os.write  # a test may put another in its place

    def name_of(code: CodeType) -> str | None:
        if code.co_filename not in names:
            names[code.co_filename] = wanted.get(os.path.realpath(code.co_filename))
        return names[code.co_filename]

    def matters(name: str, line: int) -> bool:
        return not only or f"{name}:{line}" in only

    def touch(code: CodeType, line: int) -> None:
        if (name := name_of(code)) and matters(name, line):
            with suppress(OSError):  # a test may forbid its processes to write
                write(out, f"\n{name}:{line}\n".encode())

    if sys.version_info >= (3, 12):
        _monitor(touch)
    else:
        _trace(name_of, matters, touch)


if sys.version_info >= (3, 12):

    def _monitor(touch: Callable[[CodeType, int], None]) -> None:
        events = sys.monitoring

        def on_line(code: CodeType, line: int) -> Any:
            touch(code, line)
            return events.DISABLE

        events.use_tool_id(events.COVERAGE_ID, "mutants")
        events.register_callback(events.COVERAGE_ID, events.events.LINE, on_line)
        events.set_events(events.COVERAGE_ID, events.events.LINE)

else:

    def _trace(
        name_of: Callable[[CodeType], str | None],
        matters: Callable[[str, int], bool],
        touch: Callable[[CodeType, int], None],
    ) -> None:
        left: dict[CodeType, set[int]] = {}

        def on_call(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
            code = frame.f_code
            if code not in left:
                name = name_of(code)
                lines = {line for *_, line in code.co_lines() if line} if name else set()
                left[code] = {line for line in lines if matters(name or "", line)}
            if not left[code]:
                return None
            missing = left[code]

            def on_line(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any]:
                line = frame.f_lineno
                if line in missing:
                    missing.discard(line)
                    touch(code, line)
                return on_line

            return on_line(frame, "", None)

        sys.settrace(on_call)
        threading.settrace(on_call)


if __name__ == "sitecustomize":
    trace()
