"""Machine of a group whose members come and go, as its applications see it: views, and messages that are
delivered in them, in one order or in any.

It is the machine of view synchrony (`view_machine`) with three changes, which say what such a group promises
about a message that its view has not delivered:

| machine of view synchrony                         | here                                               |
|---------------------------------------------------|----------------------------------------------------|
| a message is delivered in the view of its sending | in that view or a later one; everybody in the same |
| nothing is sent while a view ends                 | an application broadcasts whenever it is in a view |
| a process has its own messages before it goes on  | it may deliver them in a later view                |

`OrderedGroup` adds the order. It is one for all views, and for everybody, also for processes that stop
afterwards. A process that joins begins with the message after the last one of the views before; what came
before, it gets as a state of the application.

The runs of the implementation's groups are steps of these machines (`antiphon swarm --save`): each process is
one run of a member, which is in no view at first, and stops when it crashes, leaves, or learns that it was
excluded.

Source: Barchet-Estefanel 2002, section 4.3.2, Same View Delivery in place of Sending View Delivery; section
3.1.2 for the order.
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Map, Set, action, everywhere, mutation, require
from antiphon.spec.services.events import Installed, Message, Process, View
from antiphon.spec.services.order import Count, Place, TotalOrder
from antiphon.spec.services.view_machine import BoundedMachine, ViewSynchronousMachine
from antiphon.spec.services.views import ViewSynchrony


class UnorderedGroup(ViewSynchronousMachine):
    """Group in whose views messages are delivered in any order.

    State: `submitted` is how many messages applications have broadcast, `count[p]` how many p has delivered.
    """

    submitted: Annotated[int, Between(0, "messages")] = 0
    count: Map[Process, Count] = everywhere(0)

    @action
    def submit(self, p: Process, m: Message) -> None:
        """Broadcast m at p, as the next message."""
        require(m.index == self.submitted)
        super().submit(p, m)

    def note_submission(self, p: Process, m: Message) -> None:
        """Record that m is sent in p's view, and count it."""
        super().note_submission(p, m)
        self.submitted += 1

    def note_delivery(self, p: Process, m: Message) -> None:
        """Record and count that p has delivered m."""
        super().note_delivery(p, m)
        self.count[p] += 1

    def may_send(self, p: Process) -> bool:
        """Return True: an application may broadcast while its view ends."""
        return True

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view or an earlier one, and no process has delivered m in another
        view.
        """
        v = self.current_view[p]
        return self.sending_view[m] <= v and not any(
            self.delivery_view[q][m] > 0 and self.delivery_view[q][m] != v for q in self.each(Process)
        )

    def has_own(self, p: Process) -> bool:
        """Return True: a process may deliver its own messages in a later view."""
        return True

    def has_sent(self, q: Process, m: Message, v: Installed) -> bool:
        """Return False: nobody has to deliver what q has sent in view v before v ends."""
        return False


class OrderedGroup(UnorderedGroup):
    """Group that delivers in one order.

    State: `order[k]` is the k-th message that anybody has delivered, `base[v]` the number of messages that
    were delivered before view v, `reached[p]` the place in the order of the last message that p has
    delivered, or after which it became a member.
    """

    order: Map[Place, Message | None] = everywhere(None)
    base: Map[View, Count] = everywhere(0)
    reached: Map[Process, Count] = everywhere(0)

    def may_deliver(self, p: Process, m: Message) -> bool:
        """Return True if p may deliver m in its view, and m is the next message of the order: the one that
        somebody has delivered at this place, or one that nobody has delivered.
        """
        return super().may_deliver(p, m) and self.is_next_in_order(p, m)

    def is_next_in_order(self, p: Process, m: Message) -> bool:
        """Return True if m has the place after p's last message, or neither has the place nor m another."""
        k = self.reached[p] + 1
        return not any(
            (self.order[j] == m) != (j == k) and not (j == k and self.order[j] is None)
            for j in self.each(Place)
        )

    def note_delivery(self, p: Process, m: Message) -> None:
        """Record that p has delivered m, at the place of the order after its last message."""
        for j in self.each(Place):
            if j == self.reached[p] + 1:
                self.order[j] = m
        self.reached[p] += 1
        super().note_delivery(p, m)

    def note_installation(self, p: Process, v: View, members: Set[Process]) -> None:
        """Record that p is in view v. The first one says where in the order v begins; one that joins begins
        there.
        """
        if not self.has_formed(v):
            self.base[v] = self.reached[p]
        if self.current_view[p] == 0:
            self.reached[p] = self.base[v]
        super().note_installation(p, v, members)


# A fault for each property ----------------------------------------------------------------------------------


@mutation("a process delivers whatever it has next")
class InAnyOrder(OrderedGroup):
    """Planted fault in the ordered group: a process delivers in any order. Breaks `UniformTotalOrder`."""

    def is_next_in_order(self, p: Process, m: Message) -> bool:
        """Return True: every message may be the next."""
        return True


@mutation("a process goes on with what it has")
class GoesOnBehind(UnorderedGroup):
    """Planted fault in a group: a process goes on to the next view with whatever it has delivered. Breaks
    `ViewSynchrony`.
    """

    def has_the_same(self, p: Process, w: View) -> bool:
        """Return True: p may go on whatever it has delivered (fault)."""
        return True

    def is_too_late(self, p: Process, m: Message) -> bool:
        """Return False: no message is ever too late for p (fault)."""
        return False


@mutation("a message is delivered in any view")
class InAnyView(UnorderedGroup):
    """Planted fault in a group: one process delivers a message in one view, another in the next. Breaks
    `SameViewDelivery`.
    """

    def is_in_place(self, p: Process, m: Message) -> bool:
        """Return True if m was sent in p's view or an earlier one."""
        return self.sending_view[m] <= self.current_view[p]


class OrderedGroupChecked(
    BoundedMachine, OrderedGroup, TotalOrder, ViewSynchrony, mutations=(InAnyOrder, GoesOnBehind, InAnyView)
):
    """The ordered group, judged by total order and view synchrony; it does not promise
    `SendingViewDelivery`.
    """
