"""The specification of the reference adapters, and what the one with a disk promises beyond it."""

from __future__ import annotations

import sys
from pathlib import Path

from antiphon.spec.lang import environment, require

sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "adapters"))
from ordered_spec import Node, Ordered


class Durable(Ordered):
    """All nodes deliver the same messages in the same order, and forget nothing in a crash."""

    @environment
    def restart(self, p: Node) -> None:
        """A node crashes and is back, with all that it has written down: nothing changes."""
        require(len(self.log[p]) > 0 or len(self.wanted[p]) > 0)
