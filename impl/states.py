"""State of an application in a group that processes join: given to a joining process, and taken by this one
when it joins.

A state belongs to a place in the common order: it contains all messages up to that number, and all views up
to that one. A joining process asks one member after the other. It waits for a member that has begun to give
as long as that is a member; it leaves one that does not answer for the next one, and waits longer each time.
When all have refused, nobody has a state.

This module must not know how a state travels, or how members agree.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Protocol

from antiphon.impl.errors import GroupFailed
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Blocked, Member, Unblocked, View
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.transfer import Transfers, Wanted
from antiphon.impl.protocols.core import Delivery

__all__ = ["JoinedEvent", "States", "Store"]

JoinedEvent = View | Delivery[Member] | Blocked | Unblocked
"""An event of a group that processes join."""

_GIVEN_BYTES = 2**18
"""Number of bytes of a state that are given before the event loop goes on."""

_logger = logging.getLogger("antiphon")


class Store(Protocol):
    """Application's state, which a joining process gets from a member."""

    def save(self) -> AsyncIterator[bytes]:
        """Return the present state in pieces: after all events that were taken, and before any other.

        All pieces are taken before the next event is given.
        """
        ...

    async def load(self, pieces: AsyncIterator[bytes]) -> None:
        """Replace the state by the one in these pieces, whose boundaries may differ from those that `save`
        made. Later events are applied to it.
        """
        ...


class States:
    """Transfer of one application's state to and from other members."""

    def __init__(self, group: str, timeouts: Timeouts, flush: Callable[[], None]) -> None:
        """Begin with no state. `flush` sends pending datagrams."""
        self.store: Store | None = None
        self.awaited = False
        """True if this process waits for the state of another one."""
        self._group = group
        self._timeouts = timeouts
        self._flush = flush
        self._began_after = 0
        """The place in the common order after which this process became a member."""
        self.number = 0
        """The place in the common order of the last message that was taken."""
        self._view = 0
        """The number of the last view that was taken."""
        self._refused: dict[bytes, str] = {}
        """Members that have no state to give, and the reason of each."""
        self._refused_in = 0
        """View in which they have refused."""
        self._unanswered = 0
        """Number of times that a member did not answer a request in time."""

    def begin(self, after: int, *, first: bool) -> None:
        """Record that this process became a member after this number of the common order. The founders have
        no state to get.
        """
        self._began_after = self.number = after
        self.awaited = self.store is not None and not first

    @property
    def place(self) -> tuple[int, int]:
        """Place in the common order and last view that the application's state contains."""
        return self.number, self._view

    def note(self, event: JoinedEvent) -> None:
        """Record the event that the application has taken; the application's state contains it from now
        on.
        """
        if type(event) is Delivery:
            self.number = event.number
        elif type(event) is View:
            self._view = event.number

    # Giving -------------------------------------------------------------------------------------------------

    async def give(self, transfers: Transfers) -> None:
        """Give the present state to all processes that have requested it and may get it at this place of the
        order.
        """
        while True:
            wanted = next((wanted for wanted in transfers.wanted if self._answers(wanted)), None)
            if wanted is None:
                return
            if self.store is None:
                transfers.refuse(wanted, "it has no `state=`")
            elif self.awaited:
                transfers.refuse(wanted, "it waits for a state itself")
            else:
                await self._give(self.store, transfers, wanted)
            if wanted in transfers.wanted:  # else who asked has given up
                transfers.wanted.remove(wanted)
            self._flush()

    def _answers(self, wanted: Wanted) -> bool:
        return self.store is None or self.awaited or self.number >= wanted.after

    async def _give(self, store: Store, transfers: Transfers, wanted: Wanted) -> None:
        """Send the state in the pieces that the application returns. If this task is cancelled, a later one
        begins again.

        The event loop goes on between pieces. An exception of the application is logged, and ends the
        transfer: whoever joins has to ask somebody else, and this member goes on.
        """
        transfers.begin(wanted, self.number, self._view)
        self._flush()
        try:
            async for piece in store.save():
                whole = memoryview(piece)
                for at in range(0, len(whole), _GIVEN_BYTES):
                    transfers.piece(wanted, bytes(whole[at : at + _GIVEN_BYTES]))
                    self._flush()
                    await asyncio.sleep(0)
                if not transfers.gives(wanted):
                    return
            transfers.end(wanted)
        except Exception as error:
            _logger.exception("group %s: `save` failed, and who joins asks another member", self._group)
            transfers.refuse(wanted, f"its `save` raised {type(error).__name__}: {error}")

    # Taking -------------------------------------------------------------------------------------------------

    async def take(self, membership: Membership, events: Iterable[JoinedEvent]) -> list[JoinedEvent] | None:
        """Load the state that has arrived, and return the events that it does not contain.

        None if no state has come, and another member is asked; or if the state is ahead of this process, so
        that messages in it would be delivered here once more. Raises `GroupFailed`: no member has a state.
        """
        transfers = membership.transfers
        if transfers.state is not None and self.store is not None:
            number, view, pieces = transfers.state
            if not self._reaches(list(events), number, view):
                return None
            await self.store.load(_each(pieces))  # once more, if it raises or is cancelled
            transfers.taken()
            self.awaited, self.number, self._view = False, number, view
            return list(_behind(list(events), number, view))
        if membership.view is not None and not membership.over:
            self._ask(transfers, membership.me, membership.view)
        return None

    def _reaches(self, events: Sequence[JoinedEvent], number: int, view: int) -> bool:
        """Return True if the events reach as far as a state of this place and view."""
        last = next((event.number for event in reversed(events) if type(event) is Delivery), 0)
        seen = next((event.number for event in reversed(events) if type(event) is View), 0)
        return max(last, self._began_after) >= number and seen >= view

    def _ask(self, transfers: Transfers, me: Member, view: View) -> None:
        """Request the state from another member, if none is being asked or the present one has not answered
        in time. Raise `GroupFailed` if no member has a state.
        """
        others = [member for member in view.members if member != me]
        if self._refused_in != view.number:
            self._refused, self._refused_in = {}, view.number
        if transfers.donor is not None and transfers.refusal is not None:
            self._refused[transfers.donor] = transfers.refusal
        now = asyncio.get_running_loop().time() * 1000.0
        if transfers.waits and any(member.incarnation == transfers.donor for member in others):
            late = now > transfers.asked_at + self._timeouts.exclude_ms * 2.0 ** min(self._unanswered, 5)
            if transfers.begun or not late:
                return
            self._unanswered += 1
        left = [member for member in others if member.incarnation not in self._refused]
        if not left:
            told = "; ".join(f"{one.name}: {self._refused[one.incarnation]}" for one in others)
            why = told or "all others have left or failed"
            raise GroupFailed(f"no member has a state to give to {me.name}: {why}")
        before = [place for place, member in enumerate(left) if member.incarnation == transfers.donor]
        transfers.ask(left[before[0] - 1 if before else -1].incarnation, self._began_after, now)
        self._flush()


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _behind(events: list[JoinedEvent], number: int, view: int) -> Iterator[JoinedEvent]:
    """Yield the events that a state of this place and view does not contain, the view itself first."""
    seen = [place for place, event in enumerate(events) if isinstance(event, View) and event.number <= view]
    if seen:
        yield events[seen[-1]]
        events = events[seen[-1] + 1 :]
    for event in events:
        if not isinstance(event, Delivery) or event.number > number:
            yield event
