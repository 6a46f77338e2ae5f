"""Properties of simulated members in scripted runs, checked by the judge of the swarm."""

from __future__ import annotations

from antiphon.conformance.run.swarm.changing import gaps, judged
from antiphon.impl.transport.simulated_members import SimulatedMembers
from antiphon.model.verdict import Outcome

__all__ = ["all_agree_at_the_end", "keeps_its_promises"]


def keeps_its_promises(simulation: SimulatedMembers) -> None:
    """Fail if anything is broken by now that no later event can mend."""
    found = judged(simulation, owed=False)
    broken = [each for each in found.findings if found.outcome(each) is Outcome.VIOLATED]
    assert not broken, broken
    assert sum(each.judged for each in found.findings) > 0, "nothing has happened"
    assert not any(map(gaps, simulation.all_lives))


def all_agree_at_the_end(simulation: SimulatedMembers, processes: set[int]) -> None:
    """Fail unless these processes are in one view together, and have delivered all that each has sent."""
    lives = [simulation.life(process) for process in sorted(processes)]
    last = {life.views[-1].number if life.views else None for life in lives}
    assert len(last) == 1, f"views {last}: {[repr(life.machine) for life in lives]}"
    members = {member.name for member in lives[0].views[-1].members}
    assert members == {f"p{process}" for process in processes}, members
    ends = {life.machine.delivered for life in lives}
    assert len(ends) == 1, ends
    for life in lives:
        mine = [event.payload for event in life.deliveries if event.source == life.member]
        assert mine == life.sent, f"{life.member}: sent {len(life.sent)}, delivered {len(mine)}"
