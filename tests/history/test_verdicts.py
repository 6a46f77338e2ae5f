from pathlib import Path

from antiphon.conformance.history import judge_run
from antiphon.conformance.trace import NO_DELIVERIES, Header, LogWriter, digest, load_run, log_name


def write(directory: Path, process: int, deliver: bool = True, end: bool = True) -> None:
    header = Header(run="r", protocol="rbp", process=process, processes=2, seed=1, messages=1)
    with LogWriter(directory / log_name(process), header) as log:
        if process == 0:
            log.broadcast("0:1", digest(b"x"))
        if deliver:
            log.deliver("0:1", 1, digest(b"x"))
        if end:
            log.end()


def test_whole_logs_are_judged(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1)
    judgement = judge_run(load_run(tmp_path))
    assert {judgement.outcome(f) for f in judgement.findings} == {"holds"}


def test_a_truncated_log_makes_every_verdict_unknown_even_of_what_seems_violated(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1, deliver=False, end=False)
    judgement = judge_run(load_run(tmp_path))
    assert judgement.findings[1].offending == 0, "a log without events owes nothing"
    assert {judgement.outcome(f) for f in judgement.findings} == {"unknown"}
    assert [problem.path.name for problem in judgement.problems] == ["process-1.ndjson"]


def test_silence_is_no_agreement(tmp_path: Path) -> None:
    write(tmp_path, 0, deliver=False)
    write(tmp_path, 1, deliver=False)
    judgement = judge_run(load_run(tmp_path))
    assert [problem.reason for problem in judgement.problems] == [NO_DELIVERIES]
    assert {judgement.outcome(f) for f in judgement.findings} == {"unknown"}
