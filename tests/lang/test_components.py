"""Instances of a specification within another are the same as if they had been written out by hand, in every
reading.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

import pytest

import antiphon
from antiphon.spec.examples.voting import Voting
from antiphon.spec.lang import (
    Between,
    Const,
    In,
    Index,
    Map,
    Set,
    Spec,
    SpecError,
    action,
    always_eventually,
    constraint,
    emit,
    environment,
    eventually,
    everywhere,
    fair,
    guard,
    initial,
    instance,
    invariant,
    on,
    program,
    record,
    repair,
    require,
    witness,
)

Number = Annotated[int, Between(0, "numbers")]
M = TypeVar("M")


class Slot(Index, size="slots", ordered=True):
    """A place in the log."""


class Node(Index, size="nodes", symmetric=True):
    """A node that takes part."""


@record
class Ask:
    """A number is asked for."""

    number: Number


class Sizes(Spec):
    """Numbers of nodes and of values."""

    numbers: Const[int] = 2
    nodes: Const[int] = 2


class Cell(Sizes):
    """Is written once, by whoever is up, and read."""

    value: Number = 0
    readers: Set[Node] = Set()

    def is_free(self) -> bool:
        """The cell is empty."""
        return self.value == 0

    def put(self, n: Number) -> None:
        """A procedure."""
        self.value = n

    @action(fairness="weak")
    def write(self, n: Number) -> None:
        """Write once."""
        require(self.is_free() and n > 0)
        self.put(n)

    @action
    def read(self, p: Node) -> None:
        """Read, by any node."""
        require(not self.is_free())
        self.readers |= {p}

    @environment
    def forget(self, p: Annotated[Node, In("readers")]) -> None:
        """Forget a reader."""
        self.readers -= {p}

    @constraint("read")
    def IsEarly(self) -> bool:
        """Constraint on the explored states: fewer than two readers."""
        return len(self.readers) < 2

    @invariant
    def ReadWhatIsThere(self) -> bool:
        """Readers read a written cell."""
        return len(self.readers) == 0 or not self.is_free()

    @witness
    def BothRead(self) -> bool:
        """Both nodes have read."""
        return len(self.readers) == 2

    is_written = eventually("is_full")

    def is_full(self) -> bool:
        """The cell is written."""
        return not self.is_free()


class Rewritable(Cell):
    """A cell whose action calls `super()`."""

    @action(fairness="weak")
    def write(self, n: Number) -> None:
        """Write before anybody has read."""
        require(len(self.readers) == 0)
        super().write(n)


class Two(instance(Rewritable, "left"), instance(Rewritable, "right")):
    """Two cells; the right one is written later."""

    @action(fairness="weak")
    def right_write(self, n: Number) -> None:
        require(not self.left_is_free())
        super().right_write(n)

    @invariant
    def InOrder(self) -> bool:
        """The left one first."""
        return self.right_value == 0 or self.left_value > 0


class Log(instance(Cell, "slot", each=Slot)):
    """A cell for each slot."""

    slots: Const[int] = 2

    @invariant
    def Written(self) -> bool:
        """By its variable, and by its helper."""
        return all(self.slot_is_free(s) == (self.slot_value[s] == 0) for s in self.each(Slot))


class ByHand(Sizes):
    """The same log, with the index written out."""

    slots: Const[int] = 2
    slot_value: Map[Slot, Number] = everywhere(0)
    slot_readers: Map[Slot, Set[Node]] = everywhere(Set())

    @action(fairness="weak", per="slot")
    def slot_write(self, slot: Slot, n: Number) -> None:
        """Write once."""
        require(self.slot_value[slot] == 0 and n > 0)
        self.slot_value[slot] = n

    @action
    def slot_read(self, slot: Slot, p: Node) -> None:
        """Read, by any node."""
        require(self.slot_value[slot] != 0)
        self.slot_readers[slot] |= {p}

    @environment
    def slot_forget(self, slot: Slot, p: Node) -> None:
        """Forget a reader."""
        require(p in self.slot_readers[slot])
        self.slot_readers[slot] -= {p}

    @constraint("slot_read")
    def slot_IsEarly(self, slot: Slot) -> bool:
        """Constraint on the explored states: fewer than two readers."""
        return len(self.slot_readers[slot]) < 2

    @invariant
    def slot_ReadWhatIsThere(self) -> bool:
        """Readers read a written cell."""
        return all(len(self.slot_readers[s]) == 0 or self.slot_value[s] > 0 for s in self.each(Slot))

    @witness
    def slot_BothRead(self) -> bool:
        """Both nodes have read."""
        return any(len(self.slot_readers[s]) == 2 for s in self.each(Slot))

    slot_is_written = eventually("slot_is_full")

    def slot_is_full(self, slot: Slot) -> bool:
        """The cell is written."""
        return self.slot_value[slot] > 0


ENGINES: list[dict[str, Any]] = [{"engine": name} for name in ("reference", "generated", "native")]


def told(spec: type[Spec], **how: Any) -> Any:
    """Size of the exploration, and each verdict with the length of its trace."""
    report = antiphon.check(spec, **how)
    verdicts = {item.property: (item.outcome.value, len(item.trace or ())) for item in report.verdicts}
    verdicts.pop("Written", None)
    explored = report.exploration
    return explored.states, explored.transitions, explored.depth, verdicts


@pytest.mark.parametrize("how", ENGINES, ids=lambda how: str(how["engine"]))
def test_an_instance_for_each_index_is_what_one_writes_by_hand(how: dict[str, Any]) -> None:
    log = told(Log, **how)
    assert log == told(ByHand, **how)
    assert log[0] == 81
    assert log[3]["slot_is_written"] == ("holds", 0)


class Wire(Spec):
    """Carries one number at a time."""

    numbers: Const[int] = 2
    carried: Number = 0

    @action(fairness="weak")
    def send(self, n: Number) -> None:
        """Send while the wire is free."""
        require(self.carried == 0 and n > 0)
        self.carried = n

    @action
    def receive(self) -> None:
        """Receive, and free the wire."""
        require(not self.is_idle())
        self.carried = 0

    def is_idle(self) -> bool:
        """The wire is free."""
        return self.carried == 0

    @witness
    def Busy(self) -> bool:
        """The greatest number is on its way."""
        return self.carried == self.numbers

    @invariant
    def Free(self) -> bool:
        """Invariant that is false."""
        return self.is_idle()

    again = always_eventually("is_idle")


class FromOne(instance(Wire, "to", each=Slot)):
    """The wires from one slot."""


class Wires(instance(FromOne, "wire", each=Slot)):
    """A wire for each pair of slots."""

    slots: Const[int] = 2


class WiresByHand(Spec):
    """The same, with both indices written out."""

    slots: Const[int] = 2
    numbers: Const[int] = 2
    wire_to_carried: Map[Slot, Map[Slot, Number]] = everywhere(everywhere(0))

    @action(fairness="weak", per=("wire", "to"))
    def wire_to_send(self, wire: Slot, to: Slot, n: Number) -> None:
        """Send while the wire is free."""
        require(self.wire_to_carried[wire][to] == 0 and n > 0)
        self.wire_to_carried[wire][to] = n

    @action
    def wire_to_receive(self, wire: Slot, to: Slot) -> None:
        """Receive, and free the wire."""
        require(not self.wire_to_is_idle(wire, to))
        self.wire_to_carried[wire][to] = 0

    def wire_to_is_idle(self, wire: Slot, to: Slot) -> bool:
        """The wire is free."""
        return self.wire_to_carried[wire][to] == 0

    @witness
    def wire_to_Busy(self) -> bool:
        """The greatest number is on its way."""
        return any(
            self.wire_to_carried[p][q] == self.numbers for p in self.each(Slot) for q in self.each(Slot)
        )

    @invariant
    def wire_to_Free(self) -> bool:
        """Invariant that is false."""
        return all(self.wire_to_is_idle(p, q) for p in self.each(Slot) for q in self.each(Slot))

    wire_to_again = always_eventually("wire_to_is_idle")


@pytest.mark.parametrize("how", ENGINES, ids=lambda how: str(how["engine"]))
def test_an_instance_of_an_instance_is_there_for_each_pair(how: dict[str, Any]) -> None:
    wires = told(Wires, **how)
    assert wires == told(WiresByHand, **how)
    assert wires[0] == 3**4
    assert wires[3] == {
        "wire_to_Free": ("violated", 1), "wire_to_Busy": ("holds", 1), "wire_to_again": ("violated", 7)
    }  # fmt: skip


def test_z3_and_symmetry_read_instances_too() -> None:
    for how in ({"engine": "z3", "max_depth": 4}, {"symmetry": True, "properties": ["slot_ReadWhatIsThere"]}):
        assert told(Log, **how) == told(ByHand, **how)
    assert "slot_write" in str(
        antiphon.check(Log, prove=True, properties=["slot_ReadWhatIsThere"]).program.module
    )


View = Annotated[int, Between(1, 3)]


class Written(Spec):
    """A number that is written once."""

    value: bool = False

    @action
    def write(self) -> None:
        """Write once."""
        require(not self.value)
        self.value = True


class WrittenInViews(instance(Written, "view", each=View)):  # type: ignore[misc]
    """One for each view, from the first on."""

    @invariant
    def FromTheFirst(self) -> bool:
        """A view is written after the one before it."""
        return all(
            self.view_value[v] or not self.view_value[w]
            for v in self.each(View)
            for w in self.each(View)
            if v < w
        )

    @action
    def view_write(self, view: View) -> None:
        """After those before it."""
        require(all(self.view_value[v] for v in self.each(View) if v < view))
        super().view_write(view)


def test_there_is_an_instance_for_each_number_of_a_range() -> None:
    report = antiphon.check(WrittenInViews)
    assert (report.outcome, report.exploration.states) == ("holds", 4)


def test_instances_share_constants_and_no_variable_and_are_overridden_with_super() -> None:
    bound = program(Two)
    assert bound.variables == ("right_value", "right_readers", "left_value", "left_readers")
    assert bound.constants == {"numbers": 2, "nodes": 2}
    report = antiphon.check(Two)
    assert {item.property: item.outcome.value for item in report.verdicts} == {
        "right_ReadWhatIsThere": "holds", "right_BothRead": "holds", "left_ReadWhatIsThere": "holds",
        "left_BothRead": "holds", "InOrder": "holds", "right_is_written": "holds", "left_is_written": "holds",
    }  # fmt: skip


class Blinker(Spec):
    """Goes on and off."""

    is_lit: bool = False

    @action(fairness="weak")
    def blink(self) -> None:
        """Switch on or off."""
        self.is_lit = not self.is_lit

    def shines(self) -> bool:
        """The lamp is lit."""
        return self.is_lit

    comes_on = always_eventually("shines")


class Lights(instance(Blinker, "lamp", each=Slot)):
    """One at each place."""

    slots: Const[int] = 2


def test_fairness_is_promised_to_each_member() -> None:
    """A member that blinks for ever keeps no other one dark."""
    assert antiphon.check(Lights)["lamp_comes_on"].outcome == "holds"


class Votes(instance(Voting, "slot", each=Slot)):
    """A ballot box for each slot, of another module."""

    slots: Const[int] = 2


def test_members_that_know_nothing_of_each_other_multiply() -> None:
    sizes = {"acceptors": 2, "ballots": 1}
    one, two = (
        antiphon.check(antiphon.program(Voting, **sizes)),
        antiphon.check(antiphon.program(Votes, **sizes)),
    )
    assert two.exploration.states == one.exploration.states**2
    assert two.outcome == one.outcome == "holds"


class Channel(Spec, Generic[M]):
    """Messages in flight."""

    flying: Set[M] = Set()

    def send(self, message: M) -> None:
        """Put the message in flight."""
        self.flying |= {message}

    @environment
    def lose(self, message: Annotated[M, In("flying")]) -> None:
        """Lose one message."""
        self.flying -= {message}


class Asking(Sizes, instance(Channel[Ask], "up"), instance(Channel[Node], "down")):
    """Questions go up, and who is meant comes down."""

    asked: Number = 0

    @action
    def ask(self) -> None:
        """One after the other."""
        require(self.asked < self.numbers)
        self.asked += 1
        self.up_send(Ask(self.asked))

    @action
    def answer(self, question: Annotated[Ask, In("up_flying")], p: Node) -> None:
        """Answer with any node."""
        self.up_flying -= {question}
        self.down_send(p)


def test_a_generic_component_gets_its_message_type() -> None:
    assert [
        str(step) for step in program(Asking).reference.enabled(program(Asking).reference.initial()[0])
    ] == ["ask()"]
    states = antiphon.check(Asking, engine="native", properties=["deadlock"]).exploration.states
    assert states == 1 + 4 + 11, "by how many were asked; as many messages as that at most"


class Living(Sizes):
    """Nodes that are down do nothing."""

    down: Map[Node, bool] = everywhere(False)
    done: Map[Node, bool] = everywhere(False)

    @guard
    def is_up(self, p: Node) -> bool:
        """P is not down."""
        return not self.down[p]

    @initial
    def begin(self, p: Node) -> None:
        """Begin with one node down."""
        self.down[p] = True

    @action
    def do(self, p: Node) -> None:
        """Do the work once."""
        require(not self.done[p])
        self.done[p] = True

    progress = fair("do", per="p")


class Rooms(instance(Living, "room", each=Slot)):
    """A group in each."""

    slots: Const[int] = 2

    @initial
    def begin(self, p: Node) -> None:
        """The same one is down everywhere."""
        for s in self.each(Slot):
            self.room_begin(s, p)


def test_guards_on_the_actor_and_beginnings_are_those_of_each_member() -> None:
    machine = program(Rooms).reference
    starts = machine.initial()
    assert len(starts) == 2
    assert [str(step) for step in machine.enabled(starts[0])] == [
        "room_do(Slot(0), Node(1))", "room_do(Slot(1), Node(1))",
    ]  # fmt: skip
    assert antiphon.check(Rooms, properties=["deadlock"]).exploration.states == 8


class Judged(Sizes):
    """Specification with a judge of events."""

    @action
    def ask(self) -> None:
        """Emit a question."""
        emit(Ask(1))

    @on(Ask)
    def hear(self, event: Ask) -> None:
        """Hear the questions of all instances."""


@repair("nothing", answers="X-01")
class Mended(Cell):
    def put(self, n: Number) -> None:
        """Put the same value."""
        self.value = n


class Offering(Cell, repairs=(Mended,)):
    """A cell that offers variants."""


def test_what_cannot_be_a_part_is_refused() -> None:
    with pytest.raises(SpecError, match=r"Judged\.hear is marked on, which a component cannot be"):
        instance(Judged, "one")
    with pytest.raises(SpecError, match="Offering has variants"):
        instance(Offering, "one")
    with pytest.raises(SpecError, match="this is no name"):
        instance(Cell, "a b")
    with pytest.raises(SpecError, match="this is no index set") as caught:
        instance(Cell, "cell", each=(Slot, Slot))
    assert "an instance of an instance" in caught.value.instead


def test_an_error_in_an_instance_is_shown_with_its_text() -> None:
    class Over(Sizes):
        """A specification whose value exceeds its domain."""

        value: Number = 0

        @action
        def more(self) -> None:
            """Count up without a bound."""
            self.value += 1

    class Whole(instance(Over, "part", each=Slot)):
        """Whole that has one such part."""

        slots: Const[int] = 1

    (verdict,) = antiphon.check(Whole).verdicts
    assert verdict.kind == "specification"
    assert "<Over as part of each Slot: part_more>:3:" in verdict.reason
    assert "self.part_value[Slot(0)] = 3 leaves its domain" in verdict.reason
