"""docs/from-tla.md is true: its specification runs, and both of its readers count what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import antiphon

PAGE = Path(__file__).parents[2] / "docs" / "from-tla.md"


def test_the_module_of_the_page_is_checked_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "voting.py").write_text("\n\n".join(texts), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path])
    reduced = antiphon.check(f"{tmp_path}/voting.py:Voting", properties=["agreement"], symmetry=True)
    assert reduced.notes[0].startswith("6 states stand for 27 ")
    for engine in ("reference", "generated", "native"):
        quorums = antiphon.check(f"{tmp_path}/voting.py:Quorums", engine=engine)
        assert (quorums.outcome, quorums.exploration.states) == ("holds", 39 * 27)
    sys.modules.pop("voting")


def test_what_tlc_generates_are_our_transitions_and_the_initial_states() -> None:
    """The rows of docs/exports.md that TLC counted; the table of this page has those of DieHard."""
    exported = (PAGE.parent / "exports.md").read_text(encoding="utf-8")
    asked = {
        "DieHard": ("die-hard", {"goal": 7}),  # a goal that is never reached: the search goes on to its end
        "TwoPhase": ("two-phase", {"managers": 3}),
        "EWD840": ("ewd840", {"nodes": 3}),
        "ChangRoberts": ("chang-roberts", {"nodes": 3}),
        "DiningPhilosophers": ("dining-philosophers", {"philosophers": 5}),
    }
    for name, (spec, constants) in asked.items():
        row = re.search(rf"^\| `{name}` \|[^|]*\| ([\d,]+) \| ([\d,]+) \|", exported, re.MULTILINE)
        assert row is not None
        distinct, generated = (int(count.replace(",", "")) for count in row.groups())
        bound = antiphon.program(spec, **constants)
        found = antiphon.check(bound).exploration
        counted = (found.states, found.transitions + len(bound.reference.initial()))
        assert counted == (distinct, generated), name
    found = antiphon.check(antiphon.program("die-hard", goal=7)).exploration
    rows = dict(re.findall(r"^\| (.*?) \| (.*?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert rows["16 distinct states found"] == f"{found.states} states"
    assert rows["97 states generated"].startswith(f"{found.transitions} transitions")
    assert rows["the depth of the complete state graph search is 8"].startswith(f"depth {found.depth}:")
