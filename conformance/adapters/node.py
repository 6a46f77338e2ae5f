"""Node: a program that speaks the protocol of `messages`, with the rules of requests and replies.

Whatever it writes is held against the protocol: a line that is no message, a reply that nobody waits for or
that comes a second time, one of the wrong type, a line after the end of a step, an exit, a silence. Each is
`Misbehaves`, with the line and the lines that came before it.

This module does not know what is done in a step, nor how messages between nodes travel.
"""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from antiphon.conformance.adapters.child import LINE_BYTES_MAX, Child, TooLong, wait
from antiphon.conformance.adapters.messages import (
    CLIENT,
    REPLIES,
    STARTER,
    US,
    Abilities,
    Ability,
    AnyBody,
    Error,
    FromNode,
    InitOk,
    Offer,
    StepDone,
)
from antiphon.spec.lang.foreign import writable


class Watch(Protocol):
    """Onlooker of a node: is shown each message to it, and the state that it reports after each step."""

    def given(self, message: Mapping[str, Any]) -> None:
        """Look at a message to the node."""

    def told(self, state: Mapping[str, Any]) -> None:
        """Look at a state of the node: the values of its variables by name, as JSON has them."""


REPLY_SECONDS = 5.0
"""Seconds that a node may take for a reply, unless others are asked for."""

LINES_MAX = 20_000
"""Largest number of lines that a node may write before it answers."""

_SHOWN_BYTES = 240
_REMEMBERED = 6
"""Number of lines, both ways, that a finding shows."""


class Misbehaves(Exception):
    """Error: a node breaks the protocol.

    Attributes:
        node: its name.
        what: what it does, in a clause that begins with a verb.
        line: the line that it wrote, or "".
        dialogue: the lines before, those to the node with `>`, those from it with `<`.
        stderr: the end of its standard error.
    """

    def __init__(
        self, node: str, what: str, line: str = "", dialogue: Sequence[str] = (), stderr: str = ""
    ) -> None:
        self.node, self.what, self.line = node, writable(what), writable(line)
        self.dialogue, self.stderr = tuple(map(writable, dialogue)), writable(stderr)
        super().__init__(f"{node} {self.what}" + (f": {self.line}" if line else ""))

    def shown(self) -> str:
        """Return the finding with the lines that lead to it, and the standard error."""
        said = [f"stderr: {line}" for line in self.stderr.splitlines()]
        return "\n".join([str(self), *(f"  {line}" for line in (*self.dialogue, *said))])


class Declined(Exception):
    """Error: a node answers a request by an error; `lines` are what it wrote before."""

    def __init__(self, node: str, code: int, text: str, lines: tuple[Heard, ...] = ()) -> None:
        self.node, self.code, self.text, self.lines = node, code, text, lines
        super().__init__(f"{node} answers with error {code}" + (f": {text}" if text else ""))


@dataclass(frozen=True)
class Heard:
    """Line of a node: the reply to a request, an event, or a datagram for another node.

    `typed` is the body as the protocol has it, `request` the body of the request that a reply answers.
    """

    kind: Literal["reply", "event", "datagram"]
    dest: str
    body: Mapping[str, Any]
    line: bytes
    typed: FromNode | AnyBody
    request: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Done:
    """End of a step: the datagrams and events in it, the time of the node's next timer, and its state."""

    heard: tuple[Heard, ...]
    wake_ns: int | None
    state: Mapping[str, Any] | None

    def of(self, kind: Literal["event", "datagram"]) -> tuple[Heard, ...]:
        """Return the lines of one kind, in their order."""
        return tuple(heard for heard in self.heard if heard.kind == kind)


class Node:
    """Running node, which has been started and not yet told its name. Call `end` in any case.

    Attributes:
        name: its name.
        names: the names of all nodes.
        can: its abilities, after `init`.
        disk: its directory, which outlives it.
        watch: the onlooker, or None.
    """

    def __init__(
        self,
        command: Sequence[str],
        name: str,
        names: Sequence[str],
        home: str | Path,
        *,
        reply_s: float = REPLY_SECONDS,
        watch: Watch | None = None,
    ) -> None:
        """Start the program. `home` is a directory for what the node keeps.

        Raises:
            CommandError: it cannot be started.
        """
        self.name, self.names, self.reply_s, self.watch = name, tuple(names), reply_s, watch
        home = Path(home)
        self.disk = home / f"{name}.disk"
        self.disk.mkdir(parents=True, exist_ok=True)
        self.can: frozenset[Ability] = frozenset()
        self.waiting: dict[int, tuple[str, dict[str, Any]]] = {}
        self.child = Child(command)
        self._dialogue: deque[tuple[str, bytes]] = deque(maxlen=_REMEMBERED)
        self._answered: set[int] = set()
        self._next = 0
        self._unread: deque[bytes] = deque()

    # Requests -----------------------------------------------------------------------------------------------

    def init(self, *, seed: int = 0, now_ns: int = 0, offer: bool = True) -> None:
        """Tell the node its name, and learn its abilities.

        Args:
            seed: the seed of the run, for a node that draws random numbers.
            now_ns: the time.
            offer: False for `init` as Maelstrom sends it.

        Raises:
            Misbehaves: it does not answer rightly.
            Declined: it answers with an error.
        """
        body: dict[str, Any] = {"type": "init", "node_id": self.name, "node_ids": list(self.names)}
        if offer:
            made = Offer(seed=seed, now_ns=now_ns, disk=str(self.disk))
            body["antiphon"] = msgspec.to_builtins(made)
        reply, lines = self.ask(body, US if offer else STARTER)
        if lines:
            raise self.misbehaves("writes before it has answered `init`", lines[0].line)
        if offer and isinstance(reply.typed, InitOk) and isinstance(reply.typed.antiphon, Abilities):
            self.can = frozenset(reply.typed.antiphon.can)

    def step(self, do: Mapping[str, Any] | msgspec.Raw, now_ns: int = 0) -> Done:
        """Let the node take one step.

        Raises:
            Misbehaves: it breaks the protocol.
            Declined: it refuses the step.
        """
        try:
            reply, lines = self.ask({"type": "antiphon.step", "now_ns": now_ns, "do": do})
        except Declined as declined:
            if declined.lines:
                raise self.misbehaves(
                    "refuses a step and has yet done something", declined.lines[0].line
                ) from declined
            raise
        done = reply.typed
        assert isinstance(done, StepDone), "`take` has seen that it is"
        if "state" in self.can and done.state is None:
            raise self.misbehaves("ends a step without `state`, which it says that it can")
        if self.watch is not None and done.state is not None:
            self.watch.told(done.state)
        return Done(tuple(lines), done.wake_ns, done.state)

    def ask(self, body: dict[str, Any], src: str = US) -> tuple[Heard, list[Heard]]:
        """Send a request, wait for its reply, and return it with the lines before it.

        Raises:
            Misbehaves: it breaks the protocol, or does not answer in time.
            Declined: it answers with an error.
        """
        for line in self.listen(0.0):
            self.take(line)
            raise self.misbehaves("writes a line that belongs to no request", line)
        number = self.send(body, src)
        until, lines = time.monotonic() + self.reply_s, list[Heard]()
        while len(lines) <= LINES_MAX:
            left = until - time.monotonic()
            if left <= 0:
                raise self.misbehaves(self.silence(body))
            for position, line in enumerate(found := self.listen(left)):
                heard = self.take(line)
                if heard.kind == "reply" and heard.body["in_reply_to"] == number:
                    self._unread.extend(found[position + 1 :])
                    if isinstance(heard.typed, Error):
                        raise Declined(self.name, heard.typed.code, heard.typed.text, tuple(lines))
                    return heard, lines
                lines.append(heard)
        raise self.misbehaves(f"writes more than {LINES_MAX:,} lines before it answers")

    def send(self, body: dict[str, Any], src: str = US) -> int:
        """Send a request, and return its number, by which `take` recognises the reply."""
        self._next += 1
        body = {"type": body["type"], "msg_id": self._next, **body}
        self.waiting[self._next] = (src, body)
        self.write({"src": src, "dest": self.name, "body": body})
        return self._next

    def write(self, message: Mapping[str, Any] | bytes) -> None:
        """Write a line: a message, or bytes as they are."""
        line = message if isinstance(message, bytes) else msgspec.json.encode(message)
        self._dialogue.append((">", line))
        if self.watch is not None and not isinstance(message, bytes):
            self.watch.given(message)
        self.child.tell(line + b"\n")

    # What it writes -----------------------------------------------------------------------------------------

    def take(self, line: bytes) -> Heard:
        """Hold a line against the protocol.

        Raises:
            Misbehaves: it is no message that the node may write now.
        """
        try:
            heard = self._read(line)
        finally:
            self._dialogue.append(("<", line))
        return heard

    def _read(self, line: bytes) -> Heard:
        try:
            message = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # the last: nested too deeply
            raise self.misbehaves("writes a line that is no JSON", line) from None
        if not isinstance(message, dict) or not isinstance(message.get("body"), dict):
            raise self.misbehaves("writes a line that is no object with `src`, `dest` and `body`", line)
        src, dest, body = message.get("src"), message.get("dest"), message["body"]
        if src != self.name:
            raise self.misbehaves(f"writes as {src!r}, and is {self.name}", line)
        if dest in self.names:
            return Heard("datagram", dest, body, line, self._typed(body, AnyBody, line))
        if body.get("type") == "antiphon.event" and dest in (US, STARTER):
            return Heard("event", dest, body, line, self._typed(body, FromNode, line))
        return self._reply(dest, body, line)

    def _reply(self, dest: Any, body: dict[str, Any], line: bytes) -> Heard:
        number = body.get("in_reply_to")
        if not isinstance(number, int | None):
            raise self.misbehaves("writes an `in_reply_to` that is no number", line)
        if number in self._answered:
            raise self.misbehaves(f"answers message {number} a second time", line)
        if number not in self.waiting:
            to = f"message {number}, which nobody has sent" if number is not None else "nothing"
            ours = dest in (US, STARTER, CLIENT)
            known = "" if ours else f"; there is no {dest!r}, only {', '.join(self.names)}"
            raise self.misbehaves(f"answers {to}{known}", line)
        src, request = self.waiting.pop(number)
        self._answered.add(number)
        if dest != src:
            raise self.misbehaves(f"answers {dest!r}, and {src} has asked", line)
        wanted = REPLIES.get(request["type"])
        if body.get("type") not in (wanted, "error"):
            told = f"by {wanted!r} or 'error'" if wanted else "by 'error': nobody knows such a type"
            what = f"answers {request['type']!r} by {body.get('type')!r}, and not {told}"
            raise self.misbehaves(what, line)
        return Heard("reply", dest, body, line, self._typed(body, FromNode, line), request)

    def _typed(self, body: dict[str, Any], kind: Any, line: bytes) -> FromNode | AnyBody:
        try:
            typed: FromNode | AnyBody = msgspec.convert(body, kind)
        except msgspec.ValidationError as error:
            raise self.misbehaves(f"writes a body that is wrong ({error})", line) from error
        return typed

    def listen(self, seconds: float) -> list[bytes]:
        """Return the lines that are there; wait at most `seconds` for the first one.

        Raises:
            Misbehaves: there are none, and no more can come.
        """
        if self._unread:
            lines = list(self._unread)
            self._unread.clear()
            return lines
        if seconds > 0:
            wait([self.child], seconds)
        return self.heard()

    def heard(self) -> list[bytes]:
        """Return the lines that are there.

        Raises:
            Misbehaves: there are none, and no more can come; or one has no end.
        """
        try:
            lines = [line.removesuffix(b"\r") for line in self.child.hear()]
        except TooLong:
            raise self.misbehaves(f"writes a line of more than {LINE_BYTES_MAX:,} bytes") from None
        if not lines and self.child.over:
            raise self.misbehaves(self.child.how_it_ended())
        return lines

    # Findings -----------------------------------------------------------------------------------------------

    def misbehaves(self, what: str, line: bytes = b"") -> Misbehaves:
        """Return the error that the node does `what` in `line`, with the lines before it."""
        return Misbehaves(self.name, what, _shown(line), self.dialogue, self.child.complaint())

    @property
    def dialogue(self) -> tuple[str, ...]:
        """Return the last lines, those to the node with `>`, those from it with `<`."""
        return tuple(f"{way} {_shown(line)}" for way, line in self._dialogue)

    def silence(self, body: Mapping[str, Any]) -> str:
        """Return the clause that says that a request is not answered."""
        flushes = "; does it flush its standard output?" if body["type"] == "init" else ""
        return f"does not answer {body['type']!r} within {self.reply_s:g} s{flushes}"

    def clear_disk(self) -> None:
        """Remove all that the node has kept."""
        for path in self.disk.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()

    def end(self, grace_s: float = 1.0) -> bool:
        """End the process; return True if the end of its input was enough."""
        return self.child.end(grace_s)


def _shown(line: bytes) -> str:
    """Return a line as text, cut off where it is long."""
    text = line[:_SHOWN_BYTES].decode("utf-8", "backslashreplace")
    return text + (f"... ({len(line):,} bytes)" if len(line) > _SHOWN_BYTES else "")
