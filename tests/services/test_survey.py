"""Agreement on successors and safe indications: each is broken by its history alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.spec.lang import program
from antiphon.spec.services import Process
from antiphon.spec.services.events import Message
from antiphon.spec.services.survey import AgreementOnSuccessors, Indicate, SafeIndications

Judge = Callable[..., dict[str, object]]


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("i0:2=01 i1:2=01 i0:3=01 i1:3=01", set()),
        ("i0:2=01 i1:3=01 i0:3=01", {"AgreementOnSuccessors"}),
        ("i0:2=01 i0:3=01 i1:3=01", {"AgreementOnSuccessors"}),
        ("i0:2=0 i1:3=01 i0:3=01", {"AgreementOnSuccessors"}),
        ("i0:2=02 i2:2=02 i0:3=012 i2:3=012", set()),
    ],
)
def test_members_that_install_the_next_view_come_from_the_last(
    judge: Judge, history: str, broken: set[str]
) -> None:
    assert set(judge(AgreementOnSuccessors, history)) == broken


def test_a_safe_message_reaches_every_member_that_does_not_crash(
    read_event: Callable[[str], object],
) -> None:
    bound = program(SafeIndications, processes=3, messages=1)
    session = bound.reference.session()
    for word in ("b0:0", "d0:0", "d1:0"):
        assert session.feed(read_event(word)) == ()
    assert session.feed(Indicate(Process(0), Message(0))) == ()
    assert not session.holds("SafeIndication")
    session.feed(read_event("x2"))
    assert session.holds("SafeIndication")


def test_only_what_is_delivered_is_said_to_be_safe() -> None:
    session = program(SafeIndications, processes=2, messages=1).reference.session()
    (refusal,) = session.feed(Indicate(Process(0), Message(0)))
    assert refusal.property == "IndicatedIsDelivered"
