"""Binding of Horus' layers COM, NAK and FRAG and their cores, with corresponding names.

| paper                          | specification `Nak`, `Frag`   | implementation, the layer's snapshot   |
|--------------------------------|-------------------------------|----------------------------------------|
| sequence number                | cast[p], place of a unit      | cast, place                            |
| buffered messages              | oldest[p], up to cast[p]      | oldest, buffer                         |
| (needed next, known to be used) | expected[p][q], known[p][q]   | expected, known                        |
| (came too early)               | early[p][q]                   | early                                  |
| protocol status                | acknowledged[p][q]; owed[p]   | acknowledged; owed                     |
| fragments without a last one   | gathered[p][q]                | gathered                               |
| message                        | Message(k), its unit          | payload k, in as many bytes as parts   |
| in flight                      | network, a set of envelopes   | the encoded datagrams                  |

The calls between the layers are compared, too, each as the event that the specification's layer emits
(`horus_calls`). A unit names the message that the specification hands down, and the core hands down its
bytes: which message it is, is compared when it comes up. NAK is specified with statuses that a member can
send by what it knows (`local_status`), and with the repair `await_room`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import msgspec

from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.compare.bindings.driven import Asked, SteppedCore
from antiphon.conformance.compare.bindings.horus_calls import NAK_LEVEL, Calls, header_of, observed
from antiphon.conformance.compare.bindings.horus_faults import COM_FAULTS, FRAG_FAULTS, NAK_FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.horus import STACK, Core, Frame, Settings, Snapshot
from antiphon.impl.protocols.horus.layers import nak as layer
from antiphon.impl.protocols.horus.layers.com import Addressed
from antiphon.impl.protocols.horus.layers.total import PASS
from antiphon.impl.protocols.horus.process import timer
from antiphon.spec.lang import Step
from antiphon.spec.protocols.horus import boundaries as spec
from antiphon.spec.protocols.horus.frag import Piece
from antiphon.spec.protocols.horus.local_status import FragByMember, NakByMember
from antiphon.spec.services import Message, Process

FRAG_LEVEL = NAK_LEVEL + 1

INTERVAL_MS = 16.0


class HorusBinding(CoreBinding[Frame]):
    """Binding of a stack of Horus' layers whose top an application uses, or of such a stack with a fault."""

    protocol = "horus"
    stack = STACK

    exempt: Mapping[str, str] = {
        "lost": "counts the faults of the network, which is not the implementation's",
        "outside": "the endpoints outside the view: members stay, nobody is",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants; the calls between the layers are recorded as events."""
        super().__init__(fault=fault, **constants)
        self._recorder = Calls(int(self.program.constants.get("senders", 1)), self.fragments)

    @property
    def fragments(self) -> int:
        """Number of fragments of a message."""
        return int(self.program.constants.get("fragments", 1))

    @property
    def layers(self) -> list[str]:
        """Return the names of the layers, the lowest first."""
        return self.stack.split(":")[::-1]

    @cached_property
    def intervals_ms(self) -> Mapping[Any, float]:
        """Return the timers with their waiting times: one for each timer of a layer and each member that it
        concerns.
        """
        lower = [(NAK_LEVEL, layer.ASK), (NAK_LEVEL, layer.TELL)] if "NAK" in self.layers else []
        upper = [(len(self.layers) - 1, PASS)] if "TOTAL" in self.layers else []
        members = range(self.members)
        return {timer(level, name, of): INTERVAL_MS for level, name in [*lower, *upper] for of in members}

    @property
    def ending(self) -> frozenset[Any]:
        """Return the timers that stop when they expire: all except those that repeat a request."""
        asking = {timer(NAK_LEVEL, layer.ASK, of) for of in range(self.members)}
        return frozenset(self.intervals_ms.keys() - asking)

    def sizes(self) -> Mapping[str, object]:
        """Return the settings of the layers: fragments are of one byte."""
        return {"buffer": int(self.program.constants["buffer"]), "fragment_bytes": 1}

    def core(self, me: int, members: int, backoff_max: int, tracer: tracing.Tracer) -> SteppedCore[Frame]:
        """Return a stack of these layers; if calls between layers are compared, the stack reports them."""
        times = dict.fromkeys(("rest_ms", "tell_ms", "ask_ms"), INTERVAL_MS)
        made: dict[str, Any] = {**times, **self.sizes()}
        settings = Settings(stack=self.stack, backoff_max=backoff_max, **made)
        kind: type[Core] = self.kind or Core
        if isinstance(tracer, Calls):
            kind = observed(kind, tracer)
        return kind(me, members, settings, tracer=tracer)

    @property
    def payload_bytes(self) -> int:
        """Return the size of a message in bytes."""
        return self.fragments

    def packet(self, sender: int, to: int, message: Frame) -> spec.Envelope:
        """Return the specification's envelope for a frame on its way."""
        del sender
        addressed = msgspec.msgpack.decode(message.body, type=Addressed)
        source = Process(addressed.source)
        return spec.Envelope(Process(to), source, header_of(source, addressed.body))

    def asked(self, step: Step, datagram: bytes | None) -> Asked:
        """Return what a step asks of the stack: the action's name, with a datagram or a payload of the
        largest size. The timer NAK names the member that is asked.
        """
        asked = super().asked(step, datagram)
        match step:
            case Step("broadcast", (_, Message(index=index))):
                return Asked(asked.action, asked.datagram, b"%0*d" % (self.payload_bytes, index))
            case Step("ask", (_, Process(index=of))):
                return Asked(f"ask {of}", asked.datagram)
        return asked

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take one step of the stack; a timer's name has its layer and the member that it concerns. Return
        whether the step was possible, and its result.
        """
        if action == "broadcast":
            return super().single(core, action, payload, now)
        name, _, of = action.partition(" ")
        level = len(core.stack) - 1 if name == PASS else NAK_LEVEL
        done = core.expire(timer(level, name, int(of or core.me)), now)
        return done, done

    def broadcasts(self, me: int, snapshot: Snapshot) -> int:
        """Return `last_id`, the number of broadcasts."""
        del me
        return snapshot.last_id

    def traced_step(self, me: int, before: Snapshot, after: Snapshot, action: str) -> tracing.Step:
        """Return the event with which the stack must trace a step: it has the step's name alone."""
        return super().traced_step(me, before, after, action.partition(" ")[0])

    def busy(self, me: int, snapshot: Snapshot) -> bool:
        """Return True if NAK's window is full; no exploration fills the queue for the token."""
        del me
        if "NAK" not in self.layers:
            return False
        nak: Any = snapshot.layers[NAK_LEVEL]
        full: bool = nak.cast - nak.oldest + 1 >= int(self.program.constants["buffer"])
        return full

    def waits(self, me: int, snapshot: Snapshot) -> list[str]:
        """Return the timers that the specification would let expire in this snapshot, each with the member
        that it concerns.
        """
        waits = []
        for step in self.enabled(me, self.project(me, snapshot)):
            match step:
                case Step("ask", (_, Process(index=of))):
                    waits.append(timer(NAK_LEVEL, layer.ASK, of))
                case Step("tell"):
                    waits.append(timer(NAK_LEVEL, layer.TELL, me))
        return waits

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the values of the snapshot in the specification's terms."""
        del me
        nak = snapshot.layers[NAK_LEVEL]
        assert isinstance(nak, layer.NakSnapshot)
        return {
            "cast": nak.cast,
            "oldest": nak.oldest,
            "expected": nak.expected,
            "known": nak.known,
            "early": tuple(
                frozenset(spec.Unit(Process(q), place) for place, _ in early)
                for q, early in enumerate(nak.early)
            ),
            "acknowledged": nak.acknowledged,
            "owed": frozenset(map(Process, nak.owed)),
        }


class NakBinding(HorusBinding):
    """Binding of NAK:COM."""

    specification = NakByMember
    repairs = ("await_room",)
    stack = "NAK:COM"
    faults: Mapping[str, type[Any]] = {**COM_FAULTS, **NAK_FAULTS}


class FragBinding(HorusBinding):
    """Binding of FRAG:NAK:COM, with fragments of one byte."""

    specification = FragByMember
    repairs = ("await_room",)
    stack = "FRAG:NAK:COM"
    faults = FRAG_FAULTS

    exempt: Mapping[str, str] = {
        **HorusBinding.exempt,
        "pieces": "what was handed down: its bytes are compared when they come up",
        "harmed": "nothing is lost, since the window sees to that",
    }

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the snapshot's values of the variables. Waiting fragments belong to the message after the
        last one that was passed up.
        """
        gathered: Any = snapshot.layers[FRAG_LEVEL]
        pieces = tuple(
            tuple(Piece(snapshot.ids[q] + 1, part, False) for part in range(1, len(parts) + 1))
            for q, parts in enumerate(gathered.gathered)
        )
        return {**super().project(me, snapshot), "handed": snapshot.last_id, "gathered": pieces}


NAK = NakBinding.bound(
    small={"processes": 2, "messages": 2, "casts": 2, "buffer": 2, "losses": 1},
    random={"processes": 3, "messages": 4, "casts": 2, "buffer": 2, "senders": 2, "losses": 2},
)
"""Binding of NAK:COM in one view; groups run the whole stack, since the layers below TOTAL order nothing."""

FRAG = FragBinding.bound(
    small={"processes": 2, "messages": 1, "casts": 2, "buffer": 2, "losses": 1},
    random={"processes": 3, "messages": 3, "casts": 6, "buffer": 4, "senders": 2, "losses": 2},
)
"""Binding of FRAG:NAK:COM in one view; groups run the whole stack."""
