"""Group for programs without asyncio: a thread of its own runs the event loop, and calls wait for it.

    with SyncGroup("orders", me=0, members=3, bind=..., routes={1: ..., 2: ...}, key=key) as group:
        group.broadcast(b"hello", timeout_s=5)
        for event in group:
            print(event.source, event.payload)

`SyncGroup.join(...)` is a group that processes join and leave, as `Group.join`:

    with SyncGroup.join("orders", seeds=[...], bind=..., key=key, expect=3) as group:
        for event in group:
            match event:
                case View(number, members): ...
                case Delivery(source, payload=payload): ...

1. Any thread may call. What the group raises, the call raises; a call that takes longer than `timeout_s`
   raises `TimeoutError` and is cancelled, as `Group` says for each.
2. An interrupt (Ctrl-C) ends the waiting call as a timeout does, with KeyboardInterrupt; the group stays open
   until its `with` ends.
3. A group that a program leaves open is closed when the interpreter exits.

This module must not know how a group works.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from antiphon.impl.errors import GroupClosed
from antiphon.impl.group import Address, Event, Group, Identifier, Keyring, Statistics, Wait
from antiphon.impl.joined import JoinedEvent, JoinedGroup, JoinedStatistics, Sent, Suspected
from antiphon.impl.loops import new_event_loop
from antiphon.impl.membership.member import Member, View

__all__ = ["SyncGroup", "SyncJoinedGroup", "SyncStore"]

T = TypeVar("T")
E = TypeVar("E")


_ENDING_S = 2.0
"""Seconds that the end of a group may take besides its leaving."""

_CLOSING_S = 7.0
"""Seconds that the exit of the interpreter waits for a group with fixed members that was left open."""


class _Asynchronous(Protocol[E]):
    """Interface that both kinds of groups under asyncio have."""

    @property
    def address(self) -> Address: ...

    def rekey(self, key: bytes | Keyring) -> None: ...

    def at_hand(self) -> list[E]: ...

    async def __aenter__(self) -> Any: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def __anext__(self) -> E: ...


G = TypeVar("G", bound=_Asynchronous[Any])


class _BlockingGroup(Generic[G, E]):
    """Group in a thread of its own, with blocking calls; a context manager, used once."""

    def __init__(self, group: G, name: str, closing_s: float = _CLOSING_S) -> None:
        self._group = group
        self._name = name
        self._closing_s = closing_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._taken: deque[E] = deque()
        self._taking = threading.Lock()
        self._entry = threading.Lock()
        self._closing = False

    def __enter__(self) -> Self:
        """Open the group: bind the socket and take part.

        Raises:
            GroupClosed: the group was opened before.
            UnusableAddress: an address cannot be resolved or bound.
            InvalidMembership: two members are at one address.
        """
        if self._thread is not None:
            raise GroupClosed("a group is opened once; make another one")
        self._loop = new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"group {self._name}", daemon=True
        )
        self._thread.start()
        atexit.register(self.close)
        try:
            self._wait(self._group.__aenter__(), None)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the group, as `close` does."""
        self.close()

    def close(self) -> None:
        """Leave the group: waiting calls raise `GroupClosed`, and iteration ends after the events at hand. A
        second call does nothing.
        """
        atexit.unregister(self.close)
        loop, thread = self._loop, self._thread
        with self._entry:
            if loop is None or thread is None or self._closing:
                return
            self._closing = True  # no call comes after this one, so none can wait for a loop that has stopped
            leaving = asyncio.run_coroutine_threadsafe(self._within(self._leave(), self._closing_s), loop)
        try:
            leaving.result()
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join(self._closing_s)
            if not thread.is_alive():
                loop.close()

    def __iter__(self) -> Iterator[E]:
        """Iterate the events in the group's order; iteration ends when the group is closed and all were
        taken.
        """
        return self

    def __next__(self) -> E:
        """Return the next event; wait for it without a limit of time."""
        return self.next()

    def next(self, timeout_s: float | None = None) -> E:
        """Return the next event; each event goes to one caller only.

        Raises:
            TimeoutError: none came in time.
            GroupFailed: the group cannot go on, and all that came before was taken.
            StopIteration: the group is closed, and all was taken.
        """
        began = time.monotonic()
        if not self._taking.acquire(timeout=-1 if timeout_s is None else max(0.0, timeout_s)):
            raise self._late(timeout_s)
        try:
            if not self._taken:
                waited = time.monotonic() - began
                try:
                    self._wait(self._take(), timeout_s, waited)
                except GroupClosed:
                    if not self._closing:
                        raise
            if not self._taken:
                raise StopIteration
            return self._taken.popleft()
        finally:
            self._taking.release()

    def rekey(self, key: bytes | Keyring) -> None:
        """Replace the group's keys: the first key is used, all are accepted. Raise `InvalidKey` as
        `Group.rekey` does, and `GroupClosed` if the group is not open.
        """
        self._wait(self._rekey(key), None)

    @property
    def address(self) -> Address:
        """Return the address at which this member listens. Raise `GroupClosed` outside `with`."""
        return self._group.address

    def __repr__(self) -> str:
        return f"<Sync{repr(self._group)[1:]}"

    async def _take(self) -> None:
        """Move events into this object's queue, at least one; none if the group is closed and all events were
        taken.

        The queue is filled in the group's thread, so that a caller that has just given up loses no event.
        """
        with contextlib.suppress(StopAsyncIteration):
            self._taken.append(await anext(self._group))
            self._taken.extend(self._group.at_hand())

    async def _rekey(self, key: bytes | Keyring) -> None:
        self._group.rekey(key)

    async def _leave(self) -> None:
        """Close the group, end the waiting calls, and keep the events that nobody has taken."""
        await self._group.__aexit__(None, None, None)
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        if calls:
            await asyncio.wait(calls, timeout=self._closing_s)
        self._taken.extend(self._group.at_hand())

    def _wait(self, work: Coroutine[Any, Any, T], timeout_s: float | None, waited_s: float = 0.0) -> T:
        """Run a coroutine in the group's thread, and wait for its result, for `timeout_s` less the seconds
        that the caller has waited already.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise RuntimeError("the group's own thread cannot wait for the group; call from another one")
        with self._entry:
            if self._loop is None or self._closing:
                work.close()
                raise GroupClosed(f"{self._name!r} is {'closed' if self._loop else 'used outside `with`'}")
            done = asyncio.run_coroutine_threadsafe(self._within(work, timeout_s, waited_s), self._loop)
        try:
            return done.result()
        except BaseException:  # an interrupt, or what the work raised
            done.cancel()
            raise

    async def _within(
        self, work: Coroutine[Any, Any, T], timeout_s: float | None, waited_s: float = 0.0
    ) -> T:
        try:
            async with asyncio.timeout(None if timeout_s is None else timeout_s - waited_s):
                return await work
        except TimeoutError:
            if timeout_s is None:  # it is the work's own, and says what was waited for
                raise
            raise self._late(timeout_s) from None

    def _late(self, timeout_s: float | None) -> TimeoutError:
        return TimeoutError(f"nothing within {timeout_s:g} s: {self._group!r}")


class SyncGroup(_BlockingGroup[Group, Event]):
    """One member of a group of fixed members, with blocking calls; a context manager, used once."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Make a member; arguments and exceptions are those of `Group`."""
        group = Group(*arguments, **settings)
        super().__init__(group, group.name)

    @staticmethod
    def join(*arguments: Any, state: SyncStore | None = None, **settings: Any) -> SyncJoinedGroup:
        """Make a process that joins a group whose members come, go and fail, or founds it.

        Arguments and exceptions are those of `Group.join`. `state` has methods that wait (`SyncStore`).
        """
        return SyncJoinedGroup(*arguments, state=state, **settings)

    def broadcast(
        self,
        payload: bytes | bytearray | memoryview,
        timeout_s: float | None = None,
        *,
        deliver: str | int | None = None,
    ) -> Identifier:
        """Send a message to all members, this one included. Return the message's identifier once the message
        is on its way.

        Raises:
            TimeoutError: the protocol did not take it in time; it is not sent, unless it was taken just then.
            TypeError, PayloadTooLarge, UnknownDelivery, GroupClosed, GroupFailed: as `Group.broadcast`.
        """
        return self._wait(self._group.broadcast(payload, deliver=deliver), timeout_s)

    @property
    def statistics(self) -> Statistics:
        """Return the counts of datagrams, messages and faults since the group was opened."""
        return self._group.statistics

    @property
    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this member needs now, each with the member from which it has to come."""
        return self._group.waits

    @property
    def waiting_s(self) -> float:
        """Seconds for which this member has waited for the messages in `waits`; 0 when it waits for none."""
        return self._group.waiting_s


class SyncStore(Protocol):
    """State of an application without asyncio; it corresponds to `Store`, with blocking methods.

    Both methods run in the group's thread, while the thread that takes events waits for the next one; so only
    one thread may take events of a group with a state. `load` runs within a `broadcast` too: where other
    threads broadcast, the state has a lock of its own.
    """

    def save(self) -> Iterable[bytes]:
        """Return the present state in pieces: after all events that were taken, and before any other."""
        ...

    def load(self, pieces: Iterable[bytes]) -> None:
        """Replace the state by the one in these pieces. Later events are applied to it."""
        ...


class SyncJoinedGroup(_BlockingGroup[JoinedGroup, JoinedEvent]):
    """One member of a group that others join and leave, with blocking calls."""

    def __init__(self, *arguments: Any, state: SyncStore | None = None, **settings: Any) -> None:
        """Make a process that joins; arguments and exceptions are those of `Group.join`."""
        waits = None if state is None else _Stored(state)
        group = JoinedGroup(*arguments, state=waits, **settings)
        super().__init__(group, group.group, group.leaving_s + _ENDING_S)

    def broadcast(self, payload: bytes | bytearray | memoryview, timeout_s: float | None = None) -> Sent:
        """Send a message to all members, this one included. Return the name of the message once it is on its
        way.

        Raises:
            TimeoutError: it could not be sent in time, and is not, unless it was sent just then.
            TypeError, PayloadTooLarge, GroupClosed, GroupFailed: as `JoinedGroup.broadcast`.
        """
        return self._wait(self._group.broadcast(payload), timeout_s)

    def leave(self, timeout_s: float | None = None) -> None:
        """Leave the group, and close. Raises `TimeoutError` as `JoinedGroup.leave`."""
        try:
            self._wait(self._group.leave(timeout_s), None)
        finally:
            self.close()

    @property
    def me(self) -> Member:
        """Identity of this process as a member; it changes with an exclusion and a return. Raises
        `GroupClosed`.
        """
        return self._group.me

    @property
    def view(self) -> View | None:
        """Return the last view, also before the application has taken its event; None before the first."""
        return self._group.view

    @property
    def name(self) -> str:
        """Name of this member. Raises `GroupClosed` before the group is open."""
        return self._group.name

    @property
    def keys(self) -> Keyring | None:
        """Keys in use and keys that are accepted; None for a group without one."""
        return self._group.keys

    @property
    def statistics(self) -> JoinedStatistics:
        """Counts so far. Raises `GroupClosed`."""
        return self._wait(self._of_group(lambda group: group.statistics), None)

    @property
    def suspicions(self) -> tuple[Suspected, ...]:
        """The last changes of mind of this member about others, the oldest first. Raises `GroupClosed`."""
        return self._wait(self._of_group(lambda group: group.suspicions), None)

    @property
    def suspected(self) -> tuple[Suspected, ...]:
        """For each member of the view that this one suspects now, when and why it began to. Raises
        `GroupClosed`.
        """
        return self._wait(self._of_group(lambda group: group.suspected), None)

    @property
    def reached(self) -> int:
        """Number of members that this member reaches, with itself; 0 before the first view."""
        return self._group.reached

    @property
    def waits(self) -> tuple[str, ...]:
        """The messages that this member needs now. Raises `GroupClosed`."""
        return self._wait(self._of_group(lambda group: group.waits), None)

    @property
    def waiting(self) -> int:
        """Number of calls of `broadcast` that wait."""
        return self._group.waiting

    @property
    def untaken(self) -> int:
        """Number of events that the application has not taken."""
        return self._group.untaken

    async def _of_group(self, ask: Callable[[JoinedGroup], T]) -> T:
        """Ask the group in its own thread, where nothing changes meanwhile."""
        return ask(self._group)


class _Stored:
    """Adapter that gives a state with blocking methods the asynchronous methods of `Store`."""

    def __init__(self, state: SyncStore) -> None:
        self._state = state

    async def save(self) -> AsyncIterator[bytes]:
        for piece in self._state.save():
            yield piece

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        self._state.load([piece async for piece in pieces])
