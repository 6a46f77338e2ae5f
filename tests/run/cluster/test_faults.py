"""Faults of a link are fixed by the seed, and its counts are those of its acts."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.judge.history import Finding, Place, RunFindings
from antiphon.conformance.judge.history.finding import ACCUSED
from antiphon.conformance.run.cluster import ClusterResult, ClusterSettings, Counts, Faults, Link, decisions
from antiphon.conformance.run.cluster.faults import HOLD_MS, LATE_MS_MAX
from antiphon.conformance.run.cluster.result import missing_faults

probabilities = st.floats(0, 0.9)
faults = st.builds(Faults, loss=probabilities, duplication=probabilities, reordering=probabilities)
gaps_ms = st.lists(st.floats(0, 30), min_size=1, max_size=60)


def transmit(link: Link, gaps: list[float]) -> list[tuple[float, bytes]]:
    """Offer one datagram after each gap, serving what is due in time, until nothing waits; what left, and
    when.
    """
    now = 0.0
    left: list[tuple[float, bytes]] = []

    def serve(until: float) -> None:
        while (due := link.next_due()) is not None and due <= until:
            left.extend((due, data) for data in link.due(due))

    for k, gap in enumerate(gaps):
        now += gap
        serve(now)
        left.extend((now, data) for data in link.offer(b"%d" % k, now))
    serve(float("inf"))
    return left


@given(st.integers(), faults, gaps_ms)
def test_a_link_is_reproducible_from_its_seed(seed: int, faults: Faults, gaps: list[float]) -> None:
    first, second = (Link(seed, 0, 1, faults) for _ in range(2))
    assert transmit(first, gaps) == transmit(second, gaps)
    assert first.counts == second.counts


@given(st.integers(), faults, gaps_ms)
def test_nothing_is_invented_and_only_what_is_counted_is_lost(
    seed: int, faults: Faults, gaps: list[float]
) -> None:
    link = Link(seed, 0, 1, faults)
    left = Counter(data for _, data in transmit(link, gaps))
    assert set(left) <= {b"%d" % k for k in range(len(gaps))}
    assert set(left.values()) <= {1, 2}
    assert link.counts.offered == len(gaps)
    assert link.counts.dropped == len(gaps) - len(left)
    assert link.counts.duplicated == sum(copies == 2 for copies in left.values())
    assert link.next_due() is None


@given(st.integers(), probabilities, gaps_ms)
def test_reordered_counts_the_datagrams_that_a_later_one_overtook(
    seed: int, reordering: float, gaps: list[float]
) -> None:
    link = Link(seed, 0, 1, Faults(reordering=reordering))
    order = [int(data) for _, data in transmit(link, gaps)]
    overtaken = sum(any(later > one for later in order[:at]) for at, one in enumerate(order))
    assert link.counts.reordered == overtaken


@given(st.integers(), faults, gaps_ms)
def test_no_datagram_waits_longer_than_the_bounds(seed: int, faults: Faults, gaps: list[float]) -> None:
    offered_at = dict(enumerate(itertools.accumulate(gaps)))
    for left_at, data in transmit(Link(seed, 0, 1, faults), gaps):
        assert left_at <= offered_at[int(data)] + max(HOLD_MS, LATE_MS_MAX)


@given(st.integers(), faults)
def test_without_faults_a_link_is_a_wire(seed: int, faults: Faults) -> None:
    link = Link(seed, 0, 1, Faults())
    assert [data for _, data in transmit(link, [1.0] * 20)] == [b"%d" % k for k in range(20)]
    assert link.counts == Counts(offered=20)


def test_the_decisions_of_a_pair_are_these() -> None:
    """Pinned: a run that was recorded once must meet the same faults on every platform and version."""
    shape = [
        "".join(mark for mark, set_ in (("x", d.drop), ("h", d.hold), ("2", d.duplicate)) if set_) or "."
        for d in itertools.islice(decisions(7, 0, 1, Faults(loss=0.2, duplication=0.2, reordering=0.2)), 24)
    ]
    assert " ".join(shape) == PINNED


PINNED = "x x h x . x h . . h xh . . h . x . . h 2 h h x h"


def test_each_ordered_pair_has_its_own_decisions() -> None:
    def drops(seed: int, sender: int, receiver: int) -> list[bool]:
        return [d.drop for d in itertools.islice(decisions(seed, sender, receiver, Faults(loss=0.5)), 64)]

    every = [drops(seed, p, q) for seed in (7, 8) for p in range(3) for q in range(3) if p != q]
    assert len({tuple(one) for one in every}) == len(every)


def test_more_loss_leaves_the_other_decisions_where_they_were() -> None:
    few, many = (
        list(itertools.islice(decisions(7, 0, 1, Faults(loss=loss, duplication=0.3)), 200))
        for loss in (0.1, 0.6)
    )
    assert [d.duplicate for d in few] == [d.duplicate for d in many]
    assert all(more.drop for less, more in zip(few, many, strict=True) if less.drop)


def test_the_rates_come_out() -> None:
    link = Link(7, 0, 1, Faults(loss=0.1, duplication=0.05, reordering=0.05))
    transmit(link, [0.1] * 20_000)
    assert link.counts.dropped == pytest.approx(2000, rel=0.1)
    assert link.counts.duplicated == pytest.approx(900, rel=0.1)
    assert link.counts.reordered == pytest.approx(900, rel=0.1)


def test_a_fault_that_never_happened_is_not_a_pass() -> None:
    settings = ClusterSettings(loss=0.1, duplication=0.05, reordering=0.0)
    assert missing_faults(settings, Counts(offered=9, dropped=1, duplicated=1)) == ()
    assert missing_faults(settings, Counts(offered=9, duplicated=1)) == (
        "none of 9 datagrams was dropped although the probability is 0.1; none is not a pass",
    )
    assert len(missing_faults(settings, Counts(offered=9))) == 2


def test_what_is_violated_stays_so_and_is_told_before_the_faults_of_the_run() -> None:
    clean = Finding("Validity", judged=1)
    offended = Finding("NoViolation", 1, ACCUSED, Place(0, 3, "process 1"))
    judged = RunFindings((clean, offended))
    result = ClusterResult(ClusterSettings(), Path(), "r", 1.0, (1,), {}, (0,), ("a node died",), judged)
    assert result.outcome == "violated"
    assert result.reasons == (f"NoViolation: {offended}", "a node died")
    whole = replace(result, judged=RunFindings((clean,)))
    assert (whole.outcome, whole.reasons) == ("unknown", ("a node died",))
    assert (replace(whole, faults=()).outcome, replace(whole, faults=()).reasons) == ("holds", ())


@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        (
            "protocol",
            "rpb",
            "; did you mean 'rbp'?",
        ),
        ("processes", 1, "processes is 1; a cluster has 2 to 64"),
        ("messages", 0, "messages is 0"),
        ("loss", 1.0, "loss is 1.0"),
        ("duplication", -0.1, "duplication is -0.1"),
        ("reordering", float("nan"), "reordering is nan"),
        ("deadline_s", 0, "deadline_s is 0"),
        ("deadline_s", float("inf"), "deadline_s is inf"),
    ],
)
def test_a_setting_out_of_range_is_named(setting: str, value: float, told: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        ClusterSettings(**{setting: value})  # type: ignore[arg-type]
    assert told in str(error.value)


def test_shares_add_up_and_differ_by_at_most_one() -> None:
    shares = [ClusterSettings(processes=7, messages=2000).share(p) for p in range(7)]
    assert sum(shares) == 2000
    assert max(shares) - min(shares) == 1
