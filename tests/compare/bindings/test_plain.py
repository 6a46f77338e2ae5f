"""A class with the actions' names and `state()` is a binding, and whatever it does wrong is told of it."""

from __future__ import annotations

import gc
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Annotated, Any

import pytest

import antiphon
from antiphon.conformance.compare.bindings import BindingError, bound_protocol
from antiphon.conformance.compare.bindings.plain_values import Strange, meant, plain
from antiphon.conformance.compare.lockstep import UNSTEADY
from antiphon.model.verdict import Outcome
from antiphon.spec.lang import (
    AtMost,
    Between,
    Const,
    In,
    Index,
    Map,
    Seq,
    Set,
    Spec,
    SpecError,
    action,
    emit,
    everywhere,
    program,
    record,
    require,
)
from antiphon.spec.lang.errors import ArgumentError
from antiphon.testing import Refused, binding


class Client(Index, size="clients"):
    """A client that wants the lock."""


@record
class Ask:
    """A request on its way."""

    client: Client


@record
class Got:
    """A client has the lock."""

    client: Client


class Lock(Spec):
    """A server gives one lock to clients, in the order in which it hears of them, each once."""

    clients: Const[int] = 3
    air: Set[Ask] = Set()
    queue: Annotated[Seq[Client], AtMost("clients")] = ()
    asked: Map[Client, bool] = everywhere(False)
    holder: Client | None = None
    served: Annotated[int, Between(0, "clients")] = 0

    @action
    def ask(self, c: Client) -> None:
        """Ask for the lock, once."""
        require(not self.asked[c])
        self.asked[c] = True
        self.air |= {Ask(c)}

    @action
    def hear(self, packet: Annotated[Ask, In("air")]) -> None:
        """Queue the request behind the others."""
        self.air -= {packet}
        self.queue += (packet.client,)

    @action
    def grant(self) -> None:
        """To the first, when nobody has it."""
        require(self.holder is None and len(self.queue) > 0)
        first = self.queue[0]
        self.holder = first
        self.queue = self.queue[1:]
        self.served += 1
        emit(Got(first))

    @action
    def free(self) -> None:
        """Give the lock back."""
        require(self.holder is not None)
        self.holder = None


@binding(Lock, clients=2)
class Right:
    """Correct implementation in plain Python; it keeps no snapshots."""

    def __init__(self, clients: int) -> None:
        self.air, self.queue, self.asked = list[Ask](), list[int](), [False] * clients
        self.holder: int | None = None
        self.served = 0

    def ask(self, c: int) -> None:
        self.asked[c] = True
        self.air.append(Ask(c))

    def hear(self, packet: Any) -> None:
        self.air.remove(packet)
        self.queue.append(packet.client)

    def grant(self) -> object:
        self.holder = self.queue.pop(0)
        self.served += 1
        return Got(self.holder)

    def free(self) -> None:
        self.holder = None

    def state(self) -> dict[str, object]:
        return dict(vars(self))


class Kept(Right):
    """The same with snapshots."""

    def snapshot(self) -> object:
        return tuple(self.air), tuple(self.queue), tuple(self.asked), self.holder, self.served

    def restore(self, kept: Any) -> None:
        air, queue, asked, self.holder, self.served = kept
        self.air, self.queue, self.asked = list(air), list(queue), list(asked)


class WithOffers(Kept):
    """The lock is granted by itself."""

    def offers(self) -> object:
        return ["grant"] if self.queue and self.holder is None else []


@pytest.mark.parametrize("cls", [Right, Kept])
def test_a_right_one_agrees_in_every_transition(cls: type) -> None:
    report = antiphon.lockstep(cls)
    machine = antiphon.check(program(Lock, clients=2), properties=[])
    assert report.outcome is Outcome.HOLDS
    assert (report.states, report.transitions) == (
        machine.exploration.states,
        machine.exploration.transitions,
    )
    # the order of what is in the air tells states of the code apart, if it is looked at
    assert (report.pairs == report.states) is (cls is Right)
    assert report.one_way is (cls is Right)
    assert ("no snapshot" in str(report)) is (cls is Right)
    assert set(report.fired) == {"ask", "hear", "grant", "free"}
    assert antiphon.stateful(cls, runs=4).outcome is Outcome.HOLDS


def test_constants_of_the_declaration_and_of_the_caller() -> None:
    """A larger model is asked for by a constant, which `__init__` is given; the others stay as declared."""
    name = f"{__file__}:Kept"
    assert bound_protocol.__wrapped__(name).bind().program.constants == {"clients": 2}
    for named in (name, Kept):
        assert antiphon.binding(named, clients=3).program.constants == {"clients": 3}
    larger = antiphon.lockstep(antiphon.binding(Right, clients=3))
    assert larger.outcome is Outcome.HOLDS
    assert larger.program.constants == {"clients": 3}
    with pytest.raises(ArgumentError, match="no planted fault 'deaf'"):
        antiphon.binding(Right, fault="deaf")


def test_offers_are_compared() -> None:
    declare = binding(Lock, clients=2, internal=["grant"])
    assert antiphon.lockstep(declare(WithOffers)).outcome is Outcome.HOLDS

    class Hasty(WithOffers):
        def offers(self) -> object:
            return [("grant",)] if self.queue else []

    difference = antiphon.lockstep(declare(Hasty)).difference
    assert difference is not None
    assert "only one side" in difference.what
    assert difference.specification == "none"

    for told in ("free", ("grant", 1)):

        class Vague(WithOffers):
            def offers(self, told: object = told) -> object:
                return [told]

        named = re.escape(f"Vague.offers() names {told!r}")
        with pytest.raises(BindingError, match=f"{named}.* of grant"):
            antiphon.lockstep(declare(Vague))


def changed(base: type, **methods: Callable[..., Any]) -> type:
    """A subclass with these methods in the place of the others."""
    return type("Changed", (base,), methods)


def lies(self: Any) -> dict[str, object]:
    """The number that were served is one too high from the first on."""
    return {**vars(self), "served": self.served + (self.served > 0)}


def late(self: Any) -> None:
    """To the last, not to the first."""
    self.holder = self.queue.pop()
    self.served += 1
    return Got(self.holder)


def raises(self: Any) -> None:
    """Raise an error, as databases do."""
    self.holder = None
    raise RuntimeError("the database is locked")


def raises_in_a_thread(self: Any) -> None:
    """Raise where only Python's own hook hears it, and go on."""
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    self.holder = None


def ends(self: Any) -> None:
    """Exit, as scripts do."""
    sys.exit(0)


def runs_on(self: Any) -> None:
    """For ever, and deaf to exceptions."""
    while True:
        try:
            time.sleep(5)
        except Exception:  # noqa: BLE001 - what code that hangs does
            continue


def waits(self: Any, *_: object) -> None:
    """Sleep for a minute; unlike `runs_on` it sets no handler."""
    time.sleep(60)


def refuses(self: Any) -> None:
    """Raise where the lock is given back."""
    raise Refused("nobody has it")


def strange(self: Any) -> dict[str, object]:
    """Return a state with a holder that no client has as its name."""
    return {**vars(self), "holder": "nobody" if self.holder == 1 else self.holder}


def silent(self: Any) -> None:
    """The event is forgotten."""
    Right.grant(self)


def wrong_event(self: Any) -> object:
    """Grant the lock, and report another event."""
    Right.grant(self)
    return [Ask(self.holder)]


FREE = ("ask", "hear", "grant", "free")
WRONG: dict[str, tuple[dict[str, Callable[..., Any]], tuple[str, ...], str, str]] = {
    "lies": ({"state": lies}, FREE[:3], "variable served", "2"),
    "late": ({"grant": late}, ("ask", "ask", "hear", "hear", "grant"), "events", ""),
    "raises": ({"free": raises}, FREE, "the implementation raises", "RuntimeError: the database is locked"),
    "raises in a thread": (
        {"free": raises_in_a_thread}, FREE, "the implementation raises", "in a thread, ZeroDivisionError",
    ),
    "ends": ({"free": ends}, FREE, "the implementation raises", "it ends the process: sys.exit(0)"),
    "runs on": ({"free": runs_on}, FREE, "the implementation does not return", "free() runs for 0.1 s"),
    "waits": ({"free": waits}, FREE, "the implementation does not return", "free() runs for 0.1 s"),
    "refuses": ({"free": refuses}, FREE, "the implementation refuses the step", "nobody has it"),
    "strange": ({"state": strange}, FREE[:3], "variable holder", "'nobody'"),
    "silent": ({"grant": silent}, FREE[:3], "events", "()"),
    "wrong event": ({"grant": wrong_event}, FREE[:3], "events", "Ask"),
}
"""Fault of a class, the actions of the shortest run to it, the difference, and the message."""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the alarm rings again then
@pytest.mark.parametrize("base", [Right, Kept])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_with_the_shortest_steps(name: str, base: type) -> None:
    methods, actions, what, told = WRONG[name]
    cls = binding(Lock, clients=2, call_seconds=0.1)(changed(base, **methods))
    began = time.monotonic()
    report = antiphon.lockstep(cls)
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert tuple(step.action for step in report.difference.trace.steps) == actions
    assert report.difference.what == what
    assert told in str(report.difference)
    assert time.monotonic() - began < 30
    at_random = antiphon.stateful(cls, runs=30, seed=1)
    assert at_random.difference is not None
    assert len(at_random.difference.trace) == len(actions)


def test_the_place_of_a_call_that_does_not_return_is_told() -> None:
    cls = binding(Lock, clients=2, call_seconds=0.1)(changed(Right, free=waits))
    difference = antiphon.lockstep(cls).difference
    assert difference is not None
    assert f"test_plain.py:{waits.__code__.co_firstlineno + 2}" in str(difference.implementation)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_rings_while_garbage_is_collected_rings_again() -> None:
    """The interpreter prints and loses what a function of `gc.callbacks` raises, or one that a weak reference
    calls.
    """

    def slow(phase: str, info: dict[str, int]) -> None:
        del info
        if phase == "stop":
            time.sleep(0.3)

    def collects(self: Any) -> None:
        del self
        gc.callbacks.append(slow)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(slow)
        time.sleep(60)

    cls = binding(Lock, clients=2, call_seconds=0.1)(changed(Right, free=collects))
    difference = antiphon.lockstep(cls).difference
    assert difference is not None
    assert difference.what == "the implementation does not return"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_a_finalizer_loses_rings_again() -> None:
    class Slow:
        def __del__(self) -> None:
            time.sleep(0.3)

    def waits_twice(self: Any) -> None:
        del self
        slow = Slow()
        del slow
        time.sleep(60)

    cls = binding(Lock, clients=2, call_seconds=0.1)(changed(Right, free=waits_twice))
    difference = antiphon.lockstep(cls).difference
    assert difference is not None
    assert difference.what == "the implementation does not return"


@pytest.mark.parametrize("name", ["__init__", "state"])
def test_what_is_wrong_at_the_start_is_found_there(name: str) -> None:
    def breaks(self: Any, *_: object) -> None:
        raise OSError("no disk")

    for method, what in (
        (breaks, "the implementation raises"),
        (waits, "the implementation does not return"),
    ):
        cls = binding(Lock, clients=2, call_seconds=0.1)(changed(Right, **{name: method}))
        difference = antiphon.lockstep(cls).difference
        assert difference is not None
        assert (difference.what, len(difference.trace)) == (what, 0)


def test_whoever_set_an_alarm_before_has_it_afterwards() -> None:
    import signal

    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 50.0)
        antiphon.lockstep(Right)
        assert 10.0 < signal.getitimer(signal.ITIMER_REAL)[0] < 50.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_snapshot_without_a_hash_is_told_of_the_implementation() -> None:
    cls = changed(Kept, snapshot=lambda self: (self.air, self.holder))
    difference = antiphon.lockstep(cls).difference
    assert difference is not None
    assert difference.what == "snapshot() gives what has no hash"
    assert not difference.trace.steps

    def only_then(self: Any) -> object:
        return [] if self.holder is not None else Kept.snapshot(self)

    difference = antiphon.lockstep(changed(Kept, snapshot=only_then)).difference
    assert difference is not None
    assert difference.what == "snapshot() gives what has no hash"
    assert len(difference.trace) == 3


def test_a_restore_that_forgets_is_told_with_the_variable() -> None:
    def forgets(self: Any, kept: Any) -> None:
        served = self.served
        Kept.restore(self, kept)
        self.served = served

    difference = antiphon.lockstep(changed(Kept, restore=forgets)).difference
    assert difference is not None
    assert difference.what == "restore() does not bring back served"
    assert (difference.specification, difference.implementation) == (0, 1)


def test_a_snapshot_that_misses_what_matters_is_not_deterministic() -> None:
    """A counter beside the state that `snapshot` knows nothing of."""

    def counts(self: Any) -> object:
        self.__class__.times = getattr(self.__class__, "times", 0) + 1
        found = Right.grant(self)
        self.served += self.__class__.times % 7 == 0
        return found

    difference = antiphon.lockstep(changed(Kept, grant=counts)).difference
    assert difference is not None
    assert UNSTEADY in difference.what


@pytest.mark.parametrize("base", [Right, Kept])
def test_chance_is_told_as_chance_or_comes_again(base: type) -> None:
    """Out of the system's generator, which nobody sets."""
    source = random.SystemRandom()

    def sometimes(self: Any, c: int) -> None:
        Right.ask(self, c)
        self.asked[c] = source.random() < 0.5

    report = antiphon.lockstep(changed(base, ask=sometimes))
    assert report.outcome is Outcome.VIOLATED
    assert report.difference is not None
    assert UNSTEADY in report.difference.what or report.difference.what == "variable asked"


def test_an_exempt_variable_may_tell_states_apart_that_look_alike() -> None:
    """Without snapshots each state of the specification has a way of its own."""

    def all_but_one(self: Any) -> dict[str, object]:
        return {key: value for key, value in vars(self).items() if key != "served"}

    exempt = {"served": "counted for the books only"}
    cls = binding(Lock, clients=2, exempt=exempt)(changed(Right, state=all_but_one))
    report = antiphon.lockstep(cls)
    assert report.outcome is Outcome.HOLDS
    assert report.exempt == exempt


def test_exempt_events_are_not_compared() -> None:
    exempt = {"events": "the implementation tells nobody anything"}
    for base, grant in ((Right, silent), (Kept, wrong_event)):
        cls = binding(Lock, clients=2, exempt=exempt)(changed(base, grant=grant))
        assert antiphon.lockstep(cls).outcome is Outcome.HOLDS
        assert antiphon.stateful(cls, runs=4).outcome is Outcome.HOLDS


@pytest.mark.parametrize("cls", [Right, Kept])
def test_transitions_are_executed_once_more(cls: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antiphon.conformance.compare.lockstep.walk.AGAIN", 1)
    report = antiphon.lockstep(cls)
    assert report.outcome is Outcome.HOLDS
    assert report.repeated > 15


def test_nobody_waits_twice_for_what_does_not_return() -> None:
    calls = []

    def counted(self: Any) -> None:
        calls.append(1)
        time.sleep(60)

    cls = binding(Lock, clients=2, call_seconds=0.1)(changed(Right, free=counted))
    difference = antiphon.lockstep(cls).difference
    assert difference is not None
    assert "not return" in difference.what
    assert len(calls) == 1


@pytest.mark.parametrize("last", [0, 1])
def test_two_states_with_one_snapshot_are_two(last: int) -> None:
    """The number of clients served follows from the snapshot, and is wrong after one of two ways to it."""

    def snapshot(self: Any) -> object:
        return Kept.snapshot(self)[:4]  # type: ignore[index]

    def restore(self: Any, kept: Any) -> None:
        Kept.restore(self, (*kept, sum(kept[2]) - len(kept[0]) - len(kept[1])))

    def free(self: Any) -> None:
        self.served -= self.served == 2 and self.holder == last
        self.holder = None

    right, wrong = changed(Kept, snapshot=snapshot, restore=restore), {"free": free}
    assert antiphon.lockstep(right).outcome is Outcome.HOLDS
    difference = antiphon.lockstep(changed(right, **wrong), sample=0).difference
    assert difference is not None
    assert difference.what == "variable served"
    assert len(difference.trace) == 8


async def awaits(self: Any) -> None:
    """Await: no step of a binding may."""


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no method": (lambda: type("Bare", (), {"state": lies}), r"Bare has no method for the action ask\("),
    "misspelt": (lambda: type("Bare", (), {"state": lies, "asks": late}), "did you mean"),
    "no state": (lambda: changed(Right, state=None), r"no state\(\)"),
    "half a snapshot": (lambda: changed(Right, snapshot=late), "needs both, or neither"),
    "a coroutine": (lambda: changed(Right, free=awaits), "free is a coroutine"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_binding_says_why(name: str) -> None:
    make, told = REFUSED[name]
    with pytest.raises(BindingError, match=told):
        binding(Lock)(make())


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"exempt": {"serves": "for the books only"}}, "'serves', which Lock does not have; did you mean"),
        ({"exempt": {"served": "why not"}}, "in four words or more"),
        ({"internal": ["grants"]}, "which is no action"),
        ({"internal": ["grant"]}, r"offers\(\) belong together"),
    ],
)
def test_what_is_said_of_a_binding_must_mean_something(said: dict[str, Any], told: str) -> None:
    with pytest.raises(BindingError, match=told):
        binding(Lock, **said)(Right)


def test_arguments_of_the_declaration() -> None:
    with pytest.raises(ArgumentError, match="call_seconds=0"):
        binding(Lock, call_seconds=0)
    with pytest.raises(SpecError, match="no constant 'client'"):
        binding(Lock, client=2)
    with pytest.raises(ArgumentError, match=r"Lock is no binding: write @antiphon\.testing"):
        antiphon.lockstep(Lock)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (lambda self: [], "not a dict of variables"),
        (lambda self: {}, "says nothing of air, queue, asked, holder, served"),
        (lambda self: {**vars(self), "hold": 1}, "'hold', which Lock does not have"),
    ],
)
def test_a_state_that_is_none_is_wrong_usage(state: Callable[[Any], object], told: str) -> None:
    with pytest.raises(BindingError, match=told):
        antiphon.lockstep(changed(Right, state=state))


@pytest.mark.parametrize(
    ("state", "told"),
    [
        (lambda self: None if self.served else vars(self), "gives None, not a dict of variables"),
        (lambda self: {} if self.served else vars(self), "says nothing of air"),
        (lambda self: vars(self) | ({"hold": 1} if self.served else {}), "'hold', which Lock does not"),
    ],
)
def test_a_state_that_is_none_in_one_place_is_a_finding(state: Callable[[Any], object], told: str) -> None:
    """The shortest way to it is that in which the client is first served."""
    difference = antiphon.lockstep(changed(Right, state=state)).difference
    assert difference is not None
    assert difference.what == "state() is wrong"
    assert told in str(difference.implementation)
    whole = antiphon.lockstep(changed(Right, state=lambda self: {**vars(self), "served": 0})).difference
    assert whole is not None
    assert len(difference.trace) == len(whole.trace) > 1


def test_a_state_that_is_none_once_is_a_finding_that_does_not_come_each_time() -> None:
    @binding(Lock, clients=2)
    class Once(Right):
        """Gives no state in the third call of all."""

        calls = 0

        def state(self) -> object:
            """Return the variables, but once."""
            Once.calls += 1
            return None if Once.calls == 3 else vars(self)

    difference = antiphon.lockstep(Once).difference
    assert difference is not None
    assert "the implementation is not deterministic" in difference.what
    assert len(difference.trace) == 1


def test_an_action_that_returns_a_coroutine_is_a_finding() -> None:
    difference = antiphon.lockstep(changed(Right, free=lambda self: awaits(self))).difference
    assert difference is not None
    assert (difference.what, "is a coroutine" in str(difference.implementation)) == ("free is wrong", True)


def test_an_action_may_not_be_called_as_a_method_that_is_needed() -> None:
    class Odd(Spec):
        """Specification with an action that is called `state`."""

        done: bool = False

        @action
        def state(self) -> None:
            """Set `done`."""
            self.done = True

    with pytest.raises(BindingError, match="an action 'state'"):
        binding(Odd)(Right)


# Values -----------------------------------------------------------------------------------------------------

MEANT = {
    "air": [([{"client": 1}], frozenset({Ask(Client(1))})), ({Ask(0)}, frozenset({Ask(Client(0))}))],
    "queue": [([1, 0], (Client(1), Client(0))), ((), ())],
    "asked": [([True, False], (True, False)), ({1: False, 0: True}, (True, False))],
    "holder": [(None, None), (1, Client(1)), (Client(0), Client(0))],
    "served": [(2, 2)],
}
NOT_MEANT = {
    "air": [None, 3, "ask", [{"who": 1}], [Got(0)], {"client": 1}, [Ask(7)]],
    "queue": [[0, 1, 0], "01", [2], 0],
    "asked": [[True], {0: True}, {0: True, 1: False, 2: True}, [0, 1], True],
    "holder": [2, -1, True, "0", 0.0],
    "served": [True, 3, "1", 1.0, None],
}


@pytest.mark.parametrize("variable", MEANT)
def test_which_value_is_meant(variable: str) -> None:
    domain = program(Lock, clients=2).domains[variable]
    for given, value in MEANT[variable]:
        assert meant(domain, given) == value
    for given in NOT_MEANT[variable]:
        found = meant(domain, given)
        assert isinstance(found, Strange), given
        assert str(found) == repr(given)
    for value in domain:
        assert meant(domain, plain(value)) == (value.freeze() if isinstance(value, Map) else value)
