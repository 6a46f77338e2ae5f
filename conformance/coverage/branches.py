"""Recorder of the branches that running code takes, by probes in the code of functions that are loaded.

1. The text of a module is parsed, probes are put into it, and it is compiled. The functions of the loaded
   module get the code of the same functions with probes, and their own code back at the end. No module is
   loaded a second time, and line numbers stay.
2. A probe sets one byte. There are probes where a function begins, in both branches of `if` and of a
   conditional expression, in the body and at the end of `while` and `for`, in each `case` and `except`, for
   both values of each operand but the last of `and` and `or`, and of each condition of a comprehension.
3. Code that runs once when a module is loaded has no probes.

`sys.settrace` would call a function for each line: measured on the cores, that makes a run five times as
slow, and the probes a tenth slower (docs/coverage.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import NamedTuple

__all__ = ["Branch", "Source", "recording", "source_of"]

_HITS = "_antiphon_hits"
_SAW = "_antiphon_saw"


class Branch(NamedTuple):
    """Branch of a function: its line, the function's qualified name, and the case, as in `if: false`."""

    line: int
    function: str
    case: str


class Source(NamedTuple):
    """Text of a module with probes: its digest, its branches in the order of the probes, and its code."""

    digest: str
    branches: tuple[Branch, ...]
    code: CodeType


@cache
def source_of(file: str) -> Source:
    """Return the module in a file, with probes.

    Raises:
        OSError: the file cannot be read.
        SyntaxError: the file is no Python.
    """
    text = Path(file).read_bytes()
    tree = ast.parse(text, file)
    probes = _Probes()
    tree = ast.fix_missing_locations(probes.visit(tree))
    code = compile(tree, file, "exec", dont_inherit=True)
    return Source(blake2b(text, digest_size=8).hexdigest(), tuple(probes.branches), code)


@contextmanager
def recording(modules: Sequence[ModuleType]) -> Iterator[dict[str, bytearray]]:
    """Context in which the functions of these modules have probes.

    Yields:
        The hits of each module by its file: a byte for each of `source_of(file).branches`, 1 if it was taken.
    """
    hits: dict[str, bytearray] = {}
    before: list[tuple[FunctionType, CodeType]] = []
    try:
        for module in modules:
            file = module.__file__
            assert file is not None, f"{module.__name__} is in no file"
            source = source_of(file)
            hits[file] = taken = bytearray(len(source.branches))
            setattr(module, _HITS, taken)
            setattr(module, _SAW, _saw(taken))
            before += _exchange(module, source.code)
        yield hits
    finally:
        for function, code in before:
            function.__code__ = code
        for module in modules:
            for name in (_HITS, _SAW):
                vars(module).pop(name, None)


def _exchange(module: ModuleType, code: CodeType) -> Iterator[tuple[FunctionType, CodeType]]:
    """Give the functions of a module the code with probes; yield each with its former code."""
    probed = dict(_functions(code))
    for function in _loaded(module):
        old = function.__code__
        new = probed.get((old.co_qualname, old.co_firstlineno))
        if new is not None and new.co_freevars == old.co_freevars:
            function.__code__ = new
            yield function, old


def _loaded(module: ModuleType) -> Iterator[FunctionType]:
    """Yield the functions of a module and the methods of its classes, also below decorators."""
    left, looked_at = list(vars(module).values()), set[int]()
    while left:
        value = left.pop()
        if id(value) in looked_at:
            continue
        looked_at.add(id(value))
        if isinstance(value, FunctionType) and value.__globals__ is vars(module):
            yield value
        if isinstance(value, type) and value.__module__ == module.__name__:
            left += vars(value).values()
        elif isinstance(value, property | classmethod | staticmethod | cached_property | FunctionType):
            names = ("fget", "fset", "fdel", "func", "__func__", "__wrapped__")
            left += [part for name in names if (part := getattr(value, name, None)) is not None]
        elif hasattr(value, "__wrapped__"):
            left.append(value.__wrapped__)


def _functions(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield all functions in a code, by qualified name and first line; no lambda, of which one line may have
    several.
    """
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_name != "<lambda>":
                yield (constant.co_qualname, constant.co_firstlineno), constant
            yield from _functions(constant)


def _saw(hits: bytearray):  # type: ignore[no-untyped-def]
    """Return the function that marks a condition as true (`at`) or false (`at` + 1), and returns its
    value.
    """

    def saw(value: object, at: int) -> object:
        hits[at if value else at + 1] = 1
        return value

    return saw


class _Probes(ast.NodeTransformer):
    """Transformer that puts probes into the functions of a module, and lists their branches."""

    def __init__(self) -> None:
        self.branches: list[Branch] = []
        self._names: list[str] = []
        self._depth = 0

    # Scopes -------------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Put probes into the methods of a class."""
        self._names.append(node.name)
        self.generic_visit(node)
        self._names.pop()
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Put probes into a function."""
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Put probes into a coroutine."""
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._names.append(node.name)
        self._depth += 1
        probe = self._probe(node, "called")
        node.body = [changed for each in node.body for changed in self._all(each)]
        node.body.insert(1 if ast.get_docstring(node, clean=False) is not None else 0, probe)
        self._depth -= 1
        self._names.pop()
        return node

    def _all(self, node: ast.stmt) -> list[ast.stmt]:
        found = self.visit(node)
        return found if isinstance(found, list) else [found]

    # Statements ---------------------------------------------------------------------------------------------

    def visit_If(self, node: ast.If) -> ast.AST:
        """Put a probe into each branch of `if`."""
        return self._both(node, "if: true", "if: false")

    def visit_While(self, node: ast.While) -> ast.AST:
        """Put a probe into the body of `while`, and one at its end."""
        return self._both(node, "while: a turn", "while: the end")

    def visit_For(self, node: ast.For) -> ast.AST:
        """Put a probe into the body of `for`, and one at its end."""
        return self._both(node, "for: a turn", "for: the end")

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AST:
        """Put a probe into the body of `async for`, and one at its end."""
        return self._both(node, "for: a turn", "for: the end")

    def _both(self, node: ast.If | ast.While | ast.For | ast.AsyncFor, body: str, orelse: str) -> ast.AST:
        if self._depth:
            first = self._probe(node, body)
            endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
            second = None if endless else self._probe(node, orelse)
            self.generic_visit(node)
            node.body.insert(0, first)
            if second is not None:
                node.orelse.insert(0, second)
        else:
            self.generic_visit(node)
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Put a probe into each case of `match`, and one for no case."""
        if not self._depth:
            return self.generic_visit(node)
        probes = [self._probe(case.pattern, f"case {ast.unparse(case.pattern)}") for case in node.cases]
        last = node.cases[-1]
        every = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        other = None if every else self._probe(node, "match: no case")
        self.generic_visit(node)
        for case, probe in zip(node.cases, probes, strict=True):
            case.body.insert(0, probe)
        if other is not None:
            node.cases.append(ast.match_case(ast.MatchAs(), None, [other]))
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Put a probe into `except`."""
        if not self._depth:
            return self.generic_visit(node)
        probe = self._probe(node, "except")
        self.generic_visit(node)
        node.body.insert(0, probe)
        return node

    # Expressions --------------------------------------------------------------------------------------------

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Mark both values of the condition of a conditional expression."""
        wrap = self._condition(node.test, "if")
        self.generic_visit(node)
        node.test = wrap(node.test)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Mark both values of each operand but the last of `and` and `or`."""
        word = "and" if isinstance(node.op, ast.And) else "or"
        wraps = [self._condition(each, f"{word} after {ast.unparse(each)}") for each in node.values[:-1]]
        self.generic_visit(node)
        for at, wrap in enumerate(wraps):
            node.values[at] = wrap(node.values[at])
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Mark both values of each condition of a comprehension."""
        wraps = [self._condition(each, "if in a comprehension") for each in node.ifs]
        self.generic_visit(node)
        node.ifs = [wrap(each) for wrap, each in zip(wraps, node.ifs, strict=True)]
        return node

    def _condition(self, node: ast.expr, case: str):  # type: ignore[no-untyped-def]
        """Return the function that wraps an expression in the call that marks its value."""
        if not self._depth:
            return lambda changed: changed
        at = len(self.branches)
        self._add(node, f"{case}: true")
        self._add(node, f"{case}: false")

        def wrap(changed: ast.expr) -> ast.expr:
            call = ast.Call(ast.Name(_SAW, ast.Load()), [changed, ast.Constant(at)], [])
            return ast.copy_location(call, node)

        return wrap

    def _probe(self, node: ast.AST, case: str) -> ast.stmt:
        """Return the statement that marks a new branch."""
        at = len(self.branches)
        self._add(node, case)
        place = ast.Subscript(ast.Name(_HITS, ast.Load()), ast.Constant(at), ast.Store())
        probe = ast.copy_location(ast.Assign([place], ast.Constant(1)), node)
        probe.end_lineno = probe.lineno
        return probe

    def _add(self, node: ast.AST, case: str) -> None:
        self.branches.append(Branch(node.lineno, ".".join(self._names), case))  # type: ignore[attr-defined]
