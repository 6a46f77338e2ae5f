"""Bindings of Horus' TOTAL and MBRSHIP and their cores, over queues and in the whole stack, with
corresponding names.

| paper                        | specification                  | implementation, the layer's snapshot       |
|------------------------------|--------------------------------|--------------------------------------------|
| the token, its next number   | token[p]                       | token, 0 without it                        |
| (messages that wait for it)  | waiting[p]                     | waiting                                    |
| (number delivered next)      | next_number[p]                 | next_number                                |
| (numbers that came early)    | numbered[p]                    | numbered                                   |
| (casts that wait for room)   | backlog[p] of `Backlog`        | waiting of NAK                             |
| message                      | Message(k), from any member    | payload k, in digits                       |
| the oracle                   | the reading `next in rank`     | the next in rank                           |

The view stays, so nothing is flushed. The calls to and from MBRSHIP are compared like the others
(`horus_calls`). The core casts a token to all members. Over queues only its receiver's copy is compared; that
the other members ignore theirs is compared in the whole stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Stimulus
from antiphon.conformance.compare.bindings.core_binding import message_of
from antiphon.conformance.compare.bindings.horus import FRAG_LEVEL, HorusBinding
from antiphon.conformance.compare.bindings.horus_calls import (
    NAK_LEVEL,
    body_of,
    fragmented,
    in_view,
    waiting_of,
)
from antiphon.conformance.compare.bindings.horus_total_faults import (
    MBRSHIP_FAULTS,
    TOTAL_FAULTS,
    WINDOW_FAULTS,
)
from antiphon.conformance.compare.bindings.links import Link
from antiphon.impl.protocols.core import Send
from antiphon.impl.protocols.horus import Frame, Snapshot
from antiphon.impl.protocols.horus.layers.total import PASS, TotalSnapshot
from antiphon.impl.protocols.horus.process import timer
from antiphon.spec.lang import Step
from antiphon.spec.protocols.horus import group
from antiphon.spec.protocols.horus.by_member import HorusByMember, TotalByMember
from antiphon.spec.protocols.horus.frag import Piece
from antiphon.spec.protocols.horus.total import Numbered
from antiphon.spec.services import Process

TOKEN_BYTES = 8
"""Size of a token with MBRSHIP's header, while numbers are small."""

HEADER_BYTES = 9
"""Number of bytes that TOTAL and MBRSHIP push on a message."""


class OrderedBinding(HorusBinding):
    """Binding of a stack with TOTAL on top."""

    chosen: Mapping[str, int | bool | str] = {
        "crashes": 0,
        "suspicions": 0,
        "views": 1,
        "oracle": "next in rank",
    }
    """Constants of the comparison: members stay, and so does the view."""

    exempt: Mapping[str, str] = {
        **dict.fromkeys(("view", "left", "leaving"), "about views, and the one that there is stays"),
        **dict.fromkeys(("down", "suspected"), "members stay: nobody is"),
        **dict.fromkeys(("flushed", "held"), "nothing is flushed, since the view stays"),
    }

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that a step concerns. A step without arguments changes the view;
        it concerns no process, and never happens in these bindings.
        """
        return super().stimulus(step) if step.arguments else Stimulus(None)

    def waits(self, me: int, snapshot: Snapshot) -> list[str]:
        """Return the timers that may expire: NAK's, if the stack has it, and for the token's holder the timer
        that passes the token on.
        """
        lower = super().waits(me, snapshot) if self.channel else []
        top = len(snapshot.layers) - 1
        return [*lower, timer(top, PASS, me)] if _total(snapshot).token else lower

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of TOTAL's snapshot in the specification's terms."""
        del me
        total = _total(snapshot)
        numbered = {number: Numbered(message_of(body), Process(q)) for number, q, body in total.numbered}
        numbers = range(1, int(self.program.constants["messages"]) + 1)
        return {
            "waiting": tuple(map(message_of, total.waiting)),
            "token": total.token or None,
            "next_number": total.next_number,
            "numbered": tuple(numbered.get(number) for number in numbers),
            "broadcasts": snapshot.last_id,
        }


class TotalBinding(OrderedBinding):
    """Binding of TOTAL:MBRSHIP over queues, or one of these layers with a fault."""

    specification = TotalByMember
    stack = "TOTAL:MBRSHIP"
    faults: Mapping[str, type[Any]] = {**MBRSHIP_FAULTS, **TOTAL_FAULTS}
    queues = "queue"

    def sizes(self) -> Mapping[str, object]:
        """Return no settings: the stack has no layer below MBRSHIP."""
        return {}

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that a step concerns. Only `receive` takes a packet from a queue;
        a step that passes the token also names two members, and takes none.
        """
        found = super().stimulus(step)
        return found if step.action == "receive" else Stimulus(found.process)

    def packet(self, sender: int, to: int, message: Frame) -> Any:
        """Return the message of TOTAL, in the only view."""
        del sender, to
        return body_of(in_view(message.body))

    def queued(self, me: int, sends: list[Send[Frame]]) -> Iterable[tuple[Link, object, bytes]]:
        """Return the packets for queues: a message goes to each member, a token only to its receiver."""
        for link, body, datagram in super().queued(me, sends):
            if not isinstance(body, group.Token) or link[2] == body.to.index:
                yield link, body, datagram


class StackBinding(OrderedBinding):
    """Binding of TOTAL:MBRSHIP:FRAG:NAK:COM, or one of the upper two layers with a fault. A message has the
    largest number of fragments, a token one.
    """

    exempt: Mapping[str, str] = {
        **HorusBinding.exempt,
        **OrderedBinding.exempt,
        "pieces": "what was handed down: its bytes are compared when they come up",
        "log": "what was cast: MBRSHIP keeps nothing of it, and its calls are compared",
        "got": "what came up: NAK sees to it that nothing comes twice, and the calls are compared",
    }

    specification = HorusByMember
    faults: Mapping[str, type[Any]] = {**TotalBinding.faults, **WINDOW_FAULTS}

    def sizes(self) -> Mapping[str, object]:
        """Return the settings of the layers: with several fragments a token fills one fragment; with one
        fragment, every message fits into it.
        """
        fragment_bytes = TOKEN_BYTES if self.fragments > 1 else 64
        return {**super().sizes(), "fragment_bytes": fragment_bytes}

    @property
    def payload_bytes(self) -> int:
        """Return the size of a message that fills the fragments, with the headers."""
        return self.fragments * TOKEN_BYTES - HEADER_BYTES if self.fragments > 1 else 1

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of the variables of all layers."""
        nak: Any = snapshot.layers[NAK_LEVEL]
        total = _total(snapshot)
        sent = snapshot.last_id - len(total.waiting)
        return {
            **super().project(me, snapshot),
            **HorusBinding.project(self, me, snapshot),
            "backlog": len(nak.waiting),
            "handed": fragmented(nak.cast + len(nak.waiting), sent, self.fragments),
            "gathered": tuple(self._gathered(snapshot, q) for q in range(self.members)),
        }

    def _gathered(self, snapshot: Snapshot, q: int) -> tuple[Piece, ...]:
        """Return the waiting fragments of q: all are of its next message."""
        nak: Any = snapshot.layers[NAK_LEVEL]
        frag: Any = snapshot.layers[FRAG_LEVEL]
        parts = len(frag.gathered[q])
        messages = snapshot.ids[q] + waiting_of(_total(snapshot), q)
        whole = fragmented(nak.expected[q] - 1 - parts, messages, self.fragments)
        return tuple(Piece(whole + 1, part, False) for part in range(1, parts + 1))


def _total(snapshot: Snapshot) -> TotalSnapshot:
    total = snapshot.layers[-1]
    assert isinstance(total, TotalSnapshot)
    return total


_NEVER = ("start_flush", "flush", "install", "crash", "suspect", "complete", "overtake")

TOTAL = TotalBinding.bound(
    small={"processes": 3, "messages": 2}, random={"processes": 3, "messages": 4}, never=_NEVER
)
"""Binding of TOTAL:MBRSHIP over queues in one view; groups run the whole stack."""

STACK = StackBinding.bound(
    small={"processes": 2, "messages": 1, "casts": 4, "buffer": 2, "losses": 1, "patient": True},
    random={
        "processes": 3,
        "messages": 2,
        "casts": 4,
        "buffer": 2,
        "losses": 2,
        "fragments": 1,
        "patient": True,
    },
    never=_NEVER,
)
"""Binding of the whole stack in one view."""
