"""Lazy loading of a package's names from its modules, when they are first used: a process that is started
often needs few of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def on_demand(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose modules have these names."""
    module_of = {name: module for module, names in modules.items() for name in names}

    def load(name: str) -> Any:
        """Load a name when it is first used."""
        if name not in module_of:
            raise AttributeError(f"{package} has no {name!r}; it has {', '.join(sorted(module_of))}")
        try:
            module = import_module(f"{package}.{module_of[name]}")
        except ModuleNotFoundError:
            from antiphon.conformance.extras import needs_spark  # here: seldom needed

            needs_spark(f"{package}.{name}")
            raise
        found = getattr(module, name)
        setattr(sys.modules[package], name, found)
        return found

    return load
