"""The protocols of `spec/examples/proved` are proved for every n, and no part of their proofs may be left
out.
"""

from collections.abc import Callable

import pytest

from antiphon.model.proofs.proving import EXPLORED_STATES
from antiphon.model.verdict import EvidenceKind, Outcome, Report
from antiphon.spec.examples.proved.block_cache import BlockCacheProof
from antiphon.spec.examples.proved.bosco import BoscoProof
from antiphon.spec.examples.proved.cache_coherence import CacheCoherenceProof
from antiphon.spec.examples.proved.client_server import ClientServerDatabaseProof, ClientServerProof
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
    PaxosProof,
    PaxosWithHistoryProof,
)
from antiphon.spec.examples.proved.peterson import PetersonProof
from antiphon.spec.examples.proved.raft import RaftProof
from antiphon.spec.examples.proved.ring_election import RingElectionProof
from antiphon.spec.examples.proved.sharded_store import NoLostKeysProof, ShardedStoreProof
from antiphon.spec.examples.proved.stoppable_paxos import StoppablePaxosProof
from antiphon.spec.examples.proved.ticket_lock import TicketLockProof
from antiphon.spec.examples.proved.two_phase_commit import TwoPhaseProof
from antiphon.spec.examples.proved.vertical_paxos import VerticalPaxosProof
from antiphon.spec.lang import Spec

Prove = Callable[..., Report]
Unproved = Callable[..., set[str]]

PROVED: tuple[tuple[type[Spec], tuple[str, ...], int, int], ...] = (
    (LockServiceProof, ("clients",), 30, 80),
    (ClientServerProof, ("clients", "requests", "responses"), 8, 4_504),
    (MajorityVoteProof, ("nodes", "values"), 12, 41),
    (TicketLockProof, ("threads", "tickets"), 23, 80),
    (ShardedStoreProof, ("nodes", "keys", "values"), 20, 121),
    (FirewallProof, ("nodes",), 6, 68),
    (DistributedLockProof, ("hosts", "epochs"), 19, 108),
    (PaxosProof, ("acceptors", "rounds", "values"), 42, 7_377),
    (TwoPhaseProof, ("managers",), 48, 288),
)

SLOWER: tuple[tuple[type[Spec], tuple[str, ...], int, int], ...] = (
    (ClientServerDatabaseProof, ("clients", "requests", "responses", "queries"), 30, 1_278),
    (RingElectionProof, ("nodes", "identities"), 15, 576),
    (LeaderVoteProof, ("nodes", "values"), 42, 263_168),
    (NoLostKeysProof, ("nodes", "keys", "values"), 28, 100),
    (LearningSwitchProof, ("nodes",), 18, 29_241),
    (CacheCoherenceProof, ("cores", "addresses", "values"), 192, 378),
    (PaxosWithHistoryProof, ("acceptors", "rounds", "values"), 63, 17_211),
    (FlexiblePaxosProof, ("acceptors", "rounds", "values", "deciders"), 42, 7_377),
    (FastPaxosProof, ("acceptors", "rounds", "values"), 120, 33_324),
    (MultiPaxosProof, ("acceptors", "rounds", "values", "instances"), 49, 7_929),
    (StoppablePaxosProof, ("acceptors", "rounds", "values", "places"), 90, 6_384),
    (VerticalPaxosProof, ("acceptors", "rounds", "values", "quorums", "configurations"), 108, 138),
    (PetersonProof, ("locks",), 21, 42),
    (BlockCacheProof, ("blocks", "contents", "locations", "requests"), 240, 12_960),
    (RaftProof, ("servers", "terms", "places", "values"), 248, 44_572),
    (BoscoProof, ("nodes", "faults", "values"), 112, 300_000),
    (HybridBroadcastProof, ("nodes", "crashes", "omissions", "symmetric", "arbitrary"), 36, 300_000),
)


def see_proved(report: Report, every: tuple[str, ...], obligations: int, states: int) -> None:
    """All that is asked is proved, of so many obligations, after so many states."""
    assert report.outcome is Outcome.HOLDS, report
    assert {item.evidence.kind for item in report.verdicts} == {EvidenceKind.PROVED}
    assert all(item.evidence.bound.startswith(f"for every {', '.join(every)}") for item in report.verdicts)
    assert len(report.obligations) == obligations
    assert min(report.exploration.states, EXPLORED_STATES) == states
    assert report.exploration.complete == (states < EXPLORED_STATES)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("spec", "every", "obligations", "states"), PROVED)
def test_a_protocol_is_proved_for_every_n(
    prove: Prove, spec: type[Spec], every: tuple[str, ...], obligations: int, states: int
) -> None:
    """Every invariant, by induction, after all states of a small n."""
    see_proved(prove(spec, *every), every, obligations, states)


@pytest.mark.deep
@pytest.mark.parametrize(("spec", "every", "obligations", "states"), [*PROVED, *SLOWER])
def test_a_protocol_is_proved_by_every_seed(
    prove: Prove, spec: type[Spec], every: tuple[str, ...], obligations: int, states: int
) -> None:
    """A proof that one seed finds is none to rely on."""
    report = prove(spec, *every, seeds=4)
    see_proved(report, every, obligations, states)
    assert {item.seeds for item in report.obligations} == {4}


LEFT_OUT: tuple[tuple[type[Spec], tuple[str, ...], str, set[str]], ...] = (
    (LockServiceProof, ("clients",), "OneGrant", {"receive: OnePlace"}),
    (
        LockServiceProof, ("clients",), "OnePlace",
        {"receive: MutualExclusion", "give_back: OneReturn", "take_back: FreeAtHome"},
    ),
    (LockServiceProof, ("clients",), "FreeAtHome", {"grant: OneGrant", "grant: OnePlace"}),
    (ClientServerProof, ("clients", "requests", "responses"), "OnlyAnswersSent", {"receive: OnlyAnswers"}),
    (MajorityVoteProof, ("nodes", "values"), "WhoVotedHasVoted", {"vote: OneVote"}),
    (MajorityVoteProof, ("nodes", "values"), "OneVote", {"decide: OneDecision"}),
    (MajorityVoteProof, ("nodes", "values"), "DecidedByMajority", {"decide: OneDecision"}),
    (TicketLockProof, ("threads", "tickets"), "OwnNumber",
        {"enter: MutualExclusion", "leave: WaitingForItsTurn"},
    ),
    (FirewallProof, ("nodes",), "AllowedWasWrittenTo", {"send_in: OnlyAnswers"}),
    (PetersonProof, ("locks",), "TheOtherWaits", {"enter: MutualExclusion"}),
    (
        HybridBroadcastProof, ("nodes", "crashes", "omissions", "symmetric", "arbitrary"), "Enough",
        {"accept: Unforgeability"},
    ),
    (
        HybridBroadcastProof, ("nodes", "crashes", "omissions", "symmetric", "arbitrary"), "FewAreArbitrary",
        {"accept: Unforgeability", "send: SomebodyBegan", "send_to_one: SomebodyBegan"},
    ),
    (PetersonProof, ("locks",), "FlagIsUp", {"enter: MutualExclusion", "enter: TheOtherWaits"}),
    (PaxosProof, ("acceptors", "rounds", "values"), "DecidedByMany", {"decide: OneDecision"}),
    (
        PaxosProof, ("acceptors", "rounds", "values"), "JoinedHaveLeft",
        {"propose: NoOtherChoice", "propose_again: NoOtherChoice"},
    ),
    (PaxosWithHistoryProof, ("acceptors", "rounds", "values"), "RefusersAreMany", {"decide: OneDecision"}),
    (PaxosWithHistoryProof, ("acceptors", "rounds", "values"), "RefusersDidNotVote", {"decide: OneDecision"}),
    (PaxosWithHistoryProof, ("acceptors", "rounds", "values"), "DecidersVoted", {"decide: OneDecision"}),
    (PaxosWithHistoryProof, ("acceptors", "rounds", "values"), "DecidersAreMany", {"decide: OneDecision"}),
    (
        PaxosWithHistoryProof, ("acceptors", "rounds", "values"), "JoinedHaveLeft",
        {"propose: RefusersDidNotVote", "propose_again: RefusersDidNotVote"},
    ),
)  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "every", "invariant", "failed"), LEFT_OUT)
def test_without_an_invariant_the_proof_fails_where_it_is_needed(
    unproved: Unproved, spec: type[Spec], every: tuple[str, ...], invariant: str, failed: set[str]
) -> None:
    """The obligations that fail are those that lean on what is missing."""
    assert unproved(spec, every, (invariant,)) == failed


def test_the_proof_of_the_promise_alone_fails(unproved: Unproved) -> None:
    """Mutual exclusion is no inductive invariant by itself: somebody may get the lock while another has
    it.
    """
    others = ("OneGrant", "OneReturn", "OnePlace", "FreeAtHome")
    assert unproved(LockServiceProof, ("clients",), others) == {"receive: MutualExclusion"}
