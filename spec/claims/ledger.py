"""Which claims are recorded? All of them, by identifier, in the order of the documents."""

from __future__ import annotations

from antiphon.spec.claims.claim import Claim
from antiphon.spec.claims.dtp import DTP
from antiphon.spec.claims.horus import HORUS
from antiphon.spec.claims.moving_sequencer import MOVING_SEQUENCER
from antiphon.spec.claims.ordering import ORDERING
from antiphon.spec.claims.rbp import RBP
from antiphon.spec.claims.rbp_resilient import RBP_RESILIENT
from antiphon.spec.claims.sequencer import SEQUENCER
from antiphon.spec.claims.token_broadcast import TOKEN_BROADCAST
from antiphon.spec.claims.total import TOTAL
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import did_you_mean, known_names

LEDGER: tuple[Claim, ...] = (
    *TOKEN_BROADCAST,
    *MOVING_SEQUENCER,
    *sorted((*RBP, *RBP_RESILIENT), key=lambda claim: claim.id),
    *SEQUENCER,
    *DTP,
    *HORUS,
    *ORDERING,
    *TOTAL,
)
"""Every record; a further module of claims is one more line. Identifiers are unique."""


def families() -> tuple[str, ...]:
    """The families that have claims, in the order of the ledger: the letters before the dash, in lower case."""
    return tuple(dict.fromkeys(claim.protocol for claim in LEDGER))


def claims_of(protocol: str) -> tuple[Claim, ...]:
    """The claims of a family (`families()` lists them), in any case.

    Raises:
        SpecError: no such family; the known ones are listed.
    """
    found = tuple(claim for claim in LEDGER if claim.protocol == protocol.lower())
    if not found:
        known = sorted(families())
        raise SpecError(f"the ledger has no claims of {protocol!r}; {known_names(protocol.lower(), known)}")
    return found


def claim_of(identifier: str) -> Claim:
    """The claim with this identifier.

    Raises:
        SpecError: no such claim.
    """
    for claim in LEDGER:
        if claim.id == identifier.upper():
            return claim
    family = identifier.upper().split("-")[0]
    known = [claim.id for claim in LEDGER if claim.id.startswith(f"{family}-")] or [claim.id for claim in LEDGER]
    families = ", ".join(dict.fromkeys(claim.id.split("-")[0] for claim in LEDGER))
    hint = did_you_mean(identifier.upper(), known) or f"; claims begin with {families}, for example {LEDGER[0].id}"
    raise SpecError(f"the ledger has no claim {identifier!r}{hint}")
