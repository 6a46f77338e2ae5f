from pathlib import Path

import pytest
from tests.judge.history.known import PROPERTIES

from antiphon.conformance.judge.history import Finding, judge_run, outcome_of
from antiphon.conformance.judge.history.finding import NEVER_SENT
from antiphon.conformance.judge.trace import (
    AFTER_END,
    CUT_OFF,
    MISSING,
    NO_DELIVERIES,
    TRUNCATED,
    Header,
    LogWriter,
    digest,
    load_run,
    log_name,
)
from antiphon.spec.services.broadcast import NEVER_BROADCAST, NOT_BY_ALL, TWICE, VALIDITY

JUDGED = [name for name in PROPERTIES if name not in ("DatagramIntegrity", "Handover")]
"""Properties on which these logs hold any event."""


def write(directory: Path, process: int, deliver: bool = True, end: bool = True) -> None:
    header = Header(run="r", protocol="rbp", process=process, processes=2, seed=1, messages=2)
    with LogWriter(directory / log_name(process), header) as log:
        if process == 0:
            log.broadcast("0:1", digest(b"x"))
            log.broadcast("0:2", digest(b"y"))
        if deliver:
            log.deliver("0:1", 1, digest(b"x"))
            log.deliver("0:2", 2, digest(b"y"))
        if end:
            log.end()


def test_whole_logs_are_judged(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1)
    assert judge_run(load_run(tmp_path)).outcomes == dict.fromkeys(JUDGED, "holds")


def test_of_logs_that_stop_early_only_what_is_broken_for_ever_is_told(tmp_path: Path) -> None:
    write(tmp_path, 0)
    write(tmp_path, 1, deliver=False, end=False)
    judged = judge_run(load_run(tmp_path))
    assert judged.outcomes == dict.fromkeys(JUDGED, "unknown")
    assert [problem.path.name for problem in judged.problems] == ["process-1.ndjson"]
    path = tmp_path / log_name(0)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:5], lines[4].replace(b'"i":3', b'"i":4')]))
    judged = judge_run(load_run(tmp_path))
    broken = {"UniformIntegrity": "violated"}
    assert judged.outcomes == dict.fromkeys(JUDGED, "unknown") | broken


@pytest.mark.parametrize("fault", ["a line of another kind", MISSING, AFTER_END])
def test_with_any_other_damage_nothing_is_known(fault: str) -> None:
    broken = Finding("UniformIntegrity", 1, TWICE)
    assert outcome_of(broken, ()) == "violated"
    assert outcome_of(broken, {TRUNCATED, CUT_OFF}) == "violated"
    assert outcome_of(broken, {TRUNCATED, fault}) == "unknown"


@pytest.mark.parametrize(
    "finding",
    [
        Finding("Validity", 1, VALIDITY.reason),
        Finding("UniformAgreement", 1, NOT_BY_ALL),
        Finding("Agreement", 1, NOT_BY_ALL),
        Finding("UniformIntegrity", 1, NEVER_BROADCAST),
        Finding("DatagramIntegrity", 1, NEVER_SENT),
    ],
)
def test_what_the_missing_end_of_a_log_may_mend_is_unknown(finding: Finding) -> None:
    assert outcome_of(finding, ()) == "violated"
    assert outcome_of(finding, {TRUNCATED}) == "unknown"


def test_silence_is_no_agreement(tmp_path: Path) -> None:
    write(tmp_path, 0, deliver=False)
    write(tmp_path, 1, deliver=False)
    judged = judge_run(load_run(tmp_path))
    assert [problem.reason for problem in judged.problems] == [NO_DELIVERIES]
    assert set(judged.outcomes.values()) == {"unknown"}
