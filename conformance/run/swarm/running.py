"""Run of a schedule on the real cores, layers and encoder, on the simulated network and in virtual time.

A run ends a moment after everything is delivered everywhere (late or repeated datagrams may still do harm);
or when nothing is delivered for `bound_ms` or QUIET_STEPS after the last fault; or after too many steps. Its
result is an `Ending`; this module judges nothing, and knows no protocol.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple

from antiphon.conformance.compare.bindings.guarded import chance
from antiphon.conformance.run.swarm.log import Log
from antiphon.conformance.run.swarm.schedule import Cut, Entry, Jump, Pause, Schedule, Skew, Start
from antiphon.conformance.run.swarm.settings import Settings
from antiphon.impl.layers import Layers
from antiphon.impl.protocols.core import Delivery, Implementation
from antiphon.impl.tracing import NULL_TRACER, Tracer
from antiphon.impl.transport.sealing import KEY_BYTES, Keyring
from antiphon.impl.transport.simulated import Carriage, Clock, SimulatedNetwork
from antiphon.spec.lang.foreign import alive, foreign, is_interrupt

__all__ = ["Ending", "raised", "run"]

_KEYS = Keyring(bytes(KEY_BYTES))

QUIET_STEPS = 5_000
"""Number of steps without a delivery after the last fault that counts as standing still: a token that never
rests circulates hundreds of times.
"""

LINGER_MS = 250.0
"""Milliseconds that a run goes on when everything is delivered."""

KEPT_MAX = 4
"""Largest number of payloads of each member that a member may keep at rest, those of the last messages."""

FORGETTING_MS = 5_000.0
"""Milliseconds that members may take to learn that all have everything."""


@dataclass
class Ending:
    """Final state of a run.

    `failed` is the error that a member raised; `capped` is True if the run was given up. `kept` is the number
    of payloads that each member keeps at rest, if its protocol forgets. `early` are deliveries before as many
    members had the message as it requested.
    """

    network: SimulatedNetwork[Any]
    schedule: Schedule
    failed: str = ""
    capped: bool = False
    kept: tuple[int, ...] = ()
    early: tuple[str, ...] = ()


def run(
    implementation: Implementation[Any],
    schedule: Schedule,
    carriage: Carriage,
    settings: Settings,
    log: Log | None = None,
    tracer: Tracer = NULL_TRACER,
) -> Ending:
    """Run a schedule to its end, with the fates of datagrams by `carriage`. Without a log, `tracer` gets the
    events.

    Raises:
        Raised: the members cannot even be made.
    """
    with chance(schedule.chance):
        return _Run(implementation, schedule, carriage, settings, log, tracer).take()


class _Run:
    def __init__(
        self,
        implementation: Implementation[Any],
        schedule: Schedule,
        carriage: Carriage,
        settings: Settings,
        log: Log | None,
        tracer: Tracer,
    ) -> None:
        self.schedule, self.settings, self.log = schedule, settings, log
        if schedule.holders is not None and implementation.resilient is not None:
            implementation = implementation.resilient(schedule.holders)
        self._forgets = implementation.forgets
        members = range(schedule.members)
        starts, clocks = dict.fromkeys(members, 0.0), dict.fromkeys(members, Clock())
        for entry in schedule.entries:
            if isinstance(entry, Start):
                starts[entry.process] = entry.at_ms
            elif isinstance(entry, Skew):
                clocks[entry.process] = Clock(entry.offset_ms, entry.rate)
        with foreign():
            self.network: SimulatedNetwork[Any] = SimulatedNetwork(
                implementation, schedule.members, seed=0, carriage=carriage, clocks=list(clocks.values()),
                starts_ms=list(starts.values()), tracer=log or tracer,
                keys=_KEYS if settings.sealed else None, multicast=settings.multicast,
                layers=None if schedule.layers is None else Layers(**schedule.layers),
            )  # fmt: skip
        if log is not None:
            log.watch(self.network)
        self._cuts: list[Cut] = []
        self._looked_at = [0] * schedule.members
        self._asked = {} if schedule.layers is None else _asked(schedule)
        self._early: list[str] = []

    def take(self) -> Ending:
        """Run the schedule to its end, and return the final state. An error that a member raises ends the
        run.
        """
        network, ending = self.network, Ending(self.network, self.schedule)
        self._script()
        ends, messages = self.schedule.ends_ms, len(self.schedule.broadcasts)

        def delivered() -> bool:
            self._look()
            return (
                network.now >= ends
                and all(len(deliveries) >= messages for deliveries in network.deliveries)
                and network.idle
            )

        def never() -> bool:
            self._look()
            return False

        network.script(ends, lambda: None)  # that time goes on to there, even when nothing happens
        try:
            self._take(ending, delivered, never)
        except BaseException as error:
            if is_interrupt(error):
                raise
            ending.failed = raised(error)
        self._look()
        ending.early = tuple(self._early)
        if self.log is not None and not (ending.failed or ending.capped):
            self.log.end()
        return ending

    def _take(self, ending: Ending, delivered: Callable[[], bool], never: Callable[[], bool]) -> None:
        network, settings, ends = self.network, self.settings, self.schedule.ends_ms
        with alive():
            before, done = -1, False
            network.run(until=delivered, limit_ms=ends, limit_steps=settings.steps_max)
            while not done and self._deliveries > before:  # or else the group has stood still for so long
                before, limit_ms = self._deliveries, max(network.now, ends) + settings.bound_ms
                steps = min(QUIET_STEPS, settings.steps_max - network.steps)
                done = network.run(until=delivered, limit_ms=limit_ms, limit_steps=steps)
            ending.capped = not done and network.steps >= settings.steps_max
            if done:
                network.run(until=never, limit_ms=network.now + LINGER_MS, limit_steps=settings.steps_max)
                ending.kept = self._kept_at_rest()

    def _kept_at_rest(self) -> tuple[int, ...]:
        """Return the number of payloads that each member stores at rest, for a protocol that forgets. Let
        time pass until no member stores too many, or a limit is reached.
        """
        network, last_ms = self.network, self.network.now + FORGETTING_MS
        kept: tuple[int, ...] = ()
        while self._forgets:
            kept = tuple(_payloads(end.core.snapshot()) for end in network.endpoints)
            if max(kept) <= KEPT_MAX * self.schedule.members or network.now >= last_ms:
                break
            network.run_for(LINGER_MS)
        return kept

    @property
    def _deliveries(self) -> int:
        return sum(map(len, self.network.deliveries))

    def _look(self) -> None:
        """Log the new deliveries to applications, and note those made before the requested number of members
        had the message.
        """
        if self.log is None and not self._asked:
            return
        for process, deliveries in enumerate(self.network.deliveries):
            for delivery in deliveries[self._looked_at[process] :]:
                if self.log is not None:
                    self.log.deliver(process, delivery)
                if delivery[:2] in self._asked:
                    self._count_holders(process, delivery)
            self._looked_at[process] = len(deliveries)

    def _count_holders(self, process: int, delivery: Delivery) -> None:
        have = sum(endpoint.held >= delivery.number for endpoint in self.network.endpoints)
        asked = self._asked[delivery.source, delivery.id]
        if have < asked:
            name = f"{delivery.source}:{delivery.id}"
            told = f"process {process} delivers {name}, which {have} members have, and it asked for {asked}"
            self._early.append(told)

    def _script(self) -> None:
        """Schedule all timed entries on the simulated network."""
        network, schedule = self.network, self.schedule
        payloads, counts = schedule.payloads(), [0] * schedule.members
        for broadcast in schedule.broadcasts:
            process = broadcast.process
            counts[process] += 1
            name = process, counts[process]
            network.script(broadcast.at_ms, partial(self._broadcast, name, payloads[name]))
        for entry in schedule.entries:
            self._fault(entry)

    def _broadcast(self, name: tuple[int, int], payload: bytes) -> None:
        if self.log is not None:
            self.log.broadcast(*name, payload)
        self.network.broadcast(name[0], payload, self._asked.get(name, 1))

    def _fault(self, entry: Entry) -> None:
        """Schedule the begin and the end of a fault."""
        network = self.network
        match entry:
            case Cut(at_ms=at, until_ms=until, links=links):
                told = ", ".join(f"{sender} to {to}" for sender, to in links)
                self._at(at, None, f"cut {told}", lambda: self._cut([*self._cuts, entry]))
                left = lambda: self._cut([cut for cut in self._cuts if cut is not entry])  # noqa: E731
                self._at(until, None, f"heal {told}", left)
            case Pause(at_ms=at, until_ms=until, process=process):
                self._at(at, process, "stopped", lambda: network.pause(process))
                self._at(until, process, "goes on", lambda: network.resume(process))
            case Jump(at_ms=at, process=process, by_ms=by):
                self._at(at, process, f"clock jumps by {by:g} ms", lambda: network.jump(process, by))

    def _at(self, ms: float, process: int | None, what: str, action: Callable[[], None]) -> None:
        def act() -> None:
            if self.log is not None:
                self.log.fault(process, what)
            action()

        self.network.script(ms, act)

    def _cut(self, cuts: list[Cut]) -> None:
        """Cut the links of these entries, and restore all others."""
        self._cuts = cuts
        self.network.heal()
        for cut in cuts:
            self.network.cut(cut.links)


def _asked(schedule: Schedule) -> dict[tuple[int, int], int]:
    """Return, for each message that requests more than one holder, how many members must have it before it is
    delivered.
    """
    counts = [0] * schedule.members
    asked: dict[tuple[int, int], int] = {}
    for broadcast in schedule.broadcasts:
        counts[broadcast.process] += 1
        if broadcast.holders > 1:
            name = broadcast.process, counts[broadcast.process]
            asked[name] = min(broadcast.holders, schedule.members)
    return asked


def _payloads(state: object) -> int:
    """Return the number of payloads in a snapshot."""
    if isinstance(state, bytes):
        return 1
    if isinstance(state, Struct):
        state = astuple(state)
    return sum(map(_payloads, state)) if isinstance(state, tuple | frozenset) else 0


def raised(error: BaseException) -> str:
    """Return an error and its place in words."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = last.filename.rpartition("/antiphon/")[2].rpartition("/")[2]
    return f"{type(error).__name__} in {last.name} ({place}:{last.lineno}): {error}"
