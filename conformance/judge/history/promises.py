"""Promises: words that select the properties by which a system's logs are judged.

A promise is a set of these words. `total-order` alone is for a group whose members stay, and so is
`reliable-broadcast`, which promises the same without an order. With
`virtual-synchrony` (a primary partition), `view-synchrony` (the same, except that a message may be delivered
in a later view than it was sent in) or `extended-virtual-synchrony` (partitions that go on separately)
members change; so they do with `partitionable-synchrony`, where parts go on separately and nobody is told
beforehand with whom. Then a promise about all processes becomes one about the members of views.

`safe-delivery` adds that a process delivers a message only if every receiver will deliver it, unless it
crashes. All other words combine with each of these, or are used alone. Logs of deliveries alone can be judged
by `no-duplication`, `uniform-total-order` and `prefix-order`, which need no broadcast.

Each word and its properties come from the tables of the services (`properties`).
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from typing import Final

from antiphon.conformance.judge.history.properties import promised_words, properties
from antiphon.spec.lang.hints import known_names
from antiphon.spec.services.broadcast import (
    BROADCAST_ONCE,
    RELIABLE_BROADCAST,
    TOTAL_ORDER,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
)
from antiphon.spec.services.extended import SAFE_DELIVERY
from antiphon.spec.services.order import OF_DELIVERIES
from antiphon.spec.services.promises import Property
from antiphon.spec.services.views import (
    EXTENDED_VIRTUAL_SYNCHRONY,
    PARTITIONABLE_SYNCHRONY,
    VIEW_SYNCHRONY,
    VIRTUAL_SYNCHRONY,
)

VIEWS: Final = frozenset(
    {VIRTUAL_SYNCHRONY, EXTENDED_VIRTUAL_SYNCHRONY, VIEW_SYNCHRONY, PARTITIONABLE_SYNCHRONY}
)


class PromiseError(ValueError):
    """Error: an unknown promise."""


def properties_of(promise: Collection[str]) -> tuple[str, ...]:
    """List the properties of a promise, in the order of report.

    Args:
        promise: words of `promised_words()`, or one of them.

    Raises:
        PromiseError: an unknown word, or words that do not go together; the message says which do.
    """
    words = (promise,) if isinstance(promise, str) else tuple(promise)
    _refuse(words)
    return tuple(name for name, prop in properties().items() if _is_promised(prop, set(words)))


def _refuse(words: tuple[str, ...]) -> None:
    for word in words:
        if word not in promised_words():
            raise PromiseError(f"unknown promise {word!r}; {known_names(word, promised_words())}")
    if len(VIEWS.intersection(words)) > 1:
        raise PromiseError(
            f"{VIRTUAL_SYNCHRONY} and {VIEW_SYNCHRONY} have one history of views, "
            f"{EXTENDED_VIRTUAL_SYNCHRONY} and {PARTITIONABLE_SYNCHRONY} one in each part: promise one of "
            "them"
        )
    if SAFE_DELIVERY in words and VIEWS.isdisjoint(words):
        raise PromiseError(
            f"{SAFE_DELIVERY} is said of views: add {VIRTUAL_SYNCHRONY} or {EXTENDED_VIRTUAL_SYNCHRONY}; "
            f"{TOTAL_ORDER} alone has {UNIFORM_AGREEMENT.name}"
        )


def _is_promised(prop: Property, words: AbstractSet[str]) -> bool:
    """Return True if these words promise the property."""
    in_views = not words.isdisjoint(VIEWS)
    if prop.always:
        of_deliveries = not words.isdisjoint(OF_DELIVERIES) and not in_views and TOTAL_ORDER not in words
        return not (of_deliveries and prop in (BROADCAST_ONCE, UNIFORM_INTEGRITY))
    if prop.safe and SAFE_DELIVERY not in words:
        return False
    promising = words & set(prop.promised)
    return bool(promising - {TOTAL_ORDER, RELIABLE_BROADCAST} if prop.fixed_group and in_views else promising)
