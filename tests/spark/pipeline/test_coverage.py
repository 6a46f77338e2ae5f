"""Transitions of a bounded model that a lake's swarms have exercised, on Spark and in plain Python.

How a run is read as a path is tested in tests/coverage.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from antiphon.conformance.cli import main
from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.compare.bindings.core_binding import CoreBinding
from antiphon.conformance.coverage.model import Model
from antiphon.conformance.run.swarm import FaultKind, Settings, keep, run_seed
from antiphon.conformance.spark.coverage import coverage, rows_of
from antiphon.conformance.spark.pipeline import PipelineError, ingest, swarm
from antiphon.conformance.spark.pipeline.lake import batches_of
from antiphon.model.engines import transitions_of
from antiphon.model.notation import compact_step

SMALL = bound_protocol("total").small
BINDING = bound_protocol("total").bind(**SMALL)
assert isinstance(BINDING, CoreBinding)
SETTINGS = Settings(members=2, messages=2, faults=(FaultKind.LOSS, FaultKind.REORDERING))
RUNS = 12


@pytest.fixture(scope="module")
def lake(master: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("covered") / "la ke"
    for seed in (1, 1 + RUNS):
        swarm("total", runs=RUNS, seed=seed, settings=SETTINGS, master=master, lake=place, sample=0)
    swarm("total", runs=5, seed=1, settings=Settings(messages=1), master=master, lake=place, sample=0)
    ingest([keep(run_seed("total", 1, Settings(messages=1, logs=True)), place.parent)], place, master)
    return place


@pytest.mark.deep
def test_the_join_on_spark_says_what_plain_python_says(lake: Path, master: str) -> None:
    """By action, by transition, and of the runs; what was read is kept."""
    found = coverage("total", lake, constants=SMALL, master=master)
    results = [
        row
        for batch in batches_of(lake)
        if batch.directory.joinpath("coverage").exists()
        for row in parquet.read_table(batch.directory / "swarm").to_pylist()
    ]
    assert len(results) == found.runs == 2 * RUNS
    assert found.batches == 2
    told = [(row["seed"], row["steps"], row["sent"]) for row in results]
    taken: Counter[tuple[bytes, str]] = Counter()
    left: Counter[str] = Counter()
    for row in rows_of("total", SMALL, SETTINGS, told):
        if row["before"] is None:
            left[row["step"]] += row["times"]
        else:
            taken[row["before"], row["step"]] += row["times"]
    everything = {
        (row.before, row.step): row._asdict() for row in Model(BINDING).rows()
    }
    assert taken.keys() <= everything.keys()
    assert found.left == left
    assert sum(left.values()) == found.runs
    assert [(each.action, each.transitions, each.exercised, each.times) for each in found.actions] == sorted(
        (
            action,
            sum(row["action"] == action for row in everything.values()),
            sum(everything[key]["action"] == action for key in taken),
            sum(times for key, times in taken.items() if everything[key]["action"] == action),
        )
        for action in {row["action"] for row in everything.values()}
    )
    assert 0 < found.total("exercised") < found.total("transitions") == len(everything)
    assert all(everything[key]["prompt"] for key in taken)
    assert found.total("prompt") == sum(row["prompt"] for row in everything.values())
    table = parquet.read_table(found.tables).to_pylist()
    assert {(row["before"], row["step"]): row["times"] for row in table} == {
        key: taken[key] for key in everything
    }
    for each in found.actions:
        depths = [row["depth"] for row in table if row["action"] == each.action and not row["times"]]
        assert (each.never is None) == (not depths)
        if each.never is not None:
            assert len(each.never) == 1 + min(depths)
            edges = transitions_of(each.never.program)
            before = edges.pack(each.never.states[-2])
            key = before.to_bytes(-(-before.bit_length() // 8) or 1, "little")
            assert everything[key, compact_step(each.never.steps[-1])]["action"] == each.action
            assert (key, compact_step(each.never.steps[-1])) not in taken


@pytest.mark.deep
def test_what_lies_beyond_a_bound_is_counted_apart(
    lake: Path, master: str, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = coverage("total", lake, constants=SMALL, master=master)  # reads what is kept
    assert (whole.model.complete, whole.beyond) == (True, 0)
    asked = ["coverage", "total", "--lake", str(lake), "--master", master, "--max-depth", "4", "--json"]
    assert main(asked) == 0
    part = json.loads(capsys.readouterr().out)
    assert not part["complete"]
    assert part["exercised"] == sum(each["exercised"] for each in part["actions"])
    assert 0 < part["exercised"] < whole.total("exercised") == part["exercised"] + part["beyond"]


@pytest.mark.deep
def test_the_command_shows_the_way_to_what_was_never_taken(
    lake: Path, master: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "never.itf.json"
    asked = ["coverage", "total", "--lake", str(lake), "--master", master, "--action", "lose"]
    assert main([*asked, "--save", str(file)]) == 0
    text = capsys.readouterr().out
    assert "24 runs of 2 swarms" in text
    assert "not read: 1 run of no swarm, whose logs do not tell what was in their datagrams" in text
    assert "not read: 5 runs of other swarms" in text
    assert "no run has taken lose(" in text
    assert main(["replay", str(file), "--on", "implementation"]) == 0
    assert "agree in all" in capsys.readouterr().out
    assert main([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["exercised"] == sum(each["exercised"] for each in document["actions"]) > 0
    assert (document["ingested"], document["others"]) == (1, 5)
    assert main([*asked[:-1], "nothing"]) == 64
    assert "the model takes no step 'nothing'" in capsys.readouterr().err


def test_a_lake_without_such_runs_is_wrong_usage_and_other_runs_are_told(
    master: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    place = tmp_path / "la ke"
    ingest([keep(run_seed("total", 1, Settings(messages=1, logs=True)), tmp_path)], place, master)
    assert main(["coverage", "rbp", "--lake", str(place), "--master", master]) == 64
    told = capsys.readouterr().err
    assert "no batch is a swarm of rbp with 3 members" in told
    assert "runs that were ingested cannot be read" in told
    assert "make one: antiphon swarm rbp --messages 1 --runs 10000 --lake" in told
    with pytest.raises(PipelineError, match="was it made by another release"):
        rows_of("total", SMALL, SETTINGS, [(1, 0, 0)])
