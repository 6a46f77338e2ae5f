"""Long runs for the explorer."""

import antiphon
from antiphon.model.trace import Trace, replay


def walked(steps: int) -> Trace:
    """A run of the alternating bit protocol in which every step changes something."""
    program = antiphon.program("alternating-bit")
    start = state = program.reference.initial()[0]
    taken = []
    while len(taken) < steps:
        moves = [one for one in program.reference.successors(state) if one.state != state]
        move = moves[len(taken) * 7919 % len(moves)]
        taken.append(move.step)
        state = move.state
    return replay(program, start, taken)
