"""Random walks take enabled steps by chance from an initial state, and every state and step is judged on the
way.

The verdicts are measured: that nothing was found says something about these walks only. Walk k of seed s is
the same whatever the others do. An obligation is judged where a walk ends because nothing but faults can
happen. Where only a spent budget keeps a step from happening, it is not
judged: the walk might have gone on.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from antiphon.model.bounds import UNBOUNDED, Bounds, Stop, Violated, Violation
from antiphon.model.ground.budgets import held_step, short_of_budget
from antiphon.model.limits import begun
from antiphon.model.properties import kinds_of
from antiphon.model.trace import replay
from antiphon.model.verdict import (
    Evidence,
    EvidenceKind,
    Exploration,
    Outcome,
    PropertyKind,
    Provenance,
    Report,
    Verdict,
)
from antiphon.spec.lang import Machine, Program, State, Step
from antiphon.spec.lang.errors import ArgumentError

ENGINE = "simulate"


def simulate(
    program: Program,
    machine: Machine | None = None,
    *,
    seed: int,
    walks: int = 100,
    steps: int = 100,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[int, int], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Takes `walks` walks of at most `steps` steps each and judges every property; the shortest violation
    found is the trace.

    `machine` executes the specification (the reference when None); `bounds` are looked at between walks, and
    their depth bounds a walk as `steps` does; `progress` is called after each walk with walks and steps so
    far, `violated` with each violated property when a walk first shows it.

    Raises:
        ArgumentError: fewer than one walk or step.
    """
    if walks < 1 or steps < 1:
        raise ArgumentError(f"walks is {walks} and steps is {steps}; both are at least 1")
    began, stopped = begun(), None
    tally = _Tally(program, machine or program.reference, violated)
    length = steps if bounds.depth is None else min(steps, bounds.depth)
    done = 0
    while done < walks and stopped is None:
        tally.walk(random.Random(f"{seed}:{done}"), length)
        done += 1
        if progress is not None:
            progress(done, tally.steps)
        stopped = bounds.reached(len(tally.states), time.monotonic() - began) if done < walks else None
    return tally.report(seed, done, time.monotonic() - began, stopped)


@dataclass
class _Tally:
    """What was seen so far: the shortest run for each property that one shows, how often steps fired, where
    walks ended quietly.
    """

    program: Program
    machine: Machine
    violated: Violated | None
    steps: int = 0
    deepest: int = 0
    quiet: int = 0
    states: set[State] = field(default_factory=set)
    fired: Counter[str] = field(default_factory=Counter)
    found: dict[str, tuple[State, tuple[Step, ...], str]] = field(default_factory=dict)
    budget_limited: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = kinds_of(self.program)
        self.faults = {method.name for method in self.program.declaration.marked("environment")}
        self.initial = list(self.machine.initial())

    def walk(self, chance: random.Random, length: int) -> None:
        """One walk, judged as it goes."""
        start = state = chance.choice(self.initial)
        taken: list[Step] = []
        self._judge(start, taken, state)
        while len(taken) < length:
            enabled = list(self.machine.enabled(state))
            if not any(step.action not in self.faults for step in enabled):
                self.quiet += 1
                self._oblige(start, taken, state)
            if not enabled:
                break
            transition = self.machine.apply(state, chance.choice(enabled))
            taken.append(transition.step)
            self.steps += 1
            self.fired[transition.step.action] += 1
            for refusal in transition.refused:
                self._note(refusal.property, start, taken, str(refusal))
            state = transition.state
            self._judge(start, taken, state)
        self.deepest = max(self.deepest, len(taken))

    def _judge(self, start: State, taken: list[Step], state: State) -> None:
        """Invariants and witnesses, in states that no walk has seen."""
        if state in self.states:
            return
        self.states.add(state)
        for name, kind in self.kinds.items():
            if kind in (PropertyKind.INVARIANT, PropertyKind.WITNESS) and self.machine.holds(state, name) is (
                kind is PropertyKind.WITNESS
            ):
                said = "is true" if kind is PropertyKind.WITNESS else "is false"
                self._note(name, start, taken, f"{name} {said} after {len(taken)} steps")

    def _oblige(self, start: State, taken: list[Step], state: State) -> None:
        missed = [
            name
            for name, kind in self.kinds.items()
            if kind is PropertyKind.OBLIGATION and not self.machine.holds(state, name)
        ]
        held = held_step(self.program, state) if missed else None
        for name in missed:
            if held is not None:
                self.budget_limited.setdefault(name, short_of_budget(len(taken), held))
            else:
                self._note(
                    name,
                    start,
                    taken,
                    f"quiescence: after {len(taken)} steps nothing but faults can happen and it is false",
                )

    def _note(self, name: str, start: State, taken: list[Step], why: str) -> None:
        if name not in self.found and self.violated and self.kinds.get(name) is not PropertyKind.WITNESS:
            self.violated(Violation(name, len(taken), len(self.states)))
        if name not in self.found or len(taken) < len(self.found[name][1]):
            self.found[name] = (start, tuple(taken), why)

    def report(self, seed: int, walks: int, seconds: float, stopped: Stop | None) -> Report:
        """The verdicts on all walks together."""
        bound = f"{walks:,} walks, {self.steps:,} steps, seed {seed}"
        evidence = Evidence(EvidenceKind.MEASURED, bound)
        provenance = Provenance.of(self.program, ENGINE)
        verdicts = tuple(self._verdict(name, kind, evidence, provenance) for name, kind in self.kinds.items())
        actions = [method.name for method in self.program.declaration.marked("action", "environment")]
        never = tuple(name for name in actions if not self.fired[name])
        reason = stopped.reason if stopped is not None else None
        explored = Exploration(
            len(self.states),
            self.steps,
            self.deepest,
            complete=False,
            seconds=seconds,
            never_fired=never,
            stopped=reason,
        )
        notes = () if stopped is None else (f"not every walk was taken: {stopped}",)
        return Report(self.program, verdicts, explored, notes)

    def _verdict(self, name: str, kind: PropertyKind, evidence: Evidence, provenance: Provenance) -> Verdict:
        if name in self.found:
            start, steps, why = self.found[name]
            trace = replay(self.program, start, steps, shows=name, why=why)
            outcome = Outcome.HOLDS if kind is PropertyKind.WITNESS else Outcome.VIOLATED
            return Verdict(name, kind, outcome, evidence, provenance, why, trace)
        reason = ""
        if not self.steps:
            reason = "no walk took a step"
        elif kind is PropertyKind.WITNESS:
            reason = "no walk reached it"
        elif name in self.budget_limited:
            reason = self.budget_limited[name]
        elif kind is PropertyKind.OBLIGATION and not self.quiet:
            reason = "no walk ended where nothing but faults can happen"
        elif kind is PropertyKind.LIVENESS:
            reason = "a walk ends, so it decides no liveness property; `check` judges it"
        return Verdict(name, kind, Outcome.UNKNOWN if reason else Outcome.HOLDS, evidence, provenance, reason)
