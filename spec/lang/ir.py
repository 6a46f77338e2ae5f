"""The intermediate form: a specification after it was read. Every reading but CPython's starts from this
form.

The form is typed and symbolic: domains, quantifiers, calls and sizes are kept; binding constants and
unrolling are later passes. Every node is a frozen dataclass with a public constructor, so that a program may
also build specifications (`tests` and notebooks do).

Meaning, shared by all readings (CPython's execution of the source is the reference):

1. Evaluation is strict and left to right, except `And`, `Or`, `Choose`, `Quantify`, `First`, which stop as
   Python does. An unused local is evaluated.
2. Partial operations are *checks*: `Lookup` and `Item` outside the domain, `Present` of None, `MakeIndex` and
   `MakeRecord` out of range, `Field` of the wrong record of a union, division by zero, `First` and `Reduce`
   (min, max) of nothing without a default, an `Assign` or a call argument that leaves its declared domain (so
   a sequence too long). A failing check on an executed path is a bug of the specification (`SpecError`),
   never "not enabled". Checks before a false `Require` count; after it nothing is executed.
3. Integers are unbounded between stores; `//` and `%` round as Python's.
4. `Require` is false: the step is not enabled. `Expect` is false: the step exists and breaks the property;
   execution goes on.
5. `Emit` yields the event and then runs every handler of its record type, in the order of `Module.handlers`.
6. Binders range in domain order over a type (`source` is a Type) or over the elements of a set or the items
   of a sequence (`source` is an Expression).
7. Quantifiers over a set of states do not exist; values are immutable; only `Assign` changes a variable.
8. An integer expression has the type `INTEGER`, also one that reads a bounded variable; declared bounds stand
   in variables, parameters, fields, keys, elements and in `Binder.type`. An expression of one type may stand
   where a wider one is expected (a value where it may be None, a record where a union is, a sequence where a
   longer one is); element types of sets that meet in one operation are equal.

This file knows nothing of Python source, packing, or Z3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location

VERSION = 1
NOWHERE = Location("<built>", 0)


@dataclass(frozen=True, kw_only=True)
class Node:
    """Base of all nodes: anything with a place in the source."""

    at: Location = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, kw_only=True)
class Expression(Node):
    """Expression: a value. `type` is its static type; for an integer the narrowest known interval is not kept
    in it.
    """

    type: types.Type


@dataclass(frozen=True)
class Integer(types.Type):
    """The static type of integer expressions: unbounded. Stores check the declared interval."""


@dataclass(frozen=True)
class NoneType(types.Type):
    """The static type of the literal None."""


INTEGER = Integer()
BOOL = types.Bool()


# Expressions --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Literal(Expression):
    """A constant of the text: bool, int, None, a member of an enumeration (the Python object), a reading's
    name (str).
    """

    value: Any


@dataclass(frozen=True, kw_only=True)
class Constant(Expression):
    """A constant of the spec by name: an integer or boolean parameter, a repair (Bool) or a reading
    (Enumeration without Python class).
    """

    name: str


@dataclass(frozen=True, kw_only=True)
class Name(Expression):
    """A parameter, a local or a bound variable. Names are unique within one action, function or predicate."""

    name: str


@dataclass(frozen=True, kw_only=True)
class Read(Expression):
    """The present value of a state variable (within a step: the value written last)."""

    variable: str


@dataclass(frozen=True, kw_only=True)
class Before(Expression):
    """Value in the state before the step: `before.variable`, `before.helper(a)`. The arguments of a helper
    are evaluated in the state after the step. It occurs in step invariants only.
    """

    value: Read | Call


@dataclass(frozen=True, kw_only=True)
class Lookup(Expression):
    """Entry of a map, `map[key]`; checked: the key is in the key domain."""

    map: Expression
    key: Expression


@dataclass(frozen=True, kw_only=True)
class Field(Expression):
    """Field of a record, `record.name`; checked when `record` has a union type: the value is a record with
    that field.
    """

    record: Expression
    name: str


class Comparison(Enum):
    """Comparison of two values. EQUAL and UNEQUAL on any one type; the rest on integers, ordered indices, and
    sets (subset).
    """

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


@dataclass(frozen=True, kw_only=True)
class Compare(Expression):
    """Comparison of two values. On sets the orders mean (proper) inclusion. None and records of a union may
    be compared with EQUAL.
    """

    operator: Comparison
    left: Expression
    right: Expression


class Operation(Enum):
    """Arithmetic on integers."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "//"
    MODULO = "%"


@dataclass(frozen=True, kw_only=True)
class Arithmetic(Expression):
    """Operation on two integers; DIVIDE and MODULO are checked: the divisor is not 0."""

    operator: Operation
    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Not(Expression):
    """Negation of a boolean."""

    operand: Expression


@dataclass(frozen=True, kw_only=True)
class And(Expression):
    """Conjunction, left to right, stops at the first False."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Budget(Expression):
    """`budget(condition)`: has the value of its condition. A step that is disabled only by a budget is
    budget-limited: the exploration stops there, the protocol would not.
    """

    condition: Expression


@dataclass(frozen=True, kw_only=True)
class Or(Expression):
    """Disjunction, left to right, stops at the first True."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Choose(Expression):
    """Conditional expression, `then if condition else otherwise`; only one branch is evaluated."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, kw_only=True)
class Member(Expression):
    """Membership, `item in collection` (a set, or a sequence). An item outside the element domain counts as
    not in it.
    """

    item: Expression
    collection: Expression


@dataclass(frozen=True, kw_only=True)
class SetLiteral(Expression):
    """`{a, b}` or the empty set; all items are evaluated; checked: each item is in the element domain of
    `type`.
    """

    items: tuple[Expression, ...]


class SetOperation(Enum):
    """Union, intersection, difference, symmetric difference."""

    UNION = "|"
    INTERSECTION = "&"
    DIFFERENCE = "-"
    SYMMETRIC_DIFFERENCE = "^"


@dataclass(frozen=True, kw_only=True)
class SetBinary(Expression):
    """Operation on two sets of one element type."""

    operator: SetOperation
    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Size(Expression):
    """`len(collection)` of a set or sequence."""

    collection: Expression


@dataclass(frozen=True, kw_only=True)
class Binder(Node):
    """One `for name in source if condition` of a loop, a quantifier or a comprehension.

    `source` is a type (all its values) or an expression (elements of a set, items of a sequence); `type` is
    the type of the name.
    """

    name: str
    type: types.Type
    source: types.Type | Expression
    condition: Expression | None = None


class Quantifier(Enum):
    """`any` and `all`."""

    ANY = "any"
    ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Quantify(Expression):
    """`any(body for ...)`, `all(body for ...)`: in domain order, stops as Python does."""

    quantifier: Quantifier
    binders: tuple[Binder, ...]
    body: Expression


@dataclass(frozen=True, kw_only=True)
class Gather(Expression):
    """`{body for ...}`: a set; checked as SetLiteral."""

    binders: tuple[Binder, ...]
    body: Expression


class Reduction(Enum):
    """Operation that reduces the integers of a comprehension to one integer."""

    SUM = "sum"
    MINIMUM = "min"
    MAXIMUM = "max"


@dataclass(frozen=True, kw_only=True)
class Reduce(Expression):
    """`sum/min/max(body for ...)`; min and max of nothing give `default`, or fail the check when there is
    none. A count is a sum of 1.
    """

    reduction: Reduction
    binders: tuple[Binder, ...]
    body: Expression
    default: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class First(Expression):
    """`next(body for ...)`, `next((body for ...), default)`: the first in domain order; without default
    checked: there is one.
    """

    binders: tuple[Binder, ...]
    body: Expression
    default: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class MakeRecord(Expression):
    """A record from its fields in order; `type` is the types.Record; checked: each field is in its domain."""

    arguments: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class IsRecord(Expression):
    """`isinstance(value, R)` for `value` of a union (or optional union) type; `records` are the accepted
    record names.
    """

    value: Expression
    records: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Present(Expression):
    """`present(value)`: an optional value that is not None; checked. Also a value narrowed to one record of a
    union; checked by `type`.
    """

    value: Expression


@dataclass(frozen=True, kw_only=True)
class MakeIndex(Expression):
    """`Process(number)`; `type` is the IndexType; checked: 0 <= number < size."""

    number: Expression


@dataclass(frozen=True, kw_only=True)
class IndexNumber(Expression):
    """`process.index`, an integer."""

    index: Expression


@dataclass(frozen=True, kw_only=True)
class MakeSequence(Expression):
    """Sequence display, `(a, b)`: a sequence of these items; `type` is the SequenceOf with exactly room for
    them; the length is checked at the store.
    """

    items: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Append(Expression):
    """`sequence + (item,)`; `type` has room for one item more than `sequence`; the length is checked at the
    store.
    """

    sequence: Expression
    item: Expression


@dataclass(frozen=True, kw_only=True)
class Item(Expression):
    """Item of a sequence, `sequence[position]`; checked: 0 <= position < len. The front end refuses a
    position that could be negative by accident.
    """

    sequence: Expression
    position: Expression


@dataclass(frozen=True, kw_only=True)
class Slice(Expression):
    """`sequence[lower:upper]`: the items at the positions from `lower`, before `upper`.

    Without `lower` from the first, without `upper` to the last. Nothing is checked: positions below 0 count
    as 0, positions beyond the end as the end.
    """

    sequence: Expression
    lower: Expression | None = None
    upper: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class Concatenate(Expression):
    """`left + right` of two sequences; `type` has room for both; the length is checked at the store."""

    left: Expression
    right: Expression


@dataclass(frozen=True, kw_only=True)
class Reverse(Expression):
    """`reversed(sequence)`: its items from the last to the first."""

    sequence: Expression


@dataclass(frozen=True, kw_only=True)
class Collect(Expression):
    """`tuple(body for ...)`: a sequence, in the order of the binder, which ranges over an ordered type or a
    sequence; `type` has room for every round.
    """

    binder: Binder
    body: Expression


@dataclass(frozen=True, kw_only=True)
class Range(Expression):
    """`range(lower, upper)`: the sequence of the integers from `lower` (not negative), before `upper`; `type`
    has room for them.
    """

    lower: Expression
    upper: Expression


@dataclass(frozen=True, kw_only=True)
class Everywhere(Expression):
    """`everywhere(value)`: the map that has `value` at every key; `type` is the MapOf."""

    value: Expression


@dataclass(frozen=True, kw_only=True)
class MakeMap(Expression):
    """`{key: body for key in self.each(Key)}`: a map by its values, which are checked at the store; `binder`
    ranges over the keys, without condition.
    """

    binder: Binder
    body: Expression


@dataclass(frozen=True, kw_only=True)
class Update(Expression):
    """`map | {key: value}`: the map with other values at some keys; the last value counts where a key occurs
    twice. Checked: the keys are in the key domain. The value type of `type` holds old and new values.
    """

    map: Expression
    keys: tuple[Expression, ...]
    values: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Call(Expression):
    """A value helper applied to arguments, each checked against the parameter's declared domain."""

    function: str
    arguments: tuple[Expression, ...]


# Statements ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Statement(Node):
    """Base of statements: they change the state, emit, or decide what is executed."""


@dataclass(frozen=True, kw_only=True)
class Assign(Statement):
    """`self.variable[key]... = value`; keys are evaluated first to last after the value; checked: keys and
    value in their domains.
    """

    variable: str
    keys: tuple[Expression, ...]
    value: Expression


@dataclass(frozen=True, kw_only=True)
class Let(Statement):
    """A local name; `type` is its static type.

    It is bound once on each path (in a loop: in each iteration). Bound with one name in both branches of a
    `When`, it may be used after it; bound in a loop, only in that iteration.
    """

    name: str
    type: types.Type
    value: Expression


@dataclass(frozen=True, kw_only=True)
class When(Statement):
    """Conditional, `if`."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Each(Statement):
    """Loop, `for`: the body runs once for each value of the binder, in domain order. The front end has shown
    that the order does not matter, or the author means it.
    """

    binder: Binder
    body: tuple[Statement, ...]


@dataclass(frozen=True, kw_only=True)
class Require(Statement):
    """A guard; `text` is its source."""

    condition: Expression
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Emit(Statement):
    """Emission of an event, which is a record."""

    event: Expression


@dataclass(frozen=True, kw_only=True)
class Expect(Statement):
    """`expect(condition, "Property", clash)`: when false, the step breaks `property`; `clash` is the event it
    clashes with, if any.
    """

    condition: Expression
    property: str
    clash: Expression | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Perform(Statement):
    """A procedure helper called for its effects; arguments checked as in Call."""

    procedure: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, kw_only=True)
class Return(Statement):
    """Ends the body; with a value in a function, without one elsewhere."""

    value: Expression | None = None


# Definitions --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Parameter(Node):
    """A parameter and its declared domain."""

    name: str
    type: types.Type


@dataclass(frozen=True, kw_only=True)
class Definition(Node):
    """A named body with parameters. `doc` is its docstring."""

    name: str
    parameters: tuple[Parameter, ...] = ()
    body: tuple[Statement, ...] = ()
    doc: str = ""


@dataclass(frozen=True, kw_only=True)
class Function(Definition):
    """Helper that returns a value and changes nothing. `type` is the declared type of the value."""

    type: types.Type


@dataclass(frozen=True, kw_only=True)
class Procedure(Definition):
    """Helper that changes the state, emits or expects, and gives no value."""


class Fairness(Enum):
    """Fairness of an action that stays (weak), or again and again becomes (strong), enabled."""

    NONE = "none"
    WEAK = "weak"
    STRONG = "strong"


@dataclass(frozen=True, kw_only=True)
class Action(Definition):
    """A step of the algorithm, or of the environment (`fault`: loss, duplication, crash; excluded from
    "enabled" at quiescence).
    """

    fault: bool = False
    fairness: Fairness = Fairness.NONE
    per: tuple[str, ...] = ()
    """Parameters for each value of which fairness is promised by itself; none: one promise for the action
    with any arguments.
    """


@dataclass(frozen=True, kw_only=True)
class FairPart(Node):
    """Part of an action for a promise of fairness: the steps that begin where `where` is true, which is a
    boolean over the state and the action's parameters. Without `where`: all steps of the action.

    `per` names parameters of the action, in the order of the promise.
    """

    action: str
    per: tuple[str, ...] = ()
    where: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class FairSteps(Node):
    """Fairness of several `parts` together: some step of any of them happens, for each value of the
    parameters `per`.
    """

    name: str
    fairness: Fairness
    parts: tuple[FairPart, ...]


@dataclass(frozen=True, kw_only=True)
class Handler(Definition):
    """Handler that runs at every Emit of the record `event`; its one parameter is the event."""

    event: str


class PredicateKind(Enum):
    """Use of a predicate over states."""

    INVARIANT = "invariant"
    WITNESS = "witness"
    OBLIGATION = "obligation"


@dataclass(frozen=True, kw_only=True)
class Predicate(Definition):
    """A boolean over states, as a function body.

    Always true (invariant), somewhere true (witness), true when nothing more can happen and always reachable
    again (obligation).
    """

    kind: PredicateKind


@dataclass(frozen=True, kw_only=True)
class StepInvariant(Definition):
    """A boolean over a step, as a function body: true of every step that changes a variable which it reads,
    of the algorithm or the environment.

    It is judged after all effects of the step; `Read` is the state after the step.
    """


class LivenessKind(Enum):
    """Time on a run at which the goal must be true. LEADS_TO: at or after each state in which the premise is
    true. INITIALLY: in the first state.
    """

    LEADS_TO = "leads to"
    EVENTUALLY = "eventually"
    ALWAYS_EVENTUALLY = "always eventually"
    EVENTUALLY_ALWAYS = "eventually always"
    ALWAYS = "always"
    INITIALLY = "initially"


@dataclass(frozen=True, kw_only=True)
class Temporal(Node):
    """A formula about a run. With a premise: `premise` leads to `goal`, which may be true at once. Without:
    `kind` says when `goal` is true. Both are booleans over a state.
    """

    kind: LivenessKind
    goal: Expression
    premise: Expression | None = None


@dataclass(frozen=True, kw_only=True)
class LivenessProperty(Temporal):
    """A formula that is true, for all values of `parameters`, of every fair run of which all of `assuming`
    are true.

    A run is fair when every promise of `Action.fairness` and `Module.fair` is kept; a step that changes
    nothing counts neither as possible nor as taken. Faults are never due.
    """

    name: str
    parameters: tuple[Parameter, ...] = ()
    assuming: tuple[Temporal, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ConstantDefinition(Node):
    """A parameter of the spec: `type` is Bool, Integer or Enumeration (a reading); `role` says which of the
    three kinds it is.
    """

    name: str
    type: types.Type
    default: int | bool | str
    role: str = "constant"  # constant | repair | reading
    about: str = ""
    answers: str = ""
    builds_on: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Variable(Node):
    """A state variable, its declared type and its initial value (an expression over constants)."""

    name: str
    type: types.Type
    initial: Expression


@dataclass(frozen=True, kw_only=True)
class Module:
    """A whole specification. Order of tuples is the order of declaration, bases first."""

    name: str
    version: int = VERSION
    constants: tuple[ConstantDefinition, ...] = ()
    variables: tuple[Variable, ...] = ()
    functions: tuple[Function, ...] = ()
    procedures: tuple[Procedure, ...] = ()
    initials: tuple[Action, ...] = ()
    """Methods that make the initial states: each runs from the defaults, once for each tuple of arguments.
    Without any, the defaults are the only initial state.
    """
    actions: tuple[Action, ...] = ()
    handlers: tuple[Handler, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    properties: tuple[str, ...] = ()
    """Properties that a step may break: names used by Expect, in order of first appearance, then step
    invariants.
    """
    step_invariants: tuple[StepInvariant, ...] = ()
    liveness: tuple[LivenessProperty, ...] = ()
    fair: tuple[FairSteps, ...] = ()
    """Promises of fairness about several actions together, or about a part of one."""
