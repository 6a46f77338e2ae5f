"""Intersections of large sets: by linear arithmetic for every n, and by looking at all subsets of small sets.
"""

import itertools

import pytest

from antiphon.model.proofs.smt import overlap
from antiphon.model.proofs.theory import QuorumClass, confirmed, meets
from antiphon.spec.lang import types

ACCEPTOR = types.IndexType("Acceptor", "n", False, True)


def at_least(factor: int, n: int, more: int) -> QuorumClass:
    """The sets with `factor * size >= n * N + more`."""
    bound = tuple(item for item in (("", more), ("n", n)) if item[1])
    return QuorumClass(ACCEPTOR, factor, bound)


MAJORITY, TWO_THIRDS, THREE_QUARTERS = at_least(2, 1, 1), at_least(3, 2, 1), at_least(4, 3, 0)


def test_two_majorities_have_a_member_in_common() -> None:
    """Three majorities need not have one, nor need two halves."""
    assert MAJORITY.words == "2 * len > n"
    assert overlap((MAJORITY, MAJORITY))
    assert not overlap((MAJORITY, MAJORITY, MAJORITY))
    assert not overlap((at_least(2, 1, 0), at_least(2, 1, 0)))


def test_three_of_more_than_two_thirds_have_a_member_in_common() -> None:
    """The same is true of a majority and two of three quarters, which fast Paxos needs."""
    assert overlap((TWO_THIRDS, TWO_THIRDS, TWO_THIRDS))
    assert overlap((MAJORITY, THREE_QUARTERS, THREE_QUARTERS))
    assert not overlap((MAJORITY, TWO_THIRDS, TWO_THIRDS))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_arithmetic_and_subsets_agree(count: int) -> None:
    """Arithmetic for every n agrees with all subsets of 1 to 6 members, in both directions."""
    sizes = itertools.product((1, 2, 3, 4), (0, 1, 2, 3), (0, 1))
    classes = [at_least(factor, n, more) for factor, n, more in sizes if n <= factor]
    rows = list(itertools.combinations_with_replacement(classes, count))
    rows = rows[:: max(1, len(rows) // 15)]
    agreed = 0
    for groups in rows:
        said, seen = overlap(groups), confirmed(groups, {})
        assert seen or not said, [group.words for group in groups]
        agreed += said == seen
    assert agreed >= len(rows) * 0.9


def test_an_axiom_that_is_false_is_not_confirmed() -> None:
    """Two halves of four members need not meet."""
    halves = (at_least(2, 1, 0), at_least(2, 1, 0))
    assert not confirmed(halves, {})
    assert confirmed((MAJORITY, MAJORITY), {})


def test_the_axiom_says_that_a_member_exists() -> None:
    """For any two quorums some member of both."""
    formula = meets((MAJORITY, MAJORITY))
    assert formula.every  # type: ignore[attr-defined]
    assert not formula.body.every  # type: ignore[attr-defined]


def test_four_sets_have_a_member_in_common_where_few_are_faulty() -> None:
    """Two sets of n - t processes meet any set of more than (n + 3t) / 2 and any of at least (n + t) / 2."""

    def of(factor: int, n: int, t: int, more: int) -> QuorumClass:
        bound = tuple(item for item in (("", more), ("n", n), ("t", t)) if item[1])
        return QuorumClass(ACCEPTOR, factor, bound)

    most, decides, half = of(1, 1, -1, 0), of(2, 1, 3, 1), of(2, 1, 1, 0)
    assert overlap((most, most, decides, half))
    assert confirmed((most, most, decides, half), {})
    assert not overlap((most, most, half, half))
    assert not confirmed((most, most, half, half), {})
