"""Set of counts as a sorted list of ranges: consecutive counts make few of them."""

from __future__ import annotations

from bisect import bisect_right

Ranges = list[tuple[int, int]]
"""Pairs of the first and last count of each range, with gaps between."""

LARGE = 1 << 62
"""Count that is too large to be in any set."""


def holds(ranges: Ranges, count: int) -> bool:
    """Return True if a count is in the set that the ranges make."""
    k = bisect_right(ranges, (count, LARGE)) - 1
    return k >= 0 and count <= ranges[k][1]


def note(ranges: Ranges, count: int) -> None:
    """Add a count, smaller than `LARGE`, to the set that the ranges make."""
    if holds(ranges, count):
        return
    k = bisect_right(ranges, (count, LARGE))
    first, last = count, count
    if k < len(ranges) and ranges[k][0] == count + 1:
        last = ranges.pop(k)[1]
    if k and ranges[k - 1][1] == count - 1:
        k -= 1
        first = ranges.pop(k)[0]
    ranges.insert(k, (first, last))
