"""What is noticed early is all that the judge finds broken for ever; and what is held does not grow.

The judge of whole logs is the reference.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec

from antiphon.conformance.history import History, RunFindings, history, judge_history
from antiphon.conformance.history.early import HELD_MAX, PASSING_MAX, Early
from antiphon.conformance.history.examples import EXAMPLES
from antiphon.conformance.history.finding import RECEIVED_BY_ANOTHER
from antiphon.conformance.trace import TRUNCATED, Broadcast, Deliver, Problem, message_id
from antiphon.model.verdict import Outcome

WATCHED = {
    "BroadcastOnce", "UniformIntegrity", "UniformTotalOrder", "UniformPrefixOrder", "UniformGlobalOrder",
    "UniformNumbering", "NoViolation", "Handover", "DatagramIntegrity",
}  # fmt: skip


def fed(logs: History, chance: random.Random, early: Early | None = None) -> Early:
    """Feed the events in any order that has each log in its own; the state is written and read in between."""
    early = Early(len(logs)) if early is None else early
    turns = [p for p, log in enumerate(logs) for _ in log]
    chance.shuffle(turns)
    at = [0] * len(logs)
    for p in turns:
        early.feed(p, logs[p][at[p]])
        at[p] += 1
        if not chance.randrange(8):
            early = msgspec.json.decode(msgspec.json.encode(early), type=Early)
    return early


def broken(logs: History) -> set[str]:
    """What the judge finds violated in logs whose ends are missing, of what is noticed early."""
    judged = RunFindings(judge_history(logs), (Problem(Path("process-0.ndjson"), 0, TRUNCATED),))
    unnoticed = {finding.property for finding in judged.findings if finding.reason == RECEIVED_BY_ANOTHER}
    names = {name for name, outcome in judged.outcomes.items() if outcome is Outcome.VIOLATED}
    return (names & WATCHED) - unnoticed


def test_an_alarm_is_raised_where_the_judge_finds_something_broken_for_ever() -> None:
    """Of the examples, and of random histories with mistakes, cut anywhere; an alarm in vain is rare."""
    chance = random.Random(5)
    texts = [text for text, _ in EXAMPLES.values()]
    wrong = ["a", "b", "0:1", "+a", "+b", "a#9", "b#1", "a=x", "?1", "!", "1:7", "+1:7"]
    passed_wrong = ["(a)", "(b)", "b", "(+a)", "(+b)", "(a#9)", "(0:1)", "b>0", "a>1", "0:9>2", "0:2>1"]
    for k in range(1600):
        rows = [["+a", "a", "b", "0:5"], ["a", "+b", "b", "0:5"], ["a", "b"]]
        spoilt = passed_wrong if k % 2 else wrong
        if k % 2:  # as logs that show the protocol's side, and datagrams
            rows = [
                ["+a", "(+a)", "a>1", "a>2", "(a)", "a", "<b", "(b)", "b", "0:2>1"],
                ["<a", "(a)", "+b", "a", "(+b)", "b>0", "(b)", "b"],
                ["<a", "(a)", "(b)", "a", "b"],
            ]
        rows = rows[: chance.randrange(1, 4)]
        if chance.randrange(2):
            rows[0].insert(0, "+0:5")
        for _ in range(chance.randrange(3)):
            row = chance.choice(rows)
            row.insert(chance.randrange(len(row) + 1), chance.choice(spoilt))
        texts.append(" | ".join(f"{p}: {' '.join(row)}" for p, row in enumerate(rows)))
    found = vain = sound = 0
    for text in texts:
        whole = history(text)
        logs = tuple(log[: chance.randrange(len(log) + 1)] for log in whole) if chance.randrange(2) else whole
        expected, alarm = broken(logs), fed(logs, chance).alarm
        assert alarm or not expected, (text, expected)
        found += bool(expected)
        vain += alarm and not expected
        sound += not alarm
    assert min(found, sound) > 200
    assert vain < found / 4


def test_of_a_fifo_order_an_alarm_is_raised_where_the_judge_finds_it_broken() -> None:
    chance = random.Random(6)
    found = sound = 0
    for _ in range(200):
        rows = [[f"+0:{k}" for k in (1, 2, 3)] + ["0:1", "0:2", "0:3"], ["+b", "b", "0:1", "0:2", "0:3"]]
        order = ["0:1", "0:2", "0:3", "b"]
        chance.shuffle(order)
        rows.append(order[: chance.randrange(5)])
        logs = history(" | ".join(f"{p}: {' '.join(row)}" for p, row in enumerate(rows)))
        judged = RunFindings(
            judge_history(logs, ("fifo-order",)), (Problem(Path("process-0.ndjson"), 0, TRUNCATED),)
        )
        expected = judged.outcomes["Fifo"] is Outcome.VIOLATED
        alarm = fed(logs, chance, Early(3, total=False, fifo=True)).alarm
        assert alarm or not expected, rows
        found += expected
        sound += not alarm
        if not alarm:
            assert fed(logs, chance, Early(3)).alarm == bool(broken(logs))
    assert min(found, sound) > 20


def test_what_all_have_delivered_is_held_no_more() -> None:
    """10,000 messages; a process that lags behind by fifty makes fifty be held."""
    early = Early(3)
    for k in range(1, 10_001):
        for p in range(3):
            name, number = message_id(0, k if p < 2 else k - 50), k if p < 2 else k - 50
            if p == 0:
                early.feed(0, Broadcast(0, name, "aa"))
            if number > 0:
                early.feed(p, Deliver(0, name, number, "aa"))
    assert not early.alarm
    assert len(early.held) == len(early.positions) == 50
    assert early.over == {0: [(1, 9_950)]}
    assert len(msgspec.json.encode(early)) < 10_000
    early.feed(1, Deliver(0, "0:7", 10_001, "aa"))
    assert early.alarm, "what is held no more is known to be over"


def test_processes_that_are_too_far_apart_are_left_to_the_end() -> None:
    early = Early(2)
    for k in range(1, HELD_MAX + 2):
        early.feed(0, Broadcast(0, message_id(0, k), "aa"))
    assert (early.gave_up, early.held, early.alarm) == (True, {}, False)


def test_of_logs_without_the_protocols_side_little_is_held_on_its_way() -> None:
    early = Early(1)
    for k in range(1, PASSING_MAX + 2):
        early.feed(0, Broadcast(0, message_id(0, k), "aa"))
        early.feed(0, Deliver(0, message_id(0, k), k, "aa"))
    assert not early.alarm
    assert len(msgspec.json.encode(early)) < 1_000
