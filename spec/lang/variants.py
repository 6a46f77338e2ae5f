"""A variant is a class that changes a specification at one place and is switched on by name: repair, reading,
restriction, mutation.

1. The text of a specification knows nothing of its variants. A variant subclasses the class that it changes
   and overrides one small hook of it; `super()` inside it means what would be there without it.
2. A class says by keyword which variants can be switched on: `class Checked(Literal, repairs=(...),
   readings=(...), restrictions=(...))`. Subclasses inherit the offer.
3. A variant that is on stands directly above the class that it changes, below everything else: properties
   and bounds see the repaired text. If two variants change the same hook, the later one wins, and must call
   `super()`, build on the earlier one, or supersede it. A repair may override a reading without `super()`.
4. The constant of a variant is its class name in snake case: `RingFromOne` is `ring_from_one`. A reading is
   the choice of an ambiguity.

This file composes classes; it reads no bodies and knows no engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from antiphon.spec.lang.errors import SpecError
from antiphon.spec.lang.source import place_of

Class = TypeVar("Class", bound=type)
NOWHERE = "<stand-in>"
"""Module name of stand-ins, so that facts about them are not cached for good."""


@dataclass(frozen=True)
class Repair:
    """Named departure from the published text: its reason, the claim that it answers, and the repairs that it
    requires.

    `supersedes` names repairs of the same hook that have no effect where this one is on.
    """

    name: str
    about: str
    answers: str
    builds_on: tuple[type, ...]
    supersedes: tuple[type, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """Return the names of the repairs that this repair builds on."""
        return tuple(note_of(other, Repair).name for other in self.builds_on)


@dataclass(frozen=True)
class Restriction:
    """Restriction: a named condition that cuts runs away from an exploration; each verdict under one names
    it.
    """

    name: str
    about: str


@dataclass(frozen=True)
class Mutation:
    """Named fault that is planted in a specification, to show which property notices the loss of a rule."""

    name: str
    about: str


@dataclass(eq=False)
class Ambiguity:
    """A sentence with several meanings. `printed` names the one that the text itself has; each other one is a
    class, `meanings[choice]`.
    """

    name: str
    printed: str
    about: str
    meanings: dict[str, type]

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names of the readings, the printed one first."""
        return (self.printed, *self.meanings)

    def reading(self, choice: str) -> Callable[[Class], Class]:
        """Declare a class as one more reading of the ambiguity: `@nesting.reading("comment")`."""

        def mark(cls: Class) -> Class:
            if choice in self.choices:
                raise SpecError(
                    f"{self.name} has the reading {choice!r} already", place_of(cls), "another name"
                )
            self.meanings[choice] = cls
            return cls

        return mark


Variant = Repair | Restriction | Mutation | Ambiguity


@dataclass(frozen=True)
class Offer:
    """The variants that can be switched on for a class, in the order in which they are applied."""

    repairs: tuple[type, ...] = ()
    readings: tuple[Ambiguity, ...] = ()
    restrictions: tuple[type, ...] = ()
    mutations: tuple[type, ...] = ()


def ambiguity(name: str, printed: str, *, about: str) -> Ambiguity:
    """Declare a sentence with several meanings; `printed` names the meaning of the printed text, every other
    one is a class marked with `reading`.
    """
    return Ambiguity(name, printed, about, {})


def repair(
    about: str, *, answers: str, builds_on: tuple[type, ...] = (), supersedes: tuple[type, ...] = ()
) -> Callable[[Class], Class]:
    """Declare a class as a repair: its change in words, the claim that it answers, the repairs
    that it needs.
    """

    def mark(cls: Class) -> Class:
        note = Repair(_snake(cls.__name__), about, answers, builds_on, supersedes)
        cls.__antiphon_variant__ = note  # type: ignore[attr-defined]
        return cls

    return mark


def restriction(about: str) -> Callable[[Class], Class]:
    """Declare a class, mostly of constraints, as a restriction of the explored behaviour."""

    def mark(cls: Class) -> Class:
        cls.__antiphon_variant__ = Restriction(_snake(cls.__name__), about)  # type: ignore[attr-defined]
        return cls

    return mark


def mutation(about: str) -> Callable[[Class], Class]:
    """Declare a class as a planted fault."""

    def mark(cls: Class) -> Class:
        cls.__antiphon_variant__ = Mutation(_snake(cls.__name__), about)  # type: ignore[attr-defined]
        return cls

    return mark


Note = TypeVar("Note", Repair, Restriction, Mutation)

KEYWORDS = {
    Repair: ("repairs", '@repair("...", answers="...")'),
    Restriction: ("restrictions", '@restriction("...")'),
}
KEYWORDS |= {Mutation: ("mutations", '@mutation("...")')}


def note_of(cls: type, kind: type[Note]) -> Note:
    """Return the note of a class that is a variant of this kind.

    Raises:
        SpecError: the class is no such variant.
    """
    note = vars(cls).get("__antiphon_variant__")
    if not isinstance(note, kind):
        keyword, instead = KEYWORDS[kind]
        raise SpecError(
            f"{cls.__name__} stands in {keyword} and is none", place_of(cls), f"{instead} above the class"
        )
    return note


def remember(cls: type, offer: Offer) -> None:
    """Record the variants that a class offers."""
    cls.__antiphon_offer__ = offer  # type: ignore[attr-defined]


def offered(cls: type) -> Offer:
    """Return the variants that can be switched on for a class: those that its bases offer and its own."""
    offers = [
        vars(part)["__antiphon_offer__"]
        for part in reversed(cls.__mro__)
        if "__antiphon_offer__" in vars(part)
    ]
    return Offer(
        tuple(dict.fromkeys(item for part in offers for item in part.repairs)),
        tuple(dict.fromkeys(item for part in offers for item in part.readings)),
        tuple(dict.fromkeys(item for part in offers for item in part.restrictions)),
        tuple(dict.fromkeys(item for part in offers for item in part.mutations)),
    )


def active_variants(cls: type, constants: Mapping[str, int | bool | str]) -> tuple[type, ...]:
    """Return the variants that these constants switch on: readings, then repairs, mutations, restrictions.

    Raises:
        SpecError: a repair is on without one that it builds on.
    """
    offers = offered(cls)
    readings = [
        item.meanings[str(constants[item.name])]
        for item in offers.readings
        if constants[item.name] != item.printed
    ]
    repairs = [item for item in offers.repairs if constants[note_of(item, Repair).name]]
    for item in repairs:
        note = note_of(item, Repair)
        missing = [name for name in note.needed if not constants.get(name)]
        if missing:
            raise SpecError(
                f"the repair {note.name} of {cls.__name__} builds on {', '.join(missing)}",
                place_of(item),
                "that one switched on too",
            )
    restrictions = [item for item in offers.restrictions if constants[note_of(item, Restriction).name]]
    mutations = [item for item in offers.mutations if constants[note_of(item, Mutation).name]]
    return (*readings, *repairs, *mutations, *restrictions)


def stand_in(owner: type, name: str, function: Any) -> type:
    """Return a class that replaces `owner` wherever it is composed, with `function` as the text of the method
    `name`; `super()` in it has the meaning that it has in `owner`.

    The class is no variant by mark, but is composed like a planted fault.
    """
    body = {"__qualname__": owner.__qualname__, "__module__": NOWHERE}
    made = type(owner)(owner.__name__, (owner,), body)
    setattr(made, name, function)
    made.__antiphon_stands_for__ = owner  # type: ignore[attr-defined]
    return made


def stood_for(part: type) -> type:
    """Return the class whose text a part contains: for a stand-in, the class that it replaces."""
    found: type = vars(part).get("__antiphon_stands_for__", part)
    return found


def has_stand_in(cls: type) -> bool:
    """Return True if a class is composed with a stand-in."""
    return any(stood_for(part) is not part for part in cls.__mro__)


def with_stand_in(cls: type, variants: tuple[type, ...], stand_in: type) -> type:
    """Return the class with these variants, and with a stand-in directly above the class that it replaces;
    the order of all other classes stays.

    Raises:
        SpecError: no order of the classes does that.
    """
    owner, order = stood_for(stand_in), composed(cls, variants).__mro__
    under = tuple(item for item in variants if order.index(item) >= order.index(owner))
    made = composed(cls, (*under, stand_in, *(item for item in variants if item not in under)))
    if [item for item in made.__mro__[1:] if item is not stand_in] != list(order[1 if variants else 0 :]):
        raise SpecError(
            f"{stand_in.__name__} with another text moves other classes of {cls.__name__}",
            place_of(cls),
            "the text that stands there",
        )
    return made


def composed(cls: type, variants: tuple[type, ...]) -> type:
    """Return the class with these variants, the last on top, each above the classes that it changes and below
    all others; the class itself when there are none.

    Raises:
        SpecError: no order of the classes agrees with what each builds on.
    """
    return _compose(cls, variants) if variants else cls


@lru_cache(maxsize=1024)
def _compose(cls: type, variants: tuple[type, ...]) -> type:
    names = ("__antiphon_scope__", "__antiphon_globals__", "__antiphon_place__")
    above = [variant for variant in reversed(variants) if issubclass(variant, cls)]
    below = [variant for variant in reversed(variants) if not issubclass(variant, cls)]
    try:
        made = type(cls)(
            cls.__name__,
            (*above, *([] if above else [cls]), *below),
            {"__module__": cls.__module__, "__qualname__": cls.__qualname__},
        )
    except TypeError as error:
        text = ", ".join(variant.__name__ for variant in variants)
        raise SpecError(
            f"{cls.__name__} cannot be composed with {text}: {error}",
            place_of(cls),
            "variants of what it is made of",
        ) from error
    for name in names:
        setattr(made, name, vars(cls).get(name))
    made.__antiphon_variants__ = variants  # type: ignore[attr-defined]
    made.__doc__ = cls.__doc__
    return made


def replaces_silently(part: type, previous: type, function: Any, variants: Iterable[type]) -> bool:
    """Return True if a method of `part` overrides one of `previous` without `super()`, though one of them is
    an active variant and both should take effect.
    """
    chosen = set(variants)
    if part not in chosen and previous not in chosen:
        return False
    note = vars(part).get("__antiphon_variant__")
    if isinstance(note, Repair):
        settles = previous in (*note.builds_on, *note.supersedes) or "__antiphon_variant__" not in vars(
            previous
        )
    else:
        settles = isinstance(note, Mutation)
    return not (settles or calls_super(function))


def calls_super(function: Any) -> bool:
    """Return True if a method says `super()`."""
    return "__class__" in function.__code__.co_freevars


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
