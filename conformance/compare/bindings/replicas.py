"""Binding of primary-backup with sessions and the library's replicas.

| specification `PrimaryBackupSessions` | `Replica`, its snapshot                    |
|---------------------------------------|--------------------------------------------|
| waiting, executing, recorded          | waiting, executing, answers                |
| performed                             | the state of its service                   |
| unsent                                | what it has given to be broadcast          |
| content, replies                      | the encoded updates, and the answers       |
| current_view                          | the last `View` that it was given          |

The group and the clients belong to the environment. The group's machine is judged by itself, and the swarms
run the library's group (docs/swarm.md). The shell (`PrimaryBackup`) broadcasts at once what a replica gives
it. Here a broadcast waits for the specification's `submit`, so that a view may come between.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from msgspec import msgpack

from antiphon.conformance.compare.bindings.binding import Bound, Refused, told_faults
from antiphon.conformance.compare.bindings.plain import Declared, PlainBinding
from antiphon.conformance.compare.bindings.replicas_faults import FAULTS
from antiphon.impl import replication
from antiphon.impl.membership.member import Member, View
from antiphon.impl.replication import Elsewhere, Replica, decode_reply, decode_request, decode_update, encode
from antiphon.spec.lang import program
from antiphon.spec.protocols.primary_backup import sessions as spec
from antiphon.spec.protocols.primary_backup.sessions import PrimaryBackupSessionsChecked
from antiphon.spec.services import Broadcast, Crash, Deliver, Install

__all__ = ["REPLICAS", "Replicas"]

_GROUP = "the state of the group's machine, which is judged by itself"
_CLIENT = "the state of a client, which is in the environment"

EXEMPT: Mapping[str, str] = {
    **dict.fromkeys(
        ("view_members", "author", "sending_view", "delivery_view", "dead", "submitted", "count", "order",
         "base", "reached"), _GROUP,
    ),
    "sends": _CLIENT,
    "session": _CLIENT,
    "cut_record": "the record where a view began, which a joining process is given",
    "cut_state": "the state where a view began, which a joining process is given",
}  # fmt: skip

_PORT = 7_000


class Ledger:
    """Service whose state is the list of the requests that it has performed."""

    def __init__(self) -> None:
        self.performed: tuple[bytes, ...] = ()

    def execute(self, request: bytes) -> tuple[bytes, bytes]:
        """Return the number of requests before as the answer; fail for a request with an even number."""
        if msgpack.decode(request)[2] % 2 == 0:
            raise ValueError("an even number")
        return len(self.performed).to_bytes(), request

    def apply(self, update: bytes) -> None:
        """Add a request."""
        self.performed = (*self.performed, update)


class Replicas:
    """Replicas of one service, with what is between them and their group."""

    replica: ClassVar[type[Replica[int]]] = Replica

    def __init__(self, processes: int, joiners: int, messages: int, kept: int) -> None:
        self.messages = messages
        self.services = [Ledger() for _ in range(processes)]
        self.replicas = [self.replica(service, kept) for service in self.services]  # type: ignore[arg-type]
        self.unsent: list[list[bytes]] = [[] for _ in range(processes)]
        self.content: dict[int, bytes] = {}
        self.order: list[int] = []
        self.cuts: dict[int, tuple[bytes, tuple[bytes, ...]]] = {}
        self.sessions: dict[int, int] = {}
        self.replies: set[Any] = set()
        for p in range(processes - joiners):
            self.enter(p, 1, range(processes - joiners))

    def enter(self, p: int, number: int, members: Any) -> None:
        """Give a replica a view."""
        self.replicas[p].me = _member(p)
        self.replicas[p].enter(View(number, tuple(map(_member, sorted(members))), (), (), ()))

    def request(self, p: int, c: int, k: int) -> list[Any]:
        """Give a replica a request of a client."""
        session = self.sessions[c] if k else 0
        body = msgpack.encode((c, session, k))
        request = replication.Request(bytes([c]), session, k, body)
        self.replicas[p].requested(decode_request(encode(request)), c)
        return self.told(p)

    def hear(self, answer: spec.Answer) -> None:
        """Take an answer at a client."""
        if answer.counter == 0:
            self.sessions[answer.client] = answer.session  # type: ignore[index]

    def submit(self, p: int, m: int) -> list[Any]:
        """Broadcast the first update that waits for that."""
        if not self.unsent[p]:
            raise Refused(f"replica {p} has nothing to broadcast")
        self.content[m] = self.unsent[p].pop(0)
        return [Broadcast(p, m)]  # type: ignore[arg-type]

    def deliver(self, p: int, m: int) -> list[Any]:
        """Deliver an update, with its place in the common order."""
        if m not in self.order:
            self.order.append(m)
        self.replicas[p].settle(decode_update(self.content[m]), self.order.index(m) + 1)
        return [Deliver(p, m), *self.told(p)]  # type: ignore[arg-type]

    def install(self, p: int, v: int, members: frozenset[int]) -> list[Any]:
        """Give a replica a view; to one that joins the record and the state before."""
        replica, service = self.replicas[p], self.services[p]
        if v not in self.cuts:
            self.cuts[v] = (replica.record(), service.performed)
        if replica.primary is None:
            record, service.performed = self.cuts[v]
            replica.load_record(record)
        self.enter(p, v, members)
        return [Install(p, v, members), *self.told(p)]  # type: ignore[arg-type]

    def crash(self, p: int) -> list[Any]:
        """Crash a process: it does nothing more."""
        return [Crash(p)]  # type: ignore[arg-type]

    def commit_suicide(self, p: int) -> list[Any]:
        """Stop a process that was left out: it does nothing more."""
        return [Crash(p)]  # type: ignore[arg-type]

    def told(self, p: int) -> list[Any]:
        """Take what a replica gives to be sent and broadcast; return the events."""
        replica = self.replicas[p]
        events: list[Any] = []
        for to, content in replica.replies_to_send():
            reply = decode_reply(encode(content))
            if isinstance(reply, Elsewhere):
                events.append(spec.Named(p, to, reply.port - _PORT))  # type: ignore[arg-type]
            else:
                events.append(spec.Replied(p, _answer(reply)))  # type: ignore[arg-type]
                self.replies.add(_answer(reply))
        self.unsent[p] += map(encode, replica.updates_to_broadcast())
        replica.failures()
        return events

    def state(self) -> dict[str, Any]:
        """Return the compared variables."""
        kept = [replica.snapshot() for replica in self.replicas]
        content = {m: _update(data) for m, data in self.content.items()}
        return {
            "current_view": [0 if one.view is None else one.view.number for one in kept],
            "waiting": [[_request(wait.request) for wait in one.waiting] for one in kept],
            "executing": [one.executing for one in kept],
            "recorded": [[*map(_answer, one.answers)] for one in kept],
            "performed": [
                [spec.Request(*msgpack.decode(body)) for body in service.performed]
                for service in self.services
            ],
            "unsent": [[*map(_update, data)] for data in self.unsent],
            "content": [content.get(m) for m in range(self.messages)],
            "replies": frozenset(self.replies),
        }

    def snapshot(self) -> Hashable:
        """Return everything, immutable."""
        return (
            tuple(replica.snapshot() for replica in self.replicas),
            tuple(service.performed for service in self.services),
            tuple(map(tuple, self.unsent)),
            tuple(self.content.items()),
            tuple(self.order),
            tuple(self.cuts.items()),
            tuple(self.sessions.items()),
            frozenset(self.replies),
        )

    def restore(self, kept: Any) -> None:
        """Set everything to a snapshot."""
        replicas, performed, unsent, content, order, cuts, sessions, replies = kept
        for replica, one in zip(self.replicas, replicas, strict=True):
            replica.restore(one)
        for service, bodies in zip(self.services, performed, strict=True):
            service.performed = bodies
        self.unsent, self.content = [*map(list, unsent)], dict(content)
        self.order, self.cuts, self.sessions = list(order), dict(cuts), dict(sessions)
        self.replies = set(replies)


def _member(p: int) -> Member:
    return Member(bytes([p]) * 16, f"m{p}", "10.0.0.1", _PORT + p)


def _request(request: replication.Request) -> spec.Request:
    return spec.Request(request.client[0], request.session, request.counter)  # type: ignore[arg-type]


def _answer(answer: replication.Answer) -> spec.Answer:
    ran = answer.outcome is replication.Outcome.ANSWERED and answer.counter > 0
    after = int.from_bytes(answer.answer) if ran else 0
    outcome = spec.Outcome[answer.outcome.name.lower()]
    return spec.Answer(answer.client[0], answer.session, answer.counter, outcome, after)  # type: ignore[arg-type]


def _update(data: bytes) -> spec.Update:
    update = decode_update(data)
    return spec.Update(update.view, _answer(update.answer))


def _bind(*, fault: str | None = None, **constants: Any) -> PlainBinding:
    """Make the binding with these constants, and replicas, those of a planted fault if it is named."""
    kind = Replicas if fault is None else type("Replicas", (Replicas,), {"replica": FAULTS[fault]})
    return PlainBinding(kind, Declared(program(PrimaryBackupSessionsChecked, **constants), EXEMPT))


REPLICAS = Bound(
    _bind,
    small={"processes": 2, "messages": 2, "clients": 1, "joiners": 0},
    every={},
    random={"processes": 3, "messages": 6, "clients": 3, "requests": 2, "kept": 2, "views": 4, "joiners": 1},
    faults=told_faults(FAULTS),
)
"""Binding of the replicas of primary-backup."""
