"""Sources of the project, read from the working tree and not from the installation."""

import contextlib
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("spec", "model", "impl", "conformance")
FRONT = ("conformance", "api")
"""The directory that installs as the package `antiphon` itself."""
NOT_OURS = {
    ".git",
    ".venv",
    "build",
    "dist",
    "__pycache__",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".hypothesis",
}


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the project."""
    return ROOT


@pytest.fixture(scope="session")
def modules() -> dict[str, Path]:
    """Every module of the four rooms by its installed name; a package stands under its own name."""
    found = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[2:] if parts[:2] == FRONT else parts
            found[".".join(("antiphon", *(parts[:-1] if parts[-1] == "__init__" else parts)))] = path
    return found


@pytest.fixture(scope="session")
def texts() -> dict[Path, str]:
    """Every text file of the project, apart from what tools write, by its path."""
    found = {}
    for directory, names, files in os.walk(ROOT):
        names[:] = [name for name in names if name not in NOT_OURS and not name.endswith(".egg-info")]
        for path in (Path(directory) / name for name in files if name not in NOT_OURS):
            with contextlib.suppress(UnicodeDecodeError):
                found[path] = path.read_text(encoding="utf-8")
    return found
