"""Membership of a group as a machine without clock and socket: failure detectors, agreement, changes of the
view.
"""
