"""The blocks of docs/lake.md, docs/swarm.md, docs/coverage.md, docs/watching.md and docs/scale.md that need
Spark run, with few runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antiphon.conformance.cli import main

HEALTHY = "0: +a a b | 1: +b a b"
DOCS = Path(__file__).parents[3] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    """The blocks of a page with this after their fence."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^```([^\n]*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [block for after, block in found if after == kind]


def commands(page: str) -> Iterator[list[str]]:
    """The commands of a page, without the name of the program."""
    for text in blocks(page, ""):
        for line in text.splitlines():
            if line.startswith("antiphon "):
                yield shlex.split(line, comments=True)[1:]


def read(page: str, batch: str, model: str = "") -> int:
    """Number of rows in the table that the Python of a page reads."""
    (text,) = (block for block in blocks(page, "python") if block.startswith("import pyarrow"))
    *body, last = text.replace("<id>", batch).replace("<model>", model).strip().splitlines()
    names: dict[str, object] = {}
    exec("\n".join([*body, f"found = {last}"]), names)
    return len(names["found"])  # type: ignore[arg-type]


@pytest.mark.deep
def test_what_the_pages_do_on_spark(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A swarm goes into a lake, its coverage is asked, a way to what no run took becomes a test, its logs are
    judged, and all tables are read.
    """
    monkeypatch.chdir(tmp_path)
    swarms, coverage, never, replay = commands("coverage.md")
    wide = [words for words in commands("swarm.md") if "--spark" in words]
    ingest, verify = commands("lake.md")
    on = ["--master", master]
    assert main([*swarms, "--runs", "6", *on]) == 0
    (batch,) = [each.name for each in (tmp_path / "lake" / "batches").iterdir() if each.name[0] != "."]
    assert main([*coverage, *on]) == 0
    assert main([*never, *on]) == 0
    assert main(replay) == 0
    assert (tmp_path / replay[-1]).is_file()
    (model,) = [each.name for each in (tmp_path / "lake" / "models").iterdir()]
    assert read("coverage.md", batch, model) > 0
    code = main([*verify, *on])
    assert code in (0, 2), capsys.readouterr()
    assert read("lake.md", batch) >= 0
    assert read("swarm.md", batch) > 0
    assert main([*wide[0], "--runs", "4", *on]) == 0
    made = main(["swarm", "total", "--runs", "1", "--seed", "5", "--fault", "passes-one", "--jobs", "1"])
    assert made == 1
    assert main([ingest[0], "runs", *ingest[-2:], *on]) == 0
    capsys.readouterr()


@pytest.mark.deep
def test_what_the_page_on_watching_does(
    write_run: Callable[[Path, str], None],
    master: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Only present logs are judged. The command without `--once` would watch until Ctrl-C."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "logs" / "run", HEALTHY)
    for words in commands("watching.md"):
        assert main([*words, *([] if "--once" in words else ["--once"]), "--master", master]) in (0, 2)
    assert capsys.readouterr().out


@pytest.mark.deep
def test_what_the_page_on_scale_does(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a small bound; the master of the second command is the reader's."""
    monkeypatch.chdir(tmp_path)
    here, _ = (shlex.split(line, comments=True)[1:] for line in blocks("scale.md", "sh")[0].splitlines())
    assert main([*here, "--master", master, "--max-states", "100"]) == 2
    assert "100 states" in capsys.readouterr().out
