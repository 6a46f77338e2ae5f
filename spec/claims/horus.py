"""Claims of the Horus paper on the stack TOTAL:MBRSHIP:FRAG:NAK:COM, and the verdicts of the machines.

The sentence that lists the properties of the stack names them by signs that the transcribed copy has lost;
its Tables 3 and 4 are lost too. No claim of this module rests on them.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.horus.fifo_stacks import DestinationSets, FragStack, NakStack, NakStackRepeated
from antiphon.spec.protocols.horus.flushed_stacks import (
    FlushTotal,
    FlushTotalViews,
    FlushViews,
    HorusFlushChecked,
    HorusFlushViews,
)
from antiphon.spec.protocols.horus.ordered_stacks import (
    HorusChecked,
    HorusViews,
    TotalLive,
    TotalStack,
    TotalViews,
)
from antiphon.spec.protocols.horus.refinement import (
    FlushedTotalOrdering,
    FlushedViewSynchrony,
    HorusFlushOverChannels,
)

_Constants = Mapping[str, int | bool | str]

_NAK: _Constants = {"processes": 2, "messages": 2, "casts": 2}
_LAST: _Constants = {"processes": 2, "messages": 1, "casts": 1, "buffer": 1}
_SMALL: _Constants = {**_NAK, "buffer": 1}
_WINDOW: _Constants = {"processes": 2, "messages": 3, "casts": 3, "buffer": 1, "losses": 2}
_SENDERS: _Constants = {"processes": 3, "messages": 2, "casts": 1, "senders": 2, "patient": True}
_ANONYMOUS: _Constants = {**_SENDERS, "source_address": "left out"}
_SETS: _Constants = {"processes": 3, "messages": 1, "casts": 1}
_STRANGER: _Constants = {"processes": 2, "messages": 1, "casts": 1}
_FRAG: _Constants = {"processes": 2, "messages": 2, "casts": 4, "buffer": 2, "patient": True}
_FULL: _Constants = {
    "processes": 2,
    "messages": 2,
    "casts": 4,
    "buffer": 1,
    "crashes": 0,
    "patient": True,
    "oracle": "one that waits",
}
_FULL_ROOM: _Constants = {**_FULL, "buffer": 2}
_FULL_CRASH: _Constants = {
    "processes": 2, "messages": 2, "casts": 5, "buffer": 3, "crashes": 1, "patient": True, "stride": 1,
    "oracle": "one that waits",
}  # fmt: skip
_FULL_THREE: _Constants = {
    "processes": 3, "messages": 2, "casts": 4, "buffer": 4, "crashes": 0, "patient": True, "stride": 1,
    "oracle": "one that waits",
}  # fmt: skip
_FULL_VIEWS: _Constants = {
    "processes": 3,
    "messages": 1,
    "casts": 2,
    "crashes": 1,
    "patient": True,
    "oracle": "one that waits",
}
_FLUSH: _Constants = {"processes": 3, "messages": 1, "crashes": 1, "suspicions": 0, "views": 2}
_FLUSH_EITHER: _Constants = {**_FLUSH, "suspicions": 1, "one_failure": True}
_FLUSH_TWO: _Constants = {**_FLUSH, "messages": 2}
_FLUSH_FOUR: _Constants = {**_FLUSH, "processes": 4}
_FLUSH_AGAIN: _Constants = {**_FLUSH, "crashes": 2, "views": 3}
_FLUSH_TOTAL: _Constants = {**_FLUSH_TWO, "stride": 1, "oracle": "one that waits"}
_FLUSH_ANY: _Constants = {**_FLUSH_TWO, "stride": 1}
_FLUSH_ONE: _Constants = {**_FLUSH_TOTAL, "messages": 1}
_WHOLE: _Constants = {
    "processes": 3, "messages": 1, "losses": 0, "casts": 6, "buffer": 4, "crashes": 1, "views": 2,
    "patient": True, "handled_at_once": True, "stride": 1, "oracle": "one that waits",
}  # fmt: skip
_WHOLE_LOSS: _Constants = {**_WHOLE, "losses": 1}
_WHOLE_TWO: _Constants = {**_WHOLE, "messages": 2, "casts": 8, "buffer": 6}
_VIEWS: _Constants = {"processes": 3, "messages": 1, "crashes": 1}
_CRASH: _Constants = {"processes": 3, "messages": 2, "crashes": 1, "stride": 1}
_CRASHES: _Constants = {"processes": 3, "messages": 2, "crashes": 2, "stride": 1}
_FLUSH_ONLY: _Constants = {**_CRASHES, "ranked": "what the flush sent"}
_APART: _Constants = {"processes": 3, "messages": 3, "crashes": 0, "suspicions": 2, "stride": 2}
_IN_TURN: _Constants = {**_APART, "ranked": "in turn"}
_STAY: _Constants = {
    "processes": 4, "messages": 3, "crashes": 0, "suspicions": 2, "stride": 3, "ranked": "of who stays",
}  # fmt: skip
_ONE: _Constants = {"processes": 2, "messages": 1, "crashes": 1}
_SECTION = "TOTAL:MBRSHIP:FRAG:NAK:COM:ATM"

_STATUS = (
    "Each endpoint will occasionally multicast its protocol status, so buffered messages may be flushed, "
    "and window-based flow control may be "
    "implemented."
)

_ORDER = ("TotalOrder", "PrefixOrder")
"""Order properties, checked where two members that stay up could differ: not with `_FULL_CRASH` (two members,
one may fail), where a difference takes a change of view, and the token passes only to who waits for it.
"""

_UNORDERED = ("Agreement", "Validity", "UniformIntegrity", "OneHolder")
_TOGETHER = ("ViewSynchrony", "ViewAgreement", "SendingViewDelivery", "VscValidity", "VscTermination")


def _literal(
    spec: type[Spec],
    property: str,
    outcome: RecordedOutcome,
    constants: _Constants,
    length: int | None = None,
    *,
    deep: bool = False,
) -> Check:
    return Check(spec, property, outcome, (), (), constants, length, deep)


def _with(
    repairs: tuple[str, ...] | str,
    spec: type[Spec],
    property: str,
    outcome: RecordedOutcome,
    constants: _Constants,
    length: int | None = None,
    *,
    deep: bool = False,
) -> Check:
    return Check(spec, property, outcome, repairs, (), constants, length, deep)


def _says(quotation: str) -> Source:
    return Source(Document.HORUS, _SECTION, quotation)


HORUS: tuple[Claim, ...] = (
    Claim(
        "HOR-01",
        _says(
            "MBRSHIP provides virtually synchronous communication with respect to group membership, and "
            "TOTAL provides totally ordered "
            "communication within group memberships."
        ),
        "The stack over a network that only tries gives totally ordered, virtually synchronous "
        "communication.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "NAK may replace a fragment by LOST_MESSAGE, and no layer above says what it does then: FRAG takes "
        "the fragments that are left for a "
        "message, and a member delivers what nobody broadcast. A FRAG that throws away what a loss has "
        "touched mends that, and then a message is "
        "missing for good. With a window, so that nothing is lost for good, the stack keeps its promises. "
        "There MBRSHIP is abstract. With the flush as messages (HOR-09) the whole stack is one specification "
        "too: with three members, a crash, and a loss or a second message it keeps its promises, if who is "
        "left behind is no destination any more (else the window waits for who is down, and the flush for "
        "the window); and it is, step for step, TOTAL:MBRSHIP over channels that are reliable and in order.",
        (
            _literal(HorusChecked, "Integrity", "violated", _FULL, 6, deep=True),
            Check(HorusChecked, "Agreement", "violated", "all", ("await_room",), _FULL_ROOM, 3, True),
            _with("all", HorusChecked, "Agreement", "holds", _FULL_ROOM, deep=True),
            _with("all", HorusChecked, "Integrity", "holds", _FULL_CRASH, deep=True),
            _with("all", HorusChecked, "Agreement", "holds", _FULL_CRASH, deep=True),
            _with("all", HorusChecked, "Validity", "holds", _FULL_CRASH, deep=True),
            _with("all", HorusChecked, "Continued", "holds", _FULL_CRASH, 5, deep=True),
            *(
                _with("all", FlushTotal, name, "holds", of, deep=of is _FLUSH_ANY)
                for of in (_FLUSH_TOTAL, _FLUSH_ANY)
                for name in (*_ORDER, *_UNORDERED)
            ),
            _with("all", FlushTotal, "Agreement", "violated", {**_FLUSH_TOTAL, "return_nothing": True}, 4),
            _with("all", FlushTotal, "Continued", "holds", _FLUSH_TOTAL, 7),
            _with("all", FlushedTotalOrdering, "Refinement", "holds", _FLUSH_TOTAL),
            *(
                _with("all", HorusFlushChecked, name, "holds", of, deep=True)
                for of, names in ((_WHOLE_LOSS, _UNORDERED), (_WHOLE_TWO, (*_ORDER, *_UNORDERED)))
                for name in names
            ),
            *(
                _with(
                    "all",
                    HorusFlushChecked,
                    "Agreement",
                    "violated",
                    {**_WHOLE, fault: True},
                    length,
                    deep=True,
                )
                for fault, length in (("return_nothing", 6), ("keep_destinations", 7))
            ),
            *(
                _with("all", HorusFlushOverChannels, "Refinement", "holds", of, deep=True)
                for of in (_WHOLE, _WHOLE_LOSS)
            ),
            Check(
                HorusFlushOverChannels,
                "Refinement",
                "violated",
                "all",
                ("await_room",),
                {**_WHOLE_LOSS, "buffer": 1},
                7,
                True,
            ),
            *(
                _with("all", HorusChecked, name, "holds", _FULL_THREE, deep=True)
                for name in (
                    "UniformIntegrity",
                    "UniformTotalOrder",
                    "UniformPrefixOrder",
                    "UniformAgreement",
                    "Validity",
                    "OneHolder",
                )
            ),
            _with("all", HorusViews, "VirtualSynchrony", "holds", _FULL_VIEWS),
            _with("all", HorusViews, "SameView", "holds", _FULL_VIEWS),
            _with("all", HorusViews, "Agreement", "holds", _FULL_VIEWS),
        ),
        defect="text",
        repairs=("await_room",),
    ),
    Claim(
        "HOR-02",
        _says(
            "The COM, NAK, and FRAG layers do not provide consistent views. A view at these layers is "
            "nothing but the set of destination endpoints "
            "for multicast messages."
        ),
        "Below MBRSHIP members need not have the same view.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "One change of a destination set makes two views, and a message that one member delivers is never "
        "sent to another. Over MBRSHIP members "
        "with the same view number have the same view.",
        (
            _literal(DestinationSets, "ConsistentViews", "violated", _SETS, 1),
            _literal(DestinationSets, "UniformAgreement", "violated", _SETS, 2),
            _literal(TotalStack, "ConsistentViews", "holds", _VIEWS),
        ),
    ),
    Claim(
        "HOR-03",
        _says(
            "If necessary, COM keeps track of the source of messages (by pushing the address of the source "
            "endpoint on each outgoing message), and "
            "filters out spurious messages from endpoints not in its view."
        ),
        "What COM passes up was sent by an endpoint of its view.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Where the source address is pushed. Where it is left out, as `If necessary` allows, there is "
        "nothing to filter by. The filter knows "
        "endpoints, not views: what a member sent before a view changed passes after it.",
        (
            _literal(DestinationSets, "FromTheView", "holds", _SETS),
            _literal(
                DestinationSets, "FromTheView", "violated", {**_STRANGER, "source_address": "left out"}, 3
            ),
        ),
    ),
    Claim(
        "HOR-04",
        _says(
            "The NAK layer provides FIFO ordering of messages. For this it pushes a sequence number on each "
            "outgoing message, that the receiver "
            "can check."
        ),
        "The messages of a sender are passed up in the order in which they were cast, each once.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Over a network that loses, reorders and duplicates. It takes the source address: where COM leaves "
        "it out, the numbers of two senders "
        "are taken for one sequence, and a message is delivered to its own sender again.",
        (
            _literal(NakStack, "Fifo", "holds", _NAK),
            _literal(NakStack, "Fifo", "holds", _SENDERS),
            _literal(NakStack, "UniformIntegrity", "holds", _SENDERS),
            _literal(NakStackRepeated, "Fifo", "holds", _NAK),
            _literal(NakStackRepeated, "UniformIntegrity", "holds", _NAK),
            _literal(NakStack, "GapNoticed", "holds", _NAK),
            _literal(NakStack, "CameEarly", "holds", _NAK, 3),
            _literal(NakStack, "UniformIntegrity", "violated", _ANONYMOUS, 8),
        ),
    ),
    Claim(
        "HOR-05",
        _says(
            "The NAK layer buffers some messages for retransmission, and will retransmit if the message is "
            "still buffered. If not, it will send "
            "a place holder that will result in a LOST_MESSAGE event when received."
        ),
        "A message that is lost and not buffered any more is never received; its receivers are told instead.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "So FIFO ordering, not reliable delivery, is what NAK gives: agreement fails, and every cast is "
        "passed up or reported. The text names the "
        "way out itself, as a possibility: a window, so that a member casts only what its buffer has room "
        "for.",
        (
            _literal(NakStack, "UniformAgreement", "violated", _SMALL, 3),
            _literal(NakStack, "Answered", "holds", _SMALL),
            _literal(NakStack, "Replaced", "holds", _SMALL, 5),
            _with(("await_room",), NakStack, "UniformAgreement", "holds", _SMALL),
            _with(("await_room",), NakStack, "UniformAgreement", "holds", _WINDOW),
        ),
        repairs=("await_room",),
    ),
    Claim(
        "HOR-06",
        _says(
            "The FRAG layer depends on FIFO ordering for reassembly. When the last fragment is received, it "
            "delivers the message."
        ),
        "FIFO ordering is enough for reassembly with one boolean on each fragment.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "FIFO ordering as NAK provides it has gaps, each with a LOST_MESSAGE event, and the text has no "
        "word for that event. When the last "
        "fragment of a message is lost, its first ones are put together with the next message. FRAG must "
        "throw away what a loss has touched; "
        "but one boolean does not say whether the lost fragment was a last one, so the next message goes "
        "too, although nothing of it was lost. "
        "A second boolean, for the first fragment, saves it.",
        (
            _literal(FragStack, "UniformIntegrity", "violated", {**_FRAG, "patient": False}, 6),
            _with(("discard_after_loss",), FragStack, "UniformIntegrity", "holds", _FRAG),
            _with(("discard_after_loss",), FragStack, "OnlyHarmedLost", "violated", _FRAG, 3),
            _with(("discard_after_loss", "mark_first"), FragStack, "UniformIntegrity", "holds", _FRAG),
            _with(("discard_after_loss", "mark_first"), FragStack, "OnlyHarmedLost", "holds", _FRAG),
            _with(("await_room",), FragStack, "UniformIntegrity", "holds", _FRAG),
            _with("all", FragStack, "UniformAgreement", "holds", _FRAG),
            _with("all", FragStack, "Fifo", "holds", {**_FRAG, "patient": False}),
            _with("all", FragStack, "Reassembling", "holds", _FRAG, 2),
        ),
        defect="text",
        repairs=("discard_after_loss", "mark_first"),
    ),
    Claim(
        "HOR-07",
        _says(
            "Each endpoint will occasionally multicast its protocol status, so buffered messages may be "
            "flushed"
        ),
        "A lost last message, which no later number shows, is noticed when a status comes.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "If the status says how many messages a member has cast. If it says only what the member has "
        "received, which is all that flushing buffers "
        "needs, nobody asks for the last message, and it is lost without a LOST_MESSAGE event.",
        (
            _literal(NakStack, "UniformAgreement", "holds", _LAST),
            _literal(NakStack, "Answered", "holds", _LAST),
            _literal(NakStack, "UniformAgreement", "violated", {**_LAST, "status_tells": "received"}, 2),
            _literal(NakStack, "Answered", "violated", {**_LAST, "status_tells": "received"}, 2),
        ),
    ),
    Claim(
        "HOR-08",
        _says(_STATUS),
        "Status messages empty the buffers, and open a window again.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "With a buffer of one message and a window every message is cast and received in the end. That a "
        "missing status reveals a failure needs "
        "a clock and is not modelled; and a member that is down closes the window of the others until a "
        "view leaves it out.",
        (
            _literal(NakStack, "BuffersFlushed", "holds", _NAK),
            _with(("await_room",), NakStack, "BuffersFlushed", "holds", _WINDOW),
            _with(("await_room",), NakStack, "AllCast", "holds", _WINDOW, 9),
        ),
    ),
    Claim(
        "HOR-09",
        _says(
            "it guarantees that all members in the view that were also in the previous view have delivered "
            "the same messages."
        ),
        "Members that go together from one view to the next have delivered the same messages.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Of the abstract MBRSHIP it is the assumption; TOTAL passes it on, and over FRAG:NAK:COM it holds "
        "if members complete one another during the flush. Where they do not, it fails; so it does where a "
        "member of TOTAL does not keep its own messages of the flush, as all others do. The text does not "
        "say whether TOTAL delivers what is left before the application gets the VIEW upcall: only then is a "
        "message delivered in the view in which it was broadcast. How MBRSHIP does it stands in no section "
        "that was transcribed. A flush that is ours, made of messages, gives view synchrony with one "
        "failure: members must return what is unstable, and each must wait for all, since the view may "
        "overtake what others cast. (A member that is wrongly taken for dead stays where it is.) A second "
        "failure, after some have installed a view, makes two views of one number: against that a flush has "
        "nothing, and the view change of the RBP report's figure 29 has consensus (VSC-02).",
        (
            _literal(TotalViews, "VirtualSynchrony", "holds", _VIEWS),
            _with("all", HorusViews, "VirtualSynchrony", "holds", _FULL_VIEWS),
            _literal(TotalViews, "VirtualSynchrony", "violated", {**_VIEWS, "agreed": False}, 7),
            _literal(TotalViews, "VirtualSynchrony", "violated", {**_VIEWS, "forget_own": True}, 7),
            _literal(TotalViews, "SameView", "holds", _VIEWS),
            _literal(TotalViews, "SameView", "violated", {**_VIEWS, "view_upcall": "before the rest"}, 7),
            _with("all", HorusViews, "VirtualSynchrony", "violated", {**_FULL_VIEWS, "agreed": False}, 6),
            _with("all", HorusViews, "ViewChanged", "holds", _FULL_VIEWS, 5),
            *(
                _literal(FlushViews, name, "holds", of, deep=of is not _FLUSH)
                for of in (_FLUSH, _FLUSH_TWO, _FLUSH_FOUR)
                for name in _TOGETHER
            ),
            _literal(FlushViews, "ViewSynchrony", "violated", {**_FLUSH, "return_nothing": True}, 11),
            _literal(
                FlushViews,
                "ViewSynchrony",
                "violated",
                {**_FLUSH_FOUR, "install_at_once": True},
                13,
                deep=True,
            ),
            _literal(FlushViews, "ViewAgreement", "violated", _FLUSH_AGAIN, 10),
            _literal(FlushViews, "DeliveredLater", "holds", _FLUSH, 11),
            _literal(FlushedViewSynchrony, "Refinement", "holds", _FLUSH_EITHER),
            _literal(FlushViews, "ViewSynchrony", "holds", _FLUSH_EITHER),
            _literal(FlushViews, "ViewAgreement", "holds", _FLUSH_EITHER),
            _literal(FlushViews, "VscTermination", "violated", _FLUSH_EITHER, 4),
            _with("all", FlushTotalViews, "ViewSynchrony", "holds", _FLUSH_ONE),
            _with("all", FlushTotalViews, "SendingViewDelivery", "holds", _FLUSH_ONE),
            *(  # two filters keep one message in its view, COM's and MBRSHIP's: no single change breaks it
                _with("all", HorusFlushViews, name, "holds", _WHOLE_LOSS, deep=True)
                for name in _TOGETHER
                if name != "SendingViewDelivery"
            ),
            _with(
                "all",
                HorusFlushViews,
                "ViewSynchrony",
                "violated",
                {**_WHOLE, "return_nothing": True},
                17,
                deep=True,
            ),
        ),
    ),
    Claim(
        "HOR-10",
        _says(
            "When the new view is installed, each member that remains connected to the system is guaranteed "
            "to have all messages from the previous "
            "view, and a deterministic order can easily be constructed (e.g., messages are delivered in the "
            "order of the rank of the source)."
        ),
        "A lost token does no harm: the order of the rank of the source completes the order of the numbers.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Not where a number is missing because all who have it were left out. A member behind that gap "
        "holds numbered messages. If the rank "
        "orders them too, it delivers them otherwise than members that were left out have delivered them, "
        "though nobody has failed: whether the sources are gone through one after the other, or each in "
        "turn, or only those that stay, which takes four members. If only what the flush sent is ordered by "
        "rank, they are never delivered, not even to their own sender. Numbers first, gaps or not, then the "
        "rank: then the order is one.",
        (
            _literal(TotalStack, "Validity", "violated", _FLUSH_ONLY, 12),
            _literal(TotalStack, "TotalOrder", "violated", _APART, 15, deep=True),
            _literal(TotalStack, "TotalOrder", "violated", _IN_TURN, 15, deep=True),
            _literal(TotalStack, "TotalOrder", "holds", {**_APART, "ranked": "of who stays"}, deep=True),
            _literal(TotalStack, "TotalOrder", "violated", _STAY, 20, deep=True),
            _literal(TotalStack, "Validity", "holds", _CRASHES),
            _with(("numbers_first",), TotalStack, "Validity", "holds", _CRASHES),
            _with(("numbers_first",), TotalStack, "Validity", "holds", _FLUSH_ONLY),
            _with(("numbers_first",), TotalStack, "UniformTotalOrder", "holds", _CRASHES),
            _with(("numbers_first",), TotalStack, "Agreement", "holds", _CRASHES),
            _with(("numbers_first",), TotalStack, "TotalOrder", "holds", _APART, deep=True),
            _with(("numbers_first",), TotalStack, "TotalOrder", "holds", _IN_TURN, deep=True),
            _literal(TotalStack, "TokenLost", "holds", _ONE, 1),
            _literal(TotalStack, "Gap", "holds", _CRASH, 6),
        ),
        defect="text",
        repairs=("numbers_first",),
    ),
    Claim(
        "HOR-11",
        _says(
            "During the flush, all members that did not get the token in time send their messages. These "
            "messages are not delivered, but buffered."
        ),
        "Messages that are sent during the flush are buffered, not delivered.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "And they must be: delivered at once, they come before numbered messages at one member and after "
        "them at another.",
        (
            _literal(TotalStack, "TotalOrder", "holds", _CRASH),
            _literal(TotalStack, "PrefixOrder", "holds", _CRASH),
            _literal(TotalStack, "Buffered", "holds", _CRASH, 5),
            _literal(TotalStack, "TotalOrder", "violated", {**_CRASH, "deliver_at_once": True}, 7),
        ),
    ),
    Claim(
        "HOR-12",
        _says(
            "A special ``oracle'' at each member decides who should get the token next. The oracle cannot "
            "always make the optimal decision for "
            "minimal overhead, but the protocol that the TOTAL layer uses comes close in many cases."
        ),
        "The overhead is seldom much more than the least that is possible, and whoever waits for the token "
        "gets it.",
        Standing.IMPLIED,
        Kind.PERFORMANCE,
        "unknown",
        "`Comes close in many cases` is no property of a run, for a checker to decide: it is a share of a "
        "cost, and the text defines neither cost nor cases nor oracle. That none is always optimal needs no "
        "check: it must name somebody before it can know who will cast next. Order and agreement do not "
        "depend on it: they hold if it may choose anybody (HOR-11), which is every other choice too. What "
        "can be decided, and depends on it, is who waits. If it may choose anybody, two members can pass the "
        "token to and fro for ever while a third one waits; if it chooses the next in rank, or one that "
        "waits, who waits can send in the end, also where members go down; if it never gives the token away, "
        "everybody else waits for the next view.",
        (
            _literal(TotalLive, "WhoWaitsSends", "violated", {**_VIEWS, "crashes": 0}, 5),
            _literal(TotalLive, "WhoWaitsSends", "holds", {**_VIEWS, "oracle": "next in rank"}),
            _literal(TotalLive, "WhoWaitsSends", "holds", {**_VIEWS, "oracle": "one that waits"}),
            _literal(TotalLive, "WhoWaitsSends", "violated", {**_VIEWS, "oracle": "itself"}, 1),
        ),
    ),
    Claim(
        "HOR-13",
        _says("Interestingly, the TOTAL layer does not require direct interaction with a failure detector."),
        "Views are all that TOTAL needs to know of failures.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "With views who waits is served after the holder went down; without any view change it waits for "
        "ever.",
        (
            _literal(TotalStack, "Validity", "holds", _VIEWS),
            _literal(TotalStack, "Agreement", "holds", _VIEWS),
            _literal(TotalStack, "Validity", "violated", {**_ONE, "views": 1}, 2),
        ),
    ),
    Claim(
        "HOR-14",
        _says(
            "First, the semantics that the TOTAL layer provides are slightly weaker, since it only "
            "guarantees timely delivery to the surviving "
            "members in the view."
        ),
        "The impossibility of consensus does not apply, because TOTAL promises less.",
        Standing.STATED,
        Kind.COMPOSITION,
        "unknown",
        "An argument about impossibility is no property of a finite model. That the promise is weaker "
        "shows: what a member delivered before it "
        "went down may be delivered by nobody else, and another message may take its place; among "
        "survivors agreement and order hold. So it is of the whole stack TOTAL:MBRSHIP:FRAG:NAK:COM with its "
        "flush as messages: who goes down has delivered its own message first, and who goes on another one.",
        (
            _literal(TotalStack, "UniformAgreement", "violated", _CRASH, 6),
            _literal(TotalStack, "UniformPrefixOrder", "violated", _CRASH, 7),
            _literal(TotalStack, "Agreement", "holds", _CRASH),
            _literal(TotalStack, "PrefixOrder", "holds", _CRASH),
            _with("all", HorusFlushChecked, "UniformAgreement", "violated", _WHOLE_TWO, 4, deep=True),
            _with("all", HorusFlushChecked, "UniformPrefixOrder", "violated", _WHOLE_TWO, 10, deep=True),
        ),
    ),
    Claim(
        "HOR-15",
        _says(
            "Another deterministic rule decides who the first token holder in this view is (e.g., the "
            "lowest ranked member), and normal "
            "operation can continue."
        ),
        "In each view exactly one member is the first holder, and the token stays one.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Also where members are left out that are up: they keep the token of their view, and it is worth "
        "nothing in the next.",
        (
            _literal(TotalStack, "OneHolder", "holds", _CRASH),
            _literal(TotalStack, "OneHolder", "holds", {**_VIEWS, "suspicions": 1}),
            _literal(TotalStack, "Continued", "holds", _CRASH, 6),
        ),
    ),
)
"""Claims of the Horus paper, in order."""
