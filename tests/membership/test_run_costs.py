"""Costs of the same runs for each protocol of a group whose members change: datagrams by kind, steps, changes
of the list, suspicions, and the times at which messages are delivered.

Work that is done again, a wait that is too long, and a change that nobody needs break no promise, and show
here. So do many faults that break promises in other runs. Each row of `golden` is a whole run, which is the
same on every machine. A row that changes says that something is sent, or comes, at another time: look for the
reason, and write the rows anew with `--rewrite`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.membership.states_in_time import StatefulMembers

from antiphon.impl.layers import Layers
from antiphon.impl.membership.detector import Timeouts
from antiphon.impl.transport.simulated_members import ORDERED, Life, SimulatedMembers

Golden = Callable[[str, str], None]

TIMES = Timeouts(heartbeat_ms=50, suspect_ms=250, exclude_ms=900)

BEGINS = 300.0
"""Virtual time at which the members begin to broadcast."""

SMALL, LARGE = 20, 3_000


class Slow(SimulatedMembers):
    """Simulated members of which process 1 takes its events each 200 ms."""

    takes_at = 0.0

    def _take(self, process: int, life: Life) -> None:
        if process == 1 and life.views:
            if self.now < self.takes_at:
                return
            self.takes_at = self.now + 200.0
            self.at(self.takes_at, lambda: self.after(process, life))
        super()._take(process, life)


def begun(
    protocol: str, processes: int = 3, founders: int = 3, kind: type[Any] = SimulatedMembers, **settings: Any
) -> Any:
    """Return members in their first view; further processes have not begun."""
    simulation = kind(processes, 1, protocol=protocol, seeds=range(founders), timeouts=TIMES, **settings)
    simulation.found(range(founders))
    simulation.run(BEGINS)
    assert [len(simulation.life(process).views) for process in range(founders)] == [1] * founders
    return simulation


def talk(simulation: SimulatedMembers, messages: int, every_ms: float, size: int = SMALL) -> None:
    """Let the first three processes broadcast in turn, as long as they are up."""

    def say(k: int) -> None:
        if simulation.up(k % 3):
            simulation.want(k % 3, b"%d " % k + bytes(size))

    for k in range(messages):
        simulation.at(BEGINS + every_ms * k, lambda k=k: say(k))


def loses(protocol: str) -> SimulatedMembers:
    """A network that loses, repeats and reorders."""
    simulation: SimulatedMembers = begun(protocol, loss=0.15, delay_ms=(0.1, 15.0))
    talk(simulation, 60, 10.0)
    simulation.run(1_500.0)
    return simulation


def first_crashes(protocol: str) -> SimulatedMembers:
    """The first member crashes, is excluded, and comes back; the operating system says who has ended."""
    simulation: SimulatedMembers = begun(protocol, hints=True)
    talk(simulation, 60, 10.0)
    simulation.at(503.3, lambda: simulation.crash(0))
    simulation.at(1_300.0, lambda: simulation.begin_again(0))
    simulation.run(2_500.0)
    return simulation


def one_of_five_crashes(protocol: str) -> SimulatedMembers:
    """A member crashes on a network that loses, and is excluded."""
    simulation: SimulatedMembers = begun(protocol, 5, 5, loss=0.05)
    talk(simulation, 40, 10.0)
    simulation.at(403.3, lambda: simulation.crash(4))
    simulation.run(2_000.0)
    return simulation


def two_are_stopped(protocol: str) -> SimulatedMembers:
    """One member is stopped for longer than `suspect_ms`, and another one meanwhile."""
    simulation: SimulatedMembers = begun(protocol)
    talk(simulation, 120, 10.0, LARGE)
    simulation.at(403.3, lambda: simulation.pause(2, 800.0))
    simulation.at(603.0, lambda: simulation.pause(0, 450.0))
    simulation.run(2_200.0)
    return simulation


def stopped_too_long(protocol: str) -> SimulatedMembers:
    """A member is stopped until it is excluded, and comes back as another one."""
    simulation: SimulatedMembers = begun(protocol)
    talk(simulation, 60, 10.0)
    simulation.at(403.3, lambda: simulation.pause(1, 1_500.0))
    simulation.run(2_800.0)
    return simulation


def one_way(protocol: str) -> SimulatedMembers:
    """One member does not hear another one for a while."""
    simulation: SimulatedMembers = begun(protocol)
    talk(simulation, 80, 10.0)
    simulation.at(400.0, lambda: simulation.cut.add((0, 2)))
    simulation.at(1_600.0, simulation.heal)
    simulation.run(2_500.0)
    return simulation


def pair(protocol: str) -> SimulatedMembers:
    """Two members do not hear each other for longer than `exclude_ms`."""
    simulation: SimulatedMembers = begun(protocol)
    talk(simulation, 60, 20.0)
    simulation.at(400.0, lambda: simulation.cut.update({(0, 2), (2, 0)}))
    simulation.at(2_400.0, simulation.heal)
    simulation.run(3_200.0)
    return simulation


def parts(protocol: str) -> SimulatedMembers:
    """The first two of five members do not reach the others for a while."""
    simulation: SimulatedMembers = begun(protocol, 5, 5)
    talk(simulation, 40, 20.0)
    simulation.at(400.0, lambda: simulation.part({0, 1}, {2, 3, 4}))
    simulation.at(1_000.0, simulation.heal)
    simulation.run(2_000.0)
    return simulation


def joins_and_leaves(protocol: str) -> SimulatedMembers:
    """A process joins, a member leaves and comes back, and another one is stopped meanwhile."""
    simulation: SimulatedMembers = begun(protocol, 4, loss=0.05)
    talk(simulation, 60, 10.0)
    simulation.at(400.0, lambda: simulation.begin(3))
    simulation.at(600.0, lambda: simulation.leave(1))
    simulation.at(900.0, lambda: simulation.pause(2, 400.0))
    simulation.at(1_000.0, lambda: simulation.farewell(1))
    simulation.at(1_050.0, lambda: simulation.begin_again(1))
    simulation.run(2_200.0)
    return simulation


def takes_slowly(protocol: str) -> SimulatedMembers:
    """The application of a member takes its events late, while another member is stopped."""
    layers = Layers(untaken_bytes=20_000)
    simulation: SimulatedMembers = begun(protocol, kind=Slow, layers=layers)
    talk(simulation, 60, 5.0, LARGE)
    simulation.at(500.0, lambda: simulation.pause(2, 400.0))
    simulation.run(2_500.0)
    return simulation


def gets_a_state(protocol: str) -> SimulatedMembers:
    """A process joins, and the donor of its state crashes in the midst of it."""
    simulation: StatefulMembers = begun(protocol, 4, kind=StatefulMembers, loss=0.05)
    talk(simulation, 40, 10.0)
    simulation.at_piece = (3, 4, simulation.crash)
    simulation.at(400.0, lambda: simulation.begin(3))
    simulation.run(2_000.0)
    assert simulation.at_piece is None
    assert simulation.application(3).loaded_size is not None
    return simulation


RUNS = (
    loses, first_crashes, one_of_five_crashes, two_are_stopped, stopped_too_long, one_way, pair, parts,
    joins_and_leaves, takes_slowly, gets_a_state,
)  # fmt: skip


def costs(simulation: SimulatedMembers) -> str:
    """Describe a run: two runs with the same text have gone alike, as far as anybody outside notices."""
    lives = simulation.all_lives
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(simulation.transmissions.items()))
    news: Counter[str] = Counter()
    events: Counter[str] = Counter()
    for life in lives:
        for (kind, _), count in life.machine.suspicions.items():
            news[kind] += count
        events.update(type(event).__name__ for event in life.events)
    some = [f"{sum(life.delivered_at) / len(life.delivered_at):.0f}" for life in lives if life.delivered_at]
    told = ", ".join(f"{count} {name}" for name, count in sorted((news + events).items()))
    lists = " ".join(str(life.machine.changes) for life in lives)
    return f"{simulation.steps} steps; {kinds}; lists {lists}; {told}; delivered at {' '.join(some)}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("protocol", ["irbp", "vsc", "rbp-reforming", "total", "sequencer", "horus"])
def test_a_run_costs_what_it_has_cost(protocol: str, golden: Golden) -> None:
    rows = []
    for run in RUNS:
        if run is gets_a_state and protocol not in ORDERED:
            continue
        simulation = run(protocol)
        rows.append(f"{run.__name__}: {costs(simulation)}\n")
        before = simulation.sent
        simulation.run(simulation.now + 200.0)
        rows.append(f"  then {simulation.sent - before} datagrams in 200 ms\n")
    golden(f"costs-{protocol}.txt", "".join(rows))
