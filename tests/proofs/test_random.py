"""Random specifications: what is proved for every n is true at every small n, and the translation is what
CPython does.
"""

import itertools
from collections import Counter
from collections.abc import Callable

import pytest
from tests.lang.random_specs import load
from tests.proofs.lifted import Lifted, reachable
from tests.proofs.random_fragment import source, source_with_logs

from antiphon.model.bounds import Bounds
from antiphon.model.cache import Cache
from antiphon.model.explore import check
from antiphon.model.proofs import Outside, prove_every
from antiphon.model.symbolic import counterexample_to_induction
from antiphon.model.verdict import Outcome, PropertyKind
from antiphon.spec.lang import SpecError, program

EVERY = ("many", "steps", "high")


def compared(seed: int, text: Callable[[int], str] = source) -> Counter[str]:
    """Numbers of proved and unproved properties of a random specification; proved ones are compared with
    explorations and with induction at small sizes.
    """
    found: Counter[str] = Counter()
    try:
        bound = program(load(text(seed), file=f"<fragment {seed}>"))
        report = prove_every(bound, EVERY, cache=Cache(None), seeds=1)
    except (Outside, SpecError):
        return Counter(refused=1)
    proved = [
        item.property
        for item in report.verdicts
        if item.outcome is Outcome.HOLDS and item.kind is PropertyKind.INVARIANT
    ]
    for verdict in report.verdicts:
        found[verdict.outcome.value] += 1
    wrong = [item.property for item in report.verdicts if item.outcome is not Outcome.HOLDS]
    for sizes in itertools.product((1, 2), (1, 2), (1,)):
        small = bound.with_constants(**dict(zip(EVERY, sizes, strict=True)))
        seen = check(small, properties=proved, bounds=Bounds(states=3_000))
        assert not [item for item in seen.verdicts if item.outcome is Outcome.VIOLATED], (seed, sizes)
        if not wrong:
            for name in proved:
                assert counterexample_to_induction(small, name) is None, (seed, name, sizes)
    return found


def see_agreement(seed: int, most: int, text: Callable[[int], str] = source) -> bool:
    """Check a random specification's translation against CPython; return False outside the fragment."""
    try:
        lifted = Lifted(program(load(text(seed), file=f"<fragment {seed}>")), EVERY)
        states = reachable(lifted.program, most)
    except (Outside, SpecError):
        return False
    for state in states:
        assert list(lifted.disagreements(state)) == [], seed
    return True


def test_the_translation_of_random_specifications_is_what_cpython_does() -> None:
    """Guards, what is left, errors and invariants, over some states of some specifications."""
    assert sum(see_agreement(seed, 4) for seed in range(8)) > 5


def test_what_is_proved_of_random_specifications_is_true(often: Callable[[int, int], int]) -> None:
    """Proved properties hold at every small n; some properties are not proved."""
    found = sum((compared(seed) for seed in range(often(3, 6))), Counter())
    assert found["holds"] > 0
    assert found["violated"] > 0


def test_the_translation_of_random_logs_is_what_cpython_does() -> None:
    """Logs that grow, queues that lose their first item, positions, lengths, and room."""
    assert sum(see_agreement(seed, 4, source_with_logs) for seed in (0, 2, 3, 6, 7, 9)) > 4


def test_what_is_proved_of_random_logs_is_true(often: Callable[[int, int], int]) -> None:
    """Proved properties hold at every small n; some properties are not proved."""
    found = sum((compared(seed, source_with_logs) for seed in range(often(3, 8))), Counter())
    assert found["holds"] > 0
    assert found["violated"] > 0


@pytest.mark.deep
def test_what_is_proved_of_many_random_logs_is_true() -> None:
    """The same of many."""
    found = sum((compared(seed, source_with_logs) for seed in range(8, 100)), Counter())
    assert found["holds"] > 20
    assert found["violated"] > 15
    assert sum(see_agreement(seed, 20, source_with_logs) for seed in range(8, 100)) > 60


@pytest.mark.deep
def test_what_is_proved_of_many_random_specifications_is_true() -> None:
    """The same of many."""
    found = sum((compared(seed) for seed in range(6, 150)), Counter())
    assert found["holds"] > 20
    assert found["violated"] > 50
    assert sum(see_agreement(seed, 20) for seed in range(8, 120)) > 60
