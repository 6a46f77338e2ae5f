"""Which lines of the mutated files a process runs: each is written down when it runs for the first time.

A line is appended to the file at once, so that a process that is killed has told what it ran. A code object
whose lines have all been seen is traced no more. As `sitecustomize` it traces every Python process that a
test starts; it imports nothing but the standard library.
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


def trace() -> None:
    """Trace this process from now on, if the environment asks for it."""
    root = os.environ.get(ROOT)
    if not root:
        return
    wanted = {f"{root}/{name}": name for name in os.environ[FILES].split(":")}
    out = os.open(os.environ[TOUCHED], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    real: dict[str, str | None] = {}
    left: dict[CodeType, set[int]] = {}

    def lines_of(code: CodeType) -> set[int]:
        if code.co_filename not in real:
            real[code.co_filename] = wanted.get(os.path.realpath(code.co_filename))
        if real[code.co_filename] is None:
            return set()
        return {line for _, _, line in code.co_lines() if line}

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in left:
            left[code] = lines_of(code)
        if not left[code]:
            return None
        name, missing = real[code.co_filename], left[code]

        def on_line(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any]:
            line = frame.f_lineno
            if line in missing:
                missing.discard(line)
                with suppress(OSError):  # a test may forbid its processes to write
                    os.write(out, f"{name}:{line}\n".encode())
            return on_line

        return on_line(frame, "", None)

    sys.settrace(on_call)
    threading.settrace(on_call)


if __name__ == "sitecustomize":
    trace()
