"""History of the messages that a member of one list keeps while another member orders them.

The history contains the messages whose numbers are known. A message is stable when all members that take part
in the ordering have it: then it is delivered, here as everywhere. Messages that are not stable are kept,
since the end of the list may have to bring them to others. Stable ones are forgotten, unless external members
listen, which may have missed them: then as many are kept as there is room for.

Numbers come without holes, since the network below keeps the order of the ordering member. This module must
not know who that is, or how anybody learns what others have.

Source: Barchet-Estefanel 2002, section 4.4.3, and figure 32, steps 1, 3, 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import KEPT_BYTES, Body, Numbered, Report, merged_with_kept

__all__ = ["History", "HistorySnapshot", "Ordered"]

class Ordered(NamedTuple):
    """Ordered message of one list, with its number."""

    number: int
    identifier: Identifier
    payload: bytes

    @property
    def size(self) -> int:
        """Approximate number of bytes of the message."""
        return len(self.payload) + KEPT_BYTES


class HistorySnapshot(NamedTuple):
    """The whole state of a history, immutable."""

    last: int
    stable: int
    counts: tuple[int, ...]
    fresh: tuple[Ordered, ...]
    kept: tuple[Ordered, ...]


class History:
    """Messages of one list that one member knows."""

    def __init__(self, members: int, kept_bytes: int) -> None:
        """Begin with no ordered message. At most `kept_bytes` of stable messages are kept; with 0 none."""
        self.last = 0
        """Highest number: all messages up to it are or were here."""
        self.stable = 0
        """Number up to which all members that take part in the ordering have everything, and up to which
        everything is delivered here.
        """
        self.counts = [0] * members
        """Number of messages of each member that have a number up to `stable`."""
        self._fresh: dict[int, Ordered] = {}
        self._kept: dict[int, Ordered] = {}
        self._kept_bytes = 0
        self._kept_bytes_max = kept_bytes

    def add(self, identifier: Identifier, payload: bytes) -> int:
        """Assign the next number to a message, and return the number."""
        self.last += 1
        self._fresh[self.last] = Ordered(self.last, identifier, payload)
        return self.last

    def settle(self, number: int) -> list[Ordered]:
        """Record that all members have everything up to this number; return the messages to deliver, in
        order.

        The result is empty for a number that was recorded before; a number beyond `last` is an error of the
        caller.
        """
        settled = [self._fresh.pop(at) for at in range(self.stable + 1, number + 1)]
        for message in settled:
            self.counts[message.identifier.source] += 1
            self._keep(message)
        self.stable += len(settled)
        return settled

    def _keep(self, message: Ordered) -> None:
        """Store a stable message: "keep messages while there is available space" (section 4.4.3). If there is
        no room, remove the stored messages with the lowest numbers.
        """
        self._kept[message.number] = message
        self._kept_bytes += message.size
        while self._kept_bytes > self._kept_bytes_max:
            forgotten = self._kept.pop(next(iter(self._kept)))
            self._kept_bytes -= forgotten.size

    @property
    def first(self) -> Ordered | None:
        """The first message that is not stable, or None."""
        return self._fresh.get(self.stable + 1)

    def kept(self, number: int) -> Ordered | None:
        """Return the stable message with this number, if it is kept."""
        return self._kept.get(number)

    # The end of the list ------------------------------------------------------------------------------------

    def report(self, own: Iterable[tuple[Identifier, bytes]]) -> Report:
        """Return the report of figure 32, step 1: the messages that this member does not know to be stable,
        and its own messages without a number.
        """
        fresh = self._fresh.values()
        bodies = {message.identifier: message.payload for message in fresh} | dict(own)
        return Report(
            self.stable,
            tuple(self.counts),
            tuple(Numbered(message.number, message.identifier) for message in fresh),
            tuple(Body(name, payload) for name, payload in sorted(bodies.items())),
        )

    def merge(self, reports: Sequence[Report], missing: bool) -> Report:
        """Return the union of the reports (figure 32, step 3), with stored stable messages if others need
        them and there is room.
        """
        kept = ((at, self._kept[at].identifier, self._kept[at].payload) for at in reversed(self._kept))
        return merged_with_kept(reports, kept, missing=missing)

    def adopt(self, agreed: Report) -> list[Ordered] | None:
        """Return, in order, the agreed messages that this member has not delivered (steps 5 and 6); None if
        it lacks some of them.

        Return None also if this member has delivered more than was agreed: then it cannot go on with the
        others.
        """
        bodies = {message.identifier: message.payload for message in self._fresh.values()}
        names = {message.number: message.identifier for message in self._fresh.values()}
        bodies |= {item.identifier: item.payload for item in agreed.bodies}
        names |= {item.number: item.identifier for item in agreed.numbered if item.identifier is not None}
        numbers = range(self.stable + 1, agreed.settled + 1)
        if agreed.settled < self.stable or any(names.get(number) not in bodies for number in numbers):
            return None
        adopted = [Ordered(number, names[number], bodies[names[number]]) for number in numbers]
        self.stable = agreed.settled
        return adopted

    # State --------------------------------------------------------------------------------------------------

    def snapshot(self) -> HistorySnapshot:
        """Return the whole state: histories with equal snapshots and settings behave equally."""
        return HistorySnapshot(
            self.last,
            self.stable,
            tuple(self.counts),
            tuple(self._fresh.values()),
            tuple(self._kept.values()),
        )

    def restore(self, snapshot: HistorySnapshot) -> None:
        """Set the state to a snapshot."""
        self.last, self.stable, self.counts = snapshot.last, snapshot.stable, list(snapshot.counts)
        self._fresh = {message.number: message for message in snapshot.fresh}
        self._kept = {message.number: message for message in snapshot.kept}
        self._kept_bytes = sum(message.size for message in snapshot.kept)
