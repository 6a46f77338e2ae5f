"""Cores and a stack keep to their times, and the suite catches cores that do not."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.conformance.bindings.rbp_faults import TIME_FAULTS
from antiphon.conformance.suites import Times, check_times
from antiphon.impl.protocols.chang_maxemchuk import chang_maxemchuk
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.protocols.horus import horus
from antiphon.impl.protocols.pinwheel import pinwheel
from antiphon.impl.protocols.rbp import MESSAGES, rbp
from antiphon.impl.protocols.rbp_resilient import rbp_resilient
from antiphon.impl.protocols.sequencer import sequencer
from antiphon.impl.protocols.total import total
from antiphon.impl.protocols.totem import totem

RBP = Times(delivered_ms=2.0, waiting_ms=400.0, recovered_ms=1_000.0)
"""Data and ACK, a millisecond each; eight times the longest interval; two such times and some round trips."""


@pytest.mark.parametrize("members", [2, 3, 4])
def test_rbp_keeps_to_its_times(members: int) -> None:
    check_times(rbp(), RBP, members=(members,))


QUEUED = Times(delivered_ms=2.0, waiting_ms=900.0, recovered_ms=1_000.0)
"""MSG and ACK; the queues double four times what they wait, which is more where clocks differ."""


@pytest.mark.parametrize("core", [chang_maxemchuk(), pinwheel()], ids=["chang-maxemchuk", "pinwheel"])
def test_cores_over_queues_keep_to_their_times(core: Implementation[Any]) -> None:
    check_times(core, QUEUED, members=(3,))


def test_a_fixed_coordinator_keeps_to_its_times() -> None:
    """Of SEQUENCER only the queues wait; TOTAL's request, BCAST and suffix back off to eight times 50 ms."""
    check_times(sequencer(), QUEUED, members=(3,))
    check_times(total(), RBP, members=(3,))


def test_rbp_with_stability_keeps_to_its_times() -> None:
    """The token comes back to the source of a message past who rests for a fifth of a second."""
    times = Times(delivered_ms=450.0, waiting_ms=400.0, recovered_ms=3_000.0, circulating=3)
    check_times(rbp_resilient(silence_ms=200.0), times, members=(2,))


def test_totem_keeps_to_its_times() -> None:
    """The token rests for a fifth of a second with each member that has nothing to multicast."""
    times = Times(delivered_ms=620.0, waiting_ms=900.0, recovered_ms=1_500.0, circulating=2)
    check_times(totem(rest_ms=200.0), times, members=(3,))


@pytest.mark.parametrize("members", [2, pytest.param(3, marks=pytest.mark.deep)])
def test_dtp_keeps_to_its_times(members: int) -> None:
    """MSG and ACK, and who is named may still be on the way to be told; MSG and pass back off to 400 ms."""
    times = Times(delivered_ms=3.0, waiting_ms=400.0, recovered_ms=1_000.0, circulating=2)
    check_times(dtp(), times, members=(members,))


def test_a_stack_keeps_to_its_times() -> None:
    """The token rests as long, whoever has something; a NAK and a status wait for 80 ms at most."""
    times = Times(delivered_ms=450.0, waiting_ms=200.0, recovered_ms=2_000.0, circulating=2)
    check_times(horus(rest_ms=200.0), times, members=(2,))


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


@pytest.mark.parametrize("fault", TIME_FAULTS)
def test_a_core_that_does_not_is_caught(fault: str) -> None:
    faulty = Implementation(
        MESSAGES, lambda me, members, tracer: TIME_FAULTS[fault](me, members, tracer=tracer)
    )
    with pytest.raises(AssertionError, match=CAUGHT[fault]):
        check_times(faulty, RBP, members=(3,))
