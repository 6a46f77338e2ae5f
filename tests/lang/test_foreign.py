"""The boundary around code that is not ours keeps its exceptions in, and lets the user's Ctrl-C out."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable

import pytest

from antiphon.spec.lang.foreign import Exited, Raised, alive, foreign


def test_an_interrupt_by_the_user_passes() -> None:
    with pytest.raises(KeyboardInterrupt), foreign():
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_that_the_code_raises_itself_does_not() -> None:
    with pytest.raises(Raised, match=r"KeyboardInterrupt \(.*test_foreign.py:\d+\)"), foreign():
        raise KeyboardInterrupt


def test_what_belongs_to_the_interface_passes() -> None:
    with pytest.raises(LookupError), foreign(LookupError):
        raise KeyError(1)


def test_the_place_is_the_innermost_outside_of_the_library() -> None:
    with pytest.raises(Raised) as raised, foreign():
        json.loads("{")
    assert raised.value.at is not None
    assert raised.value.at.file == __file__


def test_the_text_of_an_exception_can_be_written_into_every_report() -> None:
    """A name of a file that is no UTF-8 has a lone surrogate in it, which no report can be written with."""
    with pytest.raises(Raised) as raised, foreign():
        raise OSError("no " + os.fsdecode(b"caf\xe9"))
    assert str(raised.value).encode().startswith(rb"OSError: no caf\udce9 (")


def test_the_text_of_an_exception_does_not_command_a_terminal() -> None:
    with pytest.raises(Raised) as raised, foreign():
        raise ValueError("\x1b[2Jgone\x07\x00\x9b\n\tand tabs")
    assert str(raised.value).startswith("ValueError: \\x1b[2Jgone\\x07\\x00\\x9b\n\tand tabs (")


def in_a_thread(call: Callable[[], object]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def test_the_hook_of_threads_is_given_back() -> None:
    """`sys.exit` ends a thread, and nothing is wrong with that."""
    before = threading.excepthook
    with pytest.raises(Raised, match="in a thread, ZeroDivisionError"), foreign(), foreign():
        in_a_thread(lambda: 1 / 0)
    assert threading.excepthook is before
    with foreign():
        in_a_thread(sys.exit)
    assert threading.excepthook is before


def test_a_child_ends_as_it_likes_and_never_comes_back() -> None:
    codes = []
    for ends in (True, False):
        with foreign():
            child = os.fork()
            if child == 0 and ends:
                os._exit(5)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    assert codes == [5, 70]


def test_nothing_ends_a_process_that_is_kept_alive() -> None:
    with alive():
        with pytest.raises(Exited, match=r"os\._exit\(0\)"):
            os._exit(0)
        with pytest.raises(Exited, match=r"os\.execv"):
            os.execv(sys.executable, ["python"])
