"""Group for tests: a hub that orders all messages, and members that speak as those of a system do.

`python sequencing.py hub SOCKET` serves; `python sequencing.py member SOCKET NAME MISTAKE` takes part. The
hub has one order of all views and messages. A member with a mistake delivers one message twice, or two in the
other order.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import time


def hub(at: str) -> None:
    """Send every line of a member to all members, and a view whenever one comes or goes."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(at)
    listening.listen()
    members: dict[socket.socket, str] = {}
    rests: dict[socket.socket, bytes] = {}
    views = 0

    def everybody(line: str) -> None:
        for one in [*members]:
            try:
                one.sendall(line.encode() + b"\n")
            except OSError:
                members.pop(one, None)

    while True:
        changed = False
        for ready in select.select([listening, *rests], [], [], 5.0)[0]:
            if ready is listening:
                new = listening.accept()[0]
                rests[new] = b""
                continue
            try:
                data = ready.recv(65_536)
            except OSError:
                data = b""
            if not data:
                members.pop(ready, None)
                rests.pop(ready)
                changed = True
                continue
            *lines, rests[ready] = (rests[ready] + data).split(b"\n")
            for line in lines:
                word, _, rest = line.decode().partition(" ")
                if word == "join":
                    members[ready] = rest
                    changed = True
                else:
                    everybody(f"got {rest}")
        if changed:
            views += 1
            everybody(f"view {views} {' '.join(members.values())}")


def tell(line: str) -> None:
    """Print a line behind its time."""
    print(f"{time.monotonic_ns()} {line}", flush=True)


def member(at: str, name: str, mistake: str) -> None:
    """Print what the hub says, and send what standard input says."""
    pipe = socket.socket(socket.AF_UNIX)
    pipe.connect(at)
    tell("version 1 of tests")
    tell(f"me {name}")
    pipe.sendall(f"join {name}\n".encode())
    rests = {0: b"", pipe.fileno(): b""}
    held, count = "", 0
    while True:
        for ready in select.select([0, pipe], [], [])[0]:
            number = ready if isinstance(ready, int) else ready.fileno()
            data = os.read(0, 65_536) if number == 0 else pipe.recv(65_536)
            if not data:
                return
            *lines, rests[number] = (rests[number] + data).split(b"\n")
            for line in map(bytes.decode, lines):
                if line == "leave":
                    tell("left")
                    return
                if number == 0:
                    text = line.removeprefix("say ")
                    tell(f"sent {text}")
                    pipe.sendall(f"say {text}\n".encode())
                    continue
                count += line.startswith("got ")
                if mistake == "swaps" and count == 5 and not held:
                    held = line
                    continue
                tell(line)
                if held and count == 6:
                    tell(held)
                    held = " "
                if mistake == "repeats" and count == 5 and line.startswith("got "):
                    tell(line)


if __name__ == "__main__":
    {"hub": hub, "member": member}[sys.argv[1]](*sys.argv[2:])
