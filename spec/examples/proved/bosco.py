"""Bosco: consensus of one step among processes of which some are faulty, over any other consensus.

Sources: Y. Song, R. van Renesse, "Bosco: one-step Byzantine asynchronous consensus", DISC 2008;
I. Berkovits, M. Lazić, G. Losa, O. Padon, S. Shoham, "Verification of threshold-based distributed algorithms
by decomposition to decidable logics", CAV 2019; problem `bosco_3t_safety` of mypyvy, from which the
rules are taken.

Each process sends its input to all and waits for n - t votes. It decides a value that more than (n + 3t) / 2
votes are for. If more than (n - t) / 2 votes are for a value, and for no other one, the process proposes that
value to the other consensus, else its own input. A faulty process sends any votes, different ones to
different processes. So a vote may be received if it is for the input of its source, or its source is faulty.

The other consensus is one step: its outcome was proposed by a process that is not faulty, and is the only
value if all of these propose the same one.
"""

from __future__ import annotations

from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    Set,
    Spec,
    action,
    everywhere,
    initial,
    invariant,
    record,
    require,
    witness,
)


class Node(Index, size="nodes", symmetric=True):
    """Process, which may be faulty."""


class Value(Index, size="values", symmetric=True):
    """Value that is proposed or decided."""


@record
class Vote:
    """Vote for a value, from one process to another."""

    source: Node
    to: Node
    value: Value


@record
class Choice:
    """Pair of a process and a value: the process has decided or proposed it."""

    node: Node
    value: Value


class Bosco(Spec):
    """Consensus that decides in one step where enough processes have the same input."""

    nodes: Const[int] = 4
    faults: Const[int] = 1
    """Largest number of faulty processes."""
    values: Const[int] = 2

    faulty: Set[Node] = Set()
    inputs: Set[Choice] = Set()
    received: Set[Vote] = Set()
    heard: Map[Node, Set[Node]] = everywhere(Set())
    decided: Set[Choice] = Set()
    proposed: Set[Choice] = Set()
    done: Set[Node] = Set()
    outcome: Set[Value] = Set()

    def has_enough(self, p: Node) -> bool:
        """Return True if process p has votes of n - t processes."""
        return len(self.heard[p]) >= self.nodes - self.faults

    def decides(self, p: Node, v: Value) -> bool:
        """Return True if process p has more than (n + 3t) / 2 votes for v."""
        return (
            2 * sum(1 for s in self.each(Node) if Vote(s, p, v) in self.received)
            > self.nodes + 3 * self.faults
        )

    def prefers(self, p: Node, v: Value) -> bool:
        """Return True if process p has more than (n - t) / 2 votes for v."""
        return (
            2 * sum(1 for s in self.each(Node) if Vote(s, p, v) in self.received) > self.nodes - self.faults
        )

    def has_few(self, p: Node, v: Value) -> bool:
        """Return True if process p has at most (n - t) / 2 votes for v."""
        return (
            2 * sum(1 for s in self.each(Node) if Vote(s, p, v) in self.received) <= self.nodes - self.faults
        )

    def can_decide(self) -> bool:
        """Return True if the votes of all processes decide, which is so exactly if n > 3t."""
        return 2 * sum(1 for _ in self.each(Node)) > self.nodes + 3 * self.faults

    @initial
    def begin(self, faulty: Set[Node], inputs: Set[Choice]) -> None:
        """Begin with at most t faulty processes of more than 3t, and at most one input at each other process:
        one without input takes no part.
        """
        require(self.can_decide() and len(faulty) <= self.faults)
        require(
            all(
                one.node in faulty or one.node != other.node or one.value == other.value
                for one in inputs
                for other in inputs
            )
        )
        self.faulty = faulty
        self.inputs = inputs

    @action
    def receive(self, s: Node, p: Node, v: Value) -> None:
        """Receive at p a vote of s for v: its input, or anything if s is faulty."""
        require(p not in self.faulty and p not in self.done)
        require(Choice(s, v) in self.inputs or s in self.faulty)
        self.received |= {Vote(s, p, v)}
        self.heard[p] |= {s}

    @action
    def decide(self, p: Node, v: Value) -> None:
        """Decide v at p in one step."""
        require(p not in self.faulty and p not in self.done and self.has_enough(p) and self.decides(p, v))
        self.decided |= {Choice(p, v)}

    @action
    def propose(self, p: Node, v: Value) -> None:
        """Propose at p the only value that many votes are for."""
        require(p not in self.faulty and p not in self.done and self.has_enough(p))
        require(self.prefers(p, v) and all(w == v or self.has_few(p, w) for w in self.each(Value)))
        self.proposed |= {Choice(p, v)}
        self.done |= {p}

    @action
    def propose_input(self, p: Node, u: Value) -> None:
        """Propose at p its input u, since many votes are for no value."""
        require(p not in self.faulty and p not in self.done and self.has_enough(p))
        require(Choice(p, u) in self.inputs and all(self.has_few(p, v) for v in self.each(Value)))
        self.proposed |= {Choice(p, u)}
        self.done |= {p}

    @action
    def propose_input_of_two(self, p: Node, u: Value, v: Value, w: Value) -> None:
        """Propose at p its input u, since many votes are for two values."""
        require(p not in self.faulty and p not in self.done and self.has_enough(p))
        require(Choice(p, u) in self.inputs and v != w and self.prefers(p, v) and self.prefers(p, w))
        self.proposed |= {Choice(p, u)}
        self.done |= {p}

    @action
    def agree(self, p: Node, v: Value) -> None:
        """Decide v by the other consensus: p, which is not faulty, has proposed it."""
        require(len(self.outcome) == 0 and Choice(p, v) in self.proposed)
        self.outcome |= {v}

    @action
    def agree_on_any(self, p: Node, q: Node, v: Value) -> None:
        """Decide any value by the other consensus, since p and q have proposed different ones."""
        require(len(self.outcome) == 0)
        require(
            any(
                Choice(p, one) in self.proposed and Choice(q, other) in self.proposed
                for one in self.each(Value)
                for other in self.each(Value)
                if one != other
            )
        )
        self.outcome |= {v}

    @invariant
    def OneDecision(self) -> bool:
        """Invariant: processes decide in one step the same value."""
        return all(one.value == other.value for one in self.decided for other in self.decided)

    @invariant
    def DecisionIsOutcome(self) -> bool:
        """Invariant: a decision in one step is that of the other consensus."""
        return all(choice.value == v for choice in self.decided for v in self.outcome)

    @invariant
    def SameInputIsDecided(self) -> bool:
        """Invariant: if all processes that are not faulty have the same input, no other value is decided."""
        return all(
            not all(p in self.faulty or Choice(p, v) in self.inputs for p in self.each(Node))
            or (all(choice.value == v for choice in self.decided) and all(w == v for w in self.outcome))
            for v in self.each(Value)
        )

    @witness
    def everybody_proposes(self) -> bool:
        """Witness: all processes that are not faulty propose."""
        return all(p in self.faulty or p in self.done for p in self.each(Node))

    @witness
    def decided_in_one_step(self) -> bool:
        """Witness: a process decides in one step, which needs more than 3t processes."""
        return len(self.decided) > 0


class BoscoProof(Bosco):
    """Invariants of the proof: what is decided in one step is proposed by all."""

    def may_decide(self, v: Value) -> bool:
        """Return True if more than (n + 3t) / 2 processes are faulty or have the input v."""
        return (
            2 * sum(1 for s in self.each(Node) if s in self.faulty or Choice(s, v) in self.inputs)
            > self.nodes + 3 * self.faults
        )

    @invariant
    def MoreThanThreeTimesAsMany(self) -> bool:
        """Invariant: there are more than 3t processes."""
        return self.can_decide()

    @invariant
    def OneMayBeDecided(self) -> bool:
        """Invariant: at most one value may be decided in one step."""
        return all(
            v == w or not self.may_decide(v) or not self.may_decide(w)
            for v in self.each(Value)
            for w in self.each(Value)
        )

    @invariant
    def FewAreFaulty(self) -> bool:
        """Invariant: at most t processes are faulty."""
        return len(self.faulty) <= self.faults

    @invariant
    def VotesAreInputs(self) -> bool:
        """Invariant: a vote of a process that is not faulty is for its input."""
        return all(
            vote.source in self.faulty or Choice(vote.source, vote.value) in self.inputs
            for vote in self.received
        )

    @invariant
    def InputsAreHeard(self) -> bool:
        """Invariant: who has heard a process that is not faulty has its input."""
        return all(
            s in self.faulty
            or s not in self.heard[p]
            or Choice(s, v) not in self.inputs
            or Vote(s, p, v) in self.received
            for s in self.each(Node)
            for p in self.each(Node)
            for v in self.each(Value)
        )

    @invariant
    def OneInput(self) -> bool:
        """Invariant: a process that is not faulty has one input at most."""
        return all(
            one.node in self.faulty or one.node != other.node or one.value == other.value
            for one in self.inputs
            for other in self.inputs
        )

    @invariant
    def ChosenByNoFaultyProcess(self) -> bool:
        """Invariant: only processes that are not faulty decide or propose."""
        return all(choice.node not in self.faulty for choice in self.decided) and all(
            choice.node not in self.faulty and choice.node in self.done for choice in self.proposed
        )

    @invariant
    def DecidedByMany(self) -> bool:
        """Invariant: a value that is decided in one step is the input of many."""
        return all(self.may_decide(choice.value) for choice in self.decided)

    @invariant
    def ProposalsFollow(self) -> bool:
        """Invariant: where a process has proposed a value, no other value may be decided in one step."""
        return all(
            choice.value == v or not self.may_decide(v) for choice in self.proposed for v in self.each(Value)
        )

    @invariant
    def SameInputIsProposed(self) -> bool:
        """Invariant: if all processes that are not faulty have the same input, they propose it."""
        return all(
            not all(p in self.faulty or Choice(p, v) in self.inputs for p in self.each(Node))
            or all(choice.value == v for choice in self.proposed)
            for v in self.each(Value)
        )

    @invariant
    def OutcomeWasProposed(self) -> bool:
        """Invariant: the outcome was proposed, or different values were."""
        return all(
            any(choice.value == v for choice in self.proposed)
            or any(one.value != other.value for one in self.proposed for other in self.proposed)
            for v in self.outcome
        )
