"""How does the search avoid doing the same work in every state? Steps that read the same few bits form a group, and a group remembers.

In a model of n processes a state is new mostly because of a combination: what one process can do next depends on its own variables, and those
took the same values in thousands of states before. A `Group` cuts the bits that its steps read out of the state (`state & mask`) and looks up
what they do there: pairs (keep, add), the successors being `state & keep | add`. Only what is not remembered runs the generated functions.

Steps with a trigger (the presence of a packet) are remembered one level below: first the group's bits, then which effective triggers are
present. A trigger whose only step changes nothing there is counted, not tried.

The result never depends on what is remembered: a group that finds nothing again (`hopeless`) stops remembering.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from antiphon.model.engines.python.catalogue import Specialised
from antiphon.model.ground.packing import Packing

SMALL_BITS = 12
"""Groups that together read at most this many bits are joined."""
CLOSE = 1.25
"""Groups of several processes are joined when the union reads at most this many times the bits of the larger one."""

Rare = tuple[Specialised, tuple[int, ...] | None]
"""A step with the positions of the properties it breaks, or None: a check fails."""
Moves = tuple[int, tuple[tuple[int, int], ...], tuple[Rare, ...]]
"""How many steps are enabled, their different effects (keep, add), what is rare."""
NOTHING: Moves = (0, (), ())


class Group:
    """Steps that read the bits `mask` and, each, its trigger.

    `cache` maps `state & mask` to an entry [effective, idle, moves by triggers, moves by trigger]: `effective` are the triggers to look at,
    `idle` those whose one step leaves the state as it is. Steps that were enabled somewhere are put in `enabled`.
    """

    def __init__(self, mask: int, fault: bool, full: int, enabled: set[Specialised]) -> None:
        self.mask, self.fault, self.full, self.enabled = mask, fault, full, enabled
        self.statics: list[Specialised] = []
        self.triggered: dict[int, list[Specialised]] = {}
        self.triggers = 0
        self.cache: dict[int, list[Any]] = {}
        self.misses = 0
        self.hopeless = False

    def add(self, step: Specialised) -> None:
        """One more step; the group's mask covers its footprint."""
        if step.trigger:
            self.triggered.setdefault(step.trigger, []).append(step)
            self.triggers |= step.trigger
        else:
            self.statics.append(step)

    def adopt(self, old: Group) -> bool:
        """Take over what an older group with the same mask remembers, if all steps that are new here have triggers that are new too."""
        fresh = self.triggers & ~old.triggers
        if self.statics != old.statics or any(self.triggered.get(bit) != steps for bit, steps in old.triggered.items()):
            return False
        for entry in old.cache.values():
            entry[0] |= fresh
        self.cache, self.hopeless = old.cache, old.hopeless
        return True

    def open(self, state: int) -> list[Any]:
        """The entry for a state whose bits are not remembered."""
        self.misses += 1
        entry: list[Any] = [self.triggers, 0, {}, {0: self._run(self.statics, state, self.mask)}]
        if not self.hopeless:
            self.cache[state & self.mask] = entry
        return entry

    def detail(self, entry: list[Any], state: int) -> Moves:
        """What the steps do in this state, remembered in the entry; it may make triggers idle."""
        table = entry[3]
        parts = [table[0]]
        present = state & entry[0]
        while present:
            bit = present & -present
            present ^= bit
            if bit not in table:
                table[bit] = self._run(self.triggered[bit], state, self.mask | bit)
            part = table[bit]
            if part[1] or part[2] or part[0] > 1:
                parts.append(part)
            else:
                entry[0] &= ~bit
                if part[0]:
                    entry[1] |= bit
        moves = (
            sum(part[0] for part in parts),
            tuple(dict.fromkeys(pair for part in parts for pair in part[1])),
            tuple(rare for part in parts for rare in part[2]),
        )
        entry[2][state & entry[0]] = moves
        return moves

    def _run(self, steps: Iterable[Specialised], state: int, known: int) -> Moves:
        """What the steps do wherever the bits `known` are as in `state`."""
        count = 0
        effects: dict[tuple[int, int], None] = {}
        rare: list[Rare] = []
        for step in steps:
            result = step.run(state)
            if result is None:
                continue
            if isinstance(result, int):
                rare.append((step, None))
                continue
            count += 1
            self.enabled.add(step)
            keep, add = result[0], result[1]
            if len(result) == 3:
                rare.append((step, result[2]))
            touched = self.full & ~keep | add
            if touched & ~known or state & keep | add != state:
                effects.setdefault((keep, add))
        return count, tuple(effects), tuple(rare)


def make_groups(steps: Sequence[Specialised], packing: Packing, enabled: set[Specialised], previous: Sequence[Group] = ()) -> list[Group]:
    """Groups for these steps, algorithm before faults; what `previous` groups remember is kept where it stays true.

    Steps that read variables of one process (by the first key of a map) and shared ones form a group; others join where they read nearly
    the same bits; small groups are joined.
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
            cluster = next((item for item in clusters if item.fault == step.fault and item.close(step.footprint)), _Cluster(step.fault))
            if not cluster.steps:
                clusters.append(cluster)
        cluster.add(step.footprint, [step])
    groups = []
    for cluster in _joined(clusters):
        group = Group(cluster.mask, cluster.fault, packing.full, enabled)
        for step in sorted(cluster.steps, key=lambda item: item.order):
            group.add(step)
        for old in previous:
            if old.mask == group.mask and old.fault == group.fault:
                group.adopt(old)
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
    """Clusters whose bits lie within another's join it, the smallest that will do; then small ones join each other."""
    kept: list[_Cluster] = []
    for cluster in sorted(clusters, key=lambda item: -item.mask.bit_count()):
        hosts = [host for host in kept if host.fault == cluster.fault and cluster.mask & ~host.mask == 0]
        if hosts:
            min(hosts, key=lambda host: host.mask.bit_count()).add(0, cluster.steps)
        else:
            kept.append(cluster)
    joined: list[_Cluster] = []
    for cluster in kept:
        hosts = [host for host in joined if host.fault == cluster.fault and (host.mask | cluster.mask).bit_count() <= SMALL_BITS]
        if hosts:
            hosts[0].add(cluster.mask, cluster.steps)
        else:
            joined.append(cluster)
    return joined
