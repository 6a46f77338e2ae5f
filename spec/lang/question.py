"""A person's expression about the states of a specification.

A boolean one becomes a witness of a subclass of the specification, so that every engine can look for a state
in which it is true (`asked`). The value of any expression is what CPython gives for it (`valued`).

The expression is Python in the subset that predicates are written in: `self` is the state, names mean what
they mean in the module of the specification, and the types of the specification are known by their names.
Errors say where in the expression they are.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import re
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any

from antiphon.spec.lang import types
from antiphon.spec.lang.errors import Location, SpecError
from antiphon.spec.lang.program import Program, program
from antiphon.spec.lang.spec import Spec
from antiphon.spec.lang.values import witness

FILE = "<expression>"
"""Name of the file of errors in an expression: its lines and columns count from 1."""

_numbers = itertools.count(1)

_HEAD = """class {spec}(Asked):
    @witness
    def {name}(self) -> bool:
        return (
"""

_WITNESS = _HEAD + "{text}\n        )\n"

_VALUE = _HEAD + "{text}\n) == (\n{text}\n        )\n\ndef {name}(self):\n    return (\n{text}\n    )\n"
"""Text in which an expression of any type stands: the front end reads its comparison with itself, which is a
boolean, and CPython evaluates it in the function below.
"""

_BOOLEAN, _ANY = "one boolean expression over self", "one expression over self"


def asked(bound: Program, expression: str) -> tuple[Program, str]:
    """Return the program with one more witness, true where `expression` is true, and the name of that
    witness. States and steps are unchanged.

    Raises:
        SpecError: the text is no boolean expression of the language; `at` is the place in it.
    """
    made, _, name = _made(bound, expression, _WITNESS, _BOOLEAN)
    return made, name


def valued(bound: Program, expression: str) -> tuple[Program, Callable[[Any], Any]]:
    """Return the program with one more witness, and the function that `Reference.value` evaluates in a state
    to get the value of `expression`, which may have any type of the language.

    Raises:
        SpecError: the text is no expression of the language; `at` is the place in it.
    """
    made, module, name = _made(bound, expression, _VALUE, _ANY)
    function: Callable[[Any], Any] = vars(module)[name]
    return made, function


def _made(bound: Program, expression: str, template: str, wanted: str) -> tuple[Program, ModuleType, str]:
    """Return the program of the subclass that is written in `template` with this expression, the module in
    which it was executed, and the name of its witness.
    """
    text = textwrap.dedent(expression).strip()
    _parse(text, wanted)
    name = _unused_name("found", bound)
    source = template.format(spec=bound.name, name=name, text=text)
    number = next(_numbers)
    file = f"<expression {number} about {bound.name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(f"antiphon_asked_{number}")
    vars(module).update(
        _names(bound.spec) | {"__name__": module.__name__, "Asked": bound.spec, "witness": witness}
    )
    sys.modules[module.__name__] = module
    try:
        compiled = compile(source, file, "exec", dont_inherit=True)
    except SyntaxError as error:  # what stands in no method, though it is an expression: await
        place = Location(FILE, max((error.lineno or 1) - _HEAD.count("\n"), 1), error.offset or 1)
        raise SpecError(f"this is no expression of Python here: {error.msg}", place, wanted) from error
    exec(compiled, vars(module))  # noqa: S102 - one class with one method; the expression is not run here
    try:
        made = program(vars(module)[bound.name]).with_constants(**bound.constants)
        made.module  # noqa: B018 - reads the expression, for its errors
    except SpecError as error:
        raise _placed(error, file) from error
    return made, module, name


_IS_TRUE = " is true"


def reached(expression: str) -> str:
    """Return the sentence that says that a run ended where an expression is true."""
    return f"{expression}{_IS_TRUE}"


def sought(why: str) -> str:
    """Return the expression about which `reached` made the sentence `why`; empty for any other sentence."""
    return why.removesuffix(_IS_TRUE) if why.endswith(_IS_TRUE) else ""


def _parse(text: str, wanted: str) -> None:
    if not text:
        raise SpecError(
            "there is no expression", Location(FILE, 1), "any(self.holding[p] for p in self.each(Process))"
        )
    try:
        ast.parse(text, mode="eval")
    except SyntaxError as error:
        place = Location(FILE, error.lineno or 1, error.offset or 1)
        assigns = re.search(r"[^=!<>]=(?!=)", text) is not None and "==" not in text
        instead = "== to compare: self.count == 4" if assigns else wanted
        raise SpecError(f"this is no expression of Python: {error.msg}", place, instead) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise SpecError(f"this is no expression of Python: {error}", Location(FILE, 1), wanted) from error


def _placed(error: SpecError, file: str) -> SpecError:
    """Return the error with its place in the text of the expression, if that is where it lies; any other
    error unchanged.
    """
    if error.at is None or error.at.file != file:
        return error
    line = max(error.at.line - _HEAD.count("\n"), 1)
    return SpecError(error.reason, Location(FILE, line, error.at.column), error.instead)


def _unused_name(name: str, bound: Program) -> str:
    """Return `name`, or a similar name that the specification does not use."""
    while hasattr(bound.spec, name) or name in bound.module.properties:
        name += "_"
    return name


def _names(spec: type[Spec]) -> dict[str, Any]:
    """Return the names that an expression about the specification may use: those of its class and of its
    parts, of the modules where they were written, and of its types. A name of a later part replaces that of
    an earlier one.
    """
    found: dict[str, Any] = {}
    for part in reversed(spec.__mro__):
        if issubclass(part, Spec) and part is not Spec:
            found |= getattr(part, "__antiphon_globals__", {})
            found |= getattr(part, "__antiphon_scope__", {})
    for name, kind in _types(spec).items():
        found.setdefault(name, kind)
    return found


def _types(spec: type[Spec]) -> dict[str, Any]:
    """Return the Python classes of the named types of a specification."""
    from antiphon.spec.lang.declare import declare

    declaration = declare(spec)
    pending: list[Any] = [item.type for item in declaration.variables]
    pending += [parameter.type for method in declaration.methods for parameter in method.parameters]
    found: dict[str, Any] = {}
    while pending:
        kind = pending.pop()
        match kind:
            case types.Record(name=name, fields=fields, python=python):
                found.setdefault(name, python)
                pending += [of for _, of in fields]
            case types.Enumeration(name=name, python=python) if python is not None:
                found.setdefault(name, python)
            case types.IndexType(name=name, python=python):
                found.setdefault(name, python)
            case types.Optional(of=inner) | types.SetOf(of=inner) | types.SequenceOf(of=inner):
                pending.append(inner)
            case types.MapOf(key=key, value=value):
                pending += [key, value]
            case types.Union(records=records):
                pending += records
    return found
