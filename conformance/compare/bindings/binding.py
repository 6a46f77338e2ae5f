"""Binding of a specification and an implementation: the process that a step concerns, how that process takes
it, and the meaning of its state.

Rules:
1. A binding handles one process at a time. The effect of a step is a function of the process's snapshot and
  of its input: a step, or a datagram. So local steps can be cached; `System` keeps the packets in flight.
2. A binding never writes the implementation's state: it calls methods, and hands over bytes that the
   implementation encoded itself.
3. Snapshots are immutable, hashable and canonical. Equal snapshots behave equally.
4. Every variable of the specification is projected, or exempt with a reason of at least four words.
5. A shell that drives a process must observe the same effects as the process's steps have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from antiphon.conformance.compare.bindings.links import Link
from antiphon.impl.protocols.core import Implementation
from antiphon.spec.lang import Program, Step
from antiphon.spec.lang.types import MapOf


class Refused(Exception):
    """Error: the implementation refuses a step of the specification; the message has its answer."""


class Misreports(Exception):
    """Error: a shell that drives a process observes other effects than the process's steps have; the message
    has both.
    """

    def __init__(self, what: str, specification: object, implementation: object) -> None:
        self.what, self.specification, self.implementation = what, specification, implementation
        super().__init__(f"{what}: {specification!r}, but {implementation!r}")


class Forgets(Misreports):
    """Error: a process that was restored to a snapshot differs from the process of which the snapshot was
    taken.
    """


class Unsteady(Exception):
    """Error: an execution or a query had another result the second time."""


EVENTS = "events"
"""Name in `exempt` by which the events of steps are not compared; a variable of this name has precedence."""


@dataclass(frozen=True, slots=True)
class Stimulus:
    """Target of a step: the process that takes it (None: the environment alone), and the packet in flight, if
    any, that the step takes out of the set or from the head of a link.

    A packet that is `consumed` is no longer in flight afterwards.
    """

    process: int | None
    packet: object | None = None
    consumed: bool = True
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """Effect of a step on one process: its snapshot afterwards, its packets into the set (packet, datagram),
    its events, its packets into links, in order (link, packet, datagram).
    """

    after: Hashable
    sent: tuple[tuple[object, bytes], ...] = ()
    events: tuple[object, ...] = ()
    queued: tuple[tuple[Link, object, bytes], ...] = ()


class Binding(Protocol):
    """A specification's program and an implementation, side by side.

    Attributes:
        program: the specification with its constants.
        members: how many processes there are; they are numbered from 0, in the order of the specification's
            index.
        channel: the variable of the specification that is the set of packets in flight; "" if there is none.
        links: the queues and logs of the specification, for every key of their variables.
        exempt: variables that are not compared, or `EVENTS`, each with the reason, in at least four words.
        ordered: whether the specification lets internal steps of different processes happen in one order
            only, so that it may enable fewer of them than the processes offer.
        restores: how often a snapshot was put back into a process that stood elsewhere. A run from the start
            needs none.

    A binding may have three more attributes: `whole`, if its one process is the whole system and projects
    whole variables; `one_way`, if its snapshots cannot tell that two ways led to one state (`trait`); and
    `joint`, the names of maps that are not over the processes, such as one over views. The latter are joined
    from shares, like variables that are no maps (`is_own`).
    """

    program: Program
    members: int
    channel: str
    links: tuple[Link, ...]
    exempt: Mapping[str, str]
    ordered: bool
    restores: int

    @property
    def internal(self) -> Collection[str]:
        """Return the actions that a process takes as internal steps; `offers` returns those that are enabled
        in a snapshot.
        """
        ...

    def start(self, me: int) -> Effect:
        """Return the initial effect of process `me`: its snapshot, and the packets that it sends at once."""

    def stimulus(self, step: Step) -> Stimulus:
        """Return the process and the packet that the step concerns."""

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Let process `me`, in the state of a snapshot, take the step; with a datagram, by receiving it.
        Return the effect.

        Raises:
            Refused: the implementation refuses the step.
        """

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Drive process `me` from a snapshot through the step, as a shell does (None: only its internal steps
        and timers), and check what the shell observes.

        Raises:
            Misreports: the shell observes something else than the effect of the step.
        """

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Return the internal steps that the process would take in the state of a snapshot."""

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the values of the variables that the process shows, frozen: its own entry of a map over the
        processes, its share of any other variable.
        """

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of a variable that is no map over processes, from the shares of all."""


def trait(binding: Binding, name: str) -> bool:
    """Return True if a binding has the trait of this name: `whole` (its one process is the whole system) or
    `one_way` (snapshots do not show whether two ways led to one state).
    """
    return getattr(binding, name, False) is True


def is_own(binding: Binding, variable: str) -> bool:
    """Return True if a variable is a map over the processes, so that each process projects its own entry of
    it.
    """
    is_map = isinstance(binding.program.domains[variable].type, MapOf)
    return is_map and not trait(binding, "whole") and variable not in getattr(binding, "joint", ())


def told_faults(faults: Mapping[str, type]) -> dict[str, str]:
    """Return each planted fault's name with the first paragraph of its docstring, in one line."""
    return {
        name: " ".join((kind.__doc__ or "").partition("\n\n")[0].split()) for name, kind in faults.items()
    }


@dataclass(frozen=True)
class Bound:
    """Binding of a protocol, with constants to try it with: the object that the catalogue's `binding_at`
    names.

    Attributes:
        bind: makes the binding; it takes the constants of the specification as keywords, and `fault`, the
            name of a planted one.
        small: the constants of a model that is walked in seconds: what the commands use when none are named;
            the others keep their defaults.
        every: what is changed of `small` so that every action has a case: what the suite of bindings uses.
        random: the constants of a larger model, for random runs: what `antiphon stateful` uses.
        faults: the planted faults, with one sentence about each.
        implementation: the protocol as groups run it; with the name of a planted fault, with that mistake.
        never: actions that these constants leave no case of, such as views that change.
    """

    bind: Callable[..., Binding]
    small: Mapping[str, int | bool] = field(default_factory=dict)
    every: Mapping[str, int | bool] = field(default_factory=dict)
    random: Mapping[str, int | bool] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    implementation: Callable[[str | None], Implementation[Any]] | None = None
    never: frozenset[str] = frozenset()
