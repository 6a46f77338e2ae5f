"""Changes of a step: the parts of the state that differ, named as in the specification; for sets the elements
that were added and removed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.model.notation import compact
from antiphon.model.trace import Trace
from antiphon.spec.lang import Program, State, ir, types
from antiphon.spec.lang.walk import nodes


@dataclass(frozen=True)
class Change:
    """One part of the state: `where` is a variable, with keys if it is a map. For a set, `added` and
    `removed` hold the elements, in domain order.
    """

    where: str
    before: Any
    after: Any
    added: tuple[Any, ...] = ()
    removed: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.added or self.removed:
            signs = [f"+ {compact(item)}" for item in self.added] + [
                f"- {compact(item)}" for item in self.removed
            ]
            return f"{self.where}: {', '.join(signs)}"
        return f"{self.where}: {compact(self.before)} -> {compact(self.after)}"


def changes(program: Program, before: State, after: State) -> tuple[Change, ...]:
    """Return the differences between two states of `program`, in the order of declaration."""
    found: list[Change] = []
    for name, old, new in zip(program.variables, before, after, strict=True):
        found.extend(_compare(name, program.domains[name], old, new))
    return tuple(found)


def trace_changes(trace: Trace) -> tuple[tuple[Change, ...], ...]:
    """Return the changes of each step of the trace; as many entries as there are steps."""
    states = trace.states
    return tuple(changes(trace.program, before, after) for before, after in itertools.pairwise(states))


def described(program: Program, state: State) -> tuple[tuple[str, str], ...]:
    """Return every part of a state with its value, a map key by key; meant for the first state of a trace."""
    found: list[tuple[str, str]] = []
    for name, value in zip(program.variables, state, strict=True):
        found.extend(described_variable(program, name, value))
    return tuple(found)


def described_variable(program: Program, name: str, value: Any) -> tuple[tuple[str, str], ...]:
    """Return every part of a variable with its value, in the form that `described` uses."""
    return tuple((where, compact(part)) for where, part in _parts(name, program.domains[name], value))


def beginning(trace: Trace) -> tuple[tuple[str, str], ...]:
    """Return the values that distinguish the first state of a run from other initial states; none if the
    program has only one initial state.

    They are the variables that `@initial` methods write, and for maps the values that are not the default.
    """
    program, starts = trace.program, trace.program.module.initials
    if not trace.initial or not (len(starts) > 1 or any(item.parameters for item in starts)):
        return ()
    every = nodes(tuple(item.body for item in starts), program.module)
    written = {node.variable for node in every if isinstance(node, ir.Assign)}
    found: list[tuple[str, str]] = []
    rows = zip(program.variables, trace.start, program.reference.defaults, strict=True)
    for name, value, default in rows:
        if name in written and isinstance(program.domains[name].type, types.MapOf):
            changed = _compare(name, program.domains[name], default, value)
            found.extend((change.where, compact(change.after)) for change in changed)
        elif name in written:
            found.append((name, compact(value)))
    return tuple(found)


def _parts(where: str, domain: types.Domain, value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(domain.type, types.MapOf):
        yield where, value
        return
    keys, items = domain.parts
    for key, item in zip(keys, value, strict=True):
        yield from _parts(f"{where}[{compact(key)}]", items, item)


def _compare(where: str, domain: types.Domain, old: Any, new: Any) -> Iterator[Change]:
    if old == new:
        return
    if isinstance(domain.type, types.MapOf):
        keys, items = domain.parts
        for key, before, after in zip(keys, old, new, strict=True):
            yield from _compare(f"{where}[{compact(key)}]", items, before, after)
    elif isinstance(domain.type, types.SetOf):
        rank = domain.parts[0].rank
        yield Change(where, old, new, tuple(sorted(new - old, key=rank)), tuple(sorted(old - new, key=rank)))
    else:
        yield Change(where, old, new)
