"""Specify, check and confront protocols of total order broadcast: what `import antiphon` gives.

Questions about a specification: `program` binds its constants, `check` judges its properties, `find` looks for one state,
`simulate` walks at random, `state_graph` is its graph, `load` reads a saved trace. Questions about an implementation:
`binding` joins it to its specification, `lockstep` walks both through every transition, `stateful` at random; `verify` judges
the logs of many runs, and `Group` is one member of a real group. The language itself is `antiphon.spec.lang`.

Nothing is loaded before its name is used, so that an implementation core, which is imported through this package too, loads
neither a specification nor a checker. This file must not import a room.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antiphon.conformance.bindings import binding_of as binding
    from antiphon.conformance.lockstep import LockstepReport
    from antiphon.conformance.pipeline import verify
    from antiphon.impl.group import Group

    __version__: str

__all__ = ["Group", "LockstepReport", "binding", "verify"]

_PLACES = {
    "Group": "antiphon.impl.group:Group",
    "LockstepReport": "antiphon.conformance.lockstep:LockstepReport",
    "binding": "antiphon.conformance.bindings:binding_of",
    "verify": "antiphon.conformance.pipeline:verify",
}
"""Where each name stands."""


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name == "__version__":
        found: Any = _version()
    elif name in _PLACES:
        module, _, attribute = _PLACES[name].partition(":")
        found = getattr(import_module(module), attribute)
    else:
        raise AttributeError(f"antiphon has no {name!r}; it has {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _version() -> str:
    """The version of the installed package."""
    from importlib.metadata import PackageNotFoundError, version  # here, because a core that is imported needs no version

    try:
        return version("antiphon")
    except PackageNotFoundError:
        return "uninstalled"
