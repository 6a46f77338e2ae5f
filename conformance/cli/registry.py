"""A specification is meant by its name in the catalogue, or by module:Class; here it is found, and bound to its constants."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from antiphon.conformance.cli.output import UsageProblem
from antiphon.spec.catalogue import entry_named, entry_of, names
from antiphon.spec.lang import Program, Spec, SpecError, program
from antiphon.spec.lang.declare import declare
from antiphon.spec.lang.hints import did_you_mean, known_names


def find(name: str) -> type[Spec]:
    """The class of a name, or of `module:Class`; modules are also looked for in the current directory.

    Raises:
        UsageProblem: there is none; the known names are listed.
    """
    entry = entry_named(name)
    if entry is not None:
        return entry.spec
    if ":" in name:
        return _import(name)
    hint = did_you_mean(name, names())
    if name.endswith(".py"):
        hint = f"; a file is named by its module and class, for example {Path(name).stem}:MySpec"
    raise UsageProblem(f"unknown specification {name!r}; known: {', '.join(names())}, or module:Class{hint}")


def name_of(spec: type[Spec]) -> str:
    """What `find` calls this class: its registered name, or `module:Class`."""
    entry = entry_of(spec)
    return entry.name if entry else f"{spec.__module__}:{spec.__qualname__}"


def called(spec: type[Spec]) -> str:
    """What people read: the registered name of this class, or the name of the class."""
    entry = entry_of(spec)
    return entry.name if entry else spec.__name__


def see_current_directory() -> None:
    """Let modules in the current directory be imported, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _import(name: str) -> type[Spec]:
    see_current_directory()
    module, _, qualified = name.partition(":")
    try:
        found: object = importlib.import_module(module)
    except ImportError as error:
        raise UsageProblem(f"specification {name!r}: module {module!r} cannot be imported: {error}") from error
    except SyntaxError as error:
        raise UsageProblem(f"specification {name!r}: {error.filename}:{error.lineno}:{error.offset}: {error.msg}") from error
    except SpecError:
        raise
    except Exception as error:  # a module may raise anything, and it is not ours
        where = traceback.extract_tb(error.__traceback__)[-1]
        raise UsageProblem(f"specification {name!r}: {where.filename}:{where.lineno}: {type(error).__name__}: {error}") from error
    for part in qualified.split("."):
        if not hasattr(found, part):
            specs = sorted(key for key, value in vars(found).items() if isinstance(value, type) and issubclass(value, Spec) and value is not Spec)
            told = f"its specifications: {', '.join(specs) or 'none'}{did_you_mean(part, specs)}"
            raise UsageProblem(f"module {module!r} has no {part!r}; {told}")
        found = getattr(found, part)
    if not (isinstance(found, type) and issubclass(found, Spec)):
        raise UsageProblem(f"{name!r} is no specification: it is not a subclass of antiphon.spec.lang.Spec")
    return found


def bind(
    name: str,
    *,
    settings: Iterable[str] = (),
    repairs: Iterable[str] = (),
    without: Sequence[str] = (),
    sizes: Mapping[str, int | None] | None = None,
) -> Program:
    """The program of a specification by name. `settings` are `name=value`; `sizes` with None are left at their defaults.

    `repairs` are names, or "all"; those of `without` are left out again.

    Raises:
        UsageProblem: no such specification, or a setting that is none.
        SpecError: an unknown constant, repair or reading; the known ones are listed.
    """
    spec = find(name)
    known = [item.name for item in declare(spec).constants if item.repair]
    for repair in without:
        if repair not in known:
            raise UsageProblem(f"--without {repair}: {name} has no such repair; {known_names(repair, known)}")
    asked = list(repairs)
    chosen: dict[str, int | bool | str] = {key: value for key, value in (sizes or {}).items() if value is not None}
    for key, value in parsed(spec, settings).items():
        if chosen.setdefault(key, value) != value:
            raise UsageProblem(f"{key} is set twice: {chosen[key]} and {value}")
    return program(spec, repairs="all" if "all" in asked else asked, without=without, **chosen)


def parsed(spec: type[Spec], settings: Iterable[str]) -> dict[str, int | bool | str]:
    """The values of `name=value` by the declared type of each constant; an unknown name is left to whoever binds."""
    defaults = {item.name: item.default for item in declare(spec).constants}
    found: dict[str, int | bool | str] = {}
    said: dict[str, str] = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not sign or not name:
            raise UsageProblem(f"{setting!r} is no setting; write name=value, for example losses=2")
        if name in said and said[name] != value:
            raise UsageProblem(f"{name} is set twice: {said[name]} and {value}")
        said[name] = value
        default = defaults.get(name)
        if isinstance(default, bool):
            if value not in ("true", "false"):
                raise UsageProblem(f"{name}={value}: {name} is true or false")
            found[name] = value == "true"
        elif isinstance(default, int):
            if not value.removeprefix("-").isdigit():
                raise UsageProblem(f"{name}={value}: {name} is an integer")
            found[name] = int(value)
        else:
            found[name] = value
    return found
