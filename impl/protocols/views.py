"""Interface of cores that can change to another view: the caller blocks the core, and then installs the view.

The caller runs the flush: it calls `block` when a view has formed, passes on (by `receive`) every multicast
that another member going on has and this one has not, and calls `change_view` when every such member has them
all. The lockstep with the specifications over views does so. No group does: one whose members change makes a
new core for each list (`antiphon.impl.membership`), and any other keeps its first view, which has all members
in the order of their numbers.

This module must not know any protocol.
"""

from __future__ import annotations

from typing import Protocol

__all__ = ["ChangesViews"]


class ChangesViews(Protocol):
    """Core that can change to another view."""

    @property
    def view(self) -> int:
        """Return the number of the installed view, from 1."""
        ...

    @property
    def group(self) -> tuple[int, ...]:
        """Return the members of the installed view in its order; the first one coordinates."""
        ...

    def block(self, now: float) -> None:
        """Stop sending and ordering, since a next view has formed, until that view is installed."""
        ...

    def change_view(self, view: int, group: tuple[int, ...], now: float) -> None:
        """Install the view that has formed; every member who goes on has received the same multicasts.

        Raises:
            InvalidMembership: the view is not a later one, or `group` does not have this member, has one
                twice or has one that the core does not know.
        """
        ...
