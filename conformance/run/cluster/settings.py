"""A cluster run is checked before anything starts: every setting has its range or its names.

This module knows ranges and names, not processes or sockets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.protocols import maker
from antiphon.spec.lang.errors import SpecError

PROCESSES_MAX = 64


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """One cluster run. `messages` are broadcast in all, shared among the processes.

    `encrypted` runs have a key that is drawn for the run and told to nobody but the processes.

    The last process starts `late_s` seconds after the others have begun. One process after another is stopped
    for `stop_s` seconds, as by SIGSTOP, and goes on, until all have finished.

    The probabilities are per datagram. The run is given up after `deadline_s` seconds.
    """

    protocol: str = "rbp"
    processes: int = 3
    messages: int = 2000
    loss: float = 0.1
    duplication: float = 0.05
    reordering: float = 0.05
    seed: int = 7
    encrypted: bool = False
    late_s: float = 0.0
    stop_s: float = 0.0
    deadline_s: float = 120.0

    def __post_init__(self) -> None:
        """Raises ValueError, which names the setting, its value and what is allowed."""
        try:
            maker(self.protocol)
        except SpecError as error:
            raise ValueError(str(error)) from error
        if not 2 <= self.processes <= PROCESSES_MAX:
            raise ValueError(f"processes is {self.processes}; a cluster has 2 to {PROCESSES_MAX}")
        if self.messages < 1:
            raise ValueError(f"messages is {self.messages}; a run without a message shows nothing")
        for name in ("loss", "duplication", "reordering"):
            value = getattr(self, name)
            if not 0.0 <= value < 1.0:
                raise ValueError(f"{name} is {value}; a probability here is at least 0 and less than 1")
        if not (self.deadline_s > 0 and math.isfinite(self.deadline_s)):
            raise ValueError(f"deadline_s is {self.deadline_s}; a time is greater than 0 and finite")
        for name in ("late_s", "stop_s"):
            value = getattr(self, name)
            if not 0.0 <= value < self.deadline_s:
                raise ValueError(f"{name} is {value}; it is at least 0 and less than deadline_s")

    @property
    def faults(self) -> Faults:
        """The probabilities alone, as the relay wants them."""
        return Faults(loss=self.loss, duplication=self.duplication, reordering=self.reordering)

    def share(self, process: int) -> int:
        """How many of the messages a process broadcasts; shares differ by at most one."""
        return self.messages // self.processes + (process < self.messages % self.processes)
