"""Queues and logs are found in the text of a specification, and their messages are arrows."""

from typing import Annotated

import pytest

import antiphon
from antiphon.conformance.report.channels import Channels, Log, Queue, channels_of
from antiphon.conformance.report.diagram import Diagram, Fate, diagram
from antiphon.model.notation import compact_step
from antiphon.model.trace import Trace, replay
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Index,
    Map,
    Program,
    Seq,
    Spec,
    action,
    environment,
    everywhere,
    program,
    require,
)


class Node(Index, size="nodes"):
    """A process."""


Letter = Annotated[int, Between(0, 2)]
Letters = Annotated[Seq[Letter], AtMost(4)]


class Posting(Spec):
    """Nodes write into the mailboxes of others, and keep what they have read in a list of their own."""

    nodes: Const[int] = 3
    inbox: Map[Node, Letters] = everywhere(())
    read: Map[Node, Letters] = everywhere(())

    @action
    def post(self, p: Node, q: Node, letter: Letter) -> None:
        """Write a letter to another node."""
        require(p != q and len(self.inbox[q]) < 3)
        self.put(q, letter)

    def put(self, to: Node, letter: Letter) -> None:
        """Put a letter into a mailbox."""
        self.inbox[to] += (letter,)

    @action
    def take(self, p: Node) -> None:
        """Read the first letter."""
        require(len(self.inbox[p]) > 0 and len(self.read[p]) < 3)
        self.read[p] += (self.inbox[p][0],)
        self.inbox[p] = self.inbox[p][1:]

    @action
    def forget(self, p: Node) -> None:
        """Forget the letter that was read first."""
        require(len(self.read[p]) > 0)
        self.read[p] = self.read[p][1:]

    @environment
    def swap(self, p: Node) -> None:
        """Let the first letter be overtaken."""
        require(len(self.inbox[p]) > 1)
        self.inbox[p] = self.inbox[p][1:] + (self.inbox[p][0],)  # noqa: RUF005

    @environment
    def lose(self, p: Node, i: Annotated[int, Between(0, 3)]) -> None:
        """Lose any letter."""
        require(i < len(self.inbox[p]))
        self.inbox[p] = self.inbox[p][:i] + self.inbox[p][i + 1 :]


def run(spec: Program, *names: str) -> Trace:
    """Return the run of these steps."""
    start = spec.reference.initial()[0]
    state, steps = start, []
    for name in names:
        (step,) = (one for one in spec.reference.enabled(state) if compact_step(one) == name)
        steps.append(step)
        state = spec.reference.apply(state, step).state
    return replay(spec, start, steps)


def arrows(drawn: Diagram) -> list[tuple[str, int | None, int, int | None, int | None, str]]:
    """Return of each arrow its label, its source with the step, its target with the step, and its fate."""
    return [
        (one.label, one.source, one.begin, one.target, one.end, one.fate.value) for one in drawn.arrows
    ]


@pytest.fixture(scope="module")
def posting() -> Program:
    return program(Posting)


def test_a_mailbox_is_a_queue_and_a_list_of_its_own_is_none(posting: Program) -> None:
    assert channels_of(posting) == Channels((), (Queue("inbox", 0),), ())


def test_the_queues_and_logs_of_the_protocols_are_found() -> None:
    found = {
        name: (channels.queues, channels.logs)
        for name in ("sequencer", "horus-total", "horus-flush-stack", "alternating-bit", "totem-ring", "raft")
        if (channels := channels_of(antiphon.program(name)))
    }
    assert found == {
        "sequencer": ((Queue("channel", 1),), (Log("log", "heard"),)),
        "horus-total": ((Queue("queue", 1),), ()),
        "horus-flush-stack": ((Queue("channel", 1),), ()),
        "alternating-bit": ((Queue("messages", None), Queue("acknowledgements", None)), ()),
        "totem-ring": ((), ()),
        "raft": ((), ()),
    }


def test_equal_letters_are_received_in_the_order_of_sending(posting: Program) -> None:
    drawn = diagram(
        run(posting, "post(n0, n1, 2)", "post(n2, n1, 2)", "take(n1)", "post(n0, n1, 2)", "take(n1)")
    )
    assert arrows(drawn) == [
        ("2", 0, 1, 1, 3, "received"),
        ("2", 2, 2, 1, 5, "received"),
        ("2", 0, 4, 1, None, "flying"),
    ]
    assert [event.label for event in drawn.events][2] == "take ← 2"
    assert drawn.kinds == {"inbox": 0}


def test_what_overtakes_stays_in_flight_and_what_is_lost_in_between_is_lost(posting: Program) -> None:
    posts = ("post(n0, n1, 0)", "post(n2, n1, 1)", "post(n0, n1, 2)")
    drawn = diagram(run(posting, *posts, "swap(n1)", "take(n1)", "lose(n1, 0)", "take(n1)"))
    assert arrows(drawn) == [
        ("0", 0, 1, 1, 7, "received"),
        ("1", 2, 2, 1, 5, "received"),
        ("2", 0, 3, 1, 6, "lost"),
    ]


def test_a_multicast_goes_to_each_reader_and_a_forward_to_the_coordinator() -> None:
    spec = antiphon.program("sequencer")
    names = ("send(p1, m0)", "receive_forward(p0, p1)", "receive_data(p2, p0)")
    drawn = diagram(run(spec, *names))
    found = {(one.kind, one.source, one.begin, one.target, one.end, one.fate) for one in drawn.arrows}
    assert found == {
        ("Forward", 1, 1, 0, 2, Fate.RECEIVED),
        ("Data", 0, 2, 2, 3, Fate.RECEIVED),
        ("Data", 0, 2, 1, None, Fate.FLYING),
    }
    assert drawn.events[1].label == "receive_forward p1 ← Forward(1, m0)"


def test_a_queue_without_members_is_drawn_on_the_lane_of_the_system() -> None:
    spec = antiphon.program("alternating-bit")
    drawn = diagram(run(spec, "send_new_value(d1)", "send_again()", "receive_message()", "lose_message(0)"))
    assert drawn.lanes == ("system",)
    assert arrows(drawn) == [
        ("Message(1, d1)", 0, 1, 0, 3, "received"),
        ("Message(1, d1)", 0, 2, None, 4, "lost"),
    ]
