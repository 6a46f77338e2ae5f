"""Under any schedule at all, deliveries are prefixes of one order and no correct member is accused of a
violation.

The simulated network lets time order things. Here nothing does: every message ever sent may arrive now, for
the first or the tenth time, and every timer may expire whenever its wait lasts.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.impl.protocols.core import Delivery
from antiphon.impl.protocols.rbp import Core, Message, Timer


class Adversary:
    """Cores and every message they ever sent; each step is one action of one core."""

    def __init__(self, members: int, broadcasts: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.cores = [Core(me, members) for me in range(members)]
        self.left = broadcasts
        self.sent: list[tuple[int, int, Message]] = []
        self.delivered: list[list[Delivery]] = [[] for _ in range(members)]
        for core in self.cores:
            core.start(0.0)
            self.collect(core)

    def collect(self, core: Core) -> None:
        """Keep what a core sends for ever, one copy of each message."""
        for to, message in core.outputs():
            if (core.me, to, message) not in self.sent:
                self.sent.append((core.me, to, message))

    def step(self) -> None:
        """One action, chosen at random; deliver and time cost nothing, so most steps are receptions."""
        core = self.random.choice(self.cores)
        before = core.snapshot()
        match self.random.randrange(10):
            case 0 if self.left and not core.busy:
                self.left -= 1
                core.broadcast(b"%d" % self.left, 0.0)
            case 1:
                assert core.expire(self.random.choice(list(Timer)), 0.0) or core.snapshot() == before
            case 2:
                assert core.accept(0.0) or core.snapshot() == before
            case 3:
                assert core.sequence(0.0) or core.snapshot() == before
            case 4:
                delivery = core.deliver()
                if delivery is not None:
                    self.delivered[core.me].append(delivery)
            case _:
                sender, to, message = self.random.choice(self.sent)
                core = self.cores[to]
                core.receive(sender, message, 0.0)
        self.collect(core)

    def check(self) -> None:
        """Safety, at any moment."""
        longest = max(self.delivered, key=len)
        states = [core.observe() for core in self.cores]
        for delivered in self.delivered:
            assert delivered == longest[: len(delivered)]
        assert sum(state["holding"] for state in states) <= 1
        for core, state in zip(self.cores, states, strict=True):
            assert not core.violations
            known = state["numbers"]
            assert all(k in known for k in range(1, state["last_number"] + 1))
            assert state["last_number"] + 1 not in known
            if state["holding"]:
                bodies = state["received"]
                assert all(name is None or name in bodies for name in known.values())


@settings(max_examples=60)
@given(members=st.integers(2, 4), broadcasts=st.integers(1, 8), seed=st.integers(0, 2**32))
def test_deliveries_are_prefixes_of_one_order_under_any_schedule(
    members: int, broadcasts: int, seed: int
) -> None:
    adversary = Adversary(members, broadcasts, seed)
    for _ in range(12):
        for _ in range(40):
            adversary.step()
        adversary.check()


def test_the_adversary_lets_messages_through(often: Callable[[int, int], int]) -> None:
    """The test above is about something: every message is delivered everywhere in many of its runs."""
    complete, runs = 0, often(8, 20)
    for seed in range(runs):
        adversary = Adversary(3, 4, seed)
        for _ in range(3_000):
            adversary.step()
        adversary.check()
        complete += all(len(delivered) == 4 for delivered in adversary.delivered)
    assert complete >= runs // 2
