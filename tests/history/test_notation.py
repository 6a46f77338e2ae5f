import pytest

from antiphon.conformance.history import history
from antiphon.conformance.trace import Broadcast, Crash, Deliver, End, Receive, Send, digest


def test_a_letter_is_the_first_message_of_the_process_it_counts() -> None:
    log = history("0: +a b 2:7=x b#5 a>2 <2:3 !")
    assert log == (
        (
            Broadcast(0, "0:1", digest(b"0:1")),
            Deliver(1, "1:1", 1, digest(b"1:1")),
            Deliver(2, "2:7", 2, digest(b"x")),
            Deliver(3, "1:1", 5, digest(b"1:1")),
            Send(4, "0:1", 2),
            Receive(5, "2:3"),
            Crash(6),
            End(7),
        ),
    )


def test_a_process_that_is_not_named_has_an_empty_log() -> None:
    assert history("2: a")[:2] == ((), ())


@pytest.mark.parametrize(
    "text", ["a b", "0: a | 0: b", "x: a", "0: A", "0: +", "0: a=", "0: 1:", "0: a#", "0: a>", "0: <"]
)
def test_what_is_not_in_the_notation_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match=r"none of|does not begin"):
        history(text)


def test_messages_are_numbered_as_the_text_first_delivers_them() -> None:
    logs = history("0: b a | 1: a c b")
    numbers = [[event.number for event in log if isinstance(event, Deliver)] for log in logs]
    assert numbers == [[1, 2], [2, 3, 1]]
