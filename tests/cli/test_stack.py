"""`antiphon stack` judges a stack of layers, or finds the smallest one, and exits by the answer."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from antiphon.conformance.cli.documents import Stack

Run = Callable[..., Any]


def document(answer: Any) -> Stack:
    """The JSON, strictly by the schema."""
    decoded = msgspec.json.decode(answer.out, type=Stack)
    assert msgspec.to_builtins(decoded) == msgspec.json.decode(answer.out)
    assert (decoded.schema, decoded.version, decoded.exit_code) == ("antiphon.report", 1, answer.code)
    return decoded


def test_a_well_formed_stack_holds_and_is_shown_level_by_level(antiphon: Run) -> None:
    answer = antiphon("stack", "TOTAL:MBRSHIP:FRAG:NAK:COM:ATM")
    assert answer.code == 0
    assert answer.out.splitlines()[-1].endswith("well-formed")
    shown = document(antiphon("stack", "TOTAL:MBRSHIP:FRAG:NAK:COM:ATM", "--json"))
    assert (shown.outcome, shown.well_formed, shown.over) == ("holds", True, ["P1"])
    assert [level.layer for level in shown.levels] == ["COM", "NAK", "FRAG", "MBRSHIP", "TOTAL"]
    assert shown.properties == ["P3", "P4", "P6", "P8", "P9", "P10", "P11", "P12", "P15"]
    assert "requires P4" in shown.levels[2].confirmed


def test_a_stack_that_lacks_something_is_violated(antiphon: Run) -> None:
    answer = antiphon("stack", "TOTAL:FRAG:NAK:COM")
    assert answer.code == 1
    assert "TOTAL lacks P8, P9, P15" in answer.out
    assert (
        document(antiphon("stack", "FRAG:NAK:COM", "--want", "P6", "--json")).reason
        == "well-formed, but without P6"
    )


def test_the_smallest_stacks_are_found_by_either_engine(antiphon: Run) -> None:
    graph = document(antiphon("stack", "--want", "totally ordered delivery", "--json"))
    z3 = document(antiphon("stack", "--want", "P6", "--engine", "z3", "--json"))
    assert (graph.outcome, graph.size, z3.size) == ("holds", 5, 5)
    assert graph.smallest == z3.smallest == ["TOTAL:MBRSHIP:NAK:NFRAG:COM", "TOTAL:MBRSHIP:FRAG:NAK:COM"]
    assert "2 such stacks" in antiphon("stack", "--want", "P6").out


def test_nothing_found_is_violated_by_the_exhaustive_search_and_unknown_within_a_depth(antiphon: Run) -> None:
    assert antiphon("stack", "--want", "P2").code == 1
    assert antiphon("stack", "--want", "P2", "--engine", "z3", "--max-layers", "3").code == 2
    assert antiphon("stack", "--want", "P2", "--over", "P2").code == 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "name a stack, or what is wanted"),
        (("TOTAL:NACK:COM",), "did you mean 'NAK'"),
        (("--want", "P17"), "unknown property 'P17'"),
        (("COM:ATM", "--over", "P2"), "leave one of them out"),
    ],
)
def test_wrong_usage_is_told(antiphon: Run, arguments: tuple[str, ...], complaint: str) -> None:
    answer = antiphon("stack", *arguments)
    assert answer.code == 64
    assert complaint in answer.err
