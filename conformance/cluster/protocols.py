"""The protocols that a cluster can run, each by the member that an application would use.

The catalogue names the members. This module is where the harness meets the implementation's interface;
it must not know datagrams, relays or logs.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import msgspec

from antiphon.impl.group import Group
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.tracing import Tracer
from antiphon.spec.catalogue import ENTRIES, entry_named, resolve


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """Who a process is in its group, where the others are reached, and how long its timers wait."""

    group: str
    process: int
    processes: int
    routes: dict[int, tuple[str, int]]
    resend_ms: float
    token_ms: float
    request_ms: float


Member = Callable[[Membership, socket.socket, Tracer], Group]
"""Makes the member of a group that listens on a bound socket and tells a tracer what it does."""


def rbp_member(membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """A member of a group that runs figure 16."""
    return Group(
        membership.group,
        me=membership.process,
        members=membership.processes,
        bind=bound,
        routes=membership.routes,
        protocol=rbp(
            resend_ms=membership.resend_ms, token_ms=membership.token_ms, request_ms=membership.request_ms
        ),
        tracer=tracer,
    )


def known_protocols() -> tuple[str, ...]:
    """The names that a cluster understands, sorted."""
    return tuple(sorted(entry.name for entry in ENTRIES if entry.member_at))


def member(protocol: str, membership: Membership, bound: socket.socket, tracer: Tracer) -> Group:
    """Make the member. Raises KeyError for a protocol that `known_protocols` does not name."""
    entry = entry_named(protocol)
    if entry is None or not entry.member_at:
        raise KeyError(protocol)
    make: Member = resolve(entry.member_at)
    return make(membership, bound, tracer)
