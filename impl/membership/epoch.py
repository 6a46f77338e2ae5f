"""Epoch: one list of members while it lasts, with the protocol's endpoint for it, and the change that ends
it.

An epoch is never changed: the next list is another epoch, with another endpoint. Its datagrams are of two
kinds. Those of the endpoint may be lost, as those of any group. Those of the change travel on links, which
lose nothing, and continue after the end of the epoch until every remaining member has them.

This module must not know an address, a clock, or what comes after the epoch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, cast

from msgspec import msgpack

from antiphon.impl.errors import UNREADABLE, Rejection
from antiphon.impl.layers import Layers
from antiphon.impl.layers.links import Links
from antiphon.impl.membership.consensus import Decide
from antiphon.impl.membership.datagrams import HEAD, DatagramKind
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.list_change import Flush, ListChange
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.reformation import Chance, Lists, Reformation
from antiphon.impl.membership.succession import Next, Out, Roster
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation, Send
from antiphon.impl.protocols.flush import KEPT_BYTES_MAX, Flushes, Report
from antiphon.impl.tracing import Tracer
from antiphon.impl.transport.endpoint import Endpoint

__all__ = ["Epoch"]

_PIECE_BYTES = 2**14
"""Number of bytes of a message of the change that travel as one item of a link."""

_LARGE = 4 * _PIECE_BYTES
"""Number of bytes from which on a decision is sent on late to the members that have not begun the next list
by then: nearly all have, since the member that has decided first sends it to all.
"""

_MORE, _LAST = b"\x01", b"\x00"

_MESSAGE_BYTES_MAX = 2 * KEPT_BYTES_MAX
"""The most bytes of a message of the change that a member takes from another one. A change may hand over all
that was kept for a late member.
"""


class Epoch:
    """State of one member while one list of members lasts. `now` is in milliseconds."""

    def __init__(
        self,
        implementation: Implementation[Any],
        group: str,
        me: Member,
        roster: Roster,
        layers: Layers,
        tracer: Tracer,
        now: float,
        *,
        timeouts: Timeouts,
        chance: Chance,
    ) -> None:
        """Take part in this list, which has the member `me`.

        `chance` is for a protocol that makes lists of its own within the epoch (Reformation).

        Raises:
            InvalidMembership: the name of the group is too long, or there are too many members.
        """
        self.roster = roster
        implementation = implementation.speaking(roster.version)
        place = roster.place(me.incarnation)
        assert place is not None, f"{me} is not on list {roster.number}"
        self.me = place
        self.places = {member.incarnation: at for at, member in enumerate(roster.members)}
        """The places of the members, by their incarnations."""
        self.endpoint: Endpoint[Any] | _Alone
        if len(roster.members) > 1:
            core = roster.core
            self.endpoint = Endpoint(
                implementation, group, place, len(roster.members), tracer, layers=layers, taking_part=core,
                head=HEAD.pack(DatagramKind.ENDPOINT, roster.number),
            )  # fmt: skip
        else:
            self.endpoint = _Alone(layers)
        self.change = self._list_change(implementation, timeouts, chance, now)
        self.rejected = 0
        """Number of items on links that were no message of the change."""
        self._links = Links(place, len(roster.members), segment_bytes_max=2 * _PIECE_BYTES)
        self._pieces = [bytearray() for _ in roster.members]
        self._patience_ms = timeouts.suspect_ms
        self._told = False
        """True if a member has sent this one the decision."""
        self._relays: dict[int, bytes] = {}
        """Decision for members that may have it already, and get it from the same member as this one."""
        self._relay_at = 0.0
        self._released = {place}
        """Members that need no more datagrams, whether or not they have acknowledged everything."""
        self._encode = msgpack.Encoder().encode
        self._decode = msgpack.Decoder(self.change.messages).decode
        self.over = False
        """True if this member has gone on to another list, or is no member any more: it only sends what
        others still need.
        """
        self.linked = False
        """True if something was sent or has come for a change."""
        self.endpoint.start(now)

    def _list_change(
        self, implementation: Implementation[Any], timeouts: Timeouts, chance: Chance, now: float
    ) -> ListChange:
        """Return the machine that changes the list, of the kind that this protocol needs."""
        roster, place, deliver = self.roster, self.me, self.endpoint.adopt
        if not implementation.reforms:
            external = implementation.external
            core = cast(Flushes, self.endpoint.core)
            return Flush(roster, place, core, deliver, external=external, patience_ms=timeouts.suspect_ms)
        lists = None if isinstance(self.endpoint, _Alone) else cast(Lists, self.endpoint.core)
        return Reformation(roster, place, lists, deliver, timeouts=timeouts, chance=chance, now=now)

    # What comes in ------------------------------------------------------------------------------------------

    def endpoint_received(self, sender: int, data: memoryview, now: float) -> None:
        """Handle a datagram of the protocol, without its head; after the protocol's end it is ignored."""
        if not self.stopped:
            self.endpoint.datagram_received(sender, data, now)

    def link_received(self, sender: int, data: bytes, now: float) -> Rejection | None:
        """Handle a datagram of the change of the list. Return the reason for its rejection if it is none."""
        items = self._links.received(sender, data, now)
        if isinstance(items, str):
            return Rejection.MALFORMED
        self.linked = True
        for item in items if not self.over else ():
            self._item_received(sender, item, now)
        return None

    def _item_received(self, sender: int, item: bytes, now: float) -> None:
        pieces = self._pieces[sender]
        pieces += item[1:]
        if item[:1] == _MORE and len(pieces) <= _MESSAGE_BYTES_MAX:
            return
        self._pieces[sender] = bytearray()
        try:
            message = self._decode(pieces)
        except UNREADABLE:
            self.rejected += 1
            return
        if self.change.flaw(message) is None:
            self._told |= isinstance(message, Decide)
            self.change.receive(sender, message, now)
        else:
            self.rejected += 1

    # The change ---------------------------------------------------------------------------------------------

    @property
    def stopped(self) -> bool:
        """Return True if the protocol of the list has ended, while the change of the list goes on."""
        return self.change.stopped

    def go_on(self, now: float) -> Next | Out | None:
        """Take the possible steps of the change. Return its result once that is decided, else None.

        After that this member takes no more part in the list.
        """
        follows = self.change.go_on(now)
        relays = self._told and isinstance(follows, Next)
        data, encoded = b"", None
        for to, message in self.change.outputs():
            if to in self._released:
                continue
            if message is not encoded:  # the same one goes to all, and may be large
                data, encoded = self._encode(message), message
            if relays and isinstance(message, Decide) and len(data) > _LARGE:
                self._relays[to], self._relay_at = data, now + self._patience_ms
            else:
                self._send(to, data)
        if self.change.moved() and isinstance(self.endpoint, Endpoint):
            self.endpoint.count_on(self.change.ordering)
            if not self.stopped:
                self.endpoint.tick(now)
        return follows

    def _send(self, to: int, data: bytes) -> None:
        self.linked = True
        for at in range(0, len(data), _PIECE_BYTES):
            more = _MORE if at + _PIECE_BYTES < len(data) else _LAST
            self._links.send(to, more + data[at : at + _PIECE_BYTES])

    # Time, and what goes out --------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Run the timers that are due, of the protocol and of the change."""
        if self._relays and now >= self._relay_at:
            for to, data in self._relays.items():
                self._send(to, data)
            self._relays = {}
        if self.linked:
            self._links.tick(now)
        if not self.stopped and not self.over:
            self.endpoint.tick(now)

    def next_deadline(self) -> float | None:
        """Return the time at which `tick`, and then `go_on`, has something to do; or None."""
        if self.over:
            due = self._links.next_deadline()
            return min(self._relay_at, due or self._relay_at) if self._relays else due
        if not self.linked and not self.change.called:  # the usual case
            return self.endpoint.next_deadline()
        deadlines = [self._links.next_deadline(), self.change.next_deadline()]
        if not self.stopped:
            deadlines.append(self.endpoint.next_deadline())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def endpoint_datagrams(self) -> Sequence[tuple[int, bytes]]:
        """Return, once, the datagrams of the protocol with their heads, each with its receiver's place on the
        list.
        """
        return [] if self.stopped else self.endpoint.datagrams_to_send()

    def link_datagrams(self, now: float) -> Sequence[Send[bytes]]:
        """Return, once, the datagrams of the change of the list."""
        return self._links.outputs(now) if self.linked else []

    def is_owed(self, places: Iterable[int]) -> bool:
        """Return True if one of these members has not acknowledged all datagrams of the change that were sent
        to it, or may need a decision that is sent on later.
        """
        return any(
            self._links.owes(place) or place in self._relays
            for place in places
            if place not in self._released
        )

    def release(self, place: int) -> None:
        """Record that the member at this place needs no more datagrams of this list."""
        if place not in self._released:
            self._released.add(place)
            self._links.drop(place)
            self._relays.pop(place, None)

    def __repr__(self) -> str:
        of = f"{len(self.change.ordering)} of {len(self.roster.members)}"
        told = f"; {self.change!r}" if self.change.called else ""
        return f"<list {self.roster.number}, {of} order messages{told}>"


class _AloneCore:
    """Core of a list with a single member, which exchanges no messages."""

    external = False
    lost = False
    caught_up = False

    def __init__(self) -> None:
        self.delivered = 0

    def report(self) -> Report:
        """Return the report of an empty core: all messages are delivered."""
        return Report(self.delivered, (self.delivered,), (), ())

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:  # noqa: ARG002 - there is one
        """Return the only report as the result of the merge."""
        return reports[0]


class _Alone:
    """Endpoint of a list with a single member: each broadcast is delivered at once."""

    def __init__(self, layers: Layers) -> None:
        self.core = _AloneCore()
        self._layers = layers
        self._me: Any = 0
        self._id = self._number = 0
        self._deliveries: deque[Delivery[Any]] = deque()
        self._untaken_bytes = 0

    unsent = False

    def start(self, now: float) -> None:
        """Do nothing: there is no other member to greet."""

    def go_on(
        self, names: Sequence[object], ids: Sequence[int], number: int, carried: Sequence[int], *, left: bool
    ) -> None:
        """Continue the numbers of messages after those of another list, of which some may not be taken."""
        (self._me,), (self._id,), self._number = names, ids, number
        self._untaken_bytes = carried[0] if left else 0

    def untaken_of(self, source: int) -> int:  # noqa: ARG002 - there is one
        """Return the number of bytes that the application has not taken."""
        return self._untaken_bytes

    @property
    def held(self) -> int:
        """Return the number of messages that were delivered."""
        return self.core.delivered

    def delivered_of(self, source: int) -> int:  # noqa: ARG002 - there is one
        """Return the number of messages that were delivered; all are of the single member."""
        return self.core.delivered

    @property
    def busy(self) -> bool:
        """Return True if the application has left so many deliveries untaken that a broadcast is refused."""
        return self._untaken_bytes >= self._layers.untaken_bytes

    def broadcast(self, payload: bytes, now: float, holders: int = 1) -> Identifier:  # noqa: ARG002
        """Deliver the payload at once, and return the message's identifier."""
        self.core.delivered = count = self.core.delivered + 1
        self._deliveries.append(Delivery(self._me, self._id + count, self._number + count, payload))
        self._untaken_bytes += len(payload)
        return Identifier(0, count)

    def datagram_received(self, sender: int, data: memoryview, now: float) -> None:  # noqa: ARG002
        """Refuse a datagram: the list has no other member that could have sent it."""
        raise AssertionError(f"a datagram of member {sender} of one")

    def tick(self, now: float) -> None:
        """Do nothing: no timer runs."""

    def next_deadline(self) -> float | None:
        """Return None: no timer runs."""
        return None

    def datagrams_to_send(self) -> list[tuple[int, bytes]]:
        """Return no datagrams."""
        return []

    def adopt(self, agreed: Report) -> bool:  # noqa: ARG002
        """Return True: all messages are delivered already."""
        return True

    def deliveries(self) -> list[Delivery[Any]]:
        """Return, once, the deliveries in order."""
        deliveries = self.collect()
        self.take()
        return deliveries

    def collect(self) -> list[Delivery[Any]]:
        """Return, once, the deliveries in order; the application takes them later."""
        deliveries = list(self._deliveries)
        self._deliveries.clear()
        return deliveries

    def take(self) -> None:
        """Record that the application has taken all deliveries."""
        self._untaken_bytes = 0

    @property
    def untaken(self) -> Sequence[Delivery[Any]]:
        """Deliveries that the next call of `deliveries` returns."""
        return self._deliveries
