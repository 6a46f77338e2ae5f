"""docs/your-protocol.md is true: its files are written, its commands run in order, and print what it shows.

All in one process beside this one, which forgets between two commands the modules that it loaded from files.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.conformance.cli.starter import ABOUT, FILES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "your-protocol.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)

RUNS = """
import contextlib, io, json, os, sys, time
import pytest
from hypothesis.internal.conjecture import providers
sys.dont_write_bytecode = True
# the house is no text of the reader's, though it is installed to be edited: Hypothesis need not parse it
providers._get_local_constants = lambda: providers._local_constants
alone = ("no:cacheprovider", "no:xdist")
loaded = "ignore::pytest.PytestAssertRewriteWarning"  # the house is, since this is one process

def said(command):
    words = command.split()
    if words[0] == "mkdir":
        os.mkdir(words[1])
        return ""
    if words[0] == "cd":
        os.chdir(words[1])
        return ""
    out, before, path = io.StringIO(), set(sys.modules), list(sys.path)
    sys.path.insert(0, os.getcwd())
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        if words[0] == "antiphon":
            from antiphon.conformance.cli import main
            from antiphon.conformance.compare.bindings import bound_protocol

            bound_protocol.cache_clear()
            main(words[1:])
        else:
            assert words[:3] == ["python", "-m", "pytest"]
            pytest.main(["-p", alone[0], "-p", alone[1], "-W", loaded, *words[3:]])
    for name in set(sys.modules) - before:
        if os.path.dirname(getattr(sys.modules[name], "__file__", None) or "") == os.getcwd():
            del sys.modules[name]
    sys.path[:] = path
    return out.getvalue()

for kind, name, text in json.load(sys.stdin):
    began = time.process_time()
    if kind == "write":
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    elif kind == "mend":
        with open(name, encoding="utf-8") as file:
            before = file.read()
        assert "# " + text.strip() in before, before
        with open(name, "w", encoding="utf-8") as file:
            file.write(before.replace("# " + text.strip(), text.strip()))
    else:
        print(json.dumps([name, said(name), time.process_time() - began]), file=sys.__stderr__)
"""


def steps() -> list[tuple[str, str, str]]:
    """Steps of the page: files that it writes, lines that it uncomments, and commands."""
    found = []
    for kind, name, text in BLOCKS:
        if kind in ("python", "toml"):
            found.append(("mend" if text.startswith(" ") else "write", name, text))
        else:
            assert kind == "console"
            found += [("run", part.partition("\n")[0], "") for part in text.split("$ ")[1:]]
    return found


def expected() -> list[tuple[str, list[str]]]:
    """Each command of the page with the lines that it shows."""
    parts = [part for kind, _, text in BLOCKS if kind == "console" for part in text.split("$ ")[1:]]
    return [(part.partition("\n")[0], part.partition("\n")[2].splitlines()) for part in parts]


def normal(line: str) -> str:
    """A line without what differs between two runs: times, blanks, pytest's frame."""
    line = re.sub(r"\d+\.\d+ s\b(, [\d,]+ states/s)?", "0.0 s", line)
    return re.sub(r"^=+ (.*) in [\d.]+s =+$", r"\1", " ".join(line.split()))


def missing(shown: list[str], printed: list[str]) -> str:
    """The first line that does not come at once after the one before it, or later after `...`."""
    rest, anywhere = list(printed), True
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        if normal(line) not in rest or (not anywhere and rest[0] != normal(line)):
            return line
        rest, anywhere = rest[rest.index(normal(line)) + 1 :], False
    return ""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, float]]:
    """The commands of the page with what they print and the seconds that they take of the processor."""
    home = tmp_path_factory.mktemp("page")
    ran = subprocess.run(
        [sys.executable, "-c", RUNS],
        input=json.dumps(steps()),
        cwd=home,
        env={**os.environ, "COLUMNS": "200", "PYTEST_DEBUG_TEMPROOT": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stderr.splitlines() if line.startswith("[")]


def test_every_command_prints_what_the_page_shows(answers: list[tuple[str, str, float]]) -> None:
    assert [name for name, _, _ in answers] == [name for name, _ in expected()]
    for (name, printed, _), (_, shown) in zip(answers, expected(), strict=True):
        lines = [normal(line) for line in printed.splitlines()]
        assert missing(shown, [line for line in lines if line]) == "", f"$ {name}\n{printed}"


def test_a_line_that_is_not_printed_is_missed() -> None:
    assert missing(["one", "..."], ["two"]) == "one"
    assert missing(["one", "three"], ["one", "two", "three"]) == "three"
    assert missing(["one", "...", "three"], ["one", "two", "three"]) == ""


@pytest.mark.deep  # a busy machine is slower
def test_the_project_is_green_within_ten_seconds(answers: list[tuple[str, str, float]]) -> None:
    green = next(seconds for name, _, seconds in answers if name == "python -m pytest")
    assert green < 10


def test_each_file_that_is_written_is_said() -> None:
    assert FILES.keys() == ABOUT.keys()
    for name, about in ABOUT.items():
        assert re.search(rf"^{re.escape(name)} +{re.escape(about)}$", PAGE, re.MULTILINE)


def test_the_file_for_ci_asks_for_options_that_there_are() -> None:
    kept = ROOT / "conformance/cli/starter" / FILES[".github/workflows/test.yml"]
    text = kept.read_text(encoding="utf-8")
    plugin = (ROOT / "conformance/api/pytest_plugin.py").read_text(encoding="utf-8")
    asked = re.findall(r"--antiphon-[a-z-]+", text)
    assert asked
    assert all(f'"{option}"' in plugin for option in asked)
    assert {f'"{option}"' for option in re.findall(r"`(--antiphon-[a-z-]+)", PAGE)} == set(
        re.findall(r'"--antiphon-[a-z-]+"', plugin)
    )
