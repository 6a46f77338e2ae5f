"""docs/flows.md is true: what each step names stands there, and no way takes over eight steps."""

import ast
import re
from pathlib import Path

import pytest

STEP = re.compile(r"^(\d)\. `(\w+)` in \[[^\]]+\]\(\.\./([^)]+)\)", re.MULTILINE)
WAYS = 5


@pytest.fixture(scope="module")
def ways(root: Path) -> dict[str, list[tuple[str, str]]]:
    """The ways by title: for each step the name and the file."""
    found = {}
    for part in (root / "docs" / "flows.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, text = part.partition("\n")
        steps = STEP.findall(text)
        assert [int(number) for number, _, _ in steps] == list(range(1, len(steps) + 1)), title
        found[title] = [(name, file) for _, name, file in steps]
    return found


def test_every_step_names_something_that_stands_there(
    root: Path, ways: dict[str, list[tuple[str, str]]]
) -> None:
    assert len(ways) == WAYS
    missing = []
    for title, steps in ways.items():
        assert 1 < len(steps) <= 8, title
        for name, file in steps:
            tree = ast.parse((root / file).read_text(encoding="utf-8"))
            kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
            if not any(isinstance(node, kinds) and node.name == name for node in ast.walk(tree)):
                missing.append(f"{title}: no {name} in {file}")
    assert not missing, "\n".join(missing)
