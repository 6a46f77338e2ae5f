"""TOTAL within bounds: ids are limited; where asked for, senders take turns and timers wait for
the network.
"""

from __future__ import annotations

from antiphon.spec.lang import action, constraint, restriction
from antiphon.spec.protocols.total.design import Total
from antiphon.spec.protocols.total.headers import First, Request
from antiphon.spec.protocols.total.readings import READINGS
from antiphon.spec.protocols.total.repairs import REPAIRS
from antiphon.spec.services import Message, Process


@restriction("message k comes from the process after the k-th")
class Assigned(Total):
    """Restriction: senders take turns: message k comes from process k + 1, cyclically."""

    @constraint("broadcast")
    def takes_turn(self, p: Process, m: Message) -> bool:
        """Bound: it is p's turn to broadcast message m."""
        return p.index == (m.index + 1) % self.processes


@restriction("a timer expires only when nothing is in flight")
class Patient(Total):
    """Restriction: timers expire only when no message is in flight."""

    @constraint("request_again", "announce_view_again", "ask", "announce_last", "send_suffix")
    def is_quiet(self) -> bool:
        """Bound: no message is in flight."""
        return len(self.network) == 0


class TotalBounded(Total, repairs=REPAIRS, readings=READINGS, restrictions=(Assigned, Patient)):
    """TOTAL with its variants to choose from; at most `messages + spare` ids are assigned in a view."""

    @constraint("broadcast", "request_again")
    def has_room(self, p: Process, m: Message) -> bool:
        """Return True if p may receive m within the bounds: where p is the sequencer and would give m an id,
        one is left.
        """
        is_assigned = self.is_sequencer(p) and self.gets_id(p, m)
        return not is_assigned or self.next_to_assign[p] < self.first_ids + self.messages + self.spare

    @constraint("receive_request")
    def has_room_for(self, packet: Request) -> bool:
        """Return True if the bound allows one more id, for the message of a request."""
        return self.has_room(packet.to, packet.message)

    @action(fairness="weak")
    def change_view(self, p: Process, first: First) -> None:
        """Change the view at p (VIEW_CHANGE); packets that nobody will receive any more vanish."""
        super().change_view(p, first)
        self.network -= {
            packet
            for packet in self.network
            if (packet.to == p and self.is_stale(p, packet.view)) or self.down[packet.to]
        }
