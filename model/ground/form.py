"""Ground form, which the compiled engines read: a step as arithmetic and bit operations over numbered slots,
with all domains bound.

A ground expression has one of three sorts: a boolean, a number with a known interval, a bit set of known
width. Records, optional values, unions, maps and sequences are gone: they were flattened into such leaves.
Equal expressions are one object (`make` interns them and folds constants), so that a step is a directed graph
and a reader gives every node one name.

1. A `Slot` is one leaf of the state; `Layout` lists them in order with their sort and the variable and keys
   that they belong to.
2. An `Input` is one leaf of a parameter. A step grounded for given arguments has none.
3. Numbers carry the interval that the grounder could show; a reader chooses its width from it. A number may
   leave the interval only on paths whose checks have failed.
4. Sets are bit sets over element ranks (`types.Domain.rank`).

This file knows nothing of the intermediate form, of Python source, of packing or of Z3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location


@dataclass(frozen=True)
class Boolean:
    """Sort: False or True."""


@dataclass(frozen=True)
class Number:
    """Sort: an integer from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True)
class Bits:
    """Sort: a set of ranks below `width`."""

    width: int


Sort = Boolean | Number | Bits


class Operator(Enum):
    """Operation of a node on its operands (their sorts are given on the right)."""

    __hash__ = object.__hash__  # that of an enumeration is Python, and asked for millions of times

    CONSTANT = "constant"  # value: bool | int (number) | int (bits)
    SLOT = "slot"  # value: position in the layout
    INPUT = "input"  # value: position in GroundStep.inputs
    NOT = "not"  # boolean
    AND = "and"  # booleans, two or more
    OR = "or"  # booleans, two or more
    CHOOSE = "choose"  # boolean, then, otherwise (one sort up to interval)
    EQUAL = "equal"  # two of one sort -> boolean
    LESS = "less"  # two numbers -> boolean
    ADD = "add"  # two numbers
    SUBTRACT = "subtract"  # two numbers
    MULTIPLY = "multiply"  # two numbers
    DIVIDE = "divide"  # two numbers, floor
    MODULO = "modulo"  # two numbers, floor
    HAS = "has"  # bits, number -> boolean: is this rank in the set (False when the rank is outside the width)
    SINGLE = "single"  # number -> bits of the node's width with that one rank
    UNION = "union"  # two bits
    INTERSECTION = "intersection"  # two bits
    DIFFERENCE = "difference"  # two bits
    SYMMETRIC_DIFFERENCE = "symmetric difference"  # two bits
    COUNT = "count"  # bits -> number of members


(
    CONSTANT, SLOT, INPUT, NOT, AND, OR, CHOOSE, EQUAL, LESS, ADD, SUBTRACT, MULTIPLY, DIVIDE, MODULO, HAS,
    SINGLE, UNION, INTERSECTION, DIFFERENCE,
    SYMMETRIC_DIFFERENCE, COUNT,
) = Operator  # fmt: skip
"""Operators as module constants, for code that uses them millions of times: up to CPython 3.11 `Operator.AND`
takes ten times as long.
"""


@dataclass(eq=False, slots=True)
class Expression:
    """Node of the ground form. Only `make` and its helpers make nodes, so that `is` is equality; nodes are
    never changed.

    The class is not frozen, since a frozen one takes four times as long to make, and nodes are made by the
    million.
    """

    operator: Operator
    sort: Sort
    operands: tuple[Expression, ...] = ()
    value: int | bool = 0


@dataclass(frozen=True)
class SlotInfo:
    """Leaf of the state: `name` for people (`received[Process(0)]`, `holder[Process(1)].present`), its
    variable and its sort.
    """

    name: str
    variable: str
    sort: Sort

    @property
    def key(self) -> str:
        """Return the first key of the leaf in its variable (`Process(0)`); empty if the variable has no
        keys.
        """
        keys = self.name.removeprefix(self.variable)
        return keys[1:].partition("]")[0] if keys.startswith("[") else ""


@dataclass(frozen=True)
class InputInfo:
    """Leaf of a parameter of the step: `name` for people (`packet.identifier.source`), the parameter and its
    sort.
    """

    name: str
    parameter: str
    sort: Sort


@dataclass(frozen=True)
class Guard:
    """Guard of the step: a condition with its place and text; `path` is the condition under which the guard
    is reached.
    """

    condition: Expression
    path: Expression
    at: Location
    text: str


@dataclass(frozen=True)
class Check:
    """Check: `wrong` is true on a bug of the specification, a partial operation outside its domain on an
    executed path.
    """

    wrong: Expression
    at: Location
    reason: str


@dataclass(frozen=True)
class Break:
    """Break of a property: the step breaks `property` when `broken` is true."""

    property: str
    broken: Expression
    at: Location
    text: str


@dataclass(frozen=True)
class GroundEvent:
    """Event of a step: it emits a record of `type` when `present` is true; `rank` is its rank in the record's
    domain.
    """

    type: types.Record
    present: Expression
    rank: Expression


@dataclass(frozen=True)
class GroundStep:
    """A step of a program, grounded for all arguments (`inputs`) or for given ones (no inputs).

    `enabled` is the conjunction of the guards (each under its path, in order) and of the parameters being in
    range; `updates` maps slot positions to new values (only slots that may change; valid when `enabled`);
    checks count when the guards before them hold, which their `wrong` already says.
    """

    name: str
    fault: bool
    inputs: tuple[InputInfo, ...]
    arguments: tuple[object, ...] | None
    enabled: Expression
    guards: tuple[Guard, ...]
    checks: tuple[Check, ...]
    updates: tuple[tuple[int, Expression], ...]
    breaks: tuple[Break, ...]
    events: tuple[GroundEvent, ...]


@dataclass(frozen=True)
class Layout:
    """Slots of a state, in order; the module `layout` flattens the values of a state into them."""

    slots: tuple[SlotInfo, ...] = field(default=())
