"""Estimate of a mean over independent runs, with a confidence interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

__all__ = ["Estimate", "estimate"]


class Estimate(NamedTuple):
    """Mean over seeds, with the largest distance from the true mean at confidence 95 %."""

    mean: float
    half_width: float

    def __str__(self) -> str:
        return f"{self.mean:,.{self._digits}f} ± {self.half_width:,.{self._digits}f}"

    @property
    def printed(self) -> Estimate:
        """Return the estimate rounded to the digits of its text, so that a drawing made from a table equals
        the one made from the runs.
        """
        return Estimate(round(self.mean, self._digits), round(self.half_width, self._digits))

    @property
    def _digits(self) -> int:
        """Number of digits after the decimal point with which the mean shows three significant digits."""
        return max(0, 2 - math.floor(math.log10(abs(self.mean)))) if self.mean else 0


def estimate(values: Sequence[float]) -> Estimate:
    """Estimate the mean of independent runs, by Student's t.

    Raises:
        ValueError: fewer than two values.
    """
    if len(values) < 2:
        raise ValueError("one run says nothing of how far others are from it: take two seeds at least")
    return Estimate(mean(values), _t(len(values) - 1) * stdev(values) / math.sqrt(len(values)))


@cache
def _t(freedom: int) -> float:
    """Return the 0.975 quantile of Student's distribution: where the tangent of an angle is t /
    sqrt(freedom), the density of the angle is its cosine to the power freedom - 1.
    """
    angles = np.linspace(0.0, math.pi / 2, 100_001)
    below = np.cumsum(np.cos((angles[:-1] + angles[1:]) / 2) ** (freedom - 1))
    angle = np.interp(0.95, below / below[-1], angles[1:])
    return math.tan(float(angle)) * math.sqrt(freedom)
