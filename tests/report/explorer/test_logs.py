"""A log is walked with the set of states in which the system may be, on a server and in a file."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.report.explorer.files import content

import antiphon
from antiphon.conformance.cli import main
from antiphon.conformance.compare.validation import Possible, read_logs, validate
from antiphon.conformance.report.explorer import Walk, saved_page
from antiphon.conformance.report.explorer import saved as saving
from antiphon.conformance.report.explorer.observed import ObservedLogs
from antiphon.conformance.report.explorer.walk import WalkError, digest, digest_of_state
from antiphon.model.bounds import Bounds
from antiphon.model.changes import described
from antiphon.spec.lang import Program

RUN = [
    {"action": "time_out", "args": {"s": 0}, "state": {"term": {"0": 1}}},
    {"action": "vote", "args": {"s": 1, "request": {"candidate": 0}}},
    {"action": "become_leader", "args": {"s": 0}, "before": {"term": {"0": 1}}},
]
SHORT = [RUN[0], RUN[2]]

Logs = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def raft() -> Program:
    return antiphon.program("raft")


@pytest.fixture
def logs(raft: Program, tmp_path: Path) -> Logs:
    def written(*several: list[dict[str, Any]]) -> list[Any]:
        files = []
        for number, lines in enumerate(several):
            files.append(tmp_path / f"log{number}.ndjson")
            files[-1].write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        return read_logs(raft, files)

    return written


def brute(program: Program, lines: list[dict[str, Any]], hidden: int) -> list[set[Any]]:
    """The states after each line, by nothing but the steps of CPython: an oracle of a few lines."""
    machine = program.reference

    def agrees(state: Any, told: Mapping[str, Mapping[str, int]]) -> bool:
        shown = dict(described(program, state))
        return all(
            shown[f"{name}[s{key}]"] == str(value)
            for name, part in told.items()
            for key, value in part.items()
        )

    def fits(step: Any, line: dict[str, Any]) -> bool:
        if step.action != line["action"] or step.arguments[0].index != line["args"]["s"]:
            return False
        request = line["args"].get("request")
        return request is None or step.arguments[1].candidate.index == request["candidate"]

    def closed(found: set[Any]) -> set[Any]:
        todo = list(found)
        for state, left in todo:
            for move in machine.successors(state) if left else ():
                if move.step.action == "update_term" and (move.state, left - 1) not in found:
                    found.add((move.state, left - 1))
                    todo.append((move.state, left - 1))
        return found

    level = closed({(state, hidden) for state in machine.initial()})
    levels = [{state for state, _ in level}]
    for line in lines:
        level = closed(
            {
                (move.state, left)
                for state, left in level
                if agrees(state, line.get("before", {}))
                for move in machine.successors(state)
                if fits(move.step, line) and agrees(move.state, line.get("state", {}))
            }
        )
        levels.append({state for state, _ in level})
    return levels


@pytest.mark.parametrize("hidden", [0, 1, 2])
def test_the_states_after_each_line_are_all_that_some_behaviour_leads_to(
    raft: Program, logs: Logs, hidden: int
) -> None:
    for lines in (RUN, SHORT):
        possible = Possible(raft, logs(lines), hidden={"update_term": hidden})
        expected = [states for states in brute(raft, lines, hidden) if states]
        assert [{node.state for node in place.nodes} for place in possible.places] == expected
        assert possible.explained == (len(expected) == len(lines) + 1)
        assert all(place.complete for place in possible.places)


def test_only_some_states_go_on(raft: Program, logs: Logs) -> None:
    read = logs(RUN)
    possible = Possible(raft, read, hidden={"update_term": 1})
    _, after, *_ = possible.places
    assert Counter(possible.goes_on(node) for node in after.nodes) == {True: 2, False: 1}
    dead = after.nodes[-1]
    ((line, obstacles),) = possible.kept_back(dead).lines
    assert line.line == 2
    assert [one.action for one in obstacles] == ["vote"]
    assert possible.kept_back(possible.places[2].nodes[0]).lines == ()
    for place in possible.places:
        for node in place.nodes:
            way = possible.way_to(node)
            states = [
                way.start,
                *(edge.transition.state for edge in way.edges if edge.transition is not None),
            ]
            assert states[-1] == node.state
            assert sum(edge.log is not None for edge in way.edges) == node.lines


def test_several_logs_are_walked_in_an_order_that_explains_them(raft: Program, logs: Logs) -> None:
    possible = Possible(raft, logs([RUN[0], RUN[2]], [RUN[1]]), hidden={"update_term": 1})
    assert possible.explained
    assert [place.line.line if place.line else 0 for place in possible.places] == [0, 1, 1, 2]
    assert [Path(place.line.file).name for place in possible.places if place.line] == [
        "log0.ndjson", "log1.ndjson", "log0.ndjson",
    ]  # fmt: skip


def test_a_bound_makes_the_states_incomplete_and_hides_no_explanation(raft: Program, logs: Logs) -> None:
    possible = Possible(raft, logs(RUN), hidden={"update_term": 1}, bounds=Bounds(5))
    assert possible.stopped is not None
    assert possible.places[0].complete
    assert not possible.places[-1].complete
    assert {possible.goes_on(node) for place in possible.places for node in place.nodes} <= {True, None}
    enough = Possible(raft, logs(RUN), hidden={"update_term": 1}, bounds=Bounds(6))
    assert enough.stopped is not None or enough.explained


@pytest.fixture
def short(raft: Program, logs: Logs) -> ObservedLogs:
    hidden, read = {"update_term": 1}, logs(SHORT)
    return ObservedLogs(Possible(raft, read, hidden=hidden), validate(raft, read, hidden=hidden))


def test_the_page_gets_lines_states_and_the_guard_that_is_false(raft: Program, short: ObservedLogs) -> None:
    about = short.about()
    assert [line["states"] for line in about["lines"]] == [1, 3, None]
    assert (about["explained"], about["lines"][2]["text"]) == (False, json.dumps(SHORT[1]))
    place = short.place(1)
    assert place["told"] == "The system may be in 3 states after log0.ndjson:1."
    assert {part["where"]: dict(part["values"]) for part in place["parts"]}["term[s1]"] == {"0": 2, "1": 1}
    for state in place["states"]:
        assert state["goes"] is False
        ((kept),) = state["kept"]
        (why,) = kept["obstacles"]
        assert (why["action"], why["why"]) == ("become_leader", "requires 2 * votes > self.servers")
        assert re.fullmatch(r"spec/examples/raft\.py:\d+:\d+", why["at"])
        assert why["steps"] == ["become_leader(s0)"]
    walk = Walk(raft, "raft")
    assert about["lines"][1]["digest"] == digest([json.dumps(SHORT[0])])
    ways = [short.enter(walk, 1, state) for state in range(3)]
    assert {tuple(label["line"].rpartition(":")[2] for label in way) for way in ways} == {
        ("", "1"), ("", "1", "hidden"),
    }  # fmt: skip
    assert len({way[-1]["node"] for way in ways}) == 3
    assert [one["digest"] for one in place["states"]] == [
        digest_of_state(raft, walk.state_of(way[-1]["node"])) for way in ways
    ]
    assert walk.view(ways[1][-1]["node"])["enabled"]
    for wrong in ((7, 0), (1, 9)):
        with pytest.raises(WalkError, match=r"no line number 7|no state number 9"):
            short.enter(walk, *wrong)


def test_a_file_has_the_states_of_the_log(raft: Program, short: ObservedLogs) -> None:
    page, told = saved_page(Walk(raft, "raft"), {}, short, states_max=50)
    assert told == "the states of the logs alone are in it: there are too many others"
    data = content(page)
    assert [line["states"] for line in data["log"]["lines"]] == [1, 3, None]
    ends = {data["tree"][str(state["end"])]["node"] for state in data["places"][1]["states"]}
    assert len(ends) == 3
    assert min(ends) >= 0
    assert len(data["views"]) == 4


def test_the_command_walks_logs_and_refuses_what_makes_no_sense(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "STATES_MAX", 50)
    log, out = tmp_path / "run.ndjson", tmp_path / "run.html"
    log.write_text("".join(f"{json.dumps(line)}\n" for line in RUN), encoding="utf-8")
    assert (
        main(["explore", "raft", "--observed", str(log), "--hidden", "update_term:1", "--html", str(out)])
        == 0
    )
    assert "the states of the runs and of the logs alone are in it" in capsys.readouterr().out
    assert "3 observations explained" in out.read_text(encoding="utf-8")
    empty = tmp_path / "empty.ndjson"
    empty.write_text("", encoding="utf-8")
    for words, told in (
        (["raft", "--hidden", "update_term:1"], "name them with --observed"),
        (
            ["--binding", "rbp", "--observed", str(log)],
            "--binding brings its own specification, and serves only",
        ),
        (["raft", "--observed", str(tmp_path / "none.ndjson")], "cannot be read"),
        (["raft", "--observed", str(empty)], "no line of the logs tells anything"),
        (["raft", "--observed", str(log), "--hidden", "nothing:1"], "no action 'nothing'"),
    ):
        assert main(["explore", *words, "--html", str(out)]) == 64
        assert told in capsys.readouterr().err
