"""`find` looks for a state in which an expression is true; `check --counts` and `explain --why-false` say
more about what was found.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import antiphon as api
from antiphon.conformance.cli import main
from antiphon.conformance.compare.replay import on_specification, regression_test
from antiphon.model.verdict import Outcome
from antiphon.spec.lang.question import reached

Run = Callable[..., Any]

COURIER = "cli_courier:Courier"


@pytest.mark.parametrize("engine", ["generated", "reference"])
def test_the_shortest_way_is_shown_with_the_values_asked_about(antiphon: Run, engine: str) -> None:
    answer = antiphon("find", COURIER, "self.count == 2 and len(self.network) == 1", "--engine", engine)
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "✓ holds  self.count == 2 and len(self.network) == 1: after 5 steps"
    assert "   5  " in answer.out
    assert "        count = 2\n" in answer.out
    assert "again:  antiphon find cli_courier:Courier" in answer.out


def test_what_no_state_is_exits_with_1_and_what_a_bound_hides_with_2(antiphon: Run) -> None:
    nowhere = antiphon("find", COURIER, "self.count == 3 and self.count == 2")
    assert nowhere.code == 1
    assert nowhere.out.splitlines()[-1].startswith("✗ violated  no reachable state is such: all ")
    hidden = antiphon("find", COURIER, "self.count == 3", "--max-depth", 2)
    assert hidden.code == 2
    assert hidden.out.splitlines()[-1] == "? unknown  not found: the bound of 2 steps"


def test_z3_finds_the_same_within_its_depth(antiphon: Run) -> None:
    assert antiphon("find", COURIER, "self.count == 1", "--engine", "z3", "--max-depth", 2).code == 0
    assert antiphon("find", COURIER, "self.count == 2", "--engine", "z3", "--max-depth", 2).code == 2
    assert antiphon("find", COURIER, "self.count == 2", "--engine", "z3").code == 64


def test_settings_and_repairs_count(antiphon: Run) -> None:
    assert antiphon("find", COURIER, "self.count == 3").code == 0
    assert antiphon("find", COURIER, "self.count == 3", "--repair", "stop").code == 1
    assert (
        antiphon("find", COURIER, "any(p.index == 4 for p in self.each(Process))", "--processes", 5).code == 0
    )


def test_a_bad_expression_is_wrong_usage_with_its_place(antiphon: Run) -> None:
    answer = antiphon("find", COURIER, "self.count == 1 and self.cuont == 2")
    assert answer.code == 64
    assert "<expression>:1:21: Courier has no 'cuont'; did you mean 'count'?" in answer.err
    assert antiphon("find", COURIER, "self.count ==").code == 64
    assert antiphon("find", COURIER, "self.count").code == 64


def test_the_document_holds_the_way_and_the_file_can_be_shown(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "found.itf.json"
    document = antiphon(
        "find", COURIER, "Letter(Process(1)) in self.network", "--json", "--save", file
    ).document
    assert (document.outcome, document.specification, document.saved) == ("holds", COURIER, str(file))
    assert [step.step for step in document.trace.steps] == ["send(p1)"]
    assert document.state == {"network": "{Letter(p1)}"}
    assert antiphon("show", file).code == 0
    nowhere = antiphon("find", COURIER, "self.count == 3 and self.count == 2", "--json").document
    assert (nowhere.outcome, nowhere.complete, nowhere.trace) == ("violated", True, None)


def test_counts_say_what_makes_the_state_space_grow(antiphon: Run) -> None:
    text = antiphon("check", COURIER, "--counts").out
    assert "counted over all 16 states:" in text
    counts = antiphon("check", COURIER, "--counts", "--json").document.reports[0].counts
    assert {item.action: item.states for item in counts.actions} == {"send": 16, "receive": 9, "lose": 12}
    assert {item.variable: item.values for item in counts.variables} == {"network": 4, "count": 4}
    assert antiphon("check", COURIER, "--json").document.reports[0].counts is None
    assert antiphon("check", COURIER, "--counts", "--engine", "z3", "--max-depth", 1).code == 64


def test_a_false_invariant_tells_its_part_in_text_and_document(antiphon: Run, trace: Path) -> None:
    told = "self.count <= 2 is false: self.count is 3 (cli_courier.py:"
    assert told.replace("(cli_courier.py:", "") in antiphon("check", COURIER).out.replace("\n", " ")
    (because,) = antiphon("check", COURIER, "--json").document.reports[0].verdicts[0].trace.because
    assert because.startswith("self.count <= 2 is false: self.count is 3 (")
    document = antiphon(
        "explain", trace, "--step", 6, "--after", "--why-false", "AtMostTwo", "--json"
    ).document
    assert [(item.text, item.value, item.sides) for item in document.failures] == [
        ("self.count <= 2", False, {"self.count": "3"})
    ]
    assert (
        "AtMostTwo, before step 1, send(p0): true"
        in antiphon("explain", trace, "--step", 1, "--why-false", "AtMostTwo").out
    )
    assert antiphon("explain", trace, "--step", 1).code == 64
    assert antiphon("explain", trace, "--step", 1, "--why-false", "Nothing").code == 64


def test_of_several_initial_states_it_is_said_which_was_chosen(antiphon: Run) -> None:
    asked = ("find", "ewd840", "self.token_at == Node(1) and self.active[Node(2)]")
    out = antiphon(*asked).out
    assert "   0  begins with\n        active[n2] = True\n        token_at = n1\n" in out
    assert "begins with active[n2] = True, token_at = n1\n" in out, "the diagram says it too"
    trace = antiphon(*asked, "--json").document.trace
    assert trace.start == {"active[n2]": "True", "token_at": "n1"}
    assert "begins with" not in antiphon("find", COURIER, "self.count == 1").out


def test_what_is_found_is_saved_replayed_and_made_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its expression is asked again at the end of the run; another end of the same steps does not show it."""
    monkeypatch.chdir(tmp_path)
    assert main(["find", "die-hard", "self.big == 4 and self.small > 0", "--save", "four.itf.json"]) == 0
    assert main(["replay", "four.itf.json", "--pytest", "test_four.py"]) == 0
    assert "self.big == 4 and self.small > 0 is true after 6 steps" in capsys.readouterr().out
    test = (tmp_path / "test_four.py").read_text(encoding="utf-8")
    assert "def test_four_still_shows_self_big_4_and_self_small_0()" in test
    found = api.load("four.itf.json")
    shorter = dataclasses.replace(found, transitions=found.transitions[:-1])
    assert on_specification(shorter).outcome is Outcome.UNKNOWN
    assert "is false after them" in on_specification(shorter).reason
    namespace: dict[str, Any] = {"__file__": str(tmp_path / "test_four.py")}
    exec(compile(test, "test_four.py", "exec"), namespace)
    namespace["test_four_still_shows_self_big_4_and_self_small_0"]()


def test_an_expression_with_quotes_makes_a_test_that_python_reads() -> None:
    trace = api.find("die-hard", "self.big == 4").trace
    assert trace is not None
    quoted = dataclasses.replace(trace, why=reached('"""' + "\\"))
    ast.parse(regression_test(quoted, "x.itf.json", "test_x.py", outcome="holds"))
