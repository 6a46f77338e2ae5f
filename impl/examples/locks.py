"""A lock service: the first to ask in the common order has the lock, and gets a fencing token that only
grows.

    python -m antiphon.impl.examples.locks doors --me 0 --members 127.0.0.1:7000 127.0.0.1:7001 127.0.0.1:7002
    python -m antiphon.impl.examples.locks doors --bind 127.0.0.1:7000 --seeds 127.0.0.1:7000 --expect 1

The first form is a group whose members do not change; with the second one processes join, leave and fail.
Lines of standard input: `acquire LOCK`, answered with the token once the lock is held, `release LOCK TOKEN`,
`dump`. The token is the number of the request in the common order. What a lock protects should keep the
greatest token that it has seen and refuse smaller ones: then a holder that was asleep for long cannot harm. A
lock is released by its holder's message, and by a view without its holder, at all members at the same place
of the order. A member that has lost a lock by a view, and is alive, gets false from its `release`.

Source of the fencing token: Burrows 2006, "The Chubby lock service", section 2.4 (a sequencer).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections import deque
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, msgpack

from antiphon.impl.errors import GroupClosed, GroupFailed
from antiphon.impl.examples.replica import Replica, Source, owner
from antiphon.impl.examples.shell import Refused, main
from antiphon.impl.group import Group
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.membership.member import View

__all__ = ["Locks"]

Name = Annotated[str, Meta(max_length=1_000)]


class Acquire(Struct, frozen=True, tag=True):
    """Command: the sender wants the lock."""

    lock: Name


class Release(Struct, frozen=True, tag=True):
    """Command: the sender, which got this token, gives the lock back or stops waiting for it."""

    lock: Name
    token: int


Command = Acquire | Release

_decoder: msgpack.Decoder[Command] = msgpack.Decoder(Command)


class Claim(NamedTuple):
    """Claim of a member that has the lock or waits for it."""

    token: int
    owner: str


class Locks(Replica[int]):
    """One copy of all locks: for each, the claims in their order; the first has the lock."""

    def __init__(self, group: Group | JoinedGroup) -> None:
        super().__init__(group)
        self.claims: dict[str, deque[Claim]] = {}
        self._held: dict[int, asyncio.Future[None]] = {}
        """Calls of `acquire` in this process, by token: done when the lock is held."""
        self._gives_back: set[asyncio.Task[None]] = set()

    async def acquire(self, lock: str) -> int:
        """Wait for the lock, and return its token. A call that is cancelled gives the lock back, or stops
        waiting for it, as soon as its token is known.

        Raises:
            GroupClosed, GroupFailed: the group ended, or this member was excluded while it waited.
        """
        asked = asyncio.ensure_future(self.execute(msgpack.encode(Acquire(lock))))
        try:
            token = await asyncio.shield(asked)
            await self._held[token]
        except asyncio.CancelledError:
            task = asyncio.create_task(self._give_back(lock, asked))
            self._gives_back.add(task)
            task.add_done_callback(self._gives_back.discard)
            raise
        finally:
            if asked.done() and not asked.cancelled() and asked.exception() is None:
                self._held.pop(asked.result(), None)
        return token

    async def _give_back(self, lock: str, asked: asyncio.Future[int]) -> None:
        """Release a lock for which a cancelled call has asked. After the end of the group there is nothing to
        release.
        """
        with contextlib.suppress(GroupFailed, GroupClosed):
            token = await asked
            self._held.pop(token, None)
            await self.release(lock, token)

    async def release(self, lock: str, token: int) -> bool:
        """Give the lock back; return True if this member had or awaited it with this token."""
        return bool(await self.execute(msgpack.encode(Release(lock, token))))

    def apply(self, command: bytes, number: int, source: Source) -> int:
        """Execute one command."""
        request = _decoder.decode(command)
        claims = self.claims.setdefault(request.lock, deque())
        match request:
            case Acquire():
                result = number
                claims.append(Claim(number, owner(source)))
                if source == self._group.me:
                    self._held[number] = asyncio.get_running_loop().create_future()
            case Release(_, token):
                result = Claim(token, owner(source)) in claims
                if result:
                    claims.remove(Claim(token, owner(source)))
        self._look(request.lock)
        return result

    def installed(self, view: View) -> None:
        """Release the locks of former members, and strike their claims."""
        members = {owner(member) for member in view.members}
        for lock, claims in list(self.claims.items()):
            for claim in [claim for claim in claims if claim.owner not in members]:
                claims.remove(claim)
                waiting = self._held.get(claim.token)
                if waiting is not None and not waiting.done():
                    waiting.set_exception(GroupFailed("this member was excluded while it waited for a lock"))
            self._look(lock)

    def _look(self, lock: str) -> None:
        """Wake the holder of a lock, if it waits in this process; delete a lock that nobody holds or waits
        for.
        """
        claims = self.claims[lock]
        if not claims:
            del self.claims[lock]
        elif claims[0].token in self._held and not self._held[claims[0].token].done():
            self._held[claims[0].token].set_result(None)

    def dump(self) -> bytes:
        """Return all claims."""
        return msgpack.encode({lock: list(claims) for lock, claims in self.claims.items()})

    def restore(self, state: bytes) -> None:
        """Replace all claims by those in `state`. Calls of `acquire` that still wait here fail: the member
        that made them was excluded.
        """
        claims = msgpack.decode(state, type=dict[str, list[Claim]])
        self.claims = {lock: deque(each) for lock, each in claims.items()}
        for waiting in self._held.values():
            if not waiting.done():
                waiting.set_exception(GroupFailed("this member was excluded while it waited for a lock"))

    async def answer(self, words: list[str]) -> object:
        """Execute a line of the shell and return its result. Raises `Refused`."""
        match words:
            case ["acquire", lock]:
                return await self.acquire(lock)
            case ["release", lock, token] if token.isdecimal():
                return await self.release(lock, int(token))
            case ["dump"]:
                claims = {lock: list(claims) for lock, claims in self.claims.items()}
                return {"applied": self.applied, "claims": claims}
        raise Refused("acquire LOCK, release LOCK TOKEN, dump")


if __name__ == "__main__":
    sys.exit(main(Locks))
