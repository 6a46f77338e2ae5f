"""The service judges logs: what is wrong is named with its lines, and the plain-Python checks agree."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.cluster import Judgement, judge
from antiphon.conformance.cluster.service_verdicts import PROPERTIES
from antiphon.conformance.history import history, judge_history
from antiphon.conformance.trace import Broadcast, Crash, Deliver, Header, LogWriter, Run, load_run, log_name


def written(directory: Path, text: str) -> Run:
    """The run of a history in the notation of `antiphon.conformance.history`, by way of real files.

    Every process sends to all after its broadcasts and hears all before its deliveries, so that
    the causal order is as in a run.
    """
    logs = history(text)
    for process, events in enumerate(logs):
        header = Header(
            run="r", protocol="rbp", process=process, processes=len(logs), seed=0,
            messages=sum(isinstance(event, Broadcast) for one in logs for event in one),
        )  # fmt: skip
        with LogWriter(directory / log_name(process), header) as log:
            for event in events:
                if isinstance(event, Broadcast):
                    log.broadcast(event.m, event.digest)
            log.send(f"{process}:1")
            for other in range(len(logs)):
                log.receive(f"{other}:1")
            for event in events:
                if isinstance(event, Deliver):
                    log.deliver(event.m, event.number, event.digest)
            if any(isinstance(event, Crash) for event in events):
                log.crash()
            log.end()
    return load_run(directory)


def outcomes(run: Run) -> dict[str, str]:
    return {judgement.property: judgement.outcome for judgement in judge(run)}


def violated(run: Run) -> set[str]:
    return {name for name, outcome in outcomes(run).items() if outcome == "violated"}


def reason(run: Run, name: str) -> str:
    return next(judgement.reason for judgement in judge(run) if judgement.property == name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0: +a a b | 1: +b a b", set()),
        ("0: +a a b | 1: +b b a", {"UniformTotalOrder", "TotalOrder", "UniformPrefixOrder", "PrefixOrder"}),
        ("0: +a a b ! | 1: +b b a", {"UniformTotalOrder", "UniformPrefixOrder"}),
        ("0: +a a a | 1: a", {"UniformIntegrity", "Integrity"}),
        ("0: +a a | 1: a=x", {"UniformIntegrity", "Integrity", "UniformAgreement", "Agreement",
                              "UniformPrefixOrder", "PrefixOrder"}),
        ("0: +a a | 1:", {"UniformAgreement", "Agreement"}),
        ("0: +a a ! | 1:", {"UniformAgreement"}),
        ("0: +a +0:2 a | 1: a", {"Validity"}),
        ("0: a | 1: a", {"UniformIntegrity", "Integrity"}),
    ],
)  # fmt: skip
def test_each_offence_breaks_exactly_its_properties(tmp_path: Path, text: str, expected: set[str]) -> None:
    run = written(tmp_path, text)
    assert run.problems == ()
    assert violated(run) == expected


def test_an_order_violation_names_the_two_deliveries_and_their_lines(tmp_path: Path) -> None:
    run = written(tmp_path, "0: +a a b | 1: +b b a")
    told = reason(run, "UniformTotalOrder")
    assert "process-1.ndjson:7: process 1 delivers 0:1" in told
    assert "clashes with process-0.ndjson:7: process 0 delivers 1:1" in told


def test_a_missing_delivery_is_named(tmp_path: Path) -> None:
    run = written(tmp_path, "0: +a a | 1: | 2: a")
    assert reason(run, "Agreement") == "process-0.ndjson:7: process 0 delivers 0:1, and process 1 never does"


def test_a_damaged_log_makes_every_property_unknown(tmp_path: Path) -> None:
    written(tmp_path, "0: +a a b | 1: +b b a")
    path = tmp_path / log_name(1)
    path.write_bytes(path.read_bytes()[:-5])
    judgements = judge(load_run(tmp_path))
    assert {judgement.outcome for judgement in judgements} == {"unknown"}
    assert [judgement.property for judgement in judgements] == list(PROPERTIES)
    assert "process-1.ndjson:8: the line is cut off" in judgements[0].reason


def test_a_run_without_deliveries_is_unknown(tmp_path: Path) -> None:
    assert set(outcomes(written(tmp_path, "0: +a | 1:")).values()) == {"unknown"}


def test_an_empty_directory_is_unknown(tmp_path: Path) -> None:
    assert judge(load_run(tmp_path))[0] == Judgement(
        "Validity", "unknown", f"{tmp_path}: no log: a run holds process-0.ndjson, process-1.ndjson, ..."
    )


words = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4)


@given(st.lists(words, min_size=3, max_size=3), st.sets(st.integers(0, 2), max_size=1))
def test_the_service_and_the_plain_checks_agree(deliveries: list[list[str]], crashed: set[int]) -> None:
    text = " | ".join(
        f"{p}: +{'abc'[p]} {' '.join(sequence)}{' !' if p in crashed else ''}"
        for p, sequence in enumerate(deliveries)
    )
    with TemporaryDirectory() as name:
        run = written(Path(name), text)
        judged = outcomes(run)
        problems = run.problems
    if problems or not any(deliveries):
        assert set(judged.values()) == {"unknown"}
        return
    twin = {finding.property: bool(finding.offending) for finding in judge_history(history(text))}
    prefix = not any(len(set(sequence)) < len(sequence) for sequence in deliveries)
    names = ["UniformIntegrity", "UniformAgreement", "Validity", "UniformTotalOrder"]
    assert {name: judged[name] == "violated" for name in names} == {name: twin[name] for name in names}
    if prefix:  # a repetition is a position to one and integrity's matter to the other
        assert (judged["UniformPrefixOrder"] == "violated") == twin["PrefixOrder"]
