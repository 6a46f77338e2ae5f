"""A verdict rests on something: what nothing in the logs is about is unknown, and so is what they cannot
show.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from tests.judge.history.known import ALWAYS, PROMISES

from antiphon.conformance.judge.history import RunFindings, history, judge_history, judge_run, properties_of
from antiphon.conformance.judge.history.counting import judged_in
from antiphon.conformance.judge.trace import Broadcast, End, Event, Recover, Run
from antiphon.model.verdict import Outcome

ORDERS = {"UniformTotalOrder", "UniformGlobalOrder", "UniformPrefixOrder"}
VIEWS = ("virtual-synchrony", "total-order")


def judged(text: str | Sequence[Sequence[Event]], *promise: str) -> RunFindings:
    logs = history(text) if isinstance(text, str) else text
    return RunFindings(judge_history(logs, promise or ("total-order",)))


def outcome(text: str | Sequence[Sequence[Event]], *promise: str) -> Outcome:
    return Outcome.worst(judged(text, *promise).outcomes.values())


@pytest.mark.parametrize("word", PROMISES)
def test_a_promise_of_which_the_logs_hold_nothing_is_unknown(word: str) -> None:
    """Examples: consensus in logs in which nobody proposes or decides, and views where none is installed."""
    promise = [word, "virtual-synchrony"] if word == "safe-delivery" else [word]
    nothing = RunFindings(judge_history(history("0: ?1 | 1:"), promise))
    assert {name for name in nothing.outcomes if name not in ALWAYS} == set(properties_of(promise)) - ALWAYS
    assert {outcome for name, outcome in nothing.outcomes.items() if name not in ALWAYS} == {"unknown"}
    assert all(nothing.sentence(each) for each in nothing.findings if not each.judged)


@pytest.mark.parametrize("word", [word for word in PROMISES if word not in ("total-order", "safe-delivery")])
def test_a_run_of_broadcasts_alone_does_not_keep_other_promises(word: str) -> None:
    """The run has two messages that two processes deliver, without views, decisions, suspicions or crashes.
    """
    found = outcome("0: +a a b | 1: +b a b", word)
    about = {"no-duplication", "reliable-broadcast", "uniform-total-order", "prefix-order"}
    owed = {"safe-indications": "violated"}  # that nothing is told to be safe breaks its liveness
    assert found == ("holds" if word in about else owed.get(word, "unknown"))


@pytest.mark.parametrize(
    ("text", "promise", "unjudged"),
    [
        ("0: +a a | 1: a", (), {"UniformTotalOrder", "UniformGlobalOrder"}),
        ("0: +a +0:2 a 0:2 | 1: !", (), ORDERS),
        (
            "0: +a +0:2 a 0:2",
            (),
            {*ORDERS, "UniformAgreement", "Agreement"},
        ),
        ("0: +a a b | 1: +b a b", (), set()),
        ("0: [1=01] +a a +0:2 0:2 | 1: [1=01] a 0:2", VIEWS, {"PrimaryPartition", "ViewSynchrony"}),
        ("0: [1=01] +a a [2=01] +0:2 0:2 | 1: [1=01] a [2=01] 0:2", VIEWS, set()),
        ("0: +a a | 1: +b a b", ("fifo-order",), {"Fifo"}),
        ("0: 1?x 1!x | 1:", ("consensus",), {"Consensus.UniformAgreement", "Consensus.Agreement"}),
        ("0: 1?x 1!x | 1: 1!x", ("consensus",), set()),
        ("0: -1 =1 | 1:", ("eventually-perfect-detector",), {"StrongCompleteness"}),
    ],
)
def test_what_nothing_could_break_was_not_judged(
    text: str, promise: Sequence[str], unjudged: set[str]
) -> None:
    """One deliverer, one message, one process, no second view, messages of different sources: each is a run
    that keeps its promise however the order is made.
    """
    found = judged(text, *promise)
    assert {name for name, outcome in found.outcomes.items() if outcome == "unknown"} == unjudged
    told = [found.sentence(each) for each in found.findings if not each.judged]
    assert all(reason.startswith("nothing to judge: ") for reason in told)


def test_a_verdict_says_how_much_was_judged() -> None:
    found = judged("0: +a a b | 1: +b a b")
    assert {each.property: each.judged for each in found.findings} == {
        "BroadcastOnce": 2, "Validity": 2, "UniformIntegrity": 4, "UniformAgreement": 2, "Agreement": 2,
        "UniformTotalOrder": 4, "UniformPrefixOrder": 4, "UniformGlobalOrder": 4, "UniformNumbering": 4,
        "Causality": 8, "NoViolation": 8,
    }  # fmt: skip


def test_every_property_is_counted() -> None:
    names = {name for word in PROMISES if word != "safe-delivery" for name in properties_of([word])}
    names |= {*properties_of(["virtual-synchrony", "safe-delivery"])}
    names |= {*properties_of(["extended-virtual-synchrony", "safe-delivery"])}
    assert judged_in((), names).keys() == names


# Which promise to ask ---------------------------------------------------------------------------------------

JOINER = "0: [1=01] +a a [2=012] +0:2 0:2 | 1: [1=01] a [2=012] 0:2 | 2: [2=012] 0:2"


def test_a_run_with_views_is_not_violated_by_the_promise_of_a_fixed_group_but_told_what_to_ask() -> None:
    """A later member lacks the earlier messages."""
    found = judged(JOINER)
    assert "violated" not in found.outcomes.values()
    (agreement,) = [each for each in found.findings if each.property == "Agreement"]
    assert found.outcome(agreement) == "unknown"
    assert "--promise virtual-synchrony --promise total-order" in found.sentence(agreement)
    assert outcome(JOINER, *VIEWS) == "holds"
    run = Run(directory=None, header=None, logs=(), faults=())  # type: ignore[arg-type]
    assert judge_run(run).hints == ()


def test_views_of_all_processes_change_nothing() -> None:
    missed = judged("0: [1=01] +a a | 1: [1=01]").outcomes
    assert missed["Agreement"] == "violated"


@pytest.mark.parametrize("number", [0, 1, 2, 7])
def test_the_first_view_may_have_any_number(number: int) -> None:
    """A process begins at the first view that it installs, and a later joiner owes nothing of that view."""
    text = JOINER.replace("[2=", "[next=").replace("[1=", f"[{number}=").replace("next", str(number + 1))
    assert outcome(text, *VIEWS) == "holds"
    assert judged(text.replace("a [", "[", 1), *VIEWS).outcomes["VscValidity"] == "violated"


def test_members_leave_and_join() -> None:
    left = "0: [3=012] +a a [4=01] +0:2 0:2 | 1: [3=012] a [4=01] 0:2 | 2: [3=012] a"
    assert outcome(left, *VIEWS) == "holds"


# Deliveries alone -------------------------------------------------------------------------------------------


def test_logs_of_deliveries_alone_are_asked_for_what_needs_no_broadcast() -> None:
    alone = "0: a b c | 1: a b c | 2: a b"
    assert judged(alone).outcomes["UniformIntegrity"] == "unknown"
    assert outcome("0: a b c | 1: a b c") == "unknown"
    for word in ("prefix-order", "uniform-total-order", "no-duplication"):
        assert outcome(alone, word) == "holds"
    assert outcome("0: a b c | 1: b c", "uniform-total-order") == "holds"
    assert outcome("0: a b c | 1: b c", "prefix-order") == "violated"
    assert outcome("0: a b a | 1: a b", "no-duplication") == "violated"


def test_of_a_swap_the_odd_one_out_is_named_once() -> None:
    found = judged("0: a b c | 1: a b c | 2: b a c", "prefix-order")
    told = {each.property: str(each) for each in found.findings if each.offending}
    assert told.pop("UniformTotalOrder").endswith(
        "; process 2 delivers 1:1 before 0:1, processes 0, 1 deliver 0:1 before 1:1"
    )
    assert set(told.values()) == {"broken with UniformTotalOrder"}
    assert len(told) == 3


# Incarnations -----------------------------------------------------------------------------------------------


def returned(first: str, then: str) -> tuple[Event, ...]:
    """The log of process 1 that crashes after some words and returns."""
    before, after = (history(f"0: | 1: {text}")[1][:-1] for text in (f"{first} !", then))
    events = [*before, Recover(0), *after, End(0)]
    return tuple(_at(event, i) for i, event in enumerate(events))


def _at(event: Event, i: int) -> Event:
    return type(event)(*(i if name == "i" else getattr(event, name) for name in event.__struct_fields__))


def test_a_process_that_returns_is_judged_as_another_one() -> None:
    """A second delivery after its return is no duplication, and the promise holds; if it misses earlier
    messages the verdict is unknown.
    """
    whole = history("0: +a +0:2 a 0:2")[0]
    assert outcome([whole, returned("a", "a 0:2")]) == "holds"
    missed = judged([whole, returned("a", "0:2#2")])
    assert "violated" not in missed.outcomes.values()
    assert missed.outcomes["Agreement"] == missed.outcomes["UniformPrefixOrder"] == "unknown"


def test_what_an_incarnation_breaks_by_itself_is_violated_at_its_place() -> None:
    whole = history("0: +a +0:2 a 0:2")[0]
    swapped = judged([whole, returned("a", "0:2 a")])
    assert swapped.outcomes["UniformTotalOrder"] == "violated"
    (found,) = [each for each in swapped.findings if each.property == "UniformTotalOrder"]
    assert {place.process for place in (found.first, found.second) if place} == {0, 1}
    twice = judged([whole, returned("a", "a a 0:2")])
    (found,) = [each for each in twice.findings if each.property == "UniformIntegrity"]
    assert (twice.outcome(found), found.first and found.first.index) == ("violated", 4)


def test_a_message_of_a_later_incarnation_is_its_own() -> None:
    whole = history("0: +a a b")[0]
    found = judged([whole, returned("a", "+b a b")])
    assert {name for name, out in found.outcomes.items() if out != "holds"} <= {"Agreement"}
    assert found.outcomes["Validity"] == "holds"
    assert found.outcomes["UniformIntegrity"] == "holds"


def test_of_views_nothing_is_said_where_a_process_returned() -> None:
    logs = [history("0: [1=01] +a a [2=01] +0:2 0:2")[0], returned("[1=01] a", "[2=01] 0:2")]
    found = judged(logs, *VIEWS).outcomes
    assert {found[name] for name in ("VscTermination", "ViewSynchrony", "SelfInclusion")} == {"unknown"}


# Messages for some ------------------------------------------------------------------------------------------


def multicast(text: str, *destinations: int) -> list[tuple[Event, ...]]:
    """A history in which message a is for these processes."""
    return [
        tuple(
            Broadcast(event.i, event.m, event.digest, destinations)
            if isinstance(event, Broadcast) and event.m == "0:1"
            else event
            for event in log
        )
        for log in history(text)
    ]


def test_a_message_for_some_is_owed_to_those_alone() -> None:
    text = "0: +a +0:2 a 0:2 | 1: a 0:2 | 2: 0:2"
    found = judged(multicast(text, 0, 1))
    assert {name for name, out in found.outcomes.items() if out != "holds"} == {"UniformPrefixOrder"}
    assert found.outcomes["UniformPrefixOrder"] == "unknown"
    assert judged(multicast(text, 0, 1, 2)).outcomes["Agreement"] == "violated"
    to_another = judged(multicast("0: +a +0:2 a 0:2 | 1: a 0:2 | 2: a 0:2", 0, 1))
    assert to_another.outcomes["UniformIntegrity"] == "violated"
    assert judged(multicast("0: +a +0:2 0:2 | 1: 0:2", 1)).outcomes["Validity"] == "violated"


# Runs that are right ----------------------------------------------------------------------------------------


@pytest.mark.sampled(7)
@pytest.mark.parametrize("promise", [("total-order", "causal-order"), ("prefix-order",), ("consensus",)])
@pytest.mark.parametrize("seed", range(60))
def test_no_run_is_accused_in_which_processes_return_or_messages_are_for_some(
    seed: int, promise: tuple[str, ...]
) -> None:
    """Processes deliver one sequence, as far as it is for them; who returns takes it up from the beginning,
    or from where the others are.
    """
    chance = random.Random(seed)
    multicast, logs = chance.random() < 0.5, [list[str]() for _ in range(3)]
    order: list[tuple[str, set[int]]] = []
    came: list[list[str]] = [[], [], []]
    for k in range(1, 13):
        source, to = chance.randrange(3), set(range(3))
        if multicast and chance.random() < 0.5:
            to = {source, chance.randrange(3)}
        told = f"@{''.join(map(str, sorted(to)))}" if to != {0, 1, 2} else ""
        logs[source].append(f"+{source}:{k}{told}")
        order.append((f"{source}:{k}#{k}", to))
        for p in to:
            logs[p].append(f"{source}:{k}#{k}")
            came[p].append(f"{source}:{k}#{k}")
        if chance.random() < 0.2:
            p = chance.randrange(3)
            logs[p] += ["!", "^", *chance.choice([came[p], []])]
    found = judged(" | ".join(f"{p}: {' '.join(log)}" for p, log in enumerate(logs)), *promise)
    assert "violated" not in found.outcomes.values(), str(found)
    assert found.outcomes["NoViolation"] == "holds"
