"""Binds a protocol of the catalogue to its implementation, by the name that people type."""

from __future__ import annotations

from functools import cache
from typing import Any

from antiphon.conformance.bindings.binding import Binding, Bound
from antiphon.spec.catalogue import ENTRIES, entry_named, resolve
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import known_names


def bound_protocols() -> tuple[str, ...]:
    """The names of the protocols whose implementation is bound; loads none."""
    return tuple(entry.name for entry in ENTRIES if entry.binding_at)


@cache
def bound_protocol(name: str) -> Bound:
    """How the protocol of this name is bound.

    Raises:
        SpecError: it is not; the known ones are listed.
    """
    entry = entry_named(name)
    if entry is None or not entry.binding_at:
        raise SpecError(
            f"no implementation is bound to {name!r}; {known_names(name, sorted(bound_protocols()))}"
        )
    found: Bound = resolve(entry.binding_at)
    return found


def binding_of(name: str, *, fault: str | None = None, **constants: Any) -> Binding:
    """The binding of a protocol with these constants; with `fault`, of an implementation with that mistake.

    Raises:
        SpecError: no such protocol or fault; the known ones are listed.
    """
    found = bound_protocol(name)
    if fault is not None and fault not in found.faults:
        raise SpecError(f"{name} has no planted fault {fault!r}; {known_names(fault, sorted(found.faults))}")
    return found.bind(fault=fault, **constants)
