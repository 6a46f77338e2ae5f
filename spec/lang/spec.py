"""A specification is a subclass of `Spec`: annotated attributes are its state and constants, marked methods
its steps.

`Spec` itself only holds the live state while a machine executes a step; what the class declares is read by
`declare`, its bodies by the front end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar, overload

from antiphon.spec.lang import assignment, mapping, types, values, variants
from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.variants import Ambiguity

T = TypeVar("T")


class Spec:
    """Base class of specifications.

    State variables are annotated class attributes with a default, constants are `Const[...]`. Methods marked
    `action`, `environment`, `invariant`, `witness`, `obligation`, `initial`, `guard`, `constraint` or
    `on(Event)` are its behaviour; unmarked methods are helpers. The keywords `repairs`, `readings`,
    `restrictions` and `mutations` of a class name the variants that can be switched on (`variants`);
    `refines` names the machine that its states are mapped to (`mapping`).
    """

    def __init_subclass__(
        cls,
        *,
        repairs: tuple[type, ...] = (),
        readings: tuple[Ambiguity, ...] = (),
        restrictions: tuple[type, ...] = (),
        mutations: tuple[type, ...] = (),
        refines: type[Spec] | None = None,
        **keywords: Any,
    ) -> None:
        super().__init_subclass__(**keywords)
        values.note_place(cls)
        variants.remember(cls, variants.Offer(repairs, readings, restrictions, mutations))
        mapping.remember(cls, refines)

    def __init__(self) -> None:
        raise SpecError(
            f"{type(self).__name__} is not instantiated; bind it: program({type(self).__name__}, processes=3)"
        )

    def __setattr__(self, name: str, value: object) -> None:
        domains: dict[str, types.Domain] = self.__dict__["_domains"]
        if name not in domains:
            raise SpecError(
                f"{type(self).__name__} has no state variable {name!r}; its variables are "
                f"{', '.join(domains)}"
            )
        domain = domains[name]
        kept = assignment.store(value, domain, f"self.{name}")
        if isinstance(domain.type, types.MapOf):
            assignment.Variable(self, name, domain).hold(kept)
        else:
            self.__dict__[name] = kept

    @overload
    def each(self, domain: type[T]) -> Iterator[T]: ...
    @overload
    def each(self, domain: object) -> Iterator[Any]: ...
    def each(self, domain: object) -> Iterator[Any]:
        """Yield every value of a type of the language, in domain order: `for p in self.each(Process)`."""
        return iter(self.__dict__["_machine"].domain_of(domain))
