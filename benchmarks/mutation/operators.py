"""Mutation operators over Python's syntax tree: a mutant is one small change of one expression or statement.

1. A mutant is text: the changed node is spliced into the source, so that everything else, comments and lines
   included, stands as it was, and whatever reads the file (an interpreter, the front end of the
   specification language) reads the mutant.
2. What cannot change behaviour is left alone: docstrings and other strings, annotations, assertions, and the
   arguments that only say how a class is stored.
3. This module knows nothing of tests, and nothing of the files that it is used on.

Source of the operators: DeMillo, Lipton and Sayward 1978; Offutt et al. 1996 (the sufficient set), for the
statements of Python.
"""

from __future__ import annotations

import ast
from copy import copy
from dataclasses import dataclass

__all__ = ["Mutant", "mutants"]

SHIFTED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
"""For each comparison its shifted boundary, where it has one, and its negation."""

SWAPPED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}

BUILTINS = {"min": "max", "max": "min", "any": "all", "all": "any"}

UNSWAPPED = frozenset({"isinstance", "issubclass", "min", "max"})
"""Functions whose arguments are not swapped: nothing would change, or nothing would run.

`min` of equals is the first, which matters to nobody who compares numbers.
"""

STORAGE = frozenset({"frozen", "slots", "gc", "kw_only", "eq", "order", "weakref", "dict"})
"""Arguments of a class that say how it is stored, not what its objects do."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file: the bytes from `start` to `end`, which say `original`, become `mutated`."""

    file: str
    line: int
    last_line: int
    column: int
    operator: str
    original: str
    mutated: str
    code: str
    """The line of code on which the change begins, stripped."""
    imported: bool
    """True if the code runs when the module is imported, so that no test touches its line."""
    start: int
    end: int

    @property
    def key(self) -> str:
        """The key that distinguishes it from every other mutant of the same source."""
        return f"{self.file}:{self.line}:{self.column} {self.operator}: {self.original} -> {self.mutated}"

    @property
    def lasting(self) -> str:
        """The part of the key that stays when other lines of the file change."""
        return f"{self.file} {self.code} {self.operator}: {self.original} -> {self.mutated}"

    def apply(self, source: str) -> str:
        """The source with this change."""
        text = source.encode()
        return (text[: self.start] + self.mutated.encode() + text[self.end :]).decode()


def mutants(file: str, source: str) -> list[Mutant]:
    """Every mutant of the file that Python compiles, in the order of the source.

    Two changes with the same result are one mutant.
    """
    walk = _Walk(file, source)
    walk.visit(ast.parse(source))
    found: dict[tuple[int, int, str], Mutant] = {}
    for mutant in sorted(walk.found, key=lambda mutant: (mutant.start, mutant.end)):
        if _compiles(mutant.apply(source)):
            found.setdefault((mutant.start, mutant.end, mutant.mutated), mutant)
    return list(found.values())


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


class _Walk(ast.NodeVisitor):
    """Visits what runs, and notes the changes of each node."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.found: list[Mutant] = []
        self._lines = source.encode().splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._functions = 0

    # What is visited.

    def visit_body(self, body: list[ast.stmt]) -> None:
        """The statements of a block, without its docstrings."""
        for statement in body:
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                self.visit(statement)

    def visit_Module(self, node: ast.Module) -> None:
        self.visit_body(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for keyword in node.keywords:
            if keyword.arg not in STORAGE:
                self.visit(keyword.value)
        self.visit_body(node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each)):
            self.visit(default)
        self._functions += 1
        self.visit_body(node.body)
        self._functions -= 1

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._functions += 1
        self.visit(node.body)
        self._functions -= 1

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned(node, node.target)
            self.visit(node.value)

    def visit_Assert(self, node: ast.Assert) -> None:
        """An assertion is a check itself; nothing that it says is changed."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text for people."""

    # Statements.

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node, node.targets[0])
        if not (isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__"):
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._change(node, "statement deleted", "pass")
        if type(node.op) in SWAPPED:
            changed = copy(node)
            changed.op = SWAPPED[type(node.op)]()
            self._change(node, "arithmetic swapped", ast.unparse(changed))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Yield | ast.YieldFrom):
            self._change(node, "statement deleted", "pass")
        self.generic_visit(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self._change(node, "statement deleted", "pass")

    def visit_Raise(self, node: ast.Raise) -> None:
        self._change(node, "statement deleted", "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._change(node, "statement deleted", "pass")
        elif not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._change(node.value, "return value replaced", "None")
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        if node.value is not None:
            self._change(node.value, "yielded value replaced", "None")
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self._change(node, "break and continue", "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self._change(node, "break and continue", "break")

    def visit_For(self, node: ast.For) -> None:
        self._change(node.iter, "loop without turns", "()")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._condition(node.test, "True", "False")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._condition(node.test, "False")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        first, last = node.body[0], node.body[-1]
        if not (len(node.body) == 1 and isinstance(first, ast.Raise) and first.exc is None):
            self._change(first, "handler raises on", "raise", until=last)
        self.visit_body(node.body)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self._condition(node.guard, "True", "False")
            self.visit(node.guard)
        self.visit_body(node.body)

    # Expressions.

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, op in enumerate(node.ops):
            for other in SHIFTED[type(op)]:
                changed = copy(node)
                changed.ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
                self._expression(node, "comparison shifted", changed)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        changed = copy(node)
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self._expression(node, "and and or swapped", changed)
        for left_out in range(len(node.values)):
            rest = [value for place, value in enumerate(node.values) if place != left_out]
            less = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
            self._expression(node, "operand left out", less)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
            self._expression(node, "negation dropped", node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Skip `|` between types in a module or a class."""
        types = not self._functions and isinstance(node.op, ast.BitOr)
        if type(node.op) in SWAPPED and not types and not (_is_text(node.left) or _is_text(node.right)):
            changed = copy(node)
            changed.op = SWAPPED[type(node.op)]()
            self._expression(node, "arithmetic swapped", changed)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test, "True", "False")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._condition(test, "True", "False")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool():
                self._change(node, "constant changed", repr(not node.value))
            case int():
                self._change(node, "constant off by one", repr(node.value + 1))
                if node.value > 0:
                    self._change(node, "constant off by one", repr(node.value - 1))
            case float():
                self._change(node, "constant changed", repr(node.value * 2 or 1.0))
            case bytes():
                self._change(node, "constant changed", repr(node.value[:-1] if node.value else b"?"))

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            self._change(node.func, "min and max, any and all", BUILTINS[node.func.id])
        fixed = isinstance(node.func, ast.Name) and node.func.id in UNSWAPPED
        for place in range(len(node.args) - 1):
            left, right = node.args[place], node.args[place + 1]
            alike = all(isinstance(each, ast.Name | ast.Attribute | ast.Subscript) for each in (left, right))
            if alike and not fixed and ast.dump(left) != ast.dump(right):
                changed = copy(node)
                changed.args = [*node.args[:place], right, left, *node.args[place + 2 :]]
                self._expression(node, "arguments swapped", changed)
        for place, keyword in enumerate(node.keywords):
            if keyword.arg not in STORAGE and keyword.arg is not None:
                changed = copy(node)
                changed.keywords = [*node.keywords[:place], *node.keywords[place + 1 :]]
                self._expression(node, "argument left out", changed)
        self.generic_visit(node)

    # How a change is noted.

    def _condition(self, test: ast.expr, *values: str) -> None:
        for value in values:
            self._change(test, "condition constant", value)

    def _assigned(self, node: ast.Assign | ast.AnnAssign, target: ast.expr) -> None:
        """An assignment to a name is not deleted: the name would be unknown, which any test sees."""
        if self._functions and isinstance(target, ast.Attribute | ast.Subscript):
            self._change(node, "statement deleted", "pass")

    def _expression(self, node: ast.expr, operator: str, changed: ast.expr) -> None:
        self._change(node, operator, f"({ast.unparse(changed)})")

    def _change(
        self,
        node: ast.expr | ast.stmt,
        operator: str,
        mutated: str,
        *,
        until: ast.stmt | None = None,
    ) -> None:
        last = until or node
        assert last.end_lineno is not None
        assert last.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[last.end_lineno - 1] + last.end_col_offset
        text = b"".join(self._lines)[start:end].decode()
        if text != mutated:
            self.found.append(
                Mutant(
                    file=self.file,
                    line=node.lineno,
                    last_line=last.end_lineno,
                    column=node.col_offset + 1,
                    operator=operator,
                    original=" ".join(text.split()),
                    mutated=mutated,
                    code=self._lines[node.lineno - 1].decode().strip(),
                    imported=not self._functions,
                    start=start,
                    end=end,
                )
            )
