"""Observation: the partial knowledge about a step that a line of a log gives, in the specification's terms.

It may name the action, or several possible actions; arguments, each whole or in part; and values of variables
before and after the step. An observation without an action is about the state, and no step. Values are plain:
an index as its number, a member of an enumeration by its name, of a map some keys, of a record some fields;
or a function that returns True for the plain values that match.

This module knows no file and no order of lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple

import msgspec

from antiphon.conformance.compare.bindings.plain_values import Strange, meant, plain
from antiphon.model.notation import compact, compact_step
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition, types
from antiphon.spec.lang.calls import Ended, begins, is_noted, is_over
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.errors import Told
from antiphon.spec.lang.foreign import Raised, foreign
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.maps import Map, entries


class ToldObservation(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Observation as a line of JSON has it, or a dict that a map returns."""

    action: str | list[str] | None = None
    args: dict[str, Any] | None = None
    state: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    stay: bool = False
    sends: str | int | list[str | int] | None = None
    receives: str | int | list[str | int] | None = None


KEYS: Final = ToldObservation.__struct_fields__
"""Keys of the dict that a map may return for a line."""
STEPS_MAX: Final = 100_000
"""Largest number of steps of one action that are tried for a line."""


class ObservationError(Told):
    """Error: a map or a log gives an invalid observation; the message names the place."""


@dataclass(frozen=True)
class Observation:
    """Observation in a line.

    Attributes:
        file: the log.
        line: the number of the line, from 1; in a trace of another tool the number of the state.
        actions: the possible actions; none for an observation of the state.
        arguments: the known arguments of the action, by the names of parameters.
        before: values of variables before the step.
        after: values of variables after the step.
        sends: names of messages that are sent here.
        receives: names of messages that arrive here: the line that sent them comes before.
        may_stay: True if the line may also tell of no step, so that the state stays.
        text: the line.
    """

    file: str
    line: int
    actions: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    sends: tuple[str, ...] = ()
    receives: tuple[str, ...] = ()
    may_stay: bool = False
    text: str = ""

    @property
    def place(self) -> str:
        """Return `FILE:LINE`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Log:
    """Observations of one process, in its order; `cut` says that the last line is cut off, and where."""

    file: str
    observations: tuple[Observation, ...]
    cut: str = ""


class Steps:
    """Finder of the steps of a program that match an observation."""

    def __init__(self, program: Program) -> None:
        self.program, self.machine = program, program.reference
        self.methods = {item.name: item for item in program.declaration.marked("action", "environment")}
        self.places = {name: place for place, name in enumerate(program.variables)}

    def observation(self, told: object, file: str, line: int, text: str = "") -> Observation:
        """Return the observation that a map makes of a line.

        Raises:
            ObservationError: it is invalid; the message says where, and lists the known names.
        """
        where = f"{file}:{line}"
        if not isinstance(told, Mapping):
            raise ObservationError(f"{where}: {told!r} is no observation, a dict with {', '.join(KEYS)}")
        unknown = [key for key in told if key not in KEYS]
        if unknown:
            known_keys = known_names(str(unknown[0]), KEYS)
            raise ObservationError(f"{where}: an observation has no {unknown[0]!r}; {known_keys}")
        named = told.get("action", ())
        actions = (named,) if isinstance(named, str) else tuple(named or ())
        parts = {key: told.get(key) or {} for key in ("args", "state", "before")}
        for key, part in parts.items():
            if not isinstance(part, Mapping):
                raise ObservationError(f"{where}: {key} is {part!r}; it is a dict from names to values")
        for name in actions:
            if name not in self.methods:
                raise ObservationError(f"{where}: no action {name!r}; {known_names(str(name), self.methods)}")
        parameters = {item.name: None for method in self.methods.values() for item in method.parameters}
        for key, known in (("args", parameters), ("state", self.places), ("before", self.places)):
            for name in parts[key]:
                if name not in known:
                    raise ObservationError(f"{where}: {key}: no {name!r}; {known_names(str(name), known)}")
        if not (actions or parts["before"] or parts["state"] or told.get("sends") or told.get("receives")):
            raise ObservationError(
                f"{where}: the observation says nothing: a map returns None for a line without one"
            )
        return Observation(
            file, line, actions, parts["args"], parts["before"], parts["state"],
            _names(told.get("sends")), _names(told.get("receives")), bool(told.get("stay")), text,
        )  # fmt: skip

    def agrees(self, state: State, wanted: Mapping[str, Any]) -> bool:
        """Return True if the variables have the observed values."""
        return all(
            fits(self.program.domains[name], state[self.places[name]], item) for name, item in wanted.items()
        )

    def differing(self, state: State, wanted: Mapping[str, Any]) -> ValueDifference | None:
        """Return the first variable with a value that differs from the observed one."""
        for name, item in wanted.items():
            value = state[self.places[name]]
            if not fits(self.program.domains[name], value, item):
                return first_difference(name, self.program.domains[name], value, item)
        return None

    def candidates(self, state: State, seen: Observation, action: str) -> Iterator[Step]:
        """Return the steps of an action whose arguments match the observation, possible or not."""
        method = self.methods[action]
        ranges = [list(self._values(state, method, k, seen)) for k in range(len(method.parameters))]
        count = 1
        for values in ranges:
            count *= len(values)
        if count > STEPS_MAX:
            names = ", ".join(item.name for item in method.parameters if item.name not in seen.arguments)
            raise ObservationError(
                f"{seen.place}: {action} could be one of {count:,} steps; say more of its arguments: {names}"
            )
        return (Step(action, arguments) for arguments in itertools.product(*ranges))

    def after(self, state: State, seen: Observation) -> Iterator[Transition | None]:
        """Return the transitions that explain an observation in a state; None stands for no step."""
        try:
            if is_noted():
                begins(f"a function in what the map says of {seen.place}")
            yield from self._after(state, seen)
        except Ended as ended:
            raise ObservationError(str(ended)) from ended
        except Raised as raised:
            raise ObservationError(f"{seen.place}: a function of the map fails: {raised}") from raised.error
        finally:
            is_over()

    def _after(self, state: State, seen: Observation) -> Iterator[Transition | None]:
        if not self.agrees(state, seen.before):
            return
        if (not seen.actions or seen.may_stay) and self.agrees(state, seen.after):
            yield None
        for action in seen.actions:
            for step in self.candidates(state, seen, action):
                try:
                    transition = self.taken(state, step)
                except SpecError as error:  # a value leaves its domain, mostly: constants are too small
                    told = f"{seen.place}, {compact_step(step)}: {error.reason}"
                    raise SpecError(told, error.at, error.instead) from error
                if transition is not None and self.agrees(transition.state, seen.after):
                    yield transition

    def no_values(self, seen: Observation, action: str) -> list[str]:
        """Return sentences on the observed arguments that no parameter of an action can have, such as `s is
        told 7`.
        """
        told = []
        for parameter in self.methods[action].parameters:
            wanted = seen.arguments.get(parameter.name, _ANY)
            if wanted is _ANY or callable(wanted) or isinstance(wanted, Mapping):
                continue
            if isinstance(meant(self.program.domain(parameter.type), wanted), Strange):
                told.append(f"{parameter.name} is told as {_shown(wanted)}, which is none of its values")
        return told

    def taken(self, state: State, step: Step) -> Transition | None:
        """Return the transition of a step, or None if the step is not possible."""
        try:
            return self.machine.apply(state, step)
        except Disabled:
            return None

    def _values(
        self, state: State, method: MethodDeclaration, number: int, seen: Observation
    ) -> Iterable[Any]:
        """Return the values that a parameter can have in a state, in the order of its domain; only those that
        the observation allows. Numbers that it tells of variables come first: mostly it is one of them.
        """
        parameter = method.parameters[number]
        domain = self.program.domain(parameter.type)
        wanted = seen.arguments.get(parameter.name, _ANY)
        whole = _ANY if wanted is _ANY or callable(wanted) else meant(domain, wanted)
        if whole is not _ANY and not isinstance(whole, Strange):
            return [whole]
        if parameter.within:
            there = (item for item in state[self.places[parameter.within]] if domain.contains(item))
            found = [item for item in there if fits(domain, item, wanted)]
            return sorted(found, key=domain.rank) if len(found) > 1 else found
        if domain.cardinality > STEPS_MAX:
            raise ObservationError(
                f"{method.name}: {parameter.name} has {domain.cardinality:,} values; a map has to say which"
            )
        found = [item for item in domain if fits(domain, item, wanted)]
        if isinstance(domain.type, types.Int):
            numbers = set(_numbers((seen.before, seen.after)))
            found.sort(key=lambda item: item not in numbers)
        return found


def _numbers(told: Any) -> Iterator[int]:
    """Yield the numbers in an observation of variables."""
    if type(told) is int:
        yield told
    elif isinstance(told, Mapping):
        yield from _numbers(tuple(told.values()))
    elif isinstance(told, list | tuple):
        for item in told:
            yield from _numbers(item)


class _Any:
    """Pattern that every value matches."""


_ANY: Final = _Any()


def fits(domain: types.Domain, value: Any, wanted: Any) -> bool:
    """Return True if a value of a state matches the observed one, which may give only parts of it."""
    if wanted is _ANY:
        return True
    if callable(wanted) and not isinstance(wanted, type | Enum):
        with foreign():
            return bool(wanted(as_plain(domain, value)))
    match domain.type:
        case types.MapOf() if isinstance(wanted, Mapping):
            keys, inner = domain.parts
            found = dict(zip(keys, entries(value), strict=True))
            named = [(meant(keys, as_key(key)), item) for key, item in wanted.items()]
            return all(key in found and fits(inner, found[key], item) for key, item in named)
        case types.Optional():
            if value is None or wanted is None:
                return value is wanted
            return fits(domain.parts[0], value, wanted)
        case types.Union():
            part = next(part for part in domain.parts if part.contains(value))
            return fits(part, value, wanted)
        case types.Record(name=name, fields=fields) if isinstance(wanted, Mapping):
            kinds = {field: part for (field, _), part in zip(fields, domain.parts, strict=True)}
            rest = {key: item for key, item in wanted.items() if key != "#record"}
            return wanted.get("#record", name) == name and all(
                key in kinds and fits(kinds[key], getattr(value, key), item) for key, item in rest.items()
            )
        case types.SequenceOf() if isinstance(wanted, list | tuple):
            pairs = zip(value, wanted, strict=False)
            return len(value) == len(wanted) and all(fits(domain.parts[0], *pair) for pair in pairs)
    return bool(meant(domain, wanted) == _frozen(value))


class ValueDifference(NamedTuple):
    """Place where a value differs from the log, down to the key of a map, with both values."""

    name: str
    value: str
    told: str

    def __str__(self) -> str:
        return f"{self.name} is {self.value}, {self.told}"


def mentioned(program: Program, seen: Observation) -> set[str]:
    """Return the variables in an observation, with the keys of maps, as `described` writes them."""
    found = set()
    for part in (seen.before, seen.after):
        for name, wanted in part.items():
            domain = program.domains[name]
            if isinstance(domain.type, types.MapOf) and isinstance(wanted, Mapping):
                found |= {f"{name}[{compact(meant(domain.parts[0], as_key(key)))}]" for key in wanted}
            else:
                found.add(name)
    return found


def first_difference(name: str, domain: types.Domain, value: Any, wanted: Any) -> ValueDifference:
    """Return the place where a value differs from the log."""
    if not callable(wanted) and isinstance(wanted, Mapping) and isinstance(domain.type, types.MapOf):
        keys, inner = domain.parts
        found = dict(zip(keys, entries(value), strict=True))
        for key, item in wanted.items():
            known = meant(keys, as_key(key))
            if known not in found:
                return ValueDifference(f"{name}[{key}]", "nothing", f"and the log says {_shown(item)}")
            if not fits(inner, found[known], item):
                return first_difference(f"{name}[{compact(known)}]", inner, found[known], item)
    if callable(wanted):
        return ValueDifference(name, compact(value), "which is not what the map asks")
    is_none = not isinstance(wanted, Mapping) and isinstance(meant(domain, wanted), Strange)
    no_value = f", which is no value of {name}" if is_none else ""
    return ValueDifference(name, compact(value), f"and the log says {_shown(wanted)}{no_value}")


def as_plain(domain: types.Domain, value: Any) -> Any:
    """Return a value of a state as plain Python: a map as a dict."""
    if isinstance(domain.type, types.MapOf):
        keys, inner = domain.parts
        return {plain(key): as_plain(inner, item) for key, item in zip(keys, entries(value), strict=True)}
    return plain(value) if domain.has_index or domain.has_map else value


def _frozen(value: Any) -> Any:
    return value.freeze() if isinstance(value, Map) else value


def as_key(key: object) -> object:
    """Return a key as JSON spells it: a number in quotes is a number."""
    return int(key) if isinstance(key, str) and key.isdecimal() else key


def _names(told: object) -> tuple[str, ...]:
    if told is None:
        return ()
    return (str(told),) if isinstance(told, str | int) else tuple(map(str, told))  # type: ignore[call-overload]


def _shown(wanted: object) -> str:
    if isinstance(wanted, Enum):
        return wanted.name
    return str(wanted) if isinstance(wanted, str) else repr(wanted)


Observe = Callable[[Any], Any]
"""Map from a line to None, one observation, or several."""
