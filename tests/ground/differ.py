"""The differential test: a program's ground steps against CPython, in every state asked for."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator

from antiphon.model.ground import Evaluator, flatten, step, unflatten
from antiphon.model.ground.execute import Grounder
from antiphon.model.ground.form import GroundStep
from antiphon.model.ground.layout import plan
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step
from antiphon.spec.lang.types import Domain


def instances(program: Program) -> Iterator[Step]:
    """Every action with every value of its parameters."""
    for action in program.module.actions:
        for arguments in itertools.product(
            *(program.domain(parameter.type) for parameter in action.parameters)
        ):
            yield Step(action.name, arguments)


def by_reference(program: Program, state: State, taken: Step) -> object:
    """The outcome that CPython gives: "wrong", None (not enabled), or the next state, the events and the
    broken properties.
    """
    try:
        transition = program.reference.apply(state, taken)
    except Disabled:
        return None
    except SpecError:
        return "wrong"
    return transition.state, transition.events, tuple(refusal.property for refusal in transition.refused)


class Grounded:
    """The ground steps of one program, each made once: for given arguments, and for all."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.grounder = Grounder(program)
        self.actions = {action.name: action for action in program.module.actions}
        self._steps: dict[tuple[str, object], GroundStep] = {}

    def step(self, action: str, arguments: tuple[object, ...] | None) -> GroundStep:
        """The ground step of an action."""
        key = action, arguments
        if key not in self._steps:
            self._steps[key] = self.grounder.step(action, arguments)
        return self._steps[key]

    def inputs(self, taken: Step) -> Iterator[int | bool]:
        """The raw leaves of the arguments."""
        shapes = plan(self.program).shapes
        for parameter, argument in zip(self.actions[taken.action].parameters, taken.arguments, strict=True):
            yield from shapes[parameter.type].raw(argument)

    def outcome(self, slots: tuple[int | bool, ...], taken: Step, *, general: bool) -> object:
        """The outcome as `by_reference` gives it; `general`: by the step for all arguments."""
        made = self.step(taken.action, None if general else taken.arguments)
        outcome = step(made, slots, tuple(self.inputs(taken)) if general else ())
        if outcome.wrong is not None:
            return "wrong"
        if outcome.slots is None:
            return None
        events = tuple(self.program.domain(kind).value(rank) for kind, rank in outcome.events)
        following = unflatten(self.program, outcome.slots)
        if not all(map(Domain.contains, self.program.domains.values(), following)):
            return "no state"
        assert flatten(self.program, following) == outcome.slots, "the next state is not canonical"
        return following, events, tuple(broken.property for broken in outcome.breaks)

    def predicate(self, slots: tuple[int | bool, ...], name: str) -> object:
        """The value of a predicate, "wrong" where a check fails."""
        grounded = self.grounder.predicate(name)
        value = Evaluator(slots)
        return "wrong" if any(value(check.wrong) for check in grounded.checks) else value(grounded.holds)


def predicate_by_reference(program: Program, state: State, name: str) -> object:
    """The value of a predicate by CPython, "wrong" where it fails."""
    try:
        return program.reference.holds(state, name)
    except SpecError:
        return "wrong"


def disagreements(program: Program, cases: Iterable[tuple[State, Iterable[Step]]]) -> Iterator[str]:
    """Differences between CPython and the ground form: on these steps of these states, and on every predicate
    in them.
    """
    grounded = Grounded(program)
    for state, steps in cases:
        slots = flatten(program, state)
        if unflatten(program, slots) != state:
            yield f"{state} does not come back from its slots"
        for taken in steps:
            expected = by_reference(program, state, taken)
            for general in (False, True):
                found = grounded.outcome(slots, taken, general=general)
                if found != expected:
                    form = "for all arguments" if general else "for these arguments"
                    yield f"{taken} in {state}: CPython {expected}, the ground step {form} {found}"
        for item in program.module.predicates:
            expected, found = (
                predicate_by_reference(program, state, item.name),
                grounded.predicate(slots, item.name),
            )
            if found != expected:
                yield f"{item.name} in {state}: CPython {expected}, ground form {found}"


def whole_graph(program: Program) -> Iterator[tuple[State, Iterable[Step]]]:
    """Every reachable state with every step, breadth-first by the reference machine."""
    steps = list(instances(program))
    queue = list(program.reference.initial())
    seen = set(queue)
    for state in queue:
        yield state, steps
        for taken in steps:
            outcome = by_reference(program, state, taken)
            if isinstance(outcome, tuple) and outcome[0] not in seen:
                seen.add(outcome[0])
                queue.append(outcome[0])


def walk(program: Program, rng: random.Random, count: int) -> Iterator[tuple[State, list[Step]]]:
    """States along random walks, begun anew now and then, each with the step that the walk takes there."""
    starts, every = list(program.reference.initial()), list(instances(program))
    state = rng.choice(starts)
    for number in range(count):
        rng.shuffle(every)
        tried = ((taken, by_reference(program, state, taken)) for taken in every)
        taken, outcome = next((found for found in tried if isinstance(found[1], tuple)), (None, None))
        yield state, [] if taken is None else [taken]
        state = outcome[0] if isinstance(outcome, tuple) and number % 20 != 19 else rng.choice(starts)
