"""`check --prove --every`: proved for every n, violated with a run, refused with a place, or two states."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TEXT = '''
"""Who is chosen leads."""

from typing import Annotated

from antiphon.spec.lang import (
    AtMost, Const, Index, Seq, Set, Spec, action, invariant, require
)


class Node(Index, size="nodes", symmetric=True):
    """One of many."""


class Leader(Spec):
    """One is chosen, and leads."""

    nodes: Const[int] = 2
    chosen: Set[Node] = Set()
    leading: Set[Node] = Set()

    @action
    def choose(self, p: Node) -> None:
        """One is chosen."""
        require(len(self.chosen) == 0)
        self.chosen |= {p}

    @action
    def lead(self, p: Node) -> None:
        """Who is chosen leads."""
        require(p in self.chosen)
        self.leading |= {p}

    @invariant
    def OneLeads(self) -> bool:
        """At most one leads."""
        return len(self.leading) <= 1


class LeaderProof(Leader):
    """Why."""

    @invariant
    def OneIsChosen(self) -> bool:
        """One is chosen, and nobody else leads."""
        return len(self.chosen) <= 1 and self.leading <= self.chosen


class Anarchy(Leader):
    """All are chosen."""

    @action
    def choose(self, p: Node) -> None:
        """Anybody is chosen."""
        self.chosen |= {p}


class Queue(Leader):
    """In the order of a sequence."""

    order: Annotated[Seq[Node], AtMost(3)] = ()

    @action
    def turn_round(self) -> None:
        """The last comes first."""
        self.order = tuple(reversed(self.order))
'''


@pytest.fixture
def leader(antiphon: Run, tmp_path: Path) -> Iterator[Run]:
    """The command with the specifications above at hand."""
    file = tmp_path / "cli_leader.py"
    file.write_text(TEXT, encoding="utf-8")
    every = ("--prove", "--every", "nodes")
    yield lambda name, *options: antiphon("check", f"{file}:{name}", *every, *options)
    sys.modules.pop("cli_leader", None)


def test_what_is_inductive_is_proved_for_every_n(leader: Run) -> None:
    answer = leader("LeaderProof")
    assert answer.code == 0
    assert "for every nodes, by induction with OneIsChosen" in answer.out
    assert "6 of 6 obligations proved" in answer.out
    assert "evidence: proved for every nodes" in answer.out


def test_the_document_has_each_obligation(leader: Run) -> None:
    (report,) = leader("LeaderProof", "--json").document.reports
    assert {verdict.evidence for verdict in report.verdicts} == {"proved"}
    found = {(item.step, item.property): item for item in report.obligations}
    assert len(found) == 6
    lead = found["lead", "OneLeads"]
    assert (lead.outcome, lead.seeds, lead.given) == ("holds", 4, ["OneIsChosen"])
    assert lead.seconds > 0
    assert found["choose", "OneLeads"].found == "changes nothing of it"
    assert "--every nodes" in report.reproduce


def test_what_is_not_proved_is_shown_as_two_states(leader: Run) -> None:
    answer = leader("Leader")
    assert answer.code == 2
    assert "not reachable at nodes=2: an invariant is missing" in " ".join(answer.out.split())
    assert "OneLeads: broken by lead(n1), from a state in which all invariants hold" in answer.out
    assert "len(self.leading) <= 1 is false: len(self.leading) is 2" in answer.out
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["before", "after"] in lines
    assert ["leading", "{n0}", "{n0,", "n1}"] in lines


def test_what_is_false_is_violated_by_a_run(leader: Run) -> None:
    answer = leader("Anarchy")
    assert answer.code == 1
    assert "OneLeads: 4 steps" in answer.out


def test_what_is_outside_the_fragment_is_refused_with_its_place(leader: Run) -> None:
    answer = leader("Queue")
    assert answer.code == 64
    assert "cli_leader.py:66" in answer.err
    assert "a part of a sequence" in answer.err
    assert "write instead: a log" in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--every", "node"), "no constant 'node' that is a number"),
        (("--every", ""), "--every names the constants of a proof"),
        (("--max-depth", "3"), "no --engine and no --max-depth"),
        (("--engine", "native"), "no --engine and no --max-depth"),
    ],
)
def test_what_a_proof_for_every_n_lacks_is_said(leader: Run, options: tuple[str, ...], said: str) -> None:
    answer = leader("LeaderProof", *options)
    assert answer.code == 64
    assert said in answer.err


def test_every_without_prove_is_said(antiphon: Run) -> None:
    answer = antiphon("check", "two-phase", "--every", "managers")
    assert answer.code == 64
    assert "--every names the constants of a proof" in answer.err
