"""Every number of a log may be as small and as large as the schema's document says, and no step further."""

import json
from typing import get_args

import msgspec
import pytest

from antiphon.conformance.judge.trace import Event, Header
from antiphon.conformance.judge.trace.lines import decode_line

LARGEST = 2**63 - 1
BOUNDS: dict[str, tuple[float, float]] = {
    "process": (0, LARGEST),
    "processes": (1, 10_000),
    "seed": (-(2**63), LARGEST),
    "messages": (0, LARGEST),
    "loss": (0, 1),
    "duplication": (0, 1),
    "reordering": (0, 1),
    "i": (0, LARGEST),
    "number": (1, LARGEST),
    "to": (0, LARGEST),
    "view": (0, LARGEST),
    "sender": (0, LARGEST),
    "consensus": (0, LARGEST),
    "suspected": (0, LARGEST),
    "trusted": (0, LARGEST),
}
TEXTS = {"run": "r", "protocol": "p", "m": "0:1", "d": "0:1", "digest": "ab", "what": "w", "value": "v"}
LEAST = {name: least for name, (least, _) in BOUNDS.items()}
LEGAL = {"schema": "antiphon.trace", "version": 1, **TEXTS, "members": [0], "destinations": [0], **LEAST}
KINDS = (Header, *get_args(Event))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_number_lies_within_its_bounds_and_they_are_allowed(kind: type[msgspec.Struct]) -> None:
    line = 1 if kind is Header else 2
    tag = kind.__struct_config__.tag
    legal = {name: LEGAL[name] for name in kind.__struct_fields__} | ({"kind": tag} if tag else {})
    numbers = [name for name in legal if name in BOUNDS]
    assert decode_line(line, json.dumps(legal).encode()).fault is None
    assert numbers
    for name in numbers:
        least, most = BOUNDS[name]
        for value, admitted in [(least, True), (most, True), (least - 1, False), (most + 1, False)]:
            decoded = decode_line(line, json.dumps(legal | {name: value}).encode())
            assert (decoded.fault is None) == admitted, (name, value, decoded)


@pytest.mark.parametrize(
    ("members", "admitted"),
    [([], True), ([0, LARGEST], True), ([-1], False), ([LARGEST + 1], False), (["0"], False), (0, False)],
)
def test_members_are_numbers_of_processes(members: object, admitted: bool) -> None:
    line = json.dumps({"kind": "install", "i": 0, "view": 1, "members": members}).encode()
    assert (decode_line(2, line).fault is None) == admitted
