"""Claims of the report on i-views and regular views in one group: figures 32 and 34 together.

`_CRASHED`: one of three processes fails. `_CUT_OFF`: nobody fails, the aggressive detector is wrong once, and
messages are kept for external processes; `_CROWDED`: they are not kept. `_MISJUDGED`: the conservative
detector is wrong once, so that an i-view and a regular view are called for the same list. `_BACK`: both
detectors are wrong, and an external process comes back. All repairs are on. All but one check of each kind
are deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.protocols.irbp.iviews import IViewsChecked
from antiphon.spec.protocols.irbp.two_views_checked import TwoViewsChecked

Constants = Mapping[str, int | bool | str]

_CRASHED: Constants = {
    "processes": 3, "messages": 1, "highest": 5, "spare": 2, "views": 3, "crashes": 1,
    "false_suspicions": 0, "misjudgements": 0, "room": 0,
    "detected_at_once": True, "assigned": True, "prompt": True,
}  # fmt: skip
_CROWDED: Constants = {**_CRASHED, "crashes": 0, "false_suspicions": 1, "views": 2}
_CRASHED_CORE: Constants = {**_CRASHED, "watching": "core"}
_CUT_OFF: Constants = {**_CROWDED, "room": 5}
_UNWATCHED: Constants = {**_CROWDED, "views": 3, "watching": "core"}
_LEAVING: Constants = {**_UNWATCHED, "giving_up": "leave"}
_MISJUDGED: Constants = {**_CUT_OFF, "false_suspicions": 0, "misjudgements": 1}
_PAIR: Constants = {**_MISJUDGED, "processes": 2, "highest": 2, "spare": 1}
_BACK: Constants = {
    **_CUT_OFF, "highest": 3, "views": 3, "misjudgements": 1, "acknowledging": "group",
}  # fmt: skip
_BACK_CROWDED: Constants = {**_BACK, "room": 0}
_BOTH: Constants = {**_CUT_OFF, "crashes": 1, "views": 3, "acknowledging": "group"}
_ALL_IVIEWS: Constants = {
    "processes": 3, "messages": 1, "highest": 5, "views": 2, "crashes": 0, "false_suspicions": 1,
    "detected_at_once": True, "assigned": True, "urgent": True,
}  # fmt: skip
_TWO: Constants = {**_CRASHED, "messages": 2, "highest": 6}
_TWO_CUT_OFF: Constants = {**_CUT_OFF, "messages": 2, "highest": 6, "room": 6}
_TWO_CRASHED: Constants = {**_CRASHED, "processes": 4, "highest": 3, "spare": 3, "crashes": 2}

SAFETY = (
    "ListAgreement", "ViewAgreement", "UniformIntegrity", "ViewSynchrony", "SameViewDelivery",
    "SendingViewDelivery", "OwnMessagesAreSent",
)  # fmt: skip
ORDER = ("UniformTotalOrder", "UniformPrefixOrder")
"""Properties that one message could not break."""

LIVENESS = (
    "Validity", "Agreement", "UniformAgreement", "VscValidity", "VscTermination", "ChangesEnd", "GroupIsUp",
)  # fmt: skip
ALL = (*SAFETY, *LIVENESS)
OF_REGULAR_VIEWS = (
    "ListAgreement", "ViewAgreement", "ViewSynchrony", "SameViewDelivery", "SendingViewDelivery", "GroupIsUp",
)  # fmt: skip
"""Properties that nothing can break where all changes are i-views: the application is in its first view to
the end.
"""


def _without(names: Sequence[str], *others: str) -> tuple[str, ...]:
    """Return the names of properties except `others`."""
    return tuple(name for name in names if name not in others)


def _check(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants, length: int | None = None
) -> Check:
    """Return a deep check of a property of both kinds of views with all repairs but those in `without`."""
    return Check(TwoViewsChecked, property, outcome, "all", without, of, length, deep=True, long_for_z3=True)


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


TWO_VIEWS: tuple[Claim, ...] = (
    Claim(
        "IRB-15",
        _text("4.4.5", "a regular view should be installed when a failure detector with conservative"),
        "Regular views and i-views can be called at the same time.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "(reformation, i) and (i-view, i) both run a consensus among TL_i on TL_{i+1}, and neither figure "
        "says that it is the same one. With two, one process installs the list of the i-view and another the "
        "list of the regular view, under one number: messages are delivered in different views, or not at "
        "all. With one consensus for each list, whose decision says of which kind it is, all holds.",
        (
            Check(
                TwoViewsChecked, "ListAgreement", "violated", (), (), _PAIR, 16, deep=True, long_for_z3=True
            ),
            _check("ListAgreement", "violated", "agree_once", of=_MISJUDGED, length=18),
            *(_check(name, "holds", of=_CRASHED) for name in _without(ALL, "ListAgreement")),
            *(_check(name, "holds", of=_CUT_OFF) for name in _without(ALL, *OF_REGULAR_VIEWS)),
            *(_check(name, "holds", of=_MISJUDGED) for name in _without(ALL, "GroupIsUp")),
            *(_check(name, "holds", of=of) for of in (_BACK, _BOTH) for name in SAFETY),
            *(_check(name, "holds", of=_TWO) for name in (*ORDER, *_without(ALL, "ListAgreement"))),
            *(_check(name, "holds", of=_TWO_CUT_OFF) for name in (*ORDER, *_without(ALL, *OF_REGULAR_VIEWS))),
            _check("UniformTotalOrder", "violated", of={**_TWO, "out_of_order": True}, length=15),
            _check(
                "UniformPrefixOrder",
                "violated",
                "exchange_queues",
                of={**_TWO, "highest": 4, "views": 2},
                length=24,
            ),
        ),
        defect="text",
        repairs=("agree_once",),
    ),
    Claim(
        "IRB-17",
        _text(
            "4.4.3",
            "If the partition is repaired, the excluded process is unable to acquire lost messages, because "
            "they were already discarded. When this happens, it is obligated to commit suicide",
        ),
        "An external process that misses what is collected cannot go on; later collection spares it.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Where what is delivered is collected at once, an external process that missed one number asks for "
        'what is "no more in the buffers", and kills itself, though nobody has failed and nothing need be '
        "lost. Where the core keeps what it delivered until the next regular view, it gets all that it "
        "missed, and nobody dies; with room for one number it still may. Where only some keep, it dies of "
        "the first such answer though another has what it misses: all must be asked. As printed an external "
        "process never comes so far, since it keeps the old list (IRB-14).",
        (
            Check(
                IViewsChecked,
                "ExternalsFollow",
                "violated",
                "all",
                (),
                _ALL_IVIEWS,
                20,
                deep=True,
                long_for_z3=True,
            ),
            _check("NobodyKillsItself", "violated", of=_CROWDED, length=22),
            _check("NoMoreInTheBuffers", "holds", of=_CROWDED),
            _check("NobodyKillsItself", "violated", of={**_CUT_OFF, "room": 1}, length=29),
            _check("NobodyKillsItself", "holds", of=_CUT_OFF),
            _check("NobodyKillsItself", "violated", of={**_CUT_OFF, "keepers": 2}, length=22),
            _check("NobodyKillsItself", "holds", of={**_CUT_OFF, "keepers": 2, "refusing": "all"}),
            *(_check(name, "holds", of=_CUT_OFF) for name in ("Agreement", "Validity")),
            *(_check(name, "holds", of=_CROWDED) for name in ("Agreement", "UniformAgreement")),
            _check("PartitionByIView", "unknown", "go_on_outside", of=_CUT_OFF),
            _check("PartitionByIView", "holds", of=_CUT_OFF, length=27),
        ),
        repairs=("go_on_outside",),
    ),
    Claim(
        "IRB-23",
        _text("4.4.5", "suspicions from the conservative failure detector generate regular view changes"),
        "Aggressive suspicions cost no life, and what has failed leaves the group by a regular view.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "A wrong suspicion of the aggressive detector kills nobody, one of the conservative detector kills "
        "the one process that it suspects. Section 4.4.5 calls a regular view when that detector `suspects "
        "a process`, whichever of the group. Figure 32, which knows no external processes yet, begins `upon "
        "suspicion of some process in TL_i`: read so, the i-view, which is faster, has taken the process "
        "that failed out of TL_i, no regular view is ever called for it, and it stays in the group with "
        "what is owed to it.",
        (
            _check("GroupIsUp", "holds", of=_CRASHED),
            _check("VscTermination", "holds", of=_CRASHED),
            _check("NobodyKillsItself", "holds", of=_CRASHED),
            _check("NobodyKillsItself", "holds", of=_CUT_OFF),
            _check("NobodyKillsItself", "violated", of=_MISJUDGED, length=9),
            _check("OneLifeASuspicion", "holds", of=_MISJUDGED),
            _check("GroupIsUp", "violated", of=_CRASHED_CORE, length=4),
            _check("VscTermination", "violated", of=_CRASHED_CORE, length=5),
        ),
    ),
    Claim(
        "IRB-30",
        _text("5.2.3", "All these runs were successfully executed"),
        "Crashes, partitions and reintegration are overcome by i-views and by regular views.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Each scenario of section 5.2.3 is a run, with all repairs: a crash of one and of two processes, "
        "after which the others go on in an i-view or in a regular view; a process that is cut off, and gets "
        "what it missed by retransmission, or kills itself when it is left out of a regular view; an "
        "external process that is in the core again by an i-view, and by a regular view.",
        (
            _check("SimpleCrashByIView", "holds", of=_CRASHED, length=21),
            _check("SimpleCrashByRegularView", "holds", of=_CRASHED, length=21),
            _check("MultipleCrashesByIView", "holds", of=_TWO_CRASHED, length=34),
            _check("MultipleCrashesByRegularView", "holds", of=_TWO_CRASHED, length=34),
            _check("PartitionByIView", "holds", of=_CUT_OFF, length=27),
            _check("NoMoreInTheBuffers", "holds", of=_CROWDED, length=22),
            _check("PartitionByRegularView", "holds", of=_MISJUDGED, length=24),
            _check("ReintegrationByIView", "holds", of=_BACK, length=48),
            _check("ReintegrationByRegularView", "holds", of=_BACK, length=47),
        ),
    ),
    Claim(
        "IRB-31",
        _text("4.4.5", "it can have a “fair” behavior and execute leave before committing suicide"),
        "Who calls a regular view before it kills itself is out of the group without a suspicion.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Where nobody watches external processes, one that kills itself stays in the group for ever; with "
        "leave the next regular view is without it, and costs no other life.",
        (
            _check("GroupIsUp", "violated", of=_UNWATCHED, length=23),
            _check("GroupIsUp", "holds", of=_LEAVING),
            _check("OneLifeASuspicion", "holds", of=_LEAVING),
            _check("ChangesEnd", "holds", of=_LEAVING),
        ),
    ),
    Claim(
        "IRB-32",
        _text("5.2.3", "reintegration of external processes in a new i-view"),
        "An external process that comes back has missed nothing.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Figure 34 takes in whoever sends an ack. One that misses what the core has delivered and collected "
        "goes on to the next regular view without it, which view synchrony forbids. So it comes back only "
        "when it has all that is stable.",
        (
            _check("ViewSynchrony", "violated", "up_to_date", of=_BACK_CROWDED, length=38),
            _check("ViewSynchrony", "holds", of=_BACK_CROWDED),
        ),
        defect="text",
        repairs=("up_to_date",),
    ),
    Claim(
        "IRB-33",
        _text("4.4.3", "it receives all broadcasts, and can send messages to the group"),
        "What a process has broadcast, and has not delivered, it goes on sending when it is external.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "A process sends a message again until it learns a number of it, and then no more (figure 25, line "
        "16). As printed the new sequencer gives that number to another message (IRB-12): who has stopped "
        "sending its own for it has lost it. The exchange of queues, which mends IRB-12, opens a second "
        "way: it takes a number back that nobody of the core has heard, and an external process that knew "
        "it has stopped sending, though the core may not have the message. So with the exchange it must "
        "begin again.",
        (
            _check("OwnMessagesAreSent", "violated", "exchange_queues", of=_CUT_OFF, length=22),
            _check("OwnMessagesAreSent", "violated", "repeat_own", of=_CUT_OFF, length=12),
            _check("OwnMessagesAreSent", "holds", of=_CUT_OFF),
        ),
        defect="text",
        repairs=("exchange_queues", "repeat_own"),
    ),
)
