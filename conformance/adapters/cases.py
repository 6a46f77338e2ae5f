"""Cases of the protocol: messages that a program is sent, each with what a right answer is.

A case is right, wrong, or not asked: a program of Maelstrom's need not do what the superset adds, and one
that cannot restart is not restarted. A case that goes wrong shows the lines that were sent and received. Each
case has processes of its own.

This module knows no protocol of any group but the simplest: what is broadcast is delivered.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from antiphon.conformance.adapters.messages import CLIENT, NOT_SUPPORTED, US, Ability, node_name
from antiphon.conformance.adapters.node import REPLY_SECONDS, Declined, Done, Misbehaves, Node
from antiphon.model.verdict import Outcome

PADDING_BYTES = 1 << 20
"""Length of a long line."""

LATER_NS = 1_000_000_000_000_001
"""A time that a number of 32 bits, or of single precision, does not hold."""

QUIET_S = 0.05
"""Seconds in which a program that has answered must write nothing."""

_TICKS_MAX = 50
_PAYLOAD = "AP8gw6ki"
"""Payload in base64, whose bytes are no text."""


class _Wrong(Exception):
    """Error: the program answers a case wrongly."""


class _NotAsked(Exception):
    """Signal that a case does not apply to the program."""


@dataclass(frozen=True)
class CaseResult:
    """Result of a case.

    Attributes:
        name: the name of the case.
        says: what a right program does, in a clause that begins with a verb.
        outcome: holds or violated; None where the case was not asked.
        found: what was wrong, or why it was not asked.
        dialogue: the last lines to (`>`) and from (`<`) the program, where it was wrong.
    """

    name: str
    says: str
    outcome: Outcome | None
    found: str = ""
    dialogue: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Case:
    name: str
    says: str
    needs: frozenset[Ability]
    plain: bool
    ask: Callable[[_Programs], None]


_CASES: list[_Case] = []


def _case(
    says: str, *needs: Ability, plain: bool = False
) -> Callable[[Callable[[_Programs], None]], Callable[[_Programs], None]]:
    """Register a case. With `plain`, only programs without the superset are asked it."""

    def register(ask: Callable[[_Programs], None]) -> Callable[[_Programs], None]:
        name = ask.__name__.strip("_").replace("_", "-")
        _CASES.append(_Case(name, says, frozenset(needs), plain, ask))
        return ask

    return register


class _Programs:
    """Running processes of the program, by their names and the size of their group."""

    def __init__(self, command: Sequence[str], home: Path, reply_s: float) -> None:
        self.command, self.reply_s = command, reply_s
        self.nodes: list[Node] = []
        self.can: frozenset[Ability] = frozenset()
        self.shown: Node | None = None
        self._home, self._count = home, itertools.count()

    def fresh(self, number: int = 0, nodes: int = 1, *, disk: Path | None = None) -> Node:
        """Start a process as node `number` of `nodes`; with `disk`, it has the disk of an earlier process."""
        home = self._home / str(next(self._count)) if disk is None else disk
        home.mkdir(exist_ok=True)
        names = [node_name(each) for each in range(nodes)]
        node = self.shown = Node(self.command, names[number], names, home, reply_s=self.reply_s)
        self.nodes.append(node)
        node.init()
        return node

    def step(self, node: Node, do: Mapping[str, Any], now_ns: int = 0) -> Done:
        """Let a node take a step."""
        self.shown = node
        return node.step(do, now_ns)

    def refusal(self, node: Node, do: Mapping[str, Any]) -> int:
        """Return the code of the error by which a node refuses a step.

        Raises:
            _Wrong: it takes the step.
        """
        try:
            self.step(node, do)
        except Declined as declined:
            return declined.code
        raise _Wrong(f"takes the step {msgspec.json.encode(do).decode()}")

    def end(self) -> None:
        """End all processes."""
        for node in self.nodes:
            node.child.kill()
            node.end(0.0)
        self.nodes.clear()


def check_adapter(
    command: Sequence[str],
    *,
    reply_s: float = REPLY_SECONDS,
    only: Collection[str] = (),
) -> list[CaseResult]:
    """Ask a program all cases, or only the first case and those named in `only`.

    Args:
        command: the words of the command that starts it.
        reply_s: seconds that it may take for a reply.
        only: the names of cases; without any, all are asked.

    Raises:
        CommandError: the command cannot be started.
    """
    results: list[CaseResult] = []
    with TemporaryDirectory(prefix="antiphon-") as home:
        programs = _Programs(command, Path(home), reply_s)
        for case in _CASES:
            if not only or not results or case.name in only:
                results.append(_asked(case, programs, results))
    return results


def outcome_of(results: Sequence[CaseResult]) -> Outcome:
    """Return the outcome of all cases: unknown where none was asked."""
    asked = [result.outcome for result in results if result.outcome is not None]
    return Outcome.worst(asked) if asked else Outcome.UNKNOWN


def _asked(case: _Case, programs: _Programs, before: Sequence[CaseResult]) -> CaseResult:
    def result(outcome: Outcome | None, found: str = "", dialogue: Sequence[str] = ()) -> CaseResult:
        return CaseResult(case.name, case.says, outcome, found, tuple(dialogue))

    if before and before[0].outcome is Outcome.VIOLATED:
        return result(None, "it does not answer `init`")
    if before and case.plain and programs.can:
        return result(None, "it speaks the superset")
    if before and not case.plain and case.needs and not case.needs <= programs.can:
        lacking = ", ".join(sorted(case.needs - programs.can))
        return result(None, f"it does not say that it can: {lacking}")
    try:
        case.ask(programs)
    except _NotAsked as reason:
        return result(None, str(reason))
    except Misbehaves as wrong:
        stderr = [f"stderr: {line}" for line in wrong.stderr.splitlines()]
        return result(Outcome.VIOLATED, str(wrong), (*wrong.dialogue, *stderr))
    except (_Wrong, Declined) as wrong:
        shown = programs.shown.dialogue if programs.shown else ()
        return result(Outcome.VIOLATED, str(wrong), tuple(shown))
    finally:
        programs.end()
    return result(Outcome.HOLDS)


# Maelstrom's protocol ---------------------------------------------------------------------------------------


@_case("answers `init` by `init_ok`, and writes nothing before that")
def _init(programs: _Programs) -> None:
    node = programs.fresh()
    programs.can = node.can
    if node.can and "step" not in node.can and node.can - {"deliver", "disk", "views"}:
        raise _Wrong(f"can {', '.join(sorted(node.can))}, which is nothing without `step`")
    _quiet(node)


@_case("reads blanks, keys in any order, and skips fields that it does not know")
def _spelling(programs: _Programs) -> None:
    node = programs.fresh()
    number, kind = _harmless_request(node, programs)
    decoy = '{"type": "init", "msg_id": 0, "text": "\\"}{ \\\\", "list": [[], {}, -1.5e3, null]}'
    node.waiting[number] = (kind.pop("src"), {"type": kind["type"]})
    fields = ", ".join(f'"{name}" : {msgspec.json.encode(value).decode()}' for name, value in kind.items())
    line = (
        f'{{ "note" : {decoy}, "body" : {{ "note": {decoy} , {fields} , "msg_id" : {number} }} , '
        f'"dest":"{node.name}" , "src" : "{node.waiting[number][0]}" }} '
    )
    node.write(line.encode())
    _replies(node, [number])


@_case("answers requests that come at once, each of them once")
def _several(programs: _Programs) -> None:
    node = programs.fresh()
    numbers = []
    for _ in range(3):
        _, kind = _harmless_request(node, programs)
        numbers.append(node.send(kind, kind.pop("src")))
    _replies(node, numbers)
    _quiet(node)


@_case("reads a line of 1 MiB", "step")
def _long_line(programs: _Programs) -> None:
    node = programs.fresh()
    number = node.send({"type": "antiphon.step", "now_ns": 0, "do": {}, "padding": "x" * PADDING_BYTES}, US)
    _replies(node, [number])


@_case("answers a request of an unknown type by error 10, and goes on", "step")
def _unknown_type(programs: _Programs) -> None:
    node = programs.fresh()
    try:
        node.ask({"type": "antiphon.nonsense"})
    except Declined as declined:
        if declined.code != NOT_SUPPORTED:
            raise _Wrong(f"answers with error {declined.code}, and not {NOT_SUPPORTED}") from declined
    node.ask({"type": "antiphon.step", "now_ns": 0, "do": {}})


@_case("ends when its input ends", "step")
def _end_of_input(programs: _Programs) -> None:
    node = programs.fresh()
    programs.nodes.remove(node)
    if not node.end():
        raise _Wrong("goes on 1 s after the end of its input")


@_case("answers `topology`, `broadcast` and `read`, and reads back what was broadcast", plain=True)
def _workload(programs: _Programs) -> None:
    node = programs.fresh()
    if "deliver" in node.can:
        raise _NotAsked("it reports deliveries, and need not be read")
    try:
        node.ask({"type": "topology", "topology": {node.name: []}}, CLIENT)
        for message in (7, 0):
            node.ask({"type": "broadcast", "message": message}, CLIENT)
    except Declined as declined:
        if declined.code == NOT_SUPPORTED:
            raise _NotAsked("it knows no `broadcast`") from declined
        raise
    found = node.ask({"type": "read"}, CLIENT)[0].body["messages"]
    if sorted(found) != [0, 7]:
        raise _Wrong(f"was asked to broadcast 7 and 0, and reads {found}")


# Steps ------------------------------------------------------------------------------------------------------


@_case("ends an empty step, in which it does nothing, and writes nothing after it", "step")
def _empty_step(programs: _Programs) -> None:
    node = programs.fresh()
    before = programs.step(node, {}).state
    done = programs.step(node, {})
    if done.heard:
        raise _Wrong("does something in a step in which nothing is to be done")
    if done.state != before:
        raise _Wrong(f"has the state {done.state} after an empty step, and {before} before it")
    _quiet(node)


@_case("refuses what it does not know by error 10, and is as before", "step")
def _unknown_action(programs: _Programs) -> None:
    node = programs.fresh()
    before = programs.step(node, {}).state
    if (code := programs.refusal(node, {"antiphon_nonsense": {}})) != NOT_SUPPORTED:
        raise _Wrong(f"answers with error {code}, and not {NOT_SUPPORTED}")
    _same_state(programs, node, before)


@_case("is as before after a datagram that makes no sense", "step")
def _nonsense(programs: _Programs) -> None:
    node = programs.fresh(nodes=2)
    before = programs.step(node, {}).state
    for body in ({"type": "antiphon_nonsense"}, {"type": "antiphon_nonsense", "m": None}):
        try:
            programs.step(node, {"receive": {"src": "n1", "body": body}})
        except Declined as declined:
            if declined.code == NOT_SUPPORTED:
                raise _NotAsked("it knows no `receive`") from declined
    _same_state(programs, node, before)


@_case("answers a step without its arguments by an error, and goes on", "step")
def _malformed(programs: _Programs) -> None:
    node = programs.fresh()
    programs.refusal(node, {"receive": {}})
    programs.step(node, {})


@_case("wakes by `now_ns` alone, in the same time from any beginning", "step", "clock")
def _time(programs: _Programs) -> None:
    waits = []
    for now_ns in (0, LATER_NS):
        node = programs.fresh(1, 2)
        done = programs.step(node, {}, now_ns)
        waits.append(None if done.wake_ns is None else done.wake_ns - now_ns)
    if waits[0] != waits[1] or any(wait is not None and wait < 0 for wait in waits):
        raise _Wrong(f"at 0 ns wakes after {waits[0]} ns, and at {LATER_NS} ns after {waits[1]}")


@_case("does the same in the same steps", "step", "clock")
def _deterministic(programs: _Programs) -> None:
    one, other = (_sample_steps(programs, programs.fresh(number=1, nodes=2)) for _ in range(2))
    for (line, first), (_, second) in zip(one, other, strict=True):
        if first != second:
            raise _Wrong(f"in {line} writes {first[0]}, and the second time {second[0]}")


@_case("delivers what it broadcasts, once, with its bytes, where it is alone", "step", "deliver")
def _deliveries(programs: _Programs) -> None:
    node = programs.fresh()
    got = _delivered_in(programs, [node], node, _broadcast(programs, node, "0:1"))[0]
    if got != [("0:1", _PAYLOAD)]:
        raise _Wrong(f"was asked to broadcast 0:1 with the bytes {_PAYLOAD}, and delivers {got or 'nothing'}")


@_case("delivers once on each of two nodes, though every datagram comes twice", "step", "deliver")
def _duplicates(programs: _Programs) -> None:
    nodes = [programs.fresh(number, 2) for number in range(2)]
    first = _broadcast(programs, nodes[1], "1:1")
    if not first.of("datagram") and first.wake_ns is None:
        raise _NotAsked("it sends nothing to another node")
    for node, got in zip(nodes, _delivered_in(programs, nodes, nodes[1], first), strict=True):
        if got != [("1:1", _PAYLOAD)]:
            programs.shown = node
            raise _Wrong(f"{node.name} delivers {got or 'nothing'}, and n1 has broadcast 1:1 with {_PAYLOAD}")


@_case("is as a fresh process after `restart` without memory and disk", "step", "restart")
def _restart_fresh(programs: _Programs) -> None:
    node = programs.fresh(1, 2)
    _sample_steps(programs, node)
    node.clear_disk()
    again = programs.step(node, {"restart": {"memory": False, "disk": False}}).state
    fresh = programs.step(programs.fresh(1, 2), {}).state
    programs.shown = node
    if again != fresh:
        raise _Wrong(f"has the state {again} after `restart`, and {fresh} as a fresh process")


@_case("is after `restart` with its disk as after `kill -9`", "step", "restart")
def _restart_disk(programs: _Programs) -> None:
    node = programs.fresh(1, 2)
    _sample_steps(programs, node)
    restarted = programs.step(node, {"restart": {"memory": False, "disk": True}}).state
    again = programs.step(node, {"restart": {"memory": False, "disk": True}}).state
    if again != restarted:
        raise _Wrong(f"has the state {again} after a second `restart`, and {restarted} after the first")
    node.child.kill()
    killed = programs.step(programs.fresh(1, 2, disk=node.disk.parent), {}).state
    if killed != restarted:
        raise _Wrong(f"has the state {killed} after `kill -9`, and {restarted} after `restart`")


@_case("is as it was when a snapshot is restored, and does the same from there", "step", "snapshot")
def _snapshots(programs: _Programs) -> None:
    node = programs.fresh(1, 2)
    with suppress(Declined):
        programs.step(node, {"broadcast": {"m": "1:0", "bytes": _PAYLOAD}})
    snapshot = node.ask({"type": "antiphon.snapshot"})[0].body["snapshot"]
    before = programs.step(node, {}).state
    one = _sample_steps(programs, node)
    node.ask({"type": "antiphon.restore", "snapshot": snapshot})
    _same_state(programs, node, before)
    if node.ask({"type": "antiphon.snapshot"})[0].body["snapshot"] != snapshot:
        raise _Wrong("gives another snapshot when one is restored")
    if (other := _sample_steps(programs, node)) != one:
        raise _Wrong(f"does other things the second time: {other}, and not {one}")


@_case("reports the first view that it installs, and takes `leave`", "step", "views")
def _views(programs: _Programs) -> None:
    node = programs.fresh()
    heard = [*programs.step(node, {}).heard]
    now_ns, wake_ns = 0, programs.step(node, {}).wake_ns
    for _ in range(_TICKS_MAX):
        if wake_ns is None or any(each.body.get("kind") == "install" for each in heard):
            break
        now_ns = wake_ns
        done = programs.step(node, {"tick": {}}, now_ns)
        heard += done.heard
        wake_ns = done.wake_ns
    if not any(each.body.get("kind") == "install" for each in heard):
        raise _Wrong("says that it can `views`, and reports none: an event of the kind `install`")
    programs.step(node, {"leave": {}}, now_ns)


# Parts of cases ---------------------------------------------------------------------------------------------


def _harmless_request(node: Node, programs: _Programs) -> tuple[int, dict[str, Any]]:
    """Return a number that no request has used, and a request that changes nothing."""
    number = 1_000_000 + len(node.waiting)
    if "step" in programs.can:
        return number, {"type": "antiphon.step", "now_ns": 0, "do": {}, "src": US}
    return number, {"type": "read", "src": CLIENT}


def _replies(node: Node, numbers: Sequence[int]) -> None:
    """Wait for the replies to the requests with these numbers, in any order."""
    until, left = time.monotonic() + node.reply_s, set(numbers)
    while left:
        if time.monotonic() > until:
            raise node.misbehaves(f"does not answer within {node.reply_s:g} s")
        for line in node.listen(until - time.monotonic()):
            heard = node.take(line)
            if heard.kind == "reply":
                if heard.body["type"] == "error" and "step" in node.can:
                    raise _Wrong(f"answers with error {heard.body['code']}")
                left.discard(heard.body["in_reply_to"])


def _quiet(node: Node) -> None:
    """Raise Misbehaves where a program writes though nothing was asked."""
    for line in node.listen(QUIET_S):
        node.take(line)
        if "step" in node.can or not node.can:
            raise node.misbehaves("writes a line that belongs to no request", line)


def _same_state(programs: _Programs, node: Node, before: object) -> None:
    if (after := programs.step(node, {}).state) != before:
        raise _Wrong(f"has the state {after}, and {before} before")


def _broadcast(programs: _Programs, node: Node, m: str) -> Done:
    """Let a node broadcast.

    Raises:
        _NotAsked: it knows no broadcast.
    """
    try:
        return programs.step(node, {"broadcast": {"m": m, "bytes": _PAYLOAD}})
    except Declined as declined:
        if declined.code == NOT_SUPPORTED:
            raise _NotAsked("it knows no `broadcast`") from declined
        raise


def _sample_steps(programs: _Programs, node: Node) -> list[tuple[str, list[Any]]]:
    """Let a node take a few steps; return each step as JSON text, with the output of the node in it."""
    steps: list[dict[str, Any]] = [{}]
    steps += [{"broadcast": {"m": f"1:{k}", "bytes": _PAYLOAD}} for k in (1, 2)]
    found: list[tuple[str, list[Any]]] = []
    now_ns = 0
    for do in (*steps, {"tick": {}}, {}):
        name = msgspec.json.encode(do).decode()
        try:
            done = programs.step(node, do, now_ns)
        except Declined as declined:
            found.append((name, [f"error {declined.code}"]))
            continue
        lines = [msgspec.json.decode(heard.line) for heard in done.heard]
        found.append((name, [lines, done.state, done.wake_ns]))
        now_ns = max(now_ns, done.wake_ns or 0)
    return found


def _delivered_in(
    programs: _Programs, nodes: Sequence[Node], by: Node, first: Done
) -> list[list[tuple[str, str]]]:
    """Return the messages that each node delivers, with their bytes, if every datagram arrives twice."""
    got: list[list[tuple[str, str]]] = [[] for _ in nodes]
    wakes: dict[int, int] = {}
    waiting: list[tuple[int, str, Mapping[str, Any]]] = []

    def take(number: int, done: Done) -> None:
        for heard in done.heard:
            if heard.kind == "datagram":
                waiting.extend([(int(heard.dest[1:]), nodes[number].name, heard.body)] * 2)
            elif heard.body["kind"] == "deliver":
                got[number].append((str(heard.body.get("m")), str(heard.body.get("bytes"))))
        wakes.pop(number, None)
        if done.wake_ns is not None:
            wakes[number] = done.wake_ns

    for number, node in enumerate(nodes):
        take(number, first if node is by else programs.step(node, {}))
    now_ns = 0
    for _ in range(_TICKS_MAX):
        while waiting:
            to, src, body = waiting.pop(0)
            take(to, programs.step(nodes[to], {"receive": {"src": src, "body": body}}, now_ns))
        if not wakes:
            break
        number = min(wakes, key=lambda number: (wakes[number], number))
        now_ns = max(now_ns, wakes[number])
        take(number, programs.step(nodes[number], {"tick": {}}, now_ns))
    return got
