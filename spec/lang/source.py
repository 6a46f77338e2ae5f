"""Sources of specifications: the parsed text of a function or class, and the place of every node in it.

A file is parsed once for each content. Text comes from `linecache`, so that notebooks, documentation and
generated specifications, which register there, are read like files. This file knows Python's syntax and
nothing of the language.
"""

from __future__ import annotations

import ast
import linecache
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from antiphon.spec.lang.errors import Location, SpecError


@dataclass(frozen=True, eq=False)
class Source:
    """One parsed file."""

    file: str
    lines: tuple[str, ...]
    functions: dict[int, ast.FunctionDef] = field(default_factory=dict)
    """Function definitions by the line of their first decorator, or of `def`."""
    classes: dict[str, list[ast.ClassDef]] = field(default_factory=dict)
    """Class definitions by qualified name."""
    places: dict[int, tuple[ast.AST, Location]] = field(default_factory=dict, repr=False)
    """The places that were asked for, by the identity of the node."""

    def at(self, node: ast.AST) -> Location:
        """Return the place of a node; columns count characters from 1."""
        known = self.places.get(id(node))
        if known is None:
            known = self.places[id(node)] = node, self._at(node)
        return known[1]

    def _at(self, node: ast.AST) -> Location:
        line = getattr(node, "lineno", 0)
        offset = getattr(node, "col_offset", 0)
        if 0 < line <= len(self.lines) and not self.lines[line - 1].isascii():
            offset = len(self.lines[line - 1].encode()[:offset].decode(errors="replace"))
        return Location(self.file, line, offset + 1)


MOST_FILES = 256
"""Number of files that stay parsed: more than this package has specifications."""

_latest: dict[str, tuple[list[str], Source]] = {}
"""The latest source of each file, with the very list of lines that `linecache` had then."""


@lru_cache(maxsize=MOST_FILES)
def _parse(file: str, lines: tuple[str, ...]) -> Source:
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SpecError(
            f"the text of {file} is no longer Python: {error}",
            Location(file, getattr(error, "lineno", 0) or 0),
        ) from error
    source = Source(file, lines)
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, prefix = pending.pop()
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if isinstance(child, ast.FunctionDef):
                    source.functions[
                        child.decorator_list[0].lineno if child.decorator_list else child.lineno
                    ] = child
                inner = f"{prefix}{child.name}.<locals>."
            elif isinstance(child, ast.ClassDef):
                source.classes.setdefault(f"{prefix}{child.name}", []).append(child)
                inner = f"{prefix}{child.name}."
            pending.append((child, inner))
    return source


def source_of(file: str, names: dict[str, Any] | None = None) -> Source:
    """Return the parsed text of `file`; `names` are the globals of a module that came through an import hook.

    Raises:
        SpecError: the text is not available.
    """
    lines = linecache.getlines(file, names)
    known = _latest.get(file)
    if known is not None and known[0] is lines:
        return known[1]
    if not lines:
        raise SpecError(
            "the text of this specification is not available",
            Location(file, 0),
            instead="keep the class in a file, or register its text with linecache",
        )
    source = _parse(file, tuple(lines))
    if len(_latest) == MOST_FILES:
        _latest.clear()
    _latest[file] = lines, source
    return source


def function_of(function: Any) -> tuple[Source, ast.FunctionDef]:
    """Return the definition of a Python function and the file in which it is written.

    Raises:
        SpecError: the text is not available or is not what was compiled.
    """
    code = function.__code__
    source = source_of(code.co_filename, function.__globals__)
    node = source.functions.get(code.co_firstlineno)
    if node is None or node.name != code.co_name:
        raise SpecError(
            f"{function.__qualname__} is not a plain `def` in its file, or the file has changed since",
            Location(code.co_filename, code.co_firstlineno),
            instead="def name(self, ...) -> ...: in the class",
        )
    return source, node


def is_settled(cls: type) -> bool:
    """Return True if neither a class nor the names in its text can change during the process, because all of
    them are specifications of this package.

    Facts about such a class are cached for good. A user's class may stand in a notebook, where the next cell
    can change it.
    """
    own = __name__.removesuffix("lang.source")
    return all(
        part.__module__.startswith(own) or part.__module__ in ("builtins", "typing") for part in cls.__mro__
    )


@lru_cache(maxsize=512)
def class_of(cls: type) -> tuple[Source, ast.ClassDef] | None:
    """Return the definition of a class, or None if its text is not found; it is looked up by qualified name,
    and by the line where the class was made.
    """
    file, line = vars(cls).get("__antiphon_place__", ("<unknown>", 0))
    try:
        source = source_of(file, vars(sys.modules.get(cls.__module__, ast)))
    except SpecError:
        return None
    found = source.classes.get(cls.__qualname__, [])
    for node in found:
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        if first <= line <= (node.end_lineno or node.lineno):
            return source, node
    return (source, found[-1]) if found else None


def place_of(cls: type, name: str = "") -> Location:
    """Return the place of a class, or of the assignment to `name` in its body."""
    found = class_of(cls)
    if found is None:
        return Location(*vars(cls).get("__antiphon_place__", ("<unknown>", 0)))
    source, node = found
    for statement in node.body:
        targets = (
            statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        )
        if name and any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return source.at(statement)
        if name and isinstance(statement, ast.FunctionDef) and statement.name == name:
            return source.at(statement)
    return source.at(node)


def place_of_function(function: Any, parameter: str = "") -> Location:
    """Return the place of a function, or of one of its parameters."""
    try:
        source, node = function_of(function)
    except SpecError:
        return Location(function.__code__.co_filename, function.__code__.co_firstlineno)
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        if argument.arg == parameter:
            return source.at(argument)
    return source.at(node)


def written_twice(cls: type) -> tuple[str, Location] | None:
    """Return the first method or variable that the body of a class defines a second time, and where; None if
    there is none.
    """
    found = class_of(cls)
    if found is None:
        return None
    source, node = found
    seen: set[tuple[type, str]] = set()
    for statement in node.body:
        name = ""
        if isinstance(statement, ast.FunctionDef):
            changes = any(isinstance(item, ast.Attribute) for item in statement.decorator_list)  # x.setter
            name = "" if changes else statement.name
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
        if name and (type(statement), name) in seen:
            return name, source.at(statement)
        seen.add((type(statement), name))
    return None
