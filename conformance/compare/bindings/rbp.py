"""Binding of figure 16 and its implementation, with corresponding names, and the parts shared by both rings.

| paper            | specification `Rbp`       | implementation `Core`         |
|------------------|---------------------------|-------------------------------|
| recvQ_p          | received[p]               | observe()["received"]         |
| seqQ_p           | numbered[p]               | observe()["numbers"]          |
| ts_p             | last_number[p]            | observe()["last_number"]      |
| lastdelivered_p  | last_delivered[p]         | observe()["last_delivered"]   |
| message id_p     | message_id[p]             | observe()["message_id"]       |
| m                | Message(k)                | payload b"k"                  |
| B                | Identifier(Process(i), j) | Identifier(i, j)              |
| in flight        | network, a set of packets | the encoded datagrams         |

The specification's packets carry no sender but in requests, so datagrams of several senders may stand for the
same packet.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from antiphon.conformance.compare.bindings.core_binding import CoreBinding, message_of
from antiphon.conformance.compare.bindings.driven import Asked
from antiphon.conformance.compare.bindings.rbp_faults import FAULTS, SIZE_FAULTS
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Delivery, Identifier
from antiphon.impl.protocols.rbp import Message, Observation, Snapshot, Timer
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.spec.lang import Program, Step, program
from antiphon.spec.protocols.rbp import figure16 as spec
from antiphon.spec.protocols.rbp.bounds import RbpBounded
from antiphon.spec.services import Process


class RingBinding(CoreBinding[Message]):
    """Binding of the core of `impl.protocols.rbp`, with values and packets of figure 16 or of figure 25."""

    repairs = "all"
    internal: tuple[str, ...] = ("deliver", "accept", "sequence")
    intervals_ms: Mapping[Timer, float] = {
        Timer.RESEND: 48.0,
        Timer.RESEND_TOKEN: 48.0,
        Timer.REPEAT_REQUEST: 16.0,
        Timer.PASS_ON: 8.0,
        Timer.PASS_NULL: 96.0,
    }
    ending = frozenset({Timer.PASS_ON, Timer.PASS_NULL})

    @abstractmethod
    def sequenced(self, name: tuple[int, int] | None, number: int) -> object:
        """Return the specification's pair (B, t)."""

    def offered(self, me: int, snapshot: Snapshot, probe: Any, action: str) -> Step | None:
        """Return the step with its arguments: a delivery names the message with its number."""
        if action != "deliver":
            return super().offered(me, snapshot, probe, action)
        number = snapshot.last_delivered + 1
        return Step(action, (Process(me), self.sequenced(_name(snapshot, number), number)))

    def single(self, core: Any, action: str, payload: bytes, now: float) -> tuple[bool, object]:
        """Take the one step of this name; return whether it was possible, and its result. `settle` (lines
        74-78) gets its number as payload; `pass_null` lets one of two timers expire that pass the token.
        """
        match action:
            case "settle":
                numbers = [int(payload)] if payload else core.observe()["numbers"]
                done = any(core.collect(number, now) for number in numbers)
            case "pass_null":
                done = core.expire(Timer.PASS_ON, now) or core.expire(Timer.PASS_NULL, now)
            case _:
                return super().single(core, action, payload, now)
        return done, done

    def reported(
        self, me: int, before: Snapshot, after: Snapshot, asked: Asked
    ) -> tuple[object, tuple[tracing.Event, ...]]:
        """Return the result of the step and the events that the core must have traced: a delivery belongs to
        its own step, except for NULL; the deletion of a message is no event.
        """
        if asked.action == "settle":
            return True, ()
        if asked.action != "deliver":
            return super().reported(me, before, after, asked)
        number = after.last_delivered
        name = _name(before, number)
        if name is None:
            return None, ()
        stable = {at: body for at, _, body in before.stable}
        body = stable[number] if number in stable else dict(before.received)[name]
        return Delivery(*name, number, body), (tracing.Deliver(me, name, number, body),)

    def traced_step(self, me: int, before: Snapshot, after: Snapshot, action: str) -> tracing.Step:
        """Return the trace event of the step. `accept` has the number of the token that arrived; `sequence`
        and `pass_null` have the number of the token that was passed, and the message that it numbers. Any
        other step has its name alone.
        """
        if action == "accept":
            return tracing.Step(me, action, number=before.arriving)
        if action in ("sequence", "pass_null"):
            number = after.passed or 0
            return tracing.Step(me, action, dict(after.numbers).get(number), number)
        return super().traced_step(me, before, after, action)

    def busy(self, me: int, snapshot: Snapshot) -> bool:
        """Return True while the last message of this process has no number."""
        del me
        return snapshot.pending is not None


class RbpBinding(RingBinding):
    """Binding of the repaired figure 16 to the ring without failures, or to a faulty core by its name."""

    protocol = "rbp"
    specification = RbpBounded
    faults: Mapping[str, type[Any]] = {**FAULTS, **SIZE_FAULTS}

    exempt: Mapping[str, str] = {
        "catching_up": "repaired, it only repeats that the number of `arriving` was not reached when the "
        "token came",
        "lost": "counts the faults of the network, which is not the implementation's",
        "expired": "counts the timer rounds that the exploration allows",
    }

    def sequenced(self, name: tuple[int, int] | None, number: int) -> spec.Sequenced:
        """Return the specification's pair (B, t)."""
        return spec.Sequenced(identifier_of(name), number)

    def unbounded(self) -> Program:
        """Return the specification without the bounds on timers that only explorations use."""
        messages = self.program.constants["messages"]
        return program(RbpBounded, repairs="all", processes=self.members, messages=messages, unlimited=True)

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the state of the core of `me` in the specification's values."""
        view = self.probe(me, snapshot).observe()
        return {
            "received": tuple(_body(name, payload) for name, payload in view["received"].items()),
            "numbered": frozenset(self.sequenced(name, number) for number, name in view["numbers"].items()),
            "last_number": view["last_number"],
            "last_delivered": view["last_delivered"],
            "message_id": view["message_id"],
            "pending": None if view["pending"] is None else _body(view["pending"], _payload(view)),
            "arriving": self._numbered(view, view["arriving"]),
            "holding": view["holding"],
            "passed": self._numbered(view, view["passed"]),
            "broadcasts": view["message_id"],
        }

    def _numbered(self, view: Observation, number: int | None) -> spec.Sequenced | None:
        return None if number is None else self.sequenced(view["numbers"].get(number), number)

    def packet(self, sender: int, to: int, message: Message) -> spec.Packet:
        """Return the specification's packet that a datagram stands for."""
        receiver = Process(to)
        match message:
            case wire_messages.Data(identifier=name, payload=payload):
                return spec.Data(receiver, _body(name, payload))
            case wire_messages.Ack(identifier=name, number=number, next_holder=holder):
                return spec.Ack(receiver, identifier_of(name), number, Process(holder))
            case wire_messages.Numbered(identifier=name, number=number):
                return spec.Numbered(receiver, identifier_of(name), number)
            case wire_messages.Request(identifier=name):
                return spec.Request(receiver, Process(sender), identifier_of(name))
            case wire_messages.RequestNumbers(first=first, last=last):
                return spec.RequestNumbers(receiver, Process(sender), first, last)
            case wire_messages.Gone():
                raise AssertionError("all members are in the ring: nobody is told that something is gone")


def identifier_of(name: tuple[int, int] | None) -> spec.Identifier | None:
    """Return the specification's identifier B."""
    return None if name is None else spec.Identifier(Process(name[0]), name[1])


def _name(snapshot: Snapshot, number: int) -> Identifier | None:
    """Return the identifier of the message with this number, or None."""
    return {**dict(snapshot.numbers), **{at: name for at, name, _ in snapshot.stable}}[number]


def _body(name: tuple[int, int], payload: bytes) -> spec.Body:
    return spec.Body(message_of(payload), spec.Identifier(Process(name[0]), name[1]))


def _payload(view: Observation) -> bytes:
    pending = view["pending"]
    return b"" if pending is None else view["received"][pending]


RBP = RbpBinding.bound(
    small={"processes": 3, "messages": 1, "losses": 1, "timeouts": 1, "urgent": True},
    random={"processes": 3, "messages": 3, "losses": 1, "timeouts": 1, "urgent": True},
)
"""Binding of figure 16."""
