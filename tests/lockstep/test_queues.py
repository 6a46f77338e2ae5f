"""Protocols whose packets travel in queues and logs: SEQUENCER agrees with its specification everywhere, and
its planted faults are found; docs/lockstep.md holds the table.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.bindings import binding_of, bound_protocol
from antiphon.conformance.bindings.links import Log, Queue
from antiphon.conformance.lockstep import Comparison, lockstep
from antiphon.conformance.stateful import run_stateful
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import SpecError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lockstep.md"

SMALL: dict[str, Any] = dict(bound_protocol("sequencer").small)

CAUGHT = {
    "forgets-itself": (1, "events"),
    "forgets-to-count": (2, "events"),
    "forwards-to-all": (1, "variable channel"),
    "keeps-forwarded": (1, "variable forward_table"),
    "leaves-one-out": (1, "the implementation refuses the step"),
    "names-the-coordinator": (2, "variable log"),
    "resends-newest-first": (4, "variable channel"),
    "resends-nothing": (3, "variable channel"),
    "stays-with-the-first": (3, "variable channel"),
}
"""After how many steps each fault shows, and what differs."""


def test_sequencer_agrees_in_every_transition() -> None:
    report = lockstep(binding_of("sequencer", **SMALL))
    assert report.outcome is Outcome.HOLDS
    assert (report.transitions, report.states, report.pairs) == (3_021, 1_524, 1_524)
    assert set(report.fired) == {"send", "receive_forward", "receive_data", "hand_over", "change_view"}
    assert report.replayed == 50


def test_the_walk_agrees_with_the_reference() -> None:
    """CPython executes the specification, and whole systems are compared by value at every step."""
    binding = binding_of("sequencer", processes=2, messages=2)
    native, reference = lockstep(binding), lockstep(binding, binding.program.reference)
    assert (native.transitions, native.pairs) == (reference.transitions, reference.pairs)
    assert reference.outcome is Outcome.HOLDS


@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    report = lockstep(binding_of("sequencer", fault=fault, **SMALL))
    assert report.difference is not None
    assert (len(report.difference.trace), report.difference.what) == CAUGHT[fault]
    steps, start = report.difference.trace.steps, report.difference.trace.start
    assert Comparison(binding_of("sequencer", **SMALL)).run(start, steps) is None


def test_every_planted_fault_is_caught_and_told_on_the_page() -> None:
    assert set(bound_protocol("sequencer").faults) == set(CAUGHT)
    row = r"^\| sequencer \| `([a-z-]+)` \|.*\| (\d+) \| ([^|]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert {name: (int(length), what) for name, length, what in rows} == CAUGHT


def test_hypothesis_finds_a_fault_and_none_where_none_is() -> None:
    bound = bound_protocol("sequencer")
    binding = bound.bind(fault="resends-newest-first", **bound.random)
    faulty = run_stateful(binding, runs=60, seed_number=1, shrinks=0)
    assert faulty.outcome is Outcome.VIOLATED
    sound = run_stateful(bound.bind(**bound.random), runs=5, seed_number=1)
    assert (sound.outcome, sound.difference) == (Outcome.HOLDS, None)


def test_members_that_leave_are_refused() -> None:
    with pytest.raises(SpecError, match="crashes is 1, and the members of this core stay"):
        binding_of("sequencer", crashes=1, views=2)


def test_a_queue_gives_the_oldest_and_forgets_it() -> None:
    queue = Queue("channel", 0, 1)
    content = queue.put(queue.put(queue.empty, "a", b"1"), "b", b"2")
    assert queue.head(content, 1) == b"1"
    assert dict(queue.values(queue.take(content, 1))) == {("channel", (0, 1)): ("b",)}


def test_a_log_keeps_all_and_counts_what_each_has() -> None:
    log = Log("log", "heard", 1, 3)
    content = log.take(log.put(log.put(log.empty, "a", b"1"), "b", b"2"), 2)
    assert (log.head(content, 0), log.head(content, 2)) == (b"1", b"2")
    assert dict(log.values(content)) == {("log", (1,)): ("a", "b"), ("heard", (1,)): (0, 2, 1)}
