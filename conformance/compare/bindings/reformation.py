"""Binding of figures 23 and 24 and the membership's Reformation, with corresponding names.

| figures 23 and 24                | specification `ReformationInTurn` | `Reformation`, its snapshot         |
|----------------------------------|-----------------------------------|-------------------------------------|
| a reformation, restarted         | `Attempt`, in the order of begin  | the version of its `Invitation`     |
| Vote "Yes" and "No" of phase I   | votes, refusals                   | `Vote`, `Refusal`                   |
| New TL, New Token Site           | new_list                          | `NewList`, the ring's first         |
| Vote "Yes" of phase II           | agreements                        | `Agreed`                            |
| a New Token                      | tokens                            | `Token`, or that the site has begun |
| the list that a site belongs to  | belongs                           | belongs                             |
| TL version number                | highest                           | highest                             |
| where a site stands              | stage                             | stage; in `normal` its `Log` works  |

What stands in place of what:
1. **The normal phase** is the abstract one of the specification, on both sides (`Log`): the ring is walked
   with figure 25.
2. **Messages** are encoded and decoded. What was sent stays, and is received in the step that looks at it: an
   invitation by `vote` or `refuse`, votes by `announce`, New TL with the question to the new token site and
   its answer by `agree`, votes of phase II with the answer for the originator by `generate_token`, the token
   by `accept_token`. By `give_up` and `time_out` an "Abort" comes, where one was sent, or else a waiting time
   runs out.
3. **Time, chance and suspicions** are the environment: when a member invites, and when it gives up.

The whole system is the one process of the binding. A member that sends to wrong receivers is refused.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from msgspec import msgpack

from antiphon.conformance.compare.bindings.binding import Bound, Effect, Refused, Stimulus
from antiphon.conformance.compare.bindings.links import Link
from antiphon.conformance.compare.bindings.list_process import MEMBERS
from antiphon.conformance.compare.bindings.plain_values import meant, plain
from antiphon.conformance.compare.bindings.reformation_faults import FAULTS
from antiphon.impl.membership import reformation as impl
from antiphon.impl.membership.detector import LOCAL
from antiphon.impl.membership.reformation import Reformation
from antiphon.impl.membership.succession import Roster
from antiphon.impl.protocols.core import Identifier
from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.token_lists import Entry
from antiphon.spec.lang import Step, program
from antiphon.spec.protocols.reformation.figures23_24 import Knowledge, Stage
from antiphon.spec.protocols.reformation.in_turn import ReformationInTurn
from antiphon.spec.services import Broadcast, Crash, Deliver, Install, Message, Process

__all__ = ["REFORMATION", "ReformationBinding", "ReformationSystem"]

_encoder = msgpack.Encoder()
_decoder: Any = msgpack.Decoder(impl.Message)

_ANSWERS = {"yes", "no", "agreed"}
"""The kinds of messages for an originator."""

_STAGES = {
    impl.Stage.NORMAL: Stage.normal,
    impl.Stage.WAITING: Stage.waiting,
    impl.Stage.INVITING: Stage.inviting,
    impl.Stage.ANNOUNCING: Stage.announcing,
    impl.Stage.INVITED: Stage.invited,
    impl.Stage.AUTHORISING: Stage.authorising,
}

READINGS = {"leaving": "remembers", "committed": "sequenced"}
"""Choices of the implementation at unclear sentences of the text, as values of the readings."""


class Log:
    """Log of one site in the abstract normal phase: what the site has, has acknowledged, and has delivered.
    It stands for the implementation's `Lists`.
    """

    begun = True
    keeps_from = 1

    def __init__(self, me: int, processes: int) -> None:
        self.me = me
        self.version = 1
        self.ring = tuple(range(processes))
        self.entries: tuple[tuple[int, int, int], ...] = ()
        """Message, version of the list and giver of each number."""
        self.settled = 0
        self.works = True
        self.acknowledged: dict[int, int] = {}
        """By version of the list: the number up to which this site has acknowledged in it."""

    @property
    def reaches(self) -> int:
        """Return the last number that the site has."""
        return len(self.entries)

    def stop(self) -> None:
        """Stop the normal phase of the site."""
        self.works = False

    def give(self, after: int) -> tuple[Entry, ...]:
        """Return the entries after this number, with the list's version in the payload."""
        return tuple(
            Entry(number, Identifier(giver, message + 1), bytes((version,)))
            for number, (message, version, giver) in enumerate(self.entries, 1)
            if number > after
        )

    def take(self, reaches: int, entries: Any) -> bool:
        """Replace the entries after the delivered ones by those of the new token site. Return False if they
        do not reach as far as `reaches`.
        """
        kept = [(number, item) for number, item in enumerate(self.entries, 1) if number <= self.settled]
        given = [
            (entry.number, (entry.identifier.id - 1, entry.payload[0], entry.identifier.source))
            for entry in entries
        ]
        both = [*kept, *((number, item) for number, item in given if number > self.settled)]
        if [number for number, _ in both] != list(range(1, reaches + 1)):
            raise Refused(f"site {self.me} takes {[number for number, _ in both]} for all up to {reaches}")
        self.entries = tuple(item for _, item in both)
        return True

    def commit(self, version: int, ring: tuple[int, ...], now: float, *, works: bool = True) -> None:
        """Commit to a list. The new token site waits for the token; any other site works."""
        del now
        if not works:
            raise Refused(f"site {self.me} ends the view")
        self.version, self.ring = version, ring
        self.works = ring[0] != self.me
        self.acknowledged[version] = len(self.entries)

    def accept(self, now: float) -> None:
        """Take the token: the site works from now on."""
        del now
        self.works = True

    def add(self, item: tuple[int, int, int]) -> None:
        """Store the entry of the next number, and acknowledge it."""
        self.entries += (item,)
        self.acknowledged[self.version] = len(self.entries)

    def snapshot(self) -> Hashable:
        """Return the whole state."""
        acknowledged = tuple(sorted(self.acknowledged.items()))
        return self.version, self.ring, self.entries, self.settled, self.works, acknowledged

    def restore(self, kept: Any) -> None:
        """Set the state to a snapshot."""
        self.version, self.ring, self.entries, self.settled, self.works, acknowledged = kept
        self.acknowledged = dict(acknowledged)


class ReformationSystem:
    """System of the members of one view, with the messages that they have sent, and their logs."""

    def __init__(self, processes: int, attempts: int, machine: type[Reformation]) -> None:
        """Start the members, as objects of this class; a planted fault is a class of its own."""
        self.processes, self.attempts = processes, attempts
        roster = Roster(1, tuple(MEMBERS[:processes]), processes)
        self.logs = [Log(me, processes) for me in range(processes)]
        self.members = [
            machine(roster, me, self.logs[me], _deliver, timeouts=LOCAL, chance=lambda: 0.5)
            for me in range(processes)
        ]
        self.versions: tuple[int, ...] = ()
        """The version of each attempt."""
        self.sent: dict[tuple[str, int, int, int], bytes] = {}
        """Messages that were sent, by kind, version, sender and receiver."""
        self.tokens: frozenset[int] = frozenset()
        """The attempts whose token was generated."""
        self.broadcasts = 0
        self.down: frozenset[int] = frozenset()

    # Figure 23 ----------------------------------------------------------------------------------------------

    def invite(self, p: int) -> None:
        """Phase I: let member p invite all others."""
        self.members[p].invite()
        invitations = self._take(p)
        versions = {message.version for _, message in invitations}
        self._see(invitations, impl.Invitation, self._others(p))
        if versions & set(self.versions):
            raise Refused(f"member {p} invites with a version that was taken")
        self.versions += tuple(versions)

    def announce(self, p: int, responders: frozenset[int], site: int) -> None:
        """Phase II: let the votes of the responders arrive at p, and let p announce the list to them."""
        version = self.members[p].snapshot().belongs[0]
        for q in sorted(responders - {p}):
            self._receive(p, q, "yes", version)
        self.members[p].announce()
        self._forget_answers(version)
        sent = self._take(p)
        lists = [(to, message) for to, message in sent if isinstance(message, impl.NewList)]
        self._see(lists, impl.NewList, responders - {p})
        aborts = {to for to, message in sent if isinstance(message, impl.Abort)}
        if aborts != self._others(p) - responders:
            raise Refused(f"member {p} tells {sorted(aborts)} that they are not on the list")
        if len({message for _, message in lists}) != 1 or lists[0][1].ring[0] != site:
            raise Refused(f"member {p} makes a list of which {lists[0][1].ring[0]} is the new token site")

    def generate_token(self, p: int) -> Install:
        """Phase III: let all answers arrive at p, and let p send the token to the new token site."""
        new = self.members[p].snapshot().new
        if new is None:
            raise Refused(f"member {p} has announced no list")
        if new.ring[0] != p:
            self._recover(p, new.version, new.ring[0])
        for q in new.ring:
            if q != p:
                self._receive(p, q, "agreed", new.version)
        self.members[p].go_on(0.0)
        self._forget_answers(new.version)
        self._see(self._take(p), impl.Token, {new.ring[0]} - {p})
        self.tokens |= {self._attempt(new.version)}
        return self._installed(p, new.version)

    # Figure 24 ----------------------------------------------------------------------------------------------

    def vote(self, j: int, a: int) -> None:
        """Phase I: let site j vote "Yes" on attempt a."""
        self._see(self._invited(j, a), impl.Vote, {self._originator(a)})

    def refuse(self, j: int, a: int) -> None:
        """Phase I: let site j vote "No" on attempt a."""
        self._see(self._invited(j, a), impl.Refusal, {self._originator(a)})

    def agree(self, j: int) -> Install:
        """Phase II: let the list and the missing messages arrive at j, and let j answer "Yes"."""
        version, originator = self.members[j].snapshot().belongs
        self._receive(j, originator, "list", version)
        new = self.members[j].snapshot().new
        site = _decoder.decode(self.sent["list", version, originator, j]).ring[0]
        if site != j:
            if new is None:
                raise Refused(f"member {j} does not wait for what it misses")
            self._recover(j, version, site)
        self._see(self._take(j), impl.Agreed, {originator})
        return self._installed(j, version)

    def accept_token(self, k: int) -> None:
        """Phase III: let the token arrive at k."""
        version, originator = self.members[k].snapshot().belongs
        self._receive(k, originator, "token", version)
        self._see(self._take(k), impl.Token, set())

    # Abort and the timers, crashes --------------------------------------------------------------------------

    def give_up(self, p: int) -> None:
        """Let p give up: an "Abort" arrives, or the waiting time ends since the awaited answer will never
        arrive.
        """
        version, originator = self.members[p].snapshot().belongs
        if ("abort", version, originator, p) in self.sent:
            self._receive(p, originator, "abort", version)
        else:
            self.members[p].give_up()
        if originator == p:
            self._forget_answers(version)
        sent = self._take(p, keeps=originator == p)
        wanted = impl.Abort if originator == p else impl.Refusal
        if any(not isinstance(message, wanted) for _, message in sent):
            raise Refused(f"member {p} gives up, and sends {sent[0][1]}")

    def time_out(self, p: int) -> None:
        """Let the waiting time of p end, although the awaited answer may still arrive."""
        self.give_up(p)

    def crash(self, p: int) -> Crash:
        """Crash member p: it takes no further step."""
        self.down |= {p}
        return Crash(Process(p))

    # The normal phase ---------------------------------------------------------------------------------------

    def sequence(self, p: int, m: int) -> list[object]:
        """Give message m the next number, at site p."""
        log = self._working(p)
        log.add((m, log.version, p))
        if m < self.broadcasts:
            return []
        self.broadcasts += 1
        return [Broadcast(Process(p), Message(m))]

    def learn(self, p: int, q: int) -> None:
        """Let p learn its next number from q."""
        log = self._working(p)
        log.add(self.logs[q].entries[len(log.entries)])

    def deliver(self, p: int) -> Deliver:
        """Deliver the next stable message at p."""
        log = self._working(p)
        log.settled += 1
        return Deliver(Process(p), Message(log.entries[log.settled - 1][0]))

    # What is compared ---------------------------------------------------------------------------------------

    def state(self) -> Mapping[str, object]:
        """Return the value of each variable, in the specification's terms."""
        snapshots = [member.snapshot() for member in self.members]
        every = range(1, self.attempts + 1)
        return {
            "begun": len(self.versions),
            "invitation": {a: self._invitation(a) for a in every},
            "votes": {a: {q: self._vote(a, q) for q in range(self.processes)} for a in every},
            "refusals": {a: self._who("no", a) for a in every},
            "new_list": {a: self._new_list(a) for a in every},
            "agreements": {a: self._who("agreed", a) for a in every},
            "tokens": {a: a in self.tokens for a in every},
            "stage": [self._stage(me, one) for me, one in enumerate(snapshots)],
            "belongs": [self._attempt(one.belongs[0]) for one in snapshots],
            "current": [self._attempt(log.version) for log in self.logs],
            "highest": [one.highest for one in snapshots],
            "log": [[self._entry(item) for item in log.entries] for log in self.logs],
            "acknowledged": [{a: self._acknowledged(log, a) for a in (0, *every)} for log in self.logs],
            "last_delivered": [log.settled for log in self.logs],
            "broadcasts": self.broadcasts,
            "down": [p in self.down for p in range(self.processes)],
        }

    def snapshot(self) -> Hashable:
        """Return the whole system."""
        members = tuple(member.snapshot() for member in self.members)
        logs = tuple(log.snapshot() for log in self.logs)
        sent = tuple(sorted(self.sent.items()))
        return members, logs, self.versions, sent, self.tokens, self.broadcasts, self.down

    def restore(self, kept: Any) -> None:
        """Set the whole system to a snapshot."""
        members, logs, self.versions, sent, self.tokens, self.broadcasts, self.down = kept
        for member, one in zip(self.members, members, strict=True):
            member.restore(one, 0.0)
        for log, one in zip(self.logs, logs, strict=True):
            log.restore(one)
        self.sent = dict(sent)

    # In the specification's terms ---------------------------------------------------------------------------

    def _attempt(self, version: int) -> int:
        """Return the number of the attempt with this version; 0 for the initial list, or if no attempt has
        it.
        """
        return self.versions.index(version) + 1 if version in self.versions else 0

    def _originator(self, a: int) -> int:
        version = self.versions[a - 1]
        return next(sender for kind, of, sender, _ in self.sent if (kind, of) == ("invitation", version))

    def _invitation(self, a: int) -> Mapping[str, object] | None:
        if a > len(self.versions):
            return None
        return {"originator": self._originator(a), "version": self.versions[a - 1]}

    def _stage(self, me: int, snapshot: impl.Snapshot) -> Stage | str:
        """Return the stage of a member; as text, if it works outside `normal` or does not work in it."""
        stage = _STAGES[snapshot.stage]
        return stage if self.logs[me].works == (stage is Stage.normal) else f"{stage}, and works otherwise"

    def _has(self, kind: str, a: int, q: int) -> bool:
        """Return True if q has sent an answer of this kind to attempt a."""
        if a > len(self.versions):
            return False
        return (kind, self.versions[a - 1], q, self._originator(a)) in self.sent

    def _who(self, kind: str, a: int) -> set[int]:
        return {q for q in range(self.processes) if self._has(kind, a, q)}

    def _vote(self, a: int, q: int) -> Knowledge | None:
        if not self._has("yes", a, q):
            return None
        vote = _decoder.decode(self.sent["yes", self.versions[a - 1], q, self._originator(a)])
        return Knowledge(self._attempt(vote.committed), vote.reaches)

    def _new_list(self, a: int) -> Mapping[str, object] | None:
        if a > len(self.versions):
            return None
        version, originator = self.versions[a - 1], self._originator(a)
        lists = [data for (kind, of, _, _), data in self.sent.items() if (kind, of) == ("list", version)]
        if not lists:
            return None
        new = _decoder.decode(lists[0])
        if originator not in new.ring:
            raise Refused(f"originator {originator} is not on its list")
        return {"members": set(new.ring), "site": new.ring[0]}

    def _entry(self, item: tuple[int, int, int]) -> Mapping[str, object]:
        message, version, giver = item
        return {"message": message, "list": self._attempt(version), "giver": giver}

    def _acknowledged(self, log: Log, a: int) -> int:
        if a > len(self.versions):
            return 0
        return log.acknowledged.get(self.versions[a - 1] if a else 1, 0)

    # Helpers ------------------------------------------------------------------------------------------------

    def _others(self, p: int) -> set[int]:
        return set(range(self.processes)) - {p}

    def _is_heard(self, version: int, originator: int) -> bool:
        """Return True if the originator of this version still waits for answers, so that sent answers must be
        kept.
        """
        return self.members[originator].snapshot().belongs == (version, originator)

    def _forget_answers(self, version: int) -> None:
        """Delete the sent answers to an attempt: its originator waits for none."""
        self.sent = {
            key: data for key, data in self.sent.items() if key[1] != version or key[0] not in _ANSWERS
        }

    def _installed(self, p: int, version: int) -> Install:
        log = self.logs[p]
        if log.version != version:
            raise Refused(f"member {p} has not committed the list of version {version}")
        return Install(Process(p), version, frozenset(map(Process, log.ring)))

    def _working(self, p: int) -> Log:
        if not self.logs[p].works:
            raise Refused(f"site {p} does not work")
        return self.logs[p]

    def _invited(self, j: int, a: int) -> list[tuple[int, Any]]:
        self._receive(j, self._originator(a), "invitation", self.versions[a - 1])
        return self._take(j)

    def _recover(self, j: int, version: int, site: int) -> None:
        """Let the question of j arrive at the new token site, and its answer at j."""
        if ("ask", version, j, site) not in self.sent:
            asked = [message for to, message in self._take(j) if to == site and isinstance(message, impl.Ask)]
            if not asked:
                raise Refused(f"member {j} does not ask the new token site {site}")
        self._receive(site, j, "ask", version)
        self._take(site)
        self._receive(j, site, "recovery", version)

    def _take(self, p: int, *, keeps: bool = True) -> list[tuple[int, Any]]:
        """Take the messages that member p has to send; return them as their receivers decode them. With
        `keeps`, also store them as sent.

        A "No" by which a member gives up has the same effect as the end of a waiting time, so it is not
        stored.
        """
        sent = []
        for to, message in self.members[p].outputs():
            data = _encoder.encode(message)
            decoded = _decoder.decode(data)
            if (wrong := impl.flaw(decoded, self.processes)) is not None:
                raise Refused(f"member {p} sends {wrong}")
            kind = str(type(decoded).__struct_config__.tag)
            if keeps and (kind not in _ANSWERS or self._is_heard(decoded.version, to)):
                self.sent[kind, decoded.version, p, to] = data
            sent.append((to, decoded))
        return sent

    def _receive(self, me: int, sender: int, kind: str, version: int) -> None:
        """Let a sent message of this kind arrive."""
        data = self.sent.get((kind, version, sender, me))
        if data is None:
            raise Refused(f"member {sender} has sent no {kind} of version {version} to {me}")
        self.members[me].receive(sender, _decoder.decode(data), 0.0)

    def _see(self, sent: list[tuple[int, Any]], kind: type[Any], to: set[int] | frozenset[int]) -> None:
        """Raise Refused if a message is of another kind, or is for other receivers than these."""
        if sorted(receiver for receiver, _ in sent) != sorted(to) or not all(
            isinstance(message, kind) for _, message in sent
        ):
            told = [(receiver, type(message).__name__) for receiver, message in sent]
            raise Refused(f"{kind.__name__} to {sorted(to)} was due, and {told} is sent")


def _deliver(agreed: Report) -> bool:
    del agreed
    raise Refused("the view ends")


class ReformationBinding:
    """Binding of figures 23 and 24 to the members of one view, or to faulty ones by their name. Its one
    process is the whole system.
    """

    members = 1
    channel = ""
    links: tuple[Link, ...] = ()
    ordered = False
    whole = True
    internal: tuple[str, ...] = ()
    exempt: Mapping[str, str] = {}

    def __init__(self, *, fault: str | None = None, **constants: Any) -> None:
        """Make the specification with these constants, and the system, with a planted fault if one is
        named.
        """
        self.program = program(ReformationInTurn, repairs="all", **{**READINGS, **constants})
        self.restores = 0
        processes, attempts = (int(self.program.constants[name]) for name in ("processes", "attempts"))
        machine = Reformation if fault is None else FAULTS[fault]
        self._systems = [ReformationSystem(processes, attempts, machine) for _ in range(2)]
        self._fresh = self._systems[0].snapshot()
        self._standing: Hashable = self._fresh
        self._views: dict[Hashable, Mapping[str, object]] = {}

    def start(self, me: int) -> Effect:
        """Return the initial state: all members work in the first list."""
        del me
        self._systems[0].restore(self._fresh)
        self._standing = self._fresh
        return Effect(self._fresh)

    def stimulus(self, step: Step) -> Stimulus:
        """Return the step as a step of the whole system that takes no packet: sent messages are part of the
        system.
        """
        del step
        return Stimulus(0)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        """Take the step on the members that it concerns."""
        del me, datagram
        system = self._systems[0]
        if self._standing != snapshot:
            system.restore(snapshot)
            self.restores += 1
        self._standing = None
        try:
            answer = getattr(system, step.action)(*map(plain, step.arguments))
        except Refused:
            raise
        except Exception as crash:
            raise Refused(f"a member fails with {type(crash).__name__}: {crash}") from crash
        events = tuple(answer) if isinstance(answer, list) else () if answer is None else (answer,)
        after = self._standing = system.snapshot()
        return Effect(after, events=events)

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """Do nothing: no shell drives the whole system."""

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        """Return no steps: whether a member acts of its own accord depends on time alone."""
        del me, snapshot
        return frozenset()

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        """Return the value of each variable, in the specification's terms."""
        del me
        found = self._views.get(snapshot)
        if found is None:
            system = self._systems[1]
            system.restore(snapshot)
            told, domains = system.state(), self.program.domains
            found = self._views[snapshot] = {name: meant(domains[name], told[name]) for name in told}
        return found

    def join(self, variable: str, shares: tuple[Any, ...]) -> object:
        """Return the value of the one system."""
        del variable
        return shares[0]


REFORMATION = Bound(
    ReformationBinding,
    small={
        "processes": 3, "messages": 1, "numbers": 1, "attempts": 1, "views": 4, "crashes": 0, "terse": True,
        "eager": True,
    },
    every={"processes": 2, "crashes": 1, "terse": False},
    random={
        "processes": 3, "messages": 2, "numbers": 2, "attempts": 3, "views": 10, "crashes": 1, "terse": False,
    },
    faults={name: (kind.__doc__ or "").partition("\n")[0] for name, kind in FAULTS.items()},
)  # fmt: skip
"""The Reformation of a membership."""
