"""A fault between the protocol and the application fails the run by name: three members in one process."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from antiphon.conformance.judge.history import RunFindings, judge_run
from antiphon.conformance.judge.trace import (
    TRUNCATED,
    Header,
    LogWriteError,
    LogWriter,
    digest,
    load_run,
    log_name,
)
from antiphon.conformance.run.cluster.application import Application, payloads
from antiphon.conformance.run.cluster.tracer import LogTracer
from antiphon.impl import tracing
from antiphon.impl.group import Delivery, Group, Identifier
from antiphon.impl.protocols.core import Implementation, Send
from antiphon.impl.protocols.rbp import Core, Message, RbpViolation, Settings, ring
from antiphon.impl.protocols.rbp.messages import Data

KEY = bytes(range(32))
MEMBERS, SHARE, FAULTY, AT = 3, 6, 1, 7
"""Each member broadcasts so many messages; the faulty one errs at its delivery of this place."""


async def untouched(group: Group) -> AsyncIterator[Delivery]:
    """Deliveries of the group itself."""
    with suppress(StopAsyncIteration):
        while True:
            yield await anext(group)


class Swapping(Group):
    """Two deliveries change places."""

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        k, held = 0, None
        async for delivery in untouched(self):
            k += 1
            if k == AT:
                held = delivery
                continue
            yield delivery
            if held is not None:
                yield held
                held = None


class Changing(Group):
    """One delivery comes out as `changed` says."""

    async def __aiter__(self) -> AsyncIterator[Delivery]:
        k = 0
        async for delivery in untouched(self):
            k += 1
            for one in self.changed(delivery) if k == AT else [delivery]:
                yield one

    def changed(self, delivery: Delivery) -> list[Delivery]:
        """Deliveries that replace one."""
        return [delivery]


class Emptying(Changing):
    """One payload is empty."""

    def changed(self, delivery: Delivery) -> list[Delivery]:
        return [delivery._replace(payload=b"")]


class Altering(Changing):
    """One byte of a payload is another."""

    def changed(self, delivery: Delivery) -> list[Delivery]:
        return [delivery._replace(payload=bytes([delivery.payload[0] ^ 1]) + delivery.payload[1:])]


class Dropping(Changing):
    """One delivery is lost."""

    def changed(self, delivery: Delivery) -> list[Delivery]:
        return []


class Doubling(Changing):
    """One delivery comes twice."""

    def changed(self, delivery: Delivery) -> list[Delivery]:
        return [delivery, delivery]


class Renumbering(Changing):
    """One delivery has another number."""

    def changed(self, delivery: Delivery) -> list[Delivery]:
        return [delivery._replace(number=delivery.number + 1)]


class Forgetting(Group):
    """A broadcast that waits is lost: it is never served."""

    calls = 0

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Identifier:
        self.calls += 1
        return await (asyncio.Future() if self.calls == 3 else super().broadcast(payload))


class Overtaking(Group):
    """A broadcast overtakes the one before it."""

    calls = 0

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Identifier:
        self.calls += 1
        if self.calls == 3:
            while self.calls == 3:
                await asyncio.sleep(0)
            await asyncio.sleep(0)
        return await super().broadcast(payload)


class Lying(Core):
    """A protocol that once sends a message under an identifier that is far from its next."""

    lied = False

    def outputs(self) -> list[Send[Message]]:
        lie = [] if self.lied else [Send(0, Data(Identifier(self.me, 10_000), b"lie"))]
        self.lied = True
        return super().outputs() + lie


HASTY = Settings(resend_ms=20, token_ms=5, request_ms=5)
RBP = ring(HASTY)


async def play(directory: Path, faulty: type[Group], protocol: Implementation[Message] = RBP) -> list[object]:
    """Let three members work until all have finished, and their logs get their end, or nothing goes on.

    What the applications ended with, if not all have finished.
    """
    sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(MEMBERS)]
    for bound in sockets:
        bound.bind(("127.0.0.1", 0))
    addresses = {p: bound.getsockname() for p, bound in enumerate(sockets)}
    headers = [
        Header(run="r", protocol="rbp", process=p, processes=MEMBERS, seed=7, messages=SHARE * MEMBERS)
        for p in range(MEMBERS)
    ]
    applications: list[Application] = []
    failures: list[object] = []

    async def member(header: Header) -> None:
        me = header.process
        with LogWriter(directory / log_name(me), header) as log:
            group = (faulty if me == FAULTY else Group)(
                "test",
                me=me,
                members=MEMBERS,
                bind=sockets[me],
                routes={p: address for p, address in addresses.items() if p != me},
                key=KEY,
                protocol=protocol if me == FAULTY else RBP,
                tracer=LogTracer(log, on_failure=lambda error: None),
            )
            application = Application(group, header, SHARE, log)
            applications.append(application)
            async with group:
                work = asyncio.create_task(application.run())
                await over.wait()
            if all(one.finished.is_set() for one in applications):
                await work
                log.end()
            else:
                work.cancel()
                failures.extend(await asyncio.gather(work, return_exceptions=True))

    over = asyncio.Event()
    members = [asyncio.create_task(member(header)) for header in headers]
    now, seen, since = asyncio.get_running_loop().time, -1, 0.0
    until = now() + 15.0
    while now() < until and not (applications and all(one.finished.is_set() for one in applications)):
        await asyncio.sleep(0.05)
        done = sum(one.delivered + one.broadcast for one in applications)
        if done != seen:
            seen, since = done, now()
        elif seen and now() > since + 0.5:
            break
    await asyncio.sleep(0.05)
    over.set()
    await asyncio.gather(*members)
    return failures


def judged(directory: Path, faulty: type[Group]) -> RunFindings:
    asyncio.run(play(directory, faulty))
    return judge_run(load_run(directory))


def violated(found: RunFindings) -> set[str]:
    return {name for name, outcome in found.outcomes.items() if outcome == "violated"}


def test_without_a_fault_everything_holds(tmp_path: Path) -> None:
    found = judged(tmp_path, Group)
    assert found.problems == ()
    assert set(found.outcomes.values()) == {"holds"}


@pytest.mark.parametrize(
    ("faulty", "others"),
    [
        (Swapping, {"UniformTotalOrder", "UniformPrefixOrder", "UniformGlobalOrder", "UniformNumbering"}),
        (Emptying, {"UniformIntegrity"}),
        (Altering, {"UniformIntegrity"}),
        (Doubling, {"UniformIntegrity"}),
        (Renumbering, {"UniformNumbering"}),
        (Dropping, {"UniformPrefixOrder"}),
        (Forgetting, {"UniformIntegrity"}),
        (Overtaking, {"UniformIntegrity"}),
    ],
)
def test_a_fault_between_protocol_and_application_is_violated_by_name(
    tmp_path: Path, faulty: type[Group], others: set[str]
) -> None:
    found = judged(tmp_path, faulty)
    assert violated(found) == {"Handover"} | others
    handover = next(finding for finding in found.findings if finding.property == "Handover")
    assert handover.first is not None
    assert handover.first.process == FAULTY


def test_a_member_that_says_what_no_correct_member_says_fails_the_run_by_name(tmp_path: Path) -> None:
    asyncio.run(play(tmp_path, Group, ring(HASTY, Lying)))
    found = judge_run(load_run(tmp_path))
    assert found.problems == ()
    assert violated(found) == {"NoViolation"}
    told = next(finding for finding in found.findings if finding.offending)
    assert told.first is not None
    assert told.first.process == 0
    assert told.first.message.startswith(f"process {FAULTY}: {RbpViolation.IDENTIFIER_AHEAD}")


class Misnaming(Group):
    """A broadcast returns the identifier of another."""

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Identifier:
        name = await super().broadcast(payload)
        return name._replace(id=name.id + 1)


class Lingering(Group):
    """The last call of `broadcast` returns when its message was delivered long ago."""

    calls = 0
    lingers = 0.3

    async def broadcast(self, payload: bytes | bytearray | memoryview) -> Identifier:
        name = await super().broadcast(payload)
        self.calls += 1
        if self.calls == SHARE:
            await asyncio.sleep(self.lingers)
        return name


class Silent(Lingering):
    """Application that never returns."""

    lingers = 3_600.0


def test_a_run_ends_when_the_last_broadcast_has_returned(tmp_path: Path) -> None:
    (tmp_path / "late").mkdir()
    found = judged(tmp_path / "late", Lingering)
    assert (found.problems, violated(found)) == ((), set())
    (tmp_path / "never").mkdir()
    assert {problem.reason for problem in judged(tmp_path / "never", Silent).problems} == {TRUNCATED}


def test_a_broadcast_that_returns_another_identifier_ends_the_application(tmp_path: Path) -> None:
    (failure,) = [each for each in asyncio.run(play(tmp_path, Misnaming)) if isinstance(each, Exception)]
    with pytest.raises(ExceptionGroup) as raised:
        raise failure
    assert raised.group_contains(RuntimeError, match=f"broadcast 1 was given the identifier {FAULTY}:2")


def test_a_write_that_fails_is_told_once_and_ends_the_writing(tmp_path: Path) -> None:
    told: list[LogWriteError] = []
    log = LogWriter(
        tmp_path / log_name(0), Header(run="r", protocol="rbp", process=0, processes=1, seed=7, messages=1)
    )
    tracer = LogTracer(log, on_failure=told.append)
    assert tracer.recording
    log.close()
    for _ in range(2):
        tracer.record(tracing.Receive(0, (1, 1), "ack"))
    assert [str(error) for error in told] == [f"{log.path}: cannot write event 0: the log is closed"]
    assert not tracer.recording


def test_payloads_are_distinct_and_fixed_by_the_seed() -> None:
    """The same on every machine and in every version, so that a run can be taken again."""
    some = list(payloads(7, 1, 1_000))
    assert len(set(some)) == 1_000
    assert {len(payload) - len(b"1:%d " % k) for k, payload in enumerate(some, 1)} == set(range(65))
    assert digest(b"".join(some)) == "74bb05922c051dc915d13379a07552de"


def test_what_a_member_reports_at_length_is_shortened(tmp_path: Path) -> None:
    header = Header(run="r", protocol="rbp", process=0, processes=1, seed=7, messages=1)
    with LogWriter(tmp_path / log_name(0), header) as log:
        tracer = LogTracer(log, on_failure=lambda error: None)
        tracer.record(tracing.Violation(0, RbpViolation.OUT_OF_TURN, 2, "x" * 10_000))
        log.broadcast("0:1", "")
        log.deliver("0:1", 1, "")
        log.end()
    found = judge_run(load_run(tmp_path))
    assert violated(found) == {"NoViolation"}
    told = next(str(finding) for finding in found.findings if finding.offending)
    assert told.startswith("reports what no correct process says: process-0.ndjson:2 (process 2: ")
    assert len(told) < 400
