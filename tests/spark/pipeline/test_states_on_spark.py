"""Wide levels are explored by tasks of Spark: counts, verdicts and traces are those of machine code, also
after a worker or the command was killed in the middle.
"""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import antiphon
from antiphon.conformance.spark.states import checking
from antiphon.conformance.spark.states.checking import check_on_spark
from antiphon.conformance.spark.states.lake import Content, Lake, LakeError, locked_lake
from antiphon.model.bounds import Bounds
from antiphon.model.engines.native.driver.batcher import Words
from antiphon.model.explore import check
from antiphon.model.verdict import Report
from antiphon.spec.catalogue import ENTRIES

PROGRAM = antiphon.program("two-phase", managers=5)


def is_that_of_machine_code(report: Report) -> None:
    """Counts, verdicts and the trace to the witness are."""
    native = check(PROGRAM, engine="native")
    mine, theirs = report.exploration, native.exploration
    assert (mine.states, mine.transitions, mine.depth, mine.fired) == (
        theirs.states, theirs.transitions, theirs.depth, theirs.fired
    )  # fmt: skip
    for verdict in native.verdicts:
        assert report[verdict.property].outcome is verdict.outcome
    shown, expected = report["all_committed"].trace, native["all_committed"].trace
    assert shown is not None
    assert expected is not None
    assert shown.steps == expected.steps


def jobs(report: Report) -> int:
    return int(report.notes[-1].partition("; ")[2].split()[0])


def test_levels_on_spark_are_those_of_machine_code(master: str, tmp_path: Path) -> None:
    """The widest levels are; the way to the witness goes back through them."""
    report = check_on_spark(PROGRAM, tmp_path / "lake", master=master, narrow=1_200, partitions=2)
    assert 4 <= jobs(report) <= 10
    is_that_of_machine_code(report)


class DyingLake(Lake):
    """A lake whose worker is killed at level 9, when it has written the first part."""

    def write_part(self, level: int, partition: int, rows: Words) -> None:
        """Write the part, and die."""
        super().write_part(level, partition, rows)
        if level == 9:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_ends_the_command_and_the_lake_goes_on(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "lake"

    @contextmanager
    def dying(directory: Path) -> Iterator[Lake]:
        with locked_lake(directory) as lake:
            yield DyingLake(lake.directory)

    with monkeypatch.context() as patched:
        patched.setattr(checking, "locked_lake", dying)
        with pytest.raises(LakeError, match="a worker of Spark was killed, perhaps for its memory: the same"):
            check_on_spark(PROGRAM, directory, master=master, narrow=1_200, partitions=2)
    content = Lake(directory).read()
    assert content is not None
    assert len(content.levels) == 9
    assert list((directory / "levels" / "0009").iterdir())
    is_that_of_machine_code(check_on_spark(PROGRAM, directory, master=master))


def test_what_a_task_refuses_is_told_and_the_lake_goes_on(
    master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run is damaged while the search goes on: here, after the lake was looked through."""
    lake = Lake(tmp_path / "lake")
    check_on_spark(PROGRAM, lake.directory, master=master, partitions=1, bounds=Bounds(depth=5))
    content = msgspec.json.decode(lake.index.read_bytes(), type=Content)
    file = lake.runs(0) / content.known[0][0].name
    whole = file.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr(Lake, "read", lambda _: content)
        file.write_bytes(whole[:-8])
        with pytest.raises(LakeError, match="is not what the search left here"):
            check_on_spark(PROGRAM, lake.directory, master=master, narrow=0)
    file.write_bytes(whole)
    report = check_on_spark(PROGRAM, lake.directory, master=master)
    assert report.exploration.states == check(PROGRAM).exploration.states


EXPLORING = """
import sys
from pathlib import Path
import antiphon
from antiphon.conformance.spark.states.checking import check_on_spark

check_on_spark(antiphon.program("two-phase", managers=5), Path(sys.argv[1]), master="local[2]", narrow=1)
"""


@pytest.mark.deep
def test_a_command_that_is_killed_while_spark_works_goes_on_at_the_last_whole_level(tmp_path: Path) -> None:
    """SIGKILL: nothing is said to Spark, whose Java ends with the command. It takes half a minute, since a
    command of its own starts Spark.
    """
    lake = Lake(tmp_path / "lake")
    with subprocess.Popen([sys.executable, "-c", EXPLORING, str(lake.directory)]) as command:
        until = time.monotonic() + 120
        while not list(lake.directory.glob("found/0008/*.rows")):
            assert command.poll() is None
            assert time.monotonic() < until
            time.sleep(0.002)
        command.kill()
    content = lake.read()
    assert content is not None
    whole = len(content.levels)
    assert whole in (8, 9)
    is_that_of_machine_code(check_on_spark(PROGRAM, lake.directory, narrow=1 << 40))


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """The script that compares counts; a script is no package, so that it is loaded from its file."""
    file = Path(__file__).resolve().parents[3] / "benchmarks" / "states_on_spark.py"
    spec = importlib.util.spec_from_file_location("states_on_spark", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_specification_of_the_catalogue_is_compared_or_small(benchmark: ModuleType) -> None:
    compared = {name.partition(":")[0] for name in benchmark.COMPARED}
    assert compared.isdisjoint(benchmark.SMALL)
    assert sorted([*compared, *benchmark.SMALL]) == sorted(entry.name for entry in ENTRIES)


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    ["chandra-toueg", "figure-2:messages=3", "horus-nak", "pinwheel", "raft", "rbp-resilient", "reformation"],
)
def test_counts_of_the_catalogue_are_those_of_machine_code(
    name: str, benchmark: ModuleType, master: str, tmp_path: Path
) -> None:
    """All are compared by `benchmarks/states_on_spark.py --registered`; these take seconds."""
    assert name in benchmark.COMPARED
    _, program = benchmark.named(name)
    native = check(program, properties=[], engine="native").exploration
    report = check_on_spark(program, tmp_path / "lake", master=master, narrow=20_000, properties=[])
    mine = report.exploration
    assert native.states > 100_000
    assert (mine.states, mine.transitions, mine.depth) == (native.states, native.transitions, native.depth)
    assert jobs(report) > 0 or name == "horus-nak"
