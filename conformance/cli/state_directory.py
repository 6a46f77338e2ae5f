"""A search holds its directory alone, and can write there.

What becomes of a directory while the search runs, the native engine knows; here is what a person should be
told before or instead.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.conformance.cli.output import UsageProblem, writable_directory

LOCK = "lock"


@contextmanager
def kept_in(directory: Path | None) -> Iterator[None]:
    """Holds the directory while a search uses it; without a directory, nothing.

    Raises:
        UsageProblem: it cannot be written, is full, or is in use.
    """
    if directory is None:
        yield
        return
    writable_directory("--directory", directory)
    with (directory / LOCK).open("w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UsageProblem(f"--directory {directory}: another search is using it") from error
        try:
            yield
        except MemoryError as error:
            if f"{directory} is full" in str(error):
                raise UsageProblem(f"--directory: {error}") from error
            raise
