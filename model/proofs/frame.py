"""Frames: the place where an expression is evaluated, its notes, and the interface of evaluators to one
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
    """Something that must be true for the text to have a meaning, and its place."""

    formula: Formula
    at: Location
    what: str


@dataclass
class Frame:
    """Place where an expression is evaluated.

    Attributes:
        locals: parameters, locals and bound variables by name.
        state: the variables as they were written last.
        before: the variables before the step, in the text of a step invariant.
        path: the conditions under which one gets here.
    """

    locals: dict[str, Value]
    state: dict[str, Value]
    before: dict[str, Value] | None = None
    path: tuple[Formula, ...] = ()

    def under(self, *conditions: Formula) -> Frame:
        """The frame where these conditions hold besides."""
        return replace(self, path=(*self.path, *(item for item in conditions if item is not TRUE)))

    def binding(self, name: str, value: Value) -> Frame:
        """The frame where a name has a value."""
        return replace(self, locals=self.locals | {name: value})


class Reader(Protocol):
    """Interface of the evaluator of expressions to its parts."""

    theory: Theory

    @property
    def sorts(self) -> Sorts:
        """The sorts of the proof."""

    def value(self, expression: ir.Expression, frame: Frame) -> Value:
        """The value of an expression."""

    def formula(self, expression: ir.Expression, frame: Frame) -> Formula:
        """The truth of a boolean expression."""

    def collection(self, expression: ir.Expression, frame: Frame) -> SetValue:
        """The value of an expression that must be a set."""

    def where(self, binder: ir.Binder, frame: Frame) -> SetValue:
        """The values of a binder as a set."""
