"""The implementation knows nothing of specifications; its cores know no clock, socket or chance."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import antiphon.impl

ROOT = Path(antiphon.impl.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
EFFECTS = {"asyncio", "socket", "time", "random", "threading", "os", "secrets", "datetime", "selectors"}


def imported(path: Path) -> set[str]:
    """The modules that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_impl_imports_nothing_of_the_house_but_itself(path: Path) -> None:
    of_the_house = {name for name in imported(path) if name.split(".")[0] in {"antiphon", "spec", "model", "conformance"}}
    assert {name for name in of_the_house if not name.startswith("antiphon.impl")} == set()


@pytest.mark.parametrize("path", sorted((ROOT / "protocols").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_core_imports_no_effects_and_no_transport(path: Path) -> None:
    assert {name.split(".")[0] for name in imported(path)} & EFFECTS == set()
    assert {name for name in imported(path) if name.startswith(("antiphon.impl.transport", "antiphon.impl.group"))} == set()
