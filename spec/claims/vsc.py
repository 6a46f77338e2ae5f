"""Claims of the report on view-synchronous communication (section 4.3.2 and figure 29), on output buffers
(4.3.3 and 4.3.4) and on two levels of views (4.3.5).

Three processes everywhere; one failure, one false suspicion, one view change where nothing else is said. A
crash is suspected at once by all (`detected_at_once`): a process that acts on a suspicion late is as one that
suspects late. Checks of two messages or two view changes are deep.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.protocols.vsc.output_buffers import OutputBufferChecked
from antiphon.spec.protocols.vsc.properties import VscChecked
from antiphon.spec.protocols.vsc.refinement import VscMonitored
from antiphon.spec.protocols.vsc.two_views import TwoViewsChecked

Constants = Mapping[str, int | bool | str]

_FAILING: Constants = {
    "processes": 3, "messages": 1, "views": 2, "crashes": 1, "false_suspicions": 0, "detected_at_once": True,
}  # fmt: skip
_MISLED: Constants = {**_FAILING, "false_suspicions": 1}
_TWO: Constants = {**_MISLED, "messages": 2}
_AGAIN: Constants = {**_MISLED, "views": 3, "assigned": True, "called_once": True}
_ONCE_MISLED: Constants = {**_AGAIN, "crashes": 0}
_TWO_AGAIN: Constants = {**_AGAIN, "messages": 2}
_LATE: Constants = {**_FAILING, "late": "in the next view"}
_TWO_CRASHES: Constants = {**_FAILING, "crashes": 2}
_ROTATING: Constants = {"processes": 3, "messages": 2, "views": 1, "crashes": 1, "wrong_i_views": 2}
_MISJUDGED: Constants = {**_ROTATING, "views": 2, "wrong_i_views": 0, "wrong_views": 1}
_LEVELS: Constants = {**_ROTATING, "views": 3, "crashes": 2}


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    of: Constants = _MISLED,
    length: int | None = None,
    **variants: str | bool,
) -> Check:
    deep = of["messages"] != 1 or of["views"] != 2
    return Check(
        VscChecked, property, outcome, "all", without, {**of, **variants}, length, deep, long_for_z3=True
    )


def _literal(
    property: str, outcome: RecordedOutcome, of: Constants = _FAILING, length: int | None = None
) -> Check:
    return Check(VscChecked, property, outcome, (), (), of, length, long_for_z3=True)


def _holds(*properties: str) -> tuple[Check, ...]:
    """Return checks that the properties hold with all repairs: with one message and one view change, and,
    deep, with two messages, and with two view changes.
    """
    return tuple(
        _check(property, "holds", of=of) for of in (_MISLED, _TWO, _TWO_AGAIN) for property in properties
    )


def _step(outcome: RecordedOutcome, *without: str, of: Constants, length: int | None = None) -> Check:
    """Return the check that every event of VSC is a step of the machine of view synchrony."""
    return Check(
        VscMonitored, "StepOfTheMachine", outcome, "all", without, of, length, deep=True, long_for_z3=True
    )


def _buffer(
    property: str, outcome: RecordedOutcome, length: int | None = None, **variants: str | bool
) -> Check:
    return Check(OutputBufferChecked, property, outcome, constants={"length": 4, **variants}, length=length)


def _views(
    property: str, outcome: RecordedOutcome, of: Constants, length: int | None = None, **variants: bool
) -> Check:
    return Check(TwoViewsChecked, property, outcome, constants={**of, **variants}, length=length)


def _figure(quotation: str, lines: str) -> Source:
    return Source(Document.RBP, "4.3.2", quotation, figure="29", lines=lines)


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


VSC: tuple[Claim, ...] = (
    Claim(
        "VSC-02",
        _figure("execute consensus among v_i(g) with init_k as the initial value", "4"),
        "All that install the view v_{i+1} install the same one.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "As printed and repaired: the view is decided by consensus. Where each takes its own initial value, "
        "one false suspicion makes two views of one number.",
        (
            _literal("ViewAgreement", "holds"),
            *_holds("ViewAgreement"),
            _check("ViewAgreement", "violated", no_consensus=True, length=9),
            _check("LastView", "holds", length=8),
        ),
    ),
    Claim(
        "VSC-03",
        _figure("View_k is the set (p_i ∪ the processes from which unstable_i was received)", "3"),
        "Step 3 says which process is in View_k besides those from which unstable_i was received.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "No quantifier binds this p_i: that of step 2 ends with the step. If it is any member, one that "
        "nobody has heard from is in the next view, with messages that the others lack. What is meant must "
        "be p_k. (Where p_k receives what it sends to all, it is among those heard from anyway; where it "
        "does not, p_k is in View_k and unstable_k is not in Msg_k, see VSC-05.)",
        (
            _check("ViewSynchrony", "violated", "name_itself", length=10),
            _check("ViewSynchrony", "holds"),
        ),
        defect="text",
        repairs=("name_itself",),
    ),
    Claim(
        "VSC-04",
        _text(
            "4.3.2",
            "Assuming that a message stability detector (i.e., a process that verifies if all processes in "
            "a view have received m) running concurrently, we can implement VSC",
        ),
        "Only unstable messages need to be exchanged: a stable one is everywhere.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "With a detector that is right, whether those that have crashed must have received the message "
        "(section 4.3.2) or not (section 4.3.3). One that is hasty, and takes the majority for all, lets a "
        "message be lost with its sender.",
        (
            *_holds("ViewSynchrony"),
            _check("ViewSynchrony", "holds", stable_when="received or crashed"),
            _check("ViewSynchrony", "violated", of=_FAILING, hasty_stability=True, length=11),
            _check("Stabilised", "holds", length=4),
        ),
    ),
    Claim(
        "VSC-05",
        _text(
            "4.3.2",
            "If a process p belongs to two consecutive views v and v', and VS-Deliver(m) in view v, then "
            "every process q in v ∩ v' that installs v', also VS-Delivers(m), i.e., delivers m before "
            "installing v'.",
        ),
        "Figure 29 provides View Synchrony.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "Between steps 1 and 7 a process is still in view v_i, and delivers what comes; but unstable_k is "
        "sent. One message whose sender crashes is delivered by one of the others, which has sent its set "
        "before, and never by the third. And sets carry no view: a process that went on without the set of "
        "one that it suspected takes it, one view later, for the set of that view. If `all` means the "
        "others, Msg_k lacks unstable_k itself.",
        (
            _literal("ViewSynchrony", "violated", length=10),
            _check("ViewSynchrony", "violated", "stop_receiving", of=_FAILING, length=10),
            _check("ViewSynchrony", "violated", "tag_unstable", of=_ONCE_MISLED, length=20),
            _check("ViewSynchrony", "violated", of=_FAILING, to_all="the others", length=9),
            *_holds("ViewSynchrony", "SameViewDelivery"),
            _check("ViewSynchrony", "holds", of=_ONCE_MISLED),
            *(_step("holds", of=of) for of in (_TWO, _TWO_AGAIN)),
            _step("violated", "stop_receiving", of=_FAILING, length=8),
            _step("violated", "tag_unstable", of=_ONCE_MISLED, length=17),
            _check("DeliveredByDecision", "holds", length=7),
            _check("SentLater", "holds", length=10),
        ),
        defect="text",
        repairs=("stop_receiving", "tag_unstable"),
    ),
    Claim(
        "VSC-06",
        _text(
            "4.3.2",
            "If a correct process executes VSCast(m), then it eventually VS-Delivers m (in view v or in a "
            "subsequent view).",
        ),
        "Figure 29 provides Validity, together with Sending View Delivery.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "A process that receives its own message as all others do has not received it when it sends "
        "unstable_k, installs the next view, and never delivers it. If it takes it at once, and may "
        "multicast between steps 1 and 7, it delivers what is in nobody's set (VSC-05). So p_k must have "
        "its own message when it sends it, and must not multicast during a change: VSCast blocks.",
        (
            _literal("VscValidity", "violated", length=7),
            _check("VscValidity", "violated", "own_copy", of=_FAILING, length=5),
            _check("ViewSynchrony", "violated", "block_sender", of=_FAILING, length=9),
            *_holds("VscValidity", "SendingViewDelivery", "ViewSynchrony"),
        ),
        defect="text",
        repairs=("own_copy", "block_sender"),
    ),
    Claim(
        "VSC-07",
        _text("4.3.2", "A message broadcasted in view v, if delivered, ought to be delivered in view v."),
        "View Synchrony, Sending View Delivery and Validity together need a sender that waits while the "
        "view changes.",
        Standing.QUESTION,
        Kind.SAFETY,
        "holds",
        "A message that is multicast in v after its sender has said what it has can be delivered by a "
        "receiver, the sender itself among them, at once, in the next view, or never: the first breaks View "
        "Synchrony, the second Sending View Delivery, the third Validity. (A sender that keeps the message, "
        "and multicasts it in the next view, waits.)",
        (
            _check("ViewSynchrony", "violated", "block_sender", "stop_receiving", of=_FAILING, length=9),
            _check("VscValidity", "holds", "block_sender", "stop_receiving", of=_FAILING),
            _check("SendingViewDelivery", "holds", "block_sender", "stop_receiving", of=_FAILING),
            _check(
                "SendingViewDelivery", "violated", "block_sender", "own_copy", of=_LATE, length=8
            ),
            _check("VscValidity", "holds", "block_sender", "own_copy", of=_LATE),
            _check("ViewSynchrony", "holds", "block_sender", "own_copy", of=_LATE),
            _check("VscValidity", "violated", "block_sender", "own_copy", of=_FAILING, length=5),
            _check("ViewSynchrony", "holds", "block_sender", "own_copy", of=_FAILING),
            _check("SendingViewDelivery", "holds", "block_sender", "own_copy", of=_FAILING),
        ),
    ),
    Claim(
        "VSC-08",
        _figure("∀p_i ∈ v_i(g): wait until receive unstable_i from p_i or p_i suspected", "2, 4, 7"),
        "A view change ends: step 2 because who has crashed is suspected in the end, step 4 as long as a "
        "majority of v_i(g) is up; and then every correct process of v_i(g) has a new view.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "violated",
        "The waiting ends, as said: without completeness it does not, nor without a majority of the view, "
        "which may be gone with one failure and one false suspicion, since three processes became two. But "
        "step 7 has no `else`: who is wrongly left out installs nothing, lives, receives in its old view "
        "what it has delivered in step 6, and delivers it twice. Section 4.3.4 has it crash, “to verify the "
        "new view. If the process does not belong to the new view, it commits suicide”.",
        (
            _check("VscTermination", "violated", "suicide", length=7),
            _check("UniformIntegrity", "violated", "suicide", length=10),
            _check("VscTermination", "holds", of=_FAILING),
            _check("VscTermination", "holds"),
            _check("VscTermination", "holds", of=_ONCE_MISLED),
            _check("VscTermination", "violated", of=_FAILING, incomplete=True, length=2),
            _check("VscTermination", "violated", of=_TWO_CRASHES, length=3),
            _check("VscTermination", "violated", of=_AGAIN, length=8),
            _check("VscTermination", "violated", of={**_FAILING, "views": 3}, early="gone", length=8),
            *_holds("UniformIntegrity"),
            _check("LeftOut", "holds", length=8),
        ),
        defect="text",
        repairs=("suicide",),
    ),
    Claim(
        "VSC-09",
        _figure("Upon R-Deliver (view-change,i) by p_k for the first time", ""),
        "A process ignores a (view-change, i) that it R-delivers once more, when it has installed v_{i+1}.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "By “for the first time”. Without it the process installs v_{i+1} again, and, if it has begun to "
        "leave it, receives messages that its set no longer tells.",
        (
            *_holds("LocalMonotonicity"),
            _check("LocalMonotonicity", "violated", of=_FAILING, any_time=True, length=7),
            _check("ViewSynchrony", "violated", of=_AGAIN, any_time=True, length=19),
        ),
    ),
    Claim(
        "VSC-10",
        _text(
            "4.3.3",
            "[CHB ??] claim that no implementation of Reliable Broadcast over fair-lossy links can solve "
            "the time-bounded buffering problem, based solely on failure detectors of either class S or "
            "class ◊P.",
        ),
        "Time-bounded buffering is impossible with S or with ◊P, possible with P, and possible where the "
        "process that waits may kill the other.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "Two processes. Whatever p has seen of ◊P or S when it discards the message, it has seen the same "
        "in a run in which the other lives and every copy is lost: so whatever the rule. With P it has not, "
        "once P suspects; and whoever is killed has no claim on the message (section 4.3.4).",
        (
            _buffer("EveryRuleLoses", "holds", detector="eventually perfect"),
            _buffer("EveryRuleLoses", "holds", detector="strong"),
            _buffer("NoLoss", "violated", detector="eventually perfect", length=1),
            _buffer("NoLoss", "violated", detector="strong", length=1),
            _buffer("NoLoss", "holds", detector="perfect"),
            _buffer("EveryRuleLoses", "violated", detector="perfect", length=2),
            _buffer("NoLoss", "violated", detector="perfect", hasty=True, length=1),
            _buffer("NoLoss", "holds", detector="eventually perfect", discarding="after killing"),
            _buffer("DiscardedAfterSuspicion", "holds", detector="perfect", length=4),
            _buffer("NothingTakenBack", "holds", detector="perfect"),
            *(
                check
                for detector in ("eventually perfect", "strong")
                for check in (
                    _buffer("OpinionsChange", "holds", detector=detector),
                    _buffer("DiscardedAfterTrust", "holds", detector=detector, length=3),
                )
            ),
            _buffer(
                "DiscardedAfterTrust",
                "holds",
                3,
                detector="eventually perfect",
                discarding="after killing",
            ),
        ),
        by_construction="neither class may ever tell p for certain whether the other lives, so that the two "
        "runs stay alike; that P tells, and that killing does without, searches judge",
    ),
    Claim(
        "VSC-11",
        _text(
            "4.3.5",
            "The intermediate view v_i^0 is equal to v_i, and the last intermediate view v_i^last is equal "
            "to v_{i+1}.",
        ),
        "The i-views between v_i and v_{i+1} have the members of v_i in another order, but for the last, "
        "which is v_{i+1}.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "With the rotating coordinator, which moves the first member to the end. An i-view that leaves the "
        "coordinator out has other members; and the next view must take over the order, not only the "
        "members.",
        (
            _views("OnlyTheOrder", "holds", _LEVELS),
            _views("SameMembers", "holds", _LEVELS),
            _views("LastIsNext", "holds", _LEVELS),
            _views("NothingAfterTheLast", "holds", _LEVELS),
            _views("OnlyTheOrder", "violated", _ROTATING, drop_coordinator=True, length=1),
            _views("LastIsNext", "violated", _LEVELS, old_order=True, length=4),
            _views("ViewAfterRotation", "holds", _LEVELS, length=4),
        ),
        by_construction="one step changes an i-view: it rotates it; the next view is the last i-view",
    ),
    Claim(
        "VSC-12",
        _text(
            "4.3.5",
            "i–views contribute to avoid blocking situations, while ordinary views ensure time-bounded "
            "buffering of messages.",
        ),
        "I-views with a rotating coordinator keep a group from waiting for a coordinator that is suspected, "
        "and kill nobody.",
        Standing.STATED,
        Kind.LIVENESS,
        "holds",
        "On fair runs every request is answered, though the coordinator crashes and others are wrongly "
        "suspected twice, and nobody is killed; ordinary views may come late or never. Without i-views a "
        "crashed coordinator blocks until an ordinary view comes; where i-views are ordinary views, the "
        "first wrong suspicion kills; so does one that an ordinary view acts on, and nobody who is left out "
        "lives.",
        (
            _views("NeverBlocked", "holds", _ROTATING),
            _views("NeverBlocked", "holds", _LEVELS),
            _views("AnsweredByTheFirst", "holds", _LEVELS),
            _views("NobodyIsKilled", "holds", _LEVELS),
            _views("NeverBlocked", "violated", _ROTATING, ordinary_only=True, length=2),
            _views("NobodyIsKilled", "violated", {**_ROTATING, "views": 3}, one_level=True, length=2),
            _views("NobodyIsKilled", "violated", _MISJUDGED, length=2),
            _views("ExcludedAreKilled", "holds", _MISJUDGED),
            _views("LastAnswered", "holds", _ROTATING, length=6),
        ),
    ),
)  # fmt: skip
"""Claims VSC-02 to VSC-12."""
