"""Directory of a search: the search holds it alone, and can write there.

The native engine handles the directory during the search; this module holds the messages for people before it
or instead of it.
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
    """Context that holds the directory while a search uses it; without a directory, it does nothing.

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
