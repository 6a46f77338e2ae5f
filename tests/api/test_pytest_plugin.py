"""The fixture `antiphon` fails what does not hold, leaves files, and costs nothing where it is not used."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import antiphon
from antiphon.in_tests import _file_name
from antiphon.pytest_plugin import pytest_configure

DOORS = '''
from antiphon.spec.lang import Const, Index, Map, Spec, action, everywhere, invariant, require, witness
from antiphon.testing import binding


class Process(Index, size="processes"):
    """Who may enter."""


class Turnstile(Spec):
    """One at a time."""

    processes: Const[int] = 2
    inside: Map[Process, bool] = everywhere(False)

    @action
    def enter(self, p: Process) -> None:
        require(not any(self.inside[q] for q in self.each(Process)))
        self.inside[p] = True

    @action
    def leave(self, p: Process) -> None:
        require(self.inside[p])
        self.inside[p] = False

    @witness
    def Enters(self) -> bool:
        return any(self.inside[p] for p in self.each(Process))


class Hopeful(Turnstile):
    """Of which too much is asked."""

    @witness
    def AllEnter(self) -> bool:
        return all(self.inside[p] for p in self.each(Process))


class Bare(Spec):
    """Of which nothing is asked."""

    open: bool = False

    @action
    def push(self) -> None:
        self.open = True


class Hidden(Turnstile, refines=Turnstile):
    """Which is one."""


class Open(Turnstile):
    """Which nobody guards."""

    @action
    def enter(self, p: Process) -> None:
        self.inside[p] = True

    @invariant
    def Alone(self) -> bool:
        return not all(self.inside[p] for p in self.each(Process))


@binding(Turnstile)
class Real:
    def __init__(self, processes):
        self.inside = [False] * processes

    def enter(self, p):
        self.inside[p] = True

    def leave(self, p):
        self.inside[p] = False

    def state(self):
        return {"inside": self.inside}


class Stuck(Real):
    def leave(self, p):
        pass
'''

SPECIFIED = '''
import pytest

from doors import Bare, Hopeful, Open


def test_a_specification_that_is_broken(antiphon):
    antiphon.check(Open)


def test_nothing_to_judge(antiphon):
    antiphon.check(Hopeful)


def test_a_specification_without_properties(antiphon):
    antiphon.check(Bare)


def test_twice(antiphon):
    for _ in range(2):
        with pytest.raises(pytest.fail.Exception):
            antiphon.check(Open)
'''

BESIDE = '''
import hypothesis
import pytest

from doors import Hidden, Open, Real, Stuck, Turnstile

hypothesis.settings.register_profile("few", max_examples=4, stateful_step_count=6)
hypothesis.settings.load_profile("few")


def test_what_holds_passes(antiphon):
    assert antiphon.lockstep(Real, max_seconds=20).transitions == 4
    assert antiphon.check(Turnstile).outcome == "holds"
    assert antiphon.simulate(Turnstile, walks=1, steps=1).outcome == "holds"
    assert antiphon.refine(Hidden).outcome == "holds"
    assert antiphon.program(Turnstile, processes=3).constants == {"processes": 3}


def test_a_profile_counts_more_than_the_test_and_an_option_more_than_the_profile(antiphon):
    assert antiphon.simulate(Turnstile, walks=50, steps=1).exploration.transitions == 2
    assert antiphon.stateful(Real, seed=1, runs=1).seed == 5


def test_its_modules_are_loaded_as_they_are():
    import sys
    from antiphon.spec.lang import foreign

    assert "Rewriting" in type(sys.modules[__name__].__loader__).__name__
    assert "Rewriting" not in type(foreign.__loader__).__name__


def test_hypothesis_says_how_many(antiphon):
    report = antiphon.stateful(Real)
    assert report.runs == 4
    assert report.steps <= 4 * 6
    assert report.seed == 5
    assert antiphon.stateful(Real, runs=4, steps=2).steps <= 8


def test_an_implementation_that_differs(antiphon):
    antiphon.lockstep(antiphon.binding(Stuck, processes=3))


def test_a_bound(antiphon):
    antiphon.lockstep(Real, max_states=1)


def test_no_logs(antiphon, tmp_path):
    antiphon.verify(tmp_path)


def test_no_binding(antiphon):
    antiphon.lockstep(Open)
'''


def run(home: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a stranger, in a process of their own."""
    (home / "doors.py").write_text(DOORS, encoding="utf-8")
    (home / "test_specified.py").write_text(SPECIFIED, encoding="utf-8")
    (home / "test_beside.py").write_text(BESIDE, encoding="utf-8")
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    alone = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=.")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *alone, *options],
        cwd=home,
        env={**outer, "COLUMNS": "200", "PYTHONDONTWRITEBYTECODE": "1", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def said_of(output: str, test: str) -> str:
    """Part of the output that reports the failure of a test."""
    found = re.search(rf"^_+ {test} _+$(.*?)^(?:_+ \w+ _+|=+ )", output, re.MULTILINE | re.DOTALL)
    assert found is not None, output
    return found[1]


BROKEN = "test_specified.py-test_a_specification_that_is_broken"
"""Name of the files of that test, without their ending."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("stranger")


@pytest.fixture(scope="module")
def output(home: Path) -> str:
    """Output of a run of all the tests, as on GitHub, where one picture cannot be written."""
    (home / "left" / f"{BROKEN}.svg").mkdir(parents=True)
    profiles = ("-o", "antiphon_profiles=other: walks=9\nfew: walks=2 seed=7", "--antiphon-profile", "few")
    asked = ("--antiphon-save", "left", "--antiphon-seed", "5", "-p", "no:xdist", *profiles)
    return run(home, *asked, **on_github(home)).stdout


def on_github(home: Path) -> dict[str, str]:
    """Environment of a step on GitHub, and an empty summary of it."""
    (home / "summary.md").touch()
    return {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(home / "summary.md")}


def test_what_holds_passes_and_the_rest_does_not(output: str) -> None:
    assert output.splitlines()[0].split()[0] == "....FFFFFFF."
    assert "7 failed, 5 passed" in output


def test_a_failure_shows_the_line_of_the_test_and_the_run(output: str) -> None:
    said = said_of(output, "test_an_implementation_that_differs")
    assert ">       antiphon.lockstep(antiphon.binding(Stuck, processes=3))" in said
    assert "LockstepReport on Turnstile: violated" in said
    assert re.search(r"1  enter\(p0\).*2  leave\(p0\).*variable inside", said, re.DOTALL)
    assert "in_tests.py" not in said
    assert "Alone is false" in said_of(output, "test_a_specification_that_is_broken")


def test_what_is_unknown_does_not_pass_and_says_why(output: str) -> None:
    bound = said_of(output, "test_a_bound")
    assert "unknown" in bound
    assert "the bound of 1 states ended the walk" in bound
    assert "what is unknown does not pass: raise the bound" in bound
    assert "unknown" in said_of(output, "test_nothing_to_judge")
    bare = said_of(output, "test_a_specification_without_properties")
    assert "nothing to judge: the specification has no property" in bare
    assert "what is unknown does not pass\n" in bare
    logs = said_of(output, "test_no_logs")
    assert "UniformTotalOrder: unknown 1: no run; a run is a directory that holds process-0.ndjson" in logs
    assert "raise the bound" not in logs


def test_a_question_that_cannot_be_asked_fails_without_our_traceback(output: str) -> None:
    said = said_of(output, "test_no_binding")
    assert "Open is no binding" in said
    assert "implementations.py" not in said
    logs = said_of(output, "test_no_logs")
    assert "in_tests.py" not in logs
    assert "Traceback" not in output


def test_a_failure_leaves_a_trace_that_runs_again_a_picture_and_a_page(
    home: Path, output: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left = home / "left"
    names = {file.name for file in left.iterdir()}
    of_one = "test_beside.py-test_an_implementation_that_differs"
    assert {f"{of_one}.{kind}" for kind in ("itf.json", "svg", "html")} <= names
    assert {"test_specified.py-test_twice.svg", "test_specified.py-test_twice-2.svg"} <= names
    assert "test_beside.py-test_a_bound.html" in names
    assert "test_beside.py-test_a_bound.svg" not in names
    assert f"trace: {left / of_one}.itf.json" in output
    page = (left / f"{of_one}.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "variable inside" in page
    assert (left / f"{of_one}.svg").read_text(encoding="utf-8").startswith("<svg")
    from antiphon.conformance.cli import main

    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["replay", str(left / f"{of_one}.itf.json")]) == 1
    assert main(["replay", str(left / f"{of_one}.itf.json"), "--on", "doors.py:Real"]) == 0
    capsys.readouterr()
    for name in ("doors",):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("where", ["doors.py", pytest.param("/proc/none", marks=pytest.mark.deep)])
def test_a_directory_that_cannot_be_had_hides_no_run(tmp_path: Path, where: str) -> None:
    output = run(tmp_path, "test_specified.py", "-k", "broken", "--antiphon-save", where).stdout
    said = said_of(output, "test_a_specification_that_is_broken")
    assert "Alone is false" in said
    assert "trace, picture and page: not written: [Errno " in said
    assert "in_tests.py" not in said


def test_a_file_that_cannot_be_written_hides_no_run(home: Path, output: str) -> None:
    """The others are written."""
    said = said_of(output, "test_a_specification_that_is_broken")
    assert "Alone is false" in said
    assert "picture: not written: [Errno " in said
    assert f"page: {home / 'left' / BROKEN}.html" in said
    assert (home / "left" / f"{BROKEN}.html").is_file()


def test_on_github_a_failure_is_an_annotation_and_stands_in_the_summary(home: Path, output: str) -> None:
    """A failure that the test expects, as in `test_twice`, is neither."""
    assert annotations(home, output) == {
        ("error", "check", "def test_a_specification_that_is_broken(antiphon):"),
        ("error", "lockstep", "def test_an_implementation_that_differs(antiphon):"),
        ("warning", "check", "def test_nothing_to_judge(antiphon):"),
        ("warning", "check", "def test_a_specification_without_properties(antiphon):"),
        ("warning", "lockstep", "def test_a_bound(antiphon):"),
        ("warning", "verify", "def test_no_logs(antiphon, tmp_path):"),
    }


def test_on_github_workers_tell_of_each_failure_once(tmp_path: Path) -> None:
    output = run(tmp_path, "-k", "broken or bound or twice", "-n1", **on_github(tmp_path)).stdout
    assert annotations(tmp_path, output) == {
        ("error", "check", "def test_a_specification_that_is_broken(antiphon):"),
        ("warning", "lockstep", "def test_a_bound(antiphon):"),
    }


def annotations(home: Path, output: str) -> set[tuple[str, str, str]]:
    """Level, question and first line of the test of each annotation; the summary has a part for each."""
    found = re.findall(r"^::(\w+) file=(\w+\.py),line=(\d+),title=(\w+) is", output, re.MULTILINE)
    told = {
        (level, question, (home / file).read_text(encoding="utf-8").splitlines()[int(line) - 1])
        for level, file, line, question in found
    }
    text = (home / "summary.md").read_text(encoding="utf-8")
    assert text.count("### antiphon in pytest: ❌ violated") == sum(level == "error" for level, *_ in told)
    assert "Alone" in text
    assert text.count("### antiphon") == len(told) == len(found)
    return told


def test_names_of_files_are_cut_by_bytes_and_stay_different() -> None:
    one, other = (_file_name(f"tests/test_a.py::test_b[{'語' * 100}{last}]") for last in "xy")
    assert one != other
    for name in (one, other):
        assert len(name.encode()) <= 255 - len("-1000.itf.json")
        assert name.startswith("tests-test_a.py-test_b-語語")
    assert _file_name("tests/test_a.py::test_b[語]") == "tests-test_a.py-test_b-語"
    assert len({_file_name(f"test_a.py::test_b[{value}]") for value in ("a b", "a/b", "a-b", "a:b")}) == 4


@pytest.mark.deep
def test_workers_leave_their_files_in_one_directory(tmp_path: Path) -> None:
    """The budget of the command line overrides that of a test."""
    asked = ("-n2", "-k", "broken or twice", "--antiphon-max-seconds", "0", "--antiphon-save", "left")
    output = run(tmp_path, "test_specified.py", *asked).stdout
    assert "the bound of 0 seconds" in said_of(output, "test_a_specification_that_is_broken")
    assert {file.name for file in (tmp_path / "left").iterdir()} == {
        "test_specified.py-test_a_specification_that_is_broken.html",
        "test_specified.py-test_twice.html",
        "test_specified.py-test_twice-2.html",
    }


@pytest.mark.parametrize(
    ("chosen", "lines", "says"),
    [
        ("ci", ["few: runs=1"], "--antiphon-profile ci: no such line .* it has few"),
        ("few", ["few: rnus=1"], "few: no budget 'rnus'; known: max_seconds, "),
        ("few", ["few: runs=many"], "few: runs=many: invalid literal"),
    ],
)
def test_a_profile_that_cannot_be_read_ends_pytest(chosen: str, lines: list[str], says: str) -> None:
    config: Any = SimpleNamespace(getoption=lambda *_: chosen, getini=lambda _: lines, stash={})
    with pytest.raises(pytest.UsageError, match=says):
        pytest_configure(config)


def test_the_plugin_loads_nothing_of_the_house() -> None:
    """An installed plugin costs nothing in a run whose tests ask no question."""
    program = (
        "import sys, time, pytest\n"
        "before, began = set(sys.modules), time.process_time()\n"
        "import antiphon.pytest_plugin\n"
        "print(time.process_time() - began, *sorted(set(sys.modules) - before))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    seconds, *loaded = ran.stdout.split()
    assert {"antiphon", "antiphon.pytest_plugin"} == set(loaded)
    assert float(seconds) < 0.010


def test_pytest_finds_the_plugin_by_its_entry_point(request: pytest.FixtureRequest) -> None:
    assert request.config.pluginmanager.get_plugin("antiphon") is sys.modules["antiphon.pytest_plugin"]
    assert antiphon.__version__
