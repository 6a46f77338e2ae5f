"""Space-time diagram of a trace, with steps and messages inferred from its states.

1. A lifeline is a member of the index type that packets are addressed to; without packets, of the index type
   that actions name first, if some variable has a value for each of its members.
2. A packet is what stands in a channel: a set, a queue or a log (`antiphon.conformance.report.channels`).
3. The step that adds a packet sends it. A step receives a packet that is its argument, or that is gone after
   the step (a quorum's answers, all at once), unless the packet is addressed to somebody else. If the step is
   the environment's and the packet is gone after it, the packet is lost.
4. A step belongs to the receiver of the packet it takes, else to the first member that it names, else to the
   one receiver of the packets that are gone after it, else to the lane of the system.
5. A packet of the initial state comes from its sender, if it names one; else from the only member to which no
   packet of its kind is addressed; else from above.
6. A specification without channels is drawn by its state: beside each step stand the values that it changed.
7. A lifeline ends at the step that emits an event `Crash` of its member, or at the environment's step `crash`
   of it; it goes on from the next step of that member, if there is one.

This module knows no protocol. The modules that draw know only this one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from antiphon.conformance.report.channels import Channels, Packet, Traffic, keys_of, records_of
from antiphon.conformance.report.words import settings
from antiphon.model.changes import beginning, changes
from antiphon.model.notation import compact, short_places
from antiphon.model.trace import Trace
from antiphon.spec.lang import Index, Program, Step, Transition, types

SYSTEM = "system"
"""Name of the lane of steps that belong to no member."""


class Fate(Enum):
    """Fate of a packet until the end of the trace."""

    RECEIVED = "received"
    LOST = "lost"
    FLYING = "flying"


@dataclass(frozen=True)
class Event:
    """Event on a lane at a step. Row 0 is the start, row k the k-th step.

    `label` describes the step without its process and packet; `emits` are the events of the service; `broken`
    is the broken property; `changes` are the changed values; `crash` is True if the lifeline ends here.
    """

    row: int
    lane: int | None
    label: str
    emits: tuple[str, ...] = ()
    broken: str = ""
    fault: bool = False
    changes: tuple[str, ...] = ()
    crash: bool = False


@dataclass(frozen=True)
class Arrow:
    """Packet's arrow from its sending to its reception. `source` None: from above; `target` None: no known
    receiver.

    `end` is the row of its reception or loss, None while it is in flight. `again` is True if an equal packet
    was sent before.
    """

    kind: str
    label: str
    source: int | None
    begin: int
    target: int | None
    end: int | None
    fate: Fate
    again: bool = False


@dataclass(frozen=True)
class Diagram:
    """Lanes by name, events and arrows by lane and row; `rows` steps.

    `shows` and `why` say what the trace shows; `witness` is True for a reached witness instead of a
    violation. `begins` names the initial state if there are several. In a lasso the rows after `loop` repeat
    for ever; if there are none, the run stays in its last state. In a part of a longer run the number of a
    row is greater by `skipped`. `known_kinds` are the kinds of packets that the specification can send.
    """

    title: str
    shows: str
    why: str
    witness: bool
    lanes: tuple[str, ...]
    rows: int
    events: tuple[Event, ...]
    arrows: tuple[Arrow, ...]
    loop: int | None = None
    begins: str = ""
    skipped: int = 0
    known_kinds: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """Return the kinds of packets in the diagram, in order of appearance, with their numbers.

        A kind of `known_kinds` has its place there as its number, so that it looks the same in each part of a
        run; the others follow.
        """
        shown = dict.fromkeys(arrow.kind for arrow in self.arrows)
        every = tuple(dict.fromkeys((*self.known_kinds, *shown)))
        return {kind: every.index(kind) for kind in shown}

    def lifelines(self, lane: int) -> tuple[tuple[int, int | None], ...]:
        """Return the rows between which each member lives; None: to the end of the diagram."""
        lives: list[tuple[int, int | None]] = [(0, None)]
        for event in self.events:
            if event.lane != lane:
                continue
            begin, end = lives[-1]
            if end is not None:
                lives.append((event.row, None))
                begin = event.row
            if event.crash:
                lives[-1] = (begin, event.row)
        return tuple(lives)


def diagram(trace: Trace, name: str = "") -> Diagram:
    """Return the space-time diagram of a trace; `name` is the name of its specification (empty:
    its class).
    """
    return GrowingDiagram(trace, name).of(trace)


@dataclass
class _Flight:
    source: int | None
    begin: int
    again: bool
    read: bool = False
    """True if the packet was received, and stays in a network that only grows."""


class GrowingDiagram:
    """Diagrams of a run that grows: each step of it is drawn once.

    Args:
        trace: the run, or a part of it from its start on; no step is drawn yet.
        name: the name of its specification.
    """

    def __init__(self, trace: Trace, name: str) -> None:
        self.trace, self.name, self.rows = trace, name, 0
        program = trace.program
        self.traffic = Traffic(program)
        self.channels = self.traffic.channels
        self.names = self.channels.names
        self.members = _members(program, self.channels)
        self.lane_of = {member: lane for lane, member in enumerate(self.members)}
        self.faults = {method.name for method in program.declaration.marked("environment")}
        self.witnesses = {
            method.mark.name for method in program.declaration.marked("witness") if method.mark is not None
        }
        self.present = self.traffic.packets(trace.start)
        self.flying: dict[Packet, _Flight] = {}
        self.sent: Counter[tuple[Any, ...]] = Counter()
        self.events: list[Event] = []
        self.arrows: list[Arrow] = []
        self.uses_system = not self.members
        self._begin()

    def of(self, trace: Trace) -> Diagram:
        """Return the diagram of a run that begins with all steps that were drawn so far."""
        self.trace = trace
        for row in range(self.rows + 1, len(trace) + 1):
            self._step(row)
        self.rows = len(trace)
        return self._finish()

    @property
    def system(self) -> int:
        """Index of the system's lane, after those of the members."""
        return len(self.members)

    def _begin(self) -> None:
        """Draw row 0: the packets in flight in the initial state."""
        for packet in self._ordered(self.present):
            self.flying[packet] = _Flight(self._starter(packet), 0, again=False)
            self.sent[packet.letter] += 1
        for lane in sorted({flight.source for flight in self.flying.values() if flight.source is not None}):
            self.events.append(Event(0, lane, "start"))

    def _step(self, row: int) -> None:
        """Draw one step: first the packets that arrive or are lost, then those that the step sends."""
        transition = self.trace.transitions[row - 1]
        before, after = self.present, self.traffic.packets(transition.state)
        self.present = after
        taken = [one for one in before if not one.place and one.content in transition.step.arguments]
        fault = transition.step.action in self.faults
        gone = before - after - set(taken)
        lane = self._lane(transition.step, taken, gone, fault=fault)
        for packet in self._ordered(taken):
            if not fault:
                self._end(packet, row, lane, Fate.RECEIVED, keep=packet in after)
            elif packet not in after:
                self._end(packet, row, self._target(packet), Fate.LOST)
        came = []
        for packet in self._ordered(gone):
            target = self._target(packet)
            if fault or target not in (None, lane):
                self._end(packet, row, target, Fate.LOST)
            else:
                self._end(packet, row, lane, Fate.RECEIVED)
                came += [packet] if packet.place else []
        for packet in self._ordered(after - before):
            self.flying[packet] = _Flight(lane, row, again=self.sent[packet.letter] > 0)
            self.sent[packet.letter] += 1
        if lane is not None:
            self.uses_system |= lane == self.system
        broken = ", ".join(dict.fromkeys(refusal.property for refusal in transition.refused))
        emits = tuple(_event_label(event) for event in transition.events)
        former = self.trace.transitions[row - 2].state if row > 1 else self.trace.start
        changed = () if self.channels else changes(self.trace.program, former, transition.state)
        label = self._label(transition.step, taken, came)
        crash = self.lane_of.get(crash_of(self.trace.program, transition), -1) == lane
        shown = tuple(map(str, changed))
        self.events.append(Event(row, lane, label, emits, broken, fault, shown, crash))

    def _finish(self) -> Diagram:
        """Return the diagram of the steps that were drawn, with the packets still in flight."""
        flying = [
            self._arrow(packet, self.flying[packet], self._target(packet), None, Fate.FLYING)
            for packet in self._ordered(set(self.flying))
            if not self.flying[packet].read
        ]
        trace, events = self.trace, list(self.events)
        witness = trace.shows in self.witnesses
        if trace.shows and not witness and trace.loop is None and events and events[-1].row == len(trace) > 0:
            events[-1] = replace(events[-1], broken=events[-1].broken or trace.shows)
        lanes = (*map(compact, self.members), *((SYSTEM,) if self.uses_system else ()))
        arrows = sorted(
            [*self.arrows, *flying],
            key=lambda arrow: (arrow.begin, arrow.label, arrow.target or 0, arrow.end or len(trace) + 1),
        )
        title = _title(trace, self.name)
        why = short_places(trace.why)
        return Diagram(
            title,
            trace.shows,
            why,
            witness,
            lanes,
            len(trace),
            tuple(events),
            tuple(arrows),
            trace.loop,
            ", ".join(f"{where} = {value}" for where, value in beginning(trace)),
            known_kinds=tuple(_kinds(trace.program, self.channels)),
        )

    # Pieces -------------------------------------------------------------------------------------------------

    def _ordered(self, packets: Iterable[Packet]) -> list[Packet]:
        return sorted(
            packets, key=lambda one: (self.names.index(one.channel), compact(one.content), one.place)
        )

    def _end(self, packet: Packet, row: int, lane: int | None, fate: Fate, *, keep: bool = False) -> None:
        flight = self.flying[packet]
        flight.read = keep
        if not keep:
            del self.flying[packet]
        self.arrows.append(self._arrow(packet, flight, lane, row, fate))

    def _arrow(
        self, packet: Packet, flight: _Flight, target: int | None, end: int | None, fate: Fate
    ) -> Arrow:
        content = packet.content
        return Arrow(
            type(content).__name__ if dataclasses.is_dataclass(content) else packet.channel,
            _packet_label(content),
            flight.source,
            flight.begin,
            target,
            end,
            fate,
            flight.again,
        )

    def _target(self, packet: Packet) -> int | None:
        return self.lane_of.get(packet.receiver)

    def _starter(self, packet: Packet) -> int | None:
        """Return the sender of a packet of the initial state, as far as it is known."""
        if packet.sender in self.lane_of:
            return self.lane_of[packet.sender]
        fellows = {
            self._target(other) for other in self.present if type(other.content) is type(packet.content)
        }
        absent = [lane for lane in range(len(self.members)) if lane not in fellows]
        return absent[0] if len(absent) == 1 and len(fellows) > 1 else None

    def _lane(self, step: Step, taken: list[Packet], gone: set[Packet], *, fault: bool) -> int | None:
        """Return the lane of a step. `taken` are the packets among its arguments, `gone` those that are no
        longer in flight after it.
        """
        named = [
            self.lane_of[argument]
            for argument in step.arguments
            if isinstance(argument, Index) and argument in self.lane_of
        ]
        if taken and not fault:
            target = self._target(taken[0])
            return target if target is not None else named[0] if named else self.system
        if named:
            return named[0]
        receivers = {self._target(packet) for packet in gone} - {None}
        if len(receivers) == 1 and not fault:
            return receivers.pop()
        return None if taken else self.system

    def _label(self, step: Step, taken: list[Packet], came: list[Packet]) -> str:
        packets = {packet.content for packet in taken}
        rest = list(step.arguments)
        owner = next((item for item in rest if isinstance(item, Index) and item in self.lane_of), None)
        if owner is not None and not (packets and any(hasattr(packet, "to") for packet in packets)):
            rest.remove(owner)
        shown = [_packet_label(item) if item in packets else compact(item, inner=True) for item in rest]
        words = [step.action, ", ".join(shown), *(f"← {_packet_label(packet.content)}" for packet in came)]
        return " ".join(filter(None, words))


def crash_of(program: Program, transition: Transition) -> Any:
    """Return the member that crashes in a step; None if none does."""
    for event in transition.events:
        if type(event).__name__ == "Crash":
            return getattr(event, "process", None)
    step = transition.step
    if step.action == "crash" and step.arguments:
        faults = program.declaration.marked("environment")
        return step.arguments[0] if any(method.name == "crash" for method in faults) else None
    return None


def member_of(step: Step) -> Any:
    """Return the member to which a step belongs by its arguments: the receiver of the packet among them, else
    the first member.
    """
    for argument in step.arguments:
        if (receiver := getattr(argument, "to", None)) is not None:
            return receiver
    return next((argument for argument in step.arguments if isinstance(argument, Index)), None)


def _kinds(program: Program, channels: Channels) -> Iterator[str]:
    """Yield the kinds of packets that travel in the channels: records by their names, other values by that of
    the variable.
    """
    kinds = {variable.name: keys_of(variable.type)[1] for variable in program.declaration.variables}
    for name in channels.names:
        of = kinds[name]
        assert isinstance(of, types.SetOf | types.SequenceOf)
        yield from [record.name for record in records_of(of.of)] or [name]


def _members(program: Program, channels: Channels) -> list[Any]:
    """Return the members that have lanes: those of the index type whose steps and messages are drawn."""
    addressed: Counter[types.Type] = Counter()
    ways = {one.variable: one.receiver for one in channels.queues}
    ways |= {one.variable: 0 for one in channels.logs}
    for variable in program.declaration.variables:
        keys, _ = keys_of(variable.type)
        if variable.name in channels.sets and isinstance(variable.type, types.SetOf):
            for record in records_of(variable.type.of):
                addressed.update(
                    kind for name, kind in record.fields if name == "to" and isinstance(kind, types.IndexType)
                )
        elif (place := ways.get(variable.name)) is not None:
            addressed[keys[place]] += 1
    if not addressed:
        keyed = {key for variable in program.declaration.variables for key in keys_of(variable.type)[0]}
        actions = program.declaration.marked("action")
        first = [method.parameters[0].type for method in actions if method.parameters]
        addressed.update(kind for kind in first if isinstance(kind, types.IndexType) and kind in keyed)
    if not addressed:
        return []
    return list(program.domain(addressed.most_common(1)[0][0]))


def _packet_label(packet: Any) -> str:
    """Return the text of a packet without its receiver, which the arrow shows."""
    if not dataclasses.is_dataclass(packet):
        return compact(packet)
    contents = [
        getattr(packet, item.name) for item in dataclasses.fields(packet) if item.name not in ("to", "sender")
    ]
    if len(contents) == 1 and dataclasses.is_dataclass(contents[0]):
        return type(packet).__name__ + compact(contents[0], inner=True)
    fields = [compact(item, inner=True) for item in contents]
    return f"{type(packet).__name__}({', '.join(fields)})" if fields else type(packet).__name__


def _event_label(event: Any) -> str:
    """Return the text of an event without its process: `deliver m1`."""
    if not dataclasses.is_dataclass(event):
        return compact(event)
    fields = [
        compact(getattr(event, item.name)) for item in dataclasses.fields(event) if item.name != "process"
    ]
    return " ".join([type(event).__name__.lower(), *fields])


def _title(trace: Trace, called: str) -> str:
    program = trace.program
    defaults = {item.name: item.default for item in program.declaration.constants if not item.repair}
    shown = {
        name: program.constants[name]
        for name, default in defaults.items()
        if type(default) is int or (program.constants[name] != default and name not in program.restrictions)
    }
    on = [item.name for item in program.declaration.constants if item.repair and program.constants[item.name]]
    known = [item.name for item in program.declaration.constants if item.repair]
    if not known:
        text = ""
    elif not on:
        text = "literal text"
    else:
        text = "all repairs" if len(on) == len(known) else f"{len(on)} of {len(known)} repairs"
    return " · ".join(part for part in (called or program.name, ", ".join(settings(shown)), text) if part)
