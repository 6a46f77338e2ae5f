"""Reports of all commands for other programs, and what GitHub's runner is told."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import write_swap
from tests.report.forms import read_junit, read_sarif

from antiphon.conformance.cli import cluster
from antiphon.conformance.judge.history import judge_run
from antiphon.conformance.judge.trace import load_run
from antiphon.conformance.run.cluster import ClusterResult, ClusterSettings
from antiphon.conformance.run.cluster.result import PROMISE

Run = Callable[..., Any]
SMALL = ("--processes", 2, "--messages", 1, "--losses", 0, "--timeouts", 0)
UNDISTURBED = ("--loss-rate", 0, "--duplication-rate", 0, "--reordering-rate", 0)

COMMANDS = {
    "check": (("check", "cli_courier:Courier"), 1, "AtMostTwo"),
    "unknown": (("check", "cli_courier:Courier", "--max-states", 3), 2, "AtMostTwo"),
    "lockstep": (("lockstep", "rbp", *SMALL, "--fault", "keeps-token"), 1, "Lockstep"),
    "swarm": (
        ("swarm", "total", "--runs", 1, "--seed", 5, "--jobs", 1, "--fault", "passes-one"),
        1,
        "UniformAgreement",
    ),
    "cluster": (("cluster", "rbp", "--messages", 6, *UNDISTURBED), 0, "UniformTotalOrder"),
    "verify": (("verify", "logs", "--promise", "uniform-total-order"), 1, "UniformTotalOrder"),
}  # fmt: skip


@pytest.fixture
def asked(antiphon: Run, tmp_path: Path) -> Callable[..., Any]:
    """Ask a command for all reports; its answer, and the files by their options."""

    def ask(*arguments: object) -> tuple[Any, dict[str, str]]:
        write_swap(tmp_path / "logs" / "a")
        names = ("junit", "sarif", "html", "shiviz", "perfetto")
        files = {name: tmp_path / f"report.{name}" for name in names}
        options = [word for name, file in files.items() for word in (f"--{name}", file)]
        given = antiphon(*arguments, *options)
        written = {name: file for name, file in files.items() if file.is_file()}
        return given, {name: file.read_text(encoding="utf-8") for name, file in written.items()}

    return ask


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", COMMANDS)
def test_all_commands_make_the_same_reports(asked: Callable[..., Any], tmp_path: Path, name: str) -> None:
    """Violated is a failure and an error of SARIF, unknown an error and a warning, and neither passes."""
    arguments, code, prop = COMMANDS[name]
    given, files = asked(*arguments)
    assert given.code == code, given.err
    outcome = {0: "holds", 1: "violated", 2: "unknown"}[code]
    root = read_junit(files["junit"])
    facts = {item.attrib["name"]: item.attrib["value"] for item in root.iter("property")}
    assert facts["outcome"] == outcome
    assert facts["reproduce"].startswith(f"antiphon {arguments[0]} ")
    assert float(facts["seconds"]) >= 0
    cases = {case.attrib["name"]: [child.tag for child in case] for case in root.iter("testcase")}
    wanted = {0: [], 1: ["failure"], 2: ["error"]}[code]
    assert [tag for tag in cases[prop] if tag != "system-out"] == wanted
    run = read_sarif(files["sarif"])
    assert (run.invocations[0].exit_code, run.automation_details.id) == (code, f"antiphon/{arguments[0]}/")
    levels = {result.rule_id: result.level for result in run.results}
    assert levels.get(f"antiphon/{prop}") == {0: None, 1: "error", 2: "warning"}[code]
    shown = next((item for item in run.results if item.rule_id == f"antiphon/{prop}"), None)
    assert files["html"].count("<h1>") == 1
    assert facts["reproduce"].split()[1] in files["html"]
    if code != 1:
        assert files.keys() == {"junit", "sarif", "html"}
        assert f"--shiviz {tmp_path / 'report.shiviz'}: no counterexample was found" in given.err
        return
    assert shown is not None
    (place,) = shown.locations
    assert place.physical_location is not None
    at = place.physical_location.artifact_location.uri or ""
    ends = {"check": "cli_courier.py", "verify": ".ndjson", "swarm": "schedule.json"}
    assert at.endswith(ends.get(name, ".py"))
    assert shown.code_flows
    assert "<svg" in files["html"]
    assert json.loads(files["perfetto"])["traceEvents"]
    assert files["shiviz"].startswith("(?<event>")


PROPERTYLESS = """
from antiphon.spec.lang import Spec, action


class Lamp(Spec):
    lit: bool = False

    @action
    def switch(self) -> None:
        self.lit = not self.lit
"""

TALKS = "import sys\nprint('hello', flush=True)\n"
WRONG = (sys.executable, "-S", "talks.py")
PAUSE = ("--jobs", 1, "--only", "pause", "--messages", 1)
NO_LOSS = ("--loss-rate", 0, "--duplication-rate", 0.001)

RESULTS_BY_FILE = {
    "whole": ("check", ("propertyless.py:Lamp", "cli_courier:Courier"), "propertyless.py"),
    "lockstep": ("lockstep", ("rbp", *SMALL, "--max-states", 3), ".py"),
    "swarm": ("swarm", ("rbp", "--runs", 1, "--seed", 2, *PAUSE), "schedule.json"),
    "cluster": ("cluster", ("rbp", "--messages", 1, *NO_LOSS), ".ndjson"),
    "verify": ("verify", ("none", "--promise", "uniform-total-order"), "none"),
    "trace": ("trace", ("cli_courier:Courier", "none.ndjson"), "cli_courier.py"),
    "adapter check": ("adapter", ("check", *WRONG), "talks.py"),
    "adapter run": ("adapter", ("run", "--only", "loss", *WRONG), "talks.py"),
}


@pytest.mark.parametrize("name", RESULTS_BY_FILE)
def test_every_result_has_a_place(antiphon: Run, tmp_path: Path, name: str) -> None:
    """GitHub refuses a whole file for one result without a place; the judged thing is one."""
    (tmp_path / "propertyless.py").write_text(PROPERTYLESS)
    (tmp_path / "talks.py").write_text(TALKS)
    command, words, ends = RESULTS_BY_FILE[name]
    given = antiphon(command, *words[:1], "--sarif", "s.sarif", *words[1:])
    assert given.code in (1, 2), given.err
    results = read_sarif((tmp_path / "s.sarif").read_text()).results
    places = [item.physical_location for result in results for item in result.locations]
    assert len(places) == len(results) > 0
    assert any(place is not None and place.artifact_location.uri.endswith(ends) for place in places)


@pytest.mark.parametrize("made", [True, False], ids=["empty", "missing"])
def test_logs_that_are_not_there_are_unknown_with_a_report(
    asked: Callable[..., Any], tmp_path: Path, made: bool
) -> None:
    """In a CI it is the run that failed to write them."""
    if made:
        (tmp_path / "none").mkdir()
    given, files = asked("verify", "none", "--promise", "uniform-total-order")
    assert given.code == 2, given.err
    reason = "no run; a run is a directory" if made else "there is no such file or directory"
    assert reason in " ".join(given.out.split())
    root = read_junit(files["junit"])
    cases = {case.attrib["name"]: [child.tag for child in case] for case in root.iter("testcase")}
    assert cases["UniformTotalOrder"] == ["error"]
    levels = {result.rule_id: result.level for result in read_sarif(files["sarif"]).results}
    assert levels["antiphon/UniformTotalOrder"] == "warning"
    assert reason in files["html"]


def test_a_cluster_that_breaks_its_promise_is_red_in_every_report(
    asked: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processes are left out here: their logs are written by hand, with two messages swapped."""
    logs = tmp_path / "logs" / "a"
    write_swap(logs)
    judged = judge_run(load_run(logs), PROMISE)
    result = ClusterResult(ClusterSettings(), logs, "a", 1.0, (2, 2, 2), {}, (0, 0, 0), (), judged)
    monkeypatch.setattr(cluster, "run_cluster", lambda *_, **__: result)
    given, files = asked("cluster", "rbp", "--log", tmp_path / "runs")
    assert given.code == 1, given.err
    root = read_junit(files["junit"])
    cases = {case.attrib["name"]: [child.tag for child in case] for case in root.iter("testcase")}
    assert cases["UniformTotalOrder"][0] == "failure"
    run = read_sarif(files["sarif"])
    (found,) = [item for item in run.results if item.rule_id == "antiphon/UniformTotalOrder"]
    place = found.locations[0].physical_location
    assert place is not None
    assert (found.level, place.artifact_location.uri) == ("error", "logs/a/process-2.ndjson")
    assert [flow.id for flow in found.code_flows[0].thread_flows] == ["process 0", "process 1", "process 2"]
    assert "<svg" in files["html"]
    assert json.loads(files["perfetto"])["traceEvents"]
    assert files["shiviz"].startswith("(?<event>")


def test_a_report_of_an_earlier_run_is_not_taken_for_this_ones(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "junit.xml"
    file.write_text("all is well")
    assert antiphon("check", "no-such-specification", "--junit", file).code == 64
    assert not file.exists()
    nowhere = antiphon("check", "die-hard", "--junit", tmp_path / "none" / "junit.xml")
    assert (nowhere.code, "--junit" in nowhere.err) == (64, True)


def test_reports_change_nothing_that_is_printed(antiphon: Run, tmp_path: Path) -> None:
    plain = antiphon("check", "die-hard", "--json").document
    with_reports = antiphon("check", "die-hard", "--json", "--junit", tmp_path / "j.xml").document
    plain.reports[0].seconds = with_reports.reports[0].seconds
    assert plain == with_reports
    assert (tmp_path / "j.xml").is_file()


def test_github_is_told_the_line_and_given_a_summary(
    antiphon: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, beside the document; only on its runner, and each command adds to the summary."""
    summary = tmp_path / "summary.md"
    quiet = antiphon("check", "cli_courier:Courier", "--json")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert antiphon("check", "cli_courier:Courier", "--json").err == quiet.err
    assert not summary.exists()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    told = antiphon("check", "cli_courier:Courier", "--json")
    assert told.document.outcome == "violated"
    (line,) = re.findall(r"^::error file=cli_courier.py,line=(\d+),title=AtMostTwo", told.err, re.MULTILINE)
    assert "AtMostTwo" in "".join((tmp_path / "cli_courier.py").read_text().splitlines()[int(line) - 1 :][:2])
    assert antiphon("check", "two-phase").code == 0
    text = summary.read_text(encoding="utf-8")
    assert text.count("### antiphon check") == 2
    assert "| AtMostTwo | ❌ violated |" in text
    assert "receive Letter" in text


def test_a_fingerprint_stays_when_the_text_moves(antiphon: Run, tmp_path: Path) -> None:
    """The line does not."""
    found = []
    for name, head in (("first", ""), ("second", "# a line\n# and another\n")):
        folder = tmp_path / name
        folder.mkdir()
        file = shutil.copy(tmp_path / "cli_courier.py", folder / f"cli_{name}.py")
        Path(file).write_text(head + Path(file).read_text())
        antiphon("check", f"{file}:Courier", "--property", "AtMostTwo", "--sarif", folder / "s.sarif")
        (result,) = read_sarif((folder / "s.sarif").read_text()).results
        assert result.locations[0].physical_location is not None
        found.append((result.partial_fingerprints, result.locations[0].physical_location.region.start_line))
    (one, first), (two, second) = found
    assert one == two
    assert second == first + 2


def test_a_difference_stands_in_the_method_of_a_plain_class(antiphon: Run, tmp_path: Path) -> None:
    """A user's own file, and not one of antiphon or of the specification."""
    antiphon("init", "project")
    lock, binding = tmp_path / "project" / "lock.py", tmp_path / "project" / "lock_binding.py"
    lock.write_text(lock.read_text().replace("# self.queue.rotate()", "self.queue.rotate()"))
    assert antiphon("lockstep", f"{binding}:Real", "--sarif", "s.sarif").code == 1
    (result,) = read_sarif((tmp_path / "s.sarif").read_text()).results
    place = result.locations[0].physical_location
    assert place is not None
    assert place.artifact_location.uri == "project/lock_binding.py"
    assert "def hear_release" in binding.read_text().splitlines()[place.region.start_line - 1]


def test_a_saved_trace_and_the_logs_of_a_run_are_written_for_other_viewers(
    antiphon: Run, trace: Path, tmp_path: Path
) -> None:
    write_swap(tmp_path / "a")
    for file in (trace, tmp_path / "a"):
        shown = antiphon("show", file, "--shiviz", "s.log", "--perfetto", "p.json")
        assert shown.code == 0
        events = json.loads((tmp_path / "p.json").read_text())["traceEvents"]
        assert len([event for event in events if event["ph"] == "X"]) >= 2
        assert (tmp_path / "s.log").read_text().count('": ') >= 2
