"""An argument of a group that cannot be is refused before anything is bound, and named."""

import math
from typing import Any

import pytest

from antiphon.impl.errors import InvalidSetting, LocalError
from antiphon.impl.group import Group
from antiphon.impl.layers import Layers


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"me": "0"}, "me='0': me is the own place among the members, from 0"),
        ({"members": "2"}, "members='2': members is how many members the group has"),
        ({"name": b"g"}, "name=b'g': name is a text"),
        ({"bind": "127.0.0.1"}, "bind='127.0.0.1': an address is a host and a port, as ('127.0.0.1', 7000)"),
        ({"bind": ("127.0.0.1", 70_000)}, "bind=('127.0.0.1', 70000): a port is 0 to 65535"),
        ({"routes": {1: ("127.0.0.1", 0)}}, "routes[1]=('127.0.0.1', 0): a port is 1 to 65535"),
        ({"routes": {1: "host"}}, "routes[1]='host': an address is a host and a port"),
        ({"routes": [("127.0.0.1", 9)]}, "routes are a dict, as {1: ('127.0.0.1', 7001)}"),
        ({"multicast": "239.255.0.7"}, "multicast='239.255.0.7': an address is a host and a port"),
        ({"stall_s": "3"}, "stall_s='3': stall_s is a number of seconds above 0, or math.inf"),
        ({"stall_s": math.nan}, "stall_s=nan: "),
        ({"layers": 3}, "layers=3: layers is Layers(...), each size an integer of at least 1"),
        ({"layers": Layers(queue_bytes=0)}, "each size an integer of at least 1"),
        ({"layers": Layers(datagram_bytes="x")}, "each size an integer of at least 1"),  # type: ignore[arg-type]
        ({"protocol": ["rbp"]}, "protocol=['rbp']: protocol is a name, as 'rbp'"),
        ({"tracer": 3}, "tracer=3: "),
        ({"metrics": 3}, "metrics=3: metrics is Metrics() or None"),
    ],
)
def test_an_argument_of_another_kind_is_named(changed: dict[str, Any], says: str) -> None:
    usual = {
        "name": "orders", "me": 0, "members": 2, "bind": ("127.0.0.1", 0),
        "routes": {1: ("127.0.0.1", 9)}, "key": None,
    }  # fmt: skip
    given: dict[str, Any] = {**usual, **changed}
    with pytest.raises(InvalidSetting) as refused:
        Group(given.pop("name"), **given)
    assert says in str(refused.value)
    assert isinstance(refused.value, LocalError)
