"""Cost of sealing and opening a datagram, of refusing one, and of the ciphers alone.

    python benchmarks/sealing_cost.py [--repeat 5]

Microseconds of processor time a datagram, best of some repetitions, by the size of what is sealed. A script
to compare with, never a test.
"""

from __future__ import annotations

import argparse
import secrets
import time
from collections.abc import Callable, Iterable, Sequence

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, ChaCha20Poly1305

from antiphon.impl.transport.sealing import INCARNATION_BYTES, Keyring, Opened, Plain, Sealed

SIZES = (100, 1_000, 8_000, 60_000)
BUDGET_BYTES = 30_000_000
"""Number of bytes that are sealed in one repetition, but at most COUNT_MAX datagrams."""
COUNT_MAX = 5_000


def microseconds(work: Callable[[Sequence[bytes]], object], each: Iterable[Sequence[bytes]]) -> float:
    """The least time of one datagram over the repetitions."""
    best = float("inf")
    for datagrams in each:
        begun = time.process_time()
        work(datagrams)
        best = min(best, (time.process_time() - begun) / len(datagrams))
    return best * 1e6


def row(name: str, cost: Callable[[int, int], float], repeat: int) -> None:
    """One line of the table: the cost for each size."""
    print(f"{name:34}" + "".join(f"{cost(size, repeat):9.2f}" for size in SIZES), flush=True)


def many(size: int) -> list[bytes]:
    """Return as many payloads of a size as are worth measuring."""
    return [secrets.token_bytes(size)] * max(50, min(COUNT_MAX, BUDGET_BYTES // size))


def pair() -> tuple[Sealed, Sealed]:
    """Two members that know each other."""
    keys = Keyring(secrets.token_bytes(32))
    one, other = (Sealed("g", me, secrets.token_bytes(INCARNATION_BYTES), keys) for me in (0, 1))
    first = other.open(0, one.seal(1, bytes(INCARNATION_BYTES), b""))
    assert isinstance(first, Opened)
    other.confirm(0, first)
    return one, other


def sealing(size: int, repeat: int) -> float:
    """Measure the microseconds that it takes to seal a frame of this size."""
    one, _ = pair()
    target = bytes(INCARNATION_BYTES)
    return microseconds(lambda all_: [one.seal(1, target, each) for each in all_], [many(size)] * repeat)


def opening(size: int, repeat: int) -> float:
    """Open what is new."""
    one, other = pair()
    frames = ([one.seal(1, bytes(INCARNATION_BYTES), each) for each in many(size)] for _ in range(repeat))
    return microseconds(lambda all_: [other.open(0, each) for each in all_], frames)


def refusing(change: Callable[[bytes], bytes]) -> Callable[[int, int], float]:
    """Open what is not genuine."""

    def cost(size: int, repeat: int) -> float:
        one, other = pair()
        frames = (
            [change(one.seal(1, bytes(INCARNATION_BYTES), each)) for each in many(size)]
            for _ in range(repeat)
        )
        return microseconds(lambda all_: [other.open(0, each) for each in all_], frames)

    return cost


def replaying(size: int, repeat: int) -> float:
    """Open what came before."""
    one, other = pair()
    frame = one.seal(1, bytes(INCARNATION_BYTES), bytes(size))
    other.open(0, frame)
    return microseconds(lambda all_: [other.open(0, frame) for _ in all_], [many(size)] * repeat)


def plain(size: int, repeat: int) -> float:
    """Seal and open without a key."""
    member = Plain("g", 0, bytes(INCARNATION_BYTES))
    return microseconds(
        lambda all_: [member.open(0, member.seal(1, bytes(INCARNATION_BYTES), each)) for each in all_],
        [many(size)] * repeat,
    )


def alone(cipher: type[AESGCM | AESGCMSIV | ChaCha20Poly1305]) -> Callable[[int, int], float]:
    """Encrypt and decrypt, with the head of a frame beside it."""

    def cost(size: int, repeat: int) -> float:
        made, nonce, head = cipher(secrets.token_bytes(32)), bytes(12), bytes(44)
        return microseconds(
            lambda all_: [made.decrypt(nonce, made.encrypt(nonce, each, head), head) for each in all_],
            [many(size)] * repeat,
        )

    return cost


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print(f"{'microseconds a datagram of bytes':34}" + "".join(f"{size:9,}" for size in SIZES))
    row("seal", sealing, repeat)
    row("open", opening, repeat)
    row("both without a key", plain, repeat)
    row("refuse: changed", refusing(lambda frame: frame[:-1] + bytes([frame[-1] ^ 1])), repeat)
    invented = secrets.token_bytes(INCARNATION_BYTES)
    row("refuse: of another incarnation", refusing(lambda frame: frame[:4] + invented + frame[20:]), repeat)
    row("refuse: came before", replaying, repeat)
    for cipher in (AESGCM, ChaCha20Poly1305, AESGCMSIV):
        row(f"{cipher.__name__}, both ways", alone(cipher), repeat)


if __name__ == "__main__":
    main()
