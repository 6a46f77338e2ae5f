"""Every picture that a page shows is made again and compared."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from antiphon.conformance.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
MADE_ELSEWHERE = {
    "rooms.svg": "tests/house/test_picture.py",
    **{f"dtp-figure-{number}.svg": "tests/run/performance/test_sweep.py" for number in (2, 3, 4, 5)},
}
"""Pictures that another test makes again, which stands there."""


def test_every_picture_is_shown_by_a_page_and_made_again_by_a_test() -> None:
    pages = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *DOCS.glob("*.md")]
    shown = {
        Path(link).name
        for page in pages
        for link in re.findall(r"\]\(((?:docs/)?pictures/[^)]+)\)", page.read_text(encoding="utf-8"))
    }
    assert shown == {each.name for each in (DOCS / "pictures").iterdir()}
    assert shown == {"figure-5-delivers-twice.svg", *MADE_ELSEWHERE}
    assert all((ROOT / test).is_file() for test in MADE_ELSEWHERE.values())


def test_the_first_picture_is_what_its_commands_draw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = README.partition("## A first result")[2].partition("```sh\n")[2].partition("```")[0].splitlines()
    commands = [shlex.split(line) for line in lines]
    assert [command[:2] for command in commands] == [
        [".venv/bin/antiphon", "check"],
        [".venv/bin/antiphon", "show"],
    ]
    monkeypatch.chdir(tmp_path)
    codes = [main(command[1:]) for command in commands]
    capsys.readouterr()
    assert codes[0] == 1
    drawn = (tmp_path / "twice.svg").read_text(encoding="utf-8")
    committed = DOCS / "pictures" / "figure-5-delivers-twice.svg"
    assert drawn == committed.read_text(encoding="utf-8"), f"run the commands of README, copy to {committed}"
