"""Declarations of a specification class: constants, variants, variables, steps and predicates, typed, bases
first.

This file reads annotations and marks; it does not read bodies (the front end does) and runs nothing.
Composition is inheritance: a part that is declared in two unrelated bases under one name is refused, since
each would overwrite the other's state.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from antiphon.spec.lang import types, values
from antiphon.spec.lang.annotations import Scope, notes_of
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.source import is_settled, place_of, place_of_function, written_twice
from antiphon.spec.lang.values import FairNote, In, LivenessNote, Mark
from antiphon.spec.lang.variants import (
    Ambiguity,
    Mutation,
    Repair,
    Restriction,
    Variant,
    calls_super,
    has_stand_in,
    note_of,
    offered,
    replaces_silently,
    stood_for,
)


@dataclass(frozen=True)
class ConstantDeclaration:
    """Constant of a specification: `default` is an int, bool or str. If the constant switches a variant on,
    `variant` is that variant, and no method reads the constant.
    """

    name: str
    default: int | bool | str
    variant: Variant | None = None
    at: Location | None = None

    @property
    def repair(self) -> Repair | None:
        """Return the repair that the constant switches on, or None."""
        return self.variant if isinstance(self.variant, Repair) else None

    @property
    def reading(self) -> Ambiguity | None:
        """Return the ambiguity whose reading the constant chooses, or None."""
        return self.variant if isinstance(self.variant, Ambiguity) else None


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
    """A method of the specification; `mark` is None for a helper. `owner` is the class whose text it is.

    `replaces` names the helper that `super()` means in the method: the text of the next base, under a name of
    its own. It is empty when the method does not say `super()`.
    """

    name: str
    function: Callable[..., Any]
    owner: type
    parameters: tuple[ParameterDeclaration, ...]
    returns: types.Type | None
    mark: Mark | None
    at: Location
    replaces: str = ""


@dataclass(frozen=True)
class LivenessDeclaration:
    """A class attribute `name = leads_to(...)`, or another temporal formula; `note` names its methods."""

    name: str
    note: LivenessNote
    at: Location


@dataclass(frozen=True)
class FairDeclaration:
    """Class attribute `name = fair(...)`; `note` names its actions."""

    name: str
    note: FairNote
    at: Location


@dataclass(frozen=True)
class Declaration:
    """Declarations of a specification class, in order, bases first. The bodies of methods are not read."""

    name: str
    constants: tuple[ConstantDeclaration, ...]
    variables: tuple[VariableDeclaration, ...]
    methods: tuple[MethodDeclaration, ...]
    liveness: tuple[LivenessDeclaration, ...] = ()
    fair: tuple[FairDeclaration, ...] = ()

    def marked(self, *kinds: str) -> tuple[MethodDeclaration, ...]:
        """Return the methods that are marked with one of these kinds."""
        return tuple(
            method for method in self.methods if method.mark is not None and method.mark.kind in kinds
        )


def declare(cls: type) -> Declaration:
    """Return the declaration of a specification class. It is cached for good if the class is settled
    (`is_settled`), else for a while.

    Raises:
        SpecError: an annotation has no meaning, a default is missing, or two parts collide.
    """
    if is_settled(cls):
        return _declare_once(cls)
    return _declare_lately(cls) if has_stand_in(cls) else _declare(cls)


def _declare(cls: type) -> Declaration:
    found = _Parts(cls)
    for part in found.parts:
        twice = None if is_settled(part) else written_twice(part)
        if twice is not None:
            raise SpecError(
                f"{part.__name__} has {twice[0]!r} twice, and Python keeps the second alone",
                twice[1],
                "another name for one of them",
            )
        for name, annotation in _annotations(part).items():
            found.annotated(name, annotation, part)
        for name, default in vars(part).items():
            found.attribute(name, default, part)
    return found.declaration()


_declare_once = cache(_declare)
_declare_lately = lru_cache(maxsize=16)(_declare)


def _annotations(part: type) -> dict[str, Any]:
    try:
        return dict(inspect.get_annotations(part))
    except Exception as error:
        raise SpecError(
            f"the annotations of {part.__name__} cannot be evaluated: {error}",
            place_of(part),
            "types of the module",
        ) from error


class _Parts:
    """The parts found so far while the classes of a composition are read, bases first."""

    def __init__(self, leaf: type) -> None:
        from antiphon.spec.lang.spec import Spec

        self.leaf, self.scope = leaf, Scope(leaf)
        self.parts = [part for part in reversed(leaf.__mro__) if issubclass(part, Spec) and part is not Spec]
        self.constants: dict[str, ConstantDeclaration] = {}
        self.variables: dict[str, VariableDeclaration] = {}
        self.functions: dict[str, list[tuple[Callable[..., Any], type, Mark | None]]] = {}
        """The texts of each method, from the first base to the one that counts."""
        self.variants: tuple[type, ...] = vars(leaf).get("__antiphon_variants__", ())
        self.stated: dict[str, LivenessDeclaration | FairDeclaration] = {}
        self.owners: dict[str, type] = {}
        self.clashes: dict[str, SpecError] = {}

    def annotated(self, name: str, written: object, part: type) -> None:
        """Add the declaration of an annotated attribute: a constant or a state variable."""
        self._record_owner(name, part)
        at, what = place_of(part, name), f"{part.__name__}.{name}"
        if name.startswith("_") or name == "each":
            raise SpecError(
                f"{what}: this name is taken", at, "a name that begins with a letter and is not `each`"
            )
        try:
            self._declare_name(name, self.scope.evaluate(written, part), part, what, at)
        except SpecError as error:
            raise error if error.at else SpecError(error.reason, at, error.instead) from error

    def attribute(self, name: str, default: Any, part: type) -> None:
        """Add an attribute without annotation: a method, or a new default of something that a base
        declares.
        """
        if name == "__init__" and inspect.isfunction(default):
            raise SpecError(
                f"{part.__name__}.__init__ would never be called: states are made of the declared values",
                place_of(part, name),
                "@initial, and a method that assigns what differs",
            )
        if is_drawing(name, default):
            return
        if inspect.isfunction(default) and not name.startswith("__"):
            texts = self.functions.setdefault(name, [])
            owner = stood_for(part)
            if owner is not part:
                at = next(place for place, text in enumerate(texts) if text[1] is owner)
                texts[at] = (default, owner, texts[at][2])
                return
            self._record_owner(name, part, default)
            mark = getattr(default, "__antiphon__", texts[-1][2] if texts else None)
            texts.append((default, part, mark))
        elif isinstance(default, LivenessNote):
            self._record_owner(name, part)
            self.stated[name] = LivenessDeclaration(name, default, place_of(part, name))
        elif isinstance(default, FairNote):
            self._record_owner(name, part)
            self.stated[name] = FairDeclaration(name, default, place_of(part, name))
        elif name in _annotations(part):
            return
        elif name in self.constants:
            self._record_owner(name, part)
            self._new_default(name, default, part)
        elif name in self.variables:
            self._record_owner(name, part)
            self.variables[name] = dataclasses.replace(
                self.variables[name], default=default, at=place_of(part, name)
            )

    def _new_default(self, name: str, default: Any, part: type) -> None:
        constant = self.constants[name]
        if type(default) is not type(constant.default):
            kind = f"a {type(constant.default).__name__}"
            raise SpecError(
                f"{part.__name__}.{name} = {default!r} is no new default", place_of(part, name), kind
            )
        self.constants[name] = dataclasses.replace(constant, default=default)

    def _record_owner(self, name: str, part: type, function: Any = None) -> None:
        """Record that class `part` declares `name`, and refuse a collision: two unrelated parts declare the
        name, and no class below both does.

        Variants may change what others declare, and are left out of this. The constants of a component belong
        to the class from which they are taken.
        """
        part = vars(part).get("__antiphon_constants_of__", part)
        previous = self.owners.get(name)
        self.clashes.pop(name, None)
        if (
            previous is not None
            and function is not None
            and (part in self.variants or previous in self.variants)
        ):
            if not issubclass(part, previous) and replaces_silently(part, previous, function, self.variants):
                self.clashes[name] = SpecError(
                    f"{part.__name__}.{name} replaces what the variant {previous.__name__} says",
                    place_of(part, name),
                    f"super().{name}(...) in it, or builds_on=({previous.__name__},), or "
                    f"supersedes=({previous.__name__},)",
                )
        elif previous is not None and not issubclass(part, previous):
            self.clashes[name] = SpecError(
                f"{part.__name__}.{name} and {previous.__name__}.{name} are two parts of one composed "
                "specification",
                place_of(part, name),
                "another name in one of them",
            )
        self.owners[name] = part

    def _declare_name(self, name: str, annotation: object, part: type, what: str, at: Location) -> None:
        if name not in vars(part):
            raise SpecError(
                f"{what} has no value", at, instead=f"{name}: ... = initial value (maps: everywhere(value))"
            )
        default = vars(part)[name]
        notes = notes_of(annotation)
        if any(isinstance(note, values._Constant) for note in notes):
            if type(default) not in (int, bool):
                raise SpecError(
                    f"{what}: a constant is an int or a bool, not {default!r}", at, f"{name}: Const[int] = 3"
                )
            self.constants[name] = ConstantDeclaration(name, default)
        else:
            self.variables[name] = VariableDeclaration(
                name, self.scope.type_of(annotation, part, what), default, at
            )

    def declaration(self) -> Declaration:
        """Return the whole declaration, once every class was read."""
        for clash in self.clashes.values():
            raise clash
        self._add_variant_constants()
        for name, texts in self.functions.items():
            if name in self.variables or name in self.constants or name == "each":
                function, part, _ = texts[-1]
                at = place_of_function(function)
                raise SpecError(
                    f"{part.__name__}.{name} is a method and the name of something else", at, "another name"
                )
        for name, stated in self.stated.items():
            if name in self.variables or name in self.constants or name in self.functions or name == "each":
                raise SpecError(
                    f"{self.leaf.__name__}.{name} is {_what(stated)} and the name of something else",
                    stated.at,
                    "another name",
                )
        methods = tuple(
            method for name, texts in self.functions.items() for method in self._methods(name, texts)
        )
        self._refuse_unknown_actions(methods)
        variables = tuple(self.variables.values())
        return Declaration(
            self.leaf.__name__,
            tuple(self.constants.values()),
            variables,
            methods,
            tuple(item for item in self.stated.values() if isinstance(item, LivenessDeclaration)),
            tuple(item for item in self.stated.values() if isinstance(item, FairDeclaration)),
        )

    def _refuse_unknown_actions(self, methods: tuple[MethodDeclaration, ...]) -> None:
        """Refuse a constraint on an action that neither the class nor a variant which it offers has."""
        actions = {item.name for item in methods if item.mark and item.mark.kind in ("action", "environment")}
        offers = offered(self.leaf)
        meanings = [meaning for item in offers.readings for meaning in item.meanings.values()]
        for variant in (*offers.repairs, *offers.restrictions, *offers.mutations, *meanings, *self.variants):
            actions |= {name for name, item in vars(variant).items() if inspect.isfunction(item)}
        for item in methods:
            wrong = [name for name in (item.mark.actions if item.mark else ()) if name not in actions]
            if wrong:
                raise SpecError(
                    f"the constraint {item.name} names {wrong[0]}, which is no action of "
                    f"{self.leaf.__name__}",
                    item.at,
                    f"an action; {known_names(wrong[0], sorted(actions))}",
                )

    def _add_variant_constants(self) -> None:
        """Add the constants that switch variants on; refuse a variant whose name something else has."""
        offers = offered(self.leaf)
        switched: list[tuple[Variant, type]] = [
            (note_of(item, Restriction), item) for item in offers.restrictions
        ]
        switched += [(note_of(item, Mutation), item) for item in offers.mutations]
        switched += [(item, self.leaf) for item in offers.readings]
        switched += [(note_of(item, Repair), item) for item in offers.repairs]
        found = [
            ConstantDeclaration(
                item.name, item.printed if isinstance(item, Ambiguity) else False, item, place_of(where)
            )
            for item, where in switched
        ]
        for constant in found:
            if constant.name in self.constants or constant.name in self.variables:
                raise SpecError(
                    f"{constant.name} is a variant and the name of something else",
                    constant.at,
                    "another name for the class",
                )
            self.constants[constant.name] = constant

    def _methods(
        self, name: str, texts: list[tuple[Callable[..., Any], type, Mark | None]]
    ) -> list[MethodDeclaration]:
        """Return a method's declaration, preceded by the helpers that `super()` means in it, the deepest
        first.
        """
        called = len(texts) - 1
        while called > 0 and calls_super(texts[called][0]):
            called -= 1
        found: list[MethodDeclaration] = []
        for function, owner, mark in texts[called:]:
            is_last = function is texts[-1][0]
            own = name if is_last else self._inherited_name(name, owner)
            method = _method(own, function, owner, mark if is_last else None, self.scope)
            if not is_last:
                plain = tuple(dataclasses.replace(parameter, within="") for parameter in method.parameters)
                method = dataclasses.replace(method, parameters=plain)
            below = found[-1] if found else None
            if below is not None:
                _same_signature(method, below)
                method = dataclasses.replace(method, replaces=below.name)
            found.append(method)
        return found

    def _inherited_name(self, name: str, owner: type) -> str:
        made = f"{name}_of_{owner.__name__}"
        while made in self.functions or made in self.variables or made in self.constants:
            made += "_"
        return made


def is_drawing(name: str, value: object) -> bool:
    """Return True for the method `draw(self) -> str` of a specification, which is Python of any kind.

    It makes a picture of a state for explorers. Nothing but CPython reads it, and no step may call it.
    """
    return (
        name == "draw"
        and inspect.isfunction(value)
        and value.__annotations__.get("return") in ("str", str)
        and not hasattr(value, "__antiphon__")
    )


def _what(stated: LivenessDeclaration | FairDeclaration) -> str:
    return "a liveness property" if isinstance(stated, LivenessDeclaration) else "a promise of fairness"


def _same_signature(method: MethodDeclaration, replaced: MethodDeclaration) -> None:
    if [(item.name, item.type) for item in method.parameters] != [
        (item.name, item.type) for item in replaced.parameters
    ]:
        names = ", ".join(item.name for item in replaced.parameters)
        raise SpecError(
            f"{method.owner.__name__}.{method.function.__name__} has other parameters than what super() "
            "means there",
            method.at,
            f"def {method.function.__name__}(self{', ' if names else ''}{names}), with the same types",
        )


def _method(
    name: str, function: Callable[..., Any], owner: type, mark: Mark | None, scope: Scope
) -> MethodDeclaration:
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
        raise SpecError(
            f"the annotations of {owner.__name__}.{name} cannot be evaluated: {error}",
            at,
            "types of the module",
        ) from error
    site = _Site(function, owner)
    if not signature.parameters:
        raise SpecError(f"{owner.__name__}.{name} has no `self`", at, f"def {name}(self, ...)")
    parameters = []
    given = list(signature.parameters.values())[1:]
    if mark is not None and mark.kind == "step_invariant":
        if len(given) != 1:
            raise SpecError(
                f"{owner.__name__}.{name} is true of a step, and takes what was before it",
                at,
                f"def {name}(self, before: Self) -> bool:",
            )
        given = []
    for parameter in given:
        what = f"{owner.__name__}.{name}({parameter.name})"
        if parameter.annotation is inspect.Parameter.empty:
            raise SpecError(
                f"{what} has no type",
                place_of_function(function, parameter.name),
                instead=f"{parameter.name}: Process",
            )
        try:
            annotation = scope.evaluate(parameter.annotation, site)
            within = next((note.variable for note in notes_of(annotation) if isinstance(note, In)), "")
            parameters.append(
                ParameterDeclaration(parameter.name, scope.type_of(annotation, site, what), within)
            )
        except SpecError as error:
            raise (
                error
                if error.at
                else SpecError(error.reason, place_of_function(function, parameter.name), error.instead)
            ) from error
    written = signature.return_annotation
    returned: types.Type | None = None
    if written is not inspect.Signature.empty and (annotation := scope.evaluate(written, site)) is not None:
        returned = (
            INTEGER_RESULT
            if annotation is int
            else scope.type_of(annotation, site, f"{owner.__name__}.{name}() -> ...")
        )
    return MethodDeclaration(name, function, owner, tuple(parameters), returned, mark, at)


@dataclass(frozen=True)
class UnboundedInt(types.Type):
    """The declared result `-> int` of a helper: an integer that is checked where it is stored."""


INTEGER_RESULT = UnboundedInt()


class _Site:
    """The place where a method was written: its module and the names around its class."""

    def __init__(self, function: Callable[..., Any], owner: type) -> None:
        self.__name__ = f"{owner.__name__}.{function.__name__}"
        self.__module__ = function.__module__
        self.__globals__ = function.__globals__
        self.__antiphon_scope__ = getattr(owner, "__antiphon_scope__", {})
        self._owner = owner

    def __antiphon_inner__(self) -> Mapping[str, Any]:
        """Return the names of the class body, which annotations of methods see."""
        return vars(self._owner)


def actor_of(method: MethodDeclaration, guard: MethodDeclaration) -> str | None:
    """Return the text of the actor to which a guard applies in an action: the action's first parameter
    (`p`), or the receiver of the packet that is its first parameter (`packet.to`).

    The result is None if neither has the type of the guard's parameter, or if the method is no action of the
    algorithm.
    """
    if method.mark is None or method.mark.kind != "action" or not method.parameters:
        return None
    first, wanted = method.parameters[0], guard.parameters[0].type
    if first.type == wanted:
        return first.name
    if isinstance(first.type, types.Record) and ("to", wanted) in first.type.fields:
        return f"{first.name}.to"
    return None


def constrains(action: MethodDeclaration, constraint: MethodDeclaration) -> bool:
    """Return True if a constraint applies to an action: it names it, or it names none."""
    return constraint.mark is not None and (
        not constraint.mark.actions or action.name in constraint.mark.actions
    )


def constrained(action: MethodDeclaration, constraint: MethodDeclaration) -> tuple[int, ...]:
    """Return, for each parameter of a constraint, its position among the parameters of an action that it
    constrains.

    Raises:
        SpecError: the action has no such parameter.
    """
    known = {parameter.name: (place, parameter.type) for place, parameter in enumerate(action.parameters)}
    for parameter in constraint.parameters:
        if known.get(parameter.name, (0, None))[1] != parameter.type:
            raise SpecError(
                f"the constraint {constraint.name} asks for {parameter.name}, and {action.name} has no "
                "parameter of that name and type",
                constraint.at,
                f"parameters of {action.name}: {', '.join(known) or 'none'}",
            )
    return tuple(known[parameter.name][0] for parameter in constraint.parameters)


def call_text(method: MethodDeclaration) -> str:
    """Return the call of a method with its own parameters, in a form for people."""
    return f"self.{method.name}({', '.join(parameter.name for parameter in method.parameters)})"
