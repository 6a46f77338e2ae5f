"""RBP with stability, figure 25 of its report: a name of `antiphon.impl.protocols.rbp` with other settings.

Source: Barchet-Estefanel 2002, section 3.2, figure 25.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.impl.protocols.core import Implementation
from antiphon.impl.protocols.rbp import FIGURE_25, Core, Message, ring

__all__ = ["rbp_resilient"]


def rbp_resilient(*, kind: type[Core] = Core, **settings: float) -> Implementation[Message]:
    """Return RBP with stability as an implementation; the settings are those of
    `antiphon.impl.protocols.rbp.Settings`.
    """
    return ring(replace(FIGURE_25, **settings), kind)
