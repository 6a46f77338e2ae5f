"""A `Program` is a specification class with every constant bound; engines take programs.

Binding checks names and sizes and says which are known. The same program gives the reference machine (CPython
executes the text) and the intermediate form (the front end reads the text).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from antiphon.spec.lang import ir, types
from antiphon.spec.lang.declare import ConstantDeclaration, Declaration, declare
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.hints import known_names
from antiphon.spec.lang.source import is_settled
from antiphon.spec.lang.spec import Spec
from antiphon.spec.lang.variants import (
    Restriction,
    active_variants,
    composed,
    note_of,
    offered,
    with_stand_in,
)

if TYPE_CHECKING:
    from antiphon.spec.lang.reference import Reference


class Program:
    """A specification with its constants.

    Attributes:
        spec: the class that was asked for.
        text: that class with the variants that the constants switch on: what is executed and read.
        constants: every constant, repair (bool) and reading (str) by name.
        declaration: what the class declares.
    """

    def __init__(
        self, spec: type[Spec], constants: Mapping[str, int | bool | str], stand_in: type | None = None
    ) -> None:
        self.spec, self.constants, self._stand_in = spec, dict(constants), stand_in
        variants = active_variants(spec, constants)
        self.text: type[Spec] = (
            composed(spec, variants) if stand_in is None else with_stand_in(spec, variants, stand_in)
        )
        self.declaration: Declaration = declare(self.text)
        self._bound: dict[int, tuple[types.Type, types.Domain]] = {}
        """The domains that were asked for, by the identity of their type: to compare types takes long."""

    def __repr__(self) -> str:
        constants = ", ".join(f"{name}={value}" for name, value in self.constants.items())
        return f"<Program {self.name}: {constants}>" if constants else f"<Program {self.name}>"

    @property
    def name(self) -> str:
        """Return the name of the specification class."""
        return self.spec.__name__

    @property
    def restrictions(self) -> tuple[str, ...]:
        """Names of the restrictions that are on: they limit the behaviour that a verdict is about."""
        names = (note_of(item, Restriction).name for item in offered(self.spec).restrictions)
        return tuple(name for name in names if self.constants[name])

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the state variables, in the order of a state."""
        return tuple(variable.name for variable in self.declaration.variables)

    @cached_property
    def domains(self) -> dict[str, types.Domain]:
        """Return the domain of each state variable."""
        found = {}
        for variable in self.declaration.variables:
            try:
                found[variable.name] = self.domain(variable.type)
            except SpecError as error:
                raise SpecError(error.reason, error.at or variable.at, error.instead) from error
        return found

    def domain(self, type: types.Type) -> types.Domain:
        """Return the domain of a type under the constants of this program."""
        if id(type) not in self._bound:
            self._bound[id(type)] = type, types.bind(type, self.constants)
        return self._bound[id(type)][1]

    @cached_property
    def reference(self) -> Reference:
        """Return the machine that executes the text with CPython."""
        from antiphon.spec.lang.reference import Reference

        return Reference(self)

    @cached_property
    def module(self) -> ir.Module:
        """Return the intermediate form of the text: the same for all constants except those that switch
        variants.
        """
        from antiphon.spec.lang.front import read

        return read(self.text)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256, in hex, of the intermediate form and the constants: it changes when the meaning
        of the text can have changed.
        """
        text = _text(self.text, self.module) + repr(sorted(self.constants.items()))
        return hashlib.sha256(text.encode()).hexdigest()

    def with_stand_in(self, stand_in: type) -> Program:
        """Return this program, with one of its classes replaced by `stand_in` (see `variants.stand_in`)."""
        return Program(self.spec, self.constants, stand_in)

    def with_constants(self, **changes: Any) -> Program:
        """Return this program with some constants changed. A stand-in of this program (`with_stand_in`) is
        kept.
        """
        bound = program(self.spec, **(self.constants | changes))
        return bound if self._stand_in is None else bound.with_stand_in(self._stand_in)


def _text(cls: type, module: ir.Module) -> str:
    from antiphon.spec.lang.dump import dump

    if not is_settled(cls):
        return dump(module, prose=False)
    if cls not in _TEXTS:
        _TEXTS[cls] = dump(module, prose=False)
    return _TEXTS[cls]


_TEXTS: dict[type, str] = {}
"""The intermediate form as text of the settled classes."""


def program(
    spec: type[Spec],
    *,
    repairs: Iterable[str] | str = (),
    without: Iterable[str] = (),
    **constants: int | bool | str,
) -> Program:
    """Return the program of a specification: its constants, repairs and readings are bound by name.

    `repairs` is a collection of repair names to switch on, or "all". `without` names repairs to leave out of
    `repairs`; a repair that builds on one of them is left out too.

    Raises:
        SpecError: an unknown name (the known ones are listed), a reading that does not exist, a constant of
            the wrong type, or a repair without another repair that it builds on.
    """
    declaration = declare(spec)
    known = {constant.name: constant for constant in declaration.constants}
    bound: dict[str, int | bool | str] = {name: constant.default for name, constant in known.items()}
    wanted = (
        [name for name, constant in known.items() if constant.repair] if repairs == "all" else list(repairs)
    )
    offered_repairs = [name for name, constant in known.items() if constant.repair]
    for name in wanted:
        if name not in offered_repairs:
            raise SpecError(f"{spec.__name__} has no repair {name!r}; {known_names(name, offered_repairs)}")
    wanted = _left_over(spec, wanted, without, known)
    for name, value in [(name, True) for name in wanted] + list(constants.items()):
        if name not in known:
            raise SpecError(f"{spec.__name__} has no constant {name!r}; {known_names(name, known)}")
        constant = known[name]
        if constant.reading and value not in constant.reading.choices:
            raise SpecError(
                f"{spec.__name__}.{name} = {value!r}; its readings are {', '.join(constant.reading.choices)}"
            )
        if not constant.reading and type(value) is not type(constant.default):
            kind = type(constant.default).__name__
            article = "an" if kind == "int" else "a"
            raise SpecError(f"{spec.__name__}.{name} = {value!r}; it is {article} {kind}")
        bound[name] = value
    made = Program(spec, bound)
    for variable, domain in made.domains.items():
        if domain.parts and isinstance(domain.type, types.MapOf) and domain.parts[0].cardinality == 0:
            keys = domain.parts[0].type
            size = (
                f"{keys.size} is {types.evaluate_size(keys.size, bound)}"
                if isinstance(keys, types.IndexType)
                else "its key type is empty"
            )
            raise SpecError(
                f"{spec.__name__}.{variable} is a map without keys: {size}; it must be at least 1"
            )
    _check_values(made)
    return made


def _check_values(made: Program) -> None:
    """Refuse constants that leave a variable without a value, or that are a negative size."""
    for variable, domain in made.domains.items():
        negative = domain.negative
        if negative is not None:
            kind = negative.type
            assert isinstance(kind, types.IndexType | types.SequenceOf)
            size = kind.size if isinstance(kind, types.IndexType) else kind.most
            number = types.evaluate_size(size, made.constants)
            raise SpecError(f"{made.name}.{variable}: {size} is {number}, a size, and must be at least 0")
        none = _empty(domain)
        if none is not None and isinstance(none.type, types.Int):
            at = next(item.at for item in made.declaration.variables if item.name == variable)
            raise SpecError(
                f"{made.name}.{variable} can have no value: the integers {none.type.low} to {none.type.high} "
                f"are those from {none.low} to {none.high}, of which there are none",
                at,
            )


def _empty(domain: types.Domain) -> types.Domain | None:
    """Return the range of integers, without members, that leaves `domain` without a value, or None."""
    match domain.type:
        case types.Int():
            return domain if domain.low > domain.high else None
        case types.Record():
            return next(filter(None, map(_empty, domain.parts)), None)
        case types.MapOf() if domain.parts[0].cardinality:
            return _empty(domain.parts[1])
    return None


def _left_over(
    spec: type[Spec], wanted: list[str], without: Iterable[str], known: Mapping[str, ConstantDeclaration]
) -> list[str]:
    """Return the wanted repairs except those in `without` and those that build on them."""
    gone = set(without)
    for name in gone:
        if name not in known or known[name].repair is None:
            repairs = [other for other, constant in known.items() if constant.repair]
            raise SpecError(
                f"{spec.__name__} has no repair {name!r} to leave out; {known_names(name, repairs)}"
            )
    more = gone
    while more:
        left = [known[name] for name in wanted if name in known and name not in gone]
        more = {constant.name for constant in left if constant.repair and gone & set(constant.repair.needed)}
        gone |= more
    return [name for name in wanted if name not in gone]
