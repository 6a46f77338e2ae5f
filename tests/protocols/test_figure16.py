"""docs/figure-16.md lays figure 16 beside its literal file: every printed line is there, and what is quoted
stands in the file.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CITED = re.compile(r"  # line (\d+)$")

BLANK = {10, 16, 24, 50, 54, 58}
"""The lines that the figure leaves empty."""


@pytest.fixture(scope="module")
def rows() -> dict[int, tuple[str, list[str]]]:
    """Each line's print and the quoted lines of Python."""
    text = (ROOT / "docs" / "figure-16.md").read_text(encoding="utf-8")
    found: dict[int, tuple[str, list[str]]] = {}
    for line in text.splitlines():
        if number := re.match(r"\| (\d+) \|", line):
            _, _, printed, python, *_ = re.split(r"(?<!\\)\|", line)
            assert int(number[1]) not in found
            found[int(number[1])] = (
                printed.strip(),
                [code.replace("\\|", "|") for code in re.findall(r"`([^`]*)`", python)],
            )
    return found


@pytest.fixture(scope="module")
def figure() -> list[str]:
    """The lines of the literal file."""
    return [
        line.strip()
        for line in (ROOT / "spec" / "protocols" / "rbp" / "figure16.py")
        .read_text(encoding="utf-8")
        .splitlines()
    ]


def test_every_printed_line_is_there_and_stands_for_something(rows: dict[int, tuple[str, list[str]]]) -> None:
    assert list(rows) == list(range(1, 64))
    assert {number for number, (printed, _) in rows.items() if not printed} == BLANK
    titles = {number for number, (_, python) in rows.items() if not python} - BLANK
    assert {rows[number][0] for number in titles} == {"Initialization:", "Task 2:"}


def test_what_is_quoted_stands_in_the_file(rows: dict[int, tuple[str, list[str]]], figure: list[str]) -> None:
    stands = {CITED.sub("", line) for line in figure}
    missing = [
        (number, code) for number, (_, python) in rows.items() for code in python if code not in stands
    ]
    assert not missing


def test_what_cites_a_line_in_the_file_is_quoted_beside_it(
    rows: dict[int, tuple[str, list[str]]], figure: list[str]
) -> None:
    cited = [(int(found[1]), CITED.sub("", line)) for line in figure if (found := CITED.search(line))]
    assert len(cited) > 40
    assert not [(number, code) for number, code in cited if code not in rows[number][1]]
