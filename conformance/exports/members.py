"""Elements that the sets of a specification hold in some reachable state, for `members` of `promela`."""

from __future__ import annotations

import functools
import operator

from antiphon.model.bounds import Bounds
from antiphon.model.engines import transitions_of
from antiphon.model.explore.explorer import Visitor, walk
from antiphon.model.ground import layout
from antiphon.model.ground.form import Bits
from antiphon.spec.lang import Program


def seen_members(bound: Program, most_states: int) -> tuple[dict[int, int], int] | None:
    """Return, for each position in the state that is a bit set, the mask of the elements that the set holds
    in some reachable state; and the number of states.

    The result is None when there are more than `most_states` states.

    Raises:
        SpecError: the specification has an error in a reached state.
    """
    transitions = transitions_of(bound)
    space, explorer = walk(transitions, Visitor(), Bounds(states=most_states + 1))
    if space.failure is not None:
        raise space.failure
    if not explorer.complete or len(space) > most_states:
        return None
    present = functools.reduce(operator.or_, space.packed, 0)
    places = transitions.packing.places
    slots = [number for number, slot in enumerate(layout(bound).slots) if isinstance(slot.sort, Bits)]
    return {number: (present & places[number].mask) >> places[number].offset for number in slots}, len(space)
