"""Trace validation: search for a behaviour of the specification that explains the log of a real run.

A map says what each line of a log tells: the action that was taken, some of its arguments, a part of the
state before or after it (`observations`, `logs`). A search finds steps of the specification that agree with
all of it, in an order that every log keeps (`search`); where there is none, the guards that are false say why
(`failure`). The states in which the system may be after each line are found too (`possible`). Source:
Cirstea, Kuppe, Loillier and Merz 2024, "Validating traces of distributed programs against TLA+
specifications".
"""

from antiphon.conformance.compare.validation.explaining import Validation, validate
from antiphon.conformance.compare.validation.failure import Failure, Obstacle, Stuck
from antiphon.conformance.compare.validation.logs import read_logs
from antiphon.conformance.compare.validation.observations import Log, Observation, ObservationError, mentioned
from antiphon.conformance.compare.validation.possible import Place, Possible

__all__ = [
    "Failure",
    "Log",
    "Observation",
    "ObservationError",
    "Obstacle",
    "Place",
    "Possible",
    "Stuck",
    "Validation",
    "mentioned",
    "read_logs",
    "validate",
]
