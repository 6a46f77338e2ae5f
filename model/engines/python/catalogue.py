"""Catalogue of the steps of a program: its actions for given arguments, grounded and compiled the first time
they could occur.

A parameter that ranges over the present elements of a set variable (`Annotated[Ack, In("network")]`) has a
huge domain of which few values ever occur. Its steps are made when the element first appears in a state; the
bit of the element is the step's *trigger*: without it the step is not enabled. Other parameters are
enumerated at once.

This file names, grounds and compiles a program's steps; it knows nothing of searching.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from antiphon.model.engines.python.common import made_of
from antiphon.model.engines.python.source import compile_functions, guard_source, needed_bits, step_source
from antiphon.model.ground import ground, layout
from antiphon.model.ground.footprint import Reads, Update, conjuncts, footprint, member_test, split
from antiphon.model.ground.form import Expression, GroundStep, Operator
from antiphon.model.ground.packing import Packing
from antiphon.spec.lang import Program, Step
from antiphon.spec.lang.declare import MethodDeclaration, ParameterDeclaration
from antiphon.spec.lang.watch import working

Answer = None | int | tuple[int, int] | tuple[int, int, tuple[int, ...]]
"""Result of a compiled step: None if it is not enabled, the number of a failed check, (keep, add), or (keep,
add, numbers of the broken properties). The next state is `s & keep | add`.
"""


NARROW_BITS = 8
"""Largest width of a slot that belongs to the footprint when it is written, so that a step that changes
nothing is recognised.
"""


@dataclass(eq=False, slots=True)
class Specialised:
    """A step of the program for given arguments; `run` is compiled when the step may first be enabled.

    `order` sorts steps as the reference enumerates them. `trigger` is the bit of a state without which the
    step is not enabled (0: none), and `needs` are bits that must have the values `has`. `footprint` are the
    bits, besides the trigger, on which the step's result depends.
    """

    order: tuple[int, ...]
    step: Step
    fault: bool
    trigger: int
    needs: int
    has: int
    footprint: int
    run: Callable[[int], Answer]
    ground: GroundStep


@dataclass
class _Elements:
    """Elements of one set variable that have occurred, by rank, and the place of the set in a state."""

    offset: int
    known: dict[int, Any]


class Catalogue:
    """Catalogue of all steps that could occur so far. `unknown` is the mask of set elements that would bring
    further steps. Steps that another program has too are taken from it (`common`).
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._made = made_of(program)
        self.layout = layout(program)
        self.packing = Packing(self.layout.slots)
        self.steps: list[Specialised] = []
        self.unknown = 0
        self._actions = list(enumerate(program.declaration.marked("action", "environment")))
        self._elements: dict[str, _Elements] = {}
        self._compiled = 0
        for _, method in self._actions:
            for parameter in method.parameters:
                if parameter.within:
                    self._watch(parameter)
        self._add(
            [
                (index, method, arguments)
                for index, method in self._actions
                for arguments in self._static(method)
            ]
        )

    @property
    def actions(self) -> list[str]:
        """Return the names of the actions as declared."""
        return [method.name for _, method in self._actions]

    def discover(self, packed: int) -> list[Specialised]:
        """Return the steps whose arguments are elements of sets in this state that no earlier state had."""
        wanted = []
        for name, elements in self._elements.items():
            domain = self.program.domains[name].parts[0]
            fresh = packed & self.unknown & ((1 << domain.cardinality) - 1) << elements.offset
            while fresh:
                bit = fresh & -fresh
                fresh ^= bit
                self.unknown ^= bit
                rank = bit.bit_length() - 1 - elements.offset
                elements.known[rank] = domain.value(rank)
                wanted += [
                    (index, method, arguments)
                    for index, method in self._actions
                    for arguments in self._with_element(method, name, rank)
                ]
        return self._add(wanted)

    # Arguments ----------------------------------------------------------------------------------------------

    def _watch(self, parameter: ParameterDeclaration) -> None:
        name = parameter.within
        slot = next(position for position, slot in enumerate(self.layout.slots) if slot.variable == name)
        offset = self.packing.places[slot].offset
        self._elements.setdefault(name, _Elements(offset, {}))
        accepted = self.program.domain(parameter.type)
        elements = self.program.domains[name].parts[0]
        if accepted.type == elements.type:
            self.unknown |= ((1 << elements.cardinality) - 1) << offset
            return
        for rank, element in enumerate(elements):
            if accepted.contains(element):
                self.unknown |= 1 << offset + rank

    def _static(self, method: MethodDeclaration) -> Iterable[tuple[Any, ...]]:
        if any(parameter.within for parameter in method.parameters):
            return []
        return itertools.product(
            *(list(self.program.domain(parameter.type)) for parameter in method.parameters)
        )

    def _with_element(self, method: MethodDeclaration, variable: str, rank: int) -> Iterable[tuple[Any, ...]]:
        """Yield the arguments, made of elements that have occurred, that contain the new element."""
        new = self._elements[variable].known[rank]
        ranges: list[list[Any]] = []
        for parameter in method.parameters:
            domain = self.program.domain(parameter.type)
            if parameter.within:
                ranges.append(
                    [
                        item
                        for item in self._elements[parameter.within].known.values()
                        if domain.contains(item)
                    ]
                )
            else:
                ranges.append(list(domain))
        places = [place for place, parameter in enumerate(method.parameters) if parameter.within == variable]
        return (
            arguments
            for arguments in itertools.product(*ranges)
            if any(arguments[place] is new for place in places)
        )

    # Compilation --------------------------------------------------------------------------------------------

    def _add(self, wanted: Sequence[tuple[int, MethodDeclaration, tuple[Any, ...]]]) -> list[Specialised]:
        made = []
        texts = []
        added: list[Specialised] = []
        for index, method, arguments in wanted:
            working(f"generating {method.name}")
            known = self._made[method.name]
            if arguments in known:
                if (found := known[arguments]) is not None:
                    added.append(found)
                continue
            step = ground(self.program, method.name, arguments)
            if _never(step.enabled) and all(_never(check.wrong) for check in step.checks):
                known[arguments] = None
                continue
            slots = Reads()
            updates = [split(slot, value, slots) for slot, value in step.updates]
            name = f"guard_{self._compiled}"
            self._compiled += 1
            if text := guard_source(name, step, self.packing):
                texts.append((name, text))
            reads = [
                step.enabled,
                *(check.wrong for check in step.checks),
                *(item.broken for item in step.breaks),
            ]
            reads += [part for update in updates for part in (update.keep, update.add)]
            mask = footprint(reads, self.packing)
            for update in updates:
                place = self.packing.places[update.slot]
                mask |= place.mask if place.width <= NARROW_BITS else 0
            made.append((index, method, arguments, step, name, mask, updates))
        functions = compile_functions(texts)
        for index, method, arguments, step, name, mask, updates in made:
            trigger = self._trigger(step)
            ranks = (
                self.program.domain(parameter.type).rank(value)
                for parameter, value in zip(method.parameters, arguments, strict=True)
            )
            compiled = Specialised(
                (index, *ranks),
                Step(method.name, arguments),
                step.fault,
                trigger,
                *needed_bits(step, self.packing),
                mask & ~trigger,
                _not_ready,
                step,
            )
            may = cast("Callable[[int], bool] | None", functions.get(name))
            compiled.run = _compiled_late(compiled, may, updates, self.packing)
            added.append(compiled)
            self._made[method.name][arguments] = compiled
        self.steps = sorted([*self.steps, *added], key=lambda item: item.order)
        return added

    def _trigger(self, step: GroundStep) -> int:
        """Return a bit of a shared set that must be set wherever the step is executed, its checks included; 0
        if there is none.
        """
        for part in conjuncts(step.enabled):
            bit = member_test(part, self.packing)
            if bit is None or self.packing.owners(bit):
                continue
            if all(
                any(part is other for other in conjuncts(check.wrong)) or _never(check.wrong)
                for check in step.checks
            ):
                return bit
        return 0


def _not_ready(_packed: int) -> Answer:
    """Answer "not enabled" for a step that has not been compiled, since it could not be enabled."""
    return None


def _compiled_late(
    step: Specialised, may: Callable[[int], bool] | None, updates: Sequence[Update], packing: Packing
) -> Callable[[int], Answer]:
    """Return a stub that compiles the step when the state has the bits it needs and `may` first allows it;
    most steps are never compiled.
    """

    def run(packed: int) -> Answer:
        if may is not None and not may(packed):
            return None
        text = step_source("step", step.ground, updates, packing)
        step.run = cast("Callable[[int], Answer]", compile_functions([("step", text)])["step"])
        return step.run(packed)

    return run


def _never(expression: Expression) -> bool:
    return expression.operator is Operator.CONSTANT and not expression.value
