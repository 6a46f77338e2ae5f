"""A mistake is answered with its culprit, its reason and its fix: on the command line, in Python, in a
specification, in a binding. Each row is one mistake, and the words that must stand in the answer.
"""

import inspect
import os
import signal
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import antiphon as house
from antiphon.conformance.compare.bindings import binding_of
from antiphon.conformance.compare.suites.bindings import check_binding
from antiphon.spec.lang import SpecError, hints
from antiphon.spec.lang.hints import nearest

Run = Callable[..., Any]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("rpb", ("rmp", "rbp", "trmp"), "rbp"),
        ("startoken", ("big_jug", "start_token"), "start_token"),
        ("start-token", ("start_token", "start_tokens"), "start_token"),
        ("sequencre", ("sequence", "sequencer"), "sequencer"),
        ("RBP", ("rbp",), "rbp"),
        ("Sequence", ("Set", "Seq"), "Seq"),
        ("requires", ("repair", "require"), "require"),
        ("x", ("y", "z"), ""),
        ("rbk", ("pbk", "rbp"), "rbp"),
        ("anything", (), ""),
    ],
)
def test_a_slip_of_the_finger_is_known(name: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(name, known) == meant


def test_a_name_as_long_as_a_line_of_a_log_is_compared_with_no_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Letter by letter it takes seconds, and a log may have many such lines."""
    compared: list[str] = []
    monkeypatch.setattr(hints, "distance", lambda one, other: compared.append(other) or 60_000)
    assert nearest("x" * 60_000, ("deliver", "y" * 59_000)) == ""
    assert compared == ["y" * 59_000]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "rpb"), "did you mean 'rbp'?"),
        (("lockstep", "rpb"), "did you mean 'rbp'?"),
        (("stateful", "rpb"), "did you mean 'rbp'?"),
        (("swarm", "rpb"), "did you mean 'rbp'?"),
        (("cluster", "rpb"), "did you mean 'rbp'?"),
        (("claims", "--family", "rpb"), "did you mean 'rbp'?"),
        (("claims", "RPB-01"), "did you mean 'RBP-01'?"),
        (("refine", "rpb"), "did you mean 'rbp'?"),
        (("chekc", "rbp"), "Did you mean 'check'?"),
        (("check", "rbp", "--procesess", "3"), "--processes"),
        (
            ("check", "rbp", "--repair", "startrotation"),
            "has no repair 'startrotation'; known: ring_from_one,",
        ),
        (("check", "die-hard", "--repair", "startoken"), "has no repair 'startoken'; known: none"),
        (("check", "rbp", "--repair", "all", "--without", "trak_numbers"), "did you mean 'track_numbers'?"),
        (("check", "die-hard", "--set", "big_jug=-1"), "big can have no value: the integers 0 to big_jug"),
        (("check", "rbp", "--losses", "-2"), "lost can have no value: the integers 0 to losses"),
        (("check", "two-phase", "--set", "managers=-1"), "managers is -1; it must be at least 1"),
        (("check", "rbp", "--set", "processes=3,messages=2"), "--set stands before each constant again"),
        (("check", "rbp", "--processes", "three"), "--processes three: it is an integer"),
        (("check", "rbp", "--max-states=0"), "--max-states 0: it is at least 1"),
        (("check", "rbp", "--max-seconds", "soon"), "--max-seconds soon: it is a number"),
        (("check", "rbp", "--engine", "natve"), "--engine natve: it is one of 'auto', 'native'"),
        (("swarm", "rbp", "--only", "los"), "did you mean 'loss'?"),
        (("export", "die-hard", "--to", "spin"), "--to spin: it is one of 'promela', 'tla'"),
        (("check", "README.md"), "README.md is no file of Python; write file.py, file.py:Class"),
        (("check", "folder"), "unknown specification 'folder'"),
        (("check", "./folder"), "folder is a directory; name a file in it: folder/cli_inner.py"),
        (("check", "cli_courier"), "it stands in a file: cli_courier.py"),
        (("check", "./cli_courier"), "it stands in a file of Python: cli_courier.py"),
        (("check", "cli_courier.Courier"), "a class in a module is named module:Class: cli_courier:Courier"),
        (("check", "nowhere/README.md"), "there is no file nowhere/README.md"),
        (("find", "die-hard", "self.big = 4"), "== to compare"),
        (("find", "die-hard", "self.bgi == 4"), "did you mean 'big'?"),
        (("lockstep", "README.md"), "README.md is no file of Python"),
        (("replay", "README.md"), "not JSON"),
        (("lockstep", "rbp", "--fault", "keeps_token"), "did you mean 'keeps-token'?"),
    ],
)
def test_mistakes_on_the_command_line(
    antiphon: Run, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    (tmp_path / "README.md").write_text("# A title\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "cli_inner.py").write_text("")
    answer = antiphon(*arguments)
    assert answer.code == 64
    assert says in answer.err
    assert "Traceback" not in answer.err


ask: Any = house
"""The questions, asked as somebody asks them who has not read their types."""


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (
            lambda: ask.check("die-hard", big_jug=3),
            "antiphon.check(antiphon.program('die-hard', big_jug=...))",
        ),
        (lambda: ask.check("die-hard", processes=3), "the constants of 'die-hard': big_jug, small_jug, goal"),
        (lambda: ask.check("die-hard", repairs="all"), "is said to antiphon.program"),
        (lambda: ask.check("die-hard", max_stats=3), "did you mean 'max_states'?"),
        (
            lambda: ask.check("die-hard", max_seconds="3"),
            "max_seconds is a number of seconds; write max_seconds=3",
        ),
        (lambda: ask.check("die-hard", max_seconds=float("nan")), "max_seconds is a number of seconds"),
        (lambda: ask.check("die-hard", max_states="x"), "max_states is an integer"),
        (lambda: ask.check("die-hard", max_depth=1.5), "max_depth is an integer"),
        (lambda: ask.check("die-hard", max_depth=True), "max_depth is an integer"),
        (lambda: ask.check("die-hard", threads="2"), "threads is an integer; write threads=2"),
        (lambda: ask.check("die-hard", symmetry="yes"), "symmetry is True or False"),
        (lambda: ask.check("die-hard", progress=3), "progress is a function"),
        (lambda: ask.check("die-hard", directory=3), "directory is a text or a pathlib.Path"),
        (lambda: ask.check("die-hard", properties="NotSolvd"), "did you mean 'NotSolved'?"),
        (lambda: ask.check("die-hard", properties=[["NotSolved"]]), "['NotSolved'] is no name"),
        (lambda: ask.check("die-hard")["NotSolvd"], "did you mean 'NotSolved'?"),
        (lambda: ask.check(None), "None is no specification; a question is about"),
        (lambda: ask.program(3), "3 is no specification; write"),
        (lambda: ask.program("die-hard", big_jag=3), "did you mean 'big_jug'?"),
        (lambda: ask.program("die-hard", big_jug="3"), "it is an int"),
        (lambda: ask.find("die-hard", "self.big == 4", processes=3), "find has no argument 'processes'"),
        (lambda: ask.find("die-hard", 3), "expression is a text"),
        (lambda: ask.simulate("die-hard", walk=3), "did you mean 'walks'?"),
        (lambda: ask.simulate("die-hard", walks="3"), "write walks=3"),
        (lambda: ask.refine("rbp", processes=3), "antiphon.refine(antiphon.program('rbp', processes=...))"),
        (
            lambda: ask.lockstep("rbp", processes=3),
            "antiphon.lockstep(antiphon.binding('rbp', processes=...))",
        ),
        (lambda: ask.lockstep("rpb"), "did you mean 'rbp'?"),
        (
            lambda: ask.lockstep("rbp", engine="native"),
            "lockstep has no engine 'native'; known: gen",
        ),
        (lambda: ask.check("die-hard", engine="natve"), "did you mean 'native'?"),
        (lambda: ask.refine("figure-2", engine="spin"), "engine"),
        (lambda: ask.stateful("rbp", run=3), "did you mean 'runs'?"),
        (lambda: ask.stateful("rbp", runs="3"), "write runs=3"),
        (lambda: ask.state_graph("die-hard", max_state=3), "did you mean 'max_states'?"),
        (lambda: ask.load(3), "file is a text or a pathlib.Path"),
        (lambda: ask.load("none.itf.json"), "cannot be read: No such file"),
    ],
)
def test_mistakes_in_python(question: Callable[[], object], says: str) -> None:
    with pytest.raises(
        (ValueError, TypeError, LookupError, house.SpecError, RuntimeError, Exception)
    ) as told:
        question()
    assert says in str(told.value)


def test_one_property_may_be_named_without_a_list() -> None:
    assert [verdict.property for verdict in ask.check("die-hard", properties="NotSolved").verdicts] == [
        "NotSolved"
    ]


def test_one_repair_may_be_left_out_without_a_list() -> None:
    assert ask.program("rbp", repairs="all", without="await_body").constants["await_body"] is False


TEXT = '''
import enum
from typing import Annotated
from antiphon.spec.lang import (
    AtMost, Between, Const, Index, Map, Seq, Set, Spec, action, everywhere, record, require,
)

class Process(Index, size="processes"):
    """A member."""

class Colour(enum.Enum):
    RED = 1
    GREEN = 2

class Lamp(Spec):
    """A lamp."""
    processes: Const[int] = 2
    count: Annotated[int, Between(0, 3)] = 0
    colour: Colour = Colour.RED
    grid: Map[Process, Map[Process, bool]] = everywhere(everywhere(False))
    flags: Map[Process, bool] = everywhere(False)
    line: Annotated[Seq[Process], AtMost(3)] = ()

    @action
    def go(self, p: Process) -> None:
        """A step."""
{}
'''


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (
            "match self.colour:\n    case Colour.RED:\n        self.count = 1",
            "if self.colour == Colour.RED: ... elif",
        ),
        ("self.grid[p] = (True, False)", "Map({key: value for key in self.each(Process)})"),
        ("self.flags = (True, False)", "Map({key: value for key in self.each(Process)})"),
        ("requir(self.count < 3)", "requir means nothing here; did you mean 'require'?"),
        (
            "emit(p)",
            "emit means nothing here: it is a word of the language, not imported: from antiphon.spec",
        ),
        ("self.count = budgt(self.count)", "did you mean 'budget'?"),
        ("self.cuont += 1", "did you mean 'count'?"),
        ("self.colour = Colour.GREN", "Colour has no 'GREN'; did you mean 'GREEN'?"),
        ("self.flags[0] = True", "for p in self.each(Process)"),
        ("self.line.append(p)", "self.line += (x,)"),
        ("while self.count < 3:\n    self.count += 1", "an action for each round"),
        ("assert self.count < 3", "require(...) for a guard"),
        ("self.count = 1.5", "1.5 is no value of the language"),
        ("self.colour = 'RED'", "Colour.RED"),
    ],
)
def test_mistakes_in_a_specification(tmp_path: Path, body: str, says: str) -> None:
    name = f"mistaken_{zlib.crc32(body.encode())}"
    (tmp_path / f"{name}.py").write_text(TEXT.format(textwrap.indent(body, " " * 8)))
    with pytest.raises(SpecError) as told:
        house.program(str(tmp_path / f"{name}.py")).module  # noqa: B018 - reads the text
    assert says in str(told.value)
    assert f"{name}.py:" in str(told.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "from antiphon.spec.lang import Spec\nclass S(Spec):\n    @initial\n    def go(self): ...\n",
            (
                "name 'initial' is not defined; it is a word of the language, not imported here: "
                "from antiphon.spec.lang import initial"
            ),
        ),
        (
            (
                "from antiphon.spec import services\nfrom antiphon.spec.environment import Crashes\n"
                "class S(services.Group, Crashes): ...\n"
            ),
            "name what builds on others first: (Crashes, Group)",
        ),
        ("from antiphon.spec.lang import *\nx: Sequence[int]\n", "did you mean 'Seq'?"),
        ("x = 3\n", "has no specification: nothing in it is a subclass of antiphon.spec.lang.Spec"),
        (
            (
                "from antiphon.spec.lang import *\nclass S(Spec):\n    x: bool = False\n"
                "    def __init__(self):\n        self.x = True\n"
            ),
            "S.__init__ would never be called",
        ),
        (
            "from antiphon.spec.lang import *\n@record\nclass R:\n    a = 1\n",
            "R.a has no type, so that it is no field",
        ),
        (
            (
                "from typing import Annotated\nfrom antiphon.spec.lang import *\nclass S(Spec):\n"
                "    x: Annotated[int, Between(3, 0)] = 1\n"
            ),
            ":4:5: S.x can have no value: the integers 3 to 0",
        ),
    ],
)
def test_mistakes_above_a_specification(tmp_path: Path, text: str, says: str) -> None:
    name = f"unread_{zlib.crc32(text.encode())}"
    (tmp_path / f"{name}.py").write_text(text)
    with pytest.raises(SpecError) as told:
        house.program(str(tmp_path / f"{name}.py"))
    assert says in str(told.value)


def test_a_binding_is_told_how_long_a_reason_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(binding_of("rbp"))
    monkeypatch.setattr(kind, "exempt", {**binding_of("rbp").exempt, "lost": "no need"}, raising=False)
    with pytest.raises(AssertionError, match=r"lost is exempt without a reason: .* in four words or more"):
        check_binding(lambda: binding_of("rbp"))
    assert "at least four words" in (
        inspect.getdoc(sys.modules["antiphon.conformance.compare.bindings.binding"]) or ""
    )


def test_ctrl_c_while_workers_start_is_one_line(tmp_path: Path) -> None:
    """A terminal sends it to the workers too, which are still importing what they need."""
    told_when_called = (
        "import sys; from antiphon.conformance import children; from antiphon.conformance.cli import main\n"
        "whole = children.ProcessPoolExecutor.submit\n"
        "def submit(pool, *rest):\n"
        "    print('begun', file=sys.__stderr__, flush=True)\n"
        "    return whole(pool, *rest)\n"
        "children.ProcessPoolExecutor.submit = submit\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(main())\n"
    )
    (tmp_path / "told.py").write_text(told_when_called)
    running = subprocess.Popen(
        [sys.executable, "told.py", "swarm", "rbp", "--runs", "1000", "--jobs", "2", "--seed", "1"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert running.stderr is not None
    assert running.stderr.readline() == b"begun\n"
    os.killpg(running.pid, signal.SIGINT)
    _, complaint = running.communicate(timeout=60)
    assert (running.returncode, complaint.replace(b"begun\n", b"")) == (130, b"antiphon: interrupted\n")


def test_a_python_that_is_too_old_is_named_before_anything_is_installed(tmp_path: Path) -> None:
    old = tmp_path / "python3.10"
    old.write_text('#!/bin/sh\ntest "$1" = --version && echo "Python 3.10.12"\n')
    old.chmod(0o755)
    command = ["make", "environment", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert f"antiphon needs Python 3.11 to 3.14, and {old} is Python 3.10.12" in made.stderr
    assert not (tmp_path / "venv").exists()
