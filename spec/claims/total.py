"""Claims of the document of JavaGroups' TOTAL, and the verdicts of the machines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from antiphon.spec.claims.claim import (
    Check,
    Claim,
    Document,
    Kind,
    Measurement,
    RecordedOutcome,
    Source,
    Standing,
)
from antiphon.spec.protocols.total.over_flush import TotalOverFlush
from antiphon.spec.protocols.total.over_views import TotalOverViewsChecked
from antiphon.spec.protocols.total.properties import TotalChecked, TotalRepeatedChecked

_STABLE: dict[str, Any] = {"views": 1, "losses": 2, "processes": 3, "messages": 2}
_MORE: dict[str, Any] = {"views": 1, "losses": 1, "processes": 3, "messages": 3, "assigned": True}
_PAIR: dict[str, Any] = {"views": 1, "losses": 2, "processes": 2, "messages": 2}
_SURE: dict[str, Any] = {"views": 1, "losses": 0, "processes": 3, "messages": 2}
_NEXT: dict[str, Any] = {
    "losses": 0,
    "processes": 2,
    "messages": 2,
    "crashes": 0,
    "reforms": True,
    "assigned": True,
}
_LATER: dict[str, Any] = {"views": 1, "losses": 0, "processes": 2, "messages": 1, "expected": 2}
_SAME: dict[str, Any] = {**_LATER, "messages": 2, "expected": 1}
_HIGHER: dict[str, Any] = {**_LATER, "expected": 1, "first_ids": 2}
_LOSSY: dict[str, Any] = {**_NEXT, "losses": 1}
_ANY: dict[str, Any] = {**_NEXT, "first_ids": 2}
_THIRD: dict[str, Any] = {**_ANY, "messages": 3}
_CRASH: dict[str, Any] = {
    "losses": 1,
    "processes": 3,
    "messages": 2,
    "first_ids": 2,
    "patient": True,
    "assigned": True,
}
_REFORM: dict[str, Any] = {**_CRASH, "crashes": 0, "reforms": True}
_JOIN: dict[str, Any] = {
    "losses": 1,
    "processes": 3,
    "messages": 2,
    "joiners": 1,
    "crashes": 0,
    "patient": True,
    "assigned": True,
}
_ORDERS: dict[str, Any] = {**_REFORM, "losses": 0, "first_ids": 1, "lists": "another order"}
_NAMED: dict[str, Any] = {"losses": 0, "processes": 3, "messages": 4, "assigned": True}
_QUICK: dict[str, Any] = {**_CRASH, "losses": 0, "first_ids": 1}
_OVER: dict[str, Any] = {"losses": 0, "processes": 3, "messages": 5, "reforms": True, "first_ids": 2}

_KEPT = (
    "PrefixOrder", "UniformIntegrity", "Agreement", "ViewAgreement", "DiscardedWasPassedUp", "GapsAreFilled",
)  # fmt: skip
"""Properties that TOTAL keeps over the machine of view synchrony.

`TotalOrder` is not among them: where one sequencer gives the ids and lower ones are passed over, prefix order
implies it. `ViewPrefix` is checked only where the machine does not keep the order of one sender's messages:
two broadcasts that arrive in order cannot break it.
"""


def _literal(
    property: str, outcome: RecordedOutcome, length: int | None = None, **constants: int | str | bool
) -> Check:
    return Check(TotalChecked, property, outcome, constants=constants, length=length)


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    length: int | None = None,
    **constants: int | str | bool,
) -> Check:
    return Check(TotalChecked, property, outcome, "all", without, constants, length)


def _only(
    repairs: tuple[str, ...],
    property: str,
    outcome: RecordedOutcome,
    length: int | None = None,
    **constants: int | str | bool,
) -> Check:
    return Check(TotalChecked, property, outcome, repairs, constants=constants, length=length)


def _deep(check: Check) -> Check:
    return replace(check, deep=True)


def _step(repairs: tuple[str, ...], outcome: RecordedOutcome, length: int | None = None) -> Check:
    """Return the check that numbering and passing up of TOTAL are steps of the machine of view synchrony."""
    return Check(
        TotalOverFlush, "StepOfTheMachine", outcome, repairs, constants=_NAMED, length=length, deep=True
    )


def _over_views(
    repairs: tuple[str, ...],
    property: str,
    outcome: RecordedOutcome,
    length: int | None = None,
    **faults: bool,
) -> Check:
    """Return a check of TOTAL over the machine of view synchrony; `faults` are planted in the machine."""
    constants = {**_OVER, **faults}
    return Check(
        TotalOverViewsChecked, property, outcome, repairs, constants=constants, length=length, deep=True
    )


def _larger(*properties: str) -> tuple[Check, ...]:
    """Return checks of the repaired protocol within larger bounds: more members, crashes and messages, and
    timers at any time.
    """
    larger: tuple[dict[str, Any], ...] = (
        {**_CRASH, "processes": 4, "messages": 3},
        {**_QUICK, "processes": 4, "crashes": 2, "views": 3},
        {**_REFORM, "messages": 3, "losses": 2},
        {**_NEXT, "processes": 3},
    )
    return tuple(
        _deep(_check(property, "holds", **constants)) for constants in larger for property in properties
    )


def _source(section: str, quotation: str) -> Source:
    return Source(Document.TOTAL, section, quotation)


TOTAL: tuple[Claim, ...] = (
    Claim(
        "TOT-01",
        _source(
            "opening paragraph",
            "In order for this TOTAL protocol to function properly, it needs a group membership protocol "
            "residing below.",
        ),
        "TOTAL needs what it asks of the layer below: view changes told to all, identical lists in identical "
        "order, messages received only in the view they were sent in, and its own address.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "Each is needed even by the repaired protocol. Another order of one list makes two sequencers; "
        "messages of other views mix with this view's ids; a member that is not told of the change is left "
        "behind; without its address no member knows that it is the first.",
        (
            _check("OneSequencer", "violated", length=0, **_SURE, lists="another order"),
            _check("UniformPrefixOrder", "violated", length=2, **_SURE, lists="another order"),
            _check("ViewPrefix", "violated", length=9, **_ANY, synchrony="none"),
            _check("ViewAgreement", "violated", length=4, **_QUICK, announced="not to the last"),
            _check("Validity", "violated", length=1, **_SURE, addresses="never set"),
            _check("ViewPrefix", "holds", **_CRASH),
            _check("ViewAgreement", "holds", **_CRASH),
            _check("Validity", "holds", **_CRASH),
        ),
    ),
    Claim(
        "TOT-02",
        _source(
            "Architecture",
            "Hence, if every message broadcast to the group has a unique sequence id, the TOTAL layer in "
            "each member will pass up these messages in the same order.",
        ),
        "While the view stays, all members pass messages up in the same order.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "In the literal text, whatever is lost or overtakes, in one view. Across views ids are not unique, "
        "and a sequencer that crashes may have passed up alone what the others later pass up in another "
        "order (the uniform order across views, which the document does not promise).",
        (
            _literal("UniformTotalOrder", "holds", **_STABLE),
            _literal("UniformTotalOrder", "holds", **_MORE),
            _literal("UniformPrefixOrder", "holds", **_MORE),
            _literal("UniformIntegrity", "holds", **_MORE),
            _literal("GapSeen", "holds", 3, **_STABLE),
            _literal("AllDelivered", "holds", 6, **_STABLE),
            _check("TotalOrder", "holds", **_CRASH),
            _check("UniformTotalOrder", "violated", length=13, **_CRASH),
        ),
    ),
    Claim(
        "TOT-03",
        _source(
            "Sequencer", "Each group using the TOTAL protocol layer will consist of exactly one sequencer."
        ),
        "No view has two members that act as sequencer.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Given identical lists in identical order (TOT-01). During a change the sequencers of the old and "
        "the new view both act, in different views.",
        (
            _literal("OneSequencer", "holds", **_QUICK),
            _check("OneSequencer", "holds", **_CRASH),
            _literal("NextView", "holds", 4, **_QUICK),
        ),
    ),
    Claim(
        "TOT-04",
        _source(
            "Sequencer",
            "the sequencer needs to guarantee that no two messages receive the same sequence id and that no "
            "sequence id is skipped when assigning sequence id's",
        ),
        "The sequencer assigns unique ids without gaps within a view.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "There is one sequencer, and it counts.",
        (
            _literal("UniqueIds", "holds", **_STABLE),
            _literal("NoIdSkipped", "holds", **_STABLE),
            _check("UniqueIds", "holds", **_CRASH),
            _check("NoIdSkipped", "holds", **_CRASH),
            _check("UniqueIds", "violated", length=2, **_SURE, lists="another order"),
        ),
    ),
    Claim(
        "TOT-05",
        _source(
            "Members",
            "If we receive a message with a lower sequence id, then this message can be discarded because it "
            "has already been received and passed up the stack.",
        ),
        "What is discarded because its id is lower than expected was passed up.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "True while the view stays. After a view change the member compares ids of the new view with the id "
        "that it expected in the old, until TOTAL_NEW_VIEW arrives, and discards messages that it has never "
        "passed up.",
        (
            _literal("DiscardedWasPassedUp", "holds", **_STABLE),
            _literal("DiscardedWasPassedUp", "violated", 2, **_LATER),
            _literal("DiscardedWasPassedUp", "violated", 8, **_NEXT),
            _check("DiscardedWasPassedUp", "holds", **_ANY),
            _check("DiscardedWasPassedUp", "holds", **_REFORM),
        ),
        defect="text",
        repairs=("await_new_view",),
    ),
    Claim(
        "TOT-06",
        _source(
            "Members",
            "If the queue already contains a message with this sequence id, then the message is discarded "
            "since the messages are the same (by our assumption of unique sequence id's).",
        ),
        "A message whose id is queued already is the queued one.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "By uniqueness (TOT-04), and because the queue is cleared at the view change (TOT-08): of two "
        "messages that are ordered before it the second may be queued, with the id that the third will get. "
        "With two sequencers in one view it is not.",
        (
            _literal("QueuedTwinIsTheSame", "holds", **_THIRD),
            _check("QueuedTwinIsTheSame", "holds", **{**_HIGHER, "messages": 2}),
            _check("QueuedTwinIsTheSame", "violated", length=9, **_ORDERS),
        ),
    ),
    Claim(
        "TOT-07",
        _source(
            "View Changes",
            "To address this potential problem, we claim that the new sequencer can begin assigning "
            "sequences at any value.",
        ),
        "A new sequencer may start with any id.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Members keep the id e that they expected in the old view, and nothing but a TOTAL_NEW_VIEW that is "
        "sent once corrects it. With a first id s < e, a member that the message does not reach throws s to "
        "e-1 away and passes up the rest: not a prefix. With s > e it waits for ids that nobody assigns. "
        "With a TOTAL_NEW_VIEW that is waited for and sent again, any value will do.",
        (
            _literal("ViewPrefix", "violated", 3, **{**_LATER, "messages": 2}),
            _literal("ViewPrefix", "violated", 10, **{**_NEXT, "messages": 3}),
            _only(
                ("flush", "recover_suffix"),
                "GapsAreFilled",
                "violated",
                7,
                **{**_LOSSY, "first_ids": 2, "messages": 1},
            ),
            _check("ViewPrefix", "holds", **_REFORM),
            _check("TotalOrder", "holds", **_REFORM),
            _check("PrefixOrder", "holds", **_REFORM),
            _check("UniformIntegrity", "holds", **_REFORM),
            _check("GapsAreFilled", "holds", **_REFORM),
            _check("NextView", "holds", length=5, **_REFORM),
            _check("BeginsElsewhere", "holds", length=2, **_ANY),
            *_larger("ViewPrefix", "TotalOrder", "PrefixOrder", "UniformIntegrity", "GapsAreFilled"),
        ),
        defect="design",
        repairs=("await_new_view", "acknowledge_new_view"),
    ),
    Claim(
        "TOT-08",
        _source(
            "View Changes",
            "Since the TOTAL layer queues messages, the members clear this queue when they observe a "
            "VIEW_CHANGE event in order to maintain independence between views.",
        ),
        "Clearing the queue at the view change keeps messages of the old view out of the new.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "It does, and it must: a queue that is kept gives a message of the old view an id of the new. The "
        "next expected id survives all the same, which is the matter of TOT-05, 07, 10 and 11.",
        (
            _check("ViewPrefix", "holds", **_ANY),
            _check("UniformIntegrity", "violated", length=10, **_ANY, clearing="never"),
        ),
    ),
    Claim(
        "TOT-09",
        _source(
            "View Changes",
            "whenever there is a view change, the new sequencer broadcasts a `TOTAL_NEW_VIEW` message that "
            "contains the sequence id of the first broadcast message that will be assigned for the new view",
        ),
        "Members learn the first id of a view.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "The message is sent once. It is lost like any other, or thrown away by a layer below that receives "
        "it before the member's own view change, as 'messages sent in one view may only be received in that "
        "view' allows. Its acknowledgement 'is not currently used'. The member then knows nothing in this "
        "view.",
        (
            _check("ViewAgreement", "violated", "acknowledge_new_view", length=5, **_LOSSY),
            _check("ViewAgreement", "violated", "acknowledge_new_view", length=5, **_NEXT, early="dropped"),
            _check("ViewAgreement", "holds", **_NEXT, early="dropped"),
            _deep(_check("ViewAgreement", "holds", **_REFORM, early="dropped")),
            _check("Validity", "holds", **_REFORM),
        ),
        defect="text",
        repairs=("await_new_view", "acknowledge_new_view"),
    ),
    Claim(
        "TOT-10",
        _source("View Changes", "the members may not know what sequence id to expect for the first"),
        "A broadcast of the new view that overtakes TOTAL_NEW_VIEW is not lost when its id is lower than the "
        "one expected in the old view.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "Nothing is lost on the network, and nobody fails: the member discards the message as one that it "
        "has passed up. Of a run that begins when the view has just changed, these are the first two steps.",
        (
            _only(("flush",), "DiscardedWasPassedUp", "violated", 2, **_LATER),
            _only(("flush",), "DiscardedWasPassedUp", "violated", 8, **_NEXT),
            _check("DiscardedWasPassedUp", "violated", "await_new_view", length=8, **_NEXT),
            _check("DiscardedWasPassedUp", "holds", **{**_LATER, "messages": 2}),
            _check("DiscardedWasPassedUp", "holds", **_NEXT),
        ),
        defect="text",
        repairs=("await_new_view",),
    ),
    Claim(
        "TOT-11",
        _source(
            "Appendix",
            "Message sent when the view changes, resetting the state of the TOTAL layer (sent by sequencer "
            "of the new view)",
        ),
        "A broadcast of the new view that overtakes TOTAL_NEW_VIEW is passed up once when its id is the one "
        "expected in the old view.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "It is passed up, and TOTAL_NEW_VIEW sets the next expected id back to it. When a later message "
        "shows the gap that is none, the member asks for the message and passes it up a second time.",
        (
            _literal("UniformIntegrity", "violated", 8, **_SAME),
            _check("UniformIntegrity", "violated", "await_new_view", length=7, **_SAME),
            _literal("UniformIntegrity", "violated", 12, **_NEXT),
            _check("UniformIntegrity", "holds", **_SAME),
            _check("UniformIntegrity", "holds", **_ANY),
            _check("UniformIntegrity", "holds", **_CRASH),
        ),
        defect="text",
        repairs=("await_new_view",),
    ),
    Claim(
        "TOT-12",
        _source(
            "Retransmission",
            "With this structure, each member has the burden of requesting the appropriate requests so that "
            "there are no sequence id's that are skipped.",
        ),
        "A broadcast that was discarded as old before TOTAL_NEW_VIEW arrived is asked for later.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "TOTAL_NEW_VIEW sets the next expected id back, but the queue is empty, so the retransmission thread "
        "asks for nothing. If the message was the last of the view, it is never passed up. The run is that "
        "of TOT-10, which asks whether the message is discarded at all.",
        (
            _only(("flush",), "ViewAgreement", "violated", 2, **_LATER),
            _only(("flush",), "ViewAgreement", "violated", 8, **_NEXT),
            _check("ViewAgreement", "holds", **{**_LATER, "messages": 2}),
            _check("ViewAgreement", "holds", **_NEXT),
        ),
        defect="text",
        repairs=("await_new_view",),
    ),
    Claim(
        "TOT-13",
        _source("Appendix", "resetting the state of the TOTAL layer"),
        "A broadcast that is queued before TOTAL_NEW_VIEW arrives is passed up.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "If resetting the state clears the queue, the message is gone. If it resets the next expected id "
        "alone, the message stays queued: the text looks at the queue only when a message is added to it, "
        "and the thread asks for nothing, since no id is missing.",
        (
            _only(("flush",), "ViewAgreement", "violated", 2, **_HIGHER),
            _only(("flush",), "GapsAreFilled", "violated", 2, **_HIGHER, reset="the next id"),
            _only(("flush",), "ViewAgreement", "violated", 6, **{**_ANY, "messages": 1}),
            _check("GapsAreFilled", "holds", **{**_HIGHER, "messages": 2}),
            _check("ViewAgreement", "holds", **_ANY),
            _check("GapsAreFilled", "holds", **_ANY),
        ),
        defect="text",
        repairs=("await_new_view",),
    ),
    Claim(
        "TOT-14",
        _source(
            "Retransmission",
            "This problem is only a major issue for messages being broadcast by the sequencer.",
        ),
        "A lost request does no harm.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "A member keeps nothing of its request. When it is lost, or in flight while the view changes, nobody "
        "ever passes the message up. (A member that asks again needs requests that say which message they "
        "are for, TOT-15.)",
        (
            _literal("Validity", "violated", 2, **_PAIR),
            _literal("Validity", "violated", 3, **_NEXT),
            _check("Validity", "violated", "repeat_request", length=2, **_PAIR),
            _check("Validity", "holds", **_PAIR),
            _check("Validity", "holds", **_STABLE, patient=True),
            _check("Validity", "holds", **_CRASH),
        ),
        defect="design",
        repairs=("repeat_request",),
    ),
    Claim(
        "TOT-15",
        _source("Appendix", "A request (sent to the sequencer) for a message to be broadcast to the group"),
        "A message is passed up once although its request arrives twice.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "TOTAL_REQUEST has no argument that tells one request from another: the second copy gets a second "
        "id. So does a request that is sent again.",
        (
            Check(
                TotalRepeatedChecked,
                "UniformIntegrity",
                "violated",
                constants={"views": 1, "losses": 0, "processes": 2, "messages": 1, "spare": 1},
                length=5,
            ),
            _check("UniformIntegrity", "violated", "identify_requests", length=4, **{**_PAIR, "spare": 1}),
            Check(
                TotalRepeatedChecked,
                "UniformIntegrity",
                "holds",
                "all",
                constants={"views": 1, "losses": 0, "processes": 2, "messages": 2, "spare": 1},
            ),
        ),
        defect="text",
        repairs=("identify_requests",),
    ),
    Claim(
        "TOT-16",
        _source(
            "Retransmission",
            "If the queue of messages is not empty and its lowest sequence id is greater than the next "
            "expected sequence id, then a resend request is sent to the sequencer asking for the message "
            "with the next expected sequence id.",
        ),
        "While the view stays, every gap is filled.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "If the sequencer keeps what it has sent (TOT-20). A gap that a view change leaves is cleared with "
        "the queue; one that a stale expected id makes (TOT-07) is not filled.",
        (
            _literal("GapsAreFilled", "holds", **_STABLE),
            _literal("GapsAreFilled", "holds", **_MORE),
            _check("GapsAreFilled", "holds", **_CRASH),
        ),
    ),
    Claim(
        "TOT-17",
        _source(
            "Future Improvements",
            "Without a flush protocol, the `TOTAL` layer only guarantees total order for a prefix of the "
            "messages in one view.",
        ),
        "Without a flush, some members may miss the end of a view for ever.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "In every other respect repaired, members that go on together still differ in what they passed up, "
        "without any loss. Messages that a member requests again in the new view are then passed up twice by "
        "those who had them. With a flush, they agree, and repeating requests is safe. By itself the flush "
        "gives order, and no more: as long as members begin a view with ids that they expected in the last "
        "(TOT-10), they still differ. What is refuted it leaves as it is; together with the repair of TOT-10 "
        "it mends TOT-05, TOT-07, TOT-11, TOT-12 and TOT-13 too, where nothing is lost; TOT-09, TOT-14 and "
        "TOT-15 stay refuted. It is no flush of its own kind: with it, what gets an id and is passed up in "
        "a view are steps of the machine of view synchrony, which Horus' MBRSHIP refines with a flush that "
        "is made of messages (HOR-09). Over that machine, which may deliver and install whatever keeps each "
        "sender's order, TOTAL needs none of its repairs for order and agreement: TOTAL_NEW_VIEW comes "
        "before what it announces, so that TOT-09 holds too. Where the machine keeps no order of senders, "
        "the repair of TOT-10 does. TOT-14 stays refuted, and with its repair messages arrive.",
        (
            _check("ViewAgreement", "violated", "flush", length=4, **_NEXT),
            _check("UniformIntegrity", "violated", "flush", length=7, **_NEXT),
            _check("TotalOrder", "violated", "flush", length=11, **_NEXT),
            _literal("PrefixOrder", "violated", 7, **_NEXT),
            _only(("flush",), "PrefixOrder", "holds", **_NEXT),
            _only(("flush",), "ViewAgreement", "violated", 8, **_NEXT),
            _only(("flush", "await_new_view"), "ViewAgreement", "holds", **_NEXT),
            _only(("flush", "await_new_view"), "UniformIntegrity", "holds", **_NEXT),
            _step(("flush", "await_new_view"), "holds"),
            _step(("await_new_view",), "violated", 5),
            _check("ViewAgreement", "holds", **_CRASH),
            _check("ViewAgreement", "holds", **_REFORM),
            _check("Agreement", "holds", **_CRASH),
            _check("UniformIntegrity", "holds", **_CRASH),
            *_larger("ViewAgreement", "Agreement", "Validity"),
            *(_over_views((), property, "holds") for property in _KEPT),
            _over_views((), "HeardInTheNextView", "holds", 6),
            _over_views((), "ViewAgreement", "violated", 4, goes_on=True),
            _over_views((), "PrefixOrder", "violated", 6, goes_on=True),
            _over_views((), "Agreement", "violated", 5, hasty=True),
            _over_views((), "DiscardedWasPassedUp", "violated", 7, any_order=True),
            _over_views((), "GapsAreFilled", "violated", 8, any_order=True),
            *(
                _over_views(("await_new_view",), property, "holds", any_order=True)
                for property in (*_KEPT, "ViewPrefix")
            ),
            _over_views((), "Validity", "violated", 2),
            _over_views(("identify_requests", "repeat_request"), "Validity", "holds"),
            _over_views(("identify_requests", "repeat_request"), "PrefixOrder", "holds"),
        ),
        repairs=("flush",),
    ),
    Claim(
        "TOT-18",
        _source(
            "Future Improvements",
            "does not know if there is a suffix of messages that needs to be retransmitted",
        ),
        "A lost suffix is never asked for.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "The last broadcast, once lost to a member, stays lost: no later message shows the gap.",
        (
            _literal("Agreement", "violated", 3, **_PAIR),
            _check("Agreement", "violated", "recover_suffix", length=3, **_PAIR),
            _check("Agreement", "holds", **_PAIR),
            _check("UniformAgreement", "holds", **_STABLE, patient=True),
        ),
        repairs=("recover_suffix",),
    ),
    Claim(
        "TOT-19",
        _source(
            "Future Improvements",
            "If the sequencer handled retransmission (perhaps using positive acknowledgements) or each "
            "server knew the sequence id of the last broadcast message, then the retransmission thread could "
            "actively request a lost suffix of messages.",
        ),
        "Each of the two remedies recovers a lost suffix.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Both, each alone.",
        (
            _check("Agreement", "holds", **_PAIR, suffix="announced"),
            _check("Agreement", "holds", **_PAIR, suffix="acknowledged"),
            _deep(_check("ViewAgreement", "holds", **_CRASH, suffix="acknowledged")),
        ),
    ),
    Claim(
        "TOT-20",
        _source(
            "Appendix",
            "A cumulative acknowledgement of all messages in the current view up to the specified sequence "
            "id (inclusive)",
        ),
        "The sequencer can answer every resend request.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "If it keeps every message until the view changes, or until all members have acknowledged it. The "
        "text says neither: it does not say that messages are kept, nor who sends TOTAL_CUM_SEQ_ACK, nor "
        "what it frees. With less, a gap may stay for the rest of the view.",
        (
            _literal("GapsAreFilled", "holds", **_STABLE),
            _literal("GapsAreFilled", "holds", **_PAIR, keeping="until acknowledged"),
            _literal("GapsAreFilled", "violated", 4, **{**_PAIR, "messages": 3}, keeping="the last"),
            _deep(_check("ViewAgreement", "holds", **_CRASH, keeping="until acknowledged")),
            _deep(_check("UniformIntegrity", "holds", **_CRASH, keeping="until acknowledged")),
        ),
    ),
    Claim(
        "TOT-21",
        _source(
            "Future Improvements",
            "If two groups merge, the result should be similar to a new view being installed.",
        ),
        "A merge that is not handled leaves two sequencers.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "Each side goes on with the first of its own list. Both assign the same ids, and members pass up "
        "different messages under one id.",
        (
            _check("OneSequencer", "violated", "handle_merge", length=0, **_SURE, lists="one side"),
            _check("UniqueIds", "violated", "handle_merge", length=2, **_SURE, lists="one side"),
            _check("UniformPrefixOrder", "violated", "handle_merge", length=2, **_SURE, lists="one side"),
            _check("UniformPrefixOrder", "holds", **_SURE, lists="one side", patient=True),
        ),
        repairs=("handle_merge",),
    ),
    Claim(
        "TOT-22",
        _source(
            "Members",
            "If a member wishes to broadcast a message, it sends it only the sequencer instead of the entire "
            "group.",
        ),
        "A broadcast costs one unicast to the sequencer and one broadcast of the sequencer; no unicast when "
        "the sender is the sequencer.",
        Standing.IMPLIED,
        Kind.BOUND,
        "holds",
        "Counted on a loss-free run of the literal text.",
        (
            Measurement(
                "messages a broadcast",
                "one request for each message of another member, one broadcast for each message",
                "holds",
            ),
        ),
    ),
    Claim(
        "TOT-23",
        _source("View Changes", "whenever there is a view change, the new sequencer broadcasts a"),
        "A member that joins learns the first id too, although the sequencer stays the same.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "If 'the new sequencer' is the sequencer of the new view, as the appendix has it. If only a "
        "sequencer that was none before sends it, nobody tells the new member what to expect; nor, as "
        "repaired, the others.",
        (
            _check("ViewAgreement", "holds", **_JOIN),
            _check("ViewPrefix", "holds", **_JOIN),
            _check("Validity", "holds", **_JOIN),
            _check("ViewAgreement", "violated", length=5, **_JOIN, announcing="who was none before"),
        ),
    ),
)
