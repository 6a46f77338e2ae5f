"""Cache on disk, in a private directory of this user: one file for each entry, named by a digest of
everything that it depends on.

1. An entry carries a digest of its name and content: a damaged or misplaced one counts as missing.
2. Entries are written aside and renamed, so that processes may use a directory at once.
3. A directory that others could write to is not used, since the machine code in it is executed.
4. When a directory grows beyond `MOST_BYTES`, the entries that were unused for longest are removed, down to
   half of that.

This file knows nothing of the content of entries.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import platformdirs

MAGIC = b"antiphon entry 2\n"
MOST_BYTES = 2**29
"""Largest number of bytes in a directory of entries; a process checks it when it first adds an entry."""

VARIABLE = "ANTIPHON_CACHE"
"""Environment variable with the directory to use in place of the default; if it is empty nothing is kept."""


@dataclass(frozen=True)
class Cache:
    """Directory of cache entries; one without a directory caches nothing."""

    directory: Path | None

    @staticmethod
    def private(kind: str) -> Cache:
        """Return the cache of this user for one kind of entries. If its directory cannot be made private, the
        cache keeps nothing.
        """
        chosen = os.environ.get(VARIABLE)
        if chosen == "":
            return Cache(None)
        directory = Path(chosen or platformdirs.user_cache_dir("antiphon")) / kind
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = directory.stat()
        except OSError:
            return Cache(None)
        shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return Cache(None if shared or status.st_uid != os.getuid() else directory)

    def get(self, key: str) -> bytes | None:
        """Return the entry of a key; None when there is none or it is damaged."""
        if self.directory is None:
            return None
        try:
            entry = (self.directory / key).read_bytes()
        except OSError:
            return None
        content = entry[len(MAGIC) + 32 :]
        if entry[: len(MAGIC) + 32] != _head(key, content):
            return None
        with contextlib.suppress(OSError):
            os.utime(self.directory / key)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Store an entry; if the disk is full or read-only, nothing is stored and nothing else happens."""
        if self.directory is None:
            return
        with contextlib.suppress(OSError):
            descriptor, name = tempfile.mkstemp(dir=self.directory, prefix=f"{key}.")
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(_head(key, content) + content)
                Path(name).replace(self.directory / key)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise
            _prune(self.directory)


@cache
def _prune(directory: Path) -> None:
    """Remove the entries that were unused for longest, if the directory is too large; at most once in a
    process.
    """
    entries: list[tuple[os.stat_result, str]] = []
    with os.scandir(directory) as found:
        for entry in found:
            with contextlib.suppress(FileNotFoundError):  # another process has renamed or removed it
                entries.append((entry.stat(), entry.path))
    total = sum(status.st_size for status, _ in entries)
    if total <= MOST_BYTES:
        return
    for status, path in sorted(entries, key=lambda entry: entry[0].st_mtime):
        if total <= MOST_BYTES // 2:
            return
        Path(path).unlink(missing_ok=True)
        total -= status.st_size


def _head(key: str, content: bytes) -> bytes:
    """Return the head of an entry: the digest of its name and content."""
    return MAGIC + hashlib.sha256(key.encode() + b"\0" + content).digest()
