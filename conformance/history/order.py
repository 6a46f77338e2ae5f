"""Two processes agree on order when they rank the messages they both deliver alike.

1. A repetition is integrity's business: only the first delivery of a message at a process counts here.
2. Pairwise order speaks of the messages that both deliver, so gaps are allowed. Restricted to common
   messages, two sequences without repetition agree on every pair exactly when they are equal. So no pair of
   messages is ever formed: ranks are compared, in linear time.
3. At the first rank where they differ, one process has a and later b, the other b and later a
   (all earlier ranks are taken by the same messages). That is the pair of events to show.
4. Prefix order is stricter: position by position, the whole sequences are equal as far as both go.
5. Numbering is as strict as pairwise order, and more: the numbers under which messages are delivered show it.

All are uniform: a process that has crashed is held to what it delivered. This module knows nothing of
sources, payloads or crashes.

Source: Barchet-Estefanel 2002, section 2.1 (Uniform Total Order).
"""

from __future__ import annotations

from itertools import combinations

from antiphon.conformance.history.finding import (
    NOT_GREATER,
    NUMBER_TAKEN,
    OTHER_MESSAGE,
    OTHER_NUMBER,
    OTHER_ORDER,
    UNIFORM_NUMBERING,
    UNIFORM_PREFIX_ORDER,
    UNIFORM_TOTAL_ORDER,
    Finding,
    History,
    Offence,
    Place,
    finding,
)
from antiphon.conformance.trace import Deliver


def total_order(history: History) -> Finding:
    """If two processes both deliver m and m', both deliver them in the same order.

    Counts the messages that stand at different ranks, summed over the pairs of processes.
    """
    firsts = [{place.message: place for place in places} for places in _deliveries(history)]
    offending = 0
    example: tuple[Place, Place] | None = None
    for p, q in combinations(range(len(history)), 2):
        at_p = [place for message, place in firsts[p].items() if message in firsts[q]]
        at_q = [place for message, place in firsts[q].items() if message in firsts[p]]
        displaced = [(a, b) for a, b in zip(at_p, at_q, strict=True) if a.message != b.message]
        offending += len(displaced)
        if displaced and example is None:
            example = displaced[0]
    if example is None:
        return Finding(UNIFORM_TOTAL_ORDER)
    return Finding(UNIFORM_TOTAL_ORDER, offending, OTHER_ORDER, *example)


def prefix_order(history: History) -> Finding:
    """Of any two delivery sequences one is a prefix of the other.

    Counts the positions at which not all processes that got so far deliver the same message.
    """
    sequences = _deliveries(history)
    offending = 0
    example: tuple[Place, Place] | None = None
    for position in range(max(map(len, sequences), default=0)):
        places = [sequence[position] for sequence in sequences if position < len(sequence)]
        other = next((place for place in places if place.message != places[0].message), None)
        if other is not None:
            offending += 1
            example = example or (places[0], other)
    if example is None:
        return Finding(UNIFORM_PREFIX_ORDER)
    return Finding(UNIFORM_PREFIX_ORDER, offending, OTHER_MESSAGE, *example)


def numbering(history: History) -> Finding:
    """A message has one number and a number one message, the same everywhere, and each process counts up.

    A delivery offends at most once. Numbers may be left out.
    """
    numbers: dict[str, tuple[int, Place]] = {}
    messages: dict[int, Place] = {}
    offences: list[Offence] = []
    for process, events in enumerate(history):
        seen: set[str] = set()
        last, last_place = 0, None
        for event in events:
            if not isinstance(event, Deliver):
                continue
            here = Place(process, event.i, event.m)
            number, numbered = numbers.setdefault(event.m, (event.number, here))
            owner = messages.setdefault(event.number, here)
            if number != event.number:
                offences.append((OTHER_NUMBER, here, numbered))
            elif owner.message != event.m:
                offences.append((NUMBER_TAKEN, here, owner))
            elif event.m not in seen and event.number <= last:
                offences.append((NOT_GREATER, here, last_place))
            if event.m not in seen:
                seen.add(event.m)
                last, last_place = event.number, here
    return finding(UNIFORM_NUMBERING, offences)


def _deliveries(history: History) -> list[list[Place]]:
    """Of each process the first delivery of each message, in order."""
    sequences = []
    for process, events in enumerate(history):
        firsts: dict[str, Place] = {}
        for event in events:
            if isinstance(event, Deliver):
                firsts.setdefault(event.m, Place(process, event.i, event.m))
        sequences.append(list(firsts.values()))
    return sequences
