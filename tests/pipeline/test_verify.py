"""One ingestion of many runs, each with one planted fault; what is found is told run by run."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pyarrow.parquet as parquet
import pytest
from pyspark.sql import SparkSession

from antiphon.conformance.cli import main
from antiphon.conformance.cli.documents import AnyDocument
from antiphon.conformance.history import PROPERTIES, judge_run
from antiphon.conformance.history.examples import EXAMPLES, FURTHER_EXAMPLES
from antiphon.conformance.pipeline import InputError, PipelineError, VerifyReport, dataset, verify
from antiphon.conformance.trace import (
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
    load_run,
    log_name,
)

WriteRun = Callable[[Path, str], None]

HEALTHY = "0: +a a b | 1: +b a b"

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
    "cut-newline": (lambda log: log[:-1], 5, CUT_OFF),
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
    "carriage-returns": lambda log: log.replace(b"\n", b"\r\n"),
    "key-twice": lambda log: log.replace(b'"i":0', b'"i":7,"i":0'),
    "spaces": lambda log: log.replace(b'"i":', b'  "i" : '),
    "escapes": lambda log: log.replace(b'"rbp"', rb'"\u0072bp"'),
}
"""What JSON allows; of a key that stands twice the last value counts."""

UNREAD = ("not an event", "not a header", "schema", "version", "no header", TOO_LONG)

ODD_NAMES = ["a b", "a+b", "a%20b", "run=7", "007", "[x]{y}*", "_hidden", ".dot", "ä", "a:1", "a:[1]"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory, write_run: WriteRun) -> Path:
    root = tmp_path_factory.mktemp("lo gs+1%41")
    write_run(root / "healthy", HEALTHY)
    for name in ODD_NAMES:
        write_run(root / name, HEALTHY)
    for name, (text, _) in EXAMPLES.items():
        write_run(root / name, text)
    for name, change in ODD_BUT_SOUND.items():
        write_run(root / name, HEALTHY)
        for log in (root / name).iterdir():
            log.write_bytes(change(log.read_bytes()))
    for name, (damage, _, _) in DAMAGE.items():
        write_run(root / name, HEALTHY)
        log = root / name / log_name(1)
        damaged = damage(log.read_bytes())
        log.unlink() if damaged is None else log.write_bytes(damaged)
    write_run(root / "surplus", HEALTHY)
    (root / "surplus" / log_name(2)).write_bytes((root / "surplus" / log_name(1)).read_bytes())
    write_run(root / "silent", "0: +a | 1:")
    (root / "no-logs").mkdir()
    (root / ".git").mkdir()
    (root / "healthy" / "relay.json").write_text("not a log")
    return root


@pytest.fixture(scope="module")
def report(logs: Path, master: str, tmp_path_factory: pytest.TempPathFactory) -> VerifyReport:
    return verify(logs, master, tmp_path_factory.mktemp("out") / "kept")


def outcomes(report: VerifyReport, run: str) -> dict[str, str]:
    return {verdict.finding.property: verdict.outcome for verdict in report.verdicts if verdict.run == run}


@pytest.mark.parametrize("run", ["healthy", *ODD_NAMES, *ODD_BUT_SOUND])
def test_a_healthy_run_holds_whatever_its_name_and_its_neighbours(report: VerifyReport, run: str) -> None:
    assert outcomes(report, run) == dict.fromkeys(PROPERTIES, "holds")


@pytest.mark.parametrize("run", EXAMPLES)
def test_each_violation_is_found_by_name_with_the_events_that_clash(report: VerifyReport, logs: Path, run: str) -> None:
    violated = [verdict.finding for verdict in report.violations if verdict.run == run]
    assert {finding.property for finding in violated} == EXAMPLES[run][1]
    assert violated == [finding for finding in judge_run(load_run(logs / run)).findings if finding.offending]


def test_runs_are_judged_by_what_their_system_promises(
    tmp_path: Path, write_run: WriteRun, master: str
) -> None:
    for name, (_, text, _) in FURTHER_EXAMPLES.items():
        write_run(tmp_path / name, text)
    promise = ["extended-virtual-synchrony", "safe-delivery"]
    judged = verify(tmp_path, master, promise=promise)
    for name in FURTHER_EXAMPLES:
        assert outcomes(judged, name) == judge_run(load_run(tmp_path / name), promise).outcomes
    assert {verdict.finding.property for verdict in judged.violations} > {"SafeDelivery", "FailureAtomicity"}
    with pytest.raises(InputError, match="unknown promise 'safety'"):
        verify(tmp_path, master, promise=["safety"])


@pytest.mark.parametrize("run", DAMAGE)
def test_each_damage_is_located_and_makes_the_run_unknown(report: VerifyReport, logs: Path, run: str) -> None:
    _, line, reason = DAMAGE[run]
    [fault] = [d for d in report.damage if d.run == run]
    assert (fault.path, fault.line) == (str(logs / run / log_name(1)), line)
    assert fault.reason.startswith(reason)
    assert len(fault.reason) <= 200
    assert outcomes(report, run) == dict.fromkeys(PROPERTIES, "unknown")


@pytest.mark.parametrize(("run", "reason"), [("silent", NO_DELIVERIES), ("no-logs", NO_LOG)])
def test_a_run_in_which_nothing_happened_is_unknown(
    report: VerifyReport, logs: Path, run: str, reason: str
) -> None:
    assert [str(d) for d in report.damage if d.run == run] == [f"{logs / run}: {reason}"]
    assert outcomes(report, run) == dict.fromkeys(PROPERTIES, "unknown")


def test_a_log_beyond_the_number_of_processes_is_damage(report: VerifyReport) -> None:
    told = "the header names process 1, the file process 2; process 2 in a run of 2 processes"
    assert {d.reason for d in report.damage if d.run == "surplus"} == {told}


def test_a_bad_line_is_shown_as_compilers_do(report: VerifyReport, logs: Path) -> None:
    (shown,) = [str(d) for d in report.damage if d.run == "binary"]
    assert shown.startswith(f"{logs}/binary/process-1.ndjson:3: not an event: ")
    assert "\\xff" in shown


def test_the_overall_outcome_is_the_worst(report: VerifyReport, logs: Path) -> None:
    assert report.outcome == "violated"
    assert report.runs == len([d for d in logs.iterdir() if d.name != ".git"])
    assert report.faults == len(report.damage)


def test_the_columns_of_the_files_are_the_fields_of_the_schema(report: VerifyReport) -> None:
    """Other tools read these files: names, types and order stay."""
    kept = Path(str(report.output))
    events = parquet.read_schema(next((kept / "events" / "run=healthy").glob("*.parquet")))
    assert [(field.name, str(field.type)) for field in events] == [
        ("process", "int32"), ("line", "int64"), ("i", "int64"), ("kind", "string"), ("m", "string"), ("d", "string"),
        ("number", "int64"), ("sender", "int64"), ("digest", "string"), ("to", "int64"), ("what", "string"),
        ("view", "int64"), ("members", "list<element: int64>"), ("consensus", "int64"), ("suspected", "int64"),
        ("trusted", "int64"), ("value", "string"),
    ]  # fmt: skip
    quarantine = parquet.read_schema(next((kept / "quarantine").glob("*.parquet")))
    assert [(field.name, str(field.type)) for field in quarantine] == [
        ("run", "string"), ("process", "int32"), ("path", "string"), ("line", "int64"), ("reason", "string"),
        ("text", "binary"),
    ]  # fmt: skip


def test_what_is_kept_is_partitioned_by_run_and_loses_no_line(report: VerifyReport, logs: Path) -> None:
    assert report.output is not None
    kept = Path(report.output)
    assert (kept / "events" / "run=healthy").is_dir()
    quarantine = parquet.read_table(kept / "quarantine").to_pylist()
    unread = {(row["path"], row["line"]) for row in quarantine if row["reason"].startswith(UNREAD)}
    headless = {(str(logs / "headless" / log_name(1)), 1)}
    cut = {(str(logs / "cut-json" / log_name(1)), 5)}
    texts = [log.read_bytes() for log in logs.glob("*/process-*.ndjson")]
    lines = sum(text.count(b"\n") + (not text.endswith(b"\n")) for text in texts if text)
    events = sum(1 for row in parquet.read_table(kept / "events").column("kind") if row.as_py())
    headers = sum(text.lstrip(b"\xef\xbb\xbf").startswith(b'{"schema"') for text in texts)
    bad_headers = sum((str(log), 1) in unread - headless for log in logs.glob("*/process-*.ndjson"))
    assert report.events == events
    assert events + headers - bad_headers + len((unread | cut) - headless) == lines
    (binary,) = [row["text"] for row in quarantine if "/binary/" in row["path"]]
    assert binary == (logs / "binary" / log_name(1)).read_bytes().split(b"\n")[2]
    (huge,) = [row["text"] for row in quarantine if "/huge-line/" in row["path"]]
    assert huge == (logs / "huge-line" / log_name(1)).read_bytes().split(b"\n")[1][:LINE_BYTES_MAX]
    verdicts = parquet.read_table(kept / "verdicts").to_pylist()
    assert len(verdicts) == report.runs * len(PROPERTIES)


def test_a_dataset_is_judged_as_its_logs_were(report: VerifyReport, master: str, tmp_path: Path) -> None:
    assert report.output is not None
    again = verify(report.output, master, tmp_path / "verdicts")
    assert (again.verdicts, again.damage) == (report.verdicts, report.damage)
    assert parquet.read_table(tmp_path / "verdicts").num_rows == len(report.verdicts)


def test_nothing_is_overwritten(report: VerifyReport, logs: Path, master: str) -> None:
    with pytest.raises(InputError, match="is not overwritten"):
        verify(logs, master, report.output)


def test_a_directory_of_one_run_is_judged_under_its_name(write_run: WriteRun, tmp_path: Path) -> None:
    write_run(tmp_path / "alone", HEALTHY)
    assert dataset.list_runs(tmp_path / "alone") == [("alone", str(tmp_path / "alone"))]


@pytest.mark.parametrize("path", ["nowhere", "", "hdfs://host/logs"])
def test_a_place_without_logs_is_wrong_usage(tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError, match=r"no such directory|no run|not a URI"):
        verify(path if "://" in path else tmp_path / path)


def test_logs_beside_runs_are_refused(write_run: WriteRun, tmp_path: Path) -> None:
    write_run(tmp_path / "both", HEALTHY)
    write_run(tmp_path / "both" / "inner", HEALTHY)
    with pytest.raises(InputError, match="one by one"):
        verify(tmp_path / "both")


def test_an_ingestion_that_is_interrupted_leaves_nothing_that_looks_complete(
    logs: Path, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        dataset.ingest(spark, logs / "healthy", tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "kept" / "events").mkdir(parents=True)
    with pytest.raises(InputError, match="not a complete dataset"):
        dataset.open_dataset(spark, tmp_path / "kept")


def test_a_place_that_cannot_be_written_is_reported_with_its_cause(
    logs: Path, spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PipelineError, match=r"kept cannot be written: (Not a directory|File exists)"):
        dataset.ingest(spark, logs / "healthy", tmp_path / "file" / "kept")


def test_a_dataset_whose_parquet_is_damaged_is_an_error_not_a_verdict(
    logs: Path, spark: SparkSession, master: str, tmp_path: Path
) -> None:
    dataset.ingest(spark, logs / "healthy", tmp_path / "kept")
    part = next((tmp_path / "kept" / "events" / "run=healthy").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:100])
    (part.parent / f".{part.name}.crc").unlink()
    with pytest.raises(PipelineError, match="Spark failed"):
        verify(tmp_path / "kept", master)


def test_the_logs_of_a_cluster_are_judged_by_the_command(
    master: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["cluster", "rbp", "--messages", "90", "--seed", "7", "--directory", str(tmp_path / "runs")])
        == 0
    )
    assert capsys.readouterr().out.splitlines()[0] == "seed 7"
    assert main(["verify", str(tmp_path / "runs"), "--master", master, "--json"]) == 0
    document = msgspec.json.decode(capsys.readouterr().out, type=AnyDocument)
    assert (document.outcome, document.report["runs"]) == ("holds", 1)
