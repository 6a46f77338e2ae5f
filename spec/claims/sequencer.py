"""Claims of the design of SEQUENCER, and the verdicts of the machines."""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import (
    Check,
    Claim,
    Document,
    Kind,
    Measurement,
    Proof,
    RecordedOutcome,
    Source,
    Standing,
)
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.sequencer.induction import SequencerProof
from antiphon.spec.protocols.sequencer.over_flush import SequencerOverFlush
from antiphon.spec.protocols.sequencer.over_views import SequencerOverViewsChecked
from antiphon.spec.protocols.sequencer.properties import (
    SequencerChecked,
    SequencerCopyChecked,
    SequencerViews,
)

_Constants = Mapping[str, int | bool | str]

_STABLE: _Constants = {"processes": 3, "messages": 2, "crashes": 0, "views": 1}
_UNORDERED: _Constants = {**_STABLE, "unicast": "unordered"}
_CRASH: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "views": 2}
_NAMED: _Constants = {**_CRASH, "messages": 4}
_CRASHES: _Constants = {"processes": 3, "messages": 2, "crashes": 2, "views": 3}
_LAST: _Constants = {"processes": 3, "messages": 1, "crashes": 2, "views": 3}
_HAND_OVER: _Constants = {"processes": 3, "messages": 2, "crashes": 0, "views": 2, "handovers": True}
_STOP: _Constants = {"processes": 3, "messages": 2, "crashes": 0, "stops": 1, "views": 2}
_REFUSED: _Constants = {"processes": 4, "messages": 1, "crashes": 2, "views": 3, "from_left": "refused"}
_JOIN: _Constants = {"processes": 4, "messages": 1, "crashes": 1, "views": 2, "joiners": 1}
_FOUR: _Constants = {"processes": 4, "messages": 2, "crashes": 2, "views": 3}
_THIRD: _Constants = {"processes": 3, "messages": 3, "crashes": 2, "views": 3}
_COPY: _Constants = {"processes": 3, "messages": 1, "losses": 1}

_AXIOMS = ("Process is totally ordered", "first Process is the least")

_FLUSHED = ("flush", "keep_early")


def _literal(
    property: str,
    outcome: RecordedOutcome,
    constants: _Constants,
    length: int | None = None,
    spec: type[Spec] = SequencerChecked,
) -> Check:
    return Check(spec, property, outcome, (), (), constants, length)


def _with(
    repairs: tuple[str, ...],
    property: str,
    outcome: RecordedOutcome,
    constants: _Constants,
    length: int | None = None,
) -> Check:
    return Check(SequencerChecked, property, outcome, repairs, (), constants, length)


def _step(repairs: tuple[str, ...], outcome: RecordedOutcome, length: int | None = None) -> Check:
    """Return the check that every multicast of SEQUENCER is a step of the machine of view synchrony."""
    return Check(SequencerOverFlush, "StepOfTheMachine", outcome, repairs, (), _NAMED, length, deep=True)


def _over_views(property: str, outcome: RecordedOutcome, length: int | None = None, **faults: bool) -> Check:
    """Return a check of SEQUENCER over the machine of view synchrony, with early FORWARDs kept; `faults` are
    planted in the machine.
    """
    constants = {**_NAMED, **faults}
    return Check(SequencerOverViewsChecked, property, outcome, ("keep_early",), (), constants, length)


def _repaired(property: str, constants: _Constants) -> Check:
    return Check(SequencerChecked, property, "holds", "all", (), constants)


def _deep(*properties: str) -> tuple[Check, ...]:
    """Return deep checks of the repaired protocol within larger bounds: four processes, three messages."""
    larger = (_FOUR, _THIRD)
    return tuple(
        Check(SequencerChecked, property, "holds", "all", (), constants, deep=True)
        for constants in larger
        for property in properties
    )


def _proved(property: str) -> Proof:
    """Return the proof of a property of the text as it is printed, in a stable view."""
    return Proof(SequencerProof, property, ("processes", "messages"), _AXIOMS, deep=True)


def _without(repair: str, property: str, constants: _Constants, length: int) -> Check:
    return Check(SequencerChecked, property, "violated", "all", (repair,), constants, length)


def _says(section: str, quotation: str) -> Source:
    return Source(Document.SEQUENCER, section, quotation)


SEQUENCER: tuple[Claim, ...] = (
    Claim(
        "SEQ-01",
        _says(
            "Motivation",
            "we want the coordinator to directly multicast the message on behalf of the member, now we have "
            "1 unicast to the coordinator and 1 multicast",
        ),
        "A message of a member costs one unicast and one multicast.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Counted on loss-free runs of the specifications. The other half of the sentence, that TOTAL makes a "
        "round trip to the coordinator and lets the member multicast, is about another protocol than the one "
        'that "JavaGroups TOTAL" describes: that one, too, sends a message to the sequencer, which '
        "broadcasts it, and costs the same.",
        (
            Measurement(
                "one unicast, one multicast",
                "SEQUENCER and JavaGroups' TOTAL: 1 unicast and 1 multicast a message of a member",
                "holds",
            ),
        ),
    ),
    Claim(
        "SEQ-02",
        _says("Motivation", "since it is only the coordinator who sends multicasts, we have no contention"),
        "Only the coordinator multicasts.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "In a stable view. While a view changes, the old and the new coordinator may both multicast "
        "(SEQ-21). That the coordinator becomes the bottleneck, and that contention is less, are statements "
        "about networks, which no model here measures.",
        (
            _literal("OnlyCoordinatorMulticasts", "holds", _STABLE),
            _proved("OnlyCoordinatorMulticasts"),
            _literal("AllDelivered", "holds", _STABLE, 6),
        ),
    ),
    Claim(
        "SEQ-03",
        _says(
            "Overview",
            "This sequence is delivered in order at all receivers, therefore establishing total ordering.",
        ),
        "In a stable view all deliver the same messages in the coordinator's order.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Whether UNICAST keeps the order or not: order is the multicaster's. (What is delivered at all "
        "depends on it: SEQ-04.) That no two deliver two messages in different orders, and nobody one "
        "message twice, is proved for every number of processes and messages; that all deliver the same is "
        "explored.",
        (
            _literal("UniformTotalOrder", "holds", _STABLE),
            _literal("UniformPrefixOrder", "holds", _STABLE),
            _literal("UniformAgreement", "holds", _STABLE),
            _literal("Validity", "holds", _STABLE),
            _literal("UniformIntegrity", "holds", _STABLE),
            _proved("UniformOrderOfPairs"),
            _proved("UniformIntegrity"),
            _literal("UniformTotalOrder", "holds", _UNORDERED),
            _literal("UniformPrefixOrder", "holds", _UNORDERED),
            _literal("AllDelivered", "holds", _STABLE, 6),
        ),
    ),
    Claim(
        "SEQ-04",
        _says(
            "Overview",
            "there can be cases where a sender P sends message M1 and M2, but M2 is received first by the "
            "coordinator, then M1. In this case, M2 would be *before* M1 in the global sequence established "
            "by the coordinator.",
        ),
        "Where M2 overtakes M1 on the way to the coordinator, both are delivered, M2 first.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "M1 is never delivered. M2 raises the highest seqno of the sender to 2, and Deliver discards "
        "whatever is not above it; the sender takes the broadcast for its acknowledgement all the same. The "
        "Overview and the Design contradict each other, and it is the message that is lost. If "
        "received-table remembers every seqno, it is as the Overview says.",
        (
            _literal("Overtaken", "unknown", _UNORDERED),
            _literal("Validity", "violated", _UNORDERED, 3),
            _with(("remember_each",), "Overtaken", "holds", _UNORDERED, 4),
            _with(("remember_each",), "Validity", "holds", _UNORDERED),
            _with(("remember_each",), "UniformTotalOrder", "holds", _UNORDERED),
            _without("remember_each", "Validity", _UNORDERED, 3),
        ),
        defect="text",
        repairs=("remember_each",),
    ),
    Claim(
        "SEQ-05",
        _says(
            "Comments",
            "SEQUENCER requires NAKACK and UNICAST. The latter is used for retransmission of unicast FORWARD "
            "requests",
        ),
        "Over a UNICAST that keeps the order of sending, M2 never overtakes M1 in a stable view.",
        Standing.QUESTION,
        Kind.COMPOSITION,
        "holds",
        "Then every seqno that is accepted is the next one, and nothing is lost. The document asks UNICAST "
        "for retransmission, not for order.",
        (
            _literal("NextNumber", "holds", _STABLE),
            _literal("Overtaken", "unknown", _STABLE),
            _literal("Validity", "holds", _STABLE),
            _literal("NextNumber", "violated", _UNORDERED, 3),
        ),
    ),
    Claim(
        "SEQ-06",
        _says(
            "Reliability on failover of coordinator",
            "Each message has a unique tag, consisting of the sender's address and a monotonically "
            "increasing sequence number (seqno).",
        ),
        "No two messages have the same tag.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Where nobody comes back under an address that was used before, and views are numbered for that: a "
        "member that starts again counts from 1.",
        (
            _literal("UniqueTags", "holds", _CRASH),
            _literal("UniqueTags", "holds", _HAND_OVER),
            _repaired("UniqueTags", _CRASHES),
            _literal("Resent", "holds", _CRASH, 5),
        ),
    ),
    Claim(
        "SEQ-07",
        _says(
            "Design",
            "Update the received-table with M's seqno with key=S (needs to be 1 higher then prev seqno)",
        ),
        "Whatever seqno is accepted is one higher than the last of that sender.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Three ways to a gap: a FORWARD that came before the view is refused and the next one is not "
        "(SEQ-11); a member misses for ever what the old coordinator still multicast, and then hears the "
        "sender's next message (SEQ-08); an entry is removed and the sender's next message still comes "
        "(SEQ-13).",
        (
            _literal("NextNumber", "violated", _CRASH, 7),
            _with(("flush", "only_members"), "NextNumber", "violated", _CRASH, 8),
            _with(("keep_early", "only_members"), "NextNumber", "violated", _CRASH, 9),
            _with(("flush", "keep_early"), "NextNumber", "violated", _CRASH, 7),
            _with(("flush", "keep_early", "only_members"), "NextNumber", "holds", _CRASH),
            _repaired("NextNumber", _CRASHES),
        ),
        defect="design",
        repairs=("flush", "keep_early", "only_members"),
    ),
    Claim(
        "SEQ-08",
        _says(
            "Reliability on failover of coordinator",
            "The new coord broadcasts 5 and 6, but all members who received 5 and 6 before will simply "
            "discard them. C, who originally sent 5 and 6, will deliver them and remove 5 and 6 from its "
            "forward-table.",
        ),
        "After a failover the survivors have delivered in one order.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "C delivers 5 and 6 after whatever the new coordinator multicast before them; those who had them "
        "from the old coordinator delivered them before. The example is right only while nobody else has "
        "sent anything. It needs what the comment on stop() avoids: a flush, after which all who go on have "
        "received the same broadcasts.",
        (
            _literal("TotalOrder", "violated", _CRASH, 11),
            _literal("PrefixOrder", "violated", _CRASH, 6),
            _without("flush", "TotalOrder", _CRASH, 14),
            _with(("flush",), "TotalOrder", "holds", _CRASH),
            _with(("flush",), "PrefixOrder", "holds", _CRASH),
            _repaired("TotalOrder", _CRASH),
            _repaired("PrefixOrder", _CRASH),
        ),
        defect="design",
        repairs=("flush",),
    ),
    Claim(
        "SEQ-09",
        _says(
            "Reliability on failover of coordinator",
            "When sending messages to a coord, and that coord dies, then we simply resend the unacked "
            "messages to the new coord (on a VIEW_CHANGE).",
        ),
        "What a surviving member has sent reaches all survivors.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        'A message counts as acknowledged when its sender has it back. "Unacked" says nothing of the others: '
        "the old coordinator dies, the sender has its broadcast and has removed it from the forward-table, "
        "another survivor has not, and nobody sends it again.",
        (
            _with(("keep_early",), "SurvivorsHeard", "violated", _CRASH, 6),
            _literal("SurvivorsHeard", "violated", _CRASH, 5),
            _with(("flush",), "SurvivorsHeard", "violated", _CRASH, 5),
            _with(_FLUSHED, "SurvivorsHeard", "holds", _CRASH),
            _with(_FLUSHED, "SurvivorsHeard", "holds", _CRASHES),
            _literal("ResentOnFailoverOnly", "holds", _CRASH),
        ),
        defect="design",
        repairs=("flush", "keep_early"),
    ),
    Claim(
        "SEQ-10",
        _says("Design", "- Else - Multicast(M, local_addr)"),
        "The coordinator's own messages survive its crash and its stop as far as those of others do.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "They are in no forward-table. One survivor may have such a message and another never gets it, which "
        "a flush repairs. A coordinator that stops, though its forward-table is empty, takes with it what "
        "nobody else has received: it must remember its own messages too, and wait until all have them.",
        (
            _literal("Agreement", "violated", _CRASH, 5),
            _with(("flush",), "Agreement", "holds", _CRASH),
            _with(("flush", "wait_before_stop"), "NothingLostAtStop", "violated", _STOP, 3),
            _without("remember_own", "NothingLostAtStop", _STOP, 3),
            _repaired("NothingLostAtStop", _STOP),
        ),
        defect="design",
        repairs=("flush", "remember_own", "wait_before_stop", "wait_for_all"),
    ),
    Claim(
        "SEQ-11",
        _says("Design", "If header is FORWARD: - If not coord: error and return"),
        "What is sent again on a view change reaches the new coordinator.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "Members install a view one after the other. A FORWARD that comes to the new coordinator before its "
        "own view change is an error, and UNICAST has done its duty: nobody sends it again before the next "
        "failover. Kept until the view comes, it is not lost.",
        (
            _literal("Validity", "violated", _CRASH, 5),
            _literal("Acknowledged", "violated", _CRASH, 5),
            _without("keep_early", "Validity", _CRASH, 5),
            _with(("keep_early",), "Validity", "holds", _CRASH),
            _with(("keep_early",), "Acknowledged", "holds", _CRASH),
            _with(("keep_early",), "Resent", "holds", _CRASH, 5),
        ),
        defect="design",
        repairs=("keep_early",),
    ),
    Claim(
        "SEQ-12",
        _says(
            "Comments",
            "NAKACK is used to deliver all messages from the coordinator in order and without gaps",
        ),
        "Broadcasts of the old coordinator that arrive after the view change do no harm.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "In the reading that takes them, order fails two steps sooner than without them, and agreement too: "
        "a late broadcast whose seqno is below one that the new coordinator has multicast since is discarded "
        "as a duplicate. With a flush there are none.",
        (
            _literal("TotalOrder", "violated", {**_CRASH, "synchrony": "none"}, 9),
            _with(("keep_early",), "SurvivorsHeard", "violated", {**_CRASH, "synchrony": "none"}, 9),
            _with(_FLUSHED, "TotalOrder", "holds", {**_CRASH, "synchrony": "none"}),
            _with(_FLUSHED, "SurvivorsHeard", "holds", {**_CRASH, "synchrony": "none"}),
        ),
        defect="design",
        repairs=("flush", "keep_early"),
    ),
    Claim(
        "SEQ-13",
        _says("Design", "Remove entries for left members in received-table"),
        "The entry of a member that left is needed no more.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "What it sent may still come: by UNICAST to the coordinator, or, where that is refused, as the "
        "second broadcast of a message that it sent again after a failover. Without the entry it is "
        "delivered a second time. Whoever removes the entry must refuse the sender. Over a flush nothing of "
        "it comes.",
        (
            _literal("UniformIntegrity", "violated", _LAST, 11),
            _literal("UniformIntegrity", "violated", _REFUSED, 13),
            _with(("only_members",), "UniformIntegrity", "holds", _REFUSED),
            _with(("only_members",), "UniformIntegrity", "holds", _LAST),
            _with(_FLUSHED, "UniformIntegrity", "holds", _LAST),
            _with(_FLUSHED, "UniformIntegrity", "holds", _REFUSED),
            _repaired("UniformIntegrity", _CRASHES),
            _without("only_members", "EntriesOfMembers", _CRASHES, 7),
            _without("only_members", "NextNumber", _CRASHES, 10),
        ),
        defect="design",
        repairs=("only_members",),
    ),
    Claim(
        "SEQ-14",
        _says("Reliability on failover of coordinator", "The new coord broadcasts 5 and 6"),
        "Who joins with the view of a failover delivers nothing that the others delivered before.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "The joiner has no entry for the sender, so it delivers what all but the sender have delivered in "
        "the old view; if it got the state of one of them, the message counts twice. Views and deliveries "
        "are not related at all: without any crash, members deliver one message in two views.",
        (
            _literal("NothingBeforeJoining", "violated", _JOIN, 8, spec=SequencerViews),
            _literal("SameViewDelivery", "violated", _JOIN, 4, spec=SequencerViews),
            Check(SequencerViews, "NothingBeforeJoining", "holds", ("flush",), (), _JOIN),
            Check(SequencerViews, "SameViewDelivery", "holds", ("flush",), (), _JOIN),
            Check(SequencerViews, "SameViewDelivery", "holds", "all", (), {**_JOIN, "views": 3}),
        ),
        defect="design",
        repairs=("flush",),
    ),
    Claim(
        "SEQ-15",
        _says("Design", "For each message M in forward-table (*in increasing order of seqnos* !)"),
        "Sending again in increasing order of seqnos keeps the sender's order.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Order is kept in any case, since Deliver discards what comes late; that it is increasing keeps the "
        "messages. Where what a new coordinator sends to itself takes its time, a new message of its own "
        "overtakes them, and they are lost as in SEQ-04.",
        (
            _literal("SenderOrder", "holds", _CRASH),
            _with(_FLUSHED, "SenderOrder", "holds", _CRASHES),
            _with(_FLUSHED, "Validity", "holds", _CRASHES),
            _with(_FLUSHED, "Validity", "violated", {**_CRASH, "self_unicast": "queued"}, 5),
        ),
    ),
    Claim(
        "SEQ-16",
        _says(
            "Comments",
            "When forwarding we don't care about whether the message was forwarded before, e.g. by the "
            "previous coordinator. We simply forward, but discard duplicate messages when receiving the "
            "bcast.",
        ),
        "A message that is forwarded twice is delivered once.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Once, while its sender stays: with one crash nothing is delivered twice. When the sender of the "
        "second copy leaves before it arrives, the table has forgotten it (SEQ-13). Over a flush and a "
        "UNICAST that keeps the order, no message is received twice, and nothing is discarded.",
        (
            _literal("UniformIntegrity", "holds", _CRASH),
            _literal("UniformIntegrity", "violated", _LAST, 11),
            _with(("only_members",), "UniformIntegrity", "holds", _LAST),
            _with(_FLUSHED, "UniformIntegrity", "holds", _LAST),
            _repaired("UniformIntegrity", _CRASHES),
        ),
        defect="design",
        repairs=("only_members",),
    ),
    Claim(
        "SEQ-17",
        _says(
            "Overview",
            "It has to do so on a (shallow) *copy* of M, otherwise we would change the original message and "
            "therefore retransmission requests would go to B, rather than A !",
        ),
        "The sender's address must be set on a copy: else retransmission fails.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "In a model of one message and of what NAKACK keeps. On the message itself, the coordinator's own "
        "delivery relabels what it would send again: a message that is lost once never comes, and it is "
        "asked for from B.",
        (
            _literal("UniformAgreement", "holds", _COPY, spec=SequencerCopyChecked),
            _literal("UniformIntegrity", "holds", _COPY, spec=SequencerCopyChecked),
            _literal("MulticastToAll", "holds", _COPY, spec=SequencerCopyChecked),
            Check(SequencerCopyChecked, "AskedOriginator", "unknown", (), (), _COPY),
            _literal(
                "UniformAgreement",
                "violated",
                {**_COPY, "relabelling": "in place"},
                2,
                spec=SequencerCopyChecked,
            ),
            Check(
                SequencerCopyChecked,
                "AskedOriginator",
                "holds",
                (),
                (),
                {**_COPY, "relabelling": "in place"},
                5,
            ),
        ),
    ),
    Claim(
        "SEQ-18",
        _says("Design", "I decided not to implement this, because this implies flushing"),
        "Over a flush, and with early FORWARDs kept, order, agreement and validity hold.",
        Standing.QUESTION,
        Kind.COMPOSITION,
        "holds",
        "Among the survivors of up to two crashes. What a coordinator that crashed had delivered is another "
        "matter (SEQ-20). With all repairs, four processes, three messages and two crashes everything held "
        "in all 27,743,757 states, explored once and not by these checks. The flush alone mends what is "
        "refuted in SEQ-08, SEQ-12, SEQ-13, SEQ-14 and SEQ-16, and the half of SEQ-10 that is about a crash; "
        "SEQ-09 and SEQ-11 need early FORWARDs kept too, SEQ-07 that what comes of who has left is discarded "
        "as well, SEQ-21 a new reason to resend; SEQ-04, SEQ-20 and SEQ-22 stay refuted. It is no flush of "
        "its own kind: with it, each multicast is sent, received and left behind as the machine of view "
        "synchrony may do it; and over that machine, which may deliver and install whatever keeps each "
        "sender's order, SEQUENCER keeps the same. Horus' MBRSHIP refines the machine with a flush that is "
        "made of messages (HOR-09).",
        (
            _with(_FLUSHED, "TotalOrder", "holds", _CRASHES),
            _with(_FLUSHED, "PrefixOrder", "holds", _CRASHES),
            _with(_FLUSHED, "Agreement", "holds", _CRASHES),
            _with(_FLUSHED, "Validity", "holds", _CRASHES),
            _with(_FLUSHED, "UniformIntegrity", "holds", _CRASHES),
            _with(_FLUSHED, "AllDelivered", "holds", _CRASHES, 6),
            _step(_FLUSHED, "holds"),
            _step(("keep_early",), "violated", 4),
            _over_views("TotalOrder", "holds"),
            _over_views("PrefixOrder", "holds"),
            _over_views("Agreement", "holds"),
            _over_views("Validity", "holds"),
            _over_views("UniformIntegrity", "holds"),
            _over_views("HeardInTheNextView", "holds", 6),
            _over_views("PrefixOrder", "violated", 3, any_order=True),
            _over_views("TotalOrder", "violated", 5, any_order=True),
            _over_views("Agreement", "violated", 3, any_order=True),
            _over_views("Validity", "violated", 7, any_order=True),
            _over_views("TotalOrder", "violated", 11, goes_on=True),
            _over_views("Agreement", "violated", 5, hasty=True),
            *_deep("TotalOrder", "PrefixOrder", "Agreement", "Validity", "UniformIntegrity", "NextNumber"),
        ),
    ),
    Claim(
        "SEQ-19",
        _says(
            "Design",
            "Wait for all replies until forward-table is empty, or a timeout (?) ** Comment: I decided not "
            "to implement this",
        ),
        "What a member has sent may be lost when it stops.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "Waiting alone does not mend it: a coordinator's own messages are not in its forward-table (SEQ-10), "
        "and who has its message back may be the only one who has.",
        (
            _literal("NothingLostAtStop", "violated", _STOP, 5),
            _without("wait_before_stop", "NothingLostAtStop", _STOP, 3),
            _with(("wait_before_stop",), "NothingLostAtStop", "violated", _STOP, 5),
            _repaired("NothingLostAtStop", _STOP),
            _repaired("NothingLostAtStop", {**_STOP, "crashes": 1, "views": 3}),
        ),
        repairs=("wait_before_stop", "remember_own", "flush", "wait_for_all"),
    ),
    Claim(
        "SEQ-20",
        _says(
            "Overview",
            "It is the coordinator who decides on the ordering of messages from different senders.",
        ),
        "What a coordinator that crashed had delivered, the survivors deliver, in its order.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "The document promises nothing of the kind. The coordinator delivers its own copy at once, and may "
        "be the only one that ever has it. If everybody waits until all members have a message, and leaves a "
        "view by a flush, order and agreement are uniform.",
        (
            _with(_FLUSHED, "UniformAgreement", "violated", _CRASH, 3),
            _with(_FLUSHED, "UniformTotalOrder", "violated", _CRASH, 9),
            _without("wait_for_all", "UniformAgreement", _CRASH, 3),
            _with(("flush", "wait_for_all"), "UniformAgreement", "holds", _CRASH),
            _with(("flush", "wait_for_all"), "UniformTotalOrder", "holds", _CRASH),
            _repaired("UniformAgreement", _CRASHES),
            _repaired("UniformTotalOrder", _CRASH),
            _repaired("UniformPrefixOrder", _CRASHES),
            *_deep("UniformAgreement", "UniformTotalOrder", "UniformPrefixOrder"),
        ),
        defect="design",
        repairs=("flush", "wait_for_all"),
    ),
    Claim(
        "SEQ-21",
        _says("Design", "If the coord leaves/crashes: - For each message M in forward-table"),
        "Nothing is lost when the coordinator changes and nobody leaves.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "After a merge or another order of the members the coordinator is another one, and still there: "
        "nothing is sent again. Besides, it goes on multicasting until its own view change, when the new "
        "coordinator multicasts already, and the group has two orders.",
        (
            _literal("Validity", "violated", _HAND_OVER, 3),
            _literal("TotalOrder", "violated", _HAND_OVER, 7),
            _without("resend_on_change", "Validity", _HAND_OVER, 2),
            _with(("resend_on_change", "keep_early"), "Validity", "holds", _HAND_OVER),
            _with(("resend_on_change", "keep_early"), "TotalOrder", "violated", _HAND_OVER, 6),
            _with(("resend_on_change", "keep_early", "flush"), "TotalOrder", "holds", _HAND_OVER),
            _with(("resend_on_change", "keep_early", "flush"), "SurvivorsHeard", "holds", _HAND_OVER),
        ),
        defect="design",
        repairs=("resend_on_change", "keep_early", "flush"),
    ),
    Claim(
        "SEQ-22",
        _says("Design", "This table has N entries, where N is the number of members in the group."),
        "received-table has entries for members only, forward-table only own messages that were not yet "
        "received.",
        Standing.STATED,
        Kind.BOUND,
        "violated",
        "A message of a member that left, received after its entry was removed, makes a new entry, which "
        "nobody removes. forward-table is as it should be.",
        (
            _literal("EntriesOfMembers", "violated", _CRASH, 5),
            _with(("only_members",), "EntriesOfMembers", "holds", _CRASH),
            _repaired("EntriesOfMembers", _CRASHES),
            _literal("OwnUnseen", "holds", _CRASH),
            _repaired("OwnUnseen", _CRASHES),
        ),
        defect="design",
        repairs=("only_members",),
    ),
)
"""The records, in the order of the claims."""
