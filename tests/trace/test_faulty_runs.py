"""What is wrong with a run is told once each, with its file and line, and says nothing about the rest."""

import json
from pathlib import Path

import pytest

from antiphon.conformance.trace import NO_DELIVERIES, Header, digest, load_run, log_name, read_log
from antiphon.conformance.trace.lines import decode_line

DELIVERY = '{"kind":"deliver","i":0,"m":"0:1","number":1,"digest":"ab"}'
END = '{"kind":"end","i":1}'


def header(process: int, processes: int, run: str = "r") -> str:
    names = {"schema": "antiphon.trace", "version": 1, "run": run, "protocol": "p", "seed": 0, "messages": 1}
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


def test_a_header_says_nothing_that_the_schema_does_not_know() -> None:
    line = json.dumps(json.loads(header(0, 1)) | {"colour": "red"})
    assert decode_line(1, line.encode()).header is None


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
