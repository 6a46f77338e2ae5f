"""Claims of the report on i-views: figure 34 over the normal phase of figure 25.

`_CRASHED`: one of three processes fails. `_MISLED`: nobody fails, and one process is suspected wrongly.
`_TWICE`: two processes are suspected wrongly, and there are two i-views. All views are i-views. The repairs
are those of figure 32, and the exchange of the queues.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.protocols.irbp.iviews import IViewsChecked
from antiphon.spec.protocols.irbp.properties import NormalPhaseChecked

Constants = Mapping[str, int | bool | str]

_CRASHED: Constants = {
    "processes": 3, "messages": 1, "highest": 5, "views": 2, "crashes": 1, "false_suspicions": 0,
    "detected_at_once": True, "assigned": True, "urgent": True,
}  # fmt: skip
_TWO: Constants = {**_CRASHED, "messages": 2, "highest": 4}
_TWO_WHOLE: Constants = {**_CRASHED, "messages": 2, "highest": 6}
_MISLED: Constants = {**_CRASHED, "crashes": 0, "false_suspicions": 1}
_MISLED_SPARING: Constants = {**_MISLED, "spare": 2}
_TWO_MISLED: Constants = {**_MISLED, "messages": 2, "highest": 4}
_TWICE: Constants = {**_MISLED, "highest": 4, "views": 3, "false_suspicions": 2}
_TWICE_CRASHED: Constants = {**_CRASHED, "highest": 4, "views": 3}
_ALONE: Constants = {**_MISLED, "highest": 4, "false_suspicions": 2}
_LISTED: Constants = {"processes": 3, "messages": 1, "highest": 4, "views": 1, "crashes": 1}
_BOTH: Constants = {**_TWICE_CRASHED, "false_suspicions": 1}


def _check(
    property: str,
    outcome: RecordedOutcome,
    *without: str,
    of: Constants,
    length: int | None = None,
    **reading: str,
) -> Check:
    """Return a check of a property with all repairs but those in `without`."""
    deep = of is not _CRASHED and of is not _TWICE_CRASHED
    found = {**of, **reading}
    return Check(IViewsChecked, property, outcome, "all", without, found, length, deep, long_for_z3=True)


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


_KEPT = ("ViewSynchrony", "UniformIntegrity")
_ORDERED = ("UniformPrefixOrder", "UniformTotalOrder", *_KEPT)
"""Properties to check with two messages: order needs two."""

IVIEWS: tuple[Claim, ...] = (
    Claim(
        "IRB-12",
        Source(
            Document.RBP,
            "4.4.4",
            "As message stabilization during a view change is implemented by exchanging the set of sequenced "
            "messages from each process, we can optimize the i-view algorithm by skipping this step",
            figure="34",
            lines="1-3",
        ),
        "An i-view need not exchange what has a number, since nothing is collected when it is installed.",
        Standing.STATED,
        Kind.SAFETY,
        "violated",
        "The exchange does more than make messages stable: it tells the new sequencer which numbers are "
        "given. A number that the first process of the new list has not heard, and another has, is given "
        "again, and the two deliver different messages with it; this with the normal phase stopped and a "
        "majority awaited, so that nothing else is to blame. Where the queues are emptied as figure 32 does, "
        "messages that one process has delivered are lost to the others. With the exchange of figure 32 all "
        "holds.",
        (
            _check("Agreement", "violated", "exchange_queues", of=_CRASHED, length=14),
            Check(
                IViewsChecked,
                "UniformPrefixOrder",
                "violated",
                ("block", "await_majority"),
                (),
                _TWO,
                23,
                deep=True,
                long_for_z3=True,
            ),
            *(_check(name, "holds", of=_CRASHED) for name in (*_KEPT, "Agreement", "UniformAgreement")),
            *(_check(name, "holds", of=_TWO_WHOLE) for name in _ORDERED),
            *(_check(name, "holds", of=_MISLED) for name in _KEPT),
        ),
        defect="design",
        repairs=("exchange_queues",),
    ),
    Claim(
        "IRB-13",
        Source(
            Document.RBP,
            "4.4.4",
            "TL_k is the new token list with all processes that sent ack",
            figure="34",
            lines="3",
        ),
        "What the core takes for stable survives one failure, however small the core has become.",
        Standing.QUESTION,
        Kind.BOUND,
        "violated",
        "Stability is counted in the core, and figure 34 asks for no majority: a process that suspects all "
        "others is a core of one, and delivers what nobody else has. With a majority of TL_i three processes "
        "keep a core of two; more must be asked for where more failures are to be survived.",
        (
            _check("CoreOfTwo", "violated", "await_majority", of=_ALONE, length=11),
            _check("CoreOfTwo", "holds", of=_ALONE),
        ),
        defect="text",
        repairs=("await_majority",),
    ),
    Claim(
        "IRB-14",
        _text(
            "4.4.3",
            "As it still belong to the view, it receives all broadcasts, and can send messages to the group.",
        ),
        "An external process receives what is broadcast, and its own broadcasts are delivered.",
        Standing.STATED,
        Kind.COMPOSITION,
        "violated",
        "Step 6 of figure 34 installs the new list `if p_k ∈ TL`, and has no `else`: who is not in TL keeps "
        "the old list. What the core sends with the new list is not for it (figure 25, lines 19 and 27), and "
        "what it sends with the old one is for nobody. Where it takes the number and the list all the same, "
        "it receives, and what it sends is delivered. That it receives *all* broadcasts is no more than that "
        "they are sent to it: IRB-17.",
        (
            _check("Validity", "violated", "go_on_outside", of=_MISLED_SPARING, length=9),
            _check("ExternalSends", "unknown", "go_on_outside", of=_MISLED),
            _check("ExternalReceives", "unknown", "go_on_outside", of=_MISLED),
            _check("Validity", "holds", of=_MISLED_SPARING),
            _check("ExternalSends", "holds", of=_MISLED, length=23),
            _check("ExternalReceives", "holds", of=_MISLED, length=27),
        ),
        defect="text",
        repairs=("go_on_outside",),
    ),
    Claim(
        "IRB-16",
        _text("5.2.3", "reintegration of external processes in a new i-view"),
        "An external process can be in the list of a later i-view.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "As printed an external process stays with the old list, and answers no later call (IRB-14). "
        "Where it goes on with the new list, it can come back in the reading that step 2 hears of the whole "
        "group. As the figure stands beside its step 4, `among "
        "TL_i processes`, only members of TL_i send an ack, and nobody ever comes back. The new i-view must "
        "be called by a suspicion of somebody else: that an external process is back calls none.",
        (
            _check("ExternalReturns", "unknown", "go_on_outside", of=_TWICE, acknowledging="group"),
            _check("ExternalReturns", "unknown", of=_TWICE),
            _check("ExternalReturns", "holds", of=_TWICE, acknowledging="group"),
            _check("ViewSynchrony", "holds", of=_TWICE, acknowledging="group"),
        ),
        defect="text",
        repairs=("go_on_outside",),
    ),
    Claim(
        "IRB-18",
        _text(
            "4.4.3",
            "just moving a suspect process does not solve the problem, and soon the token passing is blocked "
            "again",
        ),
        "A process that has failed blocks the token wherever it stands in the list.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "The token names every member in turn, and waits for each. With the process outside the list the "
        "others go on (IRB-08).",
        (Check(NormalPhaseChecked, "Validity", "violated", constants=_LISTED, length=2, long_for_z3=True),),
    ),
    Claim(
        "IRB-19",
        _text(
            "4.4.3",
            'While Reliable Broadcast and Total Order properties must be ensured for the "core" processes, '
            "the only thing we can do for the external processes is to allow them to be kept up-to-date.",
        ),
        "The core delivers the same messages in the same order, whatever becomes of the external processes.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "With the exchange of queues, and order holds for the external processes too. Without it the "
        "core does not agree (IRB-12).",
        (
            _check("CoreAgreement", "holds", of=_CRASHED),
            _check("CoreAgreement", "violated", "exchange_queues", of=_CRASHED, length=14),
            _check("CoreAgreement", "holds", of=_MISLED),
            *(_check(name, "holds", of=_TWO_MISLED) for name in ("UniformPrefixOrder", "UniformTotalOrder")),
            _check("ExternalLives", "holds", of=_MISLED),
        ),
        repairs=("exchange_queues",),
    ),
    Claim(
        "IRB-20",
        _text("4.4.4", "processes are no more forced to manipulate lists of messages"),
        "The view change of figure 34 is lighter than that of figure 32.",
        Standing.STATED,
        Kind.PERFORMANCE,
        "holds",
        "As printed step 1 sends an ack, and consensus is on a list of processes: no message and no number "
        "is reported or decided. But lighter it is only while it is wrong: the exchange of queues that "
        "IRB-12 asks for is what it leaves out.",
        (
            Check(
                IViewsChecked,
                "NothingIsSent",
                "holds",
                (),
                (),
                {**_CRASHED, "highest": 3},
                deep=True,
                long_for_z3=True,
            ),
            _check("NothingIsSent", "violated", of=_MISLED, length=5),
        ),
    ),
    Claim(
        "IRB-24",
        Source(
            Document.RBP,
            "4.4.4",
            "execute consensus among TL_i processes, with initial_k as the initial value",
            figure="34",
            lines="4",
        ),
        "A core that i-views have made smaller stands less: of three processes, one wrong suspicion and one "
        "crash end all view changes.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "holds",
        "Consensus is decided by a majority of TL_i, and of two processes that is both. Three stand "
        "a crash, and would stand it after the wrong suspicion too, if all three still took part in the "
        "consensus.",
        (
            _check("ViewChangesEnd", "violated", of=_BOTH, length=12),
            _check("ViewChangesEnd", "holds", of=_TWICE_CRASHED),
            _check("ViewChangesEnd", "holds", of=_MISLED),
        ),
    ),
)
