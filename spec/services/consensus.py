"""Consensus: processes propose values, and all that decide decide the same proposed value.

`Consensus` judges the events `Propose` and `Decide`. `Decision` is consensus as a machine that is a part of a
protocol: it holds the proposals, and one of them becomes the decision. It knows no message and no round;
`ConsensusMachine` is that machine over plain values, which an algorithm of consensus refines.

Sources: T. D. Chandra, S. Toueg, "Unreliable failure detectors for reliable distributed systems", Journal of
the ACM 43(2), 1996, section 6 (consensus) and 6.4 (uniform consensus); Barchet-Estefanel 2002, figures 29, 32
and 34, for its use: "execute consensus ... with initial_k as the initial value".
"""

from __future__ import annotations

from functools import partial
from typing import Final, Generic, TypeVar

from antiphon.spec.environment.crashes import Crashes
from antiphon.spec.lang import (
    Const,
    Index,
    Map,
    action,
    emit,
    environment,
    everywhere,
    expect,
    invariant,
    mutation,
    obligation,
    on,
    record,
    require,
    witness,
)
from antiphon.spec.services.broadcast import Failures
from antiphon.spec.services.events import Crash, Group, Process
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.stopping import Stopping

V = TypeVar("V")


class Value(Index, size="values", symmetric=True):
    """Value that can be proposed; no algorithm distinguishes one value from another."""


@record
class Propose:
    """Event: `process` proposes `value`."""

    process: Process
    value: Value


@record
class Decide:
    """Event: `process` decides `value`."""

    process: Process
    value: Value


class Proposing(Group):
    """Constants for processes that propose: the number of values."""

    values: Const[int] = 2


class Consensus(Proposing, Failures):
    """Consensus as a state machine over events.

    Safety: `Validity`, `Integrity`, `UniformAgreement`, `Agreement`. Obligation: `Termination`. `ProposeOnce`
    is the application's promise that a process proposes one value. A process counts as correct if it has not
    crashed so far, so `Agreement` is judged in states; in a log, at its end.
    """

    proposal: Map[Process, Value | None] = everywhere(None)
    decision: Map[Process, Value | None] = everywhere(None)

    @on(Propose)
    def note_proposal(self, event: Propose) -> None:
        """Check that a process proposes once, and note its proposal."""
        first = self.proposal[event.process]
        if first is not None:
            expect(False, "ProposeOnce", Propose(event.process, first))
        else:
            self.proposal[event.process] = event.value

    @on(Decide)
    def judge_decision(self, event: Decide) -> None:
        """Check that a process decides once, that the value was proposed, and that every process which has
        decided has the same value.
        """
        p = event.process
        first = self.decision[p]
        if first is not None:
            expect(False, "Integrity", Decide(p, first))
        expect(any(self.proposal[q] == event.value for q in self.each(Process)), "Validity")
        for q in self.each(Process):
            other = self.decision[q]
            if other is not None and other != event.value:
                expect(False, "UniformAgreement", Decide(q, other))
        if first is None:
            self.decision[p] = event.value

    @invariant
    def Agreement(self) -> bool:
        """No two correct processes decide differently."""
        return all(
            self.crashed[p]
            or self.crashed[q]
            or self.decision[p] is None
            or self.decision[q] is None
            or self.decision[p] == self.decision[q]
            for p in self.each(Process)
            for q in self.each(Process)
        )

    @obligation
    def Termination(self) -> bool:
        """If every correct process proposes, every correct process eventually decides."""
        return any(not self.crashed[p] and self.proposal[p] is None for p in self.each(Process)) or all(
            self.crashed[p] or self.decision[p] is not None for p in self.each(Process)
        )


class Decision(Stopping, Generic[V]):
    """One consensus as a part of a protocol: `offer` proposes a value, and the step `decide` lets a process
    learn the decision.

    State: `offers[p]` what p proposed, until something is chosen, `chosen` the decision, `told[p]` whether p
    knows it. A protocol that does something with the decision overrides `decide`, says `super()` and reads
    `chosen`. Choosing is no step of its own: before the first process knows what is chosen, nobody can see
    that it is. A protocol with one consensus for each round has `instance(Decision[T], "agree", each=Round)`,
    where `Round` is an index set.

    The processes that take part, and the need for a majority of them, are hooks. A majority is needed for
    progress alone: without one nobody decides, and what is decided is agreed on with or without it.
    """

    offers: Map[Process, V | None] = everywhere(None)
    chosen: V | None = None
    told: Map[Process, bool] = everywhere(False)

    def takes_part(self, p: Process) -> bool:
        """Return True if p is one of the processes that agree; a hook that is true for all unless the
        protocol overrides it.
        """
        return True

    def can_choose(self) -> bool:
        """Return True if a decision is possible: a majority of the processes that take part has
        not stopped.
        """
        return 2 * sum(1 for p in self.each(Process) if self.takes_part(p) and not self.is_gone(p)) > sum(
            1 for p in self.each(Process) if self.takes_part(p)
        )

    def offer(self, p: Process, value: V) -> None:
        """Propose a value at p; it has no effect once something is chosen."""
        if self.chosen is None:
            self.offers[p] = value

    def is_decided_by(self, p: Process, q: Process) -> bool:
        """Return True if p can learn the decision now: q has proposed, and nothing is chosen yet, so that q's
        proposal is chosen; or something is chosen, and q is p.
        """
        if self.chosen is not None:
            return q == p
        return self.offers[q] is not None and self.can_choose()

    @action(fairness="weak", per="p")
    def decide(self, p: Process, q: Process) -> None:
        """Learn the decision at p. If no process has learned it before, the decision is q's proposal."""
        require(self.takes_part(p) and not self.told[p])
        require(self.is_decided_by(p, q))
        self.told[p] = True
        if self.chosen is None:
            self.chosen = self.offers[q]
            self.offers = everywhere(None)


class ConsensusMachine(Proposing, Decision[Value]):
    """Machine of consensus: propose, decide."""

    proposed: Map[Process, bool] = everywhere(False)

    @action(fairness="weak", per="p")
    def propose(self, p: Process, v: Value) -> None:
        """Propose v at p."""
        require(not self.proposed[p])
        self.proposed[p] = True
        self.offer(p, v)
        emit(Propose(p, v))

    @action(fairness="weak", per="p")
    def decide(self, p: Process, q: Process) -> None:
        """Decide at p, which has proposed."""
        require(self.proposed[p])
        super().decide(p, q)
        chosen = self.chosen
        if chosen is not None:
            emit(Decide(p, chosen))

    @invariant
    def ToldIsChosen(self) -> bool:
        """Invariant: no process knows a decision before something is chosen."""
        return self.chosen is not None or not any(self.told[p] for p in self.each(Process))

    @witness
    def AllTold(self) -> bool:
        """Witness: every process has decided."""
        return all(self.told[p] for p in self.each(Process))


# A fault for each property ----------------------------------------------------------------------------------


class FaultyMachine(ConsensusMachine, Crashes):
    """Consensus machine among processes that crash, which the planted faults change."""


@mutation("what the first decides and takes with it when it crashes nobody knows")
class Forgotten(FaultyMachine):
    """Planted fault in the consensus machine: the first process decides, crashes, and its decision is lost.
    Breaks `UniformAgreement`, and not `Agreement`.
    """

    @environment
    def decide_and_crash(self, p: Process, v: Value) -> None:
        """Decide v, p's own proposal, at p before any other process decides, and crash p."""
        require(self.chosen is None and not self.down[p] and self.offers[p] == v)
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        self.offers[p] = None
        emit(Decide(p, v))
        emit(Crash(p))


@mutation("a process decides what anybody proposed, whatever was chosen")
class Unbound(FaultyMachine):
    """Planted fault in the consensus machine: a process decides any proposal, not the chosen one. Breaks
    `Agreement`, and with it `UniformAgreement`.
    """

    favourite: Map[Process, Value | None] = everywhere(None)

    @action(fairness="weak", per="p")
    def propose(self, p: Process, v: Value) -> None:
        """Propose v at p, and remember v as p's own."""
        super().propose(p, v)
        self.favourite[p] = v

    @action(fairness="weak", per="p")
    def decide(self, p: Process, q: Process) -> None:
        """Decide at p the proposal of q, whatever was chosen before."""
        v = self.favourite[q]
        require(self.proposed[p] and not self.told[p] and v is not None)
        self.told[p] = True
        self.chosen = v
        if v is not None:
            emit(Decide(p, v))


@mutation("who was told is told again")
class ToldAgain(FaultyMachine):
    """Planted fault in the consensus machine: a process decides twice. Breaks `Integrity`."""

    @action
    def tell_again(self, p: Process) -> None:
        """Decide once more at p, which has decided."""
        chosen = self.chosen
        require(self.told[p] and chosen is not None)
        if chosen is not None:
            emit(Decide(p, chosen))


@mutation("what is chosen was proposed by nobody")
class Invented(FaultyMachine):
    """Planted fault in the consensus machine: the chosen value was proposed by nobody. Breaks `Validity`."""

    @action
    def invent(self, v: Value) -> None:
        """Choose a value that nobody proposed."""
        require(self.chosen is None)
        self.chosen = v


@mutation("one process learns the decision, and tells nobody")
class Mute(FaultyMachine):
    """Planted fault in the consensus machine: one process learns the decision, and tells no other. Breaks
    `Termination`.
    """

    def is_decided_by(self, p: Process, q: Process) -> bool:
        """Return True if p can learn the decision: only while no process has learned it."""
        return super().is_decided_by(p, q) and not any(self.told[r] for r in self.each(Process))


@mutation("a process proposes twice")
class ProposedTwice(FaultyMachine):
    """Planted fault in the consensus machine: a process proposes twice. Breaks `ProposeOnce`."""

    @action
    def propose_again(self, p: Process, v: Value) -> None:
        """Propose v at p, which has proposed already; only the first proposal counts."""
        require(self.proposed[p])
        emit(Propose(p, v))


class ConsensusChecked(
    FaultyMachine,
    Consensus,
    mutations=(Forgotten, Unbound, ToldAgain, Invented, Mute, ProposedTwice),
):
    """The machine of consensus among processes that crash, judged by consensus."""

    @witness
    def OtherDecides(self) -> bool:
        """Witness: a process decides the proposal of another process, which has crashed."""
        return any(
            self.decision[p] is not None
            and self.decision[p] != self.proposal[p]
            and all(self.crashed[q] for q in self.each(Process) if self.proposal[q] == self.decision[p])
            for p in self.each(Process)
        )


# What logs are judged by ------------------------------------------------------------------------------------

_of_consensus = partial(
    Property,
    nothing="nothing is proposed or decided",
    promised=("consensus",),
    incarnations="kept",
    for_some=True,
)
PROPOSE_ONCE: Final = _of_consensus(
    "Consensus.ProposeOnce",
    "a process proposes once (the application's promise)",
    "proposals",
    reason="proposed a second time",
)
INTEGRITY: Final = _of_consensus(
    "Consensus.Integrity",
    "a process decides once",
    "decisions",
    reason="decided a second time",
    incarnations="each",
)
UNIFORM_AGREEMENT: Final = _of_consensus(
    "Consensus.UniformAgreement",
    "no two processes decide differently",
    "shared decisions",
    nothing="no two processes decide in one consensus",
    reason="decided otherwise by another process",
    incarnations="each",
)
CONSENSUS_PROMISES: Final = Promises(
    (
        PROPOSE_ONCE,
        _of_consensus(
            "Consensus.Validity",
            "what is decided was proposed",
            "decisions",
            reason="decided, but nobody proposed it before",
            unseen=True,
            incarnations="each",
        ),
        INTEGRITY,
        UNIFORM_AGREEMENT,
        _of_consensus(
            "Consensus.Agreement",
            "no two correct processes decide differently",
            "shared decisions",
            nothing="no two processes decide in one consensus",
        ),
        _of_consensus(
            "Consensus.Termination",
            "if every correct process proposes, every correct process decides",
            "proposals and decisions",
        ),
    ),
    ("consensus",),
    Consensus,
    prefix="Consensus.",
    assuming="proposal",
)
"""Promises of consensus, each consensus of a run judged by itself; some have the names of promises of
broadcast.
"""
