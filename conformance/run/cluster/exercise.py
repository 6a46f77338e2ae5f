"""Coverage of the implementation by a process of a cluster, in a file that the parent reads.

A process writes the file again and again, so that one that is killed leaves what it had exercised before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from antiphon.impl.protocols.core import Implementation
from antiphon.model.files import write_whole

if TYPE_CHECKING:
    from antiphon.conformance.coverage.recorder import Seen

__all__ = ["EXERCISED", "exercised_in", "recorded"]

EXERCISED = "exercised-{0}-{1}.json"
"""Name of the file of a process and of its run, counted from 0."""


KEEP_S = 0.5
"""Seconds between two writes of the file."""


class _File(msgspec.Struct, frozen=True):
    """Content of the file: a byte for each branch of each file of code, and the state classes."""

    branches: dict[str, bytes]
    classes: list[str]


@contextmanager
def recorded(
    file: str, protocol: Implementation[Any], members: int
) -> Iterator[tuple[Implementation[Any], Callable[[], None]]]:
    """Context in which what an implementation does is recorded, if a file is named. Yield the implementation
    to run, and a function to be called now and then, which writes the file every `KEEP_S` seconds; the end
    writes it too.
    """
    if not file:
        yield protocol, lambda: None
        return
    from antiphon.conformance.coverage.modules import modules_of  # here: few processes record
    from antiphon.conformance.coverage.recorder import Recorder

    recorder, written = Recorder(modules_of(protocol, members)), [0.0]

    def keep(*, now: bool = False) -> None:
        if not now and time.monotonic() - written[0] < KEEP_S:
            return
        written[0] = time.monotonic()
        seen = recorder.seen
        with suppress(OSError):  # the parent counts what it finds
            write_whole(Path(file), msgspec.json.encode(_File(seen.branches, sorted(seen.classes))))

    with recorder.recording():
        try:
            yield recorder.around(protocol), keep
        finally:
            keep(now=True)


def exercised_in(directory: Path) -> Seen:
    """Return what the processes of a run have exercised together."""
    from antiphon.conformance.coverage.recorder import Seen  # here: a process of a cluster needs none of it

    found = Seen()
    for file in sorted(directory.glob(EXERCISED.format("*", "*"))):
        told = msgspec.json.decode(file.read_bytes(), type=_File)
        found = found.union(Seen(told.branches, frozenset(told.classes)))
    return found
