"""`antiphon node`: one member of a group from the shell; lines of input go to all, events are printed.

With `--members` the group is one fixed set of members. With `--bind` and `--seeds` it is one that processes
join, leave and come back to.

The member stays when its input ends, since others may need it, and leaves at an interrupt or SIGTERM. At a
SIGHUP a member with a key file reads the file again, and uses its keys from then on.
"""

from __future__ import annotations

import asyncio
import base64
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from antiphon.conformance.cli import documents, options, output, streams
from antiphon.impl.errors import GroupFailed, InvalidKey, LocalError
from antiphon.impl.event_log import EventLog
from antiphon.impl.group import Event, Group
from antiphon.impl.joined import JoinedEvent, JoinedGroup
from antiphon.impl.keys import read_keys
from antiphon.impl.lines import aside, lines
from antiphon.impl.loops import run
from antiphon.impl.member_log import MemberLog
from antiphon.impl.membership.member import Blocked, Member, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.registry import DEFAULT, delivering, known_protocols
from antiphon.impl.transport.addresses import Address, parsed, shown

FAILED = 1
"""Exit code when the group cannot go on."""

_EVENTS = 500
"""Number of events that are printed at a time: it takes a few milliseconds to format them."""

STALL_S = 30.0
"""Seconds of silence, or of waiting, after which a member of a fixed group fails."""


def node(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the group, the same everywhere.")],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="", help="Further addresses of --members.", hidden=True)
    ] = None,
    me: Annotated[
        int | None, typer.Option("--me", help="Which of --members this is, from 0.", show_default="0")
    ] = None,
    members: Annotated[
        list[str] | None,
        typer.Option(
            "--members",
            metavar="HOST:PORT HOST:PORT ...",
            help="Where the members listen, in the same order everywhere; of IP version 6: [HOST]:PORT.",
            show_default=False,
        ),
    ] = None,
    bind: Annotated[
        str | None,
        typer.Option("--bind", metavar="HOST:PORT", help="Where this process listens that joins a group."),
    ] = None,
    seeds: Annotated[
        list[str] | None,
        typer.Option(
            "--seeds",
            metavar="HOST:PORT HOST:PORT ...",
            help="Where processes of a group may listen that processes join; the first one founds it.",
            show_default=False,
        ),
    ] = None,
    expect: Annotated[
        int | None,
        typer.Option("--expect", help="With how many members the first of --seeds founds the group."),
    ] = None,
    called: Annotated[
        str | None, typer.Option("--as", metavar="TEXT", help="What this member is called; else its address.")
    ] = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="Found the group alone: only at its first start.")
    ] = False,
    advertise: Annotated[
        str | None,
        typer.Option(
            "--advertise", metavar="HOST:PORT", help="Where the others reach this process, if not at --bind."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            "--profile", help="Timeouts of a group that processes join: local, lan or wan. Without: lan."
        ),
    ] = None,
    on_exclusion: Annotated[
        str | None,
        typer.Option("--on-exclusion", help="After an exclusion: rejoin or fail. Without: rejoin."),
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option("--protocol", help=f"One of {', '.join(known_protocols())}. Without: {DEFAULT}."),
    ] = None,
    deliver: Annotated[
        str | None,
        typer.Option(
            "--deliver",
            help="When a message is printed: ordered, all (members have it), or how many have it.",
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help=options.KEYS,
        ),
    ] = None,
    stall: Annotated[
        float | None,
        typer.Option(
            "--stall",
            help="Fail after so many seconds of silence of a member, or of waiting.",
            show_default=f"{STALL_S:g}",
        ),
    ] = None,
    log: Annotated[Path | None, options.LOG] = None,
    metrics: Annotated[
        int | None,
        typer.Option("--metrics", metavar="PORT", help="Answer Prometheus at this port of the loopback."),
    ] = None,
    multicast: Annotated[
        str | None,
        typer.Option("--multicast", metavar="HOST:PORT", help="Send what goes to all there, once."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> int:
    """Be a member of a group: broadcast the lines of standard input, print the deliveries."""
    fixed = {"me": me, "members": members, "deliver": deliver, "stall": stall, "multicast": multicast}
    joining = {
        "expect": expect, "as": called, "bootstrap": bootstrap or None, "advertise": advertise,
        "profile": profile, "on-exclusion": on_exclusion,
    }  # fmt: skip
    try:
        if seeds or bind:
            _refuse_options("--bind and --seeds", fixed)
            said = {"protocol": protocol, "timeouts": profile, "on_exclusion": on_exclusion, "name": called}
            settings = {key: value for key, value in said.items() if value is not None}
            group = _joined(name, bind, [*(seeds or ()), *(more or ())], key_file, advertise, log, metrics,
                            expect=expect, bootstrap=bootstrap, **settings)  # fmt: skip
            return run(_take_part(group, key_file, json=json))
        _refuse_options("--members", joining)
        addresses = _addresses(name, [*(members or ()), *(more or ())], me or 0)
        with ExitStack() as stack:
            member = _fixed(name, addresses, me or 0, protocol, deliver, key_file,
                            STALL_S if stall is None else stall, log, metrics, multicast, stack)  # fmt: skip
            return run(_take_part(member, key_file, json=json))
    except GroupFailed as error:
        sys.stderr.write(f"antiphon: the group cannot go on: {error}\n")
        return FAILED
    except (LocalError, ValueError) as error:
        raise output.UsageProblem(str(error)) from error


def _refuse_options(kind: str, given: Mapping[str, object]) -> None:
    """Raise UsageProblem if any of these options is given; they belong to the other kind of group than
    `kind`.
    """
    for option, value in given.items():
        if value is not None and value != []:
            raise output.UsageProblem(f"--{option} does not go with {kind}: antiphon node --help")


def _joined(
    group: str, bind: str | None, seeds: list[str], key_file: Path | None, advertise: str | None,
    log: Path | None, metrics: int | None, **settings: Any,
) -> JoinedGroup:  # fmt: skip
    """Return a process that joins a group. Raise `UsageProblem` for an option that cannot be used, and the
    errors of `Group.join`, whose other parameters are `settings`.
    """
    if bind is None or not seeds:
        raise output.UsageProblem("who joins says where it listens, and whom to ask: --bind and --seeds")
    return Group.join(
        group, seeds=[_address("--seeds", seed) for seed in seeds], bind=_address("--bind", bind),
        advertise=None if advertise is None else _address("--advertise", advertise),
        key=None if key_file is None else read_keys(key_file),
        log=None if log is None else MemberLog(log),
        metrics=None if metrics is None else _metrics(metrics), **settings,
    )  # fmt: skip


def _fixed(
    name: str, addresses: list[Address], me: int, protocol: str | None, deliver: str | None,
    key_file: Path | None, stall: float, log: Path | None, metrics: int | None, multicast: str | None,
    stack: ExitStack,
) -> Group:  # fmt: skip
    """Return a member of a group whose members do not change. Raise `UsageProblem` for an option that cannot
    be used, and the errors of `Group`.
    """
    routes = {process: at for process, at in enumerate(addresses) if process != me}
    settings: dict[str, Any] = {}
    if multicast is not None:
        settings["multicast"] = _address("--multicast", multicast)
    if metrics is not None:
        settings["metrics"] = _metrics(metrics)
    wanted = int(deliver) if deliver is not None and deliver.isdigit() else deliver
    chosen = delivering(protocol, wanted, len(addresses))
    if log is not None:
        tracer = EventLog(log, group=name, me=me, members=len(addresses), protocol=chosen.messages.protocol)
        stack.push(lambda kind, *_: tracer.close(complete=kind is None))
        settings["tracer"] = tracer
    return Group(
        name, me=me, members=len(addresses), bind=addresses[me], routes=routes, protocol=chosen,
        key=None if key_file is None else read_keys(key_file), stall_s=stall, deliver=wanted, **settings,
    )  # fmt: skip


async def _take_part(group: Group | JoinedGroup, key_file: Path | None, *, json: bool) -> int:
    """Take part in the group until a signal comes or the group fails; return the exit code."""
    leave = asyncio.Event()
    handlers: dict[int, Callable[[], object]] = {signal.SIGINT: leave.set, signal.SIGTERM: leave.set}
    if key_file is not None:
        handlers[signal.SIGHUP] = partial(_rekey, group, key_file)
    with _signals(handlers):
        return await _until(leave, group, json=json)


def _rekey(group: Group | JoinedGroup, key_file: Path) -> None:
    """Read the key file again and use its keys; keep the present keys if the file cannot be used."""
    try:
        keys = read_keys(key_file)
        group.rekey(keys)
    except InvalidKey as error:
        sys.stderr.write(f"antiphon: the keys stay as they were: {error}\n")
        return
    sys.stderr.write(
        f"antiphon: {key_file} was read again: the first of {1 + len(keys.accept)} keys is used\n"
    )


@contextmanager
def _signals(handlers: Mapping[int, Callable[[], object]]) -> Iterator[None]:
    """Context in which a handler is called in the event loop for each of these signals. At its end the former
    handlers are restored.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, earlier)


async def _until(leave: asyncio.Event, group: Group | JoinedGroup, *, json: bool) -> int:
    """Print the events of the group and broadcast the lines of standard input, until `leave` is set."""
    async with group:
        sys.stderr.write(f"antiphon: {group!r} at {shown(group.address)}; an interrupt leaves\n")
        printing = asyncio.create_task(_print(group, json=json))
        reading = asyncio.create_task(_broadcast(group))
        leaving = asyncio.create_task(leave.wait())
        await asyncio.wait([printing, leaving, reading], return_when=asyncio.FIRST_COMPLETED)
        for task in (leaving, reading):
            task.cancel()
        await asyncio.wait([leaving, reading])
        if not reading.cancelled() and not isinstance(reading.exception(), GroupFailed):
            reading.result()
    await printing  # what was delivered until now, or why the group failed
    return 0


async def _print(group: Group | JoinedGroup, *, json: bool) -> None:
    """Print every event of the group as soon as it comes. While nobody reads, the member takes no events."""
    lines_out = streams.document().buffer

    def put(data: bytes) -> None:
        lines_out.write(data)
        lines_out.flush()

    async for event in group:
        events = [event, *group.at_hand()]
        for first in range(0, len(events), _EVENTS):
            told = b"".join(map(_json if json else _plain, events[first : first + _EVENTS]))
            try:
                await aside(partial(put, told))
            except BrokenPipeError as error:
                raise streams.NobodyReads from error


def _plain(event: Event | JoinedEvent) -> bytes:
    """Return "NUMBER SOURCE LINE" for a delivery; another event is a line that begins with its kind."""
    match event:
        case Delivery(source, number=number, payload=payload):
            name = source.name if isinstance(source, Member) else source
            return f"{number} {name} ".encode() + payload + b"\n"
        case View(number, members):
            return f"view {number}: {' '.join(member.name for member in members)}\n".encode()
        case Blocked(have, needs):
            return f"blocked: {have} of {needs}\n".encode()
    return f"unblocked: {event.have}\n".encode()


def _json(event: Event | JoinedEvent) -> bytes:
    told: dict[str, Any] = {"event": type(event).__name__.lower(), **event._asdict()}
    if isinstance(event, Delivery):
        try:
            told["payload"] = event.payload.decode()
        except UnicodeDecodeError:
            del told["payload"]
            told["payload_base64"] = base64.b64encode(event.payload).decode()
    line = msgspec.convert({key: _named(value) for key, value in told.items()}, documents.NodeLine)
    return msgspec.json.encode(line) + b"\n"


def _named(value: Any) -> Any:
    """Return a value with each member in it as a mapping of its fields; incarnations are in hexadecimal
    digits.
    """
    if isinstance(value, Member):
        run = value.incarnation.hex()
        return {"name": value.name, "host": value.host, "port": value.port, "incarnation": run}
    return [_named(each) for each in value] if isinstance(value, tuple) else value


async def _broadcast(group: Group | JoinedGroup) -> None:
    """Broadcast each line of standard input once the previous line is on its way; after the last line, wait
    for ever.

    Raises:
        LocalError: a line cannot be broadcast; its number is told.
        GroupFailed: the group cannot go on.
    """
    count = 0
    async for line in lines(sys.stdin.fileno()):
        count += 1
        try:
            await _say(group, line)
        except LocalError as error:
            raise type(error)(f"line {count} of the input: {error}") from error
    await asyncio.Event().wait()


async def _say(group: Group | JoinedGroup, line: bytes) -> None:
    """Broadcast a line. If this member is excluded while the line waits, it waits for the member's return."""
    while True:
        try:
            await group.broadcast(line)
        except GroupFailed:
            if isinstance(group, Group) or group.failure is not None:
                raise
        else:
            return


def _addresses(name: str, members: list[str], me: int) -> list[Address]:
    """Parse the addresses of all members.

    Raises:
        UsageProblem: one cannot be read, or there are too few of them.
    """
    found = [_address("--members", text) for text in members]
    if len(found) < 2 or not 0 <= me < len(found):
        told = f"group {name!r} has {len(found)} members, and this is number {me}: write antiphon node NAME"
        raise output.UsageProblem(f"{told} --me 0 --members HOST:PORT HOST:PORT, NAME first, --me from 0")
    return found


def _address(option: str, text: str) -> Address:
    """Parse the address in an option's value. Raise `UsageProblem` if it is none."""
    try:
        return parsed(text)
    except ValueError as error:
        raise output.UsageProblem(f"{option}: {error}") from error


def _metrics(port: int) -> Any:
    """Serve the metrics for Prometheus on this port. Raise `UsageProblem` if the library is missing or the
    port is in use.
    """
    try:
        from antiphon.impl.metrics import Metrics  # here: it is an extra
    except ImportError as error:
        told = "--metrics needs prometheus-client: pip install antiphon[metrics]"
        raise output.UsageProblem(told) from error
    metrics = Metrics()
    try:
        metrics.serve(port)
    except OSError as error:
        raise output.UsageProblem(f"--metrics {port}: cannot listen there: {error.strerror}") from error
    return metrics
