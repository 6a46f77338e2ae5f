"""Runs are recorded without a change in them; a file and a report have all that they exercise."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import antiphon
from antiphon.conformance.cli import main
from antiphon.conformance.coverage.branches import Branch, recording, source_of
from antiphon.conformance.coverage.classes import class_text, state_class
from antiphon.conformance.coverage.document import (
    Code,
    CoverageError,
    CoverageFile,
    added,
    changed,
    exercise,
    read,
)
from antiphon.conformance.coverage.modules import modules_of, path_of
from antiphon.conformance.coverage.recorder import Recorder, Seen
from antiphon.conformance.coverage.report import never_taken
from antiphon.conformance.run.swarm import Settings, core_of, recorded_runs, run_schedule, run_seed, steering

SHORT = Settings(messages=4)

TEXT = '''
def sign(number):
    """Return the sign."""
    if number > 0 and number < 10:
        return "+"
    for each in range(number):
        return each
    match number:
        case 0:
            return "0"
    try:
        return [k for k in (1, 2) if k > 1][number]
    except IndexError:
        return "big" if number else "none"


class Deep:
    def outer(self):
        def inner():
            return super()
        return inner
'''


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    file = tmp_path / "signs.py"
    file.write_text(TEXT)
    made = ModuleType("signs")
    made.__file__ = str(file)
    sys.modules["signs"] = made
    exec(compile(TEXT, str(file), "exec"), vars(made))
    return made


def taken(module: ModuleType, *numbers: int) -> set[tuple[int, str]]:
    """The branches that calls with these numbers take, as lines and cases."""
    with recording([module]) as hits:
        for number in numbers:
            module.sign(number)
        (found,) = hits.values()
    branches = source_of(str(module.__file__)).branches
    return {(branch.line, branch.case) for branch, hit in zip(branches, found, strict=True) if hit}


def test_probes_say_which_branches_a_call_takes(module: ModuleType) -> None:
    before = module.sign.__code__
    assert taken(module, 5) == {(2, "called"), (4, "and after number > 0: true"), (4, "if: true")}
    assert taken(module, 0) == {
        (2, "called"), (4, "and after number > 0: false"), (4, "if: false"), (6, "for: the end"),
        (9, "case 0"),
    }  # fmt: skip
    assert (14, "if: true") in taken(module, -7)
    assert {(13, "except"), (8, "match: no case")} <= taken(module, -7)
    assert module.sign.__code__ is before
    assert "_antiphon_hits" not in vars(module)


def test_functions_within_functions_are_named_by_where_they_stand(module: ModuleType) -> None:
    names = {branch.function for branch in source_of(str(module.__file__)).branches}
    assert names == {"sign", "Deep.outer", "Deep.outer.inner"}


def test_a_class_of_states_forgets_numbers_and_payloads() -> None:
    one = {"holding": False, "pending": None, "received": frozenset({1, 2}), "at_ms": 3.5, "last": 7}
    other = {"holding": False, "pending": None, "received": frozenset({5, 6, 7}), "at_ms": 9.5, "last": 1}
    assert state_class(one) == state_class(other)
    assert state_class(one) != state_class({**one, "holding": True})
    assert class_text(one) == "at_ms: there, holding: no, last: +, pending: none, received: several"


@pytest.mark.parametrize("steer", [False, True])
def test_recorded_runs_go_as_the_others_and_again_alike(steer: bool) -> None:
    results, seen = recorded_runs("total", range(6), SHORT, steer=steer)
    assert (results, seen) == recorded_runs("total", range(6), SHORT, steer=steer)
    assert seen.classes
    assert sum(map(sum, seen.branches.values())) > 50
    plain = [run_seed("total", seed, SHORT) for seed in range(6)]
    assert (results == plain) is not steer


def test_a_steered_run_begins_as_a_kept_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steering, "_STEERED", 1.0)
    began = []
    go_on = steering._going_on

    def noted(kept: steering._Kept, drawn: steering.Drawn, messages: int) -> steering.Drawn:
        began.append((kept, go_on(kept, drawn, messages)))
        return began[-1][1]

    monkeypatch.setattr(steering, "_going_on", noted)
    recorded_runs("total", range(5), SHORT, steer=True)
    assert len(began) == 4
    for kept, drawn in began:
        early = [entry for entry in kept.schedule.broadcasts if entry.at_ms <= kept.at_ms]
        assert drawn.schedule.broadcasts[: len(early)] == early
        assert len(drawn.schedule.broadcasts) <= SHORT.messages
        fates = {(fate.sender, fate.to, fate.nth): fate.delays_ms for fate in drawn.weather.met}
        assert run_schedule("total", drawn.schedule, SHORT).outcome.value in ("holds", "unknown")
        assert len(fates) == len(drawn.weather.met)


def test_a_steered_run_that_fails_fails_as_its_schedule() -> None:
    settings = Settings(planted="forgets-the-suffix", messages=20)
    results, _ = recorded_runs(
        "total", range(1_000, 1_060), settings, steer=True, until=lambda run: run.outcome.value != "holds"
    )
    last = results[-1]
    assert last.outcome.value == "violated"
    assert last.schedule is not None
    assert run_schedule("total", last.schedule, settings).symptoms == last.symptoms


def test_what_was_known_is_no_news() -> None:
    _, seen = recorded_runs("total", range(1), SHORT, steer=False)
    modules = modules_of(core_of("total"))
    for known, news in ((Seen(), True), (seen, False)):
        recorder = Recorder(modules, known)
        with recorder.recording():
            (drawn,) = [steering.draw(0, SHORT, core_of("total"))]
            steering.run_drawn("total", 0, drawn, SHORT, recorder.around)
        assert recorder.news is news
        assert recorder.seen == seen


def file_of(branches: list[int], digest: str = "a", protocol: str = "total") -> CoverageFile:
    places = (
        Branch(1, "f", "called"), Branch(2, "f", "if: true"), Branch(3, "f.g", "called"),
        Branch(4, "f.g", "except"),
    )  # fmt: skip
    hits = bytes(at in branches for at in range(4))
    entry = exercise("swarm", Seen({"f.py": hits}, frozenset({"x: one"})), runs=2)
    return CoverageFile(protocol=protocol, code={"f.py": Code(digest, places)}, exercised=[entry])


def test_runs_are_added_and_other_code_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "coverage.json"
    added(file, file_of([0]))
    whole = added(file, file_of([0, 1]))
    assert whole == read(file, "total")
    (entry,) = whole.exercised
    assert (entry.runs, entry.branches, entry.classes) == (4, {"f.py": [0, 1]}, ["x: one"])
    with pytest.raises(CoverageError, match=r"f\.py has changed"):
        added(file, file_of([0], digest="b"))
    with pytest.raises(CoverageError, match="about total"):
        read(file, "rbp")
    file.write_text(file.read_text().replace('"f.py": [', '"f.py": [9,'))
    with pytest.raises(CoverageError, match="no coverage document"):
        read(file, "total")


def test_of_a_function_that_was_never_called_only_that_is_told() -> None:
    assert [each.case for each in never_taken(file_of([]))["f.py"]] == ["called"]
    assert [each[:2] for each in never_taken(file_of([0]))["f.py"]] == [(2, "f"), (3, "f.g")]
    assert never_taken(file_of([0, 1, 2, 3])) == {}


def test_methods_add_to_one_file_and_one_report_shows_what_none_has_seen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "total.json")
    small = ["--max-transitions", "60", "--coverage", file]
    assert main(["lockstep", "chang-maxemchuk", *small]) == 2
    swarm = ["swarm", "chang-maxemchuk", "--seed", "1", "--runs", "4", "--jobs", "1", "--log", str(tmp_path)]
    assert main([*swarm, "--within-model", "--coverage", file]) == 0
    capsys.readouterr()
    assert main(["coverage", "chang-maxemchuk", file, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    methods = {each["method"]: each for each in told["methods"]}
    assert 60 <= methods["lockstep"]["transitions"] < 2_461
    assert methods["swarm"]["runs"] == 4
    assert 0 < methods["swarm"]["transitions"] < 2_461
    never = {each["action"]: each for each in told["never_exercised"]}
    assert all(each["exercised"] < each["transitions"] for each in never.values())
    assert any(each["never"] is not None for each in never.values())
    places = {(each["file"], each["function"]) for each in told["never_taken"]}
    assert all(path.startswith("impl/protocols/") for path, _ in places)
    assert main(["coverage", "chang-maxemchuk", file]) == 0
    assert "no run has taken these branches" in capsys.readouterr().out
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace('"digest": "', '"digest": "0', 1), encoding="utf-8")
    assert main(["lockstep", "chang-maxemchuk", *small]) == 64
    assert main([*swarm, "--coverage", file]) == 64
    assert "has changed since" in capsys.readouterr().err
    assert main(["coverage", "chang-maxemchuk", file]) == 64
    told_of_change = capsys.readouterr().err
    assert f"{file}: {next(iter(json.loads(text)['code']))}: changed since the runs" in told_of_change
    assert f"run again with --coverage {file}" in told_of_change


@pytest.mark.parametrize(("fault", "bound"), [("sends-two", None), (None, 60)])
def test_a_walk_that_ends_early_has_exercised_what_it_took(fault: str | None, bound: int | None) -> None:
    """At a bound, all that it has counted; at a difference, the run that shows it too."""
    binding = antiphon.binding("chang-maxemchuk", fault=fault)
    report = antiphon.lockstep(binding, max_transitions=bound)
    taken = set(report.taken)
    assert not report.complete
    if report.difference is None:
        assert len(taken) == report.transitions >= 60
        return
    trace = report.difference.trace
    assert {(state, step) for state, step in zip(trace.states, trace.steps, strict=False)} <= taken
    assert report.transitions < len(taken) <= report.transitions + len(trace)


def test_a_complete_walk_need_not_say_what_it_took() -> None:
    small = antiphon.binding("chang-maxemchuk", processes=2, messages=1)
    report = antiphon.lockstep(small)
    assert report.complete
    assert list(report.taken) == []


LAMP = """
from antiphon.spec.lang import Spec, action
from antiphon.testing import binding


class Lamp(Spec):
    lit: bool = False

    @action
    def press(self) -> None:
        self.lit = not self.lit


@binding(Lamp)
class Real:
    def __init__(self):
        self.lit = False

    def press(self):
        self.lit = not self.lit

    def state(self):
        return {"lit": self.lit}
"""


def test_a_specification_without_constants_has_transitions_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("covered_lamp.py").write_text(LAMP)
    assert main(["lockstep", "covered_lamp.py:Real", "--coverage", "c.json"]) == 0
    capsys.readouterr()
    assert main(["coverage", "covered_lamp.py:Real", "c.json"]) == 0
    assert "2 of 2" in capsys.readouterr().out


def test_a_file_about_code_that_has_gone_is_refused() -> None:
    document = file_of([0])
    assert changed(document, {"f.py": Code("a", document.code["f.py"].branches)}) == []
    assert changed(document, {"f.py": Code("b", ())}) == ["f.py"]
    assert changed(document, {"g.py": Code("a", ())}) == ["f.py"]


def test_the_code_of_a_protocol_is_its_core_and_what_that_uses() -> None:
    paths = [path_of(module) for module in modules_of(core_of("total"))]
    assert "impl/protocols/total/process.py" in paths
    assert "impl/protocols/total/listed.py" not in paths
    assert "impl/protocols/core.py" not in paths


def test_real_processes_are_in_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The branches and state classes of each process, with those of a swarm's runs beside them."""
    monkeypatch.chdir(tmp_path)
    assert main(["cluster", "total", "--messages", "60", "--coverage", "c.json"]) == 0
    assert main(["swarm", "total", "--seed", "1", "--runs", "5", "--jobs", "1", "--coverage", "c.json"]) == 0
    document = read(tmp_path / "c.json", "total")
    (real, drawn) = document.exercised
    assert (real.method, real.runs, drawn.method) == ("cluster", 1, "swarm")
    core = "impl/protocols/total/process.py"
    assert len(set(real.branches[core]) & set(drawn.branches[core])) > 20
    assert real.classes
    assert len(list(tmp_path.glob("runs/*/exercised-*-0.json"))) == 3
    capsys.readouterr()
    assert main(["coverage", "total", "c.json"]) == 0
    assert "cluster " in capsys.readouterr().out


@pytest.mark.deep
def test_processes_that_are_killed_have_exercised_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--messages", "60", "--only", "crash", "--coverage", "c.json"]
    assert main(["cluster", "irbp", *words]) == 0
    (entry,) = read(tmp_path / "c.json", "irbp").exercised
    assert len(entry.branches["impl/protocols/rbp/process.py"]) > 50
    assert len(list(tmp_path.glob("runs/*/exercised-*-1.json"))) == 1, "one was started again"


@pytest.mark.parametrize("more", [["--system", "corosync"], ["TOTAL:MBRSHIP:FRAG:NAK:COM"]])
def test_what_nobody_looks_into_has_no_coverage(more: list[str], tmp_path: Path) -> None:
    assert main(["cluster", *more, "--coverage", str(tmp_path / "c.json")]) == 64
