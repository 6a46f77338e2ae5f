"""Hook of the abstract machines for the environment with which they are composed: which processes take no
step any more.
"""

from __future__ import annotations

from antiphon.spec.services.events import Group, Process


class Stopping(Group):
    """Hook that the environment of crashes overrides; in a group without crashes no process is gone."""

    def is_gone(self, p: Process) -> bool:
        """Return True if p takes no step any more; False in a group without crashes."""
        return False
