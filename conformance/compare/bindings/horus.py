"""Horus' layers COM, NAK and FRAG and their cores speak of the same things by these names.

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
from functools import partial
from typing import Any

import msgspec

from antiphon.conformance.compare.bindings.binding import Bound, described, with_faults
from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.compare.bindings.horus_calls import NAK_LEVEL, Calls, header_of
from antiphon.conformance.compare.bindings.horus_driven import driven
from antiphon.conformance.compare.bindings.horus_faults import COM_FAULTS, FRAG_FAULTS, NAK_FAULTS, Fault
from antiphon.conformance.compare.bindings.shell import Asked
from antiphon.impl.protocols.horus import STACK, Frame, Snapshot, horus
from antiphon.impl.protocols.horus import nak as layer
from antiphon.impl.protocols.horus.com import Addressed
from antiphon.impl.protocols.horus.process import Settings, timer
from antiphon.model.engines import compiled_machine
from antiphon.spec.lang import Program, Step, program
from antiphon.spec.protocols.horus import boundaries as spec
from antiphon.spec.protocols.horus.frag import Piece
from antiphon.spec.protocols.horus.local_status import FragByMember, NakByMember
from antiphon.spec.services import Message, Process

FRAG_LEVEL = NAK_LEVEL + 1


class HorusBinding(CoreBinding[Frame]):
    """A stack of layers whose top an application uses, or one with a fault."""

    internal: frozenset[str] = frozenset()

    exempt: Mapping[str, str] = {
        "lost": "counts the faults of the network, which is not the implementation's",
        "outside": "the endpoints outside the view: members stay, nobody is",
    }

    def __init__(self, bounded: Program, stack: tuple[str, ...], fault: Fault | None) -> None:
        self.fragments = int(bounded.constants.get("fragments", 1))
        members = int(bounded.constants["processes"])
        super().__init__(bounded, driven(stack, members, fault, self.settings(bounded)))
        self._recorder = Calls(int(bounded.constants.get("senders", 1)), self.fragments)
        self._machine = compiled_machine(bounded)

    def settings(self, bounded: Program) -> Settings:
        """What the layers are told: fragments are of one byte."""
        return Settings(int(bounded.constants["buffer"]), 1)

    @property
    def payload_bytes(self) -> int:
        """The size of a message."""
        return self.fragments

    def packet(self, sender: int, to: int, message: Frame) -> spec.Envelope:
        """The specification's envelope that a frame on its way stands for."""
        del sender
        addressed = msgspec.msgpack.decode(message.body, type=Addressed)
        source = Process(addressed.source)
        return spec.Envelope(Process(to), source, header_of(source, addressed.body))

    def asked(self, step: Step, datagram: bytes | None) -> Asked:
        """Messages are as large as can be; a NAK names whom it asks."""
        asked = super().asked(step, datagram)
        match step:
            case Step("broadcast", (_, Message(index=index))):
                return Asked(asked.action, asked.datagram, b"%0*d" % (self.payload_bytes, index))
            case Step("ask", (_, Process(index=of))):
                return Asked(f"ask {of}", asked.datagram)
        return asked

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Nothing: a member moves when it is told something, or a timer expires."""
        del me, snapshot
        return frozenset()

    def waits(self, me: int, snapshot: Snapshot) -> list[str]:
        """The timers that the specification would let expire; what the others know decides nothing."""
        (state,) = self._machine.initial()
        values: dict[str, Any] = dict(zip(self.program.variables, state, strict=True))
        for name, value in self.project(me, snapshot).items():
            if name == "broadcasts":
                values[name] = self.program.constants["messages"]  # this is about timers
            else:
                values[name] = (*values[name][:me], value, *values[name][me + 1 :])
        waits = []
        for step in self._machine.enabled(tuple(values.values())):
            match step:
                case Step("ask", (Process(index=p), Process(index=of))) if p == me:
                    waits.append(timer(NAK_LEVEL, layer.ASK, of))
                case Step("tell", (Process(index=p),)) if p == me:
                    waits.append(timer(NAK_LEVEL, layer.TELL, me))
        return waits

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """What the snapshot says, in the specification's values."""
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

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Every variable is a map over processes."""
        raise AssertionError(f"{variable}: {shares}")


class NakBinding(HorusBinding):
    """NAK:COM."""

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        bounded = program(NakByMember, repairs=("await_room",), **constants)
        super().__init__(bounded, ("NAK", "COM"), None if fault is None else LOWER_FAULTS[fault])


class FragBinding(HorusBinding):
    """FRAG:NAK:COM, with fragments of one byte."""

    exempt: Mapping[str, str] = {
        **HorusBinding.exempt,
        "pieces": "what was handed down: its bytes are compared when they come up",
        "harmed": "nothing is lost, since the window sees to that",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        bounded = program(FragByMember, repairs=("await_room",), **constants)
        super().__init__(bounded, ("FRAG", "NAK", "COM"), None if fault is None else FRAG_FAULTS[fault])

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Fragments too; they are of the message after those that came up."""
        gathered: Any = snapshot.layers[FRAG_LEVEL]
        pieces = tuple(
            tuple(Piece(snapshot.ids[q] + 1, part, False) for part in range(1, len(parts) + 1))
            for q, parts in enumerate(gathered.gathered)
        )
        return {**super().project(me, snapshot), "handed": snapshot.last_id, "gathered": pieces}


LOWER_FAULTS = COM_FAULTS | NAK_FAULTS

PAPER = tuple(STACK.split(":"))
"""The stack in which a fault of a layer meets whole runs, since what is below TOTAL orders nothing."""

NAK = Bound(
    NakBinding,
    small={"processes": 2, "messages": 2, "casts": 2, "buffer": 2, "losses": 1},
    random={"processes": 3, "messages": 4, "casts": 2, "buffer": 2, "senders": 2, "losses": 2},
    faults=described(LOWER_FAULTS),
    implementation=with_faults(horus, {name: partial(core, PAPER) for name, core in LOWER_FAULTS.items()}),
)
"""NAK:COM, while the view stays."""

FRAG = Bound(
    FragBinding,
    small={"processes": 2, "messages": 1, "casts": 2, "buffer": 2, "losses": 1},
    random={"processes": 3, "messages": 3, "casts": 6, "buffer": 4, "senders": 2, "losses": 2},
    faults=described(FRAG_FAULTS),
    implementation=with_faults(horus, {name: partial(core, PAPER) for name, core in FRAG_FAULTS.items()}),
)
"""FRAG:NAK:COM, while the view stays."""
