"""Calls of asyncio on a shell, and a protocol without a timer: one member on a socket of loopback."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from contextvars import Context

import pytest

from antiphon.impl.errors import GroupClosed, UnusableAddress, Violation
from antiphon.impl.loops import new_event_loop
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.protocols.rbp.messages import Message
from antiphon.impl.tracing import NULL_TRACER, RecordingTracer, Tracer, TransportFault
from antiphon.impl.transport.addresses import resolved
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.sealing import FRAME_BYTES
from antiphon.impl.transport.udp import UdpShell


def opened(
    work: Callable[[UdpShell[Message]], Awaitable[None]],
    endpoint: Endpoint[Message] | None = None,
    tracer: Tracer = NULL_TRACER,
) -> list[Exception]:
    """Do something with an open shell; the failures that its user was told."""
    failures: list[Exception] = []

    async def scenario() -> None:
        shell = UdpShell(
            endpoint or Endpoint(rbp(), "test", 0, 2),
            {1: ("127.0.0.1", 9)},
            on_failure=failures.append,
            tracer=tracer,
        )
        await shell.open(("127.0.0.1", 0))
        await work(shell)
        await asyncio.wait_for(shell.close(), 60)

    asyncio.run(scenario())
    return failures


def test_a_socket_that_the_system_closes_is_a_failure_and_is_closed_once() -> None:
    gone = OSError(errno.EBADF, "gone")

    async def work(shell: UdpShell[Message]) -> None:
        shell.connection_lost(gone)
        with pytest.raises(GroupClosed):
            shell.address  # noqa: B018
        shell.connection_lost(None)

    assert opened(work) == [gone]


def test_a_shell_sends_and_hears_between_open_and_close_only() -> None:
    steps: list[None] = []

    async def scenario() -> None:
        shell = UdpShell(
            Endpoint(rbp(), "test", 0, 2), {1: ("127.0.0.1", 9)}, on_progress=lambda: steps.append(None)
        )
        with pytest.raises(GroupClosed):
            shell.broadcast(b"too early")
        await shell.open(("127.0.0.1", 0))
        shell.datagram_received(b"whatever", ("127.0.0.1", 9))
        assert len(steps) == 2
        await asyncio.wait_for(shell.close(), 60)
        shell.datagram_received(b"whatever", ("127.0.0.1", 9))
        assert len(steps) == 2
        with pytest.raises(GroupClosed):
            shell.broadcast(b"too late")

    asyncio.run(scenario())


def test_a_step_that_fails_stops_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(rbp(), "test", 0, 2)

    def fail(now: float) -> None:
        raise RuntimeError(f"at {now > 0}")

    monkeypatch.setattr(endpoint, "start", fail)

    async def work(shell: UdpShell[Message]) -> None:
        with pytest.raises(GroupClosed):
            shell.address  # noqa: B018

    (failure,) = opened(work, endpoint)
    assert str(failure) == "at True"


def test_a_name_is_resolved_once_and_never_while_sending(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    async def scenario() -> None:
        loop = asyncio.get_running_loop()

        async def resolve(host: str, port: int, **kind: int) -> list[tuple[object, ...]]:
            asked.append((host, kind["type"]))
            return [(socket.AF_INET, socket.SOCK_DGRAM, 17, "", ("127.0.0.1", port))]

        monkeypatch.setattr(loop, "getaddrinfo", resolve)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.setblocking(False)
            other.bind(("127.0.0.1", 0))
            route = ("member.invalid", other.getsockname()[1])
            shell = UdpShell(Endpoint(rbp(), "test", 0, 2), {1: route})
            await shell.open(("own.invalid", 0))
            assert len(await asyncio.wait_for(loop.sock_recv(other, 100), 60)) == FRAME_BYTES
            await shell.close()

    asyncio.run(scenario())
    assert asked == [("own.invalid", socket.SOCK_DGRAM), ("member.invalid", socket.SOCK_DGRAM)]


class Recorded(asyncio.DatagramTransport):
    """A transport that keeps what it is to send, at an address of IP version 6."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("::1", 7, 0, 0)})
        self.sent: list[tuple[bytes, object]] = []

    def sendto(self, data: bytes, addr: object = None) -> None:
        self.sent.append((data, addr))

    def abort(self) -> None:
        self.sent.clear()


def test_an_address_of_ip_version_6_is_host_and_port() -> None:
    async def scenario() -> None:
        shell = UdpShell(Endpoint(rbp(), "test", 1, 2), {0: ("::1", 9)})
        shell.connection_made(Recorded())
        assert shell.address == ("::1", 7)
        shell.stop()

    asyncio.run(scenario())


def test_a_socket_that_is_adopted_blocks_nobody() -> None:
    async def scenario() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
            bound.bind(("127.0.0.1", 0))
            shell = UdpShell(Endpoint(rbp(), "test", 1, 2), {0: ("127.0.0.1", 9)})
            await shell.open(bound)
            assert not bound.getblocking()
            await shell.close()

    asyncio.run(scenario())


def test_the_family_of_the_own_address_is_that_of_the_others() -> None:
    """A name may have addresses of both versions: the others' decides."""

    async def scenario() -> None:
        for other, family in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)):

            async def both(host: str, port: int, *, type: int) -> list[tuple[object, ...]]:
                known = [
                    (socket.AF_INET6, type, 17, "", ("::1", port, 0, 0)),
                    (socket.AF_INET, type, 17, "", ("127.0.0.1", port)),
                ]
                return [each for each in known if host in ("own", each[4][0])]

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
                found = await resolved(("own", 0), {1: (other, 9)})
            assert found.family == family
            assert found.own is not None
            assert found.own[0] == found.routes[1][0] == other

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        ("nowhere.invalid", "127.0.0.1", "own address, nowhere.invalid:0, cannot be resolved: .*misspelt"),
        ("127.0.0.1", "nowhere.invalid", "the address of process 1, nowhere.invalid:9, cannot be resolved"),
        (
            "127.0.0.1",
            "::1",
            r"process 1, \[::1\]:9, is of IP version 6, .* at 127.0.0.1:0, which is of version 4",
        ),
        ("127.0.0.1", "x" * 70, "the address of process 1, x*:9, cannot be resolved"),
        ("192.0.2.7", "127.0.0.1", "cannot listen at 192.0.2.7:0: Cannot assign requested address"),
    ],
)
def test_an_address_that_cannot_be_used_is_told_with_whose_it_is(own: str, other: str, said: str) -> None:
    shell = UdpShell(Endpoint(rbp(), "test", 0, 2), {1: (other, 9)})
    with pytest.raises(UnusableAddress, match=said):
        asyncio.run(shell.open((own, 0)))


def test_a_failure_that_nobody_takes_goes_to_the_event_loop() -> None:
    shell = UdpShell(Endpoint(rbp(), "test", 0, 2), {1: ("127.0.0.1", 9)})
    with pytest.raises(OSError, match="gone"):
        shell.connection_lost(OSError(errno.EBADF, "gone"))


def test_a_shell_that_was_never_opened_is_closed_at_once() -> None:
    shell = UdpShell(Endpoint(rbp(), "test", 0, 2), {1: ("127.0.0.1", 9)})
    asyncio.run(asyncio.wait_for(shell.close(), 60))


def test_every_other_member_is_greeted_when_the_socket_opens() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        with ExitStack() as stack:
            others = {
                p: stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for p in (0, 2)
            }
            for other in others.values():
                other.setblocking(False)
                other.bind(("127.0.0.1", 0))
            shell = UdpShell(
                Endpoint(rbp(), "test", 1, 3), {p: other.getsockname() for p, other in others.items()}
            )
            await shell.open(("127.0.0.1", 0))
            for other in others.values():
                assert len(await asyncio.wait_for(loop.sock_recv(other, 100), 60)) == FRAME_BYTES
            await shell.close()

    asyncio.run(scenario())


def test_the_address_is_free_when_close_returns() -> None:
    async def scenario() -> None:
        shell = UdpShell(Endpoint(rbp(), "test", 0, 2), {1: ("127.0.0.1", 9)})
        await shell.open(("127.0.0.1", 0))
        address = shell.address
        async with asyncio.timeout(60):
            await shell.close()  # not in a task: that would give the loop a turn
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as another:
            another.bind(address)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EPERM, "no"), "EPERM"),
        (OSError("no number"), "OSError"),
        (ValueError("none of the system's"), "ValueError"),
    ],
)
def test_what_the_system_says_of_a_datagram_is_counted_by_name(error: Exception, kind: str) -> None:
    tracer = RecordingTracer()

    async def work(shell: UdpShell[Message]) -> None:
        shell.error_received(error)
        assert shell.faults == {kind: 1}

    assert opened(work, tracer=tracer) == []
    assert tracer.events == [TransportFault(0, kind, str(error))]


def test_a_protocol_without_a_deadline_needs_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(rbp(), "test", 0, 2)
    monkeypatch.setattr(endpoint, "next_deadline", lambda: None)

    async def work(shell: UdpShell[Message]) -> None:
        shell.broadcast(b"m")
        await asyncio.sleep(0.01)

    assert opened(work, endpoint) == []


def test_there_is_one_alarm_at_a_time_and_none_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    alarms: list[asyncio.TimerHandle] = []

    async def work(shell: UdpShell[Message]) -> None:
        loop = asyncio.get_running_loop()
        call_at = loop.call_at

        def recorded(
            when: float, callback: Callable[..., object], *args: object, context: Context | None = None
        ) -> asyncio.TimerHandle:
            handle = call_at(when, callback, *args, context=context)
            if getattr(callback, "__self__", None) is shell:
                alarms.append(handle)
            return handle

        monkeypatch.setattr(loop, "call_at", recorded)
        deadline = loop.time() * 1000.0 + 60_000.0
        for earlier in (0.0, 0.0, -10_000.0, 10_000.0, -20_000.0):
            monkeypatch.setattr(shell.endpoint, "next_deadline", lambda at=deadline + earlier: at)
            shell.datagram_received(b"whatever it says", ("127.0.0.1", 9))
        assert [alarm.cancelled() for alarm in alarms] == [True, True, False]
        assert alarms[-1].when() * 1000.0 == pytest.approx(deadline - 20_000.0)

    endpoint = Endpoint(rbp(), "test", 0, 2)
    monkeypatch.setattr(endpoint, "next_deadline", lambda: None)
    assert opened(work, endpoint) == []
    assert all(alarm.cancelled() for alarm in alarms)


def test_a_kind_of_violation_breaks_no_order_unless_it_says_so() -> None:
    class Odd(Violation):
        STRANGE = "strange"

    assert Odd.STRANGE.breaks_order is False


def test_a_deadline_that_has_passed_rings_at_once_on_every_loop() -> None:
    """A loop may give a handle without a time for what is due already, as uvloop does."""

    async def scenario() -> None:
        endpoint = Endpoint(rbp(), "test", 0, 2)
        rings: list[float] = []
        shell = UdpShell(endpoint, {1: ("127.0.0.1", 9)}, keys=None)
        await shell.open(("127.0.0.1", 0))
        endpoint.next_deadline = lambda: 0.0 if len(rings) < 3 else None  # type: ignore[method-assign]
        endpoint.tick = rings.append  # type: ignore[method-assign]
        shell._arm()
        shell._arm()
        async with asyncio.timeout(60):
            while len(rings) < 3:
                await asyncio.sleep(0)
        await shell.close()

    for factory in (asyncio.new_event_loop, new_event_loop):
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(scenario())
