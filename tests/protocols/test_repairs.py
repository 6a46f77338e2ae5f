"""Repairs are switched on one by one: the text is read whichever are on, if each has what it builds on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from antiphon.spec.catalogue import entry_named
from antiphon.spec.lang import Spec, program

PROTOCOLS = ("figure-2", "figure-5", "moving-sequencer", "rbp", "rbp-resilient", "dtp", "sequencer", "total")

LARGE = ("rbp", "rbp-resilient", "dtp", "total")
"""Protocols whose texts take seconds to read so many times."""


def builds_on(spec: type[Spec]) -> dict[str, tuple[str, ...]]:
    """Every repair, with those without which it means nothing."""
    return {item.name: item.repair.needed for item in program(spec).declaration.constants if item.repair}


def subsets(needs: dict[str, tuple[str, ...]]) -> Iterator[set[str]]:
    """None; each alone with what it builds on; all; all without each and without what builds on it."""
    yield set()
    for name in needs:
        wanted = {name}
        while not (more := {below for item in wanted for below in needs[item]}) <= wanted:
            wanted |= more
        yield wanted
    yield set(needs)
    for name in needs:
        left_out = {name}
        while not (more := {item for item, below in needs.items() if left_out & set(below)}) <= left_out:
            left_out |= more
        yield set(needs) - left_out


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=(pytest.mark.deep,) * (name in LARGE)) for name in PROTOCOLS],
)
def test_any_subset_of_repairs_is_a_specification(name: str) -> None:
    entry = entry_named(name)
    assert entry is not None
    needs = builds_on(entry.spec)
    assert needs
    literal = {item.name for item in program(entry.spec).module.actions}
    for chosen in subsets(needs):
        bound = program(entry.spec, repairs=chosen)
        assert literal <= {item.name for item in bound.module.actions}
        assert bound.reference.initial()
