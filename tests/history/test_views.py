"""View synchrony in logs: examples, what the machines of `spec.services` say, and no chance in the merge."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.conformance.history import (
    FURTHER_PROPERTIES,
    MACHINE_PROPERTIES,
    PROPERTIES,
    History,
    PromiseError,
    history,
    judge_history,
    judge_run,
    properties_of,
)
from antiphon.conformance.history.examples import BROKEN_WITH, EXAMPLES, FURTHER_EXAMPLES
from antiphon.conformance.history.machines import Judgement
from antiphon.conformance.trace import Broadcast, Deliver, Event, Step, causal_order, load_run
from antiphon.spec import services
from antiphon.spec.lang import Spec

PRIMARY = ("virtual-synchrony", "safe-delivery")
PARTS = ("extended-virtual-synchrony", "safe-delivery")
JUDGES: dict[tuple[str, ...], type[Spec]] = {
    PRIMARY: services.UniformViewSynchrony,
    PARTS: services.SafeExtendedSynchrony,
}
LOGS = Path(__file__).parent / "logs"


def broken(logs: History, promise: Sequence[str]) -> set[str]:
    return {finding.property for finding in judge_history(logs, promise) if finding.offending}


@pytest.mark.parametrize("name", FURTHER_EXAMPLES)
def test_an_example_breaks_exactly_what_it_says(name: str) -> None:
    promise, text, expected = FURTHER_EXAMPLES[name]
    assert broken(history(text), promise) == expected


@pytest.mark.parametrize("name", FURTHER_PROPERTIES + MACHINE_PROPERTIES)
def test_each_property_has_an_example_that_only_it_catches(name: str) -> None:
    others = BROKEN_WITH.get(name, frozenset())
    assert any(
        expected == {name} | others & set(properties_of(promise))
        for promise, _, expected in FURTHER_EXAMPLES.values()
    )


@pytest.mark.parametrize("directory", sorted(LOGS.iterdir()), ids=lambda path: path.name)
def test_a_written_log_breaks_exactly_what_its_example_says(directory: Path) -> None:
    name = directory.name.replace("-", " ")
    promise, _, expected = FURTHER_EXAMPLES.get(name) or (("total-order",), *EXAMPLES[name])
    judged = judge_run(load_run(directory), promise)
    assert judged.problems == ()
    assert {name for name, outcome in judged.outcomes.items() if outcome == "violated"} == expected
    assert list(judged.outcomes) == list(properties_of(promise))


def test_every_example_is_written_as_a_log() -> None:
    assert {path.name.replace("-", " ") for path in LOGS.iterdir()} >= set(FURTHER_EXAMPLES)


def test_a_part_without_a_majority_may_deliver_if_that_was_promised() -> None:
    _, text, _ = FURTHER_EXAMPLES["two parts"]
    assert broken(history(text), PARTS) == set()
    assert broken(history(text), PRIMARY) == {"UniformDelivery", "PrimaryPartition"}


def test_a_promise_is_a_set_of_properties() -> None:
    assert properties_of(["total-order"]) == PROPERTIES
    assert "UniformTotalOrder" not in properties_of(["virtual-synchrony"])
    ordered = properties_of(["total-order", "virtual-synchrony"])
    assert "UniformTotalOrder" in ordered
    assert "UniformPrefixOrder" not in ordered
    assert "Agreement" not in ordered
    everything = {*PROPERTIES, *properties_of(["causal-order"])}
    everything |= {*properties_of(PRIMARY), *properties_of(PARTS)}
    assert everything == {*PROPERTIES, *FURTHER_PROPERTIES}


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        (["totalorder"], r"unknown promise 'totalorder'.*total-order"),
        (["virtual-synchrony", "extended-virtual-synchrony"], "promise one of them"),
        (["safe-delivery"], "add virtual-synchrony or extended-virtual-synchrony"),
    ],
)
def test_what_nobody_promises_is_refused(promise: list[str], told: str) -> None:
    with pytest.raises(PromiseError, match=told):
        properties_of(promise)


def test_an_offence_is_told_by_its_two_events() -> None:
    _, text, _ = FURTHER_EXAMPLES["left behind"]
    (found,) = [finding for finding in judge_history(history(text), PRIMARY[:1]) if finding.offending]
    assert str(found) == (
        "delivered by one process in a view, not by the other, which went on to the same next view: "
        "process-0.ndjson:3 (0:1), against no delivery of 0:1 by process 1"
    )
    _, text, _ = FURTHER_EXAMPLES["other members"]
    (found,) = [finding for finding in judge_history(history(text), PRIMARY[:1]) if finding.offending]
    assert str(found) == (
        "installed with other members than elsewhere: process-1.ndjson:3 (view 2), against "
        "process-0.ndjson:4 (view 2)"
    )


# The machines of the models say the same --------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> str:
    """A correct run with views, in parts or not, then a few changes that logs of broken protocols show."""
    parted = draw(st.booleans())
    moves = draw(st.booleans())
    logs: list[list[str]] = [[], [], []]
    groups, view, count = [{0, 1, 2}], 1, [0, 0, 0]
    for _ in range(draw(st.integers(0, 4))):
        group = draw(st.sampled_from(groups))
        source = draw(st.sampled_from(sorted(group)))
        if draw(st.booleans()):
            count[source] += 1
            m = f"{source}:{count[source]}"
            logs[source].append(f"+{m}")
            for p in sorted(group):
                logs[p].append(m)
        else:
            view += 1
            rest = group - {source} if parted and len(group) > 1 else set[int]()
            for part in filter(None, (group - rest, rest)):
                number = view + (part == rest)
                for p in part:
                    told = "".join(map(str, sorted(part)))
                    logs[p] += ([f"[{told}]"] if moves else []) + [f"[{number}={told}]"]
            view += bool(rest)
            groups = [other for other in groups if other != group] + [
                part for part in (group - rest, rest) if part
            ]
    for _ in range(draw(st.integers(0, 3))):
        change(draw, logs[draw(st.integers(0, 2))])
    logs = [[word for k, word in enumerate(log) if "!" not in log[:k]] for log in logs]
    return " | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs))


def change(draw: st.DrawFn, log: list[str]) -> None:
    """Change one thing in a log."""
    at, other = (draw(st.integers(0, max(len(log) - 1, 0))) for _ in "12")
    how = draw(st.sampled_from(["crash", "repeat", "gap", "swap", "install", "part", "deliver", "delay"]))
    if how == "crash":
        log[at:] = ["!"]
    elif how == "install":
        log.insert(at, draw(st.sampled_from(["[2=01]", "[3=012]", "[2=2]", "[1=012]"])))
    elif how == "part":
        log.insert(at, draw(st.sampled_from(["[01]", "[012]", "[2]", "[]"])))
    elif how == "deliver":
        log.insert(at, draw(st.sampled_from(["0:1", "1:1", "2:1"])))
    elif how == "delay":
        parts = [k for k, word in enumerate(log) if k and word[0] == "[" and "=" not in word]
        if parts:
            k = draw(st.sampled_from(parts))
            log[k - 1], log[k] = log[k], log[k - 1]
    elif log and how == "gap":
        del log[at]
    elif log and how == "repeat":
        log.insert(other, log[at])
    elif log:
        log[at], log[other] = log[other], log[at]


def merged(logs: History, chance: random.Random) -> list[tuple[int, Event]] | None:
    """One order of all events, in which broadcasts come before deliveries; None if there is none."""
    if causal_order(logs).contradictions:
        return None
    queues, order, cast = [list(log) for log in logs], [], set[str]()
    known = {event.m for log in logs for event in log if isinstance(event, Broadcast)}
    while any(queues):
        ready = [
            p
            for p, queue in enumerate(queues)
            if queue and not (isinstance(queue[0], Deliver) and queue[0].m in known - cast)
        ]
        p = chance.choice(ready)
        event = queues[p].pop(0)
        cast |= {event.m} if isinstance(event, Broadcast) else set()
        order.append((p, event))
    return order


def judged_by_machine(logs: History, order: list[tuple[int, Event]], promise: tuple[str, ...]) -> set[str]:
    steps = [Step(p, time, event) for time, (p, event) in enumerate(order)]
    said = Judgement(logs, JUDGES[promise], steps).findings().values()
    return {finding.property for finding in said if finding.offending} & set(FURTHER_PROPERTIES)


@given(histories(), st.sampled_from([PRIMARY, PARTS]), st.randoms(use_true_random=False))
def test_the_service_of_the_models_says_the_same_however_events_are_merged(
    text: str, promise: tuple[str, ...], chance: random.Random
) -> None:
    """Where members are told differently, the machine takes the first telling for what promises are about."""
    logs = history(text)
    expected = broken(logs, promise) & set(FURTHER_PROPERTIES)
    asked = {"ViewAgreement", "LocalMonotonicity", "ViewSynchrony", "SameViewDelivery", "SendingViewDelivery"}
    asked |= set() if "ViewAgreement" in expected else set(FURTHER_PROPERTIES)
    for _ in range(2):
        order = merged(logs, chance)
        if order is not None:
            assert judged_by_machine(logs, order, promise) & asked == expected & asked


def test_the_random_histories_break_every_property() -> None:
    seen = set[str]()

    @settings(max_examples=300)
    @given(histories(), st.sampled_from([PRIMARY, PARTS]))
    def collect(text: str, promise: tuple[str, ...]) -> None:
        seen.update(broken(history(text), promise))

    collect()
    assert (set(properties_of(PRIMARY)) | set(properties_of(PARTS))) - set(PROPERTIES) <= seen


@pytest.mark.parametrize("promise", [PRIMARY, (*PARTS, "causal-order")])
def test_an_event_costs_no_more_in_a_long_log(promise: tuple[str, ...]) -> None:
    """Four times as many messages and views execute four times as many lines of the judge."""

    def run(messages: int) -> History:
        logs: list[list[str]] = [[], [], []]
        for k in range(1, messages + 1):
            logs[k % 3].append(f"+{k % 3}:{k}")
            for log in logs:
                log.append(f"{k % 3}:{k}#{k}")
                log += ["[012]", f"[{k // 10 + 1}=012]"] if k % 10 == 0 else []
        return history(" | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs)))

    def lines(logs: History) -> int:
        count = 0

        def trace(frame: object, kind: str, argument: object) -> object:
            nonlocal count
            count += kind == "line"
            return trace

        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            assert broken(logs, promise) == set()
        finally:
            sys.settrace(None)
        return count

    short, long = run(50), run(200)
    events = [sum(map(len, logs)) for logs in (short, long)]
    assert lines(long) / events[1] <= 1.02 * lines(short) / events[0]
