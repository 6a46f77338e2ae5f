"""Arrays for millions of states: each reserves its largest size from the start, and takes memory only where
it is written.

An `Area` is reserved address space: the system gives it memory page by page as it is written. With a
directory it is a sparse file instead, so that the system may move pages to disk, and the content survives the
process.

This file knows nothing of what is stored.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from pathlib import Path

NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if os.uname().sysname == "Linux" else 0)
PAGE = mmap.PAGESIZE
LARGE = 1 << 22
"""Size from which an area asks for huge pages, where the system has them: look-ups in a large table cost
half.
"""


class Area:
    """Array of bytes at a fixed address, zero where nothing was written.

    Args:
        size: how many bytes it may hold at most.
        file: the file that holds the bytes; None for memory. An existing file is kept and continued.
        random: it will be read here and there, not in order, so that huge pages are worth their cost.

    Raises:
        OSError: the address space or the file cannot be had.
    """

    def __init__(self, size: int, file: Path | None = None, *, random: bool = False) -> None:
        self.size, self.file = max(PAGE, -(-size // PAGE) * PAGE), file
        if file is None:
            self._map = mmap.mmap(-1, self.size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE)
        else:
            with file.open("r+b" if file.exists() else "w+b") as opened:
                opened.truncate(self.size)
                self._map = mmap.mmap(opened.fileno(), self.size)
        if file is None and random and size >= LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
            with contextlib.suppress(OSError):
                self._map.madvise(mmap.MADV_HUGEPAGE)
        self._anchor: ctypes.c_char | None = ctypes.c_char.from_buffer(self._map)
        self.address = ctypes.addressof(self._anchor)

    def write(self, offset: int, content: bytes) -> None:
        """Put bytes at an offset.

        Raises:
            ValueError: the area was released.
        """
        self._see_open()
        ctypes.memmove(self.address + offset, content, len(content))

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes at an offset.

        Raises:
            ValueError: everything was given back.
        """
        self._see_open()
        return ctypes.string_at(self.address + offset, length)

    def _see_open(self) -> None:
        if self._anchor is None:
            raise ValueError("an array is closed: what stood there is gone")

    def release(self, first: int, last: int) -> None:
        """Release the memory of the whole pages within the bytes first..last - 1. Bytes of a file stay in the
        file; other bytes are lost.
        """
        begin, end = -(-first // PAGE) * PAGE, last // PAGE * PAGE
        if end > begin:
            self._map.madvise(mmap.MADV_DONTNEED, begin, end - begin)

    def flush(self) -> None:
        """Write a file's pages to disk."""
        if self.file is not None:
            self._map.flush()

    def close(self) -> None:
        """Release all memory. The address of the area must not be used afterwards."""
        self._anchor = None
        with contextlib.suppress(BufferError):
            self._map.close()
