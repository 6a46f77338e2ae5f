"""The bounds and the resilience that the authors of DTP claim, and how DTP compares with other protocols."""

from __future__ import annotations

from collections.abc import Mapping

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
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.chang_maxemchuk.properties import ChangMaxemchukChecked
from antiphon.spec.protocols.dtp.figure1 import Figure1
from antiphon.spec.protocols.dtp.properties import DtpChecked, DtpCrashing
from antiphon.spec.protocols.pinwheel.properties import PinwheelChecked

_Constants = Mapping[str, int | bool | str]

_F_1: _Constants = {"resilience": 1}
_F_2: _Constants = {"resilience": 2}
_LIVE: _Constants = {"processes": 2, "messages": 1, "losses": 1, "unlimited": True, "nulls": 2, **_F_1}
_RESILIENT: _Constants = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1, "nulls": 1, **_F_1}
_SAFE: _Constants = {
    "processes": 3,
    "messages": 1,
    "losses": 0,
    "timeouts": 0,
    "nulls": 2,
    "tie": "lowest",
    **_F_2,
}
_CRASH: _Constants = {
    "processes": 3, "messages": 1, "losses": 0, "timeouts": 0, "nulls": 1, "crashes": 1, "senders": 1,
    "tie": "lowest", **_F_1,
}  # fmt: skip
_LOST: _Constants = {**_CRASH, "nulls": 0, "losses": 1, "unlimited": True}
_INSTANT: _Constants = {
    "processes": 3,
    "messages": 6,
    "losses": 0,
    "timeouts": 0,
    "nulls": 2,
    "instant": True,
    "senders": 2,
    "tie": "lowest",
}
_MANY: _Constants = {"processes": 2, "messages": 4, "losses": 0, "timeouts": 0, "nulls": 1}
_PAIR: _Constants = {"processes": 2, "messages": 3, "losses": 1, "timeouts": 0, "nulls": 1}
_OVERTAKING: _Constants = {
    "processes": 3,
    "messages": 3,
    "losses": 0,
    "timeouts": 0,
    "nulls": 1,
    "senders": 1,
    "tie": "lowest",
}
_RING: _Constants = {"processes": 3, "messages": 2, "losses": 0, "timeouts": 0, "senders": 2, "tie": "lowest"}
_SI3CE: _Constants = {
    "processes": 3,
    "messages": 1,
    "losses": 0,
    "timeouts": 0,
    "nulls": 2,
    "tie": "lowest",
}

_PROOF = Measurement(
    "bounds by induction",
    "with all repairs Z3 proves of runs of every length that a BUF holds at most n - 1 ACKs, and 2n - 2 MSGs "
    "with a gsn and one of each sender without, and that who knows n - 1 later ACKs takes a MSG for stable",
    "holds",
    deep=True,
)

_WALKS = Measurement(
    "buffers on walks",
    "among three processes with nine updates no random walk with all repairs leaves 3n - 2 MSGs, n - 1 ACKs "
    "and stability after n - 1 more; without `collect_always` walks leave both bounds of BUF, without "
    "`carry_status` that of ACKs and stability",
    "holds",
    deep=True,
)


def _all(
    property: str,
    constants: _Constants,
    *,
    length: int | None = None,
    deep: bool = False,
    spec: type[Spec] = DtpChecked,
) -> Check:
    return Check(spec, property, "holds", "all", (), constants, length, deep)


def _fails(
    property: str,
    constants: _Constants,
    length: int,
    without: tuple[str, ...] = (),
    *,
    deep: bool = False,
    spec: type[Spec] = DtpChecked,
) -> Check:
    return Check(spec, property, "violated", "all", without, constants, length, deep)


def _counted(property: str, constants: _Constants, length: int) -> Check:
    return Check(DtpChecked, property, "violated", ("count_processes",), (), constants, length)


def _other(
    spec: type[Spec],
    property: str,
    outcome: RecordedOutcome = "holds",
    length: int | None = None,
    **constants: int | bool,
) -> Check:
    return Check(spec, property, outcome, (), (), constants, length)


def _says(section: str, quotation: str) -> Source:
    return Source(Document.DTP, section, quotation)


def _with(constants: _Constants, **more: int | bool | str) -> _Constants:
    return {**constants, **more}


DTP_BOUNDS: tuple[Claim, ...] = (
    Claim(
        "DTP-22",
        _says("4.2", "Therefore, BUF_i holds 2n-1 MSG and n-1 ACK messages at most."),
        "A buffer holds 2n - 1 MSGs and n - 1 ACKs at most.",
        Standing.STATED,
        Kind.BOUND,
        "violated",
        "Of the MSGs it fails with all repairs and without a loss: where ACKs are late, senders go on, "
        "and with n = 3 a process keeps seven after 26 steps, with n = 4 ten after 47. The true bound is "
        "3n - 2: an ACK is late, or what makes its MSG stable, for 2n - 2 MSGs at most, and of each "
        "process one MSG has no gsn; seven and ten are 3n - 2. With two processes, and "
        "where everything arrives at once, 2n - 1 holds. Of the ACKs n - 1 holds, and is reached, where "
        "every ACK, also of NULL, carries what its sender knows. Both bounds are proved by induction for "
        "runs of every length and every order of arrival, of two processes with three updates, one loss, any "
        "number of timeouts and one NULL after each gsn; that they hold for any n and any number of updates "
        "is the argument that stands at the repair `carry_status`, and is no proof by machine. From three "
        "processes on the evidence is bounded: random walks never leave the bounds with all repairs. Without "
        "that repair there is no bound at all: with "
        "n = 3 the NULLs of one process are only late at another, which keeps one MSG and one ACK more "
        "after each ten steps. As printed two processes are enough (DTP-10, DTP-11).",
        (
            _fails("AckBound", _OVERTAKING, 14, ("carry_status",), deep=True),
            _all("AckBound", _INSTANT, deep=True),
            _all("MessageBound", _INSTANT, deep=True),
            _all("AckBound", _PAIR, deep=True),
            _all("MessageBound", _MANY, deep=True),
            Measurement(
                "fullest buffers",
                "with all repairs and no loss one of three processes keeps seven MSGs and two ACKs, one of "
                "four ten and three",
                "holds",
            ),
            Measurement(
                "idle rounds",
                "without `carry_status` a process keeps a MSG and an ACK more after each round, with it none",
                "holds",
            ),
            _PROOF,
            _WALKS,
        ),
        defect="design",
        repairs=("carry_status", "monotone_status", "collect_always"),
    ),
    Claim(
        "DTP-23",
        _says("4.2", "In the worst case, MSG becomes stable after its subsequent n-1 MSGs are acknowledged."),
        "Who knows the ACKs of the n - 1 MSGs after a MSG takes it for stable.",
        Standing.STATED,
        Kind.BOUND,
        "violated",
        "Each holder names the least active process that it knows of, and they do not know the same: the "
        "process that the first holder named passes the token on with a NULL, and where that is only "
        "late, the others do not know what it has. With n = 3 a MSG can be followed by two others, and by"
        " any number of others (DTP-22), and still not be stable at their last holder. Where every ACK, "
        "also of NULL, carries what its sender knows, n - 1 is the true bound: proved by induction as far as "
        "DTP-22 says, and argued at the repair for any n; after n - 2 a MSG need not be stable.",
        (
            _fails("StableInTime", _OVERTAKING, 14, ("carry_status",), deep=True),
            _all("StableInTime", _INSTANT, deep=True),
            _all("StableInTime", _PAIR, deep=True),
            _all("NotYetStable", _RING, length=6),
            Measurement(
                "idle rounds",
                "without `carry_status` a process keeps a MSG and an ACK more after each round, with it none",
                "holds",
            ),
            _PROOF,
            _WALKS,
        ),
        defect="design",
        repairs=("carry_status",),
    ),
    Claim(
        "DTP-24",
        _says(
            "3",
            "After MSG(U, U_id) and L subsequent messages are acknowledged, it is certain that L+1 processes "
            "have obtained U. Therefore U becomes stable after the message MSG(U, U_id) and n-1 subsequent "
            "messages are acknowledged.",
        ),
        "In CM an update and L subsequent acknowledgements mean L + 1 processes that have the update, and n "
        "- 1 that all have.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "And not earlier: after n - 2 one process may be without it.",
        (
            _other(ChangMaxemchukChecked, "HoldersGrow", processes=3, messages=3),
            _other(ChangMaxemchukChecked, "StableAfterRound", processes=3, messages=3),
            _other(ChangMaxemchukChecked, "UniformPrefixOrder", processes=3, messages=3),
            _other(ChangMaxemchukChecked, "UniformAgreement", processes=3, messages=3),
            _other(ChangMaxemchukChecked, "HoldersNoMore", length=6, processes=3, messages=3),
            _other(ChangMaxemchukChecked, "WindowKept", processes=3, messages=3),
            _other(ChangMaxemchukChecked, "SendsAgain", length=3, processes=3, messages=3),
            _other(ChangMaxemchukChecked, "AllDelivered", length=27, processes=3, messages=3),
        ),
    ),
    Claim(
        "DTP-25",
        _says(
            "3",
            "In virtue of the positive notification scheme, LTM_i can determine whether a message is stable "
            "in a shorter time than the CM protocol.",
        ),
        "In Pinwheel what a process takes for stable all have, and it can know so before n - 1 subsequent "
        "acknowledgements.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "A MSG says what its sender had delivered, an ACK that its sender has everything up to its gsn. Also "
        "when messages of the same process overtake each other, as long as R_i[k] only goes up; not where a "
        "holder acknowledges before it has received what is acknowledged.",
        (
            _other(PinwheelChecked, "StableEarly", length=5, processes=2, messages=2),
            _other(PinwheelChecked, "StableIsEverywhere", processes=3, messages=2),
            _other(PinwheelChecked, "UniformIntegrity", processes=3, messages=2),
            _other(PinwheelChecked, "UniformPrefixOrder", processes=3, messages=2),
            _other(PinwheelChecked, "UniformTotalOrder", processes=3, messages=2),
            _other(PinwheelChecked, "UniformAgreement", processes=3, messages=2),
            _other(PinwheelChecked, "Validity", processes=3, messages=2),
            _other(PinwheelChecked, "AllDelivered", length=18, processes=3, messages=2),
        ),
    ),
    Claim(
        "DTP-26",
        _says(
            "4.2",
            "In other words, LTM_i passes the token without ordering any message in order to bound the "
            "stability time.",
        ),
        "After n - 1 NULLs that arrive nothing acknowledged is unstable.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "Where nothing is lost, in any order of arrival. If a NULL is lost on the way to a process that it "
        "does not name, nobody sends it again once the token has arrived, and that process knows later. Time "
        "is not modelled: that n - 1 NULLs take (n - 1) T and their delays is arithmetic.",
        (
            _all("StableAfterNulls", _SI3CE, deep=True),
            _all("AllStable", _SI3CE, length=11, deep=True),
            _all("StableAfterNulls", _with(_SI3CE, processes=2)),
            _fails("StableAfterNulls", _with(_SI3CE, losses=1, senders=1), 12),
        ),
    ),
    Claim(
        "DTP-27",
        _says(
            "3",
            "M_1 becomes stable after the acknowledgement of the third message. Note that when the sixth "
            "message has been acknowledged in figure 1(c), four messages become stable.",
        ),
        "There is a sequence of updates as in figure 1: stable after five acknowledgements in CM, four in "
        "Pinwheel, three in DTP, where four are stable after the sixth.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "The drawing is lost; such sequences exist (CM's five is n, whatever is sent). There are also "
        "sequences for which Pinwheel knows sooner than DTP.",
        (
            _other(Figure1, "StableIsKnown", processes=5, messages=6),
            _other(Figure1, "TwoAreHeardOf", processes=5, messages=6),
            _other(Figure1, "AsPrinted", length=6, processes=5, messages=6),
            _other(Figure1, "PinwheelFirst", length=3, processes=5, messages=6),
        ),
    ),
    Claim(
        "DTP-28",
        _says(
            "4.2",
            "LTM_i defers the delivery U until |{R_i[k] | R_i[k] ≥ g}| ≥ F + 1 where g is the gsn of U.",
        ),
        "Delivery that waits until F + 1 of the R_i[k] are at least g is possible, and everything is "
        "delivered.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "The formula is the size of a set of values, and who has heard the same of two processes counts them "
        "once: with F = 1 two processes deliver nothing. Where processes are counted, as the next sentence "
        "(“F + 1 processes have obtained U”) has it, everything is delivered, but only if hgsn is what a "
        "process has obtained: section 3 calls it what was delivered, and then each waits for the other "
        "(reading `notified`).",
        (
            Check(DtpChecked, "Validity", "violated", (), (), _LIVE, 1),
            _fails("Validity", _LIVE, 1, ("count_processes",)),
            _all("Validity", _LIVE),
            _all("UniformAgreement", _LIVE),
            _fails("Validity", _with(_LIVE, notified="delivered"), 1),
        ),
        defect="text",
        repairs=("count_processes",),
    ),
    Claim(
        "DTP-29",
        _says("4.2", "When the condition is satisfied, it is certain that F + 1 processes have obtained U."),
        "When an update is delivered, F + 1 processes have obtained it, so that after F failures a process "
        "that is up still has it.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Where processes are counted (DTP-28), a REQ announces the gsn of an update that its sender lacks "
        "(DTP-05), and counts.",
        (
            _counted("Obtained", _RESILIENT, 4),
            _fails("Obtained", _RESILIENT, 4, ("advance_on_delivery",)),
            _all("Obtained", _RESILIENT),
            _fails("SurvivorHolds", _CRASH, 5, ("advance_on_delivery",), spec=DtpCrashing),
            _all("SurvivorHolds", _CRASH, spec=DtpCrashing),
        ),
        defect="text",
        repairs=("advance_on_delivery",),
    ),
    Claim(
        "DTP-30",
        _says("4.2", "Then as long as F or fewer sites fails, all lost messages can be recovered."),
        "After the failure of the holder somebody answers who lost a message.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "By DTP alone nobody does. The update is there (DTP-29), but who could answer is EMPT, or in TRST and"
        " named another one, and discards the REQ. What the group membership protocol, which the paper "
        "assumes, would have to do about it is not said. No repair here makes it true: it would take another "
        "right to answer than that of the holder.",
        (
            _fails("Recovers", _LOST, 5, spec=DtpCrashing),
            _all("SurvivorHolds", _LOST, spec=DtpCrashing),
            _all("SurvivorHolds", _CRASH, spec=DtpCrashing),
            _all("Recovers", _with(_LOST, crashes=0), spec=DtpCrashing),
        ),
        defect="design",
    ),
    Claim(
        "DTP-31",
        _says(
            "4.2",
            "The delivery service of the DTP protocol is identical to the agreed delivery service of the "
            "Totem protocol. When F is n-1, the total ordering service of the DTP protocol represents the "
            "safe delivery service of the Totem protocol",
        ),
        "With F = n - 1 an update is delivered only when all processes have obtained it; otherwise delivery "
        "is agreed delivery.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "With processes counted it is not safe, for the reason of DTP-29. As repaired, it is; and with F = 0 "
        "total order and agreement hold (DTP-02, DTP-18).",
        (
            _counted("SafeDelivery", _RESILIENT, 4),
            _fails("SafeDelivery", _RESILIENT, 4, ("advance_on_delivery",)),
            _all("SafeDelivery", _RESILIENT),
            _all("SafeDelivery", _SAFE, deep=True),
            _all("AllDelivered", _SAFE, length=11, deep=True),
        ),
        defect="text",
        repairs=("advance_on_delivery",),
    ),
)
"""Claims DTP-22 to DTP-31."""
