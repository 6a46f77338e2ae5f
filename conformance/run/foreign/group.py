"""Group of foreign programs in one run: the harness is the network between them, the clock and the faults.

1. A program that steps and reads no clock runs in virtual time: each datagram, timer and request is one step,
   and the run is a function of its schedule. Any other program runs in real time: the schedule says when
   faults begin and which datagrams meet them; all else depends on the program's speed.
2. A datagram to a node that is down is lost; one to a node that is stopped waits. Requests of the application
   wait for both.
3. A crash is `kill -9`, and a node that is back is a new process with the same disk. If the program says that
   it has a `disk`, the judge takes the node for the same process as before, and finds messages that it has
   forgotten; otherwise each start is a new incarnation, which knows of nothing.
4. A node that is asked to leave runs as long as it asks to be woken. Then it ends, and owes nothing, as after
   a crash; it is not started again.
5. A fault is counted when it has had an effect: a datagram that was cut off, one that overtook another.

This module judges nothing. Whatever a node does against the protocol ends the run: `Misbehaves`.
"""

from __future__ import annotations

import base64
import heapq
import itertools
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from antiphon.conformance.adapters.child import wait
from antiphon.conformance.adapters.messages import CLIENT, INDEFINITE
from antiphon.conformance.adapters.node import Declined, Done, Heard, Misbehaves, Node
from antiphon.conformance.judge.history import RELIABLE_BROADCAST
from antiphon.conformance.judge.trace import Event
from antiphon.conformance.run.foreign.drawing import USUAL_MS
from antiphon.conformance.run.foreign.log import Log, NoEvent
from antiphon.conformance.run.foreign.settings import Settings
from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Leave,
    Pause,
    Restart,
    Schedule,
)
from antiphon.conformance.run.swarm.settings import FaultKind

STEPS_MAX = 50_000
"""Largest number of inputs of nodes and of datagrams that they send; a longer run is given up."""

READ_MS = 50.0
"""Milliseconds between two requests that ask a node for its deliveries."""

LINGER_MS = 150.0
"""Milliseconds that a run goes on after all is delivered, so that second deliveries are found."""

Carry = Callable[[int, int, float], Sequence[float]]
"""Function from sender, receiver and time of a datagram to the delays after which copies of it arrive."""


@dataclass
class Member:
    """Node with what the harness knows of it.

    Attributes:
        node: the running node; None while it is down.
        paused: True while it is stopped.
        held: inputs that wait until it runs, each with whether it outlives a crash.
        wake: number of the last timer that it asked for; an earlier one is void.
        seen: the messages that it had when it was last read.
        asked: the broadcasts that it has not answered, by the number of the request.
        reading: the time of a read that is not answered; None if there is none.
        leaves: True from the time at which it is asked to leave.
    """

    number: int
    node: Node | None = None
    paused: bool = False
    held: list[tuple[bool, Callable[[Member], None]]] = field(default_factory=list)
    wake: int = 0
    seen: list[int] = field(default_factory=list)
    asked: dict[int, tuple[Event, str]] = field(default_factory=dict)
    reading: float | None = None
    leaves: bool = False


class Group:
    """One run of a group. Call `close` in any case.

    Attributes:
        log: the events of all nodes.
        happened: how often each kind of fault has had an effect.
        misbehaves: what a node did against the protocol, which ended the run.
        capped: True for a run that was given up.
        virtual: True for a run in virtual time.
        declined: the number of broadcasts that nodes declined.
    """

    def __init__(
        self, launch: Callable[[int], Node], schedule: Schedule, carry: Carry, settings: Settings
    ) -> None:
        self.log = Log(schedule.members)
        self.happened: Counter[FaultKind] = Counter()
        self.misbehaves: Misbehaves | None = None
        self.capped = False
        self.virtual = self.stepped = self.durable = self.restarts = self.tells = False
        self.declined = self.steps = self.datagrams = 0
        self.now = 0.0
        self._launch, self._schedule, self._carry, self._settings = launch, schedule, carry, settings
        self._members = [Member(number) for number in range(schedule.members)]
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._ties = itertools.count()
        self._cuts: list[Cut] = []
        self._owed: set[str] = set()
        self._values: dict[int, tuple[str, str]] = {}
        self._counts = [0] * schedule.members
        self._newest: dict[tuple[int, int], int] = {}
        self._copies: set[tuple[int, int, int]] = set()
        self._sent: Counter[tuple[int, int]] = Counter()
        self._left = len(schedule.broadcasts)
        self._complete_at: float | None = None
        self._calm_ms = schedule.ends_ms
        self._ends_ms = self._calm_ms + 1000.0 * settings.settle_s
        self._ordered = not set(settings.promise) <= {RELIABLE_BROADCAST, "no-duplication"}

    def run(self) -> None:
        """Carry out the whole run, from the start of the members to their end."""
        try:
            for member in self._members:
                self._begin(member)
            for entry in self._schedule.entries:
                self._plan(entry)
            self._began = time.monotonic() - self.now / 1000.0
            self._loop()
            self._see_answered()
        except Misbehaves as misbehaves:
            self.misbehaves = misbehaves
        for member in self._members:
            if member.node is None and self.durable and not member.leaves:
                self.log.crash(member.number)  # it is not back
        if self.misbehaves is None and not self.capped:
            self.log.end()

    def close(self, spare: dict[int, Node] | None = None) -> None:
        """End all processes, except those that can be put back to their start and are kept in `spare`.

        Args:
            spare: takes the kept processes by number, for another run of the same seed; None: none is kept.
        """
        for member in self._members:
            if (node := member.node) is None:
                continue
            member.node = None
            if spare is not None and self.stepped and self.restarts and self.misbehaves is None:
                spare[member.number] = node
            else:
                node.child.kill()
                node.end(0.0)

    # Time ---------------------------------------------------------------------------------------------------

    def _loop(self) -> None:
        while not self._is_over():
            if self.steps > STEPS_MAX:
                self.capped = True
                return
            if not self.virtual:
                self.now = 1000.0 * (time.monotonic() - self._began)
            due = self._heap[0][0] if self._heap else None
            if self.virtual and (due is None or due > self._ends_ms):
                return
            if due is not None and (self.virtual or due <= self.now):
                self.now = max(self.now, due)
                heapq.heappop(self._heap)[2]()
            elif self.now > self._ends_ms:
                return
            else:
                self._listen(min(self._ends_ms, due if due is not None else self._ends_ms))

    def _listen(self, until_ms: float) -> None:
        """Hear what nodes say by themselves, in real time."""
        seconds = max(0.0, until_ms - self.now) / 1000.0
        running = [member for member in self._members if member.node is not None]
        if self.stepped:
            time.sleep(seconds)
            return
        wait([member.node.child for member in running if member.node is not None], seconds)
        self.now = 1000.0 * (time.monotonic() - self._began)
        for member in running:
            assert member.node is not None
            for line in member.node.heard():
                self._take(member, member.node.take(line))

    def _at(self, at_ms: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (at_ms, next(self._ties), then))

    def _is_over(self) -> bool:
        """Return True when all faults have ended, all is delivered, and some time has passed since."""
        if self.now < self._calm_ms or self._left:
            return False
        staying = [member for member in self._members if not member.leaves]
        waiting = any(member.asked or member.held for member in self._members)
        leaving = any(member.leaves and member.node is not None for member in self._members)
        delivered = all(self._owed <= set(self.log.delivered[member.number]) for member in staying)
        if waiting or leaving or not delivered:
            return False
        if self._complete_at is None:
            self._complete_at = self.now
        return self.now >= self._complete_at + LINGER_MS

    # Inputs -------------------------------------------------------------------------------------------------

    def _plan(self, entry: Entry) -> None:
        """Plan the beginning of an entry of the schedule, and its end if it has one, for their times."""
        match entry:
            case Broadcast(at_ms=at, process=process):
                self._at(at, lambda: self._when_running(self._members[process], self._broadcast, lasts=True))
            case Cut(at_ms=at, until_ms=until):
                self._at(at, lambda: self._cuts.append(entry))
                self._at(until, lambda: self._cuts.remove(entry))
            case Pause(at_ms=at, until_ms=until, process=process):
                self._at(at, lambda: self._pause(self._members[process], until))
            case Crash(at_ms=at, process=process):
                self._at(at, lambda: self._crash(self._members[process]))
            case Restart(at_ms=at, process=process):
                self._at(at, lambda: self._restart(self._members[process]))
            case Leave(at_ms=at, process=process):
                self._at(at, lambda: self._when_running(self._members[process], self._leave))
            case _:
                pass  # the fates of datagrams are the carriage's

    def _when_running(self, member: Member, act: Callable[[Member], None], *, lasts: bool = False) -> None:
        """Call `act` now, or when the node runs again; a crash of the node cancels it unless it `lasts`."""
        if member.node is None and member.leaves:
            self._left -= lasts  # a broadcast that nobody makes
        elif member.node is None or member.paused:
            member.held.append((lasts, act))
        else:
            act(member)

    def _begin(self, member: Member) -> None:
        """Start a node."""
        node = member.node = self._launch(member.number)
        is_spare = bool(node.can)
        if not is_spare:
            node.init(seed=self._schedule.chance, now_ns=self._now_ns())
        if member.number == 0:
            self.stepped = "step" in node.can
            self.virtual = self.stepped and "clock" in node.can
            self.durable, self.restarts = "disk" in node.can, "restart" in node.can
            self.tells = "deliver" in node.can or self.stepped
        if self.stepped:
            self._step(member, {"restart": {"memory": False, "disk": False}} if is_spare else {})
            return
        others = {name: [other for other in node.names if other != name] for name in node.names}
        node.send({"type": "topology", "topology": others}, CLIENT)
        if not self.tells:
            self._at(self.now + READ_MS, lambda: self._read(member, node))

    def _broadcast(self, member: Member) -> None:
        node = self._running(member)
        self._left -= 1
        if member.leaves:
            return
        self._counts[member.number] += 1
        m = f"{member.number}:{self._counts[member.number]}"
        if self.stepped:
            payload = m.encode()
            event = self.log.broadcast(member.number, m, payload)
            try:
                self._step(member, {"broadcast": {"m": m, "bytes": base64.b64encode(payload).decode()}})
            except Declined as declined:
                self._decline(member, event, declined.code)
            else:
                self._owed.add(m)
            return
        value = len(self._values)
        payload = str(value).encode()
        event = self.log.broadcast(member.number, m, payload)
        self._values[value] = m, event.digest
        self.steps += 1
        member.asked[node.send({"type": "broadcast", "message": value}, CLIENT)] = event, m

    def _decline(self, member: Member, event: Event, code: int) -> None:
        """Take a declined broadcast out of the log, unless the error leaves open whether it was made."""
        if code not in INDEFINITE:
            self.log.take_back(member.number, event)
            self.declined += 1

    def _read(self, member: Member, node: Node) -> None:
        """Ask a node at intervals which messages it has, as long as it runs."""
        if member.node is not node:
            return
        if not member.paused and member.reading is None:
            member.reading = self.now
            node.send({"type": "read"}, CLIENT)
        self._at(self.now + READ_MS, lambda: self._read(member, node))

    def _step(self, member: Member, do: Mapping[str, Any]) -> None:
        """Let a node take a step; handle the datagrams, events and wake-up time in its answer.

        Raises:
            Declined: it refuses the step.
        """
        node, now_ns = self._running(member), self._now_ns()
        self.steps += 1
        done = node.step(do, now_ns)
        for heard in done.heard:
            self._take(member, heard)
        self._wake(member, node, done, now_ns)
        if member.leaves and done.wake_ns is None:
            self._end(member)

    def _wake(self, member: Member, node: Node, done: Done, now_ns: int) -> None:
        """Plan a tick of the node at the time at which it wants to be woken; a former plan is void."""
        member.wake += 1
        if done.wake_ns is None:
            return
        if done.wake_ns < now_ns:
            raise node.misbehaves(f"wants to be woken at {done.wake_ns} ns, and it is {now_ns} ns")
        wake = member.wake

        def tick(member: Member) -> None:
            if member.wake == wake:
                self._input(member, {"tick": {}})

        self._at(done.wake_ns / 1e6, lambda: self._when_running(member, tick))

    def _input(self, member: Member, do: Mapping[str, Any]) -> None:
        """Let a node take a step that it may not refuse; raise Misbehaves if it does."""
        try:
            self._step(member, do)
        except Declined as declined:
            name = next(iter(do))
            raise self._running(member).misbehaves(f"refuses `{name}` ({declined})") from declined

    # The network --------------------------------------------------------------------------------------------

    def _send(self, member: Member, heard: Heard) -> None:
        """Carry a datagram."""
        sender, to = member.number, int(heard.dest[1:])
        name = self.log.send(sender, to) if self.stepped else ""
        self.datagrams += 1
        self.steps += 1
        self._sent[sender, to] += 1
        nth = self._sent[sender, to]
        delays = (USUAL_MS,) if sender == to else self._carry(sender, to, self.now)
        if any((sender, to) in cut.links for cut in self._cuts):
            self.happened[FaultKind.PARTITION] += 1
            return
        if not delays:
            self.happened[FaultKind.LOSS] += 1
        if delays and self._schedule.delay_ms > USUAL_MS:
            self.happened[FaultKind.DELAY] += 1
        for delay in delays:
            self._at(self.now + delay, lambda: self._arrive(sender, to, nth, heard.body, name))

    def _arrive(self, sender: int, to: int, nth: int, body: Mapping[str, Any], name: str) -> None:
        member = self._members[to]
        if member.node is None:
            return
        newest = self._newest.get((sender, to), 0)
        if (sender, to, nth) in self._copies:
            self.happened[FaultKind.DUPLICATION] += 1
        elif nth < newest:
            self.happened[FaultKind.REORDERING] += 1
        self._copies.add((sender, to, nth))
        self._newest[sender, to] = max(newest, nth)
        self._when_running(member, lambda member: self._receive(member, f"n{sender}", body, name))

    def _receive(self, member: Member, src: str, body: Mapping[str, Any], name: str) -> None:
        node = self._running(member)
        if self.stepped:
            self.log.receive(member.number, name)
            self._input(member, {"receive": {"src": src, "body": body}})
            return
        self.steps += 1
        node.write({"src": src, "dest": node.name, "body": body})

    # Faults of nodes ----------------------------------------------------------------------------------------

    def _pause(self, member: Member, until_ms: float) -> None:
        node = member.node
        if node is None or member.paused:
            return
        self.happened[FaultKind.PAUSE] += 1
        member.paused = True
        node.child.signal(signal.SIGSTOP)

        def go_on() -> None:
            if member.node is node:
                node.child.signal(signal.SIGCONT)
                self._go_on(member)

        self._at(until_ms, go_on)

    def _go_on(self, member: Member) -> None:
        """Give a node that runs again what has waited for it."""
        member.paused = False
        held, member.held = member.held, []
        for lasts, act in held:
            self._when_running(member, act, lasts=lasts)

    def _crash(self, member: Member) -> None:
        node = member.node
        if node is None:
            return
        self.happened[FaultKind.CRASH] += 1
        self._end(member)

    def _end(self, member: Member) -> None:
        """End the process of a node."""
        node = self._running(member)
        node.child.kill()
        node.end(0.0)
        member.node, member.paused, member.reading = None, False, None
        member.held = [(lasts, act) for lasts, act in member.held if lasts]
        member.wake += 1
        member.asked.clear()
        if member.leaves or not self.durable:
            self.log.crash(member.number)
            self._owed = {m for m in self._owed if not m.startswith(f"{member.number}:")}
        if member.leaves:
            self._go_on(member)  # its broadcasts are made by nobody

    def _leave(self, member: Member) -> None:
        if self.stepped and "views" in self._running(member).can and not member.leaves:
            self.happened[FaultKind.LEAVE] += 1
            member.leaves = True
            self._input(member, {"leave": {}})

    def _restart(self, member: Member) -> None:
        if member.node is not None or member.leaves:
            return
        if not self.durable:
            self.log.recover(member.number)
            member.seen = []
        self._begin(member)
        self._go_on(member)

    # What nodes say -----------------------------------------------------------------------------------------

    def _take(self, member: Member, heard: Heard) -> None:
        node = self._running(member)
        if heard.kind == "datagram":
            self._send(member, heard)
        elif heard.kind == "event":
            try:
                self.log.report(member.number, heard.body)
            except NoEvent as wrong:
                raise node.misbehaves(f"reports what is no event ({wrong})", heard.line) from wrong
        else:
            self._replied(member, node, heard)

    def _replied(self, member: Member, node: Node, heard: Heard) -> None:
        kind, is_error = heard.request["type"], heard.body["type"] == "error"
        if kind == "broadcast":
            event, m = member.asked.pop(heard.request["msg_id"])
            if is_error:
                self._decline(member, event, heard.body["code"])
            else:
                self._owed.add(m)
        elif kind == "read":
            member.reading = None
            if is_error:
                raise node.misbehaves("cannot be read, and does not say that it can `deliver`", heard.line)
            self._delivered(member, node, heard.body["messages"], heard.line)

    def _delivered(self, member: Member, node: Node, messages: list[int], line: bytes) -> None:
        """Record as deliveries the messages that a node has and did not have when it was last read."""
        before, member.seen = member.seen, messages
        for value in messages:
            if value not in self._values:
                raise node.misbehaves(f"has {value}, which nobody has broadcast", line)
        new = messages[len(before) :]
        if messages[: len(before)] != before:
            if gone := Counter(before) - Counter(messages):
                raise node.misbehaves(f"has no longer {next(iter(gone))}, which it had", line)
            if self._ordered:
                at = next(at for at, value in enumerate(before) if messages[at] != value)
                raise node.misbehaves(f"had {before[at]} in place {at + 1}, and now has {messages[at]}", line)
            old = Counter(before)
            new = []
            for value in messages:
                old[value] -= 1
                if old[value] < 0:
                    new.append(value)
        for value in new:
            self.log.deliver(member.number, *self._values[value])

    def _see_answered(self) -> None:
        """Raise Misbehaves where a node has not answered, though nothing hinders it."""
        for member in self._members:
            node, settings = member.node, self._settings
            if node is None:
                continue
            if member.leaves:
                raise node.misbehaves(
                    f"has not left within {settings.settle_s:g} s of the last fault: it asks to be woken"
                )
            if member.asked:
                request = msgspec.json.encode(node.waiting[min(member.asked)][1]).decode()
                raise node.misbehaves(
                    f"has not answered {request} within {settings.settle_s:g} s of the last fault"
                )
            waits_ms = 1000.0 * min(settings.reply_s, settings.settle_s)
            if member.reading is not None and self.now - member.reading >= waits_ms:
                raise node.misbehaves(node.silence({"type": "read"}))

    def _running(self, member: Member) -> Node:
        assert member.node is not None, "nothing is asked of a node that is down"
        return member.node

    def _now_ns(self) -> int:
        return round(self.now * 1e6)
