"""A binding in ten lines: a class whose methods have the actions' names, with `state()`, for a whole system.

1. An object of the class is the whole system, fresh. A parameter of `__init__` with the name of a constant
  gets the constant's value.
2. A step calls the method of its action with the arguments as plain Python has them, an index as its number.
   `Refused` says that it cannot be taken; the method returns the emitted events: None, an event, or a list of
     events.
3. `state()` gives each variable that is not exempt, as plain Python has it.
4. With `snapshot()` and `restore(kept)` every state of the system is walked. Without them each transition of
  the model is taken once, after running one path to its state again from the start.
5. With `offers()` the steps that the system would take of its own accord are compared; each is given as
   (action, *arguments).
6. An exception, a wrong value or an endless call of such code is reported as a finding about it.

The system is the one process of its binding, and projects whole variables. This file knows no protocol.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from antiphon.conformance.compare.bindings.binding import (
    EVENTS,
    Bound,
    Effect,
    Forgets,
    Misreports,
    Stimulus,
    Unsteady,
)
from antiphon.conformance.compare.bindings.guarded import BindingError
from antiphon.conformance.compare.bindings.links import Link
from antiphon.conformance.compare.bindings.plain_values import Strange, meant, plain
from antiphon.conformance.compare.bindings.sans_io import SansIO
from antiphon.conformance.compare.bindings.timed import Late, Timed
from antiphon.model.notation import compact_step
from antiphon.spec.lang import Program, Step
from antiphon.spec.lang.annotations import Scope
from antiphon.spec.lang.calls import Ended, is_noted
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import did_you_mean
from antiphon.spec.lang.watch import working

C = TypeVar("C", bound=type)

CALL_SECONDS = 5.0
"""Default seconds that one call of the user's code may take."""

DECLARED = "__antiphon_binding__"
"""Attribute of a class that holds its declaration as a binding."""

NEEDED = ("state", "snapshot", "restore", "offers")
"""Methods that a plain class needs besides those of its actions."""


@dataclass(frozen=True)
class Declared:
    """Declaration of a class as a binding; see `declared`."""

    program: Program
    exempt: Mapping[str, str] = field(default_factory=dict)
    internal: frozenset[str] = frozenset()
    call_seconds: float = CALL_SECONDS


def declared(
    program: Program,
    *,
    exempt: Mapping[str, str] | None = None,
    internal: Collection[str] = (),
    call_seconds: float = CALL_SECONDS,
) -> Callable[[C], C]:
    """Declare a class, and every subclass, as a binding of this program.

    Args:
        program: the specification with its constants.
        exempt: variables that are not compared, or "events", each with the reason in four words or more.
        internal: the actions that the system takes of its own accord; `offers` tells which it would take now.
        call_seconds: a call that takes longer counts as one that does not return.

    Raises:
        BindingError: the class lacks a method, or declares something inconsistent.
    """

    def declare(cls: C) -> C:
        said = Declared(program, dict(exempt or {}), frozenset(internal), call_seconds)
        _check_class(cls, said)
        setattr(cls, DECLARED, said)
        return cls

    return declare


def is_plain(value: object) -> bool:
    """Return True for a class that was declared as a binding, or derives from one."""
    return isinstance(value, type) and isinstance(getattr(value, DECLARED, None), Declared)


def plain_bound(cls: type) -> Bound:
    """Return the catalogue's entry for a class declared as a binding: it binds the class with the declared
    constants, or with others.

    Raises:
        BindingError: the class, as a subclass of a declared one, breaks the rules.
    """
    said: Declared = getattr(cls, DECLARED)
    _check_class(cls, said)

    def bind(*, fault: str | None = None, **constants: Any) -> PlainBinding:
        assert fault is None, "a class of bindings has no planted faults"
        program = said.program.with_constants(**constants) if constants else said.program
        return PlainBinding(cls, replace(said, program=program))

    return Bound(bind)


@dataclass(frozen=True, eq=False)
class Standing:
    """State of a user's system: its snapshot, or the steps that lead to it, with its observed values.

    Attributes:
        steps: the steps that led to the state first.
        kept: the result of `snapshot`, or the steps of a system without snapshots.
        view: the value of each variable.
        offered: the internal steps that the system would take.
    """

    steps: tuple[Step, ...]
    kept: Hashable
    view: Mapping[str, object]
    offered: frozenset[Step]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Standing) and (self.kept, self.view, self.offered) == (
            other.kept,
            other.view,
            other.offered,
        )

    def __hash__(self) -> int:
        return hash(self.kept)


class PlainBinding:
    """Binding of a declared plain class; `Binding` documents the methods.

    Attributes:
        cls: the class.
        whole: True: the binding's one process is the whole system, and projects whole variables.
        one_way: True for a system without snapshots, so that a walk takes each transition after one path to
            its state.
    """

    members = 1
    channel = ""
    links: tuple[Link, ...] = ()
    ordered = False
    whole = True

    def __init__(self, cls: type, said: Declared) -> None:
        self.program, self.exempt, self.internal = said.program, said.exempt, said.internal
        self.restores = 0
        self.one_way = not callable(getattr(cls, "snapshot", None))
        self.cls = cls
        self._offers = callable(getattr(cls, "offers", None))
        self._actions = {
            method.name: tuple(self.program.domain(parameter.type) for parameter in method.parameters)
            for method in self.program.declaration.marked("action", "environment")
        }
        self._compared = {
            name: domain for name, domain in self.program.domains.items() if name not in self.exempt
        }
        wanted = inspect.signature(cls).parameters
        self._constants = {
            name: value for name, value in self.program.constants.items() if name in wanted
        }
        self._events = Scope(self.program.text)
        self._system: Any = None
        self._here: Standing | None = None
        self._stuck: dict[tuple[Standing, Step], Stuck] = {}
        self._timed = Timed(cls.__name__, said.call_seconds)
        self._steps: tuple[Step, ...] = ()

    def start(self, me: int) -> Effect:
        """Return the state of a fresh system."""
        del me
        self._here, self._steps = None, ()
        with self._in_time():
            return Effect(self._stand((), self._fresh()))

    def stimulus(self, step: Step) -> Stimulus:
        """Return the step as a step of the whole system that takes no packet: the network is part of the
        system.
        """
        del step
        return Stimulus(0)

    def perform(self, me: int, snapshot: Standing, step: Step, datagram: bytes | None) -> Effect:
        """Call the method of the action.

        Raises:
            Refused: the system refuses the step.
            Misreports: the method does not return, or returns a value without meaning.
            Unsteady: running the same steps again leads to another state.
        """
        del me, datagram
        if (known := self._stuck.get((snapshot, step))) is not None:
            raise known
        self._steps = (*snapshot.steps, step)
        try:
            with self._in_time():
                system = self._at(snapshot)
                self._here = None
                answer = self._take(system, step)
                after = self._stand((*snapshot.steps, step), system)
        except Stuck as stuck:
            self._stuck[snapshot, step] = stuck  # nobody waits for it again
            raise
        return Effect(after, events=self._emitted(step, answer))

    def drive(self, me: int, snapshot: Standing, step: Step | None, datagram: bytes | None) -> None:
        """Do nothing: no shell drives a whole system."""

    def offers(self, me: int, snapshot: Standing) -> frozenset[Step]:
        """Return the internal steps that the system would take in this state."""
        del me
        return snapshot.offered

    def project(self, me: int, snapshot: Standing) -> Mapping[str, object]:
        """Return the value of each compared variable."""
        del me
        return snapshot.view

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value that the one process projects."""
        del variable
        return shares[0]

    # The system ---------------------------------------------------------------------------------------------

    def _fresh(self) -> Any:
        self._calls(f"{self.cls.__name__}()")
        return self.cls(**self._constants)

    def _at(self, standing: Standing) -> Any:
        """Return the system in the state of `standing`: restore its snapshot, or run its steps again. Raise
        Forgets or Unsteady if it does not get there.
        """
        if self._here is standing:
            return self._system
        before, self._here = self._here, None
        self.restores += 1
        if not self.one_way:
            system = self._system if before is not None else self._fresh()
            self._calls("restore(...)")
            system.restore(standing.kept)
            if (view := self._view(system)) != standing.view:
                differing = {name for name, value in view.items() if value != standing.view[name]}
                name = min(differing)
                raise Forgets(f"restore() does not bring back {name}", standing.view[name], view[name])
        else:
            working("running the steps again", large=True)
            system = self._fresh()
            for step in standing.steps:
                self._take(system, step)
            if self._view(system) != standing.view:
                raise Unsteady
        self._system, self._here = system, standing
        return system

    def _take(self, system: Any, step: Step) -> Any:
        """Call the method of an action."""
        self._calls(step)
        answer = getattr(system, step.action)(*map(plain, step.arguments))
        return system.collected(answer) if isinstance(system, SansIO) else answer

    def _stand(self, steps: tuple[Step, ...], system: Any) -> Standing:
        """Return the present state of the system, after these steps."""
        view, offered, kept = self._view(system), self._offered(system), steps
        if not self.one_way:
            self._calls("snapshot()")
            kept = system.snapshot()
            try:
                hash(kept)
            except TypeError as error:
                raise Misreports(
                    "snapshot() gives what has no hash", "tuples, frozensets, numbers or bytes", Strange(kept)
                ) from error
        self._system = system
        self._here = Standing(steps, kept, MappingProxyType(view), offered)
        return self._here

    def _view(self, system: Any) -> Mapping[str, object]:
        """Return the value of each compared variable by `state`."""
        self._calls("state()")
        told = system.state()
        if not isinstance(told, Mapping):
            raise self._wrong("state()", f"gives {told!r}, not a dict of variables")
        if missing := [name for name in self._compared if name not in told]:
            them = "it" if len(missing) == 1 else "them"
            exempt = f"exempt={{{missing[0]!r}: 'why it is not compared'}}"
            said = f"says nothing of {', '.join(missing)}: add {them}, or write {exempt}"
            raise self._wrong("state()", said)
        for name in told:
            if name not in self.program.variables:
                known = did_you_mean(str(name), self.program.variables)
                said = f"speaks of {name!r}, which {self.program.name} does not have{known}"
                raise self._wrong("state()", said)
        return {name: meant(domain, told[name]) for name, domain in self._compared.items()}

    def _wrong(self, call: str, said: str) -> Misreports | BindingError:
        """Return the error about the result of a call: a finding with its steps after a step, since the call
        was right before; a mistake of the binding at the start.
        """
        if self._steps:
            return Misreports(f"{call} is wrong", "right, as before", said)
        return BindingError(f"{self.cls.__name__}.{call} {said}")

    def _offered(self, system: Any) -> frozenset[Step]:
        if not self._offers:
            return frozenset()
        self._calls("offers()")
        return frozenset(map(self._step, system.offers()))

    def _step(self, told: Any) -> Step:
        """Return the step that a user's `offers` names: an action with its arguments, or an action alone."""
        action, *arguments = [told] if isinstance(told, str) else told
        domains = self._actions.get(action)
        if action not in self.internal or domains is None or len(domains) != len(arguments):
            known = ", ".join(sorted(self.internal)) or "actions that internal= names"
            raise self._wrong("offers()", f"names {told!r}; it gives (action, *arguments) of {known}")
        return Step(
            action, tuple(meant(domain, item) for domain, item in zip(domains, arguments, strict=True))
        )

    def _emitted(self, step: Step, answer: Any) -> tuple[object, ...]:
        """Return the events that a method returned, as the specification's events."""
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise self._wrong(step.action, f"is {_COROUTINE}")
        if answer is None:
            return ()
        return tuple(map(self._event, answer if isinstance(answer, list | tuple) else [answer]))

    def _event(self, event: Any) -> object:
        try:
            kind = self._events.type_of(type(event), self.cls, "an event")
        except SpecError:
            return Strange(event)
        return meant(self.program.domain(kind), event)

    def _calls(self, call: object) -> None:
        """Begin a call of the user's class. Raise Stuck if it has ended an earlier process."""
        try:
            self._timed.begin(call, _lines(self._steps) if is_noted() else "", self._steps)
        except Ended as ended:
            what = "does not return" if "does not return" in str(ended) else "ends the process"
            raise Stuck(f"the implementation {what}", "goes on", str(ended)) from ended

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        """Context that interrupts a call inside it that takes longer than the time limit.

        Raises:
            Stuck: a call took longer.
        """
        try:
            with self._timed.watching():
                yield
        except Late as late:
            raise Stuck("the implementation does not return", "goes on", str(late)) from late


@lru_cache(1024)
def _lines(steps: tuple[Step, ...]) -> str:
    """Return the text of steps, each a line."""
    return "\n".join(map(compact_step, steps))


class Stuck(Misreports):
    """Error: a call of the user's code does not return in time."""


def _check_class(cls: type, said: Declared) -> None:
    """Raise BindingError if a class does not have the methods that its declaration as a binding needs."""
    name, actions = cls.__name__, said.program.declaration.marked("action", "environment")
    for action in actions:
        if action.name in NEEDED:
            raise BindingError(
                f"{said.program.name} has an action {action.name!r}, which is a method of its own in a "
                "binding; call the action otherwise"
            )
        method = getattr(cls, action.name, None)
        if not callable(method):
            near = did_you_mean(action.name, [key for key in vars(cls) if not key.startswith("_")])
            words = ", ".join(["self", *(parameter.name for parameter in action.parameters)])
            raise BindingError(f"{name} has no method for the action {action.name}({words}){near}")
        if inspect.iscoroutinefunction(method):
            raise BindingError(f"{name}.{action.name} is {_COROUTINE}")
    if not callable(getattr(cls, "state", None)):
        raise BindingError(f"{name} has no state(): it gives a dict of the variables of {said.program.name}")
    if callable(getattr(cls, "snapshot", None)) != callable(getattr(cls, "restore", None)):
        raise BindingError(f"{name} has one of snapshot() and restore(kept); it needs both, or neither")
    for variable, reason in said.exempt.items():
        if variable not in (*said.program.variables, EVENTS):
            raise BindingError(
                f"{name} exempts {variable!r}, which {said.program.name} does not have"
                f"{did_you_mean(variable, said.program.variables)}"
            )
        if len(reason.split()) < 4:
            raise BindingError(
                f"{name} exempts {variable!r}: say why it is not compared, in four words or more"
            )
    if stray := said.internal - {action.name for action in actions}:
        raise BindingError(f"{name}: internal names {', '.join(sorted(stray))}, which is no action")
    if bool(said.internal) != callable(getattr(cls, "offers", None)):
        raise BindingError(
            f"{name}: internal= and offers() belong together: which actions are the system's own, and which "
            "of them it would take now"
        )


_COROUTINE = (
    "a coroutine, and a step is a call that ends: drive the code that awaits from outside, or bind what is "
    "beneath it"
)
