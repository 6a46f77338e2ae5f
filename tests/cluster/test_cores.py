"""Cores on processes of their own, under all faults at once: also stopped, and started late."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.conformance.cluster import known_protocols, run_cluster

EVERYDAY = {"sequencer", "rbp-resilient"}
"""A fixed coordinator over queues, and a token with timers; make check-deep runs the others."""

STACKS = ("FRAG:TOTAL:MBRSHIP:FRAG:NAK:COM",)


@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(name, marks=[pytest.mark.deep] * (name not in EVERYDAY))
        for name in (*known_protocols(), *STACKS)
    ],
)
def test_members_that_are_stopped_and_go_on_and_a_late_one_deliver_the_same(
    protocol: str, tmp_path: Path
) -> None:
    """SIGSTOP and SIGCONT, one after the other; process 0, too, which orders for SEQUENCER and TOTAL."""
    result = run_cluster(protocol, messages=150, loss=0.15, late_s=0.5, stop_s=0.2, directory=tmp_path)
    assert result.reasons == ()
    assert result.outcome == "holds"
    assert result.delivered == (150, 150, 150)
    assert min(result.stops) > 0
    assert min(result.counts.dropped, result.counts.duplicated, result.counts.reordered) > 0
    assert result.links["0:2"].refused > 0
    assert result.links["0:1"].refused == result.links["2:0"].refused == 0
    assert result.seconds > 0.5


def test_a_run_that_was_too_short_to_stop_everybody_is_unknown(tmp_path: Path) -> None:
    result = run_cluster(
        processes=2, messages=2, loss=0, duplication=0, reordering=0, stop_s=100.0, directory=tmp_path
    )
    assert result.outcome == "unknown"
    assert result.reasons == ("processes 0, 1 were never stopped: the run was too short",)
