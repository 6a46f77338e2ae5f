"""docs/adding-a-protocol.md is true: what stands on it, written into the house, is a protocol like any other.

The blocks of the page are files beside the installed ones, and its entry stands in the catalogue. Then the
commands of the page print what it shows, its group delivers, its tests pass, and its mistake is found.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import antiphon

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-a-protocol.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
FILES = {name: text for kind, name, text in BLOCKS if kind in ("python", "text") and "/" in name}
CATALOGUE = "spec/catalogue.py"
BEGINS = "ENTRIES: tuple[Entry, ...] = (\n"

RUN = """
import contextlib, io, json, sys
from antiphon.conformance.cli import main
for arguments in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(arguments)
    print(json.dumps([code, out.getvalue()]), file=sys.stderr)
"""

REPLAY = """
import sys
from pathlib import Path
import pytest
from tests.impl.dialogue import played
for file in Path("tests/impl/transcripts").glob("*.txt"):
    text = file.read_text(encoding="utf-8")
    assert "\\n".join(played(text)).rstrip("\\n") == text.rstrip("\\n"), file
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-c", "pytest.ini", "tests"]))
"""


def lay(source: Path, target: Path, files: Mapping[str, str]) -> None:
    """Make the package at `source` appear at `target`, with these files in it; the others are linked."""
    target.mkdir(parents=True)
    first = {name.partition("/")[0] for name in files}
    for entry in source.iterdir():
        if entry.name not in first and entry.name != "__pycache__":
            (target / entry.name).symlink_to(entry)
    for name in first:
        inner = {path[len(name) + 1 :]: text for path, text in files.items() if path.split("/")[0] == name}
        if (source / name).is_dir():
            lay(source / name, target / name, inner)
        else:
            write(target, {f"{name}/{path}".rstrip("/"): text for path, text in inner.items()})


def write(place: Path, files: Mapping[str, str]) -> None:
    """Write files, with the directories that they stand in."""
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")


def house(place: Path, files: Mapping[str, str]) -> dict[str, str]:
    """The environment in which `antiphon` is the installed one with these files and the entry of the page."""
    installed = Path(antiphon.__file__).parent
    catalogue = (installed / CATALOGUE).read_text(encoding="utf-8")
    assert catalogue.count(BEGINS) == 1
    rooms = {name: text for name, text in files.items() if not name.startswith("tests/")}
    entry = rooms.pop(CATALOGUE)
    with_entry = catalogue.replace(BEGINS, BEGINS + entry)
    lay(installed, place / "antiphon", {**rooms, CATALOGUE: with_entry})
    return {**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{ROOT}", "COLUMNS": "120"}


@pytest.fixture(scope="module")
def inhabited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The house with the protocol of the page."""
    return house(tmp_path_factory.mktemp("house"), FILES)


def python(
    program: str, place: Path, env: dict[str, str], asked: object = None
) -> subprocess.CompletedProcess[str]:
    """A program in a house, in a directory of its own."""
    command, given = [sys.executable, "-c", program], json.dumps(asked)
    return subprocess.run(command, cwd=place, env=env, input=given, capture_output=True, text=True)


def answers(commands: list[str], place: Path, env: dict[str, str]) -> list[tuple[int, str]]:
    """The exit code and the output of each command, all in one process."""
    done = python(RUN, place, env, [command.split()[1:] for command in commands])
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stderr.splitlines() if line.startswith("[")]


def sessions(beneath: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of antiphon that is shown in a part of the page, with the lines that it must print."""
    part = next(part for part in PAGE.split("\n## ") if part.startswith(beneath))
    for text in re.findall(r"^```console\n(.*?)^```$", part, re.MULTILINE | re.DOTALL):
        for session in text.split("$ ")[1:]:
            command, _, printed = session.partition("\n")
            yield command, printed.splitlines()


def plain(text: str) -> list[str]:
    """The lines of an output, with times and rates that are always the same."""
    timed = re.sub(r"\d+\.\d (m?s)\b", r"0.0 \1", text)
    return [re.sub(r"[\d,]+( states)?/s", r"0\1/s", line).rstrip() for line in timed.splitlines()]


def missing(shown: list[str], printed: list[str]) -> str:
    """The first line that is shown and not printed after those before it; empty if there is none."""
    at = 0
    for line in plain("\n".join(shown)):
        if line == "...":
            continue
        if line not in printed[at:]:
            return line
        at = printed.index(line, at) + 1
    return ""


@pytest.mark.deep
def test_what_the_commands_print_stands_there(inhabited: dict[str, str], tmp_path: Path) -> None:
    asked = [*sessions("In the catalogue"), *sessions("Beside each other")]
    given = answers([command for command, _ in asked], tmp_path, inhabited)
    for (command, shown), (code, printed) in zip(asked, given, strict=True):
        assert missing(shown, [*plain(printed), f"[exit code {code}]"]) == "", f"{command}\n{printed}"
    verbs = {command.split()[1] for command, _ in asked}
    assert verbs == {"check", "refine", "lockstep", "stateful", "swarm", "cluster"}


def test_a_group_of_it_delivers_on_real_sockets(inhabited: dict[str, str], tmp_path: Path) -> None:
    ((_, shown),) = sessions("As a group")
    (program,) = [text for kind, name, text in BLOCKS if (kind, name) == ("python", "group.py")]
    done = python(program, tmp_path, inhabited)
    assert done.stdout.splitlines() == shown, done.stderr


@pytest.mark.deep
def test_its_own_tests_pass_and_its_run_is_what_it_says(inhabited: dict[str, str], tmp_path: Path) -> None:
    write(tmp_path, {name: text for name, text in FILES.items() if name.startswith("tests/")})
    write(tmp_path, {"pytest.ini": "[pytest]\n"})
    done = python(REPLAY, tmp_path, inhabited)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.deep
def test_a_mistake_in_the_core_is_found(tmp_path: Path) -> None:
    """The change of the page, made in the core itself."""
    ((_, name, change),) = [block for block in BLOCKS if block[0] == "diff"]
    old, new = (
        "".join(f"{line[1:]}\n" for line in change.splitlines() if line.startswith(mark)) for mark in "-+"
    )
    assert FILES[name].count(old) == 1
    env = house(tmp_path / "house", {**FILES, name: FILES[name].replace(old, new)})
    ((command, shown),) = sessions("A mistake")
    ((code, printed),) = answers([command], tmp_path, env)
    assert code == 1
    assert missing(shown, [*plain(printed), f"[exit code {code}]"]) == "", printed


def test_the_page_has_nine_files_of_python_a_run_and_one_entry() -> None:
    rooms = [name for name in FILES if name.endswith(".py")]
    assert (len(rooms), CATALOGUE in rooms, len(FILES)) == (9 + 1, True, 9 + 1 + 1)
    table = re.findall(r"^\| `([^`]+)` \|.*\| (\d+) \|$", PAGE, re.MULTILINE)
    assert {name: int(lines) for name, lines in table} == {
        name: text.count("\n") for name, text in FILES.items()
    }


def test_what_is_written_there_is_written_as_the_house_is() -> None:
    for name, text in FILES.items():
        if name.endswith(".py") and name != CATALOGUE:
            ruff = [sys.executable, "-m", "ruff", "check", "--ignore", "INP001", "--stdin-filename", name]
            done = subprocess.run([*ruff, "-"], cwd=ROOT, input=text, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout
