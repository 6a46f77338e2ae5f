"""Cache of steps that programs have in common: the result for an action and some arguments is found again
when another program has that action with the same text, the same texts below it, the same variables and the
same sizes.

Variants of a specification differ in a helper or two, so that most of their steps need not be grounded and
compiled again. A difference in active readings shows in the texts: bodies read no other constants.

This file knows nothing of the cached results.
"""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

from antiphon.spec.lang import Program, ir, types
from antiphon.spec.lang.walk import nodes

MOST_ACTIONS = 1024
"""Number of actions whose steps are cached: those that were asked for last."""
MOST_TEXTS = 8192
MOST_FORMS = 64
HANDLERS = ""
"""Name that stands for the handlers of all events together."""

_numbers = itertools.count()


def made_of(program: Program) -> dict[str, dict[tuple[Any, ...], Any]]:
    """Return for each action the cached results by arguments; entries that the caller adds are found by the
    next program.
    """
    read = _read(program.module)
    chosen = {item.name for item in program.declaration.constants if item.variant is None}
    sizes = tuple(
        (name, type(value), value) for name, value in program.constants.items() if name in chosen
    )
    return {name: _made(place, *texts, sizes) for place, (name, texts) in enumerate(read.items())}


def _read(module: ir.Module) -> dict[str, tuple[object, ...]]:
    """Return for each action everything on which its steps depend except the sizes: a part of the key under
    which they are cached. Computed once for a module, since comparing modules takes long.
    """
    known = _forms.get(id(module))
    if known is None:
        variables = _same(tuple((item.name, item.type) for item in module.variables))
        texts = _texts(module)
        after = tuple((_number(item), texts[item.name]) for item in module.step_invariants)
        read: dict[str, tuple[object, ...]] = {
            item.name: (_number(item), texts[item.name], after, variables) for item in module.actions
        }
        if len(_forms) == MOST_FORMS:
            _forms.clear()
        known = _forms[id(module)] = module, read
    return known[1]


_forms: dict[int, tuple[ir.Module, dict[str, tuple[object, ...]]]] = {}
"""Results of `_read` for recent modules, by the identity (`id`) of the module."""


@lru_cache(maxsize=MOST_ACTIONS)
def _made(*_key: object) -> dict[tuple[Any, ...], Any]:
    return {}


@lru_cache(maxsize=MOST_TEXTS)
def _number(_definition: ir.Definition) -> int:
    """Return a number for a definition; equal definitions have one number, as long as they are cached."""
    return next(_numbers)


@lru_cache(maxsize=MOST_ACTIONS)
def _same(_variables: tuple[tuple[str, types.Type], ...]) -> int:
    """Return a number for these variables; equal variables have one number, as long as they are cached."""
    return next(_numbers)


def _texts(module: ir.Module) -> dict[str, frozenset[object]]:
    """Return for each action and step invariant the numbers of the helpers that its execution runs; if it
    emits events, also those of all handlers, in order.
    """
    helpers = {item.name: item for item in (*module.functions, *module.procedures)}
    handlers = tuple(map(_number, module.handlers))
    calls = {name: _called(item) for name, item in helpers.items()}
    calls[HANDLERS] = frozenset[str]().union(*map(_called, module.handlers))
    found: dict[str, frozenset[object]] = {}
    for root in (*module.actions, *module.step_invariants):
        todo, seen = set(_called(root)), set[str]()
        while todo:
            name = todo.pop()
            seen.add(name)
            todo |= calls.get(name, frozenset()) - seen
        found[root.name] = frozenset(
            handlers if name == HANDLERS else _number(helpers[name])
            for name in seen
            if name == HANDLERS or name in helpers
        )
    return found


def _called(definition: ir.Definition) -> frozenset[str]:
    """Return the names of the helpers that a body calls directly, and `HANDLERS` if it emits an event."""
    names = set()
    for node in nodes(definition.body):
        match node:
            case ir.Call(function=name) | ir.Perform(procedure=name):
                names.add(name)
            case ir.Emit():
                names.add(HANDLERS)
    return frozenset(names)
