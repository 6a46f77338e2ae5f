"""A state comes whole although its donors crash, leave, are cut off or stopped in the middle of its pieces:
another donor goes on where the first one stopped, if it has the same bytes, or says why it begins again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import pytest
from tests.membership.states_in_time import SIZE, StatefulMembers, Texts

from antiphon.impl.layers import links
from antiphon.impl.membership import donors, transfer
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.member import Member, View
from antiphon.impl.membership.transfer import PIECE_BYTES, Snapshot, Transfers
from antiphon.impl.transport.simulated_members import ORDERED

PIECES = (8 + SIZE + PIECE_BYTES - 1) // PIECE_BYTES
"""Number of pieces of the state with nothing but its large text. The last two travel with the end."""


@pytest.fixture(autouse=True)
def one_piece_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a link send one datagram, and wait until it is acknowledged."""
    monkeypatch.setattr(links, "WINDOW", 1)


def group(seed: int, *, founders: int = 3, protocol: str = "irbp", **settings: Any) -> StatefulMembers:
    """Members with a state of several pieces, which broadcast, and one process more."""
    members = StatefulMembers(
        founders + 1, seed, protocol=protocol, seeds=range(founders), loss=0.05, **settings
    )
    members.found(range(founders))
    members.run(500.0)
    assert [len(members.life(process).views) for process in range(founders)] == [1] * founders, f"seed {seed}"
    return members


def talk(members: StatefulMembers, until: float) -> None:
    """Let the founders broadcast, each 10 ms, until then."""
    count = 0

    def say() -> None:
        nonlocal count
        count += 1
        for process in range(3):
            if members.up(process):
                members.say(process, b"%d of %d" % (count, process))
        if members.now < until:
            members.at(members.now + 10.0, say)

    members.at(members.now, say)


def agree(members: StatefulMembers, *processes: int) -> None:
    """Fail unless the applications of these processes have the same state, and wait for none."""
    states = [members.application(process).store.texts for process in processes]
    for process in processes:
        assert members.application(process).failed is None, f"seed {members.seed}"
        assert members.application(process).begun, f"seed {members.seed}"
        assert not members.application(process).states.awaited, f"seed {members.seed}, process {process}"
    assert all(state == states[0] for state in states), f"seed {members.seed}"
    assert len(states[0]) > 1
    assert len(states[0][0]) == SIZE


def asked(members: StatefulMembers, process: int) -> int:
    """Number of requests for a state of a process."""
    return members.life(process).machine.transfers._asked


def joins(members: StatefulMembers, pieces: int, then: Any, ms: float = 1_200.0) -> Any:
    """Let the last process join, and call this with its donor at this piece; its application."""
    last = len(members.lives) - 1
    talk(members, members.now + 700.0)
    members.at_piece = (last, pieces, then)
    members.at(members.now + 50.0, lambda: members.begin(last))
    members.run(members.now + ms)
    assert members.at_piece is None, f"seed {members.seed}: nothing happened at piece {pieces}"
    return members.application(last)


@pytest.mark.sampled(48)
@pytest.mark.parametrize("pieces", range(1, PIECES - 1))
@pytest.mark.parametrize("protocol", ORDERED)
def test_another_donor_goes_on_where_the_first_one_crashed(pieces: int, protocol: str) -> None:
    members = group(pieces, protocol=protocol)
    crashed: list[int] = []

    def crash(donor: int) -> None:
        crashed.append(donor)
        members.crash(donor)

    new = joins(members, pieces, crash)
    assert (len(new.resumed), new.anew, asked(members, 3)) == (1, [], 2), f"seed {members.seed}"
    assert new.resumed[0] >= pieces * PIECE_BYTES, f"seed {members.seed}"
    agree(members, *{0, 1, 2, 3} - set(crashed))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("what", ["leaves", "is cut off", "is stopped"])
def test_another_donor_goes_on_when_the_first_one(what: str, seed: int) -> None:
    members = group(seed)
    gone: list[int] = []

    def go(donor: int) -> None:
        gone.append(donor)
        if what == "leaves":
            members.cut = {(donor, 3)}  # no piece comes while it leaves
            members.at(members.now + 20.0, members.heal)
            members.depart(donor)
            members.at(members.now + 10.0, lambda: members.farewell(donor))
        elif what == "is cut off":
            members.part({donor}, {0, 1, 2, 3} - {donor})
        else:
            members.pause(donor, 800.0)

    new = joins(members, 4, go, 2_000.0)
    assert (len(new.resumed), new.anew) == (1, []), f"seed {seed}"
    assert new.resumed[0] >= 4 * PIECE_BYTES, f"seed {seed}"
    agree(members, *{0, 1, 2, 3} - (set() if what == "is stopped" else set(gone)))


def test_a_donor_with_other_bytes_says_so_and_begins_again() -> None:
    """Applications whose states have the same meaning may write it differently."""

    class Other(Texts):
        def __init__(self, process: int) -> None:
            super().__init__(SIZE)
            self.texts[0] = bytes([process]) + self.texts[0][1:]

    members = group(1, make=Other)
    crashed: list[int] = []

    def crash(donor: int) -> None:
        crashed.append(donor)
        members.crash(donor)

    new = joins(members, 5, crash)
    assert (new.resumed, new.anew) == ([], ["its state of that place has other bytes"])
    assert new.store.texts in [
        members.application(process).store.texts for process in {0, 1, 2} - set(crashed)
    ]


def test_a_third_donor_that_keeps_nothing_says_so_and_begins_again() -> None:
    members = group(1, founders=5)
    crashed: list[int] = []

    def crash(donor: int) -> None:
        crashed.append(donor)
        members.crash(donor)
        if len(crashed) == 1:
            members.at_piece = (5, 6, crash)

    new = joins(members, 3, crash)
    assert len(crashed) == 2
    assert (len(new.resumed), new.anew) == (1, ["it keeps none of that place"])
    agree(members, *set(range(6)) - set(crashed))


def test_many_join_at_once_while_one_donor_crashes() -> None:
    members = StatefulMembers(7, 1, seeds=range(4), loss=0.05)
    members.found(range(4))
    members.run(500.0)
    talk(members, 1_500.0)
    crashed: list[int] = []

    def crash(donor: int) -> None:
        crashed.append(donor)
        members.crash(donor)

    members.at_piece = (5, 4, crash)
    for process in (4, 5, 6):
        members.at(550.0 + process, lambda process=process: members.begin(process))
    members.run(5_000.0)
    assert len(crashed) == 1
    agree(members, *set(range(7)) - set(crashed))


def test_nothing_is_kept_when_all_have_their_state() -> None:
    members = group(1)
    members.loss = 0.0
    joins(members, 1, lambda _: None)
    agree(members, 0, 1, 2, 3)
    assert [members.life(process).machine.transfers.kept_bytes for process in range(4)] == [0] * 4
    assert all(members.life(process).machine.transfers.idle for process in range(4))


def without_state(members: StatefulMembers, process: int) -> None:
    """Let a process join whose application wants no state, so that the others keep one for it."""
    members.begin(process)
    members.application(process).states.store = None


def test_for_who_says_nothing_a_state_is_kept_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "KEPT_MS", 2_000.0)
    members = group(1)
    without_state(members, 3)
    members.run(members.now + 1_000.0)
    kept = [members.life(process).machine.transfers.kept_bytes for process in range(4)]
    assert kept == [0, SIZE + 8, SIZE + 8, 0], "the two keepers have it"
    members.run(members.now + 2_000.0)
    assert [members.life(process).machine.transfers.kept_bytes for process in range(4)] == [0] * 4


def test_a_state_that_is_kept_for_an_earlier_view_is_not_given() -> None:
    members = group(1)
    members.place()
    talk(members, 1_500.0)
    without_state(members, 3)
    members.run(1_000.0)
    kept = [members.life(process).machine.transfers.kept_bytes for process in range(3)]
    assert sum(size > 0 for size in kept) == donors.KEEPERS
    members.begin(4)
    members.run(2_500.0)
    agree(members, 0, 1, 2, 4)
    assert asked(members, 4) == 1


def test_what_nobody_needs_is_bounded_in_bytes_but_for_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "KEPT_BYTES_MAX", 100)
    transfers = Transfers()
    first, second, third = (Snapshot(number, number, [b"%d" % number]) for number in (1, 2, 3))
    for snapshot in (first, second, third):
        transfers.keep(snapshot, 0.0)
        transfers.add(snapshot, bytes(60))
    assert (first.dropped, second.dropped, third.dropped) == (True, False, False)
    transfers.add(third, bytes(200))
    assert (second.dropped, third.dropped, transfers.kept_bytes) == (False, False, 320)


def test_a_state_that_somebody_needs_is_kept_however_large_and_old_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer, "KEPT_BYTES_MAX", 100)
    transfers = Transfers()
    first, second = Snapshot(1, 1, [b"a"]), Snapshot(2, 2, [b"b"])
    transfers.keep(first, 0.0)
    transfers.needs(b"a", 50_000.0)
    transfers.needs(b"stranger", 100_000.0)
    transfers.keep(second, 50_000.0)
    transfers.add(first, bytes(300))
    transfers.add(second, bytes(300))
    transfers.tick(50_000.0 + transfer.KEPT_MS - 1.0)
    assert transfers.kept_bytes == 600
    transfers.tick(50_000.0 + transfer.KEPT_MS)
    assert transfers.kept_bytes == 0


@pytest.mark.parametrize("heeds", [True, False])
def test_a_large_state_whose_transfer_takes_long_goes_on_at_another_donor(
    monkeypatch: pytest.MonkeyPatch, heeds: bool
) -> None:
    """Others join meanwhile, so that the state is not the newest. A donor that does not heed that the new
    member still waits has forgotten the state.
    """
    monkeypatch.setattr(transfer, "KEPT_MS", 60.0)
    monkeypatch.setattr(transfer, "KEPT_BYTES_MAX", 100)
    if not heeds:
        monkeypatch.setattr(Transfers, "needs", lambda *_: None)
    members = StatefulMembers(5, 1, seeds=range(3))
    members.found(range(3))
    members.run(500.0)
    began: list[float] = []

    def delay(donor: int) -> None:
        began.append(members.now)
        members.cut = {(donor, 3)}  # no piece comes
        without_state(members, 4)
        members.at(members.now + 90.0, lambda: members.crash(donor))

    talk(members, 1_200.0)
    members.at_piece = (3, 4, delay)
    members.begin(3)
    members.run(2_500.0)
    new = members.application(3)
    assert began
    if heeds:
        assert (len(new.resumed), new.anew) == (1, [])
        assert new.resumed[0] >= 4 * PIECE_BYTES
    else:
        assert (new.resumed, new.anew) == ([], ["it keeps none of that place"])
    agree(members, *{0, 1, 2, 3} - {process for process in range(3) if not members.up(process)})


def test_a_snapshot_is_what_was_added_to_it_however_it_came() -> None:
    """Large parts are kept as they came, small ones collected; pieces and digests are those of the whole."""
    sizes = [1, 70_000, 5, 0, 65_536, 40_000, 40_000, 200_000, 3]
    parts = [bytes([number]) * size for number, size in enumerate(sizes)]
    whole = b"".join(parts)
    snapshot, resumed = Snapshot(1, 1), Snapshot(1, 1)
    for number, part in enumerate(parts):
        snapshot.add(part)
        snapshot.piece(len(snapshot) // PIECE_BYTES * PIECE_BYTES)  # one that is not whole yet
        resumed.add(memoryview(part) if number % 2 else part)
    assert len(snapshot) == len(whole)
    pieces = [snapshot.piece(at) for at in range(0, len(whole), PIECE_BYTES)]
    assert b"".join(pieces) == whole
    assert {len(piece) for piece in pieces[:-1]} == {PIECE_BYTES}
    assert snapshot.digest == blake2b(whole, digest_size=32).digest()
    begun = blake2b(whole[: 5 * PIECE_BYTES], digest_size=32).digest()
    assert not resumed.begins_with(5 * PIECE_BYTES + 1, begun)
    assert not resumed.begins_with(len(whole) + 1, begun)
    assert resumed.begins_with(5 * PIECE_BYTES, begun)
    rest = [resumed.piece(at) for at in range(5 * PIECE_BYTES, len(whole), PIECE_BYTES)]
    assert rest == pieces[5:]
    assert resumed.digest == snapshot.digest


def test_an_earlier_question_that_comes_late_ends_no_newer_transfer() -> None:
    asker, donor = Transfers(), Transfers()
    snapshot = Snapshot(1, 1, [b"asker"])
    donor.keep(snapshot, 0.0)
    donor.add(snapshot, bytes(100_000))
    donor.end(snapshot)
    asker.ask(b"donor", 1, 0.0)
    early = asker.datagrams(0.0)
    asker.ask(b"donor", 1, 1.0)
    for _, number, data in asker.datagrams(1.0):
        assert donor.received(b"asker", number, data, 2.0)
    begun = {number for _, number, _ in donor.datagrams(2.0)}
    for _, number, data in early:
        assert donor.received(b"asker", number, data, 3.0)
    donor.tick(500.0)
    assert {number for _, number, _ in donor.datagrams(500.0)} == begun
    assert len(begun) == 1


# Planted faults -----------------------------------------------------------------------------------------


def wrong_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a donor that goes on begin one piece too far."""
    fill = transfer._Giving.fill

    def skips(self: Any) -> None:
        if self.snapshot is not None and self.wanted.part is not None and not hasattr(self, "skipped"):
            self.skipped = True
            self.sent += PIECE_BYTES
        fill(self)

    monkeypatch.setattr(transfer._Giving, "fill", skips)


def old_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A donor gives the oldest state that it keeps, whichever is asked for."""
    serve = Transfers._serve
    monkeypatch.setattr(Transfers, "_serve", lambda self, wanted: serve(self, wanted._replace(after=0)))


def old_snapshot_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, and who joins takes whatever is given."""
    old_snapshot(monkeypatch)
    received = Transfers._item_received

    def takes(self: Any, item: bytes) -> bool:
        self._after = 0
        return received(self, item)

    monkeypatch.setattr(Transfers, "_item_received", takes)


def digest_not_compared_by_the_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A donor skips a piece, and who joins does not compare the digest at the end."""
    wrong_piece(monkeypatch)
    received = Transfers._item_received

    def takes(self: Any, item: bytes) -> bool:
        if item[:1] == b"\x01" and b"ended" in item:
            item = b"\x01" + transfer._encode(transfer._Ended(self._taking.digest.digest()))
        return received(self, item)

    monkeypatch.setattr(Transfers, "_item_received", takes)


def digest_not_compared_by_the_donor(monkeypatch: pytest.MonkeyPatch) -> None:
    """A donor goes on behind whatever pieces there are."""
    monkeypatch.setattr(Snapshot, "begins_with", lambda self, size, digest: size <= len(self))


def place_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A donor goes on with a state of another place."""
    serve = Transfers._serve

    def any_place(self: Any, wanted: Any) -> bool:
        part = wanted.part
        if part is not None and self._kept and not self.kept(part.number, part.view):
            giving = self._giving[wanted.by, wanted.transfer]
            giving.say(transfer._Resumed())
            giving.snapshot, giving.sent = self._kept[0], part.size
            return True
        return serve(self, wanted)

    monkeypatch.setattr(Transfers, "_serve", any_place)


def nobody_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every donor begins again."""
    monkeypatch.setattr(Snapshot, "begins_with", lambda self, size, digest: False)


def one_keeper(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only one member keeps the state at the cut."""
    monkeypatch.setattr(donors, "KEEPERS", 1)


def place_before_the_own_view(monkeypatch: pytest.MonkeyPatch) -> None:
    """A donor keeps the state under the place where its application stood one message before."""
    init = Snapshot.__init__
    monkeypatch.setattr(
        Snapshot, "__init__", lambda self, number, view, by=(): init(self, number - 1, view, by)
    )


def pieces_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the pieces when another donor is asked, and not how many there were."""
    monkeypatch.setattr(
        transfer._Taking, "go_on", lambda self, earlier: setattr(self, "begun", earlier.begun)
    )


DIFFERS = test_a_donor_with_other_bytes_says_so_and_begins_again


def crash_late() -> None:
    """The test of a donor that crashes near the end."""
    test_another_donor_goes_on_where_the_first_one_crashed(9, "irbp")


FAULTS = [
    (wrong_piece, crash_late),
    (digest_not_compared_by_the_receiver, crash_late),
    (old_snapshot, test_a_state_that_is_kept_for_an_earlier_view_is_not_given),
    (old_snapshot_taken, test_a_state_that_is_kept_for_an_earlier_view_is_not_given),
    (place_before_the_own_view, crash_late),
    (nobody_goes_on, crash_late),
    (one_keeper, crash_late),
    (pieces_forgotten, crash_late),
    (digest_not_compared_by_the_donor, DIFFERS),
    (place_not_compared, test_a_third_donor_that_keeps_nothing_says_so_and_begins_again),
]


@pytest.mark.sampled(12)
@pytest.mark.parametrize(("fault", "test"), FAULTS, ids=lambda one: one.__name__)
def test_a_planted_fault_is_found(fault: Any, test: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch)
    with pytest.raises((AssertionError, IndexError, ValueError)):
        test()


def test_a_late_datagram_of_an_earlier_request_ends_nothing() -> None:
    """A request replaces the earlier one, of which later datagrams have no effect."""
    giver, taker = Transfers(), Transfers()
    asked = []
    for _ in range(2):
        taker.ask(b"donor", 5, 0.0)
        ((_, transfer, data),) = taker.datagrams(0.0)
        asked.append((transfer, data))
        assert giver.received(b"taker", transfer, data, 0.0)
    late, present = asked
    assert giver.received(b"taker", *late, 1.0)
    assert [wanted.transfer for wanted in giver.wanted] == [present[0]]
    giver.refuse(giver.wanted[0], "none")
    for _, transfer, data in giver.datagrams(1.0):
        taker.received(b"donor", transfer, data, 1.0)
    assert taker.refusal == "none"


def test_who_has_refused_in_one_view_is_asked_again_in_the_next() -> None:
    """A donor that refuses may wait for a state itself."""
    names = [Member(bytes([place]) * 16, str(place), "10.0.0.1", 7_000 + place) for place in range(3)]
    choice, transfers = donors.Donors(LOCAL), Transfers()
    for number in (4, 5):
        view = View(number, tuple(names), (), (), ())
        for _ in range(2):
            assert choice.ask(transfers, names[2], view, (), 0, 0.0) is None
            transfers.waits, transfers.refusal = False, "it waits for a state itself"
        told = choice.ask(transfers, names[2], view, (), 0, 0.0)
        assert told == "1: it waits for a state itself; 0: it waits for a state itself"


def test_a_donor_that_gives_is_not_left_and_keeps_nothing_when_all_have_come() -> None:
    """A large state takes longer than the patience with a donor that does not answer."""
    names = [Member(bytes([place]) * 16, str(place), "10.0.0.1", 7_000 + place) for place in range(3)]
    view, choice = View(4, tuple(names), (), (), ()), donors.Donors(LOCAL)
    giver, taker, new = Transfers(), Transfers(), names[2].incarnation
    snapshot = Snapshot(5, 4, [new])
    giver.keep(snapshot, 0.0)
    giver.add(snapshot, bytes(10 * PIECE_BYTES))
    giver.end(snapshot)
    assert choice.ask(taker, names[2], view, (), 5, 0.0) is None
    donor, now = taker.donor, 0.0
    while taker.state is None:
        for _, number, data in taker.datagrams(now):
            giver.received(new, number, data, now)
        for _, number, data in giver.datagrams(now):
            assert donor is not None
            taker.received(donor, number, data, now)
        now += LOCAL.exclude_ms
        if taker.state is None:
            assert choice.ask(taker, names[2], view, (), 5, now) is None
        for transfers in (giver, taker):
            transfers.tick(now)
    assert (taker.donor, taker._asked) == (donor, 1)
    for _, number, data in taker.datagrams(now):
        giver.received(new, number, data, now)
    giver.tick(now)
    assert giver.kept_bytes == 0
    assert giver.idle
