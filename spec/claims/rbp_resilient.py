"""Claims of the report on RBP with failures (figure 25), and on the addition of Reformation (figures 23 and
24).

The bounds say how few losses and failures there are: one process fails where `crashes=1`. Checks of
`RbpResilientChecked` end where Reformation is called, those of `RbpReformingRuns` go on in the new list, and
those of `ReformationChecked` have an abstract normal phase. Checks of three processes and more are deep,
except where two processes cannot show the property.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.protocols.rbp.properties import RbpChecked
from antiphon.spec.protocols.rbp_resilient.properties import RbpResilientChecked
from antiphon.spec.protocols.reformation.over_figure25 import RbpReformingChecked, RbpReformingRuns
from antiphon.spec.protocols.reformation.over_lists import Figure25IsService, RbpReformingIsService
from antiphon.spec.protocols.reformation.properties import ReformationChecked
from antiphon.spec.protocols.reformation.service import TokenListServiceChecked

Constants = Mapping[str, int | bool | str]

_RUNS: Constants = {"losses": 0, "crashes": 0, "unlimited": True, "urgent": True, "assigned": True}
_TWO: Constants = {"processes": 2, "messages": 1, "passes": 4, **_RUNS, "losses": 1}
_CALM: Constants = {"processes": 2, "messages": 1, "passes": 4, **_RUNS}
_PAIR: Constants = {**_TWO, "messages": 2, "patient": True}
_FAILED: Constants = {**_TWO, "crashes": 1, "patient": True, "brief": False}
_AGAIN: Constants = {**_CALM, "passes": 5, "unlimited": False, "timeouts": 1, "brief": False}
_RENAMED: Constants = {**_CALM, "passes": 2, "unlimited": False, "timeouts": 1, "spare": 1, "brief": False}
_THREE: Constants = {"processes": 3, "messages": 1, "passes": 5, **_RUNS, "losses": 1, "patient": True}
_FAILING: Constants = {**_THREE, "messages": 2, "passes": 4, "losses": 0, "crashes": 1}
_RING: Constants = {"processes": 3, "messages": 1, "passes": 3, **_RUNS, "patient": True}
_TURN: Constants = {"processes": 4, "messages": 1, "passes": 6, **_RUNS, "patient": True}
_TWO_WAIT: Constants = {**_RING, "messages": 2, "passes": 6}
_FIGURE_16: Constants = {"processes": 2, "messages": 2, "losses": 1, "timeouts": 1}
_BROKEN: Constants = {**_RING, "losses": 1, "crashes": 1, "brief": False}
_UNWATCHED: Constants = {**_BROKEN, "losses": 0, "passive": False}
_BOTH: Constants = {**_RING, "passes": 1, "crashes": 2, "brief": False}

_REFORMING: Constants = {
    "processes": 3, "messages": 1, "passes": 4, "numbers": 6, "attempts": 1, "views": 4, **_RUNS,
    "crashes": 1,
    "patient": True, "brief": False,
}  # fmt: skip
_FIVE: Constants = {**_REFORMING, "processes": 5, "passes": 0, "numbers": 2, "views": 6, "crashes": 2}
_TWICE: Constants = {
    "processes": 3, "messages": 2, "passes": 2, "numbers": 5, "attempts": 2, "views": 3, **_RUNS,
    "crashes": 1, "patient": True, "leaving": "remembers",
}  # fmt: skip
_MISLED: Constants = {
    **_TWICE,
    "messages": 1,
    "passes": 1,
    "numbers": 3,
    "attempts": 1,
    "views": 2,
    "crashes": 0,
    "suspicions": 1,
}
_TWO_MISLED: Constants = {**_MISLED, "messages": 2, "passes": 0}
_RETURNED: Constants = {**_MISLED, "numbers": 4, "attempts": 2, "views": 3}
_JOINED: Constants = {**_TWICE, "messages": 1, "passes": 1, "numbers": 3, "attempts": 1, "views": 2}
_JOINED_TWICE: Constants = {**_JOINED, "attempts": 2, "views": 3}
_FROM_SERVICE: Constants = {
    "processes": 3, "messages": 1, "passes": 0, "numbers": 2, "attempts": 1, "views": 2, **_RUNS,
    "patient": True,
}  # fmt: skip
_SERVICE: Constants = {
    "processes": 3, "messages": 2, "numbers": 1, "attempts": 2, "views": 3, "crashes": 0,
}  # fmt: skip
_ONCE: Constants = {
    "processes": 3, "messages": 2, "numbers": 2, "attempts": 1, "views": 4, "crashes": 0, "terse": True,
    "eager": True, "committed": "sequenced", "leaving": "remembers",
}  # fmt: skip


def _scenario(witness: str, length: int, of: Constants = _REFORMING) -> Check:
    """Return a check that a run of section 3.2.1 exists, through Reformation and on in the new list."""
    return Check(RbpReformingRuns, witness, "holds", "all", (), of, length, deep=True, long_for_z3=True)


def _reforming(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants = _TWICE, length: int | None = None
) -> Check:
    """Return a check of figure 25 together with figures 23 and 24, with all repairs but `own_versions` and
    those in `without`. A site that remembers its votes needs no version numbers of its own (REF-09).
    """
    return Check(
        RbpReformingChecked, property, outcome, "all", ("own_versions", *without), of, length, deep=True,
        long_for_z3=True,
    )  # fmt: skip


def _joined(
    outcome: RecordedOutcome, *without: str, of: Constants = _JOINED, length: int | None = None
) -> Check:
    """Return a check that figure 25 with figures 23 and 24 refines both halves of the service of token
    lists.
    """
    return Check(
        RbpReformingIsService, "Refinement", outcome, "all", ("own_versions", *without), of, length, deep=True
    )


def _service(property: str, outcome: RecordedOutcome, length: int | None = None, **fault: bool) -> Check:
    """Return a check of the service between the normal phase and Reformation."""
    return Check(
        TokenListServiceChecked, property, outcome, (), (), {**_SERVICE, **fault}, length, deep=True,
        long_for_z3=True,
    )  # fmt: skip


def _reformed(property: str, outcome: RecordedOutcome, of: Constants, length: int | None = None) -> Check:
    """Return a check of a property through one Reformation of an abstract normal phase."""
    return Check(ReformationChecked, property, outcome, "all", (), of, length, deep=True, long_for_z3=True)


def _check(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants, length: int | None = None
) -> Check:
    return Check(
        RbpResilientChecked,
        property,
        outcome,
        "all",
        without,
        of,
        length,
        deep=of["processes"] != 2,
        long_for_z3=True,
    )


def _shown(check: Check) -> Check:
    """Return the check marked as not deep: it has three processes, is quick, and two processes cannot show
    its property.
    """
    return replace(check, deep=False)


def _figure(quotation: str, lines: str = "", section: str = "3.2.3") -> Source:
    return Source(Document.RBP, section, quotation, figure="25", lines=lines)


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


RBP_RESILIENT: tuple[Claim, ...] = (
    Claim(
        "RBP-10",
        _figure("if ∃(B,seqnum') ∈ seqQ_p then", "20"),
        "A message that was sequenced is recognised when it comes again.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "By what is in seqQ, from which lines 77-78 remove what is stable: a copy that was on its way is "
        "taken for a new message, and delivered twice (RBP-42). In figure 16, line 19, nothing is removed "
        "from seqQ, and there it is true. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("UniformIntegrity", "violated", "keep_collected", of=_AGAIN, length=31),
            _check("UniformIntegrity", "holds", of=_AGAIN),
            Check(RbpChecked, "UniformIntegrity", "holds", "all", constants=_FIGURE_16),
            Check(RbpChecked, "UniqueNumbers", "holds", "all", constants=_FIGURE_16),
        ),
        defect="design",
        repairs=("keep_collected",),
    ),
    Claim(
        "RBP-18",
        _figure("if failure(q) then Reformation()", "39-40, 49-50, 56-57, 63-64"),
        "After Reformation has returned, nothing is done with the token of the old list.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Nothing leaves the handler. A process that was named, misses numbers and suspects its sequencer "
        "goes on to lines 45 and 51 when Reformation returns in line 40, and gives ts_p + 1, a number that "
        "has been given. One that misses bodies goes on from line 50, and acknowledges without them: what it "
        "lets others believe to be stable is not. One wrong suspicion is enough. Only the first needs that "
        "lines 45-63 follow line 40 (reading `nesting`); the second is there in both readings. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _shown(
                _check(
                    "UniqueNumbers",
                    "violated",
                    "leave_after_reformation",
                    of={**_RING, "passes": 1, "suspicions": 1},
                    length=8,
                )
            ),
            *(
                _check(property, "violated", "leave_after_reformation", of=of, length=length)
                for of in ({**_CALM, "suspicions": 1}, {**_CALM, "suspicions": 1, "nesting": "else"})
                for property, length in (("HolderHasAll", 17), ("StableAtAll", 18))
            ),
            _check("HolderHasAll", "holds", of={**_CALM, "suspicions": 1}),
            _check("StableAtAll", "holds", of={**_CALM, "suspicions": 1}),
            _check("UniqueNumbers", "holds", of={**_RING, "suspicions": 1}),
            _reforming("OneHolderInList", "violated", of={**_MISLED, "keep_old_token": True}, length=7),
            _reforming("OneHolderInList", "holds", of=_MISLED),
        ),
        defect="text",
        repairs=("leave_after_reformation",),
    ),
    Claim(
        "RBP-19",
        _figure(
            "each message is tagged by the “token list version”, which allow a process in the “normal "
            "phase” to discard messages coming from "
            "excluded processes",
            "25-28",
        ),
        "Messages of excluded processes do not interfere.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Line 26 records the ACK before line 27 tests its version, the test guards only the timer, and the "
        "version of the sender, TL_q, is no "
        "field of the ACK. One NULL acknowledgement of an excluded process gives a number twice, makes a "
        "second holder, and in the end makes a "
        "message be delivered twice. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("OneHolder", "violated", "filter_versions", of={**_CALM, "strays": 1}, length=4),
            _check("UniqueNumbers", "violated", "filter_versions", of={**_CALM, "strays": 1}, length=8),
            _check("UniformIntegrity", "violated", "filter_versions", of={**_CALM, "strays": 1}, length=22),
            _check("OneHolder", "holds", of={**_CALM, "strays": 1}),
            _check("UniqueNumbers", "holds", of={**_CALM, "strays": 1}),
            _check("UniformIntegrity", "holds", of={**_CALM, "strays": 1}),
            _reformed("OneMessageANumber", "violated", {**_ONCE, "mix_lists": True}, 8),
            _reformed("OneMessageANumber", "holds", _ONCE),
            _reforming("OneBodyANumber", "violated", of={**_MISLED, "take_any_list": True}, length=10),
            _reforming("OneBodyANumber", "holds", of=_MISLED),
        ),
        defect="text",
        repairs=("filter_versions",),
    ),
    Claim(
        "RBP-20",
        _figure("if (TL_q=TL_p) then", "19"),
        "A process that installs the list after the others gets what it dropped before.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "What came with another version is dropped, and comes again: the sender repeats it until it is "
        "acknowledged, and afterwards whoever has it "
        "tells it on request, if a body is kept that comes after its number (RBP-39). "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("EverybodyDelivers", "violated", "store_late_body", of={**_TWO, "late": True}, length=9),
            _check("EverybodyDelivers", "holds", of={**_TWO, "late": True}),
            _check("EverybodyDelivers", "holds", of={**_THREE, "late": True}),
        ),
    ),
    Claim(
        "RBP-21",
        _text("3.2.2", "can be delivered, because all processes have them"),
        "When number k is sent, all processes have all messages with numbers up to k - n + 1.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "Where acknowledging implies having everything before (RBP-37): lines 45-48 as printed do not see "
        "to that, and the bound fails with them. "
        "It is tight: the message with number k - n + 2 may be missing somewhere. Lines 77-78 are taken for "
        "a part of the `if` of line 75, here and wherever a verdict is about what is stable or delivered. "
        "Beside it (reading `removing`) a message leaves the queues of one process before others have it: "
        "this bound fails in 6 steps, RBP-20, 23, 33, 36 and 46 do not hold, the repairs do not mend RBP-18, "
        "19, 22, 43 and 45, and the runs of RBP-10, 42 and 47 do not come about.",
        (
            _check("StableAtAll", "holds", of=_TWO),
            _check("CollectedAtAll", "holds", of=_TWO),
            _check("StableAtAll", "holds", of=_THREE),
            _check("HolderHasAll", "holds", of=_THREE),
            _check("CollectedAtAll", "holds", of=_THREE),
            _shown(_check("HolderHasAll", "violated", "await_all_bodies", of=_RING, length=22)),
            _shown(_check("HolderHasAll", "holds", of=_RING)),
            _check("StableAtAll", "violated", "await_all_bodies", of=_RING, length=27),
            _check("CollectedAtAll", "violated", "await_all_bodies", of=_RING, length=29),
            _check("NotYetStable", "holds", of=_THREE, length=4),
        ),
        repairs=("await_all_bodies",),
    ),
    Claim(
        "RBP-22",
        _figure("if seqnum' < (ts_p - n + 1) then", "75"),
        "The figure makes messages stable as soon as the text says that they are.",
        Standing.IMPLIED,
        Kind.BOUND,
        "violated",
        "`<` where the text has “less or equal”: the figure waits for one more acknowledgement. It is safe, "
        "and a message is never delivered at "
        "the bound of the text. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("DeliveredAtTheBound", "unknown", "stable_bound", of=_TWO),
            _check("HeldByEnough", "holds", "stable_bound", of=_TWO),
            _check("Validity", "holds", "stable_bound", of=_TWO),
            _check("DeliveredAtTheBound", "holds", of=_TWO, length=14),
            _check("HeldByEnough", "holds", of=_TWO),
            _check("DeliveredAtTheBound", "unknown", "stable_bound", of=_THREE),
            _check("DeliveredAtTheBound", "holds", of=_THREE, length=20),
        ),
        defect="text",
        repairs=("stable_bound",),
    ),
    Claim(
        "RBP-23",
        _text("3.2.2", "This way, using “total resiliency” we ensure the Uniform property."),
        "What any process has delivered, also one that fails, all processes have; so agreement and order "
        "are uniform.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Everything that is delivered is held by all at that moment, and order is uniform, whoever fails or "
        "is wrongly suspected. Who goes on with the old token after Reformation (RBP-18) delivers what "
        "another process lacks. Without failures all deliver it. Through two reformations order and "
        "integrity are kept: figure 25 and figures 23 and 24 are each a half of one service, token lists "
        "that begin with what was stable, and together they are the service, which gives total order. In a "
        "new list it needs that acknowledgements count from its first number on: who commits first otherwise "
        "takes for stable, by numbers of the old list, what not all of the new one have agreed to take over "
        "(with five processes, of which the new list has three, one of them does not have it). Who returns "
        "to a list has to give up what it has under numbers that were given again without it. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _reforming("UniformPrefixOrder", "holds"),
            _reforming("UniformIntegrity", "holds"),
            _reforming("StableInList", "holds"),
            _reforming("UniformPrefixOrder", "holds", of=_TWO_MISLED),
            _reforming("UniformIntegrity", "holds", of=_TWO_MISLED),
            _reforming("StableInList", "holds", of=_TWO_MISLED),
            _reforming("UniformPrefixOrder", "violated", "originator_recovers", length=31),
            _reforming("StableInList", "violated", "originator_recovers", length=11),
            _reforming("OneBodyANumber", "violated", "drop_the_rest", of=_RETURNED, length=16),
            _reforming("DeliveredInTheNewList", "holds"),
            _joined("holds"),
            _joined("holds", of=_JOINED_TWICE),
            _joined("violated", "originator_recovers", of=_JOINED_TWICE, length=7),
            _joined("violated", "count_in_the_list", of=_JOINED_TWICE, length=12),
            _joined("violated", "originator_recovers", length=7),
            _joined("violated", "count_in_the_list", length=12),
            _joined("violated", of={**_JOINED, "leaving": "forgets"}, length=5),
            Check(Figure25IsService, "Refinement", "holds", "all", (), _FROM_SERVICE, deep=True),
            _service("UniformPrefixOrder", "holds"),
            _service("UniformPrefixOrder", "violated", 16, any_beginning=True),
            _service("UniformPrefixOrder", "violated", 12, any_members=True),
            _service("UniformPrefixOrder", "violated", 13, work_on=True),
            _check("HeldByEnough", "holds", of={**_TWO, "crashes": 1}),
            _check("HeldByEnough", "holds", of={**_PAIR, "crashes": 1, "suspicions": 1}),
            _check(
                "HeldByEnough",
                "violated",
                "leave_after_reformation",
                of={**_PAIR, "suspicions": 1},
                length=15,
            ),
            _check("UniformTotalOrder", "holds", of={**_PAIR, "crashes": 1, "suspicions": 1}),
            _check("UniformPrefixOrder", "holds", of={**_PAIR, "crashes": 1, "suspicions": 1}),
            _check("UniformIntegrity", "holds", of={**_TWO, "crashes": 1}),
            _check("UniformAgreement", "holds", of=_TWO),
            _check("Validity", "holds", of=_TWO),
            _check("HeldByEnough", "holds", of={**_THREE, "crashes": 2}),
            _check("UniformAgreement", "holds", of=_THREE),
            _check("Validity", "holds", of=_THREE),
            _check("OneHolder", "holds", of=_THREE),
            _check("UniqueNumbers", "holds", of=_THREE),
            _check("UniformIntegrity", "holds", of=_THREE),
            _check("AllDelivered", "holds", of=_THREE, length=29),
            _check("UniformIntegrity", "holds", of=_PAIR),
            _check("UniformTotalOrder", "holds", of=_PAIR),
            _check("UniformPrefixOrder", "holds", of=_PAIR),
            _check("AllDelivered", "holds", of=_PAIR, length=26),
            _check("UniformTotalOrder", "holds", of=_FAILING),
            _check("UniformPrefixOrder", "holds", of=_FAILING),
            _check("AllDelivered", "holds", of=_FAILING, length=42),
            _check("UniformTotalOrder", "holds", of={**_THREE, "messages": 2}),
            _check("UniformPrefixOrder", "holds", of={**_THREE, "messages": 2}),
            _check("AllDelivered", "holds", of={**_THREE, "messages": 2}, length=42),
        ),
        repairs=("count_in_the_list",),
    ),
    Claim(
        "RBP-24",
        _text(
            "4.4",
            "the buffers from the processes will have at most the messages sequenced in the last turn of "
            "the token",
        ),
        "After garbage collection a process keeps the messages of one turn of the token, n, at most.",
        Standing.STATED,
        Kind.BOUND,
        "violated",
        "By a process that misses a number, from four processes on, without losses: it can collect nothing, "
        "and the token goes on without it until "
        "it is named again. Of four it comes to five numbers, the first older than the last turn. It keeps "
        "2n - 3 at most, which is no more than n "
        "with two and three processes; one that misses nothing keeps n at most. Counted are the numbers in "
        "seqQ; messages that have no number yet "
        "are not. No repair makes it true of that process; as printed NULL numbers never leave seqQ, and "
        "it grows for ever (RBP-43).",
        (
            _check("OneTurnBufferedByAll", "violated", of=_TURN, length=38),
            _check("BufferedUntilNamed", "holds", of={**_TURN, "passes": 7}),
            _check("OneTurnBuffered", "holds", of=_TWO_WAIT),
            _check("OneTurnBufferedByAll", "holds", of=_TWO),
            _check("OneTurnBufferedByAll", "holds", of=_THREE),
            _check("OneTurnBuffered", "violated", "pass_over_null", of=_TWO, length=7),
        ),
        defect="design",
        repairs=("pass_over_null",),
    ),
    Claim(
        "RBP-26",
        _text("3.2.2", "we should ensure that the message was received by at least k processes"),
        "A message survives k - 1 failures when k processes have it at delivery, and may be lost when "
        "fewer have it.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "Delivered when k processes have acknowledged, it is held by k, and survives k - 1 failures and "
        "not k.",
        (
            _check("HeldByEnough", "holds", of={**_RING, "crashes": 1, "resilience": 2}),
            _shown(_check("DeliveredSurvives", "holds", of={**_RING, "crashes": 1, "resilience": 2})),
            _check("DeliveredSurvives", "violated", of={**_RING, "crashes": 2, "resilience": 2}, length=16),
            _check("DeliveredSurvives", "holds", of={**_RING, "crashes": 2, "resilience": 3}),
        ),
    ),
    Claim(
        "RBP-27",
        _text("4.2", "before delivering, to be sure that at least one correct process has all messages"),
        "To tolerate f failures a message waits for f + 1 token passings before delivery, and for no fewer.",
        Standing.STATED,
        Kind.BOUND,
        "holds",
        "If the passing by the message's own ACK counts as the first: with f + 1 acknowledgements some "
        "process that is up has what was "
        "delivered, with f there are f failures after which nobody has it. Counted from the next ACK on, f "
        "+ 1 would be one too many.",
        (
            _check("DeliveredSurvives", "violated", of={**_CALM, "crashes": 1, "resilience": 1}, length=10),
            _check("DeliveredSurvives", "holds", of={**_CALM, "crashes": 1, "resilience": 2}),
            _check("DeliveredSurvives", "violated", of={**_RING, "crashes": 2, "resilience": 2}, length=16),
            _check("DeliveredSurvives", "holds", of={**_RING, "crashes": 2, "resilience": 3}),
        ),
    ),
    Claim(
        "RBP-28",
        _text("4.2", "We cannot deliver messages immediately without risking an inconsistent state."),
        "A process that delivers at once may be the only one that has the message when it is cut off.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "The sequencer delivers its own number before anybody else has it. If it is then cut off, the new "
        "list "
        "gives the number to another message (figure 26): two sites deliver different messages first. If a "
        "majority has the message, no list can be made without one of them.",
        (
            _check("HeldByAnother", "violated", of={**_CALM, "resilience": 1}, length=8),
            _check("HeldByAnother", "holds", of={**_CALM, "resilience": 2}),
            _reformed("Figure26", "holds", {**_ONCE, "resiliency": "none"}, 8),
            _reformed("UniformPrefixOrder", "violated", {**_ONCE, "resiliency": "none"}, 9),
            _reformed("UniformPrefixOrder", "holds", {**_ONCE, "resiliency": "majority"}),
        ),
    ),
    Claim(
        "RBP-29",
        _text(
            "4.2",
            "once the Reformation Phase is called, this process will share the message with the other "
            "processes",
        ),
        "A sequenced message that one process has received is shared by Reformation.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "By the sites that respond, if “the process with the most recent committed message” is the one with "
        "the "
        "highest number that was given: then it becomes the new token site, and brings the others up to "
        "date. If "
        "it is the one with the highest stable number, the message is given up (REF-13). A site that is cut "
        "off "
        "shares nothing (RBP-28).",
        (
            _reformed("NothingDropped", "holds", _ONCE),
            _reformed("NothingDropped", "violated", {**_ONCE, "committed": "stable"}, 5),
        ),
    ),
    Claim(
        "RBP-30",
        _text("3.2.1", "its fail does not affect immediately the protocol"),
        "The failure of a process that is neither sequencer nor next sequencer has no effect until the "
        "process should become the next one.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Nobody waits for it, and the token can always still go on until it is named, without any "
        "detection. That needs what the report supposes "
        "in passing, that “the previous sequencer has received that message”: one that has not still waits "
        "for a process that has passed the "
        "token on, and takes its failure for a lost token.",
        (
            _check("SimpleUnwatched", "holds", of={**_BROKEN, "passive": False}),
            _check("ReachesTheFailed", "holds", of={**_BROKEN, "passive": False}),
            _scenario("SimpleProcessFails", 22),
        ),
    ),
    Claim(
        "RBP-31",
        _text(
            "3.2.1",
            "does not allow to determine if the next sequencer was already failed or if it failed after "
            "receiving the token",
        ),
        "The sequencer, which detects the failure of the next one, cannot tell whether that accepted the "
        "token, or has not failed at all.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "All three situations are reached with the sequencer having done and received the same (figures 18 "
        "and 19). Where the next one has failed, "
        "the sequencer, which alone waits, always gets to call Reformation.",
        (
            _check("NextFailedBefore", "holds", of=_FAILED, length=1),
            _check("NextFailedAfter", "holds", of=_FAILED, length=6),
            _check("NextSilent", "holds", of=_FAILED, length=3),
            _scenario("NextSequencerFails", 22),
            _check("NoVainWait", "holds", of={**_FAILED, "passive": False}),
            _check("NoVainWait", "holds", of={**_BROKEN, "passive": False}),
        ),
    ),
    Claim(
        "RBP-32",
        _text("3.2.1", "When this situation occurs, no process is directly monitoring q"),
        "When the sequencer fails and its ACK has not reached the next one, the token is lost and nobody's "
        "wait detects it.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "The situation is reached, and without passive detection nobody ever calls Reformation.",
        (
            _check("TokenLost", "holds", of=_FAILED, length=2),
            _scenario("TokenIsLost", 26),
            _check("GoesOnOrNoticed", "violated", of={**_FAILED, "passive": False}, length=2),
            _check("GoesOnOrNoticed", "violated", of={**_BROKEN, "passive": False}, length=2),
        ),
    ),
    Claim(
        "RBP-33",
        _text(
            "3.2.1",
            "the absence of a token passing for a time too long can indicate that the token passing is "
            "blocked",
        ),
        "With NULL passed on by force and passive detection, every failure that blocks the token is noticed.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "From every state after one or two failures and one loss, among two and three processes, somebody "
        "that is up gets to call Reformation, "
        "unless the token goes on to the last number of the exploration. The timeout is taken to be long "
        "enough: it fires only where the token is lost. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("GoesOnOrNoticed", "holds", of=_FAILED),
            _check("WaitsNoMore", "holds", of=_FAILED),
            _check("GoesOnOrNoticed", "holds", of=_BROKEN),
            _check("GoesOnOrNoticed", "holds", of={**_BROKEN, "crashes": 2}),
        ),
    ),
    Claim(
        "RBP-34",
        _text(
            "3.2.1",
            "is the process that shall raise a suspicion and call the Reformation Phase, as it cannot "
            "receive any answer",
        ),
        "When the sequencer fails and the next one, which was named, misses messages, the next one detects "
        "it.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "The situation is reached (figure 21), and from each such state the next one gets what it misses "
        "from others, or calls Reformation, without passive detection. One that got it goes on with the "
        "token, if lines 45-63 follow line 38 (RBP-46).",
        (
            _check("NextMissesMessages", "holds", of=_FAILED, length=15),
            _scenario("NextMissesMessages", 25),
            _check("NoVainWait", "holds", of={**_FAILED, "passive": False}),
            _check("NextMissesMessages", "holds", of=_BROKEN, length=5),
            _check("NoVainWait", "holds", of={**_BROKEN, "passive": False}),
        ),
    ),
    Claim(
        "RBP-35",
        _text("3.2.1", "no alive process is directly concerned in monitoring the failures"),
        "When sequencer and next sequencer fail together, only passive detection notices it.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "Of three processes two fail, and the third waits for neither; without passive detection it never "
        "calls Reformation, with it always.",
        (
            _check("BothFailed", "holds", of=_BOTH, length=6),
            _scenario("SequencerAndNextFail", 10, of=_FIVE),
            _shown(
                _check(
                    "GoesOnOrNoticed",
                    "violated",
                    of={**_RING, "passes": 1, "crashes": 2, "brief": False, "passive": False},
                    length=2,
                )
            ),
            _check("GoesOnOrNoticed", "holds", of={**_BROKEN, "crashes": 2}),
        ),
    ),
    Claim(
        "RBP-36",
        _text("4.1", "monitoring is done on the next or on the previous process in the ring"),
        "Active detection watches the neighbours in the ring only.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "failure(·) is asked of q, whose ACK names the process (lines 38 and 48), and of toknext_p (lines 55 "
        "and 62). Numbers are given in turn, so that q is the process before p in the ring if the number "
        "that came with the token is one of q's: it always is, with the ring as repaired (RBP-02), unless an "
        "ACK of another list is taken (RBP-19). That passive detection sends nothing is plain from lines 28 "
        "and 70. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("NamedByNeighbour", "holds", of={**_CALM, "strays": 1}),
            _check("NamedByNeighbour", "violated", "filter_versions", of={**_CALM, "strays": 1}, length=1),
            _check("NamedByNeighbour", "holds", of=_THREE),
        ),
    ),
    Claim(
        "RBP-42",
        _figure("remove msg from the recv queue and seq queue", "20, 26, 77-78"),
        "A message that was collected is not taken for a new one when it comes again.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "Lines 20 and 26 recognise what is in seqQ, and lines 77-78 take it out. A copy that was on its way "
        "is stored, gets a second number, and "
        "is delivered twice. Whatever the queues forget must be known elsewhere. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("UniformIntegrity", "violated", "keep_collected", of=_AGAIN, length=31),
            _check("UniformIntegrity", "holds", of=_AGAIN),
        ),
        defect="design",
        repairs=("keep_collected",),
    ),
    Claim(
        "RBP-43",
        _figure("while ∃ m' s.t. (m', lastdelivered_p + 1) ∈ stableQ_p do", "74-82"),
        "What follows a NULL message is delivered.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "NULL takes a number, and has no body in recvQ, so that line 74 never takes it to stableQ, and line "
        "79 waits for its number for ever. The "
        "first number is NULL's (line 11): nothing is ever delivered. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("SomethingDelivered", "unknown", "pass_over_null", of=_TWO),
            _check("Validity", "violated", "pass_over_null", of=_TWO, length=1),
            _check("SomethingDelivered", "holds", of=_TWO, length=14),
            _check("Validity", "holds", of=_TWO),
        ),
        defect="text",
        repairs=("pass_over_null",),
    ),
    Claim(
        "RBP-45",
        _figure("send ACK(B,ts_p+1,toknext_p) to all", "11, 22, 25, 61"),
        "Every ACK that is sent has the fields with which it is received.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "Line 25 takes an ACK of four fields, the last the version of the token list, and only line 54 sends "
        "one: the first ACK (line 11), one that is repeated (line 22, which also names nobody), and every ACK"
        " of a message (line 61) has three, and is received by nobody. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("Validity", "violated", "tag_every_ack", of=_TWO, length=1),
            _check("SomethingDelivered", "unknown", "tag_every_ack", of=_TWO),
            _check("SomethingDelivered", "holds", of=_TWO, length=14),
            _check("Validity", "holds", of=_TWO),
        ),
        defect="text",
        repairs=("tag_every_ack",),
    ),
    Claim(
        "RBP-46",
        _figure("until (ts_p = seqnum) or failure(q)", "35-63"),
        "A process that was named and missed numbers gets the token when it has them.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "If lines 45-63 follow the `if` of lines 35-44, in whose column they stand, as in figure 16. They "
        "stand in the column of line 42 too, and belong to the `else` of line 41 then (reading `nesting`): "
        "nothing follows the loop, and a token that came after a gap is dropped when the gap is closed. "
        "While its sequencer is up, the token comes again, and without a gap; where the sequencer has "
        "failed, the token is lost, though no packet was, and without passive detection nobody ever notices. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _shown(_check("GoesOnOrNoticed", "holds", of=_UNWATCHED)),
            _shown(_check("GoesOnOrNoticed", "violated", of={**_UNWATCHED, "nesting": "else"}, length=7)),
            _check("Validity", "holds", of=_THREE),
            _check("Validity", "holds", of={**_THREE, "nesting": "else"}),
        ),
    ),
    Claim(
        "RBP-47",
        _figure("do message id_p ← message id_p + 1; send(m, B, TL_p) to all until receive ACK", "13-16"),
        "A message that is sent again is still the same message.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "As in figure 16 (RBP-03): each round gives the message another identifier, and both are numbered, "
        "collected and delivered. "
        "Lines 77-78 are taken for a part of the `if` of line 75: with the reading `removing` this is not so "
        "(RBP-21).",
        (
            _check("UniformIntegrity", "violated", "one_identifier", of=_RENAMED, length=23),
            _check("UniformIntegrity", "holds", of=_RENAMED),
        ),
        defect="text",
        repairs=("one_identifier",),
    ),
)
