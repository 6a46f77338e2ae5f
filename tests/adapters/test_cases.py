"""`adapter check`: which messages a program answers rightly, with the lines where it does not."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.schemas import complaints

from antiphon.conformance.adapters import Node
from antiphon.conformance.adapters.cases import CaseResult, check_adapter, outcome_of
from antiphon.conformance.run.foreign import Settings, run_foreign
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.model.verdict import Outcome

Program = Callable[[str], list[str]]

GOSSIP = [sys.executable, "-S", str(Path(__file__).with_name("gossip.py"))]

LOG = """
import base64
log, wake = [], {wake}
begin({can})
while True:
    message = hear()
    body = message["body"]
    if body["type"] == "antiphon.snapshot":
        reply(message, type="antiphon.snapshot_ok", snapshot={snapshot})
        continue
    if body["type"] == "antiphon.restore":
        log = list(body["snapshot"])
        reply(message, type="antiphon.restore_ok")
        continue
    if body["type"] != "antiphon.step":
        reply(message, type="error", code={unknown})
        continue
    for name, given in body["do"].items():
        if name == "broadcast":
            log.append(given["m"])
            say("antiphon", type="antiphon.event", kind="deliver", m=given["m"], bytes=given["bytes"])
        elif name == "restart":
            {restart}
        elif name == "leave":
            say("antiphon", type="antiphon.event", kind="install", view=2, members=[])
        elif name == "receive" and "body" in given:
            {receive}
        else:
            reply(message, type="error", code={known} if name in ("receive", "tick") else {action})
            break
    else:
        {before}
        reply(message, type="antiphon.done", state={"log": log}, wake_ns=wake and body["now_ns"] + wake)
        {after}
"""

USUAL = {
    "can": '"step", "clock", "state", "snapshot", "deliver"',
    "wake": "None",
    "snapshot": "log",
    "unknown": "10",
    "restart": "log.clear()",
    "receive": "pass",
    "known": "12",
    "action": "10",
    "before": "pass",
    "after": "pass",
}


def log(**changed: str) -> str:
    """A program that delivers at once what it broadcasts, with some places changed."""
    assert changed.keys() <= USUAL.keys()
    return re.sub(r"\{(\w+)\}", lambda place: {**USUAL, **changed}[place[1]], LOG)


def asked(command: list[str], name: str) -> CaseResult:
    """The result of one case."""
    return check_adapter(command, reply_s=2.0, only=[name])[-1]


def test_a_right_program_is_right_in_every_case_that_it_is_asked(program: Program) -> None:
    results = check_adapter(program(log()))
    assert outcome_of(results) is Outcome.HOLDS
    assert {result.name: result.found for result in results if result.outcome is None} == {
        "workload": "it speaks the superset",
        "duplicates": "it sends nothing to another node",
        "restart-fresh": "it does not say that it can: restart",
        "restart-disk": "it does not say that it can: restart",
        "views": "it does not say that it can: views",
    }


@pytest.mark.parametrize(
    ("changed", "name", "told"),
    [
        ({"can": '"clock"'}, "init", "can clock, which is nothing without `step`"),
        ({"unknown": "0"}, "unknown-type", "answers with error 0, and not 10"),
        ({"action": "12"}, "unknown-action", "answers with error 12, and not 10"),
        (
            {"before": "log.append('x')"},
            "empty-step",
            "has the state {'log': ['x', 'x']} after an empty step",
        ),
        (
            {"before": "say('antiphon', type='antiphon.event', kind='x')"},
            "empty-step",
            "does something in a step",
        ),
        ({"after": "say('n0', type='late')"}, "empty-step", ""),
        ({"receive": "log.append('x')"}, "nonsense", "has the state {'log': ['x', 'x']}"),
        ({"wake": "time.time_ns() if body['now_ns'] else 1"}, "time", "at 0 ns wakes after 1 ns"),
        ({"before": "log.append(os.getpid())"}, "deterministic", "and the second time"),
        ({"snapshot": "log[:0]"}, "snapshots", "has the state {'log': []}, and {'log': ['1:0']} before"),
        ({"can": '"step", "state", "views"'}, "views", "says that it can `views`, and reports none"),
        ({"can": '"step", "state", "restart"', "restart": "pass"}, "restart-fresh", "after `restart`, and"),
        ({"can": '"step", "state", "restart"', "restart": "pass"}, "restart-disk", "after `kill -9`, and"),
    ],
)
def test_a_wrong_answer_is_told_by_its_case(
    changed: dict[str, str], name: str, told: str, program: Program
) -> None:
    wrong = {key: text for key, text in changed.items() if key != "wake"}
    text = log(**wrong)
    if "wake" in changed:
        text = text.replace('wake and body["now_ns"] + wake', f'body["now_ns"] + ({changed["wake"]})')
    found = asked(program(text), name)
    assert found.outcome is Outcome.VIOLATED
    assert told in found.found
    assert any(line.startswith("> ") for line in found.dialogue)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('line = sys.stdin.readline(); assert \'"body":{"type"\' in line', "spelling"),
        ("line = sys.stdin.readline(70000); assert line[-1:] in ('', chr(10))", "long-line"),
        ("line = sys.stdin.readline(); line = line or time.sleep(60)", "end-of-input"),
        (
            "time.sleep(0.05); line = os.read(0, 1 << 20).decode()",
            "several",
        ),
    ],
)
def test_a_reader_that_reads_too_little_is_told(text: str, name: str, program: Program) -> None:
    command = program(log())
    path = Path(command[-1])
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole.replace("line = sys.stdin.readline()", text, 1), encoding="utf-8")
    assert asked(command, name).outcome is Outcome.VIOLATED


def test_a_program_that_does_not_begin_is_asked_nothing_else(program: Program) -> None:
    first, *others = check_adapter(program("hear(); sys.exit(1)"))
    assert (first.outcome, first.found) == (Outcome.VIOLATED, "n0 exits with code 1")
    assert {(result.outcome, result.found) for result in others} == {(None, "it does not answer `init`")}


def test_a_node_of_maelstrom_is_asked_what_maelstrom_asks() -> None:
    results = check_adapter(GOSSIP)
    right = [result.name for result in results if result.outcome is Outcome.HOLDS]
    assert right == ["init", "spelling", "several", "workload"]
    assert outcome_of(results) is Outcome.HOLDS


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """All lines that nodes and antiphon exchange, one of each form."""
    found: dict[bytes, bytes] = {}
    write, take = Node.write, Node.take

    def note(line: bytes) -> None:
        form = re.sub(rb"[0-9]+", b"0", line[:200])
        found.setdefault(form, line)

    def written(node: Node, message: Any) -> None:
        note(message if isinstance(message, bytes) else msgspec.json.encode(message))
        write(node, message)

    def taken(node: Node, line: bytes) -> Any:
        note(line)
        return take(node, line)

    monkeypatch.setattr(Node, "write", written)
    monkeypatch.setattr(Node, "take", taken)
    kept: list[bytes] = []
    yield kept
    kept[:] = found.values()
    for line in found.values():
        document = msgspec.json.decode(line)
        if document["body"]["type"] != "antiphon.nonsense":
            assert not complaints("adapter", document), line
    types = {msgspec.json.decode(line)["body"]["type"] for line in found.values()}
    assert len(types) >= 12, types


def test_every_line_is_one_of_the_schema(
    lines: list[bytes], adapter: Callable[..., list[str]], program: Program
) -> None:
    check_adapter(adapter("c"))
    check_adapter(program(log()), only=["snapshots"])
    settings = Settings(only=(FaultKind.CRASH,), settle_s=0.5)
    run_foreign(adapter("c"), settings=settings)
    run_foreign(GOSSIP, settings=Settings(only=(FaultKind.DELAY,), nodes=2, messages=4))


@pytest.mark.parametrize(
    "line",
    [
        {"src": "n0", "dest": "antiphon"},
        {"src": "node", "dest": "antiphon", "body": {"type": "init_ok", "in_reply_to": 1}},
        {"src": "n0", "dest": "antiphon", "body": {"type": "init_ok"}},
        {"src": "n0", "dest": "antiphon", "body": {"type": "inited", "in_reply_to": 1}},
        {
            "src": "n0",
            "dest": "antiphon",
            "body": {"type": "init_ok", "in_reply_to": 1, "antiphon": {"can": []}},
        },
        {"src": "n0", "dest": "c1", "body": {"type": "read_ok", "in_reply_to": 1, "messages": ["1"]}},
        {"src": "n0", "dest": "antiphon", "body": {"type": "antiphon.done", "in_reply_to": 1, "wake_ns": -1}},
        {"src": "n0", "dest": "antiphon", "body": {"type": "antiphon.event"}},
        {"src": "n0", "dest": "n1", "body": {"m": 1}},
        {"src": "antiphon", "dest": "n0", "body": {"type": "antiphon.step", "msg_id": 1, "now_ns": 0}},
    ],
)
def test_what_is_no_line_of_the_protocol_is_none_of_the_schema(line: dict[str, Any]) -> None:
    assert complaints("adapter", line)
