"""Raft whose cluster changes is safe in small bounds, and explains logs in the form that etcd's raft writes.

The logs are written here, by a run of the specification: one of a user that writes what etcd writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.compare.validation import Validation, read_logs, validate
from antiphon.conformance.compare.validation.explaining import begin
from antiphon.model.explore import check
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.raft import AppendEntries, RequestVote, Role, Server
from antiphon.spec.examples.raft_members import Change, RaftMembers
from antiphon.spec.lang import Program, Step, program

DOCS = Path(__file__).parents[2] / "docs"


def of_the_page() -> Callable[[Any], Any]:
    """The map of docs/trace-validation.md."""
    page = (DOCS / "trace-validation.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```python raft_map.py\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert text.count("\n") == 10
    assert max(map(len, text.splitlines())) <= 110
    assert "The map has ten lines" in page
    space: dict[str, Any] = {}
    exec(text, space)
    found: Callable[[Any], Any] = space["observe"]
    return found


observe = of_the_page()

SAFE = ("ElectionSafety", "LogMatching", "LeaderCompleteness", "StateMachineSafety")
START = {
    "term": [1] * 4,
    "log": [[1, 1, 1]] * 3 + [[]],
    "commit": [3, 3, 3, 0],
    "applied": [3] * 4,
    "outside": [[3]] * 4,
}
"""Three servers that have begun with the entries of their cluster, and one that may join."""


def test_two_servers_are_safe_and_one_may_leave() -> None:
    report = check(program(RaftMembers, servers=2, terms=1), properties=(*SAFE, "Changed"))
    explored = report.exploration
    assert {verdict.outcome for verdict in report.verdicts} == {Outcome.HOLDS}
    assert (explored.complete, explored.states, explored.transitions) == (True, 1_589, 12_462)


class Writer:
    """Takes steps of the specification, and writes each as etcd's trace logger does."""

    def __init__(self, bound: Program, start: dict[str, Any]) -> None:
        self.machine, self.names = bound.reference, bound.variables
        self.state = begin(bound, start)
        self.servers = len(start["term"])
        self.lines: list[str] = []

    def of(self, name: str, s: int) -> Any:
        """A variable of a server."""
        return self.state[self.names.index(name)][s]

    def take(self, action: str, *arguments: Any) -> None:
        self.state = self.machine.apply(self.state, Step(action, arguments)).state

    def write(self, name: str, s: int, kind: str = "", **more: Any) -> None:
        """A line with the state of now."""
        state = {"term": self.of("term", s), "vote": "0", "commit": self.of("commit", s)}
        event: dict[str, Any] = {"name": name, "nid": str(s + 1), "state": state}
        event["log"] = len(self.of("log", s))
        event["role"] = "StateLeader" if self.of("role", s) is Role.LEADER else "StateFollower"
        outside = self.of("outside", s)
        event["conf"] = [[str(k + 1) for k in range(self.servers) if Server(k) not in outside], []]
        if "prop" in more:
            event["prop"] = {"cc": more.pop("prop")}
        if kind:
            usual = {"type": kind, "term": self.of("term", s), "reject": False}
            usual |= dict.fromkeys(("entries", "index", "commit"), 0)
            event["msg"] = usual | more
        self.lines.append(json.dumps({"level": "debug", "event": event}))

    # What servers do ----------------------------------------------------------------------------------------

    def elect(self, leader: int, voter: int) -> None:
        one, other = Server(leader), Server(voter)
        self.take("time_out", one)
        self.write("BecomeCandidate", leader)
        asked = RequestVote(2, one, 3, 1)
        self.take("update_term", other, asked)
        self.write("BecomeFollower", voter)
        self.write("SendRequestVoteResponse", voter, "MsgVoteResp", to=str(leader + 1))
        self.take("vote", other, asked)
        self.write("BecomeLeader", leader)
        self.take("become_leader", one)

    def replicate(self, leader: int) -> None:
        self.write("Replicate", leader)
        self.take("client_request", Server(leader))

    def send(self, leader: int, to: int, index: int) -> None:
        """The entries after the first ones, which arrive and are stored."""
        log, commit = self.of("log", leader), self.of("commit", leader)
        before = log[index - 1] if index else 0
        sent = {"logTerm": before, "index": index, "entries": len(log) - index, "commit": commit}
        self.write("SendAppendEntriesRequest", leader, "MsgApp", to=str(to + 1), **sent)
        self.take("append_entries", Server(leader), index)
        entries = AppendEntries(self.of("term", leader), index, before, log[index:], commit)
        if self.of("term", to) < entries.term:
            self.take("update_term", Server(to), entries)
            self.write("BecomeFollower", to)
        self.write("ReceiveAppendEntriesRequest", to, "MsgApp", to=str(to + 1), **sent)
        self.take("accept", Server(to), entries)
        reply = {"to": str(leader + 1), "index": len(log)}
        self.write("SendAppendEntriesResponse", to, "MsgAppResp", **reply)

    def commit(self, leader: int, length: int) -> None:
        self.take("advance_commit", Server(leader), length)
        self.write("Commit", leader)

    def beat(self, leader: int, to: int) -> None:
        """A heartbeat, with as much of what is committed as its receiver has stored, and the answer."""
        commit = min(self.of("commit", leader), len(self.of("log", to)))
        self.write("SendAppendEntriesRequest", leader, "MsgHeartbeat", to=str(to + 1), commit=commit)
        self.write("ReceiveAppendEntriesRequest", to, "MsgHeartbeat", to=str(to + 1), commit=commit)
        self.take("hear", Server(to), max(commit, self.of("commit", to)))
        self.write("SendAppendEntriesResponse", to, "MsgHeartbeatResp", to=str(leader + 1))

    def change(self, leader: int, server: int, *, joins: bool) -> Change:
        action = "AddNewServer" if joins else "RemoveServer"
        self.write("ChangeConf", leader, prop={"changes": [{"nid": str(server + 1), "action": action}]})
        self.take("change_members", Server(leader), Server(server))
        return Change(self.of("term", leader), len(self.of("log", leader)), Server(server), joins)

    def apply(self, s: int, change: Change) -> None:
        inside = {k for k in range(4) if Server(k) not in self.of("outside", s)} ^ {change.server.index}
        self.write("ApplyConfChange", s, prop={"newconf": [str(k + 1) for k in sorted(inside)]})
        self.take("apply_change", Server(s), change)


def bound() -> Program:
    return program(RaftMembers, servers=4, terms=2, entries=8, turns=3)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """An election, entries, a server that leaves and another that joins."""
    run = Writer(bound(), START)
    run.elect(1, 0)
    run.replicate(1)
    run.send(1, 0, 3)
    run.commit(1, 4)
    run.beat(1, 0)
    away = run.change(1, 0, joins=False)
    run.send(1, 2, 3)
    run.send(1, 0, 4)
    run.commit(1, 5)
    run.apply(1, away)
    run.send(1, 2, 5)
    run.apply(2, away)
    run.replicate(1)
    run.send(1, 2, 5)
    run.commit(1, 6)
    back = run.change(1, 3, joins=True)
    run.send(1, 2, 6)
    run.commit(1, 7)
    run.apply(1, back)
    run.send(1, 3, 0)
    return run.lines


def ask(tmp_path: Path, lines: list[str]) -> Validation:
    file = tmp_path / "run.ndjson"
    file.write_text("\n".join(lines) + "\n")
    return validate(bound(), read_logs(bound(), [file], observe), start=START)


def test_a_log_in_the_form_of_etcd_is_explained(tmp_path: Path, lines: list[str]) -> None:
    found = ask(tmp_path, lines)
    assert found.outcome is Outcome.HOLDS, found.reason
    assert found.trace is not None
    assert {"become_leader", "accept", "advance_commit", "change_members", "apply_change", "hear"} <= {
        step.action for step in found.trace.steps
    }


def line_of(found: Validation) -> int:
    assert found.outcome is Outcome.VIOLATED
    assert found.failure is not None
    (seen,) = found.failure.lines
    return seen.line


def test_a_line_that_is_lost_changed_or_swapped_is_found_at_its_place(
    tmp_path: Path, lines: list[str], subtests: pytest.Subtests
) -> None:
    """The first line that does not fit is told, and none before it."""
    names = [json.loads(line)["event"]["name"] for line in lines]
    with subtests.test("lost"):
        at = names.index("Replicate")
        assert line_of(ask(tmp_path, lines[:at] + lines[at + 1 :])) == at + 1
    with subtests.test("changed"):
        at = names.index("SendAppendEntriesResponse")
        changed = json.loads(lines[at])
        changed["event"]["log"] += 1
        assert line_of(ask(tmp_path, [*lines[:at], json.dumps(changed), *lines[at + 1 :]])) == at + 1
    with subtests.test("swapped"):
        at = names.index("BecomeLeader")
        swapped = [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]
        assert line_of(ask(tmp_path, swapped)) == at
    with subtests.test("a majority that is none"):
        at = names.index("SendAppendEntriesResponse")  # the copy that the first commitment counts
        alone = ask(tmp_path, [*lines[:at], *lines[at + 1 :]])
        assert line_of(alone) == names.index("Commit")
        assert alone.failure is not None
        told = str([why for stuck in alone.failure.stuck for _, why in stuck.lines])
        assert "or 2 * copies > self.members(s)" in told
