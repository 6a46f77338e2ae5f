"""Mutants of a program: every change of a method that its own steps reach, each as a program of its own.

A mutant is composed like a planted fault: a class stands for the one whose text is changed, and differs from
it in one method (`spec.lang.variants.stand_in`). CPython executes the changed text and the front end reads
it, so that a counterexample of a mutant replays like any other.

This file knows nothing of engines and properties; the caller says which classes are a protocol's text.
"""

from __future__ import annotations
import __future__

import ast
import hashlib
import itertools
import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import FunctionType
from typing import Any

from antiphon.model.mutation.operators import Change, Context, Edit, changes_of
from antiphon.spec.lang import Program, SpecError, ir, types
from antiphon.spec.lang import program as bind
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.source import function_of
from antiphon.spec.lang.variants import Mutation, note_of, offered, stand_in
from antiphon.spec.lang.walk import nodes

MOST_DEFINITIONS = 4096

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Mutant:
    """Mutant: one change of one method. `method` is the method's name in the program's form, `function` its
    text, `place` its file and line.
    """

    method: str
    owner: type
    change: Change
    file: str
    function: Callable[..., Any] = field(compare=False, repr=False)

    @property
    def _where(self) -> str:
        own = self.method.partition("_of_")[0] if f"_of_{self.owner.__name__}" in self.method else self.method
        return f"{self.owner.__name__}.{own}"

    @property
    def place(self) -> str:
        """Return the class, the method and the line of the change."""
        return f"{self._where}, line {self.change.line}"

    @property
    def name(self) -> str:
        """Return the name of the mutant: the change and its method. The line is left out, so that the name
        stays when the method moves in its file.
        """
        return f"{self._where}: {self.change}"

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of the method's text and of the change. It does not depend on the place of the
        method in its file.
        """
        where = f"{self.owner.__module__}.{self.owner.__qualname__}"
        source, node = function_of(self.function)
        first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        text = "".join(source.lines[first - 1 : node.end_lineno])
        edits = [
            (edit.span[0] - first, edit.span[1], edit.span[2] - first, edit.span[3], edit.text)
            for edit in self.change.edits
        ]
        return hashlib.sha256(repr((where, self.method, text, edits)).encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.place}: {self.change}"

    def of(self, program: Program) -> Program:
        """Return the program with the change of this mutant applied.

        Raises:
            SpecError: the changed text is no specification.
        """
        declared = next(item for item in program.declaration.methods if item.name == self.method)
        assert isinstance(declared.function, FunctionType)
        return program.with_stand_in(_stand_in(declared.function, declared.owner, self.change))


@dataclass(frozen=True)
class LeftOut:
    """Variant that is switched the other way: an active repair is switched off, with the repairs that build
    on it, or an inactive planted fault is switched on.
    """

    variant: str
    planted: bool = False

    @staticmethod
    def of_program(program: Program) -> tuple[LeftOut, ...]:
        """Return a `LeftOut` for each active repair, and for each inactive planted fault that the program
        offers.
        """
        constants = program.constants
        repairs = (item.name for item in program.declaration.constants if item.repair is not None)
        faults = (note_of(item, Mutation).name for item in offered(program.spec).mutations)
        return (
            *(LeftOut(name) for name in repairs if constants[name]),
            *(LeftOut(name, planted=True) for name in faults if not constants[name]),
        )

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of the variant's name and of whether the mutant switches it on or off."""
        return hashlib.sha256(f"{'with' if self.planted else 'without'} {self.variant}".encode()).hexdigest()

    @property
    def name(self) -> str:
        """Name of the mutant: the switched variant, with its new value."""
        return str(self)

    def __str__(self) -> str:
        return f"{'fault planted' if self.planted else 'repair left out'}: `{self.variant}`"

    def of(self, program: Program) -> Program:
        """Return the program with the variant switched.

        Raises:
            SpecError: the resulting text is no specification.
        """
        repairs = {item.name for item in program.declaration.constants if item.repair is not None}
        others = {name: value for name, value in program.constants.items() if name not in repairs}
        there = [name for name in repairs if program.constants[name]]
        left = () if self.planted else (self.variant,)
        planted = {self.variant: True} if self.planted else {}
        return bind(program.spec, repairs=there, without=left, **(others | planted))


def mutants_of(program: Program, is_text: Callable[[type], bool]) -> tuple[Mutant, ...]:
    """Return all mutants of the program, in the order of its text; `is_text` says whether the methods of a
    class are the protocol's, and not those of a judge or a bound.
    """
    found: list[Mutant] = []
    for declared in _own_methods(program):
        if is_text(declared.owner):
            try:
                source, node = function_of(declared.function)
            except SpecError:
                continue
            for change in changes_of(node, _context(program, declared)):
                found.append(Mutant(declared.name, declared.owner, change, source.file, declared.function))
    return tuple(found)


def reached(part: object, module: ir.Module, without: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return the names of the helpers that a part of the program calls, directly or through other helpers.
    Calls of helpers in `without`, and through them, do not count.
    """
    helpers = {item.name: item for item in (*module.functions, *module.procedures)}
    names: set[str] = set()
    todo: list[object] = [part]
    while todo:
        for name in _called(todo.pop()):
            if name not in without and name not in names:
                names.add(name)
                todo.append(helpers[name])
    return frozenset(names)


def _called(part: object) -> frozenset[str]:
    """Return the names of the helpers that a part of the form calls directly; the result for a definition is
    cached.
    """
    if isinstance(part, tuple):
        return frozenset[str]().union(*map(_called, part))
    known = _calls.get(id(part))
    if known is None:
        found = (node for node in nodes(part) if isinstance(node, ir.Call | ir.Perform))
        names = frozenset(node.function if isinstance(node, ir.Call) else node.procedure for node in found)
        if not isinstance(part, ir.Definition):
            return names
        if len(_calls) == MOST_DEFINITIONS:
            _calls.clear()
        known = _calls[id(part)] = part, names
    return known[1]


_calls: dict[int, tuple[ir.Definition, frozenset[str]]] = {}
"""Names of the helpers that recent definitions call, by the identity (`id`) of the definition."""


def caused(
    definition: ir.Definition, module: ir.Module, without: frozenset[str] = frozenset()
) -> frozenset[str]:
    """Return the names of the helpers that a definition calls and of the handlers of the events that it
    emits, directly or through other helpers and handlers. Those in `without`, and what only they reach, do
    not count.
    """
    definitions = {item.name: item for item in (*module.functions, *module.procedures, *module.handlers)}
    found: set[str] = set()
    todo: list[ir.Definition] = [definition]
    while todo:
        body = todo.pop().body
        events = _events(body)
        handlers = {item.name for item in module.handlers if item.event in events}
        names = reached(body, module, without) | handlers
        todo.extend(definitions[name] for name in names - found)
        found |= names
    return frozenset(found)


def _events(body: tuple[ir.Statement, ...]) -> set[str]:
    """Return the record types that are emitted in a body."""
    kinds = [node.event.type for node in nodes(body) if isinstance(node, ir.Emit)]
    records = (record for kind in kinds for record in getattr(kind, "records", (kind,)))
    return {getattr(record, "name", "") for record in records}


def _own_methods(program: Program) -> Iterator[MethodDeclaration]:
    """Yield the methods that steps of the algorithm, and its initial states, reach by calls and events.
    Guards on the actor and constraints are left out: they come before a step and are no part of it.
    """
    module, declaration = program.module, program.declaration
    before = frozenset(item.name for item in declaration.marked("guard", "constraint"))
    steps = [item for item in (*module.initials, *module.actions) if not item.fault]
    names = {item.name for item in steps}.union(*(caused(item, module, before) for item in steps))
    yield from (item for item in declaration.methods if item.name in names)


def _context(program: Program, declared: MethodDeclaration) -> Context:
    is_action = declared.mark is not None and declared.mark.kind == "action"
    sets = {item.name: item.within for item in declared.parameters if item.within}
    names: dict[str, object] = {}
    fields: dict[str, dict[str, str]] = {}
    for parameter in declared.parameters:
        if parameter.within and isinstance(parameter.type, types.Record):
            fields[parameter.name] = {
                name: text
                for name, kind in parameter.type.fields
                if name != "to" and (text := _least(program, kind, names)) is not None
            }
    return Context(is_action, sets, fields, names)


def _least(program: Program, kind: types.Type, names: dict[str, object]) -> str | None:
    """Return the text of the first value of a type, or None if it cannot be written; the names in it are
    added to `names`.
    """
    match kind:
        case types.Optional():
            return "None"
        case types.Bool() | types.Int():
            return repr(program.domain(kind).value(0))
        case types.Enumeration(name=name, members=members, python=python) if python is not None:
            names[name] = python
            return f"{name}.{members[0]}"
        case types.IndexType(name=name, symmetric=False, python=python):
            names[name] = python
            return f"{name}(0)"
    return None


# The changed text -------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def _stand_in(function: FunctionType, owner: type, change: Change) -> type:
    """Return the class with the changed text; recent classes are cached, for programs that are asked one
    after the other.
    """
    source, node = function_of(function)
    file = f"<{source.file}, changed {next(_numbers)}>"
    lines = _changed(node, source.lines, change.edits)
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    text = ["\n"] * (first - 2) + [f"class {owner.__name__}:\n"] + lines
    linecache.cache[file] = (sum(map(len, text)), None, text, file)
    names = {**function.__globals__, **change.names}
    made = _executed("".join(text), file, names, owner)
    return stand_in(owner, function.__name__, made)


def _changed(node: ast.FunctionDef, lines: tuple[str, ...], edits: tuple[Edit, ...]) -> list[str]:
    """Return the lines of a method with the edits made. The number of lines is the same, but for lines that
    an edit adds.
    """
    first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
    last = node.end_lineno or node.lineno
    starts = [0, *itertools.accumulate(len(line.encode()) for line in lines[first - 1 : last])]
    text = "".join(lines[first - 1 : last]).encode()
    for edit in sorted(edits, key=lambda item: item.span, reverse=True):
        from_line, from_byte, to_line, to_byte = edit.span
        begin, end = starts[from_line - first] + from_byte, starts[to_line - first] + to_byte
        text = text[:begin] + edit.text.encode() + text[end:]
    return text.decode().splitlines(keepends=True)


def _executed(text: str, file: str, names: Mapping[str, object], owner: type) -> Any:
    """Return the function that the text of a class with one method defines; `super()` in it means that of
    `owner`.
    """
    (body,) = ast.parse(text).body
    assert isinstance(body, ast.ClassDef)
    (method,) = body.body
    assert isinstance(method, ast.FunctionDef)
    around = ast.parse("def made(__class__): return None").body[0]
    assert isinstance(around, ast.FunctionDef)
    given = ast.Return(ast.Name(method.name, ast.Load()))
    around.body = [method, given]
    whole = ast.fix_missing_locations(ast.Module([around], []))
    code = compile(whole, file, "exec", __future__.annotations.compiler_flag, dont_inherit=True)
    space: dict[str, Any] = dict(names)
    exec(code, space)  # noqa: S102 - the specification's own text with a place of it changed
    return space["made"](owner)
