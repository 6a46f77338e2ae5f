"""Every code block of every page runs: here, in the test of its page, or not, for a reason that stands here.

1. Commands are run as they stand, in one directory a page, with small bounds: a search ends after some
   states, a swarm after some runs. Wrong options, names of constants, repairs and properties are found so;
   what a search says of the whole model the ledger and the tests of the protocols judge.
2. Python is run, in one namespace a page, where what it names has been made.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from antiphon.conformance.cli import main
from antiphon.conformance.cli.app import commands as app_commands
from antiphon.conformance.run.cluster import run_cluster

ROOT = Path(__file__).parents[2]
ELSEWHERE = {
    "docs/adapters.md": "tests/adapters/test_page.py",
    "docs/adding-a-protocol.md": "tests/examples/test_adding.py",
    "docs/api.md": "tests/api/test_docs.py",
    "docs/errata.md": "tests/claims/test_errata.py",
    "docs/from-tla.md": "tests/lang/test_from_tla.py",
    "docs/groups.md": "tests/membership/test_page.py",
    "docs/language.md": "tests/lang/test_docs.py",
    "docs/library.md": "tests/impl/test_docs.py",
    "docs/proofs.md": "tests/proofs/test_page.py",
    "docs/trace-validation.md": "tests/compare/validation/test_page.py",
    "docs/tutorial.md": "tests/examples/test_tutorial.py",
    "docs/your-protocol.md": "tests/examples/test_your_protocol.py",
}
"""Pages all of whose blocks have a test of their own."""

ON_SPARK = "tests/spark/pipeline/test_docs.py runs it, which has Spark running"
BY_THE_GATE = "`make check` asks the same; tests/cli/test_claims.py asks one claim, one family and several"
A_MINUTE = "its faults take a minute, or ten: tests/run/cluster/test_changing.py runs such clusters"
SERVES = "it serves until Ctrl-C: tests/report/explorer/test_explorer.py asks the same application"
LISTING = "a listing of files, or of what is printed"
NOT_HERE = {
    ("README.md", "make check"): "make: how the project is built and tested",
    ("README.md", "make test"): "make: how the project is built and tested",
    ("docs/ci.md", "- run:"): LISTING,
    ("docs/cluster.md", "antiphon cluster irbp"): A_MINUTE,
    ("docs/cluster.md", "antiphon cluster total"): A_MINUTE,
    ("docs/cluster.md", "antiphon cluster --system"): "needs root and those systems: tests/run/systems",
    ("docs/coverage.md", "antiphon coverage total --lake"): ON_SPARK,
    ("docs/coverage.md", "antiphon swarm total --within-model"): ON_SPARK,
    ("docs/coverage.md", "antiphon replay never"): ON_SPARK,
    ("docs/coverage.md", "import pyarrow"): ON_SPARK,
    ("docs/exports.md", "spin "): "another tool",
    ("docs/exports.md", "java "): "another tool",
    ("docs/exports.md", "dot "): "another tool",
    ("docs/lake.md", "antiphon "): ON_SPARK,
    ("docs/lake.md", "import pyarrow"): ON_SPARK,
    ("docs/scale.md", "antiphon check"): ON_SPARK,
    ("docs/swarm.md", "antiphon swarm rbp --runs 100000"): ON_SPARK,
    ("docs/swarm.md", "import pyarrow"): ON_SPARK,
    ("docs/trace-schema.md", "runs/"): LISTING,
    ("docs/trace-schema.md", '{"schema"'): "tests/judge/trace/test_schema_and_log.py writes it",
    ("docs/watching.md", "antiphon watch"): ON_SPARK,
    ("docs/watching.md", "✗ violated"): LISTING,
    ("docs/security.md", "key ="): "the addresses are the reader's, so that it is compiled only",
    ("docs/layers.md", "class VscSynchronous"): "quoted: spec/protocols/vsc/refinement.py has its beginning",
    ("docs/command-line.md", "antiphon claims --deep"): "minutes: `make check-deep` runs the whole ledger",
    ("docs/command-line.md", "antiphon claims --engine z3"): "minutes: tests/claims asks Z3",
    ("docs/command-line.md", "antiphon claims --mutants"): "minutes: tests/cli/test_strength.py",
    ("docs/command-line.md", "antiphon claims RBC-08 --mutants"): "tests/cli/test_strength.py asks one claim",
    ("docs/command-line.md", "antiphon claims --family rbc"): BY_THE_GATE,
    ("docs/command-line.md", "antiphon refine\n"): "all of them, minutes: tests/cli/test_refine.py",
    ("docs/command-line.md", "antiphon claims RBP-06"): BY_THE_GATE,
    ("docs/gallery.md", "antiphon claims"): BY_THE_GATE,
    ("docs/explorer.md", "antiphon explore figure-5"): SERVES,
    ("docs/explorer.md", "antiphon explore --trace"): SERVES,
    ("docs/explorer.md", "antiphon explore --binding"): SERVES,
    ("docs/explorer.md", "antiphon explore raft"): "tests/report/explorer/test_logs.py walks such a log",
    ("docs/layers.md", "antiphon claims HOR-06"): BY_THE_GATE,
    ("docs/irbp-repaired.md", "antiphon claims --family irb"): BY_THE_GATE,
    ("docs/reformation.md", "antiphon claims --family ref"): BY_THE_GATE,
    ("docs/reformation.md", "antiphon lockstep reformation"): "tests/compare/lockstep walks it",
    ("docs/lockstep.md", "antiphon replay alone"): "tests/compare/lockstep/test_saved.py takes this run",
    ("docs/lockstep.md", "antiphon replay cut"): "tests/run/swarm/test_scenarios.py takes this run",
}
"""Blocks that do not run here, by page and beginning, with the reason."""

REFERENCE = ("--engine", "reference")
BOUNDED = {
    "check": ("--max-states", "12", *REFERENCE),
    "find": ("--max-states", "12", *REFERENCE),
    "refine": ("--max-states", "12", *REFERENCE),
    "simulate": ("--walks", "2", "--steps", "4", *REFERENCE),
    "swarm": ("--runs", "2", "--jobs", "1"),
    "cluster": ("--messages", "12"),
    "coverage": ("--max-states", "100"),
    "stateful": ("--runs", "2"),
    "lockstep": ("--max-transitions", "100"),
}
"""Options that make a command short; a repeated option overrides. Commands with Z3 run unchanged."""


class Block(NamedTuple):
    """A code block: the page, the words after its fence, its text."""

    page: str
    kind: str
    text: str


def blocks() -> Iterator[Block]:
    """The blocks of all pages, but for those that have a test of their own."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").glob("*.md")]
    for page in sorted(pages):
        name = str(page.relative_to(ROOT))
        if name not in ELSEWHERE:
            text = page.read_text(encoding="utf-8")
            for kind, content in re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
                yield Block(name, kind.partition(" ")[0], content)


BLOCKS = list(blocks())
SHELL = [block for block in BLOCKS if block.kind in ("sh", "console", "")]
PYTHON = [block for block in BLOCKS if block.kind == "python"]
OF_RESEARCH = ("docs/irbp-repaired.md", "docs/layers.md", "docs/reformation.md")
"""Pages with tens of commands about one protocol each, whose verdicts the ledger holds as well: their
commands run in `make check-deep`.
"""

SHELL_PAGES = [
    pytest.param(page, marks=[pytest.mark.deep] if page in OF_RESEARCH else [])
    for page in sorted({block.page for block in SHELL})
]


def reason(page: str, text: str) -> str | None:
    """Why this is not run here; a beginning with a line's end is the whole command."""
    line = text.rstrip("\n") + "\n"
    return next(
        (why for (of, begins), why in NOT_HERE.items() if of == page and line.startswith(begins)), None
    )


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block of a shell, with variables put in and comments left out, each with the lines
    that it prints according to the page.
    """
    if reason(block.page, block.text) == LISTING:
        return
    variables: dict[str, str] = {}
    text = block.text.replace("\\\n", " ")
    is_session = block.kind == "console"
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:] if is_session else text.splitlines()
    for part in parts:
        line, _, printed = part.partition("\n")
        line = re.sub(r"\s+#.*", "", line)
        if not line.strip():
            continue
        line = re.sub(r"\$(\w+)", lambda told: variables.get(told[1], told[0]), line)
        if (given := re.fullmatch(r'(\w+)="(.*)"', line)) is not None:
            variables[given[1]] = given[2]
            continue
        yield line, printed.splitlines()


def bounds(words: list[str]) -> tuple[str, ...]:
    """Options that make this command short."""
    if "--prove" in words or "z3" in words or (words[0] == "check" and "--save" in words):
        return ()  # solved, or found soon
    if words[0] == "claims":
        return ("--sample", "1") if "--mutants" in words else () if "--minimal" in words else ("--brief",)
    found = BOUNDED.get(words[0], ())
    if "--runs" in found and "--runs" in words and int(words[words.index("--runs") + 1]) < 10:
        found = found[2:]  # few already
    return found[:2] if "--directory" in words else found


def test_every_block_is_run_or_has_a_reason() -> None:
    """Reasons of blocks that are gone fail the test."""
    assert {block.kind for block in BLOCKS} <= {"sh", "console", "", "python", "json"}
    texts = [(block.page, line) for block in SHELL for line, _ in commands(block)]
    texts += [(block.page, block.text) for block in BLOCKS]
    for page, begins in NOT_HERE:
        found = any(of == page and f"{text.rstrip()}\n".startswith(begins) for of, text in texts)
        assert found, (page, begins)
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8"), page
    unknown = [
        (page, line)
        for page, line in ((block.page, line) for block in SHELL for line, _ in commands(block))
        if reason(page, line) is None and not line.removeprefix(".venv/bin/").startswith("antiphon ")
    ]
    assert not unknown


def test_commands_in_sentences_are_ones(small: Path) -> None:
    """Commands in backticks parse, on every page, with numbers in place of the page's words; an option alone
    is only a mention.
    """
    group: Any = typer.main.get_command(app_commands())
    found = 0
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for line in re.findall(r"`(antiphon [^`]*)`", text):
            words = [re.sub(r"^(SEED|M|K)$", "1", word) for word in shlex.split(line)[1:]]
            if len(words) < 2 or words[0] == "COMMAND" or words[-1] in ("--to", "--key-file"):
                continue
            found += 1
            try:
                group.commands[words[0]].make_context(words[0], words[1:])
            except Exception as error:
                raise AssertionError(f"{page.name}: {line}: {error}") from error
    assert found > 90


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in, in which a cluster has run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


@pytest.mark.parametrize("page", SHELL_PAGES)
def test_the_commands_of_a_page_run(
    page: str, small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    for block in SHELL:
        for line, printed in commands(block) if block.page == page else ():
            if reason(page, line) is not None:
                continue
            capsys.readouterr()
            words = shlex.split(line.removeprefix(".venv/bin/"))[1:]
            code = main([*words, *bounds(words)])
            said = capsys.readouterr()
            if printed:
                shown = said.out + said.err
                assert not [text for text in printed if text not in shown], line
            else:
                assert code in (0, 1, 2), f"{line}\n{said.err}"


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: f"{block.page}-{block.text.split()[1]}")
def test_the_python_of_a_page_runs(block: Block, small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if block.text.startswith("class VscSynchronous"):
        first, last = block.text.split("\n\n\n")
        text = (ROOT / "spec/protocols/vsc/refinement.py").read_text(encoding="utf-8")
        assert first in text
        assert all(name in text.partition("VSC = Refinement(")[2] for name in re.findall(r"\w+", last)[2:])
    elif reason(block.page, block.text) is not None:
        whole = block.text.rstrip() + (" ..." if block.text.rstrip().endswith(":") else "")
        compile(whole, block.page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    else:
        text = block.text.replace("messages=2000", "messages=30")
        if "runs/rbp-3x2000-7" in block.text:
            made = run_cluster(messages=30, directory=small / "runs").directory
            made.rename(small / "runs" / "rbp-3x2000-7")
        names: dict[str, Any] = {"__name__": "page"}
        if block.page == "docs/lockstep.md":
            exec("from antiphon.conformance.compare.suites import CoreSuite, Times", names)
        sys.modules["page"] = type(sys)("page")
        exec(compile(text, block.page, "exec"), names)
        sys.modules.pop("page")
        assert "violated" not in capsys.readouterr().out or block.page == "README.md"


def test_the_document_of_the_manual_is_what_its_command_prints(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = [block for block in BLOCKS if block.page == "docs/command-line.md"]
    (shown,) = (json.loads(block.text) for block in mine if block.kind == "json")
    first = next(block for block in mine if block.kind == "sh")
    check, _, explain, _ = (shlex.split(line)[1:] for line, _ in commands(first))
    assert main(check) == 1
    capsys.readouterr()
    assert main([*explain, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["disabled"][0].pop("at").endswith(shown["disabled"][0].pop("at").partition("protocols/")[2])
    assert said == shown
