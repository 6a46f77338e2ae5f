"""Membership of one process in a group whose members change: it joins, sees views and messages in one order,
and leaves.

A `Membership` goes from list to list (`epoch`). It watches the other members (`detector`), ends the list when
one of them is silent, leaves or comes (`view_change`), and begins the next list as agreed.

1. Of the members that reach one another a majority of the last view goes on; a smaller part delivers nothing
   more. A member in no part with a majority reports `Blocked`.
2. A member that is silent for `suspect_ms` orders no messages until it is heard again, and stays a member:
   the list changes, the view does not. One that is silent for `exclude_ms` is excluded.
3. An excluded member learns this when it is heard again: it is `Excluded`, and comes back as another member.
   A member that has crashed never comes back as the same.
4. The first list of a group is made by one process, the founder, when enough processes ask to be members
   (`founding`). No other process makes a first list, however long it waits.
5. A process that joins asks the seeds, again and again, until a member answers with its list. It delivers
   everything from that list on. After an exclusion it asks its former fellow members too: the seeds may all
   have ended since.
6. A few datagrams of a later list are kept until that list begins; lost ones are sent again. Datagrams of an
   earlier list are handled as long as some member still needs that list; after that the answer says that
   nothing of it is needed here, so that the sender forgets it too.
7. An own message that was not delivered when a list ends is broadcast again in the next, with the same
   number.
8. A joining process gets its welcome when all old members that are heard know the new list. It counts for the
   new majority, but does not know what was decided on the old list: if all that know it crashed before they
   told it, the others would wait for ever.
9. Members speak the newest version of the protocol's messages that all on the list know. A process without a
   common version is refused.

No clock, no socket, no chance: `now`, in milliseconds, comes in, and datagrams go out as data, with the
member or the address that they are for. The shell that carries them names the incarnation of each sender, and
lets no forged datagram pass. Source: Barchet-Estefanel 2002, section 4.4; docs/irbp-repaired.md.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from msgspec import structs

from antiphon.impl.errors import UNREADABLE, GroupClosed, InvalidSetting, Rejection
from antiphon.impl.layers import Layers
from antiphon.impl.membership.datagrams import (
    DEAF,
    HEAD,
    DatagramKind,
    Join,
    No,
    Standing,
    Welcome,
    decode_join,
    decode_no,
    decode_welcome,
    encode,
)
from antiphon.impl.membership.detector import LAN, Detector, Suspicion, Timeouts
from antiphon.impl.membership.epoch import Epoch
from antiphon.impl.membership.founding import SEEK_MS, Address, Founding
from antiphon.impl.membership.member import (
    Blocked,
    Excluded,
    Left,
    Member,
    Refused,
    Unblocked,
    View,
    spoken,
)
from antiphon.impl.membership.reformation import Chance
from antiphon.impl.membership.succession import LACKS, Next, Roster
from antiphon.impl.membership.transfer import Transfers
from antiphon.impl.membership.view_change import Kind
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.tracing import NULL_TRACER, Tracer

__all__ = ["Event", "Membership", "Outgoing", "SuspicionChange"]

Event = View | Delivery[Member] | Blocked | Unblocked | Excluded | Left | Refused

_LAYERS = Layers()

_EARLY_MAX = 256
"""Largest number of datagrams for later lists that are kept."""

_REFUSED_MAX = 64
"""Largest number of refused processes that are remembered."""

_WITHDRAWS_MS = 3 * SEEK_MS
"""Milliseconds that a process which leaves before it is a member waits for the news that it is one."""

_CHANGES_MAX = 1_000
"""Largest number of changes of suspicion that are kept until somebody asks for them."""

_GONE_MAX = 1_000
"""Largest number of former members that are known as such."""

_LASTS_MAX = 64
"""Largest number of ended lists whose members are told that this process ends."""


class Outgoing(NamedTuple):
    """Datagram with its receiver: a member, or an address."""

    to: Member | Address
    data: bytes


class SuspicionChange(NamedTuple):
    """Change of this member's suspicion of another one."""

    member: Member
    suspicion: Suspicion


class _Kept(NamedTuple):
    """Record that a view still has a member which this process has given up."""

    until: float
    """Time in milliseconds before which this process asks for no view without that member."""
    wait_ms: float


class Membership:
    """One process that is, wants to be, or was a member. `now` is in milliseconds, and never decreases."""

    def __init__(
        self,
        implementation: Implementation[Any],
        group: str,
        me: Member,
        *,
        seeds: Iterable[Address] = (),
        fellows: Iterable[Address] = (),
        founds: int | None = None,
        bootstrap: bool = False,
        timeouts: Timeouts = LAN,
        layers: Layers = _LAYERS,
        tracer: Tracer = NULL_TRACER,
        chance: Chance | None = None,
    ) -> None:
        """Make the membership of process `me` in the group with this name.

        `seeds` are the addresses of processes that may be members, and `fellows` those of the other members
        of an earlier run of this process: who joins asks both. With `founds` this process is the founder: it
        makes the first list when so many processes, itself too, want to be on it. With `bootstrap` it does
        not need more than half of the seeds for that. `chance` gives random numbers from 0 to 1, to a
        protocol in which members wait for random times.

        Raises:
            InvalidSetting: the protocol has no lists, or needs chance; or `founds` is not positive.
        """
        if implementation.listed is None:
            told = f"{implementation.messages.protocol} runs with members that do not change"
            raise InvalidSetting(f"protocol: {told}")
        if implementation.reforms and chance is None:
            told = f"members of {implementation.messages.protocol} wait for random times"
            raise InvalidSetting(f"chance=None: {told}")
        if founds is not None and founds < 1:
            raise InvalidSetting(f"founds={founds}: a group begins with at least one member")
        self.me = structs.replace(me, speaks=implementation.versions)
        self.group = group
        self.timeouts = timeouts
        self.detector = Detector(timeouts)
        self.epoch: Epoch | None = None
        """List of which this process is a member, or None."""
        self.view: View | None = None
        """The last regular view."""
        self.alone = False
        """True if the list has no other member, so that a broadcast is delivered at once."""
        self.over = False
        """True if this process is no member, and never will be one again."""
        self.dropped: Counter[Rejection] = Counter()
        """Datagrams that were dropped, by the reason."""
        self._changes = 0
        """Number of lists that have ended here, those of the present epoch not counted."""
        self.suspicions: Counter[tuple[str, str]] = Counter()
        """Number of times that a member was suspected, given up, and trusted again, by kind and reason."""
        self._change_ms = (0.0, 0.0)
        self._blocked_ms = 0.0
        """Milliseconds without a majority, in all, up to the last time that one was reached again."""
        self.suspicion_changes: deque[SuspicionChange] = deque(maxlen=_CHANGES_MAX)
        """Members that this one has suspected, given up, or trusted again; a reader takes them out."""
        self._chance = chance or _no_chance
        self._implementation = implementation
        self._layers = layers
        self._tracer = tracer
        self._founding = Founding(
            self.me, seeds, fellows, founds, bootstrap=bootstrap, timeouts=timeouts
        )  # fmt: skip
        self._seeks_at: float | None = None
        self._withdraws_at: float | None = None
        self.refusal: str | None = None
        """Reason of the last refusal to admit this process."""
        self.refused: dict[Address, str] = {}
        """Reasons for which this process has refused to admit others, by their addresses."""
        self._ended: dict[int, tuple[Epoch, float]] = {}
        """Lists that have ended, with the time: a member may still need datagrams of their change."""
        self._early: deque[tuple[int, int, bytes, Address, bytes]] = deque(maxlen=_EARLY_MAX)
        """Datagrams of later lists: number, kind, sender, its address and the bytes."""
        self._welcome: bytes | None = None
        """Answer to processes that are on the list and do not know it yet; None in an i-view."""
        self._joined: tuple[Member, ...] = ()
        """Members that do not know yet that they are on the list."""
        self._lasts: deque[tuple[Roster, float]] = deque(maxlen=_LASTS_MAX)
        """Lists on which this process was a member, each with the time of its end."""
        self._began_at = float("-inf")
        self._patient_until = 0.0
        """Time before which no suspicion ends this list: later than its beginning if the last was short."""
        self._patience_ms = timeouts.heartbeat_ms
        """Milliseconds from the beginning of a list until `_patient_until`: they double with each list on
        which the others have kept somebody whom this member suspects among those that order messages.
        """
        self._returns_ms = timeouts.heartbeat_ms
        """Milliseconds after the beginning of a list before which this member, if it is external, does not
        ask to order messages again: they double with each list that ends early.
        """
        self._kept: dict[bytes, _Kept] = {}
        """Members that this one has given up and the others have not: they are in the views all the same."""
        self.began_after = 0
        """The place in the common order after which this process became a member."""
        self._reaches_since = 0.0
        """Time since which a majority is reached; soon after it, silent members are not yet excluded."""
        self._blocked = False
        self._blocked_since = 0.0
        self._leaving = False
        self._now = 0.0
        self._delivered = 0
        self._counts: Counter[bytes] = Counter()
        """Number of messages of each member that were delivered before this list."""
        self._untaken: dict[bytes, int] = {}
        """Bytes of ended lists that the application of each member had not taken, as all members know."""
        self._own = 0
        """Number of own messages of this list whose delivery was taken."""
        self._outstanding: deque[bytes] = deque()
        """Own messages whose delivery was not taken yet."""
        self.broadcasts = 0
        """Number of messages that this process has broadcast as a member."""
        self._gone: deque[bytes] = deque(maxlen=_GONE_MAX)
        """The incarnations of those that were members with this one, and are no more."""
        self._events: deque[Event] = deque()
        self._outgoing: list[Outgoing] = []
        self._told: dict[bytes, float] = {}
        self.transfers = Transfers()
        """Transfers of applications' states."""

    # The application's side ---------------------------------------------------------------------------------

    def start(self, now: float) -> None:
        """Ask to be admitted, or found the group: once, before every other call."""
        self._now = self._seeks_at = now
        self._founding.start(now)
        self._seek(now)
        self._found(now)

    def add_seed(self, seed: Address, *, first: bool = False, founds: int | None = None) -> None:
        """Ask also this address for membership, as a seed, or as the first one. With `founds` this process
        founds the group, as one that begins now.
        """
        self._founding.add_seed(seed, self._now, first=first, founds=founds)

    def addressed(self, address: Address) -> None:
        """Ask also the process at this address for membership, since it may be a member: it has sent to an
        earlier run at the own address, or says that the group exists.
        """
        if self._seeks_at is not None and self.epoch is None and self._founding.add_lead(address):
            self._ask([address])

    def leave(self, now: float) -> None:
        """Leave the group: ask the others for a view without this member.

        The earlier broadcasts of this member are delivered before; it broadcasts nothing more.

        A process that is no member yet may have been admitted already: it waits a little for that news.
        """
        self._now = now
        if self.over:
            return
        self._leaving = True
        if self.epoch is None and any(seed != self.me.address for seed in self._founding.seeds):
            self._seeks_at = None  # it asks no more, and waits to hear whether it was taken in already
            self._withdraws_at = now + _WITHDRAWS_MS
        elif self.epoch is None:
            self._end(Left())
        self._go_on(now)

    def farewell(self) -> None:
        """Send the former fellow members a notice that this process needs nothing more, since it ends now."""
        for member in dict.fromkeys(member for roster, _ in self._lasts for member in roster.members):
            if member != self.me:
                self._send(member, DatagramKind.ENDED, self._lasts[-1][0].number)

    @property
    def busy(self) -> bool:
        """Return True if `broadcast` would be refused: there is no list, the list is ending, the buffers are
        full, or this member leaves.
        """
        epoch = self.epoch
        return epoch is None or self._leaving or epoch.change.stopped or epoch.endpoint.busy

    def broadcast(self, payload: bytes, now: float) -> int:
        """Send a message to the group, and return its number among this member's messages, from 1.

        Raises:
            GroupClosed: this process is no member, or leaves.
            Busy: `busy` is True; nothing was done.
            PayloadTooLarge: more bytes than the layers allow.
        """
        self._now = now
        epoch = self.epoch
        if epoch is None:
            raise GroupClosed("no member of the group" if self.over else "no member of the group yet")
        if self._leaving:
            raise GroupClosed("this member leaves the group")
        epoch.endpoint.broadcast(payload, now)
        self._outstanding.append(payload)
        self.broadcasts += 1
        return self.broadcasts

    def events(self) -> list[Event]:
        """Return, once, the events so far, in order, for the application."""
        self._collect()
        events = list(self._events)
        self._events.clear()
        self._take()
        return events

    def deliveries(self) -> list[Delivery[Member]] | None:
        """Return, once, the events so far if all are deliveries, which is nearly always so; else None."""
        if self._events:
            return None
        deliveries = self._of_list()
        if deliveries:
            self._take()
        return deliveries

    def standing(self) -> Standing:
        """Return the state of this process."""
        epoch, view = self.epoch, self.view
        if epoch is None or view is None:
            return Standing(self.me, 0, (), 0, (), (), (), self.delivered, self.untaken)
        core = [epoch.roster.members[place] for place in epoch.change.ordering]
        return Standing(
            self.me, view.number, view.members, self.reached, tuple(member.incarnation for member in core),
            tuple(sorted(self.detector.suspected)), tuple(sorted(self.detector.given_up)), self.delivered,
            self.untaken,
        )  # fmt: skip

    @property
    def changes(self) -> int:
        """Return the number of lists that ended at this process."""
        return self._changes + (0 if self.epoch is None else self.epoch.change.lists)

    @property
    def change_ms(self) -> dict[str, float]:
        """Return the milliseconds that all changes of the list took: until all reports had come, and until
        agreement.
        """
        reports, agreement = self._change_ms
        if self.epoch is not None and self.epoch.change.lists:
            within = self.epoch.change.spent(self._now)
            reports, agreement = reports + within[0], agreement + within[1]
        return {"reports": reports, "agreement": agreement}

    @property
    def blocked_ms(self) -> float:
        """Return the milliseconds as a member without a majority, in all, up to the last step."""
        return self._blocked_ms + (self._now - self._blocked_since if self._blocked else 0.0)

    @property
    def founds(self) -> int | None:
        """Return the number of processes with which this one founds the group; None if it founds none now."""
        return self._founding.founds(self._now)

    @property
    def asking(self) -> int:
        """Return the number of other processes that ask to be members, as far as this process knows while it
        is no member itself.
        """
        return self._founding.asking

    @property
    def delivered(self) -> int:
        """Return the number in the common order of the last message that this member has delivered; before
        its first delivery, that of the last message before it joined.
        """
        return self._delivered + (0 if self.epoch is None else self.epoch.endpoint.held)

    @property
    def owes(self) -> bool:
        """Return True if some member may still need datagrams of this one for the change of a list. Who has
        left does not wait for a member that was suspected then, or was excluded before: it may have ended.
        """
        if not self.over:
            return bool(self._ended)
        last, ended_at = self._lasts[-1] if self._lasts else (Roster(0, (), 0), self._now)
        if self._now > ended_at + self.timeouts.suspect_ms:  # whoever was silent since would be suspected
            return False
        suspected = self.detector.suspected
        needs = {one.incarnation for one in last.members if one.incarnation not in suspected}
        return any(
            epoch.is_owed(place for place, one in enumerate(epoch.roster.members) if one.incarnation in needs)
            for epoch, _ in self._ended.values()
        )

    @property
    def untaken(self) -> int:
        """Return the number of events that the application has not taken."""
        return len(self._events) + (0 if self.epoch is None else len(self.epoch.endpoint.untaken))

    @property
    def members(self) -> tuple[Member, ...]:
        """Members on the list; none for a process that is no member."""
        return () if self.epoch is None else self.epoch.roster.members

    @property
    def fellows(self) -> tuple[Address, ...]:
        """Return the addresses of the other members of this run's last view, or of an earlier run's, if this
        run has never been a member.
        """
        if self.view is None:
            return self._founding.fellows
        return tuple(member.address for member in self.view.members if member != self.me)

    @property
    def reached(self) -> int:
        """Return the number of members on the list that this member reaches, with itself."""
        if self.epoch is None:
            return 0
        return len(self.epoch.roster.members) - len(self.detector.suspected)

    # What comes in ------------------------------------------------------------------------------------------

    def datagram_received(self, source: bytes, address: Address, data: bytes, now: float) -> None:
        """Handle the bytes of one datagram from the process with this incarnation, whatever they are."""
        self._now = now
        if len(data) < HEAD.size:
            self.dropped[Rejection.TRUNCATED] += 1
            return
        kind, number = HEAD.unpack_from(data)
        if kind == DatagramKind.BEAT:
            self.detector.heartbeat(source, now, hears=data[HEAD.size :] != DEAF)
        else:
            self.detector.heard(source, now)
        if self._ended and kind <= DatagramKind.BEAT:  # it is on that list, and has ended those before
            self._ended_elsewhere(source, number - 1)
        epoch = self.epoch
        if kind == DatagramKind.ENDPOINT and epoch is not None and number == epoch.roster.number:
            place = epoch.places.get(source)
            if place is not None:
                epoch.endpoint_received(place, memoryview(data)[HEAD.size :], now)
                if self.detector.changed or self._leaving:
                    self._go_on(now)
                return
        if kind <= DatagramKind.BEAT:
            self._list_received(kind, number, source, address, data, now)
        else:
            self._other_received(kind, number, source, address, data, now)
            if kind == DatagramKind.STATE and self.calm:  # a large state is many pieces
                return
        self._go_on(now)

    def _other_received(
        self, kind: int, number: int, source: bytes, address: Address, data: bytes, now: float
    ) -> None:
        """Handle a datagram that belongs to no list: a request to join, a state, and the like."""
        match kind:
            case DatagramKind.JOIN:
                self._join_received(source, address, data, now)
            case DatagramKind.WELCOME:
                self._welcome_received(data, now)
            case DatagramKind.SUPERSEDED:
                if data[HEAD.size :] == self.me.incarnation:
                    self._superseded(number)
                else:  # it is for an earlier run at this address
                    self.dropped[Rejection.FOREIGN_INCARNATION] += 1
            case DatagramKind.STATE:
                self._state_received(number, source, data, now)
            case DatagramKind.ENDED:
                self._ended_elsewhere(source, number)
            case DatagramKind.EXISTS:
                self._founding.exists_at, self.refusal = now, None
                self.addressed(address)
            case DatagramKind.STOPPED:
                self.transfers.stopped(source, number)
            case DatagramKind.NEEDS:
                self.transfers.needs(source, now)
            case DatagramKind.LOOK:
                self._send(address, DatagramKind.STANDING, 0, encode(self.standing()))
            case DatagramKind.NO:
                self._refused(data, now)
            case DatagramKind.STANDING:
                pass  # a late answer to somebody who looked from here
            case _:
                self.dropped[Rejection.MALFORMED] += 1

    def _list_received(
        self, kind: int, number: int, source: bytes, address: Address, data: bytes, now: float
    ) -> None:
        """Handle a datagram of a list with the epoch of that list; ignore it if this process was never on the
        list.
        """
        epoch = self._ended[number][0] if number in self._ended else self.epoch
        if epoch is None or number > epoch.roster.number:
            if self.over:
                if kind == DatagramKind.LINK:  # this process has forgotten the list: it needs nothing more
                    self._send(address, DatagramKind.ENDED, number)
            elif kind != DatagramKind.BEAT:
                self._early.append((number, kind, source, address, data))
            return
        place = epoch.roster.place(source) if number == epoch.roster.number else None
        if place is None:
            if kind == DatagramKind.LINK and number < epoch.roster.number:
                self._send(address, DatagramKind.ENDED, number)
            if self.epoch is not None and self.epoch.roster.place(source) is None:
                self._supersede(source, address, now)
            return
        if kind == DatagramKind.LINK:
            rejection = epoch.link_received(place, data[HEAD.size :], now)
            if rejection is not None:
                self.dropped[rejection] += 1
        elif kind == DatagramKind.ENDPOINT and epoch is self.epoch:
            epoch.endpoint_received(place, memoryview(data)[HEAD.size :], now)

    def _ended_elsewhere(self, source: bytes, number: int) -> None:
        """Record that a member needs no more datagrams of the lists up to this number. The last of them may
        not have ended here yet.
        """
        current = () if self.epoch is None else (self.epoch,)
        for epoch in (*(epoch for epoch, _ in self._ended.values()), *current):
            place = epoch.roster.place(source)
            if epoch.roster.number <= number and place is not None:
                epoch.release(place)

    def _join_received(self, source: bytes, address: Address, data: bytes, now: float) -> None:
        """Handle a request to join, from a process that wants to be a member, or does not know yet that it is
        one.
        """
        try:
            join = decode_join(data[HEAD.size :])
        except UNREADABLE:
            self.dropped[Rejection.MALFORMED] += 1
            return
        joining = join.member
        if not self._understands(join, address):
            self.dropped[Rejection.FOREIGN_VERSION] += 1
            return
        if joining.incarnation != source:
            self.dropped[Rejection.FALSE_SENDER] += 1
            return
        if not joining.reachable:
            self.dropped[Rejection.MALFORMED] += 1
            return
        if self.epoch is None:
            self._founding.request(joining, address, now, founds=join.founds)
            self._found(now)
        elif source in self._gone:
            self._supersede(source, address, now)
        elif self.epoch.roster.place(source) is None:
            self._send(address, DatagramKind.EXISTS, 0)
            self._admit(joining, address, now)
        elif self._welcome is not None:
            if not self._unknown():
                self._outgoing.append(Outgoing(joining, self._welcome))
        else:
            self._supersede(source, address, now)

    def _understands(self, join: Join, address: Address) -> bool:
        """Return True if the applicant has the group's protocol in a version that all members know, and the
        same largest message; otherwise send it a refusal.
        """
        protocol = self._implementation.messages.protocol
        members = (self.me,) if self.epoch is None else self.epoch.roster.members
        oldest, newest = join.member.speaks
        most = self._layers.message_bytes_max
        understood = join.protocol == protocol and spoken([*members, join.member]) is not None
        if understood and join.message_bytes_max in (0, most):
            return True
        if self.epoch is None and self._founding.appointed is None:
            return False
        if understood:
            its = f"its messages have at most {join.message_bytes_max} bytes"
            told = f"{its}; here they have {most}: give all the same Layers.message_bytes_max"
            self._refuse(address, told)
        else:
            needed, known = max(one.speaks[0] for one in members), min(one.speaks[1] for one in members)
            its = f"its protocol is {_user_name(join.protocol)!r}, version {_range(oldest, newest)}"
            here = f"here it is {_user_name(protocol)!r}, version {_range(needed, known)}"
            self._refuse(address, f"{its}; {here}", final=join.protocol != protocol or newest < needed)
        return False

    def _refuse(self, address: Address, why: str, *, final: bool = True) -> None:
        """Send a process the reason why it is not admitted. With `final`, it need not ask again."""
        self.refused[address] = why
        while len(self.refused) > _REFUSED_MAX:
            del self.refused[next(iter(self.refused))]
        self._send(address, DatagramKind.NO, 0, encode(No(why, final)))

    def _refused(self, data: bytes, now: float) -> None:
        """Handle a refusal: a member does not admit this process."""
        try:
            no = decode_no(data[HEAD.size :])
        except UNREADABLE:
            self.dropped[Rejection.MALFORMED] += 1
            return
        if self.epoch is None and not self.over:
            self.refusal, self._founding.exists_at = no.why, now
            if no.final:
                self._end(Refused(no.why))

    def _admit(self, joining: Member, address: Address, now: float) -> None:
        """Call for a view with this process, unless there is a reason to wait.

        A later run at a member's address ends that member, once the member is silent. While the member is
        heard, the later run is refused: it gives that address by mistake. A run that is not later is ignored.
        """
        assert self.epoch is not None, "there is a list"
        for member in self.epoch.roster.members:
            if member.address == joining.address:
                if joining.incarnation <= member.incarnation:
                    return
                if not self.detector.replaced(member.incarnation, now):
                    told = f"{member} listens at the address that it gives, and lives"
                    self._refuse(address, told, final=False)
                    return
        if self._may_change and self.detector.suspected <= self.detector.given_up:
            self.epoch.change.admit(joining)

    def _welcome_received(self, data: bytes, now: float) -> None:
        """Handle a welcome: become a member on the list that it contains.

        A list of the same number with other members, or in another order, is that of another founder. Nobody
        would be heard on both, so this process ends.
        """
        if self.over:
            return
        try:
            welcome = decode_welcome(data[HEAD.size :])
        except UNREADABLE:
            self.dropped[Rejection.MALFORMED] += 1
            return
        members = welcome.members
        if self.epoch is not None:
            here = self.epoch.roster
            if welcome.number == here.number and welcome.members != here.members:
                told = f"{members[0]} and {here.members[0]} have both founded the group"
                self._end(Refused(f"{told}: one process may, the first of the seeds of all"))
            return
        sound = all(member.reachable for member in members) and len(welcome.counts) == len(members)
        if self.me not in members or not sound or spoken(members) is None:
            self.dropped[Rejection.MALFORMED] += 1
            return
        self._delivered = self.began_after = welcome.delivered
        self._counts = Counter(
            {member.incarnation: count for member, count in zip(members, welcome.counts, strict=True)}
        )
        self._begin(Roster(welcome.number, members, len(members)), now)
        self._show(View(welcome.view, members, members, (), ()))

    def _superseded(self, number: int) -> None:
        """Handle a notice that the group goes on without this process."""
        if not self.over and (self.epoch is None or number > self.epoch.roster.number):
            left = self._leaving and not self._outstanding  # it has missed that they agreed to it
            self._end(Left() if left else Excluded("the others have gone on without this member"))

    def _state_received(self, transfer: int, source: bytes, data: bytes, now: float) -> None:
        """Handle a datagram of a state transfer, or its sender's request to stop one."""
        member = self._member(source)
        if member is None:
            self.dropped[Rejection.FOREIGN_SENDER] += 1
            return
        waited = self.transfers.waits
        known = self.transfers.received(source, transfer, data[HEAD.size :], now)
        if known is None:
            self._send(member, DatagramKind.STOPPED, -transfer)
        elif not known:
            self.dropped[Rejection.MALFORMED] += 1
        if waited and self.transfers.state is not None:  # nobody needs to keep one for this member any more
            for other in self.members:
                if other != self.me:
                    self._send(other, DatagramKind.STOPPED, 0)

    def hint(self, member: Member, now: float) -> None:
        """Note that the operating system reports no process at a member's port."""
        self.detector.hint(member.incarnation, now)

    # Time, and what goes out --------------------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Run the timers that are due."""
        self._now = now
        if self._seeks_at is not None and now >= self._seeks_at:
            self._seek(now)
        if self._withdraws_at is not None and now >= self._withdraws_at:
            self._withdraws_at = None
            if self.epoch is None and not self.over:
                self._end(Left())
        due = self.detector.next_deadline()
        if self.epoch is not None:
            if due is not None and now >= due:
                for incarnation in self.detector.tick(now):
                    self._beat(incarnation)
            self.epoch.tick(now)
        for epoch, _ in self._ended.values():
            epoch.tick(now)
        if not self.transfers.idle:
            self.transfers.tick(now)
        if not self.calm:
            self._go_on(now)

    def next_deadline(self) -> float | None:
        """Return the time of the next timer, or None."""
        epoch = self.epoch
        if (
            epoch is not None and not self._ended and self.transfers.idle and self._seeks_at is None
        ):  # asked after every datagram
            due, first = self.detector.next_deadline(), epoch.next_deadline()
            return due if first is None or (due is not None and due < first) else first
        deadlines = [self._seeks_at, self._withdraws_at]
        if epoch is not None:
            deadlines += [epoch.next_deadline(), self.detector.next_deadline()]
        if not self.transfers.idle:
            deadlines.append(self.transfers.next_deadline())
        if self._ended:
            deadlines += [epoch.next_deadline() for epoch, _ in self._ended.values()]
        return min([deadline for deadline in deadlines if deadline is not None], default=None)

    def datagrams_to_send(self) -> list[Outgoing]:
        """Return, once, the datagrams to send, in order."""
        outgoing, self._outgoing = self._outgoing, []
        if self._ended:
            for ended, _ in self._ended.values():
                outgoing += self._of_change(ended)
        epoch = self.epoch
        if epoch is not None:
            members = epoch.roster.members
            outgoing += [Outgoing(members[to], data) for to, data in epoch.endpoint_datagrams()]
            if epoch.linked:
                outgoing += self._of_change(epoch)
        if not self.transfers.idle:
            for incarnation, transfer, data in self.transfers.datagrams(self._now):
                member = self._member(incarnation)
                if member is not None:
                    outgoing.append(Outgoing(member, HEAD.pack(DatagramKind.STATE, transfer) + data))
            if self.transfers.says_so(self._now):
                others = (other for other in self.members if other != self.me)
                outgoing += [Outgoing(other, HEAD.pack(DatagramKind.NEEDS, 0)) for other in others]
        for to, _ in outgoing:
            if type(to) is Member:
                self.detector.sent(to.incarnation, self._now)
        return outgoing

    def _of_change(self, epoch: Epoch) -> list[Outgoing]:
        """Return the datagrams of the change that ends a list."""
        members, head = epoch.roster.members, HEAD.pack(DatagramKind.LINK, epoch.roster.number)
        return [Outgoing(members[to], head + data) for to, data in epoch.link_datagrams(self._now)]

    # From list to list --------------------------------------------------------------------------------------

    def _go_on(self, now: float) -> None:
        """Take all steps that need neither a message nor time, until none is left."""
        self._look(now)
        while self.epoch is not None:
            follows = self.epoch.go_on(now)
            if follows is None:
                break
            if isinstance(follows, Next):
                self._change(follows, now)
            else:
                self._end(follows.event)
            self._look(now)
        self._forget(now)

    def _change(self, follows: Next, now: float) -> None:
        """End the present list, and begin the next one."""
        epoch, (decision, roster) = self.epoch, follows
        assert epoch is not None, "there is a list that ends"
        self._collect()
        self._count()
        self._changes += 1 + epoch.change.lists
        reports, agreement = epoch.change.spent(now)
        self._change_ms = self._change_ms[0] + reports, self._change_ms[1] + agreement
        before, view = epoch.roster.members, self.view
        self._retire(epoch, now)
        if decision.kind is Kind.REGULAR and view is not None:
            roster = roster.ordered(view.members)
        for member in before:
            if roster.place(member.incarnation) is None:
                del self._counts[member.incarnation]
                self._untaken.pop(member.incarnation, None)
                self._gone.append(member.incarnation)
        self._begin(roster, now)
        if decision.kind is Kind.REGULAR:
            self._note_kept(roster, now)
            assert view is not None, "a member has a view"
            left = tuple(before[place] for place in decision.leaves)
            gone = (member for member in before if roster.place(member.incarnation) is None)
            failed = tuple(member for member in gone if member not in left)
            self._show(View(view.number + 1, roster.members, decision.joins, left, failed))

    def _begin(self, roster: Roster, now: float) -> None:
        """Begin a list, and broadcast again the own messages that were not delivered on the last list."""
        self.alone = len(roster.members) == 1
        seeds = self._founding.seeds[:1]
        away = any(all(seed != member.address for member in roster.members) for seed in seeds)
        self._seeks_at, self._withdraws_at = (now + self.timeouts.heartbeat_ms if away else None), None
        self._founding.end()
        self._welcome = None
        self._joined = ()
        lasted, times = now - self._began_at, self.timeouts
        flaps = lasted < max(times.suspect_ms, 2 * self._returns_ms)
        self._returns_ms = min(2 * self._returns_ms, times.exclude_ms) if flaps else times.heartbeat_ms
        hasty = lasted < times.suspect_ms + self._patience_ms
        suspected = self.detector.suspected
        kept = any(member.incarnation in suspected for member in roster.members[: roster.core])
        self._patience_ms = min(2 * self._patience_ms, times.suspect_ms) if kept else times.heartbeat_ms
        self._began_at = now
        self._patient_until = now + self._patience_ms if hasty else now
        self.transfers.forget(frozenset(member.incarnation for member in roster.members))
        self._own = 0
        epoch = self.epoch = Epoch(
            self._implementation, self.group, self.me, roster, self._layers, self._tracer, now,
            timeouts=self.timeouts, chance=self._chance,
        )  # fmt: skip
        self.detector.watch((member.incarnation for member in roster.members if member != self.me), now)
        ids = [self._counts[member.incarnation] for member in roster.members]
        carried = [self._untaken.get(member.incarnation, 0) for member in roster.members]
        left = any(type(event) is Delivery for event in self._events)
        epoch.endpoint.go_on(roster.members, ids, self._delivered, carried, left=left)
        for payload in self._outstanding:
            epoch.endpoint.broadcast(payload, now)
        early, self._early = self._early, deque(maxlen=_EARLY_MAX)
        for number, kind, source, address, data in early:
            if number >= roster.number:
                self._list_received(kind, number, source, address, data, now)

    def _show(self, view: View) -> None:
        """Give the application a view, and prepare the welcome for the processes that joined with it."""
        assert self.epoch is not None, "a view has a list"
        self.view = view
        self._events.append(view)
        self._end_blocked()
        counts = tuple(self._counts[member.incarnation] for member in view.members)
        welcome = Welcome(self.epoch.roster.number, view.number, view.members, self._delivered, counts)
        self._welcome = HEAD.pack(DatagramKind.WELCOME, 0) + encode(welcome)
        self._joined = tuple(joined for joined in view.joined if joined != self.me)
        self._welcome_them()

    def _welcome_them(self) -> None:
        """Send each new member its welcome, once all earlier members that are heard know the list (rule
        8).
        """
        if self._joined and self._welcome is not None and not self._unknown():
            self._outgoing += [Outgoing(joined, self._welcome) for joined in self._joined]
            self._joined = ()

    def _unknown(self) -> bool:
        """Return True if an earlier member that is heard may not know this list yet."""
        assert self.epoch is not None, "there is a list"
        roster = self.epoch.roster
        if roster.number - 1 not in self._ended:
            return False
        before = self._ended[roster.number - 1][0]
        return before.is_owed(
            place
            for place, member in enumerate(before.roster.members)
            if roster.place(member.incarnation) is not None
            and member.incarnation not in self.detector.suspected
        )

    def _end(self, event: Excluded | Left | Refused) -> None:
        """Stop being a member, and give the application this event. Datagrams that former fellow members
        still need are still sent.
        """
        if self.epoch is not None:
            self._collect()
            self._count()
            self._retire(self.epoch, self._now)
        self._end_blocked()
        self.epoch, self._seeks_at, self._withdraws_at, self.over = None, None, None, True
        self._joined = ()
        self._events.append(event)

    def _retire(self, epoch: Epoch, now: float) -> None:
        """Stop taking part in a list, but keep sending what its other members still need."""
        epoch.over = True
        self._ended[epoch.roster.number] = (epoch, now)
        self._lasts.append((epoch.roster, now))
        while self._lasts[0][1] < now - self.timeouts.exclude_ms:
            self._lasts.popleft()

    def _forget(self, now: float) -> None:
        """Delete the ended lists that no other member needs any more."""
        current = self.epoch
        for number, (epoch, ended_at) in list(self._ended.items()):
            late = now >= ended_at + self.timeouts.exclude_ms
            places = [
                place
                for place, member in enumerate(epoch.roster.members)
                if not late or (current is not None and current.roster.place(member.incarnation) is not None)
            ]
            if not epoch.is_owed(places):
                del self._ended[number]
        self._welcome_them()

    @property
    def calm(self) -> bool:
        """Return True if no list change, admission or state transfer is under way."""
        epoch = self.epoch
        return (
            epoch is not None
            and not (epoch.change.called or self.detector.changed or self.detector.suspected)
            and not (self._ended or self._leaving or self._blocked)
            and epoch.me < epoch.roster.core
        )

    # Who is there -------------------------------------------------------------------------------------------

    @property
    def _may_change(self) -> bool:
        """Return True if this member reaches a majority, so that a change of the list can succeed."""
        assert self.epoch is not None, "there is a list"
        return 2 * self.reached > len(self.epoch.roster.members)

    def _look(self, now: float) -> None:
        """End the list if its members should change. Report to the application whether a majority is
        reached.
        """
        epoch = self.epoch
        if epoch is None:
            return
        for news in self.detector.news():
            self.suspicions[news.kind, news.reason] += 1
            member = self._member(news.of)
            if member is not None:
                self.suspicion_changes.append(SuspicionChange(member, news))
        members = epoch.roster.members
        suspected, given_up = (
            frozenset(place for place, member in enumerate(members) if member.incarnation in some)
            for some in (self.detector.suspected, self.detector.given_up)
        )
        epoch.change.suspect(suspected, given_up)
        if epoch.change.lost:
            self._end(Excluded(LACKS))
            return
        if self._leaving and self.alone:  # nobody else has to agree, now that the others have left
            self._end(Left())
            return
        if not self._may_change:
            self._reaches_since = now
        else:
            returns = epoch.change.returns and now >= self._began_at + self._returns_ms
            settled = suspected <= given_up and now >= self._reaches_since + self.timeouts.heartbeat_ms
            patient = now < self._patient_until
            core = frozenset(range(epoch.roster.core))
            minds = epoch.me in core or core <= suspected
            excludes = any(self._may_exclude(members[place], now) for place in given_up)
            if settled and excludes and not patient:
                epoch.change.call(Kind.REGULAR)
            elif epoch.change.external and (
                returns or (not patient and minds and core & suspected)
            ):
                epoch.change.call(Kind.INTERMEDIATE)
            if self._leaving and settled and not epoch.change.leaving:
                self._collect()
                self._take()  # whoever leaves may take nothing more
                if not self._outstanding:
                    epoch.change.leave()
        self._tell_blocked()

    def _may_exclude(self, member: Member, now: float) -> bool:
        """Return True if this member may ask for a view without a member that it has given up. It waits if
        the others have just kept that member in a view.
        """
        return member.incarnation not in self._kept or now >= self._kept[member.incarnation].until

    def _note_kept(self, roster: Roster, now: float) -> None:
        """Record the members of a new view that this process has given up, and double the time until it asks
        again for a view without them.
        """
        waits = {
            member.incarnation: 2 * self._kept[member.incarnation].wait_ms
            if member.incarnation in self._kept
            else self.timeouts.heartbeat_ms
            for member in roster.members
            if member.incarnation in self.detector.given_up
        }
        most = self.timeouts.exclude_ms
        self._kept = {one: _Kept(now + min(wait, most), min(wait, most)) for one, wait in waits.items()}

    def _tell_blocked(self) -> None:
        assert self.epoch is not None, "there is a list"
        if self._may_change == self._blocked:
            if self._blocked:
                self._end_blocked()
            else:
                self._blocked, self._blocked_since = True, self._now
            needs = len(self.epoch.roster.members) // 2 + 1
            blocked = Blocked(self.reached, needs) if self._blocked else Unblocked(self.reached)
            self._collect()
            self._events.append(blocked)

    def _end_blocked(self) -> None:
        """Add the time without a majority, if this member had none, to the total."""
        if self._blocked:
            self._blocked_ms += self._now - self._blocked_since
        self._blocked = False

    def _seek(self, now: float) -> None:
        """Send a request to join to the seeds. A member sends the first of the seeds, if that is no member,
        the notice that the group exists: the founder may begin again at any time.
        """
        if self.epoch is not None:
            self._seeks_at = now + self.timeouts.heartbeat_ms
            self._send(self._founding.seeds[0], DatagramKind.EXISTS, 0)
            return
        self._seeks_at = now + SEEK_MS
        self._found(now)
        if self.epoch is None:
            self._ask(self._founding.asked)

    def _ask(self, addresses: Iterable[Address]) -> None:
        """Send a request to join to the processes at these addresses."""
        protocol = self._implementation.messages.protocol
        most = self._layers.message_bytes_max
        wish = Join(self.me, protocol, self.founds is not None, most)
        join = HEAD.pack(DatagramKind.JOIN, 0) + encode(wish)
        self._outgoing += [Outgoing(address, join) for address in addresses if address != self.me.address]

    def _found(self, now: float) -> None:
        """Make the first list, if this process founds the group now."""
        if self.epoch is not None or self.over:
            return
        if members := self._founding.first_list(now):
            self._begin(Roster(1, members, len(members)), now)
            self._show(View(1, members, members, (), ()))

    def _supersede(self, source: bytes, address: Address, now: float) -> None:
        """Send a process the notice that it is not on this list, at most once in a while."""
        assert self.epoch is not None, "there is a list"
        if now >= self._told.get(source, now):
            self._told = {some: at for some, at in self._told.items() if at > now}
            self._told[source] = now + SEEK_MS
            self._send(address, DatagramKind.SUPERSEDED, self.epoch.roster.number, source)

    def _send(self, to: Member | Address, kind: int, number: int, body: bytes = b"") -> None:
        """Send a datagram that belongs to no endpoint and no change of a list."""
        self._outgoing.append(Outgoing(to, HEAD.pack(kind, number) + body))

    def _beat(self, incarnation: bytes) -> None:
        assert self.epoch is not None, "there is a list"
        member = self._member(incarnation)
        assert member is not None, "members of the list are watched"
        body = b"" if self.detector.hears(incarnation) else DEAF
        self._send(member, DatagramKind.BEAT, self.epoch.roster.number, body)

    def _member(self, incarnation: bytes) -> Member | None:
        """Return the member of the list with this incarnation, or None."""
        place = None if self.epoch is None else self.epoch.roster.place(incarnation)
        return None if self.epoch is None or place is None else self.epoch.roster.members[place]

    def _collect(self) -> None:
        """Move the deliveries of the list's endpoint to the events for the application."""
        self._events.extend(self._of_list())

    def _take(self) -> None:
        """Record that the application has taken all events."""
        if self.epoch is not None:
            self.epoch.endpoint.take()

    def _of_list(self) -> list[Delivery[Member]]:
        """Return, once, the deliveries of the list's endpoint, and forget the own messages among them."""
        epoch = self.epoch
        if epoch is None:
            return []
        deliveries = cast(list[Delivery[Member]], epoch.endpoint.collect())
        own = epoch.endpoint.delivered_of(epoch.me) if epoch.me < epoch.roster.core else 0
        forget = self._outstanding.popleft
        for _ in range(own - self._own):
            forget()
        self._own = own
        return deliveries

    def _count(self) -> None:
        """Add up, at the end of a list, the messages that were delivered in it."""
        epoch = self.epoch
        assert epoch is not None, "there is a list that ends"
        self._delivered += epoch.endpoint.held
        for place in range(epoch.roster.core):
            member = epoch.roster.members[place].incarnation
            self._counts[member] += epoch.endpoint.delivered_of(place)
            self._untaken[member] = epoch.endpoint.untaken_of(place)

    def __repr__(self) -> str:
        if self.epoch is None:
            return f"<{self.me}: {'no member any more' if self.over else 'asks to be a member'}>"
        assert self.view is not None, "a member has a view"
        told = f"view {self.view.number} of {len(self.view.members)} members, majority {self.view.majority}"
        return f"<{self.me}: {told}, reaches {self.reached}; {self.epoch!r}>"


def _no_chance() -> float:
    raise AssertionError("the protocol has no random waits")


def _user_name(protocol: str) -> str:
    """Return the name by which an application chooses the protocol that messages name."""
    return protocol.removesuffix("-listed")


def _range(oldest: int, newest: int) -> str:
    return f"{oldest}" if oldest == newest else f"{oldest} to {newest}"
