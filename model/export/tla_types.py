"""Types and values of the intermediate form in TLA+, each as the nearest equivalent there.

The names are those of the specification.

| type | TLA+ |
|---|---|
| boolean, integer | `BOOLEAN`, `0 .. 3` |
| enumeration, reading | strings: `"white"` |
| index | `0 .. n - 1` |
| optional | the value, or the model value `None` |
| record | `[record |-> "Ack", to |-> 1]` |
| set, map, sequence | sets, functions, tuples |

Values that differ in kind meet only where TLC can compare them: records among each other, anything with
`None`. A partial operation outside its domain is an error of TLC too, or shows in `TypeOK`. This file knows
nothing of expressions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from antiphon.model.export.spelling import spelt
from antiphon.spec.lang import SpecError, types

WORDS = frozenset((
    "ACTION", "ASSUME", "ASSUMPTION", "AXIOM", "BY", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "COROLLARY",
    "DEF", "DEFINE", "DEFS", "DOMAIN", "ELSE", "ENABLED", "EXCEPT", "EXTENDS", "HAVE", "HIDE", "IF", "IN",
    "INSTANCE", "LAMBDA", "LEMMA", "LET", "LOCAL", "MODULE", "NEW", "OBVIOUS", "OMITTED", "ONLY", "OTHER",
    "PICK", "PROOF", "PROPOSITION", "PROVE", "QED", "RECURSIVE", "SF_", "STATE", "SUBSET", "SUFFICES", "TAKE",
    "TEMPORAL", "THEN", "THEOREM", "UNCHANGED", "UNION", "USE", "VARIABLE", "VARIABLES", "WF_", "WITH",
    "WITNESS", "BOOLEAN", "TRUE", "FALSE", "STRING",
))  # fmt: skip
"""Keywords of TLA+ and of its proofs, which no name may be."""
RESERVED = WORDS | frozenset((
    "Nat", "Int", "Seq", "Len", "Append", "Head", "Tail", "SubSeq", "SelectSeq", "Cardinality", "IsFiniteSet",
    "Print", "PrintT", "Assert", "JavaTime", "TLCGet", "TLCSet", "Permutations", "SortSeq", "RandomElement",
    "Any", "ToString", "TLCEval", "None", "Init", "Next", "Spec", "TypeOK", "vars", "Fairness", "SumOver",
    "MaxOf", "MinOf", "DropFirst", "Slice", "Reverse", "Divided", "Rest", "record",
))  # fmt: skip
"""Words that no name of a specification may have in the module: keywords, names of extended modules, and the
module's own.
"""
MODULES = frozenset(("Integers", "Naturals", "Reals", "Sequences", "FiniteSets", "TLC", "Bags", "Peano"))
"""Modules that the module extends, those that they extend, and others that a tool has under these names."""
LARGEST = (1 << 31) - 1
"""Largest number that TLC computes with."""


class Names:
    """Names of a TLA+ module, none given twice. A local name is unique within its definition, which `begin`
    opens.

    Attributes:
        changed: the global names and fields that are written otherwise here, with their spelling.
    """

    def __init__(self, fields: AbstractSet[str] = frozenset()) -> None:
        self.changed: dict[str, str] = {}
        self._global = set(RESERVED)
        self._local: set[str] = set()
        self._ever_local: set[str] = set()
        self._fields = dict.fromkeys(sorted(name for name in fields if _is_field(name)), "")
        for name in sorted(fields - self._fields.keys()):
            self._fields[name] = _free(f"{_spelt(name)}_1", set(self._fields) | set(self._fields.values()))
            self.changed[f".{name}"] = self._fields[name]

    def begin(self) -> None:
        """Begin a new definition: the local names of the definition before it may be used again."""
        self._local.clear()

    def fresh(self, wanted: str) -> str:
        """Return a new local name, `wanted` or the same with a number."""
        name = _free(_spelt(wanted), self._global | self._local)
        self._local.add(name)
        self._ever_local.add(name)
        return name

    def fix(self, wanted: str) -> str:
        """Return a new global name, `wanted` or one like it."""
        name = _free(_spelt(wanted), self._global | self._ever_local)
        self._global.add(name)
        if name != wanted:
            self.changed[wanted] = name
        return name

    def field(self, name: str) -> str:
        """Return the name of a field of records."""
        return self._fields.get(name, "") or name


def _is_field(name: str) -> bool:
    """Return True if a field may have this name in the module, where `record` is the name of a record."""
    return name == _spelt(name) and name not in WORDS and name != "record"


def _spelt(name: str) -> str:
    """Return the name in plain letters, with a change if it begins like a fairness condition (`WF_`,
    `SF_`).
    """
    plain = spelt(name)
    return f"x_{plain}" if plain.startswith(("WF_", "SF_")) else plain


def _free(wanted: str, taken: AbstractSet[str]) -> str:
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


class Types:
    """Writer of the types and values of one module under given constants.

    Attributes:
        names: the names of the module.
        global_names: of constants, variables, types, helpers and predicates, by kind and name.
        types: definitions of named types, in the order in which they are needed.
    """

    def __init__(self, constants: types.Constants, names: Names) -> None:
        self.constants, self.names = constants, names
        self.global_names: dict[tuple[str, str], str] = {}
        self.types: dict[str, str] = {}
        self._named: dict[types.Type, str] = {}

    def name(self, kind: str, name: str) -> str:
        """Return the TLA+ name of a global item, such as a variable or a helper."""
        key = kind, name
        if key not in self.global_names:
            self.global_names[key] = self.names.fix(name)
        return self.global_names[key]

    def domain(self, type: types.Type) -> str:
        """Return the set of all values of a type."""
        match type:
            case types.Bool():
                return "BOOLEAN"
            case types.Int():
                bound = types.bind(type, self.constants)
                return f"({integer(bound.low)} .. {integer(bound.high)})"
            case types.Enumeration(name=name, members=members):
                return self._define(type, name, "{" + ", ".join(map(string, members)) + "}")
            case types.IndexType(name=name, size=size):
                return self._define(type, name, f"0 .. {types.evaluate_size(size, self.constants) - 1}")
            case types.Optional(of=of):
                return f"({{None}} \\cup {self.domain(of)})"
            case types.Record(name=name, fields=fields):
                named = [f"{self.names.field(field)} : {self.domain(of)}" for field, of in fields]
                parts = [f"record : {{{string(name)}}}", *named]
                return self._define(type, name, f"[{', '.join(parts)}]")
            case types.Union(records=records):
                return "(" + " \\cup ".join(map(self.domain, records)) + ")"
            case types.SetOf(of=of):
                return f"(SUBSET {self.domain(of)})"
            case types.MapOf(key=key, value=value):
                return f"[{self.domain(key)} -> {self.domain(value)}]"
            case types.SequenceOf(of=of):
                return (
                    f"(UNION {{[1 .. n -> {self.domain(of)}] : n \\in 0 .. "
                    f"{types.bind(type, self.constants).most}}})"
                )
        raise SpecError(f"a type that TLA+ has no set for: {type}")

    def _define(self, type: types.Type, name: str, text: str) -> str:
        if type not in self._named:
            self._named[type] = self.names.fix(name)
            self.types[self._named[type]] = text
        return self._named[type]

    def belongs(self, value: str, type: types.Type) -> str:
        """Return the TLA+ test that a value belongs to a type. It enumerates no large set."""
        match type:
            case types.MapOf(key=key, value=of):
                keys, name = self.domain(key), self.names.fresh("k")
                return (
                    f"(DOMAIN {value} = {keys} /\\ \\A {name} \\in {keys} : "
                    f"{self.belongs(f'{value}[{name}]', of)})"
                )
            case types.SetOf(of=of):
                name = self.names.fresh("e")
                return f"(\\A {name} \\in {value} : {self.belongs(name, of)})"
            case types.SequenceOf(of=of):
                name, most = self.names.fresh("i"), types.bind(type, self.constants).most
                return (
                    f"(Len({value}) <= {most} /\\ \\A {name} \\in 1 .. Len({value}) : "
                    f"{self.belongs(f'{value}[{name}]', of)})"
                )
            case types.Optional(of=of):
                return f"({value} = None \\/ {self.belongs(value, of)})"
        return f"({value} \\in {self.domain(type)})"

    def in_order(self, type: types.Type) -> str:
        """Return the values of a type as a sequence, in domain order."""
        return "<<" + ", ".join(self.value(item, type) for item in types.bind(type, self.constants)) + ">>"

    def value(self, value: Any, type: types.Type) -> str:
        """Return a constant value of a type."""
        match type:
            case types.Record(name=name, fields=fields):
                items = [(self.names.field(field), getattr(value, field), of) for field, of in fields]
                return record(name, [(field, self.value(item, of)) for field, item, of in items])
            case types.Union(records=records):
                return next(
                    self.value(value, record)
                    for record in records
                    if types.bind(record, self.constants).contains(value)
                )
            case types.Optional(of=of):
                return "None" if value is None else self.value(value, of)
            case types.IndexType():
                return str(value.index)
            case types.SetOf(of=of):
                domain = types.bind(of, self.constants)
                return "{" + ", ".join(self.value(item, of) for item in sorted(value, key=domain.rank)) + "}"
            case types.MapOf(key=key, value=of):
                name, keys = self.names.fresh("k"), types.bind(key, self.constants)
                cases = " [] ".join(
                    f"{name} = {self.value(place, key)} -> {self.value(item, of)}"
                    for place, item in zip(keys, value.entries, strict=True)
                )
                return f"[{name} \\in {self.domain(key)} |-> CASE {cases}]"
        return literal(value)


def string(text: str) -> str:
    """Return a string of plain signs."""
    return '"' + re.sub(r"[^\x20-\x7e]", lambda sign: f"u{ord(sign[0]):04x}", text) + '"'


def integer(value: int) -> str:
    """Return an integer, a negative one in parentheses.

    Raises:
        SpecError: TLC cannot compute with it.
    """
    if not -LARGEST <= value <= LARGEST:
        raise SpecError(f"{value} does not fit the 32 bits that TLC computes with", instead="smaller bounds")
    return f"(-{-value})" if value < 0 else str(value)


def literal(value: Any) -> str:
    """Return a constant that is neither a record, a set nor a sequence."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Enum):
        return string(value.name)
    return integer(value) if isinstance(value, int) else string(str(value))


def record(name: str, fields: Sequence[tuple[str, str]]) -> str:
    """Return the TLA+ text of a record of this name with these fields."""
    parts = [("record", string(name)), *fields]
    return "[" + ", ".join(f"{field} |-> {text}" for field, text in parts) + "]"
