"""Cores on processes of their own, under loss, duplication and reordering; and while a member is stopped."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

import psutil
import pytest

from antiphon.conformance.cluster import ClusterResult, run_cluster

STOPPED = {
    "sequencer": 0,
    "total": 2,
    "chang-maxemchuk": 1,
    "rbp-resilient": 1,
    "totem": 1,
    "pinwheel": 0,
}


SLOW = {"chang-maxemchuk", "totem", "pinwheel"}
"""One message of each member is under way at a time, or the token is, while a fifth of all is lost."""


@pytest.mark.parametrize(
    ("protocol", "stopped"),
    [pytest.param(*item, marks=[pytest.mark.deep] * (item[0] in SLOW)) for item in STOPPED.items()],
)
def test_a_member_that_is_stopped_and_goes_on_delivers_what_the_others_do(
    protocol: str, stopped: int, tmp_path: Path
) -> None:
    """SIGSTOP and SIGCONT, several times in a run; process 0 orders for SEQUENCER and TOTAL."""
    results: list[ClusterResult] = []

    def run() -> None:
        results.append(run_cluster(protocol=protocol, messages=200, loss=0.2, directory=tmp_path))

    thread = threading.Thread(target=run)
    thread.start()
    stops = 0
    while thread.is_alive():
        with contextlib.suppress(IndexError, psutil.NoSuchProcess):
            node = sorted(_nodes(), key=lambda child: child.pid)[stopped]
            node.suspend()
            stops += 1
            time.sleep(0.2)
            node.resume()
        time.sleep(0.1)
    [result] = results
    assert stops > 1
    assert result.reasons == ()
    assert result.outcome == "holds"
    assert result.delivered == (200, 200, 200)
    assert min(result.counts.dropped, result.counts.duplicated, result.counts.reordered) > 0


@pytest.mark.parametrize("protocol", ["rbp", "sequencer"])
def test_a_member_that_starts_late_delivers_everything(protocol: str, tmp_path: Path) -> None:
    """What the others send to it before, and what they have begun, is made up for."""
    result = run_cluster(protocol=protocol, messages=60, loss=0.1, late_s=0.7, directory=tmp_path)
    assert result.reasons == ()
    assert result.outcome == "holds"
    assert result.delivered == (60, 60, 60)
    assert result.links["0:2"].refused > 0
    assert result.links["0:1"].refused == result.links["2:0"].refused == 0
    assert result.seconds > 0.7


def _nodes() -> list[psutil.Process]:
    children = psutil.Process(os.getpid()).children()
    return [child for child in children if any("cluster.node" in word for word in child.cmdline())]
