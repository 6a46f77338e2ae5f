"""What a total order costs a group under a Poisson load, in virtual time, as Kim and Kim 1997, section 5.

`simulate` runs one point with the real cores; `theory` has the values that can be computed.
"""

from __future__ import annotations

from antiphon.conformance.performance.group import simulate
from antiphon.conformance.performance.meter import Result
from antiphon.conformance.performance.setting import PROTOCOLS, Setting

__all__ = ["PROTOCOLS", "Result", "Setting", "simulate"]
