"""What do the protocols have in common? Claims across documents, judged on the abstract ordering machine and on the protocols that refine it."""

from __future__ import annotations

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, Outcome, Source, Standing
from antiphon.spec.lang import Spec
from antiphon.spec.refinements import MOVING_SEQUENCER, RBP, Refinement
from antiphon.spec.services.ordering import OrderingJudged

_MACHINE = {"processes": 2, "messages": 2, "numbers": 3}
_SERIES = {"processes": 2, "messages": 2, "numbers": 1, "series": 2}
_FIGURE_12 = {"processes": 2, "messages": 2, "losses": 1, "urgent": True}
_FIGURE_12_SPARE = {"processes": 2, "messages": 1, "losses": 1, "spare": 1}
_FIGURE_16 = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
_FIGURE_16_SPARE = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 1, "spare": 1}
_FIGURE_16_THREE = {"processes": 2, "messages": 3, "losses": 0, "timeouts": 1}

_Constants = dict[str, int] | dict[str, int | bool]


def _machine(property: str, outcome: Outcome, constants: _Constants, length: int | None = None) -> Check:
    return Check(OrderingJudged, property, outcome, constants=constants, length=length)


def _refines(refinement: Refinement, constants: _Constants) -> Check:
    """Repaired, every transition is a step of the machine or a stutter."""
    spec: type[Spec] = refinement.concrete
    return Check(spec, "Refinement", "holds", "all", constants=constants)


def _fails(refinement: Refinement, constants: _Constants, length: int, *without: str) -> Check:
    """Without these repairs, some transition is none; the shortest way to it."""
    return Check(refinement.concrete, "Refinement", "violated", "all", without, constants, length)


ORDERING: tuple[Claim, ...] = (
    Claim(
        "X-10",
        Source(
            Document.RBP,
            "3.1.2",
            "In distributed algorithms, Total Ordering is usually provided by defining a global agreed sequence of messages (for example, by "
            "assigning sequence numbers to the messages), and then delivering them to the application following that order.",
        ),
        "Every protocol of total order here is one abstract machine (assign a number, learn it, deliver in the order of the numbers), and gives "
        "total order for that reason alone.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "The machine gives uniform total order and integrity; each repaired protocol refines it through a stated mapping, checked on every "
        "transition of the bounded model. Without a repair the refinement fails in the variants in which a safety claim fails, at the guard that the defect "
        "breaks: a message with two numbers (MSQ-02, RBP-03), a number with two messages (RBP-06), a delivery of what is not there (MSQ-05, RBP-12). "
        "Repairs that only liveness needs break no guard.",
        (
            _machine("NumberToMessage", "holds", _MACHINE),
            _machine("UniformIntegrity", "holds", _MACHINE),
            _machine("UniformTotalOrder", "holds", _MACHINE),
            _machine("UniformPrefixOrder", "holds", _MACHINE),
            _machine("UniformTotalOrder", "holds", _SERIES),
            _machine("Delivered", "holds", _MACHINE, 6),
            _refines(MOVING_SEQUENCER, _FIGURE_12),
            _fails(MOVING_SEQUENCER, _FIGURE_12_SPARE, 10, "wait_for_missing_number", "answer_last"),
            _fails(MOVING_SEQUENCER, _FIGURE_12_SPARE, 7, "await_body"),
            _refines(RBP, _FIGURE_16),
            _fails(RBP, _FIGURE_16_SPARE, 9, "one_identifier"),
            _fails(RBP, _FIGURE_16_THREE, 14, "old_token"),
            _fails(RBP, _FIGURE_16, 7, "await_body"),
        ),
    ),
)
