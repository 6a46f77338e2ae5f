"""Search for the smallest stack by Z3: for each level a choice of a layer, and a boolean for each property.

Levels are added one by one until there is a solution.

The formulas state the rule of the calculus, independently of the graph search, with which the result is
compared. Z3 cannot show that no stack of any size exists: beyond `depth` layers the result is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import z3

from antiphon.model.composition.found import Found, Stack
from antiphon.model.verdict import Outcome
from antiphon.spec.composition import LAYERS, Layer, Property


def smallest_by_z3(
    wanted: Iterable[Property],
    given: Iterable[Property],
    layers: Sequence[Layer] = LAYERS,
    *,
    depth: int = 12,
) -> Found:
    """Return the well-formed stacks of the fewest layers, at most `depth`, above which all wanted properties
    hold.
    """
    goal, start = frozenset(wanted), frozenset(given)
    for size in range(depth + 1):
        levels = _Levels(start, layers, size)
        stacks = levels.solutions(goal)
        if stacks:
            return Found(
                Outcome.HOLDS, stacks, f"no stack of fewer than {size} layers satisfies the formulas"
            )
    return Found(
        Outcome.UNKNOWN, (), f"no stack of up to {depth} layers yields it; larger ones were not tried"
    )


class _Levels:
    """`size` levels of a stack as formulas: the layer at each level, and the properties below and above it.

    `holds[k][p]`: property p holds above level k (level 0 is the network). `choice[k]`: the layer of level k
    + 1.
    """

    def __init__(self, given: frozenset[Property], layers: Sequence[Layer], size: int) -> None:
        self.layers = tuple(layers)
        self.solver = z3.Solver()
        self.solver.set("ctrl_c", False)  # the searches are short, and Z3 would keep the signal for good
        self.choice = [z3.Int(f"layer_{level}") for level in range(size)]
        self.holds = [
            {item: z3.Bool(f"{item.name}_{level}") for item in Property} for level in range(size + 1)
        ]
        for item, variable in self.holds[0].items():
            self.solver.add(variable == (item in given))
        for level, choice in enumerate(self.choice):
            self.solver.add(choice >= 0, choice < len(self.layers))
            for number, layer in enumerate(self.layers):
                self.solver.add(z3.Implies(choice == number, z3.And(self._rule(layer, level))))

    def _rule(self, layer: Layer, level: int) -> list[z3.BoolRef]:
        """Return the formulas that relate a layer at this level to the properties below and above it."""
        below, above = self.holds[level], self.holds[level + 1]
        rules = [below[item] for item in Property if item in layer.requires]
        for item in Property:
            if item in layer.provides:
                rules.append(above[item])
            elif item in layer.inherits:
                rules.append(above[item] == below[item])
            else:
                rules.append(z3.Not(above[item]))
        return rules

    def solutions(self, goal: frozenset[Property]) -> tuple[Stack, ...]:
        """Return all stacks of this size above which the goal holds, bottom layers in the order of the
        table.
        """
        self.solver.add([self.holds[-1][item] for item in Property if item in goal])
        found: list[list[int]] = []
        while self.solver.check() == z3.sat:
            model = self.solver.model()
            numbers = [model.eval(choice, model_completion=True).as_long() for choice in self.choice]
            found.append(numbers)
            self.solver.add(
                z3.Or([choice != number for choice, number in zip(self.choice, numbers, strict=True)])
            )
        return tuple(tuple(self.layers[number] for number in reversed(numbers)) for numbers in sorted(found))
