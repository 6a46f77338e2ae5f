"""The change from list to list, as an epoch and a membership see it: one interface, and who is behind it.

`Flush` is the change of figures 32 and 34: one list ends, all agree on the next one, and that is another
epoch. `Reformation` is that of figures 22 to 24: the members of a view make one token list after the other
among themselves, which nobody outside sees; only the view ends with the epoch.

This module must not know what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from antiphon.impl.membership import view_change
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.succession import Next, Out, Roster, Succession
from antiphon.impl.membership.view_change import Kind, Message, ViewChange
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.flush import Flushes, Report

__all__ = ["Flush", "ListChange"]


class ListChange(Protocol):
    """The change of the list of one epoch, at one member. `now` is in milliseconds."""

    messages: Any
    """The union of the types of its messages."""

    @property
    def leaving(self) -> bool:
        """Return True if this member wants not to be in the next view."""
        ...

    @property
    def external(self) -> bool:
        """Return True if who is only suspected is left out of the ordering for a while."""
        ...

    @property
    def called(self) -> bool:
        """Return True if a change is under way."""
        ...

    @property
    def stopped(self) -> bool:
        """Return True if the epoch's protocol has ended, and only the change goes on."""
        ...

    @property
    def lost(self) -> bool:
        """Return True if this member lacks what nobody keeps any more."""
        ...

    @property
    def returns(self) -> bool:
        """Return True if a member that orders no messages now is ready to do so again."""
        ...

    @property
    def ordering(self) -> Sequence[int]:
        """The places of the members that order messages."""
        ...

    @property
    def lists(self) -> int:
        """Number of lists that have ended within the epoch."""
        ...

    def spent(self, now: float) -> tuple[float, float]:
        """Return the milliseconds for reports and for agreement, of all changes within the epoch and of its
        last.
        """
        ...

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Suspect these members from now on, and no others; those that are given up are among them."""
        ...

    def call(self, kind: Kind) -> None:
        """Ask for another list. The same call again has no effect."""
        ...

    def leave(self) -> None:
        """Ask for a view without this member."""
        ...

    def admit(self, joining: Member) -> None:
        """Ask for a view with this process too."""
        ...

    def flaw(self, message: Any) -> str | None:
        """Return why no correct member says this, or None."""
        ...

    def receive(self, sender: int, message: Any, now: float) -> None:
        """Handle a message of another member, which has no flaw."""
        ...

    def go_on(self, now: float) -> Next | Out | None:
        """Take the steps that can be taken; return what follows the epoch, once that is known."""
        ...

    def moved(self) -> bool:
        """Return, once, whether another list orders messages in this epoch now."""
        ...

    def outputs(self) -> list[Send[Any]]:
        """Hand over, once, what is to be sent on reliable links, in order."""
        ...

    def next_deadline(self) -> float | None:
        """Return when `go_on` has something to do though nothing has come, or None."""
        ...


class Flush:
    """The change of figures 32 and 34: `ViewChange` and, with the core, `Succession`."""

    messages = Message

    def __init__(
        self, roster: Roster, me: int, core: Flushes, deliver: Callable[[Report], bool], *, external: bool
    ) -> None:
        """Begin with no call; the parameters are those of `Succession` and `ViewChange`."""
        self._core = core
        self._change = ViewChange(me, len(roster.members), external=external)
        self._succession = Succession(roster, me, core, deliver, self._change)
        self._called_at = self._complete_at = 0.0
        """Times at which the change was called for here, and at which the reports had come; 0 before."""

    @property
    def external(self) -> bool:
        """As the protocol has it."""
        return self._change.external

    @property
    def leaving(self) -> bool:
        """True if this member wants not to be on the next list."""
        return self._change.leaving

    @property
    def called(self) -> bool:
        """Return True if the list ends."""
        return self._change.called

    @property
    def stopped(self) -> bool:
        """Return True after the report."""
        return self._succession.stopped

    @property
    def lost(self) -> bool:
        """As the core says."""
        return self._core.lost

    @property
    def returns(self) -> bool:
        """Return True if this member is external, and has missed nothing."""
        return self._core.caught_up

    @property
    def ordering(self) -> Sequence[int]:
        """The core of the list."""
        return range(self._succession.roster.core)

    @property
    def lists(self) -> int:
        """None: the next list is another epoch."""
        return 0

    def spent(self, now: float) -> tuple[float, float]:
        """Return the times of the one change."""
        return self._complete_at - self._called_at, now - self._complete_at

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """As `ViewChange.suspect`."""
        self._change.suspect(suspected, given_up)

    def call(self, kind: Kind) -> None:
        """As `ViewChange.call`."""
        self._change.call(kind)

    def leave(self) -> None:
        """As `ViewChange.leave`."""
        self._change.leave()

    def admit(self, joining: Member) -> None:
        """As `ViewChange.admit`."""
        self._change.admit(joining)

    def flaw(self, message: Message) -> str | None:
        """As the module `view_change` says."""
        return view_change.flaw(message, self._change.members)

    def receive(self, sender: int, message: Message, now: float) -> None:
        """As `ViewChange.receive`: time does not matter."""
        del now
        self._change.receive(sender, message)

    def go_on(self, now: float) -> Next | Out | None:
        """Report, propose and adopt, as far as it is time for that."""
        change = self._change
        if change.called and not self._called_at:
            self._called_at = self._complete_at = now
        self._succession.report()
        if not change.complete:
            self._complete_at = now
        self._succession.propose()
        return self._succession.adopt()

    def moved(self) -> bool:
        """Return False: the next list is another epoch."""
        return False

    def outputs(self) -> list[Send[Any]]:
        """As `ViewChange.outputs`."""
        return list(self._change.outputs())

    def next_deadline(self) -> float | None:
        """None: no timer runs."""
        return None

    def __repr__(self) -> str:
        return f"ends: {len(self._change.heard)} have reported" if self.called else "goes on"
