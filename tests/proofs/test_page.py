"""docs/proofs.md is true: its file is written part by part, and its commands print what stands there."""

import re
import sys
from pathlib import Path

import pytest

from antiphon.conformance.cli import main
from antiphon.model.proofs import Outside
from antiphon.model.proofs.obligations import Reading
from antiphon.programs import specification
from antiphon.spec.lang import program

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+) ?([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_page_is_proved_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line that the page shows of a command is one that it prints, in order."""
    monkeypatch.setenv("ANTIPHON_CACHE", "")
    files: dict[str, str] = {}
    shown = 0
    for number, (kind, name, text) in enumerate(BLOCKS):
        if kind == "python":
            files[name] = f"{files[name]}\n\n{text}" if name in files else text
            continue
        assert kind == "console"
        here = tmp_path / str(number)  # a file that changes is another file: what was read of it is kept
        here.mkdir()
        monkeypatch.chdir(here)
        for file, content in files.items():
            Path(file).write_text(content, encoding="utf-8")
        command, *lines = text.removeprefix("$ ").splitlines()
        main(command.split()[1:])
        sys.modules.pop("lease", None)
        said = capsys.readouterr()
        printed = said.out
        for line in lines:
            _, found, printed = printed.partition(line)
            assert found, (line, said)
            shown += 1
    assert shown > 10


def test_the_table_of_the_page_has_every_proof() -> None:
    """Each class whose name ends with Proof stands in the table, and in the script that makes it."""
    names = set()
    for file in (ROOT / "spec" / "examples" / "proved").glob("*.py"):
        found = re.findall(r"^class (\w+Proof)\(", file.read_text(encoding="utf-8"), re.MULTILINE)
        names |= {f"{file.stem}:{name}" for name in found}
    rows = {line.split(" | ")[0].removeprefix("| ") for line in PAGE.splitlines() if line.startswith("| ")}
    script = (ROOT / "benchmarks" / "proofs.py").read_text(encoding="utf-8")
    assert names <= rows
    assert names <= set(re.findall(r'"(\w+:\w+Proof)"', script))


REFUSED = re.findall(r"^\| `(\w+\.\w+:\w+)`, [^|]* \| [^|]*\(`(\w+\.py)`\)", PAGE, re.MULTILINE)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("place", "file"), REFUSED)
def test_what_is_not_proved_is_refused_in_the_file_that_the_page_names(place: str, file: str) -> None:
    """A protocol that enters the fragment leaves this table."""
    bound = program(specification(f"antiphon.spec.protocols.{place}"), repairs="all")
    sizes = [item.name for item in bound.declaration.constants if type(item.default) is int]
    every = tuple(name for name in sizes if name in ("processes", "messages", "rounds", "values"))
    said = []
    for action in bound.module.actions:
        reading = Reading(bound, every)
        try:
            reading.paths(action, reading.state)
        except Outside as refused:
            said.append("" if refused.at is None else Path(refused.at.file).name)
    assert len(REFUSED) == 6
    assert file in said
