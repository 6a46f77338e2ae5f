"""Deliveries that outlive their member: the message is at the required number of members when one delivers
it.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.relay import Relay
from antiphon.impl.errors import UnknownDelivery, UnknownProtocol
from antiphon.impl.group import Group
from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.dtp import dtp
from antiphon.impl.protocols.rbp_resilient import rbp_resilient
from antiphon.impl.registry import DEFAULT, delivering, known_protocols
from antiphon.impl.tracing import NULL_TRACER

KEEPER = Path(__file__).with_name("keeper.py")
MEMBERS = 3
EACH = 30
LOSSES = Faults(loss=0.3, duplication=0.1, reordering=0.1)


class Keeper:
    """The process of `keeper.py`, and what it said that it delivered."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.delivered: list[str] = []
        self.kept: list[str] | None = None
        self.reading = asyncio.create_task(self._read())

    def tell(self, *lines: str) -> None:
        """Broadcast these, or ask what it kept."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines).encode())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            if "delivered" in said:
                self.delivered.append(said["delivered"])
            else:
                self.kept = said["kept"]


async def keepers(relay: Relay, ports: list[int], protocol: str, deliver: str) -> list[Keeper]:
    """Three members behind the relay."""
    relay.start(dict(enumerate(ports)))
    started = []
    for me in range(MEMBERS):
        routes = {**relay.routes(me), me: ("127.0.0.1", ports[me])}
        members = [f"{host}:{port}" for _, (host, port) in sorted(routes.items())]
        command = [sys.executable, "-P", str(KEEPER), str(me), protocol, deliver, str(ports[me]), *members]
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        started.append(Keeper(process))
    return started


async def survived(ports: list[int], protocol: str, deliver: str, victims: tuple[int, ...]) -> None:
    """Kill the victims while all send: what they said that they delivered the others have."""
    relay = Relay(MEMBERS, 5, LOSSES)
    members = await keepers(relay, ports, protocol, deliver)
    try:
        for me, member in enumerate(members):
            member.tell(*(f"<{me}:{number}>" for number in range(EACH)))
        while min(len(members[me].delivered) for me in victims) < EACH:
            await asyncio.sleep(0.001)
        for me in victims:
            members[me].process.send_signal(signal.SIGKILL)
        for me in victims:
            await members[me].reading
        others = [member for me, member in enumerate(members) if me not in victims]
        for member in others:
            member.tell("kept")
        while any(member.kept is None for member in others):
            await asyncio.sleep(0.001)
        held = "".join(text for member in others for text in member.kept or ())
        lost = [name for me in victims for name in members[me].delivered if name not in held]
        assert not lost, f"{victims} delivered {lost}, and nobody who is left has it"
        one = members[victims[0]].delivered
        assert all(one[: len(member.delivered)] == member.delivered[: len(one)] for member in members)
    finally:
        for member in members:
            if member.process.returncode is None:
                member.process.kill()
            await member.reading
            await member.process.wait()
        relay.close()
    assert relay.counts.dropped


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("protocol", "deliver", "victims"),
    [
        ("rbp-resilient", "all", (0, 1)),
        ("rbp-resilient", "2", (0,)),
        ("rbp-resilient", "2", (1,)),
        ("rbp-resilient", "3", (1, 2)),
        ("rbp", "2", (2,)),
        ("sequencer", "all", (0, 1)),
        ("totem", "2", (1,)),
    ],
)
def test_killing_one_member_fewer_than_have_a_message_loses_no_delivery(
    protocol: str, deliver: str, victims: tuple[int, ...], free_ports: Callable[[int], list[int]]
) -> None:
    """SIGKILL in the middle of a run: k members have what is delivered at k, so k - 1 may end."""

    async def bounded() -> None:
        async with asyncio.timeout(60):
            await survived(free_ports(MEMBERS), protocol, deliver, victims)

    asyncio.run(bounded())


def resilience(made: Implementation[Any], members: int = 4) -> Any:
    """Resilience with which a member's core was made."""
    return getattr(made.core(0, members, NULL_TRACER), "resilience", None)


def test_a_group_that_names_no_protocol_has_one_that_forgets_and_delivers_what_is_ordered() -> None:
    chosen = {deliver: delivering(None, deliver, 4) for deliver in (None, "ordered", 1, 2, 4, "all")}
    assert {made.messages.protocol for made in chosen.values()} == {DEFAULT}
    assert all(made.forgets for made in chosen.values())
    assert [resilience(made) for made in chosen.values()] == [1, 1, 1, 2, 4, 4]


@pytest.mark.parametrize(
    ("protocol", "deliver", "made_with"),
    [
        ("rbp-resilient", None, 0),
        ("rbp-resilient", "ordered", 1),
        ("rbp-resilient", 3, 3),
        ("dtp", None, 0),
        ("dtp", "ordered", 0),
        ("dtp", 3, 2),
        ("dtp", "all", 3),
    ],
)
def test_a_protocol_that_knows_who_has_a_message_takes_any_number(
    protocol: str, deliver: str | int | None, made_with: int
) -> None:
    """DTP counts the others, so one less; without `deliver` each does as it was made."""
    assert resilience(delivering(protocol, deliver, 4)) == made_with


def test_the_other_settings_of_a_protocol_stay() -> None:
    settings = {"resend_ms": 7.0, "request_ms": 8.0, "silence_ms": 9.0, "backoff_max": 3}
    for made in (rbp_resilient(**settings, resilience=4), dtp(**settings, resilience=3)):  # type: ignore[arg-type]
        plain, chosen = (each.core(0, 4, NULL_TRACER) for each in (made, delivering(made, "all", 4)))
        assert vars(plain)["_deadlines"].__dict__ == vars(chosen)["_deadlines"].__dict__
        assert resilience(delivering(made, None, 4)) == resilience(made)


@pytest.mark.parametrize("deliver", [0, 5, -1, "most", 2.0, True, ""])
def test_there_is_no_other_delivery(deliver: Any) -> None:
    told = f"deliver={deliver!r}: there is 'ordered', 'all', or how many of the 4 members have the message"
    with pytest.raises(UnknownDelivery) as refused:
        delivering("rbp-resilient", deliver, 4)
    assert str(refused.value) == told


def test_around_a_protocol_in_which_nobody_knows_who_has_a_message_the_layers_wait() -> None:
    with pytest.raises(UnknownProtocol, match="did you mean 'rbp'"):
        delivering("rpb", 2, 4)
    with pytest.raises(UnknownDelivery, match=r"deliver=3: there is .* how many of the 2 members"):
        Group("g", me=0, members=2, bind=("", 0), routes={}, key=None, protocol="rbp", deliver=3)
    assert delivering("sequencer", "all", 4).messages.protocol == "sequencer"
    holders = {
        name: (delivering(name, None, 4).holders, delivering(name, 3, 4).holders)
        for name in known_protocols()
    }
    knows = {"rbp-resilient": (0, 3), "dtp": (1, 3)}
    assert holders == dict.fromkeys(known_protocols(), (1, 1)) | knows
