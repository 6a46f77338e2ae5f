"""Pseudo-random choice by arithmetic: the step that a walk takes follows from the seed, the walk's number and
its length alone.

Every enabled step draws 64 bits of its own, from the walk, the position in it and the number of the step
(`model/ground/codes.py`), and the least draw wins. So the choice does not depend on the order in which an
engine finds steps, nor on other walks, and no engine keeps a generator. A step of weight w has its draw
divided by w.

In a swarm each walk draws which faults may happen at all, and a weight for each action: walks that differ in
kind find errors that walks of one kind all miss (Groce, Zhang, Eide, Chen, Regehr, "Swarm testing", ISSTA
2012).

`native/kernels/walks.py` computes the same in machine code, with these constants.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

GAMMA = 0x9E3779B97F4A7C15
STRIDE = 0xC2B2AE3D27D4EB4F
FINISHER = 0xD6E8FEB86659FD93
START = 0xA5A5A5A5A5A5A5A5
WEIGHTS = 3
"""Number of bits of a draw that give a weight: 1, 2, 4 or 8."""
OFF = 63
"""Bit of a fault's draw that leaves the fault out."""
_WORD = (1 << 64) - 1


def mix(value: int) -> int:
    """Return 64 bits that are scrambled from `value`: they look independent of the bits of other values."""
    value = (value ^ value >> 32) * FINISHER & _WORD
    value = (value ^ value >> 29) * FINISHER & _WORD
    return value ^ value >> 32


def seed_word(seed: int) -> int:
    """Return the 64 bits of a seed, hashed from any integer."""
    return int.from_bytes(hashlib.blake2b(str(seed).encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class Chance:
    """The random draws of the walks that belong to one seed.

    Attributes:
        seed: 64 bits (`seed_word`).
        faults: for each action whether it is a fault.
        swarm: whether walks differ in kind.
    """

    seed: int
    faults: Sequence[bool]
    swarm: bool = False

    def key(self, walk: int) -> int:
        """Return the random bits of a walk, by the walk's number."""
        return mix(self.seed + (walk + 1) * GAMMA & _WORD)

    def start(self, key: int, count: int) -> int:
        """Return the index, below `count`, of the initial state in which a walk begins."""
        return mix(key ^ START) % count

    def weights(self, key: int) -> list[int]:
        """Return the weight of each action in the walk of this key; an action of weight 0 is never taken."""
        return [self._weight(key, action, fault) for action, fault in enumerate(self.faults)]

    def _weight(self, key: int, action: int, fault: bool) -> int:
        if not self.swarm:
            return 1
        drawn = mix(key ^ (action + 1) * STRIDE & _WORD)
        return 0 if fault and drawn >> OFF else 1 << (drawn & WEIGHTS)

    def base(self, key: int, position: int) -> int:
        """Return the random bits for a position (a number of steps) in the walk of this key."""
        return mix(key + (position + 1) * GAMMA & _WORD)

    def draw(self, base: int, code: int, weight: int) -> int:
        """Return the draw of a step at a position of a walk: of all enabled steps the one with the least draw
        is taken.
        """
        return mix(base ^ (code + 1) * STRIDE & _WORD) // weight
