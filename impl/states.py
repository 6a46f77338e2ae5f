"""State of an application in a group that processes join: this process gives it to processes that join, and
takes it when it joins itself.

A state belongs to a place in the common order: it contains all messages up to that number, and all views up
to that one. Two members keep the state as it is where a view with joining processes begins, the cut; a donor
that keeps none makes one when it is asked. Who joins takes pieces of one donor after the other
(`antiphon.impl.membership.donors`), and says in the log where another one goes on, or begins again.

This module must not know how a state travels, or how members agree.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Protocol

from antiphon.impl.errors import GroupFailed
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.donors import Donors, keeps
from antiphon.impl.membership.member import Blocked, Member, Unblocked, View
from antiphon.impl.membership.membership import Membership
from antiphon.impl.membership.transfer import Snapshot, Transfers, Wanted
from antiphon.impl.protocols.core import Delivery

__all__ = ["JoinedEvent", "States", "Store"]

JoinedEvent = View | Delivery[Member] | Blocked | Unblocked
"""An event of a group that processes join."""

_GIVEN_BYTES = 2**18
"""Number of bytes of a state that are passed on before the clock is read again."""

_GIVES_MS = 10.0
"""Milliseconds for which the making of a state holds the event loop before other tasks get a turn."""

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

    def __init__(
        self, group: str, timeouts: Timeouts, flush: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        """Begin with no state. `flush` sends pending datagrams; `clock` gives the time in milliseconds."""
        self.store: Store | None = None
        self.awaited = False
        """True if this process waits for the state of another one."""
        self._group = group
        self._flush = flush
        self._clock = clock
        self._donors = Donors(timeouts)
        self._joined: frozenset[bytes] = frozenset()
        """Incarnations of the joining members for which the state as it is now has to be kept."""
        self._began_after = 0
        """The place in the common order after which this process became a member."""
        self.number = 0
        """The place in the common order of the last message that was taken."""
        self._view = 0
        """The number of the last view that was taken."""

    def begin(self, after: int, *, first: bool) -> None:
        """Record that this process became a member after this number of the common order. The founders have
        no state to get.
        """
        self._began_after = self.number = after
        self.awaited = self.store is not None and not first
        self._joined = frozenset()

    @property
    def place(self) -> tuple[int, int]:
        """Place in the common order and last view that the application's state contains."""
        return self.number, self._view

    @property
    def due(self) -> bool:
        """Return True if the state as it is now is to be kept, before the next event is given."""
        return bool(self._joined)

    def note(self, event: JoinedEvent, me: Member) -> None:
        """Note the events that the application has taken, which its state contains from now on."""
        if type(event) is Delivery:
            self.number = event.number
        elif type(event) is View:
            self._view = event.number
            if self.store is not None and not self.awaited and keeps(event, me):
                self._joined = frozenset(member.incarnation for member in event.joined)

    # Giving -------------------------------------------------------------------------------------------------

    async def give(self, transfers: Transfers) -> None:
        """Keep the state as it is now for members that have just joined, if that is due, and answer all
        requests for the state that can be answered now.
        """
        if self.store is not None and self._joined:
            if not transfers.kept(*self.place):
                await self._save(self.store, transfers, self._joined)
            self._joined = frozenset()
        transfers.serve()
        seen: set[Wanted] = set()
        while True:
            answered = (one for one in transfers.wanted if one not in seen and self._answers(one))
            wanted = next(answered, None)
            if wanted is None:
                break
            seen.add(wanted)
            if self.store is None:
                transfers.refuse(wanted, "it has no `state=`")
            elif self.awaited:
                transfers.refuse(wanted, "it waits for a state itself")
            else:
                await self._save(self.store, transfers, [wanted.by])
            transfers.serve()
        self._flush()

    def _answers(self, wanted: Wanted) -> bool:
        return self.store is None or self.awaited or self.place >= wanted.place

    async def _save(self, store: Store, transfers: Transfers, needed_by: Iterable[bytes]) -> None:
        """Let the application make its state; if this call is cancelled, the state is made anew later.

        The event loop goes on between pieces. An exception of the application is logged, and those that want
        the state are refused: they have to ask somebody else, and this member goes on.
        """
        snapshot = Snapshot(*self.place, needed_by)
        transfers.keep(snapshot, self._clock())
        transfers.serve()
        self._flush()
        began = self._clock()
        try:
            async for piece in store.save():
                for part in _parts(piece):
                    transfers.add(snapshot, part)
                    if self._clock() >= began + _GIVES_MS:
                        self._flush()
                        await asyncio.sleep(0)
                        began = self._clock()
                if snapshot.dropped:
                    return
            transfers.end(snapshot)
        except Exception as error:
            _logger.exception("group %s: `save` failed, and who joins asks another member", self._group)
            transfers.void(snapshot, f"its `save` raised {type(error).__name__}: {error}")
        except BaseException:
            transfers.void(snapshot, None)
            raise

    # Taking -------------------------------------------------------------------------------------------------

    async def take(self, membership: Membership, events: Iterable[JoinedEvent]) -> list[JoinedEvent] | None:
        """Load the state that has arrived, and return the events that it does not contain.

        Return None if no state has come, and ask a member for one if that is due. Return None also while the
        state is ahead of the events that have come here. Raises `GroupFailed`: no member has a state.
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
        self._say(membership)
        if membership.view is not None and not membership.over:
            suspected, now = membership.detector.suspected, self._clock()
            me, last = membership.me, membership.view
            why = self._donors.ask(transfers, me, last, suspected, self._began_after, now)
            if why is not None:
                raise GroupFailed(f"no member has a state to give to {me.name}: {why}")
            self._flush()
        return None

    def _say(self, membership: Membership) -> None:
        """Say in the log that another donor goes on, or begins again, and why."""
        transfers = membership.transfers
        if transfers.resumed is None and transfers.anew is None:
            return
        name = next(
            (one.name for one in membership.members if one.incarnation == transfers.donor), "a member"
        )
        if transfers.resumed is not None:
            told = "group %s: %s goes on with the state behind %d bytes"
            _logger.info(told, self._group, name, transfers.resumed)
        else:
            told = "group %s: %s begins with the state again: %s"
            _logger.warning(told, self._group, name, transfers.anew)
        transfers.resumed = transfers.anew = None

    def _reaches(self, events: Sequence[JoinedEvent], number: int, view: int) -> bool:
        """Return True if the events reach as far as a state of this place and view."""
        last = next((event.number for event in reversed(events) if type(event) is Delivery), 0)
        seen = next((event.number for event in reversed(events) if type(event) is View), 0)
        return max(last, self._began_after) >= number and seen >= view


def _parts(piece: bytes) -> Iterable[bytes | memoryview]:
    """Return a piece that can be kept as it is; or else, since it is copied, its parts."""
    if type(piece) is bytes:
        return (piece,)
    whole = memoryview(piece)
    return (whole[at : at + _GIVEN_BYTES] for at in range(0, len(whole), _GIVEN_BYTES))


async def _each(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


def _behind(events: list[JoinedEvent], number: int, view: int) -> Iterator[JoinedEvent]:
    """Yield the events that are not contained in a state at the place `number` of a view. The view comes
    first: the application of a member that takes the state has not seen it.
    """
    seen = [place for place, event in enumerate(events) if isinstance(event, View) and event.number <= view]
    if seen:
        yield events[seen[-1]]
        events = events[seen[-1] + 1 :]
    for event in events:
        if not isinstance(event, Delivery) or event.number > number:
            yield event
