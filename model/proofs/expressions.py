"""Translation of expressions of the intermediate form to values over formulas.

A check that could fail is collected with its conditions: the earlier operands of an `and`, the branch of a
choice, the value of a quantified variable. It becomes an obligation: the specification has no error.

This file knows nothing of statements or steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from antiphon.model.proofs.comparing import compared, number_of, ordered
from antiphon.model.proofs.formula import (
    FALSE,
    TRUE,
    App,
    Formula,
    Sort,
    Symbol,
    Term,
    Var,
    atom,
    conjunction,
    disjunction,
    exists,
    forall,
    implication,
    negation,
    variable,
)
from antiphon.model.proofs.frame import Check, Frame
from antiphon.model.proofs.sequences import (
    appended,
    everywhere,
    has_room,
    is_from_zero,
    is_inside,
    item_at,
    made_of,
    members,
    numbers,
    somewhere,
    without_first,
)
from antiphon.model.proofs.theory import Guess, Theory
from antiphon.model.proofs.values import (
    Boolean,
    Leaf,
    MapValue,
    Member,
    Outside,
    Place,
    RecordLeaf,
    Scalar,
    SequenceValue,
    SetValue,
    Sorts,
    Value,
    as_term,
    at_most,
    beginning,
    chosen,
    chosen_of,
    less,
)
from antiphon.spec.lang import ir, types
from antiphon.spec.lang.errors import Location

Caller = Callable[[str, Sequence[Value], Frame, Location], Value]
"""Function that returns the value of a helper for its arguments."""


NOTHING = "no item"
"""Name of the value that stands where a sequence has no item."""

CHOSEN = " chosen "
"""Part of the name of a symbol that stands for what `next`, `min` or `max` chooses."""


@dataclass
class Evaluator:
    """Evaluator of expressions.

    Attributes:
        theory: what is known of the sorts.
        constants: the constants that have a value, by name.
        call: the function that evaluates a helper.
        checks: the conditions that must hold for the text to have no error.
        chosen: what is known of the members that `next`, `min` and `max` choose in a step; None where
            nothing may be chosen.
    """

    theory: Theory
    constants: dict[str, int | bool | str]
    call: Caller
    checks: list[Check] = field(default_factory=list)
    chosen: list[Formula] | None = None

    @property
    def sorts(self) -> Sorts:
        """Return the sorts of the proof."""
        return self.theory.sorts

    # Checks -------------------------------------------------------------------------------------------------

    def check(self, condition: Formula, frame: Frame, at: Location, what: str) -> None:
        """Record that `condition` must be true wherever the point of `frame` is reached; `what` names the
        error if it is not.
        """
        needed = implication(conjunction(*frame.path), condition)
        if needed is not TRUE:
            self.checks.append(Check(needed, at, what))

    @contextmanager
    def silently(self) -> Iterator[None]:
        """Context in which the checks that are recorded are dropped, because the same text is checked
        elsewhere.
        """
        count = len(self.checks)
        yield
        del self.checks[count:]

    @contextmanager
    def _bound(self, variables: Sequence[Var]) -> Iterator[None]:
        """Context in which the checks made inside are required for all values of the variables."""
        count = len(self.checks)
        yield
        for number in range(count, len(self.checks)):
            item = self.checks[number]
            self.checks[number] = replace(item, formula=forall(variables, item.formula))

    # Values -------------------------------------------------------------------------------------------------

    def formula(self, expression: ir.Expression, frame: Frame) -> Formula:
        """Return the truth of a boolean expression."""
        value = self.value(expression, frame)
        if not isinstance(value, Boolean):
            raise Outside(f"{type(expression).__name__} is no truth value here", expression.at)
        return value.formula

    def value(self, expression: ir.Expression, frame: Frame) -> Value:
        """Return the value of an expression.

        Raises:
            Outside: it leaves the fragment.
        """
        read = _READ.get(type(expression))
        if read is None:
            raise Outside(
                _WORDS.get(
                    type(expression), f"{type(expression).__name__} has no reading in first-order logic"
                ),
                expression.at,
                _INSTEAD.get(type(expression), ""),
            )
        return read(self, expression, frame)

    def _condition(self, expression: ir.Expression, frame: Frame) -> Value:
        match expression:
            case ir.Not(operand=operand):
                return Boolean(negation(self.formula(operand, frame)))
            case ir.And(operands=operands) | ir.Or(operands=operands):
                return Boolean(self._joined(operands, frame, every=isinstance(expression, ir.And)))
            case ir.Budget(condition=condition):
                return self.value(condition, frame)
            case ir.Compare():
                return Boolean(compared(self, expression, frame))
            case ir.Member(item=item, collection=ir.MakeSequence(items=items)):
                value, at = self.value(item, frame), expression.at
                same = [self.sorts.same(value, self.value(one, frame), at) for one in items]
                return Boolean(disjunction(*same))
            case ir.Member(item=item, collection=collection):
                return Boolean(self.collection(collection, frame).member(self.value(item, frame)))
            case ir.Quantify():
                return Boolean(self._quantify(expression, frame))
            case ir.IsRecord(value=inner, records=records):
                value = self.value(inner, frame)
                assert isinstance(value, Scalar)
                return Boolean(
                    disjunction(
                        *(
                            condition
                            for condition, leaf in value.cases
                            if isinstance(leaf, RecordLeaf) and leaf.name in records
                        )
                    )
                )
        raise Outside("no truth value", expression.at)

    def _reading(self, expression: ir.Expression, frame: Frame) -> Value:
        match expression:
            case ir.Literal(value=value, type=kind):
                return self._literal(value, kind, expression.at)
            case ir.Constant(name=name, type=kind):
                return self._constant(name, kind, expression.at)
            case ir.Name(name=name):
                return frame.locals[name]
            case ir.Read(variable=name):
                return frame.state[name]
            case ir.Before(value=inner):
                assert frame.before is not None
                return self.value(inner, replace(frame, state=frame.before))
        raise Outside("nothing to read", expression.at)

    def _part(self, expression: ir.Expression, frame: Frame) -> Value:
        at = expression.at
        match expression:
            case ir.Choose(condition=condition, then=then, otherwise=otherwise):
                test = self.formula(condition, frame)
                if test is TRUE or test is FALSE:
                    return self.value(then if test is TRUE else otherwise, frame)
                one = self.value(then, frame.under(test))
                other = self.value(otherwise, frame.under(negation(test)))
                return chosen(test, one, other, at)
            case ir.Lookup(map=map, key=key):
                return self._lookup(self.value(map, frame), key, frame, at)
            case ir.Field(record=record, name=name):
                return self._field(self.value(record, frame), name, frame, at)
            case ir.Present(value=inner, type=kind):
                return self._present(self.value(inner, frame), kind, frame, at)
            case ir.Call(function=function, arguments=arguments):
                return self.call(function, [self.value(item, frame) for item in arguments], frame, at)
        raise Outside("no part of a value", at)

    def _made(self, expression: ir.Expression, frame: Frame) -> Value:
        at = expression.at
        match expression:
            case ir.MakeRecord(arguments=arguments, type=types.Record() as record):
                parts = [
                    (name, self.stored(argument, of, frame))
                    for (name, of), argument in zip(record.fields, arguments, strict=True)
                ]
                return Scalar.of(RecordLeaf(record.name, tuple(parts)))
            case ir.MakeIndex(number=number, type=types.IndexType() as index):
                return self._index(number, index, frame, at)
            case ir.Everywhere(value=inner, type=types.MapOf() as kind):
                everywhere = self.stored(inner, kind.value, frame)
                return MapValue(kind, lambda _: everywhere)
            case ir.MakeMap(binder=binder, body=body, type=types.MapOf() as kind):
                return self._make_map(binder, body, kind, frame)
            case ir.Update():
                return self._update(expression, frame)
            case ir.IndexNumber(index=inner):
                return self._number(inner, frame)
            case ir.Arithmetic():
                return self._arithmetic(expression, frame)
        raise Outside("nothing that is made", at)

    def stored(self, expression: ir.Expression, kind: types.Type, frame: Frame) -> Value:
        """Return the value of an expression in the form of values of `kind`, where it is stored, and record
        the check that it is one.
        """
        return self.fitted(self.value(expression, frame), kind, frame, expression.at)

    def fitted(self, value: Value, kind: types.Type, frame: Frame, at: Location) -> Value:
        """Return a value in the form of a type, and record as a check that the value belongs to the type."""
        if isinstance(kind, types.SequenceOf):
            return self._fitted_sequence(value, kind, frame, at)
        self.check(self.sorts.belongs(value, kind, at), frame, at, "a value leaves its domain")
        if isinstance(kind, types.MapOf) and isinstance(value, MapValue):
            return MapValue(kind, lambda key: self.sorts.fitted(value.get(key), kind.value))
        return self.sorts.fitted(value, kind)

    def _fitted_sequence(
        self, value: Value, kind: types.SequenceOf, frame: Frame, at: Location
    ) -> SetValue | SequenceValue:
        if self.sorts.is_without_repetition(kind):
            return self._once([value], kind.of, frame, at)
        if not isinstance(value, SequenceValue):
            raise Outside(
                "a sequence of which only the members are known is stored as another one", at, _AS_LOG
            )
        if not is_from_zero(value) and kind not in self.sorts.shortened:
            raise Outside("a sequence without its first item is stored as one of another type", at, _AS_LOG)
        self.check(has_room(value, kind, self.theory, at), frame, at, "a value leaves its domain")
        return replace(value, most=kind.most)

    def _literal(self, value: object, kind: types.Type, at: Location) -> Value:
        if isinstance(value, bool):
            return Boolean(TRUE if value else FALSE)
        if value is None or isinstance(value, int):
            return Scalar.of(value)
        if isinstance(kind, types.Enumeration):
            return Scalar.of(Member(str(getattr(value, "name", value))))
        raise Outside(f"the literal {value!r}", at)

    def _constant(self, name: str, kind: types.Type, at: Location) -> Value:
        if name in self.sorts.every:
            return Scalar.of(App(Symbol(name, (), Sorts.INTEGERS)))
        return self._literal(self.constants[name], kind, at)

    def _joined(self, operands: Sequence[ir.Expression], frame: Frame, *, every: bool) -> Formula:
        found: list[Formula] = []
        for operand in operands:
            item = self.formula(operand, frame)
            found.append(item)
            if item is (FALSE if every else TRUE):
                break
            frame = frame.under(item if every else negation(item))
        return conjunction(*found) if every else disjunction(*found)

    def _field(self, value: Value, name: str, frame: Frame, at: Location) -> Value:
        assert isinstance(value, Scalar)
        cases: list[tuple[Formula, Value]] = []
        for condition, leaf in value.cases:
            found = leaf.field(name) if isinstance(leaf, RecordLeaf) else None
            if found is not None:
                cases.append((condition, found))
        self.check(
            disjunction(*(condition for condition, _ in cases)), frame, at, f"no record with {name!r}"
        )
        return _one_of(cases, at)

    def _present(self, value: Value, kind: types.Type, frame: Frame, at: Location) -> Value:
        if not isinstance(value, Scalar):
            return value
        names = [kind.name] if isinstance(kind, types.Record) else []
        names += [record.name for record in kind.records] if isinstance(kind, types.Union) else []
        cases = [
            (condition, leaf)
            for condition, leaf in value.cases
            if leaf is not None and (not isinstance(leaf, RecordLeaf) or not names or leaf.name in names)
        ]
        self.check(disjunction(*(c for c, _ in cases)), frame, at, "a value that may be None is used")
        if not cases:
            raise Outside("this is None whenever it is used", at)
        if len(cases) == 1:
            return Scalar.of(cases[0][1])
        return Scalar(tuple(cases))

    def _lookup(self, map: Value, key: ir.Expression, frame: Frame, at: Location) -> Value:
        assert isinstance(map, MapValue)
        found = self.value(key, frame)
        self.check(self.sorts.belongs(found, map.type.key, at), frame, at, "a key leaves its domain")
        return map.get(self.sorts.fitted(found, map.type.key))

    # Integers and indices -----------------------------------------------------------------------------------

    def _arithmetic(self, expression: ir.Arithmetic, frame: Frame) -> Value:
        left, right = self.value(expression.left, frame), self.value(expression.right, frame)
        if not isinstance(left, Scalar) or not isinstance(right, Scalar):
            raise Outside("arithmetic of what is no number", expression.at)
        cases: list[tuple[Formula, Leaf]] = []
        for here, one in left.cases:
            for there, other in right.cases:
                both = conjunction(here, there)
                if both is not FALSE:
                    cases.append((both, self._computed(expression, one, other, frame.under(both))))
        return Scalar(tuple(cases))

    def _computed(self, expression: ir.Arithmetic, one: Leaf, other: Leaf, frame: Frame) -> Leaf:
        operator, at = expression.operator, expression.at
        if isinstance(one, int) and isinstance(other, int):
            if operator in (ir.Operation.DIVIDE, ir.Operation.MODULO):
                self.check(TRUE if other else FALSE, frame, at, "a division by zero")
                if not other:
                    return 0
            return _COMPUTE[operator](one, other)
        if operator is ir.Operation.ADD and isinstance(one, int):
            one, other = other, one
        term = as_term(one)
        if term is not None and isinstance(other, int):
            if operator is ir.Operation.ADD:
                return self.theory.offset(term, other, at)
            if operator is ir.Operation.SUBTRACT:
                return self.theory.offset(term, -other, at)
        raise Outside(
            f"arithmetic ({operator.value}) of numbers without a bound: only `+ 1` has a meaning", at,
            instead="an Index(ordered=True), of which only the order is used",
        )  # fmt: skip

    def _index(self, number: ir.Expression, index: types.IndexType, frame: Frame, at: Location) -> Value:
        if not self.sorts.is_open(index):
            return self._known_index(number, index, frame, at)
        sort = self.sorts.sort(index)
        ring = _on_ring(number, index)
        if ring is not None:
            value = self.value(ring, frame)
            return self._moved(value, at)
        match number:
            case ir.Literal(value=0):
                return Scalar.of(self.theory.first(sort))
            case ir.Arithmetic(
                operator=ir.Operation.SUBTRACT, left=ir.Constant(name=name), right=ir.Literal(value=1)
            ) if name == index.size:
                return Scalar.of(self.theory.last(sort))
            case ir.Arithmetic(
                operator=ir.Operation.ADD, left=ir.IndexNumber(index=inner), right=ir.Literal(value=1)
            ):
                value = self.value(inner, frame)
                assert isinstance(value, Scalar)
                last = [
                    conjunction(condition, self.theory.is_last(term))
                    for condition, leaf in value.cases
                    if (term := as_term(leaf)) is not None
                ]
                self.check(negation(disjunction(*last)), frame, at, "there is no next member")
                return self._moved(value, at)
        raise Outside(
            f"a member of {index.name} by a computed number: its members have an order and no numbers", at,
            instead=f"{index.name}(0), {index.name}({index.size} - 1), or (p.index + 1) % {index.size}",
        )  # fmt: skip

    def _number(self, index: ir.Expression, frame: Frame) -> Value:
        """Return the value of `p.index`: a number that no other member has, in the order of the members."""
        kind, value = index.type, self.value(index, frame)
        assert isinstance(kind, types.IndexType)
        assert isinstance(value, Scalar)
        cases: list[tuple[Formula, Leaf]] = []
        for condition, leaf in value.cases:
            if isinstance(leaf, Member):
                cases.append((condition, number_of(leaf)))
            else:
                term = as_term(leaf)
                assert term is not None
                cases.append((condition, self.theory.number(kind, term)))
        return Scalar(tuple(cases))

    def _known_index(
        self, number: ir.Expression, index: types.IndexType, frame: Frame, at: Location
    ) -> Value:
        size = self.sorts.size(index.size)
        value = self.value(number, frame)
        assert isinstance(value, Scalar)
        assert isinstance(size, int)
        cases: list[tuple[Formula, Leaf]] = []
        for condition, leaf in value.cases:
            inside = isinstance(leaf, int) and 0 <= leaf < size
            self.check(TRUE if inside else negation(condition), frame, at, "no such member")
            if inside:
                cases.append((condition, Member(f"{index.name}({leaf})")))
        return Scalar(tuple(cases))

    def _moved(self, value: Value, at: Location) -> Value:
        assert isinstance(value, Scalar)
        cases: list[tuple[Formula, Leaf]] = []
        for condition, leaf in value.cases:
            term = as_term(leaf)
            assert term is not None
            cases.append((condition, self.theory.next(term, at)))
        return Scalar(tuple(cases))

    # Sets and maps ------------------------------------------------------------------------------------------

    def collection(self, expression: ir.Expression, frame: Frame) -> SetValue:
        """Return the value of an expression that must be a set.

        A sequence counts as the set of its items.
        """
        value = self.value(expression, frame)
        if isinstance(value, SequenceValue):
            return members(value, self.sorts, expression.at)
        assert isinstance(value, SetValue)
        return value

    def where(self, binder: ir.Binder, frame: Frame) -> SetValue:
        """Return the set of the values over which a binder ranges."""
        source = binder.source
        inside = self.collection(source, frame) if isinstance(source, ir.Expression) else None

        def member(item: Value) -> Formula:
            here = inside.member(item) if inside is not None else TRUE
            if binder.condition is None:
                return here
            with self.silently():
                return conjunction(here, self.formula(binder.condition, frame.binding(binder.name, item)))

        kind = binder.type
        return SetValue(kind, member, inside.quorum if inside and binder.condition is None else None)

    def _set(self, expression: ir.Expression, frame: Frame) -> SetValue:
        at = expression.at
        match expression:
            case ir.SetLiteral(items=items, type=types.SetOf(of=of)):
                values = [self.stored(item, of, frame) for item in items]
                return SetValue(
                    of, lambda item: disjunction(*(self.sorts.same(item, value, at) for value in values))
                )
            case ir.SetBinary(operator=operator, left=left, right=right):
                one, other = self.collection(left, frame), self.collection(right, frame)
                return SetValue(one.of, _united(operator, one, other))
            case ir.Gather(binders=binders, body=body, type=types.SetOf(of=of)):
                if len(binders) == 1 and body == ir.Name(name=binders[0].name, type=body.type):
                    return self.where(binders[0], frame)
                with self._checked(binders, body, of, frame):
                    pass

                def member(item: Value) -> Formula:
                    def made(inner: Frame) -> Formula:
                        return self.sorts.same(item, self.sorts.fitted(self.value(body, inner), of), at)

                    with self.silently():
                        return self.ranging(binders, frame, made, every=False, at=at)

                return SetValue(of, member)
        raise Outside("no set", at)

    def _sequence(self, expression: ir.Expression, frame: Frame) -> SetValue | SequenceValue:
        """Return a sequence: a log, or the set of its members if more is not known of the ones of which it is
        made.
        """
        kind, at = expression.type, expression.at
        assert isinstance(kind, types.SequenceOf)
        of = kind.of
        more: tuple[Value, ...]
        match expression:
            case ir.Append(sequence=sequence, item=item):
                whole, more = self.value(sequence, frame), (self.stored(item, of, frame),)
            case ir.Concatenate(left=left, right=right):
                whole, added = self.value(left, frame), self.value(right, frame)
                if not isinstance(whole, SequenceValue):
                    return self._once([whole, added], of, frame, at)
                if not isinstance(added, SequenceValue) or added.items is None:
                    raise Outside("two sequences, one after the other", at, _AS_LOG)
                more = added.items
            case ir.MakeSequence(items=items):
                nothing = self.sorts.symbolic(of, NOTHING, (), at)
                return made_of(of, tuple(self.stored(item, of, frame) for item in items), nothing)
        if not isinstance(whole, SequenceValue):
            return self._once([whole, *(made_of(of, (one,), one) for one in more)], of, frame, at)
        for one in more:
            whole = appended(whole, one, self.theory, at)
        return whole

    def _once(self, parts: Sequence[Value], of: types.Type, frame: Frame, at: Location) -> SetValue:
        """Return a sequence, which is made of parts, as the set of its members, and record the check that it
        has none twice.
        """
        union = SetValue(of, lambda _: FALSE)
        for value in parts:
            for part in self._parts(value, at):

                def apart(value: Value, one: SetValue = union, other: SetValue = part) -> Formula:
                    return negation(conjunction(one.member(value), other.member(value)))

                once = self.sorts.every_value(of, "x", apart, at)
                self.check(once, frame, at, "a sequence has a member twice")
                union = SetValue(of, _united(ir.SetOperation.UNION, union, part))
        return union

    def _parts(self, value: Value, at: Location) -> list[SetValue]:
        """Return sets which together have the members of a sequence, each once."""
        if isinstance(value, SetValue):
            return [value]
        if not isinstance(value, SequenceValue) or value.items is None:
            raise Outside("a log is stored as a sequence of which only the members are known", at, _AS_LOG)
        made = [made_of(value.of, (item,), item) for item in value.items]
        return [members(item, self.sorts, at) for item in made]

    def _part_of_sequence(self, expression: ir.Expression, frame: Frame) -> Value:
        """Return the length of a log, an item, or the log without its first item."""
        at = expression.at
        match expression:
            case ir.Size(collection=ir.Expression(type=types.SequenceOf()) as collection):
                log = self.value(collection, frame)
                if isinstance(log, SequenceValue) and is_from_zero(log):
                    return log.end
            case ir.Item(sequence=sequence, position=position):
                log = self.value(sequence, frame)
                if isinstance(log, SequenceValue):
                    return self._item(log, position, frame, at)
            case ir.Slice(sequence=sequence, lower=ir.Literal(value=1), upper=None):
                log = self.value(sequence, frame)
                if isinstance(log, SequenceValue):
                    return without_first(log, self.theory, at)
            case ir.Range(lower=lower, upper=upper, type=types.SequenceOf(of=of)):
                first, end = self.value(lower, frame), self.value(upper, frame)
                return SetValue(of, _between(first, end))
        raise Outside(_WORDS[type(expression)], at, _INSTEAD[type(expression)])

    def _item(self, log: SequenceValue, position: ir.Expression, frame: Frame, at: Location) -> Value:
        place = self.value(position, frame)
        assert isinstance(place, Scalar)
        if not is_from_zero(log):
            place = _place_in(log, place, at)
        for condition, term in numbers(place):
            self.check(is_inside(log, term), frame.under(condition), at, "there is no such position")
        return item_at(log, place, at)

    def _choice(self, expression: ir.Expression, frame: Frame) -> Value:
        """Return what `next`, `min` or `max` gives in a step: some member of which it is known that it is one
        of those asked for, and, of an ordered domain, that none comes before it.
        """
        assert isinstance(expression, ir.First | ir.Reduce)
        at = expression.at
        if isinstance(expression, ir.Reduce) and expression.reduction is ir.Reduction.SUM:
            raise Outside(_WORDS[ir.Reduce], at, _INSTEAD[ir.Reduce])
        match expression.binders:
            case (binder,) if expression.body == ir.Name(name=binder.name, type=expression.body.type):
                pass
            case _:
                raise Outside(_WORDS[type(expression)], at, _INSTEAD[type(expression)])
        if self.chosen is None:
            raise Outside(_WORDS[type(expression)], at, _INSTEAD[type(expression)])
        asked = self.where(binder, frame)

        def once(inner: Frame) -> Formula:
            return TRUE if binder.condition is None else self.formula(binder.condition, inner)

        self.ranging((replace(binder, condition=None),), frame, once, every=True, at=at)
        name = f"{binder.name}{CHOSEN}{len(self.chosen)} ({at.line})"
        found = self.sorts.symbolic(binder.type, name, (), at)
        some = self.sorts.some_value(binder.type, binder.name, asked.member, at)
        is_one = conjunction(self.sorts.belongs(found, binder.type, at), asked.member(found))
        facts = [implication(some, is_one)]
        greatest = isinstance(expression, ir.Reduce) and expression.reduction is ir.Reduction.MAXIMUM
        if isinstance(expression, ir.Reduce) or not isinstance(binder.source, ir.Expression):

            def not_before(other: Value) -> Formula:
                first, second = (found, other) if greatest else (other, found)
                return negation(conjunction(asked.member(other), ordered(first, second, at)))

            best = self.sorts.every_value(binder.type, binder.name, not_before, at)
            facts.append(implication(is_one, best))
        if any(fact.free for fact in facts):
            raise Outside(_WORDS[type(expression)], at, _INSTEAD[type(expression)])
        self.chosen += facts
        if expression.default is None:
            self.check(is_one, frame, at, "there is none")
            return found
        return chosen(is_one, found, self.value(expression.default, frame), at)

    @contextmanager
    def _checked(
        self, binders: Sequence[ir.Binder], body: ir.Expression, of: types.Type, frame: Frame
    ) -> Iterator[None]:
        """Record once the checks of a comprehension's values, before the work inside this context."""

        def once(inner: Frame) -> Formula:
            self.stored(body, of, inner)
            return TRUE

        self.ranging(binders, frame, once, every=True, at=body.at)
        yield

    def _make_map(
        self, binder: ir.Binder, body: ir.Expression, kind: types.MapOf, frame: Frame
    ) -> MapValue:
        def once(inner: Frame) -> Formula:
            self.stored(body, kind.value, inner)
            return TRUE

        self.ranging((binder,), frame, once, every=True, at=body.at)

        def get(key: Value) -> Value:
            with self.silently():
                return self.stored(body, kind.value, frame.binding(binder.name, key))

        return MapValue(kind, get)

    def _update(self, expression: ir.Update, frame: Frame) -> Value:
        map = self.value(expression.map, frame)
        assert isinstance(map, MapValue)
        assert isinstance(expression.type, types.MapOf)
        for key, value in zip(expression.keys, expression.values, strict=True):
            where = self.stored(key, map.type.key, frame)
            map = self.with_entry(map, where, self.stored(value, expression.type.value, frame), key.at)
        return map

    def with_entry(self, map: MapValue, key: Value, value: Value, at: Location) -> MapValue:
        """Return the map that has `value` at `key` and is otherwise the same."""
        return MapValue(
            map.type, lambda asked: chosen(self.sorts.same(asked, key, at), value, map.get(asked), at)
        )

    # Quantifiers --------------------------------------------------------------------------------------------

    def _quantify(self, expression: ir.Quantify, frame: Frame) -> Formula:
        every = expression.quantifier is ir.Quantifier.ALL
        return self.ranging(
            expression.binders, frame, lambda inner: self.formula(expression.body, inner), every=every,
            at=expression.at,
        )  # fmt: skip

    def ranging(
        self, binders: Sequence[ir.Binder], frame: Frame, body: Callable[[Frame], Formula], *, every: bool,
        at: Location,
    ) -> Formula:  # fmt: skip
        """Return the formula that `body` is true for every value of the binders, or, without `every`, for
        some value.
        """
        if not binders:
            return body(frame)
        binder, *rest = binders
        source = self._source(binder, frame)

        def one(value: Value) -> Formula:
            inner = frame.binding(binder.name, value)
            here: list[Formula] = []
            if isinstance(source, SetValue):
                here.append(source.member(value))
            inner = inner.under(*here)
            if binder.condition is not None:
                here.append(self.formula(binder.condition, inner))
            if any(item is FALSE for item in here):  # as of a packet of another kind
                return TRUE if every else FALSE
            further = self.ranging(rest, inner.under(here[-1]) if here else inner, body, every=every, at=at)
            return implication(conjunction(*here), further) if every else conjunction(*here, further)

        if isinstance(source, SequenceValue):
            return self._over_log(source, lambda _, item: one(item), binder.at, every=every)
        log = self._with_places(binder, frame)
        if log is not None:
            return self._over_log(log, lambda place, _: one(place), binder.at, every=every)
        kind = binder.type
        if isinstance(kind, types.SetOf):
            return self._over_sets(binder, kind, one, every=every)
        found: list[Formula] = []
        for bound, guard, value in self.sorts.alternatives(kind, binder.name, binder.at):
            with self._bound(bound):
                count = len(self.checks)
                made = one(value)
                for number in range(count, len(self.checks)):
                    item = self.checks[number]
                    self.checks[number] = replace(item, formula=implication(guard, item.formula))
            if every:
                found.append(forall(bound, implication(guard, made), binder.at))
            else:
                found.append(exists(bound, conjunction(guard, made), binder.at))
        return conjunction(*found) if every else disjunction(*found)

    def _source(self, binder: ir.Binder, frame: Frame) -> Value | None:
        """Return the value over which a binder ranges; None for a type, and for all places of a log."""
        if not isinstance(binder.source, ir.Expression):
            return None
        log = self._with_places(binder, frame)
        return None if log is not None else self.value(binder.source, frame)

    def _with_places(self, binder: ir.Binder, frame: Frame) -> SequenceValue | None:
        """Return the log of which a binder has all places, one that also loses its first item."""
        match binder.source:
            case ir.Range(lower=ir.Literal(value=0), upper=ir.Size(collection=collection)):
                log = self.value(collection, frame)
                if isinstance(log, SequenceValue) and not is_from_zero(log):
                    return log
        return None

    def _over_log(
        self, log: SequenceValue, one: Callable[[Value, Value], Formula], at: Location, *, every: bool
    ) -> Formula:
        """Return a quantifier over the places and the items of a log."""
        found: list[Check] = []

        def body(position: Term, item: Value) -> Formula:
            count = len(self.checks)
            made = one(Scalar.of(Place(position, beginning(log))), item)
            inside = is_inside(log, position)
            for check in self.checks[count:]:
                needed = implication(inside, check.formula)
                bound = (position,) if isinstance(position, Var) else ()
                found.append(replace(check, formula=forall(bound, needed)))
            del self.checks[count:]
            return made

        made = everywhere(log, body, at) if every else somewhere(log, body, at)
        self.checks += found
        return made

    def _over_sets(
        self, binder: ir.Binder, kind: types.SetOf, one: Callable[[Value], Formula], *, every: bool
    ) -> Formula:
        """Return a quantifier over sets that pass a test on their size: it ranges over the sort of such
        sets.
        """
        guess = Guess()
        nowhere = Symbol(f"{binder.name} before its test", (Sort(getattr(kind.of, "name", "")),))

        def unknown(item: Value) -> Formula:
            assert isinstance(item, Scalar)
            return disjunction(
                *(conjunction(c, atom(nowhere, (t,))) for c, leaf in item.cases if (t := as_term(leaf)))
            )

        with self.silently():
            refused = one(SetValue(kind.of, unknown, guess))
        if len(guess.groups) != 1 or refused is not (TRUE if every else FALSE):
            raise Outside(
                f"{binder.name} ranges over sets of {getattr(kind.of, 'name', 'values')}: first-order logic "
                "has no quantifier over those", binder.at,
                instead="a test on the size that every such set must pass first, as `2 * len(q) > n`",
            )  # fmt: skip
        (group,) = guess.groups
        quorum = variable(binder.name, group.sort)

        def member(item: Value) -> Formula:
            assert isinstance(item, Scalar)
            return disjunction(
                *(
                    conjunction(c, atom(group.has, (t, quorum)))
                    for c, leaf in item.cases
                    if (t := as_term(leaf)) is not None
                )
            )

        with self._bound((quorum,)):
            made = one(SetValue(kind.of, member, group))
        if every:
            return implication(group.exists, forall((quorum,), made, binder.at))
        return conjunction(group.exists, exists((quorum,), made, binder.at))


_COMPUTE: dict[ir.Operation, Callable[[int, int], int]] = {
    ir.Operation.ADD: lambda a, b: a + b, ir.Operation.SUBTRACT: lambda a, b: a - b,
    ir.Operation.MULTIPLY: lambda a, b: a * b, ir.Operation.DIVIDE: lambda a, b: a // b,
    ir.Operation.MODULO: lambda a, b: a % b,
}  # fmt: skip

_SEQUENCES = "a part of a sequence, or its length, of which less is known here"
_AS_LOG = "a log: a sequence to which items are added at its end, and which is read by position"
_WORDS: dict[type[ir.Expression], str] = {
    ir.Size: "the number of elements as a value: counting is outside the fragment",
    ir.Reduce: "a sum, a least or a greatest of many: counting is outside the fragment",
    ir.First: "the first of many: it depends on an order and is a function of the state",
    **dict.fromkeys(
        (ir.Item, ir.Slice, ir.Reverse, ir.Collect, ir.Range),
        _SEQUENCES,
    ),
}
_INSTEAD: dict[type[ir.Expression], str] = {
    ir.Size: "a comparison with a number or a sum of constants",
    ir.Reduce: "a comparison: `sum(1 for ...) > n`; `all(other <= this for other in ...)`",
    ir.First: "a parameter of the action with a `require`",
    **dict.fromkeys(
        (ir.Item, ir.Slice, ir.Reverse, ir.Collect, ir.Range),
        _AS_LOG,
    ),
}


def _place_in(log: SequenceValue, place: Scalar, at: Location) -> Scalar:
    """Return the position of a place in a log that also loses its first item.

    Raises:
        Outside: it is neither 0 nor one of all places.
    """
    found: list[tuple[Formula, Leaf]] = []
    for condition, leaf in place.cases:
        if isinstance(leaf, Place) and leaf.first == beginning(log):
            found.append((condition, leaf.position))
        elif leaf == 0:
            found += [(conjunction(condition, here), first) for here, first in log.first.cases]
        else:
            raise Outside(
                "a position in a sequence that also loses its first item", at,
                instead="position 0, or `for k in range(len(...))`",
            )  # fmt: skip
    return Scalar(tuple(found))


def _between(first: Value, end: Value) -> Callable[[Value], Formula]:
    assert isinstance(first, Scalar)
    assert isinstance(end, Scalar)

    def member(value: Value) -> Formula:
        assert isinstance(value, Scalar)
        return disjunction(
            *(
                conjunction(here, there, beyond, at_most(low, term), less(term, high))
                for here, low in numbers(first)
                for there, high in numbers(end)
                for beyond, term in numbers(value)
            )
        )

    return member


def _one_of(cases: list[tuple[Formula, Value]], at: Location) -> Value:
    if not cases:
        raise Outside("no record here has that field", at)
    return cases[0][1] if len(cases) == 1 else chosen_of(cases, at)


def _united(operator: ir.SetOperation, one: SetValue, other: SetValue) -> Callable[[Value], Formula]:
    match operator:
        case ir.SetOperation.UNION:
            return lambda item: disjunction(one.member(item), other.member(item))
        case ir.SetOperation.INTERSECTION:
            return lambda item: conjunction(one.member(item), other.member(item))
        case ir.SetOperation.DIFFERENCE:
            return lambda item: conjunction(one.member(item), negation(other.member(item)))
    return lambda item: disjunction(
        conjunction(one.member(item), negation(other.member(item))),
        conjunction(negation(one.member(item)), other.member(item)),
    )


def _on_ring(number: ir.Expression, index: types.IndexType) -> ir.Expression | None:
    """Return the p of `(p.index + 1) % size`, the next member of a ring; None for any other number."""
    match number:
        case ir.Arithmetic(
            operator=ir.Operation.MODULO,
            left=ir.Arithmetic(
                operator=ir.Operation.ADD, left=ir.IndexNumber(index=inner), right=ir.Literal(value=1)
            ),
            right=ir.Constant(name=name),
        ) if name == index.size:
            return inner
    return None


_READ: dict[type[ir.Expression], Callable[[Evaluator, ir.Expression, Frame], Value]] = {
    **dict.fromkeys((ir.Literal, ir.Constant, ir.Name, ir.Read, ir.Before), Evaluator._reading),
    **dict.fromkeys(
        (ir.Not, ir.And, ir.Or, ir.Budget, ir.Compare, ir.Member, ir.Quantify, ir.IsRecord),
        Evaluator._condition,
    ),
    **dict.fromkeys((ir.Choose, ir.Lookup, ir.Field, ir.Present, ir.Call), Evaluator._part),
    **dict.fromkeys((ir.SetLiteral, ir.SetBinary, ir.Gather), Evaluator._set),
    **dict.fromkeys((ir.MakeSequence, ir.Append, ir.Concatenate), Evaluator._sequence),
    **dict.fromkeys((ir.Size, ir.Item, ir.Slice, ir.Range), Evaluator._part_of_sequence),
    **dict.fromkeys((ir.First, ir.Reduce), Evaluator._choice),
    **dict.fromkeys(
        (
            ir.MakeRecord, ir.MakeIndex, ir.IndexNumber, ir.Everywhere, ir.MakeMap, ir.Update, ir.Arithmetic,
        ),
        Evaluator._made,
    ),
}
