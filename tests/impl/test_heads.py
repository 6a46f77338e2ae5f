"""Every core opens with its rules, the names of its paper beside ours, its repairs and its source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from antiphon.impl import protocols

HOME = Path(next(iter(protocols.__path__)))
PACKAGES = sorted(path.parent.name for path in HOME.glob("*/process.py"))
PARTS = {
    "rules": r"^Rules of this file:\n1\. ",
    "names": r"^\| (paper|figure \d+|document) +\| here +\|\n\|-+\|-+\|\n\| ",
    "repairs": r"^Repairs[,:]",
    "source": r"^Source: \w",
}


def missing(head: str) -> list[str]:
    """The parts that a head does not have. What CM and Pinwheel share stands in a file of its own."""
    if "stand in `antiphon.impl.protocols.updates`" in head:
        head += "\n" + docstring(HOME / "updates.py")
    return [part for part, pattern in PARTS.items() if not re.search(pattern, head, re.MULTILINE)]


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@pytest.mark.parametrize("package", PACKAGES)
def test_the_head_of_a_core_has_rules_names_repairs_and_its_source(package: str) -> None:
    assert missing(docstring(HOME / package / "process.py")) == []


@pytest.mark.parametrize("part", PARTS)
def test_a_head_without_one_of_them_is_found(part: str) -> None:
    head = re.sub(PARTS[part], "x", docstring(HOME / "rbp" / "process.py"), flags=re.MULTILINE)
    assert missing(head) == [part]
