"""Docstrings: lists are lists, one item a line; and each begins with a verb or a noun, so that a reader who
has not seen the code knows what is spoken of.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from tests.house.statements import statements

ROOMS = ("spec", "model", "impl", "conformance", "tests", "benchmarks")
"""Directories whose docstrings are checked, with those of the scripts in `docs` itself."""

HEADLESS = {
    "Everybody", "How", "It", "Nobody", "Nothing", "Of", "So", "Somebody", "That", "These", "They", "This",
    "Those", "What", "When", "Where", "Whether", "Which", "Who", "Whoever", "Whom", "Whose",
}  # fmt: skip
"""First words that leave open what is spoken of: "What makes a packet one packet", "Of a link, its size"."""

QUOTED = {
    "tests/export/test_tla.py": ["Nothing waits.", "Somebody waits."],
    "tests/ground/small_specs.py": [
        "What the follower has is a prefix of what the leader has, and not all of it.",
        "Where the leader has an entry last, the length of its log where nowhere.",
        "Whether no entry is less than the one before it; and the follower begins with everything.",
    ],
    "tests/lang/test_variants.py": ["Nothing leads on from a state whose counts sum up to the limit."],
}
"""Headless first lines that stay, since a golden file or an assertion has them word for word."""

OPENED = re.compile(rf'"""\s*(?:{"|".join(sorted(HEADLESS))})\b')
"""Possible beginning of a headless docstring: only files that have one are parsed."""

LISTED = re.compile(r"\b(?:Args|Attributes|Raises|Returns):|[.;]\s+[A-Za-z_]\w*: ")
"""Possible part of a list: only files that have one are parsed."""

HEADINGS = ("Args:", "Attributes:", "Raises:")
ON_ONE_LINE = re.compile(r"\s*(Args|Attributes|Raises|Returns): \S")
ITEM = re.compile(r"[*`]*[A-Za-z_][\w.]*`?( or `?\w+`?|, [*`]*\w+`?)*( \([^)]*\))?: \S")


@pytest.fixture(scope="module")
def written(root: Path, texts: dict[Path, str]) -> dict[str, str]:
    """Text of each Python file of the rooms, and of the scripts in `docs`, by its path from the root."""
    places = {path.relative_to(root): text for path, text in texts.items() if path.suffix == ".py"}
    return {
        place.as_posix(): text
        for place, text in places.items()
        if place.parts[0] in ROOMS or place.parent == Path("docs")
    }


def lost_lists(text: str) -> list[str]:
    """The lines of docstrings that were a list once, or are only the rest of one of its lines."""
    if not LISTED.search(text):
        return []
    found = []
    for node in statements(text):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        written = ast.get_docstring(node) if isinstance(node, kinds) else None
        if written:
            found += [*_lost(written), *_run_together(written, _arguments(node))]
    return found


def _arguments(node: ast.AST) -> list[str]:
    """The parameters of a function, or of the `__init__` of a class."""
    inside = [node, *node.body] if isinstance(node, ast.ClassDef) else [node]
    functions = [item for item in inside if isinstance(item, ast.FunctionDef)]
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


def test_the_rooms_the_tests_and_the_scripts_are_read(
    written: dict[str, str], modules: dict[str, Path]
) -> None:
    assert {"tests/conftest.py", "benchmarks/tlc.py", "docs/make_site.py"} <= written.keys()
    assert len(written) > len(modules) + 300


def test_no_docstring_has_lost_its_list(written: dict[str, str]) -> None:
    lost = {name: lines for name, text in written.items() if (lines := lost_lists(text))}
    assert not lost


def test_a_planted_loss_is_found() -> None:
    head = 'def f(a, b):\n    """Do.\n\n    '
    assert lost_lists(f'{head}Args: a: one. b: two.\n    """') == ["Args: a: one. b: two.", "b:"]
    assert lost_lists(f'{head}Args:\n        a: one. b: two.\n    """') == ["b:"]
    assert lost_lists(f'{head}Args:\n        a: one that is\n        long\n    """') == ["long"]
    assert lost_lists(f'{head}Args:\n        a: one that is\n    long\n    """') == ["long"]
    assert not lost_lists(f'{head}Args:\n        a: one that is\n            long\n        b: two\n    """')


def headless(text: str) -> list[str]:
    """The first lines of docstrings that begin with neither verb nor noun, also of those below a variable."""
    if not OPENED.search(text):
        return []
    found = []
    for node in statements(text):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        first = body[:1] if isinstance(node, owners) else []
        below = [after for before, after in pairwise(body) if isinstance(before, ast.Assign | ast.AnnAssign)]
        for item in (*first, *below):
            if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant):
                words = str(item.value.value).split()
                if isinstance(item.value.value, str) and words and words[0].rstrip(",.:;") in HEADLESS:
                    found.append(item.value.value.splitlines()[0])
    return found


def test_every_docstring_begins_with_a_verb_or_a_noun(written: dict[str, str]) -> None:
    found = {name: lines for name, text in written.items() if (lines := headless(text))}
    assert {name: sorted(lines) for name, lines in found.items()} == QUOTED


def test_a_planted_headless_docstring_is_found() -> None:
    assert headless('"""What a module is for."""\n') == ["What a module is for."]
    assert headless('SIZE = 3\n"""How many there are."""\n') == ["How many there are."]
    assert headless('def f():\n    """Whether it is so.\n\n    More.\n    """\n') == ["Whether it is so."]
    assert not headless('"""The parts of a module."""\nSIZE = 3\n"""Number of parts."""\n')
    assert not headless('SIZE = 3\n\ndef f():\n    """Return what it is."""\n')
