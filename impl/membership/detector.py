"""A failure detector by silence, with a short and a long timeout, that allows for its own lateness.

1. A member to which nothing was sent for `heartbeat_ms` gets a heartbeat. Every authentic datagram is a sign
  of life.
2. A member that is silent for `suspect_ms` is suspected: the quick detector, whose mistakes cost little. One
   that is silent for `exclude_ms` is given up: the slow detector, whose mistakes cost a member.
3. The next sign of life takes either back.
4. The time for which this process itself was late (stopped, suspended, a blocked event loop) is nobody's
   silence. For a while after it, both timeouts are longer, by as many times as it was late, at most
   `LATE_MAX`: the others may be as busy as this one.
   So is the time since which datagrams wait unread in the own socket, up to `suspect_ms`: the signs of life
   may be among them. Whoever floods the socket delays a suspicion no longer than that.
5. A member whose process has started another run has ended: it is given up, unless it was heard just now.
6. A hint that a process has ended (nobody listens at its port) makes its silence begin earlier: two
   heartbeats without an answer are enough. A hint alone suspects nobody, since it can be forged.
7. A heartbeat says whether its sender hears its receiver. With a member that sends and hears nothing no
  message can be ordered: while it says so, nothing that it sends is a sign of life, and its silence begins
  with the first such heartbeat. Who is not heard gets its heartbeats whatever else is sent to it, and one as
  soon as it is heard again.

No clock and no socket: `now`, in milliseconds, comes in. Source: Barchet-Estefanel 2002, sections 4.1 and
4.4.3 to 4.4.5 (the two kinds of timeouts); A. Dadgar, J. Phillips, J. Currey, "Lifeguard: local health
awareness for more accurate failure detection", 2018 (the process that is late itself).
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from antiphon.impl.errors import InvalidSetting

__all__ = ["LAN", "LATE_MAX", "LOCAL", "WAN", "Detector", "Reason", "Suspicion", "Timeouts"]

LATE_MAX = 8
"""Largest factor by which a late process waits longer than its timeouts say."""

_HEALS = 0.5
"""Factor by which the lateness shrinks with each heartbeat interval in which this process is in time."""

_DEAF = 3
"""Number of heartbeat intervals after which a heartbeat of a member that does not hear this one is forgotten:
some may be lost, and fewer than `suspect_ms` has, so that a lost one that says the contrary suspects nobody.
"""

_UNANSWERED = 2
"""Number of missed heartbeats after which a hint, or another run at its address, counts against a member."""


class Timeouts(Struct, frozen=True, kw_only=True):
    """Timeouts of a group, in milliseconds.

    Raises:
        InvalidSetting: they are not in this order: 0 < 2 heartbeats <= suspect <= exclude.
    """

    heartbeat_ms: Annotated[float, Meta(gt=0)]
    """Silence after which a member gets a heartbeat from this one."""
    suspect_ms: float
    """Silence after which a member orders no messages until it is heard again."""
    exclude_ms: float
    """Silence after which a member is excluded."""

    def __post_init__(self) -> None:
        """Check that the timeouts tolerate the loss of a heartbeat."""
        if not 0 < 2 * self.heartbeat_ms <= self.suspect_ms <= self.exclude_ms:
            told = f"heartbeat_ms {self.heartbeat_ms}, suspect_ms {self.suspect_ms}"
            told += f", exclude_ms {self.exclude_ms}"
            raise InvalidSetting(f"{told}: 0 < 2 heartbeat_ms <= suspect_ms <= exclude_ms")


LOCAL = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=3_000)
"""Timeouts for members on one machine, or on machines of one rack that are not busy."""

LAN = Timeouts(heartbeat_ms=100, suspect_ms=500, exclude_ms=3_000)
"""Timeouts for members in one data centre."""

WAN = Timeouts(heartbeat_ms=1_000, suspect_ms=5_000, exclude_ms=20_000)
"""Timeouts for members on several continents."""


class Reason(StrEnum):
    """Evidence for a change of a suspicion."""

    SILENT = "silent"
    """Silence: nothing has come from the member."""
    DEAF = "does not hear this member"
    """The member was heard, and said that it does not hear this one."""
    NOBODY = "nobody listens at its port"
    """Silence, with a hint that nobody listens at the member's port."""
    REPLACED = "another run at its address"
    """Silence of a member whose process has started another run."""
    HEARD = "heard again"
    """The member was heard, and hears this one."""


class Suspicion(NamedTuple):
    """Change of a suspicion: the member is suspected, given up, or trusted again."""

    of: bytes
    """The incarnation of the member."""
    kind: str
    """`suspected`, `given up` or `trusted`."""
    silent_ms: float
    """Milliseconds for which the member has been silent."""
    reason: Reason


class Detector:
    """Failure detector of one member: how long each other member, named by its incarnation, has been
    silent.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self.lateness = 1.0
        """Factor by which the timeouts are longer now."""
        self._heard_at: dict[bytes, float] = {}
        self._sent_at: dict[bytes, float] = {}
        self._hinted: dict[bytes, float] = {}
        self._deaf: dict[bytes, tuple[float, float]] = {}
        """Members that do not hear this one: since when, and until when that counts."""
        self._unheard: set[bytes] = set()
        """Members of which nothing has come for `suspect_ms`."""
        self._owed: dict[bytes, float] = {}
        """Members that are to know at once that they are heard again, and since when."""
        self._replaced: set[bytes] = set()
        self._suspected: set[bytes] = set()
        self._given_up: set[bytes] = set()
        self._looked_at: float | None = None
        self._unread_since: float | None = None
        """Time up to which all that had come was read, while datagrams wait unread; None while none waits."""
        self._due: float | None = None
        """Next deadline, or an earlier time: a datagram sent or heard meanwhile only postpones it."""
        self._news: list[Suspicion] = []

    @property
    def changed(self) -> bool:
        """Return True if `news` has changes that were not returned yet."""
        return bool(self._news)

    def watch(self, members: Iterable[bytes], now: float) -> None:
        """Watch these members and no others; a new one counts as heard now."""
        members = dict.fromkeys(members)  # in their order, which no hash decides
        if not self._heard_at:  # nobody was watched, and so nobody looked
            self._looked_at = now
        self._heard_at = {member: self._heard_at.get(member, now) for member in members}
        self._sent_at = {member: self._sent_at.get(member, now) for member in members}
        self._hinted = {member: at for member, at in self._hinted.items() if member in members}
        self._deaf = {member: times for member, times in self._deaf.items() if member in members}
        self._owed = {member: at for member, at in self._owed.items() if member in members}
        self._unheard &= members.keys()
        self._replaced &= members.keys()
        self._suspected &= members.keys()
        self._given_up &= members.keys()
        self._look(now)
        self._hasten()

    @property
    def suspected(self) -> frozenset[bytes]:
        """Return the members that the quick detector suspects; those that are given up are among them."""
        return frozenset(self._suspected)

    @property
    def given_up(self) -> frozenset[bytes]:
        """Return the members that the slow detector suspects."""
        return frozenset(self._given_up)

    def heard(self, member: bytes, now: float) -> None:
        """Record that a datagram of a member has come: a sign of life, unless the member is deaf."""
        if member in self._heard_at:
            self._heard_at[member] = now
            self._hinted.pop(member, None)
            if member in self._unheard:
                self._unheard.discard(member)
                self._owed[member] = now
                self._hasten()
            if member in self._suspected:
                self._look(now)

    def heartbeat(self, member: bytes, now: float, *, hears: bool) -> None:
        """Record a heartbeat of a member, which says whether the member hears this one."""
        if hears:
            self._deaf.pop(member, None)
        elif member in self._heard_at:
            since, until = self._deaf.get(member, (now, now))
            begins = now if now > until else since
            self._deaf[member] = (begins, now + _DEAF * self.timeouts.heartbeat_ms)
        self.heard(member, now)

    def hears(self, member: bytes) -> bool:
        """Return False if nothing of this member has come for `suspect_ms`."""
        return member not in self._unheard

    def sent(self, member: bytes, now: float) -> None:
        """Record that a datagram was sent to a member, so that it needs no heartbeat for a while, if it is
        heard.
        """
        if member in self._sent_at and member not in self._unheard:
            self._sent_at[member] = now

    def replaced(self, member: bytes, now: float) -> bool:
        """Give up a member whose process has started another run. Return False, and do nothing, if the member
        was heard just now and so lives.
        """
        if member not in self._heard_at or member in self._replaced:
            return True
        silent = now - self._heard_at[member]
        if silent < _UNANSWERED * self.timeouts.heartbeat_ms:
            return False
        self._replaced.add(member)
        self._suspected.add(member)
        self._given_up.add(member)
        self._news.append(Suspicion(member, "given up", silent, Reason.REPLACED))
        return True

    def read_up_to(self, at: float | None) -> None:
        """Record that datagrams wait unread, and that all that had come up to this time was read; None: none
        waits.
        """
        waited, self._unread_since = self._unread_since, at
        if waited is not None and at is None:
            self._hasten()

    def hint(self, member: bytes, now: float) -> None:
        """Record a hint that no process listens at this member's address."""
        if member in self._heard_at:
            self._hinted.setdefault(member, now)
            self._hasten()

    def tick(self, now: float) -> list[bytes]:
        """Check the silences, and return the members that get a heartbeat now."""
        self._allow_for_lateness(now)
        self._look(now)
        due = [
            member
            for member, at in self._sent_at.items()
            if now >= at + self.timeouts.heartbeat_ms or member in self._owed
        ]
        self._owed.clear()
        self._sent_at.update(dict.fromkeys(due, now))
        self._due = self._next()
        return due

    def next_deadline(self) -> float | None:
        """Return the time at which `tick` may have something to do; None while nobody is watched."""
        return self._due

    def _hasten(self) -> None:
        """Schedule the next check early enough: a hint or a new list may make it due before the next
        heartbeat.
        """
        due = self._next()
        self._due = due if self._due is None or due is None else min(self._due, due)

    def _next(self) -> float | None:
        """Return the time at which the next heartbeat is due, or the next silence too long, by the present
        state.
        """
        if not self._heard_at:
            return None
        unread = 0.0 if self._unread_since is None else self.timeouts.suspect_ms
        limits = (
            (self._deaf[member][0] if member in self._deaf else at) + self._limit(member) + unread
            for member, at in self._heard_at.items()
            if member not in self._given_up
        )
        beat = min(self._sent_at.values()) + self.timeouts.heartbeat_ms
        return min([beat, *limits, *self._owed.values()])

    def news(self) -> list[Suspicion]:
        """Return, once, the changes of suspicion."""
        news, self._news = self._news, []
        return news

    def _limit(self, member: bytes) -> float:
        """Return the length of silence after which this member is next suspected or given up."""
        if member in self._suspected:
            return self.timeouts.exclude_ms * self.lateness
        if member in self._hinted:
            return min(_UNANSWERED * self.timeouts.heartbeat_ms, self.timeouts.suspect_ms) * self.lateness
        return self.timeouts.suspect_ms * self.lateness

    def _allow_for_lateness(self, now: float) -> None:
        """Lengthen the timeouts if this process itself was late (rule 4)."""
        before, self._looked_at = self._looked_at, now
        if before is None:
            return
        beat = self.timeouts.heartbeat_ms
        late = now - before - beat
        if late > beat:
            self._heard_at = {member: min(now, at + late) for member, at in self._heard_at.items()}
            self._deaf.clear()
            self.lateness = min(LATE_MAX, 1 + late / beat)
        else:
            self.lateness = 1 + (self.lateness - 1) * _HEALS ** ((now - before) / beat)

    def _look(self, now: float) -> None:
        """Suspect, give up or trust members by the lengths of their silences (rules 2 to 4)."""
        unread = self._unread_since
        read_at = now if unread is None else max(unread, now - self.timeouts.suspect_ms)
        for member, came in self._heard_at.items():
            if read_at >= came + self.timeouts.suspect_ms * self.lateness:
                self._unheard.add(member)
            deaf = self._deaf.get(member)
            if deaf is not None and now > deaf[1]:
                del self._deaf[member]
                deaf = None
            at = came if deaf is None else deaf[0]
            silent, hinted = now - at, member in self._hinted
            while member not in self._given_up and read_at >= at + self._limit(member):
                known = member in self._suspected
                (self._given_up if known else self._suspected).add(member)
                kind = "given up" if known else "suspected"
                reason = Reason.DEAF if deaf else Reason.NOBODY if hinted else Reason.SILENT
                self._news.append(Suspicion(member, kind, silent, reason))
            back = member in self._suspected and member not in self._replaced
            if back and not hinted and now < at + self.timeouts.suspect_ms:
                self._suspected.discard(member)
                self._given_up.discard(member)
                self._news.append(Suspicion(member, "trusted", silent, Reason.HEARD))
