"""Interface of `import antiphon`: specify, check and compare protocols of total order broadcast.

Questions about a specification: `program` binds its constants, `check` judges its properties, `find` looks
for one state, `refine` compares with an abstract machine, `simulate` walks at random, `state_graph` is its
graph, `load` reads a saved trace. Questions about an implementation: `binding` joins it to its specification,
`lockstep` walks both through every transition, `stateful` at random; `verify` judges the logs of many runs.
`Group` is one member of a real group: with `Keyring` and `Layers` it is made, `Delivery` is its event, and
`GroupError` its errors, of which `GroupFailed` ends it. Where members come, go and fail (`Group.join`),
`View` is an event too, of `Member`s, and so are `Blocked` and `Unblocked`. The language itself is
`antiphon.spec.lang`, and `SpecError` what is wrong with a specification.

Nothing is loaded before its name is used, so that an implementation core, which is imported through this
package too, loads neither a specification nor a checker. This file must not import `spec`, `model` or `impl`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antiphon.conformance.compare.lockstep import LockstepReport
    from antiphon.conformance.compare.stateful import StatefulReport
    from antiphon.explorer import Explorer, explore
    from antiphon.impl.errors import GroupError, GroupFailed
    from antiphon.impl.group import Delivery, Group, Keyring
    from antiphon.impl.layers import Layers
    from antiphon.impl.membership.member import Blocked, Member, Unblocked, View
    from antiphon.implementations import binding, lockstep, stateful, verify
    from antiphon.model.verdict import Outcome, Verdict
    from antiphon.programs import program
    from antiphon.questions import check, find, load, refine, simulate, state_graph
    from antiphon.results import Found, Report, Trace
    from antiphon.spec.lang import SpecError

    __version__: str

__all__ = [
    "Blocked", "Delivery", "Explorer", "Found", "Group", "GroupError", "GroupFailed", "Keyring", "Layers",
    "LockstepReport", "Member", "Outcome", "Report", "SpecError", "StatefulReport", "Trace", "Unblocked",
    "Verdict", "View",
    "binding", "check", "explore", "find", "load", "lockstep", "program", "refine", "simulate", "state_graph",
    "stateful", "verify",
]  # fmt: skip

_MODULES = {
    "antiphon.conformance.compare.lockstep": ("LockstepReport",),
    "antiphon.conformance.compare.stateful": ("StatefulReport",),
    "antiphon.explorer": ("Explorer", "explore"),
    "antiphon.impl.errors": ("GroupError", "GroupFailed"),
    "antiphon.impl.group": ("Delivery", "Group", "Keyring"),
    "antiphon.impl.layers": ("Layers",),
    "antiphon.impl.membership.member": ("Blocked", "Member", "Unblocked", "View"),
    "antiphon.implementations": ("binding", "lockstep", "stateful", "verify"),
    "antiphon.model.verdict": ("Outcome", "Verdict"),
    "antiphon.programs": ("program",),
    "antiphon.questions": ("check", "find", "load", "refine", "simulate", "state_graph"),
    "antiphon.results": ("Found", "Report", "Trace"),
    "antiphon.spec.lang": ("SpecError",),
}
"""The module of each name."""

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    if name == "__version__":
        found: Any = _version()
    elif name in _MODULE_OF:
        found = getattr(import_module(_MODULE_OF[name]), name)
    else:
        raise AttributeError(f"antiphon has no {name!r}; it has {', '.join(__all__)}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _version() -> str:
    """Return the version of the installed package."""
    from importlib.metadata import PackageNotFoundError, version  # here: an imported core needs no version

    try:
        return version("antiphon")
    except PackageNotFoundError:
        return "uninstalled"
