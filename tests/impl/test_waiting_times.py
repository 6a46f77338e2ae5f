"""What an application says of waiting times reaches the core; what it leaves out is what the core says."""

import inspect

import pytest

from antiphon.impl.protocols.rbp import Core, rbp
from antiphon.impl.tracing import NULL_TRACER

DEFAULTS = {"resend_ms": 50.0, "token_ms": 50.0, "request_ms": 20.0, "backoff_max": 8}


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_waiting_time_reaches_the_core(name: str) -> None:
    """The core refuses what is not positive."""
    assert rbp(**{name: 1}).core(1, 3, NULL_TRACER).me == 1
    with pytest.raises(ValueError, match="must be greater than 0 ms"):
        rbp(**{name: 0}).core(1, 3, NULL_TRACER)


@pytest.mark.parametrize("made", [rbp, Core])
def test_what_is_left_out_is_the_same_everywhere(made: object) -> None:
    parameters = inspect.signature(made).parameters
    assert {name: parameters[name].default for name in DEFAULTS} == DEFAULTS
