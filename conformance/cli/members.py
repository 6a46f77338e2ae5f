"""`antiphon members`: the members of a group that processes join, as one of them sees it."""

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
from antiphon.impl.looking import standing
from antiphon.impl.membership.datagrams import Standing
from antiphon.impl.transport.addresses import parsed, shown

SILENT = 2
"""Exit code when nobody answers: nothing is known."""


def members(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the group.")],
    at: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where one of its processes listens.")],
    key_file: Annotated[
        Path | None, typer.Option("--key-file", metavar="FILE", help=options.KEYS)
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", help="Give up after so many seconds.")] = 3.0,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
) -> int:
    """Ask one process of a group for its view, whom it suspects, and how far it has come."""
    try:
        keys = None if key_file is None else read_keys(key_file)
        told = asyncio.run(standing(name, parsed(at), keys, timeout))
    except TimeoutError as error:
        sys.stderr.write(f"antiphon: {error}\n")
        return SILENT
    except (LocalError, ValueError) as error:
        raise output.UsageProblem(str(error)) from error
    streams.document().buffer.write(_json(told) if json else _plain(told).encode())
    return 0


def _state(
    told: Standing, incarnation: bytes
) -> Literal["given up", "suspected", "orders messages", "listens"]:
    if incarnation in told.given_up:
        return "given up"
    if incarnation in told.suspected:
        return "suspected"
    return "orders messages" if incarnation in told.ordering else "listens"


def _plain(told: Standing) -> str:
    if not told.view:
        return f"{told.me.name} at {shown(told.me.address)} is no member yet\n"
    head = f"view {told.view} of {len(told.members)} members, as {told.me.name} sees it; it reaches"
    done = f"has delivered up to number {told.delivered}, and {told.untaken} events are not taken"
    lines = [f"{head} {told.reached}, {done}"]
    width = max(len(member.name) for member in told.members)
    for member in told.members:
        at, state = shown(member.address), _state(told, member.incarnation)
        lines.append(f"{member.name:{width}}  {at:21}  {member.run}  {state}")
    return "\n".join(lines) + "\n"


def _json(told: Standing) -> bytes:
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
        me=told.me.incarnation.hex(),
        view=told.view,
        members=seen,
        reached=told.reached,
        delivered=told.delivered,
        untaken=told.untaken,
    )
    return msgspec.json.encode(document) + b"\n"
