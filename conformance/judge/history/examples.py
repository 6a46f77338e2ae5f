"""The smallest histories that break each property, in the notation of `history`; they explain, and judges are
tested on them.

Some properties imply others: whoever breaks total order breaks prefix order, global order and numbering too,
and whoever breaks agreement breaks uniform agreement. Beside that, each property has an example that it
alone catches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from antiphon.conformance.judge.history.finding import (
    AGREEMENT,
    AGREEMENT_ON_SUCCESSORS,
    ALARM_ACCURACY,
    ALARM_COMPLETENESS,
    BROADCAST_ONCE,
    CAUSAL,
    CAUSALITY,
    DATAGRAM_INTEGRITY,
    EVENTUAL_STRONG_ACCURACY,
    EVENTUAL_WEAK_ACCURACY,
    EXTENDED_TOTAL_ORDER,
    FAILURE_ATOMICITY,
    FIFO,
    HANDOVER,
    INITIAL_VIEW,
    LOCAL_MONOTONICITY,
    NO_DUPLICATION,
    NO_VIOLATION,
    PRIMARY_PARTITION,
    RELIABLE_CAUSAL,
    RELIABLE_FIFO,
    RELIABLE_TOTAL_ORDER,
    SAFE_DELIVERY,
    SAME_VIEW_DELIVERY,
    SELF_INCLUSION,
    SENDING_VIEW_DELIVERY,
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
from antiphon.conformance.judge.history.promises import (
    CAUSAL_ORDER,
    EXTENDED_VIRTUAL_SYNCHRONY,
    SAFE,
    VIRTUAL_SYNCHRONY,
)

BROKEN_WITH: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(others)
    for name, others in {
        AGREEMENT: {UNIFORM_AGREEMENT},
        UNIFORM_TOTAL_ORDER: {UNIFORM_PREFIX_ORDER, UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING},
        UNIFORM_GLOBAL_ORDER: {UNIFORM_PREFIX_ORDER, UNIFORM_NUMBERING},
        SAME_VIEW_DELIVERY: {SENDING_VIEW_DELIVERY},
        FIFO: {CAUSAL, RELIABLE_FIFO, RELIABLE_CAUSAL},
        CAUSAL: {RELIABLE_CAUSAL},
        RELIABLE_FIFO: {RELIABLE_CAUSAL},
        WEAK_TOTAL_ORDER: {RELIABLE_TOTAL_ORDER},
        "SafeIndication": {"SafeIndicationPrefix"},
        "MulticastLiveness": {"TerminationOfDelivery", "SafeIndicationLiveness"},
        "Integrity": {UNIFORM_INTEGRITY},
        UNIFORM_INTEGRITY: {"Integrity"},
        "TotalOrder": {
            UNIFORM_TOTAL_ORDER,
            "PrefixOrder",
            UNIFORM_PREFIX_ORDER,
            UNIFORM_GLOBAL_ORDER,
            UNIFORM_NUMBERING,
        },
        "PrefixOrder": {UNIFORM_PREFIX_ORDER},
        WEAK_ACCURACY: {STRONG_ACCURACY},
        EVENTUAL_STRONG_ACCURACY: {STRONG_ACCURACY},
        EVENTUAL_WEAK_ACCURACY: {STRONG_ACCURACY, WEAK_ACCURACY, EVENTUAL_STRONG_ACCURACY},
        WEAK_COMPLETENESS: {STRONG_COMPLETENESS},
        "Consensus.Agreement": {"Consensus.UniformAgreement"},
    }.items()
}
"""What is broken whenever a property is, if it is judged too."""

_CIRCLE: Final = {UNIFORM_PREFIX_ORDER, UNIFORM_GLOBAL_ORDER, UNIFORM_NUMBERING}
_ORDER: Final = {UNIFORM_TOTAL_ORDER, *_CIRCLE}

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
        ("a circle", "0: +a a b ! | 1: +b b c ! | 2: +c c a !", _CIRCLE),
        ("a gap in the order", "0: +a +0:2 a 0:2 | 1: 0:2 !", {UNIFORM_PREFIX_ORDER}),
        ("two numbers of one message", "0: +a a#1 | 1: a#2", {UNIFORM_NUMBERING}),
        ("one number of two messages", "0: +a +0:2 a#1 0:2#1 | 1: a#1 0:2#1", {UNIFORM_NUMBERING}),
        ("decreasing numbers", "0: +a +0:2 a#2 0:2#1 | 1: a#2 0:2#1", {UNIFORM_NUMBERING}),
        ("received but not sent", "0: +a a | 1: <a a", {DATAGRAM_INTEGRITY}),
        ("sent twice", "0: +a a a>1 a>1 | 1: <a a", {DATAGRAM_INTEGRITY}),
        ("sent in another's name", "0: +a a | 1: a a>0", {DATAGRAM_INTEGRITY}),
        ("received by another", "0: +a a a>1 | 1: a | 2: <a a", {DATAGRAM_INTEGRITY}),
        ("delivered before broadcast", "0: a +a | 1: a", {CAUSALITY, UNIFORM_INTEGRITY}),
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
_GAPS: Final = (EXTENDED_VIRTUAL_SYNCHRONY, "extended-total-order")
_RELIABLE: Final = ("reliable-causal-order",)
_SAFE: Final = ("safe-indications",)
_STABLE: Final = ("stable-views",)
_CONSENSUS: Final = ("consensus",)

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
        (("prefix-order",), "deliveries alone", "0: a b | 1: a b", set[str]()),
        (("uniform-total-order",), "from the middle on", "0: a b c | 1: b c", set[str]()),
        (("no-duplication",), "delivered again", "0: a b a | 1: b a", {NO_DUPLICATION}),
        (_CAUSAL, "an answer", "0: +a a b | 1: a +b b | 2: a b", set[str]()),
        (_CAUSAL, "an answer first", "0: +a a b | 1: a +b b | 2: b a", {CAUSAL}),
        (_CAUSAL, "a later one first", "0: +a +0:2 a 0:2 | 1: 0:2 a", {FIFO, CAUSAL}),
        (_PARTS, "two parts", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: a +c [2] c [3=2]", set[str]()),
        (_PARTS, "no part", "0: +a a [2=01] | 1: a [01] [2=01]", {TRANSITIONAL_SET}),
        (_PARTS, "another part", "0: +a a [0] [2=01] | 1: a [01] [2=01]", {TRANSITIONAL_SET}),
        (_PARTS, "before and after", "0: +a a [01] [2=01] | 1: [01] a [2=01]", {FAILURE_ATOMICITY}),
        (_PARTS, "left alone", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: [2] [3=2]", {SAFE_DELIVERY}),
        (_RELIABLE, "an answer in its place", "0: +a a b | 1: a +b b | 2: a b", set[str]()),
        (
            ("reliable-fifo-order",),
            "without an earlier one",
            "0: +a +0:2 a 0:2 | 1: 0:2",
            {RELIABLE_FIFO},
        ),
        (_RELIABLE, "without its question", "0: +a a b | 1: a +b b | 2: b", {RELIABLE_CAUSAL}),
        (
            ("weak-total-order",),
            "two orders that go together",
            "0: +a +0:2 a 0:2 [2=01] | 1: 0:2 a [2=01]",
            {WEAK_TOTAL_ORDER},
        ),
        (
            ("weak-total-order",),
            "two orders that part",
            "0: +a +0:2 a 0:2 [2=0] | 1: 0:2 a [3=1]",
            set[str](),
        ),
        (("reliable-total-order",), "passed over", "0: +a +0:2 a 0:2 | 1: 0:2", {RELIABLE_TOTAL_ORDER}),
        (_GAPS, "passed over too early", "0: +a +0:2 a 0:2 | 1: 0:2 !", {EXTENDED_TOTAL_ORDER}),
        (
            _GAPS,
            "passed over by a part",
            "0: +a [01] a#2 [2=01] | 1: [01] a#2 [2=01] | 2: +c [2] c#1 a#2 [3=2]",
            set[str](),
        ),
        (
            (VIRTUAL_SYNCHRONY, "agreement-on-successors"),
            "not from the same view",
            "0: +a a [2=01] [3=01] | 1: a [3=01]",
            {AGREEMENT_ON_SUCCESSORS},
        ),
        (_SAFE, "all is safe", "0: +a a *a | 1: a *a", set[str]()),
        (_SAFE, "safe before it is delivered", "0: +a *a a | 1: a *a", {"IndicatedIsDelivered"}),
        (
            _SAFE,
            "said to be safe and lost",
            "0: +a a *a ! | 1: +b b *b",
            {"SafeIndication", "SafeIndicationPrefix"},
        ),
        (
            _SAFE,
            "what came before is lost",
            "0: +a +0:2 a 0:2 *0:2 ! | 1: 0:2 *0:2",
            {"SafeIndicationPrefix"},
        ),
        (_SAFE, "never said to be safe", "0: +a a *a | 1: a", {"SafeIndicationLiveness"}),
        (_STABLE, "alone in its view", "0: +a a [2=01] | 1: a", {"MembershipPrecision"}),
        (
            _STABLE,
            "not delivered by who stays",
            "0: +a a | 1: a +b b",
            {"MulticastLiveness", "TerminationOfDelivery"},
        ),
        (_STABLE, "stays with the dead", "0: +a a | 1: !", {"TerminationOfDelivery"}),
        (_CONSENSUS, "two decisions", "0: 1?x 1!x 2?x 2!y | 1: 1?y 1!x 2?y 2!y | 2: 1?x 2?x !", set[str]()),
        (_CONSENSUS, "proposed twice", "0: 1?x 1?y 1!x | 1: 1?y 1!x", {"Consensus.ProposeOnce"}),
        (_CONSENSUS, "proposed by nobody", "0: 1?x 1!z | 1: 1?y 1!z", {"Consensus.Validity"}),
        (_CONSENSUS, "proposed too late", "0: 1!x a>1 1?x | 1: <a 1?x 1!x", {"Consensus.Validity"}),
        (_CONSENSUS, "decided twice", "0: 1?x 1!x 1!x | 1: 1?x 1!x", {"Consensus.Integrity"}),
        (
            _CONSENSUS,
            "decided and crashed",
            "0: 1?x 1!x ! | 1: 1?y 1!y | 2: 1?y 1!y",
            {"Consensus.UniformAgreement"},
        ),
        (
            _CONSENSUS,
            "decided differently",
            "0: 1?x 1!x | 1: 1?y 1!y",
            {"Consensus.UniformAgreement", "Consensus.Agreement"},
        ),
        (_CONSENSUS, "never decided", "0: 1?x 1!x | 1: 1?y", {"Consensus.Termination"}),
        (("perfect-detector",), "suspected by all", "0: -2 | 1: -2 | 2: !", set[str]()),
        (("perfect-detector",), "suspected by one", "0: -2 | 1: | 2: !", {STRONG_COMPLETENESS}),
        (("perfect-detector",), "suspected by mistake", "0: -1 =1 | 1:", {STRONG_ACCURACY}),
        (("perfect-detector",), "suspected before the crash", "0: -1 a>1 | 1: <a !", {STRONG_ACCURACY}),
        (
            ("eventually-perfect-detector",),
            "suspected for ever",
            "0: -1 | 1:",
            {EVENTUAL_STRONG_ACCURACY},
        ),
        (("strong-detector",), "suspected once each", "0: -1 =1 | 1: -0 =0", {WEAK_ACCURACY}),
        (
            ("eventually-strong-detector",),
            "suspected for ever each",
            "0: -1 | 1: -0",
            {EVENTUAL_WEAK_ACCURACY},
        ),
        (("active-detector",), "suspected by nobody", "0: -1 =1 | 1: !", {WEAK_COMPLETENESS}),
        (("passive-detector",), "alarmed", "0: - | 1: !", set[str]()),
        (("passive-detector",), "alarmed without cause", "0: - | 1: -", {ALARM_ACCURACY}),
        (("passive-detector",), "not alarmed", "0: - | 1: | 2: !", {ALARM_COMPLETENESS}),
    )
}
"""The same where more is promised, or something else: the promise, the history, what it breaks."""
