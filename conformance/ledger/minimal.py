"""Check that a claim needs every repair that it names: without it, a check that holds with all repairs fails.

A check that holds with the repair is run again without it. The repair is needed if the check fails then, or a
witness is no longer reached. Checks are tried in the order of the record until one fails; then those that the
record expects to fail with all repairs but this one, where the bound is too large for a check that holds. A
repair without a failing check is idle: an error of a record that does not mark it as covered. While deep
checks are skipped, such a repair is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from antiphon.conformance.ledger.checking import CheckResult, program_of, run_ledger
from antiphon.conformance.ledger.report_cache import Reports
from antiphon.spec.claims import Check, Claim


@dataclass(frozen=True)
class Need:
    """Need for one repair of a claim: the check that fails without it and its result, or None. `tried` counts
    checks, `left` the skipped deep ones.
    """

    claim: Claim
    repair: str
    noticed: CheckResult | None
    tried: int
    left: int = 0

    @property
    def is_open(self) -> bool:
        """Return True if no check failed, and deep checks that could were skipped."""
        return self.noticed is None and self.left > 0

    @property
    def is_covered(self) -> bool:
        """True if the record says that other repairs cover this one, or that the need is an open question."""
        return self.repair in self.claim.covered

    @property
    def is_wrong(self) -> bool:
        """True if the record is wrong: no check fails without the repair, which is not marked as covered; or
        one fails, and it is marked so.
        """
        return (self.noticed is None) != self.is_covered and not self.is_open


def needs(
    claims: Iterable[Claim],
    *,
    deep: bool = False,
    engine: str = "auto",
    progress: Callable[[int, int, str], None] | None = None,
    reports: Reports | None = None,
) -> tuple[Need, ...]:
    """Return, for every repair of the claims, the effect of leaving it out; deep checks are tried only with
    `deep`. `reports` as in `run_ledger`.
    """
    named = [(claim, repair) for claim in claims for repair in claim.repairs]
    found = []
    for number, (claim, repair) in enumerate(named, 1):
        if progress is not None:
            progress(number, len(named), f"{claim.id} without {repair}")
        found.append(_need(claim, repair, deep=deep, engine=engine, reports=reports))
    return tuple(found)


def _need(claim: Claim, repair: str, *, deep: bool, engine: str, reports: Reports | None) -> Need:
    tried = left = 0
    for check in _without(claim, repair):
        if check.deep and not deep:
            left += 1
        else:
            tried += 1
            (result,) = run_ledger(
                [replace(claim, checks=(check,))], deep=True, engine=engine, reports=reports
            )[0].results
            if result.outcome.value != "holds":
                return Need(claim, repair, result, tried, left)
    return Need(claim, repair, None, tried, left)


def _without(claim: Claim, repair: str) -> Iterator[Check]:
    """Yield the checks that hold with the repair, each changed to run without it; then those that are
    recorded to fail with all repairs except this one.
    """
    checks = [check for check in claim.checks if isinstance(check, Check)]
    for check in checks:
        if check.outcome == "holds" and program_of(check).constants.get(repair) is True:
            chosen = (
                check.repairs
                if isinstance(check.repairs, str)
                else tuple(name for name in check.repairs if name != repair)
            )
            without = (*check.without, repair) if isinstance(check.repairs, str) else check.without
            yield replace(check, repairs=chosen, without=without, length=None)
    yield from (
        check
        for check in checks
        if check.outcome == "violated" and check.repairs == "all" and check.without == (repair,)
    )
