"""Mapping of packed states: the helpers of the mapping compute the state of the abstract machine, and each
value is cached by the bits that the helper reads.

1. A variable of the abstract machine is computed by the helper of its name. For a map the helper is called
   for each key, where it takes the key (both keys for a map of maps), or returns the whole map. Without a
   helper it is the protocol's variable of that name.
2. A helper reads few variables of the protocol. Its value is cached by their bits, so that CPython runs it
   once for each combination that occurs, and a walk of millions of transitions costs look-ups.
3. The variables that a helper may read are taken from its code, and that of the methods it names: every
   attribute that is mentioned counts, so the set may be too large and never too small.

This file knows nothing of exploring, and no protocol.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from antiphon.model.engines.interface import Transitions
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.mapping import put_aside
from antiphon.spec.lang.maps import Map, entries
from antiphon.spec.lang.types import Domain, MapOf


@dataclass(frozen=True)
class Image:
    """Variable of the abstract machine, with the origin of its value: a helper of the mapping, or, where
    `helper` is empty, the protocol's variable of that name.

    `entries` are the values that make up the variable, each with the arguments of the helper and its domain:
    one entry if the helper takes no keys, else one for each choice of keys. `depth` is how many keys the
    helper takes.
    """

    variable: str
    helper: str
    domain: Domain
    entries: tuple[tuple[tuple[Any, ...], Domain], ...]
    depth: int = 0

    def value(self, concrete: Program, state: State, arguments: tuple[Any, ...], domain: Domain) -> Any:
        """Return the value of one entry of the abstract variable, in a state of the protocol."""
        if self.helper:
            return _frozen(concrete.reference.evaluate(state, self.helper, *arguments), domain)
        return state[concrete.variables.index(self.variable)]

    def assembled(self, values: Sequence[Any]) -> Any:
        """Return the value of the abstract variable, put together from the values of its entries."""
        return _nested(iter(values), self.domain, self.depth)


def images(concrete: Program, abstract: Program) -> tuple[Image, ...]:
    """Return for each variable of the abstract machine how its value is computed from a state of the
    protocol.

    Raises:
        SpecError: the mapping says nothing about a variable.
    """
    return tuple(_image(concrete, abstract, name, domain) for name, domain in abstract.domains.items())


def _image(concrete: Program, abstract: Program, variable: str, domain: Domain) -> Image:
    known = {method.name: len(method.parameters) for method in concrete.declaration.methods}
    for helper in (put_aside(variable, abstract.spec), variable):
        if helper in known:
            depth = known[helper]
            return Image(variable, helper, domain, tuple(_entries(domain, depth)), depth)
    if variable not in concrete.domains:
        raise SpecError(
            f"{concrete.name} does not say what {variable} is",
            instead=f"a helper: def {variable}(self) -> ...",
        )
    return Image(variable, "", domain, (((), domain),))


def mapped(concrete: Program, abstract: Program, state: State) -> State:
    """Return the state of the abstract machine for a state of the protocol, computed by CPython."""
    return tuple(
        image.assembled(
            [image.value(concrete, state, arguments, domain) for arguments, domain in image.entries]
        )
        for image in images(concrete, abstract)
    )


@dataclass
class _Part:
    """Entry of an image; `mask` covers the bits of the protocol's state that decide its value."""

    image: Image
    arguments: tuple[Any, ...]
    domain: Domain
    mask: int
    known: dict[int, Any]


class Mapper:
    """Mapping of the states of one protocol to states of the machine `abstract`; `edges` are the protocol's
    transitions.
    """

    def __init__(self, edges: Transitions, abstract: Program) -> None:
        self.edges, self.abstract = edges, abstract
        reads, bits = _Reads(edges.program), Parts(edges.program, edges.packing)
        self._parts: list[tuple[Image, list[_Part]]] = []
        for image in images(edges.program, abstract):
            variables = reads.of(image.helper) if image.helper else [image.variable]
            mask = sum(bits.mask(variable) for variable in variables)
            parts = [_Part(image, arguments, domain, mask, {}) for arguments, domain in image.entries]
            self._parts.append((image, parts))

    def state(self, packed: int) -> State:
        """Return the state of the abstract machine for a packed state of the protocol.

        Raises:
            SpecError: the mapping has no value there, or one that the abstract machine does not have.
        """
        values = []
        for image, parts in self._parts:
            found = []
            for part in parts:
                value = part.known.get(packed & part.mask, part)
                found.append(self._evaluate(part, packed) if value is part else value)
            values.append(image.assembled(found))
        return tuple(values)

    def _evaluate(self, part: _Part, packed: int) -> Any:
        program = self.edges.program
        value = part.image.value(program, self.edges.unpack(packed), part.arguments, part.domain)
        if not part.domain.contains(value):
            shown = f"({', '.join(map(str, part.arguments))})" if part.image.helper else ""
            raise SpecError(
                f"{program.name}.{part.image.variable}{shown} = {value!r}, which {self.abstract.name} "
                "does not have there"
            )
        part.known[packed & part.mask] = value
        return value


def _entries(domain: Domain, depth: int) -> Iterator[tuple[tuple[Any, ...], Domain]]:
    """Yield the arguments of a helper that takes `depth` keys, with the domain of its value."""
    if not depth or not isinstance(domain.type, MapOf):
        yield (), domain
        return
    for key in domain.parts[0]:
        for further, inner in _entries(domain.parts[1], depth - 1):
            yield (key, *further), inner


def _frozen(value: Any, domain: Domain) -> Any:
    """Return the value of a helper in the form in which a state holds it: tuples for maps."""
    if not (isinstance(domain.type, MapOf) and isinstance(value, Map | tuple)):
        return value
    return tuple(_frozen(item, domain.parts[1]) for item in entries(value))


def _nested(values: Iterator[Any], domain: Domain, depth: int) -> Any:
    """Return the next values as a value of the domain: a tuple for a map, tuples of tuples for a map of
    maps.
    """
    if not depth or not isinstance(domain.type, MapOf):
        return next(values)
    keys, inner = domain.parts
    if depth == 1:
        return tuple(itertools.islice(values, keys.cardinality))
    return tuple(_nested(values, inner, depth - 1) for _ in range(keys.cardinality))


class _Reads:
    """Variables that the methods of a specification mention, directly or through each other."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._methods = {method.name: method for method in program.declaration.methods}
        self._variables = set(program.variables)

    def of(self, helper: str) -> list[str]:
        """Return the variables that a helper may read, in the order of the state."""
        names, waiting = {helper}, [helper]
        while waiting:
            method = self._methods[waiting.pop()]
            found = {*_mentioned(method.function.__code__), method.replaces} - names
            names |= found
            waiting += [name for name in found if name in self._methods]
        return [name for name in self._program.variables if name in names & self._variables]


def _mentioned(code: CodeType) -> Iterator[str]:
    """Yield the attributes and names that a function mentions, within its comprehensions too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _mentioned(constant)
