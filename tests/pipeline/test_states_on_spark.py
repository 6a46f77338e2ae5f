"""Wide levels are explored by tasks of Spark: counts, verdicts and traces are those of machine code."""

from pathlib import Path

import msgspec
import pytest

import antiphon
from antiphon.conformance.states.checking import check_on_spark
from antiphon.conformance.states.lake import Content, Lake, LakeError
from antiphon.model.bounds import Bounds
from antiphon.model.explore import check

PROGRAM = antiphon.program("two-phase", managers=5)


def test_levels_on_spark_are_those_of_machine_code(master: str, tmp_path: Path) -> None:
    """The widest levels are; the way to the witness goes back through them."""
    native = check(PROGRAM, engine="native")
    report = check_on_spark(PROGRAM, tmp_path / "lake", master=master, narrow=1_200, partitions=2)
    jobs = int(report.notes[-1].partition("; ")[2].split()[0])
    assert 4 <= jobs <= 10
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
