"""FIFO and causal order, with gaps and without: histories, and the definitions on random runs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from antiphon.spec.lang import program
from antiphon.spec.services.causal import CausalOrder, ReliableOrderInViews

Judge = Callable[..., dict[str, object]]
ORDER = {"Fifo", "Causal"}
RELIABLE = {"ReliableFifo", "ReliableCausal"}


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("b0:0 b0:1 d1:0 d1:1 d2:1", set()),
        ("b0:0 b0:1 d1:1 d1:0", {"Fifo", "Causal"}),
        ("b0:0 d1:0 b1:1 d2:1 d2:0", {"Causal"}),
        ("b0:0 b1:1 d2:1 d2:0", set()),
        ("b0:0 b1:1 d1:0 d2:1 d2:0", set()),
        ("b0:0 d1:0 b1:1 d2:1 b2:2 d0:2 d0:0", {"Causal"}),
        ("b0:0 b0:1 d1:0 d1:1 d1:0", {"UniformIntegrity", "Integrity"}),
        ("d1:0 b0:0", {"UniformIntegrity", "Integrity"}),
    ],
)
def test_pairs_are_delivered_in_order(judge: Judge, history: str, broken: set[str]) -> None:
    assert set(judge(CausalOrder, history, messages=3)) == broken


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("b0:0 b0:1 d1:0 d1:1", set()),
        ("b0:0 b0:1 d1:1", RELIABLE),
        ("b0:0 d1:0 b1:1 d2:1", {"ReliableCausal"}),
        ("b0:0 i0:2=012 b0:1 i1:2=012 d1:1", set()),
        ("b0:0 b0:1 i0:2=012 b0:2 i1:2=012 d1:2 d1:1", RELIABLE),
    ],
)
def test_within_a_view_there_are_no_gaps(judge: Judge, history: str, broken: set[str]) -> None:
    assert set(judge(ReliableOrderInViews, history, messages=3)) & RELIABLE == broken


def random_run(chance: random.Random) -> list[tuple[int, str, int]]:
    """Three processes broadcast four messages, and each delivers once what was broadcast, if at all."""
    waiting = {m: chance.randrange(3) for m in range(4)}
    open_: list[tuple[int, int]] = []
    events: list[tuple[int, str, int]] = []
    while waiting or (open_ and chance.random() < 0.95):
        if waiting and (not open_ or chance.random() < 0.4):
            m = min(waiting)
            p = waiting.pop(m)
            events.append((p, "b", m))
            open_ += [(q, m) for q in range(3)]
        else:
            q, m = open_.pop(chance.randrange(len(open_)) if chance.random() < 0.3 else 0)
            events.append((q, "d", m))
    return events


def by_definition(events: list[tuple[int, str, int]]) -> set[str]:
    """Lamport's order of the events, closed transitively, and every pair of messages asked."""
    before = {k: set[int]() for k in range(len(events))}
    for k, (p, kind, m) in enumerate(events):
        for j, (q, other, n) in enumerate(events[:k]):
            if q == p or (kind == "d" and other == "b" and n == m):
                before[k] |= {j} | before[j]
    cast = {m: k for k, (_, kind, m) in enumerate(events) if kind == "b"}
    broken = set[str]()
    for m, n in itertools.permutations(cast, 2):
        if cast[m] not in before[cast[n]]:
            continue
        same = events[cast[m]][0] == events[cast[n]][0]
        for p in range(3):
            got = [x for q, kind, x in events if q == p and kind == "d"]
            if n in got and m in got and got.index(n) < got.index(m):
                broken |= {"Causal", "Fifo"} if same else {"Causal"}
            if n in got and m not in got[: got.index(n)]:
                broken |= RELIABLE if same else {"ReliableCausal"}
    return broken


@pytest.mark.deep
def test_the_verdict_is_the_definition_s(read_event: Callable[[str], object]) -> None:
    chance = random.Random(3)
    seen = dict.fromkeys(ORDER | RELIABLE, 0)
    pairs = program(CausalOrder, processes=3, messages=4)
    gaps = program(ReliableOrderInViews, processes=3, messages=4, views=1)
    for _ in range(250):
        events = random_run(chance)
        text = [f"{kind}{p}:{m}" for p, kind, m in events]
        found = set[str]()
        for bound in (pairs, gaps):
            session = bound.reference.session()
            found |= {refusal.property for word in text for refusal in session.feed(read_event(word))}
        assert found == by_definition(events), text
        for name in found:
            seen[name] += 1
    assert all(20 < count < 240 for count in seen.values()), seen
