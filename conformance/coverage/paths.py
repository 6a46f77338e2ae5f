"""Reader of a run of real cores as a path of the bounded model, as far as the run stays within it.

1. Each call or action of a core is matched with the one step that the model enables for it in the path's
  state: a reception by the packet that the message stands for, a timer by its name, a lost message by the
  packet that is lost, when it is sent. Internal steps of a process follow each of these, as cores take them.
2. Where no step is enabled, or several match, the path ends: the rest of the run is outside of the model, and
    does not count.
3. Whenever a core is at rest, its projected values are compared with the state of the path, variable by
    variable. A path ends where they differ: a matching name alone does not count as exercise.

This module knows no protocol; the binding does.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from antiphon.conformance.compare.bindings import Binding, binding_of
from antiphon.conformance.compare.bindings.binding import Refused, Stimulus
from antiphon.conformance.compare.bindings.core_binding import SENDING, CoreBinding, payload_of
from antiphon.conformance.coverage.document import named
from antiphon.conformance.run.swarm import (
    Broadcasts,
    Deed,
    Receives,
    Rests,
    Sends,
    Settings,
    Steps,
    core_calls_of,
)
from antiphon.model.engines import transitions_of
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Step
from antiphon.spec.lang.types import MapOf
from antiphon.spec.services import Message

__all__ = ["Path", "Reader", "Transition", "transitions_of_swarm"]


class Transition(NamedTuple):
    """Transition of the model, from packed state to packed state, by the step with this number."""

    before: int
    number: int
    after: int


@dataclass(frozen=True)
class Path:
    """Part of a run that is a path of the model. `left` is the event at which the run left the model,
    `outside` the number of broadcasts, receptions and steps from there on.
    """

    transitions: list[Transition] = field(default_factory=list)
    left: str = ""
    outside: int = 0


class _Left(Exception):
    """Signal that a run leaves the model, with the event at which it does."""


class _Known(NamedTuple):
    """Step of the model, with the process and the packet that it concerns."""

    step: Step
    stimulus: Stimulus
    internal: bool


class Reader:
    """Reader of runs as paths of the bounded model of one binding."""

    def __init__(self, binding: CoreBinding[Any]) -> None:
        self.binding = binding
        self.edges = transitions_of(binding.program)
        (start,) = self.edges.program.reference.initial()
        self.start = self.edges.pack(start)
        self.timed = {action.name for action in binding.program.module.actions}.difference(binding.internal)
        self._moves: dict[int, list[tuple[int, int]]] = {}
        self._known: list[_Known] = []

    def path(self, deeds: Sequence[Deed]) -> Path:
        """Return the path of one run."""
        walk, at = _Walk(self), 0
        try:
            walk.begin()
            for at, deed in enumerate(deeds):
                walk.take(deed, deeds[at + 1 :])
        except _Left as left:
            outside = sum(isinstance(deed, Broadcasts | Receives | Steps) for deed in deeds[at:])
            return Path(walk.done, str(left), outside)
        return Path(walk.done)

    def moves(self, state: int) -> list[tuple[int, int]]:
        """Return every step from a state, and its target."""
        found = self._moves.get(state)
        if found is None:
            found = self._moves[state] = self.edges.successors(state)
        return found

    def known(self, number: int) -> _Known:
        """Return the step with this number."""
        while number >= len(self._known):
            step = self.edges.step(len(self._known))
            internal = step.action in self.binding.internal
            self._known.append(_Known(step, self.binding.stimulus(step), internal))
        return self._known[number]


class _Walk:
    """Walk through the deeds (calls and actions of cores) of one run, with the present state of its path."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._binding = reader, reader.binding
        self.state = reader.start
        self.done: list[Transition] = []
        self._names: dict[bytes, bytes] = {}
        self._flying: Counter[object] = Counter()

    def begin(self) -> None:
        """Take the internal steps that are enabled in the initial state. Raises _Left."""
        for process in range(self._binding.members):
            self._settle(process, ())

    def take(self, deed: Deed, later: Sequence[Deed]) -> None:
        """Take the step of the model that matches a deed, then internal steps; `later` are the deeds that
        follow. Raise _Left unless exactly one step matches.
        """
        match deed:
            case Broadcasts(process=me, payload=payload):
                self._one(self._enabled(me, lambda k: k.step.action in SENDING)[:1], "broadcast")
                number = self.done[-1].number
                message = next(a for a in self._reader.known(number).step.arguments if isinstance(a, Message))
                self._names[payload] = payload_of(message)
                self._settle(me, later)
            case Receives(process=me, name=(sender, _, _), message=message):
                packet = self._packet(sender, me, message)
                self._flying[packet] -= 1
                self._one(self._enabled(me, lambda k: _takes(k, sender, packet)), f"receive {_kind(message)}")
                self._settle(me, later)
            case Steps(process=me, action=action) if action in self._reader.timed:
                self._one(self._enabled(me, lambda k: k.step.action == action), action)
                self._settle(me, later)
            case Sends(process=me, name=(_, _, to), message=message, arrives=arrives):
                packet = self._packet(me, to, message)
                self._flying[packet] += arrives
                if packet is not None and not self._flying[packet]:
                    lost = self._enabled(None, lambda k: k.stimulus.packet == packet)
                    self._one(lost, f"lose {_kind(message)}")
            case Rests(process=me, snapshot=snapshot):
                self._settle(me, later)
                self._compare(me, snapshot)

    def _enabled(self, me: int | None, wanted: Callable[[_Known], bool]) -> list[tuple[int, int]]:
        """Return the enabled steps of a process, or of the environment, that match a condition."""
        known = self._reader.known
        return [
            (number, after)
            for number, after in self._reader.moves(self.state)
            if known(number).stimulus.process == me and wanted(known(number))
        ]

    def _one(self, moves: Sequence[tuple[int, int]], what: str) -> None:
        """Take the single step in a list; raise _Left unless it has exactly one."""
        if len(moves) != 1:
            raise _Left(f"{what}: {'not enabled' if not moves else 'several steps are meant'}")
        ((number, after),) = moves
        self.done.append(Transition(self.state, number, after))
        self.state = after

    def _settle(self, me: int, later: Sequence[Deed]) -> None:
        """Take the internal steps of a process; if several are enabled, take the one that the core
        reported.
        """
        told = deque(_internal_steps_of(me, later, self._binding))
        while moves := self._enabled(me, lambda k: k.internal):
            if len(moves) > 1 and told:
                action = told[0]
                moves = [move for move in moves if self._reader.known(move[0]).step.action == action]
            self._one(moves, "a step of its own")
            if told and self._reader.known(self.done[-1].number).step.action == told[0]:
                told.popleft()

    def _packet(self, sender: int, to: int, message: Any) -> object:
        """Return the specification's packet for a message of a core, whose payloads are replaced by those of
        the model.
        """
        if not self._binding.channel:
            return None
        try:
            return self._binding.packet(sender, to, _renamed(message, self._names))
        except Refused as refused:
            raise _Left(f"{_kind(message)}: no packet of the model") from refused

    def _compare(self, me: int, snapshot: Any) -> None:
        """Raise _Left unless the snapshot of a core at rest has the values of the path's state."""
        program = self._binding.program
        shown = self._binding.project(me, _renamed(snapshot, self._names))
        state = dict(zip(program.variables, self._reader.edges.unpack(self.state), strict=True))
        for name, value in shown.items():
            if isinstance(program.domains[name].type, MapOf) and state[name][me] != value:
                raise _Left(f"{name}: the core stands elsewhere")


def _internal_steps_of(me: int, later: Iterable[Deed], binding: Binding) -> Iterable[str]:
    """Yield the names of the internal steps that the process takes next without an interruption."""
    for deed in later:
        if not (isinstance(deed, Steps) and deed.process == me and deed.action in binding.internal):
            return
        yield deed.action


def _takes(known: _Known, sender: int, packet: object) -> bool:
    """Return True if a step of the model receives this packet from this sender."""
    link = known.stimulus.link
    if link is not None:
        return link.sender == sender
    return known.stimulus.packet is not None and known.stimulus.packet == packet


def _kind(message: Any) -> str:
    return type(message).__name__


def _renamed(value: Any, names: dict[bytes, bytes]) -> Any:
    """Replace the payloads in a message or a snapshot by those of the model."""
    match value:
        case bytes():
            return names.get(value, value)
        case msgspec.Struct():
            fields = {name: _renamed(getattr(value, name), names) for name in value.__struct_fields__}
            return msgspec.structs.replace(value, **fields)
        case tuple():
            items = [_renamed(item, names) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def transitions_of_swarm(
    core: str, constants: Mapping[str, Any], seeds: Iterable[int], settings: Settings
) -> tuple[Counter[str], set[tuple[str, str]]]:
    """Take the runs of these seeds, read each as a path of the model with these constants, and return how
    often they took each action, and the names of the transitions with their actions.

    Raises:
        SpecError: as `core_calls_of`.
        TypeError: the binding does not say which packet a message stands for.
    """
    binding = binding_of(core, **constants)
    if not isinstance(binding, CoreBinding):
        raise TypeError(f"the binding of {core} does not say which packet a message stands for")
    reader = Reader(binding)
    actions, taken = Counter[str](), set[tuple[str, str]]()
    for seed in seeds:
        for before, number, _ in reader.path(core_calls_of(core, seed, settings)[1]).transitions:
            step = reader.edges.step(number)
            actions[step.action] += 1
            taken.add((step.action, named(before, compact_step(step))))
    return actions, taken
