"""A group in virtual time whose messages are printed as they pass: what is said, by whom, and who delivers.

A message takes one millisecond. It is lost if the script says so; queues that must not lose anything do not.
What happens at one time happens in the order in which it was caused. Nothing is random.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import msgpack
from msgspec.structs import asdict

from antiphon.impl.protocols.core import Identifier, Network
from antiphon.impl.registry import implementation
from antiphon.impl.tracing import NULL_TRACER

DELAY_MS = 1.0


class _Due(NamedTuple):
    """Next duty of a member: take a message from `sender`, or (None) look at its timers."""

    at: float
    order: int
    member: int
    sender: int | None
    message: Any


class Dialogue:
    """The members of a group, and the lines that tell what passed between them.

    Args:
        protocol: the name of a protocol.
        members: how many there are.
        settings: settings of the protocol.
    """

    def __init__(self, protocol: str, members: int, **settings: Any) -> None:
        made = implementation(protocol, **settings)
        self._format, self._is_lossy = made.messages, made.network is Network.LOSSY
        self._cores = [made.core(me, members, NULL_TRACER) for me in range(members)]
        self._agenda: list[_Due] = []
        self._order, self._now = 0, 0.0
        self._lost: list[tuple[int, int, str]] = []
        self._lines: list[str] = []
        for me, core in enumerate(self._cores):
            core.start(0.0)
            self._after(me)

    def lose(self, sender: int, to: int, kind: str) -> None:
        """Lose the next message of this kind that one member sends to another."""
        assert self._is_lossy, "this protocol needs queues that lose nothing"
        self._lost.append((sender, to, kind))

    def broadcast(self, member: int, payload: bytes) -> None:
        """Let a member broadcast now."""
        identifier = self._cores[member].broadcast(payload, self._now)
        self._say(f"{member} broadcasts {shown(identifier)} {payload.decode()}")
        self._after(member)

    def run(self, ms: float) -> None:
        """Let so many milliseconds pass."""
        end = self._now + ms
        while self._agenda and self._agenda[0].at <= end:
            due = heapq.heappop(self._agenda)
            self._now = due.at
            core = self._cores[due.member]
            if due.sender is not None:
                core.receive(due.sender, due.message, self._now)
            elif core.next_deadline() is None or core.next_deadline() > self._now:  # type: ignore[operator]
                continue
            else:
                core.tick(self._now)
            self._after(due.member)
        self._now = end

    def lines(self) -> list[str]:
        """Lines printed since the last call."""
        found, self._lines = self._lines, []
        return found

    def _after(self, me: int) -> None:
        """Print and carry what a member says and delivers, and wake it when its next timer is due."""
        core = self._cores[me]
        delivered = core.settle(self._now)
        for message, sends in groupby(core.outputs(), key=lambda send: send.message):
            self._send(me, message, [send.to for send in sends])
        for each in delivered:
            name = shown(Identifier(each.source, each.id))
            self._say(f"{me} delivers {name} {each.payload.decode()} as number {each.number}")
        deadline = core.next_deadline()
        if deadline is not None:
            self._schedule(max(deadline, self._now), me, None, None)

    def _send(self, me: int, message: Any, receivers: list[int]) -> None:
        kind = self._format.kind(message)
        lost = [to for to in receivers if (me, to, kind) in self._lost]
        told = ", ".join(f"{to}{' (lost)' * (to in lost)}" for to in receivers)
        fields = " ".join(f"{name}={shown(value)}" for name, value in asdict(message).items())
        self._say(f"{me} -> {told}: {kind} {fields}".rstrip())
        for to in receivers:
            if to in lost:
                self._lost.remove((me, to, kind))
            else:
                self._schedule(self._now + DELAY_MS, to, me, message)

    def _schedule(self, at: float, member: int, sender: int | None, message: Any) -> None:
        self._order += 1
        heapq.heappush(self._agenda, _Due(at, self._order, member, sender, message))

    def _say(self, what: str) -> None:
        self._lines.append(f"{self._now:7.1f}  {what}")


def shown(value: Any) -> str:
    """A value of a message for people: `0:1` is message 1 of member 0."""
    match value:
        case Identifier(source, count):
            return f"{source}:{count}"
        case bytes() if all(32 <= byte < 127 for byte in value):
            return repr(value.decode())
        case bytes():  # a message within a message
            return shown(tuple(msgpack.decode(value)))
        case tuple() | list():
            return f"({', '.join(map(shown, value))})"
        case None:
            return "none"
    return str(value)


def played(text: str) -> Iterator[str]:
    """The lines of a transcript anew: each command, `----`, and what passed until the next.

    The commands are `group PROTOCOL MEMBERS [SETTING=NUMBER]...`, `broadcast MEMBER TEXT`, `lose FROM TO
    KIND` and `run MILLISECONDS`. Lines that begin with `#` stay as they are.
    """
    dialogue: Dialogue | None = None
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    for block in blocks:
        comments = [line for line in block if line.startswith("#")]
        yield from comments
        command = next((line for line in block if line not in comments), None)
        if command is not None:
            match command.split(maxsplit=2), dialogue:
                case ["group", protocol, rest], None:
                    members, *settings = rest.split()
                    given = dict(item.split("=") for item in settings)
                    dialogue = Dialogue(
                        protocol, int(members), **{name: float(value) for name, value in given.items()}
                    )
                case ["broadcast", member, payload], Dialogue():
                    dialogue.broadcast(int(member), payload.encode())
                case ["lose", sender, rest], Dialogue():
                    to, kind = rest.split()
                    dialogue.lose(int(sender), int(to), kind)
                case ["run", ms], Dialogue():
                    dialogue.run(float(ms))
                case _:
                    raise ValueError(f"{command!r} is no command here")
            yield command
            yield "----"
            yield from dialogue.lines()
        yield ""
