"""Work in processes: its owner ends its own processes when it leaves, and no others."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from antiphon.conformance.children import done_by_children


class Answer:
    """Answer of a process."""

    def __init__(self, number: int) -> None:
        self.number = number


def answered(number: int) -> Answer:
    return Answer(number)


def slowly(number: int) -> int:
    time.sleep(0.2 if number < 4 else 60.0)
    return number


@pytest.mark.deep
def test_results_come_in_their_order_and_are_not_kept() -> None:
    results = done_by_children(2, "spawn", answered, range(5))
    first = next(results)
    kept = weakref.ref(first)
    assert first.number == 0
    del first
    gc.collect()
    assert kept() is None
    assert [result.number for result in results] == [1, 2, 3, 4]


@pytest.mark.deep
def test_whoever_leaves_early_ends_his_own_processes_alone() -> None:
    """The second has begun after the first, and goes on when the first has ended."""
    first, second = (done_by_children(2, "spawn", slowly, range(count)) for count in (8, 4))
    assert (next(first), next(second)) == (0, 0)
    began = time.monotonic()
    first.close()
    assert time.monotonic() - began < 30.0
    assert list(second) == [1, 2, 3]
