"""Exploration of every reachable state of a program with bound constants, breadth-first, with shortest
counterexamples.

`check` judges properties, `reach` finds one state, `state_graph` gives the graph, `count` shows what makes
the state space grow; `liveness` judges fair runs. An engine (`antiphon.model.engines`) executes the program;
this package does not know which.
"""

from antiphon.model.bounds import Bounds, Progress
from antiphon.model.explore.checking import check, reach
from antiphon.model.explore.counts import ActionCount, Counts, VariableCount, count
from antiphon.model.explore.graph import state_graph
from antiphon.model.properties import kinds_of

__all__ = [
    "ActionCount",
    "Bounds",
    "Counts",
    "Progress",
    "VariableCount",
    "check",
    "count",
    "kinds_of",
    "reach",
    "state_graph",
]
