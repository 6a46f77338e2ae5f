"""Test suite for a new core: a subclass names the core and its protocol's stated times, and inherits every
check.

    class TestMine(CoreSuite):
        core = "mine:mine"
        times = Times(delivered_ms=2.0, waiting_ms=400.0, recovered_ms=1_000.0)

pytest collects the subclass; unittest does if it is a `unittest.TestCase` too. This module knows no protocol
and no test framework.
"""

from __future__ import annotations

from typing import Any, ClassVar

from antiphon.conformance.compare.suites.cores import check_core, named
from antiphon.conformance.compare.suites.memory import growing
from antiphon.conformance.compare.suites.time import Times, check_times
from antiphon.impl.protocols.core import Implementation

__all__ = ["CoreSuite"]


class CoreSuite:
    """Suite that every core of any protocol must pass."""

    core: ClassVar[str]
    """Place of the implementation, as `module:function` of a function without arguments."""
    times: ClassVar[Times]
    """Stated times of the protocol, for the implementation that `timed` returns."""
    members: ClassVar[int] = 3
    """Size of the group whose times are checked."""
    kept: ClassVar[frozenset[str]] = frozenset()
    """Containers that may grow in a longer run, by their paths from the endpoint."""

    def timed(self) -> Implementation[Any]:
        """Return the implementation whose times are checked; by default it is the core with its usual
        settings.
        """
        return named(self.core)

    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        """Check that a core uses no clock, randomness or hash order, and shares no mutable value with its
        caller.
        """
        check_core(self.core)

    def test_it_keeps_to_its_times(self) -> None:
        """Check the stated times, also after pauses, partitions and late starts, and with clocks that differ
        and jump.
        """
        check_times(self.timed(), self.times, members=(self.members,))

    def test_its_memory_stays_bounded_over_a_long_run(self) -> None:
        """Check that memory stays bounded over a network that loses and repeats, except for what the protocol
        keeps.
        """
        grown = growing(named(self.core), messages=500)
        assert grown <= self.kept, f"{sorted(grown - self.kept)} grow with the messages"
