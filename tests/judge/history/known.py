"""Sets of judged properties that several tests speak of."""

from __future__ import annotations

from antiphon.conformance.judge.history import promised_words, properties_of, property_names
from antiphon.conformance.judge.history.properties import is_eventual, property_of
from antiphon.spec.services.promises import Property

PROMISES = promised_words()
PROPERTIES = properties_of("total-order")
FURTHER_PROPERTIES = tuple(name for name in property_names() if name not in PROPERTIES)
ALWAYS = frozenset(name for name in property_names() if property_of(name).always)
LIVENESS = frozenset(name for name in property_names() if is_eventual(name))


def row(prop: Property) -> str:
    """Write the row of a property in the tables of docs/judging.md."""
    cells = [f"`{prop.name}`", prop.says, *([prop.by] if prop.by else [])]
    return f"| {' | '.join(cells)} |"
