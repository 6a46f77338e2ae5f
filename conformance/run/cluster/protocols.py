"""Protocols that a cluster can run, each through the member that an application would use.

A member runs the implementation of its name, as a group does (`antiphon.impl.registry`), with shorter waiting
times; any other member stands at "file.py:Name" or "module:Name". This module is where the harness meets the
implementation's interface; it must not know datagrams, relays or logs.
"""

from __future__ import annotations

import inspect
import socket
from collections.abc import Callable
from typing import Any

import msgspec

from antiphon.impl import registry
from antiphon.impl.group import Group
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.tracing import Tracer
from antiphon.spec.catalogue import run_by_groups
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names
from antiphon.spec.places import Kind, is_place, stands_at

HASTE = 0.2
"""Fraction of a protocol's usual waiting times: on the loopback interface an answer takes a millisecond."""


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """Membership of a process: its place in its group, its key, and the addresses of the others."""

    group: str
    process: int
    processes: int
    routes: dict[int, tuple[str, int]]
    key: bytes | None


Member = Callable[[Membership, socket.socket, Tracer], Group]
"""Function that makes the member of a group that listens on a bound socket, with its tracer."""


def known_protocols() -> tuple[str, ...]:
    """Return the names of the catalogue that a cluster understands, sorted: those that groups run, as in a
    swarm.
    """
    return tuple(sorted(run_by_groups()))


def maker(protocol: str) -> Member:
    """Return the function that makes a member of a protocol, or of a stack such as
    TOTAL:MBRSHIP:FRAG:NAK:COM.

    Raises:
        SpecError: it is neither in the catalogue nor at a place; the message lists the known ones.
    """
    if _is_stack(protocol):
        return _running(_hasty(protocol))
    if is_place(protocol):
        placed: Member = stands_at(protocol, _MEMBER)
        return placed
    if protocol not in known_protocols():
        raise SpecError(f"unknown protocol {protocol!r}; {known_names(protocol, known_protocols())}")
    return _running(_hasty(protocol))


def member(
    protocol: str | Implementation[Any], membership: Membership, bound: socket.socket, tracer: Tracer
) -> Group:
    """Make the member of a protocol, or of an implementation. Raises SpecError as `maker` does."""
    made = maker(protocol) if isinstance(protocol, str) else _running(protocol)
    return made(membership, bound, tracer)


def run_as(protocol: str) -> Implementation[Any]:
    """Return the implementation that processes run of a protocol in the catalogue."""
    return _hasty(protocol)


def group_of(
    membership: Membership, bound: socket.socket, tracer: Tracer, protocol: Implementation[Any]
) -> Group:
    """Return the member of a group that runs this implementation."""
    return Group(
        membership.group,
        me=membership.process,
        members=membership.processes,
        bind=bound,
        routes=membership.routes,
        key=membership.key,
        protocol=protocol,
        tracer=tracer,
    )


def _running(protocol: Implementation[Any]) -> Member:
    def made(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
        return group_of(membership, bound, tracer, protocol)

    return made


def _hasty(name: str) -> Implementation[Any]:
    """Return the implementation of this name with short waiting times; for the name of a single layer, that
    of the whole stack.
    """
    if not _is_stack(name) and name not in registry.known_protocols():
        from antiphon.conformance.compare.bindings.registry import bound_protocol  # here: seldom needed

        run = bound_protocol(name).implementation
        assert run is not None, f"{name} is of the catalogue, and every binding there says what groups run"
        name = run(None).messages.protocol
    try:
        usual = registry.implementation(name).settings
    except ValueError as refused:
        raise SpecError(str(refused)) from refused
    times = {} if usual is None else msgspec.structs.asdict(usual)
    short = {key: HASTE * value for key, value in times.items() if key.endswith("_ms")}
    return registry.implementation(name, **short)


def _is_stack(name: str) -> bool:
    """Return True if the name is a stack: names of layers, the top one first, with colons between them."""
    return ":" in name and all(layer.isalpha() and layer.isupper() for layer in name.split(":"))


def _makes_members(value: object) -> bool:
    """Return True for a function whose first parameter is a `Membership`."""
    if not inspect.isfunction(value):
        return False
    first = next(iter(inspect.signature(value).parameters.values()), None)
    return first is not None and first.annotation in (Membership, Membership.__name__)


_MEMBER = Kind("member", _makes_members, "a function of a Membership, a bound socket and a tracer")
