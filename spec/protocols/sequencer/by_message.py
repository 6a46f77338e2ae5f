"""SEQUENCER where a message comes when it comes: before its view, while the view changes, or too late.

In design.py the environment is kind: a queue keeps a packet until its receiver is in the view for it. Here
the receiver takes the packet, and keeps it itself or ignores it, as a process over a network must.

| design.py with its repairs                          | here                                                 |
|-----------------------------------------------------|------------------------------------------------------|
| all stop as soon as another view forms              | `block`: each process hears of it at another time    |
| a FORWARD waits in its queue while the view changes | `receive_early`: it is taken out, into `early[p]`    |
| DATA of the next view waits in its log              | `hear_early`: likewise                               |
| a FORWARD stays with who coordinates no more        | `receive_late`: it is taken out, and ignored         |
| DATA of an earlier view stays in a crashed one's log | `hear_late`: likewise                               |

A process installs the view once every member that goes on is blocked (`all_are_blocked`): before that one of
them may still order a message of the old view. Then it takes what came early, in the order in which it came.

Source: B. Ban, "Design of SEQUENCER, a total order protocol using a sequencer", 2005, section "Design".
"""

from __future__ import annotations

from typing import Annotated

from antiphon.spec.lang import (
    AtMost,
    Map,
    Seq,
    Set,
    action,
    environment,
    everywhere,
    invariant,
    require,
    witness,
)
from antiphon.spec.protocols.sequencer.bounds import SequencerBounded
from antiphon.spec.protocols.sequencer.design import Data, Forward
from antiphon.spec.protocols.sequencer.properties import SequencerChecked
from antiphon.spec.protocols.sequencer.repairs import Leaving
from antiphon.spec.services import Process

__all__ = ["SequencerByMessage", "SequencerByMessageChecked"]


class SequencerByMessage(SequencerBounded, Leaving):
    """SEQUENCER, whose messages come when they come."""

    blocked: Map[Process, bool] = everywhere(False)
    early: Map[Process, Annotated[Seq[Forward | Data], AtMost("2 * messages + room")]] = everywhere(())

    # The change of the view ---------------------------------------------------------------------------------

    @action(fairness="weak", per="p")
    def block(self, p: Process, members: Set[Process]) -> None:
        """Tell p that a view with these members has formed: p sends and orders nothing until it installs the
        view.
        """
        require(self.may_install(p) and not self.blocked[p] and members == self.members[self.formed])
        self.blocked[p] = True

    def is_blocked(self, p: Process) -> bool:
        """Return True if p sends and orders nothing, since p knows that another view has formed."""
        return super().is_blocked(p) and self.blocked[p]

    def all_are_blocked(self) -> bool:
        """Return True if no live member of the view that has formed still works in the view before."""
        return not any(
            self.may_install(q) and not self.blocked[q] and not self.down[q] for q in self.each(Process)
        )

    @action(fairness="weak")
    def change_view(self, p: Process) -> None:
        """Change the view at p; then take what came early, in its order."""
        require(self.blocked[p] and self.all_are_blocked())
        super().change_view(p)
        self.blocked[p] = False
        waiting = self.early[p]
        self.early[p] = ()
        for packet in waiting:
            if isinstance(packet, Data):
                self.unwrap(p, packet)
            elif self.is_coordinator(p):
                self.multicast_data(p, packet.sender, packet.number, packet.message)

    # What comes early ---------------------------------------------------------------------------------------

    @action(fairness="weak")
    def receive_early(self, p: Process, q: Process) -> None:
        """Receive a FORWARD while the view changes: keep it."""
        require(self.blocked[p] and self.has_packet(q, p))
        packet = self.channel[q][p][0]
        self.take(q, p)
        self.early[p] += (packet,)

    @action(fairness="weak")
    def hear_early(self, p: Process, s: Process) -> None:
        """Receive DATA of a view that p has not installed yet: keep it."""
        require(self.blocked[p] and self.has_multicast(s, p))
        packet = self.log[s][self.heard[s][p]]
        require(self.is_early(p, packet.view))
        self.hear(s, p)
        self.early[p] += (packet,)

    # What comes late ----------------------------------------------------------------------------------------

    @environment
    def receive_late(self, p: Process, q: Process) -> None:
        """Receive a FORWARD that was sent when p was coordinator, which p is no more: ignore it."""
        require(not self.down[p] and not self.blocked[p] and not self.is_coordinator(p))
        require(self.has_packet(q, p))
        self.take(q, p)

    @environment
    def hear_late(self, p: Process, s: Process) -> None:
        """Receive DATA of a view that p has left, from a member that has crashed: ignore it. It comes after
        all have left the view, since `heard` says what the members pass on to each other.
        """
        require(not self.down[p] and self.is_member(p) and self.is_settled() and self.has_multicast(s, p))
        require(self.is_stale(p, self.log[s][self.heard[s][p]].view) and s not in self.current_members(p))
        self.hear(s, p)

    # Properties ---------------------------------------------------------------------------------------------

    @invariant
    def OnlyTheBlockedKeep(self) -> bool:
        """Invariant: a process keeps messages only while its view changes."""
        return all(self.blocked[p] or len(self.early[p]) == 0 for p in self.each(Process))

    @witness
    def ForwardCameEarly(self) -> bool:
        """Witness: a FORWARD has come to the next coordinator before the view."""
        return any(isinstance(packet, Forward) for p in self.each(Process) for packet in self.early[p])

    @witness
    def DataCameEarly(self) -> bool:
        """Witness: a message that was ordered in the next view has come before the view."""
        return any(isinstance(packet, Data) for p in self.each(Process) for packet in self.early[p])


class SequencerByMessageChecked(SequencerByMessage, SequencerChecked):
    """SEQUENCER, whose messages come when they come, checked as SEQUENCER is."""
