"""The examples have as many reachable states as TLC found in their TLA+ originals, and their properties come
out as their texts say.
"""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.model.engines import StorageOptions
from antiphon.model.explore import check, liveness
from antiphon.model.verdict import Outcome
from antiphon.spec.examples.alternating_bit import AlternatingBit, OneAtATime
from antiphon.spec.examples.bcast_byz import BcastByz, Control, Process
from antiphon.spec.examples.chameneos import Chameneos, Creature
from antiphon.spec.examples.chang_roberts import ChangRoberts, Standing
from antiphon.spec.examples.chang_roberts import Node as Ring
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers, Philosopher
from antiphon.spec.examples.ewd840 import EWD840, Node
from antiphon.spec.examples.nbacg_guer01 import NbacgGuer01, Status
from antiphon.spec.examples.nbacg_guer01 import Process as Voter
from antiphon.spec.examples.published import PUBLISHED, Published
from antiphon.spec.examples.voting import Consensus, Voting
from antiphon.spec.lang import Set, Spec, program, require

QUICK = 50_000
SMALL = [count for count in PUBLISHED if count.distinct <= QUICK]
LARGE = [count for count in PUBLISHED if count.distinct > QUICK]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("count", SMALL, ids=[f"{count.spec.__name__}-{count.distinct}" for count in SMALL])
def test_the_reachable_states_are_as_many_as_published(count: Published) -> None:
    bound = program(count.spec, **count.constants)
    explored = check(bound, properties=(), storage=StorageOptions(symmetry=count.symmetry)).exploration
    assert explored.complete
    assert explored.states == count.distinct
    if count.generated is not None:
        assert explored.transitions + len(bound.reference.initial()) == count.generated


@pytest.mark.parametrize("count", LARGE, ids=[f"{count.spec.__name__}-{count.distinct}" for count in LARGE])
def test_machine_code_finds_as_many_where_there_are_many(count: Published) -> None:
    explored = check(program(count.spec, **count.constants), properties=(), engine="native").exploration
    assert (explored.complete, explored.states) == (True, count.distinct)
    if count.generated is not None:
        assert explored.transitions + 1 == count.generated


def test_every_public_count_is_held_against_an_engine() -> None:
    """The public TLA+ examples record these counts for their originals; each row is checked above by an
    engine.
    """
    found = {(count.spec.__name__, count.distinct) for count in PUBLISHED}
    assert found >= {
        *(("TwoPhase", states) for states in (288, 8_832, 296_448, 1_745_408)), ("EWD840", 302),
        ("EWD840", 1_566), ("DieHard", 16), ("Voting", 77),
        ("AlternatingBit", 240), ("OneAtATime", 20),
        ("Chameneos", 34_534), ("ChangRoberts", 137), ("DiningPhilosophers", 67),
        ("BcastByz", 14_424), ("NbacgGuer01", 24_922),
    }  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "count",
    [count for count in SMALL if count.distinct <= 302 and not count.symmetry],
    ids=lambda count: f"{count.spec.__name__}-{count.distinct}",
)
def test_the_reference_finds_as_many(count: Published) -> None:
    assert (
        check(program(count.spec, **count.constants), properties=(), engine="reference").exploration.states
        == count.distinct
    )


def outcomes(spec: type[Spec], *properties: str, **constants: Any) -> dict[str, tuple[Outcome, int]]:
    """Outcome of every property, and the length of its trace."""
    report = check(program(spec, **constants), properties=properties or None)
    return {verdict.property: (verdict.outcome, len(verdict.trace or ())) for verdict in report.verdicts}


def test_the_solution_of_die_hard_is_the_shortest_counterexample() -> None:
    """Six steps, as in the film."""
    assert outcomes(DieHard) == {"NotSolved": (Outcome.VIOLATED, 6)}


def test_jugs_of_six_and_three_gallons_never_hold_four() -> None:
    assert outcomes(DieHard, big_jug=6) == {"NotSolved": (Outcome.HOLDS, 0)}


@pytest.mark.parametrize(
    "spec", [DiningPhilosophers, EWD840, ChangRoberts, Voting, Consensus, AlternatingBit, OneAtATime]
)
def test_all_properties_hold(spec: type[Spec]) -> None:
    assert {outcome for outcome, _ in outcomes(spec).values()} == {Outcome.HOLDS}


def test_the_game_of_three_creatures_ends_and_its_meetings_add_up() -> None:
    assert {outcome for outcome, _ in outcomes(Chameneos, creatures=3, meetings=3).values()} == {
        Outcome.HOLDS
    }


def test_philosophers_who_begin_alike_hand_all_forks_round_once_and_starve() -> None:
    assert outcomes(DiningPhilosophers, "deadlock") == {"deadlock": (Outcome.HOLDS, 0)}
    assert outcomes(DiningPhilosophers, "deadlock", alike=True) == {"deadlock": (Outcome.VIOLATED, 5)}


def test_byzantine_processes_beyond_what_is_tolerated_forge_a_broadcast() -> None:
    """Two of four, where one is tolerated: the others accept what nobody has broadcast, and are too few to
    convince one another.
    """
    found = outcomes(BcastByz, faulty=2)
    violated = {name for name, (outcome, _) in found.items() if outcome is Outcome.VIOLATED}
    assert violated == {"FCConstraints", "CorrLtl", "RelayLtl", "UnforgLtl"}


@pytest.mark.parametrize(
    ("spec", "broken"),
    [(BcastByz, {"CorrLtl", "RelayLtl"}), (NbacgGuer01, {"TerminationLtl"})],
)
def test_nothing_comes_about_without_the_promise(spec: type[Spec], broken: set[str]) -> None:
    bound = program(spec)
    report = liveness.judge(bound, liveness.declared(bound).values(), fairness={"progress": "none"})
    violated = {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}
    assert violated == broken


class Forgetful(EWD840):
    """Nodes do not turn black when they give work to one that the token has passed."""

    def send_message(self, p: Node, q: Node) -> None:
        require(self.active[p] and p != q)
        self.active[q] = True


class Deaf(ChangRoberts):
    """Processes that have lost pass nothing on; a process that hears anything has won."""

    def receive(self, p: Ring, identity: Ring) -> None:
        require(self.started[p] and identity in self.messages[p])
        self.messages[p] -= {identity}
        self.standing[p] = Standing.WON


class Greedy(DiningPhilosophers):
    """One fork is enough."""

    def can_eat(self, p: Philosopher) -> bool:
        return self.holder[p] == p


class Rash(NbacgGuer01):
    """One vote YES is enough to commit."""

    def commit(self, i: Voter) -> None:
        require(self.pc[i] is Status.SENT and self.received_yes[i] > 0)
        self.pc[i] = Status.COMMIT


class Trusting(BcastByz):
    """Processes pass on a message that a single process sent."""

    def upon_non_faulty(self, p: Process, new: Set[Process]) -> None:
        require(p in self.correct and self.from_any_sender(new))
        require(self.pc[p] is Control.V0 and self.heard(p, new) > 0)
        self.received[p] |= new
        self.pc[p] = Control.SE
        self.sent |= {p}


class Miscounted(Chameneos):
    """The one that waited forgets the meeting."""

    def meet(self, c: Creature) -> None:
        require(self.waiting is not None and self.waiting != c)
        self.met[c] += 1
        self.waiting = None
        self.held += 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("mutant", "broken", "constants"),
    [
        (Forgetful, {"TerminationDetection", "Inv"}, {}),
        (Deaf, {"Correctness"}, {}),
        (Greedy, {"ExclusiveAccess"}, {}),
        (Rash, {"AgrrLtl", "AbortValidityLtl"}, {}),
        (Trusting, {"UnforgLtl"}, {}),
        (Miscounted, {"SumMet"}, {"creatures": 2, "meetings": 2}),
    ],
)
def test_a_mutant_breaks_its_property(
    mutant: type[Spec], broken: set[str], constants: dict[str, int]
) -> None:
    violated = {
        name
        for name, (outcome, _) in outcomes(mutant, *broken, **constants).items()
        if outcome is Outcome.VIOLATED
    }
    assert broken == violated
