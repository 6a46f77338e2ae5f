"""Report section 2.1: Validity, Uniform Agreement, Integrity and Total Order; and prefix order."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.conformance.history import (
    PREFIX_ORDER,
    PROPERTIES,
    UNIFORM_AGREEMENT,
    UNIFORM_INTEGRITY,
    UNIFORM_TOTAL_ORDER,
    VALIDITY,
    Place,
    history,
    judge_history,
    total_order,
)
from antiphon.conformance.history.finding import NEVER_BROADCAST, OTHER_PAYLOAD, TWICE, Finding
from antiphon.model.verdict import Outcome

HEALTHY = "0: +a a b c | 1: +b a b c | 2: +c a b c"

OFFENCES = {
    "0: +a a a | 1: a": {UNIFORM_INTEGRITY: (1, (0, 2, "0:1"), (0, 1, "0:1"))},
    "0: +a a b | 1: a b": {UNIFORM_INTEGRITY: (2, (0, 2, "1:1"), None)},
    "0: a | 1: +a a": {UNIFORM_INTEGRITY: (2, (0, 0, "0:1"), None)},
    "0: +a a | 1: a=x": {UNIFORM_INTEGRITY: (1, (1, 0, "0:1"), (0, 0, "0:1"))},
    "0: +a +0:2 a 0:2 | 1: a": {UNIFORM_AGREEMENT: (1, (0, 3, "0:2"), (1, None, "0:2"))},
    "0: +a a ! | 1: +b b | 2: b": {
        UNIFORM_AGREEMENT: (2, (0, 1, "0:1"), (1, None, "0:1")),
        PREFIX_ORDER: None,
    },
    "0: +a +0:2 a | 1: a": {VALIDITY: (1, (0, 1, "0:2"), None)},
    "0: +a +0:2 a 0:2 | 1: 0:2 a": {
        UNIFORM_TOTAL_ORDER: (2, (0, 2, "0:1"), (1, 0, "0:2")),
        PREFIX_ORDER: (2, (0, 2, "0:1"), (1, 0, "0:2")),
    },
    "0: +a +0:2 a 0:2 | 1: 0:2 !": {PREFIX_ORDER: (1, (0, 2, "0:1"), (1, 0, "0:2"))},
}


def _place(place: Place | None) -> tuple[int, int | None, str] | None:
    return place and (place.process, place.index, place.message)


def test_a_healthy_history_offends_nothing() -> None:
    assert judge_history(history(HEALTHY)) == tuple(map(Finding, PROPERTIES))


@pytest.mark.parametrize("text", OFFENCES)
def test_each_offence_is_found_and_shown_by_its_two_events(text: str) -> None:
    findings = {f.property: f for f in judge_history(history(text))}
    expected = OFFENCES[text]
    for name, finding in findings.items():
        if name not in expected:
            assert finding == Finding(name), f"{name} should hold"
        elif (told := expected[name]) is None:
            assert finding.offending > 0
        else:
            assert (finding.offending, _place(finding.first), _place(finding.second)) == told


def test_a_delivery_offends_integrity_for_one_reason_only() -> None:
    findings = [judge_history(history(text))[0] for text in ("0: z=x z=y", "0: z=x", "0: +a a=x")]
    assert [f.reason for f in findings] == [NEVER_BROADCAST, NEVER_BROADCAST, OTHER_PAYLOAD]
    assert findings[0].offending == 2
    assert judge_history(history("0: +a a a=x"))[0].reason == TWICE


def test_gaps_offend_prefix_order_but_not_pairwise_order() -> None:
    findings = {
        f.property: f.offending for f in judge_history(history("0: +a b a c | 1: +b b c | 2: +c a c"))
    }
    assert findings[UNIFORM_TOTAL_ORDER] == 0
    assert findings[PREFIX_ORDER] > 0


def test_a_process_that_crashed_owes_nothing() -> None:
    findings = judge_history(history("0: +a a b | 1: +b +1:2 b !| 2: a b"))
    assert [f.property for f in findings if f.offending] == [PREFIX_ORDER]


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), min_size=2, max_size=4))
def test_ranks_of_common_messages_agree_exactly_when_all_pairs_of_messages_do(
    sequences: list[list[str]],
) -> None:
    """The definition is quantified over pairs of messages; the check never forms one."""
    clashes = any(
        (p.index(m) < p.index(o)) != (q.index(m) < q.index(o))
        for p, q in combinations(sequences, 2)
        for m, o in combinations(set(p) & set(q), 2)
    )
    text = " | ".join(f"{k}: {' '.join(sequence)}" for k, sequence in enumerate(sequences))
    found = total_order(history(text))
    assert (found.offending > 0) == clashes
    if found.first and found.second:
        p, q = (sequences[place.process] for place in (found.first, found.second))
        m, o = (chr(ord("a") + int(place.message[0])) for place in (found.first, found.second))
        assert p.index(m) < p.index(o)
        assert q.index(o) < q.index(m)


def test_the_worst_outcome_wins_and_nothing_at_all_is_unknown() -> None:
    holds, violated, unknown = Outcome
    assert Outcome.worst([holds, unknown, violated]) is violated
    assert Outcome.worst([holds, unknown]) is unknown
    assert Outcome.worst([holds]) is holds
    assert Outcome.worst([]) is unknown
