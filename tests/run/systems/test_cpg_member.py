"""The member of Corosync, beside a library of these tests in the place of libcpg."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.conformance.run.systems import SYSTEMS, SystemMissing, cpg_member

LIBRARY = """
import os, runpy, sys
space = runpy.run_path(sys.argv[1])
OK, TRY_AGAIN = 1, 6
fault = sys.argv[2]

class Library:
    def __init__(self):
        self.daemon, self.wakes = os.pipe()
        self.sent, self.members, self.busy = [], [], {}

    def tries(self, name):
        self.busy[name] = self.busy.get(name, 0) + 1
        return OK if self.busy[name] > 2 else TRY_AGAIN

    def cpg_model_initialize(self, handle, model, callbacks, context):
        self.callbacks = callbacks._obj
        assert model == self.callbacks.model == 1
        return OK

    def cpg_join(self, handle, group):
        assert group._obj.value[:group._obj.length] == b"antiphon"
        if fault == "refuses":
            return 2
        self.members = [(1, 70), (2, 80)]
        os.write(self.wakes, b"v")
        return self.tries("join")

    def cpg_local_get(self, handle, node):
        node._obj.value = 4_000_000_000
        return OK

    def cpg_fd_get(self, handle, daemon):
        daemon._obj.value = self.daemon
        return OK

    def cpg_mcast_joined(self, handle, guarantee, vector, count):
        assert (guarantee, count) == (2, 1)
        if self.tries("say") != OK:
            return TRY_AGAIN
        self.sent.append(b"\\xff" if fault == "garbles" else vector._obj.base[: vector._obj.length])
        os.write(self.wakes, b"m")
        return OK

    def cpg_dispatch(self, handle, flags):
        assert flags == 2
        if self.members:
            given = (space["Address"] * 2)(*self.members)
            self.members = []
            self.callbacks.change(handle, None, given, 2, None, 0, None, 0)
        for text in self.sent:
            kept = space["ctypes"].create_string_buffer(text)
            self.callbacks.deliver(handle, None, 1, 70, space["ctypes"].addressof(kept), len(text))
        self.sent.clear()
        os.set_blocking(self.daemon, False)
        try:
            os.read(self.daemon, 100)
        except BlockingIOError:
            pass
        return OK

    def cpg_leave(self, handle, group):
        return OK

sys.unraisablehook = space["stop"]
space["Member"](Library()).run()
"""


def said(commands: str, fault: str = "") -> subprocess.CompletedProcess[str]:
    """Run the member with these commands."""
    return subprocess.run(
        [sys.executable, "-I", "-c", LIBRARY, cpg_member.__file__, fault],
        input=commands, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_the_member_says_what_it_meets_in_the_words_of_all_members() -> None:
    """A busy library is asked again, and a text may be one of another script."""
    ran = said("say p0:1\nsay p0:\u00e4\nleave\nsay p0:3\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    times, words = zip(*(line.split(" ", 1) for line in ran.stdout.splitlines()), strict=True)
    assert [*map(int, times)] == sorted(map(int, times))
    own = next(word for word in words if word.startswith("me "))
    assert re.fullmatch(r"me 4000000000:[0-9]+", own)
    others = [word for word in words if word != own]
    assert others == ["view - 1:70 2:80", "sent p0:1", "sent p0:\u00e4", "left"]


def test_talk_goes_on_until_the_input_ends() -> None:
    member = subprocess.Popen(
        [sys.executable, "-I", "-c", LIBRARY, cpg_member.__file__, ""],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert member.stdin is not None
    assert member.stdout is not None
    member.stdin.write("talk 1 p0:t\n")
    member.stdin.flush()
    got = 0
    while got < 3:
        got += member.stdout.readline().endswith(" got p0:t\n")
    member.stdin.close()
    assert member.wait(30) == 0
    member.stdout.close()


def test_a_library_that_refuses_ends_the_member() -> None:
    ran = said("", "refuses")
    assert (ran.returncode, ran.stderr) == (1, "cpg_join: error 2 of Corosync\n")


def test_a_delivery_that_cannot_be_told_ends_the_member() -> None:
    """`ctypes` alone would print the error and go on, with a delivery missing in the log."""
    ran = said("say p0:1\nsay p0:2\nsay p0:3\nsay p0:4\n", "garbles")
    assert ran.returncode == 1
    assert "UnicodeDecodeError" in ran.stderr


def test_the_structures_are_those_of_the_headers_of_corosync_3() -> None:
    """Sizes and offsets that a C compiler gives for them, on a machine of 64 bits."""
    sizes = [ctypes.sizeof(kind) for kind in (cpg_member.Name, cpg_member.Address, cpg_member.Callbacks)]
    assert sizes == [132, 12, 40]
    assert [cpg_member.Callbacks.deliver.offset, cpg_member.Callbacks.change.offset] == [8, 16]


def test_without_the_library_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpg_member, "LIBRARY", "libnone.so.0")
    monkeypatch.setattr(shutil, "which", lambda name: name)
    with pytest.raises(SystemMissing, match=r"libnone\.so\.0.*apt-get install libcpg4"):
        SYSTEMS["corosync"].build(tmp_path)
