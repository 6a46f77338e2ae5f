"""Breaches of the protocol: each is a finding about the program, never a traceback or an endless wait."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antiphon.conformance.adapters import Declined, Misbehaves, Node
from antiphon.conformance.adapters import child as children
from antiphon.conformance.adapters import node as nodes

Program = Callable[[str], list[str]]
Started = Callable[..., Node]


@pytest.fixture
def started(program: Program, tmp_path: Path) -> Iterator[Started]:
    """A running node of a program, ended after the test."""
    nodes: list[Node] = []

    def start(text: str, **more: float) -> Node:
        nodes.append(Node(program(text), "n0", ["n0", "n1"], tmp_path / str(len(nodes)), **more))
        return nodes[-1]

    yield start
    for node in nodes:
        node.end(0.05)
        assert not _runs(node)


def _runs(node: Node) -> bool:
    try:
        os.kill(node.child.pid, 0)
    except ProcessLookupError:
        return False
    return True


STEPS = 'begin("step", "clock", "state")\nwhile True:\n    message = hear()\n    '


def found(node: Node, *, steps: int = 1) -> Misbehaves:
    """The finding about a node that is told its name, and takes some steps."""

    def live() -> None:
        node.init()
        for _ in range(steps):
            node.step({})

    with pytest.raises(Misbehaves) as caught:
        live()
    return caught.value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hear(); sys.exit(3)", "exits with code 3"),
        ("hear(); os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ("hear(); os.close(1); time.sleep(9)", "closes its standard output, and goes on running"),
        ("write('hello\\n'); time.sleep(9)", "writes a line that is no JSON: hello"),
        ("write(b'\\xff\\n'); time.sleep(9)", "writes a line that is no JSON: \\xff"),
        ("write('[' * 9000 + ']' * 9000 + '\\n'); time.sleep(9)", "writes a line that is no JSON: [["),
        (
            "hear(); me = 'n0'; say('antiphon', type='init_ok', in_reply_to=[1])",
            "writes an `in_reply_to` that is no number",
        ),
        ("write('[1]\\n'); time.sleep(9)", "no object with `src`, `dest` and `body`: [1]"),
        ("hear(); me = 'n9'; say('antiphon', type='init_ok', in_reply_to=1)", "writes as 'n9', and is n0"),
        (
            "hear(); me = 'n0'; say('antiphon', type='init_ok', in_reply_to=9)",
            "answers message 9, which nobody",
        ),
        ("hear(); me = 'n0'; say('antiphon', type='init_ok')", "answers nothing"),
        ("hear(); me = 'n0'; say('n7', type='x')", "answers nothing; there is no 'n7', only n0, n1"),
        (
            "hear(); me = 'n0'; say('c1', type='init_ok', in_reply_to=1)",
            "answers 'c1', and antiphon has asked",
        ),
        (
            "hear(); me = 'n0'; say('antiphon', type='ok', in_reply_to=1)",
            "answers 'init' by 'ok', and not by",
        ),
        ("begin('fly')", "writes a body that is wrong (Invalid enum value 'fly'"),
        (
            "hear(); me = 'n0'; say('n1', type='x'); say('antiphon', type='init_ok', in_reply_to=1)",
            "before it has",
        ),
        (STEPS + "pass", "does not answer 'antiphon.step' within 0.2 s"),
        (STEPS + "reply(message, type='antiphon.done'); break", "ends a step without `state`"),
        (STEPS + "reply(message, type='antiphon.done', state=[])", "a body that is wrong (Expected `object"),
        (STEPS + "reply(message, type='antiphon.done', state={}, wake_ns=-1)", "a body that is wrong"),
        (STEPS + "[reply(message, type='antiphon.done', state={}) for _ in 'ab']", "a second time"),
        (STEPS + "write(both(message))", "writes a line that belongs to no request"),
        (
            STEPS + "say('n1', kind='x'); reply(message, type='antiphon.done', state={})",
            "a body that is wrong",
        ),
        (
            STEPS + "say('n1', type='x'); reply(message, type='error', code=22)",
            "refuses a step and has yet done",
        ),
    ],
)
def test_what_breaks_the_protocol_is_a_finding_with_its_line(text: str, told: str, started: Started) -> None:
    wrong = found(started(text, reply_s=0.2 if "within" in told else 5.0), steps=2)
    assert told in str(wrong)
    assert wrong.node == "n0"


def test_a_finding_shows_what_was_written_before_and_the_standard_error(started: Started) -> None:
    text = STEPS + "print('a hint', file=sys.stderr, flush=True); write('x\\n')"
    shown = found(started(text)).shown().splitlines()
    assert shown[0] == "n0 writes a line that is no JSON: x"
    assert shown[1].startswith('  > {"src":"antiphon","dest":"n0","body":{"type":"init"')
    assert shown[2].startswith('  < {"src": "n0"')
    assert shown[3].startswith('  > {"src":"antiphon","dest":"n0","body":{"type":"antiphon.step"')
    assert shown[4] == "  stderr: a hint"


def test_a_line_without_an_end_is_a_finding(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(children, "LINE_BYTES_MAX", 10_000)
    wrong = found(started("hear()\nwhile True: write('x' * 5000)"))
    assert "writes a line of more than" in str(wrong)


def test_lines_without_end_are_a_finding(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "LINES_MAX", 300)
    wrong = found(
        started(STEPS + '\n    while True: write(100 * \'{"src":"n0","dest":"n1","body":{"type":"x"}}\\n\')')
    )
    assert "writes more than 300 lines before it answers" in str(wrong)


def test_a_program_that_reads_nothing_does_not_hold_up_who_writes(started: Started) -> None:
    node = started("begin('step', 'state')\ntime.sleep(9)", reply_s=0.3)
    node.init()
    began = time.monotonic()
    with pytest.raises(Misbehaves, match="does not answer"):
        node.ask({"type": "antiphon.step", "now_ns": 0, "do": {}, "padding": "x" * 1_000_000})
    assert time.monotonic() - began < 3


def test_a_program_that_does_not_flush_is_told_so(started: Started) -> None:
    """Antiphon cannot tell a program that does not flush from one that hangs."""
    wrong = found(started("hear(); time.sleep(9)", reply_s=0.2))
    assert "does not answer 'init' within 0.2 s; does it flush its standard output?" in str(wrong)


def test_a_refusal_is_no_finding(started: Started) -> None:
    node = started(STEPS + "reply(message, type='error', code=22, text='not now')")
    node.init()
    with pytest.raises(Declined, match="n0 answers with error 22: not now"):
        node.step({})


def test_a_node_of_maelstrom_has_no_abilities(started: Started) -> None:
    node = started("begin()\nhear()")
    node.init()
    assert not node.can


def test_what_a_program_starts_ends_with_it(started: Started) -> None:
    starts = "import subprocess\nother = subprocess.Popen(['sleep', '60'])\n"
    text = starts + "begin('step')\nsay('n1', type='x', pid=other.pid)\nhear()"
    node = started(text)
    node.init()
    until, lines = time.monotonic() + 5, list[bytes]()
    while not lines and time.monotonic() < until:
        lines = node.listen(0.1)
    pid = int(node.take(lines[0]).body["pid"])
    node.end()
    until = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and "sleep" in _command(pid) and time.monotonic() < until:
        time.sleep(0.01)
    assert "sleep" not in _command(pid)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return ""


def test_the_end_of_input_is_enough_for_a_program_that_reads_on(started: Started) -> None:
    assert started("begin()\nwhile True: hear()").end()
    assert not started("time.sleep(60)").end(0.1)


def test_standard_error_without_end_fills_no_disk_and_no_memory(started: Started, tmp_path: Path) -> None:
    text = "hear()\nwhile True: os.write(2, b'why ' * 10_000 + b'\\n')"
    wrong = found(started(text, reply_s=0.3))
    assert "does not answer 'init'" in wrong.what
    assert len(wrong.stderr) < 1_000
    assert "why why" in wrong.stderr  # the end of a long line, cut anywhere
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.name != "program.py") < 100_000
