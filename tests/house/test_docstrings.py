"""A list of arguments, attributes or exceptions is a list: one a line, under its heading."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HEADINGS = ("Args:", "Attributes:", "Raises:")
ON_ONE_LINE = re.compile(r"\s*(Args|Attributes|Raises|Returns): \S")
ITEM = re.compile(r"[*`]*[A-Za-z_][\w.]*`?( or `?\w+`?|, [*`]*\w+`?)*( \([^)]*\))?: \S")


def lost_lists(text: str) -> list[str]:
    """The lines of docstrings that were a list once, or are only the rest of one of its lines."""
    found = []
    for node in ast.walk(ast.parse(text)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        written = ast.get_docstring(node) if isinstance(node, kinds) else None
        if written:
            found += [*_lost(written), *_run_together(written, _arguments(node))]
    return found


def _arguments(node: ast.AST) -> list[str]:
    """The parameters of a function, or of the `__init__` of a class."""
    functions = [item for item in ast.walk(node) if isinstance(item, ast.FunctionDef)]
    made = [item for item in functions if item is node or item.name == "__init__"]
    return [item.arg for function in made for item in (*function.args.args, *function.args.kwonlyargs)]


def _run_together(docstring: str, names: list[str]) -> Iterator[str]:
    """The arguments that stand in the line of another."""
    for name in names:
        if re.search(rf"[.;]\s+{name}: ", docstring) and not re.search(rf"(?m)^\s+{name}: ", docstring):
            yield f"{name}:"


def _lost(docstring: str) -> Iterator[str]:
    inside, deep = False, 0
    for line in docstring.splitlines():
        indentation = len(line) - len(line.lstrip())
        if ON_ONE_LINE.match(line):
            yield line.strip()
        elif line.strip() in HEADINGS:
            inside, deep = True, indentation + 4
        elif not line.strip():
            inside = False
        elif inside and (indentation < deep or (indentation == deep and not ITEM.match(line.strip()))):
            yield line.strip()


def test_no_docstring_has_lost_its_list(modules: dict[str, Path]) -> None:
    lost = {
        name: lines
        for name, path in modules.items()
        if (lines := lost_lists(path.read_text(encoding="utf-8")))
    }
    assert not lost


def test_a_planted_loss_is_found() -> None:
    head = 'def f(a, b):\n    """Do.\n\n    '
    assert lost_lists(f'{head}Args: a: one. b: two.\n    """') == ["Args: a: one. b: two.", "b:"]
    assert lost_lists(f'{head}Args:\n        a: one. b: two.\n    """') == ["b:"]
    assert lost_lists(f'{head}Args:\n        a: one that is\n        long\n    """') == ["long"]
    assert lost_lists(f'{head}Args:\n        a: one that is\n    long\n    """') == ["long"]
    assert not lost_lists(f'{head}Args:\n        a: one that is\n            long\n        b: two\n    """')
