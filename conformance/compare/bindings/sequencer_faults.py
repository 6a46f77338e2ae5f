"""Planted faults in an implementation of SEQUENCER, each a core with one mistake.

`antiphon lockstep sequencer --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.sequencer import Core, Message
from antiphon.impl.protocols.sequencer.messages import Data, Forward


class ForgetsToCount(Core):
    """Planted fault in SEQUENCER (On send), lost update: a member's second message has the seqno of its
    first. Correct: the next one.
    """

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send a message under the seqno of the first one."""
        super()._send(identifier._replace(id=1), payload)


class KeepsForwarded(Core):
    """Planted fault in SEQUENCER (Deliver), forgotten update: a delivered own message stays in the
    forward-table. Correct: it is deleted.
    """

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message, and leave it in the forward-table."""
        before = dict(self._forward_table)
        super()._deliver(identifier, payload)
        self._forward_table = before


class NamesTheCoordinator(Core):
    """Planted fault in SEQUENCER (Multicast), forgotten tag: a multicast names the coordinator as its sender.
    Correct: the original sender.
    """

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast a message with this process as its sender."""
        super()._multicast(identifier._replace(source=self.me), payload)


class LeavesOneOut(Core):
    """Planted fault in SEQUENCER (Multicast), off by one: the last member of the view gets no copy. Correct:
    every member gets one.
    """

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast, and drop the copy for the last member of the view."""
        super()._multicast(identifier, payload)
        last = max(process for process in self.group if process != self.me)
        self._outputs = [send for send in self._outputs if send.to != last]


class ForgetsItself(Core):
    """Planted fault in SEQUENCER (Multicast), forgotten copy: the coordinator does not deliver its own
    multicast. Correct: it does.
    """

    _multicasts = False

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast a message, and mark it so that this process does not deliver it."""
        self._multicasts = True
        super()._multicast(identifier, payload)
        self._multicasts = False

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message unless it is one of this process's own multicasts."""
        if not self._multicasts:
            super()._deliver(identifier, payload)


class ResendsNothing(Core):
    """Planted fault in SEQUENCER (as printed, On view change): messages are sent again only if the
    coordinator left. Correct: after every change of coordinator.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and send nothing again."""
        pending, self._forward_table = self._forward_table, {}
        super().change_view(view, group, now)
        self._forward_table = pending


class ResendsNewestFirst(Core):
    """Planted fault in SEQUENCER (On view change), wrong order: messages are sent again newest first.
    Correct: "in increasing order of seqnos".
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and send the messages again in reverse order."""
        super().change_view(view, group, now)
        forwards = [send for send in self._outputs if isinstance(send.message, Forward)]
        if len(forwards) == len(self._outputs):
            self._outputs.reverse()


class ForwardsToAll(Core):
    """Planted fault in SEQUENCER (On send), wrong address: a message goes to every member. Correct: to the
    coordinator.
    """

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send a copy to everybody else."""
        super()._send(identifier, payload)
        copies: list[Send[Message]] = []
        for send in self._outputs:
            if isinstance(send.message, Forward):
                copies += [Send(to, send.message) for to in self.group if to not in (self.me, send.to)]
        self._outputs += copies


class StaysWithTheFirst(Core):
    """Planted fault in SEQUENCER (On view change), stale address: messages go to the first coordinator for
    ever. Correct: to the current one.
    """

    @property
    def coordinator(self) -> int:
        """Return process 0."""
        return 0


class StaysBlocked(Core):
    """Planted fault in SEQUENCER (flush), forgotten reset: a member sends nothing after a change of the view.
    Correct: it goes on.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and stay as blocked as before."""
        blocked = self._blocked
        super().change_view(view, group, now)
        self._blocked = blocked


class SendsToTheLast(Core):
    """Planted fault in SEQUENCER (On send), wrong end: the last member of the view coordinates. Correct: the
    first.
    """

    @property
    def coordinator(self) -> int:
        """Return the last member of the view."""
        return self.group[-1]


class MulticastsTwice(Core):
    """Planted fault in SEQUENCER (Multicast), work done again: each member gets two copies. Correct: one."""

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast a message, and once more."""
        super()._multicast(identifier, payload)
        super()._multicast(identifier, payload)


class CountsForAll(Core):
    """Planted fault in SEQUENCER (Deliver), wrong index: one seqno stands for all senders. Correct: each has
    its own in the received-table.
    """

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message, and record its seqno for every sender."""
        super()._deliver(identifier, payload)
        self._received_table = [max(self._received_table)] * self.members


class RemembersNothing(Core):
    """Planted fault in SEQUENCER (On send), forgotten update: a message is not put into the forward-table.
    Correct: it stays there until it comes back.
    """

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send a message, and forget it."""
        super()._send(identifier, payload)
        self._forward_table = {}


class ResendsOne(Core):
    """Planted fault in SEQUENCER (On view change), `if` for `for`: only the first message is sent again.
    Correct: all of the forward-table are.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and send one message again."""
        pending = sorted(self._forward_table.items())
        self._forward_table = dict(pending[:1])
        super().change_view(view, group, now)
        self._forward_table |= dict(pending[1:])


class ForgetsWhatItResent(Core):
    """Planted fault in SEQUENCER (On view change), early deletion: what is sent again leaves the
    forward-table. Correct: it stays until it comes back.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and forget what was sent again."""
        super().change_view(view, group, now)
        self._forward_table = {}


class DropsWhatComesEarly(Core):
    """Planted fault in SEQUENCER (reception, `keep_early`), missing case: a message of the next view is
    dropped. Correct: it is kept until the view is installed.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message, unless it is of a later view."""
        if message.view <= self.view:
            super().receive(sender, message, now)


class OrdersWhileBlocked(Core):
    """Planted fault in SEQUENCER (reception, `flush`), missing condition: a coordinator orders a FORWARD that
    comes while the view changes. Correct: it keeps the FORWARD.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a FORWARD of this view as if the view did not change."""
        blocked = self._blocked
        self._blocked = blocked and not (isinstance(message, Forward) and message.view == self.view)
        super().receive(sender, message, now)
        self._blocked = blocked


class NamesTheFirstView(Core):
    """Planted fault in SEQUENCER (On send), stale value: a FORWARD names the first view for ever. Correct:
    the view of its sender.
    """

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send a message under the first view."""
        super()._send(identifier, payload)
        self._outputs = [
            Send(to, Forward(1, message.identifier, message.payload))
            if isinstance(message, Forward)
            else Send(to, message)
            for to, message in self._outputs
        ]


class OrdersForEver(Core):
    """Planted fault in SEQUENCER (reception), missing condition: who was coordinator orders a FORWARD of the
    earlier view. Correct: it is ignored, and its sender sends it to the next coordinator.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message; multicast a FORWARD of any view."""
        if isinstance(message, Forward) and message.view < self.view and self.group[0] != self.me:
            self._multicast(message.identifier, message.payload)
        else:
            super().receive(sender, message, now)


class DeliversOfAnyView(Core):
    """Planted fault in SEQUENCER (reception), missing condition: DATA of an earlier view is delivered.
    Correct: it is ignored, since the others have left that view without it.
    """

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message; deliver DATA of any view that was installed."""
        if isinstance(message, Data) and message.view < self.view:
            self._deliver(message.identifier, message.payload)
        else:
            super().receive(sender, message, now)


class BlocksNothing(Core):
    """Planted fault in SEQUENCER (flush), missing step: a member goes on sending while the view changes.
    Correct: it sends nothing until the next view.
    """

    def block(self, now: float) -> None:
        """Do nothing."""


class TakesEarlyNewestFirst(Core):
    """Planted fault in SEQUENCER (On view change), wrong order: what came early is taken newest first.
    Correct: in the order in which it came.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and take the early messages in reverse order."""
        self._early.reverse()
        super().change_view(view, group, now)


class KeepsEarly(Core):
    """Planted fault in SEQUENCER (On view change), forgotten reset: what came early stays there after it was
    taken. Correct: it is taken once.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and keep the early messages."""
        early = list(self._early)
        super().change_view(view, group, now)
        self._early = early


class CountsWhoLeft(Core):
    """Planted fault in SEQUENCER (On view change), forgotten update: entries of members that left stay in the
    received-table. Correct: they are removed.
    """

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Change the view, and restore the entries."""
        before = list(self._received_table)
        super().change_view(view, group, now)
        for process in set(range(self.members)).difference(group):
            self._received_table[process] = before[process]


class OrdersForWhoLeft(Core):
    """Planted fault in SEQUENCER (Deliver, `only_members`), missing condition: a message of a member that
    left is delivered. Correct: it is discarded, since its entry in the received-table is gone.
    """

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Deliver a message of whomever."""
        group, self.group = self.group, tuple(range(self.members))
        super()._deliver(identifier, payload)
        self.group = group


class MulticastsToWhoLeft(Core):
    """Planted fault in SEQUENCER (Multicast), stale value: members that left still get copies. Correct: the
    members of the view.
    """

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast to all members of the first view."""
        group, self.group = self.group, tuple(range(self.members))
        super()._multicast(identifier, payload)
        self.group = group


FAULTS: dict[str, type[Core]] = {
    "blocks-nothing": BlocksNothing,
    "counts-for-all": CountsForAll,
    "counts-who-left": CountsWhoLeft,
    "delivers-of-any-view": DeliversOfAnyView,
    "drops-what-comes-early": DropsWhatComesEarly,
    "forgets-itself": ForgetsItself,
    "forgets-to-count": ForgetsToCount,
    "forgets-what-it-resent": ForgetsWhatItResent,
    "forwards-to-all": ForwardsToAll,
    "keeps-early": KeepsEarly,
    "keeps-forwarded": KeepsForwarded,
    "leaves-one-out": LeavesOneOut,
    "multicasts-to-who-left": MulticastsToWhoLeft,
    "multicasts-twice": MulticastsTwice,
    "names-the-coordinator": NamesTheCoordinator,
    "names-the-first-view": NamesTheFirstView,
    "orders-for-ever": OrdersForEver,
    "orders-for-who-left": OrdersForWhoLeft,
    "orders-while-blocked": OrdersWhileBlocked,
    "remembers-nothing": RemembersNothing,
    "resends-newest-first": ResendsNewestFirst,
    "resends-nothing": ResendsNothing,
    "resends-one": ResendsOne,
    "sends-to-the-last": SendsToTheLast,
    "stays-blocked": StaysBlocked,
    "stays-with-the-first": StaysWithTheFirst,
    "takes-early-newest-first": TakesEarlyNewestFirst,
}
"""Faulty cores by name."""
