"""A specification of one process, which has no network."""

from typing import Annotated

from antiphon.spec.lang import Between, Const, Index, Map, Spec, action, everywhere, require


class Slot(Index, size="slots", ordered=True):
    """A place."""


class Counter(Spec):
    """Counts up to three, and notes what it has counted last."""

    slots: Const[int] = 2
    count: Annotated[int, Between(0, 3)] = 0
    last: Map[Slot, Annotated[int, Between(0, 3)]] = everywhere(0)

    @action
    def add(self, by: Annotated[int, Between(1, 2)], at: Slot) -> None:
        """A step of one or two."""
        require(self.count + by <= 3)
        self.count += by
        self.last[at] = by
