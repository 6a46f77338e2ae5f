"""Bytes that nobody can read, wherever they stand in a datagram, are counted and end no member.

A later version may add fields to a member and to a request to join, so that a decoder skips what stands
there: also arrays that are nested a hundred thousand times. And a text may be no UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Raw, msgpack

from antiphon.impl.errors import Rejection
from antiphon.impl.layers.links import Links
from antiphon.impl.membership import reformation, view_change
from antiphon.impl.membership.consensus import Decide, Estimate, Proposal
from antiphon.impl.membership.datagrams import HEAD, DatagramKind, Join, No, Welcome
from antiphon.impl.membership.member import Member
from antiphon.impl.membership.view_change import Decision, Kind, Offer, ReportMessage
from antiphon.impl.primary_backup import Client, PrimaryBackup
from antiphon.impl.protocols.flush import Report
from antiphon.impl.replication import Answer, Elsewhere, Outcome, Request
from antiphon.impl.transport.simulated_members import SimulatedMembers

NESTED = Raw(b"\x91" * 100_000 + b"\x90")
NO_TEXT = Raw(b"\xa2\xff\xfe")

APPLICANT = Member(b"a" * 16, "a", "10.0.0.9", 7009)
REPORT = Report(0, (0, 0, 0), (), ())
DECISION = Decision(Kind.REGULAR, (0, 1, 2), (APPLICANT,), (), REPORT)
ENDS = reformation.Ends((0, 1, 2), (APPLICANT,), ())

CHANGES = {
    "irbp": (
        ReportMessage(REPORT, (APPLICANT,), False, ()),
        Estimate(1, DECISION, 0), Proposal(1, DECISION), Decide(DECISION), Offer(DECISION),
        view_change.Call(Kind.REGULAR),
    ),
    "rbp-reforming": (
        reformation.Vote(3, 1, 0, 0, 1, ENDS, (APPLICANT,), False, (), ()),
        reformation.NewList(3, (0, 1), (), ENDS), reformation.Over(ENDS, 1, 0, ()), reformation.Token(3),
    ),
}  # fmt: skip
"""Messages of each kind of change, with an applicant wherever there may be one."""

STATES = (("refused", "why"), ("begun", 1, 1), ("anew", "why"), ("ended", b"digest"))
"""Answers of a donor, behind the byte that says so."""


def unreadable(message: object) -> Iterator[bytes]:
    """Yield the bytes of a message with one text that is none, or with one array that has something nested at
    its end.
    """

    def spoilt(tree: Any) -> Iterator[Any]:
        if isinstance(tree, str):
            yield NO_TEXT
        elif isinstance(tree, list):
            yield [*tree, NESTED]
            for place, part in enumerate(tree):
                yield from ([*tree[:place], other, *tree[place + 1 :]] for other in spoilt(part))

    yield from map(msgpack.encode, spoilt(msgpack.decode(msgpack.encode(message))))


def group(protocol: str) -> SimulatedMembers:
    """Three members in their first view."""
    simulation = SimulatedMembers(3, 1, protocol=protocol)
    simulation.found(range(3))
    simulation.run(1_000.0)
    assert len(simulation.life(0).views) == 1
    return simulation


@pytest.mark.parametrize("protocol", CHANGES)
def test_a_change_of_the_list_survives_what_nobody_can_read(protocol: str) -> None:
    simulation = group(protocol)
    life, other = simulation.life(0), simulation.life(2).member
    epoch = life.machine.epoch
    assert epoch is not None
    links = Links(epoch.places[other.incarnation], 3, segment_bytes_max=2**14)
    head = HEAD.pack(DatagramKind.LINK, epoch.roster.number)
    count = 0
    for message in CHANGES[protocol]:
        for data in unreadable(message):
            for at in range(0, len(data), 2**14):
                last = at + 2**14 >= len(data)
                links.send(epoch.me, (b"\x00" if last else b"\x01") + data[at : at + 2**14])
                for _, segment in links.outputs(simulation.now):
                    life.machine.datagram_received(other.incarnation, other.address, head + segment, 1_000.0)
                for _, answer in epoch.link_datagrams(1_000.0):
                    links.received(epoch.me, answer, 1_000.0)
            count += 1
    assert epoch.rejected == count > 20
    assert life.machine.epoch is epoch
    assert not epoch.change.called


def test_requests_and_answers_of_joining_processes_survive_what_nobody_can_read() -> None:
    simulation = group("irbp")
    simulation.addresses.append(APPLICANT.address)
    member, joining = simulation.life(0).machine, SimulatedMembers(2, 1).begin(1).machine
    welcome = Welcome(1, 1, (APPLICANT, joining.me), 0, (0, 0))
    for machine, kind, message in (
        (member, DatagramKind.JOIN, Join(APPLICANT, "irbp")),
        (joining, DatagramKind.WELCOME, welcome),
        (joining, DatagramKind.NO, No("why", False)),
    ):
        some = list(unreadable(message))
        before = machine.dropped[Rejection.MALFORMED]
        for data in some:
            datagram = HEAD.pack(kind, 0) + data
            machine.datagram_received(APPLICANT.incarnation, APPLICANT.address, datagram, 1_000.0)
        assert machine.dropped[Rejection.MALFORMED] - before == len(some) >= 2
        assert not machine.over


def test_a_transfer_survives_what_nobody_can_read() -> None:
    simulation = group("irbp")
    machine, other = simulation.life(0).machine, simulation.life(1).member
    count = 0
    for message in STATES:
        for data in unreadable(message):
            machine.transfers.ask(other.incarnation, 0, 1_000.0)
            count += 1
            link = Links(1, 2, segment_bytes_max=2**18)
            link.send(0, b"\x01" + data)
            ((_, segment),) = link.outputs(1_000.0)
            datagram = HEAD.pack(DatagramKind.STATE, -count) + segment
            machine.datagram_received(other.incarnation, other.address, datagram, 1_000.0)
    assert machine.dropped[Rejection.MALFORMED] == count > 4
    assert machine.transfers.waits


def test_a_service_and_its_client_survive_what_nobody_can_read() -> None:
    class Group:
        """The part of a group that a service needs before it is open."""

        state: Any = None
        group, keys, me = "g", None, APPLICANT

    replica = PrimaryBackup(Group(), object())  # type: ignore[arg-type]
    client = Client("g", [APPLICANT.address], None)
    answer = Answer(b"c", 1, 1, Outcome.ANSWERED, b"")
    some = list(unreadable(Request(b"c", 1, 1, b"")))
    for data in some:
        replica._received(APPLICANT.address, b"s" * 16, data)
    assert replica._port.dropped[Rejection.MALFORMED] == len(some)
    some = [*unreadable(answer), *unreadable(Elsewhere("host", 7000))]
    for data in some:
        client._received(APPLICANT.address, b"s" * 16, data)
    assert client._port.dropped[Rejection.MALFORMED] == len(some) >= 3
