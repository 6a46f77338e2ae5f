"""Checks of the bounds of DTP, which no exploration reaches: by induction for two processes, and on random
walks of three. A walk shows what can happen, and never that something cannot.
"""

from __future__ import annotations

from typing import Any

from antiphon.conformance.report.words import settings
from antiphon.model.simulate import simulate
from antiphon.model.verdict import EvidenceKind, Outcome
from antiphon.spec.lang import program
from antiphon.spec.protocols.dtp.induction import DtpBounds
from antiphon.spec.protocols.dtp.properties import DtpProperties

__all__ = ["bounds_by_induction", "buffers_on_walks"]

BOUNDS = ("AckBound", "StableInTime", "OnlyTheLatest", "OneWithoutANumber")
"""Bounds of DTP for a buffer: n - 1 ACKs; a MSG is stable once the ACKs of n - 1 later MSGs are known; 2n - 2
MSGs with a gsn (number in the order), and one MSG of each sender without.
"""

WALKED = ("MessageBound", "TrueMessageBound", "AckBound", "StableInTime")
"""Bounds for a buffer to test on walks: 2n - 1 MSGs, as the paper has it; 3n - 2 MSGs; n - 1 ACKs; a MSG is
stable once the ACKs of n - 1 later MSGs are known.
"""

SEED = 7
WALKS = 4000
STEPS = 400


def bounds_by_induction() -> tuple[bool, str]:
    """Prove the bounds for two processes, three updates, one NULL after each gsn, one loss, any number of
    timeouts.
    """
    from antiphon.model.symbolic import prove  # here, because loading Z3 takes longer than many a check

    constants: dict[str, Any] = {"processes": 2, "messages": 3, "losses": 1, "unlimited": True, "nulls": 1}
    verdicts = prove(program(DtpBounds, repairs="all", **constants), properties=BOUNDS).verdicts
    good = all(item.evidence.kind is EvidenceKind.PROVED for item in verdicts)
    said = ", ".join(f"{item.property} {item.outcome.value}" for item in verdicts if item.property in BOUNDS)
    return good, f"{said} ({', '.join(settings(constants))})"


def buffers_on_walks() -> tuple[bool, str]:
    """Test on walks, among three processes with nine updates and one NULL after each gsn: no walk of DTP with
    all repairs leaves the true bounds, and walks do without a repair that they need.
    """
    constants: dict[str, Any] = {"processes": 3, "messages": 9, "losses": 0, "timeouts": 0, "nulls": 1}
    needed = {
        (): {"MessageBound"},
        ("collect_always",): {"MessageBound", "TrueMessageBound", "AckBound"},
        ("carry_status",): {"MessageBound", "AckBound", "StableInTime"},
    }
    good, found = True, []
    for without, left in needed.items():
        bound = program(DtpProperties, repairs="all", without=without, **constants)
        report = simulate(bound, seed=SEED, walks=WALKS, steps=STEPS, to_errors=True)
        broken = {name for name in WALKED if report[name].outcome is Outcome.VIOLATED}
        good = good and broken == left
        said = ", ".join(name for name in WALKED if name in broken) or "nothing"
        found.append(f"{f'without `{without[0]}`' if without else 'with all repairs'} walks break {said}")
    return good, f"{'; '.join(found)} (seed {SEED}, {WALKS} walks of {STEPS} steps at most)"
