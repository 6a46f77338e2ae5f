"""A search holds its directory alone, can write there, and finds a whole checkpoint in it or none.

What becomes of a directory while the search runs, the native engine knows; here is what a person should be
told before or instead.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.conformance.cli.output import UsageProblem, writable_directory

CHECKPOINT, ARRAYS = "checkpoint.json", ("states", "parents")
LOCK = "lock"
ANEW = "remove the directory to begin anew"


@contextmanager
def kept_in(directory: Path | None) -> Iterator[None]:
    """Holds the directory while a search uses it; without a directory, nothing.

    Raises:
        UsageProblem: it cannot be written, is full, is in use, or holds a checkpoint without its arrays.
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
        resumed = (directory / CHECKPOINT).exists()
        missing = [name for name in ARRAYS if resumed and not _filled(directory / name)]
        if missing:
            raise UsageProblem(
                f"--directory {directory}: a checkpoint without its {' and '.join(missing)}; {ANEW}"
            )
        try:
            yield
        except MemoryError as error:
            if f"{directory} is full" in str(error):
                raise UsageProblem(f"--directory: {error}") from error
            raise


def _filled(file: Path) -> bool:
    """Whether anything was ever written into a file; arrays are larger than what they hold."""
    try:
        return file.stat().st_blocks > 0
    except FileNotFoundError:
        return False
