"""FIFO and causal order in logs are what the machine of `spec.services` says of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.history import history, judge_by_machines, judge_history


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


@given(histories())
def test_the_service_of_the_models_says_the_same(text: str) -> None:
    logs = history(text)
    judged = {found.property: bool(found.offending) for found in judge_history(logs, ["causal-order"])}
    machine = {found.property: bool(found.offending) for found in judge_by_machines(logs, ["Fifo", "Causal"])}
    assert {name: judged[name] for name in machine} == machine


def test_the_clash_of_fifo_order_is_the_later_message() -> None:
    found = judge_history(history("0: +a +0:2 a 0:2 | 1: 0:2 a"), ["fifo-order"])[-1]
    assert str(found) == (
        "delivered after a message that its source broadcast later: process-1.ndjson:3 (0:1), against "
        "process-1.ndjson:2 (0:2)"
    )
