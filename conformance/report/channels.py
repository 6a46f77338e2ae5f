"""Channels of a specification: the variables in which its messages travel, read from its text.

1. A set is a channel if it holds records that an action takes as `Annotated[.., In(variable)]`, or records
   with a field `to`.
2. A queue is a sequence, alone or in a map by one or two members, from whose head an action takes, and to
   whose end another member appends. In `channel[q][p]` the receiver is the key of the member that takes;
   a sequence from which the same member takes that appends is a list of its own, and no channel.
3. A log is a sequence of records for each member, which every member reads at its own place: an expression
   `log[s][place[s][p]]` shows that. An entry travels to `p` until the place of `p` is behind it.

A step belongs to the first member that its action names. Nothing is executed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary

from antiphon.spec.lang import Program, State, ir, types
from antiphon.spec.lang.walk import nodes

Keys = tuple[str | None, ...]
"""Parameters of an action that are the keys of an access; None: another expression."""


@dataclass(frozen=True)
class Queue:
    """Queue in a variable; `receiver` is the receiver's place among its keys, None if no key names it."""

    variable: str
    receiver: int | None


@dataclass(frozen=True)
class Log:
    """Log in a variable; the variable `place` says how much of it each member has read."""

    variable: str
    place: str


@dataclass(frozen=True)
class Channels:
    """Channels of a program, by kind, in order of declaration."""

    sets: tuple[str, ...]
    queues: tuple[Queue, ...]
    logs: tuple[Log, ...]

    def __bool__(self) -> bool:
        return bool(self.sets or self.queues or self.logs)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the variables, sets first."""
        return (*self.sets, *(one.variable for one in self.queues), *(one.variable for one in self.logs))


_found: WeakKeyDictionary[Program, Channels] = WeakKeyDictionary()


def channels_of(program: Program) -> Channels:
    """Return the channels of a program."""
    if program not in _found:
        _found[program] = Channels(tuple(_sets(program)), tuple(_queues(program)), tuple(_logs(program)))
    return _found[program]


def records_of(kind: types.Type) -> tuple[types.Record, ...]:
    """Return the records that values of a type may be."""
    if isinstance(kind, types.Union):
        return kind.records
    return (kind,) if isinstance(kind, types.Record) else ()


def keys_of(kind: types.Type) -> tuple[tuple[types.IndexType, ...], types.Type]:
    """Return the types of members by which a variable is a map, and the type of its values."""
    keys: list[types.IndexType] = []
    while isinstance(kind, types.MapOf) and isinstance(kind.key, types.IndexType):
        keys.append(kind.key)
        kind = kind.value
    return tuple(keys), kind


def _sets(program: Program) -> Iterator[str]:
    within = {
        parameter.within
        for method in program.declaration.marked("action", "environment")
        for parameter in method.parameters
    }
    for variable in program.declaration.variables:
        if isinstance(variable.type, types.SetOf) and (records := records_of(variable.type.of)):
            addressed = any(name == "to" for record in records for name, _ in record.fields)
            if variable.name in within or addressed:
                yield variable.name


# Queues -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Access:
    """Access of an action to a sequence: it takes from the head, or appends to the end."""

    action: str
    actor: str | None
    keys: Keys
    takes: bool

    @property
    def own(self) -> tuple[bool, ...]:
        """Return, for each key of the access, whether it is the member to which the step belongs."""
        return tuple(key is not None and key == self.actor for key in self.keys)


def _queues(program: Program) -> Iterator[Queue]:
    accesses = _accesses(program.module)
    for variable in program.declaration.variables:
        keys, value = keys_of(variable.type)
        found = accesses.get(variable.name, [])
        if not isinstance(value, types.SequenceOf) or len(keys) > 2 or len(set(keys)) > 1:
            continue
        takers, givers = ([one for one in found if one.takes is takes] for takes in (True, False))
        receiver = _receiver(takers, givers)
        if receiver is not None or _passed_on(len(keys), takers, givers):
            yield Queue(variable.name, receiver)


def _receiver(takers: list[_Access], givers: list[_Access]) -> int | None:
    """Return the index of the key that names the receiver of a queue: it is the acting member where an action
    takes, and another member where an action appends.
    """
    for taker in takers:
        if len(taker.keys) == 2 and None not in taker.keys and taker.own == (False, True):
            return 1
        for place, own in enumerate(taker.own):
            if own and any(one.keys[place] is not None and not one.own[place] for one in givers):
                return place
    return None


def _passed_on(keys: int, takers: list[_Access], givers: list[_Access]) -> bool:
    """Return True if an action takes what another action appends, and no key distinguishes the two
    members.
    """
    if keys:
        return any(None not in taker.keys and not any(taker.own) for taker in takers) and bool(givers)
    return any(taker.action != giver.action for taker in takers for giver in givers)


def _accesses(module: ir.Module) -> dict[str, list[_Access]]:
    """Return the accesses of the actions of the algorithm, by variable."""
    procedures = {item.name: item for item in module.procedures}
    found: dict[str, list[_Access]] = {}
    for action in module.actions:
        if action.fault:
            continue
        members = [one.name for one in action.parameters if isinstance(one.type, types.IndexType)]
        known = {one.name: one.name for one in action.parameters}
        todo: list[tuple[Any, dict[str, str]]] = [(action.body, known)]
        entered: set[str] = set()
        while todo:
            body, named = todo.pop()
            for node in nodes(body):
                if isinstance(node, ir.Perform) and node.procedure not in entered:
                    entered.add(node.procedure)
                    called = procedures[node.procedure]
                    given = {
                        parameter.name: named.get(argument.name, f"{argument.name} of {action.name}")
                        for parameter, argument in zip_longest(called.parameters, node.arguments)
                        if isinstance(argument, ir.Name)
                    }
                    todo.append((called.body, given))
                if isinstance(node, ir.Assign) and (takes := _taking(node)) is not None:
                    keys = tuple(_named(key, named) for key in node.keys)
                    actor = members[0] if members else None
                    found.setdefault(node.variable, []).append(_Access(action.name, actor, keys, takes))
    return found


def _named(key: ir.Expression, named: dict[str, str]) -> str | None:
    """Return the name of a key, if the key is a parameter of the action or a local name; None for any other
    expression.
    """
    return named.get(key.name, f"local {key.name}") if isinstance(key, ir.Name) else None


def _taking(node: ir.Assign) -> bool | None:
    """Return True if an assignment removes the head of the sequence that it writes, False if it appends to
    that sequence, None for any other.
    """
    value: ir.Expression = node.value
    match value:
        case ir.Slice(lower=ir.Literal(value=1), upper=None) if _same(value.sequence, node):
            return True
        case ir.Append() if _same(value.sequence, node):
            return False
        case ir.Concatenate() if _same(value.left, node):
            return False
    return None


def _same(value: ir.Expression, node: ir.Assign) -> bool:
    """Return True if an expression reads the place that the assignment writes."""
    for key in reversed(node.keys):
        if not isinstance(value, ir.Lookup) or value.key != key:
            return False
        value = value.map
    return isinstance(value, ir.Read) and value.variable == node.variable


# Logs -------------------------------------------------------------------------------------------------------


def _logs(program: Program) -> Iterator[Log]:
    module = program.module
    bodies = tuple(
        item.body for item in (*module.actions, *module.handlers, *module.functions, *module.procedures)
    )
    places: dict[str, set[str]] = {}
    for node in nodes(bodies):
        match node:
            case ir.Item(
                sequence=ir.Lookup(map=ir.Read(variable=log), key=ir.Name(name=sender)),
                position=ir.Lookup(
                    map=ir.Lookup(map=ir.Read(variable=place), key=ir.Name(name=read)), key=ir.Name()
                ),
            ) if sender == read:
                places.setdefault(log, set()).add(place)
    order = [variable.name for variable in program.declaration.variables]
    for variable in program.declaration.variables:
        keys, value = keys_of(variable.type)
        found = places.get(variable.name)
        if found and len(keys) == 1 and isinstance(value, types.SequenceOf) and records_of(value.of):
            yield Log(variable.name, min(found, key=order.index))


# Packets ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packet:
    """Packet in flight. `place` distinguishes equal packets of a queue, and has the way of one in a log.

    `sender` and `receiver` are members, None where the channel does not name them.
    """

    channel: str
    content: Any
    place: tuple[int, ...] = ()
    sender: Any = None
    receiver: Any = None

    @property
    def letter(self) -> tuple[Any, ...]:
        """Return the identity of the packet's content: two packets are equal by it if the same message was
        sent twice.
        """
        return self.channel, self.content, self.sender, self.receiver


class Traffic:
    """Packets in flight in the states of a run; the states are given in the order of the run."""

    def __init__(self, program: Program) -> None:
        self.channels = channels_of(program)
        self._at = {name: number for number, name in enumerate(program.variables)}
        self._domains = program.domains
        self._standing: dict[tuple[Any, ...], list[Packet]] = {}
        self._count = 0

    def packets(self, state: State) -> set[Packet]:
        """Return the packets that are in flight in the next state of the run."""
        found = {
            Packet(name, packet, receiver=getattr(packet, "to", None), sender=getattr(packet, "sender", None))
            for name in self.channels.sets
            for packet in state[self._at[name]]
        }
        for queue in self.channels.queues:
            for keys, contents in self._cells(queue.variable, state):
                found.update(self._queued(queue, keys, contents))
        for log in self.channels.logs:
            contents = dict(self._cells(log.variable, state))
            for (sender, reader), position in self._cells(log.place, state):
                entries = contents[sender,]
                found.update(
                    Packet(log.variable, entries[number], (number,), sender, reader)
                    for number in range(position, len(entries))
                )
        return found

    def _cells(self, name: str, state: State) -> list[tuple[tuple[Any, ...], Any]]:
        """Return the values of a variable with the members that are their keys."""
        cells: list[tuple[tuple[Any, ...], Any]] = [((), state[self._at[name]])]
        domain = self._domains[name]
        while isinstance(domain.type, types.MapOf):
            members, domain = domain.parts
            cells = [
                ((*keys, member), item)
                for keys, value in cells
                for member, item in zip(members, value, strict=True)
            ]
        return cells

    def _queued(self, queue: Queue, keys: tuple[Any, ...], contents: tuple[Any, ...]) -> list[Packet]:
        """Return the packets of one queue: those that were already in it, and new ones for the items appended
        since the last state.
        """
        stood = self._standing.get((queue.variable, *keys), [])
        kept = _former_places([one.content for one in stood], contents)
        receiver = keys[queue.receiver] if queue.receiver is not None else None
        others = [key for place, key in enumerate(keys) if place != queue.receiver]
        packets = []
        for content, number in zip(contents, kept, strict=True):
            if number is not None:
                packets.append(stood[number])
                continue
            self._count += 1
            sender = others[0] if others else None
            packets.append(Packet(queue.variable, content, (self._count,), sender, receiver))
        self._standing[queue.variable, *keys] = packets
        return packets


def _former_places(before: list[Any], after: tuple[Any, ...]) -> list[int | None]:
    """Return, for each item of a queue, its index in the queue's former state; None for a new item.

    As a rule items are removed at the head and appended at the end. Where this does not explain the new state
    (items were lost in between, or overtook each other), each item is matched with the first equal item of
    the former state.
    """
    for gone in range(len(before)):
        left = before[gone:]
        if tuple(left) == after[: len(left)] and Counter(before) != Counter(after):
            return [*range(gone, len(before)), *[None] * (len(after) - len(left))]
    free: dict[Any, list[int]] = {}
    for place, item in enumerate(before):
        free.setdefault(item, []).append(place)
    return [free[item].pop(0) if free.get(item) else None for item in after]
