"""A copy of the project in which a mutant can stand: processes that a test starts import it from there too.

The working tree is never touched, and may change while mutants are hunted.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tomllib
from itertools import count
from pathlib import Path

__all__ = ["Tree", "digest", "tracked"]

SITE = "site"
"""The directory of a tree that stands on the path of imports."""


def tracked(project: Path) -> list[str]:
    command = ["git", "-C", str(project), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603 - fixed
    return sorted(name for name in listed.split("\0") if name and (project / name).is_file())


def digest(project: Path) -> str:
    """Return the digest of the code and the tests of a project."""
    told = hashlib.sha256()
    for name in tracked(project):
        if name.endswith(".py") and not name.startswith(("benchmarks/", "docs/")):
            told.update(f"{name}\0".encode() + (project / name).read_bytes())
    return told.hexdigest()[:16]


class Tree:
    """A copy of the project's files at `path`, importable as the packages that the project installs."""

    def __init__(self, project: Path, path: Path) -> None:
        self.path = path
        self._times = count(1_000_000_000)
        for name in tracked(project):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(project / name, path / name)
        settings = tomllib.loads((path / "pyproject.toml").read_text(encoding="utf-8"))
        (path / SITE / "antiphon").mkdir(parents=True)
        for package, directory in settings["tool"]["setuptools"]["package-dir"].items():
            if package == "antiphon":
                for each in (path / directory).iterdir():
                    (path / SITE / package / each.name).symlink_to(each)
            else:
                (path / SITE / Path(*package.split("."))).symlink_to(path / directory)
        touched = Path(__file__).with_name("touched.py")
        shutil.copyfile(touched, path / SITE / "sitecustomize.py")

    def write(self, name: str, text: str) -> None:
        """Let a file say this, at a time of its own: so Python knows which bytecode is stale."""
        file = self.path / name
        file.write_text(text, encoding="utf-8")
        time = next(self._times)
        os.utime(file, (time, time))
