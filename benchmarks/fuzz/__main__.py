"""Fuzzing of received datagrams, millions of them: each is handled or refused, and counted.

    python benchmarks/fuzz [--datagrams 10000000] [--seed 1] [--protocols rbp ...] [--coverage]

Fed are the decoder, the core behind it, the layers around it, and the frames of the shell with and without a
key, of every protocol. An exception other than `GroupFailed`, a greeting longer than what it answers, or a
message that reads differently when it is encoded again stops the run: the datagrams that lead to it, as few
as are found, are printed in hexadecimal, and belong into a test. With --coverage atheris (not among the
requirements: pip install atheris) chooses the mutations by the branches that they reach.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from typing import Any

import psutil


def rss_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 2**20


def report(found: list[Any], fed: int, seconds: float, memory: list[float]) -> int:
    """Print what became of the datagrams; 1 when one was not counted, or memory grew."""
    total: Counter[str] = Counter()
    for place in found:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in place.outcomes.most_common())
        print(f"{place.name:20} {place.outcomes.total():10,}: {kinds}; sent at most {place.largest:,} bytes")
        total += place.outcomes
    print(f"{fed:,} datagrams in {seconds:.0f} s, {fed / seconds:,.0f}/s; counted {total.total():,}:")
    for kind, count in total.most_common():
        print(f"    {kind:20} {count:12,}")
    print("memory in MB, at a tenth of the way and then: " + " ".join(f"{each:.0f}" for each in memory))
    return int(total.total() != fed or memory[-1] > memory[0] + 50)


def feed(place: Any, data: bytes) -> None:
    """Feed it. When something escapes, print the few datagrams that lead to it, and raise."""
    try:
        place.feed(data)
    except Exception as error:
        print(f"{place.name}: {type(error).__name__}: {error}", file=sys.stderr)
        for each in place.shortest(type(error)):
            print(each.hex(), file=sys.stderr)
        raise


def at_random(found: list[Any], datagrams: int) -> int:
    """Draw so many datagrams, for all places in turn."""
    memory: list[float] = []
    begun = time.monotonic()
    for k in range(datagrams):
        place = found[k % len(found)]
        feed(place, place.draw())
        if (k + 1) * 10 % datagrams < 10:
            memory.append(rss_mb())
    return report(found, datagrams, time.monotonic() - begun, memory)


def by_coverage(datagrams: int, seed: int, protocols: list[str]) -> int:
    """Let atheris choose; it ends the process itself."""
    try:
        import atheris
    except ImportError:
        print("atheris is not installed: pip install atheris, or run without --coverage", file=sys.stderr)
        return 69
    with atheris.instrument_imports(include=["antiphon.impl"]):
        import places
    draw = random.Random(seed)
    found = places.places(protocols or places.every_protocol(), draw)
    memory: list[float] = []
    begun = time.monotonic()
    fed = 0

    def one(data: bytes) -> None:
        nonlocal fed
        place = found[data[0] % len(found)] if data else found[0]
        feed(place, data[1:])
        fed += 1
        if fed * 10 % datagrams < 10:
            memory.append(rss_mb())
            if fed == datagrams:
                sys.stdout.flush()
                report(found, fed, time.monotonic() - begun, memory)
                sys.stdout.flush()

    def seeded(data: bytes, size: int, number: int) -> bytes:
        """Sometimes a datagram that was drawn, sometimes atheris' own mutation."""
        choice = random.Random(number)
        if not data or choice.random() < 0.2:
            at = choice.randrange(len(found))
            return bytes([at]) + found[at].draw()[: size - 1]
        return bytes(atheris.Mutate(data, size))

    arguments = [sys.argv[0], f"-runs={datagrams}", f"-seed={seed}", "-max_len=65507", "-print_final_stats=1"]
    atheris.Setup(arguments, one, custom_mutator=seeded)
    atheris.Fuzz()
    return 0


def main() -> int:
    """Run it; 0 when all is well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datagrams", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--protocols", nargs="*", default=[], metavar="NAME", help="all that there are")
    parser.add_argument("--coverage", action="store_true", help="let atheris choose the mutations")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.coverage:
        return by_coverage(options.datagrams, options.seed, options.protocols)
    import places

    draw = random.Random(options.seed)
    return at_random(places.places(options.protocols or places.every_protocol(), draw), options.datagrams)


if __name__ == "__main__":
    sys.exit(main())
