"""FIFO and causal order in logs are what their definitions say of random histories."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.judge.history import History, history, judge_history
from antiphon.conformance.judge.trace import Broadcast, Deliver


@st.composite
def histories(draw: st.DrawFn) -> str:
    """Three processes broadcast and deliver, and deliver almost in the order of the broadcasts."""
    logs: list[list[str]] = [[], [], []]
    waiting: list[list[str]] = [[], [], []]
    count = [0, 0, 0]
    for _ in range(draw(st.integers(0, 12))):
        p = draw(st.integers(0, 2))
        if draw(st.booleans()):
            count[p] += 1
            logs[p].append(f"+{p}:{count[p]}")
            for queue in waiting:
                queue.append(f"{p}:{count[p]}")
        elif waiting[p]:
            late = draw(st.integers(0, 3)) == 0
            logs[p].append(waiting[p].pop(-1 if late else 0))
    for p in range(3):
        logs[p] += waiting[p][: draw(st.integers(0, 4))]
    return " | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs))


def broken_by_definition(logs: History) -> set[str]:
    """A message happened before what its source, or who has delivered it, broadcasts after it."""
    before: nx.DiGraph[str] = nx.DiGraph()
    for log in logs:
        for k, event in enumerate(log):
            earlier = [e.m for e in log[:k] if isinstance(e, Broadcast | Deliver)]
            if isinstance(event, Broadcast):
                before.add_node(event.m)
                before.add_edges_from((m, event.m) for m in earlier)
    crossed = {
        (later.m, earlier.m)
        for log in logs
        for k, later in enumerate(log)
        for earlier in log[:k]
        if isinstance(later, Deliver) and isinstance(earlier, Deliver)
        if nx.has_path(before, later.m, earlier.m)
    }
    fifo = any(m.split(":")[0] == o.split(":")[0] for m, o in crossed)
    return ({"Fifo"} if fifo else set()) | ({"Causal"} if crossed else set())


@given(histories())
def test_order_is_judged_by_its_definition(text: str) -> None:
    logs = history(text)
    judged = {found.property for found in judge_history(logs, ["causal-order"]) if found.offending}
    assert judged & {"Fifo", "Causal"} == broken_by_definition(logs)


def test_the_clash_of_fifo_order_is_the_later_message() -> None:
    found = judge_history(history("0: +a +0:2 a 0:2 | 1: 0:2 a"), ["fifo-order"])[-1]
    assert str(found) == (
        "delivered after a message that its source broadcast later: process-1.ndjson:3 (0:1), against "
        "process-1.ndjson:2 (0:2)"
    )
