"""Frames: the context in which an expression is evaluated, its checks, and the interface of evaluators to one
another.

This file knows nothing of the kinds of expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from antiphon.model.proofs.formula import TRUE, Formula
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import SetValue, Sorts, Value
from antiphon.spec.lang import ir
from antiphon.spec.lang.errors import Location


@dataclass(frozen=True)
class Check:
    """Check: a condition that must be true for the text to have a meaning, and the place of that text.

    `facts` are what is known of the members that the step chooses.
    """

    formula: Formula
    at: Location
    what: str
    facts: tuple[Formula, ...] = ()


@dataclass
class Frame:
    """Context of one point of a specification in which expressions are evaluated.

    Attributes:
        locals: parameters, locals and bound variables by name.
        state: the variables as they were written last.
        before: the variables before the step, in the text of a step invariant.
        path: the conditions under which this point is reached.
    """

    locals: dict[str, Value]
    state: dict[str, Value]
    before: dict[str, Value] | None = None
    path: tuple[Formula, ...] = ()

    def under(self, *conditions: Formula) -> Frame:
        """Return the frame with these conditions added to its path."""
        return replace(self, path=(*self.path, *(item for item in conditions if item is not TRUE)))

    def binding(self, name: str, value: Value) -> Frame:
        """Return the frame in which a name has a value."""
        return replace(self, locals=self.locals | {name: value})


class Reader(Protocol):
    """Interface by which the parts of the evaluator of expressions call the evaluator."""

    theory: Theory

    @property
    def sorts(self) -> Sorts:
        """Return the sorts of the proof."""

    def value(self, expression: ir.Expression, frame: Frame) -> Value:
        """Return the value of an expression."""

    def formula(self, expression: ir.Expression, frame: Frame) -> Formula:
        """Return the truth of a boolean expression."""

    def collection(self, expression: ir.Expression, frame: Frame) -> SetValue:
        """Return the value of an expression that must be a set."""

    def where(self, binder: ir.Binder, frame: Frame) -> SetValue:
        """Return the values of a binder as a set."""
