"""Checks of the rules for bindings, on which lockstep, Hypothesis machines and replay build.

1. Every variable of the specification is projected, or exempt with a reason of at least four words.
2. Every action is bound: random walks take each of them on both sides, which agree.
3. Snapshots are immutable and hashable, and the same steps lead to the same ones.
4. Asking a process for its offers does not change it.
5. A binding assigns only to its own attributes and reads no private one of the implementation.

This module must not know any protocol.
"""

from __future__ import annotations

import ast
import inspect
import random
import textwrap
from collections.abc import Callable, Iterator

from antiphon.conformance.compare.bindings import Binding
from antiphon.conformance.compare.bindings import system as systems
from antiphon.conformance.compare.lockstep import Comparison, Differs
from antiphon.conformance.compare.suites.values import mutable_parts
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Step


def check_binding(
    make: Callable[[], Binding],
    *,
    walks: int = 200,
    steps: int = 60,
    seed: int = 0,
    never: frozenset[str] = frozenset(),
) -> None:
    """Check a binding; `make` makes a fresh one each time.

    Its constants must make every action possible, except for those that `never` names.

    Raises:
        AssertionError: a rule is broken; the message says which and where.
    """
    binding = make()
    name = type(binding).__name__
    faults = [*_variables(binding), *_reaches_inside(binding)]
    if faults:
        raise AssertionError(f"{name}: {'; '.join(faults)}")
    generator = random.Random(seed)
    missing = {method.name for method in binding.program.declaration.marked("action", "environment")}
    stray = frozenset(binding.internal) - missing
    if stray:
        raise AssertionError(f"{name}: {', '.join(sorted(stray))} is internal, but no action")
    comparison, again = Comparison(binding), make()
    missing -= never
    for _ in range(walks):
        fired = _walk(comparison, again, generator, missing, steps)
        if not never.isdisjoint(fired):
            raise AssertionError(f"{name}: {', '.join(sorted(never & fired))} is said never to be taken")
        missing -= fired
        if not missing:
            return
    raise AssertionError(
        f"{name}: never taken in {walks} walks of {steps} steps: {', '.join(sorted(missing))}"
    )


def _variables(binding: Binding) -> Iterator[str]:
    projected, exempt = set(systems.project(binding, systems.start(binding))), set(binding.exempt)
    for variable in binding.program.variables:
        if variable not in projected | exempt:
            yield f"{variable} is neither projected nor exempt"
    for variable in sorted(exempt):
        if variable not in binding.program.variables:
            yield f"{variable} is exempt, but no variable of {binding.program.name}"
        if variable in projected:
            yield f"{variable} is exempt and projected"
        if len(binding.exempt[variable].split()) < 4:
            yield (
                f"{variable} is exempt without a reason: say why it is not compared, in four words or more "
                f"(exempt = {{{variable!r}: 'the core forgets it at once'}})"
            )


def _walk(
    comparison: Comparison, again: Binding, generator: random.Random, missing: set[str], steps: int
) -> set[str]:
    """Take one walk on both sides, preferably to actions in `missing`; return the actions that it took."""
    state = generator.choice(list(comparison.machine.initial()))
    system = systems.start(comparison.binding)
    taken: list[Step] = []
    fired: set[str] = set()
    try:
        comparison.begin(state, system)
        while len(taken) < steps and (enabled := list(comparison.machine.enabled(state))):
            _offers_change_nothing(comparison, enabled, system)
            step = generator.choice([step for step in enabled if step.action in missing - fired] or enabled)
            taken.append(step)
            state, system = comparison.take(state, system, step)
            fired.add(step.action)
    except Differs as differs:
        told = f"after {' '.join(map(compact_step, taken))}: {differs}"
        raise AssertionError(f"{type(again).__name__}: {told}") from differs
    _check_snapshots(again, taken, system)
    return fired


def _offers_change_nothing(comparison: Comparison, enabled: list[Step], system: systems.System) -> None:
    restores = comparison.binding.restores
    comparison.offers(enabled, system)
    comparison.offers(enabled, system)
    if comparison.binding.restores != restores:
        raise AssertionError(f"{type(comparison.binding).__name__}: asking what processes offer moves them")


def _check_snapshots(binding: Binding, steps: list[Step], wanted: systems.System) -> None:
    """Check that the same steps on another system lead to the same snapshots, which no caller can change."""
    system = systems.start(binding)
    for step in steps:
        system, _ = systems.perform(binding, system, step)
    if system != wanted or hash(system) != hash(wanted):
        raise AssertionError(
            f"{type(binding).__name__}: the same steps lead to two systems: {wanted}, {system}"
        )
    for part in mutable_parts(system.processes, "snapshots"):
        raise AssertionError(f"{type(binding).__name__}: a snapshot can be changed: {part}")


def _reaches_inside(binding: Binding) -> Iterator[str]:
    """Yield the places where the binding's classes assign to an attribute of another object, or read a
    private one.
    """
    classes = [kind for kind in type(binding).__mro__ if kind.__module__ not in {"abc", "builtins", "typing"}]
    sources = [textwrap.dedent(inspect.getsource(kind)) for kind in classes]
    for node in (node for source in sources for node in ast.walk(ast.parse(source))):
        if not isinstance(node, ast.Attribute):
            continue
        text = ast.unparse(node)
        own = text.startswith("self.") and text.count(".") == 1
        if isinstance(node.ctx, ast.Store | ast.Del) and not own:
            yield f"it assigns to {text}"
        elif node.attr.startswith("_") and not node.attr.startswith("__") and not own:
            yield f"it reads {text}"
