"""The ring of figure 25 in one token list after the other: the core of `rbp-reforming`.

The members of a view have a ring of their own, figure 25's, for each token list
(`antiphon.impl.protocols.rbp`). A list has a version, and is made by Reformation
(`antiphon.impl.membership.reformation`), which calls `stop`, `give`, `take`, `commit` and `accept` here. The
numbers go on from list to list: all members of a list begin it with the same numbers, those that the new
token site has.

| sections 3.2.2 and 3.2.3                     | here                                                     |
|----------------------------------------------|----------------------------------------------------------|
| the version of a packet (line 19)            | `Listed.version`; who is on another list drops it        |
| "the reformation phase is blocking"          | `stop`: the ring and its token are gone                  |
| the most recent message that a site has      | `reaches`: up to there it has all, with their bodies     |
| figure 24, phase II: recover                 | `give` at the new token site, `take` at the others       |
| `Commit New TL`                              | `commit`: a ring with the numbers after `reaches`        |
| `Accept the token`                           | `accept`: the new token site, the ring's first, starts   |

Repairs: `drop_the_rest` (`take` leaves nothing of what the site has not got); `count_in_the_list` (what a
list begins with is delivered when a number of the list is known).

Rules of this file:
1. No clock, socket, randomness or thread.
2. NULL has no entry: a number up to `reaches` without one is NULL's.
3. A message keeps its identifier. What was broadcast here and is not among the numbers that a list begins
   with is broadcast again in it, in its order.
4. What was delivered is kept for those that are not on the list, at most `kept_bytes` of it, and the last two
   turns of the token always: so far behind may be whoever was on the last list.
5. What comes for a later list is kept until that list begins here, a little of it.

Source: Barchet-Estefanel 2002, sections 3.2.2 and 3.2.3, figure 25; docs/reformation.md.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from antiphon.impl import tracing
from antiphon.impl.errors import Busy, GroupFailed, Violation
from antiphon.impl.protocols.base import CoreBase
from antiphon.impl.protocols.core import (
    NATURAL_MAX,
    Delivery,
    Identifier,
    Implementation,
    MessageFormat,
    Natural,
    Payload,
    Send,
    Wait,
    payload_copy,
    standing,
)
from antiphon.impl.protocols.flush import KEPT_BYTES, Report
from antiphon.impl.protocols.rbp import FIGURE_25, Core, Settings
from antiphon.impl.protocols.rbp import Snapshot as RingSnapshot
from antiphon.impl.protocols.rbp.messages import Message as RingMessage
from antiphon.impl.protocols.rbp.messages import flaw as ring_flaw
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = [
    "MESSAGES", "Count", "Entry", "Listed", "ListsViolation", "Snapshot", "TokenLists", "flaw",
    "rbp_reforming",
]  # fmt: skip

Count = Annotated[int, Meta(ge=0, le=NATURAL_MAX)]
"""A number, with all before it; 0: none."""

_EARLY_MAX = 256
"""Largest number of messages for later lists that are kept."""


class Entry(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A message with its number."""

    number: Natural
    identifier: Identifier
    payload: Payload

    @property
    def size(self) -> int:
        """Return the approximate number of bytes of the message."""
        return len(self.payload) + KEPT_BYTES


class Listed(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False, tag="listed"):
    """A message of the ring of a token list. Members and numbers in it are those of the ring."""

    version: Natural
    message: RingMessage


def flaw(message: Listed, members: int) -> str | None:
    """Return the field that is out of range for so many members, or None."""
    return ring_flaw(message.message, members)


MESSAGES: MessageFormat[Listed] = MessageFormat("rbp-reforming", 1, Listed, flaw)
"""The messages of the rings of a view, version 1."""


class ListsViolation(Violation):
    """A message that no correct member sends; it is ignored and counted."""

    NOT_OF_THE_LIST = "message_of_a_list_of_which_its_sender_or_source_is_no_member"

    @property
    def breaks_order(self) -> bool:
        """Return False: such a message belongs to no ring, and so contradicts no order."""
        return False


class Snapshot(NamedTuple):
    """The whole state of a core, immutable: equal snapshots behave equally."""

    version: int
    ring: tuple[int, ...]
    base: int
    settled: int
    reaches: int
    begun: bool
    started: bool
    ids: tuple[int, ...]
    base_ids: tuple[int, ...]
    entries: tuple[Entry, ...]
    kept: tuple[Entry, ...]
    forgotten: int
    message_id: int
    own: tuple[tuple[int, bytes], ...]
    unsent: int
    early: tuple[tuple[int, Listed], ...]
    violations: tuple[tuple[Violation, int], ...]
    core: RingSnapshot | None


class TokenLists(CoreBase[Listed]):
    """Process `me` of the members 0..members-1 of a view."""

    def __init__(
        self, me: int, members: int, settings: Settings = FIGURE_25, *, tracer: Tracer = NULL_TRACER
    ) -> None:
        """Begin with list 1, of all members in their order.

        Raises:
            InvalidMembership: fewer than two members, or `me` is not one of them.
        """
        super().__init__(me, members, tracer)
        self._settings = settings
        self.version = 1
        """The version of the list that was committed last."""
        self.ring = tuple(range(members))
        """The members of the list that was committed last, the new token site first."""
        self.settled = 0
        """Number up to which every message is delivered here; a number without a message is NULL's."""
        self.begun = True
        """True if a number of this list is known here, which shows that all members have its beginning."""
        self._reaches = 0
        self._base = 0
        """The number after which the list begins."""
        self._ids = [0] * members
        """Number of messages of each member that were delivered."""
        self._base_ids = [0] * members
        """Number of messages of each member that are delivered or that the list begins with."""
        self._entries: list[Entry] = []
        """The messages after `settled`, while no ring works, and those that the list begins with."""
        self._kept: deque[Entry] = deque()
        self._kept_bytes = 0
        self._forgotten = 0
        """Number after which all delivered messages are kept."""
        self._message_id = 0
        self._own: deque[tuple[int, bytes]] = deque()
        """The own messages that are not delivered, each with its count."""
        self._unsent = 0
        """Number of own messages, the last ones, that were not broadcast in this list yet."""
        self._early: deque[tuple[int, Listed]] = deque(maxlen=_EARLY_MAX)
        self._core: Core | None = Core(me, members, settings)
        self._started = False
        self._wrapped: tuple[RingMessage, Listed] | None = None
        self._before = 0
        """The progress of the earlier rings."""

    # What Reformation asks ----------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the ring. Its messages are kept up to the first gap in their numbers; its token is lost."""
        core, self._core = self._core, None
        if core is None:
            return
        self._violations += core.violations
        self._before += core.progress
        if not self.begun:
            self._reaches = self._base
            return
        report = core.report()
        names = {item.number: item.identifier for item in report.numbered}
        bodies = {item.identifier: item.payload for item in report.bodies}
        self._entries, top = [], report.settled
        while top + 1 in names:
            name = names[top + 1]
            if name is not None and name not in bodies:
                break
            top += 1
            if name is not None:
                self._entries.append(Entry(self._base + top, self._outside(name), bodies[name]))
        self._reaches = self._base + top

    @property
    def works(self) -> bool:
        """Return True if the ring of the list works at this process, or will when the token arrives."""
        return self._core is not None

    @property
    def reaches(self) -> int:
        """Return the number up to which this process has all messages; call it only when stopped."""
        return self._reaches

    @property
    def keeps_from(self) -> int:
        """Return the first number from which on this process still stores all messages."""
        return self._forgotten + 1

    def give(self, after: int) -> tuple[Entry, ...]:
        """Return the messages after this number, which is at least `keeps_from` - 1.

        Messages that the present list has numbered are not among them.
        """
        last = self._base if self._core is not None else self._reaches
        return tuple(
            entry for some in (self._kept, self._entries) for entry in some if after < entry.number <= last
        )

    def take(self, reaches: int, entries: Sequence[Entry]) -> bool:
        """Replace the messages after `settled` by those of the new token site. Return False if they are not
        all messages up to `reaches`.
        """
        if reaches < self.settled:
            return False
        self._entries = [entry for entry in entries if entry.number > self.settled]
        self._reaches = reaches
        return True

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        """Become a member of a list, and begin its ring. Without `works`, begin no ring.

        The first process of the ring waits until `accept` is called.
        """
        self.version, self.ring = version, ring
        self._base = self._reaches
        self._base_ids = list(self._ids)
        for entry in self._entries:
            self._base_ids[entry.identifier.source] = entry.identifier.id
        self.begun, self._started = False, False
        if not works:
            return
        self._unsent = sum(own > self._base_ids[self.me] for own, _ in self._own)
        self._core = Core(ring.index(self.me), len(ring), self._settings)
        if ring[0] != self.me:
            self._start_ring(now)

    def accept(self, now: float) -> None:
        """Begin the ring of the new list, as its first process: hold the token, and number messages."""
        self._start_ring(now)

    def adopt(self, agreed: Report) -> list[Delivery]:
        """Return, in order, all messages that were not delivered, since the view has ended.

        This process has all agreed messages already, so that `agreed` is not used.
        """
        del agreed
        self._settle_to(self._reaches)
        return self.deliveries()

    # The application's side ---------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Take part in list 1."""
        self._start_ring(now)

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused."""
        return self._core is None or not self._started or self._unsent > 0 or self._core.busy

    def broadcast(self, payload: bytes, now: float) -> Identifier:
        """Send a message to the list.

        Raises:
            Busy: `busy` is True.
            GroupFailed: no number is left for it.
            TypeError, PayloadTooLarge: as `payload_copy`.
        """
        payload = payload_copy(payload)
        if self.busy:
            raise Busy("a list is made, or the last message has no number; broadcast when `busy` is false")
        assert self._core is not None, "it is not busy"
        self._core.broadcast(payload, now)
        self._message_id += 1
        self._own.append((self._message_id, payload))
        identifier = Identifier(self.me, self._message_id)
        if self._tracer.recording:
            self._tracer.record(tracing.Broadcast(self.me, identifier, payload))
        return identifier

    def settle(self, now: float) -> list[Delivery]:
        """Take all steps that need no message and no time, until none is left; return the deliveries in
        order.
        """
        while (core := self._core) is not None and self._started:
            found = core.settle(now)
            if core.last_number and not self.begun:
                self.begun = True
                self._settle_to(self._base)
            for source, own, number, payload in found:
                name = self._outside(Identifier(source, own))
                self._hand_over(Entry(self._base + number, name, payload))
            if self.begun:
                self.settled = self._base + core.last_delivered
                self._trim()
            if not self._unsent or core.busy:
                break
            core.broadcast(self._own[-self._unsent][1], now)
            self._unsent -= 1
        return self.deliveries()

    # The ring's side ----------------------------------------------------------------------------------------

    def receive(self, sender: int, message: Listed, now: float) -> None:
        """Handle a message of another member's ring, if both rings are of the same list; store one for a
        later list.
        """
        if message.version > self.version or (message.version == self.version and not self._started):
            self._early.append((sender, message))
        elif message.version == self.version and self._core is not None:
            inside = ring_flaw(message.message, len(self.ring))
            if sender not in self.ring or inside is not None:
                self._violated(ListsViolation.NOT_OF_THE_LIST, sender, message)
                return
            self._core.receive(self.ring.index(sender), message.message, now)

    def tick(self, now: float) -> None:
        """Let every timer expire whose deadline has come."""
        if self._core is not None and self._started:
            self._core.tick(now)

    def next_deadline(self) -> float | None:
        """Return the time at which `tick` has something to do, or None."""
        return self._core.next_deadline() if self._core is not None and self._started else None

    def outputs(self) -> list[Send[Listed]]:
        """Return, once, the messages to send, in order; copies for several members are one object."""
        if self._core is None:
            return []
        return [Send(self.ring[to], self._wrap(message)) for to, message in self._core.outputs()]

    # Looking at a core from outside -------------------------------------------------------------------------

    @property
    def violations(self) -> Counter[Violation]:
        """Number of messages that no correct member sends, by kind; a copy."""
        return self._violations + (Counter() if self._core is None else self._core.violations)

    @property
    def broken(self) -> Violation | None:
        """Return the first violation that proves that two processes have different orders, or None."""
        return next((kind for kind in self.violations if kind.breaks_order), None)

    @property
    def progress(self) -> int:
        """Return a measure of progress, over all rings."""
        return self._before + (0 if self._core is None else self._core.progress)

    def waits(self) -> tuple[Wait, ...]:
        """Return the messages that the ring waits for, without those of Reformation."""
        if self._core is None or not self._started:
            return ()
        return tuple(Wait(what, self.ring[of]) for what, of in self._core.waits())

    def __repr__(self) -> str:
        stopped = "" if self._core is not None else ", stopped"
        return f"<rbp-reforming: list {self.version} of {self.ring}{stopped}; {standing(self)}>"

    def snapshot(self) -> Snapshot:
        """Return the whole state. Call it only after `outputs` were taken."""
        return Snapshot(
            self.version, self.ring, self._base, self.settled, self._reaches, self.begun, self._started,
            tuple(self._ids), tuple(self._base_ids), tuple(self._entries), tuple(self._kept), self._forgotten,
            self._message_id, tuple(self._own), self._unsent, tuple(self._early),
            tuple(sorted(self._violations.items())), None if self._core is None else self._core.snapshot(),
        )  # fmt: skip

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if it had been taken at `now`."""
        self.version, self.ring, self._base, self.settled, self._reaches = snapshot[:5]
        self.begun, self._started = snapshot.begun, snapshot.started
        self._ids, self._base_ids = list(snapshot.ids), list(snapshot.base_ids)
        self._entries, self._kept = list(snapshot.entries), deque(snapshot.kept)
        self._kept_bytes = sum(entry.size for entry in snapshot.kept)
        self._forgotten, self._message_id = snapshot.forgotten, snapshot.message_id
        self._own, self._unsent = deque(snapshot.own), snapshot.unsent
        self._early = deque(snapshot.early, maxlen=_EARLY_MAX)
        self._violations = Counter(dict(snapshot.violations))
        self._core = None
        if snapshot.core is not None:
            self._core = Core(self.ring.index(self.me), len(self.ring), self._settings)
            self._core.restore(snapshot.core, now)
        self._outputs, self._deliveries = [], []

    # Helpers ------------------------------------------------------------------------------------------------

    def _start_ring(self, now: float) -> None:
        assert self._core is not None, "a list was committed"
        self._core.start(now)
        self._started = True
        early, self._early = self._early, deque(maxlen=_EARLY_MAX)
        for sender, message in early:
            self.receive(sender, message, now)

    def _outside(self, name: Identifier) -> Identifier:
        """Return the identifier that the application sees for a message with this name in the ring."""
        source = self.ring[name.source]
        return Identifier(source, self._base_ids[source] + name.id)

    def _wrap(self, message: RingMessage) -> Listed:
        if self._wrapped is None or self._wrapped[0] is not message:
            self._wrapped = message, Listed(self.version, message)
        return self._wrapped[1]

    def _settle_to(self, number: int) -> None:
        """Deliver the entries up to this number."""
        entries, self._entries = self._entries, []
        for entry in entries:
            self._hand_over(entry)
        self.settled = max(self.settled, number)

    def _hand_over(self, entry: Entry) -> None:
        """Deliver a message under its number."""
        source, own = entry.identifier
        self._ids[source] = own
        if source == self.me:
            if not self._own or self._own[0][0] != own:
                raise GroupFailed(f"message {own} of this member is delivered out of its turn")
            self._own.popleft()
        self._kept.append(entry)
        self._kept_bytes += entry.size
        self._deliveries.append(Delivery(source, own, entry.number, entry.payload))
        if self._tracer.recording:
            told = tracing.Deliver(self.me, entry.identifier, entry.number, entry.payload)
            self._tracer.record(told)

    def _trim(self) -> None:
        """Remove delivered messages beyond `kept_bytes`, except for those of the last two turns of the token
        (rule 4).
        """
        kept, last, most = self._kept, self.settled - 2 * self.members, self._settings.kept_bytes
        whole = len(self.ring) == self.members and last > self._base
        while kept and (self._kept_bytes > most or whole) and kept[0].number <= last:
            forgotten = kept.popleft()
            self._kept_bytes -= forgotten.size
            self._forgotten = forgotten.number


def rbp_reforming(
    settings: Settings = FIGURE_25, kind: type[TokenLists] = TokenLists
) -> Implementation[Listed]:
    """Return the ring of figure 25 as an implementation for the token lists of a group whose members change,
    under figures 22 to 24.
    """

    def whole(me: int, members: int, tracer: Tracer) -> TokenLists:
        return kind(me, members, settings, tracer=tracer)

    def listed(me: int, members: int, taking_part: int, tracer: Tracer) -> TokenLists:
        del taking_part  # the first list has all, and the next ones are made by Reformation
        return kind(me, members, settings, tracer=tracer)

    return Implementation(MESSAGES, whole, holders=0, listed=listed, settings=settings, reforms=True)
