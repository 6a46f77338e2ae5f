"""Work in processes: its owner ends its own processes when it leaves, and no others."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
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


KILLED = """
import os, signal, time
from antiphon.conformance.children import done_by_children

def stay(number):
    os.kill(os.getppid(), signal.SIGKILL) if number else None
    time.sleep(600.0)

list(done_by_children(2, "fork", stay, range(2)))
"""


def test_processes_end_when_their_parent_is_killed() -> None:
    """All of them have its standard output, which ends when the last of them has ended."""
    ended = subprocess.run([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL
