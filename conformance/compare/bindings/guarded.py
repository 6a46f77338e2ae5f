"""Guard around a binding and its implementation: an exception of theirs becomes a finding about them.

Whatever a call raises becomes `Raised`, with its place. The results of a binding are checked once, here:
their types, and that snapshots can be hashed. A binding that breaks these rules is wrong, and says nothing
about the implementation.

This module knows no protocol.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from antiphon.conformance.compare.bindings.binding import (
    Binding,
    Effect,
    Misreports,
    Refused,
    Stimulus,
    Unsteady,
    trait,
)
from antiphon.conformance.compare.bindings.links import Link
from antiphon.model.bounds import Enough
from antiphon.spec.lang import Program, SpecError, Step
from antiphon.spec.lang.foreign import Raised, foreign

T = TypeVar("T")

HASHABLE = (
    "a snapshot must be hashable and immutable, equal where the process behaves equally: tuples, frozensets, "
    "frozen dataclasses or bytes, no lists, sets or dicts"
)
"""Rule about snapshots."""

_SENT = (
    "what an Effect sends is a tuple of (packet, bytes), what it queues one of (link of the binding, packet, "
    "bytes), and its events are a tuple; packets can be hashed"
)

CHANCES = 100
"""Number of seeds with which the global `random` of a run may begin, so that a replay can try them all."""


class BindingError(SpecError):
    """Error: a binding breaks the rules of bindings; the message says which."""


class Guarded:
    """Wrapper of a binding that checks the results of every call and reports every exception; `Binding`
    documents the methods.

    Raises:
        BindingError: the binding lacks an attribute, or returns something that no binding may return.
    """

    def __init__(self, binding: Binding) -> None:
        self.binding, self.name = binding, type(binding).__name__
        self.program: Program = self._attribute("program", Program, "program(...)")
        self.members: int = self._attribute("members", int, "a number of processes")
        self.channel: str = self._attribute("channel", str, "the name of a variable")
        self.links: tuple[Link, ...] = tuple(self._attribute("links", Iterable, "a tuple of links"))
        self.exempt: Mapping[str, str] = self._attribute("exempt", Mapping, "a mapping of names to reasons")
        self.internal = frozenset[str](self._attribute("internal", Iterable, "a set of names of actions"))
        self.ordered: bool = self._attribute("ordered", bool, "True or False")
        self.whole, self.one_way = trait(binding, "whole"), trait(binding, "one_way")
        self.joint = frozenset[str](getattr(binding, "joint", ()))

    @property
    def restores(self) -> int:
        """Number of times that a snapshot was restored into a process that was in another state."""
        found: int = self._attribute("restores", int, "a count")
        return found

    @restores.setter
    def restores(self, count: int) -> None:
        self.binding.restores = count

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`: its snapshot, and the packets that it sends at once."""
        with foreign(Enough, Misreports, BindingError):
            effect = self.binding.start(me)
        return self._effect(effect, f"start({me})")

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that the step concerns."""
        with foreign(Enough):
            stimulus = self.binding.stimulus(step)
        if not isinstance(stimulus, Stimulus):
            raise BindingError(f"{self.name}.stimulus({step}) gives {_kind(stimulus)}, not a Stimulus")
        if stimulus.process is not None and not 0 <= stimulus.process < self.members:
            raise BindingError(
                f"{self.name}.stimulus({step}) names process {stimulus.process}; there are {self.members}"
            )
        if stimulus.link is not None and stimulus.link not in self.links:
            raise BindingError(f"{self.name}.stimulus({step}) names {stimulus.link}, no link of the binding")
        return stimulus

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Let process `me`, in the state of a snapshot, take the step; return the effect.

        Raises:
            Refused: the implementation refuses the step.
            Misreports: the implementation reports something that has no meaning in the specification.
            Unsteady: the process cannot be put back to the snapshot.
        """
        with foreign(Enough, Refused, Misreports, Unsteady, BindingError):
            effect = self.binding.perform(me, snapshot, step, datagram)
        return self._effect(effect, f"perform({me}, ..., {step})")

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Drive process `me` like a shell. Raises `Misreports` if the shell observes other effects."""
        with foreign(Enough, Misreports):
            self.binding.drive(me, snapshot, step, datagram)

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Return the internal steps that the process would take in the state of a snapshot."""
        with foreign(Enough):
            given: Any = self.binding.offers(me, snapshot)
            offers = frozenset[Step](given if isinstance(given, Iterable) else [given])
        for item in offers:
            if not isinstance(item, Step):
                raise BindingError(
                    f"{self.name}.offers({me}, ...) has {_kind(item)} in it; it is a set of Steps"
                )
        return offers

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the values of the variables that the process shows."""
        with foreign(Enough):
            view = self.binding.project(me, snapshot)
        if not isinstance(view, Mapping):
            raise BindingError(
                f"{self.name}.project({me}, ...) gives {_kind(view)}, not a mapping of variables to values"
            )
        return view

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable that is no map over processes, from the shares of all."""
        with foreign(Enough):
            return self.binding.join(variable, shares)

    def missing(self, names: Iterable[str]) -> BindingError:
        """Return the error which says that these variables are neither projected nor exempt."""
        return BindingError(f"the binding neither projects nor exempts {', '.join(map(repr, names))}")

    def _attribute(self, name: str, kind: type, said: str) -> Any:
        with foreign():
            there = hasattr(self.binding, name)
            value = getattr(self.binding, name, None)
        if not there:
            raise BindingError(f"the binding {self.name} has no attribute {name!r}")
        if not isinstance(value, kind):
            raise BindingError(f"{self.name}.{name} is {_kind(value)}, not {said}")
        return value

    def _effect(self, effect: object, call: str) -> Effect:
        with foreign(BindingError):  # what is in it has a hash, and a text, of its own
            return self._looked_at(effect, call)

    def _looked_at(self, effect: object, call: str) -> Effect:
        if not isinstance(effect, Effect):
            raise BindingError(f"{self.name}.{call} gives {_kind(effect)}, not an Effect")
        try:
            hash(effect.after)
        except TypeError as error:
            raise BindingError(
                f"{self.name}.{call} gives a snapshot that has no hash ({error}); {HASHABLE}"
            ) from error
        try:
            hash((effect.sent, effect.queued))
            sent = all(isinstance(datagram, bytes) for _, datagram in effect.sent)
            queued = all(
                link in self.links and isinstance(datagram, bytes) for link, _, datagram in effect.queued
            )
        except (TypeError, ValueError) as error:
            raise BindingError(f"{self.name}.{call}: {error}; {_SENT}") from error
        if not sent or not queued or not isinstance(effect.events, tuple):
            raise BindingError(f"{self.name}.{call} gives {effect}; {_SENT}")
        return effect


def guarded(binding: Binding) -> Guarded:
    """Return the binding in a `Guarded`, unless it is one already."""
    return binding if isinstance(binding, Guarded) else Guarded(binding)


def equal(one: object, other: object) -> bool:
    """Return True if two values are equal; user code may define the comparison.

    Raises:
        Raised: the comparison fails.
    """
    with foreign(Enough):
        return bool(one == other)


def made(maker: Callable[..., Binding], name: str) -> Callable[..., Binding]:
    """Return the function `maker` with a guard around each binding that it makes. A failure of `maker`
    becomes an error about the binding of this name.

    Raises:
        BindingError: the maker raises.
    """

    def make(**constants: Any) -> Binding:
        try:
            with foreign(SpecError):
                binding = maker(**constants)
        except Raised as raised:
            raise BindingError(f"binding {name!r} cannot be made: {raised}") from raised.error
        return guarded(binding)

    return make


@contextmanager
def chance(seed: int) -> Iterator[None]:
    """Context in which the global `random` begins with this seed, and is restored afterwards."""
    before = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(before)


def _kind(value: object) -> str:
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
