"""Checks of the rules for protocol cores, on which shells, lockstep and replay build.

1. A core set to a snapshot behaves as the core of which it was taken.
2. A core reads no clock and draws no random number: at another time of day it gives the same answers, shifted
    by the difference.
3. Values that it returns are immutable or copies, and it stores nothing that its caller can change.
4. No answer depends on the order of a set or on the seed of Python's hashes.

The rules are checked on seeded random runs: messages arrive late, twice, in any order or never (late and in
order for a core that needs queues), and timers expire. Each core has a twin, which is set to the core's
snapshot before every call, at another time; now and then a new core takes its place. This module must not
know any protocol.
"""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Callable, Hashable
from importlib import import_module
from typing import Any, NamedTuple, cast

from antiphon.conformance.compare.suites.values import mutable_parts, spoil
from antiphon.impl.protocols.core import Delivery, Implementation, Network, ProtocolCore, Send
from antiphon.impl.tracing import NULL_TRACER, RecordingTracer
from antiphon.impl.transport.simulated import Faults, SimulatedNetwork
from antiphon.spec.lang.errors import SpecError

SHIFT_MS = 4096.0
"""Milliseconds by which the twin's time is later; a power of two, so that sums are exact."""

Core = ProtocolCore[Any]
Call = Callable[[Core, float], object]


def check_core(name: str, *, members: tuple[int, ...] = (2, 3), runs: int = 6, steps: int = 200) -> None:
    """Check an implementation, named as `module:function` of a function without arguments that gives it.

    Raises:
        SpecError: there is nothing at `name`.
        AssertionError: a rule is broken, or nothing was ever delivered; the message says where.
    """
    implementation = named(name)
    delivered = 0
    for count in members:
        for seed in range(runs):
            delivered += _Run(implementation, count, seed, f"{name} with {count} members, run {seed}").take(
                steps
            )
    if not delivered:
        raise AssertionError(f"{name}: nothing was delivered in {runs} runs of {steps} steps")
    _check_hash_seeds(name, max(members))


def digest_of_run(name: str, members: int) -> str:
    """Return a digest of all events in a run on a simulated network that loses and reorders what it may."""
    tracer, implementation = RecordingTracer(), named(name)
    lossy = implementation.network is Network.LOSSY
    faults = Faults(loss=0.2, duplication=0.2, delay_ms=(1.0, 30.0)) if lossy else Faults()
    network = SimulatedNetwork(implementation, members, seed=1, faults=faults, tracer=tracer)
    for number in range(10 * members):
        network.broadcast(number % members, b"%d" % number)
    network.run(until=lambda: False, limit_ms=10_000.0, limit_steps=5_000)
    return hashlib.sha256(repr((tracer.events, network.deliveries)).encode()).hexdigest()


class _Answer(NamedTuple):
    """Result of one call of a core; times in it are by that core's own clock."""

    result: object
    deliveries: tuple[Delivery, ...]
    outputs: tuple[Send[Any], ...]
    deadline: float | None
    busy: bool
    violations: tuple[tuple[Any, int], ...]
    snapshot: Hashable


class _Run:
    """One seeded run: the cores, their twins (cores set to the same snapshot before each call), and the
    messages in flight.
    """

    def __init__(self, implementation: Implementation[Any], members: int, seed: int, place: str) -> None:
        self.random = random.Random(seed)
        self.network = implementation.network
        self.place = place
        self.fresh: Callable[[int], Core] = lambda me: implementation.core(me, members, NULL_TRACER)
        self.cores = [self.fresh(me) for me in range(members)]
        self.twins = [self.fresh(me) for me in range(members)]
        self.last = [0.0] * members
        self.now = 0.0
        self.delivered = 0
        self.flight: list[tuple[int, int, Any]] = []

    def take(self, steps: int) -> int:
        """Take random steps; return the number of deliveries."""
        for me in range(len(self.cores)):
            self._call(me, "start", lambda core, now: core.start(now))
        for _ in range(steps):
            me = self.random.randrange(len(self.cores))
            chance = self.random.random()
            if chance < 0.1 and not self.cores[me].busy:
                self._broadcast(me)
            elif chance < 0.3 or not self.flight:
                self.now += self.random.choice((0.0, 0.5, 8.0, 64.0))
                self._call(me, "tick", lambda core, now: core.tick(now))
            else:
                self._arrive()
        return self.delivered

    def _broadcast(self, me: int) -> None:
        payload = bytearray(self.random.randbytes(4))
        self._call(me, "broadcast", lambda core, now: core.broadcast(cast(bytes, payload), now))
        kept = self.cores[me].snapshot()
        payload[:] = b"changed"
        self._same(me, "broadcast", "the payload that was handed in is kept and can be changed", kept)

    def _arrive(self) -> None:
        """Let a message arrive, once or twice, or lose it; from a queue take the oldest message."""
        position = self.random.randrange(len(self.flight))
        sender, to, message = self.flight[position]
        chance = self.random.random()
        if self.network is Network.FIFO:
            chance, pairs = 0.0, [(here, there) for here, there, _ in self.flight]
            position = pairs.index((sender, to))
            message = self.flight[position][2]
        if chance < 0.7:
            del self.flight[position]
        if chance < 0.9:
            self._call(to, f"receive({message})", lambda core, now: core.receive(sender, message, now))

    def _call(self, me: int, what: str, call: Call) -> None:
        """Make a call on the core of a member and on its twin; require that both give the same result."""
        if self.random.random() < 0.3:
            self.twins[me] = self.fresh(me)
        core, twin = self.cores[me], self.twins[me]
        before = core.snapshot()
        parts = list(mutable_parts(before))
        if parts:
            raise self._broken(me, what, f"a snapshot can be changed: {parts[0]}")
        self._views(me, what, core)
        twin.restore(before, self.last[me] + SHIFT_MS)
        if twin.snapshot() != before or hash(twin.snapshot()) != hash(before):
            told = f"a core that was put to a snapshot has another one: {before!r}, then {twin.snapshot()!r}"
            raise self._broken(me, what, told)
        answer, other = self._answer(me, what, core, call, 0.0), self._answer(me, what, twin, call, SHIFT_MS)
        for name, mine, its in zip(answer._fields, answer, other, strict=True):
            if mine != its:
                told = (
                    f"{name} differs from that of a core put to the same snapshot at another time: {mine!r}, "
                    f"{its!r}"
                )
                raise self._broken(me, what, told)
        self.last[me] = self.now
        self.delivered += len(answer.deliveries)
        self.flight += [(me, to, message) for to, message in answer.outputs]

    def _answer(self, me: int, what: str, core: Core, call: Call, shift: float) -> _Answer:
        """Make a call and return its result. Require that the caller may change every returned value without
        an effect on the core.
        """
        now = self.now + shift
        result, deliveries, outputs = call(core, now), core.settle(now), core.outputs()
        deadline, violations = core.next_deadline(), core.violations
        answer = _Answer(
            result,
            tuple(deliveries),
            tuple(outputs),
            None if deadline is None else deadline - shift,
            core.busy,
            tuple(sorted(violations.items())),
            core.snapshot(),
        )
        for name in ("result", "deliveries", "outputs"):
            parts = list(mutable_parts(getattr(answer, name), name))
            if parts:
                raise self._broken(me, what, f"what is handed out can be changed: {parts[0]}")
        for handed_out in (deliveries, outputs, violations):
            spoil(handed_out)
        if core is self.cores[me]:
            self._same(
                me, what, "changing a list or counter that was handed out changes the core", answer.snapshot
            )
            if tuple(sorted(core.violations.items())) != answer.violations:
                raise self._broken(me, what, "violations are handed out themselves, not a copy")
        return answer

    def _views(self, me: int, what: str, core: Core) -> None:
        """Require that each view of the core is a copy: after one is emptied, the next has the former
        content.
        """
        for name in ("waits", *(("observe",) if hasattr(core, "observe") else ())):
            look = getattr(core, name)
            before = repr(look())
            spoil(look())
            if repr(look()) != before:
                raise self._broken(me, what, f"{name} hands out the core's own state, not a copy")

    def _same(self, me: int, what: str, otherwise: str, snapshot: Hashable) -> None:
        if self.cores[me].snapshot() != snapshot:
            raise self._broken(me, what, otherwise)

    def _broken(self, me: int, what: str, told: str) -> AssertionError:
        return AssertionError(f"{self.place}, member {me}, {what}: {told}")


def _check_hash_seeds(name: str, members: int) -> None:
    """Take the same run in processes with different hash seeds, and require the same events."""
    program = f"from {__name__} import digest_of_run; print(digest_of_run({name!r}, {members}))"
    digests = []
    for hash_seed in ("1", "2"):
        environment = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        done = subprocess.run(  # noqa: S603 - the program is ours, the name was imported above
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise AssertionError(f"{name} fails in a process of its own: {done.stderr}")
        digests.append(done.stdout)
    if len(set(digests)) > 1:
        raise AssertionError(f"{name}: what happens in a run depends on the seed of Python's hashes")


def named(name: str) -> Implementation[Any]:
    """Return the implementation that `module:function` returns.

    Raises:
        SpecError: the name is not of this form, or there is nothing at it.
    """
    module, sign, function = name.partition(":")
    if not sign:
        example = "antiphon.impl.protocols.rbp:rbp"
        raise SpecError(f"{name!r} names no implementation; write module:function, as {example!r}")
    try:
        make = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise SpecError(f"implementation {name!r}: {error}") from error
    implementation: Implementation[Any] = make()
    return implementation
