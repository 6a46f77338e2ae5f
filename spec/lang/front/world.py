"""Meaning of the names in a method: `self.name` is state, a constant or a helper; other names are Python's.

Python names are looked up as CPython does it: in the closure of the function, its module, the builtins. The
object that is found counts, not its name: a method that uses another function under the name `any` gets an
error. Nothing here reads bodies.
"""

from __future__ import annotations

import builtins
import dataclasses
import enum
import inspect
import types as python_types
from collections.abc import Callable
from typing import Any

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.annotations import Scope
from antiphon.spec.lang.declare import (
    ConstantDeclaration,
    Declaration,
    MethodDeclaration,
    UnboundedInt,
    declare,
)
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.hints import did_you_mean
from antiphon.spec.lang.source import place_of

MISSING = object()
"""Marker: Python knows no object of this name."""

PREDICATES = ("invariant", "witness", "obligation")


class World:
    """Specification class that is being read: the meaning of the names in its methods."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.declaration: Declaration = declare(cls)
        self.scope = Scope(cls)
        self.variables = {item.name: item for item in self.declaration.variables}
        self.constants = {item.name: item for item in self.declaration.constants if item.variant is None}
        self.methods = {item.name: item for item in self.declaration.methods}
        self.handlers: dict[str, list[MethodDeclaration]] = {}
        for method in self.declaration.marked("on"):
            if method.mark is not None and method.mark.event is not None:
                self.handlers.setdefault(method.mark.event.__name__, []).append(method)
        self._known_sizes()
        self.procedures: dict[str, ir.Procedure] = {}
        """Procedures already read, by name."""
        self.guarded: set[str] = set()
        """Procedures that require something."""
        self.effects: set[str] = set()
        """Procedures that write, emit or expect something."""
        self.properties: dict[str, None] = {}
        """The properties that services name, in order of appearance."""
        self.read_procedure: Callable[[str, Location], ir.Procedure] = _not_ready
        self.read_function: Callable[[str, Location], ir.Definition] = _not_ready

    def _known_sizes(self) -> None:
        """Refuse a type whose size names no constant of the specification."""
        defaults = {name: item.default for name, item in self.constants.items()}

        def check(of: types.Type, at: Location) -> None:
            try:
                types.bind(of, defaults)
            except SpecError as error:
                raise SpecError(
                    error.reason, at, f"a constant: {', '.join(self.constants) or 'messages: Const[int] = 2'}"
                ) from error

        for variable in self.declaration.variables:
            check(variable.type, variable.at)
        for method in self.declaration.methods:
            for parameter in method.parameters:
                check(parameter.type, method.at)
            if method.returns is not None and not isinstance(method.returns, UnboundedInt):
                check(method.returns, method.at)

    def constant_type(self, constant: ConstantDeclaration) -> types.Type:
        """Return the type of a constant, of a repair's switch or of a reading's choice."""
        if constant.reading is not None:
            return types.Enumeration(constant.name, constant.reading.choices)
        return ir.BOOL if isinstance(constant.default, bool) else ir.INTEGER

    def is_function(self, method: MethodDeclaration) -> bool:
        """Return True if a method gives a value: an unmarked one with a result, a guard or a predicate."""
        if method.mark is not None and method.mark.kind == "step_invariant":
            return False
        return method.returns is not None or (
            method.mark is not None and method.mark.kind in (*PREDICATES, "guard", "constraint")
        )

    def result(self, method: MethodDeclaration) -> types.Type:
        """Return the exact type of the result of a value helper."""
        if method.returns is None:
            return ir.BOOL
        return ir.INTEGER if isinstance(method.returns, UnboundedInt) else method.returns

    def suggest(self, name: str) -> str:
        """Return a hint for an unknown `self.name`: the names that may have been meant."""
        known = [*self.variables, *self.constants, *self.methods, "each"]
        return did_you_mean(name, known) or f"; it has {', '.join(known)}"

    def attribute(self, name: str) -> Any:
        """Return a plain class attribute (an immutable constant) of the specification, or MISSING."""
        found = inspect.getattr_static(self.cls, name, MISSING)
        return MISSING if callable(found) and not isinstance(found, type) else found

    def type_of(self, python: object, at: Location, what: str) -> types.Type:
        """Return the type of the language that a Python object denotes.

        Raises:
            SpecError: the object denotes no type of the language.
        """
        try:
            return self.scope.type_of(python, self.cls, what)
        except SpecError as error:
            raise SpecError(error.reason, at, error.instead) from error
        except Exception as error:
            raise SpecError(
                f"{what}: {python!r} is no type of the language ({error})", at, "Process"
            ) from error


def _not_ready(name: str, at: Location) -> Any:
    raise SpecError(f"{name} is called before the specification is read", at)


def lookup(function: Any, name: str) -> Any:
    """Return the Python object that `name` means inside `function`, or MISSING."""
    code = function.__code__
    if name in code.co_freevars and function.__closure__:
        cell = function.__closure__[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def member(owner: Any, name: str) -> Any:
    """Return `owner.name` for a module or a class, or MISSING; properties and other computed attributes are
    not followed.
    """
    if isinstance(owner, type) and issubclass(owner, enum.Enum):
        return owner.__members__.get(name, MISSING)
    if isinstance(owner, python_types.ModuleType):
        return vars(owner).get(name, MISSING)
    if isinstance(owner, type):
        return inspect.getattr_static(owner, name, MISSING)
    return MISSING


def constant(world: World, python: Any, at: Location) -> tuple[ir.Expression, types.Type] | None:
    """Return an immutable Python object as an expression and its exact type, or None if the language has no
    such value.
    """
    if isinstance(python, bool):
        return ir.Literal(type=ir.BOOL, value=python, at=at), ir.BOOL
    if type(python) is int:
        return ir.Literal(type=ir.INTEGER, value=python, at=at), types.Int(python, python)
    if isinstance(python, enum.Enum):
        kind = world.type_of(type(python), at, type(python).__name__)
        return ir.Literal(type=kind, value=python, at=at), kind
    if python is None:
        return ir.Literal(type=ir.NoneType(), value=None, at=at), ir.NoneType()
    if (
        dataclasses.is_dataclass(python)
        and not isinstance(python, type)
        and hasattr(python, "__antiphon_scope__")
    ):
        return _record(world, python, at)
    return None


def _record(world: World, python: Any, at: Location) -> tuple[ir.Expression, types.Type] | None:
    kind = world.type_of(type(python), at, type(python).__name__)
    parts = []
    for item in dataclasses.fields(python):
        part = constant(world, getattr(python, item.name), at)
        if part is None or isinstance(part[1], types.Int):
            return None
        parts.append(part[0])
    return ir.MakeRecord(type=kind, arguments=tuple(parts), at=at), kind


def place(world: World, name: str = "") -> Location:
    """Return the place of the class that declares `name`, or of the specification class."""
    for part in world.cls.__mro__:
        if name and name in vars(part).get("__annotations__", {}):
            return place_of(part, name)
    return place_of(world.cls)
