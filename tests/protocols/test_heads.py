"""Every transcription of a figure says where it is printed, and every protocol has a source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from antiphon.spec import protocols

HOME = Path(next(iter(protocols.__path__)))
SOURCE = re.compile(r'^Source: [A-Za-z].*("[^"]+"|\b(19|20)\d\d\b)', re.MULTILINE | re.DOTALL)
"""The name of an author, and behind it a title in quotation marks or a year."""


def head(path: Path) -> str:
    """The docstring of a module."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def test_a_transcription_of_a_figure_names_its_source() -> None:
    figures = sorted(HOME.rglob("figure*.py"))
    assert len(figures) > 10
    assert [path.name for path in figures if not SOURCE.search(head(path))] == []


def test_every_protocol_has_a_file_that_names_its_source() -> None:
    packages = sorted({path.parent for path in HOME.glob("*/*.py")})
    assert len(packages) > 10
    without = [
        package.name
        for package in packages
        if not any(SOURCE.search(head(path)) for path in package.glob("*.py"))
    ]
    assert without == []


def test_a_head_that_has_lost_its_paragraphs_is_found() -> None:
    whole = head(HOME / "rbp" / "figure16.py")
    assert SOURCE.search(whole)
    assert not SOURCE.search(whole.partition("\n\n")[0])
