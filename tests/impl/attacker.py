"""An attacker in a process of its own: it sits at every address of a group, carries what passes, does harm.

It has a socket for each ordered pair of members: process p sends what is for q to the socket (p, q), and
knows q by it. So it reads, keeps, changes, doubles and invents datagrams from every member's address; beside
that it has a socket at an address of nobody. It has no key. It reads one JSON object a line on stdin and
answers with one on stdout; it ends when its stdin does, and does nothing that it was not told in numbers.

    {"members": {"0": port, ...}}      carry from now on between members at these ports, on loopback
    {"attack": N, "seed": S}           hand in N datagrams, of every sort in turn
    {"only": sort, "attack": N, ...}   of this sort alone
    {"carry": seconds}                 carry for so long

An answer counts what it has handed in so far, by sort, in how many of those that passed a text was seen, how
many there are of earlier runs; and how many greetings, which are as short as any datagram, the order brought.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Callable

MEMBERS = 3
GREETING_BYTES = 60
KEPT_MAX = 20_000
"""The most datagrams that are kept for later."""

Frame = tuple[int, int, bytes]


class Attacker:
    """The sockets, and what was seen."""

    def __init__(self, text: bytes) -> None:
        self.sockets = {(p, q): bound() for p in range(MEMBERS) for q in range(MEMBERS) if p != q}
        self.stranger = bound()
        self.ports: dict[int, int] = {}
        self.text = text
        self.seen: deque[Frame] = deque(maxlen=KEPT_MAX)
        self.earlier: list[Frame] = []
        self.handed_in: Counter[str] = Counter()
        self.texts = self.greetings = 0
        self.random = random.Random(0)
        self.sorts: dict[str, Callable[[Frame], Frame]] = {
            "again": lambda frame: frame,
            "changed": self.changed,
            "cut": lambda frame: (*frame[:2], frame[2][: self.random.randrange(len(frame[2]))]),
            "longer": lambda frame: (*frame[:2], frame[2] + self.random.randbytes(20)),
            "back to its sender": lambda frame: (frame[1], frame[0], frame[2]),
            "to a third member": lambda frame: (frame[0], 3 - frame[0] - frame[1], frame[2]),
            "from a third member": lambda frame: (3 - frame[0] - frame[1], frame[1], frame[2]),
            "of an earlier run": lambda frame: self.random.choice(self.earlier or [frame]),
            "invented": lambda frame: (*frame[:2], self.random.randbytes(self.random.randrange(1, 1_500))),
            "invented behind a true head": lambda frame: (
                *frame[:2],
                frame[2][:36] + self.random.randbytes(self.random.randrange(24, 1_500)),
            ),
            "of an invented incarnation": lambda frame: (
                *frame[:2],
                frame[2][:4] + self.random.randbytes(16) + frame[2][20:],
            ),
            "from nobody's address": lambda frame: (-1, *frame[1:]),
        }

    def changed(self, frame: Frame) -> Frame:
        """One bit is another."""
        data = bytearray(frame[2])
        bit = self.random.randrange(8 * len(data))
        data[bit // 8] ^= 1 << bit % 8
        return (*frame[:2], bytes(data))

    def attack(self, count: int, sorts: list[str]) -> None:
        """Hand in so many datagrams, of all sorts in turn, and carry what passes meanwhile."""
        while not self.seen:
            self.carry(0.01)
        for k in range(count):
            sort = sorts[k % len(sorts)]
            self.hand_in(self.sorts[sort](self.random.choice(self.seen)))
            self.handed_in[sort] += 1
            if k % 8 == 7:
                self.carry(0.001)

    def hand_in(self, frame: Frame) -> None:
        """Send it to its receiver, from the address of its sender."""
        sender, to, data = frame
        where = self.stranger if sender < 0 else self.sockets[to, sender]
        where.sendto(data, ("127.0.0.1", self.ports[to]))

    def carry_on(self, seconds: float) -> None:
        """Carry all that comes for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.carry(0.01)

    def carry(self, seconds: float) -> None:
        """Wait so long for what may come, and carry it."""
        readable, _, _ = select.select(list(self.sockets.values()), [], [], seconds)
        for pair, pipe in self.sockets.items():
            while pipe in readable:
                try:
                    data = pipe.recv(65_536)
                except BlockingIOError:
                    break
                self.greetings += len(data) == GREETING_BYTES
                self.texts += self.text in data
                self.seen.append((*pair, data))
                self.hand_in((*pair, data))

    def obey(self, order: dict[str, object]) -> dict[str, object]:
        """Do what a line says, and tell."""
        before = self.greetings
        if "members" in order:
            self.earlier += self.seen
            self.seen.clear()
            self.ports = {int(p): port for p, port in order["members"].items()}  # type: ignore[attr-defined]
        if "attack" in order:
            self.random.seed(order["seed"])  # type: ignore[arg-type]
            self.attack(int(str(order["attack"])), [str(order["only"])] if "only" in order else [*self.sorts])
        if "carry" in order:
            self.carry_on(float(str(order["carry"])))
        return {
            "handed_in": self.handed_in, "greetings": self.greetings - before,
            "texts": self.texts, "earlier": len(self.earlier),
        }  # fmt: skip


def bound() -> socket.socket:
    """A socket of the loopback interface that never waits."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.bind(("127.0.0.1", 0))
    made.setblocking(False)
    return made


def main() -> None:
    """Say where the sockets are; then carry, and obey."""
    attacker = Attacker(sys.argv[1].encode())
    at = {f"{p}:{q}": pipe.getsockname()[1] for (p, q), pipe in attacker.sockets.items()}
    print(json.dumps(at), flush=True)
    while True:
        readable, _, _ = select.select([sys.stdin, *attacker.sockets.values()], [], [])
        if sys.stdin in readable:
            line = sys.stdin.readline()
            if not line:
                return
            print(json.dumps(attacker.obey(json.loads(line))), flush=True)
        elif attacker.ports:
            attacker.carry(0.0)


if __name__ == "__main__":
    main()
