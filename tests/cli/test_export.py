"""`export` writes what it is asked for, and `check-exports` says how SPIN and our checker compare, or what is
missing.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from antiphon.conformance import exports
from antiphon.conformance.cli import documents
from antiphon.model.verdict import Outcome

Run = Callable[..., Any]
COURIER = "cli_courier:Courier"


@pytest.mark.parametrize(
    ("target", "says"),
    [("promela", "active proctype"), ("tla", "MODULE Courier"), ("graphml", "<graphml"), ("dot", "digraph")],
)
def test_a_specification_is_printed_or_written(antiphon: Run, tmp_path: Path, target: str, says: str) -> None:
    printed = antiphon("export", COURIER, "--to", target, "--repair", "all")
    assert printed.code == 0
    assert says in printed.out
    file = tmp_path / "Courier.out"
    written = antiphon("export", COURIER, "--to", target, "--repair", "all", "--output", file)
    assert (written.code, written.out.split()[0]) == (0, "written:")
    assert printed.out.startswith(file.read_text())
    assert (tmp_path / "Courier.cfg").exists() == (target == "tla")


def test_constants_and_repairs_are_those_of_check(antiphon: Run) -> None:
    text = antiphon(
        "export", COURIER, "--to", "tla", "--processes", 1, "--repair", "stop", "--reading", "tone=loud"
    ).out
    assert re.findall(r"^(processes|tone|stop) == (.*)$", text, flags=re.MULTILINE) == [
        ("processes", "1"),
        ("tone", '"loud"'),
        ("stop", "TRUE"),
    ]


def test_the_document_of_export_has_the_text_or_the_files(antiphon: Run, tmp_path: Path) -> None:
    printed = msgspec.json.decode(
        antiphon("export", COURIER, "--to", "dot", "--json").out, type=documents.Export
    )
    assert printed.text is not None
    assert printed.text.startswith("digraph")
    assert (printed.to, printed.written, printed.exit_code) == ("dot", [], 0)
    file = tmp_path / "graph.dot"
    written = msgspec.json.decode(
        antiphon("export", COURIER, "--to", "dot", "--output", file, "--json").out, type=documents.Export
    )
    assert (written.text, written.written) == (None, [str(file)])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((COURIER,), "--to"),
        ((COURIER, "--to", "uppaal"), "--to"),
        (
            (COURIER, "--to", "dot", "--max-states", "3"),
            "Courier has more than 3 states: too many to be drawn",
        ),
        ((COURIER, "--to", "tla", "--output", "two-words.tla"), "'two-words' is no name of a TLA+ module"),
        ((COURIER, "--to", "tla", "--output", "Model.cfg"), "configuration has this name; name Model.tla"),
        ((COURIER, "--to", "dot", "--output", "nowhere/x.dot"), "--output nowhere/x.dot: cannot be written"),
        (("dpt", "--to", "dot"), "did you mean 'dtp'?"),
    ],
)
def test_wrong_usage_of_export_exits_with_64(antiphon: Run, arguments: tuple[str, ...], says: str) -> None:
    answer = antiphon("export", *arguments)
    assert answer.code == 64
    assert says in answer.err


def test_check_exports_names_the_tools_that_are_missing(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = antiphon("check-exports")
    assert answer.code == 64
    assert (
        "spin and gcc not found; install SPIN 6.5 and a C compiler (on Debian: apt install spin gcc)"
        in answer.err
    )


@pytest.mark.parametrize(
    ("outcome", "difference", "code", "word"),
    [
        (Outcome.HOLDS, "", 0, "the same"),
        (Outcome.VIOLATED, "21 states, SPIN 20", 1, "differs"),
        (Outcome.UNKNOWN, "SPIN did not finish", 2, "unknown"),
    ],
)
def test_check_exports_exits_by_the_worst_comparison(
    antiphon: Run, monkeypatch: pytest.MonkeyPatch, outcome: Outcome, difference: str, code: int, word: str
) -> None:
    asked = []

    def compare(model: exports.Model, *, most_states: int) -> exports.Comparison:
        asked.append(model.constants)
        spin = exports.SpinRun(20, 30, frozenset({"AtMostTwo"}), complete=True, seconds=0.1, vector_bytes=12)
        found = outcome if len(asked) == 2 else Outcome.HOLDS
        return exports.Comparison(model, 21, 30, frozenset({"AtMostTwo"}), spin, found, difference)

    monkeypatch.setattr(exports, "find_tools", lambda: ("spin", "gcc"))
    monkeypatch.setattr(exports, "compare", compare)
    answer = antiphon("check-exports", COURIER)
    assert answer.code == code
    assert asked == ["processes=2; no repairs: the literal text", "processes=2; its one repair"]
    assert word in answer.out
    assert difference in answer.out
    asked.clear()
    told = antiphon("check-exports", COURIER, "--json").out
    document = msgspec.json.decode(told, type=documents.CheckExports)
    assert document.exit_code == code
    assert [one.outcome for one in document.comparisons] == ["holds", outcome.value]
    assert (document.comparisons[1].spin_states, document.comparisons[1].spin_broken) == (20, ["AtMostTwo"])
