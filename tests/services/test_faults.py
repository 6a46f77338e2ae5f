"""Each property of each service has a fault of an abstract machine that breaks it, and beside it only what
follows from it.

The services and their properties are found, not listed: a property without a fault fails here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from tests.judge.history.examples import BROKEN_WITH
from tests.services.promises import all_promises

from antiphon.conformance.ledger import Reports
from antiphon.model.properties import kinds_of
from antiphon.model.verdict import Outcome
from antiphon.spec.environment import detector_classes
from antiphon.spec.lang import Const, Spec, constraint, initial, program
from antiphon.spec.services import (
    causal_machine,
    extended_machine,
    non_uniform,
    sequence,
    survey_machine,
    view_machine,
)
from antiphon.spec.services.consensus import ConsensusChecked
from antiphon.spec.services.destinations import Destinations
from antiphon.spec.services.events import Process

check = Reports.private().check
"""The `check` function with a cache of reports: explorations by this same code are reused."""

Sizes = Mapping[str, int]
Row = tuple[type[Spec], str | None, Sizes, set[str]]
"""A machine under a service, the fault (None: the machine as it is), sizes, and what is broken."""

PAIR = {"processes": 2, "messages": 1, "views": 2}
THREE_VIEWS = PAIR | {"views": 3}
TWO_MESSAGES = PAIR | {"messages": 2}
LINE = {"processes": 2, "messages": 2}
TRIO = {"processes": 3, "messages": 2}
ORDER = {"TotalOrder", "UniformTotalOrder", "PrefixOrder", "UniformPrefixOrder"}
RELIABLE = {"ReliableFifo", "ReliableCausal"}
CRASH = {"processes": 3, "crashes": 1}
SUSPICIONS = CRASH | {"false_suspicions": 3}


def faults_of(spec: type[Spec], sizes: Sizes, **broken: set[str] | tuple[set[str], Sizes]) -> Iterator[Row]:
    """A row for each fault of a machine: what it breaks, and its sizes where they are others."""
    for fault, names in broken.items():
        yield (spec, fault, sizes, names) if isinstance(names, set) else (spec, fault, names[1], names[0])


class Monitored(
    view_machine.BoundedMachine, view_machine.ViewSynchronousMonitor, mutations=(view_machine.GoesOn,)
):
    """The machine beside itself."""

    @initial
    def found(self) -> None:
        """Begin the service and its machine alike."""
        super().found()
        self.machine_found()


class NonUniformChecked(
    sequence.SequenceMachine,
    non_uniform.NonUniformTotalOrderBroadcast,
    mutations=(
        sequence.Backwards, sequence.Again, sequence.PassedOver, sequence.NotAccepted,
        sequence.TakenToTheGrave, sequence.BeginsLater, sequence.BeginsAtTheEnd,
        sequence.BackwardsToTheGrave,
    ),
):  # fmt: skip
    """The machine, judged by what correct processes are promised; up to `crashes` processes crash."""

    crashes: Const[int] = 1

    @constraint("crash")
    def may_crash(self) -> bool:
        """Bound: a process is left."""
        return sum(1 for p in self.each(Process) if self.gone[p]) < self.crashes


FAULTS: tuple[Row, ...] = (
    *faults_of(
        sequence.SequenceChecked,
        LINE,
        backwards=ORDER,
        again={"Integrity", "UniformIntegrity"},
        passed_over=({"Agreement", "UniformAgreement"}, TRIO),
        not_accepted={"Validity"},
        taken_to_the_grave={"UniformAgreement"},
        broadcast_again={"BroadcastOnce"},
        begins_later={"UniformPrefixOrder"},
        begins_at_the_end={"PrefixOrder", "UniformPrefixOrder"},
        backwards_to_the_grave={"UniformTotalOrder", "UniformPrefixOrder"},
    ),
    *faults_of(
        NonUniformChecked,
        LINE,
        backwards={"TotalOrder", "PrefixOrder"},
        again={"Integrity"},
        passed_over=({"Agreement"}, TRIO),
        not_accepted={"Validity"},
        begins_at_the_end={"PrefixOrder"},
        taken_to_the_grave=set(),
        begins_later=set(),
        backwards_to_the_grave=set(),
    ),
    *faults_of(sequence.NumberedChecked, LINE, counts_down={"UniformNumbering"}),
    *faults_of(
        causal_machine.CausalChecked,
        TRIO | {"views": 1},
        own_sender_only={"Causal", "ReliableCausal"},
        unordered={"Fifo", "Causal", *RELIABLE},
        with_gaps=RELIABLE,
        gaps_between_senders={"ReliableCausal"},
    ),
    *faults_of(
        view_machine.ViewSynchronyChecked,
        THREE_VIEWS,
        told_others={"ViewAgreement"},
        not_included={"SelfInclusion"},
        installs_again={"LocalMonotonicity"},
        split_off={"PrimaryPartition"},
        sends_outside=({"InitialView"}, THREE_VIEWS | {"joiners": 1}),
        goes_on={"ViewSynchrony"},
        delivered_later={"SendingViewDelivery"},
        delivered_anywhere={"SameViewDelivery", "SendingViewDelivery"},
        delivered_twice={"UniformIntegrity", "Integrity"},
        broadcast_twice={"BroadcastOnce"},
        sends_on={"VscValidity"},
        lives_on={"VscTermination"},
        hasty=({"VscTermination"}, THREE_VIEWS | {"processes": 3}),
    ),
    *faults_of(Monitored, PAIR, goes_on={"StepOfTheMachine"}),
    *faults_of(view_machine.UniformChecked, PAIR, dead_forgotten={"UniformDelivery"}),
    *faults_of(
        extended_machine.ExtendedChecked,
        THREE_VIEWS,
        told_alone={"TransitionalSet"},
        moves_early={"FailureAtomicity"},
        not_safe={"SafeDelivery"},
    ),
    *faults_of(
        extended_machine.OrderedPartsChecked,
        TWO_MESSAGES | {"crashes": 0},
        passes_over={"ExtendedTotalOrder"},
    ),
    *faults_of(
        survey_machine.IndicatingChecked,
        PAIR,
        passes_over=({"AgreementOnSuccessors"}, THREE_VIEWS),
        told_too_early={"IndicatedIsDelivered"},
        told_at_once={"SafeIndication", "SafeIndicationPrefix"},
        told_alone=({"SafeIndicationPrefix"}, TWO_MESSAGES),
        never_told={"SafeIndicationLiveness"},
        stays_behind={"MembershipPrecision"},
        deaf={"MulticastLiveness", "TerminationOfDelivery", "SafeIndicationLiveness"},
        crashes_at_the_end={"TerminationOfDelivery"},
    ),
    *faults_of(
        survey_machine.OrderedChecked,
        TWO_MESSAGES,
        passed_over={"ReliableTotalOrder"},
        any_order={"WeakTotalOrder", "ReliableTotalOrder"},
    ),
    *faults_of(
        ConsensusChecked,
        CRASH,
        forgotten={"UniformAgreement"},
        unbound={"Agreement", "UniformAgreement"},
        told_again={"Integrity"},
        invented={"Validity"},
        mute={"Termination"},
        proposed_twice={"ProposeOnce"},
    ),
)
P, EventuallyP, S = detector_classes.P, detector_classes.EventuallyP, detector_classes.S
INACCURATE = {"StrongAccuracy", "WeakAccuracy", "EventualStrongAccuracy", "EventualWeakAccuracy"}
DETECTORS: tuple[Row, ...] = (
    (P, None, CRASH, set()),
    (P, "detected_at_once", CRASH, set()),
    (P, "blind", CRASH, {"StrongCompleteness", "WeakCompleteness"}),
    (EventuallyP, None, CRASH, {"StrongAccuracy"}),
    (EventuallyP, None, SUSPICIONS, {"StrongAccuracy", "WeakAccuracy"}),
    (S, None, SUSPICIONS, {"StrongAccuracy", "EventualStrongAccuracy"}),
    (detector_classes.EventuallyS, None, SUSPICIONS, INACCURATE - {"EventualWeakAccuracy"}),
    (detector_classes.Unreliable, None, SUSPICIONS, INACCURATE),
    (detector_classes.Next, None, CRASH | {"false_suspicions": 0}, {"StrongCompleteness"}),
    (detector_classes.Previous, None, CRASH | {"false_suspicions": 0}, {"StrongCompleteness"}),
    (detector_classes.Passive, None, CRASH, set()),
    (detector_classes.Passive, "absent", CRASH, {"AlarmCompleteness"}),
    (detector_classes.Passive, None, CRASH | {"false_alarms": 1}, {"AlarmAccuracy"}),
)
"""A detector is an environment: what it may do wrong is its class, not a fault."""

SOUND: tuple[Row, ...] = tuple(
    (spec, None, sizes, set[str]())
    for spec, sizes in (
        (sequence.SequenceChecked, TRIO),
        (NonUniformChecked, TRIO),
        (sequence.NumberedChecked, LINE),
        (causal_machine.CausalChecked, TRIO | {"views": 1}),
        (view_machine.UniformChecked, PAIR | {"joiners": 1}),
        (Monitored, PAIR),
        (extended_machine.OrderedPartsChecked, TWO_MESSAGES | {"crashes": 0}),
        (survey_machine.IndicatingChecked, TWO_MESSAGES),
        (survey_machine.OrderedChecked, TWO_MESSAGES),
        (ConsensusChecked, CRASH),
    )
)
"""The machines without a fault; those of views have tests of their own, with counts."""


def broken(spec: type[Spec], fault: str | None, sizes: Sizes) -> set[str]:
    """Violated properties; an unreached witness is no promise."""
    chosen: dict[str, int] = {fault: True} if fault else {}
    report = check(program(spec, **sizes, **chosen))
    return {verdict.property for verdict in report.verdicts if verdict.outcome is Outcome.VIOLATED}


def _id(value: object) -> str:
    """A name that is the same in every process."""
    if isinstance(value, type):
        return value.__name__
    return ",".join(sorted(value)) if isinstance(value, set) else str(value or "-")


@pytest.mark.sampled(85)
@pytest.mark.parametrize(
    ("spec", "fault", "sizes", "names"),
    [*FAULTS, *DETECTORS, *SOUND],
    ids=_id,
)
def test_a_fault_breaks_one_property_and_what_follows_from_it(
    spec: type[Spec], fault: str | None, sizes: Sizes, names: set[str]
) -> None:
    assert broken(spec, fault, sizes) == names


@pytest.mark.deep
def test_each_property_of_each_service_has_a_fault_that_it_alone_catches() -> None:
    """Three readings of one sentence, of which nobody promises all, stand for themselves: the witnesses of
    `ComingAndGoing` show each of them true where the two others are false.
    """
    found = all_promises()
    readings = {(cls, name) for cls, name in found if cls is Destinations}
    assert {name for _, name in readings} == {
        "AgreementBySending",
        "AgreementBySequencing",
        "AgreementByDelivery",
    }
    without = {
        f"{cls.__name__}.{name}"
        for cls, name in found - readings
        if not any(
            issubclass(spec, cls) and names == {name} | BROKEN_WITH.get(name, frozenset()) & promises_of(spec)
            for spec, _, _, names in (*FAULTS, *DETECTORS)
        )
    }
    assert len(found) > 50
    assert not without


def promises_of(spec: type[Spec]) -> frozenset[str]:
    """The properties by which a machine is judged."""
    return frozenset(kinds_of(program(spec)))


def test_each_fault_that_a_machine_declares_is_tried() -> None:
    tried = {(spec, fault) for spec, fault, _, _ in (*FAULTS, *DETECTORS) if fault}
    for spec in {spec for spec, *_ in FAULTS}:
        declared = {item.name for item in program(spec).declaration.constants if item.default is False}
        assert declared == {fault for other, fault in tried if other is spec}
