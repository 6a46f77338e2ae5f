"""Explanation of a false predicate in a state: the deciding conjunct, its values, and its sides.

The text is split as CPython evaluates it: the first false operand of `and`, all operands of `or`, the first
values for which an `all` fails or a `not any` succeeds, and the body of a helper that is one `return`. A part
that cannot be split is shown with the values of its sides. CPython evaluates every part; nothing is parsed
that was not executed as it stands.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from antiphon.model.notation import compact
from antiphon.model.trace import Trace
from antiphon.spec.lang import Location, Program, SpecError, State, values
from antiphon.spec.lang.assignment import settled
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.source import Source, function_of

DEEPEST = 20
"""Largest depth of helpers that are split."""


@dataclass(frozen=True)
class Failure:
    """Part of a predicate that decides it: its text, its value (`True`, `False`), its place, the values of
    `names`, and the `sides` it compares.
    """

    text: str
    value: bool
    at: Location
    names: tuple[tuple[str, str], ...] = ()
    sides: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        bound = f" for {', '.join(f'{name}={value}' for name, value in self.names)}" if self.names else ""
        shown = f": {', '.join(f'{text} is {value}' for text, value in self.sides)}" if self.sides else ""
        return f"{self.text} is {'true' if self.value else 'false'}{bound}{shown} ({self.at})"


def why_false(program: Program, state: State, predicate: str) -> tuple[Failure, ...]:
    """Return the parts that make an invariant, a witness or an obligation false in `state`; empty when it is
    true there, or its text cannot be split.

    Raises:
        SpecError: the predicate cannot be evaluated in this state, or does not exist.
    """
    if program.reference.holds(state, predicate):
        return ()
    method = next(
        item for item in program.declaration.methods if item.mark is not None and item.mark.name == predicate
    )
    return tuple(_Reader(program, state).of_method(method, {}, value=False, depth=0))


def why_shown(trace: Trace) -> tuple[Failure, ...]:
    """Return the parts that make the invariant or obligation of a trace false in its last state; empty when
    it shows something else.
    """
    program = trace.program
    marked = [method.mark for method in program.declaration.marked("invariant", "obligation")]
    if trace.loop is not None or not any(mark is not None and mark.name == trace.shows for mark in marked):
        return ()
    try:
        return why_false(program, trace.states[-1], trace.shows)
    except SpecError:  # a part that CPython does not come to in this order; the verdict stands without it
        return ()


class _Reader:
    """Splitter of predicates in one state: it finds the parts that decide their values."""

    def __init__(self, program: Program, state: State) -> None:
        self.program = program
        self.methods = {item.name: item for item in program.declaration.methods}
        self.spec = program.reference._thaw(state)

    def of_method(
        self, method: MethodDeclaration, names: dict[str, Any], *, value: bool, depth: int
    ) -> Iterator[Failure]:
        """Yield the parts that make a method give `value` with these arguments; nothing if its body is more
        than one `return`.
        """
        source, node = function_of(method.function)
        body = [
            item
            for item in node.body
            if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        ]
        if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None or depth > DEEPEST:
            return
        text = _Text(
            self, source, method.function, node.args.args[0].arg if node.args.args else "self", depth
        )
        yield from text.why(body[0].value, names, value)


class _Text:
    """Source text of one method; `names` are its arguments, and the variables bound by its generators."""

    def __init__(
        self, reader: _Reader, source: Source, function: Callable[..., Any], own: str, depth: int
    ) -> None:
        self.reader, self.source, self.own, self.depth = reader, source, own, depth
        found = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self.globals = function.__globals__ | {
            name: cell.cell_contents for name, cell in found if name != "__class__"
        }

    def why(self, node: ast.expr, names: dict[str, Any], value: bool) -> Iterator[Failure]:
        """Yield the parts that give the expression this truth value."""
        match node:
            case ast.BoolOp(op=op, values=parts) if isinstance(op, ast.And) is not value:
                one = next((part for part in parts if self.truth(part, names) is value), None)
                if one is not None:
                    yield from self.why(one, names, value)
                    return
            case ast.BoolOp(values=parts):
                for part in parts:
                    yield from self.why(part, names, value)
                return
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self.why(operand, names, not value)
                return
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield from self.why(body if self.truth(test, names) else orelse, names, value)
                return
            case ast.Call(
                func=ast.Name(id=("all" | "any") as word), args=[ast.GeneratorExp() as generator]
            ) if (word == "any") is value:
                bound = next(
                    (
                        item
                        for item in self.bindings(generator, names)
                        if self.truth(generator.elt, item) is value
                    ),
                    None,
                )
                if bound is not None:
                    yield from self.why(generator.elt, bound, value)
                    return
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if (
                name == self.own and self.helper(node, attribute)
            ):
                found = list(self.inside(node, attribute, names, value))
                if found:
                    yield from found
                    return
        yield self.leaf(node, names, value)

    def helper(self, node: ast.Call, name: str) -> bool:
        """Return True if the expression calls a method of the specification with positional arguments
        only.
        """
        return name in self.reader.methods and not node.keywords

    def inside(self, node: ast.Call, name: str, names: dict[str, Any], value: bool) -> Iterator[Failure]:
        method = self.reader.methods[name]
        given = {
            parameter.name: self.evaluate(part, names)
            for parameter, part in zip(method.parameters, node.args, strict=True)
        }
        yield from self.reader.of_method(method, given, value=value, depth=self.depth + 1)

    def bindings(self, generator: ast.GeneratorExp, names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the bindings of the generator, in the order of Python."""
        return self._bind(generator.generators, names)

    def _bind(self, generators: list[ast.comprehension], names: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if not generators:
            yield names
            return
        first, *rest = generators
        for item in self.evaluate(first.iter, names):
            assert isinstance(first.target, ast.Name)
            bound = names | {first.target.id: item}
            if all(self.truth(test, bound) for test in first.ifs):
                yield from self._bind(rest, bound)

    def leaf(self, node: ast.expr, names: dict[str, Any], value: bool) -> Failure:
        """Return a part of a predicate that cannot be split, with its values."""
        sides: list[ast.expr] = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        shown = [
            (ast.unparse(side), compact(settled(self.evaluate(side, names))))
            for side in sides
            if not isinstance(side, ast.Constant)
        ]
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        bound = tuple((name, compact(item)) for name, item in names.items() if name in used)
        known = {name for name, _ in bound}
        text = " ".join(
            (ast.get_source_segment("".join(self.source.lines), node) or ast.unparse(node)).split()
        )
        return Failure(
            text,
            value,
            self.source.at(node),
            bound,
            tuple((side, said) for side, said in shown if side not in known),
        )

    def truth(self, node: ast.expr, names: dict[str, Any]) -> bool:
        """Evaluate a part of a predicate as a truth value."""
        return bool(self.evaluate(node, names))

    def evaluate(self, node: ast.expr, names: dict[str, Any]) -> Any:
        """Evaluate a part of a predicate by CPython."""
        code = compile(ast.Expression(node), self.source.file, "eval")
        values.enter(self.reader.program.reference)
        try:
            found = eval(code, self.globals | names | {self.own: self.reader.spec})  # noqa: S307 - a part of the specification, as CPython runs it
            return list(found) if isinstance(found, itertools.chain) or hasattr(found, "__next__") else found
        except SpecError:
            raise
        except Exception as error:
            raise SpecError(f"{type(error).__name__}: {error}", self.source.at(node)) from error
        finally:
            values.leave()
