"""Check that no action requires the opposite of a guard on its actor, since it could never be taken.

A guard `is_up` with `return not self.down[p]` applies to the first parameter of every action, even if that is
the process that has crashed. The check compares texts: the guard's one result, with the actor in place of its
parameter, and the requirements at the beginning of the action. It does not find a requirement that is written
in other words or through a helper.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.source import function_of


def refuse_contradiction(method: MethodDeclaration, guard: MethodDeclaration, actor: str) -> None:
    """Refuse an action that requires the opposite of a guard on its actor.

    Raises:
        SpecError: the action can never be taken.
    """
    asked = _result(guard, actor)
    if asked is None:
        return
    denied = _opposite(asked)
    for required in _required(method):
        if ast.dump(required) == ast.dump(denied):
            raise SpecError(
                f"{method.name} can never be taken: it requires {ast.unparse(required)}, and the guard "
                f"{guard.name} asks {ast.unparse(asked)} of its first parameter, who acts",
                method.at,
                "another first parameter: who acts; or @environment, which no guard is asked of",
            )


def _result(guard: MethodDeclaration, actor: str) -> ast.expr | None:
    """Return the condition of a guard on the actor, if it is one expression."""
    body = [item for item in function_of(guard.function)[1].body if not _is_text(item)]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    who = ast.parse(actor, mode="eval").body
    asked: ast.expr = _Said(guard.parameters[0].name, who).visit(copy.deepcopy(body[0].value))
    return asked


def _required(method: MethodDeclaration) -> Iterator[ast.expr]:
    """Yield the conditions that an action requires at its beginning."""
    for item in function_of(method.function)[1].body:
        if _is_text(item):
            continue
        call = item.value if isinstance(item, ast.Expr) else None
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "require"):
            return
        for argument in call.args:
            yield from _conjuncts(argument)


def _conjuncts(condition: ast.expr) -> Iterator[ast.expr]:
    if isinstance(condition, ast.BoolOp) and isinstance(condition.op, ast.And):
        for part in condition.values:
            yield from _conjuncts(part)
    else:
        yield condition


def _opposite(condition: ast.expr) -> ast.expr:
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return condition.operand
    return ast.UnaryOp(ast.Not(), condition)


def _is_text(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


class _Said(ast.NodeTransformer):
    """Transformer that puts another name in the place of the guard's parameter."""

    def __init__(self, parameter: str, who: ast.expr) -> None:
        self.parameter, self.who = parameter, who

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace the guard's parameter by the name of the actor."""
        return copy.deepcopy(self.who) if node.id == self.parameter else node
