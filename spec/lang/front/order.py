"""A loop over a domain without order is accepted when its result certainly does not depend on the order.

A loop is independent of order when each variable that its body writes is
1. written and read only at entries that the loop's own value selects (`self.m[p]`, `self.m[q][p]` in a loop
   over p), so that no two turns meet; or
2. only accumulated: `self.s |= e`, `-= e`, `&= e`, `self.n += e` with e not negative, `self.n = max(self.n,
   e)`; and not read otherwise; or
3. set to one value that no turn can change (`self.found = True`), and not read.
Events, `return` and everything else that an order could show are refused. Helpers are looked into. This file
reads the intermediate form.

A proof for every n takes all turns of a loop at once, over ordered domains too (`survey_of`). There events
are no reason to refuse: their handlers are looked into, and expectations must be as independent as writes.
And the elements of a set count as entries: `x in self.s[p]` and `self.s[p] |= {x}` in a loop over x meet in
no two turns.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.front.sorts import is_ordered, words
from antiphon.spec.lang.walk import fields_with_nodes

INSTEAD = (
    "declare the Index ordered=True if its order has a meaning, or write entries of the loop's own value, "
    "or accumulate with |= or +="
)


Place = tuple[int, ...]
"""Place of a value in keys: in `m[k][Cell(c, a)]`, (0,) is the place of `k`, and (1, 0) that of `c`. The
element of a set comes after the keys: in `x in s[k]`, (1,) is the place of `x`.
"""


class Texts(Protocol):
    """Definitions that the body of a loop may use."""

    @property
    def variables(self) -> Mapping[str, Any]:
        """Return the variables by name, each with its `type`."""

    @property
    def procedures(self) -> Mapping[str, ir.Definition]:
        """Return the procedures by name."""

    @property
    def read_function(self) -> Any:
        """Return the function that gives a value helper for its name and the place of a call."""


class Dependence(Enum):
    """Dependence of a value on the loop's own value within one turn."""

    NOTHING = 0  # the same throughout the loop
    TURN = 1  # on the loop's value or an inner loop's, somehow
    IDENTITY = 2  # it is the loop's value


@dataclass
class Access:
    """Use of a variable in the body of a loop: the places of the loop's own value in its keys, and how it is
    written, if it is.
    """

    variable: str
    selected: frozenset[Place]
    at: Location
    write: str = ""  # "" (a read), an operator of an accumulation, "same" or "value"
    said: Any = None  # for "same": keys and value


@dataclass
class Survey:
    """Facts about a loop: the uses of state variables in its body and in the helpers that the body calls, and
    how the local names depend on the loop's value. `handlers` of events are looked into; without them (None)
    events and expectations are refused.
    """

    world: Texts
    accesses: list[Access] = field(default_factory=list)
    names: dict[str, Dependence] = field(default_factory=dict)
    handlers: Sequence[ir.Handler] | None = None

    def inside(self) -> Survey:
        """Return the survey of a body with names of its own, which adds to the same accesses."""
        return Survey(self.world, self.accesses, handlers=self.handlers)


def check(loop: ir.Each, world: Texts) -> None:
    """Refuse a loop over a domain without order whose result could depend on the order.

    Raises:
        SpecError: the order could show; the place is that of the statement.
    """
    source = loop.binder.source
    if isinstance(source, types.Type):
        if is_ordered(source):
            return
    elif isinstance(source.type, types.SequenceOf):
        return
    survey_of(loop, world)


def survey_of(
    loop: ir.Each, world: Texts, handlers: Sequence[ir.Handler] | None = None
) -> tuple[Access, ...]:
    """Return the uses of variables by the turns of a loop, which do not depend on the order of the turns.

    Raises:
        SpecError: the order could show; the place is that of the statement.
    """
    source = loop.binder.source
    what = words(source) if isinstance(source, types.Type) else "a set"
    where = f"a loop over {what}" + (", which has none" if handlers is None else "")
    survey = Survey(world, handlers=handlers)
    survey.names[loop.binder.name] = Dependence.IDENTITY
    if loop.binder.condition is not None:
        _reads(survey, loop.binder.condition)
    _walk(survey, loop.body, what)
    for variable in dict.fromkeys(access.variable for access in survey.accesses if access.write):
        _judge(variable, [access for access in survey.accesses if access.variable == variable], where)
    return tuple(survey.accesses)


def _judge(variable: str, accesses: list[Access], where: str) -> None:
    shared = shared_places(accesses)
    writes = [access for access in accesses if access.write]
    if shared:
        return
    kinds = {access.write for access in writes}
    read = next((access for access in accesses if not access.write), None)
    one_kind = read is None and len(kinds) == 1 and kinds != {"value"}
    if one_kind and (kinds != {"same"} or all(access.said == writes[0].said for access in writes)):
        return
    culprit = next((access for access in writes if access.write in ("value", "same")), writes[0])
    raise SpecError(
        f"the result may depend on the order of {where}: self.{variable} is written here"
        + (f" and read at line {read.at.line}" if read is not None else ""),
        culprit.at,
        INSTEAD,
    )


def shared_places(accesses: Sequence[Access]) -> frozenset[Place]:
    """Return the places at which every one of some accesses has the loop's own value."""
    return frozenset.intersection(*(access.selected for access in accesses))


def _walk(survey: Survey, body: tuple[ir.Statement, ...], what: str) -> None:
    for statement in body:
        _statement(survey, statement, what)


def _statement(survey: Survey, statement: ir.Statement, what: str) -> None:
    match statement:
        case ir.Assign():
            _assign(survey, statement)
        case ir.Let(name=name, value=value):
            _reads(survey, value)
            survey.names[name] = _dependence(survey, value)
        case ir.When(condition=condition, then=then, otherwise=otherwise):
            _reads(survey, condition)
            _walk(survey, then, what)
            _walk(survey, otherwise, what)
        case ir.Each(binder=binder, body=body):
            _binder(survey, binder)
            _walk(survey, body, what)
        case ir.Require(condition=condition):
            _reads(survey, condition)
        case ir.Perform(procedure=name, arguments=arguments):
            _perform(survey, name, arguments, what)
        case ir.Emit(event=event) if survey.handlers is not None:
            _emit(survey, event, survey.handlers, what)
        case ir.Expect(condition=condition) if survey.handlers is not None:
            _reads(survey, condition)
        case ir.Emit() | ir.Expect():
            word = "emit" if isinstance(statement, ir.Emit) else "expect"
            raise SpecError(
                f"{word} in a loop over {what}, which has no order, though events have one",
                statement.at,
                INSTEAD,
            )
        case ir.Return():
            raise SpecError(
                f"return in a loop over {what}, which has no order: which value comes first?",
                statement.at,
                "any(... for ...), all(... for ...), or an ordered domain",
            )


def _perform(survey: Survey, name: str, arguments: tuple[ir.Expression, ...], what: str) -> None:
    for argument in arguments:
        _reads(survey, argument)
    procedure = survey.world.procedures[name]
    inner = survey.inside()
    for parameter, argument in zip(procedure.parameters, arguments, strict=True):
        inner.names[parameter.name] = _dependence(survey, argument)
    _walk(inner, _without_returns(procedure.body), what)


def _emit(survey: Survey, event: ir.Expression, handlers: Sequence[ir.Handler], what: str) -> None:
    """Look into the handlers of an event; a field of the event depends on the loop's value as its argument
    does.
    """
    _reads(survey, event)
    assert isinstance(event.type, types.Record)
    for handler in (item for item in handlers if item.event == event.type.name):
        inner, name = survey.inside(), handler.parameters[0].name
        inner.names[name] = _dependence(survey, event)
        if isinstance(event, ir.MakeRecord):
            for (part, _), argument in zip(event.type.fields, event.arguments, strict=True):
                inner.names[f"{name}.{part}"] = _dependence(survey, argument)
        _walk(inner, _without_returns(handler.body), what)


def _without_returns(body: tuple[ir.Statement, ...]) -> tuple[ir.Statement, ...]:
    """Return the body of a procedure without its `return`, which ends the procedure and not the loop."""
    found: list[ir.Statement] = []
    for statement in body:
        match statement:
            case ir.Return():
                continue
            case ir.When(then=then, otherwise=otherwise):
                found.append(
                    dataclasses.replace(
                        statement, then=_without_returns(then), otherwise=_without_returns(otherwise)
                    )
                )
            case ir.Each(body=inner):
                found.append(dataclasses.replace(statement, body=_without_returns(inner)))
            case _:
                found.append(statement)
    return tuple(found)


def _assign(survey: Survey, statement: ir.Assign) -> None:
    for key in statement.keys:
        _reads(survey, key)
    selected = _selected(survey, statement.keys)
    operator, rest = _accumulation(survey, statement)
    if operator:
        _reads(survey, rest)
        selected |= _elements(survey, statement, rest)
        survey.accesses.append(Access(statement.variable, selected, statement.at, operator))
        return
    _reads(survey, statement.value)
    same = all(_dependence(survey, item) is Dependence.NOTHING for item in (*statement.keys, statement.value))
    said = (statement.keys, statement.value)
    survey.accesses.append(
        Access(statement.variable, selected, statement.at, "same" if same else "value", said)
    )


def _elements(survey: Survey, statement: ir.Assign, operand: ir.Expression) -> frozenset[Place]:
    """Return the places of the loop's value in the one element that a statement adds to a set or removes."""
    value = statement.value
    if survey.handlers is None or not isinstance(value, ir.SetBinary):
        return frozenset()
    if value.operator is ir.SetOperation.INTERSECTION:
        return frozenset()
    match operand:
        case ir.SetLiteral(items=(item,)):
            return frozenset((len(statement.keys), *place) for place in _places(survey, item))
    return frozenset()


def _accumulation(survey: Survey, statement: ir.Assign) -> tuple[str, ir.Expression]:
    """Return the operator and the operand of `place = place operator operand`; "" as operator if the order of
    such statements could matter.
    """
    value = statement.value
    if isinstance(value, ir.SetBinary) and _is_place(statement, value.left):
        return value.operator.value, value.right
    counts = isinstance(value, ir.Arithmetic) and value.operator in (ir.Operation.ADD, ir.Operation.SUBTRACT)
    if (
        isinstance(value, ir.Arithmetic)
        and counts
        and _is_place(statement, value.left)
        and _not_negative(survey, value.right)
    ):
        return value.operator.value, value.right
    match value:
        case ir.Choose(
            condition=ir.Compare(operator=operator, left=left, right=right), then=then, otherwise=otherwise
        ) if left == otherwise and right == then and _is_place(statement, left):
            return f"keep {operator.value}", right
    return "", value


def _is_place(statement: ir.Assign, value: ir.Expression) -> bool:
    for key in reversed(statement.keys):
        if not isinstance(value, ir.Lookup) or value.key != key:
            return False
        value = value.map
    return isinstance(value, ir.Read) and value.variable == statement.variable


def _not_negative(survey: Survey, value: ir.Expression) -> bool:
    match value:
        case ir.Literal(value=int(number)):
            return number >= 0
        case ir.Size() | ir.IndexNumber():
            return True
        case ir.Choose(then=then, otherwise=otherwise):
            return _not_negative(survey, then) and _not_negative(survey, otherwise)
        case ir.Read(variable=name):
            declared = survey.world.variables[name].type
            return isinstance(declared, types.Int) and isinstance(declared.low, int) and declared.low >= 0
        case ir.Lookup(map=inner):
            return isinstance(inner.type, types.MapOf) and _bounded(inner.type.value)
        case ir.Reduce(reduction=ir.Reduction.SUM, body=body):
            return _not_negative(survey, body)
    return False


def _bounded(declared: types.Type) -> bool:
    return isinstance(declared, types.Int) and isinstance(declared.low, int) and declared.low >= 0


def _selected(survey: Survey, keys: tuple[ir.Expression, ...]) -> frozenset[Place]:
    return frozenset(
        (position, *place) for position, key in enumerate(keys) for place in _places(survey, key)
    )


def _places(survey: Survey, key: ir.Expression) -> Iterator[Place]:
    match key:
        case ir.Name(name=name) if survey.names.get(name) is Dependence.IDENTITY:
            yield ()
        case ir.Field(record=ir.Name(name=record), name=part) if (
            survey.names.get(f"{record}.{part}") is Dependence.IDENTITY
        ):
            yield ()
        case ir.Present(value=inner):
            yield from _places(survey, inner)
        case ir.MakeRecord(arguments=arguments):
            for position, argument in enumerate(arguments):
                yield from ((position, *place) for place in _places(survey, argument))


def _dependence(survey: Survey, value: ir.Expression) -> Dependence:
    match value:
        case ir.Name(name=name):
            return survey.names.get(name, Dependence.NOTHING)
        case ir.Field(record=ir.Name(name=record), name=part) if f"{record}.{part}" in survey.names:
            return survey.names[f"{record}.{part}"]
        case ir.Present(value=inner):
            return _dependence(survey, inner)
    used = {
        name for name in _names(value) if survey.names.get(name, Dependence.NOTHING) is not Dependence.NOTHING
    }
    return Dependence.TURN if used else Dependence.NOTHING


def _names(value: object) -> Iterator[str]:
    if isinstance(value, ir.Name):
        yield value.name
    for part in children(value):
        yield from _names(part)


def children(node: Any) -> list[Any]:
    """Return the nodes directly within a node of the intermediate form."""
    found: list[Any] = []
    for name in fields_with_nodes(type(node)):
        part = getattr(node, name)
        if type(part) is tuple:
            found += [one for one in part if isinstance(one, ir.Node)]
        elif isinstance(part, ir.Node):
            found.append(part)
    return found


def _binder(survey: Survey, binder: ir.Binder) -> None:
    if isinstance(binder.source, ir.Expression):
        _reads(survey, binder.source)
    survey.names[binder.name] = Dependence.TURN
    if binder.condition is not None:
        _reads(survey, binder.condition)


def _reads(survey: Survey, value: Any) -> None:
    """Record each read of the state in an expression, with the places of the loop's value in its keys."""
    if isinstance(value, ir.Lookup):
        inner, keys = _way(value)
        if isinstance(inner, ir.Read):
            for key in keys:
                _reads(survey, key)
            survey.accesses.append(Access(inner.variable, _selected(survey, keys), value.at))
            return
    elements = survey.handlers is not None and isinstance(value, ir.Member)
    if elements and isinstance(value.collection.type, types.SetOf):
        inner, keys = _way(value.collection)
        if isinstance(inner, ir.Read):
            for key in (*keys, value.item):
                _reads(survey, key)
            survey.accesses.append(Access(inner.variable, _selected(survey, (*keys, value.item)), value.at))
            return
    if isinstance(value, ir.Read):
        survey.accesses.append(Access(value.variable, frozenset(), value.at))
    if isinstance(value, ir.Binder):
        _binder(survey, value)
        return
    if isinstance(value, ir.Call):
        _called(survey, value)
    for part in children(value):
        _reads(survey, part)


def _way(value: ir.Expression) -> tuple[ir.Expression, tuple[ir.Expression, ...]]:
    """Return what is looked up in, and the keys, of `m[k][l]`; of anything else itself, and no keys."""
    keys: list[ir.Expression] = []
    while isinstance(value, ir.Lookup):
        keys.insert(0, value.key)
        value = value.map
    return value, tuple(keys)


def _called(survey: Survey, call: ir.Call) -> None:
    """Note the reads of a value helper that the loop calls: entry by entry, where the helper's parameters
    select entries.
    """
    inner = survey.inside()
    function = survey.world.read_function(call.function, call.at)
    for parameter, argument in zip(function.parameters, call.arguments, strict=True):
        inner.names[parameter.name] = _dependence(survey, argument)
    for statement in function.body:
        _read_statement(inner, statement)


def _read_statement(survey: Survey, statement: ir.Statement) -> None:
    match statement:
        case ir.Let(name=name, value=value):
            _reads(survey, value)
            survey.names[name] = _dependence(survey, value)
        case ir.When(condition=condition, then=then, otherwise=otherwise):
            _reads(survey, condition)
            for inner in (*then, *otherwise):
                _read_statement(survey, inner)
        case ir.Each(binder=binder, body=body):
            _binder(survey, binder)
            for inner in body:
                _read_statement(survey, inner)
        case ir.Return(value=value) if value is not None:
            _reads(survey, value)
