"""Comparisons of documents that speak of the same thing.

Each side is judged in its own record, and a comparison asks the same checks again (`_asked`). This module
holds the checks that no record asks.
"""

from __future__ import annotations

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, Measurement, Source, Standing
from antiphon.spec.claims.dtp import DTP
from antiphon.spec.claims.horus import HORUS
from antiphon.spec.claims.moving_sequencer import MOVING_SEQUENCER
from antiphon.spec.claims.rbp import RBP
from antiphon.spec.claims.rbp_resilient import RBP_RESILIENT
from antiphon.spec.claims.sequencer import SEQUENCER
from antiphon.spec.claims.total import TOTAL

_RECORDS = {
    claim.id: claim
    for claims in (MOVING_SEQUENCER, RBP, RBP_RESILIENT, SEQUENCER, TOTAL, DTP, HORUS)
    for claim in claims
}


def _asked(identifier: str, *properties: str, deep: bool = False) -> tuple[Check, ...]:
    """Return the checks of these properties that another record, the one with this identifier, asks; with
    `deep` those that take long.

    Raises:
        LookupError: that record asks none of a property.
    """
    checks = [item for item in _RECORDS[identifier].checks if isinstance(item, Check)]
    chosen = [item for item in checks if item.property in properties and (deep or not item.deep)]
    missing = set(properties) - {item.property for item in chosen}
    if missing:
        raise LookupError(f"{identifier} does not ask {', '.join(sorted(missing))}")
    return tuple(chosen)


COMPARISONS: tuple[Claim, ...] = (
    Claim(
        "X-01",
        Source(Document.SEQUENCER, "Motivation", "each member sends the message itself"),
        "The TOTAL that Ban describes, whose members multicast themselves, is not the one that “JavaGroups "
        "TOTAL” describes, whose sequencer broadcasts.",
        Standing.QUESTION,
        Kind.COMPOSITION,
        "holds",
        "“JavaGroups TOTAL” says: “When the sequencer receives such a broadcast request, it assigns a "
        "sequence id to the message and broadcasts it to the group.” There a message costs one unicast and "
        "one multicast of the sequencer, as in SEQUENCER; Ban's takes a round trip first.",
        (
            Measurement(
                "one unicast, one multicast",
                "SEQUENCER and JavaGroups' TOTAL: 1 unicast and 1 multicast a message of a member",
                "holds",
            ),
        ),
    ),
    Claim(
        "X-03",
        Source(
            Document.DTP,
            "3",
            "U becomes stable after the message MSG(U, U_id) and n-1 subsequent messages are acknowledged.",
        ),
        "The bound of CM as Kim and Kim state it and that of the RBP report's text are one; figure 25 waits "
        "for one acknowledgement more.",
        Standing.QUESTION,
        Kind.BOUND,
        "holds",
        "n - 1 acknowledgements after number j make the highest number k = j + n - 1, and the text calls "
        "stable what is at most k - n + 1 = j. Fewer do not suffice. Figure 25, line 75, asks for less than "
        "ts - n + 1 (RBP-22).",
        (
            *_asked("DTP-24", "StableAfterRound", "HoldersNoMore"),
            *_asked("RBP-21", "StableAtAll"),
            *_asked("RBP-22", "DeliveredAtTheBound", "HeldByEnough"),
        ),
    ),
    Claim(
        "X-04",
        Source(
            Document.DTP,
            "4.2",
            "LTM_i passes the token without ordering any message in order to bound the stability time.",
        ),
        "An acknowledgement of NULL that has a number of its own cannot be taken for another one; one that "
        "repeats the last number gives the token twice.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "DTP's NULL repeats the last gsn, and two processes hold the token (DTP-01); with the passes "
        "numbered (`number_passes`) one does. RBP's NULL takes a number. That is what lets a process "
        "recognise an old token, and is not enough if it does not compare (RBP-06); and what has a number "
        "and no body must be passed over at delivery (RBP-43).",
        (
            *_asked("DTP-01", "OneHolder"),
            *_asked("RBP-06", "OneHolder"),
            *_asked("RBP-43", "Validity"),
        ),
    ),
    Claim(
        "X-05",
        Source(
            Document.RBP,
            "3.2.2",
            "if we want to tolerate k-1 failures, we should ensure that the message was received by at least "
            "k processes",
        ),
        "Kim and Kim's F-resilience, the report's k-resiliency with k = F + 1 and delivery after F + 1 token "
        "passings promise the same, and with all processes what Totem calls safe.",
        Standing.QUESTION,
        Kind.BOUND,
        "holds",
        "In each, F + 1 processes have what is delivered, so that after F failures one that is up has it; "
        "after F + 1 none need have it. Where all have it, what is delivered is what everybody that stays "
        "delivers too: the uniform properties.",
        (
            *_asked("RBP-26", "DeliveredSurvives"),
            *_asked("RBP-27", "DeliveredSurvives"),
            *_asked("RBP-23", "HeldByEnough", "UniformTotalOrder"),
            *_asked("DTP-29", "Obtained", "SurvivorHolds"),
            *_asked("DTP-38", "StableIsDelivered"),
        ),
    ),
    Claim(
        "X-06",
        Source(
            Document.RBP,
            "3.2.1",
            "if both sequencer and next sequencer fail at the same time, the token is lost and no alive "
            "process is directly concerned in monitoring the failures",
        ),
        "A lost token blocks RBP and DTP until the group is changed, and blocks Horus' TOTAL until the next "
        "view.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "RBP needs Reformation and a process that calls it (RBP-32); DTP says nothing of it and stands still "
        "(DTP-30); Horus' TOTAL goes on with the next view, and without one waits for ever (HOR-13). TOTAL "
        "and SEQUENCER have no token: what is lost with their sequencer is their matter (SEQ-11, TOT-17).",
        (
            *_asked("RBP-32", "TokenLost", "GoesOnOrNoticed"),
            *_asked("DTP-30", "Recovers"),
            *_asked("HOR-13", "Validity", "Agreement"),
        ),
    ),
    Claim(
        "X-07",
        Source(
            Document.TOTAL,
            "Future Improvements",
            "does not know if there is a suffix of messages that needs to be retransmitted",
        ),
        "The last number, once lost to a process, stays lost in TOTAL and in figure 12; NAK and figure 16 "
        "tell every process of it.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "In TOTAL no later message shows the gap (TOT-18), and the remedies that it names help (TOT-19); "
        "figure 12 keeps the token where there is nothing to sequence (MSQ-09). NAK's status tells what was "
        "cast (HOR-07); RBP's sequencer sends its ACK until the next one accepts and passes NULL on, so that "
        "every process is told a later number (RBP-16). SEQUENCER leaves it to NAKACK, and where its "
        "coordinator dies a last message stays lost too (SEQ-09). DTP, CM, Pinwheel and Totem are not asked.",
        (
            *_asked("TOT-18", "Agreement"),
            *_asked("TOT-19", "Agreement"),
            *_asked("HOR-07", "UniformAgreement"),
            *_asked("RBP-16", "Validity"),
            *_asked("MSQ-09", "UniformAgreement"),
        ),
    ),
    Claim(
        "X-08",
        Source(
            Document.SEQUENCER,
            "Motivation",
            "The downside is that all message are now routed via the coordinator, which makes the latter the "
            "bottleneck.",
        ),
        "A fixed sequencer orders everything; where the token goes round, everybody orders its share.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Counted on loss-free runs of the specifications. How many messages a second a network carries then, "
        "no model says.",
        (
            Measurement(
                "who orders",
                "SEQUENCER and TOTAL: one member numbers every message; figure 16: of n members nobody "
                "numbers more than one in n, rounded up",
                "holds",
            ),
        ),
    ),
    Claim(
        "X-09",
        Source(
            Document.DTP,
            "3",
            "LTM_t is allowed to acknowledge a new message after receiving all the messages already "
            "acknowledged.",
        ),
        "CM as Kim and Kim describe it and RBP as the report describes it number and pass on alike.",
        Standing.QUESTION,
        Kind.COMPOSITION,
        "holds",
        "As far as both speak: who acknowledges has all that was acknowledged before, numbers have no gaps, "
        "a source has one message outstanding, and stability is one bound (X-03); both refine the same "
        "machine (X-10). They are not one protocol: CM as described delivers a message as soon as it has its "
        "number, which nobody else need have, and figure 25 holds it back until enough have it (RBP-23). Kim "
        "and Kim do not say who answers a request; the report's figures let anybody answer who has the "
        "message.",
        (
            *_asked("RBP-37", "HolderHasAll"),
            *_asked("DTP-24", "HoldersGrow", "UniformPrefixOrder"),
            *_asked("RBP-14", "SenderOrder"),
        ),
    ),
)
