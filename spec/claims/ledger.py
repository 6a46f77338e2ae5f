"""Ledger: every recorded claim by its identifier and its family, in the order of the documents; loaded on
demand.
"""

from __future__ import annotations

from functools import cache

from antiphon.spec.catalogue import ENTRIES
from antiphon.spec.claims.claim import Check, Claim
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import did_you_mean, known_names


@cache
def all_claims() -> tuple[Claim, ...]:
    """Return every recorded claim, family by family. Identifiers are unique."""
    return tuple(claim for family in families() for claim in claims_of(family))


def families() -> tuple[str, ...]:
    """Return the families that have claims, in the order of the ledger: the letters of identifiers before the
    dash, in lower case.
    """
    return tuple(dict.fromkeys(entry.family for entry in ENTRIES if entry.family))


@cache
def claims_of(family: str) -> tuple[Claim, ...]:
    """Return the claims of a family (`families()` lists them), in the order of their numbers; capitals in the
    name do not matter.

    Raises:
        SpecError: no such family; the known ones are listed.
    """
    entries = {entry.claims_at: entry for entry in ENTRIES if entry.family == family.lower()}
    if not entries:
        raise SpecError(
            f"the ledger has no claims of {family!r}; {known_names(family.lower(), sorted(families()))}"
        )
    return tuple(
        sorted((claim for entry in entries.values() for claim in entry.claims), key=lambda claim: claim.id)
    )


def is_borrowed(claim: Claim, check: Check) -> bool:
    """Return True if the record of another, earlier family contains this very check: comparisons repeat
    checks of the protocols' records.
    """
    return _askers().get(id(check), claim.protocol) != claim.protocol


@cache
def _askers() -> dict[int, str]:
    """Return, for each check, the first family that asks it, by the identity of the check."""
    asked = [(id(check), claim.protocol) for claim in all_claims() for check in claim.checks]
    return dict(reversed(asked))


def claim_of(identifier: str) -> Claim:
    """Return the claim with this identifier.

    Raises:
        SpecError: no such claim.
    """
    family = identifier.split("-")[0].lower()
    claims = claims_of(family) if family in families() else all_claims()
    for claim in claims:
        if claim.id == identifier.upper():
            return claim
    begin = ", ".join(name.upper() for name in families())
    hint = did_you_mean(identifier.upper(), [claim.id for claim in claims])
    hint = hint or f"; claims begin with {begin}, for example {all_claims()[0].id}"
    raise SpecError(f"the ledger has no claim {identifier!r}{hint}")
