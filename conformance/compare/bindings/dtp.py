"""Binding of section 4 of DTP and its implementation, with corresponding names.

| paper              | specification `Dtp`       | implementation `Core`                     |
|--------------------|---------------------------|-------------------------------------------|
| S.Token_i          | holding[p], passed[p]     | `holding`, `passed`                       |
| S.ACK_i            | awaiting[p]               | `busy`                                    |
| N_i, R_i           | expected[p], status[p]    | the snapshot's `expected`, `status`       |
| BUF_i              | buffer[p], acks[p]        | the snapshot's `buffer`, `acks`           |
| (the pass)         | turn[p]                   | `turn` of the snapshot's `latest`         |
| U                  | Message(k)                | payload b"k"                              |
| U_id               | source[m], lsn[m]         | Identifier(i, l)                          |
| in flight          | network, a set of packets | the encoded datagrams                     |

An update of the specification has no U_id in a request, so that it has to follow from the U_id which update
it is: message k is the update k div `senders` + 1 of process k mod `senders`, as the constant says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.dtp_faults import FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.dtp import Snapshot, Timer
from antiphon.impl.protocols.dtp import messages as wire_messages
from antiphon.spec.lang import Program, SpecError, Step, program
from antiphon.spec.protocols.dtp import packets as spec
from antiphon.spec.protocols.dtp.bounds import DtpBounded
from antiphon.spec.services import Message, Process


class DtpBinding(CoreBinding[wire_messages.Message]):
    """Binding of the repaired DTP and the core of `antiphon.impl.protocols.dtp`, or a faulty core by its
    name.
    """

    protocol = "dtp"
    specification = DtpBounded
    repairs = "all"
    chosen: Mapping[str, int | bool | str] = {"tie": "lowest", "selected": "oldest", "early": "kept"}
    """Choices of the implementation at open points of the paper, as the names of readings."""
    faults = FAULTS
    internal = ("acknowledge",)
    intervals_ms: Mapping[Timer, float] = {
        Timer.RESEND_MESSAGE: 48.0,
        Timer.RESEND_PASS: 48.0,
        Timer.REPEAT_REQUEST: 16.0,
        Timer.PASS_NULL: 96.0,
    }
    ending = frozenset({Timer.PASS_NULL})

    exempt: Mapping[str, str] = {
        "source": "belongs to the update, whose sender and lsn every datagram has",
        "lsn": "belongs to the update, whose sender and lsn every datagram has",
        "stamp": "belongs to the MSG: it becomes a status where it is received",
        "told": "belongs to the ACK: it becomes a status where it is received",
        "arrived": "nothing else is due when a MSG comes to a holder that has recovered",
        "came": "remembers updates that were removed: what is acknowledged first is compared",
        "lost": "counts the faults of the network, which is not the implementation's",
        "expired": "counts the timer rounds that the exploration allows",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants. Raise SpecError if a U_id could name several updates."""
        super().__init__(fault=fault, **constants)
        self.senders = int(self.program.constants["senders"])
        if not 1 <= self.senders <= self.members:
            raise SpecError(
                f"senders={self.senders}: which update a U_id names is known only with 1 to {self.members} "
                "senders"
            )

    def sizes(self) -> Mapping[str, object]:
        """Return the core's setting for F, the degree of fault tolerance, as the specification has it."""
        return {"resilience": int(self.program.constants["resilience"])}

    def offered(self, me: int, snapshot: Snapshot, probe: Any, action: str) -> Step:
        """Return the step `acknowledge` that a core has just taken, with its update and the next holder."""
        del snapshot
        ack = probe.snapshot().latest
        return Step(action, (Process(me), self.update(ack.identifier), Process(ack.next_holder)))

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the state of the core of `me` in the specification's values."""
        nulls = int(self.program.constants["nulls"])
        return {**self._view(me, snapshot, nulls), "broadcasts": snapshot.expected[me] - 1}

    def packet(self, sender: int, to: int, message: wire_messages.Message) -> spec.Packet:
        """Return the specification's packet for a message in flight."""
        receiver = Process(to)
        match message:
            case wire_messages.Msg(payload=payload):
                return spec.Msg(receiver, message_of(payload))
            case wire_messages.Ack(sequencer=first, number=number, next_holder=holder):
                update = self.update(message.identifier)
                return spec.Ack(receiver, Process(first), update, number, Process(holder))
            case wire_messages.Null(sequencer=first, number=number, next_holder=holder, nulls=nulls):
                return spec.Null(receiver, Process(first), number, Process(holder), nulls)
            case wire_messages.AskMessage(identifier=name, status=status):
                return spec.AskMessage(receiver, Process(sender), status, self.update(name))
            case wire_messages.AskNumber(number=number, status=status):
                return spec.AskNumber(receiver, Process(sender), status, number)

    def waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """Return the timers that the specification, without bounds on its timers, would let expire when no
        procedure is unfinished.
        """
        constants = self.program.constants
        messages, nulls = int(constants["messages"]), int(constants["nulls"]) + 1
        came = tuple(message_of(message.payload) for message in snapshot.buffer)
        updates = {
            "source": tuple(Process(k % self.senders) for k in range(messages)),
            "lsn": tuple(k // self.senders + 1 for k in range(messages)),
        }
        view = {**self._view(me, snapshot, nulls), "came": came}
        enabled = {step.action for step in self.enabled(me, view, updates)}
        if self.offers(me, snapshot):
            enabled.discard(Timer.PASS_NULL.value)
        return [timer for timer in Timer if timer.value in enabled]

    def unbounded(self) -> Program:
        """Return the specification without the exploration's bounds on timers."""
        constants, readings = self.program.constants, dict[str, Any](self.chosen)
        return program(
            Unhurried, repairs="all", processes=self.members, messages=constants["messages"],
            senders=self.senders, nulls=int(constants["nulls"]) + 1, unlimited=True, **readings,
        )  # fmt: skip

    def busy(self, me: int, snapshot: Snapshot) -> bool:
        """Return True if the last update of this process has no number yet."""
        last = Identifier(me, snapshot.expected[me] - 1)
        has_number = any(ack.identifier == last for ack in snapshot.acks)
        return not has_number and any(message.identifier == last for message in snapshot.buffer)

    def traced_step(self, me: int, before: Snapshot, after: Snapshot, action: str) -> tracing.Step:
        """Return the event with which the core must trace an acknowledgement: with the update and its
        number.
        """
        if action != "acknowledge" or not isinstance(after.latest, wire_messages.Ack):
            return super().traced_step(me, before, after, action)
        return tracing.Step(me, action, after.latest.identifier, after.latest.number)

    def update(self, name: Identifier) -> Message:
        """Return the update of the specification that has this U_id."""
        return Message((name.id - 1) * self.senders + name.source)

    def _view(self, me: int, snapshot: Snapshot, nulls: int) -> dict[str, object]:
        """Return the specification's variables of process `me`, if up to `nulls` NULLs may follow a gsn."""
        core = self.probe(me, snapshot)
        latest, passed = snapshot.latest, core.passed
        number, null = (0, 0) if latest is None else latest.turn
        numbers = int(self.program.constants["messages"]) + int(self.program.constants["spare"])
        acks = {ack.number: ack for ack in snapshot.acks}
        return {
            "holding": core.holding,
            "passed": None if passed is None else self._pass(passed),
            "awaiting": core.busy,
            "expected": snapshot.expected,
            "status": snapshot.status,
            "buffer": frozenset(message_of(message.payload) for message in snapshot.buffer),
            "acks": tuple(self._acknowledged(acks.get(k)) for k in range(1, numbers + 1)),
            "sought": snapshot.sought,
            "missed": frozenset(map(self.update, snapshot.missed)),
            "handed": frozenset(range(1, snapshot.delivered + 1)),
            "turn": number * (nulls + 1) + null,
        }

    def _pass(self, made: wire_messages.Pass) -> spec.Pass:
        update = self.update(made.identifier) if isinstance(made, wire_messages.Ack) else None
        return spec.Pass(update, made.number, Process(made.next_holder), made.turn[1])

    def _acknowledged(self, ack: wire_messages.Ack | None) -> spec.Acknowledged | None:
        if ack is None:
            return None
        return spec.Acknowledged(
            self.update(ack.identifier), Process(ack.sequencer), Process(ack.next_holder)
        )


class Unhurried(DtpBounded):
    """DTP whose timers may expire also inside an unfinished procedure, as a core's timers may before the core
    has settled.
    """

    def is_idle(self) -> bool:
        """Return True, so that timers do not wait for the end of a procedure."""
        return True


DTP = DtpBinding.bound(
    small={"processes": 3, "messages": 2, "senders": 1, "losses": 0, "timeouts": 0, "nulls": 0},
    every={"losses": 1, "timeouts": 1, "nulls": 1},
    random={"processes": 3, "messages": 3, "senders": 2, "losses": 1, "timeouts": 1, "nulls": 1},
)
"""Binding of DTP's section 4, where the senders send in turn."""
