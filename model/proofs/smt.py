"""Z3 as a solver of questions in first-order logic, each with a limit, a seed and a configuration.

1. Each question has a context of its own, so that its answer does not depend on earlier questions.
2. A limit in seconds is counted in units of work, which Z3 counts itself (`rlimit`), so that an answer does
   not depend on what else the machine does.

This file knows nothing of specifications.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import z3

from antiphon.model.proofs.formula import (
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Sort,
    Symbol,
    Term,
    Truth,
    Var,
)
from antiphon.model.proofs.theory import Linear, QuorumClass

UNITS_A_SECOND = 1_500_000
"""Units of work that stand for a second.

Measured with Z3 5.4 on the questions of six proofs that take more than 20 ms, with every seed and in every
configuration: 0.9 to 3.1 million units a second of the processor, 1.4 to 1.8 million over a whole proof.
Where nothing is quantified it can be 0.4 million.
"""

PATIENCE = 10.0
"""Wall seconds for each second of a limit, at least for one, after which a question is ended all the same: a
safety net where Z3 works without counting.
"""


class Outcome(Enum):
    """Outcome of a question to Z3: proved (no structure makes all formulas true), refuted (some structure
    does), or not known within the limit.
    """

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Configuration:
    """Configuration of Z3's search; its name is printed in reports."""

    name: str
    options: Mapping[str, Any]


FIRST = Configuration("z3", {"mbqi": True})
SECOND = Configuration("z3 by models alone", {"mbqi": True, "ematching": False})
THIRD = Configuration("z3 without relevancy", {"auto_config": False, "mbqi": True, "relevancy": 0})


@dataclass(frozen=True)
class Answer:
    """Answer of Z3.

    Attributes:
        outcome: the answer.
        seconds: how long it took, of the processor.
        units: the units of work that Z3 has counted; the same question takes the same again.
        core: the names of the formulas that cannot be true together, when proved.
        sizes: how many elements each sort has in the structure that Z3 found, when refuted.
        reason: why it is not known; empty if the limit was reached.
    """

    outcome: Outcome
    seconds: float
    units: int = 0
    core: frozenset[str] = frozenset()
    sizes: tuple[tuple[str, int], ...] = ()
    reason: str = ""


def ask(
    asserted: Sequence[tuple[str, Formula]], *, seed: int = 0, seconds: float = 2.0,
    wall_seconds: float | None = None, configuration: Configuration = FIRST,
) -> Answer:  # fmt: skip
    """Ask whether named formulas can be true together.

    Args:
        asserted: names and formulas; a name may come more than once.
        seed: of Z3's choices.
        seconds: after which Z3 gives up, counted in units of work: the answer is the same on a busy machine.
        wall_seconds: wall time after which Z3 gives up in any case, if that is before `PATIENCE` ends it.
        configuration: how it searches.

    Raises:
        KeyboardInterrupt: Ctrl-C, which Z3 takes from Python while it searches.
    """
    used, limit = time.thread_time(), _units(seconds)
    patience = PATIENCE * max(1.0, seconds)
    most_ms = max(1, int(1000 * (patience if wall_seconds is None else min(patience, wall_seconds))))
    context = z3.Context()
    solver = z3.SimpleSolver(ctx=context)
    solver.set("rlimit", limit)
    solver.set("timeout", most_ms)
    for name, value in {"random_seed": seed, **configuration.options}.items():
        solver.set(name, value)
    writer = _Writer(context)
    names: dict[str, Any] = {}
    for name, formula in asserted:
        if name not in names:
            names[name] = z3.Bool(f"named {len(names)}", context)
        solver.add(z3.Implies(names[name], writer.formula(formula)))
    begun, before = time.monotonic(), _counted(solver)
    answer = solver.check(*names.values())
    units, taken = _counted(solver) - before, time.thread_time() - used
    if answer == z3.unsat:
        found = {str(item) for item in solver.unsat_core()}
        core = frozenset(name for name, item in names.items() if str(item) in found)
        return Answer(Outcome.PROVED, taken, units, core)
    if answer == z3.sat:
        model = solver.model()
        sizes = tuple(
            (sort.name, len(model.get_universe(known) or ())) for sort, known in writer.sorts.items()
        )
        return Answer(Outcome.REFUTED, taken, units, sizes=sizes)
    if units >= limit:
        return Answer(Outcome.UNKNOWN, taken, units)
    if time.monotonic() - begun >= most_ms / 1000:
        return Answer(Outcome.UNKNOWN, taken, units, reason=f"{most_ms / 1000:g} s of wall time ended it")
    reason = solver.reason_unknown()
    if reason in ("canceled", "interrupted from keyboard"):  # nothing else ends a search before its limits
        raise KeyboardInterrupt
    return Answer(Outcome.UNKNOWN, taken, units, reason=reason)


def _units(seconds: float) -> int:
    """Return the units of work that stand for so many seconds, as many as Z3 can count to."""
    return min(max(1, round(seconds * UNITS_A_SECOND)), 2**32 - 1)


def _counted(solver: Any) -> int:
    """Return the units of work that Z3 has counted in the solver's context."""
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if len(statistics) else 0


class _Writer:
    """Writer of formulas as Z3's expressions."""

    def __init__(self, context: Any) -> None:
        self.context = context
        self.sorts: dict[Sort, Any] = {}
        self._symbols: dict[Symbol, Any] = {}
        self._variables: dict[Var, Any] = {}
        self._known: dict[int, Any] = {}
        self._kept: list[Formula] = []

    def formula(self, formula: Formula) -> Any:
        """Return Z3's expression for a formula."""
        found = self._known.get(id(formula))
        if found is None:
            found = self._known[id(formula)] = self._made(formula)
            self._kept.append(formula)
        return found

    def _made(self, formula: Formula) -> Any:
        match formula:
            case Truth(value=value):
                return z3.BoolVal(value, self.context)
            case Atom(symbol=symbol, arguments=arguments):
                return self._symbol(symbol)(*map(self._term, arguments))
            case Equal(left=left, right=right):
                return self._term(left) == self._term(right)
            case Not(of=inner):
                return z3.Not(self.formula(inner))
            case And(of=parts):
                return z3.And(*map(self.formula, parts))
            case Or(of=parts):
                return z3.Or(*map(self.formula, parts))
            case Quantified(every=every, variables=variables, body=body):
                bound = [self._term(item) for item in variables]
                return (z3.ForAll if every else z3.Exists)(bound, self.formula(body))
        raise TypeError(f"unknown formula {formula!r}")

    def _term(self, term: Term) -> Any:
        if isinstance(term, Var):
            if term not in self._variables:
                self._variables[term] = z3.Const(f"{term.name}#{term.number}", self._sort(term.sort))
            return self._variables[term]
        return self._symbol(term.symbol)(*map(self._term, term.arguments))

    def _sort(self, sort: Sort) -> Any:
        if sort not in self.sorts:
            self.sorts[sort] = z3.DeclareSort(sort.name, self.context)
        return self.sorts[sort]

    def _symbol(self, symbol: Symbol) -> Any:
        if symbol not in self._symbols:
            result = z3.BoolSort(self.context) if symbol.result is None else self._sort(symbol.result)
            self._symbols[symbol] = z3.Function(symbol.name, *map(self._sort, symbol.arguments), result)
        return self._symbols[symbol]


def overlap(groups: Sequence[QuorumClass]) -> bool:
    """Return True if sets of these classes always have a member in common, by linear arithmetic for every
    size.

    Sets of sizes s1 to sk among n have at least s1 + ... + sk - (k - 1) n members in common.
    """
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", _units(2.0))
    names: dict[str, Any] = {}

    def value(linear: Linear) -> Any:
        total: Any = z3.IntVal(0, context)
        for name, factor in linear:
            if not name:
                total = total + factor
                continue
            if name not in names:
                names[name] = z3.Int(name, context)
                solver.add(names[name] >= 1)
            total = total + factor * names[name]
        return total

    size = groups[0].index.size
    whole = value(((str(size), 1),))
    sizes: list[Any] = []
    for number, group in enumerate(groups):
        own = z3.Int(f"size {number}", context)
        solver.add(own >= 0, own <= whole, group.factor * own >= value(group.bound))
        sizes.append(own)
    common = z3.Sum([z3.IntVal(0, context), *sizes]) - (len(groups) - 1) * whole
    solver.add(common < 1)
    return bool(solver.check() == z3.unsat)
