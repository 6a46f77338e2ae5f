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
from typing import Any, Literal, NamedTuple, Protocol, Self

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
from antiphon.impl.protocols.core import Delivery, Implementation, bytes_copy
from antiphon.impl.protocols.rbp import irbp
from antiphon.impl.registry import implementation
from antiphon.impl.transport.addresses import Address, resolved, shown
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shared_socket import SharedSocket
from antiphon.impl.transport.shell import bound

__all__ = ["IRBP", "JoinedEvent", "JoinedGroup", "Sent", "Store"]

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


class Sent(NamedTuple):
    """Names a message that was broadcast: its delivery has the same `source` and `id`."""

    source: Member
    id: int


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
        bind: Address | socket.socket | SharedSocket,
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

        `bind` is where this process listens: an address, a bound UDP socket that the group will close, or a
        `SharedSocket`, at which other groups of this process listen too. `advertise` is where the others
        reach it, if that is another address. `name` is what people know it
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
        self.state = state
        """Gives and takes the application's state; not to be changed once the group is open."""
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
        self._socket: SharedSocket | None = None
        self._own: Address = ("", 0)
        self._numeric_seeds: list[Address] = []
        self._events: deque[JoinedEvent] = deque()
        self._waiting: deque[tuple[bytes, asyncio.Future[Sent]]] = deque()
        self._news = asyncio.Event()
        self._taking = asyncio.Lock()
        self._failure: Exception | None = None
        self._open = False
        self._left = False

    async def __aenter__(self) -> Self:
        """Bind, and ask to be a member; the first event is the first view.

        Raises:
            UnusableAddress: the address cannot be bound, or a host not resolved.
            InvalidSetting: a group of this name listens at the shared socket.
            GroupClosed: the group was opened before, or the shared socket is not open.
        """
        if self._open or self._shell is not None:
            raise GroupClosed("a group is opened once; make another one")
        self._open = True
        try:
            self._socket = await self._listening()
            self._begin(first=True)
        except BaseException:
            await self.close()
            raise
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
            self._shell.farewell()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stop at once, without a word to the others. Again: nothing."""
        self._open = False
        self._refuse(GroupClosed("the group was closed before the message was sent"))
        self._news.set()
        if self._shell is not None:
            self._shell.stop()
        if self._socket is not None and self._socket is not self._bind:
            await self._socket.close()

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

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Sent:
        """Send to all members, oneself too; returns the name of the message, once it is on its way.

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
            sent = self._sent(payload)
            self._tell()
            return sent
        served: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        self._waiting.append((payload, served))
        return await served

    def _sent(self, payload: bytes) -> Sent:
        assert self._shell is not None, "it is open"
        return Sent(self._shell.membership.me, self._shell.broadcast(payload).id)

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
            async with self._taking:
                await self._come()
        event = self._events.popleft()
        if type(event) is Delivery:
            self._taken = event.number
        return event

    def at_hand(self) -> list[JoinedEvent]:
        """Hand over, without waiting, the events that nobody has taken yet; none while a state has to move.

        Who takes several at once and gives a `state` gives it as it is after all of them.
        """
        self._fetched()
        if self._moves_states or self._awaits_state:
            return []
        events = list(self._events)
        self._events.clear()
        numbers = [event.number for event in events if type(event) is Delivery]
        self._taken = numbers[-1] if numbers else self._taken
        return events

    async def _come(self) -> None:
        """Move states, and wait until there may be an event."""
        await self._give_states()
        self._fetched()
        if self._awaits_state:
            await self._take_state()
        self._moves_states = self._awaits_state
        if self._events and not self._moves_states:
            return
        if self._failure is not None:
            raise self._failure
        if not self._open or self._left:
            raise StopAsyncIteration
        self._news.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), self._patience_s)

    # The state of the application ---------------------------------------------------------------------------

    @property
    def _patience_s(self) -> float | None:
        """How long to wait for a piece of a state before another member is asked."""
        return self._timeouts.exclude_ms / 1000.0 if self._awaits_state else None

    async def _give_states(self) -> None:
        """Give the state as it is now to all who want it, and may have it as of now."""
        transfers = self._membership.transfers
        for wanted in [wanted for wanted in transfers.wanted if self._answers(wanted)]:
            if self.state is None or self._awaits_state:
                transfers.refuse(wanted)
            else:
                try:
                    number, pieces = self._taken, [bytes(piece) async for piece in self.state.save()]
                except Exception:
                    transfers.wanted.remove(wanted)
                    transfers.refuse(wanted)
                    raise
                transfers.give(wanted, number, pieces)
            transfers.wanted.remove(wanted)
            if self._shell is not None:
                self._shell.flush()

    def _answers(self, wanted: Wanted) -> bool:
        return self.state is None or self._awaits_state or self._taken >= wanted.after

    async def _take_state(self) -> None:
        """Take the state that has come; else see that somebody is asked for it."""
        membership = self._membership
        transfers, view = membership.transfers, membership.view
        if transfers.state is not None and self.state is not None:
            number, pieces = transfers.state
            await self.state.load(_each(pieces))  # once more, if this call is cancelled meanwhile
            transfers.state, self._awaits_state = None, False
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

    def _begin(self, *, first: bool) -> None:
        """Be a process that wants to be a member, with another incarnation each time."""
        assert self._socket is not None, "it listens"
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
        self._shell.open(self._socket)

    async def _listening(self) -> SharedSocket:
        """Resolve the hosts, and listen."""
        seeds = dict(enumerate(self._seeds))
        if isinstance(self._bind, SharedSocket):
            shared = self._bind
            found = await resolved(shared.socket, seeds)
        else:
            found = await resolved(self._bind, seeds)
            if isinstance(self._bind, socket.socket):
                shared = SharedSocket(self._bind)
            else:
                shared = SharedSocket(bound(found.family, found.own or self._bind, shown(self._bind)))
            await shared.open()
        self._numeric_seeds = [found.routes[place][:2] for place in range(len(self._seeds))]
        try:
            self._own = await self._reached_at(shared.socket)
        except BaseException:
            if shared is not self._bind:
                await shared.close()
            raise
        return shared

    async def _reached_at(self, sock: socket.socket) -> Address:
        """Return where the others reach this process. Raises `UnusableAddress`."""
        host, port = sock.getsockname()[:2]
        if self._advertise is not None:
            found = await resolved(sock, {0: self._advertise})
            host, port = found.routes[0][:2]
        elif host in ("0.0.0.0", "::"):  # noqa: S104 - it is refused here, not bound
            told = f"{shown((host, port))} is where others cannot send: say advertise=(host, port)"
            raise UnusableAddress(0, told)
        return (host, port)

    def _go_on(self) -> None:
        """Hand waiting payloads to the protocol while it takes them, and tell who waits for events."""
        shell = self._shell
        assert shell is not None, "it is open"
        while self._waiting and not shell.membership.over and not shell.membership.busy:
            payload, served = self._waiting.popleft()
            if not served.done():
                served.set_result(self._sent(payload))
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
                    self._awaits_state = self.state is not None and event.number > 1
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
            assert self._shell is not None, "it was open"
            self._shell.stop()
            asyncio.get_running_loop().call_soon(self._come_back)
        else:
            self._failure = failed
        self._news.set()

    def _come_back(self) -> None:
        """Ask to be a member again, if the group is still open."""
        if self._open:
            try:
                self._begin(first=False)
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
