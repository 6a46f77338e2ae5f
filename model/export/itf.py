"""Traces as ITF files (`*.itf.json`), from which they are replayed exactly.

Viewers of Apalache and Quint open them.

The states are ITF's own; everything else that replay needs stands in `#meta` under `antiphon`: the
specification by module and class, the folder of the module as seen from the file, the constants, the digest
of the specification's meaning, the steps with their arguments, the property and why.

Loading trusts nothing: the specification is read again, every step is executed by CPython, and every state of
the file must result. A specification that has changed since, by its digest, is compared by the names of its
variables: one more property, variable or constant changes no saved run.

Source: Apalache, ADR 15, "Informal Trace Format in JSON".
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from antiphon.model.export import encoding, foreign
from antiphon.model.files import write_whole
from antiphon.model.notation import compact_step
from antiphon.model.trace import ReplayError, Trace, replay
from antiphon.spec import places
from antiphon.spec.lang import Program, Spec, SpecError, State, Step, program
from antiphon.spec.lang.assignment import frozen
from antiphon.spec.lang.errors import Told

SCHEMA = "antiphon.trace-file"
ITF_VERSION = 1
FORMAT = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION = "mbt::actionTaken"
"""Pseudo variable in which Quint shows the action that led to a state."""


class TraceFileError(Told):
    """Error: a file is no trace, or belongs to another specification. The message says where, why, and what
    to do.
    """


class _Meta(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Data that a replay needs beside the states."""

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
    folder: str | None = None
    """Directory from which the module of the specification is imported, relative to the file; None for an
    installed one.
    """
    binding: str = ""
    """Place of the binding whose implementation deviates from the trace: "file.py:Name" relative to the file,
    or "module:Name"; "" if the binding is one of the catalogue, or there is none.
    """
    made: list[int] | None = None
    """Positions, among the last step's events in the specification, of those that an implementation emitted;
    None for all.
    """


class _FileMeta(msgspec.Struct, kw_only=True):
    """Part of a file that says which program wrote it; viewers show `description`."""

    format: Literal["ITF"] = "ITF"
    format_description: str = msgspec.field(name="format-description", default=FORMAT)
    description: str
    antiphon: _Meta


class TraceFile(msgspec.Struct, kw_only=True):
    """A saved trace. `loop`, in a lasso, is the index of the state that follows the last one; each state has
    the variables by name, in ITF's own notation.
    """

    meta: _FileMeta = msgspec.field(name="#meta")
    loop: int | msgspec.UnsetType = msgspec.UNSET
    vars: list[str]
    states: list[dict[str, Any]]


def specification_name(spec: type[Spec]) -> str:
    """Return `module:Class`, the name by which the class can be imported again.

    Raises:
        TraceFileError: the class was made inside a function or in `__main__`, where nobody can import it.
    """
    if "<locals>" in spec.__qualname__ or spec.__module__ == "__main__":
        raise TraceFileError(
            f"{spec.__name__} cannot be found again by import; put the class at the top of a module, then "
            "save the trace"
        )
    return f"{spec.__module__}:{spec.__qualname__}"


def save(trace: Trace, path: str | Path, *, binding: str = "") -> None:
    """Write a trace to `path`, conventionally `NAME.itf.json`.

    Args:
        trace: the run.
        path: the file.
        binding: place of the binding whose implementation deviates from the run, "file.py:Name" or
            "module:Name"; empty for a binding of the catalogue.

    Raises:
        TraceFileError: the specification could not be found again by import, or no run could begin where the
            trace does.
        OSError: the file cannot be written.
    """
    write_whole(path, text(trace, path, binding=binding))


def binding_in(path: str | Path) -> str:
    """Return the place of the binding whose implementation deviates from a saved trace, relative to the
    current directory; "" if the trace names none.

    Raises:
        TraceFileError: the file is no trace.
    """
    place = Path(path)
    data = _read(place)
    written = "" if foreign.is_foreign(data) else _meta_in(data, place).binding
    file, sign, name = written.partition(":")
    if not file.endswith(".py"):
        return written
    return f"{os.path.relpath(place.resolve().parent / file)}{sign}{name}"


def foreign_in(path: str | Path) -> foreign.ForeignRun | None:
    """Return the run in an ITF file of another tool; None for a trace that `save` has written.

    Raises:
        TraceFileError: the file is no trace.
    """
    data = _read(Path(path))
    if not foreign.is_foreign(data):
        return None
    try:
        return foreign.read(data)
    except foreign.Damage as error:
        raise TraceFileError(f"{path}: {error}") from error


def program_named_in(path: str | Path) -> Program | None:
    """Return the specification, with its constants, that an ITF file without the entries of `save` names in
    `#meta`, as `antiphon swarm --save` writes it; None if it names none.

    Raises:
        TraceFileError: the file is no trace, or there is no such specification.
    """
    data = _read(Path(path))
    if not foreign.is_foreign(data):
        return None
    try:
        return _named_program(data)
    except foreign.Damage as error:
        raise TraceFileError(f"{path}: {error}") from error


def _named_program(data: dict[str, Any]) -> Program | None:
    meta = data.get("#meta", {})
    name, constants = meta.get("specification"), meta.get("constants", {})
    if name is None:
        return None
    try:
        return program(places.stands_at(name, _SPECIFICATION), **constants)
    except (SpecError, TypeError) as error:
        raise foreign.Damage(f"#meta.specification: {error}") from error


def _meta_in(data: Any, place: Path) -> _Meta:
    try:
        return _read_meta(data)
    except foreign.Damage as error:
        raise TraceFileError(f"{place}: {error}") from error


def text(trace: Trace, path: str | Path, *, binding: str = "") -> str:
    """Return the text of the file `path` for the trace, with the binding as in `save`.

    Raises:
        TraceFileError: as for `save`.
    """
    place = Path(path).resolve().parent
    file, sign, name = binding.partition(":")
    if file.endswith(".py"):
        binding = f"{Path(os.path.relpath(file, place)).as_posix()}{sign}{name}"
    return json.dumps(to_itf(trace, place, binding), indent=1, ensure_ascii=False) + "\n"


def to_itf(trace: Trace, place: Path, binding: str = "") -> dict[str, Any]:
    """Return the trace as ITF data for a file in the folder `place`.

    `loop`, in a lasso, is the index of the state that follows the last one.
    """
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
        folder=_folder_seen_from(place, bound.spec),
        binding=binding,
        made=_event_positions(trace),
    )
    names = ["start", *map(compact_step, trace.steps)]
    file = TraceFile(
        meta=_FileMeta(
            description=f"{bound.name}: {trace.shows or 'a run'}, {len(trace)} steps. {trace.why}".strip(),
            antiphon=meta,
        ),
        loop=msgspec.UNSET if trace.loop is None else min(trace.loop + 1, len(trace)),
        vars=[*bound.variables, ACTION],
        states=[
            {"#meta": {"index": index}} | _encode_state(bound, state) | {ACTION: name}
            for index, (state, name) in enumerate(zip(trace.states, names, strict=True))
        ],
    )
    made: dict[str, Any] = msgspec.to_builtins(file)
    return made


def load(path: str | Path, subject: Program | type[Spec] | None = None) -> Trace:
    """Read a trace, and replay it on the specification, which CPython executes.

    Args:
        path: the file, as `save` writes it, or an ITF file of another tool.
        subject: the specification, where the file names none or one that has moved. A class is bound to the
            constants of the file, if it has any; a program is taken as it is.

    Raises:
        ForeignTraceError: another tool wrote the file, and no specification is named.
        TraceFileError: the file cannot be read, is damaged, or belongs to a specification that cannot be
            found or does not make these steps any more.
    """
    place = Path(path)
    data = _read(place)
    try:
        if foreign.is_foreign(data):
            run = foreign.read(data)
            if subject is None:
                subject = _named_program(data)
            if subject is None:
                raise ForeignTraceError(place, run)
            return foreign.matched(run, program(subject) if isinstance(subject, type) else subject)
        meta = _read_meta(data)
        bound = _bind(meta, place, subject)
        try:
            return _rebuild(data, meta, bound)
        except (_Damage, encoding.DecodingError) as error:
            if bound.digest == meta.digest:
                raise
            raise _changed(meta, bound, str(error)) from error
    except (foreign.Damage, encoding.DecodingError) as error:
        raise TraceFileError(f"{place}: {error}") from error


class ForeignTraceError(TraceFileError):
    """Error: a trace of another tool names no specification of ours; `run` is its content."""

    def __init__(self, place: str | Path, run: foreign.ForeignRun) -> None:
        self.run = run
        super().__init__(
            f"{place}: an ITF trace of another tool, which names no specification here; "
            f"`antiphon show {place}` shows its states, `antiphon replay {place} --as SPEC` says whether its "
            "steps are those of a specification"
        )


_Damage = foreign.Damage


def _read(place: Path) -> Any:
    """Return the JSON data of a file."""
    try:
        return json.loads(place.read_bytes())
    except OSError as error:
        raise TraceFileError(f"{place}: cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        where = (
            f"{place}:{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else str(place)
        )
        what = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise TraceFileError(f"{where}: not JSON: {what}") from error


def _rebuild(data: dict[str, Any], meta: _Meta, bound: Program) -> Trace:
    """Return the trace of a file, executed anew; if the specification has changed, from the first initial
    state that gives the saved states.

    Only variables that occur in both the file and the specification are compared.
    """
    changed = bound.digest != meta.digest
    known = [name for name in bound.variables if not changed or name in data.get("vars", ())]
    states = _read_states(data, bound, known, len(meta.steps))
    steps = [_decode_step(bound, item, number) for number, item in enumerate(meta.steps, 1)]
    starts = [start for start in bound.reference.initial() if _named(bound, start, known) == states[0]]
    failure: _Damage | None = (
        None
        if starts
        else _Damage(
            "states[0] is no initial state of the specification"
            if changed
            else f"states[0]: the trace does not begin in an initial state of {bound.name}"
        )
    )
    for start in starts:
        try:
            trace = replay(bound, start, steps, shows=meta.property, why=meta.why, loop=meta.loop)
        except (ReplayError, SpecError) as error:
            failure = failure or _Damage(f"#meta.antiphon.steps: the trace does not run: {error}")
            continue
        differing = _difference(bound, trace, states)
        if differing is None:
            return _as_made(trace, meta.made)
        failure = failure or _Damage(
            f"{differing} is not what the steps lead to"
            + ("" if changed else "; the file was edited or is damaged")
        )
    assert failure is not None
    raise failure


def _event_positions(trace: Trace) -> list[int] | None:
    """Return the positions of the last step's events in the trace among the events of the specification; None
    if they are the same events.
    """
    if not trace.transitions:
        return None
    last = trace.transitions[-1]
    stated = trace.program.reference.apply(trace.states[-2], last.step).events
    return None if last.events == stated else [k for k, event in enumerate(stated) if event in last.events]


def _as_made(trace: Trace, made: list[int] | None) -> Trace:
    """Return the trace with only those events of its last step that an implementation emitted."""
    if made is None or not trace.transitions:
        return trace
    last = trace.transitions[-1]
    kept = replace(last, events=tuple(event for k, event in enumerate(last.events) if k in made))
    return replace(trace, transitions=(*trace.transitions[:-1], kept))


def _difference(bound: Program, trace: Trace, states: list[dict[str, Any]]) -> str | None:
    """Return the first variable whose value in the file differs from that after the steps, with its place;
    None if there is none.
    """
    for index, (written, executed) in enumerate(zip(states, trace.states, strict=True)):
        made = _named(bound, executed, list(written))
        for name, value in written.items():
            if made[name] != value:
                return f"states[{index}].{name}"
    return None


def _named(bound: Program, state: State, names: list[str]) -> dict[str, Any]:
    """Return the values of some variables of a state, by name."""
    return {name: value for name, value in zip(bound.variables, state, strict=True) if name in names}


def _changed(meta: _Meta, bound: Program, how: str) -> _Damage:
    return _Damage(
        f"the specification has changed since this trace was made: {how}\n"
        f"  the trace:     {meta.specification}, digest {meta.digest}\n"
        f"  at present:    {meta.specification}, digest {bound.digest}\n"
        "  make it again: check the specification with `antiphon check --save`, or go back to the "
        "version that made the trace"
    )


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


def _folder_seen_from(place: Path, spec: type[Spec]) -> str | None:
    """Return the folder from which the module of `spec` is imported, relative to that of the file; None for
    an installed module, which is found by name.
    """
    folder = places.folder_of(spec)
    if folder is None or spec.__module__.startswith("antiphon.") or "site-packages" in folder.parts:
        return None
    try:
        return Path(os.path.relpath(folder, place)).as_posix()
    except ValueError:  # another drive of Windows
        return folder.as_posix()


def _bind(meta: _Meta, place: Path, subject: Program | type[Spec] | None) -> Program:
    """Return the specification of a trace in the file `place`, bound to the trace's constants."""
    if isinstance(subject, Program):
        return subject
    unbound = program(subject or _class_of(meta, place))
    kept = {name: value for name, value in meta.constants.items() if name in unbound.constants}
    try:
        bound = unbound.with_constants(**kept)
        if bound.digest == meta.digest:  # then it has all constants that the trace may name
            return unbound.with_constants(**meta.constants)
    except SpecError as error:
        raise _Damage(f"the specification has changed since this trace was made: {error}") from error
    return bound


def _class_of(meta: _Meta, place: Path) -> type[Spec]:
    """Return the class of a trace: from the module at its recorded place, relative to the file, else by
    name.
    """
    module, _, name = meta.specification.partition(":")
    stood = None if meta.folder is None else (place.resolve().parent / meta.folder).resolve()
    package = (stood or Path()) / Path(*module.split("."))
    file = package.parent / f"{package.name}.py"
    is_there = stood is not None and (file.is_file() or (package / "__init__.py").is_file())
    places.see_current_directory()
    if stood is not None and is_there:
        places.import_first_from(stood)
    try:
        found: type[Spec] = places.stands_at(meta.specification, _SPECIFICATION)
    except SpecError as error:
        gone = "" if stood is None or is_there else f"; seen from this file it stood in {file}, which is gone"
        fix = f"antiphon replay {place} --as file.py:{name}"
        raise _Damage(f"{error}{gone}; if it has moved, name it: {fix}") from error
    if is_there and places.folder_of(found) != stood:
        raise _Damage(
            f"specification {meta.specification!r}: Python knows another module {module!r}, of "
            f"{places.folder_of(found)}; load this trace in a process of its own, or rename one of the files"
        )
    return found


_SPECIFICATION = places.Kind(
    "specification",
    lambda value: isinstance(value, type) and issubclass(value, Spec),
    "a subclass of antiphon.spec.lang.Spec",
)


def _read_states(data: dict[str, Any], bound: Program, known: list[str], steps: int) -> list[dict[str, Any]]:
    written = data.get("states")
    if not isinstance(written, list) or len(written) != steps + 1:
        count = len(written) if isinstance(written, list) else "no"
        raise _Damage(f"states: {count} states for {steps} steps; there must be {steps + 1}")
    return [_decode_state(bound, known, item, index) for index, item in enumerate(written)]


def _encode_state(bound: Program, state: State) -> dict[str, Any]:
    return {
        name: encoding.encode(value, bound.domains[name])
        for name, value in zip(bound.variables, state, strict=True)
    }


def _decode_state(bound: Program, known: list[str], data: Any, index: int) -> dict[str, Any]:
    """Return the values of the known variables in a state of the file, by name."""
    if not isinstance(data, dict):
        raise _Damage(f"states[{index}] is no object")
    values: dict[str, Any] = {}
    for name in known:
        if name not in data:
            raise _Damage(f"states[{index}] has no value of {name}")
        try:
            domain = bound.domains[name]
            values[name] = frozen(encoding.decode(data[name], domain), domain)
        except (encoding.DecodingError, SpecError) as error:
            inner = (
                error if isinstance(error, encoding.DecodingError) else encoding.DecodingError(error.reason)
            )
            raise inner.under(f"states[{index}].{name}") from None
    return values


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
    """Return the types of the parameters of an action. Raises KeyError for one that does not exist."""
    for method in bound.declaration.marked("action", "environment"):
        if method.name == action:
            return [parameter.type for parameter in method.parameters]
    raise KeyError(action)
