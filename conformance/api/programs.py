"""A specification is meant by its class, its name, file.py:Class or module:Class; a program has constants.

Every question takes any of these, or a program that was bound before.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from antiphon.spec import lang
from antiphon.spec.catalogue import entry_named, entry_of, names
from antiphon.spec.lang import Program, Spec, SpecError
from antiphon.spec.lang import program as bind
from antiphon.spec.lang.hints import did_you_mean

Subject: TypeAlias = Program | type[Spec] | str
"""What a question may be about; what is no program yet is bound to its defaults, without any repair."""


def program(
    spec: type[Spec] | str,
    *,
    repairs: Iterable[str] | str = (),
    without: Iterable[str] = (),
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
    asked = [repairs] if isinstance(repairs, str) else list(repairs)
    return bind(found, repairs="all" if "all" in asked else asked, without=without, **constants)


def program_of(subject: Subject) -> Program:
    """What a question is about, bound to its defaults where it is not bound yet."""
    return subject if isinstance(subject, Program) else program(subject)


def specification(name: str) -> type[Spec]:
    """The class of a name of the catalogue, of "file.py:Class", or of "module:Class", also in the current
    directory. Where a file has one specification, "file.py" is enough.

    Raises:
        SpecError: there is none; the known names are listed.
    """
    entry = entry_named(name)
    if entry is not None:
        return entry.spec
    module, _, qualified = name.partition(":")
    if module.endswith(".py"):
        return _in_file(Path(module), qualified)
    if qualified:
        return _imported(name)
    hint = did_you_mean(name, names())
    raise SpecError(
        f"unknown specification {name!r}; known: {', '.join(names())}, or module:Class, or file.py{hint}"
    )


def name_of(spec: type[Spec]) -> str:
    """What `specification` calls this class: its name in the catalogue, "file.py:Class" or "module:Class"."""
    entry = entry_of(spec)
    if entry:
        return entry.name
    return f"{_FILES.get(spec.__module__, spec.__module__)}:{spec.__qualname__}"


def called(spec: type[Spec]) -> str:
    """What people read: the name of this class in the catalogue, or its own."""
    entry = entry_of(spec)
    return entry.name if entry else spec.__name__


def see_current_directory() -> None:
    """Let modules in the current directory be imported, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


_FILES: dict[str, str] = {}
"""The modules that were named by their files, and how."""


def _in_file(path: Path, qualified: str) -> type[Spec]:
    """A specification of a file, whose directory is on the path of imports from now on, as for a script."""
    if not path.is_file():
        raise SpecError(f"specification {str(path)!r}: no such file")
    here = str(path.resolve().parent)
    if here not in sys.path:
        sys.path.insert(0, here)
    module = _module(path.stem, str(path))
    if Path(module.__file__ or "").resolve() != path.resolve():
        raise SpecError(
            f"specification {str(path)!r}: Python knows another module {path.stem!r}; rename the file"
        )
    _FILES[path.stem] = str(path)
    if not qualified:
        own = [key for key, value in vars(module).items() if _is_own(value, module)]
        if len(own) != 1:
            told = ", ".join(f"{path}:{key}" for key in own)
            raise SpecError(f"{path} has {len(own)} specifications" + (f"; say which: {told}" if own else ""))
        qualified = own[0]
    return _member(module, qualified, str(path))


def _imported(name: str) -> type[Spec]:
    see_current_directory()
    module, _, qualified = name.partition(":")
    return _member(_module(module, name), qualified, f"module {module!r}")


def _module(module: str, name: str) -> ModuleType:
    """Import a module for a specification of this name."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SpecError(f"specification {name!r}: module {module!r} cannot be imported: {error}") from error
    except SyntaxError as error:
        raise SpecError(
            f"specification {name!r}: {error.filename}:{error.lineno}:{error.offset}: {error.msg}"
        ) from error
    except SpecError:
        raise
    except Exception as error:  # a module may raise anything, and it is not ours
        where = traceback.extract_tb(error.__traceback__)[-1]
        hint = did_you_mean(error.name, lang.__all__) if isinstance(error, NameError) and error.name else ""
        told = f"{where.filename}:{where.lineno}: {type(error).__name__}: {error}{hint}"
        raise SpecError(f"specification {name!r}: {told}") from error


def _member(module: ModuleType, qualified: str, where: str) -> type[Spec]:
    """The specification that a module calls so."""
    found: object = module
    for part in qualified.split("."):
        if not hasattr(found, part):
            specs = sorted(key for key, value in vars(found).items() if _is_specification(value))
            told = f"its specifications: {', '.join(specs) or 'none'}{did_you_mean(part, specs)}"
            raise SpecError(f"{where} has no {part!r}; {told}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Spec)):
        raise SpecError(
            f"{where}: {qualified!r} is no specification: it is not a subclass of antiphon.spec.lang.Spec"
        )
    return found


def _is_own(value: object, module: ModuleType) -> bool:
    return _is_specification(value) and getattr(value, "__module__", "") == module.__name__


def _is_specification(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Spec) and value is not Spec
