"""Logs are read into a lake once, whole batches at a time; what one pass finds healthy is healthy."""

import bz2
import gzip
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.cli import main
from antiphon.conformance.history import History, history, judge_history, judge_run
from antiphon.conformance.history.examples import EXAMPLES, FURTHER_EXAMPLES
from antiphon.conformance.pipeline import InputError, LakeReport, PipelineError, ingest, verify
from antiphon.conformance.pipeline.columns import EVENTS, KINDS, events_of
from antiphon.conformance.pipeline.lake import KEY, batches_of
from antiphon.conformance.pipeline.lake import events_of as rows_of
from antiphon.conformance.pipeline.scan import health_of, in_one_pass
from antiphon.conformance.pipeline.session import settings
from antiphon.conformance.trace import LINE_BYTES_MAX, TOO_LONG, Event, load_run, log_name

WriteRun = Callable[[Path, str], None]
Told = Callable[..., dict[str, dict[str, tuple[object, ...]]]]

HEALTHY = [
    "0: +a a b | 1: +b a b",
    "0: +a a>1 a | 1: <a a",
    "0: +a (+a) (a) a +0:2 (+0:2) (0:2) 0:2 | 1: (a) a (0:2) 0:2",
    "0: +a a#3 b#7 | 1: +b a#3 b#7 | 2: a#3 !",
    "0: a>1 0:2>2 <b +a a | 1: <a b>0 <a a | 2: a",
]
WIDE = f"{2**63 - 1}:1"
LARGE = f"0:{'9' * 20}"
SUSPECT = {
    "a circle": "0: a b ! | 1: b c ! | 2: c a !",
    "a number of twenty digits": f"0: +{LARGE} {LARGE} | 1: {LARGE}",
    "a source of sixty-three bits": f"0: +{WIDE} {WIDE} {WIDE}>1 | 1: <{WIDE} {WIDE}",
    "views": "0: +a a [2=01] | 1: a [2=01]",
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, write_run: WriteRun) -> Path:
    root = tmp_path_factory.mktemp("lo gs+1%41[x]")
    for number, text in enumerate(HEALTHY):
        write_run(root / f"healthy-{number}", text)
    texts = {name: text for name, (text, _) in EXAMPLES.items()}
    texts |= {name: text for name, (_, text, _) in FURTHER_EXAMPLES.items()}
    for name, text in (SUSPECT | texts).items():
        write_run(root / name, text)
    (root / "healthy-0" / log_name(1)).write_bytes(_compressed(root / "healthy-0" / log_name(1), ".gz"))
    _compressed(root / "healthy-0" / log_name(0), ".bz2")
    (root / "healthy-0" / log_name(0)).unlink()
    write_run(root / "huge", HEALTHY[0])
    log = root / "huge" / log_name(1)
    huge = log.read_bytes().replace(b'"m":"', b'"m":"' + b"7" * 200_000_000, 1)
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(huge, 1))
    log.unlink()
    write_run(root / "cut", HEALTHY[0])
    log = root / "cut" / log_name(1)
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes())[:-9])
    log.unlink()
    write_run(root / "missing", HEALTHY[0])
    (root / "missing" / log_name(0)).unlink()
    return root


def _compressed(log: Path, suffix: str) -> bytes:
    """Write a compressed copy beside a log; the log."""
    compress = {".gz": gzip.compress, ".bz2": bz2.compress}[suffix]
    log.with_name(log.name + suffix).write_bytes(compress(log.read_bytes()))
    return log.read_bytes()


@pytest.fixture(scope="module")
def lake(logs: Path, master: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("la ke") / "lake"
    done = ingest([logs], place, master)
    assert (done.total("runs"), done.known) == (sum(1 for _ in logs.iterdir()), 0)
    return place


@pytest.fixture(scope="module")
def report(lake: Path, master: str) -> LakeReport:
    judged = verify(lake, master)
    assert isinstance(judged, LakeReport)
    return judged


def test_a_lake_says_of_every_run_what_the_judge_says_of_its_logs(
    report: LakeReport, lake: Path, logs: Path, told: Told
) -> None:
    found = told(lake)
    for run in logs.iterdir():
        judged = judge_run(load_run(run))
        expected = {
            finding.property: (
                judged.outcome(finding), finding.offending, finding.reason, finding.first, finding.second,
            )
            for finding in judged.findings
        }  # fmt: skip
        if run.name in found:
            assert found[run.name] == expected, run.name
        else:
            assert {verdict[0] for verdict in expected.values()} == {"holds"}, run.name


def test_healthy_runs_are_no_suspects_and_a_circle_is_one(report: LakeReport, lake: Path, told: Told) -> None:
    found = told(lake)
    assert not [name for name in found if name.startswith("healthy")]
    assert not {"all is well", "all is well inside", "a gap in the numbers", "a crash"} & set(found)
    assert found["a circle"]["UniformGlobalOrder"][:2] == ("violated", 3)
    assert found["a circle"]["UniformTotalOrder"][0] == "holds"
    assert report.suspects == len(found)


def test_the_report_counts_runs_and_shows_the_first_of_each_violation(
    report: LakeReport, lake: Path, told: Told
) -> None:
    found = told(lake)
    outcomes = {
        name: counts["violated"]
        for name, counts in report.to_dict()["counts"].items()
        if "violated" in counts
    }
    for name, count in outcomes.items():
        assert count == sum(verdicts[name][0] == "violated" for verdicts in found.values())
    assert [verdict.finding.property for verdict in report.verdicts] == list(outcomes)
    assert all(sum(counts.values()) == report.runs for counts in report.counts.values())
    assert report.outcome == "violated"
    assert report.violated == sum(outcomes.values())


def test_a_line_of_200_mb_is_one_fault_and_so_is_what_cannot_be_unpacked(
    report: LakeReport, lake: Path
) -> None:
    faults = parquet.read_table(batches_of(lake)[0].directory / "quarantine").to_pylist()
    (huge,) = [row for row in faults if "/huge/" in row["path"]]
    assert (huge["line"], huge["reason"], len(huge["text"])) == (2, TOO_LONG, LINE_BYTES_MAX)
    (cut,) = [row for row in faults if "/cut/" in row["path"]]
    assert cut["reason"].startswith("cannot be read: Compressed file ended before")
    assert report.faults == len(faults)
    assert {str(damage) for damage in report.damage} == {
        f"{row['path']}{':' * bool(row['line'])}{row['line'] or ''}: {row['reason']}" for row in faults
    }


def test_the_rows_of_a_lake_give_back_every_event(lake: Path, logs: Path) -> None:
    (batch,) = batches_of(lake)
    names = {row["run"]: row["name"] for row in parquet.read_table(batch.directory / "runs").to_pylist()}
    rows = parquet.read_table(batch.directory / "events")
    runs: dict[str, list[list[Event]]] = {name: [] for name in names.values()}
    for number, name in names.items():
        mine = rows.filter(parquet.filters_to_expression([("run", "=", number)]))
        run = load_run(logs / name)
        runs[name] = [[] for _ in run.logs]
        for process, event in events_of(mine):
            runs[name][process].append(event)
        assert [tuple(log) for log in runs[name]] == list(run.events)
    assert rows.num_rows == batch.events + batch.runs


def test_the_columns_and_kinds_of_a_lake_stay(lake: Path) -> None:
    """Other tools read these files: a change of them is a new version."""
    (batch,) = batches_of(lake)
    schema = parquet.read_schema(next((batch.directory / "events").glob("*.parquet")))
    assert [(field.name, str(field.type)) for field in schema] == [
        ("run", "int64"), ("source", "int64"), ("count", "int64"), ("process", "int32"), ("line", "int64"),
        ("i", "int64"), ("kind", "int8"), ("position", "int64"), ("number", "int64"), ("high", "int64"),
        ("low", "int64"), ("peer", "int64"), ("view", "int64"), ("consensus", "int64"),
        ("members", "list<element: int64>"), ("text", "string"), ("name", "string"), ("digest", "string"),
    ]  # fmt: skip
    assert KINDS == (
        "run", "broadcast", "deliver", "core-broadcast", "core-deliver", "install", "transitional", "safe",
        "propose", "decide", "suspect", "trust", "alarm", "violation", "send", "receive", "crash", "end",
    )  # fmt: skip


def test_one_pass_has_no_sort_and_one_exchange(lake: Path, spark: SparkSession) -> None:
    (batch,) = batches_of(lake)
    with settings(spark, 1 << 30, 1000), rows_of(spark, batch) as rows, in_one_pass(spark):
        plan = health_of(rows)._jdf.queryExecution().executedPlan().toString()
        nodes = [line.strip(" +-:*()0123456789").split()[0] for line in plan.splitlines() if line.strip()]
    assert nodes.count("Exchange") == 1, plan
    assert not [node for node in nodes if node in ("Sort", "Window", "SortMergeJoin")], plan
    assert nodes.count("FileScan") == 1, plan


def test_files_are_by_bucket_and_sorted(lake: Path) -> None:
    (batch,) = batches_of(lake)
    files = list((batch.directory / "events").glob("*.parquet"))
    assert len(files) == batch.buckets == 1
    rows = parquet.read_table(files[0], columns=list(KEY)).to_pylist()
    keys = [tuple((row[name] is not None, row[name]) for name in KEY) for row in rows]
    assert keys == sorted(keys)
    assert len(EVENTS) == 18


def test_what_is_there_is_passed_over_and_what_is_new_is_added(
    write_run: WriteRun, master: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, root = tmp_path / "lake", tmp_path / "logs"
    for name in "abc":
        write_run(root / name, HEALTHY[0])
    assert ingest([root / "a", root / "[ab]", root / "a" / log_name(0)], place, master).total("runs") == 2
    before = sorted(path.name for path in (place / "batches").iterdir())
    again = ingest([root / "?" / "process-0.ndjson"], place, master, batch_bytes=1)
    assert (again.total("runs"), again.known) == (1, 2)
    assert main(["ingest", str(root), "--lake", str(place), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["known"]) == (0, 3)
    assert len(before) + 1 == sum(1 for _ in (place / "batches").iterdir())
    assert main(["verify", str(place), "--master", master]) == 0
    assert "3 runs" in capsys.readouterr().out
    with (root / "b" / log_name(0)).open("a") as log:
        log.write("{}\n")
    assert main(["ingest", str(root), "--lake", str(place), "--master", master]) == 64
    assert f"{root / 'b'} has changed since it was read into" in capsys.readouterr().err


def test_a_crash_in_the_middle_leaves_the_lake_readable_and_a_rerun_completes_it(
    write_run: WriteRun, master: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two batches does not come to its place."""
    place, root = tmp_path / "lake", tmp_path / "logs"
    for name in "ab":
        write_run(root / name, HEALTHY[0])
    rename = Path.rename

    def crash(path: Path, target: Path) -> Path:
        if (
            target.parent.name == "batches"
            and target.name[0] not in ".a"
            and any(target.parent.glob("[!.a]*"))
        ):
            raise KeyboardInterrupt
        return rename(path, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", crash)
        with pytest.raises(KeyboardInterrupt):
            ingest([root], place, master, batch_bytes=1)
    assert [batch.runs for batch in batches_of(place)] == [1]
    left = place / "batches" / "antiphon-batch-left"
    left.mkdir()
    (left / ".owner").touch()
    done = ingest([root], place, master)
    assert (done.total("runs"), done.known) == (1, 1)
    assert sorted(batch.runs for batch in batches_of(place)) == [1, 1]
    assert not left.exists()


def test_what_is_no_log_and_no_lake_is_wrong_usage(tmp_path: Path, write_run: WriteRun, lake: Path) -> None:
    write_run(tmp_path / "run", HEALTHY[0])
    (tmp_path / "notes").write_text("")
    for paths, told_of in {
        ("nowhere",): "no such file or directory",
        (str(tmp_path / "notes"),): "not a log",
        ("s3://bucket/logs",): "not a URI",
        (str(tmp_path / "*" / "*.txt"),): "no match",
    }.items():
        with pytest.raises(InputError, match=told_of):
            ingest(paths, tmp_path / "lake")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lake.json").write_text('{"schema": "antiphon.lake", "version": 2}')
    with pytest.raises(InputError, match=r"version 2; this reads 'antiphon.lake' 1"):
        ingest([tmp_path / "run"], tmp_path / "other")
    with pytest.raises(InputError, match="keeps its verdicts itself"):
        verify(lake, output=tmp_path / "kept")


def test_a_lake_is_judged_by_another_promise_too(lake: Path, logs: Path, master: str, told: Told) -> None:
    promise = ["virtual-synchrony", "safe-delivery"]
    judged = verify(lake, master, promise=promise)
    (other,) = (
        place.name for place in (batches_of(lake)[0].directory / "verdicts").iterdir() if place.name[0] == "o"
    )
    found = told(lake, other)
    for name in FURTHER_EXAMPLES:
        expected = judge_run(load_run(logs / name), promise).outcomes
        assert {prop: verdict[0] for prop, verdict in found[name].items()} == expected
    assert judged.runs == len(found)


def _change(log: list[str], chance: random.Random) -> None:
    """One of the things that logs of broken protocols show."""
    at = chance.randrange(len(log) + 1)
    what = chance.randrange(7)
    if what == 0 and log:
        log.append(chance.choice(log))
    elif what == 1 and log:
        del log[at - 1]
    elif what == 2 and len(log) > 1:
        log[at - 1], log[at - 2] = log[at - 2], log[at - 1]
    elif what == 3:
        log.insert(at, chance.choice(["0:9", "7:1", "a", "+a", "+b", "+0:9"]))
    elif what == 4:
        log.append("!")
    elif what == 5:
        log.insert(at, chance.choice(["0:1>1", "<0:1", "1:1>0", "<1:1", "?1"]))
    elif what == 6 and log and log[at - 1][-1].isalpha() and log[at - 1].isalpha():
        log[at - 1] += chance.choice(["=x", "#1", "#2"])


def test_a_run_that_one_pass_finds_healthy_is_never_broken(
    write_run: WriteRun, master: str, tmp_path: Path, told: Told
) -> None:
    """Random histories, most with a fault or two; those that are healthy are found so more often than not."""
    chance = random.Random(7)
    logs: dict[str, History] = {}
    for number in range(150):
        order = chance.sample("abcd", 3)
        rows = [[f"+{m}" for m in order if m == "abcd"[p]] + order for p in range(chance.randrange(1, 4))]
        spare = [m for m in order if "abcd".index(m) >= len(rows)]
        rows = [[m for m in row if m not in spare] for row in rows]
        for _ in range(chance.randrange(3)):
            _change(chance.choice(rows), chance)
        text = " | ".join(f"{p}: {' '.join(row)}" for p, row in enumerate(rows))
        logs[f"run-{number}"] = history(text)
        write_run(tmp_path / "logs" / f"run-{number}", text)
    ingest([tmp_path / "logs"], tmp_path / "lake", master)
    verify(tmp_path / "lake", master)
    suspects = set(told(tmp_path / "lake"))
    broken = {name for name, log in logs.items() if any(f.offending for f in judge_history(log))}
    delivered = {name for name in logs if not load_run(tmp_path / "logs" / name).problems}
    assert broken <= suspects
    assert len(broken) > 30
    assert len(delivered - suspects) > 30
    assert len(delivered & suspects - broken) < len(delivered - broken) / 2


def test_a_place_that_cannot_be_written_is_told(write_run: WriteRun, master: str, tmp_path: Path) -> None:
    write_run(tmp_path / "run", HEALTHY[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(PipelineError, match=r"cannot be written: (Not a directory|File exists)"):
        ingest([tmp_path / "run"], tmp_path / "file" / "lake", master)
    shutil.rmtree(tmp_path / "run")
