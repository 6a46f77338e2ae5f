"""Code that is not ours decides neither the exit code nor whether there is an answer."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import Run

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


@pytest.mark.parametrize(
    "asked",
    [
        ("-m", "antiphon.conformance.cli", "lockstep", "endless.py:Real"),
        pytest.param(("-m", "pytest", "-q", "-p", "no:cacheprovider", "endless.py"), marks=pytest.mark.deep),
    ],
)
def test_code_that_catches_what_would_end_it_is_ended_with_a_finding(
    tmp_path: Path, asked: tuple[str, ...]
) -> None:
    """End of the process: the finding on standard error, and the exit code of a violation."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    ran = subprocess.run(
        [sys.executable, *asked], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == 1, ran.stderr
    assert "✗ violated  Real: put_out() does not return" in ran.stderr
    assert f"{tmp_path / 'endless.py'}:" in ran.stderr
    assert ran.stderr.endswith("the steps:\n  1  light()\n  2  put_out()\n")
