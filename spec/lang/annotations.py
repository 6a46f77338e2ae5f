"""Types of the language from annotations. Names mean what they mean where the annotation was written; type
variables mean what the composed class gives them.

This file evaluates annotations, which are the author's own; it reads no bodies.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types as python_types
import typing
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import CodeType
from typing import Annotated, Any, TypeVar, get_args, get_origin

from antiphon.spec.lang import types, values
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.foreign import Raised, foreign
from antiphon.spec.lang.source import place_of
from antiphon.spec.lang.values import AtMost, Between, Index, Map

_LANGUAGE = {
    name: getattr(values, name) for name in ("AtMost", "Between", "Const", "In", "Map", "Seq", "Set")
}


class Scope:
    """Scope in which an annotation is read: the names of the class's module and of the code around the class,
    and the type variables of the composition.
    """

    def __init__(self, leaf: type) -> None:
        self.variables: dict[TypeVar, Any] = {}
        self._records: dict[type, types.Record] = {}
        self._open: set[type] = set()
        self._bind(leaf)

    def _bind(self, cls: type) -> None:
        for base in getattr(cls, "__orig_bases__", ()):
            origin = get_origin(base)
            if origin is None or origin is typing.Generic:
                continue
            for variable, argument in zip(
                getattr(origin, "__parameters__", ()), get_args(base), strict=False
            ):
                meaning = (
                    self.variables.get(argument, argument) if isinstance(argument, TypeVar) else argument
                )
                if self.variables.setdefault(variable, meaning) != meaning:
                    raise SpecError(
                        f"type variable {variable} means both {self.variables[variable]} and {meaning}",
                        place_of(cls),
                        "two type variables",
                    )
        for base in cls.__bases__:
            self._bind(base)

    def evaluate(self, annotation: object, owner: Any) -> object:
        """Return the object for which an annotation stands. If the annotation is a string, evaluate it with
        the names that are known where `owner` (a class or function) was written.
        """
        if not isinstance(annotation, str):
            return annotation
        try:
            with foreign():
                code = _compiled(annotation)
                names = dict(_around(owner, _names(code)))
                return eval(code, names)  # noqa: S307 - the author's own annotation
        except Raised as raised:
            raise SpecError(
                f"annotation {annotation!r} of {owner.__name__}: {raised.error}",
                instead="a type of the module or of the language",
            ) from raised.error

    def type_of(self, annotation: object, owner: Any, what: str) -> types.Type:
        """Return the type of the language that an annotation denotes.

        Raises:
            SpecError: the annotation denotes no type of the language; the message says what to write.
        """
        annotation = self.evaluate(annotation, owner)
        if isinstance(annotation, TypeVar):
            if annotation not in self.variables:
                raise SpecError(
                    f"{what}: type variable {annotation} is not bound", instead="class X(Base[Message])"
                )
            return self.type_of(self.variables[annotation], owner, what)
        if annotation is bool:
            return types.Bool()
        if annotation is int:
            raise SpecError(
                f"{what}: a plain int has no bounds", instead='Annotated[int, Between(0, "messages")]'
            )
        if isinstance(annotation, type) and get_origin(annotation) is None:
            return self._class_type(annotation, what)
        arguments = get_args(annotation)
        match get_origin(annotation):
            case origin if origin is Annotated:
                return self._annotated(arguments[0], arguments[1:], owner, what)
            case typing.Union | python_types.UnionType:
                return self._union(arguments, owner, what)
            case origin if origin is frozenset:
                return types.SetOf(self.type_of(arguments[0], owner, what))
            case origin if origin is Map:
                return types.MapOf(
                    self._key(arguments[0], owner, what), self.type_of(arguments[1], owner, what)
                )
            case origin if origin is tuple and Ellipsis not in arguments:
                raise SpecError(
                    f"{what}: a tuple of several types is no type of the language",
                    instead="a record: @record class Pair, with a field for each",
                )
            case origin if origin is tuple:
                raise SpecError(
                    f"{what}: a sequence needs its greatest length",
                    instead='Annotated[Seq[Message], AtMost("messages")]',
                )
        raise SpecError(
            f"{what}: {annotation!r} is no type of the language",
            instead="bool, Annotated[int, Between(..)], Enum, Index, record, X | None, Set[X], Map[K, V], "
            "Annotated[Seq[X], AtMost(..)]",
        )

    def _key(self, annotation: object, owner: Any, what: str) -> types.Type:
        kind = self.type_of(annotation, owner, what)
        if isinstance(kind, types.MapOf):
            raise SpecError(f"{what}: a map is no key of a map", instead="a Set of these maps, or a record")
        return kind

    def _class_type(self, python: type, what: str) -> types.Type:
        if issubclass(python, Index) and python is not Index:
            return types.IndexType(python.__name__, python._size, python._ordered, python._symmetric, python)
        if issubclass(python, enum.Flag):
            raise SpecError(f"{what}: {python.__name__} is a Flag", instead="an Enum, and Set[...] of it")
        if issubclass(python, enum.Enum):
            return types.Enumeration(python.__name__, tuple(member.name for member in python), python)
        if dataclasses.is_dataclass(python):
            return self._record_type(python, what)
        raise SpecError(
            f"{what}: class {python.__name__} is no type of the language",
            instead="a record, an Index or an Enum",
        )

    def _record_type(self, python: type, what: str) -> types.Record:
        known = self._records.get(python)
        if known is None:
            if "__antiphon_scope__" not in vars(python):
                raise SpecError(
                    f"{what}: {python.__name__} is a dataclass, but no record",
                    instead="@record above the class",
                )
            if python in self._open:
                raise SpecError(
                    f"{python.__name__} contains itself; a value has a fixed size",
                    place_of(python),
                    "a set or sequence of records",
                )
            self._open.add(python)
            fields = [
                (item.name, self.type_of(item.type, python, f"{python.__name__}.{item.name}"))
                for item in dataclasses.fields(python)
            ]
            self._open.discard(python)
            known = self._records[python] = types.Record(python.__name__, tuple(fields), python)
        return known

    def _annotated(self, base: Any, notes: tuple[object, ...], owner: Any, what: str) -> types.Type:
        for note in notes:
            if isinstance(note, Between):
                if base is not int:
                    raise SpecError(f"{what}: Between bounds an int", instead=f"Annotated[int, {note}]")
                return types.Int(_size(note.low, what), _size(note.high, what))
            if isinstance(note, AtMost):
                if get_origin(base) is not tuple or len(get_args(base)) != 2 or get_args(base)[1] is not ...:
                    raise SpecError(
                        f"{what}: AtMost bounds a sequence",
                        instead='Annotated[Seq[Message], AtMost("messages")]',
                    )
                return types.SequenceOf(self.type_of(get_args(base)[0], owner, what), _size(note.most, what))
        return self.type_of(base, owner, what)

    def _union(self, arguments: tuple[Any, ...], owner: Any, what: str) -> types.Type:
        parts = [self.type_of(argument, owner, what) for argument in arguments if argument is not type(None)]
        records = [
            record
            for part in parts
            for record in (part.records if isinstance(part, types.Union) else (part,))
        ]
        if len(records) == 1:
            whole: types.Type = records[0]
            if isinstance(whole, types.Optional):
                return whole
        else:
            for part in records:
                if not isinstance(part, types.Record):
                    raise SpecError(
                        f"{what}: only records are joined by |, and None with anything",
                        instead="records that hold them",
                    )
            whole = types.Union(tuple(record for record in records if isinstance(record, types.Record)))
        return types.Optional(whole) if type(None) in arguments else whole


@cache
def _compiled(annotation: str) -> CodeType:
    """Compile an annotation; the result is cached, since variants of a specification evaluate it again and
    again.
    """
    return compile(annotation, "<annotation>", "eval")


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names that a code object looks up, those of code objects within it included."""
    inner = (name for item in code.co_consts if isinstance(item, CodeType) for name in _names(item))
    return tuple(dict.fromkeys((*code.co_names, *inner)))


def _around(owner: Any, names: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Return the meaning of these names where `owner` was written: the types of its class body come first,
    the names of the language last.
    """
    inner = getattr(owner, "__antiphon_inner__", None)
    body: Mapping[str, object] = vars(owner) if inner is None else inner()
    module = sys.modules.get(getattr(owner, "__module__", ""), None)
    scopes: tuple[Mapping[str, object], ...] = (
        getattr(owner, "__antiphon_scope__", {}),
        getattr(owner, "__globals__", {}),
        getattr(owner, "__antiphon_globals__", {}),
        vars(module) if module else {},
        _LANGUAGE,
    )
    for name in names:
        if isinstance(body.get(name), type):
            yield name, body[name]
        else:
            scope = next((scope for scope in scopes if name in scope), None)
            if scope is not None:
                yield name, scope[name]


def _size(size: object, what: str) -> int | str:
    if isinstance(size, bool) or not isinstance(size, int | str):
        raise SpecError(
            f"{what}: {size!r} is no size",
            instead='an int, or an expression over constants such as "messages + 1"',
        )
    return size


def notes_of(annotation: object) -> tuple[object, ...]:
    """Return the notes beside the type in `Annotated[...]`."""
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
