"""Plausible mistakes in an implementation of SEQUENCER, each a core with one thing wrong.

`antiphon lockstep sequencer --fault NAME` shows the shortest trace to where it differs.
"""

from __future__ import annotations

from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.sequencer import Core, Message
from antiphon.impl.protocols.sequencer.messages import Forward


class ForgetsToCount(Core):
    """Lost update (On send): the second message of a member has the seqno of the first."""

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send under the first number."""
        super()._send(identifier._replace(id=1), payload)


class KeepsForwarded(Core):
    """Forgotten update (Deliver): an own message stays in the forward-table."""

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Put it back."""
        before = dict(self._forward_table)
        super()._deliver(identifier, payload)
        self._forward_table = before


class NamesTheCoordinator(Core):
    """Forgotten tag (Multicast): a multicast names the coordinator as its sender."""

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Take the own address."""
        super()._multicast(identifier._replace(source=self.me), payload)


class LeavesOneOut(Core):
    """Off by one (Multicast): the last member of the view is not sent anything."""

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Multicast, and drop the copy for the last member of the view."""
        super()._multicast(identifier, payload)
        last = max(process for process in self.group if process != self.me)
        self._outputs = [send for send in self._outputs if send.to != last]


class ForgetsItself(Core):
    """Forgotten copy (Multicast): the coordinator does not deliver what it multicasts."""

    _multicasts = False

    def _multicast(self, identifier: Identifier, payload: bytes) -> None:
        """Send it to the others only."""
        self._multicasts = True
        super()._multicast(identifier, payload)
        self._multicasts = False

    def _deliver(self, identifier: Identifier, payload: bytes) -> None:
        """Only what comes from another."""
        if not self._multicasts:
            super()._deliver(identifier, payload)


class ResendsNothing(Core):
    """As printed (On view change): only if the coordinator left is anything sent to the new one."""

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Planted fault: after a change of the view send nothing again, as if nobody had left."""
        pending, self._forward_table = self._forward_table, {}
        super().change_view(view, group, now)
        self._forward_table = pending


class ResendsNewestFirst(Core):
    """Overlooked (On view change): not "in increasing order of seqnos"."""

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Turn what is sent around."""
        super().change_view(view, group, now)
        forwards = [send for send in self._outputs if isinstance(send.message, Forward)]
        if len(forwards) == len(self._outputs):
            self._outputs.reverse()


class ForwardsToAll(Core):
    """Wrong address (On send): a message goes to every member for the coordinator among them to order."""

    def _send(self, identifier: Identifier, payload: bytes) -> None:
        """Send a copy to everybody else."""
        super()._send(identifier, payload)
        copies: list[Send[Message]] = []
        for send in self._outputs:
            if isinstance(send.message, Forward):
                copies += [Send(to, send.message) for to in self.group if to not in (self.me, send.to)]
        self._outputs += copies


class StaysWithTheFirst(Core):
    """Stale address (On view change): the first coordinator is asked for ever."""

    @property
    def coordinator(self) -> int:
        """Process 0."""
        return 0


FAULTS: dict[str, type[Core]] = {
    "forgets-itself": ForgetsItself,
    "forgets-to-count": ForgetsToCount,
    "forwards-to-all": ForwardsToAll,
    "keeps-forwarded": KeepsForwarded,
    "leaves-one-out": LeavesOneOut,
    "names-the-coordinator": NamesTheCoordinator,
    "resends-newest-first": ResendsNewestFirst,
    "resends-nothing": ResendsNothing,
    "stays-with-the-first": StaysWithTheFirst,
}
"""The cores that differ in a step, by name."""
