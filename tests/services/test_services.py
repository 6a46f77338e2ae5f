"""Services judge events: each property has a history that breaks it, and none is broken by a good one.

A history is written as in "b0:0 d0:0 d1:0": process 0 broadcasts message 0, process 0 delivers it, process 1
delivers it; "x1" is a crash of 1.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from antiphon.spec.lang import Spec, program
from antiphon.spec.lang.reference import Session
from antiphon.spec.services import (
    Broadcast,
    Crash,
    Deliver,
    Install,
    Message,
    Process,
    ReliableBroadcast,
    TotalOrderBroadcast,
)
from antiphon.spec.services.order import OrderOfPairs

OBLIGATIONS = ("Validity", "UniformAgreement", "Agreement")


def events(history: str) -> list[object]:
    found: list[object] = []
    for word in history.split():
        process, _, message = word[1:].partition(":")
        p = Process(int(process))
        if word[0] == "x":
            found.append(Crash(p))
        elif word[0] == "b":
            found.append(Broadcast(p, Message(int(message))))
        else:
            found.append(Deliver(p, None if message == "?" else Message(int(message))))
    return found


def session(service: type[Spec], *, processes: int, messages: int) -> Session:
    """The service, ready to be fed events."""
    return program(service, processes=processes, messages=messages).reference.session()


def judged(history: str, *, processes: int = 3, messages: int = 3) -> dict[str, object]:
    """The first clash for each property that the history breaks, and False for each obligation left open."""
    judge = session(TotalOrderBroadcast, processes=processes, messages=messages)
    broken: dict[str, object] = {}
    for event in events(history):
        for refusal in judge.feed(event):
            broken.setdefault(refusal.property, refusal.clash)
    return broken | {name: False for name in OBLIGATIONS if not judge.holds(name)}


GOOD = "b0:0 b1:1 d0:0 d1:0 d2:0 d2:1 d0:1 d1:1"


def test_a_good_history_breaks_nothing() -> None:
    assert judged(GOOD) == {}


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("b0:0 d0:0 d1:0 d2:0 d2:0", {"UniformIntegrity", "Integrity"}),
        ("d0:0 d1:0 d2:0", {"UniformIntegrity", "Integrity"}),
        ("b0:0 d0:0 d1:0 d2:0 d1:?", {"UniformIntegrity", "Integrity"}),
        ("b0:0 b1:0 d0:0 d1:0 d2:0", {"BroadcastOnce"}),
        ("b0:0", {"Validity"}),
        ("b0:0 d0:0 d1:0", {"Agreement", "UniformAgreement"}),
        ("b0:0 d0:0 x0", {"UniformAgreement"}),
        ("b0:0 d1:0 x1", {"Validity", "UniformAgreement"}),
        ("b0:0 x0", set()),
        ("b0:0 d0:0 d1:0 x2", set()),
        (
            "b0:0 b1:1 d0:0 d0:1 d1:1 d1:0 x2",
            {"TotalOrder", "UniformTotalOrder", "PrefixOrder", "UniformPrefixOrder"},
        ),
        ("b0:0 b1:1 d0:0 d0:1 x0 d1:1 d1:0 d2:1 d2:0", {"UniformTotalOrder", "UniformPrefixOrder"}),
        ("b0:0 b1:1 d0:0 x0 d1:1 x1 x2", {"UniformPrefixOrder"}),
    ],
)
def test_each_property_is_broken_by_its_history(history: str, broken: set[str]) -> None:
    """Section 2.1 of the report: uniform properties count processes that crash, the others do not."""
    later = {"Validity", "Agreement", "UniformAgreement"}
    found = set(judged(history))
    assert found >= broken
    assert found - later == broken - later
    if broken & later:
        assert found & later == broken & later


def test_pairwise_order_allows_gaps_and_prefix_order_does_not() -> None:
    found = judged("b0:0 b0:1 b0:2 d0:0 d0:1 d0:2 d1:0 d1:2 d2:0 d2:1 d2:2 d1:1")
    assert "UniformTotalOrder" in found
    gap = judged("b0:0 b0:1 b0:2 d0:0 d0:1 d0:2 d1:0 d1:2")
    assert "UniformPrefixOrder" in gap
    assert "UniformTotalOrder" not in gap


def test_the_clash_is_the_event_of_the_other_process() -> None:
    judge = session(TotalOrderBroadcast, processes=2, messages=2)
    refusals = [refusal for event in events("b0:0 b1:1 d0:0 d0:1 d1:1 d1:0") for refusal in judge.feed(event)]
    pair = next(refusal for refusal in refusals if refusal.property == "UniformTotalOrder")
    assert pair.event == Deliver(Process(1), Message(0))
    assert pair.clash == Deliver(Process(0), Message(1))
    assert "last" in pair.guard or "False" in pair.guard


def brute_force_pairwise(sequences: list[list[int]]) -> bool:
    """The definition: for every two processes and every two messages that both deliver, the same order."""
    for p, q in itertools.combinations(sequences, 2):
        for m, other in itertools.combinations(sorted(set(p) & set(q)), 2):
            if (p.index(m) < p.index(other)) != (q.index(m) < q.index(other)):
                return False
    return True


def brute_force_prefix(sequences: list[list[int]]) -> bool:
    return all(a == b for p, q in itertools.combinations(sequences, 2) for a, b in zip(p, q, strict=False))


def test_order_agrees_with_its_definition_whatever_the_interleaving(
    often: Callable[[int, int], int]
) -> None:
    """Random histories, each merged in two ways: the verdict is the definition's and does not depend on the
    merge.
    """
    generator = random.Random(20)
    seen = {True: 0, False: 0}
    histories = often(80, 400)
    for _ in range(histories):
        sequences = [generator.sample(range(4), generator.randint(0, 4)) for _ in range(3)]
        if generator.random() < 0.5:
            order = generator.sample(range(4), 4)
            sequences = [[m for m in order if generator.random() < 0.8] for _ in range(3)]
        for _merge in range(2):
            queues = [list(sequence) for sequence in sequences]
            judge = session(TotalOrderBroadcast, processes=3, messages=4)
            pairs = session(OrderOfPairs, processes=3, messages=4)
            broken = {
                refusal.property
                for m in range(4)
                for refusal in judge.feed(Broadcast(Process(0), Message(m)))
            }
            while any(queues):
                p = generator.choice([p for p in range(3) if queues[p]])
                event = Deliver(Process(p), Message(queues[p].pop(0)))
                broken |= {refusal.property for refusal in judge.feed(event)}
                pairs.feed(event)
            assert pairs.holds("UniformOrderOfPairs") == brute_force_pairwise(sequences), sequences
            assert ("UniformTotalOrder" not in broken) == brute_force_pairwise(sequences), sequences
            assert ("UniformPrefixOrder" not in broken) == brute_force_prefix(sequences), sequences
        seen[brute_force_pairwise(sequences)] += 1
    assert min(seen.values()) > histories // 8, seen


@pytest.mark.deep
def test_an_event_costs_no_more_in_a_long_log() -> None:
    """The last thousand of 8,000 events execute as many lines of the service as the first thousand."""
    import sys

    messages = 4000
    judge = session(TotalOrderBroadcast, processes=2, messages=messages)
    counted: list[int] = []

    def lines(log: list[object]) -> int:
        count = 0

        def trace(frame: object, kind: str, argument: object) -> object:
            nonlocal count
            count += kind == "line"
            return trace

        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            for event in log:
                assert judge.feed(event) == ()
        finally:
            sys.settrace(None)
        return count

    for block in range(0, messages, 1000):
        for m in range(block, block + 1000):
            judge.feed(Broadcast(Process(m % 2), Message(m)))
        sample = [Deliver(Process(p), Message(m)) for m in range(block, block + 1000) for p in range(2)]
        if block in (0, messages - 1000):
            counted.append(lines(sample))
        else:
            for event in sample:
                judge.feed(event)
    assert counted[1] <= 1.02 * counted[0], counted


def test_reliable_broadcast_alone_has_no_order() -> None:
    judge = session(ReliableBroadcast, processes=2, messages=2)
    refusals = [refusal for event in events("b0:0 b1:1 d0:0 d0:1 d1:1 d1:0") for refusal in judge.feed(event)]
    assert refusals == []
    assert all(judge.holds(name) for name in OBLIGATIONS)


def test_an_event_that_holds_a_set_is_written_the_same_however_the_set_was_made() -> None:
    """Texts of counterexamples are compared from one process to the next."""
    members = [Process(number) for number in range(12)]
    written = {repr(Install(members[0], 1, frozenset(some))) for some in (members, members[::-1])}
    listed = ", ".join(sorted(map(repr, members)))
    assert written == {f"Install(process=Process(0), view=1, members=Set({{{listed}}}))"}
