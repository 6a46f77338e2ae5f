"""Writing of files, whole or not at all: first under another name beside the place, then renamed.

1. A file of that name is unchanged until the new one is complete, and keeps its mode; a link stays a link.
2. A device, a pipe or any other irregular file is written directly.
3. `check_writable` finds out before the work, as far as possible, whether the file can be written after it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8; if that fails no part of it stays.

    Raises:
        OSError: it cannot be written, or the disk is full.
    """
    data = content.encode() if isinstance(content, str) else content
    place = _place(path)
    if place is None:
        Path(path).write_bytes(data)
        return
    try:
        descriptor, aside = _open_beside(place)
    except PermissionError:
        if not place.is_file():
            raise
        place.write_bytes(data)  # the directory takes no new file, but this one may be written
        return
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        with suppress(FileNotFoundError):
            aside.chmod(stat.S_IMODE(place.stat().st_mode))
        aside.replace(place)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def check_writable(path: str | Path) -> None:
    """Check that a file of this name can be written, as far as that can be known before.

    Raises:
        OSError: there is no such directory, it takes no file, or a directory has this name.
    """
    place = _place(path)
    if place is None or (place.is_file() and not os.access(place.parent, os.W_OK)):
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    descriptor, aside = _open_beside(place)
    os.close(descriptor)
    aside.unlink()


def _place(path: str | Path) -> Path | None:
    """Return the path of the regular file of this name, whether or not it exists; None for anything that is
    no regular file, as `/dev/stdout`.
    """
    place = Path(os.path.realpath(path))
    is_other = place.exists() and not place.is_file() and not place.is_dir()
    return None if is_other or str(path).startswith(("/dev/", "/proc/")) else place


def _open_beside(place: Path) -> tuple[int, Path]:
    """Open a new file in the same directory; return its descriptor and path."""
    aside = place.parent / f".{secrets.token_hex(8)}.part"
    return os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), aside
