"""Verdicts of the window on an unfinished run equal those of the judge on the same beginnings of its logs.

Runs are random: of a group that stays as it is or parts and meets in views, with datagrams, the protocol's
side and consensus, with and without mistakes. They are read in steps of random sizes, and between two steps
the window is written and read back, as a restart does.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import msgspec
import pytest
from tests.judge.history.known import LIVENESS, PROMISES

from antiphon.conformance.judge.history import History, RunFindings, history, judge_history, properties_of
from antiphon.conformance.judge.history import window as windows
from antiphon.conformance.judge.history.one_log import PASSING_MAX, LogJudge
from antiphon.conformance.judge.history.window import Window
from antiphon.conformance.judge.trace import (
    TRUNCATED,
    Broadcast,
    CoreBroadcast,
    Deliver,
    Event,
    Problem,
    message_id,
)
from antiphon.model.verdict import Outcome

PROMISED = (
    ("total-order",),
    ("fifo-order",),
    ("total-order", "causal-order"),
    ("virtual-synchrony", "safe-delivery", "total-order", "causal-order"),
    ("extended-virtual-synchrony", "safe-delivery", "total-order"),
    ("extended-virtual-synchrony", "extended-total-order"),
    ("reliable-causal-order",),
    ("weak-total-order",),
    ("virtual-synchrony", "reliable-total-order", "agreement-on-successors"),
    ("safe-indications",),
    ("consensus",),
    ("prefix-order",),
)


def stored(window: Window) -> Window:
    return msgspec.json.decode(msgspec.json.encode(window), type=Window)


def broken(logs: History, promise: Collection[str]) -> set[str]:
    """Properties that the judge finds violated in logs whose ends are missing."""
    judged = RunFindings(judge_history(logs, promise), (Problem(Path("process-0.ndjson"), 0, TRUNCATED),))
    return {name for name, outcome in judged.outcomes.items() if outcome is Outcome.VIOLATED}


class Run:
    """A run of three processes without mistakes, as words of the notation."""

    def __init__(self, chance: random.Random, length: int) -> None:
        self.logs: list[list[str]] = [[], [], []]
        self.chance = chance
        self.parts, self.moves, self.views, self.cores, self.datagrams = (
            chance.random() < 0.5 for _ in range(5)
        )
        self.groups = [{0, 1, 2}]
        self.view, self.number, self.consensus = 1, 0, 0
        self.messages, self.sent = [0, 0, 0], [0, 0, 0]
        for _ in range(length):
            group = chance.choice(self.groups)
            source = chance.choice(sorted(group))
            self.step(group, source, chance.random())

    def step(self, group: set[int], source: int, which: float) -> None:
        if which < 0.65 or not self.views:
            self.broadcast(group, source)
        elif which < 0.8:
            self.consensus += 1
            for p in range(3):
                self.logs[p] += [f"{self.consensus}?x", f"{self.consensus}!x"]
        else:
            self.go_on(group, {source} if self.parts else set())

    def broadcast(self, group: set[int], source: int) -> None:
        self.messages[source] += 1
        self.number += 1
        m, mine = f"{source}:{self.messages[source]}", self.logs[source]
        mine += [f"+{m}"] + [f"(+{m})"] * self.cores
        if self.datagrams:
            self.sent[source] += 1
            mine += [f"{source}:{self.sent[source]}>{q}" for q in sorted(group - {source})]
            for q in group - {source}:
                self.logs[q].append(f"<{source}:{self.sent[source]}")
        for p in group:
            self.logs[p] += [f"({m}#{self.number})"] * self.cores + [f"{m}#{self.number}"]
            self.logs[p] += [f"*{m}"] * (self.chance.random() < 0.4)

    def go_on(self, group: set[int], alone: set[int]) -> None:
        self.view += 1
        parts = [part for part in (group - alone, alone) if part]
        for k, part in enumerate(parts):
            told = "".join(map(str, sorted(part)))
            for p in part:
                self.logs[p] += [f"[{told}]"] * self.moves + [f"[{self.view + k}={told}]"]
        self.view += len(parts) - 1
        self.groups = [other for other in self.groups if other != group] + parts


def spoil(chance: random.Random, log: list[str]) -> None:
    """Make a mistake in a log."""
    at, other = chance.randrange(len(log)), chance.randrange(len(log))
    m = f"{chance.randrange(3)}:{chance.randrange(1, 6)}"
    how = chance.randrange(8)
    if how == 0:
        log[at:] = ["!"]
    elif how == 1:
        del log[at]
    elif how == 2:
        log.insert(other, log[at])
    elif how == 3:
        log[at], log[other] = log[other], log[at]
    elif how < 6:
        log[at], log[at - 1] = log[at - 1], log[at]
    else:
        words = [m, m, f"+{m}", f"{m}#{chance.randrange(1, 9)}", f"{m}=x", f"{m}>1", f"<{m}", f"*{m}"]
        words += [f"({m})", "1?y", "2!y", "?1", "[01]", "[2=01]", "[3=012]", "[1=012]", "[5=12]"]
        words += ["^", f"+{m}@01"]
        log.insert(at, chance.choice(words))


def followed(
    chance: random.Random, logs: History, promise: tuple[str, ...], counts: Counter[str], most: int = 1 << 30
) -> None:
    """Read logs in steps, of which each says what the judge says of all that was read."""
    window, at, before = Window.of(3, promise), [0, 0, 0], set[str]()
    while any(k < len(log) for k, log in zip(at, logs, strict=True)):
        for p, log in enumerate(logs):
            step = chance.choice((0, 0, 1, 2, 5))
            for event in log[at[p] : at[p] + step]:
                window.feed(p, event)
            at[p] = min(len(log), at[p] + step)
        window.judge()
        prefix = [log[:k] for log, k in zip(logs, at, strict=True)]
        if window.unsure:
            counts["unsure"] += 1
            window.tell(judge_history(prefix, promise))
        if window.gave_up:
            counts["gave up"] += 1
            return
        expected = broken(prefix, promise)
        if not before <= expected:  # a process installs view 1 when something was done in it already
            counts["taken back"] += 1
            return
        assert {finding.property for finding in window.findings()} == expected, (promise, prefix)
        before = expected
        counts["held"] = max(counts["held"], window.size)
        window = stored(window)
    counts.update(window.broken.keys())
    counts["broken"] += bool(window.broken)


def written(run: Run) -> History:
    """Logs of the run; a crashed process logs nothing more."""
    logs = [[word for k, word in enumerate(log) if "!" not in log[:k]] for log in run.logs]
    return history(" | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs)))


@pytest.mark.deep
@pytest.mark.parametrize("runs", [33, pytest.param(2_200, marks=pytest.mark.deep)])
def test_each_step_finds_broken_what_the_judge_finds_broken_in_all_that_was_read(runs: int) -> None:
    counts = Counter[str]()
    for seed in range(runs):
        chance = random.Random(seed)
        run = Run(chance, chance.choice((4, 8, 12)))
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            spoil(chance, chance.choice([log for log in run.logs if log] or [["a"]]))
        followed(chance, written(run), PROMISED[seed % len(PROMISED)], counts)
    assert runs / 4 < counts["broken"] < runs * 3 / 4
    assert 0 < counts["unsure"] < runs / 4
    assert counts["gave up"] < runs / 10
    assert counts["taken back"] < runs / 100
    if runs > 1_000:
        safety = {name for words in PROMISED for name in properties_of(words)} - set(LIVENESS)
        assert safety <= counts.keys()


def test_every_promise_is_among_those_that_are_followed() -> None:
    words = {word for promise in PROMISED for word in promise}
    asked = {name for promise in PROMISED for name in properties_of(promise)}
    beside = [word for word in PROMISES if word not in words and word != "safe-delivery"]
    assert all(set(properties_of([word])) - set(LIVENESS) <= asked for word in beside)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("promise", PROMISED[2:4])
def test_what_is_held_of_a_long_run_does_not_grow(promise: tuple[str, ...]) -> None:
    """3,000 messages, of which process 2 delivers each fifty later; all is well until the first of them is
    delivered again.
    """
    window, held, sizes = Window.of(3, promise), list[int](), list[int]()
    for k in range(1, 3_001):
        for p, late in ((0, 0), (1, 0), (2, 50)):
            if p == k % 2:
                window.feed(p, Broadcast(2 * k, message_id(p, k // 2), "aa"))
            if k > late:
                m = message_id((k - late) % 2, (k - late) // 2)
                window.feed(p, Deliver(2 * k + 1, m, k - late, "aa"))
        if not k % 300:
            window.judge()
            held.append(window.size)
            sizes.append(len(msgspec.json.encode(window)))
            window = stored(window)
    assert not window.broken
    assert not window.unsure
    assert max(held) <= 150
    assert max(sizes[-3:]) < 12_000, (
        "until it is clear that logs do not show the protocol, broadcasts are held"
    )
    window.feed(1, Deliver(9_000, message_id(1, 7), 9_000, "aa"))
    assert window.unsure


def test_processes_that_are_too_far_apart_are_left_to_the_judge_of_whole_logs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(windows, "HELD_MAX", 50)
    window = Window.of(2, ("total-order",))
    for k in range(51):
        window.feed(0, Broadcast(k, message_id(0, k), "aa"))
    window.judge()
    assert (window.gave_up, window.size, window.broken) == (True, 0, {})


def test_who_is_gone_is_not_waited_for() -> None:
    window = Window.of(2, ("total-order",))
    for event in (Broadcast(0, "0:1", "aa"), Deliver(1, "0:1", 1, "aa")):
        window.feed(0, event)
    window.judge()
    assert window.size == 2
    window.judge({1})
    assert window.size == 0


def test_of_a_log_that_shows_the_protocol_late_the_handover_is_left_to_the_end() -> None:
    alone = LogJudge(0)
    events: list[Event] = [Broadcast(k, message_id(0, k), "aa") for k in range(PASSING_MAX + 1)]
    found = [finding for event in [*events, CoreBroadcast(0, "0:7", "aa")] for finding in alone.feed(event)]
    assert (found, alone.unknown, alone.taken) == ([], True, [])


@pytest.mark.parametrize(
    ("promise", "text", "first", "told"),
    [
        (("total-order",), "0: +a a#5 +0:2 0:2#5 | 1: a#5", (2, 1), {"UniformNumbering"}),
        (("weak-total-order",), "0: +a +0:2 a 0:2 [2=01] | 1: 0:2 a [2=01]", (4, 2), {"WeakTotalOrder"}),
        (("virtual-synchrony",), "0: +a a [2=01] | 1: [2=01] !", (2, 2), {"ViewSynchrony"}),
        (
            ("extended-virtual-synchrony",),
            "0: +a a [01] [2=01] | 1: [01] a [2=01]",
            (2, 2),
            {"FailureAtomicity"},
        ),
        (("causal-order",), "0: +a +a a | 1: a +b b", (2, 1), {"BroadcastOnce"}),
        (
            ("reliable-fifo-order",),
            "0: a +a +0:2 0:2 | 1: a",
            (2, 1),
            {"Causality", "ReliableFifo"},
        ),
    ],
)
def test_what_is_done_may_still_be_of_weight(
    promise: tuple[str, ...], text: str, first: tuple[int, ...], told: set[str]
) -> None:
    """All who can deliver the messages have, before the event comes that breaks something."""
    logs, window = history(text), Window.of(2, promise)
    cut = list(zip(logs, first, strict=True))
    for steps in ([log[:k] for log, k in cut], [log[k:-1] for log, k in cut]):
        for p, events in enumerate(steps):
            for event in events:
                window.feed(p, event)
        window.judge()
    assert not window.unsure
    assert window.broken.keys() == told
