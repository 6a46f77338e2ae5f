"""Mutation testing of a refinement: each mutant of a protocol is explored, and every transition must be a
step of the abstract machine.

1. A mutant breaks the refinement when a transition of it is no step of the machine, which a run that CPython
   takes shows. A result that a bound left open counts as open, never as broken.
2. A mutant that changes variables of the mapping is skipped: it would be another mapping.
3. Mutants are of the protocol's text alone, not of the machine or the mapping.

This file knows no protocol and no abstract machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from antiphon.model.bounds import Bounds, StopReason
from antiphon.model.mutation import BOUNDS, Answer, Fate, LeftOut, Mutant
from antiphon.model.mutation.mutants import reached
from antiphon.model.refinement import check_refinement
from antiphon.model.refinement.mapping import images
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import Program, SpecError, ir
from antiphon.spec.refinement import Refinement

PROPERTY = "Refinement"
BRIEF_STATES = 2_000
"""Number of states of a mutant that a brief check explores."""

_EVERYTHING = frozenset({PROPERTY})


class RefinementTrial:
    """Protocol with a mapping, whose mutants are checked against the abstract machine.

    Args:
        program: the protocol with its constants, a program of `refinement.concrete`.
        refinement: the mapping.
        bounds: the bounds for each mutant.
    """

    def __init__(self, program: Program, refinement: Refinement, bounds: Bounds = BOUNDS) -> None:
        self.program, self.refinement, self.bounds = program, refinement, bounds
        self.kinds = {PROPERTY: PropertyKind.REFINEMENT}
        protocol, machine = refinement.bind(program)
        helpers = {image.helper for image in images(protocol, machine)} & _texts(protocol.module).keys()
        called = (reached(_texts(protocol.module)[name].body, protocol.module) for name in helpers)
        self._mapping = helpers.union(*called)

    def ask(
        self, mutant: Mutant | LeftOut, _: Iterable[str] | None = None, *, briefly: bool = False
    ) -> Answer:
        """Check whether the mutant still refines the machine; a refinement is the only property."""
        try:
            changed = mutant.of(self.program)
            before, after = _texts(self.program.module), _texts(changed.module)
            if any(before[name] != after.get(name) for name in self._mapping):
                return Answer(Fate.UNDECIDED, apart=(PROPERTY,), reason="it changes what the mapping reads")
            report = check_refinement(changed, self.refinement, bounds=self._bounds(briefly=briefly))
        except SpecError as error:
            return Answer(Fate.INVALID, reason=error.reason)
        verdict, stopped = report[PROPERTY], report.exploration.stopped
        if verdict.outcome is Outcome.VIOLATED:
            return Answer(Fate.KILLED, (PROPERTY,))
        if stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        if stopped is StopReason.ERROR:
            return Answer(Fate.INVALID, reason=verdict.reason)
        if stopped is not None:
            return Answer(Fate.UNDECIDED, open=(PROPERTY,), reason=verdict.reason)
        return Answer(Fate.UNDECIDED, reason="not compared")

    def _bounds(self, *, briefly: bool) -> Bounds:
        if not briefly or (self.bounds.states is not None and self.bounds.states < BRIEF_STATES):
            return self.bounds
        return replace(self.bounds, states=BRIEF_STATES)

    def touched(self, _: Mutant | LeftOut) -> frozenset[str]:
        """Return the refinement, which every mutant touches: each step must be one of the machine's."""
        return _EVERYTHING

    def trivial(self, _: str) -> str:
        """Return "": a refinement is never trivially true, since any step that the machine does not have
        breaks it.
        """
        return ""


def _texts(module: ir.Module) -> dict[str, ir.Definition]:
    """Map the names of a module's functions and procedures to their definitions."""
    return {item.name: item for item in (*module.functions, *module.procedures)}
