"""Limits of a bounded model, so that runs of a swarm can be drawn within it.

The sources of each message are taken from the model's steps; the number of losses, and whether timers are
counted, from its constants `losses` and `timeouts`. Other bounds are not known here: a run that exceeds them
leaves the model, and counts all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon.conformance.compare.bindings import bound_protocol
from antiphon.conformance.compare.bindings.core_binding import SENDING
from antiphon.conformance.run.swarm.settings import Budget, FaultKind, Settings
from antiphon.conformance.run.swarm.swarm import core_of
from antiphon.model.engines import transitions_of
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.spec.lang import SpecError
from antiphon.spec.services import Message, Process

__all__ = ["within_model"]


def within_model(protocol: str) -> Settings:
    """Return settings whose runs stay within the model that lockstep walks for this protocol, as far as
    drawing can ensure it: its members, its messages, its losses.

    Raises:
        SpecError: no such protocol, one without an implementation, a model without numbers of processes and
            messages, or an error on the explored part.
    """
    core_of(protocol)
    bound = bound_protocol(protocol)
    program = bound.bind(**bound.small).program
    constants = program.constants
    for name in ("processes", "messages"):
        if name not in constants:
            told = f"how many {name} a run has says a constant {name!r}, and its model has none"
            raise SpecError(f"{protocol}: {told}")
    edges, seen = transitions_of(program), _Steps()
    space, _ = walk(edges, seen)
    if space.failure is not None:
        raise space.failure
    sources: list[set[int]] = [set() for _ in range(int(constants["messages"]))]
    for step in map(edges.step, seen.numbers):
        if step.action in SENDING:
            first = {kind: next((a for a in step.arguments if isinstance(a, kind)), None) for kind in _WHO}
            process, message = (first[kind] for kind in _WHO)
            if process is not None and message is not None:
                sources[message.index].add(process.index)
    if not all(sources):
        raise SpecError(
            f"{protocol}: nobody broadcasts some message of its model, so that no run is within it"
        )
    budget = Budget(
        losses=int(constants.get("losses", 0)),
        sources=tuple(tuple(sorted(members)) for members in sources),
        timers="timeouts" not in constants,
    )
    kinds = {FaultKind.REORDERING, FaultKind.SKEW} | ({FaultKind.LOSS} if budget.losses else set())
    return Settings(
        members=int(constants["processes"]),
        messages=len(sources),
        faults=tuple(kind for kind in FaultKind if kind in kinds),
        within=budget,
    )


_WHO = (Process, Message)


class _Steps(Visitor):
    """Visitor of a model's graph: the step numbers that are enabled in any state."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()

    def transitions(self, _state: int, moves: Sequence[tuple[int, Any]]) -> None:
        """Store the numbers of the enabled steps of a state."""
        self.numbers.update(number for number, _ in moves)
