"""With a guard dropped the proof fails at the conjunct that one expects; what is proved of a mutant is true
of it.
"""

from collections.abc import Callable

import pytest

from antiphon.model.explore import check
from antiphon.model.mutation import mutants_of
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.proved.client_server import ClientServerDatabase, ClientServerDatabaseProof
from antiphon.spec.examples.proved.distributed_lock import DistributedLock, DistributedLockProof
from antiphon.spec.examples.proved.firewall import Firewall, FirewallProof
from antiphon.spec.examples.proved.lock_service import LockService, LockServiceProof
from antiphon.spec.examples.proved.majority_vote import (
    LeaderVote,
    LeaderVoteProof,
    MajorityVote,
    MajorityVoteProof,
)
from antiphon.spec.examples.proved.ring_election import RingElection, RingElectionProof
from antiphon.spec.examples.proved.sharded_store import ShardedStore, ShardedStoreProof
from antiphon.spec.examples.proved.ticket_lock import TicketLock, TicketLockProof
from antiphon.spec.lang import Program, Spec, SpecError, program

Unproved = Callable[..., set[str]]

GUARDS: dict[str, set[str]] = {
    "LockService.grant: guard dropped: `self.free`": {"grant: OneGrant", "grant: OnePlace"},
    "LockService.grant: guard dropped: `c in self.asking`": set(),
    "LockService.receive: guard dropped: `c in self.granted`": {
        "receive: MutualExclusion", "receive: OnePlace", "receive: FreeAtHome",
    },
    "LockService.give_back: guard dropped: `self.holding[c]`": {
        "give_back: OneReturn", "give_back: OnePlace", "give_back: FreeAtHome",
    },
    "LockService.take_back: guard dropped: `c in self.returned`": {"take_back: FreeAtHome"},
}  # fmt: skip
"""Conjunct that fails without each guard. A grant to a process that has not asked breaks no promise."""


def test_without_a_guard_the_proof_fails_at_the_conjunct_that_needs_it(unproved: Unproved) -> None:
    """Guard by guard of the lock service."""
    found = {
        mutant.name: unproved(mutant.of(program(LockServiceProof)), ("clients",), step=mutant.method)
        for mutant in mutants_of(program(LockServiceProof), lambda cls: cls is LockService)
        if "guard dropped" in mutant.name
    }
    assert found == GUARDS


def test_a_majority_that_is_none_fails_where_it_is_counted(unproved: Unproved) -> None:
    """Half of the nodes are not enough, though three nodes have no half: the proof is about every n."""
    (mutant,) = [
        item
        for item in mutants_of(program(MajorityVoteProof), lambda cls: cls is MajorityVote)
        if "comparison shifted" in item.name
    ]
    assert mutant.name.endswith("Vote(p, v) in self.votes)) >= self.nodes`")
    bound = mutant.of(program(MajorityVoteProof))
    assert unproved(bound, ("nodes", "values"), step="decide") == {"decide: DecidedByMajority"}
    assert check(bound).outcome is Outcome.HOLDS


ALL: tuple[tuple[type[Spec], type[Spec], tuple[str, ...], dict[str, int]], ...] = (
    (LockServiceProof, LockService, ("clients",), {"clients": 2}),
    (ClientServerDatabaseProof, ClientServerDatabase, ("clients", "requests", "responses", "queries"), {}),
    (RingElectionProof, RingElection, ("nodes", "identities"), {"nodes": 2, "identities": 2}),
    (MajorityVoteProof, MajorityVote, ("nodes", "values"), {}),
    (LeaderVoteProof, LeaderVote, ("nodes", "values"), {"nodes": 2}),
    (TicketLockProof, TicketLock, ("threads", "tickets"), {"threads": 2, "tickets": 3}),
    (ShardedStoreProof, ShardedStore, ("nodes", "keys", "values"), {"keys": 1}),
    (FirewallProof, Firewall, ("nodes",), {}),
    (DistributedLockProof, DistributedLock, ("hosts", "epochs"), {"hosts": 2, "epochs": 2}),
)


@pytest.mark.deep
@pytest.mark.parametrize(("proof", "text", "every", "sizes"), ALL)
def test_what_is_proved_of_a_mutant_is_true_of_it(
    unproved: Unproved, proof: type[Spec], text: type[Spec], every: tuple[str, ...], sizes: dict[str, int]
) -> None:
    """A mutant whose proof is whole breaks nothing at a small n; most mutants have none."""
    bound, broken = program(proof, **sizes), 0
    for mutant in mutants_of(bound, lambda cls: cls is text):
        try:
            changed: Program = mutant.of(bound)
            failed = unproved(changed, every)
        except SpecError:
            continue
        seen = check(changed)
        wrong = [
            item for item in seen.verdicts if item.outcome is Outcome.VIOLATED or item.kind == "specification"
        ]
        assert failed or not wrong, mutant.name
        broken += bool(wrong)
    assert broken
