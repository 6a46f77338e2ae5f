"""Cores on processes of their own, under all faults at once: also stopped, and started late."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.conformance.compare.bindings import protocols_of_groups
from antiphon.conformance.run.cluster import known_protocols, run_cluster
from antiphon.impl import registry

CORES = (*registry.known_protocols(), "horus-total", "FRAG:TOTAL:MBRSHIP:FRAG:NAK:COM")


def test_a_cluster_knows_what_is_implemented_and_what_is_bound() -> None:
    assert set(registry.known_protocols()) < set(known_protocols()) == set(protocols_of_groups())


@pytest.mark.sampled(12)
@pytest.mark.parametrize("messages", [30, pytest.param(300, marks=pytest.mark.deep)])
@pytest.mark.parametrize("protocol", CORES)
def test_members_that_are_stopped_and_go_on_and_a_late_one_deliver_the_same(
    protocol: str, messages: int, tmp_path: Path
) -> None:
    """SIGSTOP and SIGCONT, one after the other; process 0, too, which orders for SEQUENCER and TOTAL.

    Every other core encrypted.
    """
    result = run_cluster(
        protocol, messages=messages, loss=0.15, duplication=0.15, reordering=0.5, late_s=0.3, stop_s=0.1,
        encrypted=CORES.index(protocol) % 2 == 0, directory=tmp_path,
    )  # fmt: skip
    assert result.reasons == ()
    assert result.outcome == "holds"
    assert result.delivered == (messages,) * 3
    assert min(result.stops) > 0
    assert min(result.counts.dropped, result.counts.duplicated, result.counts.reordered) > 0
    assert result.links["0:2"].refused > 0
    assert result.links["0:1"].refused == result.links["2:0"].refused == 0
    assert result.seconds > 0.3


def test_a_run_that_was_too_short_to_stop_everybody_is_unknown(tmp_path: Path) -> None:
    result = run_cluster(
        processes=2, messages=4, loss=0, duplication=0, reordering=0, stop_s=100.0, directory=tmp_path
    )
    assert result.outcome == "unknown"
    assert result.reasons == ("processes 0, 1 were never stopped: the run was too short",)
