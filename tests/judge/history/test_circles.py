"""Orders that no sequence explains, though every pair of processes agrees."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.judge.history import Finding, Place, history, judge_history
from antiphon.conformance.judge.history.circles import circles, global_order, links_of
from antiphon.conformance.judge.trace import Deliver

CIRCLE = "0: +a a b | 1: +b b c | 2: +c c a"


def test_a_circle_of_three_is_found_where_no_pair_is_out_of_order() -> None:
    found = {finding.property: finding for finding in judge_history(history(CIRCLE))}
    assert found["UniformTotalOrder"].offending == 0
    assert found["UniformGlobalOrder"] == Finding(
        "UniformGlobalOrder",
        3,
        "no sequence explains these deliveries: process 0 delivers 0:1 before 1:1; process 1 delivers 1:1 "
        "before 2:1; process 2 delivers 2:1 before 0:1",
        Place(0, 1, "0:1"),
        Place(2, 2, "0:1"),
        judged=6,
    )


@pytest.mark.parametrize(
    ("text", "offending", "links"),
    [
        ("0: a b | 1: b c | 2: a c", 0, 0),
        ("0: a b | 1: b a", 2, 2),
        ("0: a b a | 1: a b", 0, 0),
        ("0: a b ! | 1: b a !", 2, 2),
        ("0: a b c d | 1: c b", 2, 2),
        ("0: a b c | 1: c d a", 4, 4),
        ("0: a b | 1: b a | 2: c d | 3: d c | 4: b c", 4, 2),
        ("0: a b c d | 1: d a | 2: c a", 4, 3),
    ],
)
def test_messages_in_circles_are_counted_and_a_shortest_circle_of_the_smallest_is_shown(
    text: str, offending: int, links: int
) -> None:
    finding = global_order(history(text))
    assert finding.offending == offending
    assert (finding.reason or "").count(" before ") == links


def test_a_long_circle_is_told_by_its_beginning() -> None:
    rows = " | ".join(f"{p}: {p}:1 {(p + 1) % 9}:1" for p in range(9))
    finding = global_order(history(rows))
    assert finding.offending == 9
    assert finding.reason is not None
    assert finding.reason.endswith("process 4 delivers 4:1 before 5:1; and 4 more")


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=4))
def test_there_is_a_circle_if_and_only_if_no_sequence_explains_the_first_deliveries(
    rows: list[list[str]],
) -> None:
    """By the definition: some order of all messages agrees with every process."""
    logs = history(" | ".join(f"{p}: {' '.join(row)}" for p, row in enumerate(rows)))
    firsts = [list(dict.fromkeys(e.m for e in log if isinstance(e, Deliver))) for log in logs]
    messages = sorted({m for row in firsts for m in row})
    explained = any(
        all(row == [m for m in order if m in row] for row in firsts) for order in permutations(messages)
    )
    finding = global_order(logs)
    assert (finding.offending == 0) is explained
    graph = nx.DiGraph([(m, other) for row in firsts for k, m in enumerate(row) for other in row[k + 1 :]])
    components = nx.strongly_connected_components(graph)
    assert finding.offending == sum(len(c) for c in components if len(c) > 1)
    links = [link for p in range(len(logs)) for link in links_of(p, logs)]
    assert circles(reversed(links)) == finding
