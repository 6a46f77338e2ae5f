"""Datagrams between processes that come and go: each names the sending run and the receiving run.

A frame is the mark of group and key, the sender's incarnation, the receiver's as far as the sender knows it,
a counter, and the bytes, sealed with AES-256-GCM as in `sealing`. Here members have no numbers, and so a key
is for two incarnations: HKDF of the group's key, by both and the counter's upper bits.

1. A frame that does not name the own incarnation never reaches the group. It is answered with a greeting, a
   frame without bytes, of which one address gets at most GREETINGS_MAX in GREETINGS_MS.
2. A frame that names the own incarnation comes from a process that has heard from this one in this run. So
   datagrams of an earlier run, and recorded ones, have no effect.
3. Each counter of an incarnation is accepted once. Counters are kept for the PEERS_MAX incarnations that were
   heard last: only a frame that names the own incarnation, and is new, counts as heard. So without the key
   nobody can make this process forget one. From then on a frame is refused if its incarnation is not among
   them and no later than a forgotten one: it may have been recorded. Other incarnations, as those whose
   greetings are answered, have places of their own.
4. A datagram for an address without a known incarnation waits until that is known; a later one replaces it.
5. To open a frame of an incarnation that is not known takes a key of its own, whoever has sent it. At most
   STRANGERS_MAX are opened in GREETINGS_MS, and further ones are refused unread. So recorded or invented
   frames take a small part of the processor; while somebody floods this process with them, newcomers ask
   again and again until they are heard.

Without a key frames have the same head, and are not sealed: whoever reaches the members takes part. No clock
and no socket; this module must not know what the bytes hold.
"""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from antiphon.impl.errors import Rejection
from antiphon.impl.transport.incarnations import GREETINGS_MAX, GREETINGS_MS
from antiphon.impl.transport.sealing import EPOCH_BITS, INCARNATION_BYTES, KEY_BYTES, Keyring, ReplayWindow
from antiphon.impl.transport.wire import Rejected

__all__ = [
    "FRAME_BYTES",
    "MARK_BYTES",
    "PEERS_MAX",
    "STRANGERS_MAX",
    "UNNAMED",
    "Address",
    "Frame",
    "Received",
    "Sessions",
]

Address = tuple[str, int]

PEERS_MAX = 2**14
"""Largest number of incarnations that were heard whose counters are kept: more than a primary has clients."""

STRANGERS_MAX = 256
"""Largest number of frames without a known session that are opened in GREETINGS_MS."""

GREETED_MAX = 1_024
"""Largest number of other incarnations whose counters are kept, and of addresses whose greetings count."""

UNNAMED = ""
"""Name for sessions with whoever has the key, and does not know a group's name; no group has this name."""

MARK_BYTES = 4
"""Number of bytes at the head of a frame that name its group and key."""

_HEAD = Struct(f"!{MARK_BYTES}s{INCARNATION_BYTES}s{INCARNATION_BYTES}sQ")
_TAG_BYTES = 16

FRAME_BYTES = _HEAD.size + _TAG_BYTES
"""Number of bytes that a frame adds to the bytes of the group."""

_UNKNOWN = bytes(INCARNATION_BYTES)
_MARK = b"antiphon 2 mark "
_SEAL = b"antiphon 2 seal "
_PLAIN_KEY = bytes(KEY_BYTES)
_CIPHERS_MAX = 4


class Frame(NamedTuple):
    """Datagram to send, with its address."""

    to: Address
    data: bytes


class Received(NamedTuple):
    """Content of a frame: the group's bytes, and the incarnation that sent them."""

    source: bytes
    data: bytes


class _Peer:
    """Incarnation of another process, with its counters and ciphers."""

    __slots__ = ("counter", "openers", "sealer", "window")

    def __init__(self) -> None:
        self.window = ReplayWindow()
        self.openers: dict[tuple[bytes, int], AESGCM] = {}
        self.sealer: AESGCM | None = None
        self.counter = 0
        """The counter of the last frame that was sent to this incarnation."""


class Sessions:
    """Sessions of one run of one process with others of its group. `now` is in milliseconds."""

    def __init__(self, group: str, own: bytes, keyring: Keyring | None) -> None:
        """Make sessions of incarnation `own` in the group with this name."""
        self._name = group.encode()
        self._own = own
        self._sealed = keyring is not None
        self._heard: OrderedDict[bytes, _Peer] = OrderedDict()
        """Incarnations that have sent a frame to the own one, the one that was heard last at the end."""
        self._greeted: OrderedDict[bytes, _Peer] = OrderedDict()
        """Other incarnations to which frames were sent, the last one at the end."""
        self._forgotten = _UNKNOWN
        """The latest of the heard incarnations that were forgotten."""
        self._counted = 0
        """The highest counter of a frame for an incarnation that was forgotten, heard or not."""
        self._at: dict[Address, bytes] = {}
        """Last incarnation at each address that has named the own incarnation, and so has heard it."""
        self._waiting: dict[Address, bytes] = {}
        self._greetings: dict[Address, tuple[float, int]] = {}
        self._strangers: tuple[float, int] = (float("-inf"), 0)
        """Time from which on frames without a known session are counted, and their number."""
        self._frames: list[Frame] = []
        self.rekey(keyring or Keyring(_PLAIN_KEY))

    @property
    def encrypted(self) -> bool:
        """Return True if the group has a key, so that only members can read and send."""
        return self._sealed

    @property
    def heard(self) -> tuple[bytes, ...]:
        """Return the incarnations that have named the own one, and are not forgotten."""
        return tuple(self._heard)

    def rekey(self, keyring: Keyring) -> None:
        """Replace the keys: the first key is used, all are accepted. Counters and windows go on."""
        self._keys = {self._derived(key, _MARK, MARK_BYTES): key for key in (keyring.use, *keyring.accept)}
        self._mark = self._derived(keyring.use, _MARK, MARK_BYTES)
        for peer in (*self._heard.values(), *self._greeted.values()):
            peer.sealer, peer.openers = None, {}

    def knows(self, mark: bytes) -> bool:
        """Return True if a key of the group makes this mark."""
        return mark in self._keys

    def send(self, to: Address, incarnation: bytes | None, data: bytes, now: float) -> None:
        """Send bytes to this incarnation; without one, to the process at the address, once its incarnation is
        known.
        """
        known = incarnation or self._at.get(to)
        if known is None:
            self._waiting[to] = data
            self._greet(to, _UNKNOWN, now)
        else:
            self._frames.append(Frame(to, self._seal(known, data)))

    def received(self, address: Address, frame: bytes, now: float) -> Received | Rejected | None:
        """Return the group's bytes in a frame from an address, or the reason for rejecting it; None for a
        greeting, which has none.
        """
        if len(frame) < FRAME_BYTES:
            return Rejected(Rejection.TRUNCATED, f"{len(frame)} bytes; a frame has at least {FRAME_BYTES}")
        head = frame[: _HEAD.size]
        mark, source, target, counter = _HEAD.unpack(head)
        if mark not in self._keys:
            return Rejected(Rejection.FOREIGN_GROUP, f"mark {mark.hex()}; this group has {self._mark.hex()}")
        if source == self._own:
            return Rejected(Rejection.OWN_ECHO, "from this process itself")
        mine = target == self._own
        peer = self._heard.get(source)
        if mine and peer is not None and not peer.window.fresh(counter):
            return Rejected(Rejection.REPLAYED, f"datagram {counter} of incarnation {source.hex()}")
        if mine and peer is None and source <= self._forgotten:
            return Rejected(Rejection.REPLAYED, f"incarnation {source.hex()}, which is not known any more")
        known = mine and peer is not None and (mark, counter >> EPOCH_BITS) in peer.openers
        if self._sealed and not known and not self._opens_one_more(now):
            return Rejected(Rejection.TOO_MANY, f"incarnation {source.hex()} has no session here")
        data = self._open(peer if mine else None, mark, source, target, counter, head, frame)
        if data is None:
            return Rejected(Rejection.FORGED, "not sealed with a key of the group")
        if not mine:
            self._greet(address, source, now)
            if not data:
                return None
            return Rejected(Rejection.FOREIGN_INCARNATION, f"for incarnation {target.hex()}")
        self._hear(source).window.take(counter)
        if self._at.get(address) != source:
            self._met(address, source)
        return Received(source, data) if data else None

    def frames_to_send(self) -> list[Frame]:
        """Return, once, the frames to send, in order."""
        frames, self._frames = self._frames, []
        return frames

    def _met(self, address: Address, source: bytes) -> None:
        """Store the incarnation that runs at an address, and send the datagram that waited for it; if none
        did, answer with a greeting, so that the other process knows this one too.
        """
        self._at[address] = source
        while len(self._at) > PEERS_MAX:
            del self._at[next(iter(self._at))]
        self._frames.append(Frame(address, self._seal(source, self._waiting.pop(address, b""))))

    def _hear(self, source: bytes) -> _Peer:
        """Return an incarnation that has sent an authentic frame to the own one, as the one heard last."""
        peer = self._heard.get(source)
        if peer is None:
            self._heard[source] = peer = self._greeted.pop(source, None) or self._new()
            if len(self._heard) > PEERS_MAX:
                forgotten, gone = self._heard.popitem(last=False)
                self._forgotten = max(self._forgotten, forgotten)
                self._counted = max(self._counted, gone.counter)
        else:
            self._heard.move_to_end(source)
        return peer

    def _target(self, target: bytes) -> _Peer:
        """Return an incarnation to which a frame is sent, heard or not."""
        peer = self._heard.get(target) or self._greeted.get(target)
        if peer is None:
            self._greeted[target] = peer = self._new()
            if len(self._greeted) > GREETED_MAX:
                _, gone = self._greeted.popitem(last=False)
                self._counted = max(self._counted, gone.counter)
        elif target in self._greeted:
            self._greeted.move_to_end(target)
        return peer

    def _new(self) -> _Peer:
        """Return an incarnation that is not known. It may be one that was forgotten, and no counter seals
        twice.
        """
        peer = _Peer()
        peer.counter = self._counted
        return peer

    def _opens_one_more(self, now: float) -> bool:
        """Return True, and count it, if one more frame without a known session is opened now."""
        since, count = self._strangers
        if now - since >= GREETINGS_MS:
            since, count = now, 0
        self._strangers = since, min(count + 1, STRANGERS_MAX + 1)
        return count < STRANGERS_MAX

    def _greet(self, to: Address, target: bytes, now: float) -> None:
        since, count = self._greetings.get(to, (now, 0))
        if now - since >= GREETINGS_MS:
            since, count = now, 0
        if len(self._greetings) > GREETED_MAX:
            self._greetings.clear()
        if count < GREETINGS_MAX:
            self._greetings[to] = (since, count + 1)
            self._frames.append(Frame(to, self._seal(target, b"")))

    # Keys ---------------------------------------------------------------------------------------------------

    def _seal(self, target: bytes, data: bytes) -> bytes:
        peer = self._target(target)
        peer.counter = counter = peer.counter + 1
        head = _HEAD.pack(self._mark, self._own, target, counter)
        if not self._sealed:
            return head + data + bytes(_TAG_BYTES)
        if peer.sealer is None or not counter & (1 << EPOCH_BITS) - 1:
            peer.sealer = self._cipher(self._mark, self._own, target, counter)
        return head + peer.sealer.encrypt(counter.to_bytes(12), data, head)

    def _open(
        self, peer: _Peer | None, mark: bytes, source: bytes, target: bytes, counter: int, head: bytes,
        frame: bytes,
    ) -> bytes | None:  # fmt: skip
        if not self._sealed:
            return frame[_HEAD.size : -_TAG_BYTES]
        at = (mark, counter >> EPOCH_BITS)
        opener = None if peer is None else peer.openers.get(at)
        if opener is None:
            opener = self._cipher(mark, source, target, counter)
        try:
            data = opener.decrypt(counter.to_bytes(12), memoryview(frame)[_HEAD.size :], head)
        except InvalidTag:
            return None
        if target == self._own:
            openers = self._hear(source).openers
            if at not in openers:
                if len(openers) >= _CIPHERS_MAX:
                    del openers[next(iter(openers))]
                openers[at] = opener
        return data

    def _derived(self, key: bytes, what: bytes, size: int) -> bytes:
        return HKDFExpand(SHA256(), size, what + self._name).derive(key)

    def _cipher(self, mark: bytes, source: bytes, target: bytes, counter: int) -> AESGCM:
        what = _SEAL + source + target + (counter >> EPOCH_BITS).to_bytes(8)
        return AESGCM(self._derived(self._keys[mark], what, KEY_BYTES))
