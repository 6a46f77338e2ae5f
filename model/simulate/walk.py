"""Random walks from an initial state by randomly chosen enabled steps; every state and step is judged on the
way.

1. The verdicts are measured: that nothing was found says something about these walks only.
2. Walk k of seed s is the same whatever the others do and whatever executes it (`engines/chance.py`), so that
   walks are shared out among threads, and verdicts and traces do not depend on how: of two violations the
   shorter counts, then that of the earlier walk.
3. An obligation is judged where nothing but faults can happen. Where only a spent budget disables a step, it
    is not judged: the walk might have gone on.
4. Many walks are taken by machine code, few by a machine that runs the specification as it stands; where
   machine code finds the specification itself wrong, that machine takes the walk again, and says why.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from antiphon.model.bounds import UNBOUNDED, Bounds, Stop, Violated, Violation, cut_short
from antiphon.model.engines.chance import Chance, seed_word
from antiphon.model.engines.choice import Engine, engine_named
from antiphon.model.engines.python.machine import compiled_machine
from antiphon.model.ground.budgets import budget_blocked_step, short_of_budget
from antiphon.model.ground.codes import Codes
from antiphon.model.limits import begun
from antiphon.model.properties import SPECIFICATION, kinds_of
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
from antiphon.spec.lang import Machine, Program, SpecError, State, Step
from antiphon.spec.lang.errors import ArgumentError

if TYPE_CHECKING:
    from antiphon.model.engines.native.driver.walker import NativeWalker, Noted

ENGINE = "simulate"
MANY_STEPS = 100_000
"""Number of steps from which machine code is worth compiling."""
MANY_SECONDS = 10.0
"""Number of seconds from which machine code is worth compiling, where the seconds decide how many walks there
are.
"""
MOST_REMEMBERED = 1 << 18
"""Largest number of states for which it is cached whether a budget blocks a step."""
TOGETHER = 256
"""Largest number of walks that a thread takes at a time."""
STEPS_TOGETHER = 2_000_000
"""Number of steps that the walks which a thread takes at a time may have together, if they are several."""
LOOK_EVERY = 255
"""Number of steps between two checks of the bounds, in a walk by a machine."""


def simulate(
    program: Program,
    machine: Machine | None = None,
    *,
    seed: int,
    walks: int | None = 100,
    steps: int = 100,
    swarm: bool = False,
    to_errors: bool = False,
    engine: Engine | str = Engine.AUTO,
    threads: int | None = None,
    bounds: Bounds = UNBOUNDED,
    progress: Callable[[int, int], None] | None = None,
    violated: Violated | None = None,
) -> Report:
    """Take `walks` walks of at most `steps` steps each and judge every property; the shortest violation found
    is the trace. If a bound ends them before, no property holds; without a number of walks the bound of
    seconds does not.

    Args:
        program: the specification with its constants.
        machine: executes the specification where machine code does not; None: the one of the engine.
        seed: number of the random run.
        walks: how many walks; None for as many as the bound of seconds permits.
        steps: the greatest number of steps of a walk.
        swarm: each walk draws which faults may happen, and a weight for each action.
        to_errors: give no verdict about an error of the specification that a walk runs into.
        engine: what takes the walks; `auto` takes machine code for many steps, unless a machine is given.
        threads: how many, of the native engine; None for as many as there are processors.
        bounds: looked at between walks; their depth bounds a walk as `steps` does, and states count as often
            as they are visited.
        progress: called between walks with walks and steps so far.
        violated: called with each violated property when a walk first shows it.

    Raises:
        ArgumentError: fewer than one walk or step; neither a number of walks nor a bound of seconds.
        SpecError: the specification cannot be read, or the engine is unknown.
    """
    if walks is None and bounds.seconds is None:
        raise ArgumentError("walks is None, and so is the bound of seconds: one of them ends the walks")
    if (walks is not None and walks < 1) or steps < 1:
        raise ArgumentError(f"walks is {walks} and steps is {steps}; both are at least 1")
    began = begun()
    length = steps if bounds.depth is None else min(steps, bounds.depth)
    chosen = engine_named(engine)
    if chosen is Engine.AUTO:
        seconds = bounds.seconds or 0.0
        many = seconds >= MANY_SECONDS if walks is None else walks * length >= MANY_STEPS
        chosen = Engine.NATIVE if machine is None and many else Engine.GENERATED
    if machine is None:
        machine = program.reference if chosen is Engine.REFERENCE else compiled_machine(program)
    faults = {method.name for method in program.declaration.marked("environment")}
    chance = Chance(seed_word(seed), [name in faults for name in Codes.of(program).names], swarm)
    try:
        tally = _Tally(program, machine, chance, length, violated, to_errors)
    except SpecError as error:
        return _unbegun(program, str(error), time.monotonic() - began)
    watch = _Watch(tally, walks, bounds, began, progress)
    tally.is_over = watch.is_over
    if chosen is Engine.NATIVE:
        _in_threads(tally, watch, threads)
    else:
        for walk in itertools.count() if walks is None else range(walks):
            tally.walk(walk)
            if watch.stops(1):
                break
    stopped = watch.stopped if cut_short(watch.stopped, walks) else None
    return tally.report(seed, watch.done, time.monotonic() - began, stopped)


def _wrong(program: Program, run: _Run, evidence: Evidence, provenance: Provenance) -> Verdict:
    """Return the verdict about the specification itself, if a walk has run into an error of it."""
    trace = replay(program, run.start, run.steps, shows=SPECIFICATION, why=run.why)
    kind, unknown = PropertyKind.SPECIFICATION, Outcome.UNKNOWN
    return Verdict(SPECIFICATION, kind, unknown, evidence, provenance, run.why, trace)


def _unbegun(program: Program, why: str, seconds: float) -> Report:
    """Return the report for a program without initial states, because the specification has an error
    there.
    """
    evidence = Evidence(EvidenceKind.MEASURED, "no state")
    kind, unknown = PropertyKind.SPECIFICATION, Outcome.UNKNOWN
    verdict = Verdict(SPECIFICATION, kind, unknown, evidence, Provenance.of(program, ENGINE), why)
    return Report(program, (verdict,), Exploration(0, 0, 0, complete=False, seconds=seconds))


@dataclass
class _Watch:
    """Watch over the walks: their progress, and the decision whether they go on."""

    tally: _Tally
    walks: int | None
    bounds: Bounds
    began: float
    progress: Callable[[int, int], None] | None
    begun: int = 0
    done: int = 0
    stopped: Stop | None = None

    def next(self) -> range:
        """Return the walks that a thread takes next; an empty range when all are over."""
        first = self.begun
        together = max(1, min(TOGETHER, STEPS_TOGETHER // self.tally.length))
        last = first + together if self.walks is None else min(first + together, self.walks)
        self.begun = first if self.stopped is not None else last
        return range(first, self.begun)

    def is_over(self) -> bool:
        """Return True if a bound is reached while a walk is still going on."""
        reached = self.bounds.reached(self.tally.visited(self.done), time.monotonic() - self.began)
        self.stopped = self.stopped or reached
        return reached is not None

    def stops(self, walks: int) -> bool:
        """Count further walks; return True if these were the last."""
        self.done += walks
        if self.progress is not None:
            self.progress(self.done, self.tally.steps)
        if self.done != self.walks and self.stopped is None:
            self.stopped = self.bounds.reached(self.tally.visited(self.done), time.monotonic() - self.began)
        return self.stopped is not None


def _in_threads(tally: _Tally, watch: _Watch, threads: int | None) -> None:
    """Take all walks by machine code, in threads. Findings are recorded under one lock; the code runs without
    it.
    """
    from antiphon.model.engines.native.driver.space import default_threads

    lock, failures = threading.Lock(), list[BaseException]()
    walkers = [tally.native() for _ in range(threads or default_threads())]
    seen = [(0, 0, 0)] * len(walkers)

    def take(number: int) -> None:
        walker = walkers[number]
        try:
            while not failures:
                with lock:
                    some = watch.next()
                if not some:
                    return
                at = some.start
                while at < some.stop and not failures:
                    at, wrong = walker.run(at, some.stop, to_errors=tally.to_errors)
                    noted = walker.noted()
                    with lock:
                        if wrong and not tally.to_errors:
                            tally.walk(at - 1)
                        else:
                            tally.wrong += wrong
                            tally.hear(walker, at - 1, noted)
                with lock:
                    seen[number] = tally.add(walker, seen[number])
                    watch.stops(len(some))
        except BaseException as failure:  # noqa: BLE001 - told by the thread that waits
            failures.append(failure)

    others = [threading.Thread(target=take, args=(number,)) for number in range(1, len(walkers))]
    for other in others:
        other.start()
    take(0)
    for other in others:
        other.join()
    if failures:
        raise failures[0]
    for walker in walkers:
        tally.fired.update(walker.fired())


@dataclass(frozen=True)
class _Run:
    """Run that shows a property: its walk, its initial state, its steps, and the property."""

    walk: int
    start: State
    steps: tuple[Step, ...]
    why: str


@dataclass
class _Tally:
    """Results so far: the shortest run that shows each property, how often each action was taken, how often
    walks were quiet, and how many went wrong.
    """

    program: Program
    machine: Machine
    chance: Chance
    length: int
    violated: Violated | None
    to_errors: bool = False
    is_over: Callable[[], bool] = lambda: False
    wrong: int = 0
    error: _Run | None = None
    begun: State = ()
    steps: int = 0
    deepest: int = 0
    quiet: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    found: dict[str, _Run] = field(default_factory=dict)
    budget_limited: dict[str, tuple[int, int, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = kinds_of(self.program)
        self.codes = Codes.of(self.program)
        self.initial = list(self.machine.initial())
        self._numbers: dict[Step, tuple[int, int]] = {}
        self._steps: dict[int, Step] = {}
        self._shows: dict[State, tuple[str, ...]] = {}
        self._held: dict[State | bytes, tuple[Step, str] | None] = {}

    def visited(self, walks: int) -> int:
        """Return the number of states that this many walks have visited, each visit counted."""
        return self.steps + walks

    # A walk by a machine ------------------------------------------------------------------------------------

    def walk(self, walk: int) -> None:
        """Take one walk, and judge its states and steps."""
        taken: list[Step] = []
        try:
            self._walk(walk, taken)
        except SpecError as error:
            self.wrong += 1
            known = self.error
            shorter = known is None or (len(taken), walk) < (len(known.steps), known.walk)
            if shorter and not self.to_errors:
                self.error = _Run(walk, self.begun, tuple(taken), str(error))
        self.steps += len(taken)
        self.deepest = max(self.deepest, len(taken))

    def _walk(self, walk: int, taken: list[Step]) -> None:
        chance, key = self.chance, self.chance.key(walk)
        weights = chance.weights(key)
        self.begun = start = state = self.initial[chance.start(key, len(self.initial))]
        self._judge(walk, start, taken, state)
        while len(taken) < self.length:
            if not len(taken) & LOOK_EVERY and self.is_over():
                break
            enabled = [(step, *self._number(step)) for step in self.machine.enabled(state)]
            if all(chance.faults[action] for _, action, _ in enabled):
                self.quiet += 1
                self._oblige(walk, start, taken, state)
            base = chance.base(key, len(taken))
            drawn = [
                (chance.draw(base, code, weights[action]), code, step)
                for step, action, code in enabled
                if weights[action]
            ]
            if not drawn:
                break
            transition = self.machine.apply(state, min(drawn, key=lambda item: item[:2])[2])
            taken.append(transition.step)
            self.fired[transition.step.action] += 1
            for refusal in transition.refused:
                self.note(refusal.property, _Run(walk, start, tuple(taken), str(refusal)))
            state = transition.state
            self._judge(walk, start, taken, state)

    def _number(self, step: Step) -> tuple[int, int]:
        """Return the number of the step's action, and the number of the step."""
        known = self._numbers.get(step)
        if known is None:
            action = self.codes.names.index(step.action)
            method = list(self.program.declaration.marked("action", "environment"))[action]
            ranks = [
                self.program.domain(parameter.type).rank(argument)
                for parameter, argument in zip(method.parameters, step.arguments, strict=True)
            ]
            known = self._numbers[step] = action, self.codes.code(action, ranks)
        return known

    def _judge(self, walk: int, start: State, taken: list[Step], state: State) -> None:
        """Judge invariants and witnesses in a state; each state is judged once."""
        shown = self._shows.get(state)
        if shown is None:
            shown = self._shows[state] = tuple(
                name
                for name, kind in self.kinds.items()
                if kind in (PropertyKind.INVARIANT, PropertyKind.WITNESS)
                and self.machine.holds(state, name) is (kind is PropertyKind.WITNESS)
            )
        for name in shown:
            self.note(name, _Run(walk, start, tuple(taken), self._said(name, len(taken))))

    def _said(self, name: str, length: int) -> str:
        said = "is true" if self.kinds[name] is PropertyKind.WITNESS else "is false"
        return f"{name} {said} after {length} step{'s' * (length != 1)}"

    def _oblige(self, walk: int, start: State, taken: list[Step], state: State) -> None:
        for name, kind in self.kinds.items():
            if kind is PropertyKind.OBLIGATION and not self.machine.holds(state, name):
                if state not in self._held:
                    self._held[state] = budget_blocked_step(self.program, state)
                self._miss(name, walk, start, tuple(taken), self._held[state])

    def _miss(
        self,
        name: str,
        walk: int,
        start: State,
        taken: tuple[Step, ...],
        held: tuple[Step, str] | None,
    ) -> None:
        """Record that an obligation is false where nothing but faults can happen; `held` is a step that only
        a budget disables, or None.
        """
        if held is None:
            length = f"{len(taken)} step{'s' * (len(taken) != 1)}"
            why = f"quiescence: after {length} nothing but faults can happen and it is false"
            self.note(name, _Run(walk, start, taken, why))
        else:
            reason = walk, len(taken), short_of_budget(len(taken), held)
            self.budget_limited[name] = min(reason, self.budget_limited.get(name, reason))

    def note(self, name: str, run: _Run) -> None:
        """Record that a run shows a property."""
        old = self.found.get(name)
        if old is None and self.violated and self.kinds.get(name) is not PropertyKind.WITNESS:
            self.violated(Violation(name, len(run.steps), self.steps))
        if old is None or (len(run.steps), run.walk) < (len(old.steps), old.walk):
            self.found[name] = run

    # Walks by machine code ----------------------------------------------------------------------------------

    def native(self) -> NativeWalker:
        """Return the walker that takes the walks by machine code."""
        from antiphon.model.engines.native.driver.walker import NativeWalker
        from antiphon.model.engines.native.kernels import walks

        roles = {
            PropertyKind.INVARIANT: walks.INVARIANT,
            PropertyKind.WITNESS: walks.WITNESS,
            PropertyKind.OBLIGATION: walks.OBLIGATION,
        }
        asked = {name: roles[kind] for name, kind in self.kinds.items() if kind in roles}
        return NativeWalker(self.program, self.initial, self.chance, self.length, asked)

    def hear(self, walker: NativeWalker, walk: int, noted: list[Noted]) -> None:
        """Record the findings of a walk by machine code."""
        start = self.initial[self.chance.start(self.chance.key(walk), len(self.initial))]
        for item in noted:
            is_obligation = self.kinds.get(item.property) is PropertyKind.OBLIGATION
            if is_obligation and item.words not in self._held:
                if len(self._held) >= MOST_REMEMBERED:
                    self._held.clear()
                self._held[item.words] = budget_blocked_step(self.program, walker.state(item.words))
            if is_obligation and self._is_known(item, walk):
                continue
            steps = tuple(self._step(code) for code in walker.taken(item.length))
            if is_obligation:
                self._miss(item.property, walk, start, steps, self._held[item.words])
            elif item.property not in self.found or len(steps) <= len(self.found[item.property].steps):
                why = self._refusal(item.property, start, steps) or self._said(item.property, len(steps))
                self.note(item.property, _Run(walk, start, steps, why))
            if item.property in self.found:
                known = self.found[item.property]  # of equal lengths the first walk counts, whose ever it is
                walker.know(item.property, len(known.steps) + (walk < known.walk))

    def _is_known(self, item: Noted, walk: int) -> bool:
        """Return True if only a spent budget is to blame for a finding, and an earlier walk has recorded that
        for the same property.
        """
        return (
            self._held[item.words] is not None
            and item.property in self.budget_limited
            and self.budget_limited[item.property][0] < walk
        )

    def _step(self, code: int) -> Step:
        """Return the step with this number."""
        if code not in self._steps:
            action = self.codes.action(code)
            method = list(self.program.declaration.marked("action", "environment"))[action]
            self._steps[code] = Step(
                method.name,
                tuple(
                    self.program.domain(parameter.type).value(rank)
                    for parameter, rank in zip(method.parameters, self.codes.ranks(code), strict=True)
                ),
            )
        return self._steps[code]

    def _refusal(self, name: str, start: State, steps: tuple[Step, ...]) -> str:
        """Return the refusal by which the last of the steps breaks the property, as text; empty if that step
        does not break it.
        """
        if self.kinds.get(name) in (PropertyKind.INVARIANT, PropertyKind.WITNESS):
            return ""
        state = start
        for step in steps[:-1]:
            state = self.machine.apply(state, step).state
        refused = self.program.reference.apply(state, steps[-1]).refused
        return next((str(refusal) for refusal in refused if refusal.property == name), "")

    def add(self, walker: NativeWalker, before: tuple[int, int, int]) -> tuple[int, int, int]:
        """Add to the totals what a walker has counted since its counts were `before`; return its present
        counts.
        """
        steps, deepest, quiet = walker.counts()
        self.steps += steps - before[0]
        self.deepest = max(self.deepest, deepest)
        self.quiet += quiet - before[2]
        return steps, deepest, quiet

    # Verdicts -----------------------------------------------------------------------------------------------

    def report(self, seed: int, walks: int, seconds: float, stopped: Stop | None) -> Report:
        """Return the report: the verdicts on all walks together."""
        bound = f"{walks:,} walks, {self.steps:,} steps, seed {seed}"
        evidence = Evidence(EvidenceKind.MEASURED, bound)
        provenance = Provenance.of(self.program, ENGINE)
        untaken = "" if stopped is None else f"not every walk was taken: {stopped}"
        verdicts = [
            self._verdict(name, kind, evidence, provenance, untaken) for name, kind in self.kinds.items()
        ]
        if self.error is not None:
            verdicts.insert(0, _wrong(self.program, self.error, evidence, provenance))
        actions = [method.name for method in self.program.declaration.marked("action", "environment")]
        never = tuple(name for name in actions if not self.fired[name])
        reason = stopped.reason if stopped is not None else None
        explored = Exploration(
            self.visited(walks),
            self.steps,
            self.deepest,
            complete=False,
            seconds=seconds,
            never_fired=never,
            stopped=reason,
        )
        notes = (untaken,) if untaken else ()
        return Report(self.program, tuple(verdicts), explored, notes)

    def _verdict(
        self, name: str, kind: PropertyKind, evidence: Evidence, provenance: Provenance, untaken: str
    ) -> Verdict:
        """Return the verdict on a property; `untaken` says why walks are missing that were asked for, if any
        are.
        """
        if name in self.found:
            run = self.found[name]
            why = run.why
            trace = replay(self.program, run.start, run.steps, shows=name, why=why)
            outcome = Outcome.HOLDS if kind is PropertyKind.WITNESS else Outcome.VIOLATED
            return Verdict(name, kind, outcome, evidence, provenance, why, trace)
        reason = ""
        if not self.steps:
            reason = untaken or "no walk took a step"
        elif self.wrong:
            reason = f"{self.wrong:,} walks ran into an error of the specification"
        elif kind is PropertyKind.WITNESS:
            reason = "no walk reached it"
        elif name in self.budget_limited:
            reason = self.budget_limited[name][2]
        elif kind is PropertyKind.OBLIGATION and not self.quiet:
            reason = "no walk ended where nothing but faults can happen"
        elif kind is PropertyKind.LIVENESS:
            reason = "a walk ends, so it decides no liveness property; `check` judges it"
        else:
            reason = untaken
        return Verdict(name, kind, Outcome.UNKNOWN if reason else Outcome.HOLDS, evidence, provenance, reason)
