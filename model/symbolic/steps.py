"""Steps as formulas over the variables of one template state: an `Instance` is an action with its arguments.

An instance is translated once, from its specialised ground step, and then moved to each time by substitution
(`unroll`). It records which literals of the state it changes and which it reads, so that the unrolling can
leave out runs that differ only in the order of independent steps. Arguments that range over a set of the
state (`In`) are made only for elements that can be in the set.

This file knows nothing of time, of properties or of Z3.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from antiphon.model.ground import ground, ground_predicate, layout
from antiphon.model.ground.form import Bits, Check, Expression
from antiphon.model.symbolic.circuit import FALSE, TRUE, Circuit
from antiphon.model.symbolic.clock import Clock
from antiphon.model.symbolic.translate import Cells, TooWide, Translator
from antiphon.spec.lang import Program, Step, ir

MOST_ARGUMENTS = 20_000


@dataclass(frozen=True)
class Change:
    """Literal of the state that a step changes, and its new value.

    `adds`: it becomes true where `literal` is and keeps its value elsewhere; otherwise it becomes `literal`.
    """

    cell: int
    literal: int
    adds: bool


@dataclass(frozen=True)
class Instance:
    """Action with given arguments, as literals over the template's state.

    `enabled`: its guards hold; `wrong`: executing it is an error of the specification; `runs`: enabled and
    not wrong; `moves`: it runs and the state changes; `breaks`: the properties it breaks and when. `reads`,
    `sets` and `adds` are sets of cells, as bits of a number.
    """

    number: int
    step: Step
    fault: bool
    enabled: int
    wrong: int
    reasons: tuple[tuple[int, str], ...]
    runs: int
    moves: int
    changes: tuple[Change, ...]
    breaks: tuple[tuple[str, int], ...]
    reads: int = 0
    sets: int = 0
    adds: int = 0

    def depends_on(self, other: Instance) -> bool:
        """Return True if the order of two instances can matter."""
        return bool(
            (self.sets | self.adds) & other.reads
            or (other.sets | other.adds) & self.reads
            or self.sets & (other.sets | other.adds)
            or self.adds & other.sets
        )


@dataclass(frozen=True)
class Predicate:
    """Condition under which a predicate is true, false, or an error, with the reason."""

    holds: int
    fails: int
    reasons: tuple[tuple[int, str], ...]


class Template:
    """State made of variables, and the program's steps and predicates as literals over them.

    Making instances takes time, which the clock limits (`Enough`).

    Attributes:
        variables: the circuit variable of each cell.
        instances: those made so far, by number.
    """

    def __init__(self, program: Program, circuit: Circuit, clock: Clock | None = None) -> None:
        self.program, self.circuit, self.clock = program, circuit, clock or Clock()
        self.layout = layout(program)
        self.cells = Cells(self.layout)
        self.variables = [circuit.variable() for _ in range(len(self.cells))]
        self.instances: list[Instance] = []
        self._translator = Translator(
            circuit, [self.cells.value(slot, self.variables) for slot in range(len(self.layout.slots))]
        )
        self._known: dict[tuple[str, tuple[int, ...]], Instance | None] = {}
        self._cell_of = {variable: cell for cell, variable in enumerate(self.variables)}
        self._predicates: dict[str, Predicate] = {}

    def predicate(self, name: str) -> Predicate:
        """Return an invariant, a witness or an obligation."""
        if name not in self._predicates:
            grounded = ground_predicate(self.program, name)
            holds, reasons = self._translator.boolean(grounded.holds), self._reasons(grounded.checks)
            sound = [-literal for literal, _ in reasons]
            true, false = (self.circuit.conjunction((literal, *sound)) for literal in (holds, -holds))
            self._predicates[name] = Predicate(true, false, reasons)
        return self._predicates[name]

    def condition(self, expression: Expression) -> int:
        """Return the literal of a grounded condition on the state."""
        return self._translator.boolean(expression)

    def _reasons(self, checks: Sequence[Check]) -> tuple[tuple[int, str], ...]:
        found = [(self._translator.boolean(check.wrong), f"{check.at}: {check.reason}") for check in checks]
        return tuple((literal, reason) for literal, reason in found if literal != FALSE)

    def possible(self, literals: Sequence[int]) -> Iterator[Instance]:
        """Yield the instances that may be enabled in a state with these literals, in order of their
        numbers.
        """
        for action in self.program.module.actions:
            for ranks in itertools.product(*self._ranges(action, literals)):
                self._instance(action, ranks)
        return (
            instance for instance in self.instances if instance.enabled != FALSE or instance.wrong != FALSE
        )

    def _ranges(self, action: ir.Action, literals: Sequence[int]) -> list[list[int]]:
        within = _within(action)
        ranges: list[list[int]] = []
        total = 1
        for parameter in action.parameters:
            domain = self.program.domain(parameter.type)
            variable = within.get(parameter.name)
            if variable is None:
                ranges.append(list(range(domain.cardinality)))
            else:
                elements = self.program.domains[variable].parts[0]
                slot = next(slot for slot, info in enumerate(self.layout.slots) if info.variable == variable)
                values = [
                    elements.value(self.cells.cells[cell].value)
                    for cell in self.cells.of[slot]
                    if literals[cell] != FALSE
                ]
                ranges.append([domain.rank(value) for value in values if domain.contains(value)])
            total *= len(ranges[-1])
        if total > MOST_ARGUMENTS:
            raise TooWide(
                f"action {action.name} has {total:,} tuples of arguments, more than {MOST_ARGUMENTS:,}"
            )
        return ranges

    def _instance(self, action: ir.Action, ranks: tuple[int, ...]) -> None:
        key = (action.name, ranks)
        if key in self._known:
            return
        self.clock.check()
        arguments = tuple(
            self.program.domain(parameter.type).value(rank)
            for parameter, rank in zip(action.parameters, ranks, strict=True)
        )
        made = self._translate(action, arguments)
        self._known[key] = made
        if made.enabled != FALSE or made.wrong != FALSE:
            self.instances.append(made)

    def _translate(self, action: ir.Action, arguments: tuple[object, ...]) -> Instance:
        step = ground(self.program, action.name, arguments)
        translate, circuit = self._translator, self.circuit
        enabled = translate.boolean(step.enabled)
        reasons = self._reasons(step.checks)
        wrong = circuit.disjunction([literal for literal, _ in reasons])
        runs = self._without(enabled, wrong)
        changes: list[Change] = []
        if runs != FALSE:
            for slot, expression in step.updates:
                literals = self.cells.literals(slot, translate.value(expression))
                for cell, literal in zip(self.cells.of[slot], literals, strict=True):
                    if literal != self.variables[cell]:
                        changes.append(self._change(slot, cell, literal))
        moves = circuit.disjunction([self._moves(change) for change in changes])
        found = (
            [
                (item.property, circuit.conjunction((runs, translate.boolean(item.broken))))
                for item in step.breaks
            ]
            if runs != FALSE
            else []
        )
        made = Instance(
            len(self.instances),
            Step(action.name, arguments),
            step.fault,
            enabled,
            wrong,
            reasons,
            runs,
            circuit.conjunction((runs, moves)),
            tuple(changes),
            tuple((name, literal) for name, literal in found if literal != FALSE),
        )
        return self.with_changes(made, tuple(changes), made.moves)

    def with_changes(self, instance: Instance, changes: tuple[Change, ...], moves: int) -> Instance:
        """Return the instance with only these changes; `moves` is the literal that says when it changes the
        state.
        """
        return replace(
            instance,
            moves=moves,
            changes=changes,
            reads=self.resources([instance.runs, *(change.literal for change in changes)]),
            sets=self._resources(change.cell for change in changes if not change.adds),
            adds=self._resources(change.cell for change in changes if change.adds),
        )

    def _without(self, enabled: int, wrong: int) -> int:
        """Return the literal `enabled and not wrong`, simplified: conditions of `enabled` are left out inside
        `wrong`.
        """
        facts = (
            self.circuit.operands(enabled) if enabled > 0 and self.circuit.operands(enabled) else (enabled,)
        )
        given = {abs(fact): TRUE if fact > 0 else FALSE for fact in facts if not self.circuit.operands(fact)}
        return self.circuit.conjunction((enabled, -self.circuit.substitute(wrong, given, {1: TRUE})))

    def _change(self, slot: int, cell: int, literal: int) -> Change:
        """Return the change of a cell; `old or something`, the commonest change of a set, is recognised,
        since two such changes commute.
        """
        own = self.variables[cell]
        if isinstance(self.layout.slots[slot].sort, Bits):
            if literal == TRUE:
                return Change(cell, TRUE, adds=True)
            operands = self.circuit.operands(literal)
            if literal < 0 and -own in operands:
                added = self.circuit.disjunction([-operand for operand in operands if operand != -own])
                if own not in self.circuit.support((added,)):
                    return Change(cell, added, adds=True)
        return Change(cell, literal, adds=False)

    def _moves(self, change: Change) -> int:
        own = self.variables[change.cell]
        return (
            self.circuit.conjunction((change.literal, -own))
            if change.adds
            else -self.circuit.equal(change.literal, own)
        )

    def resources(self, literals: Iterable[int]) -> int:
        """Return the cells on which the values of `literals` depend, as bits of a number."""
        return self._resources(self._cell_of[variable] for variable in self.circuit.support(literals))

    def _resources(self, cells: Iterator[int]) -> int:
        """Return cells as bits of a number; the cells of one numeric slot change together, and count as the
        first.
        """
        found = 0
        for cell in cells:
            slot = self.cells.cells[cell].slot
            found |= 1 << (
                cell if isinstance(self.layout.slots[slot].sort, Bits) else self.cells.of[slot].start
            )
        return found


def _within(action: ir.Action) -> dict[str, str]:
    """Return, for each parameter of an action, the set variable that the action's leading guards require it
    to be in.
    """
    found: dict[str, str] = {}
    for statement in action.body:
        match statement:
            case ir.Require(
                condition=ir.Member(item=ir.Name(name=name), collection=ir.Read(variable=variable))
            ):
                found[name] = variable
            case _:
                break
    return found
