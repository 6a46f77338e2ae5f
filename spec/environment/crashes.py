"""Processes fail by stopping, up to `crashes` of them; a stopped process takes no step.

A guard looks at the process that takes an action: the action's first parameter, when that is a process, or
the receiver `to` of the packet that is its first parameter.
"""

from __future__ import annotations

from antiphon.spec.lang import Const, Map, emit, environment, everywhere, guard, require
from antiphon.spec.services.events import Crash, Process
from antiphon.spec.services.stopping import Stopping


class Crashes(Stopping):
    """Crash-stop failures. Every action needs its process, or the receiver of its packet, to be up."""

    crashes: Const[int] = 1
    down: Map[Process, bool] = everywhere(False)

    @guard
    def is_up(self, p: Process) -> bool:
        """Return True if p has not crashed."""
        return not self.down[p]

    def is_gone(self, p: Process) -> bool:
        """Return True if p has crashed: it takes no step any more."""
        return self.down[p]

    @environment
    def crash(self, p: Process) -> None:
        """Crash p, which stops for ever."""
        require(not self.down[p])
        require(sum(1 for q in self.each(Process) if self.down[q]) < self.crashes)
        self.down[p] = True
        emit(Crash(p))
