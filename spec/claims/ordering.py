"""Claims across documents on the order that the protocols have in common, on the abstract ordering machine
and its refinements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from antiphon.spec.claims.claim import (
    Check,
    Claim,
    Document,
    Kind,
    Proof,
    RecordedOutcome,
    Source,
    Standing,
)
from antiphon.spec.claims.comparisons import COMPARISONS
from antiphon.spec.claims.definitions import MEANINGS
from antiphon.spec.protocols.chang_maxemchuk.refinement import CHANG_MAXEMCHUK
from antiphon.spec.protocols.dtp.refinement import DTP
from antiphon.spec.protocols.horus.refinement import HORUS, HORUS_TOTAL
from antiphon.spec.protocols.moving_sequencer.refinement import MOVING_SEQUENCER
from antiphon.spec.protocols.pinwheel.refinement import PINWHEEL
from antiphon.spec.protocols.rbp.refinement import RBP
from antiphon.spec.protocols.rbp_resilient.refinement import RBP_RESILIENT
from antiphon.spec.protocols.sequencer.refinement import SEQUENCER
from antiphon.spec.protocols.token_broadcast.refinement import (
    FIGURE_2,
    FIGURE_5,
    Figure2Ordered,
    Figure5Ordered,
)
from antiphon.spec.protocols.total.refinement import TOTAL
from antiphon.spec.protocols.totem.refinement import TOTEM
from antiphon.spec.refinement import Refinement
from antiphon.spec.services.ordering import OrderingChecked
from antiphon.spec.services.ordering_induction import OrderingProof
from antiphon.spec.services.unordered import BroadcastChecked

_Constants = Mapping[str, int | bool | str]

_MACHINE: _Constants = {"processes": 2, "messages": 2, "numbers": 3}
_SERIES: _Constants = {"processes": 2, "messages": 2, "numbers": 1, "series": 2}
_FORGETS: _Constants = {"processes": 2, "messages": 2, "numbers": 2, "forgets": True}
_FIGURE_12: _Constants = {"processes": 2, "messages": 2, "losses": 1, "urgent": True}
_FIGURE_12_SPARE: _Constants = {"processes": 2, "messages": 1, "losses": 1, "spare": 1}
_FIGURE_16: _Constants = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
_FIGURE_16_SPARE: _Constants = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 1, "spare": 1}
_FIGURE_16_THREE: _Constants = {"processes": 2, "messages": 3, "losses": 0, "timeouts": 1}
_FIGURE_25: _Constants = {
    "processes": 2,
    "messages": 1,
    "losses": 1,
    "crashes": 1,
    "passes": 2,
    "timeouts": 1,
}
_FIGURE_25_STRAY: _Constants = {**_FIGURE_25, "strays": 1}
_DTP: _Constants = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1, "nulls": 1}
_CM: _Constants = {"processes": 3, "messages": 2}
_PINWHEEL: _Constants = {"processes": 2, "messages": 2}
_TOTEM: _Constants = {"processes": 3, "messages": 2, "visits": 5}
_TOTAL: _Constants = {
    "processes": 2,
    "messages": 2,
    "losses": 0,
    "crashes": 0,
    "views": 2,
    "reforms": True,
    "first_ids": 2,
    "assigned": True,
}
_TOTAL_CRASH: _Constants = {
    "processes": 3,
    "messages": 2,
    "losses": 0,
    "crashes": 1,
    "views": 2,
    "assigned": True,
    "patient": True,
}
_SEQUENCER: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "views": 2}
_HORUS: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "stride": 1}
_HORUS_APART: _Constants = {
    "processes": 3,
    "messages": 3,
    "crashes": 0,
    "suspicions": 2,
    "stride": 2,
    "oracle": "one that waits",
}
_FULL: _Constants = {
    "processes": 2, "messages": 1, "casts": 2, "buffer": 2, "crashes": 0, "views": 1, "patient": True,
    "oracle": "itself",
}  # fmt: skip
_FULL_CRASH: _Constants = {
    "processes": 2, "messages": 2, "casts": 5, "buffer": 3, "crashes": 1, "patient": True, "stride": 1,
    "oracle": "one that waits",
}  # fmt: skip
_UNORDERED: _Constants = {"processes": 2, "messages": 2}
_FIGURE_2: _Constants = {"processes": 3, "messages": 2, "losses": 1}
_FIGURE_5: _Constants = {"processes": 2, "messages": 2, "losses": 1}
_ONE_LOST: _Constants = {"processes": 2, "messages": 1, "losses": 1}
_NO_ORDER: _Constants = {"processes": 2, "messages": 2, "losses": 0}


def _machine(
    property: str, outcome: RecordedOutcome, constants: _Constants, length: int | None = None
) -> Check:
    return Check(OrderingChecked, property, outcome, constants=constants, length=length)


_EVERY = ("processes", "messages", "numbers", "series")


def _proved(property: str) -> Proof:
    """Return the proof of a property of the machine that forgets nothing."""
    return Proof(OrderingProof, property, _EVERY, deep=True)


def _refines(refinement: Refinement, constants: _Constants) -> Check:
    """Return the check that every transition of the repaired protocol is a step of the abstract machine or a
    stutter.
    """
    return Check(refinement.concrete, "Refinement", "holds", "all", constants=constants)


def _fails(refinement: Refinement, constants: _Constants, length: int, *without: str) -> Check:
    """Return the check that, without these repairs, some transition is no step of the abstract machine;
    `length` is that of the shortest counterexample.
    """
    return Check(refinement.concrete, "Refinement", "violated", "all", without, constants, length)


ORDERING: tuple[Claim, ...] = (
    MEANINGS,
    Claim(
        "X-10",
        Source(
            Document.RBP,
            "3.1.2",
            "In distributed algorithms, Total Ordering is usually provided by defining a global agreed "
            "sequence of messages (for example, by "
            "assigning sequence numbers to the messages), and then delivering them to the application "
            "following that order.",
        ),
        "Every protocol of total order here is one abstract machine (assign a number, learn it, deliver in "
        "the order of the numbers), and gives "
        "total order for that reason alone.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "The machine gives uniform total order and integrity (over several series without prefixes; where a "
        "crash is forgotten, for those that do "
        "not crash); without forgetting this is proved for every number of processes, messages, numbers and "
        "series. Each repaired protocol refines it through a stated mapping, checked on every "
        "transition of the bounded model; JavaGroups' "
        "TOTAL, SEQUENCER and the TOTAL of Horus, alone and on its stack, refine the machine that forgets, "
        "the last with a series for each place; "
        "CM, Pinwheel and Totem refine it as they are described. Figures 2 and 5 order nothing: they refine "
        "the machine without numbers, and no "
        "mapping can make them this one. Without a repair the "
        "refinement fails in the variants in which a claim about order or integrity fails, at the guard "
        "that the defect breaks: a message with two "
        "numbers (MSQ-02, RBP-03, DTP-04, TOT-15, TOT-17, SEQ-08), a number with two messages (RBP-06, "
        "DTP-01), a delivery that is not the next "
        "(TOT-10, HOR-10, HOR-11), a delivery of what is not there (MSQ-05, RBP-12, HOR-06), a second "
        "delivery (RBC-01, RBC-05). Repairs that only "
        "liveness needs break no guard.",
        (
            _machine("NumberToMessage", "holds", _MACHINE),
            _machine("UniformIntegrity", "holds", _MACHINE),
            _machine("UniformTotalOrder", "holds", _MACHINE),
            _machine("UniformPrefixOrder", "holds", _MACHINE),
            _machine("UniformTotalOrder", "holds", _SERIES),
            _machine("TotalOrder", "holds", _FORGETS),
            _machine("UniformTotalOrder", "violated", _FORGETS, 17),
            _machine("Delivered", "holds", _MACHINE, 6),
            _machine("AllDelivered", "holds", _SERIES, 14),
            *map(_proved, ("NumberToMessage", "UniformIntegrity", "UniformOrderOfPairs")),
            _refines(MOVING_SEQUENCER, _FIGURE_12),
            _fails(MOVING_SEQUENCER, _FIGURE_12_SPARE, 10, "wait_for_missing_number", "answer_last"),
            _fails(MOVING_SEQUENCER, _FIGURE_12_SPARE, 7, "await_body"),
            _refines(RBP, _FIGURE_16),
            _fails(RBP, _FIGURE_16_SPARE, 9, "one_identifier"),
            _fails(RBP, _FIGURE_16_THREE, 14, "old_token"),
            _fails(RBP, _FIGURE_16, 7, "await_body"),
            replace(_refines(RBP_RESILIENT, _FIGURE_25), deep=True),
            _fails(RBP_RESILIENT, _FIGURE_25_STRAY, 11, "old_token"),
            _refines(DTP, _DTP),
            _fails(DTP, _DTP, 10, "number_passes"),
            _fails(DTP, _DTP, 5, "acknowledge_new"),
            _refines(CHANG_MAXEMCHUK, _CM),
            _refines(PINWHEEL, _PINWHEEL),
            _refines(TOTEM, _TOTEM),
            _refines(TOTAL, _TOTAL),
            _refines(TOTAL, _TOTAL_CRASH),
            _fails(TOTAL, _TOTAL, 11, "await_new_view"),
            _fails(TOTAL, _TOTAL, 4, "identify_requests"),
            _fails(TOTAL, _TOTAL, 7, "flush"),
            _refines(SEQUENCER, _SEQUENCER),
            _fails(SEQUENCER, _SEQUENCER, 11, "flush"),
            _refines(HORUS_TOTAL, _HORUS),
            _refines(HORUS_TOTAL, _HORUS_APART),
            _fails(HORUS_TOTAL, _HORUS_APART, 12, "numbers_first"),
            _fails(HORUS_TOTAL, {**_HORUS, "deliver_at_once": True}, 6),
            _refines(HORUS, _FULL),
            replace(_refines(HORUS, _FULL_CRASH), deep=True),
            _fails(HORUS, {**_FULL, "buffer": 1}, 6, "await_room", "discard_after_loss"),
            Check(BroadcastChecked, "UniformIntegrity", "holds", constants=_UNORDERED),
            Check(BroadcastChecked, "BroadcastOnce", "holds", constants=_UNORDERED),
            Check(BroadcastChecked, "AllDelivered", "holds", constants=_UNORDERED, length=6),
            Check(BroadcastChecked, "UniformTotalOrder", "violated", constants=_UNORDERED, length=6),
            _refines(FIGURE_2, _FIGURE_2),
            _refines(FIGURE_5, _FIGURE_5),
            _fails(FIGURE_2, _ONE_LOST, 4, "deliver_once"),
            _fails(FIGURE_5, _ONE_LOST, 8, "deliver_once"),
            Check(Figure2Ordered, "UniformTotalOrder", "violated", "all", constants=_NO_ORDER, length=4),
            Check(Figure5Ordered, "UniformTotalOrder", "violated", "all", constants=_NO_ORDER, length=4),
        ),
    ),
    *COMPARISONS,
)
