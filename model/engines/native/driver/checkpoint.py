"""Checkpoints of a search, from which it continues after the process was killed: its position is written from
time to time beside the arrays, which are files in any case.

The arrays only grow, so everything known at the last checkpoint is still in them; the table is made anew from
them. A checkpoint is written aside and renamed: there is always a whole one. It protects against the end of
the process at any moment. If the machine itself stops, unwritten data may be lost, which the checksums in the
checkpoint reveal.

This file knows nothing of exploring.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from antiphon.model.engines.interface import Position, Refused
from antiphon.model.engines.native.compiler.kernel import key_of
from antiphon.model.engines.native.driver.store import Store

NAME = "checkpoint.json"
SCHEMA = "antiphon.checkpoint"
VERSION = 4
SECONDS = 5.0
"""Seconds of a search between two checkpoints."""
PART = 1 << 24
"""Number of bytes that are read at once for a checksum."""


class Content(msgspec.Struct, forbid_unknown_fields=True):
    """Content of a checkpoint. `key` names the program and its kernel. `decided` has, by property, the
    deciding state and the code of a step, or -1. `asked` is as in `Position`. `arrays` has, by array, the
    number of known bytes and their checksum (`Store.arrays`).
    """

    schema: str
    version: int
    key: str
    known: int
    expanded: int
    transitions: int
    level_end: int
    levels: list[int]
    decided: dict[str, tuple[int, int]]
    asked: list[str]
    counts: list[int]
    seconds: float
    arrays: dict[str, tuple[int, int]]


class Checkpoint:
    """Checkpoint in one directory, for the search with `store`."""

    def __init__(self, directory: Path, store: Store) -> None:
        self.path, self.store = directory / NAME, store
        self._saved = time.monotonic()
        self._checked = dict.fromkeys(store.arrays(), (0, 0))

    @staticmethod
    def exists(directory: Path) -> bool:
        """Return True if a search left a checkpoint here."""
        return (directory / NAME).exists()

    def read(self) -> Content:
        """Return the checkpoint.

        Raises:
            Refused: it, or an array, is damaged, or it is of another program, package version or processor.
        """
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=Content)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Refused(
                f"{self.path}: is no checkpoint: {error}; remove the directory to begin anew"
            ) from error
        if (content.schema, content.version) != (SCHEMA, VERSION) or content.key != self._key():
            raise Refused(
                f"{self.path}: was left by another specification, other constants or another version; remove "
                "the directory to begin anew"
            )
        self._check({name: length for name, (length, _) in content.arrays.items()})
        damaged = [name for name, checked in self._checked.items() if content.arrays.get(name) != checked]
        if damaged:
            raise Refused(
                f"{self.path.with_name(damaged[0])}: is not what the search left here; remove the directory "
                "to begin anew"
            )
        return content

    def _check(self, lengths: Mapping[str, int]) -> None:
        """Update the checksums of the arrays up to these lengths; the arrays only grow, so the earlier bytes
        stay as they were.
        """
        for name, (area, _) in self.store.arrays().items():
            begin, checksum = self._checked[name]
            end = min(lengths.get(name, 0), area.size)
            for first in range(begin, end, PART):
                checksum = zlib.crc32(area.read(first, min(PART, end - first)), checksum)
            self._checked[name] = end, checksum

    def _key(self) -> str:
        kernel = self.store.kernel
        return key_of(kernel.program, kernel.mode, kernel.reduction)

    def write(self, position: Position, codes: dict[str, int], *, always: bool = False) -> None:
        """Write the position of the search, if enough time has passed or with `always`; `codes` are those of
        the steps that decided a property.
        """
        if not always and time.monotonic() - self._saved < SECONDS:
            return
        self._check({name: length for name, (_, length) in self.store.arrays().items()})
        content = Content(
            schema=SCHEMA, version=VERSION, key=self._key(), known=self.store.known,
            expanded=position.expanded, transitions=position.transitions, level_end=position.level_end,
            levels=position.levels,
            decided={
                name: (decision.state, codes.get(name, -1)) for name, decision in position.decided.items()
            },
            asked=position.asked or [], counts=self.store.counts(), seconds=position.seconds,
            arrays=self._checked,
        )  # fmt: skip
        aside = self.path.with_suffix(".new")
        aside.write_bytes(msgspec.json.encode(content))
        aside.replace(self.path)
        self._saved = time.monotonic()
