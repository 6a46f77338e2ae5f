"""TOTAL with a flush beside the machine of view synchrony: numbering a message submits it to the machine,
passing it up delivers it in the machine.

Horus' MBRSHIP with its flush as messages (`horus.flush`) refines the same machine. So the repair `flush` is
an ordinary flush, and the properties that TOTAL has with it hold over Horus' flush as well. An id of a view
gets a name of the machine, one after the other; half of the `messages` names are left for messages that are
broadcast again in the next view.

Source: Cornell, "JavaGroups TOTAL", section Future Improvements: "A flush protocol would delay the view
change until all ... are synchronized".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import Between, Map, constraint, environment, everywhere, initial
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.headers import Number
from antiphon.spec.services import Message, Process, View
from antiphon.spec.services.view_machine import ViewSynchronousFollower


class TotalOverFlush(TotalBounded, ViewSynchronousFollower):
    """TOTAL beside the machine of view synchrony. `names[v][k]` is the machine's name for id k of view v."""

    names: Map[View, Map[Number, Message | None]] = everywhere(everywhere(None))
    named: Annotated[int, Between(0, "messages")] = 0

    @initial
    def found(self) -> None:
        """Found the group, in TOTAL and in the machine of view synchrony."""
        super().found()
        self.machine_found()

    @constraint("broadcast")
    def has_names(self) -> bool:
        """Bound: a message is broadcast only if two names are left for it."""
        return 2 * self.broadcasts + 2 <= self.messages

    def keep(self, p: Process, number: Number, m: Message) -> None:
        """Keep a message that gets an id, and submit it to the machine of view synchrony."""
        name = Message(self.named)
        self.named += 1
        super().keep(p, number, m)
        for v in self.each(View):
            if v == self.installed[p]:
                self.names[v][number] = name
        self.follow_broadcast(p, name)

    def pass_up(self, p: Process, k: Number, m: Message) -> None:
        """Pass a message up, and deliver it in the machine of view synchrony."""
        for v in self.each(View):
            if v == self.installed[p]:
                name = self.names[v][k]
                if name is not None:
                    self.follow_delivery(p, name)
        super().pass_up(p, k, m)

    def install(self, p: Process) -> None:
        """Install the view at p, in TOTAL and in the machine of view synchrony."""
        super().install(p)
        self.follow_installation(p, self.formed, self.members[self.formed])

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, in TOTAL and in the machine of view synchrony."""
        super().crash(p)
        self.follow_crash(p)
