"""Promises of services, found by looking at every class of `spec.services`."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

from antiphon.model.properties import kinds_of
from antiphon.model.verdict import PropertyKind
from antiphon.spec import services
from antiphon.spec.lang import Spec, program


def is_service(cls: object) -> bool:
    """A class that judges events and takes no step."""
    return (
        inspect.isclass(cls)
        and issubclass(cls, Spec)
        and cls.__module__.startswith(services.__name__)
        and not getattr(cls, "__parameters__", ())
        and not program(cls).declaration.marked("action", "environment")
        and bool(promises(cls))
    )


def promises(cls: type[Spec]) -> frozenset[str]:
    """The properties of a service, its bases' among them."""
    kept = (PropertyKind.SERVICE, PropertyKind.INVARIANT, PropertyKind.OBLIGATION)
    return frozenset(name for name, kind in kinds_of(program(cls)).items() if kind in kept)


def all_promises() -> set[tuple[type[Spec], str]]:
    """Each property of the services, with the class that adds it to those above."""
    modules = [
        importlib.import_module(f"{services.__name__}.{found.name}")
        for found in pkgutil.iter_modules(services.__path__)
    ]
    classes = {cls for module in modules for _, cls in inspect.getmembers(module, is_service)}
    return {
        (cls, name)
        for cls in classes
        for name in promises(cls)
        if not any(
            issubclass(cls, other) and cls is not other and name in promises(other) for other in classes
        )
    }
