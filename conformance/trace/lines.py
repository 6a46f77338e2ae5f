"""A line of a log is a header, an event, or neither: decided here alone, for every reader of logs.

This module knows the types of the schema and one line at a time. It must not know what stands on other lines,
where a line comes from, or what its reader does with a fault.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import msgspec

from antiphon.conformance.trace.schema import SCHEMA, VERSION, Event, Header


class LineFault(StrEnum):
    """Why a line is not what must stand there, in the words that a table keeps."""

    NO_HEADER = "no header"
    OTHER_SCHEMA = f"another schema than {SCHEMA!r}"
    OTHER_VERSION = f"another version of the schema than {VERSION}"
    NOT_A_HEADER = "not a header"
    NOT_AN_EVENT = "not an event"


class Line(NamedTuple):
    """What one line says. `fault` says what is wrong, `detail` the same in a sentence about this very line.

    A first line that is an event has both an event and a fault, `NO_HEADER`.
    """

    header: Header | None = None
    event: Event | None = None
    fault: LineFault | None = None
    detail: str = ""


class _Kind(msgspec.Struct, frozen=True):
    """As much of a first line as tells whether it is a header that this reader may read."""

    schema: str
    version: int


_kind = msgspec.json.Decoder(_Kind)
_header = msgspec.json.Decoder(Header)
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)

_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding raises: not JSON or not of the wanted type, not UTF-8, nested too deeply."""


def decode_line(number: int, line: bytes) -> Line:
    """Read the line with this number, from 1; any bytes are allowed and nothing is raised."""
    if number == 1:
        return _decode_first(line)
    try:
        return Line(event=_event.decode(line))
    except _UNDECODABLE as error:
        return Line(fault=LineFault.NOT_AN_EVENT, detail=f"not an event: {_shown(line)}: {error}")


def _decode_first(line: bytes) -> Line:
    try:
        kind = _kind.decode(line)
    except _UNDECODABLE:
        wanted = f'the first line must say {{"schema":"{SCHEMA}","version":{VERSION},...}}'
        return Line(
            event=decode_line(2, line).event, fault=LineFault.NO_HEADER, detail=f"no header: {wanted}"
        )
    if kind.schema != SCHEMA:
        return Line(fault=LineFault.OTHER_SCHEMA, detail=f"schema {kind.schema!r} is not {SCHEMA!r}")
    if kind.version != VERSION:
        told = f"version {kind.version} of the schema; this reader knows version {VERSION}"
        return Line(fault=LineFault.OTHER_VERSION, detail=told)
    try:
        return Line(header=_header.decode(line))
    except _UNDECODABLE as error:
        return Line(fault=LineFault.NOT_A_HEADER, detail=f"not a header: {error}")


def _shown(line: bytes) -> str:
    """Show the beginning of a line, whatever bytes it holds."""
    text = line.rstrip(b"\r\n").decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= 60 else text[:57] + "...")
