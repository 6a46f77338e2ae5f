"""A group with a key encrypts and authenticates every datagram: without the key nobody reads or sends one.

1. A frame is the mark of group and key, the sender's incarnation, the receiver's as far as the sender knows
   it, a counter, and the sealed bytes: AES-256-GCM, with all that stands before them authenticated too.
2. No nonce comes twice under one key. Each incarnation of a sender has a key of its own for each receiver and
   for each 2^EPOCH_BITS datagrams: HKDF (RFC 5869) of the group's key, by incarnation, members, the counter's
   upper bits and the group's name. The counter, which never goes back, is the nonce.
3. So a datagram verifies at one place only. Sent back to its sender, to a third member, from another member's
   address, or in another group, it is as good as forged. A frame for everybody has a mark of its own, a key
   and a counter of its own, and verifies once at each of the others.
4. A counter is taken once. What came already, or lies WINDOW or more behind the highest, is refused. This is
   known of one incarnation of each member, the one that was confirmed; nothing is kept of any other.
5. Several keys may be accepted, and one is used. Counters go on when the keys change.

A group without a key has frames without counter and seal, `Plain`. Incarnations come from the caller, who
makes a new one for each run; this module must not know a socket, a clock, or what an incarnation proves.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from antiphon.impl.errors import InvalidKey, Rejection
from antiphon.impl.transport.wire import EVERYBODY, Rejected

__all__ = [
    "EPOCH_BITS",
    "FRAME_BYTES",
    "INCARNATION_BYTES",
    "KEY_BYTES",
    "SEAL_BYTES",
    "WINDOW",
    "Keyring",
    "Opened",
    "Plain",
    "ReplayWindow",
    "Sealed",
    "Sealing",
]

KEY_BYTES = 32
"""Number of bytes of a group's key, drawn at random."""

INCARNATION_BYTES = 16
"""Number of bytes of an incarnation, which names one run of one member uniquely."""

_MARK_BYTES = 4

_FRAME = Struct(f"!{_MARK_BYTES}s{INCARNATION_BYTES}s{INCARNATION_BYTES}s")
_SEALED = Struct(_FRAME.format + "Q")
_TAG_BYTES = 16

FRAME_BYTES = _FRAME.size
"""Number of bytes that a frame without a key adds to an endpoint's bytes; the size of a greeting."""

SEAL_BYTES = _SEALED.size + _TAG_BYTES - FRAME_BYTES
"""Number of bytes that a key adds to a frame."""

EPOCH_BITS = 20
"""Number of bits of a counter that one key covers: it seals at most 2^20 datagrams of at most 2^12 blocks,
far below what AES-GCM allows (RFC 9001, B.1).
"""

WINDOW = 4_096
"""Largest number of datagrams that may overtake another one between two members."""

_OPENERS_MAX = 8
"""Largest number of ciphers kept for a sender: of two epochs, under two keys, for one member and for all."""

_MARK = b"antiphon 1 mark "
_MARK_FOR_EVERYBODY = b"antiphon 1 all  "
_SEAL = b"antiphon 1 seal "
_PLACES = Struct(f"!HhQ{INCARNATION_BYTES}s")


class Keyring:
    """Keys that a member accepts; it seals with the first one. `repr` shows none of them."""

    __slots__ = ("_keys",)

    def __init__(self, use: bytes, accept: Iterable[bytes] = ()) -> None:
        """Make a keyring that seals with `use`, and opens frames sealed with it or one of `accept`.

        Raises:
            InvalidKey: a key has not KEY_BYTES.
        """
        self._keys = tuple(dict.fromkeys(_key(place, key) for place, key in enumerate((use, *accept))))

    @property
    def use(self) -> bytes:
        """Key to seal with."""
        return self._keys[0]

    @property
    def accept(self) -> tuple[bytes, ...]:
        """Other keys that open frames."""
        return self._keys[1:]

    def __repr__(self) -> str:
        return f"Keyring({len(self._keys)} keys)"


class Opened(NamedTuple):
    """Authentic frame: the incarnations that it names, and the endpoint's bytes, none for a greeting."""

    source: bytes
    target: bytes
    data: bytes
    counter: int
    to: int
    """The receiver, or EVERYBODY."""


class Sealing(Protocol):
    """Interface of the two forms of frames on the wire: encrypted under a key, or plain."""

    def seal(self, to: int, target: bytes, data: bytes) -> bytes:
        """Return the frame with these bytes for member `to`, or for EVERYBODY. `target` is the incarnation of
        the receiver, as far as it is known.
        """
        ...

    def open(self, sender: int, frame: bytes) -> Opened | Rejected:
        """Open a frame from the address of member `sender`; return its content or the reason of its
        rejection. Never raises.
        """
        ...

    def confirm(self, sender: int, opened: Opened) -> None:
        """Accept the incarnation in an opened frame as the sender's from now on. From then on each of its
        counters is accepted once.
        """
        ...


class Plain:
    """Encoder and decoder of unencrypted frames, for a group without a key: everybody can read and make
    them.
    """

    def __init__(self, group: str, me: int, own: bytes) -> None:
        """Make frames of incarnation `own` of member `me`."""
        self._group = group
        self._me = me
        self._own = own
        name = group.encode()
        self._mark = hashlib.blake2b(name, digest_size=_MARK_BYTES).digest()
        self._mark_for_everybody = hashlib.blake2b(name, digest_size=_MARK_BYTES, person=b"all").digest()

    def seal(self, to: int, target: bytes, data: bytes) -> bytes:
        """Return the frame with these bytes, unencrypted."""
        mark = self._mark_for_everybody if to == EVERYBODY else self._mark
        return _FRAME.pack(mark, self._own, target) + data

    def open(self, sender: int, frame: bytes) -> Opened | Rejected:  # noqa: ARG002 - all senders are alike
        """Decode a frame of the group; return its content or the reason of its rejection. Never raises."""
        if len(frame) < FRAME_BYTES:
            return Rejected(Rejection.TRUNCATED, f"{len(frame)} bytes; a frame has at least {FRAME_BYTES}")
        mark, source, target = _FRAME.unpack_from(frame)
        if mark not in (self._mark, self._mark_for_everybody):
            return Rejected(
                Rejection.FOREIGN_GROUP, f"mark {mark.hex()}; {self._group!r} has {self._mark.hex()}"
            )
        to = self._me if mark == self._mark else EVERYBODY
        return Opened(source, target, frame[FRAME_BYTES:], 0, to)

    def confirm(self, sender: int, opened: Opened) -> None:
        """Do nothing: in a group without a key, an attacker's copy of a datagram looks like one that the
        network duplicated.
        """


class ReplayWindow:
    """Record of the counters 1, 2, 3, ... that have arrived, within a window behind the highest one."""

    __slots__ = ("_came", "_highest")

    def __init__(self) -> None:
        self._highest = 0
        self._came = 0
        """Bits of the counters that have come: bit k is the counter `highest - k`."""

    def fresh(self, counter: int) -> bool:
        """Return True if this counter has not arrived yet, and is not behind the window."""
        behind = self._highest - counter
        return behind < 0 or (behind < WINDOW and not self._came >> behind & 1)

    def take(self, counter: int) -> None:
        """Record that a counter has come."""
        ahead = counter - self._highest
        if ahead <= 0:
            self._came |= 1 << -ahead
            return
        self._highest = counter
        self._came = self._came << ahead & _ALL | 1 if ahead < WINDOW else 1


_ALL = (1 << WINDOW) - 1


class _Marked(NamedTuple):
    """Meaning of the mark at the head of a frame: the key, and whether the frame is for everybody."""

    key: bytes
    to: int
    """The place of this member if the frame is for it alone, else EVERYBODY."""


class _Confirmed:
    """Confirmed incarnation of a member, with its counters and ciphers."""

    __slots__ = ("openers", "source", "windows")

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.windows: defaultdict[int, ReplayWindow] = defaultdict(ReplayWindow)
        """Counters that have come, by the receiver of the frames: this member, or EVERYBODY."""
        self.openers: dict[tuple[bytes, int], AESGCM] = {}


class Sealed:
    """Encoder and decoder of encrypted frames, for one member of a group with keys."""

    def __init__(self, group: str, me: int, own: bytes, keyring: Keyring) -> None:
        """Make frames of incarnation `own` of member `me`. Raises `InvalidKey` as `rekey`."""
        self._name = group.encode()
        self._me = me
        self._own = own
        self._counters: defaultdict[int, int] = defaultdict(int)
        self._confirmed: dict[int, _Confirmed] = {}
        self.rekey(keyring)

    def rekey(self, keyring: Keyring) -> None:
        """Replace the keys: the first key is used, all are accepted. Counters and windows go on.

        Raises:
            InvalidKey: two of the keys cannot be told apart by their marks; the keys are as they were.
        """
        keys = (keyring.use, *keyring.accept)
        marks = {
            self._derived(key, what, _MARK_BYTES): _Marked(key, to)
            for key in keys
            for what, to in ((_MARK, self._me), (_MARK_FOR_EVERYBODY, EVERYBODY))
        }
        if len(marks) < 2 * len(keys):
            raise InvalidKey("two of these keys have the same mark: draw another one")
        self._keys = marks
        self._marks = {marked.to: mark for mark, marked in marks.items() if marked.key == keyring.use}
        self._sealers: dict[int, AESGCM] = {}
        for confirmed in self._confirmed.values():
            confirmed.openers = {at: one for at, one in confirmed.openers.items() if at[0] in self._keys}

    def seal(self, to: int, target: bytes, data: bytes) -> bytes:
        """Return the encrypted frame with these bytes; only member `to`, or each member in case of EVERYBODY,
        can open it, once.
        """
        self._counters[to] = counter = self._counters[to] + 1
        sealer = self._sealers.get(to)
        mark = self._marks[EVERYBODY if to == EVERYBODY else self._me]
        if sealer is None or not counter & (1 << EPOCH_BITS) - 1:
            sealer = self._sealers[to] = self._cipher(mark, self._me, to, self._own, counter)
        head = _SEALED.pack(mark, self._own, target, counter)
        return head + sealer.encrypt(_nonce(counter), data, head)

    def open(self, sender: int, frame: bytes) -> Opened | Rejected:
        """Authenticate and decrypt a frame of `sender` for this member or for all; reject a frame that
        arrived before.
        """
        least = FRAME_BYTES + SEAL_BYTES
        if len(frame) < least:
            return Rejected(Rejection.TRUNCATED, f"{len(frame)} bytes; a sealed frame has at least {least}")
        head = frame[: _SEALED.size]
        mark, source, target, counter = _SEALED.unpack(head)
        if mark not in self._keys:
            known = ", ".join(each.hex() for each, (_, to) in self._keys.items() if to == self._me)
            return Rejected(Rejection.FOREIGN_GROUP, f"mark {mark.hex()}; this group's keys have {known}")
        confirmed = self._confirmed.get(sender)
        if confirmed is not None and confirmed.source != source:
            confirmed = None
        to = self._keys[mark].to
        if confirmed is not None and not confirmed.windows[to].fresh(counter):
            return Rejected(Rejection.REPLAYED, f"datagram {counter} of process {sender}")
        at = (mark, counter >> EPOCH_BITS)
        opener = None if confirmed is None else confirmed.openers.get(at)
        if opener is None:
            opener = self._cipher(mark, sender, to, source, counter)
        try:
            data = opener.decrypt(_nonce(counter), memoryview(frame)[_SEALED.size :], head)
        except InvalidTag:
            return Rejected(
                Rejection.FORGED,
                f"not sealed by process {sender} for process {self._me} with a key of the group",
            )
        if confirmed is not None:
            confirmed.windows[to].take(counter)
            if at not in confirmed.openers:
                _keep(confirmed.openers, at, opener)
        return Opened(source, target, data, counter, to)

    def confirm(self, sender: int, opened: Opened) -> None:
        """Accept the incarnation in an opened frame as the sender's from now on: record its counters, and
        those of no other incarnation of the sender.
        """
        confirmed = self._confirmed[sender] = _Confirmed(opened.source)
        confirmed.windows[opened.to].take(opened.counter)

    def _derived(self, key: bytes, what: bytes, size: int) -> bytes:
        """Derive a key by the second step of HKDF for this group. A random key does not need the first step
        (RFC 5869, section 3.3).
        """
        return HKDFExpand(SHA256(), size, what + self._name).derive(key)

    def _cipher(self, mark: bytes, sender: int, to: int, source: bytes, counter: int) -> AESGCM:
        """Return the cipher for the datagrams that an incarnation of one member sends to another member in
        one epoch of the counter.
        """
        places = _PLACES.pack(sender, to, counter >> EPOCH_BITS, source)
        return AESGCM(self._derived(self._keys[mark].key, _SEAL + places, KEY_BYTES))


def _key(place: int, key: object) -> bytes:
    if isinstance(key, bytes) and len(key) == KEY_BYTES:
        return key
    told = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
    wanted = f"a key is {KEY_BYTES} random bytes, as of secrets.token_bytes({KEY_BYTES})"
    raise InvalidKey(f"key {place} is {told}; {wanted}")


def _nonce(counter: int) -> bytes:
    return counter.to_bytes(12)


def _keep(openers: dict[tuple[bytes, int], AESGCM], at: tuple[bytes, int], opener: AESGCM) -> None:
    """Store an opener in the cache; remove the oldest entry if the cache is full."""
    if len(openers) >= _OPENERS_MAX:
        del openers[next(iter(openers))]
    openers[at] = opener
