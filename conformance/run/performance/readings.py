"""Readings of the open points of section 5: the network, and the length of a control message.

The paper says `an Ethernet` and `500 byte long messages`, not the speed of the Ethernet, nor the length of an
ACK or a token. Every reading is simulated with the largest group of figure 2, and a tenth of its messages.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from antiphon.conformance.run.performance.questions import Scale
from antiphon.conformance.run.performance.setting import PROTOCOLS, Setting

__all__ = ["READINGS", "Reading", "reading_points"]

MEANS_MS = (50.0, 100.0)
"""Values of 1/lambda at which readings are simulated."""

_STATUS_BYTES = 4


class Reading(NamedTuple):
    """Reading: a network in words, and the fields of a setting that it changes."""

    told: str
    changed: dict[str, Any]


READINGS = (
    Reading("a bus of 10 Mb/s, 64 bytes", {}),
    Reading("a bus of 100 Mb/s, 64 bytes", {"rate_mbps": 100.0}),
    Reading("a bus of 5 Mb/s, 64 bytes", {"rate_mbps": 5.0}),
    Reading("a bus of 10 Mb/s, 64 bytes and 4 for each member", {"control_bytes": 64 + 40 * _STATUS_BYTES}),
    Reading("no bus, every message takes 0.1 ms", {"rate_mbps": None, "delay_ms": 0.1}),
    Reading("no bus, every message takes 1 ms", {"rate_mbps": None, "delay_ms": 1.0}),
)
"""All readings; the first is that of the figures."""


def reading_points(scale: Scale, reading: Reading, interarrival_ms: float) -> dict[str, Setting]:
    """Return the points of a reading, by protocol."""
    tenth = scale._replace(messages=max(1, scale.messages // 10))
    return {protocol: tenth.point(protocol, 40, interarrival_ms, **reading.changed) for protocol in PROTOCOLS}
