"""Common tools of the proofs' tests: proofs without memory and with one seed, and the failures of one."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from antiphon.model.cache import Cache
from antiphon.model.proofs import prove_every
from antiphon.model.proofs.answers import Asker
from antiphon.model.proofs.obligations import Reading
from antiphon.model.proofs.proving import Proof
from antiphon.model.verdict import Exploration, Outcome, Report
from antiphon.spec.lang import Program, Spec, program


@pytest.fixture
def prove() -> Callable[..., Report]:
    """A proof, by one seed unless another number is said, that remembers nothing."""

    def proved(spec: type[Spec] | Program, *every: str, **options: Any) -> Report:
        bound = spec if isinstance(spec, Program) else program(spec)
        return prove_every(bound, every, cache=Cache(None), **({"seeds": 1} | options))

    return proved


@pytest.fixture
def unproved() -> Callable[..., set[str]]:
    """The obligations, as `step: property`, that fail, where some invariants are left out; all, or of a
    step. What is not proved in `seconds` fails.
    """

    def names(
        spec: type[Spec] | Program,
        every: Sequence[str],
        without: Sequence[str] = (),
        *,
        step: str = "",
        seconds: float = 1.0,
    ) -> set[str]:
        bound = spec if isinstance(spec, Program) else program(spec)
        nothing = Report(bound, (), Exploration(0, 0, 0, complete=False, seconds=0.0))
        proof = Proof(
            Reading(bound, tuple(every)), {}, nothing, Asker(Cache(None), lambda: None, 1, (seconds,))
        )
        proof.refuted = set(without)
        failed = set()
        for obligation in proof.reading.obligations(without=without):
            if step and obligation.step != step:
                continue
            result = proof.result(obligation)
            if result.outcome is not Outcome.HOLDS:
                failed.add(f"{result.step}: {result.property}")
        return failed

    return names
