"""Claims of the RBP report on RMP and TRMP, which followed RBP.

The report describes both in a few sentences; what it leaves open is taken from RBP's normal phase. A failure
ends in Reformation, which these models do not contain, so properties that are promised for ever are checked
without failures.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.claims.rbp_resilient import RBP_RESILIENT
from antiphon.spec.protocols.rmp.properties import RingsChecked, RmpChecked

_Constants = Mapping[str, int | bool | str]

_PAIR: _Constants = {"processes": 2, "messages": 2, "views": 1, "highest": 3, "crashes": 0}
_TWO_IN_ONE: _Constants = {**_PAIR, "batch": 2, "level": 2}
_RING: _Constants = {"processes": 3, "messages": 1, "views": 1, "highest": 3}
_ORDERED: _Constants = {**_RING, "messages": 2}
_RINGS: _Constants = {"processes": 3, "messages": 1, "views": 1, "highest": 3, "primaries": 2, "crashes": 0}
_REMOTE: _Constants = {**_RINGS, "crashes": 1, "remote": True}
_SHORT: _Constants = {**_RINGS, "highest": 2}


def _level(
    property: str, outcome: RecordedOutcome, of: _Constants, length: int | None = None, **more: int | str
) -> Check:
    return Check(RmpChecked, property, outcome, constants={**of, **more}, length=length)


def _rings(
    property: str,
    outcome: RecordedOutcome,
    of: _Constants,
    length: int | None = None,
    *,
    repairs: str | tuple[str, ...] = "all",
    **more: int,
) -> Check:
    return Check(RingsChecked, property, outcome, repairs, constants={**of, **more}, length=length)


def _says(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


_AFTER_REFORMATION = tuple(
    check
    for claim in RBP_RESILIENT
    if claim.id == "RBP-28"
    for check in claim.checks
    if isinstance(check, Check) and check.property in ("Figure26", "UniformPrefixOrder")
)
"""Checks of the order when a process that delivered is cut off, and the list made anew without it."""

RMP: tuple[Claim, ...] = (
    Claim(
        "RMP-01",
        _says("4.2", "RMP can provide n-resiliency, majority resiliency, and even unreliable deliver."),
        "At each level as many processes have a message as the level says when it is delivered; while nobody "
        "fails, the order is total and uniform at every level above unreliable delivery.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "With one number an acknowledgement; with several, what is counted matters (RMP-04). With failures "
        "the level where one process has the message does not keep the order: if that one is cut off, the "
        "next list gives the number to another message, as section 4.2 says of figure 26 (RBP-28). A "
        "majority keeps it.",
        (
            *(_level("HeldByEnough", "holds", _RING, level=level, crashes=2) for level in (1, 2, 3)),
            *(
                _level(property, "holds", _PAIR, level=level)
                for level in (1, 2)
                for property in ("UniformTotalOrder", "UniformPrefixOrder", "UniformIntegrity")
            ),
            _level("AllDelivered", "holds", _PAIR, 12, level=1),
            _level("AllDelivered", "holds", _PAIR, 18, level=2),
            *_AFTER_REFORMATION,
        ),
    ),
    Claim(
        "RMP-02",
        _says(
            "4.2",
            "Unreliable deliver such provided by RMP can only be executed if the application does not "
            "require consistency among the processes.",
        ),
        "At the level of unreliable delivery neither order nor agreement is promised.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "If it means that what is received is delivered: two processes receive two messages in different "
        "orders, and a message that one of them collected before the other received it is gone.",
        (
            _level("UniformTotalOrder", "violated", _PAIR, 8, level=0),
            _level("UniformAgreement", "violated", _PAIR, 15, level=0),
            _level("UniformIntegrity", "holds", _PAIR, level=0),
        ),
    ),
    Claim(
        "RMP-03",
        _says("4.2", "the application can define the level of resiliency it wants"),
        "With majority resiliency what was delivered survives the failure of every minority, and need not "
        "survive that of a majority.",
        Standing.IMPLIED,
        Kind.BOUND,
        "holds",
        "Two of three have it: one failure leaves one. With total resiliency it survives as long as anybody "
        "does.",
        (
            _level("DeliveredSurvives", "holds", _RING, level=2, crashes=1),
            _level("AllDelivered", "holds", _RING, 12, level=2, crashes=1),
            _level("DeliveredSurvives", "violated", _RING, 8, level=2, crashes=2),
            _level("DeliveredSurvives", "holds", _RING, level=3, crashes=2),
            _level("DeliveredSurvives", "violated", _RING, 4, level=1, crashes=2),
        ),
    ),
    Claim(
        "RMP-04",
        _says("3.3.1", "acknowledgement of multiple messages in a single ack"),
        "What follows from the numbers in RBP, that number k is stable when ts is at least k + n - 1, "
        "follows where an acknowledgement has several numbers.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "One turn of one process may use up n numbers: it takes a message for stable that nobody else has, "
        "removes it, and delivers it. Counted must be the acknowledgements since (reading `counted`).",
        (
            _level("CollectedAtAll", "violated", _TWO_IN_ONE, 5),
            _level("HeldByEnough", "violated", _TWO_IN_ONE, 6),
            _level("UniformAgreement", "violated", _TWO_IN_ONE, 6),
            *(
                _level(property, "holds", _TWO_IN_ONE, counted="acknowledgements")
                for property in (
                    "CollectedAtAll",
                    "HeldByEnough",
                    "UniformAgreement",
                    "UniformTotalOrder",
                    "UniformPrefixOrder",
                    "UniformIntegrity",
                )
            ),
            _level("TwoInOneAck", "holds", _TWO_IN_ONE, 4, counted="acknowledgements"),
            _level("AllDelivered", "holds", _TWO_IN_ONE, 16, counted="acknowledgements"),
        ),
        defect="text",
    ),
    Claim(
        "RMP-05",
        _says("3.3.1", "While RMP's Reformation is compliant with the virtually synchronous execution model"),
        "RMP's Reformation gives virtual synchrony.",
        Standing.STATED,
        Kind.SAFETY,
        "unknown",
        "By reading: the report says that it does and that it is a three-phase commit, and nothing of what "
        "it does.",
    ),
    Claim(
        "RMP-06",
        _says("3.3.2", "This avoids a long stabilization time"),
        "Where only the processes of a smaller ring acknowledge, a message is delivered everywhere after "
        "fewer acknowledgements.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "After as many as the ring has members: two of three processes in the ring, two acknowledgements.",
        (
            _rings("AllDelivered", "holds", _SHORT, 15),
            _rings("AllDelivered", "unknown", _SHORT, primaries=3),
        ),
    ),
    Claim(
        "RMP-07",
        _says(
            "3.3.2",
            "reduces the probability that the system stops due to the failure of a remote process",
        ),
        "The failure of a process that is not in the ring stops nothing.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "In one ring of all, the failure of any member does.",
        (
            _rings("PrimariesDeliver", "holds", _REMOTE),
            _rings("PrimariesDeliver", "violated", {**_RINGS, "crashes": 1}, 2, primaries=3),
        ),
    ),
    Claim(
        "RMP-08",
        _says("3.3.2", "the lower ring receives retransmissions from the higher ring"),
        "With RBP's rule of when a message leaves the buffers, everybody below the ring can still get it.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "Stable is what the members of the ring have. They remove it, and a process below that has missed it "
        "asks in vain. Who retransmits must keep a message until those whom it serves have it.",
        (
            _rings("UniformAgreement", "violated", _SHORT, 9, repairs=()),
            _rings("UniformAgreement", "holds", _RINGS),
            _rings("UniformAgreement", "holds", _REMOTE),
        ),
        defect="text",
        repairs=("keep_for_lower",),
    ),
    Claim(
        "RMP-09",
        _says("3.3.2", "the Reformation is done by a centralized “reformation server”."),
        "A redundant reformation server takes over when the first fails.",
        Standing.STATED,
        Kind.LIVENESS,
        "unknown",
        "By reading: “There are redundant reformation servers in case of failures.” Nothing is said of how "
        "one of them learns of the failure, nor of what keeps two of them from making two lists.",
    ),
    Claim(
        "RMP-10",
        _says(
            "3.3.2",
            "secondary sources can participate by sending messages to primary sources, which will insert "
            "them in the primary token ring",
        ),
        "What a process below the ring sends is delivered by all, in the one order.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Its primary inserts it; it is one more message of the ring.",
        (
            _rings("FromBelow", "holds", _RINGS, 16),
            _rings("Validity", "holds", {**_RINGS, "highest": 5}),
            _rings("UniformAgreement", "holds", {**_RINGS, "highest": 5}),
            _rings("UniformTotalOrder", "holds", _RINGS, messages=2),
            _rings("UniformPrefixOrder", "holds", _RINGS, messages=2),
            _rings("UniformIntegrity", "holds", _RINGS, messages=2),
        ),
    ),
)
