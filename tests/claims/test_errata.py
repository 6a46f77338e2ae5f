"""The errata say what the ledger's checks find. That what is committed rests on today's records and
specifications is tested beside the ledger, which reads the same specifications.
"""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from antiphon.conformance.cli.claims import reproduce
from antiphon.conformance.ledger import Reports, errata, run_ledger
from antiphon.programs import called
from antiphon.spec.claims import Check, Claim, all_claims, claim_of
from antiphon.spec.lang import Spec, action, repair
from antiphon.spec.protocols.token_broadcast.properties import Figure5Checked

DOCS = Path(__file__).parents[2] / "docs"
CHEAP = ("MSQ-03", "RBC-01", "RBP-01", "RBC-05", "MSQ-07")
"""Claims whose checks take a second or two; between them every form that a section can have."""


@cache
def made(identifier: str) -> errata.Section:
    (result,) = run_ledger([claim_of(identifier)], deep=True, reports=Reports.private())
    return errata.section(result, reproduce)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("identifier", CHEAP)
def test_what_is_committed_is_what_is_found(identifier: str) -> None:
    written = (DOCS / "errata.md").read_text(encoding="utf-8")
    section = made(identifier)
    assert errata.sections_in(written)[identifier] == (section.digest, section.text)
    drawn = errata.picture(section, called)
    if drawn:
        assert (DOCS / errata.PICTURES / f"{identifier}.svg").read_text(encoding="utf-8") == drawn


@pytest.mark.deep
def test_a_section_quotes_shows_the_shortest_run_and_names_repairs_bounds_and_command() -> None:
    text = made("MSQ-05").text
    assert "> they wait until a tuple in seqQ corresponds to the next expected message (line 35)" in text
    assert "**Violated: a defect of the printed text.**" in text
    assert (
        "`UniformIntegrity` fails in 7 steps (with `start_token`; processes=2, messages=1, losses=1)" in text
    )
    assert (
        "- `await_body`: line 35: delivery waits for the message itself.\n  Without it alone, "
        "`UniformIntegrity` fails in 7 steps" in text
    )
    assert (
        "Repaired, it holds:\n\n- `UniformIntegrity` (all repairs; processes=2, messages=1, losses=1): all "
        "5,929 states" in text
    )
    assert text.endswith("Again: `antiphon claims MSQ-05 --deep`")
    assert ".py:" not in text


@pytest.mark.deep
def test_the_picture_bears_the_name_that_the_command_line_knows() -> None:
    root = ElementTree.fromstring(errata.picture(made("RBC-05"), called))
    assert root.attrib["aria-label"].startswith("Space-time diagram: figure-5 · ")


@pytest.mark.deep
def test_what_is_never_reached_and_what_is_judged_by_reading_have_no_run() -> None:
    assert "No run reaches `TokenAccepted` (the literal text; " in made("RBP-01").text
    assert "is judged by reading it" in made("MSQ-07").text
    assert errata.picture(made("RBP-01"), called) == errata.picture(made("MSQ-07"), called) == ""


def changed(claim: Claim) -> list[Claim]:
    """The claim with something else in its record, its checks, or the meaning of what they check."""
    first = claim.checks[0]
    assert isinstance(first, Check)
    others = [
        replace(first, length=5),
        replace(first, constants={"processes": 2}),
        replace(first, spec=Figure5Checked),
    ]
    return [
        replace(claim, because="Otherwise."),
        replace(claim, repairs=()),
        *(replace(claim, checks=(other, *claim.checks[1:])) for other in others),
    ]


def test_a_section_is_stale_when_its_record_or_what_it_checks_has_changed() -> None:
    claim = claim_of("RBC-01")
    written = errata.text([made("RBC-01")])
    pictures = {"RBC-01.svg": True}
    assert errata.stale([claim], written, pictures) == ()
    assert errata.stale([claim], written, {}) == (claim,)
    assert errata.stale([claim, claim_of("RBC-05")], written, pictures) == (claim_of("RBC-05"),)
    for other in changed(claim):
        assert errata.stale([other], written, pictures) == (other,)


class Light(Spec):
    """A light that nobody switches on, as printed."""

    shines: bool = False

    def says(self) -> bool:
        """Constant that the repair replaces."""
        return False

    @action
    def switch(self) -> None:
        """Set the light to the result of `says`."""
        self.shines = self.says()


def repaired() -> tuple[type[Spec], type[Spec]]:
    """Two specifications of one name, alike but for what their repair does."""

    @repair("it is switched on", answers="RBC-01")
    class Switched(Light):
        def says(self) -> bool:
            return True

    class Offered(Light, repairs=(Switched,)):
        """A light with its repair."""

    one = Offered

    @repair("it is switched on", answers="RBC-01")
    class Switched(Light):
        def says(self) -> bool:
            return not self.shines

    class Offered(Light, repairs=(Switched,)):
        """A light with its repair."""

    return one, Offered


def test_a_section_is_stale_when_a_repair_that_it_rests_on_has_changed() -> None:
    claim = claim_of("RBC-01")
    digests = [
        errata.digest(replace(claim, checks=(Check(spec, "Lit", "holds", repairs),)))
        for repairs in ("all", ())
        for spec in repaired()
    ]
    assert digests[0] != digests[1]
    assert digests[2] == digests[3]


def test_what_was_written_is_read_back() -> None:
    sections = [made("RBC-01"), made("MSQ-07")]
    assert errata.sections_in(errata.text(sections)) == {
        item.claim.id: (item.digest, item.text) for item in sections
    }


def test_only_refuted_claims_are_errata() -> None:
    assert {claim.verdict for claim in errata.refuted(all_claims())} == {"violated"}
    assert [claim.id for claim in errata.refuted([claim_of("RBC-02"), claim_of("RBC-01")])] == ["RBC-01"]
