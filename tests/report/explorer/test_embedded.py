"""Reports and notebooks embed the file of the explorer, in a frame, and stay one file of at most 5 MB."""

import html
import json
import re
from pathlib import Path

import pytest
from tests.report.explorer.files import content

import antiphon
from antiphon.conformance.cli import main
from antiphon.conformance.report.answers import Answer, of_report
from antiphon.conformance.report.explorer import Walk, embedded, saved_page
from antiphon.conformance.report.explorer import saved as saving
from antiphon.conformance.report.explorer.walk import options_of
from antiphon.conformance.report.page import page
from antiphon.spec.lang import Program


@pytest.fixture(scope="module")
def figure5() -> Program:
    return antiphon.program("figure-5", processes=2, messages=1, repairs=["start_token"])


@pytest.fixture(scope="module")
def report(figure5: Program) -> antiphon.Report:
    return antiphon.check(figure5)


def framed(text: str) -> list[str]:
    """The files in the frames of a text."""
    return [html.unescape(found) for found in re.findall(r"srcdoc='([^']*)'", text)]


@pytest.mark.deep
def test_a_report_embeds_the_file_of_the_explorer(report: antiphon.Report, figure5: Program) -> None:
    text = page(Answer("check", (of_report("figure-5", report, "again"),)), "1")
    (file,) = framed(text)
    runs = {item.property: item.trace for item in report.verdicts if item.trace and item.outcome != "holds"}
    wrong = {name: run for name, run in runs.items() if name in ("UniformIntegrity", "Integrity")}
    walk = Walk(figure5, "figure-5", options_of(figure5))
    expected, told = saved_page(walk, wrong, states_max=saving.EMBEDDED_STATES_MAX, bytes_max=800_000)
    assert content(file)["about"]["contents"] == told
    assert file == expected
    assert told in text
    assert list(content(file)["traces"]) == ["UniformIntegrity", "Integrity"]
    outside = re.sub(r"<iframe.*?</iframe>", "", text, flags=re.DOTALL)
    assert not re.search(r"<script|<link|<img|@import|url\(|href=|src=", outside)
    assert re.search(r'<iframe [^>]*sandbox="allow-scripts" ', text)


def test_a_notebook_shows_a_run_with_the_same_file(
    report: antiphon.Report, figure5: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "EMBEDDED_STATES_MAX", 40)
    run = report.counterexample
    assert run is not None
    (file,) = framed(run._repr_html_())
    assert framed(report._repr_html_()) == [file]
    walk = Walk(figure5, "figure-5", options_of(figure5))
    limits = {"states_max": saving.EMBEDDED_STATES_MAX, "bytes_max": saving.EMBEDDED_BYTES_MAX * 8 // 10}
    assert file == saved_page(walk, {run.shows: run}, **limits)[0]
    assert content(file)["about"]["options"][:2] == ["--repair", "start_token"]


def test_a_report_of_many_suites_is_no_larger_than_a_file(
    report: antiphon.Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "BYTES_MAX", 800_000)
    monkeypatch.setattr(saving, "EMBEDDED_STATES_MAX", 40)
    suites = tuple(of_report(f"figure-5 {number}", report, "again") for number in range(3))
    text = page(Answer("check", suites), "1")
    assert len(text.encode()) <= 800_000
    assert len(framed(text)) == 3
    assert all(" alone are in it" in content(file)["about"]["contents"] for file in framed(text))


def test_what_is_too_large_is_told(
    report: antiphon.Report, figure5: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "EMBEDDED_STATES_MAX", 40)
    run = report.counterexample
    assert run is not None
    assert framed(embedded(figure5, "figure-5", {"run": run}, bytes_max=20_000)) == []


def test_the_commands_write_what_can_be_walked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "EMBEDDED_STATES_MAX", 40)
    log, out = tmp_path / "run.ndjson", tmp_path / "out.html"
    lines = ({"action": action, "args": {"s": 0}} for action in ("time_out", "become_leader"))
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert main(["trace", "raft", str(log), "--html", str(out)]) == 1
    (file,) = framed(out.read_text(encoding="utf-8"))
    data = content(file)
    assert [line["states"] for line in data["log"]["lines"]] == [1, 1, None]
    (kept,) = data["places"][1]["states"][0]["kept"]
    assert kept["obstacles"][0]["why"] == "requires 2 * votes > self.servers"
    words = ["lockstep", "sequencer", "--fault", "resends-nothing", "--html", str(out)]
    assert main(words) == 1
    (file,) = framed(out.read_text(encoding="utf-8"))
    assert list(content(file)["traces"]) == ["Lockstep"]
    assert main(["check", "die-hard", "--html", str(out)]) == 1
    assert len(framed(out.read_text(encoding="utf-8"))) == 1
    assert main(["check", "ewd840", "--set", "nodes=2", "--html", str(out)]) == 0
    assert framed(out.read_text(encoding="utf-8")) == []
    capsys.readouterr()
