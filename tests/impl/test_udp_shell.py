"""What asyncio tells a shell, and a protocol without a timer: one member on a socket of loopback."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Awaitable, Callable

import pytest

from antiphon.impl.errors import Violation
from antiphon.impl.protocols.rbp import rbp
from antiphon.impl.protocols.rbp.messages import Message
from antiphon.impl.transport.endpoint import Endpoint
from antiphon.impl.transport.udp import UdpShell


def opened(
    work: Callable[[UdpShell[Message]], Awaitable[None]], endpoint: Endpoint[Message] | None = None
) -> list[Exception]:
    """Do something with an open shell; the failures that its user was told."""
    failures: list[Exception] = []

    async def scenario() -> None:
        shell = UdpShell(
            endpoint or Endpoint(rbp(), "test", 0, 2), {1: ("127.0.0.1", 9)}, on_failure=failures.append
        )
        await shell.open(("127.0.0.1", 0))
        await work(shell)
        await asyncio.wait_for(shell.close(), 5)

    asyncio.run(scenario())
    return failures


def test_a_socket_that_the_system_closes_is_a_failure_and_is_closed_once() -> None:
    gone = OSError(errno.EBADF, "gone")

    async def work(shell: UdpShell[Message]) -> None:
        shell.connection_lost(gone)
        shell.connection_lost(None)

    assert opened(work) == [gone]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EPERM, "no"), "EPERM"),
        (OSError("no number"), "OSError"),
        (ValueError("none of the system's"), "ValueError"),
    ],
)
def test_what_the_system_says_of_a_datagram_is_counted_by_name(error: Exception, kind: str) -> None:
    async def work(shell: UdpShell[Message]) -> None:
        shell.error_received(error)
        assert shell.faults == {kind: 1}

    assert opened(work) == []


def test_a_protocol_without_a_deadline_needs_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(rbp(), "test", 0, 2)
    monkeypatch.setattr(endpoint, "next_deadline", lambda: None)

    async def work(shell: UdpShell[Message]) -> None:
        shell.broadcast(b"m")
        await asyncio.sleep(0.01)

    assert opened(work, endpoint) == []


def test_a_kind_of_violation_breaks_no_order_unless_it_says_so() -> None:
    class Odd(Violation):
        STRANGE = "strange"

    assert Odd.STRANGE.breaks_order is False
