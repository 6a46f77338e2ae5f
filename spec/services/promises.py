"""Properties that services judge, as data: the sentence, the reason and the promise of each.

A service judges events. The module of a service ends with a table of its properties. The judge of logs takes
from these tables its words for promises and its reasons; so do the tables of the manual. To add a property,
write it into the text of its service and into the table below that text.

Example: `Fifo` of `causal` is promised by the words `fifo-order`, `causal-order` and two more. A log that
breaks it is reported with the reason "delivered after a message that its source broadcast later".

This module knows no property and no file format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from antiphon.spec.lang import Spec
from antiphon.spec.lang.machine import Refusal

__all__ = ["About", "Promises", "Property"]

About = Literal[
    "alarms", "broadcasts", "broadcasts and deliveries", "broadcasts by their sources", "caused deliveries",
    "crashes to suspect", "datagrams", "decisions", "deliveries", "deliveries in rows",
    "deliveries of one source", "deliveries owed", "deliveries shared", "events", "handovers",
    "places compared", "proposals", "proposals and decisions", "safe indications", "several deliveries",
    "several transitions", "shared decisions", "suspicions", "transitions", "views installed",
    "views installed by several", "views installed from one view", "views installed from others",
    "views later than the first",
]  # fmt: skip
"""Events, or pairs of a message and a process, that a property can be about. The judge of logs counts
them.
"""


@dataclass(frozen=True, eq=False)
class Property:
    """A judged property.

    A field that is left out has the careful default: the judge then says `unknown` where it cannot be sure.

    Attributes:
        name: the name in reports. The service uses the same name, without the prefix of its `Promises`.
        says: the property in one clause, for the manual.
        about: the events that could break it. A log without any leaves the property unknown.
        nothing: the reason that is reported then.
        promised: the words that promise it. A property without a word is judged only where somebody names it.
        by: who promises it, for the manual.
        reason: the reason for a violation, or a function that chooses it. A property of the end of a run that
            has none is reported with the first sentence of its docstring.
        always: it is judged whatever is promised, if the logs hold anything that it is about.
        safe: the words promise it only together with `safe-delivery`.
        unseen: it rests on an event that a log may leave out, such as a crash. While the run goes on, no
            violation of it is final: the event may still come. The same is true of every obligation.
        fixed_group: it is said of a group whose members stay the same.
        incarnations: the verdict where a process crashed and returned. "each": each incarnation keeps or
            breaks it alone. "kept": it is kept if the incarnations, taken as processes, do not break it;
            nothing is said otherwise. "unknown": nothing is said.
        for_some: it is said of messages for some processes too, or owes them to these processes alone.
        of_delivery: a delivery promises it. A missing delivery is then reported beside the first delivery,
            and not beside the broadcast.
        implies: properties that are broken whenever it is. They are reported as `broken with` it.
    """

    name: str
    says: str
    about: About
    nothing: str = "no event that it is about"
    promised: tuple[str, ...] = ()
    by: str = ""
    reason: str | Callable[[Refusal], str] = ""
    always: bool = False
    safe: bool = False
    unseen: bool = False
    fixed_group: bool = False
    incarnations: Literal["unknown", "kept", "each"] = "unknown"
    for_some: bool = False
    of_delivery: bool = False
    implies: tuple[str, ...] = ()

    @property
    def is_reported(self) -> bool:
        """Return True if some promise asks for the property, or if it is always judged."""
        return self.always or bool(self.promised)


@dataclass(frozen=True, eq=False)
class Promises:
    """Properties in the order of report, the words that promise them, and the service that judges them.

    Attributes:
        properties: the properties.
        words: the words of this table that no earlier table has.
        service: the machine that judges the properties; None where a function of the judge of logs does.
        prefix: a prefix of the names in reports, where another service uses the same names.
        assuming: "crash" or "proposal": that event is put before those that refer to it, where logs allow it.
    """

    properties: tuple[Property, ...]
    words: tuple[str, ...] = ()
    service: type[Spec] | None = None
    prefix: str = ""
    assuming: Literal["", "crash", "proposal"] = ""

    def is_of_end(self, prop: Property) -> bool:
        """Return True if the property is an obligation or an invariant, judged at the end of a run."""
        return hasattr(self.service, prop.name.removeprefix(self.prefix))
