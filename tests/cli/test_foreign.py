"""Code that is not ours decides neither the exit code nor whether there is an answer."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import Run

from antiphon.conformance.cli import app
from antiphon.spec.lang import calls
from antiphon.spec.lang.calls import Record

IMPORTS = {
    "exits": "import sys\nsys.exit(0)",
    "quits": "quit()",
    "ends": "import os\nos._exit(0)",
    "interrupts": "raise KeyboardInterrupt",
    "closes": "raise GeneratorExit",
    "descends": "def deep():\n    deep()\ndeep()",
    "fails": "1 / 0",
    "mute": "class Mute(Exception):\n    def __str__(self):\n        1 / 0\nraise Mute",
}

COMMANDS = ["simulate", "refine", "lockstep", "stateful", "swarm", "cluster"]


@pytest.mark.sampled(16)
@pytest.mark.parametrize(
    ("command", "name"),
    [*(("check", name) for name in IMPORTS), *((command, "exits") for command in COMMANDS)],
)
def test_a_file_that_ends_the_process_when_it_is_imported_is_wrong_usage(
    antiphon: Run, tmp_path: Path, name: str, command: str
) -> None:
    file = tmp_path / f"script_{name}_{command}.py"
    file.write_text(IMPORTS[name] + "\n")
    for arguments in ([command, file], [command, file, "--json"]):
        answer = antiphon(*arguments)
        assert answer.code == 64
        assert f"{file}:" in answer.err
    assert str(file) in answer.document.message


def test_a_trace_of_a_module_that_ends_the_process_is_wrong_usage(
    antiphon: Run, tmp_path: Path, trace: Path
) -> None:
    (tmp_path / "script_of_trace.py").write_text("import sys\nsys.exit(0)\n")
    trace.write_text(trace.read_text().replace("cli_courier:", "script_of_trace:"))
    answer = antiphon("replay", trace)
    assert answer.code == 64
    assert "sys.exit(0)" in answer.err


BINDING = """
    import atexit, io, os, sys
    from tests.compare.lockstep.conftest import FloodBinding

    class Closes(FloodBinding):
        def drive(self, me, snapshot, step, datagram):
            if not sys.stdout.closed:
                print("noise")
            sys.stdout.close()
            sys.stderr = io.StringIO()

    class Ends(FloodBinding):
        def perform(self, me, snapshot, step, datagram):
            atexit.register(lambda: os._exit(0))
            os._exit(0)

    class Forks(FloodBinding):
        def perform(self, me, snapshot, step, datagram):
            os.fork()
            return super().perform(me, snapshot, step, datagram)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("name", "code"), [("Closes", 0), ("Ends", 1), ("Forks", 0)])
def test_a_binding_has_no_say_in_the_exit_code_and_the_document(tmp_path: Path, name: str, code: int) -> None:
    """In a process of its own, whose streams and whose end are real."""
    (tmp_path / "ways.py").write_text(textwrap.dedent(BINDING))
    root = Path(__file__).resolve().parents[2]
    ran = subprocess.run(
        [sys.executable, "-m", "antiphon.conformance.cli", "lockstep", f"ways.py:{name}", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
    )
    document = msgspec.json.decode(ran.stdout)
    assert ran.returncode == document["exit_code"] == code
    assert document["outcome"] == {0: "holds", 1: "violated"}[code]


SPOKEN = """
from antiphon.spec.lang import Spec, action, require
from antiphon.testing import Refused, binding

NAME = b"caf\\xe9".decode("utf-8", "surrogateescape")


class Lamp(Spec):
    lit: bool = False

    @action
    def light(self) -> None:
        require(not self.lit)
        self.lit = True


class Named:
    def __repr__(self):
        return NAME


@binding(Lamp)
class Real:
    lit = False

    def light(self):
        {way}

    def state(self):
        return {{"lit": self.lit}}
"""

WAYS = {"raises": "raise OSError(NAME)", "refuses": "raise Refused(NAME)", "becomes": "self.lit = Named()"}


@pytest.mark.parametrize("way", WAYS)
def test_a_text_that_is_no_utf_8_is_a_finding_in_every_report(
    antiphon: Run, tmp_path: Path, way: str
) -> None:
    """The name of a file may be in another encoding; the byte that has no letter is escaped."""
    file = tmp_path / f"spoken_{way}.py"
    file.write_text(SPOKEN.format(way=WAYS[way]))
    reports = {f"--{name}": tmp_path / f"report.{name}" for name in ("save", "sarif", "html", "junit")}
    answer = antiphon(
        "lockstep", f"{file}:Real", "--json", *(word for asked in reports.items() for word in asked)
    )
    assert answer.code == 1, answer.err
    assert r"caf\udce9" in answer.document.difference.implementation
    texts = {option: written.read_text(encoding="utf-8") for option, written in reports.items()}
    assert [option for option, text in texts.items() if r"caf\udce9" not in text.replace(r"\\", "\\")] == []


ENDLESS = """
from antiphon.spec.lang import Spec, action, require
from antiphon.testing import binding


class Lamp(Spec):
    lit: bool = False

    @action
    def light(self) -> None:
        require(not self.lit)
        self.lit = True

    @action
    def put_out(self) -> None:
        require(self.lit)
        self.lit = False


@binding(Lamp, call_seconds=0.1)
class Real:
    lit = False

    def light(self):
        self.lit = True

    def put_out(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass

    def state(self):
        return {"lit": self.lit}


def test_it(antiphon):
    antiphon.lockstep(Real)
"""


@pytest.mark.deep
def test_code_that_catches_what_would_end_it_ends_a_test_with_a_finding(tmp_path: Path) -> None:
    """End of the process: the finding on standard error, and the exit code of a violation."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    asked = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "endless.py")
    ran = subprocess.run(
        [sys.executable, *asked], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 1, ran.stderr
    assert "✗ violated  Real: put_out() does not return" in ran.stderr
    assert f"{tmp_path / 'endless.py'}:" in ran.stderr
    assert ran.stderr.endswith("the steps:\n  1  light()\n  2  put_out()\n")


UNINTERRUPTED = "put_out() does not return, and lets nothing interrupt it"

ENDS = {
    "crashes": ("ctypes.string_at(0)", "put_out() is ended by SIGSEGV"),
    "kills itself": ("os.kill(os.getpid(), signal.SIGKILL)", "put_out() is ended by SIGKILL"),
    "catches everything": (
        "while True:\n            try:\n                time.sleep(9)\n            except BaseException: 1",
        "and catches what would end it",
    ),
    "ignores alarms": ("signal.signal(signal.SIGALRM, signal.SIG_IGN); time.sleep(1000)", UNINTERRUPTED),
    "holds the interpreter": ("sum(range(10**15))", UNINTERRUPTED),
}
"""Code of a step that never returns, or ends the process, and what is found."""


@pytest.mark.parametrize(
    "name",
    [
        "crashes",
        "catches everything",
        "ignores alarms",
        pytest.param("kills itself", marks=pytest.mark.deep),
        pytest.param("holds the interpreter", marks=pytest.mark.deep),
    ],
)
def test_a_step_that_ends_the_process_or_never_returns_is_a_finding_with_its_steps(
    tmp_path: Path, name: str
) -> None:
    """The document and the reports are those of every finding."""
    does, told = ENDS[name]
    _write(tmp_path / "ends.py", does, call_seconds=0.5)
    ran = _run(tmp_path, "lockstep", "ends.py:Real", "--json", "--junit", "junit.xml")
    assert ran.returncode == 1, ran.stderr
    document = msgspec.json.decode(ran.stdout)
    assert document["outcome"] == "violated"
    assert told in document["difference"]["implementation"]
    steps = [step["step"] for step in document["difference"]["trace"]["steps"]]
    assert steps == ["light()", "put_out()"]
    assert told in (tmp_path / "junit.xml").read_text()


def test_the_time_of_a_call_that_ended_an_earlier_process_is_not_that_of_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the process that does the work again would have no time left to come to the finding."""
    record, ask = Record(), ["check", "two-phase", "--max-seconds", "600"]
    monkeypatch.setattr(calls, "_records", [record])
    began = time.monotonic() - 10_000
    assert app.run(ask, began) == 2
    record.lost_s = 10_000.0
    assert app.run(ask, began) == 0


@pytest.mark.deep
def test_a_step_that_never_returns_is_found_within_the_time_of_the_command(tmp_path: Path) -> None:
    _write(tmp_path / "ends.py", ENDS["catches everything"][0], call_seconds=4.0)
    ran = _run(tmp_path, "lockstep", "ends.py:Real", "--max-seconds", "8")
    assert ran.returncode == 1, ran.stdout
    assert "put_out() does not return" in ran.stdout


def test_random_runs_show_the_shortest_steps_to_the_end_of_the_process(tmp_path: Path) -> None:
    _write(tmp_path / "ends.py", "self.lit = False; Real.calls += 1; Real.calls > 3 and ctypes.string_at(0)")
    ran = _run(tmp_path, "stateful", "ends.py:Real", "--seed", "1")
    assert ran.returncode == 1, ran.stderr
    assert "after 2 steps, at put_out(): the implementation ends the process" in ran.stdout
    assert ran.stdout.count("seed ") == 2, "the first line, and the last"


def test_a_thread_that_the_code_leaves_running_is_named_and_not_waited_for(tmp_path: Path) -> None:
    does = "threading.Thread(target=time.sleep, args=(1000,)).start(); self.lit = False"
    _write(tmp_path / "leaves.py", does)
    ran = _run(tmp_path, "lockstep", "leaves.py:Real")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("✓ holds")
    assert "has left threads running, which end now: Thread-" in ran.stderr


def test_an_import_that_never_ends_is_ended_with_the_time(tmp_path: Path) -> None:
    (tmp_path / "never.py").write_text("import time\nwhile True:\n    time.sleep(1)\n")
    ran = _run(tmp_path, "lockstep", "never.py", "--max-seconds", "5")
    assert ran.returncode == 64
    assert "the import of never does not return, and the time of --max-seconds is over" in ran.stderr


def test_a_signal_to_the_command_reaches_the_process_that_works(tmp_path: Path) -> None:
    """And the exit code is that of an interruption, with nothing left running."""
    _write(tmp_path / "waits.py", "open('here', 'w').close(); time.sleep(1000)", call_seconds=1000)
    working = subprocess.Popen(
        [sys.executable, "-m", "antiphon.conformance.cli", "lockstep", "waits.py:Real"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 50
    while not (tmp_path / "here").exists() and time.monotonic() < until:
        time.sleep(0.05)
    working.send_signal(signal.SIGINT)
    out, err = working.communicate(timeout=20)
    assert (working.returncode, out) == (130, "seed 0 (of the sample)\n")
    assert err.endswith("antiphon: interrupted\n")


def _write(file: Path, does: str, call_seconds: float = 0.1) -> None:
    """Write a specification with a binding of which `put_out` does this."""
    before, _, after = ENDLESS.partition("        while True:\n")
    text = f"{before}        {does}\n{after[after.index('    def state'):]}"
    text = text.replace("    lit = False\n\n    def", "    lit = False\n    calls = 0\n\n    def")
    text = text.replace("call_seconds=0.1", f"call_seconds={call_seconds}")
    file.write_text(f"import ctypes, os, signal, threading, time\n{text}")


def _run(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own, as users do."""
    return subprocess.run(
        [sys.executable, "-m", "antiphon.conformance.cli", *arguments], cwd=directory, capture_output=True,
        text=True, check=False, timeout=100,
    )  # fmt: skip
