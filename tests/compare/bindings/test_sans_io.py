"""Snapshots of any object, and the base of bindings that is made of them."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any

import pytest

from antiphon import lockstep
from antiphon.conformance.compare.bindings.freezing import Unfreezable, freeze, thaw
from antiphon.spec.lang import Between, Const, In, Index, Set, Spec, action, emit, record, require
from antiphon.testing import Refused, SansIO, binding


class Phase(Enum):
    RESTS = 1
    WORKS = 2


@dataclass
class Node:
    number: int
    peers: list[Node] = field(default_factory=list)


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self, left: object, right: object) -> None:
        self.left, self.right = left, right

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted) and (self.left, self.right) == (other.left, other.right)

    def __hash__(self) -> int:
        return hash((self.left, self.right))

    def __repr__(self) -> str:
        return f"Slotted({self.left!r}, {self.right!r})"


VALUES: tuple[Any, ...] = (
    0, True, 1.5, float("-inf"), "text", b"bytes", None, Phase.WORKS, (), (1, [2, {3}]), [[], []],
    {"a": [1], 2: {"b"}},
    {1, 2, 3}, frozenset({(1, 2)}), bytearray(b"ab"), deque([1, 2], maxlen=3), Counter("hello"),
    defaultdict(list, {1: [2]}), Slotted([1], {2}), Node(1, [Node(2), Node(3)]), {Phase.RESTS: Slotted(1, 2)},
)  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_what_thaws_is_equal_of_the_same_types_and_another_object(value: Any) -> None:
    frozen = freeze(value)
    hash(frozen)
    again = thaw(frozen)
    assert (again, type(again)) == (value, type(value))
    assert freeze(again) == frozen
    if isinstance(value, list | dict | set | deque):
        assert again is not value


def test_values_that_python_calls_equal_and_code_may_tell_apart_differ() -> None:
    assert len({freeze(value) for value in (1, True, 1.0)}) == 3
    assert freeze([1, 2]) != freeze([2, 1])
    assert freeze({"a": 1, "b": 2}) != freeze({"b": 2, "a": 1})
    assert freeze({1, 2}) == freeze({2, 1})
    assert freeze(0.0) != freeze(-0.0)


def test_what_is_no_number_is_one_state_though_it_does_not_equal_itself() -> None:
    assert freeze([float("nan")]) == freeze([float("nan")])
    assert str(thaw(freeze(float("nan")))) == "nan"


def test_equal_states_that_came_about_in_other_ways_are_one() -> None:
    one, other = {"text": [b"ab".decode()]}, {"text": ["ab"]}
    assert freeze(one) == freeze(other)


def test_one_object_in_two_places_stays_one_and_a_circle_a_circle() -> None:
    shared = [1]
    left, right = thaw(freeze([shared, shared]))
    assert left is right
    left, right = thaw(freeze([[1], [1]]))
    assert left is not right
    assert freeze([shared, shared]) != freeze([[1], [1]])
    node = Node(1)
    node.peers.append(node)
    again = thaw(freeze(node))
    assert again.peers[0] is again


def test_chance_goes_on_where_it_was() -> None:
    chance = random.Random(7)
    chance.random()
    again = thaw(freeze(chance))
    assert [again.random() for _ in range(5)] == [chance.random() for _ in range(5)]


def test_what_cannot_be_kept_is_named() -> None:
    with socket.socket() as open_socket, pytest.raises(Unfreezable, match="socket"):
        freeze({"connection": open_socket})
    with pytest.raises(Unfreezable, match="cannot be told apart"):
        freeze({object(), object()})


# A counter that is asked over a network ---------------------------------------------------------------------


class Client(Index, size="clients"):
    """A client."""


@record
class Add:
    """A request."""

    client: Client
    amount: Annotated[int, Between(1, 2)]


@record
class Counted:
    """The event that a request was counted."""

    amount: Annotated[int, Between(1, 2)]


class Sums(Spec):
    """Requests are added up, each once, and told."""

    clients: Const[int] = 2
    network: Set[Add] = Set()
    asked: Set[Client] = Set()
    total: Annotated[int, Between(0, 4)] = 0

    @action
    def ask(self, c: Client, amount: Annotated[int, Between(1, 2)]) -> None:
        """A client asks once."""
        require(c not in self.asked)
        self.asked |= {c}
        self.network |= {Add(c, amount)}

    @action
    def hear(self, message: Annotated[Add, In("network")]) -> None:
        """The server counts it."""
        self.network -= {message}
        self.total += message.amount
        emit(Counted(message.amount))


def encode(message: Any) -> bytes:
    return json.dumps([message.client, message.amount]).encode()


def decode(data: bytes) -> Any:
    return Add(*json.loads(data))


class Ledger:
    def __init__(self) -> None:
        self.seen: list[int] = []

    def on_add(self, amount: int) -> None:
        self.seen.append(amount)


@binding(Sums)
class Real(SansIO):
    encode = encode
    decode = decode

    def __init__(self) -> None:
        self.ledger, self.asked = Ledger(), set[int]()

    def ask(self, c: int, amount: int) -> None:
        self.asked.add(c)
        self.send(Add(c, amount))  # type: ignore[arg-type]

    def hear(self, message: Any) -> None:
        arrived = self.receive(message)
        self.ledger.on_add(arrived.amount)
        self.emit(Counted(arrived.amount))

    def state(self) -> dict[str, object]:
        return {"network": self.network, "asked": self.asked, "total": sum(self.ledger.seen)}


def test_every_state_of_the_code_is_walked_and_agrees() -> None:
    report = lockstep(Real)
    assert report.outcome.value == "holds"
    assert report.pairs > report.states  # 1, then 2, or 2, then 1: two states of the code


def test_a_message_that_its_encoding_changes_is_found_with_the_steps() -> None:
    class Cut(Real):
        encode = staticmethod(lambda message: json.dumps([message.client, 1]).encode())

    report = lockstep(Cut)
    assert report.outcome.value == "violated"
    assert [step.action for step in report.difference.trace.steps] == ["ask", "hear"]


def test_an_event_that_is_not_emitted_is_found() -> None:
    class Silent(Real):
        def emit(self, *events: object) -> None:
            """Drop the events."""

    report = lockstep(Silent)
    assert report.outcome.value == "violated"
    assert "event" in str(report.difference.what)


def test_a_message_that_is_not_there_is_refused_and_one_that_stays_arrives_again() -> None:
    class Twice(Real):
        def hear(self, message: Any) -> None:
            self.receive(message, stays=self.stays)
            super().hear(message)

        stays = False

    class Stays(Twice):
        stays = True

    report = lockstep(Twice)
    assert report.outcome.value == "violated"
    assert "is not in the network" in str(report)
    assert lockstep(Stays).outcome.value == "holds"


# Queues between the processes -------------------------------------------------------------------------------


class Echo:
    """Code of one process, whose method for what it sends has a name of its own."""

    def __init__(self, number: int, count: int) -> None:
        self.number, self.count = number, count
        self.waiting: list[tuple[int, str]] = []

    def say(self, text: str) -> None:
        """Send a text to all."""
        self.waiting += [(to, text) for to in range(self.count) if to != self.number]

    def datagrams(self) -> list[tuple[int, str]]:
        """Return what is to be sent, once."""
        sent, self.waiting = self.waiting, []
        return sent


class Echoes(SansIO):
    core = Echo
    encode = staticmethod(lambda text: text.encode())
    decode = staticmethod(lambda data: data.decode().upper())

    def outputs(self, core: Echo) -> list[tuple[int, str]]:
        return core.datagrams()


def test_what_the_cores_send_is_put_into_queues_that_keep_its_order() -> None:
    system = Echoes(processes=3)
    start = system.snapshot()
    for text in ("one", "two"):
        system.cores[0].say(text)
        assert system.collected(None) is None
    assert system.queues() == [[[], ["one", "two"], ["one", "two"]], [[], [], []], [[], [], []]]
    assert system.queues(len)[0] == [[], [3, 3], [3, 3]]
    assert (system.first(0, 1), system.first(0, 1)) == ("ONE", "TWO")
    with pytest.raises(Refused, match="nothing is under way from 0 to 1"):
        system.first(0, 1)
    assert (system.first(0, 2), system.first(0, 2)) == ("ONE", "TWO")
    assert system.snapshot() == start


def test_queues_that_hold_the_same_are_one_state_in_whatever_order_they_were_filled() -> None:
    one, other = Echoes(processes=2), Echoes(processes=2)
    for system, senders in ((one, (0, 1)), (other, (1, 0))):
        for sender in senders:
            system.cores[sender].say("text")
            system.collected(None)
    assert one.snapshot() == other.snapshot()
    other.put(0, 1, "text")
    assert one.snapshot() != other.snapshot()
    other.restore(one.snapshot())
    assert other.queues() == one.queues()


def test_a_step_that_the_code_does_not_take_is_refused() -> None:
    Echoes().require(1)
    with pytest.raises(Refused, match="the code does not take the step"):
        Echoes().require(0)
