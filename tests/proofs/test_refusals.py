"""Specifications outside the fragment are refused with the place, the construct, and an alternative."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import pytest

from antiphon.model.proofs import Outside
from antiphon.model.verdict import Outcome, Report
from antiphon.spec.lang import (
    AtMost,
    Const,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    SpecError,
    action,
    everywhere,
    invariant,
    require,
)
from antiphon.spec.lang.errors import ArgumentError

Prove = Callable[..., Report]


class Node(Index, size="nodes", symmetric=True):
    """One of many nodes."""


class Queue(Spec):
    """A log, a queue that also loses its first item, and a sequence of each node once."""

    nodes: Const[int] = 2
    log: Annotated[Seq[Node], AtMost("nodes + 1")] = ()
    waiting: Annotated[Seq[Node], AtMost("nodes + 2")] = ()
    once: Annotated[Seq[Node], AtMost("nodes")] = ()
    turns: Map[Node, bool] = everywhere(False)
    flags: Annotated[Seq[bool], AtMost("nodes + 3")] = ()

    @action
    def step(self, p: Node) -> None:
        """Do what is overridden."""

    @action
    def take(self) -> None:
        """Take the first."""
        require(len(self.waiting) > 0)
        self.waiting = self.waiting[1:]

    @invariant
    def True_(self) -> bool:
        """A property that is always true."""
        return True


class CutsIt(Queue):
    def step(self, p: Node) -> None:
        """The last is lost."""
        self.log = self.log[:-1]


class JoinsThem(Queue):
    def step(self, p: Node) -> None:
        """One log after the other."""
        self.log = self.log + self.log


class ReadsBehind(Queue):
    def step(self, p: Node) -> None:
        """The second in the queue, by its number."""
        require(len(self.waiting) > 0 and self.waiting[1] == p)


class CountsIt(Queue):
    def step(self, p: Node) -> None:
        """The length of a queue is compared."""
        require(len(self.waiting) < self.nodes)


class ComparesPlaces(Queue):
    @invariant
    def First(self) -> bool:
        """A place in a queue is compared with a number."""
        return all(i < self.nodes for i in range(len(self.waiting)))


class ComparesThem(Queue):
    def step(self, p: Node) -> None:
        """Two logs are compared."""
        require(self.log == (p,))


class StoresAnother(Queue):
    def step(self, p: Node) -> None:
        """A queue without its first item is stored where no item is lost."""
        self.log = self.waiting


class WritesEntries(Queue):
    def step(self, p: Node) -> None:
        """A turn for each item, which may come twice."""
        for q in self.log:
            self.turns[q] = not self.turns[q]


class CountsRoom(Queue):
    @action
    def flag(self, p: bool) -> None:
        """A queue of what is no member of an index gets one more."""
        self.flags += (p,)

    @action
    def drop(self) -> None:
        """The queue loses its first item."""
        self.flags = self.flags[1:]


class Sum(Spec):
    """The sizes of two sets."""

    nodes: Const[int] = 2
    left: Set[Node] = Set()
    right: Set[Node] = Set()

    @action
    def come(self, p: Node) -> None:
        """Come to both sides."""
        self.left |= {p}
        self.right |= {p}

    @invariant
    def Balanced(self) -> bool:
        """Both sides have the same size."""
        return len(self.left) == len(self.right)


class Subsets(Spec):
    """A quantifier over all sets."""

    nodes: Const[int] = 2
    marked: Set[Node] = Set()

    @action
    def mark(self, p: Node) -> None:
        """Mark one more node."""
        self.marked |= {p}

    @invariant
    def SomeSet(self) -> bool:
        """Some set is what is marked."""
        return any(some == self.marked for some in self.each(Set[Node]))


class Chain(Spec):
    """Nodes follow one another by a map: a function from nodes to nodes."""

    nodes: Const[int] = 2
    marked: Map[Node, bool] = everywhere(False)
    heir: Map[Node, Node | None] = everywhere(None)

    @action
    def name(self, p: Node, q: Node) -> None:
        """P names q if all who are named are marked."""
        require(
            all(
                self.heir[r] is None or any(self.heir[r] == s and self.marked[s] for s in self.each(Node))
                for r in self.each(Node)
            )
        )
        self.heir[p] = q
        self.marked[q] = True

    @invariant
    def NamedAreMarked(self) -> bool:
        """Named nodes are marked."""
        return all(
            self.heir[p] is None or any(self.heir[p] == q and self.marked[q] for q in self.each(Node))
            for p in self.each(Node)
        )


class Rank(Index, size="nodes", ordered=True):
    """One of many nodes, in an order."""


class OnlyFirst(Spec):
    """A loop of which the second turn sees what the first one wrote."""

    nodes: Const[int] = 1
    marked: Map[Rank, bool] = everywhere(False)

    @action
    def mark_first(self) -> None:
        """Mark the first node: the turns of the others find a marked one."""
        for p in self.each(Rank):
            if not any(self.marked[q] for q in self.each(Rank)):
                self.marked[p] = True

    @invariant
    def AllOrNone(self) -> bool:
        """All are marked, or none: true of one node, and false of two."""
        return all(self.marked[p] == self.marked[q] for p in self.each(Rank) for q in self.each(Rank))


@pytest.mark.parametrize(
    ("spec", "said", "instead"),
    [
        (OnlyFirst, "order of a loop over Rank: self.marked is written here and read at line", "parameter"),
        (CutsIt, "a part of a sequence", "a log"),
        (JoinsThem, "two sequences, one after the other", "a log"),
        (ReadsBehind, "a position in a sequence that also loses its first item", "position 0"),
        (CountsIt, "the number of elements as a value", "a comparison with a number"),
        (ComparesPlaces, "is compared with another number", "in the same sequence"),
        (ComparesThem, "sequences are compared", "their lengths"),
        (StoresAnother, "a sequence without its first item is stored", "a log"),
        (WritesEntries, "an item may come twice", "one set operation"),
        (CountsRoom, "has room for one more is a count", "a field of an index"),
        (Sum, "the sizes of several sets are compared", "one set against a number"),
        (Subsets, "some ranges over sets of Node", "2 * len(q) > n"),
    ],
)
def test_what_is_no_formula_is_refused(prove: Prove, spec: type[Spec], said: str, instead: str) -> None:
    """With file and line, the reason, and the replacement."""
    with pytest.raises(Outside) as refused:
        prove(spec, "nodes")
    assert said in refused.value.reason
    assert instead in refused.value.instead
    assert refused.value.at is not None
    assert Path(refused.value.at.file).name == "test_refusals.py"


def test_a_cycle_is_refused_by_its_name(prove: Prove) -> None:
    """The step itself needs a function from nodes to nodes: the error names the sorts, and what leads
    round.
    """
    with pytest.raises(Outside) as refused:
        prove(Chain, "nodes")
    assert "Node -> Node, by heir (test_refusals.py:" in refused.value.reason
    assert "remembers what exists" in refused.value.instead


def test_names_that_are_no_sizes_are_refused(prove: Prove) -> None:
    """The constants that are numbers are listed."""
    with pytest.raises(SpecError, match=r"no constant 'node'.*nodes"):
        prove(Subsets, "node")
    with pytest.raises(ArgumentError, match="names of the constants"):
        prove(Subsets)


class Guarded(Spec):
    """Specification in which only a chosen node leads; no invariant states that."""

    nodes: Const[int] = 2
    chosen: Set[Node] = Set()
    leading: Set[Node] = Set()

    @action
    def choose(self, p: Node) -> None:
        """Choose one node."""
        require(len(self.chosen) == 0)
        self.chosen |= {p}

    @action
    def lead(self, p: Node) -> None:
        """Lead, if chosen."""
        require(p in self.chosen)
        self.leading |= {p}

    @invariant
    def OneLeads(self) -> bool:
        """At most one leads."""
        return len(self.leading) <= 1


class Unguarded(Guarded):
    """Any number may be chosen."""

    @action
    def choose(self, p: Node) -> None:
        """One more is chosen."""
        self.chosen |= {p}


def test_a_counterexample_that_cannot_be_reached_wants_an_invariant(prove: Prove) -> None:
    """The step is shown from its state, at the least n, and what can be reached there is all good."""
    report = prove(Guarded, "nodes")
    verdict = report["OneLeads"]
    assert verdict.outcome is Outcome.UNKNOWN
    assert "lead: OneLeads is not proved (counterexample to induction" in verdict.reason
    assert verdict.reason.endswith("not reachable at nodes=2: an invariant is missing")
    assert verdict.trace is not None
    assert not verdict.trace.initial
    assert [step.step.action for step in verdict.trace.transitions] == ["lead"]
    assert not verdict.trace.program.reference.holds(verdict.trace.states[-1], "OneLeads")
    assert verdict.trace.program.reference.holds(verdict.trace.states[0], "OneLeads")


def test_a_counterexample_that_can_be_reached_is_a_run(prove: Prove) -> None:
    """A property refuted by the exploration of a small n is violated, and no proof is tried."""
    report = prove(Unguarded, "nodes")
    verdict = report["OneLeads"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.initial
    assert len(verdict.trace) == 4
    assert not any(item.property == "OneLeads" for item in report.obligations)


class Late(Guarded):
    """Three may be chosen; four lead only where there are four."""

    nodes: Const[int] = 2

    @action
    def choose(self, p: Node) -> None:
        """At most three are chosen."""
        require(len(self.chosen) < 2)
        self.chosen |= {p}

    @invariant
    def OneLeads(self) -> bool:
        """At most two lead, or one where there are no more than two."""
        return len(self.leading) <= 2 and not (len(self.leading) == 2 and not self.are_two())

    def are_two(self) -> bool:
        """There are no more than two nodes."""
        return all(
            p == q or r in (p, q) for p in self.each(Node) for q in self.each(Node) for r in self.each(Node)
        )


def test_what_only_a_larger_n_breaks_is_found_there(prove: Prove) -> None:
    """The exploration at nodes=2 finds nothing; the counterexample to induction at nodes=3 can be reached."""
    verdict = prove(Late, "nodes")["OneLeads"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    assert verdict.trace.initial
    assert verdict.trace.program.constants["nodes"] == 3


class Enough(Spec):
    """There may be fewer nodes than are needed."""

    nodes: Const[int] = 2
    needed: Const[int] = 2
    marked: Set[Node] = Set()

    @action
    def mark(self, p: Node) -> None:
        """Mark one more node."""
        self.marked |= {p}

    @invariant
    def AllAreEnough(self) -> bool:
        """All nodes together are as many as are needed: so only where that are no more than there are."""
        return sum(1 for p in self.each(Node) if p in self.marked or p not in self.marked) >= self.needed


def test_a_class_of_large_sets_may_be_empty(prove: Prove) -> None:
    """Existence of a set with that many members is no axiom: three of two nodes are none."""
    verdict = prove(Enough, "nodes", "needed")["AllAreEnough"]
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.trace is not None
    constants = verdict.trace.program.constants
    assert int(constants["nodes"]) < int(constants["needed"])
