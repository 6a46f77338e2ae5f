"""The entries of the table that the models of the layers confirm, each by checks that must come out as
recorded.

A provided or inherited property must hold above the layer's model, as far as its judge goes; a requirement is
confirmed by a stack in which the property is missing below and something breaks above; `LACKS` says that a
property which the row does not give does not hold above the layer. The bounds are part of the checks. MBRSHIP
is abstract: it provides its properties by definition, and only the layers above it are tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from antiphon.spec.claims.claim import Check, RecordedOutcome
from antiphon.spec.composition.properties import Property
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.horus.fifo_stacks import DestinationSets, FragOverCom, FragStack, NakStack
from antiphon.spec.protocols.horus.ordered_stacks import (
    FragOverTotalOrder,
    FragOverTotalViews,
    HorusChecked,
    MbrshipOrder,
    MbrshipViews,
    TotalStack,
    TotalViews,
)

_Constants = Mapping[str, int | bool | str]


class Role(Enum):
    """The relation of a layer to a property."""

    REQUIRES = "requires"
    PROVIDES = "provides"
    INHERITS = "inherits"
    LACKS = "lacks"


@dataclass(frozen=True)
class Entry:
    """Entry of the table: the verdict of the models on it, and the checks that show the verdict."""

    layer: str
    role: Role
    property: Property
    because: str
    checks: tuple[Check, ...]


_NAK: _Constants = {"processes": 2, "messages": 2, "casts": 2}
_SENDERS: _Constants = {"processes": 3, "messages": 2, "casts": 1, "senders": 2, "patient": True}
_SETS: _Constants = {"processes": 3, "messages": 1, "casts": 1}
_FRAG: _Constants = {"processes": 2, "messages": 2, "casts": 4, "buffer": 2, "patient": True}
_ORIGINS: _Constants = {"processes": 3, "messages": 2, "casts": 2, "senders": 2, "patient": True, "losses": 0}
_GROUP: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "stride": 1}
_SAME: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "stride": 3}
_FULL: _Constants = {
    "processes": 2, "messages": 1, "casts": 3, "buffer": 3, "crashes": 1, "patient": True,
    "oracle": "one that waits",
}  # fmt: skip
_PIECES: _Constants = {"processes": 3, "messages": 4, "casts": 2, "crashes": 1, "oracle": "one that waits"}


def _check(
    spec: type[Spec],
    property: str,
    outcome: RecordedOutcome,
    constants: _Constants,
    length: int | None = None,
    repairs: tuple[str, ...] | str = "all",
) -> Check:
    return Check(spec, property, outcome, repairs, (), constants, length)


EVIDENCE: tuple[Entry, ...] = (
    Entry(
        "COM", Role.PROVIDES, Property.P11, "what comes from outside the view is filtered by its address",
        (_check(DestinationSets, "FromTheView", "holds", _SETS),),
    ),
    Entry(
        "COM", Role.INHERITS, Property.P1, "what is cast can arrive everywhere, in whatever order",
        (
            _check(FragOverCom, "AllArrived", "holds", {"processes": 2, "messages": 1, "casts": 2}, None, ()),
            _check(FragOverCom, "Fifo", "violated", {"processes": 2, "messages": 2, "casts": 4}, 6, ()),
        ),
    ),
    Entry(
        "NAK", Role.REQUIRES, Property.P11,
        "without source addresses the numbers of two senders are one sequence",
        (_check(NakStack, "TrueSource", "violated", {**_SENDERS, "source_address": "left out"}, 2),),
    ),
    Entry("NAK", Role.INHERITS, Property.P11, "the origin is the author", (_check(NakStack, "TrueSource", "holds", _SENDERS),)),
    Entry(
        "NAK", Role.PROVIDES, Property.P4, "in order, each once; all of them only with a window",
        (
            _check(NakStack, "Fifo", "holds", _NAK),
            _check(NakStack, "UniformIntegrity", "holds", _NAK),
            _check(NakStack, "UniformAgreement", "holds", {**_NAK, "buffer": 1}),
            _check(NakStack, "UniformAgreement", "violated", {**_NAK, "buffer": 1}, 3, ()),
        ),
    ),
    Entry(
        "NAK", Role.LACKS, Property.P15, "destination sets change by themselves",
        (_check(DestinationSets, "ConsistentViews", "violated", _SETS, 1),)
    ),
    Entry(
        "NAK", Role.LACKS, Property.P9, "and then members miss what others deliver",
        (_check(DestinationSets, "Agreement", "violated", _SETS, 2),)
    ),
    Entry(
        "FRAG", Role.REQUIRES, Property.P4, "over COM alone fragments come in any order",
        (_check(FragOverCom, "UniformIntegrity", "violated", {"processes": 2, "messages": 2, "casts": 4}, 2),),
    ),
    Entry(
        "FRAG", Role.PROVIDES, Property.P12,
        "messages of two fragments come whole; with place holders below, as printed, they do not",
        (
            _check(FragStack, "UniformIntegrity", "holds", _FRAG),
            _check(FragStack, "UniformIntegrity", "violated", _FRAG, 7, ()),
        ),
    ),
    Entry(
        "FRAG", Role.INHERITS, Property.P4, "whole messages come in order, and all of them",
        (_check(FragStack, "Fifo", "holds", _FRAG), _check(FragStack, "UniformAgreement", "holds", _FRAG)),
    ),
    Entry("FRAG", Role.INHERITS, Property.P11, "the origin is the author", (_check(FragStack, "TrueSource", "holds", _ORIGINS),)),
    Entry(
        "FRAG", Role.INHERITS, Property.P6,
        "a second FRAG, over TOTAL: whole messages are delivered in one order, by their last fragments",
        (
            _check(FragOverTotalOrder, "TotalOrder", "holds", _PIECES),
            _check(FragOverTotalOrder, "PrefixOrder", "holds", _PIECES),
            _check(FragOverTotalOrder, "Integrity", "holds", _PIECES),
            _check(FragOverTotalOrder, "Reassembling", "holds", _PIECES, 2),
        ),
    ),
    Entry(
        "FRAG", Role.INHERITS, Property.P8,
        "members that stay have put together the same, also of one that went down half-way",
        (_check(FragOverTotalViews, "VirtualSynchrony", "holds", _PIECES),),
    ),
    Entry(
        "FRAG", Role.INHERITS, Property.P9, "no message is cut by a view",
        (_check(FragOverTotalViews, "SameView", "holds", _PIECES), _check(FragOverTotalViews, "ViewChanged", "holds", _PIECES, 5)),
    ),
    Entry("FRAG", Role.INHERITS, Property.P15, "views pass unchanged", (_check(FragOverTotalViews, "ConsistentViews", "holds", _PIECES),)),
    Entry(
        "MBRSHIP", Role.PROVIDES, Property.P8,
        "members that stay have delivered the same; without the flush's agreement they have not",
        (
            _check(MbrshipViews, "VirtualSynchrony", "holds", _GROUP),
            _check(MbrshipViews, "VirtualSynchrony", "violated", {**_GROUP, "agreed": False}, 7),
        ),
    ),
    Entry("MBRSHIP", Role.PROVIDES, Property.P9, "and in the view in which it was sent", (_check(MbrshipViews, "SameView", "holds", _GROUP),)),
    Entry("MBRSHIP", Role.PROVIDES, Property.P15, "one view a number", (_check(MbrshipViews, "ConsistentViews", "holds", _GROUP),)),
    Entry("MBRSHIP", Role.INHERITS, Property.P4, "a view change keeps the order of a sender", (_check(MbrshipViews, "Fifo", "holds", _SAME),)),
    Entry(
        "MBRSHIP", Role.INHERITS, Property.P12,
        "messages of two fragments come whole through MBRSHIP and TOTAL, across a view change",
        (_check(HorusChecked, "UniformIntegrity", "holds", _FULL),),
    ),
    Entry(
        "MBRSHIP", Role.INHERITS, Property.P11, "the origin is who broadcast the message",
        (_check(HorusChecked, "TrueSource", "holds", _FULL),)
    ),
    Entry(
        "MBRSHIP", Role.LACKS, Property.P6, "two members deliver two messages in two orders",
        (_check(MbrshipOrder, "TotalOrder", "violated", _GROUP, 4),),
    ),
    Entry(
        "TOTAL", Role.REQUIRES, Property.P8, "where members go on with different messages, they do not agree",
        (_check(TotalStack, "Agreement", "violated", {**_GROUP, "agreed": False}, 7),),
    ),
    Entry(
        "TOTAL", Role.REQUIRES, Property.P4,
        "what the flush sends, ordered by the rank of the source, needs the order of the source",
        (_check(TotalStack, "TotalOrder", "violated", {**_SAME, "in_order": False}, 11),),
    ),
    Entry(
        "TOTAL", Role.PROVIDES, Property.P6, "one order among members, through a view change",
        (_check(TotalStack, "TotalOrder", "holds", _GROUP), _check(TotalStack, "PrefixOrder", "holds", _GROUP)),
    ),
    Entry(
        "TOTAL", Role.INHERITS, Property.P4, "numbers first, then the rest in the order of its source",
        (_check(TotalViews, "Fifo", "holds", _GROUP), _check(TotalViews, "Fifo", "holds", _SAME)),
    ),
    Entry("TOTAL", Role.INHERITS, Property.P8, "what is left is the same for all", (_check(TotalViews, "VirtualSynchrony", "holds", _GROUP),)),
    Entry("TOTAL", Role.INHERITS, Property.P9, "and is delivered before the view", (_check(TotalViews, "SameView", "holds", _GROUP),)),
    Entry("TOTAL", Role.INHERITS, Property.P15, "views pass unchanged", (_check(TotalViews, "ConsistentViews", "holds", _GROUP),)),
    Entry(
        "TOTAL", Role.INHERITS, Property.P11, "what waits for its turn is kept under the name of its source",
        (_check(TotalStack, "SourceKept", "holds", _GROUP), _check(TotalStack, "Gap", "holds", _GROUP, 6)),
    ),
    Entry(
        "TOTAL", Role.INHERITS, Property.P12,
        "messages of two fragments come whole to the application, across a view change",
        (_check(HorusChecked, "UniformIntegrity", "holds", _FULL),),
    ),
)  # fmt: skip
"""The confirmed entries, lower layers first. Nothing is known of any other entry of `LAYERS`: no model here
has priorities (P2), unicasts of the application (P3), bytes (P10), causal order (P5, P13), stability (P7,
P14) or merging (P16), and the effect of NAK on P12 would show only with NFRAG below NAK.
"""
