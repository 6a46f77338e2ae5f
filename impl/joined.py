"""A group whose members come, go and fail: one ordered stream of views and messages.

    async with Group.join("orders", seeds=[("db1", 7000), ("db2", 7000)], bind=("db1", 7000),
                          name="db1", key=key, expect=2) as group:
        await group.broadcast(b"hello")
        async for event in group:
            match event:
                case View(number, members):
                    ...
                case Delivery(source, payload=payload):
                    print(source.name, payload)
                case Blocked(have, needs):
                    ...

A view stands at the same place between the same messages at all members that stay. A majority of the last
view goes on. A smaller part gets `Blocked`, and delivers nothing until it gets `Unblocked`, or comes back as
new members. This module must not know what a datagram holds, or how members agree.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol, Self

from antiphon.impl.errors import (
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    PayloadTooLarge,
    UnusableAddress,
)
from antiphon.impl.layers import Layers
from antiphon.impl.membership.detector import LAN, Timeouts
from antiphon.impl.membership.member import (
    META_BYTES_MAX,
    NAME_BYTES_MAX,
    Blocked,
    Excluded,
    Left,
    Member,
    Unblocked,
    View,
)
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.transfer import Wanted
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, bytes_copy
from antiphon.impl.protocols.rbp import irbp
from antiphon.impl.registry import implementation
from antiphon.impl.transport.addresses import Address, resolved, shown
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shell import bound

__all__ = ["IRBP", "JoinedEvent", "JoinedGroup", "Store"]

class Store(Protocol):
    """An application's state, which who joins gets from a member."""

    def save(self) -> AsyncIterator[bytes]:
        """Give the state as it is now, in pieces: after all events that were taken, and before any other.

        It is taken whole before the next event is given.
        """
        ...

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Become the state that these pieces are; events follow from there."""
        ...


JoinedEvent = View | Delivery[Member] | Blocked | Unblocked
"""What iteration gives."""

_LAYERS = Layers()

IRBP = "irbp"
"""The protocol of a group that names none: RBP's ring, figure 25, under the view changes of iRBP."""

_LINGERS_S = 0.005
"""How often a member that leaves looks whether the others still need it."""

_LEAVING_S = 5.0
"""How long `leave` waits for the others' agreement."""


class JoinedGroup:
    """One member of a group that others join and leave; an asynchronous context manager, used once."""

    def __init__(
        self,
        group: str,
        *,
        seeds: Sequence[Address],
        bind: Address | socket.socket,
        key: bytes | Keyring | None,
        name: str | None = None,
        advertise: Address | None = None,
        expect: int | None = None,
        bootstrap: bool = False,
        meta: bytes = b"",
        protocol: Implementation[Any] | str = IRBP,
        timeouts: Timeouts = LAN,
        on_exclusion: Literal["rejoin", "fail"] = "rejoin",
        state: Store | None = None,
        layers: Layers = _LAYERS,
    ) -> None:
        """A process that joins the group with this name, or founds it.

        `seeds` are addresses of processes that may be members; who joins asks them. They are the same
        everywhere. The process at the first of them founds the group, when `expect` processes ask to be
        members, itself too; with `bootstrap` this process founds it, alone. Nobody else ever does, however
        long it waits.

        `bind` is where this process listens, an address or a bound UDP socket that the group will close;
        `advertise` is where the others reach it, if that is another address. `name` is what people know it
        by, by default its address; `meta` are bytes for the other members. `key` is as of `Group`.

        `timeouts` say after which silences a member is suspected, and excluded: `LOCAL`, `LAN`, `WAN`, or
        `Timeouts(...)` (`antiphon.impl.membership.detector`), the same everywhere. With `on_exclusion`
        "rejoin" a process that the others have taken for crashed comes back as a new member; with "fail" the
        group raises `GroupFailed` there. `state` gives and takes the application's state, so that who joins
        has what it has missed (`Store`). `protocol` orders the messages of a list of members: "irbp" is
        RBP's ring; or an implementation that has lists (`Implementation.listed`). `layers` are as of
        `Group`.

        Raises:
            InvalidSetting: an argument is of another kind than it must be, or out of its range, or the
                protocol has no lists.
            InvalidKey: a key has not 32 bytes.
            UnknownProtocol: no protocol has this name.
        """
        _see_kinds(
            group=group, seeds=seeds, name=name, meta=meta, expect=expect, timeouts=timeouts,
            on_exclusion=on_exclusion,
        )  # fmt: skip
        self.group = group
        self._given_name = name
        self._keys = key if key is None or isinstance(key, Keyring) else Keyring(key)
        self._seeds: list[Address] = [(host, port) for host, port in seeds]
        self._bind = bind
        self._advertise = advertise
        self._expect = 1 if bootstrap else expect
        self._bootstrap = bootstrap
        self._meta = meta
        self._protocol = _with_lists(protocol)
        self._timeouts = timeouts
        self._rejoins = on_exclusion == "rejoin"
        self._layers = layers
        self._state = state
        self._awaits_state = False
        self._moves_states = False
        """Whether somebody wants the state of this application, or this one waits for another's."""
        self._begins = True
        """Whether the next view is the first one of this run."""
        self._began_after = 0
        """The place in the common order after which this run began."""
        self._taken = 0
        """The place in the common order of the last message that was taken."""
        self._shell: MemberShell | None = None
        self._own: Address = ("", 0)
        self._numeric_seeds: list[Address] = []
        self._events: deque[JoinedEvent] = deque()
        self._waiting: deque[tuple[bytes, asyncio.Future[Identifier]]] = deque()
        self._news = asyncio.Event()
        self._failure: Exception | None = None
        self._open = False
        self._left = False
        self._again: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Bind, and ask to be a member; the first event is the first view.

        Raises:
            UnusableAddress: the address cannot be bound, or a host not resolved.
            GroupClosed: the group was opened before.
        """
        if self._shell is not None:
            raise GroupClosed("a group is opened once; make another one")
        self._open = True
        await self._begin(first=True)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave, if it can be done in time, and close."""
        if kind is None:
            with contextlib.suppress(TimeoutError, GroupFailed):
                await self.leave()
        await self.close()

    async def leave(self, timeout_s: float = _LEAVING_S) -> None:
        """Be no member any more; the others see a view without this one, and suspect nobody for it.

        Raises:
            TimeoutError: they have not agreed in so many seconds; this one has stopped all the same, and the
                others will take it for crashed.
        """
        if self._shell is None or not self._open:
            return
        self._rejoins = False
        if self._shell.membership.over:  # it was excluded, and would have come back
            self._left = True
            await self.close()
            return
        self._shell.leave()
        try:
            async with asyncio.timeout(timeout_s):
                while not self._left and self._failure is None:
                    self._news.clear()
                    await self._news.wait()
                while self._shell.membership.owes:  # the others may need what this member says about the end
                    await asyncio.sleep(_LINGERS_S)
        finally:
            await self.close()

    async def close(self) -> None:
        """Stop at once, without a word to the others. Again: nothing."""
        self._open = False
        if self._again is not None:
            self._again.cancel()
        self._refuse(GroupClosed("the group was closed before the message was sent"))
        self._news.set()
        if self._shell is not None:
            await self._shell.close()

    # What it is ---------------------------------------------------------------------------------------------

    @property
    def me(self) -> Member:
        """This member: another one after it was excluded and has come back. Raises `GroupClosed`."""
        return self._membership.me

    @property
    def view(self) -> View | None:
        """The last view, whether its event was taken or not; None before the first."""
        return self._membership.view

    @property
    def address(self) -> Address:
        """Where the others reach this member. Raises `GroupClosed` outside `async with`."""
        return self._membership.me.address

    @property
    def untaken(self) -> int:
        """How many events nobody has taken yet."""
        return len(self._events) + self._membership.untaken

    def rekey(self, key: bytes | Keyring) -> None:
        """Use and accept these keys from now on; the others have to accept the one in use."""
        self._keys = key if isinstance(key, Keyring) else Keyring(key)
        if self._shell is not None:
            self._shell.sessions.rekey(self._keys)

    @property
    def _membership(self) -> Membership:
        if self._shell is None:
            raise GroupClosed("outside `async with`")
        return self._shell.membership

    # Sending and taking -------------------------------------------------------------------------------------

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Identifier:
        """Send to all members, oneself too; returns the message's place in the list and count of its source.

        Waits while this process is no member yet, a view changes, or as much is on its way as may be. A
        message that was taken is delivered in the end, if this member stays one; who is excluded loses what
        was not delivered, and so do its other broadcasts that wait.

        Raises:
            TypeError, PayloadTooLarge: as `Group.broadcast`; nothing was done.
            GroupClosed: outside `async with`, or closed while waiting.
            GroupFailed: this member was excluded before the message was sent, or before, and `on_exclusion`
                is "fail".
        """
        if self._failure is not None:
            raise self._failure
        if not self._open:
            raise GroupClosed("broadcast outside `async with`")
        payload = _checked(payload, self._layers)
        if not self._waiting and not self._membership.busy:
            assert self._shell is not None, "it is open"
            identifier = self._shell.broadcast(payload)
            self._tell()
            return identifier
        served: asyncio.Future[Identifier] = asyncio.get_running_loop().create_future()
        self._waiting.append((payload, served))
        return await served

    def __aiter__(self) -> AsyncIterator[JoinedEvent]:
        """The events in the group's order; ends when the group is left or closed and all were taken."""
        return self

    async def __anext__(self) -> JoinedEvent:
        """The next event; each goes to one caller only.

        Raises:
            GroupFailed: this member was excluded, and `on_exclusion` is "fail".
            StopAsyncIteration: the group is closed or left, and all was taken.
        """
        while self._moves_states or not self._events:
            self._moves_states = False
            await self._give_states()
            self._fetched()
            if self._awaits_state:
                await self._take_state()
                self._moves_states = self._awaits_state
            if self._events and not self._moves_states:
                break
            if self._failure is not None:
                raise self._failure
            if not self._open or self._left:
                raise StopAsyncIteration
            if self._awaits_state or not self._events:
                self._news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), self._patience_s)
        event = self._events.popleft()
        if type(event) is Delivery:
            self._taken = event.number
        return event

    # The state of the application ---------------------------------------------------------------------------

    @property
    def _patience_s(self) -> float | None:
        """How long to wait for a piece of a state before another member is asked."""
        return self._timeouts.exclude_ms / 1000.0 if self._awaits_state else None

    async def _give_states(self) -> None:
        """Give the state as it is now to all who want it, and may have it as of now."""
        transfers = self._membership.transfers
        for wanted in [wanted for wanted in transfers.wanted if self._answers(wanted)]:
            transfers.wanted.remove(wanted)
            if self._state is None or self._awaits_state:
                transfers.refuse(wanted)
            else:
                number, pieces = self._taken, [bytes(piece) async for piece in self._state.save()]
                transfers.give(wanted, number, pieces)
            if self._shell is not None:
                self._shell.flush()

    def _answers(self, wanted: Wanted) -> bool:
        return self._state is None or self._awaits_state or self._taken >= wanted.after

    async def _take_state(self) -> None:
        """Take the state that has come; else see that somebody is asked for it."""
        membership = self._membership
        transfers, view = membership.transfers, membership.view
        if transfers.state is not None and self._state is not None:
            number, pieces = transfers.state
            transfers.state, self._awaits_state = None, False
            await self._state.load(_each(pieces))
            self._taken = number
            self._events = deque(
                event for event in self._events if not isinstance(event, Delivery) or event.number > number
            )
            return
        late = asyncio.get_running_loop().time() * 1000.0 > transfers.progress_at + self._timeouts.exclude_ms
        if view is not None and not membership.over and (not transfers.waits or late):
            others = [member.incarnation for member in view.members if member != membership.me]
            if others:  # the last asked is asked last
                last = others.index(transfers.donor) if transfers.donor in others else 0
                now = asyncio.get_running_loop().time() * 1000.0
                transfers.ask(others[last - 1], self._began_after, now)
                if self._shell is not None:
                    self._shell.flush()

    def __repr__(self) -> str:
        state = "open" if self._open else "failed" if self._failure is not None else "closed"
        told = "" if self._shell is None else f"; {self._shell.membership!r}"
        return f"<Group {self.group!r}: {state}{told}>"

    # From run to run ----------------------------------------------------------------------------------------

    async def _begin(self, *, first: bool) -> None:
        """Be a process that wants to be a member, with another incarnation each time."""
        sock = await self._socket() if first else self._bound_again()
        host, port = self._own
        name = self._given_name or shown(self._own)
        own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
        founder = first and (self._bootstrap or self._numeric_seeds[:1] == [self._own])
        membership = Membership(
            self._protocol, self.group, Member(own, name, host, port, self._meta),
            seeds=self._numeric_seeds, founds=self._expect if founder else None, timeouts=self._timeouts,
            layers=self._layers,
        )  # fmt: skip
        self._begins = True
        self._shell = MemberShell(membership, self._keys, on_progress=self._go_on, on_failure=self._fail)
        await self._shell.open(sock)

    async def _socket(self) -> socket.socket:
        """Resolve the hosts, and bind."""
        found = await resolved(self._bind, dict(enumerate(self._seeds)))
        self._numeric_seeds = [found.routes[place][:2] for place in range(len(self._seeds))]
        if isinstance(self._bind, socket.socket):
            sock = self._bind
        else:
            sock = bound(found.family, found.own or self._bind)
        at = sock.getsockname()[:2]
        self._listens = at
        if self._advertise is not None:
            found = await resolved(sock, {0: self._advertise})
            at = found.routes[0][:2]
        elif at[0] in ("0.0.0.0", "::"):  # noqa: S104 - it is refused here, not bound
            sock.close()
            raise UnusableAddress(0, f"{shown(at)} is where others cannot send: say advertise=(host, port)")
        self._own = (at[0], at[1])
        return sock

    def _bound_again(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._listens[0] else socket.AF_INET
        return bound(family, self._listens)

    def _go_on(self) -> None:
        """Hand waiting payloads to the protocol while it takes them, and tell who waits for events."""
        shell = self._shell
        assert shell is not None, "it is open"
        while self._waiting and not shell.membership.over and not shell.membership.busy:
            payload, served = self._waiting.popleft()
            if not served.done():
                served.set_result(shell.broadcast(payload))
        self._tell()

    def _tell(self) -> None:
        assert self._shell is not None, "it is open"
        membership = self._shell.membership
        if membership.transfers.wanted or self._awaits_state:
            self._moves_states = True
            self._news.set()
        elif membership.untaken:
            self._news.set()
        if membership.over and self._open:
            self._fetched()

    def _fetched(self) -> bool:
        """Take what has come; whether there was any."""
        if self._shell is None:
            return False
        events = self._shell.membership.events()
        for event in events:
            if isinstance(event, Excluded):
                self._excluded(event)
            elif isinstance(event, Left):
                self._left = True
                self._refuse(GroupClosed("the group was left before the message was sent"))
                self._news.set()
            else:
                if isinstance(event, View) and self._begins:
                    self._begins = False
                    self._began_after = self._taken = self._shell.membership.began_after
                    self._awaits_state = self._state is not None and event.number > 1
                self._events.append(event)
        if events:
            self._shell.taken()
        return bool(self._events)

    def _excluded(self, event: Excluded) -> None:
        if self._left:
            return
        failed = GroupFailed(f"{self.me.name} was excluded: {event.why}")
        self._refuse(failed)
        if self._rejoins:
            self._again = asyncio.get_running_loop().create_task(self._come_back())
        else:
            self._failure = failed
        self._news.set()

    async def _come_back(self) -> None:
        assert self._shell is not None, "it was open"
        await self._shell.close()
        if self._open:
            try:
                await self._begin(first=False)
            except Exception as error:  # noqa: BLE001 - whatever failed, the user of the group has to learn it
                self._fail(error)

    def _fail(self, error: Exception) -> None:
        failed = GroupFailed(f"{type(error).__name__}: {error}")
        failed.__cause__ = error
        self._failure = error if isinstance(error, GroupFailed) else failed
        self._refuse(self._failure)
        self._news.set()

    def _refuse(self, why: Exception) -> None:
        while self._waiting:
            _, served = self._waiting.popleft()
            if not served.done():
                served.set_exception(why)


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _checked(payload: bytes | bytearray | memoryview, layers: Layers) -> bytes:
    payload = bytes_copy(payload)
    if len(payload) > layers.message_bytes_max:
        raise PayloadTooLarge(f"{len(payload)} bytes; a message has at most {layers.message_bytes_max}")
    return payload


def _with_lists(protocol: Implementation[Any] | str) -> Implementation[Any]:
    """The implementation. Raises `UnknownProtocol`; `InvalidSetting`: it has no lists."""
    made = protocol
    if isinstance(made, str):
        made = irbp() if made == IRBP else implementation(made)
    if made.listed is None:
        told = f"{made.messages.protocol!r} runs with members that do not change"
        raise InvalidSetting(f"protocol={protocol!r}: {told}; one that has views is {IRBP!r}")
    return made


def _see_kinds(**given: Any) -> None:
    """Raise InvalidSetting for an argument of another kind than it must be, or out of its range."""
    seeds, name, meta, expect = given["seeds"], given["name"], given["meta"], given["expect"]
    pairs = isinstance(seeds, Sequence) and all(
        isinstance(seed, tuple | list) and len(seed) == 2 and isinstance(seed[0], str) for seed in seeds
    )
    short = name is None or (isinstance(name, str) and len(name) <= NAME_BYTES_MAX)
    few = isinstance(meta, bytes) and len(meta) <= META_BYTES_MAX
    some = expect is None or (type(expect) is int and expect >= 1)
    rules = {
        "group": (isinstance(given["group"], str), "a text"),
        "seeds": (pairs, "a list of hosts with ports, as [('db1', 7000), ('db2', 7000)]"),
        "name": (short, f"a text of at most {NAME_BYTES_MAX} characters"),
        "meta": (few, f"at most {META_BYTES_MAX} bytes"),
        "expect": (some, "how many members the group begins with"),
        "timeouts": (isinstance(given["timeouts"], Timeouts), "LOCAL, LAN, WAN or Timeouts(...)"),
        "on_exclusion": (given["on_exclusion"] in ("rejoin", "fail"), "'rejoin' or 'fail'"),
    }
    for which, (kept, wanted) in rules.items():
        if not kept:
            raise InvalidSetting(f"{which}={given[which]!r}: {which} is {wanted}")
