"""The protocols that a cluster can run, each by the member that an application would use.

The catalogue names the members; any other stands at "file.py:Name" or "module:Name". This module is where
the harness meets the implementation's interface; it must not know datagrams, relays or logs.
"""

from __future__ import annotations

import inspect
import re
import socket
from collections.abc import Callable
from typing import Any

import msgspec

from antiphon.impl.group import Group
from antiphon.impl.protocols.chang_maxemchuk import chang_maxemchuk
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.protocols.horus import IllFormedStack, horus
from antiphon.impl.protocols.pinwheel import pinwheel
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.protocols.rbp_resilient import rbp_resilient
from antiphon.impl.protocols.sequencer import sequencer
from antiphon.impl.protocols.total import total
from antiphon.impl.protocols.totem import totem
from antiphon.impl.tracing import Tracer
from antiphon.spec.catalogue import ENTRIES, entry_named, resolve
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names
from antiphon.spec.places import Kind, is_place, stands_at


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """Who a process is in its group, its key, where the others are, and how long its timers wait."""

    group: str
    process: int
    processes: int
    routes: dict[int, tuple[str, int]]
    key: bytes | None
    resend_ms: float
    token_ms: float
    request_ms: float


Member = Callable[[Membership, socket.socket, Tracer], Group]
"""Makes the member of a group that listens on a bound socket and tells a tracer what it does."""


def rbp_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs figure 16."""
    protocol = rbp(
        resend_ms=membership.resend_ms, token_ms=membership.token_ms, request_ms=membership.request_ms
    )
    return _member(membership, bound, tracer, protocol)


def rbp_resilient_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs figure 25, and delivers what all members have."""
    protocol = rbp_resilient(
        resend_ms=membership.resend_ms,
        token_ms=membership.token_ms,
        request_ms=membership.request_ms,
        silence_ms=0.8 * membership.token_ms,
    )
    return _member(membership, bound, tracer, protocol)


def dtp_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs DTP."""
    protocol = dtp(
        resend_ms=membership.resend_ms, pass_ms=membership.token_ms, request_ms=membership.request_ms
    )
    return _member(membership, bound, tracer, protocol)


def sequencer_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs SEQUENCER; the layers below it make the queues that it needs."""
    return _member(membership, bound, tracer, sequencer())


def chang_maxemchuk_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs CM; the layers below it make the queues that it needs."""
    return _member(membership, bound, tracer, chang_maxemchuk())


def pinwheel_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs Pinwheel; the layers below it make the queues that it needs."""
    return _member(membership, bound, tracer, pinwheel())


def total_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs JavaGroups' TOTAL."""
    protocol = total(
        request_ms=membership.resend_ms, suffix_ms=membership.resend_ms, resend_ms=membership.request_ms
    )
    return _member(membership, bound, tracer, protocol)


def totem_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of Totem's ring; the layers below it make the queues that it needs."""
    return _member(membership, bound, tracer, totem())


def horus_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs the stack of Horus' paper."""
    return _member(membership, bound, tracer, _stacked(membership))


def _stacked(membership: Membership, *stack: str) -> Implementation[Any]:
    """A stack of layers with the times of a cluster."""
    return horus(*stack, tell_ms=membership.token_ms, ask_ms=membership.request_ms)


def _stack_maker(stack: str) -> Member:
    """What makes members of a stack of layers. Raises SpecError: it is none, or orders nothing."""
    try:
        horus(stack)
    except IllFormedStack as refused:
        raise SpecError(str(refused)) from refused

    def made(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
        return _member(membership, bound, tracer, _stacked(membership, stack))

    return made


def _member(
    membership: Membership, bound: socket.socket, tracer: Tracer, protocol: Implementation[Any]
) -> Group:
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


_STACK = re.compile(r"[A-Z]+(:[A-Z]+)+")
"""Names of layers, top first."""


def known_protocols() -> tuple[str, ...]:
    """The names of the catalogue that a cluster understands, sorted."""
    return tuple(sorted(entry.name for entry in ENTRIES if entry.member_at))


def maker(protocol: str) -> Member:
    """What makes the members of a protocol, or of a stack such as TOTAL:MBRSHIP:FRAG:NAK:COM.

    Raises:
        SpecError: neither does the catalogue name one, nor does one stand there; the known ones are listed.
    """
    if _STACK.fullmatch(protocol):
        return _stack_maker(protocol)
    if is_place(protocol):
        placed: Member = stands_at(protocol, _MEMBER)
        return placed
    entry = entry_named(protocol)
    if entry is None or not entry.member_at:
        raise SpecError(f"unknown protocol {protocol!r}; {known_names(protocol, known_protocols())}")
    found: Member = resolve(entry.member_at)
    return found


def member(protocol: str, membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """Make the member. Raises SpecError as `maker` does."""
    return maker(protocol)(membership, bound, tracer)


def _makes_members(value: object) -> bool:
    """A function whose first parameter is a `Membership`."""
    if not inspect.isfunction(value):
        return False
    first = next(iter(inspect.signature(value).parameters.values()), None)
    return first is not None and first.annotation in (Membership, Membership.__name__)


_MEMBER = Kind("member", _makes_members, "a function of a Membership, a bound socket and a tracer")
