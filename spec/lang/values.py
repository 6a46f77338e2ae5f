"""The values of a specification are immutable Python objects; only state variables change, by assignment.

Sets are frozensets, sequences are tuples, maps are `Map`, enumerations are `enum.Enum`, records are frozen
dataclasses. An `Index` is not an integer: it equals only itself. Inside a step the machine that executes it
is *active*, and values are checked against its sizes as they are made.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Protocol,
    Self,
    TypeVar,
    cast,
    dataclass_transform,
    overload,
)

from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.maps import Map as Map

T = TypeVar("T")
V = TypeVar("V")


class Context(Protocol):
    """Interface of an executing machine to the functions that a specification calls."""

    def check_made(self, value: object) -> None:
        """Raise SpecError when a record or index that was just made leaves its domain."""

    def require(self, condition: object, depth: int) -> None:
        """Carry on when the guard holds, else raise Disabled."""

    def emit(self, event: object) -> None:
        """Record the event and run its handlers."""

    def expect(self, condition: object, property: str, clash: object, depth: int) -> None:
        """Record a refusal of `property` when the condition is False."""

    def budget(self, condition: object) -> bool:
        """Return the condition of a budget, or True where the machine treats every budget as not spent."""


class _Here(threading.local):
    """Machines that execute in this thread, the present one last."""

    def __init__(self) -> None:
        self.machines: list[Context] = []


_here = _Here()
_entered: list[None] = []
"""List with one None for each executing machine of any thread. Empty: no thread need look for its machine."""


def active() -> Context:
    """Return the machine that executes the present step.

    Raises:
        SpecError: no machine is executing; `require`, `emit` and `expect` belong inside a specification.
    """
    if not _here.machines:
        raise SpecError(
            "require, emit and expect work only inside the actions of a specification that a machine executes"
        )
    return _here.machines[-1]


Set = frozenset
"""A finite set, immutable: `self.received[p] |= {m}`."""

Seq = tuple[T, ...]
"""A bounded sequence, immutable: `self.queue += (m,)`; declare it as `Annotated[Seq[Message],
AtMost("messages")]`.
"""


@dataclass(frozen=True)
class Between:
    """Bounds of an integer, both included: `Annotated[int, Between(0, "messages")]`."""

    low: int | str
    high: int | str


@dataclass(frozen=True)
class AtMost:
    """Annotation: the greatest length of a sequence."""

    most: int | str


@dataclass(frozen=True)
class In:
    """Annotation of a parameter that ranges over the present elements of the state variable `variable`, a
    set: `Annotated[Ack, In("network")]`.
    """

    variable: str


class _Constant:
    pass


Const = Annotated[T, _Constant()]
"""A constant of the specification: `processes: Const[int] = 3`."""


class Index:
    """A named finite set of interchangeable or ordered members: `class Process(Index, size="processes"):
    ...`.

    `size` names a constant (or is an expression over constants). `symmetric`: members may be exchanged
    without changing behaviour. `ordered`: members compare by `<`, and "first" has a meaning. `Process(2)` is
    the third member; `p.index` its number from 0.
    """

    __slots__ = ("index",)
    _size: ClassVar[int | str] = 0
    _ordered: ClassVar[bool] = False
    _symmetric: ClassVar[bool] = False
    _members: ClassVar[dict[int, Index]] = {}
    index: int

    def __init_subclass__(
        cls, *, size: int | str | None = None, ordered: bool = False, symmetric: bool = False
    ) -> None:
        if size is None:
            raise _refused(
                f"class {cls.__name__}(Index) does not say how many members there are",
                f'class {cls.__name__}(Index, size="processes")',
            )
        if ordered and symmetric:
            raise _refused(
                f"{cls.__name__} cannot be both ordered and symmetric: exchanging members changes it",
                f'class {cls.__name__}(Index, size="processes", symmetric=True)',
            )
        cls._size, cls._ordered, cls._symmetric, cls._members = size, ordered, symmetric, {}

    def __new__(cls, index: int) -> Self:
        """Return the member with this number; there is one object for each."""
        member = cls._members.get(index) if type(index) is int else None
        if member is None:
            if type(index) is not int or index < 0:
                raise SpecError(f"{cls.__name__}({index!r}): the number of a member is an integer from 0")
            member = super().__new__(cls)
            object.__setattr__(member, "index", index)
            member = cls._members.setdefault(index, member)
        if _entered and _here.machines:
            _here.machines[-1].check_made(member)
        return cast(Self, member)

    def __setattr__(self, name: str, value: object) -> None:
        raise SpecError(f"{type(self).__name__} is immutable")

    def _comparable(self, other: object) -> Index:
        if type(other) is not type(self) or not self._ordered:
            raise SpecError(
                f"{self!r} and {other!r} have no order; declare `class {type(self).__name__}(Index, "
                "ordered=True)` if they do"
            )
        return other

    def __lt__(self, other: object) -> bool:
        return self.index < self._comparable(other).index

    def __le__(self, other: object) -> bool:
        return self.index <= self._comparable(other).index

    def __gt__(self, other: object) -> bool:
        return self.index > self._comparable(other).index

    def __ge__(self, other: object) -> bool:
        return self.index >= self._comparable(other).index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.index})"

    def __reduce__(self) -> Any:
        return type(self), (self.index,)


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Decorate a class as a record: a frozen dataclass whose fields have types of the language. Messages,
    identifiers and events are records.
    """

    def settle(self: object) -> None:
        for name, value in vars(self).items():
            if isinstance(value, set):
                object.__setattr__(self, name, frozenset(value))
        if _entered and _here.machines:
            _here.machines[-1].check_made(self)

    def written(self: object) -> str:
        fields = ", ".join(f"{name}={_in_order(value)}" for name, value in vars(self).items())
        return f"{type(self).__qualname__}({fields})"

    bare = [
        name
        for name, value in vars(cls).items()
        if not name.startswith("__") and not callable(value) and not hasattr(value, "__get__")
    ]
    if bare and not inspect.get_annotations(cls) and not dataclasses.is_dataclass(cls):
        raise _refused(f"{cls.__name__}.{bare[0]} has no type, so that it is no field", f"{bare[0]}: Process")
    cls.__post_init__ = settle  # type: ignore[attr-defined]
    cls.__repr__ = written  # type: ignore[method-assign]
    made = dataclasses.dataclass(frozen=True, repr=False)(cls)
    note_place(made)
    return made


def _in_order(value: object) -> str:
    """Return the value as text that is the same in every process: the elements of a set in the order of their
    texts.
    """
    if isinstance(value, frozenset):
        return f"Set({{{', '.join(sorted(map(_in_order, value)))}}})"
    return repr(value)


def note_place(cls: type) -> None:
    """Remember where a class is defined: its file and line, and the names of the function and module around
    it, which its annotations may use.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != cls.__module__:
        frame = frame.f_back
    inside = frame is not None and frame.f_locals is not frame.f_globals
    cls.__antiphon_scope__ = dict(frame.f_locals) if frame is not None and inside else {}  # type: ignore[attr-defined]
    cls.__antiphon_globals__ = frame.f_globals if frame is not None else {}  # type: ignore[attr-defined]
    place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("<unknown>", 0)
    cls.__antiphon_place__ = place  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Everywhere:
    """Map that has one value at every key; the keys are known only when it is stored in a place of declared
    type.
    """

    value: object


def everywhere(value: V) -> Map[Any, V]:
    """Return the map that has `value` at every key; nest it for maps of maps:
    `everywhere(everywhere(None))`.
    """
    return cast("Map[Any, V]", Everywhere(value))


def describe(domain: types.Domain) -> str:
    """Return a description of the domain in a few words, for messages."""
    match domain.type:
        case types.Int():
            return f"the integers {domain.low} to {domain.high}"
        case types.Bool():
            return "False or True"
        case types.Optional():
            return f"None or {describe(domain.parts[0])}"
        case types.SetOf():
            return f"the sets of {describe(domain.parts[0])}"
        case types.SequenceOf():
            return f"the sequences of at most {domain.most} of {describe(domain.parts[0])}"
        case types.Record(name=name) | types.Enumeration(name=name) | types.IndexType(name=name):
            return f"{name} ({_few(domain)})"
    return f"{_few(domain)}"


def _few(domain: types.Domain) -> str:
    shown = [repr(domain.value(rank)) for rank in range(min(4, domain.cardinality))]
    return ", ".join(shown) + (f", ... {domain.cardinality} in all" if domain.cardinality > 4 else "")


def present(value: T | None) -> T:
    """Return an optional value that is not None. None is an error of the specification, not a false guard:
    test `is not None` first.
    """
    if value is None:
        raise SpecError(
            "present(None): the optional value is absent; guard it with `require(x is not None)` or `if x "
            "is not None`"
        )
    return value


def require(condition: bool) -> None:
    """Require a condition: when it is False the action is not enabled. Guards come before updates."""
    active().require(condition, 2)


def budget(condition: bool) -> bool:
    """Mark the part of a guard that bounds the exploration, and return its condition.

    Written `require(self.waits[p] and budget(self.expired < self.timeouts))`. Where nothing more can happen
    because such a budget is spent, an obligation is not violated: it is unknown.
    """
    return active().budget(condition)


def emit(event: object) -> None:
    """Emit an event, a record, for the services that are composed with the specification."""
    active().emit(event)


def expect(condition: bool, property: str, clash: object = None) -> None:
    """State what a service demands: when the condition is False, the step breaks `property`; `clash` is the
    earlier event that it contradicts.
    """
    active().expect(condition, property, clash, 2)


def enter(context: Context) -> None:
    """Make `context` the machine that executes the specification, until the matching `leave`."""
    _here.machines.append(context)
    _entered.append(None)


def leave() -> None:
    """Make the machine that was current before the last `enter` current again."""
    _entered.pop()
    _here.machines.pop()


def _refused(reason: str, instead: str) -> SpecError:
    """Return the error of a declaration, placed at the line that makes the declaration, outside of this
    package.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        frame = frame.f_back
    at = None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno)
    return SpecError(reason, at, instead)


Marked = TypeVar("Marked", bound=Callable[..., Any])


@dataclass(frozen=True)
class Mark:
    """The mark of a decorated method of a specification."""

    kind: str
    """action, environment, initial, invariant, step_invariant, witness, obligation, on, guard, constraint."""
    name: str = ""
    fairness: str = "none"
    event: type | None = None
    per: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


def _marker(mark: Mark) -> Callable[[Marked], Marked]:
    def apply(function: Marked) -> Marked:
        function.__antiphon__ = dataclasses.replace(mark, name=mark.name or function.__name__)  # type: ignore[attr-defined]
        return function

    return apply


@overload
def action(function: Marked) -> Marked: ...
@overload
def action(*, fairness: str, per: str | tuple[str, ...] = ()) -> Callable[[Marked], Marked]: ...
def action(function: Any = None, *, fairness: str = "none", per: str | tuple[str, ...] = ()) -> Any:
    """Mark a method as a step of the algorithm: guards (`require`), then updates.

    `fairness`: "none" (it need not happen), "weak" (it happens if it stays possible) or "strong" (if it
    becomes possible again and again). The promise is about the action with any arguments; `per` names
    parameters for each value of which it is made by itself.
    """
    if fairness not in ("none", "weak", "strong"):
        raise _refused(
            f"fairness is none, weak or strong, not {fairness!r}",
            'fairness="weak" (it happens if it stays possible), or "strong" (if again and again)',
        )
    names = (per,) if isinstance(per, str) else tuple(per)
    if names and fairness == "none":
        raise _refused(
            f"per={per!r} says for whom an action is fair, and fairness is none",
            instead=f'fairness="weak", per={per!r}',
        )
    marker = _marker(Mark("action", fairness=fairness, per=names))
    return marker if function is None else marker(function)


def environment(function: Marked) -> Marked:
    """Mark a method as a step of the environment (loss, duplication, crash): a fault, never counted as
    progress.
    """
    return _marker(Mark("environment"))(function)


def initial(function: Marked) -> Marked:
    """Mark a method that makes initial states: it runs once for each value of its parameters, from the
    defaults.
    """
    return _marker(Mark("initial"))(function)


def invariant(function: Marked) -> Marked:
    """Mark a boolean method that is true in every reachable state."""
    return _marker(Mark("invariant"))(function)


def step_invariant(function: Marked) -> Marked:
    """Mark a boolean method that is true of every step; `self` is the specification after the step, and the
    second parameter the one before it: `def grows(self, before: Self) -> bool: return self.n > before.n`.

    A step that changes none of the variables that the method reads is not judged (TLA's `[][A]_v`, with v
    those variables).
    """
    return _marker(Mark("step_invariant"))(function)


def witness(function: Marked) -> Marked:
    """Mark a boolean method that is true in some reachable state, so that no property holds only because the
    model is empty.
    """
    return _marker(Mark("witness"))(function)


def obligation(function: Marked) -> Marked:
    """Mark a boolean method that must be true where nothing but faults can happen, and reachable again,
    without faults, from every state.
    """
    return _marker(Mark("obligation"))(function)


@dataclass(frozen=True)
class LivenessNote:
    """Temporal formula about fair runs, as the author wrote it. `kind` is the name of the function that makes
    it, or `initially`; `premise` and `goal` name methods. The formula is required only of the runs on which
    each of `assuming` is true.
    """

    kind: str
    goal: str
    premise: str = ""
    assuming: tuple[LivenessNote, ...] = ()


def leads_to(premise: str, goal: str) -> LivenessNote:
    """Make a liveness property of every fair run: a state in which `premise` is true is followed by one
    (perhaps the same) in which `goal` is true.

    Both name methods that give a bool. If they have parameters, the property must hold for all values, the
    same for both methods. Written `fed = leads_to("hungry", "eats")`.
    """
    return LivenessNote("leads_to", goal, premise)


def eventually(goal: str) -> LivenessNote:
    """Make a liveness property of every fair run: the method named `goal` is true in some state."""
    return LivenessNote("eventually", goal)


def always_eventually(goal: str) -> LivenessNote:
    """Make a liveness property of every fair run: the method named `goal` is true again and again, for
    ever.
    """
    return LivenessNote("always_eventually", goal)


def eventually_always(goal: str) -> LivenessNote:
    """Make a liveness property of every fair run: from some state on, the method named `goal` stays true."""
    return LivenessNote("eventually_always", goal)


def always(goal: str) -> LivenessNote:
    """Make a formula: the method named `goal` is true in every state of a run. Use it within `implies`; alone
    it would be an invariant.
    """
    return LivenessNote("always", goal)


def implies(assumption: str | LivenessNote, conclusion: LivenessNote) -> LivenessNote:
    """Make a liveness property of every fair run: if the assumption is true of the run, the conclusion is.

    Both are temporal formulas (`leads_to`, `eventually`, `always_eventually`, `eventually_always`, `always`);
    an assumption may be the name of a method, which speaks of the first state. The conclusion may be an
    implication itself: then both assumptions are made. Written `served = implies(always_eventually("free"),
    leads_to("waits", "is_served"))`.

    Raises:
        SpecError: the assumption is an implication, or the conclusion is no temporal formula.
    """
    made = LivenessNote("initially", assumption) if isinstance(assumption, str) else assumption
    if not _is_formula(made) or made.assuming:
        raise _refused(
            f"implies({assumption!r}, ...): what is assumed is the name of a method, or a temporal formula "
            "without an implication",
            instead='implies("at_first", implies(always_eventually("p"), always_eventually("q")))',
        )
    if not _is_formula(conclusion):
        raise _refused(
            f"implies(..., {conclusion!r}): what follows is a temporal formula",
            instead='eventually("done"), always("safe"), or another one',
        )
    return dataclasses.replace(conclusion, assuming=(made, *conclusion.assuming))


def _is_formula(value: object) -> bool:
    return isinstance(value, LivenessNote)


@dataclass(frozen=True)
class FairNote:
    """Statement of `fair`, as the author wrote it: some step of `actions` happens, as `fairness` promises,
    for each value of the parameters `per`, where the method `where` is true.
    """

    actions: tuple[str, ...]
    fairness: str
    per: tuple[str, ...]
    where: str


def fair(*actions: str, fairness: str = "weak", per: str | tuple[str, ...] = (), where: str = "") -> FairNote:
    """Make a promise about several actions together, or about a part of one: some step of any of them
    happens.

    The promise is an attribute of the class; the mark of an action promises something of that action by
    itself. `fairness` and `per` are those of `action`; each action must have the parameters in `per`. `where`
    names a method that gives a bool: only steps count that begin where it is true; its parameters are found
    among those of each action by name. Written `progress = fair("send", "receive", per="p",
    where="is_up")`.

    Raises:
        SpecError: it names no action, or nothing is promised.
    """
    if not actions or fairness not in ("weak", "strong"):
        raise _refused(
            f"fair({', '.join(map(repr, actions))}, fairness={fairness!r}) promises nothing",
            instead='fair("send", "receive", fairness="weak"), or "strong"',
        )
    return FairNote(actions, fairness, (per,) if isinstance(per, str) else tuple(per), where)


def guard(function: Marked) -> Marked:
    """Mark a guard on the actor: every `action` needs it whose first parameter, or the field `to` of that
    parameter, has the type of the guard's parameter.
    """
    return _marker(Mark("guard"))(function)


def constraint(*actions: str) -> Callable[[Marked], Marked]:
    """Declare a bound of the exploration, which is no part of the model: the named actions happen only where
    it is true.

    Without names it applies to every action, so that no action leads on from a state where it is false. Its
    parameters are found by name among those of each action. A verdict under a constraint says so;
    `budget(...)` inside it keeps its meaning.
    """
    return _marker(Mark("constraint", actions=actions))


def on(event: type) -> Callable[[Marked], Marked]:
    """Mark a handler of a service: it runs at every `emit` of this record."""
    return _marker(Mark("on", event=event))
