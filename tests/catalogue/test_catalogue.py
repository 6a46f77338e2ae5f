"""The one register names what exists, loads what is asked for, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.conformance.compare.bindings import Bound, bound_protocol, protocols_of_groups
from antiphon.impl.tracing import NULL_TRACER
from antiphon.spec.catalogue import (
    ENTRIES,
    Entry,
    entry_of,
    entry_refined_by,
    names,
    refined,
    refinement_named,
    resolve,
)
from antiphon.spec.claims import Claim, all_claims, families
from antiphon.spec.lang import Spec, SpecError
from antiphon.spec.refinement import Refinement

EVERY_ENTRY = pytest.mark.parametrize("entry", ENTRIES, ids=names())


def test_names_and_specifications_are_unique() -> None:
    assert len(set(names())) == len(ENTRIES)
    assert len({entry.spec_at for entry in ENTRIES}) == len(ENTRIES)


@EVERY_ENTRY
def test_every_place_holds_what_its_name_says(entry: Entry) -> None:
    assert issubclass(entry.spec, Spec)
    assert all(isinstance(claim, Claim) for claim in entry.claims)
    assert entry.refinement is None or isinstance(entry.refinement, Refinement)
    assert not entry.binding_at or isinstance(resolve(entry.binding_at), Bound)


@pytest.mark.parametrize("name", protocols_of_groups())
def test_what_is_bound_runs_in_a_swarm(name: str) -> None:
    """Its `Bound` makes what groups run, also with each planted fault."""
    make = bound_protocol(name).implementation
    assert make is not None
    for fault in (None, *bound_protocol(name).faults):
        assert make(fault).core(0, 3, NULL_TRACER).members == 3


@EVERY_ENTRY
def test_a_place_names_the_module_that_defines_the_part(entry: Entry) -> None:
    """A specification or a mapping is recognised by its module's name before anything is loaded."""
    assert entry_of(entry.spec) is entry
    if entry.refinement is not None:
        assert entry_refined_by(entry.refinement.concrete) is entry
        assert entry_of(entry.refinement.concrete) is None


@EVERY_ENTRY
def test_claims_belong_to_the_family_of_their_entry(entry: Entry) -> None:
    assert bool(entry.claims) is bool(entry.family)
    assert {claim.protocol for claim in entry.claims} <= {entry.family}


def test_the_ledger_is_what_the_entries_claim_and_no_more() -> None:
    assert {claim.id for claim in all_claims()} == {claim.id for entry in ENTRIES for claim in entry.claims}
    assert [*dict.fromkeys(claim.protocol for claim in all_claims())] == [*families()]


def test_an_unknown_refinement_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SpecError, match=r"no refinement is stated for 'two-phase'; known: figure-2, .*rbp"):
        refinement_named("two-phase")
    assert set(refined()) < set(names())


def test_the_catalogue_loads_no_protocol() -> None:
    program = (
        "import sys, antiphon.spec.catalogue as catalogue, antiphon.spec.claims as claims\n"
        "catalogue.names(), catalogue.refined(), claims.families()\n"
        "rooms = ('spec.protocols.', 'spec.examples.', 'model', 'impl', 'conformance')\n"
        "print([name for name in sys.modules if name.partition('antiphon.')[2].startswith(rooms)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


PROTOCOL = '''
"""A protocol in one file."""

from typing import Annotated

from antiphon.spec.claims import Check, Claim, Document, Kind, Source, Standing
from antiphon.spec.lang import Between, Spec, action, invariant, require


class Further(Spec):
    """Counts to three."""

    count: Annotated[int, Between(0, 3)] = 0

    @action
    def add(self) -> None:
        """One more."""
        require(self.count < 3)
        self.count += 1

    @invariant
    def Small(self) -> bool:
        """At most three."""
        return self.count <= 3


SOURCE = Source(Document.RBP, "1", "It counts.")
CHECKS = (Check(Further, "Small", "holds"),)
CLAIMS = (
    Claim("FUR-01", SOURCE, "It stays small.", Standing.STATED, Kind.SAFETY, "holds", "It does.", CHECKS),
)
'''

ADDED = """
import sys
from pathlib import Path
from antiphon.spec import catalogue
catalogue.ENTRIES += (
    catalogue.Entry("further", "counts", "further:Further", claims_at="further:CLAIMS", family="fur"),
)
from antiphon.conformance.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("check", "further"), "holds  further"),
        (("find", "further", "self.count == 3"), "after 3 steps"),
        (("claims", "--family", "fur"), "1 claim, 1 check: all as recorded"),
        (("export", "further", "--to", "dot"), "digraph"),
        (("claims", "FUR-01"), "antiphon check further --property Small"),
    ],
)
def test_one_entry_is_all_that_a_further_protocol_needs(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    (tmp_path / "further.py").write_text(PROTOCOL, encoding="utf-8")
    command = [sys.executable, "-c", ADDED, *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert says in done.stdout
