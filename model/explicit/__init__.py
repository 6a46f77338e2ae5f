"""The explicit-state checker: every reachable state of a program with bound constants, breadth-first, shortest counterexamples.

`check` judges properties, `reach` finds one state, `state_graph` gives the graph, `compiled_machine` runs steps fast, `edges_of` walks every
transition on packed states (`Parts` says which bits are what), `count` says what makes the state space grow.
"""

from antiphon.model.explicit.checking import ENGINES, check, kinds_of, reach
from antiphon.model.explicit.compiled import compiled_machine
from antiphon.model.explicit.counts import ActionCount, Counts, VariableCount, count
from antiphon.model.explicit.edges import Edges, edges_of
from antiphon.model.explicit.graph import state_graph
from antiphon.model.explicit.parts import Parts
from antiphon.model.explicit.progress import progress_bar
from antiphon.model.explicit.search import Progress
from antiphon.model.explicit.space import Refused

__all__ = [
    "ENGINES", "ActionCount", "Counts", "Edges", "Parts", "Progress", "Refused", "VariableCount", "check", "compiled_machine", "count", "edges_of",
    "kinds_of", "progress_bar", "reach", "state_graph",
]  # fmt: skip
