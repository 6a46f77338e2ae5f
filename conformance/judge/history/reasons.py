"""Why a property is broken, in words: of an event that breaks it, and of what is lacking in the end.

This module knows which event broke what, and no definition.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Final

from antiphon.conformance.judge.history.finding import (
    BROADCAST_AGAIN,
    BY_NOBODY,
    NEVER_BROADCAST,
    NOT_BY_ALL,
    NOT_GREATER,
    NUMBER_TAKEN,
    OTHER_MESSAGE,
    OTHER_NUMBER,
    OTHER_ORDER,
    TWICE,
)
from antiphon.spec.lang import Spec
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services.order import Numbered

_REASONS: Final[Mapping[str, str]] = {
    "BroadcastOnce": BROADCAST_AGAIN,
    "UniformTotalOrder": OTHER_ORDER,
    "TotalOrder": OTHER_ORDER,
    "UniformPrefixOrder": OTHER_MESSAGE,
    "PrefixOrder": OTHER_MESSAGE,
    "Fifo": "delivered after a message that its source broadcast later",
    "Causal": "delivered after a message that it happened before",
    "InitialView": "happens in no view",
    "ViewAgreement": "installed with other members than elsewhere",
    "SelfInclusion": "the process is not among the members that it is told",
    "LocalMonotonicity": "installed in that view or a later one",
    "SendingViewDelivery": "delivered in another view than it was sent in",
    "SameViewDelivery": "delivered in different views",
    "ViewSynchrony": "installed by two processes of which one has delivered more in the view before",
    "TransitionalSet": "those who go together to the next view are not who was told to",
    "FailureAtomicity": "entered by two processes of which one has delivered more in the view before",
    "ReliableFifo": "delivered without what its source broadcast before it in the same view",
    "ReliableCausal": "delivered without what happened before it in the same view",
    "AgreementOnSuccessors": "installed from another view than by one who was a member of both",
    "IndicatedIsDelivered": "said to be safe, and not delivered there in this view",
    "WeakTotalOrder": "installed by two who have kept different orders in the view before",
    "ReliableTotalOrder": "delivered at a place where another process delivers another message",
    "ExtendedTotalOrder": "delivered without a message that stands before it, for which there is no excuse",
    "StrongAccuracy": "suspected before it crashes",
    "AlarmAccuracy": "alarmed before anybody crashes",
    "Consensus.ProposeOnce": "proposed a second time",
    "Consensus.Validity": "decided, but nobody proposed it before",
    "Consensus.Integrity": "decided a second time",
    "Consensus.UniformAgreement": "decided otherwise by another process",
}

_LACKING: Final[Mapping[str, str]] = {
    "Validity": BY_NOBODY,
    "UniformAgreement": NOT_BY_ALL,
    "Agreement": NOT_BY_ALL,
    "PrimaryPartition": "nobody went to this view from the one before it",
    "VscValidity": "broadcast by a correct process, never delivered by it",
    "VscTermination": "not delivered by all of its view, which a correct process has not left",
    "UniformDelivery": "delivered by one process of a view, not by the other, which has not crashed",
    "SafeDelivery": "delivered by one process of a view, not by the other, which has not crashed",
}

ABOUT_DELIVERIES: Final = ("UniformAgreement", "Agreement", "UniformDelivery", "SafeDelivery")
"""The properties that a delivery promises; others are promised by a broadcast, or by no message."""


def reason_of(name: str, refusal: Refusal) -> str:
    """Why an event breaks a property."""
    event, clash = refusal.event, refusal.clash
    match name:
        case "UniformIntegrity" | "Integrity":
            return NEVER_BROADCAST if clash is None else TWICE
        case "UniformNumbering" if isinstance(event, Numbered) and isinstance(clash, Numbered):
            if event.message == clash.message:
                return OTHER_NUMBER
            return NUMBER_TAKEN if event.number == clash.number else NOT_GREATER
        case _:
            return _REASONS[name]


def what_is_lacking(service: type[Spec], told: str, name: str) -> str:
    """What is not true in the end; where it has no words of its own, the first sentence of the property."""
    sentence = (inspect.getdoc(getattr(service, name)) or "").split(".")[0].replace("\n", " ")
    return _LACKING.get(told, f"not true: {sentence}")
