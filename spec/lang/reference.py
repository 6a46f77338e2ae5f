"""CPython executes the text of a specification: this machine is the reference for every other reading.

Each step thaws the state into a fresh instance, runs the method, and freezes the result. It is slow and
literal on purpose; nothing here is shared with the front end or the compiled readings, except types and
declarations.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from types import CodeType
from typing import TYPE_CHECKING, Any

from antiphon.spec.lang import assignment, types, values
from antiphon.spec.lang.annotations import Scope
from antiphon.spec.lang.beginnings import TooManyBeginnings, Undecided, possible
from antiphon.spec.lang.declare import (
    MethodDeclaration,
    actor_of,
    call_text,
    constrained,
    constrains,
    is_drawing,
)
from antiphon.spec.lang.errors import Disabled, Location, SpecError
from antiphon.spec.lang.foreign import Raised, foreign, is_interrupt
from antiphon.spec.lang.machine import Refusal, State, Step, Transition
from antiphon.spec.lang.spec import Spec
from antiphon.spec.lang.walk import variables_read
from antiphon.spec.lang.watch import working

if TYPE_CHECKING:
    from antiphon.spec.lang.program import Program

HELPERS = ("guard", "constraint", "invariant", "witness", "obligation")
"""Marked methods that other methods may call as helpers."""

MOST_STARTS = 1_000_000
"""Greatest number of combinations of initial parameters that are tried."""


class Reference:
    """Executes the text of a specification with CPython; see `Machine` for the interface."""

    def __init__(self, program: Program, *, unspent: bool = False) -> None:
        """Make the machine of `program`; with `unspent` every `budget(...)` counts as True, whatever its
        condition is.
        """
        self.program, self._unspent = program, unspent
        self._scope = Scope(program.text)
        self._live = _checked(program)
        self._maps = {
            name for name, domain in program.domains.items() if isinstance(domain.type, types.MapOf)
        }
        self._domains: dict[object, types.Domain] = {}
        self._constants = {
            item.name: program.constants[item.name]
            for item in program.declaration.constants
            if item.variant is None
        }
        declaration = program.declaration
        self._fixed = {**self._constants, "_machine": self, "_domains": program.domains}
        """Attributes of every instance, whatever its state."""
        named = enumerate(program.variables)
        self._plain = [(place, name) for place, name in named if name not in self._maps]
        """The variables that are no maps, with their places in a state."""
        self._actions = {method.name: method for method in declaration.marked("action", "environment")}
        self._predicates = {
            method.mark.name: method
            for method in declaration.marked("invariant", "witness", "obligation")
            if method.mark
        }
        self._guards = declaration.marked("guard")
        self._constraints = {
            method.name: [
                (item, constrained(method, item))
                for item in declaration.marked("constraint")
                if constrains(method, item)
            ]
            for method in self._actions.values()
        }
        self._step_invariants = declaration.marked("step_invariant")
        self._read: dict[str, frozenset[str]] = {}
        """The variables that each step invariant reads, once it was evaluated."""
        self._handlers = declaration.marked("on")
        self._starts = declaration.marked("initial")
        self._initial: list[State] | None = None
        self._events: list[object] = []
        self._refused: list[Refusal] = []
        self._judged: list[object] = []
        self._executing = threading.RLock()
        """Lock for the three lists above, with the events and violations of the step that is being taken:
        only one thread executes at a time.
        """

    # The interface ------------------------------------------------------------------------------------------

    @property
    def defaults(self) -> State:
        """Return the state of the class's defaults: the initial state where no `@initial` method changes
        it.
        """
        return tuple(
            assignment.frozen(assignment.store(variable.default, domain, f"self.{variable.name}"), domain)
            for variable in self.program.declaration.variables
            for domain in (self.program.domains[variable.name],)
        )

    def initial(self) -> list[State]:
        """Return the initial states, without repetition.

        Raises:
            SpecError: there are more than `MOST_STARTS` ways to begin: nobody could wait for them.
        """
        if self._initial is None:
            self._initial = self._beginnings()
        return list(self._initial)

    def _beginnings(self) -> list[State]:
        base = self.defaults
        if not self._starts:
            return [base]
        found: dict[State, None] = {}
        for method in self._starts:
            self._begin(method, base, found)
        return list(found)

    def _begin(self, method: MethodDeclaration, base: State, found: dict[State, None]) -> None:
        """Add to `found` the states that an `@initial` method makes from `base`."""
        tried = itertools.count()

        def attempt(given: tuple[Any, ...]) -> None:
            self._try(method, next(tried), len(found))
            with self._executing:
                self._events, self._refused, self._judged = [], [], []
                self._call(self._thaw(base), method, given)

        names = [parameter.name for parameter in method.parameters]
        for arguments in possible(names, self._ranges(method, base), method.function, attempt):
            self._try(method, next(tried), len(found))
            with suppress(Disabled):
                found.setdefault(self._run(base, method, arguments).state)

    def _try(self, method: MethodDeclaration, tried: int, found: int) -> None:
        """Count one more attempt to find an initial state, and refuse a specification that needs too many."""
        working(f"trying ways to begin ({tried:,} tried, {found:,} found)")
        if tried == MOST_STARTS:
            sizes = [
                f"{parameter.name} has {self.program.domain(parameter.type).cardinality:,} values"
                for parameter in method.parameters
            ]
            raise TooManyBeginnings(
                f"there are more than {MOST_STARTS:,} ways to begin ({', '.join(sizes)}; "
                f"found until then: {found:,})",
                method.at,
                "smaller types or constants; or the parameters with the tightest guards first, and for each "
                "a require(...) of its own: where it is false, no later parameter is tried",
            )

    def enabled(self, state: State) -> Iterator[Step]:
        """Yield the enabled steps of `state`, found by trying each candidate."""
        return (move.step for move in self.successors(state))

    def candidates(self, state: State, action: str = "") -> Iterator[Step]:
        """Yield every step that may be enabled in `state`: each action, or only the one named, with all
        arguments, in the order of `enabled`.
        """
        for method in [self._method(action)] if action else self._actions.values():
            for arguments in self._arguments(method, state):
                yield Step(method.name, arguments)

    def apply(self, state: State, step: Step) -> Transition:
        """Return the transition of `step`; raise Disabled when a guard is false, SpecError when the
        specification is wrong.
        """
        return self._run(state, self._method(step.action), step.arguments)

    def successors(self, state: State) -> Iterator[Transition]:
        """Yield every transition out of `state`, in the order of `enabled`."""
        for step in self.candidates(state):
            try:
                yield self._run(state, self._actions[step.action], step.arguments)
            except Disabled:
                continue

    def holds(self, state: State, predicate: str) -> bool:
        """Return True if the predicate is true in `state`."""
        method = self._predicates.get(predicate)
        if method is None:
            raise SpecError(
                f"{self.program.name} has no predicate {predicate!r}; known: {', '.join(self._predicates)}"
            )
        with self._executing:
            result = self._call(self._thaw(state), method, ())
        if not isinstance(result, bool):
            raise SpecError(f"{predicate} gave {result!r}, not a bool", method.at)
        return result

    def evaluate(self, state: State, helper: str, *arguments: Any) -> Any:
        """Return the result of a helper of the specification in `state`, for bindings and tools."""
        method = next((item for item in self.program.declaration.methods if item.name == helper), None)
        if method is None:
            raise SpecError(f"{self.program.name} has no helper {helper!r}")
        with self._executing:
            return self._call(self._thaw(state), method, arguments)

    @property
    def draws(self) -> bool:
        """Return True if the specification has a method `draw(self) -> str`."""
        return is_drawing("draw", getattr(self.program.text, "draw", None))

    def drawn(self, state: State) -> str:
        """Return the picture of `state` that the specification's method `draw` makes, as text for explorers.

        Raises:
            SpecError: there is no such method, it raises, or it gives no text.
        """
        if not self.draws:
            raise SpecError(f"{self.program.name} has no method draw(self) -> str")
        try:
            drawn = self._of(state, lambda spec: spec.draw())
        except Raised as raised:
            raise SpecError(f"draw raises {raised}") from raised.error
        if not isinstance(drawn, str):
            raise SpecError(f"draw gave {drawn!r}, not a str")
        return drawn

    def value(self, state: State, function: Callable[[Any], Any]) -> Any:
        """Return what a function of the specification's instance gives in `state`, for explorers.

        Raises:
            SpecError: it raises.
        """
        try:
            return self._of(state, function)
        except Raised as raised:
            raise SpecError(f"it raises {raised}") from raised.error

    def _of(self, state: State, function: Callable[[Any], Any]) -> Any:
        """Return what a function of any kind gives for the specification's instance in `state`.

        Raises:
            Raised: it raises.
        """
        with self._executing:
            values.enter(self)
            try:
                with foreign():
                    return assignment.settled(function(self._thaw(state)))
            finally:
                values.leave()

    def session(self) -> Session:
        """Return a live instance in the first initial state, which judges a long sequence of events without
        freezing the state in between.
        """
        return Session(self, self._thaw(next(iter(self.initial()))))

    # Execution ----------------------------------------------------------------------------------------------

    def _method(self, action: str) -> MethodDeclaration:
        if action not in self._actions:
            raise SpecError(
                f"{self.program.name} has no action {action!r}; its actions are {', '.join(self._actions)}"
            )
        return self._actions[action]

    def _arguments(self, method: MethodDeclaration, state: State) -> Iterable[tuple[Any, ...]]:
        return itertools.product(*self._ranges(method, state))

    def _ranges(self, method: MethodDeclaration, state: State) -> list[Iterable[Any]]:
        """Return the values of each parameter."""
        ranges: list[Iterable[Any]] = []
        for parameter in method.parameters:
            domain = self.program.domain(parameter.type)
            if parameter.within:
                elements = state[self.program.variables.index(parameter.within)]
                ranges.append(sorted((item for item in elements if domain.contains(item)), key=domain.rank))
            else:
                ranges.append(domain)
        return ranges

    def _run(self, state: State, method: MethodDeclaration, arguments: tuple[Any, ...]) -> Transition:
        with self._executing:
            return self._run_alone(state, method, arguments)

    def _run_alone(self, state: State, method: MethodDeclaration, arguments: tuple[Any, ...]) -> Transition:
        if len(arguments) != len(method.parameters):
            raise SpecError(f"{method.name} takes {len(method.parameters)} arguments, not {len(arguments)}")
        spec = self._thaw(state)
        for parameter, argument in zip(method.parameters, arguments, strict=True):
            if not self.program.domain(parameter.type).contains(argument):
                raise SpecError(
                    f"{method.name}({parameter.name}={argument!r}) leaves the domain of the parameter"
                )
            if parameter.within and argument not in state[self.program.variables.index(parameter.within)]:
                raise Disabled(method.at, f"{parameter.name} in self.{parameter.within}")
        self._events, self._refused, self._judged = [], [], []
        for guard in self._guards:
            actor = actor_of(method, guard)
            if actor is not None:
                who = arguments[0].to if actor.endswith(".to") else arguments[0]
                if not self._call(spec, guard, (who,)):
                    raise Disabled(guard.at, f"self.{guard.name}({actor})")
        for constraint, given in self._constraints.get(method.name, ()):
            if not self._call(spec, constraint, tuple(arguments[place] for place in given)):
                raise Disabled(constraint.at, call_text(constraint))
        self._call(spec, method, arguments)
        found = spec.__dict__
        frozen = tuple(
            (found[name].freeze() if name in self._maps else found[name]) if name in found else value
            for name, value in zip(self.program.variables, state, strict=True)
        )
        for invariant in self._step_invariants:
            self._judge(invariant, state, frozen)
        return Transition(Step(method.name, arguments), frozen, tuple(self._events), tuple(self._refused))

    def _judge(self, invariant: MethodDeclaration, before: State, after: State) -> None:
        """Record a violation if a step breaks a step invariant; a step that changes no variable which the
        invariant reads is not judged.
        """
        if before == after or self._unread(invariant, before, after):
            return
        old, new = self._thaw(before), self._thaw(after)
        holds = self._call(new, invariant, (old,))
        assert invariant.mark is not None
        if not isinstance(holds, bool):
            raise SpecError(f"{invariant.mark.name} gave {holds!r}, not a bool", invariant.at)
        if not holds:
            self._refused.append(Refusal(invariant.mark.name, f"self.{invariant.name}(before)", invariant.at))

    def _unread(self, invariant: MethodDeclaration, before: State, after: State) -> bool:
        """Return True if a step changes only variables that a step invariant does not read."""
        read = self._read.get(invariant.name)
        if read is None:
            module = self.program.module
            (found,) = (item for item in module.step_invariants if item.name == invariant.name)
            read = self._read[invariant.name] = frozenset(variables_read(found.body, module))
        named = zip(self.program.variables, before, after, strict=True)
        return {name for name, old, new in named if old != new}.isdisjoint(read)

    def _thaw(self, state: State) -> Spec:
        spec = object.__new__(self._live)
        found = spec.__dict__
        found.update(self._fixed)
        found["_state"] = state
        for place, name in self._plain:
            found[name] = state[place]
        self._spec = spec
        return spec

    def _call(self, spec: Spec, method: MethodDeclaration, arguments: tuple[Any, ...]) -> Any:
        values.enter(self)
        try:
            return getattr(spec, method.name)(*arguments)
        except (Disabled, Undecided):
            raise
        except SpecError as error:
            raise (
                error if error.at else SpecError(error.reason, self._raised_at(error, method), error.instead)
            ) from error
        except BaseException as error:
            if is_interrupt(error):
                raise
            raise SpecError(Raised(error).what, self._raised_at(error, method)) from error
        finally:
            values.leave()

    def _raised_at(self, error: BaseException, method: MethodDeclaration) -> Location:
        """Return the innermost place of the traceback that lies in a file of the specification."""
        files = {item.at.file for item in self.program.declaration.methods}
        place, trace = method.at, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in files:
                place = _position(trace.tb_frame.f_code, trace.tb_lasti, trace.tb_lineno)
            trace = trace.tb_next
        return place

    # What specifications call -------------------------------------------------------------------------------

    def check_made(self, value: object) -> None:
        """Raise SpecError if a record or index that was just made is not in its domain."""
        domain = self.domain_of(type(value))
        if domain.has_map:
            assignment.settle_fields(value, domain)
        if not domain.test(value):
            raise SpecError(f"{value!r} leaves its domain, {values.describe(domain)}")

    def require(self, condition: object, depth: int) -> None:
        """Raise Disabled if a guard is false."""
        if condition is True:
            return
        at, text = _source(depth)
        if condition is not False:
            raise SpecError(f"require({text}) is {condition!r}, not a bool", at)
        raise Disabled(at, text)

    def budget(self, condition: object) -> bool:
        """Evaluate a bound of the exploration: return its condition, or True if budgets count as unspent."""
        if not isinstance(condition, bool):
            raise SpecError(f"budget(...) is {condition!r}, not a bool")
        return condition or self._unspent

    def emit(self, event: object) -> None:
        """Record an event and run its handlers."""
        self._events.append(event)
        for handler in self._handlers:
            if handler.mark is not None and handler.mark.event is type(event):
                self._judged.append(event)
                getattr(self._spec, handler.name)(event)
                self._judged.pop()

    def expect(self, condition: object, property: str, clash: object, depth: int) -> None:
        """Record that the service refuses this step if the condition is false."""
        if condition is True:
            return
        at, text = _source(depth)
        if condition is not False:
            raise SpecError(f"expect({text}) is {condition!r}, not a bool", at)
        self._refused.append(Refusal(property, text, at, self._judged[-1] if self._judged else None, clash))

    def domain_of(self, python: object) -> types.Domain:
        """Return the domain of a type as a specification writes it: `Process`, `Annotated[int, Between(..)]`,
        a type variable.
        """
        domain = self._domains.get(python)
        if domain is None:
            domain = self.program.domain(self._scope.type_of(python, self.program.text, "self.each"))
            self._domains[python] = domain
        return domain


class Session:
    """Specification that stays live: events go in one by one, its handlers run, violations come out."""

    def __init__(self, machine: Reference, spec: Spec) -> None:
        self._machine, self._live = machine, spec

    def feed(self, event: object) -> tuple[Refusal, ...]:
        """Run the handlers of `event`, and return the violations, in order."""
        machine = self._machine
        with machine._executing:
            machine._spec, machine._events, machine._refused, machine._judged = self._live, [], [], []
            values.enter(machine)
            try:
                machine.emit(event)
            finally:
                values.leave()
            return tuple(machine._refused)

    def holds(self, predicate: str) -> bool:
        """Return True if the predicate is true in the session's present state."""
        return bool(self._machine._call(self._live, self._machine._predicates[predicate], ()))


class _LiveMap:
    """State variable that is a map. Its live form is made when a step first reads it, and stays in the
    instance from then on.
    """

    def __init__(self, name: str, position: int, domain: types.Domain) -> None:
        self.name, self.position, self.domain = name, position, domain

    def __get__(self, spec: Spec, owner: type[Spec]) -> object:
        place = assignment.Variable(spec, self.name, self.domain)
        live = assignment.live(spec.__dict__["_state"][self.position], place)
        spec.__dict__[self.name] = live
        return live


def _checked(program: Program) -> type[Spec]:
    """Return the specification class with helpers that check their arguments, and with its maps. CPython by
    itself would accept any argument, where the other readings check.
    """
    helpers = [
        method for method in program.declaration.methods if method.mark is None or method.mark.kind in HELPERS
    ]
    parts: dict[str, object] = {method.name: _checking(method, program) for method in helpers}
    for position, (name, domain) in enumerate(program.domains.items()):
        if isinstance(domain.type, types.MapOf):
            parts[name] = _LiveMap(name, position, domain)
    live = type(program.text.__name__, (program.text,), parts)
    live.__antiphon_scope__ = getattr(program.text, "__antiphon_scope__", {})  # type: ignore[attr-defined]
    return live


def _checking(method: MethodDeclaration, program: Program) -> Callable[..., Any]:
    names = [parameter.name for parameter in method.parameters]
    domains = [program.domain(parameter.type) for parameter in method.parameters]
    tests = [domain.test for domain in domains]
    function, count = method.function, len(names)
    maps = any(domain.has_map for domain in domains)

    def call(spec: Spec, *given: Any, **named: Any) -> Any:
        arguments = [assignment.settled(item) for item in given]
        if named:
            arguments += [assignment.settled(named[name]) for name in names[len(given) :] if name in named]
        if len(arguments) != count or len(given) + len(named) != count:
            raise SpecError(f"{method.name} takes {', '.join(names) or 'no arguments'}")
        for position, test in enumerate(tests):
            if maps and domains[position].has_map:
                what = f"{method.name}({names[position]})"
                arguments[position] = assignment.store(arguments[position], domains[position], what)
            argument = arguments[position]
            if not test(argument):
                raise SpecError(
                    f"{method.name}({names[position]}={argument!r}) leaves its domain, "
                    f"{values.describe(domains[position])}"
                )
        return assignment.settled(function(spec, *arguments))

    return call


@cache
def _position(code: CodeType, instruction: int, line: int) -> Location:
    """Return the place of an instruction; columns count characters from 1."""
    start, _, column, _ = list(code.co_positions())[instruction // 2]
    text = linecache.getline(code.co_filename, start or line)
    return Location(
        code.co_filename, start or line, len(text.encode()[: column or 0].decode(errors="replace")) + 1
    )


def _source(depth: int) -> tuple[Location, str]:
    """Return the place and the text of the first argument of the call that is being executed `depth` frames
    up.
    """
    frame = sys._getframe(depth + 1)
    return _call_text(frame.f_code, frame.f_lasti, frame.f_lineno)


@cache
def _call_text(code: CodeType, instruction: int, at_line: int) -> tuple[Location, str]:
    line, end, column, end_column = (item or 0 for item in list(code.co_positions())[instruction // 2])
    lines = [linecache.getline(code.co_filename, number) for number in range(line, end + 1)]
    if not lines or not any(lines):
        return Location(code.co_filename, at_line), "the guard"
    lines[-1] = lines[-1].encode()[:end_column].decode()
    lines[0] = lines[0].encode()[column:].decode()
    return _position(code, instruction, at_line), _first_argument("\n".join(part.strip() for part in lines))


def _first_argument(call: str) -> str:
    """Return the text of the first argument of a call: `require(a and b)` gives `a and b`; `expect(x, "P")`
    gives `x`.
    """
    try:
        node = ast.parse(call, mode="eval").body
    except SyntaxError:
        return call
    if isinstance(node, ast.Call) and node.args:
        return ast.unparse(node.args[0])
    return call
