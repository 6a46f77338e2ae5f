"""Claims of the report on reliable broadcast by a token (figures 2 and 5)."""

from __future__ import annotations

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, Measurement, Proof, Source, Standing
from antiphon.spec.protocols.token_broadcast.induction import Figure2Proof, Figure5Proof
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked, Figure5Checked

_SMALL = {"processes": 2, "messages": 1, "losses": 1}
_TWO_LOST = {"processes": 2, "messages": 2, "losses": 2}
_THREE = {"processes": 3, "messages": 2, "losses": 1}
_RING = {"processes": 3, "messages": 1, "losses": 1}
_ONE_LOST = {"processes": 2, "messages": 2, "losses": 1}
_SURE = {"processes": 2, "messages": 2, "losses": 0}
_LARGER = {"processes": 3, "messages": 2, "losses": 0}


_EVERY = ("processes", "messages", "losses")
_RING_ORDER = ("Process is totally ordered", "next(receive_token.p) is next, round the ring")


def _three(*properties: str) -> tuple[Check, ...]:
    """Return checks of the repaired figure 5 with three processes: with a message and a loss, and, deep, with
    two messages and no loss.
    """
    quick = tuple(
        Check(Figure5Checked, property, "holds", "all", constants=_RING, long_for_z3=True)
        for property in properties
    )
    return quick + tuple(
        Check(Figure5Checked, property, "holds", "all", constants=_LARGER, deep=True)
        for property in properties
    )


TOKEN_BROADCAST: tuple[Claim, ...] = (
    Claim(
        "RBC-01",
        Source(
            Document.RBP,
            "3.1.1",
            "This way, processes use the token to verify the “history” of delivered messages, and by this "
            "reason, all processes eventually deliver a message, according to the Reliable Broadcast "
            "properties.",
            figure="2",
            lines="1-21",
        ),
        "Figure 2 provides reliable broadcast: Validity, Uniform Agreement, Uniform Integrity.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "The token brings a message that is also still in flight; line 20 delivers it again when it arrives. "
        "Agreement and Validity hold once the token starts. Where nothing is lost, they hold without it: "
        "receivers deliver what arrives.",
        (
            Check(
                Figure2Checked, "UniformIntegrity", "violated", ("start_token",), constants=_SMALL, length=4
            ),
            *(
                Check(Figure2Checked, name, "holds", ("start_token", "deliver_once"), constants=_ONE_LOST)
                for name in ("UniformIntegrity", "UniformAgreement", "Validity")
            ),
            Check(Figure2Checked, "UniformAgreement", "holds", constants=_SURE),
            Check(Figure2Checked, "UniformIntegrity", "holds", constants=_SURE),
            Check(Figure2Checked, "UniformIntegrity", "holds", "all", constants=_THREE),
            Check(Figure2Checked, "UniformAgreement", "holds", "all", constants=_THREE),
            Check(Figure2Checked, "Validity", "holds", "all", constants=_THREE),
            Check(Figure2Checked, "AllDelivered", "holds", "all", constants=_THREE, length=5),
            Proof(Figure2Proof, "UniformIntegrity", _EVERY, repairs="all", deep=True),
        ),
        defect="text",
        repairs=("start_token", "deliver_once"),
    ),
    Claim(
        "RBC-02",
        Source(Document.RBP, "3.1.1", "send (m) to all", figure="2", lines="3"),
        "Validity of figure 2, in which a message is sent once, unreliably.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "With the own copy there at once the sender itself delivers. If the own copy travels like the "
        "others, losing all copies loses the message: Validity then rests on the loopback being reliable, "
        "which the figure does not say.",
        (
            Check(
                Figure2Checked,
                "Validity",
                "holds",
                ("start_token",),
                constants={"processes": 2, "messages": 1, "losses": 2},
            ),
            Check(
                Figure2Checked,
                "Validity",
                "violated",
                ("start_token",),
                constants={"processes": 2, "messages": 1, "losses": 2, "own_copy": "by network"},
                length=3,
            ),
        ),
    ),
    Claim(
        "RBC-03",
        Source(
            Document.RBP,
            "3.1.1",
            "If they were not, q delivers the “missing” messages, append new ones to the token and passes it "
            "away. This ensures that all processes that receive the token will deliver a message",
            figure="2",
            lines="7-13",
        ),
        "Whoever receives the token of figure 2 delivers what it misses, so that every process has delivered "
        "a message when the token is back at the process that listed it.",
        Standing.STATED,
        Kind.BOUND,
        "violated",
        "Line 8 is an `if` about one m', where the text has messages: a process that missed two listed "
        "messages delivers one and passes the token on. With every missing message delivered the sentence is "
        "true. So is the one about the scheme before it, which is conditional (“If each process q that "
        "receives the token delivers the message m attached to the token”): figure 2 breaks its condition.",
        (
            Check(
                Figure2Checked,
                "ReturnMeansDelivered",
                "violated",
                ("start_token",),
                constants=_TWO_LOST,
                length=5,
            ),
            Check(
                Figure2Checked,
                "ReturnMeansDelivered",
                "violated",
                "all",
                ("recover_all",),
                constants=_TWO_LOST,
                length=5,
            ),
            Check(Figure2Checked, "ReturnMeansDelivered", "holds", "all", constants=_TWO_LOST),
            Check(Figure2Checked, "ReturnMeansDelivered", "holds", "all", constants=_THREE),
            Proof(Figure2Proof, "ReturnMeansDelivered", _EVERY, _RING_ORDER, "all", deep=True),
            Check(Figure2Checked, "TokenReturns", "holds", "all", constants=_THREE, length=5),
        ),
        defect="text",
        repairs=("start_token", "recover_all"),
    ),
    Claim(
        "RBC-04",
        Source(
            Document.RBP,
            "3.1.1",
            "As the token.delivered list should include all delivered messages, soon the token message "
            "becomes very large.",
            figure="2",
        ),
        "The list in the token of figure 2 grows with the whole history and never shrinks.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "A run lists every message there is; nothing removes one.",
        (Check(Figure2Checked, "TokenListsAll", "holds", "all", constants=_THREE, length=3),),
    ),
    Claim(
        "RBC-05",
        Source(
            Document.RBP,
            "3.1.1",
            "If the token holder has missed a message m, it sends a retransmission request, and waits until "
            "this message is received",
            figure="5",
            lines="8-14, 23-26",
        ),
        "In figure 5 a message that the holder asked for is delivered once.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Two ways, by reception twice: a process that hears of a message before it arrives asks for it, and "
        "line 25 delivers both copies (the shortest trace). And the holder's own: line 25 delivers the "
        "answer, line 13 delivers it again. So does one that is answered by two processes.",
        (
            Check(
                Figure5Checked, "UniformIntegrity", "violated", ("start_token",), constants=_SMALL, length=8
            ),
            Check(
                Figure5Checked,
                "UniformIntegrity",
                "violated",
                "all",
                ("deliver_once",),
                constants=_SMALL,
                length=8,
            ),
            Check(Figure5Checked, "UniformIntegrity", "holds", "all", constants=_SMALL),
            Proof(Figure5Proof, "UniformIntegrity", _EVERY, repairs="all", deep=True),
            Check(Figure5Checked, "Recovered", "holds", "all", constants=_SMALL, length=6),
        ),
        defect="text",
        repairs=("start_token", "deliver_once"),
    ),
    Claim(
        "RBC-06",
        Source(
            Document.RBP,
            "3.1.1",
            "If we require that a process only passes the token away after having delivered all previous "
            "messages (that means, after having acquired the missing messages), this protocol provides "
            "Reliable Broadcast as well.",
            figure="5",
            lines="7-18",
        ),
        "Figure 5 provides reliable broadcast over unreliable channels.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "Integrity fails: what is asked for is delivered twice (RBC-05). Once that is repaired, the rest "
        "holds. The figure does not meet the condition of the sentence, since line 8 is an `if` about one "
        "m', and the holder passes the token although it misses another listed message (RBC-09); but "
        "reliable broadcast does not rest on it: within these bounds it holds whether or not all are "
        "recovered before line 15, since what a holder passes over it asks for in a later round.",
        (
            Check(
                Figure5Checked,
                "UniformIntegrity",
                "violated",
                ("start_token",),
                constants=_TWO_LOST,
                length=8,
            ),
            *(
                Check(Figure5Checked, name, "holds", ("start_token", "deliver_once"), constants=_TWO_LOST)
                for name in ("UniformIntegrity", "UniformAgreement", "Validity")
            ),
            Check(Figure5Checked, "UniformIntegrity", "holds", "all", constants=_TWO_LOST),
            Check(Figure5Checked, "UniformAgreement", "holds", "all", constants=_TWO_LOST),
            Check(Figure5Checked, "Validity", "holds", "all", constants=_TWO_LOST),
            Check(Figure5Checked, "AllDelivered", "holds", "all", constants=_TWO_LOST, length=4),
            *_three("UniformIntegrity", "UniformAgreement", "Validity"),
            Proof(Figure5Proof, "UniformIntegrity", _EVERY, repairs="all", deep=True),
        ),
        defect="text",
        repairs=("start_token", "deliver_once"),
    ),
    Claim(
        "RBC-07",
        Source(
            Document.RBP,
            "3.1.1",
            "if the network behaves well most of the time (as it normally happens in a LAN), the number of "
            "nack is insignificant if we compare with an ack solution",
        ),
        "Negative acknowledgements are few when few messages are lost: about loss x (n - 1) a message, "
        "against n - 1 acknowledgements.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "Counted on the simulated network for the implementation of figure 16, which asks for what it misses "
        "in the same way.",
        (
            Measurement(
                "nacks",
                "requests for bodies per message between 0.5 and 2 times loss x (n - 1), below a tenth of n "
                "- 1",
                "holds",
            ),
        ),
    ),
    Claim(
        "RBC-08",
        Source(Document.RBP, "3.1.1", "Upon reception of token from s-1 mod n", figure="2", lines="7"),
        "The token of figures 2, 5 and 12 rotates.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "Whoever holds the token received it, and the initialisation gives it to nobody. In the literal "
        "figures nothing that needs the token ever happens; every claim about them is judged with "
        "`start_token`.",
        (
            Check(Figure2Checked, "TokenReturns", "unknown", constants=_SMALL),
            Check(Figure5Checked, "Recovered", "unknown", constants=_SMALL),
            Check(Figure2Checked, "TokenReturns", "holds", ("start_token",), constants=_SMALL, length=4),
            Check(Figure5Checked, "Recovered", "holds", ("start_token",), constants=_SMALL, length=6),
        ),
        defect="text",
        repairs=("start_token",),
    ),
    Claim(
        "RBC-09",
        Source(
            Document.RBP,
            "3.1.1",
            "a process only passes the token away after having delivered all previous messages (that means, "
            "after having acquired the missing messages)",
            figure="5",
            lines="8-15",
        ),
        "Figure 5 meets the condition under which it is said to provide reliable broadcast.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Line 8 is an `if` about one m': a holder that misses two listed messages asks for one, and passes "
        "the token. Reliable broadcast does not need the condition (RBC-06).",
        (
            Check(
                Figure5Checked,
                "ListedWherePassed",
                "violated",
                ("start_token",),
                constants=_TWO_LOST,
                length=9,
            ),
            Check(
                Figure5Checked,
                "ListedWherePassed",
                "violated",
                "all",
                ("recover_all",),
                constants=_TWO_LOST,
                length=9,
            ),
            Check(Figure5Checked, "ListedWherePassed", "holds", "all", constants=_TWO_LOST),
            *_three("ListedWherePassed"),
            Proof(Figure5Proof, "ListedWherePassed", _EVERY, repairs="all", deep=True),
        ),
        defect="text",
        repairs=("recover_all",),
    ),
)
