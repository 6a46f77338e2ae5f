"""Setting: one point of the figures, with a protocol, a group, its rate of messages, and a network.

Source: J. Kim and C. Kim 1997, section 5: ten thousand messages of 500 bytes on an Ethernet, no failures, no
time for processing, at every member a Poisson process of the same rate, and T = 100 ms. An open point of the
section is a field here, with the assumed default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from antiphon.impl.protocols.chang_maxemchuk import chang_maxemchuk
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.protocols.pinwheel import pinwheel
from antiphon.impl.protocols.totem import totem

__all__ = ["PROTOCOLS", "Setting", "implementation_of"]

_NEVER_MS = 1e9
"""Waiting time where nothing is lost and nothing has to be sent again: longer than any run."""

_AT_ONCE_MS = 1e-6
"""`it immediately passes the token`: the core of Totem wants a time above 0."""


class Setting(Struct, frozen=True, kw_only=True):
    """One point of the figures.

    Attributes:
        protocol: one of `PROTOCOLS`.
        interarrival_ms: 1/lambda, the mean time between two messages of one member.
        messages: the number of measured messages, the first ones of all members together.
        rate_mbps: the rate of the bus that all share, first come first served; None: no message waits or
            takes
            time.
        delay_ms: the time from the end of a transmission to its arrival at all others.
        control_bytes: the length of an ACK, a NULL and a token; the paper does not give it.
        silence_ms: T; for CM and Pinwheel a NULL is passed as in DTP, unless `nulls` is false.
        window: Pinwheel's m, the largest number of a member's messages without a number.
        activity: the members' activity, as weights; empty: all alike. The mean of all is 1/lambda.
        endless: True if members go on until every measured message is stable; else they fall silent.
    """

    protocol: str
    members: int
    interarrival_ms: float = 100.0
    messages: int = 10_000
    rate_mbps: float | None = 10.0
    delay_ms: float = 0.0
    message_bytes: int = 500
    control_bytes: int = 64
    silence_ms: float = 100.0
    nulls: bool = True
    window: int = 2
    activity: tuple[float, ...] = ()
    endless: bool = True

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            ValueError: the message names the field, its value and what is allowed.
        """
        if self.protocol not in PROTOCOLS:
            raise ValueError(f"protocol is {self.protocol!r}; known: {', '.join(PROTOCOLS)}")
        if self.members < 2:
            raise ValueError(f"members is {self.members}; a group has at least 2")
        if self.messages < 1 or self.interarrival_ms <= 0:
            raise ValueError(f"{self.messages} messages every {self.interarrival_ms} ms: both are above 0")
        if self.activity and (len(self.activity) != self.members or min(self.activity) < 0):
            raise ValueError(f"activity has {len(self.activity)} weights for {self.members} members")
        if not (self.endless or self.nulls):
            raise ValueError("without NULLs the last messages become stable only if members go on: endless")
        if self.load >= 1:
            raise ValueError(f"{self.load:.0%} of what the bus can carry or the token can order; below 100 %")

    @property
    def arrivals_a_ms(self) -> float:
        """Return the rate of all members together, in messages a millisecond."""
        return self.members / self.interarrival_ms

    @property
    def message_ms(self) -> float:
        """Return the milliseconds that a message occupies the bus."""
        return self.transmission_ms(self.message_bytes)

    @property
    def control_ms(self) -> float:
        """Return the milliseconds that a control message occupies the bus."""
        return self.transmission_ms(self.control_bytes)

    @property
    def fills(self) -> bool:
        """Return True if the process at the holder broadcasts after a silence, since the core
        passes no NULL.
        """
        return self.nulls and self.protocol in ("chang-maxemchuk", "pinwheel")

    @property
    def load(self) -> float:
        """Return the share of time in which the bus is occupied, without Totem's token; for CM and DTP at
        least the share in which the token is on its way.
        """
        acks = 0.0 if self.protocol == "totem" else self.control_ms
        passes = self.protocol in ("chang-maxemchuk", "dtp")
        token = self.control_ms + self.delay_ms if passes else 0.0
        return self.arrivals_a_ms * max(self.message_ms + acks, token)

    def transmission_ms(self, size: int) -> float:
        """Return the milliseconds that so many bytes occupy the bus."""
        return 0.0 if self.rate_mbps is None else size * 8 / (1000 * self.rate_mbps)


def _dtp(setting: Setting) -> Implementation[Any]:
    return dtp(
        resend_ms=_NEVER_MS,
        pass_ms=_NEVER_MS,
        request_ms=_NEVER_MS,
        silence_ms=setting.silence_ms if setting.nulls else _NEVER_MS,
    )


PROTOCOLS: dict[str, Callable[[Setting], Implementation[Any]]] = {
    "chang-maxemchuk": lambda _: chang_maxemchuk(),
    "pinwheel": lambda setting: pinwheel(window=setting.window),
    "dtp": _dtp,
    "totem": lambda _: totem(rest_ms=_AT_ONCE_MS),
}
"""Four protocols of the figures, by the names that bindings and clusters use."""


def implementation_of(setting: Setting) -> Implementation[Any]:
    """Return the implementation for a setting."""
    return PROTOCOLS[setting.protocol](setting)
