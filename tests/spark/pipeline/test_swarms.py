"""A swarm on Spark shows what the same seeds show in one process, however they are cut, and fills a lake.

What the swarm itself finds is tested in tests/run/swarm.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.cli import main
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.swarm import Settings, SwarmReport, keep, run_seed, run_swarm, shortened
from antiphon.conformance.spark.pipeline import InputError, PipelineError, swarm, swarms, verify
from antiphon.conformance.spark.pipeline.columns import events_of
from antiphon.conformance.spark.pipeline.lake import batches_of
from antiphon.model.verdict import Outcome

FAULTY = Settings(planted="passes-one", messages=8)
RUNS, SEED = 22, 1


@pytest.fixture(scope="module")
def alone() -> SwarmReport:
    report = run_swarm("total", runs=RUNS, seed=SEED, settings=FAULTY)
    assert 0 < len(report.failed) < RUNS
    return report


def without_times(report: SwarmReport) -> SwarmReport:
    return dataclasses.replace(report, seconds=0.0, processor_ns=0)


@pytest.mark.deep
def test_seeds_show_the_same_in_one_process_and_on_spark(alone: SwarmReport, master: str) -> None:
    """Verdicts, statistics and coverage; what fails first comes with its schedule, so it is made as short."""
    there = swarm("total", runs=RUNS, seed=SEED, settings=FAULTY, master=master)
    assert there.batch is None
    assert without_times(there.report) == without_times(alone)
    first = there.report.failed[0]
    assert shortened(first, FAULTY) == shortened(alone.failed[0], FAULTY)
    assert min(sum(alone.messages.values()), sum(alone.actions.values()), sum(alone.met.values())) > 0


@pytest.mark.deep  # the next test divides the seeds in two ways as well, and its batches are of all rows
def test_no_row_depends_on_how_many_tasks_there_are(alone: SwarmReport, spark: SparkSession) -> None:
    work = swarms._Swarm("total", range(SEED, SEED + RUNS), FAULTY)
    in_tasks = []
    for tasks in (1, 2, 3):
        results = work.results(spark, tasks)
        assert results.rdd.getNumPartitions() == tasks
        rows = [row.asDict() | {"processor_ns": 0} for row in results.orderBy("seed").collect()]
        in_tasks.append(rows)
    assert in_tasks[0] == in_tasks[1] == in_tasks[2]
    assert len(in_tasks[0]) == RUNS
    failing = [row["seed"] for row in in_tasks[0] if row["outcome"] != Outcome.HOLDS.value]
    assert failing == [result.seed for result in alone.failed]


def test_a_lake_keeps_what_fails_and_a_sample_once_however_seeds_are_cut(
    alone: SwarmReport, master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second time nothing is new."""
    lake = tmp_path / "la ke"
    one = swarm("total", runs=RUNS, seed=SEED, settings=FAULTY, master=master, lake=lake, sample=4)
    monkeypatch.setattr(swarms, "cores", lambda _: 1)
    two = swarm("total", runs=RUNS, seed=SEED, settings=FAULTY, master=master, lake=lake, sample=4)
    assert (one.is_new, two.is_new) == (True, False)
    assert without_times(one.report) == without_times(two.report) == without_times(alone)
    (batch,) = batches_of(lake)
    assert one.batch == two.batch == batch
    failing = {result.seed for result in alone.failed}
    runs = {row["path"]: row for row in parquet.read_table(batch.directory / "runs").to_pylist()}
    sampled = {SEED + k * RUNS // 4 for k in range(4)}
    command = "antiphon swarm total --messages 8 --fault passes-one --runs 1 --seed"
    assert set(runs) == {f"{command} {seed}" for seed in failing | sampled}
    assert parquet.read_table(batch.directory / "swarm").num_rows == RUNS

    result = run_seed("total", min(failing), FAULTY)
    mine = runs[f"{command} {result.seed}"]
    assert mine["name"] == result.name
    logged = load_run(keep(result, tmp_path)).events
    table = parquet.read_table(batch.directory / "events", filters=[("run", "=", mine["run"])])
    assert [event for _, event in events_of(table)] == [event for log in logged for event in log]
    assert parquet.read_table(batch.directory / "events").num_rows == batch.events + batch.runs


@pytest.mark.deep  # the rows are those of an ingestion, by the test above, and tests of lakes judge these
def test_the_judge_of_lakes_agrees_with_the_swarm(alone: SwarmReport, master: str, tmp_path: Path) -> None:
    swarm("total", runs=RUNS, seed=SEED, settings=FAULTY, master=master, lake=tmp_path, sample=4)
    failing, sampled = {result.seed for result in alone.failed}, {SEED + k * RUNS // 4 for k in range(4)}
    judged = verify(tmp_path, master)
    assert judged.outcome == "violated"
    assert judged.runs == len(failing | sampled)
    assert judged.counts["Agreement"]["holds"] >= len(sampled - failing)


def test_a_swarm_without_anything_to_keep_leaves_its_results(master: str, tmp_path: Path) -> None:
    few = Settings(messages=2)
    done = swarm("rbp", runs=3, seed=1, settings=few, master=master, lake=tmp_path / "lake", sample=0)
    assert done.batch is not None
    assert (done.batch.runs, done.batch.events) == (0, 0)
    assert verify(tmp_path / "lake", master).outcome == "unknown"


def test_executors_with_other_code_are_told(
    alone: SwarmReport, master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a report of a failing run would show another run."""
    other = dataclasses.replace(alone.failed[0], reasons=("another",))
    monkeypatch.setattr(swarms, "run_seed", lambda *_: other)
    with pytest.raises(PipelineError, match=r"went otherwise on an executor than here: .*; do all machines"):
        swarms._Swarm("total", range(1, 2), FAULTY)._repeat(alone.failed[0])


def test_what_a_swarm_on_spark_cannot_take_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="a seed has 63 bits and a sign"):
        swarm("rbp", runs=2, seed=2**63 - 1)
    (tmp_path / "file").write_text("")
    for words, told in (
        (("--spark", "--jobs", "2"), "--jobs are processes without Spark"),
        (("--lake", str(tmp_path)), "not a lake"),
    ):
        assert main(["swarm", "rbp", "--runs", "2", "--seed", "1", *words]) == 64
        assert told in capsys.readouterr().err
