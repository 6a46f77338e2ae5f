"""Requirements of each layer of Horus from below, and the properties that it provides and passes on: one row
for each layer.

The paper's Table 3, from which it reads the properties of a stack, is a picture that the transcribed copy has
lost. These rows are a reconstruction: the layers of the stack TOTAL:MBRSHIP:FRAG:NAK:COM from the paper's
words about each, the others from what is remembered of Horus. `evidence` says which entries the models of
this project confirm; no other entry is more than a guess that fits, and none is a quotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.spec.composition.properties import Property
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import known_names


@dataclass(frozen=True)
class Layer:
    """Row of the table for one layer: the properties that must hold below, those that the layer adds, and
    those that hold above because they hold below.
    """

    name: str
    requires: frozenset[Property]
    provides: frozenset[Property]
    inherits: frozenset[Property]
    about: str


def _set(*numbers: int) -> frozenset[Property]:
    return frozenset(Property[f"P{number}"] for number in numbers)


_RELIABLE = (3, 4, 10, 11, 12)
_GROUP = (3, 4, 8, 9, 10, 11, 12, 15)
_ALL_ABOVE = tuple(range(3, 17))

LAYERS: tuple[Layer, ...] = (
    Layer(
        "COM",
        _set(1),
        _set(10, 11),
        _set(1, 2),
        "the low-level network behind the Common Protocol Interface; pushes the source address",
    ),
    Layer("NFRAG", _set(1, 10, 11), _set(12), _set(1, 2, 10, 11), "fragmentation without order below"),
    Layer(
        "NAK",
        _set(1, 10, 11),
        _set(3, 4),
        _set(10, 11, 12),
        "FIFO ordering by sequence numbers and negative acknowledgements",
    ),
    Layer(
        "FRAG",
        _set(3, 4, 10, 11),
        _set(12),
        _set(*_ALL_ABOVE),
        "fragmentation and reassembly of large messages",
    ),
    Layer("BMS", _set(*_RELIABLE), _set(15), _set(*_RELIABLE), "consistent views"),
    Layer(
        "VSS",
        _set(*_RELIABLE, 15),
        _set(8),
        _set(*_RELIABLE, 15),
        "members that stay agree on what was delivered in a view",
    ),
    Layer(
        "FLUSH",
        _set(*_RELIABLE, 8, 15),
        _set(9),
        _set(*_RELIABLE, 8, 15),
        "what is sent in a view is delivered in it",
    ),
    Layer("MBRSHIP", _set(*_RELIABLE), _set(8, 9, 15), _set(*_RELIABLE), "FLUSH:VSS:BMS in one layer"),
    Layer("STABLE", _set(*_GROUP), _set(14), _set(*_ALL_ABOVE), "stability information"),
    Layer(
        "PINWHEEL", _set(*_GROUP), _set(14), _set(*_ALL_ABOVE), "stability information, by another algorithm"
    ),
    Layer("CAUSAL", _set(*_GROUP), _set(13), _set(*_ALL_ABOVE), "causal timestamps"),
    Layer("ORDER(causal)", _set(*_GROUP, 13), _set(5), _set(*_ALL_ABOVE), "causal delivery"),
    Layer("ORDER(safe)", _set(*_GROUP, 14), _set(7), _set(*_ALL_ABOVE), "safe delivery"),
    Layer("TOTAL", _set(*_GROUP), _set(6), _set(*_ALL_ABOVE), "totally ordered delivery by a token"),
    Layer("MERGE", _set(*_GROUP), _set(16), _set(*_ALL_ABOVE), "automatic merging of views"),
)
"""The rows, lower layers first."""

NETWORKS: dict[str, frozenset[Property]] = {"ATM": _set(1)}
"""Properties of a network under the lowest layer by itself."""


def layer_of(name: str, layers: Iterable[Layer] = LAYERS) -> Layer:
    """Return the layer of this name; capitals do not matter.

    Raises:
        SpecError: there is none; the known ones are listed.
    """
    known = tuple(layers)
    for layer in known:
        if layer.name.lower() == name.strip().lower():
            return layer
    names = [layer.name for layer in known]
    raise SpecError(f"unknown layer {name!r}; {known_names(name.strip().upper(), names)}")


def layers_of(names: Iterable[str]) -> tuple[Layer, ...]:
    """Return the layers of these names, in the same order.

    Raises:
        SpecError: one is unknown.
    """
    return tuple(layer_of(name) for name in names)


def parse_stack(text: str) -> tuple[tuple[Layer, ...], frozenset[Property] | None]:
    """Parse `TOP:...:BOTTOM` as layers, top first; the second result is what the network gives if the last
    name is a network's (`ATM`), else None.

    Raises:
        SpecError: a layer is unknown, or there is none.
    """
    names = [name for name in text.split(":") if name.strip()]
    network = NETWORKS.get(names[-1].strip().upper()) if names else None
    layers = layers_of(names[:-1] if network is not None else names)
    if not layers:
        raise SpecError(
            f"{text!r} names no layer; a stack is written from the top, for example "
            "TOTAL:MBRSHIP:FRAG:NAK:COM"
        )
    return layers, network
