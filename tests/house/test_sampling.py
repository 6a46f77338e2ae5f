"""The markers `deep`, `sampled` and `browser` leave to the long checks what they say, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).parents[1] / "conftest.py"
TESTS = """
import pytest

def test_plain(): ...

@pytest.mark.deep
def test_deep(): ...

@pytest.mark.browser
def test_browser(): ...

@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", range(7))
def test_sampled(case): ...
"""


def collected(directory: Path, *options: str) -> list[str]:
    """Return the names of the tests that a run with these options takes up."""
    asked = ("-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *options)
    told = subprocess.run((sys.executable, *asked), cwd=directory, capture_output=True, text=True, check=True)
    return [line.partition("::")[2] for line in told.stdout.splitlines() if "::" in line]


def test_a_quick_run_takes_one_case_in_three_and_a_deep_one_all(tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    (tmp_path / "test_marked.py").write_text(TESTS, encoding="utf-8")
    sampled = [f"test_sampled[{case}]" for case in range(7)]
    assert collected(tmp_path) == ["test_plain", *sampled[::3]]
    assert collected(tmp_path, "--hypothesis-profile=deep") == ["test_plain", "test_deep", *sampled]
    assert "test_browser" in collected(tmp_path, "--browser", "any")
