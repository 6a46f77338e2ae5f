"""Process of a member of a group whose members change.

It talks to its parent on stdin and stdout (`control`):
1. It reads its orders, binds a socket on the loopback interface and names the port.
2. At `start` it asks to be a member. Its application broadcasts its share, with pauses, and takes every
  event. It reports its view, and how many messages the group has taken.
3. At `hurry` it makes no more pauses. At `last N` it broadcasts once more, and reports when it has delivered
  all processes' messages of that round. At `keep` it writes its state into a file.
4. At `stop` it leaves the group and exits with 0.
5. When its stdin ends, at `abandon`, or when its log or its state cannot be written, it exits at once.

The group logs the application's events itself (`MemberLog`), and would go on without a log; nobody could
judge such a run. This module must not know the relay, the faults
or the verdict.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from antiphon.conformance.judge.trace import LogWriteError, digest
from antiphon.conformance.run.cluster import control
from antiphon.conformance.run.cluster.application import payload
from antiphon.conformance.run.cluster.exercise import KEEP_S, recorded
from antiphon.conformance.run.cluster.node import give_up, guarded, lines_of, say
from antiphon.impl.errors import GroupClosed, GroupFailed
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.loops import run
from antiphon.impl.member_log import MemberLog
from antiphon.impl.membership.member import Blocked, Unblocked, View
from antiphon.impl.protocols.core import Delivery
from antiphon.impl.registry import listed
from antiphon.spec.lang.foreign import end_process

__all__ = ["State"]

_LAST = b"last"


class State:
    """State of this application: the digests of all messages, in their order."""

    def __init__(self) -> None:
        self.digests: list[str] = []

    async def save(self) -> AsyncIterator[bytes]:
        """Return all digests, one a line."""
        for first in range(0, len(self.digests), 1_000):
            yield "".join(f"{one}\n" for one in self.digests[first : first + 1_000]).encode()

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Replace the state by another process's."""
        self.digests = b"".join([piece async for piece in pieces]).decode().splitlines()


class Application:
    """Application that broadcasts a share, takes all events, and obeys the parent."""

    def __init__(
        self, orders: control.JoinOrders, group: JoinedGroup, state: State, log: MemberLog
    ) -> None:
        self._orders, self._group, self._state, self._log = orders, group, state, log
        self._hurries = asyncio.Event()
        self._standing = control.Standing(0, "", (), blocked=False)
        self._heard: dict[int, set[bytes]] = defaultdict(set)
        """Processes whose message of a last round was delivered here, by the number of the round."""
        self._calls: set[asyncio.Task[object]] = set()

    async def run(self) -> None:
        """Take part until the group is left or closed.

        Raises:
            ExceptionGroup: the errors that the group raised, or that the log cannot be written.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._take())
            tasks.create_task(self._send())

    def told(self, line: bytes) -> None:
        """Obey a command that the parent sent on standard input."""
        word = line + b"\n"
        if word == control.STOP:
            self._call(self._leave())
        elif word == control.HURRY:
            self._hurries.set()
        elif word == control.KEEP:
            self._keep()
            say(control.Kept(len(self._state.digests)))
        elif line.startswith(control.LAST):
            number = line[len(control.LAST) :]
            self._call(self._broadcast(b"%s %s %d" % (_LAST, number, self._orders.process)))

    def _keep(self) -> None:
        path = Path(self._orders.state)
        try:
            path.write_text("".join(f"{one}\n" for one in self._state.digests))
        except OSError as error:
            give_up(LogWriteError(f"{path} cannot be written: {error.strerror}"))

    def _call(self, work: Coroutine[Any, Any, object]) -> None:
        task = asyncio.create_task(work)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _leave(self) -> None:
        self._hurries.set()
        with contextlib.suppress(TimeoutError, GroupFailed):
            await self._group.leave()

    async def _send(self) -> None:
        orders = self._orders
        for k in range(orders.begun + 1, orders.share + 1):
            if not await self._broadcast(payload(orders.seed, orders.process, k, orders.run)):
                return
            say(control.Sent(k))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurries.wait(), orders.every_s)
        say(control.Finished(len(self._state.digests)))

    async def _broadcast(self, message: bytes) -> bool:
        """Broadcast once, as soon as the group accepts the message. Retry if the process is excluded
        meanwhile. Return False if the group was left or closed.
        """
        while True:
            try:
                await self._group.broadcast(message)
            except GroupFailed:
                await asyncio.sleep(0.01)  # if it is for ever, the iteration raises it too
            except GroupClosed:
                return False
            else:
                return True

    async def _take(self) -> None:
        async for event in self._group:
            if self._log.failure is not None:
                raise LogWriteError(self._log.failure)
            match event:
                case Delivery(payload=message):
                    self._state.digests.append(digest(message))
                    if message.startswith(_LAST):
                        self._note(message)
                case View(number, members):
                    names = tuple(member.incarnation.hex() for member in members)
                    me = self._group.me.incarnation.hex()
                    self._stands(control.Standing(number, me, names, blocked=False))
                case Blocked() | Unblocked():
                    was = self._standing
                    blocked = isinstance(event, Blocked)
                    self._stands(control.Standing(was.view, was.me, was.members, blocked))

    def _stands(self, standing: control.Standing) -> None:
        self._standing = standing
        say(standing)

    def _note(self, message: bytes) -> None:
        _, number, process = message.split()
        heard = self._heard[int(number)]
        heard.add(process)
        if len(heard) == len(self._orders.seeds):
            say(control.Everybody(int(number)))


def main() -> int:
    """Run one member; return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a run ends
    lines = lines_of(sys.stdin.fileno())
    orders = control.join_orders(next(lines, b""))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        say(control.Bound(bound.getsockname()[1]))
        if next(lines, b"") + b"\n" != control.START:
            return control.EXIT_ABANDONED
        run(_take_part(orders, bound, lines))
    return 0


async def _take_part(orders: control.JoinOrders, bound: socket.socket, lines: Iterator[bytes]) -> None:
    """Be a member until the parent sends `stop`."""
    implementation = listed(orders.protocol)
    assert implementation is not None, "the parent has looked"
    state, log = State(), MemberLog(orders.logs)
    with recorded(orders.exercised, implementation, len(orders.seeds)) as (watched, keep):
        group = JoinedGroup(
            orders.group, seeds=orders.seeds, bind=bound, advertise=orders.seeds[orders.process],
            key=orders.key, name=f"p{orders.process}", expect=orders.expect, protocol=watched,
            timeouts=orders.timeouts, state=state if implementation.ordered else None, log=log,
        )  # fmt: skip
        async with group:
            keeping = asyncio.create_task(_keep(keep))
            application = Application(orders, group, state, log)
            _listen(lines, application)
            await application.run()
            keeping.cancel()


async def _keep(keep: Callable[[], None]) -> None:
    """Keep what has been exercised, again and again."""
    while True:
        await asyncio.sleep(KEEP_S)
        keep()


def _listen(lines: Iterator[bytes], application: Application) -> None:
    """Read the parent's commands in a thread, so that a process whose event loop hangs still notices the
    parent's end.
    """
    loop = asyncio.get_running_loop()

    def listen() -> None:
        for line in lines:
            if line + b"\n" == control.ABANDON:
                break
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(application.told, line)
        end_process(control.EXIT_ABANDONED)

    threading.Thread(target=listen, name="parent", daemon=True).start()


if __name__ == "__main__":
    guarded(main)
