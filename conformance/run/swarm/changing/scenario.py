"""Run of a specification, taken by a group of the implementation in virtual time.

A lockstep takes every step of a run on both sides. That is not possible where the two take other steps:
figures 32 to 34 have no timers, links and consensus of their own; the first number of each list is NULL's in
the implementation and anybody's in the figures; and the figures let the core alone decide what all members of
a view decide in the implementation. Then what can be compared is

1. what each application sees: its messages and views in their order, and that it is excluded;
2. the lists of those that order messages, one after the other, as each process knows them.

The environment of the run is given to the group: who crashes, and whom a detector suspects wrongly, in the
order of the run; an application broadcasts when it does so there. Each of these comes when all processes have
shown what the run shows before it, and before every message that is delivered after it there. A wrong
suspicion is a link that is cut until the suspicion has done its work. A crash may have to wait until its
process is the sequencer, or the next one, where the run says so (`failed_as`, section 3.2.1).

How long links are cut, when a crash comes, and the waiting times of the detectors are free in the
specification, so they are drawn, from the seed 0 on. The group shows the run if one of the draws shows
exactly the same. That none does says nothing: the outcome is unknown. Not compared are the messages between
processes, the numbers, and why a process suspects another one that has crashed.

A process that stops counts as far as it has come: figure 32 lets an excluded process deliver what was agreed
before it kills itself, and the implementation ends it at once.

Source: Barchet-Estefanel 2002, sections 3.2.1 and 5.2.3.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec.structs import replace

from antiphon.conformance.run.swarm.changing.observed import Observed
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.membership.member import Excluded, View
from antiphon.impl.membership.membership import Event as Told
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.protocols.rbp import FIGURE_25, irbp
from antiphon.impl.protocols.token_lists import TokenLists
from antiphon.impl.registry import listed
from antiphon.impl.transport.simulated_members import Life, SimulatedMembers
from antiphon.model.trace import Trace
from antiphon.spec.services import Broadcast, Crash, Deliver, Install

__all__ = ["DRAWS", "NoScenario", "Scenario", "Shown", "scenario_of", "show"]

DRAWS = 200
"""Number of draws of the free choices of the environment."""

_IDLE_MS = 1_200.0
"""Virtual milliseconds after which a draw is given up in which nothing more is given or shown: more than any
drawn time and the waiting times of the detectors together.
"""

_WAITING = (
    Timeouts(heartbeat_ms=50, suspect_ms=150, exclude_ms=100_000),
    Timeouts(heartbeat_ms=50, suspect_ms=150, exclude_ms=400),
    Timeouts(heartbeat_ms=40, suspect_ms=200, exclude_ms=200),
)
"""Waiting times of the detectors: the slow one may be much slower than the quick one, or as quick."""

_SUSPICIONS = {"suspect", "misjudge"}
"""Actions of the environment that are wrong suspicions: of the second process by the first."""


class NoScenario(ValueError):
    """Error: a run cannot be given to a group in virtual time; the message says why."""


class Seen(NamedTuple):
    """Something that a process shows: a message that it delivers (`deliver`), the members of a view that it
    installs (`view`), that it stops by its own hand (`stop`), or the members of a list (`list`).
    """

    process: int
    what: str
    value: int | frozenset[int] | None = None


class Given(NamedTuple):
    """Step of the environment or of an application: `crash`, `suspect` another process, `broadcast` a
    message.
    """

    process: int
    what: str
    other: int = -1
    role: str = ""
    """Role in its list of a process that crashes, if the run says so."""


@dataclass(frozen=True)
class Scenario:
    """Inputs that a run gives to a group, and events that the group must show, in the order of the run."""

    processes: int
    items: tuple[Seen | Given, ...]
    keeps: bool
    """True if processes keep messages for others after the delivery."""

    @property
    def crashed(self) -> frozenset[int]:
        """Return the processes that crash."""
        return frozenset(one.process for one in self.items if isinstance(one, Given) and one.what == "crash")

    def shown(self, process: int, kinds: Sequence[str], end: int | None = None) -> list[Seen]:
        """Return what a process shows of these kinds before item `end`."""
        return [
            one
            for one in self.items[:end]
            if isinstance(one, Seen) and one.process == process and one.what in kinds
        ]


@dataclass
class Shown:
    """Result: the draw that showed the run, or None; and how far the best draw came."""

    draw: int | None
    draws: int
    best: int = 0
    total: int = 0
    why: str = ""
    events: tuple[Seen, ...] = ()
    observed: Mapping[str, Any] = field(default_factory=dict)
    """Events of the applications of the group that showed the run, as a trace in ITF (`Observed`)."""


def scenario_of(trace: Trace) -> Scenario:
    """Return the scenario of a run.

    Raises:
        NoScenario: processes join, nothing is delivered or installed in the run, or somebody suspects without
            a cause that a network could make.
    """
    bound, items = trace.program, list[Seen | Given]()
    if bound.constants.get("joiners"):
        raise NoScenario(f"a group in virtual time begins with all processes of {bound.name} in one view")
    environment = {method.name for method in bound.declaration.marked("environment")}
    before = _lists(trace, 0)
    for number, transition in enumerate(trace.transitions, 1):
        step, after = transition.step, _lists(trace, number)
        if step.action in environment and (given := _given(trace, number)) is not None:
            items.append(given)
        for event in transition.events:
            match event:
                case Broadcast(process=p, message=m):
                    items.append(Given(p.index, "broadcast", m.index))
                case Deliver(process=p, message=m) if m is not None:
                    items.append(Seen(p.index, "deliver", m.index))
                case Install(process=p, members=members):
                    kind = "list" if after is None else "view"
                    items.append(Seen(p.index, kind, frozenset(q.index for q in members)))
                case Crash(process=p) if step.action not in environment:
                    items.append(Seen(p.index, "stop"))
        if after is not None and before is not None:
            items += [
                Seen(p, "list", now)
                for p, (then, now) in enumerate(zip(before, after, strict=True))
                if then != now
            ]
        before = after
    if not any(isinstance(one, Seen) for one in items):
        raise NoScenario(f"no process of {bound.name} delivers or installs anything in this run")
    room = bound.constants.get("room", 1)
    return Scenario(int(bound.constants["processes"]), tuple(items), keeps=bool(room))


def _given(trace: Trace, number: int) -> Given | None:
    """Return a step of the environment as an input of the group; None for what the network does, which is
    free.
    """
    step = trace.steps[number - 1]
    who: Any = step.arguments[0] if step.arguments else None
    if step.action == "crash":
        failed_as = _values(trace, number).get("failed_as")
        return Given(who.index, "crash", role="" if failed_as is None else list(failed_as)[who.index].name)
    if step.action in _SUSPICIONS:
        other: Any = step.arguments[1]
        return Given(who.index, "suspect", other.index)
    if step.action == "suspect_inactivity":
        raise NoScenario(f"{step}: no link can be cut for a suspicion of nobody")
    return None


def _values(trace: Trace, number: int) -> Mapping[str, Any]:
    return dict(zip(trace.program.variables, trace.states[number], strict=True))


def _lists(trace: Trace, number: int) -> list[frozenset[int]] | None:
    """Return the list of each process in a state of a view change (figures 32 and 34); None if the
    specification has its lists as events alone.
    """
    values = _values(trace, number)
    if "listed" not in values or "version" not in values:
        return None
    first = frozenset(range(int(trace.program.constants["processes"])))
    lists = [first, *(frozenset(q.index for q in members) for members in list(values["listed"])[1:])]
    return [lists[version - 1] for version in values["version"]]


# The group --------------------------------------------------------------------------------------------------


def show(scenario: Scenario, protocol: str, draws: Sequence[int] = range(DRAWS)) -> Shown:
    """Look among these draws of the environment's free choices for one with which a group of the protocol
    shows the scenario.

    Raises:
        NoScenario: no group whose members change has this protocol.
    """
    made = listed(protocol)
    if made is None:
        raise NoScenario(f"members of {protocol} do not change")
    if not scenario.keeps:
        made = irbp(replace(FIGURE_25, kept_bytes=0)) if protocol == "irbp" else made
    best = Shown(None, len(draws), total=sum(isinstance(one, Seen) for one in scenario.items))
    for count, draw in enumerate(draws, 1):
        taken = _Taken(scenario, made, draw)
        if taken.take():
            events, seen = tuple(taken.seen), taken.observed.trace(f"{protocol}, draw {draw}")
            return Shown(draw, count, best.total, best.total, "", events, seen)
        if not best.why or len(taken.seen) > best.best:
            best.best, best.why, best.events = len(taken.seen), taken.why, tuple(taken.seen)
    return best


@dataclass
class _Cut:
    """Links that are cut for a wrong suspicion, until it has changed the list or the view or called for a
    change of them, and for some time further.
    """

    of: Given
    until: str
    further_ms: float
    links: set[tuple[int, int]]
    ends_at: float | None = None


class _Taken:
    """One draw: a group that is given the inputs of a scenario, and what its processes show."""

    def __init__(self, scenario: Scenario, protocol: Implementation[Any], draw: int) -> None:
        self.scenario = scenario
        self.seen: list[Seen] = []
        self.why = ""
        """The first event that the scenario does not have."""
        self._draw = random.Random(draw)
        self.group = SimulatedMembers(
            scenario.processes, draw, delay_ms=(0.5, 1.5), timeouts=self._draw.choice(_WAITING),
            protocol=protocol, rejoin=False, watcher=self,
        )  # fmt: skip
        self._founded = False
        self._lists: dict[int, frozenset[int]] = {}
        self._told: dict[int, int] = {}
        self._next = 0
        """The place of the next input."""
        self._ready_at: float | None = None
        self._last_ms = 0.0
        """The time at which something was given or shown last."""
        self._asked: tuple[int, int | None, bool] | None = None
        """The last answer of `_has_shown`, with what it was about."""
        self.observed = Observed(scenario.processes)
        self.observed.watch(self.group)
        self._cuts: list[_Cut] = []
        self._passed = self._draw.random() < 0.5
        """True if only that member counts as the sequencer which has passed the token, and none that holds
        it.
        """

    # What is watched ----------------------------------------------------------------------------------------

    def cause(self, process: int, kind: str, datagram: int | None) -> None:
        """Do nothing."""

    def sends(self, process: int, to: int, datagram: int, kind: str, copies: int) -> None:
        """Do nothing."""

    def takes(self, process: int, life: Life, events: Sequence[Told]) -> None:
        """Note what a process shows, once the group has been founded."""
        self.observed.takes(process, life, events)
        if not self._founded or self.why:
            return
        for event in events:
            match event:
                case Delivery(payload=payload):
                    self._note(Seen(process, "deliver", int(payload)))
                case View(members=members):
                    self._note(Seen(process, "view", frozenset(int(one.name[1:]) for one in members)))
                case Excluded():
                    self._note(Seen(process, "stop"))
        ordering = self._ordering(life)
        if ordering is not None and ordering != self._lists.get(process):
            self._lists[process] = ordering
            self._note(Seen(process, "list", ordering))

    def _ordering(self, life: Life) -> frozenset[int] | None:
        """Return those that order messages on the list of a member; None if it has no list."""
        epoch = life.machine.epoch
        if epoch is None or life.over:
            return None
        return frozenset(int(epoch.roster.members[place].name[1:]) for place in epoch.change.ordering)

    def _note(self, one: Seen) -> None:
        """Record what a process shows; `why` says what the scenario does not have."""
        kinds = ("list",) if one.what == "list" else ("deliver", "view", "stop")
        wanted = self.scenario.shown(one.process, kinds)
        place = sum(1 for seen in self.seen if seen.process == one.process and seen.what in kinds)
        ends_itself = wanted and wanted[-1].what == "stop" and one.what == "stop"
        if one.process in self.scenario.crashed and one.what != "deliver" and place >= len(wanted):
            return
        early = one.what == "deliver" and self._comes_early(one)
        if early or (not ends_itself and (place >= len(wanted) or wanted[place] != one)):
            self.why = self.why or f"process {one.process}: {_text(one)}{', too early' * early}"
            return
        self.seen.append(one)
        self._last_ms = self.group.now

    def _comes_early(self, one: Seen) -> bool:
        """Return True if an input that comes before this delivery in the scenario was not given yet."""
        pending = next((place for place, _ in self._inputs()), None)
        return pending is not None and one in self.scenario.items[pending:]

    # The run ------------------------------------------------------------------------------------------------

    def take(self) -> bool:
        """Run the group; return True if it shows the scenario and nothing else."""
        group, everybody = self.group, range(self.scenario.processes)
        group.found(everybody)
        while group.now < 1_000.0 and not self._together():
            group.run(group.now + 1.0)
        if not self._together():
            self.why = "the group is not founded"
            return False
        group.run(group.now + self._draw.uniform(0.0, 60.0))
        self._founded = True
        self._lists = dict.fromkeys(everybody, frozenset(everybody))
        self._last_ms = group.now
        while group.now < self._last_ms + _IDLE_MS and not self.why:
            self._heal()
            if self._is_done():
                return True
            self._give()
            group.run(group.now + 0.5)
        self.why = self.why or "it shows no more"
        return False

    def _together(self) -> bool:
        lives = [lives[-1] for lives in self.group.lives if lives]
        return len(lives) == self.scenario.processes and all(
            life.machine.view is not None and len(life.machine.view.members) == len(lives) for life in lives
        )

    def _has_shown(self, end: int | None) -> bool:
        """Return True if all processes have shown what the scenario shows before item `end`."""
        if self._asked is None or self._asked[:2] != (len(self.seen), end):
            self._asked = (len(self.seen), end, self._has_all(end))
        return self._asked[2]

    def _has_all(self, end: int | None) -> bool:
        for process in range(self.scenario.processes):
            if process in self.scenario.crashed:
                continue
            for kinds in (("list",), ("deliver", "view", "stop")):
                wanted = self.scenario.shown(process, kinds, end)
                have = [one for one in self.seen if one.process == process and one.what in kinds]
                stopped = have and have[-1].what == "stop"
                if len(have) < len(wanted) and not stopped and not self._stops(process, end):
                    return False
        return not any(
            self._stops(process, end) and Seen(process, "stop") not in self.seen
            for process in range(self.scenario.processes)
        )

    def _stops(self, process: int, end: int | None) -> bool:
        return Seen(process, "stop") in self.scenario.items[:end]

    def _is_done(self) -> bool:
        return not any(self._inputs()) and self._has_shown(None)

    def _inputs(self) -> Iterator[tuple[int, Given]]:
        """Yield the inputs that were not given yet, with their places."""
        for place, one in enumerate(self.scenario.items[self._next :], self._next):
            if isinstance(one, Given):
                yield place, one

    def _give(self) -> None:
        """Give the next inputs for which the time has come."""
        for place, one in self._inputs():
            if not self._has_shown(place) or not self._may_give(one):
                return
            self._next, self._ready_at, self._last_ms = place + 1, None, self.group.now
            match one.what:
                case "crash":
                    self.group.crash(one.process)
                case "suspect":
                    self._isolate(one)
                case "broadcast":
                    self.group.want(one.process, str(one.other).encode())

    def _may_give(self, one: Given) -> bool:
        """Return True if a drawn time is over, and a process that crashes has the role that the run says."""
        if one.what == "broadcast":
            return True
        if self._ready_at is None:
            longest = self.group.timeouts.suspect_ms * 2
            drawn = self._draw.choice((0.0, 0.0, self._draw.uniform(0.0, longest)))
            self._ready_at = self.group.now + drawn
        if self.group.now < self._ready_at:
            return False
        return not one.role or self._role(one.process) == one.role

    # Suspicions ---------------------------------------------------------------------------------------------

    def _isolate(self, one: Given) -> None:
        """Cut what the suspected process sends: to the process that suspects it, or to and from everybody."""
        p, q = one.process, one.other
        others = [r for r in range(self.scenario.processes) if r != q]
        links = self._draw.choice(
            ({(q, p)}, {(q, r) for r in others}, {link for r in others for link in ((q, r), (r, q))})
        )
        until = self._draw.choice(("list", "list", "calls", "calls", "view"))
        self._cuts.append(_Cut(one, until, self._draw.choice((0.0, 0.0, self._draw.uniform(0, 400))), links))
        self._set_links()

    def _heal(self) -> None:
        """End the cuts that have done what they were for."""
        before = len(self._cuts)
        for cut in self._cuts:
            if cut.ends_at is None and self._has_worked(cut.of, cut.until):
                cut.ends_at = self.group.now + cut.further_ms
        self._cuts = [cut for cut in self._cuts if cut.ends_at is None or self.group.now < cut.ends_at]
        if len(self._cuts) < before:
            self._set_links()

    def _has_worked(self, one: Given, until: str) -> bool:
        machine = self.group.life(one.process).machine
        if machine.epoch is None:
            return True
        match until:
            case "list":
                return one.other not in self._lists[one.process]
            case "calls":
                return machine.epoch.change.called and one.other in self._lists[one.process]
        view = machine.view
        return view is not None and all(int(member.name[1:]) != one.other for member in view.members)

    def _set_links(self) -> None:
        self.group.cut = {link for cut in self._cuts for link in cut.links}

    # Roles --------------------------------------------------------------------------------------------------

    def _role(self, process: int) -> str:
        """Return what a process is in its list: the sequencer holds the token, or has passed it with the
        highest number; the next sequencer is the one that this number names; any other one is simple.
        """
        told: dict[int, Any] = {}
        ring: list[int] = []
        for number, lives in enumerate(self.group.lives):
            epoch = lives[-1].machine.epoch
            core: object = None if epoch is None else epoch.endpoint.core
            if epoch is None or not isinstance(core, TokenLists):
                continue
            lists = core.snapshot()
            if lists.core is not None:
                told[number] = lists.core
                ring = [int(epoch.roster.members[place].name[1:]) for place in lists.ring]
        if process not in told:
            return ""
        top = max(max((n for n, _ in one.numbers), default=one.last_number) for one in told.values())
        gave = next((number for number, one in told.items() if one.passed == top), None)
        if gave == process or (told[process].holding and not self._passed):
            return "sequencer"
        if gave in ring and ring[(ring.index(gave) + 1) % len(ring)] == process:
            return "next_sequencer"
        return "simple"


def _text(one: Seen) -> str:
    match one.what:
        case "deliver":
            return f"delivers m{one.value}"
        case "stop":
            return "stops"
    assert isinstance(one.value, frozenset), "a list and a view have members"
    return f"{one.what} {{{', '.join(f'p{q}' for q in sorted(one.value))}}}"
