"""Incarnations: every datagram names those of sender and receiver, so that datagrams of an earlier run are
recognised.

An incarnation is the time at which a shell opens a member, and 72 random bits. A frame holds the sender's
incarnation, the receiver's as far as the sender knows it, and the bytes of an endpoint; a frame without such
bytes is a greeting. `sealing` defines the form on the wire; frames that it refuses have no effect here.

1. A frame that does not name the own incarnation never reaches the endpoint. It is answered with a greeting,
   which is never longer than the frame; a member gets at most GREETINGS_MAX of them in GREETINGS_MS.
2. A sender that names the own incarnation has heard from this member in this run, so its own incarnation is
   believed. An incarnation from which nothing has reached the endpoint may be followed by a later one: an
   earlier run of a member can still answer while the next run of the group begins. After that, a later one
   means that the member was started again, and the group cannot go on. Frames of an earlier incarnation are
   refused, however late they come.
3. Datagrams for a member that is not known yet wait until it is: the first WAITING_MAX of them. More are
   lost, as datagrams may be.
4. A member greets all others when it starts, so that nobody's timer decides when a group begins.
5. A datagram for everybody names a digest of the incarnations of all members. A member that knows other
   incarnations refuses it, like one for an incarnation that is not its own. It then greets, as at the start,
   the sender if that is not known, else all from which nothing has come yet. A sender that does not know all
   members yet sends to each.
6. A greeting that names the own incarnation is a heartbeat for the endpoint, which is empty bytes. An
   endpoint's heartbeat to a member that is not known yet is a greeting, and does not wait.

This is the verification tag of SCTP (RFC 9260, section 8.5), without its state of a connection. It shows that
somebody reads the datagrams to an address, and not who: that takes a key. This module must not know a socket,
an address, where the time or the random bits come from, or what an endpoint's bytes hold.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict

from antiphon.impl.errors import GroupFailed, Rejection
from antiphon.impl.transport.endpoint import Datagram
from antiphon.impl.transport.sealing import INCARNATION_BYTES, Opened, Sealing
from antiphon.impl.transport.wire import EVERYBODY, Rejected

__all__ = ["CHANCE_BYTES", "GREETINGS_MAX", "GREETINGS_MS", "WAITING_MAX", "Incarnations", "incarnation"]

_TIME_BYTES = 7

CHANCE_BYTES = INCARNATION_BYTES - _TIME_BYTES
"""Number of random bytes of an incarnation."""

GREETINGS_MAX = 8
"""Largest number of greetings for one member in GREETINGS_MS."""

GREETINGS_MS = 100.0

WAITING_MAX = 8
"""Largest number of datagrams that are kept for a member until it is known."""

_UNKNOWN = bytes(INCARNATION_BYTES)


def incarnation(opened_us: int, chance: bytes) -> bytes:
    """Return an incarnation: later ones are greater, if the clock goes forward from one run to the next.

    `opened_us` counts microseconds from 1970; `chance` has CHANCE_BYTES, drawn at random.
    """
    return opened_us.to_bytes(_TIME_BYTES) + chance


class Incarnations:
    """Incarnations that one member knows: its own and the others'. `now` is in milliseconds."""

    def __init__(self, me: int, members: int, own: bytes, sealing: Sealing) -> None:
        """Make the record of member `me` of 0..members-1, for one run with incarnation `own`; `sealing`
        encodes its frames.
        """
        self._me = me
        self._own = own
        self._sealing = sealing
        self._others = tuple(process for process in range(members) if process != me)
        self._known: dict[int, bytes] = {}
        self._everybody: bytes | None = None
        """The digest of all incarnations, once all are known."""
        self._heard: set[int] = set()
        self._waiting: defaultdict[int, list[bytes]] = defaultdict(list)
        self._greetings: dict[int, tuple[float, int]] = {}
        self._frames: list[Datagram] = []

    def start(self, now: float) -> None:
        """Send a greeting to every other member."""
        for process in self._others:
            self._greet(process, _UNKNOWN, now)

    def send(self, to: int, data: bytes, now: float) -> None:
        """Send an endpoint's datagram. If the receiver's incarnation is not known, store the datagram and
        send a greeting.
        """
        if to == EVERYBODY:
            self._send_to_everybody(data, now)
            return
        known = self._known.get(to)
        if known is not None:
            self._frame(to, known, data)
            return
        if data and len(self._waiting[to]) < WAITING_MAX:
            self._waiting[to].append(data)
        self._greet(to, _UNKNOWN, now)

    def received(self, sender: int, frame: bytes, now: float) -> bytes | Rejected | None:
        """Return the endpoint's datagram in a frame from the address of `sender`, or the reason why there is
        none.

        Return None for a greeting that does not name the own incarnation, empty bytes for one that does.

        Raises:
            GroupFailed: the sender was started again.
        """
        opened = self._sealing.open(sender, frame)
        if isinstance(opened, Rejected):
            return opened
        data = opened.data
        known = self._known.get(sender, _UNKNOWN)
        if opened.source < known:
            told = f"from incarnation {opened.source.hex()} of process {sender}, before {known.hex()}"
            return Rejected(Rejection.FOREIGN_INCARNATION, told)
        if opened.target != (self._everybody if opened.to == EVERYBODY else self._own):
            if opened.to == EVERYBODY:
                self._greet_unknown(sender, opened.source, now)
            else:
                self._greet(sender, opened.source, now)
            if not data:
                return None
            what = "all processes" if opened.to == EVERYBODY else "this process"
            told = f"for incarnation {opened.target.hex()} of {what}"
            return Rejected(Rejection.FOREIGN_INCARNATION, told)
        if opened.source != known:
            self._learn(sender, opened, now)
        if data:
            self._heard.add(sender)
        return data

    def frames_to_send(self) -> list[Datagram]:
        """Return, once, the frames to send, in order."""
        frames, self._frames = self._frames, []
        return frames

    def _learn(self, sender: int, opened: Opened, now: float) -> None:
        """Store the incarnation of a sender, and send the datagrams that waited for it; if there are none,
        answer with a greeting.
        """
        source = opened.source
        if sender in self._heard:
            raise GroupFailed(
                f"process {sender} was started again, as incarnation {source.hex()}; a group has the "
                "members that it began with: end all of them, then start all again"
            )
        self._known[sender] = source
        self._everybody = self._digest()
        self._sealing.confirm(sender, opened)
        waiting = self._waiting.pop(sender, [])
        for data in waiting:
            self._frame(sender, source, data)
        if not opened.data and not waiting:
            self._greet(sender, source, now)

    def _greet_unknown(self, sender: int, source: bytes, now: float) -> None:
        """Greet the sender or all unknown members, since this member and the sender know different
        incarnations, and neither can tell which are right (rule 5).
        """
        if source != self._known.get(sender):
            self._greet(sender, _UNKNOWN, now)  # who is known answers only a greeting that asks who it is
            return
        self._greet(sender, source, now)
        for process in self._others:
            if process != sender and process not in self._heard:
                self._greet(process, _UNKNOWN, now)

    def _send_to_everybody(self, data: bytes, now: float) -> None:
        if self._everybody is not None:
            self._frame(EVERYBODY, self._everybody, data)
            return
        for process in self._others:
            self.send(process, data, now)

    def _digest(self) -> bytes | None:
        """Return the digest of the incarnations of all members, if all are known."""
        if len(self._known) < len(self._others):
            return None
        named = sorted([*self._known.items(), (self._me, self._own)])
        return hashlib.blake2b(b"".join(own for _, own in named), digest_size=INCARNATION_BYTES).digest()

    def _greet(self, to: int, target: bytes, now: float) -> None:
        """Send a greeting, unless the member has got the allowed number of greetings already. Questions use
        up only a part of that number, so that answers remain possible.
        """
        since, count = self._greetings.get(to, (now, 0))
        if now - since >= GREETINGS_MS:
            since, count = now, 0
        if count < (GREETINGS_MAX // 2 if target == _UNKNOWN else GREETINGS_MAX):
            self._greetings[to] = (since, count + 1)
            self._frame(to, target, b"")

    def _frame(self, to: int, target: bytes, data: bytes) -> None:
        self._frames.append(Datagram(to, self._sealing.seal(to, target, data)))
