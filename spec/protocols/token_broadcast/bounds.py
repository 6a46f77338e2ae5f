"""Figures 2 and 5 with repairs and readings that can be switched on; the sizes and the budget of losses bound
their exploration.
"""

from __future__ import annotations

from antiphon.spec.protocols.token_broadcast import repairs_of_figure2, repairs_of_figure5
from antiphon.spec.protocols.token_broadcast.figure2 import Figure2
from antiphon.spec.protocols.token_broadcast.figure5 import Figure5
from antiphon.spec.protocols.token_broadcast.readings import (
    missed,
    own_copy_of_figure_2,
    own_copy_of_figure_5,
)


class Figure2Bounded(Figure2, repairs=repairs_of_figure2.REPAIRS, readings=(own_copy_of_figure_2,)):
    """Figure 2 with its repairs and readings."""


class Figure5Bounded(Figure5, repairs=repairs_of_figure5.REPAIRS, readings=(own_copy_of_figure_5, missed)):
    """Figure 5 with its repairs and readings."""
