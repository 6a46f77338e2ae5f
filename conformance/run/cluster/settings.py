"""Settings of a cluster run, which are checked before anything starts: every setting has its range or its
names.

This module knows ranges and names, not processes or sockets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from antiphon.conformance.run.cluster.changing.faults import KINDS, RATES, spared, whats
from antiphon.conformance.run.cluster.faults import Faults
from antiphon.conformance.run.cluster.protocols import maker
from antiphon.conformance.run.swarm.settings import FaultKind
from antiphon.conformance.run.swarm.words import joins_always
from antiphon.impl.registry import LISTED
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names

PROCESSES_MAX = 64


@dataclass(frozen=True, kw_only=True)
class ClusterSettings:
    """One cluster run. `messages` are broadcast in all, shared among the processes.

    `encrypted` runs have a key that is drawn for the run and given to the processes alone.

    The last process starts `late_s` seconds after the others have begun. One process after another is stopped
    for `stop_s` seconds, as by SIGSTOP, and goes on, until all have finished.

    The probabilities are per datagram. The run is given up after `deadline_s` seconds.

    With `join` members join, leave, crash and come back, as in groups of `Group.join`. Then `only` has the
    kinds of faults, all if it is empty: loss, duplication and reordering with their probabilities, the others
    each once, or repeatedly for so many `minutes`, by which the deadline is extended. `quiet` means none.
    `late_s` and `stop_s` are for the other groups.

    With `record` the processes of a protocol in the catalogue record what they exercise.
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
    join: bool = False
    only: tuple[FaultKind, ...] = ()
    quiet: bool = False
    minutes: float = 0.0
    record: bool = False

    def __post_init__(self) -> None:
        """Check the settings.

        Raises:
            ValueError: the message names the setting, its value and what is allowed.
        """
        if self.join or joins_always(self.protocol):
            object.__setattr__(self, "join", True)
            self._see_what_joins()
        else:
            self._see_what_stays()
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

    def _see_what_stays(self) -> None:
        try:
            maker(self.protocol)
        except SpecError as error:
            raise ValueError(str(error)) from error
        for name in ("only", "quiet", "minutes"):
            if getattr(self, name):
                told = ", ".join(self.only) if name == "only" else getattr(self, name)
                raise ValueError(f"{name} is {told}; groups whose members stay have no such: say join")

    def _see_what_joins(self) -> None:
        if self.protocol not in LISTED:
            raise ValueError(
                f"protocol {self.protocol!r} has no groups whose members change; "
                f"{known_names(self.protocol, tuple(LISTED))}"
            )
        for name in ("late_s", "stop_s"):
            if getattr(self, name):
                raise ValueError(f"{name} is {getattr(self, name)}; groups whose members change have no such")
        if not (self.minutes >= 0 and math.isfinite(self.minutes)):
            raise ValueError(f"minutes is {self.minutes}; a time is at least 0 and finite")
        for kind in self.only:
            if kind not in KINDS:
                raise ValueError(f"only is {kind}; real processes meet {', '.join(KINDS)}")
            if kind in RATES and not getattr(self, RATES[kind]):
                raise ValueError(f"only is {kind}, {RATES[kind]} is 0; then it cannot happen")
        if whats(self.kinds) and not spared(self.processes):
            told = "of so few none may fail: a majority has to stay"
            raise ValueError(f"processes is {self.processes}; {told}")

    @property
    def kinds(self) -> tuple[FaultKind, ...]:
        """Return the kinds of faults for a group whose members change."""
        if not self.join or self.quiet:
            return ()
        asked = self.only or KINDS
        return tuple(kind for kind in asked if kind not in RATES or getattr(self, RATES[kind]))

    @property
    def faults(self) -> Faults:
        """Return the probabilities of the faults of a link, in the form that the relay takes."""
        rates = {name: getattr(self, name) for name in RATES.values()}
        if self.join:
            rates = {name: rate for name, rate in rates.items() if name in {*map(RATES.get, self.kinds)}}
        return Faults(**rates)

    def share(self, process: int) -> int:
        """Return the number of messages that a process broadcasts; shares differ by at most one."""
        return self.messages // self.processes + (process < self.messages % self.processes)
