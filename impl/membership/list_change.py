"""The change from list to list, as an epoch and a membership see it: an interface, and `Flush`.

`Flush` is the change of figures 32 and 34: one list ends, all agree on the next one, and that one belongs to
another epoch. `Reformation` is that of figures 22 to 24: the members of a view make one token list after the
other among themselves, which nobody outside sees; only the view ends with the epoch.

This module must not know what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from antiphon.impl.membership import view_change
from antiphon.impl.membership.consensus import Estimate, coordinator
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.succession import Next, Out, Roster, Succession
from antiphon.impl.membership.view_change import Kind, Message, ViewChange
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.flush import Flushes, Report

__all__ = ["Flush", "ListChange"]


class ListChange(Protocol):
    """The change of the list of one epoch, at one member. `now` is in milliseconds."""

    messages: Any
    """The union of the types of the messages of this kind of change."""

    @property
    def leaving(self) -> bool:
        """Return True if this member has asked for a view without itself."""
        ...

    @property
    def external(self) -> bool:
        """Return True if the protocol has external members: a member that is only suspected orders no
        messages for a while, and stays in the view.
        """
        ...

    @property
    def called(self) -> bool:
        """Return True if a change is under way."""
        ...

    @property
    def stopped(self) -> bool:
        """Return True if the protocol of the list has ended, while the change of the list goes on."""
        ...

    @property
    def lost(self) -> bool:
        """Return True if this member lacks messages that no other member stores any more."""
        ...

    @property
    def returns(self) -> bool:
        """Return True if a member that is left out of the ordering is ready to order messages again."""
        ...

    @property
    def ordering(self) -> Sequence[int]:
        """Return the places on the list of the members that order messages."""
        ...

    @property
    def lists(self) -> int:
        """Return the number of lists that have ended within the epoch."""
        ...

    def spent(self, now: float) -> tuple[float, float]:
        """Return how many milliseconds the changes of the list spent until all reports had come, and until
        agreement: the sum over this epoch.
        """
        ...

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Suspect these members from now on, and no others; those that are given up are among them."""
        ...

    def call(self, kind: Kind) -> None:
        """Ask for another list of this kind; a second call of the same kind has no effect."""
        ...

    def leave(self) -> None:
        """Ask for a view without this member."""
        ...

    def admit(self, joining: Member) -> None:
        """Ask for a view that this process is added to."""
        ...

    def flaw(self, message: Any) -> str | None:
        """Return the reason why no correct member sends this message, or None."""
        ...

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle a message of another member, which has no flaw."""
        ...

    def go_on(self, now: float) -> Next | Out | None:
        """Take the possible steps. Return what follows the epoch once that is known, else None."""
        ...

    def moved(self) -> bool:
        """Return True, once, if a new list has begun to order messages in this epoch since the last call."""
        ...

    def outputs(self) -> list[Send[Any]]:
        """Return, once, the messages to send on reliable links, in order."""
        ...

    def next_deadline(self) -> float | None:
        """Return the time at which `go_on` has something to do without any input, or None."""
        ...


class Flush:
    """List change of figures 32 and 34, made of a `ViewChange` and, with the core, a `Succession`.

    A member that has adopted the proposal of a round goes on to the next round at once, as figure 6 of
    Chandra and Toueg has it, and sends an estimate, which is as large as all that the change hands over. The
    decision is on its way then, unless the coordinator has failed. So the estimate is held back for
    `patience_ms`, or until the coordinator is suspected. Who has the decision never sends it. To others it
    looks like a slow network.
    """

    messages = Message

    def __init__(
        self,
        roster: Roster,
        me: int,
        core: Flushes,
        deliver: Callable[[Report], bool],
        *,
        external: bool,
        patience_ms: float,
    ) -> None:
        """Begin without a call for a change; the other parameters are those of `Succession` and
        `ViewChange`.
        """
        self._core = core
        self._me = me
        self._patience_ms = patience_ms
        self._suspected: frozenset[int] = frozenset()
        self._held: list[tuple[float, Send[Estimate[Any]]]] = []
        """Estimates that are held back, each with the time up to which it is."""
        self._now = 0.0
        self._change = ViewChange(me, len(roster.members), external=external)
        self._succession = Succession(roster, me, core, deliver, self._change)
        self.stopped = False
        """True if this member has sent its report, with which the protocol ends."""
        self._called_at = self._complete_at = 0.0
        """Times at which the change was called for here, and at which the reports had come; 0 before."""

    @property
    def external(self) -> bool:
        """Return True if the protocol has external members."""
        return self._change.external

    @property
    def leaving(self) -> bool:
        """Return True if this member has asked for a view without itself."""
        return self._change.leaving

    @property
    def called(self) -> bool:
        """Return True if a call has ended this list."""
        return self._change.called

    @property
    def lost(self) -> bool:
        """Return True if the core lacks messages that no other member stores any more."""
        return self._core.lost

    @property
    def returns(self) -> bool:
        """Return True if this member is external and lacks no message, so that it can order messages
        again.
        """
        return self._core.caught_up

    @property
    def ordering(self) -> Sequence[int]:
        """Return the places of the list's core, the members that order messages."""
        return range(self._succession.roster.core)

    @property
    def lists(self) -> int:
        """Return 0: the next list belongs to another epoch."""
        return 0

    def spent(self, now: float) -> tuple[float, float]:
        """Return how many milliseconds the change spent until all reports had come, and until agreement."""
        return self._complete_at - self._called_at, now - self._complete_at

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Suspect these members from now on, and no others; those that are given up are among them."""
        self._suspected = suspected
        self._change.suspect(suspected, given_up)

    def call(self, kind: Kind) -> None:
        """Ask for another list of this kind; a second call of the same kind has no effect."""
        self._change.call(kind)

    def leave(self) -> None:
        """Ask for a view without this member."""
        self._change.leave()

    def admit(self, joining: Member) -> None:
        """Ask for a view that this process is added to."""
        self._change.admit(joining)

    def flaw(self, message: Message) -> str | None:
        """Return the reason why no correct member sends this message, or None."""
        return view_change.flaw(message, self._change.members)

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message of another member, which has no flaw; the time has no effect."""
        del now
        self._change.receive(sender, message)

    def go_on(self, now: float) -> Next | Out | None:
        """Report, propose and adopt, as far as each is possible. Return what follows the epoch once that is
        known, else None.
        """
        change, self._now = self._change, now
        if change.called and not self._called_at:
            self._called_at = self._complete_at = now
        self._succession.report()
        self.stopped = self._succession.stopped
        if not change.complete:
            self._complete_at = now
        self._succession.propose()
        return self._succession.adopt()

    def moved(self) -> bool:
        """Return False: a new list begins another epoch, never within this one."""
        return False

    def outputs(self) -> list[Send[Any]]:
        """Return, once, the messages to send on reliable links, in order. What was held back comes first."""
        queue: list[tuple[float, Send[Any]]] = [] if self._change.decision is not None else [*self._held]
        queue += [(self._now + self._patience_ms, send) for send in self._change.outputs()]
        self._held = []
        out: list[Send[Any]] = []
        for due, send in queue:
            if due > self._now and self._may_wait(send.message):
                self._held.append((due, send))
            else:
                out.append(send)
        return out

    def _may_wait(self, message: Any) -> bool:
        """Return True for an estimate that is needless if the coordinator of the round before decides."""
        if not isinstance(message, Estimate) or message.round == 1:
            return False
        before = coordinator(message.round - 1, self._change.members)
        return before != self._me and before not in self._suspected

    def next_deadline(self) -> float | None:
        """Return the time at which an estimate is held back no longer, or None."""
        return min((due for due, _ in self._held), default=None)

    def __repr__(self) -> str:
        return f"ends: {len(self._change.heard)} have reported" if self.called else "goes on"
