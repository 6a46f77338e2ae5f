"""What does a specification class declare? Constants, repairs, readings, variables, steps and predicates, with their types, bases first.

This file reads annotations and marks; it does not read bodies (the front end does) and runs nothing. Composition is inheritance: a part
that is declared in two unrelated bases under one name is refused, since each would overwrite the other's state.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from antiphon.spec.lang import types, values
from antiphon.spec.lang.annotations import Scope, notes_of
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.source import is_settled, place_of, place_of_function
from antiphon.spec.lang.values import In, Mark, PromiseNote, ReadingNote, RepairNote


@dataclass(frozen=True)
class ConstantDeclaration:
    """A constant: `default` is an int, bool or str; `repair` or `reading` is set when it is one."""

    name: str
    default: int | bool | str
    repair: RepairNote | None = None
    reading: ReadingNote | None = None


@dataclass(frozen=True)
class VariableDeclaration:
    """A state variable, its type and its default (a Python value, or `everywhere(...)`)."""

    name: str
    type: types.Type
    default: object
    at: Location


@dataclass(frozen=True)
class ParameterDeclaration:
    """A parameter of a method. `within` names the set variable whose elements it ranges over, or is empty."""

    name: str
    type: types.Type
    within: str = ""


@dataclass(frozen=True)
class MethodDeclaration:
    """A method of the specification; `mark` is None for a helper. `owner` is the class whose text it is."""

    name: str
    function: Callable[..., Any]
    owner: type
    parameters: tuple[ParameterDeclaration, ...]
    returns: types.Type | None
    mark: Mark | None
    at: Location


@dataclass(frozen=True)
class PromiseDeclaration:
    """A class attribute `name = leads_to(...)`, `eventually(...)` or `always_eventually(...)`; `note` names its methods."""

    name: str
    note: PromiseNote
    at: Location


@dataclass(frozen=True)
class Declaration:
    """Everything a specification class declares, in order, bases first. Empty bodies are not looked at here."""

    name: str
    constants: tuple[ConstantDeclaration, ...]
    variables: tuple[VariableDeclaration, ...]
    methods: tuple[MethodDeclaration, ...]
    promises: tuple[PromiseDeclaration, ...] = ()

    def marked(self, *kinds: str) -> tuple[MethodDeclaration, ...]:
        """The methods with one of these marks."""
        return tuple(method for method in self.methods if method.mark is not None and method.mark.kind in kinds)


def declare(cls: type) -> Declaration:
    """What the class declares; one that is settled is read once.

    Raises:
        SpecError: an annotation has no meaning, a default is missing, or two parts collide.
    """
    return _declare_once(cls) if is_settled(cls) else _declare(cls)


def _declare(cls: type) -> Declaration:
    found = _Parts(cls)
    for part in found.parts:
        for name, annotation in _annotations(part).items():
            found.annotated(name, annotation, part)
        for name, default in vars(part).items():
            found.attribute(name, default, part)
    return found.declaration()


_declare_once = cache(_declare)


def _annotations(part: type) -> dict[str, Any]:
    try:
        return dict(inspect.get_annotations(part))
    except Exception as error:
        raise SpecError(f"the annotations of {part.__name__} cannot be evaluated: {error}", place_of(part), "types of the module") from error


class _Parts:
    """What has been found while the classes of a composition are read, bases first."""

    def __init__(self, leaf: type) -> None:
        from antiphon.spec.lang.spec import Spec

        self.leaf, self.scope = leaf, Scope(leaf)
        self.parts = [part for part in reversed(leaf.__mro__) if issubclass(part, Spec) and part is not Spec]
        self.constants: dict[str, ConstantDeclaration] = {}
        self.variables: dict[str, VariableDeclaration] = {}
        self.functions: dict[str, tuple[Callable[..., Any], type, Mark | None]] = {}
        self.promises: dict[str, PromiseDeclaration] = {}
        self.owners: dict[str, type] = {}
        self.clashes: dict[str, SpecError] = {}

    def annotated(self, name: str, written: object, part: type) -> None:
        """A constant or a state variable."""
        self._own(name, part)
        at, what = place_of(part, name), f"{part.__name__}.{name}"
        if name.startswith("_") or name == "each":
            raise SpecError(f"{what}: this name is taken", at, "a name that begins with a letter and is not `each`")
        try:
            self._declare_name(name, self.scope.evaluate(written, part), part, what, at)
        except SpecError as error:
            raise error if error.at else SpecError(error.reason, at, error.instead) from error

    def attribute(self, name: str, default: Any, part: type) -> None:
        """A method, or a new default of something declared in a base."""
        if inspect.isfunction(default) and not name.startswith("__"):
            self._own(name, part)
            previous = self.functions.get(name)
            mark = getattr(default, "__antiphon__", previous[2] if previous else None)
            self.functions[name] = (default, part, mark)
        elif isinstance(default, PromiseNote):
            self._own(name, part)
            self.promises[name] = PromiseDeclaration(name, default, place_of(part, name))
        elif name in _annotations(part):
            return
        elif name in self.constants:
            self._own(name, part)
            self._new_default(name, default, part)
        elif name in self.variables:
            self._own(name, part)
            self.variables[name] = dataclasses.replace(self.variables[name], default=default, at=place_of(part, name))

    def _new_default(self, name: str, default: Any, part: type) -> None:
        constant = self.constants[name]
        allowed = constant.reading.choices if constant.reading else ()
        if type(default) is not type(constant.default) or (allowed and default not in allowed):
            kind = f"one of {', '.join(allowed)}" if allowed else f"a {type(constant.default).__name__}"
            raise SpecError(f"{part.__name__}.{name} = {default!r} is no new default", place_of(part, name), kind)
        self.constants[name] = dataclasses.replace(constant, default=default)

    def _own(self, name: str, part: type) -> None:
        """A name belongs to one line of inheritance: two unrelated parts that declare it collide, unless a class below both does too."""
        previous = self.owners.get(name)
        self.clashes.pop(name, None)
        if previous is not None and not issubclass(part, previous):
            self.clashes[name] = SpecError(
                f"{part.__name__}.{name} and {previous.__name__}.{name} are two parts of one composed specification",
                place_of(part, name),
                "another name in one of them",
            )
        self.owners[name] = part

    def _declare_name(self, name: str, annotation: object, part: type, what: str, at: Location) -> None:
        if name not in vars(part):
            raise SpecError(f"{what} has no value", at, instead=f"{name}: ... = initial value (maps: everywhere(value))")
        default = vars(part)[name]
        notes = notes_of(annotation)
        if isinstance(default, RepairNote):
            self.constants[name] = ConstantDeclaration(name, False, repair=default)
        elif isinstance(default, ReadingNote):
            if not default.choices:
                raise SpecError(f"{what}: a reading needs its choices", at, 'reading("first", "second", about="...")')
            self.constants[name] = ConstantDeclaration(name, default.choices[0], reading=default)
        elif any(isinstance(note, values._Constant) for note in notes):
            if type(default) not in (int, bool):
                raise SpecError(f"{what}: a constant is an int or a bool, not {default!r}", at, f"{name}: Const[int] = 3")
            self.constants[name] = ConstantDeclaration(name, default)
        elif any(isinstance(note, values._Repair | values._Reading) for note in notes):
            raise SpecError(f"{what}: it says not what it is", at, f'{name}: Repair = repair("...", answers="...")')
        else:
            self.variables[name] = VariableDeclaration(name, self.scope.type_of(annotation, part, what), default, at)

    def declaration(self) -> Declaration:
        """The whole, once every class was read."""
        for clash in self.clashes.values():
            raise clash
        for name, (function, part, _) in self.functions.items():
            if name in self.variables or name in self.constants or name == "each":
                at = place_of_function(function)
                raise SpecError(f"{part.__name__}.{name} is a method and the name of something else", at, "another name")
        for name, promise in self.promises.items():
            if name in self.variables or name in self.constants or name in self.functions or name == "each":
                raise SpecError(f"{self.leaf.__name__}.{name} is a promise and the name of something else", promise.at, "another name")
        methods = tuple(_method(name, *entry, self.scope) for name, entry in self.functions.items())
        variables = tuple(self.variables.values())
        return Declaration(self.leaf.__name__, tuple(self.constants.values()), variables, methods, tuple(self.promises.values()))


def _method(name: str, function: Callable[..., Any], owner: type, mark: Mark | None, scope: Scope) -> MethodDeclaration:
    at = place_of_function(function)
    try:
        return _typed_method(name, function, owner, mark, scope, at)
    except SpecError as error:
        raise error if error.at else SpecError(error.reason, at, error.instead) from error


def _typed_method(
    name: str, function: Callable[..., Any], owner: type, mark: Mark | None, scope: Scope, at: Location
) -> MethodDeclaration:
    try:
        signature = inspect.signature(function, follow_wrapped=False)
    except Exception as error:
        raise SpecError(f"the annotations of {owner.__name__}.{name} cannot be evaluated: {error}", at, "types of the module") from error
    site = _Site(function, owner)
    if not signature.parameters:
        raise SpecError(f"{owner.__name__}.{name} has no `self`", at, f"def {name}(self, ...)")
    parameters = []
    for parameter in list(signature.parameters.values())[1:]:
        what = f"{owner.__name__}.{name}({parameter.name})"
        if parameter.annotation is inspect.Parameter.empty:
            raise SpecError(f"{what} has no type", place_of_function(function, parameter.name), instead=f"{parameter.name}: Process")
        try:
            annotation = scope.evaluate(parameter.annotation, site)
            within = next((note.variable for note in notes_of(annotation) if isinstance(note, In)), "")
            parameters.append(ParameterDeclaration(parameter.name, scope.type_of(annotation, site, what), within))
        except SpecError as error:
            raise error if error.at else SpecError(error.reason, place_of_function(function, parameter.name), error.instead) from error
    written = signature.return_annotation
    returned: types.Type | None = None
    if written is not inspect.Signature.empty and (annotation := scope.evaluate(written, site)) is not None:
        returned = INTEGER_RESULT if annotation is int else scope.type_of(annotation, site, f"{owner.__name__}.{name}() -> ...")
    return MethodDeclaration(name, function, owner, tuple(parameters), returned, mark, at)


@dataclass(frozen=True)
class UnboundedInt(types.Type):
    """The declared result `-> int` of a helper: an integer that is checked where it is stored."""


INTEGER_RESULT = UnboundedInt()


class _Site:
    """Where a method was written: its module and the names around its class."""

    def __init__(self, function: Callable[..., Any], owner: type) -> None:
        self.__name__ = f"{owner.__name__}.{function.__name__}"
        self.__module__ = function.__module__
        self.__globals__ = function.__globals__
        self.__antiphon_scope__ = getattr(owner, "__antiphon_scope__", {})
        self._owner = owner

    def __antiphon_inner__(self) -> dict[str, Any]:
        """The names of the class body, which annotations of methods see."""
        return dict(vars(self._owner))


def actor_of(method: MethodDeclaration, gate: MethodDeclaration) -> str | None:
    """Who takes an action, as a gate sees it: its first parameter, or the receiver `to` of the packet that is its first parameter.

    The text of the actor (`p`, `packet.to`); None when the gate is about something else, or the method is no action of the algorithm.
    """
    if method.mark is None or method.mark.kind != "action" or not method.parameters:
        return None
    first, wanted = method.parameters[0], gate.parameters[0].type
    if first.type == wanted:
        return first.name
    if isinstance(first.type, types.Record) and ("to", wanted) in first.type.fields:
        return f"{first.name}.to"
    return None
