"""Frames name the run that sent them and the run that they are for; nothing else has an effect."""

from __future__ import annotations

from collections import Counter

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from antiphon.impl.errors import Rejection
from antiphon.impl.primary_backup import CLIENTS_MAX
from antiphon.impl.transport import sessions as module
from antiphon.impl.transport.incarnations import GREETINGS_MAX, GREETINGS_MS
from antiphon.impl.transport.sealing import Keyring
from antiphon.impl.transport.sessions import FRAME_BYTES, STRANGERS_MAX, Frame, Received, Sessions
from antiphon.impl.transport.wire import Rejected

A, B, C = ("10.0.0.1", 1), ("10.0.0.2", 2), ("10.0.0.3", 3)
KEY, OTHER = bytes([1]) * 32, bytes([2]) * 32
FEW = 60
"""Number of others whose counters are kept in these tests."""


@pytest.fixture(autouse=True)
def few_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the counters of few others."""
    assert module.PEERS_MAX > CLIENTS_MAX, "each client of a primary is one"
    for name in ("PEERS_MAX", "GREETED_MAX"):
        monkeypatch.setattr(module, name, FEW)


def sessions(name: str, key: bytes | None = KEY, group: str = "g") -> Sessions:
    """A run of a process whose incarnation is made of this letter."""
    return Sessions(group, name.encode() * 16, None if key is None else Keyring(key))


def exchange(one: Sessions, at: tuple[str, int], other: Sessions, to: tuple[str, int]) -> list[object]:
    """Carry frames to and fro until there are none; what came out, in order."""
    came: list[object] = []
    for _ in range(10):
        frames = one.frames_to_send()
        came += [other.received(at, frame.data, 0.0) for frame in frames if frame.to == to]
        answers = other.frames_to_send()
        came += [one.received(to, frame.data, 0.0) for frame in answers if frame.to == at]
        if not frames and not answers:
            break
    return [item for item in came if item is not None]


@pytest.mark.parametrize("key", [KEY, None])
def test_what_is_for_an_address_arrives_once_both_know_each_other(key: bytes | None) -> None:
    a, b = sessions("a", key), sessions("b", key)
    a.send(B, None, b"hello", 0.0)
    (greeting,) = a.frames_to_send()
    assert len(greeting.data) == FRAME_BYTES, "what nobody has answered is not sent"
    assert b.received(A, greeting.data, 0.0) is None
    assert exchange(b, B, a, A) == [Received(b"a" * 16, b"hello")]
    a.send(B, None, b"again", 0.0)
    (frame,) = a.frames_to_send()
    assert b.received(A, frame.data, 0.0) == Received(b"a" * 16, b"again")


def met(key: bytes | None = KEY) -> tuple[Sessions, Sessions, Frame]:
    """Two that know each other, and a frame that one has sent to the other."""
    a, b = sessions("a", key), sessions("b", key)
    a.send(B, None, b"hello", 0.0)
    exchange(a, A, b, B)
    a.send(B, b"b" * 16, b"more", 0.0)
    (frame,) = a.frames_to_send()
    return a, b, frame


def kind(result: object) -> Rejection | None:
    """Why a frame was refused."""
    return result.kind if isinstance(result, Rejected) else None


def test_a_frame_counts_once_from_whatever_address_and_is_not_for_a_third() -> None:
    a, b, frame = met()
    assert kind(sessions("c").received(A, frame.data, 0.0)) is Rejection.FOREIGN_INCARNATION
    assert kind(a.received(B, frame.data, 0.0)) is Rejection.OWN_ECHO
    assert b.received(C, frame.data, 0.0) == Received(b"a" * 16, b"more"), "addresses may change"
    assert kind(b.received(C, frame.data, 0.0)) is Rejection.REPLAYED


def test_nothing_enters_without_the_key() -> None:
    _, b, frame = met()
    for place in range(FRAME_BYTES):
        changed = bytearray(frame.data)
        changed[place] ^= 1
        assert isinstance(b.received(A, bytes(changed), 0.0), Rejected), f"byte {place}"
    assert kind(b.received(A, frame.data[:20], 0.0)) is Rejection.TRUNCATED
    stranger = sessions("c", OTHER)
    stranger.send(B, b"b" * 16, b"hello", 0.0)
    (forged,) = stranger.frames_to_send()
    assert kind(b.received(C, forged.data, 0.0)) is Rejection.FOREIGN_GROUP
    assert b.received(A, frame.data, 0.0) == Received(b"a" * 16, b"more"), "and nothing has disturbed it"


def test_what_an_earlier_run_was_sent_is_refused_and_answered_with_a_greeting() -> None:
    a, _, frame = met()
    again = sessions("c")
    assert kind(again.received(A, frame.data, 0.0)) is Rejection.FOREIGN_INCARNATION
    (greeting,) = again.frames_to_send()
    assert a.received(B, greeting.data, 0.0) is None
    a.send(B, None, b"who?", 0.0)
    assert exchange(a, A, again, B) == [Received(b"a" * 16, b"who?")], "the address has another one now"


def test_a_recorded_run_has_no_effect_on_the_next_one() -> None:
    a, b = sessions("a"), sessions("b")
    a.send(B, None, b"hello", 0.0)
    recorded = a.frames_to_send()
    for frame in recorded:
        b.received(A, frame.data, 0.0)
    for frame in b.frames_to_send():
        a.received(B, frame.data, 0.0)
    recorded += a.frames_to_send()
    again = sessions("c")
    for frame in recorded * 3:
        assert not isinstance(again.received(A, frame.data, 0.0), Received)


def test_greetings_are_few() -> None:
    b = sessions("b")
    for place in range(100):
        a = Sessions("g", place.to_bytes(16), Keyring(KEY))
        a.send(B, None, b"hello", 0.0)
        b.received(A, a.frames_to_send()[0].data, 0.0)
    assert len(b.frames_to_send()) <= GREETINGS_MAX


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "invented"])
def test_a_flood_of_strangers_takes_few_keys_and_stops_no_known_session(
    monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    """Without the key anybody may send frames of new incarnations from any address."""
    _, b, frame = met()
    made: list[int] = []
    whole = Sessions._cipher

    def counted(self: Sessions, mark: bytes, source: bytes, target: bytes, counter: int) -> AESGCM:
        made.append(counter)
        return whole(self, mark, source, target, counter)

    flood = []
    for place in range(5 * STRANGERS_MAX):
        stranger = Sessions("g", (place + 1).to_bytes(16), Keyring(KEY))
        stranger.send(B, None, b"hello", 0.0)
        (greeting,) = stranger.frames_to_send()
        flood.append(greeting.data if recorded else greeting.data[:20] + b"b" * 16 + greeting.data[36:])
    monkeypatch.setattr(Sessions, "_cipher", counted)
    kinds = Counter(
        one.kind
        for place, data in enumerate(flood)
        if isinstance(one := b.received(("10.1.0.1", place), data, 200.0), Rejected)
    )
    assert kinds[Rejection.TOO_MANY] == 4 * STRANGERS_MAX
    assert len(made) <= 2 * STRANGERS_MAX, "one to open, and one to answer"
    assert b.received(A, frame.data, 200.0) == Received(b"a" * 16, b"more"), "a known session needs none"
    c = sessions("c")
    c.send(B, None, b"I am new", 250.0)
    (greeting,) = c.frames_to_send()
    assert kind(b.received(C, greeting.data, 250.0)) is Rejection.TOO_MANY
    b.frames_to_send()
    assert b.received(C, greeting.data, 200.0 + GREETINGS_MS) is None
    assert len(b.frames_to_send()) == 1, "a newcomer is answered a little later"


def test_what_is_known_of_others_is_bounded() -> None:
    b = sessions("b")
    for place in range(1, FEW + 50):
        a = Sessions("g", place.to_bytes(16), Keyring(KEY))
        a.send(B, b"b" * 16, b"hello", 0.0)
        (frame,) = a.frames_to_send()
        assert isinstance(b.received(("10.1.0.1", place), frame.data, 0.0), Received)
    assert len(b._heard) <= FEW
    assert len(b._at) <= FEW


def test_keys_change_without_a_pause() -> None:
    a, b, frame = met()
    b.rekey(Keyring(OTHER, [KEY]))
    assert b.received(A, frame.data, 0.0) == Received(b"a" * 16, b"more")
    a.rekey(Keyring(OTHER))
    a.send(B, b"b" * 16, b"new key", 0.0)
    (sealed,) = a.frames_to_send()
    assert b.received(A, sealed.data, 0.0) == Received(b"a" * 16, b"new key")
    b.rekey(Keyring(OTHER))
    old = sessions("d")
    old.send(B, b"b" * 16, b"old key", 0.0)
    (refused,) = old.frames_to_send()
    assert kind(b.received(C, refused.data, 0.0)) is Rejection.FOREIGN_GROUP


def test_another_group_has_other_keys() -> None:
    _, b, _ = met()
    other = sessions("c", group="h")
    other.send(B, b"b" * 16, b"hello", 0.0)
    (frame,) = other.frames_to_send()
    assert kind(b.received(C, frame.data, 0.0)) is Rejection.FOREIGN_GROUP


def test_what_was_recorded_of_a_run_that_was_forgotten_is_refused() -> None:
    """An attacker replays a frame after enough other runs have made the receiver forget its window."""
    a, b, frame = met()
    assert isinstance(b.received(A, frame.data, 0.0), Received)
    for number in range(FEW + 1):
        other = Sessions("g", b"c" + number.to_bytes(15), Keyring(KEY))
        other.send(B, b"b" * 16, b"hello", 0.0)
        (hello,) = other.frames_to_send()
        assert isinstance(b.received(C, hello.data, 0.0), Received)
    assert kind(b.received(A, frame.data, 0.0)) is Rejection.REPLAYED
    later = Sessions("g", b"d" * 16, Keyring(KEY))
    later.send(B, b"b" * 16, b"hello", 0.0)
    (hello,) = later.frames_to_send()
    assert isinstance(b.received(C, hello.data, 0.0), Received), "a later run is taken"
    assert a.frames_to_send() == []


def test_recorded_greetings_make_nobody_forget_a_member() -> None:
    """An attacker without the key sends the recorded greetings of many other runs again; and then one of the
    member's frames, after the receiver has sent to the member as with each heartbeat.
    """
    a, b, frame = met()
    assert isinstance(b.received(A, frame.data, 0.0), Received)
    for number in range(FEW + 1):
        looker = Sessions("g", b"c" + number.to_bytes(15), Keyring(KEY))
        looker.send(B, None, b"look", 0.0)
        (greeting,) = looker.frames_to_send()
        assert b.received(("10.1.0.1", number), greeting.data, 0.0) is None
    assert len(b._greeted) <= FEW
    b.send(A, b"a" * 16, b"heartbeat", 0.0)
    assert kind(b.received(A, frame.data, 0.0)) is Rejection.REPLAYED
    a.send(B, b"b" * 16, b"later", 0.0)
    (later,) = a.frames_to_send()
    assert b.received(A, later.data, 0.0) == Received(b"a" * 16, b"later"), "it is a member as before"


def test_only_a_new_frame_counts_as_heard() -> None:
    """Recorded greetings of runs that were heard make none of these later than a member."""
    a, b, frame = met()
    greetings = []
    for number in range(FEW - 1):
        looker = Sessions("g", b"c" + number.to_bytes(15), Keyring(KEY))
        looker.send(B, None, b"look", 0.0)
        looker.send(B, b"b" * 16, b"look", 0.0)
        greeting, look = looker.frames_to_send()
        assert isinstance(b.received(C, look.data, 0.0), Received)
        greetings.append(greeting.data)
    assert isinstance(b.received(A, frame.data, 0.0), Received)
    for number, greeting in enumerate(greetings):
        b.received(("10.1.0.1", number), greeting, 0.0)
    later = Sessions("g", b"d" * 16, Keyring(KEY))
    later.send(B, b"b" * 16, b"hello", 0.0)
    (hello,) = later.frames_to_send()
    assert isinstance(b.received(C, hello.data, 0.0), Received)
    a.send(B, b"b" * 16, b"later", 0.0)
    (again,) = a.frames_to_send()
    assert isinstance(b.received(A, again.data, 0.0), Received)


def test_a_run_that_was_forgotten_stays_so_although_it_is_sent_to() -> None:
    """Frames to a run that was forgotten do not make its recorded frames acceptable."""
    _, b, frame = met()
    assert isinstance(b.received(A, frame.data, 0.0), Received)
    for number in range(FEW + 1):
        other = Sessions("g", b"c" + number.to_bytes(15), Keyring(KEY))
        other.send(B, b"b" * 16, b"hello", 0.0)
        (hello,) = other.frames_to_send()
        assert isinstance(b.received(C, hello.data, 0.0), Received)
    b.send(A, b"a" * 16, b"heartbeat", 0.0)
    assert kind(b.received(A, frame.data, 0.0)) is Rejection.REPLAYED


def test_no_counter_seals_twice_although_who_it_is_for_was_forgotten() -> None:
    """Two frames under one key and one counter would tell who reads them what makes a seal."""
    a, b, _ = met()
    b.send(A, b"a" * 16, b"secret", 0.0)
    (sealed,) = b.frames_to_send()
    for number in range(FEW + 1):
        b.send(C, b"c" + number.to_bytes(15), b"hello", 0.0)
    b.frames_to_send()
    b.send(A, b"a" * 16, b"again", 0.0)
    (again,) = b.frames_to_send()
    head = FRAME_BYTES - 16
    assert again.data[: head - 8] == sealed.data[: head - 8], "from the same to the same"
    assert int.from_bytes(again.data[head - 8 : head]) > int.from_bytes(sealed.data[head - 8 : head])
    assert a.received(B, again.data, 0.0) == Received(b"b" * 16, b"again")


@pytest.mark.parametrize("bits", [8, 16, 20, 28, 31, 32, 48, 62])
@pytest.mark.parametrize("key", [KEY, None], ids=["sealed", "plain"])
def test_frames_are_opened_however_many_were_sent_before(bits: int, key: bytes | None) -> None:
    """The counter passes every size that a field, or the number of its epoch, might have had."""
    a, b, _ = met(key)
    peer = a._target(b"b" * 16)
    peer.counter, peer.sealer = 2**bits - 3, None
    for k in range(6):
        a.send(B, b"b" * 16, b"%d" % k, 0.0)
    assert exchange(a, A, b, B) == [Received(b"a" * 16, b"%d" % k) for k in range(6)]


def test_a_flood_from_ever_new_addresses_and_runs_fills_no_memory() -> None:
    """Records of others grow to their limits and not beyond, by whatever frames."""
    a = sessions("a")
    for k in range(10 * FEW):
        stranger = Sessions("g", k.to_bytes(16), Keyring(KEY))
        for target in (None, b"a" * 16, b"o" * 16):
            if target is None:
                stranger.send(A, None, b"hello", 0.0)
            else:
                stranger.send(A, target, b"hello", 0.0)
            for frame in stranger.frames_to_send():
                a.received(("10.0.1.1", k), frame.data, 200.0 * k)
        a.frames_to_send()
    kept = {name: len(value) for name, value in vars(a).items() if hasattr(value, "__len__")}
    assert max(kept.values()) <= FEW + 1, kept


def test_the_last_run_that_was_forgotten_is_among_those_whose_frames_are_refused() -> None:
    b, frames = sessions("b"), []
    for k in range(FEW + 1):
        other = Sessions("g", b"%08d" % k * 2, Keyring(KEY))
        other.send(B, b"b" * 16, b"hello", 0.0)
        frames += other.frames_to_send()
        assert isinstance(b.received(A, frames[-1].data, 300.0 * k), Received)
    assert b._forgotten == b"%08d" % 0 * 2
    assert kind(b.received(A, frames[0].data, 300.0 * FEW)) is Rejection.REPLAYED


@pytest.mark.parametrize("heard", [True, False])
def test_a_counter_never_seals_twice_for_a_run_whose_counters_were_forgotten(*, heard: bool) -> None:
    """Others push it out of those that are kept, be it one that was heard or one that was only sent to."""
    b, counters = sessions("b"), []

    def meet(name: bytes) -> None:
        if heard:
            other = Sessions("g", name, Keyring(KEY))
            other.send(B, b"b" * 16, b"hello", 0.0)
            (frame,) = other.frames_to_send()
            assert isinstance(b.received(A, frame.data, 300.0 * len(counters)), Received)
        b.frames_to_send()
        b.send(A, name, b"secret", 0.0)
        (sealed,) = b.frames_to_send()
        counters.append(int.from_bytes(sealed.data[FRAME_BYTES - 24 : FRAME_BYTES - 16]))

    for number in range(FEW + 1):
        meet(b"%08d" % number * 2)
    kept = {**b._heard, **b._greeted}
    assert b"%08d" % 0 * 2 not in kept
    b.send(A, b"%08d" % 0 * 2, b"again", 0.0)
    (again,) = b.frames_to_send()
    assert int.from_bytes(again.data[FRAME_BYTES - 24 : FRAME_BYTES - 16]) > counters[0]
