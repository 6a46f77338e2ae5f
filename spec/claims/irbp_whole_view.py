"""Claims on figures 32 and 34 in one group where all members of the view decide, and not the core.

`_STANDS`: of three processes one fails, the aggressive detector is wrong once, and what was delivered is
kept. `_TWO`: two messages. `_FORGETS`: nothing is kept. All repairs are on. All checks are deep.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.claims.irbp_two_views import ORDER, SAFETY
from antiphon.spec.protocols.irbp.whole_view import WholeViewChecked

Constants = Mapping[str, int | bool | str]

_STANDS: Constants = {
    "processes": 3, "messages": 1, "highest": 3, "spare": 2, "views": 3, "crashes": 1,
    "false_suspicions": 1, "misjudgements": 0, "room": 3,
    "detected_at_once": True, "assigned": True, "prompt": True,
}  # fmt: skip
_TWO: Constants = {**_STANDS, "messages": 2, "spare": 0}
_FORGETS: Constants = {**_STANDS, "highest": 5, "room": 0}


def _check(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants = _STANDS, length: int | None = None
) -> Check:
    """Return a deep check of a property where the whole view decides, with all repairs but those in
    `without`.
    """
    return Check(
        WholeViewChecked, property, outcome, "all", without, of, length, deep=True, long_for_z3=True
    )


WHOLE_VIEW: tuple[Claim, ...] = (
    Claim(
        "IRB-35",
        Source(
            Document.RBP,
            "4.4.4",
            "execute consensus among TL_i processes, with initial_k as the initial value",
            figure="34",
            lines="4",
        ),
        "Where the core alone decides, a view change ends while a majority of the view is up.",
        Standing.QUESTION,
        Kind.LIVENESS,
        "violated",
        "A wrong suspicion makes a core of two out of three; when one of them fails no majority of the core "
        "is left, and the group stands still, though two of three are up (IRB-24). Where all members of the "
        "view report, propose and vote, external ones too, and the core is more than half of the view, every "
        "view change ends. An external process may lack what the core has collected; then it cannot be in "
        "the next core, and those that lack nothing may be no majority. So what is kept for it must be in "
        "the reports.",
        (
            _check("ChangesEnd", "violated", "count_externals", length=12),
            _check("VscTermination", "violated", "count_externals", length=10),
            _check("ChangesEnd", "violated", "report_kept", length=26),
            _check("ChangesEnd", "holds"),
            _check("NobodyKillsItself", "holds"),
            _check("CoreIsMost", "holds"),
        ),
        defect="design",
        repairs=("count_externals", "report_kept"),
    ),
    Claim(
        "IRB-36",
        Source(
            Document.RBP,
            "4.4.2",
            "Msgs_k is the union of the seqQ sets received",
            figure="32",
            lines="3",
        ),
        "A process that has missed messages may propose what the others adopt.",
        Standing.QUESTION,
        Kind.SAFETY,
        "violated",
        "What is stable is in no seqQ. A member of the core knows of it by itself; an external process that "
        "lacks it takes the numbers for free, and gives them again: a message that all of the core have "
        "delivered is delivered a second time. Where each reports how far it has all, and Msg goes on behind "
        "the highest number so reported, all safety holds, also when the proposer lacks messages and has "
        "none of their bodies: a majority that reports has a member of the core, which has all.",
        (
            _check("UniformIntegrity", "violated", "report_stable", of=_FORGETS, length=37),
            _check("ViewSynchrony", "violated", "report_stable", of=_FORGETS, length=33),
            _check("ExternalProposes", "holds", of=_FORGETS, length=25),
            *(_check(name, "holds", of=_FORGETS) for name in SAFETY),
            *(_check(name, "holds") for name in SAFETY),
            *(_check(name, "holds", of=_TWO) for name in (*ORDER, "UniformIntegrity", "ViewSynchrony")),
        ),
        defect="design",
        repairs=("report_stable",),
    ),
)
