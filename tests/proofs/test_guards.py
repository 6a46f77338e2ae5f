"""With one guard of a step dropped, the step's proof fails at the conjuncts that the guard is for, and at no
other. Raft's is not proved again without each guard, which takes a minute: its invariants are explored.
"""

from collections.abc import Callable, Iterator

import pytest

from antiphon.model.bounds import Bounds
from antiphon.model.explore import check
from antiphon.model.mutation import mutants_of
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.proved.block_cache import BlockCache, BlockCacheProof
from antiphon.spec.examples.proved.paxos import (
    Paxos,
    PaxosWithHistory,
    PaxosWithHistoryProof,
    Rounds,
)
from antiphon.spec.examples.proved.raft import Raft, RaftProof
from antiphon.spec.lang import Spec, SpecError, program

Unproved = Callable[..., set[str]]
Table = dict[str, dict[str, set[str]]]

PAXOS_WITH_HISTORY: Table = {
    "join": {"r in self.begun": set(), "Member(a, r) not in self.left": set(), "below < r": set()},
    "propose": {
        "not self.is_proposed(r)": {"OneProposal"},
        "self.joins(quorum)": {"RefusersAreMany"},
        "self.have_joined(quorum, r)": {"RefusersDidNotVote"},
        "self.never_voted(quorum, r)": {"RefusersDidNotVote"},
    },
    "propose_again": {
        "not self.is_proposed(r)": {"OneProposal"},
        "self.joins(quorum)": {"RefusersAreMany"},
        "self.have_joined(quorum, r)": {"RefusersDidNotVote"},
        "self.voted_last(quorum, r, last, v)": {"RefusersAreMany", "RefusersDidNotVote"},
    },
    "vote": {
        "Member(a, r) not in self.left": {"RefusersDidNotVote"},
        "Choice(r, v) in self.proposed": {"VotesAreProposed"},
    },
    "decide": {
        "self.decides(r, v)": {"OneDecision", "DecidersAreMany", "DecidedIsProposed"},
        "Vote(a, r, v) in self.votes": {"DecidersVoted"},
    },
}
"""An acceptor that joins a round of nobody, or one that it has left, or leaves too many, is of no harm."""

BLOCK_CACHE: Table = {
    "write": {
        "not self.synchronizing or b not in self.frozen_dirty": {"FrozenIsDirty"},
        "self.cached[b] is not None": {"ReadsAreAsked"},
    },
    "allocate": {
        "self.cached[b] is None": set(),
        "self.current_at[b] is None": {"CurrentTable", "DirtyIsInCache", "ReadsAreAsked"},
        "b not in self.dirty": set(),
        "not self.synchronizing or (self.frozen_at[b] is None and b not in self.frozen_dirty)": set(),
    },
    "read": {
        "self.current_at[b] is not None": {"ReadsAreAsked"},
        "self.cached[b] is None": {"ReadsAreAsked"},
        "all((self.reading[other] != b for other in self.each(Request)))": {"OneReadABlock"},
        "self.reads[i] is None": set(),
    },
    "read_done": {
        "self.reading[i] == b": {"CachedIsCurrent", "CleanIsOnDisk", "FrozenIsDirty", "ReadsAreAsked"},
        "self.content[at] == c": {"CachedIsCurrent"},
    },
    "evict": {
        "self.cached[b] is not None": set(),
        "b not in self.dirty": {"DirtyIsInCache", "FrozenIsDirty", "NothingIsLost"},
    },
    "write_back": {
        "all((self.persistent_at[other] != at for other in self.each(Block)))":
            {"NothingNamedIsWritten", "PersistentTable"},
        "all((self.current_at[other] != at for other in self.each(Block)))": {"CurrentTable"},
        "all((self.frozen_at[other] != at for other in self.each(Block)))":
            {"FrozenTable", "NothingNamedIsWritten"},
        "self.cached[b] is not None": set(),
        "self.writing[i] is None": set(),
        "self.writes[i] is None": set(),
        "b in self.dirty": set(),
        "self.synchronizing": set(),
        "b in self.frozen_dirty": {"FrozenTable", "FrozenTableIsOnDisk", "NothingNamedIsWritten"},
    },
    "write_back_done": {
        "self.writing[i] is not None": set(),
        "self.writes[i] is not None": set(),
    },
    "freeze": {
        "len(self.writing_table) == 0": {"DiskWritesTheFrozenTable", "OneTableIsWritten"},
    },
    "write_table": {
        "self.synchronizing": {"FrozenTableIsOnDisk"},
        "len(self.frozen_dirty) == 0": {"FrozenTableIsOnDisk"},
        "self.frozen_table is None": {"DiskWritesTheFrozenTable", "OneTableIsWritten"},
        "self.persistent_table != table": {"FrozenTableIsOnDisk", "PersistentTableIsOnDisk"},
        "all((self.writing[other] is None for other in self.each(Request)))": {"NothingNamedIsWritten"},
        "self.table_writes[i] is None": set(),
        "row.table == table": {"PersistentTableIsOnDisk"},
        "self.frozen_at[b] == at": {"FrozenTableIsOnDisk"},
    },
    "write_table_done": {
        "i in self.writing_table": set(),
        "self.frozen_table is not None": set(),
        "self.table_writes[i] == self.frozen_table": set(),
    },
    "end": {
        "self.synchronizing": set(),
        "self.frozen_table is not None": {"Formatted", "NothingNamedIsWritten", "PersistentTable"},
        "len(self.writing_table) == 0": {"DiskWritesTheFrozenTable", "OneTableIsWritten"},
    },
}  # fmt: skip
"""Not needed for what is promised: that a block which is in the cache, or an old snapshot, is not allocated
again, that requests have numbers of their own, that only what is dirty is written back, and what follows from
other guards.
"""

PROOFS: tuple[tuple[type[Spec], tuple[type[Spec], ...], tuple[str, ...], Table], ...] = (
    (
        PaxosWithHistoryProof, (Rounds, Paxos, PaxosWithHistory), ("acceptors", "rounds", "values"),
        PAXOS_WITH_HISTORY,
    ),
    (BlockCacheProof, (BlockCache,), ("blocks", "contents", "locations", "requests"), BLOCK_CACHE),
)  # fmt: skip


def guards() -> Iterator[tuple[type[Spec], tuple[type[Spec], ...], tuple[str, ...], str, str, set[str]]]:
    """Every guard of every table."""
    for proof, texts, every, table in PROOFS:
        for step, dropped in table.items():
            for guard, failed in dropped.items():
                yield proof, texts, every, step, guard, failed


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("proof", "texts", "every", "step", "guard", "failed"), list(guards()))
def test_without_a_guard_the_proof_fails_where_the_guard_is_needed(
    unproved: Unproved,
    proof: type[Spec],
    texts: tuple[type[Spec], ...],
    every: tuple[str, ...],
    step: str,
    guard: str,
    failed: set[str],
) -> None:
    """Only the obligations of the step whose guard is dropped can fail."""
    bound = program(proof)
    (mutant,) = [
        item
        for item in mutants_of(bound, lambda cls: cls in texts)
        if item.name.endswith(f".{step}: guard dropped: `{guard}`")
    ]
    found = unproved(mutant.of(bound), every, step=step)
    assert found == {f"{step}: {name}" for name in failed}


@pytest.mark.parametrize(("proof", "texts", "every", "table"), PROOFS)
def test_every_guard_of_a_step_stands_in_the_table(
    proof: type[Spec], texts: tuple[type[Spec], ...], every: tuple[str, ...], table: Table
) -> None:
    """A text without a guard that is not listed is refused, and no guard is listed that the text does not
    have.
    """
    bound = program(proof)
    steps = {action.name for action in bound.module.actions}
    listed = {(step, guard) for step, dropped in table.items() for guard in dropped}
    found = set()
    for item in mutants_of(bound, lambda cls: cls in texts):
        where, _, change = item.name.partition(": ")
        step, guard = where.partition(".")[2], change.partition("`")[2][:-1]
        if change.startswith("guard dropped") and step in steps:
            found.add((step, guard))
            if (step, guard) not in listed:
                with pytest.raises(SpecError):
                    _ = item.of(bound).module
    assert listed <= found


TWO = {"servers": 2, "places": 2}
RAFT: tuple[tuple[str, str, dict[str, int], set[str]], ...] = (
    ("append", "message.term not in self.left[s]", TWO, {"RequestShowsLog"}),
    ("stand", "any((below < t and below not in self.left[s] for below in self.each(Term)))", TWO,
        {"OneRequest", "OneVote"}),
    ("stand", "self.ends(self.log[s], last)", TWO, {"RequestShowsLog"}),
    ("vote", "all((Vote(s, request.term, c) not in self.votes for c in self.each(Server)))", TWO,
        {"OneVote", "ElectionSafety"}),
    ("vote", "self.ends(self.log[s], mine)", {}, {"ElectedHasIt", "StateMachineSafety"}),
    ("vote", "self.is_behind(mine, request.last)", {}, {"ElectedHasIt", "StateMachineSafety"}),
    ("lead", "t not in self.left[s]", TWO, {"NoFutureEntries"}),
    ("lead", "2 * sum((1 for v in self.each(Server) if Vote(v, t, s) in self.votes)) > self.servers", TWO,
        {"ElectedByMajority", "ElectionSafety"}),
    ("propose", "self.is_leading(s, t)", TWO, {"LogNeedsLeader", "LeaderHasItsLog"}),
    ("propose", "self.ends(self.log[s], last)", TWO, {"OneEntry", "StateMachineSafety"}),
    ("propose", "self.follows(place, last)", TWO, {"OneEntry", "StateMachineSafety"}),
    ("send", "self.is_leading(s, t)", TWO, {"AppendsAreOfTheLeader"}),
    ("send", "entry in self.log[s]", TWO, {"AppendsAreOfTheLeader", "StateMachineSafety"}),
    ("send", "self.follows(entry.place, previous)", TWO, {"AppendsFollow", "LeaderCompleteness"}),
    ("send", "previous is None or self.has(self.log[s], previous.place, previous.term)", TWO,
        {"AppendsAreOfTheLeader"}),
    ("append", "previous is None or self.has(self.log[s], previous.place, previous.term)", TWO,
        {"ServersMatch", "LeaderCompleteness"}),
    ("append", "not self.has(self.log[s], entry.place, entry.term)", TWO,
        {"AcknowledgedStays", "StateMachineSafety"}),
    ("append", "e.place >= entry.place", TWO, {"ServersMatch", "LeaderCompleteness"}),
    ("commit", "self.is_leading(s, t)", {}, {"CommittedIsOfTheLeader", "StateMachineSafety"}),
    ("commit", "self.are_acknowledged(t, place)", TWO, {"CommittedByMajority"}),
)  # fmt: skip
"""Guards of Raft, the least sizes at which one is missed, and what is violated without it. A server that
enters a term of which nobody tells, or votes in a term that it has left, is of no harm.
"""


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("step", "guard", "sizes", "violated"), RAFT)
def test_without_a_guard_raft_breaks_an_invariant_that_needs_it(
    step: str, guard: str, sizes: dict[str, int], violated: set[str]
) -> None:
    """The first states of a small n have such a run."""
    bound = program(RaftProof, **sizes)
    (mutant,) = [
        item
        for item in mutants_of(bound, lambda cls: cls is Raft)
        if item.name == f"Raft.{step}: guard dropped: `{guard}`"
    ]
    report = check(mutant.of(bound), bounds=Bounds(states=60_000))
    assert violated <= {item.property for item in report.verdicts if item.outcome is Outcome.VIOLATED}
