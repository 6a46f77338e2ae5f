"""What a system promises is said in a few words, and decides which properties its logs are judged by.

A promise is a set of these words. `total-order` alone is the promise of a group that stays as it is. With
`virtual-synchrony` (a primary partition) or `extended-virtual-synchrony` (parts that go on, each by itself)
what is said of all processes is no promise any more, since they come and go: it is said of views.
`safe-delivery` adds that nobody delivers what another, to whom the delivery promises it, will not.
`fifo-order` and `causal-order` go with everything, or stand alone. So do the orders without gaps, what the
survey of Chockler, Keidar and Vitenberg adds, consensus, and the classes of failure detectors. Logs of
deliveries alone are asked for `no-duplication`, `uniform-total-order` and `prefix-order`, which need no
broadcast.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from antiphon.conformance.judge.history.finding import (
    AGREEMENT,
    AGREEMENT_ON_SUCCESSORS,
    ALARM_ACCURACY,
    ALARM_COMPLETENESS,
    BROADCAST_ONCE,
    CAUSAL,
    CAUSALITY,
    CONSENSUS,
    DATAGRAM_INTEGRITY,
    EVENTUAL_STRONG_ACCURACY,
    EVENTUAL_WEAK_ACCURACY,
    EXTENDED_TOTAL_ORDER,
    FAILURE_ATOMICITY,
    FIFO,
    FURTHER_PROPERTIES,
    HANDOVER,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    NO_DUPLICATION,
    NO_VIOLATION,
    PRIMARY_PARTITION,
    PROPERTIES,
    RELIABLE_CAUSAL,
    RELIABLE_FIFO,
    RELIABLE_TOTAL_ORDER,
    SAFE_DELIVERY,
    SAFE_INDICATIONS,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
    STABLE_VIEWS,
    STRONG_ACCURACY,
    STRONG_COMPLETENESS,
    TRANSITIONAL_SET,
    UNIFORM_AGREEMENT,
    UNIFORM_DELIVERY,
    UNIFORM_GLOBAL_ORDER,
    UNIFORM_INTEGRITY,
    UNIFORM_NUMBERING,
    UNIFORM_PREFIX_ORDER,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    VIEW_AGREEMENT,
    VIEW_SYNCHRONY,
    VSC_TERMINATION,
    VSC_VALIDITY,
    WEAK_ACCURACY,
    WEAK_COMPLETENESS,
    WEAK_TOTAL_ORDER,
)
from antiphon.spec.lang.hints import known_names

TOTAL_ORDER: Final = "total-order"
VIRTUAL_SYNCHRONY: Final = "virtual-synchrony"
EXTENDED_VIRTUAL_SYNCHRONY: Final = "extended-virtual-synchrony"
VIEWS: Final = frozenset({VIRTUAL_SYNCHRONY, EXTENDED_VIRTUAL_SYNCHRONY})
SAFE: Final = "safe-delivery"
FIFO_ORDER: Final = "fifo-order"
CAUSAL_ORDER: Final = "causal-order"
OF_DELIVERIES: Final = ("no-duplication", "uniform-total-order", "prefix-order")
"""What logs show in which no broadcast stands."""
_ORDERED: Final = (UNIFORM_TOTAL_ORDER, UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING)
FURTHER: Final[Mapping[str, tuple[str, ...]]] = {
    FIFO_ORDER: (FIFO,),
    CAUSAL_ORDER: (FIFO, CAUSAL),
    "reliable-fifo-order": (FIFO, RELIABLE_FIFO),
    "reliable-causal-order": (FIFO, CAUSAL, RELIABLE_FIFO, RELIABLE_CAUSAL),
    "weak-total-order": (WEAK_TOTAL_ORDER,),
    "reliable-total-order": (WEAK_TOTAL_ORDER, RELIABLE_TOTAL_ORDER),
    "extended-total-order": (WEAK_TOTAL_ORDER, UNIFORM_NUMBERING, EXTENDED_TOTAL_ORDER),
    "agreement-on-successors": (AGREEMENT_ON_SUCCESSORS,),
    "safe-indications": SAFE_INDICATIONS,
    "stable-views": STABLE_VIEWS,
    "consensus": CONSENSUS,
    "perfect-detector": (STRONG_COMPLETENESS, STRONG_ACCURACY),
    "eventually-perfect-detector": (STRONG_COMPLETENESS, EVENTUAL_STRONG_ACCURACY),
    "strong-detector": (STRONG_COMPLETENESS, WEAK_ACCURACY),
    "eventually-strong-detector": (STRONG_COMPLETENESS, EVENTUAL_WEAK_ACCURACY),
    "active-detector": (WEAK_COMPLETENESS,),
    "passive-detector": (ALARM_COMPLETENESS, ALARM_ACCURACY),
    OF_DELIVERIES[0]: (NO_DUPLICATION,),
    OF_DELIVERIES[1]: (NO_DUPLICATION, *_ORDERED),
    OF_DELIVERIES[2]: (NO_DUPLICATION, *_ORDERED, UNIFORM_PREFIX_ORDER),
}
"""Words that add properties, whatever else is promised."""
PROMISES: Final = (TOTAL_ORDER, VIRTUAL_SYNCHRONY, EXTENDED_VIRTUAL_SYNCHRONY, SAFE, *FURTHER)

ALWAYS: Final = {
    BROADCAST_ONCE, UNIFORM_INTEGRITY, DATAGRAM_INTEGRITY, CAUSALITY, HANDOVER, NO_VIOLATION,
}  # fmt: skip
"""What is judged whatever is promised, and not told where the logs hold nothing of it."""
_STATIC: Final = {
    VALIDITY, UNIFORM_AGREEMENT, AGREEMENT, UNIFORM_TOTAL_ORDER, UNIFORM_PREFIX_ORDER, UNIFORM_GLOBAL_ORDER,
    UNIFORM_NUMBERING,
}  # fmt: skip
_VIEWS: Final = {
    INITIAL_VIEW, SELF_INCLUSION, LOCAL_MONOTONICITY, VIEW_AGREEMENT, SENDING_VIEW_DELIVERY,
    SAME_VIEW_DELIVERY, VIEW_SYNCHRONY, VSC_VALIDITY,
}  # fmt: skip
_PRIMARY: Final = {PRIMARY_PARTITION, VSC_TERMINATION}
_EXTENDED: Final = {TRANSITIONAL_SET, FAILURE_ATOMICITY}


class PromiseError(ValueError):
    """No system promises this."""


def properties_of(promise: Collection[str]) -> tuple[str, ...]:
    """List the properties that a promise stands for, in the order of report.

    Args:
        promise: words of `PROMISES`, or one of them.

    Raises:
        PromiseError: an unknown word, or words that do not go together; the message says which do.
    """
    told = (promise,) if isinstance(promise, str) else tuple(promise)
    words = set(told)
    for word in told:
        if word not in PROMISES:
            raise PromiseError(f"unknown promise {word!r}; {known_names(word, PROMISES)}")
    wanted = set(ALWAYS)
    if not words.isdisjoint(OF_DELIVERIES) and words.isdisjoint({TOTAL_ORDER, *VIEWS}):
        wanted -= {BROADCAST_ONCE, UNIFORM_INTEGRITY}
    if words >= VIEWS:
        raise PromiseError(
            f"{VIRTUAL_SYNCHRONY} has one history of views, {EXTENDED_VIRTUAL_SYNCHRONY} one in each part: "
            "promise one of them"
        )
    if VIRTUAL_SYNCHRONY in words:
        wanted |= _VIEWS | _PRIMARY | ({UNIFORM_DELIVERY} if SAFE in words else set())
    elif EXTENDED_VIRTUAL_SYNCHRONY in words:
        wanted |= _VIEWS | _EXTENDED | ({SAFE_DELIVERY} if SAFE in words else set())
    elif SAFE in words:
        raise PromiseError(
            f"{SAFE} is said of views: add {VIRTUAL_SYNCHRONY} or {EXTENDED_VIRTUAL_SYNCHRONY}; "
            f"{TOTAL_ORDER} alone has {UNIFORM_AGREEMENT}"
        )
    if TOTAL_ORDER in words:
        wanted |= set(_ORDERED) if wanted & _VIEWS else _STATIC
    wanted |= {name for word in words for name in FURTHER.get(word, ())}
    return tuple(name for name in PROPERTIES + FURTHER_PROPERTIES if name in wanted)
