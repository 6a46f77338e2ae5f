"""Mistakes in the layers of a list's stack and in its core: each a class, a method and what stands there."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from antiphon.impl.protocols.flush import Report
from antiphon.impl.protocols.horus.layers.frag import Frag, Fragment
from antiphon.impl.protocols.horus.layers.layer import Cast, Receive, popped, pushed
from antiphon.impl.protocols.horus.layers.nak import Nak
from antiphon.impl.protocols.horus.layers.on_request import _DECODER as TOTAL
from antiphon.impl.protocols.horus.layers.on_request import OnRequest, Turn, Want
from antiphon.impl.protocols.horus.layers.stability import _DECODER as MBRSHIP
from antiphon.impl.protocols.horus.layers.stability import Passing, Stability
from antiphon.impl.protocols.horus.layers.total import Total
from antiphon.impl.protocols.horus.listed import GIVER, Given, ListedCore
from antiphon.impl.protocols.listeners import Listeners, Stable

__all__ = ["FAULTS"]


def some_have_it(self: Stability, source: int) -> int:
    """Call stable what the own majority has."""
    counts = sorted(counts[source] for counts in self._received)
    return counts[len(counts) // 2]


def anybody_has_it(self: Stability, source: int) -> int:
    """Call stable what one member has."""
    return max(counts[source] for counts in self._received)


def tokens_count(self: Stability, call: Receive) -> None:
    """Count the token among the messages that last."""
    header = popped(MBRSHIP, call.body)
    if isinstance(header, Passing):
        self._received[self.me][call.origin] += 1
    _stability_up(self, call)


def hearsay(self: Stability) -> tuple[int, ...]:
    """Say to have what anybody has."""
    self._told = list(self._received[self.me])
    return tuple(map(max, *self._received))


def never_said(self: Stability) -> None:
    """Say nothing of what has come, unless something is cast."""
    del self


def wrong_sender(self: Stability, call: Receive) -> None:
    """Note what one member has under the next one."""
    header = popped(MBRSHIP, call.body)
    assert header is not None
    there = (call.origin + 1) % self.members
    self._received[there] = list(map(max, self._received[there], header.received))
    _stability_up(self, call)


def own_left_out(self: ListedCore) -> Report:
    """Report no own message that waits for the token."""
    if self.external:
        return _report(self)
    waiting, self._total._waiting = self._total._waiting, type(self._total._waiting)()
    report = _report(self)
    self._total._waiting = waiting
    return report


def early_left_out(self: ListedCore) -> Report:
    """Report nothing behind a missing number."""
    if self.external:
        return _report(self)
    numbered, self._total._numbered = self._total._numbered, {}
    report = _report(self)
    self._total._numbered = numbered
    return report


def unstable_left_out(self: ListedCore) -> Report:
    """Report only what has no number."""
    report = _report(self)
    first = {item.identifier for item in report.numbered}
    bodies = tuple(body for body in report.bodies if body.identifier not in first)
    return replace(report, numbered=(), bodies=bodies)


def at_once(self: ListedCore, call: Receive) -> None:
    """Deliver what is ordered, whoever has it."""
    _deliver(self, call)
    self._settle_one()


def gaps_passed_over(self: Nak, origin: int) -> None:
    """Pass up what has come, with or without what is missing before it."""
    for place in sorted(self._early[origin]):
        body = self._early[origin].pop(place)
        self._expected[origin] = place + 1
        self.above(Receive(origin, body))


def forgets_too_early(self: Nak) -> None:
    """Forget a cast when one member has it."""
    anywhere = max(self._acknowledged[process] for process in self.others)
    while self._oldest <= anywhere:
        self._buffer.popleft()
        self._oldest += 1


def parts_alone(self: Frag, origin: int, fragment: Fragment) -> None:
    """Take every fragment for the last one."""
    _gather(self, origin, Fragment(True, fragment.part))


def parts_reversed(self: Frag, origin: int, fragment: Fragment) -> None:
    """Put the fragments together from behind."""
    parts = (*self._gathered[origin], fragment.part)
    self._gathered[origin] = () if fragment.last else parts
    if fragment.last:
        self.above(Receive(origin, b"".join(reversed(parts))))


def parts_of_anybody(self: Frag, origin: int, fragment: Fragment) -> None:
    """Put the fragments of all sources together."""
    self._gathered[origin] = self._gathered[(origin + 1) % self.members]
    _gather(self, origin, fragment)


def _passing(self: OnRequest, *, keeps: bool, number: int, answers: bool = True) -> None:
    ranks = (range(self.me + 1, self.members), range(self.me))
    waiting = (one for rank in ranks for one in rank if self._asked[one] > self._answered[one])
    following = next(waiting, None)
    if self._token and following is not None:
        turn = Turn(following, self._token + number, tuple(self._answered if answers else [0] * self.members))
        self._token = self._token if keeps else 0
        self.below(Cast(pushed(turn), lasting=False))


def token_kept(self: OnRequest) -> None:
    """Pass the token on, and keep it."""
    _passing(self, keeps=True, number=0)


def token_behind(self: OnRequest) -> None:
    """Pass the token on with a number that was given."""
    _passing(self, keeps=False, number=-1 if self._token > 1 else 0)


def token_ahead(self: OnRequest) -> None:
    """Pass the token on with a number left out."""
    _passing(self, keeps=False, number=1)


def answers_forgotten(self: OnRequest) -> None:
    """Pass the token on without saying which questions are answered."""
    _passing(self, keeps=False, number=0, answers=False)


def question_forgotten(self: OnRequest, call: Receive) -> None:
    """Answer a question at once, or never."""
    body, asked = popped(TOTAL, call.body), self._asked[call.origin]
    _total_up(self, call)
    if isinstance(body, Want) and not self._token:
        self._asked[call.origin] = asked


def as_it_comes(self: Total) -> None:
    """Hand up what has come, in the order in which it comes."""
    for number in list(self._numbered):
        source, body = self._numbered.pop(number)
        self._next_number = max(self._next_number, number + 1)
        self.above(Receive(source, body))


def external_takes_anything(self: ListedCore, given: Given) -> None:
    """Deliver at an external member what comes, in or out of its turn."""
    if given.number > self._history.last:
        self._history.add(given.identifier, given.payload)
        self._settle_one()


def external_asks_once(self: ListedCore, now: float) -> None:
    """Ask once, at the beginning."""
    super(ListedCore, self).tick(now)
    self._again.due(now)
    if self.external:
        self._again.stop(*self._again._intervals_ms)


def external_trusts(self: ListedCore) -> Any:
    """Give an external member what is ordered, before all have it."""
    if self.me == GIVER and not self.external:
        for process in range(self._core, self.members):
            for number in range(self._history.stable + 1, self._history.last + 1):
                first = self._history._fresh[number]
                self._say(process, Stable(number))
                self._say(process, Given(*first))
    return _outputs(self)


def asks_answered_from_the_end(self: Listeners, process: int, number: int) -> bool:
    """Go on behind what the external member was sent, whatever it has got."""
    return self.has(process, number - 1)


_stability_up, _report, _deliver = Stability.up, ListedCore.report, ListedCore._deliver
_gather, _total_up, _outputs = Frag._gather, OnRequest.up, ListedCore.outputs

FAULTS: list[tuple[type, str, Any]] = [
    (Stability, "stable", some_have_it),
    (Stability, "stable", anybody_has_it),
    (Stability, "up", tokens_count),
    (Stability, "_tell", hearsay),
    (Stability, "tell", never_said),
    (Stability, "up", wrong_sender),
    (ListedCore, "report", own_left_out),
    (ListedCore, "report", early_left_out),
    (ListedCore, "report", unstable_left_out),
    (ListedCore, "_deliver", at_once),
    (Nak, "_pass_up", gaps_passed_over),
    (Nak, "_release", forgets_too_early),
    (Frag, "_gather", parts_alone),
    (Frag, "_gather", parts_reversed),
    (Frag, "_gather", parts_of_anybody),
    (OnRequest, "_pass_on", token_kept),
    (OnRequest, "_pass_on", token_behind),
    (OnRequest, "_pass_on", token_ahead),
    (OnRequest, "_pass_on", answers_forgotten),
    (OnRequest, "up", question_forgotten),
    (Total, "_deliver_numbered", as_it_comes),
    (ListedCore, "_take", external_takes_anything),
    (ListedCore, "tick", external_asks_once),
    (ListedCore, "outputs", external_trusts),
    (Listeners, "asks", asks_answered_from_the_end),
]
