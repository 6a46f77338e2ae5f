"""A service judges a log live: each event runs its handlers once, and the obligations are asked at the end.

The text that runs is the service itself, executed by CPython, with its domains sized by the log. An event
costs what its handlers do.
"""

from __future__ import annotations

from antiphon.spec.lang import Refusal, Spec, program
from antiphon.spec.lang.reference import Session


class Judge:
    """A service over the events of one run of `processes` processes and `messages` messages (both counts; at
    least one process).

    Feed events in any order that respects each process's own and puts a broadcast before its deliveries.
    """

    def __init__(self, service: type[Spec], *, processes: int, messages: int) -> None:
        self._program = program(service, processes=processes, messages=max(messages, 1))
        self._session: Session = self._program.reference.session()

    @property
    def obligations(self) -> tuple[str, ...]:
        """The names of what the service promises for the end of the run."""
        return tuple(
            method.mark.name for method in self._program.declaration.marked("obligation") if method.mark
        )

    def feed(self, event: object) -> tuple[Refusal, ...]:
        """The properties that this event breaks, with the events it clashes with."""
        return self._session.feed(event)

    def discharged(self) -> dict[str, bool]:
        """For each obligation whether it is true now; it means something when the run is over."""
        return {name: self._session.holds(name) for name in self.obligations}
