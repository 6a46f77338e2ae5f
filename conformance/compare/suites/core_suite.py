"""A new core's tests are a subclass: it names the core and what its protocol states, and has every check.

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
    """The suite that every core of any protocol must pass."""

    core: ClassVar[str]
    """`module:function` of a function without arguments that gives the implementation."""
    times: ClassVar[Times]
    """The protocol's statements about its times, for the implementation that `timed` gives."""
    members: ClassVar[int] = 3
    """The size of the group whose times are looked at."""
    kept: ClassVar[frozenset[str]] = frozenset()
    """The containers, by their paths from the endpoint, that may hold more after a longer run."""

    def timed(self) -> Implementation[Any]:
        """The implementation whose times are looked at, if it has other settings than the usual ones."""
        return named(self.core)

    def test_it_follows_from_its_snapshot_and_its_calls_alone(self) -> None:
        """No clock, no chance, no order of a set or hash seed; nothing mutable is kept or handed out."""
        check_core(self.core)

    def test_it_keeps_to_its_times(self) -> None:
        """Also after pauses, partitions and late starts, and with clocks that differ and jump."""
        check_times(self.timed(), self.times, members=(self.members,))

    def test_its_memory_stays_bounded_over_a_long_run(self) -> None:
        """Over a network that loses and repeats; what grows is what the protocol keeps."""
        grown = growing(named(self.core), messages=500)
        assert grown <= self.kept, f"{sorted(grown - self.kept)} grow with the messages"
