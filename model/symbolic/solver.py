"""Z3 as a SAT solver: a formula becomes clauses.

Each conjunction that a constraint needs becomes one boolean of Z3, defined in the polarity it is used in.

The clauses go to Z3's finite-domain solver (`QF_FD`, its incremental SAT core) through the C interface of its
Python package, since the operator overloading of that package costs more than the solving of small models.
Nothing else in this package imports z3.

This file knows nothing of specifications or states.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import z3

from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.spec.lang.watch import working

_INTERRUPTED = "interrupted from keyboard"


class Answer(Enum):
    """Answer of Z3: satisfiable, unsatisfiable, or given up (time)."""

    SATISFIABLE = "sat"
    UNSATISFIABLE = "unsat"
    UNKNOWN = "unknown"


class Solver:
    """Incremental Z3 solver over the literals of one circuit.

    Attributes:
        clauses: how many clauses Z3 was given.
        reason: why the last check gave up.
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.clauses = 0
        self.reason = ""
        self._context: Any = z3.Context()
        self._solver: Any = z3.SolverFor("QF_FD", ctx=self._context)
        self._boolean: Any = z3.BoolSort(ctx=self._context).ast
        self._terms: dict[int, Any] = {}
        self._defined: set[int] = set()
        self._assumed: dict[int, Any] = {}
        self._model: Any = None
        self._values: dict[int, bool] = {}

    @staticmethod
    def version() -> str:
        """Return the version of Z3."""
        return str(z3.get_version_string())

    def require(self, literal: int) -> None:
        """Assert that a literal is true; it cannot be taken back."""
        self.clause((literal,))

    def clause(self, literals: Iterable[int]) -> None:
        """Assert the clause that one of `literals` is true; it cannot be taken back."""
        members: list[int] = []
        for literal in literals:
            if literal == TRUE:
                return
            if literal != FALSE:
                members.append(literal)
        for literal in members:
            self._define(literal)
        self._assert(members)

    def _define(self, literal: int) -> None:
        """Add the clauses by which `literal`, where it is asserted, forces its operands."""
        pending = [literal]
        while pending:
            item = pending.pop()
            inner = self.circuit.operands(item)
            if not inner or item in self._defined:
                continue
            self._defined.add(item)
            if item > 0:
                for operand in inner:
                    self._assert((-item, operand))
                pending.extend(inner)
            else:
                self._assert([-item, *[-operand for operand in inner]])
                pending.extend(-operand for operand in inner)

    def _term(self, literal: int) -> Any:
        """Return Z3's term for a literal, which lives as long as the context."""
        term = self._terms.get(literal)
        if term is None:
            reference = self._context.ref()
            symbol = _mk_symbol(reference, abs(literal))
            term = (
                _mk_const(reference, symbol, self._boolean)
                if literal > 0
                else _mk_not(reference, self._term(-literal))
            )
            _inc_ref(reference, term)
            self._terms[literal] = term
        return term

    def _assert(self, literals: Sequence[int]) -> None:
        working("translating")
        self.clauses += 1
        reference = self._context.ref()
        terms = (z3.Ast * len(literals))(
            *[self._terms.get(literal) or self._term(literal) for literal in literals]
        )
        clause = _mk_or(reference, len(literals), terms)
        _inc_ref(reference, clause)
        _solver_assert(reference, self._solver.solver, clause)
        _dec_ref(reference, clause)

    def check(self, assumptions: Iterable[int] = (), *, seconds: float | None = None) -> Answer:
        """Ask whether the clauses and `assumptions` (literals) can be true together; give up after
        `seconds`.

        Raises:
            KeyboardInterrupt: Ctrl-C, which Z3 takes from Python while it searches.
        """
        assumed = [literal for literal in assumptions if literal != TRUE]
        if FALSE in assumed:
            return Answer.UNSATISFIABLE
        for literal in assumed:
            self._define(literal)
        if seconds is not None:
            self._solver.set("timeout", max(1, min(int(seconds * 1000), 2**31)))
        self._assumed = {literal: z3.BoolRef(self._term(literal), self._context) for literal in assumed}
        answer = self._solver.check(*self._assumed.values())
        signal.siginterrupt(signal.SIGINT, True)  # Z3 leaves it so that Ctrl-C wakes no waiting thread
        if answer == z3.sat:
            self._model, self._values = self._solver.model(), {}
            return Answer.SATISFIABLE
        self._model = None
        if answer == z3.unsat:
            return Answer.UNSATISFIABLE
        self.reason = str(self._solver.reason_unknown())
        if self.reason == _INTERRUPTED:
            raise KeyboardInterrupt
        return Answer.UNKNOWN

    def core(self) -> set[int]:
        """Return those assumptions of the last unsatisfiable check that Z3 needed for the contradiction."""
        assumed = {term.get_id(): literal for literal, term in self._assumed.items()}
        return {assumed[term.get_id()] for term in self._solver.unsat_core()}

    def value(self, literal: int) -> bool:
        """Return the value of a literal in the last model; variables that no clause names are false."""
        if self._model is None:
            raise ValueError("there is no model: the last check was not satisfiable")
        return self.circuit.evaluate(literal, self._true, self._values)

    def _true(self, node: int) -> bool:
        if node not in self._terms:
            return False
        return bool(
            z3.is_true(self._model.eval(z3.BoolRef(self._terms[node], self._context), model_completion=True))
        )


def _quick(name: str) -> Any:
    """Return Z3's C function of this name without the error check that the Python package adds, if the
    unchecked function can be had.

    Several such functions are called for each clause.
    """
    function = getattr(z3.z3core, name)
    return getattr((function.__defaults__ or (None,))[-1], "f", function)


_mk_or, _mk_not, _mk_const = _quick("Z3_mk_or"), _quick("Z3_mk_not"), _quick("Z3_mk_const")
_mk_symbol, _solver_assert = _quick("Z3_mk_int_symbol"), _quick("Z3_solver_assert")
_inc_ref, _dec_ref = _quick("Z3_inc_ref"), _quick("Z3_dec_ref")
