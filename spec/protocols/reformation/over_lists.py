"""Figure 25 over Reformation's half of the service: figure 25 checked alone, wherever the lists come from;
and figure 25 as the normal phase's half of the service.

`order` is history: what has the numbers of each list. No step of figure 25 reads it; the service does,
where a list must begin with what is stable. With `views` 1 it is figure 25 in one list.
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
    """Figure 25 in lists, with the order of each list, and what each process knew of it when it left it."""

    left: Map[Process, Map[ListName, LastNumber]] = everywhere(everywhere(0))

    def send_token(self, p: Process, body: Body | None, k: Number) -> None:
        """Lines 54 and 61: the next number of p's list is given, in the first round."""
        super().send_token(p, body, k)
        a = self.list_of(p)
        if k == len(self.order[a]) + 1:
            self.order[a] += (self.message_of(body),)

    def message_of(self, body: Body | None) -> Message | None:
        """The message that B stands for. NULL stands for none."""
        return body.message if body is not None else None

    def take_over(self, j: Process, s: Process, a: ListName) -> None:
        """J leaves its list."""
        self.left[j][self.list_of(j)] = self.complete_up_to(j)
        super().take_over(j, s, a)

    def known_in(self, p: Process, a: ListName) -> int:
        """Return how much p has of the order of list a, with its messages; or had when it left it."""
        return self.complete_up_to(p) if a == self.list_of(p) else self.left[p][a]

    def known(self, p: Process, a: ListName) -> int:
        """The same, as the service calls it."""
        return self.known_in(p, a)


class Figure25OverLists(
    OrderOfFigure25, ReformationService, repairs=REPAIRS, restrictions=(Urgent, Assigned, Patient)
):
    """Figure 25, where token lists come from the service: each process stops for a version at any moment."""

    started: Map[Attempt, bool] = everywhere(False)

    @action
    def promise(self, p: Process, v: View) -> None:
        """P stops working for its list: lines 39, 49, 56, 63 and 70, or another process has called."""
        super().promise(p, v)
        self.reforming[p] = True

    @action
    def commit(self, p: Process, a: Attempt) -> None:
        """The site still has what p misses."""
        require(any(self.is_site(s, a) and self.can_take_over(p, s, a) for s in self.each(Process)))
        super().commit(p, a)

    def begin_in(self, p: Process, a: Attempt) -> None:
        """P has what the site has, and nothing else."""
        for s in self.each(Process):
            if self.is_site(s, a):
                self.take_over(p, s, a)
        self.begin_list(p)

    @action(fairness="weak")
    def start_list(self, p: Process) -> None:
        """The site of a list that all have agreed to holds the token."""
        a = self.current[p]
        require(self.is_free(p) and a > 0 and self.is_site(p, a) and self.is_agreed(a))
        require(not any(b == a and self.started[b] for b in self.each(Attempt)))
        self.holding[p] = True
        for b in self.each(Attempt):
            if b == a:
                self.started[b] = True


class Figure25IsService(Figure25OverLists, refines=TokenListService):
    """Figure 25, seen as the normal phase's half of the service. The other half is the same."""


class RbpReformingIsService(RbpReforming, OrderOfFigure25, ListsOfFigures, refines=TokenListService):
    """Figure 25 with figures 23 and 24 where it calls Reformation, seen as the service: both halves."""

    @action(fairness="weak")
    def announce(self, p: Process, responders: Set[Process], site: Process) -> None:
        """The list begins with what its site has."""
        a = self.belongs[p]
        super().announce(p, responders, site)
        self.order[a] = self.brought_by(site)

    def end(self, p: Process, a: Attempt) -> None:
        """Remember the sites that have committed a list."""
        super().end(p, a)
        self.joined[a] |= {p}
