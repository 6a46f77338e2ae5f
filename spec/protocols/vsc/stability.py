"""The message stability detector that runs concurrently with figure 29: "a process that verifies if all
processes in a view have received m" (Barchet-Estefanel 2002, section 4.3.2).

The report says only what the detector verifies, not how it works. A message that it has verified leaves
`unstable_k`.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, action, ambiguity, mutation, require
from antiphon.spec.protocols.vsc.figure29 import ViewChange
from antiphon.spec.services.events import Message, Process


class StabilityDetector(ViewChange):
    """Figure 29 with its detector of stability, which is on if `stability` is True. A message counts as
    received where it was VS-delivered.
    """

    stability: Const[bool] = True

    @action
    def stabilise(self, p: Process, m: Message) -> None:
        """Remove m from unstable_p, when all processes in p's view have received m."""
        require(self.stability and m in self.unstable[p] and self.is_stable(p, m))
        self.unstable[p] -= {m}

    def is_stable(self, p: Process, m: Message) -> bool:
        """Return True if all processes in p's view have received m."""
        return all(m in self.handed[q] for q in self.group[p])


stable_when = ambiguity(
    "stable_when",
    "received by all",
    about="whether stable is what all processes in the view have received (section 4.3.2), or what all have "
    "either received or crashed (section 4.3.3)",
)


@stable_when.reading("received or crashed")
class StableWhenReceivedOrCrashed(StabilityDetector):
    """Reading of section 4.3.3: a message is stable when `all processes in Dest(m) have either received m or
    crashed`.
    """

    def is_stable(self, p: Process, m: Message) -> bool:
        """Return True if all processes that have not received m have crashed."""
        return all(m in self.handed[q] or self.down[q] for q in self.group[p])


@mutation("a message is taken for stable as soon as a majority of the view has received it")
class HastyStability(StabilityDetector):
    """Planted fault: a message counts as stable when a majority of the view has received it. Correct code
    waits for all, since a stable message is not exchanged any more.
    """

    def is_stable(self, p: Process, m: Message) -> bool:
        """Return True if more than half of the view has received m."""
        return 2 * sum(1 for q in self.group[p] if m in self.handed[q]) > len(self.group[p])
