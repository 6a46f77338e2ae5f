"""Fuzzing of received datagrams, a few thousand of them: each is handled or refused, and counted.

`python benchmarks/fuzz` feeds ten million, and can let atheris choose them; what it found stands here.
"""

from __future__ import annotations

import random
import runpy
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from antiphon.impl.errors import UNREADABLE, Rejection
from antiphon.impl.protocols.dtp import DtpViolation
from antiphon.impl.protocols.dtp.messages import Null
from antiphon.impl.protocols.rbp.messages import Data
from antiphon.impl.registry import implementation, known_protocols
from antiphon.impl.tracing import NULL_TRACER
from antiphon.impl.transport import wire
from antiphon.impl.transport.wire import Admission, Codec, Rejected

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz"
EACH = 500


@pytest.fixture(scope="module")
def places() -> Iterator[ModuleType]:
    """The script's module; a script is no package, so that its folder is on the path meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT))
        yield import_module("places")
        for name in ("places", "datagrams"):
            del sys.modules[name]


@pytest.fixture(scope="module")
def found(places: ModuleType) -> list[Any]:
    """Every place of every protocol at which bytes are read."""
    made: list[Any] = places.places(list(known_protocols()), random.Random(1))
    return made


def test_every_mutated_datagram_is_handled_or_counted_under_one_kind(found: list[Any]) -> None:
    for place in found:
        before = place.outcomes.total()
        for _ in range(EACH):
            place.feed(place.draw())
        assert place.outcomes.total() - before == EACH
        assert place.outcomes["handled"] > EACH / 50, place.name
        assert place.outcomes[Rejection.MALFORMED] > EACH / 10, place.name


@given(st.randoms(use_true_random=False), st.data())
def test_what_a_generator_finds_can_be_shrunk(
    found: list[Any], draw: random.Random, data: st.DataObject
) -> None:
    """The same datagrams, each choice drawn by Hypothesis."""
    place = data.draw(st.sampled_from(found))
    mutated = sys.modules["datagrams"].mutated
    place.feed(mutated(draw, draw.choice(place.corpus), draw.choice(place.corpus)))


def test_a_decoder_that_lets_an_exception_escape_is_found(
    places: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the exceptions that `Codec.decode` catches is needed, and the last datagram is the culprit."""
    for needed in UNREADABLE:
        with monkeypatch.context() as patch:
            patch.setattr(wire, "UNREADABLE", tuple(kind for kind in UNREADABLE if kind is not needed))
            fresh = places.places(["rbp"], random.Random(1))
            decoder = next(place for place in fresh if place.name == "rbp, decoder")
            with pytest.raises((ValueError, RecursionError)) as caught:  # noqa: PT012 - one of many fails
                for _ in range(20_000):
                    decoder.feed(decoder.draw())
            assert len(decoder.shortest(caught.type)) == 1


def test_without_atheris_the_script_says_so(
    places: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "atheris", None)
    by_coverage = runpy.run_path(str(SCRIPT / "__main__.py"))["by_coverage"]
    assert by_coverage(1, 1, []) == 69
    assert "pip install atheris" in capsys.readouterr().err


def rbp_data(**other: Any) -> list[Any]:
    fields = {"protocol": "rbp", "version": 1, "group": "g", "sender": 0, "counter": 7, "source": 0, "id": 1}
    at = fields | {"payload": b"ab"} | other
    message = ["data", [at["source"], at["id"]], at["payload"]]
    return [at["protocol"], at["version"], at["group"], at["sender"], at["counter"], message]


STRANGE: dict[str, bytes] = {
    "a number that is a float": msgpack.encode(rbp_data(id=1.0)),
    "not a number": msgpack.encode(rbp_data(counter=float("nan"))),
    "a version that is a float": msgpack.encode(rbp_data(version=1.0)),
    "true for 1": msgpack.encode(rbp_data(id=True)),
    "a number of 64 bits that no field has": msgpack.encode(rbp_data(counter=2**64 - 1)),
    "a number below 0": msgpack.encode(rbp_data(source=-1)),
    "text for bytes": msgpack.encode(rbp_data(payload="ab")),
    "bytes for text": msgpack.encode(rbp_data(group=b"g")),
    "an extension": msgpack.encode(rbp_data(payload=msgpack.Ext(5, b"ab"))),
    "a time": msgpack.encode(rbp_data(payload=msgpack.Ext(-1, bytes(4)))),
    "a map for an array": msgpack.encode({"protocol": "rbp", "version": 1}),
    "a field more": msgpack.encode([*rbp_data(), 1]),
    "an identifier of three": msgpack.encode(rbp_data()).replace(b"\x92\x00\x01", b"\x93\x00\x01\x01"),
    "bytes behind the end": msgpack.encode(rbp_data()) + b"\x00",
    "text that is none": msgpack.encode(rbp_data(group="abc")).replace(b"abc", b"\xed\xa0\x80"),
    "arrays 60,000 deep": b"\x91" * 60_000,
    "an array that claims four thousand million": b"\xdd\xff\xff\xff\xff" + bytes(100),
    "a payload that claims more than there is": msgpack.encode(rbp_data()).replace(b"\xc4\x02", b"\xc4\x7f"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_what_another_writer_of_the_format_could_say_is_refused(what: str) -> None:
    admission = Admission(Codec(implementation("rbp").messages), "g", 1, 3)
    result = admission.admit(STRANGE[what])
    assert isinstance(result, Rejected)
    assert admission.dropped.keys() <= {Rejection.MALFORMED, Rejection.TRUNCATED}


def test_a_length_in_more_bytes_than_it_needs_means_the_same() -> None:
    """The one freedom of the format that is left: no message is told from another by its bytes."""
    codec = Codec(implementation("rbp").messages)
    usual = msgpack.encode(rbp_data())
    longer = usual.replace(b"\xc4\x02ab", b"\xc6\x00\x00\x00\x02ab").replace(
        b"\x92\x00\x01", b"\x92\xcc\x00\xcd\x00\x01"
    )
    longer = b"\xdd\x00\x00\x00\x06" + longer[1:]
    assert len(longer) > len(usual)
    result = codec.decode(longer)
    assert result == codec.decode(usual)
    assert not isinstance(result, Rejected)
    assert isinstance(result.message, Data)
    assert codec.encode(result) == usual


def test_a_pass_of_ones_own_with_a_number_that_one_never_had_is_ignored() -> None:
    """DTP: it raised what has come here, so that a number was delivered that had not come."""
    core = implementation("dtp").core(0, 3, NULL_TRACER)
    core.start(0.0)
    core.tick(10_000.0)
    core.receive(1, Null(1, 4, 2, 1, (0, 4, 0)), 10_001.0)
    core.receive(1, Null(0, 3, 1, 1, (3, 3, 3)), 10_002.0)
    assert core.violations == {DtpViolation.NEVER_PASSED: 1}
    assert core.settle(10_003.0) == []
