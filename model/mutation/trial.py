"""Trial of a program: each mutant is explored within bounds, to see which of the program's properties it
still has.

1. A property is *broken* by a mutant when it is violated and CPython confirms the run, or, for a witness,
   when all states are seen and it is false in each. If a bound left it undecided it is *open*, not broken.
2. A mutant that breaks nothing is *equivalent* within the constants when it has the same states and the same
   steps. It is *inner* when states or steps differ, but the judges of events see no difference: the handlers'
   variables take the same values together, also where nothing but faults can happen. Else it *survives*.
3. A mutant that runs into an error of the specification (a value leaves its domain) before it breaks anything
   is *invalid*, and so is one that is no specification: every check would report it, and it says nothing
   about any.
4. A property is not judged if the change is in its own text, since it would be another property.
5. Steps of actions that the change does not reach are made once, for the program, and shared by all mutants.
6. Mutants that the bound of generated Python leaves open continue in machine code, as do all mutants of a
   program that is larger than that bound, or whose states are wide. There, a mutant that breaks nothing is
   compared by the judged variables only, and never called equivalent; it is *undecided* where not all states
   are seen, of it or of the program.
7. Where only broken properties are asked for, the program itself is not explored; a brief question uses
   generated Python, any other question machine code.

This file knows nothing of claims, and of operators only that they make mutants.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from antiphon.model.bounds import Bounds, Enough, StopReason
from antiphon.model.engines.choice import Engine, StorageOptions, open_space
from antiphon.model.engines.interface import Transitions, WholeSpace
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.explore import liveness
from antiphon.model.explore.search import Search
from antiphon.model.explore.verdicts import Judge
from antiphon.model.ground import LargeStep, ground, ground_predicate, layout
from antiphon.model.ground.form import GroundStep, Operator
from antiphon.model.ground.shape import Raw
from antiphon.model.ground.words import WordPacking
from antiphon.model.limits import under_limits
from antiphon.model.mutation.mutants import LeftOut, Mutant, caused, reached
from antiphon.model.properties import kinds_asked
from antiphon.model.trace import replay
from antiphon.model.verdict import BROKEN_BY_STEPS, InternalError, Outcome, PropertyKind
from antiphon.spec.lang import Program, SpecError, Step, ir
from antiphon.spec.lang.walk import nodes

BOUNDS = Bounds(states=25_000, seconds=120.0)
"""Bounds of the exploration of a mutant by generated Python, where the program itself is no larger. The
number of states makes the result the same on any machine; the time ends a hang.
"""

FURTHER = Bounds(states=1_000_000, seconds=120.0)
"""Bounds of the exploration of a larger mutant by machine code: a kernel is compiled in about a second, and
finds so many states in another.
"""

BRIEF_STATES = 5_000
"""Number of states that generated Python explores in a brief trial (machine code explores a twentieth of its
bound where states are wide): most breaks come early.
"""

WIDE_BITS = 400
"""Number of bits of a state from which a program is tried in machine code from the beginning: the cache of
generated Python is of little use there.
"""

ONE_THREAD = StorageOptions(threads=1)
"""Storage options with one thread: programs are tried in parallel, not the states of one."""

MOST_NODES = 200_000
"""Largest number of nodes of a step that is analysed, to see whether it could break a property."""

NO_BEGINNING = "it has no initial state"
BUDGET_SPENT = "a budget is spent"


class Fate(StrEnum):
    """The fate of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    INNER = "inner"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    INVALID = "invalid"


@dataclass(frozen=True)
class Answer:
    """Result of a mutant for the properties that were asked: the broken ones, the open ones, and those that
    could not be asked. `reason` says why it is invalid or undecided.
    """

    fate: Fate
    broken: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    reason: str = ""


def is_always_true(program: Program, predicate: str) -> bool:
    """Return True if a predicate is true by the types alone, so that it folds to a constant."""
    holds = ground_predicate(program, predicate).holds
    return holds.operator is Operator.CONSTANT and bool(holds.value)


class Trial:
    """Trial of the mutants of one program: does any of the program's properties notice them?

    Args:
        program: the specification with its constants.
        properties: names of properties that hold of it.
        bounds: how far each mutant is explored by generated Python.
        further: how far machine code goes where that leaves something open.

    Raises:
        SpecError: the program has an error, or no such property.
    """

    def __init__(
        self,
        program: Program,
        properties: Iterable[str],
        bounds: Bounds = BOUNDS,
        further: Bounds = FURTHER,
    ) -> None:
        self.program, self.bounds, self.further = program, bounds, further
        self.kinds = kinds_asked(program, properties)
        module = program.module
        self._reach = {item.name: {item.name, *caused(item, module)} for item in module.actions}
        self._touched: dict[str, frozenset[str]] = {}
        self._reads: dict[str, frozenset[str]] = {}
        self._states: frozenset[int] | None = None
        self._seen: Histories | None = None
        self._transitions = 0
        self._original: PythonTransitions | None = None
        self._is_wide = WordPacking(layout(program).slots).bits > WIDE_BITS
        self._is_too_large = False

    def ask(
        self, mutant: Mutant | LeftOut, properties: Iterable[str] | None = None, *, briefly: bool = False
    ) -> Answer:
        """Judge the program with this change.

        Args:
            mutant: the change.
            properties: judge only these, and not whether the mutant changes anything; None: all.
            briefly: within fewer states; what is open then is left open.
        """
        kinds = self.kinds if properties is None else {name: self.kinds[name] for name in properties}
        try:
            changed = mutant.of(self.program)
            differing = _differing(self.program.module, changed.module)
            if not differing:
                return Answer(Fate.EQUIVALENT, reason="it is read as the same")
            shares, compares = isinstance(mutant, Mutant), properties is None
            return self._ask(changed, kinds, differing, shares=shares, compares=compares, briefly=briefly)
        except SpecError as error:
            return Answer(Fate.INVALID, reason=error.reason)

    def touched(self, mutant: Mutant | LeftOut) -> frozenset[str]:
        """Return the properties that a mutant may affect: those that read a variable written by the changed
        actions or their handlers, and those that they expect; all properties where a repair is left out.
        """
        if isinstance(mutant, LeftOut):
            return frozenset(self.kinds)
        if mutant.method not in self._touched:
            written, expected = _written(self.program.module, mutant.method)
            self._reads = self._reads or {name: _read(self.program.module, name) for name in self.kinds}
            self._touched[mutant.method] = frozenset(
                name for name, read in self._reads.items() if name in expected or written & read
            )
        return self._touched[mutant.method]

    def trivial(self, property: str) -> str:
        """Return the reason why no step could break the property with these constants; empty if some step
        could.
        """
        kind = self.kinds[property]
        if kind is PropertyKind.INVARIANT and is_always_true(self.program, property):
            return "it is true of every state that the types allow with these constants"
        if kind in BROKEN_BY_STEPS and not self._could_break(property):
            return "no step could break it with these constants, in whatever state"
        return ""

    def _could_break(self, property: str) -> bool:
        """Return True if some step breaks the property in some state that the types allow. Any step with any
        arguments counts; if all states were seen, only steps that occur. A step that is too large to analyse
        counts as breaking it.
        """
        try:
            whole = [ground(self.program, item.name, most=MOST_NODES) for item in self.program.module.actions]
        except (LargeStep, SpecError):
            whole = None
        if whole is not None and not _some_breaks(whole, property):
            return False
        self._explore_original()
        original = self._original
        return self._states is None or original is None or _some_breaks(original.met(), property)

    def _ask(
        self,
        changed: Program,
        kinds: dict[str, PropertyKind],
        differing: frozenset[str],
        *,
        shares: bool,
        compares: bool,
        briefly: bool,
    ) -> Answer:
        apart = tuple(name for name in kinds if differing & self._texts_of(name))
        asked = {name: kind for name, kind in kinds.items() if name not in apart}
        if compares:
            self._explore_original()
        if self._is_wide or not (briefly or self._states is not None):
            further = _least_of(self.further, 20 * BRIEF_STATES) if briefly else self.further
            return replace(self._ask_large(changed, asked, further, compares=compares), apart=apart)
        actions = frozenset(action for action, names in self._reach.items() if differing & names)
        transitions = PythonTransitions(changed)
        space = TransitionSpace(transitions)
        if not len(space):
            return Answer(Fate.INVALID, apart=apart, reason=NO_BEGINNING)
        search = _Hunt(space, asked, _least_of(self.bounds, BRIEF_STATES) if briefly else self.bounds)
        search.run()
        stop = search.walk.stopped
        if stop is not None and stop.reason is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        outcomes = self._outcomes(changed, space, search, asked)
        broken = tuple(name for name, outcome in outcomes.items() if outcome is Outcome.VIOLATED)
        left = tuple(name for name, outcome in outcomes.items() if outcome is Outcome.UNKNOWN)
        if search.error is not None:
            return _in_error(broken, left, apart)
        if stop is not None and stop.reason is StopReason.STATES and left and not briefly:
            rest = {name: asked[name] for name in left}
            large = self._ask_large(changed, rest, self.further, compares=compares and not broken)
            broken, left = broken + large.broken, large.open
            if not broken:
                return replace(large, apart=apart)
        if broken:
            return Answer(Fate.KILLED, broken, left, apart)
        if left:
            return Answer(Fate.UNDECIDED, (), left, apart, str(stop) if stop is not None else BUDGET_SPENT)
        if not compares:
            return replace(_NOT_COMPARED, apart=apart)
        if self._is_same(space, search, actions if shares else None):
            return Answer(Fate.EQUIVALENT, apart=apart)
        if not self._judging(changed):
            return Answer(Fate.SURVIVED, apart=apart)
        return replace(self._compared(changed, space), apart=apart)

    def _ask_large(
        self, changed: Program, asked: dict[str, PropertyKind], bounds: Bounds, *, compares: bool
    ) -> Answer:
        """Return the properties that a mutant breaks, by machine code; if it breaks none, the answer says
        whether its states differ from the program's.
        """
        try:
            with under_limits(bounds):
                space = open_space(changed, Engine.NATIVE, ONE_THREAD)
                if not len(space):
                    return Answer(Fate.INVALID, reason=NO_BEGINNING)
                search = _Hunt(space, asked, bounds)
                search.run()
                found = self._outcomes(changed, space, search, asked)
                stop = search.walk.stopped
                if stop is not None and stop.reason is StopReason.INTERRUPTED:
                    raise KeyboardInterrupt
                broken = tuple(name for name, outcome in found.items() if outcome is Outcome.VIOLATED)
                left = tuple(name for name, outcome in found.items() if outcome is Outcome.UNKNOWN)
                if search.error is not None:
                    return _in_error(broken, left, ())
                if broken:
                    return Answer(Fate.KILLED, broken, left)
                if left:
                    return Answer(Fate.UNDECIDED, (), left, reason=str(stop) if stop else BUDGET_SPENT)
                return self._compared(changed, space) if compares else _NOT_COMPARED
        except Enough as enough:
            return Answer(Fate.UNDECIDED, (), tuple(asked), reason=str(enough.stop))

    def _compared(self, changed: Program, space: WholeSpace) -> Answer:
        """Judge a mutant that breaks nothing and whose states are all seen: does its behaviour differ from
        the program's?
        """
        self._explore_large()
        if self._seen is None:
            return Answer(Fate.UNDECIDED, reason="too large to be compared")
        inner = self._seen == _histories(space, changed, self._judging(changed))
        return Answer(Fate.INNER if inner else Fate.SURVIVED)

    # The original -------------------------------------------------------------------------------------------

    def _explore_original(self) -> None:
        """Explore the program itself, once: its states and steps are compared with those of mutants."""
        if self._original is None and not self._is_wide:
            self._original = PythonTransitions(self.program)
            space = TransitionSpace(self._original)
            search = Search(space, bounds=self.bounds)
            search.run()
            if search.walk.stopped is not None and search.walk.stopped.reason is StopReason.INTERRUPTED:
                self._original = None
                raise KeyboardInterrupt
            if search.walk.complete:
                self._states = frozenset(space.packed)
                self._transitions = search.walk.transitions
                self._seen = _histories(space, self.program, self._judging(self.program))

    def _explore_large(self) -> None:
        """Explore the unchanged program by machine code, once, if generated Python did not see all its
        states.
        """
        if self._seen is None and not self._is_too_large:
            with under_limits(self.further):
                space = open_space(self.program, Engine.NATIVE, ONE_THREAD)
                search = Search(space, bounds=self.further)
                search.run()
            if search.walk.stopped is not None and search.walk.stopped.reason is StopReason.INTERRUPTED:
                raise KeyboardInterrupt
            if search.walk.complete:
                self._seen = _histories(space, self.program, self._judging(self.program))
            self._is_too_large = not search.walk.complete

    def _is_same(self, space: TransitionSpace, search: Search, actions: frozenset[str] | None) -> bool:
        """Return True if a mutant whose states are all seen has the same states and steps as the program.
        With `actions` only their steps are compared.
        """
        original, now = self._original, space.transitions
        if original is None or self._states is None or len(space) != len(self._states):
            return False
        if search.walk.transitions != self._transitions or now.program.variables != self.program.variables:
            return False
        if not self._states.issuperset(space.packed):
            return False

        def taken(transitions: Transitions, packed: int) -> set[tuple[Step, int]]:
            steps = ((transitions.step(number), after) for number, after in transitions.successors(packed))
            return {(step, after) for step, after in steps if actions is None or step.action in actions}

        return all(taken(original, packed) == taken(now, packed) for packed in space.packed)

    def _judging(self, program: Program) -> tuple[str, ...]:
        """Return the variables that handlers of events write in both programs, in the order of a state."""
        module = self.program.module
        bodies = tuple(item.body for item in module.handlers)
        written = {node.variable for node in nodes(bodies, module) if isinstance(node, ir.Assign)}
        return tuple(name for name in program.variables if name in written)

    def _texts_of(self, property: str) -> frozenset[str]:
        """Return the helpers that define what a property means."""
        module = self.program.module
        parts: list[object] = [
            item.body for item in (*module.predicates, *module.step_invariants) if item.name == property
        ]
        parts += [(item, module.fair) for item in module.liveness if item.name == property]
        return reached(tuple(parts), module)

    # Outcomes -----------------------------------------------------------------------------------------------

    def _outcomes(
        self,
        changed: Program,
        space: WholeSpace,
        search: _Hunt,
        asked: dict[str, PropertyKind],
    ) -> dict[str, Outcome]:
        complete = search.walk.complete
        unseen = Outcome.HOLDS if complete else Outcome.UNKNOWN
        found: dict[str, Outcome] = {}
        later: dict[str, PropertyKind] = {}
        for name, kind in asked.items():
            decided = name in search.decided
            if kind in (PropertyKind.OBLIGATION, PropertyKind.DEADLOCK) and search.error is None:
                later[name] = kind
            elif kind is PropertyKind.LIVENESS:
                found[name] = self._on_fair_runs(changed, name) if complete else Outcome.UNKNOWN
            elif kind is PropertyKind.WITNESS:
                found[name] = Outcome.HOLDS if decided else Outcome.VIOLATED if complete else Outcome.UNKNOWN
            elif decided and isinstance(space, TransitionSpace):
                _confirm(changed, space, search, name)
                found[name] = Outcome.VIOLATED
            elif decided:
                later[name] = kind
            else:
                found[name] = unseen
        verdicts = Judge(changed, space, search, later).verdicts() if later else []
        judged = {verdict.property: verdict.outcome for verdict in verdicts}
        return found | {name: judged[name] for name in later}  # an error has a verdict, too

    def _on_fair_runs(self, changed: Program, name: str) -> Outcome:
        question = liveness.declared(changed)[name]
        (verdict,) = liveness.judge(changed, [question], bounds=self.bounds, engine="generated").verdicts
        return verdict.outcome


_NOT_COMPARED = Answer(Fate.UNDECIDED, reason="not compared")

Histories = tuple[frozenset[tuple[Raw, ...]], frozenset[tuple[Raw, ...]]]
"""Values of the judged variables: in all states, and where only faults can happen."""


def _histories(space: WholeSpace, program: Program, variables: tuple[str, ...]) -> Histories:
    """Return the combinations of values that some variables take; with no variables given, those of all
    variables.
    """
    slots = layout(program).slots
    chosen = [number for number, slot in enumerate(slots) if not variables or slot.variable in variables]
    return space.together(chosen), space.together(chosen, quiet=True)


class _Hunt(Search):
    """Search that ends when no further property can be broken, and otherwise sees all states."""

    def __init__(self, space: WholeSpace, kinds: dict[str, PropertyKind], bounds: Bounds) -> None:
        watched = (PropertyKind.INVARIANT, PropertyKind.WITNESS)
        super().__init__(
            space,
            watched=[name for name, kind in kinds.items() if kind in watched],
            services=[name for name, kind in kinds.items() if kind in BROKEN_BY_STEPS],
            bounds=bounds,
        )
        self.exhaustive = not kinds or any(
            kind not in (PropertyKind.INVARIANT, *BROKEN_BY_STEPS) for kind in kinds.values()
        )


def _least_of(bounds: Bounds, states: int) -> Bounds:
    """Return the bounds, limited to at most this many states."""
    return replace(bounds, states=states if bounds.states is None else min(bounds.states, states))


def _in_error(broken: tuple[str, ...], left: tuple[str, ...], apart: tuple[str, ...]) -> Answer:
    """Return the answer for a mutant that runs into an error: it is invalid, unless it broke a property
    before.
    """
    if broken:
        return Answer(Fate.KILLED, broken, left, apart)
    return Answer(Fate.INVALID, apart=apart, reason="it runs into an error of the specification")


def _some_breaks(steps: Iterable[GroundStep], property: str) -> bool:
    """Return True if, after grounding, one of the steps can still break the property."""
    broken = (item.broken for step in steps for item in step.breaks if item.property == property)
    return any(item.operator is not Operator.CONSTANT or item.value for item in broken)


def _confirm(changed: Program, space: TransitionSpace, search: Search, name: str) -> None:
    """Check with CPython that the run which broke a property really breaks it.

    Raises:
        InternalError: the run does not break the property.
    """
    decision = search.decided[name]
    start, steps = space.way_to(decision.state)
    trace = replay(changed, start, [*steps, *([decision.step] if decision.step is not None else [])])
    if decision.step is not None:
        good = any(refusal.property == name for refusal in trace.transitions[-1].refused)
    else:
        good = not changed.reference.holds(trace.states[-1], name)
    if not good:
        raise InternalError(f"{changed.name}, changed: the reference does not agree that {name} is broken")


# What a change reaches --------------------------------------------------------------------------------------


def _differing(module: ir.Module, changed: ir.Module) -> frozenset[str]:
    """Return the names of the definitions that differ between two modules."""

    def bodies(of: ir.Module) -> dict[str, ir.Definition]:
        parts = (*of.functions, *of.procedures, *of.initials, *of.actions, *of.handlers, *of.predicates)
        return {item.name: item for item in (*parts, *of.step_invariants)}

    old, new = bodies(module), bodies(changed)
    return frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _written(module: ir.Module, method: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the variables written by actions that reach a method and by handlers of their events, and the
    properties that these actions and handlers expect.
    """
    definitions = {
        item.name: item for item in (*module.functions, *module.procedures, *module.actions, *module.handlers)
    }
    written, expected = set(), set()
    for action in (*module.actions, *module.initials):
        called = {action.name, *caused(action, module)}
        if method in called:
            found = tuple(nodes(tuple(definitions.get(name, action).body for name in called)))
            written |= {node.variable for node in found if isinstance(node, ir.Assign)}
            expected |= {node.property for node in found if isinstance(node, ir.Expect)}
    return frozenset(written), frozenset(expected)


def _read(module: ir.Module, property: str) -> frozenset[str]:
    """Return the variables that decide whether a property is kept: those that its text reads, or the text
    that expects it; every variable for the absence of deadlock.
    """
    parts: list[object] = [
        item.body for item in (*module.predicates, *module.step_invariants) if item.name == property
    ]
    parts += [(item, module.fair) for item in module.liveness if item.name == property]
    for item in (*module.handlers, *module.actions, *module.procedures):
        whole = tuple(nodes(item.body, module))
        if any(isinstance(node, ir.Expect) and node.property == property for node in whole):
            parts.append(item.body)
    if not parts:
        return frozenset(item.name for item in module.variables)
    found = tuple(nodes(tuple(parts), module))
    return frozenset(node.variable for node in found if isinstance(node, ir.Read))
