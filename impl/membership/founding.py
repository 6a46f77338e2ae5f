"""Founding of a group: whom a process asks to be a member, who asks it, and when it makes the first list.

1. A process asks the seeds, and the fellow members of an earlier run. It asks besides who sends to an earlier
   run of it, or says that the group exists: they may be members.
2. The founder makes the first list when enough processes ask, among them more than half of the seeds. All
   others wait, however long.
3. The founder listens first, for `LISTENS` heartbeats: the group may exist. A seed that neither asks nor
   answers is waited for a little longer, and so is who sends to an earlier run. Each process on the first
   list has asked after all of them had begun to ask: none of them has ended by then.
4. A group of which nothing was heard for `exclude_ms` is over, unless this process would found another one
   alone.
5. Of two founders the earlier run founds the group.

No clock, no socket: `now`, in milliseconds, comes in. This module must not know how a request is sent.
Source: docs/decisions/0054-who-founds.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Member, those_that_fit

__all__ = ["LISTENS", "SEEK_MS", "Address", "Founding"]

Address = tuple[str, int]
"""Pair of host and port."""

SEEK_MS = 100.0
"""Milliseconds between two questions of a process that wants to be a member."""

LISTENS = 2
"""Number of heartbeats for which a founder listens before it founds a group."""

_ASKS_MS = 10 * SEEK_MS
"""Milliseconds after its last question in which a process still counts as one that asks."""

_LEADS_MAX = 8
"""Largest number of processes that are asked beside the seeds and the fellows of an earlier run."""


class _Candidate(NamedTuple):
    """Process that asks to be a member."""

    member: Member
    address: Address
    """Address from which the request of the process came."""
    since: float
    """Time of its first request."""
    heard_at: float
    """Time of its last request."""
    founds: bool


class Founding:
    """Knowledge of a process that is no member: whom it asks, who asks it, and whether a group exists."""

    def __init__(
        self,
        me: Member,
        seeds: Iterable[Address],
        fellows: Iterable[Address],
        founds: int | None,
        *,
        bootstrap: bool,
        timeouts: Timeouts,
    ) -> None:
        """Begin to know nothing.

        With `founds` this process is the founder: it makes the first list when so many processes, itself too,
        want to be on it. With `bootstrap` it does not need more than half of the seeds for that.
        """
        self._me = me
        self.seeds = tuple(seeds)
        """Addresses of processes that may be members."""
        self.fellows = tuple(fellows)
        """Addresses of the other members of an earlier run's last view."""
        self.appointed = founds
        """Number of processes with which this one founds the group, if there is none; or None."""
        self._bootstrap = bootstrap
        self._timeouts = timeouts
        self._leads = [address for address in self.fellows if address not in self.seeds]
        """Addresses that are asked beside the seeds."""
        self._candidates: dict[Address, _Candidate] = {}
        """Processes that ask to be members, by their addresses: for each its last run."""
        self.exists_at: float | None = None
        """Time of the last notice that the group exists; None before any."""
        self._started_at = 0.0

    def start(self, now: float) -> None:
        """Begin to listen."""
        self._started_at = now

    def add_seed(self, seed: Address, now: float, *, first: bool, founds: int | None) -> None:
        """Ask also this address, as a seed, or as the first one. With `founds` this process is the founder,
        as one that begins now.
        """
        others = tuple(other for other in self.seeds if other != seed)
        self.seeds = (seed, *others) if first else (*others, seed)
        if founds is not None:
            self.appointed, self._started_at = founds, now

    def add_lead(self, address: Address) -> bool:
        """Ask also the process at this address. Return False if it is asked already, or too many are."""
        asked = address in self.seeds or address in self._leads or address == self._me.address
        if asked or len(self._leads) >= len(self.fellows) + _LEADS_MAX:
            return False
        self._leads.append(address)
        return True

    @property
    def asked(self) -> tuple[Address, ...]:
        """Return the addresses of the processes that are asked, the seeds first."""
        return (*self.seeds, *self._leads)

    @property
    def asking(self) -> int:
        """Return the number of other processes that ask to be members."""
        return len(self._candidates)

    def founds(self, now: float) -> int | None:
        """Return the number of processes with which this one founds the group; None if it founds none now."""
        exists = self.exists_at
        if exists is None or self.appointed is None:
            return self.appointed
        over = self.appointed > 1 and now >= exists + self._timeouts.exclude_ms
        return self.appointed if over else None

    def request(self, member: Member, address: Address, now: float, *, founds: bool) -> None:
        """Record that a process asks to be a member, from this address; with `founds` it is a founder too."""
        known = self._candidates.get(member.address)
        late = known is not None and now > known.heard_at + _ASKS_MS
        if known is None or late or known.member.incarnation <= member.incarnation:
            again = known is not None and not late and known.member.incarnation == member.incarnation
            since = known.since if again and known is not None else now
            self._candidates[member.address] = _Candidate(member, address, since, now, founds)

    def first_list(self, now: float) -> tuple[Member, ...]:
        """Return the members of the first list, this process first; none if it makes no list now."""
        founds = self.founds(now)
        if founds is None or now < self._started_at + LISTENS * self._timeouts.heartbeat_ms:
            return ()
        recent = [one for one in self._candidates.values() if now <= one.heard_at + _ASKS_MS]
        fit = those_that_fit([self._me], sorted(one.member for one in recent))
        asking = [one for one in recent if one.member in fit]
        heard = {one.member.address for one in asking} | {one.address for one in asking} | {self._me.address}
        silent = [seed for seed in self.seeds if seed not in heard]
        few = not self._bootstrap and 2 * len(silent) >= len(self.seeds) and bool(self.seeds)
        if len(asking) + 1 < founds or few:
            return ()
        if any(one.founds and one.member.incarnation < self._me.incarnation for one in asking):
            return ()
        if asking and min(one.heard_at for one in asking) <= max(one.since for one in asking):
            return ()
        if (silent or self._leads) and now < self._started_at + self._timeouts.suspect_ms:
            return ()
        return (self._me, *fit)

    def end(self) -> None:
        """Forget who asks and who may be a member, since this process is one."""
        self._candidates.clear()
        self._leads.clear()
