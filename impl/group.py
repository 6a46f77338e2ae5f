"""Group of fixed members: an application joins, broadcasts bytes and iterates events, which all members get
in one order.

    async with Group("orders", me=0, members=3, bind=..., routes={1: ..., 2: ...}, key=key) as group:
        await group.broadcast(b"hello")
        async for event in group:
            match event:
                case Delivery(source, payload=payload):
                    print(source, payload)

Such a group is one fixed set of members that all stay alive. When one of them ends, the group ends at all
others: `GroupFailed` names the silent member, or the message that is missing and its member. A group that
processes join goes on without the one that ended (`antiphon.impl.joined`). Own broadcasts that come while the
protocol is busy travel together in its next message; when the layers hold as much as they may, `broadcast`
waits (`antiphon.impl.layers`). An application that does not take its events holds back the broadcasts of
members, instead of letting the events pile up: whoever broadcasts also iterates.

This module must not know what a datagram holds, what a timer waits for or which messages a protocol has.
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

from antiphon.impl.errors import (
    GroupClosed,
    GroupFailed,
    InvalidSetting,
    Rejection,
    UnknownDelivery,
    Violation,
)
from antiphon.impl.joined import JoinedGroup
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, Wait
from antiphon.impl.registry import delivering, holders_of
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.addresses import Address
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.udp import UdpShell

__all__ = ["Address", "Delivery", "Event", "Group", "Identifier", "Keyring", "Meter", "Statistics", "Wait"]

Event: TypeAlias = Delivery
"""An event of a group of fixed members; `match` on the type, since groups whose members change have views
too.
"""

_LAYERS = Layers()


class Statistics(NamedTuple):
    """Counts since the group was opened."""

    datagrams: Counter[str]
    """Datagrams sent, by kind of message."""
    transmissions: Counter[str]
    """Messages sent, by kind; one message to all counts once."""
    dropped: Counter[Rejection]
    """Datagrams refused before the protocol saw them."""
    violations: Counter[Violation]
    """Messages that no correct member sends."""
    transport_faults: Counter[str]
    """Datagrams that the operating system refused."""


Observe: TypeAlias = Callable[[float], object]
"""Function that takes a number of seconds."""


class Meter(Protocol):
    """Collector of the measurements of groups; `antiphon.impl.metrics` is an implementation."""

    def opened(self, group: Group) -> tuple[Observe, Observe]:
        """Register an open group. Return the two functions that take, for each message, the waiting time of
        its broadcast and the time until its delivery.
        """
        ...


class Group:
    """One member of a total order broadcast group over UDP; an asynchronous context manager, used once.

    `Group(...)` is a member of a group whose members stay; `Group.join(...)` one of a group that members join
    and leave, and that goes on when some of them fail.
    """

    join = JoinedGroup

    def __init__(
        self,
        name: str,
        *,
        me: int,
        members: int,
        bind: Address | socket.socket,
        routes: Mapping[int, Address],
        key: bytes | Keyring | None,
        protocol: Implementation[Any] | str | None = None,
        tracer: Tracer = NULL_TRACER,
        stall_s: float = 30.0,
        layers: Layers = _LAYERS,
        multicast: Address | None = None,
        deliver: str | int | None = None,
        metrics: Meter | None = None,
    ) -> None:
        """Make member `me` of 0..members-1, listening at `bind`.

        `bind` is an address, or a bound UDP socket that the group will close. `routes[q]` is where datagrams
        for member q go, and the only address from which q's are taken. `key` is the secret of all members, 32
        random bytes, or several of which one is used; with None, whoever reaches the members reads all, and
        takes part as any of them (docs/security.md). `protocol` is the same at all members: a name, or for
        example `antiphon.impl.protocols.rbp.rbp(resend_ms=20)`; by default "rbp-resilient", which forgets
        what all members have. `stall_s` is the time in seconds after which the group ends at this member:
        when another member is silent for so long, or when this one waits for others and gets no further, be
        it that they have not started yet. `math.inf` waits for ever, and notices no silence.
        `tracer` sees every event of the protocol (`antiphon.impl.event_log` writes them down), `metrics`
        counts and measures (`antiphon.impl.metrics`).

        `multicast` is an IP multicast address, the same everywhere, as ("239.255.0.7", 7000): a message to
        all others is then one datagram, on the network of the own address, which `bind` has to name. A
        protocol that needs reliable queues sends to each all the same.

        `layers` holds the sizes of buffers and datagrams. `deliver`, the same at all members, says when a
        message is delivered for which `broadcast` says nothing else: with "ordered", once its place among all
        messages is known; with a number k, when k members have the message and its place, so that it survives
        the end of k - 1 of them; with "all", when all have it. The default is "ordered" without `protocol`; a
        given `protocol` keeps the delivery that it was made with, which is "all" for "rbp-resilient".

        Raises:
            UnknownDelivery: there is no such delivery.
            InvalidMembership: name, place, number of members and routes do not fit together.
            UnknownProtocol: no protocol has this name.
            InvalidKey: a key has not 32 bytes.
            InvalidSetting: an argument is of another kind than it must be, or out of its range.
            ValueError: the protocol's own settings are impossible.
        """
        _check_types(
            name=name, me=me, members=members, stall_s=stall_s, layers=layers, protocol=protocol,
            tracer=tracer, metrics=metrics,
        )  # fmt: skip
        _check_addresses(me, bind, routes, multicast)
        self.name = name
        chosen = delivering(protocol, deliver, members)
        self._members = members
        self._holders = 1 if deliver is None else holders_of(deliver, members)
        self._endpoint = Endpoint(
            chosen, name, me, members, tracer,
            stall_ms=stall_s * 1000.0, layers=layers, multicast=multicast is not None,
        )  # fmt: skip
        self._shell = UdpShell(
            self._endpoint,
            routes,
            keys=key if key is None or isinstance(key, Keyring) else Keyring(key),
            multicast=multicast,
            on_progress=self._serve,
            on_failure=self._fail,
            tracer=tracer,
        )
        self._bind = bind
        self._metrics = metrics
        self._on_wait: Observe | None = None
        self._on_order: Observe | None = None
        self._asked: dict[int, float] = {}
        self._waiting: deque[tuple[bytes, int, asyncio.Future[Identifier], float]] = deque()
        self._events: deque[Event] = deque()
        self._seen = 0
        """Number of the endpoint's events that were looked at and not yet taken."""
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._open = False
        self._failure: Exception | None = None

    async def __aenter__(self) -> Self:
        """Bind the socket and take part in the group.

        Raises:
            UnusableAddress: the address cannot be bound, or a host not resolved.
            InvalidMembership: two members are at one address.
            GroupClosed: the group was opened before.
        """
        self._loop = asyncio.get_running_loop()
        await self._shell.open(self._bind)
        self._open = self._failure is None
        if self._metrics is not None:
            self._on_wait, self._on_order = self._metrics.opened(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the group: waiting `broadcast` calls raise `GroupClosed`, and iteration ends after the events
        that have come.
        """
        self._shut(GroupClosed("the group was closed before the message was sent"))
        await self._shell.close()

    @property
    def address(self) -> Address:
        """Return the address at which this member listens. Raise `GroupClosed` outside `async with`."""
        return self._shell.address

    @property
    def encrypted(self) -> bool:
        """Return True if the group has a key, so that only members read and send."""
        return self._shell.encrypted

    def rekey(self, key: bytes | Keyring) -> None:
        """Replace the group's keys, without a pause: the first key is used, all are accepted. All other
        members have to accept the first one already.

        Raises:
            InvalidKey: a key has not 32 bytes, or the group was made without one; nothing has changed.
        """
        self._shell.rekey(key if isinstance(key, Keyring) else Keyring(key))

    @property
    def me(self) -> int:
        """Index of this member among the members, from 0."""
        return self._endpoint.core.me

    @property
    def untaken(self) -> int:
        """Number of events that the application has not taken yet."""
        return len(self._events) + len(self._endpoint.untaken)

    @property
    def waiting(self) -> int:
        """Number of calls of `broadcast` that wait for the protocol."""
        return len(self._waiting)

    @property
    def statistics(self) -> Statistics:
        """Return the counts of datagrams, messages and faults since the group was opened."""
        return Statistics(
            self._endpoint.datagrams.copy(),
            self._endpoint.transmissions.copy(),
            self._endpoint.admission.dropped.copy(),
            self._endpoint.violations,
            self._shell.faults.copy(),
        )

    @property
    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that this member needs now, each with the member from which it has to come."""
        return self._endpoint.waits() + self._endpoint.slow()

    @property
    def waiting_s(self) -> float:
        """Seconds for which this member has waited for the messages in `waits`; 0 when it waits for none."""
        since = self._endpoint.waiting_since
        return 0.0 if self._loop is None or since is None else self._time() - since / 1000.0

    async def broadcast(
        self, payload: bytes | bytearray | memoryview, *, deliver: str | int | None = None
    ) -> Identifier:
        """Send a message to all members, this one included. Return the message's identifier once there is
        room for it.

        The payload is copied at once. Calls are served in order, and wait while the group has as many
        messages on their way as it may have. A cancelled call that has not been served sends nothing.
        `deliver` has the meaning that it has for the whole group, for this message alone; messages behind it
        in the common order wait with it.

        Raises:
            UnknownDelivery: there is no such delivery, or the group's protocol delivers no message so early.
            TypeError: the payload is not bytes-like; nothing was done.
            PayloadTooLarge: more bytes than `Layers.message_bytes_max`.
            GroupClosed: outside `async with`, or closed while waiting.
            GroupFailed: the group cannot go on.
        """
        self._raise_failure()
        if not self._open:
            raise GroupClosed("broadcast outside `async with`")
        payload = self._endpoint.checked(payload)
        holders = self._holders if deliver is None else self._wanted(deliver)
        if not self._waiting and not self._endpoint.busy:
            return self._sent(payload, holders, self._asked_at())
        served: asyncio.Future[Identifier] = asyncio.get_running_loop().create_future()
        self._waiting.append((payload, holders, served, self._asked_at()))
        self._serve()
        return await served

    def __aiter__(self) -> AsyncIterator[Event]:
        """Iterate the events in the group's order. Iteration ends when the group is closed and all events
        were taken.
        """
        return self

    async def __anext__(self) -> Event:
        """Return the next event; each goes to one caller only, and to none that is cancelled while it waits.

        Raises:
            GroupFailed: the group cannot go on, and all that came before was taken.
            StopAsyncIteration: the group is closed, and all was taken.
        """
        while not self._events and not self._fetched():
            self._raise_failure()
            if not self._open:
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        return self._events.popleft()

    def at_hand(self) -> list[Event]:
        """Return, without waiting, the events that the application has not taken yet."""
        self._fetched()
        events = list(self._events)
        self._events.clear()
        return events

    def __repr__(self) -> str:
        state = "open" if self._open else "failed" if self._failure is not None else "closed"
        told = [f"{state}, {self.untaken} events to take, {len(self._waiting)} broadcasts waiting"]
        if self._failure is not None:
            told.append(str(self._failed(self._failure)))
        waiting = f" for {self.waiting_s:.1f} s" if self._open and self.waits else ""
        told.append(f"{self._endpoint!r}{waiting}")
        return f"<Group {self.name!r}: {'; '.join(told)}>"

    def _time(self) -> float:
        assert self._loop is not None
        return self._loop.time()

    def _serve(self) -> None:
        """Pass the payloads of waiting broadcasts to the protocol until the protocol is busy."""
        while self._waiting and not self._endpoint.busy:
            payload, holders, served, asked = self._waiting.popleft()
            if served.done():
                continue
            try:
                served.set_result(self._sent(payload, holders, asked))
            except GroupFailed as failed:
                served.set_exception(failed)
        self._collect()

    def _wanted(self, deliver: str | int) -> int:
        """Return the number of members that must have a message before its delivery. Raises
        `UnknownDelivery`.
        """
        holders, least = holders_of(deliver, self._members), self._endpoint.holders
        if holders < least:
            told = f"this group delivers nothing before {least} of its {self._members} members have it"
            raise UnknownDelivery(f"deliver={deliver!r}: {told}; open it with deliver='ordered'")
        return holders

    def _asked_at(self) -> float:
        """Return the time at which `broadcast` was called; 0 without a meter."""
        return 0.0 if self._on_wait is None else self._time()

    def _sent(self, payload: bytes, holders: int, asked: float) -> Identifier:
        """Pass a payload to the endpoint, which must not be busy; return the message's identifier. Raise
        `GroupFailed` if that fails.
        """
        try:
            identifier = self._shell.broadcast(payload, holders)
        except Exception as error:  # the payload was checked: whatever failed is our fault
            self._fail(error)
            raise self._failed(error) from error
        if self._on_wait is not None:
            self._on_wait(self._time() - asked)
            self._asked[identifier.id] = asked
        self._collect()
        return identifier

    def _collect(self) -> None:
        """Wake the tasks that wait for events, and report the events to the meter."""
        untaken = self._endpoint.untaken
        if len(untaken) > self._seen:
            self._news.set()
            if self._on_order is not None:
                for identifier in (each.id for each in untaken[self._seen :] if each.source == self.me):
                    self._on_order(self._time() - self._asked.pop(identifier))
        self._seen = len(untaken)

    def _fetched(self) -> bool:
        """Take new events from the endpoint; return True if there were any."""
        self._seen = 0
        deliveries = self._endpoint.deliveries()
        self._events.extend(deliveries)
        if deliveries:
            self._shell.taken()
        return bool(deliveries)

    def _fail(self, error: Exception) -> None:
        """Stop this member after a failure: it neither sends nor answers any more."""
        self._shell.stop()
        self._failure = error
        self._shut(self._failed(error))

    def _shut(self, why: Exception) -> None:
        self._open = False
        self._news.set()
        while self._waiting:
            _, _, served, _ = self._waiting.popleft()
            if not served.done():
                served.set_exception(why)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failed(self._failure)

    def _failed(self, error: Exception) -> GroupFailed:
        if isinstance(error, GroupFailed):
            return GroupFailed(*error.args)
        failed = GroupFailed(f"{type(error).__name__}: {error}")
        failed.__cause__ = error
        return failed


def _check_types(**given: Any) -> None:
    """Raise InvalidSetting for an argument of a wrong type, or out of its range."""
    layers, stall_s, metrics = given["layers"], given["stall_s"], given["metrics"]
    seconds = isinstance(stall_s, int | float) and not isinstance(stall_s, bool)
    rules = {
        "name": (isinstance(given["name"], str), "a text"),
        "me": (type(given["me"]) is int, "the own place among the members, from 0"),
        "members": (type(given["members"]) is int, "how many members the group has"),
        "stall_s": (seconds and stall_s > 0, "a number of seconds above 0, or math.inf"),
        "layers": (
            isinstance(layers, Layers) and all(type(size) is int and size > 0 for size in layers),
            "Layers(...), each size an integer of at least 1",
        ),
        "protocol": (
            isinstance(given["protocol"], str | Implementation | None),
            "a name, as 'rbp', or what antiphon.impl.protocols.rbp.rbp() gives",
        ),
        "tracer": (hasattr(given["tracer"], "recording"), "a tracer, as EventLog(...)"),
        "metrics": (metrics is None or hasattr(metrics, "opened"), "Metrics() or None"),
    }
    for name, (kept, wanted) in rules.items():
        if not kept:
            raise InvalidSetting(f"{name}={given[name]!r}: {name} is {wanted}")


def _check_addresses(
    me: int, bind: Address | socket.socket, routes: Mapping[int, Address], multicast: Address | None
) -> None:
    """Raise InvalidSetting for an address that is not a host with a port. Only the member's own port may be
    0, by which the system chooses one.
    """
    if not isinstance(bind, socket.socket):
        _check_address(f"bind={bind!r}", bind, 0)
    if not isinstance(routes, Mapping):
        raise InvalidSetting(f"routes={routes!r}: routes are a dict, as {{1: ('127.0.0.1', 7001)}}")
    for process, route in routes.items():
        if process != me:
            _check_address(f"routes[{process!r}]={route!r}", route, 1)
    if multicast is not None:
        _check_address(f"multicast={multicast!r}", multicast, 1)


def _check_address(said: str, address: Any, least: int) -> None:
    """Raise InvalidSetting unless the address is a host and a port of at least `least`."""
    pair = isinstance(address, tuple | list) and len(address) == 2
    if not pair or not isinstance(address[0], str) or type(address[1]) is not int:
        raise InvalidSetting(f"{said}: an address is a host and a port, as ('127.0.0.1', 7000)")
    if not least <= address[1] <= 65_535:
        raise InvalidSetting(f"{said}: a port is {least} to 65535")
