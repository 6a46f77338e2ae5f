"""Extended virtual synchrony: each property has a history that breaks it alone, and what it allows to a part
without a majority a primary partition forbids.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.spec import services
from antiphon.spec.services import SafeExtendedSynchrony, UniformViewSynchrony

Judge = Callable[..., dict[str, object]]

PARTED = "b2:0 t2=2 d2:0 i2:3=2 t0=01 t1=01 i0:2=01 i1:2=01"
"""Process 2 is cut off, and delivers what it sent in its transitional configuration; the others never get it.
"""


@pytest.mark.parametrize(
    "history",
    [
        "",
        "b0:0 d0:0 d1:0 d2:0",
        PARTED,
        "b0:0 d0:0 d1:0 x2 t0=01 t1=01 i0:2=01 i1:2=01",
        "b0:0 t0=01 t1=01 t2=2 d0:0 d1:0 i0:2=01 i1:2=01 i2:3=2",
        "b0:0 d0:0 x0 d1:0 d2:0 t1=12 i1:2=12 t2=12 i2:2=12",
    ],
)
def test_a_good_history_breaks_nothing(judge: Judge, history: str) -> None:
    assert judge(SafeExtendedSynchrony, history) == {}


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("t0=01 i0:2=01 t1=01 i1:2=012 t2=2 i2:3=2", {"ViewAgreement"}),
        ("t0=01 t1=01 t2=2 i0:2=12 i1:2=12 i2:3=2", {"SelfInclusion", "TransitionalSet"}),
        ("t0=012 t1=01 i0:2=01 i1:2=01 x2", {"TransitionalSet"}),
        ("t0=0 t1=01 i0:2=01 i1:2=01 x2", {"TransitionalSet"}),
        ("i0:2=0", {"TransitionalSet"}),
        ("t0=0 t0=0 i0:2=0", {"TransitionalSet"}),
        ("t0=12", {"TransitionalSet"}),
        ("b0:0 d0:0 t0=01 t1=01 d1:0 i0:2=01 i1:2=01 x2", {"FailureAtomicity"}),
        ("b0:0 t0=01 d0:0 i0:2=01 t1=01 i1:2=01 x2", {"ViewSynchrony", "SafeDelivery"}),
        ("b2:0 d2:0 t2=2 i2:3=2 t0=01 t1=01 i0:2=01 i1:2=01", {"SafeDelivery"}),
        ("b2:0 x2 t0=01 t1=01 d0:0 i0:2=01 x1", set()),
        ("b2:0 x2 t0=01 t1=01 d0:0", {"SafeDelivery"}),
        ("b0:0 t0=012 t1=012 t2=012 i0:2=012 i1:2=012 i2:2=012 d0:0 d1:0 d2:0", {"SendingViewDelivery"}),
        ("b0:0", {"VscValidity"}),
        ("b0:0 d0:0 d0:0 d1:0 d2:0", {"UniformIntegrity", "Integrity"}),
    ],
)
def test_each_property_is_broken_by_its_history(judge: Judge, history: str, broken: set[str]) -> None:
    assert set(judge(SafeExtendedSynchrony, history)) == broken


def test_without_the_promise_of_safe_delivery_a_part_may_deliver_what_no_other_does(judge: Judge) -> None:
    history = "b2:0 d2:0 t2=2 i2:3=2 t0=01 t1=01 i0:2=01 i1:2=01"
    assert judge(services.ExtendedVirtualSynchrony, history) == {}


def test_what_a_minority_delivers_is_safe_in_its_part_and_not_in_a_primary_partition(judge: Judge) -> None:
    """One log, two promises. The transitional configuration means nothing to a primary partition."""
    assert judge(SafeExtendedSynchrony, PARTED) == {}
    broken = judge(UniformViewSynchrony, PARTED)
    assert broken == {"UniformDelivery": False, "PrimaryPartition": False}


def test_the_clash_is_what_one_of_two_delivered(judge: Judge) -> None:
    torn = judge(SafeExtendedSynchrony, "b0:0 d0:0 t0=01 t1=01 d1:0")["FailureAtomicity"]
    assert torn == services.Deliver(services.Process(0), services.Message(0))
