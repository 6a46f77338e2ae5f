"""Calls that stand on a line of their own: `require`, `emit`, `expect`, and procedures. Every `require` comes
before the first assignment, `emit` or `expect`.

A value helper or a predicate has no such call. A handler has no `require`: the step that emitted its event
has happened.
"""

from __future__ import annotations

import ast

from antiphon.spec.lang import ir, values
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front import calls
from antiphon.spec.lang.front.body import Body, Role, python_object
from antiphon.spec.lang.front.reading import condition, read, truth
from antiphon.spec.lang.front.sorts import records_of, words


def effect(body: Body, node: ast.Call) -> ir.Statement:
    """Return the statement that is meant by a call which stands as a line of its own.

    Raises:
        SpecError: the call is no statement, or may not stand here.
    """
    if (
        isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == body.self_name
    ):
        method = body.world.methods.get(node.func.attr)
        if method is not None and node.func.value.id not in body.locals:
            return _perform(body, node, method)
    replaced = calls.replaced(body, node)
    if replaced is not None:
        return _perform(body, node, replaced)
    python = python_object(body, node.func)
    if python is values.require:
        return _require(body, node)
    if python is values.emit:
        return _emit(body, node)
    if python is values.expect:
        return _expect(body, node)
    calls.read_call(body, node, None, stored=False)
    raise body.error(
        node, f"{ast.unparse(node)} is computed and thrown away", "leave it out, or use the value"
    )


def _only(body: Body, node: ast.AST, what: str) -> None:
    if body.role.pure:
        raise body.error(
            node, f"{what} in {body.role.value}, which only computes", "an action or a procedure"
        )


def late(at: Location) -> SpecError:
    """Return the error for a guard that stands after an update, an event or an expectation."""
    return SpecError(
        "a guard after an update: the step would be undone",
        at,
        "every require before the first assignment, emit or expect",
    )


def _require(body: Body, node: ast.Call) -> ir.Statement:
    _only(body, node, "require")
    if body.role is Role.HANDLER:
        raise body.error(
            node,
            "a handler cannot stop the step that emitted the event",
            'expect(condition, "Property"), or if ...:',
        )
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, "require takes one condition", "require(a and b)")
    if body.written:
        raise late(body.at(node))
    test, yes, _ = condition(body, node.args[0])
    body.learn(yes)
    body.requires = True
    body.first_require = body.first_require or body.at(node)
    return ir.Require(condition=test, text=ast.unparse(node.args[0]), at=body.at(node))


def _emit(body: Body, node: ast.Call) -> ir.Statement:
    _only(body, node, "emit")
    if len(node.args) != 1 or node.keywords:
        raise body.error(node, "emit takes one event", "emit(Deliver(p, m))")
    event = read(body, node.args[0], stored=True)
    if not records_of(event.type):
        raise body.error(
            node.args[0], f"an event is a record, not {words(event.type)}", "emit(Deliver(p, m))"
        )
    body.written = True
    body.forget()
    return ir.Emit(event=event.node, at=body.at(node))


def _expect(body: Body, node: ast.Call) -> ir.Statement:
    _only(body, node, "expect")
    texts = dict(zip(("condition", "property", "clash"), node.args, strict=False)) | {
        keyword.arg or "**": keyword.value for keyword in node.keywords
    }
    if (
        not {"condition", "property"} <= set(texts) <= {"condition", "property", "clash"}
        or len(node.args) > 3
    ):
        raise body.error(
            node,
            "expect takes a condition, the name of a property, and the event it clashes with",
            'expect(condition, "Agreement")',
        )
    test = truth(body, texts["condition"])
    name = texts["property"]
    said = name.value if isinstance(name, ast.Constant) else python_object(body, name)
    if not isinstance(said, str) or not said:
        raise body.error(name, "the name of the property is a string", 'expect(condition, "Agreement")')
    clash = None
    if "clash" in texts and not (isinstance(texts["clash"], ast.Constant) and texts["clash"].value is None):
        event = read(body, texts["clash"], stored=True)
        if not records_of(event.type):
            raise body.error(
                texts["clash"],
                f"the clashing event is a record, not {words(event.type)}",
                "Deliver(q, other)",
            )
        clash = event.node
    body.written = True
    body.world.properties.setdefault(said)
    return ir.Expect(
        condition=test, property=said, clash=clash, text=ast.unparse(texts["condition"]), at=body.at(node)
    )


def _perform(body: Body, node: ast.Call, method: MethodDeclaration) -> ir.Statement:
    name = method.name
    if body.world.is_function(method):
        raise body.error(
            node,
            f"self.{name} gives a value, which is thrown away",
            f"use it: if self.{name}(...), x = self.{name}(...)",
        )
    if method.mark is not None:
        raise body.error(node, f"{name} is marked, and not called", "a helper that both call")
    _only(body, node, f"self.{name}, a procedure,")
    given = calls.arguments(body, node, method)
    body.world.read_procedure(name, body.at(node))
    if name in body.world.guarded:
        if body.role is Role.HANDLER:
            raise body.error(
                node,
                f"a handler cannot stop the step that emitted the event, and {name} requires something",
                "expect(...)",
            )
        if body.written:
            raise late(body.at(node))
        body.requires = True
        body.first_require = body.first_require or body.at(node)
    if name in body.world.effects:
        body.written = True
    body.forget()
    return ir.Perform(procedure=name, arguments=given, at=body.at(node))
