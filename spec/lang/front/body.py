"""Facts about a point of a method: its locals, the tests on the way there, and the writes.

A *fact* narrows a path (`own`, `self.pending[p]`, `packet.identifier`) to a type, or bounds an integer from
below (`len(self.queue)`, `i - j`), from a test that every way to this point has passed. A write to the state
ends the facts about it. Locals are bound once on each path; names are made unique within the method.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.world import World
from antiphon.spec.lang.source import Source


@dataclass(frozen=True)
class Value:
    """Expression with its exact type. `frozen`: the Python value is hashable (a set display is not); `low`: a
    known lower bound.
    """

    node: ir.Expression
    type: types.Type
    frozen: bool = True
    low: int | None = None

    @property
    def least(self) -> int | None:
        """Return a lower bound of an integer value, or None if none is known."""
        declared = self.type.low if isinstance(self.type, types.Int) else None
        if not isinstance(declared, int):
            return self.low
        return declared if self.low is None else max(declared, self.low)


@dataclass(frozen=True)
class Local:
    """Local, parameter or bound variable: its unique name, its exact type, and the other attributes of
    `Value`.
    """

    name: str
    type: types.Type
    frozen: bool = True
    low: int | None = None


@dataclass(frozen=True)
class Fact:
    """Fact about a path: it has the narrower type `type`, and, if `low` is given, is an integer of at least
    `low`. The fact ends when one of `variables` is written; `names` are the locals in the path.
    """

    type: types.Type
    variables: frozenset[str]
    names: frozenset[str]
    low: int | None = None


Facts = dict[str, Fact]
"""Facts that tests have shown, by a key: the text of the path for a narrower type, `at_least` of the text for
a lower bound.
"""


def at_least(text: str) -> str:
    """Return the key of the lower bound of the integer with this text."""
    return f"at least {text}"


class Role(Enum):
    """The role of a method, which decides what it may do."""

    ACTION = "an action"
    PROCEDURE = "a procedure"
    HANDLER = "a handler"
    FUNCTION = "a value helper"
    PREDICATE = "a predicate"
    STEP_INVARIANT = "a step invariant"

    @property
    def pure(self) -> bool:
        """Return True if a method of this role must not change the state."""
        return self in (Role.FUNCTION, Role.PREDICATE, Role.STEP_INVARIANT)


@dataclass
class Body:
    """Method that is being read, at one point of its text."""

    world: World
    method: MethodDeclaration
    source: Source
    definition: ast.FunctionDef
    role: Role
    result: types.Type | None
    locals: dict[str, Local] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)
    written: bool = False
    requires: bool = False
    first_require: Location | None = None
    used: set[str] = field(default_factory=set)
    assigned: frozenset[str] = frozenset()
    reuse: dict[str, Local] = field(default_factory=dict)
    """Locals of the `if` branch while its `else` branch is read: a local that both branches bind gets one
    name, and can be used after the `if`.
    """

    @property
    def self_name(self) -> str:
        """Return the name that the method uses for its specification, usually `self`."""
        arguments = self.definition.args.posonlyargs + self.definition.args.args
        return arguments[0].arg if arguments else ""

    @property
    def before_name(self) -> str:
        """Return the name that a step invariant uses for the state before the step; empty in other
        methods.
        """
        arguments = self.definition.args.posonlyargs + self.definition.args.args
        return arguments[1].arg if self.role is Role.STEP_INVARIANT else ""

    def specification(self, node: ast.expr) -> str:
        """Return the name by which `node` refers to the specification, now or before the step; empty if
        `node` does not refer to it.
        """
        if isinstance(node, ast.Name) and node.id not in self.locals:
            return node.id if node.id in (self.self_name, self.before_name) else ""
        return ""

    def at(self, node: ast.AST) -> Location:
        """Return the place of a node in its file."""
        return self.source.at(node)

    def error(self, node: ast.AST, reason: str, instead: str) -> SpecError:
        """Return the error that refuses the text at `node`."""
        return SpecError(reason, self.at(node), instead)

    def unique(self, name: str) -> str:
        """Return a name that was not used before in this method, made from `name`."""
        chosen, number = name, 1
        while chosen in self.used:
            number += 1
            chosen = f"{name}_{number}"
        self.used.add(chosen)
        return chosen

    def bind(self, name: str, value: Local) -> None:
        """Make `name` stand for `value` in the statements that follow, and drop facts about an outer variable
        of that name.
        """
        self.locals[name] = value
        self.facts = {path: fact for path, fact in self.facts.items() if name not in fact.names}

    def learn(self, facts: Facts) -> None:
        """Add facts that are true in the statements that follow."""
        self.facts = self.facts | facts

    def forget(self, variable: str = "") -> None:
        """Drop the facts about the state variable `variable`, or about any part of the state if it is empty,
        because it was written.
        """
        self.facts = {
            path: fact
            for path, fact in self.facts.items()
            if (variable not in fact.variables if variable else not fact.variables)
        }

    @contextmanager
    def inner(self, facts: Facts | None = None) -> Iterator[None]:
        """Context of a block of statements: locals and facts that are added inside it end with it."""
        before = self.locals, self.facts
        self.locals = dict(self.locals)
        self.facts = self.facts | (facts or {})
        try:
            yield
        finally:
            self.locals, self.facts = before


def path_of(
    body: Body, node: ast.expr, *, integer: bool = False
) -> tuple[str, frozenset[str], frozenset[str]] | None:
    """Return the canonical text of a path, the variables that it reads and the locals that it reads; None if
    `node` is no path.

    With `integer`, `node` may also be the length of a path, or a sum or difference.
    """
    variables: set[str] = set()
    names: set[str] = set()

    def walk(part: ast.expr) -> bool:
        match part:
            case ast.Name(id=name) if name in body.locals:
                names.add(name)
                return True
            case ast.Attribute(value=owner, attr=attribute) if body.specification(owner):
                variables.add(attribute)
                return attribute in body.world.variables
            case ast.Attribute(value=value):
                return walk(value)
            case ast.Subscript(value=value, slice=index):
                return walk(value) and (_is_number(index) or walk(index))
            case ast.Call(func=function, args=[only], keywords=[]) if integer:
                return python_object(body, function) is len and walk(only)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right) if integer:
                return all(_is_number(side) or walk(side) for side in (left, right))
        return False

    return (_text(node), frozenset(variables), frozenset(names)) if walk(node) else None


def _text(node: ast.expr) -> str:
    """Return the text of an expression; the texts are cached, since several variants of a specification share
    expressions.
    """
    known = _texts.get(id(node))
    if known is None:
        if len(_texts) == MOST_TEXTS:
            _texts.clear()
        known = _texts[id(node)] = node, ast.unparse(node)
    return known[1]


MOST_TEXTS = 131_072
_texts: dict[int, tuple[ast.expr, str]] = {}
"""The texts that were asked for last, by the identity of the expression."""


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
            return True
    return False


def python_object(body: Body, node: ast.expr) -> Any:
    """Return the Python object that a name or a dotted name outside the state means, or MISSING."""
    from antiphon.spec.lang.front import world

    match node:
        case ast.Name(id=name) if (
            name not in body.locals and name != body.self_name and name not in body.assigned
        ):
            return world.lookup(body.method.function, name)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if (
            name == body.self_name and name not in body.locals
        ):
            if (
                attribute in body.world.variables
                or attribute in body.world.constants
                or attribute in body.world.methods
            ):
                return world.MISSING
            return body.world.attribute(attribute)
        case ast.Attribute(value=value, attr=attribute):
            owner = python_object(body, value)
            return world.MISSING if owner is world.MISSING else world.member(owner, attribute)
    return world.MISSING
