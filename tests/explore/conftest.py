"""Small specifications that the tests of the explicit checker share, each made to show one thing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Annotated

import pytest

from antiphon.spec.examples.corner_cases import BeginsOften, CountsTooFar, NeverBegins
from antiphon.spec.examples.two_phase import RM, Abort, Commit, Phase, Prepared, Status, TwoPhase
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    action,
    emit,
    environment,
    everywhere,
    expect,
    invariant,
    obligation,
    on,
    present,
    record,
    require,
    witness,
)


class HastyCommit(TwoPhase):
    """Two-phase commit in which the manager does not wait: one resource manager aborts, another obeys."""

    @action
    def commit(self) -> None:
        require(self.phase is Phase.INIT)
        self.phase = Phase.COMMITTED
        self.messages |= {Commit()}


class Node(Index, size="nodes", ordered=True):
    """A receiver."""


class Letter(Index, size="letters", ordered=True):
    """A letter that is sent."""


@record
class Mail:
    """A letter on its way."""

    to: Node
    letter: Letter


@record
class Read:
    """A node reads a letter."""

    node: Node
    letter: Letter


class Post(Spec):
    """Letters travel in a set; they can be lost `losses` times, sent again while `again`, and read in any
    order.
    """

    nodes: Const[int] = 2
    letters: Const[int] = 2
    losses: Const[int] = 1
    again: Const[bool] = False

    sent: Annotated[int, Between(0, "letters")] = 0
    lost: Annotated[int, Between(0, "losses")] = 0
    flying: Set[Mail] = Set()
    inbox: Map[Node, Annotated[Seq[Letter], AtMost("letters")]] = everywhere(())

    @action
    def send(self, letter: Letter) -> None:
        require(letter.index == self.sent)
        self.sent += 1
        self.flying |= {Mail(node, letter) for node in self.each(Node)}

    @action
    def send_again(self, node: Node, letter: Letter) -> None:
        require(self.again and letter.index < self.sent and letter not in self.inbox[node])
        self.flying |= {Mail(node, letter)}

    @action
    def read(self, mail: Annotated[Mail, In("flying")]) -> None:
        self.flying -= {mail}
        if mail.letter not in self.inbox[mail.to]:
            self.inbox[mail.to] += (mail.letter,)
            emit(Read(mail.to, mail.letter))

    @environment
    def lose(self, mail: Annotated[Mail, In("flying")]) -> None:
        require(self.lost < self.losses)
        self.lost += 1
        self.flying -= {mail}

    @obligation
    def all_read(self) -> bool:
        return all(len(self.inbox[node]) == self.sent for node in self.each(Node))

    @witness
    def everything_read(self) -> bool:
        return self.sent == self.letters and all(
            len(self.inbox[node]) == self.letters for node in self.each(Node)
        )


class SameOrder(Spec):
    """A service: all nodes read in the order of the first who did."""

    order: Annotated[Seq[Letter], AtMost("letters")] = ()
    position: Map[Node, Annotated[int, Between(0, "letters")]] = everywhere(0)

    @on(Read)
    def judge(self, event: Read) -> None:
        place = self.position[event.node]
        if place < len(self.order):
            expect(self.order[place] == event.letter, "SameOrder")
        else:
            self.order += (event.letter,)
        self.position[event.node] = place + 1


class JudgedPost(Post, SameOrder):
    """The post promises no order, so the service breaks."""


class Lamp(Spec):
    """A lamp that can only blink once it is broken: `shines` stays reachable until then. Nothing is ever
    quiescent.
    """

    lit: bool = False
    broken: bool = False

    @action
    def switch(self) -> None:
        require(not self.broken)
        self.lit = not self.lit

    @action
    def blink(self) -> None:
        require(self.broken)
        self.lit = False

    @environment
    def fall(self) -> None:
        require(self.lit)
        self.broken = True
        self.lit = False

    @obligation
    def shines(self) -> bool:
        return self.lit


class Absent(Spec):
    """An invariant that looks into an absent value."""

    holder: Node | None = Node(0)
    nodes: Const[int] = 2

    @action
    def drop(self) -> None:
        self.holder = None

    @invariant
    def known(self) -> bool:
        return present(self.holder).index == 0


class BreaksBesideAnError(Spec):
    """From one state a step is a bug of the specification, and the next one breaks a property."""

    holder: Node | None = None
    nodes: Const[int] = 1
    letters: Const[int] = 1

    @action
    def look(self) -> None:
        self.holder = Node(present(self.holder).index)

    @action
    def read(self, p: Node, letter: Letter) -> None:
        emit(Read(p, letter))

    @on(Read)
    def nothing_is_read(self, event: Read) -> None:
        expect(False, "Silence")


@pytest.fixture
def specs() -> SimpleNamespace:
    """The specifications by name."""
    return SimpleNamespace(
        TwoPhase=TwoPhase, HastyCommit=HastyCommit, Post=Post, JudgedPost=JudgedPost, Lamp=Lamp,
        Overflow=CountsTooFar, Absent=Absent, BreaksBesideAnError=BreaksBesideAnError,
        Nothing=NeverBegins, Starts=BeginsOften, RM=RM, Abort=Abort, Prepared=Prepared, Status=Status,
    )  # fmt: skip
