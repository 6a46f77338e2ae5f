"""A simulated group agrees with what can be computed, and with the cores' own buffers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from antiphon.conformance.run.performance import PROTOCOLS, Setting, group, simulate, theory

SEED = 11


def test_the_same_seed_gives_the_same_figures_and_another_seed_others() -> None:
    for protocol in PROTOCOLS:
        setting = Setting(protocol=protocol, members=4, messages=60)
        assert simulate(setting, SEED) == simulate(setting, SEED)
        assert simulate(setting, SEED) != simulate(setting, SEED + 1)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("protocol", "members", "interarrival_ms", "stable_within"),
    [
        ("chang-maxemchuk", 5, 50.0, 0.02),
        ("pinwheel", 5, 200.0, 0.04),
        ("dtp", 20, 200.0, 0.06),
        ("totem", 5, 50.0, 0.03),
    ],
)
def test_means_are_those_that_can_be_computed(
    protocol: str, members: int, interarrival_ms: float, stable_within: float
) -> None:
    """Stability, delivery and overhead beside `theory`. Source: Kim and Kim 1997, section 5."""
    setting = Setting(protocol=protocol, members=members, interarrival_ms=interarrival_ms, messages=1_500)
    found = simulate(setting, SEED)
    assert found.stability_ms == pytest.approx(theory.stability_ms(setting), rel=stable_within)
    assert found.delivery_ms == pytest.approx(theory.delivery_ms(setting), rel=0.07)
    assert found.overhead == pytest.approx(theory.overhead(setting), rel=0.05)


@pytest.mark.parametrize("protocol", ["chang-maxemchuk", "pinwheel", "dtp"])
def test_what_is_counted_as_kept_is_what_the_core_keeps(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle, finish, most = group._Group._settle, group._Group._schedule_request, 0

    def most_kept(self: Any, process: int) -> None:
        nonlocal most
        settle(self, process)
        most = max(most, len(self.cores[process].snapshot().buffer))

    def compared(self: Any) -> None:
        finish(self)
        assert self.meter.kept == [len(core.snapshot().buffer) for core in self.cores]

    monkeypatch.setattr(group._Group, "_settle", most_kept)
    monkeypatch.setattr(group._Group, "_schedule_request", compared)
    found = simulate(Setting(protocol=protocol, members=4, messages=100, nulls=False), SEED)
    assert 1 < found.buffer < most
    assert found.buffer_max == most


def test_rounds_of_an_idle_token_that_are_skipped_are_those_that_it_makes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting = Setting(protocol="totem", members=3, messages=12, interarrival_ms=20.0)
    skipped = simulate(setting, SEED)
    monkeypatch.setattr(group._Group, "_skip_rounds", lambda _: None)
    walked = simulate(setting, SEED)
    assert skipped.orderings == walked.orderings
    assert skipped.handled < walked.handled / 2
    for name in ("stability_ms", "delivery_ms", "buffer", "span_ms"):
        assert getattr(skipped, name) == pytest.approx(getattr(walked, name), rel=1e-9)


def test_after_the_last_request_nulls_make_what_is_left_stable() -> None:
    """DTP-41: the silent end of a run is in its means, T for each of the last passes."""
    for protocol in ("chang-maxemchuk", "pinwheel", "dtp"):
        setting = Setting(protocol=protocol, members=10, messages=100)
        silent = msgspec.structs.replace(setting, endless=False)
        assert simulate(silent, SEED).stability_ms > 1.2 * simulate(setting, SEED).stability_ms


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"protocol": "rbp"}, "protocol is 'rbp'; known: chang-maxemchuk, pinwheel, dtp, totem"),
        ({"members": 1}, "members is 1; a group has at least 2"),
        ({"messages": 0}, "0 messages every 100.0 ms: both are above 0"),
        ({"activity": (1.0,)}, "activity has 1 weights for 3 members"),
        ({"endless": False, "nulls": False}, "without NULLs the last messages become stable only if"),
        ({"rate_mbps": 0.1}, "135% of what the bus can carry"),
        ({"rate_mbps": None, "delay_ms": 50.0}, "150% of what the bus can carry or the token can order"),
    ],
)
def test_a_setting_that_cannot_be_says_what_is_wrong(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Setting(**{"protocol": "dtp", "members": 3, **changed})
