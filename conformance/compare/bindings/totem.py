"""Binding of Totem's paragraph and its implementation, with corresponding names.

| paper                                    | specification `TotemRing` | implementation `Core`, its snapshot |
|------------------------------------------|---------------------------|-------------------------------------|
| the token, `seq`                         | token[p]                  | token                               |
| `its own message delivery information`   | told of a token           | told of a token; status             |
| (messages that wait for the token)       | waiting[p]                | waiting                             |
| (messages of this visit)                 | visit[p]                  | visit                               |
| (own numbers that others may lack)       | own[p]                    | own                                 |
| (messages that wait for an earlier one)  | early[p]                  | early                               |
| `the stability of messages`              | stable[p]                 | stable                              |
| update                                   | Message(k)                | payload b"k"                        |
| in flight                                | network, a set of packets | the encoded datagrams               |

The core has two more variables, with which it refuses impossible messages: the delivery information that it
sent last, and each member's last delivered identifier. Both follow from sent and delivered messages, which
are compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.totem_faults import FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.totem import Message, Snapshot, Timer
from antiphon.impl.protocols.totem import messages as wire_messages
from antiphon.spec.lang import Map
from antiphon.spec.protocols.totem import ring as spec
from antiphon.spec.protocols.totem.ring_properties import TotemRingBounded
from antiphon.spec.services import Process


class TotemBinding(CoreBinding[Message]):
    """Binding of the ring to the core of `impl.protocols.totem`, or to a faulty core by its name."""

    protocol = "totem"
    specification = TotemRingBounded
    faults = FAULTS
    internal = ("multicast", "pass_token")
    intervals_ms: Mapping[Timer, float] = {Timer.PASS_IDLE: 16.0}
    ending = frozenset({Timer.PASS_IDLE})

    def sizes(self) -> Mapping[str, object]:
        """Return the specification's settings, with room for more waiting messages than any exploration
        broadcasts.
        """
        limits = {name: int(self.program.constants[name]) for name in ("visit_max", "unstable_max")}
        return {**limits, "pending_max": 64}

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """Return the specification's packet that a datagram stands for."""
        del sender
        if isinstance(message, wire_messages.Token):
            return spec.Token(Process(to), message.seq, _told(message))
        return spec.Update(Process(to), message.number, message_of(message.payload))

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        del me
        token = snapshot.token
        early = {update.number: message_of(update.payload) for update in snapshot.early}
        numbers = range(1, int(self.program.constants["messages"]) + 1)
        return {
            "token": None if token is None else spec.Held(token.seq, _told(token)),
            "visit": snapshot.visit,
            "waiting": tuple(message_of(payload) for _, payload in snapshot.waiting),
            "own": frozenset(snapshot.own),
            "early": tuple(early.get(number) for number in numbers),
            "status": snapshot.status,
            "stable": snapshot.stable,
            "broadcasts": snapshot.last_id,
        }

    def delivered(self, snapshot: Snapshot) -> int:
        """Return `status`, the number of the last delivered message."""
        return snapshot.status

    def traced_step(self, me: int, before: Snapshot, after: Snapshot, action: str) -> tracing.Step:
        """Return the event with which the core must trace a step; that of a multicast has the message and its
        number.
        """
        if action != "multicast" or before.token is None:
            return super().traced_step(me, before, after, action)
        return tracing.Step(me, action, Identifier(me, before.waiting[0][0]), before.token.seq + 1)


def _told(token: wire_messages.Token) -> Map[Process, int]:
    return Map({Process(process): number for process, number in enumerate(token.told)})


TOTEM = TotemBinding.bound(
    small={"processes": 2, "messages": 3, "visit_max": 2, "unstable_max": 2},
    random={"processes": 3, "messages": 4, "visit_max": 2, "unstable_max": 2},
)
"""Binding of Totem's ring."""
