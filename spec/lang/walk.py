"""Iteration over the nodes of the intermediate form, each after the parts it is made of.

This file knows nothing of what the nodes mean.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from antiphon.spec.lang import ir


def nodes(part: object, module: ir.Module | None = None) -> Iterator[ir.Node]:
    """Yield every node of a part of the form: a body, an expression, a definition, or a tuple of them.

    With `module` also those of the helpers that are called there, directly or through others, each helper
    once.
    """
    helpers = (
        {item.name: item for item in (*module.functions, *module.procedures)} if module is not None else {}
    )
    todo: list[Any] = [part]
    while todo:
        here = todo.pop()
        kind = type(here)
        if kind is tuple:
            todo += here[::-1]
            continue
        if isinstance(here, ir.Node):
            yield here
            todo += [getattr(here, name) for name in fields_with_nodes(kind)[::-1]]
            name = (
                here.function
                if isinstance(here, ir.Call)
                else here.procedure
                if isinstance(here, ir.Perform)
                else ""
            )
            if name in helpers:
                todo.append(helpers.pop(name))


def fields_with_nodes(kind: type[ir.Node]) -> tuple[str, ...]:
    """Return the fields of a class of nodes that may contain nodes."""
    if kind not in _fields:
        plain = ("at", "type", "doc")
        _fields[kind] = tuple(item.name for item in dataclasses.fields(kind) if item.name not in plain)
    return _fields[kind]


_fields: dict[type[ir.Node], tuple[str, ...]] = {}


def variables_read(part: object, module: ir.Module) -> tuple[str, ...]:
    """Return the variables that a part of the form reads, itself or through helpers, in order of
    declaration.
    """
    found = {node.variable for node in nodes(part, module) if isinstance(node, ir.Read)}
    return tuple(item.name for item in module.variables if item.name in found)
