"""Where is compiled code kept? In a private directory of this user, one file a kernel, named by everything that the code depends on.

An entry carries a digest of itself: one that is damaged is as one that is missing. Entries are written aside and renamed, so that processes
may use the cache at once. A directory that others could write to is not used, since what lies there is executed.

This file knows nothing of what the code is.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

MAGIC = b"antiphon kernel 1\n"
VARIABLE = "ANTIPHON_CACHE"
"""An environment variable that names another directory; empty: nothing is kept."""


@dataclass(frozen=True)
class Cache:
    """A directory of entries; None keeps nothing."""

    directory: Path | None

    @staticmethod
    def private() -> Cache:
        """The cache of this user; one that keeps nothing when the directory cannot be made private."""
        chosen = os.environ.get(VARIABLE)
        if chosen == "":
            return Cache(None)
        directory = Path(chosen) if chosen else Path(platformdirs.user_cache_dir("antiphon")) / "kernels"
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = directory.stat()
        except OSError:
            return Cache(None)
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return Cache(None if shared or status.st_uid != os.getuid() else directory)

    def get(self, key: str) -> bytes | None:
        """The entry of a key; None when there is none or it is damaged."""
        if self.directory is None:
            return None
        try:
            content = (self.directory / key).read_bytes()
        except OSError:
            return None
        head, digest, code = content[: len(MAGIC)], content[len(MAGIC) : len(MAGIC) + 32], content[len(MAGIC) + 32 :]
        return code if head == MAGIC and hashlib.sha256(code).digest() == digest else None

    def put(self, key: str, code: bytes) -> None:
        """Keep an entry; a disk that is full or read-only keeps nothing, and nothing else happens."""
        if self.directory is None:
            return
        with contextlib.suppress(OSError):
            descriptor, name = tempfile.mkstemp(dir=self.directory, prefix=f"{key}.")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(MAGIC + hashlib.sha256(code).digest() + code)
                Path(name).replace(self.directory / key)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
