"""Abstract machines ask one question of who is composed with them: who takes no step any more."""

from __future__ import annotations

from antiphon.spec.services.events import Group, Process


class Stopping(Group):
    """A hook that the environment of crashes answers; in a group that nobody leaves, nobody is gone."""

    def is_gone(self, p: Process) -> bool:
        """Return True if p takes no step any more."""
        return False
