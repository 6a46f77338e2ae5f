"""Surviving mutants: their change is visible, no check notices it, and no check need notice it, each with the
reason.

`antiphon claims --mutants` lists every mutant that changes visible behaviour and breaks no check. Either a
check is missing, or this module gives the reason. A mutant is named by its method and its change, without the
line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "MovingSequencer.misses_number: comparison shifted: `self.token_number > self.next_deliver[p]` "
        "becomes `self.token_number >= self.next_deliver[p]`": (
            "It is the repair `wait_for_missing_number`. What holds of the printed text holds of the "
            "repaired one; that the printed one is worse is what MSQ-02 records to be violated."
        ),
        "OrderingMachine.learn: guard dropped: `item not in self.learned[p]`": (
            "Who hears what it knows does nothing: the step leads back to the state in which it is taken. "
            "The machine then never rests, and nothing is said of rest: it may stand still."
        ),
        "OrderingMachine.assign: alternative dropped: `item.message is None`": (
            "No number then stands for no message, or one at most: the machine promises more than it must. "
            "RBP numbers NULLs, and is no refinement of that machine from its first state on."
        ),
        "OutputBuffer.discard: guard dropped: `not self.discarded`": (
            "To discard a second time changes nothing: the step leads back to the state in which it is taken."
        ),
        "OutputBuffer.see: guard dropped: `not self.discarded`": (
            "What p sees after it has discarded m decides nothing: VSC-10 asks what it had seen before."
        ),
        "OrderingMachine.submit: guard dropped: `not self.gone[p]`": (
            "Who has crashed hands over a message: one history more. Total order broadcast says of a "
            "message what becomes of it, and of who broadcasts nothing."
        ),
        "SequenceMachine.is_last: comparison shifted: `self.processes - 1` becomes `self.processes`": (
            "It says in which process a planted fault shows: now in none. What the faults break is recorded "
            "to be violated, and what they leave alone still holds without them."
        ),
        "NumberPasses.next_null: comparison shifted: `self.turn[p] % (self.nulls + 1) + 1` becomes "
        "`self.turn[p] % (self.nulls + 1)`": (
            "A NULL has the number of the pass before, and nobody takes the token by it: less happens. It is "
            "a mutant only where no other repair builds on this class, and there safety alone is asked; with "
            "all repairs TokenHeld (DTP-13) would break in one step."
        ),
        "SequencerCopy.answer: update left out: `self.network -= {packet}`": (
            "The request stays and is answered again. A second copy is dropped by who has the first, and "
            "nothing is said of rest."
        ),
        "Nak.has_news: comparison shifted: `self.acknowledged[q][p] < self.expected[p][q] - 1` becomes "
        "`self.acknowledged[q][p] <= self.expected[p][q] - 1`": (
            "Members tell their status again, which changes nothing at its reader; nothing is said of rest."
        ),
        "TokenLists.reform: guard negated: `all((q == p or q > p or self.current[q] != self.current[p] "
        "for q in responders))` becomes `not all((q == p or q > p or self.current[q] != self.current[p] "
        "for q in responders))`": (
            "Another site of the same list originates, and none that is alone in its list: less happens, and "
            "who of the sites of one list originates changes nothing."
        ),
    }
)


def reason_of(mutant: str) -> str:
    """Return the reason why no check need notice the mutant of this name, or an empty string if none is
    recorded.
    """
    return REASONS.get(re.sub(r", line \d+: ", ": ", mutant, count=1), "")
