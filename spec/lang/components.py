"""Specification within another: a base class with the component's text, under other names.

`instance(Channel, "up")` is a class with the variables and methods of `Channel` under the names `up_...`;
`instance(Consensus, "slot", each=Slot)` has them once for each slot: a variable `chosen` becomes the map
`slot_chosen[slot]`, and every method takes the slot first, as `slot`. A subclass composes it like any base:
it reads and writes `slot_chosen`, calls `slot_choose(s, v)`, overrides it and says `super()`.

1. The text is rewritten once, where the instance is made, and stands among the sources of Python like a
   file, so that CPython, the front end and every message read the same text: no other module knows of
   components.
2. Constants are those of the whole: instances share them by name.
3. Actions stay actions. A parameter of an indexed instance that ranges over a set variable ranges over its
   type instead, and a guard says that it is in the set. Each action repeats the guards on its actor.
4. A predicate of an indexed instance is asked of all members (a witness of any); fairness is promised to
   each.
5. An `@initial` becomes a procedure. The whole calls it in an `@initial` of its own, since only the whole
   knows how its instances begin together.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dataclasses
import linecache
import types
from collections.abc import Callable, Iterator
from functools import cache
from typing import Annotated, Any, TypeVar

from antiphon.spec.lang import values
from antiphon.spec.lang.annotations import Scope, notes_of
from antiphon.spec.lang.declare import Declaration, MethodDeclaration, actor_of, declare
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.source import function_of, place_of
from antiphon.spec.lang.spec import Spec
from antiphon.spec.lang.values import Between, FairNote, In, Index, LivenessNote, Map, Mark, everywhere
from antiphon.spec.lang.variants import offered

QUANTIFIED = {"invariant": "all", "obligation": "all", "witness": "any"}
"""Kind of a predicate of an indexed instance, and whether `all` members or `any` of them must satisfy it."""

KNOWN = ("action", "environment", "guard", "constraint", "initial", *QUANTIFIED)


@cache
def instance(component: Any, name: str, *, each: Any = None) -> Any:
    """Make a base class with the text of a specification under names that begin with `name`, so that one
    specification can be a part of another.

    Args:
        component: the specification; of a generic one, with its message type: `Channel[Ask]`.
        name: what its variables and methods are called by: `up` makes `up_flying` of `flying`.
        each: an index set, or a range of integers (`Annotated[int, Between(...)]`), for each member of which
            there is one.

    Raises:
        SpecError: the component has what cannot be a part (variants, handlers), the name is none, or `each`
            is neither an index set nor a range.
    """
    if not name.isidentifier() or name.startswith("_"):
        raise SpecError(f"instance(..., {name!r}): this is no name", instead='a word: "up"')
    given: Any = each
    if given is not None and not _names_members(given):
        raise SpecError(
            f"instance(..., each={each!r}): this is no index set, and no range of integers",
            instead="each=P, or each=View for View = Annotated[int, Between(1, 'views')]; for pairs, an "
            "instance of an instance: class From(instance(Channel, 'to', each=P)), and instance(From, "
            "'link', each=P)",
        )
    leaf = component
    if not isinstance(component, type):
        origin = component.__origin__
        leaf = _class(origin.__name__, (component,), _place(origin))
    return _Instance(leaf, name, each).made()


def _names_members(each: Any) -> bool:
    """Return True if `each` is an index set or a range of integers, whose members can number instances."""
    if isinstance(each, type):
        return issubclass(each, Index)
    return getattr(each, "__origin__", None) is int and any(
        isinstance(note, Between) for note in notes_of(each)
    )


class _Instance:
    """One component (part of a composed specification) while its text is rewritten for the whole; `index` is
    the parameter that says which member of the whole the component is.
    """

    def __init__(self, component: type[Spec], name: str, each: Any) -> None:
        self.component, self.name, self.each = component, name, each
        self.declared: Declaration = declare(component)
        self.scope = Scope(component)
        self.methods = {method.name: method for method in self.declared.methods}
        self.variables = {variable.name for variable in self.declared.variables}
        self.index = self._index()
        self._refuse()

    def _index(self) -> str:
        """Return a name for the index parameter that no method of the component uses."""
        taken = {word for method in self.methods.values() for word in method.function.__code__.co_varnames}
        index = self.name
        while index in taken:
            index += "_"
        return index

    def _refuse(self) -> None:
        offers = offered(self.component)
        if any(getattr(offers, item.name) for item in dataclasses.fields(offers)):
            raise SpecError(
                f"{self.component.__name__} has variants, and an instance of it has none",
                place_of(self.component),
                "a class without repairs=, readings=, restrictions= and mutations=",
            )
        for method in self.declared.methods:
            if method.mark is not None and method.mark.kind not in KNOWN:
                raise SpecError(
                    f"{self.component.__name__}.{method.name} is marked {method.mark.kind}, which a "
                    "component cannot be: it would speak of all instances",
                    method.at,
                    "the same in the whole",
                )

    def called(self, name: str) -> str:
        """Return the name in the whole of a variable or method that the component calls `name`."""
        return f"{self.name}_{name}"

    # The class ----------------------------------------------------------------------------------------------

    def made(self) -> Any:
        """Make the base class with the renamed text."""
        annotations: dict[str, Any] = {}
        body: dict[str, Any] = {"__module__": self.component.__module__, "__annotations__": annotations}
        body["__doc__"] = f"{self.component.__name__} as {self.name}: {self.component.__doc__}"
        for variable in self.declared.variables:
            owner = next(part for part in self.component.__mro__ if variable.name in _own_annotations(part))
            meant = self._meaning(_own_annotations(owner)[variable.name], owner)
            name = self.called(variable.name)
            annotations[name] = meant if self.each is None else _map_of(self.each, meant)
            body[name] = variable.default if self.each is None else everywhere(variable.default)
        for method in self.declared.methods:
            body |= dict(self._texts(method))
        for formula in self.declared.liveness:
            body[self.called(formula.name)] = self._note(formula.note)
        for promise in self.declared.fair:
            body[self.called(promise.name)] = self._note(promise.note)
        bases = _constants(self.component)
        defaults = {item.name: item.default for item in self.declared.constants}
        body |= {name: value for name, value in defaults.items() if _default(bases, name) != value}
        made = _class(f"{self.component.__name__}_{self.name}", bases or (Spec,), body)
        made.__antiphon_place__ = vars(self.component).get("__antiphon_place__")
        return made

    def _meaning(self, annotation: object, owner: Any) -> Any:
        """Return the type that an annotation means in this component: its type variables are replaced by the
        component's types.
        """
        found: Any = self.scope.evaluate(annotation, owner)
        if isinstance(found, TypeVar):
            return self.scope.variables.get(found, found)
        open_ones = getattr(found, "__parameters__", ())
        return (
            found[tuple(self.scope.variables.get(item, item) for item in open_ones)] if open_ones else found
        )

    def _note(self, note: LivenessNote | FairNote) -> LivenessNote | FairNote:
        """Return a temporal formula or a promise of fairness with the new names of its methods."""
        if isinstance(note, FairNote):
            return dataclasses.replace(
                note,
                actions=tuple(map(self.called, note.actions)),
                per=note.per if self.each is None else (self.index, *note.per),
                where=self.called(note.where) if note.where else "",
            )
        return dataclasses.replace(
            note,
            goal=self.called(note.goal),
            premise=self.called(note.premise) if note.premise else "",
            assuming=tuple(self._note(item) for item in note.assuming),  # type: ignore[misc]
        )

    # The text -----------------------------------------------------------------------------------------------

    def _texts(self, method: MethodDeclaration) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Yield the functions for a method of the component: the renamed one, and for a predicate of an
        indexed instance the one that asks it of all members.
        """
        mark, name = method.mark, self.called(method.name)
        kind = mark.kind if mark is not None else ""
        quantified = self.each is not None and kind in QUANTIFIED
        own = f"{name}_at_{self.index}" if quantified else name
        function = self._rewritten(method, own)
        if mark is not None and not quantified and kind not in ("guard", "initial"):
            function.__antiphon__ = self._mark(mark)  # type: ignore[attr-defined]
        yield own, function
        if quantified and mark is not None:
            of_all = f"{QUANTIFIED[kind]}(self.{own}(member) for member in self.each(MEMBERS))"
            text = f'def {name}(self) -> bool:\n    """{kind} of each."""\n    return {of_all}\n'
            asked = self._compiled(text, name, method, {"MEMBERS": self.each})
            asked.__annotations__ = {"return": bool}
            asked.__antiphon__ = dataclasses.replace(mark, name=self.called(mark.name))  # type: ignore[attr-defined]
            yield name, asked

    def _mark(self, mark: Mark) -> Mark:
        actions = mark.actions
        if mark.kind == "constraint" and not actions:
            actions = tuple(item.name for item in self.declared.marked("action", "environment"))
        per = (self.index, *mark.per) if self.each is not None and mark.fairness != "none" else mark.per
        return dataclasses.replace(
            mark, name=self.called(mark.name), actions=tuple(map(self.called, actions)), per=per
        )

    def _rewritten(self, method: MethodDeclaration, name: str) -> Callable[..., Any]:
        node = copy.deepcopy(function_of(method.function)[1])
        annotations = {key: self._meaning(value, _Site(method)) for key, value in _annotated(method).items()}
        said: list[str] = []
        if method.mark is not None and method.mark.kind in ("action", "environment"):
            for guard in self.declared.marked("guard"):
                actor = actor_of(method, guard)
                said += [f"self.{guard.name}({actor})"] if actor is not None else []
        for parameter in method.parameters:
            if parameter.within and self.each is not None:
                said.append(f"{parameter.name} in self.{parameter.within}")
                annotations[parameter.name] = annotations[parameter.name].__origin__
            elif parameter.within:
                notes = (In(self.called(note.variable)) if isinstance(note, In) else note
                         for note in notes_of(annotations[parameter.name]))  # fmt: skip
                annotations[parameter.name] = _annotate(annotations[parameter.name].__origin__, *notes)
        has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        node.body[has_text:has_text] = [ast.parse(f"require({condition})").body[0] for condition in said]
        node = _Renamed(self, method).visit(node)
        node.name, node.decorator_list = name, []
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        if self.each is not None:
            node.args.args.insert(1, ast.arg(self.index))
            annotations = {self.index: self.each, **annotations}
        ast.fix_missing_locations(node)
        made = self._compiled(f"{ast.unparse(node)}\n", name, method, {})
        made.__annotations__ = annotations
        made.__module__ = method.function.__module__
        return made

    def _compiled(
        self, text: str, name: str, method: MethodDeclaration, more: dict[str, Any]
    ) -> Callable[..., Any]:
        """Compile a rewritten text to a function, and register the text so that it is read like a file."""
        file = f"<{self.component.__name__} as {self.name}: {name}>"
        if self.each is not None:
            members = self.each.__name__ if isinstance(self.each, type) else str(self.each)
            file = f"<{self.component.__name__} as {self.name} of each {members}: {name}>"
        linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
        meanings = {item.__name__: meant for item, meant in self.scope.variables.items()}
        names = {"require": values.require} | method.function.__globals__ | meanings | more
        names |= getattr(method.owner, "__antiphon_scope__", {})
        exec(compile(text, file, "exec", flags=__future__.annotations.compiler_flag), names)  # noqa: S102 - the author's own text, under other names
        made: Callable[..., Any] = names[name]
        return made


class _Site:
    """Stand-in for the function of a method of the component, by which the method's annotations are evaluated
    in the module where they were written.
    """

    def __init__(self, method: MethodDeclaration) -> None:
        self.__name__ = method.name
        self.__module__ = method.function.__module__
        self.__globals__ = method.function.__globals__
        self.__antiphon_scope__ = getattr(method.owner, "__antiphon_scope__", {})


class _Renamed(ast.NodeTransformer):
    """Transformer that renames the variables and methods in the text of one method."""

    def __init__(self, made: _Instance, method: MethodDeclaration) -> None:
        self.made, self.method = made, method
        self.itself = method.function.__code__.co_varnames[0]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rename a call of a helper or of `super()`, and pass the index of the same member."""
        called = node.func
        is_own = isinstance(called, ast.Attribute) and self._is_self(called.value)
        is_super = (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Call)
            and isinstance(called.value.func, ast.Name)
            and called.value.func.id == "super"
        )
        if isinstance(called, ast.Attribute) and (is_super or (is_own and called.attr in self.made.methods)):
            name = self.method.replaces if is_super else called.attr
            given = [self.visit(item) for item in node.args]
            if self.made.each is not None:
                given.insert(0, ast.Name(self.made.index, ast.Load()))
            named = [self.visit(item) for item in node.keywords]
            return ast.Call(self._attribute(self._function(name), ast.Load()), given, named)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Rename a variable, and take its value for the same member."""
        if not (self._is_self(node.value) and node.attr in self.made.variables):
            return self.generic_visit(node)
        name = self.made.called(node.attr)
        if self.made.each is None:
            return self._attribute(name, node.ctx)
        return ast.Subscript(
            self._attribute(name, ast.Load()), ast.Name(self.made.index, ast.Load()), node.ctx
        )

    def _function(self, name: str) -> str:
        """Return the name that a method of one member has in the whole specification."""
        mark = self.made.methods[name].mark
        quantified = self.made.each is not None and mark is not None and mark.kind in QUANTIFIED
        return f"{self.made.called(name)}{f'_at_{self.made.index}' if quantified else ''}"

    def _attribute(self, name: str, context: ast.expr_context) -> ast.Attribute:
        return ast.Attribute(ast.Name(self.itself, ast.Load()), name, context)

    def _is_self(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.itself


def _map_of(key: Any, value: Any) -> Any:
    made: Any = Map
    return made[key, value]


def _class(name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
    return types.new_class(name, bases, exec_body=lambda names: names.update(body))


def _place(origin: type) -> dict[str, Any]:
    return {"__module__": origin.__module__, "__qualname__": origin.__qualname__, "__doc__": origin.__doc__}


def _own_annotations(part: type) -> dict[str, Any]:
    """Return the annotations that the text of a class itself has, without those of its bases."""
    return dict(vars(part).get("__annotations__", {}))


def _annotated(method: MethodDeclaration) -> dict[str, Any]:
    return dict(method.function.__annotations__)


def _annotate(meant: Any, *notes: object) -> Any:

    return Annotated[(meant, *notes)]


def _constants(component: type[Spec]) -> tuple[type, ...]:
    """Return the classes that declare the constants of a component, which all instances and the whole share.
    A class that declares nothing else is returned itself, and for any other a new class with its constants.
    """
    found: list[type] = []
    parts: tuple[Any, ...] = component.__mro__
    for part in parts:
        if issubclass(part, Spec) and part is not Spec:
            here = _constants_of(part)
            if here is not None and not any(issubclass(other, here) for other in found):
                found.append(here)
    return tuple(found)


@cache
def _constants_of(part: Any) -> Any:
    scope = Scope(part)
    meant = {name: scope.evaluate(written, part) for name, written in _own_annotations(part).items()}
    constants = {
        name: item
        for name, item in meant.items()
        if any(isinstance(note, values._Constant) for note in notes_of(item))
    }
    if not constants:
        return None
    has_more = len(constants) < len(meant) or any(callable(item) for item in vars(part).values())
    if not has_more and all(base is Spec for base in part.__bases__):
        return part
    body = {name: vars(part)[name] for name in constants}
    body |= {"__module__": part.__module__, "__annotations__": constants, "__antiphon_constants_of__": part}
    return _class(f"{part.__name__}_constants", (Spec,), body)


def _default(bases: tuple[type, ...], name: str) -> object:
    return next((getattr(base, name) for base in bases if hasattr(base, name)), None)
