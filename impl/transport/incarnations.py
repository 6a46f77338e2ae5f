"""Every datagram names the incarnations of sender and receiver, so an earlier run's are told from today's.

An incarnation is 64 random bits that a shell draws for a member when it opens it. A frame is the mark of the
group, the sender's incarnation, the receiver's as far as the sender knows it, and the bytes of an endpoint; a
frame without such bytes is a greeting.

1. What does not name the own incarnation never reaches the endpoint. It is answered with a greeting, which is
   never longer than what came in; a member gets at most GREETINGS_MAX of them in GREETINGS_MS.
2. Who names the own incarnation has heard from this member in this run, so what it says about itself is
   believed. An incarnation from which nothing has reached the endpoint may be followed by another: an earlier
   run of a member can still answer while the next run of the group begins. After that, another one means that
   the member was started again, and the group cannot go on.
3. What is for a member that is not known yet waits until it is: the first WAITING_MAX datagrams. More are
   lost, as datagrams may be.
4. A member greets all others when it starts, so that nobody's timer decides when a group begins.

This is the verification tag of SCTP (RFC 9260, section 8.5), without its state of a connection. It shows that
somebody reads what is sent to an address, and not who. This module must not know a socket, an address, where
the time or the random bits come from, or what an endpoint's bytes hold.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from struct import Struct

from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.transport.endpoint import Datagram
from antiphon.impl.transport.wire import Rejected

__all__ = [
    "FRAME_BYTES",
    "GREETINGS_MAX",
    "GREETINGS_MS",
    "INCARNATION_BYTES",
    "WAITING_MAX",
    "Incarnations",
]

INCARNATION_BYTES = 8

GREETINGS_MAX = 8
"""The most greetings for one member in GREETINGS_MS."""

GREETINGS_MS = 100.0

WAITING_MAX = 8
"""The most datagrams that are kept for a member until it is known."""

_FRAME = Struct(f"4s{INCARNATION_BYTES}s{INCARNATION_BYTES}s")

FRAME_BYTES = _FRAME.size
"""What a frame adds to an endpoint's bytes, and the size of a greeting."""

_UNKNOWN = bytes(INCARNATION_BYTES)


class Incarnations:
    """What one member knows of its own and the others' incarnations. `now` is in milliseconds."""

    def __init__(self, group: str, me: int, members: int, own: bytes) -> None:
        """Member `me` of 0..members-1, for one run; `own` has INCARNATION_BYTES, drawn at random."""
        self._mark = hashlib.blake2b(group.encode(), digest_size=4).digest()
        self._group = group
        self._own = own
        self._others = tuple(process for process in range(members) if process != me)
        self._known: dict[int, bytes] = {}
        self._heard: set[int] = set()
        self._waiting: defaultdict[int, list[bytes]] = defaultdict(list)
        self._greetings: dict[int, tuple[float, int]] = {}
        self._frames: list[Datagram] = []

    def start(self, now: float) -> None:
        """Greet everybody."""
        for process in self._others:
            self._greet(process, _UNKNOWN, now)

    def send(self, to: int, data: bytes, now: float) -> None:
        """Send an endpoint's datagram, or keep it and greet a member that is not known yet."""
        known = self._known.get(to)
        if known is not None:
            self._frame(to, known, data)
            return
        if len(self._waiting[to]) < WAITING_MAX:
            self._waiting[to].append(data)
        self._greet(to, _UNKNOWN, now)

    def received(self, sender: int, frame: bytes, now: float) -> bytes | Rejected | None:
        """The endpoint's datagram in a frame from the address of `sender`, or why not; None for a greeting.

        Raises:
            GroupFailed: the sender was started again.
        """
        if len(frame) < FRAME_BYTES:
            return Rejected(Rejection.TRUNCATED, f"{len(frame)} bytes; a frame has at least {FRAME_BYTES}")
        mark, source, target = _FRAME.unpack_from(frame)
        data = frame[FRAME_BYTES:]
        if mark != self._mark:
            return Rejected(
                Rejection.FOREIGN_GROUP, f"mark {mark.hex()}; {self._group!r} has {self._mark.hex()}"
            )
        if target != self._own:
            self._greet(sender, source, now)
            if not data:
                return None
            return Rejected(Rejection.FOREIGN_INCARNATION, f"for incarnation {target.hex()} of this process")
        if self._known.get(sender) != source:
            if sender in self._heard:
                raise GroupFailed(
                    f"process {sender} was started again, as incarnation {source.hex()}; a group has the "
                    "members that it began with: end all of them, then start all again"
                )
            self._learn(sender, source, answer=not data, now=now)
        if not data:
            return None
        self._heard.add(sender)
        return data

    def frames_to_send(self) -> list[Datagram]:
        """Hand over, once, the frames to send, in order."""
        frames, self._frames = self._frames, []
        return frames

    def _learn(self, sender: int, source: bytes, *, answer: bool, now: float) -> None:
        """Send what waited for this member; if nothing did, a greeting answers its own."""
        self._known[sender] = source
        waiting = self._waiting.pop(sender, [])
        for data in waiting:
            self._frame(sender, source, data)
        if answer and not waiting:
            self._greet(sender, source, now)

    def _greet(self, to: int, target: bytes, now: float) -> None:
        since, count = self._greetings.get(to, (now, 0))
        if now - since >= GREETINGS_MS:
            since, count = now, 0
        if count < GREETINGS_MAX:
            self._greetings[to] = (since, count + 1)
            self._frame(to, target, b"")

    def _frame(self, to: int, target: bytes, data: bytes) -> None:
        self._frames.append(Datagram(to, _FRAME.pack(self._mark, self._own, target) + data))
