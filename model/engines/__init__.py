"""Engines: they execute a program, behind two interfaces (`StateSpace`, `Transitions`); `choice` picks an
engine by its name.

They know nothing of searches, verdicts or bounds: the searches (`antiphon.model.explore`) use them.
"""

from antiphon.model.engines.choice import (
    ENGINES,
    Engine,
    StorageOptions,
    engine_named,
    open_space,
    transitions_by,
    transitions_of,
)
from antiphon.model.engines.interface import LevelSpace, PredicateError, Refused, StateSpace, Transitions
from antiphon.model.engines.python.machine import compiled_machine

__all__ = [
    "ENGINES",
    "Engine",
    "LevelSpace",
    "PredicateError",
    "Refused",
    "StateSpace",
    "StorageOptions",
    "Transitions",
    "compiled_machine",
    "engine_named",
    "open_space",
    "transitions_by",
    "transitions_of",
]
