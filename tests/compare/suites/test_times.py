"""Cores and a stack keep to their times, and the suite catches cores that do not."""

from __future__ import annotations

import pytest

from antiphon.conformance.compare.bindings.rbp_faults import TIME_FAULTS
from antiphon.conformance.compare.suites import Times, check_times
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.protocols.rbp import MESSAGES, rbp

RBP = Times(delivered_ms=2.0, waiting_ms=400.0, recovered_ms=1_000.0)
"""Data and ACK, a millisecond each; eight times the longest interval; two such times and some round trips."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("members", [2, 4])
def test_rbp_keeps_to_its_times(members: int) -> None:
    check_times(rbp(), RBP, members=(members,))


@pytest.mark.deep
def test_dtp_of_three_keeps_to_its_times() -> None:
    times = Times(delivered_ms=3.0, waiting_ms=400.0, recovered_ms=1_000.0, circulating=2)
    check_times(dtp(), times, members=(3,))


CAUGHT = {
    "backs-off-without-bound": r"waits for 800\.0 ms",
    "gives-up-broadcast": "without .*has not delivered",
    "loses-idle-token": "after every pause, .*has not delivered",
    "makes-up-for-lost-time": "the clock of 0 jumps, .* datagrams follow",
    "reads-wall-clock": "waits for",
    "swallows-second-timer": "without .*has not delivered",
    "takes-old-time": "the deadline of member . was .* ms ago",
    "waits-to-sequence": r"quiet for 0\.0 ms, .*has not delivered",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("fault", TIME_FAULTS)
def test_a_core_that_does_not_is_caught(fault: str) -> None:
    faulty = Implementation(
        MESSAGES, lambda me, members, tracer: TIME_FAULTS[fault](me, members, tracer=tracer)
    )
    with pytest.raises(AssertionError, match=CAUGHT[fault]):
        check_times(faulty, RBP, members=(3,))
