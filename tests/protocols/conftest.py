"""Golden files beside the tests: the same comparison as in `tests/report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with the golden file of that name, or write it with --rewrite."""
    directory = Path(__file__).parent / "golden"

    def compare(name: str, text: str) -> None:
        file = directory / name
        if request.config.getoption("--rewrite"):
            directory.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{file} differs; look at it, then run with --rewrite"

    return compare
