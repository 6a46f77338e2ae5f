"""The core of figure 25 walks with its specification, and seventeen mistakes in it are each caught.

Nine of the mistakes are what the figure prints. The table in docs/lockstep.md is this one.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.bindings import binding_of, bound_protocol
from antiphon.conformance.lockstep import lockstep
from antiphon.spec.lang import SpecError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lockstep.md"

TWO: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 1, "timeouts": 1, "passes": 3, "urgent": True}
BOTH: dict[str, Any] = {**TWO, "messages": 2}
THREE: dict[str, Any] = {**TWO, "processes": 3, "losses": 0, "timeouts": 0}

INTERNAL, REFUSED = "steps that only one side would take", "the implementation refuses the step"

CAUGHT: dict[str, tuple[dict[str, Any], int, str]] = {
    "accepts-early": (THREE, 25, INTERNAL),
    "accepts-old-tokens": (TWO, 8, "variable arriving"),
    "answers-from-last-turn": (TWO, 9, "process 0 is asked for all numbers"),
    "asks-the-successor": (THREE, 6, REFUSED),
    "collects-early": (TWO, 0, INTERNAL),
    "collects-late": (TWO, 4, INTERNAL),
    "drops-late-bodies": (TWO, 17, "variable received"),
    "forgets-collected": (TWO, 20, "variable received"),
    "forgets-silence": (TWO, 2, "process 1: the timers that run, milliseconds left and back-off"),
    "keeps-null": (TWO, 4, INTERNAL),
    "keeps-token": (TWO, 5, "variable holding"),
    "learns-collected": (TWO, 8, "variable numbered"),
    "numbers-again": (TWO, 4, "variable network"),
    "numbers-newest": (BOTH, 6, "variable network"),
    "renames-resent-data": (TWO, 2, "variable network"),
    "stops-at-any-ack": (TWO, 8, "variable passed"),
    "waits-to-ask": (TWO, 14, REFUSED),
}
"""Where each fault shows, after how many steps, and what differs."""


@pytest.mark.parametrize(
    ("constants", "states", "transitions"),
    [
        (TWO, 1_003, 2_156),
        ({**TWO, "resilience": 1}, 1_348, 3_172),
        (THREE, 9_146, 17_076),
    ],
    ids=["two", "ordered", "three"],
)
def test_the_core_does_what_the_repaired_figure_does(
    constants: dict[str, Any], states: int, transitions: int
) -> None:
    """Delivery when all have a message, as printed, and when it is ordered."""
    report = lockstep(binding_of("rbp-resilient", **constants))
    assert report.difference is None
    assert report.complete
    assert (report.states, report.transitions) == (states, transitions)


@pytest.mark.parametrize("fault", CAUGHT)
def test_each_fault_is_caught_with_a_shortest_trace(fault: str) -> None:
    constants, length, what = CAUGHT[fault]
    difference = lockstep(binding_of("rbp-resilient", fault=fault, **constants)).difference
    assert difference is not None
    assert (len(difference.trace), difference.what) == (length, what)


def test_every_planted_fault_is_tried_and_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Figure 25")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \| (\d+) \| ([^|]+) \|$", page, re.MULTILINE)
    assert {name: (int(length), what) for name, _, length, what in rows} == {
        name: entry[1:] for name, entry in CAUGHT.items()
    }
    assert set(CAUGHT) == set(bound_protocol("rbp-resilient").faults)
    printed = [told for told in bound_protocol("rbp-resilient").faults.values() if "As printed" in told]
    assert len(printed) == sum(told.startswith("as printed") for _, told, _, _ in rows) == 9


def test_where_members_fail_or_send_out_of_turn_nothing_is_walked() -> None:
    with pytest.raises(SpecError, match="crashes is 1; this core is compared where it is 0: leave crashes"):
        binding_of("rbp-resilient", crashes=1)
