"""A step that is large as a whole is made in parts, no function grows with the whole stack, and the parts do
together what the step does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engines.native.summary import summary

from antiphon.model.engines.native import kernel_of
from antiphon.model.engines.native.compiler import enumeration
from antiphon.model.engines.native.compiler.enumeration import plan_actions
from antiphon.model.engines.native.compiler.kernel import steps_texts
from antiphon.model.explore import check
from antiphon.model.ground import LargeStep, ground, layout, make
from antiphon.model.ground.intern import forget
from antiphon.model.ground.words import WordPacking
from antiphon.spec.lang import Program, program
from antiphon.spec.protocols.horus.fifo_stacks import NakStack
from antiphon.spec.protocols.horus.full_stack import Horus
from antiphon.spec.protocols.rbp.properties import RbpProperties
from antiphon.spec.protocols.token_broadcast.properties import Figure2Checked

LONGEST, TOGETHER = 8_000, 85_000
"""Lines of text: of one function, of all."""


@pytest.fixture
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels are compiled, and forgotten after the test."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("ANTIPHON_CACHE", str(tmp_path))
    kernel_of.cache_clear()
    yield
    kernel_of.cache_clear()


@pytest.mark.deep
def test_the_functions_of_the_whole_stack_are_short() -> None:
    """The time that LLVM takes goes by the lines; by their square where a choice between conditions is
    selected with care.
    """
    bound = program(Horus, repairs="all")
    careful, quick = steps_texts(bound, WordPacking(layout(bound).slots))
    functions = re.findall(r"^define .*?^}$", careful + quick, re.MULTILINE | re.DOTALL)
    assert len(functions) > 50
    assert max(function.count("\n") for function in functions) < LONGEST
    assert careful.count("\n") + quick.count("\n") < TOGETHER
    assert "select i1" in quick
    assert not re.search(r"select i1 [^,]+, i1", quick)


def in_parts(bound: Program, most: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The actions that are made in parts when a step may have so many nodes; kernels do so from now on."""
    monkeypatch.setattr(enumeration, "LARGE_NODES", most)
    forget()
    return [
        plan.name
        for plan in plan_actions(bound)
        if any(len(branch.variants) > enumeration.MOST_VARIANTS for branch in plan.branches)
    ]


@pytest.mark.deep
@pytest.mark.usefixtures("_fresh")
def test_parts_do_together_what_the_step_does(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = program(NakStack, processes=3, messages=1, repairs="all")
    assert in_parts(bound, 12_000, monkeypatch) == []
    assert in_parts(bound, 400, monkeypatch) == ["arrive"]
    assert summary(check(bound, engine="native")) == summary(check(bound, engine="generated"))


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("spec", [RbpProperties, Figure2Checked])
def test_every_step_may_be_made_in_parts(spec: type, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = program(spec, processes=2, messages=1, repairs="all")
    in_parts(bound, 0, monkeypatch)
    assert summary(check(bound, engine="native")) == summary(check(bound, engine="generated"))


def test_a_large_step_says_what_was_made_of_it() -> None:
    forget()
    bound = program(NakStack, repairs="all")
    with pytest.raises(LargeStep) as caught:
        ground(bound, "arrive", most=100)
    assert [info.name for info in caught.value.inputs][:2] == ["envelope.to", "envelope.source.present"]
    assert caught.value.roots
    step = ground(bound, "arrive", fixed={0: 1})
    assert step.inputs == caught.value.inputs
    assert all(
        node is not make.step_input(0, step.inputs[0].sort) for node in enumeration.reached([step.enabled])
    )
