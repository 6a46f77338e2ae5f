"""Plans for the arguments of an action that are tried in a state: unrolled where they are few, and taken from
the bits of a set where a guard asks for membership.

An action whose guard says "the packet is in the network" is tried for the packets in the set: the loop runs
over the bits of the set. An action with few arguments becomes one step for each. Otherwise parameters of a
small domain are unrolled, and the others looped over, with one variant of the step for each value of the
leaves that make it much smaller (the process that a packet goes to, say).

This file plans; it knows nothing of LLVM. A plan keeps the order of the reference: actions as declared,
arguments in domain order.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from antiphon.model.engines.native.compiler.reduction import WHOLE, Reduction
from antiphon.model.engines.native.compiler.specialise import (
    Substitution,
    inputs_of,
    reached,
    reads_state,
    roots_of,
    size_of,
)
from antiphon.model.engines.native.compiler.steps import is_false
from antiphon.model.ground import Evaluator, LargeStep, ground, make
from antiphon.model.ground.codes import Codes
from antiphon.model.ground.footprint import conjuncts
from antiphon.model.ground.form import Bits, Expression, GroundStep, InputInfo, Operator
from antiphon.model.ground.layout import plan
from antiphon.model.ground.words import WORD
from antiphon.spec.lang import Program
from antiphon.spec.lang.declare import MethodDeclaration
from antiphon.spec.lang.watch import working

UNROLLED_STEPS = 24
UNROLLED_MEMBERS = 10
UNROLLED_NODES = 2_500
UNROLLED_PARAMETER = 5
UNROLLED_TOGETHER = 10
MOST_VARIANTS = 9
VARIANT_NODES = 4_000
"""Approximate number of nodes that all variants of a step may have together: more would take longer to
compile than they save.
"""
LARGE_NODES = 12_000
"""Number of nodes from which a step is not compiled as a whole, but for each value of the leaves that it
compares most.
"""
MOST_PARTS = 16
"""Largest number of parts into which a large step (`LARGE_NODES`) is divided."""
SELECTIONS = 2
"""Number of nodes that must compare a leaf before the step gets variants for its values."""

Row = tuple[int | bool, ...]


@dataclass(frozen=True)
class Parameter:
    """Parameter of an action: the raw leaves of each value of its domain, and the position of its first leaf
    among the inputs.
    """

    rows: tuple[Row, ...]
    first: int

    @property
    def width(self) -> int:
        """Return the number of leaves of a value."""
        return len(self.rows[0]) if self.rows else 0


@dataclass(frozen=True)
class Loop:
    """Loop over the values of a parameter: `ranks` are the values to try.

    With `slot` the loop runs over the bits of the set in that slot; `elements` gives for each rank the rank
    of its element in the set, and `element` is the expression of the element in the step.
    """

    parameter: int
    ranks: tuple[int, ...]
    slot: int | None = None
    elements: tuple[int, ...] = ()
    element: Expression | None = None


@dataclass(frozen=True)
class Variant:
    """Variant of a step for some values of a parameter's leaves; `elements` are the elements of the loops, as
    far as the step may mention them.
    """

    step: GroundStep
    elements: tuple[Expression | None, ...] = ()


@dataclass(frozen=True)
class Branch:
    """Branch of a plan: one choice of the unrolled parameters. `code` is the number of the step with this
    choice and with rank 0 for all other parameters; loops come outermost first.

    `chosen[rank]` is the variant for a rank of the innermost loop's parameter; without loops there is one
    variant.
    """

    code: int
    loops: tuple[Loop, ...]
    variants: tuple[Variant, ...]
    chosen: tuple[int, ...] = ()


@dataclass(frozen=True)
class ActionPlan:
    """Plan for the arguments of an action; its codes begin at `base`, argument by argument in mixed radix
    `strides`.
    """

    name: str
    fault: bool
    base: int
    parameters: tuple[Parameter, ...]
    strides: tuple[int, ...]
    branches: tuple[Branch, ...]


def plan_actions(program: Program, reduction: Reduction = WHOLE) -> list[ActionPlan]:
    """Return the plans of all actions and faults of a program, in the order of the reference, without those
    that a reduction leaves out.
    """
    codes = Codes.of(program)
    methods = program.declaration.marked("action", "environment")
    return [
        _Planner(program, method, number, codes, reduction).plan() for number, method in enumerate(methods)
    ]


class _Planner:
    def __init__(
        self, program: Program, method: MethodDeclaration, number: int, codes: Codes, reduction: Reduction
    ) -> None:
        self.program, self.method, self.reduction = program, method, reduction
        self.base = codes.bases[number]
        shapes = plan(program).shapes
        rows, first = [], 0
        for parameter in method.parameters:
            shape = shapes[parameter.type]
            rows.append(Parameter(tuple(tuple(shape.raw(value)) for value in shape.domain), first))
            first += shape.width
        self.parameters = tuple(rows)
        sizes = [len(parameter.rows) for parameter in self.parameters]
        self.strides = tuple(math.prod(sizes[position + 1 :]) for position in range(len(sizes)))
        self.total = math.prod(sizes)

    def plan(self) -> ActionPlan:
        fault = next(
            action.fault for action in self.program.module.actions if action.name == self.method.name
        )
        branches = self.all_branches() if self.total else ()
        return ActionPlan(
            self.method.name, fault, self.base, self.parameters, self.strides, branches
        )

    def all_branches(self) -> tuple[Branch, ...]:
        try:
            step = self.grounded(most=LARGE_NODES)
        except LargeStep as large:
            parts = self.parts(large)
            if parts is not None:
                return parts
            step = self.grounded()
        return tuple(self.branches(step))

    def grounded(self, fixed: Mapping[int, int | bool] | None = None, most: int | None = None) -> GroundStep:
        """Return the step, grounded for given values of some inputs, without the parts that a reduction
        leaves out.
        """
        return self.reduction.step(
            self.program, ground(self.program, self.method.name, fixed=fixed or {}, most=most)
        )

    def branches(self, step: GroundStep) -> Iterator[Branch]:
        few = self.most_unrolled() == UNROLLED_STEPS and self.total * size_of(step) <= UNROLLED_NODES
        given, looped = self.divided(step.inputs, few=few)
        for ranks, code in self.choices(given):
            working(f"compiling {self.method.name}")
            constants: dict[int, Expression] = {}
            for position, rank in zip(given, ranks, strict=True):
                parameter = self.parameters[position]
                constants |= self.constants(step, parameter, parameter.rows[rank])
            branch = self.branch(Substitution(constants).step(step), code, looped)
            if branch is not None:
                yield branch

    def choices(self, given: Sequence[int]) -> Iterator[tuple[tuple[int, ...], int]]:
        """Yield the ranks of the unrolled parameters, and the code of these arguments."""
        for ranks in itertools.product(*(range(len(self.parameters[position].rows)) for position in given)):
            yield (
                ranks,
                self.base
                + sum(rank * self.strides[position] for position, rank in zip(given, ranks, strict=True)),
            )

    def most_unrolled(self) -> int:
        """Return the largest number of steps into which the action is unrolled."""
        return (
            UNROLLED_MEMBERS
            if any(parameter.within for parameter in self.method.parameters)
            else UNROLLED_STEPS
        )

    def divided(self, inputs: Sequence[InputInfo], *, few: bool) -> tuple[list[int], list[int]]:
        """Return the parameters to unroll, and those to loop over; with `few` all are unrolled, since the
        step is small.
        """
        given = (
            list(range(len(self.parameters))) if few or self.total <= self.most_unrolled() else self.small()
        )
        looped = [position for position in range(len(self.parameters)) if position not in given]
        wide = [position for position in looped if self.has_wide_leaf(inputs, position)]
        given, looped = sorted([*given, *wide]), [position for position in looped if position not in wide]
        if looped and given and min(looped) < max(given):
            given, looped = (
                [position for position in given if position < min(looped)],
                sorted({*looped, *(p for p in given if p > min(looped))}),
            )
        return given, looped

    def small(self) -> list[int]:
        """Return the parameters that are unrolled although others are not: those of small domains, as long as
        their combinations stay few.
        """
        chosen, together = [], 1
        for position, parameter in enumerate(self.parameters):
            size = len(parameter.rows)
            if size <= UNROLLED_PARAMETER and together * size <= UNROLLED_TOGETHER:
                chosen.append(position)
                together *= size
        return chosen

    def has_wide_leaf(self, inputs: Sequence[InputInfo], position: int) -> bool:
        parameter = self.parameters[position]
        infos = inputs[parameter.first : parameter.first + parameter.width]
        return any(isinstance(info.sort, Bits) and info.sort.width > WORD for info in infos)

    @staticmethod
    def constants(step: GroundStep, parameter: Parameter, row: Row) -> dict[int, Expression]:
        """Return, for each input, the constant of a parameter's leaf in one value of the parameter."""
        return {
            parameter.first + leaf: make.constant(step.inputs[parameter.first + leaf].sort, raw) for leaf,
            raw in enumerate(row)
        }  # fmt: skip

    def branch(self, step: GroundStep, code: int, looped: list[int]) -> Branch | None:
        if _never(step):
            return None
        if not looped:
            return Branch(code, (), (Variant(step),))
        loops = []
        for position in looped:
            step, loop = self.loop(step, position)
            loops.append(loop)
        variants, chosen = self.variants(step, loops)
        return Branch(code, tuple(loops), variants, chosen)

    # Loops --------------------------------------------------------------------------------------------------

    def loop(
        self, step: GroundStep, position: int, among: Iterable[int] | None = None
    ) -> tuple[GroundStep, Loop]:
        """Return a loop over a parameter, or over some of its values, and the step inside it. Guards that
        depend on the parameter alone are decided now and dropped.

        With `among` the checks keep these guards: as the first conditions of all checks they cost little.
        """
        rest = without_guards if among is None else enabled_without
        parameter = self.parameters[position]
        own = frozenset(range(parameter.first, parameter.first + parameter.width))
        ranks = list(range(len(parameter.rows)) if among is None else among)
        kept, decided = [], []
        for guard in conjuncts(step.enabled):
            inputs = inputs_of(guard)
            if inputs and inputs <= own and not reads_state(guard) and self.implied(step, guard):
                ranks = [rank for rank in ranks if self.evaluate(step, parameter, rank, guard)]
                decided.append(guard)
            else:
                kept.append(guard)
        for guard in kept:
            members = self.membership(guard, own)
            if members is not None and self.implied(step, guard):
                slot, element = members
                elements = [0] * len(parameter.rows)
                for rank in ranks:
                    elements[rank] = int(self.evaluate(step, parameter, rank, element))
                if _rises([elements[rank] for rank in ranks]):
                    return rest(step, [*decided, guard]), Loop(
                        position, tuple(ranks), slot, tuple(elements), element
                    )
        return rest(step, decided), Loop(position, tuple(ranks))

    @staticmethod
    def implied(step: GroundStep, guard: Expression) -> bool:
        """Return True if no check of the step can fail in a state where the guard is false."""
        return all(is_false(check.wrong) or guard in conjuncts(check.wrong) for check in step.checks)

    @staticmethod
    def membership(guard: Expression, own: frozenset[int]) -> tuple[int, Expression] | None:
        """Return the slot and the element if the guard is `element in slot` and the element depends on the
        inputs `own` only; else None.
        """
        if guard.operator is not Operator.HAS or guard.operands[0].operator is not Operator.SLOT:
            return None
        element = guard.operands[1]
        inputs = inputs_of(element)
        return (
            (int(guard.operands[0].value), element)
            if inputs and inputs <= own and not reads_state(element)
            else None
        )

    def evaluate(self, step: GroundStep, parameter: Parameter, rank: int, expression: Expression) -> Any:
        inputs: list[int | bool] = [0] * len(step.inputs)
        inputs[parameter.first : parameter.first + parameter.width] = parameter.rows[rank]
        return Evaluator((), inputs)(expression)

    # Variants -----------------------------------------------------------------------------------------------

    def variants(
        self, step: GroundStep, loops: Sequence[Loop]
    ) -> tuple[tuple[Variant, ...], tuple[int, ...]]:
        """Return variants of a step for the values of some leaves of the innermost loop's parameter, where
        they make the step much smaller.
        """
        loop = loops[-1]
        parameter = self.parameters[loop.parameter]
        leaves = self.selectors(step, loop)
        keys = {tuple(parameter.rows[rank][leaf] for leaf in leaves) for rank in loop.ranks}
        made = {key: self.fixed(step, loops, leaves, key) for key in keys}
        order = sorted(made)
        chosen = [0] * len(parameter.rows)
        for rank in loop.ranks:
            chosen[rank] = order.index(tuple(parameter.rows[rank][item] for item in leaves))
        return tuple(made[key] for key in order), tuple(chosen)

    def selectors(self, step: GroundStep, loop: Loop) -> tuple[int, ...]:
        """Return the leaves of a loop's parameter that most often choose between parts of the state, as many
        as keep the variants few.
        """
        parameter = self.parameters[loop.parameter]
        chosen: tuple[int, ...] = ()
        nodes = reached(roots_of(step))
        size = len(nodes)
        for leaf in self.by_uses(nodes, parameter):
            together = {tuple(parameter.rows[rank][item] for item in (*chosen, leaf)) for rank in loop.ranks}
            if 1 < len(together) <= MOST_VARIANTS and len(together) * size <= VARIANT_NODES:
                chosen = *chosen, leaf
        return chosen

    @staticmethod
    def by_uses(nodes: Iterable[Expression], parameter: Parameter) -> list[int]:
        """Return the leaves of a parameter that are compared in at least `SELECTIONS` of these nodes, the
        most compared first.
        """
        uses = Counter(
            int(operand.value) - parameter.first
            for node in nodes
            if node.operator is Operator.EQUAL
            for operand in node.operands
            if operand.operator is Operator.INPUT
        )
        found = (
            (-count, leaf)
            for leaf, count in uses.items()
            if 0 <= leaf < parameter.width and count >= SELECTIONS
        )
        return [leaf for _, leaf in sorted(found)]

    # Large steps --------------------------------------------------------------------------------------------

    def parts(self, large: LargeStep) -> tuple[Branch, ...] | None:
        """Return the branches of a step that is too large to be made as a whole; None if it cannot be cut:
        two parameters are looped over, or nothing is compared.
        """
        given, looped = self.divided(large.inputs, few=False)
        if len(looped) > 1:
            return None
        leaves = self.compared(large, looped[0]) if looped else ()
        if looped and not leaves:
            return None
        found: list[Branch | None] = []
        for ranks, code in self.choices(given):
            rows = [(self.parameters[position], rank) for position, rank in zip(given, ranks, strict=True)]
            fixed = {
                parameter.first + leaf: raw
                for parameter, rank in rows
                for leaf, raw in enumerate(parameter.rows[rank])
            }
            if looped:
                branch = self.part(code, looped[0], leaves, fixed)
                if branch is None:
                    return None
                found.append(branch)
            else:
                found.append(self.branch(self.grounded(fixed), code, []))
        return tuple(branch for branch in found if branch is not None)

    def compared(self, large: LargeStep, position: int) -> tuple[int, ...]:
        """Return the leaves of a parameter that a large step compares most, as many as keep its parts few."""
        parameter = self.parameters[position]
        chosen: tuple[int, ...] = ()
        for leaf in self.by_uses(reached(large.roots), parameter):
            if (
                1
                < len({tuple(row[item] for item in (*chosen, leaf)) for row in parameter.rows})
                <= MOST_PARTS
            ):
                chosen = *chosen, leaf
        return chosen

    def part(
        self, code: int, position: int, leaves: Sequence[int], fixed: Mapping[int, int | bool]
    ) -> Branch | None:
        """Return a branch of a large step, with one variant for all values of these leaves; None if no loop
        suits all of them.
        """
        parameter = self.parameters[position]
        groups: dict[Row, list[int]] = {}
        for rank, row in enumerate(parameter.rows):
            groups.setdefault(tuple(row[leaf] for leaf in leaves), []).append(rank)
        variants: list[Variant] = []
        loops: list[Loop] = []
        chosen = [0] * len(parameter.rows)
        for values, ranks in groups.items():
            step = self.grounded(
                {
                    **fixed,
                    **{parameter.first + leaf: value for leaf, value in zip(leaves, values, strict=True)},
                }
            )
            if _never(step):
                continue
            step, loop = self.loop(step, position, ranks)
            for rank in loop.ranks:
                chosen[rank] = len(variants)
            variants.append(Variant(step, (loop.element,)))
            loops.append(loop)
        if len({loop.slot for loop in loops}) != 1:
            return None
        elements = (
            tuple(map(max, *(loop.elements for loop in loops))) if len(loops) > 1 else loops[0].elements
        )
        whole = Loop(
            position, tuple(sorted(rank for loop in loops for rank in loop.ranks)), loops[0].slot, elements
        )
        if whole.slot is not None and not _rises([elements[rank] for rank in whole.ranks]):
            return None
        return Branch(code, (whole,), tuple(variants), tuple(chosen))

    def fixed(
        self, step: GroundStep, loops: Sequence[Loop], leaves: Sequence[int], values: Sequence[int | bool]
    ) -> Variant:
        """Return the variant of a step for these values of some leaves of the innermost loop's parameter."""
        parameter = self.parameters[loops[-1].parameter]
        replaced = Substitution({
            parameter.first + leaf: make.constant(step.inputs[parameter.first + leaf].sort, value) for leaf,
            value in zip(leaves, values, strict=True)
        })  # fmt: skip
        return Variant(
            replaced.step(step),
            tuple(None if loop.element is None else replaced(loop.element) for loop in loops),
        )


def _rises(numbers: Sequence[int]) -> bool:
    return all(before < after for before, after in itertools.pairwise(numbers))


def _never(step: GroundStep) -> bool:
    return is_false(step.enabled) and all(is_false(check.wrong) for check in step.checks)


def without_guards(step: GroundStep, dropped: Iterable[Expression]) -> GroundStep:
    """Return the step without these guards, which are true wherever the step is tried; its checks lose them
    as well.
    """
    gone = set(dropped)
    checks = tuple(
        replace(check, wrong=_without(check.wrong, gone))
        for check in step.checks
        if not is_false(check.wrong)
    )
    return replace(step, enabled=_without(step.enabled, gone), checks=checks)


def enabled_without(step: GroundStep, dropped: Iterable[Expression]) -> GroundStep:
    """Return the step without these guards, which are true wherever the step is tried; its checks keep
    them.
    """
    return replace(step, enabled=_without(step.enabled, set(dropped)))


def _without(node: Expression, gone: Collection[Expression]) -> Expression:
    return make.conjunction(*(part for part in conjuncts(node) if part not in gone))
