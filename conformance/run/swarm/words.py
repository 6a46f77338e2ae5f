"""Text of settings as a command, and of a schedule: its head, then its entries in the order of time, then the
fates of datagrams.

This module knows entries, and not their effects.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from antiphon.conformance.run.swarm.schedule import (
    Broadcast,
    Crash,
    Cut,
    Entry,
    Fate,
    Jump,
    Leave,
    Once,
    Pause,
    Restart,
    Schedule,
    Skew,
    Slow,
    Start,
)
from antiphon.conformance.run.swarm.settings import Settings
from antiphon.impl.registry import LISTED, known_protocols

__all__ = ["command_of", "entry_lines", "joins_always", "schedule_lines"]


def command_of(core: str, settings: Settings) -> str:
    """Return the command that has these settings, without the options that select a run."""
    usual, words = Settings(), ["antiphon", "swarm", core]
    if settings.join and not joins_always(core):
        words.append("--join")
    if settings.within is not None:  # which says how many there are of each, and what is drawn
        words.append("--within-model")
        usual = msgspec.structs.replace(
            usual, members=settings.members, messages=settings.messages, faults=settings.faults
        )
    for option, mine, its in (
        ("--processes", settings.members, usual.members),
        ("--messages", settings.messages, usual.messages),
        ("--fault", settings.planted, usual.planted),
        ("--bound-ms", settings.bound_ms, usual.bound_ms),
        ("--steps", settings.steps_max, usual.steps_max),
        ("--layers", settings.layers, usual.layers),
        ("--deliver", settings.deliver, usual.deliver),
    ):
        words += [option, str(mine)] if mine != its else []
    if settings.sealed:
        words.append("--encrypted")
    if settings.multicast:
        words.append("--multicast")
    if settings.faults != usual.faults:
        words += [word for kind in settings.faults for word in ("--only", kind)]
    return " ".join(words)


def joins_always(core: str) -> bool:
    """Return True if the protocol is only for groups whose members change."""
    return core in LISTED and core not in known_protocols()


def schedule_lines(schedule: Schedule) -> list[str]:
    """Return the lines of a schedule in words."""
    sizes = ", ".join(f"{name} {value:,}" for name, value in (schedule.layers or {}).items())
    around = f"layers ({sizes})" if schedule.layers is not None else "the bare core"
    if schedule.timeouts is not None and schedule.layers is None:
        around = "layers"
    who = "members" if schedule.timeouts is None else "processes"
    head = f"{schedule.members} {who}, {around}, {schedule.delay_ms:g} ms a datagram"
    if schedule.timeouts is not None:
        times = ", ".join(f"{name} {value:g}" for name, value in schedule.timeouts.items())
        head += f", {times}" + (", told where nobody listens" if schedule.hints else "")
    if schedule.holders is not None:
        head += f", delivered when {schedule.holders} have it"
    return [head, *entry_lines(schedule)]


def entry_lines(schedule: Schedule) -> list[str]:
    """Return the lines of the entries of a schedule: those in time, then the fates of datagrams."""
    timed = [(_at(entry), place, _line(entry)) for place, entry in enumerate(_in_time(schedule))]
    fates = sorted(
        (entry for entry in schedule.entries if isinstance(entry, Fate)),
        key=lambda fate: (fate.sender, fate.to, fate.nth),
    )
    until = [f"until {schedule.calm_ms:g} ms:"] if fates else []
    return [*(f"{at:>9g} ms  {line}" for at, _, line in sorted(timed)), *until, *map(_fate, fates)]


def _in_time(schedule: Schedule) -> Iterator[Entry]:
    yield from (entry for entry in schedule.entries if not isinstance(entry, Fate | Broadcast))
    yield from schedule.broadcasts


def _at(entry: Entry) -> float:
    return getattr(entry, "at_ms", 0.0)


def _line(entry: Entry) -> str:
    match entry:
        case Broadcast(process=process, size_bytes=size, holders=holders):
            asks = f", delivered when {holders} have it" if holders > 1 else ""
            return f"process {process} broadcasts" + (f" {size:,} bytes" if size else "") + asks
        case Cut(until_ms=until, links=links):
            cut = ", ".join(f"{sender} to {to}" for sender, to in links)
            return f"cut until {until:g} ms: {cut}"
        case Pause(until_ms=until, process=process):
            return f"process {process} is stopped until {until:g} ms"
        case Start(process=process):
            return f"process {process} starts"
        case Skew(process=process, offset_ms=offset, rate=rate):
            return f"the clock of process {process} shows {offset:,g} ms and counts {rate:g} in each"
        case Crash(process=process):
            return f"process {process} crashes"
        case Restart(process=process):
            return f"process {process} is started again"
        case Leave(process=process):
            return f"process {process} leaves"
        case Slow(until_ms=until, links=links, by_ms=by):
            slow = ", ".join(f"{sender} to {to}" for sender, to in links)
            return f"{by:g} ms slower until {until:g} ms: {slow}"
        case Once(process=process, delivered=delivered, then=then):
            told = f"when process {process} has delivered {delivered}"
            return f"{told}, after {then.at_ms:g} ms more: {_line(then)}"
        case Jump(process=process, by_ms=by):
            return f"the clock of process {process} jumps by {by:,g} ms"
    raise AssertionError(entry)


def _fate(fate: Fate) -> str:
    delays = " and ".join(f"{delay:g} ms" for delay in fate.delays_ms)
    what = f"arrives after {delays}" if delays else "is lost"
    return f"              datagram {fate.nth} from {fate.sender} to {fate.to} {what}"
