"""Protocols of the reports, proved for every number of processes, messages and losses; no repair may be left
out.
"""

from collections.abc import Callable

import pytest

from antiphon.model.verdict import EvidenceKind, Outcome, Report
from antiphon.spec.lang import program
from antiphon.spec.protocols.moving_sequencer.induction import MovingSequencerProof
from antiphon.spec.protocols.sequencer.induction import SequencerProof
from antiphon.spec.protocols.token_broadcast.induction import Figure2Proof, Figure5Proof
from antiphon.spec.services import Process
from antiphon.spec.services.ordering_induction import OrderingProof
from antiphon.spec.services.view_induction import ViewSynchronyProof
from antiphon.spec.services.view_machine import DeliveredAnywhere, DeliveredTwice, GoesOn

Prove = Callable[..., Report]
Unproved = Callable[..., set[str]]

EVERY = ("processes", "messages", "losses")
ORDERING = ("processes", "messages", "numbers", "series")
STABLE = ("processes", "messages")
VIEWS = ("processes", "messages", "views")


@pytest.mark.deep
def test_figure_5_as_repaired_delivers_honestly_for_every_n(unproved: Unproved) -> None:
    """RBC-05, RBC-08 and RBC-09: with all repairs every obligation is proved."""
    assert unproved(program(Figure5Proof, repairs="all"), EVERY) == set()


@pytest.mark.deep
def test_the_report_on_figure_5_says_for_every_n(prove: Prove) -> None:
    """After an exploration of a part of three processes and two messages."""
    report = prove(program(Figure5Proof, repairs="all"), *EVERY, seeds=4)
    assert report.outcome is Outcome.HOLDS, report
    assert report["UniformIntegrity"].evidence.kind is EvidenceKind.PROVED
    assert report["UniformIntegrity"].evidence.bound.startswith("for every processes, messages, losses")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("repair", "step", "failed"),
    [
        (
            "deliver_once", "deliver_missing",
            {"deliver_missing: UniformIntegrity", "deliver_missing: Integrity"},
        ),
        ("deliver_once", "receive_data", {"receive_data: UniformIntegrity", "receive_data: Integrity"}),
        ("recover_all", "deliver_missing", {"deliver_missing: ListedWherePassed"}),
    ],
)
def test_without_a_repair_of_figure_5_the_proof_fails_where_it_is_needed(
    unproved: Unproved, repair: str, step: str, failed: set[str]
) -> None:
    """A message is delivered twice; the token is passed on with a listed message missing."""
    assert unproved(program(Figure5Proof, repairs="all", without=[repair]), EVERY, step=step) == failed


@pytest.mark.deep
@pytest.mark.parametrize("repair", ["deliver_once", "recover_all", "start_token"])
def test_without_a_repair_of_figure_5_nothing_else_fails(unproved: Unproved, repair: str) -> None:
    """The beginning of the token concerns no safety property."""
    bound = program(Figure5Proof, repairs="all", without=[repair])
    found = {name.partition(": ")[2] for name in unproved(bound, EVERY)}
    expected = {"deliver_once": {"UniformIntegrity", "Integrity"}, "recover_all": {"ListedWherePassed"}}
    assert found == expected.get(repair, set())


@pytest.mark.deep
def test_figure_2_as_repaired_delivers_honestly_for_every_n(unproved: Unproved) -> None:
    """RBC-01, RBC-03 and RBC-04: with all repairs every obligation is proved."""
    assert unproved(program(Figure2Proof, repairs="all"), EVERY) == set()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("repair", "step", "failed"),
    [
        ("deliver_once", "receive_data", {"receive_data: UniformIntegrity", "receive_data: Integrity"}),
        ("recover_all", "receive_token", {"receive_token: DeliveredWherePassed"}),
    ],
)
def test_without_a_repair_of_figure_2_the_proof_fails_where_it_is_needed(
    unproved: Unproved, repair: str, step: str, failed: set[str]
) -> None:
    """A message is delivered twice; the token passes a process that lacks a listed message."""
    assert unproved(program(Figure2Proof, repairs="all", without=[repair]), EVERY, step=step) == failed


@pytest.mark.deep
def test_the_ordering_machine_gives_total_order_for_every_n(prove: Prove) -> None:
    """X-10: pairwise order, integrity, and one number a message, by all seeds."""
    report = prove(program(OrderingProof), *ORDERING, seeds=4)
    assert report.outcome is Outcome.HOLDS, report
    assert {item.seeds for item in report.obligations} == {4}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("invariant", "step", "failed"),
    [
        ("NumberToMessage", "deliver", {"UniformIntegrity", "Integrity", "InTheOrderOfNumbers"}),
        ("InTheOrderOfNumbers", "deliver", {"UniformOrderOfPairs"}),
        ("LearnedIsAssigned", "deliver", {"DeliveredWasReached", "InTheOrderOfNumbers", "UniformOrderOfPairs",
                                          "UniformIntegrity", "Integrity"}),
        ("DeliveredWasReached", "assign", {"InTheOrderOfNumbers"}),
    ],
)  # fmt: skip
def test_without_an_invariant_of_the_ordering_machine_the_proof_fails(
    unproved: Unproved, invariant: str, step: str, failed: set[str]
) -> None:
    """Numbers that two messages share, or that the assignments do not have, order nothing."""
    found = unproved(program(OrderingProof), ORDERING, (invariant,), step=step)
    assert found == {f"{step}: {name}" for name in failed}


def test_a_machine_that_forgets_is_not_proved_to_order(unproved: Unproved) -> None:
    """A number that a crash takes away, since nobody else has learned it, may be given again."""
    found = unproved(program(OrderingProof, forgets=True), ORDERING, step="forget")
    assert "forget: DeliveredWasReached" in found


@pytest.mark.deep
def test_figure_12_as_repaired_orders_for_every_n(unproved: Unproved) -> None:
    """MSQ-02 and MSQ-05: with all repairs every obligation is proved."""
    assert unproved(program(MovingSequencerProof, repairs="all"), EVERY) == set()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("repair", "step", "failed"),
    [
        ("wait_for_missing_number", "check_numbers", {"check_numbers: HolderKnowsAll"}),
        ("await_body", "deliver", {"deliver: UniformIntegrity", "deliver: Integrity"}),
    ],
)
def test_without_a_repair_of_figure_12_the_proof_fails_where_it_is_needed(
    unproved: Unproved, repair: str, step: str, failed: set[str]
) -> None:
    """A holder overlooks the last number; a message is delivered that is not there."""
    bound = program(MovingSequencerProof, repairs="all", without=[repair])
    assert unproved(bound, EVERY, step=step) == failed


@pytest.mark.deep
@pytest.mark.parametrize("repairs", ["all", ()])
def test_sequencer_orders_in_a_stable_view_for_every_n(
    prove: Prove, repairs: str | tuple[str, ...]
) -> None:
    """SEQ-02 and SEQ-03: as the design says it, and with all repairs."""
    report = prove(program(SequencerProof, repairs=repairs), *STABLE, seeds=4)
    assert report.outcome is Outcome.HOLDS, report
    assert report["UniformOrderOfPairs"].evidence.kind is EvidenceKind.PROVED


class KeepsForward(SequencerProof):
    """Coordinator that leaves a FORWARD in the queue from which it has taken it."""

    def take(self, sender: Process, to: Process) -> None:
        """Remove nothing."""


class HearsAgain(SequencerProof):
    """Process that does not count what it has received."""

    def hear(self, sender: Process, to: Process) -> None:
        """Count nothing."""


class EverybodyMulticasts(SequencerProof):
    """Member that multicasts its own messages itself."""

    def coordinator(self, p: Process) -> Process | None:
        """Return p."""
        return p


@pytest.mark.deep
@pytest.mark.parametrize(
    ("spec", "step", "failed"),
    [
        (KeepsForward, "receive_forward", {"MulticastOnce"}),
        (HearsAgain, "receive_data", {"DeliveredWasHandedOn"}),
        (EverybodyMulticasts, "send", {"OnlyCoordinatorMulticasts", "DeliveredWasMulticast"}),
    ],
)
def test_with_a_fault_of_sequencer_the_proof_fails_where_it_is_needed(
    unproved: Unproved, spec: type[SequencerProof], step: str, failed: set[str]
) -> None:
    """Each planted fault fails at its own invariant, or at the room of the log."""
    assert unproved(program(spec), STABLE, step=step) == {f"{step}: {name}" for name in failed}


@pytest.mark.deep
def test_the_machine_of_view_synchrony_keeps_its_promises_for_every_n(prove: Prove) -> None:
    """DEF-06: who goes on together has delivered the same, by all seeds."""
    report = prove(program(ViewSynchronyProof), *VIEWS, seeds=4)
    assert report.outcome is Outcome.HOLDS, report
    assert {item.seeds for item in report.obligations} == {4}


class AnywhereProof(ViewSynchronyProof, DeliveredAnywhere):
    """A machine that delivers a message in any view."""


class TwiceProof(ViewSynchronyProof, DeliveredTwice):
    """A machine that delivers a message twice."""


class GoesOnProof(ViewSynchronyProof, GoesOn):
    """A machine in which a process goes on with whatever it has."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("spec", "failed"),
    [
        (AnywhereProof, {"deliver: DeliveredWhereSent"}),
        (TwiceProof, {"deliver: UniformIntegrity", "deliver: Integrity"}),
    ],
)
def test_with_a_fault_of_delivery_the_proof_of_view_synchrony_fails(
    unproved: Unproved, spec: type[ViewSynchronyProof], failed: set[str]
) -> None:
    """Each planted fault fails at its own promise."""
    assert unproved(program(spec), VIEWS, step="deliver") == failed


@pytest.mark.deep
@pytest.mark.parametrize(
    ("spec", "without", "failed"),
    [
        (GoesOnProof, (), {"install: SameDeliveries"}),
        (ViewSynchronyProof, ("InItsView",), {"install: SameDeliveries", "install: AlongLinks"}),
    ],
)
def test_without_its_reason_view_synchrony_is_not_proved(
    unproved: Unproved, spec: type[ViewSynchronyProof], without: tuple[str, ...], failed: set[str]
) -> None:
    """The guard that all have delivered the same, and that a process is a member of its view."""
    assert unproved(program(spec), VIEWS, without, step="install") == failed
