"""Programs from names: a specification is given by its class, its name, file.py:Class or module:Class; a
program also has constants.

Every function takes any of these, or a program that was bound before.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from antiphon.spec.catalogue import entry_named, entry_of, names, refinement_named, refinement_of
from antiphon.spec.lang import Program, Spec, SpecError
from antiphon.spec.lang import program as bind
from antiphon.spec.lang.errors import ArgumentError
from antiphon.spec.lang.hints import did_you_mean
from antiphon.spec.lang.mapping import machine_of
from antiphon.spec.places import Kind, is_place, module_of, stands_at
from antiphon.spec.refinement import Refinement

Subject: TypeAlias = Program | type[Spec] | str
"""Specification or program of a question; a specification is bound to its defaults, without any repair."""


def program(
    spec: type[Spec] | str,
    *,
    repairs: Iterable[str] | str = (),
    without: Iterable[str] | str = (),
    **constants: int | bool | str,
) -> Program:
    """Bind the constants of a specification.

    Args:
        spec: a class; a name of the catalogue (`antiphon check --help` lists them); "file.py:Class"; or
            "module:Class", also in the current directory.
        repairs: the names of repairs to switch on, or "all".
        without: repairs that are left out of them again, each with what builds on it.
        **constants: constants and readings by name; the others keep their defaults.

    Raises:
        SpecError: no such specification, constant, repair or reading (the known ones are listed), or a value
            that it cannot have.
    """
    found = specification(spec) if isinstance(spec, str) else spec
    if not _is_specification(found):
        raise ArgumentError(f"{spec!r} is no specification; write {_KNOWN}")
    asked = [repairs] if isinstance(repairs, str) else list(repairs)
    left_out = [without] if isinstance(without, str) else list(without)
    return bind(found, repairs="all" if "all" in asked else asked, without=left_out, **constants)


def program_of(subject: Subject) -> Program:
    """Return the program of a subject, bound to its defaults where it is not bound yet.

    Raises:
        ArgumentError: it is neither a specification nor a program.
    """
    if isinstance(subject, Program):
        return subject
    if not isinstance(subject, str) and not _is_specification(subject):
        raise ArgumentError(f"{subject!r} is no specification; a question is about {_KNOWN}, or a program")
    return program(subject)


def specification(name: str) -> type[Spec]:
    """Return the class of a name of the catalogue, of "file.py:Class", or of "module:Class", also in the
    current directory. Where a file has one specification, "file.py" is enough.

    Raises:
        SpecError: there is none; the known names are listed.
    """
    entry = entry_named(name)
    if entry is not None:
        return entry.spec
    if is_place(name):
        found: type[Spec] = stands_at(name, _SPECIFICATION)
        return found
    hint = did_you_mean(name, names())
    if Path(f"{name}.py").is_file():
        hint = f"; it stands in a file: {name}.py"
    raise SpecError(
        f"unknown specification {name!r}; known: {', '.join(names())}, or module:Class, or file.py{hint}"
    )


def refinement(subject: str | type[Spec]) -> Refinement:
    """Return the refinement of a name of the catalogue, or that a class states by `refines=`; a class also as
    "file.py:Class" or "module:Class". Where a file has one such class, "file.py" is enough.

    Raises:
        SpecError: none is stated.
    """
    if isinstance(subject, str) and not is_place(subject):
        return refinement_named(subject)
    spec: type[Spec] = stands_at(subject, _MAPPING) if isinstance(subject, str) else subject
    stated, entry = refinement_of(spec), entry_of(spec)
    if stated is None and entry is not None:
        return refinement_named(entry.name)
    if stated is None:
        raise SpecError(
            f"{spec.__name__} states no refinement",
            instead=f"class Mapped({spec.__name__}, refines=Machine) with a helper for each variable",
        )
    return stated


def name_of(spec: type[Spec]) -> str:
    """Return the name by which `specification` finds this class: in the catalogue, "file.py:Class" or
    "module:Class".
    """
    entry = entry_of(spec)
    if entry:
        return entry.name
    return f"{module_of(spec)}:{spec.__qualname__}"


def called(spec: type[Spec]) -> str:
    """Return the name of a specification for people: its name in the catalogue, or else the name of its
    class.
    """
    entry = entry_of(spec)
    return entry.name if entry else spec.__name__


def _is_specification(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Spec) and value is not Spec


_KNOWN = "a subclass of antiphon.spec.lang.Spec, a name, 'file.py:Class' or 'module:Class'"
_SPECIFICATION = Kind("specification", _is_specification, "a subclass of antiphon.spec.lang.Spec")
_MAPPING = Kind(
    "mapping",
    lambda value: isinstance(value, type) and machine_of(value) is not None,
    "a class that says refines=, which names the machine that it is mapped to",
)
