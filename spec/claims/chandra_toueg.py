"""Claims of Chandra and Toueg on the consensus with rotating coordinators, and the verdicts of the machines.

A crash is suspected at once by all, and local steps come first (`detected_at_once`, `urgent`). Two processes
are explored in any run of the ledger, three in deep ones: two processes are a majority only together, and a
value gets locked only when nobody else is left to hold another value.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.chandra_toueg.properties import ChandraTouegChecked, ChandraTouegForever
from antiphon.spec.protocols.chandra_toueg.refinement import ChandraTouegIsConsensus

Constants = Mapping[str, int | bool | str]

_BOUNDS: Constants = {"rounds": 2, "urgent": True, "detected_at_once": True}
_PAIR: Constants = {**_BOUNDS, "processes": 2, "values": 2, "crashes": 0, "false_suspicions": 1}
_ALONE: Constants = {**_PAIR, "crashes": 1, "false_suspicions": 0}
_THREE: Constants = {**_BOUNDS, "processes": 3, "values": 2, "crashes": 1, "false_suspicions": 1}
_CRASHING: Constants = {**_THREE, "false_suspicions": 0}
_ENDING: Constants = {**_THREE, "values": 1, "rounds": 3}
_FOREVER: Constants = {**_PAIR, "values": 1, "false_suspicions": 2}
_FOREVER_ALONE: Constants = {**_ALONE, "values": 1}


def _check(
    property: str,
    outcome: RecordedOutcome,
    of: Constants,
    length: int | None = None,
    spec: type[Spec] = ChandraTouegChecked,
    **fault: bool,
) -> Check:
    return Check(
        spec,
        property,
        outcome,
        constants={**of, **fault},
        length=length,
        deep=of["processes"] != 2,
        long_for_z3=True,
    )


def _holds(*properties: str) -> tuple[Check, ...]:
    """Return checks that the properties hold: with two processes and one false suspicion, and, deep, with
    three processes and a crash.
    """
    return tuple(_check(property, "holds", of) for of in (_PAIR, _THREE) for property in properties)


def _says(section: str, quotation: str, figure: str = "6") -> Source:
    return Source(Document.CHANDRA_TOUEG, section, quotation, figure=figure)


CHANDRA_TOUEG: tuple[Claim, ...] = (
    Claim(
        "CT-01",
        _says("6.2", "(Uniform agreement) No two processes decide differently."),
        "Whatever the detector says, no two processes decide differently, whether they crash or not.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "With three processes, two values, two rounds, one crash and one false suspicion, in every reachable "
        "state. It takes a majority in phases 2 and 4, the largest timestamp in phase 2, and that who "
        "suspects does not acknowledge in phase 3: without one of these, two decide differently.",
        (
            *_holds("UniformAgreement", "Agreement"),
            _check("UniformAgreement", "violated", _PAIR, 15, half_is_enough=True),
            _check("UniformAgreement", "violated", _CRASHING, 17, half_is_enough=True),
            _check("UniformAgreement", "violated", _CRASHING, 20, ignore_timestamps=True),
            _check("UniformAgreement", "violated", _THREE, 21, acknowledge_suspected=True),
            *(
                _check(witness, "holds", _THREE, length)
                for witness, length in (("AllDecide", 15), ("WrongSuspicion", 15), ("LaterRound", 13))
            ),
        ),
    ),
    Claim(
        "CT-02",
        _says("6.2", "In the second epoch, a value gets locked: no other decision value is possible."),
        "What a majority has adopted in a round is what every later coordinator proposes.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "It is why CT-01 holds, and fails with each of the faults that break it.",
        (
            *_holds("Locked", "OneProposal"),
            _check("Locked", "violated", _PAIR, 10, half_is_enough=True),
            _check("Locked", "violated", _CRASHING, 12, half_is_enough=True),
            _check("Locked", "violated", _CRASHING, 14, ignore_timestamps=True),
            _check("Locked", "violated", _THREE, 13, acknowledge_suspected=True),
        ),
    ),
    Claim(
        "CT-03",
        _says(
            "6.2",
            "From the algorithm it is also clear that all the estimates that a coordinator receives in Phase "
            "2 are proposed values.",
        ),
        "A process decides once, and what a process has proposed.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Uniform validity and uniform integrity.",
        _holds("Validity", "Integrity"),
    ),
    Claim(
        "CT-04",
        _says(
            "6.2",
            "The algorithm in Figure 6 solves Consensus using ◇S in asynchronous systems with f < ⌈n/2⌉.",
        ),
        "Every correct process decides in the end, if a majority is correct and some correct process is "
        "suspected by nobody from some time on.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "On fair runs without a bound on rounds, of two processes that may suspect each other twice: where "
        "one is trusted in the end, all decide, and where none is, rounds go on for ever. And of three, with "
        "a crash and a false suspicion, from every state all can decide within three rounds.",
        (
            _check("DecidedIfTrusted", "holds", _FOREVER, spec=ChandraTouegForever),
            _check("Decided", "violated", _FOREVER, 18, ChandraTouegForever),
            _check("Termination", "holds", _PAIR),
            _check("Termination", "holds", _ENDING),
        ),
    ),
    Claim(
        "CT-05",
        _says("6.2", "This algorithm relies on the assumption that f < ⌈n/2⌉"),
        "Without a majority of correct processes it blocks, and decides nothing wrong.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "Of two processes one crashes: the other waits in phase 2 or 4 for ever, whomever it trusts. That no "
        "algorithm does better (theorem 5) is about all algorithms, and no property of this one.",
        (
            _check("Termination", "violated", _ALONE, 2),
            _check("DecidedIfTrusted", "violated", _FOREVER_ALONE, 3, ChandraTouegForever),
            _check("UniformAgreement", "holds", _ALONE),
            _check("Termination", "holds", _PAIR),
        ),
    ),
    Claim(
        "CT-06",
        _says(
            "6",
            "They ensure that no two processes, whether correct or faulty, decide differently — a property "
            "called uniform agreement",
            "",
        ),
        "Figure 6 does nothing that the abstract machine of consensus could not do: the first decision "
        "chooses, every other one learns.",
        Standing.IMPLIED,
        Kind.COMPOSITION,
        "holds",
        "So whoever uses the machine as a part may use the algorithm, as figures 29 and 32 of the RBP report "
        "do.",
        (
            _check("Refinement", "holds", _PAIR, spec=ChandraTouegIsConsensus),
            _check("Refinement", "holds", _THREE, spec=ChandraTouegIsConsensus),
            _check("Refinement", "violated", _PAIR, 15, ChandraTouegIsConsensus, half_is_enough=True),
        ),
    ),
)
"""Claims CT-01 to CT-06."""
