"""Binding of a member that goes from list to list to a specification of a change of views.

One process is three machines of the implementation: the core of a protocol on one list, the change that ends
the list (`ViewChange`), and the succession that joins the two (`Succession`). The rest of a `Membership` is
not here: time, detectors, addresses, processes that ask to join.

Replacements, and why they are sound:
1. **The failure detector** is the environment: the suspicions of the quick detector and of the slow one are
   handed to the change together. When a member calls for a change is a matter of the detector's patience;
   here it may call as soon as it suspects somebody, and later.
2. **Reliable channels.** What a change sends lies in `sent` until its list is the receiver's, and may come
   twice; the links of an epoch (`impl/layers/links.py`) have it that way, and have tests of their own.
3. **The consensus is a service** (`Service` of `list_process.py`): a member proposes; that its proposal is
   decided is a step of the environment, which the specification allows when a majority takes part; the
   decision comes to the others as the message by which the real consensus tells it. The real one is walked by
   itself (`chandra_toueg.py`).
4. **The list after this one** is what `Succession.adopt` says; then the binding makes the next three
   machines, as a membership does.

A message for all must go to all other members of the list: an implementation that leaves one out is refused.
This module must not know a protocol.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from msgspec import msgpack

from antiphon.conformance.compare.bindings.binding import Effect, Refused, Stimulus
from antiphon.conformance.compare.bindings.core_binding import GROUP, NOW, message_of, payload_of
from antiphon.conformance.compare.bindings.links import Link
from antiphon.conformance.compare.bindings.list_process import (
    MEMBERS,
    Kinds,
    ListProcess,
    Past,
    Standing,
    changed,
)
from antiphon.impl.membership import consensus, view_change
from antiphon.impl.membership.succession import Next, Out, Succession
from antiphon.impl.membership.view_change import Call, Decision, Kind, ReportMessage, ViewChange
from antiphon.impl.protocols.core import Delivery, Identifier, Implementation
from antiphon.impl.protocols.flush import Report
from antiphon.impl.transport import wire
from antiphon.spec.lang import Program, Spec, SpecError, Step, program
from antiphon.spec.services import Broadcast, Crash, Deliver, Install, Message, Process
from antiphon.spec.services.detectors import Suspect, Trust

__all__ = ["ListedBinding", "agreed_on"]

_encoder = msgpack.Encoder()
_decoder: Any = msgpack.Decoder(tuple[int, view_change.Message])

_CHANGE = b"c"
"""First byte of the datagrams of a change; those of the protocol begin with `p`. Lockstep alone has it."""


def agreed_on(known: Iterable[object], nothing: object = None) -> object:
    """Return the value that processes share who know another one than `nothing`; all their values, which are
    none of the specification's, if they differ.
    """
    values = set(known) - {nothing}
    return frozenset(values) if len(values) > 1 else next(iter(values), nothing)


class ListedBinding(ABC):
    """Binding of a specification's program to members that go from list to list; a subclass names the
    protocol.

    Attributes:
        specification: the specification that they are compared with, within bounds.
        fixed: constants with which alone they are compared.
        faults: the planted faults, each a class of cores, of changes or of successions, by name.
        decisions: the variable of the specification that has a decision for each list.
        reports_at_once: whether the specification reports in the step in which a call comes.
        keeps_suspicions: whether suspicions of processes that the next list lacks stay.
    """

    specification: type[Spec]
    fixed: Mapping[str, int | bool | str] = {}
    faults: Mapping[str, type[Any]] = {}
    channel = "sent"
    links: tuple[Link, ...] = ()
    ordered = True
    joint: frozenset[str] = frozenset()
    internal: tuple[str, ...] = ()
    exempt: Mapping[str, str] = {}
    decisions = "decision"
    reports_at_once = False
    keeps_suspicions = False

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the specification with these constants, and members, those of a planted fault if it is named.

        Raises:
            SpecError: the specification has no such constant, or the members are not compared with it.
        """
        self.program: Program = program(self.specification, repairs="all", **{**self.fixed, **constants})
        for name, value in self.fixed.items():
            if (asked := self.program.constants[name]) != value:
                told = f"{name} is {asked}; these members are compared where it is {value}"
                raise SpecError(f"{told}: leave {name} out")
        self.members = int(self.program.constants["processes"])
        self.restores = 0
        self.in_vain = False
        """True in a step that receives a message which changes nothing."""
        kind = None if fault is None else self.faults[fault]
        is_change = kind is not None and issubclass(kind, ViewChange)
        is_succession = kind is not None and issubclass(kind, Succession)
        implementation = self.made(None if is_change or is_succession else kind)
        self.codec: wire.Codec[Any] = wire.Codec(implementation.messages)
        self._kinds = Kinds(
            implementation,
            self.codec,
            kind if kind is not None and is_change else ViewChange,
            kind if kind is not None and is_succession else Succession,
        )
        self._live = [self._fresh(me) for me in range(self.members)]
        self._standing: list[Hashable] = [None] * self.members
        self._probes: dict[tuple[int, tuple[int, ...]], ListProcess] = {}

    # What a subclass says -----------------------------------------------------------------------------------

    @abstractmethod
    def made(self, kind: type[Any] | None) -> Implementation[Any]:
        """Return the implementation of the protocol on its lists, with `kind` as its class of cores if a
        fault is planted.
        """

    @abstractmethod
    def packet(self, me: int, past: Past, message: Any, to: int) -> object | None:
        """Return the specification's packet in `sent` that stands for a message of the protocol, or None."""

    def is_for_one(self, packet: object) -> bool:
        """Return True if the message is for one receiver, and not for all other members of the list."""
        del packet
        return False

    def answer_to(self, packet: object) -> type | None:
        """Return the type of the packet that answers a message which changes nothing; None if none does."""
        del packet
        return None

    @abstractmethod
    def call_packet(self, me: int, past: Past) -> object:
        """Return the specification's packet for a call."""

    @abstractmethod
    def report_packet(self, me: int, past: Past) -> object:
        """Return the specification's packet for a report to the proposers."""

    @abstractmethod
    def decision_packet(self, past: Past) -> object:
        """Return the specification's packet for a decision in flight."""

    @abstractmethod
    def act(self, process: ListProcess, step: Step) -> Iterable[Delivery] | None:
        """Take an internal step of the protocol. Return what the step delivers, or None if the step was not
        possible.
        """

    def proposing(self, p: Process, heard: frozenset[Process]) -> tuple[object, ...]:
        """Return the arguments of a step `propose`: the process, and the members whose reports it has."""
        return p, heard

    @abstractmethod
    def rest(self, process: ListProcess) -> None:
        """Let the core take the steps that the specification does not have, such as handling a token that it
        accepts.
        """

    @abstractmethod
    def offers_of_core(self, me: int, snapshot: Standing, probe: ListProcess) -> Iterable[Step]:
        """Return the internal steps that the process would take in the state of a snapshot. The call may
        change `probe`.
        """

    @abstractmethod
    def shown(self, snapshot: Standing) -> Mapping[str, object]:
        """Return the values of the specification's variables that a process shows."""

    @abstractmethod
    def agreed(self, snapshot: Past, decision: Decision) -> object:
        """Return a proposal or a decision in the specification's values."""

    @abstractmethod
    def check_report(self, past: Past, core: Any, report: Report) -> None:
        """Check that the report with which a core has ended agrees with the deliveries of its process.

        Raises:
            Refused: the report names more or less than the deliveries.
        """

    @abstractmethod
    def last_number(self, core: Any) -> int:
        """Return the last number that a core used on its list; the numbers of the next list follow it."""

    # What `Binding` asks ------------------------------------------------------------------------------------

    def start(self, me: int) -> Effect:
        """Return the snapshot of a member of the first list."""
        process = self._live[me] = self._fresh(me)
        process.core.start(NOW)
        self.rest(process)
        return self._effect(process, me, ())

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process that a step concerns: the receiver of a message, else the process in the first
        argument.
        """
        me: Any = step.arguments[0]
        if step.action in ("arrive", "arrive_in_vain"):
            return Stimulus(me.index, step.arguments[1], consumed=False)
        return Stimulus(me.index)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Perform the step on the machines of process `me`."""
        process = self._live[me]
        if self._standing[me] != snapshot:
            if process.past.rosters != snapshot.past.rosters:
                process = self._live[me] = ListProcess(self._kinds, me, snapshot.past)
            process.restore(snapshot)
            self.restores += 1
        self._standing[me] = None
        self.in_vain = step.action == "arrive_in_vain"
        try:
            events = self.take(process, me, step, datagram)
        except Refused:
            raise
        except Exception as crash:
            raise Refused(f"process {me} fails with {type(crash).__name__}: {crash}") from crash
        process = self._live[me]
        if process.core.violations:
            raise Refused(f"process {me} counts a protocol violation: {dict(process.core.violations)}")
        effect = self._effect(process, me, events)
        if self.in_vain:
            answer = None if process.succession.stopped else self.answer_to(step.arguments[1])
            if [type(packet) for packet, _ in effect.sent] != ([] if answer is None else [answer]):
                told = [packet for packet, _ in effect.sent]
                raise Refused(f"process {me} sends {told} for what it has")
        return effect

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:  # noqa: B027
        """Do nothing: these three machines are driven by single steps alone."""

    def offers(self, me: int, snapshot: Standing) -> frozenset[Step]:
        """Return the internal steps that the process would take in the state of a snapshot."""
        past, p = snapshot.past, Process(me)
        if past.down or past.left:
            return frozenset()
        probe = self.probe(me, snapshot)
        change = probe.change
        found: set[Step] = set()
        if change.reports:
            found.add(Step("report", (p,)))
        if change.proposes:
            found.add(Step("propose", self.proposing(p, self.those(past, change.heard))))
        if probe.succession.decision is not None:
            found.add(Step("adopt", (p,)))
        if not probe.succession.stopped:
            found.update(self.offers_of_core(me, snapshot, probe))
        return frozenset(found)

    def project(self, me: int, snapshot: Standing) -> Mapping[str, object]:
        """Return the process's values of all compared variables: those of the change of lists, and those that
        `shown` returns.
        """
        del me
        past, change = snapshot.past, snapshot.change
        gone = past.down or past.left
        decided = [self.agreed(names, decision) for names, decision in past.decisions]
        if snapshot.decision is not None:
            decided.append(self.agreed(past, snapshot.decision))
        undecided = snapshot.decision is None and snapshot.proposed is not None
        return {
            "suspected": tuple(q in past.suspected and not gone for q in range(self.members)),
            "heard": self.those(past, (place for place, _ in change.heard)),
            "learned": snapshot.decision is not None,
            "proposal": self.agreed(past, snapshot.proposed) if undecided and snapshot.proposed else None,
            self.decisions: tuple(decided),
            "broadcasts": past.broadcasts + self.broadcasts(snapshot.core),
            **self.shown(snapshot),
        }

    @abstractmethod
    def broadcasts(self, core: Any) -> int:
        """Return the number of messages that the process has broadcast on its list."""

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable from the shares of all processes: the sum of the broadcasts, and for
        each list the value that those share who know one.
        """
        if variable == "broadcasts":
            return sum(shares)
        return tuple(agreed_on(known) for known in zip(*map(self._padded, shares), strict=True))

    def _padded(self, share: tuple[object, ...]) -> tuple[object, ...]:
        """Return what a process knows of each list, None for those that it knows nothing of."""
        return (*share, *([None] * (int(self.program.constants["views"]) - len(share))))

    # Names --------------------------------------------------------------------------------------------------

    def those(self, past: Past, places: Iterable[int]) -> frozenset[Process]:
        """Return the processes at these places of the list."""
        return frozenset(Process(past.members[place]) for place in places)

    def message(self, past: Past, name: tuple[int, int]) -> Message:
        """Return the message with this identifier; with `assigned` message k is the next message of process k
        mod n.
        """
        process = past.members[name[0]]
        before = sum(1 for index in past.over if index % self.members == process)
        return Message((before + name[1] - 1) * self.members + process)

    def probe(self, me: int, snapshot: Standing) -> ListProcess:
        """Return separate machines, set to this snapshot, that may be changed to compute offers."""
        key = me, snapshot.past.members
        probe = self._probes.get(key)
        if probe is None or probe.past.rosters != snapshot.past.rosters:
            probe = self._probes[key] = ListProcess(self._kinds, me, snapshot.past)
        probe.restore(snapshot)
        return probe

    # Helpers ------------------------------------------------------------------------------------------------

    def _fresh(self, me: int) -> ListProcess:
        return ListProcess(self._kinds, me, self.first_past())

    def first_past(self) -> Past:
        """Return the past of a process on the first list."""
        return Past((tuple(range(self.members)),))

    def take(self, process: ListProcess, me: int, step: Step, datagram: bytes | None) -> tuple[object, ...]:
        """Take the step. Return the events of the specification that it emits."""
        p, past = Process(me), process.past
        match step:
            case Step("suspect" | "detect", (_, Process(index=of) as q)):
                self.suspect(process, past.suspected | {of})
                return (Suspect(p, q),)
            case Step("trust", (_, Process(index=of) as q)):
                self.suspect(process, past.suspected - {of})
                return (Trust(p, q),)
            case Step("crash"):
                process.note(down=True)
                return (Crash(p),)
            case Step("broadcast" | "vscast", (_, Message() as m)):
                process.core.broadcast(payload_of(m), NOW)
                return (Broadcast(p, m), *self._delivered(process, me, process.core.deliveries()))
            case Step("call"):
                process.change.call(Kind.REGULAR)
                if self.reports_at_once:
                    self._report(process)
            case Step("arrive" | "arrive_in_vain"):
                assert datagram is not None, "a message comes in a datagram"
                events = self._arrive(process, me, datagram)
                if self.reports_at_once:
                    self._report(process)
                return events
            case Step("report"):
                self._done(self._report(process), me, step)
            case Step("propose"):
                self._done(process.succession.propose(), me, step)
            case Step("decide"):
                self._done(process.service.decide(), me, step)
            case Step("adopt"):
                return self._adopt(process, me)
            case _:
                delivered = self.act(process, step)
                self._done(delivered is not None, me, step)
                self.rest(process)
                return self._delivered(process, me, delivered or ())
        return ()

    def _report(self, process: ListProcess) -> bool:
        if not process.succession.report():
            return False
        past = process.past
        (report,) = [told.report for at, told in process.change.heard.items() if at == process.at]
        self.check_report(past, process.core.snapshot(), report)
        process.note(reports=(*past.reports, (past.names, report)))
        return True

    def _done(self, done: bool, me: int, step: Step) -> None:
        if not done:
            raise Refused(f"process {me} has nothing to do for {step.action}")

    def suspect(
        self, process: ListProcess, suspected: frozenset[int], given_up: frozenset[int] | None = None
    ) -> None:
        """Hand the suspicions of both detectors to the change; without `given_up` the two suspect alike."""
        past = process.note(suspected=suspected, given_up=suspected if given_up is None else given_up)
        some, all_of_both = (
            frozenset(at for at, one in enumerate(past.members) if one in those)
            for those in (past.suspected, past.given_up)
        )
        process.change.suspect(some, all_of_both)

    def _arrive(self, process: ListProcess, me: int, datagram: bytes) -> tuple[object, ...]:
        """Take a message of the change, or of the protocol. A process that has stopped its core ignores the
        latter. Return the emitted events.
        """
        if datagram[:1] == _CHANGE:
            process.change.receive(*_decoder.decode(datagram[1:]))
            return ()
        if process.succession.stopped:
            return ()
        envelope = process.admission.admit(datagram[1:])
        if isinstance(envelope, wire.Rejected):
            raise Refused(f"process {me} drops a datagram as {envelope.kind.value}: {envelope.detail}")
        process.core.receive(envelope.sender, envelope.message, NOW)
        self.rest(process)
        return self._delivered(process, me, process.core.deliveries())

    def _delivered(self, process: ListProcess, me: int, deliveries: Iterable[Delivery]) -> tuple[object, ...]:
        messages = [message_of(delivery.payload) for delivery in deliveries]
        now = process.past.delivered | {m.index for m in messages}
        process.note(delivered=now)
        return tuple(Deliver(Process(me), m) for m in messages)

    def _adopt(self, process: ListProcess, me: int) -> tuple[object, ...]:
        """Take steps 5 to 7: deliver the agreed messages, then go on with the next list, or stop. Return the
        emitted events.
        """
        p, decision = Process(me), process.succession.decision
        follows = process.succession.adopt()
        if follows is None or decision is None:
            raise Refused(f"process {me} has nothing to do for adopt")
        for source, name, _, payload in process.adopted:
            expected = self.message(process.past, Identifier(source, name))
            if message_of(payload) != expected:
                raise Refused(f"process {me} delivers {payload!r} as message {source}:{name}")
        events = self._delivered(process, me, process.adopted)
        if isinstance(follows, Out):
            process.note(left=True)
            return (*events, Crash(p))
        return (*events, *self.go_on(process, me, follows))

    def go_on(self, process: ListProcess, me: int, follows: Next) -> tuple[object, ...]:
        """Begin the next list, as a membership does. Return the event of a view that the application sees."""
        number, members = follows.roster.number, follows.roster.members
        if number != len(process.past.lists) + 1 or MEMBERS[me] not in members:
            raise Refused(f"process {me} goes on with {follows.roster}")
        past = self.past_after(process, follows)
        following = self._live[me] = ListProcess(self._kinds, me, past)
        self.suspect(following, past.suspected, past.given_up)
        following.core.start(NOW)
        self.rest(following)
        return (Install(Process(me), number, frozenset(map(Process, past.members))),)

    def past_after(self, process: ListProcess, follows: Next) -> Past:
        """Return the past of a process that begins the next list, all of whose members order messages."""
        past, core, roster = process.past, process.core.snapshot(), follows.roster
        members = tuple(MEMBERS.index(member) for member in roster.members)
        if roster.core != len(members):
            raise Refused(f"a process goes on with {roster}")
        suspected = past.suspected if self.keeps_suspicions else past.suspected.intersection(members)
        return changed(
            past,
            lists=(*past.lists, members),
            base=past.base + self.last_number(core),
            over=past.delivered,
            broadcasts=past.broadcasts + self.broadcasts(core),
            decisions=(*past.decisions, (past.names, follows.decision)),
            suspected=suspected,
            given_up=suspected,
        )

    # What is sent -------------------------------------------------------------------------------------------

    def _effect(self, process: ListProcess, me: int, events: tuple[object, ...]) -> Effect:
        """Return the effect on a process since the last effect: its snapshot, the messages that it sends, and
        the events.
        """
        past = process.past
        receivers: dict[tuple[object, bytes], list[int]] = {}
        for to, message in process.core.outputs():
            packet = self.packet(me, past, message, to)
            if packet is not None:
                envelope = self.codec.envelope(GROUP, process.at, 1, message)
                receivers.setdefault((packet, b"p" + self.codec.encode(envelope)), []).append(to)
        for to, message in process.change.outputs():
            packet = self.change_packet(me, past, message, to)
            datagram = _CHANGE + _encoder.encode((process.at, message))
            receivers.setdefault((packet, datagram), []).append(to)
        others = [at for at in range(len(past.members)) if at != process.at]
        for (packet, _), some in receivers.items():
            if sorted(some) != others and not (self.is_for_one(packet) and len(some) == 1):
                raise Refused(f"process {me} sends {packet} to {some}, and not to {others}")
        process.core.deliveries()
        after = self._standing[me] = process.snapshot()
        return Effect(after, tuple(receivers), events)

    def change_packet(self, me: int, past: Past, message: view_change.Message, to: int) -> object:
        """Return the specification's packet for a message of the change to the member at a place."""
        del to
        match message:
            case Call(kind=Kind.REGULAR):
                return self.call_packet(me, past)
            case ReportMessage(joining=(), leaving=False):
                return self.report_packet(me, past)
            case consensus.Decide():
                return self.decision_packet(past)
        raise Refused(f"process {me} says {message}, of which figure 32 knows nothing")
