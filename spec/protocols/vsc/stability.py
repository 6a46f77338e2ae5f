"""The message stability detector that runs concurrently with figure 29: "a process that verifies if all
processes in a view have received m" (Barchet-Estefanel 2002, section 4.3.2).

It is a part of its own: the report does not say how it works, only what it verifies. What it has verified
leaves `unstable_k`.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, action, ambiguity, mutation, require
from antiphon.spec.protocols.vsc.figure29 import ViewChange
from antiphon.spec.services.events import Message, Process


class StabilityDetector(ViewChange):
    """Figure 29 with the detector, where `stability` is on. A message is received when it is VS-delivered."""

    stability: Const[bool] = True

    @action
    def stabilise(self, p: Process, m: Message) -> None:
        """P removes from unstable_p what all in its view have received."""
        require(self.stability and m in self.unstable[p] and self.is_stable(p, m))
        self.unstable[p] -= {m}

    def is_stable(self, p: Process, m: Message) -> bool:
        """All processes in p's view have received m."""
        return all(m in self.handed[q] for q in self.group[p])


stable_when = ambiguity(
    "stable_when",
    "received by all",
    about="whether stable is what all processes in the view have received (section 4.3.2), or what all have "
    "either received or crashed (section 4.3.3)",
)


@stable_when.reading("received or crashed")
class StableWhenReceivedOrCrashed(StabilityDetector):
    """Section 4.3.3: `all processes in Dest(m) have either received m or crashed`."""

    def is_stable(self, p: Process, m: Message) -> bool:
        """Return True if all processes that have not received m have crashed."""
        return all(m in self.handed[q] or self.down[q] for q in self.group[p])


@mutation("a message is taken for stable as soon as a majority of the view has received it")
class HastyStability(StabilityDetector):
    """Planted fault: a process that has not received m gets it from nobody once it is not exchanged."""

    def is_stable(self, p: Process, m: Message) -> bool:
        """More than half will do."""
        return 2 * sum(1 for q in self.group[p] if m in self.handed[q]) > len(self.group[p])
