"""View synchrony is judged event by event: each property has a history that breaks it alone, and the verdict
is the definition's, however concurrent events were merged.

The notation of histories is told in `conftest.py`.
"""

from __future__ import annotations

import itertools
import random
import sys
from collections.abc import Callable, Sequence

import pytest

from antiphon.spec.lang import Set, program
from antiphon.spec.services import Broadcast, Deliver, Install, Message, Process, ViewSynchrony

Judge = Callable[..., dict[str, object]]

ALL_IN_2 = "i0:2=012 i1:2=012 i2:2=012"


@pytest.mark.parametrize(
    "history",
    [
        "",
        "b0:0 d0:0 d1:0 d2:0",
        f"b0:0 d0:0 d1:0 d2:0 {ALL_IN_2} b1:1 d1:1 d0:1 d2:1",
        "b0:0 d0:0 d1:0 x2 i0:2=01 i1:2=01",
        "b0:0 d0:0 x0 i1:2=12 i2:2=12",
        "b2:0 d2:0 x2 i0:2=01 b0:1 d0:1 i1:2=01 d1:1",
        "i0:2=012 i1:3=012 i2:3=012 i0:3=012",
    ],
)
def test_a_good_history_breaks_nothing(judge: Judge, history: str) -> None:
    assert judge(ViewSynchrony, history) == {}


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("i0:2=01 i1:2=012 i2:2=012", {"ViewAgreement"}),
        ("i0:2=12 i1:2=12 i2:2=12", {"SelfInclusion"}),
        (f"{ALL_IN_2} i0:3=012 i0:2=012 i1:3=012 i2:3=012", {"LocalMonotonicity"}),
        ("b0:0 d0:0 d1:0 i0:2=012 i1:2=012 i2:2=012", {"ViewSynchrony"}),
        (f"b0:0 d0:0 {ALL_IN_2} d1:0 d2:0", {"ViewSynchrony", "SendingViewDelivery", "SameViewDelivery"}),
        (f"b0:0 {ALL_IN_2} d0:0 d1:0 d2:0", {"SendingViewDelivery"}),
        ("b0:0 d0:0 i1:2=12 d1:0 i2:2=12", {"SendingViewDelivery", "SameViewDelivery", "VscTermination"}),
        ("b0:0 d0:0 x0 i1:2=12 d1:0 i2:2=12 d2:0", {"SendingViewDelivery", "SameViewDelivery"}),
        ("b0:0 d0:0 d0:0 d1:0 d2:0", {"UniformIntegrity", "Integrity"}),
        ("b0:0 b0:0 d0:0 d1:0 d2:0", {"BroadcastOnce"}),
        (f"b0:0 {ALL_IN_2}", {"VscValidity"}),
        ("b0:0 d0:0", {"VscTermination"}),
        ("b0:0 d0:0 d1:0 x2", {"VscTermination"}),
    ],
)
def test_each_property_is_broken_by_its_history(judge: Judge, history: str, broken: set[str]) -> None:
    assert set(judge(ViewSynchrony, history)) == broken


def test_who_is_in_no_view_says_nothing(judge: Judge) -> None:
    assert set(judge(ViewSynchrony, "b2:0", joiners=1)) == {"InitialView", "VscValidity"}
    assert judge(ViewSynchrony, "i0:2=012 i1:2=012 i2:2=012 b2:0 d0:0 d1:0 d2:0", joiners=1) == {}


def test_the_first_view_has_the_founders(judge: Judge) -> None:
    assert set(judge(ViewSynchrony, "i2:1=012", joiners=1)) == {"ViewAgreement"}
    assert judge(ViewSynchrony, "i0:1=012 i1:1=012 i2:1=012", joiners=3) == {}


def test_a_joiner_owes_nothing_of_the_views_before(judge: Judge) -> None:
    assert judge(ViewSynchrony, "b0:0 d0:0 d1:0 i0:2=012 i1:2=012 i2:2=012", joiners=1) == {}


def test_the_clash_is_what_the_other_did(judge: Judge) -> None:
    agreement = judge(ViewSynchrony, "i0:2=01 i1:2=012")["ViewAgreement"]
    assert agreement == Install(Process(0), 2, Set((Process(0), Process(1))))
    assert judge(ViewSynchrony, "b0:0 d0:0 i0:2=012 i1:2=012")["ViewSynchrony"] == Deliver(
        Process(0), Message(0)
    )
    assert judge(ViewSynchrony, "b0:0 d0:0 i1:2=012 d1:0")["SameViewDelivery"] == Deliver(
        Process(0), Message(0)
    )
    assert judge(ViewSynchrony, "b0:0 i1:2=012 d1:0")["SendingViewDelivery"] == Broadcast(
        Process(0), Message(0)
    )


# The definitions, quantifiers and all -----------------------------------------------------------------------

Run = Sequence[Sequence[str]]
"""Words of the events of each process, in its own order."""


def views_of(words: Sequence[str]) -> list[tuple[int, str]]:
    """The view in which each event happens; an install that does not lead upwards leads nowhere."""
    view, found = 1, []
    for word in words:
        found.append((view, word))
        if word[0] == "i":
            view = max(view, int(word.partition(":")[2].partition("=")[0]))
    return found


def firsts(words: Sequence[str], kind: str) -> dict[str, int]:
    """The view of the first broadcast or delivery of each message."""
    found: dict[str, int] = {}
    for view, word in views_of(words):
        if word[0] == kind:
            found.setdefault(word.partition(":")[2], view)
    return found


def installs(words: Sequence[str]) -> dict[int, tuple[int, str]]:
    """View before and members, for each view that was entered."""
    found: dict[int, tuple[int, str]] = {}
    for before, word in views_of(words):
        if word[0] == "i":
            view, _, members = word.partition(":")[2].partition("=")
            if int(view) > before:
                found[int(view)] = (before, members)
    return found


DEFINED = ("ViewAgreement", "SelfInclusion", "ViewSynchrony", "SendingViewDelivery", "SameViewDelivery")


def by_definition(run: Run) -> set[str]:
    delivered = [firsts(words, "d") for words in run]
    sent = {m: v for words in run for m, v in firsts(words, "b").items()}
    gone = [installs(words) for words in run]
    told = [
        (p, *word.partition(":")[2].split("="))
        for p, words in enumerate(run)
        for word in words
        if "=" in word
    ]
    lists = {(v, members) for _, v, members in told}
    pairs = list(itertools.permutations(range(len(run)), 2))
    broken = {
        "ViewAgreement": len({v for v, _ in lists}) < len(lists),
        "SelfInclusion": any(str(p) not in members for p, _, members in told),
        "SendingViewDelivery": any(sent[m] != v for of_p in delivered for m, v in of_p.items()),
        "SameViewDelivery": any(
            delivered[p][m] != delivered[q][m]
            for p, q in pairs
            for m in set(delivered[p]) & set(delivered[q])
        ),
        "ViewSynchrony": any(
            gone[q].get(v, (0, ""))[0] == before
            and delivered[p][m] == before
            and delivered[q].get(m) != before
            for p, q in pairs
            for v, (before, _) in gone[p].items()
            for m in delivered[p]
        ),
    }
    return {name for name, is_broken in broken.items() if is_broken}


def random_run(chance: random.Random) -> Run:
    """Three processes that mostly do the same."""
    views = [f"{v}={'012' if chance.random() < 0.9 else '01'}" for v in (2, 3) if chance.random() < 0.8]
    script = [f"d{{p}}:{m}" for m in range(3)] + [f"i{{p}}:{view}" for view in views]
    chance.shuffle(script)
    runs = []
    for p in range(3):
        words = [word.format(p=p) for word in script if chance.random() < 0.95]
        if chance.random() < 0.3 and len(words) > 1:
            k = chance.randrange(len(words) - 1)
            words[k], words[k + 1] = words[k + 1], words[k]
        if chance.random() < 0.1:
            words = [word.replace("012", "02") for word in words]
        runs.append(words)
    for m in range(3):
        runs[0].insert(chance.choice([0, 0, 0, len(runs[0])]), f"b0:{m}")
    return runs


def merged(run: Run, chance: random.Random) -> list[str]:
    """One order of all events in which each process keeps its own and broadcasts come before deliveries."""
    queues, order, out = [list(words) for words in run], [], set[str]()
    while any(queues):
        ready = [
            queue for queue in queues if queue and (queue[0][0] != "d" or queue[0].partition(":")[2] in out)
        ]
        if not ready:
            return []
        word = chance.choice(ready).pop(0)
        out |= {word.partition(":")[2]} if word[0] == "b" else set()
        order.append(word)
    return order


@pytest.mark.deep
def test_the_verdict_is_the_definition_s_whatever_the_merge(judge: Judge) -> None:
    chance = random.Random(5)
    seen: dict[frozenset[str], int] = {}
    for _ in range(300):
        run = random_run(chance)
        for _merge in range(3):
            order = merged(run, chance)
            if order:
                found = set(judge(ViewSynchrony, " ".join(order), messages=3)) & set(DEFINED)
                assert found == by_definition(run), order
                seen[frozenset(found)] = seen.get(frozenset(found), 0) + 1
    assert {name for names in seen for name in names} == set(DEFINED)
    assert seen[frozenset()] > 50


@pytest.mark.deep
def test_an_event_costs_no_more_in_a_long_log(read_event: Callable[[str], object]) -> None:
    """The last events of 2,000 messages execute as many lines of the service as the first."""
    messages, block = 2000, 500
    bound = program(ViewSynchrony, processes=2, messages=messages, views=messages // block + 1)
    judge = bound.reference.session()
    counted: list[int] = []

    def lines(words: list[str]) -> int:
        count = 0

        def trace(frame: object, kind: str, argument: object) -> object:
            nonlocal count
            count += kind == "line"
            return trace

        events = [read_event(word) for word in words]
        sys.settrace(trace)  # type: ignore[arg-type]
        try:
            for event in events:
                assert judge.feed(event) == ()
        finally:
            sys.settrace(None)
        return count

    for k, begin in enumerate(range(0, messages, block)):
        told = [word for m in range(begin, begin + block) for word in (f"b0:{m}", f"d0:{m}", f"d1:{m}")]
        told += [f"i{p}:{k + 2}=01" for p in range(2)]
        if k in (0, messages // block - 1):
            counted.append(lines(told))
        else:
            for word in told:
                judge.feed(read_event(word))
    assert counted[1] <= 1.02 * counted[0], counted
