"""docs/tutorial.md is true: its texts are those of the files, its commands print what it shows and exit with
what it says.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.conformance.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
BLOCKS = re.findall(
    r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
)
QUOTED = [(name, text) for kind, name, text in BLOCKS if kind == "python" and "/" in name]
WRITTEN = [(name, text) for kind, name, text in BLOCKS if kind == "python" and "/" not in name]
SESSIONS = [text for kind, _, text in BLOCKS if kind == "console"]


@pytest.mark.parametrize(
    ("name", "text"), QUOTED, ids=[text.split("def ")[-1].split("(")[0] for _, text in QUOTED]
)
def test_what_is_quoted_stands_in_the_file(name: str, text: str) -> None:
    assert text in (ROOT / name).read_text(encoding="utf-8")


def commands(session: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command of a block with the lines that it must print."""
    for part in session.split("$ antiphon ")[1:]:
        command, _, printed = part.partition("\n")
        yield shlex.split(command), printed.splitlines()


def missing(shown: list[str], printed: list[str]) -> str:
    """The first line that is not printed where it should be: at once after the one before it, or later after
    `...`; empty if there is none.
    """
    at, anywhere = 0, False
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        found = (
            next((place for place in range(at, len(printed)) if printed[place] == line), None)
            if anywhere
            else at
        )
        if found is None or found >= len(printed) or printed[found] != line:
            return line
        at, anywhere = found + 1, False
    return "" if anywhere or at == len(printed) else f"the end, not {printed[at]!r}"


def plain(text: str) -> list[str]:
    """The lines of an output, without trailing blanks, and with times that are always 0.0 s."""
    return [re.sub(r"\d+\.\d s(, [\d,]+ states/s)?$", "0.0 s", line.rstrip()) for line in text.splitlines()]


@pytest.mark.parametrize(
    "session", SESSIONS, ids=[session.partition("\n")[0].removeprefix("$ antiphon ") for session in SESSIONS]
)
def test_a_command_prints_what_is_shown(
    session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in WRITTEN:
        (tmp_path / name).write_text(text)
    for arguments, shown in commands(session):
        code = main(arguments)
        printed = [*plain(capsys.readouterr().out), f"[exit code {code}]"]
        assert missing(shown, printed) == "", "\n".join(printed)


def test_a_wrong_line_is_seen() -> None:
    printed = ["a", "b", "c"]
    assert missing(["a", "...", "c"], printed) == ""
    assert missing(["a", "c"], printed) == "c"
    assert missing(["...", "d"], printed) == "d"
    assert missing(["a", "b"], printed) == "the end, not 'c'"


def test_the_page_shows_the_three_in_order() -> None:
    """A violated invariant, a deadlock, a proof."""
    asked = [arguments[1] for session in SESSIONS for arguments, _ in commands(session)]
    assert asked.index("die-hard") < asked.index("dining-philosophers") < asked.index("ewd840")
    assert len(QUOTED) > 4
