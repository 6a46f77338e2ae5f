"""Statements: assignments, locals, branches, loops, `return`, and the order in which they may stand.

A local is bound once on each path; what a loop binds ends with the turn; a value helper or a predicate only
computes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.front import displays, effects, operators, order
from antiphon.spec.lang.front.body import Body, Fact, Facts, Local, Value, path_of, python_object
from antiphon.spec.lang.front.reading import condition, demand, integer, read, read_plain
from antiphon.spec.lang.front.sorts import fits, join, surface, words
from antiphon.spec.lang.hints import known_names

REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.While: ("`while` has no bound", "for ... in self.each(...), or an action for each round"),
    ast.Break: (
        "`break` is not in the language",
        "a value helper with `return`, or next((... for ... if ...), None)",
    ),
    ast.Continue: ("`continue` is not in the language", "if ...: around the rest"),
    ast.Assert: ("`assert` is not in the language", "require(...) for a guard, @invariant for a property"),
    ast.Try: ("there are no exceptions in a specification", "if ..., before"),
    ast.Raise: (
        "there are no exceptions in a specification",
        "require(...) for a guard, expect(...) for a property",
    ),
    ast.With: ("`with` is not in the language", "the statements themselves"),
    ast.Delete: ("`del` is not in the language", "self.variable = the value that means nothing"),
    ast.Global: ("`global` is not in the language", "a state variable"),
    ast.Nonlocal: ("`nonlocal` is not in the language", "a state variable"),
    ast.Import: ("an import stands at the top of the file", "import ... above the class"),
    ast.ImportFrom: ("an import stands at the top of the file", "from ... import ... above the class"),
    ast.FunctionDef: (
        "a function inside a method is not in the language",
        "a helper method of the specification",
    ),
    ast.ClassDef: ("a class inside a method is not in the language", "the class beside the specification"),
    ast.Match: (
        "`match` is not in the language",
        "if self.colour == Colour.RED: ... elif ..., of a union of records if isinstance(message, Ack): ...",
    ),
}

Statements = tuple[ir.Statement, ...]


def block(body: Body, nodes: Sequence[ast.stmt]) -> tuple[Statements, bool]:
    """Read statements, and return them and whether every path through them returns.

    Raises:
        SpecError: a statement is not in the language.
    """
    found: list[ir.Statement] = []
    for position, node in enumerate(nodes):
        made, ends = _statement(body, node)
        found.extend(made)
        if ends:
            if position + 1 < len(nodes):
                raise body.error(
                    nodes[position + 1], "nothing gets here: every path has returned", "leave it out"
                )
            return tuple(found), True
    return tuple(found), False


def _statement(body: Body, node: ast.stmt) -> tuple[list[ir.Statement], bool]:
    match node:
        case ast.Pass():
            return [], False
        case ast.Expr(value=ast.Constant(value=said)) if isinstance(said, str) or said is ...:
            return [], False
        case ast.Expr(value=ast.Call() as call):
            return [effects.effect(body, call)], False
        case ast.Expr():
            raise body.error(
                node,
                f"{ast.unparse(node)} has no effect",
                "require(...), emit(...), an assignment or a helper call",
            )
        case ast.Assign():
            return [_assign(body, node)], False
        case ast.AugAssign():
            return [_augment(body, node)], False
        case ast.AnnAssign():
            return [_annotated(body, node)], False
        case ast.If():
            return _branch(body, node)
        case ast.For():
            return [_loop(body, node)], False
        case ast.Return():
            return [_return(body, node)], True
    kind = ast.Try if type(node).__name__ == "TryStar" else type(node)
    if kind in REFUSED:
        raise body.error(node, *REFUSED[kind])
    raise body.error(
        node, f"{type(node).__name__} is not in the language", "the statements of docs/language.md"
    )


# Assignments -----------------------------------------------------------------------------------------


def _assign(body: Body, node: ast.Assign) -> ir.Statement:
    if len(node.targets) != 1:
        raise body.error(node, "one target at a time", "two assignments")
    target = node.targets[0]
    if isinstance(target, ast.Name):
        path = path_of(body, node.value)
        fact = body.facts.get(path[0]) if path is not None else None
        made = _let(body, node, target, read_plain(body, node.value))
        if fact is not None:
            body.learn({target.id: Fact(fact.type, frozenset(), frozenset({target.id}))})
        return made
    if isinstance(target, ast.Tuple | ast.List):
        raise body.error(
            target,
            "one target at a time",
            "an assignment for each name; all on the right see the old state only if bound before",
        )
    value = read(body, node.value, _target(body, target), stored=True)
    return _write(body, node, target, value)


def _target(body: Body, node: ast.expr) -> types.Type:
    """Return the declared type of the place that `node` names: a variable, or an entry of a map in it."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=variable) if (
            name == body.self_name and name not in body.locals
        ):
            if variable in body.world.variables:
                return body.world.variables[variable].type
            if variable in body.world.constants:
                raise body.error(node, f"self.{variable} is a constant", "a state variable")
            known = known_names(variable, body.world.variables)
            reason = f"{body.world.cls.__name__} has no state variable {variable!r}; {known}"
            raise body.error(node, reason, f"{variable}: Type = value in the class")
        case ast.Attribute():
            raise body.error(
                node, "a record is immutable", "a new record with all its fields, assigned to the variable"
            )
        case ast.Subscript(value=inner):
            if _root(inner) is None or _root(inner) != body.self_name:
                another = f"self.map[key] = value, or another map: {ast.unparse(inner)} | {{key: value}}"
                raise body.error(node, "only state changes", another)
            goal = _target(body, inner)
            if isinstance(goal, types.MapOf):
                return goal.value
            text = ast.unparse(inner)
            instead = (
                f"{text}[:i] + (item,) + {text}[i + 1:], assigned to the variable"
                if isinstance(goal, types.SequenceOf)
                else "a new value for the whole variable"
            )
            raise body.error(node, f"{text} is {words(goal)}, which is immutable", instead)
    raise body.error(
        node,
        f"{ast.unparse(node)} cannot be assigned",
        "self.variable = value, self.map[key] = value, name = value",
    )


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _keys(body: Body, node: ast.expr) -> tuple[str, tuple[ir.Expression, ...]]:
    if isinstance(node, ast.Subscript):
        variable, keys = _keys(body, node.value)
        goal = _target(body, node.value)
        assert isinstance(goal, types.MapOf)
        key = read(body, node.slice, goal.key, stored=True)
        return variable, (*keys, key.node)
    assert isinstance(node, ast.Attribute)
    return node.attr, ()


def _write(body: Body, node: ast.stmt, target: ast.expr, value: Value) -> ir.Statement:
    if body.role.pure:
        raise body.error(
            node,
            f"{body.role.value} only computes; it changes nothing",
            "a procedure (-> None), called on a line of its own",
        )
    variable, keys = _keys(body, target)
    body.written = True
    body.forget(variable)
    return ir.Assign(variable=variable, keys=keys, value=value.node, at=body.at(node))


def _augment(body: Body, node: ast.AugAssign) -> ir.Statement:
    target = node.target
    if isinstance(target, ast.Name):
        raise body.error(
            node,
            f"{target.id} is a local: its value is fixed when bound",
            "sum(...), max(...), a set comprehension, or a new name",
        )
    goal = _target(body, target)
    before = read(body, target)
    if (
        isinstance(node.op, ast.Add)
        and isinstance(before.type, types.SequenceOf)
        and isinstance(node.value, ast.Tuple)
    ):
        value = displays.append(body, node, before, node.value, stored=True)
    elif isinstance(node.op, ast.BitOr) and isinstance(node.value, ast.Dict):
        value = displays.update(body, node, before, node.value, target)
    else:
        context = before.type if displays.is_open(node.value) else None
        if isinstance(node.op, ast.Div):
            raise body.error(node, "/= gives a float", "//=")
        keep = isinstance(node.op, ast.BitOr)
        value = operators.combine(
            body,
            node,
            before,
            node.op,
            read(body, node.value, context, stored=keep),
            (target, node.value),
        )
    demand(body, node.value, value, goal)
    return _write(body, node, target, value)


def _let(body: Body, node: ast.stmt, target: ast.Name, value: Value) -> ir.Statement:
    name = target.id
    if name == body.self_name:
        raise body.error(node, f"{name} is the specification", "another name")
    if name in body.locals:
        raise body.error(
            node, f"{name} is already bound; a local keeps its value", f"another name, such as next_{name}"
        )
    if isinstance(value.type, ir.NoneType):
        raise body.error(node, f"{name} would always be None", "None itself, or x if ... else None")
    kind = value.type
    twin = body.reuse.get(name)
    chosen = twin.name if twin is not None and surface(twin.type) == surface(kind) else body.unique(name)
    body.bind(name, Local(chosen, kind, value.frozen, value.low))
    return ir.Let(name=chosen, type=surface(kind), value=value.node, at=body.at(node))


def _annotated(body: Body, node: ast.AnnAssign) -> ir.Statement:
    if not isinstance(node.target, ast.Name) or node.value is None:
        raise body.error(
            node,
            "a type is declared for a state variable in the class, for a local with its value",
            "name: Type = value",
        )
    if isinstance(node.annotation, ast.Name) and python_object(body, node.annotation) is int:
        return _let(body, node, node.target, integer(body, node.value))
    wanted = body.world.type_of(
        displays.type_object(body, node.annotation), body.at(node.annotation), node.target.id
    )
    value = read(body, node.value, wanted)
    if not fits(wanted, value.type):
        raise body.error(
            node.value,
            f"{ast.unparse(node.value)} may lie outside {words(wanted)}, and nothing checks it here",
            "leave the type out",
        )
    return _let(body, node, node.target, Value(value.node, wanted, value.frozen, value.low))


# Branches and loops ----------------------------------------------------------------------------------


def _branch(body: Body, node: ast.If) -> tuple[list[ir.Statement], bool]:
    test, yes, no = condition(body, node.test)
    before, facts, written, reuse = body.locals, body.facts, body.written, body.reuse
    body.locals, body.facts = dict(before), facts | yes
    then, then_ends = block(body, node.body)
    after_then = body.locals, body.facts, body.written
    bound = {name: item for name, item in body.locals.items() if before.get(name) is not item}
    body.locals, body.facts, body.written = dict(before), facts | no, written
    body.reuse = reuse if then_ends else reuse | bound
    otherwise, else_ends = block(body, node.orelse)
    body.reuse = reuse
    if else_ends and not then_ends:
        body.locals, body.facts, body.written = after_then
    elif not then_ends:
        _merge(body, node, after_then[0], after_then[1], before)
        body.written = body.written or after_then[2]
    when = ir.When(condition=test, then=then, otherwise=otherwise, at=body.at(node))
    return [when], then_ends and else_ends


def _merge(
    body: Body, node: ast.If, locals_then: dict[str, Local], facts_then: Facts, before: dict[str, Local]
) -> None:
    """Combine what is known after both branches of an `if`: names bound in both, and facts that hold in
    both.
    """
    merged = dict(before)
    for name, one in locals_then.items():
        other = body.locals.get(name)
        if name in before or other is None:
            continue
        exact = join(one.type, other.type)
        if exact is None or one.name != other.name:
            raise body.error(
                node,
                f"{name} is {words(one.type)} in one branch and {words(other.type)} in the other",
                "two names, or one type",
            )
        lows = [item for item in (one.low, other.low) if item is not None]
        merged[name] = Local(
            one.name, exact, one.frozen and other.frozen, min(lows) if len(lows) == 2 else None
        )
    body.locals = merged
    body.facts = {
        path: fact
        for path, fact in body.facts.items()
        if facts_then.get(path) == fact and fact.names <= set(merged)
    }


def _loop(body: Body, node: ast.For) -> ir.Statement:
    if node.orelse:
        raise body.error(
            node.orelse[0], "`for ... else` is not in the language", "the statements after the loop"
        )
    if isinstance(node.target, ast.Name) and node.target.id in body.locals:
        raise body.error(
            node.target, f"{node.target.id} is already bound; a local keeps its value", "another name"
        )
    written, first = body.written, body.first_require
    body.first_require = None
    with body.inner():
        name, of, source = displays.bind_target(body, node.target, node.iter)
        if _changes(node.body):
            body.forget()
        reuse, body.reuse = body.reuse, {}
        inside, _ = block(body, node.body)
        body.reuse = reuse
    if _changes(node.body):
        body.forget()
    if body.written and not written and body.first_require is not None:
        raise effects.late(body.first_require)
    body.first_require = first or body.first_require
    each = ir.Each(
        binder=ir.Binder(name=name, type=of, source=source, at=body.at(node.target)),
        body=inside,
        at=body.at(node),
    )
    order.check(each, body.world)
    return each


def _changes(nodes: Sequence[ast.stmt]) -> bool:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Assign | ast.AugAssign) or (
                isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)
            ):
                return True
    return False


def _return(body: Body, node: ast.Return) -> ir.Statement:
    at = body.at(node)
    if body.result is None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            raise body.error(
                node,
                f"{body.method.name} gives no value",
                f"def {body.method.name}(...) -> the type of the value",
            )
        return ir.Return(at=at)
    if node.value is None:
        raise body.error(node, f"{body.method.name} gives {words(body.result)}", "return value")
    value = read(body, node.value, body.result)
    if not fits(body.result, value.type):
        text = f"{ast.unparse(node.value)} may lie outside {words(body.result)}, and a result is not checked"
        instead = f"def {body.method.name}(...) -> int"
        if isinstance(body.result, types.MapOf):
            instead += ", for the value at one key"
        raise body.error(node.value, text, instead)
    return ir.Return(value=value.node, at=at)
