"""The elements that the sets of a specification hold in some reachable state: `members` of `promela`."""

from __future__ import annotations

from antiphon.model.engines.python.transitions import PythonTransitions
from antiphon.model.ground import layout
from antiphon.model.ground.form import Bits
from antiphon.spec.lang import Program


def seen_members(bound: Program, most_states: int) -> tuple[dict[int, int], int] | None:
    """The masks of the elements that occur in the bit-set slots, by position, and the number of states; None when there are more than so many."""
    edges = PythonTransitions(bound)
    states = list(dict.fromkeys(edges.pack(state) for state in bound.reference.initial()))
    seen, present = set(states), 0
    for state in states:
        present |= state
        for _, after in edges.successors(state):
            if after not in seen:
                seen.add(after)
                states.append(after)
        if len(states) > most_states:
            return None
    places = edges.packing.places
    slots = enumerate(layout(bound).slots)
    return {number: (present & places[number].mask) >> places[number].offset for number, slot in slots if isinstance(slot.sort, Bits)}, len(states)
