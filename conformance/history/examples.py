"""The smallest histories that break each property, in the notation of `history`; they explain, and judges are
tested on them.

Some properties imply others: whoever breaks total order breaks prefix order and numbering too, and whoever
breaks agreement breaks uniform agreement. Beside that, each property has an example that it alone catches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from antiphon.conformance.history.finding import (
    AGREEMENT,
    BROADCAST_ONCE,
    CAUSAL,
    CAUSALITY,
    DATAGRAM_INTEGRITY,
    FAILURE_ATOMICITY,
    FIFO,
    HANDOVER,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    NO_VIOLATION,
    PRIMARY_PARTITION,
    SAFE_DELIVERY,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
    TRANSITIONAL_SET,
    UNIFORM_AGREEMENT,
    UNIFORM_DELIVERY,
    UNIFORM_INTEGRITY,
    UNIFORM_NUMBERING,
    UNIFORM_PREFIX_ORDER,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    VIEW_AGREEMENT,
    VIEW_SYNCHRONY,
    VSC_TERMINATION,
    VSC_VALIDITY,
)
from antiphon.conformance.history.promises import (
    CAUSAL_ORDER,
    EXTENDED_VIRTUAL_SYNCHRONY,
    SAFE,
    VIRTUAL_SYNCHRONY,
)

BROKEN_WITH: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(others)
    for name, others in {
        AGREEMENT: {UNIFORM_AGREEMENT},
        UNIFORM_TOTAL_ORDER: {UNIFORM_PREFIX_ORDER, UNIFORM_NUMBERING},
        SAME_VIEW_DELIVERY: {SENDING_VIEW_DELIVERY},
        FIFO: {CAUSAL, "ReliableFifo", "ReliableCausal"},
        CAUSAL: {"ReliableCausal"},
        "ReliableFifo": {"ReliableCausal"},
        "WeakTotalOrder": {"ReliableTotalOrder"},
        "SafeIndication": {"SafeIndicationPrefix"},
        "MulticastLiveness": {"TerminationOfDelivery", "SafeIndicationLiveness"},
        "Integrity": {UNIFORM_INTEGRITY},
        UNIFORM_INTEGRITY: {"Integrity"},
        "TotalOrder": {UNIFORM_TOTAL_ORDER, "PrefixOrder", UNIFORM_PREFIX_ORDER, UNIFORM_NUMBERING},
        "PrefixOrder": {UNIFORM_PREFIX_ORDER},
        "WeakAccuracy": {"StrongAccuracy"},
        "EventualStrongAccuracy": {"StrongAccuracy"},
        "EventualWeakAccuracy": {"StrongAccuracy", "WeakAccuracy", "EventualStrongAccuracy"},
        "WeakCompleteness": {"StrongCompleteness"},
    }.items()
}
"""What is broken whenever a property is, if it is judged too."""

_ORDER: Final = {UNIFORM_TOTAL_ORDER, UNIFORM_PREFIX_ORDER, UNIFORM_NUMBERING}

EXAMPLES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    name: (text, frozenset(broken))
    for name, text, broken in (
        ("all is well", "0: +a a>1 a b | 1: +b <a <a a b", set[str]()),
        ("all is well inside", "0: +a (+a) (a) (b) a b | 1: +b (+b) (a) a (b) b", set[str]()),
        ("a gap in the numbers", "0: +a a#3 b#7 | 1: +b a#3 b#7", set[str]()),
        ("a crash", "0: +a a ! | 1: +b a b", set[str]()),
        ("broadcast twice", "0: +a +a a | 1: a", {BROADCAST_ONCE}),
        ("broadcast by another too", "0: +a a | 1: +a a", {BROADCAST_ONCE}),
        ("lost", "0: +a +0:2 a | 1: a", {VALIDITY}),
        ("never broadcast", "0: a | 1: a", {UNIFORM_INTEGRITY}),
        ("delivered twice", "0: +a a a | 1: a", {UNIFORM_INTEGRITY}),
        ("another payload", "0: +a a | 1: a=x", {UNIFORM_INTEGRITY}),
        ("missed", "0: +a a | 1:", {AGREEMENT, UNIFORM_AGREEMENT}),
        ("missed of a crashed one", "0: +a a ! | 1:", {UNIFORM_AGREEMENT}),
        ("two orders", "0: +a +0:2 a 0:2 | 1: 0:2 a", _ORDER),
        ("two orders, one of a crashed one", "0: +a +0:2 a 0:2 ! | 1: 0:2 a", _ORDER),
        ("a gap in the order", "0: +a +0:2 a 0:2 | 1: 0:2 !", {UNIFORM_PREFIX_ORDER}),
        ("two numbers of one message", "0: +a a#1 | 1: a#2", {UNIFORM_NUMBERING}),
        ("one number of two messages", "0: +a +0:2 a#1 0:2#1 | 1: a#1 0:2#1", {UNIFORM_NUMBERING}),
        ("decreasing numbers", "0: +a +0:2 a#2 0:2#1 | 1: a#2 0:2#1", {UNIFORM_NUMBERING}),
        ("received but not sent", "0: +a a | 1: <a a", {DATAGRAM_INTEGRITY}),
        ("sent twice", "0: +a a a>1 a>1 | 1: <a a", {DATAGRAM_INTEGRITY}),
        ("sent in another's name", "0: +a a | 1: a a>0", {DATAGRAM_INTEGRITY}),
        ("received by another", "0: +a a a>1 | 1: a | 2: <a a", {DATAGRAM_INTEGRITY}),
        ("delivered before broadcast", "0: a +a | 1: a", {CAUSALITY}),
        ("received before sent", "0: +a a <b a>1 | 1: a <a b>0", {CAUSALITY}),
        ("broadcast once it was heard of", "0: <b +a a | 1: a b>0", {CAUSALITY}),
        ("got before the protocol delivers", "0: +a (+a) a (a) | 1: a", {HANDOVER}),
        ("got another payload", "0: +a (+a) (a=x) a | 1: (a) a", {HANDOVER}),
        ("delivered and never got", "0: +a (+a) (a) a (b) | 1: (a) a", {HANDOVER}),
        ("broadcast and never taken", "0: +a (a) a | 1: a", {HANDOVER}),
        ("taken but not broadcast", "0: +a (+a) (+b) (a) a | 1: a", {HANDOVER}),
        ("a violation", "0: +a a ?1 | 1: a", {NO_VIOLATION}),
    )
}
"""By what happens in it: the history, and the properties that it breaks."""

_PRIMARY: Final = (VIRTUAL_SYNCHRONY,)
_UNIFORM: Final = (VIRTUAL_SYNCHRONY, SAFE)
_CAUSAL: Final = (CAUSAL_ORDER,)
_PARTS: Final = (EXTENDED_VIRTUAL_SYNCHRONY, SAFE)

FURTHER_EXAMPLES: Final[Mapping[str, tuple[tuple[str, ...], str, frozenset[str]]]] = {
    name: (promise, text, frozenset(broken))
    for promise, name, text, broken in (
        (_UNIFORM, "all is well in views", "0: +a a [2=01] b | 1: a [2=01] +b b | 2: a !", set[str]()),
        (_PRIMARY, "a view from the start", "0: [1=01] +a a | 1: [1=01] a | 2:", set[str]()),
        (_PRIMARY, "a joiner", "0: [1=0] +a a [2=01] +0:2 0:2 | 1: [2=01] 0:2", set[str]()),
        (_PRIMARY, "broadcast before a view", "0: [1=0] +a a | 1: +b !", {INITIAL_VIEW}),
        (_PRIMARY, "not a member", "0: +a a [2=0] | 1: a [2=0]", {SELF_INCLUSION}),
        (_PRIMARY, "a view again", "0: +a a [2=01] [2=01] | 1: a [2=01]", {LOCAL_MONOTONICITY}),
        (_PRIMARY, "other members", "0: +a a [2=01] | 1: a [2=012] | 2: a !", {VIEW_AGREEMENT}),
        (_PRIMARY, "two histories", "0: +a a [2=01] | 1: a [2=01] | 2: a [3=2]", {PRIMARY_PARTITION}),
        (_PRIMARY, "in the next view", "0: +a [2=01] a | 1: [2=01] a", {SENDING_VIEW_DELIVERY}),
        (
            _PRIMARY,
            "in two views",
            "0: +a [2=01] a | 1: [2=01] a | 2: a !",
            {SAME_VIEW_DELIVERY, SENDING_VIEW_DELIVERY},
        ),
        (_PRIMARY, "left behind", "0: +a a [2=01] b | 1: [2=01] +b b", {VIEW_SYNCHRONY}),
        (_PRIMARY, "not got by its source", "0: +a [2=01] b | 1: [2=01] +b b", {VSC_VALIDITY}),
        (_PRIMARY, "missed in a view that stays", "0: +a a | 1: a | 2: !", {VSC_TERMINATION}),
        (_UNIFORM, "taken to the grave", "0: [2=01] +a a | 1: [2=01] a | 2: +c c !", {UNIFORM_DELIVERY}),
        (_CAUSAL, "an answer", "0: +a a b | 1: a +b b | 2: a b", set[str]()),
        (_CAUSAL, "an answer first", "0: +a a b | 1: a +b b | 2: b a", {CAUSAL}),
        (_CAUSAL, "a later one first", "0: +a +0:2 a 0:2 | 1: 0:2 a", {FIFO, CAUSAL}),
        (_PARTS, "two parts", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: a +c [2] c [3=2]", set[str]()),
        (_PARTS, "no part", "0: +a a [2=01] | 1: a [01] [2=01]", {TRANSITIONAL_SET}),
        (_PARTS, "another part", "0: +a a [0] [2=01] | 1: a [01] [2=01]", {TRANSITIONAL_SET}),
        (_PARTS, "before and after", "0: +a a [01] [2=01] | 1: [01] a [2=01]", {FAILURE_ATOMICITY}),
        (_PARTS, "left alone", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: [2] [3=2]", {SAFE_DELIVERY}),
    )
}
"""The same where more is promised, or something else: the promise, the history, what it breaks."""
