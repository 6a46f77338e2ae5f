"""Further properties that group communication systems promise: agreement on successors, safe indications, and
liveness for the members that stay in a view.

Source: Chockler, Keidar and Vitenberg 2001, "Group communication specifications: a comprehensive study", in
sense, not in words. The other properties of that survey stand elsewhere: Self Inclusion, Local Monotonicity,
Initial View Event, Primary Component (`PrimaryPartition`), Sending and Same View Delivery, Virtual Synchrony
and Self Delivery (`VscValidity`) in `views`, Transitional Set in `extended`, FIFO and causal order, reliable
or not, in `causal`, total order in `order_in_views`, Delivery Integrity and No Duplication (together
`UniformIntegrity`) in `broadcast`.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from antiphon.spec.lang import Map, Set, everywhere, expect, obligation, on, record
from antiphon.spec.services.events import Install, Installed, Message, Process, View
from antiphon.spec.services.order import Count
from antiphon.spec.services.order_in_views import PlacesInViews
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.views import OwnLists, PartitionableSynchrony


@record
class Indicate:
    """Event: `process` learns that `message`, which it has delivered, is safe: all members that do not crash
    deliver it.
    """

    process: Process
    message: Message


class AgreementOnSuccessors(OwnLists):
    """If a process goes from view v to view w, every member of v that installs w comes from v too.

    State: `came_with[p][w]` are the members, by p's list, of the view from which p went to w.
    """

    came_with: Map[Process, Map[View, Set[Process]]] = everywhere(everywhere(Set()))

    @on(Install)
    def judge_install(self, event: Install) -> None:
        """Note the view from which p comes, before the installation of the next one is judged."""
        is_later = event.view > self.view_of(event.process)
        if is_later:
            self.came_with[event.process][event.view] = self.own_members(event.process)
        super().judge_install(event)

    @on(Install)
    def judge_successors(self, event: Install) -> None:
        """Check, when p has gone from v to w, that every member of v that installed w before came from v
        too.
        """
        p = event.process
        w = event.view
        v = self.came_from[p][w]
        for q in self.each(Process):
            u = self.came_from[q][w]
            is_apart = v is not None and u is not None and u != v
            if is_apart and (q in self.came_with[p][w] or p in self.came_with[q][w]):
                expect(False, "AgreementOnSuccessors", Install(q, w, event.members))


class SafeIndications(PlacesInViews):
    """Safe indications of a system that delivers at once: it later indicates that a message is safe, that is,
    every member of the view that does not crash delivers the message, and those that the process delivered
    before it.

    Safety: `IndicatedIsDelivered`, in the view of the indication, so that an indication outside of all views
    breaks it too (for the survey, a violation of Initial View Event). Obligations: `SafeIndication`,
    `SafeIndicationPrefix`, `SafeIndicationLiveness`. With `ReliableTotalOrder` the messages that a process
    delivered before a safe one are all messages before it in the total order (in the survey, Safe Indication
    Reliable Prefix).

    State: `indicated_in[p][m]` is the view in which m was indicated to p as safe, `safe_until[p][v]` the last
    place of such a message in p's sequence in v.
    """

    indicated_in: Map[Process, Map[Message, Installed | None]] = everywhere(everywhere(None))
    safe_until: Map[Process, Map[View, Count]] = everywhere(everywhere(0))

    @on(Indicate)
    def note_indication(self, event: Indicate) -> None:
        """Note an indication, and check that p has delivered m in its present view."""
        p = event.process
        m = event.message
        v = self.view_of(p)
        k = self.place_in_view[p][m]
        expect(v > 0 and self.delivered_in[p][m] == v, "IndicatedIsDelivered")
        if self.indicated_in[p][m] is None:
            self.indicated_in[p][m] = v
        if v > 0 and k is not None and self.delivered_in[p][m] == v:
            self.safe_until[p][v] = max(self.safe_until[p][v], k)

    @obligation
    def SafeIndication(self) -> bool:
        """Obligation: if a process learns in view v that a message is safe, each member of v that stays up
        delivers the message.
        """
        return all(
            self.has_reached(m, self.indicated_in[p][m])
            for p in self.each(Process)
            for m in self.each(Message)
        )

    @obligation
    def SafeIndicationPrefix(self) -> bool:
        """Obligation: a message that a process delivered in v before a safe message is safe as well."""
        return all(
            not self.is_known_safe(p, m) or self.has_reached(m, self.delivered_in[p][m])
            for p in self.each(Process)
            for m in self.each(Message)
        )

    def is_known_safe(self, p: Process, m: Message) -> bool:
        """Return True if m, or a message that p delivered later in the same view, was indicated to
        p as safe.
        """
        v = self.delivered_in[p][m]
        k = self.place_in_view[p][m]
        return v is not None and v > 0 and k is not None and k <= self.safe_until[p][v]

    @obligation
    def SafeIndicationLiveness(self) -> bool:
        """Obligation: a message of a correct process in its last view becomes safe at correct members."""
        return all(
            self.sent_in[m] != v or self.origin[m] != p or self.is_told_to_all(m, v)
            for p in self.each(Process)
            for v in (self.view_of(p),)
            if self.correct(p) and v > 0
            for m in self.each(Message)
        )

    def is_told_to_all(self, m: Message, v: Installed) -> bool:
        """Return True if m was indicated as safe to every member of v that has not crashed."""
        members = self.agreed_members(v) if v > 0 else None
        return members is None or all(
            self.indicated_in[q][m] is not None or not self.correct(q) for q in members
        )

    def has_reached(self, m: Message, v: Installed | None) -> bool:
        """Return True if every member of view v that has not crashed has delivered m, or if there is no such
        view.
        """
        members = self.agreed_members(v) if v is not None and v > 0 else None
        return members is None or all(self.delivered[q][m] or not self.correct(q) for q in members)


class StableViews(PartitionableSynchrony):
    """Liveness in views that stay: in the end views are right, and their messages arrive.

    The survey asks this where a set of processes is connected for ever and is cut off from all others. A
    process sees of this only that it stays in a view, so the properties speak of processes that stay.
    """

    def remains(self, p: Process, v: Installed) -> bool:
        """Return True if p has not crashed, and v is the view that p has installed last."""
        return self.correct(p) and self.view_of(p) == v

    @obligation
    def MembershipPrecision(self) -> bool:
        """Obligation: where a correct process stays, every correct member stays.

        In extended virtual synchrony (Moser and others 1994), specification 2.1: a configuration is installed
        by all its members, unless it is left.
        """
        return all(
            self.remains(q, v) or not self.correct(q)
            for p in self.each(Process)
            for v in (self.view_of(p),)
            if self.correct(p) and v > 0
            for q in self.members_of(v)
        )

    @obligation
    def MulticastLiveness(self) -> bool:
        """Obligation: correct members deliver the messages of a correct process in its last view."""
        return all(
            self.delivered[q][m] or not self.correct(q)
            for p in self.each(Process)
            for v in (self.view_of(p),)
            if self.correct(p) and v > 0
            for m in self.each(Message)
            if self.sent_in[m] == v and self.origin[m] == p
            for q in self.members_of(v)
        )

    @obligation
    def TerminationOfDelivery(self) -> bool:
        """Obligation: every member of a view, crashed or not, delivers each message that a correct process
        sends in the view, unless the sender installs a later view.
        """
        return all(
            self.delivered[q][m]
            for p in self.each(Process)
            for v in (self.view_of(p),)
            if self.correct(p) and v > 0
            for m in self.each(Message)
            if self.sent_in[m] == v and self.origin[m] == p
            for q in self.members_of(v)
        )

    def members_of(self, v: Installed) -> Set[Process]:
        """Return the members of v; nobody, if there is no such view."""
        members = self.agreed_members(v) if v > 0 else None
        return members if members is not None else Set()


# What logs are judged by ------------------------------------------------------------------------------------

SUCCESSOR_PROMISES: Final = Promises(
    (
        Property(
            "AgreementOnSuccessors",
            "who goes from one view to the next comes from the same one as all members of the first who go "
            "there",
            "views installed from others",
            nothing="nobody goes from a view to another",
            promised=("agreement-on-successors",),
            reason="installed from another view than by one who was a member of both",
        ),
    ),
    ("agreement-on-successors",),
    AgreementOnSuccessors,
)

_of_safe = partial(Property, nothing="no message is told to be safe", promised=("safe-indications",))

INDICATED_IS_DELIVERED: Final = _of_safe(
    "IndicatedIsDelivered",
    "a process is told to be safe what it has delivered in its view",
    "safe indications",
    reason="said to be safe, and not delivered there in this view",
)
INDICATION_PROMISES: Final = Promises(
    (
        INDICATED_IS_DELIVERED,
        _of_safe(
            "SafeIndication",
            "what is told to be safe in a view all its correct members deliver",
            "safe indications",
        ),
        _of_safe(
            "SafeIndicationPrefix",
            "and what that process delivered before it in the view",
            "safe indications",
        ),
        _of_safe(
            "SafeIndicationLiveness",
            "what a correct process sends in the view in which it stays all correct members are told is safe",
            "broadcasts by their sources",
        ),
    ),
    ("safe-indications",),
    SafeIndications,
)

_where_stable = partial(Property, promised=("stable-views",))

STABLE_VIEW_PROMISES: Final = Promises(
    (
        _where_stable(
            "MembershipPrecision",
            "where a correct process stays, every correct member stays",
            "views installed",
            nothing="no view is installed",
        ),
        _where_stable(
            "MulticastLiveness",
            "what a correct process sends in the view in which it stays every correct member delivers",
            "broadcasts by their sources",
        ),
        _where_stable(
            "TerminationOfDelivery",
            "every member delivers it, whether it crashes or not",
            "broadcasts by their sources",
        ),
    ),
    ("stable-views",),
    StableViews,
)
