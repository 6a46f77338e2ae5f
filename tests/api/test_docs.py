"""docs/api.md is true: its script prints what stands there, its notebook cells show what they promise."""

from __future__ import annotations

import re
import subprocess
import sys
from ast import Expr, Expression, Module, parse, unparse
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import antiphon

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    """The code blocks of this kind: the words after the fence."""
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def shown(cell: str, names: dict[str, Any]) -> str:
    """HTML that a notebook shows for a cell: that of the value of its last expression."""
    *body, last = parse(cell).body
    assert isinstance(last, Expr), unparse(last)
    exec(compile(Module(body, []), "<cell>", "exec"), names)
    value = eval(compile(Expression(last.value), "<cell>", "eval"), names)
    html = value._repr_html_()
    assert isinstance(html, str)
    return html


def test_the_script_prints_what_stands_there(tmp_path: Path) -> None:
    for name in ("turnstile.py", "explore.py"):
        (text,) = blocks(f"python {name}")
        (tmp_path / name).write_text(text, encoding="utf-8")
    (session,) = blocks("console")
    command, _, expected = session.partition("\n")
    assert command == "$ python explore.py"
    done = subprocess.run(
        [sys.executable, "explore.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line.rstrip() for line in done.stdout.splitlines()] == expected.splitlines()
    assert ElementTree.parse(tmp_path / "turnstile.svg").getroot().tag.endswith("svg")
    read = "import antiphon; print(len(antiphon.load('turnstile.itf.json')))"
    assert (
        subprocess.run(
            [sys.executable, "-c", read], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        == "2\n"
    )


@pytest.mark.deep
def test_the_notebook_cells_show_verdicts_and_diagrams() -> None:
    names: dict[str, Any] = {}
    report, run, walk = (shown(cell, names) for cell in blocks("python notebook"))
    assert "<table>" in report
    assert ">violated</b>" in report
    for html in (report, run, walk):
        assert html.count("<svg") == 1
        ElementTree.fromstring(f"<cell>{html.replace('<br>', '<br/>')}</cell>")
    assert "deliver" in run
    assert "<pre>after" in walk


def test_the_page_lists_every_public_name_and_no_other() -> None:
    table = PAGE.partition("## The names")[2].partition("\n## ")[0]
    said = {
        name
        for line in table.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)", line.split("|")[1])
    }
    assert said == {*antiphon.__all__, "__version__"}


def test_the_group_on_the_page_is_one_that_python_reads() -> None:
    (text,) = blocks("python")
    names: dict[str, Any] = {}
    exec(compile(text, "<page>", "exec"), names)
    assert names["Group"] is antiphon.Group
