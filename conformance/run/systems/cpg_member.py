"""Member of a Corosync process group for `antiphon cluster --system corosync`, beside a running daemon.

Standard input has one command a line: "say TEXT" broadcasts, "talk MS TEXT" broadcasts every MS milliseconds
from then on, "leave" leaves the group and ends. Standard output has one event a line, in the order in which
the application meets them, behind its time in nanoseconds of CLOCK_MONOTONIC: "me ADDRESS",
"view - ADDRESS...", "sent TEXT", "got TEXT", "left". An address is NODE:PID. CPG gives its views no name.

The library of CPG is called by `ctypes`: the declarations repeat `corosync/corotypes.h` and `corosync/cpg.h`
of the versions whose library is libcpg.so.4. This file imports nothing of the package; `python -I` runs it.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Final

LIBRARY: Final = "libcpg.so.4"
OK, TRY_AGAIN, DISPATCH_ALL, AGREED, MODEL_V1 = 1, 6, 2, 2, 1
"""Values of cs_error_t (two), cs_dispatch_flags_t, cpg_guarantee_t and cpg_model_t."""


class Name(ctypes.Structure):
    """The structure cpg_name: the name of a group."""

    _fields_ = (("length", c_uint32), ("value", c_char * 128))


class Address(ctypes.Structure):
    """The structure cpg_address: a member of a view."""

    _fields_ = (("node", c_uint32), ("pid", c_uint32), ("reason", c_uint32))


class Vector(ctypes.Structure):
    """The structure iovec: a part of a message."""

    _fields_ = (("base", c_char_p), ("length", c_size_t))


ADDRESSES: Final = (POINTER(Address), c_size_t)
DELIVER: Final = CFUNCTYPE(None, c_uint64, POINTER(Name), c_uint32, c_uint32, c_void_p, c_size_t)
CHANGE: Final = CFUNCTYPE(None, c_uint64, POINTER(Name), *ADDRESSES, *ADDRESSES, *ADDRESSES)


class Callbacks(ctypes.Structure):
    """The structure cpg_model_v1_data_t: the functions that the library calls."""

    _fields_ = (
        ("model", c_int), ("deliver", DELIVER), ("change", CHANGE), ("totem", c_void_p), ("flags", c_uint32)
    )  # fmt: skip


FUNCTIONS: Final = {
    "cpg_model_initialize": (POINTER(c_uint64), c_int, POINTER(Callbacks), c_void_p),
    "cpg_join": (c_uint64, POINTER(Name)),
    "cpg_leave": (c_uint64, POINTER(Name)),
    "cpg_local_get": (c_uint64, POINTER(c_uint32)),
    "cpg_fd_get": (c_uint64, POINTER(c_int)),
    "cpg_dispatch": (c_uint64, c_int),
    "cpg_mcast_joined": (c_uint64, c_int, POINTER(Vector), c_uint32),
}
"""The arguments of each function that is called; all return a cs_error_t."""


def library() -> Any:
    """Return the library of CPG, with the types of its functions. Raises OSError if it is not installed."""
    found = ctypes.CDLL(LIBRARY)
    for name, arguments in FUNCTIONS.items():
        getattr(found, name).argtypes = arguments
    return found


def tell(event: str) -> None:
    """Print an event behind the time."""
    print(f"{time.monotonic_ns()} {event}", flush=True)


def deliver(_handle: int, _group: Any, _node: int, _pid: int, message: int, size: int) -> None:
    """Print a delivery."""
    tell(f"got {ctypes.string_at(message, size).decode()}")


def change(_handle: int, _group: Any, members: Any, count: int, *_left_and_joined: Any) -> None:
    """Print a view."""
    tell("view -" + "".join(f" {members[k].node}:{members[k].pid}" for k in range(count)))


class Member:
    """Member of the group, with its handle of the library."""

    def __init__(self, cpg: Any) -> None:
        """Join the group as soon as the daemon runs."""
        self.cpg, self.handle, self.group = cpg, c_uint64(), Name(8, b"antiphon")
        self.callbacks = Callbacks(MODEL_V1, DELIVER(deliver), CHANGE(change))  # the library keeps no copy
        begun = (ctypes.byref(self.handle), MODEL_V1, ctypes.byref(self.callbacks), None)
        self.call("cpg_model_initialize", *begun, again=lambda error: error != OK, pause_s=0.1)
        self.call("cpg_join", self.handle, ctypes.byref(self.group), pause_s=0.1)
        node, daemon = c_uint32(), c_int()
        self.call("cpg_local_get", self.handle, ctypes.byref(node))
        tell(f"me {node.value}:{os.getpid()}")
        self.call("cpg_fd_get", self.handle, ctypes.byref(daemon))
        self.daemon = daemon.value
        self.every_ns, self.due_ns, self.text = 0, 0, ""

    def call(
        self, name: str, *arguments: Any, again: Callable[[int], bool] = lambda error: error == TRY_AGAIN,
        pause_s: float = 0.01, between: Callable[[], object] = lambda: None,
    ) -> None:  # fmt: skip
        """Call a function of the library, again and again for twenty seconds while it is too busy. Exit if it
        fails.
        """
        until = time.monotonic() + 20.0
        while again(error := getattr(self.cpg, name)(*arguments)) and time.monotonic() < until:
            time.sleep(pause_s)
            between()
        if error != OK:
            sys.exit(f"{name}: error {error} of Corosync")

    def dispatch(self) -> None:
        """Let the library call `deliver` and `change` with what has come."""
        if (error := self.cpg.cpg_dispatch(self.handle, DISPATCH_ALL)) not in (OK, TRY_AGAIN):
            sys.exit(f"cpg_dispatch: error {error} of Corosync")

    def say(self, text: str) -> None:
        """Broadcast a text."""
        tell(f"sent {text}")
        vector = Vector(text.encode(), len(text.encode()))
        said = (self.handle, AGREED, ctypes.byref(vector), 1)
        self.call("cpg_mcast_joined", *said, between=self.dispatch)

    def obey(self, command: str) -> bool:
        """Do what a line says; return False if it is to leave."""
        word, _, rest = command.partition(" ")
        if word == "leave":
            self.cpg.cpg_leave(self.handle, ctypes.byref(self.group))
            tell("left")
            return False
        if word == "talk":
            every, _, self.text = rest.partition(" ")
            self.every_ns, self.due_ns = int(every) * 1_000_000, time.monotonic_ns()
        else:
            self.say(rest)
        return True

    def wait_ms(self) -> float | None:
        """Return the milliseconds to the next broadcast of `talk`, if there is one."""
        return max(0.0, (self.due_ns - time.monotonic_ns()) / 1e6) if self.every_ns else None

    def run(self) -> None:
        """Serve the daemon and standard input until one of them ends, or a command says so."""
        ready, commands = select.poll(), b""
        for source in (self.daemon, 0):
            ready.register(source, select.POLLIN)
        while True:
            came = {source for source, _ in ready.poll(self.wait_ms())}
            if self.every_ns and time.monotonic_ns() >= self.due_ns:
                self.say(self.text)
                self.due_ns = time.monotonic_ns() + self.every_ns
            if self.daemon in came:
                self.dispatch()
            if 0 in came:
                if not (data := os.read(0, 1 << 16)):
                    return
                *whole, commands = (commands + data).split(b"\n")
                if not all(self.obey(command.decode()) for command in whole):
                    return


def stop(failure: Any) -> None:
    """End the process where a callback fails: `ctypes` would go on without the event."""
    sys.__excepthook__(failure.exc_type, failure.exc_value, failure.exc_traceback)
    os._exit(1)


if __name__ == "__main__":
    sys.unraisablehook = stop
    Member(library()).run()
