"""Modules whose branches count for a protocol: those of its core, or of a user's binding, and those that they
use.

1. A start is the class of the core, or of the binding where there is no core, with its base classes.
2. From there the modules count whose names are used, if they belong to the implementation: protocol cores
    and the membership of this library; of other code, what lies in the folder of the start, or below.
3. Specifications do not count, and neither does this room.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from antiphon.conformance.compare.bindings import Binding, Guarded
from antiphon.impl import tracing
from antiphon.impl.protocols.core import Implementation
from antiphon.spec.lang import Spec

__all__ = ["modules_of", "path_of"]

_CORES = ("antiphon.impl.protocols.", "antiphon.impl.membership.")
_COMMON = {"antiphon.impl.protocols.core"}


def modules_of(made: Implementation[Any] | Binding, members: int = 3) -> list[ModuleType]:
    """Return the modules of an implementation, or of the code that a binding binds, by name.

    `members` is the number of members for which a core is made, to look at its class.
    """
    start = _start(made, members)
    found: dict[str, ModuleType] = {}
    left = [sys.modules[cls.__module__] for cls in start.__mro__ if cls.__module__ in sys.modules]
    homes = [Path(file).parent for module in left[:1] if (file := getattr(module, "__file__", None))]
    looked_at: set[str] = set()
    while left:
        module = left.pop()
        if module.__name__ in looked_at:
            continue
        looked_at.add(module.__name__)
        if _counts(module, homes):
            found[module.__name__] = module
        elif module.__name__ != start.__module__:
            continue
        left += _used(module)
    return [found[name] for name in sorted(found)]


def path_of(module: ModuleType) -> str:
    """Return the path of a module in reports: of this library's modules from its root, of others from the
    current directory if they are below it.
    """
    if module.__name__.startswith("antiphon."):
        parts = module.__name__.split(".")[1:]
        is_package = Path(module.__file__ or "").name == "__init__.py"
        return "/".join(parts) + ("/__init__.py" if is_package else ".py")
    path = Path(module.__file__ or module.__name__)
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _start(made: Implementation[Any] | Binding, members: int) -> type:
    if isinstance(made, Implementation):
        return type(made.core(0, members, tracing.NULL_TRACER))
    binding: Any = made.binding if isinstance(made, Guarded) else made
    found: type = getattr(binding, "cls", type(binding))  # the class of a plain binding is the user's
    return found


def _counts(module: ModuleType, homes: list[Path]) -> bool:
    """Return True if a module belongs to the implementation."""
    name, file = module.__name__, getattr(module, "__file__", None)
    if file is None or not file.endswith(".py"):
        return False
    if name.startswith("antiphon."):
        return name.startswith(_CORES) and name not in _COMMON
    if "site-packages" in file or not any(Path(file).is_relative_to(home) for home in homes):
        return False
    own = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name)
    return not any(issubclass(each, Spec) for each in own)


def _used(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the loaded modules whose names a module uses."""
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name in sys.modules:
            yield sys.modules[name]
