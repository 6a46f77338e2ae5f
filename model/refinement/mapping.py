"""A packed state of the protocol stands for the state of the abstract machine that the helpers of the mapping
say, each remembered by what it reads.

1. A variable of the abstract machine is given by the helper of its name; a map by one value of the helper for
   each key.
2. A helper reads few variables of the protocol. Its value is remembered by the bits of those, so that CPython
   runs it once for each combination that occurs, and a walk of millions of transitions costs look-ups.
3. Which variables a helper may read is taken from its code, and that of the methods it names: every attribute
   that is mentioned counts, so the set may be too large and never too small.

This file knows nothing of exploring, and no protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from antiphon.model.engines.interface import Transitions
from antiphon.model.ground.parts import Parts
from antiphon.spec.lang import Program, SpecError, State
from antiphon.spec.lang.types import Domain, MapOf


@dataclass
class _Part:
    """One value of the abstract state: a variable, or what a map has for one key; `mask` covers the bits that
    decide it.
    """

    variable: str
    arguments: tuple[Any, ...]
    domain: Domain
    mask: int
    known: dict[int, Any]


class Mapper:
    """The mapping of one protocol (its transitions as `edges`) to the states of `abstract`."""

    def __init__(self, edges: Transitions, abstract: Program) -> None:
        self.edges, self.abstract = edges, abstract
        self._reads = _Reads(edges.program)
        self._parts: list[list[_Part]] = []
        bits = Parts(edges.program, edges.packing)
        for name, domain in abstract.domains.items():
            mask = sum(bits.mask(variable) for variable in self._reads.of(name))
            self._parts.append(
                [_Part(name, arguments, inner, mask, {}) for arguments, inner in _keys(domain)]
            )
        self._maps = [isinstance(domain.type, MapOf) for domain in abstract.domains.values()]

    def state(self, packed: int) -> State:
        """The state of the abstract machine that a packed state of the protocol stands for.

        Raises:
            SpecError: the mapping has no value there, or one that the abstract machine does not have.
        """
        values = []
        for parts, is_map in zip(self._parts, self._maps, strict=True):
            found = []
            for part in parts:
                value = part.known.get(packed & part.mask, part)
                found.append(self._evaluate(part, packed) if value is part else value)
            values.append(tuple(found) if is_map else found[0])
        return tuple(values)

    def _evaluate(self, part: _Part, packed: int) -> Any:
        value = self.edges.program.reference.evaluate(
            self.edges.unpack(packed), part.variable, *part.arguments
        )
        if not part.domain.contains(value):
            shown = ", ".join(map(str, part.arguments))
            raise SpecError(
                f"{self.edges.program.name}.{part.variable}({shown}) = {value!r}, which {self.abstract.name} "
                "does not have there"
            )
        part.known[packed & part.mask] = value
        return value


def _keys(domain: Domain) -> Iterator[tuple[tuple[Any, ...], Domain]]:
    """The arguments of the helper and the domain of its value: one for a variable, one a key for a map."""
    if not isinstance(domain.type, MapOf):
        yield (), domain
        return
    if isinstance(domain.parts[1].type, MapOf):
        raise SpecError(
            "a map of maps in an abstract machine has no mapping yet", instead="a map of records or sets"
        )
    for key in domain.parts[0]:
        yield (key,), domain.parts[1]


class _Reads:
    """Which variables the methods of a specification mention, directly or through each other."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._functions: dict[str, Callable[..., Any]] = {
            method.name: method.function for method in program.declaration.methods
        }
        self._variables = set(program.variables)

    def of(self, helper: str) -> list[str]:
        """The variables that a helper may read, in the order of the state.

        Raises:
            SpecError: the specification has no such helper.
        """
        if helper not in self._functions:
            raise SpecError(
                f"{self._program.name} does not say what {helper} is",
                instead=f"a helper: def {helper}(self) -> ...",
            )
        names, waiting = {helper}, [helper]
        while waiting:
            found = set(_mentioned(self._functions[waiting.pop()].__code__)) - names
            names |= found
            waiting += [name for name in found if name in self._functions]
        return [name for name in self._program.variables if name in names & self._variables]


def _mentioned(code: CodeType) -> Iterator[str]:
    """The attributes and names that a function mentions, within its comprehensions too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _mentioned(constant)
