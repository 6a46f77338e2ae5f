"""A key file holds a group's keys, 64 hexadecimal digits a line: the first is used, all are accepted.

Empty lines and what follows a # do not count. The file belongs to its reader or to root, nobody else may read
or write it, and it is a regular file. To make one:

    (umask 077; openssl rand -hex 32 > orders.key)
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from antiphon.impl.errors import InvalidKey
from antiphon.impl.transport.sealing import KEY_BYTES, Keyring

__all__ = ["KEY_FILE_BYTES_MAX", "read_keys"]

KEY_FILE_BYTES_MAX = 4_096
"""Largest size of a key file in bytes, more than any rotation of keys needs."""


def read_keys(path: Path | str) -> Keyring:
    """Return the keys in a file.

    Raises:
        InvalidKey: it cannot be read, others may use it, or a line is no key; no key is shown.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:  # noqa: PTH123 - what was opened is what is looked at
            _check_owner(path, os.fstat(descriptor))
            data = file.read(KEY_FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidKey(f"key file {path}: {error.strerror}") from None
    if len(data) > KEY_FILE_BYTES_MAX:
        raise InvalidKey(f"key file {path} has more than {KEY_FILE_BYTES_MAX} bytes")
    lines = enumerate(data.decode("ascii", errors="replace").splitlines(), 1)
    words = [(number, word) for number, line in lines if (word := line.partition("#")[0].strip())]
    if not words:
        raise InvalidKey(f"key file {path} has no key; make one with: openssl rand -hex {KEY_BYTES}")
    use, *accept = (_key(path, number, word) for number, word in words)
    return Keyring(use, accept)


def _check_owner(path: Path | str, status: os.stat_result) -> None:
    """Raise InvalidKey unless the key file is a regular file that belongs to this user or root, and that no
    other user may use.
    """
    if not stat.S_ISREG(status.st_mode):
        raise InvalidKey(f"key file {path} is not a regular file")
    if status.st_uid not in (os.geteuid(), 0):
        raise InvalidKey(f"key file {path} belongs to user {status.st_uid}, not to {os.geteuid()} or root")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        mode = stat.S_IMODE(status.st_mode)
        raise InvalidKey(f"key file {path} has mode {mode:o}, so that others could use it: chmod 600 {path}")


def _key(path: Path | str, number: int, word: str) -> bytes:
    try:
        key = bytes.fromhex(word)
    except ValueError:
        key = b""
    digits = 2 * KEY_BYTES
    if len(word) != digits or len(key) != KEY_BYTES:
        raise InvalidKey(
            f"key file {path}, line {number}: {len(word)} characters; a key has {digits} hexadecimal digits"
        )
    return key
