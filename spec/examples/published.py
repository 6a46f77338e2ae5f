"""Published state counts of TLC for the TLA+ originals of the examples; every engine is compared with them.

Sources: the manifests of the public TLA+ examples (`distinctStates`, and `totalStates`, which counts initial
states and transitions). The counts of TwoPhase and DieHard are those that TLC gives for the same modules; the
public model of DieHard stops at the solution, the counted one does not.

`generated` is given where the original takes a step exactly where ours does: TLC counts a disjunction in a
guard once for each side, and the loop of a philosopher also where it changes nothing. A step of bcastByz from
every state to itself, which only prevents deadlock, is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from antiphon.spec.examples.alternating_bit import AlternatingBit, OneAtATime
from antiphon.spec.examples.bcast_byz import BcastByz
from antiphon.spec.examples.chameneos import Chameneos
from antiphon.spec.examples.chang_roberts import ChangRoberts
from antiphon.spec.examples.die_hard import DieHard
from antiphon.spec.examples.dining_philosophers import DiningPhilosophers
from antiphon.spec.examples.ewd840 import EWD840
from antiphon.spec.examples.nbacg_guer01 import NbacgGuer01
from antiphon.spec.examples.two_phase import TwoPhase
from antiphon.spec.examples.voting import Voting
from antiphon.spec.lang import Spec


@dataclass(frozen=True)
class Published:
    """Count of states that was published: `distinct` reachable states of `spec` under `constants`;
    `generated` is the number of initial states and transitions, where it is comparable. With `symmetry`
    states that differ only in the names of interchangeable members count once.
    """

    spec: type[Spec]
    constants: Mapping[str, int]
    distinct: int
    generated: int | None = None
    symmetry: bool = False


def _count(
    spec: type[Spec],
    distinct: int,
    generated: int | None = None,
    *,
    symmetry: bool = False,
    **constants: int,
) -> Published:
    return Published(spec, MappingProxyType(constants), distinct, generated, symmetry)


PUBLISHED = (
    _count(DieHard, 16, 97),
    _count(DiningPhilosophers, 67, philosophers=5),
    _count(EWD840, 302, nodes=3),
    _count(EWD840, 1_566, nodes=4),
    _count(OneAtATime, 20, 36, values=2),
    _count(AlternatingBit, 240, values=2, length=2),
    _count(BcastByz, 14_424, 227_344 - 14_424, processes=4, tolerated=1, faulty=1),
    _count(NbacgGuer01, 24_922, processes=3),
    _count(Voting, 77, symmetry=True, acceptors=3, values=2, ballots=2),
    _count(ChangRoberts, 137, 227, nodes=3),
    _count(Chameneos, 34_534, 104_697, creatures=4, meetings=4),
    _count(TwoPhase, 288, 1_146, managers=3),
    _count(TwoPhase, 8_832, 58_146, managers=5),
    _count(TwoPhase, 296_448, managers=7),
    _count(TwoPhase, 1_745_408, managers=8),
)
"""All counts; those of one specification stand from small to large."""
