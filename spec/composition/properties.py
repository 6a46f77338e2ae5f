"""The sixteen properties that a layer can require or guarantee, numbered as in the Horus paper's Table 4.

The table itself is a picture that the transcribed copy has lost: its caption calls it "A list of protocol
properties, each of which can either be a requirement on the communication guarantees provided underneath the
protocol, or a guarantee that is provided by the protocol itself." The names here are recalled, not read, and
are no quotation.
"""

from __future__ import annotations

from enum import Enum

from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import did_you_mean


class Property(Enum):
    """A property of communication between the members of a group, by its number."""

    P1 = "best effort delivery"
    P2 = "prioritized effort delivery"
    P3 = "FIFO unicast delivery"
    P4 = "FIFO multicast delivery"
    P5 = "causal delivery"
    P6 = "totally ordered delivery"
    P7 = "safe delivery"
    P8 = "virtually semi-synchronous delivery"
    P9 = "virtually synchronous delivery"
    P10 = "byte re-ordering detection"
    P11 = "source address"
    P12 = "large messages"
    P13 = "causal timestamps"
    P14 = "stability information"
    P15 = "consistent views"
    P16 = "automatic view merging"

    @property
    def number(self) -> int:
        """Number of the property, 1 to 16."""
        return int(self.name[1:])


NAMES: tuple[str, ...] = tuple(property.name for property in Property)
"""Names of the properties P1 to P16."""


def property_of(text: str) -> Property:
    """Return the property that `P6`, `6` or `totally ordered delivery` names; capitals do not matter.

    Raises:
        SpecError: none is named so; the known ones are listed.
    """
    wanted = text.strip().lower()
    for property in Property:
        if wanted in (property.name.lower(), str(property.number), property.value.lower()):
            return property
    known = ", ".join(f"{property.name} ({property.value})" for property in Property)
    hint = did_you_mean(wanted, [property.value.lower() for property in Property])
    raise SpecError(f"unknown property {text!r}; known: {known}{hint}")
