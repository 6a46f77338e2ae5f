"""Waiting times set by an application reach the core; the others keep the core's values."""

import pytest
from msgspec import Struct
from msgspec.structs import asdict

from antiphon.impl.protocols.rbp import FIGURE_16, FIGURE_25, Settings, rbp
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.tracing import NULL_TRACER

DEFAULTS = {"resend_ms": 50.0, "token_ms": 50.0, "request_ms": 20.0, "backoff_max": 8}


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_waiting_time_reaches_the_core(name: str) -> None:
    """The core refuses what is not positive."""
    assert rbp(**{name: 1}).core(1, 3, NULL_TRACER).me == 1
    with pytest.raises(ValueError, match="must be greater than 0 ms"):
        rbp(**{name: 0}).core(1, 3, NULL_TRACER)


@pytest.mark.parametrize("settings", [FIGURE_16, FIGURE_25])
def test_what_is_left_out_is_the_same_everywhere(settings: Settings) -> None:
    assert {name: getattr(settings, name) for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize("name", known_protocols())
def test_what_a_protocol_is_made_with_is_one_frozen_record(name: str) -> None:
    """The record has every setting, and no other can be set."""
    settings = implementation(name).settings
    assert isinstance(settings, Struct)
    assert settings.__struct_config__.frozen
    assert implementation(name, **asdict(settings)).settings == settings
    with pytest.raises(TypeError, match="resend"):
        implementation(name, resend=5.0)


def test_settings_do_not_change_under_a_core() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        FIGURE_16.resend_ms = 5.0  # type: ignore[misc]
