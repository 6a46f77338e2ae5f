"""Resolution of hosts to numeric addresses of one family, once, before anything is sent; errors name the
host.

A host is a name or a literal of IP version 4 or 6 ("127.0.0.1", "::1", "fe80::1%eth0"). The own address and
the others' are of one family: the first that the own host has in which all others have an address too. This
module must not know a datagram.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from antiphon.impl.errors import InvalidMembership, UnusableAddress

__all__ = [
    "Address",
    "Addresses",
    "Multicast",
    "Peer",
    "Target",
    "multicast",
    "parsed",
    "peer",
    "resolved",
    "shown",
]

Address: TypeAlias = tuple[str, int]
"""Pair of host and port."""

Target: TypeAlias = tuple[str, int] | tuple[str, int, int, int]
"""Address in the form of the operating system: for IP version 6 also flow and scope."""

Peer: TypeAlias = tuple[str, int, int]
"""Triple of host, port and scope, by which a sender is known."""


class Addresses(NamedTuple):
    """Numeric addresses: where a member listens, and where it sends."""

    family: int
    own: Target | None
    """Own address; None when the socket is bound already."""
    routes: dict[int, Target]


def peer(target: tuple[Any, ...]) -> Peer:
    """Return host, port and scope (0 without one) of an address that the operating system returned."""
    return (target[0], target[1], target[3] if len(target) == 4 else 0)


def parsed(text: str) -> Address:
    """Return the address in a text: "host:port" or "[host]:port". Raises ValueError."""
    host, colon, port = text.rpartition(":")
    literal = host.startswith("[") and host.endswith("]")
    if not colon or not host or (":" in host and not literal) or not port.isdecimal() or int(port) > 65_535:
        raise ValueError(f"{text!r} is no address: write HOST:PORT, of IP version 6 [HOST]:PORT")
    return (host[1:-1] if literal else host, int(port))


def shown(address: tuple[Any, ...]) -> str:
    """Return an address in the form that people write."""
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


async def resolved(bind: Address | socket.socket, routes: Mapping[int, Address]) -> Addresses:
    """Resolve the host names to numeric addresses.

    Raises:
        UnusableAddress: a host has no address, or none of the family of the own one.
        InvalidMembership: two members are at one address.
    """
    if isinstance(bind, socket.socket):
        own: dict[int, Target | None] = {int(bind.family): None}
        at = shown(bind.getsockname())
    else:
        own = dict(await _numeric(bind, "the own address"))
        at = shown(bind)
    known = {
        process: await _numeric(route, f"the address of process {process}")
        for process, route in routes.items()
    }
    for family, local in own.items():
        if all(family in targets for targets in known.values()):
            found = {process: targets[family] for process, targets in known.items()}
            _distinct(found)
            return Addresses(family, local, found)
    family = next(iter(own))
    process = next(process for process, targets in known.items() if family not in targets)
    other = next(iter(known[process]))
    told = f"the address of process {process}, {shown(routes[process])}, is of IP version {_version(other)}"
    here = f"this member listens at {at}, which is of version {_version(family)}: all are of one version"
    raise UnusableAddress(errno.EAFNOSUPPORT, f"{told}, and {here}")


class Multicast(NamedTuple):
    """Multicast group that a socket has joined."""

    ears: socket.socket
    """Socket that receives all datagrams to the multicast group, own ones too."""
    target: Target


async def multicast(group: Address, sender: socket.socket) -> Multicast:
    """Join a multicast group, and let a bound socket send to it: on the network of the socket's own address.

    In IP version 6 the group's zone names the network ("ff12::7%eth0"). Datagrams do not leave that network.

    Raises:
        UnusableAddress: it is no multicast address of the socket's IP version, the own address or the zone
            does not say which network, or the operating system refuses.
    """
    target = (await _numeric(group, "the multicast address")).get(sender.family)
    host = target[0].partition("%")[0] if target is not None else ""
    if target is None or not ipaddress.ip_address(host).is_multicast:
        version = _version(sender.family)
        told = f"{shown(group)} is no multicast address of IP version {version}, of which the own address is"
        example = "ff12::7%eth0" if version == 6 else "239.255.0.7"
        raise UnusableAddress(errno.EADDRNOTAVAIL, f"{told}: one is {example}")
    network = _network(group, target, sender)
    ears = socket.socket(sender.family, socket.SOCK_DGRAM)
    try:
        ears.setblocking(False)
        ears.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ears.bind(target)
        level, joined, interface = _OPTIONS[sender.family]
        ears.setsockopt(level, joined, socket.inet_pton(sender.family, host) + network)
        sender.setsockopt(level, interface, network)
    except OSError as error:
        ears.close()
        raise UnusableAddress(error.errno, f"cannot join {shown(group)}: {error.strerror}") from error
    return Multicast(ears, target)


_OPTIONS: dict[int, tuple[int, int, int]] = {
    socket.AF_INET: (socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.IP_MULTICAST_IF),
    socket.AF_INET6: (socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, socket.IPV6_MULTICAST_IF),
}
"""Socket options by address family: their level, the one to join a group, the one to choose the network."""


def _network(group: Address, target: Target, sender: socket.socket) -> bytes:
    """Return the network interface for a multicast group, as a socket option encodes it. Raise
    `UnusableAddress` if the addresses do not determine it.
    """
    if sender.family == socket.AF_INET6:
        network = struct.pack("@I", target[3] if len(target) == 4 else 0)
        where = f"the zone of {shown(group)}"
    else:
        network = socket.inet_aton(sender.getsockname()[0])
        where = f"the own address, {shown(sender.getsockname())},"
    if network == bytes(4):
        raise UnusableAddress(errno.EADDRNOTAVAIL, f"{where} has to say on which network to multicast")
    return network


def _version(family: int) -> int:
    return 6 if family == socket.AF_INET6 else 4


def _distinct(routes: Mapping[int, Target]) -> None:
    """Raise InvalidMembership if two members have the same address."""
    at: dict[Peer, int] = {}
    for process, route in routes.items():
        other = at.setdefault(peer(route), process)
        if other != process:
            raise InvalidMembership(f"processes {other} and {process} are both at {shown(route)}")


async def _numeric(address: Address, whose: str) -> dict[int, Target]:
    """Return the first numeric address of a host in each IP version. Raise `UnusableAddress` if it has
    none.
    """
    host, port = address
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        told = f"{whose}, {shown(address)}, cannot be resolved: {reason}; is the host misspelt?"
        raise UnusableAddress(getattr(error, "errno", None), told) from error
    numeric: dict[int, Target] = {}
    for kind, _, _, _, target in found:
        if kind in (socket.AF_INET, socket.AF_INET6):
            numeric.setdefault(int(kind), target)  # type: ignore[arg-type]
    return numeric
