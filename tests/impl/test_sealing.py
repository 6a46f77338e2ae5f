"""Protection by a key: each datagram opens once, at one place, for one sender, in one group."""

from __future__ import annotations

import hmac
import random
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st

from antiphon.impl.errors import InvalidKey, Rejection
from antiphon.impl.transport import sealing
from antiphon.impl.transport.sealing import (
    EPOCH_BITS,
    FRAME_BYTES,
    INCARNATION_BYTES,
    SEAL_BYTES,
    WINDOW,
    Keyring,
    Opened,
    ReplayWindow,
    Sealed,
)
from antiphon.impl.transport.wire import Rejected

KEY, OTHER, THIRD = (bytes([k]) * 32 for k in range(3))
TARGET = b"target".ljust(INCARNATION_BYTES)


def sealed(me: int, *, run: int = 1, group: str = "g", keys: Keyring | None = None) -> Sealed:
    own = random.Random(f"{me}:{run}").randbytes(INCARNATION_BYTES)
    return Sealed(group, me, own, keys or Keyring(KEY))


def opened(receiver: Sealed, sender: int, frame: bytes) -> Opened:
    result = receiver.open(sender, frame)
    assert isinstance(result, Opened), result
    return result


def refused(receiver: Sealed, sender: int, frame: bytes) -> Rejection:
    result = receiver.open(sender, frame)
    assert isinstance(result, Rejected)
    assert result.detail
    return result.kind


def joined() -> tuple[Sealed, Sealed]:
    """Members 0 and 1, of which the second has confirmed the first."""
    one, other = sealed(0), sealed(1)
    other.confirm(0, opened(other, 0, one.seal(1, TARGET, b"first")))
    return one, other


def test_a_frame_opens_as_it_was_sealed() -> None:
    one, other = joined()
    for data in (b"", b"a", bytes(60_000)):
        frame = one.seal(1, TARGET, data)
        assert len(frame) == len(data) + FRAME_BYTES + SEAL_BYTES
        assert opened(other, 0, frame)[1:3] == (TARGET, data)


def test_what_the_documentation_says_in_numbers() -> None:
    assert (FRAME_BYTES, SEAL_BYTES, WINDOW, EPOCH_BITS, sealing.KEY_BYTES) == (36, 24, 4_096, 20, 32)


def test_a_frame_is_what_the_standards_make_of_it() -> None:
    """HKDF-Expand and AES-256-GCM as written in their own words, without the module's."""
    own = b"incarnation 0123"
    one = Sealed("group", 258, own, Keyring(KEY))
    frame = one.seal(772, TARGET, b"data")

    def expand(info: bytes) -> bytes:
        return hmac.digest(KEY, info + b"\x01", "sha256")

    head = expand(b"antiphon 1 mark group")[:4] + own + TARGET + (1).to_bytes(8, "big")
    places = bytes([1, 2, 3, 4]) + bytes(8) + own
    key = expand(b"antiphon 1 seal " + places + b"group")
    assert frame == head + AESGCM(key).encrypt(bytes(11) + b"\x01", b"data", head)


def test_any_change_of_any_bit_is_noticed() -> None:
    one, other = joined()
    frame = one.seal(1, TARGET, b"data")
    for bit in range(8 * len(frame)):
        changed = bytearray(frame)
        changed[bit // 8] ^= 1 << bit % 8
        kinds = {Rejection.FORGED} if bit >= 32 else {Rejection.FOREIGN_GROUP}
        assert refused(other, 0, bytes(changed)) in kinds
    for size in range(len(frame)):
        assert refused(other, 0, frame[:size]) in {Rejection.TRUNCATED, Rejection.FORGED}
    assert refused(other, 0, frame + b"\0") is Rejection.FORGED
    assert opened(other, 0, frame).data == b"data"


ELSEWHERE: dict[str, Callable[[bytes], Rejection]] = {
    "back at its sender, from the receiver's address": lambda frame: refused(sealed(0), 1, frame),
    "back at its sender, from its own address": lambda frame: refused(sealed(0), 0, frame),
    "at a third member": lambda frame: refused(sealed(2), 0, frame),
    "from a third member's address": lambda frame: refused(sealed(1), 2, frame),
    "in another group with this key": lambda frame: refused(sealed(1, group="h"), 0, frame),
    "in this group with another key": lambda frame: refused(sealed(1, keys=Keyring(OTHER)), 0, frame),
}


@pytest.mark.parametrize("where", ELSEWHERE)
def test_a_frame_opens_nowhere_else(where: str) -> None:
    frame = sealed(0).seal(1, TARGET, b"data")
    assert ELSEWHERE[where](frame) in {Rejection.FORGED, Rejection.FOREIGN_GROUP}
    assert opened(sealed(1), 0, frame).data == b"data"


def test_a_frame_whose_mark_was_changed_to_another_groups_is_forged_there() -> None:
    """The mark only says which key to try."""
    here, there = sealed(0).seal(1, TARGET, b"data"), sealed(0, group="h").seal(1, TARGET, b"data")
    assert refused(sealed(1, group="h"), 0, there[:4] + here[4:]) is Rejection.FORGED


def test_a_frame_opens_once() -> None:
    one, other = joined()
    frames = [one.seal(1, TARGET, b"%d" % k) for k in range(100)]
    order = random.Random(1).sample(frames, 100)
    assert sorted(int(opened(other, 0, frame).data) for frame in order) == list(range(100))
    assert {refused(other, 0, frame) for frame in order} == {Rejection.REPLAYED}


def test_the_frame_that_confirmed_its_sender_opens_once_too() -> None:
    one, other = sealed(0), sealed(1)
    frame = one.seal(1, TARGET, b"first")
    other.confirm(0, opened(other, 0, frame))
    assert refused(other, 0, frame) is Rejection.REPLAYED


def test_a_forged_frame_takes_no_counter() -> None:
    """A forger that guesses counters does not shut out the frames to come."""
    one, other = joined()
    frame = one.seal(1, TARGET, b"data")
    assert refused(other, 0, frame[:-1] + bytes([frame[-1] ^ 1])) is Rejection.FORGED
    assert opened(other, 0, frame).data == b"data"


def test_one_incarnation_of_each_member_is_known() -> None:
    """Sealed frames of another incarnation leave no trace and move no window."""
    one, other = joined()
    frames = [one.seal(1, TARGET, b"data") for _ in range(3)]
    assert opened(other, 0, frames[0])
    for run in range(2, 100):
        opened(other, 0, sealed(0, run=run).seal(1, TARGET, b"data"))
    assert refused(other, 0, frames[0]) is Rejection.REPLAYED
    assert opened(other, 0, frames[1])
    assert list(other._confirmed) == [0]


@given(st.lists(st.integers(1, 40)), st.integers(1, 3 * WINDOW))
def test_a_window_is_the_set_of_what_came(counters: list[int], ahead: int) -> None:
    window, came = ReplayWindow(), set[int]()
    for counter in [*counters, ahead, *counters]:
        known = max(came, default=0)
        assert window.fresh(counter) == (counter not in came and counter > known - WINDOW)
        if window.fresh(counter):
            window.take(counter)
            came.add(counter)


def test_a_window_ends_where_it_says() -> None:
    window = ReplayWindow()
    window.take(WINDOW + 1)
    assert [window.fresh(k) for k in (1, 2, WINDOW, WINDOW + 1, WINDOW + 2)] == [
        False,
        True,
        True,
        False,
        True,
    ]
    window.take(2)
    assert not window.fresh(2)
    window.take(WINDOW + 2)
    assert not window.fresh(2)
    assert window.fresh(3)


def test_no_nonce_and_key_come_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over members, receivers, restarts, groups, keys and epochs, each key and nonce seal one datagram."""
    used: list[tuple[bytes, bytes]] = []

    class Spy:
        def __init__(self, key: bytes) -> None:
            self._key = key

        def encrypt(self, nonce: bytes, data: bytes, head: bytes) -> bytes:
            used.append((self._key, nonce))
            return data + bytes(16)

    monkeypatch.setattr(sealing, "AESGCM", Spy)
    monkeypatch.setattr(sealing, "EPOCH_BITS", 3)
    for group in ("g", "h"):
        for me in range(3):
            for run in range(3):
                member = sealed(me, run=run, group=group)
                for keys in (Keyring(KEY), Keyring(OTHER, [KEY]), Keyring(KEY, [OTHER]), Keyring(KEY)):
                    member.rekey(keys)
                    for k in range(20):
                        member.seal(k % 3, TARGET, b"same")
    assert len(used) == 2 * 3 * 3 * 4 * 20 == len(set(used))
    assert len({nonce for _, nonce in used}) == 28
    assert len({key for key, _ in used}) > 2 * 3 * 3 * 3


def test_an_epoch_ends_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key changes every 2^EPOCH_BITS datagrams, also for those that come late; few ciphers are kept."""
    monkeypatch.setattr(sealing, "EPOCH_BITS", 3)
    one, other = joined()
    frames = [one.seal(1, TARGET, b"%d" % k) for k in range(100)]
    for k in (*range(5, 100), *range(5)):
        assert opened(other, 0, frames[k]).data == b"%d" % k
    assert len(other._confirmed[0].openers) == 8


def test_keys_change_in_three_steps_without_a_pause() -> None:
    """All accept the new key, all use it, all forget the old one; members take each step when they like."""
    one, other = joined()
    steps = [Keyring(KEY, [OTHER]), Keyring(OTHER, [KEY]), Keyring(OTHER)]
    before = one.seal(1, TARGET, b"before")
    for keys in steps:
        for member in (one, other):
            frame = one.seal(1, TARGET, b"data")
            member.rekey(keys)
            assert opened(other, 0, frame).data == b"data"
            assert opened(other, 0, one.seal(1, TARGET, b"more")).data == b"more"
            assert refused(other, 0, frame) in {Rejection.REPLAYED, Rejection.FOREIGN_GROUP}
    assert refused(other, 0, before) is Rejection.FOREIGN_GROUP


@pytest.mark.parametrize("key", [b"", b"short", bytes(31), bytes(33), "x" * 32, bytearray(32), None])
def test_a_key_is_32_bytes(key: object) -> None:
    for make in (lambda: Keyring(key), lambda: Keyring(KEY, [key])):  # type: ignore[arg-type]
        with pytest.raises(InvalidKey, match=r"key [01] is .*; a key is 32 random bytes") as caught:
            make()
        assert "short" not in str(caught.value)


def test_two_keys_with_one_mark_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = sealed(0)
    monkeypatch.setattr(sealing, "_MARK_BYTES", 0)
    with pytest.raises(InvalidKey, match="same mark"):
        one.rekey(Keyring(KEY, [OTHER]))
    monkeypatch.undo()
    assert opened(sealed(1), 0, one.seal(1, TARGET, b"as before")).data == b"as before"


def test_a_keyring_shows_no_key_and_holds_each_once() -> None:
    keys = Keyring(KEY, [OTHER, KEY, THIRD])
    assert repr(keys) == "Keyring(3 keys)"
    assert (keys.use, keys.accept) == (KEY, (OTHER, THIRD))
