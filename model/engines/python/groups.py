"""Groups of steps that read the same few bits, so that their results can be cached and need not be computed
again in every state.

In a model of n processes a state is new mostly as a combination: the next steps of one process depend on its
own variables, which had the same values in thousands of states before. The bits that a group's steps read are
cut out of the state (`state & mask`) and looked up. Steps with a trigger (the presence of a packet) are
looked up one level below: first the group's bits, then the triggers that are present.

This file knows nothing of the cached results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antiphon.model.engines.python.catalogue import Specialised
from antiphon.model.ground.packing import Packing

SMALL_BITS = 12
"""Largest number of bits that groups may read together to be joined."""
CLOSE = 1.25
"""A step of several processes joins a group if both read at most so many times the bits of the larger."""


class Group:
    """Group of steps whose footprint is the bits of `mask` and the trigger of each, one bit of the state:
    first the steps without a trigger, then those of each trigger.
    """

    def __init__(self, mask: int, fault: bool) -> None:
        self.mask, self.fault, self.triggers = mask, fault, 0
        self.statics: list[Specialised] = []
        self.triggered: dict[int, list[Specialised]] = {}

    def add(self, step: Specialised) -> None:
        """Add a step; the group's mask grows to cover its footprint."""
        if step.trigger:
            self.triggered.setdefault(step.trigger, []).append(step)
            self.triggers |= step.trigger
        else:
            self.statics.append(step)

    def extends(self, old: Group) -> bool:
        """Return True if this group is the group `old` with more triggers: the steps without a trigger and
        the steps of each trigger of `old` are the same.
        """
        return self.statics == old.statics and all(
            self.triggered.get(bit) == steps for bit, steps in old.triggered.items()
        )


def make_groups(steps: Sequence[Specialised], packing: Packing) -> list[Group]:
    """Return the steps in groups; the groups of the algorithm's steps come before those of faults.

    Steps that read variables of one process (by the first key of a map) and shared ones form a group; others
    join where they read nearly the same bits; small groups are joined.
    """
    clusters: list[_Cluster] = []
    single: dict[tuple[bool, frozenset[str]], _Cluster] = {}
    for step in steps:
        owners = packing.owners(step.footprint)
        if len(owners) <= 1:
            cluster = single.get((step.fault, owners))
            if cluster is None:
                cluster = single[step.fault, owners] = _Cluster(step.fault)
                clusters.append(cluster)
        else:
            near = (item for item in clusters if item.fault == step.fault and item.close(step.footprint))
            cluster = next(near, _Cluster(step.fault))
            if not cluster.steps:
                clusters.append(cluster)
        cluster.add(step.footprint, [step])
    groups = []
    for cluster in _joined(clusters):
        group = Group(cluster.mask, cluster.fault)
        for step in sorted(cluster.steps, key=lambda item: item.order):
            group.add(step)
        groups.append(group)
    return sorted(groups, key=lambda group: group.fault)


class _Cluster:
    def __init__(self, fault: bool) -> None:
        self.fault, self.mask = fault, 0
        self.steps: list[Specialised] = []

    def add(self, mask: int, steps: Iterable[Specialised]) -> None:
        self.mask |= mask
        self.steps.extend(steps)

    def close(self, mask: int) -> bool:
        larger = max(self.mask.bit_count(), mask.bit_count())
        return (self.mask | mask).bit_count() <= larger * CLOSE


def _joined(clusters: Sequence[_Cluster]) -> list[_Cluster]:
    """Return the clusters after joining. A cluster whose bits all lie within other clusters joins the
    smallest of these; then small clusters join each other.
    """
    kept: list[_Cluster] = []
    for cluster in sorted(clusters, key=lambda item: -item.mask.bit_count()):
        hosts = [host for host in kept if host.fault == cluster.fault and cluster.mask & ~host.mask == 0]
        if hosts:
            min(hosts, key=lambda host: host.mask.bit_count()).add(0, cluster.steps)
        else:
            kept.append(cluster)
    joined: list[_Cluster] = []
    for cluster in kept:
        hosts = [
            host
            for host in joined
            if host.fault == cluster.fault and (host.mask | cluster.mask).bit_count() <= SMALL_BITS
        ]
        if hosts:
            hosts[0].add(cluster.mask, cluster.steps)
        else:
            joined.append(cluster)
    return joined
