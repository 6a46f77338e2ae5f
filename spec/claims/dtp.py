"""Claims of the authors of DTP, and the verdicts of the machines.

The bounds of DTP, its resilience and the comparisons with other protocols are in `dtp_bounds`, its simulation
in `dtp_figures`.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, Source, Standing
from antiphon.spec.claims.dtp_bounds import DTP_BOUNDS
from antiphon.spec.claims.dtp_figures import DTP_FIGURES
from antiphon.spec.protocols.dtp.properties import DtpChecked, DtpLive, DtpOrdered

_Constants = Mapping[str, int | bool | str]

_IDLE: _Constants = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 1, "nulls": 1}
_TWO: _Constants = {"processes": 2, "messages": 2, "losses": 0, "timeouts": 1, "nulls": 1}
_SPARE: _Constants = {"processes": 2, "messages": 1, "losses": 0, "timeouts": 0, "spare": 1}
_LOSS: _Constants = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True}
_NULLS: _Constants = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True, "nulls": 2}
_PAIR: _Constants = {"processes": 2, "messages": 2, "losses": 1, "unlimited": True, "nulls": 1}
_RING: _Constants = {"processes": 3, "messages": 2, "losses": 0, "timeouts": 0, "senders": 2, "tie": "lowest"}
_TRIO: _Constants = {
    "processes": 3,
    "messages": 1,
    "losses": 1,
    "unlimited": True,
    "nulls": 1,
    "senders": 1,
    "tie": "lowest",
}
_SILENT: _Constants = {**_TRIO, "nulls": 0}
_THREE: _Constants = {
    "processes": 3,
    "messages": 3,
    "losses": 0,
    "timeouts": 0,
    "senders": 3,
    "tie": "lowest",
}
_SENDER: _Constants = {**_THREE, "senders": 1}
_WIDE: _Constants = {**_RING, "nulls": 1}

_EVERYTHING = (
    "OneHolder", "UniqueNumbers", "AcknowledgedOnce", "UniformIntegrity", "UniformTotalOrder",
    "UniformPrefixOrder", "Validity", "UniformAgreement",
    "StatusIsObtained",
)  # fmt: skip
"""Promises of DTP except its bounds; checked with `_WIDE`: three processes, of which two broadcast an update
each. `TokenHeld` (DTP-17) is left out: only timeouts could break it, and `_WIDE` has none.
"""

_ORDERING = ("number_passes", "keep_early_ack", "acknowledge_new", "advance_on_delivery")


def _literal(property: str, constants: _Constants, length: int, repairs: tuple[str, ...] = ()) -> Check:
    return Check(DtpChecked, property, "violated", repairs, (), constants, length)


def _mended(property: str, constants: _Constants, repairs: tuple[str, ...]) -> Check:
    return Check(DtpChecked, property, "holds", repairs, (), constants)


def _all(property: str, constants: _Constants, *, length: int | None = None, deep: bool = False) -> Check:
    return Check(DtpChecked, property, "holds", "all", (), constants, length, deep)


def _without(repair: str, property: str, constants: _Constants, length: int, *, deep: bool = False) -> Check:
    return Check(DtpChecked, property, "violated", "all", (repair,), constants, length, deep)


def _read(property: str, constants: _Constants, length: int) -> Check:
    return Check(DtpChecked, property, "violated", "all", (), constants, length)


def _says(section: str, quotation: str) -> Source:
    return Source(Document.DTP, section, quotation)


def _with(constants: _Constants, **more: int | bool | str) -> _Constants:
    return {**constants, **more}


_PROTOCOL: tuple[Claim, ...] = (
    Claim(
        "DTP-01",
        _says(
            "4.1",
            "At any moment, there exists at most one LTM, denoted by LTM_t, whose S.Token_t is HOLD and "
            "LTM_t is responsible for ordering a new message.",
        ),
        "At most one process holds the token.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "An ACK of NULL repeats the last gsn, so a copy of it that comes late cannot be told from a new one, "
        "and gives the token again. Two idle processes and one retransmission are enough.",
        (
            _literal("OneHolder", _IDLE, 6),
            _mended("OneHolder", _IDLE, ("number_passes",)),
            _without("number_passes", "OneHolder", _PAIR, 6),
            _all("OneHolder", _PAIR),
            _all("OneHolder", _TRIO, deep=True),
            _all("TokenPassed", _PAIR, length=2),
        ),
        defect="design",
        repairs=("number_passes",),
    ),
    Claim(
        "DTP-02",
        _says("4.3", "LTM_i, 1 ≤ i ≤ n, achieves total ordering of the messages."),
        "Theorem 1: all processes deliver in the same order.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Two holders (DTP-01) give one gsn to two updates. Without NULLs the order fails as well (DTP-03, "
        "DTP-20).",
        (
            _literal("UniformPrefixOrder", _TWO, 10),
            _literal("UniqueNumbers", _TWO, 10),
            _without("number_passes", "UniformPrefixOrder", _PAIR, 10),
            _all("UniformPrefixOrder", _PAIR),
            _all("UniformTotalOrder", _PAIR),
            _all("UniformIntegrity", _PAIR),
            _all("UniformPrefixOrder", _RING, deep=True),
            _all("UniformTotalOrder", _RING, deep=True),
            _all("UniformIntegrity", _RING, deep=True),
            _all("UniformPrefixOrder", _SENDER, deep=True),
            _all("UniformTotalOrder", _SENDER, deep=True),
            _all("UniformIntegrity", _SENDER, deep=True),
            _all("AllDelivered", _PAIR, length=8),
        ),
        defect="design",
        repairs=("number_passes", "keep_early_ack", "advance_on_delivery"),
    ),
    Claim(
        "DTP-03",
        _says("4.3", "After the lost messages have been recovered, R_i[i] will be x-1."),
        "A holder that has recovered what it lost knows the gsn of the ACK that named it, so that it assigns "
        "the next one.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "The ACK that shows a gap is put into BUF only “if” its gsn is the next one, and the proof asks for "
        "the ACKs before it. Once they have come, R_i[i] is one less than that gsn, and the holder assigns "
        "it again. No NULL is needed.",
        (
            _without("keep_early_ack", "UniqueNumbers", _THREE, 11, deep=True),
            _without("keep_early_ack", "UniformPrefixOrder", _THREE, 11, deep=True),
            _without("keep_early_ack", "UniqueNumbers", _SENDER, 15),
            _all("UniqueNumbers", _SENDER, deep=True),
            _all("UniqueNumbers", _RING, deep=True),
        ),
        defect="text",
        repairs=("keep_early_ack",),
    ),
    Claim(
        "DTP-04",
        _says("4.3", "The token holder acknowledges a new message which has never been acknowledged."),
        "Lemma 1: no update is acknowledged twice.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "A MSG can come after its ACK. If the ACK named its receiver, that is the holder when the MSG comes, "
        "and the paragraph Receiving MSG message makes it acknowledge the MSG: only what is found in BUF is "
        "tested for an ACK. The update is delivered twice.",
        (
            _literal("AcknowledgedOnce", _SPARE, 5),
            _literal("UniformIntegrity", _SPARE, 5),
            _mended("AcknowledgedOnce", _SPARE, ("acknowledge_new",)),
            _mended("UniformIntegrity", _SPARE, ("acknowledge_new",)),
            _without("acknowledge_new", "AcknowledgedOnce", _SPARE, 5),
            _all("AcknowledgedOnce", _SPARE),
            _all("AcknowledgedOnce", _PAIR),
        ),
        defect="text",
        repairs=("acknowledge_new",),
    ),
    Claim(
        "DTP-05",
        _says(
            "3",
            "Let hgsn_i denote gsn of the message which LTM_i has delivered to P_i most recently. hgsn_i "
            "represents the message delivery status of LTM_i.",
        ),
        "hgsn_i never covers an update that LTM_i has not got, so that what somebody lacks stays in the "
        "buffers of the others.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "On an ACK R_i[i] becomes g before U is looked for in BUF. The REQ for the missing U then announces "
        "g, the others take U for stable and remove it: if their answer is lost, nobody can send U again.",
        (
            _literal("StatusIsObtained", _SPARE, 3),
            _literal("UniformAgreement", _LOSS, 5, ("acknowledge_new",)),
            _mended("UniformAgreement", _LOSS, ("acknowledge_new", "advance_on_delivery")),
            _without("advance_on_delivery", "StatusIsObtained", _PAIR, 3),
            _without("advance_on_delivery", "UniformAgreement", _PAIR, 5),
            _all("StatusIsObtained", _PAIR),
            _all("StatusIsKnown", _PAIR),
            _all("UniformAgreement", _PAIR),
        ),
        defect="text",
        repairs=("advance_on_delivery",),
    ),
    Claim(
        "DTP-06",
        _says("4.3", "LTM_i, 1 ≤ i ≤ n, achieves total ordering of the messages."),
        "With the repairs of DTP-01, 03, 04 and 05 there is one holder, and total order and integrity hold.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "These four are what safety needs. That everything is delivered needs the repairs of DTP-12, 13 and "
        "14 as well. With all repairs, order, agreement and validity hold among three processes where "
        "nothing is lost, in every order of arrival; the bounds are DTP-22 and DTP-23.",
        (
            _mended("OneHolder", _with(_TWO, losses=1), _ORDERING),
            _mended("UniqueNumbers", _with(_TWO, losses=1), _ORDERING),
            _mended("UniformIntegrity", _with(_TWO, losses=1), _ORDERING),
            _mended("UniformTotalOrder", _with(_TWO, losses=1), _ORDERING),
            _mended("UniformPrefixOrder", _with(_TWO, losses=1), _ORDERING),
            _all("Validity", _PAIR),
            _all("UniformAgreement", _PAIR),
            *(_all(name, _WIDE, deep=True) for name in _EVERYTHING),
        ),
    ),
    Claim(
        "DTP-07",
        _says(
            "4.2",
            "If LTM_i holds the token, it must recover all of the lost messages before acknowledging a new "
            "message.",
        ),
        "A holder that has recovered misses no MSG before the outstanding one of a sender.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Because each sender has one outstanding MSG it would hold. But a late copy of an ACK of NULL "
        "(DTP-01) gives the token to a process that has not seen what was acknowledged since.",
        (
            _literal("NoGapAtHolder", _TWO, 9),
            _mended("NoGapAtHolder", _TWO, ("number_passes",)),
            _all("NoGapAtHolder", _PAIR),
            _all("NoGapAtHolder", _SENDER, deep=True),
        ),
        defect="design",
        repairs=("number_passes",),
    ),
    Claim(
        "DTP-08",
        _says("4.2", "Each LTM is allowed to have only one outstanding message at a time."),
        "Updates of one process are delivered in the order in which it multicast them.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "As printed a process that holds the token by a late copy of an ACK of NULL (DTP-01) acknowledges a "
        "sender's second update before it has the ACK of the first. With one holder a sender's next update "
        "comes only after the ACK of its last.",
        (
            _literal("SenderOrder", _TWO, 12),
            _mended("SenderOrder", _TWO, ("number_passes",)),
            _all("SenderOrder", _PAIR),
            _all("SenderOrder", _SENDER, deep=True),
        ),
        defect="design",
        repairs=("number_passes",),
    ),
    Claim(
        "DTP-09",
        _says("4.2", "If so, LTM_i sends an ACK message for the MSG."),
        "Who acknowledges its own MSG may send the next one.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "Section 4.1 has S.ACK reset when the message is acknowledged. The procedures of section 4.2 say so "
        "where the holder acknowledges an update on its arrival, and where an ACK is received: if they are "
        "all that counts (reading `reset_own`), who gets the token and then acknowledges a MSG of its own "
        "from BUF, and receives no ACK for it, stays in WAIT and never sends again.",
        (
            _all("Acknowledged", _PAIR),
            _read("Acknowledged", _with(_PAIR, reset_own="procedures"), 2),
            _read("AnswerAtHand", _with(_PAIR, reset_own="procedures"), 6),
        ),
    ),
    Claim(
        "DTP-10",
        _says(
            "4.2",
            "When LTM_i receives MSG(U, (j, l), h), if l = N_i[j], LTM_i increments N_i[j], changes R_i[j] "
            "to h, puts the message in BUF_i, and waits for gsn of the message.",
        ),
        "R_i[j] never goes down.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "A MSG that was sent before an ACK and comes after it carries a lower h, and R_i[j] is changed to "
        "it; so is it to the gsn of an ACK that comes late, and the paragraph Removing stable messages has "
        "it only go up. The order does not suffer; the bound on the buffers does.",
        (
            _literal("MonotoneStatus", _SPARE, 4),
            _without("monotone_status", "MonotoneStatus", _PAIR, 4),
            _without("monotone_status", "AckBound", _PAIR, 6),
            _all("MonotoneStatus", _PAIR),
        ),
        defect="text",
        repairs=("monotone_status",),
    ),
    Claim(
        "DTP-11",
        _says("1", "Stable messages … are immediately removed from the local buffers."),
        "What is stable is removed at once.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Removal is tied to a status h > R_i[j] that is heard. When R_i[i] itself was the least, or when the "
        "h was heard before, nothing removes what has become stable until another status comes.",
        (
            _without("collect_always", "StableRemoved", _PAIR, 4),
            _without("collect_always", "AckBound", _PAIR, 6),
            _all("StableRemoved", _PAIR),
            _all("StableRemoved", _RING, deep=True),
        ),
        defect="text",
        repairs=("collect_always",),
    ),
    Claim(
        "DTP-12",
        _says(
            "3", "LTM_t can determine the least active LTM_m such that R_t[m] = min({R_t[k] | 1 ≤ k ≤ n})."
        ),
        "The process that is selected is another one, so that the token goes somewhere.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "After an ACK with a gsn R_i[i] is the highest. An ACK of NULL changes nothing: while all R are "
        "equal, as at first, the holder is itself among the least active. If it selects itself, nobody who "
        "receives the ACK takes the token, and it is lost.",
        (
            _literal("TokenHeld", _with(_LOSS, nulls=1, tie="lowest"), 1),
            _without("pass_to_another", "TokenHeld", _PAIR, 1),
            _without("pass_to_another", "TokenHeld", _with(_PAIR, tie="lowest"), 1),
            _all("TokenHeld", _PAIR),
        ),
        defect="text",
        repairs=("pass_to_another",),
    ),
    Claim(
        "DTP-13",
        _says(
            "4.2",
            "When S.Token_i = TRST, if g ≥ R_i[i] + 1 or i = m, LTM_i assumes that the token has been "
            "successfully passed to the next token holder … LTM_i also multicasts the same ACK message at "
            "every timeout until it receives ACK(x, U'_id, g', y) such that R_i[i] + 1 ≤ g' or x = m.",
        ),
        "TRST ends when the token has arrived.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "Two rules are given, and they differ: an ACK that names the waiting process (Receiving ACK "
        "message), or one from the process that it named (Timeout). An old ACK of NULL satisfies either "
        "while the new pass is lost, and nobody sends the token again. Judged with numbered passes: without "
        "them that old ACK gives the token a second time (DTP-01), and the one flaw hides the other.",
        (
            _without("end_by_number", "TokenHeld", _NULLS, 6),
            _without("end_by_number", "TokenHeld", _with(_NULLS, transfer="heard"), 6),
            _all("TokenHeld", _NULLS),
            _all("TokenHeld", _with(_NULLS, transfer="heard")),
        ),
        defect="text",
        repairs=("end_by_number",),
    ),
    Claim(
        "DTP-14",
        _says(
            "4.2",
            "If S.Token_i = TRST, LTM_i checks if the request message is multicast by its next token holder, "
            "i.e. if m = j in ACK(i, U_id, R_i[i], m) stored in BUF_i.",
        ),
        "The next holder gets what it has lost.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "It is recognised by the ACK with gsn R_i[i] in BUF. An ACK of NULL is in no BUF: who was named by "
        "NULL and misses an update is answered by nobody, and as the holder it waits for ever.",
        (
            _without("answer_named", "UniformAgreement", _TRIO, 6),
            _all("UniformAgreement", _TRIO),
        ),
        defect="text",
        repairs=("answer_named",),
    ),
    Claim(
        "DTP-15",
        _says(
            "4.2",
            "LTM_i also multicasts the same ACK message at every timeout until it receives ACK(x, U'_id, g', "
            "y) such that R_i[i] + 1 ≤ g' or x = m.",
        ),
        "The ACK that passes the token can be sent again for as long as it must.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "An ACK with a gsn is removed from BUF only when its next holder has announced that gsn, and so has "
        "the token. An ACK of NULL is in no BUF and must be kept apart (reading `resending`).",
        (
            _all("TokenHeld", _with(_LOSS, resending="buffered", messages=2)),
            _all("Validity", _with(_LOSS, resending="buffered", messages=2)),
            _all("TokenHeld", _PAIR),
            _read("TokenHeld", _with(_NULLS, resending="buffered"), 2),
        ),
    ),
    Claim(
        "DTP-16",
        _says("4.2", "If S.Token_i = EMPT, it discards the REQ message."),
        "A REQ that nobody answers while the token is on its way is answered later.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "It is repeated, and the next holder that has recovered answers it; without NULLs nobody else does. "
        "Judged with all repairs.",
        (
            _all("Recovers", _SILENT),
            _all("UniformAgreement", _SILENT),
            _all("Recovers", _TRIO),
            _all("UniformAgreement", _TRIO),
            _all("Validity", _TRIO),
        ),
    ),
    Claim(
        "DTP-17",
        _says(
            "4.2",
            "After multicasting a ACK(i, U_id, g, m) message, in order to ensure that the token is "
            "successfully passed to the next token holder LTM_m, LTM_i also multicasts the same ACK message "
            "at every timeout",
        ),
        "The token always comes back to some process.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "As printed it can be lost for good: DTP-12, DTP-13. As repaired, every state leads to one with a "
        "holder.",
        (
            _literal("TokenHeld", _with(_LOSS, nulls=1, tie="lowest"), 1),
            _without("end_by_number", "TokenHeld", _NULLS, 6),
            _all("TokenHeld", _NULLS),
            _all("TokenHeld", _TRIO, deep=True),
        ),
        defect="design",
        repairs=("number_passes", "pass_to_another", "end_by_number"),
    ),
    Claim(
        "DTP-18",
        _says("4.3", "Every message is eventually delivered."),
        "Theorem 2: every update is delivered by everybody.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "Where the token is lost (DTP-12, DTP-13), the update removed (DTP-05) or the holder stuck (DTP-14), "
        "it cannot be delivered any more. As repaired every update is delivered by everybody on every fair "
        "run of finitely many updates: packets that can be received are, and timeouts come. Where others go "
        "on sending it need not be: the text has the holder acknowledge “an unacknowledged MSG” in BUF, and "
        "nothing says which. Two that came later can take turns in being passed on while a third waits; where"
        " the one that came first is selected (reading `selected`), only what came before overtakes it.",
        (
            _literal("Validity", _with(_LOSS, nulls=1, tie="lowest"), 2),
            _literal("UniformAgreement", _LOSS, 5, ("acknowledge_new",)),
            _without("end_by_number", "Validity", _NULLS, 7),
            _all("Validity", _NULLS),
            _all("Validity", _PAIR),
            _all("UniformAgreement", _PAIR),
            Check(DtpLive, "EveryMessageDelivered", "holds", "all", (), _PAIR),
            Check(DtpOrdered, "OldestFirst", "violated", "all", (), _PAIR, 6),
            Check(DtpOrdered, "OldestFirst", "holds", "all", (), _with(_PAIR, selected="oldest")),
            Check(DtpLive, "EveryMessageDelivered", "holds", "all", (), _TRIO, None, True),
        ),
        defect="design",
        repairs=("advance_on_delivery", "pass_to_another", "end_by_number", "answer_named"),
    ),
    Claim(
        "DTP-19",
        _says("4.3", "Let LTM_j be ACK^{x-1}'s sender and LTM_i be the next token holder of LTM_j."),
        "The induction of Theorem 1, from the sender of one ACK to the next token holder, covers runs with "
        "NULLs.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "It has no case for the NULLs between two gsns, after which neither the last ACK names the holder "
        "nor need its sender know it; and with NULLs the theorem fails (DTP-01). The run is that of DTP-02, "
        "whose order it breaks. With numbered passes the conclusion holds over NULLs too.",
        (
            _literal("UniqueNumbers", _TWO, 10),
            _without("number_passes", "UniqueNumbers", _PAIR, 10),
            _all("HeldByNull", _PAIR, length=6),
            _all("UniqueNumbers", _PAIR),
        ),
        defect="design",
        repairs=("number_passes",),
    ),
    Claim(
        "DTP-20",
        _says("4.3", "LTM_k, 1 ≤ k ≤ n, delivers them to P_k in the increasing order of gsn."),
        "Every process delivers in the order of gsn, without gaps.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "R_i[i] moves on without the update (DTP-05), so the next ACK is the next one too, and its update is "
        "delivered while the earlier one is still missing.",
        (
            _without("advance_on_delivery", "UniformPrefixOrder", _RING, 9, deep=True),
            _all("UniformPrefixOrder", _RING, deep=True),
            _all("UniformPrefixOrder", _PAIR),
        ),
        defect="text",
        repairs=("advance_on_delivery",),
    ),
    Claim(
        "DTP-21",
        _says(
            "4.2",
            "But if LTM_i holds the token, LTM_i assumes that LTM_j lost the ACK message related to the MSG, "
            "and retransmits to LTM_j the ACK message with U_id = (j, l) in BUF_i.",
        ),
        "The holder has the ACK that the sender of a repeated MSG lost.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "Or it has not acknowledged the MSG yet and will: an ACK is removed only when the sender has "
        "announced its gsn. Only a sender that is left in WAIT by the other reading of DTP-09 repeats a MSG "
        "whose ACK is gone.",
        (
            _mended("AnswerAtHand", _TWO, ()),
            _all("AnswerAtHand", _PAIR),
            _all("AnswerAtHand", _RING, deep=True),
            Check(DtpChecked, "AnswerAtHand", "violated", (), (), _with(_TWO, reset_own="procedures"), 6),
            _read("AnswerAtHand", _with(_PAIR, reset_own="procedures"), 6),
        ),
    ),
)

DTP: tuple[Claim, ...] = (*_PROTOCOL, *DTP_BOUNDS, *DTP_FIGURES)
"""All claims of the paper."""
