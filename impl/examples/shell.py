"""A replica's shell: each line of standard input is a request, and its answer is one line of JSON.

This module must not know what the requests say.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any, Protocol

from msgspec import json

from antiphon.impl.errors import GroupError, GroupFailed
from antiphon.impl.event_log import EventLog
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.lines import aside, lines
from antiphon.impl.loops import run
from antiphon.impl.registry import DEFAULT
from antiphon.impl.transport.addresses import parsed

__all__ = ["Refused", "main"]


class Refused(Exception):
    """Error: a line is no request; the message has the reason."""


class Answering(Protocol):
    """Replica that answers requests given as words."""

    async def __aenter__(self) -> Any:
        """Enter the replica's context: it begins to execute commands."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the replica's context: it stops executing commands."""

    async def answer(self, words: list[str]) -> object:
        """Execute a line and return its result. Raise `Refused` if it is no request."""


Making = Callable[[Group | JoinedGroup], Answering]
"""Function that makes the replica of a group."""


def main(replica: Making) -> int:
    """Run one replica until its input ends or a signal comes, and return the exit code."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("name", help="the name of the group")
    fixed = parser.add_argument_group("a group whose members do not change")
    fixed.add_argument("--me", type=int, help="which of the members this is, from 0")
    fixed.add_argument("--members", type=parsed, nargs="+", help="HOST:PORT of each, in order")
    joined = parser.add_argument_group("a group that processes join and leave")
    joined.add_argument("--seeds", type=parsed, nargs="+", help="HOST:PORT of processes that may be members")
    joined.add_argument("--bind", type=parsed, help="HOST:PORT where this process listens")
    joined.add_argument("--expect", type=int, help="with how many members the first seed founds the group")
    joined.add_argument("--name", dest="called", help="what this member is called; else its address")
    parser.add_argument("--log", help="a directory for the event log")
    given = parser.parse_args()
    if given.members is None if given.seeds is None else given.bind is None:
        parser.error("say --me and --members, or --bind and --seeds")
    if given.seeds is not None and given.log:
        parser.error("--log goes with --members: a group that processes join writes no event log yet")
    if given.seeds is None and not 0 <= (-1 if given.me is None else given.me) < len(given.members):
        parser.error(f"--me is from 0 to {len(given.members) - 1}")
    try:
        run(_serve(replica, given))
    except GroupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _serve(replica: Making, given: argparse.Namespace) -> None:
    with contextlib.ExitStack() as stack:
        group = _fixed(given, stack) if given.seeds is None else _joined(given)
        here = replica(group)  # before the group is open: it gives its state to who joins
        async with group, here:
            answering = asyncio.create_task(_answer(here, goes_on=given.seeds is not None))
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, answering.cancel)
            await asyncio.wait({answering})
        if not answering.cancelled():
            answering.result()


def _fixed(given: argparse.Namespace, stack: contextlib.ExitStack) -> Group:
    routes = {process: at for process, at in enumerate(given.members) if process != given.me}
    settings: dict[str, Any] = {}
    if given.log:
        place = {"group": given.name, "me": given.me, "members": len(given.members)}
        settings["tracer"] = stack.enter_context(EventLog(given.log, protocol=DEFAULT, **place))
    return Group(
        given.name, me=given.me, members=len(given.members), bind=given.members[given.me], routes=routes,
        key=None, **settings,
    )  # fmt: skip


def _joined(given: argparse.Namespace) -> JoinedGroup:
    return Group.join(
        given.name, seeds=given.seeds, bind=given.bind, expect=given.expect, name=given.called, key=None
    )


async def _answer(here: Answering, *, goes_on: bool) -> None:
    """Answer the lines in turn, each after the previous one is answered. With `goes_on`, continue after this
    member was excluded.
    """
    async for line in lines(sys.stdin.fileno()):
        try:
            answer = await here.answer(line.decode(errors="replace").split())
        except Refused as error:
            answer = {"refused": str(error)}
        except GroupFailed as error:
            if not goes_on:
                raise
            answer = {"unknown": str(error)}
        await aside(partial(_put, json.encode(answer) + b"\n"))


def _put(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
