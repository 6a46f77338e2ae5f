"""Definitions of the RBP report, before any protocol: which properties follow from which, and which reading
of an open word makes a difference.

They are checked on machines without a protocol: `SequenceChecked` (one sequence that all deliver),
`ViewSynchronyChecked` (the machine that protocols of view synchrony refine), each with a fault for each
property, and `AnyHistory`, in which everything happens that may be logged at all.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, Proof, RecordedOutcome, Source, Standing
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.total.in_views import TotalInViews
from antiphon.spec.services.destinations import ComingAndGoing
from antiphon.spec.services.histories import AnyHistory
from antiphon.spec.services.sequence import SequenceChecked
from antiphon.spec.services.view_induction import ViewSynchronyProof
from antiphon.spec.services.view_machine import ViewSynchronyChecked

Constants = Mapping[str, int | bool | str]

_SEQUENCE: Constants = {"processes": 3, "messages": 2}
_MACHINE: Constants = {"processes": 3, "messages": 2, "views": 2}
_PAIR: Constants = {"processes": 2, "messages": 1, "views": 3}
_HISTORIES: Constants = {"processes": 3, "messages": 2, "views": 2}
_DESTINATIONS: Constants = {"processes": 3, "messages": 1, "views": 3, "joiners": 1}
_TOTAL: Constants = {
    "losses": 0, "processes": 2, "messages": 2, "crashes": 0, "reforms": True, "assigned": True,
}  # fmt: skip
_REPEATED = ("repeat_request",)
_NO_FLUSH = ("flush", "repeat_request")


def _source(section: str, quotation: str, document: Document = Document.RBP) -> Source:
    return Source(document, section, quotation)


def _check(
    spec: type[Spec],
    property: str,
    outcome: RecordedOutcome,
    constants: Constants,
    length: int | None = None,
    **fault: bool,
) -> Check:
    return Check(spec, property, outcome, constants={**constants, **fault}, length=length, long_for_z3=True)


def _holds(spec: type[Spec], constants: Constants, *properties: str) -> tuple[Check, ...]:
    return tuple(_check(spec, property, "holds", constants) for property in properties)


def _fault(property: str, length: int, *holding: str, **fault: bool) -> tuple[Check, ...]:
    """Return checks of a planted fault of the sequence machine: it breaks one property, and leaves the
    properties `holding` as they are.
    """
    return (
        _check(SequenceChecked, property, "violated", _SEQUENCE, length, **fault),
        *(_check(SequenceChecked, name, "holds", _SEQUENCE, **fault) for name in holding),
    )


def _shown(witness: str, length: int) -> Check:
    """Return the check that some history of at most this length is a witness."""
    return _check(AnyHistory, witness, "holds", _HISTORIES, length)


def _total(
    property: str, outcome: RecordedOutcome, without: tuple[str, ...], length: int | None = None
) -> Check:
    """Return a check of TOTAL with all repairs but those in `without`; messages may outlast their views."""
    return Check(TotalInViews, property, outcome, "all", without, _TOTAL, length, long_for_z3=True)


def _proved(property: str) -> Proof:
    """Return the proof of a property of the machine of view synchrony."""
    every = ("processes", "messages", "views")
    return Proof(ViewSynchronyProof, property, every, deep=True)


DEFINITIONS: tuple[Claim, ...] = (
    Claim(
        "DEF-01",
        _source(
            "2.1",
            "The problem of Total Order Multicast can be defined by four properties: Validity, Agreement, "
            "Integrity, and Total Order [DEF 2000].",
        ),
        "Total order broadcast is Validity, Agreement, Integrity and Total Order, and none of the four "
        "follows from the others; the uniform form of Agreement does not follow from the plain one.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "One sequence that everybody delivers has all of them, in both forms. Of each property there is a "
        "fault of this machine that breaks it and leaves the other three.",
        (
            *_holds(
                SequenceChecked,
                _SEQUENCE,
                "Validity",
                "Agreement",
                "UniformAgreement",
                "Integrity",
                "UniformIntegrity",
                "TotalOrder",
                "UniformTotalOrder",
                "BroadcastOnce",
                "SilentAfterCrash",
            ),
            _check(SequenceChecked, "EverybodyHasEverything", "holds", _SEQUENCE, 10),
            *_fault("Validity", 2, "Agreement", "Integrity", "TotalOrder", not_accepted=True),
            *_fault("Agreement", 8, "Validity", "Integrity", "TotalOrder", passed_over=True),
            *_fault("Integrity", 4, "Validity", "Agreement", "TotalOrder", again=True),
            *_fault("TotalOrder", 8, "Validity", "Agreement", "Integrity", backwards=True),
            *_fault("UniformAgreement", 4, "Agreement", "UniformTotalOrder", taken_to_the_grave=True),
            _check(
                SequenceChecked, "EverybodyHasEverything", "holds", _SEQUENCE, 10, taken_to_the_grave=True
            ),
        ),
    ),
    Claim(
        "DEF-02",
        _source(
            "2",
            'A process that does not crash during all the execution is called "correct". However, as we '
            "assume an asynchronous system, even a correct process can be suspected of crashing.",
        ),
        "A process that is suspected wrongly and left out of a view is correct, and is owed what correct "
        "processes are owed, unless program-controlled crash makes it faulty.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        'Termination asks that "every correct process in v installs a new view". Who is left out and lives '
        "on breaks it; if it commits suicide (section 4.3.4), every property holds.",
        (
            *_holds(
                ViewSynchronyChecked, _MACHINE, "VscTermination", "VscValidity", "ViewSynchrony", "LeftOut"
            ),
            _check(ViewSynchronyChecked, "VscTermination", "violated", _PAIR, 2, lives_on=True),
            _check(ViewSynchronyChecked, "VscValidity", "holds", _PAIR, lives_on=True),
        ),
    ),
    Claim(
        "DEF-03",
        _source(
            "2.1",
            "If a process in Dest(m) delivers a message m, then all correct processes in Dest(m) eventually "
            "deliver m.",
        ),
        "Where the group changes it makes a difference whether Dest(m) is the view in which m is sent, the "
        "view in which it gets its place in the order, or the view in which it is delivered.",
        Standing.QUESTION,
        Kind.COMPOSITION,
        "holds",
        "The report says neither. With views {0, 1}, {0, 2}, {0, 1, 2}, for each reading there is a history "
        "that keeps Agreement by it and breaks it by both others.",
        (
            *(
                _check(ComingAndGoing, name, "holds", _DESTINATIONS, length)
                for name, length in (("OnlyBySending", 8), ("OnlyBySequencing", 8), ("OnlyByDelivery", 9))
            ),
            *_holds(ComingAndGoing, _DESTINATIONS, "UniformIntegrity", "InitialView", "PlacedInAView"),
        ),
    ),
    Claim(
        "DEF-04",
        _source(
            "4.3.2",
            "Considering a primary-partition group membership, we can define an agreement property on the "
            "view history: if p installs v_i^p and if q installs v_i^q, then v_i^p = v_i^q.",
        ),
        "All processes that install view i install the same members; in a primary partition there is one "
        "history of views, which this sentence alone does not say.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "The machine of view synchrony has both. Agreement alone leaves room for a process that was left out "
        "and goes on with a view of its own, under a number of its own: `PrimaryPartition` says that it may "
        "not.",
        (
            *_holds(
                ViewSynchronyChecked,
                _MACHINE,
                "ViewAgreement",
                "ViewsAreToldOf",
                "DeliveredAfterAChange",
            ),
            *_holds(ViewSynchronyChecked, _PAIR, "PrimaryPartition"),
            _check(ViewSynchronyChecked, "ViewAgreement", "violated", _PAIR, 2, told_others=True),
            _check(ViewSynchronyChecked, "ViewAgreement", "holds", _PAIR, split_off=True),
            _check(ViewSynchronyChecked, "PrimaryPartition", "violated", _PAIR, 2, split_off=True),
        ),
    ),
    Claim(
        "DEF-05",
        _source(
            "View Changes",
            "Since the group membership layer guarantees that messages sent in a certain view may only be "
            "received in that view (virtual synchrony), we know that a message sent in one view will not be "
            "received by any member while in any future view.",
            Document.TOTAL,
        ),
        "What TOTAL calls virtual synchrony is Sending View Delivery; it does not give what Horus and the "
        "RBP report mean, that members which go on together have delivered the same.",
        Standing.IMPLIED,
        Kind.COMPOSITION,
        "holds",
        "Over views in which messages stay, TOTAL keeps Sending View Delivery and breaks View Synchrony; "
        "with a flush it keeps both. A member that repeats its request in the next view (which the document "
        "does not say) gets its message delivered there, and breaks Sending View Delivery, as the "
        "application sees it.",
        (
            _total("SendingViewDelivery", "holds", _NO_FLUSH),
            _total("SameViewDelivery", "holds", _NO_FLUSH),
            _total("ViewSynchrony", "violated", _NO_FLUSH, 5),
            _total("SendingViewDelivery", "holds", _REPEATED),
            _total("ViewSynchrony", "holds", _REPEATED),
            _total("SendingViewDelivery", "violated", (), 6),
            _total("ViewSynchrony", "holds", ()),
        ),
    ),
    Claim(
        "DEF-06",
        _source(
            "4.3.2",
            "If a correct process executes VSCast(m), then it eventually VS-Delivers m (in view v or in a "
            "subsequent view).",
        ),
        "With Sending View Delivery, Validity means delivery in v, whatever its last words allow; and then "
        "View Synchrony cannot be had as well unless senders wait while the view changes.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "In no history at all has the sender of a message that was broadcast in a view which another had "
        "left already delivered it, left the view too, and kept Sending View Delivery and View Synchrony. "
        "The machine of view synchrony, whose senders wait, has all three; Sending View Delivery and View "
        "Synchrony are proved for every number of processes, messages and views, where nobody joins. If "
        "senders do not wait, such messages are lost. TOTAL has the choice: with requests that are not "
        "repeated it breaks Validity, "
        "with repeated ones Sending View Delivery.",
        (
            _check(AnyHistory, "NoWayOutForLateMessages", "holds", _HISTORIES),
            _shown("LateMessage", 9),
            *_holds(
                ViewSynchronyChecked,
                _MACHINE,
                "VscValidity",
                "SendingViewDelivery",
                "ViewSynchrony",
            ),
            *map(_proved, ("DeliveredWhereSent", "SameDeliveries", "AlongLinks")),
            _check(ViewSynchronyChecked, "VscValidity", "violated", _PAIR, 2, sends_on=True),
            _check(ViewSynchronyChecked, "ViewSynchrony", "holds", _PAIR, sends_on=True),
            _total("VscValidity", "violated", _REPEATED, 2),
            _total("SendingViewDelivery", "holds", _REPEATED),
            _total("VscValidity", "holds", ()),
            _total("SendingViewDelivery", "violated", (), 6),
        ),
    ),
)

VSC_DEFINITIONS: tuple[Claim, ...] = (
    Claim(
        "VSC-01",
        _source(
            "4.3.2",
            "According to [VIT 99], some protocols allow a weaker version of the Sending View Delivery "
            "property. This weaker property, called Same View Delivery assumes that all processes deliver a "
            "message m in the same view, even if this is not the view where the message was initially sent.",
        ),
        "Sending View Delivery implies Same View Delivery, and is strictly stronger, also where View "
        "Synchrony holds.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "In every history of honest deliveries of two messages by three processes through two views, one of "
        "which may crash. Same View Delivery without Sending View Delivery: all deliver the message in the "
        "next view.",
        (
            _check(AnyHistory, "SendingViewImpliesSameView", "holds", _HISTORIES),
            *_holds(AnyHistory, _HISTORIES, "UniformIntegrity", "LocalMonotonicity", "NothingAfterCrash"),
            _shown("SameViewAlone", 9),
            _shown("AllButSendingView", 9),
        ),
    ),
)

MEANINGS = Claim(
    "X-02",
    _source(
        "4.3.2",
        "A message broadcasted in view v, if delivered, ought to be delivered in view v.",
    ),
    "Virtual synchrony means Sending View Delivery to TOTAL, agreement on what was delivered in a view to "
    "Horus (the VIEW upcall), and to the RBP report two properties that are told apart; neither of the first "
    "two meanings implies the other.",
    Standing.QUESTION,
    Kind.COMPOSITION,
    "holds",
    "A history keeps Sending View Delivery while two processes go on with different deliveries (TOTAL's "
    "meaning without Horus'); another keeps View Synchrony although a message is delivered in two views, "
    "since the one who delivered it early has crashed (Horus' meaning without TOTAL's). DEF-05 shows the "
    "first of TOTAL itself.",
    (_shown("SendingViewAlone", 4), _shown("SynchronyAlone", 10)),
)
"""Claim on meanings; it belongs to the comparisons, and stands in their family."""
