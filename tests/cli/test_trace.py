"""`antiphon trace`: is there a behaviour of a specification that explains the log of a real run?"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.forms import read_junit, read_sarif
from tests.schemas import complaints

from antiphon.conformance.compare.validation import logs

Run = Callable[..., Any]
SEND = {"action": "send", "args": {"p": 1}}
RECEIVE = {"action": "receive", "state": {"count": 1}}
COURIER = "cli_courier:Courier"


def write(file: Path, *lines: object) -> Path:
    assert [complaints("observation", line) for line in lines if complaints("observation", line)] == []
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_an_explained_log_holds_and_its_explanation_is_a_trace(antiphon: Run, tmp_path: Path) -> None:
    log = write(tmp_path / "run.ndjson", SEND, RECEIVE)
    answer = antiphon("trace", COURIER, log, "--save", "run.itf.json")
    assert (answer.code, "an explanation: 2 steps" in answer.out) == (0, True)
    assert "all 2 steps run" in antiphon("replay", "run.itf.json").out
    document = antiphon("trace", COURIER, log, "--ways", "--json").document
    assert (document.outcome, document.ways, document.failure) == ("holds", 1, None)
    assert [step.step for step in document.trace.steps] == ["send(p1)", "receive(Letter(p1))"]
    assert antiphon("trace", *document.reproduce.split()[2:]).code == 0


def test_a_log_that_is_not_explained_is_violated_at_its_line(antiphon: Run, tmp_path: Path) -> None:
    """With the states and the guards; and so it stands in the reports."""
    log = write(tmp_path / "run.ndjson", SEND, RECEIVE, RECEIVE)
    answer = antiphon("trace", COURIER, log, "--junit", "j.xml", "--sarif", "s.sarif")
    assert answer.code == 1
    assert f"no behaviour explains {log}:3; 2 of 3 observations are explained" in answer.out
    assert "✗ receive: self.network has no such packet" in answer.out
    document = antiphon("trace", COURIER, log, "--json").document
    assert (document.outcome, document.failure.explained, document.failure.states) == ("violated", 2, 1)
    assert [line.at for line in document.failure.lines] == [f"{log}:3"]
    (stuck,) = document.failure.stuck
    assert stuck.state == {"network": [], "count": 1}
    (result,) = read_sarif((tmp_path / "s.sarif").read_text()).results
    place = result.locations[0].physical_location
    assert place is not None
    assert (place.artifact_location.uri, place.region.start_line) == ("run.ndjson", 3)
    assert read_junit((tmp_path / "j.xml").read_text()).attrib["failures"] == "1"


def test_a_property_is_judged_on_explanations(antiphon: Run, tmp_path: Path) -> None:
    """The literal courier counts one letter too many."""
    log = write(tmp_path / "run.ndjson", *[SEND, {"action": "receive"}] * 3)
    answer = antiphon("trace", COURIER, log, "--junit", "j.xml")
    assert answer.code == 1
    assert "6 observations explained in 1 way; false: AtMostTwo in all" in answer.out
    root = read_junit((tmp_path / "j.xml").read_text())
    assert [case.attrib["name"] for case in root.iter("testcase") if len(case)] == ["AtMostTwo"]
    repaired = antiphon("trace", COURIER, log, "--repair", "all")
    assert (repaired.code, "send: requires self.is_open()" in repaired.out) == (1, True)
    assert f"{log}:5" in repaired.out


@pytest.mark.parametrize("lines", [(), None])
def test_an_empty_or_missing_log_is_unknown(
    antiphon: Run, tmp_path: Path, lines: tuple[object, ...] | None
) -> None:
    file = tmp_path / "run.ndjson"
    if lines is not None:
        write(file, *lines)
    answer = antiphon("trace", COURIER, file, "--junit", "j.xml")
    assert answer.code == 2
    told = "there is no such log" if lines is None else "no line of the logs tells anything"
    assert told in answer.out
    assert read_junit((tmp_path / "j.xml").read_text()).attrib["errors"] == "1"


def test_a_directory_is_no_log_and_a_pipe_is_one(antiphon: Run, tmp_path: Path) -> None:
    """A shell's `<(zcat run.ndjson.gz)` is a pipe, whose lines are text: its name says nothing of JSON."""
    answer = antiphon("trace", COURIER, tmp_path)
    assert (answer.code, f"{tmp_path} is a directory: name the logs in it" in answer.err) == (64, True)
    (tmp_path / "piped_map.py").write_text("import json\n\ndef observe(line):\n    return json.loads(line)\n")
    reading, writing = os.pipe()
    os.write(writing, (json.dumps(SEND) + "\n").encode())
    os.close(writing)
    answer = antiphon("trace", COURIER, f"/dev/fd/{reading}", "--map", tmp_path / "piped_map.py")
    os.close(reading)
    assert answer.code == 0
    assert "1 observation explained" in answer.out


def test_a_line_that_is_no_observation_is_no_document_either() -> None:
    assert complaints("observation", {"act": "send"})
    assert complaints("observation", {"args": 3})


def test_a_log_whose_last_line_is_cut_off_is_judged_up_to_there(antiphon: Run, tmp_path: Path) -> None:
    """A process was killed while it wrote. What is explained is unknown, since the line may tell more; what
    is not explained stays so.
    """
    log = write(tmp_path / "run.ndjson", SEND, RECEIVE)
    with log.open("ab") as file:
        file.write(json.dumps({"action": "send", "by": "é"}, ensure_ascii=False).encode()[:-3])
    answer = antiphon("trace", COURIER, log, "--junit", "j.xml")
    assert answer.code == 2
    assert f"{log}:3: the line is cut off; up to there 2 observations explained" in answer.out
    assert read_junit((tmp_path / "j.xml").read_text()).attrib["errors"] == "1"
    write(log, SEND, RECEIVE, RECEIVE)
    with log.open("ab") as file:
        file.write(b'{"action": "se')
    assert antiphon("trace", COURIER, log).code == 1
    log.write_text(log.read_text() + "\n")
    assert antiphon("trace", COURIER, log).code == 64, "a whole line is no JSON"


@pytest.mark.parametrize(
    ("name", "map_", "told"),
    [
        ("divides", "def observe(line):\n    return 1 / 0\n", "ZeroDivisionError"),
        ("exits", "import sys\n\ndef observe(line):\n    sys.exit(0)\n", "sys.exit(0)"),
        ("misspells", "def observe(line):\n    return {'action': 'sned'}\n", "did you mean 'send'"),
        ("fails", "def observe(line):\n    return 1 / 0\n", "run.ndjson:1: the map fails: ZeroDivision"),
        (
            "goes_round",
            "def observe(line):\n    while True:\n        pass\n",
            "the map of run.ndjson:1 runs for 0.2 s (",
        ),
        (
            "fails_later",
            "def observe(line):\n    return line | {'state': {'count': lambda count: 1 / 0}}\n",
            "run.ndjson:1: a function of the map fails: ZeroDivision",
        ),
        ("says_nothing", "x = 1\n", "map"),
    ],
)
def test_a_map_that_fails_is_wrong_usage(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, map_: str, told: str
) -> None:
    monkeypatch.setattr(logs, "MAP_SECONDS", 0.2)
    (tmp_path / f"map_{name}.py").write_text(map_)
    write(tmp_path / "run.ndjson", SEND)
    answer = antiphon("trace", COURIER, "run.ndjson", "--map", f"map_{name}.py")
    assert (answer.code, told in answer.err) == (64, True), answer.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--hidden", "lose"), "--hidden lose: write ACTION:N"),
        (("--hidden", "loose:1"), "did you mean 'lose'"),
        (("--from", "{"), "--from: not JSON"),
        (("--from", "nowhere"), "--from nowhere: No such file"),
        (("--from", '{"coutn": 1}'), "did you mean 'count'"),
    ],
)
def test_what_cannot_be_asked_is_wrong_usage(
    antiphon: Run, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    answer = antiphon("trace", COURIER, write(tmp_path / "run.ndjson", SEND), *words)
    assert (answer.code, told in answer.err) == (64, True), answer.err


def test_what_begins_in_the_middle_cannot_be_saved(antiphon: Run, tmp_path: Path) -> None:
    log = write(tmp_path / "run.ndjson", {"state": {"count": 2}})
    assert antiphon("trace", COURIER, log, "--from", '{"count": 2}').code == 0
    refused = antiphon("trace", COURIER, log, "--from", '{"count": 2}', "--save", "t.itf.json")
    assert (refused.code, "cannot be replayed" in refused.err) == (64, True)
