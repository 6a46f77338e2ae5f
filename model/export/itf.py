"""A trace is kept as one ITF file (`*.itf.json`), from which it is replayed exactly.

Viewers of Apalache and Quint open it.

The states are ITF's own; what replay needs stands in `#meta` under `antiphon`: the specification by module
and class, its constants, the digest of what it meant, the steps with their arguments, the property and why.
Loading trusts nothing: the specification is read again, a digest that differs is refused, every step is
executed by CPython, and every state of the file must be the one that comes out.

Source: Apalache, ADR 15, "Informal Trace Format in JSON".
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import msgspec

from antiphon.model.export import encoding
from antiphon.model.notation import compact_step
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.spec.lang import Program, Spec, SpecError, State, Step, program
from antiphon.spec.lang.assignment import frozen
from antiphon.spec.lang.errors import Told

SCHEMA = "antiphon.trace-file"
ITF_VERSION = 1
FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION = "mbt::actionTaken"
"""The pseudo variable in which Quint shows the action that led to a state."""


class TraceFileError(Told):
    """A file that is no trace, or not of this specification. The message says where, why, and what to do."""


class _Meta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What replay needs."""

    schema: str
    version: int
    specification: str
    constants: dict[str, int | bool | str]
    digest: str
    property: str
    why: str
    steps: list[dict[str, Any]]
    loop: int | None = None
    """The number of the state that the last one repeats, in a lasso."""


def specification_name(spec: type[Spec]) -> str:
    """`module:Class`, by which the class is found again.

    Raises:
        TraceFileError: the class was made inside a function or in `__main__`, where nobody can import it.
    """
    if "<locals>" in spec.__qualname__ or spec.__module__ == "__main__":
        raise TraceFileError(
            f"{spec.__name__} cannot be found again by import; put the class at the top of a module, then "
            "save the trace"
        )
    return f"{spec.__module__}:{spec.__qualname__}"


def save(trace: Trace, path: str | Path) -> None:
    """Write a trace to `path`, conventionally `NAME.itf.json`.

    Raises:
        TraceFileError: the specification could not be found again by import, or no run could begin where the
            trace does.
        OSError: the file cannot be written.
    """
    Path(path).write_text(json.dumps(to_itf(trace), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def to_itf(trace: Trace) -> dict[str, Any]:
    """The trace as ITF data. `loop`, in a lasso, is the index of the state that follows the last one."""
    bound = trace.program
    if not trace.initial:
        raise TraceFileError(
            f"{trace.shows}: a counterexample to induction begins in no initial state, and cannot be "
            "replayed from a file"
        )
    meta = _Meta(
        schema=SCHEMA,
        version=ITF_VERSION,
        specification=specification_name(bound.spec),
        constants=bound.constants,
        digest=bound.digest,
        property=trace.shows,
        why=trace.why,
        steps=[_encode_step(bound, step) for step in trace.steps],
        loop=trace.loop,
    )
    names = ["start", *map(compact_step, trace.steps)]
    return {
        "#meta": {
            "format": "ITF",
            "format-description": FORMAT,
            "description": f"{bound.name}: {trace.shows or 'a run'}, {len(trace)} steps. {trace.why}".strip(),
            "antiphon": msgspec.to_builtins(meta),
        },
        **({} if trace.loop is None else {"loop": min(trace.loop + 1, len(trace))}),
        "vars": [*bound.variables, ACTION],
        "states": [
            {"#meta": {"index": index}} | _encode_state(bound, state) | {ACTION: name}
            for index, (state, name) in enumerate(zip(trace.states, names, strict=True))
        ],
    }


def load(path: str | Path) -> Trace:
    """Read a trace and replay it on the specification as CPython executes it.

    Raises:
        TraceFileError: the file cannot be read, is damaged, or belongs to a specification that has changed or
            cannot be found.
    """
    place = Path(path)
    try:
        data = json.loads(place.read_bytes())
    except OSError as error:
        raise TraceFileError(f"{place}: cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        where = (
            f"{place}:{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else str(place)
        )
        what = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise TraceFileError(f"{where}: not JSON: {what}") from error
    try:
        return _rebuild(data)
    except (_Damage, encoding.DecodingError) as error:
        raise TraceFileError(f"{place}: {error}") from error


class _Damage(Exception):
    """What is wrong with the data, without the name of the file."""


def _rebuild(data: Any) -> Trace:
    meta = _read_meta(data)
    bound = _bind(meta)
    if bound.digest != meta.digest:
        raise _Damage(
            f"the specification has changed since this trace was made\n"
            f"  the trace:     {meta.specification}, digest {meta.digest}\n"
            f"  at present:    {meta.specification}, digest {bound.digest}\n"
            "  make it again: check the specification with `antiphon check --save`, or go back to the "
            "version that made the trace"
        )
    states = _read_states(data, bound, len(meta.steps))
    steps = [_decode_step(bound, item, number) for number, item in enumerate(meta.steps, 1)]
    try:
        trace = replay(bound, states[0], steps, shows=meta.property, why=meta.why, loop=meta.loop)
    except (ReplayError, SpecError) as error:
        raise _Damage(f"#meta.antiphon.steps: the trace does not run: {error}") from error
    for index, (written, executed) in enumerate(zip(states, trace.states, strict=True)):
        if written != executed:
            name = next(name for name, a, b in zip(bound.variables, written, executed, strict=True) if a != b)
            raise _Damage(
                f"states[{index}].{name} is not what the steps lead to; the file was edited or is damaged"
            )
    return trace


def _read_meta(data: Any) -> _Meta:
    if not isinstance(data, dict) or not isinstance(data.get("#meta"), dict):
        raise _Damage("not an ITF trace: there is no #meta object")
    written = data["#meta"].get("antiphon")
    if not isinstance(written, dict):
        raise _Damage("an ITF trace of another tool: #meta has no object antiphon, which replay needs")
    if written.get("schema") != SCHEMA:
        raise _Damage(f"#meta.antiphon.schema is {written.get('schema')!r}, not {SCHEMA!r}")
    if written.get("version") != ITF_VERSION:
        raise _Damage(
            f"#meta.antiphon.version is {written.get('version')!r}; this version of antiphon reads "
            f"{ITF_VERSION}"
        )
    try:
        return msgspec.convert(written, _Meta)
    except msgspec.ValidationError as error:
        raise _Damage(f"#meta.antiphon: {error}") from error


def _bind(meta: _Meta) -> Program:
    module, _, name = meta.specification.partition(":")
    found: Any = None
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise _Damage(
            f"specification {meta.specification!r} is not found ({error}); run where its module can be "
            "imported"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Spec)):
        raise _Damage(f"specification {meta.specification!r} is no specification class")
    try:
        return program(found).with_constants(**meta.constants)
    except SpecError as error:
        raise _Damage(f"the specification has changed since this trace was made: {error}") from error


def _read_states(data: dict[str, Any], bound: Program, steps: int) -> list[State]:
    written = data.get("states")
    if not isinstance(written, list) or len(written) != steps + 1:
        count = len(written) if isinstance(written, list) else "no"
        raise _Damage(f"states: {count} states for {steps} steps; there must be {steps + 1}")
    return [_decode_state(bound, item, index) for index, item in enumerate(written)]


def _encode_state(bound: Program, state: State) -> dict[str, Any]:
    return {
        name: encoding.encode(value, bound.domains[name])
        for name, value in zip(bound.variables, state, strict=True)
    }


def _decode_state(bound: Program, data: Any, index: int) -> State:
    if not isinstance(data, dict):
        raise _Damage(f"states[{index}] is no object")
    values: list[Any] = []
    for name in bound.variables:
        if name not in data:
            raise _Damage(f"states[{index}] has no value of {name}")
        try:
            domain = bound.domains[name]
            values.append(frozen(encoding.decode(data[name], domain), domain))
        except (encoding.DecodingError, SpecError) as error:
            inner = (
                error if isinstance(error, encoding.DecodingError) else encoding.DecodingError(error.reason)
            )
            raise inner.under(f"states[{index}].{name}") from None
    return tuple(values)


def _encode_step(bound: Program, step: Step) -> dict[str, Any]:
    parameters = _parameters(bound, step.action)
    arguments = [
        encoding.encode(value, bound.domain(kind))
        for value, kind in zip(step.arguments, parameters, strict=True)
    ]
    return {"action": step.action, "arguments": arguments}


def _decode_step(bound: Program, data: dict[str, Any], number: int) -> Step:
    where = f"#meta.antiphon.steps[{number - 1}]"
    action, arguments = data.get("action"), data.get("arguments")
    if set(data) != {"action", "arguments"} or not isinstance(action, str) or not isinstance(arguments, list):
        raise _Damage(f"{where}: a step is an object with an action and a list of arguments")
    try:
        parameters = _parameters(bound, action)
    except KeyError:
        raise _Damage(f"{where}: {bound.name} has no action {action!r}") from None
    if len(parameters) != len(arguments):
        raise _Damage(f"{where}: {action} takes {len(parameters)} arguments, not {len(arguments)}")
    values = []
    for position, (item, kind) in enumerate(zip(arguments, parameters, strict=True)):
        try:
            values.append(encoding.decode(item, bound.domain(kind)))
        except encoding.DecodingError as error:
            raise error.under(f"{where}.arguments[{position}]") from None
    return Step(action, tuple(values))


def _parameters(bound: Program, action: str) -> list[Any]:
    """The types of the parameters of an action. Raises KeyError for one that does not exist."""
    for method in bound.declaration.marked("action", "environment"):
        if method.name == action:
            return [parameter.type for parameter in method.parameters]
    raise KeyError(action)
