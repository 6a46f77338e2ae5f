"""Figure 25 over Reformation's half of the service of token lists (`service`), which makes the lists; and
figure 25 as an implementation of the normal phase's half.

`order` is a history variable: the messages with the numbers of each list. No step of figure 25 reads it; the
service does, where a list must begin with everything stable. With `views` 1 this is figure 25 in one list.
"""

from __future__ import annotations

from antiphon.spec.lang import Map, Set, action, everywhere, require
from antiphon.spec.protocols.rbp_resilient.bounds import Assigned, Patient, Urgent
from antiphon.spec.protocols.rbp_resilient.figure25 import Body, Number
from antiphon.spec.protocols.reformation.figure25_in_lists import REPAIRS, Figure25InLists
from antiphon.spec.protocols.reformation.figures23_24 import Attempt, LastNumber, ListName
from antiphon.spec.protocols.reformation.over_figure25 import RbpReforming
from antiphon.spec.protocols.reformation.over_service import ListsOfFigures
from antiphon.spec.protocols.reformation.service import ReformationService, TokenLists, TokenListService
from antiphon.spec.services.events import Message, Process, View


class OrderOfFigure25(Figure25InLists, TokenLists):
    """Figure 25 in lists, with a record of the order of each list, and of how much each process knew of it
    when it left the list.
    """

    left: Map[Process, Map[ListName, LastNumber]] = everywhere(everywhere(0))

    def send_token(self, p: Process, body: Body | None, k: Number) -> None:
        """Give the next number of p's list in the first round (lines 54 and 61), and record it in
        the order.
        """
        super().send_token(p, body, k)
        a = self.list_of(p)
        if k == len(self.order[a]) + 1:
            self.order[a] += (self.message_of(body),)

    def message_of(self, body: Body | None) -> Message | None:
        """Return the message that B stands for; None for NULL."""
        return body.message if body is not None else None

    def take_over(self, j: Process, s: Process, a: ListName) -> None:
        """Copy to j the messages that j lacks from s, the new token site of list a; j thereby leaves its old
        list.
        """
        self.left[j][self.list_of(j)] = self.complete_up_to(j)
        super().take_over(j, s, a)

    def known_in(self, p: Process, a: ListName) -> int:
        """Return the number up to which p has the messages of list a's order, or had them when it left list
        a.
        """
        return self.complete_up_to(p) if a == self.list_of(p) else self.left[p][a]

    def known(self, p: Process, a: ListName) -> int:
        """Return the number up to which p knows the order of list a, under the name that the service uses."""
        return self.known_in(p, a)


class Figure25OverLists(
    OrderOfFigure25, ReformationService, repairs=REPAIRS, restrictions=(Urgent, Assigned, Patient)
):
    """Figure 25 whose token lists come from the service: each process stops for a new version at
    any moment.
    """

    started: Map[Attempt, bool] = everywhere(False)

    @action
    def promise(self, p: Process, v: View) -> None:
        """Promise version v at p: p stops working for its list (lines 39, 49, 56, 63 and 70, or because
        another process has called Reformation).
        """
        super().promise(p, v)
        self.reforming[p] = True

    @action
    def commit(self, p: Process, a: Attempt) -> None:
        """Commit list a at p, if the list's token site still has what p lacks."""
        require(any(self.is_site(s, a) and self.can_take_over(p, s, a) for s in self.each(Process)))
        super().commit(p, a)

    def begin_in(self, p: Process, a: Attempt) -> None:
        """Begin at p in list a with exactly the messages that the list's token site has."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(p, s, a)
        self.begin_list(p)

    @action(fairness="weak")
    def start_list(self, p: Process) -> None:
        """Start a list to which all have agreed: its site holds the token."""
        a = self.current[p]
        require(self.is_free(p) and a > 0 and self.is_site(p, a) and self.is_agreed(a))
        require(not any(b == a and self.started[b] for b in self.each(Attempt)))
        self.holding[p] = True
        for b in self.each(Attempt):
            if b == a:
                self.started[b] = True


class Figure25IsService(Figure25OverLists, refines=TokenListService):
    """Refinement: figure 25 as the normal phase's half of the service; the other half is the
    service's own.
    """


class RbpReformingIsService(RbpReforming, OrderOfFigure25, ListsOfFigures, refines=TokenListService):
    """Refinement: figure 25 with figures 23 and 24 as both halves of the service."""

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """Announce the New TL; the order of the list begins with what its token site has."""
        a = self.belongs[p]
        super().announce(p, responders, site)
        self.order[a] = self.brought_by(site)

    def end(self, p: Process, a: Attempt) -> None:
        """End the reformation, and record the sites that have committed the list."""
        super().end(p, a)
        self.joined[a] |= {p}
