"""A class with `refines=Machine` maps the states of its base class to states of that machine: a method that
is named like a variable of the machine is the value of that variable.

Both sides may use one name. A method of the mapping then replaces the protocol's method in Python, but not in
the specification: it is put aside under a name of its own, and `self.name` means the protocol's in every
text, the mapping's included.
"""

from __future__ import annotations

import inspect
from typing import Any


def remember(cls: type, machine: type | None) -> None:
    """Record the machine to which class `cls` is mapped, and put aside the methods of `cls` whose names the
    protocol also has.
    """
    if machine is not None:
        cls.__antiphon_refines__ = machine  # type: ignore[attr-defined]
    mapped = machine_of(cls)
    if mapped is None:
        return
    protocol = [part for part in cls.__mro__ if machine_of(part) is None]
    for name, item in list(vars(cls).items()):
        if (
            inspect.isfunction(item)
            and _is_variable(name, mapped)
            and any(name in vars(part) for part in protocol)
        ):
            delattr(cls, name)
            setattr(cls, put_aside(name, mapped), item)


def machine_of(cls: type) -> Any:
    """Return the machine to which a class, or one of its bases, is mapped, or None."""
    return getattr(cls, "__antiphon_refines__", None)


def put_aside(name: str, machine: type) -> str:
    """Return the name under which a mapping's method is put aside: `name` is a variable of the machine, and a
    name that the protocol uses for something else.
    """
    return f"{name}_of_{machine.__name__}"


def _is_variable(name: str, machine: type) -> bool:
    """Return True if the machine has a variable (or a constant) of this name; its annotations are not
    evaluated.
    """
    return hasattr(machine, name) and not inspect.isfunction(getattr(machine, name))
