"""Claims of the report on the moving sequencer (figure 12)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
from antiphon.spec.protocols.moving_sequencer.induction import MovingSequencerProof
from antiphon.spec.protocols.moving_sequencer.properties import (
    MovingSequencerChecked,
    MovingSequencerCrashing,
)

_ONE = {"processes": 2, "messages": 1, "losses": 1}
_SPARE = {"processes": 2, "messages": 1, "losses": 1, "spare": 1}
_TWO = {"processes": 2, "messages": 2, "losses": 1, "urgent": True}
_SURE = {"processes": 2, "messages": 2, "losses": 0, "urgent": True}
_SURE_RING = {"processes": 3, "messages": 1, "losses": 0, "urgent": True}
_UNRELIABLE: dict[str, Any] = {"processes": 2, "messages": 1, "losses": 2, "sending": "send"}
_RING = {"processes": 3, "messages": 1, "losses": 1, "urgent": True}
_STOPPED = {"processes": 3, "messages": 2, "losses": 1, "crashes": 1, "urgent": True, "prompt": True}
_EVERY_ORDER = {"processes": 3, "messages": 1, "losses": 1}


def _check(
    property: str, outcome: RecordedOutcome, *without: str, length: int | None = None, **constants: int | str
) -> Check:
    return Check(MovingSequencerChecked, property, outcome, "all", without, constants, length)


def _proved(property: str) -> Proof:
    """Return the proof of a property of the repaired figure, for which the numbers suffice."""
    every = ("processes", "messages", "losses")
    return Proof(MovingSequencerProof, property, every, repairs="all", deep=True)


def _three(*properties: str) -> tuple[Check, ...]:
    """Return checks of the repaired figure with three processes: quick ones, in which local steps come at
    once, and ones with every order of steps, which only `antiphon claims --deep` runs.
    """
    quick = tuple(replace(_check(property, "holds", **_RING), long_for_z3=True) for property in properties)
    return quick + tuple(
        replace(_check(property, "holds", **_EVERY_ORDER), deep=True) for property in properties
    )


def _stopped(property: str, *without: str, length: int | None = None) -> Check:
    """Return a check of the moving sequencer with three processes and two messages, where one process may
    stop.
    """
    found = Check(MovingSequencerCrashing, property, "holds", "all", without, _STOPPED, length)
    return replace(found, long_for_z3=True)


_ORDERED = ("UniformPrefixOrder", "UniformIntegrity")

MOVING_SEQUENCER: tuple[Claim, ...] = (
    Claim(
        "MSQ-01",
        Source(
            Document.RBP,
            "3.1.2",
            "This scheme ensures that the sequence number assigned to each message is globally unique "
            "because the last sequence number assigned is transmitted with the token, and only the process "
            "that has the token can assign a new number.",
            figure="12",
            lines="17-20",
        ),
        "No two messages get the same number.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "In every reading. (That a message gets one number only is MSQ-02.)",
        (
            Check(MovingSequencerChecked, "UniqueMessages", "holds", ("start_token",), constants=_TWO),
            _check("UniqueMessages", "holds", **_TWO),
            _check("UniqueMessages", "holds", **_TWO, already_sequenced="nothing"),
            _check("UniqueMessages", "holds", **_TWO, recording="when missing"),
            _check("AllDelivered", "holds", **_ONE, already_sequenced="nothing", length=9),
            _check("TokenHeld", "holds", **_ONE, length=1),
            Check(MovingSequencerChecked, "AllDelivered", "holds", ("start_token",), (), _ONE, 8),
        ),
    ),
    Claim(
        "MSQ-02",
        Source(
            Document.RBP,
            "3.1.2",
            "If process q is the token holder, it will first check if there is no missing messages (lines "
            "8–11) or missing sequence numbers (lines 12–16).",
            figure="12",
            lines="8, 11",
        ),
        "The holder notices every number that it missed, so that figure 12 provides total order and "
        "integrity.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "nextdeliver is the next number, so a missed last number shows as token.seqnum = nextdeliver, and "
        "line 8 tests `>`. The holder then gives a second number to a message that has one, and the message "
        "is delivered twice. Where delivery does not wait for the message itself (MSQ-05), prefix order "
        "fails too. With one sequence for all, and no message twice in it, total order needs no check of "
        "its own. Order is checked between two processes, for one message has none, and between three of "
        "which one may stop, where what is sent reliably comes first (`prompt`): without that, three with "
        "two messages have more than 66 million states even where nothing is lost. Repaired, one token, one "
        "number a message, integrity and pairwise order are proved for every number of processes, messages "
        "and losses, as long as the numbers suffice: that they do is a count, and is not proved.",
        (
            Check(
                MovingSequencerChecked,
                "UniqueNumbers",
                "violated",
                ("start_token",),
                constants=_SPARE,
                length=10,
            ),
            _check(
                "UniformIntegrity", "violated", "wait_for_missing_number", "answer_last", **_SPARE, length=13
            ),
            _check("UniformPrefixOrder", "violated", "await_body", **_TWO, length=15),
            _check("UniqueNumbers", "holds", **_TWO),
            _check("UniformIntegrity", "holds", **_TWO),
            _check("UniformPrefixOrder", "holds", **_TWO),
            _check("NumberMissed", "holds", **_ONE, length=7),
            _check("AllDelivered", "holds", **_TWO, length=18),
            _check("UniformAgreement", "holds", "pass_idle_token", **_SURE),
            _check("Validity", "holds", "pass_idle_token", **_SURE),
            _check("NothingInFlight", "holds", "pass_idle_token", **_SURE),
            *_three("UniformIntegrity"),
            *(_stopped(name, "pass_idle_token") for name in _ORDERED),
            _stopped("OthersDeliver", "pass_idle_token", length=19),
            *(replace(_stopped(name), deep=True) for name in _ORDERED),
            *map(_proved, ("OneToken", "UniqueNumbers", "UniformIntegrity", "UniformOrderOfPairs")),
        ),
        defect="text",
        repairs=("start_token", "wait_for_missing_number", "await_body"),
    ),
    Claim(
        "MSQ-03",
        Source(
            Document.RBP,
            "3.1.2",
            "for all {id(m'),seqnum} in seqQp s.t. first ≤ seqnum < last",
            figure="12",
            lines="33 (second)",
        ),
        "A request for the numbers first to last is answered with all that block the asker.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "The last number is left out, here and not in figures 16 and 25. A holder that misses just "
        "token.seqnum, and notices it, asks for an empty range for ever.",
        (
            _check("UniformAgreement", "violated", "answer_last", **_ONE, length=7),
            _check("UniformAgreement", "holds", **_ONE),
        ),
        defect="text",
        repairs=("answer_last",),
    ),
    Claim(
        "MSQ-04",
        Source(
            Document.RBP, "3.1.2", "pick the first m' in rcvQs ∉ token.sequenced", figure="12", lines="17"
        ),
        "A message is sequenced once; `token.sequenced`, which no line defines, is the set of messages that "
        "have numbers.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "With the holder's own seqQ for the undefined set, since the holder knows all numbers (MSQ-02). If "
        "nothing is excluded, the same message is numbered again.",
        (
            _check("UniqueNumbers", "holds", **_SPARE),
            _check("UniqueNumbers", "violated", **_SPARE, already_sequenced="nothing", length=12),
        ),
    ),
    Claim(
        "MSQ-05",
        Source(
            Document.RBP,
            "3.1.2",
            "they wait until a tuple in seqQ corresponds to the next expected message (line 35), and only "
            "then deliver that message (lines 36)",
            figure="12",
            lines="35-36",
        ),
        "A message that is delivered has been received.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "The number can arrive before the message. The tuple is in seqQ, so line 36 delivers what is not "
        "there.",
        (
            Check(
                MovingSequencerChecked,
                "UniformIntegrity",
                "violated",
                ("start_token",),
                constants=_ONE,
                length=7,
            ),
            _check("UniformIntegrity", "violated", "await_body", **_ONE, length=7),
            _check("UniformIntegrity", "holds", **_ONE),
            _check("AllDelivered", "holds", **_ONE, length=9),
            _proved("UniformIntegrity"),
        ),
        defect="text",
        repairs=("start_token", "await_body"),
    ),
    Claim(
        "MSQ-06",
        Source(
            Document.RBP,
            "3.1.2",
            "If these verifications fail, then q requests the lost messages until the verification is "
            "successful.",
            figure="12",
            lines="8-15",
        ),
        "The first loop ends, although it waits for deliveries that need messages which only the second loop "
        "asks for.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "Because the message itself is sent with the reliable SEND (line 3), and a receiver asks once on its "
        "own (line 30). If line 3 is read as `send`, it ends too, by a way that no line mentions: the answer "
        "to the first loop brings the number once more, and with it line 30's request for the message. With "
        "lines 8 and 35 repaired the second loop has nothing left to ask for: whoever leaves the first has "
        "delivered everything that is numbered.",
        (
            _check("Validity", "holds", **_ONE),
            _check("UniformAgreement", "holds", **_ONE),
            _check("Validity", "holds", **_UNRELIABLE),
            _check("UniformAgreement", "holds", **_UNRELIABLE),
            replace(_check("UniformAgreement", "holds", **_RING, sending="send"), long_for_z3=True),
        ),
    ),
    Claim(
        "MSQ-07",
        Source(
            Document.RBP,
            "3.1.2",
            "it will first check if there is no missing messages (lines 8–11) or missing sequence numbers "
            "(lines 12–16)",
            figure="12",
            lines="8-16",
        ),
        "Lines 8-11 check messages and lines 12-16 numbers.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "By reading: the lines do it the other way round, and line 16 adds to seqQ a tuple that line 12 "
        "found there. No behaviour depends on the sentence.",
        defect="text",
    ),
    Claim(
        "MSQ-08",
        Source(
            Document.RBP,
            "3.1.3",
            "Aggregating such functions in a single message (the token), a “step” of communication in RBP is "
            "reduced to two messages",
            figure="12",
        ),
        "Figure 12 sends more messages a step than RBP's two: a number and a token beside the message, and "
        "the acknowledgements of SEND.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "RBP: counted on the simulated network. Figure 12: message, number and token, and one "
        "acknowledgement for each copy of a SEND, counted on a loss-free run of the specification.",
        (
            Measurement(
                "messages a step", "figure 16: 2; figure 12: 3, and n acknowledgements of SEND", "holds"
            ),
        ),
    ),
    Claim(
        "MSQ-09",
        Source(
            Document.RBP,
            "3.1.2",
            "process s has no way to know that a message was lost, because it didn't get enough information "
            "to detect the lost",
            figure="12",
        ),
        "A missing number is noticed only when a later one arrives.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "So the last number, once lost, stays lost to a process that the token does not reach: line 17 keeps "
        "the token where there is nothing to sequence. Agreement fails; a holder that passes the idle token "
        "repairs it. Where nothing is lost, nobody needs it to.",
        (
            _check("UniformAgreement", "violated", "pass_idle_token", **_EVERY_ORDER, length=7),
            _check("UniformAgreement", "holds", **_ONE),
            _check("UniformAgreement", "holds", "pass_idle_token", **_SURE_RING),
            *_three("UniformAgreement", "Validity"),
        ),
        repairs=("pass_idle_token",),
    ),
    Claim(
        "MSQ-10",
        Source(
            Document.RBP,
            "3.1.2",
            "seqQp ← seqQp ∪ {(id(m);seqnum)}",
            figure="12",
            lines="31 (first)",
        ),
        "A receiver records every number that it is told.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "As the text says. As it is aligned in print, line 31 belongs to the `if` of line 29: a process that "
        "has the message already forgets its number, and never delivers it.",
        (
            _check("UniformAgreement", "holds", **_ONE),
            _check("UniformAgreement", "violated", **_ONE, recording="when missing", length=7),
            _check("AllDelivered", "holds", **_ONE, recording="when missing", length=9),
        ),
    ),
)
