"""Lookup of objects outside the catalogue by their place: "file.py:Name" or "module:Name".

1. Modules are looked for in the current directory too, and a file's directory is on the path of imports from
   then on, as for a script.
2. A file that has one object of the wanted kind is enough: "file.py".
3. An exception while a module is imported, also one that would end the process, is reported as an error of
   the specification, with its place.

This file knows no protocol, and of the objects only their kind.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from antiphon.spec import lang
from antiphon.spec.lang.calls import Ended, begins, is_over
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.foreign import Exited, Raised, foreign
from antiphon.spec.lang.hints import did_you_mean


@dataclass(frozen=True)
class Kind:
    """Kind of object that is looked for: its name for people, a test that recognises such an object, and the
    condition that it must meet.
    """

    name: str
    recognises: Callable[[object], bool]
    must_be: str


def is_place(name: str) -> bool:
    """Return True if a name is a place, "file.py:Name" or "module:Name"; no name of the catalogue is."""
    return name in (".", "..") or ":" in name or "/" in name or Path(name).suffix != ""


def stands_at(name: str, kind: Kind) -> Any:
    """Return the object that "file.py:Name", "file.py" or "module:Name" names.

    Raises:
        SpecError: there is no such file, module or name, or it is of another kind; the known names are
            listed.
    """
    module, _, qualified = name.partition(":")
    if not module:
        raise SpecError(f"{kind.name} {name!r} names no module; write file.py:Class or module:Class")
    if module.endswith(".py"):
        return _in_file(Path(module), qualified, kind)
    if "/" in module or ":" not in name:
        raise SpecError(f"{kind.name} {name!r}: {_no_place(Path(module), qualified)}")
    see_current_directory()
    return _member(_imported(module, f"{kind.name} {name!r}"), qualified, f"module {module!r}", kind)


def module_of(cls: type) -> str:
    """Return the name of the module of a class, or its file if the user named the class by a file."""
    return _FILES.get(cls.__module__, cls.__module__)


def folder_of(cls: type) -> Path | None:
    """Return the directory from which the module of a class is imported; None if the module has no file.

    It is above the folder of the module's top package: for `a.b`, the parent of the folder `a`.
    """
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is None:
        return None
    path = Path(file).resolve()
    place = path.parent if path.name == "__init__.py" else path
    for _ in cls.__module__.split("."):
        place = place.parent
    return place


def import_first_from(folder: Path) -> None:
    """Put a directory first on the path of imports."""
    here = str(folder)
    if here in sys.path:
        sys.path.remove(here)
    sys.path.insert(0, here)


def see_current_directory() -> None:
    """Put the current directory on the path of imports, as `python -m` does."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)


def _no_place(path: Path, qualified: str) -> str:
    """Return the reason why a name is neither a Python file nor a module, with a hint on what was meant."""
    member = f":{qualified}" if qualified else ""
    file = path.parent / f"{path.name}.py"  # with_name refuses a path that has no name, as "."
    if file.is_file():
        return f"it stands in a file of Python: {file}{member}"
    if path.is_dir():
        files = sorted(str(item) for item in path.glob("*.py"))
        return f"{path} is a directory; name a file in it: {', '.join(files[:8]) or 'it has none of Python'}"
    if path.is_file():
        return f"{path} is no file of Python; write file.py, file.py:Class or module:Class"
    if path.suffix[1:2].isupper() and path.parent == Path():
        return f"a class in a module is named module:Class: {path.stem}:{path.suffix[1:]}"
    return f"there is no file {path}; write file.py, file.py:Class or module:Class"


_FILES: dict[str, str] = {}
"""Path of each module that the user named by its file, by the name of the module."""


def _in_file(path: Path, qualified: str, kind: Kind) -> Any:
    if not path.is_file():
        raise SpecError(f"{kind.name} {str(path)!r}: no such file")
    here = str(path.resolve().parent)
    if here not in sys.path:
        sys.path.insert(0, here)
    module = _imported(path.stem, f"{kind.name} {str(path)!r}")
    if Path(module.__file__ or "").resolve() != path.resolve():
        raise SpecError(
            f"{kind.name} {str(path)!r}: Python knows another module {path.stem!r}; rename the file"
        )
    _FILES[path.stem] = str(path)
    if not qualified:
        own = [
            key for key, value in vars(module).items() if kind.recognises(value) and _is_own(value, module)
        ]
        if len(own) != 1:
            told = ", ".join(f"{path}:{key}" for key in own)
            found = f"; say which: {told}" if own else f": nothing in it is {kind.must_be}"
            count = f"{len(own)} {kind.name}s" if own else f"no {kind.name}"
            raise SpecError(f"{path} has {count}{found}")
        qualified = own[0]
    return _member(module, qualified, str(path), kind)


def _imported(module: str, sought: str) -> ModuleType:
    """Import a module of any author; `sought` says in words what it is imported for.

    Raises:
        SpecError: it is not there, or raises something, or ends the process; the message names the place.
    """
    try:
        begins(f"the import of {module}")
        with foreign(SpecError):
            return importlib.import_module(module)
    except Raised as raised:
        raise SpecError(f"{sought}: {_import_error(module, raised)}") from raised.error
    except Ended as ended:
        raise SpecError(f"{sought}: {ended}") from ended
    finally:
        is_over()


def _import_error(module: str, raised: Raised) -> str:
    """Return the error message for a module that cannot be imported, beginning with the place of the
    error.
    """
    error = raised.error
    if isinstance(error, ImportError):
        return f"module {module!r} cannot be imported: {error}"
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}:{error.offset}: {error.msg}"
    where = f"{raised.at.file}:{raised.at.line}: " if raised.at else ""
    if isinstance(error, SystemExit | Exited):
        what = raised.what.removeprefix("it ends the process: ")
        return (
            f"{where}{what} ends the process when module {module!r} is imported; put it under "
            'if __name__ == "__main__":'
        )
    return f"{where}{_with_hint(error, raised.what)}"


def _with_hint(error: BaseException, what: str) -> str:
    """Return the message of an error that a module raised, with a hint on what its author may have meant."""
    if isinstance(error, NameError) and error.name:
        return f"{what}{missing_word(error.name)}"
    bases = re.search(r"method resolution\s+order \(MRO\) for bases (.*)", what, re.DOTALL)
    if bases is None:
        return what
    names = [name.strip() for name in bases[1].split(",")]
    return (
        f"the bases {', '.join(names)} stand in an order that Python cannot keep, because one builds on "
        f"another that stands before it; name what builds on others first: ({', '.join(reversed(names))})"
    )


def missing_word(name: str) -> str:
    """Return a hint on a name that a module does not define: how to import it, or which name was probably
    meant.
    """
    if name in lang.__all__:
        return f"; it is a word of the language, not imported here: from antiphon.spec.lang import {name}"
    return did_you_mean(name, lang.__all__)


def _member(module: ModuleType, qualified: str, where: str, kind: Kind) -> Any:
    """Return the member of a module with this name."""
    found: object = module
    for part in qualified.split("."):
        if not hasattr(found, part):
            known = sorted(key for key, value in vars(found).items() if kind.recognises(value))
            told = f"its {kind.name}s: {', '.join(known) or 'none'}{did_you_mean(part, known)}"
            raise SpecError(f"{where} has no {part!r}; {told}")
        found = getattr(found, part)
    if not kind.recognises(found):
        raise SpecError(f"{where}: {qualified!r} is no {kind.name}: it is not {kind.must_be}")
    return found


def _is_own(value: object, module: ModuleType) -> bool:
    """Return True if the value was written in the module; a value that records no module counts as written
    there.
    """
    return getattr(value, "__module__", module.__name__) == module.__name__
