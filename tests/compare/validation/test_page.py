"""docs/trace-validation.md is true: its files are written, its commands run, and print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from antiphon.conformance.cli import main

PAGE = (Path(__file__).parents[3] / "docs" / "trace-validation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for kind, name, text in BLOCKS:
        if kind == "sh":  # on a log that is not ours: tests/examples/test_raft_members.py has one like it
            assert "example.ndjson" in text
            continue
        if kind != "console":
            (tmp_path / name).write_text(text, encoding="utf-8")
            continue
        command, _, shown = text.removeprefix("$ ").partition("\n")
        code = main(shlex.split(command)[1:])
        printed = re.sub(r"; \d+\.\d s$", "", capsys.readouterr().out, flags=re.MULTILINE)
        assert [line for line in shown.splitlines() if line not in printed.splitlines()] == [], printed
        assert code == ("✗" in shown)
        ran += 1
    assert ran == 2
