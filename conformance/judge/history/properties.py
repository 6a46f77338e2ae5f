"""Catalogue of the properties by which logs are judged, and of the words that promise them.

Everything here is derived from the `Promises` of the services, and of the functions for properties without a
service. `JUDGED` lists them in the order of report. A property that is added to the table of a service is in
the catalogue. A service that is added needs a line of its own in `JUDGED`.

This module knows which services judge logs. It knows no definition and no event.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache

from antiphon.conformance.judge.history.circles import UNIFORM_GLOBAL_ORDER
from antiphon.conformance.judge.history.content import NO_DUPLICATION
from antiphon.conformance.judge.history.datagrams import CAUSALITY, DATAGRAM_INTEGRITY
from antiphon.conformance.judge.history.members import HANDOVER, NO_VIOLATION
from antiphon.spec.lang import Spec
from antiphon.spec.lang.machine import Refusal
from antiphon.spec.services.causal import CAUSAL_PROMISES, RELIABLE_PROMISES
from antiphon.spec.services.consensus import CONSENSUS_PROMISES
from antiphon.spec.services.detectors import ALARM_PROMISES, DETECTOR_PROMISES
from antiphon.spec.services.events import Views
from antiphon.spec.services.extended import EXTENDED_ORDER_PROMISES, EXTENDED_PROMISES
from antiphon.spec.services.order import NUMBERING_PROMISES, OF_DELIVERIES, TOTAL_ORDER_PROMISES
from antiphon.spec.services.order_in_views import ORDER_IN_VIEWS_PROMISES
from antiphon.spec.services.promises import Promises, Property
from antiphon.spec.services.survey import INDICATION_PROMISES, STABLE_VIEW_PROMISES, SUCCESSOR_PROMISES
from antiphon.spec.services.views import VIEW_PROMISES

JUDGED: tuple[Promises, ...] = (
    TOTAL_ORDER_PROMISES,
    Promises((UNIFORM_GLOBAL_ORDER,)),
    NUMBERING_PROMISES,
    Promises((DATAGRAM_INTEGRITY, CAUSALITY, HANDOVER, NO_VIOLATION)),
    VIEW_PROMISES,
    EXTENDED_PROMISES,
    Promises((NO_DUPLICATION,)),
    CAUSAL_PROMISES,
    RELIABLE_PROMISES,
    ORDER_IN_VIEWS_PROMISES,
    EXTENDED_ORDER_PROMISES,
    SUCCESSOR_PROMISES,
    INDICATION_PROMISES,
    STABLE_VIEW_PROMISES,
    CONSENSUS_PROMISES,
    DETECTOR_PROMISES,
    ALARM_PROMISES,
    Promises((), OF_DELIVERIES),
)
"""Services and functions in the order of report. A property that several services have is judged by the
first.
"""


def properties() -> Mapping[str, Property]:
    """Return every property by its name, in the order of report."""
    return {name: prop for name, (prop, _) in _catalogue(JUDGED).items()}


def property_of(name: str) -> Property:
    """Return the property with this name."""
    return _catalogue(JUDGED)[name][0]


def property_names() -> tuple[str, ...]:
    """Return the names of the properties that reports can have, in the order of report."""
    return tuple(name for name, prop in properties().items() if prop.is_reported)


def promised_words() -> tuple[str, ...]:
    """Return the words by which systems promise properties."""
    return tuple(word for promises in JUDGED for word in promises.words)


def judges() -> Mapping[str, type[Spec]]:
    """Return, for each property of a service, the service that judges it."""
    found = {name: promises.service for name, (_, promises) in _catalogue(JUDGED).items()}
    return {name: service for name, service in found.items() if service is not None}


def reported_name(service: type[Spec], name: str) -> str:
    """Return the name in reports of a service's property."""
    return _promises_of(service).prefix + name


def assumed(service: type[Spec]) -> frozenset[str]:
    """Return the names of the events that are ordered in favour of the logs' writer before this service
    judges them.
    """
    return frozenset({_promises_of(service).assuming} - {""})


def is_eventual(name: str) -> bool:
    """Return True if no violation of the property is final while the run goes on.

    A missing event may still come, or the property depends on an event that the logs may lack.
    """
    prop, promises = _catalogue(JUDGED)[name]
    return prop.unseen or promises.is_of_end(prop)


def asks_for_views(name: str) -> bool:
    """Return True if the property concerns views."""
    service = _catalogue(JUDGED)[name][1].service
    return service is not None and issubclass(service, Views)


def reason_of(name: str, refusal: Refusal) -> str:
    """Return the reason why an event breaks a property."""
    reason = property_of(name).reason
    return reason if isinstance(reason, str) else reason(refusal)


def reason_at_end(service: type[Spec], name: str) -> str:
    """Return the reason why the end of a run breaks a service's property."""
    reason = property_of(reported_name(service, name)).reason
    sentence = (inspect.getdoc(getattr(service, name)) or "").split(".")[0].replace("\n", " ")
    return reason if isinstance(reason, str) and reason else f"not true: {sentence}"


def _promises_of(service: type[Spec]) -> Promises:
    return next(promises for promises in JUDGED if promises.service is service)


@cache
def _catalogue(judged: tuple[Promises, ...]) -> Mapping[str, tuple[Property, Promises]]:
    """Map the name of each property to the property and to the table of promises that has it."""
    return {prop.name: (prop, promises) for promises in judged for prop in promises.properties}
