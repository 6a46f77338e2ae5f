"""Choice of the members that give a state to those that join.

Members that joined together see the view with them at the same place, and so does everybody else. The first
members of the `order` keep the state as it is there, the others go on. Whoever joins asks in this order, so
that a second donor has the same bytes as the first.

1. A donor that has not begun to answer in time is left for the next one, and next time there is more time.
2. A donor that is suspected is left for one that is not: that one goes on behind the pieces that have come.
3. Who has refused is not asked again in the same view. When all have refused, nobody has a state.

No clock and no socket. This module must not know how a state travels.
"""

from __future__ import annotations

from collections.abc import Collection

from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Member, View
from antiphon.impl.membership.transfer import Transfers

__all__ = ["KEEPERS", "Donors", "keeps"]

KEEPERS = 2
"""Number of members that keep the state for those that join; the others are not held up."""


def keeps(view: View, me: Member) -> bool:
    """Return True if this member keeps its state as of this view for those that have joined with it."""
    old = [member for member in view.members if member not in view.joined]
    return bool(view.joined) and me in _first_to_the_end(old)[:KEEPERS]


class Donors:
    """Members that one joining process asks for the state."""

    def __init__(self, timeouts: Timeouts) -> None:
        """Begin with nobody asked."""
        self._timeouts = timeouts
        self._refused: dict[bytes, str] = {}
        """Members that have no state to give, and the reason of each."""
        self._refused_in = 0
        """Number of the view in which the members of `_refused` have refused."""
        self._unanswered = 0
        """Number of times that a member did not answer a request in time."""

    def ask(
        self,
        transfers: Transfers,
        me: Member,
        view: View,
        suspected: Collection[bytes],
        after: int,
        now: float,
    ) -> str | None:
        """Ask one of the other members for the state as of place `after` or a later one, if it is time for
        that. Return why nobody has one, or None.
        """
        others = order(view, me)
        if self._refused_in != view.number:  # a refusal that has come since the last question is of before
            self._refused, self._refused_in = {}, view.number
        elif transfers.donor is not None and transfers.refusal is not None:
            self._refused[transfers.donor] = transfers.refusal
        left = [member for member in others if member.incarnation not in self._refused]
        sound = [member for member in left if member.incarnation not in suspected]
        if transfers.waits and any(member.incarnation == transfers.donor for member in others):
            patience_ms = self._timeouts.exclude_ms * 2.0 ** min(self._unanswered, 5)
            late = not transfers.begun and now > transfers.asked_at + patience_ms
            silent = transfers.donor in suspected and bool(sound)
            if not late and not silent:
                return None
            self._unanswered += late
        if not left:
            told = "; ".join(f"{one.name}: {self._refused[one.incarnation]}" for one in others)
            return told or "all others have left or failed"
        incarnations = [member.incarnation for member in others]
        asked = incarnations.index(transfers.donor) + 1 if transfers.donor in incarnations else 0
        turned = others[asked:] + others[:asked] if self._unanswered else others
        candidates = [member for member in turned if member in (sound or left)]
        another = [member for member in candidates if member.incarnation != transfers.donor]
        transfers.ask((another or candidates)[0].incarnation, after, now)
        return None


def order(view: View, me: Member) -> list[Member]:
    """Return the other members in the order in which `me`, who joins, asks them for the state.

    Those that were there before come first, and then those that came later.
    """
    place = view.members.index(me)
    return [*_first_to_the_end(list(view.members[:place])), *view.members[place + 1 :]]


def _first_to_the_end(members: list[Member]) -> list[Member]:
    """Put the first member, which has other work to do, behind the others."""
    return members[1:] + members[:1]
