"""TOTAL over the machine of view synchrony: below it, for multicasts to the group, is only the machine, with
FIFO order of each sender's multicasts.

`over_flush` shows that the repair `flush` does what the machine may do; this is the other direction
(`services.view_layer`). `Membership` determines the members of views. To the group go TOTAL_BCAST and
TOTAL_NEW_VIEW; TOTAL_REQUEST goes to the sequencer alone, past the machine. The machine loses nothing, so
nobody asks for a message again.

Source: Cornell, "JavaGroups TOTAL", section Future Improvements: "A flush protocol would delay the view
change until all ... are synchronized".
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Map,
    action,
    constraint,
    environment,
    everywhere,
    initial,
    record,
    require,
    witness,
)
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.protocols.total.headers import First, Number
from antiphon.spec.protocols.total.properties import TotalChecked
from antiphon.spec.services import Message, Process
from antiphon.spec.services.view_layer import LAYER_FAULTS, ViewSynchronousLayer


@record
class Header:
    """Header of a multicast: TOTAL_BCAST of `message` with its id; without a message, TOTAL_NEW_VIEW with the
    first id.
    """

    number: Number
    message: Message | None


class TotalOverViews(TotalBounded, ViewSynchronousLayer):
    """TOTAL, whose multicasts are messages of the machine of view synchrony. `header_of[m]` is the header
    that m stands for.
    """

    header_of: Map[Message, Header | None] = everywhere(None)

    @initial
    def found(self) -> None:
        """Found the group, in TOTAL and in the machine of view synchrony."""
        super().found()
        self.machine_found()

    @constraint("broadcast")
    def has_names(self) -> bool:
        """Bound: a message is broadcast only if two names are left for it, and one for each view after the
        first.
        """
        return 2 * self.broadcasts + 1 + self.views <= self.messages

    @constraint("receive_bcast", "receive_new_view", "ask", "receive_resend", "admit", "suspect")
    def is_left_out(self) -> bool:
        """Bound: these steps never happen, since the machine of view synchrony delivers, nothing is lost, and
        views change for crashes and by `reform` only.
        """
        return False

    def may_act(self, p: Process) -> bool:
        """Return True if p may act: not while p's view is ending."""
        return super().may_act(p) and self.machine_may_send(p)

    def multicast(self, p: Process, header: Header) -> None:
        """Multicast a header as a message of the machine of view synchrony."""
        self.header_of[Message(self.named)] = header
        self.name_multicast(p)

    def send_bcast(self, p: Process, number: Number, m: Message) -> None:
        """Send TOTAL_BCAST as a message of the machine of view synchrony."""
        self.multicast(p, Header(number, m))

    def send_new_view(self, p: Process, first: First) -> None:
        """Send TOTAL_NEW_VIEW as a message of the machine of view synchrony."""
        self.multicast(p, Header(first, None))

    @action(fairness="weak")
    def hear_next(self, p: Process, m: Message) -> None:
        """Receive m, which the machine of view synchrony delivers to p."""
        require(self.may_hear_next(p, m))
        self.machine_note_delivery(p, m)
        header = self.header_of[m]
        if header is not None:
            carried = header.message
            if carried is not None:
                self.take_in(p, header.number, carried)
            else:
                self.reset_state(p, header.number)

    @action(fairness="weak")
    def change_view(self, p: Process, first: First) -> None:
        """Change the view at p when the machine of view synchrony allows it."""
        require(self.may_install(p))
        require(self.machine_may_install(p, self.formed, self.members[self.formed]))
        super().change_view(p, first)

    def install(self, p: Process) -> None:
        """Install the view in the machine of view synchrony before p sends TOTAL_NEW_VIEW."""
        super().install(p)
        self.machine_note_installation(p, self.formed, self.members[self.formed])

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, in TOTAL and in the machine of view synchrony."""
        super().crash(p)
        self.machine_dead[p] = True


class TotalOverViewsChecked(TotalOverViews, TotalChecked, mutations=LAYER_FAULTS):
    """TOTAL over the machine of view synchrony, with the properties of TOTAL."""

    @witness
    def HeardInTheNextView(self) -> bool:
        """Witness: two members have gone on, and have passed up a message of the next view."""
        return any(
            p != q and self.view_count[p][2] > 0 and self.view_count[q][2] > 0
            for p in self.each(Process)
            for q in self.each(Process)
        )
