"""Choice of a protocol by its name, and of the number of members that must have a message when it is
delivered.

The package of `antiphon.impl.protocols` with that name makes it: `chang_maxemchuk` has one function
`chang_maxemchuk`, which takes the fields of its `Settings` and is known as `chang-maxemchuk`; with `kind=` it
makes cores of another class. A stack of layers is named by their names: `TOTAL:MBRSHIP:FRAG:NAK:COM` is
`horus` with that stack. A group whose members change has one of `LISTED`. Only the requested package is
loaded. This module must not know any other protocol than `LISTED` and the default.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Collection
from functools import cache
from importlib import import_module
from typing import Any

from antiphon.impl import protocols
from antiphon.impl.errors import UnknownDelivery, UnknownProtocol
from antiphon.impl.protocols.core import Implementation

__all__ = [
    "ALL",
    "DEFAULT",
    "LISTED",
    "ORDERED",
    "delivering",
    "holders_of",
    "implementation",
    "known_protocols",
    "listed",
]

ORDERED = "ordered"
"""Delivery of a message as soon as its place among all messages is known."""

ALL = "all"
"""Delivery of a message when all members have it."""

DEFAULT = "rbp-resilient"
"""Default protocol of a group: it forgets messages that all members have, and knows which member
has which.
"""


LISTED = {
    "irbp": ("rbp", "irbp"),
    "rbp-reforming": ("token_lists", "rbp_reforming"),
    "sequencer": ("sequencer", "sequencer_listed"),
    "total": ("total", "total_listed"),
    "horus": ("horus", "horus_listed"),
    "vsc": ("vsc", "vsc_listed"),
}
"""Protocols for a group whose members change: the module and the function of each."""


@cache
def known_protocols() -> tuple[str, ...]:
    """Return the names of the protocols, sorted; the folder is read once."""
    packages = (found.name for found in pkgutil.iter_modules(protocols.__path__) if found.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in packages))


def implementation(name: str, **settings: Any) -> Implementation[Any]:
    """Return the protocol of this name, with these settings.

    Raises:
        UnknownProtocol: no protocol has this name; those that there are are listed.
        TypeError, ValueError: it has no such setting, or the setting or the stack of layers is impossible.
    """
    if ":" in name:
        return implementation("horus", stack=name, **settings)
    known = known_protocols()
    if name not in known:
        raise _unknown(name, known)
    package = name.replace("-", "_")
    made: Implementation[Any] = getattr(import_module(f"antiphon.impl.protocols.{package}"), package)(
        **settings
    )
    return made


def _unknown(name: str, known: Collection[str]) -> UnknownProtocol:
    """Return the error about a name that none of the known protocols has."""
    swapped = [other for other in known if sorted(other) == sorted(name)]
    near = swapped or difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return UnknownProtocol(f"unknown protocol {name!r}; known: {', '.join(known)}{hint}")


def listed(name: str) -> Implementation[Any] | None:
    """Return the protocol of this name for a group whose members change, or None if it has no lists.

    Raises:
        UnknownProtocol: no protocol has this name.
    """
    if name not in LISTED:
        if ":" not in name and name not in known_protocols():
            raise _unknown(name, LISTED)
        implementation(name)
        return None
    module, function = LISTED[name]
    made: Implementation[Any] = getattr(import_module(f"antiphon.impl.protocols.{module}"), function)()
    return made


def holders_of(deliver: str | int, members: int) -> int:
    """Return the number of members that must have a message when it is delivered in this way. Raises
    `UnknownDelivery`.
    """
    holders = 1 if deliver == ORDERED else members if deliver == ALL else deliver
    if type(holders) is not int or not 1 <= holders <= members:
        told = f"{ORDERED!r}, {ALL!r}, or how many of the {members} members have the message"
        raise UnknownDelivery(f"deliver={deliver!r}: there is {told}")
    return holders


def delivering(
    protocol: Implementation[Any] | str | None, deliver: str | int | None, members: int
) -> Implementation[Any]:
    """Return the protocol with this way of delivery.

    A protocol that knows which member has which message waits itself; around any other the layers wait.
    Without `deliver` a protocol is as it was made. Without `protocol` it is `DEFAULT`, which then delivers a
    message as soon as it is ordered.

    Raises:
        UnknownDelivery: `deliver` is no known way.
        UnknownProtocol: no protocol has this name.
    """
    if protocol is None:
        protocol, deliver = DEFAULT, ORDERED if deliver is None else deliver
    made = implementation(protocol) if isinstance(protocol, str) else protocol
    if deliver is None:
        return made
    holders = holders_of(deliver, members)
    return made if made.resilient is None else made.resilient(holders)
