"""`antiphon members`: the members of the groups of one process, as it sees them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from antiphon.conformance.cli import documents, options, output, streams
from antiphon.impl.errors import LocalError
from antiphon.impl.keys import read_keys
from antiphon.impl.looking import groups, standing
from antiphon.impl.membership.datagrams import Standing
from antiphon.impl.transport.addresses import Address, parsed, shown
from antiphon.impl.transport.sealing import Keyring

SILENT = 2
"""Exit code when nobody answers: nothing is known."""


def members(
    at: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where one of its processes listens.")],
    key_file: Annotated[
        Path | None, typer.Option("--key-file", metavar="FILE", help=options.KEYS)
    ] = None,
    group: Annotated[
        str | None, typer.Option("--group", metavar="NAME", help="This group; without, all with the key.")
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Give up after so many seconds.")] = 3.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> int:
    """Ask one process of a group for its view, whom it suspects, and how far it has come."""
    try:
        keys = None if key_file is None else read_keys(key_file)
        told = asyncio.run(_told(group, parsed(at), keys, timeout))
    except TimeoutError as error:
        sys.stderr.write(f"antiphon: {error}\n")
        return SILENT
    except (LocalError, ValueError) as error:
        raise output.UsageProblem(str(error)) from error
    for name, standing_there in told:
        shown_there = _json(name, standing_there) if json else _plain(name, standing_there).encode()
        streams.document().buffer.write(shown_there)
    return 0


async def _told(
    group: str | None, at: Address, keys: Keyring | None, timeout_s: float
) -> list[tuple[str, Standing]]:
    """Return the names of the groups at an address, or this one's, with the state of the process in each."""
    names = [group] if group is not None else await groups(at, keys, timeout_s)
    return [(name, await standing(name, at, keys, timeout_s)) for name in names]


def _state(
    told: Standing, incarnation: bytes
) -> Literal["given up", "suspected", "orders messages", "listens"]:
    if incarnation in told.given_up:
        return "given up"
    if incarnation in told.suspected:
        return "suspected"
    return "orders messages" if incarnation in told.ordering else "listens"


def _plain(group: str, told: Standing) -> str:
    if not told.view:
        return f"{group}: {told.me.name} at {shown(told.me.address)} is no member yet\n"
    head = f"{group}: view {told.view} of {len(told.members)} members, as {told.me.name} sees it; it reaches"
    done = f"has delivered up to number {told.delivered}, and {told.untaken} events are not taken"
    lines = [f"{head} {told.reached}, {done}"]
    width = max(len(member.name) for member in told.members)
    for member in told.members:
        at, state = shown(member.address), _state(told, member.incarnation)
        lines.append(f"{member.name:{width}}  {at:21}  {member.run}  {state}")
    return "\n".join(lines) + "\n"


def _json(group: str, told: Standing) -> bytes:
    seen = [
        documents.StandingDocument(
            name=member.name,
            host=member.host,
            port=member.port,
            incarnation=member.incarnation.hex(),
            state=_state(told, member.incarnation),
        )
        for member in told.members
    ]
    document = documents.Members(
        group=group,
        me=told.me.incarnation.hex(),
        view=told.view,
        members=seen,
        reached=told.reached,
        delivered=told.delivered,
        untaken=told.untaken,
    )
    return msgspec.json.encode(document) + b"\n"
