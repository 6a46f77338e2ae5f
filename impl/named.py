"""A protocol is chosen by its name: the package of `antiphon.impl.protocols` with that name makes it.

A stack of layers is named by their names: `TOTAL:MBRSHIP:FRAG:NAK:COM` is `horus` with that stack.
The package `chang_maxemchuk` has one function `chang_maxemchuk`, which takes its settings and is
known as `chang-maxemchuk`. Only the package that is asked for is loaded. This module must not know any.
"""

from __future__ import annotations

import difflib
import pkgutil
from importlib import import_module
from typing import Any

from antiphon.impl import protocols
from antiphon.impl.errors import UnknownProtocol
from antiphon.impl.protocols.core import Implementation

__all__ = ["implementation", "known_protocols"]


def known_protocols() -> tuple[str, ...]:
    """The names, sorted."""
    packages = (found.name for found in pkgutil.iter_modules(protocols.__path__) if found.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in packages))


def implementation(name: str, **settings: Any) -> Implementation[Any]:
    """The protocol of this name, with these settings.

    Raises:
        UnknownProtocol: no protocol has this name; those that there are are listed.
        TypeError, ValueError: it has no such setting, or the setting is impossible; or the stack is no stack.
    """
    if ":" in name:
        return implementation("horus", stack=name, **settings)
    known = known_protocols()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownProtocol(f"unknown protocol {name!r}; known: {', '.join(known)}{hint}")
    package = name.replace("-", "_")
    made: Implementation[Any] = getattr(import_module(f"antiphon.impl.protocols.{package}"), package)(
        **settings
    )
    return made
