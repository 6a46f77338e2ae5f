"""Constants, names, attributes, subscripts and choices become nodes of the intermediate form."""

from __future__ import annotations

import ast
from enum import EnumType
from types import ModuleType
from typing import Any

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.front import displays, world
from antiphon.spec.lang.front.body import Body, Value, python_object
from antiphon.spec.lang.front.reading import condition, demand, integer, meant, read, was
from antiphon.spec.lang.front.sorts import join, records_of, surface, words
from antiphon.spec.lang.hints import did_you_mean


def literal(body: Body, node: ast.Constant, wanted: types.Type | None) -> Value:
    """Return the value of a literal: a number, a truth value or None. A string is refused, with a hint at the
    Enum member that it names.
    """
    if isinstance(node.value, str):
        members = list(wanted.python) if isinstance(wanted, types.Enumeration) and wanted.python else []
        meant = [str(member) for member in members if node.value in (member.name, member.value)]
        raise body.error(node, "a string is no value of the language", (meant or ["an Enum"])[0])
    found = world.constant(body.world, node.value, body.at(node))
    if found is None:
        raise body.error(
            node,
            f"{ast.unparse(node)} is no value of the language",
            "integers, True, False, None, members of an Enum",
        )
    return Value(*found)


def name(body: Body, node: ast.Name) -> Value:
    """Return the value of a name: a local, or a name of the module or class."""
    local = body.locals.get(node.id)
    if local is not None:
        return Value(
            ir.Name(type=surface(local.type), name=local.name, at=body.at(node)),
            local.type,
            local.frozen,
            local.low,
        )
    if body.specification(node):
        raise body.error(node, f"{node.id} is the specification, not a value", f"{node.id}.variable")
    if node.id in body.assigned:
        raise body.error(
            node,
            f"{node.id} is not bound on every way to here",
            "bind it on every branch before; a name bound in a loop ends with the turn",
        )
    return python_value(body, node, python_object(body, node))


def python_value(body: Body, node: ast.expr, python: Any) -> Value:
    """Return a Python object that the text names as a value."""
    text = ast.unparse(node)
    if python is world.MISSING:
        said = f"{text} means nothing here{meant(text)}"
        raise body.error(node, said, f"self.{text}, or a name of the module")
    at = body.at(node)
    found = world.constant(body.world, python, at)
    if found is not None:
        return Value(*found)
    if isinstance(python, frozenset | tuple):
        kind = ast.Set if isinstance(python, frozenset) else ast.Tuple
        return displays.constant_collection(body, node, python, is_set=kind is ast.Set)
    if isinstance(python, type):
        raise body.error(node, f"{text} is a class, not a value", f"self.each({text}) for its values")
    if isinstance(python, set | list | dict):
        raise body.error(node, f"{text} is mutable", "a frozenset, or a state variable")
    raise body.error(
        node,
        f"{text} is no value of the language",
        "an int, a bool or an Enum member as constant; a method of the specification",
    )


def attribute(body: Body, node: ast.Attribute) -> Value:
    """Return the value of an attribute: a variable, a constant or a value of the class; a field of a
    record.
    """
    at, here = body.at(node), body.world
    owner_name = body.specification(node.value)
    if owner_name:
        name = node.attr
        if name in here.variables:
            exact = here.variables[name].type
            made = ir.Read(type=surface(exact), variable=name, at=at)
            return Value(made if owner_name == body.self_name else was(made), exact)
        if name in here.constants:
            kind = here.constant_type(here.constants[name])
            return Value(ir.Constant(type=kind, name=name, at=at), kind)
        if name in here.methods:
            raise body.error(node, f"{owner_name}.{name} is a method", f"{owner_name}.{name}(...)")
        python = here.attribute(name)
        if python is world.MISSING:
            raise body.error(
                node,
                f"{here.cls.__name__} has no {name!r}{here.suggest(name)}",
                f"{name}: Type = value in the class",
            )
        return python_value(body, node, python)
    python = python_object(body, node)
    if python is not world.MISSING:
        return python_value(body, node, python)
    owner = python_object(body, node.value)
    if isinstance(owner, type | ModuleType):
        known = (
            f"one of {', '.join(owner.__members__)}" if isinstance(owner, EnumType) else "a name that it has"
        )
        near = did_you_mean(node.attr, [name for name in dir(owner) if not name.startswith("_")])
        raise body.error(node, f"{ast.unparse(node.value)} has no {node.attr!r}{near}", known)
    return field(body, node, read(body, node.value))


def field(body: Body, node: ast.Attribute, owner: Value) -> Value:
    """Return the value of `record.name` or `index.index`."""
    at = body.at(node)
    if isinstance(owner.type, types.IndexType):
        if node.attr != "index":
            raise body.error(
                node, f"a {owner.type.name} has only its number", f"{ast.unparse(node.value)}.index"
            )
        if owner.type.symmetric:
            name = owner.type.name
            raise body.error(
                node,
                f"{name} is symmetric: its members have no numbers that count",
                "== between members, or no symmetric=True",
            )
        return Value(ir.IndexNumber(type=ir.INTEGER, index=owner.node, at=at), ir.INTEGER, low=0)
    if isinstance(owner.type, types.Optional):
        raise body.error(
            node,
            f"{ast.unparse(node.value)} may be None",
            "test `is not None` first, or bind `x = present(...)` where it cannot be None",
        )
    records = records_of(owner.type)
    if not records:
        raise body.error(
            node,
            f"{ast.unparse(node.value)} is {words(owner.type)}; only records have fields",
            "a variable of a record type",
        )
    without = [item.name for item in records if node.attr not in dict(item.fields)]
    if without:
        known = ", ".join(dict(records[0].fields)) or "none"
        hint = (
            f"if isinstance({ast.unparse(node.value)}, ...):"
            if len(records) > 1
            else f"one of its fields: {known}"
        )
        raise body.error(node, f"{', '.join(without)} has no field {node.attr!r}", hint)
    exact: types.Type | None = dict(records[0].fields)[node.attr]
    for item in records[1:]:
        if dict(item.fields)[node.attr] != exact:
            raise body.error(
                node,
                f"the field {node.attr!r} has different types in {words(owner.type)}",
                "if isinstance(..., Record): first",
            )
    assert exact is not None
    return Value(ir.Field(type=surface(exact), record=owner.node, name=node.attr, at=at), exact)


def subscript(body: Body, node: ast.Subscript) -> Value:
    """Return the value of a subscript: an item of a map or of a sequence, or a slice of a sequence."""
    owner = read(body, node.value)
    at, text = body.at(node), ast.unparse(node.value)
    if isinstance(owner.type, types.MapOf):
        if isinstance(node.slice, ast.Slice | ast.Tuple) and not isinstance(owner.type.key, types.SequenceOf):
            raise body.error(
                node,
                f"{text} is a map with keys {words(owner.type.key)}",
                f"{text}[key], and {text}[key][key] for a map of maps",
            )
        key = read(body, node.slice, owner.type.key, stored=True)
        exact = owner.type.value
        return Value(ir.Lookup(type=surface(exact), map=owner.node, key=key.node, at=at), exact)
    if isinstance(owner.type, types.SequenceOf):
        return _item(body, node, owner, owner.type)
    if isinstance(owner.type, types.Optional):
        raise body.error(node, f"{text} may be None", "test `is not None` first")
    raise body.error(
        node, f"{text} is {words(owner.type)}; only maps and sequences are indexed", "self.map[key]"
    )


def _item(body: Body, node: ast.Subscript, owner: Value, kind: types.SequenceOf) -> Value:
    at = body.at(node)
    if isinstance(node.slice, ast.Slice):
        return _slice(body, node, owner, kind, node.slice)
    position = _position(body, node, owner, node.slice)
    return Value(
        ir.Item(type=surface(kind.of), sequence=owner.node, position=position, at=at), kind.of, owner.frozen
    )


def _slice(body: Body, node: ast.Subscript, owner: Value, kind: types.SequenceOf, part: ast.Slice) -> Value:
    text = ast.unparse(node.value)
    if part.step is not None:
        raise body.error(node, "a slice has no step", f"tuple(reversed({text})), or {text}[i:j]")
    lower = _position(body, node, owner, part.lower) if part.lower is not None else None
    upper = _position(body, node, owner, part.upper) if part.upper is not None else None
    match upper:
        case ir.Literal(value=int(most)) if isinstance(kind.most, int):
            kind = types.SequenceOf(kind.of, min(kind.most, most))
    made = ir.Slice(type=kind, sequence=owner.node, lower=lower, upper=upper, at=body.at(node))
    return Value(made, kind, owner.frozen)


def _position(body: Body, node: ast.Subscript, owner: Value, part: ast.expr) -> ir.Expression:
    """Return the expression of a position in a sequence, from 0; `-k` counts from the end, as in Python.

    A position that is negative by accident would count from the end as well. So it must be known not to be
    negative; only `len(q) - 1` is excepted, which means the last item either way.
    """
    text, at = ast.unparse(node.value), body.at(part)
    match part:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(back))) if type(back) is int and back:
            size = ir.Size(type=ir.INTEGER, collection=owner.node, at=at)
            number = ir.Literal(type=ir.INTEGER, value=back, at=at)
            minus = ir.Operation.SUBTRACT
            return ir.Arithmetic(type=ir.INTEGER, operator=minus, left=size, right=number, at=at)
    position = integer(body, part)
    is_last = ast.unparse(part) == f"len({text}) - 1"
    if (position.least is None or position.least < 0) and not is_last:
        said = ast.unparse(part)
        raise body.error(
            node,
            f"the position {said} may be negative, and Python would count from the end",
            f"a test before, such as {said} >= 0; max(0, {said}); or {text}[-1] for the last item",
        )
    return position.node


def choose(body: Body, node: ast.IfExp, wanted: types.Type | None, stored: bool) -> Value:
    """Return the value of `a if test else b`."""
    test, yes, no = condition(body, node.test)
    first_open = displays.is_open(node.body) and wanted is None
    with body.inner(no if first_open else yes):
        one = read(body, node.orelse if first_open else node.body, wanted, stored=stored)
    context = wanted
    if context is None and displays.is_open(node.body if first_open else node.orelse):
        context = one.type if not isinstance(one.type, ir.NoneType) else None
    with body.inner(yes if first_open else no):
        other_node = node.body if first_open else node.orelse
        other = read(
            body, other_node, None if isinstance(other_node, ast.Constant) else context, stored=stored
        )
        if wanted is not None:
            demand(body, other_node, other, wanted)
    then, otherwise = (other, one) if first_open else (one, other)
    exact = join(then.type, otherwise.type)
    if exact is None:
        said = f"the branches are {words(then.type)} and {words(otherwise.type)}"
        raise body.error(
            node, f"{said}; both need one type", "two branches of one type, or of a type and None"
        )
    lows = (then.least, otherwise.least)
    low = min(item for item in lows if item is not None) if None not in lows else None
    chosen = ir.Choose(
        type=surface(exact), condition=test, then=then.node, otherwise=otherwise.node, at=body.at(node)
    )
    return Value(chosen, exact, then.frozen and otherwise.frozen, low)
