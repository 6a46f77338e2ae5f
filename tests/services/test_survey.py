"""Properties that the survey lists beside view synchrony: each is broken by its history alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.spec.services.extended import ExtendedTotalOrder
from antiphon.spec.services.order import Numbering
from antiphon.spec.services.order_in_views import ReliableOrder
from antiphon.spec.services.survey import AgreementOnSuccessors, SafeIndications, StableViews

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


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("b0:0 d0:0 d1:0 d2:0 s0:0 s1:0 s2:0", set()),
        ("b0:0 d0:0 d1:0 s0:0 s1:0 x2", set()),
        ("b0:0 d0:0 d1:0 d2:0 s0:0 s1:0", {"SafeIndicationLiveness"}),
        ("b0:0 d0:0 d1:0 s0:0 x0", {"SafeIndication", "SafeIndicationPrefix"}),
        ("b0:0 b1:1 d0:0 d0:1 d1:1 d2:1 s0:1 x0", {"SafeIndicationPrefix"}),
        ("b0:0 b1:1 d0:1 d0:0 d1:1 d2:1 s0:1 x0", set()),
        ("b0:0 d1:0 d2:0 s0:0 d0:0", {"IndicatedIsDelivered"}),
        ("b0:0 d0:0 i0:2=0 s0:0 x0", {"IndicatedIsDelivered"}),
    ],
)
def test_what_is_said_to_be_safe_reaches_every_member_that_does_not_crash(
    judge: Judge, history: str, broken: set[str]
) -> None:
    late = {"SafeIndicationLiveness", "VscValidity"}
    found = set(judge(SafeIndications, history))
    assert found - (late - broken) == broken


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("b0:0 d0:0 d1:0 d2:0", set()),
        ("b0:0 d0:0 d1:0 x2", {"TerminationOfDelivery"}),
        ("b0:0 d0:0 d1:0 x2 i0:2=01 i1:2=01", set()),
        ("b0:0 d0:0 d1:0", {"TerminationOfDelivery", "MulticastLiveness"}),
        ("i0:2=01 i1:2=01 i2:3=2", set()),
        ("i0:2=01 i1:2=01", {"MembershipPrecision"}),
        ("i0:2=01 i1:2=01 x2", set()),
    ],
)
def test_who_stays_in_a_view_is_owed_its_members_and_its_messages(
    judge: Judge, history: str, broken: set[str]
) -> None:
    assert set(judge(StableViews, history)) == broken


A_B_C = "b0:0 b1:1 b2:2 "


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("d0:0 d0:1 d1:0 d1:1 d2:0", set()),
        ("d0:0 d0:1 d1:1 x1", {"ReliableTotalOrder"}),
        ("d1:1 x1 d0:0 d0:1", {"ReliableTotalOrder"}),
        ("d0:0 d1:1", {"ReliableTotalOrder"}),
        ("d0:0 d0:1 d1:1 d1:0", {"ReliableTotalOrder"}),
        ("d0:0 d0:1 d1:1 d1:0 i0:2=01 i1:3=1", {"ReliableTotalOrder"}),
        ("d0:0 d0:1 d1:1 d1:0 i0:2=01 i1:2=01", {"ReliableTotalOrder", "WeakTotalOrder"}),
        ("d0:0 i0:2=012 d0:1 d1:0 i1:2=012 d1:1", set()),
        ("d0:0 i0:2=012 d0:1 d1:1 i1:2=012 d1:0", {"ReliableTotalOrder", "ViewSynchrony"}),
    ],
)
def test_weak_order_binds_those_who_go_together_and_reliable_order_has_no_gaps(
    judge: Judge, history: str, broken: set[str]
) -> None:
    found = set(judge(ReliableOrder, A_B_C + history, messages=3))
    assert found - {"VscValidity", "SendingViewDelivery", "SameViewDelivery"} == broken


@pytest.mark.parametrize(
    ("history", "is_broken"),
    [
        ("d0:0 d0:1 d1:0 d1:1", False),
        ("d0:0 d0:1 d1:1", True),
        ("d2:2 d2:1 t2=2 t0=01 d0:1", False),
        ("t2=2 d2:2 d2:1 t0=01 d0:1", False),
        ("t0=01 d0:1 t2=2 d2:2 d2:1", False),
        ("d1:1 d1:2 t0=01 d0:2", True),
        ("t0=01 d0:2 d1:1 d1:2", True),
        ("t0=01 d0:1 d0:2 t1=01 d1:2 d1:1", True),
        ("t0=01 d0:1 d1:2 d1:1", False),
        ("d0:2 t0=0 t1=1 d1:1 d1:2", True),
        ("t0=0 d0:2 t1=1 d1:1 d1:2", False),
        ("t0=01 d0:1 d1:0 d1:1", True),
    ],
)
def test_only_a_transitional_configuration_has_gaps_and_only_of_those_outside(
    judge: Judge, history: str, is_broken: bool
) -> None:
    found = judge(ExtendedTotalOrder, A_B_C + history, messages=3)
    assert ("ExtendedTotalOrder" in found) == is_broken


@pytest.mark.parametrize(
    ("history", "is_broken"),
    [
        ("n0:0=1 n0:1=2 n1:1=2", False),
        ("n0:0=1 n1:0=2", True),
        ("n0:0=1 n1:1=1", True),
        ("n0:0=2 n0:1=1", True),
        ("n0:0=2 n0:1=3 n0:0=2", False),
        ("n0:0=1 n0:1=2 n1:1=2 n1:2=3 n2:2=3 n2:0=1", True),
    ],
)
def test_numbers_show_one_order(judge: Judge, history: str, is_broken: bool) -> None:
    assert ("UniformNumbering" in judge(Numbering, history, messages=3)) == is_broken
