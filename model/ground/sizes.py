"""Sizes of everything that is enumerated or unrolled: a domain that is too large to enumerate is refused
before anything is made of it.

1. An action is tried with all its arguments: their number is the product of the domains of its parameters,
   but for those that range over the elements of a set variable.
2. A range over a type (`for n in self.each(Number)`) has a round for each value, a range within it a round
   for each round of the outer one, also when the inner range is in a helper that the outer one calls.
3. Ranges over sets and sequences are not counted here: the number of their rounds depends on the state, and
    `binders` counts those that are unrolled.

Sizes are logarithms: the number of sets of sets has more digits than there is memory.

This file knows nothing of how anything is enumerated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.spec.lang import Program, SpecError, ir, types
from antiphon.spec.lang.errors import Location

MOST = 1_000_000
"""Largest number of argument tuples of an action, and of rounds of a body."""

EXACT_BITS = 50
"""Largest number of bits of a size that is printed to the last digit."""


def refuse_large(program: Program) -> None:
    """Refuse a program with more than `MOST` arguments or rounds.

    Raises:
        SpecError: an action or a range has more; the message gives its size, its place, and the domains that
            make it.
    """
    module = program.module
    for method in program.declaration.marked("action", "environment"):
        given = [(item.name, item.type) for item in method.parameters if not item.within]
        _refuse(program, (method.name, "different arguments"), given, _bits(program, given), method.at)
    count = _Rounds(program)
    for body in (*module.actions, *module.handlers, *module.predicates):
        heaviest = count.of(body.body)
        ranges = [(binder.name, binder.type) for binder in heaviest.binders]
        at = heaviest.binders[0].at if heaviest.binders else body.at
        _refuse(program, (body.name, "rounds"), ranges, heaviest.bits, at)


def _refuse(
    program: Program, what: tuple[str, str], ranges: list[tuple[str, types.Type]], bits: float, at: Location
) -> None:
    if bits <= math.log2(MOST):
        return
    sizes = sorted(
        ((name, bits_of(program.domain(kind))) for name, kind in ranges), key=lambda item: -item[1]
    )
    told = ", ".join(f"{name} has {_number(size)} value{'' if size == 0 else 's'}" for name, size in sizes)
    raise SpecError(
        f"{what[0]} has {_number(bits)} {what[1]}, more than the {MOST:,} that are gone through: {told}",
        at,
        'smaller types or constants, or the elements of a set variable: Annotated[T, In("variable")]',
    )


def bits_of(domain: types.Domain) -> float:
    """Return the binary logarithm of the number of values of a domain; minus infinity for an empty one."""
    match domain.type:
        case types.Optional():
            return math.log2(1 + 2 ** bits_of(domain.parts[0])) if _is_small(domain.parts[0]) else math.inf
        case types.Record():
            return sum(map(bits_of, domain.parts))
        case types.Union():
            return max(map(bits_of, domain.parts)) + math.log2(len(domain.parts))
        case types.SetOf():
            return 2.0 ** bits_of(domain.parts[0]) if _is_small(domain.parts[0]) else math.inf
        case types.MapOf():
            keys, values = map(bits_of, domain.parts)
            return 2.0**keys * values if _is_small(domain.parts[0]) else math.inf
        case types.SequenceOf():
            return domain.most * bits_of(domain.parts[0]) + 1
    return math.log2(domain.cardinality) if domain.cardinality else -math.inf


def _is_small(domain: types.Domain) -> bool:
    return bits_of(domain) < 1000


def _bits(program: Program, ranges: Iterable[tuple[str, types.Type]]) -> float:
    return sum(bits_of(program.domain(kind)) for _, kind in ranges)


def number_of(domain: types.Domain) -> str:
    """Return the number of values of a domain, in a form for people."""
    return _number(bits_of(domain))


def _number(bits: float) -> str:
    if bits <= EXACT_BITS:
        return f"{round(2**bits):,}"
    return f"about 10^{bits * math.log10(2):,.0f}" if bits < math.inf else "more than can be written"


@dataclass(frozen=True)
class _Heaviest:
    """Number of rounds of a part of the form, as a logarithm, and the nested ranges that make them."""

    bits: float = -math.inf
    binders: tuple[ir.Binder, ...] = ()


class _Rounds:
    """Counter of the rounds of bodies, each helper once."""

    def __init__(self, program: Program) -> None:
        self.program, module = program, program.module
        self.helpers = {item.name: item for item in (*module.functions, *module.procedures)}
        self.known: dict[str, _Heaviest] = {}

    def of(self, part: object) -> _Heaviest:
        """Return the rounds of a part of the form."""
        if isinstance(part, tuple):
            return max(map(self.of, part), key=lambda found: found.bits, default=_Heaviest())
        if not isinstance(part, ir.Node):
            return _Heaviest()
        inside = self.of(tuple(vars(part).values()))
        if isinstance(part, ir.Call | ir.Perform):
            return max(inside, self._helper(part), key=lambda found: found.bits)
        binders = _ranges(part)
        if not binders:
            return inside
        own = sum(bits_of(self.program.domain(binder.type)) for binder in binders)
        return _Heaviest(own + max(0.0, inside.bits), (*binders, *inside.binders))

    def _helper(self, call: ir.Call | ir.Perform) -> _Heaviest:
        name = call.function if isinstance(call, ir.Call) else call.procedure
        if name not in self.known:
            self.known[name] = self.of(self.helpers[name].body)
        return self.known[name]


def _ranges(part: ir.Node) -> tuple[ir.Binder, ...]:
    """Return the ranges over types over which a part loops."""
    match part:
        case ir.Quantify() | ir.Gather() | ir.Reduce() | ir.First():
            binders = part.binders
        case ir.Each() | ir.Collect():
            binders = (part.binder,)
        case _:
            return ()
    return tuple(binder for binder in binders if isinstance(binder.source, types.Type))
