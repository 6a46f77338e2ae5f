"""The machines of `spec.services` judge logs: each property has a log that breaks it alone, the verdict does
not depend on how concurrent events were merged, and an event costs no more in a long log.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judge.history.examples import BROKEN_WITH, EXAMPLES, FURTHER_EXAMPLES
from tests.services.promises import all_promises

from antiphon.conformance.judge.history import History, history, judge_by_machines, properties_of
from antiphon.conformance.judge.history.machines import Judgement, Names, assumed, judges
from antiphon.conformance.judge.trace.causal import Step, causal_order, causes_of, effect_of
from antiphon.spec.lang import Spec
from antiphon.spec.services.consensus import Consensus
from antiphon.spec.services.destinations import Destinations
from antiphon.spec.services.order import OrderOfPairs
from antiphon.spec.services.view_machine import ViewSynchronousFollower

WRITTEN = {
    name: history(text)
    for name, (*_, text, breaks) in sorted((EXAMPLES | FURTHER_EXAMPLES).items())
    if breaks - {"UniformGlobalOrder"} <= judges().keys()
}
"""The examples of what machines judge."""
OTHER_FORM = {"Integrity", "TotalOrder", "PrefixOrder"}
"""Properties that judge logs in the uniform form only; the machines know both forms."""


def broken(logs: History, names: set[str]) -> set[str]:
    return {finding.property for finding in judge_by_machines(logs, sorted(names)) if finding.offending}


@cache
def said_of(example: str) -> tuple[frozenset[str], frozenset[str]]:
    """Properties that machines judge on a written log, and those that they find broken."""
    promise = FURTHER_EXAMPLES[example][0] if example in FURTHER_EXAMPLES else ("total-order",)
    asked = set(properties_of(promise)) & set(judges()) | OTHER_FORM
    return frozenset(asked), frozenset(broken(WRITTEN[example], asked))


def test_every_property_of_every_service_judges_logs() -> None:
    """Exceptions: three readings of one sentence, a machine that stands beside another, one for proofs."""
    named = {
        ("Consensus." if cls is Consensus else "") + name
        for cls, name in all_promises()
        if cls not in (Destinations, OrderOfPairs) and not issubclass(cls, ViewSynchronousFollower)
    }
    assert named == set(judges())


def test_each_property_has_a_written_log_that_breaks_it_alone() -> None:
    """Beside it only what is broken whenever it is, if that is asked."""
    without = {
        name
        for name in judges()
        if not any(
            found - OTHER_FORM | {name} == {name} | BROKEN_WITH.get(name, frozenset()) & asked - OTHER_FORM
            and name in found
            for asked, found in map(said_of, WRITTEN)
            if name in asked
        )
    }
    assert len(judges()) > 50
    assert not without


@pytest.mark.parametrize("example", WRITTEN)
def test_the_machine_says_of_a_written_log_what_its_example_says(example: str) -> None:
    """A broadcast in another's name is no event of the machines, payloads are none, and circles none sees."""
    expected = FURTHER_EXAMPLES[example][2] if example in FURTHER_EXAMPLES else EXAMPLES[example][1]
    outside = {"broadcast by another too", "another payload"}
    seen = frozenset() if example in outside else expected - {"UniformGlobalOrder"}
    assert said_of(example)[1] - OTHER_FORM == seen


# Merged in any order ----------------------------------------------------------------------------------------


def merges(logs: History, assuming: frozenset[str], chance: random.Random) -> list[Step] | None:
    """The events in some order that respects causes; None where there is none."""
    queues = [list(log) for log in logs]
    causes = {name for p, log in enumerate(logs) for event in log for name in causes_of(p, event)}
    known = set[object]()
    order = list[Step]()
    while any(queues):
        ready = [p for p, queue in enumerate(queues) if queue and is_free(queue[0], causes, known, assuming)]
        if not ready:
            return None
        p = chance.choice(ready)
        order.append(Step(p, len(order), queues[p].pop(0)))
        known |= set(causes_of(p, order[-1].event))
    return order


def is_free(event: object, causes: set[object], known: set[object], assuming: frozenset[str]) -> bool:
    """True if the event's cause has happened, never does, or is not asked for."""
    effect = effect_of(event)  # type: ignore[arg-type]
    is_asked = effect is not None and (effect[0] in ("datagram", "message") or effect[0] in assuming)
    return not is_asked or effect not in causes or effect in known


def words(p: int) -> list[str]:
    """Words that process p may log, of which a random history is made."""
    other = (p + 1) % 3
    return [
        f"+{p}:1", f"+{p}:2", "0:1#1", "0:2#2", "1:1#3", "2:1#2", "[2=012]", "[2=01]", "[3=012]", "[012]",
        "[01]", f"[{p}]", "*0:1", "*1:1", "1?x", "1?y", "1!x", "1!y", f"-{other}", f"={other}", "-",
        f"{p}:7>{other}", f"<{other}:7",
    ]  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> str:
    """Three processes that log anything, and may crash."""
    logs = []
    for p in range(3):
        log = draw(st.lists(st.sampled_from(words(p)), max_size=9))
        logs.append(f"{p}: {' '.join(log)}" + (" !" if draw(st.booleans()) else ""))
    return " | ".join(logs)


def judgement(logs: History, service: type[Spec], steps: Sequence[Step]) -> Judgement:
    run = Names(logs)
    return Judgement(run, service, run.told(steps))


SERVICES = sorted(set(judges().values()), key=lambda cls: cls.__name__)


@given(histories(), st.sampled_from(SERVICES), st.randoms(use_true_random=False))
def test_the_verdict_does_not_depend_on_how_concurrent_events_were_merged(
    text: str, service: type[Spec], chance: random.Random
) -> None:
    """The same is asked where a view was installed with different members."""
    logs = history(text)
    found = list[set[str]]()
    for _ in range(2):
        steps = merges(logs, assumed(service), chance)
        if steps is not None:
            said = judgement(logs, service, steps).findings().values()
            found.append({finding.property for finding in said if finding.offending})
    if found:
        assert found[0] == found[-1]


# A view of several lists ------------------------------------------------------------------------------------

TWO_LISTS = {
    "InitialView": ("0: +a [1=01] | 1: [1=012]", "0: [1=01] +a | 1: [1=012]"),
    "SelfInclusion": ("0: [2=01] | 1: [2=0]", "0: [2=01] | 1: [2=012]"),
    "LocalMonotonicity": ("0: [2=01] [2=01] | 1: [2=012]", "0: [2=01] | 1: [2=012]"),
    "PrimaryPartition": ("0: [2=01] | 1: [2=012] | 2: [3=2]", "0: [2=01] [3=0] | 1: [2=012] | 2: -1"),
    "SendingViewDelivery": ("0: +a [2=01] a | 1: [2=012]", "0: [2=01] +a a | 1: [2=012] a"),
    "SameViewDelivery": ("0: +a [2=01] a | 1: a [2=012]", "0: +a [2=01] a | 1: [2=012] a"),
    "ViewSynchrony": ("0: +a a [2=01] | 1: [2=012]", "0: +a a [2=01] | 1: a [2=012] | 2: -1"),
    "VscValidity": ("0: [2=01] +a | 1: [2=012]", "0: [2=01] +a a | 1: [2=012]"),
    "VscTermination": ("0: [2=01] +a a | 1: [2=012] | 2: -1", "0: [2=01] +a a | 1: [2=012] a | 2: -1"),
    "UniformDelivery": ("0: [2=01] +a a | 1: [2=012] | 2: -1", "0: [2=01] +a a | 1: [2=012] a | 2: -1"),
    "TransitionalSet": ("0: [01] [2=01] [012] | 1: [01] [2=012]", "0: [01] [2=01] | 1: [01] [2=012] [012]"),
    "FailureAtomicity": (
        "0: [01] [2=01] +a a [01] | 1: [01] [2=012] [01]", "0: [01] [2=01] +a a [01] | 1: [01] [2=012] a [01]"
    ),
    "SafeDelivery": ("0: [2=01] +a a | 1: [2=012] | 2: -1", "0: [2=01] +a a | 1: [2=012] a | 2: -1"),
    "AgreementOnSuccessors": (
        "0: [1=01] [2=01] | 1: [1=01] [2=012] [4=012] | 2: [3=2] [4=012]",
        "0: [1=01] [2=01] [4=012] | 1: [1=01] [2=012] | 2: [3=2] [4=012]",
    ),
    "IndicatedIsDelivered": ("0: [2=01] +a *a a | 1: [2=012] a", "0: [2=01] +a a *a | 1: [2=012] a"),
    "SafeIndication": ("0: [2=01] +a a *a | 1: [2=012] | 2: -1", "0: [2=01] +a a *a | 1: [2=012] a | 2: -1"),
    "SafeIndicationPrefix": (
        "0: [2=01] +a a +0:2 0:2 *0:2 | 1: [2=012] 0:2 | 2: -1",
        "0: [2=01] +a a +0:2 0:2 *0:2 | 1: [2=012] a 0:2 | 2: -1",
    ),
    "SafeIndicationLiveness": (
        "0: [2=01] +a a *a | 1: [2=012] a | 2: -1", "0: [2=01] +a a *a | 1: [2=012] a *a | 2: -1"
    ),
    "MembershipPrecision": ("0: [2=01] | 1: [2=012] [3=1] | 2: -1", "0: [2=01] | 1: [2=012] | 2: [3=2]"),
    "MulticastLiveness": ("0: [2=01] +a a | 1: [2=012] | 2: -1", "0: [2=01] +a a | 1: [2=012] a | 2: -1"),
    "TerminationOfDelivery": ("0: [2=01] +a a | 1: [2=012] !", "0: [2=01] +a a | 1: [2=012] a ! | 2: -1"),
}  # fmt: skip
"""Log that breaks each property of views, and log that keeps it; in both a view has two lists."""


@pytest.mark.parametrize("name", TWO_LISTS)
def test_a_view_with_two_lists_owes_something_to_those_that_stand_in_both(name: str) -> None:
    """Process 2, which lives and stands in one list only, is owed nothing and owes nothing there."""
    broken_log, kept_log = TWO_LISTS[name]
    both = {name, "ViewAgreement"}
    assert broken(history(broken_log), both) == both
    assert broken(history(kept_log), both) == {"ViewAgreement"}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", TWO_LISTS)
def test_of_a_view_with_two_lists_all_merges_say_the_same(name: str) -> None:
    for log in TWO_LISTS[name]:
        logs = history(log)
        for seed in range(12):
            steps = merges(logs, frozenset(), random.Random(seed))
            assert steps is not None
            for property in (name, "ViewAgreement"):
                said = judgement(logs, judges()[property], steps).findings()[property]
                assert bool(said.offending) == (log == TWO_LISTS[name][0] or property == "ViewAgreement")


def test_every_property_that_asks_who_is_in_a_view_has_such_logs() -> None:
    """The others look at the numbers of views only."""
    of_views = set(properties_of(("virtual-synchrony", "safe-delivery", "stable-views", "safe-indications")))
    of_views |= set(properties_of(("extended-virtual-synchrony", "safe-delivery", "agreement-on-successors")))
    of_all = set(properties_of(("weak-total-order",))) | {"ViewAgreement"}
    assert of_views - of_all == set(TWO_LISTS)


def test_what_no_order_can_mend_is_broken_in_all() -> None:
    """Each suspects the other and tells it so before it crashes: one of them was wrong."""
    logs = history("0: -1 a>1 <b ! | 1: -0 b>0 <a !")
    assert broken(logs, {"StrongAccuracy"}) == {"StrongAccuracy"}
    assert broken(history("0: -1 ! | 1: -0 !"), {"StrongAccuracy"}) == {"StrongAccuracy"}
    assert broken(history("0: -1 ! | 1: !"), {"StrongAccuracy"}) == set()
    assert causal_order(logs, ["crash"]).contradictions == ()
    logs = history("0: <b ! | 1: -0 b>0")
    assert broken(logs, {"StrongAccuracy"}) == {"StrongAccuracy"}
    assert causal_order(logs, ["crash"]).contradictions == ()


def test_a_process_that_wrote_nothing_owes_nothing() -> None:
    """Nor does one that is only spoken of."""
    owed = {"Agreement", "MembershipPrecision", "MulticastLiveness"}
    assert broken(history("1: +b b"), owed) == set()
    assert broken(history("0: [2=05] +a a"), owed) == set()
    assert broken(history("0: [2=01] +a a | 1:"), owed) == owed
    assert broken(history("0: +a a [2=05] | 1: a"), {"VscTermination"}) == set()


@pytest.mark.parametrize("log", ["0: +a +0:2 a 0:2 | 1: 0:2 a !", "0: +a +0:2 a 0:2 ! | 1: 0:2 a"])
def test_plain_order_is_promised_to_those_that_never_crash(log: str) -> None:
    """Whichever of the two is read first."""
    plain = {"TotalOrder", "PrefixOrder"}
    assert broken(history(log), plain) == set()
    assert broken(history(log.replace("!", "")), plain) == plain


def test_who_stays_elsewhere_owes_a_view_nothing() -> None:
    """Both members have left the view in which a was sent; process 2 was never in it."""
    assert broken(history("0: [2=01] +a a [3=01] | 1: [2=01] [3=01] | 2: a>0"), {"VscTermination"}) == set()
    assert broken(history("0: [2=01] +a a | 1: [2=01] | 2: a>0"), {"VscTermination"}) == {"VscTermination"}


# However long -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", SERVICES)
def test_an_event_costs_a_machine_no_more_in_a_long_log(service: type[Spec]) -> None:
    """Four times as many events execute four times as many lines of the machine."""

    def log(rounds: int) -> History:
        logs: list[list[str]] = [[], []]
        for k in range(1, rounds + 1):
            logs[k % 2].append(f"+{k % 2}:{k}")
            for p in range(2):
                logs[p] += [f"{k % 2}:{k}#{k}", f"*{k % 2}:{k}", f"-{1 - p}", f"={1 - p}", "-"]
                logs[p] += ["[01]", f"[{k // 5 + 1}=01]"] if k % 5 == 0 else []
        return history(" | ".join(f"{p}: 1?x 1!x {' '.join(log)}" for p, log in enumerate(logs)))

    short, long = log(5), log(20)
    events = [sum(map(len, logs)) for logs in (short, long)]
    assert lines_of(service, long) / events[1] <= 1.05 * lines_of(service, short) / events[0]


def lines_of(service: type[Spec], logs: History) -> int:
    """Number of lines that a machine executes to judge a run, its end included."""
    steps = causal_order(logs).steps
    return counted(lambda: judgement(logs, service, steps).findings())


def counted(run: Callable[[], object]) -> int:
    count = 0

    def trace(frame: object, kind: str, argument: object) -> object:
        nonlocal count
        count += kind == "line"
        return trace

    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        run()
    finally:
        sys.settrace(None)
    return count
