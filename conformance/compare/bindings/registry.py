"""Lookup of the binding of a protocol, by its name in the catalogue or by the place of the binding.

The object at "file.py:Name" or "module:Name" is a `Bound`, a class of bindings that is made with the
constants of its specification, or a plain class that was declared (`antiphon.testing.binding`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from antiphon.conformance.compare.bindings.binding import Binding, Bound
from antiphon.conformance.compare.bindings.guarded import made
from antiphon.conformance.compare.bindings.plain import is_plain, plain_bound
from antiphon.spec.catalogue import ENTRIES, entry_named, resolve, run_by_groups
from antiphon.spec.lang import SpecError
from antiphon.spec.lang.hints import did_you_mean, known_names
from antiphon.spec.places import Kind, is_place, stands_at


def bound_protocols() -> tuple[str, ...]:
    """Return the names of the protocols with a bound implementation, without loading them."""
    return tuple(entry.name for entry in ENTRIES if entry.binding_at)


def protocols_of_groups() -> tuple[str, ...]:
    """Return the names of the bound protocols that a group can run, without loading them."""
    return run_by_groups()


@cache
def bound_protocol(name: str) -> Bound:
    """Return the binding of the protocol of this name; also of "file.py:Name" and "module:Name".

    Raises:
        SpecError: no such protocol is bound; the message lists the known ones.
    """
    if is_place(name):
        return _bound(stands_at(name, _BINDING), name)
    entry = entry_named(name)
    if entry is None or not entry.binding_at:
        raise SpecError(
            f"no implementation is bound to {name!r}; known: {', '.join(sorted(bound_protocols()))}, or "
            f"file.py:Name or module:Name of a binding{did_you_mean(name, bound_protocols())}"
        )
    found: Bound = resolve(entry.binding_at)
    return found


def binding_of(name: str, *, fault: str | None = None, **constants: Any) -> Binding:
    """Return the binding of the protocol with these constants; with `fault`, of the implementation with that
    planted fault.

    Raises:
        SpecError: no such protocol or fault; the message lists the known ones.
    """
    found = bound_protocol(name)
    if fault is not None and fault not in found.faults:
        raise SpecError(f"{name} has no planted fault {fault!r}; {known_names(fault, sorted(found.faults))}")
    return found.bind(fault=fault, **constants)


def bound_class(cls: type) -> Bound:
    """Bind a declared plain class, with a time limit for its calls.

    Raises:
        BindingError: the class breaks the rules of bindings.
    """
    return _bound(cls, cls.__qualname__)


def _bound(found: Bound | type, name: str) -> Bound:
    """Return the binding of the object at a place, in the form of the catalogue's entries; a class of
    bindings gets no planted faults.
    """
    if isinstance(found, type) and is_plain(found):
        found = plain_bound(found)
    if isinstance(found, Bound):
        return replace(found, bind=made(found.bind, name))
    return Bound(made(_maker(found), name))


def _maker(binding: type[Binding]) -> Callable[..., Binding]:
    def make(*, fault: str | None = None, **constants: Any) -> Binding:
        assert fault is None, "a class of bindings has no planted faults"
        return binding(**constants)

    return make


def _is_binding(value: object) -> bool:
    """Return True for a class that has the methods `perform` and `project` of a binding."""
    if isinstance(value, Bound) or is_plain(value):
        return True
    return (
        isinstance(value, type) and value is not Binding and all(hasattr(value, name) for name in _METHODS)
    )


_METHODS = tuple(name for name in vars(Binding) if not name.startswith("_"))
_BINDING = Kind(
    "binding",
    _is_binding,
    "an antiphon.conformance.compare.bindings.Bound, nor a class of bindings, nor one under "
    "@antiphon.testing.binding",
)
