"""Logs are read into a lake once, whole batches at a time; what one pass finds healthy is healthy."""

import bz2
import gzip
import json
import lzma
import random
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
import zstandard
from pyspark.sql import SparkSession
from tests.judge.history.examples import EXAMPLES, FURTHER_EXAMPLES
from tests.judge.history.known import ALWAYS
from tests.spark.pipeline.webhdfs import served

from antiphon.conformance.cli import main
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import (
    AFTER_CRASH,
    AFTER_END,
    CUT_OFF,
    EMPTY,
    LINE_BYTES_MAX,
    MISSING,
    NO_DELIVERIES,
    NO_HEADER,
    NO_LOG,
    TOO_LONG,
    TRUNCATED,
    Event,
    load_run,
    log_name,
)
from antiphon.conformance.spark.pipeline import (
    Damage,
    InputError,
    PipelineError,
    VerifyReport,
    in_process,
    ingest,
    verification,
    verify,
)
from antiphon.conformance.spark.pipeline.buckets import KEY, buckets_of
from antiphon.conformance.spark.pipeline.columns import EVENTS, KINDS, events_of
from antiphon.conformance.spark.pipeline.judging import SHOWN_MAX
from antiphon.conformance.spark.pipeline.lake import batches_of
from antiphon.conformance.spark.pipeline.lake import events_of as rows_of
from antiphon.conformance.spark.pipeline.scan import health_of, in_one_pass
from antiphon.conformance.spark.pipeline.session import settings
from antiphon.model.verdict import Outcome

WriteRun = Callable[[Path, str], None]
Told = Callable[..., dict[str, dict[str, tuple[object, ...]]]]

HEALTHY = [
    "0: +a a b | 1: +b a b",
    "0: +a a>1 +0:2 a 0:2 | 1: <a a 0:2",
    "0: +a (+a) (a) a +0:2 (+0:2) (0:2) 0:2 | 1: (a) a (0:2) 0:2",
    "0: +a a#3 b#7 | 1: +b a#3 b#7 | 2: a#3 !",
    "0: a>1 0:2>2 <b +a a +0:2 0:2 | 1: <a b>0 <a a 0:2 | 2: a 0:2",
]
WIDE = f"{2**63 - 1}:1"
LARGE = f"0:{'9' * 20}"
SUSPECT = {
    "a circle": "0: a b ! | 1: b c ! | 2: c a !",
    "two messages at one place": "0: +a a | 1: +b b",
    "a number of twenty digits": f"0: +{LARGE} {LARGE} | 1: {LARGE}",
    "a source of sixty-three bits": f"0: +{WIDE} {WIDE} {WIDE}>1 | 1: <{WIDE} {WIDE}",
    "views": "0: +a a [2=01] | 1: a [2=01]",
}


# The log of process 1 of a healthy run has lines: 1 header, 2 broadcast, 3 and 4 deliver, 5 end.
DAMAGE: dict[str, tuple[Callable[[bytes], bytes | None], int, str]] = {
    "empty": (lambda log: b"", 0, EMPTY),
    "missing": (lambda log: None, 0, MISSING),
    "headless": (lambda log: log.split(b"\n", 1)[1], 1, NO_HEADER),
    "byte-order-mark": (lambda log: b"\xef\xbb\xbf" + log, 1, NO_HEADER),
    "schema": (lambda log: log.replace(b"antiphon.trace", b"other.trace"), 1, "schema 'other.trace' is not"),
    "long-schema": (lambda log: log.replace(b"antiphon.trace", b"x" * 60_000), 1, f"schema '{'x' * 57}...' is not"),
    "version": (lambda log: log.replace(b'"version":1', b'"version":2'), 1, "version 2 of the schema; "),
    "bad-header": (lambda log: log.replace(b'"processes":2', b'"processes":0'), 1, "not a header: Expected"),
    "header-bytes": (lambda log: log.replace(b'"rbp"', b'"r\xffp"'), 1, "not a header: 'utf-8' codec"),
    "surrogate": (lambda log: log.replace(b'"rbp"', rb'"\ud800"'), 1, NO_HEADER),
    "binary": (lambda log: log.replace(b'{"kind":"deliver"', b"\x00\xff\xfe\r{", 1), 3, "not an event: '\\x00\\\\xff"),
    "no-json": (lambda log: log.replace(b'"deliver"', b'"deliver', 1), 3, "not an event: "),
    "odd-kind": (lambda log: log.replace(b'"deliver"', b'"' + b"x" * 60_000 + b'"', 1), 3, "not an event: "),
    "2^63": (lambda log: log.replace(b'"number":1', b'"number":9223372036854775808', 1), 3, "not an event: "),
    "last-index": (lambda log: log.replace(b'"i":3', b'"i":9223372036854775807', 1), 5, "event 9223372036854775807 where"),
    "huge-line": (lambda log: log.replace(b'"m":"', b'"m":"' + b"7" * 32_000_000, 1), 2, TOO_LONG),
    "cut-json": (lambda log: log[:-4], 5, CUT_OFF),
    "no-end": (lambda log: log[: log.rindex(b"{")], 4, TRUNCATED),
    "lost-line": (lambda log: b"".join(log.splitlines(True)[:2] + log.splitlines(True)[3:]), 3, "event 2 where event 1 must"),
    "after-end": (lambda log: log + b'{"kind":"end","i":4}\n', 6, AFTER_END),
    "after-crash": (lambda log: log.replace(b'{"kind":"end","i":3}', b'{"kind":"crash","i":3}\n{"kind":"send","i":4,"d":"1:1","to":0}'
                    b'\n{"kind":"end","i":5}'), 6, AFTER_CRASH),
    "other-process": (lambda log: log.replace(b'"process":1', b'"process":0'), 1, "the header names process 0, the file process 1"),
    "other-run": (lambda log: log.replace(b'"seed":1', b'"seed":2'), 1, "seed is 2 here and 1 in the run's first log"),
    "long-name": (lambda log: log.replace(b'"run":"r"', b'"run":"' + b"r" * 60_000 + b'"'), 1, "run is 'rrr"),
}  # fmt: skip

ODD_BUT_SOUND: dict[str, Callable[[bytes], bytes]] = {
    "cut-newline": lambda log: log[:-1],
    "blank-lines": lambda log: log.replace(b"\n", b"\n\n \n"),
    "unknown-fields": lambda log: log.replace(b'"i":', b'"at":1.5,"from":{"line":[7]},"i":'),
    "carriage-returns": lambda log: log.replace(b"\n", b"\r\n"),
    "key-twice": lambda log: log.replace(b'"i":0', b'"i":7,"i":0'),
    "spaces": lambda log: log.replace(b'"i":', b'  "i" : '),
    "escapes": lambda log: log.replace(b'"rbp"', rb'"\u0072bp"'),
}
"""Lines that JSON allows; the last value of a repeated key counts."""

UNREAD = ("not an event", "not a header", "schema", "version", "no header", TOO_LONG)

ODD_NAMES = ["a b", "a+b", "a%20b", "run=7", "007", "[x]{y}*", "_hidden", ".dot", "ä", "a:1", "a:[1]"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, write_run: WriteRun) -> Path:
    """Runs of every sort in one directory."""
    root = tmp_path_factory.mktemp("lo gs+1%41[x]")
    for number, text in enumerate(HEALTHY):
        write_run(root / f"healthy-{number}", text)
    texts = {name: text for name, (text, _) in EXAMPLES.items()}
    texts |= {name: text for name, (_, text, _) in FURTHER_EXAMPLES.items()}
    for name, text in (SUSPECT | texts).items():
        write_run(root / name, text)
    for name in ODD_NAMES:
        write_run(root / name, HEALTHY[0])
    for name, change in ODD_BUT_SOUND.items():
        write_run(root / name, HEALTHY[0])
        for log in (root / name).iterdir():
            log.write_bytes(change(log.read_bytes()))
    for name, (damage, _, _) in DAMAGE.items():
        write_run(root / name, HEALTHY[0])
        log = root / name / log_name(1)
        damaged = damage(log.read_bytes())
        log.unlink() if damaged is None else log.write_bytes(damaged)
    for name, compress in COMPRESSED.items():
        write_run(root / f"healthy{name}", HEALTHY[0])
        log = root / f"healthy{name}" / log_name(1)
        log.with_name(f"{log.name}{name}").write_bytes(compress(log.read_bytes()))
        if name != ".gz":  # of both the log is read
            log.unlink()
    write_run(root / "huge", HEALTHY[0])
    log = root / "huge" / log_name(1)
    huge = log.read_bytes().replace(b'"m":"', b'"m":"' + b"7" * 200_000_000, 1)
    log.with_name(f"{log.name}.zst").write_bytes(zstandard.compress(huge))
    log.unlink()
    write_run(root / "cut", HEALTHY[0])
    log = root / "cut" / log_name(1)
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes())[:-9])
    log.unlink()
    write_run(root / "surplus", HEALTHY[0])
    (root / "surplus" / log_name(2)).write_bytes((root / "surplus" / log_name(1)).read_bytes())
    write_run(root / "silent", "0: +a | 1:")
    (root / "no-logs").mkdir()
    (root / ".git").mkdir()
    (root / "healthy-0" / "relay.json").write_text("not a log")
    return root


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def runs_in(logs: Path) -> list[Path]:
    return [run for run in logs.iterdir() if run.name != ".git"]


@pytest.fixture(scope="module")
def lake(logs: Path, master: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("la ke") / "lake"
    done = ingest([logs], place, master)
    assert (done.total("runs"), done.known) == (len(runs_in(logs)), 0)
    return place


@pytest.fixture(scope="module")
def report(lake: Path, master: str) -> VerifyReport:
    return verify(lake, master)


def test_a_lake_says_of_every_run_what_the_judge_says_of_its_logs(
    report: VerifyReport, lake: Path, logs: Path, told: Told
) -> None:
    found = told(lake)
    for run in runs_in(logs):
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


def test_healthy_runs_are_no_suspects_and_a_circle_is_one(
    report: VerifyReport, lake: Path, told: Told
) -> None:
    found = told(lake)
    assert not [name for name in found if name.startswith("healthy")]
    assert not {"all is well", "all is well inside", "a gap in the numbers"} & set(found)
    assert found["a crash"]["UniformTotalOrder"][0] == "unknown"  # two processes share one message only
    assert found["a circle"]["UniformGlobalOrder"][:2] == ("violated", 3)
    assert found["a circle"]["UniformTotalOrder"][0] == "unknown"  # no two share two messages
    assert report.suspects == len(found)


def test_the_report_counts_runs_and_shows_the_first_of_each_violation(
    report: VerifyReport, lake: Path, told: Told
) -> None:
    found = told(lake)
    outcomes = {
        name: counts["violated"]
        for name, counts in report.to_dict()["counts"].items()
        if "violated" in counts
    }
    for name, count in outcomes.items():
        told_of = [verdicts[name][0] for verdicts in found.values() if name in verdicts]
        assert count == told_of.count("violated")
    shown = [verdict.finding.property for verdict in report.verdicts]
    assert shown[: len(outcomes)] == list(outcomes)
    assert len(shown) == SHOWN_MAX
    for name, counts in report.counts.items():
        assert sum(counts.values()) == report.runs or (name in ALWAYS and counts["holds"])
    assert report.outcome == "violated"
    assert report.violated == sum(outcomes.values())
    assert report.lake == str(lake)


@pytest.mark.deep
def test_in_this_process_the_same_is_said_of_the_same_logs(report: VerifyReport, logs: Path) -> None:
    """Runs of every sort, sound and broken, agree: each verdict, place, count and fault, and every sentence.

    Here all runs are judged one by one, and no lake is kept.
    """
    here, there = verify(logs), replace(report, lake=None, suspects=report.runs)
    assert {outcome for counts in there.counts.values() for outcome in counts} == set(Outcome)
    assert there.damage
    assert here.to_dict() == there.to_dict()
    assert str(here) == str(there)
    assert here._repr_html_() == there._repr_html_()


@pytest.mark.deep
def test_in_several_processes_the_same_is_said(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("healthy-0", "a circle", "cut"):
        shutil.copytree(logs / name, tmp_path / name)
    here = verify(tmp_path)
    monkeypatch.setattr(in_process, "_ONE_PROCESS_BYTES", 0)
    assert verify(tmp_path, jobs=2).to_dict() == here.to_dict()
    monkeypatch.setattr(verification, "BYTES_MAX", 0)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="more than 0 MB of logs, and verify needs Spark"):
        verify(tmp_path)


@pytest.fixture(scope="module")
def faults(report: VerifyReport, lake: Path) -> dict[str, list[dict[str, Any]]]:
    """Quarantined faults, by the directory of the run."""
    rows = parquet.read_table(batches_of(lake)[0].directory / "quarantine").to_pylist()
    assert report.faults == len(rows)
    by_run: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        name = Path(row["path"]).parent.name if row["path"].endswith(("n", "z", "2", "t")) else ""
        by_run.setdefault(name if "process-" in row["path"] else Path(row["path"]).name, []).append(row)
    return by_run


@pytest.mark.parametrize("run", DAMAGE)
def test_each_damage_is_located_and_makes_the_run_unknown(
    faults: dict[str, list[dict[str, Any]]], lake: Path, logs: Path, told: Told, run: str
) -> None:
    _, line, reason = DAMAGE[run]
    (fault,) = faults[run]
    assert (fault["path"], fault["line"]) == (str(logs / run / log_name(1)), line)
    assert fault["reason"].startswith(reason)
    assert len(fault["reason"]) <= 200
    assert {verdict[0] for verdict in told(lake)[run].values()} == {"unknown"}


def test_healthy_runs_are_so_whatever_their_names_and_spelling(
    faults: dict[str, list[dict[str, Any]]], lake: Path, told: Told
) -> None:
    found = told(lake)
    assert not (found.keys() | faults.keys()) & {*ODD_NAMES, *ODD_BUT_SOUND}


def test_what_is_wrong_with_a_run_is_told_too(
    faults: dict[str, list[dict[str, Any]]], logs: Path, told: Told, lake: Path
) -> None:
    for run, reason in {"silent": NO_DELIVERIES, "no-logs": NO_LOG}.items():
        assert [(fault["path"], fault["reason"]) for fault in faults[run]] == [(str(logs / run), reason)]
        assert {verdict[0] for verdict in told(lake)[run].values()} == {"unknown"}
    wrong = "the header names process 1, the file process 2; process 2 in a run of 2 processes"
    assert {fault["reason"] for fault in faults["surplus"]} == {wrong}


def test_a_line_of_200_mb_is_one_fault_and_so_is_what_cannot_be_unpacked(
    faults: dict[str, list[dict[str, Any]]],
) -> None:
    (huge,) = faults["huge"]
    assert (huge["line"], huge["reason"], len(huge["text"])) == (2, TOO_LONG, LINE_BYTES_MAX)
    (cut,) = faults["cut"]
    assert cut["reason"].startswith("cannot be read: Compressed file ended before")


def test_no_line_is_lost(
    faults: dict[str, list[dict[str, Any]]], report: VerifyReport, lake: Path, logs: Path
) -> None:
    (batch,) = batches_of(lake)
    runs = parquet.read_table(batch.directory / "runs").to_pylist()
    packed = {f"healthy{name}" for name in COMPRESSED} | {"huge", "cut"}
    plain = sum(row["lines"] for row in runs if row["name"] not in packed)
    texts = [log.read_bytes() for log in logs.glob("*/process-*.ndjson") if log.parent.name not in packed]
    assert plain == sum(text.count(b"\n") + (not text.endswith(b"\n")) for text in texts if text)
    assert report.events == batch.events == sum(row["events"] for row in runs)
    (binary,) = faults["binary"]
    assert binary["text"] == (logs / "binary" / log_name(1)).read_bytes().split(b"\n")[2]


def test_a_bad_line_is_shown_as_compilers_do() -> None:
    shown = str(Damage("r", 1, "r/process-1.ndjson", 3, "not an event"))
    assert shown == "r/process-1.ndjson:3: not an event"
    assert str(Damage("r", None, "r", 0, NO_LOG)) == f"r: {NO_LOG}"


@pytest.mark.deep
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
        "recover",
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
    assert main(["verify", str(root / "[ab]"), "--master", master, "--json"]) == 0
    judged = json.loads(capsys.readouterr().out)["report"]
    assert (judged["runs"], judged["outcome"], judged["lake"]) == (2, "holds", None)
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
            and not target.name.startswith((".", "antiphon"))
            and not all(other.name.startswith((".", "antiphon")) for other in target.parent.iterdir())
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


def test_what_is_no_log_and_no_lake_is_wrong_usage(tmp_path: Path, write_run: WriteRun) -> None:
    write_run(tmp_path / "run", HEALTHY[0])
    (tmp_path / "notes").write_text("")
    for paths, told_of in {
        ("nowhere",): "no such file or directory",
        (str(tmp_path / "notes"),): "not a log",
        ("file://elsewhere/logs",): "a file of the machine 'elsewhere'",
        (str(tmp_path / "*" / "*.txt"),): "no match",
    }.items():
        with pytest.raises(InputError, match=told_of):
            ingest(paths, tmp_path / "lake")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lake.json").write_text('{"schema": "antiphon.lake", "version": 2}')
    with pytest.raises(InputError, match=r"version 2; this reads 'antiphon.lake' 1"):
        ingest([tmp_path / "run"], tmp_path / "other")
    with pytest.raises(InputError, match="unknown promise 'safety'"):
        verify(tmp_path / "run", promise=["safety"])
    (tmp_path / "empty").mkdir()
    for path, reason in (("nowhere", "no such file"), ("empty", "no run")):
        with pytest.raises(InputError, match=reason):
            ingest([tmp_path / path], tmp_path / "lake")
        missing = verify(tmp_path / path)
        assert (missing.outcome, missing.runs) == (Outcome.UNKNOWN, 0)
        assert all(why.startswith(("there is no such file", "no run")) for why in missing.unknown.values())
    write_run(tmp_path / "run" / "inner", HEALTHY[0])
    with pytest.raises(InputError, match="one by one"):
        verify(tmp_path / "run")


@pytest.mark.deep
def test_a_lake_is_judged_by_another_promise_too(lake: Path, logs: Path, master: str, told: Told) -> None:
    promise = ["virtual-synchrony", "safe-delivery"]
    judged = verify(lake, master, promise=promise)
    found = told(lake, promise)
    for name in FURTHER_EXAMPLES:
        expected = judge_run(load_run(logs / name), promise).outcomes
        holding = dict.fromkeys(expected, ("holds",))
        assert {prop: verdict[0] for prop, verdict in found.get(name, holding).items()} == expected
    assert judged.suspects == len(found) < judged.runs


def test_what_only_spark_can_read_is_copied_and_read(
    write_run: WriteRun, master: str, tmp_path: Path, told: Told
) -> None:
    """A folder that is served on the loopback interface, by the names that it has there."""
    root = tmp_path / "runs"
    for name, text in {"sound": HEALTHY[2], "bro ken+%41": "0: +a a a | 1: a", "other": HEALTHY[0]}.items():
        write_run(root / name, text)
    log = root / "sound" / log_name(1)
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    (root / "sound" / "notes").write_text("not a log")
    lake = tmp_path / "lake"
    with served(tmp_path) as (address, calls):
        done = ingest([f"{address}/runs/[sb]*"], lake, master)
        assert (done.total("runs"), done.total("faults")) == (2, 0)
        assert "OPEN" in calls
        assert verify(lake, master).violated == 1
        assert told(lake).keys() == {"bro ken+%41"}
        (batch,) = batches_of(lake)
        assert {path.name for path in batch.directory.iterdir()} == {
            "batch.json", "events", "quarantine", "runs", "verdicts",
        }  # fmt: skip
        (places,) = parquet.read_table(batch.directory / "runs", columns=["path"])
        assert places.to_pylist() == [f"{address}/runs/bro ken+%41", f"{address}/runs/sound"]
        again = ingest([f"{address}/runs", root / "other"], lake, master)
        assert (again.total("runs"), again.known) == (2, 2)
        for wrong, why in {
            "nosuch://host/logs": r'No FileSystem for scheme "nosuch"; .*spark.jars',
            f"{address}/none": "none",
            f"{address}/lake": "no run",
        }.items():
            with pytest.raises(InputError, match=why):
                ingest([wrong], lake, master)
        with pytest.raises(InputError, match=f"{address}/lake: a lake is a directory"):
            ingest([root], f"{address}/lake", master)


def test_an_address_of_this_machine_is_a_path(write_run: WriteRun, master: str, tmp_path: Path) -> None:
    write_run(tmp_path / "lo gs%" / "run", HEALTHY[0])
    logs = (tmp_path / "lo gs%").as_uri()
    assert ingest([logs, f"{logs}/*"], (tmp_path / "la ke").as_uri(), master).total("runs") == 1
    assert verify((tmp_path / "la ke").as_uri(), master).lake == str(tmp_path / "la ke")


def test_rows_are_in_the_buckets_into_which_spark_would_put_them(spark: SparkSession) -> None:
    chance = random.Random(3)
    keys = [
        {name: None if chance.random() < 0.2 else chance.randrange(-(2**63), 2**63) for name in KEY}
        for _ in range(200)
    ]
    table = pa.Table.from_pylist(keys)
    hashed = spark.createDataFrame(table).selectExpr("pmod(hash(run, source, count), 7)")
    assert buckets_of(table, 7).tolist() == [row[0] for row in hashed.collect()]


def test_a_place_that_cannot_be_written_is_told(write_run: WriteRun, master: str, tmp_path: Path) -> None:
    write_run(tmp_path / "run", HEALTHY[0])
    (tmp_path / "file").write_text("")
    with pytest.raises(PipelineError, match=r"cannot be written: (Not a directory|File exists)"):
        ingest([tmp_path / "run"], tmp_path / "file" / "lake", master)
    shutil.rmtree(tmp_path / "run")
