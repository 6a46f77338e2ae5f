"""Claims of the report on RBP without failures (figure 16)."""

from __future__ import annotations

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
from antiphon.spec.protocols.rbp.properties import RbpChecked, RbpLive, RbpProperties, RbpRotation
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientOrdered

_FIGURE_25 = {
    "processes": 2,
    "messages": 2,
    "losses": 1,
    "crashes": 0,
    "passes": 4,
    "unlimited": True,
    "urgent": True,
    "assigned": True,
    "patient": True,
}
_TWO = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True}
_PAIR = {"processes": 2, "messages": 2, "losses": 1, "unlimited": True}
_BRISK = {**_PAIR, "urgent": True, "assigned": True}
_THREE = {"processes": 3, "messages": 1, "losses": 1, "unlimited": True, "urgent": True, "assigned": True}
_SAFE = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
_THIRD = {"processes": 2, "messages": 3, "losses": 0, "timeouts": 1, "urgent": True}
_RING = {"processes": 3, "messages": 2, "losses": 0, "timeouts": 0, "urgent": True}
_LOSSY = {
    "processes": 3,
    "messages": 2,
    "losses": 1,
    "timeouts": 1,
    "urgent": True,
    "assigned": True,
    "patient": True,
}


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    length: int | None = None,
    **constants: int | str | bool,
) -> Check:
    return Check(RbpChecked, property, outcome, "all", without, constants, length)


def _long_for_z3(check: Check) -> Check:
    return replace(check, long_for_z3=True)


def _three(*properties: str) -> tuple[Check, ...]:
    """Return checks of the repaired figure with three processes: with one message and a loss, and, deep, with
    two messages, a loss and one round of timers.
    """
    quick = tuple(_long_for_z3(_check(property, "holds", **_THREE)) for property in properties)
    return quick + tuple(replace(_check(property, "holds", **_LOSSY), deep=True) for property in properties)


def _figure(quotation: str, lines: str = "", section: str = "3.1.3") -> Source:
    return Source(Document.RBP, section, quotation, figure="16", lines=lines)


RBP: tuple[Claim, ...] = (
    Claim(
        "RBP-01",
        _figure("if p=1 then send ACK(⊥, ts_p + 1, toknext_p) to p1", "8-9"),
        "The initialisation starts the rotation of the token.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "The first ACK names p2 and is sent to p1 only. p1 is not the process it names, p2 never sees it: "
        "nobody ever holds the token. Sent to "
        "all, as every other ACK, it starts the rotation (with RBP-11), and the process that it names gives "
        "the second number, if it may store a message at all (RBP-41).",
        (
            Check(RbpProperties, "TokenAccepted", "unknown", constants=_THREE),
            _check("TokenAccepted", "unknown", "start_rotation", **_THREE),
            Check(
                RbpProperties,
                "TokenAccepted",
                "holds",
                ("start_rotation", "skip_null"),
                constants=_THREE,
                length=4,
            ),
            Check(
                RbpRotation,
                "TokenGoesOn",
                "holds",
                ("start_rotation", "skip_null"),
                constants={**_THREE, "nesting": "comment"},
                length=7,
            ),
        ),
        defect="text",
        repairs=("start_rotation", "skip_null"),
    ),
    Claim(
        "RBP-02",
        _figure("toknext_p ← p + 1 (mod n)", "5"),
        "Following toknext visits every process of the ring p1..pn.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "With processes numbered from 1, as line 8 has it, p_(n-1) names p0, which does not exist: the "
        "token is lost, and p_n never gets it.",
        (
            _check("Validity", "violated", "ring_from_one", **_TWO, length=1),
            _check("Validity", "holds", **_TWO),
            _check("Validity", "holds", **_THREE),
        ),
        defect="text",
        repairs=("ring_from_one",),
    ),
    Claim(
        "RBP-03",
        _figure("do message id_p ← message id_p + 1; send(m,B) to all until receive ACK(B,-,-,-)", "12-15"),
        "A message that is sent again is still the same message.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "The identifier is incremented inside the loop. The second copy is a new message to everyone, gets "
        "a second number, and is delivered "
        "twice. (Figure 25 prints the same: RBP-47.)",
        (
            _check(
                "UniformIntegrity",
                "violated",
                "one_identifier",
                processes=2,
                messages=1,
                losses=0,
                timeouts=1,
                spare=1,
                length=12,
            ),
            _check("UniformIntegrity", "holds", processes=2, messages=1, losses=0, timeouts=1, spare=1),
            _check("UniformIntegrity", "holds", **_SAFE),
            _check("UniformIntegrity", "holds", **_RING),
            _check("UniformTotalOrder", "holds", **_SAFE),
            _check("UniformTotalOrder", "holds", **_RING),
            _check("UniformPrefixOrder", "holds", **_RING),
            _check("AllDelivered", "holds", **_RING, length=25),
        ),
        defect="text",
        repairs=("one_identifier",),
    ),
    Claim(
        "RBP-04",
        _figure("else ts_p ← seqnum", "40"),
        "Every process knows the highest number, so that the next holder can tell a gap from no gap.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "ts_p moves only at the process that an ACK names. After the first step the next holder sees a gap "
        "that is none, asks for numbers that "
        "it has, and waits for ever in lines 34-36.",
        (
            _long_for_z3(_check("Validity", "violated", "track_numbers", **_BRISK, length=9)),
            _check("Validity", "holds", **_PAIR),
        ),
        defect="text",
        repairs=("track_numbers",),
    ),
    Claim(
        "RBP-05",
        _figure("send (B, seqnum) to q … send m' to q", "21, 53, 57"),
        "What is sent again is received.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "No `when receive` takes (B, seqnum) or m' alone. A lost body or number is asked for and never gets "
        "in. (ACKs with a wrong number of fields are RBP-44, where line 15 awaits four, and RBP-45, where "
        "lines 11, 22 and 61 of figure 25 send three of four.)",
        (
            _long_for_z3(_check("UniformAgreement", "violated", "handled_replies", **_THREE, length=10)),
            _check("UniformAgreement", "holds", **_THREE),
        ),
        defect="text",
        repairs=("handled_replies",),
    ),
    Claim(
        "RBP-06",
        _figure(
            "If it is and “old” token, the current token holder detects it by comparing the sequence number "
            "received, and thus, retransmits "
            "the lost ack (lines 35–36).",
            "38-49",
        ),
        "A token that was accepted before is not accepted again.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "The test is ts > seqnum, ts is the number of the token and not of what the process assigned, and "
        "after line 39 the control goes on to "
        "line 45. A retransmitted ACK makes its receiver a holder again; two messages can get one number, "
        "and two processes deliver in different orders. The idea, to compare numbers, is right: the repair "
        "compares the highest number that is known.",
        (
            _long_for_z3(_check("OneHolder", "violated", "old_token", **_SAFE, length=10)),
            _long_for_z3(
                _check(
                    "UniqueNumbers",
                    "violated",
                    "old_token",
                    processes=2,
                    messages=3,
                    losses=0,
                    timeouts=1,
                    length=14,
                )
            ),
            _long_for_z3(_check("UniformPrefixOrder", "violated", "old_token", **_THIRD, length=20)),
            _check("UniqueNumbers", "holds", **_THIRD),
            _long_for_z3(_check("UniformPrefixOrder", "holds", **_THIRD)),
            _check("OneHolder", "holds", **_SAFE),
            _check("UniqueNumbers", "holds", **_SAFE),
            *_three(
                "OneHolder",
                "UniqueNumbers",
                "UniformIntegrity",
                "HolderHasAll",
            ),
        ),
        defect="text",
        repairs=("old_token",),
    ),
    Claim(
        "RBP-07",
        _figure("the acknowledgements must be retransmitted by the current sequencer", "38-39"),
        "The current sequencer answers a sender of an old token.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Either may answer: the current sequencer, as the text has it, or the process that the token names, "
        "as line 38 has it. The second knows "
        "the answer without holding the token, and is what we implement.",
        (
            _check("Validity", "holds", **_TWO),
            _check("Validity", "holds", **_TWO, answering="current"),
        ),
    ),
    Claim(
        "RBP-08",
        _figure(
            "In this case, the token holder must retransmit the acknowledgement to that source.", "19-21"
        ),
        "The acknowledgement of a repeated message is sent again by the token holder.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "Line 20 tests p = toknext; toknext_p is p + 1 and never p, so line 21 is never reached. The "
        "protocol lives without it: the ACK is sent "
        "again with the token, and gaps are asked for.",
        (
            _check("Returns", "holds", "holder_answers", **_TWO),
            _check("Returns", "holds", **_TWO),
        ),
        defect="text",
        repairs=("holder_answers",),
        covered=("holder_answers",),
    ),
    Claim(
        "RBP-09",
        _figure("seqQ_p ← seqQ_p + (B, seqnum)", "26"),
        "Receiving an ACK twice changes seqQ once.",
        Standing.QUESTION,
        Kind.SAFETY,
        "unknown",
        "By reading: if `+` is union, as the comments of figure 12 call it (“adds the message”), a second "
        "copy changes nothing. The specification takes it for union, so that no check of it could fail, and "
        "nothing is shown. Nothing rests on it either: each use of seqQ asks whether a pair is in it, and "
        "line 61 counts by lastdelivered.",
    ),
    Claim(
        "RBP-11",
        _figure("send ACK(⊥, ts_p + 1, toknext_p)", "9, 30, 41, 61"),
        "A NULL message takes a number like any other.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "NULL is in no recvQ. Lines 41-44 ask for its body and wait for ever, and line 62 would deliver it.",
        (
            _check("TokenAccepted", "unknown", "skip_null", **_THREE),
            _check("UniformIntegrity", "violated", "skip_null", "await_body", **_TWO, length=1),
            _check("TokenAccepted", "holds", **_THREE, length=4),
        ),
        defect="text",
        repairs=("skip_null",),
    ),
    Claim(
        "RBP-12",
        _figure("while ∃ m' s.t. (B, lastdelivered_p + 1) ∈ seqQ_p do deliver (m')", "61-62"),
        "A message that is delivered has been received.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "m' is bound to nothing: the number alone makes line 62 deliver, also when the body has not come.",
        (
            _check("UniformIntegrity", "violated", "await_body", **_SAFE, length=7),
            _check("UniformIntegrity", "holds", **_SAFE),
        ),
        defect="text",
        repairs=("await_body",),
    ),
    Claim(
        "RBP-13",
        _figure("wait until (recvQ_p \\ seqQ_p ≠ ε)", "45"),
        "An idle group keeps the token at one site, which is safe.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "All safety properties hold with the holder waiting as long as it likes. It costs: the previous "
        "holder sends its ACK again for as long as "
        "the group is idle (line 49).",
        (_check("UniformPrefixOrder", "holds", **_SAFE), _check("OneHolder", "holds", **_SAFE)),
    ),
    Claim(
        "RBP-14",
        _figure("until receive ACK(B,-,-,-)", "12-15"),
        "Messages of one source are ordered as it broadcast them.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "Because the procedure ends only when its message has a number. (As printed, with a new identifier "
        "in each round, there is nothing to "
        "compare: RBP-03.)",
        (_check("SenderOrder", "holds", **_SAFE),),
    ),
    Claim(
        "RBP-15",
        _figure("msg ← select first msg s.t. (m, B) ∈ recvQ_p and (B) ∉ seqQ_p", "46"),
        "No message starves.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "A message is overtaken only by such as the process that numbers them had received before it, and "
        "there are finitely many. That is what `first` gives: with `last` a message can be overtaken by every"
        " later one. And on every fair run what is broadcast is delivered everywhere, with one message at "
        "three processes and with two at two; finitely many messages starve nobody, whichever is selected. "
        "Fair means that a packet is received if it can be all the time, and that each process goes on when "
        "it can. If only each kind of step were fair, one packet could wait for ever while copies of others "
        "come. Line 59 of figure 25 has the same words; read as the first that was broadcast, it gives the "
        "same there.",
        (
            _check("OldestFirst", "holds", **_SAFE),
            _check("OldestFirst", "holds", **_RING),
            Check(RbpResilientOrdered, "OldestFirst", "holds", "all", constants=_FIGURE_25),
            Check(
                RbpResilientOrdered,
                "OldestFirst",
                "violated",
                "all",
                constants={**_FIGURE_25, "select_last": True},
                length=6,
            ),
            Check(RbpLive, "NoMessageStarves", "holds", "all", constants=_TWO),
            Check(RbpLive, "NoMessageStarves", "holds", "all", constants=_THREE),
            Check(RbpLive, "NoMessageStarves", "holds", "all", constants=_PAIR, deep=True),
            _check("Validity", "holds", **_THREE),
        ),
    ),
    Claim(
        "RBP-16",
        _figure("until (ts_p = seqnum)", "34-36"),
        "The wait for missing numbers ends when they have come.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "With ts_p as repaired by RBP-04, equality is reached and not jumped over: only the waiting "
        "process could assign the next number.",
        (
            _check("Validity", "holds", **_PAIR),
            _check("Validity", "holds", **_THREE),
            _check("UniformAgreement", "holds", **_THREE),
        ),
        repairs=("track_numbers",),
    ),
    Claim(
        "RBP-17",
        _figure(
            "This model presents some advantages, specially by allowing the expression of concurrent task, "
            "and not only an “event-driven machine”.",
            "32-49",
        ),
        "A process that waits inside `when receive` goes on receiving.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "It must: if the waits of lines 34-49 block reception, the ACK or body that would end them is "
        "never received, and the group stands still.",
        (
            _long_for_z3(_check("Validity", "violated", **_THREE, waiting="blocking", length=3)),
            _check("Validity", "holds", **_THREE),
        ),
    ),
    Claim(
        "RBP-25",
        Source(
            Document.RBP,
            "3.1.3",
            "According to RBP, the messages broadcasted by the sequencer aggregate four separate functions",
        ),
        "One ACK acknowledges the source, assigns the number, accepts the token and passes it: two "
        "messages a step.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Counted on the simulated network without losses: one message and one ACK for each broadcast, and "
        "one ACK for NULL.",
        (
            Measurement(
                "two messages",
                "exactly one (m, B) and one ACK for each broadcast, and one ACK for NULL",
                "holds",
            ),
        ),
    ),
    Claim(
        "RBP-37",
        Source(
            Document.RBP,
            "3.2.2",
            "receiver r has all messages up to and including the k-th sequenced message",
            figure="16",
            lines="41-44",
        ),
        "A process that acknowledges has every message sequenced before.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Lines 41-44 wait for the body of the token's own message only. An earlier body that was lost is "
        "still missing when the process "
        "acknowledges the next message.",
        (
            _long_for_z3(
                _check(
                    "HolderHasAll",
                    "violated",
                    "await_all_bodies",
                    processes=3,
                    messages=2,
                    losses=0,
                    timeouts=0,
                    length=14,
                )
            ),
            _check("HolderHasAll", "holds", **_RING),
            _check("HolderHasAll", "holds", **_SAFE),
        ),
        defect="text",
        repairs=("await_all_bodies",),
    ),
    Claim(
        "RBP-38",
        _figure("until receive ACK from toknext_p", "47-49"),
        "The loop ends when the next holder has accepted the token.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "Any ACK of that process ends it, also one of an earlier round that comes late. The token may be "
        "lost at that moment, and nobody sends "
        "it again.",
        (
            _long_for_z3(_check("Validity", "violated", "await_successor", **_PAIR, length=8)),
            _check("Validity", "holds", **_PAIR),
        ),
        defect="text",
        repairs=("await_successor",),
    ),
    Claim(
        "RBP-39",
        _figure("if ∃ (B, seqnum) in seqQ_p … else recvQ_p ← recvQ_p + (m, B)", "19-23"),
        "A body that comes after its number is kept.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "A message that has a number is taken for an old one and not stored, also when its body was "
        "missing, and also when it was asked for.",
        (
            _check(
                "UniformAgreement",
                "violated",
                "store_late_body",
                **{**_TWO, "losses": 0},
                nesting="comment",
                length=7,
            ),
            _check("UniformAgreement", "holds", **_TWO),
        ),
        defect="text",
        repairs=("store_late_body",),
    ),
    Claim(
        "RBP-40",
        _figure("if B ∉ recvQ_p then request_retransmission (B)", "28-31"),
        "A process that is not the next holder gets what it misses in the end, although it asks once.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "With one message it does: the ACK is sent again while the group is idle, and each copy makes it "
        "ask. But when the body and the one request "
        "for it are lost and a second message is numbered, nobody speaks of the first any more: it is the "
        "body of no token that the process "
        "waits to accept. A run of 20 steps shows it; what lies ahead of its end was listed. The repair "
        "asks again.",
        (
            Measurement("asked once", "the body that was lost with the request for it arrives", "violated"),
            _check("UniformAgreement", "holds", "repeat_requests", **_THREE),
            _check("UniformAgreement", "holds", **_THREE),
        ),
        defect="text",
        repairs=("repeat_requests",),
        covered=("repeat_requests",),
    ),
    Claim(
        "RBP-41",
        _figure("else recvQ_p ← recvQ_p + (m, B)", "19-23"),
        "A message that has no number yet is stored.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "As it is aligned in print, the `else` of line 22 belongs to the test of line 20, and no message is "
        "ever stored, not even by its source. "
        "If it belongs to the test of line 19, every message is stored that has no number yet. (RBP-39's "
        "repair stores whatever is missing, and "
        "hides the difference.)",
        (
            _check("Validity", "violated", "store_late_body", **_TWO, length=1),
            _check("Validity", "holds", "store_late_body", **_TWO, nesting="comment"),
            _check("Validity", "holds", **_TWO),
        ),
        defect="text",
        repairs=("store_late_body",),
    ),
    Claim(
        "RBP-44",
        _figure("until receive ACK(B,-,-,-)", "15"),
        "The ACK that TO-broadcast waits for is one that is sent.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "Line 15 waits for an ACK of four fields, and lines 9 and 48 send three: the procedure never "
        "returns, and sends its message for ever.",
        (
            _long_for_z3(_check("Returns", "violated", "await_three_fields", **_TWO, length=1)),
            _check("Returns", "holds", **_TWO),
            _check("Returns", "holds", **_THREE),
        ),
        defect="text",
        repairs=("await_three_fields",),
    ),
)
