"""Binding of TOTAL's document and its implementation, with corresponding names.

| document                                 | specification `Total`     | implementation `Core`, its snapshot |
|------------------------------------------|---------------------------|-------------------------------------|
| next expected sequence id                | next_expected[p]          | next_expected                       |
| queue of messages ordered by sequence id | queue[p]                  | queue                               |
| next sequence id to assign               | next_to_assign[p]         | next_to_assign                      |
| what can be sent again                   | sent[p]                   | sent                                |
| (own messages not passed up)             | pending[p]                | pending                             |
| (who acknowledged what)                  | acknowledged[p]           | acknowledged                        |
| message                                  | Message(k)                | payload b"k"                        |
| in flight                                | network, a set of packets | the encoded datagrams               |

The specification has the repairs and the readings that the core has, and one view.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.total_faults import FAULTS
from antiphon.impl.protocols.total import Message, Snapshot, Timer
from antiphon.impl.protocols.total import messages as wire_messages
from antiphon.impl.protocols.total.process import PENDING_MAX
from antiphon.spec.protocols.total import headers as spec
from antiphon.spec.protocols.total.bounds import TotalBounded
from antiphon.spec.services import Process

VIEW = 1


class TotalBinding(CoreBinding[Message]):
    """Binding of the repaired document to the core of `impl.protocols.total`, or to a faulty core by its
    name.
    """

    protocol = "total"
    specification = TotalBounded
    repairs = ("identify_requests", "repeat_request", "recover_suffix")
    """Repairs that matter while the view stays."""
    chosen: Mapping[str, int | bool | str] = {"suffix": "acknowledged", "keeping": "until acknowledged"}
    """Chosen remedies of the core: how a lost suffix is sent again, and how long the sequencer keeps
    messages.
    """
    fixed: Mapping[str, int | bool | str] = {"views": 1, "crashes": 0, "joiners": 0, "expected": 0}
    faults = FAULTS
    intervals_ms: Mapping[Timer, float] = {
        Timer.REQUEST_AGAIN: 48.0,
        Timer.ASK: 16.0,
        Timer.SEND_SUFFIX: 48.0,
    }

    exempt: Mapping[str, str] = {
        "known": "the core keeps identifiers of what has a number; that none gets a second is compared",
        "lost": "counts the faults of the network, which is not the implementation's",
        "formed": "the view that a membership has formed: there is one",
        "members": "the lists of the views, of which there is one",
        "installed": "which view a member has: there is one",
        "down": "who has crashed: nobody, in these bounds",
    }

    def sizes(self) -> Mapping[str, object]:
        """Return settings with room for more waiting messages than any exploration broadcasts."""
        return {"pending_max": PENDING_MAX}

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """Return the specification's packet that a datagram stands for."""
        receiver = Process(to)
        match message:
            case wire_messages.Request(payload=payload):
                return spec.Request(receiver, VIEW, message_of(payload))
            case wire_messages.Bcast(number=number, payload=payload):
                return spec.Bcast(receiver, VIEW, number, message_of(payload))
            case wire_messages.Resend(number=number):
                return spec.Resend(receiver, VIEW, Process(sender), number)
            case wire_messages.CumAck(number=number):
                return spec.CumAck(receiver, VIEW, Process(sender), number)

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        del me
        return {
            "next_expected": snapshot.next_expected,
            "queue": self._numbered(snapshot.queue),
            "next_to_assign": snapshot.next_to_assign,
            "sent": self._numbered(snapshot.sent),
            "pending": frozenset(message_of(payload) for _, payload in snapshot.pending),
            "acknowledged": snapshot.acknowledged,
            "broadcasts": snapshot.last_id,
        }

    def delivered(self, snapshot: Snapshot) -> int:
        """Return the number of the last delivered message, one below the next expected number."""
        return snapshot.next_expected - 1

    def _numbered(self, messages: tuple[wire_messages.Bcast, ...]) -> tuple[object, ...]:
        constants = self.program.constants
        last = int(constants["first_ids"]) - 1 + int(constants["messages"]) + int(constants["spare"])
        by_number = {message.number: message_of(message.payload) for message in messages}
        return tuple(by_number.get(number) for number in range(1, last + 1))


TOTAL = TotalBinding.bound(
    small={"processes": 2, "messages": 2, "losses": 1},
    random={"processes": 3, "messages": 3, "losses": 2},
    never={"crash", "exclude", "admit", "reform", "suspect", "change_view", "receive_new_view"}
    | {"announce_last", "receive_last"},
)
"""Binding of TOTAL without changes of the view."""
