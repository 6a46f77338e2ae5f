"""Which protocol is which abstract machine? One module a protocol: the mapping, stated in the specification language."""

from __future__ import annotations

from antiphon.spec.lang import Spec
from antiphon.spec.refinements.chang_maxemchuk import CHANG_MAXEMCHUK
from antiphon.spec.refinements.dtp import DTP
from antiphon.spec.refinements.horus import HORUS
from antiphon.spec.refinements.horus_total import HORUS_TOTAL
from antiphon.spec.refinements.moving_sequencer import MOVING_SEQUENCER
from antiphon.spec.refinements.pinwheel import PINWHEEL
from antiphon.spec.refinements.rbp import RBP
from antiphon.spec.refinements.rbp_resilient import RBP_RESILIENT
from antiphon.spec.refinements.refinement import Refinement
from antiphon.spec.refinements.sequencer import SEQUENCER
from antiphon.spec.refinements.token_broadcast import FIGURE_2, FIGURE_5
from antiphon.spec.refinements.total import TOTAL
from antiphon.spec.refinements.totem import TOTEM

REFINEMENTS: dict[str, Refinement] = {
    "figure-2": FIGURE_2,
    "figure-5": FIGURE_5,
    "moving-sequencer": MOVING_SEQUENCER,
    "rbp": RBP,
    "rbp-resilient": RBP_RESILIENT,
    "dtp": DTP,
    "chang-maxemchuk": CHANG_MAXEMCHUK,
    "pinwheel": PINWHEEL,
    "totem": TOTEM,
    "total": TOTAL,
    "sequencer": SEQUENCER,
    "horus-total": HORUS_TOTAL,
    "horus": HORUS,
}
"""Every refinement by the name of its protocol; a further one is one more line."""


def refinement_of(spec: type[Spec]) -> Refinement | None:
    """The refinement whose protocol this specification is, or None."""
    return next((refinement for refinement in REFINEMENTS.values() if refinement.concrete is spec), None)


__all__ = [
    "CHANG_MAXEMCHUK",
    "DTP",
    "FIGURE_2",
    "FIGURE_5",
    "HORUS",
    "HORUS_TOTAL",
    "MOVING_SEQUENCER",
    "PINWHEEL",
    "RBP",
    "RBP_RESILIENT",
    "REFINEMENTS",
    "SEQUENCER",
    "TOTAL",
    "TOTEM",
    "Refinement",
    "refinement_of",
]
