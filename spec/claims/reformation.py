"""Claims of the report on Reformation (figures 22 to 24), over the abstract normal phase.

Three sites, two reformations unless a bound says otherwise. Messages are lost, repeated and delayed without a
limit, a reformation begins at any moment, rightly or wrongly, and every timer may expire at any moment; so a
site that fails differs from one that does nothing more only in what others learn of it, and `crashes` is 0
where they learn nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.lang import Spec
from antiphon.spec.protocols.irbp.properties import IrbpChecked
from antiphon.spec.protocols.reformation.again import ReformationAgain
from antiphon.spec.protocols.reformation.lists import ListsChecked
from antiphon.spec.protocols.reformation.live import RbpReformingLive
from antiphon.spec.protocols.reformation.over_service import ReformationIsService
from antiphon.spec.protocols.reformation.points import RbpReformingPoints
from antiphon.spec.protocols.reformation.properties import (
    ReformationChecked,
    ReformationCounted,
    ReformationViews,
)

Constants = Mapping[str, int | bool | str]

_RUNS: Constants = {"processes": 3, "crashes": 0, "terse": True, "eager": True}
_OPEN: Constants = {"committed": "sequenced", "leaving": "remembers"}
_PRINTED: Constants = {**_RUNS, "messages": 2, "numbers": 2, "attempts": 2, "views": 3}
_SMALL: Constants = {**_RUNS, **_OPEN, "messages": 1, "numbers": 1, "attempts": 2, "views": 7}
_LARGE: Constants = {**_SMALL, "messages": 2, "numbers": 2}
_STABLE: Constants = {**_LARGE, "committed": "stable"}
_OWN_LIST: Constants = {**_LARGE, "invited": "old list"}
_FAILING: Constants = {**_SMALL, "crashes": 1}
_ONCE: Constants = {**_LARGE, "attempts": 1, "views": 4}
_DUEL: Constants = {**_RUNS, "messages": 1, "numbers": 1, "views": 5, "terse": False, "patient": True}
_CALM: Constants = {**_RUNS, "messages": 1, "numbers": 1, "attempts": 1, "views": 2, "patient": True}
_FIVE: Constants = {"processes": 5, "attempts": 3}
_HALF: Constants = {
    "processes": 3, "messages": 1, "numbers": 1, "attempts": 1, "views": 2, "crashes": 0, "terse": True,
    "leaving": "remembers",
}  # fmt: skip
_IRBP: Constants = {
    "processes": 3, "messages": 1, "highest": 5, "views": 2, "crashes": 1, "false_suspicions": 0,
    "detected_at_once": True, "assigned": True, "urgent": True,
}  # fmt: skip
_POINTS: Constants = {
    "processes": 3, "messages": 1, "passes": 1, "numbers": 3, "attempts": 2, "views": 3, "losses": 1,
    "crashes": 1, "suspicions": 1, "unlimited": True, "urgent": True, "assigned": True, "patient": True,
    "leaving": "remembers",
}  # fmt: skip
_LIVE: Constants = {
    **_POINTS, "attempts": 1, "views": 2, "suspicions": 0, "long_timers": True, "one_originator": True,
}  # fmt: skip


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    of: Constants,
    length: int | None = None,
    deep: bool = False,
    spec: type[Spec] = ReformationChecked,
) -> Check:
    return Check(spec, property, outcome, "all", without, of, length, deep=deep, long_for_z3=True)


def _literal(
    property: str, outcome: RecordedOutcome, length: int | None = None, of: Constants = _PRINTED
) -> Check:
    return Check(ReformationChecked, property, outcome, (), (), of, length, long_for_z3=True)


def _deep(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants, length: int | None = None
) -> Check:
    return _check(property, outcome, *without, of=of, length=length, deep=True)


def _half(outcome: RecordedOutcome, length: int | None = None, **other: int | bool | str) -> Check:
    """Return a check that figures 23 and 24, over the normal phase of the service, refine Reformation's half
    of the service.
    """
    return Check(
        ReformationIsService, "Refinement", outcome, "all", ("own_versions",), {**_HALF, **other}, length,
        deep=True,
    )  # fmt: skip


def _points() -> tuple[Check, ...]:
    """Return checks that failures, losses, timeouts and competing originators occur at every point of figures
    23 and 24 over figure 25.
    """
    reached = {
        "FailsAtWork": 6, "FailsWaiting": 4, "FailsInviting": 3, "FailsAnnouncing": 5, "FailsInvited": 4,
        "FailsAuthorising": 6, "InvitationLost": 4, "VoteLost": 5, "InvitingTimesOut": 2,
        "InvitedTimesOut": 3, "ListLost": 4, "AgreementLost": 5, "NewTokenLost": 6, "LossInTheNewList": 6,
        "LossWhileInviting": 2, "LossWhileInvited": 3, "LossWhileAnnouncing": 4, "LossWhileAuthorising": 5,
        "LossWhileWaiting": 3, "SuspectsAtWork": 2, "SuspectsInTheNewList": 6, "CompetesWithInviting": 5,
        "CompetesWithAnnouncing": 6, "CompetesWithInvited": 5, "CompetesWithAuthorising": 7,
        "CompetesWithWaiting": 4,
    }  # fmt: skip
    return tuple(
        Check(
            RbpReformingPoints, name, "holds", "all", ("own_versions",), _POINTS, length, deep=True,
            long_for_z3=True,
        )
        for name, length in reached.items()
    )  # fmt: skip


def _live(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    length: int | None = None,
    **other: int | bool,
) -> Check:
    """Return a check of a liveness property on every fair run of figure 25 through Reformation."""
    return Check(
        RbpReformingLive, property, outcome, "all", ("own_versions", *without), {**_LIVE, **other}, length,
        deep=True, long_for_z3=True,
    )  # fmt: skip


def _untagged(property: str, outcome: RecordedOutcome, length: int | None = None, **fault: bool) -> Check:
    """Return a check of a property of iRBP, which provides Sending View Delivery; a fault may be planted in
    it.
    """
    return Check(
        IrbpChecked, property, outcome, "all", (), {**_IRBP, **fault}, length, deep=True, long_for_z3=True
    )


def _split(outcome: RecordedOutcome, length: int | None = None, **constants: int | str) -> Check:
    """Return a check whether lists with no common site work at the same time; each reformation is a single
    step.
    """
    return Check(
        ListsChecked, "NoTwoComplete", outcome, "all", (), constants, length, deep=True, long_for_z3=True
    )


def _kept_properties(of: Constants = _LARGE) -> tuple[Check, ...]:
    """Return checks of the two properties that every repair must keep: `DeliveredKept` and
    `UniformPrefixOrder`.
    """
    return (_deep("DeliveredKept", "holds", of=of), _deep("UniformPrefixOrder", "holds", of=of))


def _text(quotation: str, section: str = "3.2.3") -> Source:
    return Source(Document.RBP, section, quotation)


def _figure(figure: str, quotation: str) -> Source:
    return Source(Document.RBP, "3.2.3", quotation, figure=figure)


REFORMATION: tuple[Claim, ...] = (
    Claim(
        "REF-01",
        _text("There must be only one valid token list"),
        "One token list at a time is valid, and it is the most recent one.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "As printed, two lists with one version number are committed (REF-09, REF-21). With all repairs an "
        "originator can "
        "still gather the last agreement to its list when another list, with a higher version, is valid "
        "already: "
        "its site then holds a token, and gives numbers, in a list that a member has left. Such a number is "
        "never "
        "stable: not two lists have all their members at work, and what is delivered is one order.",
        (
            _literal("OneVersionOneList", "violated", 9),
            _check("MostRecent", "violated", of=_SMALL, length=10),
            _deep("NoTwoComplete", "holds", of=_SMALL),
            _deep("NoTwoComplete", "violated", of={**_SMALL, "any_number": True}, length=6),
            _deep("DeliveredKept", "violated", of={**_SMALL, "any_version": True}, length=12),
            *_kept_properties(),
        ),
        defect="design",
        repairs=("modify_at_every_restart", "own_versions"),
        covered=("own_versions",),
    ),
    Claim(
        "REF-02",
        _text("In RBP, Reformation is a three-phase commit (3PC) protocol coordinated by the originator"),
        "Either all sites of a list commit it or none does.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "A slave commits with its own vote in phase II, and the originator may still abort in phase III; "
        "its Abort "
        "goes to the new token site alone. A list that some have committed and that never becomes valid "
        "does no "
        "harm with all repairs, since only a New Token starts the sequencing.",
        (
            _literal("CommitTogether", "violated", 5),
            _check("CommitTogether", "violated", of=_SMALL, length=5),
        ),
        defect="design",
    ),
    Claim(
        "REF-03",
        _text("It must be composed by the majority of processes"),
        "No two lists without a common site work at the same time.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "With a majority of all processes, which is how the sentence is read. Counted among the originator's "
        "previous list, five sites split in three reformations: p1 and p2 commit a list of three whose "
        "originator has not, go on by themselves, and the others are three of the old five. Four sites split "
        "in four: two go on as a majority of three, and one of them then votes for a list of three that it "
        "never commits. Among three sites nothing splits: a majority of two sites are two.",
        (
            Check(
                ListsChecked, "NoTwoComplete", "holds", "all", constants=_FIVE, deep=True, long_for_z3=True
            ),
            Check(
                ListsChecked,
                "NoTwoComplete",
                "violated",
                constants={**_FIVE, "majority": "dynamic"},
                length=3,
                deep=True,
                long_for_z3=True,
            ),
            *(
                Check(
                    ListsChecked,
                    property,
                    "holds",
                    constants={**_FIVE, "processes": 4, "majority": "dynamic"},
                    long_for_z3=True,
                )
                for property in ("NoTwoComplete", "InOwnList", "AllOfAListWork")
            ),
            _split("holds", processes=6, attempts=2),
            _split("violated", 4, processes=4, attempts=4, majority="dynamic"),
            _split("holds", processes=3, attempts=5, majority="dynamic"),
            _deep("NoTwoComplete", "holds", of={**_SMALL, "majority": "dynamic"}),
            _deep("DeliveredKept", "violated", of={**_SMALL, "any_number": True}, length=8),
            _half("violated", 2, any_number=True),
        ),
    ),
    Claim(
        "REF-04",
        _text("the own reformation phase must be tolerant to these failures"),
        "Of several originators one comes through in the end.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "Two originators refuse each other, each gives up for the other's No, and both restart: nobody has "
        "failed, "
        "no timer has expired too early, and but for the version numbers all is as it was. Nothing in the "
        "figures "
        "keeps the next round from going the same way, and there is a fair run in which every round does. "
        "Section 4.4 says so: “this "
        "events can force new rounds of the reformation phase”.",
        (
            _literal("OneComesThrough", "violated", 5, of={**_DUEL, "attempts": 2}),
            Check(
                ReformationChecked,
                "OneComesThrough",
                "violated",
                (),
                (),
                {**_DUEL, "attempts": 4},
                9,
                deep=True,
                long_for_z3=True,
            ),
            Check(
                ReformationAgain,
                "OneComesThrough",
                "violated",
                constants={"processes": 3, "crashes": 0},
                length=10,
                long_for_z3=True,
            ),
            _check("TwoOriginators", "holds", of=_SMALL, length=2),
        ),
        defect="design",
    ),
    Claim(
        "REF-05",
        _figure("24", "Wait until either “New TL”, “Abort” is received, or TIMEOUTj"),
        "The failure of an originator leaves nobody waiting.",
        Standing.IMPLIED,
        Kind.LIVENESS,
        "holds",
        "Whoever waits for an originator that has failed leaves its list in the end, and the list of "
        "another one "
        "becomes valid. Over figure 25 crashes, timeouts, losses, false suspicions and competing originators "
        "are reached at every point. On every fair run of it, with a failure and a loss, a list without the "
        "failed process becomes valid and delivers what was broadcast, if timers are long enough and "
        "originators do not compete: without either, or where nobody notices inactivity, there is a run that "
        "never gets on.",
        (
            *_points(),
            _deep("NobodyWaitsForEver", "holds", of=_FAILING),
            _deep("NobodyWaitsForEver", "violated", of={**_FAILING, "wait_for_the_failed": True}, length=3),
            _deep("AfterOriginatorFailed", "holds", of=_FAILING, length=9),
            _live("nobody_waits_for_ever", "holds"),
            _live("the_failed_are_replaced", "holds"),
            _live("messages_arrive", "holds"),
            _live("Replaced", "holds", length=9),
            _live("nobody_waits_for_ever", "violated", length=6, losses=0, long_timers=False),
            _live(
                "the_failed_are_replaced",
                "violated",
                length=7,
                losses=0,
                one_originator=False,
                attempts=2,
                views=3,
            ),
            _live("messages_arrive", "violated", length=9, passive=False),
            _live("messages_arrive", "violated", "pass_over_null", length=17, losses=0, passes=3, numbers=5),
        ),
    ),
    Claim(
        "REF-06",
        _figure("24", "Leave the list that previously joined."),
        "A vote that is counted after its voter has left the list does no harm.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "If a site that leaves forgets its vote, which neither figure says or excludes: its “previous list” "
        "(section 3.2.3) is then the one that it has committed, so that it "
        "joins a lower list, works there, joins the first one again by the same invitation, and agrees to "
        "what was "
        "chosen by its old vote. It gives up what it has delivered. A site that keeps the highest version "
        "that it "
        "voted for (reading `leaving`) joins nothing lower and nothing twice.",
        (
            _deep("DeliveredKept", "violated", of={**_SMALL, "leaving": "forgets"}, length=12),
            _deep("UniformPrefixOrder", "violated", of={**_LARGE, "leaving": "forgets"}, length=17),
            _half("violated", 3, leaving="forgets"),
            *_kept_properties(),
        ),
        defect="text",
    ),
    Claim(
        "REF-07",
        _figure("24", "If (“a New Token” is received and j still belongs to this list)"),
        "A New Token of a list that its site has left does no harm.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "holds",
        "Such tokens there are, and the test is needed: without it the site works in the old list after it "
        "has "
        "voted for another one.",
        (
            _check("TokenTooLate", "holds", of=_SMALL, length=6),
            _deep("DeliveredKept", "violated", of={**_SMALL, "accept_any_token": True}, length=13),
            *_kept_properties(),
        ),
    ),
    Claim(
        "REF-08",
        _text(
            "the protocol must ensure that messages sent by excluded processes do not interfere with the "
            "processing"
        ),
        "Excluded sites soon have no token any more: they give no more numbers in the old list than they "
        "are.",
        Standing.QUESTION,
        Kind.BOUND,
        "holds",
        "The old token goes on until it names a site that has left. Checked with three sites, of which one "
        "is "
        "excluded: it gives one number at most that nobody of the new list has. That its messages do not "
        "interfere "
        "needs the version of the list in each of them. As printed, where numbers are mixed up, the bound "
        "means "
        "nothing.",
        (
            _check("ExcludedGoesOn", "holds", of=_SMALL, length=6),
            _deep("OldListStops", "holds", of=_LARGE),
            _deep("OneMessageANumber", "violated", of={**_LARGE, "mix_lists": True}, length=8),
            _deep("OneMessageANumber", "violated", "drop_the_rest", of=_LARGE, length=11),
        ),
    ),
    Claim(
        "REF-09",
        _figure("23", "Modify TL version number, Wait and Restart"),
        "Two lists have two version numbers.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Nothing says how the number is chosen. If it is the next higher than that of the list that an "
        "originator "
        "knows, two originators choose the same, and two lists with one number are committed, of which "
        "messages "
        "and sites cannot be told apart. With numbers of its own for each originator it cannot be; nor if a "
        "site "
        "keeps the highest number that it voted for (REF-06), since two majorities have a site in common. "
        "Both if no originator proposes one number twice (REF-21).",
        (
            Check(
                ReformationChecked,
                "OneVersionOneList",
                "violated",
                ("modify_at_every_restart",),
                (),
                _PRINTED,
                9,
                long_for_z3=True,
            ),
            Check(
                ReformationViews,
                "ViewAgreement",
                "violated",
                constants={**_PRINTED, "messages": 1, "numbers": 1},
                length=9,
                deep=True,
                long_for_z3=True,
            ),
            _deep("OneVersionOneList", "holds", of={**_SMALL, "leaving": "forgets"}),
            _deep(
                "OneVersionOneList", "violated", "own_versions", of={**_SMALL, "leaving": "forgets"}, length=9
            ),
            _deep("OneVersionOneList", "holds", "own_versions", of=_SMALL),
            _check("ViewAgreement", "holds", of=_SMALL, deep=True, spec=ReformationViews),
        ),
        defect="text",
        repairs=("own_versions",),
    ),
    Claim(
        "REF-10",
        _text("No message committed by the old token list is lost."),
        "What is stable in a list has its number in every later one.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "In the figures slaves recover what they miss (24, phase II) and the originator recovers nothing, so "
        "that it works in the new list with numbers of its own, or without what the others have delivered. "
        "Section 3.2.3 says that the new sequencer must update the other processes, and no line of figure 23 "
        "takes the originator for one of them. What it asks of the responders is not enough either (REF-11), "
        "nor what the slaves do with the answer (REF-12). The Resiliency Test, which stands for the sentence "
        "in figure 23, refuses nothing: what is stable in a list its originator has.",
        (
            _deep("DeliveredKept", "violated", "originator_recovers", of=_LARGE, length=12),
            _deep("UniformPrefixOrder", "violated", "originator_recovers", of=_LARGE, length=16),
            _literal("DeliveredKept", "violated", 8),
            _check("UniformIntegrity", "holds", of=_ONCE),
            _deep("DeliveredKept", "violated", of={**_SMALL, "recover_nothing": True}, length=12),
            _deep("DeliveredKept", "violated", of={**_SMALL, "work_meanwhile": True}, length=8),
            _deep("UniformPrefixOrder", "holds", of={**_LARGE, "crashes": 1}),
            _half("holds"),
            *_kept_properties(),
        ),
        defect="text",
        repairs=("originator_recovers",),
    ),
    Claim(
        "REF-11",
        _text(
            "This selection aims to chose the process with the greatest knowledge from the previous list, "
            "i.e., the process with the most recent committed message."
        ),
        "The new token site has everything that is stable.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "By the second half of the sentence: if the most recent message is the one of the highest number, a "
        "site that was excluded may have given as high a number in the list before the last, and is chosen. "
        "The first half can be read as its repair: only knowledge \"from the previous list\" counts, so that "
        "the list that a number is from must be told, and come first. Figures 23 and 24 by themselves do not "
        "say who becomes the site; with any of the responders it fails sooner.",
        (
            _deep("DeliveredKept", "violated", "most_recent_list", of=_LARGE, length=13),
            _deep("UniformPrefixOrder", "violated", "most_recent_list", of=_LARGE, length=15),
            _deep("DeliveredKept", "violated", of={**_SMALL, "any_site": True}, length=11),
            *_kept_properties(),
        ),
        defect="text",
        repairs=("most_recent_list",),
    ),
    Claim(
        "REF-12",
        _figure("24", "Recover all missing messages and then Vote “Yes”"),
        "A site that returns has what the others have.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Nothing is taken out of seqQ: a site that was excluded keeps the number that it gave to, or got of, "
        "another message meanwhile, and delivers that one. What the new token site does not have must go.",
        (
            _deep("DeliveredKept", "violated", "drop_the_rest", of=_LARGE, length=12),
            _deep("UniformPrefixOrder", "violated", "drop_the_rest", of=_LARGE, length=13),
            _deep("OneMessageANumber", "holds", of=_LARGE),
            *_kept_properties(),
        ),
        defect="text",
        repairs=("drop_the_rest",),
    ),
    Claim(
        "REF-13",
        _text("a new token does not assign the same sequence number to a different message", "3.2.1"),
        "What has a number at a site of the new list keeps it.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "If “the most recent committed message” is the most recent stable one, as the Resiliency Test has "
        "it: a "
        "site that has a number which is not stable is not preferred, and the number is given again. If it "
        "is the "
        "most recent one that has a number, all numbers of the sites that respond are kept through one "
        "reformation; through several, if a site gives up what the others gave anew. Nothing that was "
        "delivered is lost by the first reading either: with all repairs, what is delivered, its order and "
        "one message for each number in a list are kept under both.",
        (
            _literal("OneMessageANumber", "violated", 7),
            _check("NothingDropped", "violated", of={**_ONCE, "committed": "stable"}, length=5),
            _check("NothingDropped", "holds", of=_ONCE),
            _deep("OneMessageANumber", "violated", "drop_the_rest", of=_LARGE, length=11),
            _deep("OneMessageANumber", "violated", "originator_recovers", of=_LARGE, length=14),
            _deep("OneMessageANumber", "holds", of=_LARGE),
            _deep("OneMessageANumber", "holds", of=_STABLE),
            *_kept_properties(_STABLE),
        ),
        defect="text",
        repairs=("drop_the_rest", "originator_recovers"),
    ),
    Claim(
        "REF-14",
        _text(
            "the RBP Reformation seems to not provide the Same View Delivery property, which all VSC "
            "primitives "
            "present",
            "4.4.1",
        ),
        "Two sites deliver one message in two lists.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "With all repairs, as with none: what was not stable in the old list is delivered in the new one, "
        "by some.",
        (
            _check("SameViewDelivery", "violated", of=_SMALL, length=10, spec=ReformationViews),
            _check("ViewSynchrony", "violated", of=_SMALL, length=10, spec=ReformationViews),
        ),
    ),
    Claim(
        "REF-15",
        _text("it also lacks another important property, the Sending View Delivery", "4.4.1"),
        "A message is delivered in a later list than the one that it was broadcast in.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "With all repairs, as with none.",
        (_check("SendingViewDelivery", "violated", of=_SMALL, length=7, spec=ReformationViews),),
    ),
    Claim(
        "REF-16",
        _text(
            "As the garbage collection is too aggressive, likely this process will be unable to acquire the "
            "missing messages",
            "4.4.1",
        ),
        "A site that returns cannot get what was collected while it was excluded.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "If what is delivered is collected, a site that is invited again, and is put on the New TL, cannot "
        "recover "
        "what the new token site has collected. By figure 24 it never votes Yes, and the list that contains "
        "it "
        "never becomes valid: it does not only remain inconsistent, it keeps the others from going on. If "
        "nothing "
        "is collected, it returns; also where an originator invites no others than the list that it has "
        "committed, but then by an invitation of its own.",
        (
            _deep("CannotReturn", "holds", of={**_SMALL, "collection": "at delivery"}, length=10),
            _deep("CannotReturn", "unknown", of=_SMALL),
            _deep("Rejoined", "holds", of=_SMALL, length=11),
            _deep("Rejoined", "holds", of=_OWN_LIST, length=12),
            *_kept_properties(_OWN_LIST),
        ),
    ),
    Claim(
        "REF-17",
        _text("RBP does not force excluded process to crash", "4.4"),
        "A site that is on no valid list goes on with the old one.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "It may even hold the old list's token, and give a number.",
        (
            _check("ExcludedGoesOn", "holds", of=_SMALL, length=6),
            _check("OneToken", "violated", of=_SMALL, length=5),
        ),
    ),
    Claim(
        "REF-18",
        _text("Note that the reformation phase is blocking"),
        "A site that is in Reformation must not go on with its old list.",
        Standing.IMPLIED,
        Kind.PERFORMANCE,
        "holds",
        "That it does not is how the sentence is modelled. It must not: if it goes on, a message becomes "
        "stable in "
        "the old list that the new token site never heard of. The sentence that follows, that no failure "
        "situation "
        "allows the processing to continue, is judged in RBP-30.",
        (
            _deep("DeliveredKept", "violated", of={**_SMALL, "work_meanwhile": True}, length=8),
            _half("violated", 2, work_meanwhile=True),
            *_kept_properties(),
        ),
        by_construction="a site that is in Reformation has no step of its old list",
    ),
    Claim(
        "REF-19",
        _text("It starts when the originator contacts each process in the new token list"),
        "A good run of n sites costs 4 (n - 1) messages and the token.",
        Standing.QUESTION,
        Kind.BOUND,
        "holds",
        "As many invitations, votes, lists and votes again as there are other sites, and one New Token, "
        "which an "
        "originator that is the token site itself does not send. That the new token site brings the others "
        "up to "
        "date is not counted. Figure 22 is a drawing.",
        (
            _check("GoodRunCosts", "holds", of=_CALM, spec=ReformationCounted),
            _check("GoodRun", "holds", of=_CALM, length=7, spec=ReformationCounted),
            _check(
                "GoodRunCosts",
                "violated",
                of={**_CALM, "patient": False},
                length=9,
                deep=True,
                spec=ReformationCounted,
            ),
        ),
    ),
    Claim(
        "REF-20",
        _text(
            "The absence of this property usually forces the protocols to tag each message with extra "
            "information",
            "4.4.1",
        ),
        "Sending View Delivery would save the version in each message, and its test.",
        Standing.QUESTION,
        Kind.NEGATIVE,
        "violated",
        "This is the converse of the sentence, which the report does not state. The tags are needed in RBP: "
        "without the test numbers of two lists are mixed. But Sending View Delivery does not save them: "
        "iRBP with its repairs provides it, and needs the same field and the same test, "
        "since an ACK of the old list may come when the new one is installed; without the test a number of "
        "the old list is taken for one of the new. What a field and a comparison cost in time the report "
        "does not say, and no run of a model can.",
        (
            _untagged("FreshNumber", "violated", 14, unfiltered=True),
            _untagged("FreshNumber", "holds"),
            _untagged("SendingViewDelivery", "holds"),
            _deep("OneMessageANumber", "violated", of={**_LARGE, "mix_lists": True}, length=8),
        ),
        defect="design",
    ),
    Claim(
        "REF-21",
        _figure("23", "Announce “Reformation Abort” to New Token site; Wait and Restart;"),
        "A reformation that is restarted from phase III has a version number of its own.",
        Standing.IMPLIED,
        Kind.SAFETY,
        "violated",
        "Phase II prints “Modify TL version number, Wait and Restart”, phase III only “Wait and Restart”. "
        "An originator that waits in vain for the second vote of one slave, which has committed already, "
        "restarts with the number that this slave's list has, and another slave commits a second list "
        "under it. The slaves of the two cannot tell each other's messages apart, and what was delivered "
        "is lost, also where each originator has numbers of its own and every site remembers its votes: "
        "the site that two majorities have in common is the originator itself.",
        (
            _check("OneVersionOneList", "violated", "modify_at_every_restart", of=_SMALL, length=9),
            _literal("OneVersionOneList", "violated", 9),
            _deep("DeliveredKept", "violated", "modify_at_every_restart", of=_SMALL, length=12),
            _deep("OneVersionOneList", "holds", of=_SMALL),
            *_kept_properties(),
        ),
        defect="text",
        repairs=("modify_at_every_restart",),
    ),
)
