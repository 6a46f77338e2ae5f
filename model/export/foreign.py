"""Runs that another tool wrote as ITF, such as Apalache and Quint, matched with steps of a specification.

1. The file names variables and values, and no specification of ours. Variables are matched by name, without
   the module that Quint puts before it; variables of one side alone are not compared.
2. A value is read by the declared type. Values for which other tools have no type are accepted in their
   spelling: an index as its number or as `p1`, a member of an enumeration as a string, an optional value as
   itself.
3. Each state must follow from the one before by a step of the specification, that of `mbt::actionTaken` where
   the specification has an action of this name, with the arguments that `mbt::nondetPicks` has. A state that
   repeats the one before needs no step.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.model.export import encoding
from antiphon.model.properties import kinds_of
from antiphon.model.trace import Trace
from antiphon.model.verdict import PropertyKind
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition, types
from antiphon.spec.lang.assignment import frozen

ACTION = "mbt::actionTaken"
"""Pseudo variable in which Quint shows the action that led to a state."""

PICKS = "mbt::nondetPicks"
"""Pseudo variable in which Quint shows the values that the action has picked, by name."""


class Damage(Exception):
    """Error: a fault in the data of a trace file, without the name of the file."""


@dataclass(frozen=True)
class ForeignRun:
    """Run of another tool.

    Attributes:
        source: the file from which the tool made it, or "".
        states: each state, its values as ITF data by the name of the variable.
        actions: the name of the action that led to each state, or "".
        picks: the values that the action has picked, as ITF data by name.
        loop: the number of the state that follows the last one, in a lasso.
    """

    source: str
    states: tuple[dict[str, Any], ...]
    actions: tuple[str, ...]
    picks: tuple[dict[str, Any], ...]
    loop: int | None = None

    def shown(self) -> tuple[dict[str, str], ...]:
        """Return each state as text, by the name of the variable."""
        return tuple({name: plain(value) for name, value in state.items()} for state in self.states)


def is_foreign(data: Any) -> bool:
    """Return True for data of ITF without the entries that replay needs."""
    if not isinstance(data, dict) or not isinstance(data.get("states"), list):
        return False
    meta = data.get("#meta", {})
    return isinstance(meta, dict) and "antiphon" not in meta


def read(data: dict[str, Any]) -> ForeignRun:
    """Return the run in the data.

    Raises:
        Damage: there is no state, a state is no object or has none of the variables, or `loop` is the number
            of none.
    """
    states, actions, picks = [], [], []
    if not data["states"]:
        raise Damage("states is empty: a trace has one state at least")
    for index, state in enumerate(data["states"]):
        if not isinstance(state, dict):
            raise Damage(f"states[{index}] is no object")
        listed = data.get("vars")
        names = list(map(str, listed if isinstance(listed, list) else state))
        missing = [name for name in names if name not in state]
        if missing:
            raise Damage(f"states[{index}] has no value of {missing[0]}")
        states.append({_bare(name): state[name] for name in names if not _is_meta(name)})
        taken = state.get(ACTION, "")
        actions.append(_bare(taken) if isinstance(taken, str) else "")
        picks.append(dict(_picked(state.get(PICKS))))
    source = data.get("#meta", {}).get("source", "")
    loop = data.get("loop")
    if loop is not None and (type(loop) is not int or not 0 <= loop < len(states)):
        raise Damage(f"loop is {loop!r}, the number of no state; there are {len(states)}, from 0")
    return ForeignRun(str(source), tuple(states), tuple(actions), tuple(picks), loop)


def _picked(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each variable that has been picked."""
    for name, value in data.items() if isinstance(data, dict) else ():
        match value:
            case {"tag": "Some", "value": inner}:
                yield _bare(name), inner
            case {"tag": "None"} | None:
                pass
            case _:
                yield _bare(name), value


def plain(value: Any) -> str:
    """Return a value of ITF as text: `3`, `{1, 2}`, `{a: 1}`, `[1, 2]`, `Ack(1)`."""
    match value:
        case {"#bigint": number}:
            return str(number)
        case {"#set": list(items)}:
            return "{" + ", ".join(map(plain, items)) + "}"
        case {"#tup": list(items)}:
            return "(" + ", ".join(map(plain, items)) + ")"
        case {"#map": list(pairs)}:
            told = (f"{plain(pair[0])}: {plain(pair[1])}" for pair in pairs if isinstance(pair, list))
            return "{" + ", ".join(told) + "}"
        case {"tag": str(tag), "value": inner}:
            return tag if inner == encoding.UNIT else f"{tag}({plain(inner)})"
        case dict():
            return "{" + ", ".join(f"{name}: {plain(inner)}" for name, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(plain, value)) + "]"
        case str():
            return value
    return json.dumps(value)


def matched(run: ForeignRun, bound: Program) -> Trace:
    """Return the run of another tool as a trace of the program `bound`. The trace shows the first property
    that is broken at its end, if one is.

    Raises:
        Damage: the run and the program share no variable, a value is none of its variable's type, or no
            step leads to a state.
    """
    names = [name for name in bound.variables if name in run.states[0]]
    if not names:
        raise Damage(
            f"no variable of {bound.name} stands in this trace: it has {', '.join(run.states[0])}; "
            f"{bound.name} has {', '.join(bound.variables)}"
        )
    wanted = [values_of(bound, names, state, index) for index, state in enumerate(run.states)]
    starts = [state for state in bound.reference.initial() if _agrees(bound, state, wanted[0])]
    if not starts:
        raise Damage(f"states[0]: {bound.name} has no initial state with {_values_text(run, names, 0)}")
    ways: dict[State, tuple[State, tuple[Transition, ...]]] = {start: (start, ()) for start in starts}
    for index in range(1, len(wanted)):
        ways = _onward(run, bound, ways, wanted, index)
        if not ways:
            raise Damage(_no_step(run, bound, names, index))
    start, transitions = next(iter(ways.values()))
    trace = Trace(bound, start, transitions)
    broken = _broken(trace)
    return Trace(bound, start, transitions, broken, f"{broken} is false" if broken else "")


def _onward(
    run: ForeignRun,
    bound: Program,
    ways: dict[State, tuple[State, tuple[Transition, ...]]],
    wanted: list[dict[str, Any]],
    index: int,
) -> dict[State, tuple[State, tuple[Transition, ...]]]:
    """Return the states that agree with state number `index` of the run, each with a way to it, from the
    states before.
    """
    action = run.actions[index]
    is_known = action in {method.name for method in bound.declaration.marked("action", "environment")}
    picked = arguments_of(bound, action, run.picks[index], index) if is_known else {}
    found: dict[State, tuple[State, tuple[Transition, ...]]] = {}
    for state, (start, transitions) in ways.items():
        for transition in _candidates(bound, state, action if is_known else "", picked):
            named = not is_known or transition.step.action == action
            named = named and _has(bound, transition.step, picked)
            if named and _agrees(bound, transition.state, wanted[index]):
                found.setdefault(transition.state, (start, (*transitions, transition)))
    if wanted[index] == wanted[index - 1] and not (is_known and found):
        for state, way in ways.items():  # no step is a way too, beside those that change others
            found.setdefault(state, way)
    return found


def _candidates(bound: Program, state: State, action: str, picked: dict[str, Any]) -> Iterator[Transition]:
    """Yield the possible steps from a state: of an action of which all arguments are known only that one."""
    parameters = [
        item.name
        for method in bound.declaration.marked("action", "environment")
        if method.name == action
        for item in method.parameters
    ]
    if not action or not all(name in picked for name in parameters):
        yield from bound.reference.successors(state)
        return
    try:
        yield bound.reference.apply(state, Step(action, tuple(picked[name] for name in parameters)))
    except Disabled:
        return


def _no_step(run: ForeignRun, bound: Program, names: list[str], index: int) -> str:
    action = run.actions[index]
    by = f", as {ACTION} says by {action}" if action else ""
    known = sorted({method.name for method in bound.declaration.marked("action", "environment")})
    return (
        f"states[{index}]: no step of {bound.name} leads from states[{index - 1}] to one with "
        f"{_values_text(run, names, index)}{by}; its actions: {', '.join(known)}"
    )


def _values_text(run: ForeignRun, names: list[str], index: int) -> str:
    shown = run.shown()[index]
    return ", ".join(f"{name} = {shown[name]}" for name in names)


def values_of(bound: Program, names: list[str], state: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the values of state number `index` by variable, as values of the specification.

    Raises:
        Damage: a variable has no value.
        DecodingError: a value is none of its variable's type.
    """
    found: dict[str, Any] = {}
    for name in names:
        if name not in state:
            raise Damage(f"states[{index}] has no value of {name}")
        found[name] = value_of(bound.domains[name], state[name], f"states[{index}].{name}")
    return found


def value_of(domain: types.Domain, data: Any, place: str) -> Any:
    """Return the value of a domain that ITF data at a place denote.

    Raises:
        DecodingError: they denote none.
    """
    try:
        return frozen(encoding.decode(_as_ours(data, domain), domain), domain)
    except encoding.DecodingError as error:
        raise error.under(place) from None
    except SpecError as error:
        raise encoding.DecodingError(error.reason).under(place) from None


def arguments_of(bound: Program, action: str, picks: dict[str, Any], index: int) -> dict[str, Any]:
    """Return the arguments of an action that the step to state number `index` has picked, by parameter.

    Raises:
        DecodingError: a value is none of its parameter's type.
    """
    (method,) = [item for item in bound.declaration.marked("action", "environment") if item.name == action]
    return {
        item.name: value_of(bound.domain(item.type), picks[item.name], f"states[{index}].{PICKS}.{item.name}")
        for item in method.parameters
        if item.name in picks
    }


def _has(bound: Program, step: Step, picked: dict[str, Any]) -> bool:
    """Return True if a step has these arguments."""
    if not picked:
        return True
    methods = {item.name: item for item in bound.declaration.marked("action", "environment")}
    pairs = zip(methods[step.action].parameters, step.arguments, strict=True)
    return all(picked.get(parameter.name, value) == value for parameter, value in pairs)


def _agrees(bound: Program, state: State, wanted: dict[str, Any]) -> bool:
    return all(
        wanted[name] == value for name, value in zip(bound.variables, state, strict=True) if name in wanted
    )


def _as_ours(data: Any, domain: types.Domain) -> Any:
    """Return the data in our notation where other tools have another one; all other data unchanged."""
    parts = domain.parts
    match domain.type, data:
        case types.IndexType(name=name), int() | {"#bigint": _}:
            return f"{name}({data if isinstance(data, int) else data['#bigint']})"
        case types.IndexType(name=name), str():
            number = re.fullmatch(r"[A-Za-z_]+([0-9]+)", data)
            return f"{name}({number[1]})" if number else data
        case types.Enumeration(), str():
            return {"tag": data, "value": encoding.UNIT}
        case types.Optional(), None:
            return {"tag": "None", "value": encoding.UNIT}
        case types.Optional(), _ if not _is_variant(data, "None", "Some"):
            return {"tag": "Some", "value": _as_ours(data, parts[0])}
        case types.Optional(), {"tag": "Some", "value": inner}:
            return {"tag": "Some", "value": _as_ours(inner, parts[0])}
        case types.Record(fields=fields), dict():
            kinds = {name: part for (name, _), part in zip(fields, parts, strict=True)}
            return {
                name: _as_ours(item, kinds[name]) if name in kinds else item for name, item in data.items()
            }
        case types.Union(records=records), {"tag": tag, "value": inner}:
            kinds = {record.name: part for record, part in zip(records, parts, strict=True)}
            return {"tag": tag, "value": _as_ours(inner, kinds[tag]) if tag in kinds else inner}
        case types.SetOf(), {"#set": list(items)}:
            return {"#set": [_as_ours(item, parts[0]) for item in items]}
        case types.MapOf(), {"#map": list(pairs)}:
            return {"#map": [list(_pair(pair, parts)) for pair in pairs]}
        case types.SequenceOf(), list() | {"#tup": list()}:
            return [_as_ours(item, parts[0]) for item in (data if isinstance(data, list) else data["#tup"])]
    return data


def _pair(pair: Any, parts: tuple[types.Domain, ...]) -> Iterator[Any]:
    """Yield the parts of a map's pair, written as a list or as `{"#tup": [key, value]}`, in our notation."""
    items = pair.get("#tup") if isinstance(pair, dict) else pair
    if not isinstance(items, list):
        raise encoding.DecodingError(f"{plain(pair)} where a key and a value must stand")
    return (_as_ours(item, part) for item, part in zip(items, parts, strict=False))


def _is_variant(data: Any, *tags: str) -> bool:
    return isinstance(data, dict) and set(data) == {"tag", "value"} and data["tag"] in tags


def _broken(trace: Trace) -> str:
    """Return the first property that is false at the end of the trace, or that its last step breaks; "" if
    there is none.
    """
    refused = [refusal.property for step in trace.transitions[-1:] for refusal in step.refused]
    false = (
        name
        for name, kind in kinds_of(trace.program).items()
        if kind is PropertyKind.INVARIANT and not trace.program.reference.holds(trace.states[-1], name)
    )
    return next(iter(refused), "") or next(false, "")


def _bare(name: str) -> str:
    """Return a name without the modules before it."""
    return name.rpartition("::")[2]


def _is_meta(name: str) -> bool:
    """Return True if an entry of a state is metadata and no variable."""
    return name == "#meta" or name.startswith("mbt::")
