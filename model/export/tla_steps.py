"""Bodies as formulas of TLA+: a body is run once on texts.

The value of each variable at a point is an expression, which is named when it changes.

An assignment gives the variable a new name in a `LET` (`count_1 == count + 1`), a branch gives it `IF .. THEN
.. ELSE ..`, a loop over a domain is unrolled, procedures and the handlers of events are written in place. A
guard is a conjunct of its own, below its path, and one Boolean value to TLC. A definition is evaluated only
where it is used, so that a branch not taken is never computed.

This file knows nothing of expressions but their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from antiphon.model.export.tla_formula import Line
from antiphon.model.export.tla_text import Scope, Texts
from antiphon.spec.lang import SpecError, ir, types

MOST_UNROLLED = 64
"""Largest number of elements of a loop that is unrolled."""

Body = tuple[ir.Statement, ...]


@dataclass
class Run:
    """Symbolic run of one body, whose values are texts.

    `lines` are its definitions and guards in order, `scope` the meaning of names and variables at its end.
    """

    texts: Texts
    scope: Scope
    wanted: frozenset[str]
    lines: list[Line] = field(default_factory=list)
    path: list[str] = field(default_factory=list)
    asserted: list[str] = field(default_factory=list)
    changed: dict[str, None] = field(default_factory=dict)

    def define(self, wanted: str, text: str) -> str:
        """Define a new name for the value of a text, and return the name."""
        name = self.texts.names.fresh(wanted)
        self.lines.append(Line(text, name))
        return name

    def execute(self, body: Body) -> None:
        """Translate statements in order; only the last may return."""
        for statement in body:
            self.statement(statement)

    def statement(self, statement: ir.Statement) -> None:
        """Translate one statement."""
        match statement:
            case ir.Require(condition=condition):
                text = self.under_path(self.text(condition))
                whole = not self.path and is_evaluated_whole(condition)
                self.lines.append(Line(text if whole else f"{text} = TRUE"))
            case ir.Expect(condition=condition, property=name):
                if name in self.wanted:
                    self.asserted.append(f'Assert({self.under_path(self.text(condition))}, "{name}")')
            case ir.Let(name=name, value=value):
                self.scope.locals[name] = self.define(name, self.text(value))
            case ir.Assign(variable=variable, keys=keys, value=value):
                self.assign(variable, keys, value)
            case ir.When(condition=condition, then=then, otherwise=otherwise):
                self.branch(self.text(condition), then, otherwise)
            case ir.Each(binder=binder, body=body):
                for test, turned in self.turns(binder):
                    self.turn(binder.name, turned, test, body)
            case ir.Emit(event=event):
                self.emit(event)
            case ir.Perform(procedure=name, arguments=arguments):
                procedure = next(item for item in self.texts.module.procedures if item.name == name)
                self.inline(procedure, [self.text(argument) for argument in arguments])
            case ir.Return():
                pass
            case _:
                raise SpecError(f"{type(statement).__name__} is not exported to TLA+", statement.at)

    def text(self, node: ir.Expression) -> str:
        """Return the TLA+ text of an expression at this point of the body."""
        return self.texts.text(node, self.scope)

    def under_path(self, condition: str) -> str:
        """Return the condition that `condition` is true, or that the present path of branches is not
        taken.
        """
        path = " /\\ ".join(self.path)
        return f"(({path}) => {condition})" if path else condition

    def assign(self, variable: str, keys: Sequence[ir.Expression], value: ir.Expression) -> None:
        """Translate an assignment: define a new name for the variable's new value."""
        text = self.text(value)
        if keys:
            path = "".join(f"[{self.text(key)}]" for key in keys)
            text = f"[{self.scope.variables[variable]} EXCEPT !{path} = {text}]"
        self.set(variable, text)

    def set(self, variable: str, text: str) -> None:
        """Define a new name for the new value of a variable."""
        self.changed[variable] = None
        self.scope.variables[variable] = self.define(self.texts.name("variable", variable), text)

    def branch(self, condition: str, then: Body, otherwise: Body) -> None:
        """Translate both branches of a condition, and define for each variable the value that it has after
        them.
        """
        test = condition if len(condition) < 40 else self.define("c", condition)
        before = self.scope
        self.scope = Scope(before.variables, before.locals)
        self.inside(test, then)
        first, self.scope = self.scope, Scope(before.variables, before.locals)
        if otherwise:
            self.inside(
                f"~{test}" if test.startswith("(") or test.isidentifier() else f"~({test})", otherwise
            )
        second, self.scope = self.scope, Scope(before.variables, before.locals)
        for variable, text in before.variables.items():
            one, other = first.variables[variable], second.variables[variable]
            if one != text or other != text:
                self.set(variable, f"IF {test} THEN {one} ELSE {other}")
        for name, one in first.locals.items():
            other_local = second.locals.get(name)
            if name not in before.locals and other_local is not None:
                self.scope.locals[name] = self.define(name, f"IF {test} THEN {one} ELSE {other_local}")

    def inside(self, condition: str, body: Body) -> None:
        """Translate a body that is executed only where the condition is true."""
        self.path.append(condition)
        self.execute(body)
        self.path.pop()

    def turns(self, binder: ir.Binder) -> Iterator[tuple[str, str]]:
        """Yield for each turn of a loop the condition under which the turn happens (empty: always), and the
        value of the loop's name.
        """
        if isinstance(binder.source, types.Type):
            for value in self.values(binder.source, binder):
                yield "", value
        elif isinstance(binder.source.type, types.SequenceOf):
            sequence = self.define("items", self.text(binder.source))
            for position in range(1, types.bind(binder.source.type, self.texts.constants).most + 1):
                yield f"({position} <= Len({sequence}))", f"{sequence}[{position}]"
        elif isinstance(binder.source.type, types.SetOf):
            elements = self.define("elements", self.text(binder.source))
            for value in self.values(binder.source.type.of, binder):
                yield f"({value} \\in {elements})", value

    def values(self, type: types.Type, binder: ir.Binder) -> Iterable[str]:
        """Return all values of a type, as texts."""
        domain = types.bind(type, self.texts.constants)
        if domain.cardinality > MOST_UNROLLED:
            raise SpecError(
                f"a loop over {domain.cardinality} values is not exported to TLA+; at most {MOST_UNROLLED}",
                binder.at,
            )
        return [self.texts.value(value, type) for value in domain]

    def turn(self, name: str, value: str, condition: str, body: Body) -> None:
        """Translate one turn of a loop; names bound in the body are forgotten after it."""
        outer = dict(self.scope.locals)
        self.scope.locals[name] = value
        if condition:
            self.branch(condition, body, ())
        else:
            self.execute(body)
        self.scope.locals = outer

    def emit(self, event: ir.Expression) -> None:
        """Translate an event: translate the body of each of its handlers."""
        assert isinstance(event.type, types.Record)
        handlers = [handler for handler in self.texts.module.handlers if handler.event == event.type.name]
        if handlers:
            name = self.define("event", self.text(event))
            for handler in handlers:
                self.inline(handler, [name])

    def inline(self, definition: ir.Definition, arguments: Sequence[str]) -> None:
        """Translate the body of a definition in place of its call, with locals of its own."""
        outer = self.scope.locals
        given = {}
        for parameter, text in zip(definition.parameters, arguments, strict=True):
            given[parameter.name] = text if len(text) < 40 else self.define(parameter.name, text)
        self.scope.locals = given
        self.execute(straight(self.texts, definition.body))
        self.scope.locals = outer


def is_evaluated_whole(condition: ir.Expression) -> bool:
    """Return True if TLC evaluates the condition, as a conjunct of an action, as one Boolean value.

    TLC splits a disjunction, a quantifier, a conditional and a named operator, and takes each part as a way
    of its own to a next state; a guard of one part then does not protect another from an error. An equation
    is evaluated as a whole.
    """
    match condition:
        case ir.And(operands=operands):
            return all(map(is_evaluated_whole, operands))
        case ir.Budget(condition=inner):
            return is_evaluated_whole(inner)
        case ir.Member(collection=collection):
            return isinstance(collection.type, types.SetOf)
    return isinstance(condition, ir.Compare | ir.Not | ir.Read | ir.Lookup | ir.Literal)


def straight(texts: Texts, body: Body) -> Body:
    """Return a body that does the same and returns only at its end.

    The statements after a branch that may return move into the branches that do not.
    """
    made: list[ir.Statement] = []
    for position, statement in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(statement, ir.Return):
            return (*made, statement)
        if isinstance(statement, ir.When) and (_returns(statement.then) or _returns(statement.otherwise)):
            then, otherwise = (
                straight(texts, (*statement.then, *rest)),
                straight(texts, (*statement.otherwise, *rest)),
            )
            return (
                *made,
                ir.When(condition=statement.condition, then=then, otherwise=otherwise, at=statement.at),
            )
        if isinstance(statement, ir.Each) and _returns(statement.body):
            raise SpecError(
                "a return inside a loop is not exported to TLA+",
                statement.at,
                "next, any or all over the same domain",
            )
        if isinstance(statement, ir.When):
            then, otherwise = straight(texts, statement.then), straight(texts, statement.otherwise)
            statement = ir.When(
                condition=statement.condition, then=then, otherwise=otherwise, at=statement.at
            )
        made.append(statement)
    return tuple(made)


def _returns(body: Body) -> bool:
    """Return True if a return stands somewhere in a body."""
    for statement in body:
        if isinstance(statement, ir.Return):
            return True
        if isinstance(statement, ir.When) and (_returns(statement.then) or _returns(statement.otherwise)):
            return True
        if isinstance(statement, ir.Each) and _returns(statement.body):
            return True
    return False


def value_of(texts: Texts, body: Body, scope: Scope) -> str:
    """Return the value that a helper or predicate returns, as one TLA+ expression."""
    for position, statement in enumerate(body):
        match statement:
            case ir.Return(value=value) if value is not None:
                return texts.text(value, scope)
            case ir.Let(name=name, value=value):
                given = texts.names.fresh(name)
                text = texts.text(value, scope)
                return (
                    f"(LET {given} == {text} IN "
                    f"{value_of(texts, body[position + 1 :], scope.bound(name, given))})"
                )
            case ir.When(condition=condition, then=then, otherwise=otherwise):
                rest = body[position + 1 :]
                one, other = (
                    value_of(texts, (*then, *rest), scope),
                    value_of(texts, (*otherwise, *rest), scope),
                )
                return f"(IF {texts.text(condition, scope)} THEN {one} ELSE {other})"
            case ir.Each(binder=binder, body=inner) if isinstance(binder.source, types.Type):
                unrolled: list[ir.Statement] = []
                for value in types.bind(binder.source, texts.constants):
                    unrolled += _with_value(binder, value, inner)
                return value_of(texts, (*unrolled, *body[position + 1 :]), scope)
        raise SpecError(f"{type(statement).__name__} in a helper is not exported to TLA+", statement.at)
    raise SpecError("a helper that ends without a value is not exported to TLA+")


def _with_value(binder: ir.Binder, value: object, body: Body) -> list[ir.Statement]:
    """Return one turn of a loop in a helper: the name is bound to the value, and then the body follows."""
    literal = ir.Literal(type=binder.type, value=value)
    return [ir.Let(name=binder.name, type=binder.type, value=literal), *body]
