"""Walk through the states of a specification: a tree of nodes, each a state and the step that led there.

1. A node is named by a number, which never changes. Its children are made when a step is taken for the
   first time.
2. A step is named by its action and arguments, or by its number among the enabled ones. Two steps may lead
   to one state, and are two nodes.
3. CPython executes each step. `find` searches with generated Python, and its run is executed by CPython
   again.
4. Values are texts in the compact notation, never shortened.

This module knows no page and no network. What it returns is plain data, for JSON.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

from antiphon.conformance.report.diagram import GrowingDiagram
from antiphon.conformance.report.explorer.pictures import WINDOW, Part, begin_of, down_after, picture
from antiphon.conformance.report.why_false import why_false
from antiphon.conformance.report.why_not import why_not
from antiphon.conformance.report.words import counted, explored, settings
from antiphon.model.bounds import Bounds
from antiphon.model.changes import beginning, described, described_variable
from antiphon.model.engines import transitions_of
from antiphon.model.engines.over_transitions import TransitionSpace
from antiphon.model.explore import check
from antiphon.model.explore.search import Search
from antiphon.model.limits import under_limits
from antiphon.model.notation import compact, compact_step, short_places
from antiphon.model.trace import Trace
from antiphon.model.verdict import Verdict
from antiphon.spec.lang import Disabled, Program, SpecError, State, Step, Transition
from antiphon.spec.lang.question import asked, valued

if TYPE_CHECKING:
    from antiphon.conformance.report.explorer.beside import Beside, Standing

NODES_MAX = 200_000
"""Largest number of nodes of one walk."""

TRIED_MAX = 4_000
"""Largest number of argument tuples of an action whose guards are evaluated."""

SHOWN_MAX = 4
"""Number of steps that fail at one guard and are named; the others are counted."""

DIGITS = 12
"""Number of hexadecimal digits of a digest in an address."""

MOVES_MAX = 20_000
"""Largest number of states whose enabled steps are kept."""

TEXTS_MAX = 50_000
"""Largest number of values of variables whose texts are kept."""

NUMBERED_MAX = 300
"""Largest number of steps of a run whose numbers are looked up; those of a longer one have names alone."""

BEGINNINGS_MAX = 1_000
"""Largest number of initial states whose distinguishing values are told."""

FIND = Bounds(states=200_000, seconds=20.0)
"""Bounds of a search from a node, and of a check of all properties."""


class WalkError(Exception):
    """Error: the walk cannot do this; the message says why, for people."""


@dataclass
class _Node:
    state: State
    parent: int
    transition: Transition | None
    depth: int
    children: dict[Step, int] = field(default_factory=dict)
    beside: Standing | None = None
    choice: int = -1
    down: frozenset[Any] = frozenset()


@dataclass(frozen=True)
class Moves:
    """Enabled steps of a state, in the order of the reference. `error` is the error of the specification that
    ended their enumeration, if any.
    """

    steps: tuple[Transition, ...]
    error: str = ""


@dataclass(frozen=True)
class Followed:
    """Steps that were taken one after the other.

    Attributes:
        way: the nodes that they lead to.
        missing: the name of the step that is not enabled after them; "" if none was missing.
        left: the number of steps that were not tried, since the time was over.
    """

    way: list[int]
    missing: str = ""
    left: int = 0


class Walk:
    """Walk through the states of a program.

    Args:
        program: the specification with its constants.
        name: its name for people and for the command line.
        options: the options of the command line that make this program.
        beside: an implementation that takes the same steps, or None.

    All methods may be called by several threads.
    """

    def __init__(
        self, program: Program, name: str, options: Sequence[str] = (), beside: Beside | None = None
    ) -> None:
        self.program, self.name, self.options = program, name, list(options)
        self._beside = beside
        self._lock = threading.RLock()
        self._nodes: list[_Node] = []
        self._starts: dict[State, int] = {}
        self._begun: dict[State, int] = {}
        self._watched: dict[str, None] = {}
        self._questions: dict[str, tuple[Program, Callable[[Any], Any]]] = {}
        self._moves: dict[State, Moves] = {}
        self._named: dict[str, Step | None] = {}
        """Steps by their names; None: two steps have this name."""
        self._texts: dict[tuple[str, Any], tuple[tuple[str, str], ...]] = {}
        self._growing: tuple[list[int], GrowingDiagram | None] = ([], None)
        """The way of the last diagram, and that diagram, which grows with the next step."""
        self._invariants = _named(program, "invariant")
        self._faults = {action.name for action in program.module.actions if action.fault}
        self._draws = program.reference.draws
        for state in program.reference.initial():
            self._starts.setdefault(state, self._add(_Node(state, -1, None, 0)))

    # Nodes --------------------------------------------------------------------------------------------------

    @property
    def starts(self) -> list[int]:
        """Return the nodes of the initial states, in the order of the reference."""
        return list(self._starts.values())

    @cached_property
    def beginnings(self) -> list[str]:
        """Return for each initial state the values that distinguish it, for the first `BEGINNINGS_MAX`."""
        runs = (Trace(self.program, state, ()) for state in islice(self._starts, BEGINNINGS_MAX))
        return [", ".join(f"{where} = {value}" for where, value in beginning(run)) for run in runs]

    def _add(self, node: _Node) -> int:
        if len(self._nodes) >= NODES_MAX:
            raise WalkError(f"this walk has {NODES_MAX:,} states, the most that it keeps; begin a new one")
        self._nodes.append(node)
        return len(self._nodes) - 1

    def _node(self, number: int) -> _Node:
        if not 0 <= number < len(self._nodes):
            raise WalkError(f"there is no state number {number}; there are {len(self._nodes)}")
        return self._nodes[number]

    def _enabled(self, state: State) -> Moves:
        """Return the enabled steps of a state."""
        found = self._moves.get(state)
        if found is None:
            steps, error = [], ""
            try:
                for transition in self.program.reference.successors(state):
                    steps.append(transition)
            except SpecError as wrong:
                error = short_places(str(wrong))
            if len(self._moves) >= MOVES_MAX:
                self._moves.clear()
            found = self._moves[state] = Moves(tuple(steps), error)
        return found

    def _steps(self, node: _Node) -> tuple[Transition, ...]:
        """Return the enabled steps of a node."""
        return self._enabled(node.state).steps

    def take(self, number: int, choice: int) -> int:
        """Take the enabled step with this number; return the node that it leads to.

        Raises:
            WalkError: there is no such step.
        """
        with self._lock:
            node = self._node(number)
            steps = self._steps(node)
            if not 0 <= choice < len(steps):
                raise WalkError(f"there is no step number {choice} here: {len(steps)} are enabled")
            return self._to(number, steps[choice], choice)

    def _to(self, number: int, transition: Transition, choice: int = -1) -> int:
        node = self._nodes[number]
        child = node.children.get(transition.step)
        if child is None:
            down = down_after(self.program, node.down, transition)
            child = self._add(_Node(transition.state, number, transition, node.depth + 1, down=down))
            node.children[transition.step] = child
        if choice >= 0:
            self._nodes[child].choice = choice
        return child

    def _numbered(self, way: list[int]) -> list[int]:
        """Store, for each step of a way, its number among the enabled steps of the node before it; return the
        way.
        """
        for number in way if len(way) <= NUMBERED_MAX + 1 else ():
            node = self._nodes[number]
            if node.choice < 0 and node.transition is not None:
                steps = [one.step for one in self._steps(self._nodes[node.parent])]
                node.choice = steps.index(node.transition.step) if node.transition.step in steps else -1
        return way

    def start(self, number: int) -> int:
        """Return the node of the initial state with this number.

        Raises:
            WalkError: there is none.
        """
        if not 0 <= number < len(self._starts):
            raise WalkError(f"there is no initial state number {number}; there are {len(self._starts)}")
        return self.starts[number]

    def follow(
        self,
        number: int,
        choices: Sequence[int] = (),
        names: Sequence[str] = (),
        seconds: float = float("inf"),
    ) -> Followed:
        """Walk on from a node.

        A step whose name is known is executed at once, without its neighbours: that is how ten thousand steps
        are taken in less than a second. Where the name alone does not lead on, the enabled steps are found,
        and the step is the one with this number, else the one with this name.

        Args:
            number: the node.
            choices: the numbers of the steps among the enabled ones, as far as they are known.
            names: the texts of the steps, as far as they are known.
            seconds: the time after which no further step is tried.

        Raises:
            WalkError: there is no such node, or a step without name has a number that none has.
        """
        end, count = time.monotonic() + seconds, max(len(choices), len(names))
        with self._lock:
            way: list[int] = []
            for step in range(count):
                if step and time.monotonic() > end:
                    return Followed(way, "", count - step)
                choice = choices[step] if step < len(choices) else -1
                name = names[step] if step < len(names) else ""
                taken = self._by_name(number, name, choice)
                if taken < 0 and step < len(choices):
                    taken = self.take(number, choice)
                if taken < 0:
                    return Followed(way, name)
                way.append(number := taken)
            return Followed(way)

    def _by_name(self, number: int, name: str, choice: int) -> int:
        """Take the step with this name, without its neighbours if the step is known; return the node that it
        leads to, -1 if there is no such step. `choice` is its number, -1 if that is not known.
        """
        node, step = self._node(number), self._named.get(name)
        if step is not None:
            if step in node.children:
                return node.children[step]
            with suppress(Disabled, SpecError):
                return self._to(number, self.program.reference.apply(node.state, step), choice)
        steps = self._steps(node)
        for one in steps:
            text = compact_step(one.step)
            if self._named.setdefault(text, one.step) != one.step:
                self._named[text] = None  # of two steps with one name the number decides
        if choice >= 0:
            return -1
        found = next((place for place, one in enumerate(steps) if compact_step(one.step) == name), -1)
        return self._to(number, steps[found], found) if found >= 0 else -1

    def add_trace(self, trace: Trace) -> list[int]:
        """Add a run of this program; return its nodes."""
        return self.add_run(trace.start, trace.transitions)

    def add_run(self, start: State, transitions: Iterable[Transition]) -> list[int]:
        """Add steps of this program that follow each other from a state; return their nodes."""
        with self._lock:
            begun = self._starts if start in self._starts else self._begun
            if start not in begun:
                begun[start] = self._add(_Node(start, -1, None, 0))
            way = [begun[start]]
            for transition in transitions:
                way.append(self._to(way[-1], transition))
            return self._numbered(way)

    def way_to(self, number: int, most: int = NODES_MAX) -> list[int]:
        """Return the nodes from the initial state to this one; at most the last `most` steps."""
        way: list[int] = []
        while number >= 0 and len(way) <= most:
            way.append(number)
            number = self._node(number).parent
        return way[::-1]

    def depth(self, number: int) -> int:
        """Return the number of steps from the first state of its way to a node."""
        return self._node(number).depth

    # Views --------------------------------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Return the program: its name, options, constants, digest, initial nodes and their beginnings."""
        return {
            "name": self.name,
            "options": self.options,
            "constants": {name: str(value) for name, value in self.program.constants.items()},
            "digest": self.program.digest[:DIGITS],
            "starts": self.starts,
            "beginnings": self.beginnings,
            "watched": self.watched,
        }

    def label(self, number: int) -> dict[str, Any]:
        """Return a node for a list of steps: its step, its events, and the properties that the
        step breaks.
        """
        node = self._node(number)
        step = node.transition
        return {
            "node": number,
            "choice": node.choice,
            "step": compact_step(step.step) if step else "the start",
            "emits": [compact(event) for event in step.events] if step else [],
            "broken": [refusal.property for refusal in step.refused] if step else [],
            "branches": max(0, len(node.children) - 1),
        }

    def view(self, number: int, before: int | None = None, others: Sequence[int] = ()) -> dict[str, Any]:
        """Return everything that a page shows of a node but its disabled steps.

        Args:
            number: the node.
            before: the node with which values are compared: each value that differs is shown with its former
                one; None for the node before the last step.
            others: nodes whose values are all shown beside those of the node.
        """
        with self._lock:
            node = self._node(number)
            other = self._node(before).state if before is not None else self._before(node)
            found = {**self.label(number), **self._shown(node.state, other, self._steps(node))}
            for step, transition in zip(found["enabled"], self._steps(node), strict=True):
                step["known"] = node.children.get(transition.step)
            found["error"] = self._enabled(node.state).error
            found["others"] = [dict(self._described(self._node(one).state)) for one in others]
            return found if self._beside is None else {**found, **self._implementation(number)}

    def _implementation(self, number: int) -> dict[str, Any]:
        """Return the implementation's values in a node, and the first difference on the way to the node, if
        any.
        """
        assert self._beside is not None
        for one in self.way_to(number):
            node = self._nodes[one]
            if node.beside is None and node.parent < 0:
                node.beside = self._beside.begin(node.state)
            elif node.beside is None:
                before, step = self._nodes[node.parent], node.transition
                assert before.beside is not None
                assert step is not None
                node.beside = self._beside.take(before.beside, before.state, step.step)
        node = self._nodes[number]
        assert node.beside is not None
        return {
            "implementation": dict(self._beside.values(node.beside, node.state)),
            "difference": node.beside.difference,
        }

    def view_of(self, state: State, steps: Sequence[Transition]) -> dict[str, Any]:
        """Return what a page shows of a state that has these enabled steps."""
        return self._shown(state, None, steps)

    def state_of(self, number: int) -> State:
        """Return the state of a node."""
        return self._node(number).state

    def successors(self, state: State) -> tuple[Transition, ...]:
        """Return the enabled steps of a state that the specification can execute."""
        return self._enabled(state).steps

    def _shown(self, state: State, other: State | None, steps: Sequence[Transition]) -> dict[str, Any]:
        return {
            "fields": self._fields(state, other),
            "enabled": [
                {
                    "choice": choice,
                    "step": compact_step(one.step),
                    "fault": one.step.action in self._faults,
                    "breaks": [refusal.property for refusal in one.refused],
                    "stays": one.state == state,
                }
                for choice, one in enumerate(steps)
            ],
            "error": "",
            "false": self._false(state),
            "drawn": self._drawn(state),
        }

    def _fields(self, state: State, other: State | None) -> list[dict[str, Any]]:
        """Return each part of a state with its value, and the value in another state if it differs."""
        before = dict(self._described(other)) if other is not None else {}
        return [
            {
                "where": where,
                "value": value,
                "before": before[where] if before.get(where, value) != value else None,
            }
            for where, value in self._described(state)
        ]

    def _described(self, state: State) -> Iterator[tuple[str, str]]:
        """Yield each part of a state with its value as text; the text of a part that a step leaves unchanged
        is made once.
        """
        for name, value in zip(self.program.variables, state, strict=True):
            texts = self._texts.get((name, value))
            if texts is None:
                if len(self._texts) >= TEXTS_MAX:
                    self._texts.clear()
                texts = self._texts[name, value] = described_variable(self.program, name, value)
            yield from texts

    def _drawn(self, state: State) -> str:
        """Return the picture that the specification draws of a state; "" where it draws none."""
        if not self._draws:
            return ""
        try:
            drawn = self.program.reference.drawn(state)
        except SpecError as error:
            return f"<p>{escape(short_places(str(error)))}</p>"
        return drawn if drawn.lstrip().startswith("<svg") else f"<p>{escape(drawn)}</p>"

    def _before(self, node: _Node) -> State | None:
        return self._nodes[node.parent].state if node.parent >= 0 else None

    def _false(self, state: State) -> list[dict[str, Any]]:
        """Return the invariants that are false in a state, each with the parts of its text that make it
        false.
        """
        found = []
        for name in self._invariants:
            try:
                if not self.program.reference.holds(state, name):
                    parts = [short_places(str(item)) for item in why_false(self.program, state, name)]
                    found.append({"name": name, "because": parts})
            except SpecError as error:
                found.append({"name": name, "because": [short_places(str(error))]})
        return found

    def disabled(self, number: int) -> list[dict[str, Any]]:
        """Return the actions that have disabled steps in a node, with the guards that are false."""
        return self.disabled_in(self._node(number).state)

    def disabled_in(self, state: State) -> list[dict[str, Any]]:
        """Return the actions that have disabled steps in a state, with the guards that are false."""
        with self._lock:
            found: list[dict[str, Any]] = []
            for method in self.program.declaration.marked("action", "environment"):
                tried = 1
                for parameter in method.parameters:
                    tried *= 1 if parameter.within else self.program.domain(parameter.type).cardinality
                if tried > TRIED_MAX:
                    found.append(
                        {
                            "action": method.name,
                            "guard": f"{tried:,} arguments: not asked",
                            "at": "",
                            "steps": [],
                        }
                    )
                    continue
                try:
                    answer = why_not(self.program, state, method.name)
                except SpecError as error:
                    found.append(
                        {"action": method.name, "guard": short_places(str(error)), "at": "", "steps": []}
                    )
                    continue
                found += [
                    {
                        "action": method.name,
                        "guard": reason.guard,
                        "at": short_places(str(reason.at)),
                        "steps": list(map(compact_step, reason.steps[:SHOWN_MAX])),
                        "more": max(0, len(reason.steps) - SHOWN_MAX),
                    }
                    for reason in answer.disabled
                ]
            return found

    def picture(self, number: int, first: int = 1, loop: int | None = None) -> dict[str, Any]:
        """Return the space-time diagram of the run to a node, from a step on, as `pictures` draws it.

        Args:
            number: the node.
            first: the first step that is drawn.
            loop: the number of the state to which the run comes back in this node, if it does.

        Raises:
            WalkError: there is no such node, or its run has more steps from `first` on than a window, or
                fewer than `loop`.
        """
        with self._lock:
            last, before = self._node(number).depth, begin_of(first)
            if not (1 <= first <= max(last, 1) and last < first + WINDOW and 0 <= (loop or 0) <= last):
                raise WalkError(f"there is no diagram of the steps {first} to {last}")
            way = self.way_to(number, last - before)
            transitions = tuple(one for node in way[1:] if (one := self._nodes[node].transition) is not None)
            shows, why = self._wrong(number)
            trace = Trace(
                self.program,
                self._nodes[way[0]].state,
                transitions,
                shows=shows,
                why=why,
                loop=loop - before if loop is not None and loop >= before else None,
                initial=not before and self._nodes[way[0]].state in self._starts,
            )
            drawn, growing = self._growing
            if growing is None or way[: len(drawn)] != drawn:
                growing = GrowingDiagram(trace, self.name)
            self._growing = way, growing
            part = Part(trace, before, self._nodes[way[0]].down)
            return picture(part, growing.of(trace), first, last)

    def _wrong(self, number: int) -> tuple[str, str]:
        """Return the first property that the last step to a node breaks, or that is false in its state, and
        why; empty where none is.
        """
        node = self._nodes[number]
        if node.transition is not None and node.transition.refused:
            refusal = node.transition.refused[0]
            return refusal.property, str(refusal)
        false = self._false(node.state)
        return (false[0]["name"], "; ".join(false[0]["because"])) if false else ("", "")

    # Questions ----------------------------------------------------------------------------------------------

    def watch(self, expression: str) -> None:
        """Add an expression over `self`, of any type, to the watched ones.

        Raises:
            WalkError: it is no expression of the language.
        """
        with self._lock:
            self._question(expression)
            self._watched[expression] = None

    def forget(self, expression: str) -> None:
        """Remove a watched expression."""
        with self._lock:
            self._watched.pop(expression, None)

    @property
    def watched(self) -> list[str]:
        """Expressions that are watched, in the order in which they were added."""
        return list(self._watched)

    def values(self, numbers: Iterable[int], expressions: Iterable[str]) -> list[list[bool | str | None]]:
        """Return for each expression its value in each node, as `value` gives it.

        Raises:
            WalkError: there is no such node, or an expression is none of the language.
        """
        with self._lock:
            states = [self._node(number).state for number in numbers]
            return [[self.value(one, state) for state in states] for one in expressions]

    def value(self, expression: str, state: State) -> bool | str | None:
        """Return the value of an expression in a state: a boolean itself, any other value as text, None where
        it cannot be evaluated.

        Raises:
            WalkError: it is no expression of the language.
        """
        program, function = self._question(expression)
        try:
            found = program.reference.value(state, function)
        except SpecError:
            return None
        return found if isinstance(found, bool) else compact(found)

    def _question(self, expression: str) -> tuple[Program, Callable[[Any], Any]]:
        """Return an expression in the form that can be evaluated."""
        if expression not in self._questions:
            try:
                self._questions[expression] = valued(self.program, expression)
            except SpecError as error:
                raise WalkError(short_places(str(error))) from error
        return self._questions[expression]

    def check(self) -> tuple[list[Verdict], str]:
        """Check all properties within the bounds of a search.

        Returns:
            The verdicts, and a sentence that says how much was explored.
        """
        with under_limits(FIND):
            report = check(self.program, bounds=FIND)
        return list(report.verdicts), explored(report.exploration)

    def find(self, number: int, expression: str) -> tuple[list[int], str]:
        """Search the shortest way from a node to a state in which the expression is true.

        Returns:
            The nodes of the way, from the initial state on, and a sentence for people. No node: there is
            none within
            the bounds, and the sentence says whether all states were seen.

        Raises:
            WalkError: it is no expression of the language, or the specification has an error on the way.
        """
        with self._lock:
            state = self._node(number).state
            try:
                program, name = asked(self.program, expression)
            except SpecError as error:
                raise WalkError(short_places(str(error))) from error
            transitions = transitions_of(program)
        with under_limits(FIND):  # without the lock: other questions are answered while it searches
            space = TransitionSpace(transitions, [state])
            search = Search(space, watched=[name], exhaustive=False, bounds=FIND)
            search.run()
        if search.error is not None and name not in search.decided:
            raise WalkError("the specification has an error on the way: " + short_places(search.error.error))
        if name not in search.decided:
            stopped = search.walk.stopped
            seen = f"{len(space):,} states were seen from here"
            return [], (
                f"there is no such state: {seen}, and there are no others"
                if stopped is None
                else f"none was found: {seen}; {stopped.note}"
            )
        _, steps = space.way_to(search.decided[name].state)
        with self._lock:
            way = self.way_to(number)
            for step in steps:
                try:
                    way.append(
                        self._to(way[-1], self.program.reference.apply(self._nodes[way[-1]].state, step))
                    )
                except Disabled as guard:
                    raise WalkError(f"{compact_step(step)} is not enabled: {guard}") from guard
            told = f"{counted(len(steps), 'step')} from here; {counted(len(space), 'state')} "
            return self._numbered(way), told + ("was seen" if len(space) == 1 else "were seen")


def digest(lines: Iterable[str]) -> str:
    """Return a digest of a text of these lines, as addresses have it."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:DIGITS]


def digest_of_state(program: Program, state: State) -> str:
    """Return a digest of a state: of its parts and their values."""
    return digest(f"{where} = {value}" for where, value in described(program, state))


def digest_of_run(trace: Trace) -> str:
    """Return a digest of a run: of its first state and of the names of its steps."""
    return digest((digest_of_state(trace.program, trace.start), *map(compact_step, trace.steps)))


def options_of(program: Program) -> list[str]:
    """Return the options of the command line that select a program."""
    repairs = {item.name for item in program.declaration.constants if item.repair}
    on = [name for name in repairs if program.constants[name]]
    others = {name: value for name, value in program.constants.items() if name not in repairs}
    return [
        *(word for name in sorted(on) for word in ("--repair", name)),
        *(word for text in settings(others) for word in ("--set", text)),
    ]


def _named(program: Program, kind: str) -> list[str]:
    return [method.mark.name for method in program.declaration.marked(kind) if method.mark]
