"""Claims of the report on primary-backup replication, alone and over view-synchronous communication.

Three processes, two requests. Order and atomicity are judged as total order and agreement on what the servers
perform.
"""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.spec.claims.claim import Check, Claim, Document, Kind, RecordedOutcome, Source, Standing
from antiphon.spec.protocols.primary_backup.properties import (
    PrimaryBackupChecked,
    PrimaryBackupOverVscChecked,
)

Constants = Mapping[str, int | bool | str]

_CALM: Constants = {"processes": 3, "messages": 2, "crashes": 0}
_FAILING: Constants = {**_CALM, "crashes": 1}
_VSC: Constants = {**_FAILING, "views": 2, "false_suspicions": 0, "detected_at_once": True}
_MISLED: Constants = {**_VSC, "false_suspicions": 1}


def _alone(
    property: str, outcome: RecordedOutcome, of: Constants, length: int | None = None, **variants: bool
) -> Check:
    return Check(PrimaryBackupChecked, property, outcome, constants={**of, **variants}, length=length)


def _over_vsc(
    property: str, outcome: RecordedOutcome, *without: str, of: Constants = _VSC, length: int | None = None
) -> Check:
    deep = of["false_suspicions"] != 0
    return Check(
        PrimaryBackupOverVscChecked, property, outcome, "all", without, of, length, deep, long_for_z3=True
    )


def _text(section: str, quotation: str) -> Source:
    return Source(Document.RBP, section, quotation)


_GIVEN = ("Agreement", "TotalOrder", "UniformTotalOrder", "RepliedAtAll", "Answered", "OnePrimary")

PRIMARY_BACKUP: tuple[Claim, ...] = (
    Claim(
        "PBK-01",
        _text(
            "4.3.1",
            "If there is no failure, it is clear that ordering is provided as all requests from the client "
            "are processed by the primary, and the update messages replicates this order in the backups. "
            "Atomicity is also ensured because the update is forwarded to all the backups and ack is "
            "awaited by the primary before sending the response.",
        ),
        "Without failures primary-backup replication gives total order and atomicity.",
        Standing.STATED,
        Kind.SAFETY,
        "holds",
        "Both rest on the acknowledgements: the primary takes the next request when all have performed the "
        "last. One that does not wait has two updates on their way, and channels need not keep their order.",
        (
            _alone("UniformTotalOrder", "holds", _CALM),
            _alone("UniformPrefixOrder", "holds", _CALM),
            _alone("UniformAgreement", "holds", _CALM),
            _alone("UniformIntegrity", "holds", _CALM),
            _alone("Answered", "holds", _CALM),
            _alone("UniformTotalOrder", "violated", _CALM, 5, reply_at_once=True),
            _alone("AllReplied", "holds", _CALM, length=12),
        ),
    ),
    Claim(
        "PBK-02",
        _text(
            "4.3.1",
            "Specifically, a hard problem to solve occurs if the primary fails while sending the update and "
            "before sending the reply.",
        ),
        "A primary that fails between update and reply breaks atomicity.",
        Standing.STATED,
        Kind.NEGATIVE,
        "holds",
        "One backup performs the update, the other never does. And order is lost with atomicity: a backup "
        "that was chosen takes another request, and an update of the failed primary comes late. What a "
        "client has a reply to is everywhere all the same.",
        (
            _alone("Agreement", "violated", _FAILING, length=4),
            _alone("TotalOrder", "violated", _FAILING, length=7),
            _alone("RepliedAtAll", "holds", _FAILING),
            _alone("RepliedAtAll", "violated", _FAILING, 4, reply_at_once=True),
            _alone("TakenOver", "holds", _FAILING, length=3),
        ),
    ),
    Claim(
        "PBK-03",
        _text(
            "4.4.1",
            "While in Primary–Backup this view change can be delayed indefinitely if the failed process is "
            "a backup, RBP eventually requires the view change, as failures block the token passing.",
        ),
        "If a backup has failed, primary-backup replication goes on without a view change for as long as "
        "one likes.",
        Standing.STATED,
        Kind.LIVENESS,
        "violated",
        "Order and atomicity do not suffer. But the primary “waits for an acknowledgement from all backups” "
        "(section 4.3.1), also from the one that has failed: the next request is never answered, and no "
        "other is taken. Without a view change it blocks at the next request, as RBP does at the next token.",
        (
            _alone("Answered", "violated", _FAILING, length=2, only_backups_fail=True),
            _alone("UniformTotalOrder", "holds", _FAILING, only_backups_fail=True),
            _alone("Agreement", "holds", _FAILING, only_backups_fail=True),
            Check(PrimaryBackupChecked, "Answered", "holds", "all", constants=_FAILING),
            _over_vsc("Answered", "holds"),
        ),
        defect="design",
        repairs=("exclude_failed",),
    ),
    Claim(
        "PBK-04",
        _text(
            "4.3.2",
            "The use of VSC in the primary-backup replication ensures the Atomicity requirements even if "
            "there are failures, and allows the processes to select the primary server in a deterministic "
            "way (as the view is agreed by all processes).",
        ),
        "Over VSC, primary-backup replication is atomic in spite of failures, and who is primary is settled "
        "by the view.",
        Standing.STATED,
        Kind.COMPOSITION,
        "holds",
        "Over figure 29 with its repairs: for processes that do not fail. It is not uniform: a primary "
        "performs a request at once, and may fail before anybody else has; its client has no reply. A "
        "primary that is wrongly suspected performs requests alone until it learns that it was left out and "
        "kills itself; none of them gets a reply, since nobody acknowledges.",
        (
            *(_over_vsc(property, "holds") for property in (*_GIVEN, "PrefixOrder")),
            _over_vsc("UniformAgreement", "violated", length=4),
            _over_vsc("Agreement", "violated", "stop_receiving", length=6),
            *(_over_vsc(property, "holds", of=_MISLED) for property in _GIVEN),
            _over_vsc("PrefixOrder", "violated", of=_MISLED, length=8),
            _over_vsc("RepliedAtAll", "violated", "suicide", of=_MISLED, length=8),
            _over_vsc("SecondPrimary", "holds", length=15),
        ),
    ),
)
"""Claims PBK-01 to PBK-04."""
