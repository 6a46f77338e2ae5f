"""Types and values of the intermediate form in TLA+, each as its nearest kin there.

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

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from antiphon.spec.lang import SpecError, types

RESERVED = frozenset((
    "ASSUME", "ASSUMPTION", "AXIOM", "CASE", "CHOOSE", "CONSTANT", "CONSTANTS", "DOMAIN", "ELSE", "ENABLED",
    "EXCEPT", "EXTENDS", "IF",
    "IN", "INSTANCE", "LAMBDA", "LET", "LOCAL", "MODULE", "OTHER", "RECURSIVE", "SF_", "SUBSET", "THEN",
    "THEOREM", "UNCHANGED", "UNION",
    "VARIABLE", "VARIABLES", "WF_", "WITH", "BOOLEAN", "TRUE", "FALSE", "STRING", "Nat", "Int", "Seq", "Len",
    "Append", "Head", "Tail",
    "SubSeq", "SelectSeq", "Cardinality", "IsFiniteSet", "Print", "PrintT", "Assert", "JavaTime", "TLCGet",
    "TLCSet", "Permutations",
    "SortSeq", "RandomElement", "Any", "ToString", "TLCEval", "None", "Init", "Next", "Spec", "TypeOK",
    "vars", "Fairness", "SumOver",
    "MaxOf", "MinOf", "DropFirst", "Slice", "Reverse", "record",
))  # fmt: skip
"""Words that no name of a specification may take in the module."""


class Names:
    """Names for the module, given once; local ones are unique within a definition, which `begin` opens."""

    def __init__(self) -> None:
        self._global = set(RESERVED)
        self._local: set[str] = set()
        self._ever_local: set[str] = set()

    def begin(self) -> None:
        """A new definition: the local names of the last one are free again."""
        self._local.clear()

    def fresh(self, wanted: str) -> str:
        """A local name like `wanted`, with a number where it is taken."""
        name = _free(wanted, self._global | self._local)
        self._local.add(name)
        self._ever_local.add(name)
        return name

    def fix(self, wanted: str) -> str:
        """A global name like `wanted`."""
        name = _free(wanted, self._global | self._ever_local)
        self._global.add(name)
        return name


def _free(wanted: str, taken: AbstractSet[str]) -> str:
    name, number = wanted, 0
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name


class Types:
    """Writes types and values of one module under given constants.

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
        """The name of something global."""
        key = kind, name
        if key not in self.global_names:
            self.global_names[key] = self.names.fix(name)
        return self.global_names[key]

    def domain(self, type: types.Type) -> str:
        """The set of all values of a type."""
        match type:
            case types.Bool():
                return "BOOLEAN"
            case types.Int():
                bound = types.bind(type, self.constants)
                return (
                    f"({bound.low} .. {bound.high})"
                    if bound.low >= 0
                    else f"((-{-bound.low}) .. {integer(bound.high)})"
                )
            case types.Enumeration(name=name, members=members):
                return self._define(type, name, "{" + ", ".join(map(string, members)) + "}")
            case types.IndexType(name=name, size=size):
                return self._define(type, name, f"0 .. {types.evaluate_size(size, self.constants) - 1}")
            case types.Optional(of=of):
                return f"({{None}} \\cup {self.domain(of)})"
            case types.Record(name=name, fields=fields):
                if any(field == "record" for field, _ in fields):
                    raise SpecError(
                        f"{name} has a field record, which the TLA+ module needs for the names of records",
                        instead="another name",
                    )
                parts = [f'record : {{"{name}"}}', *(f"{field} : {self.domain(of)}" for field, of in fields)]
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
        """That a value belongs to a type, as a test that lists no large set."""
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
        """The values of a type as a sequence, in domain order."""
        return "<<" + ", ".join(self.value(item, type) for item in types.bind(type, self.constants)) + ">>"

    def value(self, value: Any, type: types.Type) -> str:
        """A constant value of a type."""
        match type:
            case types.Record(name=name, fields=fields):
                return record(name, [(field, self.value(getattr(value, field), of)) for field, of in fields])
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
    """A string."""
    return f'"{text}"'


def integer(value: int) -> str:
    """An integer, a negative one in parentheses."""
    return f"(-{-value})" if value < 0 else str(value)


def literal(value: Any) -> str:
    """A constant that is neither a record, a set nor a sequence."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Enum):
        return string(value.name)
    return integer(value) if isinstance(value, int) else string(str(value))


def record(name: str, fields: Sequence[tuple[str, str]]) -> str:
    """A record from the texts of its fields."""
    return "[" + ", ".join([f'record |-> "{name}"', *(f"{field} |-> {text}" for field, text in fields)]) + "]"
