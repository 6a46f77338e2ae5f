"""Smallest histories that break each property, in the notation of `history`; judges are tested on them.

Some properties imply others: whoever breaks total order breaks prefix order, global order and numbering too,
and whoever breaks agreement breaks uniform agreement. Beside that, each property has an example that it
alone catches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BROKEN_WITH: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(others)
    for name, others in {
        "Agreement": {"UniformAgreement"},
        "UniformTotalOrder": {"UniformPrefixOrder", "UniformGlobalOrder", "UniformNumbering"},
        "UniformGlobalOrder": {"UniformPrefixOrder", "UniformNumbering"},
        "SameViewDelivery": {"SendingViewDelivery"},
        "Fifo": {"Causal", "ReliableFifo", "ReliableCausal"},
        "Causal": {"ReliableCausal"},
        "ReliableFifo": {"ReliableCausal"},
        "WeakTotalOrder": {"ReliableTotalOrder"},
        "SafeIndication": {"SafeIndicationPrefix"},
        "MulticastLiveness": {"TerminationOfDelivery", "SafeIndicationLiveness"},
        "Integrity": {"UniformIntegrity"},
        "UniformIntegrity": {"Integrity"},
        "TotalOrder": {
            "UniformTotalOrder",
            "PrefixOrder",
            "UniformPrefixOrder",
            "UniformGlobalOrder",
            "UniformNumbering",
        },
        "PrefixOrder": {"UniformPrefixOrder"},
        "WeakAccuracy": {"StrongAccuracy"},
        "EventualStrongAccuracy": {"StrongAccuracy"},
        "EventualWeakAccuracy": {"StrongAccuracy", "WeakAccuracy", "EventualStrongAccuracy"},
        "WeakCompleteness": {"StrongCompleteness"},
        "Consensus.Agreement": {"Consensus.UniformAgreement"},
    }.items()
}
"""Properties that are broken whenever a property is, if they are judged too."""

_CIRCLE: Final = {"UniformPrefixOrder", "UniformGlobalOrder", "UniformNumbering"}
_ORDER: Final = {"UniformTotalOrder", *_CIRCLE}

EXAMPLES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    name: (text, frozenset(broken))
    for name, text, broken in (
        ("all is well", "0: +a a>1 a b | 1: +b <a <a a b", set[str]()),
        ("all is well inside", "0: +a (+a) (a) (b) a b | 1: +b (+b) (a) a (b) b", set[str]()),
        ("a gap in the numbers", "0: +a a#3 b#7 | 1: +b a#3 b#7", set[str]()),
        ("a crash", "0: +a a ! | 1: +b a b", set[str]()),
        ("broadcast twice", "0: +a +a a | 1: a", {"BroadcastOnce"}),
        ("broadcast by another too", "0: +a a | 1: +a a", {"BroadcastOnce"}),
        ("lost", "0: +a +0:2 a | 1: a", {"Validity"}),
        ("never broadcast", "0: a | 1: a", {"UniformIntegrity"}),
        ("delivered twice", "0: +a a a | 1: a", {"UniformIntegrity"}),
        ("another payload", "0: +a a | 1: a=x", {"UniformIntegrity"}),
        ("missed", "0: +a a | 1:", {"Agreement", "UniformAgreement"}),
        ("missed of a crashed one", "0: +a a ! | 1:", {"UniformAgreement"}),
        ("two orders", "0: +a +0:2 a 0:2 | 1: 0:2 a", _ORDER),
        ("two orders, one of a crashed one", "0: +a +0:2 a 0:2 ! | 1: 0:2 a", _ORDER),
        ("a circle", "0: +a a b ! | 1: +b b c ! | 2: +c c a !", _CIRCLE),
        ("a gap in the order", "0: +a +0:2 a 0:2 | 1: 0:2 !", {"UniformPrefixOrder"}),
        ("two numbers of one message", "0: +a a#1 | 1: a#2", {"UniformNumbering"}),
        ("one number of two messages", "0: +a +0:2 a#1 0:2#1 | 1: a#1 0:2#1", {"UniformNumbering"}),
        ("decreasing numbers", "0: +a +0:2 a#2 0:2#1 | 1: a#2 0:2#1", {"UniformNumbering"}),
        ("received but not sent", "0: +a a | 1: <a a", {"DatagramIntegrity"}),
        ("sent twice", "0: +a a a>1 a>1 | 1: <a a", {"DatagramIntegrity"}),
        ("sent in another's name", "0: +a a | 1: a a>0", {"DatagramIntegrity"}),
        ("received by another", "0: +a a a>1 | 1: a | 2: <a a", {"DatagramIntegrity"}),
        ("delivered before broadcast", "0: a +a | 1: a", {"Causality", "UniformIntegrity"}),
        ("received before sent", "0: +a a <b a>1 | 1: a <a b>0", {"Causality"}),
        ("broadcast once it was heard of", "0: <b +a a | 1: a b>0", {"Causality"}),
        ("got before the protocol delivers", "0: +a (+a) a (a) | 1: a", {"Handover"}),
        ("got another payload", "0: +a (+a) (a=x) a | 1: (a) a", {"Handover"}),
        ("delivered and never got", "0: +a (+a) (a) a (b) | 1: (a) a", {"Handover"}),
        ("broadcast and never taken", "0: +a (a) a | 1: a", {"Handover"}),
        ("taken but not broadcast", "0: +a (+a) (+b) (a) a | 1: a", {"Handover"}),
        ("a violation", "0: +a a ?1 | 1: a", {"NoViolation"}),
    )
}
"""By what happens in it: the history, and the properties that it breaks."""

_PRIMARY: Final = ("virtual-synchrony",)
_UNIFORM: Final = ("virtual-synchrony", "safe-delivery")
_CAUSAL: Final = ("causal-order",)
_PARTS: Final = ("extended-virtual-synchrony", "safe-delivery")
_GAPS: Final = ("extended-virtual-synchrony", "extended-total-order")
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
        (_PRIMARY, "broadcast before a view", "0: [1=0] +a a | 1: +b !", {"InitialView"}),
        (_PRIMARY, "not a member", "0: +a a [2=0] | 1: a [2=0]", {"SelfInclusion"}),
        (_PRIMARY, "a view again", "0: +a a [2=01] [2=01] | 1: a [2=01]", {"LocalMonotonicity"}),
        (_PRIMARY, "other members", "0: +a a [2=01] | 1: a [2=012] | 2: a !", {"ViewAgreement"}),
        (_PRIMARY, "two histories", "0: +a a [2=01] | 1: a [2=01] | 2: a [3=2]", {"PrimaryPartition"}),
        (_PRIMARY, "in the next view", "0: +a [2=01] a | 1: [2=01] a", {"SendingViewDelivery"}),
        (
            _PRIMARY,
            "in two views",
            "0: +a [2=01] a | 1: [2=01] a | 2: a !",
            {"SameViewDelivery", "SendingViewDelivery"},
        ),
        (_PRIMARY, "left behind", "0: +a a [2=01] b | 1: [2=01] +b b", {"ViewSynchrony"}),
        (_PRIMARY, "not got by its source", "0: +a [2=01] b | 1: [2=01] +b b", {"VscValidity"}),
        (_PRIMARY, "missed in a view that stays", "0: +a a | 1: a | 2: !", {"VscTermination"}),
        (_UNIFORM, "taken to the grave", "0: [2=01] +a a | 1: [2=01] a | 2: +c c !", {"UniformDelivery"}),
        (("prefix-order",), "deliveries alone", "0: a b | 1: a b", set[str]()),
        (("uniform-total-order",), "from the middle on", "0: a b c | 1: b c", set[str]()),
        (("no-duplication",), "delivered again", "0: a b a | 1: b a", {"NoDuplication"}),
        (_CAUSAL, "an answer", "0: +a a b | 1: a +b b | 2: a b", set[str]()),
        (_CAUSAL, "an answer first", "0: +a a b | 1: a +b b | 2: b a", {"Causal"}),
        (_CAUSAL, "a later one first", "0: +a +0:2 a 0:2 | 1: 0:2 a", {"Fifo", "Causal"}),
        (_PARTS, "two parts", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: a +c [2] c [3=2]", set[str]()),
        (_PARTS, "no part", "0: +a a [2=01] | 1: a [01] [2=01]", {"TransitionalSet"}),
        (_PARTS, "another part", "0: +a a [0] [2=01] | 1: a [01] [2=01]", {"TransitionalSet"}),
        (_PARTS, "before and after", "0: +a a [01] [2=01] | 1: [01] a [2=01]", {"FailureAtomicity"}),
        (_PARTS, "left alone", "0: +a a [01] [2=01] | 1: a [01] [2=01] | 2: [2] [3=2]", {"SafeDelivery"}),
        (_RELIABLE, "an answer in its place", "0: +a a b | 1: a +b b | 2: a b", set[str]()),
        (
            ("reliable-fifo-order",),
            "without an earlier one",
            "0: +a +0:2 a 0:2 | 1: 0:2",
            {"ReliableFifo"},
        ),
        (_RELIABLE, "without its question", "0: +a a b | 1: a +b b | 2: b", {"ReliableCausal"}),
        (
            ("weak-total-order",),
            "two orders that go together",
            "0: +a +0:2 a 0:2 [2=01] | 1: 0:2 a [2=01]",
            {"WeakTotalOrder"},
        ),
        (
            ("weak-total-order",),
            "two orders that part",
            "0: +a +0:2 a 0:2 [2=0] | 1: 0:2 a [3=1]",
            set[str](),
        ),
        (("reliable-total-order",), "passed over", "0: +a +0:2 a 0:2 | 1: 0:2", {"ReliableTotalOrder"}),
        (_GAPS, "passed over too early", "0: +a +0:2 a 0:2 | 1: 0:2 !", {"ExtendedTotalOrder"}),
        (
            _GAPS,
            "passed over by a part",
            "0: +a [01] a#2 [2=01] | 1: [01] a#2 [2=01] | 2: +c [2] c#1 a#2 [3=2]",
            set[str](),
        ),
        (
            ("virtual-synchrony", "agreement-on-successors"),
            "not from the same view",
            "0: +a a [2=01] [3=01] | 1: a [3=01]",
            {"AgreementOnSuccessors"},
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
        (("perfect-detector",), "suspected by one", "0: -2 | 1: | 2: !", {"StrongCompleteness"}),
        (("perfect-detector",), "suspected by mistake", "0: -1 =1 | 1:", {"StrongAccuracy"}),
        (("perfect-detector",), "suspected before the crash", "0: -1 a>1 | 1: <a !", {"StrongAccuracy"}),
        (
            ("eventually-perfect-detector",),
            "suspected for ever",
            "0: -1 | 1:",
            {"EventualStrongAccuracy"},
        ),
        (("strong-detector",), "suspected once each", "0: -1 =1 | 1: -0 =0", {"WeakAccuracy"}),
        (
            ("eventually-strong-detector",),
            "suspected for ever each",
            "0: -1 | 1: -0",
            {"EventualWeakAccuracy"},
        ),
        (("active-detector",), "suspected by nobody", "0: -1 =1 | 1: !", {"WeakCompleteness"}),
        (("passive-detector",), "alarmed", "0: - | 1: !", set[str]()),
        (("passive-detector",), "alarmed without cause", "0: - | 1: -", {"AlarmAccuracy"}),
        (("passive-detector",), "not alarmed", "0: - | 1: | 2: !", {"AlarmCompleteness"}),
    )
}
"""The same where more is promised, or something else: the promise, the history, what it breaks."""
