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
from types import TracebackType
from typing import Any, Protocol

from msgspec import json

from antiphon.impl.errors import GroupError
from antiphon.impl.event_log import EventLog
from antiphon.impl.group import Group
from antiphon.impl.lines import lines
from antiphon.impl.loops import run
from antiphon.impl.registry import DEFAULT
from antiphon.impl.transport.addresses import parsed

__all__ = ["Refused", "main"]


class Refused(Exception):
    """A line is no request; the message says what is."""


class Answering(Protocol):
    """A replica that understands words."""

    async def __aenter__(self) -> Any:
        """Take part."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave."""

    async def answer(self, words: list[str]) -> object:
        """What a line comes to. Raises `Refused`."""


def main(replica: Callable[[Group], Answering]) -> int:
    """Run one replica until its input ends or a signal comes; the exit code."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("name", help="the name of the group")
    parser.add_argument("--me", type=int, required=True, help="which of the members this is, from 0")
    parser.add_argument(
        "--members", type=parsed, nargs="+", required=True, help="HOST:PORT of each, in order"
    )
    parser.add_argument("--log", help="a directory for the event log")
    given = parser.parse_args()
    try:
        run(_serve(replica, given))
    except GroupError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


async def _serve(replica: Callable[[Group], Answering], given: argparse.Namespace) -> None:
    routes = {process: at for process, at in enumerate(given.members) if process != given.me}
    with contextlib.ExitStack() as stack:
        settings: dict[str, Any] = {}
        if given.log:
            place = {"group": given.name, "me": given.me, "members": len(given.members)}
            settings["tracer"] = stack.enter_context(EventLog(given.log, protocol=DEFAULT, **place))
        group = Group(
            given.name, me=given.me, members=len(given.members), bind=given.members[given.me], routes=routes,
            key=None, **settings,
        )  # fmt: skip
        async with group, replica(group) as here:
            answering = asyncio.create_task(_answer(here))
            for number in (signal.SIGINT, signal.SIGTERM):
                asyncio.get_running_loop().add_signal_handler(number, answering.cancel)
            await asyncio.wait({answering})
        if not answering.cancelled():
            answering.result()


async def _answer(here: Answering) -> None:
    """Answer each line when the one before is answered."""
    async for line in lines(sys.stdin.fileno()):
        try:
            answer = await here.answer(line.decode(errors="replace").split())
        except Refused as error:
            answer = {"refused": str(error)}
        sys.stdout.buffer.write(json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
