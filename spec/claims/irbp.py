"""Claims of the report on iRBP with regular views: figure 32 over the normal phase of figure 25.

`_CRASHED`: one of three processes fails. `_MISLED`: nobody fails, and one process is suspected wrongly.
`_PAIR`: one of two processes is suspected wrongly, and a process may wait before it delivers; in the other
bounds it delivers at once (`urgent`). `_ANY_ORDER` has neither `urgent` nor `delivering`; `_TWO_DELIVERING`
delivers at once, which leaves out nothing, and makes messages stable at any time. A crash is suspected at
once by all (`detected_at_once`): a process that acts on a suspicion late is as one that suspects late.
Message k comes from process k (`assigned`). Checks of three processes with a false suspicion, with two
messages and with two view changes are deep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

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
from antiphon.spec.protocols.irbp.properties import IrbpChecked, IrbpLive, IrbpMembers

Constants = Mapping[str, int | bool | str]

_CRASHED: Constants = {
    "processes": 3, "messages": 1, "highest": 5, "views": 2, "crashes": 1, "false_suspicions": 0,
    "detected_at_once": True, "assigned": True, "urgent": True,
}  # fmt: skip
_MISLED: Constants = {**_CRASHED, "crashes": 0, "false_suspicions": 1}
_PAIR: Constants = {**_MISLED, "processes": 2, "highest": 4, "urgent": False}
_TWO: Constants = {**_CRASHED, "messages": 2, "highest": 7}
_TWO_MISLED: Constants = {**_MISLED, "messages": 2, "highest": 6}
_BOTH: Constants = {**_CRASHED, "false_suspicions": 1}
_BOTH_AGAIN: Constants = {**_BOTH, "messages": 2, "views": 3}
_STUCK: Constants = {**_BOTH, "views": 3, "highest": 2}
_FORGIVEN: Constants = {**_BOTH, "views": 3, "forgiving": True}
_TWO_FORGIVEN: Constants = {**_FORGIVEN, "messages": 2, "highest": 7}
_LEAVING: Constants = {**_CRASHED, "crashes": 0, "views": 3, "leaves": 1, "joiners": 0}
_JOINING: Constants = {**_LEAVING, "joiners": 1}
_TWO_LEAVING: Constants = {**_LEAVING, "messages": 2}
_TWO_JOINING: Constants = {**_JOINING, "messages": 2}
_UNWATCHED: Constants = {**_LEAVING, "leaves": 0, "crashes": 1, "unwatched": True}
_THREE_VIEWS: Constants = {**_MISLED, "views": 3}
_FREE: Constants = {**_BOTH, "highest": 4, "assigned": False, "urgent": False}
_FOUR: Constants = {**_BOTH, "processes": 4, "highest": 5}
_FOUR_FORGIVEN: Constants = {**_FORGIVEN, "processes": 4}
_ANY_ORDER: Constants = {**_CRASHED, "assigned": False, "urgent": False}
_TWO_DELIVERING: Constants = {**_CRASHED, "messages": 2, "urgent": False, "delivering": True}

OF_ONE_MESSAGE = (
    "UniformIntegrity", "ViewSynchrony", "SameViewDelivery", "SendingViewDelivery", "FreshNumber",
    "OldBuffersEmpty",
)  # fmt: skip
"""Properties that one message and one fault could break. An order is not among them, since it needs two
messages, and neither is agreement on lists, which only a wrong suspicion could break.
"""

OF_ONE_CRASH = tuple(name for name in OF_ONE_MESSAGE if name != "SameViewDelivery")
"""Properties that one failure could break if all suspect it at once: then no process goes on in an old
view, and `SameViewDelivery` cannot be broken.
"""

ORDER = ("UniformTotalOrder", "UniformPrefixOrder")
SAFETY = (*ORDER, *OF_ONE_MESSAGE, "ViewAgreement", "MajorityInList")
LIVENESS = (
    "Validity", "UniformAgreement", "Agreement", "VscValidity", "VscTermination", "TimeBoundedBuffering",
)  # fmt: skip
VIEWS = (
    "UniformIntegrity", "ViewAgreement", "ViewSynchrony", "SameViewDelivery",
    "SendingViewDelivery", "FreshNumber", "OldBuffersEmpty",
)  # fmt: skip
FAIR = ("own_messages_arrive", "what_one_delivers_all_deliver", "view_changes_end")
_DEEP = (
    _MISLED, _TWO, _TWO_MISLED, _BOTH_AGAIN, _STUCK, _FORGIVEN, _TWO_FORGIVEN, _FREE, _FOUR, _FOUR_FORGIVEN,
    _ANY_ORDER, _TWO_DELIVERING,
)  # fmt: skip


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    of: Constants = _CRASHED,
    length: int | None = None,
    **variants: bool,
) -> Check:
    return Check(
        IrbpChecked,
        property,
        outcome,
        "all",
        without,
        {**of, **variants},
        length,
        deep=of in _DEEP or bool(variants) or of["views"] == 3,
        long_for_z3=True,
    )


def _literal(property: str, outcome: RecordedOutcome, length: int | None = None) -> Check:
    deep = length is None or length > 12 or property in LIVENESS
    return Check(IrbpChecked, property, outcome, (), (), _CRASHED, length, deep, long_for_z3=True)


def _members(property: str, outcome: RecordedOutcome, *, of: Constants, length: int | None = None) -> Check:
    """Return a check of a property of iRBP where processes join and leave."""
    return Check(IrbpMembers, property, outcome, "all", (), of, length, deep=True, long_for_z3=True)


def _live(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants, length: int | None = None
) -> Check:
    """Return a check of a liveness property on fair runs, with all repairs but those in `without`, and a
    detector of class eventually S.
    """
    return Check(IrbpLive, property, outcome, "all", without, of, length, deep=True, long_for_z3=True)


def _deep(check: Check) -> Check:
    """Return the check marked as deep: it takes long."""
    return replace(check, deep=True)


def _step(quotation: str, step: str) -> Source:
    return Source(Document.RBP, "4.4.2", quotation, figure="32", lines=step)


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


IRBP: tuple[Claim, ...] = (
    Claim(
        "IRB-01",
        _text(
            "4.4.1",
            "they will send the same view change message (as they belong to the same view), and thus, they "
            "will take part on the same agreement",
        ),
        "However many detect a failure, there is one agreement for each view.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "A view has one list for all who install it: each process goes through the steps once for a view, "
        "and a decision stands.",
        (
            _check("ViewAgreement", "holds", of=_MISLED),
            _check("ViewAgreement", "holds", of=_BOTH_AGAIN),
        ),
        by_construction="consensus is a service: the decision of a view is one variable, written once",
    ),
    Claim(
        "IRB-02",
        _text(
            "4.4.2",
            "it is forced to commit suicide, solving the time–bounded buffering problem and ensuring the "
            "VSC properties",
        ),
        "Figure 32 ensures View Synchrony, Same View Delivery and Sending View Delivery.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Step 6 makes messages stable and step 7 installs the list; delivery is task 2 of figure 25, which "
        "nothing puts between them. One process delivers before it installs the list, another one after it. "
        "The other repairs are asked for by IRB-03 to IRB-11 and IRB-28.",
        (
            _check("SendingViewDelivery", "violated", "deliver_first", of=_PAIR, length=11),
            _check("SameViewDelivery", "violated", "deliver_first", of=_PAIR, length=13),
            _check("ViewSynchrony", "violated", "deliver_first", of=_PAIR, length=13),
            _literal("SendingViewDelivery", "violated", 14),
            _literal("SameViewDelivery", "violated", 16),
            _literal("ViewSynchrony", "violated", 14),
            _check("SendingViewDelivery", "holds", of=_PAIR),
            _check("SameViewDelivery", "holds", of=_PAIR),
            _check("ViewSynchrony", "holds", of=_PAIR),
        ),
        defect="text",
        repairs=("deliver_first",),
    ),
    Claim(
        "IRB-03",
        _step("stableQ ← Msg, seqQ ← {}", "6"),
        "What was stable before the view change is delivered.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "The arrow assigns. A message that all have made stable is in no seqQ and hence not in Msg; whoever "
        "has not delivered it yet loses it, and what has a higher number is never delivered either. The "
        "other way round, what was delivered already and is still in the seqQ of another process comes "
        "back, and stays in stableQ for ever.",
        (
            _check("ViewSynchrony", "violated", "keep_stable", of=_PAIR, length=21),
            _check("OldBuffersEmpty", "violated", "keep_stable", of=_PAIR, length=17),
            _check("ViewSynchrony", "holds", of=_PAIR),
            _check("OldBuffersEmpty", "holds", of=_PAIR),
        ),
        defect="text",
        repairs=("keep_stable",),
    ),
    Claim(
        "IRB-04",
        _text(
            "4.4.1",
            "As this “uniform” knowledge can be considered as message stability, these messages are ready "
            "to be delivered.",
        ),
        "After step 6 every process can deliver what is in Msg.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "seqQ holds pairs of an identifier and a number (figure 25, line 26); the messages stand in recvQ, "
        "which nobody sends. A process that knows nothing but the number of a message has it in stableQ "
        "without its body; those that have the body deliver it before they install the list, and ask for "
        "nothing.",
        (
            _check("Agreement", "violated", "send_bodies", length=11),
            _check("ViewSynchrony", "violated", "send_bodies", length=14),
            _literal("Agreement", "violated", 14),
            _check("Agreement", "holds"),
            _check("ViewSynchrony", "holds"),
        ),
        defect="text",
        repairs=("send_bodies",),
    ),
    Claim(
        "IRB-05",
        _step("Msgs_k is the union of the seqQ sets received", "3"),
        "Everything in Msg can be delivered.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "A sequencer numbers its own message and fails; its ACK arrives somewhere, the message nowhere. The "
        "number is in Msg, nobody has what it stands for, and all that is numbered behind it waits for "
        "ever. Nobody can have delivered it: what is stable all have. So Msg may end before it.",
        (
            _check("OldBuffersEmpty", "violated", "cut_holes", length=12),
            _check("TimeBoundedBuffering", "violated", "cut_holes", of=_TWO, length=5),
            _check("Validity", "violated", "cut_holes", of=_TWO, length=5),
            _check("OldBuffersEmpty", "holds"),
            _check("TimeBoundedBuffering", "holds", of=_TWO),
            _check("Validity", "holds", of=_TWO),
        ),
        defect="text",
        repairs=("cut_holes",),
    ),
    Claim(
        "IRB-06",
        _text(
            "4.4.1",
            "As all processes share the same sequenced queue, any process can be the new sequencer",
        ),
        "Whoever becomes the sequencer gives numbers that nobody has used.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "The next number is ts + 1 (figure 25, lines 54 and 61), and no step changes ts. The first of the "
        "list may never have heard of the highest number of Msg, and gives it again; the others, who have "
        "delivered it, take no notice, and the token has stopped.",
        (
            _check("FreshNumber", "violated", "continue_numbers", of=_PAIR, length=11),
            _literal("FreshNumber", "violated", 12),
            _check("Validity", "violated", "continue_numbers", of=_TWO, length=12),
            _check("FreshNumber", "holds", of=_PAIR),
            _check("Validity", "holds", of=_TWO),
        ),
        defect="text",
        repairs=("continue_numbers",),
    ),
    Claim(
        "IRB-07",
        _step("send seqQ_k to all", "1-7"),
        "What happens in the normal phase between a process's report and its new list does no harm.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "Nothing stops the tasks of figure 25. What is numbered, learned or broadcast after the reports is "
        "in no report: some deliver it in the old view and others never, and step 6 takes the number away "
        "from who has it.",
        (
            _check("OldBuffersEmpty", "violated", "block", length=11),
            _deep(_check("ViewSynchrony", "violated", "block", length=22)),
            _deep(_check("Validity", "violated", "block", length=5)),
            _deep(_check("Agreement", "violated", "block", length=19)),
            _check("OldBuffersEmpty", "holds"),
            _check("ViewSynchrony", "holds"),
            _check("Validity", "holds"),
            _check("Agreement", "holds"),
        ),
        defect="text",
        repairs=("block",),
    ),
    Claim(
        "IRB-08",
        _text("6", "we could provide all properties that characterize today a group membership service"),
        "Figure 32 with its repairs gives uniform total order and view-synchronous communication.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "With all repairs every property of safety holds, whoever fails or is suspected, and with one "
        "fault, be it a failure or a false suspicion, all that was promised comes about. With both faults, "
        "and a false suspicion that ends with the next list, so that the views suffice, Agreement holds "
        "too; not all else does (IRB-29).",
        (
            *(_check(property, "holds") for property in (*OF_ONE_CRASH, *LIVENESS)),
            *(
                _check(property, "holds", of=_MISLED)
                for property in (*OF_ONE_MESSAGE, "ViewAgreement", *LIVENESS)
            ),
            *(_check(property, "holds", of=_TWO) for property in (*ORDER, *OF_ONE_MESSAGE, *LIVENESS)),
            _check("UniformTotalOrder", "violated", of=_TWO, length=15, out_of_order=True),
            *(_check(property, "holds", of=_TWO_MISLED) for property in (*ORDER, *OF_ONE_MESSAGE)),
            *(_check(property, "holds", of=_BOTH_AGAIN) for property in SAFETY),
            *(_check(property, "holds", of=_ANY_ORDER) for property in (*OF_ONE_CRASH, *LIVENESS)),
            *(_check(property, "holds", of=_TWO_DELIVERING) for property in (*ORDER, *OF_ONE_CRASH)),
            *(
                _check(property, "holds", of=of)
                for of in (_FREE, _FOUR)
                for property in (*OF_ONE_MESSAGE, "ViewAgreement", "MajorityInList")
            ),
            *(_check("Agreement", "holds", of=of) for of in (_TWO_FORGIVEN, _FOUR_FORGIVEN)),
            *(_live(property, "holds", of=of) for of in (_TWO, _MISLED) for property in FAIR),
        ),
    ),
    Claim(
        "IRB-09",
        _step("TL_k is the new token list with all processes that sent their seqQ", "2-3"),
        "The new token list has a majority of the old one.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "Consensus needs a majority of TL_i, and its decision may be the list of one: of a process that "
        "suspects all others. No order is lost by that, where holes are cut; those that live and are left "
        "out must kill themselves, and the messages that only they had are gone with them.",
        (
            _check("MajorityInList", "violated", "await_majority", of=_PAIR, length=9),
            _check("MajorityInList", "violated", "await_majority", of=_BOTH_AGAIN, length=10),
            _check("MajorityInList", "holds", of=_PAIR),
            _check("MajorityInList", "holds", of=_BOTH_AGAIN),
        ),
        defect="text",
        repairs=("await_majority",),
    ),
    Claim(
        "IRB-10",
        _text("4.4.2", "solving the time–bounded buffering problem"),
        "Since the excluded kill themselves, every message leaves every buffer in the end.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "A number without a message stays in stableQ for ever (IRB-05), and so does the message that is "
        "numbered behind it. With one message only its identifier would stay, which is no message. With "
        "the repairs it is true, and suicide is what it rests on: where the excluded live on, they are owed "
        "messages that nobody can give them.",
        (
            _check("TimeBoundedBuffering", "violated", "cut_holes", of=_TWO, length=5),
            _check("TimeBoundedBuffering", "holds", "cut_holes"),
            _check("TimeBoundedBuffering", "holds", of=_TWO),
            _check("TimeBoundedBuffering", "holds", of=_MISLED),
            _check("ExcludedLives", "holds", of=_MISLED, length=10),
            _check("Agreement", "holds", of=_MISLED),
            _check("Agreement", "violated", of=_MISLED, length=19, lives_on=True),
            _check("VscTermination", "violated", of=_MISLED, length=9, lives_on=True),
        ),
        defect="text",
        repairs=("cut_holes",),
    ),
    Claim(
        "IRB-11",
        _step("stableQ ← Msg, seqQ ← {}", "6"),
        "No message of the old view is delivered in the new one.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "recvQ is not mentioned. A message that waits there for a number gets one in the new list, and is "
        "delivered in another view than it was sent in; and a message that was in Msg is still in recvQ and "
        "no more in seqQ, so that line 59 of figure 25 takes it for one without a number: it is delivered "
        "twice.",
        (
            _literal("UniformIntegrity", "violated", 18),
            _check("SendingViewDelivery", "violated", "forget_received", of=_PAIR, length=17),
            _check("UniformIntegrity", "violated", "forget_received", of=_PAIR, length=20),
            _check("SendingViewDelivery", "holds", of=_PAIR),
            _check("UniformIntegrity", "holds", of=_PAIR),
        ),
        defect="text",
        repairs=("forget_received",),
    ),
    Claim(
        "IRB-21",
        _text(
            "4.4.5",
            "when a member joins or leaves the group, no permutation on the i-view can reflect these changes",
        ),
        "Members join and leave by regular view changes.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "How, the report does not say. Here who leaves reports and is not on the list that is proposed, "
        "who joins is put on it, and begins where the others begin the list. Order and view synchrony hold "
        "for all, and each change ends. What was delivered before is not delivered to who joins: Agreement "
        "is true of the members of the view in which a message was sent.",
        (
            _members("Joined", "holds", of=_JOINING, length=17),
            *(_members(property, "holds", of=_JOINING) for property in (*VIEWS, "VscTermination")),
            _members("UniformTotalOrder", "holds", of=_TWO_JOINING),
            _members("Agreement", "violated", of=_JOINING, length=7),
            _members("Agreement", "holds", of=_LEAVING),
        ),
    ),
    Claim(
        "IRB-22",
        _text(
            "4.4.5",
            "Otherwise, a new view will be generated only when this process is suspected by a conservative "
            "failure detector",
        ),
        "Who leaves before it kills itself is replaced by the next view at once, without a suspicion.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "With leave the others go on, and all that was promised comes about, though nobody is suspected. Who "
        "stops without it, and is suspected by nobody, stops the token for ever.",
        (
            replace(_members("LeftByItself", "holds", of=_LEAVING, length=11), deep=False),
            *(_members(property, "holds", of=_LEAVING) for property in (*VIEWS, *LIVENESS)),
            _members("UniformTotalOrder", "holds", of=_TWO_LEAVING),
            _members("VscTermination", "violated", of=_UNWATCHED, length=2),
            _members("Validity", "violated", of=_UNWATCHED, length=2),
        ),
    ),
    Claim(
        "IRB-25",
        _text(
            "5.1",
            "we were forced to use also TCP because these layers were designed for reliable communication",
        ),
        "The token passes over unreliable channels, the view change over reliable ones.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "What the normal phase sends may never arrive; what is sent in steps 1 to 5 arrives in the end, and "
        "must: with one report lost, of a process that nobody suspects, the others wait for it for ever.",
        (
            _deep(_check("VscTermination", "violated", length=5, unreliable=True)),
            _check("VscTermination", "holds"),
            _check("Validity", "holds"),
        ),
    ),
    Claim(
        "IRB-26",
        _text("5.2.2", "we were obligated to violate the encapsulation of the membership layer"),
        "Total order hands suspicions to membership, and shares its queues with it.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "Steps 1 to 6 of figure 32 read seqQ and write seqQ and stableQ, which figure 25 owns. The repairs "
        "make it more: recvQ is read (send_bodies) and written (forget_received), lastdelivered is read "
        "(keep_stable), ts is written (continue_numbers), and the normal phase has to stop (block). No run "
        "decides a sentence about modules, so the accesses of the text are counted; that each of them is "
        "needed, the checks of IRB-03, 04, 06, 07 and 11 show, which break without it.",
        (
            Measurement(
                "shared queues", "step 1 reads a queue of figure 25, step 6 writes two", "holds", of_text=True
            ),
        ),
    ),
    Claim(
        "IRB-27",
        _text("5", "a better separation between Total Order protocol and membership control"),
        "Total order and membership are separate.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "Section 5.2.2 takes it back (IRB-26). What is separate is the agreement on list and messages; what "
        "is done with them is done to the variables of total order, of which no queue is left alone once the "
        "steps are repaired. As in IRB-26 the accesses of the text are counted.",
        (
            Measurement(
                "queues left alone",
                "no step of figure 32 touches a queue of figure 25",
                "violated",
                of_text=True,
            ),
        ),
        defect="design",
    ),
    Claim(
        "IRB-28",
        _text(
            "4.3.2",
            "If a correct process executes VSCast(m), then it eventually VS-Delivers m (in view v or in a "
            "subsequent view)",
        ),
        "A message of a correct process that has no number yet survives the view change.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "It is in no seqQ. As printed it waits in recvQ, and is delivered in a later view, which the "
        "sentence allows. That breaks Sending View Delivery (IRB-11). The repair of IRB-11 empties recvQ, "
        "and would lose the message: so the repair has a second half, which numbers behind the rest what "
        "was reported without a number.",
        (
            _check("VscValidity", "holds", "forget_received", "order_received"),
            _check("Validity", "holds", "forget_received", "order_received"),
            _check("VscValidity", "violated", "order_received", length=4),
            _check("Validity", "violated", "order_received", length=4),
            _check("VscValidity", "holds"),
            _check("Validity", "holds"),
        ),
        repairs=("order_received",),
    ),
    Claim(
        "IRB-29",
        _text("4.3.4", "incorrect suspicions must be avoided as much as possible"),
        "A wrong suspicion counts as a failure: of three processes one of each ends all view changes.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "Consensus needs a majority of the list that is up, and nothing in figure 32 keeps the list from "
        "losing it. The list that is decided has those that reported. One of them may fail after its report, "
        "while a "
        "living one is suspected and left out, and kills itself: the new list has two members, one of which "
        "has failed, and no majority is left for another agreement. A false suspicion counts as a failure: "
        "together they must be fewer than half. What the one that failed has delivered in the new list, the "
        "one that is left may never deliver, so that agreement is not uniform; of those that do not fail it "
        "holds, as safety does (IRB-08). No repair of figure 32 helps.",
        (
            _check("VscTermination", "violated", of=_STUCK, length=12),
            _check("Validity", "violated", of=_STUCK, length=12),
            _check("UniformAgreement", "violated", of=_FORGIVEN, length=20),
            _check("VscTermination", "holds"),
            _check("VscTermination", "holds", of=_MISLED),
        ),
    ),
    Claim(
        "IRB-34",
        Source(
            Document.RBP,
            "4.4.2",
            "Upon R–Deliver (reformation, i) by p_k for the first time",
            figure="32",
            lines="1",
        ),
        "A call and a report that come before their list is installed must be kept until it is.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "A process that is fast installs TL_{i+1}, suspects somebody, calls the next view change and sends "
        "its report, each once, while others are still at steps 2 to 7 of the change before. Figure 25 "
        "drops what belongs to another list (lines 19 and 27), and figure 32 is silent. Where a call is "
        "dropped its receiver never reports; where a report is dropped its receiver waits for it: nobody "
        "crashes, and the view change does not end. What one process delivered on the decision the other "
        "never gets.",
        (
            _check("ViewChangesEnd", "violated", of={**_THREE_VIEWS, "early": "dropped"}, length=12),
            _check("Agreement", "violated", of={**_THREE_VIEWS, "early": "dropped"}, length=26),
            _check("ViewChangesEnd", "holds", of=_THREE_VIEWS),
            _check("Agreement", "holds", of=_THREE_VIEWS),
        ),
    ),
)
