"""Monitor: a service reads a log of any length; its handlers run as Python that is made from the intermediate
form.

1. The same intermediate form that judges models is translated, node by node: there is one definition.
2. A map of the state is a table of the written entries; elsewhere the initial value stands. A table is
   written in place, so the cost of an event does not grow with the log.
3. A map as a value is whole and is never written: a table that is read as a value is copied, and so is a
   value that becomes a table.
4. Declared bounds are for explorations: no value is checked here. `Reference.session` checks them, and tests
   compare the monitor with it.

This file knows no service, no property and no log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from antiphon.spec.lang import Program, Spec, ir, program, types
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.lang.walk import nodes


class Monitor:
    """Monitor: a service with the events that it has received so far. The interface is that of `Session`."""

    def __init__(self, service: type[Spec], **sizes: int) -> None:
        self._text = _text(service)
        constants = {item.name: item.default for item in self._text.module.constants} | sizes
        self._refused: list[tuple[int, object]] = []
        self._told: set[int] = set()
        self._handlers, self._predicates = self._text.bind(constants, self._refuse)

    def feed(self, event: object) -> tuple[Refusal, ...]:
        """Run the handlers of `event`, and return the refusals in order. Only the first refusal of each guard
        in the log has the clashing event.
        """
        for handle in self._handlers.get(type(event), ()):
            handle(event)
        if not self._refused:
            return ()
        refusals = tuple(self._refusal(number, event, clash) for number, clash in self._refused)
        self._refused.clear()
        return refusals

    def _refuse(self, number: int, clash: Callable[[], object]) -> None:
        """Record that a guard failed. The event with which it clashes may take a walk along the log to find,
        so it is sought once for each guard.
        """
        self._refused.append((number, None if number in self._told else clash()))
        self._told.add(number)

    def _refusal(self, number: int, event: object, clash: object) -> Refusal:
        broken = self._text.expected[number]
        return Refusal(broken.property, broken.text, broken.at, event, clash)

    def holds(self, predicate: str) -> bool:
        """Return True if the predicate is true after the events received so far."""
        return next(iter(self.failing(predicate)), None) is None

    def failing(self, predicate: str) -> Iterator[Mapping[str, Any]]:
        """Yield the values for which a predicate of the form `all(...)` is false, by the names that it binds,
        in domain order. For a false predicate of another form yield one empty mapping.
        """
        return self._predicates[predicate]()


Handlers = dict[type, tuple[Callable[[object], None], ...]]
Refuse = Callable[[int, Callable[[], object]], None]
Predicates = dict[str, Callable[[], Iterator[Mapping[str, Any]]]]


def table(depth: int) -> dict[Any, Any]:
    """Return a new empty map whose values are maps, `depth` levels deep."""
    if depth == 1:
        return {}
    return defaultdict(dict) if depth == 2 else defaultdict(lambda: table(depth - 1))


def written(value: Mapping[Any, Any], depth: int) -> dict[Any, Any]:
    """Return a map's value as a table that can be written."""
    made = table(depth)
    made.update(value if depth == 1 else {key: written(item, depth - 1) for key, item in value.items()})
    return made


def in_order(found: Iterable[Any]) -> list[Any]:
    """Return the elements of a set as a list in domain order."""
    return sorted(found, key=lambda item: getattr(item, "index", item))


def _text(service: type[Spec]) -> _Text:
    if service not in _TEXTS:
        _TEXTS[service] = _Text(program(service))
    return _TEXTS[service]


_TEXTS: dict[type, _Text] = {}


class _Text:
    """Python text of a service; `expected` are the guards of its properties by number."""

    def __init__(self, bound: Program) -> None:
        self.module = bound.module
        self.expected: list[ir.Expect] = []
        self._program = bound
        self._domains: dict[types.Type, str] = {}
        self._objects: dict[str, object] = {}
        self._depths = {item.name: _depth(item.type) for item in self.module.variables}
        self._code = self._compiled()

    def bind(self, constants: Mapping[str, Any], refuse: Refuse) -> tuple[Handlers, Predicates]:
        """Return the handlers by event and the predicates by name; they share a state of their own."""
        domains = {name: _values(type, constants) for type, name in self._domains.items()}
        names = {"table": table, "written": written, "in_order": in_order, "refuse": refuse}
        bound = {f"c_{name}": value for name, value in constants.items()}
        scope = {**names, **self._objects, **domains, **bound}
        exec(self._code, scope)  # noqa: S102
        handlers: defaultdict[type, tuple[Any, ...]] = defaultdict(tuple)
        for item in self.module.handlers:
            (parameter,) = item.parameters
            assert isinstance(parameter.type, types.Record)
            handlers[parameter.type.python] += (scope[f"f_{item.name}"],)
        return dict(handlers), {item.name: scope[f"p_{item.name}"] for item in self.module.predicates}

    def _compiled(self) -> CodeType:
        module = self.module
        roots = (*module.handlers, *module.predicates)
        called = {
            node.function if isinstance(node, ir.Call) else node.procedure
            for node in nodes(roots, module)
            if isinstance(node, ir.Call | ir.Perform)
        }
        lines = [line for item in module.variables for line in self._variable(item)]
        for item in (*module.functions, *module.procedures):
            if item.name in called:
                lines += self._definition(item)
        for item in module.handlers:
            lines += self._definition(item)
        for predicate in module.predicates:
            lines += self._predicate(predicate)
        return compile("\n".join(lines), f"<{module.name} as a monitor>", "exec")

    # Definitions --------------------------------------------------------------------------------------------

    def _variable(self, item: ir.Variable) -> Iterator[str]:
        """Yield the lines that make a state variable: a table with its initial value, or a value."""
        value = item.initial
        for _ in range(self._depths[item.name]):
            if not isinstance(value, ir.Everywhere):
                raise _unsupported(item, "a map that does not begin with one value everywhere")
            value = value.value
        if self._depths[item.name]:
            yield f"i_{item.name} = {self._value(value)}"
            yield f"s_{item.name} = table({self._depths[item.name]})"
        else:
            yield f"s_{item.name} = {self._value(value)}"

    def _definition(self, item: ir.Definition) -> Iterator[str]:
        yield f"def f_{item.name}({', '.join(parameter.name + '_' for parameter in item.parameters)}):"
        yield from self._globals(item.body)
        yield from _indented(self._body(item.body))

    def _globals(self, body: tuple[ir.Statement, ...]) -> Iterator[str]:
        whole = {node.variable for node in nodes(body) if isinstance(node, ir.Assign) and not node.keys}
        if whole:
            yield f"    global {', '.join(f's_{name}' for name in sorted(whole))}"

    def _predicate(self, item: ir.Predicate) -> Iterator[str]:
        """Yield the lines of a Python function that yields the values for which the predicate is false."""
        yield f"def p_{item.name}():"
        match item.body:
            case (ir.Return(value=ir.Quantify(quantifier=ir.Quantifier.ALL) as every),):
                indent = "    "
                for binder in every.binders:
                    yield f"{indent}for {binder.name}_ in {self._source(binder, ordered=True)}:"
                    indent += "    "
                    if binder.condition is not None:
                        yield f"{indent}if {self._value(binder.condition)}:"
                        indent += "    "
                yield f"{indent}if not {self._value(every.body)}:"
                named = ", ".join(f"{binder.name!r}: {binder.name}_" for binder in every.binders)
                yield f"{indent}    yield {{{named}}}"
            case _:
                yield "    def said():"
                yield from _indented(_indented(self._body(item.body)))
                yield "    if not said():"
                yield "        yield {}"

    # Statements ---------------------------------------------------------------------------------------------

    def _body(self, body: tuple[ir.Statement, ...]) -> list[str]:
        return [line for item in body for line in self._statement(item)] or ["pass"]

    def _statement(self, item: ir.Statement) -> Iterator[str]:
        match item:
            case ir.Assign():
                yield self._assign(item)
            case ir.Let(name=name, value=value):
                yield f"{name}_ = {self._value(value)}"
            case ir.When(condition=condition, then=then, otherwise=otherwise):
                yield f"if {self._value(condition)}:"
                yield from _indented(self._body(then))
                if otherwise:
                    yield "else:"
                    yield from _indented(self._body(otherwise))
            case ir.Each(binder=binder, body=body):
                yield f"for {binder.name}_ in {self._source(binder, ordered=True)}:"
                inside = self._body(body)
                if binder.condition is not None:
                    inside = [f"if {self._value(binder.condition)}:", *_indented(inside)]
                yield from _indented(inside)
            case ir.Expect(condition=condition, clash=clash):
                yield f"if not {self._value(condition)}:"
                clashing = "None" if clash is None else self._value(clash)
                yield f"    refuse({len(self.expected)}, lambda: {clashing})"
                self.expected.append(item)
            case ir.Perform(procedure=name, arguments=arguments):
                yield f"f_{name}({self._values(arguments)})"
            case ir.Return(value=value):
                yield f"return {'' if value is None else self._value(value)}"
            case _:
                raise _unsupported(item, type(item).__name__)

    def _assign(self, item: ir.Assign) -> str:
        left = f"s_{item.variable}" + "".join(f"[{self._value(key)}]" for key in item.keys)
        rest = self._depths[item.variable] - len(item.keys)
        value = self._value(item.value)
        return f"{left} = {f'written({value}, {rest})' if rest else value}"

    # Expressions --------------------------------------------------------------------------------------------

    def _values(self, items: Iterable[ir.Expression]) -> str:
        return "".join(f"{self._value(item)}, " for item in items)

    def _value(self, item: ir.Expression) -> str:
        match item:
            case ir.Literal(value=value):
                return repr(value) if value is None or isinstance(value, bool | int) else self._object(value)
            case ir.Constant(name=name):
                return f"c_{name}"
            case ir.Name(name=name):
                return f"{name}_"
            case ir.Read() | ir.Lookup():
                return self._read(item)
            case ir.Field(record=record, name=name):
                return f"{self._value(record)}.{name}"
            case ir.IndexNumber(index=index):
                return f"{self._value(index)}.index"
            case ir.Present(value=value) | ir.Budget(condition=value):
                return self._value(value)
            case ir.Member(item=element, collection=collection):
                return f"({self._value(element)} in {self._value(collection)})"
            case ir.Call(function=name, arguments=arguments):
                return f"f_{name}({self._values(arguments)})"
            case _:
                return self._joined(item)

    def _joined(self, item: ir.Expression) -> str:
        """Return the text of an expression that combines values by an operator."""
        match item:
            case ir.Not(operand=operand):
                return f"(not {self._value(operand)})"
            case ir.And(operands=operands):
                return f"({' and '.join(map(self._value, operands))})"
            case ir.Or(operands=operands):
                return f"({' or '.join(map(self._value, operands))})"
            case ir.Compare() | ir.Arithmetic() | ir.SetBinary():
                return f"({self._value(item.left)} {item.operator.value} {self._value(item.right)})"
            case ir.Choose(condition=condition, then=then, otherwise=otherwise):
                chosen = self._value(condition)
                return f"({self._value(then)} if {chosen} else {self._value(otherwise)})"
            case _:
                return self._made(item)

    def _made(self, item: ir.Expression) -> str:
        """Return the text of an expression that constructs a value, or ranges over values."""
        match item:
            case ir.SetLiteral(items=items):
                return f"frozenset(({self._values(items)}))"
            case ir.MakeSequence(items=items):
                return f"({self._values(items)})"
            case ir.Size(collection=collection):
                return f"len({self._value(collection)})"
            case ir.MakeRecord(arguments=arguments):
                assert isinstance(item.type, types.Record)
                return f"{self._object(item.type.python)}({self._values(arguments)})"
            case ir.MakeIndex(number=number):
                assert isinstance(item.type, types.IndexType)
                return f"{self._object(item.type.python)}({self._value(number)})"
            case ir.Gather(binders=binders, body=body):
                return f"frozenset({self._ranging(body, binders)})"
            case ir.Quantify(quantifier=quantifier, binders=binders, body=body):
                return f"{quantifier.value}({self._ranging(body, binders)})"
            case ir.Reduce(reduction=reduction, binders=binders, body=body, default=default):
                least = "" if default is None else f", default={self._value(default)}"
                return f"{reduction.value}(({self._ranging(body, binders)}){least})"
            case ir.First(binders=binders, body=body, default=default):
                other = "" if default is None else f", {self._value(default)}"
                return f"next(({self._ranging(body, binders, ordered=True)}){other})"
            case ir.Everywhere(value=value):
                assert isinstance(item.type, types.MapOf)
                return f"dict.fromkeys({self._domain(item.type.key)}, {self._value(value)})"
            case ir.MakeMap(binder=binder, body=body):
                return f"{{{binder.name}_: {self._value(body)} for {self._binder(binder)}}}"
            case ir.Update(map=old, keys=keys, values=values):
                changes = zip(map(self._value, keys), map(self._value, values), strict=True)
                return f"{{**{self._value(old)}, {', '.join(f'{key}: {value}' for key, value in changes)}}}"
            case _:
                raise _unsupported(item, type(item).__name__)

    def _read(self, item: ir.Read | ir.Lookup) -> str:
        """Return the text of a variable, of an entry of a table, or of a part of a table read as a value."""
        keys: list[ir.Expression] = []
        root: ir.Expression = item
        while isinstance(root, ir.Lookup):
            keys.insert(0, root.key)
            root = root.map
        if not isinstance(root, ir.Read):
            return self._value(root) + "".join(f"[{self._value(key)}]" for key in keys)
        depth, name = self._depths[root.variable], root.variable
        if not depth:
            return f"s_{name}" + "".join(f"[{self._value(key)}]" for key in keys)
        inner = f"s_{name}" + "".join(f"[{self._value(key)}]" for key in keys[: depth - 1])
        if len(keys) < depth:
            return self._copied(inner, item.type, name, 0)
        rest = "".join(f"[{self._value(key)}]" for key in keys[depth:])
        return f"{inner}.get({self._value(keys[depth - 1])}, i_{name}){rest}"

    def _copied(self, place: str, type: types.Type, name: str, level: int) -> str:
        """Return the text that copies a table to a value."""
        assert isinstance(type, types.MapOf)
        key = f"k{level}"
        if isinstance(type.value, types.MapOf):
            item = self._copied(f"{place}[{key}]", type.value, name, level + 1)
        else:
            item = f"{place}.get({key}, i_{name})"
        return f"{{{key}: {item} for {key} in {self._domain(type.key)}}}"

    # Binders ------------------------------------------------------------------------------------------------

    def _ranging(self, body: ir.Expression, binders: tuple[ir.Binder, ...], *, ordered: bool = False) -> str:
        loops = " ".join(f"for {self._binder(binder, ordered=ordered)}" for binder in binders)
        return f"{self._value(body)} {loops}"

    def _binder(self, binder: ir.Binder, *, ordered: bool = False) -> str:
        condition = "" if binder.condition is None else f" if {self._value(binder.condition)}"
        return f"{binder.name}_ in {self._source(binder, ordered=ordered)}{condition}"

    def _source(self, binder: ir.Binder, *, ordered: bool = False) -> str:
        if isinstance(binder.source, ir.Expression):
            value = self._value(binder.source)
            is_set = isinstance(binder.source.type, types.SetOf)
            return f"in_order({value})" if ordered and is_set else value
        if isinstance(binder.source, types.Int):
            return self._between(binder, self._domain(binder.source))
        return self._domain(binder.source)

    def _between(self, binder: ir.Binder, domain: str) -> str:
        """Return the text of the range of integers that can satisfy the comparisons in the binder's
        condition.
        """
        every = binder.condition.operands if isinstance(binder.condition, ir.And) else (binder.condition,)
        low, high = [f"{domain}.start"], [f"{domain}.stop"]
        for part in every:
            match part:
                case ir.Compare(operator=operator, left=ir.Name(name=name), right=right) if (
                    name == binder.name
                ):
                    value = self._value(right)
                    if operator is ir.Comparison.GREATER:
                        low.append(f"{value} + 1")
                    elif operator is ir.Comparison.LESS:
                        high.append(value)
                    else:
                        break
                case _:
                    break
        least = low[0] if len(low) == 1 else f"max({', '.join(low)})"
        return domain if len(low) + len(high) == 2 else f"range({least}, min({', '.join(high)}, {high[0]}))"

    def _domain(self, type: types.Type) -> str:
        return self._domains.setdefault(type, f"d_{len(self._domains)}")

    def _object(self, value: object) -> str:
        name = f"o_{getattr(value, '__name__', len(self._objects))}"
        self._objects[name] = value
        return name


def _values(type: types.Type, constants: Mapping[str, Any]) -> Iterable[Any]:
    """Return the values of a type, in domain order."""
    domain = types.bind(type, constants)
    return range(domain.low, domain.high + 1) if isinstance(type, types.Int) else tuple(domain)


def _depth(type: types.Type) -> int:
    return 1 + _depth(type.value) if isinstance(type, types.MapOf) else 0


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _unsupported(item: ir.Node, what: str) -> SpecError:
    return SpecError(
        f"a service that reads logs cannot have this: {what}",
        item.at,
        "what handlers and promises of spec/services have, or another judge of logs",
    )
