"""Membership of a group, as a machine without clock and socket: detectors, agreement, changes of the view."""
