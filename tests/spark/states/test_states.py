"""Levels in a lake give the counts, verdicts and traces of the engine in machine code, whatever ended the run
before: here in this process; on Spark in `tests/spark/pipeline/test_states_on_spark.py`."""

import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import antiphon
from antiphon.conformance.spark.pipeline.errors import InputError
from antiphon.conformance.spark.states.checking import check_on_spark
from antiphon.conformance.spark.states.lake import Lake, LakeError, locked_lake
from antiphon.model.bounds import Bounds, StopReason
from antiphon.model.engines.native.driver.batcher import Words
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import Program

TWO_PHASE = antiphon.program("two-phase", managers=5)
HERE = 1 << 40
"""No level is so wide: none goes to Spark."""
HEX = "0" * 32

FAULTY = '''
from typing import Annotated
from antiphon.spec.lang import Between, Const, Spec, action, environment, invariant, require, witness

class Faulty(Spec):
    """Counts, and divides by what may be zero; at the end nothing but a fault is possible."""

    most: Const[int] = 4
    wrong_step: Const[bool] = False
    wrong_predicate: Const[bool] = False
    count: Annotated[int, Between(0, 6)] = 0
    lost: bool = False

    @action
    def add(self) -> None:
        require(self.count < self.most)
        self.count = self.count + 1

    @action
    def jump(self) -> None:
        require(self.wrong_step and self.count == self.most)
        self.count = 6 // (self.most - self.count)

    @environment
    def lose(self) -> None:
        require(not self.lost)
        self.lost = True

    @invariant
    def never_lost(self) -> bool:
        return not self.lost or self.count < 2

    @invariant
    def divisible(self) -> bool:
        return not self.wrong_predicate or 6 // (2 - self.count) != 7

    @witness
    def all_counted(self) -> bool:
        return self.count == self.most
'''


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The place of a specification in a file."""
    file = tmp_path_factory.mktemp("specification") / "faulty_counter.py"
    file.write_text(FAULTY)
    return f"{file}:Faulty"


def explored(program: Program, lake: Path, *properties: str, bounds: Bounds | None = None) -> Report:
    return check_on_spark(
        program, lake, narrow=HERE, partitions=3, properties=properties or None, bounds=bounds or Bounds()
    )


def same(report: Report, other: Report) -> None:
    """Counts, coverage, verdicts and traces are the same."""
    counts = [
        (
            item.exploration.states,
            item.exploration.transitions,
            item.exploration.depth,
            item.exploration.fired,
        )
        for item in (report, other)
    ]
    assert counts[0] == counts[1]
    for mine, theirs in zip(report.verdicts, other.verdicts, strict=True):
        assert (mine.property, mine.outcome, mine.reason) == (theirs.property, theirs.outcome, theirs.reason)
        assert (mine.trace and mine.trace.steps) == (theirs.trace and theirs.trace.steps)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("program", "properties"),
    [
        (TWO_PHASE, ["consistent", "all_committed", "deadlock"]),
        (
            antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"]),
            ["Integrity", "UniformIntegrity", "Recovered", "deadlock"],
        ),
        (
            antiphon.program("sequencer", processes=2, messages=2),
            ["EntriesOfMembers", "NextNumber", "UniformPrefixOrder", "TotalOrder", "Resent"],
        ),
    ],
    ids=["two-phase", "figure-5", "sequencer"],
)
def test_counts_verdicts_and_traces_are_those_of_machine_code(
    program: Program, properties: list[str], tmp_path: Path
) -> None:
    native = check(program, properties=properties, engine="native")
    same(explored(program, tmp_path / "lake", *properties), native)
    assert native.exploration.complete


def test_what_needs_the_graph_is_unknown_and_no_pass(tmp_path: Path) -> None:
    report = explored(antiphon.program("chang-roberts", nodes=3), tmp_path / "ring")
    assert report["Liveness"].outcome is Outcome.UNKNOWN
    assert "graph" in report["Liveness"].reason
    figure = antiphon.program("figure-5", processes=2, messages=1, repairs="all")
    assert check(figure, properties=["Agreement"]).outcome is Outcome.HOLDS
    report = explored(figure, tmp_path / "figure", "Recovered", "Agreement")
    assert [item.outcome for item in report.verdicts] == [Outcome.HOLDS, Outcome.UNKNOWN]


KILLED = """
import os, signal, sys
from pathlib import Path
import antiphon
from antiphon.conformance.spark.states import running
from antiphon.conformance.spark.states.checking import check_on_spark

take_in, taken = running.take_in, []

def killed(work, partition, blocks):
    told = take_in(work, partition, blocks)
    taken.append(partition)
    if work.level == 9 and partition == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return told

running.take_in = killed
check_on_spark(antiphon.program("two-phase", managers=5), Path(sys.argv[1]), narrow=1 << 40, partitions=3)
"""


@pytest.mark.deep
def test_a_run_that_is_killed_in_a_level_goes_on_at_the_last_whole_one(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(lake)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (lake / "levels" / "0009" / "part-00001.parquet").exists(), "it was killed within a level"
    with locked_lake(lake) as kept:
        content = kept.read()
    assert content is not None
    assert len(content.levels) == 9
    (lake / "levels" / "0009" / "part-00002.parquet.0.aside").write_bytes(b"half")
    same(explored(TWO_PHASE, lake), check(TWO_PHASE, engine="native"))
    assert not list(lake.rglob("*.aside"))


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of a level go to a device that is always full."""
    lake = tmp_path / "lake"
    write_part = Lake.write_part

    def write(kept: Lake, level: int, partition: int, rows: Words) -> None:
        if (level, partition) == (9, 1):
            aside = kept.level(level) / f"part-00001.parquet.{HEX}.aside"
            aside.parent.mkdir(parents=True, exist_ok=True)
            aside.symlink_to("/dev/full")
        write_part(kept, level, partition, rows)

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "write_part", write)
        patched.setattr(uuid, "uuid4", lambda: uuid.UUID(HEX))
        with pytest.raises(LakeError, match="0009 is full: the same command goes on at the last whole level"):
            explored(TWO_PHASE, lake)
    with locked_lake(lake) as kept:
        content = kept.read()
    assert content is not None
    assert len(content.levels) == 9
    same(explored(TWO_PHASE, lake), check(TWO_PHASE, engine="native"))


def test_a_bound_leaves_a_lake_that_goes_on_and_answers_other_questions(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    first = explored(TWO_PHASE, lake, "consistent", bounds=Bounds(states=1_000))
    assert first.exploration.stopped is StopReason.STATES
    assert first["consistent"].outcome is Outcome.UNKNOWN
    native = check(TWO_PHASE, engine="native")
    same(explored(TWO_PHASE, lake), native)
    same(explored(TWO_PHASE, lake), native)


def test_a_later_question_finds_what_an_earlier_search_passed_by(faulty: str, tmp_path: Path) -> None:
    program, lake = antiphon.program(faulty), tmp_path / "lake"
    assert explored(program, lake, "all_counted", "deadlock")["all_counted"].outcome is Outcome.HOLDS
    asked = ["never_lost", "all_counted", "deadlock"]
    native = check(program, properties=asked, engine="native")
    assert [len(item.trace or ()) for item in native.verdicts] == [3, 4, 4]
    same(explored(program, lake, *asked), native)


@pytest.mark.parametrize("wrong", ["wrong_step", "wrong_predicate"])
def test_an_error_of_the_specification_is_found_again_by_every_later_run(
    wrong: str, faulty: str, tmp_path: Path
) -> None:
    program, lake = antiphon.program(faulty, **{wrong: True}), tmp_path / "lake"
    native = check(program, engine="native")
    assert native.verdicts[0].property == "specification"
    for _ in range(2):
        report = explored(program, lake)
        assert report.outcome is native.outcome
        assert report.verdicts[0].reason == native.verdicts[0].reason
        assert len(report.verdicts[0].trace or ()) == len(native.verdicts[0].trace or ())


def test_a_lake_of_another_program_and_one_that_is_damaged_or_in_use_are_refused(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    explored(TWO_PHASE, lake)
    with pytest.raises(LakeError, match="other constants"):
        explored(TWO_PHASE.with_constants(managers=4), lake)
    with locked_lake(lake), pytest.raises(LakeError, match="another search is using it"):
        explored(TWO_PHASE, lake)
    run = next((lake / "known").rglob("*.rows"))
    run.write_bytes(run.read_bytes()[:-8])
    with pytest.raises(LakeError, match="is not what the search left"):
        explored(TWO_PHASE, lake)
    (lake / "search.json").write_bytes(b"{")
    with pytest.raises(LakeError, match="no lake of states"):
        explored(TWO_PHASE, lake)


def test_an_address_that_only_spark_could_read_is_no_place_for_a_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="s3a:/bucket/lake: a lake is a directory that all machines see"):
        explored(TWO_PHASE, Path("s3a://bucket/lake"))
    assert not list(tmp_path.iterdir())


def test_a_program_that_executors_cannot_make_is_refused(tmp_path: Path) -> None:
    from antiphon.spec.examples.die_hard import DieHard

    class Local(DieHard):
        """A class of this function."""

    with pytest.raises(InputError, match="cannot be told to executors"):
        explored(antiphon.program(Local), tmp_path / "lake")
