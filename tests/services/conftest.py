"""Histories in a line, for judges that are machines: "b0:0 d0:0 t0=01 i0:2=01 x2".

Process 0 broadcasts message 0, delivers it, enters the transitional configuration of 0 and 1, installs view 2
with them; process 2 crashes. "s0:0": process 0 is told that message 0 is safe; "n0:0=1": it delivers it under
number 1.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.spec.lang import Set, Spec, program
from antiphon.spec.services import Broadcast, Crash, Deliver, Install, Message, Process, Transition
from antiphon.spec.services.order import Numbered
from antiphon.spec.services.survey import Indicate

Judge = Callable[..., dict[str, object]]
"""Function from a service, a history and the sizes other than 3 processes, 2 messages, 3 views and no
joiners, to the first clash of each broken property, and False for each open obligation.
"""


def event_of(word: str) -> object:
    process, _, rest = word[1:].partition("=" if word[0] == "t" else ":")
    p = Process(int(process))
    match word[0]:
        case "x":
            return Crash(p)
        case "b":
            return Broadcast(p, Message(int(rest)))
        case "d":
            return Deliver(p, Message(int(rest)))
        case "t":
            return Transition(p, members_of(rest))
        case "s":
            return Indicate(p, Message(int(rest)))
        case "n":
            message, _, number = rest.partition("=")
            return Numbered(p, Message(int(message)), int(number))
        case _:
            view, _, members = rest.partition("=")
            return Install(p, int(view), members_of(members))


def members_of(text: str) -> Set[Process]:
    return Set(Process(int(q)) for q in text)


@pytest.fixture(scope="session")
def judge() -> Judge:
    def judged(service: type[Spec], history: str, **sizes: int) -> dict[str, object]:
        known = {constant.name for constant in program(service).declaration.constants}
        usual = {"processes": 3, "messages": 2, "views": 3, "joiners": 0}
        bound = program(service, **{k: n for k, n in usual.items() if k in known} | sizes)
        session = bound.reference.session()
        broken: dict[str, object] = {}
        for word in history.split():
            for refusal in session.feed(event_of(word)):
                broken.setdefault(refusal.property, refusal.clash)
        obligations = [m.mark.name for m in bound.declaration.marked("obligation") if m.mark]
        return broken | {name: False for name in obligations if not session.holds(name)}

    return judged


@pytest.fixture(scope="session")
def read_event() -> Callable[[str], object]:
    return event_of
