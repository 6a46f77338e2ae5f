"""Temporary directories of a program, which are removed when it ends.

1. A directory belongs to the process that holds the lock of the file `.owner` in it. The operating system
   releases the lock however that process ends.
2. A process that makes such a directory first removes those whose owners have ended, also by SIGKILL.

This module knows neither Java nor Spark.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

PREFIX: Final = "antiphon-"
_OWNER: Final = ".owner"


@contextmanager
def own_directory(what: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a directory `antiphon-<what>-...` that no other user may list, in the temporary folder by
    default; it lasts as long as the context.

    Raises:
        OSError: it cannot be made.
    """
    place = Path(tempfile.gettempdir()) if parent is None else parent
    remove_orphans(place)
    hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}{what}-", dir=place))
    try:
        with (hidden / _OWNER).open("wb") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX)
            # Only now may others see it: until it is locked, it looks like one that was left behind.
            directory = hidden.rename(place / hidden.name[1:])
            try:
                yield directory
            finally:
                shutil.rmtree(directory, ignore_errors=True)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def remove_orphans(place: Path) -> None:
    """Remove the directories of processes that have ended."""
    for file in place.glob(f"{PREFIX}*/{_OWNER}"):
        try:
            with file.open("r+b") as owner:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(file.parent, ignore_errors=True)
        except OSError:  # it has an owner, or is another user's
            continue
