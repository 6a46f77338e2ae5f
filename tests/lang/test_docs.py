"""docs/language.md is true: its examples run, what it calls refused is refused for its reason."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from antiphon.spec.lang import Spec, SpecError, program
from antiphon.spec.lang.front import read

PAGE = Path(__file__).parents[2] / "docs" / "language.md"


def blocks() -> Iterator[tuple[str, int, str]]:
    """Each code block: its kind (the words after the fence), the number of lines before it, its text."""
    text = PAGE.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(python[^\n]*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        yield found.group(1), text.count("\n", 0, found.start(2)), found.group(2)


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """Names that the page defines: all its `python` blocks run in order, at their lines."""
    lines = PAGE.read_text(encoding="utf-8").splitlines(keepends=True)
    code = ["\n"] * len(lines)
    for _, before, text in blocks():
        for offset, line in enumerate(text.splitlines(keepends=True)):
            code[before + offset] = line
    linecache.cache[str(PAGE)] = (sum(map(len, code)), None, code, str(PAGE))
    module = ModuleType("language_page")
    sys.modules["language_page"] = module
    for kind, before, text in blocks():
        if kind == "python":
            exec(
                compile(
                    "from __future__ import annotations\n" * (before > 0) + "\n" * (before - 1) + text,
                    str(PAGE),
                    "exec",
                ),
                vars(module),
            )
    return vars(module)


def test_the_examples_run_and_are_specifications(page: dict[str, Any]) -> None:
    specs = [
        item
        for item in page.values()
        if isinstance(item, type) and issubclass(item, Spec) and item is not Spec
    ]
    assert len(specs) > 10
    for spec in specs:
        if not getattr(spec, "__parameters__", ()):
            assert program(spec).module.name == spec.__name__


REFUSED = [(before, text) for kind, before, text in blocks() if kind == "python refused"]


@pytest.mark.parametrize(
    ("before", "text"), REFUSED, ids=[text.splitlines()[1].split("(")[0] for _, text in REFUSED]
)
def test_what_the_page_calls_refused_is_refused_for_its_reason(
    page: dict[str, Any], before: int, text: str
) -> None:
    names = dict(page)
    exec(
        compile("from __future__ import annotations\n" + "\n" * (before - 1) + text, str(PAGE), "exec"), names
    )
    last = [item for item in names.values() if isinstance(item, type) and issubclass(item, Spec)][-1]
    with pytest.raises(SpecError) as caught:
        read(last)
    assert caught.value.reason == text.splitlines()[0].removeprefix("# ")
    assert caught.value.at is not None
    assert before < caught.value.at.line <= before + len(text.splitlines())
    assert caught.value.instead
