"""The core of DTP walks with its specification, and sixteen mistakes in it are each caught.

Half of the mistakes are what the paper prints: a core that was written from it alone would make them. The
table in docs/lockstep.md is this one.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.bindings import binding_of, bound_protocol
from antiphon.conformance.lockstep import lockstep
from antiphon.spec.lang import SpecError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lockstep.md"

_QUIET: dict[str, Any] = {"senders": 1, "losses": 0, "timeouts": 0, "nulls": 0}
PAIR: dict[str, Any] = {**_QUIET, "processes": 2, "messages": 1, "timeouts": 1, "nulls": 1}
NULLS: dict[str, Any] = {**PAIR, "timeouts": 2, "nulls": 2}
BOTH: dict[str, Any] = {**_QUIET, "processes": 2, "messages": 2, "senders": 2, "nulls": 1}
THREE: dict[str, Any] = {**_QUIET, "processes": 3, "messages": 1, "nulls": 1}
TWICE: dict[str, Any] = {**_QUIET, "processes": 3, "messages": 2}

TIMERS = "the timers that run, milliseconds left and back-off"

CAUGHT: dict[str, tuple[dict[str, Any], int, str]] = {
    "acknowledges-again": (THREE, 4, "variable acks"),
    "acts-unrecovered": (PAIR, 3, f"process 1: {TIMERS}"),
    "advances-without-body": (PAIR, 3, "variable network"),
    "answers-everybody": (THREE, 5, "variable network"),
    "answers-nobody": (THREE, 8, "variable network"),
    "asks-once": (TWICE, 8, "variable network"),
    "believes-the-last": (PAIR, 4, "variable status"),
    "counts-itself-out": (PAIR, 2, "events"),
    "forgets-early-acks": (TWICE, 8, "variable network"),
    "forgets-resent-message": (PAIR, 4, "variable network"),
    "forgets-silence": (PAIR, 0, f"process 0: {TIMERS}"),
    "ignores-told": (THREE, 6, "variable status"),
    "keeps-stable": (PAIR, 4, "variable buffer"),
    "passes-on": (THREE, 4, "steps that only one side would take"),
    "takes-old-tokens": (NULLS, 5, "variable holding"),
    "takes-the-newest": (BOTH, 5, "steps that only one side would take"),
}
"""Where each fault shows, after how many steps, and what differs."""


@pytest.mark.parametrize(
    ("constants", "states", "transitions"),
    [(NULLS, 462, 1_294), (THREE, 1_986, 7_991), ({**PAIR, "resilience": 1}, 81, 155)],
    ids=["two", "three", "resilient"],
)
def test_the_core_does_what_the_repaired_protocol_does(
    constants: dict[str, Any], states: int, transitions: int
) -> None:
    report = lockstep(binding_of("dtp", **constants))
    assert report.difference is None
    assert report.complete
    assert (report.states, report.transitions) == (states, transitions)


@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    constants, length, what = CAUGHT[fault]
    difference = lockstep(binding_of("dtp", fault=fault, **constants)).difference
    assert difference is not None
    assert (len(difference.trace), difference.what) == (length, what)


def test_every_planted_fault_is_tried_and_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## DTP")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| (\d+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert {name: (int(length), what) for name, length, what in rows} == {
        name: entry[1:] for name, entry in CAUGHT.items()
    }
    assert set(CAUGHT) == set(bound_protocol("dtp").faults)


def test_without_known_senders_nothing_is_walked() -> None:
    with pytest.raises(SpecError, match="senders=0: which update a U_id names is known only with 1 to 2"):
        binding_of("dtp", processes=2, messages=1)
