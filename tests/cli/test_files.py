"""`replay`, `show` and `explain` answer about saved traces, and refuse files that are none."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import binding_of, bound_protocols
from antiphon.conformance.compare.lockstep import lockstep
from antiphon.model.export import save

Run = Callable[..., Any]


def test_a_trace_that_still_shows_its_violation_exits_with_1(antiphon: Run, trace: Path) -> None:
    answer = antiphon("replay", trace)
    assert answer.code == 1
    assert answer.out.splitlines()[-1] == "✗ violated  AtMostTwo is false"


def test_a_file_whose_property_was_changed_shows_nothing(antiphon: Run, trace: Path) -> None:
    for name in ("Nothing", ""):
        data = json.loads(trace.read_text())
        data["#meta"]["antiphon"]["property"] = name
        trace.write_text(json.dumps(data))
        assert antiphon("replay", trace).code == 2


def test_a_replayed_trace_is_the_same_document_as_when_it_was_found(antiphon: Run, trace: Path) -> None:
    found = antiphon("check", "cli_courier:Courier", "--json").document.reports[0].verdicts[0].trace
    assert antiphon("replay", trace, "--json").document.trace == found


def pytest_of(test: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-B",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        str(test),
    ]
    return subprocess.run(command, cwd=test.parent, capture_output=True, text=True, check=False)


@pytest.mark.deep
def test_a_regression_test_passes_until_a_step_is_impossible(
    antiphon: Run, trace: Path, tmp_path: Path
) -> None:
    """The test survives one more property, and runs in another directory than that in which it was made."""
    (tmp_path / "regressions").mkdir()
    test = tmp_path / "regressions" / "test_courier.py"
    assert antiphon("replay", trace, "--pytest", test).code == 1
    assert "1 passed" in pytest_of(test).stdout
    module = tmp_path / "cli_courier.py"
    module.write_text(
        f"{module.read_text()}\n    @witness\n    def One(self) -> bool:\n        return self.count == 1\n"
    )
    assert "1 passed" in pytest_of(test).stdout
    module.write_text(module.read_text().replace("self.count < 3 and", "self.count < 2 and"))
    failed = pytest_of(test).stdout
    assert "1 failed" in failed
    assert "the specification has changed since this trace was made" in failed


@pytest.fixture
def difference(tmp_path: Path) -> Path:
    """A difference between specification and a faulty implementation, saved."""
    report = lockstep(binding_of("rbp", fault="keeps-token", messages=1), max_transitions=2000)
    assert report.difference is not None
    file = tmp_path / "difference.itf.json"
    save(report.difference.trace, file)
    return file


@pytest.mark.deep
def test_a_difference_that_is_gone_holds_and_its_test_passes(
    antiphon: Run, difference: Path, tmp_path: Path
) -> None:
    test = tmp_path / "test_difference.py"
    answer = antiphon("replay", difference, "--pytest", test, "--json")
    assert (answer.code, answer.document.on) == (0, "implementation")
    assert "specification and implementation agree" in answer.document.reason
    assert "1 passed" in pytest_of(test).stdout


def test_a_trace_without_an_implementation_is_refused(antiphon: Run, trace: Path) -> None:
    answer = antiphon("replay", trace, "--on", "implementation")
    assert answer.code == 64
    bound = f"bound are {', '.join(sorted(bound_protocols()))}; --on file.py:Name names another"
    assert answer.err == f"antiphon: no implementation is bound to Courier; {bound}\n"


def test_show_draws_the_picture(antiphon: Run, trace: Path, tmp_path: Path) -> None:
    picture = tmp_path / "courier.svg"
    answer = antiphon("show", trace, "--svg", picture, "--all")
    assert answer.code == 0
    assert "count = 0" in answer.out
    assert "✗ AtMostTwo" in answer.out
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_show_gives_the_same_data_as_json(antiphon: Run, trace: Path) -> None:
    document = antiphon("show", trace, "--json").document
    assert document.trace.steps[0].step.startswith("send(")
    assert document.trace.shows == "AtMostTwo"


def test_explain_names_the_guard_its_place_and_what_is_enabled(antiphon: Run, trace: Path) -> None:
    answer = antiphon("explain", trace, "--step", 6, "--why-not", "lose", "--after")
    assert answer.code == 0
    assert answer.out.startswith("lose, after step 6, receive(Letter(p")
    assert "disabled  requires packet in self.network  (" in answer.out
    enabled = antiphon(
        "explain", trace, "--step", 1, "--why-not", "send", "--arguments", "p1", "--json"
    ).document
    assert (enabled.enabled, enabled.disabled, enabled.when) == (["send(p1)"], [], "before")
    empty = antiphon("explain", trace, "--step", 1, "--why-not", "receive", "--json").document
    assert [(reason.guard, reason.steps) for reason in empty.disabled] == [("packet in self.network", [])]
    assert "cli_courier.py:" in empty.disabled[0].at
    assert antiphon(
        "explain", trace, "--step", 1, "--after", "--why-not", "receive", "--json"
    ).document.enabled


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--step", 8, "--why-not", "send"), "the trace has 6 steps; say 1 to 7"),
        (("--step", 7, "--after", "--why-not", "send"), "say 1 to 6"),
        (("--step", 1, "--why-not", "sned"), "did you mean 'send'?"),
        (("--step", 1, "--why-not", "send", "--arguments", "p9"), "p cannot be p9; it is one of p0, p1"),
        (("--step", 0, "--why-not", "send"), "--step"),
        (("--why-not", "send"), "--step"),
    ],
)
def test_questions_about_nothing_are_wrong_usage(
    antiphon: Run, trace: Path, arguments: tuple[object, ...], says: str
) -> None:
    answer = antiphon("explain", trace, *arguments)
    assert answer.code == 64
    assert says in answer.err


@pytest.mark.parametrize("command", [("replay",), ("show",), ("explain", "--step", 1, "--why-not", "send")])
@pytest.mark.parametrize("text", ["", "{}", '{"#meta": {}, "states": []}', "{"])
def test_files_that_are_no_trace_are_wrong_usage(
    antiphon: Run, tmp_path: Path, command: tuple[object, ...], text: str
) -> None:
    file = tmp_path / "broken.itf.json"
    file.write_text(text)
    answer = antiphon(command[0], file, *command[1:], "--json")
    assert (answer.code, answer.document.kind) == (64, "usage")
    assert "broken.itf.json" in answer.err


@pytest.mark.parametrize(("command", "option"), [("show", "--svg"), ("replay", "--pytest")])
def test_a_file_that_cannot_be_written_is_wrong_usage(
    antiphon: Run, trace: Path, tmp_path: Path, command: str, option: str
) -> None:
    answer = antiphon(command, trace, option, tmp_path / "nowhere" / "out")
    assert answer.code == 64
    assert "cannot be written: No such file or directory" in answer.err


FOREIGN: dict[str, Any] = {
    "#meta": {"format": "ITF", "source": "courier.qnt"},
    "vars": ["count", "network", "mbt::actionTaken"],
    "states": [
        {"count": 0, "network": {"#set": []}, "mbt::actionTaken": "init"},
        {"count": 0, "network": {"#set": [{"to": "p1"}]}, "mbt::actionTaken": "send"},
        {"count": {"#bigint": "1"}, "network": {"#set": []}, "mbt::actionTaken": "receive"},
    ],
}


def test_a_trace_of_another_tool_is_shown_as_states_and_found_in_a_specification(
    antiphon: Run, tmp_path: Path
) -> None:
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps(FOREIGN))
    shown = antiphon("show", file)
    assert shown.code == 0
    assert "a run of courier.qnt, made by another tool: 3 states" in shown.out
    assert "network: {{to: p1}} -> {}" in shown.out
    states = antiphon("show", file, "--json").document.trace.states
    assert states[2] == {"count": 1, "network": "{}"}
    assert "another tool" in antiphon("show", file, "--svg", "a.svg").err
    refused = antiphon("replay", file)
    assert (refused.code, "replay" in refused.err) == (64, True)
    found = antiphon("replay", file, "--as", "cli_courier:Courier")
    assert (found.code, "receive(Letter(p1))" in found.out) == (0, True)
    assert "✓ holds  2 steps of the trace, each one of " in found.out
    told = antiphon("replay", file, "--processes", 3)
    assert (told.code, "constants are of a specification that is named" in told.err) == (64, True)
    named = antiphon("replay", file, "--as", "cli_courier:Courier", "--processes", 3, "--json")
    assert (named.code, named.document.outcome, named.document.failure) == (0, "holds", None)
    file.write_text(json.dumps(FOREIGN).replace("p1", "p2"))
    beyond = antiphon("replay", file, "--as", "cli_courier:Courier")
    assert beyond.code == 1
    assert "no step of " in beyond.out
    assert "leads from states[0] to states[1]: send: after it network is " in beyond.out
    assert "and the log says {{to: p2}}, which is no value of network" in beyond.out
    assert antiphon("replay", file, "--as", "cli_courier:Courier", "--processes", 3).code == 0


def held(antiphon: Run, file: Path, run: dict[str, Any]) -> tuple[int, str]:
    """Exit code and last line of `replay --as` on a trace of another tool."""
    file.write_text(json.dumps(run))
    answer = antiphon("replay", file, "--as", "cli_courier:Courier")
    return answer.code, answer.out.splitlines()[-1]


def test_a_trace_of_another_tool_holds_or_says_where_it_does_not(antiphon: Run, tmp_path: Path) -> None:
    """The state, the variable, and the nearest action, or its guard that is false."""
    file, states = tmp_path / "foreign.itf.json", FOREIGN["states"]
    assert held(antiphon, file, FOREIGN)[0] == 0
    picks = {"p": {"tag": "Some", "value": "p1"}, "q": {"tag": "None", "value": []}}
    picked = [states[0], {**states[1], "mbt::nondetPicks": picks}, states[2]]
    assert held(antiphon, file, {**FOREIGN, "states": picked})[0] == 0
    picks["p"]["value"] = "p0"
    code, told = held(antiphon, file, {**FOREIGN, "states": picked})
    assert code == 1
    assert "from states[0] to states[1]: send: after it network is {Letter(p0)}, and the log says" in told
    begins = [{**states[0], "count": 1}, *states[1:]]
    code, told = held(antiphon, file, {**FOREIGN, "states": begins})
    assert (code, "states[0] is no initial state of " in told) == (1, True)
    assert "count is 0, and the log says 1" in told
    unnamed = [{key: value for key, value in state.items() if key[0] != "m"} for state in states]
    unnamed[2] = {"count": 2, "network": {"#set": []}}
    code, told = held(antiphon, file, {**FOREIGN, "vars": ["count", "network"], "states": unnamed})
    assert (code, "receive: after it count is 1, and the log says 2" in told) == (1, True)
    blocked = [{**states[0], "mbt::actionTaken": name} for name in ("init", "receive")]
    blocked[1]["count"] = 1
    code, told = held(antiphon, file, {**FOREIGN, "states": blocked})
    assert (code, "receive: self.network has no such packet" in told) == (1, True)


def test_the_loop_of_another_tools_trace_is_a_step_too(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "foreign.itf.json"
    code, told = held(antiphon, file, {**FOREIGN, "loop": 2})
    assert (code, told.endswith(", and one back to states[2]")) == (0, True)
    code, told = held(antiphon, file, {**FOREIGN, "loop": 0})
    assert (code, "leads from states[2] back to states[0]: " in told) == (1, True)
    for loop in (3, -1, "2", True):
        file.write_text(json.dumps({**FOREIGN, "loop": loop}))
        answer = antiphon("replay", file, "--as", "cli_courier:Courier")
        assert (answer.code, f"loop is {loop!r}, the number of no state" in answer.err) == (64, True)


def test_actions_of_another_tool_that_the_specification_does_not_have_are_named(
    antiphon: Run, tmp_path: Path
) -> None:
    states = [{**state, "mbt::actionTaken": "c"} for state in FOREIGN["states"]]
    states[1]["mbt::actionTaken"] = "sned"
    code, told = held(antiphon, tmp_path / "foreign.itf.json", {**FOREIGN, "states": states})
    assert code == 0
    assert "Courier has no action 'c', 'sned'; did you mean 'send'?: any action was taken for these" in told


def test_a_trace_without_a_state_is_wrong_usage_and_says_so(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps({**FOREIGN, "states": []}))
    for asked in (("replay", "--as", "cli_courier:Courier"), ("show",), ("trace", "die-hard")):
        answer = antiphon(*asked, file)
        assert (answer.code, "states is empty: a trace has one state at least" in answer.err) == (64, True)


def test_a_trace_of_another_tool_that_breaks_an_invariant_is_violated(antiphon: Run, tmp_path: Path) -> None:
    file, (first, sent, _) = tmp_path / "foreign.itf.json", FOREIGN["states"]
    states = [first]
    for count in range(3):
        states += [{**sent, "count": count}, {**first, "count": count + 1, "mbt::actionTaken": "receive"}]
    code, told = held(antiphon, file, {**FOREIGN, "states": states})
    assert (code, "AtMostTwo is false" in told) == (1, True)


def test_a_trace_of_another_tool_becomes_a_test(antiphon: Run, tmp_path: Path) -> None:
    file = tmp_path / "foreign.itf.json"
    file.write_text(json.dumps(FOREIGN))
    test = tmp_path / "test_foreign.py"
    assert antiphon("replay", file, "--as", "cli_courier.py:Courier", "--pytest", test).code == 0
    space: dict[str, Any] = {"__file__": str(test)}
    exec(compile(test.read_text(), str(test), "exec"), space)
    space["test_foreign_is_a_run_of_courier"]()


LAMP = """
from antiphon.spec.lang import *

class Lamp(Spec):
    \"\"\"Goes on.\"\"\"
    lit: bool = False

    @action
    def switch(self) -> None:
        \"\"\"Once.\"\"\"
        require(not self.lit)
        self.lit = True
"""
LIT = """
from antiphon.conformance.compare.bindings import Effect, Stimulus
from antiphon.spec.lang import program
from cli_lamp import Lamp

class Dark:
    \"\"\"An implementation that stays dark.\"\"\"
    program, members, channel, links, exempt = program(Lamp), 1, "", (), {}
    internal, ordered, restores = frozenset(), False, 0

    def start(self, me): return Effect(False)
    def stimulus(self, step): return Stimulus(0)
    def perform(self, me, snapshot, step, datagram): return Effect(False)
    def drive(self, me, snapshot, step, datagram): pass
    def offers(self, me, snapshot): return frozenset()
    def project(self, me, snapshot): return {"lit": snapshot}
    def join(self, variable, shares): return any(shares)
"""


@pytest.mark.deep
def test_what_lockstep_saves_names_its_binding_for_replay_and_its_test(antiphon: Run, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "cli_lamp.py").write_text(LAMP)
    (tmp_path / "deep" / "cli_dark.py").write_text(LIT)
    file, test = tmp_path / "dark.itf.json", tmp_path / "deep" / "test_dark.py"
    for command in ("lockstep", "stateful"):
        found = antiphon(command, "deep/cli_dark.py:Dark", "--save", file)
        assert found.code == 1
        assert f"run it again with antiphon replay {file}" in found.out
        assert json.loads(file.read_text())["#meta"]["antiphon"]["binding"] == "deep/cli_dark.py:Dark"
        again = antiphon("replay", file, "--pytest", test)
        assert (again.code, "variable lit" in again.out) == (1, True)
    assert "str(HERE / 'cli_dark.py') + ':Dark'" in test.read_text()
    assert "agree in all 1 step of" in test.read_text()
    assert "variable lit" in pytest_of(test).stdout


def test_a_flag_is_written_as_in_python_too_and_stands_over_the_picture(
    antiphon: Run, tmp_path: Path
) -> None:
    file = tmp_path / "alike.itf.json"
    asked = ("check", "dining-philosophers", "--set", "philosophers=2", "--set", "alike=True")
    assert antiphon(*asked, "--save", file).code == 1
    assert "dining-philosophers · philosophers=2, alike=true" in antiphon("show", file).out
