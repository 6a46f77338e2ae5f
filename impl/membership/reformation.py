"""Reformation, figures 22 to 24: the members of a view make one token list after the other, in three phases.

One `Reformation` belongs to one view, whose members have the numbers 0 to n-1 in its order. Its lists have
versions, and order messages (`antiphon.impl.protocols.token_lists`); the application does not see them. A
view ends with a list that says so (`Ends`): who is in the next view stands behind the last message that such
a list begins with. When all of the list have agreed to it, that is the end of the view at every member, after
the same messages.

| figures 22 to 24, section 3.2.3           | here                                                          |
|-------------------------------------------|---------------------------------------------------------------|
| Reformation Invitation, TL version number | `Invitation`, `highest`                                       |
| Vote "Yes", "No" of phase I               | `Vote`, with what the voter has; `Refusal`                    |
| New TL, New Token Site                    | `NewList`: the ring, the new token site first                 |
| Recover all missing messages              | `Ask` the site, `Recovery`                                    |
| Vote "Yes" of phase II                    | `Agreed`                                                      |
| a New Token                               | `Token`                                                       |
| Abort                                     | `Abort`                                                       |
| TIMEOUT_i, TIMEOUT_j, TIMEOUT_k           | `_deadline`; a suspicion of who is waited for is one too      |
| Wait and Restart                          | `Stage.WAITING` until `_restart_at`, a random time            |
| the list that a site belongs to           | `_belongs`                                                    |
| Majority, Sequence and Resiliency Test    | `announce`, `_invited`, `_best`                              |

Repairs: `modify_at_every_restart` and `own_versions` (`_next_version`); `most_recent_list` (`_best`);
`drop_the_rest` and `originator_recovers` (`_commit`); `count_in_the_list` (the core's). A site remembers its
votes (`highest`; the reading `leaving=remembers`), and committed is what has a number
(`committed=sequenced`).

What is decided here, because the figures do not say it:
1. A majority is one of the members of the view: the lists of one view are those of the figures' one group.
2. An originator waits for all that it does not suspect. A "No" ends its reformation. Of those that have voted
   it leaves out those that another voter suspects, if a majority is left: the token would not come through.
3. A member that waits begins again after a partly random time, which doubles each time; at first, the first
   member of the list that is not suspected begins at once.
4. A list ends the view if somebody joins or leaves, or all whose votes are missing are given up by a voter.
   It numbers no message. The end is part of what a list has: a later list that begins with it has the same
   end.
5. A voter that cannot recover any more is not on the list, but agrees to it, and then stops being a member:
   it counts for the majority of this list, and of no later one.
6. A member that has come to the end of the view tells the members of the list (`Begun`) and the others
   (`Over`); those that go on get the messages that they lack.
7. A list of which no number comes for long is given up, as on line 70 of figure 25.

Lists are not seen by all: one that was announced may be committed by some, and another one by the others.
What is numbered in a list is delivered when all of it have it, so that all deliver the same.

No clock, no socket and no chance: `now`, in milliseconds, comes in, and so do random numbers. Source:
Barchet-Estefanel 2002, section 3.2.3, figures 22 to 24; docs/reformation.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Excluded, Left, Member, those_that_fit
from antiphon.impl.membership.succession import LACKS, Next, Out, Roster
from antiphon.impl.membership.view_change import Decision, Kind
from antiphon.impl.protocols.core import Natural, Process, Send
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.token_lists import Count, Entry

__all__ = [
    "Abort", "Agreed", "Ask", "Begun", "Chance", "Ends", "Invitation", "Lists", "Message", "NewList", "Over",
    "Recovery", "Reformation", "Refusal", "Snapshot", "Stage", "Token", "Vote", "flaw",
]  # fmt: skip

Chance = Callable[[], float]
"""Function that returns a random number from 0 to 1 at each call."""

_DOUBLES_MAX = 4
"""Largest number of times that the waiting time doubles."""


class Ends(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """End of a view: the members that go on, those that join, and those that left."""

    core: tuple[Process, ...]
    joins: tuple[Member, ...]
    leaves: tuple[Process, ...]


class Invitation(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="invitation"):
    """Figure 23, phase I: Reformation Invitation of an originator to all members."""

    version: Natural


class Vote(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="yes"):
    """Figure 24, phase I: vote "Yes", with the knowledge of the voter that the originator needs."""

    version: Natural
    committed: Natural
    """The version of the list that the voter has committed last."""
    reaches: Count
    """The number up to which the voter has all messages."""
    settled: Count
    """The number up to which the voter has delivered all messages."""
    keeps_from: Natural
    """The lowest number from which on the voter can give all messages."""
    ends: Ends | None
    """The end of the view, if the voter knows it."""
    joining: tuple[Member, ...]
    leaving: bool
    suspected: tuple[Process, ...]
    given_up: tuple[Process, ...]


class Refusal(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="no"):
    """Figure 24, phases I and II: vote "No". The sender accepts only invitations with a version above
    `highest`.
    """

    version: Natural
    highest: Natural


class NewList(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="list"):
    """Figure 23, phase II: the New TL (token list) of the originator, with the new token site first."""

    version: Natural
    ring: tuple[Process, ...]
    """The members of the list; the first is the new token site."""
    lost: tuple[Process, ...]
    """Members that have voted, and cannot recover what they lack."""
    ends: Ends | None


class Ask(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="ask"):
    """Figure 24, phase II: request of a slave to the new token site for the messages after this number."""

    version: Natural
    settled: Count


class Recovery(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="recovery"):
    """Reply of the new token site to `Ask`: all messages that it has. A number up to `reaches` without an
    entry is NULL's.
    """

    version: Natural
    reaches: Count
    entries: tuple[Entry, ...]


class Agreed(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="agreed"):
    """Figure 24, phase II: vote "Yes" on the new list."""

    version: Natural


class Token(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="token"):
    """Figure 23, phase III: the New Token for the new token site."""

    version: Natural


class Abort(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="abort"):
    """Figure 23, phases II and III: Reformation Abort. It is also sent to a member that is not on the list
    that was made.
    """

    version: Natural
    listed: bool = False
    """True if a list was made without the receiver, which will be invited to the next one."""


class Begun(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="begun"):
    """Notice that all members of a list that ends the view have agreed to it."""

    version: Natural


class Over(Struct, frozen=True, array_like=True, forbid_unknown_fields=True, tag="over"):
    """Notice to a member that was not on the last list of the view: the view has ended."""

    ends: Ends
    keeps_from: Natural
    """The first number from which on `entries` has all messages; an excluded member gets no entries."""
    reaches: Count
    entries: tuple[Entry, ...]


Message = Invitation | Vote | Refusal | NewList | Ask | Recovery | Agreed | Token | Abort | Begun | Over


def flaw(message: Message, members: int) -> str | None:
    """Return the reason why no correct member of a view with this many members sends this message, or
    None.
    """
    match message:
        case Vote(ends=ends, joining=joining, suspected=suspected, given_up=given_up):
            if not all(member.reachable for member in joining):
                return "a process whose host is no number"
            told = _not_members(suspected, members) or _not_members(given_up, members)
            return told or _ends_flaw(ends, members)
        case NewList(ring=ring, lost=lost, ends=ends):
            if not ring or (len(ring) < 2 and ends is None):
                return f"a list of {len(ring)}"
            return _not_members((*ring, *lost), members) or _ends_flaw(ends, members)
        case Recovery(entries=entries, reaches=reaches):
            return _entries_flaw(entries, reaches, members)
        case Over(ends=ends, entries=entries, reaches=reaches):
            return _ends_flaw(ends, members) or _entries_flaw(entries, reaches, members)
    return None


def _not_members(some: Sequence[int], members: int) -> str | None:
    if len(set(some)) < len(some) or any(process >= members for process in some):
        return f"{some} are not different members of a view of {members}"
    return None


def _ends_flaw(ends: Ends | None, members: int) -> str | None:
    if ends is None:
        return None
    if not all(member.reachable for member in ends.joins):
        return "a process whose host is no number"
    return _not_members((*ends.core, *ends.leaves), members)


def _entries_flaw(entries: Sequence[Entry], reaches: int, members: int) -> str | None:
    numbers = [entry.number for entry in entries]
    if numbers != sorted(set(numbers)) or (numbers and numbers[-1] > reaches):
        return "numbers that do not grow"
    return (
        None if all(entry.identifier.source < members for entry in entries) else "a source that is no member"
    )


class Lists(Protocol):
    """Interface of a view's core for Reformation; `TokenLists` implements it."""

    @property
    def version(self) -> int:
        """Return the version of the list that was committed last."""
        ...

    @property
    def ring(self) -> tuple[int, ...]:
        """Return the members of the list that was committed last, in the order of its ring."""
        ...

    @property
    def begun(self) -> bool:
        """Return True if a number assigned in the list that was committed last is known."""
        ...

    @property
    def settled(self) -> int:
        """Return the last number up to which all messages are delivered."""
        ...

    @property
    def reaches(self) -> int:
        """Return the last number up to which this member has all messages; call it only when stopped."""
        ...

    @property
    def keeps_from(self) -> int:
        """Return the first number from which on this member still stores all messages."""
        ...

    def stop(self) -> None:
        """Stop the core's work for the present list."""
        ...

    def give(self, after: int) -> tuple[Entry, ...]:
        """Return the messages after this number."""
        ...

    def take(self, reaches: int, entries: Sequence[Entry]) -> bool:
        """Replace the messages after `settled` by these entries. Return False if they do not reach as far as
        `reaches`.
        """
        ...

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        """Commit a list that this member is on."""
        ...

    def accept(self, now: float) -> None:
        """Take the token of the committed list."""
        ...


class Stage(IntEnum):
    """Stage of a member in figures 23 and 24."""

    NORMAL, WAITING, INVITING, ANNOUNCING, INVITED, AUTHORISING = range(6)


class Snapshot(NamedTuple):
    """Whole state of a member, immutable; times are relative to the latest `now`."""

    highest: int
    stage: Stage
    belongs: tuple[int, int]
    """The version of the reformation list that the member belongs to, and the list's originator."""
    ends: Ends | None
    votes: tuple[tuple[int, Vote], ...]
    agreements: frozenset[int]
    new: NewList | None
    recovery: Recovery | None
    asked: tuple[tuple[int, Ask], ...]
    begins_after: int
    wishes: tuple[bool, tuple[Member, ...], frozenset[Kind]]
    doubts: tuple[frozenset[int], frozenset[int]]
    over: tuple[bool, bool, Next | Out | None]
    times: tuple[float | None, ...]
    waits: tuple[int, int, bool, bool, bool, float]
    spent: tuple[float, float]


_TAKEN = "the others took this member for crashed"
"""Reason that is given to a member which is not in the next view."""

_NOTHING = Report(0, (), (), ())


class Reformation:
    """Member `me` of a view, from the first list of the view to its end. `now` is in milliseconds."""

    messages: Any = Message
    external = True
    """True, since a member that is only suspected is left out of a list for a while and stays in the view."""

    def __init__(
        self,
        roster: Roster,
        me: int,
        lists: Lists | None,
        deliver: Callable[[Report], bool],
        *,
        timeouts: Timeouts,
        chance: Chance,
        now: float = 0.0,
    ) -> None:
        """Begin with list 1, which has all members; without `lists` this member is the only one.

        `deliver` delivers all that `lists` has, at the end of the view.
        """
        self.roster = roster
        self.me = me
        self.members = len(roster.members)
        self.highest = 1
        """The highest version that this member has committed, proposed, voted for or heard of."""
        self.stage = Stage.NORMAL
        self.leaving = False
        self.stopped = False
        """True if the view has ended at this member."""
        self.lost = False
        self.lists = 0
        """Number of lists that were committed after the first, but for one that ends the view."""
        self.ends: Ends | None = None
        """The end of the view, once it is part of what this member has."""
        self._lists = lists
        self._deliver = deliver
        self._timeouts = timeouts
        self._chance = chance
        self._now = now
        self._suspected: frozenset[int] = frozenset()
        self._given_up: frozenset[int] = frozenset()
        self._joining: list[Member] = []
        self._calls: set[Kind] = set()
        self._belongs = 0
        """The version of the reformation list that this member belongs to; 0: to none."""
        self._originator = me
        """The member that makes the list to which this member belongs."""
        self._votes: dict[int, Vote] = {}
        self._agreements: set[int] = set()
        self._new: NewList | None = None
        self._recovery: Recovery | None = None
        self._asked: dict[int, Ask] = {}
        """Requests of other members, kept until this one has heard that it is the new token site."""
        self._begins_after = 0
        """The number after which the list that was committed last begins."""
        self._deadline: float | None = None
        self._restart_at: float | None = None
        self._tries = 0
        """Number of reformations that were given up since the last list that has begun."""
        self._began_at = float("-inf")
        """Time at which this member committed its list."""
        self._inactive = False
        """True if no number of the list that was committed last has come for long."""
        self._urgent = False
        """True if a list is called for because the present one cannot go on, or has to end the view."""
        self._again_ms = timeouts.heartbeat_ms
        """Milliseconds that a list lasts at least, though a member that is heard here is not on it.
        """
        self._moved = False
        self._follows: Next | Out | None = None
        self._called_at: float | None = None
        self._complete_at: float | None = None
        self._spent = (0.0, 0.0)
        self._outputs: list[Send[Message]] = []

    # The owner's side ---------------------------------------------------------------------------------------

    @property
    def called(self) -> bool:
        """Return True if a list is being made, is called for or has not begun, or the view has ended."""
        begun = self._lists is None or self._lists.begun
        return self.stage is not Stage.NORMAL or self._restart_at is not None or not begun or self.stopped

    @property
    def returns(self) -> bool:
        """Return True if a member of the view that is not on the present list is heard again."""
        return any(process not in self.ordering for process in self._heard)

    @property
    def ordering(self) -> Sequence[int]:
        """Return the members of the present list."""
        return range(self.members) if self._lists is None else self._lists.ring

    def spent(self, now: float) -> tuple[float, float]:
        """Return how many milliseconds the reformations spent until all votes had come, and until a list was
        committed or the view over.
        """
        if self._called_at is None:
            return self._spent
        complete_at = now if self._complete_at is None else self._complete_at
        return self._spent[0] + complete_at - self._called_at, self._spent[1] + now - complete_at

    def suspect(self, suspected: frozenset[int], given_up: frozenset[int]) -> None:
        """Stop waiting for the members that are `suspected`; leave those that are `given_up` out of the next
        view.
        """
        self._suspected, self._given_up = suspected, given_up

    def call(self, kind: Kind) -> None:
        """Ask for another list. It ends the view if `kind` is a regular view and the view can end."""
        self._calls.add(kind)

    def leave(self) -> None:
        """Ask for a view without this member; repeat that with each list until such a view comes."""
        self.leaving = True
        self.call(Kind.REGULAR)

    def admit(self, joining: Member) -> None:
        """Ask for a view that this process is added to."""
        if joining not in self._joining:
            self._joining.append(joining)
        self.call(Kind.REGULAR)

    def flaw(self, message: Message) -> str | None:
        """Return the reason why no correct member sends this message, or None."""
        return flaw(message, self.members)

    def outputs(self) -> list[Send[Message]]:
        """Return, once, the messages to send on reliable links, in order."""
        outputs, self._outputs = self._outputs, []
        return outputs

    def next_deadline(self) -> float | None:
        """Return the time at which `go_on` has something to do without any input, or None."""
        if self.stopped or self._lists is None:
            return None
        begun = self.stage is Stage.NORMAL and self._lists.begun
        deadlines = [None if begun else self._deadline]
        if self.stage is Stage.NORMAL or (self.stage is Stage.WAITING and self._reaches_majority):
            deadlines.append(self._restart_at)
        return min([at for at in deadlines if at is not None], default=None)

    def moved(self) -> bool:
        """Return True, once, if a list was committed or has begun since the last call, so that the core has
        something to do.
        """
        moved, self._moved = self._moved, False
        return moved

    def go_on(self, now: float) -> Next | Out | None:
        """Take the possible steps. Return what follows the view once that is known, else None."""
        self._now = now
        if self._lists is None:
            self._go_on_alone()
        while not self.stopped and self._lists is not None and self._step():
            pass
        return self._follows

    def _go_on_alone(self) -> None:
        """End the view and admit the applicants, if this member is the only one on the list."""
        if self._joining and not self.stopped:
            self.ends = self._end_with({self.me: self._own_vote(self.highest)}, (self.me,), ())
            self._finish(tells=False)

    # Time, and suspicions -----------------------------------------------------------------------------------

    def _step(self) -> bool:
        """Take one step that an expired waiting time, a suspicion or an answer makes possible. Return False
        if there is none.
        """
        expired = self._deadline is not None and self._now >= self._deadline
        match self.stage:
            case Stage.INVITING:
                if expired or all(process in self._votes for process in self._heard):
                    self.announce()
                    return True
            case Stage.ANNOUNCING:
                return self._gather(expired=expired)
            case Stage.INVITED | Stage.AUTHORISING:
                site = self.me if self._new is None else self._new.ring[0]
                if expired or not {self._originator, site} <= self._heard:
                    self.give_up()
                    return True
            case Stage.WAITING:
                return self._invite_when_due()
            case Stage.NORMAL:
                return self._look(expired=expired)
        return False

    @property
    def _heard(self) -> frozenset[int]:
        """Return the members that this one does not suspect, with itself."""
        return frozenset(range(self.members)) - self._suspected

    @property
    def _reaches_majority(self) -> bool:
        return 2 * len(self._heard) > self.members

    def _look(self, *, expired: bool) -> bool:
        """Check whether another list is needed, and invite or schedule the invitation. Return True if this
        member did something.
        """
        assert self._lists is not None, "there are others"
        if self._lists.begun:
            self._tries, self._deadline, self._inactive = 0, None, False
        elif expired:
            self._deadline, self._inactive = None, True
        if not self._reaches_majority or not self._has_reason:
            self._restart_at = None
            return False
        urgent = self._inactive or self._is_regular or not frozenset(self.ordering) <= self._heard
        if self._restart_at is None or (urgent and not self._urgent):
            wait = self._timeouts.heartbeat_ms if urgent else self._again_ms
            self._urgent = urgent
            self._restart_at = max(self._now + self._patience(), self._began_at + wait)
        return self._invite_when_due()

    @property
    def _has_reason(self) -> bool:
        """Return True if another list is needed: with other members, to end the view, or because no number
        has come for long.
        """
        assert self._lists is not None, "there are others"
        on_list = frozenset(self.ordering)
        if self._inactive or (self._calls and not on_list <= self._heard):
            return True
        return bool(self._calls) and self._lists.begun and (on_list != self._heard or self._is_regular)

    @property
    def _is_regular(self) -> bool:
        """Return True if the end of the view is called for, and the view can end."""
        return Kind.REGULAR in self._calls and self._suspected <= self._given_up

    def _patience(self) -> float:
        """Return how many milliseconds this member waits before it invites: 0 for the first member of the
        list that is not suspected, and for a member that leaves and suspects nobody.
        """
        first = min((process for process in self.ordering if process in self._heard), default=self.me)
        if self.me == first or (self.leaving and not self._suspected):
            return 0.0
        return self._wait_ms * (1.0 + self._chance())

    @property
    def _wait_ms(self) -> float:
        return self._timeouts.heartbeat_ms / 2

    def _invite_when_due(self) -> bool:
        if self._restart_at is None or self._now < self._restart_at or not self._reaches_majority:
            return False
        self.invite()
        return True

    # Figure 23: the originator ------------------------------------------------------------------------------

    def invite(self) -> None:
        """Phase I: broadcast an invitation to all members of the view."""
        version = self.highest = self._next_version()
        self._stop(version, self.me, Stage.INVITING, self._timeouts.suspect_ms)
        self._votes = {self.me: self._own_vote(version)}
        self._to_others(Invitation(version))

    def _next_version(self) -> int:
        """Return the next higher version number that belongs to this member: member 0 has 2, n + 2, 2n + 2
        and so on.
        """
        return self.highest + 1 + (self.me - self.highest + 1) % self.members

    def _own_vote(self, version: int) -> Vote:
        lists = self._lists
        committed, reaches, settled, keeps_from = (
            (1, 0, 0, 1) if lists is None else (lists.version, lists.reaches, lists.settled, lists.keeps_from)
        )
        return Vote(
            version, committed, reaches, settled, keeps_from, self.ends, tuple(self._joining), self.leaving,
            tuple(sorted(self._suspected)), tuple(sorted(self._given_up)),
        )  # fmt: skip

    def announce(self) -> None:
        """Phase II: announce a list of all that have voted "Yes", if it passes the tests."""
        votes = {**self._votes, self.me: self._own_vote(self._belongs)}
        votes = self._votes = self._that_hear_one_another(votes)
        site = self._best(votes)
        lost = tuple(one for one in sorted(votes) if votes[one].settled + 1 < votes[site].keeps_from)
        ring = tuple(one for one in _from(site, self.members) if one in votes and one not in lost)
        ends = votes[site].ends or self._end_with(votes, ring, lost)
        if 2 * len(votes) <= self.members or (len(ring) < 2 and ends is None):
            self.give_up()
            return
        new = self._new = NewList(self._belongs, ring, lost, ends)
        self.stage, self._deadline = Stage.ANNOUNCING, self._now + self._timeouts.exclude_ms
        self._complete_at = self._now
        self._agreements = {self.me}
        for process in range(self.members):
            on_list = process in ring or process in lost
            self._to(process, new if on_list else Abort(self._belongs, listed=True))
        self._recover()

    def _that_hear_one_another(self, votes: dict[int, Vote]) -> dict[int, Vote]:
        """Return the votes without those of members that other voters suspect, if enough votes are left.

        The token has to pass through all members of the ring. Suspicions of a voter that suspects fewer
        members count first.
        """
        heard: dict[int, Vote] = {}
        for process in sorted(votes, key=lambda one: (one != self.me, len(votes[one].suspected), one)):
            mutual = process not in {one for vote in heard.values() for one in vote.suspected}
            if mutual and not set(votes[process].suspected) & set(heard):
                heard[process] = votes[process]
        return heard if 2 * len(heard) > self.members else votes

    def _best(self, votes: dict[int, Vote]) -> int:
        """Return the new token site: among the voters of the most recent list the one with the highest
        number; of several, the one that stores the most messages.
        """

        def knowledge(process: int) -> tuple[int, int, int, int]:
            vote = votes[process]
            return vote.committed, vote.reaches, -vote.keeps_from, -process

        return max(votes, key=knowledge)

    def _end_with(self, votes: dict[int, Vote], ring: Sequence[int], lost: Sequence[int]) -> Ends | None:
        """Return the end of the view that the new list is to bring; None if the list does not end the
        view.
        """
        absent = {process for process in range(self.members) if process not in votes}
        given_up = {process for vote in votes.values() for process in vote.given_up}
        leaves = tuple(process for process in sorted(ring) if votes[process].leaving)
        joining = sorted({joining for vote in votes.values() for joining in vote.joining})
        if not absent <= given_up or not (absent or leaves or joining or lost):
            return None
        core = tuple(process for process in sorted(ring) if process not in leaves)
        joins = those_that_fit([self.roster.members[process] for process in core], joining)
        return Ends(core, joins if core else (), leaves)

    def _gather(self, *, expired: bool) -> bool:
        """Phase III: pass the new token when all sites have agreed; give up if one refuses or time runs out.
        Return True if this member did something.
        """
        new, lists = self._new, self._lists
        assert new is not None, "a list was announced"
        assert lists is not None, "there are others"
        everybody = {*new.ring, *new.lost}
        has_all = self._recovery is not None or self.me == new.ring[0] or self.me in new.lost
        if everybody <= self._agreements and has_all:
            self._to(new.ring[0], Token(new.version))
            if self.me in new.lost:
                self._be_lost()
                return True
            self._commit(new)
            if self.me == new.ring[0]:
                self._accept()
            return True
        if expired or not everybody - self._agreements <= self._heard or new.ring[0] not in self._heard:
            self.give_up()
            return True
        return False

    def give_up(self) -> None:
        """`Announce "Reformation Abort"` as an originator, vote "No" as a slave, and wait."""
        if self._originator == self.me:
            self._to_others(Abort(self._belongs))
        else:
            self._to(self._originator, Refusal(self._belongs, self.highest))
        self._withdraw()

    # Figure 24: the slave, and the new token site -----------------------------------------------------------

    def receive(self, sender: int, message: Message, now: float) -> None:
        """Handle a message of another member, which has no flaw."""
        self._now = now
        if self.stopped or self._lists is None:
            return
        mine = self._belongs == getattr(message, "version", 0)
        match message:
            case Vote() | Agreed() | Refusal():
                self._answered(sender, message, mine=mine)
            case Ask(version=version):
                if not mine and version != self._lists.version:
                    self._to(sender, Refusal(version, self.highest))
                else:
                    self._asked[sender] = message
                    self._answer()
            case Begun(version=version):
                if self.ends is not None and version <= self._lists.version:
                    self._finish(tells=True)
            case Over():
                self._over(message)
            case _:
                self._told(sender, message, mine=mine)

    def _answered(self, sender: int, message: Vote | Agreed | Refusal, *, mine: bool) -> None:
        """Handle the answer of a slave or of the new token site to this originator."""
        match message:
            case Vote(version=version):
                if mine and self.stage is Stage.INVITING:
                    self._votes[sender] = message
                elif not mine or sender not in self._everybody:
                    self._to(sender, Abort(version, listed=mine))
            case Agreed():
                if mine and self.stage is Stage.ANNOUNCING:
                    self._agreements.add(sender)
            case Refusal(highest=highest):
                self.highest = max(self.highest, highest)
                if mine:
                    self._refused(sender)

    def _told(
        self, sender: int, message: Invitation | NewList | Recovery | Token | Abort, *, mine: bool
    ) -> None:
        """Handle a message of an originator to its slaves, or of the new token site."""
        originated = mine and self._originator == sender != self.me
        match message:
            case Invitation(version=version):
                self._invited(sender, version)
            case NewList(version=version):
                if originated and self.stage is Stage.INVITED and self._new is None:
                    self._announced(message)
                else:
                    self._to(sender, Refusal(version, self.highest))
            case Recovery():
                self._recovered(sender, message)
            case Token():
                if originated and self.stage is Stage.AUTHORISING:
                    self._accept()
            case Abort(listed=listed):
                if originated:
                    self._withdraw(at_least_ms=self._timeouts.suspect_ms if listed else 0.0)

    @property
    def _everybody(self) -> frozenset[int]:
        """Return the members that were asked to agree to the list that this member belongs to."""
        return frozenset() if self._new is None else frozenset((*self._new.ring, *self._new.lost))

    def _invited(self, originator: int, version: int) -> None:
        """Phase I: vote on an invitation: "Yes" if this member belongs to no list and the version is higher
        than all that it knows, else "No".
        """
        if self._belongs or version <= self.highest:
            self._to(originator, Refusal(version, self.highest))
            return
        self.highest = version
        self._stop(version, originator, Stage.INVITED, 2 * self._timeouts.suspect_ms)
        self._to(originator, self._own_vote(version))

    def _announced(self, new: NewList) -> None:
        """Phase II: take the announced list; recover the missing messages, then agree."""
        self._new, self._deadline = new, self._now + self._timeouts.exclude_ms
        if self.me in new.lost:
            self._to(self._originator, Agreed(new.version))
            self._be_lost()
            return
        if self.me not in new.ring:
            self._withdraw()
            return
        self._recover()
        if self.me == new.ring[0]:
            self._agree()

    def _recover(self) -> None:
        """Request the missing messages from the new token site. If this member is the site, answer the
        waiting requests.
        """
        assert self._new is not None, "a list was announced"
        assert self._lists is not None, "there are others"
        if self.me == self._new.ring[0]:
            self._answer()
        elif self.me in self._new.ring:
            self._to(self._new.ring[0], Ask(self._new.version, self._lists.settled))

    def _answer(self) -> None:
        """Send requesting members the messages that they lack, if this member is the new token site of a list
        that it belongs to or has committed.
        """
        lists, new = self._lists, self._new
        assert lists is not None, "there are others"
        for sender, (version, settled) in [
            (one, (ask.version, ask.settled)) for one, ask in self._asked.items()
        ]:
            committed = lists.version == version
            if committed or (new is not None and new.version == version == self._belongs):
                reaches = self._begins_after if committed else lists.reaches
                entries = tuple(entry for entry in lists.give(settled) if entry.number <= reaches)
                self._to(sender, Recovery(version, reaches, entries))
                del self._asked[sender]

    def _refused(self, sender: int) -> None:
        """Handle a failure of the list: a slave has refused or left, or the new token site no longer belongs
        to it.
        """
        if self._originator == self.me or (self._new is not None and sender == self._new.ring[0]):
            self.give_up()

    def _recovered(self, sender: int, message: Recovery) -> None:
        """Handle the reply of the new token site: a slave agrees; an originator waits for the others."""
        new = self._new
        if new is None or message.version != self._belongs or sender != new.ring[0]:
            return
        self._recovery = message
        if self.stage is Stage.INVITED:
            self._agree()

    def _agree(self) -> None:
        """Commit the list and vote: `Recover all missing messages and then Vote "Yes"; Commit the New TL`."""
        new, originator = self._new, self._originator
        assert new is not None, "a list was announced"
        self._commit(new)
        self._to(originator, Agreed(new.version))
        if self.me == new.ring[0]:
            self._belongs, self._originator, self._new = new.version, originator, new
            self.stage, self._deadline = Stage.AUTHORISING, self._now + self._timeouts.exclude_ms
            self._answer()

    def _commit(self, new: NewList) -> None:
        """Replace the messages by those of the new token site, and become a member of the list."""
        lists = self._lists
        assert lists is not None, "there are others"
        if self._recovery is not None:
            lists.take(self._recovery.reaches, self._recovery.entries)
        self.ends = new.ends
        self._begins_after = lists.reaches
        lists.commit(new.version, new.ring, self._now, works=new.ends is None)
        self._leave_stage(Stage.NORMAL)
        self._calls = {Kind.REGULAR} if self.leaving else set()
        self._joining.clear()
        self._restart_at, self._inactive, self._moved = None, False, True
        self._deadline = self._now + self._timeouts.exclude_ms
        self._began_at = self._now
        beat, most = self._timeouts.heartbeat_ms, self._timeouts.exclude_ms
        self._again_ms = beat if self._heard <= frozenset(new.ring) else min(2 * self._again_ms, most)
        self.lists += new.ends is None
        self._spent = self.spent(self._now)
        self._called_at = self._complete_at = None

    def _accept(self) -> None:
        """Phase III: `Accept the token and Starts Acknowledging Messages`; or end the view, if the list
        does.
        """
        assert self._lists is not None, "there are others"
        if self.stage is Stage.AUTHORISING:
            self._leave_stage(Stage.NORMAL)
            self._deadline = self._now + self._timeouts.exclude_ms
        if self.ends is not None:
            self._finish(tells=True)
        else:
            self._lists.accept(self._now)
            self._moved = True

    # Belonging, and waiting ---------------------------------------------------------------------------------

    def _stop(self, version: int, originator: int, stage: Stage, wait_ms: float) -> None:
        """Join a reformation list, and stop the work for the committed list."""
        assert self._lists is not None, "there are others"
        self._lists.stop()
        if self._called_at is None:
            self._called_at = self._now
        self._leave_stage(stage)
        self._belongs, self._originator = version, originator
        self._deadline, self._restart_at = self._now + wait_ms, None

    def _withdraw(self, at_least_ms: float = 0.0) -> None:
        """`Leave the list that previously joined`, `Wait and Restart`: set the time to invite again."""
        assert self._lists is not None, "there are others"
        self._lists.stop()
        self._leave_stage(Stage.WAITING)
        self._deadline = None
        wait_ms = self._wait_ms * 2 ** min(self._tries, _DOUBLES_MAX) * self._chance()
        self._restart_at = self._now + at_least_ms + wait_ms
        self._tries += 1

    def _leave_stage(self, stage: Stage) -> None:
        """Leave the reformation list, and enter this stage."""
        self.stage, self._belongs, self._originator = stage, 0, self.me
        self._votes, self._agreements, self._new, self._recovery = {}, set(), None, None

    # The end of the view ------------------------------------------------------------------------------------

    def _be_lost(self) -> None:
        self.lost = self.stopped = True
        self._follows = Out(Excluded(LACKS))

    def _finish(self, *, tells: bool) -> None:
        """End the view: deliver all messages, tell the other members if `tells`, and determine what follows
        the view.
        """
        ends = self.ends
        assert ends is not None, "it has an end"
        if self._lists is not None:
            self._lists.stop()
        if tells:
            self._tell(ends)
        self.stopped, self._deadline = True, None
        if not self._deliver(_NOTHING):
            self._be_lost()
        elif self.me in ends.leaves:
            self._follows = Out(Left())
        elif self.me in ends.core:
            decision = Decision(Kind.REGULAR, ends.core, ends.joins, ends.leaves, _NOTHING)
            self._follows = Next(decision, self.roster.next(decision))
        else:
            self._follows = Out(Excluded(_TAKEN))

    def _tell(self, ends: Ends) -> None:
        """Tell the other members that the view has ended, and give those that go on the messages that they
        lack (rule 6).
        """
        lists = self._lists
        assert lists is not None, "there are others"
        kept = lists.keeps_from
        over = None
        for process in range(self.members):
            if process in lists.ring:
                self._to(process, Begun(lists.version))
            elif process in ends.core or process in ends.leaves:
                over = over or Over(ends, kept, lists.reaches, lists.give(kept - 1))
                self._to(process, over)
            else:
                self._to(process, Over(ends, kept, lists.reaches, ()))

    def _over(self, message: Over) -> None:
        """Handle a notice that the other members have ended the view without this one."""
        lists = self._lists
        assert lists is not None, "there are others"
        lists.stop()
        self.ends = ends = message.ends
        if self.me not in ends.core and self.me not in ends.leaves:
            self.stopped, self._follows = True, Out(Excluded(_TAKEN))
        elif lists.settled + 1 < message.keeps_from or not lists.take(message.reaches, message.entries):
            self._be_lost()
        else:
            self._finish(tells=False)

    # Snapshots ----------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the whole state without that of the core (`lists`). Call it only after `outputs` were
        taken.
        """
        times = (self._deadline, self._restart_at, self._began_at, self._called_at, self._complete_at)
        return Snapshot(
            self.highest, self.stage, (self._belongs, self._originator), self.ends,
            tuple(sorted(self._votes.items())), frozenset(self._agreements), self._new, self._recovery,
            tuple(sorted(self._asked.items())), self._begins_after,
            (self.leaving, tuple(self._joining), frozenset(self._calls)),
            (self._suspected, self._given_up), (self.stopped, self.lost, self._follows),
            tuple(None if at is None else at - self._now for at in times),
            (self.lists, self._tries, self._inactive, self._urgent, self._moved, self._again_ms), self._spent,
        )  # fmt: skip

    def restore(self, snapshot: Snapshot, now: float) -> None:
        """Set the state to a snapshot, as if it had been taken at `now`; nothing is left to send."""
        self._now, self._outputs = now, []
        self.highest, self.stage, self.ends = snapshot.highest, snapshot.stage, snapshot.ends
        self._belongs, self._originator = snapshot.belongs
        self._votes, self._agreements = dict(snapshot.votes), set(snapshot.agreements)
        self._new, self._recovery = snapshot.new, snapshot.recovery
        self._asked, self._begins_after = dict(snapshot.asked), snapshot.begins_after
        self.leaving, self._joining = snapshot.wishes[0], list(snapshot.wishes[1])
        self._calls = set(snapshot.wishes[2])
        self._suspected, self._given_up = snapshot.doubts
        self.stopped, self.lost, self._follows = snapshot.over
        times = [None if left is None else now + left for left in snapshot.times]
        self._deadline, self._restart_at, began_at, self._called_at, self._complete_at = times
        assert began_at is not None, "a view has begun"
        self._began_at = began_at
        self.lists, self._tries, self._inactive, self._urgent, self._moved, self._again_ms = snapshot.waits
        self._spent = snapshot.spent

    # Helpers ------------------------------------------------------------------------------------------------

    def _to(self, process: int, message: Message) -> None:
        if process != self.me:
            self._outputs.append(Send(process, message))

    def _to_others(self, message: Message) -> None:
        for process in range(self.members):
            self._to(process, message)

    def __repr__(self) -> str:
        ring = ", ".join(map(str, self.ordering))
        return f"token list of {ring}; {self.stage.name.lower()}, version {self.highest}"


def _from(first: int, members: int) -> Iterable[int]:
    """Yield the numbers of all members in cyclic order, beginning with `first`."""
    return ((first + step) % members for step in range(members))
