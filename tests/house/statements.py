"""Statements of a Python text: imports, classes, functions and their docstrings are among them.

The expressions in them are left out: they are most of a tree.
"""

import ast
from collections.abc import Iterator

INSIDE = ("body", "orelse", "handlers", "finalbody", "cases")
"""Fields in which statements have statements."""


def statements(text: str) -> Iterator[ast.AST]:
    """Yield the module, and every statement, handler and case in it, in no particular order."""
    pending: list[ast.AST] = [ast.parse(text)]
    while pending:
        node = pending.pop()
        yield node
        for field in INSIDE:
            pending += getattr(node, field, ())
