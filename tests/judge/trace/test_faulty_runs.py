"""Faults of a run are reported once each, with file and line, and leave the verdict on the rest alone."""

import json
from pathlib import Path

import pytest

from antiphon.conformance.judge.trace import NO_DELIVERIES, Header, digest, load_run, log_name, read_log
from antiphon.conformance.judge.trace.lines import decode_line

DELIVERY = '{"kind":"deliver","i":0,"m":"0:1","number":1,"digest":"ab"}'
END = '{"kind":"end","i":1}'


def header(process: int, processes: int, run: str = "r") -> str:
    names = {"schema": "antiphon.trace", "version": 1, "run": run, "protocol": "p", "seed": 0}
    return json.dumps(names | {"process": process, "processes": processes})


def write(directory: Path, file: int, first: str, *lines: str) -> None:
    (directory / log_name(file)).write_text("\n".join([first, *(lines or (DELIVERY, END)), ""]))


def told(directory: Path) -> list[tuple[str, int, str]]:
    run = load_run(directory)
    return [(problem.path.name, problem.line, problem.reason) for problem in run.problems]


@pytest.mark.parametrize(
    ("headers", "problems"),
    [
        ({0: header(0, 2), 1: header(1, 2)}, []),
        ({0: header(0, 2)}, [(1, 0, "the log of this process is missing")]),
        ({0: header(0, 2), 1: "{}"}, [(1, 1, "no header: the first line must say")]),
        ({0: "{}", 1: "{}"}, [(0, 1, "no header"), (1, 1, "no header")]),
        ({0: "{}", 1: header(1, 3)}, [(2, 0, "the log of this process is missing"), (0, 1, "no header")]),
        ({1: "{}"}, [(0, 0, "the log of this process is missing"), (1, 1, "no header")]),
        ({0: header(0, 1), 1: header(1, 1)}, [(1, 1, "process 1 in a run of 1 processes")]),
        (
            {0: header(0, 1), 2: header(2, 1)},
            [(1, 0, "the log of this process is missing"), (2, 1, "process 2 in a run of 1 processes")],
        ),
        ({0: header(0, 2), 1: header(0, 2)}, [(1, 1, "the header names process 0, the file process 1")]),
        (
            {0: header(0, 2), 1: header(1, 2, "s")},
            [(1, 1, "run is 's' here and 'r' in the run's first log")],
        ),
    ],
)
def test_a_run_tells_what_is_wrong_between_its_logs(
    tmp_path: Path, headers: dict[int, str], problems: list[tuple[int, int, str]]
) -> None:
    for file, first in headers.items():
        write(tmp_path, file, first)
    found = told(tmp_path)
    assert [(name, line) for name, line, _ in found] == [(log_name(file), line) for file, line, _ in problems]
    for (*_, reason), (*_, beginning) in zip(found, problems, strict=True):
        assert reason.startswith(beginning)
    run = load_run(tmp_path)
    assert [log.path.name for log in run.logs] == [log_name(process) for process in range(len(run.logs))]
    assert len(run.logs) == max(max(headers) + 1, run.header.processes if run.header else 0)


def test_that_nothing_was_delivered_is_told_of_the_run(tmp_path: Path) -> None:
    write(tmp_path, 0, header(0, 1), '{"kind":"end","i":0}')
    (problem,) = load_run(tmp_path).problems
    assert (problem.path, problem.line, problem.reason) == (tmp_path, 0, NO_DELIVERIES)


@pytest.mark.parametrize(
    ("messages", "crashes", "reason"),
    [
        (50, False, "the header counts other broadcasts than the logs hold: 50 and 1"),
        (1, False, None),
        (0, False, None),
        (50, True, None),
    ],
)
def test_how_many_messages_a_header_says_is_compared(
    tmp_path: Path, messages: int, crashes: bool, reason: str | None
) -> None:
    """The count is unknown where the header has 0; a crashed process may broadcast less than planned."""
    first = json.dumps(json.loads(header(0, 1)) | {"messages": messages})
    broadcast = '{"kind":"broadcast","i":0,"m":"0:1","digest":"ab"}'
    last = ['{"kind":"crash","i":2}', '{"kind":"end","i":3}'] if crashes else ['{"kind":"end","i":2}']
    write(tmp_path, 0, first, broadcast, DELIVERY.replace('"i":0', '"i":1'), *last)
    assert [problem.reason for problem in load_run(tmp_path).problems] == ([reason] if reason else [])


def test_logs_of_deliveries_alone_need_no_count(tmp_path: Path) -> None:
    """Logs that have a count all the same are told to leave it out."""
    write(tmp_path, 0, header(0, 1))
    assert not load_run(tmp_path).problems
    write(tmp_path, 0, json.dumps(json.loads(header(0, 1)) | {"messages": 1}))
    (problem,) = load_run(tmp_path).problems
    assert "1 and 0; leave out messages, or say 0, where broadcasts are not logged" in problem.reason


def test_a_payload_is_named_by_its_128_bits() -> None:
    """BLAKE2b of nothing and of "abc" with 16 bytes of output, as published implementations give them."""
    assert digest(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert digest(b"abc") == "cf4ab791c62b8d2b2109c90275287816"


def test_a_line_that_says_nothing_is_one_fault_and_takes_one_place(tmp_path: Path) -> None:
    write(tmp_path, 0, header(0, 1), DELIVERY, "not JSON", '{"kind":"crash","i":2}', '{"kind":"end","i":3}')
    log = read_log(tmp_path / log_name(0))
    assert [problem.line for problem in log.problems] == [3]
    assert "'not JSON'" in log.problems[0].reason
    assert log.lines == (2, 4, 5)
    assert [event.i for event in log.events] == [0, 2, 3]


def test_a_first_event_that_says_nothing_takes_its_place_too(tmp_path: Path) -> None:
    write(tmp_path, 0, header(0, 1), "not JSON", '{"kind":"crash","i":1}', '{"kind":"end","i":2}')
    assert [problem.line for problem in read_log(tmp_path / log_name(0)).problems] == [2]


def test_of_a_line_that_says_nothing_the_beginning_is_shown() -> None:
    fault = decode_line(2, b"x" * 1000 + b"\n").fault
    assert fault is not None
    assert fault.startswith(f"not an event: {'x' * 57 + '...'!r}: ")
    short = decode_line(2, b"y" * 60 + b"\r\n").fault
    assert short is not None
    assert short.startswith(f"not an event: {'y' * 60!r}: ")


def test_fields_that_the_schema_does_not_know_are_kept(tmp_path: Path) -> None:
    """In a header and in events: when, and on which line of the log that this one was made from."""
    first = json.dumps(json.loads(header(0, 1)) | {"colour": "red"})
    second = json.dumps(json.loads(DELIVERY) | {"at": "12:00:01.5", "line": 4711})
    write(tmp_path, 0, first, second, '{"kind":"end","i":1}')
    log = read_log(tmp_path / log_name(0))
    assert log.complete
    assert log.more == {1: {"colour": "red"}, 2: {"at": "12:00:01.5", "line": 4711}}


@pytest.mark.parametrize("text", ["", "\n", "\r\n", "\n  \n\t\n"])
def test_blank_lines_say_nothing_and_the_last_line_needs_no_end(tmp_path: Path, text: str) -> None:
    """Nor do ends of lines as on Windows, blank lines between events, and before the header."""
    lines = [header(0, 1), DELIVERY, '{"kind":"crash","i":1}', '{"kind":"end","i":2}']
    for between in ("\n", "\r\n", "\n\n", "\r\n \r\n"):
        (tmp_path / log_name(0)).write_text(text + between.join(lines) + text, newline="")
        log = read_log(tmp_path / log_name(0))
        assert log.complete, log.problems
        assert [event.i for event in log.events] == [0, 1, 2]


def test_a_header_without_faults_of_the_network_has_none(tmp_path: Path) -> None:
    write(tmp_path, 0, header(0, 1))
    read = load_run(tmp_path).header
    assert isinstance(read, Header)
    assert (read.loss, read.duplication, read.reordering) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "wrong",
    ['"m":"01:1"', '"m":"0:01"', '"m":"0:1 "', '"m":"0"', '"digest":"abc"', '"digest":"AB"', '"digest":"zz"'],
)
def test_a_name_that_is_not_as_the_schema_says_is_a_fault(wrong: str) -> None:
    event = json.loads(DELIVERY)
    assert decode_line(2, json.dumps(event).encode()).fault is None
    name, _, value = wrong.partition(":")
    event[json.loads(name)] = json.loads(value)
    assert decode_line(2, json.dumps(event).encode()).fault is not None


def test_a_kind_that_no_event_has_is_answered_with_those_that_there_are() -> None:
    fault = decode_line(2, b'{"kind":"delivr","i":1,"m":"0:1"}').fault
    assert fault is not None
    assert fault.startswith("not an event: no kind 'delivr'; did you mean 'deliver'? known: broadcast, ")
    assert "no kind 'other'; known: " in (decode_line(2, b'{"kind":"other"}').fault or "")
