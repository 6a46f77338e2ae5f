"""Planted faults in an implementation of SEQUENCER, each a core with one mistake.

`antiphon lockstep sequencer --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.sequencer import Core, Message
from antiphon.impl.protocols.sequencer.messages import Forward


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


FAULTS: dict[str, type[Core]] = {
    "counts-for-all": CountsForAll,
    "forgets-itself": ForgetsItself,
    "forgets-to-count": ForgetsToCount,
    "forgets-what-it-resent": ForgetsWhatItResent,
    "forwards-to-all": ForwardsToAll,
    "keeps-forwarded": KeepsForwarded,
    "leaves-one-out": LeavesOneOut,
    "multicasts-twice": MulticastsTwice,
    "names-the-coordinator": NamesTheCoordinator,
    "remembers-nothing": RemembersNothing,
    "resends-newest-first": ResendsNewestFirst,
    "resends-nothing": ResendsNothing,
    "resends-one": ResendsOne,
    "sends-to-the-last": SendsToTheLast,
    "stays-blocked": StaysBlocked,
    "stays-with-the-first": StaysWithTheFirst,
}
"""Faulty cores by name."""
