"""Reader of logs: turns lines of JSON or text into observations by a map, and traces of other tools without
one.

Without a map a line of JSON is an observation itself. In a trace of Apalache or Quint (ITF) states are whole,
for the variables that the specification has. This module judges nothing.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from antiphon.conformance.compare.bindings.plain_values import Strange
from antiphon.conformance.compare.bindings.timed import Late, Timed
from antiphon.conformance.compare.validation.observations import (
    Log,
    Observation,
    ObservationError,
    Observe,
    Steps,
)
from antiphon.model.export import encoding, foreign
from antiphon.spec.lang import Program, types
from antiphon.spec.lang.calls import Ended
from antiphon.spec.lang.foreign import Raised, writable
from antiphon.spec.lang.foreign import foreign as boundary

MAP_SECONDS = 5.0
"""Seconds that a map may take for a line."""

_NO_JSON = (ValueError, RecursionError)
"""Errors of reading JSON: no JSON, no UTF-8, or nested too deeply."""

JSON = (".ndjson", ".jsonl", ".json")
"""Endings of the names of logs whose lines are JSON; a map gets the lines of other logs as text."""


def read_logs(program: Program, files: Sequence[str | Path], observe: Observe | None = None) -> list[Log]:
    """Return the observations of each file, in the order of its lines. A last line of JSON that is cut off,
    as where the process was killed while it wrote, is left out, and the log says so.

    Args:
        program: the specification with its constants.
        files: logs, each of one process, or of several in one order.
        observe: the map from a line to None, one observation (a dict), or several.

    Raises:
        ObservationError: a file cannot be read, a line is no JSON, an observation is invalid, or the map
            fails at a line or does not return.
    """
    steps = Steps(program)
    return [_log(steps, Path(file), observe) for file in files]


def _log(steps: Steps, file: Path, observe: Observe | None) -> Log:
    try:
        data = file.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise ObservationError(f"{file}: cannot be read: {error.strerror}") from error
    whole, _, last = data.rpartition(b"\n")
    cut = ""
    if file.suffix in JSON and whole and last.strip() and not _is_json(last) and not _is_json(data):
        data, cut = whole, f"{file}:{len(whole.splitlines()) + 1}: the line is cut off"
    try:
        text = data.decode().replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise ObservationError(f"{file}: not UTF-8: {error.reason}") from error
    return Log(str(file), tuple(_observations(steps, file, text, observe)), cut)


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except _NO_JSON:
        return False
    return True


def _observations(steps: Steps, file: Path, text: str, observe: Observe | None) -> Iterator[Observation]:
    if observe is None and (run := _foreign(text)) is not None:
        yield from _of_foreign(steps, str(file), run)
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            record: Any = _record(file, number, line)
            for told in [record] if observe is None else _told(observe, record, f"{file}:{number}"):
                yield steps.observation(told, str(file), number, writable(line.strip()))


def _record(file: Path, number: int, line: str) -> Any:
    if file.suffix not in JSON:
        return line
    try:
        return json.loads(line)
    except _NO_JSON as error:
        raise ObservationError(f"{file}:{number}: not JSON: {error}") from error


def _told(observe: Observe, record: Any, place: str) -> Iterable[Any]:
    """Return the observations that a map makes of the line at this place."""
    timed = Timed("the map", MAP_SECONDS)
    try:
        with boundary(Late, Ended), timed.watching():
            timed.begin(f"the map of {place}")
            found = observe(record)
            if not found:
                return []
            return [found] if isinstance(found, dict) else list(found)
    except Raised as raised:
        raise ObservationError(f"{place}: the map fails: {raised}") from raised.error
    except (Late, Ended) as error:
        raise ObservationError(str(error)) from error


def _foreign(text: str) -> foreign.ForeignRun | None:
    """Return the run of another tool that a file holds; None if it holds none."""
    try:
        data = json.loads(text)
    except _NO_JSON:
        return None
    if not foreign.is_foreign(data):
        return None
    try:
        return foreign.read(data)
    except foreign.Damage as error:
        raise ObservationError(str(error)) from error


def _of_foreign(steps: Steps, file: str, run: foreign.ForeignRun) -> Iterator[Observation]:
    names = [name for name in steps.program.variables if name in run.states[0]]
    if not names:
        raise ObservationError(
            f"{file}: no variable of {steps.program.name} stands in this trace: it has "
            f"{', '.join(run.states[0])}; {steps.program.name} has {', '.join(steps.program.variables)}"
        )
    shown, domains = run.shown(), steps.program.domains
    for number, state in enumerate(run.states):
        if missing := [name for name in names if name not in state]:
            raise ObservationError(f"{file}: states[{number}] has no value of {missing[0]}")
        values = {name: _value(domains[name], state[name]) for name in names}
        method = steps.methods.get(run.actions[number]) if number else None
        picks = run.picks[number]
        arguments = {
            item.name: _value(steps.program.domain(item.type), picks[item.name])
            for item in (method.parameters if method is not None else ())
            if item.name in picks
        }
        known = () if number == 0 else tuple(steps.methods) if method is None else (method.name,)
        text = ", ".join(f"{name} = {shown[number][name]}" for name in names)
        yield Observation(file, number, known, arguments, {}, values, may_stay=number > 0, text=text)
    if run.loop is not None:
        values = {name: _value(domains[name], run.states[run.loop][name]) for name in names}
        text = f"back to states[{run.loop}]"
        every = tuple(steps.methods)
        yield Observation(file, len(run.states), every, {}, {}, values, may_stay=True, text=text)


def _value(domain: types.Domain, data: Any) -> Any:
    """Return the value of a domain that ITF data denote, or one that equals none and prints as the data."""
    try:
        return foreign.value_of(domain, data, "")
    except encoding.DecodingError:
        return Strange(_Written(foreign.plain(data)))


class _Written(str):
    """Text that `repr` gives without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__
