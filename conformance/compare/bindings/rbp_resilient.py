"""Binding of figure 25 and its implementation, with corresponding names.

| paper            | specification `RbpResilient` | implementation `Core`             |
|------------------|------------------------------|-----------------------------------|
| recvQ_p          | received[p], waiting[p]      | observe()["received"], ["waiting"] |
| seqQ_p           | numbered[p]                  | observe()["numbers"]              |
| stableQ_p        | stable[p]                    | observe()["stable"]               |
| ts_p             | last_number[p]               | observe()["last_number"]          |
| lastdelivered_p  | last_delivered[p]            | observe()["last_delivered"]       |
| (collected)      | collected[p]                 | observe()["numbered"]             |
| m                | Message(k)                   | payload b"k"                      |
| B                | Body(m, 0)                   | Identifier(k mod n, k div n + 1)  |
| lines 74-78      | settle                       | collect                           |
| in flight        | network, a set of packets    | the encoded datagrams             |

The specification identifies a body B by its message, so that the message must determine the identifier: with
`assigned` message k is the message k div n + 1 of process k mod n.

The specification has no requests: in its steps `obtain_number` and `obtain_body` a process gets a missing
number or body from a process that has it. The implementation sends a request and gets an answer. Three parts
are compared: a process requests just what it misses, at once and by its timer; a process answers a request
with just what the specification says it has; an answer has the effect of the one step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from antiphon.conformance.compare.bindings.binding import Effect, Misreports, Refused
from antiphon.conformance.compare.bindings.core_binding import NOW, message_of, payload_of
from antiphon.conformance.compare.bindings.driven import Asked
from antiphon.conformance.compare.bindings.rbp import RingBinding
from antiphon.conformance.compare.bindings.rbp_faults import RESILIENT_FAULTS
from antiphon.impl.protocols.core import Identifier, Send
from antiphon.impl.protocols.rbp import Snapshot, Timer
from antiphon.impl.protocols.rbp import messages as wire_messages
from antiphon.spec.lang import Step
from antiphon.spec.protocols.rbp_resilient import figure25 as spec
from antiphon.spec.protocols.rbp_resilient.queued import RbpResilientQueued
from antiphon.spec.services import Message, Process

TELLING = frozenset({"receive_ack", "receive_numbered", "obtain_number"})
"""Steps of the specification that bring a number to a process."""


class RbpResilientBinding(RingBinding):
    """Binding of the repaired figure 25 to the ring with stability, or to a faulty core by its name."""

    protocol = "rbp-resilient"
    specification = RbpResilientQueued
    fixed: Mapping[str, int | bool | str] = {
        "assigned": True, "patient": False, "passive": False, "late": False, "spare": 0,
        "crashes": 0, "suspicions": 0, "strays": 0,
    }  # fmt: skip
    """Required constants: the members stay, send in turn, and assume nothing about messages in flight."""
    faults = RESILIENT_FAULTS
    internal = ("deliver", "accept", "sequence", "settle")

    exempt: Mapping[str, str] = {
        "installed": "the token list, of which a group whose members stay has one",
        "reforming": "who has called Reformation: nobody, in these bounds",
        "down": "who has crashed: nobody, in these bounds",
        "suspected": "counts wrong suspicions, of which there are none in these bounds",
        "strayed": "counts ACKs of other lists, of which there are none in these bounds",
        "lost": "counts the faults of the network, which is not the implementation's",
        "expired": "counts the timer rounds that the exploration allows",
    }

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the binding with these constants, after checking them.

        Raises:
            SpecError: members can fail, or send out of turn.
        """
        super().__init__(fault=fault, **constants)
        self.count = int(self.program.constants["messages"])
        self.last = self.count + 1 + int(self.program.constants["passes"])
        self._requests: list[Send[wire_messages.Message]] = []
        self._asked_of: set[tuple[int, Hashable]] = set()

    def sizes(self) -> Mapping[str, object]:
        """Return the specification's resilience as the core's setting."""
        return {"resilience": int(self.program.constants["resilience"])}

    # What a process does ------------------------------------------------------------------------------------

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Take the step in the core of `me`, and check the requests that it sends: they name exactly what the
        received numbers show to be missing.
        """
        answer = self._answer(me, snapshot, step)
        effect = super().perform(me, snapshot, step, datagram if answer is None else answer)
        asked = [send.message for send in self._requests]
        missed = self._missed(effect.after, step)
        if asked != missed:
            raise Refused(f"process {me} asks {asked} after {step.action}, and misses {missed}")
        return effect

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Drive the core as a shell does; then check that it answers each request for what the specification
        says it has, and no other.
        """
        answer = None if step is None else self._answer(me, snapshot, step)
        super().drive(me, snapshot, step, datagram if answer is None else answer)
        if step is None and (me, snapshot) not in self._asked_of:
            self._answers(me, snapshot)
            self._asked_of.add((me, snapshot))

    def offers(self, me: int, snapshot: Snapshot) -> frozenset[Step]:
        """Return the internal steps that the core would take. Messages become stable one at a time, and
        numbers stay within the exploration's bound.
        """
        found = {step for step in super().offers(me, snapshot) if step.action != "settle"}
        probe = self.probe(me, snapshot)
        for number, name in snapshot.numbers:
            if probe.collect(number, NOW):
                found.add(Step("settle", (Process(me), self.sequenced(name, number))))
                probe.restore(snapshot, NOW)
        return frozenset(found)

    def offered(self, me: int, snapshot: Snapshot, probe: Any, action: str) -> Step | None:
        """Return the step if its number is within the exploration's bound."""
        beyond = action in ("accept", "sequence") and probe.observe()["last_number"] > self.last
        return None if beyond else super().offered(me, snapshot, probe, action)

    def sent(self, me: int, sends: list[Send[wire_messages.Message]]) -> Iterable[tuple[object, bytes]]:
        """Return the sent datagrams without requests."""
        self._requests = [send for send in sends if _is_request(send.message)]
        return super().sent(me, [send for send in sends if not _is_request(send.message)])

    # What it shows ------------------------------------------------------------------------------------------

    def project(self, me: int, snapshot: Snapshot) -> Mapping[str, object]:
        """Return the state of the core of `me` in the specification's values."""
        view = self.probe(me, snapshot).observe()
        kept = set(view["numbers"].values())
        over = (
            Identifier(source, name)
            for source, last in enumerate(view["numbered"])
            for name in range(1, last + 1)
        )
        arriving = view["arriving"]
        return {
            "received": frozenset(self._received(*one) for one in view["received"].items()),
            "waiting": tuple(self._received(name, view["received"][name]) for name in view["waiting"]),
            "numbered": frozenset(self.sequenced(name, number) for number, name in view["numbers"].items()),
            "stable": frozenset(self.sequenced(name, number) for number, name in view["stable"].items()),
            "collected": frozenset(self._body(name) for name in over if tuple(name) not in kept),
            "last_number": view["last_number"],
            "last_delivered": view["last_delivered"],
            "pending": self._body(view["pending"]),
            "arriving": self._numbered(view, arriving),
            "catching_up": arriving is not None and view["last_number"] < arriving,
            "holding": view["holding"],
            "passed": self._numbered(view, view["passed"]),
            "broadcasts": view["message_id"],
        }

    def packet(self, sender: int, to: int, message: wire_messages.Message) -> spec.Packet:
        """Return the specification's packet that a datagram stands for."""
        receiver = Process(to)
        match message:
            case wire_messages.Data(identifier=name, payload=payload):
                return spec.Data(receiver, self._received(name, payload))
            case wire_messages.Ack(identifier=name, number=number):
                return spec.Ack(receiver, Process(sender), self._body(name), number)
            case wire_messages.Numbered(identifier=name, number=number):
                return spec.Numbered(receiver, self._body(name), number)
        raise Refused(f"process {sender} sends {message}, for which there is no packet")

    def waits(self, me: int, snapshot: Snapshot) -> list[Timer]:
        """Return the timers that the specification would let expire without bounds of the exploration.

        These are the guards of resend, resend_token, obtain_number and obtain_body, and pass_null, where the
        other processes have everything. Two timers pass the token without a message; the implementation
        chooses which one runs.
        """
        view: Mapping[str, Any] = self.project(me, snapshot)
        known = view["numbered"] | view["stable"]
        highest = max((item.number for item in known), default=0)
        bodies = {item.body for item in view["numbered"]} - {None}
        undelivered = any(item.body is not None and item.number > view["last_delivered"] for item in known)
        silent = view["holding"] and not view["waiting"]
        runs = {
            Timer.RESEND: view["pending"] is not None,
            Timer.RESEND_TOKEN: view["passed"] is not None,
            Timer.REPEAT_REQUEST: view["last_number"] < highest or not bodies <= view["received"],
            Timer.ASK_HOW_FAR: False,
            Timer.PASS_ON: silent and undelivered,
            Timer.PASS_NULL: silent and not undelivered,
        }
        return [timer for timer in Timer if runs[timer]]

    # Requests -----------------------------------------------------------------------------------------------

    def _missed(self, after: Any, step: Step) -> list[wire_messages.Message]:
        """Return the requests that a process must send after a step: for the numbers and bodies that the step
        shows to be missing (lines 30-33, 35-37 and 45-47).
        """
        if step.action not in TELLING:
            return []
        told: Any = step.arguments[-1]
        missed: list[wire_messages.Message] = []
        if step.action == "receive_ack" and after.last_number < told.number:
            missed.append(wire_messages.RequestNumbers(after.last_number + 1, told.number))
        name = self._identifier(told.body)
        if name is not None and name not in dict(after.received) and name in dict(after.numbers).values():
            missed.append(wire_messages.Request(name))
        return missed

    def _answer(self, me: int, snapshot: Any, step: Step) -> bytes | None:
        """Return the datagram with which another process answers the request of `me` for the number or body
        that the step obtains; None for any other step.

        Raises:
            Refused: `me` does not send this request to the expected process alone.
        """
        if step.action not in {"obtain_number", "obtain_body"}:
            return None
        wanted: Any = step.arguments[1]
        probe = self.probe(me, snapshot)
        probe.expire(Timer.REPEAT_REQUEST, NOW)
        asked = probe.outputs()
        giver = (max(number for number, _ in snapshot.numbers) - 1) % self.members
        answer: wire_messages.Message
        if step.action == "obtain_body":
            name = self._identifier(wanted)
            assert name is not None
            answer = wire_messages.Data(name, payload_of(wanted.message))
            wants = [send for send in asked if send.message == wire_messages.Request(name)]
        else:
            answer = wire_messages.Numbered(self._identifier(wanted.body), wanted.number)
            wants = [send for send in asked if _covers(send.message, wanted.number)]
        if [send.to for send in wants] != [giver]:
            raise Refused(f"process {me} asks {asked}, and not process {giver} for {wanted}")
        return self.encoded(giver, answer)

    def _answers(self, me: int, snapshot: Any) -> None:
        """Check the answers of a process to requests for every number and every body: it answers with exactly
        what it has (lines 64-69).

        Raises:
            Misreports: the process answers with more or less than the specification says it has.
        """
        probe, view = self.probe(me, snapshot), self.project(me, snapshot)
        asks = (me + 1) % self.members
        held: Any = view["numbered"]
        bodies: Any = view["received"]
        probe.receive(asks, wire_messages.RequestNumbers(1, self.last), NOW)
        numbers = {self.packet(me, asks, send.message) for send in probe.outputs()}
        wanted = {spec.Numbered(Process(asks), item.body, item.number) for item in held}
        if numbers != wanted:
            raise Misreports(f"process {me} is asked for all numbers", frozenset(wanted), frozenset(numbers))
        for index in range(self.count):
            body = spec.Body(Message(index), 0)
            probe.receive(asks, wire_messages.Request(self._named(index)), NOW)
            told = tuple(self.packet(me, asks, send.message) for send in probe.outputs())
            expected = (spec.Data(Process(asks), body),) if body in bodies else ()
            if told != expected:
                raise Misreports(f"process {me} is asked for the body of message {index}", expected, told)
        if probe.snapshot() != snapshot:
            raise Misreports(f"process {me} is asked", snapshot, probe.snapshot())

    # Helpers ------------------------------------------------------------------------------------------------

    def asked(self, step: Step, datagram: bytes | None) -> Asked:
        """Return the payload of the step: the number of the message that becomes stable."""
        if step.action == "settle":
            item: Any = step.arguments[1]
            return Asked(step.action, payload=b"%d" % item.number)
        return super().asked(step, datagram)

    def _named(self, index: int) -> Identifier:
        return Identifier(index % self.members, index // self.members + 1)

    def _identifier(self, body: spec.Body | None) -> Identifier | None:
        return None if body is None else self._named(body.message.index)

    def _body(self, name: tuple[int, int] | None) -> spec.Body | None:
        if name is None:
            return None
        return spec.Body(Message((name[1] - 1) * self.members + name[0]), 0)

    def _received(self, name: tuple[int, int], payload: bytes) -> spec.Body:
        """Return the specification's body for this payload; a body with another identifier than its own gets
        a different name.
        """
        message = message_of(payload)
        return spec.Body(message, name[1] - self._named(message.index).id)

    def sequenced(self, name: tuple[int, int] | None, number: int) -> spec.Sequenced:
        """Return the specification's pair (B, t)."""
        return spec.Sequenced(self._body(name), number)

    def _numbered(self, view: Any, number: int | None) -> spec.Sequenced | None:
        if number is None:
            return None
        return self.sequenced(view["numbers"].get(number, view["stable"].get(number)), number)


def _is_request(message: wire_messages.Message) -> bool:
    return isinstance(message, wire_messages.Request | wire_messages.RequestNumbers)


def _covers(message: wire_messages.Message, number: int) -> bool:
    return isinstance(message, wire_messages.RequestNumbers) and message.first <= number <= message.last


RBP_RESILIENT = RbpResilientBinding.bound(
    small={"processes": 3, "messages": 1, "losses": 1, "timeouts": 0, "passes": 3, "urgent": True},
    every={"timeouts": 1, "passes": 2},
    random={"processes": 3, "messages": 3, "losses": 1, "timeouts": 1, "passes": 6, "urgent": True},
    never={"crash", "detect_sequencer", "detect_successor", "detect_inactivity"}
    | {"suspect_sequencer", "suspect_successor", "stray", "install"},
)
"""Binding of figure 25 without changes of membership."""
