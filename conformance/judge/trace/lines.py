"""Decoder of one line of a log: a header, an event, or neither; every reader of logs uses it.

This module knows the types of the schema and one line at a time. It must not know other lines, the origin of
a line, or its reader's treatment of a fault.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, get_args

import msgspec

from antiphon.conformance.judge.trace.schema import SCHEMA, VERSION, Event, Header
from antiphon.spec.lang.hints import did_you_mean

NO_HEADER: Final = f'no header: the first line must say {{"schema":"{SCHEMA}","version":{VERSION},...}}'

_TOLD_MAX = 200
"""Largest number of characters of a line in a reason."""


NOTHING: Final[Mapping[str, Any]] = {}


class Line(NamedTuple):
    """Content of one line; `fault` is the reason, in a text of bounded length, why the line is invalid.

    A first line that is an event has both an event and a fault, `NO_HEADER`. `more` are the fields that the
    schema does not know: time stamps, places in another log.
    """

    header: Header | None = None
    event: Event | None = None
    fault: str | None = None
    more: Mapping[str, Any] = NOTHING


class _Kind(msgspec.Struct, frozen=True):
    """Fields of a log's first line that show whether it is a header, and of which version."""

    schema: str
    version: int


_kind = msgspec.json.Decoder(_Kind)
_header = msgspec.json.Decoder(Header)
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)
_fields = msgspec.json.Decoder(dict[str, Any])
_encode = msgspec.json.Encoder().encode

_KINDS = tuple(str(each.__struct_config__.tag) for each in get_args(Event))

_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Errors of decoding: no JSON or not of the wanted type, no UTF-8, nested too deeply."""


def decode_line(number: int, line: bytes) -> Line:
    """Decode the line with this number, counted from 1 without blank lines. Any bytes are allowed, and
    nothing is raised.

    For a key that occurs twice the last value counts. A byte-order mark is not JSON, and a fault.
    """
    if number == 1:
        return _decode_first(line)
    try:
        event = _event.decode(line)
        return Line(event=event, more=_unknown(line, event))
    except _UNDECODABLE as error:
        return Line(fault=shortened(_unknown_kind(line) or f"not an event: {_shown(line)}: {error}"))


def shortened(text: str, characters: int = _TOLD_MAX) -> str:
    """Return a text, or its beginning and three dots."""
    return text if len(text) <= characters else text[: characters - 3] + "..."


def _decode_first(line: bytes) -> Line:
    try:
        kind = _kind.decode(line)
    except _UNDECODABLE:
        return decode_line(2, line)._replace(fault=NO_HEADER)
    if kind.schema != SCHEMA:
        return Line(fault=f"schema {shortened(kind.schema, 60)!r} is not {SCHEMA!r}")
    if kind.version != VERSION:
        told = f"version {kind.version} of the schema; this reader knows version {VERSION}"
        return Line(fault=shortened(told))
    try:
        header = _header.decode(line)
        return Line(header=header, more=_unknown(line, header))
    except _UNDECODABLE as error:
        return Line(fault=shortened(f"not a header: {error}"))


def _unknown(line: bytes, known: Event | Header) -> Mapping[str, Any]:
    """Return the fields of a line that the schema does not know; none for a line as our writer writes it."""
    if line.rstrip() == _encode(known):
        return NOTHING
    return {
        name: value
        for name, value in _fields.decode(line).items()
        if name != "kind" and name not in known.__struct_fields__
    }


def _unknown_kind(line: bytes) -> str:
    """Return a sentence with the unknown kind of a line's event and the known kinds; "" if the kind is
    known.
    """
    try:
        kind = _fields.decode(line).get("kind")
    except _UNDECODABLE:
        return ""
    if not isinstance(kind, str) or kind in _KINDS:
        return ""
    hint = did_you_mean(kind, _KINDS)
    return f"not an event: no kind {shortened(kind, 30)!r}{hint or ';'} known: {', '.join(_KINDS)}"


def _shown(line: bytes) -> str:
    """Show the beginning of a line, whatever bytes it holds."""
    return repr(shortened(line[:240].rstrip(b"\r\n").decode("utf-8", "backslashreplace"), 60))
