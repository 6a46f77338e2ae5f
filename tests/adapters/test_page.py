"""docs/adapters.md is true: its files are written, its commands run in order, and print what it shows."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import adapter, main
from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.run.foreign import run_foreign

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
GO = shutil.which("go") is not None


def changed(name: str, text: str, old: str) -> str:
    """A file after the page has changed a part of it."""
    if name == "account.c":  # what stands above main
        head, _, main_function = old.partition("int main")
        return head.splitlines()[0] + "\n\n" + text + "\nint main" + main_function
    (line,) = [line for line in old.splitlines() if line.startswith(text[:40])]
    return old.replace(line, text.rstrip())


def write(kind: str, name: str, text: str) -> None:
    """Write a block into its file, or change the file by it."""
    file = Path(name)
    file.write_text(changed(name, text, file.read_text()) if file.exists() else text, encoding="utf-8")


def said(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the text that a command prints."""
    words = shlex.split(command)
    if words[0] == "cp":
        if words[1] == "-r":
            assert words[2:] == ["PROJECT/docs/adapters/.", "."]
            shutil.copytree(ROOT / "docs" / "adapters", ".", dirs_exist_ok=True)
        else:
            shutil.copy(words[1].replace("PROJECT", str(ROOT)), words[2])
        return ""
    if words[0] == "antiphon":
        bound_protocol.cache_clear()
        capsys.readouterr()
        main(words[1:])
        return capsys.readouterr().out
    assert words[0] in ("cc", "go")
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


def normal(line: str) -> str:
    """A line without what differs between two runs: times and blanks."""
    return re.sub(r"\d+\.\d+ s\b", "0.0 s", " ".join(line.split()))


def missing(shown: list[str], printed: list[str]) -> str:
    """The first line that does not come at once after the one before it, or later after `...`."""
    rest, anywhere = list(map(normal, printed)), False
    for line in shown:
        if line == "...":
            anywhere = True
            continue
        begin, _, end = normal(line).partition("…")
        found = [
            at
            for at, other in enumerate(rest)
            if (other.startswith(begin) if "…" in line else other == begin) and not end
        ]
        if not found or (found[0] > 0 and not anywhere):
            return line
        rest, anywhere = rest[found[0] + 1 :], False
    return ""


def parts() -> Iterator[tuple[str, str, str]]:
    """The blocks of the page, without those in Go and the commands after each where there is no Go."""
    before = ""
    for kind, name, text in BLOCKS:
        if GO or "go" not in (kind, before if kind == "console" else ""):
            yield kind, name, text
        before = kind


@pytest.mark.deep
def test_every_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys, "path", [*sys.path])
    patient = partial(run_foreign, shrink_seconds=500)  # however busy the machine is
    monkeypatch.setattr(adapter, "run_foreign", patient)
    for module in ("ordered_spec", "account_spec"):  # other tests load them from elsewhere
        monkeypatch.delitem(sys.modules, module, raising=False)
    asked = 0
    for kind, name, text in parts():
        if kind == "json":
            lines = [json.loads(line) for line in text.splitlines()]
            assert [complaints("adapter", line) for line in lines if complaints("adapter", line)] == []
        elif kind != "console":
            write(kind, name, text)
        else:
            for part in text.split("$ ")[1:]:
                command, _, shown = part.partition("\n")
                printed = said(command, capsys)
                lost = missing(shown.splitlines(), [line for line in printed.splitlines() if line.strip()])
                assert not lost, f"$ {command}\n{printed}"
                asked += command.startswith("antiphon ")
    assert asked >= 7
    compile((tmp_path / "test_ordered.py").read_text(), "test_ordered.py", "exec")
    assert {path.name for path in tmp_path.iterdir()} >= {"account", "ordered", "runs"}


def test_a_line_that_is_not_printed_is_missed() -> None:
    assert missing(["one", "..."], ["two"]) == "one"
    assert missing(["one", "three"], ["one", "two", "three"]) == "three"
    assert missing(["one", "...", "thr…"], ["one", "two", "three"]) == ""


def test_the_tables_name_all_abilities_requests_and_options() -> None:
    from antiphon.conformance.adapters.messages import REPLIES, Ability

    sentences = re.sub(r"^```.*?^```", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    told = set(re.findall(r"`([^`]+)`", sentences))
    assert set(Ability.__args__) <= told
    for kind in REPLIES:
        assert any(each.startswith(kind) for each in told), kind
