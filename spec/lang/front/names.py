"""Names that a method binds: its parameters, and the names that it assigns, loops over or defines. A name
that only a comprehension binds is not among them.
"""

from __future__ import annotations

import ast
from functools import lru_cache


@lru_cache(maxsize=4096)
def assigned_names(function: ast.FunctionDef) -> frozenset[str]:
    """Return the names that are local to a function, its parameters included."""
    found = {
        argument.arg
        for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    }
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.id)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            pending.extend(part for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
            continue
        if not isinstance(node, ast.Lambda):
            pending.extend(ast.iter_child_nodes(node))
    return frozenset(found)
