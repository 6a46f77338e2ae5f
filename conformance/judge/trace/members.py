"""Converter of logs of members, which have no numbers, into logs of a run, whose processes have.

A group that processes join writes one file for each run of each process (`antiphon.impl.member_log`). The
rules:

| log | in the run |
|-----|------------|
| of an incarnation | a process of its own, numbered in the order of the incarnations, which begin with the
  time |
| breaks off, others saw the member fail | crashed |
| breaks off otherwise | a log without an end, so that the run is not judged to hold |
| of an excluded member | crashed, as the others took it |
| of a member that left | crashed: it has no duties for messages after it |
| begins with the state of another member | it has the deliveries of its first view before the state, if
  another log has them |
| missing, of a member of a view | a process without a log |
| ended before the first view | omitted: it has nothing but the header, or not even that |
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import DecodeError, Struct, ValidationError, convert, json

from antiphon.conformance.judge.trace.directory import log_name
from antiphon.conformance.judge.trace.schema import SCHEMA, VERSION

__all__ = ["MemberLogsError", "as_processes", "member_logs", "numbered"]

_SCHEMA = "antiphon.member"

Line: TypeAlias = dict[str, Any]
"""Line of a log, as JSON data."""


class RunOfMember(Struct, kw_only=True):
    """Run of a member: its incarnation in hexadecimal digits, its name and its address."""

    incarnation: str
    name: str
    host: str
    port: int


class MemberHeader(Struct, kw_only=True):
    """First line of the log of a member."""

    schema: Literal["antiphon.member"]
    version: Literal[1]
    group: str
    protocol: str
    member: RunOfMember


class _Event(Struct, kw_only=True, tag_field="kind", tag=str.lower):
    """Line of what the application of a member does or gets."""


class Broadcast(_Event):
    """A message of the member is broadcast; `id` counts its messages."""

    id: int
    digest: str


class Deliver(_Event):
    """A message of a member is delivered, under its number in the order."""

    source: str
    id: int
    number: int
    digest: str


class View(_Event):
    """A list of members is installed; some of the former ones have failed."""

    number: int
    members: list[str]
    failed: list[str]


class State(_Event):
    """A state is loaded that has the messages and views up to these numbers."""

    number: int
    view: int


class Blocked(_Event):
    """The member reaches no majority."""

    have: int


class Unblocked(_Event):
    """The member reaches a majority again."""

    have: int


class Excluded(_Event):
    """The others have excluded the member."""


class Left(_Event):
    """The member has left."""


MemberEvent: TypeAlias = Broadcast | Deliver | View | State | Blocked | Unblocked | Excluded | Left
"""Line of the log of a member behind the header."""


class MemberLogsError(ValueError):
    """Error: the files are not logs of members of one group; the message names the file, and why."""


def member_logs(directory: str | Path) -> list[Path]:
    """Return the logs of members in a directory, in the order of their incarnations."""
    return sorted(Path(directory).glob("member-*.ndjson"))


def numbered(directory: str | Path, into: str | Path) -> None:
    """Convert the logs of members in `directory` to the logs of a run in another, empty directory.

    Raises:
        MemberLogsError: there is no log of a member, one has no header, or they are of several groups.
        OSError: a file cannot be read or written.
    """
    read = {path: _lines(path) for path in member_logs(directory)}
    logs = {path: lines for path, lines in read.items() if lines}
    if not logs:
        raise MemberLogsError(f"{directory} has no log of a member (member-INCARNATION.ndjson)")
    heads = {path: _head(path, lines) for path, lines in logs.items()}
    seen = _members(line for lines in logs.values() for line in lines)
    told = {
        path: lines
        for path, lines in logs.items()
        if len(lines) > 1 or heads[path]["member"]["incarnation"] in seen
    }
    logs = told or logs
    groups = {(head["group"], head["protocol"]) for head in heads.values()}
    if len(groups) > 1:
        named = " and ".join(sorted(f"{group!r} with {protocol!r}" for group, protocol in groups))
        raise MemberLogsError(f"{directory} has logs of several groups: {named}")
    ((group, protocol),) = groups
    mine = {heads[path]["member"]["incarnation"]: lines[1:] for path, lines in logs.items()}
    processes, events = as_processes(mine)
    for number, some in events.items():
        header = {
            "schema": SCHEMA, "version": VERSION, "run": group, "protocol": protocol, "process": number,
            "processes": processes,
        }  # fmt: skip
        text = b"".join(json.encode(line) + b"\n" for line in [header, *some])
        (Path(into) / log_name(number)).write_bytes(text)


def as_processes(
    logs: Mapping[str, Sequence[Line]], *, crashed: Collection[str] = (), ended: Collection[str] = ()
) -> tuple[int, dict[int, list[Line]]]:
    """Number the members; return how many there are, and the events of each member with a log.

    Args:
        logs: the lines of each member behind the header, by incarnations in hexadecimal digits.
        crashed: members that are known to have crashed, whatever the others have seen.
        ended: members whose logs are known to be whole.
    """
    views = [line for lines in logs.values() for line in lines if line.get("kind") == "view"]
    everybody = sorted({*logs, *(member for view in views for member in view["members"])})
    place = {incarnation: number for number, incarnation in enumerate(everybody)}
    within = _within(logs.values())
    failed = {incarnation for view in views for incarnation in view["failed"]}.union(crashed)
    events = {}
    for incarnation, lines in logs.items():
        number = place[incarnation]
        events[number] = _events(
            _with_state(lines, within), number, place,
            crashed=incarnation in failed, ended=incarnation in ended,
        )  # fmt: skip
    return len(everybody), events


def _members(lines: Iterable[Line]) -> set[str]:
    """Return the members of all views."""
    return {member for line in lines if line.get("kind") == "view" for member in line["members"]}


def _within(logs: Iterable[Sequence[Line]]) -> dict[int, dict[int, Line]]:
    """Return the deliveries in each view, by places."""
    within: dict[int, dict[int, Line]] = {}
    for lines in logs:
        view = 0
        for line in lines:
            if line["kind"] == "view":
                view = line["number"]
            elif line["kind"] == "deliver":
                within.setdefault(view, {}).setdefault(line["number"], line)
    return within


def _with_state(lines: Sequence[Line], within: Mapping[int, Mapping[int, Line]]) -> list[Line]:
    """Insert, after the first view of a member, the deliveries of that view that the state contains with
    which the member began.
    """
    numbers = [line["number"] for line in lines if line["kind"] == "state"]
    at = next((at for at, line in enumerate(lines) if line["kind"] == "view"), None)
    if not numbers or at is None:
        return [*lines]
    delivered = within.get(lines[at]["number"], {})
    held = [delivered[number] for number in sorted(delivered) if number <= numbers[0]]
    return [*lines[: at + 1], *held, *lines[at + 1 :]]


def _lines(path: Path) -> list[Line]:
    """Return the lines of a log, without a last line that a crash cut off."""
    lines = []
    whole = path.read_bytes().split(b"\n")[:-1]
    for count, line in enumerate(whole, 1):
        try:
            told = json.decode(line, type=dict[str, Any])
            if count > 1:
                convert(told, MemberEvent)
            lines.append(told)
        except DecodeError as error:
            raise MemberLogsError(f"{path}:{count}: {error}") from error
    return lines


def _head(path: Path, lines: list[Line]) -> Line:
    head = lines[0]
    if head.get("schema") != _SCHEMA or head.get("version") != 1:
        raise MemberLogsError(f"{path}:1: the header of a log of schema {_SCHEMA!r}, version 1, is missing")
    try:
        convert(head, MemberHeader)
    except ValidationError as error:
        raise MemberLogsError(f"{path}:1: {error}") from error
    return head


def _events(
    lines: Sequence[Line], me: int, place: dict[str, int], *, crashed: bool, ended: bool
) -> list[Line]:
    """Return the events of one process in the trace schema, with its number and those of the other
    members.
    """
    events: list[Line] = []
    for line in lines:
        match line["kind"]:
            case "broadcast":
                events.append({"kind": "broadcast", "m": f"{me}:{line['id']}", "digest": line["digest"]})
            case "deliver":
                source = place.get(line["source"], len(place))
                named = f"{source}:{line['id']}"
                events.append(
                    {"kind": "deliver", "m": named, "number": line["number"], "digest": line["digest"]}
                )
            case "view":
                members = [place[member] for member in line["members"]]
                events.append({"kind": "install", "view": line["number"], "members": members})
    last = lines[-1]["kind"] if lines else ""
    gone = crashed or last in ("excluded", "left")
    if gone:
        events.append({"kind": "crash"})
    if ended or gone:
        events.append({"kind": "end"})
    return [{**event, "i": index} for index, event in enumerate(events)]
