"""Report of a lockstep walk: how much was compared, how much code was executed, the first difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from antiphon.conformance.compare.bindings import Binding
from antiphon.conformance.compare.bindings.binding import trait
from antiphon.conformance.compare.lockstep.comparison import Difference
from antiphon.model.bounds import Stop
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import Program, State, Step

ONE_WAY = "each after one way to its state, as there is no snapshot"
"""Note on a walk whose steps were run again from the start."""


@dataclass(frozen=True)
class LockstepReport:
    """Result of a lockstep walk.

    Attributes:
        program: the specification with its constants.
        transitions: the number of the specification's transitions that were taken on both sides and compared.
        compared: the number of comparisons: more than `transitions` when a state was met with several
            systems.
        states: the number of different states of the specification.
        pairs: the number of different pairs of a state and a system.
        complete: True if these are all.
        executed: the number of different local steps, each executed on the code through encoder and decoder.
        repeated: the number of sampled transitions that were executed on the code once more, and compared by
            value.
        replayed: the number of sampled paths that were run from the start, on processes that are never
            restored.
        seconds: wall clock time.
        seed: the seed of the samples.
        exempt: the variables that were not compared, each with its reason.
        fired: the number of transitions by action.
        difference: the first difference, with a shortest trace, or None.
        stopped: the bound that ended the walk, or None.
        one_way: True if each transition was taken after one path to its state only, since the implementation
            has no snapshots.
        taken: the transitions that an incomplete walk has taken on both sides, each as a state and a step; a
            step that differs is among them. A complete walk has taken all.
    """

    program: Program
    transitions: int
    states: int
    pairs: int
    complete: bool
    seconds: float
    replayed: int
    seed: int
    exempt: dict[str, str]
    compared: int = 0
    executed: int = 0
    repeated: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    difference: Difference | None = None
    stopped: Stop | None = None
    one_way: bool = False
    taken: Iterable[tuple[State, Step]] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        shown = "" if self.difference is None else "; str() shows the run and what differs"
        return f"<{self._told()}{shown}>"

    def __str__(self) -> str:
        return "\n".join([self._told(), *([] if self.difference is None else [self.difference.shown()])])

    def _told(self) -> str:
        walked = f"{self.transitions} transitions, {self.states} states"
        way = f", {ONE_WAY}" if self.one_way else ""
        stopped = "" if self.stopped is None or self.difference else f"; {self.stopped} ended the walk"
        return f"LockstepReport on {self.program.name}: {self.outcome.value}, {walked}{way}{stopped}"

    @property
    def outcome(self) -> Outcome:
        """Return violated if the sides differ, holds if every transition agreed, unknown if a bound ended the
        walk or there was none.
        """
        if self.difference is not None:
            return Outcome.VIOLATED
        return Outcome.HOLDS if self.complete and self.transitions > 0 else Outcome.UNKNOWN

    def _repr_html_(self) -> str:
        from antiphon.conformance.report.html import comparison_html  # here, because a walk draws nothing

        return comparison_html(self.program.name, self)


def unwalked(binding: Binding, seed: int, seconds: float, stop: Stop) -> LockstepReport:
    """Return the report of a walk that a bound ended before it began."""
    return LockstepReport(
        binding.program, 0, 0, 0, complete=False, seconds=seconds, replayed=0, seed=seed,
        exempt=dict(binding.exempt), stopped=stop, one_way=trait(binding, "one_way"),
    )  # fmt: skip
