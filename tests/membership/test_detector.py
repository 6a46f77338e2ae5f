"""The two detectors: who is suspected, given up and trusted when, and what a late process allows for."""

from __future__ import annotations

import pytest

from antiphon.impl.membership.detector import LAN, LOCAL, WAN, Detector, Reason, Suspicion, Timeouts

A, B = b"a" * 16, b"b" * 16
TIMES = Timeouts(heartbeat_ms=10, suspect_ms=50, exclude_ms=200)


def watching(*members: bytes) -> Detector:
    """A detector that has watched these since 0."""
    detector = Detector(TIMES)
    detector.watch(members, 0.0)
    return detector


def ticked(detector: Detector, begin: int, end: int, *, heard: bytes | None = None) -> list[str]:
    """Tick every ms in begin..end-1, and hear one member; what has changed, with its time."""
    news = []
    for now in range(begin, end):
        if heard is not None:
            detector.heard(heard, now)
        detector.tick(now)
        news += [f"{now} {one.of.decode()[0]} {one.kind}" for one in detector.news()]
    return news


def test_silence_is_suspected_then_given_up_and_a_sign_of_life_is_trusted() -> None:
    detector = watching(A, B)
    assert ticked(detector, 0, 100, heard=B) == ["50 a suspected"]
    detector.heard(A, 100)
    assert [one.kind for one in detector.news()] == ["trusted"]
    assert detector.suspected == frozenset()
    assert ticked(detector, 101, 320, heard=B) == ["150 a suspected", "300 a given up"]
    detector.heard(A, 320)
    assert detector.suspected == frozenset()
    assert detector.given_up == frozenset()


def test_a_heartbeat_goes_to_whom_nothing_was_sent() -> None:
    detector = watching(A, B)
    detector.sent(A, 5.0)
    assert detector.tick(10.0) == [B]
    assert detector.tick(15.0) == [A]
    assert detector.next_deadline() == 20.0
    detector.sent(B, 12.0)
    assert detector.tick(20.0) == []
    assert detector.next_deadline() == 22.0


def test_hints_that_come_all_the_time_do_not_put_off_the_next_look() -> None:
    """Each datagram to a process that has ended brings one, and each datagram puts off a heartbeat."""
    detector = watching(A, B)
    now = 0.0
    while not detector.given_up:
        now += 1.0
        detector.sent(A, now)
        detector.sent(B, now)
        detector.hint(A, now)
        detector.heard(B, now)
        due = detector.next_deadline()
        assert due is not None
        if now >= due:
            detector.tick(now)
        assert now < 250, f"{detector.suspected} are suspected, and nobody is given up"
    assert detector.given_up == {A}
    assert detector.lateness == 1.0


def test_the_time_for_which_a_process_was_late_is_nobodys_silence() -> None:
    detector = watching(A)
    ticked(detector, 0, 20)
    assert detector.tick(1_020.0) == [A]
    assert detector.suspected == frozenset(), "it was stopped for a second"
    assert detector.lateness > 1
    for now in range(1_021, 1_061):  # and waits longer afterwards
        detector.tick(now)
    assert detector.suspected == frozenset()
    for now in range(1_061, 1_400):
        detector.tick(now)
    assert detector.suspected == {A}
    assert detector.lateness < 1.1


def test_what_waits_unread_is_nobodys_silence_for_suspect_ms_at_most() -> None:
    """The signs of life may be in the own socket, behind what somebody floods it with."""
    detector = watching(A, B)
    assert ticked(detector, 0, 40, heard=B) == []
    detector.read_up_to(30.0)
    assert ticked(detector, 40, 99, heard=B) == []
    due = detector.next_deadline()
    assert due is not None
    assert due > 98.0, "a look at what was too long before does not come back at once"
    detector.read_up_to(None)
    assert detector.next_deadline() == 50.0, "the queue was read, and A was not in it"
    assert ticked(detector, 99, 100, heard=B) == ["99 a suspected"]
    flooded = watching(A, B)
    flooded.read_up_to(0.0)
    assert ticked(flooded, 0, 400, heard=B) == ["100 a suspected", "250 a given up"]


def test_a_hint_makes_a_silence_count_sooner_and_alone_suspects_nobody() -> None:
    detector = watching(A, B)
    detector.hint(A, 0.0)
    for now in range(15):  # a forged hint about somebody who answers
        detector.heard(A, now)
        detector.hint(A, now)
        detector.tick(now)
    assert detector.suspected == frozenset()
    ticked(detector, 15, 36, heard=B)
    assert detector.suspected == {A}, "two heartbeats without an answer"


def test_a_member_whose_process_runs_again_is_given_up_for_that_reason() -> None:
    detector = watching(A, B)
    ticked(detector, 0, 15)
    assert not detector.replaced(A, 15.0), "it was heard just now"
    assert ticked(detector, 15, 25) == []
    assert detector.replaced(A, 25.0)
    assert detector.news() == [Suspicion(A, "given up", 25.0, Reason.REPLACED)]
    assert ticked(detector, 25, 50) == []
    detector.tick(50.0)
    assert detector.news() == [Suspicion(B, "suspected", 50.0, Reason.SILENT)]
    detector.heard(B, 51.0)
    assert detector.news() == [Suspicion(B, "trusted", 0.0, Reason.HEARD)]


def test_who_is_not_watched_any_more_is_forgotten() -> None:
    detector = watching(A, B)
    ticked(detector, 0, 60)
    detector.watch([B], 60.0)
    assert detector.suspected == {B}
    detector.heard(A, 61.0)
    detector.hint(A, 61.0)
    detector.watch([], 62.0)
    assert detector.next_deadline() is None


@pytest.mark.parametrize("profile", [LOCAL, LAN, WAN])
def test_profiles_take_the_loss_of_several_heartbeats(profile: Timeouts) -> None:
    assert profile.suspect_ms >= 5 * profile.heartbeat_ms
    assert profile.exclude_ms >= 4 * profile.suspect_ms


def test_timeouts_that_leave_no_room_are_refused() -> None:
    with pytest.raises(ValueError, match="2 heartbeat_ms <= suspect_ms"):
        Timeouts(heartbeat_ms=10, suspect_ms=15, exclude_ms=100)


def test_heartbeats_go_out_in_the_order_of_the_members() -> None:
    """A simulated run is the same in every process, whatever the hashes of incarnations are there."""
    members = [bytes([number] * 16) for number in (9, 3, 200, 41, 7, 120, 15)]
    detector = Detector(TIMES)
    detector.watch(members, 0.0)
    assert detector.tick(TIMES.heartbeat_ms) == members


def test_a_sign_of_life_ends_a_hint() -> None:
    """A member that answers after a hint is suspected as late as the others."""
    detector = watching(A, B)
    detector.hint(A, 0.0)
    detector.heard(A, 5.0)
    assert ticked(detector, 5, 54, heard=B) == []
    assert ticked(detector, 54, 60, heard=B) == ["55 a suspected"]
