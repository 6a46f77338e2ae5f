"""The translation to logic says of every state and step what CPython does."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from tests.proofs.lifted import Lifted, reachable

from antiphon.model.proofs import comparing, expressions
from antiphon.model.proofs.execution import Executor
from antiphon.model.proofs.formula import TRUE, Formula, disjunction
from antiphon.model.proofs.theory import Theory
from antiphon.model.proofs.values import at_most
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.proved.block_cache import BlockCacheProof
from antiphon.spec.examples.proved.bosco import BoscoProof
from antiphon.spec.examples.proved.cache_coherence import CacheCoherenceProof
from antiphon.spec.examples.proved.client_server import ClientServerDatabaseProof
from antiphon.spec.examples.proved.distributed_lock import DistributedLockProof
from antiphon.spec.examples.proved.firewall import FirewallProof
from antiphon.spec.examples.proved.hybrid_broadcast import HybridBroadcastProof
from antiphon.spec.examples.proved.learning_switch import LearningSwitchProof
from antiphon.spec.examples.proved.lock_service import LockServiceProof
from antiphon.spec.examples.proved.majority_vote import LeaderVoteProof, MajorityVoteProof
from antiphon.spec.examples.proved.paxos import (
    FastPaxosProof,
    FlexiblePaxosProof,
    MultiPaxosProof,
    PaxosWithHistoryProof,
)
from antiphon.spec.examples.proved.peterson import PetersonProof
from antiphon.spec.examples.proved.raft import RaftProof
from antiphon.spec.examples.proved.ring_election import RingElectionProof
from antiphon.spec.examples.proved.sharded_store import NoLostKeysProof
from antiphon.spec.examples.proved.stoppable_paxos import StoppablePaxosProof
from antiphon.spec.examples.proved.ticket_lock import TicketLockProof
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.examples.voting import Voting
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    Index,
    Seq,
    Set,
    Spec,
    action,
    invariant,
    program,
    require,
)
from antiphon.spec.protocols.moving_sequencer.induction import MovingSequencerProof
from antiphon.spec.protocols.token_broadcast.induction import Figure2Proof, Figure5Proof
from antiphon.spec.services.ordering_induction import OrderingProof

SPECIFICATIONS: tuple[tuple[type[Spec], dict[str, int]], ...] = (
    (LockServiceProof, {"clients": 2}),
    (ClientServerDatabaseProof, {"clients": 2, "requests": 1, "responses": 2, "queries": 1}),
    (RingElectionProof, {"nodes": 3, "identities": 3}),
    (MajorityVoteProof, {"nodes": 3, "values": 2}),
    (LeaderVoteProof, {"nodes": 2, "values": 2}),
    (TicketLockProof, {"threads": 2, "tickets": 3}),
    (NoLostKeysProof, {"nodes": 2, "keys": 1, "values": 2}),
    (FirewallProof, {"nodes": 2}),
    (DistributedLockProof, {"hosts": 2, "epochs": 2}),
    (LearningSwitchProof, {"nodes": 1}),
    (CacheCoherenceProof, {"cores": 2, "addresses": 1, "values": 2}),
    (PaxosWithHistoryProof, {"acceptors": 1, "rounds": 2, "values": 2}),
    (FlexiblePaxosProof, {"acceptors": 2, "rounds": 2, "values": 1, "deciders": 1}),
    (FastPaxosProof, {"acceptors": 2, "rounds": 2, "values": 1}),
    (MultiPaxosProof, {"acceptors": 2, "rounds": 2, "values": 1, "instances": 1}),
    (PetersonProof, {"locks": 2}),
    (BlockCacheProof, {"blocks": 1, "contents": 1, "locations": 2, "requests": 1}),
    (RaftProof, {"servers": 1, "terms": 3, "places": 2, "values": 1}),
    (StoppablePaxosProof, {"acceptors": 1, "rounds": 1, "values": 2, "places": 2}),
    (BoscoProof, {"nodes": 4, "faults": 1, "values": 1}),
    (HybridBroadcastProof, {"nodes": 4, "crashes": 0, "omissions": 0, "symmetric": 0, "arbitrary": 1}),
    (OrderingProof, {"processes": 2, "messages": 2, "numbers": 2, "series": 1}),
    (TwoPhase, {"managers": 2}),
    (ChangRoberts, {"nodes": 3}),
    (Voting, {"values": 2, "acceptors": 2, "ballots": 2}),
)


class Rank(Index, size="ranks", ordered=True):
    """A node of an order."""


Level = Annotated[int, Between(1, "levels")]


class Choices(Spec):
    """Specification whose steps take the first, the least and the greatest of what there is."""

    ranks: Const[int] = 2
    levels: Const[int] = 2
    waiting: Annotated[Seq[Rank], AtMost("ranks")] = ()
    heard: Set[Level] = Set()
    served: Rank | None = None
    least: Annotated[int, Between(0, "levels")] = 0
    greatest: Annotated[int, Between(0, "levels")] = 0

    @action
    def come(self, p: Rank) -> None:
        """Join the queue, at most once."""
        require(p not in self.waiting)
        self.waiting += (p,)

    @action
    def hear(self, n: Level) -> None:
        """Hear a number."""
        self.heard |= {n}

    @action
    def serve(self) -> None:
        """Take the first of the queue, and the least and the greatest number."""
        self.served = next((p for p in self.waiting if p != self.served), None)
        self.least = min((n for n in self.heard), default=0)
        self.greatest = max((n for n in self.each(Level) if n in self.heard), default=0)

    @invariant
    def ServedHasCome(self) -> bool:
        """A served node is in the queue, and a number that was taken had been heard."""
        return (
            (self.served is None or self.served in self.waiting)
            and (self.least == 0 or self.least in self.heard)
            and (self.greatest == 0 or self.greatest in self.heard)
        )

    @invariant
    def InOrder(self) -> bool:
        """The least is not above the greatest."""
        return self.least <= self.greatest


class Crowded(Choices):
    """A node may join the queue twice, for which it has no room."""

    @action
    def come(self, p: Rank) -> None:
        """Join the queue."""
        self.waiting += (p,)


class Eldest(Choices):
    """Queue of which the first need not be the first in the order of the nodes."""

    @invariant
    def FirstIsServed(self) -> bool:
        """False of queues in another order."""
        return all(self.served is None or self.served <= p for p in self.waiting)


@pytest.mark.parametrize(
    ("spec", "failed"),
    [
        (Choices, set()),
        (Crowded, {"come: specification"}),
        (Eldest, {"come: FirstIsServed", "serve: FirstIsServed"}),
    ],
)
def test_what_a_step_chooses_is_known_as_far_as_it_is_said(
    unproved: Callable[..., set[str]], spec: type[Spec], failed: set[str]
) -> None:
    """The first of a sequence is some member of it, and the least of numbers the least; a second entry of one
    member is an error.
    """
    assert unproved(spec, ("ranks", "levels")) == failed


def disagreements(spec: type[Spec], sizes: dict[str, int], most: int) -> list[str]:
    """Differences between the translation and CPython, in some reachable states."""
    bound = program(spec, **sizes)
    lifted = Lifted(bound, tuple(sizes))
    return [found for state in reachable(bound, most) for found in lifted.disagreements(state)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "sizes"),
    [(Choices, {"ranks": 2, "levels": 2}), *SPECIFICATIONS],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_a_step_by_logic_is_a_step_of_cpython(spec: type[Spec], sizes: dict[str, int]) -> None:
    """Guards, what is left, errors and predicates agree, argument by argument."""
    assert disagreements(spec, sizes, 6) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("repairs", ["all", ()])
@pytest.mark.parametrize("spec", [Figure2Proof, Figure5Proof, MovingSequencerProof])
def test_a_step_of_a_figure_by_logic_is_a_step_of_cpython(
    spec: type[Spec], repairs: str | tuple[str, ...]
) -> None:
    """Steps with events, too, that the services judge; repaired, and as printed with the token at p0."""
    bound = program(spec, repairs=repairs or ["start_token"], processes=2, messages=2, losses=1)
    lifted = Lifted(bound, ("processes", "messages", "losses"))
    states = reachable(bound, 200)[::40]
    assert [found for state in states for found in lifted.disagreements(state)] == []


@pytest.mark.deep
@pytest.mark.parametrize(("spec", "sizes"), SPECIFICATIONS, ids=lambda item: getattr(item, "__name__", ""))
def test_many_steps_by_logic_are_steps_of_cpython(spec: type[Spec], sizes: dict[str, int]) -> None:
    """The same of many states."""
    assert disagreements(spec, sizes, 100) == []


Plant = Callable[[pytest.MonkeyPatch], None]


def union_for_difference(patch: pytest.MonkeyPatch) -> None:
    """Planted fault: set difference removes no member."""

    def united(_: Any, one: Any, other: Any) -> Callable[[Any], Formula]:
        return lambda item: disjunction(one.member(item), other.member(item))

    patch.setattr(expressions, "_united", united)


def order_that_is_not_strict(patch: pytest.MonkeyPatch) -> None:
    """Less is at most."""
    patch.setattr(comparing, "less", at_most)


def majority_of_any_size(patch: pytest.MonkeyPatch) -> None:
    """Every set is large."""
    patch.setattr(Theory, "is_large", lambda *_: TRUE)


def small_means_large(patch: pytest.MonkeyPatch) -> None:
    """A set is small if it is large."""
    patch.setattr(Theory, "is_small", Theory.is_large)


def loop_without_condition(patch: pytest.MonkeyPatch) -> None:
    """A loop over a sort writes all entries."""
    original = Executor._at_once

    def at_once(self: Executor, binder: Any, body: Any, path: Any) -> Any:
        inner = body[0].then if hasattr(body[0], "then") else body
        return original(self, binder, inner, path)

    patch.setattr(Executor, "_at_once", at_once)


def one_more_is_the_same(patch: pytest.MonkeyPatch) -> None:
    """A number and one more are one number."""
    patch.setattr(Theory, "offset", lambda _, term, *__: term)


@pytest.mark.parametrize(
    ("plant", "spec", "sizes"),
    [
        (union_for_difference, LockServiceProof, {"clients": 2}),
        (order_that_is_not_strict, DistributedLockProof, {"hosts": 2, "epochs": 2}),
        (majority_of_any_size, MajorityVoteProof, {"nodes": 3, "values": 2}),
        (small_means_large, BoscoProof, {"nodes": 4, "faults": 1, "values": 1}),
        (one_more_is_the_same, TicketLockProof, {"threads": 2, "tickets": 3}),
    ],
)
def test_a_wrong_translation_is_noticed(
    plant: Plant,
    spec: type[Spec],
    sizes: dict[str, int],
    monkeypatch: pytest.MonkeyPatch,
    often: Callable[[int, int], int],
) -> None:
    """With a fault planted in the translation the comparison is not empty."""
    plant(monkeypatch)
    assert disagreements(spec, sizes, often(4, 12))


def test_the_beginning_by_logic_is_that_of_cpython(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop in `@initial` that forgets its condition is noticed: Chang and Roberts' initiators."""
    bound = program(ChangRoberts, nodes=2)
    lifted = Lifted(bound, ("nodes",))
    (initial,) = bound.module.initials
    executor = lifted.reading.executor

    def begun() -> list[bool]:
        defaults = lifted.reading.defaults()
        found = []
        kind = initial.parameters[0].type
        for state, chosen in zip(bound.reference.initial(), bound.domain(kind), strict=True):
            given = {"initiators": lifted.value(chosen, kind)}
            (path,) = executor.run(initial.body, lifted.frame(given, defaults))
            found.append(
                all(
                    lifted.true(lifted.sorts.same(path.frame.state[name], value))
                    for name, value in lifted.state(state).items()
                )
            )
        return found

    assert begun() == [True, True, True, True]
    loop_without_condition(monkeypatch)
    assert begun() == [False, False, False, True]
