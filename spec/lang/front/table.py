"""Table of the functions that read the nodes of Python's syntax."""

from __future__ import annotations

import ast
from typing import Any

from antiphon.spec.lang import ir
from antiphon.spec.lang.front import calls, displays, expressions, operators, reading
from antiphon.spec.lang.front.body import Body, Value


def install() -> None:
    """Enter all readers and tests into `reading`."""
    readers: dict[type[ast.expr], Any] = {  # each takes its own kind of node
        ast.Constant: lambda body, node, wanted, _stored: expressions.literal(body, node, wanted),
        ast.Name: lambda body, node, _wanted, _stored: expressions.name(body, node),
        ast.Attribute: lambda body, node, _wanted, _stored: expressions.attribute(body, node),
        ast.Subscript: lambda body, node, _wanted, _stored: expressions.subscript(body, node),
        ast.Slice: _refuse_slice,
        ast.IfExp: expressions.choose,
        ast.BoolOp: _truth,
        ast.Compare: _truth,
        ast.UnaryOp: lambda body, node, _wanted, _stored: operators.unary(body, node),
        ast.BinOp: lambda body, node, wanted, stored: operators.binary(
            body, node, node.left, node.op, node.right, wanted, stored
        ),
        ast.Set: lambda body, node, wanted, stored: displays.set_display(
            body, node, node.elts, wanted, stored
        ),
        ast.Tuple: lambda body, node, wanted, stored: displays.sequence(
            body, node, node.elts, wanted, stored
        ),
        ast.SetComp: displays.comprehended,
        ast.DictComp: displays.comprehended,
        ast.Call: calls.read_call,
    }
    tests: dict[type[ast.expr], Any] = {
        ast.BoolOp: operators.either,
        ast.UnaryOp: operators.negation,
        ast.Compare: operators.chain,
        ast.Call: operators.test_of_call,
    }
    reading.READERS.update(readers)
    reading.TESTS.update(tests)


def _truth(body: Body, node: ast.expr, _wanted: object, _stored: bool) -> Value:
    return Value(reading.truth(body, node), ir.BOOL)


def _refuse_slice(body: Body, node: ast.expr, _wanted: object, _stored: bool) -> Value:
    raise body.error(node, "a slice stands alone", "sequence[1:]")
