import re

import pytest

from antiphon.conformance.judge.history import history
from antiphon.conformance.judge.trace import (
    Broadcast,
    CoreBroadcast,
    CoreDeliver,
    Crash,
    Deliver,
    End,
    Install,
    Receive,
    Send,
    Transitional,
    Violation,
    digest,
)


def test_a_letter_is_the_first_message_of_the_process_it_counts() -> None:
    log = history("0: +a b 2:7=x b#5 a>2 <2:3 (+a) (a) ?2 [2=01] [0] !")
    assert log == (
        (
            Broadcast(0, "0:1", digest(b"0:1")),
            Deliver(1, "1:1", 1, digest(b"1:1")),
            Deliver(2, "2:7", 2, digest(b"x")),
            Deliver(3, "1:1", 5, digest(b"1:1")),
            Send(4, "0:1", 2),
            Receive(5, "2:3"),
            CoreBroadcast(6, "0:1", digest(b"0:1")),
            CoreDeliver(7, "0:1", 3, digest(b"0:1")),
            Violation(8, 2, ""),
            Install(9, 2, (0, 1)),
            Transitional(10, (0,)),
            Crash(11),
            End(12),
        ),
    )


def test_a_process_that_is_not_named_has_an_empty_log() -> None:
    assert history("2: a")[:2] == ((), ())


@pytest.mark.parametrize("text", ["a b", "0: a | 0: b", "x: a", "7"])
def test_a_process_without_a_number_of_its_own_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"does not begin"):
        history(text)


@pytest.mark.parametrize(
    "word", ["A", "+", "a=", "1:", "a#", "a>", "<", "(a", "a)", "?", "b2", "[x=1]", "[2=a]", "[1"]
)
def test_a_word_that_is_not_in_the_notation_is_refused_by_name(word: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{word!r} is none of")):
        history(f"0: {word}")


def test_no_text_is_no_process_and_one_process_is_one_log() -> None:
    assert history("") == ()
    assert history("0:") == ((End(0),),)


def test_messages_are_numbered_as_the_text_first_delivers_them() -> None:
    logs = history("0: b a | 1: a c b")
    numbers = [[event.number for event in log if isinstance(event, Deliver)] for log in logs]
    assert numbers == [[1, 2], [2, 3, 1]]
