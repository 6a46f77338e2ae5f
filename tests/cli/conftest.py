"""The command line, called in this process, and a specification with a fault that it can import."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.schemas import complaints

from antiphon.conformance.cli import main
from antiphon.conformance.cli.documents import AnyDocument

MODULE = "cli_courier"

TEXT = '''
"""A sender, a receiver, a network that repeats."""

from typing import Annotated

from antiphon.spec.lang import (
    Between, Const, In, Index, Set, Spec, action, ambiguity, environment, invariant, record, repair, require,
    witness,
)


class Process(Index, size="processes", ordered=True):
    """A member."""


@record
class Letter:
    """A letter on its way."""

    to: Process


class Letters(Spec):
    """Counts the letters that arrive; the literal text counts one too many."""

    processes: Const[int] = 2
    network: Set[Letter] = Set()
    count: Annotated[int, Between(0, 3)] = 0

    @action
    def send(self, p: Process) -> None:
        """Somebody writes."""
        require(self.is_open())
        self.network |= {Letter(p)}

    @action
    def receive(self, packet: Annotated[Letter, In("network")]) -> None:
        """It arrives."""
        require(self.count < 3 and self.is_open())
        self.network -= {packet}
        self.count += 1

    @environment
    def lose(self, packet: Annotated[Letter, In("network")]) -> None:
        """It does not."""
        self.network -= {packet}

    def is_open(self) -> bool:
        """Whether letters are taken."""
        return True


@repair("stops at two", answers="X-01")
class Stop(Letters):
    """Two letters are enough."""

    def is_open(self) -> bool:
        """Two letters are enough."""
        return self.count < 2


tone = ambiguity("tone", "plain", about="nothing")


@tone.reading("loud")
class Loud(Letters):
    """The same."""


class Courier(Letters, repairs=(Stop,), readings=(tone,)):
    """The letters and what is asked of them."""

    @invariant
    def AtMostTwo(self) -> bool:
        """Two letters at most."""
        return self.count <= 2

    @witness
    def Two(self) -> bool:
        """Two letters."""
        return self.count == 2
'''


@dataclass
class Answer:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Document of the answer's JSON: one of the schema, with no field that the schema does not know."""
        decoded = msgspec.json.decode(self.out, type=AnyDocument)
        plain = msgspec.json.decode(self.out)
        assert complaints("report", plain) == []
        assert msgspec.to_builtins(decoded) == plain
        assert decoded.schema == "antiphon.report"
        assert decoded.version == 1
        assert decoded.exit_code == self.code
        return decoded


Run = Callable[..., Answer]


@pytest.fixture
def antiphon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Run the command in a directory with the module `cli_courier`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / f"{MODULE}.py").write_text(TEXT)
    (tmp_path / "cli_misspelt.py").write_text("from antiphon.spec.lang import *\n\ninvarient\n")

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    yield run
    sys.modules.pop(MODULE, None)


@pytest.fixture
def trace(antiphon: Run, tmp_path: Path) -> Path:
    """The saved counterexample of the courier."""
    file = tmp_path / "courier.itf.json"
    assert antiphon("check", f"{MODULE}:Courier", "--save", file).code == 1
    return file


# Logs of a run --------------------------------------------------------------------------------------------


def write_log(run: Path, process: int, *events: str, processes: int = 2) -> None:
    """The log of a process, whose events have no index yet."""
    run.mkdir(parents=True, exist_ok=True)
    header = {"schema": "antiphon.trace", "version": 1, "run": "r", "protocol": "p", "process": process}
    lines = [json.dumps(header | {"processes": processes})]
    numbered = [event.replace("{", f'{{"i":{i},', 1) for i, event in enumerate([*events, '{"kind":"end"}'])]
    (run / f"process-{process}.ndjson").write_text("\n".join([*lines, *numbered, ""]), encoding="utf-8")


def delivery(m: str, number: int) -> str:
    """An event of `write_log`."""
    return f'{{"kind":"deliver","m":"{m}","number":{number},"digest":"aa"}}'


def write_swap(run: Path) -> None:
    """Three logs, of which the last has two messages the other way round."""
    for process, order in enumerate((("0:1", "1:1"), ("0:1", "1:1"), ("1:1", "0:1"))):
        told = [delivery(m, int(m[0]) + 1) for m in order]
        write_log(run, process, *told, processes=3)
