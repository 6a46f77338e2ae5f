"""No section of docs/ledger-strength.json is stale: each rests on today's records and specifications."""

from pathlib import Path

import pytest

from antiphon.conformance.ledger.strength import document
from antiphon.spec.claims import claims_of, families

DATA = Path(__file__).parents[2] / "docs" / "ledger-strength.json"


def test_each_family_has_a_section() -> None:
    assert tuple(document.read(DATA)) == families()


@pytest.mark.sampled(16)
@pytest.mark.parametrize("family", families())
def test_the_section_of_a_family_is_current(family: str) -> None:
    """Digests are compared, and no mutant is asked. `make strength` makes stale sections anew."""
    assert not document.is_stale(document.read(DATA).get(family), claims_of(family)), (
        f"antiphon claims --mutants --sample 6 --family {family} --write {DATA}"
    )
