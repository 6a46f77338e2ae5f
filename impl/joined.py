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
import logging
import random
import secrets
import socket
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self

from antiphon.impl.errors import (
    GroupClosed,
    GroupFailed,
    InvalidKey,
    InvalidSetting,
    PayloadTooLarge,
    Rejection,
    UnusableAddress,
)
from antiphon.impl.layers import Layers
from antiphon.impl.member_log import MemberLog
from antiphon.impl.membership.detector import LAN, LOCAL, WAN, Reason, Timeouts
from antiphon.impl.membership.member import (
    META_BYTES_MAX,
    NAME_LENGTH_MAX,
    Excluded,
    Left,
    Member,
    Refused,
    View,
)
from antiphon.impl.membership.membership import Membership
from antiphon.impl.protocols.core import Delivery, Implementation, bytes_copy
from antiphon.impl.registry import LISTED, listed
from antiphon.impl.seeds import Seeds
from antiphon.impl.states import JoinedEvent, States, Store
from antiphon.impl.transport.addresses import Address, parsed, resolved, shown
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.incarnations import CHANCE_BYTES, incarnation
from antiphon.impl.transport.member_shell import MemberShell
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.shared_socket import SharedSocket
from antiphon.impl.transport.shell import bound
from antiphon.impl.transport.wire import GROUP_NAME_BYTES_MAX

__all__ = [
    "IRBP",
    "LEAVING_S",
    "JoinedEvent",
    "JoinedGroup",
    "JoinedMeter",
    "JoinedStatistics",
    "Sent",
    "Store",
    "Suspected",
]


class JoinedStatistics(NamedTuple):
    """Counts since the group was opened, over all runs of this process as a member."""

    changes: int
    """Number of lists that have ended: a member that stops ordering, and later orders again, ends two."""
    change_ms: dict[str, float]
    """Milliseconds that all changes of the list took, by phase: "reports" and "agreement"."""
    suspicions: Counter[tuple[str, str]]
    """Number of times that this member has "suspected" another one, "given up" one, and "trusted" one again:
    by this kind and the reason (`Suspected`).
    """
    blocked_s: float
    """Seconds as a member without a majority, in all, those of a time that still lasts too."""
    exclusions: int
    """Number of times that the others have gone on without this process."""
    lateness: float
    """Factor by which this process's timeouts are longer, because it was late itself."""
    dropped: Counter[Rejection]
    """Datagrams that were dropped, by the reason."""
    faults: Counter[str]
    """Datagrams that the operating system refused, by kind."""


class Suspected(NamedTuple):
    """Change of this member's suspicion of another one, and its evidence."""

    of: Member
    kind: str
    """`suspected`, `given up` or `trusted` again."""
    at: float
    """Time of the change, in seconds since the epoch."""
    silent_s: float
    """Seconds for which the other member had been silent then."""
    reason: Reason
    """`silent`; `nobody listens at its port`, as the operating system said; `does not hear this member`, as
    the other one said; `another run at its address`; or, if it is trusted, `heard again`.
    """


class JoinedMeter(Protocol):
    """Collector of the measurements of groups; `antiphon.impl.metrics` is an implementation."""

    def joined(self, group: JoinedGroup) -> None:
        """Register an open group, whose counts may be read from now on."""
        ...

    def closed(self, group: JoinedGroup) -> None:
        """Forget a group that is closed, if it was registered."""
        ...


class Sent(NamedTuple):
    """Name of a message that was broadcast: its delivery has the same `source` and `id`."""

    source: Member
    id: int


_sent = partial(tuple.__new__, Sent)
"""Function that makes a `Sent` of a pair, in half the time that the class takes."""

_LAYERS = Layers()

_PROFILES = {"local": LOCAL, "lan": LAN, "wan": WAN}

IRBP = "irbp"
"""Protocol of a group that names none: RBP's ring, figure 25, under the view changes of iRBP."""

_LINGERS_S = 0.005
"""Seconds between two checks by a leaving member whether the others still need its datagrams."""

_LOOKS_S = 0.1
"""Seconds between two checks whether another member has to be asked for the state."""

_SUSPICIONS_MAX = 1_000
"""Largest number of changes of mind about others that a group keeps."""

_COMPLAINS_S = 10.0
"""Seconds between two lines in the log of a process that is no member yet."""

_WHY = {
    Reason.SILENT: "silent for {:.0f} ms",
    Reason.DEAF: "it does not hear this member for {:.0f} ms",
    Reason.NOBODY: "silent for {:.0f} ms, and nobody listens at its port",
    Reason.REPLACED: "silent for {:.0f} ms, and another run is at its address",
    Reason.HEARD: "heard again",
}
"""Texts of the log for each reason of a change of mind, with the length of the silence."""

_FOUNDER = (
    "expect=None: this process is at the first of the seeds, and founds the group: say expect=N, with how "
    "many, or bootstrap=True"
)

_logger = logging.getLogger("antiphon")

LEAVING_S = 5.0
"""Least seconds that `leave` waits for the others' agreement."""


_LEAVING_QUICKLY_S = 1.0
"""Seconds that a leaving member waits for the others' agreement after an exception, such as an interrupt."""


class JoinedGroup:
    """One member of a group that others join and leave; an asynchronous context manager, used once."""

    def __init__(
        self,
        group: str,
        *,
        seeds: Sequence[Address | str],
        bind: Address | str | socket.socket | SharedSocket,
        key: bytes | Keyring | None,
        name: str | None = None,
        advertise: Address | str | None = None,
        expect: int | None = None,
        bootstrap: bool = False,
        meta: bytes = b"",
        protocol: Implementation[Any] | str = IRBP,
        timeouts: Timeouts | Literal["local", "lan", "wan"] = "lan",
        on_exclusion: Literal["rejoin", "fail"] = "rejoin",
        state: Store | None = None,
        layers: Layers = _LAYERS,
        metrics: JoinedMeter | None = None,
        log: MemberLog | None = None,
    ) -> None:
        """Make a process that joins the group with this name, or founds it.

        `seeds` are addresses of processes that may be members, as ("db1", 7000) or "db1:7000", the same at
        all processes; a joining process asks them. The process at the first seed founds the group, as soon as
        `expect` processes ask to be members, itself included, more than half of the seeds among them. With
        `bootstrap` this process founds the group alone, only at the first start of a group. A founder asks
        the seeds first, and founds nothing if a member answers. No other process ever founds.

        `bind` is where this process listens: an address, a bound UDP socket that the group will close, or a
        `SharedSocket`, at which other groups of this process listen too. `advertise` is where the others
        reach it, if that is another address. `name` is its name for people, by default its address; `meta`
        are bytes for the other members. `key` has the same meaning as for `Group`.

        `timeouts` say after which silences a member is suspected, and excluded: "local", "lan", "wan", or
        `Timeouts(...)` (`antiphon.impl.membership.detector`), the same everywhere. With `on_exclusion`
        "rejoin" a process that the others have taken for crashed comes back as a new member; with "fail" the
        group raises `GroupFailed` there. `state` gives and takes the application's state, so that who joins
        has what it has missed (`Store`). `protocol` orders the messages of a list of members: "irbp" is
        RBP's ring, "rbp-reforming" that ring with RBP's own Reformation, "sequencer" and "total" let one
        member order for all, "horus" is the stack of Horus, "vsc" promises no order between sources, and
        takes no `state`; or an implementation with lists (`Implementation.listed`). `layers` and `metrics`
        are those of `Group`. `log` records what the application gets (`antiphon.impl.member_log`).

        Raises:
            InvalidSetting: an argument is of another kind than it must be, or out of its range, or the
                protocol has no lists, or no order for a state.
            InvalidKey: a key has not 32 bytes.
            UnknownProtocol: no protocol has this name.
        """
        _check_types(
            group=group, seeds=seeds, name=name, meta=meta, expect=expect, timeouts=timeouts,
            on_exclusion=on_exclusion, state=state, bootstrap=bootstrap, log=log, layers=layers,
        )  # fmt: skip
        self.group = group
        self._given_name = name
        self._keys = key if key is None or isinstance(key, Keyring) else Keyring(key)
        self._seeds = Seeds(group, [_address("seeds", seed) for seed in seeds])
        self._bind: Address | socket.socket | SharedSocket
        if isinstance(bind, socket.socket | SharedSocket):
            self._bind = bind
        else:
            self._bind = _address("bind", bind, least=0)
        self._advertise = None if advertise is None else _address("advertise", advertise)
        self._expect = 1 if bootstrap else expect
        self._bootstrap = bootstrap
        self._meta = meta
        self._protocol = _with_lists(protocol)
        self._timeouts = timeouts = _PROFILES[timeouts] if isinstance(timeouts, str) else timeouts
        self._rejoins = on_exclusion == "rejoin"
        self._layers = layers
        self._metrics = metrics
        self._log = log
        self._firsts: deque[tuple[View, Member]] = deque()
        """First view of each run that the application has not taken yet, with this process's identity in that
        run: the log of the run begins there.
        """
        self._states = States(group, timeouts, self._flush, _milliseconds)
        self.state = state
        self._moves_states = False
        """True if another member wants the state of this application, or this one waits for another's."""
        self._begins = True
        """True if the next view is the first one of this run."""
        self._plain = False
        """True if events are only handed on: there is no state and no log, and nobody has asked for a
        state.
        """
        self._holds = False
        """True if own messages wait for the state: a message that the state contains already would not be
        delivered here.
        """
        self._asks_since = self._complains_at = 0.0
        self._refused: dict[Address, str] = {}
        """Reasons for which others were refused, as far as the log has them."""
        self._exclusions = 0
        self._before = JoinedStatistics(0, {}, Counter(), 0.0, 0, 1.0, Counter(), Counter())
        """Counts of the earlier runs."""
        self._shell: MemberShell | None = None
        self._socket: SharedSocket | None = None
        self._own: Address = ("", 0)
        self._resolving: asyncio.Task[None] | None = None
        self._suspicions: deque[Suspected] = deque(maxlen=_SUSPICIONS_MAX)
        self._suspected: dict[Member, Suspected] = {}
        """Members that this one suspects, in this run, since when and why."""
        self._events: deque[JoinedEvent] = deque()
        self._waiting: deque[tuple[bytes, asyncio.Future[Sent]]] = deque()
        self._news = asyncio.Event()
        self._taking = asyncio.Lock()
        self._failure: Exception | None = None
        self._open = False
        self._leaves = self._left = False

    async def __aenter__(self) -> Self:
        """Bind, and ask to be a member; the first event is the first view.

        Raises:
            UnusableAddress: the address cannot be bound, or a host not resolved.
            InvalidSetting: a group of this name listens at the shared socket; or `state` was set, and the
                protocol has no order for a state.
            GroupClosed: the group was opened before, or the shared socket is not open.
        """
        if self._open or self._shell is not None:
            raise GroupClosed("a group is opened once; make another one")
        self._open = True
        try:
            self._socket = await self._listening()
            self._begin(first=True)
            if self._metrics is not None:
                self._metrics.joined(self)
            if self._seeds.unknown:
                looking = self._seeds.look_up(self._socket.socket, self._seed_found)
                self._resolving = asyncio.create_task(looking)
        except BaseException:
            await self.close()
            raise
        return self

    @property
    def state(self) -> Store | None:
        """Object whose methods save and load the application's state; it may be set until the group is
        opened.
        """
        return self._states.store

    @state.setter
    def state(self, state: Store | None) -> None:
        """Set the functions of the application's state; raise InvalidSetting if the protocol has no common
        order.
        """
        if state is not None and not self._protocol.ordered:
            protocol = self._protocol.messages.protocol
            raise InvalidSetting(f"state={state!r}: protocol {protocol!r} gives members no common order")
        self._states.store = state

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the group, waiting a limited time for the others' agreement, and close; after an exception
        wait a shorter time.
        """
        try:
            await self.leave(None if kind is None else _LEAVING_QUICKLY_S)
        except TimeoutError as late:
            _logger.warning("%s", late)
        except GroupFailed:
            pass  # the application has had it, or takes no more events
        await self.close()

    @property
    def leaving_s(self) -> float:
        """Seconds that `leave` waits for the others' agreement: as long as it takes to exclude a silent
        member, and 5 at least.
        """
        return max(LEAVING_S, (self._timeouts.exclude_ms + 2 * self._timeouts.suspect_ms) / 1000.0)

    async def leave(self, timeout_s: float | None = None) -> None:
        """Leave the group: the others get a view without this member, and suspect nobody.

        Iteration ends when that is agreed. The others may need the datagrams of this member a little longer:
        this call and the end of `async with` wait until those that are not suspected have them. A member that
        is silent holds up the agreement until it is excluded.

        Raises:
            TimeoutError: the others have not agreed in so many seconds, or in `leaving_s`. This member has
                stopped nevertheless, and the others will suspect and then exclude it as if it had crashed.
                The end of `async with` logs this error.
        """
        timeout_s = self.leaving_s if timeout_s is None else timeout_s
        if self._shell is None or not self._open:
            return
        self._leaves = True
        if self._shell.membership.over and not self._left:  # it was excluded, and would have come back
            self._left = True
            await self.close()
            return
        self._shell.leave()
        try:
            try:
                async with asyncio.timeout(timeout_s):
                    while not self._left and self._shell.runs:
                        self._news.clear()
                        await self._news.wait()
                    # The others may need what it says about the end.
                    while self._shell.runs and self._shell.membership.owes:
                        await asyncio.sleep(_LINGERS_S)
            except TimeoutError:
                if not self._left:
                    told = f"nobody has agreed within {timeout_s:g} s that {self.me.name} leaves"
                    raise TimeoutError(f"group {self.group!r}: {told}: {self!r}") from None
            self._shell.farewell()
        finally:
            await self.close()

    async def close(self) -> None:
        """Stop at once, without a message to the others. A second call does nothing."""
        self._open = False
        self._refuse(GroupClosed("the group was closed before the message was sent"))
        self._news.set()
        if self._log is not None:
            self._log.close("left" if self._left else None)
        if self._resolving is not None:
            self._resolving.cancel()
        if self._shell is not None:
            self._shell.stop()
        if self._socket is not None and self._socket is not self._bind:
            await self._socket.close()
        if self._metrics is not None:
            self._metrics.closed(self)

    # What it is ---------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Return the name of this member. Raise `GroupClosed` before the group is open."""
        return self._membership.me.name

    @property
    def me(self) -> Member:
        """Identity of this process as a member; it changes with an exclusion and a return. Raises
        `GroupClosed`.
        """
        return self._membership.me

    @property
    def view(self) -> View | None:
        """Return the last view, also before the application has taken its event; None before the first."""
        return self._membership.view

    @property
    def address(self) -> Address:
        """Return the address at which the other members reach this one. Raise `GroupClosed` outside `async
        with`.
        """
        return self._membership.me.address

    @property
    def shared_socket(self) -> SharedSocket:
        """Return the socket of this group, which other groups may share. Raise `GroupClosed` before the group
        is open.
        """
        if self._socket is None:
            raise GroupClosed("outside `async with`")
        return self._socket

    @property
    def failure(self) -> Exception | None:
        """The error with which this group has failed for good, and that every call raises; None before."""
        return self._failure

    @property
    def keys(self) -> Keyring | None:
        """Keys in use and keys that are accepted; None for a group without one."""
        return self._keys

    @property
    def untaken(self) -> int:
        """Number of events that the application has not taken yet."""
        return len(self._events) + self._membership.untaken

    @property
    def waiting(self) -> int:
        """Number of calls of `broadcast` that wait."""
        return len(self._waiting)

    @property
    def waits(self) -> tuple[str, ...]:
        """Return the messages that this member needs now, each with the members from which it has to come."""
        epoch = self._membership.epoch
        if epoch is None or not isinstance(epoch.endpoint, Endpoint):
            return ()
        names = [member.name for member in epoch.roster.members]
        waits = (*epoch.endpoint.waits(), *epoch.endpoint.slow())
        return tuple(f"{wait.what} of {names[wait.of]}" for wait in waits)

    @property
    def statistics(self) -> JoinedStatistics:
        """Counts so far. Raises `GroupClosed` before the group is open."""
        membership, before = self._membership, self._before
        assert self._shell is not None, "it has a membership"
        return JoinedStatistics(
            before.changes + membership.changes,
            {phase: before.change_ms.get(phase, 0.0) + ms for phase, ms in membership.change_ms.items()},
            before.suspicions + membership.suspicions, before.blocked_s + membership.blocked_ms / 1000.0,
            self._exclusions, membership.detector.lateness, before.dropped + membership.dropped,
            before.faults + self._shell.faults,
        )  # fmt: skip

    @property
    def suspicions(self) -> tuple[Suspected, ...]:
        """The last changes of mind of this member about others, up to a thousand, the oldest first."""
        return tuple(self._suspicions)

    @property
    def suspected(self) -> tuple[Suspected, ...]:
        """For each member of the view that this one suspects now, when and why it began to."""
        members = () if self.view is None else self.view.members
        return tuple(one for member, one in self._suspected.items() if member in members)

    @property
    def reached(self) -> int:
        """Number of members that this member reaches, with itself; 0 before the first view."""
        return self._membership.reached

    def rekey(self, key: bytes | Keyring) -> None:
        """Replace the group's keys: the first key is used, all are accepted. All other members have to accept
        the first one already.

        Raises:
            InvalidKey: a key has not 32 bytes, or the group was made without one; nothing has changed.
        """
        if self._keys is None:
            raise InvalidKey("a member that was made without a key cannot get one while it runs")
        self._keys = key if isinstance(key, Keyring) else Keyring(key)
        if self._shell is not None:
            self._shell.rekey(self._keys)

    @property
    def _membership(self) -> Membership:
        if self._shell is None:
            raise GroupClosed("outside `async with`")
        return self._shell.membership

    # Sending and taking -------------------------------------------------------------------------------------

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Sent:
        """Send a message to all members, this one included. Return the name of the message once it is on its
        way.

        Waits while this process is no member yet, a view changes, or as much is on its way as may be. A
        message whose call has returned is delivered in the end, if this member stays one. A member that is
        excluded loses its messages that were not delivered, and its waiting calls fail. A process that joins
        with `state` sends once it has the others' state; this call loads that state if no task iterates.

        Raises:
            TypeError, PayloadTooLarge: as `Group.broadcast`; nothing was done.
            GroupClosed: outside `async with`, or closed while waiting.
            GroupFailed: this member was excluded while the call waited; or it was excluded earlier, and
                `on_exclusion` is "fail"; or no member has a state to give.
            Exception: what `load` of the state raises, if it runs here; nothing was sent.
        """
        if self._failure is not None or not self._open:
            self._require_open()
        if type(payload) is not bytes or len(payload) > self._layers.message_bytes_max:
            payload = _checked(payload, self._layers)
        if self._holds:
            await self._have_state()
        shell = self._shell
        assert shell is not None, "it is open"
        membership = shell.membership
        if not self._waiting and not membership.busy:
            if membership.alone:
                self._news.set()
            return self._sent(payload)
        served: asyncio.Future[Sent] = asyncio.get_running_loop().create_future()
        self._waiting.append((payload, served))
        return await served

    def _require_open(self) -> None:
        if self._failure is not None:
            raise self._failure
        if not self._open:
            raise GroupClosed("broadcast outside `async with`")

    async def _have_state(self) -> None:
        """Wait until this process has the application's state. Load the state here if no task iterates the
        events.
        """
        async with self._taking:
            while self._holds:
                await self._move_states()
                self._require_open()
                if self._holds:
                    await self._wait_for_news()
        self._require_open()

    def _sent(self, payload: bytes) -> Sent:
        shell = self._shell
        assert shell is not None, "it is open"
        me = shell.me
        if self._log is not None:
            self._log.broadcast(me, shell.membership.broadcasts + 1, payload)
        return _sent((me, shell.broadcast(payload)))

    def __aiter__(self) -> AsyncIterator[JoinedEvent]:
        """Iterate the events in the group's order; iteration ends when the group is left or closed and all
        were taken.
        """
        return self

    async def __anext__(self) -> JoinedEvent:
        """Return the next event; each goes to one caller only.

        Raises:
            GroupFailed: this member was excluded, and `on_exclusion` is "fail"; the members run another
                protocol; or no member has a state to give.
            StopAsyncIteration: the group is closed or left, and all was taken.
        """
        while self._plain:
            if self._events or self._fetched():
                return self._events.popleft()
            self._require_more()
            self._news.clear()
            await self._news.wait()
        if self._events and not self._moves_states:
            event = self._events.popleft()
        else:
            async with self._taking:
                while not await self._event_is_there():
                    pass
                event = self._events.popleft()
        self._note(event)
        return event

    def at_hand(self) -> list[JoinedEvent]:
        """Return, without waiting, the events that the application has not taken yet; none while a state has
        to be given or loaded.

        If the group has a `state`, the next `save` has to return the state as it is after all of these
        events.
        """
        self._fetched()
        if self._plain:
            events = list(self._events)
            self._events.clear()
            return events
        if self._moves_states or self._states.awaited or self._taking.locked():
            return []
        events = []
        while self._events and not self._moves_states:
            event = self._events.popleft()
            events.append(event)
            self._note(event)
        return events

    def _note(self, event: JoinedEvent) -> None:
        """Note an event that the application gets: its state contains the event from now on, and its log
        records it. The first view of a run begins the log of that run.
        """
        if type(event) is Delivery:
            self._states.number = event.number
        else:
            self._states.note(event, self.me)
            self._moves_states = self._moves_states or self._states.due
        if self._log is not None:
            if self._firsts and event is self._firsts[0][0]:
                self._log.go_on(self._firsts.popleft()[1])
            self._log.taken(event)

    async def _event_is_there(self) -> bool:
        """Give and load states; return True if an event is there, else wait for news and return False."""
        await self._move_states()
        if self._events and not self._moves_states:
            return True
        self._require_more()
        await self._wait_for_news()
        return False

    def _require_more(self) -> None:
        """Raise the failure of the group, or StopAsyncIteration after its end, since no more events come
        then.
        """
        if self._failure is not None:
            raise self._failure
        if not self._open or self._left:
            raise StopAsyncIteration

    async def _move_states(self) -> None:
        """Give the application's state to the processes that request it, and take the state that this process
        waits for.
        """
        transfers = self._membership.transfers
        self._moves_states = self._states.due or self._states.awaited or bool(transfers.wanted)
        if self._moves_states:
            await self._states.give(transfers)
        self._plain = self.state is None and self._log is None
        self._fetched()
        if self._states.awaited:
            await self._take_state()
        self._moves_states = self._states.awaited

    async def _wait_for_news(self) -> None:
        """Wait until the group has news; while a state is awaited, wait only briefly."""
        self._news.clear()
        if not self._states.awaited:
            await self._news.wait()
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), _LOOKS_S)

    async def _take_state(self) -> None:
        """Load the state that has arrived; if none has, ask a member for one when that is due."""
        try:
            events = await self._states.take(self._membership, self._events)
        except GroupFailed as failed:
            self._fail(failed)
            return
        if events is not None:
            self._events = deque(events)
            self._holds = False
            if self._log is not None:
                self._firsts.clear()
                self._log.go_on(self.me)
                self._log.loaded(*self._states.place)

    def _flush(self) -> None:
        if self._shell is not None:
            self._shell.flush()

    def __repr__(self) -> str:
        state = "open" if self._open else "failed" if self._failure is not None else "closed"
        told = "" if self._shell is None else f"; {self._shell.membership!r}"
        waits = "" if self._shell is None or not self.waits else f"; waits for {', '.join(self.waits)}"
        return f"<Group {self.group!r}: {state}{told}{waits}>"

    def _seed_found(self, seed: Address) -> None:
        """Ask also a seed whose address is known now; found the group if that address is the own one, and the
        first of the seeds.
        """
        first = seed == self._seeds.founder
        founds = first and seed == self._own and not self._exclusions
        if founds and self._expect is None:
            self._fail(InvalidSetting(_FOUNDER))
            return
        self._membership.add_seed(seed, first=first, founds=self._expect if founds else None)

    # From run to run ----------------------------------------------------------------------------------------

    def _begin(self, *, first: bool) -> None:
        """Begin to ask for membership, with a new incarnation each time."""
        assert self._socket is not None, "it listens"
        host, port = self._own
        name = self._given_name or shown(self._own)
        own = incarnation(time.time_ns() // 1_000, secrets.token_bytes(CHANCE_BYTES))
        founder = first and (self._bootstrap or self._seeds.founder == self._own)
        before = () if self._shell is None else self._shell.membership.fellows
        membership = Membership(
            self._protocol, self.group, Member(own, name, host, port, self._meta),
            seeds=self._seeds.numeric, fellows=before, founds=self._expect if founder else None,
            bootstrap=self._bootstrap, timeouts=self._timeouts, layers=self._layers, chance=random.random,
        )  # fmt: skip
        if self._shell is not None:
            self._before = self.statistics
        self._begins, self._holds = True, self.state is not None
        self._suspected.clear()
        self._plain = self.state is None and self._log is None
        self._asks_since = asyncio.get_running_loop().time()
        self._complains_at = self._asks_since + _COMPLAINS_S
        if self._log is not None:
            self._log.begin(self.group, self._protocol.messages.protocol, membership.me)
        self._shell = MemberShell(membership, self._keys, on_progress=self._go_on, on_failure=self._fail)
        self._shell.open(self._socket)

    async def _listening(self) -> SharedSocket:
        """Resolve the host names and open the socket."""
        known = await self._seeds.known()
        if isinstance(self._bind, SharedSocket):
            shared = self._bind
            found = await resolved(shared.socket, known)
        else:
            found = await resolved(self._bind, known)
            if isinstance(self._bind, socket.socket):
                shared = SharedSocket(self._bind)
            else:
                shared = SharedSocket(bound(found.family, found.own or self._bind, shown(self._bind)))
            await shared.open()
        self._seeds.resolve({place: target[:2] for place, target in found.routes.items()})
        try:
            self._own = await self._reached_at(shared.socket)
            self._require_way_in(shared.socket)
        except BaseException:
            if shared is not self._bind:
                await shared.close()
            raise
        return shared

    def _require_way_in(self, sock: socket.socket) -> None:
        """Raise InvalidSetting if this process could neither found the group nor ask another one, so that it
        would wait for ever.
        """
        if self._bootstrap:
            return
        if self._seeds.founder == self._own and self._expect is None:
            raise InvalidSetting(_FOUNDER)
        here = (self._own, sock.getsockname()[:2])
        others = [seed for seed in self._seeds.numeric if seed not in here] or self._seeds.unknown
        if not others and self._seeds.founder != self._own:
            raise InvalidSetting(f"seeds={list(self._seeds.given)!r}: there is no other process to ask")

    async def _reached_at(self, sock: socket.socket) -> Address:
        """Return the address at which other members reach this process. Raise `UnusableAddress` if there is
        none.
        """
        host, port = sock.getsockname()[:2]
        if self._advertise is not None:
            found = await resolved(sock, {0: self._advertise})
            host, port = found.routes[0][:2]
        elif host in ("0.0.0.0", "::"):  # noqa: S104 - it is refused here, not bound
            told = f"{shown((host, port))} is where others cannot send: say advertise=(host, port)"
            raise UnusableAddress(0, told)
        return (host, port)

    def _go_on(self) -> None:
        """Pass the payloads of waiting broadcasts to the protocol until the protocol is busy, and wake the
        tasks that wait for events.
        """
        shell = self._shell
        assert shell is not None, "it is open"
        while self._waiting and not shell.membership.over and not shell.membership.busy:
            payload, served = self._waiting[0]
            sent = None if served.done() else self._sent(payload)
            self._waiting.popleft()
            if sent is not None:
                served.set_result(sent)
        self._tell()

    def _tell(self) -> None:
        assert self._shell is not None, "it is open"
        membership = self._shell.membership
        transfers, awaited = membership.transfers, self._states.awaited
        if transfers.wanted or (awaited and not transfers.waits):
            self._moves_states, self._plain = True, False
            self._news.set()
        elif membership.untaken and not awaited:
            self._news.set()
        if membership.over and self._open:
            self._fetched()
        if membership.suspicion_changes or membership.epoch is None or membership.refused != self._refused:
            self._report(membership)

    def _report(self, membership: Membership) -> None:
        """Log which members are suspected and why, and at intervals that this process still asks to be a
        member.
        """
        while membership.suspicion_changes:
            member, (_, kind, silent_ms, reason) = membership.suspicion_changes.popleft()
            change = Suspected(member, kind, time.time(), silent_ms / 1000.0, reason)
            self._suspicions.append(change)
            if kind == "trusted":
                self._suspected.pop(member, None)
            else:
                self._suspected.setdefault(member, change)
            level = logging.INFO if kind == "trusted" else logging.WARNING
            why = _WHY[reason].format(silent_ms)
            own = membership.me.name
            _logger.log(level, "group %s: %s: %s %s: %s", self.group, own, kind, member, why)
        for address, why in membership.refused.items():
            if self._refused.get(address) != why:
                _logger.warning("group %s: %s is not taken in: %s", self.group, shown(address), why)
        self._refused = dict(membership.refused)
        now = asyncio.get_running_loop().time()
        if membership.epoch is None and not membership.over and now >= self._complains_at:
            self._complains_at = now + _COMPLAINS_S
            dropped = ", ".join(f"{count} {kind}" for kind, count in sorted(membership.dropped.items()))
            _logger.warning(
                "group %s: %s has asked to be a member for %.0f s, with %d others%s; datagrams dropped: %s%s",
                self.group, membership.me, now - self._asks_since, membership.asking,
                "" if membership.founds is None else f", where {membership.founds} begin",
                dropped or "none",
                "" if membership.refusal is None else f"; it was refused: {membership.refusal}",
            )  # fmt: skip

    def _fetched(self) -> bool:
        """Take new events from the membership; return True if there were any."""
        if self._shell is None:
            return False
        deliveries = self._shell.membership.deliveries()
        if deliveries is not None:
            self._events.extend(deliveries)
            if deliveries:
                self._shell.taken()
            return bool(self._events)
        events = self._shell.membership.events()
        for event in events:
            if isinstance(event, Excluded):
                self._excluded(event)
            elif isinstance(event, Refused):
                self._fail(GroupFailed(f"{self.me.name} is not taken in: {event.why}"))
            elif isinstance(event, Left):
                self._left = True
                self._refuse(GroupClosed("the group was left before the message was sent"))
                self._news.set()
            else:
                if isinstance(event, View) and self._begins:
                    self._begin_run(event, self._shell.membership)
                if self._failure is None:
                    self._events.append(event)
        if events:
            self._shell.taken()
        return bool(self._events)

    def _begin_run(self, view: View, membership: Membership) -> None:
        """Begin a run as a member with its first view. Fail the group if it was founded anew, since this
        process still has a state of the former group.
        """
        self._begins = False
        if view.number == 1 and self._exclusions and self.state is not None:
            told = "was founded anew, and this process has a state of the group before"
            self._fail(GroupFailed(f"group {self.group!r} {told}: start it again"))
        elif self._log is not None:
            self._firsts.append((view, membership.me))
        self._states.begin(membership.began_after, first=view.number == 1)
        self._holds = self._states.awaited

    def _excluded(self, event: Excluded) -> None:
        if self._left:
            return
        self._exclusions += not self._begins
        self._left = self._leaves
        _logger.warning("group %s: %s was excluded: %s", self.group, self.me, event.why)
        failed = GroupFailed(f"{self.me.name} was excluded: {event.why}")
        if not self._begins:
            self._refuse(failed)
        if self._left:
            assert self._shell is not None, "it was open"
            self._shell.stop()
            self._refuse(failed)
        elif self._rejoins or self._begins:  # who has never seen a view has lost nothing
            assert self._shell is not None, "it was open"
            self._shell.stop()
            self._holds = self.state is not None  # what is broadcast before it comes back waits, too
            asyncio.get_running_loop().call_soon(self._come_back)
        else:
            self._failure = failed
        self._news.set()

    def _come_back(self) -> None:
        """Ask to be a member again after an exclusion, if the group is still open."""
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


def _milliseconds() -> float:
    return asyncio.get_running_loop().time() * 1000.0


def _checked(payload: bytes | bytearray | memoryview, layers: Layers) -> bytes:
    if type(payload) is not bytes:
        payload = bytes_copy(payload)
    if len(payload) > layers.message_bytes_max:
        raise PayloadTooLarge(f"{len(payload)} bytes; a message has at most {layers.message_bytes_max}")
    return payload


def _with_lists(protocol: Implementation[Any] | str) -> Implementation[Any]:
    """Return the implementation of a protocol. Raise `UnknownProtocol` for an unknown name, `InvalidSetting`
    if the protocol has no lists.
    """
    made = listed(protocol) if isinstance(protocol, str) else protocol
    if made is None or made.listed is None:
        told = "runs with members that do not change; those that have views are"
        raise InvalidSetting(f"protocol={protocol!r}: it {told} {', '.join(map(repr, LISTED))}")
    return made


def _address(which: str, given: Any, least: int = 1) -> Address:
    """Return a host with a port from a pair or a text. Raise `InvalidSetting` if it is neither."""
    told = "a host with a port, as ('db1', 7000) or 'db1:7000'"
    try:
        host, port = parsed(given) if isinstance(given, str) else given
    except (TypeError, ValueError) as error:
        raise InvalidSetting(f"{which}={given!r}: {which} has {told}") from error
    if not isinstance(host, str) or type(port) is not int or not least <= port <= 65_535:
        raise InvalidSetting(f"{which}={given!r}: {which} has {told}; a port is {least} to 65535")
    return (host, port)


def _is_text(given: object) -> bool:
    """Return True for a text that can be printed in a line."""
    return isinstance(given, str) and given.isprintable()


def _check_types(**given: Any) -> None:
    """Raise InvalidSetting for an argument of a wrong type, or out of its range."""
    seeds, name, meta, expect = given["seeds"], given["name"], given["meta"], given["expect"]
    group, state = given["group"], given["state"]
    some_seeds = isinstance(seeds, Sequence) and not isinstance(seeds, str | bytes)
    sized = _is_text(group) and 1 <= len(group.encode()) <= GROUP_NAME_BYTES_MAX
    gives = state is None or all(callable(getattr(state, name, None)) for name in ("save", "load"))
    short = name is None or (_is_text(name) and len(name) <= NAME_LENGTH_MAX)
    few = isinstance(meta, bytes) and len(meta) <= META_BYTES_MAX
    named = isinstance(given["timeouts"], str) and given["timeouts"] in _PROFILES
    timed = named or isinstance(given["timeouts"], Timeouts)
    some = expect is None or (type(expect) is int and expect >= 1)
    rules = {
        "group": (sized, f"a printable text of 1 to {GROUP_NAME_BYTES_MAX} bytes in UTF-8"),
        "seeds": (some_seeds, "a list of hosts with ports, as [('db1', 7000), ('db2', 7000)]"),
        "state": (gives, "an object with the methods `save` and `load`"),
        "name": (short, f"a printable text of at most {NAME_LENGTH_MAX} characters"),
        "meta": (few, f"at most {META_BYTES_MAX} bytes"),
        "expect": (some, "how many members the group begins with"),
        "timeouts": (timed, "'local', 'lan', 'wan' or Timeouts(...)"),
        "on_exclusion": (given["on_exclusion"] in ("rejoin", "fail"), "'rejoin' or 'fail'"),
        "bootstrap": (type(given["bootstrap"]) is bool, "True or False"),
        "layers": (isinstance(given["layers"], Layers), "Layers(...)"),
        "log": (isinstance(given["log"], MemberLog | None), "a MemberLog, which writes a file"),
    }
    for which, (kept, wanted) in rules.items():
        if not kept:
            raise InvalidSetting(f"{which}={given[which]!r}: {which} is {wanted}")
