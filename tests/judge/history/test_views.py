"""View synchrony in logs: examples, and what the definitions say of random histories."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.judge.history.examples import BROKEN_WITH, EXAMPLES, FURTHER_EXAMPLES
from tests.judge.history.known import ALWAYS, FURTHER_PROPERTIES, PROPERTIES

from antiphon.conformance.judge.history import (
    History,
    PromiseError,
    history,
    judge_history,
    judge_run,
    properties_of,
)
from antiphon.conformance.judge.history.machines import is_founded
from antiphon.conformance.judge.trace import (
    Broadcast,
    Crash,
    Deliver,
    Event,
    Header,
    Install,
    Transitional,
    causal_order,
    load_run,
    log_name,
)

PRIMARY = ("virtual-synchrony", "safe-delivery")
PARTS = ("extended-virtual-synchrony", "safe-delivery")


def broken(logs: History, promise: Sequence[str]) -> set[str]:
    return {finding.property for finding in judge_history(logs, promise) if finding.offending}


@pytest.mark.parametrize("name", FURTHER_EXAMPLES)
def test_an_example_breaks_exactly_what_it_says(name: str) -> None:
    promise, text, expected = FURTHER_EXAMPLES[name]
    assert broken(history(text), promise) == expected


@pytest.mark.parametrize("name", FURTHER_PROPERTIES)
def test_each_property_has_an_example_that_only_it_catches(name: str) -> None:
    others = BROKEN_WITH.get(name, frozenset())
    assert any(
        expected == {name} | others & set(properties_of(promise))
        for promise, _, expected in FURTHER_EXAMPLES.values()
    )


@pytest.mark.parametrize("name", [*EXAMPLES, *FURTHER_EXAMPLES])
def test_a_written_log_breaks_exactly_what_its_example_says(name: str, tmp_path: Path) -> None:
    promise, text, expected = FURTHER_EXAMPLES.get(name) or (("total-order",), *EXAMPLES[name])
    for process, events in enumerate(history(text)):
        header = Header(run=name, protocol="any", process=process, processes=text.count("|") + 1)
        lines = [msgspec.json.encode(line) + b"\n" for line in (header, *events)]
        (tmp_path / log_name(process)).write_bytes(b"".join(lines))
    judged = judge_run(load_run(tmp_path), promise)
    assert judged.problems == ()
    doubted = {finding.property for finding in judged.findings if finding.doubt}
    assert {name for name, outcome in judged.outcomes.items() if outcome == "violated"} | doubted == expected
    asked = properties_of(promise)
    assert list(judged.outcomes) == [name for name in asked if name in judged.outcomes]
    assert set(asked) - judged.outcomes.keys() <= ALWAYS


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
    everything |= {*properties_of(PRIMARY), *properties_of(PARTS), *properties_of("no-duplication")}
    assert everything == {*PROPERTIES, *FURTHER_PROPERTIES[: FURTHER_PROPERTIES.index("ReliableFifo")]}


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
        "installed by two processes of which one has delivered more in the view before: "
        "process-0.ndjson:4 (view 2), against process-0.ndjson:3 (0:1)"
    )
    _, text, _ = FURTHER_EXAMPLES["other members"]
    (found,) = [finding for finding in judge_history(history(text), PRIMARY[:1]) if finding.offending]
    assert str(found) == (
        "installed with other members than elsewhere: process-1.ndjson:3 (view 2), against "
        "process-0.ndjson:4 (view 2)"
    )


# By definition ----------------------------------------------------------------------------------------------


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


class Told:
    """Views as each process reports them: `sent[m]` is the broadcaster of m with its view, `got[p, m]` the
    place at which p first delivered m, `came[p, v]` the place from which p came to v, `parts[p, v]` the
    members with which p left v; a place is a view, with its transitional configuration if one was entered.
    """

    def __init__(self, logs: History) -> None:
        begins = is_founded(logs)
        self.correct = {p for p, log in enumerate(logs) if log and not any(isinstance(e, Crash) for e in log)}
        self.tellings = {1: {frozenset(range(len(logs)))}} if begins and logs else {}
        self.sent: dict[str, tuple[int, int]] = {}
        self.got: dict[tuple[int, str], tuple[int, frozenset[int] | None]] = {}
        self.came: dict[tuple[int, int], tuple[int, frozenset[int] | None]] = {}
        self.parts: dict[tuple[int, int], frozenset[int]] = {}
        self.last: dict[int, int] = {}
        self.wrong = set[str]()
        for p, log in enumerate(logs):
            self.last[p] = int(begins)
            for event in log:
                self.read(p, event)

    def read(self, p: int, event: Event) -> None:
        """Record one event, and any property that it breaks by itself."""
        view = self.last[p]
        part = self.parts.get((p, view))
        match event:
            case Broadcast(m=m):
                self.wrong |= set() if view else {"InitialView"}
                self.sent.setdefault(m, (p, view))
            case Deliver(m=m):
                self.wrong |= set() if view else {"InitialView"}
                self.got.setdefault((p, m), (view, part))
            case Transitional(members=members):
                self.wrong |= set() if view and part is None and p in members else {"TransitionalSet"}
                if view:
                    self.parts.setdefault((p, view), frozenset(members))
            case Install(view=new, members=members):
                self.wrong |= set() if p in members else {"SelfInclusion"}
                self.wrong |= set() if new > view else {"LocalMonotonicity"}
                self.tellings.setdefault(new, set()).add(frozenset(members))
                if new > view:
                    self.came[p, new] = view, part
                    self.last[p] = new

    def members(self, v: int) -> frozenset[int]:
        """Members of a view on which all reports agree."""
        return next(iter(self.tellings.get(v, {frozenset[int]()})))

    def delivered(self, p: int, v: int, *, early: bool = False) -> set[str]:
        """In a view, or before its transitional configuration."""
        return {m for (q, m), (w, part) in self.got.items() if (p, v) == (q, w) and not (early and part)}

    def reaches(self, m: str, members: frozenset[int]) -> bool:
        """All of these that are correct deliver m."""
        return all((q, m) in self.got for q in members & self.correct)


def broken_by_definition(told: Told) -> set[str]:
    """The definitions as they read."""
    numbers = sorted(told.tellings)
    holds = {
        "ViewAgreement": all(len(tellings) == 1 for tellings in told.tellings.values()),
        "PrimaryPartition": all(
            any(w == v and u == before for (_, w), (u, _) in told.came.items())
            for before, v in itertools.pairwise(numbers)
        ),
        "SendingViewDelivery": all(
            v == told.sent[m][1] for (_, m), (v, _) in told.got.items() if m in told.sent
        ),
        "SameViewDelivery": all(
            v == w for (_, m), (v, _) in told.got.items() for (_, o), (w, _) in told.got.items() if m == o
        ),
        "ViewSynchrony": all(
            told.delivered(p, v) == told.delivered(q, v)
            for (p, new), (v, _) in told.came.items()
            for (q, other), (w, _) in told.came.items()
            if (new, v) == (other, w) and v
        ),
        "VscValidity": all((p, m) in told.got for m, (p, _) in told.sent.items() if p in told.correct),
        "VscTermination": all(
            all((q, m) in told.got for q in told.members(v))
            or all(told.last[q] > v for q in told.members(v) & told.correct)
            for m, (_, v) in told.sent.items()
        ),
        "UniformDelivery": all(told.reaches(m, told.members(v)) for (_, m), (v, _) in told.got.items()),
        "SafeDelivery": all(
            told.reaches(m, told.members(v) if part is None else part)
            for (_, m), (v, part) in told.got.items()
        ),
        "FailureAtomicity": all(
            told.delivered(p, v, early=True) == told.delivered(q, v, early=True)
            for (p, v), part in told.parts.items()
            for (q, w), other in told.parts.items()
            if (v, part) == (w, other)
        ),
        "TransitionalSet": all(part <= told.members(v) for (_, v), part in told.parts.items())
        and all(
            not v or (part is not None and part <= told.members(new))
            for (_, new), (v, part) in told.came.items()
        )
        and all(
            part is None or (q in part) == (v == w)
            for (p, new), (v, part) in told.came.items()
            for (q, other), (w, _) in told.came.items()
            if new == other and p != q
        ),
    }
    return told.wrong | {name for name, true in holds.items() if not true}


OF_EVENTS = {"ViewAgreement", "LocalMonotonicity", "ViewSynchrony", "SameViewDelivery", "SendingViewDelivery"}


@given(histories(), st.sampled_from([PRIMARY, PARTS]))
def test_a_property_of_views_is_judged_by_its_definition(text: str, promise: tuple[str, ...]) -> None:
    """The definition gives no members if the reports differ."""
    logs = history(text)
    assume(not causal_order(logs).contradictions)
    asked = set(properties_of(promise)) & set(FURTHER_PROPERTIES)
    expected = broken_by_definition(Told(logs)) & asked
    if "ViewAgreement" in expected:
        assert broken(logs, promise) & OF_EVENTS == expected & OF_EVENTS
    else:
        assert broken(logs, promise) & set(FURTHER_PROPERTIES) == expected


@pytest.mark.deep
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
    lines(short)  # what is done once in a process, as imports, counts for neither
    assert lines(long) / events[1] <= 1.02 * lines(short) / events[0]
