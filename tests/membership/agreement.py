"""Obligations of a list that ends: any majority agrees on one history, with all delivered messages."""

from __future__ import annotations

import random
from typing import Any

from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.flush import covered_from

__all__ = ["ends_in_one_history"]


def ends_in_one_history(
    chance: random.Random, cores: list[Any], delivered: list[list[Delivery]], core: int, sent: list[int]
) -> None:
    """Let any majority report, and all adopt; fail unless what anybody delivers every one delivers alike.

    The first `core` of the cores order messages; `sent` says how many messages each has broadcast.
    """
    count = len(cores)
    reporters = chance.sample(range(count), chance.randrange(count // 2 + 1, count + 1))
    reports = {me: cores[me].report() for me in reporters}
    agreed = cores[reporters[0]].merge(list(reports.values()), missing=len(reporters) < count)
    first = covered_from(agreed)
    goes_on = [me for me in reporters if reports[me].settled + 1 >= first]
    assert set(range(core)).intersection(reporters) <= set(goes_on), "the core has what is needed"
    whole: dict[int, bytes] = {}
    for me in range(count):
        adopted = cores[me].adopt(agreed)
        assert adopted is not None or me not in goes_on
        for delivery in (*delivered[me], *(adopted or ())):
            assert whole.setdefault(delivery.number, delivery.payload) == delivery.payload
        if adopted is not None:
            mine = [*delivered[me], *adopted]
            assert [one.number for one in mine] == list(range(1, agreed.settled + 1))
            for source in range(core):
                ids = [one.id for one in mine if one.source == source]
                assert ids == list(range(1, len(ids) + 1)), "each message of a source once, in its order"
    found = {(one.source, one.id) for me in goes_on for one in delivered[me]}
    found |= {item.identifier for item in agreed.numbered if item.identifier is not None}
    for me in set(range(core)).intersection(reporters):
        assert (me, sent[me]) in found or sent[me] == 0, "who reports has all its messages delivered"
    assert max(whole, default=0) <= agreed.settled
    assert not any(one.violations for one in cores)
