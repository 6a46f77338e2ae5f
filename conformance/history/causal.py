"""Deliveries keep the order in which one process broadcast, and what happened before what.

1. Of a message the broadcast of its source counts, and the first delivery at each process.
2. A broadcast has a vector position: of each process, how many of its broadcasts happened before it, itself
   included. A delivery offends if the process has delivered something that the message happened before.
3. Positions follow from causes, not from the order in which the logs are merged. An event takes time
   proportional to the number of processes.

`CausalOrder` of `spec.services.causal` defines both properties; tests compare the two.

Source: Lamport 1978; Birman, Schiper and Stephenson 1991.
"""

from __future__ import annotations

from antiphon.conformance.history.finding import CAUSAL, FIFO, Finding, History, Offence, Place, finding
from antiphon.conformance.trace import Broadcast, Deliver, causal_order

SENT_LATER: str = "delivered after a message that its source broadcast later"
HAPPENED_LATER: str = "delivered after a message that it happened before"


def fifo_order(history: History) -> Finding:
    """Two messages of one source are delivered in the order in which it broadcast them."""
    return finding(FIFO, _offences(history)[0])


def causal_delivery(history: History) -> Finding:
    """Of two messages of which one happened before the other, it is delivered first."""
    return finding(CAUSAL, _offences(history)[1])


def _offences(history: History) -> tuple[list[Offence], list[Offence]]:
    """The deliveries that offend FIFO order, and those that offend causal order."""
    processes = range(len(history))
    position: dict[str, tuple[int, list[int]]] = {}
    clock = [[0] * len(history) for _ in processes]
    covered = [[0] * len(history) for _ in processes]
    last: list[dict[int, tuple[int, Place]]] = [{} for _ in processes]
    seen: list[set[str]] = [set() for _ in processes]
    fifo: list[Offence] = []
    causal: list[Offence] = []
    for step in causal_order(history).steps:
        p, event = step.process, step.event
        if isinstance(event, Broadcast) and event.m.split(":")[0] == str(p) and event.m not in position:
            clock[p][p] += 1
            position[event.m] = (p, list(clock[p]))
        elif isinstance(event, Deliver) and event.m not in seen[p] and event.m in position:
            seen[p].add(event.m)
            here = Place(p, event.i, event.m)
            source, at = position[event.m]
            before, place = last[p].get(source, (0, None))
            if before > at[source]:
                fifo.append((SENT_LATER, here, place))
            if covered[p][source] >= at[source]:
                causal.append((HAPPENED_LATER, here, place if before > at[source] else None))
            if before < at[source]:
                last[p][source] = (at[source], here)
            covered[p] = [max(a, b) for a, b in zip(covered[p], at, strict=True)]
            clock[p] = [max(a, b) for a, b in zip(clock[p], at, strict=True)]
    return fifo, causal
