"""Functions that take a path also take its name as a text: the strings in the documents work."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import antiphon

WITHIN = ("antiphon.model.engines", "antiphon.conformance.cli")
"""Packages that only the project calls, with paths that it has made."""


def public_functions() -> Iterator[Callable[..., Any]]:
    """The functions and methods that packages give by name, but for those of results."""
    for module in pkgutil.walk_packages(antiphon.__path__, "antiphon."):
        if not module.ispkg or module.name.startswith(WITHIN):
            continue
        package = import_module(module.name)
        for found in (getattr(package, name) for name in getattr(package, "__all__", ())):
            if inspect.isfunction(found):
                yield found
            elif inspect.isclass(found) and not hasattr(found, "__dataclass_fields__"):
                yield from (item for item in vars(found).values() if inspect.isfunction(item))


def test_a_public_function_that_takes_a_path_takes_a_string() -> None:
    functions = set(public_functions())
    taken = {
        f"{function.__module__}.{function.__qualname__}: {name}": str(annotation)
        for function in functions
        for name, annotation in function.__annotations__.items()
        if "Path" in str(annotation) and name != "return"
    }
    assert len(taken) > 10
    assert not {name: told for name, told in taken.items() if "str" not in told}
