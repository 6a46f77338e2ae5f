"""Seeds: addresses of processes that may be members of a group, written as host names and resolved to
numbers.

A machine that is down may have no address yet, and still be a seed: its name is resolved again and again.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Sequence

from antiphon.impl.errors import UnusableAddress
from antiphon.impl.transport.addresses import Address, resolved, shown

__all__ = ["Seeds"]

_RESOLVES_S = 5.0
"""Seconds between two look-ups of a seed that could not be resolved."""

_logger = logging.getLogger("antiphon")


class Seeds:
    """The seeds of one group."""

    def __init__(self, group: str, given: Sequence[Address]) -> None:
        """Begin with no resolved address; `given` are the seeds' hosts and ports."""
        self.given = tuple(given)
        self.numeric: list[Address] = []
        """Resolved addresses of the seeds."""
        self.founder: Address | None = None
        """Resolved address of the first given seed: the process there founds the group."""
        self.unknown: list[Address] = []
        """Addresses that cannot be resolved yet."""
        self._group = group

    async def known(self) -> dict[int, Address]:
        """Return the seeds that have an address now, by their places.

        Raises:
            UnusableAddress: none has one.
        """
        known: dict[int, Address] = {}
        problem: UnusableAddress | None = None
        for place, seed in enumerate(self.given):
            try:
                await resolved(seed, {})
                known[place] = seed
            except UnusableAddress as error:
                problem = error
        if problem is not None and not known:
            raise problem
        self.unknown = [seed for place, seed in enumerate(self.given) if place not in known]
        for seed in self.unknown:
            _logger.warning("group %s: seed %s cannot be resolved yet", self._group, shown(seed))
        return known

    def resolve(self, numbers: dict[int, Address]) -> None:
        """Store the addresses of the seeds that could be resolved, given by the seeds' places."""
        self.numeric = [address for _, address in sorted(numbers.items())]
        self.founder = numbers.get(0)

    async def look_up(self, sock: socket.socket, add: Callable[[Address], None]) -> None:
        """Resolve again and again the seeds without an address, and call `add` with each result."""
        while self.unknown:
            await asyncio.sleep(_RESOLVES_S)
            for seed in list(self.unknown):
                with contextlib.suppress(UnusableAddress):
                    found = await resolved(sock, {0: seed})
                    self.unknown.remove(seed)
                    at = found.routes[0][:2]
                    if seed == self.given[0]:
                        self.founder = at
                        self.numeric.insert(0, at)
                    else:
                        self.numeric.append(at)
                    add(at)
