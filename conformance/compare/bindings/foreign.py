"""Binding of a specification and a program in any language, which takes steps by a protocol of JSON lines.

1. Without `nodes` one process of the program is the whole system. A step is `do: {"action": arguments}`, and
   the state that the program tells has all variables.
2. With `nodes`, the name of an index of the specification, each of its members is a process of the program. A
   step goes to the process that is its argument. A step that takes a packet out of the set `network` is
   `do: {"receive": {"src", "body"}}` at the process that the packet's field `to` names. A record and a
   datagram belong together by the record's name and fields; `to` is the receiver, `sender` the sender. The
   state of a process has its own values of the maps over the index.
3. An action of the environment that takes a packet concerns the network alone.
4. A program that takes snapshots is put back by them. Any other is run again from the start, on one way to
   each state of the specification.
5. Of `guarded` actions the program itself must refuse every step that the specification does not enable: it
   is asked for all of them, in each of its states.
6. Whatever the program does wrong is a finding about it: `Misreports`, or `Refused`.

Time stands still at 0: the specification decides when a timer expires. This module knows no protocol.
"""

from __future__ import annotations

import dataclasses
import itertools
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from antiphon.conformance.adapters.child import CommandError
from antiphon.conformance.adapters.messages import node_name
from antiphon.conformance.adapters.node import REPLY_SECONDS, Declined, Done, Misbehaves, Node, Watch
from antiphon.conformance.compare.bindings.binding import (
    EVENTS,
    Bound,
    Effect,
    Forgets,
    Misreports,
    Refused,
    Stimulus,
    Unsteady,
)
from antiphon.conformance.compare.bindings.foreign_values import (
    KIND,
    as_json,
    as_plain,
    canonical,
    told_name,
)
from antiphon.conformance.compare.bindings.guarded import BindingError
from antiphon.conformance.compare.bindings.links import Link
from antiphon.conformance.compare.bindings.plain_values import Strange, meant
from antiphon.spec.lang import Program, Step, ir
from antiphon.spec.lang.hints import did_you_mean, known_names
from antiphon.spec.lang.types import Domain, IndexType, MapOf, Record, Type
from antiphon.spec.lang.watch import working

NETWORK = "network"
"""Variable that is the set of packets in flight, where there is one."""

ASKED_MAX = 10_000
"""Largest number of steps of guarded actions that a process is asked for in a state."""


@dataclasses.dataclass(frozen=True)
class Foreign:
    """Program in any language, and the facts that join it to a specification.

    Attributes:
        command: the words of the command that starts it.
        nodes: the index whose members are its processes; "" where one process is the whole system.
        exempt: variables that are not compared, or "events", each with the reason in four words or more.
        guarded: the actions whose guard the program has itself.
        reply_s: seconds that it may take for a reply.
    """

    command: tuple[str, ...]
    nodes: str = ""
    exempt: Mapping[str, str] = dataclasses.field(default_factory=dict)
    guarded: frozenset[str] = frozenset()
    reply_s: float = REPLY_SECONDS


def foreign_bound(program: Program, foreign: Foreign) -> Bound:
    """Bind a program, with the constants of the specification or with others in their place."""

    def bind(*, fault: str | None = None, **constants: Any) -> ForeignBinding:
        assert fault is None, "a program has no planted faults"
        return ForeignBinding(program.with_constants(**constants) if constants else program, foreign)

    return Bound(bind)


@dataclasses.dataclass(frozen=True, eq=False)
class Standing:
    """State of a process: the steps that led to it first, its snapshot, and its observed values.

    Attributes:
        way: what it did, from its start: the `do` of each step, as JSON.
        kept: its snapshot, as JSON; None for a program without snapshots.
        view: the value of each compared variable.
    """

    way: tuple[bytes, ...]
    kept: bytes | None
    view: Mapping[str, object]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Standing) and (self._key, self.view) == (other._key, other.view)

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> object:
        return self.way if self.kept is None else self.kept


class ForeignBinding:
    """Binding of a program in any language; `Binding` documents the methods."""

    links: tuple[Link, ...] = ()
    ordered = False

    def __init__(self, program: Program, foreign: Foreign) -> None:
        """Start the program once, to learn what it can.

        Raises:
            BindingError: it cannot be started, cannot take steps, or does not fit the specification.
        """
        self.program, self.exempt, self.internal = program, foreign.exempt, foreign.guarded
        self.restores = 0
        self._foreign = foreign
        self._watch: Watch | None = None
        self.whole = not foreign.nodes
        self._index = _index_named(program, foreign.nodes) if foreign.nodes else None
        self.members = 1 if self._index is None else self._index.cardinality
        self._names = tuple(map(node_name, range(self.members)))
        self._actions = {action.name: action for action in program.module.actions}
        self._domains = {
            name: tuple(program.domain(item.type) for item in action.parameters)
            for name, action in self._actions.items()
        }
        self._within = {
            method.name: tuple(item.within for item in method.parameters)
            for method in program.declaration.marked("action", "environment")
        }
        has_network = self._index is not None and NETWORK in program.variables
        self.channel = NETWORK if has_network and NETWORK not in foreign.exempt else ""
        self._packets = _records(program, self.channel)
        self._emitted = _emitted(program)
        self._consuming = frozenset(filter(self._consumes, self._actions))
        self._see()
        self._home = Path(mkdtemp(prefix="antiphon-"))
        self._nodes: dict[int, Node] = {}
        self._close = weakref.finalize(self, _end, self._nodes, self._home)
        self._here: dict[int, Standing | None] = {}
        self._stood: dict[int, Standing] = {}
        self._wrong: dict[object, Misreports] = {}
        self._offered: dict[tuple[int, Standing], frozenset[Step]] = {}
        self.one_way = True
        try:
            self.one_way = "snapshot" not in self._node(0).can
        except Misreports as wrong:
            self._wrong[0, None] = wrong  # the walk begins with it

    def _see(self) -> None:
        """Raise BindingError if the program cannot be compared with the specification."""
        for name in self.exempt:
            if name not in (*self.program.variables, EVENTS):
                known = did_you_mean(name, self.program.variables)
                raise BindingError(f"{name!r} is exempt, which {self.program.name} does not have{known}")
            if len(self.exempt[name].split()) < 4:
                raise BindingError(f"{name!r} is exempt: say why, in four words or more")
        for name in self.internal:
            if name not in self._actions:
                known = known_names(name, sorted(self._actions))
                raise BindingError(f"{self.program.name} has no action {name!r} to be guarded; {known}")
        for name in self._compared():
            kind = self.program.domains[name].type
            if self._index is not None and not (isinstance(kind, MapOf) and kind.key == self._index.type):
                raise BindingError(
                    f"{name} is no map over {self._foreign.nodes}, so that no process has it: exempt it with "
                    "the reason"
                )
        for name in self._actions:
            if self._index is not None and self._packet_at(name) is None and self._node_at(name) is None:
                raise BindingError(f"{name} names no {self._foreign.nodes}, so that no process takes it")

    # Binding ------------------------------------------------------------------------------------------------

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`: its snapshot, and the packets that it sends at once."""
        self._here[me] = None
        if (known := self._wrong.get((me, None))) is not None:
            raise known
        try:
            done = self._fresh(me)
            return self._effect(me, (), done)
        except Misreports as wrong:
            self._wrong[me, None] = wrong
            raise

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that a step concerns: the receiver of its packet, else the
        process in its arguments.
        """
        if self._index is None:
            return Stimulus(0)
        packet_at, node_at = self._packet_at(step.action), self._node_at(step.action)
        consumed = step.action in self._consuming
        if packet_at is None:
            assert node_at is not None, "seen at the beginning"
            return Stimulus(step.arguments[node_at].index)
        packet = step.arguments[packet_at]
        if self._actions[step.action].fault:
            return Stimulus(None, packet, consumed)
        return Stimulus(packet.to.index, packet, consumed)

    def perform(self, me: int, snapshot: Standing, step: Step, datagram: bytes | None) -> Effect:
        """Let process `me` take the step.

        Raises:
            Refused: it answers with an error.
            Misreports: it breaks the protocol, or its state has no meaning.
            Unsteady: the same steps lead to another state.
        """
        if (known := self._wrong.get((me, snapshot, step, datagram))) is not None:
            raise known
        do = self._do(step, datagram)
        try:
            if self._stood.get(me) is not snapshot:
                self.restores += 1
            node = self._at(me, snapshot)
            self._here[me] = None
            done = self._take(node, me, do)
            return self._effect(me, (*snapshot.way, do), done)
        except Declined as declined:
            self._here[me] = self._stood[me] = snapshot
            told = f", {declined.text}" if declined.text else ""
            raise Refused(f"error {declined.code}{told}") from declined
        except Misreports as wrong:
            self._wrong[me, snapshot, step, datagram] = wrong  # nobody waits for it again
            raise

    def drive(self, me: int, snapshot: Standing, step: Step | None, datagram: bytes | None) -> None:
        """Do nothing: the program is its own shell."""

    def offers(self, me: int, snapshot: Standing) -> frozenset[Step]:
        """Return the steps of the actions listed as `guarded` that the program accepts in this state. Every
        such step is tried on it, whether the specification allows it or not.
        """
        found = self._offered.get((me, snapshot))
        if found is None:
            found = frozenset(step for step in self._asked(me) if self._takes(me, snapshot, step))
            self._offered[me, snapshot] = found
        return found

    def project(self, me: int, snapshot: Standing) -> Mapping[str, object]:
        """Return the values of the variables in the state that the process reported."""
        del me
        return snapshot.view

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value that the one process reports."""
        del variable
        return shares[0]

    def close(self) -> None:
        """End all processes, and remove what they have kept."""
        self._close()

    # Steps --------------------------------------------------------------------------------------------------

    def _packet_at(self, action: str) -> int | None:
        """Return the index of the argument that is a packet in flight, or None."""
        return next(
            (at for at, within in enumerate(self._within[action]) if within and within == self.channel), None
        )

    def _node_at(self, action: str) -> int | None:
        """Return the index of the argument that is a process, or None."""
        kinds = [item.type for item in self._actions[action].parameters]
        return next((at for at, kind in enumerate(kinds) if self._index and kind == self._index.type), None)

    def _consumes(self, action: str) -> bool:
        """Return True if the text of an action takes something out of the set of packets."""
        return any(
            isinstance(node, ir.Assign)
            and node.variable == self.channel
            and isinstance(node.value, ir.SetBinary)
            and node.value.operator is ir.SetOperation.DIFFERENCE
            for node in _nodes(self._actions[action].body)
        )

    def _do(self, step: Step, datagram: bytes | None) -> bytes:
        if datagram is not None:
            return b'{"receive":' + datagram + b"}"
        action, node_at = self._actions[step.action], self._node_at(step.action)
        arguments = {
            item.name: as_json(value)
            for at, (item, value) in enumerate(zip(action.parameters, step.arguments, strict=True))
            if at != node_at
        }
        return canonical({step.action: arguments})

    def _asked(self, me: int) -> Iterator[Step]:
        """Yield the steps of guarded actions that are to be tried at process `me`."""
        for name in sorted(self.internal):
            domains, node_at = self._domains[name], self._node_at(name)
            if self._packet_at(name) is not None:
                raise BindingError(f"{name} takes a packet, so that the network guards it, and no process")
            count = 1
            for at, domain in enumerate(domains):
                count *= 1 if at == node_at else domain.cardinality
            if count > ASKED_MAX:
                raise BindingError(f"{name} has {count:,} steps in a state; at most {ASKED_MAX:,} are tried")
            choices = [
                [domain.value(me)] if at == node_at else list(domain) for at, domain in enumerate(domains)
            ]
            yield from (Step(name, arguments) for arguments in itertools.product(*choices))

    def _takes(self, me: int, snapshot: Standing, step: Step) -> bool:
        """Try the step in this state, and return True if the process takes it. The process is put back before
        its next use.
        """
        node = self._at(me, snapshot)
        try:
            self._take(node, me, self._do(step, None))
        except Declined:
            return False
        self._here[me] = None
        return True

    # Processes ----------------------------------------------------------------------------------------------

    def watched_by(self, watch: Watch) -> None:
        """Show what the processes are given, and their states, from now on."""
        self._watch = watch
        for node in self._nodes.values():
            node.watch = watch

    def _node(self, me: int) -> Node:
        """Return the running process; start it if it does not run. Raise Misreports if it does not begin as
        the protocol says.
        """
        if me not in self._nodes:
            command, name = self._foreign.command, self._names[me]
            try:
                node = Node(
                    command, name, self._names, self._home, reply_s=self._foreign.reply_s, watch=self._watch
                )
            except CommandError as error:
                raise BindingError(str(error)) from error
            self._nodes[me] = node
            with self._finding(me):
                node.init()
            if lacking := {"step", "state"} - node.can:
                told = f"{' '.join(command)} does not say that it can {' and '.join(sorted(lacking))}"
                raise BindingError(
                    f"{told} (`antiphon` of its init_ok), which lockstep needs; `antiphon adapter run` "
                    "judges a black box"
                )
        return self._nodes[me]

    def _finding(self, me: int) -> _Finding:
        return _Finding(self, me)

    def _drop(self, me: int) -> None:
        """End a process that does not follow the protocol."""
        self._here[me] = None
        if (node := self._nodes.pop(me, None)) is not None:
            node.child.kill()
            node.end(0.0)

    def _take(self, node: Node, me: int, do: bytes) -> Done:
        working("walking", large=True)
        with self._finding(me):
            return node.step(msgspec.Raw(do))

    def _fresh(self, me: int) -> Done:
        """Put process `me` into its initial state."""
        node = self._nodes.get(me)
        if node is not None and "restart" not in node.can:
            self._drop(me)
        elif node is not None:
            node.clear_disk()
            return self._begun(node, me, b'{"restart":{"memory":false,"disk":false}}')
        node = self._node(me)
        return self._begun(node, me, b"{}")

    def _begun(self, node: Node, me: int, do: bytes) -> Done:
        try:
            return self._take(node, me, do)
        except Declined as declined:
            raise Misreports(f"{node.name} cannot begin", "a state", str(declined)) from declined

    def _at(self, me: int, standing: Standing) -> Node:
        """Return process `me`, put into the state of `standing`."""
        if self._here.get(me) is standing and me in self._nodes:
            return self._nodes[me]
        self._here[me] = None
        if standing.kept is not None:
            node = self._node(me)
            with self._finding(me):
                node.ask({"type": "antiphon.restore", "snapshot": msgspec.Raw(standing.kept)})
            view = self._view(me, self._begun(node, me, b"{}"), standing.way)
            for name, value in view.items():
                if value != standing.view[name]:
                    told = f"a restored snapshot does not bring back {name}"
                    raise Forgets(told, standing.view[name], value)
        else:
            done = self._fresh(me)
            for do in standing.way:
                try:
                    done = self._take(self._nodes[me], me, do)
                except Declined as declined:
                    raise Unsteady from declined
            if self._view(me, done, standing.way) != standing.view:
                raise Unsteady
        self._here[me] = self._stood[me] = standing
        return self._nodes[me]

    # What it says -------------------------------------------------------------------------------------------

    def _effect(self, me: int, way: tuple[bytes, ...], done: Done) -> Effect:
        node, kept = self._nodes[me], None
        view = self._view(me, done, way)
        if not self.one_way:
            with self._finding(me):
                kept = canonical(node.ask({"type": "antiphon.snapshot"})[0].body["snapshot"])
        standing = self._here[me] = self._stood[me] = Standing(way, kept, view)
        sent = tuple(self._packet(me, heard.dest, heard.body) for heard in done.of("datagram"))
        events = tuple(self._event(me, heard.body) for heard in done.of("event"))
        return Effect(standing, sent if self.channel else (), events)

    def _compared(self) -> list[str]:
        network = {NETWORK} if self._index is not None else set()
        return [name for name in self.program.variables if name not in {*self.exempt, *network}]

    def _view(self, me: int, done: Done, way: tuple[bytes, ...]) -> Mapping[str, object]:
        """Return the value of each compared variable in the state that the process reported after these
        steps.

        Raises:
            Misreports: the state of a later step has other variables than the first.
            BindingError: the first state has other variables than the specification.
        """
        state = done.state or {}
        compared = self._compared()
        if missing := [name for name in compared if name not in state]:
            it = "it" if len(missing) == 1 else "them"
            said = f"says nothing of {', '.join(missing)}: let it, or exempt {it} with the reason"
            raise self._misfit(me, said, way)
        if strange := [name for name in state if name not in self.program.variables]:
            known = did_you_mean(strange[0], self.program.variables)
            names = list(map(repr, strange))
            said = f"speaks of {', '.join(names)}, which {self.program.name} does not have{known}"
            raise self._misfit(me, said, way)
        return {name: _value(self._domain(name), state[name]) for name in compared}

    def _misfit(self, me: int, said: str, way: tuple[bytes, ...]) -> Misreports | BindingError:
        whose = f"the state of {self._names[me]}"
        if way:
            return Misreports(f"{whose} is wrong", "right, as before", said)
        return BindingError(f"{whose} {said}")

    def _domain(self, name: str) -> Domain:
        domain = self.program.domains[name]
        return domain if self._index is None else domain.parts[1]

    def _packet(self, me: int, dest: str, body: Mapping[str, Any]) -> tuple[object, bytes]:
        """Return the specification's packet for a datagram, and the bytes that its receiver will get."""
        datagram = canonical({"src": self._names[me], "body": body})
        receiver = self._names.index(dest)
        for record in self._packets:
            if told_name(_named(record)) == body.get("type"):
                ends = {"to": receiver, "sender": me}
                own = {name for name, _ in _fields(record)}
                found = {name: end for name, end in ends.items() if name in own}
                given = {name: item for name, item in body.items() if name != KIND or KIND in own}
                return _value(record, {**given, **found}), datagram
        return Strange(dict(body)), datagram

    def _event(self, me: int, body: Mapping[str, Any]) -> object:
        """Return the specification's event that a process reported; the process is added to the fields."""
        for record in self._emitted:
            if told_name(_named(record)) == body["kind"]:
                given: dict[str, Any] = {}
                for name, kind in _fields(record):
                    if name in body:
                        given[name] = body[name]
                    elif self._index is not None and kind == self._index.type:
                        given[name] = me
                return _value(record, given)
        return Strange({name: item for name, item in body.items() if name != "type"})


class _Finding:
    """Context that turns a breach of the protocol in it into a finding, and ends the process."""

    def __init__(self, binding: ForeignBinding, me: int) -> None:
        self._binding, self._me = binding, me

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, Misbehaves):
            self._binding._drop(self._me)
            told = Misreports(f"{error.node} {error.what}", "answers as the protocol has it", Told(error))
            raise told from error


class Told(Strange):
    """Invalid line that a program wrote, with the lines that led to it."""

    __slots__ = ()

    def __init__(self, error: Misbehaves) -> None:
        self.text = "\n    ".join([error.line or "nothing", *error.shown().splitlines()[1:]])


def _value(domain: Domain, value: Any) -> Any:
    return meant(domain, as_plain(domain, value))


def _nodes(part: object) -> Iterator[object]:
    """Yield every node of the intermediate form below this one."""
    if isinstance(part, tuple):
        for item in part:
            yield from _nodes(item)
    elif dataclasses.is_dataclass(part) and not isinstance(part, type | Type):
        yield part
        for item in dataclasses.fields(part):
            yield from _nodes(getattr(part, item.name))


def _emitted(program: Program) -> tuple[Domain, ...]:
    """Return the types of the records that a program emits."""
    module = program.module
    kinds = {
        node.event.type
        for body in (*module.actions, *module.procedures)
        for node in _nodes(body)
        if isinstance(node, ir.Emit)
    }
    return tuple(program.domain(kind) for kind in kinds if isinstance(kind, Record))


def _records(program: Program, channel: str) -> tuple[Domain, ...]:
    """Return the types of the records that can be in the set of packets.

    Raises:
        BindingError: one of them does not say to whom it goes.
    """
    if not channel:
        return ()
    (element,) = program.domains[channel].parts
    found = (element,) if isinstance(element.type, Record) else element.parts
    for record in found:
        if not isinstance(record.type, Record) or "to" not in dict(record.type.fields):
            raise BindingError(f"{_named(record)} in {channel} has no field `to`, which names its receiver")
    return found


def _named(domain: Domain) -> str:
    return getattr(domain.type, "name", "a value")


def _fields(domain: Domain) -> tuple[tuple[str, Type], ...]:
    return domain.type.fields if isinstance(domain.type, Record) else ()


def _index_named(program: Program, name: str) -> Domain:
    """Return the domain of an index of the specification.

    Raises:
        BindingError: it has none of this name.
    """
    kinds = [variable.type for variable in program.module.variables]
    kinds += [item.type for action in program.module.actions for item in action.parameters]
    found = {kind.name: kind for kind in _types(kinds) if isinstance(kind, IndexType)}
    if name not in found:
        raise BindingError(f"{program.name} has no index {name!r}; {known_names(name, sorted(found))}")
    return program.domain(found[name])


def _types(kinds: Sequence[object]) -> Iterator[Type]:
    """Yield types, and the types of which they are made."""
    for kind in kinds:
        if isinstance(kind, Type):
            yield kind
            yield from _types([getattr(kind, item.name) for item in dataclasses.fields(kind)])
        elif isinstance(kind, tuple):
            yield from _types(kind)


def _end(nodes: Mapping[int, Node], home: Path) -> None:
    for node in nodes.values():
        node.end()
    shutil.rmtree(home, ignore_errors=True)
