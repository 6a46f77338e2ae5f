"""Every binding passes the suite, and the suite catches bindings that break its rules."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from antiphon.conformance.compare.bindings import Effect, bound_protocol, bound_protocols
from antiphon.conformance.compare.bindings.rbp import RbpBinding
from antiphon.conformance.compare.suites import check_binding
from antiphon.spec.lang import Step

LATE = ("dtp",)
"""Takes as long as all others together."""


@pytest.mark.deep
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=(pytest.mark.deep,) * (name in LATE)) for name in bound_protocols()],
)
def test_every_binding_keeps_the_rules(name: str) -> None:
    bound = bound_protocol(name)
    check_binding(lambda: bound.bind(**{**bound.small, **bound.every}), never=bound.never)


class Forgets(RbpBinding):
    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        return {name: value for name, value in super().project(me, snapshot).items() if name != "passed"}


class Excuses(RbpBinding):
    exempt = RbpBinding.exempt | {"holding": "no reason"}


class Invents(RbpBinding):
    exempt = RbpBinding.exempt | {"mood": "there is no variable of this name"}


class Writes(RbpBinding):
    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        self._cores[me].successor = 0
        return super().perform(me, snapshot, step, datagram)


class Peeks(RbpBinding):
    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        assert self._cores[me]._outputs is not None
        return super().offers(me, snapshot)


class Moves(RbpBinding):
    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        self.restores += 1
        return super().offers(me, snapshot)


STARTS = itertools.count()


class Remembers(RbpBinding):
    def start(self, me: int) -> Effect:
        effect = super().start(me)
        return Effect((effect.after, next(STARTS)), effect.sent, effect.events)

    def perform(self, me: int, snapshot: Any, step: Step, datagram: bytes | None) -> Effect:
        effect = super().perform(me, snapshot[0], step, datagram)
        return Effect((effect.after, snapshot[1]), effect.sent, effect.events)

    def drive(self, me: int, snapshot: Any, step: Step | None, datagram: bytes | None) -> None:
        """No shell drives it."""

    def offers(self, me: int, snapshot: Any) -> frozenset[Step]:
        return super().offers(me, snapshot[0])

    def project(self, me: int, snapshot: Any) -> Mapping[str, object]:
        return super().project(me, snapshot[0])


@pytest.mark.parametrize(
    ("binding", "told"),
    [
        (Forgets, "passed is neither projected nor exempt"),
        (Excuses, "holding is exempt and projected; holding is exempt without a reason"),
        (Invents, "mood is exempt, but no variable"),
        (Writes, r"it assigns to self\._cores\[me\]\.successor"),
        (Peeks, r"it reads self\._cores\[me\]\._outputs"),
        (Moves, "asking what processes offer moves them"),
        (Remembers, "the same steps lead to two systems"),
    ],
)
def test_a_binding_that_breaks_a_rule_is_caught(binding: type[RbpBinding], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_binding(lambda: binding(processes=2, messages=1))


def test_an_action_that_no_walk_takes_is_told() -> None:
    """With two processes nobody misses a number that somebody else has."""
    with pytest.raises(
        AssertionError, match=r"never taken in 3 walks of 60 steps: .*receive_request_numbers"
    ):
        check_binding(lambda: RbpBinding(processes=2, messages=1), walks=3)
